"""`fewest_mistakes`: a bracket around the least number of rows to remove, closed by hyperplanes and by cores.

From above a hyperplane with few mistakes, from below cores (infeasible subsystems) that each must lose a row: the
implicit hitting set method. New cores are looked for among the rows that a cheapest hitting set of the known ones
leaves; if there are none, both ends meet.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.messages import check_seconds
from rosenblatt.progress import Budget, Progress
from rosenblatt.theory.exact import representatives
from rosenblatt.theory.inputs import Matrix, MatrixLike, Numbers, Signs, two_classes
from rosenblatt.theory.min_mistakes.answers import Core, FewestMistakes, Tree
from rosenblatt.theory.min_mistakes.hitting_set import Refutation, cheapest_hit, quick_hit
from rosenblatt.theory.min_mistakes.hyperplanes import Points, best_hyperplane
from rosenblatt.theory.separability import separability
from rosenblatt.theory.verdicts import Inseparable, Separable

# The search for cores: rows that no hyperplane separates. What it finds on the way improves the best hyperplane.


Mask = NDArray[np.bool_]
CALL = 2e6  # what deciding a small set costs, in multiplications
EXACT = 1000.0  # and the cube of the rows with exact weights, of which there are at most
MOST_EXACT = 24


class Removal(NamedTuple):
    """Rows to remove, and the hyperplane that then separates."""

    wrong: Mask
    w: Numbers
    b: float
    cost: int


class CoreSearch:
    """Finds cores among some rows, by looking at few rows at a time, and keeps the best removal seen."""

    def __init__(self, points: Points, w: Numbers, b: float, budget: Budget) -> None:
        self.points, self.budget = points, budget
        self.rng = np.random.default_rng(0)
        wrong = points.mistakes(w, b)
        self.best = Removal(wrong, w, b, points.cost(wrong))
        self.few = points.X.shape[1] + 2

    def find(self, allowed: Mask, first: Sequence[int] = ()) -> Core | Separable | None:
        """Return a core among the allowed rows, or a separator of them; None if it could not be decided in time.

        It starts with the rows ``first`` and some others. As long as these can be separated, rows that their separator
        has on the wrong side are added.
        """
        points, budget = self.points, self.budget
        pool = self._start(allowed, first)
        while len(pool) and not budget.is_spent:
            size = min(len(pool), self.few)
            budget.spend(CALL + 4.0 * len(pool) * self.few * size + EXACT * min(size, MOST_EXACT) ** 3)
            seconds = max(1e-3, budget.seconds) if math.isfinite(budget.end) else None
            verdict = separability(points.X[pool], points.signs[pool], margin=False, max_seconds=seconds)
            if isinstance(verdict, Inseparable):
                rows = verdict.support
                return Core(pool[rows], verdict.alpha[rows], verdict.weights, verdict.basis)
            if not isinstance(verdict, Separable):
                return None
            surplus = points.surplus(verdict.w, verdict.b)
            budget.spend(points.X.shape[0] * points.X.shape[1] * 2)
            wrong = ~(surplus > 0)
            wrong[pool] = False  # as was decided exactly
            outside = np.flatnonzero(wrong & allowed)
            cost = points.cost(wrong)
            if cost < self.best.cost:
                self.best = Removal(wrong, verdict.w, verdict.b, cost)
            if len(outside) == 0:
                return verdict
            worst = outside[np.argsort(surplus[outside], kind="stable")[: self.few]]
            pool = np.union1d(pool, worst)
        return None

    def _start(self, allowed: Mask, first: Sequence[int]) -> NDArray[np.intp]:
        rows = np.flatnonzero(allowed)
        if len(rows) > 4 * self.few:
            rows = self.rng.choice(rows, 2 * self.few, replace=False)
        return np.union1d(rows, np.array(first, dtype=np.intp))


# The bracket around the fewest mistakes as it closes: a hyperplane from above, cores from below.


SEARCH = 2e10  # the work of looking for hyperplanes and cores, about 20 seconds
PROOF = 1e10  # and of proving how many rows hit all cores
SHARE = 0.7  # of the user's seconds are for the search
MOST_REFINED = 1000  # cores, beyond which no more are looked for beside rows that hit all


class Bracket:
    """The search among different rows: first disjoint cores, then those that a cheapest hit of all others leaves."""

    def __init__(self, points: Points, max_seconds: float | None, progress: Progress) -> None:
        self.points, self.progress = points, progress
        self.proof = Budget(PROOF, max_seconds)
        self.budget = Budget(SEARCH, None if max_seconds is None else SHARE * max_seconds)
        self.search = CoreSearch(points, *self._start(), self.budget)
        self.cores: list[Core] = []
        self.disjoint: list[tuple[int, int]] = []

    def _start(self) -> tuple[Numbers, float]:
        signs = self.points.signs
        if abs(signs.sum()) == len(signs):
            return np.zeros(self.points.X.shape[1]), float(signs[0])
        return best_hyperplane(self.points, self.budget)

    @property
    def best(self) -> Removal:
        """The cheapest removal so far."""
        return self.search.best

    def close(self) -> tuple[int, Tree]:
        """Look for cores until both ends meet or nothing is left to spend; return the lower end and its proof."""
        self._pack()
        if self._packed < self.best.cost:
            self._refine()
        if not self.cores:
            return 0, ((),)
        cores = [core.rows for core in self.cores]
        return Refutation(cores, self.points.counts, self.proof).prove(self.best.cost, tuple(self.disjoint))

    @property
    def _packed(self) -> int:
        return sum(times for _, times in self.disjoint)

    def _pack(self) -> None:
        """Find a core for each mistake, disjoint from the others, or put the mistake back where there is none.

        Where mistakes are few, a core takes one of them and otherwise rows that are right. Where they are so many that
        there are not enough rows for that, it may take any. Then look for more among the rows outside all cores.
        """
        left = self.points.counts.copy()
        tried = np.zeros(len(left), bool)
        while not self.budget.is_spent:
            wrong = self.best.wrong
            untried = np.flatnonzero(wrong & ~tried & (left > 0))
            if len(untried) == 0:
                break
            first = int(untried[0])
            tried[first] = True
            plenty = np.count_nonzero(wrong) * self.search.few > len(left)
            allowed = (left > 0) & (plenty | ~wrong)
            allowed[first] = True
            self._take(self.search.find(allowed, [first]), left)
        while self._packed < self.best.cost and self._take(self.search.find(left > 0), left):
            pass

    def _take(self, found: Core | Separable | None, left: NDArray[np.int64]) -> bool:
        """Count a core as often as its rows are left; return whether it is one."""
        if isinstance(found, Core):
            times = int(left[found.rows].min())
            left[found.rows] -= times
            self.disjoint.append((len(self.cores), times))
            self.cores.append(found)
        self.progress.bracket(self._packed, self.best.cost)
        return isinstance(found, Core)

    def _refine(self) -> None:
        """Hit all cores, quickly at first and then as cheaply as can be, and look for new cores beside that.

        If there are none where the hit was cheapest, both ends meet.
        """
        quick = True
        while self.cores and len(self.cores) < MOST_REFINED and not self.budget.is_spent:
            cores, counts = [core.rows for core in self.cores], self.points.counts
            hit = quick_hit(cores, counts) if quick else cheapest_hit(cores, counts, self.budget)
            fresh = hit is not None and self._look_beside(hit)
            if not (fresh or quick):
                return
            quick = quick and fresh

    def _look_beside(self, hit: NDArray[np.intp]) -> bool:
        """Look for disjoint cores among the rows that are not hit; return whether there are any."""
        allowed = np.ones(len(self.points.signs), bool)
        allowed[hit] = False
        before = len(self.cores)
        while isinstance(found := self.search.find(allowed), Core):
            self.cores.append(found)
            allowed[found.rows] = False
            self.progress.bracket(self._packed, self.best.cost)
        return len(self.cores) > before


def fewest_mistakes(X: MatrixLike, y: ArrayLike, max_seconds: float | None = None, verbose: int = 0) -> FewestMistakes:
    """Bracket the least number of rows whose removal leaves data that a hyperplane separates, and prove both ends.

    This is the least number of mistakes that any hyperplane makes, a row on it counted as one. It is NP-hard (Johnson
    and Preparata 1978, as the densest hemisphere), so it is found exactly for small data and for few mistakes, and
    otherwise bracketed. From above, a hyperplane: the pocket of a perceptron, then line searches over the number of
    mistakes, then rows put back as long as the rest stays separable. From below, cores: sets of at most d + 2 rows
    (fewer on ties) that nothing separates, so that each must lose a row. They are looked for one by one in the
    rows that are left when all cores known so far are hit; what proves that no fewer rows hit them all is found by
    branch and bound, and is part of the answer.

    It stops when both ends meet, or after a fixed amount of work, some half a minute; or at ``max_seconds``. In high
    dimensions the lower end is weak, as it cannot exceed n / (d + 2) for points in general position.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers, as for `separability`. There may be no columns.
    y : array of shape (n,)
        Labels of at most two classes; ask about one class of several against the rest as ``y == name``.
    max_seconds : float, optional
        Stop after about so long, with the bracket reached.
    verbose : int
        If not 0, a long search says on standard error how far it is.

    Returns
    -------
    FewestMistakes
        ``low``, ``high``, the ``rows`` to remove and the hyperplane (w, b) that then separates. It prints in words,
        ``check(X, y)`` recomputes all of it from the data, ``save`` and ``Certificate.load`` keep it as JSON.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> found = fewest_mistakes(X, [0, 1, 1, 0])
    >>> print(found)
    Exactly 1 of the 4 rows must be removed so that a hyperplane separates the rest.
    Without row 0 it does.
    1 set of rows, which no hyperplane separates, proves that one must go.
    >>> found.low, found.high, found.rows, found.check(X, [0, 1, 1, 0])
    (1, 1, array([0]), True)
    """
    check_seconds("max_seconds", max_seconds)
    start = time.monotonic()
    matrix, signs, positive = two_classes(X, y)
    progress = Progress(verbose)
    firsts, copies = _equal_rows(matrix, signs)
    counts = np.ones(len(firsts), dtype=np.int64)
    counts[np.searchsorted(firsts, [*copies])] = [len(group) for group in copies.values()]
    points = Points(matrix[firsts], signs[firsts], counts)
    seconds = None if max_seconds is None else max(0.0, start + max_seconds - time.monotonic())
    bracket = Bracket(points, seconds, progress)
    low, tree = bracket.close()
    progress.close()
    best, cores = bracket.best, bracket.cores
    named = sorted({int(firsts[row]) for core in cores for row in core.rows})
    wrong = firsts[best.wrong].tolist()
    return FewestMistakes(
        low=low,
        rows=np.array(sorted(row for first in wrong for row in copies.get(first, [first])), dtype=np.intp),
        w=best.w,
        b=best.b,
        n=len(signs),
        cores=tuple(core._replace(rows=firsts[core.rows]) for core in cores),
        copies=tuple(np.array(copies[first]) for first in named if first in copies),
        tree=tuple(int(firsts[node]) if isinstance(node, int) else node for node in tree),
        positive=positive,
    )


def _equal_rows(X: Matrix, signs: Signs) -> tuple[NDArray[np.intp], dict[int, list[int]]]:
    """Return the first of each set of equal rows with equal signs; and these sets by their first, where it has copies.

    Most rows of most data have none.
    """
    like = representatives(X, signs, np.arange(len(signs)), np.arange(X.shape[1]))
    firsts, counts = np.unique(like, return_counts=True)
    copies: dict[int, list[int]] = {first: [] for first in firsts[counts > 1].tolist()}
    for row in np.flatnonzero(np.isin(like, [*copies])).tolist():
        copies[int(like[row])].append(row)
    return firsts, copies
