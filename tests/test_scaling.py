import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from rosenblatt.messages import ParameterError
from rosenblatt.scaling import ColumnScale, ColumnSums

finite = st.floats(allow_nan=False, allow_infinity=False)
matrices = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=finite)


def is_nearest(got: float, exact_square: Fraction) -> bool:
    """Return whether no float is nearer to the root of a rational; the slow way, by the squares of midpoints."""
    below, above = math.nextafter(got, 0.0), math.nextafter(got, math.inf)
    low = (Fraction(below) + Fraction(got)) / 2
    high = (Fraction(above) + Fraction(got)) / 2 if math.isfinite(above) else Fraction(got) * 2
    return low**2 <= exact_square <= high**2


@settings(max_examples=200, deadline=None)
@given(matrices)
def test_means_and_deviations_are_the_exact_ones_rounded_once(X):
    sums = ColumnSums("standard")
    sums.add(X)
    n = len(X)
    for column, mean, deviation in zip(X.T, sums.means(), sums.deviations(), strict=True):
        values = [Fraction(x) for x in column.tolist()]
        exact = sum(values) / n
        assert mean == float(exact)
        variance = sum((value - exact) ** 2 for value in values) / n
        assert (deviation == 0.0) == (variance == 0) or variance < Fraction(5e-324) ** 2
        assert is_nearest(float(deviation), variance)


@settings(max_examples=50, deadline=None)
@given(matrices, st.integers(1, 5))
def test_the_same_bits_for_any_parts_and_layouts(X, size):
    whole, parts, sparse = ColumnSums("standard"), ColumnSums("standard"), ColumnSums("standard")
    whole.add(X)
    for start in range(0, len(X), size):
        parts.add(X[start : start + size])
        sparse.add(sp.csr_array(X[start : start + size]))
    for other in (parts, sparse):
        assert other.rows == whole.rows
        assert other.scale().centre.tolist() == whole.scale().centre.tolist()
        assert other.scale().spread.tolist() == whole.scale().spread.tolist()
        assert other.nonzero.tolist() == whole.nonzero.tolist()


@pytest.mark.parametrize(("method", "peer"), [("standard", StandardScaler), ("maxabs", MaxAbsScaler)])
def test_agrees_with_scikit_learn(method, peer):
    X = np.random.default_rng(0).normal(size=(300, 5)) * [1, 1e3, 1e-3, 0, 1] + [0, 5, 1, 7, 1e4]
    sums = ColumnSums(method)
    sums.add(X)
    np.testing.assert_allclose(sums.scale().apply(X), peer().fit_transform(X), rtol=1e-9, atol=1e-9)


def test_sparse_rows_are_the_same_numbers_where_columns_are_centred():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 7)) * (rng.random((50, 7)) < 0.4)
    scale = ColumnScale("standard", np.array([1, 4, 6]), np.array([0.5, 0.0, -2.0]), np.array([2.0, 3.0, 0.1]))
    rows = scale.apply(sp.csr_array(X))
    assert rows.toarray().tolist() == scale.apply(X).tolist()
    rows.check_format()
    assert rows.has_canonical_format
    again = ColumnScale.from_plain(scale.to_plain())
    assert again.apply(X).tolist() == scale.apply(X).tolist()
    assert scale.apply(X)[:, 0].tolist() == X[:, 0].tolist()


def test_columns_beyond_the_scale_stay():
    scale = ColumnScale("maxabs", np.array([0, 5]), np.zeros(2), np.array([2.0, 4.0]))
    assert scale.apply(np.array([[2.0, 3.0]])).tolist() == [[1.0, 3.0]]
    assert scale.apply(sp.csr_array([[2.0, 3.0]])).toarray().tolist() == [[1.0, 3.0]]


def test_sums_of_many_carries(monkeypatch):
    monkeypatch.setattr("rosenblatt.scaling._CARRY", 3)
    X = np.full((10, 1), -1.7e308)
    X[::2] = 1.6e308
    sums = ColumnSums("standard")
    sums.add(X)
    assert sums.means()[0] == float((Fraction(1.6e308) - Fraction(1.7e308)) / 2)
    assert sums.deviations()[0] == pytest.approx(1.65e308)


def test_widths_that_grow():
    sums = ColumnSums("standard")
    sums.add(sp.csr_array([[1.0]]))
    sums.add(sp.csr_array([[1.0, 4.0]]))
    assert sums.scale().spread.tolist() == [1.0, 2.0]


def test_too_many_columns():
    limit = r"for at most 131,072 columns, got 131,073: leave it out, or use .*which allows up to 1,048,576"
    with pytest.raises(ParameterError, match=limit):
        ColumnSums("standard").add(sp.csr_array((1, 131_073)))
    with pytest.raises(ParameterError, match=r"scale='maxabs' is for at most 1,048,576 columns, got 1,048,577: leave"):
        ColumnSums("maxabs").add(sp.csr_array((1, 1_048_577)))
