"""Kernel perceptrons in every layout, from memory, chunks and files, in pieces of any size, against an exact run."""

from __future__ import annotations

import random
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from attack.same_bits import cuts, from_blocks, from_file, from_memory, layout, prepared
from helpers.examples import KINDS
from helpers.kernel_sets import KERNELS, SETS, assert_same_run, tied_set, twin_of
from helpers.naive_kernel_answers import answers
from rosenblatt import KernelPerceptron, load, save


def attack(rng: random.Random) -> str | None:
    """Compare one random run and its predictions with those of its slow twin."""
    kernel, kind, classes = rng.choice(KERNELS), rng.choice([*SETS, *KINDS]), rng.choice([2, 2, 2, 3, 4])
    n, d = rng.randrange(max(classes, 4), 24), rng.randrange(1, 5)
    X, labels = tied_set(kind, n=n, d=d, classes=classes, seed=rng.randrange(2**32))
    present = len(set(labels.tolist()))
    if present < classes:
        return None
    options: dict[str, Any] = {
        "shuffle": rng.choice([False, True, "once"]),
        "max_iter": rng.randrange(1, 5),
        "random_state": rng.randrange(100),
        "multi_class": rng.choice(["ovr", "direct"]),
        "n_jobs": rng.choice([None, 2]),
        "max_support": rng.choice([None, None, 3]),
        "hypothesis": rng.choice(["last", "average", "vote", "pocket"]),
    }
    sizes = [0.0, 0.5, 1.0, 2.5] if options["hypothesis"] == "pocket" else [0.0, 0.1, 1.0, 2.5, 1e-170]
    steps = np.array([rng.choice(sizes) for _ in range(n)]) if rng.random() < 0.4 else None
    if steps is not None and len(set(labels[steps > 0])) < classes:
        return None  # nothing to learn from
    way = rng.choice([from_memory, from_blocks, _from_chunks, _by_files, *([from_file] if steps is None else [])])
    if options["hypothesis"] == "pocket":  # it needs all updates, and all rows at once
        options["max_support"], way = None, rng.choice([from_memory, _by_files])
    if way is _from_chunks:
        options |= {"shuffle": False, "max_iter": 1}
    parameters = {"degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}
    model: Any = KernelPerceptron(kernel.name, **parameters, **options)
    model._computing = {
        "block": rng.choice([1, 2, 7, 1000]),
        "cache_bytes": rng.choice([8 * n, 1000, 10**9]),
        "dtype": rng.choice(["float32", "float64"]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mistakes are left
        model = way(rng, model, X, labels, steps)
    twin = twin_of(
        *(kernel, X, labels, classes),
        seed=model.seed_,
        shuffle=options["shuffle"],
        passes=options["max_iter"],
        steps=steps,
        direct=options["multi_class"] == "direct",
        max_support=options["max_support"],
    )
    what = f"{way.__name__}, {kind}, {kernel}, {options}, {model._computing}"
    try:
        assert_same_run(model, twin)
    except AssertionError as difference:
        return f"another run, {what}: {difference}"
    rows = np.concatenate([X, -X[:4], np.zeros((1, d))])
    expected = answers(twin, options["hypothesis"], kernel, classes, (X, labels, steps), rows)
    found, tied = model.predict(prepared(model, layout(rng, rows))), model.on_boundary(prepared(model, rows))
    labelled, tie = [answer.label for answer in expected], [answer.tied for answer in expected]
    if labelled != found.tolist() or tie != tied.tolist():
        return f"other predictions, {what}: {found.tolist()} {tied.tolist()} and not {expected}"
    return None


def _from_chunks(rng: random.Random, model: Any, X: np.ndarray, labels: np.ndarray, steps: Any) -> Any:
    """Return the model after one pass, in calls of ``partial_fit``, saved and loaded in between."""
    weights = np.ones(len(X)) if steps is None else steps
    for i, j in pairwise(cuts(rng, len(X))):
        model.partial_fit(layout(rng, X[i:j]), labels[i:j], classes=np.unique(labels), sample_weight=weights[i:j])
        model = _stored(rng, model)
    # one pass, however many calls
    state = model.state_
    counted = np.array(state.mistakes).sum(axis=0)
    state.mistakes, state.passes, state.done = [counted], 1, counted == 0
    return model


def _by_files(rng: random.Random, model: Any, X: np.ndarray, labels: np.ndarray, steps: Any) -> Any:
    """Return the model after fits of one pass each, saved and loaded in between."""
    passes = model.max_iter
    model.set_params(max_iter=1, warm_start=True)
    for _ in range(passes):
        model = _stored(rng, model.fit(layout(rng, X), labels, sample_weight=steps))
        if model.converged_:
            break
    return model


def _stored(rng: random.Random, model: Any) -> Any:
    if rng.random() < 0.5:
        return model
    path = Path(tempfile.mkdtemp()) / "model"
    try:
        save(model, path)
    except ValueError:
        if np.isfinite(model.state_.counters["radius2"]).all():
            raise
        return model  # kernel values beyond the floats have no radius to save
    again = load(path)
    again._computing = model._computing
    return again
