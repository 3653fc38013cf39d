"""What the first rows show about one column: gaps, different values, their range, a small histogram."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.data.tables.arrow_arrays import import_arrow
from rosenblatt.data.tables.arrow_values import MISSING_NUMBERS, parse_strings, plain_text
from rosenblatt.data.tables.column_kinds import PARSERS
from rosenblatt.data.tables.date_orders import order_of
from rosenblatt.data.tables.dates import parse_dates
from rosenblatt.parameters import show_text

if TYPE_CHECKING:
    import pyarrow as pa

_BARS = "▁▂▃▄▅▆▇█"
_BINS = 8
_MOST_SHOWN = 3
"""Values that are shown with their counts."""
_LONGEST_VALUE = 20
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_LAST_DAY = datetime.date.max.toordinal() - _EPOCH
_FEWEST_ROWS = 20
"""Rows that it takes to say that a column tells the target."""


class ColumnProfile(NamedTuple):
    """What the first rows show about one column."""

    missing: int
    distinct: int
    range: str
    histogram: str
    codes: np.ndarray
    """For each row the number of its value, in ascending order for numbers; -1 where it is missing."""
    largest_share: float
    """The share of the commonest value among those that are not missing."""
    integers: bool
    """Whether all values are integers."""


def profile(array: pa.Array, kind: str, missing: tuple[str, ...]) -> ColumnProfile:
    """Return what a column of this kind shows; values that are not of the kind count as missing."""
    if kind == "date":
        return _numbers(_days(array, missing), kind)
    if kind in PARSERS and kind != "boolean":
        return _numbers(PARSERS[kind](array, missing)[0], kind)
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing) if kind == "boolean" else missing).to_pylist()
    numbers = {text: k for k, text in enumerate(dict.fromkeys(text for text in texts if text is not None))}
    codes = np.array([-1 if text is None else numbers[text] for text in texts], np.int64)
    counts = Counter(text for text in texts if text is not None)
    total = max(1, sum(counts.values()))
    if kind == "text":
        words = np.array([len(text.split()) for text in texts if text is not None], np.float64)
        range_, bars = _range(words, " words" if words.max(initial=0.0) > 1.0 else " word"), histogram(words)
    else:
        range_, bars = show_counts(counts), draw(sorted(counts.values(), reverse=True)[:_BINS])
    most = max(counts.values(), default=0) / total
    return ColumnProfile(len(texts) - sum(counts.values()), len(counts), range_, bars, codes, most, False)


def _days(array: pa.Array, missing: tuple[str, ...]) -> np.ndarray:
    if import_arrow().types.is_temporal(array.type):
        return parse_dates(array, missing)[0]
    texts = parse_strings(array, (*MISSING_NUMBERS, *missing))
    return parse_dates(texts, missing, order_of(text for text in texts.to_pylist() if text is not None).order)[0]


def _numbers(values: np.ndarray, kind: str) -> ColumnProfile:
    there = np.isfinite(values)
    different, places = np.unique(values[there], return_inverse=True)
    codes = np.full(len(values), -1, np.int64)
    codes[there] = places
    most = np.bincount(places).max(initial=0) / max(1, len(places))
    range_ = _date_range(different) if kind == "date" else _range(different)
    integers = bool((different == np.rint(different)).all())
    missing = len(values) - len(places)
    return ColumnProfile(missing, len(different), range_, histogram(values[there]), codes, float(most), integers)


def _range(values: np.ndarray, unit: str = "") -> str:
    if not len(values):
        return ""
    low, high = _short(values.min()), _short(values.max())
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def _short(value: float) -> str:
    return plain_text(float(value)) if value == np.rint(value) and abs(value) < 1e9 else f"{value:.4g}"


def _date_range(days: np.ndarray) -> str:
    if not len(days) or days[0] < 1 - _EPOCH or days[-1] > _LAST_DAY:
        return _range(days, " days")
    first, last = (datetime.date.fromordinal(_EPOCH + int(np.floor(day))) for day in (days[0], days[-1]))
    return f"{first}" if first == last else f"{first} to {last}"


def show_counts(counts: Counter[str]) -> str:
    """Return the commonest values with their counts.

    Examples
    --------
    >>> show_counts(Counter("mississippi"))
    'i: 4, s: 4, p: 2, ...'
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{show_text(value, _LONGEST_VALUE)}: {count:,}" for value, count in ordered[:_MOST_SHOWN]]
    return ", ".join([*shown, *(["..."] if len(ordered) > _MOST_SHOWN else [])])


def histogram(values: np.ndarray) -> str:
    """Return how many values lie in each eighth of their range, as bars.

    Examples
    --------
    >>> histogram(np.array([0.0, 0.0, 0.0, 1.0, 8.0]))
    '█▃▁▁▁▁▁▃'
    """
    if not len(values):
        return ""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return "█"
    if high - low == np.inf:
        return histogram(values / 2.0)
    places = (values - low) / (high - low) * _BINS
    return draw(np.bincount(np.minimum(places.astype(np.int64), _BINS - 1), minlength=_BINS).tolist())


def draw(counts: Sequence[int]) -> str:
    """Return counts as bars, the highest for the largest count; one that is not 0 is not the lowest bar."""
    most = max(counts, default=0)
    return "".join(_BARS[0 if not n else max(1, round(n / most * (len(_BARS) - 1)))] for n in counts)


def tells_target(column: ColumnProfile, labels: np.ndarray, ordered: bool) -> bool:
    """Return whether a column alone tells the label of every row, whose numbers are ``labels``.

    It does if each of its values occurs with one label only, while values repeat; or if it is ``ordered`` and one
    threshold separates two labels.
    """
    codes, classes = column.codes, int(labels.max(initial=-1)) + 1
    if len(codes) < _FEWEST_ROWS or classes < 2 or column.distinct < 2 or (codes < 0).any() or (labels < 0).any():
        return False
    if 2 * column.distinct <= len(codes) and len(np.unique(codes * classes + labels)) == column.distinct:
        return True
    if not ordered or classes != 2:
        return False
    first, second = codes[labels == 0], codes[labels == 1]
    return bool(first.max() < second.min() or second.max() < first.min())
