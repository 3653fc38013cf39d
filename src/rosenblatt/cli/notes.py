"""What a command says about rows beside its answer: columns that are left out or filled, rows that were skipped."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rosenblatt.cli.output import note
from rosenblatt.training.plurals import count_of, name_some


def say_preparation(stream: Any, filled_by_default: bool = False) -> None:
    """Print a line for each thing that was decided about the columns of a table: left out, filled, noted.

    Parameters
    ----------
    stream : Stream
        What `data.open` returned.
    filled_by_default : bool
        Whether nobody asked for missing numbers to be filled; then the line says how to have it otherwise.
    """
    dropped: dict[str, str] = getattr(stream, "dropped", None) or {}
    for name, why in dropped.items():
        note(f"column {name!r} is left out: {why}.")
    for words in getattr(stream, "notes", None) or ():
        note(str(words))
    gaps: dict[str, int] = getattr(stream, "missing_values", None) or {}
    if gaps:
        how = "; --missing zero fills in 0 instead, --missing error stops there" if filled_by_default else ""
        note(f"missing values are filled with the column's mean: {_listed(gaps)}{how}.")


def say_extra_columns(stream: Any, used: Collection[str] = ()) -> None:
    """Print a note about columns that the model does not use."""
    extra = [name for name in stream.extra_columns if name not in used]
    if extra:
        note(
            f"{count_of(len(extra), 'column')} that the model does not know {_is(extra)} left out: {name_some(extra)}."
        )


def say_counts(stream: Any) -> None:
    """Print notes about rows that were left out, and about values that training did not have."""
    if stream.skipped.rows:
        note(f"rows left out: {stream.skipped.rows:,}, such as: {stream.skipped.sentences[0]}")
    if stream.unseen:
        note(f"values that were not there in training count as none of those known: {_listed(stream.unseen)}.")


def _listed(counts: dict[str, int]) -> str:
    return name_some([f"{name} ({count:,})" for name, count in counts.items()])


def _is(things: Collection[Any]) -> str:
    return "is" if len(things) == 1 else "are"
