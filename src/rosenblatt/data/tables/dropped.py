"""What is said of the columns that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from rosenblatt.data.tables.column_kinds import UnclearColumn
from rosenblatt.parameters import Phrase, Setting, show_text

_MOST_NAMED = 8
"""Columns that are named with a reason."""
UNUSABLE = "and cannot be used as a feature"
"""How the reason ends where a column cannot be kept either."""
_REWRITE = "write them as"
"""What the reason says where a column could be kept if its values were written otherwise."""


def dropped_phrases(dropped: Mapping[str, str]) -> tuple[Phrase, ...]:
    """Return a sentence about the columns that were left out, of ``stream.dropped``, and how to keep one.

    Examples
    --------
    >>> from rosenblatt.parameters import ParameterError
    >>> left_out = {"PassengerId": "counts the rows: 1, 2, 3, ...", "Booked": "holds dates, such as '1912-08-05'"}
    >>> print(ParameterError(*dropped_phrases(left_out)))
    left out: PassengerId (counts the rows: 1, 2, 3, ...), Booked (holds dates, such as '1912-08-05');
    keep=['Booked'] uses that column.
    """
    if not dropped:
        return ()
    named = [f"{show_text(name)} ({reason})" for name, reason in islice(dropped.items(), _MOST_NAMED)]
    more = len(dropped) - len(named)
    others = f" and {more:,} more" if more else ""
    sentence = f"left out: {', '.join(named)}{others}"
    usable = [name for name, reason in dropped.items() if is_usable(reason)]
    if not usable:
        return (f"{sentence}.",)
    return f"{sentence}; ", Setting("keep", usable[-1:]), " uses it." if len(dropped) == 1 else " uses that column."


def is_usable(reason: str | None) -> bool:
    """Return whether a column that was left out for a reason could be kept; False if it was not left out."""
    return reason is not None and not reason.endswith(UNUSABLE) and _REWRITE not in reason


def why_dropped(column: UnclearColumn) -> str:
    """Return why an unclear column is left out, and what can be done about it where it cannot be kept as it is.

    Examples
    --------
    >>> why_dropped(UnclearColumn("holds lists"))
    'holds lists, and cannot be used as a feature'
    """
    if column.rewrite:
        return f"{column.clause}: {_REWRITE} {column.rewrite}"
    return column.clause if column.best else f"{column.clause}, {UNUSABLE}"
