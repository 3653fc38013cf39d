"""Training and test error after each pass."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.pictures import axes
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.plots import ErrorsDisplay, plot_errors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 12))
Y = np.where(X[:, 0] + RNG.normal(size=60) > 0, "yes", "no")
TESTS = RNG.normal(size=(50, 12))
ANSWERS = np.where(TESTS[:, 0] + RNG.normal(size=50) > 0, "yes", "no")


def curve(ax, label):
    (line,) = [line for line in ax.get_lines() if line.get_label() == label]
    return line.get_xydata().T


def test_curves_are_what_score_by_pass_says_and_the_lowest_test_error_is_marked():
    learner = AveragedPerceptron(max_iter=9, random_state=1)
    table = learner.score_by_pass(X, Y, TESTS, ANSWERS)
    ax = plot_errors(learner, X, Y, TESTS, ANSWERS, axes())
    np.testing.assert_allclose(curve(ax, "training error"), [table["pass"], 100 * np.array(table["training_error"])])
    np.testing.assert_allclose(curve(ax, "test error"), [table["pass"], 100 * np.array(table["test_error"])])
    best = 1 + int(np.argmin(table["test_error"]))
    np.testing.assert_allclose(curve(ax, f"lowest, after pass {best}"), [[best], [100 * min(table["test_error"])]])
    assert ax.get_title().startswith(f"Test error is lowest after pass {best}: {100 * min(table['test_error']):.3g}%")
    ax.figure.draw_without_rendering()


def test_without_test_rows_there_is_one_curve():
    ax = plot_errors(Perceptron(max_iter=4, random_state=0), X, Y, ax=axes())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["training error"]
    assert ax.get_title().startswith("Training error after 4 passes: ")


def test_a_fitted_model_without_a_seed_is_drawn_in_the_order_it_was_trained_in():
    model = AveragedPerceptron(max_iter=5).fit(X, Y)
    errors = ErrorsDisplay.from_estimator(model, X, Y, TESTS, ANSWERS, ax=axes()).errors
    assert errors["mistakes"] == model.history_["mistakes"].tolist()
    assert errors["test_error"][-1] == pytest.approx(1 - model.score(TESTS, ANSWERS))
    assert model.random_state is None


def test_the_steps_of_a_pipeline_are_fitted_to_the_training_rows():
    pipeline = make_pipeline(StandardScaler(), AveragedPerceptron(max_iter=5, random_state=3))
    errors = ErrorsDisplay.from_estimator(pipeline, 50 + X, Y, 50 + TESTS, ANSWERS, ax=axes()).errors
    fitted = pipeline.fit(50 + X, Y)
    assert errors["training_error"][-1] == pytest.approx(1 - fitted.score(50 + X, Y))
    assert errors["test_error"][-1] == pytest.approx(1 - fitted.score(50 + TESTS, ANSWERS))


def test_a_display_is_drawn_again_elsewhere():
    display = ErrorsDisplay.from_estimator(Perceptron(max_iter=1, random_state=0), X, Y, TESTS, ANSWERS, ax=axes())
    assert display.best_pass == 1
    assert display.ax_.get_title().startswith("Test error is lowest after the last pass, 1: ")
    other = axes()
    assert display.plot(other) is display
    assert (display.ax_, display.figure_) == (other, other.figure)


def test_a_model_that_cannot_be_scored_by_pass_is_refused():
    with pytest.raises(ValueError, match="scored after each pass, got LogisticRegression"):
        plot_errors(LogisticRegression(), X, Y, ax=axes())
