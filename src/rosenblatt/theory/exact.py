"""Exact arithmetic: integer sums and products of rows, directed rounding, Bareiss elimination, Farkas's lemma.

Results are exact for the given floats unless the name of the function mentions rounding or floats. They are the same on
every machine. Here z is a row multiplied by its sign: y (x, 1) with a bias, or y x without a bias.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, as_float, entries

BLOCK_BYTES = 1 << 26
MOST_STALLED = 21  # consecutive degenerate pivots before Bland's rule; a guess: with any number the method is correct
_LEADING_BITS = 1 << 11  # enough to compare with floats, which go down to 2**-1074


def squared_length(w: Numbers, b: float = 0.0) -> Fraction:
    """Return |w|^2 + b^2 exactly."""
    if w.dtype == object:
        multiples, unit = in_common_units(w.tolist())
        square = sum(value * value for value in multiples) * unit * unit
    else:
        integers, exponent = as_integers(w[w != 0])
        square = Fraction(int(integers @ integers), 1 << -2 * exponent)
    return square + Fraction(b) ** 2


def squared_mean_length(X: Matrix, signs: Signs, alpha: Floats, bias: bool) -> Fraction:
    """Return the exact squared norm of the weighted mean of the rows z, with the weights ``alpha``.

    No separating hyperplane has a margin above the norm of this mean m. If u . z >= margin for every row and |u| = 1,
    then |m| >= u . m >= margin.
    """
    rows = np.flatnonzero(alpha)
    weights, _ = as_integers(alpha[rows])
    signed = np.where(signs[rows] > 0, weights, -weights)
    sums, exponent = product_with_integers(X[rows].T, signed)
    square = sum(value * value for value in sums) + (int(bias) * signed.sum() << -exponent) ** 2
    return Fraction(square, weights.sum() ** 2 << -2 * exponent)


def squared_half_distance(X: Matrix, signs: Signs, alpha: Floats) -> Fraction | None:
    """Return the exact square of half the distance between the weighted means of the two classes.

    No separating hyperplane has a geometric margin above half that distance, whatever its bias. The result is None if
    all rows of a class have weight zero.
    """
    rows = np.flatnonzero(alpha)
    (weights, _), positive = as_integers(alpha[rows]), signs[rows] > 0
    plus, minus = weights[positive].sum(), weights[~positive].sum()
    if plus == 0 or minus == 0:
        return None
    gap, exponent = product_with_integers(X[rows].T, np.where(positive, weights * minus, -weights * plus))
    return Fraction(sum(value * value for value in gap), (2 * plus * minus) ** 2 << -2 * exponent)


def sums_to_zero(X: Matrix, signs: Signs, rows: NDArray[np.intp], weights: Sequence[int], bias: bool) -> bool:
    """Return whether the integer ``weights`` are positive and the weighted sum of the rows z is exactly zero."""
    if len(weights) != len(rows) or len(rows) == 0 or min(weights) <= 0:
        return False
    signed = [int(sign) * weight for sign, weight in zip(signs[rows].tolist(), weights, strict=True)]
    if bias and sum(signed) != 0:
        return False
    return not any(product_with_integers(X[rows].T, signed)[0])


def are_proportional(alpha: Floats, weights: Sequence[int], of: Fraction, tiny: Fraction) -> bool:
    """Return whether ``alpha`` is ``of * weights / sum(weights)``, up to small errors.

    The error of a weight may be at most 1e-9 times the weight, plus ``tiny``.

    Only the leading bits of long weights are compared; the remaining bits contribute far less than ``tiny``.
    """
    total = sum(weights)
    if len(weights) != len(alpha) or total <= 0:
        return False
    dropped = max(0, total.bit_length() - _LEADING_BITS)
    total >>= dropped
    return all(
        abs(Fraction(share) * total - (weight >> dropped) * of) <= (weight >> dropped) * of / 10**9 + total * tiny
        for share, weight in zip(alpha.tolist(), weights, strict=True)
    )


def product_with_integers(M: Matrix, integers: Sequence[int] | Numbers) -> tuple[Numbers, int]:
    """Return the exact product of the matrix ``M`` and the vector ``integers``, as integers and an exponent.

    The product is the returned integers times 2**exponent. The exponent is at most 0.
    """
    M, numbers = sp.csr_array(M) if sp.issparse(M) else M, np.array(integers, dtype=object)
    exponent = min(0, int(np.min(lowest_exponents(entries(M).reshape(-1, 1)))))
    sums = np.zeros(M.shape[0], dtype=object)
    step = max(1, BLOCK_BYTES // ((256 + largest_bytes(integers)) * max(1, M.shape[1])))
    for start in range(0, M.shape[0] if M.shape[1] else 0, step):
        part = M[start : start + step]
        if sp.issparse(part):
            filled = np.flatnonzero(np.diff(part.indptr))
            if len(filled):
                products = to_integers(part.data, exponent) * numbers[part.indices]
                sums[start + filled] = np.add.reduceat(products, part.indptr[filled])
        else:
            sums[start : start + step] = to_integers(part, exponent) @ numbers
    return sums, exponent


def linear_combination(parts: Sequence[tuple[int, Numbers, int]]) -> tuple[Numbers, int]:
    """Return the exact sum of factor * column * 2**exponent over ``parts``, as a column of integers and an exponent.

    Each part is a tuple (factor, column, exponent). The sum is the returned column times 2**exponent.
    """
    lowest = min(exponent for _, _, exponent in parts)
    total = np.zeros(len(parts[0][1]), dtype=object)
    for factor, column, exponent in parts:
        total = total + column * (factor << (exponent - lowest))
    return total, lowest


def as_integers(values: Floats) -> tuple[Numbers, int]:
    """Return integers and an exponent of at most 0 such that the values equal the integers times 2**exponent."""
    odd, exponents = _odd_parts(values)
    exponent = int(np.min(exponents, where=odd != 0, initial=0))
    return _shifted(odd, exponents - exponent), exponent


def lowest_exponents(X: Floats) -> NDArray[np.int64]:
    """Return, for each column, the largest e such that all its entries are integer multiples of 2**e.

    >>> lowest_exponents(np.array([[0.5, 6.0], [3.0, -2.0]])).tolist()
    [-1, 1]
    """
    found = np.full(X.shape[1], 1 << 20)
    for start in range(0, len(X), 4096):
        odd, exponents = _odd_parts(X[start : start + 4096])
        found = np.minimum(found, np.min(np.where(odd == 0, 1 << 20, exponents), axis=0, initial=1 << 20))
    return np.where(found == 1 << 20, 0, found)


def to_integers(X: Floats, exponents: int | NDArray[np.int64]) -> Numbers:
    """Return ``X / 2**exponents`` as integers.

    An exponent may not exceed the result of `lowest_exponents` for its column.
    """
    odd, own = _odd_parts(X)
    return _shifted(odd, own - exponents)


def _shifted(odd: NDArray[np.int64], shifts: NDArray[np.int64]) -> Numbers:
    """Shift integers of at most 53 bits to the left by ``shifts`` bits, and return them as Python integers."""
    shifts = np.where(odd == 0, 0, shifts)
    if np.max(shifts, initial=0) <= 9:  # 53 + 9 bits and the sign fit int64
        return (odd << shifts).astype(object)
    return odd.astype(object) << shifts.astype(object)


def _odd_parts(X: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return odd integers (or 0) and exponents such that X equals the integers times 2**exponents."""
    parts, exponents = np.frexp(X)
    significands = (parts * 2.0**53).astype(np.int64)
    # m & -m is the lowest set bit of m, a power of two, so its float exponent counts the trailing zeros
    zeros = np.frexp((significands & -significands).astype(np.float64))[1].astype(np.int64) - 1
    zeros = np.where(significands == 0, 0, zeros)
    return significands >> zeros, exponents.astype(np.int64) - 53 + zeros


def largest_bytes(integers: Iterable[int]) -> int:
    """Return the approximate length of the longest integer in bytes."""
    return max((value.bit_length() for value in integers), default=0) // 8


def in_common_units(values: Sequence[float]) -> tuple[list[int], Fraction]:
    """Return integers and a unit such that each value is exactly its integer times the unit."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max((below for _, below in ratios), default=1)
    return [above * (scale // below) for above, below in ratios], Fraction(1, scale)


# Integers in place of fractions, for vectors whose scale does not matter.


def proportional_integers(values: Iterable[float | Fraction]) -> list[int]:
    """Return integers without a common factor that are exactly proportional to the values.

    >>> proportional_integers([0.5, Fraction(-1, 3), 1])
    [3, -2, 6]
    """
    exact = [Fraction(value) for value in values]
    scale = math.lcm(*(value.denominator for value in exact))
    return primitive(value * scale for value in exact).tolist()


def primitive(values: Any) -> Numbers:
    """Return integers divided by their greatest common divisor.

    >>> primitive([4, -6, 0]).tolist()
    [2, -3, 0]
    """
    integers = [int(value) for value in values]
    common = math.gcd(*integers) or 1
    return np.array([value // common for value in integers], dtype=object)


def proportional(values: list[float | Fraction]) -> NDArray[Any]:
    """Return the values as an array, or integers proportional to them if any of the values is a Fraction."""
    if not any(isinstance(value, Fraction) for value in values):
        return np.array(values)
    return np.array(proportional_integers(values), dtype=object)


def are_finite(values: Iterable[float | Fraction]) -> bool:
    """Return whether all numbers are finite; integers and fractions of any size count as finite."""
    return all(isinstance(value, Rational) or math.isfinite(value) for value in values)


def proportional_floats(v: Sequence[int]) -> list[float]:
    """Return floats proportional to the integers, each rounded once; the largest absolute value lies in [1/2, 1].

    >>> proportional_floats([3, -2, 6])
    [0.375, -0.25, 0.75]
    """
    unit = 1 << max(abs(value) for value in v).bit_length()
    return [value / unit for value in v]  # Python rounds the quotient of two integers once, whatever their size


# Elimination.


def bareiss(rows: Sequence[Sequence[int]] | Numbers) -> tuple[Numbers, list[int]]:
    """Return an echelon form of a matrix of integers, and the indices of its pivot columns, one per nonzero row.

    The method is fraction-free Gaussian elimination (E. H. Bareiss 1968). Invariant: after r pivots, every entry below
    row r is the determinant of the (r + 1) x (r + 1) submatrix formed by the pivot rows and columns plus the row and
    column of the entry. The division by the previous pivot is therefore exact (Sylvester's identity), and by Hadamard's
    bound the entries stay small.
    """
    M = np.array(rows, dtype=object)
    pivots: list[int] = []
    last = 1
    for j in range(M.shape[1]):
        r = len(pivots)
        below = np.flatnonzero(M[r:, j])
        if len(below) == 0:
            continue
        if below[0]:
            M[[r, r + below[0]]] = M[[r + below[0], r]]
        line, pivot = M[r, j + 1 :], M[r, j]
        # M_ik <- (M_rj M_ik - M_ij M_rk) / previous pivot
        M[r + 1 :, j + 1 :] = (M[r + 1 :, j + 1 :] * pivot - np.multiply.outer(M[r + 1 :, j], line)) // last
        M[r + 1 :, j] = 0
        pivots.append(j)
        last = pivot
    return M, pivots


def back_substitute(M: Numbers, pivots: list[int], j: int) -> tuple[list[int], int]:
    """Return the coefficients of column j as a linear combination of the pivot columns.

    The coefficients are returned as integer numerators and their common denominator.

    ``M`` and ``pivots`` are the results of `bareiss`. The denominator is the last pivot, which is the determinant of
    the pivot columns. So by Cramer's rule the numerators are integers and every division is exact.
    """
    determinant = M[len(pivots) - 1, pivots[-1]] if pivots else 1
    found = [0] * len(pivots)
    for r in range(len(pivots) - 1, -1, -1):  # invariant: found[k] is determinant times solution k, for all k > r
        rest = M[r, j] * determinant - sum(M[r, pivots[k]] * found[k] for k in range(r + 1, len(pivots)))
        found[r] = rest // M[r, pivots[r]]
    return found, determinant


def null_space(rows: Sequence[Sequence[float | Fraction]]) -> list[list[int]]:
    """Return a basis, in integers, of the space of vectors d with ``row . d = 0`` for every row.

    >>> null_space([[1, 2, 0.0]])
    [[-2, 1, 0], [0, 0, 1]]
    """
    M, pivots = bareiss([proportional_integers(row) for row in rows])
    spanning = []
    for j in sorted(set(range(M.shape[1])) - set(pivots)):  # a free column minus its combination of pivots
        found, determinant = back_substitute(M, [k for k in pivots if k < j], j)
        free = [0] * M.shape[1]
        free[j] = determinant
        for k, value in zip(pivots, found, strict=False):
            free[k] = -value
        common = math.gcd(*free) * (1 if determinant > 0 else -1)
        spanning.append([value // common for value in free])
    return spanning


# Directed rounding: exact numbers to floats, provably up or down.


def round_root(square: Fraction, up: bool | None, over: Fraction = Fraction(1)) -> float:
    """Return the square root of ``square / over``, rounded up if ``up`` is true, down if false, to nearest if None.

    >>> round_root(Fraction(1, 25), up=None), round_root(Fraction(1), up=False, over=Fraction(25))
    (0.2, 0.19999999999999998)
    """
    if square <= 0:
        return 0.0
    above, below = square.numerator * over.denominator, square.denominator * over.numerator  # not reduced: gcd is slow
    shift = (above.bit_length() - below.bit_length()) // 2
    root = math.sqrt((above << max(0, -2 * shift)) / (below << max(0, 2 * shift)))

    def compare(p: int, q: int) -> int:
        """Return the sign of (p / q)^2 - square / over."""
        left, right = p * p * below, q * q * above
        return (left > right) - (left < right)

    try:
        low = math.ldexp(root, shift)
    except OverflowError:
        low = math.nextafter(math.inf, 0.0)
    # ``root`` has an error of a few units in the last place. Now find neighbouring floats with low^2 <= square / over
    # <= high^2. The first loop decreases ``low`` until the first inequality holds. The second increases both floats
    # until the second inequality holds, and preserves the first.
    while compare(*low.as_integer_ratio()) > 0:
        low = math.nextafter(low, 0.0)
    high = low
    while math.isfinite(high) and compare(*high.as_integer_ratio()) < 0:
        low, high = high, math.nextafter(high, math.inf)
    if up is None:
        up = math.isfinite(high) and compare(*((Fraction(low) + Fraction(high)) / 2).as_integer_ratio()) < 0
    return high if up else low


def rounded_product(x: Floats, w: Floats) -> float:
    """Return the exact dot product of two vectors, rounded to a float. A nonzero dot product is never rounded to 0.

    >>> rounded_product(np.array([1e16, 1.0, -1e16]), np.ones(3))
    1.0
    """
    used = np.flatnonzero((x != 0) & (w != 0))
    pairs = zip(x[used].tolist(), w[used].tolist(), strict=True)
    exact = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction())
    near = as_float(exact)
    return near if near or not exact else math.copysign(math.ulp(0.0), exact)


def rounded(value: Fraction, up: bool) -> float:
    """Return the smallest float not below ``value`` if ``up`` is true, otherwise the largest float not above it."""
    near = as_float(value)
    if not math.isfinite(near):
        return near if (near > 0) == up else math.copysign(math.nextafter(math.inf, 0.0), near)
    if up and Fraction(near) < value:
        return math.nextafter(near, math.inf)
    if not up and Fraction(near) > value:
        return math.nextafter(near, -math.inf)
    return near


# Equal rows, found by hashing and then compared exactly.


_CACHED = 1 << 15  # entries in a block that fits in the cache
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: Fibonacci hashing


def representatives(X: Matrix, groups: NDArray, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return, for each index in ``rows``, the first of ``rows`` with the same group and the same values in ``columns``.

    Equal rows have equal hashes. Each row is compared with the first row that has the same hash. If the two differ, the
    row is its own representative. So a hash collision may give equal rows different representatives, but never merges
    different rows.

    >>> representatives(np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 5.0]]), np.ones(3), np.arange(3), np.array([0]))
    array([0, 0, 2])
    """
    step = max(1, BLOCK_BYTES // (8 * max(1, len(columns))))
    blocks = [slice(start, start + step) for start in range(0, len(rows), step)]
    hashes = np.concatenate([row_hashes(_part(X, rows[block], columns)) for block in blocks])
    _, kinds = np.unique(groups[rows], return_inverse=True)
    _, first, kind = np.unique(hashes + kinds.astype(np.uint64), return_index=True, return_inverse=True)
    twins = rows[first[kind]]
    for block in blocks:
        some, others = rows[block], twins[block]
        differs = rows_differ(_part(X, some, columns), _part(X, others, columns)) | (groups[some] != groups[others])
        twins[block] = np.where(differs, some, others)
    return twins


def row_hashes(X: Matrix) -> NDArray[np.uint64]:
    """Return a hash of each row.

    Each entry is hashed by `_mixed` and multiplied by a random odd number that belongs to its column. The hash of the
    row is the sum of these products modulo 2^64.
    """
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
    """Return a hash of each float, an integer that depends on all its bits; the hash of 0 and -0 is 0.

    Floats of small integers and of powers of two have nonzero bits only at the upper end. These bits are rotated to the
    lower end, because multiplication propagates bits upwards only.
    """
    bits = (values + 0.0).view(np.uint64)
    bits = ((bits << np.uint64(12)) | (bits >> np.uint64(52))) * _ODD
    return bits ^ (bits >> np.uint64(32))


def _part(X: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Matrix:
    """Return the given columns of the given rows."""
    if len(columns) == X.shape[1]:
        return X[rows]
    return np.ascontiguousarray(X[rows][:, columns]) if not sp.issparse(X) else X[rows][:, columns]


def rows_differ(A: Matrix, B: Matrix) -> NDArray[np.bool_]:
    """Return a mask that is True for the rows in which two matrices differ."""
    unequal = A != B
    return np.asarray(unequal.sum(axis=1)).ravel() > 0 if sp.issparse(unequal) else unequal.any(axis=1)


# Farkas's lemma, decided by the simplex method in integers.


class TooMuchWorkError(Exception):
    """Raised when the work limit is reached before the system is decided."""


@dataclass(frozen=True)
class Combination:
    """Row indices and positive integer weights; the weighted sum of these rows is a positive multiple of the target."""

    rows: NDArray[np.intp]
    weights: Numbers


@dataclass(frozen=True)
class Ray:
    """An integer vector ``y`` with A y >= 0 and target . y < 0, so no `Combination` exists."""

    y: Numbers


def farkas(A: Numbers, target: Numbers, patience: int = MOST_STALLED, most_work: float = math.inf) -> Combination | Ray:
    """Return a `Combination` if A' mu = target has a solution mu >= 0, otherwise a `Ray`.

    By Farkas's lemma exactly one of them exists. The method is phase one of the revised simplex method, which minimises
    the sum of artificial variables. The inverse of the basis matrix is kept as integers over their common determinant,
    so that every division is exact (J. Edmonds 1967, E. H. Bareiss 1968). The row of largest reduced cost enters the
    basis (Dantzig's rule). After ``patience`` consecutive degenerate pivots, the first row with positive reduced cost
    enters (Bland's rule, which cannot cycle). With ``patience=0`` Bland's rule is used throughout. The combination has
    at most as many rows as A has columns. The work is counted in products of 64-bit words. If it exceeds ``most_work``,
    a `TooMuchWorkError` is raised.

    >>> farkas(np.array([[1, 0], [1, 1]], dtype=object), np.array([3, 2], dtype=object)).weights.tolist()
    [1, 2]
    >>> farkas(np.array([[1, 0], [1, 1]], dtype=object), np.array([1, 2], dtype=object)).y.tolist()
    [1, -1]
    """
    flip = np.array([-1 if value < 0 else 1 for value in target], dtype=object)
    A, x = A * flip, target * flip
    k = len(x)
    T, below = np.eye(k, dtype=int).astype(object), 1
    basis = [j - k for j in range(k)]  # negative numbers are artificial variables
    stalled, work = 0, 0
    while True:
        # Invariant: for the matrix B of the basis columns and below = |det B| > 0, T = below B^-1 and x = T target are
        # integer, and x >= 0. The basic variables are x / below. B is square, with a column for each entry of target,
        # and at first the identity. An artificial variable that has left the basis never re-enters it.
        artificial = [r for r in range(k) if basis[r] < 0]
        if not any(x[r] for r in artificial):
            rows = [r for r in range(k) if basis[r] >= 0 and x[r] > 0]
            order = sorted(rows, key=lambda r: basis[r])
            return Combination(np.array([basis[r] for r in order], dtype=np.intp), primitive([x[r] for r in order]))
        y = T[artificial].sum(axis=0)  # the dual solution times ``below``; A y are the reduced costs
        gains = A @ y if len(A) else np.zeros(0, dtype=object)
        better = [i for i in range(len(gains)) if gains[i] > 0]
        if not better:
            return Ray(primitive(-y * flip))
        i = better[0] if stalled >= patience else max(better, key=lambda i: gains[i])
        u = T @ A[i]
        # Ratio test. Some u > 0 exists, since gains[i] > 0 is the sum of u over the artificial variables.
        leaving = min((r for r in range(k) if u[r] > 0), key=lambda r: (Fraction(x[r], u[r]), basis[r]))
        stalled = stalled + 1 if x[leaving] == 0 else 0
        pivot, line, value = u[leaving], T[leaving].copy(), x[leaving]
        work += (len(A) + 1) * (k + 1) * (1 + pivot.bit_length() // 64) ** 2
        if work > most_work:
            raise TooMuchWorkError
        # Edmonds's pivot on row r: T <- (u_r T - u T_r) / below, except for row r, which stays; the new det B is u_r.
        T = (T * pivot - np.multiply.outer(u, line)) // below
        x = (x * pivot - u * value) // below
        T[leaving], x[leaving] = line, value
        basis[leaving], below = i, pivot
