"""The state of a kernel perceptron: its support rows (support vectors), and the updates on these rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.dual.kernel_values import padded
from rosenblatt.training.dual.learner import DualPassRunner, DualPocketKeeper
from rosenblatt.training.dual.predict import largest_scores, support_scores, votes
from rosenblatt.training.dual.start import Computing, computing, kernel_of
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import Kernel, KernelOptions, RunOptions, draw_seed
from rosenblatt.training.rows import Matrix, RowMatrix
from rosenblatt.training.state import (
    RunState,
    Updates,
    attained_margin,
    competing_updates,
    join_updates,
    mirrored_updates,
    new_counters,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
TINY_SQUARE, LARGEST_SQUARE = 1e-290, 1e300
"""Squared norms in a kernel's feature space outside these bounds may have overflowed or underflowed."""


@dataclass
class SupportRows:
    """The support rows: all rows on which an update was made, in the order of their first updates.

    Rows are appended and never change. For a precomputed kernel only their row numbers are stored.
    """

    blocks: list[Matrix] = field(default_factory=list)
    """The support rows, as a list of dense or CSR matrices."""
    numbers: list[int] = field(default_factory=list)
    """The row number of each support row, counted over all rows that the state has seen."""
    places: dict[int, int] = field(default_factory=dict, repr=False)
    """The index of each row number in ``numbers``."""

    def __len__(self) -> int:
        return len(self.numbers)

    def append(self, rows: Matrix | None, numbers: Sequence[int]) -> None:
        """Append new support rows with their row numbers; ``rows`` is None for a precomputed kernel."""
        if len(numbers):
            if rows is not None:
                self.blocks.append(rows)
            self.places.update(zip(numbers, range(len(self), len(self) + len(numbers)), strict=True))
            self.numbers.extend(numbers)

    def matrix(self, d: int) -> Matrix:
        """Return all support rows as one matrix of ``d`` columns. It is float32 if all ``blocks`` are.

        The matrix is CSR if any of the ``blocks`` is CSR, else dense. Columns that were added after a row was visited
        are 0 in this row.
        """
        if not self.blocks:
            return np.empty((0, d))
        if any(sp.issparse(block) for block in self.blocks):
            self.blocks = [sp.csr_array(block) for block in self.blocks]
        blocks = [padded(block, d) for block in self.blocks]
        if len(blocks) > 1:
            blocks = [sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.concatenate(blocks)]
        self.blocks = blocks
        return self.blocks[0]

    def since(self, place: int) -> list[Matrix]:
        """Return the support rows from index ``place`` on, as a list of matrices."""
        parts: list[Matrix] = []
        missing = len(self) - place
        for block in reversed(self.blocks):  # invariant: ``missing`` rows before those in ``parts`` are still to come
            if missing <= 0:
                break
            parts.append(block[max(0, block.shape[0] - missing) :])
            missing -= block.shape[0]
        return parts[::-1]

    def snapshot(self) -> SupportRows:
        """Return a copy that does not change when rows are appended."""
        return SupportRows(list(self.blocks), list(self.numbers), dict(self.places))

    def kept(self, keep: NDArray[np.bool_], d: int) -> SupportRows:
        """Return the support rows that the mask ``keep`` selects, as new `SupportRows` with ``d`` columns."""
        out = SupportRows()
        rows = self.matrix(d)[np.flatnonzero(keep)] if self.blocks else None
        out.append(rows, [number for number, wanted in zip(self.numbers, keep.tolist(), strict=True) if wanted])
        return out


@dataclass
class DualPocket:
    """The weights with the fewest training mistakes so far, stored as the number of updates made to reach them."""

    updates: Integers
    """For each classifier, the number of updates after which it had the weights in the pocket."""
    mistakes: Floats
    """For each classifier, the weighted number of training rows that these weights misclassify; infinite at first."""
    candidate: Integers
    """For each classifier, the number of updates after which its weights stayed unchanged for the most rows.

    Only the rows of the current pass are counted.
    """

    @classmethod
    def empty(cls, judged: int) -> DualPocket:
        """Return a pocket with zero weights; ``judged`` is the number of records of counters."""
        return cls(np.zeros(judged, np.int64), np.full(judged, np.inf), np.zeros(judged, np.int64))


@dataclass(kw_only=True)
class DualState(RunState):
    """The state of a kernel perceptron: its weights in dual form, that is, its updates and their rows.

    The score of a row x is the sum of step * K(row, x) over all updates so far.
    """

    in_kernel_space = True
    kernel: Kernel
    n_classes: int
    width: int
    """The number of columns of the rows."""
    supports: SupportRows = field(default_factory=SupportRows)
    updates: list[list[Updates]] = field(default_factory=list)
    """For each classifier, its updates in parts. Their ``members`` are indices of support rows."""
    norm2: Floats = field(default_factory=lambda: np.empty(0))
    """For each classifier, an upper bound, up to rounding, on the squared norm of its weights in the feature space."""
    rows_seen: int = 0
    """The number of rows of earlier runs or calls of ``partial_fit``, which is the first row number of this run."""
    pocket: DualPocket | None = None
    computing: Computing = field(default_factory=Computing)
    """The settings for computing kernel values. Only the limit on support rows influences the trained model."""

    @classmethod
    def initial(cls, options: KernelOptions, n_classes: int, d: int) -> Self:
        """Return a state without updates for the given options. Their ``gamma`` must be a number."""
        kernel, seed = kernel_of(options), draw_seed(options.random_state)
        return cls.zeros(n_classes, d, kernel=kernel, direct=options.direct, hypothesis=options.hypothesis, seed=seed)

    @classmethod
    def zeros(
        cls, n_classes: int, d: int, *, kernel: Kernel, direct: bool, hypothesis: str = "last", seed: int = 0
    ) -> Self:
        """Return a state without updates, for ``n_classes`` classes and ``d`` features."""
        state = cls(kernel=kernel, n_classes=n_classes, width=d, seed=seed, **new_counters(n_classes, direct))
        judged = len(state.counters)
        state.updates, state.norm2 = [[] for _ in range(judged)], np.zeros(judged)
        if hypothesis == "pocket":
            state.pocket = DualPocket.empty(judged)
        return state

    @property
    def n_features(self) -> int:
        """The number of features, which is the number of columns of the rows."""
        return self.width

    @property
    def n_scores(self) -> int:
        """The number of scores of a row: one for two classes, else one for each class."""
        return self.n_classes if self.n_classes > 2 else 1

    # predictions

    def keeps(self, hypothesis: str) -> bool:
        """Return whether the state can predict with a hypothesis.

        All hypotheses but the pocket can be computed from the updates.
        """
        return hypothesis != "pocket" or self.pocket is not None

    def scores(self, hypothesis: str, rows: RowMatrix) -> Floats:
        """Return the score of each row for each classifier; for "vote", the share of the votes."""
        self.check_keeps(hypothesis)
        return votes(self, rows) if hypothesis == "vote" else support_scores(self, hypothesis, rows)

    def _largest_scores(self, hypothesis: str, rows: RowMatrix) -> tuple[Integers, NDArray[np.bool_]]:
        self.check_keeps(hypothesis)
        return largest_scores(self, hypothesis, rows)

    def margins(self, k: int) -> tuple[float, float, float]:
        """Return the bounds of `RunState.margins`, measured in the kernel's feature space.

        If the kernel is not known to be positive definite, all bounds are infinite.
        """
        counters, kesler = self.counters[k], 2.0 if self.direct else 1.0
        low, bound, high = -math.inf, math.inf, math.inf
        if not self.kernel.is_positive_definite:
            return low, high, bound
        steps = float(np.abs(self.updates_of(k).steps).sum())
        # ``norm2`` is a sum of terms 2 s m + s^2 K(x, x), one for each update (see ``BlockLearner._count``). The
        # absolute values of these terms add up to at most 2 reach^2 with reach = (sum s) R, since |m| <= R^2 times the
        # sum of the steps before; twice as much in Kesler's construction. The factor 16 covers both. The sum rounds
        # once for each update. The errors of m and K(x, x) add up to at most reach^2 times a small multiple of u times
        # the number of updates plus the number of operations for a kernel value.
        degree = (self.kernel.polynomial or (1.0, 0.0, 1))[2] + 1
        drift = 16.0 * HALF_ULP * (float(counters["updates"]) + degree * (self.width + 64.0))
        reach = float(counters["step_sum"]) * self.radius
        squared = max(0.0, float(self.norm2[k])) + drift * reach * reach
        if not TINY_SQUARE < squared < LARGEST_SQUARE:
            return (0.0 if self.done[k] else low), high, bound  # out of the range of floats
        length = math.sqrt(squared)
        has_evicted = counters["updates"] > sum(len(part.members) for part in self.updates[k])
        if steps > 0:
            high = length / steps * (1.0 + 1e-12)
        if self.done[k] and counters["lowest"] > TINY_SQUARE and counters["lowest_step"] > TINY_SQUARE and length > 0:
            low, bound = attained_margin(counters, length, kesler, 1.0 - 1e-12)
        elif self.done[k]:
            low = 0.0
        return low, high, math.inf if has_evicted else bound  # the mistake bound does not hold with evictions

    # training

    def runner(self, threads: int = 1) -> DualPassRunner:
        """Return the runner that trains this state by blocks. ``threads`` is ignored: NumPy has its own threads."""
        return DualPassRunner()

    def observers(self) -> list[Observer]:
        """Return the observer that keeps the pocket, if the state has one."""
        return [] if self.pocket is None else [DualPocketKeeper()]

    def configure(self, options: RunOptions) -> None:
        """Set the device, the cache and the limit on support rows from the options."""
        if isinstance(options, KernelOptions):
            self.computing = computing(options)

    def count_rows(self, n: int) -> None:
        """Add n to the number of rows seen, so that later rows get higher row numbers."""
        self.rows_seen += n

    # what was learned

    def support_matrix(self) -> Matrix:
        """Return the support rows as one matrix, dense or CSR."""
        return self.supports.matrix(self.width)

    def updates_of(self, k: int) -> Updates:
        """Return all updates of classifier ``k``."""
        return join_updates(self.updates[k])

    def support_classes(self) -> Integers:
        """Return the class number of each support row."""
        out = np.zeros(len(self.supports), np.int64)
        for k in range(len(self.counters)):
            made = self.updates_of(k)
            out[made.members] = made.trues
        return out

    def coefficients(self, hypothesis: str) -> Floats:
        """Return the coefficient of each support row in each score, as an array of shape (scores, support rows).

        ``hypothesis`` is "last", "average" (the mean of the weights after each visited row) or "pocket".
        """
        coefficients, divisors, _ = self.undivided_coefficients(hypothesis)
        return coefficients / divisors[:, None]

    def undivided_coefficients(self, hypothesis: str) -> tuple[Floats, Floats, Floats]:
        """Return the numerators of `coefficients`, the divisor of each score, and the size of each score.

        The numerators are integers if all steps are. The size of a score is the sum of the absolute values of all steps
        in its coefficients. The rounding error of the score is proportional to its size.
        """
        out, divisors = np.zeros((self.n_scores, len(self.supports))), np.ones(self.n_scores)
        sizes = np.zeros((self.n_scores, len(self.supports)))
        for k in range(len(self.counters)):
            made = self.updates_of(k)
            steps = made.steps
            if hypothesis == "average":
                visits = max(float(self.counters["visits"][k]), 1.0)
                divisors[slice(None) if self.direct else k] = visits
                steps = steps * (visits - made.visits)
            elif hypothesis == "pocket" and self.pocket is not None:
                steps = np.where(np.arange(len(steps)) < self.pocket.updates[k], steps, 0.0)
            self.add_steps(out, k, made, steps)
            self.add_steps(sizes, k, made, np.abs(steps), rivals_too=True)
        return out, divisors, sizes.sum(axis=1)

    @property
    def has_integer_steps(self) -> bool:
        """Whether all steps are integers."""
        return all(bool(np.all(made.steps == np.floor(made.steps))) for chunk in self.updates for made in chunk)

    def renumber_rows(self, X: Matrix | None = None) -> None:
        """Increase ``rows_seen`` if a row of the next run would get the row number of a different support row.

        ``X`` are the rows of the next run, or None if they are not known. If they are equal to the support rows with
        the same row numbers, nothing is changed. So these support rows are recognised when they are visited again.
        """
        numbers = np.array(self.supports.numbers, np.int64)
        later = np.flatnonzero(numbers >= self.rows_seen)
        if not len(later):
            return
        wanted = numbers[later] - self.rows_seen
        same = X is not None and int(wanted.max()) < X.shape[0]
        if X is not None and same and self.kernel.name != "precomputed":
            known, found = self.support_matrix()[later], X[wanted]
            same = known.shape == found.shape and not (abs(known - found)).sum()
        if not same:
            self.rows_seen = int(numbers.max()) + 1

    def add_steps(self, out: Floats, k: int, made: Updates, steps: Floats, rivals_too: bool = False) -> None:
        """Add the ``steps`` of the updates of classifier ``k`` to ``out``, an array of shape (scores, support rows).

        If classes compete directly, the steps are also subtracted from the coefficients of the rival classes. With
        ``rivals_too``, they are added to the rivals' coefficients instead.
        """
        if self.direct:
            np.add.at(out, (made.trues, made.members), steps)
            np.add.at(out, (made.rivals, made.members), steps if rivals_too else -steps)
        else:
            np.add.at(out[k], made.members, steps)

    def widen(self, d: int) -> None:
        """Widen the state to ``d`` features. The new features are 0 in all earlier rows."""
        if d > self.width:
            self.width, self.feature_ranges = d, None

    def snapshot(self) -> DualState:
        """Return a copy that further training does not change. The arrays of updates never change and are shared."""
        other = super().snapshot()
        other.supports, other.updates = self.supports.snapshot(), [list(chunk) for chunk in self.updates]
        other.norm2 = self.norm2.copy()
        if self.pocket is not None:
            other.pocket = DualPocket(**{name: array.copy() for name, array in vars(self.pocket).items()})
        return other

    def _for_classes(self, n_classes: int, direct: bool) -> DualState:
        new = DualState.zeros(n_classes, self.width, kernel=self.kernel, direct=direct)
        new.supports, new.rows_seen, new.computing = self.supports, self.rows_seen, self.computing
        if self.pocket is not None:
            new.pocket = DualPocket.empty(len(new.counters))
        return new

    def _take_classifier(self, target: int, old: DualState, source: int, sign: int, places: Integers) -> None:
        if not self.direct:
            mirrored = mirrored_updates(old.updates[source], sign)
            self.updates[target] = [made._replace(trues=places[made.trues]) for made in mirrored]
            self.norm2[target] = old.norm2[source]

    def _take_updates_of_all(self, old: DualState, places: Integers) -> None:
        self.updates[0] = competing_updates(old.updates[0], places, old.direct)
        self.norm2[0] = old.norm2[0] if old.direct else 2.0 * old.norm2[0]
