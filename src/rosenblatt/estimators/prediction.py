"""What a trained perceptron answers, and what it says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt.estimators.array_inputs import like_input
from rosenblatt.estimators.foreign_parameters import OwnParameters
from rosenblatt.estimators.notebook_view import NotebookView
from rosenblatt.estimators.stream_inputs import refuse_stream
from rosenblatt.estimators.unavailable import never
from rosenblatt.estimators.validation import validate_matrix
from rosenblatt.training.early_stopping import EarlyStoppingFacts, early_stopping_facts
from rosenblatt.training.labels import Labels
from rosenblatt.training.model import EarlyStoppingState, history
from rosenblatt.training.report import Report, report
from rosenblatt.training.rows import RowMatrix, as_rows
from rosenblatt.training.scoring import decision_scores, predicted_classes, weights

Floats = NDArray[np.float64]


class ExactClassifier(NotebookView, ClassifierMixin, OwnParameters, BaseEstimator):
    """A classifier whose decisions are exact; a subclass says what the scores and the winning classes of rows are."""

    classes_: Labels

    def _scores(self, rows: RowMatrix) -> Floats:
        """Return the score of each row for each classifier."""
        raise NotImplementedError

    def _decisions(self, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the class number of each row, and whether it is tied."""
        raise NotImplementedError

    def _rows(self, X: Any) -> RowMatrix:
        refuse_stream(X, "predict", self)
        check_is_fitted(self)
        return as_rows(validate_matrix(self, X, reset=False))

    def predict(self, X: Any) -> Labels:
        """Return the class of each row. On the boundary, where no class is right, it is the first of those tied."""
        numbers, _ = self._decisions(self._rows(X))
        return like_input(self.classes_[numbers], X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted, each counted with its weight if there are weights."""
        refuse_stream(X, "score", self)
        if y is None:
            raise TypeError("score compares predictions with labels, got none: use score(X, y).")
        return float(super().score(X, y, sample_weight))

    predict_proba = never(
        "a perceptron has no probabilities: wrap it in sklearn.calibration.CalibratedClassifierCV, which makes them of "
        "decision_function."
    )

    def on_boundary(self, X: Any) -> NDArray[np.bool_]:
        """Return, for each row, whether it lies exactly on the boundary, so that its label is undefined."""
        return self._decisions(self._rows(X))[1]

    def decision_function(self, X: Any) -> Floats:
        """Return the activation of each row, for each class if there are more than two; signs are exact.

        For votes it is the share of all visits by which those in favour outnumber those against. Where two
        classes are within rounding of each other, ``predict`` compares them exactly and these numbers may not.
        """
        scores = self._scores(self._rows(X))
        return like_input(scores[:, 0] if scores.shape[1] == 1 else scores, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class TrainedClassifier(ExactClassifier):
    """A classifier whose knowledge is the state of a training run: predictions, history, report."""

    hypothesis: str
    state_: Any
    _early_stopping_state: EarlyStoppingState | None = None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "state_")

    @property
    def _trained(self) -> Any:
        """The state, or scikit-learn's error if there is none yet."""
        check_is_fitted(self)
        return self.state_

    def _scores(self, rows: RowMatrix) -> Floats:
        return decision_scores(self.state_, self.hypothesis, rows)

    def _decisions(self, rows: RowMatrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if len(self.classes_) == 1:
            return np.zeros(rows.n, np.int64), np.zeros(rows.n, bool)
        return predicted_classes(self.state_, self.hypothesis, rows)

    @property
    def n_iter_(self) -> int:
        """Passes made in all; each call of ``partial_fit`` counts as one."""
        return self._trained.passes

    @property
    def n_updates_(self) -> int:
        """Updates made in all, over all classifiers."""
        return int(sum(np.maximum(counts, 0).sum() for counts in self._trained.updates_by_pass))

    @property
    def seed_(self) -> int:
        """What the visiting orders are drawn from."""
        return self._trained.seed

    @property
    def converged_(self) -> bool:
        """Whether each classifier made a whole pass without a mistake."""
        return bool(self._trained.done.all())

    @property
    def history_(self) -> NDArray[np.void]:
        """For each pass the ``mistakes`` made during it, and the ``validation_error`` after it if there is one.

        Where an interrupt cut the last pass short, there is the ``share`` of the rows that each pass visited too: 1 for
        the others, and NaN where it is not known.
        """
        return history(self._trained)

    @property
    def report_(self) -> Report:
        """What the run proves about the data: see `Report`."""
        return report(self._trained, self.classes_, self._early_stopping)

    def _found_html(self) -> str:
        return self.report_._repr_html_() if hasattr(self, "state_") else ""

    @property
    def best_iter_(self) -> int:
        """The pass whose weights are kept, counted as ``n_iter_`` counts; the last one without early stopping."""
        facts = self._early_stopping
        return self._trained.passes if facts is None else facts.best_pass

    @property
    def _early_stopping(self) -> EarlyStoppingFacts | None:
        """What early stopping held out and kept, None where no rows were held out."""
        kept = self._early_stopping_state
        return early_stopping_facts(self._trained, kept and kept[1])


class LinearWeights:
    """The weights of a trained linear learner, by hypothesis."""

    hypothesis: str
    _trained: Any

    @property
    def coef_(self) -> Floats:
        """The weights that predict, one line a class (one line in all for two classes)."""
        return self._weights(self.hypothesis)[0]

    @property
    def intercept_(self) -> Floats:
        """The bias that predicts, one a class (one in all for two classes)."""
        return self._weights(self.hypothesis)[1]

    @property
    def last_coef_(self) -> Floats:
        """The weights after the last visit."""
        return self._weights("last")[0]

    @property
    def last_intercept_(self) -> Floats:
        """The bias after the last visit."""
        return self._weights("last")[1]

    @property
    def average_coef_(self) -> Floats:
        """The mean of the weights after each visit."""
        return self._weights("average")[0]

    @property
    def average_intercept_(self) -> Floats:
        """The mean of the bias after each visit."""
        return self._weights("average")[1]

    def _weights(self, hypothesis: str) -> tuple[Floats, Floats]:
        if hypothesis == "vote":
            raise AttributeError(
                "a vote is cast by many weight vectors, so there is no single coef_ or intercept_: "
                "use average_coef_ or last_coef_."
            )
        state = self._trained
        try:
            w, b = weights(state, hypothesis)
        except ValueError as not_kept:
            raise AttributeError(str(not_kept)) from not_kept
        return w.copy(), b.copy()
