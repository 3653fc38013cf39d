"""Conversion of numbers to values that JSON can represent."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np


def plain(value: Any) -> float | None:
    """Return a number as a float, or None if it is infinite or NaN, which JSON cannot represent.

    >>> plain(np.float64(0.5)), plain(math.inf)
    (0.5, None)
    """
    number = float(value)
    return number if math.isfinite(number) else None


def plain_list(values: Any) -> list[float | None]:
    """Return a list of numbers converted by `plain`."""
    return [plain(value) for value in values]


def unit(w: Any, b: Any, with_bias: bool) -> tuple[list[float], float]:
    """Return w and b divided by the norm of (w, b), or by the norm of w if ``with_bias`` is False.

    The numbers may be integers of any size.

    >>> unit([3.0, 4.0], 10, with_bias=False), unit([10**400], 0, with_bias=True)
    (([0.6, 0.8], 2.0), ([1.0], 0.0))
    """
    values = [Fraction(value) for value in [*np.asarray(w).tolist(), b]]
    counted = values if with_bias else values[:-1]
    largest = max(abs(value) for value in counted)
    length = Fraction(math.hypot(*(float(value / largest) for value in counted))) * largest
    *weights, bias = (float(value / length) for value in values)
    return weights, bias
