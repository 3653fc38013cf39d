"""Weights and values in both units: those of scaled features, and those of the numbers before."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from rosenblatt import AveragedPerceptron
from rosenblatt.inspection.contributions import contributions
from rosenblatt.inspection.explain import Units, explain, find_units

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 3)) * [1.0, 20.0, 0.5] + [0.0, 50.0, 3.0]
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
    assert any("before it was scaled" in note for note in table.notes)


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
    """Return a model as training on a table with a scale leaves it: the second feature is scaled, the first is not."""
    centre, spread = (50.0, 20.0) if method == "standard" else (0.0, 128.0)
    Z = np.column_stack([X[:, 0], (X[:, 1] - centre) / spread])
    model = AveragedPerceptron(random_state=0).fit(Z, Y)
    model.preparation_ = {
        "format": "csv",
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
    table = contributions(model, [0.5, 1.23], ["size", "price"])
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
    assert table.to_dict() == contributions(model, [0.0, 1.25], ["size", "price"]).to_dict()
    pipeline = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0)).fit(X, Y)
    assert (
        contributions(pipeline, {"x1": 7.0, "x2": 1.0}).to_dict() == contributions(pipeline, [0.0, 7.0, 1.0]).to_dict()
    )


@given(st.floats(-1e9, 1e9), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_a_number_comes_back_to_nearly_all_its_digits(x, centre, spread):
    units = Units(np.array([centre]), np.array([spread]))
    back = float(units.raw(units.scaled(np.array([x])))[0])
    assert abs(back - x) <= 1e-11 * max(abs(x), abs(centre)) + 1e-290


@pytest.mark.parametrize("x", [22.6, 0.0, -3.0, 1e-7, 5.25e8, 0.1])
def test_a_short_number_comes_back_as_it_was(x):
    units = Units(np.array([36.1]), np.array([17.3]))
    assert abs(units.raw(units.scaled(np.array([x])))[0] - x) <= (0.0 if abs(x) > 1e-3 or x == 0 else 1e-9)


def test_extreme_units_neither_fail_nor_warn():
    units = Units(np.array([1e300, 0.0]), np.array([5e-324, 1e308]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isinf(units.weights(np.array([1.0, 1.0]))[0])
        assert math.isnan(units.bias(np.array([1.0, 1.0]), 0.0))
        units.raw(units.scaled(np.array([1e300, 1e308])))


def test_other_preparations_have_no_units():
    model = AveragedPerceptron(random_state=0).fit(X, Y)
    assert find_units(None, model, 3) is None
    for preparation in ({"format": "csv", "version": 1}, "words", {"scale": None}):
        model.preparation_ = preparation
        assert find_units(None, model, 3) is None
