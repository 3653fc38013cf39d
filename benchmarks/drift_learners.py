"""What learns on a stream row by row: our learners by the engine, scikit-learn's, and two guesses without features.

All are made for a stream, told its classes beforehand, and asked by the numbers of its rows: ``predict(i)`` returns a
label, and ``learn(i)`` shows the row and its label.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Protocol

import numpy as np

from benchmarks.drift_streams import Stream
from rosenblatt.training.batches import make_batch
from rosenblatt.training.linear import PassRunner
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import as_rows
from rosenblatt.training.run import new_state


class Online(Protocol):
    """What is measured."""

    def predict(self, i: int) -> Any:
        """Return a label for row ``i``, None before anything was learned."""

    def learn(self, i: int) -> None:
        """Learn from row ``i`` and its label."""


class CommonestLabel:
    """A guess without features: the label that came most often so far, of several the one that came first."""

    def __init__(self, stream: Stream) -> None:
        self.labels, self.seen = stream.y.tolist(), Counter[Any]()

    def predict(self, i: int) -> Any:
        """Return the commonest label."""
        return self.seen.most_common(1)[0][0] if self.seen else None

    def learn(self, i: int) -> None:
        """Count a label."""
        self.seen[self.labels[i]] += 1


class LabelBefore:
    """A guess without features: the label that came last."""

    def __init__(self, stream: Stream) -> None:
        self.labels, self.last = stream.y.tolist(), None

    def predict(self, i: int) -> Any:
        """Return the last label."""
        return self.last

    def learn(self, i: int) -> None:
        """Keep a label."""
        self.last = self.labels[i]


class Ours:
    """One of our learners, by the engine: what ``predict_one`` and ``learn_one`` do, in a quarter of their time."""

    def __init__(self, stream: Stream, learner: str, **parameters: Any) -> None:
        self.classes, numbers = np.unique(stream.y, return_inverse=True)
        self.options = RunOptions.for_learner(learner, **parameters).check()
        self.batch = make_batch(stream.X, numbers.astype(np.int32), self.classes, None, None)
        self.rows = [as_rows(stream.X[i : i + 1]) for i in range(len(stream.y))]
        self.order = np.arange(len(stream.y), dtype=np.uint32)
        self.state = new_state(self.options, len(self.classes), stream.X.shape[1])
        self.state.counters["lowest"] = self.state.counters["lowest_step"] = math.inf  # as at the start of a pass
        self.active, self.runner = np.arange(len(self.state.counters)), PassRunner()
        self.has_learned = False

    def predict(self, i: int) -> Any:
        """Return the class of a row."""
        if not self.has_learned:
            return None
        return self.classes[self.state.decide(self.options.hypothesis, self.rows[i])[0][0]]

    def learn(self, i: int) -> None:
        """Visit a row."""
        self.runner.visit(
            self.state,
            self.batch,
            self.order[i : i + 1],
            self.active,
            shuffled=False,
            first=True,
            on_slice=lambda visited: False,
            on_updates=None,
        )
        self.has_learned = True


class Theirs:
    """A classifier of scikit-learn."""

    def __init__(self, stream: Stream, model: Any) -> None:
        self.X, self.y, self.classes, self.model = stream.X, stream.y, np.unique(stream.y), model
        self.has_learned = False

    def predict(self, i: int) -> Any:
        """Return the class of a row."""
        return self.model.predict(self.X[i : i + 1])[0] if self.has_learned else None

    def learn(self, i: int) -> None:
        """Visit a row."""
        self.model.partial_fit(self.X[i : i + 1], self.y[i : i + 1], self.classes)
        self.has_learned = True


def wrong_rows(learner: Online, stream: Stream) -> np.ndarray:
    """Return for each row whether it was predicted wrongly: by what was learned from the rows before it, and no more.

    Each row is predicted and then learned; where labels come late, the row is learned whose label comes now.
    """
    wrong = np.zeros(len(stream.y), bool)
    for i, label in enumerate(stream.y):
        wrong[i] = learner.predict(i) != label
        if i >= stream.late:
            learner.learn(i - stream.late)
    return wrong
