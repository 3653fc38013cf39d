"""Lines in the plane as pictures draw them: the line, the band around it, w, rings, and feet on the line of w."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.evenly import evenly_chosen
from rosenblatt.plots.axes import DARK, MARKS_UP_TO, Axes, import_matplotlib
from rosenblatt.plots.plane_parts import LOOKS, Frame

_ARROW = 0.16  # the length of w in the picture, as a share of its height
_RING = 4.0  # the area of a ring around a row, in marks
_FOOT = 0.4  # the area of a foot, in marks
BROKEN = (0, (5, 4))
"""How lines are drawn that are not the boundary."""
HALO = {"boxstyle": "round,pad=0.1", "facecolor": (1, 1, 1, 0.7), "edgecolor": "none"}
"""What lies behind words that stand among marks."""


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

    def shifted(self, distance: float) -> Line:
        """Return the line that lies ``distance`` further along w."""
        return Line(self.unit, self.offset - distance)

    def arrow_start(self, frame: Frame) -> np.ndarray:
        """Return where w is drawn from: its point nearest to the origin or, if w is not seen there, to the middle."""
        start = self.nearest_to(np.zeros(2))
        tip = start + _ARROW * (frame.high - frame.low).max() * self.unit
        return start if frame.holds(start) and frame.holds(tip) else self.nearest_to((frame.low + frame.high) / 2)


def draw_line(ax: Axes, line: Line, frame: Frame, **look: Any) -> None:
    """Draw a line across the picture."""
    middle = line.nearest_to((frame.low + frame.high) / 2)
    ax.axline(middle, middle + line.along() * np.linalg.norm(frame.high - frame.low), **{"color": DARK} | look)


def draw_band(ax: Axes, line: Line, frame: Frame, distance: float, name: str) -> None:
    """Draw the band of points that are up to ``distance`` from the line, with broken lines at its sides."""
    middle = line.nearest_to((frame.low + frame.high) / 2)
    along = 2 * np.linalg.norm(frame.high - frame.low) * line.along()
    across = distance * line.unit
    corners = [middle - along - across, middle + along - across, middle + along + across, middle - along + across]
    look = {"facecolor": (1, 1, 1, 0.6), "edgecolor": (0, 0, 0, 0.18), "hatch": "////", "linewidth": 0}
    polygon = import_matplotlib("patches").Polygon(corners, label=name, zorder=0.5, **look)
    ax.add_patch(polygon)
    frame.set_limits(ax)
    for side in (distance, -distance):
        draw_line(ax, line.shifted(side), frame, linestyle=BROKEN, linewidth=1.0, zorder=1)


def draw_w(ax: Axes, line: Line, frame: Frame, start: np.ndarray | None = None) -> None:
    """Draw an arrow along w from a point of the line, where the axes have one scale, so that the right angle shows."""
    start = line.arrow_start(frame) if start is None else start
    if frame.one_scale and frame.holds(start):
        draw_arrow(ax, start, start + _ARROW * (frame.high - frame.low).max() * line.unit, "w")


def draw_arrow(
    ax: Axes,
    start: np.ndarray,
    end: np.ndarray,
    name: str,
    at: float = 1.0,
    away_from: np.ndarray | None = None,
    **look: Any,
) -> None:
    """Draw an arrow, and its name beside the share ``at`` of its length, on the side that a point does not lie on."""
    look = {"arrowstyle": "-|>", "color": DARK, "linewidth": 2, "shrinkA": 0, "shrinkB": 0} | look
    ax.annotate("", end, start, arrowprops=look, zorder=4)
    forward = end - start
    beside = np.array([-forward[1], forward[0]]) / max(float(np.linalg.norm(forward)), np.finfo(float).tiny)
    if (beside[1] if away_from is None else beside @ (start - away_from)) < 0:
        beside = -beside
    place = {"textcoords": "offset points", "ha": "center", "va": "center", "weight": "bold", "zorder": 5}
    ax.annotate(name, start + at * forward, (8 + 2 * len(name)) * beside, color=look["color"], bbox=HALO, **place)


def draw_rings(ax: Axes, points: np.ndarray, mark: float, name: str, **look: Any) -> None:
    """Draw a ring around each of the points, whose marks have the area ``mark``, with a name in the legend."""
    if len(points):
        look = {"facecolor": "none", "edgecolor": DARK, "linewidth": 1.3, "zorder": 2} | look
        ax.scatter(*points.T, s=_RING * mark, label=name, **look)


def feet(points: np.ndarray, line: Line, start: np.ndarray) -> np.ndarray:
    """Return the foot of each point on the line through ``start`` in the direction of w."""
    return start + np.outer((points - start) @ line.unit, line.unit)


def draw_feet(ax: Axes, points: np.ndarray, sides: np.ndarray, line: Line, start: np.ndarray, mark: float) -> None:
    """Draw the line of w through ``start``, the foot of each point on it, and a thin line from one to the other.

    ``sides`` are the numbers of the points' classes.
    """
    ax.axline(start, start + line.unit, color=DARK, linewidth=0.9, zorder=1, label="line through w")
    look = {"colors": "#777777", "linewidths": 0.6, "zorder": 1.5}
    for k, (colour, marker) in enumerate(LOOKS[:2]):
        own = points[sides == k]
        own = own[evenly_chosen(len(own), MARKS_UP_TO)]
        if len(own):
            bottoms = feet(own, line, start)
            ax.add_collection(
                import_matplotlib("collections").LineCollection(list(np.stack([own, bottoms], 1)), **look)
            )
            ax.scatter(*bottoms.T, s=_FOOT * mark, marker=marker, color=colour, edgecolor=DARK, linewidth=0.3, zorder=3)
