"""Exported models: an ONNX graph that other runtimes run, and JSON that people read."""

from __future__ import annotations

import importlib
import json
import os
from collections import Counter
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rosenblatt.inspection.explain import feature_labels
from rosenblatt.inspection.geometry import linear_rule
from rosenblatt.persistence.codecs import LEARNERS
from rosenblatt.persistence.exact_onnx import Graph, decide
from rosenblatt.storage.atomic import write_atomically
from rosenblatt.storage.json_fields import label_to_json
from rosenblatt.training.dual.state import DualState
from rosenblatt.version import __version__

_LARGEST_GRAPH = 2_000_000_000  # protobuf ends at 2 GiB


def export_onnx(model: Any, path: str | os.PathLike[str], *, exact: bool = True) -> None:
    """Write a trained model as an ONNX graph that predicts in other runtimes.

    Input: ``X``, float64, one row per example. Outputs: ``label``, the class (int64, string, float64 or bool), and
    ``scores``, the activation of each class (one in all for two classes), float64.

    The label is that of ``predict`` in every row, on the boundary too: rows whose scores are within rounding of each
    other are decided once more from products cut into pieces whose sums do not round. One caveat: in such a row the
    last digits of a number some 10^12 times smaller than the largest are left out, and numbers beyond 1e290 overflow.
    For NaN and infinity, which ``predict`` refuses, the label is undefined.

    Parameters
    ----------
    model : Perceptron, AveragedPerceptron or RescaledPerceptron
        Not a vote, which is cast by many weight vectors.
    path : str or path
        The file to write, as a whole or not at all; an OSError where that fails.
    exact : bool
        False writes one product and its largest score only, in four nodes: rows within rounding of the boundary may
        then differ from ``predict``.

    Examples
    --------
    >>> import tempfile
    >>> import onnxruntime
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(model, folder + "/model.onnx")
    ...     session = onnxruntime.InferenceSession(folder + "/model.onnx", providers=["CPUExecutionProvider"])
    >>> session.run(["label"], {"X": np.array([[3.0, 1.0], [-1.0, -1.0]])})
    [array(['yes', 'no'], dtype=object)]
    """
    check_exportable(model)
    if getattr(model, "hypothesis", "last") == "vote":
        raise ValueError(
            "a vote is cast by many weight vectors, so there is no ONNX graph of it: "
            'export AveragedPerceptron, or set hypothesis="average" first.'
        )
    try:
        onnx = importlib.import_module("onnx")
    except ImportError:
        raise ImportError("export_onnx needs the package onnx: pip install 'rosenblatt[onnx]'.") from None
    rule = linear_rule(model)
    size = rule.w.nbytes + sum(len(str(label)) for label in rule.classes)
    if size > _LARGEST_GRAPH:
        raise ValueError(
            f"the weights take {size:,} bytes, and an ONNX file can hold {_LARGEST_GRAPH:,}: use save instead."
        )
    graph = Graph(onnx)
    number, scores = decide(graph, "X", rule.w, rule.b, exact)
    labels = np.asarray(model.classes_)
    graph.name(graph("Gather", graph.constant(_for_onnx(labels)), number), "label")
    graph.name(scores, "scores")
    kind = {"i": "INT64", "u": "INT64", "f": "DOUBLE", "b": "BOOL"}.get(labels.dtype.kind, "STRING")
    proto = graph.model(
        inputs=[("X", "DOUBLE", ["rows", rule.w.shape[1]])],
        outputs=[("label", kind, ["rows"]), ("scores", "DOUBLE", ["rows", len(rule.w)])],
        version=__version__,
        notes={
            "learner": type(model).__name__,
            "hypothesis": getattr(model, "hypothesis", "last"),
            "features": json.dumps(feature_labels(model, rule.w.shape[1])),
        },
    )
    onnx.checker.check_model(proto)
    write_atomically(path, [proto.SerializeToString()])


def export_json(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a trained model as JSON to read: weights by class and feature, bias, classes, hypothesis, report.

    Every number is kept exactly; what is infinite in the report is the word "inf" or "-inf". Features have the names
    that they had in training, else x0, x1, and so on. For a vote the averaged weights are written, and ``note`` says
    so. The file cannot be loaded as a model again: `save` is for that.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_json(model, folder + "/model.json")
    ...     text = pathlib.Path(folder, "model.json").read_text()
    >>> json.loads(text)["scores"]
    [{'class': 'yes', 'bias': 0.0, 'weights': {'x0': 2.0, 'x1': 1.0}}]
    """
    check_exportable(model)
    rule = linear_rule(model)
    names = feature_labels(model, rule.w.shape[1])
    counts = Counter(names)
    names = [name if counts[name] == 1 else f"{name} (column {i})" for i, name in enumerate(names)]
    labels = [label_to_json(label) for label in rule.classes]
    out: dict[str, Any] = {
        "model": type(model).__name__,
        "library": f"rosenblatt {__version__}",
        "hypothesis": getattr(model, "hypothesis", "last"),
    }
    if rule.averaged:
        out["note"] = "A vote has no weights of its own: these are its averaged ones, which may answer otherwise."
    out["classes"] = labels
    out["rule"] = "The score is the bias plus the sum of weight times value. " + (
        f"Above 0 the class is {labels[1]!r}, else {labels[0]!r}."
        if len(labels) == 2
        else "The class is the one of the largest score, the first of equals."
    )
    out["scores"] = [
        {"class": label, "bias": b, "weights": dict(zip(names, w, strict=True))}
        for label, b, w in zip(labels[-len(rule.w) :], rule.b.tolist(), rule.w.tolist(), strict=True)
    ]
    if hasattr(model, "report_"):
        out["report"] = model.report_.to_plain()
    else:
        out["verdict"] = json.loads(model.verdict_.to_json())
    text = json.dumps(out, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(path, [text.encode("utf-8", "backslashreplace")])  # half a surrogate pair stays a JSON escape


def check_exportable(model: Any) -> None:
    """Raise a TypeError or scikit-learn's error unless ``model`` is a trained learner of this library with weights."""
    if isinstance(getattr(model, "state_", None), DualState):
        raise TypeError(
            "a kernel perceptron has support rows and no weights, so it cannot be exported: use save, or train "
            "Perceptron(fit_intercept=False), which learns what the linear kernel does."
        )
    if not isinstance(model, tuple(LEARNERS.values())):
        raise TypeError(
            f"only {', '.join(LEARNERS)} can be exported, got {type(model).__name__}: "
            "of a pipeline, export the last step."
        )
    check_is_fitted(model)


def _for_onnx(labels: np.ndarray) -> np.ndarray:
    """Return class labels in a type that ONNX has; a single one twice, as two answers are looked up."""
    labels = np.repeat(labels, 2) if len(labels) == 1 else labels
    if labels.dtype.kind in "iu":
        if labels.dtype == np.uint64 and labels.max() > np.iinfo(np.int64).max:
            raise ValueError(f"labels must be below 2**63 for ONNX, got {labels.max()}: use other labels.")
        return labels.astype(np.int64)
    if labels.dtype.kind in "fb":
        return labels.astype(np.float64) if labels.dtype.kind == "f" else labels
    return np.array([str(label_to_json(label)) for label in labels.tolist()], object)
