"""Parsers for the values of Arrow arrays: numbers, booleans, strings, labels, dates, and numbers with a decimal comma.

A parser of numbers, booleans or dates returns the values, and the indices of the rows that hold something else.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.blocks import EXACT_BELOW
from rosenblatt.messages import Hint, Message, shorten, show_text

if TYPE_CHECKING:
    import pyarrow as pa


# Conversions between Arrow arrays and the values of Python and NumPy.
#
# They access buffers, because pyarrow's own conversions (``pa.array``, ``pa.scalar``, ``to_numpy``) import pandas if
# it is installed, which takes longer than reading a small table.


@cache
def import_arrow(module: str = "") -> Any:
    """Return pyarrow or one of its modules, imported on first use; raise an ImportError if it is not installed."""
    try:
        return import_module("pyarrow" + module)
    except ImportError:
        raise ImportError("reading tables needs pyarrow: pip install 'rosenblatt[files]'.") from None


def combine_chunks(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a chunked array as one contiguous array; return other arrays unchanged."""
    if not isinstance(array, import_arrow().ChunkedArray):
        return array
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()


@lru_cache(maxsize=256)
def is_unsupported_type(type_: pa.DataType) -> bool:
    """Return whether a type is unsupported: not a number, boolean, string, date, time or null."""
    pa = import_arrow()
    types = pa.types
    binary = types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_)
    if types.is_nested(type_) or binary or "binary_view" in str(type_):
        return True
    if is_number_type(type_):
        return False
    try:
        pa.nulls(1, type_).cast(pa.string())
    except pa.ArrowException:  # intervals, and times in an unknown time zone
        return True
    return False


def show_type(type_: pa.DataType) -> str:
    """Return the name of a type for a message."""
    return show_text(str(type_), 100)


def is_number_type(type_: pa.DataType) -> bool:
    """Return whether values of this type are booleans, integers or floats."""
    types = import_arrow().types
    return types.is_boolean(type_) or types.is_integer(type_) or types.is_floating(type_)


def numbers_to_arrow(numbers: np.ndarray) -> pa.Array:
    """Convert a NumPy array of numbers or booleans to an Arrow array; numbers are not copied."""
    pa = import_arrow()
    if numbers.dtype.kind == "b":
        return numbers_to_arrow(numbers.view(np.uint8)).cast(pa.bool_())
    numbers = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("="))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)])


def python_numbers_to_arrow(values: Sequence[Any], floats: np.ndarray) -> pa.Array:
    """Convert Python numbers, given with the nearest ``floats`` (NaN if missing), to an Arrow array.

    The array holds the floats. But if all numbers are integers and float64 would round one of them, the array holds the
    integers. They may be labels or categories.

    >>> python_numbers_to_arrow([2**53 + 1, None], np.array([2.0**53, np.nan])).to_pylist()
    [9007199254740993, None]
    """
    pa = import_arrow()
    known = ~np.isnan(floats)
    rounded = known & (np.abs(floats) >= EXACT_BELOW)
    pairs = list(zip(values, known.tolist(), strict=True)) if rounded.any() and not np.isinf(floats).any() else []
    if not pairs or not all(value == int(value) for value, is_known in pairs if is_known):
        return numbers_to_arrow(floats)
    texts = strings_to_arrow([str(int(value)) if is_known else None for value, is_known in pairs])
    try:
        return texts.cast(pa.int64() if (floats < 0).any() else pa.uint64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return numbers_to_arrow(floats)


def strings_to_arrow(texts: Sequence[str | None]) -> pa.Array:
    """Convert strings to an Arrow array; None becomes null.

    Examples
    --------
    >>> strings_to_arrow(["a", None, "", "öl"]).to_pylist()
    ['a', None, '', 'öl']
    """
    pa = import_arrow()
    words = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, words)])
    if ends[-1] >= 2**31:
        raise ValueError(f"{ends[-1]} bytes of text at once, expected fewer than {2**31}")
    valid = np.packbits([text is not None for text in texts], bitorder="little") if None in texts else None
    parts = None if valid is None else pa.py_buffer(valid), pa.py_buffer(ends.astype(np.int32))
    return pa.Array.from_buffers(pa.string(), len(words), [*parts, pa.py_buffer(b"".join(words))])


_NUMPY_TYPES = {"double": "float64", "float": "float32", "halffloat": "float16", "null": "float64"}
"""The NumPy names of types that have another name in Arrow."""


def as_numpy(array: pa.Array) -> np.ndarray:
    """Convert an Arrow array of numbers or booleans to a NumPy array.

    Numbers are not copied. The values in place of nulls are arbitrary.
    """
    pa = import_arrow()
    if pa.types.is_boolean(array.type):
        return as_numpy(array.cast(pa.uint8())).view(np.bool_)
    kind = np.dtype(_NUMPY_TYPES.get(str(array.type), str(array.type)))
    if pa.types.is_null(array.type) or not len(array) or array.buffers()[1] is None:
        return np.zeros(len(array), kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def null_rows(array: pa.Array) -> np.ndarray:
    """Return the indices of the rows where an Arrow array is null."""
    return np.flatnonzero(as_numpy(array.is_null())) if array.null_count else np.empty(0, np.int64)


def replace_nulls(array: pa.Array, numbers: np.ndarray, missing: float) -> np.ndarray:
    """Return ``numbers``, the values of an Arrow array, with ``missing`` where that array is null."""
    if array.null_count:
        numbers = numbers.copy()
        numbers[null_rows(array)] = missing
    return numbers


MISSING_NUMBERS = ("", "?", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "null", "NULL", "None")
"""Texts that denote a missing value in a column of numbers."""
_LIKE_A_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf(inity)?|nan(\([0-9a-z_]*\))?))$"
"""The pattern of the texts that Arrow parses as numbers."""
BOOLEANS = ("false", "False", "FALSE", "true", "True", "TRUE")
"""Texts that denote a boolean."""
_LONGEST_LABEL = 1000
"""The maximum length of a label; in a NumPy array of strings, every element takes the memory of the longest."""


class Faults(dict[int, Message]):
    """The rows that cannot be read, out of ``n``, mapped to the first reason found for each."""

    def __init__(self, n: int) -> None:
        self.is_valid = np.ones(n, np.bool_)
        """Whether each row can be read."""

    def add(self, rows: Sequence[int] | np.ndarray, reason: Message) -> None:
        """Add ``reason``, a message without a full stop, for each of ``rows`` that has no reason yet."""
        places = np.asarray(rows, np.int64)
        new = places[self.is_valid[places]]  # vectorised, because a row may be at fault in very many columns
        self.is_valid[new] = False
        self.update(dict.fromkeys(new.tolist(), reason))

    def add_unexpected(
        self,
        rows: Iterable[int],
        array: pa.Array,
        name: str,
        expected: str | Message,
        advice: Callable[[str], str] = lambda text: "",
    ) -> None:
        """Add ``rows``, whose values in column ``name`` are not as expected; ``advice`` maps a value to advice."""
        if not is_number_type(array.type):
            array = array.cast(import_arrow().string())  # Python has no dates after the year 9999
        for row in rows:
            value = array[row].as_py()
            text = plain_text(value) if isinstance(value, float) else str(value)
            found = "nothing" if value is None else shorten(text)
            reason = "column {name} holds {found}, expected {expected}{advice}"
            values = {"name": repr(name), "found": found, "expected": expected, "advice": advice(text.strip())}
            self.add([row], Message(reason, **values))


def plain_text(value: Any) -> str:
    """Return a number, boolean or string as the text of a category; integral floats have no decimal point.

    Examples
    --------
    >>> plain_text(2.0), plain_text(0.5), plain_text(True), plain_text(2**53 + 1)
    ('2', '0.5', 'true', '9007199254740993')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int):  # exactly, because it may be a label or a category
        return str(value)
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


def parse_numbers(array: pa.Array, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    """Return the numbers, rounded to the nearest float64 (NaN if missing), and the rows that are not numbers."""
    values, bad = _floats(array, missing)
    for number in find_missing_numbers(missing):
        values = np.where(values == number, np.nan, values)
    return values, bad


def find_missing_numbers(missing: tuple[str, ...]) -> list[float]:
    """Return the numbers among the texts that denote a missing value.

    >>> find_missing_numbers(("-999", "unknown", "1e3"))
    [-999.0, 1000.0]
    """
    if not missing:
        return []
    numbers, no_numbers = strings_to_numbers(strings_to_arrow(missing))
    return [number for number in np.delete(numbers, no_numbers).tolist() if number == number]


def _floats(array: pa.Array, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    pa = import_arrow()
    if pa.types.is_decimal(array.type):
        return strings_to_numbers(array.cast(pa.string()))
    if not is_number_type(array.type):
        return strings_to_numbers(parse_strings(array, (*MISSING_NUMBERS, *missing)))
    return replace_nulls(array, to_floats(as_numpy(array)), np.nan), []


def to_floats(numbers: np.ndarray) -> np.ndarray:
    """Convert numbers to the nearest float64, without a copy if they are float64 already."""
    with np.errstate(invalid="ignore"):  # NumPy warns about a signalling NaN of float16
        return numbers.astype(np.float64, copy=False)


def strings_to_numbers(texts: pa.Array) -> tuple[np.ndarray, list[int]]:
    """Return strings as numbers, rounded to the nearest float64 (NaN for null), and the rows that are not numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> strings_to_numbers(pa.array(["1", "x", None, "3e2"]))
    (array([  1.,  nan,  nan, 300.]), [1])
    """
    pa, pc = import_arrow(), import_arrow(".compute")
    try:
        numbers = texts.cast(pa.float64())
        return replace_nulls(numbers, as_numpy(numbers), np.nan), []
    except pa.ArrowInvalid:
        pass
    # Arrow's cast fails as a whole and does not name the value, so bisect the distinct strings that look like numbers.
    coded = texts.dictionary_encode()
    words = coded.dictionary
    waiting = [np.flatnonzero(as_numpy(pc.match_substring_regex(words, _LIKE_A_NUMBER)))]
    values, good = np.full(len(words) + 1, np.nan), np.zeros(len(words) + 1, bool)
    good[-1] = True  # for null
    while waiting:
        part = waiting.pop()
        try:
            values[part] = as_numpy(words.take(numbers_to_arrow(part)).cast(pa.float64()))
            good[part] = True
        except pa.ArrowInvalid:
            if len(part) > 1:
                waiting += np.array_split(part, 2)
    codes = replace_nulls(coded.indices, as_numpy(coded.indices), len(words))
    return values[codes], np.flatnonzero(~good[codes]).tolist()


def parse_booleans(array: pa.Array, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    """Return booleans as 0.0 and 1.0 (NaN if missing), and the rows that are not booleans."""
    pa, pc = import_arrow(), import_arrow(".compute")
    if pa.types.is_boolean(array.type):
        return parse_numbers(array, missing)
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing))
    codes = pc.index_in(texts, strings_to_arrow(BOOLEANS))
    values = (as_numpy(codes) >= BOOLEANS.index("true")).astype(np.float64)
    return replace_nulls(codes, values, np.nan), np.setdiff1d(null_rows(codes), null_rows(texts)).tolist()


def parse_strings(array: pa.Array, missing: tuple[str, ...]) -> pa.Array:
    """Convert an array to strings without surrounding whitespace; empty and missing values become null."""
    pa, pc = import_arrow(), import_arrow(".compute")
    if is_number_type(array.type):
        values = array.to_pylist()
        return strings_to_arrow([None if value is None or value != value else plain_text(value) for value in values])
    texts = pc.utf8_trim_whitespace(array.cast(pa.string()))
    gone = pc.is_in(texts, strings_to_arrow(["", *missing]))
    return pc.if_else(gone, pa.nulls(1, pa.string())[0], texts)


def missing_labels(kind: str, missing: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts that denote a missing label, besides the empty one, among labels of this kind."""
    return missing if kind == "category" else (*MISSING_NUMBERS, *missing)


def parse_labels(
    array: pa.Array, target: dict[str, str], missing: tuple[str, ...], faults: Faults
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels, and the indices of the rows without a label, whose labels are arbitrary.

    Rows with a label of another kind are added to ``faults``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> array = pa.array(["a", "NA", ""])
    >>> parse_labels(array, {"name": "y", "kind": "text"}, (), Faults(3))
    (array(['a', '', ''], dtype='<U1'), array([1, 2]))
    >>> parse_labels(array, {"name": "y", "kind": "category"}, (), Faults(3))
    (array(['a', 'NA', ''], dtype='<U2'), array([2]))
    """
    name, kind = target["name"], target["kind"]
    if kind in ("text", "category"):
        texts = parse_strings(array, missing_labels(kind, missing))
        coded = texts.dictionary_encode()
        codes = replace_nulls(coded.indices, as_numpy(coded.indices), len(coded.dictionary))
        labels = [*coded.dictionary.to_pylist(), ""]
        for code, label in enumerate(labels):
            if len(label) > _LONGEST_LABEL:
                what = "column {name} holds a text of {length} characters, expected a label of at most {most}"
                reason = Message(what, name=repr(name), length=len(label), most=_LONGEST_LABEL)
                labels[code] = ""
            elif label.endswith("\0"):  # NumPy would drop these characters
                what = "column {name} holds {found}, which ends in a null character, expected text without one"
                reason = Message(what, name=repr(name), found=shorten(label))
            else:
                continue
            faults.add(np.flatnonzero(codes == code), reason)
        return np.array(labels, dtype=np.str_)[codes], null_rows(texts)
    boolean = kind == "boolean"
    expected = "true or false as the label" if boolean else "a number as the label"
    values, bad = (parse_booleans if boolean else parse_numbers)(array, missing)
    if kind == "integer":
        expected = "an integer label, like the first labels"
        bad += np.flatnonzero((values != np.rint(values)) & np.isfinite(values)).tolist()
    bad += np.flatnonzero(np.isinf(values)).tolist()
    faults.add_unexpected(bad, array, name, expected)
    as_text = Hint(": give {column_types=kinds} to read labels as text", kinds={name: "category"})
    large = "column {name} holds an integer that float64 may have rounded, expected labels below 2^53{as_text}"
    faults.add(np.flatnonzero(np.abs(values) >= EXACT_BELOW), Message(large, name=repr(name), as_text=as_text))
    unlabelled = np.setdiff1d(np.flatnonzero(np.isnan(values)), bad)
    values = np.where(np.abs(values) < EXACT_BELOW, values, 0.0)
    return values.astype({"integer": np.int64, "boolean": np.bool_, "number": np.float64}[kind]), unlabelled


# Date formats: whether the day or the month comes first, as in 30.05.2023 and 5/30/2023, and conversion to ISO 8601.


_TIME = (
    r"(?:(?:T|,? )[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"(?:\s?(?:[AaPp][Mm]|Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_YEAR_FIRST = re.compile(rf"[0-9]{{4}}([-/.])[0-9]{{1,2}}\1[0-9]{{1,2}}{_TIME}")
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}})([-/.])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}}){_TIME}")
_MONTHS = 12


class DateFormat(NamedTuple):
    """The order of day and month in dates, or the reason why it is ambiguous."""

    order: str
    """One of ``preparation.DATE_ORDERS``; "" if the year comes first, or if the order is ambiguous."""
    ambiguity: str = ""
    """Why the dates cannot be read, as text that follows the name of the column; "" if they can be read."""
    example: str = ""
    """One of the ambiguous dates in ISO 8601, under one possible interpretation."""


def detect_date_format(texts: Iterable[str]) -> DateFormat | None:
    """Return the format of texts that are all dates, or None if a text is not a date or there are no texts.

    In dates with full stops the day comes first. In dates with slashes or hyphens a number above 12 shows the order.

    Examples
    --------
    >>> detect_date_format(["30.05.2023", "01.02.2023"]).order, detect_date_format(["1/2/2023", "5/30/2023"]).order
    ('dmy', 'mdy')
    >>> detect_date_format(["2023/05/30", "2023-05-31"])
    DateFormat(order='', ambiguity='', example='')
    >>> detect_date_format(["03/04/2023"]).ambiguity
    'holds dates such as 03/04/2023, and nothing shows whether the day or the month comes first'
    """
    last, found = [], False
    for text in texts:
        found = True
        if _YEAR_FIRST.fullmatch(text):
            continue
        match = _YEAR_LAST.fullmatch(text)
        if match is None:
            return None
        last.append(match)
    return _format_of_year_last(last) if found else None


def date_format_of(texts: Iterable[str]) -> DateFormat:
    """Return the format of the dates among the texts; other texts are ignored."""
    dates = [text for text in texts if _YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text)]
    return detect_date_format(dates) or DateFormat("")


def _format_of_year_last(dates: list[re.Match[str]]) -> DateFormat:
    if not dates:
        return DateFormat("")
    short = next((date for date in dates if len(date[4]) == 2), None)
    if short:
        return DateFormat("", f"holds dates such as {shorten(short[0])}, whose century is not written", _as_iso(short))
    days_first = [date for date in dates if date[2] == "." or int(date[1]) > _MONTHS >= int(date[3])]
    months_first = [date for date in dates if date[2] != "." and int(date[3]) > _MONTHS >= int(date[1])]
    if days_first and months_first:
        both = f"{days_first[0][0]} and {months_first[0][0]}"
        return DateFormat("", f"holds dates such as {both}, in two orders", _as_iso(days_first[0]))
    if days_first or months_first:
        return DateFormat("dmy" if days_first else "mdy")
    why = "and nothing shows whether the day or the month comes first"
    return DateFormat("", f"holds dates such as {dates[0][0]}, {why}", _as_iso(dates[0]))


def _as_iso(date: re.Match[str]) -> str:
    """Return a date in ISO 8601; the first number is the month if the second exceeds 12, else the day."""
    day, month = int(date[1]), int(date[3])
    if month > _MONTHS:
        day, month = month, day
    return f"{'20' * (len(date[4]) == 2)}{date[4]}-{month:02}-{day:02}"


def to_iso(texts: pa.Array, order: str = "") -> pa.Array:
    """Rewrite dates in ISO 8601 if the year comes first or they have this ``order``; keep other texts unchanged.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_iso(pa.array(["30.5.2023 8:15", "2023/5/1", "5/30/2023"]), "dmy").to_pylist()
    ['2023-05-30 08:15', '2023-05-01', '2023-30-05']
    >>> to_iso(pa.array(["5/30/2023, 8:15 PM", "30.5.2023"]), "mdy").to_pylist()
    ['2023-05-30 20:15', '30.5.2023']
    """
    replace = import_arrow(".compute").replace_substring_regex
    for mark in "-/.":
        sign = re.escape(mark)
        texts = replace(texts, rf"^([0-9]{{4}}){sign}([0-9]{{1,2}}){sign}([0-9]{{1,2}})($|[^0-9])", r"\1-\2-\3\4")
        if order == "dmy" or (order == "mdy" and mark != "."):
            year_first = r"\3-\2-\1\4" if order == "dmy" else r"\3-\1-\2\4"
            texts = replace(texts, rf"^([0-9]{{1,2}}){sign}([0-9]{{1,2}}){sign}([0-9]{{4}})($|[^0-9])", year_first)
    texts = replace(texts, r"^([0-9]{4})-([0-9])-", r"\1-0\2-")
    texts = replace(texts, r"^([0-9]{4}-[0-9]{2})-([0-9])($|[^0-9])", r"\1-0\2\3")
    texts = replace(texts, r"^([0-9-]{10}), ", r"\1 ")
    texts = replace(texts, r"^([0-9-]{10}[T ])([0-9]):", r"\10\2:")
    return _to_24_hours(texts)


def _to_24_hours(texts: pa.Array) -> pa.Array:
    """Rewrite 12-hour times (am or pm) that follow a date as 24-hour times."""
    pc = import_arrow(".compute")
    if not pc.any(pc.match_substring_regex(texts, "[AaPp][Mm]$")).as_py():
        return texts
    for hour in range(1, 13):
        for half, later in (("Aa", 0), ("Pp", 12)):
            pattern = rf"^([0-9-]{{10}}[T ])0?{hour}((?::[0-9]{{2}}){{1,2}}) ?[{half}][Mm]$"
            texts = pc.replace_substring_regex(texts, pattern, rf"\1{hour % 12 + later:02}\2")
    return texts


# Dates and times as numbers: days since 1970-01-01, with the time of day as a fraction.


ISO_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?\s?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?)?"
)
"""A date in ISO 8601, with or without a time and an offset."""
_FIRST_YEAR = -719_162
"""The first day of year 1, where Python's calendar begins, in days since 1970-01-01."""
DAYS_BEFORE_EPOCH = datetime.date(1970, 1, 1).toordinal()
_SECONDS = 86_400
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def parse_dates(array: pa.Array, missing: tuple[str, ...], order: str = "") -> tuple[np.ndarray, list[int]]:
    """Return dates as days since 1970-01-01 (NaN if missing), and the rows that are not dates.

    In strings the year comes first, as in ISO 8601 or with other separators. If an ``order`` is given, the year may
    also come last.

    The days, the fraction of the day and their sum are each rounded to the nearest float64; the error is below a
    microsecond for present-day dates. Times without an offset are UTC. Durations become days as well, and times of day
    become fractions of a day.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parse_dates(pa.array(["1970-01-02", "1970-01-01T12:00", "1970-01-01 12:00:00+06:00", "soon", ""]), ())
    (array([1.  , 0.5 , 0.25,  nan,  nan]), [3])
    >>> parse_dates(pa.array(["02.01.1970", "1970/1/2", "1970-01-02"]), (), "dmy")
    (array([1., 1., 1.]), [])
    """
    types = import_arrow().types
    if types.is_temporal(array.type):
        return replace_nulls(array, _days_of_temporal(array), np.nan), []
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing))
    days = _days_at_once(texts)
    if days is None:
        texts = to_iso(texts, order)
        days = _days_at_once(texts)
    if days is not None:
        return days, []
    coded = texts.dictionary_encode()
    known = np.array([*map(_days_of_text, coded.dictionary.to_pylist()), np.nan], np.float64)
    codes = replace_nulls(coded.indices, as_numpy(coded.indices), len(known) - 1)
    values = known[codes]
    return values, np.setdiff1d(np.flatnonzero(np.isnan(values)), null_rows(texts)).tolist()


def _days_of_temporal(array: pa.Array) -> np.ndarray:
    pa = import_arrow()
    types, type_ = pa.types, array.type
    if types.is_date32(type_):
        return as_numpy(array.cast(pa.int32())).astype(np.float64)
    unit = "ms" if types.is_date64(type_) else type_.unit
    stored = pa.int32() if types.is_time32(type_) else pa.int64()
    return _days(as_numpy(array.cast(stored)).astype(np.int64), unit)


def _days(counts: np.ndarray, unit: str) -> np.ndarray:
    """Convert counts of a unit of time to days; the fraction of a day and the sum are each rounded once."""
    per_day = _SECONDS * _PER_SECOND[unit]
    whole, rest = np.divmod(counts, per_day)
    return whole + rest / per_day


def _days_at_once(texts: pa.Array) -> np.ndarray | None:
    """Parse ISO dates with Arrow, which requires that all or none have an offset; return None if Arrow cannot."""
    pa, pc = import_arrow(), import_arrow(".compute")
    matches = pc.match_substring_regex(texts, f"^(?:{ISO_DATE.pattern})$")
    if not pc.all(matches).as_py():
        return None
    for type_ in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            counts = texts.cast(type_).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        days = _days(as_numpy(counts), "us")
        years_known = (replace_nulls(counts, days, 0.0) >= _FIRST_YEAR).all()
        return replace_nulls(counts, days, np.nan) if years_known else None
    return None


def _days_of_text(text: str) -> float:
    """Return an ISO date as days since 1970-01-01, or NaN if the text is not a date."""
    match = ISO_DATE.fullmatch(text)
    if match is None:
        return np.nan
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        return np.nan
    offset = (match[8] or "").replace(":", "")
    seconds = Fraction(3600 * hour + 60 * minute + second) + Fraction(int(match[7] or 0), 10 ** len(match[7] or ""))
    if offset[:1] in ("+", "-") and offset:
        hours, minutes = int(offset[1:3]), int(offset[3:])
        if hours > 23 or minutes > 59:
            return np.nan
        seconds -= int(f"{offset[0]}1") * (3600 * hours + 60 * minutes)
    try:
        days = datetime.date(year, month, day).toordinal() - DAYS_BEFORE_EPOCH
    except ValueError:
        return np.nan
    whole, rest = divmod(seconds, _SECONDS)
    return (days + whole) + float(rest / _SECONDS)


# Number formats: text with a decimal comma (3,14 and 1.234,56) or with commas between thousands (1,234.56).


_BETWEEN = (" ", "\u00a0", "\u202f", "'", "\u2019")
"""Thousands separators of both formats: spaces, including non-breaking ones, and apostrophes."""


def _pattern(thousands: str, point: str) -> str:
    groups = "|".join(f"(?:{re.escape(mark)}[0-9]{{3}})+" for mark in (thousands, *_BETWEEN))
    return rf"[+-]?(?:[1-9][0-9]{{0,2}}(?:{groups})|[0-9]+)(?:{re.escape(point)}[0-9]+)?(?:[eE][+-]?[0-9]+)?"


_PATTERNS = {"decimal-comma": _pattern(".", ","), "thousands-comma": _pattern(",", ".")}
NUMBER_FORMATS = tuple(_PATTERNS)
"""The kinds of columns whose numbers contain commas or thousands separators."""
_MATCHERS = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}
_COMMA = re.compile(r"[+-]?([0-9]+),([0-9]+)")
_MARKS = {"decimal-comma": ".", "thousands-comma": ","}
"""The thousands separator of each format, besides spaces and apostrophes."""


def parse_formatted(array: pa.Array, missing: tuple[str, ...], kind: str) -> tuple[np.ndarray, list[int]]:
    """Return formatted numbers as the nearest float64 (NaN if missing), and the rows that are not numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.array(["3,14", "1.234,5", "1 234", "7", None, "1,2,3"])
    >>> parse_formatted(texts, (), "decimal-comma")
    (array([   3.14, 1234.5 , 1234.  ,    7.  ,     nan,     nan]), [5])
    >>> parse_formatted(pa.array(["1,234.5", "12,345"]), (), "thousands-comma")
    (array([ 1234.5, 12345. ]), [])
    """
    if is_number_type(array.type):
        return parse_numbers(array, missing)
    pa, pc = import_arrow(), import_arrow(".compute")
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing))
    known = pc.match_substring_regex(texts, f"^(?:{_PATTERNS[kind]})$")
    marks = "".join(map(re.escape, (_MARKS[kind], *_BETWEEN)))
    plain = pc.replace_substring_regex(texts, f"[{marks}]", "")
    plain = pc.replace_substring(plain, ",", ".")
    values, _ = strings_to_numbers(pc.if_else(known, plain, pa.nulls(1, pa.string())[0]))
    bad = np.flatnonzero(~as_numpy(known))  # in place of nulls, of which the next line removes the rows, anything
    return values, np.setdiff1d(bad, null_rows(texts)).tolist()


def plain_number(text: str, kind: str) -> str | None:
    """Return a number in this format as text without separators; None if the text is not in this format.

    >>> plain_number("1.234,5", "decimal-comma"), plain_number("1.2.3", "decimal-comma")
    ('1234.5', None)
    """
    if _MATCHERS[kind].fullmatch(text) is None:
        return None
    for mark in (_MARKS[kind], *_BETWEEN):
        text = text.replace(mark, "")
    return text.replace(",", ".")


def possible_formats(texts: list[str]) -> list[str]:
    """Return the number formats that match all texts, or an empty list if no text contains a separator.

    Examples
    --------
    >>> possible_formats(["3,14", "2"]), possible_formats(["1,234"]), possible_formats(["314"])
    (['decimal-comma'], ['decimal-comma', 'thousands-comma'], [])
    >>> possible_formats(["2.816.587", "435.348"])
    ['decimal-comma']
    """
    if not any(text.count(".") > 1 or any(mark in text for mark in (",", *_BETWEEN)) for text in texts):
        return []
    found = [kind for kind, pattern in _MATCHERS.items() if all(map(pattern.fullmatch, texts))]
    if len(found) == 2 and not any("," in text for text in texts):
        return ["thousands-comma"]  # both give the same numbers
    return found


_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+|[+-]?[0-9]+")


def point_between_thousands(texts: Sequence[str]) -> bool | None:
    """Return whether the points in numbers may be thousands separators, as in German; None if there are no points.

    Examples
    --------
    >>> point_between_thousands(["4.259", "87"]), point_between_thousands(["4.259", "8.7"])
    (True, False)
    >>> point_between_thousands(["1", "2"]) is None
    True
    """
    if not any("." in text for text in texts):
        return None
    return all(map(_GROUPED.fullmatch, texts))


def comma_advice(text: str) -> str:
    """Return advice about a text that is a number except for a comma, or "" for other texts.

    Examples
    --------
    >>> comma_advice("27,1"), comma_advice("1,234"), comma_advice("some")
    (', and it looks like a decimal comma: write 27.1', ', and it has a comma: write 1.234 or 1234', '')
    """
    match = _COMMA.fullmatch(text)
    if match is None:
        return ""
    if len(match[2]) == 3 and len(match[1]) <= 3:
        return f", and it has a comma: write {text.replace(',', '.')} or {text.replace(',', '')}"
    return f", and it looks like a decimal comma: write {text.replace(',', '.')}"


# Units: currency and percent signs ($1,234.50, 60,92 €, 12.5%), and negative numbers in parentheses, as (60.92).


_CODES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|ILS|INR|JPY|KRW|MXN|NOK|NZD|PLN|RON|RUB|SEK|SGD|TRY|USD|ZAR"
_SIGN = f"(?:[A-Z]{{0,3}}[$]|[£¤¥€₩₪₫₱₴₹₺₽]|%|(?:{_CODES})(?![A-Za-z])|kr|zł|Kč|Fr[.])"
_CURRENCIES = (
    ("€", "EUR"),
    ("$", "US$", "USD"),
    ("£", "GBP"),
    ("₹", "INR"),
    ("₩", "KRW"),
    ("₪", "ILS"),
    ("₺", "TRY"),
    ("₽", "RUB"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("Fr.", "CHF"),
)
"""Units of the same currency. A sign that several countries use, such as ¥, is not a unit of any one of them."""
_SPACES = " \t\u00a0\u202f"
_DIGITS = f"[0-9.][0-9.,'\u2019{_SPACES}]*"
_AMOUNT = re.compile(
    rf"[(]?[-+\u2212]?(?:(?P<before>{_SIGN})[{_SPACES}]*)?[-+\u2212]?{_DIGITS}(?P<after>{_SIGN})?[)]?", re.ASCII
)


_CURRENCY_OF = {unit: currency for currency in _CURRENCIES for unit in currency}


def _same_currency(unit: str) -> tuple[str, ...]:
    """Return the units that mean the same as ``unit``, itself included."""
    return _CURRENCY_OF.get(unit, (unit,))


def _count_units(texts: Sequence[str]) -> tuple[Counter[str], int]:
    """Return the number of amounts in each unit, "" for none, and the number of those in parentheses.

    Both are 0 if more than a tenth of the texts are not amounts.
    """
    units, brackets, others, most = Counter[str](), 0, 0, len(texts) // 10
    for text in texts:
        amount = _AMOUNT.fullmatch(text)
        if amount is None or (amount["before"] and amount["after"]) or text.startswith("(") != text.endswith(")"):
            others += 1
            if others > most:
                return Counter(), 0
        else:
            units[amount["before"] or amount["after"] or ""] += 1
            brackets += text.startswith("(")
    return units, brackets


def unit_of(texts: Sequence[str]) -> str | None:
    """Return the unit of a column of amounts, "" if only parentheses mark negative numbers, or None for other columns.

    At least nine in ten texts must be amounts in one unit. Units of the same currency count as one, and the most
    frequent of them is returned.

    Examples
    --------
    >>> unit_of(["$1,234.50", "-$7", "($60.92)"]), unit_of(["60,92 €"]), unit_of(["12.5%"]), unit_of(["(60.92)", "5"])
    ('$', '€', '%', '')
    >>> unit_of(["5 €", "EUR 6", "7 €"])
    '€'
    >>> unit_of(["$5", "7 €"]), unit_of(["5", "7"]), unit_of(["(1)", "(2)"]), unit_of(["$5", "7"]), unit_of([])
    (None, None, None, None, None)
    """
    units, brackets = _count_units(texts)
    unit = units.most_common(1)[0][0] if units else ""
    count = sum(units[same] for same in _same_currency(unit))
    if 10 * count < 9 * len(texts) or (not unit and not 0 < brackets < count):
        return None
    return unit


def different_units(texts: Sequence[str]) -> list[str]:
    """Return the units of amounts in several units, the most frequent first; an empty list for other texts.

    At least nine in ten texts must be amounts. The unit of an amount without one is "".

    Examples
    --------
    >>> different_units(["$5", "7 €", "$6"]), different_units(["7 €", "8"]), different_units(["7 €", "EUR 8"])
    (['$', '€'], ['€', ''], [])
    """
    units = [unit for unit, _ in _count_units(texts)[0].most_common()]
    return units if len({_same_currency(unit) for unit in units}) > 1 else []


def parse_amounts(
    array: pa.Array, missing: tuple[str, ...], unit: str, parse: Callable[..., tuple[np.ndarray, list[int]]]
) -> tuple[np.ndarray, list[int]]:
    """Return amounts as numbers, and the rows that are not amounts in this unit.

    ``parse`` parses the texts after the unit is removed. An array that already holds numbers is passed to it directly.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parse_amounts(pa.array(["60.92 EUR", "7", None, "-1 EUR"]), (), "EUR", parse_numbers)
    (array([60.92,   nan,   nan, -1.  ]), [1])
    """
    if is_number_type(array.type):
        return parse(array, missing)
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing))
    plain = without_unit(texts, unit)
    values, bad = parse(plain, missing)
    return values, sorted({*bad, *np.setdiff1d(null_rows(plain), null_rows(texts)).tolist()})


def amount_without_unit(text: str, unit: str) -> str | None:
    """Return one amount without its unit, as `without_unit` does; None if it does not have this unit.

    >>> amount_without_unit("($7)", "$"), amount_without_unit("7", "$")
    ('-7', None)
    """
    text = re.sub(r"\A\(([^()+-]+)\)\Z", r"-\1", text.replace("\u2212", "-"))
    if not unit:
        return text
    sign, other = _unit_patterns(unit)
    if re.fullmatch(f"[+-]?{sign}{other}|{other}{sign}", text) is None:
        return None
    return re.sub(f"{sign}\\Z", "", re.sub(rf"\A([+-]?){sign}", r"\1", text))


def _unit_patterns(unit: str) -> tuple[str, str]:
    """Return the patterns of a unit, or another of the same currency, and of text without any of them."""
    units = _same_currency(unit)
    sign = "|".join(map(re.escape, units))
    return f"[{_SPACES}]*(?:{sign})[{_SPACES}]*", f"[^{re.escape(''.join(units))}]+"


def without_unit(texts: pa.Array, unit: str) -> pa.Array:
    """Remove the unit from texts, and replace parentheses by a minus sign; texts that lack the unit become null.

    Another unit of the same currency is removed, too.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_unit(pa.array(["60,92 €", "EUR 7", "$7"]), "€").to_pylist()
    ['60,92', '7', None]
    >>> without_unit(pa.array(["$1,234.50", "($7)", "-$7", "7", None]), "$").to_pylist()
    ['1,234.50', '-7', '-7', None, None]
    """
    pa, pc = import_arrow(), import_arrow(".compute")
    replace = pc.replace_substring_regex
    texts = replace(texts, "\u2212", "-")
    texts = replace(texts, r"^\(([^()+-]+)\)$", r"-\1")
    if not unit:
        return texts
    sign, other = _unit_patterns(unit)
    known = pc.match_substring_regex(texts, f"^(?:[+-]?{sign}{other}|{other}{sign})$")
    plain = replace(replace(texts, rf"^([+-]?){sign}", r"\1"), f"{sign}$", "")
    return pc.if_else(known, plain, pa.nulls(1, pa.string())[0])
