"""A picture of a linear model as a neuron: inputs, connections, their sum and the answer (CIML figure 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.plots.axes import BLUE, ORANGE, Axes, axes_for, backing, closes_on_error, ink, paper, shown_name
from rosenblatt.plots.shown_parts import Part, shown_parts
from rosenblatt.theory.words import shown_number

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
