"""Sums in rationals, rounded once to a float64."""

import math
from fractions import Fraction


def nearest_float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def exact_sum(*columns) -> Fraction:
    """Return the sum over the entries of the products of what the columns hold there."""
    return sum((math.prod(map(Fraction, map(float, entry))) for entry in zip(*columns, strict=True)), Fraction(0))
