"""A row as a dictionary of features by their names."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rosenblatt import KernelPerceptron, Perceptron
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
    with pytest.raises(ValueError, match="NaN"):
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
