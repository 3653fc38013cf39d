"""A picture of a vote in the plane, beside the one line of its average (CIML 4.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from rosenblatt.inspection.geometry import LinearRule, linear_rule
from rosenblatt.inspection.pipelines import feature_labels, split_pipeline, through_steps
from rosenblatt.plots.axes import Axes, axes_for, closes_on_error, import_matplotlib, ink, shown_name
from rosenblatt.plots.plane_lines import BROKEN
from rosenblatt.plots.plane_parts import (
    GRID,
    Rows,
    draw_legend,
    draw_regions,
    draw_rows,
    like,
    plane_labels,
    plane_points,
    plane_regions,
)
from rosenblatt.plurals import percent

_HATCH = "////"
_AVERAGE = {"linestyle": BROKEN, "linewidth": 1.6}
"""The line of the average, as lines of a legend are drawn."""


@closes_on_error
def plot_votes(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw what a vote answers where, the line of the average of its voters, and where the two differ.

    All weights that a run had vote, each as often as it survived, so that the boundary is made of pieces of their
    lines; where the votes are even there is no tint. The average of the weights is one line near it: this is why the
    averaged perceptron, which is far cheaper, stands in for the vote. What lies between the two is hatched, and the
    title says how much of the drawn plane it is.

    Parameters
    ----------
    model : fitted VotedPerceptron of two features and two classes
        Or a Perceptron with ``hypothesis="vote"``, or a pipeline that ends in one and takes two features.
    X, y : rows of two features, and their labels
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made. The legend lies below the axes: a figure of
        your own with ``layout="constrained"`` has room for it.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]  # AND
    >>> ax = plot_votes(VotedPerceptron(shuffle=False).fit(X, y), X, y)
    >>> print(ax.get_title())
    The vote and the average differ
    on 5% of what is drawn
    """
    steps, learner = split_pipeline(model)
    rule = _rule_of_a_vote(learner)
    points = plane_points("plot_votes", X, learner)
    labels, classes = plane_labels("plot_votes", y, len(points), learner)
    regions = plane_regions(model, X, points, classes)
    places = through_steps(steps, like(X, regions.frame.places()))
    average = np.ravel(safe_sparse_dot(np.asarray(places), rule.w[0])) + rule.b[0]
    average = average.reshape(GRID, GRID)
    differ = (average > 0) != (regions.lines[0] > 0)
    ax = axes_for(ax)
    draw_regions(ax, regions)
    draw_rows(ax, Rows(points, labels, classes))
    sides = regions.frame.sides()
    if differ.any():
        filled = {"levels": [0.5, 1.5], "colors": "none", "hatches": [_HATCH], "zorder": 0.5}
        ax.contourf(*sides, differ.astype(float), **filled).set(edgecolor=(ink(), 0.8), linewidth=0)
    seen = bool(average.min() < 0 < average.max())
    if seen:
        look = {f"{name}s": [value] for name, value in _AVERAGE.items()}
        ax.contour(*sides, average, levels=[0], zorder=1.5, colors=ink(), **look)
    _name_lines(ax, seen, bool(differ.any()))
    share = float(differ.mean())
    words = f"differ\non {percent(share)} of what is drawn" if share else "answer alike\non all that is drawn"
    ax.set_title(f"The vote and the average {words}", fontsize="medium")
    names = [shown_name(name) for name in feature_labels(learner if steps is None else model, 2)]
    ax.set(xlabel=names[0], ylabel=names[1])
    draw_legend(ax)
    return ax


def _rule_of_a_vote(learner: Any) -> LinearRule:
    """Return the average of a vote of two classes; an error for any other model."""
    rule = linear_rule(learner)
    if not rule.averaged:
        raise TypeError(
            f"plot_votes draws a vote, which this {type(learner).__name__} is not: fit a VotedPerceptron, or draw "
            "plot_plane."
        )
    if len(rule.classes) != 2:
        raise ValueError(f"plot_votes draws a vote between two classes, got a model of {len(rule.classes)}.")
    return rule


def _name_lines(ax: Axes, average: bool, differ: bool) -> None:
    """Name in the legend what is drawn and has no name of its own."""
    ax.plot([], [], color=ink(), linewidth=1.4, label="boundary of the vote")
    if average:
        ax.plot([], [], label="line of the average", color=ink(), **_AVERAGE)
    if differ:
        look = {"facecolor": "none", "edgecolor": (ink(), 0.8), "hatch": _HATCH, "linewidth": 0}
        ax.add_patch(import_matplotlib("patches").Rectangle((np.nan, np.nan), 0, 0, label="they differ", **look))
