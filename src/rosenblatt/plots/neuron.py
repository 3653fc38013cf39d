"""Plots of one prediction of a linear model: as a neuron, and as a sum (CIML figures 4.1 and 4.2).

With many features, a plot shows those with the largest |weight * value| and combines all others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.inspection.contributions import LinearParts, linear_parts
from rosenblatt.inspection.geometry import label_words
from rosenblatt.plots.axes import BLUE, ORANGE, Axes, axes_for, backing, closes_on_error, ink, paper, shown_name, tidy
from rosenblatt.theory.inputs import shown_number

MOST = 8
"""Maximum number of parts that a plot shows. With more features, the last part combines the remaining features."""
_THIN, _THICK = 0.6, 5.0  # smallest and largest width of a connection, in points
_INPUT, _SUM, _ANSWER = 0.0, 2.4, 3.8  # horizontal positions of the inputs, the sum and the answer
_SHIFTS = -102, -52, -6  # horizontal positions of the three columns of numbers, in points from the bars


class Part(NamedTuple):
    """A feature with its value, its weight and their product.

    For several features combined, the value and the weight are None, and the product is the sum of their products.
    """

    name: str
    value: float | None
    weight: float | None
    product: float


class OnePrediction(NamedTuple):
    """The result of one prediction and its parts, which are the terms of the sum that decides."""

    parts: list[Part]
    bias: float
    activation: float
    answer: str
    """The predicted label as text, or "undefined" for a row on the boundary."""
    rule: str
    """The reason for the prediction in a few words, such as "> 0" or "largest of 3"."""
    title: str
    """A sentence with the prediction and the reason for it."""


def shown_parts(model: Any, x: Any, feature_names: Sequence[str] | None = None) -> OnePrediction:
    """Return the result of one prediction and at most `MOST` parts of its sum, in the order of the features.

    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[3, 4], [-3, -4]], [1, -1])
    >>> shown_parts(model, [1, 1]).parts
    [Part(name='x0', value=1.0, weight=3.0, product=3.0), Part(name='x1', value=1.0, weight=4.0, product=4.0)]
    """
    found = linear_parts(model, x, feature_names)
    n = len(found.names)
    order = np.argsort(-np.abs(found.products), kind="stable")
    chosen = np.sort(order[: MOST if n <= MOST else MOST - 1])
    parts = [
        Part(found.names[i], float(found.values[i]), float(found.weights[i]), float(found.products[i])) for i in chosen
    ]
    if n > MOST:
        parts.append(Part(f"{n - len(chosen):,} others", None, None, math.fsum(found.products[order[MOST - 1 :]])))
    activation = 0.0 if found.tied and found.scores == 1 else found.activation
    answer = "undefined" if found.tied else _label(found)
    return OnePrediction(parts, found.bias, activation, answer, *_rule(found, activation))


def _label(found: LinearParts) -> str:
    return shown_name(label_words(found.prediction), 20)


def _rule(found: LinearParts, activation: float) -> tuple[str, str]:
    """Return the fields ``rule`` and ``title`` of `OnePrediction`."""
    number = shown_number(activation)
    if found.scores > 1:
        if found.tied:
            return "tied", f"On the boundary: another class has the same score, {number}"
        largest = f"largest of {found.scores:,}"
        return largest, f"Predicted {_label(found)}: its score is {number}, the {largest}"
    if found.tied:
        return "= 0", "On the boundary: the activation is 0"
    side, sign = ("above", ">") if activation > 0 else ("below", "<")
    return f"{sign} 0", f"Predicted {_label(found)}: the activation is {number}, {side} 0"


@closes_on_error
def plot_neuron(model: Any, x: Any, ax: Axes | None = None, *, feature_names: Sequence[str] | None = None) -> Axes:
    """Draw the prediction of a linear model for one row as a neuron, as in CIML figure 4.1.

    The inputs and their values are on the left, with the bias as an input that is always 1. The width of a connection
    shows the absolute value of its weight. Positive weights are blue and solid, negative weights orange and dashed. The
    neuron adds up the products of weight and value, and the sign of the sum decides. With more than two classes, the
    neuron of the predicted class is drawn. With more than eight features, the seven with the largest products in
    absolute value are shown, and all others are combined.

    Parameters
    ----------
    model : fitted linear model, or a pipeline that ends in one
        For a model that votes, the averaged weights are drawn.
    x : array-like, sparse row, data frame, dict or str
        One row, as for `contributions`.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.
    feature_names : sequence of str, default=None
        A name for each feature. None uses ``model.feature_names_in_``, the output names of the earlier pipeline steps,
        or x0, x1, ...

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_activation : Draw the same sum as bars.

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
    """Draw an input with its value and its weighted connection; combined features get a thin dotted connection."""
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


@closes_on_error
def plot_activation(model: Any, x: Any, ax: Axes | None = None, *, feature_names: Sequence[str] | None = None) -> Axes:
    """Draw the activation of one row as a sum with a bar for each feature, as in CIML figure 4.2.

    Each line shows the value of a feature, its weight, and their product as a bar that starts where the previous bar
    ends. The last two lines show the bias and the sum, whose sign decides. Positive bars are blue, negative bars orange
    and hatched. With more than two classes, the sum is the score of the predicted class. With more than eight features,
    the seven with the largest products in absolute value are shown, and all others are combined.

    Parameters
    ----------
    model : fitted linear model, or a pipeline that ends in one
        For a model that votes, the averaged weights are drawn.
    x : array-like, sparse row, data frame, dict or str
        One row, as for `contributions`.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.
    feature_names : sequence of str, default=None
        A name for each feature. None uses ``model.feature_names_in_``, the output names of the earlier pipeline steps,
        or x0, x1, ...

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_neuron : Draw the same prediction as a neuron.
    rosenblatt.contributions : The same numbers as a table.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> ax = plot_activation(model, [3, 1, 1], feature_names=["bad", "good", "film"])
    >>> ax.get_title(loc="right")
    "Predicted 'blame': the activation is −2, below 0"
    >>> [float(bar.get_width()) for bar in ax.patches]
    [-3.0, 1.0, 0.0, 0.0, -2.0]
    """
    shown = shown_parts(model, x, feature_names)
    ax = axes_for(ax)
    products = np.array([*(part.product for part in shown.parts), shown.bias])
    starts = np.append(0.0, np.cumsum(products)[:-1])
    lengths, starts = np.append(products, shown.activation), np.append(starts, 0.0)
    lines = [(part.name, part.value, part.weight) for part in shown.parts]
    lines += [("bias", 1.0, shown.bias), ("w·x + b", None, None)]
    heights = -np.arange(len(lines), dtype=float)
    heights[-1] -= 0.4
    bars = ax.barh(
        heights, lengths, left=starts, height=0.62, color=np.where(lengths < 0, ORANGE, BLUE), edgecolor=ink()
    )
    for bar, length in zip(bars, lengths, strict=True):
        bar.set(hatch="////" if length < 0 else "", linewidth=0.6)
    bars[-1].set_linewidth(2.0)
    for i in range(1, len(products)):
        ax.plot([starts[i]] * 2, [heights[i - 1], heights[i]], ":", color=ink(), linewidth=0.8, zorder=0)
    ax.axvline(0, color=ink(), linewidth=1.2)
    ax.axhline(heights[-1] + 0.7, color=ink(), linewidth=0.8)
    _write_numbers(ax, lines, lengths, heights)
    ax.set_title(shown.title, fontsize="medium", pad=22, loc="right")
    ax.set_xlabel("weights times values, added up")
    ax.set_yticks(heights, [shown_name(name, 20) for name, _, _ in lines])
    ax.tick_params(axis="y", length=0, pad=150)
    ax.use_sticky_edges = False
    ax.margins(x=0.05)
    ax.set_ylim(heights[-1] - 0.6, 0.7)
    tidy(ax)
    ax.spines["left"].set_visible(False)
    return ax


def _write_numbers(ax: Axes, lines: list[Any], lengths: np.ndarray, heights: np.ndarray) -> None:
    """Write the value, the weight and the product of each line to the left of its bar."""
    look = {"textcoords": "offset points", "ha": "right", "va": "center", "color": ink(), "fontsize": "small"}
    frame = ax.get_yaxis_transform()
    for shift, word in zip(_SHIFTS, ("value", "weight", "product"), strict=True):
        ax.annotate(word, (0, 0.75), (shift, 0), xycoords=frame, style="italic", **look)
    for (_, value, weight), product, height in zip(lines, lengths, heights, strict=True):
        numbers = ["" if value is None else shown_number(value), "" if weight is None else f"· {shown_number(weight)}"]
        for shift, word in zip(_SHIFTS, [*numbers, shown_number(product)], strict=True):
            ax.annotate(word, (0, height), (shift, 0), xycoords=frame, **look)
