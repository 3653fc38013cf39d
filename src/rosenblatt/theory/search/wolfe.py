"""The point of a convex hull nearest to the origin, by Wolfe's algorithm (P. Wolfe 1976).

Problem: given the vertices of a hull, find weights, not negative and of sum 1, whose mean of the vertices is shortest.
At any moment its length is at least the distance of the hull from the origin, and the least score of a vertex along a
unit direction is at most that distance: a bracket that closes. The rows in use (the corral) stay affinely
independent. Each step adds the rows of least score and moves to the nearest point of the affine hull of the corral;
where that leaves the convex hull, rows are dropped.

The steps are few, about one to five for each row of the final corral, nearly whatever the margin, and they are
compiled. Full passes over the data are fewer: steps look at a working set of the rows with the lowest scores, and at
all rows only when that is nearly done.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.wolfe import AT_ZERO, PAUSED, STATE, nearest_steps
from rosenblatt.theory.inputs import Floats, spread
from rosenblatt.theory.search.hulls import Hull

ENOUGH = 1e-3  # all rows are looked at for the first time when the working set's own bracket is closed to this share
PATIENCE = 300  # the most steps without a shorter mean
WIDE = 4000  # from so many dimensions on, only products of rows are kept and not the rows
FEW_PRODUCTS = 1000  # the rows whose products are kept at first; twice as many after each look at all rows
ROOM = 1 << 22  # numbers to hold at first, at most, and to add at a time
OFTEN = 16  # the search pauses after each step, and after a share of the steps made where these are more
BATCH = 1 << 26  # multiplications to make, about, before progress is shown and an interrupt is seen

Rows = NDArray[np.intp]
Watcher = Callable[[int, float, float], bool | None]


@dataclass(frozen=True)
class Nearest:
    """Where the search ended; the bracket is in floating point, so it still has to be proved."""

    u: Floats  # unit direction of largest ``low``
    low: float  # least score of a vertex along ``u``
    high: float  # length of the shortest mean found
    rows: Rows  # of that mean
    weights: Floats  # of these rows, of sum 1
    steps: int
    passes: int  # looks at all rows between the steps


def nearest_point(hull: Hull, rtol: float = 1e-6, max_steps: int = 20_000, watch: Watcher | None = None) -> Nearest:
    """Return the nearest point once ``high - low <= rtol * high``, or the best when no step helps any more.

    ``watch`` is called with the steps and the bracket after each batch of steps; where it returns True the search ends.
    """
    return (_search_products if hull.size >= WIDE else _search)(hull, rtol, max_steps, watch)


def _search(hull: Hull, rtol: float, max_steps: int, watch: Watcher | None) -> Nearest:
    working = _Working(hull, max_steps)
    state = working.state
    low, best_u = -math.inf, np.zeros(hull.size)
    passes = 0 if working.whole else 1
    tol = rtol if working.whole else max(rtol, ENOUGH)
    while True:
        ended = working.go(tol)
        high, steps = float(state["high"]), int(state["steps"])
        if working.whole:
            low, best_u = float(state["low"]), working.best_u[:-2]
        over = bool(watch and watch(steps, low, high))
        grew = False
        if not working.whole and (ended != PAUSED or over):
            u = working.best_u[:-2].copy()
            s = hull.scores(u)
            passes += 1
            score = hull.lowest(s)
            if score > low:
                low, best_u = score, u
                over = bool(watch and watch(steps, low, high)) or over
            grew = not over and working.add(s)
        if over:
            return Nearest(best_u, low, high, *working.best(), steps, passes)
        if ended == PAUSED:
            continue
        close = low > 0 and high - low <= rtol * high
        done = close or ended == AT_ZERO or not (grew or tol > rtol)
        if steps > max_steps or (done and state["careful"]):
            return Nearest(best_u, low, high, *working.best(), steps, passes)
        if done:  # the last steps are made with care, and only they count
            state["careful"], state["high"], low = 1, math.inf, -math.inf
        if done or grew:
            state["low"] = -math.inf
        state["stuck"], tol = 0, rtol


def _search_products(hull: Hull, rtol: float, max_steps: int, watch: Watcher | None) -> Nearest:
    """Search among points that have the same products as some rows, until no others are lower.

    It cannot follow margins below some 1e-7 of the rows' length.
    """
    few, steps, passes = FEW_PRODUCTS, 0, 1
    low, best_u = -math.inf, np.zeros(hull.size)
    which = hull.lowest_rows(hull.scores(hull.middle()), few)
    while True:
        found = _search(hull.narrowed(which), rtol, max_steps - steps, _of_some_rows(watch, low, steps))
        rows, steps, passes = which[found.rows], steps + found.steps, passes + 1
        mean = hull.combine(spread(rows, found.weights, len(hull.signs)))
        high = math.sqrt(mean @ mean)
        u = mean / (high or 1.0)
        s = hull.scores(u)
        score = hull.lowest(s)
        if score > low:
            low, best_u = score, u
        new = np.setdiff1d(hull.lowest_rows(s, few), which)
        over = watch and watch(steps, low, high)
        if over or (low > 0 and high - low <= rtol * high) or len(new) == 0 or steps >= max_steps or high == 0:
            return Nearest(best_u, low, high, rows, found.weights, steps, passes)
        which, few = np.concatenate([which, new]), 2 * few


def _of_some_rows(watch: Watcher | None, low: float, before: int) -> Watcher | None:
    """Return a watcher for some of the rows: their upper bound holds for all, their lower one does not.

    ``before`` are the steps made before.
    """
    return None if watch is None else lambda steps, _, high: watch(before + steps, low, high)


class _Working:
    """Some rows of a hull, and the search among them, which goes on when rows are added."""

    def __init__(self, hull: Hull, max_steps: int) -> None:
        n, d, groups = len(hull.signs), hull.size, len(hull.groups)
        self.hull = hull
        self.few = max(50, min(2 * d, ROOM // (2 * d + 1)))
        self.whole = n <= 4 * self.few and n * d <= ROOM
        middle = hull.middle()
        self.which = np.arange(n) if self.whole else hull.lowest_rows(hull.scores(middle), self.few)
        self.Z, self.group = self._columns(self.which)
        self.u = np.append(middle, [0.0, 0.0])
        self.best_u = self.u.copy()
        room = min(n, d + groups)  # as many as can be independent
        self.corral = (np.empty(room, np.intp), np.empty(room), np.empty(room * (d + 2)), np.empty(room * room))
        self.best_places, self.best_weights = np.empty(room, np.intp), np.empty(room)
        self.scratch = (np.empty(d + 2), np.empty(d + 2), np.empty(room), np.empty(room), np.empty(room))
        self.states = np.zeros(1, STATE)
        self.state = self.states[0]
        self.state["groups"], self.state["c"], self.state["noise"] = groups, hull.radius, hull.noise
        self.state["most"], self.state["patience"] = max_steps, min(2 * d + 20, PATIENCE)
        self.state["low"], self.state["high"] = -math.inf, math.inf

    def go(self, tol: float) -> int:
        """Make a batch of steps, or less if that closes the bracket of these rows to ``tol``; say why they ended."""
        turns = max(1, BATCH // (self.Z.size + 8 * self.corral[2].size))
        turns = min(turns, 1 + int(self.state["steps"]) // OFTEN)  # at first few, so that the bracket is seen closing
        best = (self.best_places, self.best_weights, self.best_u)
        ended = nearest_steps(
            self.Z.reshape(-1), self.group, self.states, self.corral, best, self.u, self.scratch, tol, turns
        )
        return int(ended)

    def best(self) -> tuple[Rows, Floats]:
        """Return the rows and the weights of the shortest mean."""
        count = int(self.state["best"])
        weights = self.best_weights[:count]
        return self.which[self.best_places[:count]], weights / weights.sum()

    def add(self, s: Floats) -> bool:
        """Add the rows of least score, where ``s`` are the scores of all; return whether any was new."""
        new = np.setdiff1d(self.hull.lowest_rows(s, self.few), self.which)
        if len(new) == 0:
            return False
        Z, group = self._columns(new)
        self.Z, self.group = np.concatenate([self.Z, Z]), np.concatenate([self.group, group])
        self.which = np.concatenate([self.which, new])
        return True

    def _columns(self, which: Rows) -> tuple[Floats, Rows]:
        """Return the rows (z, c, 0) or (z, 0, c), by their groups, and the groups."""
        group = np.where(self.hull.signs[which] < 0, len(self.hull.groups) - 1, 0)
        ends = np.zeros((len(which), 2))
        ends[np.arange(len(which)), group] = self.hull.radius
        return np.hstack([self.hull.rows(which), ends]), group
