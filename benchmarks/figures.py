"""Figures on real data: accuracy, and what a vote costs. Where files are missing, a sentence says which."""

from __future__ import annotations

import warnings

import numpy as np

import rosenblatt
from benchmarks.measure import Figure, seconds
from benchmarks.workloads import libsvm, missing_data, mnist


def accuracy(quick: bool) -> list[Figure]:
    """Return test accuracies of ten averaged passes, and whether the perceptron separates mushrooms."""
    found = []
    sets = [
        ("MNIST", mnist("train"), mnist("t10k"), 0.917, "mnist/*-ubyte.gz"),
        ("a9a", libsvm("a9a", 123), libsvm("a9a.t", 123), 0.845, "libsvm/a9a.bz2 and libsvm/a9a.t.bz2"),
    ]
    for name, train, test, target, files in sets:
        some = 5000 if quick else None
        title = f"{name} test accuracy, averaged, 10 passes" + (f" over {some} rows" if quick else "")
        if train is None or test is None:
            found.append(Figure(title, missing_data(files)))
            continue
        model = rosenblatt.AveragedPerceptron(max_iter=10, random_state=0).fit(train[0][:some], train[1][:some])
        score = model.score(*test)
        found.append(Figure(title, f"{score:.2%}", f">= {target:.1%}", score >= target))
    mushrooms = libsvm("mushrooms", 112)
    if mushrooms is None:
        found.append(Figure("mushrooms, perceptron", missing_data("libsvm/mushrooms.bz2")))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = rosenblatt.Perceptron(random_state=0).fit(*mushrooms)
        shown = f"{'separated' if model.converged_ else 'mistakes left'} after {model.n_iter_} passes"
        found.append(Figure("mushrooms, perceptron", shown, "separated", model.converged_))
    return found


def voted(quick: bool) -> list[Figure]:
    """Return the time of a voted prediction, and of a naive one that asks each weight vector in turn.

    The naive time is an estimate: a sample of voters is timed (an update, a product with all test rows,
    their signs) and taken times the number of voters.
    """
    train, test = mnist("train"), mnist("t10k")
    if train is None or test is None:
        return [Figure("voted prediction, MNIST", missing_data("mnist/*-ubyte.gz"))]
    n, rows = (2000, 200) if quick else (10_000, 1000)
    X, y = train[0][:n], train[1][:n]
    T = test[0][:rows]
    model = rosenblatt.VotedPerceptron(max_iter=1, random_state=0).fit(X, y)
    model.predict(T[:10])  # compiles
    taken = min(seconds(lambda: model.predict(T)) for _ in range(3))
    w, votes, sample = np.zeros(784), np.zeros(rows), 200

    def ask() -> None:
        for x in X[:sample]:
            w[:] += x
            votes[:] += np.sign(T @ w + 1.0)

    naive = min(seconds(ask) for _ in range(3)) / sample * model.n_updates_
    shown = f"{taken:.2f} s; naive loop about {naive:.2f} s, estimated from {sample} voters"
    return [Figure(f"voted prediction, MNIST, {rows} rows, {model.n_updates_} voters", shown)]
