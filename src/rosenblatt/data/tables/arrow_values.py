"""Arrow arrays as numbers, booleans, strings and labels, and the rows where they are something else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rosenblatt.data.tables.arrow_arrays import (
    as_numpy,
    import_arrow,
    is_number_type,
    null_rows,
    numbers_to_arrow,
    replace_nulls,
    strings_to_arrow,
)
from rosenblatt.parameters import Phrase, shorten

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_NUMBERS = ("", "?", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "null", "NULL", "None")
"""What stands for a missing number in text."""
_LIKE_A_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf(inity)?|nan(\([0-9a-z_]*\))?))$"
"""What Arrow takes for a number."""
BOOLEANS = ("false", "False", "FALSE", "true", "True", "TRUE")
"""What stands for a boolean in text."""
_LARGEST_INTEGER = 2.0**53
_LONGEST_LABEL = 1000
"""Characters: an array of labels takes as much memory for each as for the longest."""

Reason: TypeAlias = tuple[Phrase, ...]
"""What is wrong with a row, without a full stop."""


class WayOut(str):
    """A part of a reason that says what to do, so that rows at fault need not be left out."""


def no_advice(text: str) -> Reason:
    """Return nothing to do about a text."""
    return ()


class Faults(dict[int, Reason]):
    """From the number of a row, of ``n``, to what is wrong with it; the first reason counts."""

    def __init__(self, n: int) -> None:
        self.sound = np.ones(n, np.bool_)
        """Whether each row is not at fault."""

    def add(self, rows: Sequence[int] | np.ndarray, reason: Reason) -> None:
        """Add a reason for each of ``rows``."""
        places = np.asarray(rows, np.int64)
        new = places[self.sound[places]]  # at once, as a row may be at fault in each of very many columns
        self.sound[new] = False
        self.update(dict.fromkeys(new.tolist(), reason))

    def add_unexpected(
        self,
        rows: Iterable[int],
        array: pa.Array,
        name: str,
        expected: Reason,
        advice: Callable[[str], Reason] = no_advice,
    ) -> None:
        """Add for each of ``rows`` that its cell holds something else than expected, and an advice about its text."""
        if not is_number_type(array.type):
            array = array.cast(import_arrow().string())  # Python has no dates after the year 9999
        for row in rows:
            value = array[row].as_py()
            text = plain_text(value) if isinstance(value, float) else str(value)
            found = "nothing" if value is None else shorten(text)
            self.add([row], (f"column {name!r} holds {found}, expected ", *expected, *advice(text.strip())))


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
        numbers, no_numbers = strings_to_numbers(strings_to_arrow(missing))
        for number in np.delete(numbers, no_numbers):
            values = np.where(values == number, np.nan, values)
    return values, bad


def _floats(array: pa.Array, missing: tuple[str, ...]) -> tuple[np.ndarray, list[int]]:
    pa = import_arrow()
    if pa.types.is_decimal(array.type):
        return strings_to_numbers(array.cast(pa.string()))
    if not is_number_type(array.type):
        return strings_to_numbers(parse_strings(array, (*MISSING_NUMBERS, *missing)))
    return replace_nulls(array, to_floats(as_numpy(array)), np.nan), []


def to_floats(numbers: np.ndarray) -> np.ndarray:
    """Return numbers as the nearest float64, without a copy if they are that."""
    with np.errstate(invalid="ignore"):  # NaN of float16 that is signalling
        return numbers.astype(np.float64, copy=False)


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
        numbers = texts.cast(pa.float64())
        return replace_nulls(numbers, as_numpy(numbers), np.nan), []
    except pa.ArrowInvalid:
        pass
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
    """Return booleans, or words for them, as 0 and 1, NaN where one is missing, and rows with something else."""
    pa, pc = import_arrow(), import_arrow(".compute")
    if pa.types.is_boolean(array.type):
        return parse_numbers(array, missing)
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing))
    codes = pc.index_in(texts, strings_to_arrow(BOOLEANS))
    values = (as_numpy(codes) >= BOOLEANS.index("true")).astype(np.float64)
    return replace_nulls(codes, values, np.nan), np.setdiff1d(null_rows(codes), null_rows(texts)).tolist()


def parse_strings(array: pa.Array, missing: tuple[str, ...]) -> pa.Array:
    """Return an array as strings without blanks around them, null where nothing is left or a value is missing."""
    pa, pc = import_arrow(), import_arrow(".compute")
    if is_number_type(array.type):
        values = array.to_pylist()
        return strings_to_arrow([None if value is None or value != value else plain_text(value) for value in values])
    texts = pc.utf8_trim_whitespace(array.cast(pa.string()))
    gone = pc.is_in(texts, strings_to_arrow(["", *missing]))
    return pc.if_else(gone, pa.nulls(1, pa.string())[0], texts)


def parse_labels(array: pa.Array, target: dict[str, str], missing: tuple[str, ...], faults: Faults) -> np.ndarray:
    """Return the labels; rows without a label, or with one of another kind, are added to ``faults``."""
    name, kind = target["name"], target["kind"]
    no_label = (f"column {name!r} has no value, expected a label",)
    if kind == "text":
        texts = parse_strings(array, missing)
        faults.add(null_rows(texts), no_label)
        labels = [text or "" for text in texts.to_pylist()]
        for row in [k for k, label in enumerate(labels) if len(label) > _LONGEST_LABEL]:
            what = f"column {name!r} holds a text of {len(labels[row])} characters"
            faults.add([row], (f"{what}, expected a label of at most {_LONGEST_LABEL}",))
            labels[row] = ""
        return np.array(labels, dtype=np.str_)
    read, expected = (parse_booleans, "true or false") if kind == "boolean" else (parse_numbers, "a number")
    values, bad = read(array, missing)
    if kind == "integer":
        expected = "an integer, as the first labels are"
        bad += np.flatnonzero((values != np.rint(values)) & np.isfinite(values)).tolist()
    bad += np.flatnonzero(np.isinf(values) | (np.abs(values) > _LARGEST_INTEGER)).tolist()
    faults.add_unexpected(bad, array, name, (expected + " (the label)",))
    faults.add(np.flatnonzero(np.isnan(values)), no_label)
    values = np.where(np.abs(values) <= _LARGEST_INTEGER, values, 0.0)
    return values.astype({"integer": np.int64, "boolean": np.bool_, "number": np.float64}[kind])
