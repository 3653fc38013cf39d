"""Dates and times as numbers: days since 1970-01-01, with the time of day as a fraction."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.data.tables.arrow_arrays import as_numpy, import_arrow, null_rows, replace_nulls
from rosenblatt.data.tables.arrow_values import MISSING_NUMBERS, parse_strings
from rosenblatt.data.tables.date_orders import to_iso

if TYPE_CHECKING:
    import pyarrow as pa

ISO_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?\s?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?)?"
)
"""A date as ISO 8601 writes it, with or without a time and an offset."""
_FIRST_YEAR = -719_162
"""The day when the year 1 begins: Python's calendar has none before."""
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_SECONDS = 86_400
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def parse_dates(array: pa.Array, missing: tuple[str, ...], order: str = "") -> tuple[np.ndarray, list[int]]:
    """Return dates as days since 1970-01-01, NaN where one is missing, and the rows with something else.

    The year comes first in texts, as ISO 8601 has it or with other signs between, or last where an ``order`` is given.

    The whole days and the share of the day are each a nearest float64, and so is their sum: what that leaves out is
    less than a microsecond for dates of our time. Times are those of UTC, also where no offset is given. Durations are
    days too, and times of day are a share of a day.

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
    """Return how many days so many units are: the whole days and the rest of a day, each rounded, and their sum."""
    per_day = _SECONDS * _PER_SECOND[unit]
    whole, rest = np.divmod(counts, per_day)
    return whole + rest / per_day


def _days_at_once(texts: pa.Array) -> np.ndarray | None:
    """Return the days of dates that Arrow reads as we do: all with an offset, or all without; None for others."""
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
    """Return the days of one date, NaN if it is none."""
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
        days = datetime.date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return np.nan
    whole, rest = divmod(seconds, _SECONDS)
    return (days + whole) + float(rest / _SECONDS)
