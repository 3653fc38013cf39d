"""``rosenblatt train``: train a model on files, save it, test it, and report the results."""

from __future__ import annotations

import os
import re
import shlex
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.curve import compare_with_kernel, curve_advice, may_gain
from rosenblatt.cli.imbalance import ImbalanceOptions, advice, threshold_line, weighs_mistakes
from rosenblatt.cli.inputs import check_out, lenient_defaults, open_data
from rosenblatt.cli.options import (
    AS_JSON,
    FILES,
    LEARNERS,
    MODEL_OUT,
    SEED,
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
    JsonObject,
    ProgressBar,
    count_notes,
    finite_or_null,
    note_excluded,
    note_preparation,
    note_text,
    on_terminal,
    print_bars,
    print_json,
    print_note,
    print_table,
    print_text,
)
from rosenblatt.cli.test import calibration_lines, ranking_lines, scores_table, unknown_labels
from rosenblatt.cli.train_run import (
    Training,
    calibration_line,
    check_read_once,
    cross_validate,
    fraction_of,
    more_seeds,
    needs_data,
    predict_with_bar,
    prune_share,
    pruned_line,
)
from rosenblatt.messages import (
    ParameterError,
    Setting,
    check_choice,
    check_integer,
    count_of,
    escape_unprintable,
    label_text,
    name_some,
    plain_label,
)

if TYPE_CHECKING:
    from rosenblatt.data import Stream
    from rosenblatt.data.describe import ColumnTable, Risk
    from rosenblatt.splits import Rule
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions

ON_CLUSTERS = ("averaged", "perceptron")
"""Learners that can be trained on a cluster."""
CLUSTERS = {"dask": "Dask", "ray": "Ray"}
"""The kinds of clusters, with the names that reports use for them."""
MOST_FOLDS = 1000
_HOLDOUT = "20%"
"""The fraction of the rows that ``--holdout last`` holds out, and ``--holdout-by`` without ``--holdout``."""
_MUCH_HELD = 0.4
"""A note is printed if whole groups amount to more than this fraction of the rows."""
_MOST_CLASSES = 30
"""The largest number of classes whose scores are printed as a table; ``--json`` prints those of any number."""
_MOST_RISKS = 10
"""The largest number of risks that are printed; ``--json`` prints all of them."""
_FEWEST_ROWS, _MOST_ROWS, _MOST_CELLS = 1000, 10_000, 2_000_000
"""Risks are looked for in the first 10,000 rows of a table, or in fewer, at least 1,000, if it has many columns."""
TEXT_NGRAMS, TEXT_PASSES = 2, 3
"""The defaults of --ngrams and --passes for lines of text, which cross-validation on three sets chose."""
TEXT_STEPS: dict[str, Any] = {"r": 1.0}
"""The default step of AROW if all features are words of texts: the rows of texts have length 1, so they are short."""
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class TrainSteps(StepOptions):
    """The options of `StepOptions`, and the margin of ``--learner margin``."""

    margin: float | None = option(
        None, "M", "For --learner margin: update unless a row's margin is above M.  [default: 10]"
    )


class ClusterOptions(Group):
    """The cluster to train on, and the mode of training."""

    cluster: str | None = option(None, "dask|ray", "Train on a cluster, whose workers load the files.")
    address: str | None = option(
        None, "ADDR", "Address of the cluster, such as tcp://HOST:8786. By default a local cluster is started."
    )
    mode: str | None = option(
        None,
        "exact|mix",
        "On a cluster: train the same model as on one machine, or average the models of all shards.  [default: exact]",
    )
    shards: int | None = option(None, "N", "For --mode mix: number of shards.  [default: 8]")

    def check(self) -> None:
        """Raise a ParameterError for options that cannot be combined.

        >>> ClusterOptions(mode="mix").check()
        Traceback (most recent call last):
        rosenblatt.messages.ParameterError: mode applies to training on a cluster: add cluster='dask' or cluster='ray'.
        """
        if self.cluster is None:
            for name in ("address", "mode", "shards"):
                if getattr(self, name) is not None:
                    raise ParameterError(
                        "{option} applies to training on a cluster: add {cluster='dask'} or {cluster='ray'}.",
                        option=Setting(name),
                    )
            return
        check_choice("cluster", self.cluster, tuple(CLUSTERS))
        check_choice("mode", self.mode or "exact", ("exact", "mix"))
        if self.shards is not None:
            check_integer("shards", self.shards, 1)
            if self.mode != "mix":
                raise ParameterError(
                    "{shards} applies to {mode='mix'}: otherwise each file is a shard, and the model does not depend "
                    "on the shards."
                )


class TrainOptions(Group):
    """All options of ``rosenblatt train``."""

    target: str | None = TARGET
    learner: str | None = option(
        None,
        "NAME",
        "Learner: averaged, arow, pa, perceptron, margin, voted or kernel.  [default: averaged; lines of text: arow]",
        "--learner -l",
    )
    passes: int | None = option(
        None,
        "N",
        "Maximum number of passes.  [default: 10; arow: 5; perceptron, margin: 100; lines of text: 3]",
        "--passes -p",
    )
    shuffle: bool = option(True, None, "Visit the rows in random order.", "--shuffle/--no-shuffle")
    seed: int = SEED
    early_stopping: bool = option(
        False, None, "Hold out a tenth of the rows, and stop when the error on them no longer improves."
    )
    bias: bool = option(True, None, "Learn a bias.", "--bias/--no-bias")
    multi_class: str | None = option(
        None,
        "direct|ovr",
        "For more than two classes: train them together, or each against the rest.  [default: direct; perceptron, "
        "margin, voted, kernel: ovr]",
    )
    scale: str = option(
        "auto",
        "HOW",
        "How to scale numeric columns: standard, maxabs, none, or auto (scale the columns of tables if their ranges "
        "differ widely).",
    )
    holdout: str | None = option(
        None,
        "FRACTION",
        "Hold out a fraction of the rows, such as 20%, and test on them; last or last:20% holds out the last rows, for "
        "tables sorted by time.",
    )
    holdout_by: str | None = option(
        None,
        "COL",
        "Hold out all rows of some values of a column, such as a patient, and none of the others; the column is not "
        "used otherwise.",
    )
    calibrate: bool = option(
        False, None, "Hold out a fifth of the rows, and fit probabilities to them, for predict --proba."
    )
    prune: str | None = option(
        None,
        "HOW",
        "Remove the smallest weights, so that the model file is small: a fraction of them, such as 90%, or auto. auto "
        "holds out a fifth of the rows, and removes as many weights as change none of their predictions.",
    )
    no_curve_check: bool = option(
        False,
        None,
        "With --holdout: skip the comparison with a kernel perceptron, which shows whether a linear model is enough.",
    )
    folds: int | None = option(None, "K", "Test by K-fold cross-validation.")
    test: list[str] | None = option(None, "FILE", "File to test on. Repeatable.")
    seeds: int = option(1, "K", "Train with K seeds, and show how the accuracy varies.")
    report: Path | None = option(
        None, "FILE", "Write a page on the data, the accuracy, the weights and the worst rows to this HTML file."
    )
    out: Path | None = MODEL_OUT
    checkpoint: Path | None = option(None, "FILE", "Save the state of the run to this file.")
    every: str = option("30s", "TIME", "Time between two checkpoints, such as 30s, 5m or 1h.")
    resume: bool = option(False, None, "Resume from --checkpoint if the file exists.")
    cache: Path | None = option(None, "FILE", "Cache the parsed rows in this file, for use by later runs.")
    names: bool = option(False, None, "Store all hashed words for explain, even more than 10,000 of them (slower).")
    as_json: bool = AS_JSON
    kernel: KernelChoice = field(default_factory=KernelChoice)
    steps: TrainSteps = field(default_factory=TrainSteps)
    imbalance: ImbalanceOptions = field(default_factory=ImbalanceOptions)
    on: ClusterOptions = field(default_factory=ClusterOptions)
    rows: WeightedRowOptions = field(default_factory=WeightedRowOptions)

    @property
    def learner_class(self) -> str:
        """The class of the learner."""
        return LEARNERS[self.learner or "averaged"]

    @property
    def held_share(self) -> float | None:
        """The fraction of the rows that is held out for testing, or None."""
        given = self.holdout or (_HOLDOUT if self.holdout_by else None)
        return None if given is None else share_of(_HOLDOUT if given == "last" else given)

    @property
    def holds_last(self) -> bool:
        """Whether the last rows are held out, instead of a share of each class."""
        return self.holdout is not None and self.holdout.startswith("last")

    @property
    def checkpoint_seconds(self) -> float:
        """The time between two checkpoints, in seconds."""
        return seconds(self.every)

    def check(self) -> None:
        """Raise a ValueError for invalid values and for options that cannot be combined."""
        seconds(self.every)
        self.on.check()
        if self.on.cluster is not None:
            self._check_cluster()
        if self.seeds < 1:
            raise ValueError(f"--seeds must be 1 or more, got {self.seeds}.")
        if self.seeds > 1 and not (self.test or self.held_share):
            raise ValueError(
                "--seeds shows how the accuracy varies, so it needs rows to test on: add --test or --holdout."
            )
        if self.seeds > 1 and self.checkpoint is not None:
            raise ValueError("--checkpoint is for a single run: leave out --seeds.")
        if self.resume and self.checkpoint is None:
            raise ValueError("--resume needs --checkpoint, the file to resume from.")
        if self.passes is not None and self.passes < 1:
            raise ValueError(f"--passes must be 1 or more, got {self.passes}.")
        if self.prune is not None:
            prune_share(self.prune)
            if self.learner in ("kernel", "voted"):
                raise ValueError(
                    f"--prune removes weights of a single vector for each class, which --learner {self.learner} does "
                    "not predict with: leave it out."
                )
        self.imbalance.check(self.learner or "averaged")
        if self.holdout_by and self.holds_last:
            raise ValueError("--holdout-by and --holdout last are two ways to hold out rows: use only one.")
        if self.folds is not None:
            check_integer("folds", self.folds, 2, most=MOST_FOLDS)
        holdout = "holdout-by" if self.holdout_by and not self.holdout else "holdout"
        measures = {"folds": self.folds, holdout: self.held_share, "test": self.test, "seeds": self.seeds > 1}
        for first, second in combinations([name for name, given in measures.items() if given], 2):
            if second != "seeds" or first == "folds":
                raise ValueError(f"--{first} and --{second} are two ways to measure the accuracy: use only one.")

    def _check_cluster(self) -> None:
        """Raise a ParameterError for options that clusters do not support."""
        if (self.learner or "averaged") not in ON_CLUSTERS:
            raise ParameterError(
                "{cluster} applies to --learner {learners}, not to {given}: leave it out.",
                learners=" or ".join(ON_CLUSTERS),
                given=self.learner,
            )
        for name, given, why in (
            ("holdout", self.holdout, "workers load whole files: test on other files with --test"),
            ("holdout_by", self.holdout_by, "workers load whole files: test on other files with --test"),
            ("folds", self.folds, "workers load whole files: test on other files with --test"),
            ("seeds", self.seeds > 1 or None, "it trains one model at a time: run it once for each --seed"),
            ("calibrate", self.calibrate or None, "workers load whole files: calibrate the model in Python"),
            ("prune", self.prune, "workers load whole files: prune the model in Python"),
            ("cost", self.imbalance.cost or None, "workers load whole files: give a --threshold"),
            ("cache", self.cache, "workers keep their rows in memory: leave it out"),
        ):
            if given is not None:
                raise ParameterError(
                    "{option} cannot be combined with {cluster}, because {why}.", option=Setting(name), why=why
                )


@command
def train(*, data: list[str] = FILES, options: TrainOptions) -> None:
    """Train a model on files. Report its accuracy, whether it separates the classes, and the margin.

    In tables, columns that look like ids or dates, or whose type is unclear, are left out. Missing numbers are replaced
    with the mean of the column. Numeric columns are scaled if their ranges differ widely. Each of these steps is
    reported. Ctrl-C stops training early: the model learned so far is still reported and saved.

    With --cluster, the workers load the rows, and only weights are exchanged. By default the model is the same as on
    one machine, bit for bit. Without --address, a local cluster is started, and shut down at the end.

    \b
    Examples:
      rosenblatt train people.csv --target survived --holdout 20% -o people.model
      rosenblatt train a9a.bz2 --test a9a.t.bz2 -o adult.model
      rosenblatt train a9a.bz2 --learner arow --passes 1
      rosenblatt train rings.csv -t label --learner kernel --kernel rbf
      rosenblatt train "part-*.parquet" -t y --cluster dask
    """
    options = _with_defaults(data, options)
    options.check()
    test = options.test or []
    written = {"model": options.out, "report": options.report, "checkpoint": options.checkpoint, "cache": options.cache}
    _check_paths(written, [*data, *test])
    assert options.learner is not None
    run_options = make_run_options(
        options.learner,
        options.kernel,
        options.steps,
        bias=options.bias,
        multi_class=options.multi_class,
        max_iter=options.passes,
        shuffle=options.shuffle,
        random_state=options.seed,
        early_stopping=options.early_stopping,
    )
    from rosenblatt.data.preparation import has_only_texts

    started = time.perf_counter()
    open_options = lenient_defaults(options.rows.to_open()) | {
        "scale": options.scale,
        "keep_words": options.names or None,
    }
    if options.holdout_by is not None:
        open_options["drop"] = [*open_options.get("drop", ()), options.holdout_by]
    stream = open_data(data, options.target, {**open_options, "cache": _cache(options, run_options)})
    if options.learner == "arow" and options.steps.r is None and has_only_texts(stream.preparation):
        run_options = replace(run_options, **TEXT_STEPS)
    note_preparation(stream)
    left_out, notes = stream.excluded, stream.notes
    columns = _describe_columns(stream)
    risks = _risks(columns, options.rows.keep or [])
    if test:
        _open_test(stream.unscaled(), options)  # opened here only to fail before training; opened again afterwards
    if iter(stream) is stream:
        run_options = _single_pass(options, run_options)
    rows, split = stream, None
    if options.held_share is not None:
        split = _split_of(options, data, open_options)
        if options.holds_last and columns is not None and columns.newest_first:
            print_note(
                f"the last rows are the oldest by {columns.newest_first[0]!r}, whose dates fall from row to row: sort "
                "the rows by it, so that --holdout last tests on the newest."
            )
        if options.early_stopping and (options.holdout_by or options.holds_last):
            which = "--holdout-by" if options.holdout_by else "--holdout last"
            print_note(
                f"--early-stopping draws its rows at random, without regard to {which}, so the error that it shows by "
                "pass may be too low."
            )
        rows = stream.part(split, held=False)
    training = Training(rows, options, run_options, data, split)
    if options.on.cluster is not None:
        from rosenblatt.cli.train_cluster import ClusterTraining

        training = ClusterTraining(rows, options, run_options, data, open_options=open_options)
    try:
        interrupted = not training.fit()
    except KeyboardInterrupt:
        print_note("nothing has been learned yet, so there is no model.")
        raise
    if training.small_classes is not None:
        print_note(note_text(training.small_classes))
    model = training.model
    answer = training.answer(time.perf_counter() - started)
    answer["interrupted"] = interrupted
    note_excluded(training.stream, left_out)
    used = [name for name in left_out if name not in training.stream.excluded]
    if used:
        print_note(f"{name_some(used)}: used after all, because the training rows give no reason to leave it out.")
    for note in training.stream.notes[len(notes) :]:
        print_note(note_text(note))
    answer["left_out"] = training.stream.excluded
    answer["look_at"] = [{"column": risk.column, "risk": risk.kind, "remark": note_text(risk.remark)} for risk in risks]
    save_error = _save(model, options.out, answer)
    classes = [plain_label(label) for label in model.classes.tolist()]

    def rows_to_test_on(like: Stream) -> Stream:
        return _open_test(like, options) if split is None else stream.part(split, held=True, scaled_as=like)

    test_error: Exception | None = None
    if test:
        found = predict_with_bar(model, rows_to_test_on(training.stream), test, held_out=False)
        test_error = unknown_labels(found.pairs, classes, ", ".join(test))
        if test_error is None:
            answer["test"] = {"files": list(test), **found.scores(classes)}
    elif split is not None:
        found = predict_with_bar(model, rows_to_test_on(training.stream), data, held_out=True)
        answer["holdout"] = {
            "share": options.held_share,
            "last": options.holds_last,
            **_groups_of(split, options.holdout_by),
            **found.scores(classes),
        }
    elif options.folds is not None and options.folds > training.rows:
        test_error = ValueError(
            f"--folds {options.folds:,} exceeds the {count_of(training.rows, 'row')}: use fewer folds."
        )
    elif options.folds is not None and not interrupted:
        answer["folds"] = cross_validate(stream, training)
        interrupted = answer["folds"].pop("interrupted")
    measured = answer.get("test") or answer.get("holdout")
    if options.seeds > 1 and measured and not interrupted:
        measured["by_seed"] = more_seeds(measured["accuracy"], training, rows_to_test_on)
    scores = measured or answer.get("folds")
    answer["advice"] = []
    if scores and "rows" in scores:
        answer["advice"] = advice(scores, answer["classes"], model.learner, weighs_mistakes(model))
    if split is not None and measured and not options.no_curve_check and not interrupted:
        try:
            answer["curve"] = _curve(training, rows_to_test_on(training.stream), measured)
        except KeyboardInterrupt:
            interrupted = True
        answer["advice"] += curve_advice(answer.get("curve"))
    counted = count_notes(training.stream)
    report_error: OSError | None = None
    if options.report is not None and test_error is None:
        from rosenblatt.cli.report_facts import report_facts

        about = {"files": list(data), "notes": [*map(note_text, training.stream.notes), *counted]}
        answer["report"] = about | report_facts(training, answer, rows_to_test_on, _tested(answer), columns)
        if answer["report"]["measured_on"] == "training":
            print_note("the report measures on training rows: add --holdout 20% to measure on rows that are held out.")
        report_error = _write_report(options.report, answer)
    if options.as_json:
        print_json(answer)
    else:
        for count_note in counted:
            print_note(count_note)
        for risk in risks[:_MOST_RISKS]:
            remark = note_text(risk.remark)
            if risk.kind == "group":
                remark += f"; --holdout-by {shlex.quote(risk.column)} tests on other values"
            print_note(f"look at {remark}{'' if remark.endswith('?') else '.'}")
        print_scale(training.stream, automatic=options.scale == "auto")
        print_report(training, answer)
    error = save_error or report_error or test_error
    if error is not None:
        raise error
    if interrupted:
        raise KeyboardInterrupt


def _describe_columns(stream: Stream) -> ColumnTable | None:
    """Describe the columns of a table by its first rows; return None for other formats.

    If the input can be read only once, call this before any rows are read.
    """
    from rosenblatt.data.describe import ColumnTable

    columns = stream.unscaled().preparation.get("order")  # does not read all rows
    if not columns:
        return None
    table = stream.describe(rows=max(_FEWEST_ROWS, min(_MOST_ROWS, _MOST_CELLS // len(columns))))
    return table if isinstance(table, ColumnTable) else None


def _risks(columns: ColumnTable | None, keep: Sequence[str]) -> list[Risk]:
    """Return the risks found in the columns of a table, without the risks of the id columns named in ``keep``."""
    risks = () if columns is None else columns.risks
    return [risk for risk in risks if not (risk.kind in ("id", "group") and risk.column in keep)]


def _curve(training: Training, held: Stream, measured: JsonObject) -> JsonObject | None:
    """Compare the model with a kernel perceptron on held-out rows, or return None if this is not useful or possible."""
    imbalance = training.options.imbalance
    other_aim = imbalance.class_weight or imbalance.cost or imbalance.threshold is not None
    if other_aim or not may_gain(measured["accuracy"], training.model.learner):
        return None
    with ProgressBar("comparing with a kernel", training.paths):
        return compare_with_kernel(
            training.model,
            training.run_options,
            (training.stream, training.rows),
            (held, measured["rows"]),
            training.options.seed,
        )


def _split_of(options: TrainOptions, paths: Sequence[str], open_options: Mapping[str, Any]) -> Rule:
    """Return the rule that ``--holdout`` and ``--holdout-by`` request.

    To hold out the last rows, all rows are counted first; to hold out groups, the groups of all rows are read first.
    """
    from rosenblatt.splits import GroupRows, LastRows, Split

    share, column = options.held_share or 0.0, options.holdout_by
    if column is None and not options.holds_last:
        return Split.of_share(share, options.seed)
    passthrough = None if column is None else [column]
    rows = open_data(paths, options.target, {**open_options, "scale": "none", "passthrough": passthrough})
    if column is None:
        with ProgressBar("counting rows", paths) as bar:
            return LastRows.of_share(share, sum(map(len, bar.track(rows))))
    with ProgressBar("reading groups", paths) as bar:
        missing = {"", *rows.preparation.get("missing_values", ())}
        groups = [
            None if group is None or str(group).strip() in missing else group
            for block in bar.track(rows)
            for group in (block.passthrough or {})[column]
        ]
    split = GroupRows.of_share(share, groups, options.seed)
    if alone := groups.count(None):
        have = "row has" if alone == 1 else "rows have"
        print_note(f"{alone:,} {have} no value in {column!r}: each counts as a group of its own.")
    held = float(split.held.mean())
    if held > max(_MUCH_HELD, share + 0.1):
        print_note(
            f"--holdout-by {shlex.quote(column)} holds out {held:.0%} of the rows, because few values have "
            "most of the rows: another --seed draws other values."
        )
    return split


def _groups_of(split: Rule, column: str | None) -> JsonObject:
    """Return the column of the groups and the numbers of groups, or {} if a split does not hold out groups."""
    from rosenblatt.splits import GroupRows

    if not isinstance(split, GroupRows):
        return {}
    return {"by": {"column": column, "groups": split.groups, "held_out": split.groups_held}}


def _check_paths(written: Mapping[str, Path | None], read: Sequence[str]) -> None:
    """Raise a ValueError if an output file cannot be written, or if two outputs are the same file.

    ``written`` maps the purpose of each output to its file, and ``read`` are the input files.
    """
    purposes: dict[str, str] = {}
    for purpose, file in written.items():
        check_out(file, read, needed=purpose != "cache")
        path = "" if file is None else os.path.realpath(file)
        if path in purposes:
            raise ValueError(f"{file} cannot be both the {purposes[path]} and the {purpose}: use two files.")
        if file is not None:
            purposes[path] = purpose


def _with_defaults(data: Sequence[str], options: TrainOptions) -> TrainOptions:
    """Return the options with the default learner, and with all other defaults for lines of text."""
    if not _are_lines_of_text(data, options.rows):
        return replace(options, learner=options.learner or "averaged")
    rows = options.rows
    if rows.characters is None:
        rows = replace(rows, ngrams=rows.ngrams or TEXT_NGRAMS)
    if options.learner is not None or options.on.cluster is not None:
        return replace(options, rows=rows, learner=options.learner or "averaged")
    passes = options.passes or (1 if "-" in data else TEXT_PASSES)
    return replace(options, rows=rows, learner="arow", passes=passes)


def _are_lines_of_text(data: Sequence[str], rows: WeightedRowOptions) -> bool:
    """Return whether the files hold lines of text that start with their label; standard input is not looked at."""
    from rosenblatt.data.io.bytes import detect_format
    from rosenblatt.data.io.lines import LineSource

    if rows.label_first or rows.format is not None or "-" in data:
        return bool(rows.label_first) or rows.format == "fasttext"
    try:
        files = LineSource(list(data))
        return files.rereadable and detect_format(files.display_name(0), files.head()) == "fasttext"
    except (OSError, ValueError):  # raised again when the files are opened to be read
        return False


def _cache(options: TrainOptions, run_options: RunOptions) -> Path | bool | None:
    """Return where to cache parsed rows: a given file, True for a temporary file, or None if rows are not cached.

    Writing the cache costs about as much as parsing the files, so a cache pays off from the third reading on.
    """
    if options.on.cluster is not None:
        return None
    passes = None if options.passes is None else options.passes + 2 * needs_data(run_options)
    readings = 10 if passes is None else passes * options.seeds * (options.folds or 1)
    return options.cache or readings > 2 or None


def _single_pass(options: TrainOptions, run_options: RunOptions) -> RunOptions:
    """Return the options of a run on input that can be read only once, limited to a single pass.

    Raises a ValueError for options that need to read the rows again.
    """
    if options.on.cluster is not None:
        raise ParameterError(
            "workers open files by name, but input that can be read only once, such as standard input, has no name: "
            "save it to files, or leave out {cluster}."
        )
    once = "Input that can be read only once, such as standard input,"
    if (options.passes or 1) > 1 or options.seeds > 1:
        raise ValueError(f"{once} allows only one pass: save it to a file to make more passes.")
    for name, value in (
        ("holdout", options.holdout),
        ("holdout_by", options.holdout_by),
        ("folds", options.folds),
        ("calibrate", options.calibrate or None),
        ("prune", "auto" if options.prune == "auto" else None),
        ("report", None if options.test else options.report),
        *options.imbalance.given.items(),
    ):
        name = name.replace("_", "-")
        if value is not None:
            raise ValueError(f"{once} cannot be combined with --{name}, which reads the rows again: save it to a file.")
    check_read_once(run_options)
    if options.passes is None:
        print_note("input that can be read only once allows only one pass: save it to a file to make more passes.")
    return replace(run_options, max_iter=1)


def _save(model: TrainedModel, out: Path | None, answer: JsonObject) -> OSError | None:
    """Write the model; return an OSError instead of raising it, so that the report is printed first, or None."""
    if out is None:
        return None
    try:
        model.save(out)
    except OSError as error:
        return error
    answer["model"] = str(out)
    return None


def _write_report(path: Path, answer: JsonObject) -> OSError | None:
    """Write the HTML report. Return an OSError instead of raising it, so that the results are printed first."""
    from rosenblatt.cli.report_page import page
    from rosenblatt.storage.container import write_atomically

    answer["report"]["file"] = str(path)
    try:
        write_atomically(path, [page(finite_or_null(answer)).encode("utf-8", "replace")])
    except OSError as error:
        del answer["report"]["file"]
        return error
    return None


def _open_test(stream: Stream, options: TrainOptions) -> Stream:
    given = options.rows.to_open()
    kept = {name: given.get(name) for name in ("format", "on_error", "max_line_bytes")}
    test = options.test or []
    rows = open_data(test, None, {**kept, "preparation": stream.preparation})
    if not rows.labelled:
        raise ValueError(
            f"there are no labels to test against in {', '.join(test)}: add the column that --target names."
        )
    return rows


def share_of(text: str) -> float:
    """Return a fraction such as ``20%``, ``0.2`` or ``last:20%``; raise a ValueError unless it is from 1% to 99%.

    >>> share_of("20%"), share_of("last:0.25")
    (0.2, 0.25)
    """
    share = fraction_of(text.strip().removeprefix("last:"))
    if not 0.01 <= share <= 0.99:
        raise ValueError(
            "--holdout expects a fraction of the rows between 1% and 99%, such as 20%, or last:20% for the last rows, "
            f"got {text!r}."
        )
    return share


def seconds(text: str) -> float:
    """Return a length of time such as ``30s``, ``5m`` or ``1h`` in seconds; a number without a unit is in seconds.

    >>> seconds("30s"), seconds("1.5m")
    (30.0, 90.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)", text.strip())
    if not match or match[2] not in _UNITS:
        raise ValueError(f"--every expects a length of time such as 30s, 5m or 1h, got {text!r}.")
    return float(match[1]) * _UNITS[match[2]]


# The report.


def print_report(training: Training, answer: JsonObject) -> None:
    """Print the report of a training run, including the accuracy of the model."""
    model = training.model
    labels = [escape_unprintable(label_text(label)) for label in answer["classes"]]
    shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6:,} more" if len(labels) > 6 else "")
    skipped = f" ({answer['skipped']:,} skipped)" if answer["skipped"] else ""
    print_text(
        f"{answer['learner']}: {count_of(answer['rows'], 'row')}{skipped}, {_features(model)}, classes {shown}; "
        f"{answer['seconds']:.2f} s."
    )
    if "cluster" in answer:
        print_text(cluster_line(answer["cluster"]))
    if "kernel" in answer:
        print_text(kernel_line(answer))
    if "calibration" in answer:
        print_text(calibration_line(answer["calibration"]))
    if "pruned" in answer:
        print_text(pruned_line(answer["pruned"]))
    if "threshold" in answer:
        print_text(threshold_line(answer["threshold"], answer["classes"]))
    _print_accuracy(answer)
    print_text(str(training.report))
    print_bars(answer["mistakes_by_pass"], "Mistakes by pass")
    if "updates_by_pass" in answer:
        print_bars(answer["updates_by_pass"], "Updates by pass (mistakes, and rows within the margin)")
    if answer["early_stopping"] is not None:
        errors = answer["early_stopping"]["error_by_pass"]
        shares = ", ".join("-" if error is None else f"{error:.1%}" for error in errors)
        print_text(f"Error on the held-out rows, by pass: {shares}.")
    for remark in answer["advice"]:
        print_note(f"{remark}.")
    if answer["ranges_differ"]:
        print_note(
            f"some features have ranges {answer['ranges_differ']:,.0f} times as large as those of others, which have "
            "little effect: scale them with --scale standard."
        )
    if "file" in answer.get("report", ()):
        print_text(f"Report written to {answer['report']['file']}.")
    if "model" in answer:
        print_text(f"Model written to {answer['model']}.")
    elif on_terminal():
        print_text("The model was not saved: add -o MODEL to write it to a file.")


def _features(model: TrainedModel) -> str:
    """Return the number of features in words, with the number of table columns if the two differ."""
    from rosenblatt.data.preparation import is_hashed

    prepared, features = model.preparation or {}, count_of(model.n_features, "feature")
    columns = prepared.get("columns")
    if not columns or len(columns) == model.n_features:
        return features
    words = f", 2^{prepared['bits']} of them for hashed words" if any(map(is_hashed, columns)) else ""
    return f"{count_of(len(columns), 'column')} as {features}{words}"


def print_scale(rows: Stream, automatic: bool) -> None:
    """Print one line about the scaling of numeric columns, or nothing if they are not scaled."""
    scale = rows.scale
    if scale is None or not len(scale.features):
        return
    import numpy as np

    names = rows.feature_names
    count = count_of(len(scale.features), "numeric column")
    done = "centred and divided by" if scale.centre.any() else "divided by"
    by = "the largest absolute value" if scale.method == "maxabs" else "the standard deviation"
    varying = np.flatnonzero(scale.spread != 1.0)  # a constant column is divided by 1
    varying = varying if len(varying) else np.arange(len(scale.spread))
    low, high = varying[scale.spread[varying].argmin()], varying[scale.spread[varying].argmax()]
    ends = []
    for place in (low, high):
        name = f" for {names[scale.features[place]]}" if names is not None else ""
        ends.append(f"{scale.spread[place]:.3g}{name}")
    ranges = "their ranges differ" if len(scale.features) > 1 else "its range differs from that of the bias"
    why = f", because {ranges}; --scale none turns this off" if automatic else ""
    between = f"from {ends[0]} to {ends[1]}" if low != high else ends[0]
    print_text(f"Scaled: {count}, {done} {by} ({between}){why}.")


def _tested(answer: JsonObject) -> tuple[str, JsonObject, str] | None:
    """Return the key of the test scores in ``answer``, the scores, and the test rows in words; None without a test."""
    kind = next((kind for kind in ("test", "holdout", "folds") if "rows" in answer.get(kind, ())), None)
    if kind is None:
        return None
    found = answer[kind]
    rows = f"{found['rows']:,} rows"
    if kind == "test":
        on = f"{rows} of {', '.join(found['files'])}"
    elif kind == "holdout":
        unseen = answer.get("calibration") or answer.get("threshold") or {}
        share = found["rows"] / (found["rows"] + answer["rows"] + unseen.get("rows", 0))
        on = f"{rows} held out of training ({share:.0%} of each class)"
        if "by" in found:
            by = found["by"]
            which = f"all rows of {by['held_out']:,} of the {by['groups']:,} values of {by['column']}"
            on = f"{rows} held out of training ({which})"
        if found["last"]:
            on = f"the last {rows} ({share:.0%}), held out of training"
    else:
        on = f"{rows}, each predicted by a model trained on the other {found['folds'] - 1} folds"
    return kind, found, on


def _print_accuracy(answer: JsonObject) -> None:
    tested = _tested(answer)
    if tested is None:
        return
    _, found, on = tested
    _print_scores(found, on)
    if found.get("by_seed"):
        _print_seeds(found["by_seed"])


def _print_scores(scores: JsonObject, on: str) -> None:
    """Print the accuracy and the scores of each class."""
    commonest, label = scores["commonest"], escape_unprintable(label_text(scores["commonest"]["class"]))
    print_text(
        f"Accuracy {scores['accuracy']:.2%} on {on}; always predicting {label} gives {commonest['accuracy']:.2%}. "
        f"Balanced accuracy {scores['balanced_accuracy']:.2%}."
    )
    print_text(*ranking_lines(scores), *calibration_lines(scores))
    by_fold = scores.get("by_fold")
    if by_fold:
        print_text(f"By fold: {', '.join(f'{share:.2%}' for share in by_fold)}{_spread(by_fold)}.")
    if len(scores["by_class"]) <= _MOST_CLASSES:
        print_text("")
        print_table(scores_table(scores["by_class"]))
        print_text("")


def _spread(shares: Sequence[float]) -> str:
    if len(shares) < 2:
        return ""
    return f" (mean {statistics.mean(shares):.2%}, standard deviation {statistics.stdev(shares):.2%})"


def _print_seeds(accuracies: Sequence[float]) -> None:
    """Print the mean and the spread of the accuracy over the seeds."""
    print_text(
        f"Over {len(accuracies)} seeds: mean {statistics.mean(accuracies):.2%}, spread "
        f"{statistics.stdev(accuracies):.2%} (standard deviation), from {min(accuracies):.2%} to {max(accuracies):.2%}."
    )


def kernel_line(facts: JsonObject) -> str:
    """Return a line that names the kernel, its parameters and the number of support vectors.

    >>> kernel_line({"kernel": {"name": "rbf", "gamma": 0.5}, "support_rows": 1200})
    'Kernel: rbf with gamma 0.5; 1,200 support vectors.'
    """
    parameters = dict(facts["kernel"])
    name, count = parameters.pop("name"), facts["support_rows"]
    used = ", ".join(f"{key} {value:.4g}" for key, value in parameters.items())
    return f"Kernel: {name}{' with ' if used else ''}{used}; {count:,} support vector{'' if count == 1 else 's'}."


def cluster_line(facts: JsonObject) -> str:
    """Return a sentence that names the cluster, its workers, the shards and the mode.

    >>> cluster_line({"kind": "dask", "mode": "exact", "workers": 2, "shards": 4})
    'Trained on a Dask cluster: 2 workers, 4 shards, mode exact.'
    """
    workers, shards = count_of(facts["workers"], "worker"), count_of(facts["shards"], "shard")
    return f"Trained on a {CLUSTERS[facts['kind']]} cluster: {workers}, {shards}, mode {facts['mode']}."
