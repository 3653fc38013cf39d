"""A shape that cuts a subset from a few points of the plane, chosen to be seen: of many, one with room around it.

What is found in floats is proved in fractions by `held_rows`, which shares nothing with the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np

from rosenblatt.circles.fitting import fit_circle
from rosenblatt.circles.shapes import Circle, HalfSpace
from rosenblatt.plots.hulls import box_corners
from rosenblatt.theory.margins import dataset_margin
from rosenblatt.theory.vc.points import Fractions

PAD = 0.1  # how far a shape reaches beyond what it holds, at most, where the points have the size 1
_GRID = 61  # places each way at which the centre of a disc is looked for
_ROOM = 0.25  # more room than this between a shape and the points outside it does not make it better
_WIDEST = math.radians(155)  # between the directions of two sides, so that no corner is far away
_CORNER = 0.1  # what a radian between two sides counts for, in room: sharp corners are long
_ALMOST_PI = math.pi - 1e-6  # where nothing wider than that will do
_MOST_CHOICES = 1_000_000  # of the directions of the sides
_TOO_CLOSE = "some points lie so close together that no shape between them could be drawn: move them apart."
_TURN = 24  # directions of sides, beside those where something changes


@dataclass(frozen=True)
class Polygon:
    """A convex polygon by its corners, counter-clockwise."""

    corners: np.ndarray


Cut: TypeAlias = HalfSpace | Circle | Polygon


def cutting_shape(rows: Fractions, subset: frozenset[int], family: str, sides: int) -> Cut:
    """Return a shape of the family that holds the rows of the subset and no others; there is one.

    >>> square = [(Fraction(x), Fraction(y)) for x in (0, 1) for y in (0, 1)]
    >>> shape = cutting_shape(square, frozenset({0, 1}), "rectangles", 0)
    >>> held_rows(shape, square) == {0, 1}
    True
    """
    points = np.array([[float(value) for value in row] for row in rows])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, size = (low + high) / 2, float((high - low).max()) or 1.0
    inside = np.array([i in subset for i in range(len(rows))])
    scaled = (points - middle) / size
    shape = _polygon(scaled, inside, sides) if family == "convex-k-gons" else _FINDERS[family](scaled, inside)
    shape = _moved(shape, middle, size)
    if held_rows(shape, rows) != subset:
        raise ValueError(_TOO_CLOSE)
    return shape


def held_rows(shape: Cut, rows: Fractions) -> set[int]:
    """Return which rows lie strictly inside a shape, in fractions."""
    if isinstance(shape, HalfSpace):
        w, b = _exact(shape.w), Fraction(shape.b)
        return {i for i, x in enumerate(rows) if w[0] * x[0] + w[1] * x[1] + b > 0}
    if isinstance(shape, Circle):
        m, square = _exact(shape.center), Fraction(shape.radius) ** 2
        return {i for i, x in enumerate(rows) if (x[0] - m[0]) ** 2 + (x[1] - m[1]) ** 2 < square}
    ends = [_exact(corner) for corner in shape.corners]
    edges = list(zip(ends, ends[1:] + ends[:1], strict=True))
    return {
        i
        for i, x in enumerate(rows)
        if all((q[0] - p[0]) * (x[1] - p[1]) > (q[1] - p[1]) * (x[0] - p[0]) for p, q in edges)
    }


def _exact(values: np.ndarray) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


def _moved(shape: Cut, middle: np.ndarray, size: float) -> Cut:
    """Return a shape of points (x - middle) / size as one of the points x."""
    if isinstance(shape, HalfSpace):
        return HalfSpace(shape.w, size * shape.b - float(shape.w @ middle))
    if isinstance(shape, Circle):
        return Circle(middle + size * shape.center, size * float(shape.radius))
    return Polygon(middle + size * shape.corners)


def _half_plane(points: np.ndarray, inside: np.ndarray) -> HalfSpace:
    if inside.all() or not inside.any():  # a line beside all points
        sign = 1.0 if inside.all() else -1.0
        return HalfSpace(np.array([-sign, -sign]), sign * (float(points.sum(axis=1).max()) + 2 * PAD))
    found = dataset_margin(points, inside)
    return HalfSpace(found.w, found.b)


def _disc(points: np.ndarray, inside: np.ndarray) -> Circle:
    places = np.linspace(-1.5, 1.5, _GRID)
    centers = np.column_stack([side.ravel() for side in np.meshgrid(places, places)])
    if not inside.any():
        return Circle(_empty_place(points), PAD)
    centers = np.concatenate([centers, points])
    away = np.hypot(*(centers[:, None] - points[None]).transpose(2, 0, 1))
    farthest = away[:, inside].max(axis=1)
    gap = away[:, ~inside].min(axis=1, initial=10.0) - farthest
    best = int(np.argmax(np.minimum(gap, _ROOM) / (1 + farthest)))
    if gap[best] > 1e-3:
        return Circle(centers[best], float(farthest[best] + min(gap[best] / 2, PAD)))
    found = fit_circle(points, inside)
    if not isinstance(found, Circle):  # where points are equal but for rounding, or the circle as large as floats are
        raise ValueError(_TOO_CLOSE)
    return found


def _rectangle(points: np.ndarray, inside: np.ndarray) -> Polygon:
    if not inside.any():
        return Polygon(box_corners(_empty_place(points) - PAD, _empty_place(points) + PAD))
    low, high = points[inside].min(axis=0), points[inside].max(axis=0)
    below, above = ([PAD, PAD], [PAD, PAD])
    for q in points[~inside]:
        for j in range(2):  # halfway to the next point outside in this direction, whether it is beside or not
            if q[j] < low[j]:
                below[j] = min(below[j], (low[j] - q[j]) / 2)
            elif q[j] > high[j]:
                above[j] = min(above[j], (q[j] - high[j]) / 2)
    return Polygon(box_corners(low - below, high + above))


def _polygon(points: np.ndarray, inside: np.ndarray, sides: int) -> Polygon:
    """Return a polygon of few sides: each has an outer direction, and cuts off some points outside."""
    held = points[inside] if inside.any() else _empty_place(points)[None]
    others = points[~inside] if inside.any() else points
    ends = [math.atan2(*(q - s)[::-1]) + turn for q in others for s in held for turn in (-math.pi / 2, math.pi / 2)]
    around = (2 * math.pi / _TURN * np.arange(_TURN)).tolist()
    for turns, parts, widest in (([*ends, *around], 1, _WIDEST), (ends, 3, _ALMOST_PI), (ends, 9, _ALMOST_PI)):
        angles = _between(turns, parts)
        for m in range(3, sides + 1):
            if math.comb(len(angles), m) <= _MOST_CHOICES:
                found = _best_sides(angles, held, others, m, widest)
                if found is not None:
                    return found
    raise ValueError(_TOO_CLOSE)


def _between(turns: list[float], parts: int) -> np.ndarray:
    """Return some angles between each two that follow one another: there, nothing changes but at the turns."""
    sorted_turns = np.unique(np.mod(turns, 2 * math.pi))
    room = np.diff(np.append(sorted_turns, sorted_turns[0] + 2 * math.pi))
    shares = np.arange(1, parts + 1) / (parts + 1)
    return np.sort(np.mod(sorted_turns[:, None] + room[:, None] * shares, 2 * math.pi).ravel())


def _best_sides(angles: np.ndarray, held: np.ndarray, others: np.ndarray, m: int, widest: float) -> Polygon | None:
    """Return the polygon of m sides with the most room, whose directions are among these angles; None if there is none.

    Some side cuts off each of the others, and the directions go round, so that the polygon is bounded.
    """
    out = np.column_stack([np.cos(angles), np.sin(angles)])
    reach = (held @ out.T).max(axis=0)
    room = out @ others.T - reach[:, None]  # above 0 where a side of this direction cuts off this point
    chosen = np.array(list(combinations(range(len(angles)), m)))
    turns = np.diff(np.append(angles[chosen], angles[chosen[:, :1]] + 2 * math.pi, axis=1), axis=1).max(axis=1)
    chosen, turns = chosen[turns < widest], turns[turns < widest]
    if not len(chosen):
        return None
    least = room[chosen].max(axis=1).min(axis=1, initial=_ROOM)
    best = int(np.argmax(np.where(least > 1e-9, least - _CORNER * turns, -np.inf)))
    if least[best] <= 1e-9:
        return None
    which = chosen[best]
    cutter = room[which].argmax(axis=0)
    lines = []
    for j, direction in enumerate(which.tolist()):
        free = min([2 * PAD, *room[direction, cutter == j].tolist()])
        lines.append((out[direction], reach[direction] + free / 2))
    corners = _clipped(lines)
    return Polygon(corners) if len(corners) <= m else None  # some are cut off that are far away


def _clipped(lines: list[tuple[np.ndarray, float]]) -> np.ndarray:
    """Return the corners of the points with ``u . x <= c`` for each line (u, c), counter-clockwise."""
    corners = 1e7 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    for u, c in lines:
        over = corners @ u - c
        kept = []
        for i in range(len(corners)):
            if over[i - 1] * over[i] < 0:
                share = over[i - 1] / (over[i - 1] - over[i])
                kept.append(corners[i - 1] + share * (corners[i] - corners[i - 1]))
            if over[i] <= 0:
                kept.append(corners[i])
        corners = np.array(kept)
    return corners


def _empty_place(points: np.ndarray) -> np.ndarray:
    """Return a place near the points with room for a small shape around it."""
    places = np.linspace(-0.6, 0.6, _GRID)
    grid = np.column_stack([side.ravel() for side in np.meshgrid(places, places)])
    away = np.hypot(*(grid[:, None] - points[None]).transpose(2, 0, 1)).min(axis=1)
    return grid[int(np.argmax(np.minimum(away, 3 * PAD) - 0.1 * np.hypot(*grid.T)))]


_FINDERS: dict[str, Callable[[np.ndarray, np.ndarray], Cut]] = {
    "halfspaces": _half_plane,
    "discs": _disc,
    "rectangles": _rectangle,
}
