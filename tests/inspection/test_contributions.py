"""What each feature adds to one prediction, of a row in any form."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from helpers.weighted_models import X3, Y3, with_weights
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron
from rosenblatt.inspection.contributions import contributions

RNG = np.random.default_rng(1)


def test_contributions_are_weight_times_value_by_size_and_the_bias_comes_last():
    table = contributions(with_weights([4, -1, 0, 7], b=-3), [1, 9, 5, -1])
    assert table["feature"] == ["x1", "x3", "x0", "(bias)"]
    assert table["value"] == [9, -1, 1, 1]
    assert table["weight"] == [-1, 7, 4, -3]
    assert table["contribution"] == [-9, -7, 4, -3]
    assert table.notes == ("1 of 4 features contributes nothing and is left out.",)
    assert table.title == "Predicted 'no': the activation is -15"


@pytest.mark.parametrize("hypothesis", ["last", "average", "pocket"])
@pytest.mark.parametrize("top", [None, 3])
def test_contributions_add_up_to_the_activation(hypothesis, top):
    X = RNG.normal(size=(60, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(hypothesis=hypothesis, max_iter=3, random_state=0).fit(X, RNG.random(60) > 0.5)
    for x in X[:5]:
        table = contributions(model, x, top=top)
        activation = model.decision_function([x])[0]
        assert math.fsum(table["contribution"]) == pytest.approx(activation, rel=1e-12, abs=1e-12)
        assert f"Predicted {model.predict([x])[0]!s}" in table.title


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_with_more_classes_contributions_add_up_to_the_score_of_the_one_predicted(multi_class):
    model = AveragedPerceptron(multi_class=multi_class, random_state=0).fit(X3, Y3)
    for x in X3[:10]:
        table = contributions(model, x)
        assert math.fsum(table["contribution"]) == pytest.approx(model.decision_function([x]).max(), abs=1e-12)
        assert table.title.startswith(f"Predicted {str(model.predict([x])[0])!r}: the score")


def test_a_votes_contributions_are_those_of_its_average():
    model = VotedPerceptron(random_state=0).fit(X3, X3[:, 0] > 0)
    table = contributions(model, X3[0])
    expected = X3[0] @ model.average_coef_[0] + model.average_intercept_[0]
    assert math.fsum(table["contribution"]) == pytest.approx(expected, rel=1e-12)
    assert "of the averaged weights" in table.title
    assert any("vote" in note for note in table.notes)


def test_on_the_boundary_the_label_is_undefined():
    table = contributions(with_weights([1, 1], b=-2), [1, 1])
    assert "label is undefined" in table.title
    assert table.title.endswith("is 0")


def test_next_to_the_boundary_the_label_is_defined_though_rounded_contributions_cancel():
    model = with_weights([0.1, 1.0])
    x = [0.1, -(0.1 * 0.1)]
    table = contributions(model, x)
    assert math.fsum(table["contribution"]) == 0
    assert model.decision_function([x])[0] != 0
    assert table.title.startswith(f"Predicted {str(model.predict([x])[0])!r}")
    assert not table.title.endswith(" 0")


def test_a_tie_between_classes_is_a_boundary_too():
    model = Perceptron(fit_intercept=False, random_state=0).fit(np.eye(3), ["a", "b", "c"])
    assert "label is undefined" in contributions(model, np.zeros(3)).title


def test_zero_contributions_are_left_out():
    w = np.ones(40)
    x = np.zeros(40)
    x[[3, 5]] = 1, -2
    table = contributions(with_weights(w), x)
    assert table["feature"] == ["x5", "x3", "(bias)"]
    assert table.notes == ("38 of 40 features contribute nothing and are left out.",)
    assert len(contributions(with_weights(w[:6]), x[:6])) == 3


def test_the_scores_of_the_other_classes_are_in_the_title():
    model = AveragedPerceptron(max_iter=3, random_state=0).fit(X3, Y3)
    scores = dict(zip(model.classes_.tolist(), model.decision_function(X3[:1])[0], strict=True))
    first, second, third = sorted(scores, key=scores.get, reverse=True)
    assert contributions(model, X3[0]).title == (
        f"Predicted {first!r}: the score of this class is {scores[first]:.4g}, the largest; {second} has "
        f"{scores[second]:.4g}, {third} has {scores[third]:.4g}"
    )
    many = Perceptron(random_state=0).fit(np.eye(9), list(range(9)))
    assert contributions(many, np.eye(9)[4]).title.endswith(" and 3 more are smaller")


def test_top_adds_up_the_others():
    table = contributions(with_weights([4, -1, 2, 7], b=5), [1, 1, 1, 1], top=1)
    assert table["feature"] == ["x3", "(3 more)", "(bias)"]
    assert table["contribution"] == [7, 5, 5]
    assert table["value"] == [1, None, 1]
    assert contributions(with_weights([4, -1], b=5), [1, 1], top=2)["feature"] == ["x0", "x1", "(bias)"]


@pytest.mark.parametrize(
    "form",
    [list, np.array, lambda x: [x], lambda x: np.array([x]), lambda x: sp.csr_array([x]), lambda x: sp.csc_matrix([x]),
     sp.coo_array, lambda x: np.array(x, np.float32), lambda x: np.array(x, dtype=int)],
)  # fmt: skip
def test_a_row_comes_in_many_forms(form):
    assert contributions(with_weights([4, -1, 7]), form([1, 9, -1]))["contribution"] == [-9, -7, 4, 0]


@pytest.mark.parametrize("library", [pd, pl])
def test_a_row_may_come_from_a_frame(library):
    frame = library.DataFrame({"rain": [1.0, -1.0], "sun": [-2.0, 2.0]})
    model = Perceptron(shuffle=False).fit(frame, ["wet", "dry"])
    table = contributions(model, frame[:1])
    assert table["feature"] == ["sun", "rain", "(bias)"]
    if library is pd:
        assert contributions(model, frame.iloc[0]).to_dict() == table.to_dict()


def test_a_pipeline_shows_values_as_the_learner_sees_them():
    X = X3 * [1, 10, 100, 1000]
    model = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(X, X[:, 0] > 0)
    table = contributions(model, X[0])
    assert math.fsum(table["contribution"]) == pytest.approx(model.decision_function(X[:1])[0], rel=1e-12)
    assert set(table["value"][:-1]) == set(model[:-1].transform(X[:1])[0])


def test_a_text_is_a_row_of_words():
    texts = ["good film", "bad film", "good good plot", "bad plot"]
    model = make_pipeline(CountVectorizer(), Perceptron(shuffle=False)).fit(texts, ["+", "-", "+", "-"])
    table = contributions(model, "a good bad good plot", top=2)
    assert table["feature"][0] == "good"
    assert table["value"][0] == 2


def test_other_models_are_explained_too():
    peer = LogisticRegression().fit(X3, X3[:, 0] > 0)
    table = contributions(peer, X3[0])
    assert math.fsum(table["contribution"]) == pytest.approx(peer.decision_function(X3[:1])[0])
    line = LinearRegression().fit(X3, 3 * X3[:, 0] + 1)
    table = contributions(line, [2, 0, 0, 0])
    assert math.fsum(table["contribution"]) == pytest.approx(7)
    assert table.title == "Predicted 7"


def test_rows_that_are_not_one_row_are_refused():
    model = with_weights([1, 2])
    for row, words in (
        ([[1, 1], [2, 2]], "expected one row, got 2: pick one"),
        (3, "one row of numbers, got 3"),
        ([1, 2, 3], "features"),
        ([1, np.nan], "NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            contributions(model, row)
    with pytest.raises(ValueError, match="overflows float64"):
        contributions(with_weights([1e300, 1]), [1e300, 1])


# A row as a dictionary of features by their names.


FRAME = pd.DataFrame({"rain": [1.0, -1.0, 2.0], "sun": [-2.0, 2.0, 0.0]})
LABELS = ["wet", "dry", "wet"]


def test_a_dictionary_is_a_row_with_zeros_where_a_feature_is_absent():
    model = Perceptron(shuffle=False).fit(FRAME, LABELS)
    expected = contributions(model, pd.DataFrame({"rain": [0.0], "sun": [3.0]}))
    assert contributions(model, {"sun": 3}).to_text() == expected.to_text()
    assert contributions(model, {"s": 3}, ["r", "s"])["contribution"] == expected["contribution"]
    assert contributions(model, {}).title.startswith("Predicted ")
    nameless = Perceptron(shuffle=False).fit(FRAME.to_numpy(), LABELS)
    assert contributions(nameless, {"x1": 3}).to_dict() == contributions(nameless, [0, 3]).to_dict()


def test_an_unknown_name_is_a_sentence_that_guesses():
    model = Perceptron(shuffle=False).fit(FRAME, LABELS)
    for row, words in (
        ({"rian": 1}, r"^the model has no feature 'rian': did you mean 'rain'\?$"),
        ({"wind": 1}, r"no feature 'wind': its features are \['rain', 'sun'\]"),
        ({"rain": "much"}, "expected a number for the feature 'rain', got 'much'"),
        ({"rain": float("nan")}, "expected a finite number, .* for 'rain', got nan"),
    ):
        with pytest.raises(ValueError, match=words):
            contributions(model, row)


@pytest.mark.parametrize("library", [pd, pl])
def test_a_pipeline_takes_the_names_of_its_input(library):
    frame = library.DataFrame(FRAME.to_dict("list"))
    model = make_pipeline(StandardScaler(), Perceptron(shuffle=False)).fit(frame, LABELS)
    row = library.DataFrame({"rain": [0.0], "sun": [3.0]})
    assert contributions(model, {"sun": 3.0}).to_dict() == contributions(model, row).to_dict()
    with pytest.raises(ValueError, match="no feature 'snu': did you mean 'sun'"):
        contributions(model, {"snu": 1})


def test_a_pipeline_of_words_and_numbers_takes_both():
    frame = pd.DataFrame({"port": ["C", "Q", "C"], "fare": [1.0, 2.0, 3.0]})
    both = make_column_transformer((OneHotEncoder(), ["port"]), (StandardScaler(), ["fare"]))
    model = make_pipeline(both, Perceptron(shuffle=False)).fit(frame, LABELS)
    assert contributions(model, {"port": "Q", "fare": 2.0}).to_dict() == contributions(model, frame.iloc[[1]]).to_dict()


def test_a_pipeline_that_starts_from_records_takes_one():
    model = make_pipeline(DictVectorizer(), Perceptron(shuffle=False)).fit([{"a": 1}, {"b": 1}], ["x", "y"])
    assert contributions(model, {"b": 2.0})["feature"][0] == "b"


def test_a_kernel_takes_a_dictionary():
    model = KernelPerceptron(kernel="rbf", random_state=0).fit(FRAME.to_numpy(), LABELS)
    assert (
        contributions(model, {"x0": 1.0, "x1": -2.0}).to_dict() == contributions(model, np.array([1.0, -2.0])).to_dict()
    )


RECORDS = [({"host": "db1", "load": 0.5, "up": True}, "fine"), ({"host": "web", "load": 3}, "bad")]


@pytest.mark.parametrize("learner", [Perceptron(), AveragedPerceptron()])
def test_a_record_that_was_learned_is_explained(learner):
    model = clone(learner)
    for x, y in RECORDS:
        model.learn_one(x, y)
    for x, _ in RECORDS:
        table = contributions(model, x)
        assert table.title.startswith(f"Predicted '{model.predict_one(x)}'")
        assert f"host={x['host']}" in table["feature"]
        assert not any("Not known" in note for note in table.notes)


def test_what_a_model_of_records_does_not_know_counts_as_nothing_and_is_named():
    model = Perceptron()
    for x, y in RECORDS:
        model.learn_one(x, y)
    known, new = {"load": 2.0}, {"load": 2.0, "host": "db9", "rain": 5}
    table = contributions(model, new)
    assert table.to_dict() == contributions(model, known).to_dict()
    assert "Not known to the model and ignored: host=db9, rain." in table.notes
    assert model.predict_one(new) in table.title


def test_a_value_that_is_new_counts_as_nothing_where_columns_have_names():
    frame = pd.DataFrame({"host=a": [1.0, 0.0], "host=b": [0.0, 1.0]})
    for model in (Perceptron(shuffle=False), KernelPerceptron(kernel="rbf", random_state=0)):
        model.fit(frame, ["x", "y"])
        table = contributions(model, {"host": "c"})
        assert any("Not known to the model and ignored: host=c." in note for note in table.notes)
    with pytest.raises(ValueError, match="the model has no feature 'hots'"):
        contributions(model, {"hots": "a"})
