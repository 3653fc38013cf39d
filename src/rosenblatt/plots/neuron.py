"""A picture of a linear model as a neuron: inputs, connections, their sum and the answer (CIML figure 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from rosenblatt.inspection.explain import feature_labels, split_pipeline, through_steps
from rosenblatt.inspection.geometry import LinearRule, linear_rule
from rosenblatt.messages import percent
from rosenblatt.plots.axes import (
    BLUE,
    ORANGE,
    Axes,
    Part,
    axes_for,
    backing,
    closes_on_error,
    import_matplotlib,
    ink,
    paper,
    shown_name,
    shown_parts,
)
from rosenblatt.plots.plane_parts import (
    BROKEN,
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
from rosenblatt.theory.inputs import shown_number

_THIN, _THICK = 0.6, 5.0  # of a connection, in points
_INPUT, _SUM, _ANSWER = 0.0, 2.4, 3.8  # where they stand, from left to right


@closes_on_error
def plot_neuron(model: Any, x: Any, ax: Axes | None = None, *, feature_names: Sequence[str] | None = None) -> Axes:
    """Draw what a linear model makes of one row as a neuron: CIML figure 4.1.

    On the left are the inputs with their values, and the bias, whose input is always 1. A connection carries its
    weight: the larger, the thicker; blue and solid above 0, orange and broken below. The neuron adds up weight times
    value, and the sign of the sum is the answer. With more than two classes it is the neuron of the class predicted. Of
    more than eight features, those that add the most are shown, and the others as one.

    Parameters
    ----------
    model : fitted linear model, or a pipeline that ends in one
        For a vote the averaged weights are drawn.
    x : one row, as for `contributions`
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.
    feature_names : list of str, optional
        As for `explain`.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> ax = plot_neuron(model, [3, 1, 1], feature_names=["bad", "good", "film"])
    >>> ax.get_title()
    "Predicted 'blame': the activation is −2, below 0"
    """
    shown = shown_parts(model, x, feature_names)
    ax = axes_for(ax)
    parts = [*shown.parts, Part("bias", 1.0, shown.bias, shown.bias)]
    largest = max(abs(part.weight or 0.0) for part in parts) or 1.0
    middle = -(len(parts) - 1) / 2
    for i, part in enumerate(parts):
        _draw_input(ax, part, -i, middle, largest)
    look = {"facecolor": paper(), "edgecolor": ink(), "linewidth": 1.8, "zorder": 3}
    ax.scatter(_SUM, middle, s=2300, **look)
    ax.text(_SUM, middle, f"Σ\n{shown_number(shown.activation)}", ha="center", va="center", color=ink(), zorder=4)
    arrow = {"arrowstyle": "-|>", "color": ink(), "linewidth": 1.8}
    ax.annotate("", (_ANSWER - 0.1, middle), (_SUM + 0.38, middle), arrowprops=arrow)
    words = {"textcoords": "offset points", "ha": "center", "color": ink()}
    ax.annotate(shown.rule, ((_SUM + _ANSWER) / 2 + 0.14, middle), (0, 5), va="bottom", fontsize="small", **words)
    ax.annotate("w·x + b", (_SUM, middle), (0, -30), va="top", style="italic", **words)
    ax.text(_ANSWER - 0.05, middle, shown.answer, ha="left", va="center", weight="bold", color=ink())
    ax.set_title(shown.title, fontsize="medium")
    ax.set(xlim=(-1.9, _ANSWER + 1.1), ylim=(-len(parts) + 0.3, 0.8))
    ax.set_axis_off()
    return ax


def _draw_input(ax: Axes, part: Part, height: float, middle: float, largest: float) -> None:
    """Draw an input with its value, and its connection with the weight; all others together have a thin dark one."""
    ax.text(_INPUT - 0.42, height, shown_name(part.name, 20), ha="right", va="center", color=ink())
    if part.value is not None:
        box = {"boxstyle": "round,pad=0.25", "facecolor": paper(), "edgecolor": ink()}
        ax.text(_INPUT, height, shown_number(part.value), ha="center", va="center", color=ink(), zorder=4, bbox=box)
    start, end = np.array([_INPUT + 0.1, height]), np.array([_SUM, middle])
    if part.weight is None:
        look, words = {"color": ink(), "linewidth": _THIN, "linestyle": ":"}, f"add {shown_number(part.product)}"
    else:
        width = _THIN + (_THICK - _THIN) * abs(part.weight) / largest
        colour, dash = (ORANGE, (0, (2.5, 1.2))) if part.weight < 0 else (BLUE, "-")
        look, words = {"color": colour, "linewidth": width, "linestyle": dash}, shown_number(part.weight)
    ax.plot(*np.array([start, end]).T, zorder=1, label=shown_name(part.name), **look)
    at = start + 0.36 * (end - start)
    ax.text(*at, words, ha="center", va="center", color=ink(), fontsize="small", zorder=2, bbox=backing())


# A picture of a vote in the plane, beside the one line of its average (CIML 4.6).


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
