"""Exact numbers rounded to floats, up or down for certain."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from rosenblatt.theory.inputs import Floats
from rosenblatt.theory.words import as_float


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
