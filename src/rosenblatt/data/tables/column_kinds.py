"""Inference of the kinds of columns from the first rows of a table: features, ids and the label column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.blocks import EXACT_BELOW, DataError
from rosenblatt.data.source import ColumnEntry
from rosenblatt.data.tables.reader import TableChunk
from rosenblatt.data.tables.values import (
    BOOLEANS,
    MISSING_NUMBERS,
    NUMBER_FORMATS,
    as_numpy,
    detect_date_format,
    different_units,
    import_arrow,
    is_unsupported_type,
    missing_labels,
    parse_amounts,
    parse_booleans,
    parse_dates,
    parse_formatted,
    parse_numbers,
    parse_strings,
    plain_text,
    possible_formats,
    replace_nulls,
    show_type,
    strings_to_arrow,
    unit_of,
    without_unit,
)
from rosenblatt.messages import Hint, Message, list_some, shorten

if TYPE_CHECKING:
    import pyarrow as pa


Parser: TypeAlias = "Callable[[pa.Array, tuple[str, ...]], tuple[np.ndarray, list[int]]]"
PARSERS: dict[str, Parser] = {
    "number": parse_numbers,
    "boolean": parse_booleans,
    "date": parse_dates,
    **{kind: partial(parse_formatted, kind=kind) for kind in NUMBER_FORMATS},
}
"""The parser for each kind of column with one number per row. The parser for dates expects the year first."""
MOST_CATEGORIES = 1000
MIXED_WITH = "holds numbers mixed with "
"""The start of the reason if a column of numbers has too many words; the words follow, quoted."""
FEW_WORDS = 5
"""The maximum number of distinct words in a column of numbers that may denote missing values."""
FEW = 20
"""Up to this many distinct values may be categories even if each occurs only once."""
_CELLS_AT_ONCE = 1 << 16
_LEADING_ZERO = r"^\s*0[0-9]+\s*$"
_SHOWN = 40
"""The maximum number of characters of a value shown as an example."""


class AmbiguousColumn(NamedTuple):
    """A column of ambiguous kind: the reason, and the kinds that it may have."""

    reason: str
    """What is ambiguous, as text that follows the name of the column."""
    suggestions: tuple[str, ...] = ()
    """The kinds that the column may have."""
    fallback: str = ""
    """The kind if the column is used without ``column_types``: "hash" for hashed categories, "" if it is not usable."""
    never_dropped: bool = False
    """Whether the column raises an error even with ``on_ambiguous="drop"``, because it seems to hold numbers."""
    words: tuple[str, ...] = ()
    """The distinct words among the numbers of the column, if there are few."""
    example: str = ""
    """A value of the column, rewritten so that it is not ambiguous."""
    like_ids: bool = False
    """Whether the values are codes, such as hashes or ids, so that the column is used only if it is kept."""


def parser_of(column: ColumnEntry) -> Parser:
    """Return the parser for a column with one number per row, given the column's entry in a `Preparation`."""
    order, unit = column.get("order"), column.get("unit")
    if unit is not None:
        return partial(parse_amounts, unit=unit, parse=PARSERS[column["kind"]])
    return partial(parse_dates, order=order) if order else PARSERS[column["kind"]]


def unit_entry(array: pa.Array, kind: str, missing: tuple[str, ...]) -> dict[str, str]:
    """Return the unit of a column of amounts as part of its entry; empty if the column holds plain numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> unit_entry(pa.array(["12.5%", "", "3%"]), "number", ()), unit_entry(pa.array(["12.5"]), "number", ())
    ({'unit': '%'}, {})
    """
    types = import_arrow().types
    is_text = types.is_string(array.type) or types.is_large_string(array.type)
    if not is_text or kind not in ("number", *NUMBER_FORMATS) or not PARSERS[kind](array, missing)[1]:
        return {}
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing)).to_pylist()
    unit = unit_of([text for text in texts if text is not None])
    return {} if unit is None else {"unit": unit}


def numeric_columns(head: TableChunk, names: list[str], missing: tuple[str, ...]) -> set[str]:
    """Return the text columns among ``names`` in which every cell is a number or missing.

    Codes with leading zeros are not numbers here. Columns are parsed in groups, because a table may have very many.
    """
    found: set[str] = set()
    n = max(1, head.n)
    step = max(1, _CELLS_AT_ONCE // n)
    for start in range(0, len(names), step):
        some = names[start : start + step]
        cells = import_arrow().concat_arrays([head.columns[name] for name in some])
        bad = {row // n for row in parse_numbers(cells, missing)[1]}
        zeros = import_arrow(".compute").match_substring_regex(cells, _LEADING_ZERO)
        begun = np.unique(np.flatnonzero(replace_nulls(zeros, as_numpy(zeros), False)) // n).tolist()
        bad.update(k for k in begun if leading_zero_code(head.columns[some[k]], missing))
        found.update(name for k, name in enumerate(some) if k not in bad)
    return found


def leading_zero_code(array: pa.Array, missing: tuple[str, ...]) -> str:
    """Return the first value with a leading zero if the column holds codes, such as postcodes, else "".

    A column holds codes if all values have the same number of digits, at least two, and one starts with 0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> leading_zero_code(pa.array(["28013", "08001", ""]), ()), leading_zero_code(pa.array(["0", "1"]), ())
    ('08001', '')
    """
    values = [text for text in parse_strings(array, (*MISSING_NUMBERS, *missing)).to_pylist() if text is not None]
    first = next((text for text in values if text[0] == "0"), "")
    alike = all(len(text) == len(first) and text.isdecimal() and text.isascii() for text in values)
    return first if alike and len(first) > 1 else ""


def infer_kind(
    head: TableChunk, name: str, typed: bool, missing: tuple[str, ...], categories: str = "onehot"
) -> str | AmbiguousColumn:
    """Return the kind of a column, or an `AmbiguousColumn` with the reason if the kind is ambiguous."""
    pa = import_arrow()
    array, type_ = head.columns[name], head.columns[name].type
    if name in head.mixed:
        nested = "lists" in head.mixed[name] or "objects" in head.mixed[name]
        reason = f"holds {head.mixed[name]}"
        if nested:
            return AmbiguousColumn(reason)
        return AmbiguousColumn(reason, ("category",), "category", never_dropped=True)
    if is_unsupported_type(type_):
        return AmbiguousColumn(f"holds {show_type(type_)} values")
    if pa.types.is_temporal(type_):
        return AmbiguousColumn(f"holds dates or times ({type_})", ("date",), "date")
    if pa.types.is_boolean(type_):
        return "boolean"
    if not (pa.types.is_string(type_) or pa.types.is_large_string(type_)):
        return "number"
    values = [text for text in parse_strings(array, missing).to_pylist() if text is not None]
    if not values:
        return "number"
    unit = unit_of([value for value in values if value not in MISSING_NUMBERS])
    if unit is not None and (kind := _kind_of_amounts(head, name, missing, unit)):
        return kind
    if not typed:
        known = set(values) - set(MISSING_NUMBERS)
        if known and known.issubset(BOOLEANS):
            return "boolean"
        numbers, bad = parse_numbers(array, missing)
        if not bad and not leading_zero_code(array, missing):
            return "number"
        if bad and (n := int((~np.isnan(numbers)).sum())) > 9 * len(bad):
            found = _mixed_numbers(head, name, "number", n, bad)
            others = [head.columns[name][row].as_py() for row in bad]
            return found._replace(suggestions=("category",)) if leading_zero_code(array, (*missing, *others)) else found
    kind = _kind_of_number_format(head, name, missing, values) or kind_of_strings(Counter(values), categories)
    if isinstance(kind, AmbiguousColumn) and (units := different_units(values)):
        shown = list_some([unit or "none" for unit in units])
        return AmbiguousColumn(f"holds amounts in different units ({shown}), not converted to one")
    left_out = isinstance(kind, AmbiguousColumn) and kind.fallback == "text"
    if left_out and not typed and (words := words_among_numbers(Counter(values))):
        return AmbiguousColumn(MIXED_WITH + ", ".join(map(repr, words)), ("text",), "text", words=words)
    return kind


def _kind_of_amounts(head: TableChunk, name: str, missing: tuple[str, ...], unit: str) -> str | AmbiguousColumn | None:
    """Return the kind of the numbers of a column of amounts, or None if they are not numbers without their unit."""
    texts = parse_strings(head.columns[name], (*MISSING_NUMBERS, *missing))
    plain = replace(head, columns={name: without_unit(texts, unit)})
    kind = infer_kind(plain, name, False, missing)
    if isinstance(kind, str) and kind not in ("number", *NUMBER_FORMATS):
        return None
    numbers, bad = parse_amounts(texts, missing, unit, PARSERS[kind if isinstance(kind, str) else "number"])
    if isinstance(kind, str) and bad:
        return _mixed_numbers(head, name, kind, int((~np.isnan(numbers)).sum()), bad)
    return kind


def _mixed_numbers(head: TableChunk, name: str, kind: str, n: int, bad: list[int]) -> AmbiguousColumn:
    first = f"{shorten(head.columns[name][bad[0]].as_py().strip())} ({head.location(bad[0])})"
    reason = f"holds numbers in {n} of its first {head.n} rows but not in {len(bad)}, such as {first}"
    words = tuple(sorted({head.columns[name][row].as_py().strip() for row in bad}))
    return AmbiguousColumn(reason, (kind,), never_dropped=True, words=words if len(words) <= FEW_WORDS else ())


def _kind_of_number_format(
    head: TableChunk, name: str, missing: tuple[str, ...], values: list[str]
) -> str | AmbiguousColumn | None:
    """Return the number format of a column, or an `AmbiguousColumn`, or None if it does not hold formatted numbers."""
    known = [value for value in values if value not in MISSING_NUMBERS]
    found = possible_formats(known)
    if len(found) == 1:
        return found[0]
    if found:
        shown = repr(next(value for value in known if "," in value))
        reason = f"holds numbers such as {shown}, whose comma may come before decimals or between thousands"
        return AmbiguousColumn(reason, tuple(found), never_dropped=True)
    if not any("," in value for value in known):
        return None
    for kind in NUMBER_FORMATS:
        numbers, bad = PARSERS[kind](head.columns[name], missing)
        if (n := int((~np.isnan(numbers)).sum())) > 9 * len(bad):
            return _mixed_numbers(head, name, kind, n, bad)
    return None


def kind_of_strings(counts: Counter[str], categories: str, more: bool = False) -> str | AmbiguousColumn:
    """Return the kind of a column of strings, given the number of rows of each string that is not missing.

    ``more`` tells whether there are very many other strings, which ``counts`` does not include.
    """
    rows, different = counts.total(), len(counts)
    known = [text for text in counts if text not in MISSING_NUMBERS] or list(counts)
    shown = repr(known[0][:_SHOWN])
    dates = detect_date_format(known)
    if dates is not None and dates.ambiguity:
        return AmbiguousColumn(dates.ambiguity, ("category",), example=dates.example)
    if dates is not None:
        return AmbiguousColumn(f"holds dates, such as {shown}", ("date",), "date")
    mostly_different = different > max(FEW, rows / 2)
    words = sum(len(text.split()) * count for text, count in counts.items()) / rows
    if words >= 3 and 2 * different > rows:
        return "text"
    if categories == "hash" or (different <= MOST_CATEGORIES and not mostly_different and not more):
        return "category"
    values = f"more than {different:,}" if more else str(different)
    reason = f"has {values} different values in {rows} rows, such as {shown}"
    return AmbiguousColumn(
        reason, ("text",), "text" if mostly_different else "hash", like_ids=codes_like_ids(list(counts))
    )


def words_among_numbers(counts: Counter[str], missing: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the words of a column of numbers if there are few different ones, in at most half of the rows; else ().

    ``counts`` has the number of rows of each string. Strings in ``missing`` are not words.

    Examples
    --------
    >>> words_among_numbers(Counter(["38", "unknown", "41", "unknown", "7", "NA"])), words_among_numbers(Counter("ab1"))
    (('unknown',), ())
    """
    texts = list(counts)
    array = strings_to_arrow(texts)
    for kind in ("number", *NUMBER_FORMATS):
        values, bad = PARSERS[kind](array, missing)
        words = tuple(sorted({texts[k].strip() for k in bad}))
        numbers = sum(counts[text] for text, value in zip(texts, values.tolist(), strict=True) if value == value)
        if 0 < len(words) <= FEW_WORDS and numbers >= sum(counts[texts[k]] for k in bad):
            return () if leading_zero_code(array, (*missing, *words)) else words
    return ()


def codes_like_ids(texts: list[str]) -> bool:
    """Return whether nearly all strings are codes: one word with a digit, such as a hash or an id.

    Examples
    --------
    >>> codes_like_ids(["9f86d081", "60303ae2", "c-0017"]), codes_like_ids(["Oslo", "New York", "Area 51"])
    (True, False)
    """
    return sum(map(bool, map(_CODE.fullmatch, texts))) >= _DIFFERENT * len(texts)


# Columns that look like ids. Ids identify rows, so what is learned from them does not generalise to new rows.


FEWEST_ROWS = 20
"""The minimum number of rows to detect ids; with fewer rows, many columns look like ids by chance."""
_DIFFERENT = 0.95
"""The minimum share of distinct values in a column of names or ids."""
_MOST_UNEVEN = 0.25
"""The largest difference from an even spread in a column of numbers that may be ids."""
_SHORT_TEXT = 8.0
"""Texts that average fewer words than this are short; they contain few of the common words of a language."""
_MOST_SINGLE = 0.15
"""For short texts, the maximum share of words that occur in only one row. The share reaches 0.2 for numbered names."""
_MOST_SINGLE_IN_LONG = 0.4
"""The same limit for long texts. The share is 0.3 to 0.4 in 100 short messages or reviews, and 0.15 in 1000."""
_TEXTS_READ = 1000
"""The number of texts whose words are counted."""
_FEW_WORDS = 2.0
_QUICK = 64
"""The number of rows in a first check, which quickly rules out most columns."""
_WORD = re.compile(r"\w+")
_CODE = re.compile(r"\S*[0-9]\S*")


_ID_NAME = re.compile(r"(?i:index|rownames?|id|identifier|.*[_. -]id)|.*[a-z]I[dD]")
_GROUP_NAME = re.compile(r"(?i:subject|patient|person|individual|participant|respondent)")
_UNNAMED = re.compile(r"(?i:unnamed: ?[0-9]+)")
NO_NAME = "has no name"


def id_name(name: str) -> str:
    """Return why the name of a column suggests an id, as text that follows the name; "" if it does not.

    Examples
    --------
    >>> [id_name(name) for name in ("Unnamed: 0", "customer_id", "PassengerId", "paid")]
    ['has no name', 'is called an id', 'is called an id', '']
    """
    if _UNNAMED.fullmatch(name):
        return NO_NAME
    return "is called an id" if _ID_NAME.fullmatch(name) else ""


def names_groups(name: str) -> bool:
    """Return whether the name of a column suggests an id that several rows may share, such as that of a patient.

    Examples
    --------
    >>> [names_groups(name) for name in ("subject", "customer_id", "age")]
    [True, True, False]
    """
    return bool(_GROUP_NAME.fullmatch(name) or id_name(name))


def integers_like_ids(
    array: pa.Array, missing: tuple[str, ...], called: str = "", rows: np.ndarray | None = None, n: int = 0
) -> str | None:
    """Return the reason why a column of numbers looks like an id, or None if it does not.

    A column with fractions, missing values or fewer than 20 rows never looks like an id. ``called`` is the result of
    `id_name` for the name of the column. If the name suggests an id, integers that differ in nearly every row look like
    ids, too. If ``array`` holds only some rows of a table of ``n`` rows, ``rows`` are their indices.

    Examples
    --------
    >>> import pyarrow as pa
    >>> integers_like_ids(pa.array(range(100, 150)), ())
    'counts the rows: 100, 101, 102, ...'
    >>> integers_like_ids(pa.array([k % 7 for k in range(50)]), ())
    >>> integers_like_ids(pa.array([k * k % 1009 for k in range(50)]), (), "has no name")
    'has no name and is different in nearly every row: 0, 1, 4, ...'
    >>> some = np.delete(np.arange(50), [1, 7])
    >>> integers_like_ids(pa.array(100 + some), (), rows=some, n=50)
    'counts the rows: 100, 102, 103, ...'
    """
    if rows is None:
        n, rows = len(array), np.arange(len(array))
    if n < FEWEST_ROWS or import_arrow().types.is_boolean(array.type):
        return None
    if not called and not _are_different_integers(parse_numbers(array[:_QUICK], missing)[0]):
        return None
    values, bad = parse_numbers(array, missing)
    if bad or not _are_integers(values):
        return None
    first = ", ".join(str(int(value)) for value in values[:3])
    return _order_of_ids(values, rows, n, first) or (
        f"{called} and is different in nearly every row: {first}, ..."
        if called and len(np.unique(values)) >= _DIFFERENT * len(values)
        else None
    )


def _order_of_ids(values: np.ndarray, rows: np.ndarray, n: int, first: str) -> str | None:
    """Return why integers look like row numbers, or None if not; ``first`` is the first few integers as text."""
    if len(np.unique(values)) < len(values):
        return None
    steps = np.diff(values)
    if (steps == np.diff(rows)).all():
        return f"counts the rows: {first}, ..."
    if (steps > 0.0).all():
        return f"rises from row to row: {first}, ..."
    if (steps < 0.0).all():
        return f"falls from row to row: {first}, ..."
    if values.max() - values.min() < n:
        return f"numbers the rows in another order: {first}, ..."
    return None


def are_even(array: pa.Array, missing: tuple[str, ...]) -> bool:
    """Return whether at least 20 numbers are spread over their range about evenly, as ids are and amounts are not.

    In an even spread, the k-th smallest of n numbers is about (k - 1) / (n - 1) of the way from the smallest to the
    largest. The largest difference from this share may be 0.25.

    Examples
    --------
    >>> import pyarrow as pa
    >>> are_even(pa.array([7919 * k % 100003 for k in range(50)]), ())
    True
    >>> are_even(pa.array([k**4 for k in range(50)]), ())
    False
    """
    values = np.sort(parse_numbers(array, missing)[0])
    if len(values) < FEWEST_ROWS or not values[0] < values[-1]:  # also if a value is missing
        return False
    with np.errstate(over="ignore"):
        shares = (values - values[0]) / (values[-1] - values[0])
    return bool(np.abs(shares - np.linspace(0.0, 1.0, len(values))).max() <= _MOST_UNEVEN)


def _are_integers(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values == np.rint(values)).all())


def _are_different_integers(values: np.ndarray) -> bool:
    return _are_integers(values) and len(np.unique(values)) == len(values)


def strings_like_ids(values: list[str]) -> str | None:
    """Return the reason why strings look like ids or names, or None if they repeat, are free text, or are few.

    In free text, words occur in several rows. If nearly all values differ and share few words, nothing can be learned
    from them.

    Examples
    --------
    >>> strings_like_ids([f"PC {k}" for k in range(17000, 17100)])
    "is different in nearly every row, such as 'PC 17000'"
    >>> strings_like_ids(["a good film", "not a good film", "a film"] * 10)
    """
    if len(values) < FEWEST_ROWS or len(set(values)) < _DIFFERENT * len(values):
        return None
    reason = f"is different in nearly every row, such as {shorten(values[0], 40)}"
    texts = [_WORD.findall(value.lower()) for value in values[:_TEXTS_READ]]
    rows_of = Counter(word for words in texts for word in set(words))
    count = sum(map(len, texts))
    if count <= _FEW_WORDS * len(texts):
        return reason
    single = sum(rows_of[word] == 1 for words in texts for word in words) / count
    short = count < _SHORT_TEXT * len(texts)
    return reason if single > (_MOST_SINGLE if short else _MOST_SINGLE_IN_LONG) else None


# The label column: the kind of the labels, and whether they look like the target of a regression.


_MOST_CLASSES = 100
"""Up to this many distinct integers may be classes, whatever the number of rows."""
_MOST_FRACTIONS = 10
"""Up to this many distinct numbers may be classes if some of them are fractions."""
_FEWEST = 2


def label_kind(
    head: TableChunk, name: str, typed: bool, given: str | Sequence[str] | None, missing: tuple[str, ...], file: str
) -> str:
    """Return the kind of the labels, one of ``preparation.LABEL_KINDS``.

    ``given`` is the kind from ``column_types``, or None. A column without labels or of an unsupported type raises a
    DataError.
    """
    array = head.columns[name]
    where = Message("{file}: column {name}, the target,", file=file, name=repr(name))
    if is_unsupported_type(array.type):
        found = show_type(array.type)
        raise DataError("{where} holds {found} values, expected numbers or strings.", where=where, found=found)
    words = missing_labels("text" if given is None else "category", missing)
    if parse_strings(array, words).null_count == len(array) and len(array):
        raise DataError("{where} has no label in the first {n} rows.", where=where, n=len(array))
    kind = given or infer_kind(head, name, typed, missing, "hash")
    if kind != "number" or (given is None and unit_entry(array, "number", missing)):
        return "boolean" if kind == "boolean" else "text" if given is None else "category"
    values = parse_numbers(array, missing)[0]
    values = values[np.isfinite(values)]
    integers = (values == np.rint(values)) & (np.abs(values) < EXACT_BELOW)
    return "integer" if integers.all() else "number"


def regression_labels(head: TableChunk, name: str, typed: bool, missing: tuple[str, ...]) -> Message | None:
    """Return a message with advice if the labels look like a regression target, or None if they look like classes.

    Let k be the number of distinct labels. Let n be the number of rows. Labels with fractions look like a regression
    target if k > 10, or if k > 2 and k > n/3. Integer labels look like a regression target if k > 100 and k > n/3.
    """
    kind = infer_kind(head, name, typed, missing, "hash")
    if kind != "number" and kind not in NUMBER_FORMATS:
        return None
    values = parser_of({"kind": kind, **unit_entry(head.columns[name], str(kind), missing)})(
        head.columns[name], missing
    )[0]
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
    return Message(
        "column {name}, the target, has {different:,} different numbers in {n:,} rows, such as {example}, which looks "
        "like a regression target: choose a column of classes with {target}, or convert the numbers to classes "
        "first{hint}",
        name=repr(name),
        different=len(different),
        n=len(values),
        example=plain_text(float(fractions[0] if len(fractions) else values[0])),
        hint=Hint(" ({column_types=kinds} treats each number as a class)", kinds={name: "category"}),
    )
