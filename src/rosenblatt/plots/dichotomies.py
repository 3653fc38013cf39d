"""A picture of every subset of a few points: a shape that cuts it, or why none does (Har-Peled 30.3.1)."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from rosenblatt.circles.shapes import Circle, HalfSpace
from rosenblatt.plots.axes import BLUE, ORANGE, Axes, closes_on_error, import_matplotlib, ink, new_figure, paper
from rosenblatt.plots.cutting_shapes import Polygon, cutting_shape
from rosenblatt.plots.hulls import box_corners, convex_hull
from rosenblatt.plots.plane_parts import TINT, Frame
from rosenblatt.plots.plane_shapes import Edge, draw_proof, draw_sides
from rosenblatt.plurals import count_of
from rosenblatt.theory.vc import BallObstruction, RadonPartition, dichotomies, why_not
from rosenblatt.theory.vc.families import check_family, shapes_text
from rosenblatt.theory.vc.obstructions import Reason
from rosenblatt.theory.vc.points import PointsLike, read_points
from rosenblatt.theory.words import as_float, number_text

Figure: TypeAlias = Any  # matplotlib's, which may not be installed

LETTERS = "pqrstu"
"""What the points are called, in order."""
_LARGEST = 1e150  # its square is a float
_BORDER = 0.32  # around the points, as a share of their size
_COLUMNS_UP_TO = 8
_PANEL = 1.45, 1.75  # inches


@closes_on_error
def plot_dichotomies(points: PointsLike, family: str, k: int | None = None, figure: Figure | None = None) -> Figure:
    """Draw a panel for each subset of the points: a shape that cuts it, or why no shape of the family does.

    Points are called p, q, r, s, t and u, in order; blue circles are those of the subset, orange triangles the others.
    The subsets that are cut come first, each with a shape that holds these points alone. Where none does, the hulls of
    a few points of the subset (solid) and of others (broken) have a point in common, marked by a cross. That is enough
    for half-planes; for discs the points of the subset are farther out there, in the mean of |x|^2, than the others.
    For rectangles and polygons, it is the smallest one around the subset, which holds another point.

    Parameters
    ----------
    points : up to six rows of two numbers
    family, k
        As for ``vc.dichotomies``.
    figure : matplotlib Figure, optional
        Where to draw, and what is returned; otherwise a new one is made.

    Examples
    --------
    Discs cut all subsets of these four points but one:

    >>> figure = plot_dichotomies([[0, 0], [2, 0], [0, 2], [3, 3]], "discs")
    >>> figure.get_suptitle()
    'Discs cut 15 of the 16 subsets of 4 points'
    >>> figure.axes[-1].get_title()
    'not {p, s}'
    """
    rows = read_points(points)
    if len(rows[0]) != 2:
        found = count_of(len(rows[0]), "coordinate")
        raise ValueError(f"plot_dichotomies draws points of the plane, got {found} in each: give two.")
    if len(rows) > len(LETTERS):
        raise ValueError(
            f"plot_dichotomies draws a panel for each subset of up to {len(LETTERS)} points, "
            f"{2 ** len(LETTERS)} panels, got {len(rows):,} points: choose some of them, or count with vc.dichotomies."
        )
    if figure is not None and not isinstance(figure, import_matplotlib("figure").FigureBase):
        raise TypeError(
            f"expected a matplotlib Figure to draw on, got {type(figure).__name__}: make it by plt.figure()."
        )
    name, sides = check_family(family, k, 2)
    places = np.array([[as_float(value) for value in row] for row in rows])
    if np.abs(places).max() > _LARGEST:
        raise ValueError(f"plot_dichotomies draws points with coordinates up to {_LARGEST:g}: scale them.")
    cut = {subset: cutting_shape(rows, subset, name, sides) for subset in dichotomies(points, family, k)}
    subsets = [frozenset(part) for size in range(len(rows) + 1) for part in combinations(range(len(rows)), size)]
    ordered = sorted(subsets, key=lambda subset: subset not in cut)  # in the order of size otherwise
    columns = min(_COLUMNS_UP_TO, 2 ** math.ceil(len(rows) / 2))
    lines = math.ceil(len(ordered) / columns)
    if figure is None:
        size = (max(3.8, _PANEL[0] * columns), _PANEL[1] * lines + 0.5)
        figure = new_figure(size)
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
    figure.suptitle(f"{shapes} cut {len(cut):,} of the {len(subsets):,} subsets of {count_of(len(rows), 'point')}")
    return figure


def _name(subset: frozenset[int]) -> str:
    return f"{{{', '.join(LETTERS[i] for i in sorted(subset))}}}" if subset else "∅"


def _draw_cut(ax: Axes, shape: HalfSpace | Circle | Polygon, frame: Frame) -> None:
    """Draw a shape, tinted inside."""
    if isinstance(shape, Polygon):
        ax.fill(*shape.corners.T, color=BLUE, alpha=TINT, linewidth=0, zorder=0)
        ax.plot(*np.append(shape.corners, shape.corners[:1], axis=0).T, color=ink(), linewidth=1.6, zorder=1)
    else:
        draw_sides(ax, Edge(shape), frame.low, frame.high, BLUE, None)


def _draw_reason(ax: Axes, reason: Any, places: np.ndarray, subset: frozenset[int], family: str) -> None:
    """Draw why a subset is not cut, and set its panel apart."""
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
    """Return the few words for a panel: which point lies in every shape, by its letter, or how many sides it needs."""
    return f"needs {reason.sides} sides" if reason.row is None else f"it also holds {LETTERS[reason.row]}"


def _draw_points(ax: Axes, places: np.ndarray, subset: frozenset[int]) -> None:
    """Draw the points of a subset and the others, with their letters; equal points have theirs side by side."""
    for own, colour, marker in ((True, BLUE, "o"), (False, ORANGE, "^")):
        drawn = places[[i for i in range(len(places)) if (i in subset) == own]]
        ax.scatter(*drawn.T, s=30, color=colour, marker=marker, edgecolor=ink(), linewidth=0.5, zorder=3)
    groups: dict[tuple[float, ...], str] = {}
    for i, place in enumerate(map(tuple, places.tolist())):
        groups[place] = f"{groups[place]}, {LETTERS[i]}" if place in groups else LETTERS[i]
    middle = places.mean(axis=0)
    halo = [import_matplotlib("patheffects").withStroke(linewidth=2, foreground=paper())]
    for place, letters in groups.items():
        away = np.array(place) - middle
        shift = 12 * (away / np.hypot(*away) if away.any() else np.array([0.0, 1.0]))
        where = {"textcoords": "offset points", "ha": "center", "va": "center", "path_effects": halo}
        ax.annotate(letters, place, shift, color=ink(), fontsize="small", zorder=5, **where)
