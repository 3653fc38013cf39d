"""Exported models: an ONNX graph that decides as ``predict`` does, on ties too, and JSON that people can read."""

import errno
import json
import os
import sys

import numpy as np
import onnx
import onnx.reference
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import NotFittedError

from helpers.examples import small_set
from helpers.exported import exported
from helpers.pipelines import EXAMPLES, example
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, data
from rosenblatt.estimators.rescaled import RescaledPerceptron
from rosenblatt.persistence.json_export import export_json
from rosenblatt.persistence.onnx import export_onnx


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


def few_words(n=1000, d=300, classes=2):
    """Return rows that are mostly zero, as texts are, and labels that separate but for some noise."""
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (n, d)) * (rng.random((n, d)) < 0.03)
    y = np.argmax(X @ rng.standard_normal((d, classes)) + rng.standard_normal((n, classes)), axis=1)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0), y


SETS = {
    "iris": lambda: load_iris(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "words": few_words,
    "five kinds of words": lambda: few_words(classes=5),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_every_row_is_labelled_as_by_predict(path, name, multi_class):
    X, y = SETS[name]()
    for hypothesis in ("last", "average", "pocket"):
        model = Perceptron(hypothesis, max_iter=3, random_state=0, multi_class=multi_class).fit(X, y)
        label, scores = exported(model, path, X)
        assert label.dtype == np.int64
        assert label.tolist() == model.predict(X).tolist()
        activations = model.decision_function(X).reshape(len(X), -1)
        assert scores == pytest.approx(activations, rel=1e-9, abs=1e-9 * np.abs(activations).max())


@pytest.mark.parametrize("kind", ["integers", "decimals", "halves", "gauss"])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (4, "direct")])
@pytest.mark.parametrize("hypothesis", ["last", "average", "pocket"])
def test_rows_on_the_boundary_are_labelled_as_by_predict(path, kind, classes, multi_class, hypothesis):
    X, y = small_set(kind, n=300, classes=classes, seed=classes)
    model = Perceptron(hypothesis, max_iter=6, random_state=0, multi_class=multi_class).fit(X, y)
    label, scores = exported(model, path, X)
    assert label.tolist() == model.predict(X).tolist()
    if classes == 2:
        assert np.sign(scores[:, 0]).tolist() == np.sign(model.decision_function(X)).tolist()


def test_rounding_alone_would_not_do(path):
    wrong = 0
    for seed in range(4):
        X, y = small_set("decimals", n=300, classes=3, seed=seed)
        model = Perceptron("pocket", max_iter=6, random_state=seed).fit(X, y)
        assert (exported(model, path, X)[0] == model.predict(X)).all()
        wrong += int(np.sum(exported(model, path, X, exact=False)[0] != model.predict(X)))
    assert 0 < wrong < 200


@pytest.mark.parametrize("scale", [1e-120, 1e-9, 1e9, 1e120])
def test_the_size_of_numbers_does_not_matter(path, scale):
    X, y = small_set("decimals", n=200, classes=3, seed=1)
    model = Perceptron(max_iter=5, random_state=0, fit_intercept=False).fit(scale * X, y)
    assert (exported(model, path, scale * X)[0] == model.predict(scale * X)).all()


def test_numbers_of_very_different_size_in_one_row(path):
    rng = np.random.default_rng(0)
    X = rng.choice([-0.1, 0.1, 0.3], (300, 6)) * 10.0 ** rng.integers(-5, 6, 6)
    model = Perceptron("last", max_iter=20, random_state=0).fit(X, rng.integers(0, 3, 300))
    assert (exported(model, path, X)[0] == model.predict(X)).all()
    close = model.last_coef_[0] * 0.1  # and rows that are made to lie between two classes
    rows = np.array([close, -close, model.last_coef_[1] - model.last_coef_[2], np.zeros(6)])
    assert (exported(model, path, rows)[0] == model.predict(rows)).all()


@pytest.mark.skipif(onnx.__version__ < "1.23", reason="its reference evaluator fails on an empty ReduceMax")
def test_another_runtime_agrees(path):
    X, y = small_set("decimals", n=100, classes=3, seed=2)
    for labels in (y, np.minimum(y, 1)):
        model = Perceptron("pocket", max_iter=5, random_state=0).fit(X, labels)
        export_onnx(model, path)
        label, _ = onnx.reference.ReferenceEvaluator(str(path)).run(None, {"X": X})
        assert label.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["no", "yes"], np.object_),
        (["größe", "", "\U0001f600"], np.object_),
        ([-1.0, 1.0], np.float64),
        ([False, True], np.bool_),
        (np.array([3, 9, 250], np.uint8), np.int64),
        (np.array([5, 2**62], np.uint64), np.int64),
    ],
)
def test_labels_of_every_kind(path, labels, kind):
    X, y = small_set("gauss", n=60, classes=len(labels))
    model = Perceptron(max_iter=3, random_state=0).fit(X, np.array(labels)[y])
    label, _ = exported(model, path, X)
    assert label.dtype == kind
    assert label.tolist() == model.predict(X).tolist()


def test_one_class_and_zero_weights(path):
    X = np.array([[1.0], [-1.0], [0.0]])
    model = Perceptron().partial_fit(X, ["only"] * 3)
    assert exported(model, path, X)[0].tolist() == ["only"] * 3
    model = Perceptron().partial_fit(np.zeros((1, 1)), [1], classes=[0, 1, 2], sample_weight=[0.0])
    assert exported(model, path, X)[0].tolist() == model.predict(X).tolist() == [0, 0, 0]


def test_the_rescaled_and_the_averaged_perceptron(path):
    X, y = load_iris(return_X_y=True)
    for model in (RescaledPerceptron(random_state=0, max_rescalings=5), AveragedPerceptron(random_state=0)):
        model.fit(X, y)
        assert exported(model, path, X)[0].tolist() == model.predict(X).tolist()


def test_the_graph_says_where_it_comes_from(path):
    X, y = small_set("gauss")
    model = AveragedPerceptron().fit(pd.DataFrame(X, columns=list("abcde")), y)
    export_onnx(model, path)
    proto = onnx.load(path)
    onnx.checker.check_model(proto, full_check=True)
    notes = {entry.key: entry.value for entry in proto.metadata_props}
    assert notes == {"learner": "AveragedPerceptron", "hypothesis": "average", "features": '["a", "b", "c", "d", "e"]'}
    assert proto.producer_name == "rosenblatt"


def test_what_cannot_be_exported_says_so(path, monkeypatch):
    X, y = small_set("gauss")
    with pytest.raises(ValueError, match="a vote needs many weight vectors, so it cannot be exported"):
        export_onnx(VotedPerceptron().fit(X, y), path)
    for export in (export_onnx, export_json):
        with pytest.raises(NotFittedError):
            export(Perceptron(), path)
        with pytest.raises(TypeError, match="or a Pipeline that ends in one, got list"):
            export([], path)
    with pytest.raises(ValueError, match="below 2"):
        export_onnx(Perceptron(max_iter=1).fit(X, np.array([0, 2**64 - 1], np.uint64)[y]), path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"needs the package onnx: pip install 'rosenblatt\[onnx\]'"):
        export_onnx(Perceptron(max_iter=1).fit(X, y), path)
    assert not path.exists()


@pytest.mark.parametrize("export", [export_onnx, export_json])
def test_a_full_disk_leaves_the_old_file(path, monkeypatch, export):
    def full(file, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path.write_bytes(b"old")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space left"):
        export(Perceptron(max_iter=1).fit(*small_set("gauss")), path)
    assert path.read_bytes() == b"old"


# JSON


def read(path):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_json_is_enough_to_predict(path, classes):
    X, y = small_set("integers", n=60, classes=max(classes, 2), seed=1)
    names = ["a", "größe", 'say "x"', "d", "\U0001f600"]
    y = np.array(["no", "yes", "who knows"])[np.minimum(y, classes - 1)]
    model = Perceptron().partial_fit(pd.DataFrame(X, columns=names), y)
    export_json(model, path)
    told = read(path)
    assert (told["model"], told["hypothesis"], told["classes"]) == ("Perceptron", "last", model.classes_.tolist())
    for row, label in zip(X, model.predict(pd.DataFrame(X, columns=names)), strict=True):
        values = dict(zip(names, row, strict=True))
        scores = [s["bias"] + sum(w * values[name] for name, w in s["weights"].items()) for s in told["scores"]]
        if classes == 2:
            assert told["scores"][0]["class"] == "yes"
            assert label == ("yes" if scores[0] > 0 else "no")
        else:
            assert label == told["scores"][int(np.argmax(scores))]["class"]
    assert told["report"]["updates"] == model.n_updates_
    assert told["report"]["margin_low"] == "-inf"


def test_json_keeps_every_bit_and_tells_names_apart(path):
    X, y = small_set("gauss", n=60, d=3)
    model = AveragedPerceptron(random_state=0).fit(X, y)
    model.feature_names_in_ = np.array(["a", "b", "a"], object)  # as older versions of scikit-learn allow
    export_json(model, path)
    weights = read(path)["scores"][0]["weights"]
    assert list(weights) == ["a (column 0)", "b", "a (column 2)"]
    assert np.array([list(weights.values())]).tobytes() == model.coef_.tobytes()


def test_json_of_votes_and_verdicts(path):
    X, y = small_set("gauss", n=60, classes=3)
    model = VotedPerceptron(random_state=0).fit(X, y)
    export_json(model, path)
    told = read(path)
    assert "averaged weights" in told["note"]
    assert list(told["scores"][2]["weights"].values()) == model.average_coef_[2].tolist()
    assert [part["class"] for part in told["report"]["by_class"]] == [0, 1, 2]
    export_json(RescaledPerceptron(random_state=0, max_rescalings=3).fit(X, y), path)
    assert [part["positive"] for part in read(path)["verdict"]] == [0, 1, 2]


def test_json_leaves_out_zeros_and_has_the_preparation(path, tmp_path):
    (tmp_path / "a.csv").write_text("age,colour,note,y\n" + "30,red,a few words,0\n41,blue,other words,1\n" * 30)
    stream = data.open(tmp_path / "a.csv", "y", column_types={"note": "text"}, keep_words=True)
    model = AveragedPerceptron(random_state=0).fit_stream(stream)
    model.feature_names_in_ = np.array(stream.feature_names, object)
    scale = {"method": "standard", "features": [0], "centre": [35.5], "spread": [5.5]}
    model.preparation_ = stream.preparation | {"scale": scale}
    export_json(model, path)
    assert path.stat().st_size < 10_000
    told = read(path)
    (score,) = told["scores"]
    assert 0.0 not in score["weights"].values()
    assert len(score["weights"]) + score["zero_weights"] == model.n_features_in_
    kept = np.array(list(score["weights"].values()))
    assert kept.tobytes() == model.coef_[model.coef_ != 0].tobytes()
    columns = {column["name"]: column for column in told["preparation"]["columns"]}
    assert columns["colour"] == {"name": "colour", "kind": "category", "categories": ["blue", "red"]}
    assert told["preparation"]["scale"]["features"] == {"age": {"centre": 35.5, "spread": 5.5}}


@pytest.mark.parametrize("name", EXAMPLES)
def test_json_of_pipelines_has_their_steps(path, name):
    pipeline, _, _ = example(name)
    export_json(pipeline, path)
    told = read(path)
    steps = told.get("steps", [])
    assert [one["name"] for one in steps] == [one for one, _ in pipeline.steps[:-1]]
    assert len(told["scores"][0]["weights"]) + told["scores"][0]["zero_weights"] == pipeline[-1].n_features_in_
    if name == "standard":
        assert steps[0]["step"]["mean_"] == pipeline[0].mean_.tolist()
