"""Parts of plots of the plane: rows of two features, decision regions, lines, and the legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rosenblatt.blocks import Block
from rosenblatt.inspection.explain import feature_labels
from rosenblatt.messages import evenly_spaced
from rosenblatt.plots.axes import (
    BLUE,
    GREEN,
    MARKS_UP_TO,
    ORANGE,
    Axes,
    check_labels,
    import_matplotlib,
    ink,
    paper,
    shown_name,
    tidy,
)
from rosenblatt.theory.inputs import vector_text

GRID = 240
"""Number of grid points in each direction at which a model is evaluated."""
_BORDER = 0.08  # space around the outermost rows, as a share of their range
TINT = 0.22
"""The opacity of a decision region."""
# maximum coordinate in absolute value, whose square must not overflow, and minimum range of a feature relative to its
# largest absolute value
_LARGEST, _CLOSEST = 1e100, 1e-12
# axes get equal scales if the ranges of the features differ by less than the first factor; the second number is the
# minimum ratio of the sides of such a frame
_ALIKE, _NARROWEST = 5.0, 0.45
# the area of a mark in square points: the first number divided by the number of rows, clipped to these limits
_MARKS, _MARK_SIZES = 3_200.0, (8.0, 26.0)
_BELOW = 4.0  # distance of the legend below the axes, in font sizes
_LETTER, _HANDLE = 0.07, 0.5  # widths in inches of a letter and of a handle in the legend, at font size _LETTERS
_LETTERS = 10.0  # font size in points
# colours of Okabe and Ito and of Tol, safe for all kinds of colour vision; the markers differ as well
LOOKS = (
    *((ORANGE, "^"), (BLUE, "o"), (GREEN, "s"), ("#CC79A7", "D"), ("#56B4E9", "v")),
    *(("#D55E00", "P"), ("#999999", "X"), ("#332288", "<"), ("#F0E442", "h"), ("#882255", "*")),
)
"""A colour and a marker for each class."""


class Frame(NamedTuple):
    """The rectangle of the plane that a plot shows."""

    low: np.ndarray
    high: np.ndarray
    one_scale: bool
    """Whether both axes have the same scale, so that angles are drawn true to size."""

    @classmethod
    def around(cls, points: np.ndarray, border: float = _BORDER, one_scale: bool = False) -> Frame:
        """Return a frame around all points, with a border of ``border`` times their range.

        Both axes get the same scale if the features have similar ranges, or if ``one_scale`` is True. A frame with one
        scale is never a thin strip.
        """
        low, high = points.min(axis=0), points.max(axis=0)
        largest = float((high - low).max()) or max(1.0, float(np.abs(high).max()))
        span = np.where(high > low, high - low, largest)
        one_scale = one_scale or bool(span.max() < _ALIKE * span.min())
        if not one_scale:
            return cls(low - border * span, high + border * span, False)
        around = np.maximum(border * largest, (_NARROWEST * largest - (high - low)) / 2)
        return cls(low - around, high + around, True)

    @classmethod
    def square(cls, points: np.ndarray, border: float) -> Frame:
        """Return a square frame around all points, with a border of ``border`` times their larger range."""
        low, high = points.min(axis=0), points.max(axis=0)
        middle, size = (low + high) / 2, float((high - low).max()) or 1.0
        return cls(middle - (0.5 + border) * size, middle + (0.5 + border) * size, True)

    def sides(self) -> list[np.ndarray]:
        """Return the coordinates of the grid along each axis."""
        return [np.linspace(self.low[i], self.high[i], GRID) for i in range(2)]

    def places(self) -> np.ndarray:
        """Return the grid points, at which a model is evaluated, as an array with two columns."""
        return np.column_stack([side.ravel() for side in np.meshgrid(*self.sides())])

    def holds(self, point: np.ndarray) -> bool:
        """Return whether a point lies in the frame."""
        return bool(((self.low <= point) & (point <= self.high)).all())

    def distance_to_edge(self, point: np.ndarray, direction: np.ndarray) -> float:
        """Return the distance from a point to the edge of the frame along a unit vector."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(direction > 0, self.high - point, self.low - point) / direction
        return float(np.min(ends[direction != 0]))

    def size(self) -> float:
        """Return the length of the longer side."""
        return float((self.high - self.low).max())

    def set_limits(self, ax: Axes) -> None:
        """Set the limits of the axes to this frame."""
        ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
        if self.one_scale:
            ax.set_aspect("equal")


class Rows(NamedTuple):
    """Rows of two features, their labels, and the classes in the order of `LOOKS`."""

    points: np.ndarray
    labels: np.ndarray
    classes: np.ndarray

    @property
    def mark(self) -> float:
        """The area of a mark in square points, which shrinks with the number of rows."""
        return float(np.clip(_MARKS / len(self.points), *_MARK_SIZES))

    def of_class(self, k: int) -> np.ndarray:
        """Return the rows of class number ``k``."""
        return self.points[self.labels == self.classes[k]]


class Regions(NamedTuple):
    """Decision regions on the grid of a frame.

    Each array in ``classes`` is positive in the region of its class. The boundaries are the zero contours of the arrays
    in ``lines``.
    """

    frame: Frame
    classes: list[np.ndarray]
    lines: list[np.ndarray]

    @classmethod
    def beside(cls, frame: Frame, decision: np.ndarray) -> Regions:
        """Return the regions of two classes; the second class is predicted where the decision function is positive."""
        decision = np.ravel(decision).reshape(GRID, GRID)
        return cls(frame, [-decision, decision], [decision])


def plane_points(name: str, X: Any, learner: Any = None) -> np.ndarray:
    """Return the rows as an array of shape (n, 2), or raise a ValueError that names the function ``name``."""
    if isinstance(getattr(learner, "kernel", None), str) and learner.kernel == "precomputed":
        raise ValueError(f"{name} draws rows of two features, which a precomputed kernel does not have.")
    points = dense(X)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(f"{name} draws rows of two features, got shape {points.shape}.")
    _check_drawable(name, points)
    return points


def _check_drawable(name: str, points: np.ndarray) -> None:
    """Raise a ValueError if some numbers are not finite, too large to draw, or too close to distinguish."""
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(
            f"{name} draws finite numbers, got {vector_text(points[row])} in row {row:,}: leave such rows out."
        )
    size = np.abs(points).max(axis=0)
    with np.errstate(over="ignore"):
        span = np.ptp(points, axis=0)
    if (size > _LARGEST).any() or ((span > 0) & (span < np.maximum(_CLOSEST * size, 1 / _LARGEST))).any():
        ranges = [f"{column.min():.4g} to {column.max():.4g}" for column in points.T]
        raise ValueError(
            f"{name} cannot draw numbers larger than {_LARGEST:g} or too close together for floats, got "
            f"{' and '.join(ranges)}: shift or scale each feature."
        )


def plane_rows(name: str, X: Any, y: Any, learner: Any) -> Rows:
    """Return the rows, their labels and the classes of a model; raise a ValueError for only one or too many classes."""
    points = plane_points(name, X, learner)
    if not hasattr(learner, "classes_") and hasattr(learner, "fit"):
        check_is_fitted(learner)
    classes = np.asarray(getattr(learner, "classes_", ()))
    if not 2 <= len(classes) <= len(LOOKS):
        raise ValueError(f"{name} draws a model of 2 to {len(LOOKS)} classes, got one of {len(classes)}.")
    return Rows(points, check_labels(y, len(points), classes), classes)


def draw_rows(ax: Axes, rows: Rows) -> None:
    """Draw a mark for each row, at most `MARKS_UP_TO` for each class."""
    mark = rows.mark
    for k, (label, (colour, marker)) in enumerate(zip(rows.classes.tolist(), LOOKS, strict=False)):
        own = rows.of_class(k)
        drawn = own[evenly_spaced(len(own), MARKS_UP_TO)]
        look = {"color": colour, "edgecolor": ink(), "linewidth": 0.02 * mark, "s": mark, "zorder": 3}
        name = "_" if label is None else f"{shown_name(label)} ({len(own):,})"
        ax.scatter(*drawn.T, marker=marker, label=name, **look)


def plane_regions(model: Any, X: Any, points: np.ndarray, classes: np.ndarray) -> Regions:
    """Return a model's decision regions on a grid around the points; the model gets the grid in the type of ``X``."""
    frame = Frame.around(points)
    grid = like(X, frame.places())
    if len(classes) == 2:
        return Regions.beside(frame, model.decision_function(grid))
    answers = np.asarray(model.predict(grid)).reshape(GRID, GRID)
    found = [np.where(answers == label, 1.0, -1.0) for label in classes]
    return Regions(frame, found, found)


def draw_regions(ax: Axes, regions: Regions) -> None:
    """Tint the region of each class, draw the boundaries as dark lines, and set the limits of the axes."""
    sides = regions.frame.sides()
    for region, (colour, _) in zip(regions.classes, LOOKS, strict=False):
        if region.max() > 0:
            ax.contourf(*sides, region, levels=[0, region.max()], colors=[colour], alpha=TINT, zorder=0)
    for line in regions.lines:
        if line.min() < 0 < line.max():
            ax.contour(*sides, line, levels=[0], colors=ink(), linewidths=1.4, zorder=1)
    regions.frame.set_limits(ax)


def draw_legend(ax: Axes, meaning: str = "") -> None:
    """Draw the legend below the axes in as many columns as fit, with ``meaning`` as its title; update the layout."""
    names = ax.get_legend_handles_labels()[1]
    inches = ax.figure.bbox.width / ax.figure.figure.dpi  # width of the figure or subfigure of the axes
    room = inches / _axes_beside(ax) * _LETTERS / import_matplotlib().rcParams["font.size"]
    columns = next((n for n in range(min(5, len(names)), 1, -1) if _width(names, n) < room), 1)
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": _BELOW, "ncols": columns}
    letters = {"fontsize": "small", "title_fontsize": "small", "columnspacing": 1.2}
    ax.legend(frameon=False, title=meaning, **below, **letters)
    tidy(ax)
    _lay_out(ax)


def finish(ax: Axes, title: str, names: Sequence[Any], meaning: str = "") -> None:
    """Write the title and the names of the two features, and draw the legend."""
    ax.set_title(title, fontsize="medium")
    ax.set(xlabel=shown_name(names[0]), ylabel=shown_name(names[1]))
    draw_legend(ax, meaning)


def _axes_beside(ax: Axes) -> int:
    """Return the number of columns in the grid of subplots that contains ``ax``, or 1 if there is no grid."""
    place = ax.get_subplotspec()
    return 1 if place is None else int(place.get_gridspec().ncols)


def _width(names: list[str], columns: int) -> float:
    """Return the approximate width in inches of a legend with ``columns`` columns."""
    parts = np.array_split(np.array([len(name) for name in names]), columns)  # matplotlib divides them in the same way
    return float(sum(_HANDLE + _LETTER * part.max() for part in parts))


def _lay_out(ax: Axes) -> None:
    """Run the constrained layout once more: its first run overestimates the height of axes with equal scales."""
    layout = ax.figure.get_layout_engine()
    if isinstance(layout, import_matplotlib("layout_engine").ConstrainedLayoutEngine):
        layout.execute(ax.figure.figure)


def column_names(X: Any) -> list[str]:
    """Return the names of the two columns of a data frame, or x0 and x1 for other types."""
    return feature_labels(None, 2, list(X.columns) if hasattr(X, "columns") else None)


def like(X: Any, places: np.ndarray) -> Any:
    """Return points in the type of ``X``, which is a data frame with the same column names, a block, or an array."""
    if isinstance(X, Block):
        return Block(places)
    if not hasattr(X, "columns"):
        return places
    return type(X)({name: places[:, i] for i, name in enumerate(X.columns)})


def dense(X: Any) -> np.ndarray:
    """Return rows as a dense array of floats."""
    X = X.X if isinstance(X, Block) else X
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


# Lines in the plane: the boundary and the band around it, the weight vector w, rings, and projections of rows onto w.


_ARROW = 0.16  # the length of the arrow for w, as a share of the longer side of the frame
_STARTS = np.linspace(-0.7, 0.7, 29)  # candidate starts of the arrow along the line, as shares of the longer side
_NAME_AT = (1.0, 0.5, 0.75, 0.25, 0.0)  # candidate positions of the name of an arrow, as shares of the arrow
_FREE = 1.05  # a name at this distance from all points is well placed; in units of its distance from the arrow
_NONE = np.empty((0, 2))
_RING = 4.0  # the area of a ring around a row, as a multiple of the area of its mark
_FOOT = 0.4  # the area of the mark of a projected row, as a multiple of the area of the row's mark
BROKEN = (0, (5, 4))
"""The dash pattern of dashed lines."""
OUT_OF_VIEW = "the boundary is out of view"


class Line(NamedTuple):
    """The line ``unit @ x + offset = 0``; ``unit`` has norm 1, so the left-hand side is the signed distance of x."""

    unit: np.ndarray
    offset: float

    @classmethod
    def of(cls, w: Any, b: Any) -> Line | None:
        """Return the line ``w @ x + b = 0``, or None if w is zero; w and b may be integers of any size."""
        values = [*np.asarray(w).tolist(), np.asarray(b).item()]
        largest = max(map(abs, values[:-1]))
        if not largest:
            return None
        scaled = [float(Fraction(value) / Fraction(largest)) for value in values]
        length = math.hypot(*scaled[:2])
        return cls(np.array(scaled[:2]) / length, scaled[2] / length)

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Return the signed distance of each point."""
        return points @ self.unit + self.offset

    def nearest_to(self, point: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return the point of the line nearest to ``point``."""
        return np.asarray(point) - (self.unit @ np.asarray(point) + self.offset) * self.unit

    def along(self) -> np.ndarray:
        """Return a unit vector along the line."""
        return np.array([-self.unit[1], self.unit[0]])

    def crosses(self, frame: Frame) -> bool:
        """Return whether the line crosses a frame."""
        (left, bottom), (right, top) = frame.low, frame.high
        sides = self.distance(np.array([[left, bottom], [left, top], [right, bottom], [right, top]]))
        return bool(sides.min() < 0 < sides.max())

    def shifted(self, distance: float) -> Line:
        """Return the line shifted by ``distance`` in the direction of ``unit``."""
        return Line(self.unit, self.offset - distance)

    def rounding(self, points: np.ndarray) -> float:
        """Return a bound on the rounding error in the distances from the points to the line."""
        return 8 * np.finfo(float).eps * (float(np.abs(points).max()) + abs(self.offset))

    def arrow(self, frame: Frame) -> np.ndarray | None:
        """Return both ends of the arrow for w inside the frame, or None if the line does not cross the frame.

        The arrow starts at the point of the line nearest to the origin. If it does not fit into the frame there, it
        starts near the middle of the frame. If it fits nowhere, it is shortened.
        """
        length, middle = _ARROW * frame.size(), self.nearest_to((frame.low + frame.high) / 2)
        along = [middle + share * frame.size() * self.along() for share in sorted(_STARTS, key=abs)]
        starts = [start for start in (self.nearest_to(np.zeros(2)), *along) if frame.holds(start)]
        if not starts:
            return None
        lengths = [min(frame.distance_to_edge(start, self.unit), length) for start in starts]
        best = int(np.argmax(lengths))
        return np.array([starts[best], starts[best] + lengths[best] * self.unit])


def halo() -> dict[str, Any]:
    """Return the style of the box behind text that lies among marks."""
    return {"boxstyle": "round,pad=0.1", "facecolor": paper(0.7), "edgecolor": "none"}


def draw_line(ax: Axes, line: Line, frame: Frame, **look: Any) -> None:
    """Draw a line across the plot."""
    middle = line.nearest_to((frame.low + frame.high) / 2)
    ax.axline(middle, middle + line.along() * np.linalg.norm(frame.high - frame.low), **{"color": ink()} | look)


def draw_band(ax: Axes, line: Line, frame: Frame, distance: float, name: str) -> None:
    """Draw the band within ``distance`` of the line, with dashed lines at its sides."""
    middle = line.nearest_to((frame.low + frame.high) / 2)
    along = 2 * np.linalg.norm(frame.high - frame.low) * line.along()
    across = distance * line.unit
    corners = [middle - along - across, middle + along - across, middle + along + across, middle - along + across]
    look = {"facecolor": paper(0.6), "edgecolor": (ink("black"), 0.18), "hatch": "////", "linewidth": 0}
    polygon = import_matplotlib("patches").Polygon(corners, label=name, zorder=0.5, **look)
    ax.add_patch(polygon)
    frame.set_limits(ax)
    for side in (distance, -distance):
        draw_line(ax, line.shifted(side), frame, linestyle=BROKEN, linewidth=1.0, zorder=1)


def draw_w(ax: Axes, line: Line, frame: Frame, points: np.ndarray) -> None:
    """Draw an arrow along w from a point of the line, with its name away from all points if possible.

    If the axes have different scales, w would not be at a right angle to the line. Then the arrow is omitted, and the
    legend gives the reason.
    """
    ends = line.arrow(frame)
    if not frame.one_scale:
        ax.plot([], [], linestyle="none", label="w left out: scales differ")
    elif ends is not None:
        draw_arrow(ax, ends[0], ends[1], "w", points)


def draw_arrow(
    ax: Axes, start: np.ndarray, end: np.ndarray, name: str, points: np.ndarray = _NONE, **look: Any
) -> np.ndarray:
    """Draw an arrow with its name beside it, away from points if possible; return the position of the name.

    The limits of the axes must be set before the call.
    """
    look = {"arrowstyle": "-|>", "color": ink(), "linewidth": 2, "shrinkA": 0, "shrinkB": 0} | look
    ax.annotate("", end, start, arrowprops=look, zorder=4)
    ax.apply_aspect()
    dot = ax.figure.figure.dpi / 72  # pixels per point, the unit of font sizes
    tail, tip = ax.transData.transform([start, end]) / dot
    share, offset = _beside(tail, tip, 8 + 2 * len(name), ax.transData.transform(points) / dot, ax.bbox.extents / dot)
    words = {"textcoords": "offset points", "ha": "center", "va": "center", "weight": "bold", "zorder": 5}
    ax.annotate(name, start + share * (end - start), offset, color=look["color"], bbox=halo(), **words)
    place: np.ndarray = ax.transData.inverted().transform((tail + share * (tip - tail) + offset) * dot)
    return place


def _beside(
    tail: np.ndarray, tip: np.ndarray, far: float, points: np.ndarray, box: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the position of an arrow's name: a share of the arrow's length, and an offset of length ``far`` from it.

    The first candidate inside the box and away from all points is chosen. If there is none, the candidate whose nearest
    point is farthest away is chosen.
    """
    beside = np.array([tail[1] - tip[1], tip[0] - tail[0]]) / max(math.dist(tail, tip), np.finfo(float).tiny)
    up = beside if beside[1] >= 0 else -beside
    places = [(share, far * side) for share in _NAME_AT for side in (up, -up)]
    spots = np.array([tail + share * (tip - tail) + offset for share, offset in places])
    free = np.hypot(*(spots[:, None] - points[None]).transpose(2, 0, 1)).min(axis=1, initial=_FREE * far)
    inside = (spots >= box[:2] + far / 2).all(axis=1) & (spots <= box[2:] - far / 2).all(axis=1)
    return places[int(np.argmax(np.where(inside, free, free - _FREE * far)))]


def draw_rings(ax: Axes, points: np.ndarray, mark: float, name: str, **look: Any) -> None:
    """Draw a ring around the mark of each point; ``mark`` is the area of a mark, and ``name`` the legend entry."""
    if len(points):
        look = {"facecolor": "none", "edgecolor": ink(), "linewidth": 1.3, "zorder": 2} | look
        ax.scatter(*points.T, s=_RING * mark, label=name, **look)


def feet(points: np.ndarray, line: Line, start: np.ndarray) -> np.ndarray:
    """Return the projection of each point onto the line through ``start`` in the direction of w."""
    return start + np.outer((points - start) @ line.unit, line.unit)


def draw_feet(ax: Axes, rows: Rows, line: Line, start: np.ndarray) -> None:
    """Draw the line through ``start`` in the direction of w, and a thin line from each row to its projection."""
    ax.axline(start, start + line.unit, color=ink(), linewidth=0.9, zorder=1, label="line through w")
    look = {"colors": "#777777", "linewidths": 0.6, "zorder": 1.5}
    for k, (colour, marker) in enumerate(LOOKS[:2]):
        own = rows.of_class(k)
        own = own[evenly_spaced(len(own), MARKS_UP_TO)]
        if len(own):
            bottoms = feet(own, line, start)
            ax.add_collection(
                import_matplotlib("collections").LineCollection(list(np.stack([own, bottoms], 1)), **look)
            )
            ax.scatter(
                *bottoms.T, s=_FOOT * rows.mark, marker=marker, color=colour, edgecolor=ink(), linewidth=0.3, zorder=3
            )


def draw_note(ax: Axes, words: str) -> None:
    """Write a note at the top of the plot, for instance that the boundary is out of view."""
    look = {"ha": "center", "va": "top", "fontsize": "small", "color": ink(), "bbox": halo(), "zorder": 5}
    ax.text(0.5, 0.99, words, transform=ax.transAxes, **look)
