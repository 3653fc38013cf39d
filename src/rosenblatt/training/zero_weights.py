"""Weights that come back to zero: a proof that nothing separates the rows they were made from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.pass_arguments import MarginRule, PerceptronRule
from rosenblatt.training.observers import Observer
from rosenblatt.training.outcome import Outcome
from rosenblatt.training.rows import Matrix
from rosenblatt.training.state import LinearState

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun


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
