"""Training from a stream of blocks, pass by pass, with no more of it in memory than a window."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from rosenblatt.estimators.validation import checked_pair, step_sizes
from rosenblatt.training.batches import (
    WINDOW,
    Part,
    after,
    can_be_read_again,
    held_out,
    joined,
    parts,
    widened,
    window_order,
    windows,
)
from rosenblatt.training.checkpoint import Checkpoints, Resumed
from rosenblatt.training.early_stopping import Best, Held
from rosenblatt.training.passes import Trainer, Under
from rosenblatt.training.rows import as_rows
from rosenblatt.training.state import Machines

__all__ = ["NewClass", "StreamTrainer", "all_classes"]


def all_classes(blocks: Iterable[Any]) -> np.ndarray:
    """Return the classes of all labels of a stream, sorted."""
    known: np.ndarray | None = None
    for part in parts(blocks):
        known = np.unique(part.y) if known is None else np.union1d(known, part.y)
    if known is None:
        raise ValueError("expected rows to learn from, got an empty stream.")
    return known


class NewClass(Exception):
    """A label that is none of the classes known; the run has to start again with all of them."""


class HeldFromStream(Held):
    """Rows of a stream kept out of training; which they are is known after the first pass."""

    def __init__(self, hypothesis: str, patience: int) -> None:
        nothing = as_rows(np.empty((0, 1)))
        super().__init__(nothing, np.empty(0, np.int32), None, hypothesis, patience, Best())
        self.waits = True

    def take(self, kept: list[Part]) -> None:
        """Make these rows, numbers and steps those that passes are judged by."""
        part = joined(kept)
        if not len(part.y):
            raise ValueError(
                "early stopping held out none of the rows, as they are too few: "
                "give more of them, or a larger validation_fraction."
            )
        self.waits = False
        self.rows, self.numbers = as_rows(part.X), part.y
        self.weights = part.weights if part.weights is not None and part.weights.any() else None


class StreamTrainer:
    """Leads machines over the rows of a stream as ``Trainer`` does over a matrix.

    The weights grow with the columns of sparse blocks, and what a pass counts is summed over its windows, so the
    run is that of ``fit`` on all rows at once.
    """

    def __init__(self, model: Any, machines: Machines, classes: np.ndarray, blocks: Iterable[Any]) -> None:
        self.model, self.machines, self.classes, self.blocks = model, machines, classes, blocks
        self.on_slice: Callable[[float, int], None] = lambda part, mistakes: None
        self.checkpoints: Checkpoints | None = None
        self.under = Under()
        self.seen = False
        self.rows: Any = None
        """The last window."""
        self.jobs = effective_n_jobs(model.n_jobs)
        self.begun: Iterator[Part] | None = None
        """The parts of the first pass, where reading them has begun."""
        self.held: HeldFromStream | None = None
        if model.early_stopping:
            self.held = HeldFromStream(model.hypothesis, model.n_iter_no_change)

    def run_pass(self, order: np.ndarray, shuffled: bool, active: np.ndarray) -> np.ndarray:
        """Visit all rows of the stream once; return the mistakes of each machine of ``active``."""
        machines, model, under = self.machines, self.model, self.under
        if under.row == 0:
            under.mistakes, under.changed = np.zeros(len(active), np.int64), machines.tally["visits"][active]
            under.lowest = under.lowest_step = np.full(len(active), math.inf)
        holding = self.held is not None and self.held.waits
        kept: list[Part] = []
        for part in self._windows(shuffled):
            rows, numbers, steps = self._ready(part)
            visited = np.arange(rows.n, dtype=np.uint32)
            if shuffled:
                number = 0 if model.shuffle == "once" else machines.passes
                visited = window_order(rows.n, machines.seed, number, part.first // WINDOW)
            if self.held is not None:
                out = held_out(part.first, rows.n, machines.seed, model.validation_fraction)
                visited = visited[~out[visited]]
                if holding:
                    kept.append(Part(rows.matrix[out], numbers[out], steps[out] if len(steps) else None, part.first))
            trainer = Trainer(machines, rows, numbers, steps, jobs=self.jobs)
            trainer.seen = self.seen
            trainer.run_pass(visited, shuffled, active)
            trainer.store_voters()
            counts = machines.tally[active]
            under.mistakes = under.mistakes + counts["mistakes"]
            under.lowest = np.minimum(under.lowest, counts["lowest"])
            under.lowest_step = np.minimum(under.lowest_step, counts["lowest_step"])
            under.changed = np.where(counts["mistakes"] > 0, counts["last_change"], under.changed)
            under.row = part.first + rows.n
            made = int(under.mistakes.sum())
            self.on_slice(getattr(self.blocks, "share_read", 0.0), made)
            getattr(self.blocks, "visited", _nobody)(made)
            if np.all(counts["updates"] == counts["limit"]):
                break
            if self.checkpoints is not None:
                self.checkpoints.offer(machines, self.classes, under, None if self.held is None else self.held.best)
        tally = machines.tally[active]
        tally["mistakes"], tally["last_change"] = under.mistakes, under.changed
        tally["lowest"], tally["lowest_step"] = under.lowest, under.lowest_step
        machines.tally[active] = tally
        if holding and self.held is not None:
            self.held.take(kept)
        self.seen, under.row = True, 0
        return under.mistakes

    def hold_again(self) -> None:
        """Read all rows to find those that are held out, for a run that goes on."""
        if self.held is None:
            return
        kept = []
        for part in windows(parts(self.blocks), WINDOW):
            rows, numbers, steps = self._ready(part)
            out = held_out(part.first, rows.n, self.machines.seed, self.model.validation_fraction)
            kept.append(Part(rows.matrix[out], numbers[out], steps[out] if len(steps) else None, part.first))
        self.held.take(kept)

    def _windows(self, shuffled: bool) -> Iterator[Part]:
        stream, self.begun = self.begun or parts(self.blocks), None
        stream = after(stream, self.under.row)
        return windows(stream, WINDOW) if shuffled else stream

    def _ready(self, part: Part) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return the part as rows, class numbers and step sizes, with weights as wide as its rows."""
        model = self.model
        X = fit_width(model, self.machines, part.X)
        y = part.y
        known = part.checked and (y.dtype.kind != "f" or np.array_equal(y, np.trunc(y)))
        if not known or X.shape[1] != getattr(model, "n_features_in_", None):
            X, y = checked_pair(model, X, y, reset=not hasattr(model, "n_features_in_"))
        self.machines.widen(X.shape[1])
        places = np.searchsorted(self.classes, y)
        places[places == len(self.classes)] = 0
        if not np.array_equal(self.classes[places], y):
            raise NewClass
        numbers = places.astype(np.int32)
        steps = step_sizes(len(y), part.weights, model.class_weight, self.classes, numbers)
        self.rows = as_rows(X)
        return self.rows, numbers, steps

    def judge_again(self, visited: np.ndarray) -> None:
        """Do nothing: streams keep no pocket."""

    def judge(self, visited: np.ndarray) -> None:
        """Do nothing: streams keep no pocket."""

    def store_voters(self) -> None:
        """Do nothing: each window's are stored when it has been visited."""


def _nobody(mistakes: int) -> None:
    """Stand in for blocks that do not ask how many mistakes were made."""


def fit_width(model: Any, machines: Machines, X: Any) -> Any:
    """Return a sparse ``X`` as wide as the model, or widen the model to it; the rest is left for others to refuse."""
    known = getattr(model, "n_features_in_", None)
    if known is None or not sp.issparse(X) or X.shape[1] == known:
        return X
    X = widened(sp.csr_array(X), known)
    model.n_features_in_ = X.shape[1]
    machines.widen(X.shape[1])
    return X


def fit_from_stream(
    model: Any,
    blocks: Iterable[Any],
    classes: Any,
    on_pass: Callable[[Any], None] | None,
    checkpoint: Any,
    every: float,
    resume: bool,
) -> None:
    """Do the work of ``fit_stream``: make the passes, and start again when a class turns up."""
    if model.hypothesis == "pocket":
        raise ValueError(
            'hypothesis="pocket" compares weights on all rows at once, which fit_stream never has: '
            'use fit, or hypothesis="average".'
        )
    if model.class_weight == "balanced":
        raise ValueError(
            'class_weight="balanced" needs the counts of all classes beforehand: give the weights as a dictionary.'
        )
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint, the file to go on from.")
    if not can_be_read_again(blocks):
        if checkpoint is not None:
            raise ValueError(
                "these blocks can be read only once, so a run on them cannot go on after a crash: "
                "leave out checkpoint, or give what can be read again, such as what data.open returns."
            )
        _learn_once(model, blocks, classes, on_pass)
        return
    checkpoints = None if checkpoint is None else Checkpoints(checkpoint, every, model, blocks)
    resumed = checkpoints.read() if checkpoints is not None and resume else None
    if resumed is not None:
        _make_passes(model, blocks, resumed.classes, on_pass, checkpoints, resumed)
        return
    begun: Iterator[Part] | None = None
    if classes is not None:
        known = np.unique(classes)
    else:
        known, begun = _begun(blocks)
    while True:
        if len(known) > 1:
            try:
                _make_passes(model, blocks, known, on_pass, checkpoints, None, begun)
                return
            except NewClass:
                pass
        begun = None
        everything = np.union1d(all_classes(blocks), known)
        if len(everything) < 2:
            raise ValueError(
                f"fit_stream needs at least two classes, got one class: every label is {everything.tolist()[0]!r}."
            )
        known = everything


def _make_passes(
    model: Any,
    blocks: Iterable[Any],
    classes: np.ndarray,
    on_pass: Callable[[Any], None] | None,
    checkpoints: Checkpoints | None,
    resumed: Resumed | None,
    begun: Iterator[Part] | None = None,
) -> None:
    going_on = model.warm_start and hasattr(model, "machines_")
    for name in ("n_features_in_", "feature_names_in_") if not going_on or resumed else ():
        vars(model).pop(name, None)
    if resumed is not None:
        machines = resumed.machines
        model.n_features_in_ = machines.w.shape[1]
        if resumed.names is not None:
            model.feature_names_in_ = resumed.names
    elif going_on:
        model._check_unchanged()
        machines, _ = model._resume if model._resume is not None else (model.machines_, None)
        machines, classes = model._admit(machines, model.classes_, classes)
    else:
        machines = model._new_machines(len(classes), 0)
    trainer = StreamTrainer(model, machines, classes, blocks)
    trainer.checkpoints, trainer.begun = checkpoints, begun
    if resumed is not None:
        trainer.under, trainer.seen = resumed.under, resumed.under.made > 0
        trainer.hold_again()
        if trainer.held is not None:
            trainer.held.best = resumed.best

    def watch(machines: Machines) -> None:
        model.machines_, model.classes_ = machines, classes
        if on_pass is not None:
            on_pass(model)

    nobody = np.empty(0, np.uint32)
    model._run(trainer, classes, nobody, trainer.held, going_on, watch if on_pass is not None else None)


def _learn_once(model: Any, blocks: Iterable[Any], classes: Any, on_pass: Callable[[Any], None] | None) -> None:
    """Make one pass over what can be read only once; classes are let in as they come."""
    for name, given, needed in (("max_iter", model.max_iter, 1), ("early_stopping", model.early_stopping, False)):
        if given != needed:
            raise ValueError(
                f"these blocks can be read only once, which {name}={given!r} is too much for: set {name}={needed!r}, "
                "or give what can be read again, such as a list or what data.open returns."
            )
    started = going_on = model.warm_start and hasattr(model, "machines_")
    before = model.machines_.passes if going_on else 0
    stream = parts(blocks)
    for part in windows(stream, WINDOW) if model.shuffle else stream:
        if not started:
            X, y = checked_pair(model, part.X, part.y, reset=True)
            model.classes_ = np.unique(y) if classes is None else np.union1d(classes, y)
            model.machines_ = model._new_machines(len(model.classes_), X.shape[1])
            started = True
        machines = model.machines_
        X, y, weights = fit_width(model, machines, part.X), part.y, part.weights
        if model.shuffle:
            order = window_order(len(y), machines.seed, before, part.first // WINDOW)
            X, y, weights = X[order], y[order], None if weights is None else weights[order]
        model.partial_fit(X, y, classes, weights)
    if not started:
        raise ValueError("expected rows to learn from, got an empty stream.")
    machines = model.machines_
    made = np.maximum(np.array(machines.mistakes[before:]), 0).sum(axis=0)
    machines.mistakes[before:] = [made]
    machines.passes = before + 1
    machines.done[:] = made == 0
    if on_pass is not None:
        on_pass(model)


def _begun(blocks: Iterable[Any]) -> tuple[np.ndarray, Iterator[Part]]:
    """Return the classes of the first part, and all parts, that one among them."""
    stream = parts(blocks)
    for part in stream:
        return np.unique(part.y), chain([part], stream)
    raise ValueError("expected rows to learn from, got an empty stream.")
