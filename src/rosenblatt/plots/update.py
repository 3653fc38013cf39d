"""A picture of one update of the perceptron: the plane before it and after it (CIML figure 4.9)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.plots.axes import BLUE, Axes, check_labels, closes_on_error, ink, pair_of_axes, shown_name
from rosenblatt.plots.plane_lines import BROKEN, OUT_OF_VIEW, Line, draw_arrow, draw_line, draw_note, draw_rings, draw_w
from rosenblatt.plots.plane_parts import (
    Frame,
    Regions,
    Rows,
    column_names,
    draw_legend,
    draw_regions,
    draw_rows,
    plane_points,
)
from rosenblatt.theory.convergence.trace import Trace, TracedUpdate
from rosenblatt.theory.floats import rounded_product
from rosenblatt.theory.words import true_minus

_SIZE = (9.0, 4.6)  # inches
_LONGEST = 1.5  # arrows of more than so many times the range of the rows are drawn shorter
_DOTS = 20  # places along an arrow that names of others stand beside
_GREY, _BROWN = "#666666", "#8F5F00"  # orange, but dark enough for letters


@closes_on_error
def plot_update(trace: Trace, k: int, X: Any, y: Any, axes: Any = None) -> np.ndarray:
    """Draw update ``k`` of a run in the plane: before it on the left, after it on the right.

    The row that was wrong has a ring. Before: the line of the weights then, and w. After: the new line, the old one
    broken, and the new w. Without a bias all vectors start at the origin, and w, the row times its label, and the new
    w are drawn tip to tail, with a note where they are to a smaller scale than the rows. The titles have the activation
    of the row before and after; times the label it rises by exactly ``|x|^2 + 1``, without a bias ``|x|^2``.

    Parameters
    ----------
    trace : Trace
        What `rosenblatt.trace` returned.
    k : int
        The number of the update, from 1.
    X, y : the rows of two features that the trace is of, and their labels
    axes : two matplotlib Axes, optional
        Where to draw; otherwise a new figure is made.

    Returns
    -------
    array of the two Axes

    Examples
    --------
    >>> from rosenblatt import trace
    >>> X, y = [[3, 1], [-1, 2]], [1, -1]
    >>> before, after = plot_update(trace(X, y, fit_intercept=False), 1, X, y)
    >>> print(after.get_title())
    After: w·x = 10, on its side
    y·(w·x) rose by |x|² = 10
    """
    rows = traced_rows("plot_update", trace, X, y)
    points, step = rows.points, trace.step(k)
    w, b = trace.weights(k - 1)
    x = points[step.row]
    sign = 1.0 if step.label == rows.classes[-1] else -1.0
    scale, frame = 1.0, Frame.around(points)
    if not trace.fit_intercept:
        scale = _scale(points, [w, step.w, x])
        frame = Frame.around(np.vstack([points, np.zeros(2), w * scale, step.w * scale]))
    left, right = axes = pair_of_axes("plot_update", axes, _SIZE)
    old, new = Line.of(w, b), Line.of(step.w, step.b)
    draw_state(left, rows, old, frame, step.row)
    draw_state(right, rows, new, frame, step.row)
    if old is not None and old.crosses(frame):
        draw_line(right, old, frame, linestyle=BROKEN, linewidth=1.2, zorder=1, label="boundary before")
    if trace.fit_intercept:
        for ax, line in ((left, old), (right, new)):
            if line is not None:
                draw_w(ax, line, frame, points)
    else:
        _draw_sum(left, right, np.array([w, step.w]) * scale, sign, points)
        if scale < 1:
            note = {"transform": right.transAxes, "ha": "right", "va": "bottom", "fontsize": "small", "color": ink()}
            right.text(0.99, 0.01, f"arrows at 1/{1 / scale:g} of their length", **note)
    names = column_names(X)
    for ax, title in zip(axes, _titles(trace, step, x, sign, k), strict=True):
        ax.set_title(title, fontsize="medium")
        ax.set(xlabel=names[0], ylabel=names[1])
        draw_legend(ax)
    return axes


def traced_rows(name: str, trace: Trace, X: Any, y: Any) -> Rows:
    """Return the rows of a trace; an error of the function ``name`` where they are not of it."""
    if not isinstance(trace, Trace):
        raise TypeError(f"{name} draws what rosenblatt.trace returned, got {type(trace).__name__}.")
    points = plane_points(name, X)
    classes = np.array(trace.classes)
    labels = check_labels(y, len(points), classes)
    if not trace.is_of(points, labels):
        raise ValueError(f"{name} needs the rows and labels that the trace is of, got others: give those to it.")
    return Rows(points, labels, classes)


def draw_state(ax: Axes, rows: Rows, line: Line | None, frame: Frame, wrong: int) -> None:
    """Draw the rows, what weights answer where, unless all of them are zero, and a ring around the row ``wrong``."""
    frame.set_limits(ax)
    draw_weights(ax, line, frame)
    draw_rows(ax, rows)
    draw_rings(ax, rows.points[wrong : wrong + 1], rows.mark, "row of the update", linewidth=2.0)


def draw_weights(ax: Axes, line: Line | None, frame: Frame) -> None:
    """Draw what weights answer where, and say so where no boundary is seen."""
    if line is not None:
        draw_regions(ax, Regions.beside(frame, line.distance(frame.places())))
    if line is None or not line.crosses(frame):
        draw_note(ax, "all weights are zero: no boundary" if line is None else OUT_OF_VIEW)


def _scale(points: np.ndarray, vectors: list[np.ndarray]) -> float:
    """Return how long arrows are drawn: 1, or one over a round number where some are much longer than the rows."""
    longest = max(float(np.linalg.norm(vector)) for vector in vectors)
    room = float(np.abs(points).max()) * _LONGEST
    if not longest > room > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(longest / room))
    return 1 / next(power * step for step in (1, 2, 5, 10) if power * step >= longest / room)


def _draw_sum(left: Axes, right: Axes, weights: np.ndarray, sign: float, points: np.ndarray) -> None:
    """Draw w on the left and, on the right, the row times its label added to it, all from the origin.

    ``weights`` are those before and after; names stand beside the points and the arrows.
    """
    (w, after), origin, added = weights, np.zeros(2), "x" if sign > 0 else "\N{MINUS SIGN}x"
    if not w.any():
        draw_arrow(right, origin, after, f"w = {added}", points)
        return
    draw_arrow(left, origin, w, "w", points)
    arrows: list[tuple[np.ndarray, np.ndarray, str, str]] = [(origin, w, "w", _GREY)]
    arrows.append((w, after, added, BLUE if sign > 0 else _BROWN))
    if after.any():
        arrows.append((origin, after, "w after", ink()))
    names = np.empty((0, 2))
    for i, (start, end, name, colour) in enumerate(arrows):
        others = [np.linspace(a, b, _DOTS) for j, (a, b, _, _) in enumerate(arrows) if j != i]
        place = draw_arrow(right, start, end, name, np.vstack([points, names, *others]), color=colour)
        names = np.vstack([names, place])


def _titles(trace: Trace, step: TracedUpdate, x: np.ndarray, sign: float, k: int) -> tuple[str, str]:
    """Return what happened to the activation of the row, in words."""
    name = "w·x + b" if trace.fit_intercept else "w·x"
    square, rise = ("|x|² + 1", float(x @ x) + 1) if trace.fit_intercept else ("|x|²", float(x @ x))
    before, after = step.activation, rounded_product(np.append(step.w, step.b), np.append(x, 1.0))
    where = "on the wrong side" if before else "on no side"
    now = "on its side" if sign * after > 0 else "on no side" if after == 0 else "still wrong"
    first, second = (true_minus(f"{activation:.4g}") for activation in (before, after))
    return (
        f"Before update {k:,}, row {step.row} of label {shown_name(step.label)}:\n{name} = {first}, {where}",
        f"After: {name} = {second}, {now}\ny·({name}) rose by {square} = {rise:.4g}",
    )
