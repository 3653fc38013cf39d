"""The largest weights, by class and in both units."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC

from helpers.weighted_models import X3, Y3, with_weights
from rosenblatt import AROW, AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron, data
from rosenblatt.inspection.contributions import contributions
from rosenblatt.inspection.explain import Units, explain, find_units

RNG = np.random.default_rng(1)

# the largest and the smallest weights


def test_largest_come_first_and_smallest_last():
    model = with_weights([4, -1, 0, 7, -9, 2], b=-3)
    table = explain(model, top=2)
    assert table["feature"] == ["x3", "x0", "x1", "x4"]
    assert table["weight"] == [7, 4, -1, -9]
    assert table.columns == ["feature", "weight"]
    assert table.notes == ("Bias: -3",)
    assert table.title == "Weights: positive for 'yes', negative for 'no'"


def test_each_feature_is_shown_once_and_equal_weights_keep_their_order():
    for top in (3, 4, 100):
        table = explain(with_weights([4, -1, 0, 7, -9, 2]), top=top)
        assert table["feature"] == ["x3", "x0", "x5", "x2", "x1", "x4"]
    for d in (4, 5, 9):
        table = explain(with_weights(np.full(d, 2.0)), top=2)
        assert table["feature"] == ["x0", "x1", f"x{d - 2}", f"x{d - 1}"]
    ten_and_ten = explain(with_weights(RNG.permutation(50).astype(float)))
    assert ten_and_ten["weight"] == [*range(49, 39, -1), *range(9, -1, -1)]


def test_weights_are_those_that_predict():
    y = np.where(X3[:, 0] + RNG.normal(0, 4, 90) > 0, 1, -1)
    model = Perceptron(hypothesis="average", max_iter=3, random_state=0).fit(X3, y)
    assert sorted(explain(model)["weight"]) == sorted(model.average_coef_[0])
    assert sorted(explain(model)["weight"]) != sorted(model.last_coef_[0])


def test_a_vote_shows_its_average_and_says_so():
    model = VotedPerceptron(random_state=0).fit(X3, X3[:, 0] > 0)
    table = explain(model)
    assert sorted(table["weight"]) == sorted(model.average_coef_[0])
    assert any("vote" in note and "averaged" in note for note in table.notes)
    assert not any("vote" in note for note in explain(AveragedPerceptron().fit(X3, X3[:, 0] > 0)).notes)


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_each_of_more_classes_has_its_own_lines(multi_class):
    model = AveragedPerceptron(multi_class=multi_class, random_state=0).fit(X3, Y3)
    table = explain(model, top=1)
    assert table.columns == ["class", "feature", "weight"]
    assert table["class"] == ["a", "a", "b", "b", "c", "c"]
    for k in range(3):
        assert table["weight"][2 * k : 2 * k + 2] == [model.coef_[k].max(), model.coef_[k].min()]
        assert table["feature"][2 * k] == f"x{k}"  # class k is where feature k is the largest
    assert table.notes[0].startswith("Bias by class: a: ")


def test_names_are_given_or_remembered_or_made_up():
    frame = pd.DataFrame({"rain": [1.0, -1.0], "sun": [-2.0, 2.0]})
    model = Perceptron(shuffle=False).fit(frame, ["wet", "dry"])
    assert set(explain(model)["feature"]) == {"rain", "sun"}
    assert set(explain(model, ["r", "s"])["feature"]) == {"r", "s"}
    assert set(explain(model, np.array(["r", "s"]))["feature"]) == {"r", "s"}
    assert set(explain(Perceptron().fit(frame.to_numpy(), [1, 0]))["feature"]) == {"x0", "x1"}
    with pytest.raises(ValueError, match="one feature name for each of the 2 weights, got 3"):
        explain(model, ["r", "s", "t"])


def test_a_pipeline_names_what_its_steps_make():
    frame = pd.DataFrame({"a": [1.0, 2.0, -1.0, -2.0], "b": [0.0, 1.0, 1.0, 0.0]})
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(shuffle=False))
    model.fit(frame, [1, 1, 0, 0])
    assert set(explain(model)["feature"]) == {"a", "b", "a^2", "a b", "b^2"}
    silent = make_pipeline(FunctionTransformer(), Perceptron(shuffle=False)).fit(frame.to_numpy(), [1, 1, 0, 0])
    assert set(explain(silent)["feature"]) == {"x0", "x1"}
    alone = make_pipeline(Perceptron(shuffle=False)).fit(frame, [1, 1, 0, 0])
    assert set(explain(alone)["feature"]) == {"a", "b"}


def test_other_linear_models_are_welcome():
    peer = LogisticRegression().fit(X3, X3[:, 0] > 0)
    assert explain(peer, top=1)["weight"] == [peer.coef_.max(), peer.coef_.min()]
    line = LinearRegression().fit(X3, X3[:, 0])
    assert explain(line, top=1)["feature"][0] == "x0"
    assert explain(line).title == "Weights"


def test_features_of_different_scale_are_warned_of_and_noted():
    model = with_weights([1.0, 1.0, 1.0])
    model.state_.feature_ranges = np.array([0.5, 0.0, 50.1])
    with pytest.warns(
        UserWarning, match=r"'area' has a range of 50\.1 and 'depth' one of 0\.5.*StandardScaler"
    ) as caught:
        table = explain(model, ["depth", "constant", "area"])
    assert str(caught[0].message) == table.notes[-1]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("spread", [None, np.zeros(3), np.array([0.5, 0.0, 50.0]), np.ones(3)])
def test_features_of_like_scale_are_not_warned_of(spread):
    model = with_weights([1.0, 1.0, 1.0])
    model.state_.feature_ranges = spread
    assert len(explain(model).notes) == 1


def test_hashed_words_are_not_compared_with_numbers():
    """A rare word ranges over little beside a frequent one, which is as it should be."""
    model = with_weights(np.ones(5))
    model.state_.feature_ranges = np.array([1.0, 1.0, 30.0, 0.01, 1.0])
    columns = [{"kind": "number"}, {"kind": "text"}, {"kind": "category", "categories": ["a", "b"]}]
    columns.append({"kind": "category"})
    model.preparation_ = {"format": "csv", "version": 1, "bits": 1, "columns": columns}
    assert len(explain(model).notes) == 1
    model.state_.feature_ranges[0] = 0.1
    with pytest.warns(UserWarning, match="'x2' has a range of 30 and 'x0' one of 0.1"):
        explain(model)
    model.preparation_ = {"format": "vw", "version": 1, "bits": 18}
    assert len(explain(model).notes) == 1


def test_training_itself_notices_the_scale():
    X = X3 * [1, 1, 1, 1000]
    model = AveragedPerceptron(random_state=0).fit(X, X[:, 0] > 0)
    with pytest.warns(UserWarning, match="'x3' has a range of"):
        explain(model)
    scaled = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(X, X[:, 0] > 0)
    assert not any("do not show importance" in note for note in explain(scaled).notes)


@pytest.mark.parametrize("top", [0, -1, 2.0, True, "10"])
def test_top_is_a_whole_number_from_one_up(top):
    model = with_weights([1, 2])
    with pytest.raises(ValueError, match="top must be an integer of at least 1, got"):
        explain(model, top=top)
    with pytest.raises(ValueError, match="top must be an integer of at least 1, got"):
        contributions(model, [1, 1], top=top)


def test_models_without_weights_are_refused():
    with pytest.raises(NotFittedError):
        explain(Perceptron())
    with pytest.raises(TypeError, match=r"expected a fitted linear model.*KNeighborsClassifier"):
        explain(KNeighborsClassifier().fit(X3, Y3))
    with pytest.raises(TypeError, match=r"expected a fitted linear model.*got str"):
        explain("model")
    with pytest.raises(ValueError, match="each of the 3 classes, which SVC does not have"):
        explain(SVC(kernel="linear").fit(X3, Y3))


@pytest.mark.parametrize("hypothesis", ["last", "average"])
@pytest.mark.parametrize("several", [False, True])
def test_arow_has_the_confidence_in_each_weight(hypothesis, several):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4)) * [1, 1, 1, 0]
    y = np.argmax(X[:, : 3 if several else 2], axis=1)
    model = AROW(hypothesis=hypothesis, random_state=0, max_iter=2).fit(X, y)
    table = explain(model, list("abcd"))
    plain = explain(linear_twin(model), list("abcd"))
    assert [{k: v for k, v in row.items() if k != "confidence"} for row in table] == list(plain)
    for row in table:
        place = row.get("class", 0), "abcd".index(row["feature"])
        assert row["confidence"] == 1 / model.variance_[place]
        assert (row["confidence"] > 1) == (row["feature"] != "d")
    biases = 1 / model.intercept_variance_
    said = ", ".join(f"{k}: {b:.4g}" for k, b in enumerate(biases)) if several else f"{biases[0]:.4g}"
    assert table.notes[0] == f"{plain.notes[0]}; confidence {said}"


def linear_twin(model):
    """Return a linear model with the same weights that keeps no variances."""
    twin = LogisticRegression()
    twin.coef_, twin.intercept_, twin.classes_ = model.coef_, model.intercept_, model.classes_
    return twin


def test_confidence_is_shown_beside_both_units_and_not_where_classes_are_many():
    X, y = load_iris(return_X_y=True)
    scaled = make_pipeline(StandardScaler(), AROW(random_state=0)).fit(X, y)
    assert list(explain(scaled).columns) == ["class", "feature", "weight", "weight per unit", "confidence"]
    many = AROW(random_state=0).fit(np.eye(4), list("abcd"))
    assert list(explain(many).columns) == ["class", "for it", "against it"]
    assert "confidence" in explain(many, label="a").columns


# Explanations of some classes, and the short table of many.


X6 = np.random.default_rng(2).integers(-5, 6, (200, 6)).astype(float)
Y6 = np.argmax(X6, axis=1).astype(float)  # 0.0 to 5.0


@pytest.fixture(scope="module")
def model():
    return AveragedPerceptron(random_state=0).fit(X6, Y6)


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


@pytest.mark.parametrize("label", [6, "x", [0, "x"]])
def test_an_unknown_class_is_named_beside_those_there_are(model, label):
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
    model = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(X6, Y6)
    short = explain(model)
    assert short.columns == ["class", "for it", "against it"]
    assert short.notes[-1] == "Weights are for the scaled features."
    table = explain(model, label=2)
    assert table.columns == ["class", "feature", "weight", "weight per unit"]
    assert table.notes[1].endswith(", for weights per unit")


def test_support_rows_of_many_classes_are_short_too():
    model = KernelPerceptron(kernel="linear", random_state=0, max_iter=3).fit(X6[:60], Y6[:60])
    table = explain(model)
    assert table.columns == ["class", "for it", "against it"]
    assert table["for it"][0].startswith("row ")
    assert set(explain(model, label=4)["class"]) == {4}
    assert any("label=0" in note for note in table.notes)


def test_labels_that_are_numbers_are_written_as_people_do(model):
    x = X6[0]
    assert contributions(model, x).title.startswith(f"Predicted {int(model.predict([x])[0])}: ")
    two = Perceptron(shuffle=False).fit([[1.0], [0.0]], [7.0, 3.0])
    assert explain(two).title == "Weights: positive for 7, negative for 3"


# Weights and values in both units: those of scaled features, and those of the numbers before.


X = np.random.default_rng(1).normal(size=(80, 3)) * [1.0, 20.0, 0.5] + [0.0, 50.0, 3.0]
Y = np.where(X[:, 0] + (X[:, 1] - 50) / 20 > 0, "yes", "no")


def in_both_units(model, rows):
    """Check that both units give the same activations; return the table."""
    table = explain(model, top=50)
    learner = model[-1]
    order = [f"x{i}" for i in range(learner.n_features_in_)]
    w = np.array([dict(zip(table["feature"], table["weight per unit"], strict=True))[name] for name in order])
    assert dict(zip(table["feature"], table["weight"], strict=True)) == dict(zip(order, learner.coef_[0], strict=True))
    bias = find_units(model[:-1], learner, len(order)).bias(learner.coef_[0], float(learner.intercept_[0]))
    assert table.notes[1] == f"Bias: {bias:.4g}, for weights per unit"
    np.testing.assert_allclose(rows @ w + bias, model.decision_function(rows), rtol=1e-9, atol=1e-11 * abs(bias))
    return table


@pytest.mark.parametrize(
    "scaler",
    [StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False), MaxAbsScaler(), RobustScaler()],
)
def test_weights_per_unit_and_their_bias_make_the_same_activations(scaler):
    model = make_pipeline(scaler, AveragedPerceptron(random_state=0)).fit(X, Y)
    table = in_both_units(model, X)
    assert table.columns == ["feature", "weight", "weight per unit"]
    assert table["weight"] == sorted(table["weight"], reverse=True)
    assert any("before scaling" in note for note in table.notes)


def test_the_scale_is_that_of_the_last_step_and_other_steps_may_come_before():
    model = make_pipeline(SimpleImputer(), StandardScaler(), AveragedPerceptron(random_state=0)).fit(X, Y)
    in_both_units(model, X)
    nested = make_pipeline(make_pipeline(SimpleImputer(), StandardScaler()), AveragedPerceptron(random_state=0))
    in_both_units(nested.fit(X, Y), X)
    passed = make_pipeline(StandardScaler(), "passthrough", AveragedPerceptron(random_state=0)).fit(X, Y)
    in_both_units(passed, X)


def test_where_features_are_made_from_several_nothing_is_said_of_units():
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), AveragedPerceptron(random_state=0)).fit(X, Y)
    assert "weight per unit" not in explain(model).columns
    assert "raw value" not in contributions(model, X[0]).columns


def test_columns_that_are_scaled_beside_others():
    frame = pd.DataFrame({"age": X[:, 1], "port": RNG.choice(["C", "Q"], 80), "fare": X[:, 2]})
    both = make_column_transformer(
        (OneHotEncoder(), ["port"]), (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "fare"])
    )
    model = make_pipeline(both, AveragedPerceptron(random_state=0)).fit(frame, Y)
    table = explain(model)
    per_unit = dict(zip(table["feature"], table["weight per unit"], strict=True))
    weights = dict(zip(table["feature"], table["weight"], strict=True))
    assert per_unit["onehotencoder__port_C"] is None, "a category has one unit"
    assert per_unit["pipeline__age"] == pytest.approx(weights["pipeline__age"] / frame["age"].std(ddof=0))
    raw = contributions(model, frame.iloc[[4]])
    values = dict(zip(raw["feature"], raw["raw value"], strict=True))
    assert [values[name] for name in values if "port" in name] == [None]
    assert values["pipeline__age"] == pytest.approx(frame["age"][4], rel=1e-11)
    only = make_pipeline(make_column_transformer((OneHotEncoder(), ["port"])), AveragedPerceptron(random_state=0))
    assert "weight per unit" not in explain(only.fit(frame, RNG.choice(["C", "Q"], 80))).columns


def test_sparse_rows_are_scaled_too():
    model = make_pipeline(MaxAbsScaler(), AveragedPerceptron(random_state=0)).fit(sp.csr_array(X), Y)
    in_both_units(model, X)


def scaled_as_files_are(method="standard"):
    """Return a model as training on an .npz file with a scale leaves it: only the second feature is scaled."""
    centre, spread = (50.0, 20.0) if method == "standard" else (0.0, 128.0)
    Z = np.column_stack([X[:, 0], (X[:, 1] - centre) / spread])
    model = AveragedPerceptron(random_state=0).fit(Z, Y)
    model.preparation_ = {
        "format": "npz",
        "version": 1,
        "scale": {"method": method, "features": [1], "centre": [centre], "spread": [spread]},
    }
    return model


@pytest.mark.parametrize("method", ["standard", "maxabs"])
def test_a_model_from_files_knows_its_scale(method):
    model = scaled_as_files_are(method)
    scale = model.preparation_["scale"]
    table = explain(model, ["size", "price"])
    w = dict(zip(table["feature"], table["weight"], strict=True))
    per_unit = dict(zip(table["feature"], table["weight per unit"], strict=True))
    assert per_unit == {"size": None, "price": w["price"] / scale["spread"][0]}
    bias = model.intercept_[0] - w["price"] * scale["centre"][0] / scale["spread"][0]
    assert f"Bias: {bias:.4g}, for weights per unit" in table.notes


def test_contributions_show_the_number_before_scaling_beside_the_one_the_learner_sees():
    model = scaled_as_files_are()
    table = contributions(model, data.Block([[0.5, 1.23]]), ["size", "price"])
    assert table.columns == ["feature", "raw value", "value", "weight", "contribution"]
    line = dict(zip(table["feature"], table, strict=True))
    assert line["price"]["raw value"] == 74.6
    assert line["price"]["value"] == 1.23
    assert line["size"]["raw value"] is None
    assert line["size"]["value"] == 0.5
    assert line["(bias)"]["raw value"] is None


def test_a_dictionary_holds_numbers_before_scaling():
    model = scaled_as_files_are()
    table = contributions(model, {"price": 75.0}, ["size", "price"])
    assert table.to_dict() == contributions(model, data.Block([[0.0, 1.25]]), ["size", "price"]).to_dict()
    pipeline = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(X, Y)
    assert (
        contributions(pipeline, {"x1": 7.0, "x2": 1.0}).to_dict() == contributions(pipeline, [0.0, 7.0, 1.0]).to_dict()
    )


@given(st.floats(-1e9, 1e9), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_a_number_comes_back_to_nearly_all_its_digits(x, centre, spread):
    units = Units(np.array([centre]), np.array([spread]))
    back = float(units.raw(units.scaled(np.array([x])))[0])
    assert abs(back - x) <= 1e-11 * max(abs(x), abs(centre)) + 1e-290


def test_a_short_number_comes_back_as_it_was():
    units = Units(np.array([36.1]), np.array([17.3]))
    for x in (22.6, 0.0, -3.0, 1e-7, 5.25e8, 0.1):
        assert abs(units.raw(units.scaled(np.array([x])))[0] - x) <= (0.0 if abs(x) > 1e-3 or x == 0 else 1e-9)


def test_extreme_units_neither_fail_nor_warn():
    units = Units(np.array([1e300, 0.0]), np.array([5e-324, 1e308]))
    assert math.isinf(units.weights(np.array([1.0, 1.0]))[0])
    assert math.isnan(units.bias(np.array([1.0, 1.0]), 0.0))
    units.raw(units.scaled(np.array([1e300, 1e308])))


def test_other_preparations_have_no_units():
    model = AveragedPerceptron(random_state=0).fit(X, Y)
    assert find_units(None, model, 3) is None
    for preparation in ({"format": "csv", "version": 1}, "words", {"scale": None}):
        model.preparation_ = preparation
        assert find_units(None, model, 3) is None
