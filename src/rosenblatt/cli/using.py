"""The commands that use a model: what it predicts, how well, and why."""

from __future__ import annotations

import typer

from rosenblatt.cli import options as given
from rosenblatt.cli.output import exit_cleanly
from rosenblatt.cli.row_options import FileOptions, grouped

commands = typer.Typer(rich_markup_mode=None)


@commands.command(short_help="Write one label a line, in the order of the rows.")
@exit_cleanly
@grouped
def predict(
    model: given.Model,
    data: given.Files,
    out: given.PredictionsOut = None,
    id: given.Id = None,
    scores: given.Scores = False,
    as_json: given.PredictionsJson = False,
    *,
    files: FileOptions,
) -> None:
    """Write one label a line, in the order of the rows. The label column may be missing, others may be new.

    With --id or --scores, CSV with a header; -o answers.csv, .jsonl or .parquet writes that format. With --on-error
    skip, a first column `row` says which row each answer is for, counted from 0.

    \b
    Example:
      rosenblatt predict adult.model new.csv -o answers.txt
      rosenblatt predict titanic.model new.csv --id PassengerId -o answers.csv
    """
    from rosenblatt.cli.predict import predict as run_it

    run_it(model, data, out, id or [], scores, files.to_open(), as_json)


@commands.command("test", short_help="Tell how many labelled rows a model predicts right.")
@exit_cleanly
@grouped
def tell_accuracy(
    model: given.Model,
    data: given.Files,
    as_json: given.AsJson = False,
    *,
    files: FileOptions,
) -> None:
    """Print how many labelled rows a model predicts right, how well each class, and which it takes for which.

    \b
    Example:
      rosenblatt test adult.model a9a.t.bz2
    """
    from rosenblatt.cli.accuracy import tell_accuracy as run_it

    run_it(model, data, files.to_open(), as_json)


@commands.command(short_help="Print the features that matter most, or why a row is so.")
@exit_cleanly
@grouped
def explain(
    model: given.Model,
    top: given.Top = 10,
    label: given.Label = None,
    row: given.Row = None,
    as_json: given.AsJson = False,
    *,
    files: FileOptions,
) -> None:
    """Print the features that matter most, or why one row is predicted as it is.

    \b
    Example:
      rosenblatt explain adult.model --row new.csv:17
      rosenblatt explain digits.model --label 7
    """
    from rosenblatt.cli.explain import explain as run_it

    run_it(model, top, label, row, files.to_open(), as_json)
