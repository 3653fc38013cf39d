"""The data along w, as one dimension."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from helpers.pictures import axes, lines
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.data import make_xor
from rosenblatt.plots import plot_projection

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
SEPARABLE = np.where(X @ [1.0, -2.0, 0.5, 0.0] > 0, "yes", "no")
NOISY = np.where(X[:, 0] + RNG.normal(size=120) > 0, "yes", "no")


def test_projection_places_each_row_at_its_distance():
    model = Perceptron(random_state=0, max_iter=1000).fit(X, SEPARABLE)
    ax = plot_projection(model, X, SEPARABLE, axes())
    expected = model.decision_function(X) / np.linalg.norm(model.coef_)
    for label in ("no", "yes"):
        own = expected[label == SEPARABLE]
        line = lines(ax)[f"{label} ({len(own)})"]
        np.testing.assert_allclose(line.get_xdata(), np.sort(own))
    markers = {line.get_marker() for name, line in lines(ax).items() if "(" in name}
    assert len(markers) == 2
    nearest = np.abs(expected).min()
    assert f"nearest row is {nearest:.3g} away" in ax.get_title()
    report = model.report_
    assert f"{report.margin_low:.3g} to {report.margin_high:.3g}" in ax.get_title()


def test_the_bias_shifts_the_boundary_from_where_the_weights_alone_are_zero():
    shifted = np.where(X @ [1.0, -2.0, 0.5, 0.0] > 1.0, "yes", "no")
    model = Perceptron(random_state=0, max_iter=1000).fit(X, shifted)
    ax = plot_projection(model, X, shifted, axes())
    shift = model.intercept_[0] / np.linalg.norm(model.coef_)
    assert lines(ax)["w·x = 0"].get_xdata() == pytest.approx([shift, shift])
    (top,) = ax.child_axes
    assert top.get_xlabel() == f"w·x / |w|: the boundary is at −b / |w| = {-shift:.3g}".replace("= -", "= −")
    ax.figure.draw_without_rendering()
    assert top.get_xlim() == pytest.approx([place - shift for place in ax.get_xlim()])
    model = Perceptron(random_state=0, max_iter=1000, fit_intercept=False).fit(X, SEPARABLE)
    ax = plot_projection(model, X, SEPARABLE, axes())
    assert not ax.child_axes
    assert "w·x = 0" not in lines(ax)


def test_a_bias_that_puts_zero_far_away_leaves_the_rows_to_be_seen():
    model = LogisticRegression().fit(X, SEPARABLE)
    model.coef_, model.intercept_ = np.ones((1, 4)), np.array([-4e3])
    ax = plot_projection(model, X + 1e3, SEPARABLE, axes())
    assert "w·x = 0" not in lines(ax)
    assert np.ptp(ax.get_xlim()) < 20
    assert ax.child_axes[0].get_xlabel().endswith("= 2e+03")


def test_no_bar_straddles_the_boundary():
    model = Perceptron(random_state=0, max_iter=1000).fit(X, SEPARABLE)
    ax = plot_projection(model, X, SEPARABLE, axes())
    no, yes = (patch.get_path().vertices[:, 0] for patch in ax.patches)
    assert no.max() <= 0 <= yes.min()


def test_projection_counts_the_rows_on_the_wrong_side():
    model = AveragedPerceptron(random_state=0).fit(X, NOISY)
    wrong = int((model.predict(X) != NOISY).sum())
    assert plot_projection(model, X, NOISY, axes()).get_title() == f"{wrong} of 120 rows on the wrong side"


def test_projection_of_one_class_only_is_drawn():
    model = Perceptron(random_state=0, max_iter=1000).fit(X, SEPARABLE)
    ax = plot_projection(model, X[SEPARABLE == "yes"], SEPARABLE[SEPARABLE == "yes"], axes())
    ax.figure.draw_without_rendering()


def test_a_class_of_one_row_has_a_bar_to_be_seen():
    """AND: the one positive row is the outermost, at the edge of the last bin."""
    rows, labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float), np.array([0, 0, 0, 1])
    for flipped in (1, -1):
        y = labels if flipped == 1 else 1 - labels
        model = Perceptron(shuffle=False, max_iter=100).fit(rows, y)
        ax = plot_projection(model, rows, y, axes())
        for patch in ax.patches:
            corners = patch.get_path().vertices
            assert np.ptp(corners[:, 0]) > 0
            assert corners[:, 1].max() > 0
        assert max(patch.get_path().vertices[:, 1].max() for patch in ax.patches) == 100


def test_each_length_in_the_title_says_what_space_it_is_of():
    """The bracket of the space with the bias as a feature need not hold the geometric margin."""
    model = Perceptron(random_state=0, max_iter=1000).fit(X, SEPARABLE)
    first, second = plot_projection(model, X, SEPARABLE, axes()).get_title().splitlines()
    assert first.endswith("away (geometric)")
    assert "with the bias as a feature" in second
    model = Perceptron(random_state=0, max_iter=1000, fit_intercept=False).fit(X, SEPARABLE)
    assert "geometric margin through the origin" in plot_projection(model, X, SEPARABLE, axes()).get_title()


def test_weights_that_are_zero_are_drawn_and_named():
    rows, labels = make_xor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Perceptron(shuffle=False).fit(rows, labels)
    assert not model.coef_.any()
    ax = plot_projection(model, rows, labels, axes())
    assert ax.get_title().startswith("All weights are zero: every row lies on the boundary")
    assert model.report_.proved_inseparable == ("nothing separates the data" in ax.get_title())
    assert [text.get_text() for text in ax.texts] == ["all 2 rows"] * 2
    assert "the same for every row" in ax.get_xlabel()
    model.state_.b[:] = -2.0
    ax = plot_projection(model, rows, labels, axes())
    assert ax.get_title().startswith(f"All weights are zero: every row gets the answer {model.classes_[0]:g}")
    assert {line.get_xdata()[0] for name, line in lines(ax).items() if "(" in name} == {-2.0}
    ax = plot_projection(model, rows[:1], labels[:1], axes())
    ax.figure.draw_without_rendering()
