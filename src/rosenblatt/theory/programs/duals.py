"""Proofs of infeasibility made sharper: fewer rows, and a larger deficit.

Weights alpha >= 0 with A^T alpha = 0 and b . alpha <= 0 prove that A x < b has no solution. If the rows of the proof
can be combined in more than one way, moving among these ways lowers b . alpha until a weight is zero. So a system that
is empty gets the proof that not even A x <= b has a solution, and a bound on an optimum becomes that of a corner of the
dual program.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Matrix, dense_rows, spread
from rosenblatt.theory.integers import null_space
from rosenblatt.theory.programs.feasibility_answers import Infeasible

FEW = 32  # up to so many rows exact weights are computed
SMALL = 1e-9  # a singular value or a slope below this share counts as zero; a wrong guess only costs the sharper proof


def sharpened(A: Matrix, b: Floats, proof: Infeasible) -> Infeasible:
    """Return a proof from rows of ``proof`` with the largest deficit that was found, or ``proof`` itself."""
    rows = proof.support
    own = dense_rows(A, rows)
    alpha = _lowered(own, b[rows], proof.alpha[rows])
    if alpha is None:
        return proof
    kept = alpha > 0
    other = _proof(A, b, rows[kept], own[kept], alpha[kept])
    return other if other is not None and other.empty and other.check(A, b) else proof


def _lowered(A: Floats, b: Floats, alpha: Floats) -> Floats | None:
    """Return weights with A^T alpha = 0, some of them zero, and the lowest b . alpha; None where there is no choice."""
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(A, axis=1)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            return None
        A, b, y = A / lengths[:, None], b / lengths, alpha * lengths
        rows = np.arange(len(y))
        while len(rows) > 1:
            _, sizes, lines = np.linalg.svd(A[rows].T)
            free = lines[int(np.sum(sizes > SMALL)) :]
            if len(free) < 2:
                break
            slope = free.T @ (free @ b[rows])
            slope -= y[rows] * (y[rows] @ slope) / (y[rows] @ y[rows])  # more of all weights is no progress
            if not np.max(np.abs(slope)) > SMALL * np.max(np.abs(b[rows])):
                break
            ways = np.where(slope > 0, y[rows] / np.where(slope > 0, slope, 1.0), np.inf)
            k = int(np.argmin(ways))
            if not math.isfinite(ways[k]):
                return None
            y[rows] = np.maximum(y[rows] - ways[k] * slope, 0.0)
            y[rows[k]] = 0.0
            rows = np.flatnonzero(y)
        return y / lengths if len(rows) < len(y) else None


def _proof(A: Matrix, b: Floats, rows: NDArray[np.intp], own: Floats, alpha: Floats) -> Infeasible | None:
    """Return the proof that these rows give, with exact weights if they are few; it still has to be checked."""
    if len(rows) > FEW:
        alpha = spread(rows, alpha / alpha.sum(), A.shape[0])
        return Infeasible(alpha, max(0.0, -float(b @ alpha)), rows, None)
    ways = null_space(own.T.tolist())
    if len(ways) != 1:
        return None
    sign = 1 if ways[0][0] > 0 else -1
    weights = tuple(sign * value for value in ways[0])
    return Infeasible.from_weights(A, b, rows, weights) if min(weights) > 0 else None
