"""Pipelines from strangers: files made to deceive are refused, hold no code, and ask for no more than they hold."""

import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from helpers.forging import compact, forge
from helpers.pipelines import example, learner, mixed, numbers, table
from rosenblatt import ExactScaler, load, save
from rosenblatt.messages import ParameterError
from rosenblatt.storage.container import read_container


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
            yield from [data] if "n_features" in data and "kind" in data else []
            for value in data.values():
                yield from steps(value)
        elif type(data) is list:
            for value in data:
                yield from steps(value)

    save(example(name)[0], path)
    header, arrays = read_container(path)
    for step in steps(header["steps"]):
        for parameter in set(step) - {"kind", "feature_names", "output"}:
            value = step.pop(parameter)
            path.write_bytes(forge(compact(header), arrays))
            with pytest.raises(ValueError, match=f"has no field '{parameter}'"):
                load(path)
            step[parameter] = value


NAN = {"missing": "nan"}
WORDS = np.array([["a", "x"], ["b", "y"], ["a", "y"], ["b", "x"]] * 5, object)


@pytest.mark.parametrize("stated", ["auto", "given", None])
@pytest.mark.parametrize(
    "values", [["a"] * 4000, ["a", "b", "a"], ["a", None, None], [2, 1], [1, True], [1.0, 1.0], [None, 1], [NAN, 1]]
)
def test_categories_are_different_and_can_be_looked_up(path, values, stated):
    """Of ["a"] * 400,000, scikit-learn's fit made one column, and its transform wrote to all of them."""

    def change(step, arrays):
        step["categories_"][0] = {"type": "object", "values": values}
        step["categories"] = stated
        if stated is None:
            del step["categories"]

    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()).fit(WORDS, np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"sorted, without duplicates\.$" if stated else "has no field 'categories'"):
        changed_step(path, pipeline, change)


def test_categories_that_were_given_keep_their_order(path):
    given = OneHotEncoder(categories=[["b", None, "a"], ["y", "x"]])
    pipeline = make_pipeline(given, learner()).fit(WORDS, np.arange(20) % 2)
    save(pipeline, path)
    assert load(path).decision_function(WORDS).tobytes() == pipeline.decision_function(WORDS).tobytes()
    numbers_of_objects = OneHotEncoder(categories=[[2, 1]]).fit(np.array([[1], [2]], object))
    with pytest.raises(ValueError, match="sorted, without duplicates"):
        save(make_pipeline(numbers_of_objects, learner()).fit(np.array([[1], [2]], object), [0, 1]), path)


def test_many_columns_of_categories_take_memory_by_what_there_is(path):
    """2,000 categories in one column and one in each of 2,000 others once took a matrix of both."""

    def change(step, arrays):
        step["categories_"] = [{"type": "object", "values": [f"{k:05}" for k in range(2000)]}] + [
            {"type": "object", "values": ["a"]} for _ in range(2000)
        ]
        step["n_features"] = 2001

    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()).fit(WORDS, np.arange(20) % 2)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="expects 4 features but receives 4000"):
            changed_step(path, pipeline, change)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


WIDE = {"n_features": 2**20}
SIMPLE = {"sparse_threshold": 0.3, "transformer_weights": None, "verbose": False, "verbose_feature_names_out": True}
PASSED = {"name": "a", "columns": {"slice": [None, None, None]}, "step": "passthrough"}


def columns(n_features, parts=(), remainder="passthrough"):
    fitted = {"transformers": list(parts), "remainder": remainder, "sparse_output_": False}
    return {"kind": "ColumnTransformer", "n_features": n_features, **SIMPLE, **fitted}


@pytest.mark.parametrize(
    "steps",
    [
        [{**WIDE, "kind": "Combinations", "degree": 3}],
        [{**WIDE, "kind": "Combinations", "degree": 1}] * 20,
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
    with pytest.raises(ParameterError, match="16,777,216: if you trust the file, allow") as refusal:
        load(path)
    needed = int(re.search(r"max_features=(\d+)", str(refusal.value))[1])
    assert load(path, max_features=2 * needed).predict(X).tolist() == pipeline.predict(X).tolist()


def test_a_template_of_names_is_not_stored(path):
    frame, y = table()
    pipeline = mixed(verbose_feature_names_out="{feature_name} of {transformer_name}").fit(frame, y)
    with pytest.raises(ValueError, match="verbose_feature_names_out of a ColumnTransformer must be"):
        save(pipeline, path)
