"""Kinds of columns, inferred from the first rows of a table: features, ids, and the column with the labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.values import (
    BOOLEANS,
    MISSING_NUMBERS,
    SEPARATED,
    as_numpy,
    date_form,
    import_arrow,
    is_unsupported_type,
    kinds_of_separated,
    parse_booleans,
    parse_dates,
    parse_numbers,
    parse_separated,
    parse_strings,
    plain_text,
    replace_nulls,
    show_type,
)
from rosenblatt.messages import IfAvailable, Phrase, Setting, shorten

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


# Columns that look like ids: they tell rows apart, and say nothing about rows that are yet to come.


FEWEST_ROWS = 20
"""Rows that a column must have to look like an id: among fewer, chance makes many."""
_DIFFERENT = 0.95
"""The share of values that are different in a column of names or ids."""
_SHORT_TEXT = 8.0
"""Words: texts of fewer words have few that any language repeats."""
_MOST_SINGLE = 0.15
"""The share of words, in short texts, that may occur in one row only. Names followed by a number have 0.2 and more."""
_MOST_SINGLE_IN_LONG = 0.4
"""The same in long texts: a hundred short messages or reviews have 0.3 to 0.4, a thousand 0.15."""
_TEXTS_READ = 1000
"""Texts whose words are counted."""
_FEW_WORDS = 2.0
_QUICK = 64
"""Rows that show for most columns that they are no ids."""
_WORD = re.compile(r"\w+")


def integers_like_ids(array: pa.Array, missing: tuple[str, ...]) -> str | None:
    """Return in words how a column numbers its rows, None if it does not, or has fractions, gaps or few rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> integers_like_ids(pa.array(range(100, 150)), ())
    'counts the rows: 100, 101, 102, ...'
    >>> integers_like_ids(pa.array([k % 7 for k in range(50)]), ())
    """
    if len(array) < FEWEST_ROWS or import_arrow().types.is_boolean(array.type):
        return None
    if not _are_different_integers(parse_numbers(array[:_QUICK], missing)[0]):
        return None
    values, bad = parse_numbers(array, missing)
    if bad or not _are_different_integers(values):
        return None
    steps = np.diff(values)
    first = ", ".join(str(int(value)) for value in values[:3])
    if (steps == 1.0).all():
        return f"counts the rows: {first}, ..."
    if (steps > 0.0).all():
        return f"rises from row to row: {first}, ..."
    if (steps < 0.0).all():
        return f"falls from row to row: {first}, ..."
    if values.max() - values.min() == len(values) - 1:
        return f"numbers the rows in another order: {first}, ..."
    return None


def _are_different_integers(values: np.ndarray) -> bool:
    whole = np.isfinite(values).all() and (values == np.rint(values)).all()
    return bool(whole) and len(np.unique(values)) == len(values)


def strings_like_ids(values: list[str]) -> str | None:
    """Return in words that strings are ids or names, None if they repeat, if they are free text, or if they are few.

    Words of free text occur in several rows. Where nearly every value is another one, and its words too, there is
    nothing to learn: ids, names, and free text in few rows.

    Examples
    --------
    >>> strings_like_ids([f"PC {k}" for k in range(17000, 17100)])
    "is different in nearly every row, such as 'PC 17000'"
    >>> strings_like_ids(["a good film", "not a good film", "a film"] * 10)
    """
    if len(values) < FEWEST_ROWS or len(set(values)) < _DIFFERENT * len(values):
        return None
    clause = f"is different in nearly every row, such as {shorten(values[0], 40)}"
    texts = [_WORD.findall(value.lower()) for value in values[:_TEXTS_READ]]
    rows_of = Counter(word for words in texts for word in set(words))
    count = sum(map(len, texts))
    if count <= _FEW_WORDS * len(texts):
        return clause
    single = sum(rows_of[word] == 1 for words in texts for word in words) / count
    short = count < _SHORT_TEXT * len(texts)
    return clause if single > (_MOST_SINGLE if short else _MOST_SINGLE_IN_LONG) else None


# The column with the labels: of which kind they are, and whether they look like those of a regression.


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
    as_they_are = IfAvailable(
        "column_types", " (", Setting("column_types", {name: "category"}), " takes each number for a class)"
    )
    return f"{what}, such as {example}, as for a regression: ", *ways, as_they_are
