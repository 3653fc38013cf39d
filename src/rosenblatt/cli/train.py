"""``rosenblatt train``: learn from files, and end in a report."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.inputs import check_out, opened, score
from rosenblatt.cli.kernel_choice import KernelChoice, check_read_once, kernel_facts, needs_data
from rosenblatt.cli.output import emit, note
from rosenblatt.cli.progress_bar import ProgressBar
from rosenblatt.cli.startup import enable_gc
from rosenblatt.cli.train_report import print_report

if TYPE_CHECKING:
    from rosenblatt.data import Stream
    from rosenblatt.training.model import TrainedModel
    from rosenblatt.training.options import RunOptions

LEARNERS = {
    "averaged": "AveragedPerceptron",
    "perceptron": "Perceptron",
    "voted": "VotedPerceptron",
    "kernel": "KernelPerceptron",
}


@dataclass(frozen=True)
class TrainOptions:
    """What to train, and how."""

    learner: str = "averaged"
    kernel: KernelChoice = field(default_factory=KernelChoice)
    passes: int | None = None
    shuffle: bool = True
    seed: int = 0
    seeds: int = 1
    early_stopping: bool = False
    checkpoint: Path | None = None
    every: float = 30.0
    resume: bool = False
    cache: Path | None = None


def run_options(asked: TrainOptions) -> RunOptions:
    """Return the options of the run that is asked for.

    >>> run_options(TrainOptions(learner="perceptron", passes=3)).max_iter
    3
    """
    from rosenblatt.training.options import RunOptions

    if asked.learner not in LEARNERS:
        raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}, got {asked.learner!r}.")
    passes = {} if asked.passes is None else {"max_iter": asked.passes}
    return RunOptions.for_learner(
        LEARNERS[asked.learner],
        shuffle=asked.shuffle,
        random_state=asked.seed,
        early_stopping=asked.early_stopping,
        **passes,
        **asked.kernel.parameters(asked.learner),
    ).check()


def train(
    paths: Sequence[str],
    target: str | None,
    asked: TrainOptions,
    test: Sequence[str],
    out: Path | None,
    options: Mapping[str, Any],
    names: bool,
    as_json: bool,
) -> None:
    """Learn, test, save and report; after Ctrl-C too, with what was learned so far."""
    _check(asked, test)
    written = {"model": out, "checkpoint": asked.checkpoint, "cache": asked.cache}
    places: dict[str, str] = {}
    for what, file in written.items():
        check_out(file, [*paths, *test], needed=what != "cache")
        place = "" if file is None else os.path.realpath(file)
        if place in places:
            raise ValueError(f"{file} cannot be the {places[place]} and the {what}: name two files.")
        if file is not None:
            places[place] = what
    run = run_options(asked)
    started = time.perf_counter()
    readings = 10 if asked.passes is None else (asked.passes + 2 * needs_data(run)) * asked.seeds
    many = readings > 2  # for one more pass, writing costs as much as parsing
    stream = opened(paths, target, {**options, "names": names or None, "cache": asked.cache or many or None})
    if test:
        _opened_test(stream, test, options)  # to complain at once; how many features there are is not known yet
    if iter(stream) is stream:
        run = _one_pass(asked, run)
    training = _Training(stream, asked, run, paths)
    interrupted = not training.fit(ProgressBar("pass", paths, run.max_iter))
    model = training.model
    answer = training.answer(time.perf_counter() - started)
    answer["interrupted"], answer["last_pass_cut"] = interrupted, interrupted and training.in_pass
    fault = _save(model, out, answer)
    if test:
        labelled = _opened_test(stream, test, options)
        answer["test"] = _test(model, labelled, test)
        if asked.seeds > 1 and not interrupted:
            accuracy = answer["test"]["accuracy"]
            answer["test"]["by_seed"] = _more_seeds(accuracy, training, labelled)
    if as_json:
        emit(answer)
    else:
        print_report(model, answer)
    if fault is not None:
        raise fault
    if interrupted:
        raise KeyboardInterrupt


def _one_pass(asked: TrainOptions, run: RunOptions) -> RunOptions:
    """Return the options for what can be read only once."""
    if (asked.passes or 1) > 1 or asked.seeds > 1:
        raise ValueError(
            "What can be read only once, such as standard input, allows one pass: save it to a file for more."
        )
    check_read_once(run)
    if asked.passes is None:
        note("what can be read only once allows one pass: save it to a file for more.")
    return replace(run, max_iter=1)


def _save(model: TrainedModel, out: Path | None, answer: dict[str, Any]) -> OSError | None:
    """Write the model, before anything else can go wrong; return why that failed, for after the report."""
    if out is None:
        return None
    try:
        model.save(out)
    except OSError as fault:
        return fault
    answer["model"] = str(out)
    return None


def _check(asked: TrainOptions, test: Sequence[str]) -> None:
    if asked.seeds < 1:
        raise ValueError(f"--seeds must be 1 or more, got {asked.seeds}.")
    if asked.seeds > 1 and not test:
        raise ValueError("--seeds shows how accuracy varies, so it needs --test, a file to test on.")
    if asked.seeds > 1 and asked.checkpoint is not None:
        raise ValueError("--checkpoint is for one run, so it does not go with --seeds.")
    if asked.resume and asked.checkpoint is None:
        raise ValueError("--resume needs --checkpoint, the file to go on from.")
    if asked.passes is not None and asked.passes < 1:
        raise ValueError(f"--passes must be 1 or more, got {asked.passes}.")


class _Training:
    """A stream, how it is learned from, and the model that came of it."""

    model: TrainedModel

    def __init__(self, stream: Stream, asked: TrainOptions, options: RunOptions, paths: Sequence[str]) -> None:
        self.stream, self.asked, self.options, self.paths = stream, asked, options, paths
        self.rows, self.in_pass = 0, False

    def fit(self, bar: ProgressBar) -> bool:
        """Train, with a bar on a terminal; return False where Ctrl-C cut it short after something was learned."""
        from rosenblatt.training.batches import Streamed
        from rosenblatt.training.checkpoint import CheckpointWriter
        from rosenblatt.training.model import TrainedModel, trained_state
        from rosenblatt.training.observers import Observer
        from rosenblatt.training.run import TrainingRun
        from rosenblatt.training.run_data import watch_contents
        from rosenblatt.training.train import train as train_on

        asked, learner = self.asked, LEARNERS[self.asked.learner]
        contents = None if asked.checkpoint is None else watch_contents(self.stream)
        source = Streamed(self.stream)
        observers: list[Observer] = [bar.observer()]
        resumed = writer = None
        if not source.rereadable:
            self.options.check_read_once(asked.checkpoint is not None)
        elif asked.checkpoint is not None:
            if asked.checkpoint.exists() and not asked.resume:
                note(f"{asked.checkpoint}, of an earlier run, is going to be replaced: --resume would go on from it.")
            writer = CheckpointWriter(
                asked.checkpoint, asked.every, learner, self.options, self.stream, contents=contents
            )
            observers.append(writer)
            with ProgressBar("comparing with the checkpoint", self.paths) as compared:
                resumed = writer.read(compared.set_share) if asked.resume else None
            if resumed is not None:
                note(f"going on from {asked.checkpoint}, in pass {resumed.current.passes_done + 1}.")
            elif asked.resume:
                note(f"there is no checkpoint {asked.checkpoint} to go on from, so training starts from the beginning.")
        if resumed is not None:
            source.width = resumed.state.n_features
        kept: list[TrainedModel] = []

        def keep(run: TrainingRun) -> None:
            if run.last_batch is None and not run.resumed:
                return  # interrupted before the first row
            state, more = trained_state(run)
            kept.append(TrainedModel(learner, self.options, run.classes, state, more))
            self.rows = max(self.rows, run.labels.rows, self.stream.rows_read, run.current.rows)
            self.in_pass = run.current.row > 0 or run.current.visited > 0 or not source.rereadable

        enable_gc()
        interrupted = False
        try:
            with bar:
                train_on(source, self.options, keep, observers, resumed=resumed)
        except KeyboardInterrupt:
            if writer is not None and (resumed is not None or writer.has_written):
                older = ", an earlier one, as the last could not be written" if writer.has_failed else ""
                note(f"the same command with --resume goes on from {asked.checkpoint}{older}.")
            elif writer is not None:
                note(f"this run has written no checkpoint to {asked.checkpoint}, so it cannot be gone on with.")
            if not kept:
                raise  # not one row was visited
            interrupted = True
        self.model = kept[-1]
        self._describe()
        return not interrupted

    def _describe(self) -> None:
        """Tell the model how its rows are prepared, what features are called, and what it was trained on."""
        model, stream = self.model, self.stream
        model.preparation = stream.preparation
        model.fingerprint = {"files": [Path(path).name for path in self.paths], "rows": self.rows}
        if iter(stream) is not stream:
            model.fingerprint["sha256"] = stream.fingerprint
        name_features(model, stream.feature_names)

    def answer(self, took: float) -> dict[str, Any]:
        """Return the facts of the run for the report."""
        model, report = self.model, self.model.report
        return {
            "learner": model.learner,
            "rows": self.rows,
            "skipped": self.stream.skipped.rows,
            "features": model.state.n_features,
            "classes": model.classes.tolist(),
            **kernel_facts(model),
            "passes": report.passes,
            "updates": report.updates,
            "mistakes_by_pass": list(report.mistakes_by_pass),
            "separated": bool(report.converged),
            "radius": report.radius,
            "margin_low": report.margin_low,
            "margin_high": report.margin_high,
            "bound": report.bound,
            "seconds": round(took, 3),
        }


def name_features(model: TrainedModel, names: list[str] | None) -> None:
    """Tell the model what its features are called, where they have names."""
    import numpy as np

    if names is not None and len(names) == model.state.n_features and not all(name.startswith("#") for name in names):
        model.feature_names = np.array(names, object)


def _opened_test(stream: Stream, test: Sequence[str], options: Mapping[str, Any]) -> Stream:
    kept = {name: options.get(name) for name in ("format", "on_error", "max_line_bytes")}
    rows = opened(test, None, {**kept, "preparation": stream.preparation})
    if not rows.labelled:
        raise ValueError(f"{', '.join(test)} has no labels to test against: add the column that --target names.")
    return rows


def _test(model: TrainedModel, rows: Stream, test: Sequence[str]) -> dict[str, Any]:
    with ProgressBar("testing", test) as bar:
        found = score(model, bar.track(rows))
    return {"files": list(test), "rows": found["rows"], "accuracy": found["accuracy"]}


def _more_seeds(first: float, training: _Training, test: Stream) -> list[float]:
    """Train again with the seeds that follow, and return the accuracies of all."""
    found, asked = [first], training.asked
    for seed in range(asked.seed + 1, asked.seed + asked.seeds):
        again = _Training(training.stream, asked, replace(training.options, random_state=seed), training.paths)
        if not again.fit(ProgressBar(f"seed {seed}, pass", training.paths, again.options.max_iter)):
            raise KeyboardInterrupt
        found.append(score(again.model, test)["accuracy"])
    return found
