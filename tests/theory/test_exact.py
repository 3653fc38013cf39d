"""Exact sums, roots and integers against Fractions; equal rows."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.separable_sets import balanced, mean_square, mixed, random_signs
from rosenblatt.theory import exact as ties
from rosenblatt.theory import scores
from rosenblatt.theory.exact import (
    representatives,
    round_root,
    row_hashes,
    squared_half_distance,
    squared_length,
    squared_mean_length,
    sums_to_zero,
)
from rosenblatt.theory.scores import least_score

some = settings(max_examples=60, deadline=None)


SIZES = [(1, 1), (3, 2), (7, 5), (30, 3), (10, 20)]


# lengths of means


@pytest.mark.parametrize("decades", [0, 5, 60, 290])
@pytest.mark.parametrize(("n", "d"), SIZES)
def test_lengths_of_means(n, d, decades):
    rng = np.random.default_rng(n + d + decades)
    for _ in range(4):
        X, signs = mixed(rng, n, d, decades=decades), random_signs(rng, n)
        alpha = np.abs(mixed(rng, n, decades=min(decades, 100)))
        alpha[0] = 0.3
        for form in (X, sp.csr_array(X)):
            for kind in ("homogeneous", "augmented"):
                square = mean_square(X, signs.tolist(), alpha, kind)
                assert squared_mean_length(form, signs, alpha, kind == "augmented") == square
            assert squared_half_distance(form, signs, alpha) == mean_square(X, signs.tolist(), alpha, "geometric")


def test_a_class_without_weight_bounds_nothing():
    X, signs = np.array([[1.0], [2.0], [-1.0]]), np.array([1.0, 1.0, -1.0])
    assert squared_half_distance(X, signs, np.array([0.5, 0.5, 0.0])) is None
    assert squared_half_distance(X, signs, np.array([0.0, 0.0, 0.5])) is None
    assert squared_half_distance(X, signs, np.array([0.5, 0.0, 7.0])) == 1


@some
@given(st.lists(st.integers() | st.floats(allow_nan=False, allow_infinity=False)))
def test_squared_length(values):
    want = sum(Fraction(value) ** 2 for value in values)
    assert squared_length(np.array(values, dtype=object)) == want
    floats = [value for value in values if isinstance(value, float)]
    assert squared_length(np.array(floats, dtype=float), 0.1) == sum(Fraction(value) ** 2 for value in [*floats, 0.1])


# round_root

positive = st.fractions(min_value=0).filter(bool)
squares = positive.flatmap(lambda q: st.integers(-2300, 2300).map(lambda k: q * Fraction(2) ** k))
perfect = st.floats(min_value=0, allow_nan=False, allow_infinity=False).map(lambda value: Fraction(value) ** 2)


@some
@given(squares | perfect)
def test_roots_are_the_next_floats(square):
    down, up, near = (round_root(square, up=way) for way in (False, True, None))
    assert Fraction(down) ** 2 <= square
    assert math.isinf(up) or Fraction(up) ** 2 >= square
    assert up in (down, math.nextafter(down, math.inf))
    assert (up == down) == (Fraction(down) ** 2 == square)
    middle = (Fraction(down) + Fraction(up)) / 2 if math.isfinite(up) else square + 1
    assert near == (up if middle**2 < square else down)


def test_roots_at_the_ends_of_the_floats():
    assert round_root(Fraction(0), up=True) == round_root(Fraction(-1), up=True) == 0.0
    assert round_root(Fraction(10) ** 800, up=True) == math.inf
    assert round_root(Fraction(10) ** 800, up=False) == math.nextafter(math.inf, 0.0)
    assert round_root(Fraction(1, 10**800), up=True) == 5e-324
    assert round_root(Fraction(1, 10**800), up=False) == 0.0


# sums_to_zero and encloses_zero_combination


def random_balance(rng, d):
    """Whole rows and weights under which the rows z = y (x, 1) add up to zero; the last makes up for the others."""
    parts = np.zeros(1, dtype=int)
    while parts.sum() == 0:
        parts = rng.integers(1, 6, rng.integers(2, 7)) * rng.choice([-1, 1])
        parts[0] *= -1
    R, total = rng.integers(-4, 5, (len(parts), d)), int(parts.sum())
    X = np.vstack([R * total, parts @ R]).astype(float)
    return X, np.sign([*parts, -total]).astype(float), [*np.abs(parts).tolist(), abs(total)]


def test_balances_as_rational_sums_do():
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(300):
        d, bias = int(rng.integers(0, 4)), bool(rng.integers(2))
        X, signs, weights = random_balance(rng, d)
        change = int(rng.integers(5))
        if change == 1:
            weights[int(rng.integers(len(weights)))] += 1
        if change == 2 and d:
            X[0, 0] = np.nextafter(X[0, 0], np.inf)
        if change == 3:
            signs[int(rng.integers(len(signs)))] *= -1
        X, rows = np.vstack([rng.standard_normal((2, d)), X]), 2 + np.arange(len(X))
        signs, alpha = np.append([1.0, -1.0], signs), np.append([0, 0], weights) / sum(weights)
        answer = sums_to_zero(X, signs, rows, weights, bias)
        assert answer == balanced(X, signs, alpha, weights, bias)
        assert answer == sums_to_zero(sp.csr_array(X), signs, rows, weights, bias)
        if answer:
            assert sums_to_zero(X, signs, rows, [weight * 10**40 for weight in weights], bias)
            assert not sums_to_zero(X, signs, rows, [-weight for weight in weights], bias)
            assert not sums_to_zero(X, signs, np.append(0, rows), [0, *weights], bias)
            assert not sums_to_zero(X, signs, rows, weights[:-1], bias)
            assert not sums_to_zero(X, signs, rows[:-1], weights, bias)
        seen.append(answer)
    assert 60 < sum(seen) < 240
    assert not sums_to_zero(X, signs, rows[:0], [], bias)


# Rows that tie: equal ones are found by hashing, and no kind of row is lost.


def kinds(X, signs, rows, columns):
    return {(signs[i], *(X[i, columns] + 0.0).tolist()) for i in rows.tolist()}


@pytest.mark.parametrize("block_bytes", [1, 64, 1 << 26])
@pytest.mark.parametrize("hashes", [None, lambda part: np.zeros(part.shape[0], np.uint64)])
def test_one_row_of_each_kind_is_kept(monkeypatch, block_bytes, hashes):
    """With a hash that is the same for all, rows too many are kept, and none is lost."""
    monkeypatch.setattr(ties, "BLOCK_BYTES", block_bytes)
    if hashes is not None:
        monkeypatch.setattr(ties, "row_hashes", hashes)
    rng = np.random.default_rng(0)
    for _ in range(30):
        n, d = int(rng.integers(1, 60)), int(rng.integers(1, 5))
        X = rng.choice([0.0, -0.0, 1.0, 0.1, -1e300, 5e-324], (n, d))
        signs = rng.choice([-1.0, 1.0], n)
        rows = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
        columns = np.sort(rng.permutation(d)[: rng.integers(0, d + 1)])
        like = representatives(X, signs, rows, columns)
        assert representatives(sp.csr_array(X), signs, rows, columns).tolist() == like.tolist()
        assert kinds(X, signs, like, columns) == kinds(X, signs, rows, columns)
        assert all(kinds(X, signs, rows[[k]], columns) == kinds(X, signs, like[[k]], columns) for k in range(len(rows)))
        kept = np.unique(like)
        assert set(kept.tolist()) <= set(rows.tolist())
        assert (np.diff(kept) > 0).all()
        assert kinds(X, signs, kept, columns) == kinds(X, signs, rows, columns)
        if hashes is None:
            assert len(kept) == len(kinds(X, signs, rows, columns))


def test_hashes_of_different_rows_differ():
    """Small integers and powers of two have few bits that differ, and those at the upper end."""
    grid = np.array(np.meshgrid(*[np.arange(-8.0, 8.0)] * 4)).reshape(4, -1).T
    like = representatives(grid, np.ones(len(grid)), np.arange(len(grid)), np.arange(4))
    assert len(np.unique(like)) == 16**4
    assert len(np.unique(row_hashes(grid))) == 16**4


@pytest.mark.parametrize("weights", ["floats", "integers"])
def test_the_least_score_among_many_ties_is_exact(weights):
    rng = np.random.default_rng(1)
    for _ in range(10):
        kinds_of_rows = rng.choice([0.1, 0.3, -0.7, 2.5], (5, 3))
        X = kinds_of_rows[rng.integers(0, 5, 900)]
        X[:, 2] = rng.random(900)  # all different, and of no weight
        signs = np.ones(900)
        w, b = np.array([0.1, -0.3, 0.0]), 0.7
        if weights == "integers":
            w, b = np.array([10**30 + 1, -3, 0], dtype=object), 7
        want = min(sum(Fraction(v) * Fraction(x) for v, x in zip(w.tolist(), row, strict=True)) for row in X.tolist())
        assert least_score(X, signs, w, b) == least_score(sp.csr_array(X), signs, w, b) == want + Fraction(b)


def test_a_million_ties_are_no_million_exact_sums(monkeypatch):
    """Rows that differ only where the weight is zero are one row; before, each was added up in long integers."""
    seen = []
    times = scores.product_with_integers
    monkeypatch.setattr(scores, "product_with_integers", lambda X, w: seen.append(X.shape[0]) or times(X, w))
    X = np.zeros((20_000, 6))
    X[:, 0], X[:, 1] = 0.1, np.arange(20_000) / 7
    assert least_score(X, np.ones(20_000), np.array([0.1, 0, 0, 0, 0, 0]), 0.1) == Fraction(0.1) ** 2 + Fraction(0.1)
    assert seen == [1]
