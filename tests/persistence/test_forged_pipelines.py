"""Pipelines from strangers: files made to deceive are refused, hold no code, and ask for no more than they hold."""

import contextlib
import copy
import json
import os
import tracemalloc

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from helpers.forging import compact, forge, mutations, other_arrays
from helpers.pipelines import example, learner, numbers
from rosenblatt import ExactScaler, load, save
from rosenblatt.storage.container import read_container

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the disk is tested elsewhere
    return tmp_path / "pipeline.safetensors"


FORGED = ["standard", "one-hot", "pairs", "mean", "mixed", "by slice", "by mask", "words filled"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused_or_work(path, name):
    pipeline, X, _ = example(name)
    save(pipeline, path)
    header, arrays = read_container(path)
    assert path.read_bytes() == forge(compact(header), arrays)
    steps = {part: array for part, array in arrays.items() if part.startswith("steps.")}
    rng = np.random.default_rng(0)
    forgeries = [({**header, "steps": other}, arrays) for other in mutations(header["steps"])]
    forgeries += [({**header, **other}, arrays) for other in mutations({"parameters": header["parameters"]})]
    forgeries += [
        (header, {k: a for k, a in arrays.items() if k not in steps} | other) for other in other_arrays(steps, rng)
    ]
    loaded = 0
    for number in rng.permutation(len(forgeries))[:500]:
        path.write_bytes(forge(compact(forgeries[number][0]), forgeries[number][1]))
        try:
            again = load(path)
        except ValueError as refusal:
            assert str(refusal).startswith(str(path))  # noqa: PT017
            assert "\n" not in str(refusal)  # noqa: PT017
            continue
        loaded += 1
        with contextlib.suppress(ValueError, UserWarning, RuntimeWarning):  # other names or categories, large numbers
            again.predict(X)
        save(again, path)
    assert loaded < min(500, len(forgeries)) / 3


def changed_step(path, pipeline, change, place=0):
    """Save a pipeline, change one of its steps, and load it."""
    save(pipeline, path)
    header, arrays = read_container(path)
    change(header["steps"][place]["step"], arrays)
    path.write_bytes(forge(compact(header), arrays))
    return load(path)


@pytest.mark.parametrize("name", [*FORGED, "exact", "maxabs", "sphere"])
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
        step["categories"][0] = {"type": "object", "values": values}
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
    """3,000 categories in one column and one in each of 3,000 others once took a matrix of both."""

    def change(step, arrays):
        step["categories"] = [{"type": "object", "values": [f"{k:05}" for k in range(3000)]}] + [
            {"type": "object", "values": ["a"]} for _ in range(3000)
        ]
        step["n_features"] = 3001

    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()).fit(WORDS, np.arange(20) % 2)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="the learner expects 4 features and gets 6000"):
            changed_step(path, pipeline, change)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_a_small_file_asks_for_no_more_memory_than_allowed(path):
    X, y = numbers()
    save(make_pipeline(ExactScaler(), learner()).fit(X, y), path)
    header, arrays = read_container(path)
    wide = {"kind": "Combinations", "n_features": 2**20, "feature_names": None, "output": None}
    for step in (
        {**wide, "parameters": {"degree": 3}},
        {**wide, "kind": "SphereLift", "n_features": 2**50},
        {
            **wide,
            "kind": "ColumnTransformer",
            "n_features": 2**50,
            "parameters": {},
            "columns": [],
            "remainder": "passthrough",
            "sparse": False,
        },
    ):
        changed = copy.deepcopy(header)
        changed["steps"].insert(0, {"name": "first", "step": step})
        path.write_bytes(forge(json.dumps(changed, separators=(",", ":")), arrays))
        with pytest.raises(ValueError, match=r"holds no valid pipeline: .*\.$"):
            load(path)
