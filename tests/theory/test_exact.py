"""What certificates are checked with, against the same sums in rational numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.separable_sets import balanced, mean_square
from rosenblatt.theory.exact import (
    hull_distance,
    round_root,
    squared_length,
    squared_sum,
    sums_to_zero,
)

some = settings(max_examples=60, deadline=None)


def mixed(rng, *shape, decades=40):
    """Numbers of all sizes, a few of them zero."""
    return rng.standard_normal(shape) * 10.0 ** rng.uniform(-decades, decades, shape) * (rng.random(shape) < 0.9)


def random_signs(rng, n):
    return np.where(rng.random(n) < 0.5, 1.0, -1.0)


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
                assert squared_sum(form, signs, alpha, kind == "augmented") == square
            assert hull_distance(form, signs, alpha) == mean_square(X, signs.tolist(), alpha, "geometric")


def test_a_class_without_weight_bounds_nothing():
    X, signs = np.array([[1.0], [2.0], [-1.0]]), np.array([1.0, 1.0, -1.0])
    assert hull_distance(X, signs, np.array([0.5, 0.5, 0.0])) is None
    assert hull_distance(X, signs, np.array([0.0, 0.0, 0.5])) is None
    assert hull_distance(X, signs, np.array([0.5, 0.0, 7.0])) == 1


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
