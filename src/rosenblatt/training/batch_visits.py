"""Visits of single batches: rows in their order, classes at their first row, observers told of what happens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.training.batches import Batch, BatchSource, arrivals
from rosenblatt.training.dual.start import computing
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.interrupts import interrupts_deferred
from rosenblatt.training.labels import Labels
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import KernelOptions, RunOptions
from rosenblatt.training.outcome import Outcome
from rosenblatt.training.pass_state import PassState
from rosenblatt.training.rows import feature_ranges
from rosenblatt.training.starts import new_state
from rosenblatt.training.state import LinearState
from rosenblatt.training.updates import Updates

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun


class BatchVisits:
    """The part of a run that visits one batch; `TrainingRun` sets what it works with."""

    state: Any
    source: BatchSource
    options: RunOptions
    observers: list[Observer]
    classes: Labels
    current: PassState
    warm: bool
    one_by_one: bool
    in_pass: bool
    is_resumable: bool
    last_batch: Batch | None
    _runner: Any
    _seen: bool
    _interrupts: Sequence[Any]

    def visit(self, batch: Batch, goes_on: bool = False) -> int:
        """Visit the rows of a batch once in their order, as a pass by itself; return the mistakes.

        This is what ``partial_fit``, the command ``watch`` and an online service call. ``max_updates`` limits the
        updates of all such calls together. With ``goes_on`` the pass is that of the visit before.
        """
        state, options = self.state, self.options
        state.counters["limit"] = -1 if options.max_updates is None else options.max_updates
        if goes_on:  # the counters have its mistakes, and enter the history once more
            state.mistakes.pop()
            if state.updates_right_rows:
                state.pass_updates.pop()
            state.passes -= 1
        else:
            self.current.active = np.arange(len(state.counters))
            self.begin_pass()
        if state.feature_ranges is None and not self.one_by_one:
            state.feature_ranges = feature_ranges(batch.rows.matrix)
        self._seen = False
        self.in_pass = True
        try:
            self._visit(batch, np.arange(batch.rows.n, dtype=np.uint32), shuffled=False)
        except KeyboardInterrupt:
            self._notify("on_end", Outcome.INTERRUPTED)
            raise
        self.in_pass = False
        self.state.done[:] = False
        if isinstance(self.state, DualState):
            self.state.rows_seen += batch.rows.n
        self._notify("on_pass", self.current.active)
        self._notify("on_end", Outcome.MAX_PASSES)
        self._check_weights()
        return int(self.state.counters["mistakes"].sum())

    def _visit(self, batch: Batch, order: NDArray[np.uint32], shuffled: bool) -> None:
        """Visit rows in order, with each new class added at its first row."""
        if self.last_batch is None and not (self.warm or self.source.rereadable):
            self._set_classes(batch.classes)
        with interrupts_deferred():
            self.state.widen(batch.rows.d)
            self.last_batch = batch
        if batch.classes is self.classes:
            self._visit_known(batch, order, shuffled)
            return
        for label, start, stop in arrivals(batch, order, self.classes):
            if label is not None:
                self._add_class(label)
            if start < stop:
                places = np.searchsorted(self.classes, batch.classes).astype(np.int32)
                known = batch._replace(labels=places[batch.labels], classes=self.classes)
                self._visit_known(known, order[start:stop], shuffled)
        if self.classes.dtype == batch.classes.dtype and np.array_equal(self.classes, batch.classes):
            self.classes = batch.classes  # so that the next batch is seen to have the same

    def _set_classes(self, classes: Labels) -> None:
        """Begin with all classes of the first batch, of which only the first block was known."""
        limit = self.state.counters["limit"].max()
        options = replace(self.options, random_state=self.state.seed)
        self.state = new_state(options, len(classes), self.state.n_features)
        if isinstance(self.options, KernelOptions) and isinstance(self.state, DualState):
            self.state.computing = computing(self.options)
        self.state.counters["limit"] = limit
        self.classes, self.current.active = classes, np.arange(len(self.state.counters))
        self.begin_pass()

    def _add_class(self, label: Any) -> None:
        made = self.current.rows_visited(self.state.counters)
        self.state, self.classes = self.state.with_classes(self.classes, np.array([label]), self.options.direct)
        counters, current = self.state.counters, self.current
        if self.options.max_updates is not None:
            counters["limit"][counters["limit"] < 0] = self.options.max_updates
        current.active, current.visits = np.arange(len(counters)), counters["visits"] - made
        current.was_done = np.zeros(len(counters), bool)

    def _visit_known(self, batch: Batch, order: NDArray[np.uint32], shuffled: bool) -> None:
        def on_slice(visited: int) -> bool:
            if self.is_resumable:
                self.current.visited = visited
                if not shuffled:  # blocks may be cut in another way when the run goes on
                    self.current.row = batch.first + int(order[visited - 1]) + 1
            for observer in self.observers:
                observer.on_slice(cast("TrainingRun", self), batch, visited)
            return bool(self._interrupts)

        def on_updates(updates: list[Updates]) -> None:
            self._notify("on_updates", batch, order, updates)

        logged = any(observer.wants_updates for observer in self.observers)
        self._runner.visit(
            self.state,
            batch,
            order,
            self.current.active,
            shuffled=shuffled,
            first=not self._seen,
            on_slice=on_slice,
            on_updates=on_updates if logged else None,
            visited=self.current.visited,
        )

    # what every pass begins and ends with

    def begin_pass(self) -> None:
        """Reset what is counted for each pass."""
        state, current = self.state, self.current
        self._note_standing()
        state.done[current.active] = False
        started = state.counters[current.active]
        started["mistakes"], started["pass_updates"], started["longest"] = 0, 0, 0.0
        started["lowest"] = started["lowest_step"] = math.inf
        started["last_change"] = started["visits"]
        state.counters[current.active] = started

    def _note_standing(self) -> None:
        """Note how the classifiers that take part stood before the pass."""
        state, current = self.state, self.current
        current.was_done, current.visits = state.done[current.active], state.counters["visits"][current.active]

    def _check_weights(self) -> None:
        """Raise a ValueError if weights have outgrown the floats; the counts of a kernel perceptron never do."""
        if isinstance(self.state, LinearState):
            self.state.check_finite()

    def _notify(self, event: str, *details: Any) -> None:
        for observer in self.observers:
            getattr(observer, event)(self, *details)
