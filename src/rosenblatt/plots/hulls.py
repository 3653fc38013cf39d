"""Two convex hulls in the plane with the point that they share: why nothing separates two classes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rosenblatt.plots.axes import Axes, ink, paper
from rosenblatt.plots.plane_lines import draw_rings, halo
from rosenblatt.plots.plane_parts import LOOKS, TINT, Rows
from rosenblatt.theory.words import true_minus

NO_NAMES = ("_", "_", "_")
"""What a legend leaves out."""
_SHORT = 99  # a share is written as a fraction up to this denominator
_TEXT_AT = ((0, -9), "top"), ((0, 9), "bottom")  # the shares of the first class stand below, of the second above


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, in order around it: one for a single place, two on a line.

    >>> convex_hull(np.array([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 0]])).tolist()
    [[0, 0], [2, 0], [2, 2], [0, 2]]
    >>> convex_hull(np.array([[1, 1], [0, 0], [2, 2]])).tolist()
    [[0, 0], [2, 2]]
    """
    places = np.unique(points, axis=0)  # sorted from left to right
    if len(places) < 3:
        return places
    lower, upper = _chain(places), _chain(places[::-1])
    return np.array(lower[:-1] + upper[:-1])


def box_corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the corners of a rectangle from its lowest corner to its highest, counter-clockwise.

    >>> box_corners(np.array([0, 0]), np.array([2, 1])).tolist()
    [[0, 0], [2, 0], [2, 1], [0, 1]]
    """
    return np.array([low, [high[0], low[1]], high, [low[0], high[1]]])


def _chain(places: np.ndarray) -> list[np.ndarray]:
    """Return the corners of the hull on the right of the way along sorted places (Andrew 1979)."""
    corners: list[np.ndarray] = []
    for place in places:
        while len(corners) > 1:
            (x1, y1), (x2, y2) = corners[-1] - corners[-2], place - corners[-2]
            if x1 * y2 - y1 * x2 > 0:
                break
            corners.pop()
        corners.append(place)
    return corners


def shares(alpha: np.ndarray, weights: Sequence[int] | None, support: np.ndarray, signs: np.ndarray) -> list[Fraction]:
    """Return the weight of each support row as a share of its class's: exact where there are integer ``weights``."""
    numbers = [Fraction(number) for number in (alpha[support].tolist() if weights is None else weights)]
    totals = {
        side: sum((number for number, sign in zip(numbers, signs[support], strict=True) if sign == side), Fraction())
        for side in (-1.0, 1.0)
    }
    return [number / totals[float(sign)] for number, sign in zip(numbers, signs[support], strict=True)]


def common_point(points: np.ndarray, support: np.ndarray, parts: list[Fraction], signs: np.ndarray) -> np.ndarray:
    """Return the mean of the support rows of the second class, which is that of the first class too."""
    own = [(part, points[i]) for part, i in zip(parts, support.tolist(), strict=True) if signs[i] > 0]
    return np.array([float(sum((part * Fraction(float(x[j])) for part, x in own), Fraction())) for j in range(2)])


def draw_two_hulls(
    ax: Axes,
    sets: tuple[np.ndarray, np.ndarray],
    common: np.ndarray,
    colours: tuple[str, str],
    names: tuple[str, str, str] = NO_NAMES,
) -> None:
    """Draw the hulls of two sets of points, the first solid, the second broken, and a cross at a point that both hold.

    ``names`` are what a legend calls the two hulls and the cross.
    """
    for points, colour, dash, name in zip(sets, colours, ("-", "--"), names, strict=False):
        corners = convex_hull(points)
        if len(corners) > 2:
            ax.fill(*corners.T, color=colour, alpha=TINT, linewidth=0, zorder=1)
        closed = np.concatenate([corners, corners[:1]])
        ax.plot(*closed.T, dash, color=colour, linewidth=2.4, zorder=1.5, label=name, solid_capstyle="round")
    look = {"markersize": 9, "markeredgewidth": 1.2, "markeredgecolor": paper(), "color": ink(), "linestyle": "none"}
    ax.plot(*common, "X", zorder=4, label=names[2], **look)


def draw_hulls(ax: Axes, rows: Rows, support: np.ndarray, parts: list[Fraction]) -> np.ndarray:
    """Draw the hulls of both classes, the support rows with their shares, and the common point, which is returned."""
    points, signs = rows.points, np.where(rows.labels == rows.classes[1], 1.0, -1.0)
    shared = common_point(points, support, parts, signs)
    place = true_minus(", ".join(f"{number:.4g}" for number in shared + 0.0))
    names = ("_", "_", f"in both hulls: ({place})")
    draw_two_hulls(ax, (rows.of_class(1), rows.of_class(0)), shared, (LOOKS[1][0], LOOKS[0][0]), names)
    for i, part in zip(support.tolist(), parts, strict=True):
        k = int(signs[i] > 0)
        ax.plot(*np.stack([points[i], shared]).T, ":", color=LOOKS[k][0], linewidth=1.5, zorder=1)
        offset, edge = _TEXT_AT[k]
        words = {"textcoords": "offset points", "ha": "center", "va": edge, "fontsize": "small", "zorder": 5}
        ax.annotate(_share_text(part), points[i], offset, color=ink(), bbox=halo(), **words)
    draw_rings(ax, points[support], rows.mark, f"their weights prove it ({len(support):,})")
    return shared


def _share_text(part: Fraction) -> str:
    return str(part) if part.denominator <= _SHORT else f"{float(part):.2g}"
