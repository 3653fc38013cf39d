"""Where the records of CSV text end: at line ends that are not inside quotes.

A quote opens a quoted part only at the start of a cell, or directly after the quote that closed one (a doubled quote);
elsewhere it is a character like any other. Lines end in a newline, a carriage return, or both, as in Arrow.
"""

from __future__ import annotations

from array import array

import numpy as np

_NEWLINE, _RETURN = b"\n\r"
_AT_ONCE = 1 << 16
"""Quotes that are looked at one by one as Python's integers, which take more memory than text."""


def line_count(data: bytes) -> int:
    """Return how many lines end in ``data``."""
    count = data.count(b"\n")
    return count + data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else count


def blank_lines(data: bytes) -> int:
    """Return the size of the blank lines that ``data`` begins with.

    Examples
    --------
    >>> blank_lines(b"\\n \\r\\n 1,2\\n")
    4
    """
    blank = data[: len(data) - len(data.lstrip())]
    return max(blank.rfind(b"\n"), blank.rfind(b"\r")) + 1


def whole_records(data: bytes, delimiter: str | None, quote: str) -> int:
    """Return the size of the whole records that ``data``, which ends with a line, begins with.

    Examples
    --------
    >>> whole_records(b'1,2\\n3,"a\\n', ",", '"')
    4
    """
    if not quote or quote.encode() not in data:
        return len(data)
    quotes = _quotes(data, delimiter, quote)
    if len(quotes) % 2 == 0:
        return len(data)
    for k in range(len(quotes) - 1, -1, -2):  # the places between quotes, from the last
        start = int(quotes[k - 1]) if k else 0
        end = max(data.rfind(b"\n", start, quotes[k]), data.rfind(b"\r", start, quotes[k]))
        if end >= 0:
            return end + 1
    return 0


def record_places(data: bytes, delimiter: str | None, quote: str) -> tuple[np.ndarray, np.ndarray]:
    """Return where each record begins, and how many lines come before it; empty lines are no records.

    Examples
    --------
    >>> record_places(b'1,2\\n\\n"a\\n\\nb",4\\n5,6\\n', ",", '"')
    (array([ 0,  5, 14]), array([0, 2, 5]))
    """
    text = np.frombuffer(data, np.uint8)
    ends = (text == _NEWLINE) | (text == _RETURN)
    ends[:-1] &= ~((text[:-1] == _RETURN) & (text[1:] == _NEWLINE))
    line_ends = np.flatnonzero(ends)
    quotes = _quotes(data, delimiter, quote) if quote else np.empty(0, np.int64)
    record_ends = line_ends[np.searchsorted(quotes, line_ends) % 2 == 0]
    starts = np.concatenate([[0], record_ends[:-1] + 1])
    empty = (record_ends == starts) | ((record_ends == starts + 1) & (text[starts] == _RETURN))
    return starts[~empty], np.searchsorted(line_ends, starts)[~empty]


def _quotes(data: bytes, delimiter: str | None, quote: str) -> np.ndarray:
    """Return the places of the quotes that open and close quoted parts, in turn."""
    text = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(text == ord(quote))
    before = text[quotes - 1]
    opens = (before == _NEWLINE) | (before == _RETURN) | (before == ord(delimiter or ",")) | (quotes == 0)
    if (opens | (before == ord(quote)))[::2].all():
        return quotes
    kept = array("q")
    for start in range(0, len(quotes), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        for place, may_open in zip(quotes[part].tolist(), opens[part].tolist(), strict=True):
            if len(kept) % 2 or may_open or (kept and kept[-1] == place - 1):
                kept.append(place)
    return np.array(kept, np.int64)
