"""Exact sums of products: every finite float64, no overflow, no underflow, no rounding.

The sum is kept as one long integer in units of 2**-2272, cut into limbs of 32 bits that are held in
64-bit words, so that carries may wait until the end. It has room for every product of two finite
numbers and for 2**28 of them. This settles the few decisions that floating point leaves open.
"""

from __future__ import annotations

import math

from rosenblatt.kernels.compiler import plain

LIMBS = 142
"""Length of a total: an int64 array that the caller brings, since making one takes long to compile."""
UNIT = 2272
"""The last bit of a total stands for 2**-UNIT; the smallest product is 2**-2148."""

FINE_LIMBS = 35
"""A long total has so many limbs below those of a total: ``long[FINE_LIMBS:]`` is a total."""
LONG_LIMBS = FINE_LIMBS + LIMBS
"""Length of a long total, for products of three numbers; the smallest is 2**-3222."""

_LONG_UNIT = UNIT + 32 * FINE_LIMBS
_LARGEST, _SMALLEST = 1.7976931348623157e308, 5e-324
_TWO_53 = 2.0**53
_LOW_32 = 0xFFFFFFFF
_LOW_27 = 0x7FFFFFF


@plain
def add_integers(total, sign, a, b, place):
    """Add ``sign * a * b * 2**place`` to the integer ``total``, for ``0 <= a < 2**53`` and ``0 <= b < 2**54``."""
    part = (a & _LOW_27) * (b & _LOW_27)
    middle = (a & _LOW_27) * (b >> 27) + (a >> 27) * (b & _LOW_27)
    for _ in range(3):  # three parts, each below 2**55 and 27 bits above the one before
        limb, shift = place >> 5, place & 31
        lower, upper = (part & _LOW_27) << shift, (part >> 27) << shift
        total[limb] += sign * ((lower & _LOW_32) + ((upper & 31) << 27))
        total[limb + 1] += sign * ((lower >> 32) + ((upper >> 5) & _LOW_32))
        total[limb + 2] += sign * (upper >> 37)
        part, middle = middle, (a >> 27) * (b >> 27)
        place += 27


@plain
def add_product(total, v, x):
    """Add ``v * x`` to ``total``."""
    v_part, v_place = math.frexp(v)
    x_part, x_place = math.frexp(x)
    a, b = abs(int(v_part * _TWO_53)), abs(int(x_part * _TWO_53))  # |v| = a * 2**(v_place - 53)
    sign = 1 if (v > 0.0) == (x > 0.0) else -1
    add_integers(total, sign, a, b, v_place + x_place - 106 + UNIT)


@plain
def add_scaled_square(total, s, x):
    """Add ``s * x * x`` to a long total, for ``s >= 0``, where ``s`` or ``|x|`` is at most 1."""
    s_part, s_place = math.frexp(s)
    x_part, x_place = math.frexp(x)
    a, b = int(s_part * _TWO_53), abs(int(x_part * _TWO_53))
    place = s_place + 2 * x_place - 159 + _LONG_UNIT
    lower, upper = b & _LOW_27, b >> 27  # b * b in three parts, each below 2**54
    add_integers(total, 1, a, lower * lower, place)
    add_integers(total, 1, a, 2 * lower * upper, place + 27)
    add_integers(total, 1, a, upper * upper, place + 54)


@plain
def _highest_limb(total):
    """Bring every limb into [0, 2**32), and return the sign that this takes off and the number of the highest limb.

    The sign is 1.0 or -1.0; the number is that of the highest limb above zero, -1 where there is none.
    """
    limbs = total.shape[0]
    sign, left = 1.0, -1
    for attempt in range(2):
        if attempt == 1 and left >= 0:
            break
        if attempt == 1:  # what is left over at the top is negative: change the sign and carry again
            sign = -1.0
            for k in range(limbs):
                total[k] = -total[k]
        left = 0
        for k in range(limbs):
            limb = total[k] + left
            left = limb >> 32
            total[k] = limb & _LOW_32
    top = limbs - 1
    while top >= 0 and total[top] == 0:
        top -= 1
    return sign, top


@plain
def rounded(total):
    """Return ``total`` as a float with exactly its sign (zero only if it is zero), and set it to zero."""
    sign, top = _highest_limb(total)
    if top < 0:
        return 0.0
    value = 0.0
    for k in range(top + 1):
        value = value * 2.0**-32 + total[k]
        total[k] = 0
    place = 32 * top - UNIT
    if place > 992:  # beyond the largest float
        return sign * _LARGEST
    value = math.ldexp(value, place)
    if value < _SMALLEST:
        value = _SMALLEST
    if value > _LARGEST:
        value = _LARGEST
    return sign * value


@plain
def nearest(total):
    """Return the float64 nearest to a long total, of two the even one, and set it to zero.

    Beyond the largest float64 it is infinity, as IEEE 754 rounds.
    """
    sign, top = _highest_limb(total)
    if top < 0:
        return 0.0
    bits, limb = 32 * top, total[top]
    while limb > 0:
        bits += 1
        limb >>= 1
    cut = max(bits - 53, _LONG_UNIT - 1074)  # the place of the last bit that a float64 keeps
    last, shift = cut >> 5, cut & 31
    kept = 0
    for k in range(top, last, -1):
        kept = (kept << 32) | total[k]
    kept = (kept << (32 - shift)) | (total[last] >> shift)
    last, shift = (cut - 1) >> 5, (cut - 1) & 31
    half = (total[last] >> shift) & 1
    rest = total[last] & ((1 << shift) - 1)
    for k in range(last):
        rest |= total[k]
    for k in range(top + 1):
        total[k] = 0
    if half == 1 and (rest != 0 or kept & 1 == 1):
        kept += 1
    place = cut - _LONG_UNIT
    if place > 971 or (place == 971 and kept == 1 << 53):
        return sign * math.inf
    return sign * math.ldexp(float(kept), place)
