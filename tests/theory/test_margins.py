"""Margins against closed forms, an exact enumeration, and a support vector machine."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from helpers.separable_sets import facet, holds, is_separable, margin_square, naive_least_score, noise, planted
from rosenblatt import progress
from rosenblatt.theory.search import gordan, hyperplane, wolfe
from rosenblatt.theory.separability import dataset_margin, margin, separability
from rosenblatt.theory.verdicts import KINDS

some = settings(max_examples=60, deadline=None)
SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
OR = [0, 1, 1, 1]


def bracket(X, y, kind, **options):
    """Return the bracket of the margin once all that it promises is seen to hold."""
    found = dataset_margin(X, y, kind, **options)
    assert found.check(X, y)
    assert found.low <= found.high
    if math.isfinite(found.low):
        assert found.low <= margin(X, y, found.w, found.b)  # |(w, b)| is not smaller than |w|
    np.testing.assert_array_equal(found.support, np.flatnonzero(found.alpha > 0))
    return found


# margin of a hyperplane

whole = st.integers(-5, 5)
floats = st.floats(-1e6, 1e6) | st.floats(-1e300, 1e300)


@some
@given(st.data())
def test_margin_is_the_nearest_float_to_the_distance(data):
    d = data.draw(st.integers(1, 3))
    values = data.draw(st.sampled_from([whole, floats]))
    X = np.array(data.draw(st.lists(st.tuples(*[values] * d), min_size=1, max_size=6)), dtype=float)
    w, b = data.draw(st.tuples(*[values] * d).filter(any)), float(data.draw(values))
    exact = [sum((Fraction(v) * Fraction(t) for v, t in zip(x, w, strict=True)), Fraction(b)) for x in X.tolist()]
    y = [1 if dot > 0 or (dot == 0 and data.draw(st.booleans())) else -1 for dot in exact]
    if len(set(y)) == 2 and data.draw(st.integers(0, 5)) == 0:
        y[0] = -y[0]
    least, found = naive_least_score(X, y, w, b), margin(X, y, w, b)
    assert found == margin(sp.csr_array(X), y, [w], [b])
    if least <= 0:
        assert found == -math.inf
        return
    square = least**2 / sum(Fraction(v) ** 2 for v in w)
    below, above = math.nextafter(found, 0.0), math.nextafter(found, math.inf)
    assert ((Fraction(found) + Fraction(below)) / 2) ** 2 <= square
    assert math.isinf(above) or square <= ((Fraction(found) + Fraction(above)) / 2) ** 2


def test_margin_at_the_boundary_and_beyond():
    assert margin(SQUARE, OR, [1, 1], -0.5) == math.sqrt(0.125)
    assert margin(SQUARE, OR, [1, 1], 0) == -math.inf  # (0, 0) is on the line
    assert margin(SQUARE, OR, [1, 1], -1) == -math.inf  # two others are
    assert margin(SQUARE, OR, [-1, -1], 0.5) == -math.inf
    assert margin(SQUARE, OR, [0, 0], 1) == -math.inf
    assert margin(SQUARE, [1, 1, 1, 1], [0, 0], 1) == math.inf
    assert margin([[1e-200]], [1], [1e-200]) == 1e-200


# closed forms


@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_known_margins(d):
    """Unit vectors against the origin, and against their opposites."""
    simplex, y = np.vstack([np.eye(d), np.zeros(d)]), [1] * d + [0]
    assert bracket(simplex, y, "geometric").low == pytest.approx(0.5 / math.sqrt(d), rel=1e-12)
    assert bracket(simplex, y, "homogeneous").high == -math.inf  # the origin is on no side
    cross, y = np.vstack([np.eye(d), -np.eye(d)]), [1] * d + [0] * d
    for kind in KINDS:
        assert bracket(cross, y, kind).low == pytest.approx(1 / math.sqrt(d), rel=1e-12)
    points, y = [[3.0], [-1.0]], [1, 0]
    assert bracket(points, y, "augmented").low == pytest.approx(math.sqrt(2), rel=1e-12)  # (1, -1) of z = (1, -1)
    assert bracket(points, y, "homogeneous").low == bracket(points, y, "homogeneous").high == 1.0


@pytest.mark.parametrize("label", [1, 0, "a"])
def test_one_class(label):
    X, y = [[3.0, 4.0], [6.0, 8.0]], [label] * 2
    found = bracket(X, y, "geometric")
    assert found.low == found.high == math.inf
    assert found.gap == 0
    assert bracket(X, y, "homogeneous").low == pytest.approx(5.0, rel=1e-15)
    assert bracket(X, y, "homogeneous").high == 5.0
    assert bracket(X, y, "augmented").low == pytest.approx(math.sqrt(26), rel=1e-15)
    assert bracket([[1.0], [-1.0]], [label] * 2, "homogeneous").high == -math.inf
    assert bracket([[1.0], [-1.0]], [label] * 2, "augmented").low == pytest.approx(1.0, rel=1e-15)


# against slow solvers


@some
@given(st.integers(1, 2).flatmap(lambda d: st.lists(st.tuples(*[whole] * d), min_size=2, max_size=6)), st.data())
def test_brackets_hold_the_margin_of_every_simplex(X, data):
    y = data.draw(st.lists(st.sampled_from([1, -1]), min_size=len(X), max_size=len(X)))
    assume(len(set(y)) == 2)
    for kind in KINDS:
        found, square = bracket(X, y, kind), margin_square(X, y, kind)
        assert holds(found, X, y)
        assert (square > 0) == is_separable(X, y, kind != "homogeneous") == (found.high > 0)
        if square > 0:
            assert Fraction(found.low) ** 2 <= square <= Fraction(found.high) ** 2
            assert found.gap <= 1e-12
        else:
            assert found.low == found.high == -math.inf


def rows_of(name, positive):
    data = getattr(datasets, f"load_{name}")()
    X = StandardScaler().fit_transform(data.data) if name in ("wine", "breast_cancer") else data.data
    return X, (data.target == positive).astype(int)


REAL = [("iris", 0), ("wine", 0), ("wine", 1), ("wine", 2), ("digits", 0), ("digits", 3), ("breast_cancer", 1)]
SETS = {f"{name} {positive}": rows_of(name, positive) for name, positive in REAL}
SETS |= {f"planted {gamma:g}": planted(300, 8, gamma, seed=2) for gamma in (1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9)}
SETS |= {"or": (np.array(SQUARE, dtype=float), np.array(OR)), "facet": facet(10, 100, lift=2.0**-20)}


@pytest.mark.parametrize("name", SETS)
def test_brackets_close(name):
    X, y = SETS[name]
    radius = math.sqrt(np.max(np.sum(X * X, axis=1)))
    found = {kind: bracket(X, y, kind) for kind in KINDS}
    assert found["augmented"].low <= found["geometric"].high
    assert found["augmented"].high * math.sqrt(1 + found["geometric"].b ** 2) >= found["geometric"].low * (1 - 1e-9)
    for kind, one in found.items():
        assert one.high > 0 or kind == "homogeneous"
        if one.high > 0.5e-9 * radius:
            assert one.gap <= 1e-6
            assert np.linalg.norm([*one.w, one.b] if kind == "augmented" else one.w) == pytest.approx(1, rel=1e-12)
    loose = bracket(X, y, "geometric", rtol=0.5)
    assert loose.low <= found["geometric"].high
    assert loose.high >= found["geometric"].low


# what must not matter


@pytest.mark.parametrize("power", [-600, -40, -1, 3, 500])
@pytest.mark.parametrize("kind", ["geometric", "homogeneous"])
def test_scaling_by_a_power_of_two_scales_the_bracket_exactly(kind, power):
    X, y = planted(40, 4, 1e-3, seed=3)
    found, scaled = bracket(X, y, kind), bracket(X * 2.0**power, y, kind)
    assert (scaled.low, scaled.high) == (found.low * 2.0**power, found.high * 2.0**power)
    np.testing.assert_array_equal(scaled.alpha, found.alpha)


@pytest.mark.parametrize("kind", KINDS)
def test_order_and_copies_of_rows_do_not_matter(kind):
    X, y = planted(60, 5, 1e-4, seed=4)
    found = bracket(X, y, kind)
    order = np.random.default_rng(0).permutation(np.tile(np.arange(60), 3))
    for form in (X, sp.csr_array(X), np.asfortranarray(X)):
        other = bracket(form[order], y[order], kind)
        assert max(found.low, other.low) <= min(found.high, other.high)
        assert other.gap <= 1e-6


@pytest.mark.parametrize("max_iter", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_short_search_is_honest(kind, max_iter):
    for X, y in (SETS["planted 0.001"], SETS["digits 0"], noise(80, 4)):
        best = dataset_margin(X, y, kind)
        short = bracket(X, y, kind, max_iter=max_iter)
        assert short.low <= best.high
        assert short.high >= best.low
        assert (best.high == -math.inf) or short.high > 0


def test_an_open_question_is_left_open(monkeypatch):
    monkeypatch.setattr(gordan, "exact_search", lambda *_, **__: None)
    monkeypatch.setattr(hyperplane, "_decide", lambda *_: None)
    monkeypatch.setattr(gordan, "encloses_zero_combination", lambda *_: False)
    monkeypatch.setattr(gordan, "prove_zero_combination", lambda *_: None)
    X, y = facet(3)
    found = bracket(X, y, "geometric")
    assert found.low == -math.inf
    assert 0 <= found.high < 1e-12
    assert str(found).endswith(f" lies between -inf and {found.high:.4g}.")


@pytest.mark.parametrize("ask", [dataset_margin, separability])
def test_a_long_search_talks_on_standard_error_only(ask, monkeypatch, capsys):
    X, y = planted(60, 6, 1e-3)
    quiet = ask(X, y).to_json()
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(wolfe, "BATCH", 1)
    clock = iter(range(0, 10**6, 6))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    assert ask(X, y, verbose=1).to_json() == quiet
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("step 1: margin at least ")
    assert "\r" not in err  # this is no terminal


def test_the_words():
    words = "margin (distance from the hyperplane to the nearest point)"
    assert str(dataset_margin(SQUARE, OR)).startswith(f"The {words} is 0.353553, proved to a relative ")
    assert str(dataset_margin(SQUARE, [0, 1, 1, 0])).startswith(
        f"No {words}: no hyperplane separates the 4 points, and"
    )
    wide = dataclasses.replace(dataset_margin(SQUARE, OR), low=0.25, high=0.5)
    assert str(wide).endswith(" lies between 0.25 and 0.5.")
    assert wide.gap == 0.5


def test_bad_input_is_one_sentence():
    for options, words in (
        ({"kind": "functional"}, "kind must be 'geometric' or 'augmented' or 'homogeneous', got 'functional'"),
        ({"rtol": 1.0}, "rtol must be a number between 0 and 1, got 1.0"),
        ({"rtol": -1e-6}, "rtol must be a number between 0 and 1"),
        ({"y": [0, 1, 2, 1]}, "expected two classes, got 3: compare one class with the rest, as in y == 0"),
        ({"y": [0, 1]}, "one label for each of the 4 rows"),
        ({"X": [[0, math.nan]] * 4}, "NaN"),
        ({"w": [1.0]}, r"a weight for each of the 2 features, got an array of shape \(1,\)"),
        ({"w": 1.0}, "a weight for each of the 2 features"),
        ({"w": [[1.0, 1.0], [0.0, 1.0]]}, "a weight for each of the 2 features"),
        ({"w": [1.0, math.nan]}, "must be finite numbers"),
        ({"w": [1.0, 1.0], "b": math.inf}, "must be finite numbers"),
        ({"w": ["a", "b"]}, "w must be finite numbers, got 'a'"),
    ):
        with pytest.raises(ValueError, match=words):
            (margin if "w" in options else dataset_margin)(**{"X": SQUARE, "y": OR} | options)
