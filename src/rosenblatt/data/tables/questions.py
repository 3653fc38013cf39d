"""Questions about a table that only its owner can answer: all of them in one message."""

from __future__ import annotations

from itertools import islice

from rosenblatt.blocks import DataError
from rosenblatt.data.tables.column_kinds import UnclearColumn
from rosenblatt.data.tables.column_names import join_names, suggestion
from rosenblatt.parameters import IfAvailable, ParameterError, Phrase, Setting, shorten

_MOST_NAMED = 20
"""Unclear columns that are named one by one."""


def find_column(column: str | int | None, order: list[str], use: str, file: str, header: bool | None) -> str | None:
    """Return the name of a column that is given by its name or its number, for its ``use`` in a message."""
    if column is None or (isinstance(column, str) and column in order):
        return column
    if isinstance(column, int) and -len(order) <= column < len(order):
        return order[column]
    shown = f"{column!r}{suggestion(column, order)}" if isinstance(column, str) else f"number {column}"
    purpose = f" for the {use}" if use in ("target", "weight") else ""
    hint: tuple[Phrase, ...] = ()
    several = [part.strip() for part in column.split(",")] if isinstance(column, str) else []
    if use in ("drop", "keep") and len(several) > 1 and set(several) <= set(order):
        hint = ": name columns one by one, ", Setting(use, several), "."
        raise ParameterError(f"{file} has no column {column!r}", *hint)
    if header is not None:
        what = "their names" if header else "data, not for their names"
        hint = f" (its first line was taken for {what}: give ", Setting("header", not header), " if that is wrong)"
    raise ParameterError(f"{file} has no column {shown}{purpose}: its columns are {join_names(order)}", *hint, ".")


class Questions:
    """The questions about a table, each as the pieces of a sentence without its full stop."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.asked: list[tuple[Phrase, ...]] = []
        self.no_target: ParameterError | None = None

    def ask_target(self, order: list[str]) -> None:
        """Ask which column is the label."""
        unlabelled = IfAvailable("labels", "; or ", Setting("labels", False), " for rows without labels")
        ways = Setting("target"), f", one of {join_names(order)}", unlabelled
        self.no_target = ParameterError(f"which column of {self._file} is the label? Give ", *ways, ".")
        self.asked.append(("which column is the label? Give ", *ways))

    def ask_columns(self, unclear: dict[str, UnclearColumn], may_drop: bool = False) -> None:
        """Ask what some columns are; whether those that are no numbers may be left out all at once."""
        several = {name: column for name, column in unclear.items() if len(column.suggestions) > 1}
        others = {name: column for name, column in unclear.items() if name not in several}
        if others:
            at_once = may_drop and not any(column.question for column in others.values())
            drop_all = IfAvailable("unclear", "; ", Setting("unclear", "drop"), " leaves out all such columns")
            self.asked.append((*_what_they_are(others), *((drop_all,) if at_once else ())))
        for name, column in islice(several.items(), _MOST_NAMED):
            settings = [Setting("kinds", {name: kind}) for kind in column.suggestions]
            ways: list[Phrase] = [settings[0]]
            for setting in settings[1:]:
                ways += [" or ", setting]
            self.asked.append((f"column {name!r} {column.clause}: give ", *ways))

    def ask_missing(self, counts: dict[str, int], rows: int) -> None:
        """Ask what to put where numbers are missing."""
        some = ", ".join(f"{name!r} ({count:,})" for name, count in islice(counts.items(), _MOST_NAMED))
        more = " and others" if len(counts) > _MOST_NAMED else ""
        ways = Setting("missing", "zero"), " or ", Setting("missing", "mean"), " to fill them"
        self.asked.append((f"values are missing in the first {rows:,} rows of {some}{more}: give ", *ways))

    def error(self) -> ParameterError:
        """Return one error with all questions."""
        if self.no_target is not None and len(self.asked) == 1:
            return self.no_target
        first, *others = self.asked
        pieces: list[Phrase] = [f"{self._file}: ", *first, "."]
        for start, *rest in others:
            pieces += [f" {str(start)[0].upper()}{str(start)[1:]}", *rest, "."]
        return DataError(*pieces)


def _what_they_are(unclear: dict[str, UnclearColumn]) -> tuple[Phrase, ...]:
    if len(unclear) > _MOST_NAMED:
        some = ", ".join(map(shorten, islice(unclear, _MOST_NAMED)))
        what = f"it is unclear what {len(unclear):,} columns are ({some} and others)"
        return f"{what}: leave out what is no feature by ", Setting("drop")
    clauses = {
        name: f"{column.clause} (write them as {column.rewrite})" if column.rewrite else column.clause
        for name, column in unclear.items()
    }
    what = "; ".join(f"column {name!r} {clause}" for name, clause in clauses.items())
    suggested = {name: column.suggestions[0] for name, column in unclear.items() if column.suggestions}
    hint: tuple[Phrase, ...] = (", or give ", Setting("kinds", suggested)) if suggested else ()
    words = sorted({word for column in unclear.values() for word in column.words})
    if words:
        missing = Setting("missing_values", words), " if that stands for a missing value"
        hint += (IfAvailable("missing_values", ", or ", *missing),)
    return f"{what}: leave out what is no feature by ", Setting("drop", list(unclear)), *hint
