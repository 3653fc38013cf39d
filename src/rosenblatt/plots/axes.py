"""What all pictures share: colours, names, axes and ticks; matplotlib is imported here, when a picture is drawn."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from types import ModuleType
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np

from rosenblatt.html import DOTS_UP_TO as DOTS_UP_TO
from rosenblatt.inspection.contributions import LinearParts, linear_parts
from rosenblatt.inspection.geometry import label_words
from rosenblatt.messages import label_text
from rosenblatt.theory.inputs import check_labels as labels_of_rows
from rosenblatt.theory.inputs import shown_number

P = ParamSpec("P")
R = TypeVar("R")
Axes: TypeAlias = Any  # matplotlib's, which may not be installed

# Okabe and Ito's colours, told apart with every kind of colour vision
BLUE, ORANGE, GREEN, DARK = "#0072B2", "#E69F00", "#009E73", "#333333"
MARKS_UP_TO = 2000  # a class of more rows than this gets so many marks, evenly chosen, as more would not be seen
_BRIGHTNESS = 0.299, 0.587, 0.114  # the shares of red, green and blue
_MADE: ContextVar[list[Any]] = ContextVar("_MADE")  # the figures that the function that draws has made


def axes_for(ax: Axes | None, in_space: bool = False) -> Axes:
    """Return ``ax``, or the axes of a new figure where it is None: plain ones, or of three dimensions ``in_space``."""
    if ax is None:
        projection = "3d" if in_space else "rectilinear"
        return new_figure().subplots(subplot_kw={"projection": projection})
    check_axes(ax, in_space)
    return ax


def pair_of_axes(name: str, axes: Any, size: tuple[float, float]) -> np.ndarray:
    """Return two axes as given, or those of a new figure of a size in inches where ``axes`` is None."""
    if axes is None:
        return np.ravel(new_figure(size).subplots(1, 2))
    pair = np.ravel(np.asarray(axes, dtype=object))
    if len(pair) != 2:
        raise ValueError(f"{name} draws on two axes, got {len(pair)}: make them by plt.subplots(1, 2).")
    for ax in pair:
        check_axes(ax)
    return pair


def check_axes(ax: Any, in_space: bool = False) -> None:
    """Raise a TypeError for what is not matplotlib's Axes, a ValueError for polar ones or another dimension."""
    how = 'figure.add_subplot(projection="3d")' if in_space else "plt.subplots()"
    if not isinstance(ax, import_matplotlib("axes").Axes):
        raise TypeError(f"expected matplotlib Axes to draw on, got {type(ax).__name__}: make them by {how}.")
    if (ax.name == "3d") != in_space or not {"left", "right", "top", "bottom"} <= set(ax.spines):
        wanted = "three dimensions" if in_space else "two dimensions"
        kind = "plain" if ax.name == "rectilinear" else ax.name
        raise ValueError(f"expected matplotlib Axes of {wanted}, got {kind} ones: make them by {how}.")


def closes_on_error(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that draws close the figures that it made where it fails or is interrupted."""

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
        _MADE.get([]).extend(made)  # they are also those of a function around this one
        return result

    return drawn


def new_figure(size: tuple[float, float] | None = None) -> Any:
    """Return a new figure of pyplot, of a size in inches if it is given."""
    figure = import_matplotlib("pyplot").figure(figsize=size, layout="constrained")
    _MADE.get([]).append(figure)
    return figure


def ink(on_light: str = DARK) -> Any:
    """Return the colour of lines and letters: ``on_light`` where the style's paper is light, else that of its text."""
    light = float(np.dot(paper()[:3], _BRIGHTNESS)) > 0.5
    return on_light if light else import_matplotlib().rcParams["text.color"]


def paper(alpha: float = 1.0) -> tuple[float, ...]:
    """Return the colour that the style of matplotlib has behind a picture, which lets through what ``alpha`` leaves."""
    settings, colours = import_matplotlib().rcParams, import_matplotlib("colors")
    *colour, seen = colours.to_rgba(settings["axes.facecolor"])
    return (*(colour if seen else colours.to_rgb(settings["figure.facecolor"])), alpha)


def backing() -> dict[str, Any]:
    """Return what lies behind words that stand on a line."""
    return {"facecolor": paper(), "edgecolor": "none", "pad": 1.5}


def shown_name(name: Any, most: int = 40) -> str:
    """Return a label or a name as matplotlib shows it as it is: no mathematics, no hidden name, not too long.

    >>> print(shown_name("US$ and C$"), shown_name("_hidden"), shown_name(1.0), shown_name("a" * 50, 8))
    US\\$ and C\\$  _hidden 1 aaaaaaa…
    """
    text = " ".join(label_text(name).split())
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return f"{' ' * text.startswith('_')}{text}".replace("$", r"\$")


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


def import_matplotlib(part: str = "") -> ModuleType:
    """Import matplotlib or a part of it, which is an optional dependency."""
    try:
        return importlib.import_module(f"matplotlib.{part}" if part else "matplotlib")
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'rosenblatt[plots]'.") from error


# The parts of one prediction that a picture has room for: the largest, and all others as one.


MOST = 8
"""The features that are shown; of more, those that add the most."""


class Part(NamedTuple):
    """A feature with its value and weight, which are None for all others taken together, and their product."""

    name: str
    value: float | None
    weight: float | None
    product: float


class OnePrediction(NamedTuple):
    """What a picture shows of one prediction."""

    parts: list[Part]
    bias: float
    activation: float
    answer: str
    """What is predicted, in words; on the boundary, the label is undefined."""
    rule: str
    """What decides, in a few words: the sign of the activation or, of more than two classes, the largest score."""
    title: str
    """What is predicted, and by which rule."""


def shown_parts(model: Any, x: Any, feature_names: Sequence[str] | None = None) -> OnePrediction:
    """Return the features of one row in their order, or those that add the most and the others as one.

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
    return shown_name(label_words(found.answer), 20)


def _rule(found: LinearParts, activation: float) -> tuple[str, str]:
    """Return what decides, in a few words, and the title: the sign for two classes, otherwise the largest score."""
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
