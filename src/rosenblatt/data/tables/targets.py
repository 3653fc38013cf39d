"""The column with the labels: of which kind they are, and whether they look like those of a regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.tables.arrow_arrays import is_unsupported_type, show_type
from rosenblatt.data.tables.arrow_values import MISSING_NUMBERS, parse_numbers, parse_strings, plain_text
from rosenblatt.data.tables.column_kinds import PARSERS, infer_kind
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.separators import SEPARATED
from rosenblatt.parameters import IfAvailable, Phrase, Setting

_MOST_CLASSES = 100
"""Different integers that may be classes however few rows there are."""
_MOST_FRACTIONS = 10
"""Different numbers that may be classes where some have fractions."""
_FEWEST = 2


def label_kind(
    head: TableChunk, name: str, typed: bool, given: str | Sequence[str] | None, missing: tuple[str, ...], file: str
) -> str:
    """Return "integer", "number", "boolean" or "text", for the kind ``given`` if there is one."""
    array = head.columns[name]
    if is_unsupported_type(array.type):
        raise DataError(
            f"{file}: column {name!r}, the target, holds {show_type(array.type)} values, expected numbers or strings."
        )
    if parse_strings(array, missing).null_count == len(array) and len(array):
        raise DataError(f"{file}: column {name!r}, the target, has no label in the first {len(array)} rows.")
    kind = given or infer_kind(head, name, typed, missing, "hash")
    if kind != "number":
        return "boolean" if kind == "boolean" else "text"
    values = parse_numbers(array, missing)[0]
    values = values[np.isfinite(values)]
    integers = (values == np.rint(values)) & (np.abs(values) <= 2.0**53)
    return "integer" if integers.all() else "number"


def unlabelled_question(
    head: TableChunk, target: Mapping[str, str], missing: tuple[str, ...]
) -> tuple[Phrase, ...] | None:
    """Return what to do about rows without a label, None if all have one."""
    words = missing if target["kind"] == "text" else (*MISSING_NUMBERS, *missing)
    count = parse_strings(head.columns[target["name"]], words).null_count
    if not count:
        return None
    what = f"{count:,} of the first {head.n:,} rows have no label, as column {target['name']!r} is empty there"
    return f"{what}: fill it in the file, or give ", Setting("on_error", "skip"), " to leave such rows out"


def regression_question(
    head: TableChunk, name: str, typed: bool, missing: tuple[str, ...]
) -> tuple[Phrase, ...] | None:
    """Return what to ask about labels that look like the numbers of a regression, None if they look like classes.

    They are numbers with fractions, more than 10 different ones or more than a third of the rows, or more than 100
    different integers that are more than a third of the rows.
    """
    kind = infer_kind(head, name, typed, missing, "hash")
    if kind != "number" and kind not in SEPARATED:
        return None
    values = PARSERS[str(kind)](head.columns[name], missing)[0]
    values = values[np.isfinite(values)]
    different = np.unique(values)
    fractions = different[different != np.rint(different)]
    many = 3 * len(different) > len(values)
    if len(fractions):
        regression = len(different) > _MOST_FRACTIONS or (many and len(different) > _FEWEST)
    else:
        regression = many and len(different) > _MOST_CLASSES
    if not regression:
        return None
    example = plain_text(float(fractions[0] if len(fractions) else values[0]))
    what = f"column {name!r}, the target, has {len(different):,} different numbers in {len(values):,} rows"
    ways = "name a column of classes by ", Setting("target"), ", or make classes of the numbers first"
    as_they_are = IfAvailable("kinds", " (", Setting("kinds", {name: "category"}), " takes each number for a class)")
    return f"{what}, such as {example}, as for a regression: ", *ways, as_they_are
