"""Plots of the subsets that a family of shapes cuts out of a few points, and of the number of subsets (Har-Peled
30.3.1).

A shape cuts out the subset of the points that lie in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from rosenblatt.circles.fitting import fit_circle
from rosenblatt.circles.shapes import Circle, HalfSpace
from rosenblatt.messages import count_of
from rosenblatt.plots import axes
from rosenblatt.plots.axes import BLUE, DOTS_UP_TO, GREEN, ORANGE, Axes, axes_for, closes_on_error, ink
from rosenblatt.plots.circle import Edge, draw_proof, draw_sides
from rosenblatt.plots.plane_parts import TINT, Frame, draw_legend
from rosenblatt.plots.verdict import box_corners, convex_hull
from rosenblatt.theory.inputs import as_float, number_text
from rosenblatt.theory.separability import dataset_margin
from rosenblatt.theory.vc import BallObstruction, RadonPartition, dichotomies, families, growth, why_not
from rosenblatt.theory.vc.families import Fractions, PointsLike, check_family, read_points, shapes_text
from rosenblatt.theory.vc.obstructions import Reason

# The search for a shape that cuts a given subset from a few points of the plane, with wide gaps for a clear plot.
# The search uses floating point. `held_rows` verifies its result in exact arithmetic, and shares no code with it.


# lengths are relative to the range of the points
PAD = 0.1  # maximum distance between a shape and the points inside
_GRID = 61  # number of candidate centres of a disc in each direction
_GAP = 0.25  # a gap between a shape and the points outside need not be wider than this
_WIDEST = math.radians(155)  # the largest angle between the normals of adjacent sides, so that no corner is far away
_CORNER = 0.1  # the penalty for each radian of that angle, in units of the gap, because sharp corners are long
_ALMOST_PI = math.pi - 1e-6  # the largest such angle in the second and third attempt
_MOST_CHOICES = 1_000_000  # the largest number of combinations of sides that are tried
_TOO_CLOSE = "some points lie so close together that no shape between them could be drawn: move them apart."
_TURN = 24  # number of evenly spaced directions that are added to the critical directions


@dataclass(frozen=True)
class Polygon:
    """A convex polygon, given by its corners in counter-clockwise order."""

    corners: np.ndarray


Cut: TypeAlias = HalfSpace | Circle | Polygon


def cutting_shape(rows: Fractions, subset: frozenset[int], family: str, sides: int) -> Cut:
    """Return a shape of the family that contains exactly the rows of the subset; the family must cut this subset.

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
    """Return the indices of the rows strictly inside a shape, computed exactly."""
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
    """Return a shape in the original coordinates x, given a shape in the coordinates (x - middle) / size."""
    if isinstance(shape, HalfSpace):
        return HalfSpace(shape.w, size * shape.b - float(shape.w @ middle))
    if isinstance(shape, Circle):
        return Circle(middle + size * shape.center, size * float(shape.radius))
    return Polygon(middle + size * shape.corners)


def _half_plane(points: np.ndarray, inside: np.ndarray) -> HalfSpace:
    if inside.all() or not inside.any():  # the line must leave all points on one side
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
    best = int(np.argmax(np.minimum(gap, _GAP) / (1 + farthest)))
    if gap[best] > 1e-3:
        return Circle(centers[best], float(farthest[best] + min(gap[best] / 2, PAD)))
    found = fit_circle(points, inside)
    if not isinstance(found, Circle):  # points are equal up to rounding, or the circle is too large for floats
        raise ValueError(_TOO_CLOSE)
    return found


def _rectangle(points: np.ndarray, inside: np.ndarray) -> Polygon:
    if not inside.any():
        return Polygon(box_corners(_empty_place(points) - PAD, _empty_place(points) + PAD))
    low, high = points[inside].min(axis=0), points[inside].max(axis=0)
    below, above = ([PAD, PAD], [PAD, PAD])
    for q in points[~inside]:
        for j in range(2):  # at most halfway to the nearest outside point in this direction
            if q[j] < low[j]:
                below[j] = min(below[j], (low[j] - q[j]) / 2)
            elif q[j] > high[j]:
                above[j] = min(above[j], (q[j] - high[j]) / 2)
    return Polygon(box_corners(low - below, high + above))


def _polygon(points: np.ndarray, inside: np.ndarray, sides: int) -> Polygon:
    """Return a polygon with as few sides as possible, at most ``sides``; each side cuts off some of the outside points.

    A critical direction is a direction of the outer normal of a side at which the set of points that the side can cut
    off changes. Candidate normals are chosen between the critical directions.
    """
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
    """Return ``parts`` evenly spaced angles between each pair of consecutive critical directions."""
    sorted_turns = np.unique(np.mod(turns, 2 * math.pi))
    widths = np.diff(np.append(sorted_turns, sorted_turns[0] + 2 * math.pi))
    shares = np.arange(1, parts + 1) / (parts + 1)
    return np.sort(np.mod(sorted_turns[:, None] + widths[:, None] * shares, 2 * math.pi).ravel())


def _best_sides(angles: np.ndarray, held: np.ndarray, others: np.ndarray, m: int, widest: float) -> Polygon | None:
    """Return the m-sided polygon with normals among ``angles`` and the widest gap, or None if there is no such polygon.

    Each outside point is cut off by a side of the polygon. The normals positively span the plane, so the polygon is
    bounded.
    """
    out = np.column_stack([np.cos(angles), np.sin(angles)])
    reach = (held @ out.T).max(axis=0)
    gap = out @ others.T - reach[:, None]  # positive if a side with this normal can cut off this point
    chosen = np.array(list(combinations(range(len(angles)), m)))
    turns = np.diff(np.append(angles[chosen], angles[chosen[:, :1]] + 2 * math.pi, axis=1), axis=1).max(axis=1)
    chosen, turns = chosen[turns < widest], turns[turns < widest]
    if not len(chosen):
        return None
    least = gap[chosen].max(axis=1).min(axis=1, initial=_GAP)
    best = int(np.argmax(np.where(least > 1e-9, least - _CORNER * turns, -np.inf)))
    if least[best] <= 1e-9:
        return None
    which = chosen[best]
    cutter = gap[which].argmax(axis=0)
    lines = []
    for j, direction in enumerate(which.tolist()):
        free = min([2 * PAD, *gap[direction, cutter == j].tolist()])
        lines.append((out[direction], reach[direction] + free / 2))
    corners = _clipped(lines)
    return Polygon(corners) if len(corners) <= m else None  # with more corners, some belong to the initial square


def _clipped(lines: list[tuple[np.ndarray, float]]) -> np.ndarray:
    """Return the corners of ``{x : u . x <= c for all (u, c)}``, counter-clockwise (Sutherland-Hodgman clipping)."""
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
    """Return a place near the points, with space for a small shape that contains none of them."""
    places = np.linspace(-0.6, 0.6, _GRID)
    grid = np.column_stack([side.ravel() for side in np.meshgrid(places, places)])
    away = np.hypot(*(grid[:, None] - points[None]).transpose(2, 0, 1)).min(axis=1)
    return grid[int(np.argmax(np.minimum(away, 3 * PAD) - 0.1 * np.hypot(*grid.T)))]


_FINDERS: dict[str, Callable[[np.ndarray, np.ndarray], Cut]] = {
    "halfspaces": _half_plane,
    "discs": _disc,
    "rectangles": _rectangle,
}


Figure: TypeAlias = Any  # matplotlib.figure.Figure; matplotlib may not be installed

LETTERS = "pqrstu"
"""The names of the points, in order."""
_LARGEST = 1e150  # its square does not overflow
_BORDER = 0.32  # space around the points, as a share of their range
_COLUMNS_UP_TO = 8
_PANEL = 1.45, 1.75  # width and height of a panel in inches


@closes_on_error
def plot_dichotomies(points: PointsLike, family: str, k: int | None = None, figure: Figure | None = None) -> Figure:
    """Draw a panel for each subset of the points, with a shape that cuts it or a proof that no shape does.

    The points are named p, q, r, s, t and u, in order. Blue circles are the points of the subset, and orange triangles
    the other points. The subsets that the family cuts come first, each with a shape that contains exactly its points.

    If no half-plane or disc cuts a subset, the panel shows the convex hulls of a few points of the subset (solid) and
    of a few other points (dashed). A cross marks a common point of both hulls. For discs, the caption gives the
    weighted means of |x|^2 over both sets of points; the first is at least as large as the second. For rectangles and
    polygons, the panel shows the smallest shape around the subset. It contains another point, or it has too many sides.

    Parameters
    ----------
    points : array-like of shape (n, 2)
        At most six points of the plane: integers, Fractions or floats.
    family : {"halfspaces", "discs", "rectangles", "convex-k-gons"}
        Family of shapes, as for ``vc.dichotomies``.
    k : int, default=None
        Maximum number of vertices of a polygon, at least 3. Required for "convex-k-gons", ignored otherwise.
    figure : matplotlib Figure, default=None
        Figure to draw on. None creates a new figure.

    Returns
    -------
    figure : matplotlib Figure
        The figure with a panel for each subset.

    See Also
    --------
    plot_growth : Draw the number of subsets that are cut from the first m points.
    rosenblatt.vc.dichotomies : Return the subsets that are cut.

    Examples
    --------
    Discs cut all subsets of these four points except one:

    >>> figure = plot_dichotomies([[0, 0], [2, 0], [0, 2], [3, 3]], "discs")
    >>> figure.get_suptitle()
    'Discs cut out 15 of the 16 subsets of 4 points'
    >>> figure.axes[-1].get_title()
    'not {p, s}'
    """
    rows = read_points(points)
    if len(rows[0]) != 2:
        found = count_of(len(rows[0]), "coordinate")
        raise ValueError(f"plot_dichotomies draws points in the plane, got {found} in each: give two.")
    if len(rows) > len(LETTERS):
        raise ValueError(
            f"plot_dichotomies draws a panel for each subset of the points, so it takes at most {len(LETTERS)} points "
            f"({2 ** len(LETTERS)} panels), got {len(rows):,}: choose some of them, or count with vc.dichotomies."
        )
    if figure is not None and not isinstance(figure, axes.import_matplotlib("figure").FigureBase):
        raise TypeError(
            f"expected a matplotlib Figure to draw on, got {type(figure).__name__}: create it with plt.figure()."
        )
    name, sides = check_family(family, k, 2)
    places = np.array([[as_float(value) for value in row] for row in rows])
    largest = np.abs(places).max()
    if largest > _LARGEST:
        raise ValueError(
            f"plot_dichotomies draws points with coordinates up to {_LARGEST:g}, got {largest:g}: scale them down."
        )
    cut = {subset: cutting_shape(rows, subset, name, sides) for subset in dichotomies(points, family, k)}
    subsets = [frozenset(part) for size in range(len(rows) + 1) for part in combinations(range(len(rows)), size)]
    ordered = sorted(subsets, key=lambda subset: subset not in cut)  # a stable sort: both groups stay ordered by size
    columns = min(_COLUMNS_UP_TO, 2 ** math.ceil(len(rows) / 2))
    lines = math.ceil(len(ordered) / columns)
    if figure is None:
        size = (max(3.8, _PANEL[0] * columns), _PANEL[1] * lines + 0.5)
        figure = axes.new_figure(size)
    frame = Frame.square(places, _BORDER)
    for ax, subset in zip(figure.subplots(lines, columns, squeeze=False).ravel(), ordered, strict=True):
        if subset in cut:
            _draw_cut(ax, cut[subset], frame)
        else:
            _draw_reason(ax, why_not(points, subset, family, k), places, subset, name)
        _draw_points(ax, places, subset)
        frame.set_limits(ax)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{'' if subset in cut else 'not '}{_name(subset)}", fontsize="medium")
    shapes = "Half-planes" if name == "halfspaces" else shapes_text(name, sides).capitalize()
    figure.suptitle(f"{shapes} cut out {len(cut):,} of the {len(subsets):,} subsets of {count_of(len(rows), 'point')}")
    return figure


def _name(subset: frozenset[int]) -> str:
    return f"{{{', '.join(LETTERS[i] for i in sorted(subset))}}}" if subset else "∅"


def _draw_cut(ax: Axes, shape: HalfSpace | Circle | Polygon, frame: Frame) -> None:
    """Draw a shape with its inside tinted."""
    if isinstance(shape, Polygon):
        ax.fill(*shape.corners.T, color=BLUE, alpha=TINT, linewidth=0, zorder=0)
        ax.plot(*np.append(shape.corners, shape.corners[:1], axis=0).T, color=ink(), linewidth=1.6, zorder=1)
    else:
        draw_sides(ax, Edge(shape), frame.low, frame.high, BLUE, None)


def _draw_reason(ax: Axes, reason: Any, places: np.ndarray, subset: frozenset[int], family: str) -> None:
    """Draw the proof that no shape cuts a subset, with a thick frame around its panel."""
    ax.spines[:].set(linewidth=2.2, color=ink())
    if isinstance(reason, RadonPartition):
        draw_proof(ax, reason, places)
        if isinstance(reason, BallObstruction):
            heights = [number_text(value, 3) for value in (reason.inside_height, reason.outside_height)]
            ax.set_xlabel(f"mean |x|²: {heights[0]} ≥ {heights[1]}", fontsize="small")
        else:
            ax.set_xlabel("the hulls meet", fontsize="small")
        return
    own = places[sorted(subset)]
    corners = box_corners(own.min(axis=0), own.max(axis=0)) if family == "rectangles" else convex_hull(own)
    ax.fill(*corners.T, color=BLUE, alpha=TINT, linewidth=0, zorder=0)
    ax.plot(*np.append(corners, corners[:1], axis=0).T, color=BLUE, linewidth=2.4, zorder=1)
    ax.set_xlabel(_words(reason), fontsize="small")


def _words(reason: Reason) -> str:
    """Return a caption: an outside point in every shape that contains the subset, or the number of sides needed."""
    return f"needs {reason.sides} sides" if reason.row is None else f"it also holds {LETTERS[reason.row]}"


def _draw_points(ax: Axes, places: np.ndarray, subset: frozenset[int]) -> None:
    """Draw all points, each with its letter; the subset has other markers, and equal points share one label."""
    for own, colour, marker in ((True, BLUE, "o"), (False, ORANGE, "^")):
        drawn = places[[i for i in range(len(places)) if (i in subset) == own]]
        ax.scatter(*drawn.T, s=30, color=colour, marker=marker, edgecolor=ink(), linewidth=0.5, zorder=3)
    groups: dict[tuple[float, ...], str] = {}
    for i, place in enumerate(map(tuple, places.tolist())):
        groups[place] = f"{groups[place]}, {LETTERS[i]}" if place in groups else LETTERS[i]
    middle = places.mean(axis=0)
    halo = [axes.import_matplotlib("patheffects").withStroke(linewidth=2, foreground=axes.paper())]
    for place, letters in groups.items():
        away = np.array(place) - middle
        shift = 12 * (away / np.hypot(*away) if away.any() else np.array([0.0, 1.0]))
        where = {"textcoords": "offset points", "ha": "center", "va": "center", "path_effects": halo}
        ax.annotate(letters, place, shift, color=ink(), fontsize="small", zorder=5, **where)


# The number of subsets that a family cuts from the first m points, with Sauer's bound (Har-Peled 30.3.1).


_ABOVE = 8.0  # the axis ends at this multiple of the largest number, so the line of all subsets may leave the plot
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@closes_on_error
def plot_growth(points: PointsLike, family: str, k: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the number of subsets that the family cuts from the first m points, with Sauer's bound and the number 2^m.

    For halfspaces the plot also shows Cover's count, the number for points in general position. The vertical axis is
    logarithmic, so that 2^m is a straight line. Sauer's bound falls below this line after the VC dimension of the
    family, which a vertical line marks.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Points in order: integers, Fractions or floats.
    family : {"halfspaces", "discs", "rectangles", "convex-k-gons"}
        Family of shapes, as for ``vc.dichotomies``.
    k : int, default=None
        Maximum number of vertices of a polygon, at least 3. Required for "convex-k-gons", ignored otherwise.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_dichotomies : Draw the subsets themselves.
    rosenblatt.vc.growth : Return these numbers as a table.

    Examples
    --------
    >>> ax = plot_growth([[0, 0], [2, 0], [0, 2], [3, 3], [1, 1]], "discs")
    >>> print(ax.get_title())
    Subsets that discs cut from the first m points in R²
    24 subsets of 5 points
    """
    table = growth(points, family, k)
    d = len(read_points(points)[0])
    name, sides = check_family(family, k, d)
    dimension = families.known_vc_dimension(name, d, sides)
    m, last = table["n"], len(table)
    mark = last <= DOTS_UP_TO
    ax = axes_for(ax)
    ax.plot(m, 2.0 ** np.array(m), ":", color=ink(), linewidth=1.8, label="all subsets, $2^m$")
    curves = [("sauer", ORANGE, "--", "^", 9, f"Sauer's bound (VC dimension {dimension})")]
    if "cover" in table.columns:
        curves.append(("cover", GREEN, "-.", "s", 6, "Cover's count"))
    curves.append(("count", BLUE, "-", "o", 4, "subsets that are cut"))
    for column, colour, dash, marker, size, label in curves:
        look = {"color": colour, "linestyle": dash, "markersize": size, "markerfacecolor": "none"}
        ax.plot(m, np.array(table[column], dtype=float), marker=marker if mark else "", label=label, **look)
    if dimension <= last:
        ax.axvline(dimension, color=ink(), linewidth=0.8, zorder=0)
    top = float(max(table["sauer"][-1], table["count"][-1]))
    ax.set_yscale("log", base=2 if top <= 2**14 else 10)
    ax.set_ylim(1, min(2.0**last * 1.5, top * _ABOVE))
    space = f"R{str(d).translate(_RAISED)}"
    title = f"Subsets that {shapes_text(name, sides)} cut from the first m points in {space}"
    ax.set_title(f"{title}\n{count_of(table['count'][-1], 'subset')} of {count_of(last, 'point')}", fontsize="medium")
    ax.set(xlabel="m, the number of points", ylabel="number of subsets")
    border = 0.3 if mark else 0.0
    ax.set_xlim(1 - border, last + border)
    axes.whole_ticks(ax, y=False)
    draw_legend(ax)
    return ax
