"""Some of many, evenly chosen."""

import numpy as np
import pytest

from rosenblatt.messages import evenly_spaced


@pytest.mark.parametrize(
    ("n", "most", "expected"), [(0, 3, []), (5, 5, [0, 1, 2, 3, 4]), (10, 2, [0, 9]), (10, 1, [9]), (3, 0, [])]
)
def test_some_are_evenly_spaced(n, most, expected):
    assert evenly_spaced(n, most) == expected


def test_there_are_as_many_as_wanted_with_the_first_and_the_last_and_even_gaps():
    for n in range(2, 60):
        for most in range(2, n + 1):
            chosen = evenly_spaced(n, most)
            assert (len(chosen), chosen[0], chosen[-1]) == (most, 0, n - 1)
            gaps = np.diff(chosen)
            assert gaps.min() >= 1
            assert gaps.max() - gaps.min() <= 1
