"""A row as a dictionary of features by their names."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron
from rosenblatt.inspection.contributions import contributions

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
    with pytest.raises(ValueError, match=r"^the model has no feature 'rian': did you mean 'rain'\?$"):
        contributions(model, {"rian": 1})
    with pytest.raises(ValueError, match=r"no feature 'wind': they are called \['rain', 'sun'\]"):
        contributions(model, {"wind": 1})
    with pytest.raises(ValueError, match="expected a number for the feature 'rain', got 'much'"):
        contributions(model, {"rain": "much"})
    with pytest.raises(ValueError, match=r"expected a finite number, .* for 'rain', got nan"):
        contributions(model, {"rain": float("nan")})


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
        assert not any("Unknown" in note for note in table.notes)


def test_what_a_model_of_records_does_not_know_counts_as_nothing_and_is_named():
    model = Perceptron()
    for x, y in RECORDS:
        model.learn_one(x, y)
    known, new = {"load": 2.0}, {"load": 2.0, "host": "db9", "rain": 5}
    table = contributions(model, new)
    assert table.to_dict() == contributions(model, known).to_dict()
    assert "Unknown to the model, which counts them as nothing: host=db9, rain." in table.notes
    assert model.predict_one(new) in table.title


def test_a_value_that_is_new_counts_as_nothing_where_columns_have_names():
    frame = pd.DataFrame({"host=a": [1.0, 0.0], "host=b": [0.0, 1.0]})
    for model in (Perceptron(shuffle=False), KernelPerceptron(kernel="rbf", random_state=0)):
        model.fit(frame, ["x", "y"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = contributions(model, {"host": "c"})
        assert any("Unknown to the model, which counts them as nothing: host=c." in note for note in table.notes)
    with pytest.raises(ValueError, match="the model has no feature 'hots'"):
        contributions(model, {"hots": "a"})
