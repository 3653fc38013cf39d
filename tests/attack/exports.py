"""ONNX graphs and JSON of random models: they predict as the model does, or the export is refused in a sentence."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from helpers.examples import small_set
from helpers.exported import exported
from helpers.family_cases import CASES
from helpers.pipelines import EXAMPLES
from rosenblatt import AveragedPerceptron, Perceptron, RescaledPerceptron, export_json

LABELS: tuple[Any, ...] = (
    ["no", "yes", "who knows", "größe"],
    ["", " ", "\x00x", "\u202e\x1b[2J"],
    [-1.0, 0.0, 2.0**53, 1e300],
    [-(2**62), 2**53, 2**53 + 1, 2**62],
    [False, True],
)
NAMES = ("a", "größe", 'say "x"', "label", "scores", "X", "rosenblatt/x", "\x1b[2J", "\ud800", "", "a/b", "x0")
KINDS = ("integers", "decimals", "halves", "gauss", "huge")  # in others, numbers of one row differ by more than 1e12


def attack(rng: random.Random) -> str | None:
    """Export a random model, and compare what is predicted."""
    compare = rng.choice([_weights, _weights, _pipeline, _readable, _readable])
    try:
        return compare(rng, Path(tempfile.mkdtemp()) / "model")
    except ValueError as refusal:
        return None if "overflow" in str(refusal) else f"{compare.__name__}: {refusal}"


def _learner(rng: random.Random, classes: int, fit_intercept: bool) -> Any:
    options = {"max_iter": rng.randrange(1, 6), "random_state": rng.randrange(100), "fit_intercept": fit_intercept}
    options["multi_class"] = rng.choice(["ovr", "direct"])
    choice = rng.randrange(4)
    if choice == 0:
        return rng.choice(CASES).learner(**options)
    if choice == 1:
        return AveragedPerceptron(decay=rng.choice([0.0, 0.01]), **options)
    if choice == 2 and classes == 2:
        return RescaledPerceptron(random_state=0, max_rescalings=3, fit_intercept=fit_intercept)
    return Perceptron(rng.choice(["last", "average", "pocket"]), **options)


def _trained(rng: random.Random, kinds: tuple[str, ...] = KINDS) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a model, its rows, and rows to ask for, some of which lie on the boundary or close to it."""
    kind, classes = rng.choice(kinds), rng.choice([2, 2, 3, 4])
    words = rng.choice([labels for labels in LABELS if len(labels) >= classes])
    X, y = small_set(kind, n=rng.randrange(8, 60), d=rng.randrange(1, 7), classes=classes, seed=rng.randrange(2**32))
    scale = 0 if kind == "mixed" else rng.choice([0, 0, -300, 60])
    X = np.ldexp(X, scale)
    # a bias, too, may be too small or too large beside the other numbers for the digits that a graph keeps
    model = _learner(rng, classes, fit_intercept=scale == 0 and kind != "huge" and rng.random() < 0.7)
    model.fit(X, np.array(words[:classes])[y])
    numbers = np.random.default_rng(rng.randrange(2**32))
    mixed = numbers.permuted(np.concatenate([X, X, X]), axis=0)
    rows = np.concatenate([X, -X, mixed, mixed * 0.1, np.zeros((1, X.shape[1]))])
    if rng.random() < 0.3:
        with np.errstate(over="ignore"):
            single = rows.astype(np.float32)
        rows = single if np.isfinite(single).all() else rows
    return model, X, rows


def _weights(rng: random.Random, path: Path) -> str | None:
    """A graph of a learner labels every row as it does, on ties too, and gives its scores."""
    model, _, rows = _trained(rng)
    label, scores = exported(model, path, rows)
    expected = model.predict(rows)
    if label.tolist() != expected.tolist():
        wrong = np.flatnonzero([one != other for one, other in zip(label.tolist(), expected.tolist(), strict=True)])
        return f"{model}: {label[wrong].tolist()} and not {expected[wrong].tolist()} for {rows[wrong].tolist()}"
    activations = model.decision_function(rows).reshape(len(rows), -1)
    if len(model.classes_) == 2 and (np.sign(scores) != np.sign(activations)).any():
        return f"{model}: another sign of a score"
    finite = np.isfinite(activations) & np.isfinite(scores)
    size = np.abs(activations[finite]).max(initial=0.0)
    if not np.allclose(scores[finite], activations[finite], rtol=1e-9, atol=1e-9 * size):
        return f"{model}: other scores: {scores.tolist()} and not {activations.tolist()}"
    return None


def _pipeline(rng: random.Random, path: Path) -> str | None:
    """A graph of a pipeline labels rows as the pipeline does; their cells are mixed, and some lie on ties."""
    name = rng.choice(sorted(EXAMPLES))
    make, make_rows = EXAMPLES[name]
    X, y = make_rows(n=rng.randrange(20, 80), seed=rng.randrange(1000))
    steps = [copy.deepcopy(step) for _, step in make().steps[:-1]]
    pipeline = make_pipeline(*steps, _learner(rng, 2, rng.random() < 0.7)).fit(X, y)
    numbers = np.random.default_rng(rng.randrange(2**32))
    picked = [numbers.integers(0, len(X), 200) for _ in range(X.shape[1])]
    if isinstance(X, pd.DataFrame):
        rows = pd.DataFrame({name: X[name].to_numpy()[rows] for name, rows in zip(X, picked, strict=True)})
    else:
        rows = np.column_stack([X[rows, j] for j, rows in enumerate(picked)])
    label, _ = exported(pipeline, path, rows)
    expected = pipeline.predict(rows)
    different = int((label != expected).sum())
    if different > (2 if name == "sphere" else 0):  # which adds squares in another order
        return f"{name}, {pipeline[-1]}: {different} of {len(rows)} other labels"
    return None


def _readable(rng: random.Random, path: Path) -> str | None:
    """The JSON of a model is enough to predict its labels in exact arithmetic."""
    model, X, rows = _trained(rng, (*KINDS, "tiny", "mixed"))
    if rng.random() < 0.5:
        names = [f"{rng.choice(NAMES)}{j if rng.random() < 0.8 else ''}" for j in range(X.shape[1])]
        model.feature_names_in_ = np.array(names, object)
    export_json(model, path)

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    told = json.loads(path.read_text("utf-8"), parse_constant=refuse)
    w, b = np.zeros((len(told["scores"]), X.shape[1])), []
    names = _names(model, X.shape[1])
    for k, score in enumerate(told["scores"]):
        if not score["weights"].keys() <= set(names):
            return f"{model}: names of weights {sorted(score['weights'])} that are not among {names}"
        w[k] = [score["weights"].get(name, 0.0) for name in names]
        b.append(Fraction(score["bias"]))
    if w.tobytes() != (model.coef_ + 0.0).tobytes():
        return f"{model}: other weights {w.tolist()} and not {model.coef_.tolist()}"
    if told["classes"] != model.classes_.tolist():
        return f"{model}: classes {told['classes']} and not {model.classes_.tolist()}"
    exact = [[Fraction(v) for v in line] for line in w.tolist()]
    vars(model).pop("feature_names_in_", None)
    for row, label in zip(rows.tolist(), model.predict(rows).tolist(), strict=True):
        x = [Fraction(v) for v in row]
        scores = [sum(map(Fraction.__mul__, line, x), bias) for line, bias in zip(exact, b, strict=True)]
        best = int(scores[0] > 0) if len(scores) == 1 else scores.index(max(scores))
        if told["classes"][best] != label:
            return f"{model}: {told['classes'][best]!r} and not {label!r} for {row}"
    return None


def _names(model: Any, d: int) -> list[str]:
    """Return the keys that the columns have in the JSON."""
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)])]
    return [name if names.count(name) == 1 else f"{name} (column {j})" for j, name in enumerate(names)]
