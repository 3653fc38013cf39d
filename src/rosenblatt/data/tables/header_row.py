"""Whether the first row of a table of text names its columns, where that may be wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np

from rosenblatt.data.row_source import Preparation
from rosenblatt.data.tables.arrow_values import Reason, WayOut, parse_numbers, parse_strings
from rosenblatt.data.tables.column_kinds import infer_kind
from rosenblatt.data.tables.column_names import join_names
from rosenblatt.data.tables.dialects import has_number
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.table_options import TableOptions
from rosenblatt.parameters import IfAvailable, Phrase, Setting, shorten

_ENOUGH = 4
"""How often each value of a column has to occur for a cell that is none of them to be unlike them."""
NAMES_FIRST: Reason = (
    WayOut(", and this line looks like the names of the columns"),
    IfAvailable("header", ": give ", Setting("header", True), " if it is"),
)
"""What to do about a first row that looks like names."""


def header_notes(head: TableChunk, options: TableOptions, file: str) -> list[tuple[Phrase, ...]]:
    """Return a sentence that the first row was taken for names where it may be data, none where it is clear.

    It is clear where options name columns; and, unless the names are numbers that count the columns, where a column
    holds numbers, booleans or dates, or values that occur again and again, but not in the first row.
    """
    names = list(head.columns)
    if isinstance(options.target, str) or isinstance(options.weight, str) or options.named_columns:
        return []
    again = "" if has_number(names) else _repeated_name(head, tuple(options.missing_values))
    if again is None:
        return []
    why = f", though {shorten(again)} occurs again below" if again else ""
    what = f"{file}: its first line was taken for the names of its columns, {join_names(names)}{why}"
    return [(f"{what}; give ", Setting("header", False), " if it is a row.")]


def _repeated_name(head: TableChunk, missing: tuple[str, ...]) -> str | None:
    """Return the first name that is also a value of its column, "" if none is, None where names are unlike values."""
    again = ""
    unlike = False
    for name in head.columns:
        kind = infer_kind(head, name, typed=False, missing=missing)
        if kind not in ("category", "text") and not (not isinstance(kind, str) and kind.best in ("text", "hash")):
            return None
        counts = Counter(text for text in parse_strings(head.columns[name], missing).to_pylist() if text is not None)
        if name in counts:
            again = again or name
        elif counts and min(counts.values()) >= _ENOUGH:
            unlike = True
    return again if again or not unlike else None


def looks_like_names(chunk: TableChunk, place: int, preparation: Preparation) -> bool:
    """Return whether the row at a place has words in all columns that should hold numbers, of which there are some."""
    if any(fault == place for fault, _ in chunk.faults):
        return False
    row = place if chunk.places is None else int(np.searchsorted(chunk.places, place))
    numbers = [column["name"] for column in preparation["columns"] if column["kind"] == "number"]
    missing = tuple(preparation["missing_values"])
    return bool(numbers) and all(parse_numbers(chunk.columns[name][row : row + 1], missing)[1] for name in numbers)
