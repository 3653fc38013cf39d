"""Visits of a batch by the compiled passes: slices, threads, the log of updates."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.exact import LONG_LIMBS
from rosenblatt.kernels.pass_arguments import Candidate, Examples, Log, Visits, Weights
from rosenblatt.kernels.passes import direct_pass, one_vs_rest_pass
from rosenblatt.training.batches import Batch
from rosenblatt.training.interrupts import interrupts_deferred
from rosenblatt.training.rows import CACHE_BYTES, SLICE_BYTES, RowMatrix, check_finite
from rosenblatt.training.state import LinearState
from rosenblatt.training.updates import Updates

SPARSE_BLOCK = 8
"""Sparse rows that one-vs-rest classifiers visit in turn: few, as one that has changed is slow until their end."""


FEWEST_VALUES = 4
"""Stored numbers for each column that make it worth to copy sparse classifiers' weights for a second thread."""


class PassRunner:
    """Lets classifiers visit batches.

    The rows are visited in slices, so that an interrupt is heard between two of them; what was learned
    until then stays.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def visit(
        self,
        state: LinearState,
        batch: Batch,
        order: NDArray[np.uint32],
        active: NDArray[np.int64],
        *,
        shuffled: bool,
        first: bool,
        on_slice: Callable[[int], bool],
        on_updates: Callable[[list[Updates]], None] | None,
        visited: int = 0,
    ) -> None:
        """Visit ``order`` with the classifiers ``active``, but for the first ``visited`` rows, which have been.

        ``first`` says that these rows are new to the state: their lengths are looked at. ``on_slice`` is called with
        the number of rows visited after each slice, which is the last one if it returns True; ``on_updates`` at the
        end, after an interrupt too, with the updates of each classifier, which are written down only if it is given.
        """
        rows, sparse = batch.rows, len(batch.rows.parts) == 3
        if sparse and state.s is not None and len(rows.parts[0]) >= state.w.shape[1]:
            state.set_side_by_side()
        elif not (sparse and state.s is not None and state.is_side_by_side):
            state.set_layout("F" if sparse and len(state.w) > 1 else "C")
        log = _log(state, len(order) if on_updates is not None else 0)
        groups = _groups(state, rows, active, log, self.threads)
        slice_rows = max(1024, SLICE_BYTES // rows.row_bytes)
        try:
            for start in range(visited, len(order), slice_rows):
                stop = min(start + slice_rows, len(order))
                visits = Visits(order, start, stop, rows.ahead if shuffled else 0, 0, first)
                self._visit_slice(state, batch, visits, groups)
                if first and not np.isfinite(state.counters["radius2"]).all():
                    check_finite(batch.rows.matrix)  # squares may overflow where all numbers are finite
                if on_slice(stop) or state.at_limit[active].all():
                    break
        finally:
            _join(state, groups)
            if on_updates is not None:
                on_updates(_updates(state, batch, log))
        if first:
            _measure(state, batch, order)

    def _visit_slice(self, state: LinearState, batch: Batch, visits: Visits, groups: list[_Group]) -> None:
        """Visit a slice, each group of classifiers in a thread of its own."""
        rows, several = batch.rows, len(state.w) > 1
        examples = Examples(rows.parts, batch.labels, batch.steps, float(state.fit_intercept), rows.terms)
        block = SPARSE_BLOCK if len(rows.parts) == 3 else max(1, CACHE_BYTES // rows.row_bytes)
        visits = visits._replace(block=block if several else max(1, visits.stop - visits.start))

        def visit(group: _Group) -> None:
            arguments = group.weights, group.active
            if state.direct:
                scores = np.empty(len(state.w))
                direct_pass(examples, visits, *arguments, scores, group.log, group.candidate, state.rule)
                return
            block_scores = np.empty((visits.block, len(group.weights.b))) if several else None
            one_vs_rest_pass(examples, visits, *arguments, block_scores, group.log, group.candidate, state.rule)

        if len(groups) == 1:
            visit(groups[0])
            return
        with interrupts_deferred(), ThreadPoolExecutor(len(groups) - 1) as pool:
            others = [pool.submit(visit, group) for group in groups[1:]]
            visit(groups[0])
            for other in others:
                other.result()


class _Group(NamedTuple):
    """Classifiers that visit rows in one thread, and all that they change."""

    active: NDArray[np.int64]
    """Their numbers in ``weights``."""
    weights: Weights
    log: Log
    candidate: Candidate
    copied: slice | None = None
    """The classes whose weights these are copies of, for threads that would share cache lines otherwise."""


def _groups(state: LinearState, rows: RowMatrix, active: NDArray[np.int64], log: Log, threads: int) -> list[_Group]:
    """Return the classifiers ``active`` in a group for each thread."""
    sparse, b, counters = len(rows.parts) == 3, state.b, state.counters
    few = sparse and len(rows.parts[0]) < FEWEST_VALUES * state.w.shape[1]
    threads = 1 if state.direct or few else max(1, min(threads, len(active)))
    w, u, candidate = state.w, state.u, Candidate(np.empty((0, 0)), np.empty(0))
    s = np.empty((0, len(w)) if sparse else (0, 0)) if state.s is None else state.s.T if sparse else state.s
    s_b = np.empty(0) if state.s_b is None else state.s_b
    if state.pocket is not None:
        candidate = Candidate(state.pocket.candidate_w, state.pocket.candidate_b)
    if sparse:
        w, u, candidate = w.T, u.T, candidate._replace(w=candidate.w.T)
    members = [np.arange(len(state.w))] if state.direct else np.array_split(active, threads)
    if not sparse or few or threads == 1:
        return [
            _Group(group, Weights(w, u, b, state.beta, s, s_b, state.decay, counters, _total()), log, candidate)
            for group in members
        ]
    groups = []
    for group in members:
        part = slice(int(group[0]), int(group[-1]) + 1)
        own_w, own_u, own_s, own = (np.ascontiguousarray(array[:, part]) for array in (w, u, s, candidate.w))
        if state.s is not None:
            together = np.stack([own_w, own_u, own_s], axis=1)
            own_w, own_u, own_s = together[:, 0], together[:, 1], together[:, 2]
        weights = Weights(
            own_w, own_u, b[part], state.beta[part], own_s, s_b[part], state.decay, counters[part], _total()
        )
        lines = Log(*(array[part] for array in log))
        groups.append(_Group(group - part.start, weights, lines, Candidate(own, candidate.b[part]), part))
    return groups


def _join(state: LinearState, groups: list[_Group]) -> None:
    """Copy the weights of groups that have their own back to the state."""
    for group in groups:
        if group.copied is not None:
            state.w.T[:, group.copied], state.u.T[:, group.copied] = group.weights.w, group.weights.u
            if state.s is not None:
                state.s.T[:, group.copied] = group.weights.s
            if state.pocket is not None:
                state.pocket.candidate_w.T[:, group.copied] = group.candidate.w


def _total() -> NDArray[np.int64]:
    """Return space for an exact sum."""
    return np.zeros(LONG_LIMBS, np.int64)


def _log(state: LinearState, visits: int) -> Log:
    """Return space for the updates of so many visits."""
    lines = 2 if state.direct else len(state.counters)
    if not visits:
        lines = 0
    rows, numbers = np.empty((lines, visits), np.uint32), np.empty((2, lines, visits))
    return Log(rows, numbers[0], numbers[1], np.zeros(lines, np.int64))


def _updates(state: LinearState, batch: Batch, log: Log) -> list[Updates]:
    """Return what was written to the log, for each classifier."""
    out = []
    for k in range(len(state.counters)):
        made = int(log.counts[k]) if len(log.counts) else 0
        members = log.rows[k, :made].astype(np.int64) if made else np.empty(0, np.int64)
        steps = log.steps[k, :made].copy() if made else np.empty(0)
        classes = batch.labels[members].astype(np.int64)
        rivals = np.zeros(made, np.int64)
        if state.direct and made:
            rivals = log.rows[1, :made].astype(np.int64)
        elif not state.direct:
            steps = np.where(classes == state.counters["target"][k], steps, -steps)
        visits = log.visits[k, :made].copy() if made else np.empty(0)
        out.append(Updates(members, steps, visits, classes, rivals))
    return out


def _measure(state: LinearState, batch: Batch, order: NDArray[np.uint32]) -> None:
    """Note the length of the longest example; the squares that kernels see may have left the range of floats."""
    radius2 = float(state.counters["radius2"].max())
    if 1e-280 < radius2 < 1e300:
        radius = math.sqrt(radius2)
    else:
        visited = order[batch.steps[order] > 0] if len(batch.steps) else order
        radius = math.hypot(batch.rows.longest(visited), float(state.fit_intercept))
    state.radius = max(state.radius, radius)
