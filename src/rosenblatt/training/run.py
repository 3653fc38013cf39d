"""Training runs: make passes over data in memory or over a stream until the run ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.training.batches import (
    WINDOW,
    Batch,
    BatchSource,
    InMemory,
    Streamed,
    arrivals,
    check_batch,
    window_order,
)
from rosenblatt.training.data_parameters import with_numbers
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.early_stopping import BestPass, EarlyStopping, ValidationSet
from rosenblatt.training.linear import InitialWeights as Weights
from rosenblatt.training.linear import LinearState, PassRunner
from rosenblatt.training.losses import Losses
from rosenblatt.training.observers import History, Observer, ProgressLine
from rosenblatt.training.options import KernelOptions, RunOptions
from rosenblatt.training.rows import Labels, LabelSummary, Matrix, check_numbers, class_numbers
from rosenblatt.training.state import Outcome, PassState, Runner, RunState, Updates

# Initial states.


def new_state(
    options: RunOptions, n_classes: int, d: int, matrices: Callable[[], Iterable[Matrix]] | None = None
) -> RunState:
    """Return the untrained state of a learner for ``n_classes`` classes and ``d`` features.

    ``matrices`` is a function that returns all rows as an iterable of matrices. It is called if a parameter, such as
    ``gamma="scale"``, is computed from the rows.
    """
    options = with_numbers(options, d, matrices)
    if isinstance(options, KernelOptions):
        return DualState.initial(options, n_classes, d)
    return LinearState.initial(options, n_classes, d)


def initial_state(source: BatchSource, options: RunOptions, given: Weights | None = None) -> RunState:
    """Return the untrained state of a run on ``source``; a linear learner has the weights ``given``, or else zeros."""
    d = source.width
    if isinstance(source, InMemory):
        options.check_shape(source.batch.rows.n, d)
    else:
        options.check_for_blocks("a stream does")
        if options.needs_data and not options.is_linear and source.rereadable:
            for batch in source.batches():
                d = max(d, batch.rows.d)
        elif options.needs_data and isinstance(source, Streamed):
            d = max(d, source.first_block().X.shape[1])
    matrices = (lambda: (batch.rows.matrix for batch in source.batches())) if source.rereadable else None
    state = new_state(options, len(source.classes), d, matrices)
    if given is not None and isinstance(state, LinearState):
        state.start_from(*given)
    return state


class Phase(Enum):
    """The phase of a run, which determines whether a checkpoint can be written.

    ::

                          an interrupt or error inside a slice
                        +--------------------------------------> TORN
                        |
        READY ----> VISITING ----> VISITED ----> JUDGED ----> (the end)
                        ^          all rows        |  counters and history include the pass
                        +--------------------------+  the next pass

    While VISITING, the run trains on the rows of a pass. The pass is JUDGED when its mistakes have been recorded in the
    history. The run is TORN if only some rows of a slice may have been visited. A checkpoint can be written while
    VISITING, between two slices, and when JUDGED, between two passes. An interrupt between two slices does not change
    the phase. If a run ends before its last pass is JUDGED, the history records that pass as cut short.
    """

    READY = auto()
    VISITING = auto()
    TORN = auto()
    VISITED = auto()
    JUDGED = auto()


class TrainingRun:
    """A training run: passes over a source until all classifiers are clean, a limit is reached or an observer stops it.

    A classifier is clean after a pass in which it made no mistake and no other update.

    Parameters
    ----------
    state : RunState
        The state to train, in place. If a new class appears, ``run.state`` is replaced by a state with that class.
    source : BatchSource
        The source of the rows. Its classes must be those of the state unless ``classes`` is given.
    options : RunOptions
        The learner's parameters.
    observers : sequence of Observer
        Observers that are called after the run's own (history, pocket, votes, early stopping, progress). By default
        there are none.
    threads : int
        The number of threads for one-vs-rest classifiers, by default 1.
    warm : bool
        Whether the state continues an earlier run, by default False.
    best : BestPass, optional
        The best pass of early stopping in the earlier run that this run continues.
    resumed : PassState, optional
        If the run is resumed from a checkpoint, the position in the pass.
    classes : array, optional
        The classes of the state, if they differ from those of the source.
    runner : Runner, optional
        The runner that trains the state; by default that of the state.
    """

    window = WINDOW
    """The number of rows of a stream that are shuffled together."""

    def __init__(
        self,
        state: RunState,
        source: BatchSource,
        options: RunOptions,
        observers: Sequence[Observer] = (),
        *,
        threads: int = 1,
        warm: bool = False,
        best: BestPass | None = None,
        resumed: PassState | None = None,
        classes: Labels | None = None,
        runner: Runner[Any] | None = None,
    ) -> None:
        self.source, self.options, self.warm = source, options, warm
        self.state = state
        self.classes = source.classes if classes is None else classes
        self.current = PassState() if resumed is None else resumed
        self.resumed = resumed is not None
        self.phase = Phase.READY
        self.labels = LabelSummary()
        self._runner = state.runner(threads) if runner is None else runner
        state.configure(options)
        self.read_all = True
        """False once a pass has stopped reading the source before its end."""
        self._given_order = np.empty(0, np.uint32)
        self._interrupts: Sequence[object] = ()
        self.last_batch: Batch | None = None
        self.early_stopping: EarlyStopping | None = None
        split = options.validation_split(state.seed)
        if split is not None:
            source.hold_out(split)
            validation = ValidationSet(options.validation_fraction)
            self.early_stopping = EarlyStopping(
                validation, options.hypothesis, options.n_iter_no_change, options.tol, best
            )
        if options.tol is not None and split is None and options.max_iter > 1 and self.current.losses is None:
            self.current.losses = Losses.of_new_run(len(state.counters))
        own: list[Observer | None] = [
            History(),
            *state.observers(),
            self.early_stopping,
            ProgressLine(options.verbose, options.max_iter) if options.verbose else None,
        ]
        self.observers: list[Observer] = [observer for observer in own if observer is not None] + list(observers)
        self._own = len(self.observers) - len(observers)

    # the loop over passes

    def run(self) -> Outcome:
        """Make passes until the run ends, and return how it ended.

        A KeyboardInterrupt is raised again after the observers have been called. The state keeps all updates made until
        then.
        """
        state, options, current = self.state, self.options, self.current
        counters = state.counters
        if not self.resumed:
            limit = -1 if options.max_updates is None else counters["updates"] + options.max_updates
            counters["limit"] = limit
            current.active = np.arange(len(counters)) if self.warm else np.flatnonzero(~state.done)
        elif not (current.row or current.visited):
            current.active = self._unfinished()
        if self.source.in_memory:
            for batch in self.source.batches():
                self.labels.add(batch.labels, batch.steps, batch.classes, every_class=not self.warm)
            self.labels.check(self.source.classes, self.options.class_weight, self.warm)
        self._notify("on_start")
        try:
            outcome = self._outcome()
            while outcome is None:
                if not self._repeat_passes():
                    self._make_pass()
                outcome = self._outcome()
        except KeyboardInterrupt:
            try:
                self._notify("on_interrupt")
            finally:
                self._end(Outcome.INTERRUPTED)
            raise
        self._end(outcome)
        return outcome

    def _make_pass(self) -> None:
        """Run one pass, and record its results in the counters and the history.

        If the run can be resumed from a checkpoint, interrupts are deferred while the results are recorded. Otherwise a
        checkpoint might store only some of the results.
        """
        first = self.in_first_pass
        self.run_pass()
        if first and self.read_all and not self.source.in_memory and not self.resumed:
            self.labels.check(self.source.classes, self.options.class_weight, self.warm)
        with interrupts_deferred() if self._can_resume else nullcontext():
            judged = self._judge_pass()
        if len(judged):
            for observer in self.observers[self._own :]:
                observer.on_pass(self, judged)
        with interrupts_deferred() if self._can_resume else nullcontext():
            self.current.active = self._unfinished()
            self._snapshot_before_pass()

    def _repeat_passes(self) -> bool:
        """Make several passes in one call of compiled code, if this is possible; return whether it is.

        It is possible if all rows are in memory and have been visited, neither ``max_updates`` nor ``tol`` can stop a
        classifier before the last of these passes, and no observer has to be called between them. The call ends when a
        classifier is clean. The results are the same as if the passes were made one by one.
        """
        source, state, runner, current, options = self.source, self.state, self._runner, self.current, self.options
        if not (isinstance(source, InMemory) and isinstance(runner, PassRunner) and isinstance(state, LinearState)):
            return False
        if self.in_first_pass or source.batch.held_out is not None:
            return False
        if any(observer.looks_on for observer in self.observers):
            return False
        batch, active = source.batch, current.active
        most = min(runner.passes_at_once(state, batch, active), options.max_iter - current.passes_done)
        if options.max_updates is not None:  # a pass makes at most one update on each row
            left = state.counters["limit"] - state.counters["updates"]
            most = min(most, int(left[active].min()) // batch.rows.n)
        if current.losses is not None:  # a classifier stops after so many passes in which its loss has not fallen
            most = min(most, options.n_iter_no_change - int(current.losses.stalled[active].max()))
        if most < 2:
            return False
        order = self._order(batch)
        own_orders = bool(options.shuffle) and options.shuffle != "once"
        with interrupts_deferred():
            mistakes, updates, margins = runner.repeat(
                state,
                batch,
                order,
                active,
                most,
                shuffled=bool(options.shuffle),
                own_orders=own_orders,
                wants_margins=current.losses is not None,
            )
            state.done[active] = (mistakes[-1] == 0) & (updates[-1] == 0)
            state.record_passes(active, mistakes, updates)
            current.passes_done += len(mistakes)
            self.phase = Phase.JUDGED
            state.check_finite()
            visits = (state.counters["visits"][active] - current.visits) / len(mistakes)
            for margins_of_pass in margins:
                self._begin_losses()
                self._add_losses(margins_of_pass)
                self._judge_losses(active, visits)
            current.active = self._unfinished()
            self._snapshot_before_pass()
        return True

    def _judge_pass(self) -> NDArray[np.int64]:
        """Mark the classifiers that are clean after this pass, and record the pass in the history.

        Return the indices of the classifiers for which the pass counts. It does not count for a classifier that was
        clean before the pass and is clean again, as in a warm start on the same rows. Such a classifier has the same
        weights as before. So its number of visits is reset, and its average does not change.
        """
        current, state = self.current, self.state
        active = current.active
        counted = state.counters[active]
        state.done[active] = (counted["mistakes"] == 0) & (counted["pass_updates"] == 0)
        idle = current.was_done & state.done[active]
        state.counters["visits"][active[idle]] = current.visits[idle]
        self.phase = Phase.JUDGED
        if not idle.all():
            current.passes_done += 1
            self.state.check_finite()
            made = state.counters["visits"][active] - current.visits
            self._judge_losses(active[~idle], made[~idle])
            for observer in self.observers[: self._own]:
                observer.on_pass(self, active[~idle])
        return active[~idle]

    def _begin_losses(self) -> None:
        if self.current.losses is not None:
            self.current.losses = self.current.losses.begin_pass()

    def _add_losses(self, margins: list[NDArray[np.float64]]) -> None:
        """Add the losses of rows to those of the pass, given the margins of each classifier before its updates."""
        losses = self.current.losses
        if losses is not None and isinstance(self.state, LinearState):
            self.current.losses = losses.add([self.state.rule.threshold - part for part in margins])

    def _judge_losses(self, active: NDArray[np.int64], visits: NDArray[np.float64]) -> None:
        """Compare the losses of a pass, in which the classifiers ``active`` made ``visits``, with earlier passes."""
        if self.current.losses is not None and self.options.tol is not None:
            self.current.losses = self.current.losses.judge(active, visits, float(self.options.tol))

    @property
    def _has_stalled(self) -> NDArray[np.bool_]:
        """For each classifier, whether ``tol`` has stopped it."""
        losses = self.current.losses
        if losses is None:
            return np.zeros(len(self.state.counters), bool)
        return losses.stalled >= self.options.n_iter_no_change

    def _unfinished(self) -> NDArray[np.int64]:
        return np.flatnonzero(~(self.state.done | self.state.at_limit | self._has_stalled))

    def _outcome(self) -> Outcome | None:
        """Return how the run ends, or None if another pass is needed."""
        if not len(self.current.active):
            if self.state.done.all():
                return Outcome.CLEAN_PASS
            limited = self.state.at_limit & ~self.state.done
            return Outcome.MAX_UPDATES if limited.any() else Outcome.LOSS_STALLED
        if any(observer.should_stop for observer in self.observers):
            return Outcome.STOPPED
        return Outcome.MAX_PASSES if self.current.passes_done >= self.options.max_iter else None

    def _end(self, outcome: Outcome) -> None:
        self._notify("on_end", outcome)
        self.state.finish()

    # one pass

    def run_pass(self) -> int:
        """Make one pass, or the rest of it from ``current.row`` on; return the sum of all classifiers' mistakes."""
        current = self.current
        if current.row == current.visited == 0:
            self.begin_pass()
        self.phase = Phase.VISITING
        start = current.row
        self.visit_rows()
        current = self.current
        if current.row == start == 0:
            why = "it can be read only once, or has changed"
            again = "" if self.last_batch is None else f" in pass {self.state.passes + 1}: {why}"
            raise ValueError(f"expected rows to learn from, got an empty stream{again}.")
        self.phase = Phase.VISITED
        if self.read_all or not current.rows:
            current.rows = current.row
        current.row = 0
        return int(self.state.counters["mistakes"][current.active].sum())

    def visit_rows(self) -> None:
        """Train on the rows of the source from ``current.row`` on, as a part of the pass in progress."""
        current, options = self.current, self.options
        validation = None if self.early_stopping is None else self.early_stopping.validation
        for batch in self.source.batches(current.row, self.window if options.shuffle else None):
            order = self._order(batch)
            if batch.held_out is not None:
                order = order[~batch.held_out[order]]
            if validation is not None and validation.pending:
                validation.add(batch)
            if self.in_first_pass and not self.source.in_memory:
                self.labels.add(batch.labels, batch.steps, batch.classes)
            while not self._visit_until_interrupt(batch, order):
                pass  # an interrupt whose handler returned without an exception, so the run continues
            self._notify("on_batch", batch)
            # At the limit nothing more can be learned. But a first pass reads on, to check the labels of all rows.
            if self.state.at_limit[current.active].all() and not (self.in_first_pass and self.source.rereadable):
                self.read_all = False
                break

    def _visit_until_interrupt(self, batch: Batch, order: NDArray[np.uint32]) -> bool:
        """Visit the remaining rows of a batch, unless an interrupt arrives; return whether all have been visited.

        If the run can be resumed, interrupts are deferred until the position in the pass is stored in ``current``.
        """
        current = self.current
        with interrupts_deferred() if self.is_resumable else nullcontext(()) as self._interrupts:
            try:
                self._visit(batch, order, bool(self.options.shuffle))
            except BaseException:
                self.phase = Phase.TORN  # some of a slice may have been visited
                raise
            some_left = self._interrupts and current.visited < len(order)
            if some_left and not self.state.at_limit[current.active].all():
                return False
            current.row, current.visited = batch.first + batch.rows.n, 0
            return True

    # the position of the run

    @property
    def _can_resume(self) -> bool:
        """Whether the source allows resuming: its rows can be read again, and are not in memory."""
        return self.source.rereadable and not self.source.in_memory

    @property
    def is_resumable(self) -> bool:
        """Whether the run could be resumed from a checkpoint of the state and ``current`` at this moment."""
        return self._can_resume and self.phase in (Phase.VISITING, Phase.JUDGED)

    @property
    def in_pass(self) -> bool:
        """Whether a pass is in progress, so that its mistakes are not yet in the history."""
        return self.phase in (Phase.VISITING, Phase.TORN, Phase.VISITED)

    @property
    def in_first_pass(self) -> bool:
        """Whether the first pass has not been completed, so that the next rows may be new to the run."""
        return self.current.passes_done == 0 and self.phase not in (Phase.VISITED, Phase.JUDGED)

    @property
    def has_visited(self) -> bool:
        """Whether this run, or the run that it resumes, has visited a row."""
        return self.last_batch is not None or self.resumed or not self.in_first_pass or self.current.row > 0

    def rows_of_a_pass(self) -> int | None:
        """Return the number of rows that a whole pass visits, or None if it is not known yet."""
        if self.source.in_memory:
            return sum(int((batch.weights > 0).sum()) for batch in self.source.batches())
        if self.in_first_pass or not (self.read_all or self.source.rereadable):
            return None
        rows = self.current.rows if self.resumed else self.labels.weighted_rows
        return rows - (0 if self.early_stopping is None else self.early_stopping.validation.size)

    def last_ranges(self) -> NDArray[np.float64] | None:
        """Return the ranges of the features in the last visited batch of this run, or of the run that it resumes."""
        return self.current.ranges if self.last_batch is None else self.last_batch.rows.feature_ranges.ranges

    def _order(self, batch: Batch) -> NDArray[np.uint32]:
        """Return the row numbers of a batch, in the order in which this pass visits the rows."""
        if not self.options.shuffle:
            if len(self._given_order) != batch.rows.n:
                self._given_order = np.arange(batch.rows.n, dtype=np.uint32)
            return self._given_order
        number = 0 if self.options.shuffle == "once" else self.state.passes
        return window_order(batch.rows.n, self.state.seed, number, batch.first // self.window)

    # single batches, as for partial_fit: rows in their given order, new classes added at their first row

    def visit(self, batch: Batch, continues: bool = False) -> int:
        """Train on a batch: visit its rows once, in the given order, as one pass; return the number of mistakes.

        ``partial_fit``, the command ``watch`` and online services call this method. ``max_updates`` limits the total
        number of updates in all calls. With ``continues``, the rows belong to the same pass as those of the previous
        call.
        """
        state, options = self.state, self.options
        state.counters["limit"] = -1 if options.max_updates is None else options.max_updates
        if continues:
            self.reopen_pass()
        else:
            self.current.active = np.arange(len(state.counters))
            self.begin_pass()
        if state.feature_ranges is None and batch.rows.n > 1:
            state.feature_ranges = batch.rows.feature_ranges.ranges
        self.phase = Phase.VISITING
        try:
            self._visit(batch, np.arange(batch.rows.n, dtype=np.uint32), shuffled=False)
        except KeyboardInterrupt:
            self._notify("on_end", Outcome.INTERRUPTED)
            raise
        self.state.count_rows(batch.rows.n)
        self.close_pass()
        self.state.check_finite()
        return int(self.state.counters["mistakes"].sum())

    def reopen_pass(self) -> None:
        """Continue the last pass: remove it from the history. The counters still have its mistakes."""
        state = self.state
        state.mistakes.pop()
        if state.updates_right_rows:
            state.pass_updates.pop()
        state.passes -= 1

    def close_pass(self) -> None:
        """Record in the history a pass over rows of a stream that may continue."""
        self.phase = Phase.JUDGED
        self.state.done[:] = False
        self._notify("on_pass", self.current.active)
        self._notify("on_end", Outcome.MAX_PASSES)

    def _visit(self, batch: Batch, order: NDArray[np.uint32], shuffled: bool) -> None:
        """Visit the rows ``order`` of a batch. Each new class is added just before its first row is visited."""
        if self.last_batch is None and not (self.warm or self.source.rereadable):
            self._set_classes(batch.classes)
        if batch.rows.d > self.state.n_features and not self.source.rereadable:
            self.options.check_may_widen()
        with interrupts_deferred():
            self.state.widen(batch.rows.d)
            self.last_batch = batch
        if batch.classes is self.classes:
            self._visit_known(batch, order, shuffled)
            return
        check_numbers("class numbers", batch.labels, len(batch.classes))
        for label, start, stop in arrivals(batch, order, self.classes):
            if label is not None:
                self._add_class(label)
            if start < stop:
                # Only classes that have a row in this part are certain to be known.
                part = np.unique(batch.labels[order[start:stop]])
                places = np.zeros(len(batch.classes), np.int32)
                places[part] = class_numbers(batch.classes[part], self.classes)
                known = batch._replace(labels=places[batch.labels], classes=self.classes)
                self._visit_known(known, order[start:stop], shuffled)
        if self.classes.dtype == batch.classes.dtype and np.array_equal(self.classes, batch.classes):
            self.classes = batch.classes  # the same object, so that the next batch passes the identity test above

    def _set_classes(self, classes: Labels) -> None:
        """Replace the state by an untrained one with all classes of the first batch.

        Until now, only the classes of the batch's first block were known.
        """
        limit = self.state.counters["limit"].max()
        options = replace(self.options, random_state=self.state.seed)
        self.state = new_state(options, len(classes), self.state.n_features)
        self.state.configure(self.options)
        self.state.counters["limit"] = limit
        self.classes, self.current.active = classes, np.arange(len(self.state.counters))
        self.begin_pass()

    def _add_class(self, label: Labels) -> None:
        made = self.current.rows_visited(self.state.counters)
        self.state, self.classes = self.state.with_classes(self.classes, label, self.options.direct)
        counters, current = self.state.counters, self.current
        if self.options.max_updates is not None:
            counters["limit"][counters["limit"] < 0] = self.options.max_updates
        current.active, current.visits = np.arange(len(counters)), counters["visits"] - made
        current.was_done = np.zeros(len(counters), bool)

    def _visit_known(self, batch: Batch, order: NDArray[np.uint32], shuffled: bool) -> None:
        def on_slice(visited: int) -> bool:
            if self.is_resumable:
                self.current.visited = visited
                if not shuffled:  # the resumed run may cut the stream into other blocks
                    self.current.row = batch.first + int(order[visited - 1]) + 1
            for observer in self.observers:
                observer.on_slice(self, batch, visited)
            return bool(self._interrupts)

        # One-vs-rest passes only compare labels. If classes compete directly, a label is an index into the weights.
        check_batch(batch, order, self.state.n_scores if self.state.direct else len(self.classes))

        def on_updates(updates: list[Updates]) -> None:
            self._notify("on_updates", batch, order, updates)

        logged = any(observer.wants_updates for observer in self.observers)
        self._runner.visit(
            self.state,
            batch,
            order,
            self.current.active,
            shuffled=shuffled,
            first=self.in_first_pass,
            on_slice=on_slice,
            on_updates=on_updates if logged else None,
            on_margins=None if self.current.losses is None else self._add_losses,
            visited=self.current.visited,
        )

    # the beginning and the end of every pass

    def begin_pass(self) -> None:
        """Begin a pass: reset the counters that are counted anew in each pass."""
        state, current = self.state, self.current
        self._snapshot_before_pass()
        state.done[current.active] = False
        started = state.counters[current.active]
        started["mistakes"], started["pass_updates"], started["longest"] = 0, 0, 0.0
        started["lowest"] = started["lowest_step"] = math.inf
        started["last_change"] = started["visits"]
        state.counters[current.active] = started
        self._begin_losses()

    def _snapshot_before_pass(self) -> None:
        """Store which active classifiers are clean before the pass, and how many rows each has visited."""
        state, current = self.state, self.current
        current.was_done, current.visits = state.done[current.active], state.counters["visits"][current.active]

    def _notify(self, event: str, *details: object) -> None:
        for observer in self.observers:
            getattr(observer, event)(self, *details)
