"""``rosenblatt describe``: what the columns of a file are, what they become, and what looks suspicious."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rosenblatt.cli.errors import cli_message, cli_note, option
from rosenblatt.cli.inputs import opened
from rosenblatt.cli.output import emit, on_terminal, print_table, say, terminal_width


def describe(paths: Sequence[str], target: str | None, options: Mapping[str, Any], as_json: bool) -> None:
    """Print a table of the columns, then what looks suspicious and what has to be answered before training."""
    from rosenblatt.data.describe import WIDTH, ColumnTable
    from rosenblatt.messages import ParameterError

    stream = opened(paths, target, {**options, "unclear": "note"})
    table = stream.describe()
    questions = [cli_message(ParameterError(*pieces)) for pieces in stream.notes]
    if as_json:
        rows = [{name: value for name, value in row.items() if name != "histogram"} for row in table]
        notes = list(map(cli_note, table.notes))
        facts = {"left_out": stream.dropped, "questions": questions}
        emit({"title": table.title, "rows": rows, "notes": notes} | facts)
        return
    if not isinstance(table, ColumnTable):
        print_table(table)
        return
    say(table.title)
    for line in table.lines(terminal_width() if on_terminal() else WIDTH):
        print(line)
    say(*map(cli_note, table.notes))
    _list("Look at:", table.remarks(option))
    _list("To answer before training:", questions)


def _list(title: str, lines: Sequence[str]) -> None:
    from rosenblatt.data.describe import bullets

    if lines:
        say("", title)
    for line in bullets(lines):
        print(line)
