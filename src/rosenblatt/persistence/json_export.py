"""Export of models as readable JSON."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from rosenblatt import __version__
from rosenblatt.data.preparation import is_preparation
from rosenblatt.inspection.explain import feature_labels, searched, split_pipeline
from rosenblatt.inspection.geometry import linear_rule
from rosenblatt.persistence.onnx import check_exportable
from rosenblatt.persistence.pipelines import STEPS
from rosenblatt.storage.container import write_atomically
from rosenblatt.storage.schema import Arrays, Place, label_to_json
from rosenblatt.training.calibration import MAP, Calibration


def export_json(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a trained model as readable JSON: preprocessing, weights by class and feature, classes, report.

    Zero weights are left out, and ``zero_weights`` counts them. Numbers are written exactly; infinite values in the
    report are the strings "inf" and "-inf". Features have the names of the training data, or x0, x1, and so on.
    ``preparation`` describes how features are made from the rows of a file: the columns with their types, fill values
    and categories, and the scale of each feature. ``steps`` describes the steps of a pipeline. For a model that
    predicts by a vote, the averaged weights and a ``note`` are written. For a model that `rosenblatt.calibrated`
    returned, ``calibration`` describes how scores become probabilities. The file cannot be loaded again; use `save` for
    that.

    Parameters
    ----------
    model : any learner but KernelPerceptron, or a Pipeline that ends in one
        The steps of a pipeline may be of any kind that `save` accepts.
    path : str or path
        The file to write. It is replaced atomically; an OSError is raised if that fails.

    See Also
    --------
    save : Write a model that can be loaded again.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_json(model, folder + "/model.json")
    ...     text = pathlib.Path(folder, "model.json").read_text()
    >>> json.loads(text)["scores"]
    [{'class': 'yes', 'bias': 0.0, 'weights': {'x0': 2.0, 'x1': 1.0}, 'zero_weights': 0}]
    """
    model = searched(model)
    check_exportable(model)
    steps, learner = split_pipeline(model)
    rule = linear_rule(learner)
    names = feature_labels(learner, rule.w.shape[1], None, steps)
    counts = Counter(names)
    names = [name if counts[name] == 1 else f"{name} (column {i})" for i, name in enumerate(names)]
    labels = [label_to_json(label) for label in rule.classes]
    out: dict[str, Any] = {
        "model": type(learner).__name__,
        "library": f"rosenblatt {__version__}",
        "hypothesis": getattr(learner, "hypothesis", "last"),
    }
    if rule.averaged:
        out["note"] = "A vote has no single weight vector: these are the averaged weights, which may differ from it."
    preparation = getattr(learner, "preparation_", None)
    if preparation is not None:
        out["preparation"] = readable_preparation(preparation, names) if is_preparation(preparation) else preparation
    if steps is not None:
        out["steps"] = STEPS.write(steps.steps, Place("the steps", _Lists()))
    out["classes"] = labels
    out["rule"] = "The score is the bias plus the sum of weight times value. " + (
        f"Above 0 the class is {labels[1]!r}, else {labels[0]!r}."
        if len(labels) == 2
        else "The class is the one with the largest score, the first if several are equal."
    )
    out["scores"] = []
    for label, b, w in zip(labels[-len(rule.w) :], rule.b.tolist(), rule.w, strict=True):
        weights = {names[j]: float(w[j]) for j in w.nonzero()[0]}
        out["scores"].append({"class": label, "bias": b, "weights": weights, "zero_weights": len(w) - len(weights)})
    if hasattr(learner, "calibration_") and not rule.averaged:  # of a vote, it maps the votes
        out["calibration"] = _calibration(learner.calibration_, labels)
    if hasattr(learner, "report_"):
        out["report"] = learner.report_.to_plain()
    else:
        out["verdict"] = json.loads(learner.verdict_.to_json())
    text = json.dumps(out, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(path, [text.encode("utf-8", "backslashreplace")])  # an unpaired surrogate stays a JSON escape


def _calibration(calibration: Calibration, labels: list[Any]) -> dict[str, Any]:
    """Return the functions that map scores to probabilities, and the rule that combines their results."""
    two = len(labels) == 2
    score = "the score" if two else "the lead of a class, its score minus the largest score of another class"
    rule = (
        f"A sigmoid maps s, {score}, to 1 / (1 + exp(-(slope * s + offset))). An isotonic map is linear between the "
        "pairs of scores and values, and constant outside. "
    )
    rule += (
        f"The result is the probability of {labels[1]!r}."
        if two
        else "The results are divided by their sum; if all are 0, the classes have equal probabilities."
    )
    place = Place("the calibration")
    maps = [MAP.write(each, place) for each in calibration.maps]
    named = [{"class": label, **each} for label, each in zip(labels[-len(maps) :], maps, strict=True)]
    return {"rule": rule, "rows": calibration.rows, "maps": named}


def readable_preparation(preparation: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return a preparation with the scale of each feature under the feature's name.

    >>> scale = {"method": "standard", "features": [1], "centre": [30.0], "spread": [12.5]}
    >>> readable_preparation({"format": "csv", "scale": scale}, ["sex=male", "age"])
    {'format': 'csv', 'scale': {'method': 'standard', 'features': {'age': {'centre': 30.0, 'spread': 12.5}}}}
    """
    scale = preparation.get("scale")
    if not scale:
        return preparation
    features = {
        names[j]: {"centre": centre, "spread": spread}
        for j, centre, spread in zip(scale["features"], scale["centre"], scale["spread"], strict=True)
        if j < len(names)
    }
    return {**preparation, "scale": {"method": scale["method"], "features": features}}


class _Lists(Arrays):
    """A replacement for the arrays of a model file: each array becomes a list in the JSON."""

    def put(self, path: str, array: NDArray[Any]) -> Any:
        """Return the array as a list."""
        return array.tolist()
