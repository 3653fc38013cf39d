"""The kernel perceptron row by row, by its definition, and what its run was at any moment: twins for reproductions."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from rosenblatt.training.dual.state import DualState
from rosenblatt.training.options import Kernel
from rosenblatt.training.state import Updates


class Scores(NamedTuple):
    last: np.ndarray
    average: np.ndarray
    vote: np.ndarray


def gram(X, Z, degree):
    """Return (1 + x . z)^degree of all rows as Fractions, exactly."""
    X, Z = ([[Fraction(value) for value in row] for row in rows.tolist()] for rows in (X, Z))
    return [[(1 + sum(a * b for a, b in zip(x, z, strict=True) if a and b)) ** degree for z in Z] for x in X]


def train(X, y, degree, epochs):
    """Return the run of one machine for each class; each ends after a pass without a mistake."""
    K, classes = gram(X, X, degree), np.unique(y)
    state = DualState.zeros(len(classes), X.shape[1], kernel=Kernel("poly", degree), direct=False, hypothesis="vote")
    made = [[] for _ in classes]  # row, step, visits before
    for k, one in enumerate(classes):
        for epoch in range(epochs):
            before = len(made[k])
            for i, label in enumerate(y):
                sign = 1 if label == one else -1
                if sign * sum(step * K[j][i] for j, step, _ in made[k]) <= 0:
                    made[k].append((i, sign, epoch * len(X) + i))
            state.counters["visits"][k] += len(X)
            if len(made[k]) == before:
                break
    for _, i in sorted((visits, i) for log in made for i, _, visits in log):
        if i not in state.supports.places:
            state.supports.append(X[[i]], [i])
    none = np.empty(0, np.int64)
    for k, log in enumerate(made):
        members = np.array([state.supports.places[i] for i, _, _ in log], np.int64)
        steps, visits = (np.array([update[place] for update in log], float) for place in (1, 2))
        state.updates[k].append(Updates(members, steps, visits, none, none))
    return state


def scores_at(state, rows, moments):
    """Return the scores of rows as if the run had ended after each number of visits, by going through all of them."""
    K = gram(state.support_matrix(), rows.matrix, state.kernel.degree)
    return [Scores(*np.moveaxis(_scores_after(state, K, rows.n, visits), -1, 0)) for visits in moments]


def _scores_after(state, K, n, visits):
    out = np.zeros((n, len(state.updates), 3))
    for k in range(len(state.updates)):
        made = state.updates_of(k)
        for i in range(n):
            score, total, vote, done = Fraction(0), Fraction(0), 0, 0
            for j, step, before in zip(made.members, made.steps, made.visits, strict=True):
                if before >= visits:
                    break
                total, vote = total + (int(before) - done) * score, vote + (int(before) - done) * _sign(score)
                score, done = score + int(step) * K[j][i], int(before)
            total, vote = total + (visits - done) * score, vote + (visits - done) * _sign(score)
            out[i, k] = float(score), float(total / visits), vote
    return out


def _sign(number):
    return (number > 0) - (number < 0)
