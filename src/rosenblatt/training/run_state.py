"""What every run's state has, whatever it learns: counters, history, and what it takes to go on."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.pass_arguments import COUNTERS
from rosenblatt.training.labels import Labels, check_label_types
from rosenblatt.training.pass_state import CutPass

Floats = NDArray[np.float64]


@dataclass(kw_only=True)
class RunState:
    """The counters and the history of a run.

    Two classes are one classifier that answers yes to the second; more classes are a classifier each. With
    ``direct`` the classes compete in one update and have one record of counters.
    """

    counters: NDArray[np.void]
    """A record of type ``COUNTERS`` for each classifier, or one for all where classes compete directly."""
    direct: bool
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
    pass_updates: list[NDArray[np.int64]] = field(default_factory=list)
    """For each pass, the updates of each classifier, -1 as for ``mistakes``; empty where they are its mistakes."""
    validation_error: list[float] = field(default_factory=list)
    """The error on the rows held out after each pass that was judged by them."""
    held_out_rows: int | None = None
    """How many rows early stopping held out, in the state of a model that keeps its best pass."""
    cut: CutPass | None = None
    """How far the last pass came, where it was cut short."""
    mixed_shards: int = 0
    """How many shards the weights are the mean of, where a cluster has mixed them; else 0."""
    inseparable: NDArray[np.bool_] | None = None
    """Which classifiers' weights came back to zero by updates without rounding: a proof that nothing separates."""

    @property
    def n_features(self) -> int:
        """Columns of the rows."""
        raise NotImplementedError

    @property
    def n_scores(self) -> int:
        """Scores of a row: one for two classes, else one for each class."""
        raise NotImplementedError

    @property
    def fit_intercept(self) -> bool:
        """Whether a bias is learned."""
        return False

    @property
    def updates_right_rows(self) -> bool:
        """Whether rows that are right may make an update, too."""
        return False

    @property
    def updates_by_pass(self) -> list[NDArray[np.int64]]:
        """For each pass, the updates of each classifier; -1 where a classifier took no part."""
        return self.pass_updates if self.updates_right_rows else self.mistakes

    @property
    def visits(self) -> Floats:
        """Visits that the average behind each score covers."""
        return np.broadcast_to(self.counters["visits"], self.n_scores).astype(np.float64)

    @property
    def at_limit(self) -> NDArray[np.bool_]:
        """Whether each classifier has made as many updates as it may."""
        limit = self.counters["limit"]
        return (limit >= 0) & (self.counters["updates"] >= limit)

    @property
    def errors_by_pass(self) -> list[float]:
        """The error on the rows held out after each pass; NaN for earlier passes, and for one cut by an interrupt."""
        known = len(self.validation_error)
        after = int(self.cut is not None and self.cut.interrupted and known < self.passes)
        return [math.nan] * (self.passes - known - after) + self.validation_error + [math.nan] * after

    def mistakes_left(self) -> int:
        """Return the mistakes in the last pass of each classifier that has not made one without."""
        history = np.array(self.mistakes)
        return int(sum(history[history[:, k] >= 0, k][-1] for k in np.flatnonzero(~self.done)))

    def widen(self, d: int) -> None:
        """Add features up to ``d``, as if they had been there all along."""
        raise NotImplementedError

    def snapshot(self) -> Self:
        """Return a copy that further training leaves alone."""
        other = copy(self)
        other.counters, other.done = self.counters.copy(), self.done.copy()
        other.mistakes, other.validation_error = list(self.mistakes), list(self.validation_error)
        other.pass_updates = list(self.pass_updates)
        return other

    # classes that turn up on the way

    def _for_classes(self, n_classes: int, direct: bool) -> Self:
        """Return a state of the same kind for so many classes, which has learned nothing."""
        raise NotImplementedError

    def _take_classifier(self, target: int, old: Self, source: int, sign: int, places: NDArray[np.int64]) -> None:
        """Take over what ``old``'s classifier ``source`` has learned, or its mirror image for ``sign`` -1.

        ``places`` are the new numbers of the classes.
        """
        raise NotImplementedError

    def _take_updates_of_all(self, old: Self, places: NDArray[np.int64]) -> None:
        """Take over the updates that ``old`` made, as those of classes that compete."""
        raise NotImplementedError

    def with_class(self, places: NDArray[np.int64], direct: bool) -> Self:
        """Return this state with one more class, which starts from zero.

        ``places`` gives the number that each class known so far has from now on. Two classes share one classifier,
        since the first's is the mirror image of the second's; from the third on each has its own.
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
            if n_classes == 3:  # weights and their mirror image side by side are twice as long, squared
                new.counters["start2"] *= 2.0
                new.counters["excess2"] *= 2.0
            new._take_updates_of_all(self, places)
        return new

    def with_classes(self, known: Labels, labels: Labels, direct: bool) -> tuple[Self, Labels]:
        """Return a state that knows the classes ``labels`` besides those ``known``, and all classes, sorted."""
        check_label_types(known, labels)
        state = self
        for label in np.setdiff1d(labels, known):
            classes = np.union1d(known, [label])
            state = state.with_class(np.searchsorted(classes, known), direct)
            known = classes
        return state, known

    def _take_counters(self, target: int, old: Self, source: int) -> None:
        """Take over the counters and the history of ``old``'s classifier ``source`` for ``target``."""
        number = self.counters["target"][target]
        self.counters[target] = old.counters[source]
        self.counters["target"][target] = number
        for counts, before in ((self.mistakes, old.mistakes), (self.pass_updates, old.pass_updates)):
            for now, then in zip(counts, before, strict=True):
                now[target] = then[source]

    def note_leading_run(self, y: Labels) -> bool:
        """Count the rows at the start of a stream that have one label; return whether they are so many as to warn."""
        seen = int(self.counters["visits"].max())
        if self.leading_run != seen or (seen and self.leading_label != y[0]):
            return False  # another label has come already
        differs = y != y[0]
        self.leading_run += int(np.argmax(differs)) if differs.any() else len(y)
        self.leading_label = y[0]
        return self.leading_run >= max(100, len(y) // 10)


def new_counters(n_classes: int, direct: bool) -> dict[str, Any]:
    """Return the fields ``counters``, ``direct`` and ``done`` of a state that has seen nothing."""
    direct = direct and n_classes > 2
    judged = 1 if direct or n_classes <= 2 else n_classes
    counters = np.zeros(judged, COUNTERS)
    counters["target"] = np.arange(judged) if n_classes != 2 else 1
    counters["limit"] = -1
    return {"counters": counters, "direct": direct, "done": np.zeros(judged, bool)}
