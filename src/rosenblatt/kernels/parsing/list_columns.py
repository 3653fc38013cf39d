"""Checks of rows given as lists of column numbers and values."""

from __future__ import annotations

from rosenblatt.kernels.compiler import kernel

MAX_COLUMNS = 2**31 - 1
VALID, OUT_OF_RANGE, UNSORTED, NOT_FINITE = range(4)
"""Results: valid, a column number out of range, columns that do not ascend, a value that is not finite."""


@kernel
def check_rows(indptr, indices, values, results):
    """Write a result for each row of a CSR matrix; return the largest column number of valid rows, -1 for none."""
    highest = -1
    for i in range(results.shape[0]):
        found, last = VALID, -1
        for p in range(indptr[i], indptr[i + 1]):
            j, v = indices[p], values[p]
            if j < 0 or j >= MAX_COLUMNS:
                found = OUT_OF_RANGE
                break
            if j <= last:
                found = UNSORTED
                break
            if v - v != 0.0:
                found = NOT_FINITE
                break
            last = j
        results[i] = found
        if found == VALID and last > highest:
            highest = last
    return highest
