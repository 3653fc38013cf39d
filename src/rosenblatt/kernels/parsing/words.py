"""Hash the words of texts, or the characters inside them, into the columns of a CSR matrix of counts.

A word has at least two characters, each of which is a letter, a digit or an underscore. A token is an n-gram of words,
joined by spaces, or of the characters of a part between whitespace, which gets a space at each end; or a whole text.
"""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parsing.bytes import address_of, byte, word
from rosenblatt.kernels.parsing.murmur import murmur_after
from rosenblatt.kernels.parsing.radix_sort import sort_by_column
from rosenblatt.kernels.parts import helper, inlined

MOST_CHARACTERS = 1 << 18
"""The table of characters ends here; no character beyond is part of a word, whitespace, or has a lower case."""
WIDTH, WORD, SPACE, IN_CONTEXT = 32, 35, 36, 37
"""The places of fields in an entry of the table of characters.

The 32 bits below ``WIDTH`` are the UTF-8 code of the character, in lower case if that is asked for, with its first byte
lowest. The three bits from ``WIDTH`` on are the number of its bytes. The others are single bits: whether the character
is part of words, whether it is whitespace, and whether its lower case is longer or depends on its neighbours.
"""
WORDS, CHARACTERS, WHOLE = range(3)
"""The kinds of tokens."""
DONE, NEEDS_LOWER, NEEDS_SPACE = range(3)
"""Results: all texts are hashed; they must be in lower case beforehand; or there are more names than space for them."""

_BLANK = b" "[0]
_LOW_HALF = np.uint64(0xFFFFFFFF)
_0, _1, _3, _7, _8, _32, _255 = (np.uint64(n) for n in (0, 1, 3, 7, 8, 32, 255))
_WIDTH = np.uint64(WIDTH)
_IS_WORD, _IS_SPACE, _IS_IN_CONTEXT = (np.uint64(1 << place) for place in (WORD, SPACE, IN_CONTEXT))
_SIGN, _ALL = np.uint64(1 << 31), np.uint64(1 << 32)
_FEW = 24
"""The number of keys up to which they are sorted by insertion."""


@helper
def _beyond_ascii(place, end, table):
    """Return the entry of the character at ``place``, which is not ASCII, and the place after it."""
    c = byte(place)
    size = 2 + (c >= 0xE0) + (c >= 0xF0)
    if place + size > end:
        return _0, end  # the text is not valid UTF-8
    code = c & (0xFF >> (size + 1))
    raw = np.uint64(c)
    for k in range(1, size):
        c = byte(place + k)
        code = (code << 6) | (c & 0x3F)
        raw |= np.uint64(c) << np.uint64(8 * k)
    if code >= MOST_CHARACTERS:
        return raw | (np.uint64(size) << _WIDTH), place + size
    return word(table + 8 * code), place + size


@inlined
def _written(letters, n, entry):
    """Write the code of a character at ``letters[n]``; return the place after it."""
    size = np.int64((entry >> _WIDTH) & _7)
    for k in range(size):
        letters[n + k] = (entry >> np.uint64(8 * k)) & _255
    return n + size


@helper
def _cut_words(place, end, table, letters, cuts):
    """Copy the words between two places to ``letters``, with a space after each; return how many there are.

    Word i is then ``letters[cuts[i] : cuts[i + 1] - 1]``. If lower case depends on context somewhere, return -1.
    """
    n = words = 0
    cuts[0] = 0
    while place < end:
        first, characters = n, 0
        while place < end:  # one word; nothing if there is none at this place
            c = byte(place)
            if c < 0x80:
                entry = word(table + 8 * c)
                place += 1
                if entry & _IS_WORD == _0:
                    break
                letters[n] = entry & _255
                n += 1
            else:
                entry, place = _beyond_ascii(place, end, table)
                if entry & _IS_IN_CONTEXT != _0:
                    return -1
                if entry & _IS_WORD == _0:
                    break
                n = _written(letters, n, entry)
            characters += 1
        if characters > 1:
            letters[n] = _BLANK
            n += 1
            words += 1
            cuts[words] = n
        else:
            n = first
    return words


@helper
def _cut_part(place, end, table, letters, cuts):
    """Copy the next part between whitespace to ``letters``, with a space at each end.

    Return its number of characters, with the spaces, and the place after it. Character i begins at
    ``letters[cuts[i]]``. The number is 0 if there is no part before ``end``, and -1 if lower case depends on context.
    """
    n, characters = 1, 1
    letters[0], cuts[0], cuts[1] = _BLANK, 0, 1
    while place < end:
        entry, after = _0, place + 1
        c = byte(place)
        if c < 0x80:
            entry = word(table + 8 * c)
        else:
            entry, after = _beyond_ascii(place, end, table)
            if entry & _IS_IN_CONTEXT != _0:
                return -1, place
        place = after
        if entry & _IS_SPACE == _0:
            n = _written(letters, n, entry)
            characters += 1
            cuts[characters] = n
        elif characters > 1:
            break
    if characters == 1:
        return 0, place
    letters[n] = _BLANK
    cuts[characters + 1] = n + 1
    return characters + 1, place


@helper
def _copied(place, end, letters, cuts):
    """Copy the bytes between two places to ``letters``, as one token."""
    for k in range(end - place):
        letters[k] = byte(place + k)
    cuts[0], cuts[1] = 0, end - place


@helper
def _merged(keys, n, bits, counts):
    """Sort the first ``n`` keys by column, add up the counts of equal columns, and return the number of columns.

    keys: the upper 32 bits are the column, below 2**bits, and the lower 32 are the count, modulo 2**32. The keys fill
    at most half of the array; the other half is scratch space. counts: 2048 words of scratch space.
    """
    here = _0
    if n <= _FEW:
        for k in range(1, n):  # insertion sort
            key, i = keys[k], k
            while i > 0 and keys[i - 1] > key:
                keys[i] = keys[i - 1]
                i -= 1
            keys[i] = key
    else:
        here = sort_by_column(keys, n, bits, counts)
    last, previous, total = -1, _ALL, _0
    for k in range(n):  # invariant: the keys up to ``last`` are merged from the sorted keys before k
        key = keys[here + np.uint64(k)]
        if key >> _32 != previous:
            previous, total = key >> _32, _0
            last += 1
        total = (total + key) & _LOW_HALF
        keys[last] = (previous << _32) | total
    return last + 1


@inlined
def _slot_of(column, found, slots):
    """Return the slot of a column in the hash table, or the free slot where it belongs."""
    mask = slots.shape[0] - 1
    slot = column & mask
    while slots[slot] >= 0 and found[slots[slot], 0] != column:
        slot = (slot + 1) & mask
    return slot


@kernel
def hash_texts(text, spans, table, tokens, before, columns, rows, names, scratch):
    """Count the tokens of each text by their hash; return a result, and how much of ``names`` is filled.

    The columns of each row ascend. If the result is not ``DONE``, the arrays hold nothing of use.

    text: the bytes of all texts, UTF-8. spans: ``(starts, ends)`` of the texts. table: the address of the table of
    characters. tokens: ``(least, most, kind)``, the smallest and the largest number of words in an n-gram, or of
    ``CHARACTERS``; both are 1 for the kind ``WHOLE``. before: what is hashed before each token, as ``murmur_after``
    has it. columns: ``(n, bits, signed)``: there are n columns, at most ``2**bits``, and a token counts -1 instead of 1
    if ``signed`` and its hash is negative. rows: ``(indptr, indices, counts)`` to fill.

    names: ``(found, spelled, slots)``. Each column that occurs gets a row of ``found``: the column, the first text that
    has it, and the end of its first token in ``spelled``. ``slots`` is a hash table of these rows, filled with -1; its
    size is a power of two and above the number of rows. If there are no rows, no names are stored.

    scratch: ``(letters, cuts, keys, counts)``. ``letters`` and ``cuts`` have space for any text in lower case, followed
    by ``PAD`` bytes. Half of ``keys`` has space for the tokens of any text, or for two keys for each column. For the
    rest see ``_merged``.
    """
    starts, ends = spans
    least, most, kind = tokens
    n_columns, bits, signed = columns
    indptr, indices, values = rows
    found, spelled, slots = names
    letters, cuts, keys, counts = scratch
    start, begin = address_of(text), address_of(letters)
    half = keys.shape[0] // 2
    divisor = np.uint64(n_columns)
    mask = divisor - _1 if n_columns & (n_columns - 1) == 0 else _0
    entries = n_names = n_spelled = 0
    indptr[0] = 0
    for row in range(starts.shape[0]):
        place, end, n_keys = start + starts[row], start + ends[row], 0
        while place < end:  # the words of the text at once, or one part in each turn
            if kind == CHARACTERS:
                n, place = _cut_part(place, end, table, letters, cuts)
            elif kind == WORDS:
                n, place = _cut_words(place, end, table, letters, cuts), end
            else:
                _copied(place, end, letters, cuts)
                n, place = 1, end
            if n < 0:
                return NEEDS_LOWER, n_names, n_spelled
            for size in range(least, most + 1):
                shown = size
                if kind == CHARACTERS and size >= n > 0:
                    shown = n  # a part that is too short counts once
                for i in range(n - shown + 1):
                    first, last = cuts[i], cuts[i + shown]
                    if kind == WORDS:
                        last -= 1  # without the space after it
                    h = murmur_after(before, begin + first, begin + last)
                    one = _1
                    if h >= _SIGN:
                        h = _ALL - h
                        if signed:
                            one = _LOW_HALF
                    column = h & mask if mask > _0 else h % divisor
                    if n_keys == half:
                        n_keys = _merged(keys, n_keys, bits, counts)
                    keys[n_keys] = (column << _32) | one
                    n_keys += 1
                    if found.shape[0] > 0:
                        slot = _slot_of(np.int64(column), found, slots)
                        if slots[slot] < 0:
                            if n_names == found.shape[0] or n_spelled + last - first > spelled.shape[0]:
                                return NEEDS_SPACE, n_names, n_spelled
                            for k in range(first, last):
                                spelled[n_spelled] = letters[k]
                                n_spelled += 1
                            slots[slot] = n_names
                            found[n_names, 0], found[n_names, 1], found[n_names, 2] = np.int64(column), row, n_spelled
                            n_names += 1
                if kind == CHARACTERS and size >= n:
                    break
        n_keys = _merged(keys, n_keys, bits, counts)
        for k in range(n_keys):
            indices[entries + k] = np.int64(keys[k] >> _32)
            count = np.int64(keys[k] & _LOW_HALF)
            values[entries + k] = count if count < 1 << 31 else count - (1 << 32)
        entries += n_keys
        indptr[row + 1] = entries
    return DONE, n_names, n_spelled
