"""A picture of weights: named bars, or an image.

Blue stands for the positive class (the second of ``classes_``), orange and hatched for the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.inspection.explain import feature_labels, find_units, split_pipeline
from rosenblatt.inspection.geometry import LinearRule, extremes, label_words, linear_rule
from rosenblatt.inspection.support import SupportRule, find_classes, kernel_words, support_rule
from rosenblatt.messages import check_integer, count_of, shorten
from rosenblatt.plots.axes import (
    BLUE,
    DARK,
    ORANGE,
    Axes,
    axes_for,
    backing,
    closes_on_error,
    import_matplotlib,
    ink,
    shown_name,
    tidy,
    whole_ticks,
)
from rosenblatt.plots.plane_parts import (
    Rows,
    dense,
    draw_legend,
    draw_regions,
    draw_rows,
    plane_labels,
    plane_points,
    plane_regions,
)
from rosenblatt.theory.inputs import MINUS

_SIGNS_UP_TO = 150  # an image of up to so many weights carries their signs as letters too


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
    """Draw the weights: the largest and smallest as named bars or, with a ``shape``, all of them as an image.

    Parameters
    ----------
    model : fitted linear model, or a pipeline that ends in one
        For a vote the averaged weights are drawn, and the title says so.
    shape : (rows, columns), optional
        How to lay out the weights, for features that are the pixels of an image.
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.
    feature_names, top
        As for `explain`; for bars.
    label : optional
        The class whose weights to draw, where there are more than two.

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
        ax.set_xlabel(words, loc="right", multialignment="right")  # it may begin below the names of the features
    else:
        if math.prod(shape) != len(w) or len(shape) != 2:
            raise ValueError(f"a {' by '.join(map(str, shape))} image does not hold the {len(w)} weights.")
        ax = axes_for(ax)
        _image(ax, w.reshape(shape))
        ax.set_xlabel(f"{MINUS} (orange) speaks for {negative},\n+ (blue) for {positive}")
    ax.set_title(kind)
    return ax


def _place(label: Any, rule: LinearRule) -> int:
    """Return the place of the line of weights to draw: there is one for two classes, whichever is asked for."""
    if len(rule.w) == 1:
        return 0
    places = find_classes(label, rule.classes)
    if label is None or len(places) != 1:
        names = ", ".join(map(label_words, rule.classes))
        raise ValueError(f"pick whose weights to draw with label=, one of {names}: got {shorten(label)}.")
    return places[0]


def _bars(ax: Axes, w: np.ndarray, names: list[str], top: int) -> None:
    """Draw bars from the largest weight at the top to the smallest, hatched where negative."""
    shown = extremes(w, top)
    values = w[shown]
    heights = np.arange(len(shown), dtype=float)
    if len(shown) < len(w):
        heights[top:] += 1  # a gap where the features between are left out
        left_out = f"{count_of(len(w) - len(shown), 'feature')} between"
        ax.text(0, top, left_out, ha="center", va="center", style="italic", bbox=backing(), zorder=3)
    bars = ax.barh(heights, values, color=np.where(values < 0, ORANGE, BLUE))
    for bar, value in zip(bars, values, strict=True):
        bar.set_hatch("////" if value < 0 else "")
    ax.axvline(0, color=ink(), linewidth=1)
    ax.set_yticks(heights, [shown_name(names[i]) for i in shown])
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
                letter = "white" if value > 0.6 * largest else DARK
                ax.text(column, row, "+" if value > 0 else MINUS, ha="center", va="center", color=letter)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="weight")
    whole_ticks(ax)


# Pictures of models with support rows, in the plane: what they answer where, and which rows they lean on.
#
# Blue circles stand for the positive class (the second of ``classes_``), orange triangles for the other.


# areas in square points: of many support rows the largest circles are smaller
_CIRCLES, _CIRCLE_SIZES = 12_000.0, (48.0, 330.0)
_AROUND = 3.0  # the smallest circle, in marks
_LINES = [48.0, 130.0], [0.5, 1.1]  # the line of circles by the area of the largest


@closes_on_error
def plot_support(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the rows of ``X`` in the plane, what the model answers where, and its support rows by their coefficients.

    The side of each class is tinted lightly and the boundary, where the decision is 0, is a dark line; with more than
    two classes these are the regions of what is predicted. A support row has a dark circle around it, whose area
    grows with the size of its coefficient: that of the hypothesis that predicts, or of the average for a vote, added
    up over the classes where each has its own.

    Parameters
    ----------
    model : fitted KernelPerceptron, or another model with ``support_`` and ``dual_coef_``, such as SVC
        Of two features and up to ten classes. Or a pipeline that ends in one, with the rows it was trained on.
    X, y : rows of two features, and their labels
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made. The legend lies below the axes: a figure of
        your own with ``layout="constrained"`` has room for it.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from rosenblatt.data import make_xor
    >>> X, y = make_xor()
    >>> ax = plot_support(SVC(kernel="poly", degree=2, gamma=1, coef0=1).fit(X, y), X, y)
    >>> print(ax.get_title())
    poly with degree 2, gamma 1, coef0 1
    4 support rows; 0 of 4 rows wrong
    """
    steps, learner = split_pipeline(model)
    rule = support_rule(learner)
    points = plane_points("plot_support", X, learner)
    labels, classes = plane_labels("plot_support", y, len(points), learner)
    support = _support_points(learner, steps, rule, X, points)
    wrong = int((np.asarray(model.predict(X)) != labels).sum())
    ax = axes_for(ax)
    draw_regions(ax, plane_regions(model, X, np.concatenate([points, support]), classes))
    rows = Rows(points, labels, classes)
    draw_rows(ax, rows)
    meaning = _draw_support(ax, rule, support, _AROUND * rows.mark)
    counts = count_of(len(rule.rows), "support row")
    names = [shown_name(name) for name in feature_labels(learner if steps is None else model, 2)]
    title = f"{kernel_words(learner)}\n{counts}; {wrong:,} of {count_of(len(points), 'row')} wrong"
    ax.set_title(title, fontsize="medium")
    ax.set(xlabel=names[0], ylabel=names[1])
    draw_legend(ax, meaning)
    return ax


def _support_points(learner: Any, steps: Any, rule: SupportRule, X: Any, points: np.ndarray) -> np.ndarray:
    """Return where the support rows lie; those of a pipeline are found by their numbers."""
    if not len(rule.rows):
        return np.empty((0, 2))
    vectors = getattr(learner, "support_vectors_", None)
    if steps is None and vectors is not None:
        return dense(vectors)
    known = int(rule.rows.max()) < len(points)
    if known and vectors is not None:
        known = np.allclose(dense(steps.transform(X))[rule.rows], dense(vectors))
    if not known:
        raise ValueError(
            "these support rows are found by their numbers in the rows that the model was trained on, which X is not: "
            "give those rows, or draw the last step of a pipeline with what the steps before make of X."
        )
    return points[rule.rows]


def _draw_support(ax: Axes, rule: SupportRule, support: np.ndarray, smallest: float) -> str:
    """Draw a circle around each support row, below all marks; add some to the legend; return what their areas mean."""
    sizes = np.abs(rule.coefficients).sum(axis=0)
    drawn = sizes > 0
    if not drawn.any():
        return ""
    largest = float(sizes.max())
    area = float(np.clip(_CIRCLES / int(drawn.sum()), *_CIRCLE_SIZES))
    room = area - smallest
    look = {"facecolor": "none", "edgecolor": ink(), "linewidth": float(np.interp(area, *_LINES)), "zorder": 2}
    ax.scatter(*support[drawn].T, s=smallest + room * sizes[drawn] / largest, **look)
    ticks = import_matplotlib("ticker").MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, largest)
    round_sizes = [tick for tick in ticks if 0 < tick <= largest]
    for shown in dict.fromkeys((round_sizes[0], round_sizes[-1]) if sizes[drawn].min() < largest else (largest,)):
        ax.scatter([], [], s=smallest + room * shown / largest, label=f"{shown:.4g}", **look)
    whose = "averaged coefficient" if rule.averaged else "coefficient"
    return f"circles: support rows, area by |{whose}|" + (
        ",\nall classes added up" if len(rule.coefficients) > 1 else ""
    )
