"""``rosenblatt watch``: an endless stream, one example at a time: predict, then learn."""

from __future__ import annotations

import math
import sys
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.inputs import check_out, lenient_defaults, load_model, open_data
from rosenblatt.cli.options import (
    AS_JSON,
    LEARNERS,
    MODEL_OUT,
    TARGET,
    KernelChoice,
    StepOptions,
    WeightedRowOptions,
    command,
    option,
    run_options,
)
from rosenblatt.cli.output import emit, enable_gc, note, say_counts, say_extra_columns, say_preparation
from rosenblatt.cli.train_run import check_read_once, kernel_facts, name_features
from rosenblatt.messages import ParameterError, Setting

if TYPE_CHECKING:
    from rosenblatt.data import Stream
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.report import Report
    from rosenblatt.training.run import TrainingRun


# A learner that predicts each row of a stream before it learns from it, and counts how often it was wrong.


_RECENT = 1000


@dataclass
class Count:
    """Rows and mistakes so far, and those among the last thousand."""

    rows: int = 0
    mistakes: int = 0
    recent: deque[tuple[int, int]] = field(default_factory=deque)
    recent_rows: int = 0
    recent_mistakes: int = 0

    def add(self, rows: int, mistakes: int) -> None:
        """Count some rows that came one after the other."""
        self.rows, self.mistakes = self.rows + rows, self.mistakes + mistakes
        self.recent.append((rows, mistakes))
        self.recent_rows, self.recent_mistakes = self.recent_rows + rows, self.recent_mistakes + mistakes
        while self.recent_rows - self.recent[0][0] >= _RECENT:
            rows, mistakes = self.recent.popleft()
            self.recent_rows, self.recent_mistakes = self.recent_rows - rows, self.recent_mistakes - mistakes

    @property
    def rate(self) -> float:
        """The share of mistakes among the last thousand rows, or all where there are fewer."""
        return self.recent_mistakes / max(1, self.recent_rows)


class OnlineLearner:
    """A model that learns row by row, and counts its mistakes: those of the weights that predict."""

    def __init__(self, learner: str, options: RunOptions, model: TrainedModel | None = None) -> None:
        self.learner, self.options, self.model, self.count = learner, options, model, Count()
        self._run: TrainingRun | None = None

    def learn(self, X: Any, y: Any, weight: Any = None) -> None:
        """Visit rows in order: predict, count a mistake, learn by as much as the row weighs."""
        import numpy as np
        import scipy.sparse as sp

        from rosenblatt.training.rows import pad_columns

        if self.model is not None and sp.issparse(X):
            X = pad_columns(sp.csr_array(X), self.model.state.n_features)
            self.model.state.widen(X.shape[1])
        before = y[:0] if self.model is None else self.model.classes
        known = np.union1d(before, y)
        competing = self.options.direct and len(known) == len(before)  # a class competes from its first row on
        if (len(known) <= 2 or competing) and self.options.hypothesis == "last":  # such rows count their own mistakes
            self.count.add(len(y), self._visit(X, y, weight))
            return
        for i in range(len(y)):
            row, label = X[i : i + 1], y[i : i + 1]
            right = self.model is not None and self._predicted(row) == label[0]
            self._visit(row, label, None if weight is None else weight[i : i + 1], one_by_one=True)
            self.count.add(1, 0 if right else 1)

    def _predicted(self, row: Any) -> Any:
        """Return the class of one row, in a time that does not depend on columns in which a sparse row is 0."""
        import scipy.sparse as sp

        assert self.model is not None
        if not sp.issparse(row) or len(self.model.classes) == 1:
            return self.model.predict(row)[0]
        return self.model.classes[self.model.state.decide_one(self.options.hypothesis, row)]

    def _visit(self, X: Any, y: Any, weight: Any, one_by_one: bool = False) -> int:
        """Learn from rows; return the mistakes of the last weights. Rows that come one by one are one pass."""
        from rosenblatt.training.batches import labelled_batch
        from rosenblatt.training.model_file import TrainedModel
        from rosenblatt.training.train import WarmStart, online_run

        run = self._run if one_by_one else None
        batch = labelled_batch(X, y, weight, known=None if run is None else run.classes)
        continues = run is not None
        if run is None:
            start = None if self.model is None else WarmStart(self.model.state, self.model.classes)
            run = online_run(batch, self.options, start)
        made = run.visit(batch, continues)
        if self.model is None:
            self.model = TrainedModel(self.learner, self.options, run.classes, run.state)
        self.model.state, self.model.classes = run.state, run.classes
        self._run = run if one_by_one else None
        return made


def learner_line(learner: str, options: RunOptions, continues: bool) -> str:
    """Return which learner it is, which of its weights predict, and what they forget.

    ``continues`` says that a model is gone on from, whose options are settled.

    >>> from rosenblatt.training.options import RunOptions
    >>> learner_line("AveragedPerceptron", RunOptions(hypothesis="average", decay=0.001), continues=False)
    'learning with the averaged perceptron; its average predicts, in which a row counts half after 693 more.'
    """
    from rosenblatt.training.options import LEARNERS

    other = "start anew with" if continues else "give"
    start = f"learning with {LEARNERS[learner].words}; its"
    if options.hypothesis == "last" and learner == "AROW":
        return (
            f"{start} last weights predict, and its steps shrink, so it follows slowly: for streams that drift {other} "
            "--r 1 or --learner pa."
        )
    if options.hypothesis == "last":
        return f"{start} last weights predict, which follow streams that drift."
    if options.decay:
        rows = math.log(0.5) / math.log1p(-options.decay)
        return f"{start} average predicts, in which a row counts half after {max(1, round(rows)):,} more."
    way = "--hypothesis last" if learner == "KernelPerceptron" else "--learner pa"
    if options.hypothesis == "average":
        decay = "" if learner == "KernelPerceptron" else "--decay or "
        return f"{start} average predicts, which forgets nothing: for streams that drift {other} {decay}{way}."
    return f"{start} votes predict, which forget nothing: for streams that drift {other} {way}."


_LARGE_RATIO = 10.0
"""Columns whose ranges differ by more than this are worth a note."""


class OnlineKernel(KernelChoice):
    """The kernel of a learner that cannot look at all rows first, and keeps no kernel values."""

    gamma: str | None = option(None, "G", "Gamma of the kernel, a number.")
    cache_size: None = field(default=None, init=False)


@command
def watch(
    *,
    target: str | None = TARGET,
    learner: str | None = option(
        None, "NAME", "perceptron (if left out), averaged, arow, pa, margin, voted or kernel.", "--learner -l"
    ),
    kernel: OnlineKernel,
    model: str | None = option(None, "MODEL", "Start from this model and go on learning.", "--model -m"),
    every: int = option(1000, "N", "Print a line after every N rows."),
    margin: float | None = option(None, "G", "Print the most updates for rows separated by a margin of G."),
    out: Path | None = MODEL_OUT,
    as_json: bool = AS_JSON,
    steps: StepOptions,
    rows: WeightedRowOptions,
) -> None:
    """Learn from standard input as it comes, an endless stream: predict each row, then learn from it.

    Prints the mistakes so far, their share among the last 1,000 rows, the length R of the longest row (the bias is
    one more feature), and a bound: a perceptron makes at most (R / margin)^2 mistakes, so if a hyperplane separates
    all rows, its margin is at most the number printed. What the columns of a table are is decided from the first
    --every rows: a column of which that is unclear is left out, and a missing number is replaced by the mean of these
    rows, unless --keep, --kind or --missing say otherwise. Stops at the end of input or at Ctrl-C, and writes the
    model then; --model goes on from there.

    \b
    Example:
      tail -f clicks.svm | rosenblatt watch --every 1000 -o clicks.model
      tail -f clicks.svm | rosenblatt watch --model clicks.model -o clicks.model
    """
    if every < 1:
        raise ValueError(f"--every must be 1 line or more, got {every}.")
    if margin is not None and not margin > 0:
        raise ValueError(f"--margin must be above 0, got {margin:g}.")
    check_out(out, [])
    if model is None:
        name = learner or "perceptron"
        run = run_options(name, kernel, steps)
        check_read_once(run)
        online = OnlineLearner(LEARNERS[name], run)
    else:
        settled = {"target": target, "learner": learner, **kernel.given, "device": None, **steps.given}
        started = _started(model, settled | rows.about_rows(), kernel.device)
        online = OnlineLearner(started.learner, started.options, started)
    if margin is not None:
        _check_bounded(online.options)
    known = None if online.model is None else online.model.preparation
    reporter = Reporter(online, margin, as_json)
    interrupted, reported, stream = False, -1, None
    fault: Exception | None = None
    enable_gc()
    try:
        stream = _open_input(target, rows, every, known)
        reported = _learn_all(online, stream, reporter, every)
    except KeyboardInterrupt:
        interrupted = True
    except (ValueError, OSError) as broken:  # a bad line, or no one to print to: what was learned before it is kept
        if not online.count.rows:
            raise
        fault = broken
    count = online.count
    if not count.rows:
        if interrupted:
            raise KeyboardInterrupt
        raise ValueError("Expected lines on standard input, got none.")
    if count.rows > reported and not isinstance(fault, OSError):
        try:
            reporter.print_line()
        except OSError as broken:
            fault = broken
    reporter.conclude()
    if stream is not None:
        _say_ranges(online, stream)
    if out is not None and stream is not None:
        _save(online, stream, out)
    if stream is not None:
        say_counts(stream)
    if fault is not None:
        raise fault
    if interrupted:
        raise KeyboardInterrupt


def _started(path: str, settled: dict[str, Any], device: str | None) -> TrainedModel:
    """Return the model to start from, which says what rows are and what learns: nothing ``settled`` may be given."""
    from rosenblatt.training.model_file import TrainedModel

    for name, value in settled.items():
        if value is not None and name != "n_features":
            raise ParameterError(Setting(name), f" is what it was when {path} was made: leave it out.")
    model = load_model(path)
    if not isinstance(model, TrainedModel):
        raise ValueError(f"{path} holds a {model.learner}, which does not learn row by row.")
    model.options = _online_options(model, device)
    return model


def _online_options(model: TrainedModel, device: str | None) -> RunOptions:
    """Return the options with which a model goes on learning row by row, here, from the kernel that it has."""
    from rosenblatt.training.dual.state import DualState
    from rosenblatt.training.options import KernelOptions

    if not (isinstance(model.options, KernelOptions) and isinstance(model.state, DualState)):
        KernelChoice(device=device).parameters(model.learner)
        return model.options
    KernelChoice(device=device).parameters("kernel")
    return replace(model.options, gamma=model.state.kernel.gamma, device=device)


def _check_bounded(options: RunOptions) -> None:
    """Raise a ParameterError where the theorem has no bound on the updates of such a run."""
    from rosenblatt.kernels.rules import MarginRule, PerceptronRule
    from rosenblatt.training.options import Kernel, KernelOptions

    if not isinstance(options.rule, PerceptronRule | MarginRule):
        raise ParameterError(
            "--margin is for learners whose updates have a bound, and steps of other sizes than 1 have none: leave it "
            "out, or use --learner perceptron."
        )
    if not isinstance(options, KernelOptions):
        return
    if options.max_support is not None:
        raise ParameterError(
            "--margin is for runs that forget nothing, which have a bound, and ",
            Setting("max_support"),
            " forgets rows: leave out one of the two.",
        )
    if not Kernel(str(options.kernel), coef0=options.coef0).is_positive_definite:
        raise ParameterError(
            "--margin is for kernels that are dot products in some space, and ",
            Setting("kernel", options.kernel),
            " with this ",
            Setting("coef0"),
            " is not known to be one: leave it out.",
        )


def _open_input(target: str | None, rows: WeightedRowOptions, every: int, known: dict[str, Any] | None) -> Stream:
    """Return standard input as a stream, prepared as the rows of the model that is gone on from."""
    given = {**rows.to_open(), "first_rows": every}
    if known is None:
        given = lenient_defaults(given)
    elif known["format"] == "svmlight":  # features may be new
        given |= {"format": "svmlight", "preparation": known | {"n_features": None}}
    else:
        given |= {"format": rows.format or known["format"], "preparation": known}
    stream = open_data(["-"], target, given)
    say_preparation(stream)
    say_extra_columns(stream)
    if not stream.labelled and known is not None and known.get("target"):
        raise ValueError(f"The first line has no column {known['target']['name']!r}, the label, as the model expects.")
    if not stream.labelled:
        raise ValueError("Each line needs its label: for tables, say --target, the column with the labels.")
    return stream


def _learn_all(online: OnlineLearner, stream: Stream, reporter: Reporter, every: int) -> int:
    """Learn from all lines, with a line every so many rows; return the rows before the last line."""
    from rosenblatt.blocks import slice_block

    count, step, reported = online.count, min(every, 100), 0
    for block in stream:
        start = 0
        while start < len(block):
            stop = min(len(block), start + step - count.rows % step, start + every - count.rows % every)
            if not count.rows:
                note(learner_line(online.learner, online.options, continues=online.model is not None))
            part = slice_block(block, start, stop)
            online.learn(part.X, part.y, part.weight)
            start = stop
            if count.rows % every == 0:
                reporter.print_line()
                reported = count.rows
    return reported


def _say_ranges(online: OnlineLearner, stream: Stream) -> None:
    """Print a note where columns of a table that is not scaled differ much in size."""
    ranges = None if online.model is None else online.model.state.feature_ranges
    numbers = stream.number_columns
    if stream.scale is not None or ranges is None or numbers is None:
        return
    varying = ranges[numbers[numbers < len(ranges)]]
    varying = varying[varying > 0]
    ratio = varying.max() / varying.min() if len(varying) > 1 else 1.0
    if ratio > _LARGE_RATIO:
        note(
            f"some columns range over {ratio:,.0f} times as much as others, which hardly count, and what is read once "
            "cannot be scaled: train on some rows first, and go on from that with --model."
        )


def _save(online: OnlineLearner, stream: Stream, out: Path) -> None:
    model = online.model
    if model is None:
        return
    model.preparation = stream.preparation
    if model.preparation["format"] == "svmlight":
        model.preparation["n_features"] = model.state.n_features
    name_features(model, stream.feature_names)
    files, rows = _seen_before(model.fingerprint)
    model.fingerprint = {"files": [*files, "-"], "rows": rows + online.count.rows}
    model.save(out)
    note(f"model written to {out}.")


def _seen_before(fingerprint: Any) -> tuple[list[Any], int]:
    """Return the files and the number of rows that a model says it was trained on, as this command writes them."""
    known = fingerprint if isinstance(fingerprint, dict) else {}
    files, rows = known.get("files"), known.get("rows")
    return files if isinstance(files, list) else [], rows if isinstance(rows, int) else 0


@dataclass
class Reporter:
    """Prints how it goes: mistakes so far, and what the theorem says of them."""

    online: OnlineLearner
    margin: float | None
    as_json: bool
    has_header: bool = False

    @property
    def _report(self) -> Report:
        if self.online.model is None:
            raise ValueError("Expected lines on standard input, got none.")
        return self.online.model.report

    @property
    def bound(self) -> float:
        """The most updates that rows no longer than those seen allow, if the margin is as large as was said."""
        report, model = self._report, self.online.model
        if self.margin is None or model is None:
            return math.inf
        start = math.sqrt(float(model.state.counters["start2"].max()))  # a model may have begun with given weights
        asked = float(getattr(model.options, "margin", 0.0))  # rows that are right by no more make updates, too
        return (report.radius**2 + 2.0 * asked) / self.margin**2 + 2.0 * start / self.margin

    def conclude(self) -> None:
        """Print a note where the margin cannot be as large as was said."""
        model, updates = self.online.model, self._report.updates
        if model is not None and len(model.classes) == 2 and updates > self.bound:
            space = " in the kernel's space" if kernel_facts(model) else ""
            note(
                f"{updates:,} updates are more than a margin of {self.margin:g} allows ({self.bound:,.0f}): "
                f"no hyperplane{space} separates these rows by that much."
            )

    def print_line(self) -> None:
        """Print one line, the first time below the names of the columns."""
        count, report = self.online.count, self._report
        bound = None if self.margin is None else self.bound
        if not self.has_header and not self.as_json:
            last = "" if bound is None else f"{'bound':>12}"
            print(f"{'rows':>12}{'mistakes':>12}{'last 1,000':>12}{'longest row':>14}{'margin at most':>17}{last}")
        self.has_header = True
        if self.as_json:
            emit(
                {
                    "rows": count.rows,
                    "mistakes": count.mistakes,
                    "recent_rate": count.rate,
                    "radius": report.radius,
                    "margin_high": report.margin_high,
                }
                | ({} if bound is None else {"bound": bound})
            )
        else:
            high = f"{report.margin_high:.4g}" if math.isfinite(report.margin_high) else "-"
            line = f"{count.rows:>12,}{count.mistakes:>12,}{count.rate:>12.1%}{report.radius:>14.4g}{high:>17}"
            print(line if bound is None else f"{line}{bound:>12,.0f}")
        sys.stdout.flush()
