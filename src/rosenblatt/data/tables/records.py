"""Encoding of dictionaries as rows, one at a time and in plain Python, with exactly the results of `Encoder`."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import EXACT_BELOW
from rosenblatt.data.preparation import is_hashed
from rosenblatt.data.source import ColumnEntry, Preparation
from rosenblatt.data.tables.column_kinds import Parser, parser_of
from rosenblatt.data.tables.encoder import Hasher
from rosenblatt.data.tables.frames import Unreadable, column_of
from rosenblatt.data.tables.values import (
    BOOLEANS,
    DAYS_BEFORE_EPOCH,
    MISSING_NUMBERS,
    NUMBER_FORMATS,
    amount_without_unit,
    find_missing_numbers,
    parse_strings,
    plain_number,
    plain_text,
)
from rosenblatt.hashing import Texts
from rosenblatt.scaling import ColumnScale

_NUMBER = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")
"""Texts that Python and Arrow read as the same number, and that are neither too large for float64 nor too small."""
_DATE = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,6}))?)?)?"
)
_DAY = 86_400 * 10**6
"""A day in microseconds."""


class Unusual(Exception):
    """Raised for a value that only the batch parser of its column can read."""


class Row(NamedTuple):
    """A sparse row: its column indices in increasing order, and the value in each. All other columns are 0."""

    columns: list[int]
    values: list[float]
    unseen: list[tuple[str, str]]
    """Pairs (column, category) of the categories that have no feature."""


ReadNumber: TypeAlias = Callable[[Any], float]
ReadText: TypeAlias = Callable[[Any], str | None]


class _NumberColumn(NamedTuple):
    """A column with one number per row; NaN is a missing value."""

    name: str
    read: ReadNumber
    parser: Parser
    fill: float
    feature: int
    centre: float
    spread: float
    is_plain: bool
    """Whether all numbers are used as they are: without units or formats, and none stands for a missing value."""


class _CategoryColumn(NamedTuple):
    name: str
    features: dict[str, int]
    """The index of the feature of each category."""


class RecordEncoder:
    """Encode dictionaries as rows. A dictionary takes tens of microseconds, a table of one row about a thousand.

    Parameters
    ----------
    preparation : dict
        The preparation of a table with columns, with its scale.

    Examples
    --------
    >>> from rosenblatt import data
    >>> people = [{"age": 20, "city": "Bern", "y": "no"}, {"age": 40, "city": "Rome", "y": "yes"}]
    >>> stream = data.open(people * 9, "y", scale="standard")
    >>> RecordEncoder(stream.preparation).encode({"city": "Rome", "age": "35"})
    Row(columns=[0, 2], values=[0.5, 1.0], unseen=[])
    """

    def __init__(self, preparation: Preparation) -> None:
        self._missing = tuple(preparation["missing_values"])
        self._fills = preparation["missing"] != "error"
        plain = [column for column in preparation["columns"] if not is_hashed(column)]
        self._hashed = [column for column in preparation["columns"] if is_hashed(column)]
        self._hasher = Hasher.of(preparation)
        self.is_sparse = preparation["sparse"] or bool(self._hashed)
        """Whether `Encoder` makes sparse rows, which store no zeros except in columns that are centred."""
        features = [len(column["categories"]) if column["kind"] == "category" else 1 for column in plain]
        self._width = sum(features)
        centre, spread = np.zeros(self._width), np.ones(self._width)
        if preparation.get("scale") is not None:
            centre, spread = ColumnScale.from_plain(preparation["scale"]).full(self._width)
        self._columns: list[_NumberColumn | _CategoryColumn] = []
        feature = 0
        for column, n in zip(plain, features, strict=True):
            if column["kind"] == "category":
                pairs = list(zip(column["categories"], range(feature, feature + n), strict=True))
                self._columns.append(_CategoryColumn(column["name"], dict(reversed(pairs))))
            else:
                read, fill = _reader_of(column, self._missing), column.get("fill") or 0.0
                scale = float(centre[feature]), float(spread[feature])
                plain_numbers = column["kind"] == "number" and column.get("unit") is None
                is_plain = plain_numbers and not find_missing_numbers(self._missing)
                parser = parser_of(column)
                self._columns.append(_NumberColumn(column["name"], read, parser, fill, feature, *scale, is_plain))
            feature += n

    def encode(self, record: Mapping[str, Any]) -> Row | None:
        """Return the row of a record; None if it has to be read as a table, which may raise an error."""
        found = Row([], [], [])
        try:
            for column in self._columns:
                if isinstance(column, _CategoryColumn):
                    text = self._text(record[column.name])
                    feature = None if text is None else column.features.get(text)
                    if feature is not None:
                        found.columns.append(feature)
                        found.values.append(1.0)
                    elif text is not None:
                        found.unseen.append((column.name, text))
                    continue
                x = self._number(record[column.name], column)
                if x != 0.0 or column.centre != 0.0 or not self.is_sparse:
                    scaled = (x - column.centre) / column.spread
                    if not math.isfinite(scaled):
                        return None
                    found.columns.append(column.feature)
                    found.values.append(scaled)
            if self._hasher is not None:
                words = self._words(record)
                found.columns.extend(self._width + column for column in words.indices.tolist())
                found.values.extend(words.data.tolist())
        except (Unusual, Unreadable, KeyError, UnicodeEncodeError):
            return None
        return found

    def encode_many(self, records: Sequence[Mapping[str, Any]]) -> list[Row] | None:
        """Return the rows of records as `encode` would, column by column and so much faster, but without ``unseen``.

        Return None if there are other values than plain numbers and strings.
        """
        if self._hasher is not None or not self._columns:
            return None
        features = np.full((len(records), len(self._columns)), -1)
        values = np.ones(features.shape)
        try:
            for place, column in enumerate(self._columns):
                given = [record[column.name] for record in records]
                kinds = set(map(type, given))
                if isinstance(column, _CategoryColumn):
                    found = self._category_features(column, given) if kinds == {str} else None
                    if found is None:
                        return None
                    features[:, place] = found
                    continue
                if not column.is_plain or not kinds <= {int, float}:
                    return None
                x = np.array(given, np.float64)
                with np.errstate(over="ignore", invalid="ignore"):
                    scaled = (x - column.centre) / column.spread
                if not np.isfinite(scaled).all() or (int in kinds and (np.abs(x) >= EXACT_BELOW).any()):
                    return None
                values[:, place] = scaled
                features[:, place] = column.feature
                if self.is_sparse and column.centre == 0.0:
                    features[x == 0.0, place] = -1
        except (KeyError, OverflowError, UnicodeEncodeError):
            return None
        stored = features >= 0
        columns, numbers = features[stored].tolist(), values[stored].tolist()
        ends = [0, *np.cumsum(stored.sum(axis=1)).tolist()]
        return [Row(columns[start:stop], numbers[start:stop], []) for start, stop in pairwise(ends)]

    def _category_features(self, column: _CategoryColumn, given: list[str]) -> list[int] | None:
        """Return the feature of each category, -1 for those that have none; None if a value is missing."""
        texts = list(map(str.strip, given))
        if not all(texts) or not set(self._missing).isdisjoint(texts):
            return None
        "".join(texts).encode()  # raises an error for text that is not valid Unicode
        return [column.features.get(text, -1) for text in texts]

    def unseen(self, record: Mapping[str, Any]) -> list[str]:
        """Return the categories of a record that have no feature, such as "city=Oslo"."""
        listed = [column for column in self._columns if isinstance(column, _CategoryColumn)]
        texts = [(column, self._text(record[column.name])) for column in listed]
        return [f"{column.name}={text}" for column, text in texts if text is not None and text not in column.features]

    def _number(self, value: object, column: _NumberColumn) -> float:
        """Return the value of a column of numbers. Raise Unusual if it is infinite, or missing without a fill value."""
        try:
            x = column.read(value)
        except Unusual:
            numbers, bad = column.parser(column_of([value]).array, self._missing)
            if bad:
                raise
            x = float(numbers[0])
        if x != x:
            if not self._fills:
                raise Unusual
            return column.fill
        if math.isinf(x):
            raise Unusual
        return x

    def _text(self, value: object) -> str | None:
        """Return a value as the text of a category; None if it is missing. Raise Unusual if it must not be missing."""
        try:
            text = _read_text(value, self._missing)
        except Unusual:
            text = parse_strings(column_of([value]).array, self._missing).to_pylist()[0]
        if text is None and not self._fills:
            raise Unusual
        return text

    def _words(self, record: Mapping[str, Any]) -> sp.csr_array:
        """Return the values of the hashed features."""
        assert self._hasher is not None
        texts = {}
        for column in self._hashed:
            value = record[column["name"]]
            if column["kind"] == "category":
                text = self._text(value)
            else:
                try:
                    text = _read_text(value, self._missing)
                except Unusual:
                    text = parse_strings(column_of([value]).array, self._missing).to_pylist()[0]
            texts[column["name"]] = Texts.of_strings([text or ""])
        return self._hasher.rows(texts)[0]


# Values of the common types; for others, the readers raise Unusual.


def _known(value: Any) -> Any:
    """Return a value of a NumPy scalar type as a Python value."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufU" else value


def _reader_of(column: ColumnEntry, missing: tuple[str, ...]) -> ReadNumber:
    if (unit := column.get("unit")) is not None:
        plain = _reader_of({**column, "unit": None}, missing)
        return partial(_read_amount, words=frozenset(("", *MISSING_NUMBERS, *missing)), unit=unit, read=plain)
    kind, words = column["kind"], frozenset(("", *MISSING_NUMBERS, *missing))
    gone = frozenset(find_missing_numbers(missing))
    if kind == "number":
        return partial(_read_number, words=words, gone=gone)
    if kind == "boolean":
        return partial(_read_boolean, words=words, gone=gone)
    if kind in NUMBER_FORMATS:
        return partial(_read_formatted, words=words, gone=gone, kind=kind)
    if kind == "date":
        return partial(_read_date, words=words)
    return _read_nothing


def _read_nothing(value: object) -> float:
    raise Unusual


def _read_number(value: Any, words: frozenset[str], gone: frozenset[float]) -> float:
    """Return a number, as ``parse_numbers`` reads it."""
    kind = type(value)
    if kind is str:
        text = value.strip()
        if text in words:
            return math.nan
        if not _NUMBER.fullmatch(text):
            raise Unusual
        x = float(text)
    elif kind is float:
        x = value
    elif kind is bool or (kind is int and -EXACT_BELOW < value < EXACT_BELOW):
        x = float(value)
    elif value is None:
        return math.nan
    else:
        known = _known(value)
        if type(known) is kind:
            raise Unusual
        return _read_number(known, words, gone)
    return math.nan if x in gone else x


def _read_formatted(value: Any, words: frozenset[str], gone: frozenset[float], kind: str) -> float:
    """Return a number with commas or thousands separators, as ``parse_formatted`` reads it."""
    value = _known(value)
    if type(value) is not str:
        return _read_number(value, words, gone)
    text = value.strip()
    if text in words:
        return math.nan
    plain = plain_number(text, kind)
    if plain is None or not _NUMBER.fullmatch(plain):
        raise Unusual
    return float(plain)


def _read_amount(value: Any, words: frozenset[str], unit: str, read: ReadNumber) -> float:
    """Return the number of an amount in this unit, as ``parse_amounts`` reads it."""
    value = _known(value)
    if type(value) is not str:
        return read(value)
    text = value.strip()
    if text in words:
        return math.nan
    plain = amount_without_unit(text, unit)
    if plain is None:
        raise Unusual
    return read(plain)


def _read_boolean(value: Any, words: frozenset[str], gone: frozenset[float]) -> float:
    """Return a boolean as 0.0 or 1.0, as ``parse_booleans`` reads it."""
    value = _known(value)
    if type(value) is bool:
        x = float(value)
        return math.nan if x in gone else x
    if value is None or (type(value) is float and value != value):
        return math.nan
    if type(value) is not str:
        raise Unusual
    text = value.strip()
    if text in words:
        return math.nan
    if text not in BOOLEANS:
        raise Unusual
    return float(BOOLEANS.index(text) >= BOOLEANS.index("true"))


def _read_date(value: Any, words: frozenset[str]) -> float:
    """Return a date as days since 1970-01-01, as ``parse_dates`` reads it."""
    kind = type(value)
    if value is None or (kind is float and value != value):
        return math.nan
    if kind is datetime.date or kind is datetime.datetime:
        value = value.isoformat()
    elif kind is not str:
        raise Unusual
    text = value.strip()
    if text in words:
        return math.nan
    match = _DATE.fullmatch(text)
    if match is None:
        raise Unusual
    try:
        day = float(datetime.date.fromisoformat(match[1]).toordinal() - DAYS_BEFORE_EPOCH)
    except ValueError:
        raise Unusual from None
    if match[2] is None:
        return day
    seconds = 3600 * int(match[2]) + 60 * int(match[3]) + int(match[4] or 0)
    return day + (seconds * 10**6 + int((match[5] or "").ljust(6, "0"))) / _DAY


def _read_text(value: Any, missing: tuple[str, ...]) -> str | None:
    """Return a value as text, or None if it is missing, as ``parse_strings`` does."""
    value = _known(value)
    kind = type(value)
    if kind is str:
        if not value.isascii():
            value.encode()  # raises an error for text that is not valid Unicode
        text = value.strip()
        return None if not text or text in missing else text
    if value is None or (kind is float and value != value):
        return None
    if kind is float or kind is bool or (kind is int and -EXACT_BELOW < value < EXACT_BELOW):
        return plain_text(value)
    raise Unusual
