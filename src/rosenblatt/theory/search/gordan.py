"""Gordan's theorem of the alternative: find a v with z . v > 0 for every row z, or a proof that none exists.

Either such a v exists, or some rows, multiplied by positive weights, sum to zero, but never both (P. Gordan 1873). The
answer is exact for the floating-point numbers in the data. Labelled rows are linearly separable exactly if such a v
exists for z = y (x, 1). The system A x < b is strictly feasible exactly if such a v exists for the rows of (-A, b) and
the row (0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.progress import Limits
from rosenblatt.rounding import SMALLEST_NORMAL
from rosenblatt.theory.enclosures import encloses_zero_combination
from rosenblatt.theory.exact import proportional_floats, proportional_integers, row_hashes, rows_differ
from rosenblatt.theory.inputs import (
    Floats,
    Matrix,
    Numbers,
    Signs,
    as_float,
    check_matrix,
    dense_rows,
    entries,
    largest_entry,
    scatter,
)
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.search.presolve import Solvable, Unsolvable
from rosenblatt.theory.search.wolfe import Hull, IntegerRows, exact_search, nearest_point
from rosenblatt.theory.search.zero_combinations import prove_zero_combination

FEW = 24  # for more rows than this, an enclosure is tried before exact weights are computed
LITTLE_WORK = 1 << 21  # limit on the work of the exact search that is tried first for few rows: about a second


def gordan(Z: Matrix) -> Solvable | Unsolvable | None:
    """Return a v with ``z . v > 0`` for every row z of ``Z``, a proof that none exists, or None if undecided.

    >>> gordan([[1.0, 2.0], [2.0, 1.0]]).v > 0
    array([ True,  True])
    >>> gordan([[1.0, 2.0], [-3.0, -6.0]]).weights
    (3, 1)
    """
    Z = check_matrix(Z, "Z")
    signs = np.ones(Z.shape[0])
    if Z.shape[1] == 0:
        return Unsolvable(np.zeros(1, dtype=np.intp), np.ones(1), (1,))
    found = nearest_point(Hull(Z, signs, "homogeneous"))
    if found.low > 0 and least_score(Z, signs, found.u, 0.0) > 0:
        return Solvable(found.u)
    return decide_exactly(Z, signs, False, scatter(found.rows, found.weights, Z.shape[0]), by_basis=False)


def decide_exactly(
    X: Matrix,
    signs: Signs,
    bias: bool,
    alpha: Floats,
    limits: Limits | None = None,
    by_basis: bool = True,
    search_first: Callable[[], Solvable | Unsolvable | None] = lambda: None,
) -> Solvable | Unsolvable | None:
    """Decide exactly whether some v has z . v > 0 for every row z.

    ``alpha`` contains row weights for which sum alpha_i z_i is near zero.

    Four methods are tried in the order of their cost:

    1. a proof by enclosure on the rows of nonzero weight;
    2. a proof by enclosure with a chosen basis, if ``by_basis`` is true;
    3. the function ``search_first``;
    4. Wolfe's algorithm in exact arithmetic, whose cost grows with the fourth power of the number of rows.

    With at most `FEW` rows, Wolfe's algorithm is also tried first, for a short time, because its integer weights are
    the better proof. It may need many more rows if the columns have very different magnitudes. The reason is that rows
    whose sum is zero in the large columns need not have a sum near zero in the small ones. The result is None if the
    limits end the search.
    """
    exponent = min(math.frexp(largest_entry(X))[1], 1023)
    constant = 2.0**exponent if bias else 0.0  # replaces the 1 of (x, 1), to match the magnitude of the data
    kind = "augmented" if bias else "homogeneous"
    for least in (1e-6 * np.max(alpha), 0.0):  # first without small weights, which may be rounding errors
        rows = np.flatnonzero(alpha > least)
        few = Hull(X[rows], signs[rows], kind, constant)
        found = nearest_point(few, rtol=0.0)
        if found.high < 1e-9 * few.radius:
            break
    start = rows[found.rows]
    watch = limits.exact if limits else None
    answer = None
    if len(start) <= FEW:
        answer = exact_search(IntegerRows(X, signs, bias), start.tolist(), LITTLE_WORK, watch)
    if limits is not None and answer is None and limits.expired():
        return None
    if answer is None:
        refined = _refined(X, signs, start, found.weights, bias)
        if encloses_zero_combination(X, signs, start, refined, bias):
            order = np.argsort(start)  # certificates list rows in ascending order
            return Unsolvable(start[order], refined[order], None)
        if by_basis:
            rows = np.flatnonzero(alpha)
            proof = prove_zero_combination(X, signs, bias, start, found.weights, (0.0,))
            proof = proof or prove_zero_combination(X, signs, bias, rows, alpha[rows])
            if proof is not None:
                return proof
        other = search_first()
        if other is not None:
            return other
        answer = exact_search(IntegerRows(X, signs, bias), start.tolist(), watch=watch)
    if answer is None:
        return None
    v, weights = answer
    if weights is None:
        return Solvable(_short_vector(X, signs, v, bias))
    pairs = sorted(zip(v, weights, strict=True))
    total = sum(weights)
    shares = np.array([max(weight / total, 5e-324) for _, weight in pairs])  # so that no share underflows to 0
    return Unsolvable(np.array([row for row, _ in pairs], dtype=np.intp), shares, tuple(weight for _, weight in pairs))


def conflicting_duplicates(X: Matrix, signs: Signs) -> Unsolvable | None:
    """Return a proof of inseparability from two equal rows of opposite signs, or None if none are found."""
    marks = row_hashes(X)
    order = np.argsort(marks, kind="stable")
    alike = np.flatnonzero((marks[order][1:] == marks[order][:-1]) & (signs[order][1:] != signs[order][:-1]))
    for k in alike.tolist():
        pair = np.sort(order[k : k + 2])
        if not rows_differ(X[pair[:1]], X[pair[1:]]).any():
            return Unsolvable(pair, np.array([0.5, 0.5]), (1, 1))
    return None


def _refined(X: Matrix, signs: Signs, rows: NDArray[np.intp], alpha: Floats, bias: bool) -> Floats:
    """Return weights that sum to 1 and make the weighted sum of the rows zero, up to rounding.

    The method is least squares with iterative refinement, starting from ``alpha``.
    """
    Z = dense_rows(X, rows) * signs[rows][:, None]
    parts = [Z.T, signs[rows][None, :]] if bias else [Z.T]
    M = np.vstack([*parts, np.ones(len(rows))])
    lengths = np.max(np.abs(M), axis=1, initial=0.0)
    M /= np.where(lengths > 0, lengths, 1.0)[:, None]
    right = np.zeros(M.shape[0])
    right[-1] = 1.0
    for _ in range(3):
        alpha = alpha + np.linalg.lstsq(M, right - M @ alpha, rcond=None)[0]
    return alpha


def _short_vector(X: Matrix, signs: Signs, v: list[int], bias: bool) -> Numbers:
    """Return v rounded to floats if it still separates the classes, if necessary with another bias.

    Otherwise return integers proportional to v.
    """
    near = np.array(proportional_floats(v))
    w, b = (near[:-1], float(near[-1])) if bias else (near, 0.0)
    if least_score(X, signs, w, b) > 0:
        return near
    sides = [signs > 0, signs < 0]
    if bias and all(side.any() for side in sides):
        low, high = (least_score(X[side], signs[side], w, 0.0) for side in sides)
        near[-1] = as_float((high - low) / 2)  # halfway between the classes
        if math.isfinite(near[-1]) and least_score(X, signs, w, float(near[-1])) > 0:
            return near
    return np.array(proportional_integers(v), dtype=object)


# Equilibration: rows and columns of different magnitudes are scaled by powers of two, and the answer is scaled back.


_NONE = -(10**6)  # the exponent of zero

Exponents = NDArray[np.int64]


def equilibrated(Z: Matrix) -> tuple[Matrix, Exponents, Exponents]:
    """Return the equilibrated matrix ``Z``, the exponents of the row scales and the exponents of the column scales.

    Each row, then each column, is divided by the power of two that brings its largest absolute value into [1/2, 1).

    >>> equilibrated(np.array([[4.0, 2.0**-50], [1.0, 0.0]]))
    (array([[0.5, 0.5],
           [0.5, 0. ]]), array([3, 1]), array([  0, -52]))
    """
    n, m = Z.shape
    values = entries(Z)
    exponents = np.where(values != 0, np.frexp(values)[1], _NONE).astype(np.int64)
    if sp.issparse(Z):
        rows = np.repeat(np.arange(n), np.diff(Z.indptr))
        row_exponents, column_exponents = np.full(n, _NONE), np.full(m, _NONE)
        np.maximum.at(row_exponents, rows, exponents)
        row_exponents[row_exponents == _NONE] = 0
        np.maximum.at(column_exponents, Z.indices, exponents - row_exponents[rows])
    else:
        row_exponents = np.max(exponents, axis=1, initial=_NONE)
        row_exponents[row_exponents == _NONE] = 0
        column_exponents = np.max(exponents - row_exponents[:, None], axis=0, initial=_NONE)
    column_exponents[column_exponents < _NONE // 2] = 0
    with np.errstate(all="ignore"):
        if sp.issparse(Z):
            data = np.ldexp(Z.data, -row_exponents[rows] - column_exponents[Z.indices])
            return sp.csr_array((data, Z.indices, Z.indptr), shape=Z.shape), row_exponents, column_exponents
        return np.ldexp(Z, -row_exponents[:, None] - column_exponents), row_exponents, column_exponents


def decide_equilibrated(Z: Matrix) -> list[Fraction] | Unsolvable | None:
    """Return an exact v with Z v > 0 in every row, a proof that none exists, or None if neither was found.

    The scaled system is S = diag(2^-r) Z diag(2^-c), with the exponents r and c of `equilibrated`. A solution u of
    S u > 0 gives v = diag(2^-c) u. Weights a with S' a = 0 give the weights diag(2^-r) a of the rows of Z.
    """
    scaled, row_exponents, column_exponents = equilibrated(Z)
    if np.any((np.abs(entries(scaled)) < SMALLEST_NORMAL) & (entries(Z) != 0)):  # an entry became zero or subnormal
        scaled, row_exponents, column_exponents = Z, np.zeros_like(row_exponents), np.zeros_like(column_exponents)
    answer = gordan(scaled)
    if isinstance(answer, Solvable):
        pairs = zip(answer.v.tolist(), column_exponents.tolist(), strict=True)
        return [Fraction(value) / Fraction(2) ** exponent for value, exponent in pairs]
    if not isinstance(answer, Unsolvable):
        return None
    exponents = row_exponents[answer.support]
    top = int(np.max(exponents))
    alpha = np.maximum(np.ldexp(answer.alpha, exponents.min() - exponents), 5e-324)
    alpha /= alpha.sum()
    if answer.weights is None:
        return Unsolvable(answer.support, alpha, None)
    weights = [weight << (top - exponent) for weight, exponent in zip(answer.weights, exponents.tolist(), strict=True)]
    return Unsolvable(answer.support, alpha, tuple(proportional_integers(weights)))
