"""Early stopping: hold out some rows during training, and keep the weights with the lowest error on these rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block, join_blocks
from rosenblatt.messages import Hint, Message, ParameterError, count_of, list_some
from rosenblatt.training.batches import Batch, BatchSource
from rosenblatt.training.observers import Observer
from rosenblatt.training.rows import RowMatrix, as_rows
from rosenblatt.training.state import RunState

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun


@dataclass
class BestPass:
    """The pass with the lowest error on the held-out rows so far, and the number of passes without improvement."""

    state: RunState | None = None
    error: float = np.inf
    passes_since: int = 0

    def widen(self, d: int) -> None:
        """Widen the state to ``d`` features.

        The state is copied first, because an earlier run may still use the original.
        """
        if self.state is not None and self.state.n_features < d:
            self.state = self.state.snapshot()
            self.state.widen(d)


@dataclass(frozen=True)
class EarlyStoppingFacts:
    """The number of rows that early stopping held out, the errors on them, and the pass that was kept."""

    held_out_rows: int | None
    """The number of rows held out of training; None if the run ended before they were counted."""
    error_by_pass: list[float | None]
    """The error on the held-out rows after each pass; None if it was not measured after that pass."""
    best_pass: int
    """The pass whose weights are kept, counted from 1 over all passes, including those before a warm start."""

    @property
    def least_error(self) -> float | None:
        """The error on the held-out rows after the best pass, or None if it was not measured."""
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
    """Return the `EarlyStoppingFacts` of a run, given its last state and best pass; None if no rows were held out."""
    if best is None or best.state is None:
        return None
    errors = [None if math.isnan(error) else error for error in state.errors_by_pass]
    return EarlyStoppingFacts(state.held_out_rows, errors, best.state.passes)


class ValidationSet:
    """The rows held out of training, on which the error is measured.

    Of each class, a fraction ``share`` of the rows is held out. The set is ``pending``, that is, incomplete, until all
    rows of the source have been read once.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.pending = True
        self._parts: list[Block] = []
        self._trained = np.zeros(0, np.int64)

    def add(self, batch: Batch) -> None:
        """Store the held-out rows of a batch; call this only while the set is pending."""
        mask = batch.held_out if batch.held_out is not None else np.zeros(batch.rows.n, bool)
        steps = batch.steps[mask] if len(batch.steps) else None
        self._parts.append(Block(batch.rows.matrix[mask], batch.labels[mask], batch.first, steps))
        self._count(np.bincount(batch.labels[~mask], minlength=len(batch.classes)))

    def _count(self, trained: NDArray[np.int64]) -> None:
        self._trained = np.pad(self._trained, (0, len(trained) - len(self._trained))) + trained

    def extend(self, other: ValidationSet) -> None:
        """Append another set, which holds out rows that come later in the source."""
        self._parts += other._parts
        self._count(other._trained)

    def complete(self) -> None:
        """Complete the set after the last row; raise a ParameterError if no row is held out."""
        block = join_blocks(self._parts)
        if not len(block.y):
            raise ParameterError(
                "early stopping cannot hold out {share} of these {n}, because every class has too few rows: give more "
                "rows{hint}.",
                share=self.share,
                n=count_of(int(self._trained.sum()), "row"),
                hint=Hint(", or a larger {validation_fraction}"),
            )
        self.too_small = np.setdiff1d(np.flatnonzero(self._trained), block.y)
        """The numbers of the classes with too few rows to hold any out."""
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
            self.add(batch)
        self.complete()

    def error(self, state: RunState, hypothesis: str) -> float:
        """Return the weighted share of the held-out rows that the state misclassifies with a hypothesis."""
        predicted, _ = state.decide(hypothesis, self.rows)
        return float(np.average(predicted != self.labels, weights=self.weights))


def small_classes_note(run: TrainingRun) -> Message | None:
    """Return a note on the classes with too few rows to hold any out; None if there are no such classes."""
    if run.early_stopping is None or run.early_stopping.validation.pending:
        return None
    labels = [repr(label) for label in run.classes[run.early_stopping.validation.too_small].tolist()]
    if not labels:
        return None
    one = len(labels) == 1
    return Message(
        "early stopping trains on all rows of {classes}, because there are too few to hold some out. The error "
        "that decides when to stop does not include {them}: add rows{hint}.",
        classes=f"{'the class' if one else 'the classes'} {list_some(labels)}",
        them="this class" if one else "these classes",
        hint=Hint(", or raise {validation_fraction}"),
    )


class EarlyStopping(Observer):
    """An observer that measures the error on the held-out rows after each pass, and keeps the best pass.

    The run ends after ``patience`` passes without improvement. With ``tol``, the error has to decrease by at least
    ``tol`` to count as an improvement, as in scikit-learn.
    """

    def __init__(
        self,
        validation: ValidationSet,
        hypothesis: str,
        patience: int,
        tol: float | None = None,
        best: BestPass | None = None,
    ) -> None:
        self.validation, self.hypothesis, self.patience, self.tol = validation, hypothesis, patience, tol
        self.best = BestPass() if best is None else best
        self._judged_again = best is None or best.state is None

    @property
    def should_stop(self) -> bool:  # type: ignore[override]
        """Whether ``patience`` passes have been made without improvement."""
        return self.best.passes_since >= self.patience

    def on_start(self, run: TrainingRun) -> None:
        """Collect the held-out rows if all rows are in memory or the run is resumed.

        Otherwise the held-out rows are collected during the first pass.
        """
        if run.source.in_memory or run.resumed:
            self.validation.collect(run.source)
            self._judge_again(run)

    def _judge_again(self, run: TrainingRun) -> None:
        """Measure the error of an earlier run's best pass again.

        The earlier error cannot be used, because this run may hold out other rows, or rows with more features.
        """
        if not self._judged_again and not run.resumed and self.best.state is not None:
            self.best.widen(max(run.state.n_features, self.validation.rows.d))
            self.best.error = self.validation.error(self.best.state, self.hypothesis)
        self._judged_again = True

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Keep a copy of the state if its error is the lowest so far.

        If no classifier made a mistake or update in its last pass, an equal error is enough to replace the copy.
        """
        state, best = run.state, self.best
        if self.validation.pending:
            self.validation.complete()
            self._judge_again(run)
        error = self.validation.error(state, self.hypothesis)
        is_best = error < best.error or (state.done.all() and error == best.error)
        improves = is_best if self.tol is None else error <= best.error - self.tol
        best.passes_since = 0 if improves else best.passes_since + 1
        if is_best:
            best.state, best.error = state.snapshot(), error
            best.state.cut = None
        state.validation_error.append(error)
