"""Observers, which are called at the events of a training run: history, traces, progress and callbacks.

The state of a run adds observers for votes, for the pocket and for proofs of inseparability (`RunState.observers`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.progress import Progress
from rosenblatt.training.batches import Batch
from rosenblatt.training.state import CutPass, Outcome, Updates, join_updates

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun


class Observer:
    """The base class of observers. It has a method for each event of a training run; these methods do nothing."""

    wants_updates = False
    """Whether the updates are to be recorded and passed to ``on_updates``."""
    should_stop = False
    """Whether the run is to end after the pass in progress."""
    looks_on = True
    """Whether the observer has to be called after every pass. If False, one compiled call may make several passes."""

    def on_start(self, run: TrainingRun) -> None:
        """Called before the first pass."""

    def on_slice(self, run: TrainingRun, batch: Batch, visited: int) -> None:
        """Called several times a second, between two slices of a batch; ``visited`` is the number of rows done."""

    def on_updates(self, run: TrainingRun, batch: Batch, order: NDArray[np.uint32], updates: list[Updates]) -> None:
        """Called after the rows of a batch have been visited, with the updates that each classifier made on them.

        ``order`` has the visited row numbers, in order. The ``members`` of an update are row numbers within the batch.
        """

    def on_batch(self, run: TrainingRun, batch: Batch) -> None:
        """Called after a batch; ``run.current.row`` is the number of the next row."""

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Called after a pass; ``active`` has the indices of the classifiers that were trained in the pass."""

    def on_interrupt(self, run: TrainingRun) -> None:
        """Called after an interrupt, before ``on_end``."""

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """Called after the last pass or an interrupt."""


class History(Observer):
    """An observer that appends the mistakes of each pass to the history. Incomplete passes are included."""

    looks_on = False

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Append the mistakes of the pass to the history."""
        counted = run.state.counters[active]
        run.state.record_passes(active, counted["mistakes"][None], counted["pass_updates"][None])
        run.state.cut = _cut_pass(run) if run.state.at_limit[active].any() else None

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """Append the mistakes of a pass that was interrupted."""
        if run.in_pass:
            self.on_pass(run, run.current.active)
            run.state.cut = _cut_pass(run, interrupted=True)


def _cut_pass(run: TrainingRun, interrupted: bool = False) -> CutPass | None:
    """Return how many rows the current or else the last pass visited; None if it visited all rows."""
    made, whole = run.current.rows_visited(run.state.counters), run.rows_of_a_pass()
    if whole is None:
        return CutPass(made, None, interrupted)
    return CutPass(made, made / whole, interrupted) if made < whole else None


class Trace(NamedTuple):
    """The updates of one classifier, in the order in which they were made.

    For each update, ``rows`` has the row number in the source, ``steps`` the step size, and ``visits`` the number of
    rows that were visited before the update. The other fields are as in `Updates`.
    """

    rows: NDArray[np.int64]
    steps: NDArray[np.float64]
    visits: NDArray[np.float64]
    trues: NDArray[np.int64]
    rivals: NDArray[np.int64]


class UpdateTrace(Observer):
    """An observer that records every update of a run and, with ``visits=True``, every visited row.

    The compiled passes log the updates, so recording them is cheap. ``visited`` has the row numbers in the order of
    the visits; rows of weight 0 are left out. All classifiers visit rows in this order. But a classifier skips passes
    after it has separated the rows, and stops at ``max_updates``.
    """

    wants_updates = True

    def __init__(self, visits: bool = False) -> None:
        self.records_visits = visits
        self._updates: list[list[Updates]] = []
        self._visited: list[NDArray[np.int64]] = []

    def on_updates(self, run: TrainingRun, batch: Batch, order: NDArray[np.uint32], updates: list[Updates]) -> None:
        """Record the updates. Their ``members`` are changed from row numbers of the batch to those of the source."""
        self._updates += [[] for _ in range(len(updates) - len(self._updates))]
        for chunk, update in zip(self._updates, updates, strict=False):
            chunk.append(update._replace(members=batch.first + update.members))
        if self.records_visits:
            visited = order[batch.steps[order] > 0] if len(batch.steps) else order
            self._visited.append(batch.first + visited.astype(np.int64))

    def updates(self, k: int = 0) -> Trace:
        """Return all updates of classifier ``k`` in the order in which they were made."""
        return Trace(*join_updates(self._updates[k] if k < len(self._updates) else []))

    @property
    def visited(self) -> NDArray[np.int64]:
        """The number of each visited row; empty unless visits are recorded."""
        return np.concatenate([np.empty(0, np.int64), *self._visited])


class ProgressLine(Observer):
    """An observer that prints progress to standard error, unless ``verbose`` is 0."""

    def __init__(self, verbose: int, passes: int) -> None:
        self.progress = Progress(verbose, passes)

    def on_slice(self, run: TrainingRun, batch: Batch, visited: int) -> None:
        """Move the progress bar, if there is one."""
        if self.progress.bar:
            mistakes = int(run.state.counters["mistakes"][run.current.active].sum())
            self.progress.within(run.current.passes_done, run.source.share(batch, visited), mistakes)

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Print the mistakes of the pass."""
        state = run.state
        error = state.validation_error[-1] if run.early_stopping is not None else None
        self.progress.after(state.passes, int(state.counters["mistakes"][active].sum()), error)

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """Print how the run ended."""
        words = outcome.describe(run.current.passes_done, run.state.mistakes_left() if run.state.mistakes else 0)
        if run.early_stopping is not None and run.early_stopping.should_stop:
            words = words.replace("as asked", "as the error on the held-out rows no longer improves")
        self.progress.close(words)


class Callback(Observer):
    """An observer that calls ``function(run)`` after each pass, and ends the run if the function returns True."""

    def __init__(self, function: Callable[[TrainingRun], object]) -> None:
        self.function = function

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Call the function, and stop the run if it returns True."""
        result = self.function(run)
        if isinstance(result, bool | np.bool_) and result:
            self.should_stop = True
