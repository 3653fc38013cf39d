"""Rings and spirals: where their rows lie, by other means than those that drew them, and that kernels learn them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rosenblatt import KernelPerceptron, data, separability
from rosenblatt.data import make_rings, make_spiral

MAKERS = [
    lambda seed: make_rings(40, random_state=seed),
    lambda seed: make_rings(40, 0.1, seed, rings=5),
    lambda seed: make_spiral(40, random_state=seed),
    lambda seed: make_spiral(40, 3, 0.1, seed),
]


@pytest.mark.parametrize("make", MAKERS)
def test_same_seed_same_bits_and_both_classes(make):
    X, y = make(7)
    assert X.shape == (40, 2)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert set(y.tolist()) == {-1, 1}
    for seed in (7, np.int32(7), np.random.default_rng(7)):
        again, labels = make(seed)
        assert (again.tobytes(), labels.tobytes()) == (X.tobytes(), y.tobytes())
    assert make(8)[0].tobytes() != X.tobytes()


@pytest.mark.parametrize(
    "make", [lambda seed: make_rings(2, random_state=seed), lambda seed: make_spiral(2, 1, 0, seed)]
)
def test_two_rows_are_of_both_classes(make):
    assert all(set(make(seed)[1].tolist()) == {-1, 1} for seed in range(20))


@pytest.mark.parametrize("rings", [2, 3, 4, 7])
def test_rings_have_whole_radii_and_classes_in_turn(rings):
    X, y = make_rings(3000, random_state=0, rings=rings)
    radius = np.rint(np.hypot(*X.T))
    for row, r in zip(X[:200].tolist(), radius[:200].tolist(), strict=True):
        square = sum(Fraction(value) ** 2 for value in row)
        assert abs(square - Fraction(r) ** 2) <= Fraction(2, 2**52) * Fraction(r) ** 2
    assert sorted(set(radius.tolist())) == list(range(1, rings + 1))
    np.testing.assert_array_equal(y, np.where(radius % 2 == 1, 1, -1))
    counts = np.histogram(np.arctan2(*X.T), bins=8, range=(-math.pi, math.pi))[0]
    assert counts.min() >= 300  # of 375


@pytest.mark.parametrize("turns", [0.3, 1.5, 4])
def test_spiral_is_at_radius_r_in_the_direction_of_r_turns(turns):
    X, y = make_spiral(3000, turns, random_state=0)
    r = np.hypot(*X.T)
    assert r.min() >= 0.25
    assert 0.98 * (0.25 + turns) <= r.max() <= 0.25 + turns
    arm = y[:, None] * r[:, None] * np.column_stack([np.cos(2 * np.pi * r), np.sin(2 * np.pi * r)])
    np.testing.assert_allclose(X, arm, rtol=0, atol=1e-13)


def test_the_arms_keep_their_distance():
    X, y = make_spiral(2000, 3, random_state=0)
    gaps = np.linalg.norm(X[y == 1][:, None] - X[y == -1], axis=2)
    assert gaps.min() > 0.35


def test_directions_are_those_of_sine_and_cosine_to_the_last_digit():
    from rosenblatt.data.generators import _directions

    turns = np.concatenate([np.arange(0, 9) / 8, np.random.default_rng(0).random(500) * 3])
    expected = np.array([[math.cos(2 * math.pi * t), math.sin(2 * math.pi * t)] for t in turns])
    np.testing.assert_allclose(_directions(turns), expected, rtol=0, atol=4e-15)
    assert _directions(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist() == [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]]


def test_noise_is_jitter_of_that_deviation():
    for make in (make_rings, lambda n, noise, random_state: make_spiral(n, 1.5, noise, random_state)):
        exact, labels = make(4000, 0.0, random_state=3)
        X, y = make(4000, 0.1, random_state=3)
        np.testing.assert_array_equal(y, labels)
        assert np.abs((X - exact).std(axis=0) - 0.1).max() < 0.005
        assert np.abs((X - exact).mean(axis=0)).max() < 0.005


@pytest.mark.parametrize("rings", [2, 3])
def test_rings_are_learned_by_a_polynomial_kernel_of_twice_the_gaps(rings):
    X, y = make_rings(60, random_state=1, rings=rings)
    assert not separability(X, y)
    degree = 2 * (rings - 1)
    model = KernelPerceptron("poly", degree, gamma=1.0, hypothesis="last", max_iter=2000, shuffle=False).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1


@pytest.mark.parametrize(("gamma", "make"), [(1.0, make_rings), (4.0, make_spiral)])
def test_both_are_learned_by_a_gaussian_kernel(gamma, make):
    X, y = make(150, random_state=0)
    model = KernelPerceptron("rbf", gamma=gamma, hypothesis="last", max_iter=200, shuffle=False).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1


def test_no_line_parts_a_spiral():
    assert not separability(*make_spiral(100, random_state=0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_rings(0), "n must be an integer of at least 1, got 0"),
        (lambda: make_rings(10, -0.1), "noise must be at least 0, got -0.1"),
        (lambda: make_rings(10, rings=1), "rings must be an integer of at least 2, got 1"),
        (lambda: make_rings(10, 0.1, "seed"), "random_state must be None, .* got 'seed'"),
        (lambda: make_spiral(2.5), "n must be an integer"),
        (lambda: make_spiral(10, 0), r"turns must be above 0 \(to 1000\), got 0.0: say how often"),
        (lambda: make_spiral(10, 1e9), "turns must be above 0"),
        (lambda: make_spiral(10, math.nan), "turns must be a finite number, got nan"),
        (lambda: make_spiral(10, noise=math.inf), "noise must be a finite number, got inf"),
    ],
)
def test_errors_say_what_was_expected_and_what_came(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_room_lists_its_names():
    assert data.__all__ == sorted(data._NAMES)
    assert all(hasattr(data, name) for name in data.__all__)
