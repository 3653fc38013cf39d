"""Hyperplanes with few mistakes: the pocket weights of a perceptron, then exact line searches on the 0-1 loss.

Along a line of hyperplanes (w, b) + t (u, c), the 0-1 loss is piecewise constant and changes only where a row changes
sides. Sorting these breakpoints gives the best t. The lines change the bias, a single weight (coordinate descent), or
all weights in the direction of a perceptron update.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.progress import Budget
from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.exact import proportional_floats
from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, largest_entry
from rosenblatt.training.batches import InMemory, make_batch
from rosenblatt.training.linear import LinearState
from rosenblatt.training.observers import Callback
from rosenblatt.training.options import RunOptions
from rosenblatt.training.run import TrainingRun

PASSES = 30
SWEEPS = 10
SORTED = 200.0  # work of a line search per row
REST = 0.75  # share of the work that is kept for the cores
POCKET_REST = 0.75  # share of the seconds left when the perceptron stops
LINES_REST = 0.5  # share of the seconds left when the line searches stop
UPDATES = 30  # lines in the direction of misclassified rows, in each sweep


@dataclass(frozen=True)
class Points:
    """Distinct rows, their signs, and the number of copies of each row."""

    X: Matrix
    signs: Signs
    counts: NDArray[np.int64]

    def mistakes(self, w: Numbers, b: float) -> NDArray[np.bool_]:
        """Return a mask of the rows that may be misclassified by (w, b), allowing for rounding errors."""
        return ~(self.margin_lower_bounds(w, b) > 0)

    def margin_lower_bounds(self, w: Numbers, b: float) -> Floats:
        """Return lower bounds on y (w . x + b): its value in floats minus the error bound."""
        v = np.array(proportional_floats([*w.tolist(), int(b)])) if w.dtype == object else np.append(w, b)
        size = np.abs(v) + TINY
        with np.errstate(all="ignore"):
            s = np.asarray(self.signs * (self.X @ v[:-1] + v[-1]))
            error = np.full(len(s), self._error(self.largest * size[:-1].sum() + size[-1]))  # for every row
            close = np.flatnonzero(~(np.abs(s) > error))
            error[close] = self._error(abs(self.X[close]) @ size[:-1] + size[-1])
            return s - error

    @cached_property
    def largest(self) -> float:
        """The largest absolute value in X."""
        return largest_entry(self.X)

    def _error(self, reach: Any) -> Any:
        """Return Higham's error bound gamma_n ``reach`` for a score; ``reach`` is the sum of its absolute terms.

        n counts the products of a row, the bias, the rounding of an integer hyperplane to floats, and a few spare
        terms.
        """
        terms = int(np.max(np.diff(self.X.indptr), initial=0)) if sp.issparse(self.X) else self.X.shape[1]
        return 1.01 * ((terms + 6) * HALF_ULP * 1.02 * reach + (terms + 4) * TINY)

    def cost(self, wrong: NDArray[np.bool_]) -> int:
        """Return the number of rows in the mask ``wrong``, including copies."""
        return int(self.counts[wrong].sum())


def best_hyperplane(points: Points, budget: Budget) -> tuple[Floats, float]:
    """Return a hyperplane (w, b) with few mistakes; the rows must have both signs."""
    A, center, scale = _standardized(points.X)
    candidates = [(np.zeros(A.shape[1]), 1.0), (np.zeros(A.shape[1]), -1.0), *_trained(A, points, budget)]
    costs = [_mistakes_of(A, points, *candidate) for candidate in candidates]
    v, c = candidates[int(np.argmin(costs))]
    v, c = _after_line_searches(A, points, v, c, budget)
    with np.errstate(all="ignore"):
        w = v * scale
        b = float(c - center @ w)
        step = _best_step(points, np.asarray(points.X @ w + b), np.ones(len(points.signs)))[0]
    return (w, b + step) if np.isfinite([*w, b + step]).all() else (np.zeros(len(w)), 1.0)


def _standardized(X: Matrix) -> tuple[Matrix, Floats, Floats]:
    """Return A = (X - center) * scale, with entries of about 1, then center and scale; sparse X is not centred."""
    with np.errstate(all="ignore"):
        if sp.issparse(X):
            sizes = abs(X).max(axis=0).toarray().ravel()
            center = np.zeros(X.shape[1])
        else:
            center = np.mean(X, axis=0)
            center = np.where(np.isfinite(center), center, 0.0)
            sizes = np.max(np.abs(X - center), axis=0, initial=0.0)
        scale = np.where((sizes > 1e-300) & (sizes < 1e300), np.exp2(-np.ceil(np.log2(np.maximum(sizes, 1e-300)))), 0.0)
        A = sp.csr_array(X.multiply(scale)) if sp.issparse(X) else (X - center) * scale
    return A, center, scale


def _trained(A: Matrix, points: Points, budget: Budget) -> list[tuple[Floats, float]]:
    """Return the averaged weights and the pocket weights of a trained perceptron."""
    if A.shape[1] == 0 or budget.is_spent:
        return []
    options = RunOptions(hypothesis="pocket", max_iter=PASSES, random_state=0)
    state = LinearState.initial(options, 2, A.shape[1])
    labels = (points.signs > 0).astype(np.int32)
    batch = make_batch(A, labels, np.array([-1, 1]), None, None)
    TrainingRun(state, InMemory(batch), options, [Callback(lambda run: budget.is_late(POCKET_REST))]).run()
    average_w, average_b = state.average()
    found = [(average_w[0], float(average_b[0]))]
    if state.pocket is not None:
        found.append((state.pocket.w[0].copy(), float(state.pocket.b[0])))
    return found


def _mistakes_of(A: Matrix, points: Points, w: Floats, b: float) -> int:
    with np.errstate(all="ignore"):
        return points.cost(~(points.signs * (A @ w + b) > 0))


def _after_line_searches(A: Matrix, points: Points, w: Floats, b: float, budget: Budget) -> tuple[Floats, float]:
    """Improve (w, b) by line searches until a sweep improves nothing, or work or time runs out.

    Invariant: up to the rounding of all steps, ``scores`` is A w + b, and ``cost`` is the number of mistakes according
    to ``scores``. Both may be approximate, since `Points.mistakes` decides afterwards.
    """
    n, d = A.shape
    columns = sp.csc_array(A) if sp.issparse(A) else A
    rng = np.random.default_rng(0)
    w = w / (np.sqrt(w @ w) or 1.0) if d else w
    scores = np.asarray(A @ w + b)
    work = budget.left
    for _ in range(SWEEPS):
        before = cost = points.cost(~(points.signs * scores > 0))
        wrong = np.flatnonzero(~(points.signs * scores > 0))
        lines: list[int | None] = [None, *rng.permutation(d).tolist()]
        lines += (d + rng.permutation(wrong)[:UPDATES]).tolist()
        for line in lines:
            if budget.is_late(LINES_REST) or cost == 0:
                return w, b
            u, c, change = _line(A, columns, line)
            step, reached = _best_step(points, scores, change)
            if reached < cost:
                w, b, cost = w + step * u, b + step * c, reached
                scores = scores + step * change
        budget.spend(len(lines) * n * SORTED)
        if cost == before or budget.left < REST * work:
            break
    return w, b


def _line(A: Matrix, columns: Matrix, line: int | None) -> tuple[Floats, float, Floats]:
    """Return the direction (u, c) of line number ``line``, and the change of each score along it."""
    n, d = A.shape
    u = np.zeros(d)
    if line is None:
        return u, 1.0, np.ones(n)
    if line < d:
        u[line] = 1.0
        column = columns[:, [line]].toarray().ravel() if sp.issparse(columns) else columns[:, line]
        return u, 0.0, column
    u = A[[line - d]].toarray().ravel() if sp.issparse(A) else A[line - d]
    return u, 1.0, np.asarray(A @ u + 1.0)


def _best_step(points: Points, scores: Floats, change: Floats) -> tuple[float, int]:
    """Return the t for which scores + t * change has the fewest mistakes, and their number."""
    signs, counts = points.signs, points.counts
    moving = change != 0
    fixed = points.cost(~moving & ~(signs * scores > 0))
    with np.errstate(all="ignore"):
        breakpoints = -scores[moving] / change[moving]
    order = np.argsort(breakpoints, kind="stable")
    breakpoints = breakpoints[order]
    if len(breakpoints) == 0 or not np.isfinite(breakpoints).all():
        return 0.0, points.cost(~(signs * scores > 0))
    rises = (signs[moving] * change[moving] > 0)[order]
    weight = counts[moving][order]
    # Just after breakpoint k, the rows 0..k that rise and the rows k + 1.. that fall are classified correctly.
    wrong = fixed + np.concatenate([[0], np.cumsum(np.where(rises, 0, weight))])
    wrong += weight[rises].sum() - np.concatenate([[0], np.cumsum(np.where(rises, weight, 0))])
    span = max(1.0, float(breakpoints[-1] - breakpoints[0]))
    ends = np.concatenate([[breakpoints[0] - span], breakpoints, [breakpoints[-1] + span]])
    gaps = np.diff(ends)
    middles = ends[:-1] + gaps / 2
    inside = (middles > ends[:-1]) & (middles < ends[1:])
    wrong = np.where(inside, wrong, np.iinfo(np.int64).max)
    best = np.flatnonzero(wrong == wrong.min())
    k = best[np.argmax(gaps[best])]
    return float(middles[k]), int(wrong[k])
