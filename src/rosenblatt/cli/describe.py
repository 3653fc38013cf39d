"""``rosenblatt describe``: the columns of a file, the features made from them, and anything suspicious."""

from __future__ import annotations

from collections.abc import Sequence

from rosenblatt.cli.inputs import open_data
from rosenblatt.cli.options import AS_JSON, FILES, TARGET, RowOptions, command
from rosenblatt.cli.output import (
    JsonObject,
    as_option,
    note_text,
    on_terminal,
    options_of_command,
    print_json,
    print_table,
    print_text,
    terminal_width,
)


@command
def describe(
    *, data: list[str] = FILES, target: str | None = TARGET, as_json: bool = AS_JSON, rows: RowOptions
) -> None:
    """Show each column of a file: its type, its features, missing values, typical values, and anything suspicious.

    Reads the first 10,000 rows. Points out columns that look like row numbers, are nearly unique, are constant, or
    alone determine the target. Also lists the questions to answer before training.

    \b
    Example:
      rosenblatt describe passengers.csv --target survived
    """
    from rosenblatt.cli.train import train

    with options_of_command(train):  # the printed advice names options of train, not of describe
        _describe(data, target, rows, as_json)


def _describe(data: Sequence[str], target: str | None, rows: RowOptions, as_json: bool) -> None:
    """Print a table of the columns, notes, suspicious columns, and the questions to answer before training."""
    from rosenblatt.data.describe import WIDTH, ColumnTable
    from rosenblatt.messages import Question

    stream = open_data(data, target, {**rows.to_open(), "on_ambiguous": "note"})
    table = stream.describe()
    questions = [note_text(note) for note in stream.notes if isinstance(note, Question)]
    notes = [note_text(note) for note in stream.notes if not isinstance(note, Question)]
    if as_json:
        columns = [{name: value for name, value in row.items() if name != "histogram"} for row in table]
        facts: JsonObject = {"title": table.title, "rows": columns, "notes": [*table.render_notes(as_option), *notes]}
        print_json(facts | {"left_out": stream.excluded, "questions": questions})
        return
    if not isinstance(table, ColumnTable):
        print_table(table)
        return
    print_text(table.title)
    for line in table.lines(terminal_width() if on_terminal() else WIDTH):
        print(line)
    print_text(*table.render_notes(as_option))
    _list("Notes:", notes)
    _list("Look at:", table.remarks(as_option))
    _list("To answer before training:", questions)


def _list(title: str, lines: Sequence[str]) -> None:
    from rosenblatt.data.describe import bullets

    if lines:
        print_text("", title)
    for line in bullets(lines):
        print(line)
