"""Novikoff's bound: how many mistakes a perceptron can make on given rows, in whatever order they come."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from rosenblatt.rounding import HALF_ULP
from rosenblatt.theory.exact import squared_length
from rosenblatt.theory.floats import rounded
from rosenblatt.theory.inputs import Matrix, MatrixLike, entries, largest_entry, safe, two_classes
from rosenblatt.theory.margins import dataset_margin

_EXACT_TERMS = 100_000  # up to so many numbers in the rows that may be the longest are squared exactly


def mistake_bound(X: MatrixLike, y: ArrayLike, fit_intercept: bool = True) -> float:
    """Return the number of updates that no run of the perceptron on these rows can exceed, in any order.

    It is the integer part of (R^2 + 1) / gamma^2 with a bias: R is the length of the longest row, and gamma the largest
    margin that a separator (w, b) of length |(w, b)| = 1 has on the rows (x, 1), since with a bias the perceptron
    learns in the space of these (`dataset_margin` with ``kind="augmented"``). Without a bias it is that of
    R^2 / gamma^2 with the margin through the origin (``kind="homogeneous"``). With a bias it is *not* R^2 / gamma^2
    with the margin of CIML equation 4.9, as the example shows. Infinity where nothing separates the rows, as there the
    perceptron never stops, and in the rare case that no separator could be found.
    It bounds the updates of all passes together, not the pass in which the last of them comes.

    Block and Novikoff (1962); CIML 4.5, Har-Peled 30.1, parametric learning notes 3.3. For rows with |x| <= 1 and no
    bias it reads 1 / gamma^2; for a separator w* of any length, R^2 |w*|^2 / gamma^2.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers; those that float64 would round are refused.
    y : array of shape (n,)
        Labels of two classes. With one class only the bound is finite if a separator puts all rows on one side,
        as with a bias one always does.
    fit_intercept : bool
        Whether the perceptron has a bias.

    Returns
    -------
    float
        An integer, as it bounds a count, or infinity. The quotient is never below the exact one: the margin used is
        one that is attained, and all roundings go up; only then what follows the point is left off. The weights of a
        real run are rounded as well, one rounding for each coordinate of an update. That is allowed for in the first
        2^47 updates (10^14: weeks of them), where a bound K grows by a share of 3.4e-16 K, and not beyond.

    Examples
    --------
    The points 1 (+) and 0 (-) have the margin 1/2 and R = 1. There are 5 updates, and not at most R^2 / gamma^2 = 4:

    >>> from rosenblatt import Perceptron
    >>> X, y = [[1.0], [0.0]], [1, -1]
    >>> Perceptron(shuffle=False).fit(X, y).n_updates_
    5
    >>> mistake_bound(X, y)
    10.0

    Without a bias the scale of the data makes no difference, with one it does:

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
    """Return ``squared / gamma**2`` rounded up, with what rounding of the weights may add; inf for no margin.

    >>> novikoff(Fraction(1), 0.0)
    inf
    """
    if not gamma > 0.0:
        return math.inf
    return rounded(allowing_for_rounding(squared / Fraction(gamma) ** 2, Fraction(HALF_ULP)), up=True)


def allowing_for_rounding(K: Fraction, u: Fraction) -> Fraction:
    """Return what the bound K becomes where each update rounds by a share ``u``: valid for 1 / (64 u) updates.

    A run in floats has weights w_k = v_k + e with v_k = w_(k-1) + y z and |e| <= u |v_k|, and its decisions are exact;
    the first update does not round. Let x = u k <= 1/64. As |v_k|^2 <= |w_(k-1)|^2 + R^2, the sum of the (1 + u)^(2 j)
    for j up to k bounds |w_k|^2 / R^2, and so |w_k| <= sqrt(k) R (1 + 0.51 x + 0.51 u). The errors add up to at most
    u R exp(x) (sqrt(2) + ... + sqrt(k)) <= sqrt(k) R (0.68 x + 0.51 u), which w*.w_k >= k gamma loses. Together
    sqrt(k) <= sqrt(K) (1 + 1.19 x + 1.02 u), hence k <= K (1 + 2.43 u k + 2.05 u). The first k above
    K (1 + 3 u (K + 3)) would break this, so no run gets there. From K = 1 / (64 u) on, no run of that many
    updates exceeds K itself.

    >>> float(allowing_for_rounding(Fraction(10**20), Fraction(HALF_ULP)))
    1e+20
    """
    proved = 1 / (64 * u)
    return max(K, min(K * (1 + 3 * u * (K + 3)), proved))


def squared_radius(X: Matrix, bias: bool) -> Fraction:
    """Return the squared length of the longest row, plus 1 for a ``bias``: exactly, or rounded up by very little.

    Very little: where more than some thousand rows might be the longest, a float with its error bound decides.

    >>> squared_radius(np.array([[3.0, 4.0], [0.0, 1.0]]), bias=True)
    Fraction(26, 1)
    """
    if largest_entry(X) == 0.0:
        return Fraction(int(bias))
    scaled, exponent = safe(X)  # so that no square overflows or vanishes
    if sp.issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        squares = np.bincount(rows, weights=scaled.data * scaled.data, minlength=X.shape[0])
    else:
        squares = np.einsum("ij,ij->i", scaled, scaled)
    slack = 4.0 * (X.shape[1] + 4) * HALF_ULP  # twice what the sums are off by, relative to the longest
    longest = float(squares.max())
    rows = np.flatnonzero(squares >= longest * (1.0 - slack))
    if len(rows) * X.shape[1] <= _EXACT_TERMS:
        return max(squared_length(entries(X[[i]]).ravel()) for i in rows.tolist()) + int(bias)
    return Fraction(longest * (1.0 + slack)) * Fraction(4) ** exponent + int(bias)
