"""Extreme numbers, labels and claims: each was wrong once."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.separable_sets import is_separable, naive_least_score, noise
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.separability import dataset_margin, margin, separability
from rosenblatt.theory.verdicts import Separable


def test_smallest_where_a_weight_vanishes_when_scaled():
    X = np.column_stack([1e-32 * np.linspace(5, 9, 300), np.full(300, 1e300)])
    X[7] = [1e-31, -1e300]
    w, signs = np.array([1e300, 1e-30]), np.ones(300)
    assert least_score(X, signs, w, 0.0) == naive_least_score(X, signs, w.tolist(), 0.0) < 0
    assert margin(X, signs, w) == -math.inf


@pytest.mark.parametrize(
    "X",
    [
        [[1e308], [1e308]],
        [[1e308, 1e308], [0.9e308, 0.9e308]],
        [[1.7e308] * 5, [-1.7e308] * 5],
        [[1.7e308, -1.7e308], [1.7e308, 1.7e308], [-1.7e308, 1e308]],
    ],
)
def test_the_largest_floats(X):
    y = [1, 0, 1][: len(X)]
    for method in ("hull", "lp"):
        found = separability(X, y, method=method)
        assert isinstance(found, Separable) == is_separable(X, [1 if v else -1 for v in y])
        assert found.check(X, y)
    for kind in ("geometric", "augmented", "homogeneous"):
        assert dataset_margin(X, y, kind).check(X, y)


@pytest.mark.parametrize("kind", ["geometric", "augmented", "homogeneous"])
def test_margins_below_the_smallest_float(kind):
    X, y = ([[0.0], [5e-324]], [0, 1]) if kind != "homogeneous" else ([[5e-324, 5e-324], [5e-324, -5e-324]], [1, 1])
    assert dataset_margin(X, y, kind).check(X, y)


@pytest.mark.slow
def test_weights_below_the_smallest_float():
    X = [[-1e-300, -1e300, -1e-300], [1e-300, -1.0, 1e-300], [-1e300, 1e-300, -1e300], [-1e300, -1.0, 1e-300]]
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X, y = rng.choice([-1e300, 1e-300, 1.0, -1.0, 1e300, -1e-300], (8, 3)), rng.choice([-1, 1], 8)
        for found in (separability(X, y), dataset_margin(X, y, "homogeneous")):
            assert found.check(X, y), seed


def test_enormous_weights_in_an_enclosure():
    X, y = noise(200, 30)
    proof = separability(X, y)
    assert not dataclasses.replace(proof, alpha=np.where(proof.alpha > 0, 1.7e308, 0)).check(X, y)


@pytest.mark.parametrize("positive", [10**400, -(10**400)])
@pytest.mark.parametrize("dtype", [float, bool, int, object, np.uint8])
def test_an_enormous_label(positive, dtype):
    found = dataclasses.replace(separability([[0.0], [1.0]], [0, 1]), positive=positive)
    assert found.check([[0.0], [1.0]], np.array([0, 1], dtype=dtype)) in (True, False)


@pytest.mark.parametrize(
    "y",
    [
        np.array([1, np.nan], dtype=object),
        [1, None],
        np.array(["2020", "NaT"], dtype="M8[D]"),
        np.array(["2020", "2021"], dtype="M8[ns]"),
    ],
)
def test_labels_that_are_none(y):
    with pytest.raises(ValueError, match="labels must"):
        separability([[1.0], [1.0]], y)


def test_support_in_another_order_is_not_that_of_the_weights():
    X, y = [[0.0], [1.0], [3.0]], [0, 1, 0]
    found = separability(X, y)
    assert found.weights == (2, 3, 1)
    assert not dataclasses.replace(found, support=found.support[[2, 0, 1]]).check(X, y)


def test_gap_of_an_empty_bracket():
    X, y = [[0.0], [1.0]], [0, 1]
    assert dataclasses.replace(dataset_margin(X, y), low=-math.inf, high=0.0).gap == math.inf


def test_mixed_signs_of_the_largest_floats_do_not_warn():
    X = np.array([[1.7e308, 1.7e308], [-1.7e308, -1.7e308]] * 8).reshape(-1, 2)
    separability(X, [0, 1] * 8)


def test_twins_among_round_numbers():
    import scipy.sparse as sp

    from rosenblatt.theory.exact import row_hashes
    from rosenblatt.theory.search.gordan import conflicting_duplicates

    rng = np.random.default_rng(0)
    X, y = rng.choice([-1.0, 1.0], (2000, 30)), rng.choice([-1.0, 1.0], 2000)
    X[-1], y[-1] = X[5], -y[5]
    for form in (X, sp.csr_array(X)):
        assert len(np.unique(row_hashes(form))) > 1900
        assert conflicting_duplicates(form, y).support.tolist() == [5, 1999]
    assert conflicting_duplicates(np.array([[0.0], [-0.0]]), np.array([1.0, -1.0])) is not None
