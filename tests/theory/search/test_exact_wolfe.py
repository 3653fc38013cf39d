"""Gordan's alternative in whole numbers: a vector or weights, each of which proves itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.point_sets import some
from rosenblatt.theory.search.wolfe import IntegerRows, exact_search


class Rows:
    """Whole numbers of any size, which floats cannot always tell apart."""

    def __init__(self, rows):
        self.rows = rows
        self.width = len(rows[0])
        self.bits = max(1, max(abs(value) for row in rows for value in row).bit_length())

    def __getitem__(self, i):
        return self.rows[i]

    def near(self, v):
        Z = np.array(self.rows, dtype=float)
        return Z @ v, 1e-14 * (np.abs(Z) @ np.abs(v))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def holds(rows, answer):
    """Say whether the answer proves itself; one proof excludes the other."""
    found, weights = answer
    if weights is None:
        return all(dot(row, found) > 0 for row in rows)
    sums = [sum(weight * rows[i][j] for i, weight in zip(found, weights, strict=True)) for j in range(len(rows[0]))]
    return min(weights) > 0 and not any(sums) and len(weights) <= len(rows[0]) + 1


@some
@given(
    st.integers(1, 4).flatmap(lambda m: st.lists(st.lists(st.integers(-3, 3), min_size=m, max_size=m), min_size=1)),
    st.data(),
)
def test_small_numbers_with_many_ties(rows, data):
    start = data.draw(st.lists(st.integers(0, len(rows) - 1)), label="start")
    assert holds(rows, exact_search(Rows(rows), start))


@pytest.mark.parametrize("m", [2, 4, 8])
@pytest.mark.parametrize("tilt", [0, 1])
def test_numbers_that_floats_cannot_tell_apart(m, tilt):
    """The rows add up to zero, or miss it by 1 in 10^30."""
    rng = np.random.default_rng(m)
    rows = [[10**20 * value + 1 for value in rng.integers(-(10**9), 10**9, m).tolist()] for _ in range(m - 1)]
    rows.append([-sum(column) for column in zip(*rows, strict=True)])
    rows[-1][0] += tilt
    answer = exact_search(Rows(rows), range(m))
    assert (answer[1] is None) == (tilt == 1)
    assert holds(rows, answer)


@some
@given(
    st.lists(
        st.tuples(
            st.floats(-1e300, 1e300).map(lambda value: value if abs(value) > 1e-300 else 0.0),
            st.sampled_from([1.0, 0.1, -0.3, 2.0**-1074, 2.0**60]),
        ),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
def test_floats_become_whole_numbers_in_proportion(rows, data):
    X = np.array(rows)
    signs = np.array(data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=len(X), max_size=len(X))))
    for bias in (False, True):
        whole = IntegerRows(X, signs, bias)
        for i, (x, sign) in enumerate(zip(X.tolist(), signs.tolist(), strict=True)):
            z = [sign * value for value in x] + [sign] * bias
            units = [value.as_integer_ratio() for value in z]
            assert [above * 2**1100 // below for above, below in units] == [
                (value << 1100) >> -whole.low if whole.low < 0 else value << 1100 + whole.low for value in whole[i]
            ]
            assert max(abs(value) for value in whole[i]).bit_length() <= whole.bits


def test_too_much_work_is_not_begun():
    rows = [[1 << 60, 0], [-(1 << 60), 1], [0, -1]]
    assert exact_search(Rows(rows), range(3), most_work=50) is None
    assert holds(rows, exact_search(Rows(rows), range(3), most_work=100))
