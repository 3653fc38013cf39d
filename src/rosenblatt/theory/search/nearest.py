"""The point of a convex hull nearest to the origin, by Wolfe's algorithm (P. Wolfe 1976).

Problem: given the vertices of a hull, find weights, not negative and of sum 1, whose mean of the vertices is shortest.
At any moment its length is at least the distance of the hull from the origin, and the least score of a vertex along a
unit direction is at most that distance: a bracket that closes. The working points (the corral) stay affinely
independent. Each step adds the vertex of least score and moves to the nearest point of the affine hull of the corral;
where that leaves the convex hull, points are dropped.

The steps are few, about one to five for each point of the final corral, nearly whatever the margin. Full passes over
the data are fewer: steps look at a working set of the rows with the lowest scores, and at all rows only when that is
nearly done.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rosenblatt.theory.search.corral import Corral, new_corral
from rosenblatt.theory.search.hulls import Hull, Key, Vector

__all__ = ["Nearest", "nearest_point"]

ENOUGH = 1e-3
"""All rows are looked at again when the working set's own bracket is closed to this share."""
PATIENCE = 300
"""The most steps without a shorter mean."""


@dataclass(frozen=True)
class Nearest:
    """Where the search ended; the bracket is in floating point, so it still has to be proved."""

    u: Vector
    """Unit direction of largest ``low``."""
    low: float
    """Least score of a vertex along ``u``."""
    high: float
    """Length of the shortest mean found."""
    keys: tuple[Key, ...]
    weights: Vector
    """The vertices and the weights of that mean."""
    steps: int
    passes: int
    """Looks at all rows."""


def nearest_point(
    hull: Hull,
    rtol: float = 1e-6,
    max_steps: int = 20_000,
    watch: Callable[[int, float, float], None] | None = None,
) -> Nearest:
    """Return the nearest point once ``high - low <= rtol * high``, or the best when no step helps any more.

    ``watch`` is told the steps and the bracket before each step.
    """
    scan = _Scan(hull)
    key = scan.first()
    corral, weights = new_corral(hull), np.ones(1)
    corral.insert(key)
    low, high = -math.inf, math.inf
    best_u = np.zeros(hull.size)
    best: tuple[tuple[Key, ...], Vector] = ((key,), weights)
    steps = stuck = 0
    while True:
        mean = corral.mean(weights)
        length = math.sqrt(mean @ mean)
        stuck = 0 if length < high else stuck + 1  # near rounding a step may not show
        if length < high:
            high, best = length, (tuple(corral.keys), weights)
        u = corral.normal(mean) if stuck % 2 == 0 else mean
        if not u @ mean > 0:
            u = mean
        size = math.sqrt(u @ u)
        if size == 0:
            break
        u = u / size
        key, score, of_all = scan.lowest(u, length)
        added = key not in corral.keys and corral.insert(key)
        if not added and not of_all:
            key, score = scan.everywhere(u)
            of_all = True
            added = key not in corral.keys and corral.insert(key)
        if of_all and score > low:
            low, best_u = score, u
        if watch:
            watch(steps, low, high)
        steps += 1
        close = low > 0 and high - low <= rtol * high
        at_zero = length <= corral.zero * hull.radius * math.sqrt(len(weights))
        over = steps > max_steps or stuck > min(2 * hull.size + 20, PATIENCE)
        if over or ((close or at_zero or not added) and corral.careful):
            break
        if close or at_zero or not added:  # the last steps are made with care, and only they count
            corral.careful, high = True, math.inf
        weights = _descend(corral, np.append(weights, 0.0) if added else weights)
    return Nearest(best_u, low, high, *best, steps, scan.passes)


def _descend(corral: Corral, weights: Vector) -> Vector:
    """Move to the nearest point of the corral's affine hull, dropping points until that is in its convex hull."""
    while True:
        target = corral.nearest()
        if (target > 0).all():
            return target
        with np.errstate(all="ignore"):
            ways = np.where(target <= 0, weights / (weights - target), np.inf)  # how far each weight lasts
        ways[np.isnan(ways)] = 0.0
        k = int(np.argmin(ways))
        way = min(1.0, float(ways[k]))
        weights = (1.0 - way) * weights + way * target
        weights[k] = 0.0
        gone = np.flatnonzero(~(weights > 0))
        for k in gone[::-1].tolist():
            corral.remove(k)
        weights = np.delete(weights, gone)
        weights /= weights.sum()


class _Scan:
    """Finds the vertex of least score, in a working set of rows while that is enough."""

    def __init__(self, hull: Hull) -> None:
        self.hull = hull
        self.passes = 0
        self.few = max(50, 2 * hull.size)
        self.whole = len(hull.signs) <= 4 * self.few  # few rows: every look is at all of them
        self.working: _Working | None = None

    def first(self) -> Key:
        """Return the lowest vertex in the direction of the mean of all."""
        shares = np.zeros(len(self.hull.signs))
        for group in self.hull.groups:
            shares[group] = 1.0 / len(group)
        return self.everywhere(self.hull.combine(shares))[0]

    def lowest(self, u: Vector, length: float) -> tuple[Key, float, bool]:
        """Return the vertex of least score, that score, and whether all rows were looked at."""
        if self.working is not None:
            key, score = self.working.lowest(u)
            if score < length * (1.0 - ENOUGH):
                return key, score, False
        return *self.everywhere(u), True

    def everywhere(self, u: Vector) -> tuple[Key, float]:
        """Return the vertex of least score of all, and that score; the working set learns from it."""
        s = self.hull.scores(u)
        self.passes += 1
        if not self.whole:
            rows = self.hull.lowest_rows(s, self.few)
            known = self.working.which if self.working is not None else rows
            self.working = _Working(self.hull, np.union1d(known, rows))
        return self.hull.lowest(s)


class _Working:
    """Some rows of a hull, held together."""

    def __init__(self, hull: Hull, which: np.ndarray) -> None:
        self.which = which
        self.Z = hull.rows(which)
        place = np.full(len(hull.signs), -1)
        place[which] = np.arange(len(which))
        self.groups = [held[held >= 0] for held in (place[group] for group in hull.groups)]

    def lowest(self, u: Vector) -> tuple[Key, float]:
        """Return the vertex of least score among these rows, and that score."""
        s = self.Z @ u
        places = [group[np.argmin(s[group])] for group in self.groups]
        return tuple(int(self.which[k]) for k in places), sum(float(s[k]) for k in places) / len(places)
