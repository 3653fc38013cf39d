import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.naive import activation
from helpers.separable_sets import whole_separable
from rosenblatt import Perceptron
from rosenblatt.theory.convergence import bounds
from rosenblatt.theory.convergence.bounds import allowing_for_rounding, mistake_bound, novikoff, squared_radius
from rosenblatt.theory.separability import dataset_margin

some = settings(max_examples=60, deadline=None)
small = st.integers(-4, 4)


@some
@given(whole_separable(columns=3, rows=8), st.data())
def test_no_sequence_of_the_rows_makes_more_mistakes(case, data):
    """Novikoff's theorem is about streams: any rows in any order, and then always the row that is most wrong."""
    X, y, _, _, bias = case
    bound = mistake_bound(X, y, fit_intercept=bias)
    stream = data.draw(st.lists(st.integers(0, len(y) - 1), max_size=50))
    w, b, k = np.zeros(X.shape[1]), 0.0, 0
    while stream or (y * (X @ w + b)).min() <= 0:
        i = stream.pop() if stream else int(np.argmin(y * (X @ w + b)))
        if y[i] * (X[i] @ w + b) <= 0:
            w, b, k = w + y[i] * X[i], b + y[i] * bias, k + 1
        assert k <= bound < math.inf


@some
@given(st.lists(small, min_size=2, max_size=2), st.lists(small, min_size=2, max_size=2), st.booleans())
def test_two_rows_have_the_bound_of_plane_geometry(p, q, bias):
    """The margin of two rows is the distance of the origin from the segment between y z and y' z'."""
    z, t = [Fraction(v) for v in (*p, bias)], [-Fraction(v) for v in (*q, bias)]
    gap = [u - v for u, v in zip(z, t, strict=True)]
    length = sum(v * v for v in gap)
    share = min(max(sum(u * v for u, v in zip(z, gap, strict=True)) / length, 0), 1) if length else Fraction(0)
    nearest = [u - share * v for u, v in zip(z, gap, strict=True)]
    margin2 = sum(v * v for v in nearest)
    bound = mistake_bound(np.array([p, q], dtype=float), [1, -1], fit_intercept=bias)
    if margin2 == 0:
        assert bound == math.inf
    else:
        exact = max(sum(v * v for v in z), sum(v * v for v in t)) / margin2
        assert math.floor(exact) <= bound <= exact * (1 + Fraction(1, 10**5))
        assert bound == math.floor(bound)


def test_with_a_bias_the_scale_matters_and_without_it_does_not():
    """CIML 4.5 for the points 1 (+) and 0 (-): R = 1 and the margin 1/2 allow 4 updates, and there are 5."""
    X, y = np.array([[1.0], [0.0]]), [1, -1]
    assert 1.0 / dataset_margin(X, y, kind="geometric").low ** 2 == pytest.approx(4.0)
    assert mistake_bound(X, y) == pytest.approx(10.0)  # (R^2 + 1) / gamma^2 with gamma^2 = 1/5
    for scale, updates in ((0.1, 203), (1.0, 5), (10.0, 3)):
        model = Perceptron(shuffle=False, max_iter=1000).fit(scale * X, y)
        assert (model.n_updates_, model.converged_) == (updates, True)
        assert updates <= mistake_bound(scale * X, y) <= model.report_.bound * (1 + 1e-6)
    Z, t = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 3.0]]), [1, 1, -1]
    once = mistake_bound(Z, t, fit_intercept=False)
    for scale in (1e-200, 0.125, 1024.0, 1e200):
        assert mistake_bound(scale * Z, t, fit_intercept=False) == pytest.approx(once)


@pytest.mark.parametrize("n", [2, 4, 25])
def test_orthonormal_rows_reach_the_bound(n):
    X, y = np.eye(n), np.where(np.arange(n) % 2, 1, -1)
    bound = mistake_bound(X, y, fit_intercept=False)
    model = Perceptron(fit_intercept=False).fit(X, y)
    assert model.n_updates_ == n == math.floor(bound) == round(model.report_.bound)
    assert model.report_.margin_low == pytest.approx(1 / np.sqrt(n))
    assert model.report_.margin_high == pytest.approx(1 / np.sqrt(n))


def test_nothing_bounds_the_run_where_nothing_separates():
    square = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=float)
    assert mistake_bound(square, [1, 1, -1, -1]) == math.inf
    assert mistake_bound(square, [1, 1, 1, 1], fit_intercept=False) == math.inf  # the origin is never right
    assert mistake_bound(np.empty((2, 0)), [1, -1]) == math.inf
    assert mistake_bound([[1.0], [2.0]], [1, -1], fit_intercept=False) == math.inf


def test_one_class_needs_few_updates_with_a_bias():
    # (3, 1) and (-3, 1): the nearest point of their segment to the origin is (0, 1)
    assert mistake_bound([[3.0], [-3.0]], [1, 1]) == pytest.approx(10.0)
    assert mistake_bound(np.empty((5, 0)), np.ones(5)) == pytest.approx(1.0)
    assert mistake_bound(np.empty((5, 0)), -np.ones(5)) == pytest.approx(1.0)


def test_more_than_two_classes_are_taken_one_at_a_time():
    with pytest.raises(ValueError, match="expected two classes, got 3"):
        mistake_bound([[0.0], [1.0], [2.0]], [0, 1, 2])


wide = st.one_of(st.floats(-1e308, 1e308), st.sampled_from([0.0, 5e-324, 1e-200, 1e200, 1.0, 0.1, 3.0, 4.0, 5.0]))


@some
@given(st.lists(st.lists(wide, min_size=3, max_size=3), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_the_radius_is_exact_or_rounded_up(rows, bias, sparse):
    X = np.array(rows)
    exact = max(sum(Fraction(v) ** 2 for v in row) for row in rows) + bias
    given_rows = sp.csr_array(X) if sparse else X
    assert squared_radius(given_rows, bias) == exact
    with pytest.MonkeyPatch.context() as patch:  # as if there were too many rows to square them exactly
        patch.setattr(bounds, "_EXACT_TERMS", -1)
        rounded = squared_radius(given_rows, bias)
    assert exact <= rounded <= exact * (1 + Fraction(1, 10**12))


@some
@given(st.fractions(min_value=Fraction(1, 1000), max_value=10**9), st.floats(1e-3, 1e3))
def test_the_quotient_is_rounded_up_and_allows_for_rounded_weights(squared, gamma):
    exact = squared / Fraction(gamma) ** 2
    bound = Fraction(novikoff(squared, gamma))
    assert exact < bound <= exact * (1 + 3 * (exact + 3) / 2**53) * (1 + Fraction(1, 2**50))
    assert bound <= max(exact, 2**47) * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("K", [1.0, 1.5, 2.0, 3.3, 10.0, 99.9, 1000.0, 5000.5, 12_345.0, 15_000.0, 15_700.0])
def test_no_run_that_rounds_upwards_at_each_update_gets_beyond_the_bound(K):
    """The recurrences of the proof, with the coarse rounding u = 2^-20: right after the bound they contradict."""
    u = 2.0**-20
    bound = float(allowing_for_rounding(Fraction(K), Fraction(u)))
    last = math.floor(bound) + 1
    assert K < bound <= 2**14
    square, drift = 0.0, 0.0  # |w|^2 and the sum of the errors, over R, at their largest
    for k in range(1, last + 1):
        rounds = u if k > 1 else 0.0
        drift += rounds * math.sqrt(square + 1.0)
        square = (1.0 + rounds) ** 2 * (square + 1.0)
    assert last / math.sqrt(K) - drift > math.sqrt(square) * (1 + 1e-12)


def test_huge_bounds_are_not_loose():
    for exponent in range(14, 60):
        K = Fraction(10) ** exponent
        assert K <= novikoff(K, 1.0) <= K * (1 + Fraction(35, 1000) * (exponent == 14) + Fraction(1, 2**51))
    grid = [novikoff(Fraction(2**47) * i / 1000, 1.0) for i in range(1, 2000)]
    assert grid == sorted(grid)


def test_numbers_out_of_range_are_infinite():
    assert novikoff(Fraction(1), 1e-200) == math.inf
    assert novikoff(Fraction(10) ** 400, 1.0) == math.inf
    assert novikoff(Fraction(10) ** 400, 1e200) == pytest.approx(1.0)
    assert novikoff(Fraction(10) ** 40, 1.0) == pytest.approx(1e40)
    assert novikoff(Fraction(1), -math.inf) == math.inf


def test_rounded_weights_stay_within_the_bound():
    """Tenths cannot be stored exactly, so these weights are rounded; runs in every order of six rows."""
    X = np.array([[0.1, 0.7], [0.3, 0.1], [-0.2, 0.4], [0.1, -0.3], [-0.7, 0.1], [-0.1, -0.1]])
    y = np.array([1, 1, 1, -1, -1, -1])
    bound = mistake_bound(X, y)
    most = 0
    for order in itertools.permutations(range(6)):
        w, b, k, clean = [0.0, 0.0], 0.0, 0, False
        while not clean:
            clean = True
            for i in order:
                if y[i] * activation(w, b, X[i].tolist()) <= 0:
                    w, b = [v + y[i] * t for v, t in zip(w, X[i].tolist(), strict=True)], b + y[i]
                    k, clean = k + 1, False
        most = max(most, k)
    assert 5 < most <= bound
