"""Explanations of some classes, and the short table of many."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron
from rosenblatt.inspection.contributions import contributions
from rosenblatt.inspection.explain import explain

RNG = np.random.default_rng(2)
X = RNG.integers(-5, 6, (200, 6)).astype(float)
Y = np.argmax(X, axis=1).astype(float)  # 0.0 to 5.0


@pytest.fixture(scope="module")
def model():
    return AveragedPerceptron(random_state=0).fit(X, Y)


def test_one_class_is_shown_in_full(model):
    table = explain(model, top=2, label=3.0)
    assert table.columns == ["class", "feature", "weight"]
    assert table["class"] == [3] * 4
    assert all(isinstance(label, int) for label in table["class"])
    order = np.argsort(-model.coef_[3], kind="stable")
    assert table["feature"] == [f"x{i}" for i in (order[0], order[1], order[-2], order[-1])]
    assert table.notes[0] == f"Bias by class: 3: {model.intercept_[3]:.4g}"


@pytest.mark.parametrize("label", [3, 3.0, "3", np.float64(3.0), [3], ("3",), np.array([3.0]), [3, 3.0]])
def test_a_class_may_be_named_as_people_write_it(model, label):
    assert explain(model, label=label).to_text() == explain(model, label=3.0).to_text()


def test_several_classes_come_in_the_order_asked_for(model):
    assert list(dict.fromkeys(explain(model, top=1, label=[5, 0])["class"])) == [5, 0]
    assert list(dict.fromkeys(explain(model, label=model.classes_)["class"])) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("label", [6, "x", [0, "x"], None])
def test_an_unknown_class_is_named_beside_those_there_are(model, label):
    if label is None:
        explain(model, label=None)
        return
    with pytest.raises(ValueError, match=r"label must be one of the classes 0, 1, 2, 3, 4, 5, got (6|'x')\."):
        explain(model, label=label)


def test_many_classes_have_one_line_each(model):
    table = explain(model)
    assert table.columns == ["class", "for it", "against it"]
    assert table["class"] == [0, 1, 2, 3, 4, 5]
    for k, cell in enumerate(table["for it"]):
        best = np.argmax(model.coef_[k])
        assert cell.startswith(f"x{best}: {model.coef_[k][best]:.4g}")
    for k, cell in enumerate(table["against it"]):
        worst = np.argmin(model.coef_[k])
        assert cell.startswith(f"x{worst}: {model.coef_[k][worst]:.4g}")
    assert "One class in full: label=0." in table.notes
    assert len(table.to_text().splitlines()) < 12


def test_three_classes_are_shown_in_full():
    table = explain(AveragedPerceptron(random_state=0).fit(X[:, :3], np.argmax(X[:, :3], axis=1)))
    assert table.columns == ["class", "feature", "weight"]


def test_lines_fit_a_terminal_however_long_the_names(model):
    for letters in (3, 15, 40, 200):
        names = [f"{'n' * letters}{i}" for i in range(6)]
        text = explain(model, names).to_text()
        assert max(map(len, text.splitlines())) <= 80


def test_sides_that_no_weight_is_on_are_empty():
    model = Perceptron(shuffle=False, fit_intercept=False).fit(np.eye(4), [0, 1, 2, 3])
    table = explain(model, top=1)
    assert table["for it"] == [f"x{k}: {model.coef_[k, k]:.4g}" for k in range(4)]
    model.state_.w[:] = 0.0
    assert explain(model)["for it"] == [None] * 4


def test_two_classes_have_one_line_of_weights_whichever_is_asked_for():
    model = Perceptron(shuffle=False).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    assert explain(model, label="a").to_text() == explain(model, label="b").to_text() == explain(model).to_text()
    with pytest.raises(ValueError, match="label must be one of the classes 'a', 'b', got 'c'"):
        explain(model, label="c")


def test_scaled_features_of_many_classes_have_both_units_in_full():
    model = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(X, Y)
    short = explain(model)
    assert short.columns == ["class", "for it", "against it"]
    assert short.notes[-1] == "Weights are those of the scaled features."
    table = explain(model, label=2)
    assert table.columns == ["class", "feature", "weight", "weight per unit"]
    assert table.notes[1].endswith(", for weights per unit")


def test_support_rows_of_many_classes_are_short_too():
    model = KernelPerceptron(kernel="linear", random_state=0, max_iter=3).fit(X[:60], Y[:60])
    table = explain(model)
    assert table.columns == ["class", "for it", "against it"]
    assert table["for it"][0].startswith("row ")
    assert set(explain(model, label=4)["class"]) == {4}
    assert any("label=0" in note for note in table.notes)


def test_labels_that_are_numbers_are_written_as_people_do(model):
    x = X[0]
    assert contributions(model, x).title.startswith(f"Predicted {int(model.predict([x])[0])}: ")
    two = Perceptron(shuffle=False).fit([[1.0], [0.0]], [7.0, 3.0])
    assert explain(two).title == "Weights: above 0 they speak for 7, below 0 for 3"
