"""What a command says about rows beside its answer: columns that are left out or filled, rows that were skipped."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rosenblatt.cli.errors import cli_message
from rosenblatt.cli.output import note
from rosenblatt.messages import ParameterError, count_of, name_some

_FILLED = {
    "mean": "A number becomes the mean of its column, a category counts as none.",
    "zero": "A number becomes 0, a category counts as none.",
}


def say_preparation(stream: Any) -> None:
    """Print a line for each thing that was decided about the columns of a table: left out, or noted."""
    from rosenblatt.data.tables.schema import dropped_phrases

    for pieces in (dropped_phrases(stream.dropped), *stream.notes):
        if pieces:
            note(cli_message(ParameterError(*pieces)))


def say_extra_columns(stream: Any, who: str = "the model", used: Collection[str] = ()) -> None:
    """Print a note about columns that a model or a certificate knows nothing of."""
    extra = [name for name in stream.extra_columns if name not in used]
    if extra:
        note(f"{count_of(len(extra), 'column')} that {who} does not know {_is(extra)} left out: {name_some(extra)}.")


def say_counts(stream: Any) -> None:
    """Print notes about rows that were left out, and about values that training did not have."""
    if stream.skipped.rows:
        note(f"rows left out: {stream.skipped.rows:,}, such as: {stream.skipped.sentences[0]}")
    filled_how = _FILLED.get(stream.preparation.get("missing", "error"))
    if stream.filled and filled_how:
        note(f"missing values: {_listed(stream.filled)}. {filled_how}")
    if stream.unseen:
        note(f"values that training did not have count as none: {_listed(stream.unseen)}.")


def _listed(counts: dict[str, int]) -> str:
    return name_some([f"{name} ({count:,})" for name, count in counts.items()])


def _is(things: Collection[Any]) -> str:
    return "is" if len(things) == 1 else "are"
