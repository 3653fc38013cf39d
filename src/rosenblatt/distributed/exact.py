"""Exact training on a cluster: the rows stay where they are, and the state visits one shard after the other.

A visit is a pure function of a shard and of what the visit before left: the state of the run, how far its pass has
come, and the rows of a window that the next shard completes. So a pass is the pass of `TrainingRun` on all rows in
their order, on however many workers, and a visit that is lost is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block
from rosenblatt.distributed.cluster_run import ClusterRun
from rosenblatt.distributed.engines import Engine
from rosenblatt.distributed.shard_set import ShardSet
from rosenblatt.distributed.shards import Shard, ShardRows
from rosenblatt.training.early_stopping import ValidationSet
from rosenblatt.training.interrupts import interrupts_deferred
from rosenblatt.training.labels import Labels, LabelSummary
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import RunOptions
from rosenblatt.training.pass_state import PassState
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.state import LinearState
from rosenblatt.training.state_parts import is_divisible, put_classifiers, take_classifiers


@dataclass
class Carried:
    """What travels from shard to shard."""

    state: LinearState
    current: PassState
    labels: LabelSummary
    validation: ValidationSet | None
    """The rows held out so far, in the pass that collects them."""
    waiting: Block | None = None
    """The rows of a window that the next shard completes."""
    ended: bool = False
    """Whether all classifiers have made as many updates as they may, so that the pass reads no further."""


class Place(NamedTuple):
    """What a visit has to know of its shard, and of the run."""

    options: RunOptions
    classes: Labels
    width: int
    first: int
    """The number of the shard's first row."""
    last: bool
    """Whether it is the last of the pass."""
    measures: bool
    """Whether the ranges of its features are to be told: as large as the weights, they travel only once."""


def visit_shard(shard: Shard, carried: Carried, place: Place) -> Carried:
    """Return what travels on after a visit of a shard; what came is left as it was."""
    if carried.ended:
        return carried
    options = place.options
    rows = ShardRows(shard, place.classes, place.first, place.width, place.last, carried.waiting, options.class_weight)
    # clusters hand over arrays that cannot be written to, for which a kernel would be compiled once more
    current = replace(carried.current, active=carried.current.active.copy())
    run = TrainingRun(carried.state.snapshot(), rows, options, resumed=current, classes=place.classes)
    run.labels = deepcopy(carried.labels)
    validation = deepcopy(carried.validation)
    if run.early_stopping is not None:
        if validation is not None:
            run.early_stopping.validation = validation
        run.early_stopping.validation.pending = validation is not None
    run.visit_rows()
    if run.last_batch is not None and (place.measures or not run.read_all):
        current.ranges = run.last_ranges()
    return Carried(run.state, current, run.labels, validation, rows.left, not run.read_all)


class ExactRun(ClusterRun):
    """A run whose passes walk over the shards of a cluster; all else about it is that of any run.

    Classifiers that share nothing walk in groups, one for each worker, so that all have something to do.

    Parameters
    ----------
    every : float, optional
        Seconds after which a pass stops at the end of a shard, so that a checkpoint can be written.
    """

    source: ShardSet

    def __init__(self, *arguments: Any, every: float | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.every = every
        self._shard_seconds = 0.0

    def visit_rows(self) -> None:
        """Visit the rows from ``current.row`` on, shard by shard."""
        shards = len(self.source.facts)
        shard = self.source.shard_of(self.current.row)
        while shard < shards and self.read_all:
            end = min(shards, shard + self._shards_at_once())
            began = monotonic()
            self._walk(shard, end)
            self._shard_seconds = (monotonic() - began) / (end - shard)
            shard = end
            self._notify("on_batch", None)

    def _shards_at_once(self) -> int:
        """Return how many shards to visit before the run stands still, for a checkpoint to be written if it is due."""
        if self.every is None:
            return len(self.source.facts)
        return max(1, int(self.every / self._shard_seconds)) if self._shard_seconds else 1

    def _walk(self, shard: int, end: int) -> None:
        """Visit some shards; a window that goes on after the last of them is left for the next walk."""
        source, current = self.source, self.current
        # a window that began in an earlier shard is visited as a whole
        begin = min(shard, source.shard_of(current.row))
        options = replace(self.options, verbose=0)
        groups = self._groups()
        stopping = self.early_stopping
        validation = stopping.validation if stopping is not None and stopping.validation.pending else None
        measured = source.last_filled if current.ranges is None else len(source.facts)
        started = [Carried(*self._part(members), self.labels, validation) for members in groups]

        is_shown = any(type(observer).on_slice is not Observer.on_slice for observer in self.observers)
        shown = VisitsShown(
            source.engine, lambda rows: self._notify("on_slice", None, source.starts[begin] + rows // len(groups))
        )

        def calls() -> list[Any]:
            handles: list[Any] = list(started)
            shown.visits, shown.rows = [], 0
            for number in range(begin, end):
                common = options, source.classes, source.width, source.starts[number]
                place = Place(*common, last=number == self._last(), measures=number >= measured)
                handles = [source.engine.call(visit_shard, number, handle, place) for handle in handles]
                if is_shown:
                    shown.visits += [(handle, source.facts[number].rows) for handle in handles]
            return handles

        ended = source.gather(calls, shown if is_shown else None)
        with interrupts_deferred():  # a checkpoint may be written then, of all that came back or of nothing
            self._take(groups, ended)

    def _last(self) -> int:
        return len(self.source.facts) - 1

    @property
    def _divides(self) -> bool:
        """Whether classifiers can travel apart: early stopping judges all of them together."""
        return is_divisible(self.state) and self.early_stopping is None

    def _groups(self) -> list[NDArray[np.int64]]:
        """Return the classifiers that travel together."""
        active = self.current.active
        if not self._divides:
            return [active]
        if not _have_seen_alike(self.state.counters[active]):
            return [active]
        return np.array_split(active, max(1, min(len(active), self.source.engine.workers)))

    def _part(self, members: NDArray[np.int64]) -> tuple[LinearState, PassState]:
        state, current = self.state, self.current
        if not self._divides:
            return state, replace(current, ranges=None)
        places = np.searchsorted(current.active, members)
        part = replace(
            current,
            ranges=None,
            active=np.arange(len(members)),
            was_done=current.was_done[places],
            visits=current.visits[places],
        )
        return take_classifiers(state, members), part

    def _take(self, groups: Sequence[NDArray[np.int64]], ended: Sequence[Carried]) -> None:
        """Go on from what came back from the last shard."""
        if self._divides:
            for members, one in zip(groups, ended, strict=True):
                put_classifiers(self.state, members, one.state)
        else:
            self.state = ended[0].state.snapshot()  # clusters hand over arrays that cannot be written to
        furthest = max(ended, key=lambda one: one.current.row)
        self.current.row = furthest.current.row
        if furthest.current.ranges is not None:
            self.current.ranges = furthest.current.ranges
        self.labels, self.read_all = furthest.labels, not all(one.ended for one in ended)
        if self.early_stopping is not None and ended[0].validation is not None:
            self.early_stopping.validation = ended[0].validation


class VisitsShown:
    """Tells how far a walk has come, each time that it is called: the rows of all visits that have ended.

    A handle keeps the state that a visit leaves on its worker, so it is let go when the visit has been counted.
    """

    def __init__(self, engine: Engine, tell: Callable[[int], None]) -> None:
        self.engine, self.tell = engine, tell
        self.visits: list[tuple[Any, int]] = []
        self.rows = 0

    def __call__(self, _ended: int) -> None:
        """Count the visits that have ended since, and tell the sum."""
        ended = self.engine.ended([handle for handle, _ in self.visits])
        self.rows += sum(rows for (_, rows), done in zip(self.visits, ended, strict=True) if done)
        self.visits = [visit for visit, done in zip(self.visits, ended, strict=True) if not done]
        self.tell(self.rows)


def _have_seen_alike(counters: NDArray[np.void]) -> bool:
    """Return whether classifiers know of the same longest row; the first one of a pass tells the others of its own."""
    return all((counters[name] == counters[name][:1]).all() for name in ("radius2", "max_step_norm2", "max_step"))
