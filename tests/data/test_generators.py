"""The planted answers, checked by means that share nothing with the generators: fractions, NNLS, an LP."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rosenblatt import KernelPerceptron, data, separability
from rosenblatt.data import make_circle, make_rings, make_separable, make_sorted, make_spiral, make_xor

EPS = 2.0**-52

SIZES = [
    (2, 2, 0.3),
    (2, 2, 1e-9),
    (50, 2, 0.1),
    (50, 2, 1e-6),
    (50, 2, 0.999999),
    (3, 3, 0.5),
    (200, 3, 1e-3),
    (100, 10, 0.25),
    (100, 10, 1e-9),
    (100, 10, 1e-12),
    (100, 10, 1e-15),
    (60, 10, 1e-40),
    (20, 100, 1e-2),
    (2, 1000, 1e-5),
    (50, 5, 1 - 1e-15),
    (20, 4, 1.0),
    (20, 2, 1.0),
    (5, 1, 1.0),
    (1, 3, 1.0),
]


def exact_dot(a, b):
    return sum((Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a, b, strict=True)), Fraction(0))


def exact_margins(X, y, u):
    return [int(label) * exact_dot(row, u) for row, label in zip(X, y, strict=True)]


def tolerance(d, margin):
    """A few ulps of the margin itself; of 1 where a slanted line in the plane makes the digits meet."""
    return 4 * EPS * (1.0 if d == 2 and margin >= 1e-6 else margin)


@pytest.mark.parametrize(("n", "d", "margin"), SIZES)
def test_the_separator_attains_the_margin_and_two_rows_prove_that_none_is_larger(n, d, margin):
    X, y, u = make_separable(n, d, margin, random_state=1, return_separator=True)
    assert X.shape == (n, d)
    assert X.dtype == np.float64
    assert abs(exact_dot(u, u) - 1) <= 4 * EPS
    margins = exact_margins(X, y, u)
    assert abs(min(margins) - Fraction(margin)) <= tolerance(d, margin)
    # The mean m of two of the y x has |m| = margin, and min_i y_i (w . x_i) <= w . m <= |m| for any unit w.
    Z = (X * y[:, None])[np.argsort([float(m) for m in margins], kind="stable")[:2]]
    squared = sum(
        ((sum((Fraction(float(z)) for z in column), Fraction(0)) / len(Z)) ** 2 for column in Z.T), Fraction(0)
    )
    # Squared norms differ by 2 margin times what the norms differ by.
    assert abs(squared - Fraction(margin) ** 2) <= 3 * Fraction(margin) * Fraction(tolerance(d, margin))


def test_only_the_pair_attains_the_margin():
    X, y, u = make_separable(1000, 5, 0.2, random_state=0, return_separator=True)
    attained = np.sort(y * (X @ u))
    assert attained[1] == pytest.approx(0.2, abs=1e-15)
    assert attained[2] > 0.2
    # The rows moved off the plane are spread between one margin and two, not heaped up at the first.
    assert np.count_nonzero(attained < 0.3) < np.count_nonzero(attained < 0.4) * 0.7


@pytest.mark.parametrize(("n", "d", "margin"), SIZES + [(50, 2000, 1e-4)])
def test_rows_have_norm_one(n, d, margin):
    X, _ = make_separable(n, d, margin, random_state=3)
    for row in X:
        assert abs(exact_dot(row, row) - 1) <= 2 * 2 * EPS  # the square of 1 + 2 ulps


@pytest.mark.parametrize("n", [2, 3, 4, 20])
def test_both_classes_from_two_rows_on(n):
    for seed in range(30):
        made = make_separable(n, 3, 0.1, seed), make_circle(n, random_state=seed), make_rings(n, random_state=seed)
        for _, y in (*made, make_spiral(n, 1, 0, seed)):
            assert y.dtype == np.int64
            assert set(y.tolist()) == {-1, 1}


def test_the_pair_and_the_labels_lie_anywhere():
    where, first = set(), set()
    for seed in range(100):
        X, y, u = make_separable(5, 3, 0.1, seed, return_separator=True)
        where.update(np.argsort(y * (X @ u))[:2].tolist())
        first.add(int(y[0]))
    assert where == set(range(5))
    assert first == {-1, 1}


def test_directions_are_not_preferred():
    # Planes of many seeds point everywhere, in the plane too.
    angles = [math.atan2(*make_separable(4, 2, 0.1, seed, return_separator=True)[2]) for seed in range(200)]
    counts = np.histogram(angles, bins=8, range=(-math.pi, math.pi))[0]
    assert counts.min() >= 10


MAKERS = [
    lambda seed: make_separable(40, 4, 0.1, seed),
    lambda seed: make_sorted(40, 4, 0.1, seed),
    lambda seed: make_xor(40, 0.1, seed),
    lambda seed: make_circle(40, 3, random_state=seed),
    lambda seed: make_rings(40, random_state=seed),
    lambda seed: make_rings(40, 0.1, seed, rings=5),
    lambda seed: make_spiral(40, random_state=seed),
    lambda seed: make_spiral(40, 3, 0.1, seed),
]


@pytest.mark.parametrize("make", MAKERS)
def test_same_seed_same_bits(make):
    X, y = make(7)
    assert (len(X), X.dtype, y.dtype, set(y.tolist())) == (40, np.float64, np.int64, {-1, 1})
    for seed in (7, np.int32(7), np.random.default_rng(7)):
        again, labels = make(seed)
        assert (again.tobytes(), labels.tobytes()) == (X.tobytes(), y.tobytes())
    rng, old = np.random.default_rng(7), np.random.RandomState(7)
    first = make(old)[0].tobytes()
    assert make(np.random.RandomState(7))[0].tobytes() == first
    assert first != make(old)[0].tobytes()
    for other in (make(8), make(None)):
        assert other[0].tobytes() != X.tobytes()
    assert make(rng)[0].tobytes() != make(rng)[0].tobytes(), "a generator moves on"


@pytest.mark.parametrize(("n", "d", "margin"), [(1000, 2, 0.1), (2, 3, 0.5), (60, 10, 1e-9), (6, 1, 1.0)])
def test_sorted_is_half_positives_then_half_negatives_and_separable(n, d, margin):
    X, y = make_sorted(n, d, margin, random_state=0)
    assert X.shape == (n, d)
    assert y.tolist() == [1] * (n // 2) + [-1] * (n // 2)
    # All the hull of the y x is at least the margin away from 0, and the middle of some pair just that.
    positives, negatives = X[: n // 2], -X[n // 2 :]
    middles = (positives[:, None] + negatives[None]) / 2
    assert np.linalg.norm(middles, axis=2).min() == pytest.approx(margin, rel=1e-12)


def mistakes_by_pass(X, y):
    w, b, counts = np.zeros(X.shape[1]), 0.0, []
    while not counts or counts[-1]:
        counts.append(0)
        for x, label in zip(X, y, strict=True):
            if label * (x @ w + b) <= 0:
                w, b = w + label * x, b + label
                counts[-1] += 1
    return counts


@pytest.mark.parametrize("seed", range(3))
def test_sorted_is_the_trap(seed):
    X, y = make_sorted(1000, 10, 0.1, random_state=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    trapped, shuffled = mistakes_by_pass(X, y), mistakes_by_pass(X[order], y[order])
    assert trapped[0] <= 5 < shuffled[0]
    assert len(trapped) > 2 * len(shuffled)


def test_xor_is_the_four_corners_which_it_repeats_and_jitters_around():
    X, y = make_xor()
    assert X.dtype == np.float64
    assert (X.tolist(), y.tolist()) == ([[-1, -1], [-1, 1], [1, -1], [1, 1]], [-1, 1, 1, -1])
    exact, labels = make_xor(10)
    assert (exact.tolist(), labels.tolist()) == ((X.tolist() * 3)[:10], (y.tolist() * 3)[:10])
    X, y = make_xor(4000, noise=0.1, random_state=0)
    corners, y_corners = make_xor(4000)
    assert y.tolist() == y_corners.tolist()
    assert (X - corners).std() == pytest.approx(0.1, rel=0.05)
    assert np.abs((X - corners).mean(axis=0)).max() < 0.01


@pytest.mark.parametrize(
    ("d", "radius", "center", "gap"),
    [
        (2, 1.0, None, 0.1),
        (2, 1.0, None, 0.0),
        (1, 3.0, [1.0], 0.5),
        (3, 2.0, [1, -2, 0.5], 1.9),
        (50, 1.0, None, 0.3),
        (2, 1e-6, [1.0, 1.0], 1e-7),
        (2, 1e9, [1e3, 5.0], 1.0),
    ],
)
def test_circle_keeps_the_gap(d, radius, center, gap):
    X, y = make_circle(300, d, radius, center, gap, random_state=0)
    c = [0.0] * d if center is None else center
    distance = np.array([math.dist(row, c) for row in X])
    assert X.shape == (300, d)
    assert (distance[y == 1] <= radius - gap).all()
    assert (distance[y == -1] >= radius + gap).all()
    assert (np.abs(distance - radius) >= gap).all()


def test_circle_points_lie_all_around_and_fill_the_disc():
    X, y = make_circle(4000, gap=0.1, random_state=0)
    for label in (-1, 1):
        quadrant = (X[y == label] > 0) @ [1, 2]
        assert np.bincount(quadrant).min() > 400
    inner = np.linalg.norm(X[y == 1], axis=1)
    assert (inner < 0.9 * math.sqrt(0.5)).mean() == pytest.approx(0.5, abs=0.05)


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
def test_both_are_learned_by_a_gaussian_kernel_alone(gamma, make):
    X, y = make(150, random_state=0)
    assert not separability(X, y)
    model = KernelPerceptron("rbf", gamma=gamma, hypothesis="last", max_iter=200, shuffle=False).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_separable(0, 2, 0.1), "n must be an integer of at least 1, got 0"),
        (lambda: make_separable(2.5, 2, 0.1), "n must be an integer"),
        (lambda: make_separable(True, 2, 0.1), "n must be an integer"),
        (lambda: make_separable(10, 0, 0.1), "d must be an integer of at least 1, got 0"),
        (lambda: make_separable(10, 2, 0.0), "margin must be between 1e-100 and 1, got 0.0"),
        (lambda: make_separable(10, 2, 1.5), "margin must be between 1e-100 and 1, got 1.5"),
        (lambda: make_separable(10, 2, math.nan), "margin must be a finite number, got nan"),
        (lambda: make_separable(10, 2, "wide"), "margin must be a finite number, got 'wide'"),
        (lambda: make_separable(10, 1, 0.5), "margin must be 1 when d = 1, got 0.5.*use d >= 2"),
        (lambda: make_separable(1, 5, 0.5), "margin must be 1 when n = 1, got 0.5.*use n >= 2"),
        (lambda: make_separable(10, 2, 0.1, "seed"), "random_state must be None, .* got 'seed'"),
        (lambda: make_separable(10, 2, 0.1, -1), "random_state must be an integer of at least 0 or None, got -1"),
        (lambda: make_sorted(7), "n must be even, got 7.*use 8"),
        (lambda: make_sorted(10, 1, 0.5), "margin must be 1 when d = 1"),
        (lambda: make_xor(3), "n must be an integer of at least 4, got 3"),
        (lambda: make_xor(4, -0.1), "noise must be at least 0, got -0.1"),
        (lambda: make_xor(4, math.inf), "noise must be a finite number, got inf"),
        (lambda: make_circle(radius=0.0), "radius must be from 1e-100 to 1e100, got 0.0"),
        (lambda: make_circle(gap=1.0), "gap must be at least 0, and less than the radius 1.0 by more .*, got 1.0"),
        (lambda: make_circle(gap=-0.1), "gap must be at least 0"),
        (lambda: make_circle(center=[1e15, 0], gap=0.1), "move the center to the origin"),
        (lambda: make_circle(d=3, center=[0, 0]), "center must hold d = 3 finite numbers, got "),
        (lambda: make_circle(center=[0, math.nan]), "center must hold d = 2 finite numbers"),
        (lambda: make_rings(0), "n must be an integer of at least 1, got 0"),
        (lambda: make_rings(10, -0.1), "noise must be at least 0, got -0.1"),
        (lambda: make_rings(10, rings=1), "rings must be an integer of at least 2, got 1"),
        (lambda: make_rings(10, 0.1, "seed"), "random_state must be None, .* got 'seed'"),
        (lambda: make_spiral(2.5), "n must be an integer"),
        (lambda: make_spiral(10, 0), r"turns must be above 0 and at most 1000, got 0.0: give the number of turns"),
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
