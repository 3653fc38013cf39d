"""A picture of one activation: values, weights, their products and the sum, whose sign decides (CIML figure 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.plots.axes import BLUE, ORANGE, Axes, axes_for, closes_on_error, ink, shown_name, tidy
from rosenblatt.plots.shown_parts import shown_parts
from rosenblatt.theory.words import shown_number

_SHIFTS = -102, -52, -6  # where the numbers stand, in points left of the bars


@closes_on_error
def plot_activation(model: Any, x: Any, ax: Axes | None = None, *, feature_names: Sequence[str] | None = None) -> Axes:
    """Draw how the activation of one row is added up, feature by feature: CIML figure 4.2.

    Each line has the value of a feature, its weight, and their product as a bar that starts where the one before it
    ended; then the bias, and the sum, whose sign is the answer. Blue bars go up, orange hatched ones down. With more
    than two classes it is the score of the class predicted. Of more than eight features, those that add the most are
    shown, and the others as one.

    Parameters
    ----------
    model, x, ax, feature_names
        As for `plot_neuron`.

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
    """Write value, weight and product of each line to the left of its bar."""
    look = {"textcoords": "offset points", "ha": "right", "va": "center", "color": ink(), "fontsize": "small"}
    frame = ax.get_yaxis_transform()
    for shift, word in zip(_SHIFTS, ("value", "weight", "product"), strict=True):
        ax.annotate(word, (0, 0.75), (shift, 0), xycoords=frame, style="italic", **look)
    for (_, value, weight), product, height in zip(lines, lengths, heights, strict=True):
        numbers = ["" if value is None else shown_number(value), "" if weight is None else f"· {shown_number(weight)}"]
        for shift, word in zip(_SHIFTS, [*numbers, shown_number(product)], strict=True):
            ax.annotate(word, (0, height), (shift, 0), xycoords=frame, **look)
