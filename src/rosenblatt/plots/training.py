"""Pictures of what a run did and what it learned: mistakes by pass, weights, the data seen along w.

Blue and filled stands for the positive class (the second of ``classes_``), orange and hatched for the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.inspection.geometry import distance, linear_rule
from rosenblatt.inspection.pipelines import feature_labels
from rosenblatt.inspection.predictions import extremes
from rosenblatt.parameters import check_integer
from rosenblatt.plots.axes import (
    BLUE,
    DARK,
    DOTS_UP_TO,
    ORANGE,
    Axes,
    axes_for,
    check_labels,
    evenly_chosen,
    import_matplotlib,
    tidy,
    whole_ticks,
)

_MINUS = "\N{MINUS SIGN}"
_SIGNS_UP_TO = 150  # an image of up to so many weights carries their signs as letters too


def plot_history(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the mistakes made during each pass, and the error on held-out rows where there is one.

    Parameters
    ----------
    model : fitted Perceptron, AveragedPerceptron or VotedPerceptron
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> ax = plot_history(Perceptron(shuffle=False).fit([[1], [0]], [1, -1]))
    >>> ax.get_title()
    'Separated: pass 4 made no mistake'
    """
    if not hasattr(model, "history_"):
        raise ValueError(f"plot_history needs a fitted perceptron, which {type(model).__name__} is not.")
    history = model.history_
    mistakes = history["mistakes"]
    last = len(mistakes)
    passes = np.arange(1, last + 1)
    ax = axes_for(ax)
    dots = "o" if last <= DOTS_UP_TO else ""
    lines = ax.plot(passes, mistakes, color=BLUE, marker=dots, label="mistakes during the pass")
    if mistakes[-1] == 0:
        # not a verdict by itself: partial_fit may see part of the data, early stopping may keep another pass
        title = f"Separated: pass {last} made no mistake" if model.converged_ else f"Pass {last} made no mistake"
        lines += ax.plot(last, 0, "*", color=DARK, markersize=14, label="a pass without a mistake")
    else:
        left = int(mistakes[-1])
        title = f"Not separated: {left:,} mistake{'' if left == 1 else 's'} in pass {last}"
    ax.set(title=title, xlabel="pass over the data", ylabel="mistakes during the pass")
    ax.set_xlim(1 - 0.04 * last, last + 0.04 * last)
    _from_zero(ax, mistakes)
    whole_ticks(ax)
    tidy(ax)
    if "validation_error" in (history.dtype.names or ()):
        twin = ax.twinx()
        percent = 100 * history["validation_error"]
        lines += twin.plot(passes, percent, "--", color=ORANGE, marker=dots and "s", label="held-out error")
        twin.set_ylabel("error on held-out rows after the pass (%)")
        _from_zero(twin, percent)
        twin.spines[["top", "left"]].set_visible(False)
    if len(lines) > 1:
        ax.legend(handles=lines, frameon=False)
    return ax


def plot_projection(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the rows of ``X`` along w as one dimension, with the boundary at zero: CIML figure 4.7.

    Each row is placed at its signed distance to the boundary, (w.x + b) / |w|. Above, how each class is
    spread; below, a mark for each row. The title says what the run proved about the margin, or how many rows
    lie on the wrong side.

    Parameters
    ----------
    model : fitted linear model of two classes
    X, y : rows and their labels
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[3, 4], [1, 2], [-3, -4]], ["yes", "yes", "no"]
    >>> ax = plot_projection(Perceptron(shuffle=False).fit(X, y), X, y)
    >>> ax.get_xlabel()
    'signed distance to the boundary, (w.x + b) / |w|'
    """
    places = distance(model, X)
    labels = check_labels(y, len(places), model.classes_)
    ax = axes_for(ax)
    bins = _bins_with_an_edge_at_zero(places)
    styles = ((ORANGE, "////", "^"), (BLUE, None, "o"))
    counts = [np.histogram(places[labels == label], bins)[0] for label in model.classes_]
    tallest = max(100 * float(count.max()) / max(1, int(count.sum())) for count in counts)
    for k, (label, (colour, hatch, marker)) in enumerate(zip(model.classes_.tolist(), styles, strict=True)):
        own = np.sort(places[labels == label])
        share = np.full(len(own), 100 / max(1, len(own)))  # so that a small class shows beside a large one
        look = {"facecolor": (colour, 0.3), "edgecolor": colour, "hatch": hatch, "linewidth": 1.5}
        ax.hist(own, _around(bins, own), weights=share, histtype="stepfilled", **look)
        marks = own[evenly_chosen(len(own))]
        below = np.full(len(marks), (-0.06 - 0.07 * k) * tallest)
        ax.plot(marks, below, marker, color=colour, alpha=0.4, markersize=5, label=f"{label} ({len(own):,})")
        words, side = (f"answer {label} \u2190  ", "right") if k == 0 else (f"  \u2192 answer {label}", "left")
        ax.text(0, 1.13 * tallest, words, color=DARK, ha=side, va="center")
    ax.axvline(0, color=DARK, linewidth=1.5)
    ax.axhline(0, color=DARK, linewidth=0.8)
    ax.set(
        title=_margin_words(model, places, labels),
        xlabel="signed distance to the boundary, (w.x + b) / |w|",
        ylabel="share of the class (%)",
        ylim=(-0.2 * tallest, 1.2 * tallest),
    )
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= tallest])
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, markerscale=1.4)
    tidy(ax)
    return ax


def plot_weights(
    model: Any,
    shape: tuple[int, int] | None = None,
    ax: Axes | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    top: int = 10,
    label: Any = None,
) -> Axes:
    """Draw the weights: the largest and smallest as named bars or, with a ``shape``, all of them as an image.

    Parameters
    ----------
    model : fitted linear model
        For a vote the averaged weights are drawn, and the title says so.
    shape : (rows, columns), optional
        How to lay out the weights, for features that are the pixels of an image.
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.
    feature_names, top
        As for `explain`; for bars.
    label : optional
        Whose weights to draw, where there are more than two classes.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> ax = plot_weights(model, feature_names=["bad", "good", "film"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['good', 'film', 'bad']
    """
    rule = linear_rule(model)
    if len(rule.w) > 1 and label not in rule.classes:
        raise ValueError(f"pick whose weights to draw with label=, one of {rule.classes}: got {label!r}.")
    w = rule.w[rule.classes.index(label) if len(rule.w) > 1 else 0]
    negative, positive = "against", "for"
    if len(rule.w) > 1:
        negative, positive = f"not {label}", f"{label}"
    elif len(rule.classes) == 2:
        negative, positive = map(str, rule.classes)
    kind = "Averaged weights of a vote" if rule.averaged else "Weights"
    if shape is None:
        check_integer("top", top, 1)
        names = feature_labels(model, len(w), feature_names)
        ax = axes_for(ax)
        _bars(ax, w, names, top)
        ax.set_xlabel(f"weight:  {_MINUS} speaks for {negative},  + for {positive}")
    else:
        if math.prod(shape) != len(w) or len(shape) != 2:
            raise ValueError(f"a {' by '.join(map(str, shape))} image does not hold the {len(w)} weights.")
        ax = axes_for(ax)
        _image(ax, w.reshape(shape))
        ax.set_xlabel(f"{_MINUS} (orange) speaks for {negative},\n+ (blue) for {positive}")
    ax.set_title(kind)
    return ax


def _bars(ax: Axes, w: np.ndarray, names: list[str], top: int) -> None:
    """Draw bars from the largest weight at the top to the smallest, hatched where negative."""
    shown = extremes(w, top)
    values = w[shown]
    heights = np.arange(len(shown), dtype=float)
    if len(shown) < len(w):
        heights[top:] += 1  # a gap where the features between are left out
        left_out = f"{len(w) - len(shown):,} features between"
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(0, top, left_out, ha="center", va="center", style="italic", bbox=paper, zorder=3)
    bars = ax.barh(heights, values, color=np.where(values < 0, ORANGE, BLUE))
    for bar, value in zip(bars, values, strict=True):
        bar.set_hatch("////" if value < 0 else "")
    ax.axvline(0, color=DARK, linewidth=1)
    ax.set_yticks(heights, [names[i] for i in shown])
    ax.invert_yaxis()
    tidy(ax)


def _image(ax: Axes, w: np.ndarray) -> None:
    """Draw weights as an image from orange through white to blue, with their signs where there is room."""
    colours = import_matplotlib("colors").LinearSegmentedColormap.from_list("signed", [ORANGE, "#FFFFFF", BLUE])
    largest = float(np.max(np.abs(w), initial=0.0)) or 1.0
    image = ax.imshow(w, cmap=colours, vmin=-largest, vmax=largest)
    if w.size <= _SIGNS_UP_TO:
        for (row, column), value in np.ndenumerate(w):
            if abs(value) >= largest / 20:
                ink = "white" if value > 0.6 * largest else DARK
                ax.text(column, row, "+" if value > 0 else _MINUS, ha="center", va="center", color=ink)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="weight")
    whole_ticks(ax)


def _margin_words(model: Any, places: np.ndarray, labels: np.ndarray) -> str:
    """Return what the picture shows of the margin, in words."""
    signed = np.where(labels == model.classes_[1], places, -places)
    wrong = int((signed <= 0).sum())
    if wrong:
        return f"{wrong:,} of {len(places):,} examples on the wrong side"
    words = f"Separated: the nearest example is {signed.min():.3g} from the boundary"
    report = getattr(model, "report_", None)
    if report is not None and report.converged:
        space = "bias as a feature" if report.fit_intercept else "through the origin"
        words += f"\nbest margin in training, {space}: {report.margin_low:.3g} to {report.margin_high:.3g}"
    return words


def _bins_with_an_edge_at_zero(places: np.ndarray) -> np.ndarray:
    """Return bin edges of which zero is one, so that no bar straddles the boundary."""
    low, high = min(0.0, float(places.min())), max(0.0, float(places.max()))
    width = (high - low) / 30 or 1.0
    return width * np.arange(math.floor(low / width), math.ceil(high / width) + 1)


def _around(bins: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the bins that sorted values fall into, so that no outline runs along the axis where none are."""
    if len(values) == 0:
        return bins
    first = int(np.searchsorted(bins, values[0], side="right")) - 1
    last = int(np.searchsorted(bins, values[-1], side="left"))
    return bins[max(0, first) : max(first + 2, last + 1)]


def _from_zero(ax: Axes, values: np.ndarray) -> None:
    """Let the vertical axis start a little below zero, so that a mark at zero is seen whole."""
    largest = max(1.0, float(np.nanmax(values, initial=0)))
    ax.set_ylim(-0.05 * largest, 1.07 * largest)
