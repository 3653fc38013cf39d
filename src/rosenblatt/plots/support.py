"""Pictures of models with support rows, in the plane: what they answer where, and which rows they lean on.

Blue circles stand for the positive class (the second of ``classes_``), orange triangles for the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.inspection.pipelines import feature_labels, split_pipeline
from rosenblatt.inspection.support import SupportRule, kernel_words, support_rule
from rosenblatt.plots.axes import Axes, axes_for, closes_on_error, import_matplotlib, ink, shown_name
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
from rosenblatt.plurals import count_of

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
