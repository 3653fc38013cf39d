"""From a source to a trained state: one way to start, warm-start, resume and keep checkpoints, and online runs.

Estimators, the command and clusters all call `train` for passes over a data set or a stream, and `online_run` for rows
as they come.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.blocks import Contents, as_file_stream
from rosenblatt.messages import ParameterError, Setting
from rosenblatt.training.batches import Batch, InMemory, NewClass, Streamed, TrainingSource
from rosenblatt.training.checkpoint import Checkpoint, CheckpointWriter
from rosenblatt.training.early_stopping import BestPass
from rosenblatt.training.linear import InitialWeights as Weights
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import RunOptions, draw_seed
from rosenblatt.training.rows import Labels, check_label_types, check_two_classes
from rosenblatt.training.run import TrainingRun, first_state, new_state
from rosenblatt.training.state import Outcome, RunState

MakeRun = Callable[..., TrainingRun]
"""`TrainingRun`, or what has its parameters."""


class Start(NamedTuple):
    """What a run continues from: the state, its classes, and early stopping's best pass."""

    state: RunState
    classes: Labels
    best: BestPass | None = None


@dataclass
class Checkpointing:
    """Where a run keeps its checkpoints, and whether it resumes from the one that is there."""

    path: str | os.PathLike[str]
    learner: str
    every: float = 30.0
    resume: bool = False
    contents: Contents | None = None
    """What has been read of the files, where rows come from files."""
    feature_names: Callable[[], Any] = lambda: None
    progress: Callable[[float], None] | None = None
    """Called with a share where files are compared with those of the checkpoint."""
    on_resume: Callable[[Checkpoint], None] = lambda found: None
    """Called with the checkpoint that is resumed, before the first row is read."""
    resumed: Checkpoint | None = field(default=None, init=False)
    writer: CheckpointWriter | None = field(default=None, init=False)

    @classmethod
    def asked(
        cls,
        path: str | os.PathLike[str] | None,
        learner: str,
        every: float,
        resume: bool,
        blocks: Iterable[object] | None = None,
        **more: Any,
    ) -> Checkpointing | None:
        """Return what was asked for, None for no checkpoints; to be called before ``blocks`` are read."""
        if path is None:
            if resume:
                raise ParameterError(
                    Setting("resume", True), " needs ", Setting("checkpoint"), ", the file to go on from."
                )
            return None
        files = as_file_stream(blocks)
        return cls(path, learner, every, resume, None if files is None else files.watch_contents(), **more)

    def open(self, source: TrainingSource, options: RunOptions) -> CheckpointWriter:
        """Return what writes the checkpoints of a run on a source, with the one to resume read if that is asked for."""
        rows: Any = source.blocks if isinstance(source, Streamed) else source
        self.writer = CheckpointWriter(
            self.path, self.every, self.learner, options, rows, self.feature_names, self.contents
        )
        if self.resume:
            self.resumed = self.writer.read(self.progress)
        if self.resumed is not None:
            source.width = max(source.width, self.resumed.state.n_features)
            self.on_resume(self.resumed)
        return self.writer


def train(
    source: TrainingSource,
    options: RunOptions,
    keep: Callable[[TrainingRun], None],
    observers: Sequence[Observer] = (),
    *,
    start: Start | None = None,
    given: Weights | None = None,
    checkpoints: Checkpointing | None = None,
    threads: int = 1,
    make_run: MakeRun = TrainingRun,
) -> Outcome:
    """Train on a source, from zero, from ``start`` or from a checkpoint, and return how the run ended.

    ``given`` are weights and biases that a new run begins with instead of zero.

    ``source`` is `InMemory`, `Streamed`, or one for which ``make_run`` makes the runs. Where it can be read only once,
    options that need more are refused.

    ``keep`` gets the run when it has ended or was interrupted, never one that failed. A stream in which a class turns
    up that its first block does not have is begun again with all classes.
    """
    if not source.rereadable:
        options.check_read_once(checkpoints is not None)
    resumed = None
    if checkpoints is not None:
        observers = [*observers, checkpoints.writer or checkpoints.open(source, options)]
        resumed = checkpoints.resumed
    seed = _seed(options, start, resumed)
    options = replace(options, random_state=seed)
    if isinstance(source, Streamed):
        source.fit_scale(seed, options.validation_fraction if options.early_stopping else None)
    while True:
        if isinstance(source, Streamed) and source.rereadable and start is None and len(source.classes) < 2:
            source.read_classes()
            check_two_classes(source.classes.tolist())
        run = _new_run(source, options, observers, start, resumed, given, partial(make_run, threads=threads))
        try:
            outcome = run.run()
        except NewClass as found:
            found.source.read_classes()
            resumed = None
        except KeyboardInterrupt:
            keep(run)
            raise
        else:
            keep(run)
            return outcome


def _seed(options: RunOptions, start: Start | None, resumed: Checkpoint | None) -> int:
    """Return the seed of a run: of the one that it goes on from, if there is one."""
    before = resumed or start
    return draw_seed(options.random_state) if before is None else int(before.state.seed)


def _new_run(
    source: TrainingSource,
    options: RunOptions,
    observers: Sequence[Observer],
    start: Start | None,
    resumed: Checkpoint | None,
    given: Weights | None,
    make_run: MakeRun,
) -> TrainingRun:
    best, current = None, None
    if resumed is not None:
        state, best, current = resumed.state, resumed.best, resumed.current
        source.set_classes(resumed.classes)
    elif start is not None:
        state = start.state.snapshot()
        state.renumber_rows(source.batch.rows.matrix if isinstance(source, InMemory) else None)
        state, known = state.with_classes(start.classes, source.classes, options.direct)
        if start.best is not None and len(known) == len(start.classes):  # else the best pass knew fewer classes
            best = replace(start.best)
        source.set_classes(known)
    else:
        state = first_state(source, options, given)
    warm = start is not None and resumed is None
    return make_run(state, source, options, observers, warm=warm, best=best, resumed=current)


def online_run(
    batch: Batch,
    options: RunOptions,
    start: Start | None,
    classes: Labels | None = None,
    threads: int = 1,
    one_by_one: bool = False,
) -> TrainingRun:
    """Return a run whose `visit` learns from rows as they come, the first of which are those of ``batch``.

    It continues from ``start``; ``classes`` may name more classes than occur. With ``one_by_one`` each batch is a row.
    """
    options = replace(options, early_stopping=False, verbose=0)
    options.check_for_blocks("chunks of rows do")
    if start is None:
        known = batch.classes if classes is None else np.union1d(classes, batch.classes)
        state = new_state(options, len(known), batch.rows.d)
    else:
        check_label_types(start.classes, batch.classes)
        given = start.classes if classes is None else np.unique(classes)
        start.state.renumber_rows()
        state, known = start.state.with_classes(start.classes, given, options.direct)
    return TrainingRun(state, InMemory(batch), options, classes=known, threads=threads, one_by_one=one_by_one)
