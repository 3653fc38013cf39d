"""What the page's engine should answer: runs of the library's learners, with each visit and update, and errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from helpers.lab_state import BY_MARGIN, MOST_VISITS, LabState, feature_columns
from rosenblatt import textbook
from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.estimators.margin_learners import AROW, MarginPerceptron, PassiveAggressive
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.messages import count_of
from rosenblatt.training.batches import InMemory, make_batch
from rosenblatt.training.observers import Callback, Observer, UpdateTrace
from rosenblatt.training.run import TrainingRun, new_state

Floats = NDArray[np.float64]
SHUFFLE: dict[str, bool | str] = {"fixed": False, "once": "once", "each": True, "pick": False}


@dataclass
class Run:
    """The record of a training run.

    A visit is one step of the run, which looks at one point. Visits are numbered from 0. The place of a point is its
    index among the training points.
    """

    X: Floats
    """The features of the training points, with a row for each point."""
    y: NDArray[np.int64]
    visits: NDArray[np.int64]
    """For each visit, the place of the visited point."""
    updates: NDArray[np.int64]
    """The numbers of the visits with an update. Some learners also update on correct points with a small margin."""
    passes: list[int]
    """The number of visits made by the end of each pass. The restart algorithm has no passes, so its list is empty."""
    converged: bool
    w: Floats
    b: float
    model: Any = None
    """The fitted learner, or None for the restart algorithm."""
    pocket: list[dict[str, Any]] | None = None
    """For the pocket algorithm, the weights in the pocket after each pass and their mistakes; otherwise None."""
    steps: Floats | None = None
    """The step size of each update, or None if all steps have size 1."""


def waiting(state: LabState) -> str:
    """Return a sentence on what the user must do before training is possible, or "" if it is possible already."""
    labels = set(state.labels(state.rows).tolist())
    if not labels and state.points:
        return "All points are held out: train on some of them."
    if not labels:
        return "Place a point: click on the plane, or focus it and press Enter."
    if not state.feature_names:
        return "Tick at least one feature: without any, all points look the same."
    if state.order == "pick":
        if state.learner in ("restart", "pocket"):
            return "This learner looks at all points: choose another order."
        visited = any(not state.points[pick][3] for pick in state.picks)
        return "" if visited else "Pick the point to visit next: click on it."
    if len(labels) < 2:
        other = "orange triangle" if 1 in labels else "blue disc"
        return f"All points are of one class: place {'an' if other[0] == 'o' else 'a'} {other}."
    return ""


def make_learner(state: LabState) -> Any:
    """Return an unfitted learner of the library with the parameters given by the state."""
    common: dict[str, Any] = {
        "max_iter": most_passes(state),
        "shuffle": SHUFFLE[state.order],
        "random_state": state.seed,
        "max_updates": state.updates,
    }
    if state.learner == "kernel":
        kernel: dict[str, Any] = {"kernel": state.kernel, "gamma": state.gamma}
        if state.kernel == "poly":
            kernel |= {"degree": state.degree, "coef0": state.coef0}
        return KernelPerceptron(hypothesis="last", **kernel, **common)
    common["fit_intercept"] = state.bias
    if state.learner == "averaged":
        return AveragedPerceptron(**common)
    if state.learner == "voted":
        return VotedPerceptron(**common)
    if state.learner == "margin":
        return MarginPerceptron(margin=state.margin, **common)
    if state.learner == "pa":
        if state.loss == "plain":
            return PassiveAggressive(C=math.inf, hypothesis="last", **common)
        return PassiveAggressive(C=state.C, loss=state.loss, hypothesis="last", **common)
    if state.learner == "arow":
        return AROW(r=state.r, **common)
    return Perceptron(hypothesis="pocket" if state.learner == "pocket" else "last", **common)


def most_passes(state: LabState) -> int:
    """Return the requested number of passes, or fewer so that there are at most `MOST_VISITS` visits."""
    return max(1, min(state.passes, MOST_VISITS // max(1, len(state.rows))))


def run(state: LabState) -> Run:
    """Train the learner of a state and return the record of the run; `waiting` must be "" for this state."""
    rows = state.rows
    X, y = feature_columns(state.coordinates(rows), state.feature_names), state.labels(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page says itself what a run did not reach
        if state.learner == "restart":
            return _restart(state, X, y)
        if state.order == "pick":
            return _picked(state, X, y)
        return _passes(state, X, y)


def _passes(state: LabState, X: Floats, y: NDArray[np.int64]) -> Run:
    trace, pockets = UpdateTrace(visits=True), _Pockets()
    model = make_learner(state)._fit(X, y, observers=[trace, pockets])
    updates, steps = _updates(state, trace)
    visits, n = trace.visited, len(y)
    if len(updates) == state.updates:
        visits = visits[: updates[-1] + 1]  # the run ended there
    passes = [min(n * (p + 1), len(visits)) for p in range(model.n_iter_)]
    w, b = _weights(model, X)
    found = pockets.found if state.learner == "pocket" else None
    return Run(X, y, visits, updates, passes, bool(model.converged_), w, b, model, found, steps)


def _picked(state: LabState, X: Floats, y: NDArray[np.int64]) -> Run:
    """Train with ``partial_fit`` on the points that the user picked, in this order, up to the limit of updates."""
    place = {row: i for i, row in enumerate(state.rows.tolist())}
    picks = np.array([place[row] for row in state.picks if row in place], dtype=np.int64)
    model, trace, classes = make_learner(state), UpdateTrace(), np.array([-1, 1])
    batch = make_batch(X[picks], (y[picks] > 0).astype(np.int32), classes, None, None)
    options = model._options(X)
    TrainingRun(new_state(options, 2, X.shape[1]), InMemory(batch), options, [trace]).visit(batch)
    updates, steps = _updates(state, trace)
    if len(updates) == state.updates:
        picks = picks[: updates[-1] + 1]  # the run ended there
    model.partial_fit(X[picks], y[picks], classes=classes)
    w, b = _weights(model, X)
    clean = bool((model.predict(X) == y).all() and not model.on_boundary(X).any())
    return Run(X, y, picks, updates, [len(picks)], clean, w, b, model, steps=steps)


def _updates(state: LabState, trace: UpdateTrace) -> tuple[NDArray[np.int64], Floats | None]:
    """Return the numbers of the visits with an update, and the step sizes, or None if all are 1."""
    made = trace.updates()
    return made.visits.astype(np.int64), np.abs(made.steps) if state.learner in BY_MARGIN else None


def _restart(state: LabState, X: Floats, y: NDArray[np.int64]) -> Run:
    """Run the restart algorithm (Algorithm 1 of Parametric learning): each update returns to the first point."""
    D = list(zip(X.tolist(), y.tolist(), strict=True))
    D = textbook.with_dummy_feature(D) if state.bias else D
    visits: list[int] = []
    updates: list[int] = []
    scan = 0

    def stream() -> Iterator[tuple[Any, int]]:
        nonlocal scan
        while scan < len(D) and len(visits) < MOST_VISITS and len(updates) < state.updates:
            visits.append(scan)
            scan += 1
            yield D[visits[-1]]

    w: list[Any] = [0.0] * len(D[0][0])
    for step in textbook.perceptron_online(stream()):
        if step.mistake:
            updates.append(len(visits) - 1)
            scan = 0
        w = step.w
    weights, bias = (w[1:], w[0]) if state.bias else (w, 0.0)
    places, mistakes = np.array(visits, dtype=np.int64), np.array(updates, dtype=np.int64)
    return Run(X, y, places, mistakes, [], scan == len(D), np.array(weights, dtype=np.float64), float(bias))


def _weights(model: Any, X: Floats) -> tuple[Floats, float]:
    """Return the weights and the bias after the last visit, or zeros for a kernel perceptron."""
    if isinstance(model, KernelPerceptron):
        return np.zeros(X.shape[1]), 0.0
    return model.last_coef_[0].copy(), float(model.last_intercept_[0])


class _Pockets(Observer):
    """An observer that records the weights in the pocket, the best so far, after each pass."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Record the weights in the pocket and their number of mistakes."""
        pocket = getattr(run.state, "pocket", None)
        if pocket is not None:
            mistakes = int(pocket.mistakes[0])
            self.found.append({"w": pocket.w[0].tolist(), "b": float(pocket.b[0]), "mistakes": mistakes})


def run_message(state: LabState, made: Run | None = None) -> dict[str, Any]:
    """Return the run of a state as data for the page, or ``{"waiting": ...}`` if training is not possible yet.

    ``made`` is the run if it was computed already, otherwise None.
    """
    missing = waiting(state)
    if missing:
        return {"waiting": missing}
    made = made or run(state)
    predicting = None
    if state.learner in ("averaged", "pocket"):
        predicting = {"w": made.model.coef_[0].tolist(), "b": float(made.model.intercept_[0])}
    return {
        "waiting": "",
        "kind": "kernel" if state.learner == "kernel" else "linear",
        "names": list(state.feature_names),
        "rows": state.rows.tolist(),
        "signs": made.y.tolist(),
        "features": made.X.tolist(),
        "visits": made.visits.tolist(),
        "updates": made.updates.tolist(),
        "passes": made.passes,
        "converged": made.converged,
        "ended": _ended(state, made),
        "w": made.w.tolist(),
        "b": made.b,
        **weights_message(state, made),
        "predicting": predicting,
        "pocket": made.pocket,
        "rule": rule_message(state, made),
    }


def _ended(state: LabState, made: Run) -> str:
    """Return the reason why the run ended as a phrase."""
    if made.converged:
        if made.passes == [] or state.order == "pick":
            return "every point is on its side"
        return f"a pass without {'an update' if state.learner in BY_MARGIN else 'a mistake'}"
    if state.order == "pick" and len(made.updates) < state.updates:
        return "the last point that was picked"
    if len(made.updates) >= state.updates:
        return f"the limit of {count_of(state.updates, 'update')}"
    if not made.passes:
        return f"the limit of {MOST_VISITS:,} visits"
    return f"the limit of {count_of(len(made.passes), 'pass')}"


# learners that also update on correct points with a small margin


_CERTAIN = 1e-12
"""A float sum has the correct sign if its absolute value exceeds this fraction of the sum of its absolute terms."""


def rule_message(state: LabState, made: Run) -> dict[str, Any] | None:
    """Return data for replaying a run of a learner in `BY_MARGIN`, or None for other learners, whose steps are 1.

    Let a be the activation of a point with label y. The margin perceptron updates if ``y a <= threshold``, the other
    learners if ``y a < 1``. ``steps`` contains the step size of each update, and ``mistakes`` the numbers of the visits
    that found a mistake.
    """
    if state.learner not in BY_MARGIN:
        return None
    assert made.steps is not None
    return {
        "kind": state.learner,
        "threshold": state.margin if state.learner == "margin" else 1.0,
        "steps": made.steps.tolist(),
        "mistakes": mistaken_visits(state, made).tolist(),
        "C": state.C if state.learner == "pa" and state.loss != "plain" else None,
        "loss": state.loss if state.learner == "pa" else None,
        "r": state.r if state.learner == "arow" else None,
    }


def mistaken_visits(state: LabState, made: Run) -> NDArray[np.int64]:
    """Return the numbers of the visits to misclassified points, which include points on the boundary."""
    weights = np.array(replay(state, made).weights)
    at = np.searchsorted(made.updates, np.arange(len(made.visits)))  # updates made before each visit
    X = np.column_stack([made.X, np.ones(len(made.X))])[made.visits]
    parts = weights[at] * X
    a = parts.sum(axis=1)
    for visit in np.flatnonzero(np.abs(a) <= _CERTAIN * np.abs(parts).sum(axis=1)).tolist():
        pairs = zip(weights[at[visit]].tolist(), X[visit].tolist(), strict=True)
        a[visit] = np.sign(float(sum(Fraction(w) * Fraction(x) for w, x in pairs if w)))
    return np.flatnonzero(made.y[made.visits] * a <= 0)


class Replay(NamedTuple):
    """The start of a run and each of its updates, in rows whose last entry is that of the bias."""

    weights: list[list[float]]
    cached: list[list[float]]
    """The weighted sums from which CIML's algorithm 7 computes the average."""
    variances: list[list[float]]
    """The variances of the weights for AROW; for other learners they stay 1."""


def replay(state: LabState, made: Run) -> Replay:
    """Repeat the updates of a run with the library's rounding, bit for bit."""
    rows = np.column_stack([made.X, np.full(len(made.X), float(state.bias))]).tolist()
    zeros, ones = [0.0] * len(rows[0]), [1.0] * len(rows[0])
    found = Replay([zeros], [zeros], [ones])
    steps = [1.0] * len(made.updates) if made.steps is None else made.steps.tolist()
    for visit, step in zip(made.updates.tolist(), steps, strict=True):
        place = int(made.visits[visit])
        signed, row, variance = step * int(made.y[place]), rows[place], found.variances[-1]
        towards = row
        if state.learner == "arow":
            v = float(sum(Fraction(s) * Fraction(x) ** 2 for s, x in zip(variance, row, strict=True)))
            towards = [s * x for s, x in zip(variance, row, strict=True)]
            variance = [shrunk_variance(s, x, v, state.r) for s, x in zip(variance, row, strict=True)]
        found.variances.append(variance)
        found.weights.append([w + signed * x for w, x in zip(found.weights[-1], towards, strict=True)])
        found.cached.append([c + signed * visit * x for c, x in zip(found.cached[-1], towards, strict=True)])
    return found


def weights_message(state: LabState, made: Run) -> dict[str, Any]:
    """Return the weights, the sums for their average and AROW's variances, at the start and after each update."""
    if state.learner == "kernel":
        zeros = [{"w": [0.0, 0.0], "b": 0.0}] * (len(made.updates) + 1)
        return {"weights": zeros, "cached": zeros, "variances": None}
    weights, cached, variances = ([{"w": w, "b": b} for *w, b in rows] for rows in replay(state, made))
    assert weights[-1] == {"w": made.w.tolist(), "b": made.b}
    if state.learner != "arow":
        return {"weights": weights, "cached": cached, "variances": None}
    last = {"w": made.model.variance_[0].tolist(), "b": float(made.model.intercept_variance_[0])}
    assert variances[-1] == last
    return {"weights": weights, "cached": cached, "variances": variances}


def shrunk_variance(s: float, x: float, v: float, r: float) -> float:
    """Return the variance of a weight after an AROW update, rounded as in the compiled code.

    Before the update, ``s`` is the variance of the weight and ``v`` the variance of the activation. ``x`` is the
    value of the feature, and ``r`` the parameter of AROW.

    """
    return s if x == 0.0 else s * min((max(v - s * x * x, 0.0) + r) * (1.0 / (v + r)), 1.0)


# errors by pass


MOST_PASSES = 60
"""Maximum number of passes whose errors are computed. The first and the last pass are always included."""

HYPOTHESES = ("last", "average", "vote")


def error_message(state: LabState) -> dict[str, Any]:
    """Return the fraction of misclassified points after each pass, for each hypothesis of the learner.

    A hypothesis is a way to predict with the weights of a run: the last weights, their average or their vote. A point
    on the boundary counts as misclassified. The signs of activations are exact for the weights as stored. The stored
    average is rounded once. ``passes`` contains the numbers of the passes whose errors were computed.

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
    """Return the numbers of the passes whose errors are computed, in a run of ``passes`` passes."""
    return set(np.linspace(1, passes, min(passes, MOST_PASSES)).round().astype(int).tolist())
