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

_LARGEST, _SMALLEST = 1.7976931348623157e308, 5e-324
_TWO_53 = 2.0**53
_LOW_32 = 0xFFFFFFFF
_LOW_27 = 0x7FFFFFF


@plain
def add_product(total, v, x):
    """Add ``v * x`` to ``total``."""
    v_part, v_place = math.frexp(v)
    x_part, x_place = math.frexp(x)
    a, b = abs(int(v_part * _TWO_53)), abs(int(x_part * _TWO_53))  # |v| = a * 2**(v_place - 53)
    sign = 1 if (v > 0.0) == (x > 0.0) else -1
    place = v_place + x_place - 106 + UNIT
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
def rounded(total):
    """Return ``total`` as a float with exactly its sign (zero only if it is zero), and set it to zero."""
    sign, left = 1.0, -1
    for attempt in range(2):
        if attempt == 1 and left >= 0:
            break
        if attempt == 1:  # what is left over at the top is negative: change the sign and carry again
            sign = -1.0
            for k in range(LIMBS):
                total[k] = -total[k]
        left = 0
        for k in range(LIMBS):  # bring every limb into [0, 2**32)
            limb = total[k] + left
            left = limb >> 32
            total[k] = limb & _LOW_32
    top = LIMBS - 1
    while top >= 0 and total[top] == 0:
        top -= 1
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
