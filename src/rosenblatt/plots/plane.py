"""A picture of the plane: rows of two features, the line between their classes, its margin, and w.

Blue circles stand for the positive class (the second of ``classes_``), orange triangles for the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.inspection.geometry import LinearRule, boundary, check_two_classes, distance, linear_rule, unit_weights
from rosenblatt.inspection.pipelines import feature_labels, split_pipeline
from rosenblatt.plots.axes import DARK, Axes, axes_for
from rosenblatt.plots.plane_parts import draw_legend, draw_regions, draw_rows, plane_labels, plane_points
from rosenblatt.plots.projection import zero_weights_words
from rosenblatt.plurals import count_of

_NEAREST = 1e-9  # rows whose distances differ by less, as a share, are all called nearest
_ARROW = 0.16  # the length of w in the picture, as a share of its height
_RING = 4.0  # the area of a ring around a row, in marks


def plot_plane(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw rows of two features, what the model answers where, and the boundary in between.

    Where a line has every row strictly on its side, broken lines show how far the nearest one is on both sides (its
    geometric margin) and rings which rows these are, and an arrow is w, at a right angle to the line. Otherwise rings
    show the rows that are wrong. The boundary of a kernel perceptron, of a vote or of a pipeline (with a `SphereLift`,
    say) may be curved: it is drawn without margin and w.

    Parameters
    ----------
    model : fitted classifier of two features and up to ten classes, or a pipeline that takes two
    X, y : rows of two features, and their labels
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made. The legend lies below the axes: a figure of
        your own with ``layout="constrained"`` has room for it.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]  # AND
    >>> ax = plot_plane(Perceptron(shuffle=False).fit(X, y), X, y)
    >>> ax.get_title()
    'Separated: the nearest row is 0.277 from the boundary (geometric)'
    """
    steps, learner = split_pipeline(model)
    points = plane_points("plot_plane", X, learner)
    labels, classes = plane_labels("plot_plane", y, len(points), learner)
    wrong = np.asarray(model.predict(X)) != labels
    rule = _rule_of_two_classes(learner)
    straight = steps is None and rule is not None and bool(rule.w.any())
    sides = np.where(labels == classes[1], 1.0, -1.0) * distance(learner, points) if straight else None
    ax = axes_for(ax)
    draw_regions(ax, model, X, points, classes)
    mark = draw_rows(ax, points, labels, classes)
    if sides is not None and sides.min() > 0:
        nearest = float(sides.min())
        _draw_margin(ax, learner, nearest)
        _draw_rings(ax, points[sides <= nearest * (1 + _NEAREST)], _RING * mark, "nearest")
        title = f"Separated: the nearest row is {nearest:.3g} from the boundary (geometric)"
    else:
        wrong = wrong if sides is None else sides <= 0  # a row on the boundary is on no side
        title = _title(learner, int(wrong.sum()), len(points))
        _draw_rings(ax, points[wrong], _RING * mark, "wrong")
    if straight:
        _draw_w(ax, learner)
    names = feature_labels(learner if steps is None else model, 2)
    ax.set_title(title, fontsize="medium")
    ax.set(xlabel=names[0], ylabel=names[1])
    draw_legend(ax)
    return ax


def _rule_of_two_classes(learner: Any) -> LinearRule | None:
    """Return the weights between two classes, None where the model predicts by something else."""
    try:
        rule = linear_rule(learner)
        check_two_classes(learner, rule)
    except (TypeError, ValueError):
        return None
    return rule


def _title(learner: Any, wrong: int, n: int) -> str:
    """Return how many rows are wrong, in words, or that there is no boundary."""
    rule = _rule_of_two_classes(learner)
    if rule is not None and not rule.w.any():
        return zero_weights_words(learner, float(rule.b[0]))
    if wrong:
        return f"{wrong:,} of {count_of(n, 'row')} on the wrong side"
    return "Separated: every row is on its side"


def _draw_margin(ax: Axes, learner: Any, nearest: float) -> None:
    """Draw the lines through the nearest row, and as far on the other side."""
    unit, _ = unit_weights(learner)
    first, second = boundary(learner)
    look = {"color": DARK, "linestyle": (0, (5, 4)), "linewidth": 1.0, "zorder": 1}
    ax.axline(first + nearest * unit, second + nearest * unit, label="distance of the nearest row", **look)
    ax.axline(first - nearest * unit, second - nearest * unit, **look)


def _draw_w(ax: Axes, learner: Any) -> None:
    """Draw an arrow along w from the boundary, where the axes have one scale, so that it shows the right angle."""
    if ax.get_aspect() != 1.0:
        return
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    unit, offset = unit_weights(learner)
    middle = (low + high) / 2
    start = middle - (unit @ middle + offset) * unit  # the point of the boundary nearest to the middle
    end = start + _ARROW * (high - low).max() * unit
    if ((start < low) | (start > high)).any():
        return
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": DARK, "linewidth": 2}, zorder=4)
    ax.annotate("w", end, (4, 4), textcoords="offset points", color=DARK, weight="bold", zorder=4)


def _draw_rings(ax: Axes, points: np.ndarray, area: float, what: str) -> None:
    if len(points):
        look = {"facecolor": "none", "edgecolor": DARK, "linewidth": 1.3, "zorder": 2}
        ax.scatter(*points.T, s=area, label=f"{what} ({len(points):,})", **look)
