"""What a run says of itself, in the words of the convergence theorem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rosenblatt.rounding import HALF_ULP
from rosenblatt.storage.json_fields import label_to_json
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.run_state import RunState
from rosenblatt.training.state import LinearState

_TINY = 1e-290
LARGEST = 1e300
"""Squared lengths in a kernel's space beyond this, and radii, count as infinite."""


@dataclass(frozen=True)
class Report:
    """What a run proves about its data, in the space that was trained.

    That space is (x, 1) with an intercept and x without. Margins are those of the last weights, whichever
    hypothesis predicts. With more than two classes this sums up all state (the smallest margins, the sum
    of the updates and of the bounds), and ``by_class`` has each of them.

    Attributes
    ----------
    passes, updates : int
        Passes over the data, and updates made in them.
    mistakes_by_pass : list of int
        Mistakes made during each pass.
    converged : bool
        Whether the last pass was made without a mistake.
    radius : float
        R, the length of the longest example.
    margin_low, margin_high : float
        The margin of the data lies between these. Low is what the weights attain, after a pass without
        mistakes, and minus infinity before; high is the length of the weights over the sum of the steps that
        made them: no separator of all the data they were made from does better. It is that of the last weights, so
        it may rise from one pass to the next; the smallest one so far holds as well.
    bound : float
        Novikoff's bound (R / margin_low)^2: no run on this data, in whatever order, makes more updates. Where
        step sizes differ, R and the margin in it are those of the examples times their steps.
    """

    passes: int
    updates: int
    mistakes_by_pass: list[int]
    converged: bool
    radius: float
    margin_low: float
    margin_high: float
    bound: float
    fit_intercept: bool = True
    by_class: Mapping[Any, Report] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return asdict(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the report as data that JSON holds; what is infinite becomes the word "inf" or "-inf"."""
        out: dict[str, Any] = {}
        for name, value in vars(self).items():
            value = value.item() if isinstance(value, np.generic) else value
            if isinstance(value, Mapping):
                value = [{"class": label_to_json(label), **part.to_plain()} for label, part in value.items()]
            elif isinstance(value, float) and not math.isfinite(value):
                value = str(value)
            out[name] = list(value) if isinstance(value, list) else value
        return out

    @property
    def _space(self) -> str:
        """Where margins are measured, in words."""
        return "with the bias as one more feature" if self.fit_intercept else "through the origin"

    def __str__(self) -> str:
        space, n = self._space, self.updates
        lines = [f"{_count(self.passes, 'pass', 'passes')}, {_count(n, 'update', 'updates')}."]
        if self.converged:
            lines += [
                "Separated: the last pass made no mistake.",
                f"The margin ({space}) lies between {self.margin_low:.4g} and {self.margin_high:.4g}.",
                f"The longest example has length {self.radius:.4g}, "
                f"so no run can make more than {_whole(self.bound)} updates.",
            ]
        else:
            last = self.mistakes_by_pass[-1] if self.mistakes_by_pass else 0
            lines += [
                f"Not separated: {_count(last, 'mistake', 'mistakes')} in the last pass.",
                f"If a separator exists, its margin ({space}) is at most {self.margin_high:.4g}.",
            ]
        return "\n".join(lines)


class KernelReport(Report):
    """What a kernel perceptron's run proves about its data, in the space of the kernel, where that is one."""

    @property
    def _space(self) -> str:
        return "in the kernel's space"

    def __str__(self) -> str:
        lines = super().__str__().splitlines()
        return "\n".join(lines if math.isfinite(self.margin_high) else lines[:2])


def _whole(bound: float) -> str:
    return f"{math.floor(bound):,}" if bound < 1e9 else f"{bound:.3g}"


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def report(state: RunState, classes: np.ndarray) -> Report:
    """Return the report of a run; of each class too where there are more than two."""
    if len(state.counters) == 1:
        return _single(state, 0)
    parts = {label: _single(state, k) for k, label in enumerate(classes.tolist())}
    reports = list(parts.values())
    return _kind(state)(
        passes=state.passes,
        updates=sum(part.updates for part in reports),
        mistakes_by_pass=[int(np.maximum(counts, 0).sum()) for counts in state.mistakes],
        converged=all(part.converged for part in reports),
        radius=max(part.radius for part in reports),
        margin_low=min(part.margin_low for part in reports),
        margin_high=min(part.margin_high for part in reports),
        bound=sum(part.bound for part in reports),
        fit_intercept=state.fit_intercept,
        by_class=parts,
    )


def _kind(state: RunState) -> type[Report]:
    return KernelReport if isinstance(state, DualState) else Report


def _single(state: RunState, k: int) -> Report:
    """Return the report of classifier ``k``, or of all classes side by side."""
    mistakes = [int(counts[k]) for counts in state.mistakes if counts[k] >= 0]
    low, high, bound = _dual_margins(state, k) if isinstance(state, DualState) else _linear_margins(state, k)
    return _kind(state)(
        passes=len(mistakes),
        updates=sum(mistakes),
        mistakes_by_pass=mistakes,
        converged=bool(state.done[k]),
        radius=math.inf if isinstance(state, DualState) and state.radius >= LARGEST else state.radius,
        margin_low=low,
        margin_high=high if high >= low else math.inf,  # the weights come from other data as well
        bound=bound,
        fit_intercept=state.fit_intercept,
    )


def _linear_margins(state: RunState, k: int) -> tuple[float, float, float]:
    """Return what a linear run proves: the least and the largest margin, and the bound on updates."""
    assert isinstance(state, LinearState)
    w, b = (state.w.ravel(), state.b) if len(state.counters) == 1 else (state.w[k], state.b[k : k + 1])
    counters = state.counters[k]
    kesler = 2.0 if state.direct else 1.0  # an update moves two classes
    radius, steps = state.radius, math.sqrt(float(counters["step_square_sum"]))
    slack = 1.0 + 8.0 * (w.size + 8) * HALF_ULP
    length = math.hypot(_length(w), _length(b)) * slack
    low, bound, high = -math.inf, math.inf, math.inf
    if counters["step_sum"] > 0:
        drift = 4.0 * HALF_ULP * float(counters["updates"]) * radius * math.sqrt(kesler) * steps
        high = (length + drift) / float(counters["step_sum"]) * slack
    if state.done[k] and counters["lowest"] > _TINY and counters["lowest_step"] > _TINY:
        # an activation above its rounding bound keeps half of its size; most keep all but the bound
        rounding = kesler * 1.01 * (w.size + 4) * HALF_ULP * radius * radius * steps
        proved = max(0.5, 1.0 - rounding / float(counters["lowest"])) / slack
        low, bound = _attained(counters, length, kesler, proved)
    elif state.done[k]:
        low = 0.0  # positive, but too small to be distinguished from zero
    return low, high, bound


def _dual_margins(state: DualState, k: int) -> tuple[float, float, float]:
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


def _attained(counters: np.void, length: float, kesler: float, proved: float) -> tuple[float, float]:
    """Return the margin that weights of this length attain, by the share ``proved``, and Novikoff's bound."""
    low = proved * float(counters["lowest"]) / length
    low_step = proved * float(counters["lowest_step"]) / length
    max_step_norm2 = float(counters["max_step_norm2"])
    return low, kesler * max_step_norm2 / low_step / low_step if math.isfinite(max_step_norm2) else math.inf


def _length(v: np.ndarray) -> float:
    """Return the Euclidean length without overflow or underflow on the way."""
    largest = float(np.max(np.abs(v), initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(v / largest))
