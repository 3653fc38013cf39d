"""Rows as lists of column numbers and values, judged one number after the other by a slow twin."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.point_sets import some
from rosenblatt.kernels.parsing.bytes import MAX_COLUMNS, NOT_FINITE, OUT_OF_RANGE, UNSORTED, VALID, check_rows

COLUMNS = [-(2**31), -1, 0, 1, 2, 3, MAX_COLUMNS - 1, MAX_COLUMNS]
VALUES = [0.0, -1.5, math.inf, -math.inf, math.nan, 1.7976931348623157e308, 5e-324]


def naive(rows):
    """What each row is, and the largest column number of those that are sound."""
    judged, highest = [], -1
    for row in rows:
        found = VALID
        for k, (j, v) in enumerate(row):
            if not 0 <= j < MAX_COLUMNS:
                found = OUT_OF_RANGE
            elif k and j <= row[k - 1][0]:
                found = UNSORTED
            elif not math.isfinite(v):
                found = NOT_FINITE
            if found != VALID:
                break
        judged.append(found)
        if found == VALID:
            highest = max([highest, *(j for j, _ in row)])
    return judged, highest


def judge(rows, dtype=np.float64, wide=np.int32):
    entries = [entry for row in rows for entry in row]
    indptr = np.cumsum([0, *map(len, rows)]).astype(wide)
    judged = np.full(len(rows), 99, np.int8)
    indices, values = np.array([j for j, _ in entries], np.int32), np.array([v for _, v in entries], dtype)
    highest = check_rows(indptr, indices, values, judged)
    return judged.tolist(), highest


entry = st.tuples(st.sampled_from(COLUMNS), st.sampled_from(VALUES))
good = st.dictionaries(st.integers(0, 9), st.sampled_from(VALUES[:2])).map(lambda row: sorted(row.items()))


@some
@given(st.lists(good | st.lists(entry, max_size=4), max_size=8))
def test_equals_its_twin(rows):
    assert judge(rows) == naive(rows)
    assert judge(rows, wide=np.int64) == naive(rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_fault(dtype):
    faults = {
        OUT_OF_RANGE: ([(MAX_COLUMNS, 1.0)], [(-1, 1.0)]),
        UNSORTED: ([(1, 1.0), (1, 1.0)], [(1, 1.0), (0, 1.0)]),
        NOT_FINITE: ([(0, math.nan)], [(0, -math.inf)], [(1, math.nan), (0, 1.0)]),
        VALID: ([], [(0, 1.0)], [(MAX_COLUMNS - 1, 1.0)]),
    }
    for fault, rows in faults.items():
        for row in rows:
            highest = row[-1][0] if row and fault == VALID else -1
            assert judge([row], dtype) == ([fault], highest)
            assert judge([[(5, 1.0)], row, [(2, 0.0)]], dtype) == ([VALID, fault, VALID], max(5, highest))


def test_the_largest_float32_is_finite():
    assert judge([[(0, np.finfo(np.float32).max)]], np.float32) == ([VALID], 0)
