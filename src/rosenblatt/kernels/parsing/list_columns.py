"""Rows that come as lists of column numbers and values: are they sound?"""

from __future__ import annotations

from rosenblatt.kernels.compiler import kernel

MOST_COLUMNS = 2**31 - 1
SOUND, OUTSIDE, UNSORTED, NOT_FINITE = range(4)
"""What a row is: as it should be; or with a column number that cannot be, columns that do not ascend, a value that is
no finite number."""


@kernel
def judge_lists(indptr, indices, values, judged):
    """Write to ``judged`` what each row of a CSR matrix is, and return the largest column number, -1 for none."""
    highest = -1
    for i in range(judged.shape[0]):
        found, last = SOUND, -1
        for p in range(indptr[i], indptr[i + 1]):
            j, v = indices[p], values[p]
            if j < 0 or j >= MOST_COLUMNS:
                found = OUTSIDE
                break
            if j <= last:
                found = UNSORTED
                break
            if v - v != 0.0:
                found = NOT_FINITE
                break
            last = j
        judged[i] = found
        if found == SOUND and last > highest:
            highest = last
    return highest
