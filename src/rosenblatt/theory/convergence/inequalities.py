"""The inequalities of the convergence proof, evaluated along a run and checked with all rounding counted.

With u = 2^-53, let the weights in floats be w_k = w_(k-1) + y z + e_k: the e_k are the errors of the additions,
computed without error by Knuth's two-sum, and D_k = |e_1| + ... + |e_k|. Mistakes are decided exactly on the floats
w_k, so that y w_(k-1).z <= 0 is a fact. Then, for a unit vector w* of margin gamma,

    w*.w_k >= k gamma - D_k      each update adds y w*.z + w*.e_k
    |w_k| <= sqrt(k) R + D_k     |w_(k-1) + y z|^2 <= |w_(k-1)|^2 + R^2, and then the triangle inequality
    alpha_k <= alpha_0 - k R^2 + 2 (sqrt(k) R + c) D_k + D_k^2, with c = R^2 / gamma, as |w|^2 - 2 c w*.w + c^2

and the same for single steps, with e_k in place of D_k. Sums of m products are off by at most g times the product
of the lengths. A check fails only where the inequality is off by more than all of this, which no perceptron can do.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP
from rosenblatt.theory.inputs import Floats, Matrix, Signs, dense_rows

_CHUNK = 1 << 20  # numbers in the weight vectors that are looked at together
_TINY = 2.0**-1000  # what vanishes where numbers are scaled


class Update(NamedTuple):
    """The numbers at one update, as `Proof` names them."""

    k: int
    row: int
    activation: float
    rise: float
    square: float
    projection: float
    projection_low: float
    norm2: float
    norm2_high: float
    cosine: float
    cosine_low: float
    alpha: float
    alpha_high: float


def rounding(m: int) -> float:
    """Return g: a sum of ``m`` products of floats, and a few operations more, is off by at most g of its size."""
    return 1.01 * (m + 16) * HALF_ULP


def inequalities(
    X: Matrix, signs: Signs, rows: NDArray[np.int64], bias: bool, v: Floats, R: float, gamma: float
) -> dict[str, Any]:
    """Return what `Proof` shows of the updates on ``rows``, and whether each inequality held.

    ``v`` is the separator with its bias at the end, of length 1. All is computed with z over a power of two, so that
    squares neither overflow nor vanish, and handed back in the units of the data.
    """
    exponent = math.frexp(R)[1]
    R, gamma = math.ldexp(R, -exponent), math.ldexp(gamma, -exponent)
    v = v if bias else v[:-1]
    m, c = len(v), R * R / gamma
    w, size = np.zeros(m), max(1, _CHUNK // max(1, m))
    parts = [np.empty((0, 7))]
    with np.errstate(under="ignore"):
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            Z = np.hstack([dense_rows(X, some), np.ones((len(some), int(bias)))]) * signs[some][:, None]  # y z
            W = np.add.accumulate(np.vstack([w, Z]), axis=0)  # one addition after the other, as the kernel does
            w = W[-1]
            parts.append(_numbers(np.ldexp(W, -exponent), np.ldexp(Z, -exponent), _lost(W, Z, exponent), v, c))
    before, after, square, projection, norm2, alpha, lost = np.concatenate(parts).T
    k, g = np.arange(1, len(rows) + 1), rounding(m)
    drift = np.cumsum(lost) * (1 + len(rows) * HALF_ULP)
    norm, reach, length = np.sqrt(norm2), np.sqrt(k) * R, np.sqrt(square)
    norm_before = np.concatenate([[0.0], norm[:-1]])
    alpha_before = np.concatenate([[c * c], alpha[:-1]])
    size2 = (norm + norm_before + c) ** 2  # of all that alpha is made of
    checks = {
        "y·a ≤ 0": before <= g * norm_before * length + _TINY,
        "y·a rises by |z|²": np.abs(after - before - square)
        <= (g * (norm + norm_before + length) + lost) * length + _TINY,
        "w*·w ≥ k·γ": projection >= k * gamma * (1 - g) - drift - g * norm - _TINY,
        "w*·w ≤ |w|": projection <= norm * (1 + g) + _TINY,
        "|w| ≤ √k·R": norm * (1 - g) <= reach * (1 + g) + drift + _TINY,
        "cosine ≥ √k·γ/R": projection / norm >= (k * gamma - drift) / (reach + drift) - 4 * g,
        "α falls by R²": alpha <= alpha_before - R * R + g * size2 + 2 * (norm + c) * lost + lost * lost,
        "α ≤ α₀−k·R²": alpha <= c * c - k * R * R + g * size2 + 2 * (reach + c) * drift + drift * drift,
    }
    with np.errstate(over="ignore", under="ignore"):
        lengths = {"projection": projection, "projection_low": k * gamma, "drift": drift}
        squares = {
            "activation": before,
            "rise": after - before,
            "square": square,
            "norm2": norm2,
            "norm2_high": k * R * R,
            "alpha": alpha,
            "alpha_high": c * c - k * R * R,
        }
        return {
            "k": k,
            "row": rows,
            **{name: np.ldexp(values, exponent) for name, values in lengths.items()},
            **{name: np.ldexp(values, 2 * exponent) for name, values in squares.items()},
            "cosine": projection / norm,
            "cosine_low": np.sqrt(k) * (gamma / R),
            "checks": checks,
        }


def _lost(W: Floats, Z: Floats, exponent: int) -> Floats:
    """Return the lengths of the errors of the additions that made ``W``, over 2**exponent."""
    before, after = W[:-1], W[1:]
    added = after - before
    errors = np.ldexp((before - (after - added)) + (Z - added), -exponent)
    return np.sqrt(np.einsum("ij,ij->i", errors, errors)) * (1 + rounding(Z.shape[1]))


def _numbers(W: Floats, Z: Floats, lost: Floats, v: Floats, c: float) -> Floats:
    """Return, for each update, y a before and after it, |z|^2, w*.w, |w|^2, alpha, and what rounding lost."""
    before, after = W[:-1], W[1:]
    apart = after - c * v
    pairs = ((before, Z), (after, Z), (Z, Z), (after, np.broadcast_to(v, after.shape)), (after, after), (apart, apart))
    return np.column_stack([*(np.einsum("ij,ij->i", left, right) for left, right in pairs), lost])
