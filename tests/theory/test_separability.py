"""Verdicts against what is known, exact twins and solvers that share no code with them; extreme numbers."""

import dataclasses
import math
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from helpers.separable_sets import facet, holds, is_separable, naive_least_score, noise, planted
from rosenblatt.theory import vc
from rosenblatt.theory.certificates import Certificate, Undecided
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.search import gordan, hyperplane
from rosenblatt.theory.search.wolfe import exact_search
from rosenblatt.theory.separability import dataset_margin, margin, separability
from rosenblatt.theory.verdicts import Inseparable, Separable, UndecidedSeparability, Verdicts

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
LINE = [[0.0, 1.0], [1.0, 3.0], [2.0, 5.0], [3.0, 7.0]]
PLANTED, SIDES = planted(30, 3, 0.01)


def as_if_wide(X, y, **options):
    """Ask as for many columns: by peeling, Newton's method and a proof on a basis."""
    with mock.patch.object(hyperplane, "NARROW", -1):
        return separability(X, y, **options)


def verdict(X, y, answer, exact=True):
    """Ask in all ways, and look at all that a verdict has to keep; ``answer`` is True for separable."""
    found = separability(X, y)
    for one in (found, separability(X, y, method="lp"), as_if_wide(X, y), as_if_wide(X, y, margin=False)):
        assert isinstance(one, Separable if answer else Inseparable), one
        assert bool(one) == answer
        assert one.check(X, y)
        assert not exact or holds(one, X, y)
        again = Certificate.from_json(one.to_json())
        assert again.check(X, y)
        assert str(again) == str(one) == repr(one)
        if not answer and one.basis is None:
            d = np.shape(X)[1]
            assert len(one.support) <= d + 2
            assert one.weights is not None or len(one.support) > 24
    return found


# Known answers.

KNOWN = {
    "xor": (SQUARE, [0, 1, 1, 0], False),
    "or": (SQUARE, [0, 1, 1, 1], True),
    "no features": (np.zeros((3, 0)), [0, 1, 1], False),
    "equal rows, two labels": ([[0.3, 0.1], [0.3, 0.1]], [0, 1], False),
    "all rows equal": ([[0.3, 0.1]] * 5, [0, 1, 1, 0, 1], False),
    "a flipped copy of a row": (np.vstack([PLANTED, PLANTED[4]]), [*SIDES, -SIDES[4]], False),
    "without the copy": (PLANTED, SIDES, True),
    "on a line, apart": (LINE, [1, 1, 0, 0], True),
    "on a line, between": (LINE, [1, 0, 1, 1], False),
    "on a line, an end shared": ([*LINE, LINE[3]], [1, 1, 1, 1, 0], False),
    "decimals on a line, but not as stored": ([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]], [1, 0, 1], True),
    "the same as whole numbers": ([[1, 3], [2, 6], [3, 9]], [1, 0, 1], False),
    "two rows": ([[1.0, 2.0], [1.0, math.nextafter(2.0, 3.0)]], [0, 1], True),
    "a constant column": ([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [0, 0, 1], True),
    "smallest floats": ([[0.0], [5e-324], [1e-323]], [0, 0, 1], True),
    "smallest floats, between": ([[0.0], [5e-324], [1e-323]], [0, 1, 0], False),
    "huge": ([[1e300, -1e300], [1e300, 1e300], [-1e300, 1.0]], [0, 1, 1], True),
    "huge and small": ([[1e300, 1e-300], [1e300, 2e-300], [1e300, 3e-300]], [0, 0, 1], True),
    "huge and small, between": ([[1e300, 1e-300], [1e300, 2e-300], [1e300, 3e-300]], [0, 1, 0], False),
    "very wide": (np.eye(3, 200), [0, 1, 0], True),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers(name):
    X, y, answer = KNOWN[name]
    verdict(X, y, answer)
    assert is_separable(X, np.where(np.array(y) > 0, 1, -1)) == answer


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("d", "around"), [(2, 0), (2, 200), (3, 200), (5, 200), (10, 200), (22, 0), (23, 100), (24, 100), (40, 0), (40, 50)]
)
def test_a_point_on_a_facet(d, around):
    """It is 2^-40 of a step that decides, and weakly separated points do not help."""
    verdict(*facet(d, around), answer=False)
    verdict(*facet(d, around, lift=2.0**-40), answer=True)
    verdict(*facet(d, around, lift=-(2.0**-40)), answer=False)


@pytest.mark.parametrize("label", [1, -1, 0, "a", True, False, 2.5])
def test_one_class(label):
    X, y = [[0.0, 1.0], [2.0, 3.0]], [label, label]
    found = separability(X, y)
    assert found.check(X, y)
    assert holds(found, X, y)
    assert (found.margin_low, found.margin_high) == (math.inf, math.inf)
    positive = isinstance(label, str) or label > 0
    assert (found.positive, found.b) == ((label, 1.0) if positive else (None, -1.0))
    assert str(found) == "Separable: the 2 points have one label, so the bias alone predicts it."
    assert not found.check(X, [label, "other" if isinstance(label, str) else 5])


@pytest.mark.parametrize("power", [1, 2, 3, 5, 7, 9, 11, 13, 14])
@pytest.mark.parametrize(("n", "d"), [(40, 2), (500, 10)])
def test_planted_margins(n, d, power):
    X, y = planted(n, d, 10.0**-power)
    found = verdict(X, y, True, exact=n < 100)
    assert 0.9 * 10.0**-power < found.margin_low <= found.margin_high < 1.1 * 10.0**-power
    assert power > 9 or found.margin_high - found.margin_low <= 1e-6 * found.margin_high
    assert ("exactly as stored" in str(found)) == (power > 11)


# Data that people know.

NAMES = ("iris", "breast_cancer", "wine", "digits")
IRIS, CANCER, WINE, DIGITS = (getattr(datasets, f"load_{name}")() for name in NAMES)


@pytest.mark.parametrize(("pair", "answer"), [((0, 1), True), ((0, 2), True), ((1, 2), False)])
def test_iris(pair, answer):
    rows = np.isin(IRIS.target, pair)
    verdict(IRIS.data[rows], IRIS.target_names[IRIS.target[rows]], answer)


def test_breast_cancer_is_separable():
    """Nothing shows it but a proof: a perceptron needs very long."""
    assert 1.39e-3 < verdict(StandardScaler().fit_transform(CANCER.data), CANCER.target, True).margin_low < 1.41e-3
    found = separability(CANCER.data, CANCER.target)
    assert found.check(CANCER.data, CANCER.target)
    assert found.margin_low > 4.13e-5


def test_three_wines_one_against_the_rest():
    found = separability(WINE.data, WINE.target)
    assert isinstance(found, Verdicts)
    assert list(found) == [0, 1, 2]
    assert all(isinstance(one, Separable) for one in found.values())
    assert found.check(WINE.data, WINE.target)
    assert not found.check(WINE.data, (WINE.target + 1) % 3)
    assert str(found).startswith("Class 0 against the rest. Separable:")
    assert Verdicts.from_json(found.to_json()).check(WINE.data, WINE.target)


def test_digits_8_and_9_are_not_separable_from_the_rest_and_the_others_are(tmp_path):
    found = separability(DIGITS.data, DIGITS.target)
    assert [digit for digit, one in found.items() if isinstance(one, Inseparable)] == [8, 9]
    assert [digit for digit, one in found.items() if isinstance(one, Separable)] == list(range(8))
    found.save(tmp_path / "digits.json")
    assert Verdicts.load(tmp_path / "digits.json").check(DIGITS.data, DIGITS.target)
    assert all(len(found[digit].support) <= 66 for digit in (8, 9))


@pytest.mark.parametrize(("n", "d"), [(60, 2), (300, 20), (400, 26)])
def test_noise_is_not_separable(n, d):
    verdict(*noise(n, d), answer=False, exact=d < 20)


def test_few_points_in_general_position_always_are():
    X, y = noise(30, 29)
    assert "With 29 features, up to 30 points in general position can be separated whatever their labels" in str(
        verdict(X, y, True, exact=False)
    )
    assert "general position" not in str(separability(X[:, :28], X[:, 0] > 0))


# Oracles that share no code.

small = st.integers(-3, 3)
points = st.integers(1, 3).flatmap(lambda d: st.lists(st.tuples(*[small] * d), min_size=2, max_size=8))


@settings(max_examples=80, deadline=None)
@given(points, st.data())
def test_the_cuts_of_halfspaces_are_the_separable_labellings(X, data):
    """Every subset that ``vc`` says a halfspace cuts is separable, and no other."""
    inside = frozenset(data.draw(st.sets(st.integers(0, len(X) - 1))))
    y = [i in inside for i in range(len(X))]
    found = separability(X, y)
    assert isinstance(found, Separable) == (inside in vc.dichotomies(X, "halfspaces"))
    assert isinstance(found, Separable) == is_separable(X, [1 if label else -1 for label in y])
    assert holds(found, X, y)
    assert found.check(X, y)
    assert type(separability(X, y, method="lp")) is type(found)
    for wide in (as_if_wide(X, y), as_if_wide(sp.csr_array(X), y, margin=False)):
        assert type(wide) is type(found)
        assert holds(wide, X, y)
        assert wide.check(X, y)
    assert type(separability(np.array(X, dtype=float) / 10, y)) in (Separable, Inseparable)


magnitudes = st.sampled_from([1.0, 0.1, 3.0, 1e-16, 1e16, 1e-30, 1e30, 1 + 2.0**-52]).flatmap(
    lambda size: st.integers(-2, 2).map(lambda k: k * size)
)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 4).flatmap(lambda d: st.lists(st.tuples(*[magnitudes] * d), min_size=2, max_size=7)), st.data())
def test_wild_magnitudes(X, data):
    y = data.draw(st.lists(st.sampled_from([1, -1]), min_size=len(X), max_size=len(X)))
    for found in (
        separability(X, y),
        separability(X, y, method="lp"),
        as_if_wide(X, y),
        as_if_wide(X, y, margin=False),
    ):
        assert isinstance(found, Separable) == is_separable(X, y)
        assert found.check(X, y)


# What users bring.


def test_every_form_of_the_data_gives_one_answer():
    X = np.random.default_rng(0).integers(-9, 10, (40, 4)).astype(np.float64)
    for y in (np.where(X @ [3, -2, 1, 1] > 0.5, "yes", "no"), np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")):
        want = separability(X, y)
        rows, columns = np.nonzero(X * 0 == 0)  # explicit zeros, and every entry in two parts
        pieces = (np.tile(X.ravel(), 2) / 2, (np.tile(rows, 2), np.tile(columns, 2)))
        twice = sp.coo_array(pieces, shape=X.shape)
        long = sp.csr_array(X)
        long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
        same = [X.tolist(), np.asfortranarray(X), X.astype(np.float32), X.astype(np.int8), X[::-1][::-1], twice, long]
        for form in (*same, sp.csc_matrix(X), twice.tocsr()):
            found = separability(form, y)
            assert type(found) is type(want)
            assert found.positive == "yes"
            assert found.check(X, y)
            assert want.check(form, y)
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=list("abcd"))
        assert separability(frame, pandas.Series(y)).to_json() == want.to_json()


@pytest.mark.parametrize("separable", [True, False])
def test_columns_of_all_magnitudes_are_decided_without_a_long_exact_search(separable, monkeypatch):
    def short_search(rows, start, most_work=math.inf, watch=None):
        assert most_work <= gordan.LITTLE_WORK  # the exact search of such rows would take many minutes
        return exact_search(rows, start, most_work, watch)

    monkeypatch.setattr(gordan, "exact_search", short_search)
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (200, 60)).astype(float)
    y = X @ rng.integers(-3, 4, 60) > 0 if separable else rng.integers(0, 2, 200)
    X *= 10.0 ** rng.integers(-300, 301, 60)
    found = separability(X, y, margin=False)
    assert type(found) is (Separable if separable else Inseparable)
    assert found.check(X, y)


def test_undecided_says_what_it_knows(monkeypatch):
    monkeypatch.setattr(gordan, "exact_search", lambda *_, **__: None)
    monkeypatch.setattr(hyperplane, "_decide", lambda *_: None)
    monkeypatch.setattr(gordan, "encloses_zero_combination", lambda *_: False)
    monkeypatch.setattr(gordan, "prove_zero_combination", lambda *_: None)
    X, y = facet(3)
    found = separability(X, y)
    assert isinstance(found, UndecidedSeparability)
    assert isinstance(found, Undecided)
    assert found.check(X, y)
    assert found.support.tolist() == np.flatnonzero(found.alpha).tolist()
    assert len(found.support) > 1
    assert found.low <= 0 <= found.high < 1e-12
    assert "may exist" in str(found)
    with pytest.raises(ValueError, match="neither true nor false"):
        bool(found)


BAD = [
    ([[1.0], [math.nan]], [0, 1], {}, "NaN"),
    ([[1.0], [math.inf]], [0, 1], {}, "infinity"),
    ([[1.0], [2.0]], [0, 1, 1], {}, "one label for each of the 2 rows"),
    ([[1.0], [2.0]], [[0, 1], [1, 0]], {}, "one label for each of the 2 rows"),
    ([[1.0], [2.0]], [0.0, math.nan], {}, "labels must not be NaN"),
    ([], [], {}, "Expected 2D array|minimum of 1"),
    (np.zeros((0, 2)), [], {}, "minimum of 1 is required"),
    ([1.0, 2.0], [0, 1], {}, "Expected 2D array"),
    ([["a"], ["b"]], [0, 1], {}, "X must hold finite real numbers, got 'a'"),
    ([[1.0], [2.0]], [0, 1], {"method": "simplex"}, "method must be 'hull' or 'lp', got 'simplex'"),
    ([[1.0], [2.0]], [0, 1], {"rtol": 0.0}, "rtol must be a number between 0 and 1, got 0.0"),
    ([[1.0], [2.0]], [0, 1], {"rtol": math.nan}, "rtol must be a number between 0 and 1, got nan"),
    (sp.csr_array(([1e308, 1e308], ([0, 0], [0, 0])), shape=(2, 1)), [0, 1], {}, "finite|infinity"),
]


@pytest.mark.parametrize(("X", "y", "options", "words"), BAD)
def test_bad_input_is_one_sentence(X, y, options, words):
    with pytest.raises(ValueError, match=words):
        separability(X, y, **options)


# Extreme numbers, labels and claims: each was wrong once.


def test_smallest_where_a_weight_vanishes_when_scaled():
    X = np.column_stack([1e-32 * np.linspace(5, 9, 300), np.full(300, 1e300)])
    X[7] = [1e-31, -1e300]
    w, signs = np.array([1e300, 1e-30]), np.ones(300)
    assert least_score(X, signs, w, 0.0) == naive_least_score(X, signs, w.tolist(), 0.0) < 0
    assert margin(X, signs, w) == -math.inf


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
