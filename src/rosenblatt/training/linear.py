"""The state of a linear learner, its compiled passes over batches, and its observers.

The observers keep votes, the pocket and proofs of inseparability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.kernels.exact import LONG_LIMBS
from rosenblatt.kernels.passes import direct_passes, one_vs_rest_passes
from rosenblatt.kernels.rules import (
    ArowRule,
    Candidate,
    Examples,
    Log,
    MarginRule,
    Passes,
    PassiveAggressiveRule,
    PerceptronRule,
    Rule,
    Visits,
    Weights,
    average_share,
)
from rosenblatt.messages import shorten
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.batches import Batch
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import RunOptions, draw_seed
from rosenblatt.training.predict import activations, best_classes, predicted, rounded_activations, votes
from rosenblatt.training.rows import (
    CACHE_BYTES,
    SLICE_BYTES,
    Matrix,
    RowMatrix,
    VectorLike,
    as_rows,
    check_finite,
    check_width,
)
from rosenblatt.training.state import (
    TINY,
    Outcome,
    RunState,
    UpdateLog,
    Updates,
    attained_margin,
    competing_updates,
    first_digits,
    mirrored_updates,
    new_counters,
)

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun

Floats = NDArray[np.float64]
_PERCEPTRON = PerceptronRule()
_FAR_FROM_OVERFLOW = 1e270
"""If a bound on ``|w|``, times the number of visited rows, is below this, nothing has overflowed.

This also holds with decay, which multiplies weights by at most 1e17.
"""
_LEAST_START2 = 1e-290
"""An upper bound on the error of a sum of squares by underflow."""


@dataclass
class Pocket:
    """The weights with the fewest training mistakes so far (Gallant 1990), and the candidate weights of this pass."""

    w: Floats
    b: Floats
    mistakes: Floats
    """The number of training rows that the weights ``w`` and biases ``b`` misclassify, weighted; infinite at first."""
    candidate_w: Floats
    """The weights that stayed unchanged for the most visited rows in the pass in progress."""
    candidate_b: Floats
    """The biases that belong to ``candidate_w``."""

    @classmethod
    def empty(cls, k: int, d: int, judged: int) -> Pocket:
        """Return a pocket for ``k`` weight vectors of ``d`` features.

        ``judged`` is the number of records of counters: 1 if classes compete directly, else ``k``.
        """
        worst = np.full(judged, np.inf)
        return cls(np.zeros((k, d)), np.zeros(k), worst, np.zeros((k, d)), np.zeros(k))


@dataclass(kw_only=True)
class LinearState(RunState):
    """The state of a linear learner: weights, biases and counters."""

    w: Floats
    """The weights of m classifiers for d features, of shape (m, d).

    They are in C order, but in Fortran order during training on sparse rows (`kernels.row_ops`).
    """
    u: Floats
    b: Floats
    beta: Floats
    """``u`` and ``beta`` are the cached weights and biases of CIML's algorithm 7, from which averages are computed."""
    rule: Rule = _PERCEPTRON
    decay: float = 0.0
    """The share by which each visited row reduces the influence of all earlier weights on the average.

    With 0, the average is the plain mean over all visits.
    """
    s: Floats | None = None
    """The variance of each weight, laid out like ``w``; None if the update rule has no variances."""
    s_b: Floats | None = None
    """The variance of each bias; None if the update rule has no variances."""
    fit_intercept: bool = True
    pocket: Pocket | None = None
    log: UpdateLog | None = None
    """All updates with their rows; None unless the hypothesis is "vote"."""
    threshold: float | None = None
    """With two classes, the second class is predicted if the activation is above this number. None means 0.

    Predictions subtract the threshold from the bias. Training and margins ignore the threshold.
    """
    buffers: tuple[Floats, ...] | None = field(default=None, repr=False, compare=False)
    """Arrays with spare columns, which make adding a feature cheap. Their first columns are the weights."""

    @classmethod
    def initial(cls, options: RunOptions, n_classes: int, d: int) -> Self:
        """Return a state with zero weights for a learner with the given options."""
        return cls.zeros(
            n_classes,
            d,
            direct=options.direct,
            fit_intercept=options.fit_intercept,
            hypothesis=options.hypothesis,
            seed=draw_seed(options.random_state),
            rule=options.rule,
            decay=float(options.decay),
        )

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
    ) -> Self:
        """Return an untrained state for ``n_classes`` classes and ``d`` features."""
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
        """Set the initial weights, of shape (m, d), and biases; call this before the first pass.

        The initial weights vote and compete for the pocket like weights after an update. An upper bound on their
        squared norm is stored in the counters, since all bounds of the run depend on this norm.
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
        """The number of features, which is the number of columns of the weights."""
        return self.w.shape[1]

    @property
    def n_scores(self) -> int:
        """The number of weight vectors."""
        return len(self.w)

    @property
    def updates_right_rows(self) -> bool:
        """Whether correctly classified rows may also trigger an update."""
        return not isinstance(self.rule, PerceptronRule)

    @property
    def decays(self) -> tuple[float, ...]:
        """The decay in a tuple, which is empty without decay, as ``average_weight`` takes it."""
        return (self.decay,) if self.decay else ()

    @property
    def r(self) -> float | None:
        """The regularization parameter of AROW; None for other rules."""
        return self.rule.r if isinstance(self.rule, ArowRule) else None

    def weight_arrays(self) -> list[Floats]:
        """Return the arrays of shape (m, d): the weights, the cached weights, and the variances if there are any."""
        return [self.w, self.u] if self.s is None else [self.w, self.u, self.s]

    def set_weight_arrays(self, arrays: Sequence[Floats]) -> None:
        """Replace the weights, the cached weights, and the variances if there are any, by ``arrays``, in this order."""
        self.w, self.u = arrays[:2]
        if self.s is not None:
            self.s = arrays[2]

    def average(self) -> tuple[Floats, Floats]:
        """Return the averages ``(w, b)`` of the weights and biases, taken after each visited row.

        This is CIML's algorithm 7, but its counter starts at 0 instead of 1. So the zero vector before the first row is
        not part of the mean. (Predictions are the same either way.)
        """
        visits = np.maximum(self.visits, 1.0)
        if self.decay == 0.0:
            return self.w - self.u / visits[:, None], self.b - self.beta / visits
        epochs = np.broadcast_to(self.counters["epoch"], self.n_scores)
        shares = [average_share(self.decay, *both) for both in zip(visits.tolist(), epochs.tolist(), strict=True)]
        share = np.array(shares)
        return self.w - self.u * share[:, None], self.b - self.beta * share

    # predictions

    def keeps(self, hypothesis: str) -> bool:
        """Return whether the state can predict with a hypothesis: "last", "average", "pocket" or "vote"."""
        if hypothesis == "pocket":
            return self.pocket is not None
        return hypothesis != "vote" or self.log is not None

    def weights(self, hypothesis: str) -> tuple[Floats, Floats]:
        """Return the weights and biases with which the hypothesis "last", "average" or "pocket" predicts."""
        self.check_keeps(hypothesis)
        w, b = self.w, self.b
        if hypothesis == "average":
            w, b = self.average()
        elif hypothesis == "pocket" and self.pocket is not None:
            w, b = self.pocket.w, self.pocket.b
        return w, b if self.threshold is None else b - self.threshold

    def scores(self, hypothesis: str, rows: RowMatrix) -> Floats:
        """Return the activation of each row for each weight vector; for "vote", the share of the votes."""
        self.check_keeps(hypothesis)
        if hypothesis == "vote" and self.log is not None:
            return votes(self, self.log, rows)
        return activations(rows, *self.weights(hypothesis))

    def rounded_scores(self, hypothesis: str, rows: RowMatrix) -> Floats:
        """Return the activations of rows, computed exactly and rounded once; for "vote", the share of the votes."""
        if hypothesis == "vote":
            return self.scores(hypothesis, rows)
        return rounded_activations(rows, *self.weights(hypothesis))

    def predict(self, hypothesis: str, X: Matrix) -> NDArray[np.int64]:
        """Return the class number of each row, as `decide` does; raise NotFinite for rows with NaN or infinity."""
        if hypothesis == "vote":
            return super().predict(hypothesis, X)
        return predicted(as_rows(X, "given" if X.dtype == np.float64 else "distinct"), *self.weights(hypothesis))

    def _largest_scores(self, hypothesis: str, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        return best_classes(rows, *self.weights(hypothesis))

    def decide_one(self, hypothesis: str, row: sp.csr_array) -> int:
        """Return the class number of a sparse row, in time proportional to its stored entries."""
        if hypothesis == "vote":
            return super().decide_one(hypothesis, row)
        kept = self.with_columns(row.indices)
        return int(kept.decide(hypothesis, as_rows(row.data[None].astype(np.float64)))[0][0])

    def with_columns(self, columns: NDArray[np.integer]) -> LinearState:
        """Return a state for prediction that has only the weights of some columns."""
        kept = replace(self, w=np.ascontiguousarray(self.w[:, columns]), u=np.ascontiguousarray(self.u[:, columns]))
        if kept.pocket is not None:
            kept.pocket = replace(kept.pocket, w=np.ascontiguousarray(kept.pocket.w[:, columns]))
        return kept

    def margins(self, k: int) -> tuple[float, float, float]:
        """Return a lower and an upper bound on the margin of classifier ``k``, and an upper bound on its updates.

        If a bound is not known, it is infinity, or minus infinity for the lower bound. The upper bound on the margin is
        known for all rules but AROW, because their weights are the initial weights plus multiples of examples. The
        bound on updates is known for the perceptron and the margin perceptron. They make an update only if ``y a`` is
        at most the threshold, and their step does not depend on the activation a.
        """
        w, b = (self.w.ravel(), self.b) if len(self.counters) == 1 else (self.w[k], self.b[k : k + 1])
        counters = self.counters[k]
        kesler = 2.0 if self.direct else 1.0  # an update moves two classes (Kesler): by (x, -x)
        radius, steps = self.radius, math.sqrt(float(counters["step_square_sum"]))
        slack = 1.0 + 8.0 * (w.size + 8) * HALF_ULP  # covers the rounding of sums over the weights
        length = math.hypot(_length(w), _length(b)) * slack
        low, bound, high = -math.inf, math.inf, math.inf
        start = math.sqrt(float(counters["start2"])) * slack
        if counters["step_sum"] > 0 and not isinstance(self.rule, ArowRule):
            # A unit separator u of margin g has u.w >= u.w0 + g sum(steps), and |u.w| <= |w|. So
            # g <= (|w| + |w0|) / sum(steps). ``drift`` bounds the rounding of the updates.
            drift = 4.0 * HALF_ULP * float(counters["updates"]) * radius * math.sqrt(kesler) * steps
            drift += 4.0 * HALF_ULP * float(counters["updates"]) * math.sqrt(float(counters["excess2"]))
            if self.mixed_shards:  # averaging over shards rounds, too, and a shard's weights may have a larger norm
                drift *= 4.0 * (1.0 + math.sqrt(self.mixed_shards))
            high = (length + start + drift) / float(counters["step_sum"]) * slack
            if start > 0.0:
                high = min(high, math.sqrt(kesler) * radius * slack)  # no margin exceeds the norm of an example
        if self.done[k] and counters["lowest"] > TINY and counters["lowest_step"] > TINY:
            # An activation is used as computed only if it exceeds twice its rounding bound, so at least half of it is
            # certain. Usually the bound is much smaller, and all of the activation but the bound is certain.
            longest = radius * steps + math.sqrt(float(counters["excess2"]))
            rounding = kesler * 1.01 * (w.size + 4) * HALF_ULP * radius * longest
            proved = max(0.5, 1.0 - rounding / first_digits(counters["lowest"])) / slack
            low, bound = attained_margin(counters, length, kesler, proved, self.rule.threshold, start)
            if not isinstance(self.rule, PerceptronRule | MarginRule):
                bound = math.inf
        elif self.done[k]:
            low = 0.0  # positive, but too small to be distinguished from zero
        return low, high, bound

    def reordered(self, columns: NDArray[np.integer]) -> LinearState:
        """Return a copy whose columns are ``columns`` of this state; there must be neither votes nor a pocket."""
        other = self.snapshot()
        other.set_weight_arrays([np.ascontiguousarray(array[:, columns]) for array in self.weight_arrays()])
        other.feature_ranges = other.buffers = None
        return other

    # training

    def runner(self, threads: int = 1) -> PassRunner:
        """Return the runner that trains this state by compiled passes."""
        return PassRunner(threads)

    def observers(self) -> list[Observer]:
        """Return the observer for proofs of inseparability, and those for votes and the pocket if they are kept."""
        votes_kept = [] if self.log is None else [VoteRecorder()]
        return [InseparabilityProof(), *votes_kept, *([] if self.pocket is None else [PocketKeeper()])]

    def finish(self) -> None:
        """Convert the weights to C order, and drop the spare columns."""
        self.set_layout("C")
        self.buffers = None

    def check_finite(self) -> None:
        """Raise a ValueError if weights, averages or variances have overflowed.

        For rules that divide a step by the squared norm of its row, these squared norms are checked, too. The arrays
        are examined only if a bound on their entries, which is quick to compute, is very large.
        """
        counters = self.counters
        if isinstance(self.rule, PassiveAggressiveRule | ArowRule) and not np.isfinite(counters["radius2"]).all():
            raise ValueError(
                "the squared norms of some rows, by which steps are divided, overflow float64: "
                "scale the features, for instance with sklearn.preprocessing.MaxAbsScaler."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            steps = self.radius * np.sqrt(counters["step_square_sum"].max()) + np.sqrt(counters["excess2"].max())
            longest = steps * (counters["visits"].max() + 1.0)
            if longest < _FAR_FROM_OVERFLOW:
                return
            average_w, average_b = self.average()
        # The sum of steps is among them because a row of zeros multiplies its step by 0: NaN if an infinite step is
        # added to dense weights, and nothing if the row is sparse.
        arrays = self.w, self.u, self.b, self.beta, average_w, average_b, counters["step_sum"], self.s, self.s_b
        if not all(np.isfinite(array).all() for array in (self.radius, *arrays) if array is not None):
            advice = "scale the features, for instance with sklearn.preprocessing.MaxAbsScaler, or weight rows less"
            if isinstance(self.rule, PassiveAggressiveRule):
                advice = "give a smaller C or smaller sample weights, fit_intercept=False, or longer rows"
            raise ValueError(f"the weights have overflowed float64: {advice}, and train from the start.")

    def widen(self, d: int) -> None:
        """Widen the state to ``d`` features. The weights of the new features are 0."""
        more = d - self.n_features
        if more > 0:
            with _memory_for(len(self.w), d):
                parts, arrays = self.buffers, self.weight_arrays()
                if (
                    parts is None
                    or d > parts[0].shape[1]
                    or any(array.base is not part for array, part in zip(arrays, parts, strict=True))
                ):
                    parts = tuple(_with_capacity(array, d, 1.0 if array is self.s else 0.0) for array in arrays)
                    self.buffers = parts
            self.set_weight_arrays([part[:, :d] for part in parts])
            self.feature_ranges = None

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes to pickle, without the buffers."""
        return self.__dict__ | {"buffers": None}

    def set_layout(self, order: Literal["C", "F"]) -> None:
        """Convert the weights to C or Fortran order. A single weight vector has both orders and is not changed."""
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
    def is_interleaved(self) -> bool:
        """Whether the weight arrays are interleaved in memory; see `interleave`."""
        first, *others = self.weight_arrays()
        return first.base is not None and all(array.base is first.base for array in others)

    def interleave(self) -> None:
        """Interleave weights, cached weights and variances in memory, so that one feature's numbers are contiguous.

        The numbers of a single classifier are stored as quads (`kernels.row_ops`).
        """
        if self.is_interleaved:
            return
        if len(self.w) == 1:
            buffer = np.zeros(4 * self.n_features + 8)
            start = -(buffer.ctypes.data // 8) % 8  # a quad in two cache lines would be slower
            quads = buffer[start : start + 4 * self.n_features].reshape(-1, 4).T
            for part, array in zip((0, 2, 1), self.weight_arrays(), strict=True):
                quads[part] = array[0]
            self.set_weight_arrays([quads[part : part + 1] for part in (0, 2, 1)])
        else:
            together = np.stack([array.T for array in self.weight_arrays()], axis=1)
            self.set_weight_arrays([together[:, place].T for place in range(together.shape[1])])

    @property
    def quads(self) -> Floats | None:
        """The numbers of a single classifier in quads, as a flat array; None if they are not stored like that."""
        steps = [array.ctypes.data - self.w.ctypes.data for array in self.weight_arrays()]
        if len(self.w) > 1 or self.w.base is None or not self.is_interleaved or steps != [0, 16, 8]:
            return None
        if any(array.strides[1] != 32 for array in self.weight_arrays()):
            return None
        start = (self.w.ctypes.data - self.w.base.ctypes.data) // 8
        return cast(Floats, self.w.base[start : start + 4 * self.n_features])

    def snapshot(self) -> LinearState:
        """Return a copy that further training does not change."""
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


def _length(v: np.ndarray) -> float:
    """Return the Euclidean norm of ``v`` without intermediate overflow or underflow."""
    largest = float(np.max(np.abs(v), initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(v / largest))


@contextmanager
def _memory_for(k: int, d: int) -> Iterator[None]:
    """Replace a MemoryError by one whose message has the size of the weights of ``k`` classes and ``d`` features."""
    try:
        yield
    except MemoryError:
        what = f"the weights of {d:,} features{f' for {k:,} classes' if k > 1 else ''} take {16 * k * d / 1e9:,.1f} GB"
        raise MemoryError(
            f"{what}, more than is available: use fewer features, or hash them to fewer columns."
        ) from None


def _with_capacity(weights: Floats, d: int, fill: float) -> Floats:
    """Return an array with 1.5 ``d`` columns: first the columns of ``weights``, then columns filled with ``fill``.

    If ``weights`` has no columns yet, the array has exactly ``d`` columns. Growing by a factor makes the amortised cost
    of a new column constant. The operating system allocates columns of zeros only when they are used.
    """
    k, known = weights.shape
    shape = k, d + d // 2 if known else d
    buffer = np.zeros(shape, order="F") if fill == 0.0 else np.full(shape, fill, order="F")
    buffer[:, :known] = weights
    return buffer


def _mirrored(values: Floats, sign: int) -> Floats:
    """Return ``sign * values``, but 0.0 instead of -0.0, since training from zero gives no negative zeros."""
    return values if sign > 0 else 0.0 - values


# Visits of a batch by the compiled passes, with slices, threads and the log of updates.


SPARSE_BLOCK = 8
"""The number of sparse rows in a block. Each one-vs-rest classifier visits the block before the next block is read.

The activations of a block are computed together, but an update makes those of its classifier outdated. The classifier
then computes its activations row by row until the end of the block. So the block should be small.
"""
FEWEST_NUMBERS = 400_000
"""How many numbers all classifiers together must read in a pass for a second thread to be used.

With fewer, starting a thread for each pass takes longer than it saves, and several passes in one call save more.
"""
FEWEST_VALUES = 4
"""For sparse rows, the smallest number of stored values per column at which a second thread is used.

Each thread trains a copy of its classifiers' weights. With fewer values, making the copies takes longer than is saved.
"""


NUMBERS_AT_ONCE = 20_000_000
"""How many numbers one call that makes several passes may read, over all these passes. This takes about 50 ms."""
NUMBERS_INTERPRETED = 20_000
"""How many numbers such a call may read if passes are interpreted Python instead of compiled code."""
_NONE = np.zeros((0, 0), np.int64)
_PART_OF_A_PASS = Passes(0, False, np.uint64(0), np.uint64(0), _NONE.ravel(), _NONE, _NONE)


class PassRunner:
    """The `Runner` of linear learners, which trains by compiled passes over batches.

    Rows are visited in slices, and interrupts are handled between two slices. The updates made until then are kept.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def visit(
        self,
        state: LinearState,
        batch: Batch,
        order: NDArray[np.uint32],
        active: NDArray[np.int64],
        *,
        shuffled: bool,
        first: bool,
        on_slice: Callable[[int], bool],
        on_updates: Callable[[list[Updates]], None] | None,
        on_margins: Callable[[list[Floats]], None] | None = None,
        visited: int = 0,
    ) -> None:
        """Train the classifiers ``active`` on the rows ``order`` of a batch; see `Runner.visit`."""
        rows = batch.rows
        check_width(rows, state.n_features)
        _set_layout(state, rows)
        log = _log(state, len(order) if on_updates is not None or on_margins is not None else 0)
        rule = _rule(state, wants_margins=on_margins is not None)
        groups = _groups(state, rows, active, log, self.threads)
        slice_rows = max(1024, SLICE_BYTES // rows.row_bytes)
        try:
            for start in range(visited, len(order), slice_rows):
                stop = min(start + slice_rows, len(order))
                visits = Visits(order, start, stop, rows.ahead if shuffled else 0, 0, first)
                self._visit_slice(state, batch, visits, groups, rule)
                if first and not np.isfinite(state.counters["radius2"]).all():
                    check_finite(batch.rows.matrix)  # squares may overflow although all numbers are finite
                if on_slice(stop) or state.at_limit[active].all():
                    break
        finally:
            _join(state, groups)
            if on_updates is not None:
                on_updates(_updates(state, batch, log))
            if on_margins is not None:
                on_margins([log.margins[k, : log.counts[k]] for k in range(len(state.counters))])
        if first:
            _measure(state, batch, order)

    def passes_at_once(self, state: LinearState, batch: Batch, active: NDArray[np.int64]) -> int:
        """Return how many passes one call may make, so that an interrupt is handled without a noticeable delay."""
        run = direct_passes if state.direct else one_vs_rest_passes
        numbers = (batch.rows.parts[0].size + 8 * batch.rows.n) * (len(state.w) if state.direct else len(active))
        if _useful_threads(state, batch.rows, active, self.threads) > 1:
            return 0
        return (NUMBERS_INTERPRETED if run.compiled is None else NUMBERS_AT_ONCE) // numbers

    def repeat(
        self,
        state: LinearState,
        batch: Batch,
        order: NDArray[np.uint32],
        active: NDArray[np.int64],
        most: int,
        *,
        shuffled: bool,
        own_orders: bool,
        wants_margins: bool = False,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[list[Floats]]]:
        """Make up to ``most`` passes over a batch, until a classifier makes a pass without a mistake or update.

        All rows of the batch have been visited before. With ``own_orders`` each pass is shuffled anew, and ``order`` is
        overwritten. Return the numbers of mistakes and of updates. Both arrays have a row for each pass made, and a
        column for each of the classifiers ``active``. With ``wants_margins``, also return, for each pass, the margins
        of each classifier's updates, as `visit` passes them to ``on_margins``.
        """
        _set_layout(state, batch.rows)
        seed, number = np.uint64(state.seed % 2**64), np.uint64(state.passes)
        mistakes, updates = np.empty((2, most, len(active)), np.int64)
        passes = Passes(most, own_orders, seed, number, active, mistakes, updates)
        log = _log(state, most * len(order) if wants_margins else 0)
        (group,) = _groups(state, batch.rows, active, log, 1)
        visits = Visits(order, 0, len(order), batch.rows.ahead if shuffled else 0, 0, False)
        made = self._visit_slice(state, batch, visits, [group], _rule(state, wants_margins), passes)
        mistakes, updates = mistakes[:made], updates[:made]
        margins = _margins_by_pass(log, active, updates, len(state.counters)) if wants_margins else []
        return mistakes, updates, margins

    def _visit_slice(
        self,
        state: LinearState,
        batch: Batch,
        visits: Visits,
        groups: list[Group],
        rule: Rule,
        passes: Passes = _PART_OF_A_PASS,
    ) -> int:
        """Visit a slice of the rows, with a thread for each group of classifiers; return the number of passes."""
        rows, several = batch.rows, len(state.w) > 1
        examples = Examples(rows.parts, batch.labels, batch.steps, float(state.fit_intercept), rows.terms)
        block = SPARSE_BLOCK if rows.is_sparse else max(1, CACHE_BYTES // rows.row_bytes)
        visits = visits._replace(block=block if several else max(1, visits.stop - visits.start))

        def visit(group: Group) -> int:
            return self.visit_group(state, batch, examples, visits, group, rule, passes)

        if len(groups) == 1:
            return visit(groups[0])
        with interrupts_deferred(), ThreadPoolExecutor(len(groups) - 1) as pool:
            others = [pool.submit(visit, group) for group in groups[1:]]
            visit(groups[0])
            for other in others:
                other.result()
        return 0

    def visit_group(
        self,
        state: LinearState,
        batch: Batch,
        examples: Examples,
        visits: Visits,
        group: Group,
        rule: Rule,
        passes: Passes,
    ) -> int:
        """Train a group of classifiers on rows by compiled code; return the number of passes."""
        arguments = examples, visits, passes, group.weights, group.active
        run = direct_passes if state.direct else one_vs_rest_passes
        return int(run(*arguments, scratch_scores(state, visits, group), group.log, group.candidate, rule))


def scratch_scores(state: LinearState, visits: Visits, group: Group) -> Floats | None:
    """Return the scratch space of a pass for scores; None for a single classifier."""
    if state.direct:
        return np.empty(len(state.w))
    return np.empty((visits.block, len(group.weights.b))) if len(state.w) > 1 else None


def _rule(state: LinearState, wants_margins: bool) -> Rule:
    """Return the rule for passes over rows; if ``wants_margins``, one that computes activations and not only signs."""
    # With a margin of 0 the updates are those of the perceptron's rule.
    return MarginRule(0.0) if wants_margins and state.rule == _PERCEPTRON else state.rule


def _set_layout(state: LinearState, rows: RowMatrix) -> None:
    """Convert the weights to the memory layout that is fastest for these rows.

    A sparse row has few features, but for each of these features the weights of all classes are read. So the weights of
    all classes for a feature are stored together.
    """
    if rows.is_sparse and state.s is not None and len(rows.parts[0]) >= state.w.shape[1]:
        state.interleave()
    elif not (rows.is_sparse and state.s is not None and state.is_interleaved):
        state.set_layout("F" if rows.is_sparse and len(state.w) > 1 else "C")


class Group(NamedTuple):
    """The classifiers that one thread trains, and all arrays that the training changes."""

    active: NDArray[np.int64]
    """The indices of these classifiers in ``weights``."""
    weights: Weights
    log: Log
    candidate: Candidate
    copied: slice | None = None
    """The classes whose weights were copied for this thread, to avoid false sharing; None if nothing was copied."""


def _useful_threads(state: LinearState, rows: RowMatrix, active: NDArray[np.int64], threads: int) -> int:
    """Return how many of the threads save time."""
    values = rows.parts[0].size
    few = values * len(active) < FEWEST_NUMBERS or (rows.is_sparse and values < FEWEST_VALUES * state.w.shape[1])
    return 1 if state.direct or few else max(1, min(threads, len(active)))


def _groups(state: LinearState, rows: RowMatrix, active: NDArray[np.int64], log: Log, threads: int) -> list[Group]:
    """Divide the classifiers ``active`` into groups, one for each thread, for at most ``threads`` threads."""
    sparse, b, counters = rows.is_sparse, state.b, state.counters
    threads = _useful_threads(state, rows, active, threads)
    w: Any = state.w
    u: Any = state.u
    candidate = Candidate(np.empty((1, 0)), np.empty(0))
    s: Any = np.empty((0, len(w)) if sparse else (0, 0)) if state.s is None else state.s.T if sparse else state.s
    s_b = np.empty(0) if state.s_b is None else state.s_b
    if state.pocket is not None:
        candidate = Candidate(state.pocket.candidate_w, state.pocket.candidate_b)
    if sparse:
        w, u, candidate = w.T, u.T, candidate._replace(w=candidate.w.T)
        if len(b) == 1:
            w, u, s, candidate = w[:, 0], u[:, 0], s[:, 0], candidate._replace(w=candidate.w[:, 0])
            quads = state.quads
            if quads is not None:
                w, s, u = ((quads, np.uint64(part)) for part in range(3))
    members = [np.arange(len(state.w))] if state.direct else np.array_split(active, threads)
    if not sparse or threads == 1:
        return [
            Group(group, Weights(w, u, b, state.beta, s, s_b, state.decays, counters, _total()), log, candidate)
            for group in members
        ]
    groups = []
    for group in members:
        part = slice(int(group[0]), int(group[-1]) + 1)
        own_w, own_u, own_s, own = (np.ascontiguousarray(array[:, part]) for array in (w, u, s, candidate.w))
        if state.s is not None:
            together = np.stack([own_w, own_u, own_s], axis=1)
            own_w, own_u, own_s = together[:, 0], together[:, 1], together[:, 2]
        weights = Weights(
            own_w, own_u, b[part], state.beta[part], own_s, s_b[part], state.decays, counters[part], _total()
        )
        lines = Log(log.rows[part], log.visits[part], log.steps[part], log.margins[part], log.counts[part])
        groups.append(Group(group - part.start, weights, lines, Candidate(own, candidate.b[part]), part))
    return groups


def _join(state: LinearState, groups: list[Group]) -> None:
    """Write the weights that were copied for the groups back to the state."""
    for group in groups:
        if group.copied is not None:
            state.w.T[:, group.copied], state.u.T[:, group.copied] = group.weights.w, group.weights.u
            if state.s is not None:
                state.s.T[:, group.copied] = group.weights.s
            if state.pocket is not None:
                state.pocket.candidate_w.T[:, group.copied] = group.candidate.w


def _total() -> NDArray[np.int64]:
    """Return a new accumulator for exact sums, which passes use as scratch space."""
    return np.zeros(LONG_LIMBS, np.int64)


def _log(state: LinearState, visits: int) -> Log:
    """Return an empty log with capacity for one update on each of ``visits`` rows."""
    lines = 2 if state.direct else len(state.counters)
    if not visits:
        lines = 0
    rows, numbers = np.empty((lines, visits), np.uint32), np.empty((3, lines, visits))
    return Log(rows, numbers[0], numbers[1], numbers[2], np.zeros(lines, np.int64))


def _margins_by_pass(
    log: Log, active: NDArray[np.int64], updates: NDArray[np.int64], classifiers: int
) -> list[list[Floats]]:
    """Return the logged margins of each pass and classifier; ``updates`` is as `PassRunner.repeat` returns it."""
    found = [[np.empty(0)] * classifiers for _ in updates]
    for k, made in zip(active, updates.T, strict=True):
        parts = np.split(log.margins[k, : log.counts[k]], np.cumsum(made)[:-1])
        for margins, part in zip(found, parts, strict=True):
            margins[k] = part
    return found


def _updates(state: LinearState, batch: Batch, log: Log) -> list[Updates]:
    """Return a list with the logged updates of each classifier."""
    out = []
    for k in range(len(state.counters)):
        made = int(log.counts[k]) if len(log.counts) else 0
        members = log.rows[k, :made].astype(np.int64) if made else np.empty(0, np.int64)
        steps = log.steps[k, :made].copy() if made else np.empty(0)
        classes = batch.labels[members].astype(np.int64)
        rivals = np.zeros(made, np.int64)
        if state.direct and made:
            rivals = log.rows[1, :made].astype(np.int64)
        elif not state.direct:
            steps = np.where(classes == state.counters["target"][k], steps, -steps)
        visits = log.visits[k, :made].copy() if made else np.empty(0)
        out.append(Updates(members, steps, visits, classes, rivals))
    return out


def _measure(state: LinearState, batch: Batch, order: NDArray[np.uint32]) -> None:
    """Update the radius, the norm of the longest example, even if its square has overflowed or underflowed."""
    radius2 = float(state.counters["radius2"].max())
    if 1e-280 < radius2 < 1e300:
        radius = math.sqrt(radius2)
    else:
        visited = order[batch.steps[order] > 0] if len(batch.steps) else order
        radius = math.hypot(batch.rows.longest(visited), float(state.fit_intercept))
    state.radius = max(state.radius, radius)


# Initial weights: as the user gives them, and as arrays once the shape of the data is known.


InitialWeights: TypeAlias = tuple[Floats, Floats]
"""Weights of shape (m, d) and biases of shape (m,), for m classifiers and d features."""
_LARGEST = 1e140
"""The largest absolute value of an initial weight. With larger weights, the squared norm might overflow."""


class GivenWeights(NamedTuple):
    """The arguments ``coef_init`` and ``intercept_init`` of ``fit``; None means zeros."""

    coef: VectorLike
    intercept: VectorLike

    def as_arrays(self, n_classes: int, d: int, fit_intercept: bool) -> InitialWeights:
        """Return weights and biases as arrays for ``n_classes`` classes and ``d`` features, or raise a ValueError."""
        k = n_classes if n_classes > 2 else 1
        whom = f"{k} classes" if k > 1 else "two classes"
        w, b = np.zeros((k, d)), np.zeros(k)
        if self.coef is not None:
            w = _numbers(
                "coef_init", self.coef, [(k, d)] if k > 1 else [(d,), (1, d)], f"{whom} and {d} features"
            ).reshape(k, d)
        if self.intercept is not None:
            b = _numbers("intercept_init", self.intercept, [(k,)] if k > 1 else [(), (1,)], whom).reshape(k)
        if b.any() and not fit_intercept:
            raise ValueError(
                f"intercept_init must be 0 without an intercept, got {b[b != 0][0]:g}: leave it out, or set "
                "fit_intercept=True."
            )
        return w, b


def _numbers(name: str, values: VectorLike, shapes: Sequence[tuple[int, ...]], whom: str) -> Floats:
    """Return ``values`` as an array of finite numbers with one of the ``shapes``, or raise a ValueError."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be an array of numbers, got {shorten(values)}.")
    if array.shape not in shapes:
        expected = "have shape " + " or ".join(str(shape) for shape in shapes if shape)
        if () in shapes:
            expected = f"be a number or {expected}"
        raise ValueError(f"{name} must {expected} for {whom}, got shape {array.shape}.")
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float64) + 0.0  # turns -0.0 into 0.0: a run from zero has no negative zeros
    wrong = numbers[~np.isfinite(numbers)]
    if len(wrong):
        raise ValueError(f"{name} must hold finite numbers, got {wrong[0]:g}.")
    largest = float(np.max(np.abs(numbers), initial=0.0))
    if largest > _LARGEST:
        raise ValueError(
            f"{name} must hold numbers of magnitude at most {_LARGEST:g}, got {largest:g}: scale them down."
        )
    return numbers


# Observers that keep votes, the pocket, and a proof of inseparability.


def _state(run: TrainingRun) -> LinearState:
    return cast(LinearState, run.state)  # the observers below are used only with a LinearState


class VoteRecorder(Observer):
    """An observer that stores every update with its row, so that all weight vectors of the run can vote."""

    wants_updates = True

    def on_updates(self, run: TrainingRun, batch: Batch, order: NDArray[np.uint32], updates: list[Updates]) -> None:
        """Append the updates to the log of the state."""
        log = _state(run).log
        if log is not None:
            log.append(batch.rows.matrix, updates)

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """Copy the rows of the updates into the log, since the batches may be freed."""
        log = _state(run).log
        if log is not None:
            log.store()


class PocketKeeper(Observer):
    """An observer that puts the weights with the fewest training mistakes into the pocket.

    After each pass three candidates are compared: the weights at the end of the pass, the weights that stayed unchanged
    for the most rows of the pass, and the weights in the pocket. This is Gallant's pocket algorithm with ratchet
    (1990), except that mistakes are counted only once a pass.
    """

    def on_start(self, run: TrainingRun) -> None:
        """Count the mistakes of pocket weights from an earlier run again, since the training rows may be different."""
        pocket = _state(run).pocket
        if pocket is not None and run.warm and np.isfinite(pocket.mistakes).all():
            pocket.mistakes[:] = _training_mistakes(run, pocket.w, pocket.b)

    def on_pass(self, run: TrainingRun, active: NDArray[np.int64]) -> None:
        """Replace the pocket's weights if a candidate of this pass makes fewer mistakes."""
        state, pocket = _state(run), _state(run).pocket
        if pocket is None:
            return
        for w, b in ((pocket.candidate_w, pocket.candidate_b), (state.w, state.b)):
            mistakes = _training_mistakes(run, w, b)
            better = mistakes < pocket.mistakes
            pocket.mistakes[better] = mistakes[better]
            if state.direct:
                better = np.broadcast_to(better, len(w))
            pocket.w[better], pocket.b[better] = w[better], b[better]


def _training_mistakes(run: TrainingRun, w: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the total sample weight of the training rows that each classifier misclassifies; ties are mistakes."""
    state = run.state
    wrong = np.zeros(len(state.counters))
    for batch in run.source.batches():
        rows, labels, weights = batch.rows, batch.labels, batch.weights
        for start in range(0, rows.n, 65536):
            part = slice(start, min(start + 65536, rows.n))
            if state.direct:
                best, tied = best_classes(rows, w, b, part.start, part.stop)
                wrong += weights[part] @ ((best != labels[part]) | tied)
            else:
                a = activations(rows, w, b, part.start, part.stop)
                positive = labels[part, None] == state.counters["target"]
                wrong += weights[part] @ ~np.where(positive, a > 0, a < 0)
    return wrong


class InseparabilityProof(Observer):
    """An observer that proves inseparability if weights that started from zero are zero at the end of the run.

    If no update was rounded, a sum of some rows, each times its label and a positive factor, is then exactly zero. A
    separator would give each of these terms a positive score, and so a positive score to their sum. So there is no
    separator (Gordan 1873).
    """

    looks_on = False

    def __init__(self) -> None:
        self._from_zero = False

    def on_start(self, run: TrainingRun) -> None:
        """Store whether the training run started from zero, possibly before it was resumed from a checkpoint."""
        resumed = run.resumed and not run.options.warm_start
        counters, rule = run.state.counters, _state(run).rule
        moved = counters["updates"].any() or counters["start2"].any()
        self._from_zero = isinstance(rule, PerceptronRule | MarginRule) and (resumed or not moved)

    def on_end(self, run: TrainingRun, outcome: Outcome) -> None:
        """Store a proof if the weights are zero and sums of the rows are exact."""
        state = _state(run)
        state.inseparable = None
        known = self._from_zero and run.early_stopping is None and run.source.rereadable
        known = known and outcome is not Outcome.INTERRUPTED and state.mixed_shards < 2  # a mean is rounded
        zero = returned_to_zero(state) if known else np.zeros(1, bool)
        if zero.any() and _sums_are_exact(run, float(state.counters["step_sum"].max())):
            state.inseparable = zero


def returned_to_zero(state: LinearState) -> NDArray[np.bool_]:
    """Return a mask of the classifiers that started from zero, have been updated, and now have zero weights."""
    moved = (state.counters["step_sum"] > 0) & (state.counters["start2"] == 0)
    nonzero = (state.w.any(axis=1) | (state.b != 0)).reshape(len(state.counters), -1).any(axis=1)
    zero: NDArray[np.bool_] = moved & ~nonzero
    return zero


def _sums_are_exact(run: TrainingRun, steps: float) -> bool:
    """Return whether sums of rows times their step sizes are computed without rounding, in any order.

    ``steps`` is the sum of the absolute values of the steps. The sums are exact if three conditions hold: all step
    sizes are integers, all entries of the rows are multiples of some power of two, and all sums are below 2**53 times
    that power.
    """
    batches = run.source.batches
    largest = max(float(np.max(np.abs(_values(batch.rows.matrix)), initial=0.0)) for batch in batches())
    if not 1e-200 < steps * max(1.0, largest) < 2.0**53 * max(1.0, largest) < 1e300:
        return False
    unit = 2.0 ** (math.ceil(math.log2(steps * largest)) - 52) if largest else 1.0
    return all(_are_whole(batch.steps) and _are_whole(_values(batch.rows.matrix) / unit) for batch in batches())


def _values(X: Matrix) -> NDArray[np.float64]:
    return np.asarray(X.data if sp.issparse(X) else X, np.float64)


def _are_whole(values: NDArray[np.float64]) -> bool:
    return bool(np.all(values == np.rint(values)))
