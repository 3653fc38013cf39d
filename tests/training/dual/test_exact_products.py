"""Dot products and distances in integers, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rosenblatt.training.dual.exact_signs import exact_distances, exact_dots, exact_squared_distances

finite = st.one_of(st.sampled_from([0.0, -0.0, 1.0, -2.0, 0.1]), st.floats(allow_nan=False, allow_infinity=False))
shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=4)


@settings(max_examples=200, deadline=None)
@given(hnp.arrays(np.float64, shapes, elements=finite), hnp.arrays(np.float64, st.integers(0, 5), elements=finite))
@pytest.mark.parametrize(
    ("exact", "of_a_column"),
    [
        (exact_dots, lambda a, b: a * b),
        (exact_squared_distances, lambda a, b: (a - b) ** 2),
        (exact_distances, lambda a, b: abs(a - b)),
    ],
)
def test_they_are_those_of_fractions(exact, of_a_column, X, x):
    wide = np.zeros((len(X) + 1, max(X.shape[1], len(x))))
    wide[:-1, : X.shape[1]], wide[-1, : len(x)] = X, x
    whole = [[Fraction(value) for value in row] for row in wide.tolist()]
    expected = [sum(map(of_a_column, row, whole[-1]), Fraction(0)) for row in whole[:-1]]
    for rows in (X, sp.csr_array(X)):
        for row in (x, sp.csr_array(x[None])):
            above, below = exact(rows, row)
            assert [Fraction(value, below) for value in above] == expected
            assert below & (below - 1) == 0
            assert below == 1 or any(value % 2 for value in above), "they must have no common factor"
