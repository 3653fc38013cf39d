"""Early stopping: hold some rows out of training, and keep the weights with the lowest error on these rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block, join_blocks
from rosenblatt.messages import Hint, ParameterError, count_of
from rosenblatt.training.batches import Batch, BatchSource, held_out
from rosenblatt.training.observers import Observer
from rosenblatt.training.rows import RowMatrix, as_rows
from rosenblatt.training.state import RunState

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun


@dataclass
class BestPass:
    """The pass with the lowest error on the held-out rows so far, and the number of passes since then."""

    state: RunState | None = None
    error: float = np.inf
    passes_since: int = 0

    def widen(self, d: int) -> None:
        """Widen the state to ``d`` features.

        A copy is widened, because an earlier run may still use the state itself.
        """
        if self.state is not None and self.state.n_features < d:
            self.state = self.state.snapshot()
            self.state.widen(d)


@dataclass(frozen=True)
class EarlyStoppingFacts:
    """The number of rows that early stopping held out, the errors on them, and the pass that was kept."""

    held_out_rows: int | None
    """Rows held out of training; None if the run ended before they were known."""
    error_by_pass: list[float | None]
    """The error on these rows after each pass; None for a pass after which it was not measured."""
    best_pass: int
    """The pass whose weights are kept, counted from 1 over all passes, including those before a warm start."""

    @property
    def least_error(self) -> float | None:
        """The error after the pass that was kept, or None if it was not measured."""
        return self.error_by_pass[self.best_pass - 1]

    def __str__(self) -> str:
        held = "rows" if self.held_out_rows is None else count_of(self.held_out_rows, "row")
        error = "" if self.least_error is None else f", {100 * self.least_error:.3g}%,"
        passes = len(self.error_by_pass)
        return (
            f"Early stopping held out {held}. The lowest error on them{error} came after pass {self.best_pass} of "
            f"{passes}, whose weights are kept."
        )


def early_stopping_facts(state: RunState, best: BestPass | None) -> EarlyStoppingFacts | None:
    """Return the `EarlyStoppingFacts` of a run from its last state and best pass; None if no rows were held out."""
    if best is None or best.state is None:
        return None
    errors = [None if math.isnan(error) else error for error in state.errors_by_pass]
    return EarlyStoppingFacts(state.held_out_rows, errors, best.state.passes)


class ValidationSet:
    """The rows held out of training: each with probability ``share``, decided by a hash of its number and the seed.

    The set is ``pending`` until all rows of the source have been seen once.
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.seed = share, seed
        self.pending = True
        self._parts: list[Block] = []
        self._trained = np.zeros(0, np.int64)

    def mask(self, batch: Batch) -> NDArray[np.bool_]:
        """Return a mask of the rows of a batch that are held out."""
        return held_out(batch.first, batch.rows.n, self.seed, self.share)

    def add(self, batch: Batch, mask: NDArray[np.bool_]) -> None:
        """Store the held-out rows of a batch, given by ``mask``; call this only while the set is pending."""
        steps = batch.steps[mask] if len(batch.steps) else None
        self._parts.append(Block(batch.rows.matrix[mask], batch.labels[mask], batch.first, steps))
        self._count(np.bincount(batch.labels[~mask], minlength=len(batch.classes)))

    def _count(self, trained: NDArray[np.int64]) -> None:
        self._trained = np.pad(self._trained, (0, len(trained) - len(self._trained))) + trained

    def extend(self, other: ValidationSet) -> None:
        """Append the set of held-out rows among the rows that follow."""
        self._parts += other._parts
        self._count(other._trained)

    def complete(self) -> None:
        """Complete the set after the last row.

        A ParameterError is raised unless every class occurs both among the rows held out and among the others.
        """
        block = join_blocks(self._parts)
        n, trained = int(self._trained.sum()) + len(block.y), np.flatnonzero(self._trained)
        if not np.array_equal(trained, np.unique(block.y)):
            raise ParameterError(
                "early stopping cannot hold out {share} of these {n} rows with every class in both parts: give more "
                "rows{hint}.",
                share=self.share,
                n=n,
                hint=Hint(", or another {validation_fraction}"),
            )
        self.pending, self._parts = False, []
        self.rows: RowMatrix = as_rows(block.X)
        self.labels, weights = block.y, block.weight
        self.weights = weights if weights is not None and weights.any() else None

    @property
    def size(self) -> int:
        """The number of held-out rows whose weight is not 0; 0 while the set is pending."""
        return 0 if self.pending else len(self.labels) if self.weights is None else int((self.weights > 0).sum())

    def collect(self, source: BatchSource) -> None:
        """Read all rows of a source, and complete the set."""
        for batch in source.batches():
            self.add(batch, self.mask(batch))
        self.complete()

    def error(self, state: RunState, hypothesis: str) -> float:
        """Return the weighted share of the held-out rows that a hypothesis of the state misclassifies."""
        predicted, _ = state.decide(hypothesis, self.rows)
        return float(np.average(predicted != self.labels, weights=self.weights))


class EarlyStopping(Observer):
    """An observer that measures the error on the held-out rows after each pass, and keeps the best pass.

    The run ends after ``patience`` passes without improvement.
    """

    def __init__(self, validation: ValidationSet, hypothesis: str, patience: int, best: BestPass | None = None) -> None:
        self.validation, self.hypothesis, self.patience = validation, hypothesis, patience
        self.best = BestPass() if best is None else best
        self._judged_again = best is None or best.state is None

    @property
    def should_stop(self) -> bool:  # type: ignore[override]
        """Whether ``patience`` passes have been made since the best pass."""
        return self.best.passes_since >= self.patience

    def on_start(self, run: TrainingRun) -> None:
        """Collect the held-out rows if all rows are in memory or the run is resumed.

        Otherwise they are collected during the first pass.
        """
        if run.source.in_memory or run.resumed:
            self.validation.collect(run.source)
            self._judge_again(run)

    def _judge_again(self, run: TrainingRun) -> None:
        """Measure the error of an earlier run's best pass again.

        This is necessary because this run may hold out other rows, or rows with more features.
        """
        if not self._judged_again and not run.resumed and self.best.state is not None:
            self.best.widen(max(run.state.n_features, self.validation.rows.d))
            self.best.error = self.validation.error(self.best.state, self.hypothesis)
        self._judged_again = True

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Keep a copy of the state if its error is the lowest so far.

        If every classifier has made a pass without a mistake, an equal error is enough to replace the copy.
        """
        state, best = run.state, self.best
        if self.validation.pending:
            self.validation.complete()
            self._judge_again(run)
        error = self.validation.error(state, self.hypothesis)
        if error < best.error or (state.done.all() and error == best.error):
            best.state, best.error, best.passes_since = state.snapshot(), error, 0
            best.state.cut = None
        else:
            best.passes_since += 1
        state.validation_error.append(error)
