"""Columns that look like ids: they tell rows apart, and say nothing about rows that are yet to come."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.data.tables.arrow_arrays import import_arrow
from rosenblatt.data.tables.arrow_values import parse_numbers
from rosenblatt.parameters import shorten

if TYPE_CHECKING:
    import pyarrow as pa

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
