"""Certificates that a family cannot cut a subset: Radon partitions, their lifted form for balls, and plain reasons.

A shape cuts a subset of the points if it contains the points of the subset and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Self, TypeAlias

import numpy as np

from rosenblatt.messages import check_integer
from rosenblatt.theory.exact import Combination, farkas
from rosenblatt.theory.inputs import rows_text
from rosenblatt.theory.vc.families import (
    Directions,
    Fractions,
    Integers,
    PointsLike,
    check_family,
    read_points,
    to_integers,
)

Rows: TypeAlias = Mapping[int, tuple[Fraction, ...]]  # by row number


@dataclass(frozen=True)
class RadonPartition:
    """Proof that no halfspace cuts a subset: rows inside and rows outside it whose convex hulls share a point.

    ``point`` is the mean of the rows ``inside`` with the weights ``inside_weights``, and of the rows ``outside`` with
    ``outside_weights``. The weights are positive and sum to 1. There are at most d + 2 rows (Kirchberger's theorem).
    """

    inside: tuple[int, ...]
    outside: tuple[int, ...]
    point: tuple[Fraction, ...]
    inside_weights: tuple[Fraction, ...]
    outside_weights: tuple[Fraction, ...]

    def __str__(self) -> str:
        return (
            f"No halfspace holds {rows_text(self.inside)} and misses {rows_text(self.outside)}: "
            f"the point {_tuple(self.point)} lies in the convex hulls of both."
        )

    @classmethod
    def from_weights(cls, rows: Rows, inside: Mapping[int, Fraction], outside: Mapping[int, Fraction]) -> Self:
        """Return the partition with the given weights by row number, which sum to 1 on each side."""
        names, shares = (tuple(inside), tuple(outside)), (tuple(inside.values()), tuple(outside.values()))
        return cls(*names, _mean(rows, inside), *shares)

    def check(self, points: PointsLike) -> bool:
        """Return whether the proof is valid for these points, as verified in exact fractions."""
        return self._means(dict(enumerate(read_points(points)))) == (self.point, self.point)

    def _means(self, rows: Rows) -> tuple[tuple[Fraction, ...], ...] | None:
        """Return the weighted means of both sides; None if the rows or the weights are not valid."""
        if not all(i in rows for i in self.inside + self.outside) or set(self.inside) & set(self.outside):
            return None
        sides = ((self.inside, self.inside_weights), (self.outside, self.outside_weights))
        for names, weights in sides:
            if len(names) != len(weights) or sum(weights) != 1 or min(weights) <= 0:
                return None
        return tuple(_mean(rows, dict(zip(names, weights, strict=True))) for names, weights in sides)


@dataclass(frozen=True)
class BallObstruction(RadonPartition):
    """Proof that no ball cuts a subset: the analogue of a Radon partition in the space of (x, |x|^2).

    Both weighted means have the same coordinates ``point``, and |x|^2 has the means ``inside_height`` and
    ``outside_height``, with ``inside_height >= outside_height``. For a ball there is a function ``c |x|^2 + a . x + b``
    with c > 0 that is negative in the ball and positive outside it. So the mean of the function would be negative over
    the rows ``inside`` and positive over the rows ``outside``. But the first mean is not below the second. There are at
    most d + 3 rows.
    """

    inside_height: Fraction
    outside_height: Fraction

    def __str__(self) -> str:
        heights = _number(self.inside_height), _number(self.outside_height)
        where = "at the same height" if self.inside_height == self.outside_height else "below that"
        return (
            f"No disc holds {rows_text(self.inside)} and misses {rows_text(self.outside)}: "
            f"the point {_tuple(self.point)} is a weighted mean of both, and in the space (x, |x|^2) the mean of the "
            f"first lies at height {heights[0]} and the mean of the others {where}, at {heights[1]}."
        )

    @classmethod
    def from_weights(cls, rows: Rows, inside: Mapping[int, Fraction], outside: Mapping[int, Fraction]) -> Self:
        """Return the partition with the given weights by row number, which sum to 1 on each side."""
        flat = RadonPartition.from_weights(rows, inside, outside)
        heights = (_mean(_lifted({i: rows[i] for i in side}), side)[-1] for side in (inside, outside))
        return cls(flat.inside, flat.outside, flat.point, flat.inside_weights, flat.outside_weights, *heights)

    def check(self, points: PointsLike) -> bool:
        """Return whether the proof is valid for these points, as verified in exact fractions."""
        heights = self.inside_height, self.outside_height
        means = tuple((*self.point, height) for height in heights)
        return heights[0] >= heights[1] and self._means(_lifted(dict(enumerate(read_points(points))))) == means


class Reason(str):
    """A sentence that explains why no box or polygon cuts a subset.

    ``row`` is a row outside the subset that every box or polygon around the subset contains, or None. ``sides`` is the
    least number of sides of a polygon that cuts the subset if that exceeds k, otherwise None.
    """

    row: int | None
    sides: int | None

    def __new__(cls, sentence: str, *, row: int | None = None, sides: int | None = None) -> Self:
        """Return the sentence as a string with the attributes ``row`` and ``sides``."""
        reason = super().__new__(cls, sentence)
        reason.row, reason.sides = row, sides
        return reason


def _lifted(rows: Rows) -> Rows:
    return {i: (*row, sum((value * value for value in row), Fraction(0))) for i, row in rows.items()}


def _mean(rows: Rows, weights: Mapping[int, Fraction]) -> tuple[Fraction, ...]:
    """Return the mean of the rows with the given weights by row number."""
    columns = zip(*(rows[i] for i in weights), strict=True)
    return tuple(sum((w * x for w, x in zip(weights.values(), column, strict=True)), Fraction(0)) for column in columns)


def why_not(
    points: PointsLike, subset: Iterable[int], family: str, k: int | None = None
) -> RadonPartition | BallObstruction | Reason | None:
    """Return the reason why the family cannot cut the subset from the points, or None if it can cut the subset.

    For halfspaces the reason is a `RadonPartition`, for discs a `BallObstruction`; both print as sentences and have a
    method ``check(points)``. For rectangles and convex k-gons it is a string with the attributes ``row`` and ``sides``.

    Only this one subset is decided, for halfspaces and discs by a linear program in exact arithmetic. So the function
    also works for many points and in high dimension, where `dichotomies` would take too long.

    Parameters
    ----------
    points, family, k
        As for `dichotomies`.
    subset : iterable of int
        Row numbers.

    See Also
    --------
    dichotomies : All subsets that the family cuts.

    Examples
    --------
    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> reason = why_not(square, {0, 3}, "halfspaces")
    >>> print(reason)
    No halfspace holds rows 0, 3 and misses rows 1, 2: the point (1/2, 1/2) lies in the convex hulls of both.
    >>> reason.check(square)
    True
    >>> print(why_not([[0, 0], [2, 0], [0, 2], [3, 3]], {0, 3}, "discs"))
    No disc holds rows 0, 3 and misses rows 1, 2: the point (1, 1) is a weighted mean of both, and in the space
    (x, |x|^2) the mean of the first lies at height 6 and the mean of the others below that, at 4.
    >>> why_not(square, {0, 3}, "rectangles")
    'the smallest box around the subset also holds row 1.'
    >>> why_not(square, {0, 3}, "rectangles").row
    1
    >>> why_not(square, {0, 3}, "convex-k-gons", k=3) is None
    True
    """
    given = read_points(points)
    family, sides = check_family(family, k, len(given[0]))
    chosen = subset if isinstance(subset, Iterable) else [subset]
    inside = sorted({check_integer("each row number in subset", i, 0, most=len(given) - 1) for i in chosen})
    outside = [i for i in range(len(given)) if i not in inside]
    rows = to_integers(given)
    if not inside or not outside:
        return None
    if family == "rectangles":
        return _box_reason(rows, inside, outside)
    if family == "convex-k-gons":
        return _polygon_reason(rows, inside, outside, sides)
    return _partition(given, rows, inside, outside, lift=family == "discs")


def _partition(
    given: Fractions, rows: Integers, inside: list[int], outside: list[int], lift: bool
) -> RadonPartition | None:
    """Return weights that give both sides the same mean, or None; for balls, the mean of |x|^2 may be higher inside.

    This is a linear system in weights >= 0, which Farkas's lemma decides. For balls, a slack column (0, ..., 0, -1)
    allows the lifted mean of the rows inside to be higher.
    """
    if lift:
        rows = [(*row, sum(value * value for value in row)) for row in rows]
    columns = [(*rows[i], 1, 0) for i in inside] + [(*(-value for value in rows[i]), 0, 1) for i in outside]
    width = len(rows[0])
    if lift:
        columns.append((0,) * (width - 1) + (-1, 0, 0))
    target = np.array((0,) * width + (1, 1), dtype=object)
    found = farkas(np.array(columns, dtype=object), target, patience=0)
    if not isinstance(found, Combination):
        return None
    weights = dict(zip(found.rows.tolist(), found.weights, strict=True))
    total = sum(weight for k, weight in weights.items() if k < len(inside))
    by_row = {i: Fraction(weights[k], total) for k, i in enumerate(inside + outside) if k in weights}
    shares = [{i: by_row[i] for i in side if i in by_row} for side in (inside, outside)]
    return (BallObstruction if lift else RadonPartition).from_weights(dict(enumerate(given)), *shares)


def _box_reason(rows: Integers, inside: list[int], outside: list[int]) -> Reason | None:
    columns = list(zip(*(rows[i] for i in inside), strict=True))
    for q in outside:
        if all(min(column) <= value <= max(column) for value, column in zip(rows[q], columns, strict=True)):
            return Reason(f"the smallest box around the subset also holds row {q}.", row=q)
    return None


def _polygon_reason(rows: Integers, inside: list[int], outside: list[int], k: int) -> Reason | None:
    different = list(dict.fromkeys(rows))
    number = {row: i for i, row in enumerate(different)}
    subset = sorted({number[rows[i]] for i in inside})
    directions = Directions(different)
    for q in outside:
        if number[rows[q]] in subset or directions.arc(number[rows[q]], subset) is None:
            return Reason(f"row {q} lies in the convex hull of the subset.", row=q)
    sides = directions.fewest_sides(subset)
    assert sides is not None
    if sides <= k:
        return None
    return Reason(f"a convex polygon that cuts the subset has at least {sides} sides, and k = {k}.", sides=sides)


def _tuple(point: tuple[Fraction, ...]) -> str:
    return "(" + ", ".join(map(_number, point)) + ")"


def _number(value: Fraction) -> str:
    """Return the fraction as text; a long one is rounded to six digits, with Decimal because a float may overflow."""
    if value.numerator.bit_length() + value.denominator.bit_length() <= 40:
        return str(value)
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"
