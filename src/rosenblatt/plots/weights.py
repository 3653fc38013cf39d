"""Plot of the weights as named bars or as an image.

Positive weights, which favour the second of ``classes_``, are blue; negative weights are orange and, as bars, hatched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.inspection.explain import feature_labels, find_units, split_pipeline
from rosenblatt.inspection.geometry import LinearRule, extremes, label_words, linear_rule
from rosenblatt.inspection.support import find_classes
from rosenblatt.messages import check_integer, count_of, shorten
from rosenblatt.plots import axes
from rosenblatt.plots.axes import BLUE, DARK, ORANGE, Axes, axes_for, closes_on_error, ink, shown_name
from rosenblatt.theory.inputs import MINUS

_SIGNS_UP_TO = 150  # an image of at most this many weights also shows their signs


@closes_on_error
def plot_weights(
    model: Any,
    shape: tuple[int, int] | None = None,
    ax: Axes | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    top: int = 10,
    label: Any = None,
) -> Axes:
    """Draw the largest and smallest weights as named bars or, if ``shape`` is given, all weights as an image.

    Parameters
    ----------
    model : fitted linear model, or a pipeline that ends in one
        For a model that votes, the averaged weights are drawn, as the title states.
    shape : tuple (rows, columns), default=None
        Shape of the image, for features that are pixels. None draws bars.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.
    feature_names : sequence of str, default=None
        A name for each feature, shown with bars. None uses ``model.feature_names_in_``, the output names of the earlier
        pipeline steps, or x0, x1, ...
    top : int, default=10
        Number of bars at each end: the ``top`` largest and the ``top`` smallest weights are drawn.
    label : str, int or bool, default=None
        The class whose weights are drawn. Required for more than two classes.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    rosenblatt.explain : The same weights as a table.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
    >>> ax = plot_weights(model, feature_names=["bad", "good", "film"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['good', 'film', 'bad']
    """
    steps, learner = split_pipeline(model)
    rule = linear_rule(learner)
    k = _place(label, rule)
    w = rule.w[k]
    negative, positive = "against", "for"
    if len(rule.w) > 1:
        negative, positive = f"not {shown_name(rule.classes[k])}", shown_name(rule.classes[k])
    elif len(rule.classes) == 2:
        negative, positive = map(shown_name, rule.classes)
    kind = "Averaged weights of a vote" if rule.averaged else "Weights"
    scaled = find_units(steps, learner, len(w)) is not None
    if shape is None:
        check_integer("top", top, 1)
        names = feature_labels(learner, len(w), feature_names, steps)
        ax = axes_for(ax)
        _bars(ax, w, names, top)
        words = f"weight{' of the scaled feature' * scaled}:\n{MINUS} speaks for {negative},  + for {positive}"
        # aligned to the right, the label may extend to the left below the feature names
        ax.set_xlabel(words, loc="right", multialignment="right")
    else:
        if math.prod(shape) != len(w) or len(shape) != 2:
            raise ValueError(
                f"an image of {' by '.join(map(str, shape))} pixels does not match the {len(w)} weights: give "
                "shape=(rows, columns) with one pixel for each weight."
            )
        ax = axes_for(ax)
        _image(ax, w.reshape(shape))
        ax.set_xlabel(f"{MINUS} (orange) speaks for {negative},\n+ (blue) for {positive}")
    ax.set_title(kind)
    return ax


def _place(label: Any, rule: LinearRule) -> int:
    """Return the index of the weight vector of the class ``label``; for two classes the index is 0."""
    if len(rule.w) == 1:
        return 0
    places = find_classes(label, rule.classes)
    if label is None or len(places) != 1:
        names = ", ".join(map(label_words, rule.classes))
        raise ValueError(f"label must be one of {names}, the class whose weights are drawn, got {shorten(label)}.")
    return places[0]


def _bars(ax: Axes, w: np.ndarray, names: list[str], top: int) -> None:
    """Draw bars from the largest weight at the top to the smallest at the bottom; negative bars are hatched."""
    shown = extremes(w, top)
    values = w[shown]
    heights = np.arange(len(shown), dtype=float)
    if len(shown) < len(w):
        heights[top:] += 1  # leaves a gap for the features that are omitted
        left_out = f"{count_of(len(w) - len(shown), 'feature')} between"
        ax.text(0, top, left_out, ha="center", va="center", style="italic", bbox=axes.backing(), zorder=3)
    bars = ax.barh(heights, values, color=np.where(values < 0, ORANGE, BLUE))
    for bar, value in zip(bars, values, strict=True):
        bar.set_hatch("////" if value < 0 else "")
    ax.axvline(0, color=ink(), linewidth=1)
    ax.set_yticks(heights, [shown_name(names[i]) for i in shown])
    ax.invert_yaxis()
    axes.tidy(ax)


def _image(ax: Axes, w: np.ndarray) -> None:
    """Draw weights as an image, from orange (negative) through white to blue (positive).

    If there are only a few weights, their signs are drawn too.
    """
    colours = axes.import_matplotlib("colors").LinearSegmentedColormap.from_list("signed", [ORANGE, "#FFFFFF", BLUE])
    largest = float(np.max(np.abs(w), initial=0.0)) or 1.0
    image = ax.imshow(w, cmap=colours, vmin=-largest, vmax=largest)
    if w.size <= _SIGNS_UP_TO:
        for (row, column), value in np.ndenumerate(w):
            if abs(value) >= largest / 20:
                letter = "white" if value > 0.6 * largest else DARK
                ax.text(column, row, "+" if value > 0 else MINUS, ha="center", va="center", color=letter)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="weight")
    axes.whole_ticks(ax)
