"""What all pictures share: colours, axes and ticks; matplotlib is imported here, when a picture is drawn."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, TypeAlias

Axes: TypeAlias = Any  # matplotlib's, which may not be installed

# Okabe and Ito's colours, told apart with every kind of colour vision
BLUE, ORANGE, GREEN, DARK = "#0072B2", "#E69F00", "#009E73", "#333333"
DOTS_UP_TO = 40  # a curve of up to so many points gets a dot for each of them


def axes_for(ax: Axes | None) -> Axes:
    """Return ``ax``, or the axes of a new figure where it is None."""
    return import_matplotlib("pyplot").subplots(layout="constrained")[1] if ax is None else ax


def whole_ticks(ax: Axes) -> None:
    """Put ticks at integers only."""
    ticker = import_matplotlib("ticker")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(ticker.MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def tidy(ax: Axes) -> None:
    """Remove the frame above and to the right."""
    ax.spines[["top", "right"]].set_visible(False)


def import_matplotlib(part: str) -> ModuleType:
    """Import a part of matplotlib, which is an optional dependency."""
    try:
        return importlib.import_module(f"matplotlib.{part}")
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'rosenblatt[plots]'.") from error
