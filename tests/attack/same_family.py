"""Every rule of the family in every layout, from memory, blocks and files, against a twin in fractions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from attack.same_bits import from_blocks, from_file, from_memory, prepared
from helpers.family_cases import CASES, KINDS, assert_is_twin, family_set, row_weights
from helpers.rational_family import run
from rosenblatt import visiting_order


def attack(rng: random.Random) -> str | None:
    """Compare one random run with its twin: weights, averages, variances, counts."""
    case, kind, classes = rng.choice(CASES), rng.choice([*KINDS, "tiny"]), rng.choice([2, 2, 3, 4])
    n, seed = rng.randrange(classes + 2, 25), rng.randrange(2**32)
    X, labels = family_set(kind, n=n, d=rng.randrange(1, 6), classes=classes, seed=seed)
    options: dict[str, Any] = {
        "shuffle": rng.choice([False, True, "once"]),
        "fit_intercept": rng.random() < 0.7,
        "max_iter": rng.randrange(1, 5),
        "max_updates": rng.choice([None, None, 3]),
        "random_state": rng.randrange(100),
        "multi_class": rng.choice(["ovr", "direct"]),
        "n_jobs": rng.choice([None, 2]),
    }
    weights = row_weights(n, classes, seed) if rng.random() < 0.4 else None
    way = rng.choice([from_memory, from_memory, from_blocks, *([from_file] if weights is None else [])])
    what = f"{way.__name__}, {case}, {kind}, {options}"
    try:
        model = way(rng, case.learner(**options), X, labels, weights)
    except ValueError as refusal:
        return None if "overflowed" in str(refusal) else f"{what}: {refusal}"
    twin = run(
        *(case.rule(), X, labels, options["max_iter"]),
        classes=classes,
        direct=options["multi_class"] == "direct",
        orders=lambda p: (
            visiting_order(n, model.seed_, p if options["shuffle"] is True else 0) if options["shuffle"] else range(n)
        ),
        weights=weights,
        fit_intercept=options["fit_intercept"],
        max_updates=float("inf") if options["max_updates"] is None else options["max_updates"],
    )
    try:
        assert_is_twin(model, twin)
    except AssertionError as difference:
        return f"{what}: {difference}"
    found, rows = model.decision_function(prepared(model, X)), np.asarray(X, np.float64)
    scores = found[:, None] if found.ndim == 1 else found
    if not np.isfinite(scores).all():
        return f"{what}: scores that are not finite for {rows.tolist()}"
    return None
