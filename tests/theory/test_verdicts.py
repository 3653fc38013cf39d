"""What verdicts say in words, and what their checks look at beside the margins."""

import dataclasses

import numpy as np
import pytest

from helpers.separable_sets import noise
from rosenblatt.theory.separability import dataset_margin, separability
from rosenblatt.theory.verdicts import Verdicts

POINTS = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [4.0, 4.0], [5.0, 4.0]]
CLASSES = ["a", "a", "b", "c", "c"]


def test_verdicts_speak_of_every_class_and_of_no_other():
    found = separability(POINTS, CLASSES)
    assert found.check(POINTS, CLASSES)
    for name in "abc":
        assert not Verdicts({key: value for key, value in found.items() if key != name}).check(POINTS, CLASSES)
    assert not Verdicts({}).check(POINTS, CLASSES)
    assert not Verdicts({**found, "d": found["a"]}).check(POINTS, CLASSES)
    assert not Verdicts({**found, "b": found["a"]}).check(POINTS, CLASSES)
    assert not found.check(POINTS, ["a", "a", "b", "b", "c"])


@pytest.mark.parametrize("factor", [0.0, 0.5, 1 + 1e-6, 2.0, -1.0, np.inf, np.nan])
def test_the_radius_is_a_claim_too(factor):
    found = separability(POINTS, [0, 0, 1, 1, 1])
    assert found.radius == pytest.approx(np.hypot(5, 4), rel=1e-15)
    assert dataclasses.replace(found, radius=found.radius * (1 + 1e-12)).check(POINTS, [0, 0, 1, 1, 1])
    assert not dataclasses.replace(found, radius=found.radius * factor).check(POINTS, [0, 0, 1, 1, 1])


def test_a_hyperplane_that_a_row_lies_on_separates_nothing():
    X, y = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [0, 1, 1]
    found = separability(X, y)
    touching = dataclasses.replace(found, w=np.array([1.0, 1.0]), b=0.0, margin_low=0.0, nearest=None)
    assert found.check(X, y)
    assert dataclasses.replace(touching, b=-1.0).check(X, y)
    assert not touching.check(X, y)


def test_one_feature_is_one():
    for d, words in ((1, "With 1 feature, up to 2 points"), (2, "With 2 features, up to 3 points")):
        assert words in str(separability(np.eye(2)[:, :d], [0, 1]))


def test_a_margin_without_end():
    assert str(dataset_margin([[1.0], [2.0]], [1, 1])) == (
        "The margin (distance from the hyperplane to the nearest point) is infinite: "
        "all points have one label, and the bias alone predicts it."
    )


def test_nearest_are_all_rows_that_attain_the_margin():
    """Two lines of points, parallel: three or so carry weight, and all are nearest."""
    X = np.array([[k, side] for side in (0.0, 1.0, 3.0) for k in range(50)])
    y = (X[:, 1] >= 1.0).astype(int)
    found = separability(X, y)
    assert found.margin_low == pytest.approx(0.5, rel=1e-9)
    assert found.nearest.tolist() == list(range(100))
    assert len(found.support) <= 4
    assert set(found.support.tolist()) <= set(found.nearest.tolist())
    assert found.check(X, y)
    for other in (found.nearest[1:], np.append(found.nearest, 120)):
        assert not dataclasses.replace(found, nearest=other).check(X, y)
    assert dataclasses.replace(found, nearest=None).check(X, y)
    for kind in ("geometric", "augmented", "homogeneous"):
        bracket = dataset_margin(X + [0.0, 0.5], np.where(y, 1, -1) if kind != "homogeneous" else np.ones(150), kind)
        assert bracket.check(X + [0.0, 0.5], np.where(y, 1, -1) if kind != "homogeneous" else np.ones(150))
        assert set(bracket.support.tolist()) <= set(bracket.nearest.tolist())


def test_several_verdicts_are_neither_true_nor_false():
    with pytest.raises(ValueError, match=r"use verdicts\[name\], or all\(verdicts.values\(\)\)"):
        bool(separability(POINTS, CLASSES))


def test_the_positive_label_has_to_occur():
    """A label that no row has would make all rows negative, which a bias alone separates."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    one_class = separability(X, [0, 0, 0, 0])
    assert one_class.positive is None
    assert one_class.check(X, [0, 0, 0, 0])
    for positive in (None, 7, "b", -1):
        for claim in (one_class, dataset_margin(X, [0, 0, 0, 0])):
            forged = dataclasses.replace(claim, positive=positive)
            assert not forged.check(X, y)
            assert forged.check(X, [0, 0, 0, 0]) == (positive is None)


def test_weights_of_an_enclosure_have_the_sum_1():
    X, y = noise(200, 70)
    found = separability(X, y)
    assert found.weights is None
    assert found.check(X, y)
    assert not dataclasses.replace(found, alpha=found.alpha * 1e5).check(X, y)
