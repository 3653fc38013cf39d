"""Integers in place of fractions, where only proportions matter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray


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


def proportional(values: list[float | Fraction]) -> NDArray[Any]:
    """Return floats as they are; where there are fractions, integers in proportion to them."""
    if not any(isinstance(value, Fraction) for value in values):
        return np.array(values)
    return np.array(proportional_integers(values), dtype=object)


def are_finite(values: Iterable[float | Fraction]) -> bool:
    """Return whether all numbers are finite, as integers and fractions of any size are."""
    return all(isinstance(value, Rational) or math.isfinite(value) for value in values)


def near_floats(v: Sequence[int]) -> list[float]:
    """Return floats in proportion to the integers, but for one rounding each; the largest lies between 1/2 and 1.

    >>> near_floats([3, -2, 6])
    [0.375, -0.25, 0.75]
    """
    unit = 1 << max(abs(value) for value in v).bit_length()
    return [value / unit for value in v]  # rounded once, whatever their size


def eliminated(rows: Sequence[Sequence[int]]) -> tuple[NDArray[Any], list[int]]:
    """Return the matrix of integers after exact elimination, and the columns of the pivots, one for each of its rows.

    (Bareiss's, without fractions: entries stay determinants of the matrix, so that every division is exact.) The
    entries at the pivots are all the same number, and the other entries in their columns are 0.
    """
    M = np.array(rows, dtype=object)
    pivots: list[int] = []
    last = 1
    for j in range(M.shape[1]):
        r = len(pivots)
        below = np.flatnonzero(M[r:, j])
        if len(below) == 0:
            continue
        M[[r, r + below[0]]] = M[[r + below[0], r]]
        line = M[r].copy()
        M = (M * line[j] - np.multiply.outer(M[:, j], line)) // last
        M[r] = line
        pivots.append(j)
        last = line[j]
    return M, pivots


def null_space(rows: Sequence[Sequence[float | Fraction]]) -> list[list[int]]:
    """Return integers d that span the solutions of ``row . d = 0`` for every row.

    >>> null_space([[1, 2, 0.0]])
    [[-2, 1, 0], [0, 0, 1]]
    """
    M, pivots = eliminated([proportional_integers(row) for row in rows])
    last = M[0, pivots[0]] if pivots else 1
    spanning = []
    for j in sorted(set(range(M.shape[1])) - set(pivots)):
        free = [0] * M.shape[1]
        free[j] = last
        for r, k in enumerate(pivots):
            free[k] = -M[r, j]
        common = math.gcd(*free) * (1 if last > 0 else -1)
        spanning.append([value // common for value in free])
    return spanning
