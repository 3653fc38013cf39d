"""What pictures of the plane share: rows of two features, what a model answers where, and the legend."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rosenblatt.evenly import evenly_chosen
from rosenblatt.inspection.pipelines import feature_labels
from rosenblatt.plots.axes import (
    BLUE,
    GREEN,
    MARKS_UP_TO,
    ORANGE,
    Axes,
    check_labels,
    import_matplotlib,
    ink,
    shown_name,
    tidy,
)
from rosenblatt.theory.words import vector_text

GRID = 240
"""The plane is asked at so many places each way."""
_BORDER = 0.08  # beyond the outermost rows, as a share of their range
TINT = 0.22
"""How much of its colour a region has."""
_LARGEST, _CLOSEST = 1e100, 1e-12  # of numbers, and of the range of a feature beside them: squares must be floats too
_ALIKE, _NARROWEST = 5.0, 0.45  # ranges that differ by less have one scale; then the shorter side is at least so long
_MARKS, _MARK_SIZES = 3_200.0, (8.0, 26.0)  # areas in square points
_BELOW = 4.0  # the legend, below the axes: in heights of its letters, which do not shrink with the axes
_LETTER, _HANDLE = 0.07, 0.5  # inches: about a letter of the legend, and the sign before each of its names, for
_LETTERS = 10.0  # letters of so many points
# Okabe and Ito's colours and three of Tol's: told apart with every kind of colour vision; markers do it without any
LOOKS = (
    *((ORANGE, "^"), (BLUE, "o"), (GREEN, "s"), ("#CC79A7", "D"), ("#56B4E9", "v")),
    *(("#D55E00", "P"), ("#999999", "X"), ("#332288", "<"), ("#F0E442", "h"), ("#882255", "*")),
)
"""A colour and a mark for each class."""


class Frame(NamedTuple):
    """The part of the plane that is drawn."""

    low: np.ndarray
    high: np.ndarray
    one_scale: bool
    """Whether both features have the same scale, so that angles are seen as they are."""

    @classmethod
    def around(cls, points: np.ndarray, border: float = _BORDER, one_scale: bool = False) -> Frame:
        """Return the part of the plane that shows all points, with a border that is this share of their range.

        Features of like ranges have one scale, whatever they are where ``one_scale`` is True, and then no picture is a
        thin strip.
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
        """Return a square around all points, with a border that is this share of the larger of their ranges."""
        low, high = points.min(axis=0), points.max(axis=0)
        middle, size = (low + high) / 2, float((high - low).max()) or 1.0
        return cls(middle - (0.5 + border) * size, middle + (0.5 + border) * size, True)

    def sides(self) -> list[np.ndarray]:
        """Return the places along each axis at which a model is asked."""
        return [np.linspace(self.low[i], self.high[i], GRID) for i in range(2)]

    def places(self) -> np.ndarray:
        """Return the places of the plane at which a model is asked, row by row."""
        return np.column_stack([side.ravel() for side in np.meshgrid(*self.sides())])

    def holds(self, point: np.ndarray) -> bool:
        """Return whether a point lies in it."""
        return bool(((self.low <= point) & (point <= self.high)).all())

    def room(self, point: np.ndarray, direction: np.ndarray) -> float:
        """Return how far one can go from a point in a direction of length 1 and still be in it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(direction > 0, self.high - point, self.low - point) / direction
        return float(np.min(ends[direction != 0]))

    def size(self) -> float:
        """Return its longer side."""
        return float((self.high - self.low).max())

    def set_limits(self, ax: Axes) -> None:
        """Let the axes show this part of the plane."""
        ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
        if self.one_scale:
            ax.set_aspect("equal")


class Rows(NamedTuple):
    """Rows of two features with the labels that they have, and the classes in the order of their looks."""

    points: np.ndarray
    labels: np.ndarray
    classes: np.ndarray

    @property
    def mark(self) -> float:
        """The area of a mark: of many rows marks are smaller."""
        return float(np.clip(_MARKS / len(self.points), *_MARK_SIZES))

    def of_class(self, k: int) -> np.ndarray:
        """Return the rows of class number ``k``."""
        return self.points[self.labels == self.classes[k]]


class Regions(NamedTuple):
    """What a model answers where: numbers on a grid, above 0 in the region of a class, and 0 along each line."""

    frame: Frame
    classes: list[np.ndarray]
    lines: list[np.ndarray]

    @classmethod
    def beside(cls, frame: Frame, decision: np.ndarray) -> Regions:
        """Return the regions of two classes, that of the second where the decision at a place is above 0."""
        decision = np.ravel(decision).reshape(GRID, GRID)
        return cls(frame, [-decision, decision], [decision])


def plane_points(name: str, X: Any, learner: Any = None) -> np.ndarray:
    """Return the rows as an array of two columns; a ValueError of the function ``name`` where they are not."""
    if isinstance(getattr(learner, "kernel", None), str) and learner.kernel == "precomputed":
        raise ValueError(f"{name} draws rows of two features, which a precomputed kernel does not have.")
    points = dense(X)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(f"{name} draws rows of two features, got shape {points.shape}.")
    _check_drawable(name, points)
    return points


def _check_drawable(name: str, points: np.ndarray) -> None:
    """Raise a ValueError where some numbers have no place in a picture, or cannot be told apart there."""
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
            f"{name} draws numbers up to {_LARGEST:g} that can be told apart, got {' and '.join(ranges)}: "
            "subtract a number from each feature, or divide by one."
        )


def plane_labels(name: str, y: Any, n: int, learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the rows and the classes of the model, of which there are not too many to be told apart."""
    if not hasattr(learner, "classes_") and hasattr(learner, "fit"):
        check_is_fitted(learner)
    classes = np.asarray(getattr(learner, "classes_", ()))
    if not 2 <= len(classes) <= len(LOOKS):
        raise ValueError(f"{name} draws a model of 2 to {len(LOOKS)} classes, got one of {len(classes)}.")
    return check_labels(y, n, classes), classes


def draw_rows(ax: Axes, rows: Rows) -> None:
    """Draw a mark for each row, or for as many as can be seen."""
    mark = rows.mark
    for k, (label, (colour, marker)) in enumerate(zip(rows.classes.tolist(), LOOKS, strict=False)):
        own = rows.of_class(k)
        drawn = own[evenly_chosen(len(own), MARKS_UP_TO)]
        look = {"color": colour, "edgecolor": ink(), "linewidth": 0.02 * mark, "s": mark, "zorder": 3}
        name = "_" if label is None else f"{shown_name(label)} ({len(own):,})"
        ax.scatter(*drawn.T, marker=marker, label=name, **look)


def plane_regions(model: Any, X: Any, points: np.ndarray, classes: np.ndarray) -> Regions:
    """Ask the model all over the plane around the points; ``X`` shows what kind of rows it takes."""
    frame = Frame.around(points)
    grid = like(X, frame.places())
    if len(classes) == 2:
        return Regions.beside(frame, model.decision_function(grid))
    answers = np.asarray(model.predict(grid)).reshape(GRID, GRID)
    found = [np.where(answers == label, 1.0, -1.0) for label in classes]
    return Regions(frame, found, found)


def draw_regions(ax: Axes, regions: Regions) -> None:
    """Tint the region of each class, with a dark line in between, and set the limits of the axes."""
    sides = regions.frame.sides()
    for region, (colour, _) in zip(regions.classes, LOOKS, strict=False):
        if region.max() > 0:
            ax.contourf(*sides, region, levels=[0, region.max()], colors=[colour], alpha=TINT, zorder=0)
    for line in regions.lines:
        if line.min() < 0 < line.max():
            ax.contour(*sides, line, levels=[0], colors=ink(), linewidths=1.4, zorder=1)
    regions.frame.set_limits(ax)


def draw_legend(ax: Axes, meaning: str = "") -> None:
    """Draw the legend below the axes, in as many columns as there is room for, and lay out the figure with it."""
    names = ax.get_legend_handles_labels()[1]
    inches = ax.figure.bbox.width / ax.figure.figure.dpi  # of the figure, or of the subfigure that the axes are in
    room = inches / _axes_beside(ax) * _LETTERS / import_matplotlib().rcParams["font.size"]
    columns = next((n for n in range(min(5, len(names)), 1, -1) if _width(names, n) < room), 1)
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": _BELOW, "ncols": columns}
    letters = {"fontsize": "small", "title_fontsize": "small", "columnspacing": 1.2}
    ax.legend(frameon=False, title=meaning, **below, **letters)
    tidy(ax)
    _lay_out(ax)


def _axes_beside(ax: Axes) -> int:
    """Return how many axes stand side by side with these, themselves included."""
    place = ax.get_subplotspec()
    return 1 if place is None else int(place.get_gridspec().ncols)


def _width(names: list[str], columns: int) -> float:
    """Return about how many inches a legend of so many columns takes."""
    parts = np.array_split(np.array([len(name) for name in names]), columns)  # as matplotlib splits them
    return float(sum(_HANDLE + _LETTER * part.max() for part in parts))


def _lay_out(ax: Axes) -> None:
    """Lay out a constrained figure once more than drawing it does: at first axes to scale are taken for too tall."""
    layout = ax.figure.get_layout_engine()
    if isinstance(layout, import_matplotlib("layout_engine").ConstrainedLayoutEngine):
        layout.execute(ax.figure.figure)


def column_names(X: Any) -> list[str]:
    """Return the names of the two columns of a frame, x0 and x1 for other rows, as they are shown."""
    names = feature_labels(None, 2, list(X.columns) if hasattr(X, "columns") else None)
    return [shown_name(name) for name in names]


def like(X: Any, places: np.ndarray) -> Any:
    """Return places as rows of the kind of ``X``: a frame with its names, or an array."""
    if not hasattr(X, "columns"):
        return places
    return type(X)({name: places[:, i] for i, name in enumerate(X.columns)})


def dense(X: Any) -> np.ndarray:
    """Return rows as a dense array of floats."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
