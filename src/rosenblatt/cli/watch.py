"""``rosenblatt watch``: online learning from standard input. Each row is first predicted, then learned from."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rosenblatt.cli.inputs import check_out, lenient_defaults, load_model, open_data
from rosenblatt.cli.options import (
    LEARNERS,
    MODEL_OUT,
    TARGET,
    Group,
    KernelChoice,
    StepOptions,
    WeightedRowOptions,
    command,
    make_run_options,
    option,
)
from rosenblatt.cli.output import (
    enable_gc,
    note_counts,
    note_extra_columns,
    note_preparation,
    print_json,
    print_note,
)
from rosenblatt.cli.train_run import check_read_once, kernel_facts
from rosenblatt.messages import (
    ParameterError,
    Setting,
    check_choice,
    count_of,
    escape_unprintable,
    label_text,
    plain_label,
)

if TYPE_CHECKING:
    from rosenblatt.blocks import Block
    from rosenblatt.cli.watch_run import AnswerWriter, WatchRun
    from rosenblatt.data import Stream
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.prequential import OnlineLearner
    from rosenblatt.training.report import Report

_MOST_ROWS = 5000
"""The largest number of rows that are learned, logged and answered at once."""


def learner_line(learner: str, options: RunOptions, from_model: bool) -> str:
    """Return a line about the learner, the weights used for predictions, and how these weights adapt to drift.

    ``from_model`` is True if the run continues a saved model, whose options cannot be changed.

    >>> from rosenblatt.training.options import RunOptions
    >>> learner_line("AveragedPerceptron", RunOptions(hypothesis="average", decay=0.001), from_model=False)
    'learning with the averaged perceptron. Predictions use the averaged weights; the influence of a row on them halves
    every 693 rows.'
    """
    from rosenblatt.training.options import LEARNERS

    use = "start a new model with" if from_model else "use"
    start = f"learning with {LEARNERS[learner].words}."
    if options.hypothesis == "last" and learner == "AROW":
        return (
            f"{start} Predictions use the last weights, which adapt to drift slowly, because the steps shrink. If the "
            f"data drift, {use} --r 1 or --learner pa --hypothesis last."
        )
    if options.hypothesis == "last":
        return f"{start} Predictions use the last weights, which adapt to drift."
    if options.decay:
        rows = math.log(0.5) / math.log1p(-options.decay)  # (1 - decay)^rows = 1/2
        return (
            f"{start} Predictions use the averaged weights; the influence of a row on them halves every "
            f"{max(1, round(rows)):,} rows."
        )
    own = learner in ("KernelPerceptron", "PassiveAggressive")
    way = "--hypothesis last" if own else "--learner pa --hypothesis last"
    if options.hypothesis == "average":
        decay = "" if learner == "KernelPerceptron" else "--decay or "
        start = f"{start} Predictions use the averaged weights, which never forget."
        return f"{start} If the data drift, {use} {decay}{way}."
    return f"{start} Predictions use the votes of all past weights, which never forget. If the data drift, {use} {way}."


_LARGE_RATIO = 10.0
"""A note is printed if the ratio between the ranges of two columns is larger than this."""


class OnlineKernel(KernelChoice):
    """Options for the kernel of an online learner. Gamma must be a number, and kernel values are not cached."""

    gamma: str | None = option(None, "G", "Gamma of the kernel: a number.")
    cache_size: None = field(default=None, init=False)


class ResultOptions(Group):
    """Options for the results that are printed."""

    every: int = option(1000, "N", "Print a line after every N rows.")
    window: int = option(1000, "N", "Rows in the window of recent mistakes.")
    by_class: bool = option(False, None, "Also print the precision and recall of each class.", "--by-class")
    margin: float | None = option(
        None, "G", "Also print the maximum number of updates on rows that are separable with margin G."
    )
    as_json: bool = option(False, None, "Print each line of results as JSON.", "--json")

    def check(self) -> None:
        """Raise a ValueError if a value is not valid."""
        _check_counts(every=self.every, window=self.window)
        if self.margin is not None and not self.margin > 0:
            raise ValueError(f"--margin must be above 0, got {self.margin:g}.")


class AnswerOptions(Group):
    """Options for the answers to rows."""

    answers: str | None = option(
        None, "FILE", "Write a line for each row to this file, or to standard output if it is -."
    )
    id: str | None = option(None, "COL", "Column of the input to copy to the answers.")

    def check(self) -> None:
        """Raise a ValueError if the values do not fit together."""
        if self.id is not None and self.answers is None:
            raise ValueError("--id copies a column to the answers: add --answers, or leave it out.")

    @contextmanager
    def writer(self, run: WatchRun, as_json: bool) -> Iterator[AnswerWriter | None]:
        """Yield what writes the answers, or None if none are asked for."""
        from rosenblatt.cli.watch_run import AnswerWriter

        if self.answers is None:
            yield None
            return
        calibrated = run.online.model is not None and run.online.model.calibration is not None
        with closing(AnswerWriter(self.answers, as_json, self.id, calibrated)) as writer:
            yield writer


class TableOptions(WeightedRowOptions):
    """Options for reading rows, and for what is learned about their columns on the way."""

    first_rows: int = option(1000, "N", "Rows of a table that determine the types of its columns.")
    max_names: int = option(1_000_000, "N", "Features of a table, beyond which new categories and fields are ignored.")
    categories: str | None = option(
        None,
        "onehot|hash",
        "Give each category a feature, or hash categories into 2^bits columns, which bounds memory.",
    )
    scale: str | None = option(
        None, "standard|maxabs", "Scale columns of numbers as the rows up to each row determine."
    )

    def check(self) -> None:
        """Raise an error if a value is not valid."""
        _check_counts(first_rows=self.first_rows, max_names=self.max_names)
        if self.scale is not None:
            check_choice("scale", self.scale, ("standard", "maxabs"))

    def about_rows(self) -> dict[str, Any]:
        """Return the options for making features that are set, keyed by the parameter names of `data.open`."""
        given = super().about_rows()
        return {name: value for name, value in given.items() if name not in ("first_rows", "max_names", "scale")}

    def to_read(self, run: WatchRun, id: str | None) -> dict[str, Any]:
        """Return the parameters of `data.open` for a run, whose model may define how rows are prepared."""
        opened = self.about_files() | {"first_rows": self.first_rows, "labels": "optional", "grow": run.growth}
        if id is not None:
            opened["passthrough"] = [id]
        if run.preparation is not None:
            return opened
        opened |= lenient_defaults(self.about_rows())
        return opened if id is None else opened | {"drop": [*(self.drop or []), id]}


def _check_counts(**counts: int) -> None:
    """Raise a ValueError if the value of an option that counts rows or names is below 1."""
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {count}.")


class KeepOptions(Group):
    """Options for files that keep what was learned while the stream goes on."""

    out: Path | None = MODEL_OUT
    state: Path | None = option(
        None, "FOLDER", "Keep the model and a log of the rows since in this folder, so that no kill loses a row."
    )
    resume: bool = option(False, None, "Continue from the --state folder, if it has a state.", "--resume")
    from_start: bool = option(
        False,
        None,
        "With --resume: the input starts again at its first row. Leave out the rows that were read.",
        "--from-start",
    )
    save_seconds: float = option(60.0, "S", "Save the model every S seconds.")
    save_rows: int = option(100_000, "N", "Save the model after every N rows.")

    def check(self) -> None:
        """Raise a ValueError if the values do not fit together."""
        check_out(self.out, [])
        _check_counts(save_rows=self.save_rows)
        if self.resume and self.state is None:
            raise ValueError("--resume needs --state, the folder to continue from.")
        if self.from_start and not self.resume:
            raise ValueError("--from-start applies to --resume: leave it out, or add --resume.")
        if not 0.001 <= self.save_seconds <= 1e9:
            raise ValueError(f"--save-seconds must be from 0.001 to 1e9, got {self.save_seconds:g}.")


@command
def watch(
    *,
    target: str | None = TARGET,
    learner: str | None = option(
        None,
        "NAME",
        "Learner: perceptron, averaged, arow, pa, margin, voted or kernel.  [default: perceptron]",
        "--learner -l",
    ),
    kernel: OnlineKernel,
    model: str | None = option(None, "MODEL", "Continue training this model.", "--model -m"),
    results: ResultOptions,
    answers: AnswerOptions,
    keep: KeepOptions,
    steps: StepOptions,
    rows: TableOptions,
) -> None:
    """Learn online from standard input, which may be endless. Predict each row, then learn from it.

    Prints the number of rows, the number of mistakes, the fraction of mistakes among the last 1,000 rows, the norm R of
    the longest row, and an upper bound on the margin. If the rows are linearly separable, their margin is at most this
    bound, because a perceptron makes at most (R / margin)^2 mistakes. The norm and the margin count the bias as one
    more feature.

    The types of the columns of a table are inferred from its first rows. A column of unclear type is left out, and
    missing numbers are replaced with the mean of the column in these rows. --keep, --kind and --missing override this.
    A row without a label is predicted, but not learned.

    With --answers, each row gets a line: its number, the predicted label, its score, and whether it was right. Results
    then go to standard error if the answers go to standard output.

    The model is written every minute, on SIGHUP, and at the end of the input, on Ctrl-C or on SIGTERM. To continue
    training it later, use --model. With --state, a row is on the disk before it is answered: after a crash, --resume
    continues with the same weights, bit for bit.

    \b
    Examples:
      tail -f clicks.svm | rosenblatt watch --every 1000 -o clicks.model
      tail -f clicks.svm | rosenblatt watch --model clicks.model -o clicks.model
      cat rows.csv | rosenblatt watch -t y --state state --resume --from-start
    """
    from rosenblatt.cli.watch_run import handled_signals

    for group in (results, answers, keep, rows):
        group.check()
    fixed = {"target": target, "learner": learner, **kernel.given, "device": None, **steps.given, "scale": rows.scale}
    make = _Maker(learner or "perceptron", kernel, steps, model, fixed | rows.about_rows())
    with closing(_start(make, keep, results.window, rows.max_names)) as run:
        if results.margin is not None:
            _check_bounded(run.online.options)
        reporter = Reporter(run, results, sys.stderr if answers.answers == "-" else sys.stdout)
        enable_gc()
        with (
            handled_signals(run.save_meanwhile, keep.save_seconds) as stopped,
            answers.writer(run, results.as_json) as writer,
        ):
            interrupted = _watch(
                run, reporter, writer, lambda: _open_input(target, rows.to_read(run, answers.id), run), keep
            )
    if interrupted and not stopped:
        raise KeyboardInterrupt


def _watch(
    run: WatchRun,
    reporter: Reporter,
    writer: AnswerWriter | None,
    open_input: Callable[[], Stream],
    keep: KeepOptions,
) -> bool:
    """Learn until the input ends or an interrupt comes; then print the last results and save the model.

    Return whether an interrupt came.
    """
    interrupted, reported = False, -1
    failure: Exception | None = None
    try:
        run.open(open_input())
        reported = _learn_all(run, reporter, writer, keep)
    except KeyboardInterrupt:
        interrupted = True
    except (ValueError, OSError) as error:  # a bad line, or a closed output: the model learned so far is kept
        if not run.scores.rows:
            raise
        failure = error
    if not run.scores.rows:
        if interrupted:
            raise KeyboardInterrupt
        raise ValueError("Expected lines on standard input, got none.")
    if run.scores.rows > reported and not isinstance(failure, OSError):
        try:
            reporter.print_line()
        except OSError as error:
            failure = error
    reporter.conclude()
    if run.stream is not None:
        _note_ranges(run, run.stream)
        run.save()
        if run.out is not None:
            print_note(f"model written to {run.out}.")
        note_counts(run.stream)
    if failure is not None:
        raise failure
    return interrupted


@dataclass
class _Maker:
    """Makes the learner of a new run, or the options with which a model continues."""

    name: str
    kernel: KernelChoice
    steps: StepOptions
    model: str | None
    fixed: dict[str, object]
    """The options that cannot change once a run has begun."""

    def learner(self) -> OnlineLearner:
        """Return the learner of a new run."""
        from rosenblatt.training.prequential import OnlineLearner

        if self.model is not None:
            started = _model_to_continue(self.model, self.fixed, self.kernel.device)
            return OnlineLearner(started.learner, started.options, started)
        options = make_run_options(self.name, self.kernel, self.steps)
        check_read_once(options)
        return OnlineLearner(LEARNERS[self.name], options)

    @property
    def origin(self) -> str:
        """The options that a resumed run must have, too."""
        given = {name: value for name, value in self.fixed.items() if value is not None}
        return json.dumps([self.model, given], default=str, sort_keys=True)


def _start(make: _Maker, keep: KeepOptions, window: int, max_names: int) -> WatchRun:
    """Return a run, new or resumed."""
    from rosenblatt.cli.watch_run import WatchRun
    from rosenblatt.scaling import RunningScale
    from rosenblatt.training.durable import StateFolder
    from rosenblatt.training.prequential import RunningScores

    method = make.fixed["scale"]
    scores, scale = RunningScores(window), None if method is None else RunningScale(str(method))
    folder = None if keep.state is None else StateFolder(keep.state, make.origin)
    try:
        if folder is None or folder.is_new:
            return WatchRun(make.learner(), scores, scale, keep.out, folder, max_names)
        if not keep.resume:
            raise ValueError(f"{keep.state} has the state of an earlier run: add --resume, or choose another folder.")
        if not folder.has_same_origin():
            raise ValueError(
                f"{keep.state} began with other options for the learner and the rows: use the same ones, or choose "
                "another folder."
            )
        run = WatchRun.resumed(
            folder, scores, scale, keep.out, lambda model: _online_options(model, make.kernel.device), max_names
        )
    except BaseException:
        if folder is not None:
            folder.close()
        raise
    read = f"resumed after {count_of(run.read, 'row')} of the input"
    if keep.from_start:
        run.expect_from_start()
        print_note(f"{read}, which are left out.")
    else:
        print_note(f"{read}: the next rows are expected.")
    return run


def _model_to_continue(path: str, fixed: dict[str, object], device: str | None) -> TrainedModel:
    """Return the model in the file ``path``; raise a ParameterError if an option in ``fixed`` is not None.

    The options in ``fixed`` cannot be changed after the start of training.
    """
    from rosenblatt.training.model_file import TrainedModel

    for name, value in fixed.items():
        if value is not None and name != "n_features":
            raise ParameterError(
                "{option} was fixed when {path} was trained: leave it out.", option=Setting(name), path=path
            )
    model = load_model(path)
    if not isinstance(model, TrainedModel):
        raise ValueError(f"{path} holds a {model.learner}, which cannot learn row by row.")
    model.options = _online_options(model, device)
    return model


def _online_options(model: TrainedModel, device: str | None) -> RunOptions:
    """Return the options for continuing a model: its own, with ``r`` or gamma as a number, and ``device``."""
    from rosenblatt.training.dual.state import DualState
    from rosenblatt.training.options import ArowOptions, KernelOptions

    if not (isinstance(model.options, KernelOptions) and isinstance(model.state, DualState)):
        KernelChoice(device=device).parameters(model.learner)
        number: Any = getattr(model.state, "r", None)
        return replace(model.options, r=number) if isinstance(model.options, ArowOptions) else model.options
    KernelChoice(device=device).parameters("kernel")
    return replace(model.options, gamma=model.state.kernel.gamma, device=device)


def _check_bounded(options: RunOptions) -> None:
    """Raise a ParameterError if the convergence theorem does not bound the updates of a run with these options."""
    from rosenblatt.kernels.rules import MarginRule, PerceptronRule
    from rosenblatt.training.options import Kernel, KernelOptions

    if not isinstance(options.rule, PerceptronRule | MarginRule):
        raise ParameterError(
            "--margin bounds the number of updates, which is possible only for learners with steps of size 1: leave "
            "it out, or use --learner perceptron."
        )
    if not isinstance(options, KernelOptions):
        return
    if options.max_support is not None:
        raise ParameterError(
            "--margin bounds the number of updates, which is not possible with {max_support}: use only one of the two."
        )
    if not Kernel(str(options.kernel), coef0=options.coef0).is_positive_definite:
        raise ParameterError(
            "--margin applies to positive definite kernels, but {kernel=name} with this {coef0} may not be positive "
            "definite: leave out --margin.",
            name=options.kernel,
        )


def _open_input(target: str | None, opened: dict[str, Any], run: WatchRun) -> Stream:
    """Open standard input as a stream, prepared as the model of the run says if it says so."""
    known = run.preparation
    if known is not None:
        target = None
        opened |= {"format": opened.get("format") or known["format"], "preparation": known}
        if known["format"] == "svmlight":  # there may be new features
            opened |= {"format": "svmlight", "preparation": known | {"n_features": None}}
    stream = open_data(["-"], target, opened)
    note_preparation(stream)
    note_extra_columns(stream)
    if not stream.labelled and known is not None and known.get("target"):
        raise ValueError(
            f"The first line has no column {known['target']['name']!r}, which the model expects as the label: add it."
        )
    if not stream.labelled:
        raise ValueError("Each line needs a label: for tables, name the column with --target.")
    return stream


def _learn_all(run: WatchRun, reporter: Reporter, writer: AnswerWriter | None, keep: KeepOptions) -> int:
    """Learn from all rows and print results meanwhile; return the number of rows at the last line of results."""
    reported, every = 0, reporter.options.every
    for part in _parts(run, every, run.read if keep.from_start else 0):
        if not reporter.has_begun:
            reporter.begin()
        answers = run.learn(part)
        if writer is not None:
            writer.write(part, answers, run.read)
        if run.unsaved >= keep.save_rows:
            run.save_meanwhile()
        if run.scores.rows % every == 0 and run.scores.rows > reported:
            reporter.print_line()
            reported = run.scores.rows
    return reported


def _parts(run: WatchRun, every: int, read: int) -> Iterator[Block]:
    """Yield the rows in parts that end where a line is printed, without the first ``read`` rows of the input."""
    import numpy as np

    from rosenblatt.blocks import slice_block, with_numbers

    assert run.stream is not None
    for block in run.stream:
        start = int(np.searchsorted(np.asarray(with_numbers(block).numbers), read)) if read else 0
        while start < len(block):
            left, stop = every - run.scores.rows % every, min(len(block), start + _MOST_ROWS)
            if block.has_label is not None:
                labelled = start + np.flatnonzero(block.has_label[start:stop])
                stop = int(labelled[left - 1]) + 1 if len(labelled) >= left else stop
            else:
                stop = min(stop, start + left)
            yield slice_block(block, start, stop)
            start = stop


def _note_ranges(run: WatchRun, stream: Stream) -> None:
    """Print a note if the columns of an unscaled table have very different ranges."""
    ranges = None if run.online.model is None else run.online.model.state.feature_ranges
    numbers = stream.number_columns
    if run.scale is not None or stream.scale is not None or ranges is None or numbers is None:
        return
    varying = ranges[numbers[numbers < len(ranges)]]
    varying = varying[varying > 0]
    ratio = varying.max() / varying.min() if len(varying) > 1 else 1.0
    if ratio > _LARGE_RATIO:
        print_note(
            f"some columns have ranges {ratio:,.0f} times as large as those of others, which have little effect: "
            "use --scale standard, or train a scaled model on some rows first and continue it with --model."
        )


@dataclass
class Reporter:
    """The output of ``watch``: the mistakes so far, and the bounds that follow from the convergence theorem."""

    run: WatchRun
    options: ResultOptions
    file: TextIO
    has_begun: bool = False
    has_header: bool = False

    def begin(self) -> None:
        """Print a note about what learns."""
        online = self.run.online
        print_note(learner_line(online.learner, online.options, from_model=online.model is not None))
        self.has_begun = True

    @property
    def _report(self) -> Report:
        if self.run.online.model is None:
            raise ValueError("Expected lines on standard input, got none.")
        return self.run.online.model.report

    @property
    def bound(self) -> float:
        """The maximum number of updates if the rows so far are separable with ``margin``; infinity without a margin.

        Let the rows have norm at most R, and let updates occur only where y (w.x) <= m. For a unit vector u with that
        margin, |w|^2 <= |w0|^2 + k (R^2 + 2 m) and w.u >= k margin - |w0| after k updates from the starting weights w0.
        Hence k <= (R^2 + 2 m) / margin^2 + 2 |w0| / margin.
        """
        report, model = self._report, self.run.online.model
        if self.options.margin is None or model is None:
            return math.inf
        start = math.sqrt(float(model.state.counters["start2"].max()))  # start2 is |w0|^2
        m = float(getattr(model.options, "margin", 0.0))  # of MarginPerceptron
        return (report.radius**2 + 2.0 * m) / self.options.margin**2 + 2.0 * start / self.options.margin

    def conclude(self) -> None:
        """Print a note if the number of updates proves that the rows are not separable with ``margin``."""
        model, updates = self.run.online.model, self._report.updates
        if model is not None and len(model.classes) == 2 and updates > self.bound:
            space, margin = " in the kernel's space" if kernel_facts(model) else "", self.options.margin
            print_note(
                f"{updates:,} updates exceed the bound of {self.bound:,.0f} for a margin of {margin:g}, so no "
                f"hyperplane{space} separates these rows with that margin."
            )

    def print_line(self) -> None:
        """Print one line of results, the first time below a header."""
        report = self._report
        bound = None if self.options.margin is None else self.bound
        if self.options.as_json:
            print_json(self._as_plain(report, bound), self.file)
        else:
            self._print_table(report, bound)
        self.file.flush()

    def _as_plain(self, report: Report, bound: float | None) -> dict[str, Any]:
        """Return the results as data for JSON."""
        scores = self.run.scores
        found: dict[str, Any] = {
            "rows": scores.rows,
            "mistakes": scores.mistakes,
            "error": scores.mistakes / scores.rows,
            "recent_rate": scores.recent_error,
            "radius": report.radius,
            "margin_high": report.margin_high,
        }
        if bound is not None:
            found["bound"] = bound
        if self.options.by_class:
            found["classes"] = [{"label": plain_label(label)} | values for label, values in scores.by_class().items()]
        return found

    def _print_table(self, report: Report, bound: float | None) -> None:
        scores = self.run.scores
        if not self.has_header:
            last = "" if bound is None else f"{'bound':>12}"
            recent = f"last {scores.window:,}"
            self._print(f"{'rows':>12}{'mistakes':>12}{recent:>12}{'longest row':>14}{'margin at most':>17}{last}")
            self.has_header = True
        high = f"{report.margin_high:.4g}" if math.isfinite(report.margin_high) else "-"
        line = f"{scores.rows:>12,}{scores.mistakes:>12,}{scores.recent_error:>12.1%}{report.radius:>14.4g}{high:>17}"
        self._print(line if bound is None else f"{line}{bound:>12,.0f}")
        if self.options.by_class:
            for label, found in scores.by_class().items():
                shares = "".join(
                    f"  {name} {_percent(found[name])} (recent {_percent(found[f'recent_{name}'])})"
                    for name in ("precision", "recall")
                )
                self._print(f"{escape_unprintable(label_text(label)):>12}{shares}")

    def _print(self, line: str) -> None:
        print(line, file=self.file)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
