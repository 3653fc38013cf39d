"""The search for many columns: never wrong on small sets, and never without an answer on what people bring."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.separable_sets import is_separable, noise, planted
from rosenblatt import Certificate, margin, separability
from rosenblatt.progress import Limits
from rosenblatt.theory.enclosures import encloses_zero_combination
from rosenblatt.theory.search import hyperplane
from rosenblatt.theory.search.presolve import Solvable, Unsolvable, common_values, signed_rows
from rosenblatt.theory.search.wide import HingeNewton, WideSearch, exact_line_search
from rosenblatt.theory.verdicts import Inseparable, Separable, UndecidedSeparability


def decide(X, signs, bias=True):
    return WideSearch(X, signs, bias, Limits()).decide()


@pytest.mark.parametrize("bias", [True, False])
def test_small_sets_full_of_ties(bias):
    rng = np.random.default_rng(int(bias))
    seen = []
    for k in range(100):
        X = rng.integers(-2, 3, (int(rng.integers(2, 12)), int(rng.integers(1, 5)))) * rng.choice([1.0, 0.1, 2.0**-60])
        signs = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
        answer = decide(sp.csr_array(X) if k % 2 else X, signs, bias)
        if answer is not None:
            assert isinstance(answer, Solvable) == is_separable(X, signs, bias)
        seen.append(type(answer))
    assert seen.count(type(None)) < 10
    assert seen.count(Solvable) > 20
    assert seen.count(Unsolvable) > 20


def dependent(X, how):
    """Return X with columns that are zero, constant, there twice, sums of others, or shares of a whole."""
    X = X.copy()
    if how == "zero":
        X[:, 3] = 0.0
    elif how == "constant":
        X[:, 3] = 0.1
    elif how == "twice":
        X[:, 3] = X[:, 5]
    elif how == "minus a third":
        X[:, 5] = np.rint(X[:, 5] * 1e6) * 3.0
        X[:, 3] = X[:, 5] / -3.0
    elif how == "sum":
        X[:, 3] = X[:, 5] + X[:, 6]
    elif how == "shares":
        X = np.abs(X) / np.abs(X).sum(axis=1)[:, None]
    elif how == "indicators":  # they add up to 1, twice
        X[:, :4] = np.eye(4)[np.arange(len(X)) % 4]
        X[:, 4:9] = np.eye(5)[np.arange(len(X)) // 4 % 5]
    return X


HOW = ["none", "zero", "constant", "twice", "minus a third", "sum", "shares", "indicators"]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    ("d", "standardised"),
    [(70, False), *(pytest.param(d, case, marks=pytest.mark.slow) for d in (50, 64, 90) for case in (False, True))],
)
def test_noise_with_columns_that_depend_on_others(d, how, standardised):
    X, y = noise(10 * d, d, seed=3)
    X = dependent(X, how)
    if standardised:
        deviation = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0)
    found = separability(X, y)
    assert isinstance(found, Inseparable)
    assert found.check(X, y)
    assert len(found.support) < 5 * d  # few of the rows
    again = Certificate.from_json(found.to_json())
    assert again.check(X, y)
    assert not again.check(X, np.roll(y, 1))


@pytest.mark.parametrize(("n", "d", "gamma"), [(500, 70, 1e-1), (900, 100, 1e-3), (900, 100, 1e-6), (400, 70, 1e-9)])
def test_planted_margins_in_many_dimensions(n, d, gamma):
    X, y = planted(n, d, gamma)
    for form in (X, sp.csr_array(X)):
        found = separability(form, y, margin=False)
        assert isinstance(found, Separable)
        assert 0 < found.margin_low <= gamma * (1 + 1e-6)
        assert found.margin_high >= gamma * (1 - 1e-6)
        assert found.check(X, y)


def text(n, d, words, seed):
    """Counts of words of which few are frequent and most are rare."""
    rng = np.random.default_rng(seed)
    which = np.minimum((rng.pareto(1.0, n * words) * 5).astype(int), d - 1)
    counts = sp.csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), which)), shape=(n, d))
    counts.sum_duplicates()
    return counts, np.where(rng.random(n) < 0.5, 1.0, -1.0)


def test_text_with_labels_at_random():
    """Each row has the same number of words, so the columns depend on each other and on the bias."""
    X, y = text(1500, 120, 20, seed=0)
    found = separability(X, y)
    assert isinstance(found, Inseparable)
    assert found.check(X, y)
    assert len(found.support) < 1000
    few = separability(X[:150], y[:150], margin=False)
    assert isinstance(few, Separable)
    assert few.check(X[:150], y[:150])


def test_wide_text_is_separated_by_its_rare_words():
    X, y = text(400, 5000, 30, seed=1)
    X = sp.hstack([X, sp.eye_array(400)], format="csr")  # a word of its own for each
    found = separability(X, y, margin=False)
    assert isinstance(found, Separable)
    assert found.check(X, y)
    assert found.margin_low <= found.margin_high < np.inf


def test_a_time_limit_keeps_what_was_reached():
    X, y = noise(900, 90, seed=3)
    found = separability(X, y, max_seconds=1e-9)
    assert isinstance(found, UndecidedSeparability)
    assert found.check(X, y)
    assert found.low <= 0 <= found.high
    X, y = planted(900, 100, 1e-3)
    for limit in (1e-9, 1e-2, 1e2):
        found = separability(X, y, max_seconds=limit)
        assert isinstance(found, Separable | UndecidedSeparability)
        assert found.check(X, y)
    assert isinstance(found, Separable)
    assert found.margin_high - found.margin_low <= 1e-6 * found.margin_high


def test_few_rows_of_very_many_columns():
    """A square matrix of all columns would take 80 GB; few of them are used, and fewer rows than that matter."""
    rng = np.random.default_rng(0)
    rows, words = np.repeat(np.arange(300), 5), rng.integers(0, 40, 1500) * 2500
    X = sp.csr_array((np.ones(1500), (rows, words)), shape=(300, 100_000))
    X.sum_duplicates()
    y = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    found = separability(X, y, margin=False)
    assert isinstance(found, Inseparable)
    assert found.check(X, y)
    again = Certificate.from_json(found.to_json())
    assert again.check(X, y)


@pytest.mark.parametrize("place", [1000, 963, -963, -1060])
@pytest.mark.parametrize("d", [60, 66])
def test_a_power_of_two_changes_no_verdict(d, place):
    rng = np.random.default_rng(3)
    X, y = np.ldexp(rng.integers(-9, 10, (200, d)) * 1.0, place), rng.integers(0, 2, 200)
    found = separability(X, y)
    assert isinstance(found, Inseparable)
    assert found.check(X, y)


def test_columns_of_all_sizes():
    rng = np.random.default_rng(4)
    X, y = rng.integers(-9, 10, (300, 100)) * 10.0 ** rng.uniform(-300, 300, 100), rng.integers(0, 2, 300)
    found = separability(X, y)
    assert isinstance(found, Inseparable)
    assert found.check(X, y)


@pytest.mark.parametrize("method", ["hull", "lp"])
def test_no_class_is_searched_when_time_is_over(method, monkeypatch):
    """Each class would take its own time otherwise."""
    monkeypatch.setattr(hyperplane, "conflicting_duplicates", lambda *_: pytest.fail("it was searched"))
    X, y = noise(60, 5)[0], np.arange(60) % 6
    found = separability(X, y, method=method, max_seconds=1e-9)
    assert all(isinstance(one, UndecidedSeparability) for one in found.values())
    assert found.check(X, y)


def test_a_loose_search_is_not_below_what_is_known():
    """A search that ends early may have a worse hyperplane than the one it was given."""
    X, y = planted(300, 5, 0.1, seed=1)
    best = separability(X, y)
    known = np.append(best.w, best.b)
    alone = hyperplane.find_hyperplane(X, y, "geometric", 0.99, 20, Limits())
    assert 0 < margin(X, y, alone.w, alone.b) < 0.9 * best.margin_low
    kept = hyperplane.find_hyperplane(X, y, "geometric", 0.99, 20, Limits(), known=known)
    assert margin(X, y, kept.w, kept.b) >= best.margin_low


# Newton's method on the squared hinge loss against what it must converge to.


def loss(s, q, t):
    return float(np.sum(np.maximum(1.0 - s - t * q, 0.0) ** 2))


def test_the_best_length_beats_all_others():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        s, q = rng.integers(-3, 4, n) / 2, rng.integers(-3, 4, n) / 2
        if not np.maximum(1.0 - s, 0.0) @ q > 0:  # it does not go down
            continue
        t = exact_line_search(s, q)
        assert t > 0
        around = np.concatenate([t * np.linspace(0.0, 3.0, 61), np.linspace(0.0, 20.0, 81)])
        assert loss(s, q, t) <= min(loss(s, q, other) for other in around) + 1e-12


def test_a_line_on_which_all_rows_can_be_satisfied_is_followed_to_the_last_of_them():
    """Rounding may leave the derivative negative behind the last breakpoint, where it is 0."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        q, s = np.abs(rng.normal(size=50)) + 0.01, rng.normal(size=50)
        assert loss(s, q, exact_line_search(s, q)) <= 1e-15


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_steps_by_rows_end_where_steps_by_columns_do(form):
    """Zero columns change nothing but the way: with them there are fewer rows than columns."""
    X, signs = noise(30, 6)
    Z, _ = signed_rows(X, signs, True)
    wide = np.column_stack([Z, np.zeros((30, 60))])
    one, other = HingeNewton(form(Z), np.zeros(7)), HingeNewton(form(wide), np.zeros(67))
    assert (one.by_rows, other.by_rows) == (False, True)
    for _ in range(12):
        one.step()
        other.step()
    np.testing.assert_allclose(other.v[:7], one.v, rtol=1e-6)
    assert not other.v[7:].any()
    assert max(one.off, other.off) < 1e-8


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_it_ends_in_a_solution_or_in_weights_that_add_up_to_zero(form):
    for X, signs, solvable in ((*planted(80, 6, 1e-4), True), (*noise(80, 6), False)):
        Z, _ = signed_rows(form(X), signs, True)
        search = HingeNewton(Z, np.zeros(7))
        while search.off > 1e-13 and search.steps < 100 and not (search.s > 0).all():
            search.step()
        assert bool((Z @ search.v > 0).all()) == solvable
        if not solvable:
            a = search.weights
            assert np.max(np.abs(Z.T @ a)) < 1e-10
            assert np.linalg.norm(a) >= 1.0
            assert a @ a == pytest.approx(a.sum(), rel=1e-9)  # the projection of the vector of ones


def standardised_images(rng, n, columns, rare, most):
    """Return images with some pixels that are black in all rows but a few, standardised: no entry is zero any more."""
    X = np.where(rng.random((n, columns)) < 0.3, rng.integers(1, 256, (n, columns)), 0).astype(float)
    seldom = np.zeros((n, rare))
    for j in range(rare):
        rows = rng.choice(n, size=rng.integers(1, most + 1), replace=False)
        seldom[rows, j] = rng.integers(1, 256, len(rows))
    X = np.hstack([X, seldom])
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_standardised_images_are_decided_as_quickly_as_sparse_ones(dtype):
    """Without centring the rare pixels are dense columns, nearly dependent, and the first of these is undecided."""
    for seed, n, columns, rare, most in ((0, 200, 10, 100, 10), (1, 300, 30, 60, 3)):
        rng = np.random.default_rng(seed)
        X = standardised_images(rng, n, columns, rare, most).astype(dtype)
        signs = np.where(rng.integers(0, 2, n) > 0, 1.0, -1.0)
        X = X.astype(np.float64)
        found = WideSearch(X, signs, True, Limits()).decide()
        assert isinstance(found, Unsolvable)
        assert found.basis is not None
        assert encloses_zero_combination(X, signs, found.support, found.alpha, True, found.basis)


def test_common_values_are_those_of_more_than_half_of_the_rows():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 8):
        X = rng.integers(0, 3, (n, 40)).astype(float)
        majority = [next((v for v in set(column) if 2 * column.tolist().count(v) > n), 0.0) for column in X.T]
        assert common_values(X).tolist() == majority
    assert common_values(np.empty((0, 3))).tolist() == [0, 0, 0]
    assert common_values(sp.csr_array(np.ones((3, 2)))).tolist() == [0, 0]
