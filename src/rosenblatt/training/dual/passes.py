"""Visits of a batch by the classifiers of a kernel perceptron, block by block."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rosenblatt.training.batches import Batch
from rosenblatt.training.dual.learner import BlockLearner
from rosenblatt.training.dual.scoring import library_of
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.rows import check_finite
from rosenblatt.training.updates import Updates, join_updates

BLOCK, GPU_BLOCK = 1000, 4096
"""Rows that are visited together."""


class DualPassRunner:
    """Lets classifiers visit batches, as `PassRunner` does; kernel values of a batch are kept while it comes again."""

    def __init__(self) -> None:
        self._learner: BlockLearner | None = None

    def visit(
        self,
        state: DualState,
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
        """Visit ``order`` with the classifiers ``active``, as `PassRunner.visit` describes."""
        if first:
            check_finite(batch.rows.matrix)
        learner = self._learner_for(state, batch)
        made: list[list[Updates]] = [[] for _ in state.counters]
        try:
            block = state.computing.block or (GPU_BLOCK if learner.library.is_remote else BLOCK)
            for start in range(visited, len(order), block):
                stop = min(start + block, len(order))
                rows = order[start:stop].astype(np.int64)
                rows = rows[batch.steps[rows] > 0] if len(batch.steps) else rows
                if len(rows):
                    if first:
                        _measure(state, batch, rows, active, learner)
                    with np.errstate(over="ignore", invalid="ignore"):  # such sums are settled exactly
                        updates = learner.visit(rows, active)
                    for chunk, update in zip(made, updates, strict=True):
                        chunk.append(update)
                if on_slice(stop) or state.at_limit[active].all():
                    break
        finally:
            if on_updates is not None:
                on_updates([join_updates(chunk) for chunk in made])

    def _learner_for(self, state: DualState, batch: Batch) -> BlockLearner:
        """Return what learns from this batch, with all it knew if it has learned from it before."""
        known = self._learner
        if known is None or known.state is not state or known.batch.rows is not batch.rows:
            library = library_of(state, batch.rows.matrix)
            self._learner = BlockLearner(state, batch, library, None if known is None else known.supports)
        elif known.batch is not batch:
            known.batch = batch
        assert self._learner is not None
        return self._learner


def _measure(
    state: DualState, batch: Batch, rows: NDArray[np.int64], active: NDArray[np.int64], learner: BlockLearner
) -> None:
    """Note the length of the longest example in the kernel's space."""
    squares = learner.table.diagonal(rows)
    steps = batch.steps[rows] if len(batch.steps) else 1.0
    counters = state.counters
    with np.errstate(over="ignore"):
        largest = np.max(steps * steps * squares)
    counters["radius2"][active] = np.maximum(counters["radius2"][active], squares.max())
    counters["max_step_norm2"][active] = np.maximum(counters["max_step_norm2"][active], largest)
    state.radius = min(max(state.radius, math.sqrt(max(0.0, float(squares.max())))), sys.float_info.max)
