"""Whether the first row of a table of text names its columns, where no number tells."""

from __future__ import annotations

from collections import Counter

from rosenblatt.data.tables.arrow_values import parse_strings
from rosenblatt.data.tables.column_kinds import infer_kind
from rosenblatt.data.tables.column_names import join_names
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.table_options import TableOptions
from rosenblatt.parameters import Phrase, Setting, shorten

_ENOUGH = 4
"""How often each value of a column has to occur for a cell that is none of them to be unlike them."""


def header_notes(head: TableChunk, options: TableOptions, file: str) -> list[tuple[Phrase, ...]]:
    """Return a sentence that the first row was taken for names where it may be data, none where it is clear.

    It is clear where options name columns; where a column holds numbers, booleans or dates; and where the values of a
    column occur again and again, but not in the first row.
    """
    names = list(head.columns)
    if isinstance(options.target, str) or isinstance(options.weight, str) or options.named_columns:
        return []
    missing = tuple(options.missing_values)
    again = ""
    unlike = False
    for name in names:
        kind = infer_kind(head, name, typed=False, missing=missing)
        if kind not in ("category", "text") and not (not isinstance(kind, str) and kind.best in ("text", "hash")):
            return []
        counts = Counter(text for text in parse_strings(head.columns[name], missing).to_pylist() if text is not None)
        if name in counts:
            again = again or name
        elif counts and min(counts.values()) >= _ENOUGH:
            unlike = True
    if unlike and not again:
        return []
    why = f", though {shorten(again)} occurs again below" if again else ""
    what = f"{file}: its first line was taken for the names of its columns, {join_names(names)}{why}"
    return [(f"{what}; give ", Setting("header", False), " if it is a row.")]
