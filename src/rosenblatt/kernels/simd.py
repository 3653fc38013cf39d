"""Vectors of eight float64 numbers in a register, called lanes, and the fused multiply-add (FMA), which rounds once.

The compiler does not vectorise sums whose order matters, so such sums are written with lanes. ``+``, ``-`` and ``*``
work on lanes as on numbers. They are never contracted to an FMA: only ``fused`` is one.
"""

from __future__ import annotations

import math

import numpy as np

LANES = 8


def _fused(a, b, c):
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    (m, p), (n, q), (o, r) = (float(number).as_integer_ratio() for number in (a, b, c))
    top, bottom = m * n * r + o * p * q, p * q * r
    if top == 0:
        return a * b + c
    try:
        return top / bottom  # a quotient of integers, which Python rounds once
    except OverflowError:
        return math.inf if top > 0 else -math.inf


def fused(a, b, c):
    """Return ``a * b + c``, rounded once, for numbers or lanes."""
    if np.ndim(a) == 0:
        return np.float64(_fused(a, b, c))
    return np.array([_fused(*numbers) for numbers in zip(a, b, c, strict=True)])


def spread(number):
    """Return eight lanes, each of which is ``number``."""
    return np.full(LANES, number)


def load_lanes(array, i):
    """Return the entries ``i`` to ``i + 7`` of a contiguous array as lanes."""
    return array[i : i + LANES].astype(np.float64)


def pack_lanes(*numbers):
    """Return eight numbers as lanes."""
    return np.array(numbers, dtype=np.float64)


def horizontal_sum(lanes):
    """Return the sum of all lanes: add the two halves, then the halves of the result, and so on."""
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return lanes[0]
