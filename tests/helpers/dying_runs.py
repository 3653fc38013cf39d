"""Runs on streams that die on the way, for tests of checkpoints."""

import signal

import numpy as np
from sklearn.datasets import load_digits

from rosenblatt import AveragedPerceptron
from rosenblatt.blocks import Block
from rosenblatt.training.observers import Observer

X, y = load_digits(return_X_y=True)
X, y = X[:700], y[:700]


class Crash(Exception):
    pass


class Blocks:
    """Rows in blocks of ``size``; a crash comes after ``limit`` of them."""

    def __init__(self, size, limit=None, data=(X, y)):
        self.size, self.limit, self.data = size, limit, data

    def __iter__(self):
        rows, labels = self.data
        for i in range(0, len(labels), self.size):
            if self.limit is not None:
                self.limit -= 1
                if self.limit < 0:
                    raise Crash
            yield rows[i : i + self.size], labels[i : i + self.size]


class CtrlC(Observer):
    """Presses Ctrl-C after ``left`` slices."""

    def __init__(self, left=0):
        self.left = left

    def on_slice(self, run, batch, visited):
        self.left -= 1
        if not self.left:
            signal.raise_signal(signal.SIGINT)


def assert_same(one, other):
    for name in ("w", "u", "b", "beta", "counters", "done"):
        assert np.array_equal(getattr(one.state_, name), getattr(other.state_, name)), name
    assert np.array_equal(one.history_, other.history_)
    rows = Block(X[:100, : one.n_features_in_])
    assert np.array_equal(one.predict(rows), other.predict(rows))


def learner():
    return AveragedPerceptron(max_iter=4, random_state=0)
