"""Lines in the plane as pictures draw them: the line, the band around it, w, rings, and feet on the line of w."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.evenly import evenly_chosen
from rosenblatt.plots.axes import MARKS_UP_TO, Axes, import_matplotlib, ink, paper
from rosenblatt.plots.plane_parts import LOOKS, Frame, Rows

_ARROW = 0.16  # the length of w in the picture, as a share of its height
_STARTS = np.linspace(-0.7, 0.7, 29)  # from where along the line w is tried, from the middle, as shares of its size
_NAME_AT = (1.0, 0.5, 0.75, 0.25, 0.0)  # where along an arrow its name is tried
_FREE = 1.05  # how far a name is from points, in its distance from the arrow, to be well placed
_NONE = np.empty((0, 2))
_RING = 4.0  # the area of a ring around a row, in marks
_FOOT = 0.4  # the area of a foot, in marks
BROKEN = (0, (5, 4))
"""How lines are drawn that are not the boundary."""
OUT_OF_VIEW = "the boundary is out of view"


class Line(NamedTuple):
    """The line where ``unit @ x + offset`` is 0, with ``unit`` of length 1: it gives the signed distance of x."""

    unit: np.ndarray
    offset: float

    @classmethod
    def of(cls, w: Any, b: Any) -> Line | None:
        """Return the line of weights, which may be integers of any size; None where all of them are zero."""
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
        """Return the point of the line that is nearest to another."""
        return np.asarray(point) - (self.unit @ np.asarray(point) + self.offset) * self.unit

    def along(self) -> np.ndarray:
        """Return the direction of the line."""
        return np.array([-self.unit[1], self.unit[0]])

    def crosses(self, frame: Frame) -> bool:
        """Return whether some of the line lies in a frame."""
        (left, bottom), (right, top) = frame.low, frame.high
        sides = self.distance(np.array([[left, bottom], [left, top], [right, bottom], [right, top]]))
        return bool(sides.min() < 0 < sides.max())

    def shifted(self, distance: float) -> Line:
        """Return the line that lies ``distance`` further along w."""
        return Line(self.unit, self.offset - distance)

    def rounding(self, points: np.ndarray) -> float:
        """Return how much the distances of points may be off by rounding."""
        return 8 * np.finfo(float).eps * (float(np.abs(points).max()) + abs(self.offset))

    def arrow(self, frame: Frame) -> np.ndarray | None:
        """Return both ends of w as it is drawn, wholly in the frame; None where no point of the line lies in it.

        It starts from the point of the line nearest to the origin or, if w is not seen whole there, to the middle.
        Where there is no room for all of it, it is shorter.
        """
        length, middle = _ARROW * frame.size(), self.nearest_to((frame.low + frame.high) / 2)
        along = [middle + share * frame.size() * self.along() for share in sorted(_STARTS, key=abs)]
        starts = [start for start in (self.nearest_to(np.zeros(2)), *along) if frame.holds(start)]
        if not starts:
            return None
        rooms = [min(frame.room(start, self.unit), length) for start in starts]
        best = int(np.argmax(rooms))
        return np.array([starts[best], starts[best] + rooms[best] * self.unit])


def halo() -> dict[str, Any]:
    """Return what lies behind words that stand among marks."""
    return {"boxstyle": "round,pad=0.1", "facecolor": paper(0.7), "edgecolor": "none"}


def draw_line(ax: Axes, line: Line, frame: Frame, **look: Any) -> None:
    """Draw a line across the picture."""
    middle = line.nearest_to((frame.low + frame.high) / 2)
    ax.axline(middle, middle + line.along() * np.linalg.norm(frame.high - frame.low), **{"color": ink()} | look)


def draw_band(ax: Axes, line: Line, frame: Frame, distance: float, name: str) -> None:
    """Draw the band of points that are up to ``distance`` from the line, with broken lines at its sides."""
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
    """Draw an arrow along w from a point of the line, its name beside the points.

    Where the axes have two scales it would not be at a right angle: it is left out, and the legend says so.
    """
    ends = line.arrow(frame)
    if not frame.one_scale:
        ax.plot([], [], linestyle="none", label="w left out: scales differ")
    elif ends is not None:
        draw_arrow(ax, ends[0], ends[1], "w", points)


def draw_arrow(
    ax: Axes, start: np.ndarray, end: np.ndarray, name: str, points: np.ndarray = _NONE, **look: Any
) -> np.ndarray:
    """Draw an arrow, and its name beside it where no points are, if there is such a place; return the name's place.

    The limits of the axes are set before.
    """
    look = {"arrowstyle": "-|>", "color": ink(), "linewidth": 2, "shrinkA": 0, "shrinkB": 0} | look
    ax.annotate("", end, start, arrowprops=look, zorder=4)
    ax.apply_aspect()
    dot = ax.figure.figure.dpi / 72  # pixels of a printer's point, in which letters are measured
    tail, tip = ax.transData.transform([start, end]) / dot
    share, offset = _beside(tail, tip, 8 + 2 * len(name), ax.transData.transform(points) / dot, ax.bbox.extents / dot)
    words = {"textcoords": "offset points", "ha": "center", "va": "center", "weight": "bold", "zorder": 5}
    ax.annotate(name, start + share * (end - start), offset, color=look["color"], bbox=halo(), **words)
    place: np.ndarray = ax.transData.inverted().transform((tail + share * (tip - tail) + offset) * dot)
    return place


def _beside(
    tail: np.ndarray, tip: np.ndarray, far: float, points: np.ndarray, box: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return a share of an arrow's length, and an offset ``far`` from there, that lies in a box and beside all points.

    Where none is, the one whose nearest point is farthest.
    """
    beside = np.array([tail[1] - tip[1], tip[0] - tail[0]]) / max(math.dist(tail, tip), np.finfo(float).tiny)
    up = beside if beside[1] >= 0 else -beside
    places = [(share, far * side) for share in _NAME_AT for side in (up, -up)]
    spots = np.array([tail + share * (tip - tail) + offset for share, offset in places])
    free = np.hypot(*(spots[:, None] - points[None]).transpose(2, 0, 1)).min(axis=1, initial=_FREE * far)
    inside = (spots >= box[:2] + far / 2).all(axis=1) & (spots <= box[2:] - far / 2).all(axis=1)
    return places[int(np.argmax(np.where(inside, free, free - _FREE * far)))]


def draw_rings(ax: Axes, points: np.ndarray, mark: float, name: str, **look: Any) -> None:
    """Draw a ring around each of the points, whose marks have the area ``mark``, with a name in the legend."""
    if len(points):
        look = {"facecolor": "none", "edgecolor": ink(), "linewidth": 1.3, "zorder": 2} | look
        ax.scatter(*points.T, s=_RING * mark, label=name, **look)


def feet(points: np.ndarray, line: Line, start: np.ndarray) -> np.ndarray:
    """Return the foot of each point on the line through ``start`` in the direction of w."""
    return start + np.outer((points - start) @ line.unit, line.unit)


def draw_feet(ax: Axes, rows: Rows, line: Line, start: np.ndarray) -> None:
    """Draw the line of w through ``start``, the foot of each row on it, and a thin line from one to the other."""
    ax.axline(start, start + line.unit, color=ink(), linewidth=0.9, zorder=1, label="line through w")
    look = {"colors": "#777777", "linewidths": 0.6, "zorder": 1.5}
    for k, (colour, marker) in enumerate(LOOKS[:2]):
        own = rows.of_class(k)
        own = own[evenly_chosen(len(own), MARKS_UP_TO)]
        if len(own):
            bottoms = feet(own, line, start)
            ax.add_collection(
                import_matplotlib("collections").LineCollection(list(np.stack([own, bottoms], 1)), **look)
            )
            ax.scatter(
                *bottoms.T, s=_FOOT * rows.mark, marker=marker, color=colour, edgecolor=ink(), linewidth=0.3, zorder=3
            )


def draw_note(ax: Axes, words: str) -> None:
    """Write words at the top of the picture: what is not to be seen in it."""
    look = {"ha": "center", "va": "top", "fontsize": "small", "color": ink(), "bbox": halo(), "zorder": 5}
    ax.text(0.5, 0.99, words, transform=ax.transAxes, **look)
