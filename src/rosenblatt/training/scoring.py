"""What a state answers by each hypothesis: the last weights, their average, the pocket or a vote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.training.activations import activations, best_classes
from rosenblatt.training.dual.scoring import decision_scores as dual_scores
from rosenblatt.training.dual.scoring import predicted_classes as dual_classes
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.dual.voting import votes as dual_votes
from rosenblatt.training.rows import RowMatrix
from rosenblatt.training.run_state import RunState
from rosenblatt.training.state import LinearState, Pocket
from rosenblatt.training.updates import UpdateLog
from rosenblatt.training.voting import votes

Floats = NDArray[np.float64]


def stored_hypothesis(state: RunState, hypothesis: str) -> Any:
    """Return what a run keeps for the hypothesis "pocket" or "vote"; every run keeps the last and the average."""
    found = getattr(state, "pocket" if hypothesis == "pocket" else "log", None)
    if isinstance(state, DualState) and hypothesis == "vote":
        found = state.updates  # it keeps every moment
    if found is None:
        raise ValueError(
            f'this model was trained without keeping what hypothesis="{hypothesis}" needs: '
            "set the hypothesis before fitting, and fit from the start (warm_start=False)."
        )
    return found


def weights(state: LinearState, hypothesis: str) -> tuple[Floats, Floats]:
    """Return ``(w, b)`` of the hypothesis "last", "average" or "pocket"."""
    if hypothesis == "average":
        return state.average()
    if hypothesis == "pocket":
        pocket = cast(Pocket, stored_hypothesis(state, hypothesis))
        return pocket.w, pocket.b
    return state.w, state.b


def with_columns(state: LinearState, columns: NDArray[np.int32]) -> LinearState:
    """Return a state with some of the columns: all that a row needs that is 0 in the others."""
    kept = replace(state, w=np.ascontiguousarray(state.w[:, columns]), u=np.ascontiguousarray(state.u[:, columns]))
    if kept.pocket is not None:
        kept.pocket = replace(kept.pocket, w=np.ascontiguousarray(kept.pocket.w[:, columns]))
    return kept


def decision_scores(state: RunState, hypothesis: str, rows: RowMatrix) -> Floats:
    """Return the score of each row for each classifier: its activation, or its share of the votes."""
    if isinstance(state, DualState):
        if hypothesis == "vote":
            return dual_votes(state, rows)
        if hypothesis == "pocket":
            stored_hypothesis(state, hypothesis)
        return dual_scores(state, hypothesis, rows)
    assert isinstance(state, LinearState)
    if hypothesis == "vote":
        return votes(state, cast(UpdateLog, stored_hypothesis(state, hypothesis)), rows)
    return activations(rows, *weights(state, hypothesis))


def predicted_classes(state: RunState, hypothesis: str, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the class number of each row, and whether the row lies on a boundary so that it is arbitrary."""
    if hypothesis == "vote" or state.n_scores == 1:
        scores = decision_scores(state, hypothesis, rows)
        if state.n_scores == 1:
            return (scores[:, 0] > 0).astype(np.int64), scores[:, 0] == 0
        best = scores.max(axis=1, keepdims=True)
        return scores.argmax(axis=1), (scores == best).sum(axis=1) > 1
    if isinstance(state, DualState):
        if hypothesis == "pocket":
            stored_hypothesis(state, hypothesis)
        return dual_classes(state, hypothesis, rows)
    assert isinstance(state, LinearState)
    return best_classes(rows, *weights(state, hypothesis))
