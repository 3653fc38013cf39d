import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from helpers.weighted_models import X3, Y3, with_weights
from rosenblatt import AROW, AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.inspection.contributions import contributions
from rosenblatt.inspection.explain import explain

RNG = np.random.default_rng(1)

# the largest and the smallest weights


def test_largest_come_first_and_smallest_last():
    model = with_weights([4, -1, 0, 7, -9, 2], b=-3)
    table = explain(model, top=2)
    assert table["feature"] == ["x3", "x0", "x1", "x4"]
    assert table["weight"] == [7, 4, -1, -9]
    assert table.columns == ["feature", "weight"]
    assert table.notes == ("Bias: -3",)
    assert table.title == "Weights: above 0 they speak for 'yes', below 0 for 'no'"


@pytest.mark.parametrize("top", [3, 4, 100])
def test_few_features_are_each_shown_once(top):
    table = explain(with_weights([4, -1, 0, 7, -9, 2]), top=top)
    assert table["feature"] == ["x3", "x0", "x5", "x2", "x1", "x4"]


@pytest.mark.parametrize("d", [4, 5, 9])
def test_equal_weights_keep_their_order_and_no_feature_comes_twice(d):
    table = explain(with_weights(np.full(d, 2.0)), top=2)
    assert table["feature"] == ["x0", "x1", f"x{d - 2}", f"x{d - 1}"]


def test_ten_and_ten_is_the_default():
    w = RNG.permutation(50).astype(float)
    assert explain(with_weights(w))["weight"] == [*range(49, 39, -1), *range(9, -1, -1)]


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
    with pytest.warns(UserWarning, match=r"'area' ranges over 50\.1 and 'depth' over 0\.5.*StandardScaler") as caught:
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
    columns = [
        {"kind": "number"},
        {"kind": "text"},
        {"kind": "category", "categories": ["a", "b"]},
        {"kind": "category"},
    ]
    model.preparation_ = {"format": "csv", "version": 1, "bits": 1, "columns": columns}
    assert len(explain(model).notes) == 1
    model.state_.feature_ranges[0] = 0.1
    with pytest.warns(UserWarning, match="'x2' ranges over 30 and 'x0' over 0.1"):
        explain(model)
    model.preparation_ = {"format": "vw", "version": 1, "bits": 18}
    assert len(explain(model).notes) == 1


def test_training_itself_notices_the_scale():
    X = X3 * [1, 1, 1, 1000]
    model = AveragedPerceptron(random_state=0).fit(X, X[:, 0] > 0)
    with pytest.warns(UserWarning, match="'x3' ranges over"):
        explain(model)
    scaled = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(X, X[:, 0] > 0)
    assert not any("mislead" in note for note in explain(scaled).notes)


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
