"""Compute exact signs of sums of kernel values, for the few sums whose sign float64 arithmetic cannot prove.

Sums of polynomials of dot products are computed in integers. For exponentials, the theorem of Lindemann and Weierstrass
is used: a sum of c_j exp(-t_j) with rational c_j and distinct rational t_j is zero only if every c_j is zero. So a zero
sum is recognised from the c_j. The sign of any other sum is found with enough precision.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.exact import LIMBS, UNIT, add_row_products, carry_limbs
from rosenblatt.rounding import HALF_ULP, SMALLEST_NORMAL
from rosenblatt.training.dual.table import TINY
from rosenblatt.training.options import Kernel
from rosenblatt.training.rows import Matrix

# Exact dot products and distances between many rows and one, as integers divided by a power of two.


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Ratios(NamedTuple):
    """The rational numbers ``above[i] / below``, where ``below`` is a power of two."""

    above: list[int]
    below: int


def exact_dots(rows: Matrix, x: Matrix) -> Ratios:
    """Return the dot products of all rows with ``x``.

    ``rows`` is a dense matrix, or a CSR matrix without duplicate entries. ``x`` is an array of one dimension or a CSR
    matrix of one row. All numbers are finite, and missing columns are 0.

    >>> exact_dots(np.array([[0.5, 1.0], [3.0, 0.0]]), np.array([0.25, 0.0]))
    Ratios(above=[1, 6], below=8)
    """
    if sp.issparse(rows):
        pairs = _paired_entries(rows, x)
    else:  # only the columns in which x is not 0
        at = _at_columns(x, np.arange(rows.shape[1]))
        used = np.flatnonzero(at)
        pairs = _paired_entries(rows[:, used], at[used])
    return _as_ratios(_totals(*pairs))


def exact_squared_distances(rows: Matrix, x: Matrix) -> Ratios:
    """Return the squared Euclidean distances of all rows to ``x``; the arguments are as in ``exact_dots``.

    >>> exact_squared_distances(np.array([[0.5, 1.0], [3.0, 0.0]]), np.array([0.0, 2.0]))
    Ratios(above=[5, 52], below=4)
    """
    values, others, pointers = _paired_entries(rows, x)  # sum of v v - 2 v x over stored entries, plus all x x
    totals = _totals(values, values, pointers) - 2 * _totals(values, others, pointers)
    own = _own_values(x)
    return _as_ratios(totals + _totals(own, own))


def exact_distances(rows: Matrix, x: Matrix) -> Ratios:
    """Return the L1 distances of all rows to ``x``; the arguments are as in ``exact_dots``.

    >>> exact_distances(np.array([[0.5, 1.0], [3.0, 0.0]]), np.array([0.0, 2.0]))
    Ratios(above=[3, 10], below=2)
    """
    # |v - x| = s v - s x for the sign s of v - x. Each column that a row does not store adds |x|. So |x| is added for
    # all columns of x, and subtracted for the stored entries.
    values, others, pointers = _paired_entries(rows, x)
    signs = np.where(values > others, 1.0, -1.0)
    totals = _totals(signs, values, pointers) - _totals(signs, others, pointers)
    totals -= _totals(np.sign(others), others, pointers)
    own = _own_values(x)
    return _as_ratios(totals + _totals(np.sign(own), own))


def _paired_entries(rows: Matrix, x: Matrix) -> tuple[Floats, Floats, Integers]:
    """Return the stored entries of all rows, the entries of x in the same columns, and where each row starts."""
    if sp.issparse(rows):
        stored = rows.indptr[-1]
        return rows.data[:stored], _at_columns(x, rows.indices[:stored]), rows.indptr.astype(np.int64)
    n, d = rows.shape
    return rows.ravel(), np.tile(_at_columns(x, np.arange(d)), n), np.arange(n + 1, dtype=np.int64) * d


def _at_columns(x: Matrix, columns: NDArray[Any]) -> Floats:
    """Return the entries of the row ``x`` in these columns; entries that are not stored are 0."""
    found = np.zeros(len(columns))
    if not sp.issparse(x):
        inside = columns < len(x)
        found[inside] = x[columns[inside]]
    elif x.nnz:
        order = np.argsort(x.indices[: x.nnz])
        stored = x.indices[order]
        places = np.minimum(np.searchsorted(stored, columns), len(stored) - 1)
        inside = stored[places] == columns
        found[inside] = x.data[order][places[inside]]
    return found


def _own_values(x: Matrix) -> Floats:
    return x.data[: x.nnz] if sp.issparse(x) else x


def _totals(u: Floats, v: Floats, pointers: Integers | None = None) -> Integers:
    """Return the exact sum of ``u * v`` over each row, in the format of `kernels.exact`.

    ``pointers`` has the index where each row starts. If it is None, all entries are one row.
    """
    if pointers is None:
        pointers = np.array([0, len(u)])
    totals = np.zeros((len(pointers) - 1, LIMBS), np.int64)
    add_row_products(totals, _for_kernel(u, np.float64), _for_kernel(v, np.float64), _for_kernel(pointers, np.int64))
    carry_limbs(totals)
    return totals


def _for_kernel(array: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """Return a contiguous read-only view or copy of an array, so that kernels are compiled for one array type only."""
    out = np.ascontiguousarray(array, dtype=dtype).view()
    out.flags.writeable = False
    return out


def _as_ratios(totals: Integers) -> Ratios:
    carry_limbs(totals)
    used = np.flatnonzero(totals.any(axis=0))
    first = min(int(used[0]), UNIT // 32) if len(used) else UNIT // 32  # leave out low limbs that are all 0
    limbs = np.ascontiguousarray(totals[:, first:], dtype="<u4")
    above = [int.from_bytes(line.tobytes(), "little", signed=True) for line in limbs]
    shift = UNIT - 32 * first
    common = min(shift, min(((value & -value).bit_length() - 1 for value in above if value), default=shift))
    return Ratios([value >> common for value in above], 1 << (shift - common))


_FIRST_BITS = 128
"""The first precision for exponentials, a guess. It is doubled until the sign is proved, so it affects only speed."""
_FIRST_POWER_BITS = 1024
"""The first precision for powers, a guess. Powers of fewer bits are computed exactly."""


def exact_sign(kernel: Kernel, coefficients: Sequence[int | float | Fraction], supports: Matrix, x: Matrix) -> int:
    """Return the sign, -1, 0 or 1, of the sum of ``coefficients[j]`` times K(``supports[j]``, ``x``) in real numbers.

    Every float, including the kernel's parameters, is taken as exactly the rational number that it represents.

    Parameters
    ----------
    kernel
        A linear, polynomial, rbf or laplacian kernel; any other kernel raises a ValueError.
    coefficients
        The coefficient of each row of ``supports``.
    supports
        A dense matrix, or a CSR matrix without duplicate entries, of finite float32 or float64 numbers. Missing columns
        are 0.
    x
        A row: an array of one dimension, or a CSR matrix of one row. It may have more or fewer columns than
        ``supports``.

    Returns
    -------
    int
        -1, 0 or 1. A zero sum is recognised first. For any other sum, the precision is doubled until the sign is
        proved, which takes finitely many steps.

    Examples
    --------
    >>> supports = np.array([[0.1], [0.2], [0.3]])  # as floats, 0.1 + 0.2 is more than 0.3
    >>> exact_sign(Kernel("linear"), [1, 1, -1], supports, np.array([1.0]))
    1
    >>> exact_sign(Kernel("rbf"), [1, -1], np.array([[0.0], [2.0]]), np.array([1.0]))
    0
    """
    if not kernel.is_exact:
        raise ValueError(f"the kernel must be linear, poly, rbf or laplacian to be exact, got {kernel.name}.")
    given = coefficients.tolist() if isinstance(coefficients, np.ndarray) else coefficients
    places = [j for j, factor in enumerate(given) if factor]
    if not places:
        return 0
    factors = _as_integers([given[j] for j in places])
    rows = supports if len(places) == supports.shape[0] else supports[places]
    if kernel.polynomial is not None:
        return _sign_of_powers(factors, exact_dots(rows, x), *kernel.polynomial)
    distances = exact_squared_distances if kernel.name == "rbf" else exact_distances
    return _sign_of_exponentials(factors, distances(rows, x), kernel.gamma)


def running_signs(
    kernel: Kernel, members: Sequence[int], steps: Sequence[float], supports: Matrix, x: Matrix, asked: Sequence[int]
) -> list[int]:
    """Return the signs of some cumulative sums of ``steps[v]`` times K(``supports[members[v]]``, ``x``).

    For each v in ``asked``, which is in ascending order, terms 0 to v are summed. The kernel must be a polynomial.

    >>> supports, x = np.array([[2.0], [2.0]]), np.array([3.0])
    >>> running_signs(Kernel("linear"), [0, 1, 0], [1.0, -1.0, -2.0], supports, x, [0, 1, 2])
    [1, 0, -1]
    """
    gamma, coef0, degree = kernel.polynomial or (1.0, 0.0, 1)
    bases = _bases(exact_dots(supports, x), gamma, coef0)
    last = asked[-1] + 1
    terms = list(zip(members[:last], _as_integers(steps[:last]), strict=True))
    signs: dict[int, int] = {}
    wanted = set(asked)
    for powers, error in _powers(bases, degree):
        total = size = 0
        for v, (member, factor) in enumerate(terms):
            # ``total`` becomes the running sum up to term v, times the common positive factors of steps and powers
            total += factor * powers[member]
            size += abs(factor)
            if v in wanted and (abs(total) > error * size or not error):
                signs[v] = _sign(total)
        wanted -= signs.keys()
        if not wanted:
            break
    return [signs[v] for v in asked]


def _as_integers(factors: Sequence[int | float | Fraction]) -> list[int]:
    """Multiply numbers by a common positive factor that makes all of them integers, and return the products."""
    ratios = [factor.as_integer_ratio() for factor in factors]
    scale = math.lcm(*(below for _, below in ratios))
    return [above * (scale // below) for above, below in ratios]


def _sign_of_powers(factors: list[int], dots: Ratios, gamma: float, coef0: float, degree: int) -> int:
    """Return the sign of the sum of factors times (gamma dot + coef0) ** degree."""
    collected: defaultdict[int, int] = defaultdict(int)  # equal powers together, as they are what cancels most often
    for factor, base in zip(factors, _bases(dots, gamma, coef0), strict=True):
        collected[abs(base)] += -factor if base < 0 and degree % 2 else factor
    terms = {base: factor for base, factor in collected.items() if factor}
    size, total = sum(map(abs, terms.values())), 0
    for powers, error in _powers(list(terms), degree):
        total = sum(factor * power for factor, power in zip(terms.values(), powers, strict=True))
        if abs(total) > error * size:
            break
    return _sign(total)


def _bases(dots: Ratios, gamma: float, coef0: float) -> list[int]:
    """Return gamma dot + coef0 for each dot product, multiplied by a common positive factor."""
    (gamma_above, gamma_below), (coef0_above, coef0_below) = gamma.as_integer_ratio(), coef0.as_integer_ratio()
    slope, offset = gamma_above * coef0_below, coef0_above * gamma_below * dots.below
    return [slope * above + offset for above in dots.above]


def _powers(bases: list[int], degree: int) -> Iterator[tuple[list[int], int]]:
    """Yield ``(powers, error)`` with increasing precision: base ** degree for each base, and a bound on the errors.

    The last powers are exact. All powers of a list are multiplied by the same positive factor. An exact power of high
    degree may have millions of bits, but a few hundred bits prove most signs (Ziv's test).
    """
    top = max((base.bit_length() for base in bases), default=0)
    bits = _FIRST_POWER_BITS
    while bits + degree < top * degree:
        # Fixed point with units of 2**-places: |base| / 2**top is below 1, and the largest power is at least
        # 2**-degree. By induction, b**k is too small by at most 2 k - 1 units: by 1 for k = 1; a square doubles the
        # error, a product with b adds 1, and each is truncated by less than one unit: 2 (2 k - 1) + 1, or 2 k - 1 + 2.
        places = bits + degree
        shift = places - top
        sizes = [abs(base) << shift if shift > 0 else abs(base) >> -shift for base in bases]
        powers = [_truncated_power(size, degree, places) for size in sizes]
        yield [-p if base < 0 and degree % 2 else p for base, p in zip(bases, powers, strict=True)], 2 * degree
        bits *= 4
    yield [base**degree for base in bases], 0


def _truncated_power(base: int, degree: int, places: int) -> int:
    """Return base ** degree in fixed point with ``places`` fractional bits. Each product is rounded down."""
    power = base
    for bit in bin(degree)[3:]:  # invariant: ``power`` is base to the power of the bits read so far
        power = (power * power) >> places
        if bit == "1":
            power = (power * base) >> places
    return power


def _sign_of_exponentials(factors: list[int], distances: Ratios, gamma: float) -> int:
    """Return the sign of the sum of factors times exp(-gamma distance)."""
    gamma_above, gamma_below = gamma.as_integer_ratio()
    collected: defaultdict[int, int] = defaultdict(int)
    for factor, above in zip(factors, distances.above, strict=True):
        collected[gamma_above * above] += factor
    terms = [(exponent, factor) for exponent, factor in collected.items() if factor]
    if not terms:
        return 0
    # By Lindemann and Weierstrass the sum is not zero, so some precision suffices. Dividing by the largest exponential
    # does not change the sign. Each exponential is then off by at most 2 units of 2**-bits.
    least, below = min(terms)[0], gamma_below * distances.below
    most_wrong = 2 * sum(abs(factor) for _, factor in terms)
    bits = _FIRST_BITS
    while True:  # ends, because the sum is not zero, and ``most_wrong`` is fixed while ``total`` grows with 2**bits
        total = sum(factor * _exponential(exponent - least, below, bits) for exponent, factor in terms)
        if abs(total) > most_wrong:
            return _sign(total)
        bits *= 2


def _exponential(above: int, below: int, bits: int) -> int:
    """Return exp(-t) in units of 2**-bits, with an error of at most 2 units, for t = above / below >= 0."""
    # Argument reduction and Taylor series: exp(-u) for u = t / 2**halvings < 1/2, squared ``halvings`` times, in units
    # of 2**-places. There are fewer than ``places`` terms, each off by at most 4 units; u and the terms left out add
    # about 10 units. A square doubles the error and adds 2. So the error is at most 2**halvings (4 places + 12) units,
    # which is below 2**(places - bits), one unit of the result. The final shift loses less than another unit.
    if above * 10_000 > 6932 * bits * below:  # exp(-t) < 2**-bits, because 0.6932 > log(2)
        return 0
    halvings = max(0, above.bit_length() - below.bit_length() + 2 + math.isqrt(bits))
    places = bits + halvings + (bits + halvings).bit_length() + 6
    u = ((above << places) // below) >> halvings
    size, count, total = 1 << places, 0, 0
    while size:  # invariant: ``total`` is the sum of ``count`` terms, and ``size`` the next one, u**count / count!
        total += -size if count % 2 else size
        count += 1
        size = ((size * u) >> places) // count
    for _ in range(halvings):  # each square doubles the exponent, from u = t / 2**halvings up to t
        total = (total * total) >> places
    return total >> (places - bits)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


# A floating-point filter before exact arithmetic: float64 with an error bound for one row.


Coefficients = Mapping[int, Fraction | int]
"""The exact coefficient of each row, by the index of the row."""


def filtered_sign(kernel: Kernel, coefficients: Coefficients, rows: Matrix, x: Matrix) -> int:
    """Return the exact sign of the sum of ``coefficients[j] * K(rows[j], x)``: -1, 0 or 1.

    ``x`` is a matrix of one row. The sum is first computed in float64, with a bound on its rounding error. If its
    absolute value does not exceed the bound, the sum is computed exactly.
    """
    places = [place for place, factor in coefficients.items() if factor]
    if not places:
        return 0
    factors = [coefficients[place] for place in places]
    some = rows[np.array(places)]
    try:
        sign = _float_sign(kernel, np.array([float(factor) for factor in factors]), some, x)
    except OverflowError:  # a factor beyond the range of floats
        sign = None
    return exact_sign(kernel, factors, some, x if sp.issparse(x) else x[0]) if sign is None else sign


def _float_sign(kernel: Kernel, factors: Floats, rows: Matrix, x: Matrix) -> int | None:
    """Return the sign of the sum if float64 arithmetic proves it, else None."""
    with np.errstate(all="ignore"):
        sizes = np.abs(factors)
        if sizes.min() < SMALLEST_NORMAL:  # rounded to a float, such a factor may lose any share of its value
            return None
        found, errors = _values_and_errors(kernel, rows, x)
        total = float(factors @ found)
        # The bound of ``SumBounds`` with the values themselves: gamma_n for n products, and 8 for the rounding of the
        # factors and of the bound. 1.1 covers gamma_n - n u, and TINY products below the smallest normal float.
        bound = float(sizes @ (errors + HALF_ULP * (len(sizes) + 8.0) * (np.abs(found) + errors))) * 1.1
    return (1 if total > 0 else -1) if abs(total) > bound + TINY else None


def _values_and_errors(kernel: Kernel, rows: Matrix, x: Matrix) -> tuple[Floats, Floats]:
    """Return the kernel values between rows and ``x``, and bounds on their rounding errors (NaN if unbounded)."""
    # These are the bounds of ``KernelValues.error_bounds`` for the terms of these rows: sum |x_j z_j| in place of
    # |x| |z|, and distances computed as sums of differences, whose relative error is (d + 8) u. So an exponent t is off
    # by (d + 8) u t, and the value by a relative error of exp((d + 8) u t) - 1; exp itself has a relative error of at
    # most 8 u. The factor 1.05 covers terms of higher order. If underflow may matter there is no bound, unless all
    # products are 0.
    d = min(rows.shape[1], x.shape[1])
    row = np.asarray(x[:, :d].toarray() if sp.issparse(x) else x[:, :d], np.float64)[0]
    some = rows[:, :d].astype(np.float64)
    terms = min(d, int(np.count_nonzero(row))) + 8.0
    if kernel.polynomial is not None:
        gamma, coef0, degree = kernel.polynomial
        dots = abs(some) @ abs(row)
        bases, sizes = gamma * (some @ row) + coef0, gamma * dots + abs(coef0)
        errors = 1.05 * HALF_ULP * degree * terms * sizes**degree
        apart = ((some != 0).astype(np.float64) @ (row != 0)) == 0 if not dots.all() else np.zeros(len(dots), bool)
        safe = (apart | (dots > 1e-280)) & (sizes > 1e-200) & (sizes**degree > 1e-250) & (sizes**degree < 1e250)
        return bases**degree, np.where(safe & (HALF_ULP * degree * terms < 0.05), errors, np.nan)
    if sp.issparse(some) or rows.shape[1] != x.shape[1]:
        return np.full(rows.shape[0], np.nan), np.full(rows.shape[0], np.nan)
    apart = some - row
    distances = np.einsum("ij,ij->i", apart, apart) if kernel.name == "rbf" else np.abs(apart).sum(axis=1)
    exponents = kernel.gamma * distances
    values = np.exp(-exponents)
    errors = values * (np.expm1(1.05 * HALF_ULP * (d + 8.0) * exponents) + 8.0 * HALF_ULP)
    errors = np.where(values > 1e-280, errors, 2e-280)
    same = ~apart.any(axis=1)  # not ``distances == 0``: squares may underflow to 0, and a large gamma undoes it
    return values, np.where(same | (distances > 1e-280), errors, np.nan)


def exact_coefficients(members: Sequence[int], steps: Sequence[float]) -> dict[int, Fraction | int]:
    """Return the exact sum of the steps for each distinct member; ``members`` and ``steps`` are parallel sequences.

    The sums are integers if all steps are integers, else fractions.
    """
    out: dict[int, Fraction | int] = {}
    integers = all(step == int(step) for step in steps)
    for member, step in zip(members, steps, strict=True):
        out[member] = out.get(member, 0) + (int(step) if integers else Fraction(step))
    return out
