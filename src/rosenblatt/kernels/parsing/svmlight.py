"""Parse lines of svmlight text into rows of a CSR matrix.

    line     = [label features] ["#" comment] newline
    label    = number
    features = {blank} ["qid:" digits] {blank index ":" number}
    index    = digits, ascending
    blank    = " " | tab | carriage return

A text is a buffer of bytes whose lines all end in a newline, followed by ``PAD`` bytes. Parsing stops at the first line
that is invalid, that needs more space in the arrays, or that contains numbers which only Python's float can read. That
line counts as unread, and ``PROGRESS`` records its position. So the caller can provide what is missing and call again.
"""

from __future__ import annotations

import math
import re

import numpy as np

from rosenblatt.kernels.compiler import SETTING, kernel
from rosenblatt.kernels.parsing.bytes import (
    MALFORMED,
    UNDECIDED,
    address_of,
    any_number,
    byte,
    leading_digits,
    number,
    number_of,
    word,
)
from rosenblatt.kernels.parts import at, helper, inlined

DONE, NEED_SPACE, NEED_VALUES = 0, 1, 2
"""Why parsing stopped: the text ended; the arrays are full; the values of undecided numbers are needed."""
BAD_LABEL, NO_LABEL, BAD_INDEX, INDEX_RANGE, INDEX_ORDER, BAD_VALUE, TOO_LARGE, LARGE_LABEL = range(10, 18)
"""The other reasons why parsing stopped: errors in a line."""

PROGRESS = np.dtype(
    [
        ("place", "i8"),  # where the next line begins, counted from the start of the text
        ("lines", "i8"),  # lines read, blank ones included
        ("rows", "i8"),  # rows read
        ("entries", "i8"),  # entries of these rows
        ("highest", "i8"),  # largest column number
        ("fault", "i8"),  # where the error is, counted from the start of the text
        ("seen", "i8"),  # undecided numbers in this line so far
        ("resolved", "i8"),  # undecided numbers of this line for which the caller has provided the value
        ("names", "i8"),  # feature names found
    ]
)

NEWLINE, HASH, COLON, BAR = b"\n#:|"
IS_BLANK, IS_NEWLINE, IS_HASH, IS_COLON, IS_BAR = 1, 2, 4, 8, 16
KINDS = np.zeros(256, np.uint8)
"""The kind of separator of each byte value; 0 if the byte is not a separator."""
KINDS[list(b" \t\r")] = IS_BLANK
KINDS[[NEWLINE, HASH, COLON, BAR]] = IS_NEWLINE, IS_HASH, IS_COLON, IS_BAR

EXACT_BELOW = 2.0**53
"""An integer below this in absolute value is a float64 number, and no other integer is rounded to this number."""
_ENDS_NUMBER = IS_BLANK | IS_NEWLINE | IS_HASH
_QID, _FOUR_BYTES = np.uint64(int.from_bytes(b"qid:", "little")), np.uint64(0xFFFFFFFF)
_TENS = np.array([10**k for k in range(9)])


@inlined
def next_word(place):
    """Return the first place from ``place`` on that is not a blank."""
    while at(KINDS, byte(place)) == IS_BLANK:
        place += 1
    return place


@helper
def _line_end(place):
    """Return the place of the first newline from ``place`` on."""
    while byte(place) != NEWLINE:
        place += 1
    return place


@helper
def _integer(place):
    """Return the integer at ``place``, or 2**62 if it has more than 16 digits, and the place after it."""
    index, end, n = 0, place, 8
    while n == 8:  # invariant: ``index`` has the digits from ``place`` to ``end``
        digits, n = leading_digits(end)
        if n > 0:
            index = index * _TENS[n] + np.int64(number_of(digits, n)) if end - place <= 8 else 2**62
        end += n
    return index, end


@helper
def slow_value(slow, progress, place):
    """Return the value of an undecided number at ``place`` if the caller has provided it, or 1 if not.

    ``slow`` is ``(places, values)`` for the undecided numbers of one line, in order; places are counted from the start
    of the text. Places are stored while there is space. The caller then fills in the values and parses the line again.
    """
    places, values = slow
    seen = progress[0]["seen"]
    progress[0]["seen"] += 1
    if seen < progress[0]["resolved"]:
        return values[seen]
    if seen < places.shape[0]:
        places[seen] = place
    return 1.0


@kernel
def parse_lines(text, stop, columns, unlabelled, rows, slow, progress):
    """Read the lines of svmlight text up to ``text[stop]``; return why parsing stopped.

    An index out of range or an infinite value is an error. So is a line without a label, or with a label that may have
    been rounded to another one, unless ``unlabelled`` is true; then a missing label is NaN. Blank lines and lines with
    only a comment are not rows.

    text: the buffer; ``text[stop - 1]`` is a newline. columns: the smallest and the largest index allowed; the smallest
    is column 0. rows: ``(labels, indptr, indices, values)`` to fill, with ``indptr[0] = 0``. slow: see ``slow_value``.
    progress: an array with one ``PROGRESS`` record, from which parsing continues.
    """
    labels, indptr, indices, values = rows
    base, last_index = columns
    start = address_of(text)
    s = progress[0]
    place, last = start + s["place"], start + stop
    lines, row, entry, highest = s["lines"], s["rows"], s["entries"], s["highest"]
    code, fault = DONE, place
    # Invariant: ``row`` rows and ``entry`` entries are complete, and ``place`` is the start of a line. If a line stops
    # the parser, its entries are discarded.
    while place < last:
        line, first_entry = place, entry
        s["seen"] = 0
        place = next_word(place)
        if byte(place) == HASH:
            place = _line_end(place)
        if byte(place) == NEWLINE:
            place += 1
            lines += 1
            continue
        fault = place
        label, end, kind = any_number(place)
        if kind == UNDECIDED:
            label = slow_value(slow, progress, place - start)
        if kind == MALFORMED or at(KINDS, byte(end)) & _ENDS_NUMBER == 0:
            code = NO_LABEL if byte(end) == COLON else BAD_LABEL
            if unlabelled and code == NO_LABEL:
                code, label, end = DONE, math.nan, place
        elif math.isinf(label):
            code = TOO_LARGE
        elif abs(label) >= EXACT_BELOW and not unlabelled:
            code = LARGE_LABEL
        if code == DONE and row == labels.shape[0]:
            code = NEED_SPACE
        place, previous, may_have_query = end, base - 1, True
        while code == DONE:  # invariant: the features before ``place`` are stored, and ``previous`` is the last index
            place = next_word(place)
            if byte(place) == HASH:
                place = _line_end(place)
            if byte(place) == NEWLINE:
                break
            fault = place
            digits, n = leading_digits(place)
            end = place + n
            if 0 < n < 8:
                index = np.int64(number_of(digits, n))
            else:
                index, end = _integer(place)
            if end == place or byte(end) != COLON:
                code = BAD_INDEX
                if may_have_query and word(place) & _FOUR_BYTES == _QID:
                    _, end = _integer(place + 4)
                    if end > place + 4 and at(KINDS, byte(end)) & _ENDS_NUMBER != 0:
                        code, place = DONE, end
            elif index <= previous or index > last_index:
                code = INDEX_ORDER if base <= index <= last_index else INDEX_RANGE
            elif entry == indices.shape[0]:
                code = NEED_SPACE
            else:
                fault = end + 1
                value, place, kind = number(fault)
                if kind == UNDECIDED:
                    value = slow_value(slow, progress, fault - start)
                if kind == MALFORMED or at(KINDS, byte(place)) & _ENDS_NUMBER == 0:
                    code = BAD_VALUE
                elif math.isinf(value):
                    code = TOO_LARGE
                else:
                    indices[entry] = index - base
                    values[entry] = value
                    entry += 1
                    previous = index
            may_have_query = False
        if (
            code != NEED_SPACE and s["seen"] > s["resolved"]
        ):  # before any error, because an undecided number may precede it
            code = NEED_VALUES
        if code != DONE:
            place, entry = line, first_entry
            break
        labels[row] = label
        row += 1
        indptr[row] = entry
        highest = max(highest, previous - base)
        place += 1
        lines += 1
        s["resolved"] = 0
    s["place"], s["lines"], s["rows"], s["entries"] = place - start, lines, row, entry
    s["highest"], s["fault"] = highest, fault - start
    return code


# Python's own parser, for small files before the kernel is compiled: some five times as fast as the kernel interpreted.


_MOST_PLAIN = 1 << 20
"""The largest number of bytes that are read without the kernel."""
_NUMBER = rb"[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?+"
_PLAIN = re.compile(rb"(?:%b(?:[ \t\r]++\d{1,10}+:%b)*+[ \t\r]*+\n)*+" % (_NUMBER, _NUMBER))
"""Text of lines with a label each, without comments and queries."""


def parse_svmlight(text, stop, columns, unlabelled, rows, slow, progress):
    """Call ``parse_lines``. But if it is not compiled and the text is short and plain, do the same without it."""
    interpreted = parse_lines.compiled is None and SETTING != "always"
    code = None
    if interpreted and stop - progress[0]["place"] <= _MOST_PLAIN:
        code = _parse_plain(text, stop, columns, unlabelled, rows, progress)
    return parse_lines(text, stop, columns, unlabelled, rows, slow, progress) if code is None else code


def _parse_plain(text, stop, columns, unlabelled, rows, progress):
    """Do what ``parse_lines`` does; return DONE, NEED_SPACE, or None if the text has a fault or is not plain."""
    labels, indptr, indices, values = rows
    s = progress[0]
    row, entry, base = int(s["rows"]), int(s["entries"]), columns[0]
    plain = bytes(text[s["place"] : stop])
    if s["resolved"] or _PLAIN.fullmatch(plain) is None:
        return None
    lengths = np.array([line.count(b":") for line in plain.split(b"\n")[:-1]], np.int64)
    last, end = row + len(lengths), entry + int(lengths.sum())
    if last > len(labels) or end > len(indices):
        return NEED_SPACE
    numbers = np.array([float(word) for word in plain.replace(b":", b" ").split()])
    labelled = np.cumsum(2 * lengths + 1) - 2 * lengths - 1  # the places of the labels
    pairs = np.delete(numbers, labelled).reshape(-1, 2)
    found, starts = pairs[:, 0], np.cumsum(lengths) - lengths
    ascends = np.diff(found, prepend=base - 1.0) > 0
    ascends[starts[lengths > 0]] = True
    in_range = (found >= base) & (found <= columns[1])
    certain = np.isfinite(numbers).all() and (unlabelled or (np.abs(numbers[labelled]) < EXACT_BELOW).all())
    if not (certain and ascends.all() and in_range.all()):
        return None
    labels[row:last], indptr[row + 1 : last + 1] = numbers[labelled], entry + np.cumsum(lengths)
    indices[entry:end], values[entry:end] = found - base, pairs[:, 1]
    s["place"], s["lines"], s["rows"], s["entries"] = stop, s["lines"] + len(lengths), last, end
    s["highest"] = max(s["highest"], int(found.max(initial=base - 1)) - base)
    return DONE
