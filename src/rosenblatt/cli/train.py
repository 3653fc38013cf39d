"""``rosenblatt train``: learn from files, report what was proved, test, save."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.accuracy import unknown_labels
from rosenblatt.cli.held_out import cross_validated, more_seeds, scores_of, tested
from rosenblatt.cli.inputs import check_out, opened
from rosenblatt.cli.kernel_choice import check_read_once, needs_data
from rosenblatt.cli.notes import say_counts, say_preparation
from rosenblatt.cli.output import emit, note
from rosenblatt.cli.train_options import TrainOptions, run_options
from rosenblatt.cli.train_report import print_report, say_scale
from rosenblatt.cli.train_run import Training
from rosenblatt.messages import count_of

if TYPE_CHECKING:
    from rosenblatt.data import Stream
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions


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
    asked.check(test)
    _check_places({"model": out, "checkpoint": asked.checkpoint, "cache": asked.cache}, [*paths, *test])
    run = run_options(asked)
    started = time.perf_counter()
    readings = 10 if asked.passes is None else (asked.passes + 2 * needs_data(run)) * asked.seeds * (asked.folds or 1)
    many = readings > 2  # for one more pass, writing costs as much as parsing
    cache = (asked.cache or many or None) if asked.on.cluster is None else None
    to_open = {**options, "names": names or None}
    stream = opened(paths, target, {**to_open, "cache": cache})
    say_preparation(stream)
    if test:
        _opened_test(stream.unscaled(), test, options)  # to complain at once; how many features there are is not known
    if iter(stream) is stream:
        asked.on.check_files()
        run = _one_pass(asked, run)
    rows, split = stream, None
    if asked.held_share is not None:
        from rosenblatt.data.splits import Split

        split = Split.of_share(asked.held_share, asked.seed)
        rows = stream.part(split, held=False)
    training = Training(rows, asked, run, paths)
    if asked.on.cluster is not None:
        from rosenblatt.cli.train_cluster import ClusterTraining

        training = ClusterTraining(rows, asked, run, paths, opened=to_open)
    try:
        interrupted = not training.fit()
    except KeyboardInterrupt:
        note("nothing had been learned yet, so there is no model.")
        raise
    model = training.model
    answer = training.answer(time.perf_counter() - started)
    answer["interrupted"] = interrupted
    fault = _save(model, out, answer)
    classes = model.classes.tolist()

    def rows_to_test_on(like: Stream) -> Stream:
        return _opened_test(like, test, options) if split is None else stream.part(split, held=True, scaled_as=like)

    later: Exception | None = None
    if test:
        pairs = tested(model, rows_to_test_on(rows), test, held_out=False)
        later = unknown_labels(pairs, classes, ", ".join(test))
        if later is None:
            answer["test"] = {"files": list(test), **scores_of(pairs, classes)}
    elif split is not None:
        pairs = tested(model, rows_to_test_on(rows), paths, held_out=True)
        answer["holdout"] = {"share": asked.held_share, **scores_of(pairs, classes)}
    elif asked.folds is not None and asked.folds > training.rows:
        later = ValueError(f"--folds {asked.folds:,} is more than the {count_of(training.rows, 'row')}: give fewer.")
    elif asked.folds is not None and not interrupted:
        answer["folds"] = cross_validated(stream, training)
        interrupted = answer["folds"].pop("interrupted")
    measured = answer.get("test") or answer.get("holdout")
    if asked.seeds > 1 and measured and not interrupted:
        measured["by_seed"] = more_seeds(measured["accuracy"], training, rows_to_test_on)
    if as_json:
        emit(answer)
    else:
        say_counts(rows)
        say_scale(rows.scale, rows.feature_names, automatic=options.get("scale") == "auto")
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


def _opened_test(stream: Stream, test: Sequence[str], options: Mapping[str, Any]) -> Stream:
    kept = {name: options.get(name) for name in ("format", "on_error", "max_line_bytes")}
    rows = opened(test, None, {**kept, "preparation": stream.preparation})
    if not rows.labelled:
        raise ValueError(f"{', '.join(test)} has no labels to test against: add the column that --target names.")
    return rows
