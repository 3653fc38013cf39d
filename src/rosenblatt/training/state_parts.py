"""A state as several: one-vs-rest classifiers are independent, so some of them can be trained apart from the others."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from rosenblatt.training.state import LinearState

Numbers = NDArray[np.int64]


def is_divisible(state: LinearState) -> bool:
    """Return whether the classifiers of a state share nothing: no update that moves two of them, no log, no pocket."""
    return len(state.counters) > 1 and not state.direct and state.log is None and state.pocket is None


def take_classifiers(state: LinearState, members: Numbers) -> LinearState:
    """Return a state of some classifiers, which goes on as they would have in the whole one; its history is empty."""
    part = copy(state)
    part.room, part.mistakes, part.pass_updates, part.validation_error = None, [], [], []
    part.counters, part.done = state.counters[members], state.done[members]
    part.set_weight_arrays([array[members] for array in state.weight_arrays()])
    part.b, part.beta = state.b[members], state.beta[members]
    part.s_b = None if state.s_b is None else state.s_b[members]
    return part


def put_classifiers(state: LinearState, members: Numbers, part: LinearState) -> None:
    """Replace some classifiers of a state by those of a part that `take_classifiers` gave and that was trained."""
    state.widen(part.n_features)
    part.widen(state.n_features)
    state.counters[members], state.done[members] = part.counters, part.done
    for array, trained in zip(state.weight_arrays(), part.weight_arrays(), strict=True):
        array[members] = trained
    state.b[members], state.beta[members] = part.b, part.beta
    if state.s_b is not None and part.s_b is not None:
        state.s_b[members] = part.s_b
    state.radius = max(state.radius, part.radius)
