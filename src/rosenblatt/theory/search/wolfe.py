"""Find the point of a convex hull nearest to the origin by Wolfe's algorithm (Mathematical Programming 11, 1976).

Problem: given points z_i, find weights a_i >= 0 that sum to 1 and minimise the length of x = sum a_i z_i.

- The points in use, the corral, are affinely independent, and x lies in their convex hull.
- Major cycle: add the point z with the lowest score z . x to the corral.
- Minor cycle: go to the point y of the affine hull of the corral that is nearest to the origin. If y has a negative
  weight, move from x towards y only until a weight becomes zero, drop the point with that weight, and repeat.

Invariant: min_i z_i . u <= distance of the hull from the origin <= |x| for every unit vector u. ``low`` is the
left-hand side for the best direction u found so far, and ``high`` is the right-hand side for the shortest x. The search
ends when ``low`` and ``high`` agree to a relative tolerance. Every major cycle makes x strictly shorter, so no corral
occurs twice, and the algorithm terminates.

The search takes about one to five steps per point of the final corral, almost independently of the margin. The steps
are compiled (`kernels.wolfe`). Most of them consider only a working set of rows with the lowest scores.
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
    safely_scaled,
    scatter,
)

# The convex hulls whose distance from the origin is the margin, for the three definitions of a margin.
#
# A row is z = y x, or z = y (x, 1) if the bias counts as one more weight. By duality the margin is the distance from
# the origin to the convex hull of
#
# - all rows z, for the homogeneous margin (without the 1) and the augmented margin (with the 1);
# - the midpoints (z_i + z_j) / 2 of one row from each class, for the geometric margin. A midpoint is half the
#   difference of two points of different classes, so the distance is half the distance between the convex hulls of the
#   classes, and the bias is unconstrained.


ROUNDED = 2.0**-50  # about the relative error of a dot product of rows


class Hull:
    """The convex hull whose distance from the origin is the margin of the given ``kind``.

    The data are scaled by a power of two if squares would overflow or underflow.

    ``constant`` replaces the 1 in z = y (x, 1); 0 means that there is no such coordinate. ``groups`` partitions the
    rows into sets of equal total weight: the two classes for the geometric margin, otherwise a single set of all rows.
    """

    def __init__(self, X: Matrix, signs: Signs, kind: str, constant: float = 1.0) -> None:
        constant = constant if kind == "augmented" else 0.0
        self.X, exponent = safely_scaled(X, constant)
        self.signs = signs
        self.constant = math.ldexp(constant, -exponent)
        self.size = X.shape[1] + (kind == "augmented")
        both = kind == "geometric"
        self.groups = [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)] if both else [np.arange(len(signs))]
        self.radius = math.hypot(longest_row(self.X), self.constant) or 1.0
        self.noise = 1e-15  # lengths below this share of the radius are rounding errors

    def scores(self, u: Floats) -> Floats:
        """Return ``z . u`` for all rows."""
        d = self.X.shape[1]
        s = self.X @ u[:d]
        if self.constant:
            s += self.constant * u[d]
        s *= self.signs
        return s

    def rows(self, which: NDArray[np.intp]) -> Floats:
        """Return the given rows z as a dense matrix."""
        Z = np.zeros((len(which), self.size))
        Z[:, : self.X.shape[1]] = dense_rows(self.X, which)
        if self.constant:
            Z[:, -1] = self.constant
        Z *= self.signs[which][:, None]
        return Z

    def from_products(self, which: NDArray[np.intp]) -> Hull:
        """Return an isometric copy of the hull of the given rows, with as many dimensions as rows.

        Let G be the Gram matrix of the rows and G = L L' its Cholesky factorisation. The rows of L have the same inner
        products, and so the same norms, distances and nearest point. A small multiple e I of the identity is added to
        G, so that G is positive definite in floating point. The factor e grows until the factorisation succeeds. The
        squared norm of a convex combination with weights a thereby grows by e |a|^2, which is at most e. So norms below
        sqrt(e) are not significant. ``noise`` of the copy is 3 sqrt(e), relative to the largest row norm.
        """
        part = self.X[which]
        G = part @ part.T
        G = (G.toarray() if sp.issparse(G) else G) + self.constant**2
        largest = float(np.max(G.diagonal())) or 1.0
        extra = ROUNDED * largest
        while True:
            try:
                points = np.linalg.cholesky(G + extra * np.eye(len(G)))
                break
            except np.linalg.LinAlgError:
                extra *= 8.0
        copy = Hull(points, self.signs[which], "geometric" if len(self.groups) == 2 else "homogeneous")
        copy.noise = 3.0 * math.sqrt(extra / largest)
        return copy

    def combine(self, shares: Floats) -> Floats:
        """Return the weighted sum of all rows z, with the weights ``shares``."""
        signed = self.signs * shares
        return np.append(self.X.T @ signed, self.constant * signed.sum())[: self.size]

    def middle(self) -> Floats:
        """Return the mean of all vertices of the hull."""
        shares = np.empty(len(self.signs))
        for group in self.groups:
            shares[group] = 1.0 / (len(group) * len(self.groups))
        return self.combine(shares)

    def lowest(self, s: Floats) -> float:
        """Return the lowest score of a vertex of the hull, given the scores ``s`` of all rows."""
        return sum(float(np.min(s[group])) for group in self.groups) / len(self.groups)

    def lowest_rows(self, s: Floats, count: int) -> NDArray[np.intp]:
        """Return the indices of the ``count`` lowest-scoring rows in each group, or of all rows of a smaller group."""
        parts = []
        for group in self.groups:
            few = min(count, len(group)) - 1
            parts.append(group[np.argpartition(s[group], few)[: few + 1]])
        return np.concatenate(parts)


# The constants below are guesses. They affect the time of a search and how close its bounds come, never what is proved
# from them.
ENOUGH = 1e-3  # relative difference of the bounds for the working set at which all rows are first scored
PATIENCE = 300  # the largest number of consecutive steps without a shorter x
WIDE = 4000  # from this number of dimensions on, a Gram matrix replaces the rows
FEW_PRODUCTS = 1000  # rows in the first Gram matrix; the largest number of rows added doubles with each pass
CAPACITY = 1 << 22  # the largest number of entries in the first working set, and in the rows added at a time
OFTEN = 16  # a batch is at most one step plus a sixteenth of the steps made so far
BATCH = 1 << 26  # about the largest number of multiplications in a batch; progress is shown after each batch

Rows = NDArray[np.intp]
Watcher = Callable[[int, float, float], bool | None]


@dataclass(frozen=True)
class Nearest:
    """The result of a search; its bounds are computed in floating point and not yet proved."""

    u: Floats  # unit direction of largest ``low``
    low: float  # lowest score of a vertex along ``u``
    high: float  # norm of the shortest convex combination found
    rows: Rows  # rows of that combination
    weights: Floats  # their weights, which sum to 1
    steps: int
    passes: int  # passes over all rows


def nearest_point(hull: Hull, rtol: float = 1e-6, max_steps: int = 20_000, watch: Watcher | None = None) -> Nearest:
    """Return the point of the hull nearest to the origin, or the best point found.

    The search ends when the bounds on the distance satisfy ``high - low <= rtol * high``. It also ends when no step
    makes progress, after ``max_steps``, or when ``watch`` returns True. ``watch`` is called after each batch of steps
    with the number of steps and both bounds.
    """
    return (_search_products if hull.size >= WIDE else _search)(hull, rtol, max_steps, watch)


def _search(hull: Hull, rtol: float, max_steps: int, watch: Watcher | None) -> Nearest:
    """Alternate between steps on a working set of rows and passes over all rows, which add low-scoring rows to it.

    Invariant: ``high`` is the norm of a convex combination of rows, so it is an upper bound on the distance from the
    origin to the hull of all rows. ``low`` is the lowest score over all rows for some direction. It is computed by the
    steps if the working set has all rows, otherwise only by the passes.

    The search terminates: each iteration uses some of the limited number of steps, adds rows, lowers ``tol`` to
    ``rtol`` (once), or restarts with iterative refinement (once).
    """
    working = _WorkingSet(hull, max_steps)
    state = working.state
    low, best_u = -math.inf, np.zeros(hull.size)
    passes = 0 if working.has_all_rows else 1
    tol = rtol if working.has_all_rows else max(rtol, ENOUGH)
    while True:
        ended = working.run(tol)
        high, steps = float(state["high"]), int(state["steps"])
        if working.has_all_rows:
            low, best_u = float(state["low"]), working.best_u[:-2]
        over = bool(watch and watch(steps, low, high))
        grew = False
        if not working.has_all_rows and (ended != PAUSED or over):
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
        if done:  # restart the bracket with iterative refinement, which doubles the time of a step
            state["careful"], state["high"], low = 1, math.inf, -math.inf
        if done or grew:  # bounds for a smaller working set, or without refinement, are no longer valid
            state["low"] = -math.inf
        state["stuck"], tol = 0, rtol


def _search_products(hull: Hull, rtol: float, max_steps: int, watch: Watcher | None) -> Nearest:
    """Search on an isometric copy of some rows (`Hull.from_products`), and add rows until no other row scores lower.

    The Gram matrix squares the condition number, so margins below about 1e-7 times the largest row norm cannot be
    resolved. This limit is the ``noise`` of the copies, 3 sqrt(2**-50). Each iteration but the last adds rows, so the
    search terminates.
    """
    few, steps, passes = FEW_PRODUCTS, 0, 1
    low, best_u = -math.inf, np.zeros(hull.size)
    which = hull.lowest_rows(hull.scores(hull.middle()), few)
    while True:
        found = _search(hull.from_products(which), rtol, max_steps - steps, _watch_upper_bound(watch, low, steps))
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


def _watch_upper_bound(watch: Watcher | None, low: float, before: int) -> Watcher | None:
    """Return a ``watch`` function for a search on some rows, which uses only the upper bound of that search."""
    return None if watch is None else lambda steps, _, high: watch(before + steps, low, high)


class _WorkingSet:
    """A subset of the rows of a hull, and the variables of the search on it, which continues when rows are added."""

    def __init__(self, hull: Hull, max_steps: int) -> None:
        n, d, groups = len(hull.signs), hull.size, len(hull.groups)
        self.hull = hull
        self.few = max(50, min(2 * d, CAPACITY // (2 * d + 1)))
        self.has_all_rows = n <= 4 * self.few and n * d <= CAPACITY
        middle = hull.middle()
        self.which = np.arange(n) if self.has_all_rows else hull.lowest_rows(hull.scores(middle), self.few)
        self.Z, self.group = self._columns(self.which)
        self.u = np.append(middle, [0.0, 0.0])
        self.best_u = self.u.copy()
        most = min(n, d + groups)  # the largest number of linearly independent rows
        self.corral = (np.empty(most, np.intp), np.empty(most), np.empty(most * (d + 2)), np.empty(most * most))
        self.best_places, self.best_weights = np.empty(most, np.intp), np.empty(most)
        self.scratch = (np.empty(d + 2), np.empty(d + 2), np.empty(most), np.empty(most), np.empty(most))
        self.states = np.zeros(1, STATE)
        self.state = self.states[0]
        self.state["groups"], self.state["c"], self.state["noise"] = groups, hull.radius, hull.noise
        self.state["most"], self.state["patience"] = max_steps, min(2 * d + 20, PATIENCE)
        self.state["low"], self.state["high"] = -math.inf, math.inf

    def run(self, tol: float) -> int:
        """Make a batch of steps and return why it stopped, as a code of `kernels.wolfe`.

        The batch stops early if the bounds for the working set agree to the relative tolerance ``tol``.
        """
        most = max(1, BATCH // (self.Z.size + 8 * self.corral[2].size))
        most = min(most, 1 + int(self.state["steps"]) // OFTEN)  # few at first, to watch the bracket closely
        best = (self.best_places, self.best_weights, self.best_u)
        ended = nearest_steps(
            self.Z.reshape(-1), self.group, self.states, self.corral, best, self.u, self.scratch, tol, most
        )
        return int(ended)

    def best(self) -> tuple[Rows, Floats]:
        """Return the rows and the weights of the shortest convex combination found."""
        count = int(self.state["best"])
        weights = self.best_weights[:count]
        return self.which[self.best_places[:count]], weights / weights.sum()

    def add(self, s: Floats) -> bool:
        """Add the rows with the lowest scores, given the scores ``s`` of all rows; return whether any was new."""
        new = np.setdiff1d(self.hull.lowest_rows(s, self.few), self.which)
        if len(new) == 0:
            return False
        Z, group = self._columns(new)
        self.Z, self.group = np.concatenate([self.Z, Z]), np.concatenate([self.group, group])
        self.which = np.concatenate([self.which, new])
        return True

    def _columns(self, which: Rows) -> tuple[Floats, Rows]:
        """Return the given rows in the format of `kernels.wolfe`, and the group index of each row.

        The format is (z, c, 0) in the first group and (z, 0, c) in the second, where c is the radius of the hull.
        """
        group = np.where(self.hull.signs[which] < 0, len(self.hull.groups) - 1, 0)
        ends = np.zeros((len(which), 2))
        ends[np.arange(len(which)), group] = self.hull.radius
        return np.hstack([self.hull.rows(which), ends]), group


# Wolfe's algorithm in exact arithmetic, for cases that floating point does not decide.
#
# Rows are integers in a common unit, so nothing is rounded. The search starts from the final corral of the
# floating-point search, so it is short. It is finite because each major cycle makes x strictly shorter. It ends in one
# of two cases. Either the hull of the corral contains the origin, and the weights prove that no hyperplane separates
# (Gordan). Or every row has a positive score along x, which is then a separator.


MOST_WORK = 1 << 28  # limit on the work of a search, in products of machine words: one or two minutes


MANY_WORDS = 128  # for longer numbers, divisions take most of the time, which grows with the square of the length


class ExactRows(Protocol):
    """Rows of integers, with floating-point approximations of their scores."""

    width: int  # the number of columns

    @property
    def bits(self) -> int:
        """The largest number of bits of an entry."""

    def __getitem__(self, i: int) -> list[int]:
        """Return row i."""

    def near(self, v: Floats) -> tuple[Floats, Floats]:
        """Return ``z . v`` for every row, in floating point, and bounds on the errors; both are in a common unit."""


class IntegerRows:
    """The rows z = y (x, 1), or z = y x without a bias, as integers in units of the largest possible power of two."""

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
        """Return ``z . v`` for every row, computed in floating point, and a bound on the error of each value."""
        d = self.X.shape[1]
        s = self.X @ v[:d]
        # Higham's gamma_n: d products, the bias, and the rounding of v itself; 2**-1000 for products that underflow.
        spread = abs(self.X) @ (np.abs(v[:d]) + TINY)  # TINY: for entries of v that underflowed
        if self.bias:
            s, spread = s + v[d], spread + abs(v[d])
        return self.signs * s, 1.01 * ((d + 6) * HALF_ULP * spread + 2.0**-1000)


def exact_search(
    rows: ExactRows,
    start: Iterable[int],
    most_work: float = MOST_WORK,
    watch: Callable[[int, float], bool | None] | None = None,
) -> tuple[list[int], None] | tuple[list[int], list[int]] | None:
    """Return ``(v, None)`` with v . z > 0 for every row z, or ``(indices, weights)`` of rows with weighted sum 0.

    All numbers are integers. The rows in the result are affinely independent, so their number exceeds the number of
    columns by at most one. ``start`` contains the row indices of the first corral (the points in use). ``watch`` is
    called before each step with the size of the corral and the share of ``most_work`` done so far. The result is None
    if the search would exceed ``most_work``, or if ``watch`` returns True.
    """
    corral = list(dict.fromkeys(int(i) for i in start)) or [0]
    weights = [Fraction(1, len(corral))] * len(corral)
    work = 0
    while True:
        # Invariant, once the start is affinely independent: the corral is affinely independent. The point x, its
        # combination with nonnegative ``weights`` that sum to 1, is strictly shorter after every major cycle.
        if watch and watch(len(corral), work / most_work):
            return None
        words = len(corral) * rows.bits // 64 + 1
        work += len(corral) ** 3 * words * (1 + words // MANY_WORDS)  # k^3 operations on numbers of k entries' length
        if work > most_work:
            return None
        target = _affine_minimizer([rows[i] for i in corral])  # Wolfe's step 2(a): the point y
        if target is None:  # the start is affinely dependent: drop its last point
            corral, weights = corral[:-1], [Fraction(1, len(corral) - 1)] * (len(corral) - 1)
        elif min(target) <= 0:
            corral, weights = _drop_point(corral, weights, target)  # step 3, the minor cycle
        else:  # step 2(b): y is in the interior of the hull, so x = y
            integers = proportional_integers(target)
            v = [sum(a * rows[i][j] for a, i in zip(integers, corral, strict=True)) for j in range(rows.width)]
            if not any(v):
                return corral, integers
            i, score = _lowest(rows, v)  # step 1 of the major cycle, with x = v / sum of the integers
            if score > 0:
                return v, None
            # All points of the corral, and hence of its affine hull, have the score |x|^2 along x. The new point has a
            # score <= 0 < |x|^2, so it is outside this affine hull. Hence the corral stays affinely independent, and
            # the next x is shorter.
            corral, weights = [*corral, i], [*target, Fraction(0)]


def _drop_point(corral: list[int], weights: list[Fraction], target: list[Fraction]) -> tuple[list[int], list[Fraction]]:
    """Move from ``weights`` towards ``target`` until the first weight is zero, and drop the points of weight zero."""
    way = min(a / (a - t) if a else a for a, t in zip(weights, target, strict=True) if t <= 0)
    weights = [(1 - way) * a + way * t for a, t in zip(weights, target, strict=True)]
    kept = [k for k, weight in enumerate(weights) if weight > 0]
    return [corral[k] for k in kept], [weights[k] for k in kept]


def _affine_minimizer(points: list[list[int]]) -> list[Fraction] | None:
    """Return the weights of the point of the affine hull nearest to the origin, or None for affinely dependent points.

    The rows of P are the points, and 1 is the vector of ones. The weights are proportional to the solution a of Wolfe's
    equations (P P' + 1 1') a = 1. For this a the vector P P' a is constant, which is the Lagrange condition for
    minimising |P' a| subject to sum a = 1. The matrix of the equations is positive definite exactly if the points are
    affinely independent; then every column has a pivot.
    """
    P = np.array(points, dtype=object).reshape(len(points), -1)
    M, pivots = bareiss(np.column_stack([P @ P.T + 1, np.ones(len(P), dtype=object)]))
    if pivots != list(range(len(P))):
        return None
    shares, _ = back_substitute(M, pivots, len(P))
    total = sum(shares)
    return [Fraction(share, total) for share in shares]


def _lowest(rows: ExactRows, v: list[int]) -> tuple[int, int]:
    """Return the index of the row with the lowest score v . z, and this score.

    Floating point with error bounds excludes most rows, and the remaining rows are scored exactly.
    """
    with np.errstate(all="ignore"):
        s, error = rows.near(np.array(proportional_floats(v)))
        in_doubt = np.flatnonzero(~(s - error > np.min(s + error)))
    score, i = min((sum(a * b for a, b in zip(v, rows[i], strict=True)), i) for i in in_doubt.tolist())
    return i, score
