"""What the weights and the counters of a run prove about the margin of its data, and about the updates of any run."""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.pass_arguments import ArowRule, MarginRule, PerceptronRule
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.run_state import RunState
from rosenblatt.training.state import LinearState

_TINY = 1e-290
LARGEST = 1e300
"""Squared lengths in a kernel's space beyond this, and radii, count as infinite."""


def linear_margins(state: RunState, k: int) -> tuple[float, float, float]:
    """Return what a linear run proves: the least and the largest margin, and the bound on updates.

    The largest margin rests on weights that are a sum of steps along examples, on top of those at the start; the bound
    on updates of rows whose activation is at most the rule's threshold, by steps that do not depend on it.
    """
    assert isinstance(state, LinearState)
    w, b = (state.w.ravel(), state.b) if len(state.counters) == 1 else (state.w[k], state.b[k : k + 1])
    counters = state.counters[k]
    kesler = 2.0 if state.direct else 1.0  # an update moves two classes
    radius, steps = state.radius, math.sqrt(float(counters["step_square_sum"]))
    slack = 1.0 + 8.0 * (w.size + 8) * HALF_ULP
    length = math.hypot(_length(w), _length(b)) * slack
    low, bound, high = -math.inf, math.inf, math.inf
    start = math.sqrt(float(counters["start2"])) * slack
    if counters["step_sum"] > 0 and not isinstance(state.rule, ArowRule):
        drift = 4.0 * HALF_ULP * float(counters["updates"]) * radius * math.sqrt(kesler) * steps
        drift += 4.0 * HALF_ULP * float(counters["updates"]) * math.sqrt(float(counters["excess2"]))
        if state.mixed_shards:  # sums over shards are rounded too, and theirs are longer than their mean
            drift *= 4.0 * (1.0 + math.sqrt(state.mixed_shards))
        high = (length + start + drift) / float(counters["step_sum"]) * slack
        if start > 0.0:
            high = min(high, math.sqrt(kesler) * radius * slack)  # no margin exceeds the longest example
    if state.done[k] and counters["lowest"] > _TINY and counters["lowest_step"] > _TINY:
        # an activation above its rounding bound keeps half of its size; most keep all but the bound
        longest = radius * steps + math.sqrt(float(counters["excess2"]))
        rounding = kesler * 1.01 * (w.size + 4) * HALF_ULP * radius * longest
        proved = max(0.5, 1.0 - rounding / float(counters["lowest"])) / slack
        low, bound = _attained(counters, length, kesler, proved, state.rule.threshold, start)
        if not isinstance(state.rule, PerceptronRule | MarginRule):
            bound = math.inf
    elif state.done[k]:
        low = 0.0  # positive, but too small to be distinguished from zero
    return low, high, bound


def dual_margins(state: DualState, k: int) -> tuple[float, float, float]:
    """Return what a kernel perceptron's run proves in the kernel's space; nothing where that is none."""
    counters, kesler = state.counters[k], 2.0 if state.direct else 1.0
    low, bound, high = -math.inf, math.inf, math.inf
    if not state.kernel.has_space:
        return low, high, bound
    steps = float(np.abs(state.updates_of(k).steps).sum())
    # the sum that makes the squared length up rounds once for each update, and is off by the errors of the leads
    degree = (state.kernel.polynomial or (1.0, 0.0, 1))[2] + 1
    drift = 16.0 * HALF_ULP * (float(counters["updates"]) + degree * (state.width + 64.0))
    reach = float(counters["step_sum"]) * state.radius
    squared = max(0.0, float(state.norm2[k])) + drift * reach * reach
    if not _TINY < squared < LARGEST:
        return (0.0 if state.done[k] else low), high, bound  # squares have left the range of floats
    length = math.sqrt(squared)
    forgotten = counters["updates"] > sum(len(part.members) for part in state.updates[k])
    if steps > 0:
        high = length / steps * (1.0 + 1e-12)
    if state.done[k] and counters["lowest"] > _TINY and counters["lowest_step"] > _TINY and length > 0:
        low, bound = _attained(counters, length, kesler, 1.0 - 1e-12)
    elif state.done[k]:
        low = 0.0
    return low, high, math.inf if forgotten else bound  # the theorem is about runs that forget nothing


def _attained(
    counters: np.void, length: float, kesler: float, proved: float, threshold: float = 0.0, start: float = 0.0
) -> tuple[float, float]:
    """Return the margin that weights of this length attain, by the share ``proved``, and the bound on updates.

    After M updates from weights of length s, ``M g - s <= |w|`` for steps of margin g, and ``|w|^2 <= s^2 + M Q`` where
    an update adds at most Q: the squared length of its step, and twice the threshold times its size. So M is at most
    ``Q / g^2 + 2 s / g``: Novikoff's bound where the start and the threshold are zero.
    """
    low = proved * float(counters["lowest"]) / length
    low_step = proved * float(counters["lowest_step"]) / length
    max_step_norm2 = float(counters["max_step_norm2"])
    if not math.isfinite(max_step_norm2):
        return low, math.inf
    added = kesler * max_step_norm2
    if threshold > 0.0:
        added += 2.000001 * threshold * float(counters["max_step"])
    bound = added / low_step / low_step
    return low, bound + 2.000001 * start / low_step if start > 0.0 else bound


def _length(v: np.ndarray) -> float:
    """Return the Euclidean length without overflow or underflow on the way."""
    largest = float(np.max(np.abs(v), initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(v / largest))
