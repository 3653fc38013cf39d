"""Training and test errors by pass: of the last weights, the averaged weights and, for perceptrons, the vote."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.estimators.perceptron import VotedPerceptron
from rosenblatt.lab.learning import make_learner, waiting
from rosenblatt.lab.state import LabState, feature_columns
from rosenblatt.lab.state_fields import BY_MARGIN
from rosenblatt.training.observers import Callback

MOST_PASSES = 60
"""Maximum number of passes whose errors are computed. The first and the last pass are always included."""

HYPOTHESES = ("last", "average", "vote")


def error_message(state: LabState) -> dict[str, Any]:
    """Return the fraction of misclassified points after each pass, for each hypothesis of the learner.

    A hypothesis is a way to predict with the weights of a run: the last weights, their average or their vote. A point
    on the boundary counts as misclassified. The signs of activations are exact for the weights as stored. The stored
    average is rounded once. ``passes`` contains the numbers of the passes whose errors were computed.

    >>> points = ((1.0, 1.0, 1, False), (2.0, 0.0, 1, False), (-1.0, 0.0, -1, False), (0.0, -2.0, -1, False))
    >>> error_message(LabState(points=points, order="fixed"))["train"]["last"]
    [0.0, 0.0]
    """
    why = _why_not(state)
    if why:
        return {"passes": [], "train": _series(state), "test": None, "why": why}
    held = state.held_out
    X, y = _features(state, state.rows), state.labels(state.rows)
    everything = np.vstack([X, _features(state, held)])
    labels = np.concatenate([y, state.labels(held)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scored = _thinned(_learner(state).fit(X, y).n_iter_)
        train, test = _series(state), _series(state)
        model = _learner(state)

        def score(model: Any) -> None:
            if model.n_iter_ not in scored:
                return
            for hypothesis in train:
                wrong = _wrong(model, hypothesis, everything, labels)
                train[hypothesis].append(float(wrong[: len(y)].mean()))
                if len(held):
                    test[hypothesis].append(float(wrong[len(y) :].mean()))

        model._fit(X, y, observers=[Callback(model._callback(score))])
    return {"passes": sorted(scored), "train": train, "test": test if len(held) else None, "why": ""}


def _why_not(state: LabState) -> str:
    """Return the reason why there are no errors by pass as a sentence, or "" if errors can be computed."""
    if state.learner == "restart":
        return "This learner starts again after each update, so it makes no passes to compare."
    if state.order == "pick":
        return "Points that are picked make no passes to compare: choose another order."
    return waiting(state)


def _series(state: LabState) -> dict[str, list[float]]:
    """Return an empty list for each hypothesis. Only perceptrons have the hypothesis "vote"."""
    return {hypothesis: [] for hypothesis in HYPOTHESES if hypothesis != "vote" or state.learner not in BY_MARGIN}


def _features(state: LabState, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return feature_columns(state.coordinates(rows), state.feature_names)


def _learner(state: LabState) -> Any:
    """Return a learner that repeats the run of the state and can predict with each hypothesis in `_series`."""
    model = make_learner(state)
    if isinstance(model, KernelPerceptron) or state.learner in BY_MARGIN:
        return model
    kept = {name: value for name, value in model.get_params().items() if name != "hypothesis"}
    return VotedPerceptron(**kept)


def _wrong(model: Any, hypothesis: str, X: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each point is misclassified; a point on the boundary counts as misclassified."""
    model.hypothesis = hypothesis
    return labels * model.decision_function(X) <= 0  # exact signs of the weights as stored


def _thinned(passes: int) -> set[int]:
    """Return the numbers of the passes whose errors are computed, in a run of ``passes`` passes.

    >>> sorted(_thinned(3)), len(_thinned(1000)), max(_thinned(1000))
    ([1, 2, 3], 60, 1000)
    """
    return set(np.linspace(1, passes, min(passes, MOST_PASSES)).round().astype(int).tolist())
