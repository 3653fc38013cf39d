"""What certificates about labelled rows have in common: their check, a bracket around a margin, and its words.

The two classes are signs: +1 for rows that carry the ``positive`` label, -1 for all others.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.small_pictures import number_line
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.claims import attains, most_margin, nearest_rows
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Numbers, Signs, certified_signs, check_rows

DEFINITIONS = {
    "geometric": "distance of the nearest point, bias free",
    "augmented": "of (x, 1), the bias a weight like the others",
    "homogeneous": "of hyperplanes through the origin",
}
"""The three margins of a data set, by name, in words."""
KINDS = tuple(DEFINITIONS)


class AboutRows(Certificate):
    """What certificates about labelled rows have in common."""

    alpha: Floats
    positive: object

    def check(self, X: MatrixLike, y: ArrayLike) -> bool:
        """Return whether every claim holds for these rows and labels, recomputed exactly from them."""
        X, y = check_rows(X, y)
        signs, alpha = certified_signs(y, self.positive), self.alpha
        if signs is None or alpha.shape != signs.shape or not (np.isfinite(alpha) & (alpha >= 0)).all():
            return False
        return self._holds(X, signs)

    def _holds(self, X: Matrix, signs: Signs) -> bool:
        raise NotImplementedError


class Bracket(AboutRows):
    """What certificates about a margin have in common.

    ``history`` is how the search closed the bracket: the steps made, and the lower and upper end then, in floating
    point. It is no part of what is proved, and is not saved.
    """

    w: Numbers
    b: float
    nearest: NDArray[np.intp] | None = None
    history: tuple[tuple[int, float, float], ...] = ()

    def with_history(self, history: Iterable[tuple[int, float, float]]) -> Self:
        """Return the same certificate, which also knows how the search closed its bracket."""
        other = copy.copy(self)
        object.__setattr__(other, "history", tuple(history))
        return other

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that carry weight in ``alpha``."""
        return np.flatnonzero(self.alpha)

    def _proves(self, X: Matrix, signs: Signs, kind: str, low: float, high: float, separates: bool) -> bool:
        """Return whether (w, b) has a margin of at least ``low``, and ``alpha`` proves that none is above ``high``."""
        claimed = attains(X, signs, self.w, self.b, kind, low, separates)
        if not (claimed and high >= most_margin(X, signs, self.alpha, kind)):
            return False
        return self.nearest is None or np.array_equal(self.nearest, nearest_rows(X, signs, self.w, self.b, kind, high))


def points_text(n: int) -> str:
    """Return how many points there are, in words."""
    return f"the {n:,} points" if n != 1 else "the one point"


def draw_margin(low: float, high: float) -> str:
    """Draw a bracket around a margin on a number line."""
    return number_line(low, high, f"The margin on a number line: it {bracket_text(low, high)}.")


def bracket_text(low: float, high: float) -> str:
    """Return where the margin lies, in words."""
    if low == math.inf:
        return "is infinite: all points carry one label, and the bias alone gives it to them"
    gap = (high - low) / high if high > 0 else math.inf
    if not gap < 1e-3:
        return f"lies between {low:.4g} and {high:.4g}"
    return f"is {low:.6g}" + (f", proved to a relative {gap:.0e}" if gap > 0 else " exactly")
