import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import ExactScaler


@parametrize_with_checks([ExactScaler(), ExactScaler("maxabs")])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_dense_sparse_and_float32_rows():
    X = np.array([[1.0, 0.0], [3.0, 4.0]], np.float32)
    scaler = ExactScaler().fit(X)
    assert scaler.transform(X).tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    assert scaler.transform(sp.csr_array(X)).toarray().tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    sparse = ExactScaler().fit(sp.csr_array(X))
    assert sparse.centre_.tolist() == [0.0, 0.0]
    assert sparse.transform(X).tolist() == [[1.0, 0.0], [3.0, 2.0]]


def test_duplicate_entries_of_sparse_rows():
    X = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert ExactScaler("maxabs").fit(X).spread_.tolist() == [3.0, 4.0]


def test_the_largest_of_a_sparse_column_may_be_negative():
    X = np.array([[1.0, -2.0, 0.0], [-4.0, 1.0, 0.0]])
    for form in (np.asarray, sp.csr_array):
        assert ExactScaler("maxabs").fit(form(X)).spread_.tolist() == [4.0, 2.0, 1.0]


def test_a_method_that_there_is_not_and_numbers_that_overflow():
    with pytest.raises(ValueError, match="method must be 'standard' or 'maxabs', got 'minmax'"):
        ExactScaler("minmax").fit([[1.0]])
    with pytest.raises(ValueError, match="overflows float64 after scaling"):
        ExactScaler("maxabs").fit([[1e-300]]).transform([[1e300]])
