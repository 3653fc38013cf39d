"""Iterative parameter mixing (McDonald, Hall and Mann 2010): all shards at once, and the mean of what they learned.

In each round every shard starts from the same weights, makes one pass over its own rows, and hands back how far these
moved its weights; the next round starts from the mean over all shards that have rows. As updates are made on mistakes
only, the paper's theorem 3 bounds them: summed over all rounds, the mean number of mistakes of a shard is at most
(R / margin)^2. Means are sums in the order of the shards, so bits depend on the shards alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import is_sparse
from rosenblatt.distributed.cluster_run import ClusterRun
from rosenblatt.distributed.shard_set import ShardSet
from rosenblatt.distributed.shards import Shard, ShardRows
from rosenblatt.training.early_stopping import ValidationSet
from rosenblatt.training.interrupts import interrupts_deferred
from rosenblatt.training.labels import Labels, LabelSummary
from rosenblatt.training.options import RunOptions
from rosenblatt.training.outcome import Outcome
from rosenblatt.training.pass_state import PassState
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.starting_weights import Weights
from rosenblatt.training.starts import new_state
from rosenblatt.training.state import LinearState

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
    state: LinearState

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
            if not self._seen:
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
