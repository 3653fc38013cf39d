"""Plot of the data projected onto w: the signed distance of each row to the boundary.

The positive class (the second of ``classes_``) is drawn in blue, the negative class in orange with hatching.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.inspection.explain import split_pipeline, through_model
from rosenblatt.inspection.geometry import check_two_classes, distance, linear_rule, unit_weights
from rosenblatt.messages import count_of, evenly_spaced
from rosenblatt.plots import axes
from rosenblatt.plots.axes import BLUE, MARKS_UP_TO, ORANGE, Axes, axes_for, closes_on_error, ink, shown_name
from rosenblatt.plots.plane_parts import draw_legend, halo
from rosenblatt.theory.inputs import true_minus

_TITLE = 9  # font size of the title, in points, small enough for two lines in a column of a page
_STYLES = ((ORANGE, "////", "^"), (BLUE, None, "o"))


@closes_on_error
def plot_projection(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the rows projected onto the weight vector w, with the boundary at zero, as in CIML figure 4.7.

    Each row is drawn at its signed distance to the boundary, (w·x + b) / |w|. The upper part of the plot shows the
    distribution of each class, and the lower part a mark for each row. If there is a bias, an axis at the top shows
    w·x / |w|, and a dotted line marks its zero. The bias shifts the boundary from there to -b / |w| (CIML figure 4.8).

    If all rows are classified correctly, the title gives the distance of the nearest row and, for a run that converged,
    the proved bounds on the largest margin. Otherwise it gives the number of misclassified rows. If all weights are
    zero, there is no direction to project onto, and all rows are drawn at the same place.

    Parameters
    ----------
    model : fitted linear model of two classes, or a pipeline that ends in one
        For a pipeline, distances are measured after its earlier steps.
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        Rows to draw.
    y : array-like of shape (n,)
        Labels of the rows.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_plane : Draw the rows and the boundary in the plane.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[3, 4], [1, 2], [-3, -4]], ["yes", "yes", "no"]
    >>> ax = plot_projection(Perceptron(shuffle=False).fit(X, y), X, y)
    >>> ax.get_xlabel()
    'signed distance to the boundary, (w·x + b) / |w|'
    """
    steps, learner = split_pipeline(model)
    X = through_model(model, X)
    rule = linear_rule(learner)
    check_two_classes(learner, rule)
    if not rule.w.any():
        return _draw_without_direction(learner, float(rule.b[0]), X, y, axes_for(ax))
    places = distance(learner, X)
    labels = axes.check_labels(y, len(places), learner.classes_)
    ax = axes_for(ax)
    bins = _bins_with_an_edge_at_zero(places)
    counts = [np.histogram(places[labels == label], bins)[0] for label in learner.classes_]
    tallest = max(100 * float(count.max()) / max(1, int(count.sum())) for count in counts)
    for k, (label, (colour, hatch, marker)) in enumerate(zip(learner.classes_.tolist(), _STYLES, strict=True)):
        own = np.sort(places[labels == label])
        share = np.full(len(own), 100 / max(1, len(own)))  # so that a small class is visible too
        look = {"facecolor": (colour, 0.3), "edgecolor": colour, "hatch": hatch, "linewidth": 1.5}
        ax.hist(own, _around(bins, own), weights=share, histtype="stepfilled", **look)
        marks = own[evenly_spaced(len(own), MARKS_UP_TO)]
        below = np.full(len(marks), (-0.06 - 0.07 * k) * tallest)
        name = f"{shown_name(label)} ({len(own):,})"
        ax.plot(marks, below, marker, color=colour, alpha=0.4, markersize=5, label=name)
        answer = shown_name(label, 20)
        words, side = (f"answer {answer} \u2190  ", "right") if k == 0 else (f"  \u2192 answer {answer}", "left")
        ax.text(0, 1.13 * tallest, words, color=ink(), ha=side, va="center", bbox=halo())
    ax.axvline(0, color=ink(), linewidth=1.5, zorder=4)
    ax.axhline(0, color=ink(), linewidth=0.8)
    _show_bias(ax, unit_weights(learner)[1])
    where = "" if steps is None else ", x after the pipeline's steps"
    ax.set_title(_margin_words(learner, places, labels), fontsize=_TITLE)
    ax.set(
        xlabel=f"signed distance to the boundary, (w·x + b) / |w|{where}",
        ylabel="share of the class (%)",
        ylim=(-0.2 * tallest, 1.2 * tallest),
    )
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= tallest])
    draw_legend(ax)
    return ax


def _show_bias(ax: Axes, shift: float) -> None:
    """Draw the line w·x = 0, and an axis of w·x / |w|, on which the boundary lies at -b / |w|; ``shift`` is b / |w|."""
    if not shift:
        return
    low, high = ax.get_xlim()
    if low - (high - low) < shift < high + (high - low):  # unless the line is far outside the plot
        ax.axvline(shift, color=ink(), linewidth=1.2, linestyle=":", label="w·x = 0")
    top = ax.secondary_xaxis("top", functions=(lambda place: place - shift, lambda place: place + shift))
    top.set_xlabel(f"w·x / |w|: the boundary is at −b / |w| = {true_minus(f'{-shift:.3g}')}", fontsize="small")
    top.tick_params(labelsize="small")


def _draw_without_direction(learner: Any, b: float, X: Any, y: Any, ax: Axes) -> Axes:
    """Draw all rows at the activation b, which they share if all weights are zero."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    labels = axes.check_labels(y, n, learner.classes_)
    for k, (label, (colour, _, marker)) in enumerate(zip(learner.classes_.tolist(), _STYLES, strict=True)):
        count = int((labels == label).sum())
        look = {"color": colour, "markersize": 9, "linestyle": "none"}
        ax.plot([b] * min(count, 1), [k] * min(count, 1), marker, label=f"{shown_name(label)} ({count:,})", **look)
        if count:
            ax.annotate(f"all {count_of(count, 'row')}", (b, k), (14, 0), textcoords="offset points", va="center")
    ax.axvline(0, color=ink(), linewidth=1.5)
    ax.set_yticks([])
    reach = 2 * abs(b) or 1.0
    ax.set_title(axes.zero_weights_words(learner, b), fontsize=_TITLE)
    ax.set(
        xlabel="activation, w·x + b, the same for every row",
        xlim=(-reach, reach),
        ylim=(-0.7, 1.7),
    )
    draw_legend(ax)
    ax.spines["left"].set_visible(False)
    return ax


def _margin_words(learner: Any, places: np.ndarray, labels: np.ndarray) -> str:
    """Return the title: the margins and the space in which each is measured, or the number of misclassified rows."""
    signed = np.where(labels == learner.classes_[1], places, -places)
    answers = np.asarray(learner.classes_)[(places > 0).astype(int)]
    wrong = axes.wrong_words(answers != labels, places == 0)
    if wrong:
        return wrong
    words = f"Separated: the nearest row is {signed.min():.3g} away (geometric)"
    report = getattr(learner, "report_", None)
    if report is not None and report.converged:
        bracket = f"{report.margin_low:.3g} to {report.margin_high:.3g}"
        if report.fit_intercept:
            words += f"\nbest margin with the bias as a feature: {bracket}"
        else:
            words += f"\nbest geometric margin through the origin: {bracket}"
    return words


def _bins_with_an_edge_at_zero(places: np.ndarray) -> np.ndarray:
    """Return bin edges that include zero, so that no bar straddles the boundary."""
    low, high = min(0.0, float(places.min())), max(0.0, float(places.max()))
    width = (high - low) / 30 or 1.0
    return width * np.arange(math.floor(low / width), math.ceil(high / width) + 1)


def _around(bins: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the edges of the bins that cover the sorted ``values``, so that no outline is drawn beyond them."""
    if len(values) == 0:
        return bins
    first = min(int(np.searchsorted(bins, values[0], side="right")) - 1, len(bins) - 2)  # the last bin is closed
    last = int(np.searchsorted(bins, values[-1], side="left"))
    return bins[max(0, first) : max(first + 2, last + 1)]
