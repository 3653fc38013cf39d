"""Matrices as the theory takes them: floats that are exactly what was given."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.theory.inputs import certified_signs, check_labels, check_matrix
from rosenblatt.theory.separability import separability

LARGE = 2**53
ROUNDED = [
    np.array([[1, LARGE + 1]]),
    np.array([[-LARGE - 1, 0]]),
    np.array([[2**63 - 1]]),
    np.array([[2**64 - 1]], dtype=np.uint64),
    np.array([[2**200 + 1, 0]], dtype=object),
    [[LARGE + 1, 0], [1, 2]],
    sp.csr_array(np.array([[0, LARGE + 1]])),
    sp.coo_array(([1, LARGE + 1], ([1, 0], [0, 1]))),
    sp.csc_array(np.array([[0, 3], [LARGE + 1, 0]])),
]


@pytest.mark.parametrize("X", ROUNDED)
def test_whole_numbers_that_floats_would_round_are_refused(X):
    with pytest.raises(ValueError, match=r"X holds the integer -?\d+, which float64 would round: give numbers up"):
        check_matrix(X)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[LARGE, 2**62]]),
        np.array([[LARGE + 2, -LARGE]]),
        [[2**100, 1]],
        np.array([[2**100, 0.1]], dtype=object),
        np.array([[1e300, 0.1]]),
        np.array([[3, 4]], dtype=np.int8),
        np.array([[True, False]]),
        sp.csr_array(np.array([[0, 2**60]])),
        sp.csc_array(np.array([[0, 3], [2**54, 0]])),
    ],
)
def test_others_are_kept_exactly(X):
    given = (X.toarray() if sp.issparse(X) else np.asarray(X)).tolist()
    taken = check_matrix(X)
    assert taken.dtype == np.float64
    assert (taken.toarray() if sp.issparse(taken) else taken).tolist() == given


def test_one_bit_decides_between_neighbours():
    """As integers these two rows differ, as floats they are one, and the verdict would be another."""
    with pytest.raises(ValueError, match="would round"):
        separability(np.array([[LARGE], [LARGE + 1]]), [0, 1])
    assert separability(np.array([[LARGE - 1], [LARGE]]), [0, 1])


def test_what_is_ready_is_not_copied():
    X = np.arange(6.0).reshape(3, 2)
    assert check_matrix(X) is X
    for other in (X.T, X[::2], X.astype(np.float32), X[:, :0]):
        assert check_matrix(other).flags.c_contiguous
        np.testing.assert_array_equal(check_matrix(other), other)
    big = np.array([[1e308, 1e308], [1e308, -1.0]])  # the sum overflows, the numbers do not
    np.testing.assert_array_equal(check_matrix(big), big)
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            check_matrix(np.array([[1.0, value]]))
    with pytest.raises(ValueError, match="minimum of 1"):
        check_matrix(np.zeros((0, 2)))


def test_large_integers_beside_floats_stay_different_labels():
    """As float64 the first two would be one class."""
    y = check_labels([2**53, 2**53 + 1, 0.5], 3)
    assert y.tolist() == [2**53, 2**53 + 1, 0.5]
    found = separability([[0.0], [1.0], [2.0], [3.0]], [2**53, 2**53 + 1, 2**53, 2**53 + 1.0])
    assert found.check([[0.0], [1.0], [2.0], [3.0]], [2**53, 2**53 + 1, 2**53, 2**53 + 1.0])


@pytest.mark.parametrize(
    ("y", "positive", "signs"),
    [
        ([0, 1, 1], 1, [-1, 1, 1]),
        ([0, 1, 1], 0, [1, -1, -1]),
        ([0, 1, 2], 2, [-1, -1, 1]),
        ([0, 1, 1], 7, None),
        ([0, 1, 1], 2**70, None),
        ([0, 1, 1], "1", None),
        (["a", "b"], "b", [-1, 1]),
        (["a", "b"], "c", None),
        (["a", "b"], 1, None),
        ([0, 1, 1], None, None),
        ([0, 0], None, [-1, -1]),
        ([2**70, "a"], None, None),
    ],
)
def test_a_certificate_has_signs_only_where_its_positive_label_occurs(y, positive, signs):
    found = certified_signs(check_labels(np.array(y, object) if 2**70 in y else y, len(y)), positive)
    assert (found if found is None else found.tolist()) == signs
