"""Probabilities from scores: the functions beside exact arithmetic, the maps beside scikit-learn's and a naive twin."""

import math
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from helpers.examples import KINDS, small_set
from rosenblatt.storage.schema import Place
from rosenblatt.training.calibration import (
    CALIBRATION,
    Calibration,
    Isotonic,
    Reliability,
    Sigmoid,
    exponential,
    fit_calibration,
    fit_isotonic,
    fit_sigmoid,
    leads,
    logistic,
    rate_rows,
    softplus,
)
from rosenblatt.training.predict import rounded_activations
from rosenblatt.training.rows import as_rows


def noisy_scores(n, seed, scale=1.0, shift=0.0, digits=None):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    positive = rng.random(n) < 1 / (1 + np.exp(1 - 2 * scores))
    scores = scores if digits is None else scores.round(digits)
    return scores * scale + shift, positive


def test_elementary_functions_are_within_a_few_rounding_errors():
    getcontext().prec = 60
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=300), 20 * rng.normal(size=300), [0.0, 1e-300, -1e-17, 700.0]])
    for function, exact, inputs in (
        (exponential, lambda d: d.exp(), -np.abs(x)),
        (softplus, lambda d: (1 + d.exp()).ln(), x),
        (logistic, lambda d: 1 / (1 + (-d).exp()), x),
    ):
        for value, found in zip(inputs.tolist(), function(inputs).tolist(), strict=True):
            true = exact(Decimal(value))
            assert abs(Decimal(found) - true) <= Decimal(4 * 2.0**-53) * true + Decimal(2.0**-1074), (function, value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_activations_are_exact_numbers_rounded_once(kind):
    X, _ = small_set(kind)
    w, b = X[:3].copy(), np.array([0.1, -0.5, 0.0])

    def nearest(exact):
        try:
            return float(exact)
        except OverflowError:
            return math.inf if exact > 0 else -math.inf

    def exactly(row, v, bias):
        return Fraction(bias) + sum(Fraction(x) * Fraction(weight) for x, weight in zip(row, v, strict=True))

    weights = list(zip(w.tolist(), b.tolist(), strict=True))
    exact = [[nearest(exactly(row, *each)) for each in weights] for row in X.tolist()]
    for rows in (X, sp.csr_array(X)):
        assert rounded_activations(as_rows(rows), w, b).tolist() == exact


@pytest.mark.parametrize(("n", "scale", "shift"), [(50, 1, 0), (2000, 1e5, 3e5), (30, 1, 100), (5000, 0.01, 0)])
def test_the_sigmoid_has_less_loss_than_scikit_learns(n, scale, shift):
    scores, positive = noisy_scores(n, n, scale, shift)
    positives, negatives = positive.sum(), (~positive).sum()
    target = np.where(positive, (positives + 1) / (positives + 2), 1 / (negatives + 2))

    def loss(p):
        return -(target * np.log(p) + (1 - target) * np.log1p(-p)).mean()

    ours = fit_sigmoid(scores, positive).apply(scores)
    slope, offset = _sigmoid_calibration(scores, positive)
    theirs = 1 / (1 + np.exp(slope * scores + offset))
    assert loss(ours) <= loss(theirs) + 1e-15
    assert np.abs(ours - theirs).max() < 1e-6
    # at the optimum both derivatives of the loss vanish
    assert abs(np.mean(ours - target)) < 1e-12
    assert abs(np.mean((ours - target) * (scores - scores.mean()))) < 1e-12 * np.abs(scores).max()


def test_the_sigmoid_at_the_edges():
    three = np.arange(10) < 3
    for scores in (np.ones(10), np.zeros(10), np.full(10, 1e308)):  # all equal: the share of the smoothed targets
        assert np.allclose(fit_sigmoid(scores, three).apply(scores), (3 * 4 / 5 + 7 * 1 / 9) / 10)
    separated = fit_sigmoid(np.arange(10.0), np.arange(10) > 4)
    assert 0 < separated.slope < math.inf
    assert fit_sigmoid(-np.arange(10.0), np.arange(10) > 4).slope == -separated.slope
    for power in (-1000, -300, 300, 1000):  # powers of two change no digit
        scaled = fit_sigmoid(np.ldexp(np.arange(10.0), power), np.arange(10) > 4)
        assert scaled == Sigmoid(math.ldexp(separated.slope, -power), separated.offset)
    assert fit_sigmoid(np.arange(4.0), np.ones(4, bool)).apply(np.array([0.0]))[0] == pytest.approx(5 / 6)
    extreme = np.array([-math.inf, -sys.float_info.max, sys.float_info.max, math.inf])
    assert separated.apply(extreme).tolist() == [0.0, 0.0, 1.0, 1.0]
    assert Sigmoid(0.0, 0.0).apply(extreme).tolist() == [0.5] * 4


@pytest.mark.parametrize("fit", [fit_sigmoid, fit_isotonic])
def test_weights_count_rows_and_their_order_does_not_matter(fit):
    scores, positive = noisy_scores(200, 3, digits=1)
    times = np.random.default_rng(0).integers(0, 4, 200)
    weighted = fit(scores, positive, times.astype(float))
    repeated = fit(np.repeat(scores, times), np.repeat(positive, times))
    assert np.allclose(weighted.apply(scores), repeated.apply(scores), rtol=0, atol=1e-9)
    backwards = fit(scores[::-1].copy(), positive[::-1].copy())
    assert backwards == fit(scores, positive)


def naive_isotonic(scores, positive):
    """Return the isotonic fit at each distinct score by the min-max formula, in rational arithmetic."""
    points = sorted(set(scores.tolist()))
    sums = [(int(positive[scores == x].sum()), int((scores == x).sum())) for x in points]
    means = {
        (i, j): Fraction(sum(s for s, _ in sums[i : j + 1]), sum(n for _, n in sums[i : j + 1]))
        for i in range(len(points))
        for j in range(i, len(points))
    }
    last = len(points) - 1
    return points, [max(min(means[i, j] for j in range(k, last + 1)) for i in range(k + 1)) for k in range(len(points))]


@pytest.mark.parametrize("seed", range(10))
def test_isotonic_maps_equal_their_naive_twin_and_scikit_learns(seed):
    scores, positive = noisy_scores(40 + 10 * seed, seed, digits=1 if seed % 2 else None)
    found = fit_isotonic(scores, positive)
    lowest, highest = 1 / ((~positive).sum() + 2), 1 - 1 / (positive.sum() + 2)
    points, values = naive_isotonic(scores, positive)
    expected = [min(max(float(value), lowest), highest) for value in values]
    assert found.apply(np.array(points)).tolist() == pytest.approx(expected, abs=1e-15)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, positive)
    theirs = np.clip(theirs.y_thresholds_, lowest, highest), theirs.X_thresholds_
    new = np.concatenate([np.linspace(-5, 5, 1001), scores, [-math.inf, math.inf]])
    p = found.apply(new)
    assert np.allclose(p, np.interp(new, theirs[1], theirs[0]), rtol=0, atol=1e-14)
    assert (np.diff(p[np.argsort(new)]) >= 0).all()
    assert ((p >= lowest) & (p <= highest)).all()


def test_leads_compare_each_class_with_its_strongest_rival():
    scores = np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 1.0], [0.0, 0.0, 0.0]])
    assert leads(scores).tolist() == [[1.0, -2.0, -1.0], [0.0, 0.0, -4.0], [0.0, 0.0, 0.0]]


def test_probabilities_add_up_to_one_and_have_a_value_where_all_maps_give_zero():
    rng = np.random.default_rng(0)
    two = Calibration("last", 9, (Sigmoid(1.0, 0.3),)).probabilities(rng.normal(scale=30, size=(5000, 1)))
    assert (two.sum(axis=1) == 1.0).all()
    maps = tuple(Sigmoid(*rng.normal(size=2).tolist()) for _ in range(7))
    several = Calibration("last", 9, maps).probabilities(rng.normal(scale=5, size=(1000, 7)))
    assert np.abs(several.sum(axis=1) - 1.0).max() <= 7 * 2.0**-53
    never = Calibration("last", 9, (Isotonic((0.0,), (0.0,)),) * 4)
    assert never.probabilities(np.zeros((2, 4))).tolist() == [[0.25] * 4] * 2


def test_auto_makes_an_isotonic_map_where_both_sides_have_a_thousand_rows():
    for positives, kind in ((1000, Isotonic), (999, Sigmoid)):
        labels = np.repeat([1, 0], [positives, 1500])
        scores = np.random.default_rng(0).normal(size=(len(labels), 1))
        assert type(fit_calibration(scores, labels, 2).maps[0]) is kind
    for method, kind in (("isotonic", Isotonic), ("sigmoid", Sigmoid)):
        assert type(fit_calibration(scores, labels, 2, method=method).maps[0]) is kind
    with pytest.raises(ValueError, match="method must be 'auto' or 'sigmoid' or 'isotonic', got 'platt'"):
        fit_calibration(scores, labels, 2, method="platt")
    with pytest.raises(ValueError, match="some scores are too large for a float"):
        fit_calibration(np.array([[math.inf], [0.0]]), np.array([0, 1]), 2)


def test_calibrations_are_written_and_read_bit_for_bit_and_others_are_refused():
    scores, positive = noisy_scores(300, 0)
    made = Calibration("average", 300, (fit_sigmoid(scores, positive), fit_isotonic(scores, positive)))
    plain = CALIBRATION.write(made, Place("it"))
    assert CALIBRATION.read(plain, Place("it")) == made
    for broken in (
        {"kind": "tanh", "slope": 1.0, "offset": 0.0},
        {"kind": "sigmoid", "slope": math.nan, "offset": 0.0},
        {"kind": "sigmoid", "slope": 1.0},
        {"kind": "isotonic", "scores": [], "values": []},
        {"kind": "isotonic", "scores": [0.0, 0.0], "values": [0.1, 0.2]},
        {"kind": "isotonic", "scores": [0.0, 1.0], "values": [0.2, 0.1]},
        {"kind": "isotonic", "scores": [0.0, 1.0], "values": [0.2, 1.1]},
        {"kind": "isotonic", "scores": [0.0, 1.0], "values": [0.2]},
        None,
    ):
        with pytest.raises(ValueError, match="it: 'maps"):
            CALIBRATION.read(plain | {"maps": [broken]}, Place("it"))


def reliability(probabilities, labels):
    return Reliability.of(rate_rows(probabilities, labels), probabilities.shape[1])


def test_reliability_equals_its_definition():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    y = (rng.random(1000) < p**2).astype(int)
    found = reliability(np.column_stack([1 - p, p]), y)
    groups = np.array_split(np.argsort(p), 10)
    assert found.rows == [100] * 10
    assert found.error == pytest.approx(np.mean([abs(p[g].mean() - y[g].mean()) for g in groups]))
    assert found.probability == pytest.approx([p[g].mean() for g in groups])
    assert found.share == pytest.approx([y[g].mean() for g in groups])
    assert found.brier == pytest.approx(brier_score_loss(y, p))
    several = rng.dirichlet(np.ones(4), 500)
    labels = rng.integers(-1, 4, 500)  # -1: a label that is no class of the model
    hit = (several.argmax(axis=1) == labels).astype(int)
    top = reliability(several, labels)
    alone = reliability(np.column_stack([1 - several.max(axis=1), several.max(axis=1)]), hit)
    assert (top.error, top.share, top.rows) == (alone.error, alone.share, alone.rows)
    one_hot = labels[:, None] == np.arange(4)
    assert top.brier == pytest.approx(((several - one_hot) ** 2).sum(axis=1).mean())


def test_rows_of_equal_probability_share_a_group_in_any_order():
    p = np.repeat([0.2, 0.7], [30, 70])
    y = np.repeat([1, 0, 1, 0], [6, 24, 49, 21])
    for order in (np.arange(100), np.random.default_rng(0).permutation(100)):
        found = reliability(np.column_stack([1 - p, p])[order], y[order])
        assert (found.rows, found.error) == ([30, 70], pytest.approx(0.0, abs=1e-15))


def test_the_error_of_perfect_probabilities_is_what_they_have_on_average():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, 400)
    both = np.column_stack([1 - p, p])
    errors = [reliability(both, (rng.random(400) < p).astype(int)).error for _ in range(300)]
    assert np.mean(errors) == pytest.approx(reliability(both, (rng.random(400) < p).astype(int)).chance, rel=0.05)
