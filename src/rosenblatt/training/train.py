"""Train on a data source: choose the initial state, handle warm starts and checkpoints, and run passes to the end.

Estimators, the command line and clusters call `train` for passes over a data set or a stream, and `online_run` for rows
that arrive one batch at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypedDict, Unpack

from rosenblatt.blocks import Contents, as_classes, as_file_stream, check_label_types, join_classes
from rosenblatt.messages import ParameterError
from rosenblatt.training.batches import Batch, InMemory, NewClass, Streamed, TrainingSource
from rosenblatt.training.checkpoint import Checkpoint, CheckpointWriter
from rosenblatt.training.early_stopping import BestPass
from rosenblatt.training.linear import InitialWeights as Weights
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import RunOptions, draw_seed
from rosenblatt.training.rows import Labels, check_two_classes
from rosenblatt.training.run import TrainingRun, initial_state, new_state
from rosenblatt.training.state import Outcome, Runner, RunState

MakeRun = Callable[..., TrainingRun]
"""The class `TrainingRun`, or a callable with the same parameters that returns a run."""


class WarmStart(NamedTuple):
    """A state to continue from, its classes, and early stopping's best pass."""

    state: RunState
    classes: Labels
    best: BestPass | None = None


class _CheckpointOptions(TypedDict, total=False):
    feature_names: Callable[[], Iterable[object] | None]
    progress: Callable[[float], None] | None
    on_resume: Callable[[Checkpoint], None]


@dataclass
class Checkpointing:
    """The file for the checkpoints of a run, and whether the run resumes from that file."""

    path: str | os.PathLike[str]
    learner: str
    every: float = 30.0
    """The time between two checkpoints, in seconds."""
    resume: bool = False
    contents: Contents | None = None
    """Records of the bytes that have been read, if rows come from files."""
    feature_names: Callable[[], Iterable[object] | None] = lambda: None
    progress: Callable[[float], None] | None = None
    """Called with a share from 0 to 1 while the files are compared with those that the checkpoint records."""
    on_resume: Callable[[Checkpoint], None] = lambda found: None
    """Called with the checkpoint from which the run resumes, before the first row is read."""
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
        **more: Unpack[_CheckpointOptions],
    ) -> Checkpointing | None:
        """Return the checkpointing of a run, or None if ``path`` is None.

        Call this before ``blocks`` are read, because the bytes that are read from files are recorded. A ParameterError
        is raised if ``resume`` is set without a ``path``.
        """
        if path is None:
            if resume:
                raise ParameterError("{resume=True} needs {checkpoint}, the file to resume from.")
            return None
        files = as_file_stream(blocks)
        return cls(path, learner, every, resume, None if files is None else files.watch_contents(), **more)

    def open(self, source: TrainingSource, options: RunOptions) -> CheckpointWriter:
        """Return the observer that writes checkpoints. With ``resume``, read an existing checkpoint first."""
        rows = source.blocks if isinstance(source, Streamed) else source
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
    start: WarmStart | None = None,
    given: Weights | None = None,
    checkpoints: Checkpointing | None = None,
    threads: int = 1,
    make_run: MakeRun = TrainingRun,
) -> Outcome:
    """Train on a data source, starting from zero, from ``start`` or from a checkpoint; return how the run ended.

    If a class appears that was not in the first block of a stream, training starts again with all classes.

    Parameters
    ----------
    source : TrainingSource
        An `InMemory` or `Streamed` source, or another source that the runs of ``make_run`` can read. If it can be read
        only once, options that need more passes raise a ParameterError.
    options : RunOptions
        The learner's parameters.
    keep : callable
        Called with the run when the run has ended or was interrupted, but not if it failed.
    observers : sequence of Observer
        Observers in addition to the run's own; by default there are none.
    start : WarmStart, optional
        The state to continue from.
    given : pair of arrays, optional
        The weights and biases from which a new run starts, instead of zero.
    checkpoints : Checkpointing, optional
        The file for checkpoints, and whether to resume from it; by default no checkpoints are written.
    threads : int
        The number of threads for one-vs-rest classifiers, by default 1.
    make_run : callable
        Called with the parameters of `TrainingRun` to create the run; by default `TrainingRun` itself.
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
        source.fit_scale(options.validation_split(seed))
    while True:
        if isinstance(source, Streamed) and source.rereadable and start is None and len(source.classes) < 2:
            source.read_classes()
            check_two_classes(source.classes.tolist())
        try:
            run = _new_run(source, options, observers, start, resumed, given, partial(make_run, threads=threads))
            try:
                outcome = run.run()
            except KeyboardInterrupt:
                keep(run)
                raise
        except NewClass as found:
            found.source.read_classes()
            resumed = None
        else:
            keep(run)
            return outcome


def _seed(options: RunOptions, start: WarmStart | None, resumed: Checkpoint | None) -> int:
    """Return the seed of the run that is resumed or continued; for a new run, return a seed from the options."""
    before = resumed or start
    return draw_seed(options.random_state) if before is None else int(before.state.seed)


def _new_run(
    source: TrainingSource,
    options: RunOptions,
    observers: Sequence[Observer],
    start: WarmStart | None,
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
        if start.best is not None and len(known) == len(start.classes):  # the best pass may have fewer classes
            best = replace(start.best)
        source.set_classes(known)
    else:
        state = initial_state(source, options, given)
    warm = start is not None and resumed is None
    return make_run(state, source, options, observers, warm=warm, best=best, resumed=current)


def online_run(
    batch: Batch,
    options: RunOptions,
    start: WarmStart | None,
    classes: Labels | None = None,
    threads: int = 1,
    runner: Runner[Any] | None = None,
) -> TrainingRun:
    """Return a run for online learning, whose method `TrainingRun.visit` trains on one batch at a time.

    ``batch`` is the first batch. If ``start`` is given, the run continues from it. ``classes`` may include classes that
    have not occurred yet. ``runner`` is that of the run.
    """
    options = replace(options, early_stopping=False, tol=None, verbose=0)
    options.check_for_blocks("chunks of rows do")
    if start is None:
        known = batch.classes if classes is None else join_classes(as_classes(classes), batch.classes)
        state = new_state(options, len(known), batch.rows.d)
    else:
        check_label_types(start.classes, batch.classes)
        given = start.classes if classes is None else as_classes(classes)
        start.state.renumber_rows()
        state, known = start.state.with_classes(start.classes, given, options.direct)
    return TrainingRun(state, InMemory(batch), options, classes=known, threads=threads, runner=runner)
