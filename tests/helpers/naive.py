"""Slow twins of the kernels: plain loops, rational decisions, one rounding per coordinate of an update.

They say in the simplest way what a run is, so that the fast code has something to be equal to.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np


class Run(NamedTuple):
    """What a naive run leaves: all as Python floats, averages as exact Fractions of the float weights."""

    w: np.ndarray
    b: float
    average_w: list[Fraction]
    average_b: Fraction
    voters: list[tuple[list[float], float, int]]
    mistakes: list[int]
    updates: int
    clean: bool


def activation(w, b, x) -> Fraction:
    """Return w·x + b of stored floats, exactly."""
    return sum((Fraction(v) * Fraction(t) for v, t in zip(w, x, strict=True)), Fraction(b))


def run(X, signs, passes, *, orders=None, steps=None, fit_intercept=True, max_updates=None, start=None) -> Run:
    """Run the perceptron as the house defines it, until a clean pass, ``passes`` passes or ``max_updates``.

    ``start`` are weights and a bias to begin with instead of zero; they are the first voter then.
    """
    X = np.asarray(X, dtype=np.float64)
    n, d = X.shape
    rows, signs = X.tolist(), [int(s) for s in signs]
    steps = [1.0] * n if steps is None else [float(s) for s in steps]
    w, b = ([0.0] * d, 0.0) if start is None else ([float(v) for v in start[0]], float(start[1]))
    sum_w, sum_b, visits, updates = [Fraction(0)] * d, Fraction(0), 0, 0
    voters: list[tuple[list[float], float, int]] = [] if start is None else [(w, b, 0)]
    history: list[int] = []
    clean = False
    for p in range(passes):
        mistakes = 0
        for i in range(n) if orders is None else orders(p):
            if steps[i] == 0.0 or updates == max_updates:
                continue
            if signs[i] * activation(w, b, rows[i]) <= 0:
                step = steps[i] * signs[i]
                w = [v + step * t for v, t in zip(w, rows[i], strict=True)]
                b = b + step if fit_intercept else b
                mistakes, updates = mistakes + 1, updates + 1
                voters.append((w, b, 0))
            visits += 1
            if voters:
                voters[-1] = (*voters[-1][:2], voters[-1][2] + 1)
            sum_w = [s + Fraction(v) for s, v in zip(sum_w, w, strict=True)]
            sum_b += Fraction(b)
        history.append(mistakes)
        clean = mistakes == 0
        if clean or updates == max_updates:
            break
    total = max(visits, 1)
    return Run(np.array(w), b, [s / total for s in sum_w], sum_b / total, voters, history, updates, clean)


class Direct(NamedTuple):
    """A naive run of directly competing classes."""

    w: np.ndarray
    b: np.ndarray
    voters: list[tuple[list[list[float]], list[float], int]]
    mistakes: list[int]


def run_direct(X, labels, classes, passes, *, orders=None, steps=None, fit_intercept=True, start=None) -> Direct:
    """Run the direct multi-class perceptron: ties are mistakes, the rival is the first of the best others.

    ``start`` are weights and biases to begin with instead of zero; they are the first voter then.
    """
    X = np.asarray(X, dtype=np.float64)
    n, d = X.shape
    rows = X.tolist()
    steps = [1.0] * n if steps is None else [float(s) for s in steps]
    w, b = [[0.0] * d for _ in range(classes)], [0.0] * classes
    if start is not None:
        w, b = [[float(v) for v in line] for line in start[0]], [float(v) for v in start[1]]
    voters: list = [] if start is None else [(w, b, 0)]
    history: list[int] = []
    for p in range(passes):
        mistakes = 0
        for i in range(n) if orders is None else orders(p):
            if steps[i] == 0.0:
                continue
            scores = [activation(w[k], b[k], rows[i]) for k in range(classes)]
            y = int(labels[i])
            rival = max((k for k in range(classes) if k != y), key=lambda k: (scores[k], -k))
            if scores[y] <= scores[rival]:
                w, b = [list(v) for v in w], list(b)
                for k, step in ((y, steps[i]), (rival, -steps[i])):
                    w[k] = [v + step * t for v, t in zip(w[k], rows[i], strict=True)]
                    b[k] = b[k] + step if fit_intercept else b[k]
                mistakes += 1
                voters.append((w, b, 0))
            if voters:
                voters[-1] = (*voters[-1][:2], voters[-1][2] + 1)
        history.append(mistakes)
        if mistakes == 0:
            break
    return Direct(np.array(w), np.array(b), voters, history)


def vote(voters, x) -> int:
    """Return the sum of count times sign of the activation; a voter on the boundary abstains."""
    total = 0
    for w, b, count in voters:
        a = activation(w, b, x)
        total += count * ((a > 0) - (a < 0))
    return total


def direct_votes(voters, x, classes) -> list[int]:
    """Return the count of votes for each class; a voter whose best score is shared abstains."""
    votes = [0] * classes
    for w, b, count in voters:
        scores = [activation(w[k], b[k], x) for k in range(classes)]
        best = max(scores)
        if scores.count(best) == 1:
            votes[scores.index(best)] += count
    return votes
