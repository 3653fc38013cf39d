"""A picture of the plane: rows of two features, the line between their classes, its margin, and w.

Blue circles stand for the positive class (the second of ``classes_``), orange triangles for the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.circles.shapes import Circle, HalfSpace, Outside
from rosenblatt.inspection.explain import feature_labels, split_pipeline
from rosenblatt.inspection.geometry import LinearRule, distance, linear_rule, unit_weights
from rosenblatt.plots.axes import BLUE, ORANGE, Axes, axes_for, closes_on_error, ink, shown_name
from rosenblatt.plots.plane_parts import (
    OUT_OF_VIEW,
    TINT,
    Frame,
    Line,
    Regions,
    Rows,
    draw_band,
    draw_feet,
    draw_legend,
    draw_note,
    draw_regions,
    draw_rings,
    draw_rows,
    draw_w,
    feet,
    plane_labels,
    plane_points,
    plane_regions,
)
from rosenblatt.plots.projection import wrong_words, zero_weights_words
from rosenblatt.plots.verdict import NO_NAMES, box_corners, draw_two_hulls
from rosenblatt.theory.inputs import as_float
from rosenblatt.theory.vc import RadonPartition

_NEAREST = 1e-9  # rows whose distances differ by less, as a share, are all called nearest


@dataclass(eq=False)
class PlaneDisplay:
    """The picture that `plot_plane` draws, in scikit-learn's display style: what it shows, to be drawn again elsewhere.

    ``PlaneDisplay.from_estimator(model, X, y)`` computes and draws it, ``plot(ax)`` draws it on other axes.

    Attributes
    ----------
    points, labels, classes : arrays
        The rows, their labels, and the classes of the model.
    feature_names : list of str
    regions : Regions
        What the model answers where.
    line : Line or None
        The boundary with the unit vector along w, where it is straight.
    margin : float or None
        The distance of the nearest row, where the line has every row strictly on its side.
    ringed : array of bool
        The nearest rows, its support points, if there is a margin; otherwise those whose prediction is wrong.
    on_boundary : array of bool
        The rows on the straight boundary of two classes, on no side: their activation is exactly 0.
    projections : bool
        Whether the feet of the rows on the line through w are drawn.
    title : str
    ax_, figure_
        The axes and the figure where it was drawn last.

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
        """Compute the picture of a fitted model and draw it; the parameters are those of `plot_plane`."""
        steps, learner = split_pipeline(model)
        points = plane_points("plot_plane", X, learner)
        labels, classes = plane_labels("plot_plane", y, len(points), learner)
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
            regions=plane_regions(model, X, shown, classes),
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
        """Draw the picture on ``ax``, or on the axes of a new figure, and return the display."""
        ax = axes_for(ax)
        frame = self.regions.frame
        draw_regions(ax, self.regions)
        rows = Rows(self.points, self.labels, self.classes)
        draw_rows(ax, rows)
        if self.line is not None and self.margin is not None:
            draw_band(ax, self.line, frame, self.margin, "margin")
        what = "wrong" if self.margin is None else "nearest"
        draw_rings(ax, self.points[self.ringed], rows.mark, f"{what} ({self.ringed.sum():,})")
        tied = self.points[self.on_boundary]
        draw_rings(ax, tied, rows.mark, f"on the boundary ({len(tied):,})", marker="s", linestyle=":")
        if self.line is not None:
            own = Frame.around(self.points)
            if self.projections:
                draw_feet(ax, rows, self.line, _arrow_start(self.line, own))
            draw_w(ax, self.line, own, self.points)
            if not self.line.crosses(frame):
                draw_note(ax, OUT_OF_VIEW)
        ax.set_title(self.title, fontsize="medium")
        ax.set(xlabel=shown_name(self.feature_names[0]), ylabel=shown_name(self.feature_names[1]))
        draw_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plot_plane(model: Any, X: Any, y: Any, ax: Axes | None = None, *, projections: bool = False) -> Axes:
    """Draw rows of two features, what the model answers where, and the boundary in between.

    Where a line has every row strictly on its side, a hatched band shows how far the nearest one is on both sides (its
    geometric margin) and rings which rows these are, its support points; an arrow is w, at a right angle to the line.
    Otherwise rings show the rows whose prediction is wrong, and squares those on the boundary. That of a kernel
    perceptron, of a vote or of a pipeline (with a `SphereLift`, say) may be curved: it is drawn without margin and w.
    `plot_support` shows the support rows of a kernel perceptron, `plot_votes` what a vote is made of. The ranges of
    features that differ by five times or more have scales of their own: w, no more at a right angle, is left out then.

    Parameters
    ----------
    model : fitted classifier of two features and up to ten classes, or a pipeline that takes two
    X, y : rows of two features, and their labels
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made. The legend lies below the axes: a figure of
        your own with ``layout="constrained"`` has room for it.
    projections : bool
        Whether to draw the foot of each row on the line through w, as in CIML figure 4.7; `plot_projection` has the
        same feet along one axis. For a straight boundary, and features whose ranges are alike.

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
    """Return the weights between two classes, None where the model predicts by something else."""
    linear = hasattr(learner, "coef_") and hasattr(learner, "intercept_")
    return linear_rule(learner) if linear and len(learner.classes_) == 2 else None


def _title(
    learner: Any, rule: LinearRule | None, margin: float | None, wrong: np.ndarray, on_boundary: np.ndarray
) -> str:
    """Return the margin or how many rows are wrong, in words, or that there is no boundary."""
    if margin is not None:
        return f"Separated: the nearest row is\n{margin:.3g} from the boundary (geometric)"
    if rule is not None and not rule.w.any():
        return zero_weights_words(learner, float(rule.b[0]))
    return wrong_words(wrong, on_boundary) or "Separated: every row is on its side"


def _feet(line: Line | None, points: np.ndarray) -> np.ndarray:
    """Return the foot of each row on the line through w; a ValueError where there is none or it is not to scale."""
    if line is None:
        raise ValueError(
            "projections need one straight boundary, that of a linear model of two classes whose weights are not all "
            "zero, without steps before it: leave projections out, or draw such a model."
        )
    frame = Frame.around(points)
    if not frame.one_scale:
        raise ValueError(
            "projections are drawn at right angles, which need features whose ranges are alike: scale the features, or "
            "draw plot_projection, which needs one axis only."
        )
    return feet(points, line, _arrow_start(line, frame))


def _arrow_start(line: Line, frame: Frame) -> np.ndarray:
    """Return where w starts, or the point of the line nearest to the middle where it is not in view."""
    ends = line.arrow(frame)
    return line.nearest_to((frame.low + frame.high) / 2) if ends is None else ends[0]


# Circles, lines and proofs as curves in the plane: what the pictures of circles and of dichotomies share.


_CURVE = 400  # points of a curve


class Edge:
    """The boundary of a shape in the plane, and its neighbours: all points at one depth.

    The depth of a point is its distance to the boundary, above 0 on the side of the inside of a circle, or where
    ``w . x + b`` of a line is above 0. ``center`` is None for a line.

    >>> edge = Edge(Circle([1, 2], 3))
    >>> edge.depth(np.array([[1.0, 2.0], [1.0, 6.0]]))
    array([ 3., -1.])
    """

    def __init__(self, shape: Circle | Outside | HalfSpace) -> None:
        self.center: np.ndarray | None = None
        if isinstance(shape, HalfSpace):
            length = float(np.hypot(*shape.w))
            self.normal, self.offset = shape.w / length, shape.b / length
        else:
            self.center = np.array([as_float(value) for value in shape.center])
            self.radius = as_float(shape.radius)

    def depth(self, points: np.ndarray) -> np.ndarray:
        """Return the depth of each point, up to rounding."""
        if self.center is None:
            return points @ self.normal + self.offset
        return self.radius - np.hypot(*(points - self.center).T)

    def curve(self, middle: np.ndarray, reach: float, depth: float = 0.0) -> np.ndarray:
        """Return points along the curve of a depth as far as ``reach`` from the middle of a picture, and a little more.

        They are computed from the point of the curve nearest to the middle, so a circle may be as large as can be.
        """
        if self.center is None:
            out = -self.normal
            bend, along = np.zeros(2), np.array([-2.0, 2.0]) * reach
        else:
            away = middle - self.center
            out = away / (np.hypot(*away) or 1.0) if away.any() else np.array([1.0, 0.0])
            radius = self.radius - depth
            angle = np.linspace(-1, 1, _CURVE) * min(np.pi, 4 * reach / radius)
            bend, along = -2 * radius * np.sin(angle / 2) ** 2, radius * np.sin(angle)
        nearest = middle + (self.depth(middle[None])[0] - depth) * out
        return nearest + np.outer(bend, out) + np.outer(along, [-out[1], out[0]])

    def inside(self, middle: np.ndarray, reach: float) -> np.ndarray:
        """Return a polygon that covers the side of positive depth as far as ``reach``."""
        curve = self.curve(middle, reach)
        if np.allclose(curve[0], curve[-1]):
            return curve
        forward = curve[-1] - curve[0]
        inward = np.array([-forward[1], forward[0]]) / np.hypot(*forward)  # the curve has its inside to the left
        return np.concatenate([curve, [curve[-1] + 8 * reach * inward, curve[0] + 8 * reach * inward]])


def draw_sides(ax: Axes, edge: Edge, low: np.ndarray, high: np.ndarray, inside: Any, outside: Any) -> None:
    """Tint the two sides of a shape in colours, None for none, and draw the boundary as a dark line."""
    middle, reach = (low + high) / 2, float(np.hypot(*(high - low)))
    behind, look = ax.get_facecolor(), {"linewidth": 0, "zorder": 0}
    polygon = edge.inside(middle, reach)
    if outside is not None:
        ax.fill(*box_corners(low, high).T, color=outside, alpha=TINT, **look)
        ax.fill(*polygon.T, color=behind, **look)
    if inside is not None:
        ax.fill(*polygon.T, color=inside, alpha=TINT, **look)
    ax.plot(*edge.curve(middle, reach).T, color=ink(), linewidth=1.6, zorder=1)


def draw_proof(
    ax: Axes,
    proof: RadonPartition,
    points: np.ndarray,
    colours: tuple[str, str] = (BLUE, ORANGE),
    names: tuple[str, str, str] = NO_NAMES,
) -> None:
    """Draw the hulls of a proof's two sets of points, solid and broken, and a cross where they have a mix in common.

    ``names`` are what a legend calls the two hulls and the cross.
    """
    hulls = points[list(proof.inside)], points[list(proof.outside)]
    draw_two_hulls(ax, hulls, np.array([as_float(value) for value in proof.point]), colours, names)
