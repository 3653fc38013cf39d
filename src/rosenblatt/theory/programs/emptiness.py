"""Systems without a solution told from those without an interior: A x <= b may hold where A x < b cannot."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from rosenblatt.theory.inputs import Floats, Matrix, dense_rows, spread
from rosenblatt.theory.integers import proportional_integers
from rosenblatt.theory.programs.duals import sharpened
from rosenblatt.theory.programs.feasibility_answers import Infeasible
from rosenblatt.theory.programs.systems import cone
from rosenblatt.theory.search.alternatives import Unsolvable
from rosenblatt.theory.search.cones import decide_cone
from rosenblatt.theory.simplex import TooMuchWorkError, nonnegative_solution

ROOM = 2.0**-33  # how much more room than b is given, as a share
FEW_ENTRIES = 10_000  # of a system of up to so many numbers it is decided exactly
MOST_WORK = 1e7  # some seconds, for that


def emptied(A: Matrix, b: Floats, proof: Infeasible) -> Infeasible:
    """Return the proof that not even A x <= b has a solution, if one is found, else ``proof``.

    If a little more room than b still leaves nothing, the weights that prove this prove it for b with a deficit.
    """
    if proof.empty:
        return proof
    scale = np.maximum(np.abs(b), largest_in_rows(A))
    with np.errstate(over="ignore"):
        wider = b + ROOM * np.where(scale == 0, 1.0, scale)
    answer = decide_cone(cone(A, wider)) if np.isfinite(wider).all() else None
    if not isinstance(answer, Unsolvable):
        return _exactly(A, b, proof)
    other = sharpened(A, wider, from_cone(A, wider, answer))
    if other.weights is not None:
        other = Infeasible.from_weights(A, b, other.support, other.weights)
    else:
        other = Infeasible(other.alpha, max(0.0, -float(b @ other.alpha)), other.support, None)
    return other if other.empty and other.check(A, b) else _exactly(A, b, proof)


def _exactly(A: Matrix, b: Floats, proof: Infeasible) -> Infeasible:
    """Return the proof that A x <= b has no solution, by however little; ``proof`` if it has one, or is large.

    Farkas: weights y >= 0 with A^T y = 0 and b . y = -1, found for the integers in proportion to each row.
    """
    if A.shape[0] * (A.shape[1] + 1) > FEW_ENTRIES:
        return proof
    given = np.column_stack([dense_rows(A, np.arange(A.shape[0])), -b]).tolist()
    columns = [proportional_integers(row) for row in given]
    try:
        found = nonnegative_solution(columns, [0] * A.shape[1] + [1], MOST_WORK)
    except TooMuchWorkError:
        return proof
    if found is None:
        return proof
    rows = [i for i, weight in enumerate(found) if weight]
    weights = [_ratio(columns[i], given[i]) * found[i] for i in rows]
    return Infeasible.from_weights(A, b, np.array(rows), tuple(proportional_integers(weights)))


def _ratio(whole: list[int], row: list[float]) -> Fraction:
    """Return what the row was multiplied by; 0 if it is zero."""
    return next((whole[j] / Fraction(value) for j, value in enumerate(row) if value), Fraction(0))


def largest_in_rows(A: Matrix) -> Floats:
    """Return the largest absolute value in each row."""
    if sp.issparse(A):
        return abs(A).max(axis=1).toarray().ravel()
    return np.max(np.abs(A), axis=1, initial=0.0)


def from_cone(A: Matrix, b: Floats, answer: Unsolvable) -> Infeasible:
    """Return the proof in terms of A and b: the weight of the row (0, 1) follows from the others."""
    own = answer.support < A.shape[0]
    rows = answer.support[own]
    if answer.weights is not None:
        return Infeasible.from_weights(A, b, rows, answer.weights[: len(rows)])
    total = float(answer.alpha[own].sum())
    alpha = spread(rows, answer.alpha[own] / total, A.shape[0])
    return Infeasible(alpha, float(answer.alpha[~own].sum()) / total, rows, None)
