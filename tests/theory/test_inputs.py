"""Matrices as the theory takes them: floats that are exactly what was given."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from rosenblatt import RescaledPerceptron, fewest_mistakes, separation
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


def repeated(values, dtype=np.float64):
    """Yield matrices of one column, in each format that holds several numbers in one place: all in the first row."""
    data, zeros = np.array(values, dtype=dtype), np.zeros(len(values), dtype=int)
    yield sp.coo_array((data, (zeros, zeros)), shape=(2, 1))
    yield sp.coo_matrix((data, (zeros, zeros)), shape=(2, 1))
    yield sp.csr_array((data, zeros, [0, len(values), len(values)]), shape=(2, 1))
    yield sp.csc_array((data, zeros, [0, len(values)]), shape=(2, 1))
    yield sp.bsr_array((data.reshape(-1, 1, 1), zeros, [0, len(values), len(values)]), shape=(2, 1))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([100, 100], np.int8),
        ([200, 100], np.uint8),
        ([2**15 - 1, 1], np.int16),
        ([2**62, 2**62], np.int64),
        ([-(2**63), -(2**63)], np.int64),
        ([2**63, 2**63], np.uint64),
        ([2**53 + 1, 1], np.int64),
        ([0.5, 0.25], np.float64),
        ([2.0**24, 1.0], np.float32),
        ([1e300, 1.0, -1e300], np.float64),
        ([1e308, 1e308, -1e308], np.float64),
        ([1.0, -1.0], np.float64),
    ],
)
def test_numbers_in_one_place_are_added_up_exactly(values, dtype):
    for X in repeated(values, dtype):
        before = X.data.tolist()
        taken = check_matrix(X)
        assert [Fraction(value) for value in taken.toarray().ravel()] == [sum(map(Fraction, values)), 0]
        assert taken.has_canonical_format
        assert X.data.tolist() == before
        if taken.toarray().any():
            assert RescaledPerceptron().fit(X, [0, 1]).verdict_.check(taken, [0, 1])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([2.0**53, 1.0], np.float64), ([1e308, 1e308], np.float64), ([1e300, 1.0], np.float64), ([0.1, 0.2], np.float64)],
)
def test_sums_that_float64_rounds_are_refused(values, dtype):
    for X in repeated(values, dtype):
        with pytest.raises(
            ValueError, match=r"^X holds 2 numbers in row 0 and column 0, the sum of which float64 would"
        ):
            check_matrix(X)


@pytest.mark.parametrize(
    ("values", "dtype"), [([2**53, 1], np.int64), ([2**63 - 1] * 2, np.int64), ([2**64 - 1] * 2, np.uint64)]
)
def test_integer_sums_that_float64_rounds_are_refused(values, dtype):
    for X in repeated(values, dtype):
        with pytest.raises(ValueError, match=f"^X holds the integer {sum(values)}, which float64 would round"):
            check_matrix(X)


def test_random_equal_places_are_summed_as_fractions_are():
    rng = np.random.default_rng(0)
    for _ in range(100):
        rows, columns = rng.integers(0, 4, (2, 15))
        data = rng.integers(-100, 100, 15).astype(np.int8)
        exact = np.zeros((4, 4), dtype=object)
        for i, j, value in zip(rows, columns, data.tolist(), strict=True):
            exact[i, j] += value
        for given, unit in ((data, 1), (data / 8, 8)):
            taken = check_matrix(sp.coo_array((given, (rows, columns)), shape=(4, 4))).toarray()
            assert (taken * unit == exact).all()


MIXED = [
    [1, "1", 1],
    ("a", True, "a"),
    [["a"], [1], ["b"]],
    ["a", b"a", "a"],
    np.array([1, "a", 1], dtype=object),
    np.array([{}, {"a": 1}, {}], dtype=object),
    np.array([1, 2j, 1], dtype=object),
    pd.Series([1, "1", 1]),
]
MISSING = [
    ["a", None, "b"],
    ["a", math.nan, "b"],
    [1, None, 2],
    pd.Series(["a", None, "b"], dtype="string"),
    pd.Series([1, None, 2], dtype="Int64"),
    pd.Series(["a", None, "b"], dtype="category"),
    np.array([1, pd.NA, 2], dtype=object),
    np.array([1, pd.NaT, 2], dtype=object),
]


@pytest.mark.parametrize("ask", [separability, fewest_mistakes, separation])
@pytest.mark.parametrize("y", MIXED, ids=str)
def test_labels_are_all_words_or_all_numbers(ask, y):
    with pytest.raises(
        ValueError, match=r"^labels must be all words or all numbers, got .*: turn them into words.*\.$"
    ):
        ask([[0.0], [1.0], [2.0]], y)


@pytest.mark.parametrize("ask", [separability, fewest_mistakes, separation])
@pytest.mark.parametrize("y", MISSING, ids=str)
def test_labels_that_are_missing_are_said_to_be(ask, y):
    with pytest.raises(ValueError, match=r"^labels must not be .*NaN.*: leave out the rows that have no label\.$"):
        ask([[0.0], [1.0], [2.0]], y)


def test_labels_of_one_kind_are_taken():
    numbers = np.array([1, 2.5, Fraction(1, 3), True, Decimal(7)], dtype=object)
    assert check_labels(numbers, 5) is numbers
    assert check_labels([["a"], ["b"]], 2).tolist() == check_labels(pd.Series(["a", "b"]), 2).tolist() == ["a", "b"]
    assert check_labels([b"a", b"b"], 2).tolist() == [b"a", b"b"]


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
    ],
)
def test_a_certificate_has_signs_only_where_its_positive_label_occurs(y, positive, signs):
    found = certified_signs(check_labels(y, len(y)), positive)
    assert (found if found is None else found.tolist()) == signs
