"""Training runs on a cluster: an exact run moves the state from shard to shard, a mixing run averages over all shards.

In an exact run, training on a shard (a visit) is a pure function. Its arguments are the shard and the `RunTransfer`
that the previous visit returned: the state, the position in the pass, and the rows of an unfinished window. (A window
is 65,536 consecutive rows, which are shuffled together.) So a pass gives the same result as a pass of `TrainingRun`
over all rows in order, with any number of workers. If the result of a visit is lost, the visit can be repeated.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block, is_sparse
from rosenblatt.distributed.engines import Engine, Handle
from rosenblatt.distributed.shards import Expected, Shard, ShardRows, ShardSet
from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.messages import ParameterError, Setting, check_choice, check_integer
from rosenblatt.training.early_stopping import ValidationSet
from rosenblatt.training.linear import InitialWeights as Weights
from rosenblatt.training.linear import LinearState
from rosenblatt.training.losses import Losses
from rosenblatt.training.model_file import is_divisible, put_classifiers, take_classifiers
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import Labels, LabelSummary
from rosenblatt.training.run import Phase, TrainingRun
from rosenblatt.training.state import Outcome, PassState
from rosenblatt.training.train import MakeRun


class ClusterRun(TrainingRun):
    """A run that trains on workers. After an interrupt, results that have not yet arrived are discarded."""

    state: LinearState

    def run_pass(self) -> int:
        """Make one pass. If it is interrupted before any result has arrived, undo the start of the pass."""
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
class RunTransfer:
    """The data of an exact run that is sent from shard to shard."""

    state: LinearState
    current: PassState
    labels: LabelSummary
    validation: ValidationSet | None
    """In the pass that collects held-out rows, the rows held out so far; otherwise None."""
    leftover: Block | None = None
    """The rows of an unfinished window, which continues in the next shard."""
    ended: bool = False
    """Whether all classifiers have reached ``max_updates``, so that the pass has ended."""


class ShardContext(NamedTuple):
    """The arguments of a visit to a shard that do not depend on the previous visit."""

    options: RunOptions
    classes: Labels
    width: int
    first: int
    """The row number of the shard's first row, counted over all shards."""
    last: bool
    """Whether this is the last shard of the pass."""
    measures: bool
    """Whether to return the ranges of the features. They need as much memory as the weights, so they are sent once."""
    expected: Expected
    """The identity of the shard when training began. A shard that was loaded again must have the same identity."""
    before: Mapping[Any, int]
    """For early stopping, the number of rows of each class in the previous shards; classes in order of first row."""


def visit_shard(shard: Shard, transfer: RunTransfer, context: ShardContext) -> RunTransfer:
    """Train on a shard, and return the `RunTransfer` for the next shard. ``transfer`` is not changed."""
    if transfer.ended:
        return transfer
    options, classes, width, first, last, measures, expected, before = context
    expected.check(shard)
    rows = ShardRows(shard, classes, first, width, last, transfer.leftover, options.class_weight, before)
    # clusters deliver read-only arrays, for which numba would compile each kernel a second time
    current = replace(transfer.current, active=transfer.current.active.copy())
    run = TrainingRun(transfer.state.snapshot(), rows, options, resumed=current, classes=classes)
    run.labels = deepcopy(transfer.labels)
    validation = deepcopy(transfer.validation)
    if run.early_stopping is not None:
        if validation is not None:
            run.early_stopping.validation = validation
        run.early_stopping.validation.pending = validation is not None
    run.visit_rows()
    if run.last_batch is not None and (measures or not run.read_all):
        current.ranges = run.last_ranges()
    return RunTransfer(cast(LinearState, run.state), current, run.labels, validation, rows.leftover, not run.read_all)


class ExactRun(ClusterRun):
    """A run whose passes visit the shards of a cluster one after the other.

    The result is the same as on one machine, bit for bit. Classifiers that are independent are divided into groups, one
    for each worker, so that several workers train at the same time.

    Parameters
    ----------
    *arguments, **options
        As for `TrainingRun`.
    every : float, optional
        The time in seconds after which a pass pauses at the end of a shard, so that a checkpoint can be written. By
        default a pass does not pause.
    """

    source: ShardSet

    def __init__(self, *arguments: Any, every: float | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.every = every
        self._shard_seconds = 0.0

    def visit_rows(self) -> None:
        """Train on the rows from row number ``current.row`` on, shard by shard."""
        shards = len(self.source.facts)
        shard = self.source.shard_of(self.current.row)
        while shard < shards and self.read_all:
            end = min(shards, shard + self._shards_per_checkpoint())
            began = monotonic()
            self._visit_shards(shard, end)
            self._shard_seconds = (monotonic() - began) / (end - shard)
            shard = end
            self._notify("on_batch", None)

    def _shards_per_checkpoint(self) -> int:
        """Return the number of shards to visit before the next checkpoint, estimated from the time per shard."""
        if self.every is None:
            return len(self.source.facts)
        return max(1, int(self.every / self._shard_seconds)) if self._shard_seconds else 1

    def _visit_shards(self, start: int, end: int) -> None:
        """Visit the shards from ``start`` to ``end - 1``. Rows of an unfinished window are left for the next call."""
        source, current = self.source, self.current
        # if an unfinished window began in an earlier shard, start there to visit the whole window
        begin = min(start, source.shard_of(current.row))
        options = replace(self.options, verbose=0)
        groups = self._groups()
        stopping = self.early_stopping
        validation = stopping.validation if stopping is not None and stopping.validation.pending else None
        first_measured = source.last_filled if current.ranges is None else len(source.facts)
        initial = [RunTransfer(*self._part(members), self.labels, validation) for members in groups]
        is_shown = any(type(observer).on_slice is not Observer.on_slice for observer in self.observers)
        shown = VisitProgress(
            source.engine, lambda rows: self._notify("on_slice", None, source.starts[begin] + rows // len(groups))
        )

        def calls() -> list[Handle]:
            # a chain of calls for each group: the transfer that a visit returns is an argument of the next visit
            handles: list[Handle] = list(initial)
            shown.visits, shown.rows = [], 0
            for k in range(begin, end):
                common = options, source.classes, source.width, source.starts[k]
                context = ShardContext(
                    *common,
                    last=k == len(source.facts) - 1,
                    measures=k >= first_measured,
                    expected=source.expected(k),
                    before=source.before[k] if stopping is not None else {},
                )
                handles = [source.engine.call(visit_shard, k, handle, context) for handle in handles]
                if is_shown:
                    shown.visits += [(handle, source.facts[k].rows) for handle in handles]
            return handles

        returned = source.gather(calls, shown if is_shown else None)
        with interrupts_deferred():  # a checkpoint contains either all of these visits or none
            self._continue_from(groups, returned)

    @property
    def _divides(self) -> bool:
        """Whether classifiers can be trained separately. Early stopping excludes this, since it needs all of them."""
        return is_divisible(self.state) and self.early_stopping is None

    def _groups(self) -> list[NDArray[np.int64]]:
        """Return the groups of classifiers that are trained separately, as arrays of their indices."""
        active = self.current.active
        if not self._divides or not _have_equal_extremes(self.state.counters[active]):
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
            losses=None if current.losses is None else current.losses.some(members),
        )
        return take_classifiers(state, members), part

    def _continue_from(self, groups: Sequence[NDArray[np.int64]], returned: Sequence[RunTransfer]) -> None:
        """Update the run with the `RunTransfer` of each group's last visit."""
        if self._divides:
            for members, transfer in zip(groups, returned, strict=True):
                put_classifiers(self.state, members, transfer.state)
        else:
            self.state = returned[0].state.snapshot()  # clusters deliver read-only arrays
        if self.current.losses is not None:
            everyone = np.arange(len(self.state.counters))
            sums = [np.empty(0) for _ in everyone]
            for members, transfer in zip(groups if self._divides else [everyone], returned, strict=True):
                for k, total in zip(members, cast(Losses, transfer.current.losses).sums, strict=True):
                    sums[k] = total
            self.current.losses = self.current.losses.begin_pass().add(sums)
        furthest = max(returned, key=lambda transfer: transfer.current.row)
        self.current.row = furthest.current.row
        if furthest.current.ranges is not None:
            self.current.ranges = furthest.current.ranges
        self.labels, self.read_all = furthest.labels, not all(transfer.ended for transfer in returned)
        if self.early_stopping is not None and returned[0].validation is not None:
            self.early_stopping.validation = returned[0].validation


class VisitProgress:
    """A function that reports the number of rows of all finished visits.

    A handle keeps the result of its visit in the memory of a worker. So it is released once the visit has been counted.
    """

    def __init__(self, engine: Engine, report: Callable[[int], None]) -> None:
        self.engine, self.report = engine, report
        self.visits: list[tuple[Handle, int]] = []
        self.rows = 0

    def __call__(self, _finished: int) -> None:
        """Add the rows of the visits that have finished since the last call, and report the sum."""
        finished = self.engine.finished([handle for handle, _ in self.visits])
        self.rows += sum(rows for (_, rows), done in zip(self.visits, finished, strict=True) if done)
        self.visits = [visit for visit, done in zip(self.visits, finished, strict=True) if not done]
        self.report(self.rows)


def _have_equal_extremes(counters: NDArray[np.void]) -> bool:
    """Return whether all classifiers have the same maxima of row norms, step sizes and norms of steps.

    In a pass, the first classifier updates these maxima for all others. So classifiers with different maxima must be
    trained together.
    """
    return all((counters[name] == counters[name][:1]).all() for name in ("radius2", "max_step_norm2", "max_step"))


# Iterative parameter mixing (McDonald, Hall and Mann 2010, figure 3, with uniform mixing weights).
#
# In round n every shard i starts from the same weights w^(avg, n-1), makes one pass over its own rows, and returns its
# weights w^(i, n) as a difference from the start. The next round starts from w^(avg, n) = 1/S sum_i w^(i, n) over the S
# shards that have rows. Updates are made only on mistakes, so theorem 3 of the paper bounds them: summed over all
# rounds, the mean number of mistakes of a shard is at most (R / margin)^2. Differences are added in the order of the
# shards, so the bits of the result depend only on the shards.


Floats = NDArray[np.float64]
SPARSE_SHARE = 3
"""For a sparse shard with fewer than d / SPARSE_SHARE stored values, only changes of its features are sent.

Here d is the number of features of the model.
"""


class WeightDelta(NamedTuple):
    """The change of the weights and of their average during a pass, for all features or for some of them."""

    features: NDArray[np.int64] | None
    """The indices of the features whose weights may have changed; None means all features."""
    w: Floats
    average: Floats


def weight_delta(state: LinearState, start_w: Floats, shard: Shard) -> WeightDelta:
    """Return the change of the weights since the start of a pass over a shard.

    If a sparse shard has few stored values, the change is returned only for the features that occur in the shard.
    """
    visits = np.maximum(state.visits, 1.0)[:, None]
    if is_sparse(shard.X) and SPARSE_SHARE * shard.X.nnz < start_w.shape[1]:
        features = np.unique(shard.X.indices).astype(np.int64)
        change = state.w[:, features] - start_w[:, features]
        return WeightDelta(features, change, change - state.u[:, features] / visits)
    change = state.w - start_w
    return WeightDelta(None, change, change - state.u / visits)


def mean_delta(deltas: Sequence[WeightDelta], d: int) -> WeightDelta:
    """Return the mean of the changes of several shards, summed in their order."""
    listed = [delta.features for delta in deltas if delta.features is not None]
    features = np.unique(np.concatenate(listed)) if len(listed) == len(deltas) else None
    shape = len(deltas[0].w), d if features is None else len(features)
    w, average = np.zeros(shape), np.zeros(shape)
    for delta in deltas:
        columns: NDArray[np.int64] | slice = slice(None)
        if delta.features is not None:
            columns = delta.features if features is None else np.searchsorted(features, delta.features)
        w[:, columns] += delta.w
        average[:, columns] += delta.average
    return WeightDelta(features, w / len(deltas), average / len(deltas))


class Round(NamedTuple):
    """The arguments of the pass over one shard in a round of mixing."""

    options: RunOptions
    classes: Labels
    active: NDArray[np.int64]
    """The indices of the classifiers that are trained."""
    number: int
    """The number of rounds before this one."""
    first: int
    """The row number of the shard's first row, counted over all shards."""
    collects: bool
    """Whether to return the rows that are held out."""
    measures: bool
    """Whether to return the ranges of the features."""
    expected: Expected
    """The identity of the shard when training began. A shard that was loaded again must have the same identity."""
    before: Mapping[Any, int]
    """For early stopping, the number of rows of each class in the previous shards; classes in order of first row."""


class ShardResult(NamedTuple):
    """The result of the pass over one shard in a round of mixing."""

    weights: WeightDelta
    b: Floats
    average_b: Floats
    counters: NDArray[np.void]
    radius: float
    labels: LabelSummary
    validation: ValidationSet | None
    ranges: Floats | None
    losses: Losses | None


def train_shard(shard: Shard, start: Weights, task: Round) -> ShardResult:
    """Make a pass over one shard, starting from the weights ``start``. All shards start from the same weights."""
    task.expected.check(shard)
    options, (start_w, start_b) = task.options, start
    state = LinearState.initial(options, len(task.classes), start_w.shape[1])
    state.start_from(start_w, start_b)
    state.passes = task.number
    common = task.classes, task.first, start_w.shape[1]
    rows = ShardRows(shard, *common, class_weight=options.class_weight, before=task.before)
    # clusters deliver read-only arrays, for which numba would compile each kernel a second time
    current = PassState(row=task.first, active=task.active.copy())
    run = TrainingRun(state, rows, options, resumed=current, classes=task.classes)
    if run.early_stopping is not None:
        run.early_stopping.validation.pending = task.collects
    run.begin_pass()
    run.visit_rows()
    collected = run.early_stopping is not None and task.collects
    return ShardResult(
        weights=weight_delta(state, start_w, shard),
        b=state.b - start_b,
        average_b=state.b - start_b - state.beta / np.maximum(state.visits, 1.0),
        counters=state.counters,
        radius=state.radius,
        labels=run.labels,
        validation=run.early_stopping.validation if run.early_stopping is not None and collected else None,
        ranges=run.last_ranges() if task.measures else None,
        losses=run.current.losses,
    )


class MixingRun(ClusterRun):
    """A run whose passes are rounds of iterative parameter mixing: each shard is trained, and weights are averaged.

    The averaged perceptron averages over the last round only, because the weights of earlier rounds are much worse.
    """

    source: ShardSet

    def run(self) -> Outcome:
        """Run all rounds."""
        best = None if self.early_stopping is None else self.early_stopping.best.state
        for state in (self.state, best):  # checkpoints do not store the number of shards that were mixed
            if state is not None:
                state.mixed_shards = len(self._filled())
        return super().run()

    def _filled(self) -> list[int]:
        """Return the indices of the shards that have rows."""
        return [shard for shard, facts in enumerate(self.source.facts) if facts.rows]

    def visit_rows(self) -> None:
        """Make a pass over every shard, and set the weights to the mean of the shards' weights."""
        state, source = self.state, self.source
        if self.current.row == source.rows:
            return  # the run resumes from a checkpoint written at the end of this round
        state.widen(source.width)
        stopping = self.early_stopping
        collects = stopping is not None and stopping.validation.pending
        options = replace(self.options, hypothesis="last", random_state=state.seed, verbose=0)
        filled = self._filled()

        def calls() -> list[Handle]:
            start = source.engine.share((state.w, state.b))
            common = options, source.classes, self.current.active, state.passes
            measured = filled[-1] if self.current.ranges is None else None
            tasks = {
                shard: Round(
                    *common,
                    source.starts[shard],
                    collects,
                    measures=shard == measured,
                    expected=source.expected(shard),
                    before=source.before[shard] if stopping is not None else {},
                )
                for shard in filled
            }
            return [source.engine.call(train_shard, shard, start, task) for shard, task in tasks.items()]

        results = source.gather(calls, lambda done: self._notify("on_slice", None, source.rows * done // len(filled)))
        with interrupts_deferred():  # a checkpoint contains either a whole round or nothing of it
            self._continue_from(results)
        self._notify("on_batch", None)

    def _continue_from(self, results: Sequence[ShardResult]) -> None:
        """Update the run with the results of all shards."""
        self._mix(results)
        self.current.row = self.source.rows
        if results[-1].ranges is not None:
            self.current.ranges = results[-1].ranges
        for result in results:
            if self.in_first_pass:
                self.labels.extend(result.labels)
            if self.early_stopping is not None and result.validation is not None:
                self.early_stopping.validation.extend(result.validation)
            if self.current.losses is not None and result.losses is not None:
                self.current.losses = self.current.losses.add(list(result.losses.sums))

    def _mix(self, results: Sequence[ShardResult]) -> None:
        """Add the mean change of the weights to the state, and combine the counters of all shards."""
        state, shards, active = self.state, float(len(results)), self.current.active
        change = mean_delta([result.weights for result in results], state.n_features)
        b, average_b = (sum(getattr(result, name) for result in results) / shards for name in ("b", "average_b"))
        counted = np.stack([result.counters[active] for result in results])
        counters = state.counters[active]
        for name in ("mistakes", "pass_updates"):
            counters[name] = counted[name].sum(axis=0)
        counters["updates"] += counted["updates"].sum(axis=0)
        for name in ("step_sum", "step_square_sum"):  # an update on one shard moves the mean by 1/S of its step
            counters[name] += counted[name].sum(axis=0) / shards
        for name in ("radius2", "max_step_norm2", "max_step"):
            counters[name] = np.maximum(counters[name], counted[name].max(axis=0))
        for name in ("lowest", "lowest_step"):
            counters[name] = counted[name].min(axis=0)
        counters["visits"] += counted["visits"].sum(axis=0)
        state.counters[active] = counters
        classes = np.arange(len(state.w)) if state.direct else active
        u = (change.w - change.average) * state.visits[:, None]  # since the average is w - u / visits
        state.u[classes] = 0.0
        cells = np.ix_(classes, np.arange(state.n_features) if change.features is None else change.features)
        state.w[cells] += change.w[classes]
        state.u[cells] = u[classes]
        state.b[classes] += b[classes]
        state.beta[classes] = ((b - average_b) * state.visits)[classes]
        state.radius = max([state.radius, *(result.radius for result in results)])


# The two modes of training on shards.


MODES = ("exact", "mix")


def checked_options(options: RunOptions, mode: str, n_shards: int) -> RunOptions:
    """Return ``options``; raise a ParameterError unless ``mode`` and ``n_shards`` are valid and fit the options."""
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
                    "{mode='mix'} trains shards independently, which does not work with {option}: leave it out, or use "
                    "{mode='exact'}.",
                    option=Setting(name, given),
                )
    return options


def run_factory(mode: str, every: float | None) -> MakeRun:
    """Return a function that creates a run of this mode. Exact runs pause for a checkpoint every ``every`` seconds."""
    return MixingRun if mode == "mix" else partial(ExactRun, every=every)


# Concurrent runs on the same shards, one for each seed. While one run visits a shard, the others can visit other ones.


Model = TypeVar("Model")


def train_together(train: Callable[[Model, Observer], object], models: Sequence[Model]) -> None:
    """Call ``train(model, observer)`` for all models concurrently, and wait until all calls have ended.

    An interrupt or an error ends all runs. Repeated warnings are issued once, after all runs have ended.
    """
    stop = Observer()  # shared by all runs; if should_stop is set, they end after the pass in progress
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
    for message, category in dict.fromkeys((str(warning.message), warning.category) for warning in found):
        warnings.warn(message, category, stacklevel=5)
