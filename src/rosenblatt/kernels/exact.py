"""Exact sums of products: every finite float64, no overflow, no underflow, no rounding.

The sum is kept as one long integer in units of 2**-2272, cut into limbs of 32 bits that are held in
64-bit words, so that carries may wait until the end. It has room for every product of two finite
numbers and for 2**28 of them. This settles the few decisions that floating point leaves open.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import plain

LIMBS = 142
"""Length of a total: an int64 array that the caller brings, since making one takes long to compile."""


_UNIT = 2272  # the last bit stands for 2**-_UNIT; the smallest product is 2**-2148
_LARGEST, _SMALLEST = 1.7976931348623157e308, 5e-324
_LOW_32 = 0xFFFFFFFF
_LOW_27 = 0x7FFFFFF


@plain
def _take_apart(v):
    """Return ``(m, e)`` with ``|v| = m * 2**e`` and ``m`` an integer below 2**53."""
    bits = np.float64(v).view(np.int64)
    field = (bits >> 52) & 0x7FF
    m = bits & 0xFFFFFFFFFFFFF
    if field == 0:
        return m, np.int64(-1074)
    return m | 0x10000000000000, field - 1075


@plain
def add_product(total, v, x):
    """Add ``v * x`` to ``total``."""
    if v == 0.0 or x == 0.0:
        return
    sign = 1 if (v > 0.0) == (x > 0.0) else -1
    a, e = _take_apart(v)
    b, f = _take_apart(x)
    place = e + f + _UNIT
    low = (a & _LOW_27) * (b & _LOW_27)
    middle = (a & _LOW_27) * (b >> 27) + (a >> 27) * (b & _LOW_27)
    high = (a >> 27) * (b >> 27)
    for part in (low, middle, high):  # each below 2**55 and 27 bits above the one before
        limb, shift = place >> 5, place & 31
        lower, upper = (part & _LOW_27) << shift, (part >> 27) << shift
        total[limb] += sign * ((lower & _LOW_32) + ((upper & 31) << 27))
        total[limb + 1] += sign * ((lower >> 32) + ((upper >> 5) & _LOW_32))
        total[limb + 2] += sign * (upper >> 37)
        place += 27


@plain
def rounded(total):
    """Return ``total`` as a float with exactly its sign (zero only if it is zero), and set it to zero."""
    sign = 1.0
    if _carried(total) < 0:
        sign = -1.0
        for k in range(LIMBS):
            total[k] = -total[k]
        _carried(total)
    top = LIMBS - 1
    while top >= 0 and total[top] == 0:
        top -= 1
    value = 0.0
    for k in range(top + 1):
        value = value * 2.0**-32 + total[k]
        total[k] = 0
    place = 32 * top - _UNIT
    if top < 0:
        return 0.0
    if place > 992:  # beyond the largest float
        return sign * _LARGEST
    return sign * min(max(math.ldexp(value, place), _SMALLEST), _LARGEST)


@plain
def _carried(total):
    """Bring every limb into [0, 2**32) and return what is left over at the top."""
    left = 0
    for k in range(LIMBS):
        value = total[k] + left
        left = value >> 32
        total[k] = value & _LOW_32
    return left
