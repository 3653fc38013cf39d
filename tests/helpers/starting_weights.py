"""Small problems with weights to begin with."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, PassiveAggressive, Perceptron, VotedPerceptron

LINEAR = [Perceptron, AveragedPerceptron, VotedPerceptron, MarginPerceptron, PassiveAggressive, AROW]


def problem(seed, n=40, d=5, classes=2, whole=False):
    """Return rows, labels that begin with every class, and weights to begin with."""
    rng = np.random.default_rng(seed)
    k = classes if classes > 2 else 1
    X, w, b = rng.normal(size=(n, d)), 3 * rng.normal(size=(k, d)), 3 * rng.normal(size=k)
    X[rng.random((n, d)) < 0.4] = 0.0
    if whole:
        X, w, b = np.rint(3 * X), np.rint(w), np.rint(b)
    y = np.argmax(X @ rng.normal(size=(d, classes)) + rng.normal(size=(n, classes)), axis=1)
    y[:classes] = range(classes)
    return X, y, w, b


def layouts(X):
    """Return the same rows dense and as CSR."""
    return [X, sp.csr_array(X)]


def separable(seed):
    """Return rows that a plane separates, and weights to begin with."""
    rng = np.random.default_rng(seed)
    X, truth = rng.normal(size=(30, 3)), rng.normal(size=4)
    scores = X @ truth[:3] + 0.2 * truth[3]
    kept = np.abs(scores) > 0.1 * np.linalg.norm(truth)
    return X[kept], (scores[kept] > 0).astype(int), 10 ** rng.uniform(-1, 2) * rng.normal(size=3), 5 * rng.normal()
