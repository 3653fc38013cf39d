"""The search for cores: rows that no hyperplane separates. What it finds on the way improves the best hyperplane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.mistakes.answers import Core
from rosenblatt.theory.mistakes.budget import Budget
from rosenblatt.theory.mistakes.hyperplanes import Points
from rosenblatt.theory.separability import separability
from rosenblatt.theory.verdicts import Inseparable, Separable

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
