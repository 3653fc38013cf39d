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


def at_least(number, bound):
    """Return ``bound``, a number, where a number or lanes are below it."""
    if isinstance(number, float):
        return bound if number < bound else number
    return np.where(number < bound, bound, number)


def at_most(number, bound):
    """Return ``bound``, a number, where a number or lanes are above it."""
    if isinstance(number, float):
        return bound if number > bound else number
    return np.where(number > bound, bound, number)


def unless_zero(test, number, otherwise):
    """Return a number or lanes, but the number ``otherwise`` where ``test`` is 0."""
    if isinstance(test, float):
        return otherwise if test == 0.0 else number
    return np.where(test == 0.0, otherwise, number)


def load_quads(numbers, places):
    """Return lanes with the first, second and third of the four numbers that begin at each of eight ``places``."""
    return tuple(np.array([numbers[place + part] for place in places]) for part in range(3))


def store_quads(numbers, places, first, second, third):
    """Store lanes where ``load_quads`` loads them from. The places must be different."""
    for place, *quad in zip(places, first, second, third, strict=True):
        numbers[place : place + 3] = quad


def horizontal_sum(lanes):
    """Return the sum of all lanes: add the two halves, then the halves of the result, and so on."""
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return lanes[0]
