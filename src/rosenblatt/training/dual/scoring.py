"""What a kernel perceptron answers by each hypothesis: sums over its support rows, and votes by running sums."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.dual.arrays import ArrayLibrary, open_library
from rosenblatt.training.dual.bounds import SumBounds
from rosenblatt.training.dual.settling import settled_sign
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.dual.table import DeviceSupports, KernelTable
from rosenblatt.training.dual.values import Floats, KernelValues
from rosenblatt.training.rows import Matrix, RowMatrix

Integers = NDArray[np.int64]
BLOCK_BYTES = 64 * 1024 * 1024
"""Kernel values that are held at once."""


class ScoredRows(NamedTuple):
    """The scores of some rows, before a division by ``divisors``, and what each may be off by."""

    start: int
    scores: Floats
    bounds: Floats


class SupportSums:
    """Sums over the support rows of a state, with factors that are known exactly.

    Parameters
    ----------
    state : DualState
    hypothesis : "last", "average" or "pocket"
    """

    def __init__(self, state: DualState, hypothesis: str) -> None:
        self.state, self.hypothesis = state, hypothesis
        self.coefficients, self.divisors, self.sizes = state.whole_coefficients(hypothesis)
        self._exact: dict[int, dict[int, Any]] = {}

    def blocks(self, rows: RowMatrix) -> Iterator[ScoredRows]:
        """Yield the scores of all rows, some of them at a time."""
        state = self.state
        factors = np.ascontiguousarray(self.coefficients.T)
        terms = len(state.supports) + 2.0 * np.broadcast_to(state.counters["updates"], state.n_scores) + 16.0
        whole = state.has_whole_steps
        for start, table in tables(state, rows.matrix, whole_rows=False):
            n = table.host.shape[0]
            with np.errstate(over="ignore", invalid="ignore"):  # such sums are settled exactly
                scores = table.values.library.fetch(table.scores(np.arange(n), factors))
            bounds = SumBounds.of_rows(table).of_sums(self.sizes, terms, whole)
            yield ScoredRows(start, scores, bounds.T)

    def sign(self, k: int, x: Matrix, other: int | None = None) -> int:
        """Return the exact sign of score ``k`` of a row, or of its lead over score ``other``."""
        factors = self._factors(k)
        if other is not None:
            factors = dict(factors)
            for member, factor in self._factors(other).items():
                factors[member] = factors.get(member, 0) - factor
        return settled_sign(self.state.kernel, factors, self.state.support_matrix(), x)

    def _factors(self, k: int) -> dict[int, Any]:
        """Return the exact factor of each support row in score ``k``, divided by its divisor."""
        if k not in self._exact:
            self._exact[k] = _exact_factors(self.state, self.hypothesis, k, Fraction(self.divisors[k]))
        return self._exact[k]


def _exact_factors(state: DualState, hypothesis: str, k: int, divisor: Fraction) -> dict[int, Any]:
    out: dict[int, Any] = {}
    made = state.updates_of(0 if state.direct else k)
    line = 0 if state.direct else k
    kept = len(made.members)
    if hypothesis == "pocket" and state.pocket is not None:
        kept = int(state.pocket.updates[line])
    visits = float(state.counters["visits"][line])
    for v in range(kept):
        sign = (int(made.trues[v] == k) - int(made.rivals[v] == k)) if state.direct else 1
        if sign:
            step = Fraction(float(made.steps[v])) * sign
            if hypothesis == "average":
                step *= Fraction(visits - float(made.visits[v])) / divisor
            member = int(made.members[v])
            out[member] = out.get(member, 0) + step
    return out


def tables(state: DualState, X: Matrix, *, whole_rows: bool) -> Iterator[tuple[int, KernelTable]]:
    """Yield tables of kernel values for some rows of ``X`` at a time; few enough to hold all values of each row.

    Without ``whole_rows`` only some of the values are held at a time. With each comes the number of its first row.
    """
    library = library_of(state, X)
    values = KernelValues(state.kernel, library)
    supports = DeviceSupports(values, state)
    supports.update()
    columns = len(state.supports) if whole_rows else 1024
    room = BLOCK_BYTES * (16 if library.is_remote else 1)
    step = int(min(max(1, room // (8 * max(1, columns))), 65536))
    for start in range(0, X.shape[0], step):
        yield start, KernelTable(values, X[start : start + step], supports, 0)


def library_of(state: DualState, X: Matrix) -> ArrayLibrary:
    """Return where kernel values of a matrix are computed: on the device asked for, sparse rows by SciPy."""
    sparse = sp.issparse(X) or any(sp.issparse(block) for block in state.supports.blocks)
    if sparse or state.kernel.name in ("function", "precomputed"):
        return open_library(None)
    return open_library(state.computing.device, state.computing.namespace)


def decision_scores(state: DualState, hypothesis: str, rows: RowMatrix) -> Floats:
    """Return the score of each row for each classifier, with exact signs."""
    out = np.zeros((rows.n, state.n_scores))
    if not len(state.supports):
        return out
    sums = SupportSums(state, hypothesis)
    for start, scores, bounds in sums.blocks(rows):
        found = scores / sums.divisors
        for i, k in np.argwhere(~(np.abs(scores) > bounds) & (bounds > 0)).tolist():
            sign = sums.sign(k, rows.matrix[[start + i]])
            found[i, k] = sign * max(abs(np.nan_to_num(found[i, k])), 5e-324)
        out[start : start + len(found)] = found
    return out


def predicted_classes(state: DualState, hypothesis: str, rows: RowMatrix) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the class number of each row, decided exactly, and whether it is tied."""
    best, tied = np.zeros(rows.n, np.int64), np.zeros(rows.n, bool)
    if state.n_scores == 1:
        scores = decision_scores(state, hypothesis, rows)[:, 0]
        return (scores > 0).astype(np.int64), scores == 0
    if not len(state.supports):
        return best, ~tied
    sums = SupportSums(state, hypothesis)
    same = bool(np.all(sums.divisors == sums.divisors[0]))
    for start, scores, bounds in sums.blocks(rows):
        if not same:  # a division may round two scores to one
            scores, bounds = scores / sums.divisors, bounds / sums.divisors
            if state.kernel.is_exact:
                bounds = bounds + 4.0 * HALF_ULP * np.abs(scores)
        top, equal = _best(sums, scores, bounds, rows.matrix, start)
        best[start : start + len(top)], tied[start : start + len(top)] = top, equal
    return best, tied


def _best(
    sums: SupportSums, scores: Floats, bounds: Floats, X: Matrix, start: int
) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the column of the largest score in each line, the first of equals, and whether it has an equal."""
    with np.errstate(invalid="ignore"):
        low, high = scores - bounds, scores + bounds
        floor = np.max(np.where(np.isnan(low), -np.inf, low), axis=1, keepdims=True)
        close = ~(high < floor)
    best, tied = scores.argmax(axis=1), np.zeros(len(scores), bool)
    for i in np.flatnonzero(close.sum(axis=1) > 1).tolist():
        candidates = np.flatnonzero(close[i]).tolist()
        if not bounds[i].any():
            tied[i] = True  # these numbers are exact, and equal
            continue
        winner, equal, x = candidates[0], False, X[[start + i]]
        for k in candidates[1:]:
            lead = sums.sign(k, x, winner)
            winner, equal = (k, False) if lead > 0 else (winner, equal or lead == 0)
        best[i], tied[i] = winner, equal
    return best, tied


def kernel_values(state: DualState, rows: RowMatrix) -> Floats:
    """Return the kernel value of each row with each support row."""
    out = np.zeros((rows.n, len(state.supports)))
    for start, table in tables(state, rows.matrix, whole_rows=True):
        for place, part in table.parts(np.arange(table.host.shape[0])):
            found = table.values.library.fetch(part)
            out[start : start + len(found), place : place + found.shape[1]] = found
    return out
