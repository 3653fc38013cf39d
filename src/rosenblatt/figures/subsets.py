"""The subsets of four points that discs cut, and why one is missing (Har-Peled, section 30.3.1)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.dichotomies import LETTERS, plot_dichotomies
from rosenblatt.theory import vc

POINTS = [[0, 0], [2, 0], [0, 2], [3, 3]]


def figure_30_3_1() -> Shown:
    """Draw a disc around each subset of four points, and the proof that one has none."""
    picture = plot_dichotomies(POINTS, "discs", figure=blank(5.2, 6.4))
    cut = vc.dichotomies(POINTS, "discs")
    rows = range(len(POINTS))
    (missing,) = (part for size in range(5) for part in combinations(rows, size) if frozenset(part) not in cut)
    reason: Any = vc.why_not(POINTS, missing, "discs")
    numbers = {
        "subsets": 2 ** len(POINTS),
        "cut": len(cut),
        "missing": [LETTERS[row] for row in missing],
        "others": [LETTERS[row] for row in reason.outside],
        "common_point": [float(value) for value in reason.point],
        "height_of_missing": float(reason.inside_height),
        "height_of_others": float(reason.outside_height),
        "sauer_bound": vc.sauer_bound(len(POINTS), 3),
        "checked": reason.check(POINTS),
    }
    caption = (
        "All {subsets} subsets of the points p (0, 0), q (2, 0), r (0, 2) and s (3, 3): blue circles are in the "
        "subset, triangles are not. Discs cut {cut} of them, each shown with one that holds its points alone; that is "
        "as many as a family of VC dimension 3 can cut from four points. The missing one is {{{missing[0]}, "
        "{missing[1]}}}. The segment between these two meets the one between {others[0]} and {others[1]} at "
        "({common_point[0]:g}, {common_point[1]:g}). Lifted to x² + y², the former is at height "
        "{height_of_missing:g} there and the latter at {height_of_others:g}, so a plane that has the first two points "
        "below it has not both others above. With other points another subset is missing, which the text does not say."
    )
    return Shown(picture, caption, numbers)
