"""Learners that also update where a point is right by too little: their steps, mistakes and variances for the page."""

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
"""A sum of a few floats that is larger than this share of its parts has the right sign."""


def rule_message(state: LabState, made: Run) -> dict[str, Any] | None:
    """Return what the page needs to replay a run whose steps are not all 1; None where they are.

    ``threshold`` is the largest y a that makes an update (below 1, for those whose threshold is 1), ``steps`` has a
    size for each update, ``mistakes`` are the visits that were mistakes. ``variance`` is AROW's at the end,
    ``row_variances`` has that of the row of each update, x'Sx.
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
    """Return the visits that had a point on the wrong side or on the boundary, whether they made an update or not.

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
    """What a run did at each update."""

    weights: NDArray[np.float64]
    """The weights before the first update and after each; the bias is the last of them."""
    row_variances: list[float]
    """For AROW the variance of the row of each update."""


def replay(state: LabState, made: Run) -> Replay:
    """Make the updates of a run once more, bit for bit as the library does."""
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
    """Return a variance after an update of a row of variance ``v`` with the feature ``x``, rounded as by kernels.

    >>> shrunk_variance(1.0, 1.0, 2.0, 2.0)
    0.75
    """
    return s if x == 0.0 else s * min((max(v - s * x * x, 0.0) + r) * (1.0 / (v + r)), 1.0)
