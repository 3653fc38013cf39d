"""Step sizes, mistakes and variances of learners that also update on correct points with a small margin."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.lab.state import LabState
from rosenblatt.lab.state_fields import BY_MARGIN

if TYPE_CHECKING:
    from rosenblatt.lab.learning import Run

_CERTAIN = 1e-12
"""A float sum has the correct sign if its absolute value exceeds this fraction of the sum of its absolute terms."""


def rule_message(state: LabState, made: Run) -> dict[str, Any] | None:
    """Return data for replaying a run of a learner in `BY_MARGIN`, or None for other learners, whose steps are 1.

    Let a be the activation of a point with label y. The margin perceptron updates if ``y a <= threshold``, the other
    learners if ``y a < 1``. ``steps`` contains the step size of each update, and ``mistakes`` the numbers of the visits
    that found a mistake. For AROW, ``variance`` contains the variances of the weights after the run, and
    ``row_variances`` the variance of the activation at each update.
    """
    if state.learner not in BY_MARGIN:
        return None
    assert made.steps is not None
    variance, row_variances = None, None
    if state.learner == "arow":
        model, row_variances = made.model, replay(state, made).row_variances
        variance = {"w": model.variance_[0].tolist(), "b": float(model.intercept_variance_[0])}
    return {
        "kind": state.learner,
        "threshold": state.margin if state.learner == "margin" else 1.0,
        "steps": made.steps.tolist(),
        "mistakes": mistaken_visits(state, made).tolist(),
        "C": state.C if state.learner == "pa" and state.loss != "plain" else None,
        "loss": state.loss if state.learner == "pa" else None,
        "r": state.r if state.learner == "arow" else None,
        "variance": variance,
        "row_variances": row_variances,
    }


def mistaken_visits(state: LabState, made: Run) -> NDArray[np.int64]:
    """Return the numbers of the visits to misclassified points, which include points on the boundary.

    >>> from rosenblatt.lab.learning import run
    >>> points = ((1.0, 0.0, 1, False), (3.0, 0.0, 1, False), (-1.0, 0.0, -1, False))
    >>> state = LabState(points=points, learner="margin", margin=5.0, order="fixed", passes=1)
    >>> made = run(state)
    >>> made.updates.tolist(), mistaken_visits(state, made).tolist()
    ([0, 1, 2], [0])
    """
    weights = replay(state, made).weights
    at = np.searchsorted(made.updates, np.arange(len(made.visits)))  # updates made before each visit
    X = np.column_stack([made.X, np.ones(len(made.X))])[made.visits]
    parts = weights[at] * X
    a = parts.sum(axis=1)
    for visit in np.flatnonzero(np.abs(a) <= _CERTAIN * np.abs(parts).sum(axis=1)).tolist():
        pairs = zip(weights[at[visit]].tolist(), X[visit].tolist(), strict=True)
        a[visit] = np.sign(float(sum(Fraction(w) * Fraction(x) for w, x in pairs if w)))
    return np.flatnonzero(made.y[made.visits] * a <= 0)


class Replay(NamedTuple):
    """The weights and variances at each update of a run."""

    weights: NDArray[np.float64]
    """A row with the initial weights, and a row with the weights after each update. The last column is the bias."""
    row_variances: list[float]
    """For AROW, the variance of the activation at each update; otherwise empty."""


def replay(state: LabState, made: Run) -> Replay:
    """Repeat the updates of a run with the library's rounding, and return the weights bit for bit."""
    assert made.steps is not None
    rows = np.column_stack([made.X, np.full(len(made.X), float(state.bias))]).tolist()
    w, variance = [0.0] * len(rows[0]), [1.0] * len(rows[0])
    weights, row_variances = [list(w)], []
    for place, step in zip(made.visits[made.updates].tolist(), made.steps.tolist(), strict=True):
        signed, row = step * int(made.y[place]), rows[place]
        towards = row
        if state.learner == "arow":
            v = float(sum(Fraction(s) * Fraction(x) ** 2 for s, x in zip(variance, row, strict=True)))
            towards = [s * x for s, x in zip(variance, row, strict=True)]
            variance = [shrunk_variance(s, x, v, state.r) for s, x in zip(variance, row, strict=True)]
            row_variances.append(v)
        w = [value + signed * x for value, x in zip(w, towards, strict=True)]
        weights.append(list(w))
    return Replay(np.array(weights), row_variances)


def shrunk_variance(s: float, x: float, v: float, r: float) -> float:
    """Return the variance of a weight after an AROW update, rounded as in the compiled code.

    Before the update, ``s`` is the variance of the weight and ``v`` the variance of the activation. ``x`` is the
    value of the feature, and ``r`` the parameter of AROW.

    >>> shrunk_variance(1.0, 1.0, 2.0, 2.0)
    0.75
    """
    return s if x == 0.0 else s * min((max(v - s * x * x, 0.0) + r) * (1.0 / (v + r)), 1.0)
