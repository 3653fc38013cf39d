"""Arrow arrays as numbers, booleans, strings and labels, and the rows where they are something else."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rosenblatt.parameters import Phrase, shorten

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_NUMBERS = ("", "?", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "null", "NULL", "None")
"""What stands for a missing number in text."""
_LIKE_A_NUMBER = "^[+-]?[0-9.nNiI]"
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_LARGEST_INTEGER = 2.0**53

Reason: TypeAlias = tuple[Phrase, ...]
"""What is wrong with a row, without a full stop."""
Faults: TypeAlias = dict[int, Reason]
"""From the number of a row to what is wrong with it."""


@cache
def import_arrow(module: str = "") -> Any:
    """Return pyarrow, or one of its modules: it is imported when a table is first read."""
    try:
        return import_module("pyarrow" + module)
    except ImportError:
        raise ImportError("reading tables needs pyarrow: pip install 'rosenblatt[files]'.") from None


def combine_chunks(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a chunked array as one array."""
    if not isinstance(array, import_arrow().ChunkedArray):
        return array
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()


def is_unsupported_type(type_: pa.DataType) -> bool:
    """Return whether values of this type are neither numbers, booleans, strings, dates nor null."""
    types = import_arrow().types
    binary = types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_)
    return types.is_nested(type_) or binary or "binary_view" in str(type_)


def as_numpy(array: pa.Array) -> np.ndarray:
    """Return an Arrow array of numbers without a copy; any number where it is null."""
    if import_arrow().types.is_null(array.type) or not len(array) or array.buffers()[1] is None:
        return np.zeros(len(array), array.type.to_pandas_dtype())
    kind = np.dtype(array.type.to_pandas_dtype())  # NumPy's type
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def null_rows(array: pa.Array) -> np.ndarray:
    """Return the rows where an Arrow array has no value."""
    if not array.null_count:
        return np.empty(0, np.int64)
    return np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))


def plain_text(value: str | float | np.bool_) -> str:
    """Return a number or a boolean as a category: integers have no point.

    Examples
    --------
    >>> plain_text(2.0), plain_text(0.5), plain_text(True)
    ('2', '0.5', 'true')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


def parse_numbers(array: pa.Array, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    """Return an Arrow array as the nearest float64, NaN where a value is missing, and the rows with something else."""
    values, bad = _floats(array, missing)
    if missing:
        pa = import_arrow()
        numbers, no_numbers = strings_to_numbers(pa.array(missing, pa.string()))
        for number in np.delete(numbers, no_numbers):
            values = np.where(values == number, np.nan, values)
    return values, bad


def _floats(array: pa.Array, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    pa, pc = import_arrow(), import_arrow(".compute")
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan), []
    if pa.types.is_decimal(kind):
        return strings_to_numbers(array.cast(pa.string()))
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return strings_to_numbers(parse_strings(array, (*MISSING_NUMBERS, *missing)))
    if array.null_count and pa.types.is_integer(array.type):
        gaps = array.is_null().to_numpy(zero_copy_only=False)
        return np.where(gaps, np.nan, array.fill_null(0).to_numpy().astype(np.float64)), []
    if array.null_count:
        array = pc.fill_null(array.cast(pa.float64()), np.nan)
    return array.to_numpy(zero_copy_only=False).astype(np.float64, copy=False), []


def strings_to_numbers(texts: pa.Array) -> tuple[np.ndarray, list[int]]:
    """Return strings as the nearest float64, NaN for null, and the rows that are no numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> strings_to_numbers(pa.array(["1", "x", None, "3e2"]))
    (array([  1.,  nan,  nan, 300.]), [1])
    """
    pa, pc = import_arrow(), import_arrow(".compute")
    try:
        return pc.fill_null(texts.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False), []
    except pa.ArrowInvalid:
        pass
    coded = texts.dictionary_encode()
    words = coded.dictionary
    waiting = [np.flatnonzero(pc.match_substring_regex(words, _LIKE_A_NUMBER).to_numpy(zero_copy_only=False))]
    values, good = np.full(len(words) + 1, np.nan), np.zeros(len(words) + 1, bool)
    good[-1] = True  # for null
    while waiting:
        part = waiting.pop()
        try:
            values[part] = words.take(pa.array(part)).cast(pa.float64()).to_numpy()
            good[part] = True
        except pa.ArrowInvalid:
            if len(part) > 1:
                waiting += np.array_split(part, 2)
    codes = coded.indices.fill_null(len(words)).to_numpy()
    return values[codes], np.flatnonzero(~good[codes]).tolist()


def parse_booleans(array: pa.Array, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    """Return booleans, or words for them, as 0 and 1, NaN where one is missing, and rows with something else."""
    pa, pc = import_arrow(), import_arrow(".compute")
    if pa.types.is_boolean(array.type):
        return parse_numbers(array, missing)
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing))
    codes = pc.index_in(texts, pa.array([*FALSE, *TRUE]))
    known = codes.fill_null(-1).to_numpy()
    gaps = texts.is_null().to_numpy(zero_copy_only=False)
    values = np.where(known < 0, np.nan, (known >= len(FALSE)).astype(np.float64))
    return values, np.flatnonzero((known < 0) & ~gaps).tolist()


def parse_strings(array: pa.Array, missing: tuple[str, ...]) -> pa.Array:
    """Return an array as strings without blanks around them, null where nothing is left or a value is missing."""
    pa, pc = import_arrow(), import_arrow(".compute")
    kind = array.type
    if pa.types.is_null(kind):
        return pa.nulls(len(array), pa.string())
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = [None if value is None or value != value else plain_text(value) for value in array.to_pylist()]
        return pa.array(values, pa.string())
    texts = pc.utf8_trim_whitespace(array.cast(pa.string()))
    gone = pc.is_in(texts, pa.array(sorted({"", *missing})))
    return pc.if_else(gone, pa.scalar(None, pa.string()), texts)


def parse_labels(array: pa.Array, target: dict[str, str], missing: tuple[str, ...], faults: Faults) -> np.ndarray:
    """Return the labels; rows without a label, or with one of another kind, are added to ``faults``."""
    name, kind = target["name"], target["kind"]
    no_label = (f"column {name!r} has no value, expected a label",)
    if kind == "text":
        texts = parse_strings(array, missing)
        add_fault(faults, null_rows(texts), no_label)
        return np.array(texts.fill_null("").to_pylist(), dtype=np.str_)
    read, expected = (parse_booleans, "true or false") if kind == "boolean" else (parse_numbers, "a number")
    values, bad = read(array, missing)
    if kind == "integer":
        expected = "an integer, as the first labels are"
        bad += np.flatnonzero((values != np.rint(values)) & np.isfinite(values)).tolist()
    bad += np.flatnonzero(np.isinf(values) | (np.abs(values) > _LARGEST_INTEGER)).tolist()
    add_unexpected(faults, bad, array, name, (expected + " (the label)",))
    add_fault(faults, np.flatnonzero(np.isnan(values)), no_label)
    values = np.where(np.abs(values) <= _LARGEST_INTEGER, values, 0.0)
    return values.astype({"integer": np.int64, "boolean": np.bool_, "number": np.float64}[kind])


def add_fault(faults: Faults, rows: Iterable[int], reason: Reason) -> None:
    """Add a reason for each of ``rows``, unless it has one."""
    for row in rows:
        faults.setdefault(int(row), reason)


def add_unexpected(faults: Faults, rows: Iterable[int], array: pa.Array, name: str, expected: Reason) -> None:
    """Add for each of ``rows`` that its cell holds something else than expected."""
    for row in rows:
        value = array[row].as_py()
        text = plain_text(value) if isinstance(value, float) else str(value)
        add_fault(faults, [row], (f"column {name!r} holds {shorten(text)}, expected ", *expected))
