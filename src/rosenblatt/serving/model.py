"""A model that learns while it predicts: two copies of its weights, of which one learns and the other one predicts.

Predictions never wait for learning. They use the published copy. The other copy learns each group of rows, and every
few milliseconds the two change places (``publish``). Then the copy that predicted until now learns the same rows. This
is the left-right technique (Ramalhete and Correia, 2013) for one writer. No weights are copied, and both copies have
the same bits, because learning is deterministic and does not depend on how rows are divided into batches.

A group that cannot be learned, or not be logged, is undone (``undo``): the copy that learned it is made anew from the
published one, and learns the acknowledged rows since then again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from rosenblatt.messages import label_text, plain_label
from rosenblatt.serving.rows import SparseRow, matrix_of, stacked
from rosenblatt.training.batches import labelled_batch
from rosenblatt.training.groups import LabelledRows, csr, join_rows
from rosenblatt.training.linear import LinearState
from rosenblatt.training.model_file import TrainedModel
from rosenblatt.training.rows import Labels, as_rows
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.train import WarmStart, online_run

_MANY = 500
"""Rows for which kernels are compiled."""
Floats: TypeAlias = np.ndarray


class Answers(NamedTuple):
    """Predictions for some rows."""

    classes: Labels
    numbers: np.ndarray
    """The predicted class of each row, as a number."""
    scores: Floats | None
    """The scores, with one column for two classes; None if there is only one class."""
    probabilities: Floats | None
    """The probability of each class; None if the model is not calibrated."""

    def to_plain(self) -> list[dict[str, Any]]:
        """Return the answer to each row for JSON."""
        labels = [plain_label(label) for label in self.classes.tolist()]
        names = [label_text(label) for label in labels]
        found: list[dict[str, Any]] = [{"label": labels[number]} for number in self.numbers.tolist()]
        if self.scores is not None and self.scores.shape[1] == 1:
            for answer, score in zip(found, self.scores[:, 0].tolist(), strict=True):
                answer["score"] = score
        elif self.scores is not None:
            for answer, scores in zip(found, self.scores.tolist(), strict=True):
                answer["scores"] = dict(zip(names, scores, strict=True))
        if self.probabilities is not None:
            for answer, shares in zip(found, self.probabilities.tolist(), strict=True):
                answer["probabilities"] = dict(zip(names, shares, strict=True))
        return found


class Replica:
    """One copy of a model, which learns and predicts in one thread at a time."""

    def __init__(self, model: TrainedModel) -> None:
        self.model = model
        self.lock = threading.Lock()
        self._run: TrainingRun | None = None

    def learn(self, rows: LabelledRows, sparse: bool) -> None:
        """Learn rows in their order, as sparse or dense ones."""
        model, run = self.model, self._run
        X = rows.matrix()
        known = model.classes if run is None else run.classes
        batch = labelled_batch(
            X if sparse else X.toarray(), rows.labels, rows.weights, model.options.class_weight, known
        )
        if run is None:  # the rows of all calls together form one pass
            run = online_run(batch, model.options, WarmStart(model.state, model.classes))
        run.visit(batch, continues=self._run is not None)
        if len(run.classes) != len(model.classes):
            model.calibration = None  # it has no probability for the new class
        model.state, model.classes, model.early_stopping_state, self._run = run.state, run.classes, None, run

    def predict(self, X: sp.csr_array, labels_only: bool = False) -> Answers:
        """Predict rows; with ``labels_only``, without scores and probabilities."""
        model = self.model
        n = X.shape[0]
        if len(model.classes) == 1:
            return Answers(model.classes, np.zeros(n, np.int64), None, None)
        state, hypothesis = model.state, model.options.hypothesis
        if isinstance(state, LinearState) and hypothesis != "vote":
            used, places = np.unique(X.indices, return_inverse=True)
            if len(used) < state.n_features:  # the time does not depend on the number of columns that no row has
                state = state.with_columns(used)
                X = csr(X.data, places, np.diff(X.indptr), len(used))
        rows = as_rows(X)
        numbers, _ = state.decide(hypothesis, rows)
        if labels_only:
            return Answers(model.classes, numbers, None, None)
        scores = state.rounded_scores(hypothesis, rows)
        found = None
        if model.calibration is not None:
            found = model.calibration.probabilities(scores)
        return Answers(model.classes, numbers, scores, found)

    def duplicate(self) -> Replica:
        """Return another copy."""
        return Replica(duplicate(self.model))


def duplicate(model: TrainedModel) -> TrainedModel:
    """Return a copy of a model that further training does not change."""
    return replace(model, state=model.state.snapshot(), early_stopping_state=None)


class ServedModel:
    """A model that predicts in one thread while another thread lets it learn.

    ``predict`` and ``published`` belong to the predicting thread, the others to the learning one.

    Parameters
    ----------
    model : TrainedModel
        The model, which this object owns from now on.
    sparse : bool
        Whether the model learns from sparse rows.
    learns : bool
        Whether the model learns at all; if not, there is no second copy.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.persistence.files import to_trained_model
    >>> trained = to_trained_model(Perceptron().partial_fit([[1.0], [-1.0]], ["yes", "no"]))
    >>> served = ServedModel(trained, sparse=False)
    >>> row = SparseRow([0], [0.5])
    >>> served.predict([row]).to_plain()
    [{'label': 'yes', 'score': 1.0}]
    >>> one = np.ones(1, np.int32)
    >>> served.learn(LabelledRows(0 * one, np.array([0.5]), one, np.array(["no"]), None, 1))
    >>> served.publish()
    >>> served.predict([row]).to_plain()
    [{'label': 'no', 'score': -0.25}]
    """

    def __init__(self, model: TrainedModel, sparse: bool, learns: bool = True) -> None:
        self._sparse = sparse
        self._published = Replica(model)
        self._learning = self._published.duplicate() if learns else self._published
        self._unpublished: list[LabelledRows] = []

    # for the thread that predicts

    @property
    def published(self) -> TrainedModel:
        """The model that predicts."""
        return self._published.model

    def predict(self, rows: list[SparseRow]) -> Answers:
        """Predict rows by the published weights."""
        with self._readable() as copy:
            return copy.predict(matrix_of(rows, copy.model.n_features))

    @contextmanager
    def _readable(self) -> Iterator[Replica]:
        while True:
            copy = self._published
            if not copy.lock.acquire(timeout=0.001):
                continue  # it may have changed places with the other copy, and learn now
            try:
                if copy is self._published:
                    yield copy
                    return
            finally:
                copy.lock.release()

    def warm_up(self) -> None:
        """Predict and learn some rows on a copy, so that the code is compiled; call this before the threads start."""
        copy = self._published.duplicate()
        width = copy.model.n_features
        columns = list(range(min(width, 20)))
        for n in (1, _MANY):  # few numbers are handled by interpreted code
            rows = [SparseRow(columns, [0.0] * len(columns))] * n
            copy.predict(matrix_of(rows, width))
            if self._learning is not self._published:
                labels = copy.model.classes[np.arange(n) % len(copy.model.classes)]
                copy.learn(LabelledRows(*stacked(rows), labels, None, width), self._sparse)

    # for the thread that learns

    @property
    def model(self) -> TrainedModel:
        """The model with all rows learned so far."""
        return self._learning.model

    @property
    def is_published(self) -> bool:
        """Whether predictions have seen all rows that were learned."""
        return not self._unpublished

    def count_mistakes(self, rows: LabelledRows) -> int:
        """Return how many of these rows the model would predict wrongly before it learns them."""
        copy = self._learning
        width = copy.model.n_features
        X = rows.matrix(max(width, rows.width))
        if rows.width > width:  # columns that the model does not have yet
            X = X[:, :width]
        answers = copy.predict(X, labels_only=True)
        return int((answers.classes[answers.numbers] != rows.labels).sum())

    def learn(self, rows: LabelledRows) -> None:
        """Learn rows in their order. If an error is raised, call `undo`."""
        self._learning.learn(rows, self._sparse)
        self._unpublished.append(rows)

    def undo(self, rows: LabelledRows) -> None:
        """Forget ``rows``, the last ones that were learned; some or all of them may not have been learned."""
        self._unpublished = [group for group in self._unpublished if group is not rows]
        self._copy_published()
        if self._unpublished:
            self._learning.learn(join_rows(self._unpublished), self._sparse)

    def _copy_published(self) -> None:
        with self._published.lock:  # a copy of votes first stores pending rows
            self._learning = self._published.duplicate()

    def publish(self) -> None:
        """Let predictions see all rows that were learned."""
        if not self._unpublished:
            return
        self._published, self._learning = self._learning, self._published
        rows, self._unpublished = join_rows(self._unpublished), []
        try:
            with self._learning.lock:  # a prediction that has begun ends first
                self._learning.learn(rows, self._sparse)
        except MemoryError:
            self._copy_published()
