"""ONNX graphs as a runtime runs them."""

import json

import numpy as np
import onnxruntime

from rosenblatt import export_onnx


def as_inputs(session, X):
    """Return rows as the inputs of a graph: X, or a column each, with "" for missing words."""
    kinds = {one.name: one.type for one in session.get_inputs()}
    if list(kinds) == ["X"]:
        return {"X": np.asarray(X, dtype=object if "string" in kinds["X"] else np.float64)}
    columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    out = {}
    for name, kind in kinds.items():
        column = X[[columns[name]]]
        words = "string" in kind
        out[name] = column.astype(object).fillna("").to_numpy(object) if words else column.to_numpy(np.float64)
    return out


def exported(model, path, X, **options):
    """Export a model and run the graph; return labels and scores."""
    export_onnx(model, path, **options)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], as_inputs(session, X))
