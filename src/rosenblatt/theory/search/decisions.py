"""Is there a v with z . v > 0 for every row? The search for many columns, which ends in a solution or in a proof.

Rows that one column settles are peeled off. Sparse rows are then left to the perceptron for a while: where it solves
them it does so quickly. Then comes Newton's method on the squared hinge loss, which either solves the rows or
converges to weights under which they add up to zero, and these are turned into a proof.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Matrix, Signs
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.search.alternatives import Solvable, Unsolvable
from rosenblatt.theory.search.balances import prove_balance
from rosenblatt.theory.search.hinge import HingeSearch, best_length
from rosenblatt.theory.search.limits import Limits
from rosenblatt.theory.search.peeling import fold, peel, unpeel, used_part, without_rare
from rosenblatt.theory.search.rescaled import rescaled_perceptron

WIDE = 3000  # columns from which on sparse rows are left to the perceptron for longer
MOST_COLUMNS = 6000  # or rows, of the matrix that each step of Newton's method factors
UPDATES_PER_ROW, UPDATES_PER_WIDE_ROW = 0.2, 20.0
STAGES = ((None, 30), (30, 50), (10, 50), (3, 50), (None, 200))
"""Rows of columns that are rarer than this are left out, and so many steps are made; with None nothing is left out."""
FIRST_PROOF, ALMOST = 1e-4, 1e-9  # how near to zero the rows have to add up before a proof is tried, and with more rows
BETWEEN_PROOFS = 5  # steps
MANY_ROWS, FEW_ROWS = 4, 3  # a column: where more rows have weight, a proof from fewer is tried first
SHORT_STEPS = 12


class DecisionSearch:
    """One search on the rows z = y (x, 1), or z = y x without a bias."""

    def __init__(self, X: Matrix, signs: Signs, bias: bool, limits: Limits) -> None:
        self.X, self.signs, self.bias, self.limits = X, signs, bias, limits
        self.Z, self.places = fold(X, signs, bias)
        self.core, self.rounds = peel(self.Z)
        self.Y, self.columns = used_part(self.Z, self.core)

    def decide(self) -> Solvable | Unsolvable | None:
        """Return a solution or the proof that there is none, each of them checked; None where neither was found."""
        if len(self.core) == 0:
            return self._solution(np.zeros(0))
        start = np.zeros(self.Y.shape[1])
        if sp.issparse(self.Y):  # of dense rows Newton's steps are as quick
            start, answer = self._perceptron()
            if answer is not None:
                return answer
        if min(self.Y.shape) > MOST_COLUMNS or self.limits.over():
            return None
        return self._newton(start)

    def _perceptron(self) -> tuple[Floats, Solvable | None]:
        """Return the best v of a run with few updates, scaled for the next search, and the solution if it is one."""
        n, m = self.Y.shape
        updates = int((UPDATES_PER_ROW if m <= WIDE else UPDATES_PER_WIDE_ROW) * n) + 1
        run = rescaled_perceptron(self.Y, 0, updates)
        answer = self._solution(run.v) if run.v is not None else None
        return best_length(np.zeros(n), self.Y @ run.best) * run.best, answer

    def _newton(self, start: Floats) -> Solvable | Unsolvable | None:
        everything = np.arange(len(self.core))
        whole = HingeSearch(self.Y, start)
        for rare, steps in STAGES:
            if rare is None:
                rows, search = everything, whole
            else:
                rows = without_rare(self.Y, rare)
                part, _ = used_part(self.Y, rows)
                if not part.shape[1] + 1 < len(rows) < len(everything):
                    continue
                search = HingeSearch(part, np.zeros(part.shape[1]))
            answer = self._go_on(search, rows, steps)
            if answer is not None or self.limits.over():
                return answer
        return None

    def _go_on(self, search: HingeSearch, rows: NDArray[np.intp], steps: int) -> Solvable | Unsolvable | None:
        """Make steps on some ``rows`` of the core until it is decided; a solution counts only if it is of all rows."""
        next_proof = 0
        while search.steps < steps:
            search.step()
            wrong = int(np.count_nonzero(~(search.s > 0)))
            if wrong == 0:
                return self._solution(search.v) if len(rows) == len(self.core) else None
            finished = search.off < 1e-14
            if search.off < FIRST_PROOF and (search.steps >= next_proof or finished):
                proof = self._short_proof(search, rows) or self._proof(search, rows)
                if proof is not None or finished:
                    return proof
                next_proof = search.steps + BETWEEN_PROOFS
            if self.limits.deciding(search.steps, wrong, len(rows)):
                break
        return None

    def _proof(self, search: HingeSearch, rows: NDArray[np.intp]) -> Unsolvable | None:
        """Return a proof from the weights of a search on some ``rows`` of the core, if there is one."""
        weights = search.weights
        active = np.flatnonzero(weights)
        shares = (1e-3, 1e-6, 0.0) if search.off < ALMOST else (1e-3,)
        return prove_balance(self.X, self.signs, self.bias, self.core[rows[active]], weights[active], shares)

    def _short_proof(self, search: HingeSearch, rows: NDArray[np.intp]) -> Unsolvable | None:
        """Return a proof from few of many rows, spread over all weights, if these cannot be solved either."""
        m = search.Z.shape[1]
        order = np.argsort(-search.weights, kind="stable")[: np.count_nonzero(search.weights)]
        if len(order) <= MANY_ROWS * m:
            return None
        few = np.sort(order[np.linspace(0, len(order) - 1, FEW_ROWS * m).astype(np.intp)])
        inner = HingeSearch(search.Z[few], np.zeros(m))
        while inner.off >= FIRST_PROOF and inner.steps < SHORT_STEPS and not (inner.s > 0).all():
            inner.step()
        return self._proof(inner, rows[few]) if inner.off < FIRST_PROOF else None

    def _solution(self, v: Floats) -> Solvable | None:
        """Return v, which solves the core in floats, as a solution of all rows, if that is proved."""
        whole = np.zeros(self.Z.shape[1])
        whole[self.columns] = v
        with np.errstate(over="ignore", under="ignore"):
            whole = np.ldexp(unpeel(self.Z, whole, self.rounds), -self.places)
        if not np.isfinite(whole).all():
            return None
        w, b = (whole[:-1], float(whole[-1])) if self.bias else (whole, 0.0)
        least = least_score(self.X, self.signs, w, b)
        return Solvable(whole, least) if least > 0 else None
