"""Arrow arrays as numbers, truth values, strings and labels, and the rows where they are something else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rosenblatt.data.tables.reader import arrow

__all__ = [
    "MISSING_NUMBERS",
    "blame",
    "labels_of",
    "not_expected",
    "numbers_of",
    "parsed",
    "plain_text",
    "texts_of",
    "truths_of",
]

MISSING_NUMBERS = ("", "?", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "null", "NULL", "None")
"""What stands for a missing number in text."""
_LIKE_A_NUMBER = "^[+-]?[0-9.nNiI]"
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")

Faults = dict[int, str]
"""From the number of a row to what is wrong with it."""


def plain_text(value: Any) -> str:
    """Return a number or a truth value as a category: whole numbers have no point.

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


def numbers_of(array: Any, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    """Return an Arrow array as the nearest float64, NaN where a value is missing, and the rows with something else."""
    values, bad = _floats(array, missing)
    for number in _numbers(missing):
        values = np.where(values == number, np.nan, values)
    return values, bad


def _numbers(words: tuple[str, ...]) -> list[float]:
    """Return those of the words for missing values that are numbers."""
    if not words:
        return []
    values, bad = parsed(arrow().array(words, arrow().string()))
    return [value for k, value in enumerate(values.tolist()) if k not in bad]


def _floats(array: Any, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    pa, pc = arrow(), arrow(".compute")
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan), []
    if pa.types.is_decimal(kind):
        return parsed(array.cast(pa.string()))
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return parsed(texts_of(array, (*MISSING_NUMBERS, *missing)))
    if array.null_count and pa.types.is_integer(array.type):
        gaps = array.is_null().to_numpy(zero_copy_only=False)
        return np.where(gaps, np.nan, array.fill_null(0).to_numpy().astype(np.float64)), []
    if array.null_count:
        array = pc.fill_null(array.cast(pa.float64()), np.nan)
    return array.to_numpy(zero_copy_only=False).astype(np.float64, copy=False), []


def parsed(texts: Any) -> tuple[np.ndarray, list[int]]:
    """Return strings as the nearest float64, NaN for null, and the rows where that cannot be done.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parsed(pa.array(["1", "x", None, "3e2"]))
    (array([  1.,  nan,  nan, 300.]), [1])
    """
    pa, pc = arrow(), arrow(".compute")
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


def truths_of(array: Any, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    """Return truth values, or words for them, as 0 and 1, NaN where one is missing, and rows with something else."""
    pa, pc = arrow(), arrow(".compute")
    if pa.types.is_boolean(array.type):
        return numbers_of(array, missing)
    texts = texts_of(array, (*MISSING_NUMBERS, *missing))
    codes = pc.index_in(texts, pa.array([*FALSE, *TRUE]))
    known = codes.fill_null(-1).to_numpy()
    gaps = texts.is_null().to_numpy(zero_copy_only=False)
    values = np.where(known < 0, np.nan, (known >= len(FALSE)).astype(np.float64))
    return values, np.flatnonzero((known < 0) & ~gaps).tolist()


def texts_of(array: Any, missing: tuple[str, ...]) -> Any:
    """Return an array as strings without blanks around them, null where nothing is left or a value is missing."""
    pa, pc = arrow(), arrow(".compute")
    kind = array.type
    if pa.types.is_null(kind):
        return pa.nulls(len(array), pa.string())
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = [None if value is None or value != value else plain_text(value) for value in array.to_pylist()]
        return pa.array(values, pa.string())
    texts = pc.utf8_trim_whitespace(array.cast(pa.string()))
    gone = pc.is_in(texts, pa.array(sorted({"", *missing})))
    return pc.if_else(gone, pa.scalar(None, pa.string()), texts)


def labels_of(array: Any, target: dict[str, Any], missing: tuple[str, ...], faults: Faults) -> np.ndarray:
    """Return the labels, and blame the rows that have none or one of another kind."""
    name, kind = target["name"], target["kind"]
    if kind == "text":
        texts = texts_of(array, missing)
        gaps = texts.is_null().to_numpy(zero_copy_only=False)
        blame(faults, np.flatnonzero(gaps).tolist(), lambda row: _no_label(name))
        return np.array(texts.fill_null("").to_pylist(), dtype=np.str_)
    read, expected = (truths_of, "true or false") if kind == "boolean" else (numbers_of, "a number")
    values, bad = read(array, missing)
    if kind == "integer":
        expected = "a whole number, as the first labels are"
        bad += np.flatnonzero((values != np.rint(values)) & np.isfinite(values)).tolist()
    bad += np.flatnonzero(np.isinf(values) | (np.abs(values) > 2.0**53)).tolist()
    blame(faults, bad, partial(not_expected, array, name, expected + " (the label)"))
    gaps = np.isnan(values)
    blame(faults, np.flatnonzero(gaps).tolist(), lambda row: _no_label(name))
    values = np.where(np.abs(values) <= 2.0**53, values, 0.0)
    return values.astype({"integer": np.int64, "boolean": np.bool_, "number": np.float64}[kind])


def blame(faults: Faults, rows: list[int], reason: Callable[[int], str]) -> None:
    """Say what is wrong with some rows, unless something else is already."""
    for row in rows:
        if row not in faults:
            faults[row] = reason(row)


def not_expected(array: Any, name: str, expected: str, row: int) -> str:
    """Return a sentence about a cell that holds something else than expected."""
    value = array[row].as_py()
    text = plain_text(value) if isinstance(value, float) else str(value)
    return f"column {name!r} holds {text[:40] + '...' if len(text) > 40 else text!r}, expected {expected}."


def _no_label(name: str) -> str:
    return f"column {name!r} has no value, expected a label."
