"""Plots of a model in the plane: rows of two features, decision regions, the boundary, its margin, and w.

Blue circles show the positive class (the second of ``classes_``) and orange triangles the negative class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from rosenblatt.estimators.prepared import prepare
from rosenblatt.inspection.explain import feature_labels, split_pipeline, through_steps
from rosenblatt.inspection.geometry import LinearRule, distance, linear_rule, unit_weights
from rosenblatt.inspection.support import SupportRule, kernel_words, support_rule
from rosenblatt.messages import count_of, percent
from rosenblatt.plots import plane_parts as parts
from rosenblatt.plots.axes import (
    Axes,
    axes_for,
    closes_on_error,
    import_matplotlib,
    ink,
    wrong_words,
    zero_weights_words,
)
from rosenblatt.plots.plane_parts import Frame, Line, Regions, Rows

_NEAREST = 1e-9  # rows whose distance exceeds the margin by at most this share count as nearest
_HATCH = "////"
_AVERAGE = {"linestyle": parts.BROKEN, "linewidth": 1.6}
"""The style of the boundary of the averaged weights."""
# the area of the largest circle in square points: the first number divided by the number of support rows, clipped to
# these limits
_CIRCLES, _CIRCLE_SIZES = 12_000.0, (48.0, 330.0)
_AROUND = 3.0  # the area of the smallest circle, as a multiple of the area of a mark
_LINES = [48.0, 130.0], [0.5, 1.1]  # areas of the largest circle and corresponding line widths, for interpolation


@dataclass(eq=False)
class PlaneDisplay:
    """The plot that `plot_plane` draws, as a scikit-learn display object.

    Create it with ``from_estimator``, which also draws it. The method ``plot`` draws it again on other axes.

    Attributes
    ----------
    points : array of shape (n, 2)
        The rows.
    labels : array of shape (n,)
        The labels of the rows.
    classes : array
        The classes of the model.
    feature_names : list of str
        The names of the two features.
    regions : Regions
        The decision regions.
    line : Line or None
        The decision boundary as a line, or None if it is not known to be straight.
    margin : float or None
        The distance of the nearest row to the line, or None if some row is not strictly on the correct side.
    ringed : array of bool of shape (n,)
        The rows with rings: the nearest rows if there is a margin, otherwise the misclassified rows.
    on_boundary : array of bool of shape (n,)
        The rows whose activation is exactly 0, if the boundary is a line.
    projections : bool
        Whether the projections of the rows onto the line through w are drawn.
    title : str
        The title of the plot.
    ax_ : matplotlib Axes
        The axes of the last ``plot``.
    figure_ : matplotlib Figure
        The figure of the last ``plot``.

    See Also
    --------
    plot_plane : Draw the same plot and return its axes.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]  # AND
    >>> display = PlaneDisplay.from_estimator(Perceptron(shuffle=False).fit(X, y), X, y)
    >>> round(display.margin, 4), display.ringed.tolist()
    (0.2774, [False, False, True, True])
    """

    points: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    feature_names: list[str]
    regions: Regions
    line: Line | None
    margin: float | None
    ringed: np.ndarray
    on_boundary: np.ndarray
    projections: bool
    title: str
    ax_: Axes = field(init=False, default=None, repr=False)
    figure_: Any = field(init=False, default=None, repr=False)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, ax: Axes | None = None, projections: bool = False
    ) -> PlaneDisplay:
        """Compute the plot of a fitted model and draw it.

        Parameters
        ----------
        model, X, y, ax, projections
            As for `plot_plane`.

        Returns
        -------
        display : PlaneDisplay
            The display, already drawn.
        """
        steps, learner = split_pipeline(model)
        X = prepare(learner, X) if steps is None else X
        points, labels, classes = parts.plane_rows("plot_plane", X, y, learner)
        rule = _rule_of_two_classes(learner) if steps is None else None
        line = Line(*unit_weights(learner)) if rule is not None and rule.w.any() else None
        shown = points
        if projections:
            shown = np.concatenate([points, _feet(line, points)])
        margin, ringed, tied = None, np.asarray(model.predict(X)) != labels, np.zeros(len(points), bool)
        if rule is not None:
            far = distance(learner, X) if line is not None else np.ravel(model.decision_function(X))
            sides, tied = np.where(labels == classes[1], 1.0, -1.0) * far, far == 0
            if line is not None and sides.min() > 0:
                margin = float(sides.min())
                ringed = sides <= margin * (1 + _NEAREST) + line.rounding(points)
        display = cls(
            points=points,
            labels=labels,
            classes=classes,
            feature_names=feature_labels(learner if steps is None else model, 2),
            regions=parts.plane_regions(model, X, shown, classes),
            line=line,
            margin=margin,
            ringed=ringed,
            on_boundary=tied,
            projections=projections,
            title=_title(learner, rule, margin, ringed, tied),
        )
        return display.plot(ax)

    @closes_on_error
    def plot(self, ax: Axes | None = None) -> PlaneDisplay:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        display : PlaneDisplay
            This display.
        """
        ax = axes_for(ax)
        frame = self.regions.frame
        parts.draw_regions(ax, self.regions)
        rows = Rows(self.points, self.labels, self.classes)
        parts.draw_rows(ax, rows)
        if self.line is not None and self.margin is not None:
            parts.draw_band(ax, self.line, frame, self.margin, "margin")
        what = "wrong" if self.margin is None else "nearest"
        parts.draw_rings(ax, self.points[self.ringed], rows.mark, f"{what} ({self.ringed.sum():,})")
        tied = self.points[self.on_boundary]
        parts.draw_rings(ax, tied, rows.mark, f"on the boundary ({len(tied):,})", marker="s", linestyle=":")
        if self.line is not None:
            own = Frame.around(self.points)
            if self.projections:
                parts.draw_feet(ax, rows, self.line, _arrow_start(self.line, own))
            parts.draw_w(ax, self.line, own, self.points)
            if not self.line.crosses(frame):
                parts.draw_note(ax, parts.OUT_OF_VIEW)
        parts.finish(ax, self.title, self.feature_names)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plot_plane(model: Any, X: Any, y: Any, ax: Axes | None = None, *, projections: bool = False) -> Axes:
    """Draw rows of two features with the decision regions and the decision boundary of a model.

    An arrow shows the weight vector w of a linear model of two classes. If its boundary strictly separates the classes,
    a hatched band shows the geometric margin, and rings mark the rows nearest to the boundary. Otherwise rings mark
    misclassified rows, and squares mark rows on the boundary. The boundary of a kernel perceptron, a vote or a pipeline
    may be curved, so it is drawn without the margin and w. If the ranges of the features differ by a factor of five or
    more, the axes get different scales. Then w is omitted, because it would not be at a right angle to the boundary.

    Parameters
    ----------
    model : fitted classifier, or a pipeline that ends in one
        A model of two features and at most ten classes.
    X : {array-like, sparse matrix, data frame} of shape (n, 2)
        Rows to draw.
    y : array-like of shape (n,)
        Labels of the rows.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure. The legend is placed below the axes, so create your own figure with
        ``layout="constrained"`` to leave space for it.
    projections : bool, default=False
        Whether to draw the projection of each row onto the line through w, as in CIML figure 4.7. This requires a
        straight boundary and features with similar ranges.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_projection : Draw the projections along one axis.
    plot_support : Draw the support rows of a kernel perceptron.
    plot_votes : Compare a vote with the averaged weights.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]  # AND
    >>> ax = plot_plane(Perceptron(shuffle=False).fit(X, y), X, y)
    >>> print(ax.get_title())
    Separated: the nearest row is
    0.277 from the boundary (geometric)
    """
    return PlaneDisplay.from_estimator(model, X, y, ax=ax, projections=projections).ax_


def _rule_of_two_classes(learner: Any) -> LinearRule | None:
    """Return the weights of a linear model of two classes, or None for any other model."""
    linear = hasattr(learner, "coef_") and hasattr(learner, "intercept_")
    return linear_rule(learner) if linear and len(learner.classes_) == 2 else None


def _title(
    learner: Any, rule: LinearRule | None, margin: float | None, wrong: np.ndarray, on_boundary: np.ndarray
) -> str:
    """Return the title: the margin, the number of misclassified rows, or the fact that all weights are zero."""
    if margin is not None:
        return f"Separated: the nearest row is\n{margin:.3g} from the boundary (geometric)"
    if rule is not None and not rule.w.any():
        return zero_weights_words(learner, float(rule.b[0]))
    return wrong_words(wrong, on_boundary) or "Separated: every row is on its side"


def _feet(line: Line | None, points: np.ndarray) -> np.ndarray:
    """Return the projection of each row onto the line through w; raise a ValueError if projections cannot be drawn."""
    if line is None:
        raise ValueError(
            "projections need a linear model of two classes with a nonzero weight and without earlier pipeline steps: "
            "leave projections out, or draw such a model."
        )
    frame = Frame.around(points)
    if not frame.one_scale:
        raise ValueError(
            "projections meet the boundary at right angles, which is visible only if the features have similar ranges: "
            "scale the features, or call plot_projection, which draws on a single axis."
        )
    return parts.feet(points, line, _arrow_start(line, frame))


def _arrow_start(line: Line, frame: Frame) -> np.ndarray:
    """Return the start of the arrow for w or, if the line is outside the frame, its point nearest to the middle."""
    ends = line.arrow(frame)
    return line.nearest_to((frame.low + frame.high) / 2) if ends is None else ends[0]


# A vote, compared with the line of its averaged weights (CIML 4.6).


@closes_on_error
def plot_votes(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the decision regions of a vote, the boundary of the averaged weights, and the area where they differ.

    Each weight vector of the training run has a vote, weighted by the number of row visits that it survived unchanged.
    The boundary of the vote therefore consists of pieces of the boundaries of these weight vectors. The region where
    the vote is tied has no tint. The averaged weights give a single line, drawn dashed, which is usually close to the
    boundary of the vote. The area between the two is hatched, and the title gives its share of the plot.

    Parameters
    ----------
    model : fitted VotedPerceptron, or Perceptron with ``hypothesis="vote"``, or a pipeline that ends in one
        A model of two features and two classes.
    X : {array-like, sparse matrix, data frame} of shape (n, 2)
        Rows to draw.
    y : array-like of shape (n,)
        Labels of the rows.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure. The legend is placed below the axes, so create your own figure with
        ``layout="constrained"`` to leave space for it.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_plane : Draw the decision regions of any model of two features.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]  # AND
    >>> ax = plot_votes(VotedPerceptron(shuffle=False).fit(X, y), X, y)
    >>> print(ax.get_title())
    The vote and the average differ
    on 5% of the plotted area
    """
    steps, learner = split_pipeline(model)
    rule = _rule_of_a_vote(learner)
    X = prepare(learner, X) if steps is None else X
    rows = parts.plane_rows("plot_votes", X, y, learner)
    regions = parts.plane_regions(model, X, rows.points, rows.classes)
    places = through_steps(steps, parts.like(X, regions.frame.places()))
    average = np.ravel(safe_sparse_dot(parts.dense(places), rule.w[0])) + rule.b[0]
    average = average.reshape(parts.GRID, parts.GRID)
    differ = (average > 0) != (regions.lines[0] > 0)
    ax = axes_for(ax)
    parts.draw_regions(ax, regions)
    parts.draw_rows(ax, rows)
    sides = regions.frame.sides()
    if differ.any():
        filled = {"levels": [0.5, 1.5], "colors": "none", "hatches": [_HATCH], "zorder": 0.5}
        ax.contourf(*sides, differ.astype(float), **filled).set(edgecolor=(ink(), 0.8), linewidth=0)
    seen = bool(average.min() < 0 < average.max())
    if seen:
        look = {f"{name}s": [value] for name, value in _AVERAGE.items()}
        ax.contour(*sides, average, levels=[0], zorder=1.5, colors=ink(), **look)
    _name_lines(ax, seen, bool(differ.any()))
    share = float(differ.mean())
    words = f"differ\non {percent(share)} of the plotted area" if share else "agree\non the whole plotted area"
    names = feature_labels(learner if steps is None else model, 2)
    parts.finish(ax, f"The vote and the average {words}", names)
    return ax


def _rule_of_a_vote(learner: Any) -> LinearRule:
    """Return the averaged weights of a vote between two classes; raise an error for any other model."""
    rule = linear_rule(learner)
    if not rule.averaged:
        raise TypeError(
            f"plot_votes needs a model that votes, which this {type(learner).__name__} does not: fit a "
            "VotedPerceptron, or call plot_plane."
        )
    if len(rule.classes) != 2:
        raise ValueError(f"plot_votes draws a vote between two classes, got a model of {len(rule.classes)} classes.")
    return rule


def _name_lines(ax: Axes, average: bool, differ: bool) -> None:
    """Add legend entries for the contours and the hatching, since matplotlib does not add them."""
    ax.plot([], [], color=ink(), linewidth=1.4, label="boundary of the vote")
    if average:
        ax.plot([], [], label="line of the average", color=ink(), **_AVERAGE)
    if differ:
        look = {"facecolor": "none", "edgecolor": (ink(), 0.8), "hatch": _HATCH, "linewidth": 0}
        ax.add_patch(import_matplotlib("patches").Rectangle((np.nan, np.nan), 0, 0, label="they differ", **look))


# Models with support rows.


@closes_on_error
def plot_support(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw rows of two features, the decision regions of a kernel model, and the coefficients of its support rows.

    Each region is tinted, and the decision boundary is a dark line. Each support row has a dark circle, whose area
    grows with the absolute value of the row's coefficient, summed over all classes. The coefficients are those used for
    prediction, or for a vote the averaged coefficients.

    Parameters
    ----------
    model : fitted KernelPerceptron, or a pipeline that ends in one
        A model of two features and at most ten classes. Other models with ``support_`` and ``dual_coef_``, such as
        ``SVC``, are supported too.
    X : {array-like, sparse matrix, data frame} of shape (n, 2)
        Rows to draw. For a pipeline they must be the training rows.
    y : array-like of shape (n,)
        Labels of the rows.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure. The legend is placed below the axes, so create your own figure with
        ``layout="constrained"`` to leave space for it.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_plane : Draw the decision regions of any model of two features.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from rosenblatt.data import make_xor
    >>> X, y = make_xor()
    >>> ax = plot_support(SVC(kernel="poly", degree=2, gamma=1, coef0=1).fit(X, y), X, y)
    >>> print(ax.get_title())
    poly with degree 2, gamma 1, coef0 1
    4 support vectors; 0 of 4 rows wrong
    """
    steps, learner = split_pipeline(model)
    rule = support_rule(learner)
    X = prepare(learner, X) if steps is None else X
    rows = parts.plane_rows("plot_support", X, y, learner)
    support = _support_points(learner, steps, rule, X, rows.points)
    wrong = int((np.asarray(model.predict(X)) != rows.labels).sum())
    ax = axes_for(ax)
    parts.draw_regions(ax, parts.plane_regions(model, X, np.concatenate([rows.points, support]), rows.classes))
    parts.draw_rows(ax, rows)
    meaning = _draw_support(ax, rule, support, _AROUND * rows.mark)
    counts = count_of(len(rule.rows), "support vector")
    title = f"{kernel_words(learner)}\n{counts}; {wrong:,} of {count_of(len(rows.points), 'row')} wrong"
    parts.finish(ax, title, feature_labels(learner if steps is None else model, 2), meaning)
    return ax


def _support_points(learner: Any, steps: Any, rule: SupportRule, X: Any, points: np.ndarray) -> np.ndarray:
    """Return the support rows as points of the plane; for a pipeline they are looked up in ``X`` by index."""
    if not len(rule.rows):
        return np.empty((0, 2))
    vectors = getattr(learner, "support_vectors_", None)
    if steps is None and vectors is not None:
        return parts.dense(vectors)
    known = int(rule.rows.max()) < len(points)
    if known and vectors is not None:
        known = np.allclose(parts.dense(steps.transform(X))[rule.rows], parts.dense(vectors))
    if not known:
        raise ValueError(
            "support vectors are looked up by index in the training rows, and X does not match these: pass the "
            "training rows. For a pipeline, pass its last step and the rows that the earlier steps return."
        )
    return points[rule.rows]


def _draw_support(ax: Axes, rule: SupportRule, support: np.ndarray, smallest: float) -> str:
    """Draw a circle behind each support row, and add legend entries for the areas; return the title of the legend."""
    sizes = np.abs(rule.coefficients).sum(axis=0)
    drawn = sizes > 0
    if not drawn.any():
        return ""
    largest = float(sizes.max())
    area = float(np.clip(_CIRCLES / int(drawn.sum()), *_CIRCLE_SIZES))
    growth = area - smallest
    look = {"facecolor": "none", "edgecolor": ink(), "linewidth": float(np.interp(area, *_LINES)), "zorder": 2}
    ax.scatter(*support[drawn].T, s=smallest + growth * sizes[drawn] / largest, **look)
    ticks = import_matplotlib("ticker").MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, largest)
    round_sizes = [tick for tick in ticks if 0 < tick <= largest]
    for shown in dict.fromkeys((round_sizes[0], round_sizes[-1]) if sizes[drawn].min() < largest else (largest,)):
        ax.scatter([], [], s=smallest + growth * shown / largest, label=f"{shown:.4g}", **look)
    whose = "averaged coefficient" if rule.averaged else "coefficient"
    return f"circles: support vectors, area by |{whose}|" + (
        ",\nall classes added up" if len(rule.coefficients) > 1 else ""
    )
