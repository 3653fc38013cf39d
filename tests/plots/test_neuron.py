"""One prediction as a neuron, and as a sum."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.pictures import axes
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.plots import plot_activation, plot_neuron
from rosenblatt.plots.axes import BLUE, ORANGE

MODEL = Perceptron(shuffle=False).fit([[0, 1, 1], [1, 0, 1]], ["praise", "blame"])
NAMES = ["bad", "good", "film"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 20))
Y = np.where(X @ RNG.normal(size=20) > 0, 1, -1)


def title(ax):
    return ax.get_title() or ax.get_title(loc="right")


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_a_neuron_has_an_input_for_each_feature_and_a_connection_by_its_weight():
    ax = plot_neuron(MODEL, [3, 1, 1], axes(), feature_names=NAMES)
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert list(lines) == ["bad", "good", "film", "bias"]
    assert [to_hex(lines[name].get_color()).upper() for name in ("bad", "good")] == [ORANGE, BLUE]
    assert lines["bad"].is_dashed()
    assert lines["good"].get_linestyle() == "-"
    assert lines["bad"].get_linewidth() == lines["good"].get_linewidth() > lines["film"].get_linewidth()
    assert {"3", "−1", "Σ\n−2", "< 0", "'blame'"} <= set(words(ax))
    assert title(ax) == "Predicted 'blame': the activation is −2, below 0"
    ax.figure.draw_without_rendering()


def test_bars_start_where_the_one_before_ended_and_add_up_to_the_activation():
    ax = plot_activation(MODEL, [3, 1, 1], axes(), feature_names=NAMES)
    bars = [(bar.get_x(), bar.get_width()) for bar in ax.patches]
    assert bars == [(0, -3), (-3, 1), (-2, 0), (-2, 0), (0, -2)]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [*NAMES, "bias", "w·x + b"]
    assert ax.patches[0].get_hatch() == "////"
    assert {"value", "weight", "product", "· −1", "−3"} <= set(words(ax))
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("plot", [plot_neuron, plot_activation])
def test_of_many_features_the_largest_are_shown_and_the_others_as_one(plot):
    rows = pd.DataFrame(X, columns=[f"f{i}" for i in range(20)])
    model = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(rows, Y)
    ax = plot(model, rows.iloc[3], axes())
    seen = model[:-1].transform(rows)[3]
    products = model[-1].coef_[0] * seen
    largest = np.sort(np.argsort(-np.abs(products))[:7])
    names = [f"f{i}" for i in largest] + ["13 others", "bias"]
    if plot is plot_neuron:
        assert [line.get_label() for line in ax.get_lines()] == names
    else:
        assert [tick.get_text() for tick in ax.get_yticklabels()] == [*names, "w·x + b"]
        widths = [bar.get_width() for bar in ax.patches]
        assert widths[7] == pytest.approx(products.sum() - products[largest].sum())
        assert sum(widths[:-1]) == pytest.approx(widths[-1])
        assert widths[-1] == pytest.approx(model.decision_function(rows.iloc[[3]])[0])
    assert str(model.predict(rows.iloc[[3]])[0]) in title(ax)
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("plot", [plot_neuron, plot_activation])
def test_boundary_zero_weights_records_and_ten_classes(plot):
    on_it = Perceptron(shuffle=False, fit_intercept=False).fit([[1.0, 0.0], [-1.0, 0.0]], [1, -1])
    ax = plot(on_it, [0.0, 5.0], axes())
    assert title(ax) == "On the boundary: the activation is 0"
    assert ("undefined" in words(ax)) == (plot is plot_neuron)
    zero = Perceptron(shuffle=False).fit([[0.0], [0.0], [1.0]], [1, 1, -1])
    plot(zero, [0.0], axes()).figure.draw_without_rendering()
    assert title(plot(MODEL, {"good": 2}, axes(), feature_names=NAMES)).startswith("Predicted 'praise'")
    rows, labels = load_digits(return_X_y=True)
    digits = AveragedPerceptron(max_iter=2, random_state=0).fit(rows[:300], labels[:300])
    ax = plot(digits, rows[0], axes())
    assert title(ax).startswith("Predicted 0: its score is ")
    assert title(ax).endswith(", the largest of 10")
    assert ("largest of 10" in words(ax)) == (plot is plot_neuron)
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("plot", [plot_neuron, plot_activation])
def test_of_three_classes_the_largest_score_wins_also_below_zero(plot):
    model = Perceptron(shuffle=False).fit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["a", "b", "c"])
    assert model.decision_function([[0.2, 0.4]]).max() < 0
    ax = plot(model, [0.2, 0.4], axes())
    assert title(ax) == "Predicted 'b': its score is −0.2, the largest of 3"
    assert not any("0" in word and ("<" in word or ">" in word) for word in words(ax))
    tied = Perceptron(shuffle=False, multi_class="direct").fit([[1.0], [2.0], [-1.0]], ["a", "b", "c"])
    assert tied.on_boundary([[0.0]])[0]
    assert title(plot(tied, [0.0], axes())) == "On the boundary: another class has the same score, 2"


def test_weights_stand_on_paper_so_that_no_line_crosses_them():
    ax = plot_neuron(MODEL, [3, 1, 1], axes(), feature_names=NAMES)
    for text in [text for text in ax.texts if text.get_text() in ("−1", "0")]:
        assert to_hex(text.get_bbox_patch().get_facecolor()) == "#ffffff"
        assert text.get_zorder() > max(line.get_zorder() for line in ax.get_lines())


def test_the_sign_is_exact_where_rounded_products_cancel():
    model = Perceptron(shuffle=False).fit([[1e9], [-1e9]], [1, -1])
    ax = plot_neuron(model, [-1e-9], axes())
    assert title(ax).startswith("Predicted -1: the activation is −")
    assert title(ax).endswith("below 0")
