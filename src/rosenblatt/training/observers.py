"""Observers of a run: history, traces, progress and callbacks.

States add their own, which keep votes, the pocket and proofs (`RunState.observers`).
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
    """The events of a run. Each method is called at its event; those of this base class do nothing."""

    wants_updates = False
    """Whether updates are logged for ``on_updates``."""
    should_stop = False
    """Whether the run ends after the pass in progress."""

    def on_start(self, run: TrainingRun) -> None:
        """Before the first pass."""

    def on_slice(self, run: TrainingRun, batch: Batch, visited: int) -> None:
        """After each slice of a batch, several times a second; ``visited`` rows of the batch have been visited."""

    def on_updates(self, run: TrainingRun, batch: Batch, order: NDArray[np.uint32], updates: list[Updates]) -> None:
        """After the visits ``order`` of a batch, with the updates of each classifier; members are rows of the batch."""

    def on_batch(self, run: TrainingRun, batch: Batch) -> None:
        """After a batch; ``run.current.row`` is the row that comes next."""

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """After a pass in which the classifiers ``active`` took part."""

    def on_interrupt(self, run: TrainingRun) -> None:
        """After an interrupt, before ``on_end``."""

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """After the last pass or an interrupt."""


class History(Observer):
    """Appends the mistakes of each pass to the state's history, including a pass that was cut short."""

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Enter the mistakes of the pass."""
        mistakes = np.full(len(run.state.counters), -1)
        mistakes[active] = run.state.counters["mistakes"][active]
        run.state.mistakes.append(mistakes)
        if run.state.updates_right_rows:
            run.state.pass_updates.append(np.where(mistakes >= 0, run.state.counters["pass_updates"], -1))
        run.state.passes += 1
        run.state.cut = _cut_pass(run) if run.state.at_limit[active].any() else None

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """Enter the mistakes of a pass that was interrupted."""
        if run.in_pass:
            self.on_pass(run, run.current.active)
            run.state.cut = _cut_pass(run, interrupted=True)


def _cut_pass(run: TrainingRun, interrupted: bool = False) -> CutPass | None:
    """Return the extent of the pass in progress, or of the last pass; None if it visited all rows."""
    made, whole = run.current.rows_visited(run.state.counters), run.rows_of_a_pass()
    if whole is None:
        return CutPass(made, None, interrupted)
    return CutPass(made, made / whole, interrupted) if made < whole else None


class Trace(NamedTuple):
    """The updates of one classifier: row numbers of the source, signed steps, and visits before each."""

    rows: NDArray[np.int64]
    steps: NDArray[np.float64]
    visits: NDArray[np.float64]
    trues: NDArray[np.int64]
    rivals: NDArray[np.int64]


class UpdateTrace(Observer):
    """Records every update of a run and, if asked, every visit, at the speed of the kernel.

    ``updates(k)`` returns the updates of classifier k. ``visited`` has the row number of each visit, without rows of
    weight 0. Entry v is visit v of every classifier that took part in all passes and did not stop at ``max_updates``.
    """

    wants_updates = True

    def __init__(self, visits: bool = False) -> None:
        self.records_visits = visits
        self._updates: list[list[Updates]] = []
        self._visited: list[NDArray[np.int64]] = []

    def on_updates(self, run: TrainingRun, batch: Batch, order: NDArray[np.uint32], updates: list[Updates]) -> None:
        """Record the updates by row numbers of the source."""
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
        """The row number of each visit."""
        return np.concatenate([np.empty(0, np.int64), *self._visited])


class ProgressLine(Observer):
    """Shows a line of progress on standard error; silent if ``verbose`` is 0."""

    def __init__(self, verbose: int, passes: int) -> None:
        self.progress = Progress(verbose, passes)

    def on_slice(self, run: TrainingRun, batch: Batch, visited: int) -> None:
        """Move the bar."""
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
            words = words.replace("as asked", "as the rows held out are predicted no better")
        self.progress.close(words)


class Callback(Observer):
    """Calls a user's function after each pass; the run ends when it returns True."""

    def __init__(self, function: Callable[[TrainingRun], object]) -> None:
        self.function = function

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Call the function."""
        result = self.function(run)
        if isinstance(result, bool | np.bool_) and result:
            self.should_stop = True
