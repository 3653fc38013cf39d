"""Sort the entries of a row by column."""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.parts import helper

_1 = np.uint64(1)


@helper
def sort_by_column(keys, n, bits, counts):
    """Sort the first ``n`` keys by column, stably, and return the place of the smallest, which is 0 or ``n``.

    keys: the upper 32 bits are the column, below ``2**bits``. The array has room for ``2 * n`` keys. counts: 2048
    words of scratch space.
    """
    # LSD radix sort: a stable counting sort by ``step`` bits of the column at a time, the lowest first. Invariant:
    # after each turn the keys from ``here`` on are sorted by the bits seen so far, and keys with equal bits are in
    # their first order.
    step = 6
    while step < 11 and n >> step > 1:
        step += 1
    turns = (bits + step - 1) // step
    step = (bits + turns - 1) // turns  # as many turns of fewer bits, which count in smaller tables
    low = np.uint64((1 << step) - 1)
    here, there = np.uint64(0), np.uint64(n)  # unsigned: no test for a negative index
    for turn in range(turns):
        shift = np.uint64(32 + turn * step)
        for c in range(1 << step):
            counts[c] = 0
        for k in range(n):
            counts[(keys[here + np.uint64(k)] >> shift) & low] += _1
        place = there
        for c in range(1 << step):
            place += counts[c]
            counts[c] = place - counts[c]
        for k in range(n):
            key = keys[here + np.uint64(k)]
            c = (key >> shift) & low
            keys[counts[c]] = key
            counts[c] += _1
        here, there = there, here
    return here
