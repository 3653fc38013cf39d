"""``rosenblatt watch``: online learning from standard input. Each row is first predicted, then learned from."""

from __future__ import annotations

import math
import sys
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.inputs import check_out, lenient_defaults, load_model, open_data
from rosenblatt.cli.options import (
    LEARNERS,
    MODEL_OUT,
    TARGET,
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
from rosenblatt.cli.train_run import check_read_once, kernel_facts, name_features
from rosenblatt.messages import ParameterError, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from rosenblatt.blocks import Features
    from rosenblatt.data import Stream
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.records import RecordLearner
    from rosenblatt.training.report import Report
    from rosenblatt.training.run import TrainingRun


# Prequential evaluation ("test, then train"): each row is predicted before the model learns from it.


_RECENT = 1000


@dataclass
class MistakeCount:
    """The numbers of rows and mistakes, in total and among the last thousand rows.

    Rows are counted in the groups passed to `add`, so the last thousand may include a few more rows.
    """

    rows: int = 0
    mistakes: int = 0
    recent: deque[tuple[int, int]] = field(default_factory=deque)
    recent_rows: int = 0
    recent_mistakes: int = 0

    def add(self, rows: int, mistakes: int) -> None:
        """Count ``rows`` further rows, and the ``mistakes`` made on them."""
        self.rows, self.mistakes = self.rows + rows, self.mistakes + mistakes
        self.recent.append((rows, mistakes))
        self.recent_rows, self.recent_mistakes = self.recent_rows + rows, self.recent_mistakes + mistakes
        while self.recent_rows - self.recent[0][0] >= _RECENT:
            rows, mistakes = self.recent.popleft()
            self.recent_rows, self.recent_mistakes = self.recent_rows - rows, self.recent_mistakes - mistakes

    @property
    def rate(self) -> float:
        """The fraction of mistakes among the last thousand rows, or among all rows if there are fewer."""
        return self.recent_mistakes / max(1, self.recent_rows)


class OnlineLearner:
    """A model that predicts each row before it learns from the row, and its mistake count."""

    def __init__(self, learner: str, options: RunOptions, model: TrainedModel | None = None) -> None:
        self.learner, self.options, self.model, self.count = learner, options, model, MistakeCount()
        self._run: TrainingRun | None = None
        self._records: RecordLearner | None = None
        self._numbers: dict[object, int] = {}
        """The class number of each label, for ``_records``."""

    def learn(self, X: Features, y: NDArray[Any], weight: NDArray[Any] | None = None) -> None:
        """Visit rows in order: predict each row, count a mistake if the prediction is wrong, then learn from the row.

        ``weight`` is the weight of each row, which scales the step on the row; None means 1. An interrupt waits until
        the rows that have been learned are counted.
        """
        from rosenblatt.interrupts import interrupts_deferred

        with interrupts_deferred() as interrupts:
            self._learn(X, y, weight, interrupts)

    def _learn(self, X: Features, y: NDArray[Any], weight: NDArray[Any] | None, interrupts: Collection[object]) -> None:
        """Learn from rows; row by row, stop as soon as ``interrupts`` is not empty."""
        import scipy.sparse as sp

        from rosenblatt.blocks import join_classes
        from rosenblatt.training.rows import pad_columns

        if self.model is not None and sp.issparse(X):
            X = pad_columns(sp.csr_array(X), self.model.state.n_features)
            self.model.state.widen(X.shape[1])
        before = y[:0] if self.model is None else self.model.classes
        known = join_classes(before, y)
        competing = self.options.direct and len(known) == len(before)  # a new class would compete from its first row
        # A pass predicts each row before it updates the weights, so with hypothesis "last" it counts these mistakes.
        if (len(known) <= 2 or competing) and self.options.hypothesis == "last":
            self.count.add(len(y), self._visit(X, y, weight))
            return
        for i, (entries, label) in enumerate(zip(_entries(X), y.tolist(), strict=True)):
            right = self._learn_record(*entries, label, None if weight is None else float(weight[i]))
            if right is None:
                right = self._learn_row(X[i : i + 1], y[i : i + 1], None if weight is None else weight[i : i + 1])
            self.count.add(1, 0 if right else 1)
            if interrupts:
                break
        if self._records is not None:
            self._records.release()

    def _learn_record(
        self, columns: tuple[int, ...], values: tuple[float, ...], label: object, weight: float | None
    ) -> bool | None:
        """Predict a row and learn from it without arrays; return whether the prediction was right.

        Return None if the row has to be predicted and learned as an array.
        """
        learner, model = self._records, self.model
        if learner is None or model is None or label not in self._numbers or not learner.is_current():
            return None
        if not learner.read(columns, values):
            return None
        number = self._numbers[label]
        found = 0 if len(self._numbers) == 1 else learner.decide(self.options.hypothesis)
        if found is None or not learner.learn(number, weight):
            return None
        return found == number

    def _learn_row(self, row: Features, label: NDArray[Any], weight: NDArray[Any] | None) -> bool:
        """Predict a row and learn from it; return whether the prediction was right."""
        from rosenblatt.training.linear import LinearState
        from rosenblatt.training.records import RecordLearner

        if self._records is not None:
            self._records.release()
        right = bool(self.model is not None and self._predicted(row) == label[0])
        self._visit(row, label, weight, row_by_row=True)
        assert self.model is not None
        state = self.model.state
        if isinstance(state, LinearState) and state.log is None and state.pocket is None:
            self._records = RecordLearner(state, run=self._run)
            self._numbers = {known: number for number, known in enumerate(self.model.classes.tolist())}
        return right

    def _predicted(self, row: Features) -> Any:
        """Return the predicted class of one row; a sparse row takes time proportional to its non-zero values."""
        import scipy.sparse as sp

        assert self.model is not None
        if not sp.issparse(row) or len(self.model.classes) == 1:
            return self.model.predict(row)[0]
        return self.model.classes[self.model.state.decide_one(self.options.hypothesis, row)]

    def _visit(self, X: Features, y: NDArray[Any], weight: NDArray[Any] | None, row_by_row: bool = False) -> int:
        """Learn from rows, and return the number of rows that were misclassified by the weights before their update.

        With ``row_by_row``, the rows of successive calls form one pass.
        """
        from rosenblatt.training.batches import labelled_batch
        from rosenblatt.training.model_file import TrainedModel
        from rosenblatt.training.train import WarmStart, online_run

        run = self._run if row_by_row else None
        batch = labelled_batch(X, y, weight, known=None if run is None else run.classes)
        continues = run is not None
        if run is None:
            start = None if self.model is None else WarmStart(self.model.state, self.model.classes)
            run = online_run(batch, self.options, start)
        made = run.visit(batch, continues)
        if self.model is None:
            self.model = TrainedModel(self.learner, self.options, run.classes, run.state)
        self.model.state, self.model.classes = run.state, run.classes
        self._run, self._records = run if row_by_row else None, None
        return made


def _entries(X: Features) -> Iterator[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Yield the column numbers of each row, and the values in these columns."""
    from rosenblatt.blocks import is_sparse

    if not is_sparse(X):
        columns = tuple(range(X.shape[1]))
        for line in X.tolist():
            yield columns, tuple(line)
        return
    indices, values, ends = X.indices.tolist(), X.data.tolist(), X.indptr.tolist()
    for start, stop in pairwise(ends):
        yield tuple(indices[start:stop]), tuple(values[start:stop])


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
    every: int = option(1000, "N", "Print a line after every N rows."),
    margin: float | None = option(
        None, "G", "Also print the maximum number of updates on rows that are separable with margin G."
    ),
    out: Path | None = MODEL_OUT,
    as_json: bool = option(False, None, "Print each line of results as JSON.", "--json"),
    steps: StepOptions,
    rows: WeightedRowOptions,
) -> None:
    """Learn online from standard input, which may be endless. Predict each row, then learn from it.

    Prints the number of rows, the number of mistakes, the fraction of mistakes among the last 1,000 rows, the norm R of
    the longest row, and an upper bound on the margin. If the rows are linearly separable, their margin is at most this
    bound, because a perceptron makes at most (R / margin)^2 mistakes. The norm and the margin count the bias as one
    more feature.

    The types of the columns of a table are inferred from the first --every rows. A column of unclear type is left out,
    and missing numbers are replaced with the mean of the column in these rows. --keep, --kind and --missing override
    this. The model is written at the end of the input or on Ctrl-C. To continue training it later, use --model.

    \b
    Examples:
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
        run_options = make_run_options(name, kernel, steps)
        check_read_once(run_options)
        online = OnlineLearner(LEARNERS[name], run_options)
    else:
        fixed = {"target": target, "learner": learner, **kernel.given, "device": None, **steps.given}
        started = _model_to_continue(model, fixed | rows.about_rows(), kernel.device)
        online = OnlineLearner(started.learner, started.options, started)
    if margin is not None:
        _check_bounded(online.options)
    known = None if online.model is None else online.model.preparation
    reporter = Reporter(online, margin, as_json)
    interrupted, reported, stream = False, -1, None
    failure: Exception | None = None
    enable_gc()
    try:
        stream = _open_input(target, rows, every, known)
        reported = _learn_all(online, stream, reporter, every)
    except KeyboardInterrupt:
        interrupted = True
    except (ValueError, OSError) as error:  # a bad line, or a closed output: the model learned so far is kept
        if not online.count.rows:
            raise
        failure = error
    count = online.count
    if not count.rows:
        if interrupted:
            raise KeyboardInterrupt
        raise ValueError("Expected lines on standard input, got none.")
    if count.rows > reported and not isinstance(failure, OSError):
        try:
            reporter.print_line()
        except OSError as error:
            failure = error
    reporter.conclude()
    if stream is not None:
        _note_ranges(online, stream)
    if out is not None and stream is not None:
        _save(online, stream, out)
    if stream is not None:
        note_counts(stream)
    if failure is not None:
        raise failure
    if interrupted:
        raise KeyboardInterrupt


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


def _open_input(target: str | None, rows: WeightedRowOptions, every: int, known: dict[str, Any] | None) -> Stream:
    """Open standard input as a stream; ``known`` is the preparation of the model to continue, or None."""
    given = {**rows.to_open(), "first_rows": every}
    if known is None:
        given = lenient_defaults(given)
    elif known["format"] == "svmlight":  # there may be new features
        given |= {"format": "svmlight", "preparation": known | {"n_features": None}}
    else:
        given |= {"format": rows.format or known["format"], "preparation": known}
    stream = open_data(["-"], target, given)
    note_preparation(stream)
    note_extra_columns(stream)
    if not stream.labelled and known is not None and known.get("target"):
        raise ValueError(
            f"The first line has no column {known['target']['name']!r}, which the model expects as the label: add it."
        )
    if not stream.labelled:
        raise ValueError("Each line needs a label: for tables, name the column with --target.")
    return stream


def _learn_all(online: OnlineLearner, stream: Stream, reporter: Reporter, every: int) -> int:
    """Learn from all rows; print a line after every ``every`` rows, and return the number of rows at the last line."""
    from rosenblatt.blocks import slice_block

    count, step, reported = online.count, min(every, 100), 0
    for block in stream:
        start = 0
        while start < len(block):
            stop = min(len(block), start + step - count.rows % step, start + every - count.rows % every)
            if not count.rows:
                print_note(learner_line(online.learner, online.options, from_model=online.model is not None))
            part = slice_block(block, start, stop)
            online.learn(part.X, part.y, part.weight)
            start = stop
            if count.rows % every == 0:
                reporter.print_line()
                reported = count.rows
    return reported


def _note_ranges(online: OnlineLearner, stream: Stream) -> None:
    """Print a note if the columns of an unscaled table have very different ranges."""
    ranges = None if online.model is None else online.model.state.feature_ranges
    numbers = stream.number_columns
    if stream.scale is not None or ranges is None or numbers is None:
        return
    varying = ranges[numbers[numbers < len(ranges)]]
    varying = varying[varying > 0]
    ratio = varying.max() / varying.min() if len(varying) > 1 else 1.0
    if ratio > _LARGE_RATIO:
        print_note(
            f"some columns have ranges {ratio:,.0f} times as large as those of others, which have little effect. A "
            "stream cannot be scaled: train a scaled model on some rows first, then continue it with --model."
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
    print_note(f"model written to {out}.")


def _seen_before(fingerprint: object) -> tuple[list[str], int]:
    """Return the file names and the number of rows in the fingerprint of a model, or [] and 0 if it has none."""
    known = fingerprint if isinstance(fingerprint, dict) else {}
    files, rows = known.get("files"), known.get("rows")
    return files if isinstance(files, list) else [], rows if isinstance(rows, int) else 0


@dataclass
class Reporter:
    """The output of ``watch``: the mistakes so far, and the bounds that follow from the convergence theorem."""

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
        """The maximum number of updates if the rows so far are separable with ``margin``; infinity without a margin.

        Let the rows have norm at most R, and let updates occur only where y (w.x) <= m. For a unit vector u with that
        margin, |w|^2 <= |w0|^2 + k (R^2 + 2 m) and w.u >= k margin - |w0| after k updates from the starting weights w0.
        Hence k <= (R^2 + 2 m) / margin^2 + 2 |w0| / margin.
        """
        report, model = self._report, self.online.model
        if self.margin is None or model is None:
            return math.inf
        start = math.sqrt(float(model.state.counters["start2"].max()))  # start2 is |w0|^2
        m = float(getattr(model.options, "margin", 0.0))  # of MarginPerceptron
        return (report.radius**2 + 2.0 * m) / self.margin**2 + 2.0 * start / self.margin

    def conclude(self) -> None:
        """Print a note if the number of updates proves that the rows are not separable with ``margin``."""
        model, updates = self.online.model, self._report.updates
        if model is not None and len(model.classes) == 2 and updates > self.bound:
            space = " in the kernel's space" if kernel_facts(model) else ""
            print_note(
                f"{updates:,} updates exceed the bound of {self.bound:,.0f} for a margin of {self.margin:g}, so no "
                f"hyperplane{space} separates these rows with that margin."
            )

    def print_line(self) -> None:
        """Print one line of results, the first time below a header."""
        count, report = self.online.count, self._report
        bound = None if self.margin is None else self.bound
        if not self.has_header and not self.as_json:
            last = "" if bound is None else f"{'bound':>12}"
            print(f"{'rows':>12}{'mistakes':>12}{'last 1,000':>12}{'longest row':>14}{'margin at most':>17}{last}")
        self.has_header = True
        if self.as_json:
            print_json(
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
