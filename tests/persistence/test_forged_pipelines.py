"""Pipelines from strangers: files made to deceive are refused, hold no code, and ask for no more than they hold."""

import os
import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.fixes import parse_version

from helpers.forging import compact, forge
from helpers.pipelines import example, learner, mixed, numbers, table
from rosenblatt import ExactScaler, load, save
from rosenblatt.messages import ParameterError
from rosenblatt.storage.container import read_container


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the disk is tested elsewhere
    return tmp_path / "pipeline.safetensors"


def changed_step(path, pipeline, change, place=0):
    """Save a pipeline, change one of its steps, and load it."""
    save(pipeline, path)
    header, arrays = read_container(path)
    change(header["steps"][place]["step"], arrays)
    path.write_bytes(forge(compact(header), arrays))
    return load(path)


@pytest.mark.parametrize("name", ["standard", "one-hot", "pairs", "mixed", "words filled", "exact"])
def test_no_parameter_of_a_step_may_be_left_out(path, name):
    """Where one is left out, scikit-learn's default would be taken, without the checks that go with it."""

    def steps(data):
        if type(data) is dict:
            yield from [data] if type(data.get("parameters")) is dict and "kind" in data else []
            for value in data.values():
                yield from steps(value)
        elif type(data) is list:
            for value in data:
                yield from steps(value)

    save(example(name)[0], path)
    header, arrays = read_container(path)
    for step in steps(header["steps"]):
        for parameter in list(step["parameters"]):
            value = step["parameters"].pop(parameter)
            path.write_bytes(forge(compact(header), arrays))
            with pytest.raises(ValueError, match=f"has no field '{parameter}'"):
                load(path)
            step["parameters"][parameter] = value


NAN = {"missing": "nan"}
WORDS = np.array([["a", "x"], ["b", "y"], ["a", "y"], ["b", "x"]] * 5, object)


@pytest.mark.parametrize("stated", ["auto", "given", None])
@pytest.mark.parametrize(
    "values",
    [["a"] * 4000, ["a", "b", "a"], ["a", None, None], [2, 1], [1, True], [1.0, 1.0], [None, 1], [NAN, 1]],
)
def test_categories_are_different_and_can_be_looked_up(path, values, stated):
    """Of ["a"] * 400,000, scikit-learn's fit made one column, and its transform wrote to all of them."""

    def change(step, arrays):
        step["fitted"]["categories_"][0] = {"type": "object", "values": values}
        step["parameters"]["categories"] = stated
        if stated is None:
            del step["parameters"]["categories"]

    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()).fit(WORDS, np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"sorted, none twice\.$" if stated else "has no field 'categories'"):
        changed_step(path, pipeline, change)


def test_categories_that_were_given_keep_their_order(path):
    given = OneHotEncoder(categories=[["b", None, "a"], ["y", "x"]])
    pipeline = make_pipeline(given, learner()).fit(WORDS, np.arange(20) % 2)
    save(pipeline, path)
    assert load(path).decision_function(WORDS).tobytes() == pipeline.decision_function(WORDS).tobytes()
    numbers_of_objects = OneHotEncoder(categories=[[2, 1]]).fit(np.array([[1], [2]], object))
    with pytest.raises(ValueError, match="sorted, none twice"):
        save(make_pipeline(numbers_of_objects, learner()).fit(np.array([[1], [2]], object), [0, 1]), path)


def test_many_columns_of_categories_take_memory_by_what_there_is(path):
    """2,000 categories in one column and one in each of 2,000 others once took a matrix of both."""

    def change(step, arrays):
        step["fitted"]["categories_"] = [{"type": "object", "values": [f"{k:05}" for k in range(2000)]}] + [
            {"type": "object", "values": ["a"]} for _ in range(2000)
        ]
        step["n_features"] = 2001

    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()).fit(WORDS, np.arange(20) % 2)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="the learner expects 4 features and gets 4000"):
            changed_step(path, pipeline, change)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


WIDE = {"n_features": 2**20, "parameters": {}, "fitted": {}}
SIMPLE = {"sparse_threshold": 0.3, "transformer_weights": None, "verbose": False, "verbose_feature_names_out": True}
PASSED = {"name": "a", "columns": {"slice": [None, None, None]}, "step": "passthrough"}


def columns(n_features, parts=(), remainder="passthrough"):
    fitted = {"columns": list(parts), "remainder": remainder, "sparse": False}
    return {"kind": "ColumnTransformer", "n_features": n_features, "parameters": SIMPLE, "fitted": fitted}


@pytest.mark.parametrize(
    "steps",
    [
        [{**WIDE, "kind": "Combinations", "parameters": {"degree": 3}}],
        [{**WIDE, "kind": "Combinations", "parameters": {"degree": 1}}] * 20,
        [{**WIDE, "kind": "SphereLift", "n_features": 2**50}],
        [columns(2**50)],
        [columns(2**20)],
        [columns(2**13)] * 40,
        [columns(2**13, [PASSED] * 40, "drop")],
    ],
)
def test_a_small_file_asks_for_no_more_memory_than_allowed(path, steps):
    """Steps that claim columns are counted together: one of 2,097,152 once took 0.7 GB, and a file can have many."""
    X, y = numbers()
    save(make_pipeline(ExactScaler(), learner()).fit(X, y), path)
    header, arrays = read_container(path)
    header["steps"] = [{"name": f"step{k}", "step": step} for k, step in enumerate(steps)] + header["steps"]
    path.write_bytes(forge(compact(header), arrays))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"holds no valid pipeline: .*\.$"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


def test_columns_that_are_claimed_can_be_allowed(path):
    X = sp.csr_array(([1.0, 1.0], ([0, 1], [3, 300_000])), shape=(2, 300_001))
    step = ColumnTransformer([("a", "passthrough", [0])], remainder="passthrough")
    pipeline = make_pipeline(step, learner()).fit(X, [0, 1])
    save(pipeline, path)
    with pytest.raises(ParameterError, match="too many columns of which nothing is stored: if you trust it") as refusal:
        load(path)
    needed = int(re.search(r"max_features=(\d+)", str(refusal.value))[1])
    assert load(path, max_features=2 * needed).predict(X).tolist() == pipeline.predict(X).tolist()


@pytest.mark.parametrize(
    "template",
    [
        "{feature_name:>300000000}",
        "{transformer_name}{feature_name:>300000000}",
        "{transformer_name}{feature_name!r}",
        "{transformer_name}{feature_name}{feature_name}",
        "{transformer_name}{feature_name.__class__}",
        "{transformer_name}{feature_name",
        "{transformer_name}",
        "",
        "{transformer_name}{feature_name}" + "a" * 1000,
        "{0}{1}",
    ],
)
def test_templates_of_names_hold_both_names_and_no_more(path, template):
    def change(step, arrays):
        step["parameters"]["verbose_feature_names_out"] = template

    with pytest.raises(ValueError, match="verbose_feature_names_out' must be a boolean, or a string with"):
        changed_step(path, example("mixed")[0], change)


@pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.6"), reason="it takes booleans only")
def test_a_template_of_names_comes_back(path):
    frame, y = table()
    pipeline = mixed(verbose_feature_names_out="{feature_name} of {transformer_name}").fit(frame, y)
    save(pipeline, path)
    assert load(path)[:-1].get_feature_names_out().tolist() == pipeline[:-1].get_feature_names_out().tolist()
