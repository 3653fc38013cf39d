"""Numbers in text with other separators than a point: 3,14 and 1.234,56, or 1,234.56."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.data.tables.arrow_arrays import as_numpy, import_arrow, is_number_type, null_rows
from rosenblatt.data.tables.arrow_values import (
    MISSING_NUMBERS,
    Reason,
    WayOut,
    parse_numbers,
    parse_strings,
    strings_to_numbers,
)

if TYPE_CHECKING:
    import pyarrow as pa

_BETWEEN = (" ", "\u00a0", "\u202f", "'", "\u2019")
"""What may stand between thousands in either kind: blanks, also those that do not break, and apostrophes."""


def _pattern(thousands: str, point: str) -> str:
    groups = "|".join(f"(?:{re.escape(mark)}[0-9]{{3}})+" for mark in (thousands, *_BETWEEN))
    return rf"[+-]?(?:[1-9][0-9]{{0,2}}(?:{groups})|[0-9]+)(?:{re.escape(point)}[0-9]+)?(?:[eE][+-]?[0-9]+)?"


_PATTERNS = {"decimal-comma": _pattern(".", ","), "thousands-comma": _pattern(",", ".")}
SEPARATED = tuple(_PATTERNS)
"""The kinds of columns whose numbers have other separators."""
_MATCHERS = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}
_COMMA = re.compile(r"[+-]?([0-9]+),([0-9]+)")
_MARKS = {"decimal-comma": ".", "thousands-comma": ","}
"""What stands between thousands, besides blanks and apostrophes."""


def parse_separated(array: pa.Array, missing: tuple[str, ...], kind: str) -> tuple[np.ndarray, list[int]]:
    """Return numbers with separators as the nearest float64, NaN where one is missing, and rows with something else.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.array(["3,14", "1.234,5", "1 234", "7", None, "1,2,3"])
    >>> parse_separated(texts, (), "decimal-comma")
    (array([   3.14, 1234.5 , 1234.  ,    7.  ,     nan,     nan]), [5])
    >>> parse_separated(pa.array(["1,234.5", "12,345"]), (), "thousands-comma")
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
    bad = np.flatnonzero(~as_numpy(known.fill_null(True)))
    return values, np.setdiff1d(bad, null_rows(texts)).tolist()


def kinds_of_separated(texts: list[str]) -> list[str]:
    """Return the kinds that all of these texts may be numbers of, none if no separator occurs in them.

    Examples
    --------
    >>> kinds_of_separated(["3,14", "2"]), kinds_of_separated(["1,234"]), kinds_of_separated(["314"])
    (['decimal-comma'], ['decimal-comma', 'thousands-comma'], [])
    >>> kinds_of_separated(["2.816.587", "435.348"])
    ['decimal-comma']
    """
    if not any(text.count(".") > 1 or any(mark in text for mark in (",", *_BETWEEN)) for text in texts):
        return []
    found = [kind for kind, pattern in _MATCHERS.items() if all(map(pattern.fullmatch, texts))]
    if len(found) == 2 and not any("," in text for text in texts):
        return ["thousands-comma"]  # either way the same numbers
    return found


def comma_advice(text: str) -> Reason:
    """Return what to do about a text that is a number but for its comma; nothing for other texts.

    Examples
    --------
    >>> comma_advice("27,1"), comma_advice("1,234"), comma_advice("some")
    ((', and it looks like a decimal comma: write 27.1',), (', and it has a comma: write 1.234 or 1234',), ())
    """
    match = _COMMA.fullmatch(text)
    if match is None:
        return ()
    if len(match[2]) == 3 and len(match[1]) <= 3:
        return (WayOut(f", and it has a comma: write {text.replace(',', '.')} or {text.replace(',', '')}"),)
    return (WayOut(f", and it looks like a decimal comma: write {text.replace(',', '.')}"),)
