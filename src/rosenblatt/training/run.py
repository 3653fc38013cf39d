"""A training run: the loop over passes, for data in memory and for streams alike."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import ParameterError, Setting
from rosenblatt.training.batches import (
    WINDOW,
    Batch,
    BatchSource,
    InMemory,
    NewClass,
    Streamed,
    window_order,
)
from rosenblatt.training.early_stopping import BestPass, EarlyStopping, ValidationSet
from rosenblatt.training.observers import History, Observer, PocketKeeper, ProgressLine, VoteRecorder
from rosenblatt.training.options import RunOptions, draw_seed
from rosenblatt.training.passes import PassRunner
from rosenblatt.training.rows import feature_ranges
from rosenblatt.training.state import LinearState

__all__ = [
    "Checkpoint",
    "Outcome",
    "PassState",
    "Start",
    "TrainingRun",
    "check_read_once",
    "new_state",
    "note_leading_run",
    "online_run",
    "train",
]


class Outcome(enum.Enum):
    """How a run ended."""

    CLEAN_PASS = "clean pass"
    MAX_PASSES = "max_iter"
    MAX_UPDATES = "max_updates"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"

    def describe(self, passes: int) -> str:
        """Return a few words for people."""
        if self is Outcome.CLEAN_PASS:
            return "separated"
        if self is Outcome.INTERRUPTED:
            return "interrupted; the model keeps what it has learned"
        why = "as the rows held out are predicted no better" if self is Outcome.STOPPED else "with mistakes left"
        return f"stopped after {passes} pass{'' if passes == 1 else 'es'}, {why}"


@dataclass
class PassState:
    """The pass in progress: the classifiers that take part, and how they stood before."""

    row: int = 0
    """The rows before this one have been visited."""
    passes_done: int = 0
    """Passes of this run before this one."""
    active: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    was_done: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    visits: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))


@dataclass
class LabelSummary:
    """What the first pass saw of the labels: enough to tell data that nothing can be learned from."""

    rows: int = 0
    leading_run: int = 0
    """Rows at the start that have the label of the first."""
    leading_label: Any = None
    seen: set[Any] = field(default_factory=set)
    weighted: set[Any] = field(default_factory=set)
    """Classes that have a row, and a row whose weight is not 0."""

    def add(self, batch: Batch, every_class: bool = False) -> None:
        """Take in the labels of a batch, in which every class is known to occur or not."""
        labels, classes = batch.labels, batch.classes.tolist()
        if not self.rows:
            self.leading_label = classes[labels[0]]
        if self.leading_run == self.rows:
            differs = labels != classes.index(self.leading_label)
            self.leading_run += int(np.argmax(differs)) if differs.any() else len(labels)
        self.rows += len(labels)
        seen = set(classes) if every_class else _occurring(labels, classes)
        self.seen |= seen
        self.weighted |= _occurring(labels[batch.steps > 0], classes) if len(batch.steps) else seen

    @property
    def is_sorted(self) -> bool:
        """Whether rows visited as they come start with a long run of one label (CIML section 4.2)."""
        return self.leading_run >= max(100, self.rows // 10)


def _occurring(labels: NDArray[np.int32], classes: list[Any]) -> set[Any]:
    return {classes[k] for k in np.flatnonzero(np.bincount(labels, minlength=len(classes)))}


class Checkpoint(NamedTuple):
    """What a run that died goes on from."""

    state: LinearState
    classes: NDArray[Any]
    names: NDArray[Any] | None
    current: PassState
    best: BestPass


class Start(NamedTuple):
    """What a run goes on from: the state, its classes, and early stopping's best pass."""

    state: LinearState
    classes: NDArray[Any]
    best: BestPass | None = None


class TrainingRun:
    """Passes over a source until one is clean, a limit is reached or an observer stops the run.

    Parameters
    ----------
    state : LinearState
        What is trained, in place; ``run.state`` is another one where a class turned up on the way.
    source : BatchSource
        What is learned from. Its classes are those of the state.
    options : RunOptions
        What is asked for.
    observers : sequence of Observer
        Called after those of every run: history, pocket, votes, early stopping, progress.
    threads : int
        For one-vs-rest classifiers.
    warm : bool
        Whether the state goes on from an earlier run.
    best : BestPass, optional
        Early stopping's best pass so far, where a run goes on.
    resumed : PassState, optional
        The pass in which a checkpoint was written.
    classes : array, optional
        Those of the state, where the source has others.
    """

    window = WINDOW
    """Rows of a stream that are shuffled together."""

    def __init__(
        self,
        state: LinearState,
        source: BatchSource,
        options: RunOptions,
        observers: Sequence[Observer] = (),
        *,
        threads: int = 1,
        warm: bool = False,
        best: BestPass | None = None,
        resumed: PassState | None = None,
        classes: NDArray[Any] | None = None,
    ) -> None:
        self.state, self.source, self.options, self.warm = state, source, options, warm
        self.classes = source.classes if classes is None else classes
        self.current = PassState() if resumed is None else resumed
        self.resumed = resumed is not None
        self.in_pass = False
        self.labels = LabelSummary()
        self._runner = PassRunner(threads)
        self._seen = self.resumed and self.current.passes_done > 0
        self.last_batch: Batch | None = None
        self.early_stopping: EarlyStopping | None = None
        if options.early_stopping:
            validation = ValidationSet(options.validation_fraction, state.seed)
            self.early_stopping = EarlyStopping(validation, options.hypothesis, options.n_iter_no_change, best)
        own: list[Observer | None] = [
            History(),
            VoteRecorder() if state.log is not None else None,
            PocketKeeper() if state.pocket is not None else None,
            self.early_stopping,
            ProgressLine(options.verbose, options.max_iter) if options.verbose else None,
        ]
        self.observers: list[Observer] = [observer for observer in own if observer is not None] + list(observers)

    # the loop over passes

    def run(self) -> Outcome:
        """Make the passes. After a KeyboardInterrupt, which is raised again, the state has what was learned so far."""
        state, options, current = self.state, self.options, self.current
        counters = state.counters
        if not self.resumed:
            limit = -1 if options.max_updates is None else counters["updates"] + options.max_updates
            counters["limit"] = limit
            current.active = np.arange(len(counters)) if self.warm else np.flatnonzero(~state.done)
        elif not current.row:
            current.active = self._unfinished()
        if self.source.in_memory:
            for batch in self.source.batches():
                self.labels.add(batch, every_class=not self.warm)
            self._check_labels()
        self._tell("on_start")
        try:
            outcome = self._outcome()
            while outcome is None:
                self._make_pass()
                outcome = self._outcome()
        except KeyboardInterrupt:
            self._end(Outcome.INTERRUPTED)
            raise
        self._end(outcome)
        return outcome

    def _make_pass(self) -> None:
        """Make a pass and judge it, unless it changed nothing for classifiers that were clean before."""
        current = self.current
        first = not self._seen
        self.run_pass()
        state, active = self.state, current.active
        if first and not self.source.in_memory and not self.resumed:
            self._check_labels()
        state.done[active] = state.counters["mistakes"][active] == 0
        idle = current.was_done & state.done[active]  # as if this pass had not been made
        state.counters["visits"][active[idle]] = current.visits[idle]
        if not idle.all():
            current.passes_done += 1
            state.check_finite()
            self._tell("on_pass", active[~idle])
        self.in_pass = False
        current.active = self._unfinished()

    def _unfinished(self) -> NDArray[np.int64]:
        counters = self.state.counters
        return np.flatnonzero(~(self.state.done | (counters["updates"] == counters["limit"])))

    def _outcome(self) -> Outcome | None:
        """Return how the run ends, None if another pass is to be made."""
        if not len(self.current.active):
            return Outcome.CLEAN_PASS if self.state.done.all() else Outcome.MAX_UPDATES
        if any(observer.should_stop for observer in self.observers):
            return Outcome.STOPPED
        return Outcome.MAX_PASSES if self.current.passes_done >= self.options.max_iter else None

    def _end(self, outcome: Outcome) -> None:
        self._tell("on_end", outcome)
        self.in_pass = False
        self.state.set_layout("C")

    def _tell(self, event: str, *details: Any) -> None:
        for observer in self.observers:
            getattr(observer, event)(self, *details)

    # one pass

    def run_pass(self) -> int:
        """Visit all rows once, from ``current.row`` on; return the mistakes of all classifiers."""
        current, options = self.current, self.options
        if current.row == 0:
            self._begin_pass()
        self.in_pass = True
        validation = None if self.early_stopping is None else self.early_stopping.validation
        for batch in self.source.batches(current.row, self.window if options.shuffle else None):
            order = self._order(batch)
            if validation is not None:
                held = validation.mask(batch)
                order = order[~held[order]]
                if validation.pending:
                    validation.add(batch, held)
            if not self._seen and not self.source.in_memory:
                self.labels.add(batch)
            self._visit(batch, order, bool(options.shuffle))
            current.row = batch.first + batch.rows.n
            self._tell("on_batch", batch)
            counts = self.state.counters[current.active]
            if np.all(counts["updates"] == counts["limit"]):
                break
        if self.last_batch is None and current.row == 0:
            raise ValueError("expected rows to learn from, got an empty stream.")
        self._seen, current.row = True, 0
        return int(self.state.counters["mistakes"][current.active].sum())

    def _begin_pass(self) -> None:
        """Reset what is counted for each pass."""
        state, current = self.state, self.current
        current.was_done, current.visits = state.done[current.active], state.counters["visits"][current.active]
        state.done[current.active] = False
        started = state.counters[current.active]
        started["mistakes"], started["longest"] = 0, 0.0
        started["lowest"] = started["lowest_step"] = math.inf
        started["last_change"] = started["visits"]
        state.counters[current.active] = started

    def held_out(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which rows of a batch are held out of training."""
        if self.early_stopping is None:
            return np.zeros(batch.rows.n, bool)
        return self.early_stopping.validation.mask(batch)

    def _order(self, batch: Batch) -> NDArray[np.uint32]:
        """Return the rows of a batch in the order in which this pass visits them."""
        if not self.options.shuffle:
            return np.arange(batch.rows.n, dtype=np.uint32)
        number = 0 if self.options.shuffle == "once" else self.state.passes
        return window_order(batch.rows.n, self.state.seed, number, batch.first // self.window)

    # one batch

    def visit(self, batch: Batch) -> int:
        """Visit the rows of a batch once in their order, as a pass by itself; return the mistakes.

        This is what ``partial_fit``, the command ``watch`` and an online service call. ``max_updates`` limits the
        updates of all such calls together.
        """
        state, options = self.state, self.options
        state.counters["limit"] = -1 if options.max_updates is None else options.max_updates
        if state.feature_ranges is None:
            state.feature_ranges = feature_ranges(batch.rows.matrix)
        self.current.active, self._seen = np.arange(len(state.counters)), False
        self._begin_pass()
        self.in_pass = True
        try:
            self._visit(batch, np.arange(batch.rows.n, dtype=np.uint32), shuffled=False)
        except KeyboardInterrupt:
            self._tell("on_end", Outcome.INTERRUPTED)
            raise
        self.in_pass = False
        self.state.done[:] = False
        self._tell("on_pass", self.current.active)
        self._tell("on_end", Outcome.MAX_PASSES)
        self.state.check_finite()
        return int(self.state.counters["mistakes"].sum())

    def _visit(self, batch: Batch, order: NDArray[np.uint32], shuffled: bool) -> None:
        """Visit rows in order, with each new class added at its first row."""
        self.last_batch = batch
        self.state.widen(batch.rows.d)
        if batch.classes is self.classes:
            self._visit_known(batch, order, shuffled)
            return
        new = np.flatnonzero(~np.isin(batch.classes, self.classes))
        labels = batch.labels[order]
        found = [(int(np.argmax(labels == k)), k) for k in new if (labels == k).any()]
        arrivals = sorted(found)
        starts, stops = [0] + [place for place, _ in arrivals], [place for place, _ in arrivals] + [len(order)]
        for part, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            if part > 0:
                self._add_class(batch.classes[arrivals[part - 1][1]])
            if start < stop:
                places = np.searchsorted(self.classes, batch.classes).astype(np.int32)
                known = batch._replace(labels=places[batch.labels], classes=self.classes)
                self._visit_known(known, order[start:stop], shuffled)
        if np.array_equal(self.classes, batch.classes):
            self.classes = batch.classes

    def _add_class(self, label: Any) -> None:
        self.state, self.classes = admit_classes(self.state, self.classes, np.array([label]), self.options.direct)
        counters, current = self.state.counters, self.current
        current.active, current.visits = np.arange(len(counters)), counters["visits"].copy()
        current.was_done = np.zeros(len(counters), bool)

    def _visit_known(self, batch: Batch, order: NDArray[np.uint32], shuffled: bool) -> None:
        def on_slice(visited: int) -> None:
            for observer in self.observers:
                observer.on_slice(self, batch, visited)

        logged = any(observer.wants_updates for observer in self.observers)
        updates = self._runner.visit(
            self.state,
            batch,
            order,
            self.current.active,
            shuffled=shuffled,
            first=not self._seen,
            logged=logged,
            on_slice=on_slice,
        )
        if logged:
            self._tell("on_updates", batch, order, updates)

    # what nothing can be learned from

    def _check_labels(self) -> None:
        """Raise a ValueError where weights and labels leave nothing to learn."""
        labels, class_weight, classes = self.labels, self.options.class_weight, self.source.classes.tolist()
        if isinstance(class_weight, Mapping) and not self.warm:
            unknown = [label for label in class_weight if label not in classes]
            if unknown:
                raise ParameterError(
                    Setting("class_weight"), f" names {unknown[0]!r}, which is none of the classes {classes}."
                )
        if not labels.weighted:
            raise ValueError("every row has weight zero, so there is nothing to learn: give some a positive weight.")
        if not self.warm:
            _check_two_classes(labels.seen)
            if len(labels.weighted) < 2:
                raise ValueError(
                    "training needs at least two classes, got one class among the rows whose weight is not 0."
                )


def _check_two_classes(labels: Collection[Any]) -> None:
    if len(labels) < 2:
        raise ValueError(
            f"training needs at least two classes, got one class: every label is {next(iter(labels))!r}. "
            "Add rows of another class, or use partial_fit where they may come later."
        )


def train(
    source: InMemory | Streamed,
    options: RunOptions,
    keep: Callable[[TrainingRun], None],
    observers: Sequence[Observer] = (),
    *,
    start: Start | None = None,
    resumed: Checkpoint | None = None,
    threads: int = 1,
) -> Outcome:
    """Train on a source, from zero, from ``start`` or from a checkpoint, and return how the run ended.

    ``keep`` gets the run when it has ended or was interrupted, never one that failed. A stream in which a class turns
    up that its first block does not have is begun again with all classes.
    """
    while True:
        if not source.in_memory and source.rereadable and start is None and len(source.classes) < 2:
            source.read_classes()
            _check_two_classes(source.classes.tolist())
        run = _new_run(source, options, observers, start, resumed, threads)
        try:
            outcome = run.run()
        except NewClass:
            source.read_classes()
            resumed = None
        except KeyboardInterrupt:
            keep(run)
            raise
        else:
            keep(run)
            return outcome


def _new_run(
    source: InMemory | Streamed,
    options: RunOptions,
    observers: Sequence[Observer],
    start: Start | None,
    resumed: Checkpoint | None,
    threads: int,
) -> TrainingRun:
    best, current = None, None
    if resumed is not None:
        state, best, current = resumed.state, resumed.best, resumed.current
        source.set_classes(resumed.classes)
    elif start is not None:
        state, known = admit_classes(start.state.snapshot(), start.classes, source.classes, options.direct)
        best = start.best if len(known) == len(start.classes) else None  # the best pass knew fewer classes
        source.set_classes(known)
    else:
        state = new_state(options, len(source.classes), source.width)
    warm = start is not None and resumed is None
    return TrainingRun(state, source, options, observers, threads=threads, warm=warm, best=best, resumed=current)


def online_run(
    batch: Batch, options: RunOptions, start: Start | None, classes: NDArray[Any] | None = None, threads: int = 1
) -> TrainingRun:
    """Return a run whose `visit` learns from a batch, going on from ``start``; ``classes`` may name more than occur."""
    options = replace(options, early_stopping=False, verbose=0)
    if start is None:
        known = batch.classes if classes is None else np.union1d(classes, batch.classes)
        state = new_state(options, len(known), batch.rows.d)
    else:
        check_label_types(start.classes, batch.classes)
        given = start.classes if classes is None else np.unique(classes)
        state, known = admit_classes(start.state, start.classes, given, options.direct)
    return TrainingRun(state, InMemory(batch), options, classes=known, threads=threads)


def new_state(options: RunOptions, n_classes: int, d: int) -> LinearState:
    """Return a state that has seen nothing, as the options ask for."""
    seed = draw_seed(options.random_state)
    return LinearState.zeros(
        n_classes,
        d,
        direct=options.direct,
        fit_intercept=options.fit_intercept,
        hypothesis=options.hypothesis,
        seed=seed,
    )


def admit_classes(
    state: LinearState, known: NDArray[Any], labels: NDArray[Any], direct: bool
) -> tuple[LinearState, NDArray[Any]]:
    """Return a state that knows the classes ``labels`` too, each new one from zero, and all classes, sorted."""
    check_label_types(known, labels)
    for label in np.setdiff1d(labels, known):
        classes = np.union1d(known, [label])
        state = state.with_class(np.searchsorted(classes, known), direct)
        known = classes
    return state, known


def check_label_types(known: NDArray[Any], labels: NDArray[Any]) -> None:
    """Raise a ValueError where words and numbers are mixed as labels."""
    if (known.dtype.kind in "US") != (labels.dtype.kind in "US"):
        raise ValueError(
            f"the labels so far are {known.tolist()}, now came {labels.tolist()[0]!r}: "
            "labels must be all words or all numbers."
        )


def check_read_once(options: RunOptions, checkpoint: bool) -> None:
    """Raise a ParameterError where options ask for more than one reading of blocks that can be read only once."""
    if checkpoint:
        raise ParameterError(
            "these blocks can be read only once, so a run on them cannot go on after a crash: leave out ",
            Setting("checkpoint"),
            ", or give what can be read again, such as what data.open returns.",
        )
    for name, given, needed in (("max_iter", options.max_iter, 1), ("early_stopping", options.early_stopping, False)):
        if given != needed:
            raise ParameterError(
                "these blocks can be read only once, which ",
                Setting(name, given),
                " is too much for: set ",
                Setting(name, needed),
                ", or give what can be read again, such as a list or what data.open returns.",
            )


def note_leading_run(state: LinearState, y: NDArray[Any]) -> bool:
    """Count the rows at the start of a stream that have one label; return whether they are so many as to warn, once."""
    seen = int(state.visits.max())
    if state.leading_run != seen or (seen and state.leading_label != y[0]):
        return False  # another label has come already
    differs = y != y[0]
    state.leading_run += int(np.argmax(differs)) if differs.any() else len(y)
    state.leading_label = y[0]
    return state.leading_run >= max(100, len(y) // 10)
