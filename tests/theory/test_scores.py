"""Scores of rows, exactly: the least, and all within a distance, against rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.separable_sets import mixed, naive_least_score, random_signs
from rosenblatt.theory import scores
from rosenblatt.theory.scores import least_score, rows_within

SIZES = [(1, 1), (3, 2), (7, 5), (30, 3), (10, 20)]


@pytest.mark.parametrize("decades", [0, 2, 8, 40, 150, 290])
@pytest.mark.parametrize(("n", "d"), [*SIZES, (2, 0)])
def test_smallest_is_the_least_score_exactly(n, d, decades):
    rng = np.random.default_rng(n * d + decades)
    for _ in range(6):
        X, signs = mixed(rng, n, d, decades=decades), random_signs(rng, n)
        w, b = mixed(rng, d, decades=decades), float(mixed(rng, decades=decades))
        want = naive_least_score(X, signs, w.tolist(), b)
        assert least_score(X, signs, w, b) == want
        assert least_score(sp.csr_array(X), signs, w, b) == want


@pytest.mark.parametrize("size", [1e308, 1e300, 5e-324, 1e-310])
def test_smallest_where_floats_overflow_or_vanish(size):
    rng = np.random.default_rng(0)
    for _ in range(10):
        X, signs = rng.choice([-1.0, 0.0, 0.3, 1.0], (12, 4)) * size, random_signs(rng, 12)
        w, b = rng.choice([-1.7, 0.1, 1.0], 4) * rng.choice([1.0, size]), float(rng.choice([0.0, size, -1.0]))
        want = naive_least_score(X, signs, w.tolist(), b)
        assert least_score(X, signs, w, b) == least_score(sp.csr_array(X), signs, w, b) == want


def test_smallest_with_whole_numbers_of_any_size():
    rng = np.random.default_rng(1)
    for bits in (1, 60, 2000, 5000):
        X, signs = mixed(rng, 15, 3), random_signs(rng, 15)
        w = np.array([int(v) << int(rng.integers(bits)) for v in rng.integers(-9, 10, 3)], dtype=object)
        b = -3 << bits
        assert least_score(X, signs, w, b) == naive_least_score(X, signs, w.tolist(), b)
        assert least_score(X, signs, w, 0.1) == naive_least_score(X, signs, w.tolist(), 0.1)
        assert least_score(X, signs, w.astype(float) if bits == 60 else w, b) == naive_least_score(
            X, signs, w.tolist(), b
        )


def tied(rng, n, d, far):
    """Rows that score nearly alike, or alike, along w = (1, 1/3, ...): floats cannot tell which is lowest."""
    w = 1.0 / (1.0 + 2.0 * np.arange(d))
    X = rng.standard_normal((n, d)) * far
    X[:, 0] -= X @ w
    return X, w


@pytest.mark.parametrize("far", [1.0, 1e8, 2.0**-290, 2.0**310, 1e-300])
@pytest.mark.parametrize("d", [2, 9])
def test_smallest_of_many_rows_in_doubt(d, far):
    rng = np.random.default_rng(d)
    X, w = tied(rng, scores.MANY + 200, d, far)
    signs = np.ones(len(X))
    for b in (0.0, 1e-3 * far, -far):
        want = naive_least_score(X, signs, w.tolist(), b)
        assert least_score(X, signs, w, b) == want
        assert least_score(sp.csr_array(X), signs, w, b) == want
        assert least_score(-X, -signs, w, -b) == want


def test_the_sharper_look_holds_the_exact_score():
    rng = np.random.default_rng(2)
    for far in (1.0, 1e10):
        X, w = tied(rng, 300, 6, far)
        signs, rows = random_signs(rng, 300), np.arange(5, 300)
        low, high = scores._compensated_scores(X, signs, rows, w, 0.25)
        for i, a, b in zip(rows.tolist(), low.tolist(), high.tolist(), strict=True):
            assert Fraction(a) <= naive_least_score(X[[i]], signs[[i]], w.tolist(), 0.25) <= Fraction(b)
        assert np.max(high - low) < 1e-13 * far**0.5  # not so wide that it says nothing
        X[0, 0] = 1e-200
        assert np.isnan(scores._compensated_scores(X, signs, np.array([0]), w, 0.25)[0]).all()


# rows_within


@pytest.mark.parametrize("decades", [0, 5, 60])
def test_rows_within_a_distance_are_those_of_rational_numbers(decades):
    rng = np.random.default_rng(decades)
    for _ in range(30):
        n, d = int(rng.integers(1, 12)), int(rng.integers(0, 5))
        X, signs, w, b = mixed(rng, n, d, decades=decades), random_signs(rng, n), mixed(rng, d, decades=decades), 0.3
        each = [naive_least_score(X[[i]], signs[[i]], w.tolist(), b) for i in range(n)]
        for bound in [abs(each[0]), abs(each[-1]) * Fraction(1 + 2**-60), Fraction(0), Fraction(10) ** 200]:
            want = [i for i, score in enumerate(each) if score <= bound]
            for form in (X, sp.csr_array(X)):
                assert rows_within(form, signs, w, b, bound * bound).tolist() == want


def test_rows_within_a_distance_where_hundreds_tie():
    rng = np.random.default_rng(0)
    X, w = tied(rng, scores.MANY + 200, 3, 1.0)
    X = np.concatenate([X, X[::-1]])
    signs = np.ones(len(X))
    each = [naive_least_score(X[[i]], [1], w.tolist(), 1.0) for i in range(len(X))]
    bound = sorted(each)[len(X) // 2]
    want = [i for i, score in enumerate(each) if score <= bound]
    for form in (X, sp.csr_array(X)):
        assert rows_within(form, signs, w, 1.0, bound * bound).tolist() == want
    assert rows_within(X, signs, (w * 3 * 5).astype(int).astype(object), 10**30, Fraction(10**59)).tolist() == []
