"""gamma="scale" and r="scale": exact sums, one rounding, the same for every layout."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.svm import SVC

from rosenblatt.messages import ParameterError
from rosenblatt.training.data_parameters import scale_gamma, scale_r

moderate = st.floats(-1e100, 1e100)
shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)


def naive(X):
    """Return 1 / (d variance) by the definition of the variance, in fractions."""
    entries = [Fraction(float(value)) for value in X.ravel()]
    mean = sum(entries) / len(entries)
    variance = sum((value - mean) ** 2 for value in entries) / len(entries)
    return float(1 / (X.shape[1] * variance)) if variance else 1.0


@settings(max_examples=300, deadline=None)
@given(hnp.arrays(np.float64, shapes, elements=moderate))
def test_it_is_the_rounded_fraction(X):
    try:
        expected = naive(X)
    except OverflowError:
        expected = np.inf
    if 0 < expected < np.inf:
        assert scale_gamma([X], X.shape[1]) == expected
    else:
        with pytest.raises(ParameterError, match=r"which is near .* out of range for float64"):
            scale_gamma([X], X.shape[1])


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.float32, shapes, elements=st.floats(-1e6, 1e6, width=32)), st.integers(0, 6))
def test_it_does_not_depend_on_layout_or_parts(X, cut):
    d, expected = X.shape[1], naive(X)
    wide = np.zeros((2 * len(X), 2 * d))
    wide[::2, ::2] = X
    long = sp.csr_array(X)
    long = sp.csr_array((np.append(long.data, 7.0), np.append(long.indices, 0), long.indptr), shape=X.shape)
    for matrices in (
        [X],
        [X.astype(np.float64)],
        [X.astype(">f8")],
        [np.asfortranarray(X)],
        [wide[::2, ::2]],
        [sp.csr_array(X)],
        [sp.csr_matrix(X.astype(np.float64))],
        [long],  # with numbers behind its last row
        [X[:cut], sp.csr_array(X[cut:])],
        (X[i : i + 1] for i in range(len(X))),
    ):
        assert scale_gamma(matrices, d) == expected


def test_missing_columns_are_zero():
    X = np.array([[1.0, 0.0, 0.0], [4.0, 2.5, 0.0]])
    assert scale_gamma([X[:1, :1], sp.csr_array(X[1:, :2])], 3) == naive(X)


def test_no_variance_gives_one_as_in_scikit_learn():
    for X in (np.zeros((3, 2)), np.full((3, 2), 0.1), np.full((2, 2), 5e-324), np.zeros((0, 2))):
        assert scale_gamma([X, X], 2) == 1.0
    assert SVC().fit(np.full((4, 2), 3.0), [0, 1, 0, 1])._gamma == 1.0


def test_it_is_the_gamma_of_scikit_learn():
    for offset in (0.0, 100.0):
        rng = np.random.default_rng(0)
        X = rng.normal(offset, size=(50, 7))
        assert scale_gamma([X], 7) == naive(X)
        assert scale_gamma([X], 7) == pytest.approx(SVC().fit(X, rng.integers(2, size=50))._gamma, rel=1e-12)


def test_sums_of_many_large_parts_do_not_overflow():
    X = np.full(((1 << 24) + 3, 1), 2.0 - 2.0**-52)  # all bits set, and more than one block
    X[0] = 0.0
    n, value = len(X), Fraction(2) - Fraction(2) ** -52
    expected = 1 / (value**2 * Fraction(n - 1, n) * Fraction(1, n))
    assert scale_gamma([X], 1) == float(expected)


@pytest.mark.parametrize(("value", "near"), [(1e300, "1e-600"), (5e-324, r"1e\+64[67]")])
def test_a_result_beyond_the_floats_is_an_error_with_a_way_out(value, near):
    with pytest.raises(
        ParameterError, match=f"is near {near} for these rows .*Scale the features, or give gamma as a number."
    ):
        scale_gamma([np.array([[value, -value]])], 2)


def test_extremes_that_fit():
    X = np.array([[1e150, -1e150, 5e-324, -1.7e-308, 0.0]])
    assert scale_gamma([X], 5) == naive(X)


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(np.float64, shapes, elements=moderate), st.integers(0, 6))
def test_r_is_the_rounded_fraction_in_every_layout(X, cut):
    squares = sum(Fraction(float(value)) ** 2 for value in X.ravel())
    try:
        expected = float(Fraction(3, 10) * squares / len(X)) if squares else 1.0
    except OverflowError:
        expected = np.inf
    for matrices in ([X], [np.asfortranarray(X)], [sp.csr_array(X)], [X[:cut], sp.csr_array(X[cut:])]):
        if 0 < expected < np.inf:
            assert scale_r(matrices, X.shape[1]) == expected
        else:
            with pytest.raises(
                ParameterError, match=r"^r='scale' means 0\.3 \* mean squared length, .* give r as a num"
            ):
                scale_r(matrices, X.shape[1])
