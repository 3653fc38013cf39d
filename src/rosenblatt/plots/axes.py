"""Helpers for all plots: axes, figures, colours, ticks and escaped names. matplotlib is imported on first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from types import ModuleType
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from rosenblatt.html import DOTS_UP_TO as DOTS_UP_TO
from rosenblatt.inspection.geometry import label_words
from rosenblatt.messages import count_of, label_text
from rosenblatt.theory.inputs import check_labels as labels_of_rows

P = ParamSpec("P")
R = TypeVar("R")
Axes: TypeAlias = Any  # matplotlib.axes.Axes; matplotlib may not be installed

# Okabe and Ito's palette, safe for all kinds of colour vision
BLUE, ORANGE, GREEN, DARK = "#0072B2", "#E69F00", "#009E73", "#333333"
MARKS_UP_TO = 2000  # maximum number of marks for each class, drawn at evenly spaced rows
_BRIGHTNESS = 0.299, 0.587, 0.114  # weights of red, green and blue in the luma of a colour (ITU-R BT.601)
_MADE: ContextVar[list[Any]] = ContextVar("_MADE")  # figures that the current plotting function has created


def axes_for(ax: Axes | None, in_space: bool = False) -> Axes:
    """Return ``ax``, or the axes of a new figure if ``ax`` is None; ``in_space`` requires three-dimensional axes."""
    if ax is None:
        projection = "3d" if in_space else "rectilinear"
        return new_figure().subplots(subplot_kw={"projection": projection})
    check_axes(ax, in_space)
    return ax


def pair_of_axes(name: str, axes: Any, size: tuple[float, float]) -> np.ndarray:
    """Return ``axes`` as an array of two Axes, or two axes of a new figure of ``size`` inches if ``axes`` is None."""
    if axes is None:
        return np.ravel(new_figure(size).subplots(1, 2))
    pair = np.ravel(np.asarray(axes, dtype=object))
    if len(pair) != 2:
        raise ValueError(f"{name} draws on two axes, got {len(pair)}: create them with plt.subplots(1, 2).")
    for ax in pair:
        check_axes(ax)
    return pair


def check_axes(ax: Any, in_space: bool = False) -> None:
    """Raise a TypeError unless ``ax`` is matplotlib Axes, and a ValueError for polar axes or the wrong dimension."""
    how = 'figure.add_subplot(projection="3d")' if in_space else "plt.subplots()"
    if not isinstance(ax, import_matplotlib("axes").Axes):
        raise TypeError(f"expected matplotlib Axes to draw on, got {type(ax).__name__}: create them with {how}.")
    if (ax.name == "3d") != in_space or not {"left", "right", "top", "bottom"} <= set(ax.spines):
        wanted = "three dimensions" if in_space else "two dimensions"
        kind = "plain" if ax.name == "rectilinear" else ax.name
        raise ValueError(f"expected matplotlib Axes of {wanted}, got {kind} ones: create them with {how}.")


def closes_on_error(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a plotting function so that the figures it creates are closed if it fails or is interrupted."""

    @wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        made: list[Any] = []
        outside = _MADE.set(made)
        try:
            result = function(*args, **kwargs)
        except BaseException:
            for figure in made:
                import_matplotlib("pyplot").close(figure)
            raise
        finally:
            _MADE.reset(outside)
        _MADE.get([]).extend(made)  # if a plotting function calls this one and then fails, it closes these figures too
        return result

    return drawn


def new_figure(size: tuple[float, float] | None = None) -> Any:
    """Return a new pyplot figure of the given size in inches, or of matplotlib's default size."""
    figure = import_matplotlib("pyplot").figure(figsize=size, layout="constrained")
    _MADE.get([]).append(figure)
    return figure


def ink(on_light: str = DARK) -> Any:
    """Return the colour of lines and text: ``on_light`` on a light background, otherwise the style's text colour."""
    light = float(np.dot(paper()[:3], _BRIGHTNESS)) > 0.5
    return on_light if light else import_matplotlib().rcParams["text.color"]


def paper(alpha: float = 1.0) -> tuple[float, ...]:
    """Return the background colour of matplotlib's current style, with the given opacity."""
    settings, colours = import_matplotlib().rcParams, import_matplotlib("colors")
    *colour, seen = colours.to_rgba(settings["axes.facecolor"])
    return (*(colour if seen else colours.to_rgb(settings["figure.facecolor"])), alpha)


def backing() -> dict[str, Any]:
    """Return the style of the box behind text that lies on a line."""
    return {"facecolor": paper(), "edgecolor": "none", "pad": 1.5}


def shown_name(name: Any, most: int = 40) -> str:
    """Return a name as text that matplotlib shows literally, truncated to ``most`` characters.

    Mathtext is escaped, and a leading ``_`` does not hide the name in a legend.

    >>> print(shown_name("US$ and C$"), shown_name("_hidden"), shown_name(1.0), shown_name("a" * 50, 8))
    US\\$ and C\\$  _hidden 1 aaaaaaa…
    """
    text = " ".join(label_text(name).split())
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return f"{' ' * text.startswith('_')}{text}".replace("$", r"\$")


def check_labels(y: Any, n: int, classes: np.ndarray) -> np.ndarray:
    """Return the labels of ``n`` rows as an array; raise a ValueError if a label is missing or not in ``classes``."""
    labels = labels_of_rows(y, n)
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"expected labels that the model was trained with, got {unknown.tolist()[0]!r}.")
    return labels


def whole_ticks(ax: Axes, y: bool = True) -> None:
    """Put ticks at integers only, on the horizontal axis and, unless ``y`` is False, on the vertical axis."""
    ticker = import_matplotlib("ticker")
    for axis in (ax.xaxis, ax.yaxis) if y else (ax.xaxis,):
        axis.set_major_locator(ticker.MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def from_zero(ax: Axes, values: np.ndarray) -> None:
    """Start the vertical axis a little below zero, so that a mark at zero is not clipped."""
    largest = max(1.0, float(np.nanmax(values, initial=0)))
    ax.set_ylim(-0.05 * largest, 1.07 * largest)


def tidy(ax: Axes) -> None:
    """Hide the top and right spines."""
    ax.spines[["top", "right"]].set_visible(False)


def import_matplotlib(part: str = "") -> ModuleType:
    """Import and return matplotlib, which is an optional dependency, or its submodule ``part``."""
    try:
        return importlib.import_module(f"matplotlib.{part}" if part else "matplotlib")
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'rosenblatt[plots]'.") from error


def zero_weights_words(learner: Any, b: float) -> str:
    """Return the title of a plot of a two-class model whose weights are all zero."""
    label = shown_name(label_words(learner.classes_.tolist()[int(b > 0)]))
    answer = f"gets the answer {label}" if b else "lies on the boundary"
    proved = getattr(getattr(learner, "report_", None), "proved_inseparable", False)
    came_back = "\nthey came back to zero: nothing separates the data" * proved
    return f"All weights are zero: every row {answer}{came_back}"


def wrong_words(wrong: np.ndarray, on_boundary: np.ndarray) -> str:
    """Return text with the numbers of wrong predictions and of rows on the boundary, or "" if both are 0.

    >>> wrong_words(np.array([True, False]), np.array([True, True])), wrong_words(np.zeros(2, bool), np.zeros(2, bool))
    ('1 of 2 rows wrong, 2 on the boundary', '')
    """
    count = f"{wrong.sum():,} of {count_of(len(wrong), 'row')}"
    if on_boundary.any():
        return f"{count} wrong, {on_boundary.sum():,} on the boundary"
    return f"{count} on the wrong side" if wrong.any() else ""
