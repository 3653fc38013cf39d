"""Points as exact numbers: fractions as given, integers to compute with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from numpy.typing import ArrayLike

from rosenblatt.parameters import shorten
from rosenblatt.theory.given_numbers import exact_objects, to_fraction

PointsLike: TypeAlias = ArrayLike | Sequence[Sequence[float | Fraction]]  # as users pass them
Fractions: TypeAlias = list[tuple[Fraction, ...]]
Integers: TypeAlias = list[tuple[int, ...]]
Note: TypeAlias = Callable[[float], None]  # told the share of the work that is done


def ignore(share: float) -> None:
    """Do nothing: the `Note` of work that is not shown."""


def read_points(points: PointsLike) -> Fractions:
    """Return the points as rows of fractions, each equal to the number given.

    >>> read_points([[1, 0.5]])
    [(Fraction(1, 1), Fraction(1, 2))]
    """
    array = exact_objects(points, "points")
    if array.ndim != 2:
        raise ValueError(
            f"points must be a table of numbers, one row for each point, got {shorten(points)}: "
            "give rows of equal length, such as [[0, 0], [1, 2]]."
        )
    if 0 in array.shape:
        raise ValueError(
            f"points must hold at least one point with at least one coordinate, got the shape {array.shape}: "
            "give rows such as [[0, 0], [1, 2]]."
        )
    return [tuple(to_fraction(value, "points") for value in row) for row in array.tolist()]


def to_integers(rows: Fractions) -> Integers:
    """Return the points scaled by their common denominator and moved so that every coordinate starts at 0.

    Every family keeps its shapes under both, so the subsets cut are the same.

    >>> to_integers(read_points([[1000, 0.5], [1001, 0.25]]))
    [(0, 1), (4, 0)]
    """
    scale = lcm(*(value.denominator for row in rows for value in row))
    whole = [[int(value * scale) for value in row] for row in rows]
    least = [min(column) for column in zip(*whole, strict=True)]
    return [tuple(value - low for value, low in zip(row, least, strict=True)) for row in whole]
