"""What all pictures share: colours, axes and ticks; matplotlib is imported here, when a picture is drawn."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from rosenblatt.small_pictures import DOTS_UP_TO as DOTS_UP_TO
from rosenblatt.theory.inputs import check_labels as labels_of_rows

Axes: TypeAlias = Any  # matplotlib's, which may not be installed

# Okabe and Ito's colours, told apart with every kind of colour vision
BLUE, ORANGE, GREEN, DARK = "#0072B2", "#E69F00", "#009E73", "#333333"
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}  # behind words that stand on a line
MARKS_UP_TO = 2000  # a class of more rows than this gets so many marks, evenly chosen, as more would not be seen


def axes_for(ax: Axes | None) -> Axes:
    """Return ``ax``, or the axes of a new figure where it is None."""
    return import_matplotlib("pyplot").subplots(layout="constrained")[1] if ax is None else ax


def check_labels(y: Any, n: int, classes: np.ndarray) -> np.ndarray:
    """Return the labels of ``n`` rows as an array; a ValueError where some are missing or unknown to the model."""
    labels = labels_of_rows(y, n)
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"expected labels that the model was trained with, got {unknown.tolist()[0]!r}.")
    return labels


def whole_ticks(ax: Axes, y: bool = True) -> None:
    """Put ticks at integers only, on the vertical axis unless ``y`` is False."""
    ticker = import_matplotlib("ticker")
    for axis in (ax.xaxis, ax.yaxis) if y else (ax.xaxis,):
        axis.set_major_locator(ticker.MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def from_zero(ax: Axes, values: np.ndarray) -> None:
    """Let the vertical axis start a little below zero, so that a mark at zero is seen whole."""
    largest = max(1.0, float(np.nanmax(values, initial=0)))
    ax.set_ylim(-0.05 * largest, 1.07 * largest)


def tidy(ax: Axes) -> None:
    """Remove the frame above and to the right."""
    ax.spines[["top", "right"]].set_visible(False)


def import_matplotlib(part: str) -> ModuleType:
    """Import a part of matplotlib, which is an optional dependency."""
    try:
        return importlib.import_module(f"matplotlib.{part}")
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'rosenblatt[plots]'.") from error
