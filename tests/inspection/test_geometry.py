import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.inspection.geometry import boundary, distance, unit_weights

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3 > 0


def with_weights(w, b):
    """Return a scikit-learn model that has these weights and this bias, however extreme."""
    d = len(w)
    model = LogisticRegression().fit(np.vstack([np.ones(d), -np.ones(d)]), [1, 0])
    model.coef_, model.intercept_ = np.array([w], dtype=float), np.array([b], dtype=float)
    return model


def test_unit_weights_have_length_one_and_the_same_boundary():
    model = AveragedPerceptron(random_state=0).fit(X, Y)
    w, b = unit_weights(model)
    assert np.linalg.norm(w) == pytest.approx(1, rel=1e-15)
    scale = np.linalg.norm(model.coef_)
    np.testing.assert_allclose(w * scale, model.coef_[0], rtol=1e-14)
    assert b * scale == pytest.approx(model.intercept_[0], rel=1e-14)
    np.testing.assert_array_equal(X @ w + b > 0, model.predict(X))


def test_scale_does_not_matter():
    w, b = unit_weights(with_weights([3, 4], 5))
    assert (w.tolist(), b) == ([0.6, 0.8], 1.0)
    for factor in (2.0**-1000, 0.125, 1024.0, 2.0**1000):
        again, shift = unit_weights(with_weights([3 * factor, 4 * factor], 5 * factor))
        assert (again.tolist(), shift) == ([0.6, 0.8], 1.0)


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
def test_distance_is_activation_over_length(matrix):
    model = Perceptron(random_state=0, max_iter=1000).fit(X, Y)
    w, b = model.coef_[0], model.intercept_[0]
    np.testing.assert_allclose(distance(model, matrix(X)), (X @ w + b) / np.linalg.norm(w), rtol=1e-12, atol=1e-15)


def test_distance_is_the_way_to_the_nearest_point_of_the_boundary():
    model = with_weights([3, 4, 12], -7)
    w, _ = unit_weights(model)
    foot = X - distance(model, X)[:, None] * w
    np.testing.assert_allclose(model.decision_function(foot), 0, atol=1e-13)


def test_the_bias_moves_the_boundary_by_b_over_the_length_of_w():
    assert distance(with_weights([3, 4], 10), [[0, 0]]).tolist() == [2.0]
    assert distance(with_weights([3, 4], 0), [[0, 0]]).tolist() == [0.0]


@pytest.mark.parametrize("factor", [1e-310, 1e-250, 1e250, 1e307])
def test_extreme_weights_neither_overflow_nor_vanish(factor):
    model = with_weights([3 * factor, 4 * factor], 5 * factor)
    w, b = unit_weights(model)
    np.testing.assert_allclose([*w, b], [0.6, 0.8, 1.0], rtol=1e-9)  # 1e-310 itself has few digits
    points = np.array([[1.0, 2.0], [-3.0, -0.5], [1e5, 1e5]])
    expected = points @ [0.6, 0.8] + 1
    np.testing.assert_allclose(distance(model, points), expected, rtol=1e-9)
    np.testing.assert_allclose(distance(model, sp.csr_array(points)), expected, rtol=1e-9)
    np.testing.assert_allclose(boundary(model, [0.0, 1.0]), [-1.25, -2.0], rtol=1e-9)


def test_signs_are_those_of_the_model_on_the_boundary_too():
    model = Perceptron(shuffle=False).fit([[0.1, 0.3], [-0.1, -0.3]], [1, 0])
    points = [[3.0, -1.0], [0.0, 0.0], [-3.0, 1.0]]
    np.testing.assert_array_equal(np.sign(distance(model, points)), np.sign(model.decision_function(points)))


def test_the_line_takes_one_number_or_a_grid_of_them():
    model = with_weights([3, 4], 5)
    assert float(boundary(model, 1)) == -2.0
    assert boundary(model, np.zeros((2, 3))).shape == (2, 3)
    with pytest.raises(ValueError, match=r"vertical line x1 = -2\.5.*axvline\(-2\.5\)"):
        boundary(with_weights([2, 0], 5), [0.0])
    with pytest.raises(ValueError, match="2 features, got 3"):
        boundary(with_weights([1, 2, 3], 0), [0.0])


def test_models_without_one_straight_boundary_are_refused():
    for model, words in (
        (AveragedPerceptron().fit(X, np.arange(80) % 3), "needs exactly two classes, got a model with 3 classes"),
        (LinearRegression().fit(X, Y), "got a model with no classes"),
        (Perceptron().partial_fit([[1.0, 1.0, 1.0]], [1]), "got a model with 1 class"),
        (VotedPerceptron().fit(X, Y), "the boundary of a vote is not a hyperplane"),
        (with_weights([0, 0, 0], 1), "all weights are zero, so there is no boundary"),
    ):
        with pytest.raises(ValueError, match=words):
            distance(model, X)
    with pytest.raises(NotFittedError):
        unit_weights(Perceptron())


LINES = [
    ((3, 4), 1),
    ((3, 0), -6),
    ((0, -2), 0),
    ((1e300, 1e300), 1e300),
    ((-1, 1e-3), 2),
    ((0, 2), -3),
    ((5, -0.1), 0),
]


@pytest.mark.parametrize(("w", "b"), LINES)
def test_the_boundary_is_a_line_through_two_points(w, b):
    model = Perceptron(shuffle=False).fit([[1.0, 0.0], [-1.0, 0.0]], [1, -1])
    model.state_.w[0], model.state_.b[:] = w, b
    points = boundary(model)
    np.testing.assert_allclose(distance(model, points), 0, atol=1e-12)
    first, second = points
    assert np.linalg.norm(second - first) == pytest.approx(1)
    unit, offset = unit_weights(model)
    np.testing.assert_allclose(first, -offset * unit, atol=1e-12)
    along = second - first
    assert [along[1], -along[0]] == pytest.approx(unit.tolist())  # what lies to the right is the second class
    if w[1]:
        np.testing.assert_allclose(boundary(model, points[:, 0]), points[:, 1], atol=1e-12)
