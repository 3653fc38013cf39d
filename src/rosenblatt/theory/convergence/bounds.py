"""Novikoff's bound on the mistakes of a perceptron for any order of the rows, and the inequalities of its proof."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rosenblatt.rounding import HALF_ULP
from rosenblatt.theory.exact import rounded, squared_length
from rosenblatt.theory.inputs import (
    Floats,
    Matrix,
    MatrixLike,
    Signs,
    dense_rows,
    entries,
    largest_entry,
    safely_scaled,
    two_classes,
)
from rosenblatt.theory.separability import dataset_margin

_EXACT_TERMS = 100_000  # up to this number of entries, the candidates for the longest row are squared exactly


def mistake_bound(X: MatrixLike, y: ArrayLike, fit_intercept: bool = True) -> float:
    """Return an upper bound on the number of updates of the perceptron on these rows, whatever their order.

    Let R be the largest norm of a row. With a bias the bound is the integer part of (R^2 + 1) / gamma^2. The perceptron
    then learns in the space of (x, 1). So gamma is the largest margin of any (w, b) with |(w, b)| = 1 on the rows
    (x, 1), that is, `dataset_margin` with ``kind="augmented"``. Without a bias the bound is the integer part of R^2 /
    gamma^2. Here gamma is the largest margin of hyperplanes through the origin (``kind="homogeneous"``). With a bias,
    R^2 / gamma^2 with the margin of CIML equation 4.9 is *not* a bound, as the example shows.

    The bound is infinite if no hyperplane separates the classes, since the perceptron then never stops. It is also
    infinite in the rare case that no separator was found. It bounds the updates of all passes together, not the number
    of passes.

    References: Block and Novikoff (1962); CIML 4.5, Har-Peled 30.1, parametric learning notes 3.3. For rows with
    |x| <= 1 and no bias they state the bound as 1 / gamma^2. For a separator w* of any norm they state it as R^2 |w*|^2
    / gamma^2.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers. A number that float64 would round raises a ValueError.
    y : array of shape (n,)
        Labels of at most two classes. For a single class the bound is finite if some hyperplane has all rows on one
        side. With a bias this is always the case.
    fit_intercept : bool, default=True
        Whether the perceptron has a bias.

    Returns
    -------
    float
        A whole number or infinity. It is never below the exact bound: some hyperplane attains the margin that is used,
        and all rounding is upwards before the integer part is taken. During training the weights are rounded too, once
        per coordinate of each update. The bound allows for these errors in the first 2^47 updates (10^14, weeks of
        computation). This allowance multiplies a bound K by 1 + 3.4e-16 K.

    See Also
    --------
    dataset_margin : The margins used in the bound.
    proof : Compare a training run of the perceptron with the inequalities of the proof.

    Examples
    --------
    The points 1 (+) and 0 (-) have the margin 1/2 and R = 1. Training makes 5 updates, more than R^2 / gamma^2 = 4:

    >>> from rosenblatt import Perceptron
    >>> X, y = [[1.0], [0.0]], [1, -1]
    >>> Perceptron(shuffle=False).fit(X, y).n_updates_
    5
    >>> mistake_bound(X, y)
    10.0

    The scale of the data matters with a bias, but not without one:

    >>> X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 3.0]]), [1, 1, -1]
    >>> [mistake_bound(scale * X, y, fit_intercept=False) for scale in (0.1, 1, 10)]
    [10.0, 10.0, 10.0]
    >>> [mistake_bound(scale * X, y) for scale in (0.1, 1, 10)]
    [89.0, 10.0, 10.0]
    """
    matrix, _, _ = two_classes(X, y)
    bracket = dataset_margin(X, y, kind="augmented" if fit_intercept else "homogeneous")
    return float(np.floor(novikoff(squared_radius(matrix, bool(fit_intercept)), bracket.low)))


def novikoff(squared: Fraction, gamma: float) -> float:
    """Return ``squared / gamma**2`` plus an allowance for rounded weights, rounded up; infinity if gamma <= 0.

    >>> novikoff(Fraction(1), 0.0)
    inf
    """
    if not gamma > 0.0:
        return math.inf
    return rounded(allowing_for_rounding(squared / Fraction(gamma) ** 2, Fraction(HALF_ULP)), up=True)


def allowing_for_rounding(K: Fraction, u: Fraction) -> Fraction:
    """Return the bound ``K`` with an allowance for updates of relative error ``u``, for up to 1 / (64 u) updates.

    In floats, update k gives w_k = v_k + e. Here v_k = w_(k-1) + y z is the exact sum, and the rounding error e has
    |e| <= u |v_k|. Decisions are exact, and the first update does not round. Let x = u k <= 1/64. Since
    |v_k|^2 <= |w_(k-1)|^2 + R^2, the sum of (1 + u)^(2 j) for j up to k bounds |w_k|^2 / R^2, and so |w_k| <= sqrt(k) R
    (1 + 0.51 x + 0.51 u). The errors add up to at most u R exp(x) (sqrt(2) + ... + sqrt(k)) <= sqrt(k) R (0.68 x + 0.51
    u). By this amount w*.w_k may be below k gamma. Together, sqrt(k) <= sqrt(K) (1 + 1.19 x + 1.02 u), hence k <= K (1
    + 2.43 u k + 2.05 u). The first k above K (1 + 3 u (K + 3)) would violate this inequality, so no run reaches it. If
    K is at least 1 / (64 u), a run of at most 1 / (64 u) updates does not exceed K itself.

    >>> float(allowing_for_rounding(Fraction(10**20), Fraction(HALF_ULP)))
    1e+20
    """
    proved = 1 / (64 * u)
    return max(K, min(K * (1 + 3 * u * (K + 3)), proved))


def squared_radius(X: Matrix, bias: bool) -> Fraction:
    """Return the largest squared norm of a row, plus 1 with a ``bias``, exactly or slightly rounded up.

    If too many rows could have the largest norm, a float plus its error bound is used.

    >>> squared_radius(np.array([[3.0, 4.0], [0.0, 1.0]]), bias=True)
    Fraction(26, 1)
    """
    if largest_entry(X) == 0.0:
        return Fraction(int(bias))
    scaled, exponent = safely_scaled(X)  # so that no square overflows or vanishes
    if sp.issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        squares = np.bincount(rows, weights=scaled.data * scaled.data, minlength=X.shape[0])
    else:
        squares = np.einsum("ij,ij->i", scaled, scaled)
    slack = 4.0 * (X.shape[1] + 4) * HALF_ULP  # twice the relative error of the sums
    longest = float(squares.max())
    rows = np.flatnonzero(squares >= longest * (1.0 - slack))
    if len(rows) * X.shape[1] <= _EXACT_TERMS:
        return max(squared_length(entries(X[[i]]).ravel()) for i in rows.tolist()) + int(bias)
    return Fraction(longest * (1.0 + slack)) * Fraction(4) ** exponent + int(bias)


# The inequalities of the convergence proof, evaluated along a run and checked with bounds on all rounding errors.
#
# With u = 2^-53, let the weights in floats be w_k = w_(k-1) + y z + e_k. The e_k are the rounding errors of the
# additions, computed exactly by Knuth's TwoSum, and D_k = |e_1| + ... + |e_k|. Mistakes are decided exactly on the
# floats w_k, so y w_(k-1).z <= 0 holds exactly. Then, for a unit vector w* of margin gamma,
#
#     w*.w_k >= k gamma - D_k      each update adds y w*.z + w*.e_k
#     |w_k| <= sqrt(k) R + D_k     |w_(k-1) + y z|^2 <= |w_(k-1)|^2 + R^2, and then the triangle inequality
#     alpha_k <= alpha_0 - k R^2 + 2 (sqrt(k) R + c) D_k + D_k^2, with c = R^2 / gamma, as |w|^2 - 2 c w*.w + c^2
#
# and likewise for single steps, with e_k in place of D_k. A sum of m products has an error of at most g times the
# product of the lengths. A check fails only if its inequality is violated by more than all these errors, which cannot
# happen in a run of the perceptron.


_CHUNK = 1 << 20  # the most numbers in the weight vectors of a block of updates
_TINY = 2.0**-1000  # bounds the underflow of scaled numbers


class Update(NamedTuple):
    """The quantities that the convergence proof tracks, at one update.

    For each field, `Proof` has an attribute of the same name with the values at all updates.
    """

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
    """Return g, a bound on the relative error of a sum of ``m`` products of floats plus a few more operations."""
    return 1.01 * (m + 16) * HALF_ULP


def replay_updates(X: Matrix, rows: NDArray[np.int64], signs: Signs, bias: bool) -> Iterator[tuple[Floats, Floats]]:
    """Yield, in blocks, the vectors y z of the updates on ``rows`` and the weights before the first and after each.

    z is (x, 1) with a bias and x without, and ``signs`` contains the sign y of each update. ``np.add.accumulate`` adds
    in sequence, so the weights equal those of the kernel bit for bit.
    """
    d = X.shape[1] + bias
    w, size = np.zeros(d), max(1, _CHUNK // max(1, d))
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        Z = np.hstack([dense_rows(X, some), np.ones((len(some), int(bias)))]) * signs[start : start + size][:, None]
        W = np.add.accumulate(np.vstack([w, Z]), axis=0)
        yield Z, W
        w = W[-1]


def inequalities(
    X: Matrix, signs: Signs, rows: NDArray[np.int64], bias: bool, v: Floats, R: float, gamma: float
) -> dict[str, Any]:
    """Return the columns of `Proof` for the updates on ``rows``, and whether each inequality held.

    ``v`` is the separator of norm 1, with its bias as the last entry. To avoid overflow and underflow of squares, z is
    divided by a power of two, and the results are scaled back.
    """
    exponent = math.frexp(R)[1]
    R, gamma = math.ldexp(R, -exponent), math.ldexp(gamma, -exponent)
    v = v if bias else v[:-1]
    m, c = len(v), R * R / gamma
    parts = [np.empty((0, 7))]
    with np.errstate(under="ignore"):
        for Z, W in replay_updates(X, rows, signs[rows], bias):
            parts.append(
                _numbers(np.ldexp(W, -exponent), np.ldexp(Z, -exponent), _rounding_errors(W, Z, exponent), v, c)
            )
    before, after, square, projection, norm2, alpha, lost = np.concatenate(parts).T
    k, g = np.arange(1, len(rows) + 1), rounding(m)
    drift = np.cumsum(lost) * (1 + len(rows) * HALF_ULP)
    norm, reach, length = np.sqrt(norm2), np.sqrt(k) * R, np.sqrt(square)
    norm_before = np.concatenate([[0.0], norm[:-1]])
    alpha_before = np.concatenate([[c * c], alpha[:-1]])
    size2 = (norm + norm_before + c) ** 2  # bounds every term of alpha
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


def _rounding_errors(W: Floats, Z: Floats, exponent: int) -> Floats:
    """Return the norm of the rounding error of each addition in ``W``, divided by 2**exponent.

    By TwoSum (Knuth), the error of s = fl(a + b) is exactly (a - (s - t)) + (b - t) with t = fl(s - a).
    """
    before, after = W[:-1], W[1:]
    added = after - before
    errors = np.ldexp((before - (after - added)) + (Z - added), -exponent)
    return np.sqrt(np.einsum("ij,ij->i", errors, errors)) * (1 + rounding(Z.shape[1]))


def _numbers(W: Floats, Z: Floats, lost: Floats, v: Floats, c: float) -> Floats:
    """Return a row for each update: y (w . x) before and after it, |z|^2, w*.w, |w|^2, alpha and the rounding error."""
    before, after = W[:-1], W[1:]
    apart = after - c * v
    pairs = ((before, Z), (after, Z), (Z, Z), (after, np.broadcast_to(v, after.shape)), (after, after), (apart, apart))
    return np.column_stack([*(np.einsum("ij,ij->i", left, right) for left, right in pairs), lost])
