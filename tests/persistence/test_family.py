"""Models of learners with margins, sized steps and variances, as files: all comes back, and nothing is believed."""

import itertools
import json
import math
import os
import warnings

import numpy as np
import onnxruntime
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.examples import small_set
from helpers.forging import alike, compact, forge
from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, PassiveAggressive
from rosenblatt.persistence.files import load, save
from rosenblatt.persistence.json_export import export_json
from rosenblatt.persistence.onnx import export_onnx
from rosenblatt.storage.container import read_container

LEARNERS = [
    MarginPerceptron(margin=0.5, random_state=0),
    PassiveAggressive(C=math.inf, random_state=0),
    PassiveAggressive(C=0.1, loss="squared_hinge", multi_class="ovr", hypothesis="average", random_state=0),
    AROW(r=0.5, random_state=0),
    AROW(multi_class="ovr", fit_intercept=False, random_state=0),
    AROW(hypothesis="average", decay=0.01, random_state=0),
    AveragedPerceptron(decay=0.1, random_state=0),
]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the disk is tested elsewhere
    return tmp_path / "model.safetensors"


def examples(classes=2, n=80):
    X, y = small_set("gauss", n=n, classes=classes, seed=5)
    X[:, :classes] += 1.5 * np.eye(classes)[y][:, : X.shape[1]]
    return X, y


def through(model, path):
    save(model, path)
    return load(path)


def name_of(learner):
    return str(learner)


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("early", [False, True])
def test_a_loaded_model_goes_on_as_if_nothing_had_been(path, learner, classes, early):
    X, y = examples(classes)
    options = {"warm_start": True, "early_stopping": early, "n_iter_no_change": 3}
    whole = clone(learner).set_params(max_iter=5, **options).fit(X, y)
    model = clone(learner).set_params(max_iter=1, **options)
    for _ in range(5):
        again = through(model.fit(X, y), path)
        alike(again, model)
        model = again
    alike(model.set_params(max_iter=5), whole)
    assert str(model.report_) == str(whole.report_)
    assert model.history_.tolist() == whole.history_.tolist()
    assert model.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_a_stream_goes_on_after_each_chunk(path, learner, layout):
    X, y = examples(3)
    straight, stored = clone(learner), clone(learner)
    for start, stop in itertools.pairwise([0, 1, 2, 10, 40, 80]):
        rows = layout(X[start:stop])
        straight.partial_fit(rows, y[start:stop])
        stored = through(stored.partial_fit(rows, y[start:stop]), path)
        alike(stored, straight)
    assert stored.decision_function(X).tobytes() == straight.decision_function(X).tobytes()


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_wide_model_is_small_and_comes_back(path, learner, classes):
    rng = np.random.default_rng(0)
    X = np.zeros((40, 5000))
    X[:, rng.choice(5000, 6, replace=False)] = rng.standard_normal((40, 6))
    model = clone(learner).fit(sp.csr_array(X), np.arange(40) % classes)
    again = through(model, path)
    assert path.stat().st_size < 30_000
    alike(again, model)


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_pipelines_graphs_and_json(path, tmp_path, learner):
    X, y = examples(3)
    pipeline = make_pipeline(StandardScaler(), clone(learner)).fit(X, y)
    assert through(pipeline, path).predict(X).tolist() == pipeline.predict(X).tolist()
    export_onnx(pipeline, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    given = {session.get_inputs()[0].name: X}
    assert session.run(None, given)[0].tolist() == pipeline.predict(X).tolist()
    model = pipeline[-1]
    export_json(model, tmp_path / "m.json")
    told = json.loads((tmp_path / "m.json").read_text())
    assert (told["model"], told["hypothesis"]) == (type(model).__name__, model.hypothesis)
    weights = [[scores["weights"][f"x{j}"] for j in range(X.shape[1])] for scores in told["scores"]]
    assert np.array_equal(weights, model.coef_)
    assert told["report"]["updates"] == model.n_updates_
    assert told["report"].get("updates_by_pass", []) == model.report_.updates_by_pass


# what is not believed


STATE = "learned.state."


def forged(path, model, change_header=None, change_arrays=None):
    """Write a model with changes of its header and its arrays, the checksum made right; return why it is refused."""
    save(model, path)
    header, arrays = read_container(path)
    if change_header is not None:
        change_header(header)
    if change_arrays is not None:
        change_arrays(arrays)
    path.write_bytes(forge(compact(header), arrays))
    with pytest.raises(ValueError, match=r"model\.safetensors") as refusal:
        load(path)
    return str(refusal.value)


@pytest.mark.parametrize("name", ["s", "s_b"])
@pytest.mark.parametrize("value", [-0.5, 1.5, math.nan, math.inf])
def test_variances_lie_between_0_and_1(path, name, value):
    def change(arrays):
        arrays[STATE + name] = arrays[STATE + name].copy()
        arrays[STATE + name].flat[-1] = value

    model = AROW(random_state=0).fit(*examples(3))
    assert f"'{STATE}{name}' must be an array of finite numbers, at least 0" in forged(
        path, model, change_arrays=change
    )


def test_a_learner_without_variances_has_none(path):
    model = PassiveAggressive(random_state=0).fit(*examples())
    more = {f"{STATE}s": np.ones((1, model.n_features_in_)), f"{STATE}s_b": np.ones(1)}
    assert "unknown array" in forged(path, model, change_arrays=lambda arrays: arrays.update(more))
    names = {name: STATE + name for name in ("s", "s_b")}

    def change(header):
        header["learned"]["state"].update(names)

    assert "for AROW and for no other learner" in forged(path, model, change, lambda arrays: arrays.update(more))


@pytest.mark.parametrize(
    ("learner", "name", "value", "sentence"),
    [
        (AROW(), "r", 0, "r must be a number above 0, got 0."),
        (AROW(), "r", "inf", "r must be a number, below 2**62, got 'inf'."),
        (AROW(), "r", True, "r must be a number, below 2**62, got True."),
        (AROW(), "decay", 1.0, "decay must be below 1, got 1.0."),
        (AROW(), "decay", -0.5, "decay must be a number of at least 0, got -0.5."),
        (AROW(), "hypothesis", "vote", "hypothesis must be 'last' or 'average', got 'vote'."),
        (MarginPerceptron(), "margin", -1, "margin must be a number of at least 0, got -1."),
        (MarginPerceptron(), "margin", [1], "margin must be a number, below 2**62, got [1]."),
        (PassiveAggressive(), "C", -0.5, "C must be a number above 0, got -0.5."),
        (PassiveAggressive(), "C", "-inf", "C must be a number, below 2**62, got '-inf'."),
        (PassiveAggressive(), "C", None, "C must be a number, below 2**62, got None."),
        (PassiveAggressive(), "C", 2**70, "C must be a number, below 2**62"),
        (PassiveAggressive(), "loss", "log", "loss must be 'hinge' or 'squared_hinge', got 'log'."),
        (PassiveAggressive(), "r", 1.0, "r"),
        (AROW(), "C", 1.0, "C"),
    ],
)
def test_parameters_out_of_range_are_one_sentence(path, learner, name, value, sentence):
    def change(header):
        header["parameters"][name] = value

    assert sentence in forged(path, clone(learner).set_params(random_state=0).fit(*examples()), change)


def test_a_parameter_that_is_missing_is_missed(path):
    for learner, name in ((AROW(), "r"), (PassiveAggressive(), "C"), (MarginPerceptron(), "margin")):
        model = learner.set_params(random_state=0).fit(*examples())
        assert name in forged(path, model, lambda header, name=name: header["parameters"].pop(name))


def test_another_learner_cannot_be_claimed(path):
    def change(header):
        header["learner"] = "AROW"
        header["parameters"] = AROW(random_state=0).get_params()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PassiveAggressive(random_state=0).fit(*examples())
    assert forged(path, model, change)


def test_no_limit_is_a_word_in_the_file(path):
    model = PassiveAggressive(C=math.inf, random_state=0).fit(*examples())
    assert math.inf == through(model, path).C
    assert read_container(path)[0]["parameters"]["C"] == "inf"
