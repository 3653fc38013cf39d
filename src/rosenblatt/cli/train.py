"""``rosenblatt train``: learn from files, report what was proved, test, save."""

from __future__ import annotations

import os
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.inputs import check_out, lenient_defaults, open_data
from rosenblatt.cli.options import (
    AS_JSON,
    FILES,
    MODEL_OUT,
    SEED,
    TARGET,
    Group,
    KernelChoice,
    StepOptions,
    WeightedRowOptions,
    command,
    option,
    run_options,
)
from rosenblatt.cli.output import as_text, bars, emit, note, on_terminal, print_table, say, say_counts, say_preparation
from rosenblatt.cli.test import class_scores, scores_table, unknown_labels
from rosenblatt.cli.train_run import Training, check_read_once, cross_validated, more_seeds, needs_data, tested
from rosenblatt.messages import ParameterError, Setting, check_choice, check_integer, count_of, plain_label

if TYPE_CHECKING:
    from rosenblatt.data import Stream
    from rosenblatt.scaling import ColumnScale
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions

ON_CLUSTERS = ("averaged", "perceptron")
"""Learners that can be trained on a cluster."""
CLUSTERS = {"dask": "Dask", "ray": "Ray"}
"""The kinds of clusters, and how these are written."""
MOST_FOLDS = 1000
_MOST_CLASSES = 30
"""Scores of more classes than this would fill the screen; ``--json`` has them."""
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class TrainSteps(StepOptions):
    """The steps of a linear learner, among them those of a margin that can be asked for in training."""

    margin: float | None = option(None, "M", "For --learner margin: update while a row is right by M or less (10).")


class ClusterOptions(Group):
    """On which cluster to train, and how."""

    cluster: str | None = option(None, "dask|ray", "Train on a cluster, each file on one of its workers.")
    address: str | None = option(None, "ADDR", "Of the cluster, such as tcp://HOST:8786; if left out, one is started.")
    mode: str | None = option(
        None, "exact|mix", "On a cluster: the model of one machine (if left out), or all shards at once and their mean."
    )
    shards: int | None = option(None, "N", "For --mode mix: the shards to make of the files (8).")

    def check(self) -> None:
        """Raise a ParameterError for what does not go together.

        >>> ClusterOptions(mode="mix").check()
        Traceback (most recent call last):
        rosenblatt.messages.ParameterError: mode is for training on a cluster: add cluster='dask' or cluster='ray'.
        """
        if self.cluster is None:
            for name in ("address", "mode", "shards"):
                if getattr(self, name) is not None:
                    raise ParameterError(
                        Setting(name),
                        " is for training on a cluster: add ",
                        Setting("cluster", "dask"),
                        " or ",
                        Setting("cluster", "ray"),
                        ".",
                    )
            return
        check_choice("cluster", self.cluster, tuple(CLUSTERS))
        check_choice("mode", self.mode or "exact", ("exact", "mix"))
        if self.shards is not None:
            check_integer("shards", self.shards, 1)
            if self.mode != "mix":
                raise ParameterError(
                    Setting("shards"),
                    " is for ",
                    Setting("mode", "mix"),
                    ": otherwise each file is a shard, and the model does not depend on them.",
                )


class TrainOptions(Group):
    """What to train, and how."""

    target: str | None = TARGET
    learner: str = option(
        "averaged", "NAME", "averaged, arow, pa, perceptron, margin, voted or kernel.", "--learner -l"
    )
    passes: int | None = option(None, "N", "The most passes (10; arow: 5; perceptron and margin: 100).", "--passes -p")
    shuffle: bool = option(True, None, "Visit rows in a random order.", "--shuffle/--no-shuffle")
    seed: int = SEED
    early_stopping: bool = option(False, None, "Hold out a tenth of the rows; stop when it gets no better.")
    class_weight: str | None = option(None, "balanced", "Let rare classes count as much as common ones.")
    bias: bool = option(True, None, "Learn a bias besides the weights, or none.", "--bias/--no-bias")
    multi_class: str | None = option(
        None,
        "direct|ovr",
        "More than two classes: all compete (averaged, arow, pa), or each against the rest (the others).",
    )
    scale: str = option(
        "auto",
        "HOW",
        "Bring columns of numbers to one scale: standard, maxabs, none, or auto: in tables, where they differ.",
    )
    holdout: str | None = option(None, "SHARE", "Hold out a share of the rows, such as 20%, and test on them.")
    folds: int | None = option(None, "K", "Cross-validate: test on each of K parts in turn.")
    test: list[str] | None = option(None, "FILE", "Rows to measure the accuracy on; repeat for more.")
    seeds: int = option(1, "K", "Train with K seeds; show how the accuracy varies.")
    out: Path | None = MODEL_OUT
    checkpoint: Path | None = option(None, "FILE", "Write the state of the run to this file.")
    every: str = option("30s", "TIME", "How often: 30s, 5m, 1h.")
    resume: bool = option(False, None, "Go on from --checkpoint if it is there.")
    cache: Path | None = option(None, "FILE", "Keep the parsed rows in this file, for later runs too.")
    names: bool = option(False, None, "Keep the words that are hashed, for explain (slower).")
    as_json: bool = AS_JSON
    kernel: KernelChoice = field(default_factory=KernelChoice)
    steps: TrainSteps = field(default_factory=TrainSteps)
    on: ClusterOptions = field(default_factory=ClusterOptions)
    rows: WeightedRowOptions = field(default_factory=WeightedRowOptions)

    @property
    def held_share(self) -> float | None:
        """The share of rows that is held out to test on, None if none are."""
        return None if self.holdout is None else share_of(self.holdout)

    @property
    def checkpoint_seconds(self) -> float:
        """The time between two checkpoints."""
        return seconds(self.every)

    def check(self) -> None:
        """Raise a ValueError for what does not go together."""
        seconds(self.every)
        self.on.check()
        if self.on.cluster is not None:
            self._check_cluster()
        if self.seeds < 1:
            raise ValueError(f"--seeds must be 1 or more, got {self.seeds}.")
        if self.seeds > 1 and not (self.test or self.holdout):
            raise ValueError("--seeds shows how accuracy varies, so it needs --test, a file to test on, or --holdout.")
        if self.seeds > 1 and self.checkpoint is not None:
            raise ValueError("--checkpoint is for one run, so it does not go with --seeds.")
        if self.resume and self.checkpoint is None:
            raise ValueError("--resume needs --checkpoint, the file to go on from.")
        if self.passes is not None and self.passes < 1:
            raise ValueError(f"--passes must be 1 or more, got {self.passes}.")
        if self.class_weight is not None:
            check_choice("class_weight", self.class_weight, ("balanced",))
        if self.holdout is not None:
            share_of(self.holdout)
        if self.folds is not None:
            check_integer("folds", self.folds, 2, most=MOST_FOLDS)
        for one, other in (("holdout", "test"), ("folds", "test"), ("folds", "holdout"), ("folds", "seeds")):
            given = {
                "holdout": self.holdout,
                "folds": self.folds,
                "test": self.test or None,
                "seeds": self.seeds > 1 or None,
            }
            if given[one] is not None and given[other] is not None:
                raise ValueError(f"--{one} and --{other} both say what the accuracy is measured on: leave one out.")

    def _check_cluster(self) -> None:
        """Raise a ParameterError for what cannot be had on a cluster."""
        if self.learner not in ON_CLUSTERS:
            raise ParameterError(
                Setting("cluster"),
                f" is for --learner {' or '.join(ON_CLUSTERS)}, and this is {self.learner}: leave it out.",
            )
        for name, given, why in (
            ("holdout", self.holdout, "workers learn from whole files: test on others with --test"),
            ("folds", self.folds, "workers learn from whole files: test on others with --test"),
            ("seeds", self.seeds > 1 or None, "one model is trained at a time: run it with one --seed after the other"),
            ("cache", self.cache, "workers keep their rows in memory: leave it out"),
        ):
            if given is not None:
                raise ParameterError(Setting(name), " does not go with ", Setting("cluster"), f", as {why}.")


@command
def train(*, data: list[str] = FILES, asked: TrainOptions) -> None:
    """Learn from files and report: accuracy, whether the data is separated, its margin.

    In tables, columns of which it is unclear what they are (ids, dates) are left out, missing numbers are replaced by
    the mean, and columns of numbers are scaled where their sizes differ much; each is said in a line. Ctrl-C ends a
    run early; what was learned so far is reported and saved.

    With --cluster the rows stay where they are loaded and weights travel: the model is the same, to the bit. Without
    --address a cluster is started on this machine, and closed at the end.

    \b
    Example:
      rosenblatt train people.csv --target survived --holdout 20% -o people.model
      rosenblatt train a9a.bz2 --test a9a.t.bz2 -o adult.model
      rosenblatt train a9a.bz2 --learner arow --passes 1
      rosenblatt train rings.csv -t label --learner kernel --kernel rbf
      rosenblatt train "part-*.parquet" -t y --cluster dask
    """
    asked.check()
    test = asked.test or []
    _check_places({"model": asked.out, "checkpoint": asked.checkpoint, "cache": asked.cache}, [*data, *test])
    run = run_options(
        asked.learner,
        asked.kernel,
        asked.steps,
        bias=asked.bias,
        multi_class=asked.multi_class,
        max_iter=asked.passes,
        shuffle=asked.shuffle,
        random_state=asked.seed,
        early_stopping=asked.early_stopping,
    )
    started = time.perf_counter()
    readings = 10 if asked.passes is None else (asked.passes + 2 * needs_data(run)) * asked.seeds * (asked.folds or 1)
    many = readings > 2  # for one more pass, writing costs as much as parsing
    cache = (asked.cache or many or None) if asked.on.cluster is None else None
    to_open = lenient_defaults(asked.rows.to_open()) | {"scale": asked.scale, "keep_words": asked.names or None}
    stream = open_data(data, asked.target, {**to_open, "cache": cache})
    say_preparation(stream)
    if test:
        _open_test(stream.unscaled(), asked)  # to complain at once; how many features there are is not known
    if iter(stream) is stream:
        run = _one_pass(asked, run)
    rows, split = stream, None
    if asked.held_share is not None:
        from rosenblatt.data.splits import Split

        split = Split.of_share(asked.held_share, asked.seed)
        rows = stream.part(split, held=False)
    training = Training(rows, asked, run, data)
    if asked.on.cluster is not None:
        from rosenblatt.cli.train_cluster import ClusterTraining

        training = ClusterTraining(rows, asked, run, data, opened=to_open)
    try:
        interrupted = not training.fit()
    except KeyboardInterrupt:
        note("nothing had been learned yet, so there is no model.")
        raise
    model = training.model
    answer = training.answer(time.perf_counter() - started)
    answer["interrupted"] = interrupted
    fault = _save(model, asked.out, answer)
    classes = [plain_label(label) for label in model.classes.tolist()]

    def rows_to_test_on(like: Stream) -> Stream:
        return _open_test(like, asked) if split is None else stream.part(split, held=True, scaled_as=like)

    later: Exception | None = None
    if test:
        pairs = tested(model, rows_to_test_on(rows), test, held_out=False)
        later = unknown_labels(pairs, classes, ", ".join(test))
        if later is None:
            answer["test"] = {"files": list(test), **class_scores(pairs, classes)}
    elif split is not None:
        pairs = tested(model, rows_to_test_on(rows), data, held_out=True)
        answer["holdout"] = {"share": asked.held_share, **class_scores(pairs, classes)}
    elif asked.folds is not None and asked.folds > training.rows:
        later = ValueError(f"--folds {asked.folds:,} is more than the {count_of(training.rows, 'row')}: give fewer.")
    elif asked.folds is not None and not interrupted:
        answer["folds"] = cross_validated(stream, training)
        interrupted = answer["folds"].pop("interrupted")
    measured = answer.get("test") or answer.get("holdout")
    if asked.seeds > 1 and measured and not interrupted:
        measured["by_seed"] = more_seeds(measured["accuracy"], training, rows_to_test_on)
    if asked.as_json:
        emit(answer)
    else:
        say_counts(rows)
        say_scale(rows.scale, rows.feature_names, automatic=asked.scale == "auto")
        print_report(model, answer)
    if fault or later:
        raise fault or later  # type: ignore[misc]
    if interrupted:
        raise KeyboardInterrupt


def _check_places(written: Mapping[str, Path | None], read: Sequence[str]) -> None:
    """Refuse, before any work, to write two things to one file, or where that cannot be done."""
    places: dict[str, str] = {}
    for what, file in written.items():
        check_out(file, read, needed=what != "cache")
        place = "" if file is None else os.path.realpath(file)
        if place in places:
            raise ValueError(f"{file} cannot be the {places[place]} and the {what}: name two files.")
        if file is not None:
            places[place] = what


def _one_pass(asked: TrainOptions, run: RunOptions) -> RunOptions:
    """Return the options for what can be read only once."""
    if asked.on.cluster is not None:
        raise ParameterError(
            "a cluster reads files by their names, and what can be read only once, such as standard input, has "
            "none: save it to files, or leave out ",
            Setting("cluster"),
            ".",
        )
    once = "What can be read only once, such as standard input,"
    if (asked.passes or 1) > 1 or asked.seeds > 1:
        raise ValueError(f"{once} allows one pass: save it to a file for more.")
    for name, value in (("holdout", asked.holdout), ("folds", asked.folds), ("class-weight", asked.class_weight)):
        if value is not None:
            raise ValueError(f"{once} does not go with --{name}, which reads the rows again: save it to a file.")
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


def _open_test(stream: Stream, asked: TrainOptions) -> Stream:
    kept = {name: asked.rows.to_open().get(name) for name in ("format", "on_error", "max_line_bytes")}
    test = asked.test or []
    rows = open_data(test, None, {**kept, "preparation": stream.preparation})
    if not rows.labelled:
        raise ValueError(f"{', '.join(test)} has no labels to test against: add the column that --target names.")
    return rows


def share_of(text: str) -> float:
    """Return a share such as ``20%`` or ``0.2`` as a number.

    >>> share_of("20%"), share_of("0.25")
    (0.2, 0.25)
    """
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*", text)
    share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0.01 <= share <= 0.99:
        raise ValueError(f"--holdout expects a share of the rows between 1% and 99%, such as 20%, got {text!r}.")
    return share


def seconds(text: str) -> float:
    """Return a length of time such as ``30s``, ``5m`` or ``1h`` in seconds.

    >>> seconds("30s"), seconds("1.5m")
    (30.0, 90.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)", text.strip())
    if not match or match[2] not in _UNITS:
        raise ValueError(f"--every expects a length of time such as 30s, 5m or 1h, got {text!r}.")
    return float(match[1]) * _UNITS[match[2]]


# What is told at the end.


def print_report(model: TrainedModel, answer: dict[str, Any]) -> None:
    """Print what a run has learned and proved, and how well it predicts."""
    labels = [as_text(label) for label in answer["classes"]]
    shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6:,} more" if len(labels) > 6 else "")
    skipped = f" ({answer['skipped']:,} skipped)" if answer["skipped"] else ""
    say(
        f"{answer['learner']}: {count_of(answer['rows'], 'row')}{skipped}, {_features(model)}, classes {shown}; "
        f"{answer['seconds']:.2f} s."
    )
    if "cluster" in answer:
        say(cluster_line(answer["cluster"]))
    if "kernel" in answer:
        say(kernel_line(answer))
    _say_accuracy(answer)
    say(str(model.report))
    bars(answer["mistakes_by_pass"], "Mistakes by pass")
    if "updates_by_pass" in answer:
        bars(answer["updates_by_pass"], "Updates by pass (mistakes, and rows that were right by too little)")
    if answer["early_stopping"] is not None:
        errors = answer["early_stopping"]["error_by_pass"]
        shares = ", ".join("-" if error is None else f"{error:.1%}" for error in errors)
        say(f"Error on the rows held out, by pass: {shares}.")
    if answer["ranges_differ"]:
        note(
            f"some features range over {answer['ranges_differ']:,.0f} times as much as others, which hardly count: "
            "--scale standard brings them to one scale."
        )
    if "model" in answer:
        say(f"Model written to {answer['model']}.")
    elif on_terminal():
        say("The model was not saved: -o MODEL writes it to a file.")


def _features(model: TrainedModel) -> str:
    """Return how many features there are, and of how many columns of a table they are made."""
    from rosenblatt.data.preparation import is_hashed

    prepared, features = model.preparation or {}, count_of(model.n_features, "feature")
    columns = prepared.get("columns")
    if not columns or len(columns) == model.n_features:
        return features
    words = f", 2^{prepared['bits']} of them for hashed words" if any(map(is_hashed, columns)) else ""
    return f"{count_of(len(columns), 'column')} as {features}{words}"


def say_scale(scale: ColumnScale | None, names: Sequence[str] | None, automatic: bool) -> None:
    """Print in one line what is done to columns of numbers, if something is."""
    if scale is None or not len(scale.features):
        return
    import numpy as np

    count = f"{count_of(len(scale.features), 'column')} of numbers"
    done = "centred and divided by" if scale.centre.any() else "divided by"
    by = "the largest value" if scale.method == "maxabs" else "the standard deviation"
    varying = np.flatnonzero(scale.spread != 1.0)  # a column whose numbers are all the same is divided by 1
    varying = varying if len(varying) else np.arange(len(scale.spread))
    low, high = varying[scale.spread[varying].argmin()], varying[scale.spread[varying].argmax()]
    ends = []
    for place in (low, high):
        name = f" of {names[scale.features[place]]}" if names is not None else ""
        ends.append(f"{scale.spread[place]:.3g}{name}")
    why = ", as sizes differ, also from the bias (1); --scale none leaves them as they are" if automatic else ""
    between = f"from {ends[0]} to {ends[1]}" if low != high else ends[0]
    say(f"Scaled: {count}, {done} {by} ({between}){why}.")


def _say_accuracy(answer: dict[str, Any]) -> None:
    found = answer.get("test") or answer.get("holdout") or answer.get("folds")
    if not found or "rows" not in found:
        return
    rows = f"{found['rows']:,} rows"
    if "test" in answer:
        on = f"{rows} of {', '.join(found['files'])}"
    elif "holdout" in answer:
        share = found["rows"] / (found["rows"] + answer["rows"])
        on = f"{rows} held out of training ({share:.0%} of each class)"
    else:
        on = f"{rows}, each predicted by a model trained on the other folds ({found['folds']})"
    _say_scores(found, on)
    if found.get("by_seed"):
        _say_seeds(found["by_seed"])


def _say_scores(scores: dict[str, Any], on: str) -> None:
    """Print the accuracy and the scores of each class."""
    commonest, label = scores["commonest"], as_text(scores["commonest"]["class"])
    say(
        f"Accuracy {scores['accuracy']:.2%} on {on}; always answering {label} would give {commonest['accuracy']:.2%}. "
        f"Balanced accuracy {scores['balanced_accuracy']:.2%}."
    )
    by_fold = scores.get("by_fold")
    if by_fold:
        say(f"By fold: {', '.join(f'{share:.2%}' for share in by_fold)}{_spread(by_fold)}.")
    if len(scores["by_class"]) <= _MOST_CLASSES:
        say("")
        print_table(scores_table(scores["by_class"]))
        say("")


def _spread(shares: Sequence[float]) -> str:
    if len(shares) < 2:
        return ""
    return f" (mean {statistics.mean(shares):.2%}, standard deviation {statistics.stdev(shares):.2%})"


def _say_seeds(accuracies: Sequence[float]) -> None:
    """Print how the accuracy varies with the seed."""
    say(
        f"Over {len(accuracies)} seeds: mean {statistics.mean(accuracies):.2%}, spread "
        f"{statistics.stdev(accuracies):.2%} (standard deviation), from {min(accuracies):.2%} to {max(accuracies):.2%}."
    )


def kernel_line(facts: dict[str, Any]) -> str:
    """Return these facts as a line to read.

    >>> kernel_line({"kernel": {"name": "rbf", "gamma": 0.5}, "support_rows": 1200})
    'Kernel: rbf with gamma 0.5; 1,200 support rows.'
    """
    parameters = dict(facts["kernel"])
    name, count = parameters.pop("name"), facts["support_rows"]
    used = ", ".join(f"{key} {value:.4g}" for key, value in parameters.items())
    return f"Kernel: {name}{' with ' if used else ''}{used}; {count:,} support row{'' if count == 1 else 's'}."


def cluster_line(facts: dict[str, Any]) -> str:
    """Return in one sentence where a model was trained.

    >>> cluster_line({"kind": "dask", "mode": "exact", "workers": 2, "shards": 4})
    'Trained on a Dask cluster: 2 workers, 4 shards, mode exact.'
    """
    workers, shards = count_of(facts["workers"], "worker"), count_of(facts["shards"], "shard")
    return f"Trained on a {CLUSTERS[facts['kind']]} cluster: {workers}, {shards}, mode {facts['mode']}."
