"""Runs in every layout, from memory, blocks and files, against a slow run in exact fractions."""

from __future__ import annotations

import random
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from helpers.examples import KINDS, small_set
from helpers.naive import run, run_direct
from rosenblatt import Perceptron, data, visiting_order
from rosenblatt.training import linear

linear.FEWEST_NUMBERS = 0  # several threads train small sets, too
SIGNS = np.array([-1, 1])


def attack(rng: random.Random) -> str | None:
    """Compare one random run with its slow twin."""
    kind, classes = rng.choice(KINDS), rng.choice([2, 2, 2, 3, 4])
    n, d = rng.randrange(classes, 45), rng.randrange(1, 7)
    X, labels = small_set(kind, n=n, d=d, classes=classes, seed=rng.randrange(2**32))
    if rng.random() < 0.3:
        X[rng.randrange(n)] = 0.0
    options: dict[str, Any] = {
        "shuffle": rng.choice([False, True, "once"]),
        "fit_intercept": rng.random() < 0.7,
        "max_iter": rng.randrange(1, 7),
        "random_state": rng.randrange(100),
        "multi_class": rng.choice(["ovr", "direct"]),
        "n_jobs": rng.choice([None, 2]),
    }
    steps = np.array([rng.choice([0.0, 0.1, 1.0, 2.5, 1e-170]) for _ in range(n)]) if rng.random() < 0.4 else None
    if steps is not None and len(set(labels[steps > 0])) < classes:
        return None  # nothing to learn from
    way = rng.choice([from_memory, from_memory, from_blocks, *([from_file] if steps is None else [])])
    model = way(rng, Perceptron(**options), X, labels, steps)

    def order(passed: int) -> Any:
        return visiting_order(n, model.seed_, passed if options["shuffle"] is True else 0)

    shared = {
        "steps": steps,
        "orders": order if options["shuffle"] else None,
        "fit_intercept": options["fit_intercept"],
    }
    if options["multi_class"] == "direct" and classes > 2:
        naive = run_direct(X, labels, classes, options["max_iter"], **shared)
        expected_w, expected_b, mistakes = naive.w, naive.b, naive.mistakes
    else:
        signs = [SIGNS[labels]] if classes == 2 else [np.where(labels == k, 1, -1) for k in range(classes)]
        runs = [run(X, sign, options["max_iter"], **shared) for sign in signs]
        expected_w, expected_b = np.array([r.w for r in runs]), np.array([r.b for r in runs])
        passes = max(len(r.mistakes) for r in runs)
        mistakes = [sum(r.mistakes[p] for r in runs if p < len(r.mistakes)) for p in range(passes)]
    if model.coef_.tobytes() != expected_w.reshape(model.coef_.shape).tobytes():
        return f"other weights, {way.__name__}, {kind}: {model.coef_.tolist()} and not {expected_w.tolist()}"
    if model.intercept_.tolist() != expected_b.tolist():
        return f"another intercept, {way.__name__}, {kind}"
    if model.history_["mistakes"].tolist() != mistakes:
        return f"other mistakes, {way.__name__}: {model.history_['mistakes'].tolist()} and not {mistakes}"
    return None


def layout(rng: random.Random, X: np.ndarray) -> Any:
    """Return the same numbers in some form in which users have them."""
    choice = rng.randrange(8)
    if choice == 0:
        return X.tolist()
    if choice == 1:
        return np.asfortranarray(X)
    if choice == 2:
        return np.repeat(X, 2, axis=0)[::2]
    if choice in (3, 4):
        sparse = sp.csr_array(X)
        width = rng.choice([np.int32, np.int64])
        sparse.indices, sparse.indptr = sparse.indices.astype(width), sparse.indptr.astype(width)
        return sparse
    if choice == 5:
        return sp.csc_array(X)
    if choice == 6:
        return sp.coo_array(X)
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    return single if np.all(single == X) else X


def cuts(rng: random.Random, n: int) -> list[int]:
    """Return places from 0 to n at which rows may be cut into blocks."""
    return sorted({0, n, *(rng.randrange(n + 1) for _ in range(rng.randrange(5)))})


def from_memory(rng: random.Random, model: Any, X: np.ndarray, labels: np.ndarray, steps: Any) -> Any:
    """Return a model after ``fit``."""
    return model.fit(layout(rng, X), labels, sample_weight=steps)


def from_blocks(rng: random.Random, model: Any, X: np.ndarray, labels: np.ndarray, steps: Any) -> Any:
    """Return a model after ``fit_stream`` on blocks of any size."""
    places = cuts(rng, len(X))
    as_layout = rng.choice([sp.csr_array, np.asarray])
    weights = np.ones(len(X)) if steps is None else steps
    blocks = [(as_layout(X[i:j]), labels[i:j], weights[i:j]) for i, j in pairwise(places)]
    return model.fit_stream(blocks, classes=rng.choice([None, np.unique(labels)]))


def from_file(rng: random.Random, model: Any, X: np.ndarray, labels: np.ndarray, steps: None) -> Any:
    """Return a model after ``fit_stream`` on a file."""
    folder = Path(tempfile.mkdtemp())
    if rng.random() < 0.5:
        file = folder / "a.csv"
        lines = [",".join(map(repr, row)) + f",{y}" for row, y in zip(X.tolist(), labels.tolist(), strict=True)]
        lines.insert(0, ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"]))
        source = {"target": "y", "column_types": {f"x{j}": "number" for j in range(X.shape[1])}}
    else:
        file, source = folder / "a.svm", {"format": "svmlight", "zero_based": False}
        X = X.copy()
        X[0, -1] = X[0, -1] or 0.0
        lines = [
            f"{y} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v or j == len(row) - 1)
            for row, y in zip(X.tolist(), labels.tolist(), strict=True)
        ]
    file.write_text("\n".join(lines) + rng.choice(["\n", ""]))
    stream = data.open(
        file, block_rows=rng.randrange(1, 50), threads=rng.choice([0, 2]), cache=rng.random() < 0.5, **source
    )
    return model.fit_stream(stream)


def prepared(model: Any, X: Any) -> Any:
    """Return rows to predict; a model of a table has to know that they need no preparation."""
    return data.Block(X) if getattr(model, "preparation_", None) else X
