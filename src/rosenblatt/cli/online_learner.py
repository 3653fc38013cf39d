"""A learner that predicts each row of a stream before it learns from it, and counts how often it was wrong."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.run import TrainingRun

_RECENT = 1000


@dataclass
class Count:
    """Rows and mistakes so far, and those among the last thousand."""

    rows: int = 0
    mistakes: int = 0
    recent: deque[tuple[int, int]] = field(default_factory=deque)
    recent_rows: int = 0
    recent_mistakes: int = 0

    def add(self, rows: int, mistakes: int) -> None:
        """Count some rows that came one after the other."""
        self.rows, self.mistakes = self.rows + rows, self.mistakes + mistakes
        self.recent.append((rows, mistakes))
        self.recent_rows, self.recent_mistakes = self.recent_rows + rows, self.recent_mistakes + mistakes
        while self.recent_rows - self.recent[0][0] >= _RECENT:
            rows, mistakes = self.recent.popleft()
            self.recent_rows, self.recent_mistakes = self.recent_rows - rows, self.recent_mistakes - mistakes

    @property
    def rate(self) -> float:
        """The share of mistakes among the last thousand rows, or all where there are fewer."""
        return self.recent_mistakes / max(1, self.recent_rows)


class OnlineLearner:
    """A model that learns row by row, and counts its mistakes: those of the weights that predict."""

    def __init__(self, learner: str, options: RunOptions, model: TrainedModel | None = None) -> None:
        self.learner, self.options, self.model, self.count = learner, options, model, Count()
        self._run: TrainingRun | None = None

    def learn(self, X: Any, y: Any, weight: Any = None) -> None:
        """Visit rows in order: predict, count a mistake, learn by as much as the row weighs."""
        import numpy as np
        import scipy.sparse as sp

        from rosenblatt.training.rows import pad_columns

        if self.model is not None and sp.issparse(X):
            X = pad_columns(sp.csr_array(X), self.model.state.n_features)
            self.model.state.widen(X.shape[1])
        before = y[:0] if self.model is None else self.model.classes
        known = np.union1d(before, y)
        competing = self.options.direct and len(known) == len(before)  # a class competes from its first row on
        if (len(known) <= 2 or competing) and self.options.hypothesis == "last":  # such rows count their own mistakes
            self.count.add(len(y), self._visit(X, y, weight))
            return
        for i in range(len(y)):
            row, label = X[i : i + 1], y[i : i + 1]
            right = self.model is not None and self._predicted(row) == label[0]
            self._visit(row, label, None if weight is None else weight[i : i + 1], one_by_one=True)
            self.count.add(1, 0 if right else 1)

    def _predicted(self, row: Any) -> Any:
        """Return the class of one row, in a time that does not depend on columns in which a sparse row is 0."""
        import scipy.sparse as sp

        assert self.model is not None
        if not sp.issparse(row) or len(self.model.classes) == 1:
            return self.model.predict(row)[0]
        return self.model.classes[self.model.state.decide_one(self.options.hypothesis, row)]

    def _visit(self, X: Any, y: Any, weight: Any, one_by_one: bool = False) -> int:
        """Learn from rows; return the mistakes of the last weights. Rows that come one by one are one pass."""
        from rosenblatt.training.batches import labelled_batch
        from rosenblatt.training.model_file import TrainedModel
        from rosenblatt.training.train import Start, online_run

        run = self._run if one_by_one else None
        batch = labelled_batch(X, y, weight, known=None if run is None else run.classes)
        goes_on = run is not None
        if run is None:
            start = None if self.model is None else Start(self.model.state, self.model.classes)
            run = online_run(batch, self.options, start)
        made = run.visit(batch, goes_on)
        if self.model is None:
            self.model = TrainedModel(self.learner, self.options, run.classes, run.state)
        self.model.state, self.model.classes = run.state, run.classes
        self._run = run if one_by_one else None
        return made


def learner_line(learner: str, options: RunOptions, goes_on: bool) -> str:
    """Return which learner it is, which of its weights predict, and what they forget.

    ``goes_on`` says that a model is gone on from, whose options are settled.

    >>> from rosenblatt.training.options import RunOptions
    >>> learner_line("AveragedPerceptron", RunOptions(hypothesis="average", decay=0.001), goes_on=False)
    'learning with the averaged perceptron; its average predicts, in which a row counts half after 693 more.'
    """
    from rosenblatt.training.options import LEARNERS

    other = "start anew with" if goes_on else "give"
    start = f"learning with {LEARNERS[learner].words}; its"
    if options.hypothesis == "last" and learner == "AROW":
        return (
            f"{start} last weights predict, and its steps shrink, so it follows slowly: for streams that drift {other} "
            "--r 1 or --learner pa."
        )
    if options.hypothesis == "last":
        return f"{start} last weights predict, which follow streams that drift."
    if options.decay:
        rows = math.log(0.5) / math.log1p(-options.decay)
        return f"{start} average predicts, in which a row counts half after {max(1, round(rows)):,} more."
    way = "--hypothesis last" if learner == "KernelPerceptron" else "--learner pa"
    if options.hypothesis == "average":
        decay = "" if learner == "KernelPerceptron" else "--decay or "
        return f"{start} average predicts, which forgets nothing: for streams that drift {other} {decay}{way}."
    return f"{start} votes predict, which forget nothing: for streams that drift {other} {way}."
