"""Probabilities in model files, JSON and ONNX graphs."""

import json
import math

import numpy as np
import onnx.reference
import onnxruntime
import pytest
from sklearn.pipeline import make_pipeline

from helpers.exported import as_inputs
from rosenblatt import (
    AveragedPerceptron,
    ExactScaler,
    KernelPerceptron,
    RescaledPerceptron,
    VotedPerceptron,
    calibrated,
    export_json,
    export_onnx,
    load,
    save,
)
from rosenblatt.storage.container import read_container, write_container
from rosenblatt.training.calibration import Calibration, Isotonic, Sigmoid
from rosenblatt.training.model_file import TrainedModel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows(classes, n=600):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(n, 4)).round(2)
    return X, np.array(["ant", "bee", "cat"])[np.argmax(X[:, :classes] + rng.normal(size=(n, classes)), axis=1)]


def model_of(learner, classes, method="auto"):
    X, y = rows(classes)
    return calibrated(learner.fit(X[:300], y[:300]), X[300:], y[300:], method=method)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_a_file_keeps_probabilities_bit_for_bit(tmp_path, classes, method):
    X, _ = rows(classes)
    for learner in (
        AveragedPerceptron(random_state=0),
        VotedPerceptron(max_iter=2, random_state=0),
        KernelPerceptron(kernel="rbf", gamma=0.5, max_iter=2, random_state=0),
        RescaledPerceptron(random_state=0),
        make_pipeline(ExactScaler(), AveragedPerceptron(random_state=0)),
    ):
        model = model_of(learner, classes, method)
        save(model, tmp_path / "m")
        again = load(tmp_path / "m")
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        save(again, tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
        if isinstance(learner, AveragedPerceptron):
            assert np.array_equal(TrainedModel.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))


def test_a_forged_calibration_is_refused(tmp_path):
    save(model_of(AveragedPerceptron(random_state=0), 3), tmp_path / "m")
    header, arrays = read_container(tmp_path / "m")
    sigmoid = {"kind": "sigmoid", "slope": 1.0, "offset": 0.0}

    def write_with(**changed):
        forged = header | {"calibration": header["calibration"] | changed}
        write_container(tmp_path / "forged", forged, arrays)

    for maps, sentence in (
        ([sigmoid], "a calibration with 1 map from scores to probabilities does not fit a model of 3 classes"),
        ([], "a calibration with 0 maps from scores to probabilities does not fit a model of 3 classes"),
        ([sigmoid, sigmoid, {**sigmoid, "slope": 1}], "'calibration.maps.2.slope' must be a finite number"),
        ([sigmoid, sigmoid, {**sigmoid, "extra": 1}], "has an unknown field 'extra'"),
    ):
        write_with(maps=maps)
        with pytest.raises(ValueError, match=sentence):
            load(tmp_path / "forged")
    write_with(hypothesis="last")
    with pytest.raises(ValueError, match='were fitted to hypothesis="last", but the hypothesis is "average"'):
        load(tmp_path / "forged").predict_proba(rows(3)[0])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_json_is_enough_to_compute_probabilities(tmp_path, classes, method):
    X, _ = rows(classes)
    model = model_of(AveragedPerceptron(random_state=0), classes, method)
    export_json(model, tmp_path / "m.json")
    maps = json.loads((tmp_path / "m.json").read_text())["calibration"]["maps"]
    for scores, expected in zip(np.atleast_2d(model.decision_function(X).T).T, model.predict_proba(X), strict=True):
        found = []
        for k, each in enumerate(maps):
            s = scores[k] - max(np.delete(scores, k)) if classes > 2 else scores[0]
            if method == "sigmoid":
                found.append(1 / (1 + math.exp(-(each["slope"] * s + each["offset"]))))
            else:
                found.append(float(np.interp(s, each["scores"], each["values"])))
        found = np.array(found) / sum(found) if classes > 2 else np.array([1 - found[0], found[0]])
        assert np.allclose(found, expected, rtol=0, atol=1e-12)
    assert [each["class"] for each in maps] == model.classes_.tolist()[-len(maps) :]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_graphs_have_the_probabilities(tmp_path, classes, method):
    X, _ = rows(classes)
    for learner in (AveragedPerceptron(random_state=0), make_pipeline(ExactScaler(), AveragedPerceptron())):
        model = model_of(learner, classes, method)
        export_onnx(model, tmp_path / "m.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
        label, p = session.run(["label", "probabilities"], as_inputs(session, X))
        assert label.tolist() == model.predict(X).tolist()
        assert np.allclose(p, model.predict_proba(X), rtol=0, atol=1e-12)
        (other,) = onnx.reference.ReferenceEvaluator(str(tmp_path / "m.onnx")).run(["probabilities"], {"X": X})
        assert np.allclose(other, p, rtol=0, atol=1e-12)


def test_graphs_of_maps_at_their_edges(tmp_path):
    model = AveragedPerceptron().fit([[1.0], [0.0], [-1.0]], [0, 1, 2])
    X = np.linspace(-50, 50, 101)[:, None]
    for maps in (
        (Isotonic((0.0,), (0.3,)), Isotonic((-1.0, 1.0), (0.2, 0.9)), Sigmoid(2.0, -1.0)),
        (Isotonic((-1.0, 1.0), (0.0, 0.0)),) * 3,
        (Sigmoid(1e3, 1e5), Sigmoid(-1e3, 0.0), Sigmoid(0.0, -800.0)),
    ):
        model.calibration_ = Calibration("average", 3, maps)
        export_onnx(model, tmp_path / "m.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
        (p,) = session.run(["probabilities"], {"X": X})
        assert np.allclose(p, model.predict_proba(X), rtol=0, atol=1e-9)


def test_models_without_a_calibration_have_no_such_output(tmp_path):
    X, y = rows(2)
    export_onnx(AveragedPerceptron().fit(X, y), tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == ["label", "scores"]
