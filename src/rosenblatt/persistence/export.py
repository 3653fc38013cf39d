"""Models as ONNX graphs that other runtimes run."""

from __future__ import annotations

import importlib
import json
import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rosenblatt.inspection.geometry import linear_rule
from rosenblatt.inspection.pipelines import feature_labels, searched, split_pipeline
from rosenblatt.persistence.exact_onnx import Graph, decide
from rosenblatt.persistence.onnx_inputs import Inputs, piped_rows, prepared_rows
from rosenblatt.persistence.pipelines import learner_of, stored_steps
from rosenblatt.storage.atomic import write_atomically
from rosenblatt.storage.json_fields import label_to_json
from rosenblatt.training.dual.state import DualState
from rosenblatt.version import __version__

_LARGEST_GRAPH = 2_000_000_000  # protobuf ends at 2 GiB


def export_onnx(model: Any, path: str | os.PathLike[str], *, exact: bool = True) -> None:
    """Write a trained model as an ONNX graph that predicts in other runtimes.

    Input: ``X``, float64, one row per example. Outputs: ``label``, the class (int64, string, float64 or bool), and
    ``scores``, the activation of each class (one in all for two classes), float64.

    The graph includes what is done to rows before. A model that says how the rows of a table become features
    (``preparation_``, as models of the command do) has an input for each column of the table, of shape (rows, 1) under
    its name. Columns of numbers are float64, NaN for a missing one, which is filled as the preparation says: a date is
    the number of days since 1970-01-01, a boolean 0 or 1, and a number that the file writes with a comma (1.234,56 or
    1,234.56) the number itself, as graphs read no text. Categories are strings, of which an unknown one has no feature.
    Words that are hashed cannot be made in ONNX: then the input stays ``X``, the features, and the graph's note says
    so. Their scale is applied in both cases. A ``Pipeline`` has such inputs where its first step is a ColumnTransformer
    that was fitted on a data frame, or takes words by name, and one ``X`` otherwise; an empty string stands for a
    missing word, and so does NaN or None in an array of objects, whichever was missing in training, unless "nan" or
    "None" is a category. A column whose name is taken, such as "label", has another, and the note "columns" says
    which. What ``predict`` would refuse, an unknown category or a missing number, is not refused.

    The label is that of ``predict`` in every row, on the boundary too: rows whose scores are within rounding of each
    other are decided once more from products cut into pieces whose sums do not round. Imputers, encoders, scalers and
    Combinations round each number as they do in Python for float64 rows, with the same operations in the same order;
    SphereLift alone adds up squares in another order, so labels may differ within rounding of it. One caveat: in such a
    row the last digits of a number some 10^12 times smaller than the largest are left out, and numbers beyond 1e290
    overflow. For NaN and infinity, which ``predict`` refuses, the label is undefined.

    Parameters
    ----------
    model : any learner but VotedPerceptron and KernelPerceptron, or a Pipeline that ends in one
        Not a vote, which is cast by many weight vectors. The steps of a pipeline may be those that `save` takes.
        Of a search over parameters, such as a GridSearchCV, its ``best_estimator_`` is exported.
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
    model = searched(model)
    check_exportable(model)
    steps, learner = split_pipeline(model)
    if getattr(learner, "hypothesis", "last") == "vote":
        raise ValueError(
            "a vote is cast by many weight vectors, so there is no ONNX graph of it: "
            'export AveragedPerceptron, or set hypothesis="average" first.'
        )
    try:
        onnx = importlib.import_module("onnx")
    except ImportError:
        raise ImportError("export_onnx needs the package onnx: pip install 'rosenblatt[onnx]'.") from None
    rule = linear_rule(learner)
    size = rule.w.nbytes + sum(len(str(label)) for label in rule.classes)
    if size > _LARGEST_GRAPH:
        raise ValueError(
            f"the weights take {size:,} bytes, and an ONNX file can hold {_LARGEST_GRAPH:,}: use save instead."
        )
    graph, inputs = Graph(onnx), Inputs()
    width = rule.w.shape[1]
    if steps is None:
        x = prepared_rows(graph, inputs, getattr(learner, "preparation_", None), width)
    else:
        x = piped_rows(graph, inputs, [step for _, step in steps.steps], width)
        stored_steps(model)  # parameters that cannot be stored have no graph either
    number, scores = decide(graph, x, rule.w, rule.b, exact)
    labels = np.asarray(learner.classes_)
    graph.name(graph("Gather", graph.constant(_for_onnx(labels)), number), "label")
    graph.name(scores, "scores")
    kind = {"i": "INT64", "u": "INT64", "f": "DOUBLE", "b": "BOOL"}.get(labels.dtype.kind, "STRING")
    notes = {
        "learner": type(learner).__name__,
        "hypothesis": getattr(learner, "hypothesis", "last"),
        "features": json.dumps(feature_labels(learner, width, None, steps)),
    }
    if inputs.columns:
        notes["columns"] = json.dumps(inputs.columns)
    if inputs.note:
        notes["note"] = inputs.note
    proto = graph.model(
        inputs=inputs.declared,
        outputs=[("label", kind, ["rows"]), ("scores", "DOUBLE", ["rows", len(rule.w)])],
        version=__version__,
        notes=notes,
    )
    onnx.checker.check_model(proto)
    write_atomically(path, [proto.SerializeToString()])


def check_exportable(model: Any) -> None:
    """Raise a TypeError or scikit-learn's error unless ``model`` is trained, of this library, and has weights."""
    learner = learner_of(model)
    if isinstance(getattr(learner, "state_", None), DualState):
        raise TypeError(
            "a kernel perceptron has support rows and no weights, so it cannot be exported: use save, or train "
            "Perceptron(fit_intercept=False), which learns what the linear kernel does."
        )
    check_is_fitted(learner)


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
