"""ROC AUC and average precision beside scikit-learn's, and thresholds of least cost beside every possible threshold."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from rosenblatt.training.ranking import average_precision, least_cost, roc_auc


def drawn(seed):
    """Return scores with ties, and the rows that are positive."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    positive = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
    positive[:2] = True, False
    scores = rng.integers(-4, 5, n) / 4 if seed % 2 else rng.normal(size=n)
    return scores + positive / 4, positive


@pytest.mark.parametrize("seed", range(60))
def test_areas_are_those_of_scikit_learn(seed):
    scores, positive = drawn(seed)
    assert roc_auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-14)
    assert average_precision(scores, positive) == pytest.approx(average_precision_score(positive, scores), abs=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_the_area_under_the_curve_is_the_share_of_pairs_rounded_once(seed):
    scores, positive = drawn(seed)
    difference = scores[positive][:, None] - scores[~positive][None, :]
    pairs = Fraction(2 * int((difference > 0).sum()) + int((difference == 0).sum()), 2 * difference.size)
    assert roc_auc(scores, positive) == float(pairs)
    order = np.random.default_rng(seed).permutation(len(scores))
    assert roc_auc(scores[order], positive[order]) == roc_auc(scores, positive)
    assert average_precision(scores[order], positive[order]) == average_precision(scores, positive)


def test_one_class_has_no_curve():
    scores = np.array([1.0, 2.0])
    assert roc_auc(scores, np.array([True, True])) is None
    assert roc_auc(scores, np.array([False, False])) is None
    assert average_precision(scores, np.array([False, False])) is None


def cost_of(threshold, scores, positive, costs, weight):
    predicted = scores > threshold
    wrong = predicted != positive
    return sum(Fraction(costs[int(p)]) * Fraction(w) for p, w in zip(positive[wrong], weight[wrong], strict=True))


@pytest.mark.parametrize("seed", range(60))
def test_no_threshold_costs_less(seed):
    scores, positive = drawn(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(scores)).astype(float) if seed % 3 == 0 else np.ones(len(scores))
    costs = (1.0, float(rng.choice([0.25, 1, 3, 20])))
    found = least_cost(scores, positive, costs, weight)
    assert found.cost == cost_of(found.value, scores, positive, costs, weight)
    assert found.cost_at_zero == cost_of(0.0, scores, positive, costs, weight)
    distinct = np.unique(scores)
    middles = [(a + b) / 2 for a, b in pairwise(distinct) if not a <= 0 < b]
    ends = [distinct[0] - max(1, abs(distinct[0])), distinct[-1] + max(1, abs(distinct[-1]))]
    ends = [t for t, kept in zip(ends, (distinct[0] <= 0, distinct[-1] > 0), strict=True) if kept]
    every = [(cost_of(t, scores, positive, costs, weight), abs(t), -t) for t in [0.0, *middles, *ends]]
    assert -min(every)[2] == found.value
    assert all(found.cost <= cost_of(t, scores, positive, costs, weight) for t in distinct)


def test_the_positive_one_of_two_thresholds_as_near_to_zero():
    scores, positive = np.array([-3.0, -1.0, 1.0, 3.0]), np.array([False, True, False, True])
    assert least_cost(scores, positive, (1.0, 1.0)) == (2.0, 1.0, 2.0)


def test_a_threshold_beyond_all_scores_predicts_one_class():
    scores, positive = np.array([1.0, 2.0, 3.0]), np.array([True, False, False])
    assert least_cost(scores, positive, (1.0, 0.1)).value > 3.0
    assert least_cost(-scores, ~positive, (0.1, 1.0)).value < -3.0


def test_neighbouring_floats_have_a_threshold_between_them():
    low = 1.0
    scores, positive = np.array([low, np.nextafter(low, 2.0)]), np.array([False, True])
    found = least_cost(scores, positive, (1.0, 1.0))
    assert found.cost == 0.0
    assert ((scores > found.value) == positive).all()
