"""``rosenblatt describe``: what the columns of a file are, what they become, and what looks suspicious."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rosenblatt.cli.errors import cli_message
from rosenblatt.cli.inputs import opened
from rosenblatt.cli.output import emit, on_terminal, print_table, say, terminal_width

_WIDTH = 80
"""Columns of a terminal, where the output is none."""
_CUT = ("column", "becomes", "range")
"""What is cut where a line is too long."""
_SHORTEST = 9


def describe(paths: Sequence[str], target: str | None, options: Mapping[str, Any], as_json: bool) -> None:
    """Print a table of the columns, then what looks suspicious and what has to be answered before training."""
    from rosenblatt.data.row_source import OnlyDescribed
    from rosenblatt.data.tables.dropped import is_usable
    from rosenblatt.parameters import ParameterError, Setting

    stream = opened(paths, target, {**options, "unclear": OnlyDescribed("drop")})
    table, dropped = stream.describe(), stream.dropped
    questions = [cli_message(ParameterError(*pieces)) for pieces in stream.notes]
    if as_json:
        rows = [{name: value for name, value in row.items() if name != "histogram"} for row in table]
        emit({"title": table.title, "rows": rows, "notes": [*table.notes], "left_out": dropped, "questions": questions})
        return
    if "looks" not in table.columns:
        print_table(table)
        return
    say(table.title)
    for line in _fit(table, terminal_width() if on_terminal() else _WIDTH):
        print(line)
    say(*table.notes)
    remarks = []
    for row in table:
        if row["looks"]:
            keep = Setting("keep", [row["column"]]), " uses it"
            used = f"; {cli_message(ParameterError(*keep))}" if is_usable(dropped.get(row["column"])) else ""
            remarks.append(f"{row['column']}: {row['looks']}{used}")
    _list("Look at:", remarks)
    _list("To answer before training:", questions)


def _list(title: str, lines: Sequence[str]) -> None:
    if lines:
        say("", title)
    how: Any = {"subsequent_indent": "  ", "break_long_words": False, "break_on_hyphens": False}
    for line in lines:
        print(textwrap.fill(f"- {line}", _WIDTH - 2, **how))


def _fit(table: Any, width: int) -> list[str]:
    """Return the lines of a table, its longest cells cut until they fit into ``width`` columns."""
    columns = {name: values for name, values in table.to_dict().items() if name != "looks"}
    columns["becomes"] = [text.removeprefix("words, ").partition(":")[0] for text in columns["becomes"]]
    longest = {name: max(map(len, [name, *columns[name]])) for name in _CUT}
    while True:
        lines = type(table)(columns).to_text().splitlines()
        over = max(map(len, lines)) - width
        widest = max(_CUT, key=lambda name: longest[name])
        if over <= 0 or longest[widest] <= _SHORTEST:
            return lines
        longest[widest] = max(_SHORTEST, longest[widest] - max(1, over // len(_CUT)))
        columns[widest] = [_cut(value, longest[widest]) for value in columns[widest]]


def _cut(text: str, width: int) -> str:
    """Return a text of at most ``width`` letters.

    >>> _cut("3 features: C, Q, S", 12)
    '3 features:…'
    """
    return text if len(text) <= width else f"{text[: width - 1].rstrip(' ,')}…"
