"""The reliability curve shows the groups of `Reliability`, for two classes and more."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from helpers.pictures import axes
from rosenblatt import AveragedPerceptron, calibrated
from rosenblatt.plots import plot_reliability


def rows(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    return X, np.array(["ant", "$bee", "cat"])[np.argmax(X[:, :classes] + rng.normal(size=(900, classes)), axis=1)]


def curve(ax):
    (line,) = [line for line in ax.get_lines() if line.get_marker() == "o"]
    return line.get_data()


def test_two_classes_are_scikit_learns_curve_of_equal_groups():
    X, y = rows(2)
    model = calibrated(AveragedPerceptron(random_state=0).fit(X[:300], y[:300]), X[300:600], y[300:600])
    ax = plot_reliability(model, X[600:], y[600:], axes())
    second = model.classes_[1]
    share, p = calibration_curve(y[600:] == second, model.predict_proba(X[600:])[:, 1], n_bins=10, strategy="quantile")
    np.testing.assert_allclose(curve(ax), [p, share])
    assert ax.get_xlabel() == "probability of ant (mean of a group)"
    error = np.mean(np.abs(share - p))
    assert ax.get_title().startswith(f"Calibration error {100 * error:.1f}% on 300 rows\n(")
    ax.figure.draw_without_rendering()


def test_of_more_classes_it_is_the_probability_of_the_answer():
    X, y = rows(3)
    model = LogisticRegression().fit(X[:600], y[:600])
    ax = plot_reliability(model, X[600:], y[600:], axes())
    p, share = curve(ax)
    largest = np.sort(model.predict_proba(X[600:]).max(axis=1)).reshape(10, 30)
    np.testing.assert_allclose(p, largest.mean(axis=1))
    assert np.mean(share) == pytest.approx(model.score(X[600:], y[600:]))
    assert ax.get_ylabel() == "share of correct rows in the group"


def test_what_has_no_probabilities_or_other_labels_is_refused():
    X, y = rows(2)
    model = AveragedPerceptron().fit(X, y)
    with pytest.raises(
        ValueError, match=r"got AveragedPerceptron, which has none: use rosenblatt.calibrated\(model, X, y\)"
    ):
        plot_reliability(model, X, y)
    with pytest.raises(ValueError, match="expected labels that the model was trained with, got 'dog'"):
        plot_reliability(calibrated(model, X, y), X[:2], ["ant", "dog"])
