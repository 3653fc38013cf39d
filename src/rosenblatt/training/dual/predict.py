"""Predictions of a kernel perceptron with each hypothesis: scores as sums over support rows, and votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rosenblatt.kernels.predict import count_votes
from rosenblatt.rounding import HALF_ULP
from rosenblatt.rounding import TINY as UNDERFLOW
from rosenblatt.training.dual.exact_signs import exact_coefficients, filtered_sign, running_signs
from rosenblatt.training.dual.kernel_values import Array, ArrayLibrary, Floats, KernelValues, open_library
from rosenblatt.training.dual.table import DeviceSupports, KernelTable, SumBounds, are_integers
from rosenblatt.training.rows import Matrix, RowMatrix, check_numbers
from rosenblatt.training.state import Updates

if TYPE_CHECKING:
    from rosenblatt.training.dual.state import DualState

Integers = NDArray[np.int64]
BLOCK_BYTES = 64 * 1024 * 1024
"""The size in bytes of the kernel values of one table on a CPU; a GPU uses 16 times as much."""


class ScoredRows(NamedTuple):
    """The scores of some rows, before they are divided by ``divisors``, and bounds on their rounding errors."""

    start: int
    """The row number of the first of these rows."""
    scores: Floats
    bounds: Floats


class SupportSums:
    """Compute the scores of a hypothesis, which are sums over support rows, and the exact signs of these sums.

    Parameters
    ----------
    state : DualState
    hypothesis : "last", "average" or "pocket"
    """

    def __init__(self, state: DualState, hypothesis: str) -> None:
        self.state, self.hypothesis = state, hypothesis
        self.coefficients, self.divisors, self.sizes = state.undivided_coefficients(hypothesis)
        self._exact: dict[int, dict[int, Fraction | int]] = {}

    def blocks(self, rows: RowMatrix) -> Iterator[ScoredRows]:
        """Yield the scores of all rows, in blocks of consecutive rows."""
        state = self.state
        factors = np.ascontiguousarray(self.coefficients.T)
        terms = len(state.supports) + 2.0 * np.broadcast_to(state.counters["updates"], state.n_scores) + 16.0
        is_integer = state.has_integer_steps
        for start, table in tables(state, rows.matrix, all_values=False):
            n = table.host.shape[0]
            with np.errstate(over="ignore", invalid="ignore"):  # sums that overflow are decided exactly
                scores = table.values.library.fetch(table.scores(np.arange(n), factors))
            bounds = SumBounds.of_rows(table).of_sums(self.sizes, terms, is_integer)
            yield ScoredRows(start, scores, bounds.T)

    def sign(self, k: int, x: Matrix, other: int | None = None) -> int:
        """Return the exact sign of score ``k`` of the row ``x``, or of its difference from score ``other`` if given."""
        factors = self._factors(k)
        if other is not None:
            factors = dict(factors)
            for member, factor in self._factors(other).items():
                factors[member] = factors.get(member, 0) - factor
        return filtered_sign(self.state.kernel, factors, self.state.support_matrix(), x)

    def _factors(self, k: int) -> dict[int, Fraction | int]:
        """Return the exact coefficient of each support row in score ``k``, divided by the score's divisor."""
        if k not in self._exact:
            self._exact[k] = _exact_factors(self.state, self.hypothesis, k, Fraction(self.divisors[k]))
        return self._exact[k]


def _exact_factors(state: DualState, hypothesis: str, k: int, divisor: Fraction) -> dict[int, Fraction | int]:
    out: dict[int, Fraction | int] = {}
    made = state.updates_of(0 if state.direct else k)
    line = 0 if state.direct else k
    kept = len(made.members)
    if hypothesis == "pocket" and state.pocket is not None:
        kept = int(state.pocket.updates[line])
    visits = float(state.counters["visits"][line])
    for v in range(kept):  # the average over T visits has the share (T - n) / T of a step after n visits
        sign = (int(made.trues[v] == k) - int(made.rivals[v] == k)) if state.direct else 1
        if sign:
            step = Fraction(float(made.steps[v])) * sign
            if hypothesis == "average":
                step *= Fraction(visits - float(made.visits[v])) / divisor
            member = int(made.members[v])
            out[member] = out.get(member, 0) + step
    return out


def tables(state: DualState, X: Matrix, *, all_values: bool) -> Iterator[tuple[int, KernelTable]]:
    """Yield ``(start, table)`` for blocks of rows of ``X``: the first row number, and the table of kernel values.

    With ``all_values`` the blocks are so small that the kernel values of a block with all support rows fit into memory.
    """
    library = library_of(state, X)
    values = KernelValues(state.kernel, library)
    supports = DeviceSupports(values, state)
    supports.update()
    columns = len(state.supports) if all_values else 1024
    memory = BLOCK_BYTES * (16 if library.is_remote else 1)
    step = int(min(max(1, memory // (8 * max(1, columns))), 65536))
    for start in range(0, X.shape[0], step):
        yield start, KernelTable(values, X[start : start + step], supports, 0)


def library_of(state: DualState, X: Matrix) -> ArrayLibrary:
    """Return the array library for computing the kernel values of ``X``.

    It is the library that the options choose. But for sparse rows, and for kernels that are functions or precomputed,
    it is NumPy.
    """
    sparse = sp.issparse(X) or any(sp.issparse(block) for block in state.supports.blocks)
    if sparse or state.kernel.name in ("function", "precomputed"):
        return open_library(None)
    return open_library(state.computing.device, state.computing.namespace)


def support_scores(state: DualState, hypothesis: str, rows: RowMatrix) -> Floats:
    """Return the score of each row for each classifier. The signs are exact."""
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


def largest_scores(state: DualState, hypothesis: str, rows: RowMatrix) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the class with the largest score for each row, and whether several classes tie.

    Scores are compared exactly.
    """
    best, tied = np.zeros(rows.n, np.int64), np.zeros(rows.n, bool)
    if not len(state.supports):
        return best, ~tied
    sums = SupportSums(state, hypothesis)
    same = bool(np.all(sums.divisors == sums.divisors[0]))
    for start, scores, bounds in sums.blocks(rows):
        if not same:  # a division may round different scores to the same number
            scores, bounds = scores / sums.divisors, bounds / sums.divisors
            if state.kernel.is_exact:
                bounds = bounds + 4.0 * HALF_ULP * np.abs(scores)
        top, equal = _best(sums, scores, bounds, rows.matrix, start)
        best[start : start + len(top)], tied[start : start + len(top)] = top, equal
    return best, tied


def _best(
    sums: SupportSums, scores: Floats, bounds: Floats, X: Matrix, start: int
) -> tuple[Integers, NDArray[np.bool_]]:
    """Return, for each row, the class with the largest score (the first if several tie), and whether several tie."""
    with np.errstate(invalid="ignore"):
        low, high = scores - bounds, scores + bounds
        floor = np.max(np.where(np.isnan(low), -np.inf, low), axis=1, keepdims=True)
        close = ~(high < floor)
    best, tied = scores.argmax(axis=1), np.zeros(len(scores), bool)
    for i in np.flatnonzero(close.sum(axis=1) > 1).tolist():
        candidates = np.flatnonzero(close[i]).tolist()
        if not bounds[i].any():
            tied[i] = True  # the scores are exact, and the largest ones are equal
            continue
        winner, equal, x = candidates[0], False, X[[start + i]]
        for k in candidates[1:]:  # invariant: ``winner`` is the first maximum so far; ``equal``: another one equals it
            margin = sums.sign(k, x, winner)
            winner, equal = (k, False) if margin > 0 else (winner, equal or margin == 0)
        best[i], tied[i] = winner, equal
    return best, tied


def kernel_values(state: DualState, rows: RowMatrix) -> Floats:
    """Return the kernel value of each row with each support row."""
    out = np.zeros((rows.n, len(state.supports)))
    for start, table in tables(state, rows.matrix, all_values=True):
        for place, part in table.parts(np.arange(table.host.shape[0])):
            found = table.values.library.fetch(part)
            out[start : start + len(found), place : place + found.shape[1]] = found
    return out


# Votes. A voter is the weight vector after an update. Running sums over the updates are the scores of all voters.


_MOMENTS = 2048
"""The number of voters whose running sums are computed together. The number is a guess, and affects only speed."""


class Scores(NamedTuple):
    """The scores of rows with each hypothesis, as arrays of shape (rows, scores)."""

    last: Floats
    average: Floats
    vote: Floats
    """The votes for the positive class minus the votes for the negative class, divided by the number of all visits.

    If classes compete directly, the votes for each class, divided by the number of all visits.
    """


def votes(state: DualState, rows: RowMatrix) -> Floats:
    """Return each row's votes for each classifier, from -1 to 1, or for each competing class, from 0 to 1.

    Votes are divided by the number of all visits. A voter is the weight vector after an update. It has one vote for
    each visited row that left it unchanged. A voter abstains if its score is exactly zero, or if its best classes tie.
    """
    visits = state.counters["visits"].astype(np.float64)
    out = np.zeros((rows.n, state.n_scores))
    if len(state.supports):
        buffer: list[Array] = []
        for start, table in tables(state, rows.matrix, all_values=True):
            counted = _count(state, table, visits[:, None], _products(table, buffer))
            out[start : start + len(counted)] = counted[:, :, 0]
    return out / np.maximum(state.visits, 1.0)


def scores_at(
    state: DualState, rows: RowMatrix, moments: ArrayLike, progress: Callable[[float], object] | None = None
) -> list[Scores]:
    """Return the scores of rows for each number of visits in ``moments``, as if training had ended after these visits.

    A classifier that stopped earlier, after a pass without mistakes, is treated as if it had continued without
    mistakes. ``progress`` is called with the share of rows that are done.
    """
    moments = np.asarray(moments, np.float64)
    ends = np.broadcast_to(moments, (len(state.counters), len(moments)))
    factors = np.concatenate([_factors_at(state, moment, kind) for kind in ("last", "average") for moment in moments])
    shape = (rows.n, len(moments), state.n_scores)
    last, average, vote = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    buffer: list[Array] = []
    for start, table in tables(state, rows.matrix, all_values=True):
        n = table.host.shape[0]
        part, library = slice(start, start + n), table.values.library
        products = _products(table, buffer)
        sums = library.fetch(products @ library.put(np.ascontiguousarray(factors.T)))
        last[part], average[part] = np.split(sums.reshape(n, 2 * len(moments), -1), 2, axis=1)
        vote[part] = np.swapaxes(_count(state, table, ends, products), 1, 2)
        if progress is not None:
            progress((start + n) / rows.n)
    vote /= np.maximum(moments, 1.0)[:, None]
    return [Scores(last[:, m], average[:, m], vote[:, m]) for m in range(len(moments))]


def _factors_at(state: DualState, moment: float, kind: str) -> Floats:
    """Return the coefficients of the last or the average weights after ``moment`` visits.

    The array has the shape (scores, support rows). ``kind`` is "last" or "average".
    """
    out = np.zeros((state.n_scores, len(state.supports)))
    for k in range(len(state.counters)):
        made = state.updates_of(k)
        left = np.maximum(moment - made.visits, 0.0)
        steps = made.steps * (left > 0) if kind == "last" else made.steps * left / max(moment, 1.0)
        state.add_steps(out, k, made, steps)
    return out


def _products(table: KernelTable, buffer: list[Array]) -> Array:
    """Return the kernel values between the rows of a table and all support rows, in float64.

    The values are written to the array in ``buffer``, because allocating memory takes time. If this array is too small,
    a new array replaces it.
    """
    library, n, supports = table.values.library, table.host.shape[0], table.supports
    if not buffer or buffer[0].shape[0] < n:
        buffer[:] = [library.empty((n, supports.length), "float64")]
    out = buffer[0][:n, :]
    if library.is_numpy and table.values.kernel.name != "precomputed":
        for start in range(0, supports.length, 1024):
            stop = min(start + 1024, supports.length)
            table.values.write(table.rows, supports.rows(start, stop), out[:, start:stop])
        return out
    for start, part in table.parts(np.arange(n)):
        out[:, start : start + part.shape[1]] = library.astype(part, "float64")
    return out


def _count(state: DualState, table: KernelTable, ends: Floats, products: Array) -> Floats:
    """Return the votes for a table's rows, of shape (rows, scores, ends), as if the run ended after ``ends`` visits.

    ``ends`` has a row for each classifier, with the numbers of visits after which the run is to end.
    """
    n = table.host.shape[0]
    out = np.zeros((n, state.n_scores, ends.shape[1]))
    for k in range(len(state.counters)):
        made = state.updates_of(k)
        following = np.append(made.visits[1:], np.inf)[:, None]
        counts = np.clip(np.minimum(following, ends[k]) - made.visits[:, None], 0.0, None)
        count = _DirectVotes if state.direct else _OneVsRestVotes
        target = out if state.direct else out[:, k : k + 1]
        with np.errstate(over="ignore", invalid="ignore"):  # sums that overflow are decided exactly
            count(state, table, products, made, counts).add_to(target)
    return out


def _by_row(doubts: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield ``(row, voters)`` for each row in the pairs (row, voter); the voters are in ascending order."""
    doubts = doubts[np.lexsort((doubts[:, 1], doubts[:, 0]))]
    rows, starts = np.unique(doubts[:, 0], return_index=True)
    yield from zip(rows.tolist(), np.split(doubts[:, 1], starts[1:]), strict=len(rows) > 0)


class _OneVsRestVotes:
    """Count the votes of one classifier. ``counts[i, j]`` is the number of votes of voter i until end j of the run."""

    def __init__(self, state: DualState, table: KernelTable, products: Array, made: Updates, counts: Floats) -> None:
        self.state, self.table, self.products, self.made, self.counts = state, table, products, made, counts
        self.library = table.values.library

    def add_to(self, target: Floats) -> None:
        """Add the votes to an array of shape (rows, scores, ends)."""
        if not len(self.made.members):
            return
        bounds, most = self._bounds()
        if self.library.is_numpy and self.counts.shape[1] == 1:
            self._add_compiled(target[:, 0, 0], bounds, most)
            return
        xp, library, made = self.library.xp, self.library, self.made
        running: Array = library.put(np.zeros((len(target), 1)))
        slack = library.put(most[:, None])
        # Invariant: ``running`` has the sums over the updates before ``start``, the scores of the voter before it.
        for start in range(0, len(made.members), _MOMENTS):
            part = slice(start, start + _MOMENTS)
            sums = xp.take(self.products, library.put(made.members[part]), axis=1)
            sums *= library.put(made.steps[part][None, :])
            sums = library.running_sums(sums)
            sums += running
            running = xp.take(sums, library.put(np.array([sums.shape[1] - 1])), axis=1)
            signs = xp.sign(sums)
            if most.any():
                doubts = ~(xp.abs(sums) > slack)
                if bool(xp.any(doubts)):
                    decided = library.fetch(signs).copy()
                    for i, columns in _by_row(np.argwhere(library.fetch(doubts))):
                        decided[i, columns] = self._exact_signs(i, start + columns, bounds)
                    signs = library.put(decided)
            target[:, 0, :] += library.fetch(signs @ library.put(self.counts[part]))

    def _add_compiled(self, target: Floats, bounds: SumBounds, most: Floats) -> None:
        """Add the votes for a single end to ``target``, by a compiled loop over the voters of each row."""
        made, counts = self.made, np.ascontiguousarray(self.counts[:, 0])
        check_numbers("support rows", made.members, self.products.shape[1])
        ones, capacity = np.ones(len(made.steps)), len(target) if most.any() else 0
        while True:  # at most twice: the second time ``doubts`` has space for all pairs (row, voter) in doubt
            doubts, votes = np.empty((capacity, 2), np.int64), np.zeros(len(target))
            shared = (np.zeros(len(target)), made.steps, counts, ones, most, 0.0)
            found = count_votes(self.products, made.members, *shared, votes, doubts)
            if not most.any() or found <= capacity:
                break
            capacity = found
        for i, voters in _by_row(doubts[: min(found, capacity)]):
            votes[i] += self._exact_signs(i, voters, bounds) @ counts[voters]
        target += votes

    def _bounds(self) -> tuple[SumBounds, Floats]:
        """Return the `SumBounds` of the rows, and one bound for each row that holds for the sums of all voters."""
        bounds, made = SumBounds.of_rows(self.table), self.made
        self._sizes = np.cumsum(np.abs(made.steps))
        terms = np.array([2.0 * len(made.steps) + 18.0])
        return bounds, bounds.of_sums(self._sizes[-1:], terms, are_integers(made.steps))[0]

    def _bound(self, bounds: SumBounds, row: int, voter: int) -> float:
        """Return a bound on the rounding error of the sum of one voter at a row."""
        return bounds.of_one(row, float(self._sizes[voter]), 2.0 * voter + 18.0)

    def _exact_signs(self, row: int, voters: Integers, bounds: SumBounds) -> Floats:
        """Return the exact signs of the sums of some voters at a row.

        Most signs are proved by an error bound for the voter. The other signs are computed with exact arithmetic.
        """
        kernel, made, last = self.state.kernel, self.made, int(voters.max()) + 1
        values = self.library.fetch(self.products[row, :])[made.members[:last]]
        sums = np.cumsum(made.steps[:last] * values)[voters]
        sizes = np.cumsum(np.abs(made.steps[:last] * values))[voters]
        signs = np.sign(sums)
        left = np.flatnonzero(~(np.abs(sums) > self._limits(row, voters, sizes, bounds)))
        if not len(left):
            return signs
        supports, x = self.state.support_matrix(), self.table.host[[row]]
        members, steps, asked = made.members.tolist(), made.steps.tolist(), voters[left].tolist()
        if kernel.polynomial is not None:
            signs[left] = running_signs(kernel, members, steps, supports, x if sp.issparse(x) else x[0], asked)
            return signs
        for place, at in zip(left.tolist(), asked, strict=True):
            factors = exact_coefficients(members[: at + 1], steps[: at + 1])
            signs[place] = filtered_sign(kernel, factors, supports, x)
        return signs

    def _limits(self, row: int, voters: Integers, sizes: Floats, bounds: SumBounds) -> Floats:
        """Return bounds on the rounding errors of some voters' sums.

        ``sizes`` has, for each voter, the sum of the absolute values of the terms of its sum.
        """
        if self.state.kernel.polynomial is not None:
            return np.array([self._bound(bounds, row, voter) for voter in voters.tolist()])
        # The errors of exponentials are proportional to their values, hence to ``sizes``. Only exponentials below the
        # smallest normal float are off by up to a unit of 2**-1074, which the steps multiply.
        relative = float(bounds.errors[row]) + bounds.far_exponents + HALF_ULP * (2.0 * voters + 18.0)
        return sizes * relative * 1.1 + self._sizes[voters] * UNDERFLOW + bounds.tiny


class _DirectVotes(_OneVsRestVotes):
    """Count the votes of competing classes. A voter votes for the class with its largest score."""

    def add_to(self, target: Floats) -> None:
        """Add the votes to an array of shape (rows, classes, ends)."""
        n, n_classes = len(target), self.state.n_scores
        made, library = self.made, self.library
        running = np.zeros((n_classes, n, 1))
        if not len(made.members):
            return
        bounds, most = self._bounds()
        limits = 2.0 * most[:, None]
        step = max(1, _MOMENTS // n_classes)
        for start in range(0, len(made.members), step):  # invariant: ``running`` has the sums before ``start``
            part = slice(start, start + step)
            found = library.fetch(library.xp.take(self.products, library.put(made.members[part]), axis=1))
            sums = np.empty((n_classes, *found.shape))
            for k in range(n_classes):
                moves = made.steps[part] * ((made.trues[part] == k) * 1.0 - (made.rivals[part] == k))
                sums[k] = np.cumsum(found * moves, axis=1) + running[k]
            running = sums[:, :, -1:]
            best = sums.argmax(axis=0)
            top = np.partition(sums, n_classes - 2, axis=0)
            with np.errstate(invalid="ignore"):
                margin = top[-1] - top[-2]
            certain = margin > limits
            if most.any() and not certain.all():
                self._decide_classes(sums, best, certain, start, bounds)
            for k in range(n_classes):
                target[:, k, :] += (certain & (best == k)) @ self.counts[part]

    def _decide_classes(
        self, sums: Floats, best: Integers, certain: NDArray[np.bool_], start: int, bounds: SumBounds
    ) -> None:
        """Find the best class of each uncertain pair (row, voter) exactly; mark pairs without a tie as certain."""
        for i, v in np.argwhere(~certain).tolist():
            at = start + v
            limit = 2.0 * self._bound(bounds, i, at)
            scores = sums[:, i, v]
            close = np.flatnonzero(~(scores < scores.max() - limit)).tolist()
            winner, tied = close[0], False
            for k in close[1:]:  # invariant: ``winner`` is the first maximum so far; ``tied``: another one equals it
                margin = self._margin_sign(k, winner, at, i)
                winner, tied = (k, False) if margin > 0 else (winner, tied or margin == 0)
            best[i, v], certain[i, v] = winner, not tied

    def _margin_sign(self, one: int, other: int, at: int, row: int) -> int:
        """Return the exact sign of the margin of class ``one`` over class ``other`` on a row, after update ``at``."""
        made = self.made
        trues, rivals = made.trues[: at + 1], made.rivals[: at + 1]
        signs = (trues == one) * 1 - (trues == other) - (rivals == one) + (rivals == other)
        moved = np.flatnonzero(signs)
        factors = exact_coefficients(made.members[moved].tolist(), (signs[moved] * made.steps[moved]).tolist())
        return filtered_sign(self.state.kernel, factors, self.state.support_matrix(), self.table.host[[row]])
