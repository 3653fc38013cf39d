"""The pocket of a kernel perceptron: the moment of the run with the fewest training mistakes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rosenblatt.training.dual.scoring import decision_scores, predicted_classes
from rosenblatt.training.dual.state import DualPocket, DualState
from rosenblatt.training.observers import Observer

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun

Integers = NDArray[np.int64]


class DualPocketKeeper(Observer):
    """Puts the moment with the fewest training mistakes into the pocket, chosen as `PocketKeeper` does."""

    def on_start(self, run: TrainingRun) -> None:
        """Count the mistakes of the moment in the pocket again: the rows may be new ones."""
        pocket = _pocket(run)
        if run.warm and np.isfinite(pocket.mistakes).all():
            pocket.mistakes[:] = _training_mistakes(run, pocket.updates)

    def on_pass(self, run: TrainingRun, active: Integers) -> None:
        """Look whether this pass has a better moment."""
        pocket = _pocket(run)
        for updates in (pocket.candidate.copy(), run.state.counters["updates"].copy()):
            mistakes = _training_mistakes(run, updates)
            better = mistakes < pocket.mistakes
            pocket.mistakes[better], pocket.updates[better] = mistakes[better], updates[better]


def _pocket(run: TrainingRun) -> DualPocket:
    found = run.state.pocket
    assert isinstance(found, DualPocket)
    return found


def _training_mistakes(run: TrainingRun, updates: Integers) -> NDArray[np.float64]:
    """Return the weight of the training rows that each classifier gets wrong after so many updates."""
    state: DualState = replace(run.state, pocket=replace(_pocket(run), updates=updates))
    wrong = np.zeros(len(state.counters))
    for batch in run.source.batches():
        weights = np.where(run.held_out(batch), 0.0, batch.steps if len(batch.steps) else 1.0)
        if state.direct:
            best, tied = predicted_classes(state, "pocket", batch.rows)
            wrong += weights @ ((best != batch.labels) | tied)
        else:
            scores = decision_scores(state, "pocket", batch.rows)
            positive = batch.labels[:, None] == state.counters["target"]
            wrong += weights @ ~np.where(positive, scores > 0, scores < 0)
    return wrong
