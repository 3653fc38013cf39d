"""``rosenblatt describe``: what the columns of a file are, what they become, and what looks suspicious."""

from __future__ import annotations

from collections.abc import Sequence

from rosenblatt.cli.inputs import open_data
from rosenblatt.cli.options import AS_JSON, FILES, TARGET, RowOptions, command
from rosenblatt.cli.output import cli_note, emit, on_terminal, print_table, running, say, terminal_width
from rosenblatt.cli.output import option as spelled


@command
def describe(
    *, data: list[str] = FILES, target: str | None = TARGET, as_json: bool = AS_JSON, rows: RowOptions
) -> None:
    """Show each column of a file: its kind, what it becomes, its gaps and values, and what looks suspicious.

    Looks at the first 10,000 rows. Columns that number the rows, are different in nearly every row, are constant or
    tell the target alone are pointed out, and so is what has to be answered before training.

    \b
    Example:
      rosenblatt describe passengers.csv --target survived
    """
    from rosenblatt.cli.train import train

    with running(train):  # what it advises are options for training
        _describe(data, target, rows, as_json)


def _describe(data: Sequence[str], target: str | None, rows: RowOptions, as_json: bool) -> None:
    """Print a table of the columns, then what looks suspicious and what has to be answered before training."""
    from rosenblatt.data.describe import WIDTH, ColumnTable

    stream = open_data(data, target, {**rows.to_open(), "on_ambiguous": "note"})
    table = stream.describe()
    questions = [cli_note(note) for note in stream.notes]
    if as_json:
        columns = [{name: value for name, value in row.items() if name != "histogram"} for row in table]
        notes = table.render_notes(spelled)
        facts = {"left_out": stream.excluded, "questions": questions}
        emit({"title": table.title, "rows": columns, "notes": notes} | facts)
        return
    if not isinstance(table, ColumnTable):
        print_table(table)
        return
    say(table.title)
    for line in table.lines(terminal_width() if on_terminal() else WIDTH):
        print(line)
    say(*table.render_notes(spelled))
    _list("Look at:", table.remarks(spelled))
    _list("To answer before training:", questions)


def _list(title: str, lines: Sequence[str]) -> None:
    from rosenblatt.data.describe import bullets

    if lines:
        say("", title)
    for line in bullets(lines):
        print(line)
