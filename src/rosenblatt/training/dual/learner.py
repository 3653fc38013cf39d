"""Train a kernel perceptron by blocks of rows: compute the scores of a block, make its updates, change the state."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.training.batches import Batch
from rosenblatt.training.dual.block_updates import (
    BlockResult,
    BlockUpdate,
    DirectBlockUpdates,
    Gram,
    OneVsRestBlockUpdates,
    evict_nothing,
)
from rosenblatt.training.dual.exact_signs import exact_coefficients, filtered_sign
from rosenblatt.training.dual.kernel_values import Array, ArrayLibrary, Floats, KernelValues
from rosenblatt.training.dual.predict import largest_scores, library_of, support_scores
from rosenblatt.training.dual.table import DeviceSupports, KernelTable, SumBounds, are_integers
from rosenblatt.training.observers import Observer
from rosenblatt.training.rows import Matrix, check_finite, pad_columns
from rosenblatt.training.state import Updates, join_updates

if TYPE_CHECKING:
    from rosenblatt.training.dual.state import DualPocket, DualState
    from rosenblatt.training.run import TrainingRun


# A limit on support rows: a classifier with too many evicts the oldest (a budget perceptron).


Integers = NDArray[np.int64]
_LARGEST_SUM = sys.float_info.max / 4
"""The largest sum of steps times visits. If classes compete directly, a margin counts a row's step up to twice."""


class SupportLimit:
    """Enforce the limit on support rows in a block: evict a classifier's oldest support row if it has too many.

    A row is evicted together with all its updates, as though they had never been made. The row may become a support row
    again when it is visited again.

    Parameters
    ----------
    state : DualState
        The state before the block.
    table : KernelTable
        The kernel values of the batch.
    rows : array
        The row numbers, within the batch, of the rows of the block.
    first : int
        The row number of the batch's first row, counted over all rows that the state has seen.
    active : array
        The indices of the classifiers that are trained.
    moves : array of shape (classifiers, rows)
        The step size of an update on each row, times its label (1 or -1). If classes compete directly, the array has a
        single row, with step sizes.
    """

    def __init__(
        self, state: DualState, table: KernelTable, rows: Integers, first: int, active: Integers, moves: Floats
    ) -> None:
        self.state, self.table, self.rows = state, table, rows
        self.first, self.active, self.moves = first, active, moves
        self.most = state.computing.max_support or 1
        self.evicted: list[set[int]] = [set() for _ in active]
        """For each classifier, the indices of the support rows that it has evicted in this block."""
        self._has_evicted = False
        numbers = np.array(state.supports.numbers, np.int64)
        held = [numbers[state.updates_of(k).members].tolist() for k in active.tolist()]
        self._held: list[dict[int, list[BlockUpdate]]] = [{number: [] for number in part} for part in held]

    def evict(self, line: int, update: BlockUpdate) -> Floats | None:
        """Record an update. If it evicts a row, return the change of the scores of the block's rows, else None.

        ``line`` is the position of the classifier in ``active``.
        """
        held = self._held[line]
        held.setdefault(self.first + int(self.rows[update.place]), []).append(update)
        if len(held) <= self.most:
            return None
        oldest, self._has_evicted = next(iter(held)), True
        coefficients = np.zeros(self.state.n_scores)
        for made in held.pop(oldest):
            made.evicted = True
            self._add(coefficients, line, self.moves[line, made.place], made.true, made.rival)
        place = self.state.supports.places.get(oldest)
        if place is not None and place not in self.evicted[line]:
            self.evicted[line].add(place)
            updates = self.state.updates_of(int(self.active[line]))
            for at in np.flatnonzero(updates.members == place):
                self._add(coefficients, line, updates.steps[at], int(updates.trues[at]), int(updates.rivals[at]))
        change = -np.outer(coefficients, self._values(oldest, place))
        return change if self.state.direct else change[[int(self.active[line])]]

    def _add(self, coefficients: Floats, line: int, step: float, true: int, rival: int) -> None:
        if self.state.direct:
            coefficients[true] += step
            coefficients[rival] -= step
        else:
            coefficients[int(self.active[line])] += step

    def _values(self, number: int, place: int | None) -> Floats:
        """Return the kernel values between a row and the rows of the block.

        ``number`` is the row number. ``place`` is the index among the support rows if the row was a support row before
        the block, else None.
        """
        if self.state.kernel.name == "precomputed":
            return self.table.precomputed(self.rows, np.array([number]))[:, 0]
        row: Matrix
        if place is not None:
            row = self.state.support_matrix()[[place]]
        else:
            row = self.table.host[[number - self.first]]
        return self.table.with_row(self.rows, row)

    def apply(self) -> bool:
        """Remove the updates of evicted rows from the state; return whether a row was evicted in this block."""
        for k, evicted in zip(self.active.tolist(), self.evicted, strict=True):
            if evicted:
                made = self.state.updates_of(k)
                kept = ~np.isin(made.members, list(evicted))
                self.state.updates[k] = [made.some(kept)]
        return self._has_evicted

    def compact(self) -> None:
        """Remove the support rows that no classifier uses."""
        state = self.state
        used = np.zeros(len(state.supports), bool)
        all_updates = [state.updates_of(k) for k in range(len(state.counters))]
        for updates in all_updates:
            used[updates.members] = True
        if used.all():
            return
        places = np.cumsum(used) - 1
        state.supports = state.supports.kept(used, state.width)
        state.updates = [[updates._replace(members=places[updates.members])] for updates in all_updates]


# Primal weights: for a kernel of degree 1, scores are computed from a weight for each feature.


class PrimalWeights:
    """The primal weights for the kernel ``gamma x . z + coef0``, in float64.

    For each score there is a weight for each feature (the sum of steps times rows), and the sum of the steps.
    """

    def __init__(self, values: KernelValues, state: DualState) -> None:
        self.gamma, self.coef0, _ = values.kernel.polynomial or (1.0, 0.0, 1)
        self._library = values.library
        coefficients = state.coefficients("last")
        supports = state.support_matrix()
        weights = np.zeros((state.width, state.n_scores))
        if len(state.supports):
            with np.errstate(over="ignore", invalid="ignore"):
                weights = np.asarray(supports.T.astype(np.float64) @ coefficients.T)
        self._weights: Array = self._library.put(weights)
        self._sums = coefficients.sum(axis=1)

    def scores(self, table: KernelTable, rows: Integers, columns: Integers) -> Array:
        """Return the scores of rows of the table for the classifiers with indices ``columns``."""
        library = self._library
        X = self._part(table, rows)
        places = library.put(columns)
        W = self._weights if len(columns) == self._weights.shape[1] else library.xp.take(self._weights, places, axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            return (X @ W) * self.gamma + library.put(self.coef0 * self._sums[columns][None, :])

    def add(self, table: KernelTable, rows: Integers, changes: Floats) -> None:
        """Add updates on rows of the table. ``changes`` has the step on each row for each score."""
        X = self._part(table, rows)
        with np.errstate(over="ignore", invalid="ignore"):
            self._weights = self._weights + X.T @ self._library.put(changes)
            self._sums = self._sums + changes.sum(axis=0)

    def _part(self, table: KernelTable, rows: Integers) -> Array | Matrix:
        """Return rows of the table in float64."""
        X = table.some_rows(rows).matrix
        if sp.issparse(X):
            return X
        return self._library.astype(X, "float64")


class BlockLearner:
    """Train the classifiers of a state on a batch, one block of rows at a time."""

    def __init__(self, state: DualState, batch: Batch, library: ArrayLibrary, supports: DeviceSupports | None) -> None:
        computing = state.computing
        sparse = sp.issparse(batch.rows.matrix)
        dtype = "float64" if sparse or state.kernel.name in ("function", "precomputed") else computing.dtype
        self.state, self.batch, self.library = state, batch, library
        self.values = KernelValues(state.kernel, library, dtype)
        if supports is not None and supports.state is state:
            reusable = supports.values.dtype == dtype and supports.values.library == library
            supports = supports if reusable else None
        self.supports = supports or DeviceSupports(self.values, state)
        self.table = KernelTable(self.values, batch.rows.matrix, self.supports, computing.cache_bytes)
        polynomial = state.kernel.polynomial
        self.primal = PrimalWeights(self.values, state) if polynomial is not None and polynomial[2] == 1 else None
        self.coefficients = np.ascontiguousarray(state.coefficients("last").T)
        """The coefficient of each support row in each score, of shape (support rows, scores)."""
        self._integer_steps = state.has_integer_steps
        self._block_updates: dict[tuple[int, int], OneVsRestBlockUpdates] = {}

    # one block

    def visit(self, rows: Integers, active: Integers) -> list[Updates]:
        """Train on a block of rows of the batch, in order, and return the updates of each classifier.

        ``rows`` are row numbers within the batch; their step sizes are not 0. The ``members`` of the updates are row
        numbers within the batch, too.
        """
        state, steps = self.state, self.batch.steps
        sizes = steps[rows] if len(steps) else np.ones(len(rows))
        self._check_overflow(sizes)
        labels = self.batch.labels[rows].astype(np.int64)
        if len(self.coefficients) < len(state.supports):  # another learner has trained this state in between
            self.coefficients = np.ascontiguousarray(state.coefficients("last").T)
        self.supports.update()
        bounds = self._bounds(rows, active, sizes)
        gram = Gram(
            len(rows),
            self.library,
            lambda some: self.table.among(rows, some),
            lambda place: self._cached_line(rows, place),
        )
        limit, made = state.counters["limit"], state.counters["updates"]
        remaining = np.where(limit >= 0, np.maximum(limit - made, 0), np.iinfo(np.int64).max)
        signs = np.where(labels == state.counters["target"][active][:, None], 1.0, -1.0)
        support_limit = None
        if state.computing.max_support is not None:
            moves = sizes[None, :] if state.direct else signs * sizes
            support_limit = SupportLimit(state, self.table, rows, state.rows_seen + self.batch.first, active, moves)
        evict = evict_nothing if support_limit is None else support_limit.evict
        if state.direct:
            scores = self._scores(rows, np.arange(state.n_scores)).T

            def compare(one: int, other: int, place: int, found: list[BlockUpdate]) -> int:
                return self._sign(rows, place, self._margin_coefficients(sizes, one, other, found, support_limit))

            results = DirectBlockUpdates(
                self.library, labels, sizes, scores, bounds[0], gram, int(remaining[0]), compare, evict
            ).run()
        else:
            margins = self.library.put(signs) * self._scores(rows, active).T

            def is_mistake(k: int, place: int, found: list[BlockUpdate]) -> bool:
                coefficients = self._classifier_coefficients(signs[k] * sizes, int(active[k]), found, support_limit, k)
                return signs[k, place] * self._sign(rows, place, coefficients) <= 0

            block = self._updates_for(len(active), len(rows))
            results = block.run(signs, sizes, margins, bounds, gram, remaining[active], is_mistake, evict)
        return self._commit(rows, sizes, labels, active, results, bounds, support_limit)

    def _check_overflow(self, sizes: Floats) -> None:
        """Raise a ValueError if coefficients, or the sums in averages, might overflow by updates on all rows."""
        counters = self.state.counters
        with np.errstate(over="ignore"):
            sums = (counters["step_sum"].max() + sizes.sum()) * (counters["visits"].max() + len(sizes))
        if not sums < _LARGEST_SUM:
            raise ValueError(
                "the coefficients of the support rows overflow float64: give smaller sample weights, and train from "
                "the start."
            )

    def _updates_for(self, k: int, n: int) -> OneVsRestBlockUpdates:
        """Return the object that updates k classifiers in blocks of n rows. It is reused, as is its CUDA graph."""
        if (k, n) not in self._block_updates:
            if len(self._block_updates) > 8:
                self._block_updates.clear()
            self._block_updates[k, n] = OneVsRestBlockUpdates(self.library, k, n)
        return self._block_updates[k, n]

    def _cached_line(self, rows: Integers, place: int) -> Array | None:
        """Return the kernel values between one row of the block and all rows of the block, or None if not cached."""
        support = self.state.supports.places.get(self.state.rows_seen + self.batch.first + int(rows[place]))
        return None if support is None else self.table.cached_line(rows, support)

    def _scores(self, rows: Integers, columns: Integers) -> Array:
        """Return the scores of rows before the updates of this block, in float64."""
        if self.primal is not None:
            return self.primal.scores(self.table, rows, columns)
        return self.table.scores(rows, self.coefficients[:, columns])

    def _bounds(self, rows: Integers, active: Integers, sizes: Floats) -> Floats:
        """Return bounds on the rounding errors of margins throughout the block, of shape (classifiers, rows)."""
        # They are valid after every update in the block: ``steps`` includes an update on each of its rows, and
        # ``terms`` counts all products and sums, of the matrix products before the block and of the updates in it.
        # An eviction subtracts a term that was added before, from kernel values computed anew. At most all terms are
        # evicted once, so the absolute values of all terms add up to twice as much, as does the number of terms.
        counters = self.state.counters[active]
        steps = counters["step_sum"] * 1.001 + float(sizes.sum())
        self._integer_steps = self._integer_steps and are_integers(sizes)
        terms = len(self.state.supports) + 2.0 * counters["updates"] + 2.0 * len(rows) + 16.0
        if self.state.computing.max_support is not None:
            steps, terms = 2.0 * steps, 2.0 * terms
        return SumBounds.of_rows(self.table, rows).of_sums(steps, terms, self._integer_steps)

    # exact decisions

    def _sign(self, rows: Integers, place: int, coefficients: dict[int, Fraction | int]) -> int:
        """Return the exact sign of the score of a row of the block.

        ``place`` is the index of the row in the block. In ``coefficients``, a key of at least 0 is the index of a
        support row. The key -1 - p is the row with index p in the block.
        """
        matrix, old = self.batch.rows.matrix, [key for key in coefficients if key >= 0]
        new = [key for key in coefficients if key < 0]
        parts: list[Matrix] = []
        if old:
            parts.append(self.state.support_matrix()[np.array(old)])
        if new:
            parts.append(matrix[rows[[-1 - key for key in new]]])
        if not parts:
            return 0
        stacked = _stack(parts)
        in_order = dict(enumerate(coefficients[key] for key in (*old, *new)))
        return filtered_sign(self.state.kernel, in_order, stacked, matrix[[int(rows[place])]])

    def _classifier_coefficients(
        self, moves: Floats, k: int, found: list[BlockUpdate], support_limit: SupportLimit | None, line: int
    ) -> dict[int, Fraction | int]:
        """Return the exact coefficients of one classifier, including its updates in this block; see `_sign`."""
        made = self.state.updates_of(k)
        evicted = set() if support_limit is None else support_limit.evicted[line]
        members = [(m, s) for m, s in zip(made.members.tolist(), made.steps.tolist(), strict=True) if m not in evicted]
        new = [(-1 - c.place, float(moves[c.place])) for c in found if not c.evicted]
        return exact_coefficients(*_columns(members + new))

    def _margin_coefficients(
        self, sizes: Floats, one: int, other: int, found: list[BlockUpdate], support_limit: SupportLimit | None
    ) -> dict[int, Fraction | int]:
        """Return the exact coefficients of the score of class ``one`` minus that of class ``other``; see `_sign`."""
        made = self.state.updates_of(0)
        evicted = set() if support_limit is None else support_limit.evicted[0]
        entries = zip(
            made.members.tolist(), made.steps.tolist(), made.trues.tolist(), made.rivals.tolist(), strict=True
        )
        all_of_them = [entry for entry in entries if entry[0] not in evicted]
        all_of_them += [(-1 - c.place, float(sizes[c.place]), c.true, c.rival) for c in found if not c.evicted]
        moves = []
        for member, step, true, rival in all_of_them:  # an update is ``sign`` times the step in w_one - w_other
            sign = (true == one) - (true == other) - (rival == one) + (rival == other)
            if sign:
                moves.append((member, sign * step))
        return exact_coefficients(*_columns(moves))

    # what a block changes

    def _commit(
        self,
        rows: Integers,
        sizes: Floats,
        labels: Integers,
        active: Integers,
        results: list[BlockResult],
        bounds: Floats,
        support_limit: SupportLimit | None,
    ) -> list[Updates]:
        """Add the updates to the state, and return them. Interrupts are deferred until all updates have been added."""
        state, batch = self.state, self.batch
        base = state.rows_seen + batch.first
        wanted = np.array(sorted({c.place for result in results for c in result.updates if not c.evicted}), np.int64)
        numbers = (base + rows[wanted]).tolist()
        is_new = np.array([number not in state.supports.places for number in numbers], bool)
        out = [Updates(*_nothing()) for _ in state.counters]
        with interrupts_deferred():
            evicted = support_limit is not None and support_limit.apply()
            matrix = None if state.kernel.name == "precomputed" else batch.rows.matrix[rows[wanted[is_new]]]
            state.supports.append(matrix, (base + rows[wanted[is_new]]).tolist())
            places = np.zeros(len(rows), np.int64)
            places[wanted] = [state.supports.places[number] for number in numbers]
            changes = np.zeros((len(rows), state.n_scores))
            for k, result, bound in zip(active.tolist(), results, bounds, strict=True):
                made = self._updates(k, [c for c in result.updates if not c.evicted], sizes, labels)
                if len(made.members):
                    state.updates[k].append(made._replace(members=places[made.members]))
                    _add_changes(changes, k, made, state.direct)
                    out[k] = made._replace(members=rows[made.members])
                self._count(k, result, sizes, rows, bound)
            self._update_coefficients(rows, wanted, places, changes)
            if evicted and support_limit is not None:
                support_limit.compact()
                self._rebuild()
        return out

    def _rebuild(self) -> None:
        """Compute the support rows and the coefficients again from the state, after evictions."""
        state = self.state
        self.supports = DeviceSupports(self.values, state)
        self.supports.update()
        self.table.replace_supports(self.supports)
        self.coefficients = np.ascontiguousarray(state.coefficients("last").T)
        self.primal = None if self.primal is None else PrimalWeights(self.values, state)
        state.norm2[:] = self.table.lengths_squared(self.coefficients, state.direct)

    def _updates(self, k: int, made: Sequence[BlockUpdate], sizes: Floats, labels: Integers) -> Updates:
        """Return a classifier's updates in a block as arrays. Their ``members`` are indices of rows in the block."""
        where = np.array([update.place for update in made], np.int64)
        visits = float(self.state.counters["visits"][k]) + where.astype(np.float64)
        if self.state.direct:
            trues, rivals = (np.array([getattr(c, name) for c in made], np.int64) for name in ("true", "rival"))
            return Updates(where, sizes[where], visits, trues, rivals)
        signs = np.where(labels[where] == self.state.counters["target"][k], 1.0, -1.0)
        return Updates(where, signs * sizes[where], visits, labels[where], np.zeros(len(where), np.int64))

    def _count(self, k: int, result: BlockResult, sizes: Floats, rows: Integers, bounds: Floats) -> None:
        """Add the visits and the updates of a classifier to its counters.

        ``norm2`` is updated by |w + s y phi(x)|^2 = |w|^2 + 2 s m + s^2 K(x, x). Here s is the step size, and m is the
        margin, which is at most 0 for a mistake. If classes compete directly, w is the vector of the weights of all
        classes. An update then changes the weights of two classes, so the last term is 2 s^2 K(x, x) (Kesler's
        construction).
        """
        state, counters = self.state, self.state.counters[k]
        where = np.array([update.place for update in result.updates], np.int64)
        if len(where):
            visits = counters["visits"] + where
            survived = visits - np.concatenate([[counters["last_change"]], visits[:-1] + 1.0])
            longest = int(np.argmax(survived))
            if survived[longest] > counters["longest"]:
                counters["longest"] = survived[longest]
                if state.pocket is not None:
                    state.pocket.candidate[k] = counters["updates"] + longest
            counters["last_change"] = visits[-1] + 1.0
            counters["mistakes"] += len(where)
            counters["updates"] += len(where)
            step_sum, squares, norm2 = (
                float(x) for x in (counters["step_sum"], counters["step_square_sum"], state.norm2[k])
            )
            kesler = 2.0 if state.direct else 1.0
            squares_there = self.table.diagonal(rows[where]).tolist()
            for update, square in zip(result.updates, squares_there, strict=True):  # in order: rounding depends on it
                step = float(sizes[update.place])
                # an upper bound: each of the ``kesler`` scores is off by at most the bound; the real margin is <= 0
                margin = update.margin + kesler * float(bounds[update.place])
                margin = margin if margin < 0.0 else 0.0
                step_sum += step
                squares += max(step * step, 1e-300)
                norm2 += 2.0 * step * margin + kesler * step * step * square
            norm2 = norm2 if abs(norm2) < sys.float_info.max else sys.float_info.max
            counters["step_sum"], counters["step_square_sum"], state.norm2[k] = step_sum, squares, norm2
            counters["lowest"] = counters["lowest_step"] = 0.0
        else:
            counters["lowest"] = min(float(counters["lowest"]), result.lowest)
            counters["lowest_step"] = min(float(counters["lowest_step"]), result.lowest_step)
        counters["visits"] += result.visited

    def _update_coefficients(self, rows: Integers, wanted: Integers, places: Integers, changes: Floats) -> None:
        """Add the steps of the block to the coefficients."""
        more = len(self.state.supports) - len(self.coefficients)
        if more:
            self.coefficients = np.concatenate([self.coefficients, np.zeros((more, self.state.n_scores))])
        if len(wanted):
            self.coefficients[places[wanted]] += changes[wanted]
            if self.primal is not None:
                self.primal.add(self.table, rows[wanted], changes[wanted])


def _add_changes(changes: Floats, k: int, made: Updates, direct: bool) -> None:
    """Add the steps of updates to ``changes``, an array of shape (rows, scores). A row has at most one update."""
    if direct:
        changes[made.members, made.trues] += made.steps
        changes[made.members, made.rivals] -= made.steps
    else:
        changes[made.members, k] += made.steps


def _columns(pairs: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _nothing() -> tuple[Integers, Floats, Floats, Integers, Integers]:
    none, nothing = np.empty(0, np.int64), np.empty(0)
    return none, nothing, nothing, none, none


def _stack(parts: list[Matrix]) -> Matrix:
    """Return matrices stacked vertically. The result is CSR if one of the matrices is CSR."""
    if any(sp.issparse(part) for part in parts):
        width = max(part.shape[1] for part in parts)
        return sp.vstack([pad_columns(sp.csr_array(part), width) for part in parts], format="csr")
    return np.concatenate(parts)


# Visits of a batch by the classifiers of a kernel perceptron, block by block.


BLOCK, GPU_BLOCK = 1000, 4096
"""The number of rows in a block, on a CPU and on a GPU.

These are guesses. With larger blocks, scores are computed by larger and more efficient matrix products. But the number
of entries of a Gram matrix is the square of the number of rows: 8 MB and 134 MB. A GPU needs larger products. If
`Kernel.is_exact`, any number gives the same updates. With other kernels, sums in another order may round differently.
"""


class DualPassRunner:
    """The `Runner` of kernel perceptrons. It caches the kernel values of a batch for later passes over this batch."""

    def __init__(self) -> None:
        self._learner: BlockLearner | None = None

    def visit(
        self,
        state: DualState,
        batch: Batch,
        order: NDArray[np.uint32],
        active: NDArray[np.int64],
        *,
        shuffled: bool,
        first: bool,
        on_slice: Callable[[int], bool],
        on_updates: Callable[[list[Updates]], None] | None,
        on_margins: Callable[[list[Floats]], None] | None = None,
        visited: int = 0,
    ) -> None:
        """Train the classifiers ``active`` on the rows ``order`` of a batch; see `Runner.visit`."""
        if first:
            check_finite(batch.rows.matrix)
        learner = self._learner_for(state, batch)
        made: list[list[Updates]] = [[] for _ in state.counters]
        try:
            block = state.computing.block or (GPU_BLOCK if learner.library.is_remote else BLOCK)
            for start in range(visited, len(order), block):
                stop = min(start + block, len(order))
                rows = order[start:stop].astype(np.int64)
                rows = rows[batch.steps[rows] > 0] if len(batch.steps) else rows
                if len(rows):
                    if first:
                        _measure(state, batch, rows, active, learner)
                    with np.errstate(over="ignore", invalid="ignore"):  # sums that overflow are decided exactly
                        updates = learner.visit(rows, active)
                    for chunk, update in zip(made, updates, strict=True):
                        chunk.append(update)
                if on_slice(stop) or state.at_limit[active].all():
                    break
        finally:
            if on_updates is not None:
                on_updates([join_updates(chunk) for chunk in made])

    def _learner_for(self, state: DualState, batch: Batch) -> BlockLearner:
        """Return the learner for a batch. If the previous batch had the same rows, its learner and cache are reused."""
        known = self._learner
        if known is None or known.state is not state or known.batch.rows is not batch.rows:
            library = library_of(state, batch.rows.matrix)
            self._learner = BlockLearner(state, batch, library, None if known is None else known.supports)
        elif known.batch is not batch:
            known.batch = batch
        assert self._learner is not None
        return self._learner


def _measure(
    state: DualState, batch: Batch, rows: NDArray[np.int64], active: NDArray[np.int64], learner: BlockLearner
) -> None:
    """Update the counters and the radius by the norms of these rows in the kernel's feature space."""
    squares = learner.table.diagonal(rows)
    steps = batch.steps[rows] if len(batch.steps) else 1.0
    counters = state.counters
    with np.errstate(over="ignore", invalid="ignore"):  # the square of a step may be infinite, and of the row zero
        largest = np.max(np.where(squares > 0.0, steps * steps * squares, 0.0))
    counters["radius2"][active] = np.maximum(counters["radius2"][active], squares.max())
    counters["max_step_norm2"][active] = np.maximum(counters["max_step_norm2"][active], largest)
    state.radius = min(max(state.radius, math.sqrt(max(0.0, float(squares.max())))), sys.float_info.max)


# The pocket of a kernel perceptron, stored as the number of updates after which it made the fewest training mistakes.


class DualPocketKeeper(Observer):
    """An observer that keeps the weights with the fewest training mistakes, chosen as in `PocketKeeper`.

    The weights are stored as the number of updates after which the classifier had them.
    """

    def on_start(self, run: TrainingRun) -> None:
        """Count the mistakes of pocket weights from an earlier run again, since the training rows may be different."""
        pocket = _pocket(run)
        if run.warm and np.isfinite(pocket.mistakes).all():
            pocket.mistakes[:] = _training_mistakes(run, pocket.updates)

    def on_pass(self, run: TrainingRun, active: Integers) -> None:
        """Replace the pocket's weights if a candidate of this pass makes fewer mistakes."""
        pocket = _pocket(run)
        for updates in (pocket.candidate.copy(), run.state.counters["updates"].copy()):
            mistakes = _training_mistakes(run, updates)
            better = mistakes < pocket.mistakes
            pocket.mistakes[better], pocket.updates[better] = mistakes[better], updates[better]


def _pocket(run: TrainingRun) -> DualPocket:
    """Return the pocket of a run."""
    return cast("DualPocket", cast("DualState", run.state).pocket)


def _training_mistakes(run: TrainingRun, updates: Integers) -> NDArray[np.float64]:
    """Return, for each classifier, the total sample weight of the training rows that it misclassifies.

    The weights are those after the first ``updates`` updates. Ties are mistakes.
    """
    state = replace(cast("DualState", run.state), pocket=replace(_pocket(run), updates=updates))
    wrong = np.zeros(len(state.counters))
    for batch in run.source.batches():
        weights = batch.weights
        if state.direct:
            best, tied = largest_scores(state, "pocket", batch.rows)
            wrong += weights @ ((best != batch.labels) | tied)
        else:
            scores = support_scores(state, "pocket", batch.rows)
            positive = batch.labels[:, None] == state.counters["target"]
            wrong += weights @ ~np.where(positive, scores > 0, scores < 0)
    return wrong
