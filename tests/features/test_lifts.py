"""The lift x -> (x, |x|^2): its columns, what it takes and returns, and why it makes planes of circles."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.point_sets import some
from rosenblatt import Perceptron, data
from rosenblatt.features import SphereLift


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([SphereLift()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def lifted(X):
    """Return what the lift should give, in Python's integers."""
    return [[*row, sum(value * value for value in row)] for row in np.asarray(X).tolist()]


@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_one_column_more_dense_or_sparse(kind):
    X = np.random.default_rng(0).integers(-3, 4, (20, 5)).astype(float)
    out = SphereLift().fit_transform(kind(X))
    assert sp.issparse(out) == (kind is not np.array)
    if sp.issparse(out):
        assert out.format == "csr"
        assert out.nnz == np.count_nonzero(lifted(X)), "zeros are not stored"
        out = out.toarray()
    assert out.tolist() == lifted(X)


def test_entries_that_are_given_twice_are_added_before_they_are_squared():
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert SphereLift().fit_transform(X).toarray().tolist() == [[2.0, 4.0, 20.0]]
    assert X.nnz == 3, "the given matrix is left as it was"


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_float32_stays_float32_and_is_rounded_once(kind):
    X = np.random.default_rng(0).standard_normal((30, 200)).astype(np.float32)
    out = SphereLift().fit_transform(kind(X))
    assert out.dtype == np.float32
    exact = [sum(float(value) ** 2 for value in row) for row in X]
    column = out[:, [-1]].toarray().ravel() if sp.issparse(out) else out[:, -1]
    assert column.tolist() == np.float32(exact).tolist()
    assert SphereLift().fit_transform(kind(X.astype(np.int64))).dtype == np.float64


def test_names_and_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"width": [1.0, 2.0], "height": [0.0, 3.0]})
    lift = SphereLift().set_output(transform="pandas").fit(frame)
    assert lift.get_feature_names_out().tolist() == ["width", "height", "|x|^2"]
    assert lift.transform(frame)["|x|^2"].tolist() == [1.0, 13.0]
    assert SphereLift().fit(frame.to_numpy()).get_feature_names_out().tolist() == ["x0", "x1", "|x|^2"]
    with pytest.raises(ValueError, match="input_features"):
        lift.get_feature_names_out(["other", "names"])


@pytest.mark.parametrize(("dtype", "value"), [(np.float64, 1e200), (np.float32, 1e20)])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_squares_beyond_the_floats_are_refused(dtype, value, kind):
    X = kind(np.array([[1, 0], [value, 0]], dtype=dtype))
    with pytest.raises(ValueError, match=f"row 1 overflows {np.dtype(dtype)}: scale"):
        SphereLift().fit_transform(X)


integer = st.integers(-9, 9)


@some
@given(
    st.lists(st.tuples(integer, integer, integer), min_size=1, max_size=8),
    st.tuples(integer, integer, integer),
    integer,
)
def test_a_sphere_is_a_plane_above(points, center, square):
    """Har-Peled 30.2.1: |x - m|^2 - r^2 is linear in (x, |x|^2), with the weights (-2m, 1) and the bias |m|^2 - r^2."""
    Z = SphereLift().fit_transform(points)
    plane = Z @ np.array([*(-2 * m for m in center), 1])
    below = [sum((x - m) ** 2 for x, m in zip(point, center, strict=True)) - square for point in points]
    assert (plane + sum(m * m for m in center) - square).tolist() == below


def test_a_linear_learner_learns_a_ring():
    X, y = data.make_circle(300, d=3, center=[1, 2, 3], random_state=0)
    model = make_pipeline(SphereLift(), Perceptron(random_state=0, max_iter=1000)).fit(X, y)
    assert model.score(X, y) == 1.0
    with pytest.warns(match="mistakes"):
        assert Perceptron(random_state=0).fit(X, y).score(X, y) < 1.0
