"""What linear models predict by each hypothesis, the pocket and the vote too, against fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from attack.same_bits import SIGNS, from_blocks, from_file, from_memory, layout, prepared
from helpers.examples import KINDS, small_set
from helpers.naive import activation, direct_votes, run, run_direct, vote
from helpers.naive_kernel import Update
from helpers.naive_kernel_answers import Answer, decided, longest_survivor
from rosenblatt import Perceptron, visiting_order


def attack(rng: random.Random) -> str | None:
    """Train by one random run, and compare its predictions of its rows and of others with those of its slow twin."""
    kind, classes = rng.choice(KINDS), rng.choice([2, 2, 2, 3, 4])
    n, d = rng.randrange(classes, 25), rng.randrange(1, 5)
    X, labels = small_set(kind, n=n, d=d, classes=classes, seed=rng.randrange(2**32))
    options: dict[str, Any] = {
        "hypothesis": rng.choice(["last", "average", "pocket", "pocket", "vote", "vote"]),
        "shuffle": rng.choice([False, True, "once"]),
        "fit_intercept": rng.random() < 0.7,
        "max_iter": rng.randrange(1, 6),
        "random_state": rng.randrange(100),
        "multi_class": rng.choice(["ovr", "direct"]),
        "n_jobs": rng.choice([None, 2]),
    }
    steps = np.array([rng.choice([0.0, 0.5, 1.0, 2.5]) for _ in range(n)]) if rng.random() < 0.3 else None
    if steps is not None and len(set(labels[steps > 0])) < classes:
        return None  # nothing to learn from
    way = rng.choice([from_memory, from_memory, from_blocks, *([from_file] if steps is None else [])])
    way = from_memory if options["hypothesis"] == "pocket" else way  # it needs all rows at once
    model = way(rng, Perceptron(**options), X, labels, steps)

    def order(passed: int) -> Any:
        return visiting_order(n, model.seed_, passed if options["shuffle"] is True else 0)

    shared = {"steps": steps, "orders": order if options["shuffle"] else None}
    shared["fit_intercept"] = options["fit_intercept"]
    direct = options["multi_class"] == "direct" and classes > 2
    if direct:
        runs = [run_direct(X, labels, classes, options["max_iter"], **shared)]
    else:
        signs = [SIGNS[labels]] if classes == 2 else [np.where(labels == k, 1, -1) for k in range(classes)]
        runs = [run(X, sign, options["max_iter"], **shared) for sign in signs]
    rows = np.concatenate([X, -X[:4], np.zeros((1, d))])
    expected = _answers(options["hypothesis"], model, runs, direct, classes, (X, labels, steps), rows)
    found, tied = (
        model.predict(prepared(model, layout(rng, rows))),
        model.on_boundary(prepared(model, layout(rng, rows))),
    )
    if found.tolist() != [one.label for one in expected] or tied.tolist() != [one.tied for one in expected]:
        return f"{way.__name__}, {kind}, {options}: {found.tolist()} {tied.tolist()} and not {expected}"
    scores = model.decision_function(prepared(model, layout(rng, rows))).reshape(len(rows), -1)
    for row, one in zip(scores.tolist(), expected, strict=True):
        right = [number.get(0, Fraction(0)) for number in one.scores]
        if options["hypothesis"] == "vote":
            if row != [float(share) for share in right]:
                return f"{way.__name__}, {kind}, {options}: votes of {row} and not {list(map(float, right))}"
        elif [np.sign(score) for score in row] != [(score > 0) - (score < 0) for score in right]:
            return f"{way.__name__}, {kind}, {options}: scores of {row}, signs of {right}"
    return None


def _answers(hypothesis, model, runs, direct, classes, training, rows) -> list[Answer]:
    """Return the exact answers of a hypothesis for rows; averages are those of the model, which are rounded."""
    if hypothesis == "vote" and direct:
        visits = max(1, sum(count for *_, count in runs[0].voters))
        scores = [[Fraction(v, visits) for v in direct_votes(runs[0].voters, x, classes)] for x in rows.tolist()]
    elif hypothesis == "vote":
        visits = [max(1, sum(count for *_, count in one.voters)) for one in runs]
        scores = [
            [Fraction(vote(one.voters, x), n) for one, n in zip(runs, visits, strict=True)] for x in rows.tolist()
        ]
    else:
        if hypothesis == "pocket":
            weights = [_pocket(one, k, len(runs), classes, training) for k, one in enumerate(runs)]
            weights = weights[0] if direct else [pair for (pair,) in weights]
        else:
            weights = list(zip(model.coef_.tolist(), model.intercept_.tolist(), strict=True))
        scores = [[activation(w, b, x) for w, b in weights] for x in rows.tolist()]
    return [decided([{0: score} if score else {} for score in row]) for row in scores]


def _pocket(run, k: int, count: int, classes: int, training) -> list[tuple[list[float], float]]:
    """Return the weights of fewest training mistakes: the last of a pass, or those that survived longest in it."""
    X, labels, steps = training
    direct = count == 1 and classes > 2
    d = X.shape[1]
    zero = [([0.0] * d, 0.0)] * (classes if direct else 1)
    weights = [zero] + [list(zip(w, b, strict=True)) if direct else [(w, b)] for w, b, _ in run.voters]
    begins = [0, *accumulate(survived for *_, survived in run.voters)]
    updates = [Update(0, 1.0, visits) for visits in begins[:-1]]
    per_pass = len(labels) if steps is None else int(np.count_nonzero(steps))
    best, fewest, candidate, started = 0, None, 0, (0, 0)
    for passed, made in enumerate(accumulate(run.mistakes), 1):
        end = made, passed * per_pass
        candidate = longest_survivor(updates, started, end, candidate)
        for moment in (candidate, made):
            wrong = sum(
                1.0 if steps is None else float(steps[i])
                for i, x in enumerate(X.tolist())
                if _is_wrong([activation(w, b, x) for w, b in weights[moment]], int(labels[i]), k, count, classes)
            )
            if fewest is None or wrong < fewest:
                best, fewest = moment, wrong
        started = end
    return weights[best]


def _is_wrong(scores: list[Fraction], label: int, k: int, count: int, classes: int) -> bool:
    if len(scores) > 1:
        return any(scores[label] <= score for j, score in enumerate(scores) if j != label)
    target = 1 if classes == 2 else k
    return (scores[0] if label == target else -scores[0]) <= 0
