"""Is there a v with z . v > 0 for every row? The search for many columns, which ends in a solution or in a proof.

Rows that one column settles are peeled off. Sparse rows are then left to the perceptron for a while: where it solves
them it does so quickly. Then comes Newton's method on the squared hinge loss (the finite Newton method
of Mangasarian 2002), which either solves the rows or converges to weights under which they add up to zero, and these
are turned into a proof.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.progress import Limits
from rosenblatt.theory.inputs import Floats, Matrix, Signs
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.search.presolve import (
    Solvable,
    Unsolvable,
    drop_zero_columns,
    postsolve,
    presolve,
    rows_without_rare_columns,
    signed_rows,
)
from rosenblatt.theory.search.rescaled import rescaled_perceptron
from rosenblatt.theory.search.zero_combinations import prove_zero_combination

# The least squared hinge loss: Newton's method finds v with Z v > 0, or weights that nearly prove there is none.
#
# Problem: minimise f(v) = |(1 - Z v)_+|^2 / 2. At the minimum a = (1 - Z v)_+ has Z' a = 0: it is the projection of
# weights 1 on those under which the rows add up to zero. So a = 0 and v solves the system, or |a| >= 1 and a is the
# proof that nothing does (Gordan). f is made of pieces of quadratics, so Newton's method with an exact search along
# each direction takes few steps, in any number of rows.


_LEAST_RIDGE = 1e-13  # as a share of the largest diagonal entry


class HingeNewton:
    """The search on the rows Z, from v on. ``s`` are the scores Z v; ``off`` is how far a is from adding up to zero.

    The normal equations H = Z_A' Z_A are kept up to date by the rows that enter and leave the set A of those with
    scores below 1. Of fewer rows than columns the products Z Z' are taken once, as H^-1 Z_A' a = Z_A' (Z_A Z_A')^-1 a.
    """

    def __init__(self, Z: Matrix, v: Floats) -> None:
        self.Z, self.v, self.s = Z, v, Z @ v
        self.active = np.zeros(Z.shape[0], dtype=bool)
        self.by_rows = Z.shape[0] < Z.shape[1]
        self.H = _dense(Z @ Z.T) if self.by_rows else np.zeros((Z.shape[1], Z.shape[1]))
        self.steps, self.off = 0, np.inf

    @property
    def weights(self) -> Floats:
        """The weights a = (1 - Z v)_+."""
        return np.maximum(1.0 - self.s, 0.0)

    def step(self) -> None:
        """Make one step of Newton's method."""
        a = self.weights
        if self.by_rows:
            self.active = a > 0
        else:
            self._count_in(a > 0)
        gradient = self.Z.T @ a
        self.off = float(np.max(np.abs(gradient), initial=0.0)) / max(1e-300, float(a.sum()))
        if self.by_rows:
            rows = np.flatnonzero(self.active)
            u = self._solve(self.H[np.ix_(rows, rows)], a[rows])
            p = None if u is None else self.Z[rows].T @ u
        else:
            p = self._solve(self.H, gradient)
        if p is not None:
            self._move(p)
        self.steps += 1

    def _solve(self, H: Floats, right: Floats) -> Floats | None:
        """Return the solution for H with a small ridge, smaller the nearer the search is to its end."""
        ridge = max(1e-4 * min(1.0, self.off), _LEAST_RIDGE) * float(np.max(H.diagonal(), initial=0.0))
        while 0 < ridge < np.inf:
            M = H.copy()
            M.flat[:: len(M) + 1] += ridge
            factor, info = sl.lapack.dpotrf(M, lower=1, overwrite_a=1)
            if info == 0:
                return sl.lapack.dpotrs(factor, right, lower=1)[0]
            ridge *= 100.0
        return None

    def _count_in(self, now: NDArray[np.bool_]) -> None:
        new, old = np.flatnonzero(now & ~self.active), np.flatnonzero(self.active & ~now)
        if len(new) + len(old) > np.count_nonzero(now):
            self.H = self._products(np.flatnonzero(now))
        else:
            self.H += self._products(new)
            self.H -= self._products(old)
        self.active = now

    def _products(self, rows: NDArray[np.intp]) -> Floats:
        part = self.Z[rows]
        return _dense(part.T @ part)

    def _move(self, p: Floats) -> None:
        q = self.Z @ p
        t = exact_line_search(self.s, q)
        self.v = self.v + t * p
        self.s = self.s + t * q if self.steps % 5 else self.Z @ self.v  # anew at times, so that rounding does not grow


def _dense(M: Matrix) -> Floats:
    return M.toarray() if sp.issparse(M) else M


def exact_line_search(s: Floats, q: Floats) -> float:
    """Return the t > 0 that minimises |(1 - s - t q)_+|^2: the derivative is piecewise linear and never falls.

    >>> exact_line_search(np.array([0.0, 0.0]), np.array([1.0, 0.25]))
    4.0
    """
    with np.errstate(all="ignore"):
        t = (1.0 - s) / q
    inside = (s < 1.0) | ((s == 1.0) & (q < 0))
    slope, value = float(q[inside] @ q[inside]), -float(q[inside] @ (1.0 - s)[inside])  # of the derivative
    events = np.flatnonzero((t > 0) & (q != 0))
    events = events[np.argsort(t[events], kind="stable")]
    if len(events) == 0:
        return -value / slope if slope > 0 else 1.0
    change = np.where(q[events] < 0, 1.0, -1.0) * q[events] ** 2  # a row enters, or leaves
    slopes = slope + np.concatenate([[0.0], np.cumsum(change)])
    values = value + np.concatenate([[0.0], np.cumsum(-change * t[events])])
    ends = np.append(t[events], np.inf)
    with np.errstate(invalid="ignore"):
        k = int(np.argmax(values + slopes * ends >= 0))
    if slopes[k] > 0:
        return float(-values[k] / slopes[k])
    return float(ends[k]) if np.isfinite(ends[k]) else 1.0


WIDE = 3000  # columns from which on sparse rows are left to the perceptron for longer
MOST_COLUMNS = 6000  # or rows, of the matrix that each step of Newton's method factors
UPDATES_PER_ROW, UPDATES_PER_WIDE_ROW = 0.2, 20.0
STAGES = ((None, 30), (30, 50), (10, 50), (3, 50), (None, 200))
"""Rows of columns that are rarer than this are left out, and so many steps are made; with None nothing is left out."""
FIRST_PROOF, ALMOST = 1e-4, 1e-9  # how near to zero the rows have to add up before a proof is tried, and with more rows
BETWEEN_PROOFS = 5  # steps
MANY_ROWS, FEW_ROWS = 4, 3  # a column: where more rows have weight, a proof from fewer is tried first
SHORT_STEPS = 12


class WideSearch:
    """One search on the rows z = y (x, 1), or z = y x without a bias."""

    def __init__(self, X: Matrix, signs: Signs, bias: bool, limits: Limits) -> None:
        self.X, self.signs, self.bias, self.limits = X, signs, bias, limits
        self.Z, self.places = signed_rows(X, signs, bias)
        self.core, self.rounds = presolve(self.Z)
        self.Y, self.columns = drop_zero_columns(self.Z, self.core)

    def decide(self) -> Solvable | Unsolvable | None:
        """Return a solution or the proof that there is none, each of them checked; None where neither was found."""
        if len(self.core) == 0:
            return self._solution(np.zeros(0))
        start = np.zeros(self.Y.shape[1])
        if sp.issparse(self.Y):  # of dense rows Newton's steps are as quick
            start, answer = self._perceptron()
            if answer is not None:
                return answer
        if min(self.Y.shape) > MOST_COLUMNS or self.limits.expired():
            return None
        return self._newton(start)

    def _perceptron(self) -> tuple[Floats, Solvable | None]:
        """Return the best v of a run with few updates, scaled for the next search, and the solution if it is one."""
        n, m = self.Y.shape
        updates = int((UPDATES_PER_ROW if m <= WIDE else UPDATES_PER_WIDE_ROW) * n) + 1
        run = rescaled_perceptron(self.Y, 0, updates)
        answer = self._solution(run.v) if run.v is not None else None
        return exact_line_search(np.zeros(n), self.Y @ run.best) * run.best, answer

    def _newton(self, start: Floats) -> Solvable | Unsolvable | None:
        everything = np.arange(len(self.core))
        whole = HingeNewton(self.Y, start)
        for rare, steps in STAGES:
            if rare is None:
                rows, search = everything, whole
            else:
                rows = rows_without_rare_columns(self.Y, rare)
                part, _ = drop_zero_columns(self.Y, rows)
                if not part.shape[1] + 1 < len(rows) < len(everything):
                    continue
                search = HingeNewton(part, np.zeros(part.shape[1]))
            answer = self._go_on(search, rows, steps)
            if answer is not None or self.limits.expired():
                return answer
        return None

    def _go_on(self, search: HingeNewton, rows: NDArray[np.intp], steps: int) -> Solvable | Unsolvable | None:
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

    def _proof(self, search: HingeNewton, rows: NDArray[np.intp]) -> Unsolvable | None:
        """Return a proof from the weights of a search on some ``rows`` of the core, if there is one."""
        weights = search.weights
        active = np.flatnonzero(weights)
        shares = (1e-3, 1e-6, 0.0) if search.off < ALMOST else (1e-3,)
        return prove_zero_combination(self.X, self.signs, self.bias, self.core[rows[active]], weights[active], shares)

    def _short_proof(self, search: HingeNewton, rows: NDArray[np.intp]) -> Unsolvable | None:
        """Return a proof from few of many rows, spread over all weights, if these cannot be solved either."""
        m = search.Z.shape[1]
        order = np.argsort(-search.weights, kind="stable")[: np.count_nonzero(search.weights)]
        if len(order) <= MANY_ROWS * m:
            return None
        few = np.sort(order[np.linspace(0, len(order) - 1, FEW_ROWS * m).astype(np.intp)])
        inner = HingeNewton(search.Z[few], np.zeros(m))
        while inner.off >= FIRST_PROOF and inner.steps < SHORT_STEPS and not (inner.s > 0).all():
            inner.step()
        return self._proof(inner, rows[few]) if inner.off < FIRST_PROOF else None

    def _solution(self, v: Floats) -> Solvable | None:
        """Return v, which solves the core in floats, as a solution of all rows, if that is proved."""
        whole = np.zeros(self.Z.shape[1])
        whole[self.columns] = v
        with np.errstate(over="ignore", under="ignore"):
            whole = np.ldexp(postsolve(self.Z, whole, self.rounds), -self.places)
        if not np.isfinite(whole).all():
            return None
        w, b = (whole[:-1], float(whole[-1])) if self.bias else (whole, 0.0)
        least = least_score(self.X, self.signs, w, b)
        return Solvable(whole, least) if least > 0 else None
