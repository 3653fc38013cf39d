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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.wolfe import AT_ZERO, PAUSED, STATE, nearest_steps
from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.exact import (
    back_substitute,
    bareiss,
    lowest_exponents,
    proportional_floats,
    proportional_integers,
    to_integers,
)
from rosenblatt.theory.inputs import (
    Floats,
    Matrix,
    Signs,
    dense_rows,
    entries,
    largest_entry,
    longest_row,
    safe,
    scatter,
)

# The convex hulls whose nearest point to the origin is the margin, for the three definitions of a margin.
#
# Each row stands for z = y x, or z = y (x, 1) where the bias is a weight like any other. The margin is the distance
# from the origin to the hull of
#
# - all rows z: homogeneous without the 1, augmented with it;
# - the means (z_i + z_j) / 2 of one row of each class: geometric. These are the halved differences of the two
#   classes, so their hull lies at half the distance of the two class hulls, and the bias is free.


ROUNDED = 2.0**-50  # a product of rows is off by about this share


class Hull:
    """The hull of one kind, for the solver: floats, scaled by a power of two where squares would overflow or vanish.

    ``constant`` is what stands for the 1 in z = y (x, 1); 0 means that there is no such coordinate.
    """

    def __init__(self, X: Matrix, signs: Signs, kind: str, constant: float = 1.0) -> None:
        constant = constant if kind == "augmented" else 0.0
        self.X, exponent = safe(X, constant)
        self.signs = signs
        self.constant = math.ldexp(constant, -exponent)
        self.size = X.shape[1] + (kind == "augmented")
        both = kind == "geometric"
        self.groups = [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)] if both else [np.arange(len(signs))]
        self.radius = math.hypot(longest_row(self.X), self.constant) or 1.0
        self.noise = 1e-15  # lengths below this share of the radius are rounding

    def scores(self, u: Floats) -> Floats:
        """Return ``z . u`` for all rows."""
        d = self.X.shape[1]
        s = self.X @ u[:d]
        if self.constant:
            s += self.constant * u[d]
        s *= self.signs
        return s

    def rows(self, which: NDArray[np.intp]) -> Floats:
        """Return some rows z as a dense matrix."""
        Z = np.zeros((len(which), self.size))
        Z[:, : self.X.shape[1]] = dense_rows(self.X, which)
        if self.constant:
            Z[:, -1] = self.constant
        Z *= self.signs[which][:, None]
        return Z

    def narrowed(self, which: NDArray[np.intp]) -> Hull:
        """Return the hull of points with the same products as these rows, in no more dimensions than there are rows."""
        part = self.X[which]
        G = part @ part.T
        G = (G.toarray() if sp.issparse(G) else G) + self.constant**2
        largest = float(np.max(G.diagonal())) or 1.0
        extra = ROUNDED * largest  # so that rounding does not make a length negative
        while True:
            try:
                points = np.linalg.cholesky(G + extra * np.eye(len(G)))
                break
            except np.linalg.LinAlgError:
                extra *= 8.0
        few = Hull(points, self.signs[which], "geometric" if len(self.groups) == 2 else "homogeneous")
        few.noise = 3.0 * math.sqrt(extra / largest)
        return few

    def combine(self, shares: Floats) -> Floats:
        """Return the sum of all rows z times ``shares``."""
        signed = self.signs * shares
        return np.append(self.X.T @ signed, self.constant * signed.sum())[: self.size]

    def middle(self) -> Floats:
        """Return the mean of all vertices."""
        shares = np.empty(len(self.signs))
        for group in self.groups:
            shares[group] = 1.0 / (len(group) * len(self.groups))
        return self.combine(shares)

    def lowest(self, s: Floats) -> float:
        """Return the least score of a vertex, where ``s`` are the scores of all rows."""
        return sum(float(np.min(s[group])) for group in self.groups) / len(self.groups)

    def lowest_rows(self, s: Floats, count: int) -> NDArray[np.intp]:
        """Return the ``count`` rows of least score of each group, or all."""
        parts = []
        for group in self.groups:
            few = min(count, len(group)) - 1
            parts.append(group[np.argpartition(s[group], few)[: few + 1]])
        return np.concatenate(parts)


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
        mean = hull.combine(scatter(rows, found.weights, len(hull.signs)))
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


# Wolfe's algorithm in exact arithmetic, to decide what floating point leaves open.
#
# Rows are taken as integers in a common unit, so nothing is rounded and every step is a fact about the numbers as
# stored. The search starts from the corral that floating point ended with, so it is short, and it always ends: each
# corral gives a strictly shorter mean. Either some corral holds the origin, and its weights prove that nothing
# separates (Gordan), or its mean is a separator.


MOST_WORK = 1 << 28  # what a search may cost, in products of words: a minute or two


class ExactRows(Protocol):
    """Rows of integers, which floats are near to."""

    width: int  # the number of columns

    @property
    def bits(self) -> int:
        """The most bits of a number."""

    def __getitem__(self, i: int) -> list[int]:
        """Return row i."""

    def near(self, v: Floats) -> tuple[Floats, Floats]:
        """Return ``z . v`` for every row, in some common unit, and how far each may be off."""


class IntegerRows:
    """The rows z = y (x, 1), or z = y x without a bias, as integers in the largest unit that allows it."""

    def __init__(self, X: Matrix, signs: Signs, bias: bool) -> None:
        self.X, self.signs, self.bias = X, signs, bias
        self.low, self.high = int(lowest_exponents(entries(X).reshape(-1, 1))[0]), math.frexp(largest_entry(X))[1]
        if bias:
            self.low, self.high = min(self.low, 0), max(self.high, 1)
        self.width, self.bits = X.shape[1] + bias, max(1, self.high - self.low)
        self._known: dict[int, list[int]] = {}

    def __getitem__(self, i: int) -> list[int]:
        if i not in self._known:
            x = self.X[[i]].toarray()[0] if sp.issparse(self.X) else self.X[i]
            sign = int(self.signs[i])
            row = (sign * to_integers(x, self.low)).tolist()
            self._known[i] = [*row, sign << -self.low] if self.bias else row
        return self._known[i]

    def near(self, v: Floats) -> tuple[Floats, Floats]:
        """Return ``z . v`` for every row, and how far each may be off."""
        d = self.X.shape[1]
        s = self.X @ v[:d]
        spread = abs(self.X) @ (np.abs(v[:d]) + TINY)  # so that what vanished in v counts too
        if self.bias:
            s, spread = s + v[d], spread + abs(v[d])
        return self.signs * s, 1.01 * ((d + 6) * HALF_ULP * spread + 2.0**-1000)


def exact_search(
    rows: ExactRows,
    start: Iterable[int],
    most_work: float = MOST_WORK,
    watch: Callable[[int, float], bool | None] | None = None,
) -> tuple[list[int], None] | tuple[list[int], list[int]] | None:
    """Return ``(v, None)`` with v . z > 0 for all rows z, or ``(numbers, weights)`` of rows that add up to zero.

    All numbers are integers, and the rows that add up to zero are affinely independent, so at most one more than there
    are columns. ``start`` are rows to begin with. None where it would be too much work. ``watch`` is called before
    each step with the number of rows in use and the share of the allowed work that is done; True ends the search.
    """
    keys = list(dict.fromkeys(int(i) for i in start)) or [0]
    shares = [Fraction(1, len(keys))] * len(keys)
    work = 0
    while True:
        if watch and watch(len(keys), work / most_work):
            return None
        work += len(keys) ** 4 * rows.bits // 64  # the numbers grow with the points
        if work > most_work:
            return None
        target = _nearest([rows[i] for i in keys])
        if target is None:  # affinely dependent: the last is not needed
            keys, shares = keys[:-1], [Fraction(1, len(keys) - 1)] * (len(keys) - 1)
        elif min(target) <= 0:
            keys, shares = _toward(keys, shares, target)
        else:
            whole = proportional_integers(target)
            v = [sum(share * rows[i][j] for share, i in zip(whole, keys, strict=True)) for j in range(rows.width)]
            if not any(v):
                return keys, whole
            i, score = _lowest(rows, v)
            if score > 0:
                return v, None
            keys, shares = [*keys, i], [*target, Fraction(0)]


def _toward(keys: list[int], shares: list[Fraction], target: list[Fraction]) -> tuple[list[int], list[Fraction]]:
    """Move from ``shares`` toward ``target`` until the first weight is gone, and drop what has none."""
    way = min(s / (s - t) if s else s for s, t in zip(shares, target, strict=True) if t <= 0)
    shares = [(1 - way) * s + way * t for s, t in zip(shares, target, strict=True)]
    kept = [k for k, share in enumerate(shares) if share > 0]
    return [keys[k] for k in kept], [shares[k] for k in kept]


def _nearest(points: list[list[int]]) -> list[Fraction] | None:
    """Return the weights of the affine hull's point nearest to the origin; None where the points are dependent.

    They are in proportion to the solution of (P P' + 1 1') a = 1. The matrix is positive definite, so every column has
    its pivot unless the points are affinely dependent.
    """
    P = np.array(points, dtype=object).reshape(len(points), -1)
    M, pivots = bareiss(np.column_stack([P @ P.T + 1, np.ones(len(P), dtype=object)]))
    if pivots != list(range(len(P))):
        return None
    shares, _ = back_substitute(M, pivots, len(P))
    total = sum(shares)
    return [Fraction(share, total) for share in shares]


def _lowest(rows: ExactRows, v: list[int]) -> tuple[int, int]:
    """Return the row of least score v . z and that score: floats leave few rows in doubt, which are done exactly."""
    with np.errstate(all="ignore"):
        s, error = rows.near(np.array(proportional_floats(v)))
        in_doubt = np.flatnonzero(~(s - error > np.min(s + error)))
    score, i = min((sum(a * b for a, b in zip(v, rows[i], strict=True)), i) for i in in_doubt.tolist())
    return i, score
