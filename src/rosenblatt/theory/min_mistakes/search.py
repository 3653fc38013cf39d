"""Search for the fewest mistakes of any hyperplane: an upper bound from hyperplanes, a lower bound from cores.

The problem is to find a maximum feasible subsystem of the inequalities y (w . x + b) > 0. The implicit hitting set
method solves it (Parker and Ryan 1996; Chandrasekaran, Karp, Moreno-Centeno and Vempala 2011). Cores are infeasible
subsystems, so at least one row of each must be removed. The cost of a minimum hitting set of the known cores is a lower
bound. If the remaining rows are separable, this hitting set is optimal; otherwise they contain a new core.
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
from rosenblatt.theory.min_mistakes.hitting_set import BranchAndBound, greedy_hitting_set, minimum_hitting_set
from rosenblatt.theory.min_mistakes.hyperplanes import Points, best_hyperplane
from rosenblatt.theory.separability import separability
from rosenblatt.theory.verdicts import Inseparable, Separable

# The search for cores, which also improves the best hyperplane.


Mask = NDArray[np.bool_]
CALL = 2e6  # work of one decision on the separability of a small set, in multiplications
EXACT = 1000.0  # plus this times the cube of the number of rows with exact weights, at most MOST_EXACT
MOST_EXACT = 24


class Removal(NamedTuple):
    """A hyperplane (w, b), a mask of the rows that it misclassifies, and their number including copies."""

    wrong: Mask
    w: Numbers
    b: float
    cost: int


class CoreSearch:
    """Search for cores in a few rows at a time; ``best`` is the hyperplane with the fewest mistakes so far."""

    def __init__(self, points: Points, w: Numbers, b: float, budget: Budget) -> None:
        self.points, self.budget = points, budget
        self.rng = np.random.default_rng(0)
        wrong = points.mistakes(w, b)
        self.best = Removal(wrong, w, b, points.cost(wrong))
        self.core_size = points.X.shape[1] + 2  # an irreducible core has at most d + 2 rows (Kirchberger's theorem)

    def find(self, allowed: Mask, first: Sequence[int] = ()) -> Core | Separable | None:
        """Return a core among the allowed rows, or a `Separable` verdict on all of them, or None if time runs out.

        This is a cutting-plane method. It starts with the rows ``first`` and a few others. As long as these are
        separable, it adds the rows farthest on the wrong side of their separator.
        """
        points, budget = self.points, self.budget
        pool = self._start(allowed, first)
        # The pool grows in every iteration, because all its rows are on their correct side, which was decided exactly.
        # If no allowed row is on the wrong side, the separator separates all allowed rows.
        while len(pool) and not budget.is_spent:
            size = min(len(pool), self.core_size)
            budget.spend(CALL + 4.0 * len(pool) * self.core_size * size + EXACT * min(size, MOST_EXACT) ** 3)
            seconds = max(1e-3, budget.seconds) if math.isfinite(budget.end) else None
            verdict = separability(points.X[pool], points.signs[pool], margin=False, max_seconds=seconds)
            if isinstance(verdict, Inseparable):
                rows = verdict.support
                return Core(pool[rows], verdict.alpha[rows], verdict.weights, verdict.basis)
            if not isinstance(verdict, Separable):
                return None
            margins = points.margin_lower_bounds(verdict.w, verdict.b)
            budget.spend(points.X.shape[0] * points.X.shape[1] * 2)
            wrong = ~(margins > 0)
            wrong[pool] = False
            outside = np.flatnonzero(wrong & allowed)
            cost = points.cost(wrong)
            if cost < self.best.cost:
                self.best = Removal(wrong, verdict.w, verdict.b, cost)
            if len(outside) == 0:
                return verdict
            worst = outside[np.argsort(margins[outside], kind="stable")[: self.core_size]]
            pool = np.union1d(pool, worst)
        return None

    def _start(self, allowed: Mask, first: Sequence[int]) -> NDArray[np.intp]:
        rows = np.flatnonzero(allowed)
        if len(rows) > 4 * self.core_size:
            rows = self.rng.choice(rows, 2 * self.core_size, replace=False)
        return np.union1d(rows, np.array(first, dtype=np.intp))


# The two bounds: the upper bound from a hyperplane, the lower bound from cores.


SEARCH = 2e10  # work of the search for hyperplanes and cores, about 20 seconds
PROOF = 1e10  # work of the branch and bound over hitting sets
SHARE = 0.7  # of the seconds that the user allows, for the search
MOST_REFINED = 1000  # with more cores than this, hitting sets no longer guide the search


class Bracket:
    """Search on distinct rows, first for disjoint cores, then for cores outside a hitting set of the known cores."""

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
        """The hyperplane with the fewest mistakes found so far, as a `Removal`."""
        return self.search.best

    def close(self) -> tuple[int, Tree]:
        """Search until the two bounds meet or the budget is spent; return the lower bound and its proof, a tree."""
        self._find_disjoint_cores()
        if self._packed < self.best.cost:
            self._refine_by_hitting_sets()
        if not self.cores:
            return 0, ((),)
        cores = [core.rows for core in self.cores]
        return BranchAndBound(cores, self.points.counts, self.proof).prove(self.best.cost, tuple(self.disjoint))

    @property
    def _packed(self) -> int:
        return sum(times for _, times in self.disjoint)

    def _find_disjoint_cores(self) -> None:
        """For each mistake, find a core that contains it and is disjoint from the other cores, or a better hyperplane.

        If mistakes are few, a core consists of one mistake and correctly classified rows. If too few rows are
        classified correctly, it may contain any rows. At the end the rows outside all cores are searched.
        """
        # ``left`` counts the copies of each row that are in no core yet. Each row is tried once, so the loop ends. The
        # hyperplane, and with it the set of mistakes, may change on the way.
        left = self.points.counts.copy()
        tried = np.zeros(len(left), bool)
        while not self.budget.is_spent:
            wrong = self.best.wrong
            untried = np.flatnonzero(wrong & ~tried & (left > 0))
            if len(untried) == 0:
                break
            first = int(untried[0])
            tried[first] = True
            plenty = np.count_nonzero(wrong) * self.search.core_size > len(left)
            allowed = (left > 0) & (plenty | ~wrong)
            allowed[first] = True
            self._add_core(self.search.find(allowed, [first]), left)
        while self._packed < self.best.cost and self._add_core(self.search.find(left > 0), left):
            pass

    def _add_core(self, found: Core | Separable | None, left: NDArray[np.int64]) -> bool:
        """Add a core to the packing as often as its rows have copies left; return whether ``found`` is a core."""
        if isinstance(found, Core):
            times = int(left[found.rows].min())
            left[found.rows] -= times
            self.disjoint.append((len(self.cores), times))
            self.cores.append(found)
        self.progress.bracket(self._packed, self.best.cost)
        return isinstance(found, Core)

    def _refine_by_hitting_sets(self) -> None:
        """Search for cores outside a hitting set of the known cores, greedy at first and minimum later.

        If there is no core outside a minimum hitting set, both bounds meet, because `CoreSearch` has then found a
        separator of all other rows.
        """
        quick = True
        while self.cores and len(self.cores) < MOST_REFINED and not self.budget.is_spent:
            cores, counts = [core.rows for core in self.cores], self.points.counts
            hit = greedy_hitting_set(cores, counts) if quick else minimum_hitting_set(cores, counts, self.budget)
            fresh = hit is not None and self._find_cores_outside(hit)
            if not (fresh or quick):
                return
            quick = quick and fresh

    def _find_cores_outside(self, hit: NDArray[np.intp]) -> bool:
        """Search for disjoint cores among the rows outside ``hit``; return whether any was found."""
        allowed = np.ones(len(self.points.signs), bool)
        allowed[hit] = False
        before = len(self.cores)
        while isinstance(found := self.search.find(allowed), Core):
            self.cores.append(found)
            allowed[found.rows] = False
            self.progress.bracket(self._packed, self.best.cost)
        return len(self.cores) > before


def fewest_mistakes(X: MatrixLike, y: ArrayLike, max_seconds: float | None = None, verbose: int = 0) -> FewestMistakes:
    """Bound the minimum number of rows whose removal makes the data linearly separable, and prove both bounds.

    This is also the minimum number of mistakes of any hyperplane, if a row on the hyperplane counts as a mistake. The
    problem is NP-hard (Johnson and Preparata 1978, densest hemisphere). So the two bounds are sure to be equal only for
    small data or few mistakes.

    The upper bound comes from a hyperplane, at first from the pocket weights of a perceptron. It is improved by line
    searches on the number of mistakes, and by separators found during the search for cores. The lower bound comes from
    cores, which are sets of at most d + 2 rows that no hyperplane separates. At least one row of each core must be
    removed. Each new core is found among the rows outside a hitting set of the known cores. Branch and bound proves
    that no set of fewer rows hits all cores, and its tree is part of the result.

    The search stops when both bounds meet, after a fixed amount of work (about half a minute), or after
    ``max_seconds``. In high dimensions the lower bound is weak: for points in general position, disjoint cores prove at
    most n / (d + 2).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Finite numbers, as for `separability`. X may have no columns.
    y : array of shape (n,)
        Labels of at most two classes. To compare one class with the rest, pass ``y == name``.
    max_seconds : float, default=None
        Stop after about this many seconds and return the bounds reached. None means no limit on time.
    verbose : int, default=0
        If not 0, the progress of a long search is shown on standard error.

    Returns
    -------
    FewestMistakes
        ``low``, ``high``, the ``rows`` to remove, the hyperplane (w, b) that separates all others, and the proof. It
        prints as a summary, and ``check(X, y)`` verifies it from the data. ``save`` and ``Certificate.load`` write and
        read it as JSON.

    See Also
    --------
    separability : Decide whether the classes are linearly separable as they are.

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
    """Return the first of each set of equal rows with equal signs, and the sets of two or more rows, by first row."""
    first_of = representatives(X, signs, np.arange(len(signs)), np.arange(X.shape[1]))
    firsts, counts = np.unique(first_of, return_counts=True)
    copies: dict[int, list[int]] = {first: [] for first in firsts[counts > 1].tolist()}
    for row in np.flatnonzero(np.isin(first_of, [*copies])).tolist():
        copies[int(first_of[row])].append(row)
    return firsts, copies
