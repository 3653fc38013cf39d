"""Compute exact sums of products with a long accumulator (Kulisch), without overflow, underflow or rounding.

A total is one long integer in units of 2**-2272. Its limbs of 32 bits are stored in 64-bit words, so that carries are
propagated only at the end. A total has room for 2**28 products of two finite float64 numbers. A long total has
additional low limbs, for products of three numbers, and room for a third as many of those products. Passes use totals
for the few decisions that floating point leaves open. Sums over many rows, all entries or columns use them too.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parts import helper, inlined, instead_of

LIMBS = 142
"""The number of limbs of a total, an int64 array that the caller allocates, since kernels allocate none.

The smallest product is 2**-2148, the square of the smallest float64, and the largest is below 2**2048. 142 limbs of 32
bits reach from 2**-2272 to 2**2272. The lowest bit of a product of two 53-bit mantissas is at least 2**-2252, so it
fits. At the high end, 2**28 of the largest products do not overflow.
"""
UNIT = 2272
"""The lowest bit of a total has the value 2**-UNIT."""

FINE_LIMBS = 35
"""The number of additional low limbs of a long total: ``long[FINE_LIMBS:]`` is a total."""
LONG_LIMBS = FINE_LIMBS + LIMBS
"""The number of limbs of a long total, for products of three numbers; the smallest product is 2**-3222."""

_LONG_UNIT = UNIT + 32 * FINE_LIMBS
_LARGEST, _SMALLEST = 1.7976931348623157e308, 5e-324
_TWO_53 = 2.0**53
_LOW_32 = 0xFFFFFFFF
_LOW_27 = 0x7FFFFFF


@inlined
def _three_parts(a, b):
    """Return p, q, r below 2**55 with ``a b = p + q 2**27 + r 2**54``, where ``0 <= a < 2**53`` and ``b < 2**54``."""
    return (a & _LOW_27) * (b & _LOW_27), (a & _LOW_27) * (b >> 27) + (a >> 27) * (b & _LOW_27), (a >> 27) * (b >> 27)


@helper
def add_integers(total, sign, a, b, place):
    """Add ``sign * a * b * 2**place`` to the integer ``total``, for ``0 <= a < 2**53`` and ``0 <= b < 2**54``.

    The caller must propagate carries after at most 2**28 products.
    """
    # Schoolbook multiplication by halves of 27 bits: with a = a1 2**27 + a0, and b likewise,
    #
    #     a b = a0 b0 + (a0 b1 + a1 b0) 2**27 + a1 b1 2**54,   each of the three parts below 2**55.
    #
    # Each part is cut once more at bit 27. Both pieces fit into 64 bits when shifted by up to 31. They are spread over
    # three limbs: less than 2**33 is added to the first, 2**33 to the second, and 2**22 to the third. As the parts are
    # 27 bits apart, a limb is the first or second limb of at most three parts. So a product adds less than 2**35 to a
    # limb, and an int64 has room for 2**28 products.
    part, middle, last = _three_parts(a, b)
    for _ in range(3):  # invariant: ``part`` is the next part, and its lowest bit is bit ``place`` of the total
        limb, shift = place >> 5, place & 31
        lower, upper = (part & _LOW_27) << shift, (part >> 27) << shift
        total[limb] += sign * ((lower & _LOW_32) + ((upper & 31) << 27))
        total[limb + 1] += sign * ((lower >> 32) + ((upper >> 5) & _LOW_32))
        total[limb + 2] += sign * (upper >> 37)
        part, middle = middle, last  # a0 b0, then a0 b1 + a1 b0, then a1 b1
        place += 27


@helper
def add_product(total, v, x):
    """Add ``v * x`` to ``total``, exactly. Nothing is added if a factor is NaN or infinite; callers reject these."""
    if not (abs(v) <= _LARGEST and abs(x) <= _LARGEST):
        return
    v_part, v_place = math.frexp(v)
    x_part, x_place = math.frexp(x)
    a, b = abs(int(v_part * _TWO_53)), abs(int(x_part * _TWO_53))  # |v| = a * 2**(v_place - 53)
    sign = 1 if (v > 0.0) == (x > 0.0) else -1
    add_integers(total, sign, a, b, v_place + x_place - 106 + UNIT)


def _add_products(totals, rows, v, x):
    """Add ``v[k] * x[k]`` to ``totals[rows[k]]`` for each k, as `add_product` does, with operations on whole arrays."""
    (v_part, v_place), (x_part, x_place) = np.frexp(v), np.frexp(x)
    known = np.isfinite(v_part) & np.isfinite(x_part)
    a = np.abs(np.where(known, v_part * _TWO_53, 0.0).astype(np.int64))
    b = np.abs(np.where(known, x_part * _TWO_53, 0.0).astype(np.int64))
    sign = np.where((v > 0.0) == (x > 0.0), 1, -1)
    place = np.where(known, v_place + np.int64(UNIT - 106) + x_place, 0)
    for part in _three_parts(a, b):  # as in `add_integers`
        limb, shift = place >> 5, place & 31
        lower, upper = (part & _LOW_27) << shift, (part >> 27) << shift
        np.add.at(totals, (rows, limb), sign * ((lower & _LOW_32) + ((upper & 31) << 27)))
        np.add.at(totals, (rows, limb + 1), sign * ((lower >> 32) + ((upper >> 5) & _LOW_32)))
        np.add.at(totals, (rows, limb + 2), sign * (upper >> 37))
        place = place + 27


@helper
def add_scaled_square(total, s, x):
    """Add ``s * x * x`` to a long total, for ``s >= 0``, where at least one of ``s`` and ``|x|`` is at most 1.

    This counts as three products towards the number of products after which carries must be propagated. Nothing is
    added if a factor is NaN or infinite.
    """
    if not (s <= _LARGEST and abs(x) <= _LARGEST):
        return
    s_part, s_place = math.frexp(s)
    x_part, x_place = math.frexp(x)
    a, b = int(s_part * _TWO_53), abs(int(x_part * _TWO_53))
    place = s_place + 2 * x_place - 159 + _LONG_UNIT
    lower, upper = b & _LOW_27, b >> 27  # b * b in three parts, each below 2**54
    add_integers(total, 1, a, lower * lower, place)
    add_integers(total, 1, a, 2 * lower * upper, place + 27)
    add_integers(total, 1, a, upper * upper, place + 54)


@helper
def _highest_limb(total):
    """Replace ``total`` by its absolute value, with limbs in [0, 2**32), and return the pair (sign, top).

    ``sign`` is 1.0 or -1.0. ``top`` is the index of the highest nonzero limb, or -1 if the total is 0.
    """
    limbs = total.shape[0]
    sign, left = 1.0, -1
    for attempt in range(2):
        if attempt == 1 and left >= 0:
            break
        # A carry beyond the last limb is dropped, so the limbs are the total modulo 2**(32 limbs). The absolute value
        # of a total is far below half of that, so the dropped carry is 0, or -1 for a negative total, which is then in
        # two's complement. Negating its limbs and carrying once more leaves the absolute value.
        if attempt == 1:
            sign = -1.0
            for k in range(limbs):
                total[k] = -total[k]
        left = 0
        for k in range(limbs):  # invariant: limbs below k are final, and ``left`` is their carry
            limb = total[k] + left
            left = limb >> 32  # arithmetic shift: a negative limb borrows
            total[k] = limb & _LOW_32
    top = limbs - 1
    while top >= 0 and total[top] == 0:
        top -= 1
    return sign, top


@helper
def rounded(total):
    """Return ``total`` as a float64 and set ``total`` to 0.

    The sign of the result is exact, and the result is 0 only if the total is 0. Its absolute value may be off by a few
    roundings, and is clamped to the range of positive finite float64 numbers.
    """
    sign, top = _highest_limb(total)
    if top < 0:
        return 0.0
    value = 0.0
    for k in range(top + 1):  # invariant: ``value`` is the limbs below k, rounded, in units of limb k - 1
        value = value * 2.0**-32 + total[k]
        total[k] = 0
    place = 32 * top - UNIT
    if place > 992:  # beyond the largest float
        return sign * _LARGEST
    if place > 0:
        value = float(value) * math.ldexp(1.0, place)  # may be infinite; Python's ldexp would raise an OverflowError
    else:
        value = math.ldexp(value, place)
    if value < _SMALLEST:
        value = _SMALLEST
    if value > _LARGEST:
        value = _LARGEST
    return sign * value


@helper
def nearest(total):
    """Return the float64 nearest to a long total, ties to even, and set the total to 0.

    The result is infinite beyond the largest float64, as in IEEE 754.
    """
    sign, top = _highest_limb(total)
    if top < 0:
        return 0.0
    bits, limb = 32 * top, total[top]
    while limb > 0:  # ``bits`` becomes the bit length of the total
        bits += 1
        limb >>= 1
    # ``kept`` has the bits from bit ``cut`` up: 53 bits, or fewer if the result is subnormal. ``half`` is the bit below
    # them, and ``rest`` is nonzero if any bit below ``half`` is. These three numbers determine the rounding.
    cut = max(bits - 53, _LONG_UNIT - 1074)
    last, shift = cut >> 5, cut & 31
    kept = 0
    for k in range(top, last, -1):  # invariant: ``kept`` has the limbs above k
        kept = (kept << 32) | total[k]
    kept = (kept << (32 - shift)) | (total[last] >> shift)
    last, shift = (cut - 1) >> 5, (cut - 1) & 31
    half = (total[last] >> shift) & 1
    rest = total[last] & ((1 << shift) - 1)
    for k in range(last):  # all bits below ``half``
        rest |= total[k]
    for k in range(top + 1):
        total[k] = 0
    if half == 1 and (rest != 0 or kept & 1 == 1):
        kept += 1
    place = cut - _LONG_UNIT
    if place > 971 or (place == 971 and kept == 1 << 53):
        return sign * math.inf
    return sign * math.ldexp(float(kept), place)


# sums over many entries: of products in each row, of all entries, and of their squares

EXPONENTS, PARTS = 2048, 8
"""The shape of the table that ``add_moments`` fills; the caller passes an int64 array of zeros."""
MOST_ENTRIES = 1 << 24
"""The largest number of entries that a table can sum without overflow."""
_LOW_18, _LOW_52, _TOP_BIT = (1 << 18) - 1, (1 << 52) - 1, 1 << 52


def _row_products_loop(totals, u, v, pointers):
    for i in range(totals.shape[0]):
        total = totals[i]
        for k in range(pointers[i], pointers[i + 1]):
            if u[k] != 0.0 and v[k] != 0.0:
                add_product(total, u[k], v[k])


@instead_of(_row_products_loop)
def _row_products(totals, u, v, pointers):
    entries = slice(pointers[0], pointers[-1])
    _add_products(totals, np.repeat(np.arange(totals.shape[0]), np.diff(pointers)), u[entries], v[entries])


@kernel
def add_row_products(totals, u, v, pointers):
    """Add to ``totals[i]`` the sum of ``u[k] * v[k]`` over the entries k of row i.

    Row i has the entries from ``pointers[i]`` to ``pointers[i + 1] - 1``. Each total has ``LIMBS`` limbs.
    """
    _row_products(totals, u, v, pointers)


@kernel
def carry_limbs(totals):
    """Propagate carries in place until every limb is in [0, 2**32); negative totals are then in two's complement."""
    for i in range(totals.shape[0]):
        left = 0
        for k in range(LIMBS):  # invariant: limbs below k are final, and ``left`` is their carry
            limb = totals[i, k] + left
            left = limb >> 32
            totals[i, k] = limb & _LOW_32


@kernel
def add_moments(table, bits):
    """Add float64 numbers, viewed as int64, and their squares to ``table``.

    Row e of the table is for numbers +-m 2**(e - 1075) with an integer m. With m = a 2**36 + b 2**18 + c, the columns
    are the sums of +-a, +-b, +-c, a a, a b, 2 a c + b b, b c and c c. Each summand is below 2**38, so a sum of
    ``MOST_ENTRIES`` summands does not overflow.
    """
    for k in range(bits.shape[0]):
        m = bits[k] & _LOW_52
        e = (bits[k] >> 52) & 2047
        if e > 0:
            m |= _TOP_BIT
        elif m == 0:
            continue
        else:
            e = 1
        a, b, c = m >> 36, (m >> 18) & _LOW_18, m & _LOW_18
        sign = 1 if bits[k] >= 0 else -1
        table[e, 0] += sign * a
        table[e, 1] += sign * b
        table[e, 2] += sign * c
        table[e, 3] += a * a
        table[e, 4] += a * b
        table[e, 5] += 2 * a * c + b * b
        table[e, 6] += b * c
        table[e, 7] += c * c


# columns: sums of numbers and of their squares; rows centred and scaled


def _dense_moments_loop(sums, squares, X):
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = X[i, j]
            if x != 0.0:
                add_product(sums[j], x, 1.0)
                add_product(squares[j], x, x)


@instead_of(_dense_moments_loop)
def _dense_moments(sums, squares, X):
    _sparse_moments(sums, squares, X.ravel(), np.tile(np.arange(X.shape[1]), X.shape[0]))


@kernel
def add_dense_moments(sums, squares, X):
    """Add the entries of each column j of ``X`` to ``sums[j]``, and their squares to ``squares[j]``.

    Each total has ``LIMBS`` limbs.
    """
    _dense_moments(sums, squares, X)


def _sparse_moments_loop(sums, squares, values, columns):
    for k in range(values.shape[0]):
        x = values[k]
        if x != 0.0:
            add_product(sums[columns[k]], x, 1.0)
            add_product(squares[columns[k]], x, x)


@instead_of(_sparse_moments_loop)
def _sparse_moments(sums, squares, values, columns):
    _add_products(sums, columns, values, np.ones(values.shape[0]))
    _add_products(squares, columns, values, values)


@kernel
def add_sparse_moments(sums, squares, values, columns):
    """Add each entry of a sparse matrix to ``sums[j]``, where j is its column, and its square to ``squares[j]``."""
    _sparse_moments(sums, squares, values, columns)


@kernel
def scale_sparse_rows(indptr, indices, values, centred, centre, spread, out_indptr, out_indices, out_values):
    """Scale a CSR matrix: write (x - centre[j]) / spread[j] for every number x of column j.

    ``centred`` lists the columns whose centre is not 0, in ascending order. Each output row has an entry for each of
    these columns, so the output arrays need space for ``len(values) + rows * len(centred)`` entries. Return the number
    of entries written.
    """
    # Each output row merges two ascending lists: the columns stored in the row and the centred columns. Invariant: the
    # entries before k of the first list and before c of the second are written, to the places before ``at``.
    at = 0
    for i in range(indptr.shape[0] - 1):
        k, stop, c = indptr[i], indptr[i + 1], 0
        while k < stop or c < centred.shape[0]:
            if c == centred.shape[0] or (k < stop and indices[k] < centred[c]):
                j, x = indices[k], values[k]
                k += 1
            else:
                j, x = centred[c], 0.0
                if k < stop and indices[k] == j:
                    x = values[k]
                    k += 1
                c += 1
            out_indices[at] = j
            out_values[at] = (x - centre[j]) / spread[j]
            at += 1
        out_indptr[i + 1] = at
    return at
