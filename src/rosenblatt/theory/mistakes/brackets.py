"""The bracket around the fewest mistakes as it closes: a hyperplane from above, cores from below."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt.progress import Progress
from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.mistakes.answers import Core
from rosenblatt.theory.mistakes.budget import Budget
from rosenblatt.theory.mistakes.cores import CoreSearch, Removal
from rosenblatt.theory.mistakes.hitting import Refutation, cheapest_hit, quick_hit
from rosenblatt.theory.mistakes.hyperplanes import Points, best_hyperplane
from rosenblatt.theory.mistakes.trees import Tree
from rosenblatt.theory.verdicts import Separable

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
