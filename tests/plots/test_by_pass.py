"""What a run did pass by pass: mistakes, errors on training and test rows, and visiting orders."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.pictures import axes, legend
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.data import make_separable
from rosenblatt.plots import ErrorsDisplay, plot_errors, plot_orders

RNG = np.random.default_rng(0)
TRAIN = RNG.normal(size=(60, 12))
LABELS = np.where(TRAIN[:, 0] + RNG.normal(size=60) > 0, "yes", "no")
TESTS = RNG.normal(size=(50, 12))
ANSWERS = np.where(TESTS[:, 0] + RNG.normal(size=50) > 0, "yes", "no")


def curve(ax, start):
    (line,) = [line for line in ax.get_lines() if line.get_label().startswith(start)]
    return line


def test_curves_are_what_score_by_pass_says_and_the_lowest_test_error_is_marked():
    learner = AveragedPerceptron(max_iter=9, random_state=1)
    table = learner.score_by_pass(TRAIN, LABELS, TESTS, ANSWERS)
    ax = plot_errors(learner, TRAIN, LABELS, TESTS, ANSWERS, axes())
    percents = {name: 100 * np.array(table[f"{name}_error"]) for name in ("training", "test")}
    for name, values in percents.items():
        np.testing.assert_allclose(curve(ax, f"{name} error").get_data(), [table["pass"], values])
    best = 1 + int(np.argmin(table["test_error"]))
    np.testing.assert_allclose(curve(ax, f"lowest, after pass {best}").get_data(), [[best], [percents["test"].min()]])
    assert ax.get_title().startswith(f"Test error is lowest after pass {best}: {100 * min(table['test_error']):.3g}%")
    ax.figure.draw_without_rendering()


def test_without_test_rows_there_is_one_curve():
    ax = plot_errors(Perceptron(max_iter=4, random_state=0), TRAIN, LABELS, ax=axes())
    assert legend(ax) == ["training error"]
    assert ax.get_title().startswith("Training error after 4 passes: ")


def test_a_fitted_model_without_a_seed_is_drawn_in_the_order_it_was_trained_in():
    model = AveragedPerceptron(max_iter=5).fit(TRAIN, LABELS)
    errors = ErrorsDisplay.from_estimator(model, TRAIN, LABELS, TESTS, ANSWERS, ax=axes()).errors
    assert errors["mistakes"] == model.history_["mistakes"].tolist()
    assert errors["test_error"][-1] == pytest.approx(1 - model.score(TESTS, ANSWERS))
    assert model.random_state is None


def test_the_steps_of_a_pipeline_are_fitted_to_the_training_rows():
    pipeline = make_pipeline(StandardScaler(), AveragedPerceptron(max_iter=5, random_state=3))
    errors = ErrorsDisplay.from_estimator(pipeline, 50 + TRAIN, LABELS, 50 + TESTS, ANSWERS, ax=axes()).errors
    fitted = pipeline.fit(50 + TRAIN, LABELS)
    assert errors["training_error"][-1] == pytest.approx(1 - fitted.score(50 + TRAIN, LABELS))
    assert errors["test_error"][-1] == pytest.approx(1 - fitted.score(50 + TESTS, ANSWERS))


def test_a_display_is_drawn_again_elsewhere():
    display = ErrorsDisplay.from_estimator(Perceptron(max_iter=1), TRAIN, LABELS, TESTS, ANSWERS, ax=axes())
    assert display.best_pass == 1
    assert display.ax_.get_title().startswith("Test error is lowest after the last pass, 1: ")
    other = axes()
    assert display.plot(other) is display
    assert (display.ax_, display.figure_) == (other, other.figure)


# Mistakes by pass for each visiting order.


X, Y = make_separable(120, 6, 0.02, random_state=0)


def fitted(**parameters):
    return Perceptron(max_iter=2000, **parameters).fit(X, Y)


def test_a_curve_is_the_mean_of_the_runs_and_the_band_their_range():
    runs = [fitted(random_state=seed) for seed in range(4)]
    fixed = fitted(shuffle=False)
    ax = plot_orders({"fixed": fixed, "anew": runs}, axes())
    longest = max(run.n_iter_ for run in runs)
    made = np.array([np.append(run.history_["mistakes"], np.zeros(longest - run.n_iter_)) for run in runs])
    np.testing.assert_allclose(curve(ax, "anew").get_ydata(), made.mean(axis=0))
    np.testing.assert_array_equal(curve(ax, "fixed").get_ydata(), fixed.history_["mistakes"])
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].max() == made.max()
    passes = sorted(run.n_iter_ for run in runs)
    (clean,) = [line for line in ax.get_lines() if sorted(line.get_xdata()) == passes and not any(line.get_ydata())]
    assert clean.get_marker() == curve(ax, "anew").get_marker()
    spread = f"{np.mean(passes):.3g} ({passes[0]} to {passes[-1]} in 4 runs)"
    assert legend(ax) == [f"fixed: {fixed.n_iter_}", f"anew: {spread}"]
    ax.figure.draw_without_rendering()


def test_orders_differ_in_line_and_mark():
    ax = plot_orders({str(seed): fitted(random_state=seed) for seed in range(5)}, axes())
    looks = {(line.get_linestyle(), line.get_marker()) for line in ax.get_lines() if ": " in line.get_label()}
    assert len(looks) == 5


def test_runs_that_left_mistakes_end_where_they_stopped():
    noisy = np.where(np.random.default_rng(0).normal(size=120) > 0, 1, -1)
    runs = [AveragedPerceptron(max_iter=m, random_state=0).fit(X, noisy) for m in (3, 5)]
    with pytest.warns(ConvergenceWarning):
        cut = Perceptron(max_updates=int(runs[1].history_["mistakes"][:2].sum()) + 1, random_state=0).fit(X, noisy)
    ax = plot_orders({"two": runs, "one": runs[0], "cut": cut}, axes())
    assert legend(ax) == ["two: 2 of 2 runs left mistakes", "one: over 3", "cut: over 3"]
    np.testing.assert_array_equal(curve(ax, "two").get_ydata(), runs[1].history_["mistakes"])  # same order, same run
    assert len(curve(ax, "cut").get_ydata()) == 2  # without the pass that was cut short


def test_passes_are_logarithmic_where_one_order_needs_far_more():
    slow = Perceptron(shuffle=False, max_iter=1000).fit([[0.1], [0.0]], [1, -1])
    quick = Perceptron(shuffle=False).fit([[3.0], [-3.0]], [1, -1])
    assert slow.n_iter_ > 8 * quick.n_iter_
    assert plot_orders({"slow": slow, "quick": quick}, axes()).get_xscale() == "log"
    assert plot_orders({"slow": slow}, axes()).get_xscale() == "linear"


def test_orders_of_one_name_are_both_drawn():
    ax = plot_orders({1: fitted(random_state=0), "1": fitted(random_state=1)}, axes())
    assert [text.split(":")[0] for text in legend(ax)] == ["1", "1"]


def test_a_run_that_was_cut_in_its_first_pass_has_no_curve():
    with pytest.warns(ConvergenceWarning):
        cut = Perceptron(max_updates=1, random_state=0).fit(X, Y)
    for models in ({"cut": cut}, {"cut": [cut, cut], "whole": fitted(random_state=0)}):
        ax = plot_orders(models, axes())
        assert len(curve(ax, "cut").get_ydata()) == 0
        ax.figure.draw_without_rendering()


def test_the_ends_of_orders_are_side_by_side_below_no_tick():
    X, y = make_separable(60, 3, 0.05, random_state=0)
    runs = [Perceptron(random_state=seed).fit(X, y) for seed in range(3)]
    ax = plot_orders({"a": runs, "b": runs, "c": runs}, Figure(layout="constrained").subplots())
    ends = [line for line in ax.lines if line.get_linestyle() == "None"]
    heights = [line.get_transform().transform((1, 0))[1] for line in ends]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3
    assert heights[-1] > ax.transAxes.transform((0, 0))[1]
    assert min(ax.get_yticks()) == 0
