"""Integers in place of fractions, where only proportions matter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

__all__ = ["proportional_integers"]


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
