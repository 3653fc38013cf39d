"""What a column of a table holds, as far as its first rows show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.data.tables.arrow_arrays import as_numpy, import_arrow, is_unsupported_type, replace_nulls, show_type
from rosenblatt.data.tables.arrow_values import (
    BOOLEANS,
    MISSING_NUMBERS,
    parse_booleans,
    parse_numbers,
    parse_strings,
)
from rosenblatt.data.tables.date_orders import date_form
from rosenblatt.data.tables.dates import parse_dates
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.separators import SEPARATED, kinds_of_separated, parse_separated
from rosenblatt.parameters import shorten

if TYPE_CHECKING:
    import pyarrow as pa

Parser: TypeAlias = "Callable[[pa.Array, tuple[str, ...]], tuple[np.ndarray, list[int]]]"
PARSERS: dict[str, Parser] = {
    "number": parse_numbers,
    "boolean": parse_booleans,
    "date": parse_dates,
    **{kind: partial(parse_separated, kind=kind) for kind in SEPARATED},
}
"""For the kinds of columns that are one number in each row: what reads them, where dates have their year first."""
MOST_CATEGORIES = 1000
FEW_WORDS = 5
"""Words beside numbers that may stand for missing ones."""
FEW = 20
"""Different values that are few even if each occurs once."""
_CELLS_AT_ONCE = 1 << 16
_LEADING_ZERO = r"^\s*0[0-9]+\s*$"
_SHOWN = 40
"""Characters of a value that is shown as an example."""


class UnclearColumn(NamedTuple):
    """Why the kind of a column is unclear, and what it might be."""

    clause: str
    suggestions: tuple[str, ...] = ()
    """The kinds that it might be."""
    best: str = ""
    """The kind that it has where it is used without being asked about; "hash" for hashed categories."""
    question: bool = False
    """Whether it holds numbers that should not be left out unasked."""
    words: tuple[str, ...] = ()
    """The few words that it holds beside numbers."""
    rewrite: str = ""
    """An example of how its values can be written so that they are clear."""


def parser_of(column: Mapping[str, Any]) -> Parser:
    """Return what reads a column, given its entry in a preparation, of a kind that is one number in each row."""
    order = column.get("order")
    return partial(parse_dates, order=order) if order else PARSERS[column["kind"]]


def numeric_columns(head: TableChunk, names: list[str], missing: tuple[str, ...]) -> set[str]:
    """Return the columns of text whose cells are all numbers or missing; many at once, as there may be very many."""
    found: set[str] = set()
    n = max(1, head.n)
    step = max(1, _CELLS_AT_ONCE // n)
    for start in range(0, len(names), step):
        some = names[start : start + step]
        cells = import_arrow().concat_arrays([head.columns[name] for name in some])
        bad = {row // n for row in parse_numbers(cells, missing)[1]}
        zeros = import_arrow(".compute").match_substring_regex(cells, _LEADING_ZERO)
        begun = np.unique(np.flatnonzero(replace_nulls(zeros, as_numpy(zeros), False)) // n).tolist()
        bad.update(k for k in begun if codes_in(head.columns[some[k]], missing))
        found.update(name for k, name in enumerate(some) if k not in bad)
    return found


def codes_in(array: pa.Array, missing: tuple[str, ...]) -> str:
    """Return the first code with a leading zero if all values are digits of one length, such as postcodes; else "".

    Examples
    --------
    >>> import pyarrow as pa
    >>> codes_in(pa.array(["28013", "08001", ""]), ()), codes_in(pa.array(["0", "1"]), ())
    ('08001', '')
    """
    values = [text for text in parse_strings(array, (*MISSING_NUMBERS, *missing)).to_pylist() if text is not None]
    first = next((text for text in values if text[0] == "0"), "")
    alike = all(len(text) == len(first) and text.isdecimal() and text.isascii() for text in values)
    return first if alike and len(first) > 1 else ""


def infer_kind(
    head: TableChunk, name: str, typed: bool, missing: tuple[str, ...], categories: str = "onehot"
) -> str | UnclearColumn:
    """Return the kind of a column, or why it is unclear."""
    pa = import_arrow()
    array, type_ = head.columns[name], head.columns[name].type
    if name in head.mixed:
        nested = "lists" in head.mixed[name] or "objects" in head.mixed[name]
        clause = f"holds {head.mixed[name]}"
        return UnclearColumn(clause) if nested else UnclearColumn(clause, ("category",), "category", question=True)
    if is_unsupported_type(type_):
        return UnclearColumn(f"holds {show_type(type_)} values")
    if pa.types.is_temporal(type_):
        return UnclearColumn(f"holds dates or times ({type_})", ("date",), "date")
    if pa.types.is_boolean(type_):
        return "boolean"
    if not (pa.types.is_string(type_) or pa.types.is_large_string(type_)):
        return "number"
    values = [text for text in parse_strings(array, missing).to_pylist() if text is not None]
    if not values:
        return "number"
    if not typed:
        known = set(values) - set(MISSING_NUMBERS)
        if known and known.issubset(BOOLEANS):
            return "boolean"
        numbers, bad = parse_numbers(array, missing)
        if not bad and not codes_in(array, missing):
            return "number"
        if bad and (n := int((~np.isnan(numbers)).sum())) > 9 * len(bad):
            return _mixed_numbers(head, name, "number", n, bad)
    return _kind_of_separated(head, name, missing, values) or _kind_of_strings(values, categories)


def _mixed_numbers(head: TableChunk, name: str, kind: str, n: int, bad: list[int]) -> UnclearColumn:
    first = f"{shorten(head.columns[name][bad[0]].as_py().strip())} ({head.where(bad[0])})"
    clause = f"holds numbers in {n} of its first {head.n} rows and not in {len(bad)}, first {first}"
    words = tuple(sorted({head.columns[name][row].as_py().strip() for row in bad}))
    return UnclearColumn(clause, (kind,), question=True, words=words if len(words) <= FEW_WORDS else ())


def _kind_of_separated(
    head: TableChunk, name: str, missing: tuple[str, ...], values: list[str]
) -> str | UnclearColumn | None:
    """Return the kind of numbers whose comma is no delimiter, None if the column holds something else."""
    known = [value for value in values if value not in MISSING_NUMBERS]
    found = kinds_of_separated(known)
    if len(found) == 1:
        return found[0]
    if found:
        shown = repr(next(value for value in known if "," in value))
        clause = f"holds numbers such as {shown}, whose comma may come before decimals or between thousands"
        return UnclearColumn(clause, tuple(found), question=True)
    if not any("," in value for value in known):
        return None
    for kind in SEPARATED:
        numbers, bad = PARSERS[kind](head.columns[name], missing)
        if (n := int((~np.isnan(numbers)).sum())) > 9 * len(bad):
            return _mixed_numbers(head, name, kind, n, bad)
    return None


def _kind_of_strings(values: list[str], categories: str) -> str | UnclearColumn:
    different = set(values)
    known = different.difference(MISSING_NUMBERS) or different
    shown = repr(next(value for value in values if value in known)[:_SHOWN])
    form = date_form(value for value in dict.fromkeys(values) if value in known)
    if form is not None and form.unclear:
        return UnclearColumn(form.unclear, ("category",), rewrite=form.example)
    if form is not None:
        return UnclearColumn(f"holds dates, such as {shown}", ("date",), "date")
    mostly_different = len(different) > max(FEW, len(values) / 2)
    words = sum(len(value.split()) for value in values) / len(values)
    if words >= 3 and 2 * len(different) > len(values):
        return "text"
    if categories == "hash" or (len(different) <= MOST_CATEGORIES and not mostly_different):
        return "category"
    clause = f"has {len(different)} different values in {len(values)} rows, such as {shown}"
    return UnclearColumn(clause, ("text",), "text" if mostly_different else "hash")
