"""The state of a training run: the abstract class `RunState`, with its counters and its history.

`LinearState` (``linear.py``) and `DualState` (``dual/state.py``) are its subclasses. This module also defines the
position in a pass, the outcomes of a run, and the log of updates from which votes are counted.

In a pass, each classifier visits each row once: it predicts the row's class, and is updated if its rule demands it.
"""

from __future__ import annotations

import enum
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self, TypedDict, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import check_label_types, join_classes
from rosenblatt.interrupts import interrupts_deferred
from rosenblatt.kernels.rules import COUNTERS
from rosenblatt.messages import count_of
from rosenblatt.training.losses import Losses
from rosenblatt.training.rows import Labels, Matrix, RowMatrix, as_rows, check_finite

if TYPE_CHECKING:
    from rosenblatt.training.batches import Batch
    from rosenblatt.training.observers import Observer
    from rosenblatt.training.options import RunOptions

# The position in a pass, which a checkpoint stores besides the state.


@dataclass(frozen=True)
class CutPass:
    """A pass that was cut short by an interrupt or by a limit on updates."""

    rows: int
    """The number of rows that the pass visited."""
    share: float | None
    """The number of visited rows divided by that of all rows; None if unknown, as in the first pass of a stream."""
    interrupted: bool = False
    """Whether the pass was cut short by an interrupt, rather than by a limit on updates."""


@dataclass
class PassState:
    """The position in the current pass, and values from before that pass."""

    row: int = 0
    """The row number at which the pass continues. All rows before it have been visited."""
    visited: int = 0
    """In shuffled passes, the number of rows visited in the window that begins at ``row``."""
    passes_done: int = 0
    """The number of passes that this run has completed."""
    active: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """The indices of the active classifiers, that is, of those that are trained in the pass."""
    was_done: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    """For each active classifier, whether its previous pass was clean: without a mistake or other update."""
    visits: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """For each active classifier, the number of rows that it visited before the pass."""
    rows: int = 0
    """The number of rows of a whole pass; 0 until the first pass has ended."""
    ranges: NDArray[np.float64] | None = None
    """In a checkpoint, the ranges of the features in the last batch. The resumed run uses them if no batch follows."""
    losses: Losses | None = None
    """The training losses of this run; None if they do not decide when the run stops (see ``tol``)."""

    def rows_visited(self, counters: NDArray[np.void]) -> int:
        """Return the number of rows that this pass has visited, given the counters of the classifiers."""
        return int(np.max(counters["visits"][self.active] - self.visits, initial=0.0))


Floats = NDArray[np.float64]
TINY = 1e-290
"""Scores and norms below this may have lost digits to underflow."""
StateT = TypeVar("StateT", contravariant=True)


class Runner(Protocol[StateT]):
    """An object that trains the classifiers of a state on batches. It is used for a whole run."""

    def visit(
        self,
        state: StateT,
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
        """Train the classifiers ``active`` on a batch, visiting its rows in the order ``order[visited:]``.

        ``first`` means that the state has not seen these rows before, so that their norms have to be computed.
        ``on_slice`` is called after each slice with the number of rows visited; if it returns True, no further slice is
        visited. At the end, also after an interrupt, ``on_updates`` is called with the updates of each classifier.
        Then ``on_margins`` is called with the margin ``y a`` before each update. If both are None, updates are not
        logged. Kernel perceptrons do not support ``on_margins``.
        """


@dataclass(kw_only=True)
class RunState(ABC):
    """The state of a training run: the model parameters, the counters and the history. A run can continue from it.

    For two classes there is one classifier, whose score is positive for the second class. For more classes, each class
    has a classifier. These are trained one-vs-rest, or compete directly (``direct``): an update moves the weights of
    the true class towards the row and those of a rival class away from it. Competing classes share one record of
    counters.
    """

    counters: NDArray[np.void]
    """A record of type ``COUNTERS`` for each classifier, or a single record if classes compete directly."""
    direct: bool
    """Whether more than two classes compete directly in each update."""
    done: NDArray[np.bool_]
    """For each record in ``counters``, whether its last pass was clean: a whole pass without a mistake or update."""
    seed: int = 0
    """The seed with which rows are shuffled."""
    radius: float = 0.0
    """The norm of the longest example seen, including the bias coordinate."""
    leading_run: int = 0
    """The number of rows at the start of a stream with the same label as the first row; -1 once a warning was given."""
    leading_label: object = None
    """The label of the first row of a stream."""
    feature_ranges: Floats | None = None
    """The range of each feature over a sample of the rows; None if it is not known."""
    passes: int = 0
    """The number of passes, including those before a warm start."""
    mistakes: list[NDArray[np.int64]] = field(default_factory=list)
    """For each pass, the number of mistakes of each classifier; -1 if the classifier was not trained in that pass."""
    pass_updates: list[NDArray[np.int64]] = field(default_factory=list)
    """For each pass, the number of updates of each classifier; -1 if the classifier was not trained in that pass.

    The list is empty for learners that update on every mistake and on nothing else.
    """
    validation_error: list[float] = field(default_factory=list)
    """The errors on the rows held out by early stopping, in the order of the passes after which they were measured."""
    held_out_rows: int | None = None
    """In the state that early stopping has kept, the number of rows held out; None in all other states."""
    cut: CutPass | None = None
    """How far the last pass came, if it was cut short; otherwise None."""
    mixed_shards: int = 0
    """The number of shards if a cluster has averaged their weights; 0 for a run without a cluster."""
    inseparable: NDArray[np.bool_] | None = None
    """For each classifier, whether the rows were proved inseparable: its weights returned to zero without rounding.

    None if this was not tested.
    """

    in_kernel_space: ClassVar[bool] = False
    """Whether norms and margins are measured in a kernel's feature space."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of features, that is, of columns of the rows."""

    @property
    @abstractmethod
    def n_scores(self) -> int:
        """The number of scores of a row: one for two classes, otherwise one for each class."""

    # predictions

    @abstractmethod
    def keeps(self, hypothesis: str) -> bool:
        """Return whether the state can predict with a hypothesis. "last" and "average" are always possible."""

    def check_keeps(self, hypothesis: str) -> None:
        """Raise a ValueError unless the state can predict with a hypothesis."""
        if not self.keeps(hypothesis):
            raise ValueError(
                f'this model was trained without keeping what hypothesis="{hypothesis}" needs: '
                "set the hypothesis before fitting, and fit from the start (warm_start=False)."
            )

    @abstractmethod
    def scores(self, hypothesis: str, rows: RowMatrix) -> Floats:
        """Return the score of each row for each classifier: the activation, or for "vote" the share of the votes."""

    def rounded_scores(self, hypothesis: str, rows: RowMatrix) -> Floats:
        """Return the scores of rows for calibration.

        For linear weights, exact scores are rounded once, so dense and sparse rows give the same bits. For a kernel,
        the scores are those of `scores`.
        """
        return self.scores(hypothesis, rows)

    def decide(self, hypothesis: str, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the class number of each row, and whether the row is on a boundary.

        On a boundary the class is the first of the classes that tie.
        """
        if self.n_scores == 1:
            scores = self.scores(hypothesis, rows)[:, 0]
            return (scores > 0).astype(np.int64), scores == 0
        if hypothesis == "vote":
            scores = self.scores(hypothesis, rows)
            best = scores.max(axis=1, keepdims=True)
            return scores.argmax(axis=1), (scores == best).sum(axis=1) > 1
        return self._largest_scores(hypothesis, rows)

    def predict(self, hypothesis: str, X: Matrix) -> NDArray[np.int64]:
        """Return the class number of each row, as `decide` does; raise NotFinite for rows with NaN or infinity."""
        check_finite(X)
        return self.decide(hypothesis, as_rows(X))[0]

    def decide_one(self, hypothesis: str, row: sp.csr_array) -> int:
        """Return the class number of one sparse row."""
        return int(self.decide(hypothesis, as_rows(row))[0][0])

    @abstractmethod
    def _largest_scores(self, hypothesis: str, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the class with the largest score for each row, and whether several classes tie.

        Scores are compared exactly.
        """

    @abstractmethod
    def margins(self, k: int) -> tuple[float, float, float]:
        """Return a lower and an upper bound on the margin of classifier ``k``, and Novikoff's bound on its updates.

        If a bound is not known, it is infinity, or minus infinity for the lower bound.
        """

    # training

    @abstractmethod
    def runner(self, threads: int = 1) -> Runner[Self]:
        """Return an object that trains this state on batches, with at most ``threads`` threads."""

    @abstractmethod
    def observers(self) -> list[Observer]:
        """Return the observers that this state needs, such as those for inseparability proofs, votes or the pocket."""

    def configure(self, options: RunOptions) -> None:  # noqa: B027 - optional
        """Apply the options that determine how to compute, such as the device."""

    def renumber_rows(self, X: Matrix | None = None) -> None:  # noqa: B027 - optional
        """Before another run, make sure that its rows get higher row numbers than all earlier rows.

        ``X`` are the rows of the next run, or None if they are not known. If they are the rows of the last run, they
        keep their numbers.
        """

    def count_rows(self, n: int) -> None:  # noqa: B027 - optional
        """Add n to the number of rows seen, so that later rows get higher row numbers."""

    def check_finite(self) -> None:  # noqa: B027 - optional
        """Raise a ValueError if weights have overflowed."""

    def finish(self) -> None:  # noqa: B027 - optional
        """Convert the state to the memory layout of models, after the last visit."""

    @property
    def fit_intercept(self) -> bool:
        """Whether a bias is learned."""
        return False

    @property
    def updates_right_rows(self) -> bool:
        """Whether correctly classified rows may also trigger an update, as with a margin."""
        return False

    @property
    def updates_by_pass(self) -> list[NDArray[np.int64]]:
        """For each pass, the number of updates of each classifier; -1 if the classifier was not trained in it."""
        return self.pass_updates if self.updates_right_rows else self.mistakes

    @property
    def visits(self) -> Floats:
        """For each score, the number of visited rows over which its weights are averaged."""
        return np.broadcast_to(self.counters["visits"], self.n_scores).astype(np.float64)

    @property
    def at_limit(self) -> NDArray[np.bool_]:
        """For each classifier, whether it has reached its limit of updates."""
        limit = self.counters["limit"]
        return (limit >= 0) & (self.counters["updates"] >= limit)

    def record_passes(self, active: NDArray[np.int64], mistakes: Integers, updates: Integers) -> None:
        """Add complete passes to the history.

        ``mistakes`` and ``updates`` have a row for each pass and a column for each of the classifiers ``active``.
        """
        for history, counts in ((self.mistakes, mistakes), (self.pass_updates, updates)):
            if counts is mistakes or self.updates_right_rows:
                made = np.full((len(counts), len(self.counters)), -1)
                made[:, active] = counts
                history.extend(made)
        self.passes += len(mistakes)
        self.cut = None

    @property
    def errors_by_pass(self) -> list[float]:
        """For each pass, the error on the held-out rows after the pass; NaN if it was not measured."""
        known = len(self.validation_error)
        after = int(self.cut is not None and self.cut.interrupted and known < self.passes)
        return [math.nan] * (self.passes - known - after) + self.validation_error + [math.nan] * after

    def mistakes_left(self) -> int:
        """Return the sum of the mistakes that each classifier made in its last pass; ``done`` ones count as 0."""
        history = np.array(self.mistakes)
        return int(sum(history[history[:, k] >= 0, k][-1] for k in np.flatnonzero(~self.done)))

    @abstractmethod
    def widen(self, d: int) -> None:
        """Widen the state to ``d`` features. The new features count as 0 in all earlier rows."""

    def snapshot(self) -> Self:
        """Return a copy that further training does not change."""
        other = copy(self)
        other.counters, other.done = self.counters.copy(), self.done.copy()
        other.mistakes, other.validation_error = list(self.mistakes), list(self.validation_error)
        other.pass_updates = list(self.pass_updates)
        return other

    # new classes

    @abstractmethod
    def _for_classes(self, n_classes: int, direct: bool) -> Self:
        """Return an untrained state of the same kind for ``n_classes`` classes."""

    @abstractmethod
    def _take_classifier(self, target: int, old: Self, source: int, sign: int, places: NDArray[np.int64]) -> None:
        """Copy classifier ``source`` of ``old`` to index ``target``; negate its weights if ``sign`` is -1.

        ``places`` has the new class number of each class of ``old``.
        """

    @abstractmethod
    def _take_updates_of_all(self, old: Self, places: NDArray[np.int64]) -> None:
        """Copy the updates of ``old`` as updates of competing classes; ``places`` has their new class numbers."""

    def with_class(self, places: NDArray[np.int64], direct: bool) -> Self:
        """Return this state with one more class, whose weights are zero.

        ``places`` has the new class numbers of the known classes. For two classes there is one classifier, because a
        classifier for the first class would be its negation. With three or more classes, each class has its own.
        """
        n_classes = len(places) + 1
        new = self._for_classes(n_classes, direct)
        new.seed, new.radius, new.passes, new.feature_ranges = self.seed, self.radius, self.passes, self.feature_ranges
        new.leading_run, new.leading_label = self.leading_run, self.leading_label
        new.validation_error, new.held_out_rows = list(self.validation_error), self.held_out_rows
        new.mistakes = [np.full(len(new.counters), -1) for _ in self.mistakes]
        new.pass_updates = [np.full(len(new.counters), -1) for _ in self.pass_updates]
        if n_classes == 2:
            moves = [(0, 0, 1 if places[0] == 1 else -1)]
        elif n_classes == 3:
            moves = [(0, int(places[0]), -1), (0, int(places[1]), 1)]
        else:
            moves = [(k, int(place), 1) for k, place in enumerate(places)]
        for source, target, sign in moves:
            new._take_classifier(target, self, source, sign, places)
            if not new.direct:
                new._take_counters(target, self, source)
        if new.direct:
            new.counters[0], new.mistakes = self.counters[0], list(self.mistakes)
            new.pass_updates = list(self.pass_updates)
            new.counters["target"] = 0
            if n_classes == 3:  # |(w, -w)|^2 = 2 |w|^2
                new.counters["start2"] *= 2.0
                new.counters["excess2"] *= 2.0
            new._take_updates_of_all(self, places)
        return new

    def with_classes(self, known: Labels, labels: Labels, direct: bool) -> tuple[Self, Labels]:
        """Return a state that also has the classes ``labels``, and the sorted array of all classes.

        ``known`` are the classes of this state.
        """
        if labels is known:
            return self, known
        check_label_types(known, labels)
        state = self
        new = np.setdiff1d(labels, known)
        for k in range(len(new)):
            classes = join_classes(known, new[k : k + 1])
            state = state.with_class(np.searchsorted(classes, known), direct)
            known = classes
        return state, known

    def _take_counters(self, target: int, old: Self, source: int) -> None:
        """Copy the counters and the history of classifier ``source`` of ``old`` to index ``target``."""
        number = self.counters["target"][target]
        self.counters[target] = old.counters[source]
        self.counters["target"][target] = number
        for counts, before in ((self.mistakes, old.mistakes), (self.pass_updates, old.pass_updates)):
            for now, then in zip(counts, before, strict=True):
                now[target] = then[source]

    def note_leading_run(self, y: Labels) -> bool:
        """Count the rows at the start of a stream that all have the same label; return whether to warn about them."""
        seen = int(self.counters["visits"].max())
        if self.leading_run != seen or (seen and self.leading_label != y[0]):
            return False  # there was another label before
        differs = y != y[0]
        self.leading_run += int(np.argmax(differs)) if differs.any() else len(y)
        self.leading_label = y[0]
        return self.leading_run >= max(100, len(y) // 10)


class _NewCounters(TypedDict):
    counters: NDArray[np.void]
    direct: bool
    done: NDArray[np.bool_]


def new_counters(n_classes: int, direct: bool) -> _NewCounters:
    """Return the fields ``counters``, ``direct`` and ``done`` of an untrained state."""
    direct = direct and n_classes > 2
    judged = 1 if direct or n_classes <= 2 else n_classes
    counters = np.zeros(judged, COUNTERS)
    counters["target"] = np.arange(judged) if n_classes != 2 else 1
    counters["limit"] = -1
    return {"counters": counters, "direct": direct, "done": np.zeros(judged, bool)}


def first_digits(value: float) -> float:
    """Return a number above 0 rounded down to its leading 32 bits.

    The order of additions in a pass may differ from call to call. So may the last bits of an activation.
    """
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(mantissa * 2.0**32), exponent - 32) if math.isfinite(value) else value


def attained_margin(
    counters: np.void, length: float, kesler: float, proved: float, threshold: float = 0.0, start: float = 0.0
) -> tuple[float, float]:
    """Return a lower bound on the margin of weights of norm ``length``, and Novikoff's bound on the number of updates.

    The true margin is at least the computed margin times ``proved``, in spite of rounding. ``kesler`` is 2 if an update
    moves the weights of two classes, else 1.

    Suppose that M updates are made, starting from weights of norm s (``start``). If each step has a margin of at least
    g, then ``M g - s <= |w|``. Also ``|w|^2 <= s^2 + M Q``. Here Q is an upper bound on what an update adds to
    ``|w|^2``: the squared norm of its step, plus twice the threshold times the step size. So M is at most
    ``Q / g^2 + 2 s / g``. If the initial weights and the threshold are zero, this is Novikoff's bound (R / g)^2 for
    rows of norm at most R.
    """
    low = proved * first_digits(counters["lowest"]) / length
    low_step = proved * first_digits(counters["lowest_step"]) / length
    max_step_norm2 = float(counters["max_step_norm2"])
    if not math.isfinite(max_step_norm2):
        return low, math.inf
    added = kesler * max_step_norm2
    if threshold > 0.0:
        added += 2.000001 * threshold * float(counters["max_step"])
    bound = added / low_step / low_step
    return low, bound + 2.000001 * start / low_step if start > 0.0 else bound


# The end of a training run.


class Outcome(enum.Enum):
    """The reason why a run ended."""

    CLEAN_PASS = "clean pass"
    MAX_PASSES = "max_iter"
    MAX_UPDATES = "max_updates"
    LOSS_STALLED = "tol"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"

    def describe(self, passes: int, mistakes: int) -> str:
        """Return a description of the outcome, given the number of passes and the mistakes in the last pass."""
        if self is Outcome.CLEAN_PASS:
            return "separated"
        if self is Outcome.INTERRUPTED:
            return "interrupted; the model keeps what it has learned"
        if self is Outcome.LOSS_STALLED:
            return f"stopped after {count_of(passes, 'pass')}, as the loss no longer falls by tol"
        why = "as asked" if self is Outcome.STOPPED else f"with {'mistakes' if mistakes else 'updates'} left"
        return f"stopped after {count_of(passes, 'pass')}, {why}"


# Logs of updates with their rows, from which the weights after any update can be computed again.


Integers = NDArray[np.int64]


class Updates(NamedTuple):
    """The updates of one classifier, in the order in which they were made. Each field has an entry for each update."""

    members: Integers
    """The row of each update, as a row number within the batch or as an index into the stored rows."""
    steps: Floats
    """The step size times the label, +1 or -1. If classes compete directly, the step size."""
    visits: Floats
    """The number of rows that the classifier visited before each update."""
    trues: Integers
    """If classes compete directly, the number of the class whose weights were moved towards the row."""
    rivals: Integers
    """If classes compete directly, the number of the class whose weights were moved away from the row."""

    def survival(self, visits: float) -> Floats:
        """Return, for each update, how many visits its weights survived until the next update.

        ``visits`` is the number of all visits.
        """
        return np.diff(self.visits, append=visits)

    def before_first(self, visits: float) -> float:
        """Return how many visits the initial weights survived until the first update, out of all ``visits``."""
        return float(self.visits[0]) if len(self.visits) else visits

    def some(self, which: NDArray[np.bool_]) -> Updates:
        """Return the updates that the mask ``which`` selects."""
        return Updates(*(part[which] for part in self))  # type: ignore[arg-type]


def join_updates(chunks: list[Updates]) -> Updates:
    """Concatenate consecutive updates of one classifier."""
    none, nothing = np.empty(0, np.int64), np.empty(0)
    start = Updates(none, nothing, nothing, none, none)
    return Updates(*(np.concatenate(parts) for parts in zip(start, *chunks, strict=True)))


def mirrored_updates(chunks: list[Updates], sign: int) -> list[Updates]:
    """Return the updates with their steps multiplied by ``sign``. A sign of -1 swaps the two classes."""
    return [update._replace(steps=sign * update.steps) for update in chunks]


def competing_updates(chunks: list[Updates], places: Integers, direct: bool) -> list[Updates]:
    """Convert updates to updates of directly competing classes.

    ``places`` has the new class number of each old class. If ``direct``, the updates already are of competing classes,
    and are only renumbered. Otherwise they are updates of the single classifier of two classes.
    """
    if direct:
        return [u._replace(trues=places[u.trues], rivals=places[u.rivals]) for u in chunks]
    # In one classifier for two classes, a positive step moved the second class towards the row and the first class away
    # from it; a negative step did the opposite.
    return [
        u._replace(
            steps=np.abs(u.steps),
            trues=np.where(u.steps > 0, places[1], places[0]),
            rivals=np.where(u.steps > 0, places[0], places[1]),
        )
        for u in chunks
    ]


@dataclass
class UpdateLog:
    """The updates of all classifiers, with the rows on which they were made.

    This is Freund and Schapire's representation of a voted perceptron (1999, section 5). The voters are the weight
    vectors after each update. A voter's activation on a new row is computed without its weight vector. It is the sum,
    over the updates up to the voter's, of the step times the dot product of the new row with the stored row.
    """

    blocks: list[Matrix]
    """The stored rows, as a list of matrices."""
    chunks: list[list[Updates]]
    """For each classifier, its updates. Their ``members`` are indices into the rows of all ``blocks``."""
    n_classes: int
    """The number of classes if they compete directly, else 0."""
    start: tuple[Floats, Floats] | None = None
    """The initial weights and biases, without features that were added later; None if they are zero."""
    _pending: tuple[Matrix, list[list[Updates]]] | None = field(default=None, repr=False, compare=False)
    """A matrix, and the updates on its rows whose rows are not stored yet. The next pass may add updates to them."""

    @classmethod
    def empty(cls, n_classifiers: int, n_classes: int) -> UpdateLog:
        """Return a log without updates; ``n_classes`` is 0 unless the classes compete directly."""
        return cls(blocks=[], chunks=[[] for _ in range(n_classifiers)], n_classes=n_classes)

    def append(self, X: Matrix, updates: list[Updates]) -> None:
        """Append the updates of each classifier. Their ``members`` are row indices of ``X``."""
        if self._pending is None or self._pending[0] is not X:
            self.store()
            self._pending = X, [[] for _ in self.chunks]
        with interrupts_deferred():
            for chunk, update in zip(self._pending[1], updates, strict=True):
                chunk.append(update)

    def store(self) -> None:
        """Store the rows of all updates so far. A row with updates in several passes over a matrix is stored once."""
        if self._pending is None:
            return
        X, updates = self._pending[0], [join_updates(chunk) for chunk in self._pending[1]]
        wanted = np.unique(np.concatenate([update.members for update in updates]))
        before = sum(block.shape[0] for block in self.blocks)
        with interrupts_deferred():  # rows without their updates could not be saved
            self._pending = None
            if len(wanted):
                self.blocks.append(X[wanted])
                for chunk, update in zip(self.chunks, updates, strict=True):
                    chunk.append(update._replace(members=before + np.searchsorted(wanted, update.members)))

    def snapshot(self) -> UpdateLog:
        """Return a copy that further training does not change. The arrays are shared, because they never change."""
        self.store()
        other = copy(self)
        other.blocks, other.chunks = list(self.blocks), [list(chunk) for chunk in self.chunks]
        return other

    def with_classifiers(self, n_classifiers: int, n_classes: int) -> UpdateLog:
        """Return a log with the same rows and no updates."""
        self.store()
        return UpdateLog(list(self.blocks), [[] for _ in range(n_classifiers)], n_classes)

    def rows(self) -> Matrix:
        """Return all stored rows as one float64 matrix, dense or CSR."""
        self.store()
        if any(sp.issparse(block) for block in self.blocks):
            blocks = [sp.csr_array(block) for block in self.blocks]
            width = max(block.shape[1] for block in blocks)
            for block in blocks:  # columns may have been added from one block to the next
                block.resize((block.shape[0], width))
            return sp.vstack(blocks, format="csr", dtype=np.float64)
        return np.concatenate(self.blocks, dtype=np.float64)

    def start_weights(self, d: int) -> tuple[Floats, Floats] | None:
        """Return the initial weights for ``d`` features and the initial biases, or None if they are zero."""
        if self.start is None:
            return None
        w, b = self.start
        return np.pad(w, ((0, 0), (0, d - w.shape[1]))), b

    def updates(self, k: int) -> Updates:
        """Return all updates of classifier ``k``."""
        self.store()
        return join_updates(self.chunks[k])

    def stored(self, k: int) -> list[Updates]:
        """Return the updates of classifier ``k``, as the list of parts in which they were stored."""
        self.store()
        return self.chunks[k]
