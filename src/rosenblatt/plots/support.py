"""Pictures of models with support rows, in the plane: what they answer where, and which rows they lean on.

Blue circles stand for the positive class (the second of ``classes_``), orange triangles for the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.inspection.pipelines import feature_labels, split_pipeline
from rosenblatt.inspection.support import SupportRule, kernel_words, support_rule
from rosenblatt.plots.axes import (
    BLUE,
    DARK,
    GREEN,
    ORANGE,
    Axes,
    axes_for,
    check_labels,
    evenly_chosen,
    import_matplotlib,
    tidy,
)

_GRID = 240  # the plane is asked at so many places each way
_BORDER = 0.08  # beyond the outermost rows, as a share of their range
_TINT = 0.22
_ALIKE = 3.0  # features whose ranges differ by less are drawn to the same scale
# areas in square points: of many rows marks are smaller, of many support rows the largest circles, too
_MARKS, _MARK_SIZES = 3_200.0, (8.0, 26.0)
_CIRCLES, _CIRCLE_SIZES = 12_000.0, (48.0, 330.0)
_AROUND = 3.0  # the smallest circle, in marks
_LINES = [48.0, 130.0], [0.5, 1.1]  # the line of circles by the area of the largest
_BELOW = 4.0  # the legend, below the axes: in heights of its letters, which do not shrink with the axes
# Okabe and Ito's colours and three of Tol's: told apart with every kind of colour vision; markers do it without any
_LOOKS = (
    *((ORANGE, "^"), (BLUE, "o"), (GREEN, "s"), ("#CC79A7", "D"), ("#56B4E9", "v")),
    *(("#D55E00", "P"), ("#999999", "X"), ("#332288", "<"), ("#F0E442", "h"), ("#882255", "*")),
)


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
    points = _points(X, learner)
    classes = np.asarray(getattr(learner, "classes_", ()))
    if not 2 <= len(classes) <= len(_LOOKS):
        raise ValueError(f"plot_support draws a model of 2 to {len(_LOOKS)} classes, got one of {len(classes)}.")
    labels = check_labels(y, len(points), classes)
    support = _support_points(learner, steps, rule, X, points)
    wrong = int((np.asarray(model.predict(X)) != labels).sum())
    mark = float(np.clip(_MARKS / len(points), *_MARK_SIZES))
    ax = axes_for(ax)
    _draw_regions(ax, model, X, np.concatenate([points, support]), classes)
    for label, (colour, marker) in zip(classes.tolist(), _LOOKS, strict=False):
        own = points[labels == label]
        drawn = own[evenly_chosen(len(own))]
        look = {"color": colour, "edgecolor": DARK, "linewidth": 0.02 * mark, "s": mark, "zorder": 3}
        ax.scatter(*drawn.T, marker=marker, label=f"{label} ({len(own):,})", **look)
    meaning = _draw_support(ax, rule, support, _AROUND * mark)
    counts = f"{len(rule.rows):,} support row{'' if len(rule.rows) == 1 else 's'}"
    names = feature_labels(learner if steps is None else model, 2)
    title = f"{kernel_words(learner)}\n{counts}; {wrong:,} of {len(points):,} rows wrong"
    ax.set_title(title, fontsize="medium")
    ax.set(xlabel=names[0], ylabel=names[1])
    columns = min(5, len(ax.get_legend_handles_labels()[0]))
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": _BELOW, "ncols": columns}
    letters = {"fontsize": "small", "title_fontsize": "small", "columnspacing": 1.2}
    ax.legend(frameon=False, title=meaning, **below, **letters)
    tidy(ax)
    _lay_out(ax)
    return ax


def _lay_out(ax: Axes) -> None:
    """Lay out a constrained figure once more than drawing it does: at first axes to scale are taken for too tall."""
    layout = ax.figure.get_layout_engine()
    if isinstance(layout, import_matplotlib("layout_engine").ConstrainedLayoutEngine):
        layout.execute(ax.figure.figure)


def _points(X: Any, learner: Any) -> np.ndarray:
    """Return the rows as an array of two columns."""
    if isinstance(getattr(learner, "kernel", None), str) and learner.kernel == "precomputed":
        raise ValueError("plot_support draws rows of two features, which a precomputed kernel does not have.")
    points = _dense(X)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(f"plot_support draws rows of two features, got shape {points.shape}.")
    return points


def _support_points(learner: Any, steps: Any, rule: SupportRule, X: Any, points: np.ndarray) -> np.ndarray:
    """Return where the support rows lie; those of a pipeline are found by their numbers."""
    if not len(rule.rows):
        return np.empty((0, 2))
    vectors = getattr(learner, "support_vectors_", None)
    if steps is None and vectors is not None:
        return _dense(vectors)
    known = int(rule.rows.max()) < len(points)
    if known and vectors is not None:
        known = np.allclose(_dense(steps.transform(X))[rule.rows], _dense(vectors))
    if not known:
        raise ValueError(
            "these support rows are found by their numbers in the rows that the model was trained on, which X is not: "
            "give those rows, or draw the last step of a pipeline with what the steps before make of X."
        )
    return points[rule.rows]


def _draw_regions(ax: Axes, model: Any, X: Any, points: np.ndarray, classes: np.ndarray) -> None:
    """Tint what the model answers where, with a dark line in between, and set the limits of the axes."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    low, high = low - _BORDER * span, high + _BORDER * span
    sides = [np.linspace(low[i], high[i], _GRID) for i in range(2)]
    places = np.column_stack([side.ravel() for side in np.meshgrid(*sides)])
    grid = _like(X, places)
    if len(classes) == 2:
        decision = np.ravel(model.decision_function(grid)).reshape(_GRID, _GRID)
        lines, regions = [decision], [-decision, decision]
    else:
        answers = np.asarray(model.predict(grid)).reshape(_GRID, _GRID)
        lines = regions = [np.where(answers == label, 1.0, -1.0) for label in classes]
    for region, (colour, _) in zip(regions, _LOOKS, strict=False):
        if region.max() > 0:
            ax.contourf(*sides, region, levels=[0, region.max()], colors=[colour], alpha=_TINT, zorder=0)
    for line in lines:
        if line.min() < 0 < line.max():
            ax.contour(*sides, line, levels=[0], colors=DARK, linewidths=1.4, zorder=1)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    if 1 / _ALIKE < span[0] / span[1] < _ALIKE:
        ax.set_aspect("equal")


def _draw_support(ax: Axes, rule: SupportRule, support: np.ndarray, smallest: float) -> str:
    """Draw a circle around each support row, below all marks; add some to the legend; return what their areas mean."""
    sizes = np.abs(rule.coefficients).sum(axis=0)
    drawn = sizes > 0
    if not drawn.any():
        return ""
    largest = float(sizes.max())
    area = float(np.clip(_CIRCLES / int(drawn.sum()), *_CIRCLE_SIZES))
    room = area - smallest
    look = {"facecolor": "none", "edgecolor": DARK, "linewidth": float(np.interp(area, *_LINES)), "zorder": 2}
    ax.scatter(*support[drawn].T, s=smallest + room * sizes[drawn] / largest, **look)
    ticks = import_matplotlib("ticker").MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, largest)
    round_sizes = [tick for tick in ticks if 0 < tick <= largest]
    for shown in dict.fromkeys((round_sizes[0], round_sizes[-1]) if sizes[drawn].min() < largest else (largest,)):
        ax.scatter([], [], s=smallest + room * shown / largest, label=f"{shown:.4g}", **look)
    whose = "averaged coefficient" if rule.averaged else "coefficient"
    return f"circles: support rows, area by |{whose}|" + (
        ",\nall classes added up" if len(rule.coefficients) > 1 else ""
    )


def _like(X: Any, places: np.ndarray) -> Any:
    """Return places as rows of the kind of ``X``: a frame with its names, or an array."""
    if not hasattr(X, "columns"):
        return places
    return type(X)({name: places[:, i] for i, name in enumerate(X.columns)})


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
