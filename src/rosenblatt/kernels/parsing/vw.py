"""Parse lines of Vowpal Wabbit text into rows of a CSR matrix, with vw's hash of feature names.

    line      = [label [importance [base]]] [tag] {"|" namespace} newline
    label     = number                            importance and base likewise
    tag       = "'" name, or a name right before the first "|"
    namespace = [name [":" number]] {blank feature}
    feature   = [name] [":" number]               (a name has no blank, ":" or "|")

The buffer, and how parsing stops and continues, are as in ``svmlight``. The column of a feature is the lowest ``bits``
bits of the hash of its name, seeded with the hash of the namespace's name. The hash of a name that consists of digits
is the number that they spell, plus the seed. All other names are hashed by MurmurHash3 (Appleby, 32 bits).
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parsing.bytes import (
    MALFORMED,
    UNDECIDED,
    address_of,
    any_number,
    byte,
    leading_digits,
    number,
    number_of,
)
from rosenblatt.kernels.parsing.murmur import murmur
from rosenblatt.kernels.parsing.radix_sort import sort_by_column
from rosenblatt.kernels.parsing.svmlight import (
    BAD_LABEL,
    BAD_VALUE,
    BAR,
    COLON,
    DONE,
    EXACT_BELOW,
    IS_BAR,
    IS_BLANK,
    IS_COLON,
    IS_NEWLINE,
    KINDS,
    LARGE_LABEL,
    NEED_SPACE,
    NEED_VALUES,
    NEWLINE,
    NO_LABEL,
    TOO_LARGE,
    next_word,
    slow_value,
)
from rosenblatt.kernels.parts import at, helper, inlined

NO_BAR, BAD_WEIGHT, BASE, BAD_NAMESPACE, SUM_TOO_LARGE = range(20, 25)
"""The errors in a line that can occur in this format but not in svmlight text."""

_ENDS_NUMBER = IS_BLANK | IS_NEWLINE | IS_BAR
_ENDS_NAME = IS_BLANK | IS_NEWLINE | IS_BAR | IS_COLON
_QUOTE, _ZERO, _NINE, _SPACE = b"'09 "
_LOW_HALF = np.uint64(0xFFFFFFFF)
_1, _10, _32 = (np.uint64(n) for n in (1, 10, 32))


@helper
def name_hash(place, end, seed):
    """Return vw's hash of the name from ``place`` up to ``end``, without blanks and control characters at its ends."""
    while end > place and byte(place) <= _SPACE:
        place += 1
    while end > place and byte(end - 1) <= _SPACE:
        end -= 1
    total = np.uint64(0)
    for i in range(place, end):
        c = byte(i)
        if c < _ZERO or c > _NINE:
            return murmur(place, end, seed)
        total = total * _10 + np.uint64(c - _ZERO)
    return total + seed


@inlined
def _end(place, separators):
    """Return the first place from ``place`` on that is one of the ``separators``."""
    while at(KINDS, byte(place)) & separators == 0:
        place += 1
    return place


@helper
def sum_duplicates(indices, values, first, last, bits, scratch):
    """Sort the entries ``first`` to ``last - 1`` by column and add up the values of equal columns; return the new end.

    scratch: ``(keys, copy, counts)``. ``keys`` has two 64-bit words for each entry, ``copy`` one value for each entry,
    and ``counts`` 2048 words.
    """
    keys, copy, counts = scratch
    n = last - first
    for k in range(n):
        keys[k] = (np.uint64(indices[first + k]) << _32) | np.uint64(k)
        copy[k] = values[first + k]
    here = sort_by_column(keys, n, bits, counts)  # stable: the values of a column are added in the order of the line
    last, previous, total = first, -1, 0.0
    for k in range(n):  # invariant: the entries before ``last`` are the sums over the sorted keys before k
        key = keys[here + np.uint64(k)]
        column, value = np.int64(key >> _32), copy[key & _LOW_HALF]
        if column != previous:
            last += 1
            previous, total = column, value
        else:
            total += value
        indices[last - 1], values[last - 1] = column, total
    return last


@kernel
def parse_vw(text, stop, bits, unlabelled, rows, names, scratch, slow, progress):
    """Read the lines of Vowpal Wabbit text up to ``text[stop]``; return why parsing stopped.

    A missing value is 1. Values are multiplied by the weight of the namespace. The hash of an empty name, as in
    ``:0.5``, is the number of such features before it in the namespace, plus the seed. Columns ascend in each row, and
    the values of features in the same column are added up. A word that touches the first bar is a tag, as in vw, and is
    skipped. A base (an initial prediction) must be 0. A line without a label is an error, unless ``unlabelled`` is
    true; then its label is NaN.

    text, stop, slow, progress: see ``parse_lines``. bits: there are 2**bits columns. rows: ``(labels, indptr,
    indices, values, weights)`` to fill. names: ``(seen, found)``. ``seen`` is 1 for each column whose name is known,
    and each new name fills a row of ``found``: the column, start and end of the namespace, start and end of the name.
    An empty name has the end -1, and as its start the number of empty names before it. If ``found`` has no rows, no
    names are stored. scratch: see ``sum_duplicates``.
    """
    labels, indptr, indices, values, weights = rows
    seen, found = names
    start = address_of(text)
    s = progress[0]
    place, last = start + s["place"], start + stop
    lines, row, entry, highest = s["lines"], s["rows"], s["entries"], s["highest"]
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    code, fault = DONE, place
    # Invariant: as in ``parse_lines``. If a line stops the parser, its names are discarded, too.
    while place < last:
        line, first_entry, first_name = place, entry, s["names"]
        s["seen"] = 0
        place = next_word(place)
        if byte(place) == NEWLINE:
            place += 1
            lines += 1
            continue
        fields, label, weight, first_word = 0, math.nan, 1.0, place
        while code == DONE and byte(place) != BAR:
            fault = place
            end = _end(place, _ENDS_NUMBER)
            if end == place:
                code = NO_BAR
            elif byte(place) == _QUOTE or byte(end) == BAR:
                end = next_word(end)
                if byte(end) != BAR:
                    code = NO_BAR if byte(end) == NEWLINE else BAD_LABEL
            else:
                value, after, kind = any_number(place)
                if kind == UNDECIDED:
                    value = slow_value(slow, progress, place - start)
                if kind == MALFORMED or after != end or fields == 3:
                    code = BAD_LABEL
                elif math.isinf(value):
                    code = TOO_LARGE
                elif fields == 0:
                    label = value
                    code = LARGE_LABEL if abs(value) >= EXACT_BELOW and not unlabelled else DONE
                elif fields == 1:
                    weight = value
                    code = BAD_WEIGHT if value < 0.0 else DONE
                else:
                    code = BASE if value != 0.0 else DONE
                fields += 1
            place = next_word(end)
        if code == DONE and fields == 0 and not unlabelled:
            code, fault = NO_LABEL, first_word
        if code == DONE and row == labels.shape[0]:
            code = NEED_SPACE
        ascending, previous = True, -1
        while code == DONE and byte(place) == BAR:
            fault = place
            space = place + 1
            space_end = _end(space, _ENDS_NAME)
            place = space_end
            seed, scale, empty = name_hash(space, space_end, np.uint64(0)), 1.0, 0
            if byte(place) == COLON:
                scale, place, kind = any_number(space_end + 1)
                if kind == UNDECIDED:
                    scale = slow_value(slow, progress, space_end + 1 - start)
                if space == space_end or kind == MALFORMED or at(KINDS, byte(place)) & _ENDS_NUMBER == 0:
                    code = BAD_NAMESPACE
            while code == DONE:
                place = next_word(place)
                if at(KINDS, byte(place)) & (IS_NEWLINE | IS_BAR) != 0:
                    break
                fault = place
                digits, n = leading_digits(place)
                end = place + n
                if 0 < n < 8 and at(KINDS, byte(end)) & _ENDS_NAME != 0:
                    column = number_of(digits, n) + seed
                else:
                    end = _end(place, _ENDS_NAME)
                    column = name_hash(place, end, seed)
                    if end == place:
                        column += np.uint64(empty)
                        empty += 1
                column = np.int64(column & mask)
                if s["names"] < found.shape[0] and seen[column] == 0:
                    seen[column] = 1
                    name = found[s["names"]]
                    name[0], name[1], name[2] = column, space - start, space_end - start
                    name[3] = place - start if end > place else empty - 1
                    name[4] = end - start if end > place else -1
                    s["names"] += 1
                value, place = scale, end
                if byte(end) == COLON:
                    fault = end + 1
                    value, place, kind = number(fault)
                    if kind == UNDECIDED:
                        value = slow_value(slow, progress, fault - start)
                    value *= scale
                    if kind == MALFORMED or at(KINDS, byte(place)) & _ENDS_NUMBER == 0:
                        code = BAD_VALUE
                if code == DONE and not math.isfinite(value):
                    code = TOO_LARGE
                elif code == DONE and entry == indices.shape[0]:
                    code = NEED_SPACE
                    if not ascending:  # a name that occurs many times in a long line needs only one entry
                        kept = sum_duplicates(indices, values, first_entry, entry, bits, scratch)
                        if 2 * (kept - first_entry) <= entry - first_entry:
                            code = DONE
                        entry = kept
                if code == DONE:
                    indices[entry] = column
                    values[entry] = value
                    entry += 1
                    ascending = ascending and column > previous
                    previous = column
        if code != NEED_SPACE and s["seen"] > s["resolved"]:
            code = NEED_VALUES
        if code == DONE and not ascending:
            entry = sum_duplicates(indices, values, first_entry, entry, bits, scratch)
            for k in range(first_entry, entry):
                if not math.isfinite(values[k]):
                    code, fault = SUM_TOO_LARGE, first_word
        if code != DONE:
            place, entry = line, first_entry
            for k in range(first_name, s["names"]):
                seen[found[k, 0]] = 0
            s["names"] = first_name
            break
        labels[row], weights[row] = label, weight
        row += 1
        indptr[row] = entry
        if entry > first_entry:
            highest = max(highest, np.int64(indices[entry - 1]))
        place += 1
        lines += 1
        s["resolved"] = 0
    s["place"], s["lines"], s["rows"], s["entries"] = place - start, lines, row, entry
    s["highest"], s["fault"] = highest, fault - start
    return code
