"""What looks on while a run is made: its history, the pocket, votes, traces, progress, a user's callback."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.rules import MarginRule, PerceptronRule
from rosenblatt.progress import Progress
from rosenblatt.training.batches import Batch
from rosenblatt.training.linear import LinearState, activations, best_classes
from rosenblatt.training.rows import Matrix
from rosenblatt.training.state import CutPass, Outcome, Updates, join_updates

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun
    from rosenblatt.training.state import Outcome


class Observer:
    """What a run calls; the base does nothing."""

    wants_updates = False
    """Whether updates are written down for ``on_updates``."""
    should_stop = False
    """Whether the run is to end after the pass in progress."""

    def on_start(self, run: TrainingRun) -> None:
        """Before the first pass."""

    def on_slice(self, run: TrainingRun, batch: Batch, visited: int) -> None:
        """After some rows, several times a second: so many of this batch have been visited in this pass."""

    def on_updates(self, run: TrainingRun, batch: Batch, order: NDArray[np.uint32], updates: list[Updates]) -> None:
        """After the visits ``order`` of a batch, with the updates of each classifier; members are rows of the batch."""

    def on_batch(self, run: TrainingRun, batch: Batch) -> None:
        """After a batch; ``run.current.row`` is the row that comes next."""

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """After a pass in which the classifiers ``active`` took part."""

    def on_interrupt(self, run: TrainingRun) -> None:
        """After an interrupt, before ``on_end``."""

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """After the last pass, or an interrupt."""


class History(Observer):
    """Writes the mistakes of each pass to the state, those of a pass that was cut short too."""

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
    """Return how far the pass in progress, or the one made last, has come; None if it visited all rows."""
    made, whole = run.current.rows_visited(run.state.counters), run.rows_of_a_pass()
    if whole is None:
        return CutPass(made, None, interrupted)
    return CutPass(made, made / whole, interrupted) if made < whole else None


class VoteRecorder(Observer):
    """Keeps every update with its row, for a vote of all weight vectors."""

    wants_updates = True

    def on_updates(self, run: TrainingRun, batch: Batch, order: NDArray[np.uint32], updates: list[Updates]) -> None:
        """Append them to the log of the state."""
        if run.state.log is not None:
            run.state.log.append(batch.rows.matrix, updates)

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """Store the rows, as the batches may go away."""
        if run.state.log is not None:
            run.state.log.store()


class PocketKeeper(Observer):
    """Puts the weights with the fewest training mistakes into the pocket.

    They are chosen among those at the end of each pass, those that survived the most visits in it, and those in the
    pocket so far.
    """

    def on_start(self, run: TrainingRun) -> None:
        """Count the mistakes of the weights in the pocket again: the rows may be new ones."""
        pocket = run.state.pocket
        if pocket is not None and run.warm and np.isfinite(pocket.mistakes).all():
            pocket.mistakes[:] = _training_mistakes(run, pocket.w, pocket.b)

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Look whether this pass has better weights."""
        state, pocket = run.state, run.state.pocket
        if pocket is None:
            return
        for w, b in ((pocket.candidate_w, pocket.candidate_b), (state.w, state.b)):
            mistakes = _training_mistakes(run, w, b)
            better = mistakes < pocket.mistakes
            pocket.mistakes[better] = mistakes[better]
            if state.direct:
                better = np.broadcast_to(better, len(w))
            pocket.w[better], pocket.b[better] = w[better], b[better]


def _training_mistakes(run: TrainingRun, w: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of the training rows that each classifier gets wrong."""
    state = run.state
    wrong = np.zeros(len(state.counters))
    for batch in run.source.batches():
        rows, labels = batch.rows, batch.labels
        weights = np.where(run.held_out(batch), 0.0, batch.steps if len(batch.steps) else 1.0)
        for start in range(0, rows.n, 65536):
            part = slice(start, min(start + 65536, rows.n))
            if state.direct:
                best, tied = best_classes(rows, w, b, part.start, part.stop)
                wrong += weights[part] @ ((best != labels[part]) | tied)
            else:
                a = activations(rows, w, b, part.start, part.stop)
                positive = labels[part, None] == state.counters["target"]
                wrong += weights[part] @ ~np.where(positive, a > 0, a < 0)
    return wrong


class Trace(NamedTuple):
    """The updates of one classifier: row numbers of the source, signed steps, and visits before each."""

    rows: NDArray[np.int64]
    steps: NDArray[np.float64]
    visits: NDArray[np.float64]
    trues: NDArray[np.int64]
    rivals: NDArray[np.int64]


class UpdateTrace(Observer):
    """Records every update of a run and, if asked, every visit, at the speed of the kernel.

    ``updates(k)`` has those of classifier k. ``visited`` is the row number of each visit, rows of weight 0 left out;
    the one at place v is visit v of a classifier that took part in every pass and did not stop at ``max_updates``.
    """

    wants_updates = True

    def __init__(self, visits: bool = False) -> None:
        self.records_visits = visits
        self._updates: list[list[Updates]] = []
        self._visited: list[NDArray[np.int64]] = []

    def on_updates(self, run: TrainingRun, batch: Batch, order: NDArray[np.uint32], updates: list[Updates]) -> None:
        """Record them by row numbers of the source."""
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
        """Print how it ended."""
        words = outcome.describe(run.current.passes_done, run.state.mistakes_left() if run.state.mistakes else 0)
        if run.early_stopping is not None and run.early_stopping.should_stop:
            words = words.replace("as asked", "as the rows held out are predicted no better")
        self.progress.close(words)


class Callback(Observer):
    """Calls a user's function after each pass; the run ends where it returns True."""

    def __init__(self, function: Callable[[TrainingRun], Any]) -> None:
        self.function = function

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Call it."""
        answer = self.function(run)
        if isinstance(answer, bool | np.bool_) and answer:
            self.should_stop = True


# Weights that come back to zero: a proof that nothing separates the rows they were made from.


class ZeroWeights(Observer):
    """Notes where the weights of a run from zero are zero again at its end, and no update of the run was rounded.

    The sum of the updates is then zero in real numbers: a combination of the rows times their labels with positive
    factors, which a separator would give a positive score (Gordan 1873).
    """

    def __init__(self) -> None:
        self._from_zero = False

    def on_start(self, run: TrainingRun) -> None:
        """Note whether all updates will be of this run; one that goes on from a checkpoint has them behind it."""
        resumed = run.resumed and not run.options.warm_start
        counters = run.state.counters
        moved = counters["updates"].any() or counters["start2"].any()
        self._from_zero = isinstance(run.state.rule, PerceptronRule | MarginRule) and (resumed or not moved)

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """Look at the weights and, where they are zero, at the rows."""
        state, state.inseparable = run.state, None
        known = self._from_zero and run.early_stopping is None and run.source.rereadable
        known = known and outcome is not Outcome.INTERRUPTED and state.mixed_shards < 2  # a mean is rounded
        zero = came_to_zero(state) if known else np.zeros(1, bool)
        if zero.any() and _sums_are_exact(run, float(state.counters["step_sum"].max())):
            state.inseparable = zero


def came_to_zero(state: LinearState) -> NDArray[np.bool_]:
    """Return which classifiers began with weights of zero, the bias included, and have them again after updates."""
    long = np.column_stack([state.w, state.b]).reshape(len(state.counters), -1)
    moved = (state.counters["step_sum"] > 0) & (state.counters["start2"] == 0)
    zero: NDArray[np.bool_] = ~long.any(axis=1) & moved
    return zero


def _sums_are_exact(run: TrainingRun, steps: float) -> bool:
    """Return whether sums of rows by integers, ``steps`` in all, are made without rounding, in whatever order."""
    batches = run.source.batches
    largest = max(float(np.max(np.abs(_values(batch.rows.matrix)), initial=0.0)) for batch in batches())
    if not 1e-200 < steps * max(1.0, largest) < 2.0**53 * max(1.0, largest) < 1e300:
        return False
    unit = 2.0 ** (math.ceil(math.log2(steps * largest)) - 52) if largest else 1.0
    return all(_are_whole(batch.steps) and _are_whole(_values(batch.rows.matrix) / unit) for batch in batches())


def _values(X: Matrix) -> NDArray[np.float64]:
    return np.asarray(X.data if sp.issparse(X) else X, np.float64)


def _are_whole(values: NDArray[np.float64]) -> bool:
    return bool(np.all(values == np.rint(values)))
