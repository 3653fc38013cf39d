"""The state of a run: weights, counters and history, all that it has learned and all it needs to go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.passes import COUNTERS
from rosenblatt.training.labels import Labels, check_label_types
from rosenblatt.training.updates import UpdateLog

Floats = NDArray[np.float64]


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


@dataclass
class LinearState:
    """The weights and counters of a run.

    Two classes are one classifier that answers yes to the second; more classes are a classifier each. With
    ``direct`` the classes compete in one update and have one record of counters.
    """

    w: Floats
    """Of shape (m, d), in C order, or in Fortran order while rows are sparse (`kernels.multiclass`)."""
    u: Floats
    b: Floats
    beta: Floats
    """With ``u`` what Algorithm 7 of CIML caches for the average."""
    counters: NDArray[np.void]
    """A record of type ``COUNTERS`` for each classifier, or one for all where classes compete directly."""
    direct: bool
    fit_intercept: bool
    done: NDArray[np.bool_]
    """Whether each classifier (or the one for all) has made a whole pass without a mistake."""
    seed: int = 0
    radius: float = 0.0
    """Length of the longest example seen, the bias coordinate included."""
    leading_run: int = 0
    """How many rows at the start of a stream had one label, as long as no other has come; -1 after a warning."""
    leading_label: object = None
    feature_ranges: Floats | None = None
    """Range of each feature over a sample of the rows."""
    passes: int = 0
    mistakes: list[NDArray[np.int64]] = field(default_factory=list)
    """For each pass, the mistakes of each classifier; -1 where a classifier took no part."""
    validation_error: list[float] = field(default_factory=list)
    pocket: Pocket | None = None
    log: UpdateLog | None = None
    """Every update, where votes are wanted."""

    @classmethod
    def zeros(
        cls, n_classes: int, d: int, *, direct: bool, fit_intercept: bool, hypothesis: str = "last", seed: int = 0
    ) -> LinearState:
        """Return a state that has seen nothing, for ``n_classes`` classes and ``d`` features."""
        k = n_classes if n_classes > 2 else 1
        direct = direct and n_classes > 2
        judged = 1 if direct else k
        counters = np.zeros(judged, COUNTERS)
        counters["target"] = np.arange(judged) if n_classes != 2 else 1
        counters["limit"] = -1
        with _memory_for(k, d):
            w, u = np.zeros((k, d)), np.zeros((k, d))
        state = cls(
            w=w,
            u=u,
            b=np.zeros(k),
            beta=np.zeros(k),
            counters=counters,
            direct=direct,
            fit_intercept=bool(fit_intercept),
            done=np.zeros(judged, bool),
            seed=seed,
        )
        if hypothesis == "pocket":
            state.pocket = Pocket.empty(k, d, judged)
        if hypothesis == "vote":
            state.log = UpdateLog.empty(judged, n_classes if direct else 0)
        return state

    @property
    def n_features(self) -> int:
        """Number of columns of the weights."""
        return self.w.shape[1]

    @property
    def visits(self) -> Floats:
        """Visits that each weight vector's average covers."""
        return cast(Floats, np.broadcast_to(self.counters["visits"], len(self.w)))

    @property
    def at_limit(self) -> NDArray[np.bool_]:
        """Whether each classifier has made as many updates as it may."""
        limit = self.counters["limit"]
        return (limit >= 0) & (self.counters["updates"] >= limit)

    def average(self) -> tuple[Floats, Floats]:
        """Return the mean of the weights after each visit, and of the biases.

        CIML's algorithm 7 with its counter started at 0 instead of 1: the zero vector that precedes the first
        visit is not part of the mean. (Either way every sign is the same.)
        """
        visits = np.maximum(self.visits, 1.0)
        return self.w - self.u / visits[:, None], self.b - self.beta / visits

    def check_finite(self) -> None:
        """Raise a ValueError if weights have outgrown the floats; look only where they may have."""
        counters = self.counters
        with np.errstate(over="ignore"):
            longest = self.radius * np.sqrt(counters["step_square_sum"].max()) * (counters["visits"].max() + 1.0)
        finite = np.isfinite(self.radius) and np.isfinite(self.w).all() and np.isfinite(self.u).all()
        if not longest < 1e300 and not finite:
            raise ValueError(
                "the weights have grown beyond the range of floats: scale the features, "
                "for instance with sklearn.preprocessing.MaxAbsScaler, and train from the start."
            )

    def widen(self, d: int) -> None:
        """Add features up to ``d``: weights of 0, as if they had been there all along."""
        more = d - self.n_features
        if more > 0:
            with _memory_for(len(self.w), d):
                self.w, self.u = (np.pad(weights, ((0, 0), (0, more))) for weights in (self.w, self.u))
            self.feature_ranges = None

    def set_layout(self, order: Literal["C", "F"]) -> None:
        """Lay the weights out in C or Fortran order; a single vector is both."""
        if self.w.flags.f_contiguous if order == "F" else self.w.flags.c_contiguous:
            return
        new = not self.counters["updates"].any()
        self.w, self.u = (
            np.zeros(weights.shape, order=order) if new else np.asarray(weights, order=order)
            for weights in (self.w, self.u)
        )
        if self.pocket is not None:
            self.pocket.candidate_w = np.asarray(self.pocket.candidate_w, order=order)

    def snapshot(self) -> LinearState:
        """Return a copy that further training leaves alone."""
        other = copy(self)
        for name in ("w", "u", "b", "beta", "counters", "done"):
            setattr(other, name, getattr(self, name).copy(order="K"))
        other.mistakes, other.validation_error = list(self.mistakes), list(self.validation_error)
        if self.pocket is not None:
            other.pocket = Pocket(**{name: array.copy(order="K") for name, array in vars(self.pocket).items()})
        if self.log is not None:
            other.log = self.log.snapshot()
        return other

    def with_class(self, places: NDArray[np.int64], direct: bool) -> LinearState:
        """Return this state with one more class, which starts from zero.

        ``places`` gives the number that each class known so far has from now on. Two classes share one classifier,
        since the first's is the mirror image of the second's; from the third on each has its own.
        """
        n_classes = len(places) + 1
        new = LinearState.zeros(
            n_classes, self.n_features, direct=direct, fit_intercept=self.fit_intercept, seed=self.seed
        )
        new.radius, new.passes, new.feature_ranges = self.radius, self.passes, self.feature_ranges
        new.leading_run, new.leading_label = self.leading_run, self.leading_label
        new.validation_error = list(self.validation_error)
        new.mistakes = [np.full(len(new.counters), -1) for _ in self.mistakes]
        if self.log is not None:
            new.log = self.log.with_classifiers(len(new.counters), n_classes if new.direct else 0)
        if n_classes == 2:
            moves = [(0, 0, 1 if places[0] == 1 else -1)]
        elif n_classes == 3:
            moves = [(0, int(places[0]), -1), (0, int(places[1]), 1)]
        else:
            moves = [(k, int(place), 1) for k, place in enumerate(places)]
        for source, target, sign in moves:
            for name in ("w", "u", "b", "beta"):
                getattr(new, name)[target] = _mirrored(getattr(self, name)[source], sign)
            if not new.direct:
                new._continue(target, self, source, sign)
        if new.direct:
            new.counters[0], new.mistakes = self.counters[0], list(self.mistakes)
            new.counters["target"] = 0
            if new.log is not None and self.log is not None:
                new.log.chunks[0] = self.log.competing(places)
        if self.pocket is not None:
            new.pocket = Pocket.empty(len(new.w), new.n_features, len(new.counters))
        return new

    def with_classes(self, known: Labels, labels: Labels, direct: bool) -> tuple[LinearState, Labels]:
        """Return a state that knows the classes ``labels`` besides those ``known``, and all classes, sorted."""
        check_label_types(known, labels)
        state = self
        for label in np.setdiff1d(labels, known):
            classes = np.union1d(known, [label])
            state = state.with_class(np.searchsorted(classes, known), direct)
            known = classes
        return state, known

    def note_leading_run(self, y: Labels) -> bool:
        """Count the rows at the start of a stream that have one label; return whether they are so many as to warn."""
        seen = int(self.visits.max())
        if self.leading_run != seen or (seen and self.leading_label != y[0]):
            return False  # another label has come already
        differs = y != y[0]
        self.leading_run += int(np.argmax(differs)) if differs.any() else len(y)
        self.leading_label = y[0]
        return self.leading_run >= max(100, len(y) // 10)

    def _continue(self, target: int, old: LinearState, source: int, sign: int) -> None:
        """Take over the counters, history and updates of ``old``'s classifier ``source`` for ``target``."""
        number = self.counters["target"][target]
        self.counters[target] = old.counters[source]
        self.counters["target"][target] = number
        for now, then in zip(self.mistakes, old.mistakes, strict=True):
            now[target] = then[source]
        if self.log is not None and old.log is not None:
            self.log.chunks[target] = old.log.mirrored(source, sign)


@contextmanager
def _memory_for(k: int, d: int) -> Iterator[None]:
    """Say what the memory would have been for, where there is not enough."""
    try:
        yield
    except MemoryError:
        what = f"the weights of {d:,} features{f' for {k:,} classes' if k > 1 else ''} take {16 * k * d / 1e9:,.1f} GB"
        raise MemoryError(f"{what}, more than there is: use fewer features, or hash them to fewer columns.") from None


def _mirrored(values: Floats, sign: int) -> Floats:
    """Return ``sign * values`` without negative zeros, which a run from zero never makes."""
    return values if sign > 0 else 0.0 - values
