"""Search for v with z . v > 0 for every row z, or for a proof that none exists, in data with many columns.

Presolve removes the rows that a single column satisfies. If the rows are sparse, the perceptron is then trained for a
short time, which is fast if it succeeds. Last comes the finite Newton method on the squared hinge loss (Mangasarian
2002; Keerthi and DeCoste 2005). It either finds a solution or converges to row weights for which the weighted sum of
the rows is zero. `prove_zero_combination` turns these weights into a proof.
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
    common_values,
    drop_zero_columns,
    postsolve,
    presolve,
    rows_without_rare_columns,
    signed_rows,
)
from rosenblatt.theory.search.rescaled import rescaled_perceptron
from rosenblatt.theory.search.zero_combinations import prove_zero_combination

# The finite Newton method on the squared hinge loss.
#
# Problem: minimise f(v) = |(1 - Z v)_+|^2 / 2. Output: v with Z v > 0, or weights a that nearly prove that none exists.
#
# With a = (1 - Z v)_+ the gradient is -Z' a, so Z' a = 0 at the minimum. There are two cases (Gordan). Either a = 0 and
# Z v >= 1, so v is a solution. Or a is nonzero and nonnegative, and the rows, weighted by the entries of a, sum to
# zero, which proves that there is no solution. f is convex and piecewise quadratic, with the Hessian H = Z_A' Z_A on
# the active set A = {i : z_i . v < 1}. A Newton step with an exact line search reduces f in every iteration. Once A is
# the active set of the minimum, one step without a ridge reaches it.
#
# H may be singular, so a ridge r = max(_RIDGE min(1, off), 1e-13) max_j H_jj is added, where off = |Z' a|_inf / |a|_1
# measures the gradient. The lower limit of r bounds the condition number of H + r I. So the angle between the step and
# the negative gradient stays away from 90 degrees, and with a line search the gradient tends to zero (Zoutendijk). r
# decreases with the gradient, so the last steps are nearly pure Newton steps (the regularised Newton method of Li,
# Fukushima, Qi and Yamashita 2004). The lower limit of 1e-13 is about the rounding error of the entries of H, which
# grows as rows are added to H and subtracted from it.


# Other values of these gave the same verdicts, measured on Gaussian noise (600 x 60), text with random labels (900 x
# 150 to 1500 x 700) and planted margins of 0.02 to 1e-9. Proofs had the same number of rows, up to one. Only _RIDGE
# changes the number of steps: 1e-5 and 1e-6 save up to a third on the smallest margins; with 1e-3 one of these takes
# ten times as many.
_RIDGE = 1e-4  # the ridge, relative to the largest diagonal entry, is at most this share of ``off``
_LEAST_RIDGE = 1e-13  # relative to the largest diagonal entry; results are the same with 1e-12 and 1e-14
_MORE_RIDGE = 100.0  # the growth of a ridge that is too small; a guess, the same with 10 and 1000
_FRESH = 5  # every fifth step computes Z v anew; a guess, the same with 1, 20 and never


class HingeNewton:
    """The finite Newton method on the rows ``Z``, starting from ``v``.

    ``s`` is Z v. The row weights are a = (1 - Z v)_+, and ``off`` is |Z' a|_inf / |a|_1. The rows with positive weight
    are the active rows A. ``H`` is Z_A' Z_A, and is updated with the rows that enter or leave A. If there are fewer
    rows than columns, ``H`` is Z Z' instead, and is computed only once. This suffices because (Z_A' Z_A + r I)^-1 Z_A'
    = Z_A' (Z_A Z_A' + r I)^-1 for every r > 0.
    """

    def __init__(self, Z: Matrix, v: Floats) -> None:
        self.Z, self.v, self.s = Z, v, Z @ v
        self.active = np.zeros(Z.shape[0], dtype=bool)
        self.by_rows = Z.shape[0] < Z.shape[1]
        self.H = _dense(Z @ Z.T) if self.by_rows else np.zeros((Z.shape[1], Z.shape[1]))
        self.steps, self.off = 0, np.inf

    @property
    def weights(self) -> Floats:
        """The row weights a = (1 - Z v)_+, which are zero for inactive rows."""
        return np.maximum(1.0 - self.s, 0.0)

    def step(self) -> None:
        """Make one Newton step.

        Invariant: ``s`` is Z v up to rounding, and ``H`` is Z_A' Z_A (or Z Z') for the rows in ``active``.
        """
        a = self.weights
        if self.by_rows:
            self.active = a > 0
        else:
            self._update_active(a > 0)
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
        """Return the solution p of (H + ridge I) p = right; the ridge grows until Cholesky factorisation succeeds.

        The factorisation succeeds at the latest when the ridge makes the matrix diagonally dominant. The result is None
        if H is zero or has an entry that is not finite.
        """
        ridge = max(_RIDGE * min(1.0, self.off), _LEAST_RIDGE) * float(np.max(H.diagonal(), initial=0.0))
        while 0 < ridge < np.inf:
            M = H.copy()
            M.flat[:: len(M) + 1] += ridge
            factor, info = sl.lapack.dpotrf(M, lower=1, overwrite_a=1)
            if info == 0:
                return sl.lapack.dpotrs(factor, right, lower=1)[0]
            ridge *= _MORE_RIDGE
        return None

    def _update_active(self, now: NDArray[np.bool_]) -> None:
        new, old = np.flatnonzero(now & ~self.active), np.flatnonzero(self.active & ~now)
        if len(new) + len(old) > np.count_nonzero(now):  # the update would cost more than a fresh product
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
        self.s = self.s + t * q if self.steps % _FRESH else self.Z @ self.v  # recomputed against rounding errors


def _dense(M: Matrix) -> Floats:
    return M.toarray() if sp.issparse(M) else M


def exact_line_search(s: Floats, q: Floats) -> float:
    """Return the t > 0 that minimises |(1 - s - t q)_+|^2, or 1.0 if there is no minimiser.

    The derivative in t is continuous, piecewise linear and nondecreasing. Its zero is found by sorting the breakpoints
    t_i = (1 - s_i) / q_i, at which row i enters or leaves the active set.

    If the minimum is 0, the derivative is 0 from the last breakpoint on. If rounding makes the derivative negative
    there, the last breakpoint is returned.

    >>> exact_line_search(np.array([0.0, 0.0]), np.array([1.0, 0.25]))
    4.0
    """
    with np.errstate(all="ignore"):
        t = (1.0 - s) / q
    inside = (s < 1.0) | ((s == 1.0) & (q < 0))
    slope, value = float(q[inside] @ q[inside]), -float(q[inside] @ (1.0 - s)[inside])  # half the derivative at t = 0
    events = np.flatnonzero((t > 0) & (q != 0))
    events = events[np.argsort(t[events], kind="stable")]
    if len(events) == 0:
        return -value / slope if slope > 0 else 1.0
    # Before the k-th breakpoint, half the derivative is values[k] + slopes[k] t. A row that enters (q < 0) changes the
    # slope by q^2, and a row that leaves (q > 0) by -q^2. The value changes such that the derivative remains continuous
    # at t_i.
    change = np.where(q[events] < 0, 1.0, -1.0) * q[events] ** 2
    slopes = slope + np.concatenate([[0.0], np.cumsum(change)])
    values = value + np.concatenate([[0.0], np.cumsum(-change * t[events])])
    ends = np.append(t[events], np.inf)
    with np.errstate(invalid="ignore"):
        reached = values + slopes * ends >= 0
    if not reached.any():
        return float(t[events[-1]])
    k = int(np.argmax(reached))
    if slopes[k] > 0:
        return float(-values[k] / slopes[k])
    return float(ends[k]) if np.isfinite(ends[k]) else 1.0


# These constants affect running time, the size of proofs and whether a verdict is reached, never its correctness.
# Remarks on other values are measurements on Gaussian noise (1000 x 100, 8000 x 200), text with random labels (1500 x
# 120, 6000 x 800), digits and planted margins.

# The largest order of the matrix that each Newton step factors: 6000 ** 3 / 6 multiplications, and 288 MB. A guess that
# limits time and memory; beyond it this search gives no answer.
MOST_COLUMNS = 6000
WIDE = 3000  # from this number of columns on, the perceptron gets more updates, since Newton steps are expensive
UPDATES_PER_ROW, UPDATES_PER_WIDE_ROW = 0.2, 20.0  # 2 or 10 times the first value hardly changes the number of steps
STAGES = ((None, 30), (30, 50), (10, 50), (3, 50), (None, 200))
"""The stages of the Newton search, as pairs (most, steps).

A stage makes at most ``steps`` Newton steps. It leaves out the rows that have a nonzero entry in a rare column. A
column is rare if at most ``most`` of its entries are positive, or at most ``most`` are negative. If ``most`` is None,
all rows are used. Most data sets are decided in the first stage after 5 to 15 steps. The other stages are for text with
many rare words. All numbers are guesses: on text of 900 x 150 to 1500 x 700, one stage of 200 steps, or stages of half
the length, gave the same proofs.
"""
FIRST_PROOF = 1e-4  # ``off`` below which a proof is tried; 1e-3 or 1e-5 changes the first attempt by one to three steps
ALMOST = 1e-9  # ``off`` below which a proof is also tried with rows of small weight
BETWEEN_PROOFS = 5  # Newton steps from one attempt at a proof to the next
MANY_ROWS = 4  # if more rows per column than this have nonzero weight, a proof from FEW_ROWS is tried first
# With 8 proofs of text name twice as many rows; with 3, the least that makes sense, all proofs are the same.
FEW_ROWS = 3  # rows per column in that proof; 6 doubles the size of proofs, 2 halves it but fails more often
SHORT_STEPS = 12  # the largest number of Newton steps on these rows; 6 and 24 give the same proofs


class WideSearch:
    """A search on the rows z = y (x, 1), or z = y x without a bias.

    ``Z`` contains all rows. ``Y`` contains only the rows that remain after presolve (the core).
    """

    def __init__(self, X: Matrix, signs: Signs, bias: bool, limits: Limits) -> None:
        self.X, self.signs, self.bias, self.limits = X, signs, bias, limits
        centres = common_values(X) if bias else np.zeros(X.shape[1])
        self.centres = centres if centres.any() else None
        self.Z, self.exponents = signed_rows(X if self.centres is None else X - self.centres, signs, bias)
        self.core, self.rounds = presolve(self.Z)
        self.Y, self.columns = drop_zero_columns(self.Z, self.core)

    def decide(self) -> Solvable | Unsolvable | None:
        """Return a verified solution, a verified proof that none exists, or None if neither was found."""
        if len(self.core) == 0:
            return self._solution(np.zeros(0))
        start = np.zeros(self.Y.shape[1])
        if sp.issparse(self.Y):  # for dense rows, Newton steps are as fast
            start, answer = self._perceptron()
            if answer is not None:
                return answer
        if min(self.Y.shape) > MOST_COLUMNS or self.limits.expired():
            return None
        return self._newton(start)

    def _perceptron(self) -> tuple[Floats, Solvable | None]:
        """Train the perceptron for a short time; return its best v, and a verified solution or None.

        The best v is multiplied by the number that minimises its squared hinge loss.
        """
        n, m = self.Y.shape
        updates = int((UPDATES_PER_ROW if m <= WIDE else UPDATES_PER_WIDE_ROW) * n) + 1
        run = rescaled_perceptron(self.Y, 0, updates)
        answer = self._solution(run.v) if run.v is not None else None
        return exact_line_search(np.zeros(n), self.Y @ run.best) * run.best, answer

    def _newton(self, start: Floats) -> Solvable | Unsolvable | None:
        everything = np.arange(len(self.core))
        on_core = HingeNewton(self.Y, start)  # the last stage continues where the first one stopped
        for rare, steps in STAGES:
            if rare is None:
                rows, search = everything, on_core
            else:
                rows = rows_without_rare_columns(self.Y, rare)
                part, _ = drop_zero_columns(self.Y, rows)
                # If there are hardly more rows than columns, the rows usually have a solution, as independent rows
                # always have. A solution of some rows proves nothing.
                if not part.shape[1] + 1 < len(rows) < len(everything):
                    continue
                search = HingeNewton(part, np.zeros(part.shape[1]))
            answer = self._run(search, rows, steps)
            if answer is not None or self.limits.expired():
                return answer
        return None

    def _run(self, search: HingeNewton, rows: NDArray[np.intp], steps: int) -> Solvable | Unsolvable | None:
        """Make Newton steps on the given ``rows`` of the core until they are decided or ``steps`` steps are made.

        If some rows have no solution, neither do all rows together. A solution is returned only if ``rows`` contains
        all rows of the core.
        """
        next_proof = 0
        while search.steps < steps:
            search.step()
            wrong = int(np.count_nonzero(~(search.s > 0)))  # counts NaN too
            if wrong == 0:
                return self._solution(search.v) if len(rows) == len(self.core) else None
            finished = search.off < 1e-14  # the gradient is zero up to rounding, so more steps change nothing
            if search.off < FIRST_PROOF and (search.steps >= next_proof or finished):
                proof = self._short_proof(search, rows) or self._proof(search, rows)
                if proof is not None or finished:
                    return proof
                next_proof = search.steps + BETWEEN_PROOFS
            if self.limits.deciding(search.steps, wrong, len(rows)):
                break
        return None

    def _proof(self, search: HingeNewton, rows: NDArray[np.intp]) -> Unsolvable | None:
        """Return a proof from the weights of a search on the given ``rows`` of the core, or None if none is found."""
        weights = search.weights
        active = np.flatnonzero(weights)
        shares = (1e-3, 1e-6, 0.0) if search.off < ALMOST else (1e-3,)
        support = self.core[rows[active]]
        return prove_zero_combination(self.X, self.signs, self.bias, support, weights[active], shares, self.centres)

    def _short_proof(self, search: HingeNewton, rows: NDArray[np.intp]) -> Unsolvable | None:
        """Return a proof from a sample of the active rows, or None if none is found.

        The active rows are sorted by weight, and the sample is evenly spaced in this order, with FEW_ROWS rows per
        column. If the sample has no solution either, the proof from the sample needs fewer rows.
        """
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
        """Extend a solution ``v`` of the core to all rows; return None if the result fails the exact check."""
        full = np.zeros(self.Z.shape[1])
        full[self.columns] = v
        with np.errstate(over="ignore", under="ignore"):
            full = np.ldexp(postsolve(self.Z, full, self.rounds), -self.exponents)
        if not np.isfinite(full).all():
            return None
        if self.centres is not None:
            full[-1] -= float(full[:-1] @ self.centres)
        w, b = (full[:-1], float(full[-1])) if self.bias else (full, 0.0)
        least = least_score(self.X, self.signs, w, b)
        return Solvable(full, least) if least > 0 else None
