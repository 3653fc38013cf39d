"""Plots of a learned circle, or of the proof that there is none, in the plane and lifted to space (Har-Peled 30.2)."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from rosenblatt.circles.shapes import Circle, HalfSpace, NoCircle, Outside, circle_from_plane
from rosenblatt.features import SphereLift
from rosenblatt.inspection.explain import split_pipeline, through_steps
from rosenblatt.inspection.geometry import check_two_classes, linear_rule
from rosenblatt.messages import count_of, evenly_spaced
from rosenblatt.plots import plane_parts as parts
from rosenblatt.plots.axes import BLUE, GREEN, MARKS_UP_TO, ORANGE, Axes, axes_for, closes_on_error, ink, shown_name
from rosenblatt.plots.plane_parts import LOOKS, Frame, Rows, halo
from rosenblatt.plots.verdict import NO_NAMES, box_corners, draw_two_hulls
from rosenblatt.theory.inputs import as_float, number_text, rows_text, shown_number, true_minus, vector_text
from rosenblatt.theory.inputs import check_labels as labels_of_rows
from rosenblatt.theory.vc import BallObstruction, RadonPartition

Shape: TypeAlias = Circle | HalfSpace | Outside

_CURVE = 400  # number of points on a curve
_WHOLE = 3.0  # a whole circle is drawn if its radius is at most this multiple of the range of the points
_SEVERAL = "#999999"  # the tint of a side that contains several classes
_ROUNDING = 1e-12  # a coordinate of the centre below this share of the radius, in absolute value, is written as 0
_NAMES_UP_TO = 3  # the title names at most this many classes
_NUMBERS_UP_TO = 6  # a proof with at most this many rows shows their row numbers
_GRID = 15  # number of grid lines on the paraboloid in each direction
_BEYOND = 1.35  # the radius of the drawn plane, in radii of the circle
_FLOOR = 0.45  # the depth of the floor below the lowest point, as a share of the height of the plot
_PAPER = "#888888"


# Circles, lines and proofs as curves in the plane, for plots of circles and of dichotomies.


class Edge:
    """The boundary of a shape in the plane, which is a circle or a line, and the curves parallel to it.

    The depth of a point is its signed distance to the boundary. It is positive inside a circle, or on the side of a
    line with ``w . x + b > 0``. For a line ``center`` is None.

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
        """Return the depth of each point, computed in floating point."""
        if self.center is None:
            return points @ self.normal + self.offset
        return self.radius - np.hypot(*(points - self.center).T)

    def curve(self, middle: np.ndarray, reach: float, depth: float = 0.0) -> np.ndarray:
        """Return points on the curve of constant ``depth``, up to little more than ``reach`` from the plot's middle.

        The points are computed relative to the point of the curve nearest to the middle, so that a huge circle causes
        no loss of digits.
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
        """Return a polygon that covers the side of positive depth, up to ``reach`` from the middle of the plot."""
        curve = self.curve(middle, reach)
        if np.allclose(curve[0], curve[-1]):
            return curve
        forward = curve[-1] - curve[0]
        inward = np.array([-forward[1], forward[0]]) / np.hypot(*forward)  # the inside lies to the left of the curve
        return np.concatenate([curve, [curve[-1] + 8 * reach * inward, curve[0] + 8 * reach * inward]])


def draw_sides(ax: Axes, edge: Edge, low: np.ndarray, high: np.ndarray, inside: Any, outside: Any) -> None:
    """Tint the two sides of a shape, except a side whose colour is None, and draw the boundary as a dark line."""
    middle, reach = (low + high) / 2, float(np.hypot(*(high - low)))
    behind, look = ax.get_facecolor(), {"linewidth": 0, "zorder": 0}
    polygon = edge.inside(middle, reach)
    if outside is not None:
        ax.fill(*box_corners(low, high).T, color=outside, alpha=parts.TINT, **look)
        ax.fill(*polygon.T, color=behind, **look)
    if inside is not None:
        ax.fill(*polygon.T, color=inside, alpha=parts.TINT, **look)
    ax.plot(*edge.curve(middle, reach).T, color=ink(), linewidth=1.6, zorder=1)


def draw_proof(
    ax: Axes,
    proof: RadonPartition,
    points: np.ndarray,
    colours: tuple[str, str] = (BLUE, ORANGE),
    names: tuple[str, str, str] = NO_NAMES,
) -> None:
    """Draw the convex hulls of the two sets of points in a proof, and a cross at a point in both hulls.

    The first hull has a solid outline and the second a dashed one. ``names`` are the legend entries of the two hulls
    and of the cross.
    """
    hulls = points[list(proof.inside)], points[list(proof.outside)]
    draw_two_hulls(ax, hulls, np.array([as_float(value) for value in proof.point]), colours, names)


# In the plane.


@closes_on_error
def plot_circle(
    shape: Circle | HalfSpace | Outside | NoCircle, points: Any, labels: Any, ax: Axes | None = None
) -> Axes:
    """Draw points of the plane with the circle that separates them, or with the proof that there is no such circle.

    A circle is drawn with its centre, its radius and the gap between the classes. Dashed curves through the nearest
    point on either side bound the gap. For an `Outside` or a `NoCircle` the plot shows the proof that there is no
    circle around one class: the convex hulls of a few points of both classes, and a cross at a point in both hulls.

    Parameters
    ----------
    shape : Circle, HalfSpace, Outside or NoCircle
        The result of `fit_circle` or `circle_from_plane`.
    points : array-like of shape (n, 2)
        Points of the plane.
    labels : array-like of shape (n,)
        Labels of the points, from at most ten classes.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure. The legend is placed below the axes, so create your own figure with
        ``layout="constrained"`` to leave space for it.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_lift : Draw the points lifted to a paraboloid, with the plane that separates them.

    Examples
    --------
    >>> from rosenblatt import fit_circle
    >>> points, labels = [[0, 0], [1, 0], [3, 0], [0, -3]], [1, 1, 0, 0]
    >>> ax = plot_circle(fit_circle(points, labels, largest_margin=True), points, labels)
    >>> print(ax.get_title())
    Circle around 1: centre (0.375, −0.375), radius 1.94
    gap of 1.92 between the classes
    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> ax = plot_circle(fit_circle(square, [0, 1, 1, 0]), square, [0, 1, 1, 0])
    >>> print(ax.get_title())
    No circle (inside or outside), no line: lifted to (x, |x|²),
    a mix of rows 1, 2 equals a mix of rows 0, 3
    """
    if not isinstance(shape, Circle | HalfSpace | Outside | NoCircle):
        raise ValueError(f"plot_circle expects the result of rosenblatt.fit_circle, got {type(shape).__name__}.")
    X = parts.plane_points("plot_circle", points, None)
    y, classes = circle_labels("plot_circle", labels, len(X))
    ax = axes_for(ax)
    if isinstance(shape, NoCircle):
        frame = circle_frame(X)
        _draw_proof(ax, shape.proof, X, y, classes)
        inside, outside = rows_text(shape.proof.inside, 4), rows_text(shape.proof.outside, 4)
        title = (
            f"No circle (inside or outside), no line: lifted to (x, |x|²),\na mix of {inside} equals a mix of {outside}"
        )
    else:
        frame = circle_frame(X, Edge(shape))
        title = _draw_shape(ax, shape, frame, Rows(X, y, classes))
    parts.draw_rows(ax, Rows(X, y, classes))
    frame.set_limits(ax)
    parts.finish(ax, title, ("x₁", "x₂"))
    return ax


def circle_frame(points: np.ndarray, edge: Edge | None = None) -> Frame:
    """Return a frame that contains all points and, unless the circle is large, the whole circle."""
    if edge is not None and edge.center is not None and edge.radius <= _WHOLE * (np.ptp(points, axis=0).max() or 1.0):
        points = np.vstack([points, edge.center - edge.radius, edge.center + edge.radius])
    return Frame.around(points, one_scale=True)


def circle_labels(name: str, labels: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels and the classes; raise a ValueError if there are more classes than colours."""
    y = labels_of_rows(labels, n)
    classes = np.unique(y)
    if len(classes) > len(LOOKS):
        raise ValueError(f"{name} draws points of up to {len(LOOKS)} classes, got {len(classes)}.")
    return y, classes


def _draw_shape(ax: Axes, shape: Any, frame: Frame, rows: Rows) -> str:
    """Draw a circle, the outside of a circle or a half-plane, with the gap between the classes; return the title."""
    edge = Edge(shape)
    X, y, classes = rows
    positive = shape.contains(X)
    shares = np.array([positive[y == label].mean() for label in classes])
    held = shares > 0.5 if 0 < (shares > 0.5).sum() < max(2, len(classes)) else shares == shares.max()
    sides = [_tint([LOOKS[i][0] for i in np.flatnonzero(held == side)]) for side in (True, False)]
    inner, outer = sides[::-1] if isinstance(shape, Outside) else sides
    draw_sides(ax, edge, frame.low, frame.high, inner, outer)
    if isinstance(shape, Outside) and shape.reason is not None:
        _draw_proof(ax, shape.reason, X, y, classes)
    elif edge.center is not None and frame.holds(edge.center):
        _draw_center(ax, edge)
    wrong = int(((positive != held[np.searchsorted(classes, y)]) | shape.on_boundary(X)).sum())
    gap = "" if wrong or positive.all() or not positive.any() else _draw_gap(ax, edge, X, frame)
    ending = f"{wrong:,} of {count_of(len(X), 'point')} on the wrong side" if wrong else gap
    if isinstance(shape, HalfSpace):
        return f"A line is the limit of the circles{'; ' * bool(ending)}{ending}"
    held_names = [shown_name(label, 20) for label in classes[held].tolist()]
    names = ", ".join(held_names) if len(held_names) <= _NAMES_UP_TO else count_of(len(held_names), "class")
    around = "Circle around" if isinstance(shape, Circle) else "Circle around all but"
    center = [value if abs(value) > _ROUNDING * shape.radius else 0.0 for value in shape.center.tolist()]
    where = true_minus(f"centre {vector_text(center, 3)}, radius {number_text(shape.radius, 3)}")
    return f"{around} {names}: {where}\n{ending}".rstrip()


def _tint(colours: list[str]) -> str | None:
    """Return the tint of a side, given the colours of its classes, or None if it has no classes."""
    return None if not colours else colours[0] if len(colours) == 1 else _SEVERAL


def _draw_center(ax: Axes, edge: Edge) -> None:
    """Draw the centre of a circle, and a radius as an arrow."""
    assert edge.center is not None
    end = edge.center + edge.radius * np.array([np.cos(0.6), np.sin(0.6)])
    ax.plot(*edge.center, "+", color=ink(), markersize=11, markeredgewidth=1.8, zorder=4, linestyle="none")
    ax.annotate("", end, edge.center, arrowprops={"arrowstyle": "-|>", "color": ink(), "linewidth": 1}, zorder=2)
    half = (edge.center + end) / 2
    words = {"textcoords": "offset points", "style": "italic", "ha": "right", "bbox": halo(), "zorder": 5}
    ax.annotate("r", half, (-3, 4), color=ink(), **words)


def _draw_gap(ax: Axes, edge: Edge, X: np.ndarray, frame: Frame) -> str:
    """Draw the curves parallel to the boundary through the nearest point on each side; return the gap as text."""
    depth = edge.depth(X)
    inner, outer = depth[depth > 0].min(initial=np.inf), depth[depth < 0].max(initial=-np.inf)
    if not np.isfinite([inner, outer]).all():  # a distance is lost in rounding
        return ""
    look = {"color": ink(), "linestyle": parts.BROKEN, "linewidth": 1.0, "zorder": 1}
    middle, reach = (frame.low + frame.high) / 2, float(np.hypot(*(frame.high - frame.low)))
    for level, label in ((inner, "nearest point on both sides"), (outer, None)):
        if edge.center is None or edge.radius > level:
            ax.plot(*edge.curve(middle, reach, level).T, label=label, **look)
    return f"gap of {shown_number(inner - outer)} between the classes"


def _draw_proof(ax: Axes, proof: Any, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> None:
    """Draw the hulls of a proof in the colours of their classes, and the row numbers if there are few rows."""
    colours = [LOOKS[int(np.searchsorted(classes, y[rows[0]]))][0] for rows in (proof.inside, proof.outside)]
    names = (f"hull of {rows_text(proof.inside, 4)}", f"hull of {rows_text(proof.outside, 4)}", "a mix of both")
    draw_proof(ax, proof, X, (colours[0], colours[1]), names)
    rows = proof.inside + proof.outside
    if len(rows) <= _NUMBERS_UP_TO:
        for row in rows:
            words = {"textcoords": "offset points", "color": ink(), "fontsize": "small", "bbox": halo(), "zorder": 5}
            ax.annotate(str(row), X[row], (6, 6), **words)


# In space: a plane separates the lifted points (x, |x|^2) if and only if the circle below it separates the points.


@closes_on_error
def plot_lift(shape_or_model: Any, points: Any, labels: Any, ax: Axes | None = None) -> Axes:
    """Draw points lifted to (x, |x|^2) in space, the plane that separates them, and the circle below the plane.

    The plane cuts the paraboloid of all lifted points in an ellipse, which projects to the circle. Points inside the
    circle are lifted to points below the plane, and all other points to points above it. If the shape is a half-plane,
    the plane is vertical. If there is no circle, lines lead from lifted points of both classes to a point in both
    convex hulls. The points and the circle are drawn a second time on the floor of the plot.

    Parameters
    ----------
    shape_or_model : Circle, HalfSpace, Outside, NoCircle or linear model
        The result of `fit_circle`, or a fitted model of the three features (x1, x2, |x|^2), such as a pipeline of a
        `SphereLift` and a Perceptron.
    points : array-like of shape (n, 2)
        Points of the plane.
    labels : array-like of shape (n,)
        Labels of the points, from at most ten classes.
    ax : three-dimensional matplotlib Axes, default=None
        Axes to draw on, such as ``figure.add_subplot(projection="3d")``. None creates a new figure.

    Returns
    -------
    ax : three-dimensional matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_circle : Draw the points and the circle in the plane.

    Examples
    --------
    >>> from rosenblatt import data, fit_circle
    >>> points, labels = data.make_circle(60, gap=0.2, random_state=0)
    >>> ax = plot_lift(fit_circle(points, labels), points, labels)
    >>> ax.get_zlabel(), ax.get_title()
    ('|x|²', 'A plane cuts the lifted points as a circle cuts them below')
    """
    X = parts.plane_points("plot_lift", points, None)
    shape = _shape(shape_or_model, X)
    y, classes = circle_labels("plot_lift", labels, len(X))
    ax = _axes_in_space(ax)
    edge = None if isinstance(shape, NoCircle) else Edge(shape)
    low, high, _ = circle_frame(X, edge)
    bottom, top = _draw_paraboloid(ax, low, high)
    plane = None if edge is None else _plane(edge, low, high, top)
    if plane is not None:
        bottom = min(bottom, float(plane[2].min()))
        ax.plot_surface(*plane, color=GREEN, alpha=0.3, linewidth=0, shade=False, zorder=2)
        ax.plot([], [], [], "s", color=GREEN, alpha=0.4, markersize=9, label="the plane")
    floor = bottom - _FLOOR * (top - bottom)
    if edge is not None:
        _draw_cut(ax, edge, low, high, floor)
    _draw_points(ax, X, y, classes, floor)
    if isinstance(shape, NoCircle):
        _draw_mixes(ax, shape.proof, X, y, classes)
    ax.set_title(_title(shape), fontsize="medium")
    ax.set(xlabel="x₁", ylabel="x₂", zlabel="|x|²")
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(floor, top))
    ticker = parts.import_matplotlib("ticker")
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_major_locator(ticker.MaxNLocator(4))
    ax.set_zticks([tick for tick in ax.get_zticks() if bottom <= tick <= top])
    ax.set_box_aspect((1, 1, 0.85), zoom=0.98)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3, fontsize="small")
    return ax


def _shape(given: Any, X: np.ndarray) -> Shape | NoCircle:
    """Return ``given`` if it is a shape, or the shape that corresponds to the plane of a model of lifted points."""
    if isinstance(given, Circle | HalfSpace | Outside | NoCircle):
        return given
    steps, learner = split_pipeline(given)
    rule = linear_rule(learner)
    check_two_classes(learner, rule)
    lifted = SphereLift().fit_transform(X)
    seen = lifted if steps is None else parts.dense(through_steps(steps, X))
    if rule.w.shape[1] != 3 or seen.shape != lifted.shape or not np.allclose(seen, lifted):
        raise ValueError(
            "plot_lift needs a model of the three features (x1, x2, |x|^2), such as make_pipeline(SphereLift(), "
            f"Perceptron()), got a model of {rule.w.shape[1]} features: fit it to lifted points."
        )
    return circle_from_plane(rule.w[0], float(rule.b[0]))


def _axes_in_space(ax: Axes | None) -> Axes:
    ax = axes_for(ax, in_space=True)
    ax.computed_zorder = False
    ax.view_init(elev=14, azim=-62)
    return ax


def _draw_paraboloid(ax: Axes, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Draw the paraboloid of all lifted points as a light wireframe; return its minimum and maximum height."""
    x1, x2 = np.meshgrid(*(np.linspace(low[i], high[i], _GRID) for i in range(2)))
    height = x1**2 + x2**2
    ax.plot_wireframe(x1, x2, height, color=_PAPER, linewidth=0.5, alpha=0.5, zorder=1, label="the paraboloid")
    nearest = np.clip(0.0, low, high)
    return float(nearest @ nearest), float(height.max())


def _plane(edge: Edge, low: np.ndarray, high: np.ndarray, top: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (x1, x2, height) for the plane above a circle and its surroundings, or for the plane above a line."""
    middle, reach = (low + high) / 2, float(np.hypot(*(high - low)))
    if edge.center is None:
        ends = _within(edge.curve(middle, reach), low, high)
        x1, heights = np.meshgrid(ends[:, 0], [0.0, top])
        return x1, np.meshgrid(ends[:, 1], [0.0, top])[0], heights
    if (edge.center - edge.radius >= low).all() and (edge.center + edge.radius <= high).all():
        angle, radius = np.meshgrid(np.linspace(0, 2 * np.pi, 60), [0.0, _BEYOND * edge.radius])
        x1, x2 = edge.center[0] + radius * np.cos(angle), edge.center[1] + radius * np.sin(angle)
    else:
        x1, x2 = np.meshgrid(*(np.linspace(low[i], high[i], _GRID) for i in range(2)))
    places = np.stack([x1, x2], axis=-1)
    depth = edge.depth(places.reshape(-1, 2)).reshape(x1.shape)
    return x1, x2, (places**2).sum(axis=-1) + depth * (2 * edge.radius - depth)  # |x|^2 + r^2 - |x - m|^2


def _draw_cut(ax: Axes, edge: Edge, low: np.ndarray, high: np.ndarray, floor: float) -> None:
    """Draw the curve in which the plane cuts the paraboloid and, on the floor, the circle or line below it."""
    curve = _within(edge.curve((low + high) / 2, float(np.hypot(*(high - low)))), low, high, 120)
    above, below = ("ellipse", "circle") if edge.center is not None else ("parabola", "line")
    look = {"color": ink(), "zorder": 3}
    ax.plot(*curve.T, (curve**2).sum(axis=1), linewidth=2.2, label=f"the {above} that it cuts", **look)
    ax.plot(*curve.T, np.full(len(curve), floor), linestyle="--", linewidth=1.4, label=f"the {below} below", **look)


def _within(curve: np.ndarray, low: np.ndarray, high: np.ndarray, points: int = 2) -> np.ndarray:
    """Return the points of a curve inside the frame, or ``points`` points on the part of a segment inside the frame."""
    if len(curve) > 2:
        return curve[((curve >= low) & (curve <= high)).all(axis=1)]
    step = curve[1] - curve[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.sort([(low - curve[0]) / step, (high - curve[0]) / step], axis=0)
    share = np.linspace(np.nanmax(ends[0]), np.nanmin(ends[1]), points)
    return curve[0] + np.outer(share, step)


def _draw_points(ax: Axes, X: np.ndarray, y: np.ndarray, classes: np.ndarray, floor: float) -> None:
    """Draw the lifted points, and the points themselves as smaller marks on the floor."""
    for label, (colour, marker) in zip(classes.tolist(), LOOKS, strict=False):
        own = X[y == label]
        drawn = own[evenly_spaced(len(own), MARKS_UP_TO)]
        look = {"color": colour, "marker": marker, "depthshade": False}
        name = f"{shown_name(label)} ({len(own):,}), lifted"
        ax.scatter(*drawn.T, (drawn**2).sum(axis=1), s=22, edgecolor=ink(), linewidth=0.4, zorder=4, label=name, **look)
        ax.scatter(*drawn.T, np.full(len(drawn), floor), s=7, alpha=0.8, zorder=1, **look)


def _draw_mixes(ax: Axes, proof: BallObstruction, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> None:
    """Draw a line from each lifted point of a proof to the point in the convex hulls of both classes."""
    common = [as_float(value) for value in proof.point]
    for rows, dash, height in (
        (proof.inside, "-", proof.inside_height),
        (proof.outside, "--", proof.outside_height),
    ):
        colour = LOOKS[int(np.searchsorted(classes, y[rows[0]]))][0]
        for i, row in enumerate(rows):
            ends = np.array([[*X[row], X[row] @ X[row]], [*common, as_float(height)]])
            label = None if i else f"to a mix of {rows_text(rows, 4)}"
            ax.plot(*ends.T, dash, color=colour, linewidth=2, zorder=3, label=label)
    ax.plot(*common, as_float(proof.inside_height), "X", color=ink(), markersize=9, zorder=5, label="one point of both")


def _title(shape: Shape | NoCircle) -> str:
    if isinstance(shape, NoCircle):
        return "No plane: mixes of lifted points of the two classes coincide"
    below = "line" if isinstance(shape, HalfSpace) else "circle"
    return f"{'An upright' if below == 'line' else 'A'} plane cuts the lifted points as a {below} cuts them below"
