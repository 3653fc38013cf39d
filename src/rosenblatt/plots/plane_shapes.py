"""Circles, lines and proofs as curves in the plane: what the pictures of circles and of dichotomies share."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.circles.shapes import Circle, HalfSpace, Outside
from rosenblatt.plots.axes import BLUE, ORANGE, Axes, ink
from rosenblatt.plots.hulls import NO_NAMES, box_corners, draw_two_hulls
from rosenblatt.plots.plane_parts import TINT
from rosenblatt.theory.vc import RadonPartition
from rosenblatt.theory.words import as_float

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
