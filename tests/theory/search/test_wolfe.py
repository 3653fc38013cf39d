"""Wolfe's algorithm in floats and in integers: against HiGHS, brute force and Fractions, on thin and tied sets."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.separable_sets import facet, is_separable, margin_square, naive_least_score, noise, planted
from rosenblatt.data import make_separable
from rosenblatt.theory.exact import row_hashes
from rosenblatt.theory.inputs import largest_entry, longest_row
from rosenblatt.theory.search import gordan as gordans
from rosenblatt.theory.search import wolfe as searches
from rosenblatt.theory.search.gordan import conflicting_duplicates, decide_exactly, gordan
from rosenblatt.theory.search.presolve import Solvable, Unsolvable
from rosenblatt.theory.search.wolfe import Hull, IntegerRows, exact_search, nearest_point
from rosenblatt.theory.separability import dataset_margin, separability
from rosenblatt.theory.verdicts import KINDS, Inseparable, Separable

some = settings(max_examples=50, deadline=None)
whole = st.integers(-4, 4)
small_rows = st.integers(1, 3).flatmap(lambda d: st.lists(st.tuples(*[whole] * d), min_size=2, max_size=6))


@pytest.fixture(params=["rows", "products"])
def wide(request, monkeypatch):
    """Run a test with rows or with their products, whatever the width."""
    monkeypatch.setattr(searches, "WIDE", 0 if request.param == "products" else 10**9)
    return request.param == "products"


def look_at(hull, found):
    """See that the search ended with what it says: a direction, weights, and a bracket that belongs to them."""
    assert (found.weights >= 0).all()
    assert found.weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert len(set(found.rows.tolist())) == len(found.rows) <= hull.size + len(hull.groups)
    if len(hull.groups) == 2:
        assert found.weights[hull.signs[found.rows] > 0].sum() == pytest.approx(0.5, rel=1e-12)
    mean = found.weights @ hull.rows(found.rows)
    assert np.linalg.norm(mean) == pytest.approx(found.high, rel=1e-9, abs=1e-9 * hull.radius)
    if found.low > 0:
        scores = hull.scores(found.u)
        least = np.mean([np.min(scores[group]) for group in hull.groups])
        assert np.linalg.norm(found.u) == pytest.approx(1.0, rel=1e-12)
        assert least == pytest.approx(found.low, rel=1e-9)
        assert found.low <= found.high * (1 + 1e-12)


# floats


@settings(max_examples=30, deadline=None)
@given(small_rows, st.data())
def test_the_nearest_point_of_small_hulls(X, data):
    signs = data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=len(X), max_size=len(X)))
    assume(len(set(signs)) == 2 and len(X) * len(X[0]) <= 12)
    for kind in KINDS:
        hull = Hull(np.array(X, dtype=float), np.array(signs), kind)
        found, square = nearest_point(hull), margin_square(X, signs, kind)
        look_at(hull, found)
        if square > 0:
            assert found.low == pytest.approx(math.sqrt(square), rel=1e-9)
            assert found.high == pytest.approx(math.sqrt(square), rel=1e-9)
        else:
            assert found.high < 1e-12 * hull.radius


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [1e-1, 1e-4, 1e-9])
@pytest.mark.parametrize("n", [100, 3000])
def test_planted_hulls(n, gamma, kind):
    """From some thousand rows on, most steps look at a working set only."""
    X, signs = planted(n, 6, gamma, seed=1)
    for form in (X, sp.csr_array(X)):
        hull = Hull(form, signs, kind)
        found = nearest_point(hull)
        look_at(hull, found)
        assert found.low == pytest.approx(gamma, rel=1e-5)
        assert found.high - found.low <= 1e-6 * found.high
        assert found.passes <= found.steps + 1 if n == 100 else found.passes < 12


def test_rows_and_their_products_lead_to_the_same_points(wide):
    for kind in KINDS:
        for X, signs in (planted(80, 5, 1e-2), planted(80, 5, 1e-4), facet(4, 30, lift=0.25)):
            hull = Hull(X, signs, kind)
            found = nearest_point(hull)
            look_at(hull, found)
            if wide:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(searches, "WIDE", 10**9)
                    other = nearest_point(hull)
                assert found.high == pytest.approx(other.high, rel=1e-5, abs=1e-8)


def test_verdicts_do_not_depend_on_the_width(wide):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(-3, 4, (8, 3)) * 0.1, np.append([1, -1], rng.choice([-1, 1], 6))
        found = separability(X, y)
        assert isinstance(found, Separable) == is_separable(X, y)
        assert found.check(X, y)


def test_more_products_are_made_until_no_row_is_lower(monkeypatch):
    monkeypatch.setattr(searches, "WIDE", 0)
    monkeypatch.setattr(searches, "FEW_PRODUCTS", 4)
    for kind in KINDS:
        hull = Hull(*planted(500, 4, 1e-2), kind)
        found = nearest_point(hull)
        look_at(hull, found)
        assert found.low == pytest.approx(1e-2, rel=1e-5)
        assert found.passes > 2


def test_wide_sparse_data():
    rng = np.random.default_rng(2)
    X = sp.random_array((40, 6000), density=0.005, rng=rng, format="csr")
    y = np.where(rng.random(40) < 0.5, 1, -1)
    found = separability(X, y)
    assert isinstance(found, Separable)
    assert found.check(X, y)
    both, labels = sp.vstack([X, X[[7]]]).tocsr(), np.append(y, -y[7])
    proof = separability(both, labels)
    assert isinstance(proof, Inseparable)
    assert proof.support.tolist() == [7, 40]
    assert proof.check(both, labels)


def test_wide_rows_of_zeros():
    found = nearest_point(Hull(sp.csr_array((3, 5000)), np.ones(3), "homogeneous"))
    assert (found.low, found.high) == (0.0, 0.0)
    assert nearest_point(Hull(sp.csr_array((3, 5000)), np.ones(3), "augmented")).low == pytest.approx(1.0, rel=1e-15)


def test_the_watcher_sees_the_bracket_close(monkeypatch):
    X, signs = planted(60, 5, 1e-3)
    hull = Hull(X, signs, "geometric")
    at_once = nearest_point(hull)
    monkeypatch.setattr(searches, "BATCH", 1)
    seen = []
    found = nearest_point(hull, watch=lambda *state: seen.append(state))
    steps, lows, highs = zip(*seen, strict=True)
    assert found.steps == at_once.steps == len(seen)
    assert found.weights.tolist() == at_once.weights.tolist()
    assert steps == tuple(range(1, len(seen) + 1))
    assert list(lows) == sorted(lows)
    rises = [after / before for before, after in pairwise(highs) if after > before]
    assert len(rises) <= 1, "only the restart with iterative refinement may raise the upper bound"
    assert all(rise < 1.0 + 1e-14 for rise in rises), "and only by rounding"


@pytest.mark.parametrize("most", [1, 2, 5])
def test_no_more_steps_than_asked_for(wide, most):
    hull = Hull(*planted(60, 5, 1e-3), "geometric")
    assert nearest_point(hull, max_steps=most).steps <= most + 1


@pytest.mark.parametrize("size", [3e307, 1e300, 1e-300, 5e-324, 1e-310])
def test_hulls_of_extreme_numbers_are_scaled(size):
    X = np.array([[3.0, 4.0], [-1.0, 0.0]]) * size
    hull = Hull(X, np.array([1.0, -1.0]), "homogeneous")
    assert math.isfinite(hull.radius)
    assert nearest_point(hull).low > 0
    assert largest_entry(X) == largest_entry(sp.csr_array(-X)) == np.max(np.abs(X))
    if size > 1e-307:
        assert longest_row(X) == pytest.approx(5 * -X[1, 0], rel=1e-15)
    assert largest_entry(np.zeros((2, 0))) == longest_row(np.zeros((2, 0))) == 0.0


# whole numbers


class Rows:
    """Whole numbers of any size, which floats cannot always tell apart."""

    def __init__(self, rows):
        self.rows = rows
        self.width = len(rows[0])
        self.bits = max(1, max(abs(value) for row in rows for value in row).bit_length())

    def __getitem__(self, i):
        return self.rows[i]

    def near(self, v):
        Z = np.array(self.rows, dtype=float)
        return Z @ v, 1e-14 * (np.abs(Z) @ np.abs(v))


def signed(X, signs, bias):
    """Return the rows z = y (x, 1), or y x without a bias, as fractions."""
    return [[int(s) * Fraction(t) for t in (*x, *[1] * bias)] for x, s in zip(X.tolist(), signs, strict=True)]


def proved(Z, answer):
    """Say which of Gordan's alternatives an exact answer proves: one proof excludes the other."""
    v, weights = answer
    if weights is None:
        assert all(sum(a * b for a, b in zip(v, z, strict=True)) > 0 for z in Z)
        return True
    assert min(weights) > 0
    assert len(set(v)) == len(weights) <= len(Z[0]) + 1
    assert not any(sum(a * Z[i][j] for i, a in zip(v, weights, strict=True)) for j in range(len(Z[0])))
    return False


@some
@given(small_rows, st.booleans(), st.data())
def test_exact_search_decides_from_any_start(X, bias, data):
    X = np.array(X, dtype=float) * data.draw(st.sampled_from([1.0, 0.1, 1e200, 1e-200, 1 + 2.0**-52]))
    signs = np.array(data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=len(X), max_size=len(X))))
    start = data.draw(st.lists(st.integers(0, len(X) - 1)))
    for form in (X, sp.csr_array(X)):
        answer = exact_search(IntegerRows(form, signs, bias), start)
        assert proved(signed(X, signs, bias), answer) == is_separable(X, signs, bias)


@some
@given(small_rows, st.data())
def test_gordan_decides(Z, data):
    Z = np.array(Z, dtype=float) * data.draw(st.sampled_from([1.0, 0.1, 1e150, 3e-320]))
    for form in (Z, sp.csr_array(Z), Z.tolist()):
        answer = gordan(form)
        if is_separable(Z, np.ones(len(Z)), bias=False):
            assert isinstance(answer, Solvable)
            assert naive_least_score(Z, np.ones(len(Z)), answer.v.tolist(), 0) > 0
        else:
            assert isinstance(answer, Unsolvable)
            assert not proved(signed(Z, np.ones(len(Z)), 0), (answer.support.tolist(), list(answer.weights)))


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_rounded_weights_get_another_bias_before_integers_do(form):
    X, signs = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]]), np.array([1.0, -1.0, 1.0])
    answer = decide_exactly(form(X), signs, True, np.array([0.25, 0.5, 0.25]))
    assert isinstance(answer, Solvable)
    assert answer.v.dtype == np.float64
    assert naive_least_score(X, signs, answer.v[:-1].tolist(), answer.v.tolist()[-1]) > 0


def test_twins_of_different_labels(monkeypatch):
    assert isinstance(gordan(np.zeros((3, 0))), Unsolvable)  # rows without columns are twins, and zero
    rng = np.random.default_rng(0)
    X, y = rng.choice([-1.0, 1.0], (2000, 30)), rng.choice([-1.0, 1.0], 2000)
    assert len(np.unique(row_hashes(X))) > 1900  # of round numbers too
    assert conflicting_duplicates(np.array([[0.0], [-0.0]]), np.array([1.0, -1.0])) is not None
    X, y = noise(50, 3)
    assert conflicting_duplicates(X, y) is None
    with monkeypatch.context() as patch:
        patch.setattr(gordans, "row_hashes", lambda X: np.zeros(X.shape[0], np.uint64))  # rows only seem to be equal
        assert conflicting_duplicates(X, y) is None
    assert conflicting_duplicates(np.vstack([X, X[4]]), np.append(y, y[4])) is None
    for form in (np.vstack([X, X[4]]), sp.csr_array(np.vstack([X, X[4]]))):
        proof = conflicting_duplicates(form, np.append(y, -y[4]))
        assert proof.support.tolist() == [4, 50]
        assert proof.weights == (1, 1)


@pytest.mark.parametrize("m", [2, 4, 8])
@pytest.mark.parametrize("tilt", [0, 1])
def test_numbers_that_floats_cannot_tell_apart(m, tilt):
    """The rows add up to zero, or miss it by 1 in 10^30."""
    rng = np.random.default_rng(m)
    rows = [[10**20 * value + 1 for value in rng.integers(-(10**9), 10**9, m).tolist()] for _ in range(m - 1)]
    rows.append([-sum(column) for column in zip(*rows, strict=True)])
    rows[-1][0] += tilt
    answer = exact_search(Rows(rows), range(m))
    assert proved(rows, answer) == (tilt == 1)


@some
@given(
    st.lists(
        st.tuples(
            st.floats(-1e300, 1e300).map(lambda value: value if abs(value) > 1e-300 else 0.0),
            st.sampled_from([1.0, 0.1, -0.3, 2.0**-1074, 2.0**60]),
        ),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
def test_floats_become_whole_numbers_in_proportion(rows, data):
    X = np.array(rows)
    signs = np.array(data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=len(X), max_size=len(X))))
    for bias in (False, True):
        whole = IntegerRows(X, signs, bias)
        for i, (x, sign) in enumerate(zip(X.tolist(), signs.tolist(), strict=True)):
            z = [sign * value for value in x] + [sign] * bias
            units = [value.as_integer_ratio() for value in z]
            assert [above * 2**1100 // below for above, below in units] == [
                (value << 1100) >> -whole.low if whole.low < 0 else value << 1100 + whole.low for value in whole[i]
            ]
            assert max(abs(value) for value in whole[i]).bit_length() <= whole.bits


def test_too_much_work_is_not_begun():
    rows = [[1 << 60, 0], [-(1 << 60), 1], [0, -1]]
    assert exact_search(Rows(rows), range(3), most_work=50) is None
    assert not proved(rows, exact_search(Rows(rows), range(3), most_work=100))


# Margins near rounding: what stays open of a bracket is some 1e-15 of the longest row.


ROUNDING = 1e-14


def tied(n, d, gamma, seed):
    """Points at gamma from a hyperplane, all of them."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    X, y = rng.standard_normal((n, d)), np.where(rng.random(n) < 0.5, 1, -1)
    return X + np.outer(y * gamma - X @ w, w), y


SETS = {
    "a hyperplane that many rows touch": lambda n, d, gamma, seed: planted(n, d, gamma, seed),
    "a hyperplane that all rows touch": tied,
    "two rows that decide": lambda n, d, gamma, seed: make_separable(n, d, gamma, random_state=seed),
    "whole numbers that tie": lambda n, d, gamma, seed: facet(d, n, seed, lift=gamma),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
def test_brackets_close_as_far_as_rounding_lets_them(name, kind):
    for n, d in ((30, 2), (500, 3), (300, 10), (2000, 10), (300, 40)):
        for gamma in (1e-6, 1e-8, 1e-11, 1e-12, 1e-13):
            X, y = SETS[name](n, d, gamma, seed=d)
            found = dataset_margin(X, y, kind)
            assert found.check(X, y)
            if found.high == -math.inf:  # the facet is not homogeneous
                continue
            R = math.hypot(np.max(np.linalg.norm(X, axis=1)), kind == "augmented")
            assert 0 < found.low <= found.high
            assert found.high - found.low <= max(1e-6 * found.high, ROUNDING * R), (n, d, gamma)


@pytest.mark.parametrize(("n", "d", "seed"), [(500, 3, 591), (500, 3, 368), (500, 3, 280), (20, 2, 365)])
def test_points_of_hardly_any_weight(n, d, seed):
    """Here a row counts with a weight below rounding; keeping or dropping it decides about the direction."""
    for gamma in (1e-6, 1e-7, 1e-8):
        X, y = facet(d, n, seed, lift=gamma)
        assert dataset_margin(X, y).gap < 1e-6
