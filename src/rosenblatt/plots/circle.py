"""A picture of the circle that was learned, or of the proof that there is none (Har-Peled 30.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.circles.shapes import Circle, HalfSpace, NoCircle, Outside
from rosenblatt.plots.axes import Axes, axes_for, closes_on_error, ink, shown_name
from rosenblatt.plots.plane_lines import BROKEN, halo
from rosenblatt.plots.plane_parts import LOOKS, Frame, Rows, draw_legend, draw_rows, plane_points
from rosenblatt.plots.plane_shapes import Edge, draw_proof, draw_sides
from rosenblatt.plurals import count_of
from rosenblatt.theory.inputs import check_labels as labels_of_rows
from rosenblatt.theory.words import number_text, rows_text, shown_number, true_minus, vector_text

_WHOLE = 3.0  # a circle of up to so many times the size of the points is drawn whole
_SEVERAL = "#999999"  # the tint of a side of several classes
_ROUNDING = 1e-12  # a coordinate below this share of the radius is written as 0
_NAMES_UP_TO = 3  # classes that the title names
_NUMBERS_UP_TO = 6  # rows of a proof that get their numbers beside them


@closes_on_error
def plot_circle(
    shape: Circle | HalfSpace | Outside | NoCircle, points: Any, labels: Any, ax: Axes | None = None
) -> Axes:
    """Draw points of the plane with the circle that separates them, or why there is none.

    A circle has its centre, its radius, and the room that it leaves between the classes: broken lines go through the
    nearest point on both sides. Of the outside of a circle and of a `NoCircle` the proof is drawn too: the hulls of a
    few points of both classes, and a cross at the mix that they have in common.

    Parameters
    ----------
    shape : Circle, HalfSpace, Outside or NoCircle
        What `fit_circle` or `circle_from_plane` returned.
    points, labels : rows of two numbers, and their labels of up to ten classes
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made. The legend lies below the axes: a figure of
        your own with ``layout="constrained"`` has room for it.

    Examples
    --------
    >>> from rosenblatt import fit_circle
    >>> points, labels = [[0, 0], [1, 0], [3, 0], [0, -3]], [1, 1, 0, 0]
    >>> ax = plot_circle(fit_circle(points, labels, largest_margin=True), points, labels)
    >>> print(ax.get_title())
    Circle around 1: centre (0.375, −0.375), radius 1.94
    room of 1.92 between the classes
    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> ax = plot_circle(fit_circle(square, [0, 1, 1, 0]), square, [0, 1, 1, 0])
    >>> print(ax.get_title())
    No circle, no outside of one, no line: lifted to (x, |x|²),
    a mix of rows 1, 2 is one of rows 0, 3
    """
    if not isinstance(shape, Circle | HalfSpace | Outside | NoCircle):
        raise ValueError(f"plot_circle draws what rosenblatt.fit_circle returns, got {type(shape).__name__}.")
    X = plane_points("plot_circle", points, None)
    y, classes = circle_labels("plot_circle", labels, len(X))
    ax = axes_for(ax)
    if isinstance(shape, NoCircle):
        frame = circle_frame(X)
        _draw_proof(ax, shape.proof, X, y, classes)
        inside, outside = rows_text(shape.proof.inside, 4), rows_text(shape.proof.outside, 4)
        title = f"No circle, no outside of one, no line: lifted to (x, |x|²),\na mix of {inside} is one of {outside}"
    else:
        frame = circle_frame(X, Edge(shape))
        title = _draw_shape(ax, shape, frame, Rows(X, y, classes))
    draw_rows(ax, Rows(X, y, classes))
    ax.set_title(title, fontsize="medium")
    ax.set(xlabel="x₁", ylabel="x₂")
    frame.set_limits(ax)
    draw_legend(ax)
    return ax


def circle_frame(points: np.ndarray, edge: Edge | None = None) -> Frame:
    """Return the part of the plane to draw: all points, and the whole circle unless it is large."""
    if edge is not None and edge.center is not None and edge.radius <= _WHOLE * (np.ptp(points, axis=0).max() or 1.0):
        points = np.vstack([points, edge.center - edge.radius, edge.center + edge.radius])
    return Frame.around(points, one_scale=True)


def circle_labels(name: str, labels: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels and the classes among them, of which there are not too many to be told apart."""
    y = labels_of_rows(labels, n)
    classes = np.unique(y)
    if len(classes) > len(LOOKS):
        raise ValueError(f"{name} draws points of up to {len(LOOKS)} classes, got {len(classes)}.")
    return y, classes


def _draw_shape(ax: Axes, shape: Any, frame: Frame, rows: Rows) -> str:
    """Draw a circle, the outside of one or the side of a line, with the room between the classes; return the title."""
    edge = Edge(shape)
    X, y, classes = rows
    positive = shape.contains(X)
    shares = np.array([positive[y == label].mean() for label in classes])
    held = shares > 0.5 if 0 < (shares > 0.5).sum() < max(2, len(classes)) else shares == shares.max()
    sides = [_tint([LOOKS[i][0] for i in np.flatnonzero(held == side)]) for side in (True, False)]
    inner, outer = sides[::-1] if isinstance(shape, Outside) else sides
    draw_sides(ax, edge, frame.low, frame.high, inner, outer)
    if isinstance(shape, Outside) and shape.reason is not None:
        _draw_proof(ax, shape.reason, X, y, classes)
    elif edge.center is not None and frame.holds(edge.center):
        _draw_center(ax, edge)
    wrong = int(((positive != held[np.searchsorted(classes, y)]) | shape.on_boundary(X)).sum())
    room = "" if wrong or positive.all() or not positive.any() else _draw_room(ax, edge, X, frame)
    ending = f"{wrong:,} of {count_of(len(X), 'point')} on the wrong side" if wrong else room
    if isinstance(shape, HalfSpace):
        return f"A line is the limit of the circles{'; ' * bool(ending)}{ending}"
    held_names = [shown_name(label, 20) for label in classes[held].tolist()]
    names = ", ".join(held_names) if len(held_names) <= _NAMES_UP_TO else count_of(len(held_names), "class")
    around = "Circle around" if isinstance(shape, Circle) else "Circle around all but"
    center = [value if abs(value) > _ROUNDING * shape.radius else 0.0 for value in shape.center.tolist()]
    where = true_minus(f"centre {vector_text(center, 3)}, radius {number_text(shape.radius, 3)}")
    return f"{around} {names}: {where}\n{ending}".rstrip()


def _tint(colours: list[str]) -> str | None:
    """Return the colour of a side that holds classes of these colours."""
    return None if not colours else colours[0] if len(colours) == 1 else _SEVERAL


def _draw_center(ax: Axes, edge: Edge) -> None:
    """Draw the centre of a circle and a radius."""
    assert edge.center is not None
    end = edge.center + edge.radius * np.array([np.cos(0.6), np.sin(0.6)])
    ax.plot(*edge.center, "+", color=ink(), markersize=11, markeredgewidth=1.8, zorder=4, linestyle="none")
    ax.annotate("", end, edge.center, arrowprops={"arrowstyle": "-|>", "color": ink(), "linewidth": 1}, zorder=2)
    half = (edge.center + end) / 2
    words = {"textcoords": "offset points", "style": "italic", "ha": "right", "bbox": halo(), "zorder": 5}
    ax.annotate("r", half, (-3, 4), color=ink(), **words)


def _draw_room(ax: Axes, edge: Edge, X: np.ndarray, frame: Frame) -> str:
    """Draw the neighbours of the boundary through the nearest point on both sides; return how far apart they are."""
    depth = edge.depth(X)
    inner, outer = depth[depth > 0].min(initial=np.inf), depth[depth < 0].max(initial=-np.inf)
    if not np.isfinite([inner, outer]).all():  # a distance below rounding
        return ""
    look = {"color": ink(), "linestyle": BROKEN, "linewidth": 1.0, "zorder": 1}
    middle, reach = (frame.low + frame.high) / 2, float(np.hypot(*(frame.high - frame.low)))
    for level, label in ((inner, "nearest point on both sides"), (outer, None)):
        if edge.center is None or edge.radius > level:
            ax.plot(*edge.curve(middle, reach, level).T, label=label, **look)
    return f"room of {shown_number(inner - outer)} between the classes"


def _draw_proof(ax: Axes, proof: Any, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> None:
    """Draw the hulls of a proof in the colours of their classes, and the numbers of its rows."""
    colours = [LOOKS[int(np.searchsorted(classes, y[rows[0]]))][0] for rows in (proof.inside, proof.outside)]
    names = (f"hull of {rows_text(proof.inside, 4)}", f"hull of {rows_text(proof.outside, 4)}", "a mix of both")
    draw_proof(ax, proof, X, (colours[0], colours[1]), names)
    rows = proof.inside + proof.outside
    if len(rows) <= _NUMBERS_UP_TO:
        for row in rows:
            words = {"textcoords": "offset points", "color": ink(), "fontsize": "small", "bbox": halo(), "zorder": 5}
            ax.annotate(str(row), X[row], (6, 6), **words)
