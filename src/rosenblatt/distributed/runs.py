"""Exact training on a cluster: the rows stay where they are, and the state visits one shard after the other.

A visit is a pure function of a shard and of what the visit before left: the state of the run, how far its pass has
come, and the rows of a window that the next shard completes. So a pass is the pass of `TrainingRun` on all rows in
their order, on however many workers, and a visit that is lost is made again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block, is_sparse
from rosenblatt.distributed.engines import Engine
from rosenblatt.distributed.shards import Shard, ShardRows, ShardSet
from rosenblatt.messages import ParameterError, Setting, check_choice, check_integer
from rosenblatt.training.early_stopping import ValidationSet
from rosenblatt.training.linear import InitialWeights as Weights
from rosenblatt.training.linear import LinearState
from rosenblatt.training.model_file import is_divisible, put_classifiers, take_classifiers
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import Labels, LabelSummary
from rosenblatt.training.run import Phase, TrainingRun, new_state
from rosenblatt.training.state import Outcome, PassState, interrupts_deferred
from rosenblatt.training.train import MakeRun

# What runs on shards have in common, however these are visited.


class ClusterRun(TrainingRun):
    """A run whose rows are visited elsewhere: what an interrupt cuts short has not come back, and is forgotten."""

    state: LinearState

    def run_pass(self) -> int:
        """Visit all rows once; a pass of which nothing has come back is as one that was not begun."""
        state, before = self.state, self.state.counters.copy()
        try:
            return super().run_pass()
        except KeyboardInterrupt:
            if not self.current.row:
                state.counters[:] = before
                state.done[self.current.active] = self.current.was_done
                self.phase = Phase.JUDGED if self.resumed or self.current.passes_done else Phase.READY
            raise


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
    return Carried(cast(LinearState, run.state), current, run.labels, validation, rows.left, not run.read_all)


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


# Iterative parameter mixing (McDonald, Hall and Mann 2010): all shards at once, and the mean of what they learned.
#
# In each round every shard starts from the same weights, makes one pass over its own rows, and hands back how far
# these moved its weights; the next round starts from the mean over all shards that have rows. As updates are made on
# mistakes only, the paper's theorem 3 bounds them: summed over all rounds, the mean number of mistakes of a shard is
# at most (R / margin)^2. Means are sums in the order of the shards, so bits depend on the shards alone.


Floats = NDArray[np.float64]
SPARSE_SHARE = 3
"""Weights are sent as a list of those that changed where these are fewer than one in so many."""


class Moves(NamedTuple):
    """How far weights and their mean over a pass moved: all of them, or those of some features."""

    features: NDArray[np.int64] | None
    """Those whose weights may have moved, None where it may be all."""
    w: Floats
    average: Floats


def moves_of(state: LinearState, start_w: Floats, shard: Shard) -> Moves:
    """Return how far a pass over a shard has moved the weights from where they started, in the form that is shorter."""
    visits = np.maximum(state.visits, 1.0)[:, None]
    if is_sparse(shard.X) and SPARSE_SHARE * shard.X.nnz < start_w.shape[1]:
        features = np.unique(shard.X.indices).astype(np.int64)
        moved = state.w[:, features] - start_w[:, features]
        return Moves(features, moved, moved - state.u[:, features] / visits)
    moved = state.w - start_w
    return Moves(None, moved, moved - state.u / visits)


def mean_moves(moves: Sequence[Moves], d: int) -> Moves:
    """Return the mean of the moves of several shards, summed in their order."""
    listed = [one.features for one in moves if one.features is not None]
    features = np.unique(np.concatenate(listed)) if len(listed) == len(moves) else None
    shape = len(moves[0].w), d if features is None else len(features)
    w, average = np.zeros(shape), np.zeros(shape)
    for one in moves:
        places: Any = slice(None)
        if one.features is not None:
            places = one.features if features is None else np.searchsorted(features, one.features)
        w[:, places] += one.w
        average[:, places] += one.average
    return Moves(features, w / len(moves), average / len(moves))


class Round(NamedTuple):
    """What a shard has to know to make its pass."""

    options: RunOptions
    classes: Labels
    active: NDArray[np.int64]
    """The classifiers that take part."""
    number: int
    """How many rounds were before."""
    first: int
    """The number of the shard's first row among all rows."""
    collects: bool
    """Whether rows that are held out are to be sent along."""
    measures: bool
    """Whether the ranges of the features are to be told."""


class Learned(NamedTuple):
    """What a shard hands back."""

    moves: Moves
    b: Floats
    average_b: Floats
    counters: NDArray[np.void]
    radius: float
    labels: LabelSummary
    validation: ValidationSet | None
    ranges: Floats | None


def make_pass(shard: Shard, start: Weights, task: Round) -> Learned:
    """Make a pass over one shard, from the weights that all start with."""
    options, (start_w, start_b) = task.options, start
    state = new_state(options, len(task.classes), start_w.shape[1])
    state.start_from(start_w, start_b)
    state.passes = task.number
    rows = ShardRows(shard, task.classes, task.first, start_w.shape[1], class_weight=options.class_weight)
    # clusters hand over arrays that cannot be written to, for which a kernel would be compiled once more
    current = PassState(row=task.first, active=task.active.copy())
    run = TrainingRun(state, rows, options, resumed=current, classes=task.classes)
    if run.early_stopping is not None:
        run.early_stopping.validation.pending = task.collects
    run.begin_pass()
    run.visit_rows()
    collected = run.early_stopping is not None and task.collects
    return Learned(
        moves=moves_of(state, start_w, shard),
        b=state.b - start_b,
        average_b=state.b - start_b - state.beta / np.maximum(state.visits, 1.0),
        counters=state.counters,
        radius=state.radius,
        labels=run.labels,
        validation=run.early_stopping.validation if run.early_stopping is not None and collected else None,
        ranges=run.last_ranges() if task.measures else None,
    )


class MixingRun(ClusterRun):
    """A run whose passes are rounds of mixing; all else about it is that of any run.

    The average is that of the last round: the weights of earlier rounds are much worse, and would stay in it.
    """

    source: ShardSet

    def run(self) -> Outcome:
        """Make the rounds."""
        best = None if self.early_stopping is None else self.early_stopping.best.state
        for state in (self.state, best):  # a checkpoint does not say of how many shards its states are the mean
            if state is not None:
                state.mixed_shards = len(self._filled())
        return super().run()

    def _filled(self) -> list[int]:
        """Return the shards that have rows."""
        return [shard for shard, facts in enumerate(self.source.facts) if facts.rows]

    def visit_rows(self) -> None:
        """Make a round: a pass of every shard, and the mean of what they learned."""
        state, source = self.state, self.source
        if self.current.row == source.rows:
            return  # the run goes on from a checkpoint that was written after the round
        state.widen(source.width)
        stopping = self.early_stopping
        collects = stopping is not None and stopping.validation.pending
        options = replace(self.options, hypothesis="last", random_state=state.seed, verbose=0)
        filled = self._filled()

        def calls() -> list[Any]:
            start = source.engine.share((state.w, state.b))
            common = options, source.classes, self.current.active, state.passes
            measured = filled[-1] if self.current.ranges is None else None
            tasks = {
                shard: Round(*common, source.starts[shard], collects, measures=shard == measured) for shard in filled
            }
            return [source.engine.call(make_pass, shard, start, task) for shard, task in tasks.items()]

        learned = source.gather(calls, lambda ended: self._notify("on_slice", None, source.rows * ended // len(filled)))
        with interrupts_deferred():  # a checkpoint may be written then, of a whole round or of none
            self._take(learned)
        self._notify("on_batch", None)

    def _take(self, learned: Sequence[Learned]) -> None:
        """Go on from what came back from all shards."""
        self._mix(learned)
        self.current.row = self.source.rows
        if learned[-1].ranges is not None:
            self.current.ranges = learned[-1].ranges
        for one in learned:
            if self.in_first_pass:
                self.labels.extend(one.labels)
            if self.early_stopping is not None and one.validation is not None:
                self.early_stopping.validation.extend(one.validation)

    def _mix(self, learned: Sequence[Learned]) -> None:
        """Move to the mean of what the shards learned, and add up what they counted."""
        state, shards, active = self.state, float(len(learned)), self.current.active
        moves = mean_moves([one.moves for one in learned], state.n_features)
        b, average_b = (sum(getattr(one, name) for one in learned) / shards for name in ("b", "average_b"))
        counted = np.stack([one.counters[active] for one in learned])
        counters = state.counters[active]
        for name in ("mistakes", "pass_updates"):
            counters[name] = counted[name].sum(axis=0)
        counters["updates"] += counted["updates"].sum(axis=0)
        for name in ("step_sum", "step_square_sum"):  # an update of a shard moves the mean by a part of it
            counters[name] += counted[name].sum(axis=0) / shards
        for name in ("radius2", "max_step_norm2", "max_step"):
            counters[name] = np.maximum(counters[name], counted[name].max(axis=0))
        for name in ("lowest", "lowest_step"):
            counters[name] = counted[name].min(axis=0)
        counters["visits"] += counted["visits"].sum(axis=0)
        state.counters[active] = counters
        classes = np.arange(len(state.w)) if state.direct else active
        late = (moves.w - moves.average) * state.visits[:, None]  # the average is the weights less ``u / visits``
        state.u[classes] = 0.0
        places = np.ix_(classes, np.arange(state.n_features) if moves.features is None else moves.features)
        state.w[places] += moves.w[classes]
        state.u[places] = late[classes]
        state.b[classes] += b[classes]
        state.beta[classes] = ((b - average_b) * state.visits)[classes]
        state.radius = max([state.radius, *(one.radius for one in learned)])


# The two ways to train on shards, exact and mixed: what each can do, and what makes its runs.


MODES = ("exact", "mix")


def checked_options(options: RunOptions, mode: str, n_shards: int) -> RunOptions:
    """Return the options of a run, or raise a ParameterError where a cluster cannot make it in this mode."""
    check_choice("mode", mode, MODES)
    check_integer("n_shards", n_shards, 1)
    options.check_for_stream("training on a cluster")
    if mode == "mix":
        for name, given, needed in (
            ("hypothesis", options.hypothesis if options.hypothesis == "vote" else None, None),
            ("max_updates", options.max_updates, None),
            ("decay", options.decay, 0.0),
        ):
            if given != needed:
                raise ParameterError(
                    Setting("mode", "mix"),
                    " takes the mean of shards that know nothing of each other, which ",
                    Setting(name, given),
                    " does not go with: leave it out, or use ",
                    Setting("mode", "exact"),
                    ".",
                )
    return options


def runs_of(mode: str, every: float | None) -> MakeRun:
    """Return what makes the runs of a mode; exact ones can be gone on with after so many seconds."""
    return MixingRun if mode == "mix" else partial(ExactRun, every=every)


# Several runs on the same shards at once, one for each seed: while one is at a shard, others are at the next.


class StopTogether(Observer):
    """Ends all runs after the passes in progress, once `should_stop` is set."""


def train_together(train: Callable[[Any, Observer], Any], models: Sequence[Any]) -> None:
    """Call ``train(model, observer)`` for all models at once, and wait for them; an interrupt ends them all.

    Warnings of the runs are given once all have ended, each of them once.
    """
    stop = StopTogether()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(len(models), thread_name_prefix="rosenblatt-seed") as pool:
            runs = [pool.submit(train, model, stop) for model in models]
            try:
                for run in runs:
                    run.result()
            except BaseException:
                stop.should_stop = True
                raise
    for message, kind in dict.fromkeys((str(one.message), one.category) for one in found):
        warnings.warn(message, kind, stacklevel=5)
