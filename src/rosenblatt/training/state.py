"""The state of a linear learner's run: weights, counters and history, all that it needs to go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.averages import share_of_late
from rosenblatt.kernels.pass_arguments import ArowRule, PassiveAggressiveRule, PerceptronRule, Rule
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.run_state import RunState, new_counters
from rosenblatt.training.updates import UpdateLog, competing_updates, mirrored_updates

Floats = NDArray[np.float64]
_PERCEPTRON = PerceptronRule()
_LEAST_START2 = 1e-290
"""What squares too small for floats may add up to."""


@dataclass
class Pocket:
    """The weights with the fewest training mistakes so far, and the candidate of the pass in progress."""

    w: Floats
    b: Floats
    mistakes: Floats
    candidate_w: Floats
    candidate_b: Floats

    @classmethod
    def empty(cls, k: int, d: int, judged: int) -> Pocket:
        """Return a pocket for ``k`` weight vectors, of which ``judged`` are judged by themselves."""
        worst = np.full(judged, np.inf)
        return cls(np.zeros((k, d)), np.zeros(k), worst, np.zeros((k, d)), np.zeros(k))


@dataclass(kw_only=True)
class LinearState(RunState):
    """The weights and counters of a run."""

    w: Floats
    """Of shape (m, d), in C order, or in Fortran order while rows are sparse (`kernels.multiclass`)."""
    u: Floats
    b: Floats
    beta: Floats
    """With ``u`` what Algorithm 7 of CIML caches for the average."""
    rule: Rule = _PERCEPTRON
    decay: float = 0.0
    """How much the average forgets with each visit."""
    s: Floats | None = None
    """The variance of each weight, where the rule keeps them, laid out as ``w`` is ..."""
    s_b: Floats | None = None
    """... and of each bias."""
    fit_intercept: bool = True
    pocket: Pocket | None = None
    log: UpdateLog | None = None
    """Every update, where votes are wanted."""
    room: tuple[Floats, ...] | None = field(default=None, repr=False, compare=False)
    """Larger arrays that the weights may be the beginnings of, so that features can be added one by one."""

    @classmethod
    def zeros(
        cls,
        n_classes: int,
        d: int,
        *,
        direct: bool,
        fit_intercept: bool,
        hypothesis: str = "last",
        seed: int = 0,
        rule: Rule = _PERCEPTRON,
        decay: float = 0.0,
    ) -> LinearState:
        """Return a state that has seen nothing, for ``n_classes`` classes and ``d`` features."""
        k = n_classes if n_classes > 2 else 1
        with _memory_for(k, d):
            w, u = np.zeros((k, d)), np.zeros((k, d))
            s = np.ones((k, d)) if isinstance(rule, ArowRule) else None
        state = cls(
            w=w,
            u=u,
            b=np.zeros(k),
            beta=np.zeros(k),
            rule=rule,
            decay=decay,
            s=s,
            s_b=None if s is None else np.ones(k),
            fit_intercept=bool(fit_intercept),
            seed=seed,
            **new_counters(n_classes, direct),
        )
        if hypothesis == "pocket":
            state.pocket = Pocket.empty(k, d, len(state.counters))
        if hypothesis == "vote":
            state.log = UpdateLog.empty(len(state.counters), n_classes if state.direct else 0)
        return state

    def start_from(self, w: Floats, b: Floats) -> None:
        """Begin with weights of shape (m, d) and biases instead of zero; nothing must have been visited yet.

        They vote and may go to the pocket as those after an update do. The counters take a little more than their
        squared length: all that a run proves rests on it.
        """
        self.w, self.b = w.copy(order="C"), b.copy()
        long = np.column_stack([w, b]).reshape(len(self.counters), -1)
        squares = np.einsum("ij,ij->i", long, long) * (1.0 + 8.0 * (long.shape[1] + 8.0) * HALF_ULP)
        self.counters["start2"] = self.counters["excess2"] = np.where(long.any(axis=1), squares + _LEAST_START2, 0.0)
        if self.pocket is not None:
            self.pocket = Pocket(w.copy(), b.copy(), self.pocket.mistakes, w.copy(), b.copy())
        if self.log is not None and long.any():
            self.log.start = w.copy(), b.copy()

    @property
    def n_features(self) -> int:
        """Number of columns of the weights."""
        return self.w.shape[1]

    @property
    def n_scores(self) -> int:
        """Number of weight vectors."""
        return len(self.w)

    @property
    def updates_right_rows(self) -> bool:
        """Whether rows that are right may make an update, too."""
        return not isinstance(self.rule, PerceptronRule)

    def weight_arrays(self) -> list[Floats]:
        """Return the arrays that have a number for each weight of a class: weights, their cache, their variances."""
        return [self.w, self.u] if self.s is None else [self.w, self.u, self.s]

    def set_weight_arrays(self, arrays: Sequence[Floats]) -> None:
        """Replace the arrays that `weight_arrays` returns."""
        self.w, self.u = arrays[:2]
        if self.s is not None:
            self.s = arrays[2]

    def average(self) -> tuple[Floats, Floats]:
        """Return the mean of the weights after each visit, and of the biases.

        CIML's algorithm 7 with its counter started at 0 instead of 1: the zero vector that precedes the first
        visit is not part of the mean. (Either way every sign is the same.)
        """
        visits = np.maximum(self.visits, 1.0)
        if self.decay == 0.0:
            return self.w - self.u / visits[:, None], self.b - self.beta / visits
        epochs = np.broadcast_to(self.counters["epoch"], self.n_scores)
        shares = [share_of_late(self.decay, *both) for both in zip(visits.tolist(), epochs.tolist(), strict=True)]
        share = np.array(shares)
        return self.w - self.u * share[:, None], self.b - self.beta * share

    def check_finite(self) -> None:
        """Raise a ValueError if weights have outgrown the floats; look only where they may have."""
        counters = self.counters
        if isinstance(self.rule, PassiveAggressiveRule | ArowRule) and not np.isfinite(counters["radius2"]).all():
            raise ValueError(
                "the squared lengths of some rows are beyond the range of floats, and steps are measured by them: "
                "scale the features, for instance with sklearn.preprocessing.MaxAbsScaler."
            )
        with np.errstate(over="ignore"):
            steps = self.radius * np.sqrt(counters["step_square_sum"].max()) + np.sqrt(counters["excess2"].max())
            longest = steps * (counters["visits"].max() + 1.0)
        if longest < 1e300:
            return
        if not (np.isfinite(self.radius) and np.isfinite(self.w).all() and np.isfinite(self.u).all()):
            advice = "scale the features, for instance with sklearn.preprocessing.MaxAbsScaler"
            if isinstance(self.rule, PassiveAggressiveRule):
                advice = "give a smaller C or smaller weights of rows, fit_intercept=False, or longer rows"
            raise ValueError(f"the weights have grown beyond the range of floats: {advice}, and train from the start.")

    def widen(self, d: int) -> None:
        """Add features up to ``d``: weights of 0, as if they had been there all along."""
        more = d - self.n_features
        if more > 0:
            with _memory_for(len(self.w), d):
                parts, arrays = self.room, self.weight_arrays()
                if (
                    parts is None
                    or d > parts[0].shape[1]
                    or any(array.base is not part for array, part in zip(arrays, parts, strict=True))
                ):
                    parts = self.room = tuple(_room_for(array, d, 1.0 if array is self.s else 0.0) for array in arrays)
            self.set_weight_arrays([part[:, :d] for part in parts])
            self.feature_ranges = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but room for more features."""
        return self.__dict__ | {"room": None}

    def set_layout(self, order: Literal["C", "F"]) -> None:
        """Lay the weights out in C or Fortran order; a single vector is both."""
        if self.w.flags.f_contiguous if order == "F" else self.w.flags.c_contiguous:
            return
        new = not (self.counters["updates"].any() or self.counters["start2"].any())
        arrays = [
            np.zeros(weights.shape, order=order) if new else np.asarray(weights, order=order)
            for weights in (self.w, self.u)
        ]
        self.set_weight_arrays([*arrays, *([] if self.s is None else [np.asarray(self.s, order=order)])])
        if self.pocket is not None:
            self.pocket.candidate_w = np.asarray(self.pocket.candidate_w, order=order)

    @property
    def is_side_by_side(self) -> bool:
        """Whether all that belongs to a feature lies together, as `set_side_by_side` lays it."""
        first, *others = self.weight_arrays()
        return first.base is not None and all(array.base is first.base for array in others)

    def set_side_by_side(self) -> None:
        """Lay weights, their cache and their variances out together for each feature: one cache line has all."""
        if not self.is_side_by_side:
            together = np.stack([array.T for array in self.weight_arrays()], axis=1)
            self.set_weight_arrays([together[:, place].T for place in range(together.shape[1])])

    def snapshot(self) -> LinearState:
        """Return a copy that further training leaves alone."""
        other = super().snapshot()
        other.set_weight_arrays([array.copy(order="K") for array in self.weight_arrays()])
        other.b, other.beta, other.s_b = self.b.copy(), self.beta.copy(), None if self.s_b is None else self.s_b.copy()
        if self.pocket is not None:
            other.pocket = Pocket(**{name: array.copy(order="K") for name, array in vars(self.pocket).items()})
        if self.log is not None:
            other.log = self.log.snapshot()
        return other

    def _for_classes(self, n_classes: int, direct: bool) -> LinearState:
        new = LinearState.zeros(
            n_classes,
            self.n_features,
            direct=direct,
            fit_intercept=self.fit_intercept,
            rule=self.rule,
            decay=self.decay,
        )
        if self.log is not None:
            new.log = self.log.with_classifiers(len(new.counters), n_classes if new.direct else 0)
        if self.pocket is not None:
            new.pocket = Pocket.empty(len(new.w), new.n_features, len(new.counters))
        return new

    def _take_classifier(
        self, target: int, old: LinearState, source: int, sign: int, places: NDArray[np.int64]
    ) -> None:
        for name in ("w", "u", "b", "beta"):
            getattr(self, name)[target] = _mirrored(getattr(old, name)[source], sign)
        if self.s is not None and self.s_b is not None and old.s is not None and old.s_b is not None:
            self.s[target], self.s_b[target] = old.s[source], old.s_b[source]
        if not self.direct and self.log is not None and old.log is not None:
            self.log.chunks[target] = mirrored_updates(old.log.stored(source), sign)
        if self.log is not None and old.log is not None and old.log.start is not None:
            if self.log.start is None:
                self.log.start = np.zeros((self.n_scores, old.log.start[0].shape[1])), np.zeros(self.n_scores)
            for start, before in zip(self.log.start, old.log.start, strict=True):
                start[target] = _mirrored(before[source], sign)

    def _take_updates_of_all(self, old: LinearState, places: NDArray[np.int64]) -> None:
        if self.log is not None and old.log is not None:
            self.log.chunks[0] = competing_updates(old.log.stored(0), places, bool(old.log.n_classes))


@contextmanager
def _memory_for(k: int, d: int) -> Iterator[None]:
    """Say what the memory would have been for, where there is not enough."""
    try:
        yield
    except MemoryError:
        what = f"the weights of {d:,} features{f' for {k:,} classes' if k > 1 else ''} take {16 * k * d / 1e9:,.1f} GB"
        raise MemoryError(f"{what}, more than there is: use fewer features, or hash them to fewer columns.") from None


def _room_for(weights: Floats, d: int, fill: float) -> Floats:
    """Return an array that begins with these weights and has columns of ``fill`` up to ``d`` and half as many again.

    Memory for columns of 0 is taken only when they are used; columns that come one by one are copied a few times.
    """
    k, known = weights.shape
    shape = k, d + d // 2 if known else d
    room = np.zeros(shape, order="F") if fill == 0.0 else np.full(shape, fill, order="F")
    room[:, :known] = weights
    return room


def _mirrored(values: Floats, sign: int) -> Floats:
    """Return ``sign * values`` without negative zeros, which a run from zero never makes."""
    return values if sign > 0 else 0.0 - values
