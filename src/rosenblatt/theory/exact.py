"""Sums and products of rows in integers: what a certificate claims, recomputed whatever search has found it.

Nothing is rounded, so that the answers are facts about the numbers as stored and are the same on every machine. Rows
stand for z = y (x, 1), or z = y x where there is no bias.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, as_float, entries

BLOCK_BYTES = 1 << 26
_FIRST_BITS = 1 << 11  # floats, and what is tiny beside them, go down to 2**-1074


def squared_length(w: Numbers, b: float = 0.0) -> Fraction:
    """Return the sum of the squares of all of w, and of b, exactly."""
    if w.dtype == object:
        whole, unit = in_common_units(w.tolist())
        square = sum(value * value for value in whole) * unit * unit
    else:
        integers, place = as_integers(w[w != 0])
        square = Fraction(int(integers @ integers), 1 << -2 * place)
    return square + Fraction(b) ** 2


def squared_sum(X: Matrix, signs: Signs, alpha: Floats, bias: bool) -> Fraction:
    """Return the squared length of the mean of the rows z with the weights ``alpha``, exactly.

    No separator has a margin above that length: every row of z lies at least as far along it as the margin, so
    the mean does.
    """
    rows = np.flatnonzero(alpha)
    weights, _ = as_integers(alpha[rows])
    signed = np.where(signs[rows] > 0, weights, -weights)
    sums, place = product_with_integers(X[rows].T, signed)
    square = sum(value * value for value in sums) + (int(bias) * signed.sum() << -place) ** 2
    return Fraction(square, weights.sum() ** 2 << -2 * place)


def hull_distance(X: Matrix, signs: Signs, alpha: Floats) -> Fraction | None:
    """Return the squared half of the distance between the means of the two classes weighted by ``alpha``, exactly.

    No separator, with any bias, has a margin above that half. None where a class has no weight.
    """
    rows = np.flatnonzero(alpha)
    (weights, _), positive = as_integers(alpha[rows]), signs[rows] > 0
    plus, minus = weights[positive].sum(), weights[~positive].sum()
    if plus == 0 or minus == 0:
        return None
    gap, place = product_with_integers(X[rows].T, np.where(positive, weights * minus, -weights * plus))
    return Fraction(sum(value * value for value in gap), (2 * plus * minus) ** 2 << -2 * place)


def sums_to_zero(X: Matrix, signs: Signs, rows: NDArray[np.intp], weights: Sequence[int], bias: bool) -> bool:
    """Return whether the rows z with these integer weights, all positive, add up to exactly zero."""
    if len(weights) != len(rows) or len(rows) == 0 or min(weights) <= 0:
        return False
    signed = [int(sign) * weight for sign, weight in zip(signs[rows].tolist(), weights, strict=True)]
    if bias and sum(signed) != 0:
        return False
    return not any(product_with_integers(X[rows].T, signed)[0])


def are_shares(alpha: Floats, weights: Sequence[int], of: Fraction, tiny: Fraction) -> bool:
    """Return whether ``alpha`` are the shares of the weights in a total ``of``, to a billionth or a ``tiny`` part.

    Of long weights the first digits are looked at: what the others say is far below ``tiny``.
    """
    total = sum(weights)
    if len(weights) != len(alpha) or total <= 0:
        return False
    dropped = max(0, total.bit_length() - _FIRST_BITS)
    total >>= dropped
    return all(
        abs(Fraction(share) * total - (weight >> dropped) * of) <= (weight >> dropped) * of / 10**9 + total * tiny
        for share, weight in zip(alpha.tolist(), weights, strict=True)
    )


def product_with_integers(M: Matrix, whole: Sequence[int] | Numbers) -> tuple[Numbers, int]:
    """Return M times integers, exactly, in units of 2**place, and that place, which is not above 0."""
    M, numbers = sp.csr_array(M) if sp.issparse(M) else M, np.array(whole, dtype=object)
    place = _place(entries(M))
    sums = np.zeros(M.shape[0], dtype=object)
    step = max(1, BLOCK_BYTES // ((256 + largest_bytes(whole)) * max(1, M.shape[1])))
    for start in range(0, M.shape[0] if M.shape[1] else 0, step):
        part = M[start : start + step]
        if sp.issparse(part):
            filled = np.flatnonzero(np.diff(part.indptr))
            if len(filled):
                products = _units(part.data, place) * numbers[part.indices]
                sums[start + filled] = np.add.reduceat(products, part.indptr[filled])
        else:
            sums[start : start + step] = _units(part, place) @ numbers
    return sums, place


def combined(parts: Sequence[tuple[int, Numbers, int]]) -> tuple[Numbers, int]:
    """Return the sum of integer factors times columns, exactly, and its place; each column is in units of 2**place."""
    lowest = min(place for _, _, place in parts)
    total = np.zeros(len(parts[0][1]), dtype=object)
    for factor, column, place in parts:
        total = total + column * (factor << (place - lowest))
    return total, lowest


def as_integers(values: Floats) -> tuple[Numbers, int]:
    """Return the numbers as integers in units of 2**place, and that place."""
    place = _place(values)
    return _units(values, place), place


def _place(values: Floats) -> int:
    """Return a place, not above 0, such that all the numbers are integers in units of 2**place."""
    exponents = np.frexp(values)[1][values != 0]
    return min(0, int(exponents.min()) - 53) if exponents.size else 0


def _units(values: Floats, place: int) -> Numbers:
    """Return the numbers as integers in units of 2**place."""
    parts, exponents = np.frexp(values)
    whole = (parts * 2.0**53).astype(np.int64)
    shifts = np.where(whole == 0, 0, exponents - (53 + place))
    if np.max(shifts, initial=0) <= 10:
        return (whole << shifts).astype(object)
    return whole.astype(object) << shifts.astype(object)


def largest_bytes(whole: Iterable[int]) -> int:
    """Return about how many bytes the longest of some integers takes."""
    return max((value.bit_length() for value in whole), default=0) // 8


def in_common_units(values: Sequence[float]) -> tuple[list[int], Fraction]:
    """Return integers and the unit that they count, so that each value is exactly its number of units."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max((below for _, below in ratios), default=1)
    return [above * (scale // below) for above, below in ratios], Fraction(1, scale)


# Integers in place of fractions, where only proportions matter.


def proportional_integers(values: Iterable[float | Fraction]) -> list[int]:
    """Return the integers without a common factor that are in proportion to the values, exactly.

    >>> proportional_integers([0.5, Fraction(-1, 3), 1])
    [3, -2, 6]
    """
    exact = [Fraction(value) for value in values]
    scale = math.lcm(*(value.denominator for value in exact))
    integers = [int(value * scale) for value in exact]
    common = math.gcd(*integers) or 1
    return [value // common for value in integers]


def proportional(values: list[float | Fraction]) -> NDArray[Any]:
    """Return floats as they are; where there are fractions, integers in proportion to them."""
    if not any(isinstance(value, Fraction) for value in values):
        return np.array(values)
    return np.array(proportional_integers(values), dtype=object)


def are_finite(values: Iterable[float | Fraction]) -> bool:
    """Return whether all numbers are finite, as integers and fractions of any size are."""
    return all(isinstance(value, Rational) or math.isfinite(value) for value in values)


def near_floats(v: Sequence[int]) -> list[float]:
    """Return floats in proportion to the integers, but for one rounding each; the largest lies between 1/2 and 1.

    >>> near_floats([3, -2, 6])
    [0.375, -0.25, 0.75]
    """
    unit = 1 << max(abs(value) for value in v).bit_length()
    return [value / unit for value in v]  # rounded once, whatever their size


def eliminated(rows: Sequence[Sequence[int]]) -> tuple[NDArray[Any], list[int]]:
    """Return the matrix of integers after exact elimination, and the columns of the pivots, one for each of its rows.

    (Bareiss's, without fractions: entries stay determinants of the matrix, so that every division is exact.) The
    entries at the pivots are all the same number, and the other entries in their columns are 0.
    """
    M = np.array(rows, dtype=object)
    pivots: list[int] = []
    last = 1
    for j in range(M.shape[1]):
        r = len(pivots)
        below = np.flatnonzero(M[r:, j])
        if len(below) == 0:
            continue
        M[[r, r + below[0]]] = M[[r + below[0], r]]
        line = M[r].copy()
        M = (M * line[j] - np.multiply.outer(M[:, j], line)) // last
        M[r] = line
        pivots.append(j)
        last = line[j]
    return M, pivots


def null_space(rows: Sequence[Sequence[float | Fraction]]) -> list[list[int]]:
    """Return integers d that span the solutions of ``row . d = 0`` for every row.

    >>> null_space([[1, 2, 0.0]])
    [[-2, 1, 0], [0, 0, 1]]
    """
    M, pivots = eliminated([proportional_integers(row) for row in rows])
    last = M[0, pivots[0]] if pivots else 1
    spanning = []
    for j in sorted(set(range(M.shape[1])) - set(pivots)):
        free = [0] * M.shape[1]
        free[j] = last
        for r, k in enumerate(pivots):
            free[k] = -M[r, j]
        common = math.gcd(*free) * (1 if last > 0 else -1)
        spanning.append([value // common for value in free])
    return spanning


# Exact numbers rounded to floats, up or down for certain.


def round_root(square: Fraction, up: bool | None, over: Fraction = Fraction(1)) -> float:
    """Return the root of ``square / over``: rounded ``up`` or down for certain, to the nearest where ``up`` is None.

    >>> round_root(Fraction(1, 25), up=None), round_root(Fraction(1), up=False, over=Fraction(25))
    (0.2, 0.19999999999999998)
    """
    if square <= 0:
        return 0.0
    above, below = square.numerator * over.denominator, square.denominator * over.numerator  # never reduced: it is slow
    shift = (above.bit_length() - below.bit_length()) // 2
    root = math.sqrt((above << max(0, -2 * shift)) / (below << max(0, 2 * shift)))

    def compare(p: int, q: int) -> int:
        """Return how (p / q)^2 compares with the square: -1, 0 or 1."""
        left, right = p * p * below, q * q * above
        return (left > right) - (left < right)

    try:
        low = math.ldexp(root, shift)
    except OverflowError:
        low = math.nextafter(math.inf, 0.0)
    while compare(*low.as_integer_ratio()) > 0:
        low = math.nextafter(low, 0.0)
    high = low
    while math.isfinite(high) and compare(*high.as_integer_ratio()) < 0:
        low, high = high, math.nextafter(high, math.inf)
    if up is None:
        up = math.isfinite(high) and compare(*((Fraction(low) + Fraction(high)) / 2).as_integer_ratio()) < 0
    return high if up else low


def rounded_product(x: Floats, w: Floats) -> float:
    """Return the dot product of two vectors, rounded once: its sign is right, or it is 0 exactly.

    >>> rounded_product(np.array([1e16, 1.0, -1e16]), np.ones(3))
    1.0
    """
    used = np.flatnonzero((x != 0) & (w != 0))
    pairs = zip(x[used].tolist(), w[used].tolist(), strict=True)
    exact = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction())
    near = as_float(exact)
    return near if near or not exact else math.copysign(math.ulp(0.0), exact)


def rounded(value: Fraction, up: bool) -> float:
    """Return the nearest float that is not below ``value``, or not above it."""
    near = as_float(value)
    if not math.isfinite(near):
        return near if (near > 0) == up else math.copysign(math.nextafter(math.inf, 0.0), near)
    if up and Fraction(near) < value:
        return math.nextafter(near, math.inf)
    if not up and Fraction(near) > value:
        return math.nextafter(near, -math.inf)
    return near


# Rows that are equal, found by hashing and then compared.


_BLOCK_BYTES = 1 << 26
_CACHED = 1 << 15  # numbers of a block that stays in the cache
_ODD = np.uint64(0x9E3779B97F4A7C15)


def representatives(X: Matrix, groups: NDArray, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each of ``rows`` one of them, the first, that is of the same group and has the same ``columns``.

    Equal rows have equal hashes. Each row is compared with the first one of its hash, and stands for itself if it
    is another: should two hashes agree by chance, a row too many is kept, and none is lost.

    >>> representatives(np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 5.0]]), np.ones(3), np.arange(3), np.array([0]))
    array([0, 0, 2])
    """
    step = max(1, _BLOCK_BYTES // (8 * max(1, len(columns))))
    blocks = [slice(start, start + step) for start in range(0, len(rows), step)]
    hashes = np.concatenate([row_hashes(_part(X, rows[block], columns)) for block in blocks])
    _, kinds = np.unique(groups[rows], return_inverse=True)
    _, first, kind = np.unique(hashes + kinds.astype(np.uint64), return_index=True, return_inverse=True)
    twins = rows[first[kind]]
    for block in blocks:
        some, others = rows[block], twins[block]
        differs = _differs(_part(X, some, columns), _part(X, others, columns)) | (groups[some] != groups[others])
        twins[block] = np.where(differs, some, others)
    return twins


def row_hashes(X: Matrix) -> NDArray[np.uint64]:
    """Return a hash of each row: the sum of numbers that its entries stand for, times odd ones."""
    n, d = X.shape
    odd = _odd_numbers(d)
    if sp.issparse(X):
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(X.data) * odd[X.indices])])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    marks = np.empty(n, np.uint64)
    step = max(1, _CACHED // max(1, d))
    for start in range(0, n, step):
        marks[start : start + step] = (_mixed(X[start : start + step]) * odd).sum(axis=1)
    return marks


@lru_cache(maxsize=8)
def _odd_numbers(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=count, dtype=np.uint64) | np.uint64(1)


def _mixed(values: Floats) -> NDArray[np.uint64]:
    """Return numbers that depend on all bits of the floats; 0 for 0 and for -0.

    Of small integers and powers of two only the first bits, those of sign and exponent, are not zero. They are moved to
    the end, from where multiplication spreads them.
    """
    bits = (values + 0.0).view(np.uint64)
    bits = ((bits << np.uint64(12)) | (bits >> np.uint64(52))) * _ODD
    return bits ^ (bits >> np.uint64(32))


def _part(X: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Matrix:
    """Return some columns of some rows."""
    if len(columns) == X.shape[1]:
        return X[rows]
    return np.ascontiguousarray(X[rows][:, columns]) if not sp.issparse(X) else X[rows][:, columns]


def _differs(A: Matrix, B: Matrix) -> NDArray[np.bool_]:
    """Return in which rows two matrices differ."""
    unequal = A != B
    return np.asarray(unequal.sum(axis=1)).ravel() > 0 if sp.issparse(unequal) else unequal.any(axis=1)


# The simplex method in integers: nonnegative weights under which columns add up to a given sum, or that none do.


class TooMuchWorkError(Exception):
    """The work that was allowed is done, and the question is open."""


def nonnegative_solution(
    columns: Sequence[Sequence[int]], b: Sequence[int], most_work: float = math.inf
) -> list[Fraction] | None:
    """Return z >= 0 with ``sum_j z_j columns[j] = b``, for b >= 0, with at most ``len(b)`` of them positive; or None.

    The first phase of the simplex method with Bland's rule, which cannot cycle. The table is kept in integers, as
    ``scale`` times what it stands for: every entry is a minor of the columns, so the divisions are exact (Edmonds).
    Beyond ``most_work``, in products of 64 bits by 64, it is a `TooMuchWorkError`.

    >>> nonnegative_solution([(1, 1), (-1, 2)], (0, 3)), nonnegative_solution([(1, 0)], (0, 1))
    ([Fraction(1, 1), Fraction(1, 1)], None)
    """
    n, m = len(columns), len(b)
    table = [[column[i] for column in columns] + [b[i]] for i in range(m)]
    missing = [sum(column) for column in zip(*table, strict=True)]  # of b; and what each column would add of it
    basis = list(range(-m, 0))  # below 0: not a column
    scale, work = 1, 0
    while missing[n]:
        enter = next((j for j in range(n) if missing[j] > 0), None)
        if enter is None:
            return None
        leave = min((Fraction(row[n], row[enter]), basis[i], i) for i, row in enumerate(table) if row[enter] > 0)[2]
        basis[leave] = enter
        pivot = table[leave]
        work += (n + 1) * (m + 1) * (1 + pivot[enter].bit_length() // 64) ** 2
        if work > most_work:
            raise TooMuchWorkError
        for row in [*table[:leave], *table[leave + 1 :], missing]:
            factor = row[enter]
            row[:] = [(pivot[enter] * x - factor * y) // scale for x, y in zip(row, pivot, strict=True)]
        scale = pivot[enter]
    z = [Fraction(0)] * n
    for i, j in enumerate(basis):
        if j >= 0:
            z[j] = Fraction(table[i][n], scale)
    return z
