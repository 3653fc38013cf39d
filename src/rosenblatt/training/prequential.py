"""Prequential learning ("test, then train"): a model predicts each row of a stream before it learns the row."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import Features, check_label_types, is_sparse
from rosenblatt.kernels.prequential import direct_rows, one_vs_rest_rows
from rosenblatt.kernels.rules import Examples, Passes, Rule, Visits
from rosenblatt.training.batches import Batch, labelled_batch
from rosenblatt.training.linear import Group, LinearState, PassRunner, scratch_scores
from rosenblatt.training.model_file import TrainedModel
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import Labels, as_rows, pad_columns
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.state import RunState
from rosenblatt.training.train import WarmStart, online_run

Floats = NDArray[np.float64]
_NO_DECAY = -1.0


class Answers:
    """The predictions for consecutive rows, each by the weights before the row was learned."""

    def __init__(self) -> None:
        self.labels: list[Any] = []
        """The predicted labels; None if no label was known yet."""
        self.scores: list[float] = []
        """The score of the predicted class or, of two classes, that of the second one; NaN if there was one class."""
        self.probabilities: list[float] = []
        """The probability of the predicted class; NaN if the model is not calibrated."""

    def __len__(self) -> int:
        return len(self.labels)

    def add(self, model: TrainedModel | None, numbers: NDArray[np.int64], scores: Floats | None) -> None:
        """Add the predictions for some rows: class numbers of a model, and scores if it has several classes."""
        n, rows = len(numbers), np.arange(len(numbers))
        self.labels += [None] * n if model is None else model.classes[numbers].tolist()
        unknown = [float("nan")] * n
        self.scores += unknown if scores is None else scores[rows, numbers if scores.shape[1] > 1 else 0].tolist()
        if model is None or scores is None or model.calibration is None:
            self.probabilities += unknown
        else:
            self.probabilities += model.calibration.probabilities(scores)[rows, numbers].tolist()


class PrequentialRunner(PassRunner):
    """A runner that predicts each row, by the weights of a hypothesis ("last" or "average"), before it trains on it."""

    def __init__(self, hypothesis: str) -> None:
        super().__init__()
        self._hypothesis = hypothesis
        self.is_predicting = False
        """Whether rows are predicted; if not, it is an ordinary runner."""
        self.numbers, self.scores = np.empty(0, np.int64), np.empty((0, 1))
        """The class numbers and scores that were predicted for the rows of the last batch."""

    def can_predict(self, state: object) -> bool:
        """Return whether compiled code can predict rows before a state learns them."""
        return (
            isinstance(state, LinearState)
            and self._hypothesis in ("last", "average")
            and state.log is None
            and state.pocket is None
            and state.threshold is None
            and not state.mixed_shards
        )

    def visit_group(
        self,
        state: LinearState,
        batch: Batch,
        examples: Examples,
        visits: Visits,
        group: Group,
        rule: Rule,
        passes: Passes,
    ) -> int:
        """Predict rows and train on them. Rows whose class is uncertain for compiled code are decided exactly."""
        if not self.is_predicting:
            return super().visit_group(state, batch, examples, visits, group, rule, passes)
        if visits.start == 0:
            self.numbers = np.empty(batch.rows.n, np.int64)
            self.scores = np.empty((batch.rows.n, state.n_scores))
        run, scratch = direct_rows if state.direct else one_vs_rest_rows, scratch_scores(state, visits, group)
        shown = state.decay if self._hypothesis == "average" else _NO_DECAY
        out, is_known = (self.numbers, self.scores), False
        arguments = group.weights, group.active, scratch, group.log, group.candidate, rule, out
        while (place := int(run(examples, visits, is_known, shown, *arguments))) < visits.stop:
            self.numbers[place], self.scores[place] = _exact_answer(
                state, self._hypothesis, batch.rows.matrix[place : place + 1]
            )
            visits, is_known = visits._replace(start=place), True
        return 0


def _exact_answer(state: RunState, hypothesis: str, row: Features) -> tuple[int, Floats]:
    """Return the class number of a row, decided exactly, and its scores."""
    if is_sparse(row) and isinstance(state, LinearState) and hypothesis != "vote":
        # the time does not depend on the number of columns
        state, row = state.with_columns(row.indices), row.data[None].astype(np.float64)
    rows = as_rows(row)
    return int(state.decide(hypothesis, rows)[0][0]), state.scores(hypothesis, rows)[0]


class OnlineLearner:
    """A model that predicts each row of a stream before it learns from the row.

    Parameters
    ----------
    learner : str
        The class of the learner.
    options : RunOptions
        Its options.
    model : TrainedModel, optional
        The model to continue; by default there is none before the first row with a label.

    Examples
    --------
    >>> online = OnlineLearner("Perceptron", RunOptions())
    >>> online.learn(np.array([[1.0], [-1.0], [2.0], [-2.0]]), np.array(["yes", "no", "yes", "no"])).labels
    [None, 'yes', 'yes', 'no']
    """

    def __init__(self, learner: str, options: RunOptions, model: TrainedModel | None = None) -> None:
        self.learner, self.options, self.model = learner, options, model
        self._run: TrainingRun | None = None
        self._runner = PrequentialRunner(options.hypothesis) if options.is_linear else None

    def learn(
        self,
        X: Features,
        y: Labels,
        weight: Floats | None = None,
        are_labelled: NDArray[np.bool_] | None = None,
        interrupts: Collection[object] = (),
    ) -> Answers:
        """Visit rows in order: predict each row, then learn from it. Return the predictions.

        ``weight`` is the weight of each row, which scales the step on the row; None means 1. Rows that are not
        labelled are only predicted. Once ``interrupts`` is not empty, the rest of the rows may be left out.
        """
        answers = Answers()
        if are_labelled is not None and are_labelled.all():
            are_labelled = None
        if are_labelled is not None:
            weight = np.where(are_labelled, 1.0 if weight is None else weight, 0.0)
        X = self._widened(X)
        for start, stop, is_new in self._parts(y, are_labelled):
            some = None if are_labelled is None else are_labelled[start:stop]
            rows = X[start:stop], y[start:stop], None if weight is None else weight[start:stop]
            if self.model is None or is_new or (some is not None and not some.any()):
                self._predict(answers, rows[0])
                if is_new:
                    self._visit(*rows)
            else:
                labels = rows[1] if some is None else np.where(some, rows[1], self.model.classes[0])
                self._learn_known(answers, rows[0], labels, rows[2], interrupts)
            if interrupts:
                break
        return answers

    def _parts(self, y: Labels, are_labelled: NDArray[np.bool_] | None) -> Iterator[tuple[int, int, bool]]:
        """Yield the start and the stop of each part of the rows, and whether it is the first row of a new class."""
        places = np.arange(len(y)) if are_labelled is None else np.flatnonzero(are_labelled)
        known = y[:0] if self.model is None else self.model.classes
        classes, first = np.unique(y[places], return_index=True)
        check_label_types(known, classes)
        is_new = ~np.isin(classes, known)
        start = 0
        for place in sorted(places[first[is_new]].tolist()):
            if place > start:
                yield start, place, False
            yield place, place + 1, True
            start = place + 1
        if start < len(y):
            yield start, len(y), False

    def _widened(self, X: Features) -> Features:
        """Return rows with all columns of the model, which gets the new columns of the rows."""
        if self.model is None:
            return X
        width = self.model.state.n_features
        if is_sparse(X):
            X = pad_columns(sp.csr_array(X), width)
        elif X.shape[1] < width:
            X = np.pad(X, ((0, 0), (0, width - X.shape[1])))
        if X.shape[1] > width:
            self.options.check_may_widen()
            self.model.state.widen(X.shape[1])
        return X

    def _learn_known(
        self, answers: Answers, X: Features, y: Labels, weight: Floats | None, interrupts: Collection[object]
    ) -> None:
        """Predict rows and learn from them; their classes are known."""
        model, runner = self.model, self._runner
        assert model is not None
        if len(model.classes) == 1:
            self._predict(answers, X)
            self._visit(X, y, weight)
        elif runner is not None and runner.can_predict(model.state):
            runner.is_predicting = True
            try:
                self._visit(X, y, weight)
            finally:
                runner.is_predicting = False
            answers.add(model, runner.numbers, runner.scores)
        else:
            for i in range(len(y)):
                row = slice(i, i + 1)
                self._predict(answers, X[row])
                self._visit(X[row], y[row], None if weight is None else weight[row])
                if interrupts:
                    break

    def _predict(self, answers: Answers, X: Features) -> None:
        """Predict rows without learning."""
        model, n = self.model, X.shape[0]
        if model is None or len(model.classes) == 1:
            answers.add(model, np.zeros(n, np.int64), None)
            return
        for i in range(n):
            number, scores = _exact_answer(model.state, self.options.hypothesis, X[i : i + 1])
            answers.add(model, np.array([number]), scores[None])

    def _visit(self, X: Features, y: Labels, weight: Floats | None) -> None:
        """Learn from rows; the rows of all calls form one pass."""
        run = self._run
        batch = labelled_batch(X, y, weight, known=None if run is None else run.classes)
        if run is None:
            start = None if self.model is None else WarmStart(self.model.state, self.model.classes)
            run = online_run(batch, self.options, start, runner=self._runner)
        run.visit(batch, continues=self._run is not None)
        if self.model is None:
            self.model = TrainedModel(self.learner, self.options, run.classes, run.state)
        if len(run.classes) != len(self.model.classes):
            self.model.calibration = None  # it has no probability for the new class
        self.model.state, self.model.classes, self._run = run.state, run.classes, run


class RunningScores:
    """The rows and mistakes of a stream, and the precision and recall of each class: in all, and in a window.

    Parameters
    ----------
    window : int
        The number of the last rows that make up the window.

    Examples
    --------
    >>> scores = RunningScores(window=2)
    >>> scores.add(["ham", "ham", "spam"], ["ham", "spam", "spam"])
    >>> scores.mistakes, scores.recent_error
    (1, 0.5)
    >>> scores.by_class()["spam"]
    {'rows': 1, 'precision': 0.5, 'recall': 1.0, 'recent_precision': 0.5, 'recent_recall': 1.0}
    """

    def __init__(self, window: int = 1000) -> None:
        self.window = window
        self._pairs: Counter[tuple[Any, Any]] = Counter()
        """The number of rows by the pair of their label and their predicted label."""
        self._recent: deque[tuple[Any, Any]] = deque(maxlen=window)

    def add(self, labels: Iterable[Any], predicted: Iterable[Any]) -> None:
        """Count rows with their labels and their predicted labels."""
        pairs = list(zip(labels, predicted, strict=True))
        self._pairs.update(pairs)
        self._recent.extend(pairs)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._pairs.total()

    @property
    def mistakes(self) -> int:
        """The number of mistakes."""
        return _mistakes(self._pairs)

    @property
    def recent_error(self) -> float:
        """The fraction of mistakes in the window."""
        return _mistakes(Counter(self._recent)) / max(1, len(self._recent))

    def by_class(self) -> dict[Any, dict[str, float | None]]:
        """Return the number of rows of each class, and its precision and recall; None where nothing was counted."""
        everything, recent = _by_class(self._pairs), _by_class(Counter(self._recent))
        found: dict[Any, dict[str, float | None]] = {}
        for label in sorted(everything):
            rows, precision, recall = everything[label]
            _, recent_precision, recent_recall = recent.get(label, (0, None, None))
            found[label] = {
                "rows": rows,
                "precision": precision,
                "recall": recall,
                "recent_precision": recent_precision,
                "recent_recall": recent_recall,
            }
        return found

    def to_plain(self) -> dict[str, Any]:
        """Return the counts as data for JSON."""
        return {"pairs": [[*pair, n] for pair, n in self._pairs.items()], "recent": list(map(list, self._recent))}

    def restore(self, plain: dict[str, Any]) -> None:
        """Restore the counts that `to_plain` returned."""
        self._pairs = Counter({(label, predicted): n for label, predicted, n in plain["pairs"]})
        self._recent = deque(((label, predicted) for label, predicted in plain["recent"]), maxlen=self.window)


def _mistakes(pairs: Counter[tuple[Any, Any]]) -> int:
    return sum(n for (label, predicted), n in pairs.items() if label != predicted)


def _by_class(pairs: Counter[tuple[Any, Any]]) -> dict[Any, tuple[int, float | None, float | None]]:
    """Return the number of rows, the precision and the recall of each class."""
    rows, answers, right = Counter[Any](), Counter[Any](), Counter[Any]()
    for (label, predicted), n in pairs.items():
        rows[label] += n
        answers[predicted] += n
        right[label] += n if label == predicted else 0
    return {
        label: (
            rows[label],
            right[label] / answers[label] if answers[label] else None,
            right[label] / rows[label] if rows[label] else None,
        )
        for label in {*rows, *answers} - {None}
    }
