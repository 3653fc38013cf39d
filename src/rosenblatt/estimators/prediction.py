"""What a trained perceptron answers and what it says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt.estimators.validation import checked_matrix
from rosenblatt.training.report import Report, report
from rosenblatt.training.rows import as_rows
from rosenblatt.training.scoring import answers, chosen_classes, weights
from rosenblatt.training.state import Machines


class Learned(ClassifierMixin, BaseEstimator):
    """A classifier whose knowledge is a set of linear machines: predictions, weights, history, report."""

    hypothesis: str
    machines_: Machines
    classes_: np.ndarray

    @property
    def _learned(self) -> Machines:
        """The machines, or scikit-learn's error if there are none yet."""
        check_is_fitted(self)
        return self.machines_

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row. On the boundary, where no class is right, it is the first of those tied."""
        numbers, _ = self._decide(X)
        return self.classes_[numbers]

    def on_boundary(self, X: Any) -> np.ndarray:
        """Return, for each row, whether it lies exactly on the boundary, so that its label is undefined."""
        return self._decide(X)[1]

    def _decide(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        machines = self._learned
        rows = as_rows(checked_matrix(self, X, reset=False))
        numbers, tied = chosen_classes(machines, self.hypothesis, rows)
        if len(self.classes_) == 1:
            return np.zeros(rows.n, np.int64), np.zeros(rows.n, bool)
        return numbers, tied

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the activation of each row, for each class if there are more than two; signs are exact.

        For votes it is the share of all visits by which those in favour outnumber those against. Where two
        classes are within rounding of each other, ``predict`` compares them exactly and these numbers may not.
        """
        machines = self._learned
        rows = as_rows(checked_matrix(self, X, reset=False))
        scores = answers(machines, self.hypothesis, rows)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def coef_(self) -> np.ndarray:
        """The weights that predict, one line a class (one line in all for two classes)."""
        return self._weights(self.hypothesis)[0]

    @property
    def intercept_(self) -> np.ndarray:
        """The bias that predicts, one a class (one in all for two classes)."""
        return self._weights(self.hypothesis)[1]

    @property
    def last_coef_(self) -> np.ndarray:
        """The weights after the last visit."""
        return self._weights("last")[0]

    @property
    def last_intercept_(self) -> np.ndarray:
        """The bias after the last visit."""
        return self._weights("last")[1]

    @property
    def average_coef_(self) -> np.ndarray:
        """The mean of the weights after each visit."""
        return self._weights("average")[0]

    @property
    def average_intercept_(self) -> np.ndarray:
        """The mean of the bias after each visit."""
        return self._weights("average")[1]

    def _weights(self, hypothesis: str) -> tuple[np.ndarray, np.ndarray]:
        if hypothesis == "vote":
            raise AttributeError(
                "a vote is cast by many weight vectors, so there is no single coef_ or intercept_: "
                "use average_coef_ or last_coef_."
            )
        machines = self._learned
        try:
            w, b = weights(machines, hypothesis)
        except ValueError as not_kept:
            raise AttributeError(str(not_kept)) from not_kept
        return w.copy(), b.copy()

    @property
    def n_iter_(self) -> int:
        """Passes made in all; each call of ``partial_fit`` counts as one."""
        return self._learned.passes

    @property
    def n_updates_(self) -> int:
        """Updates made in all, over all machines."""
        return int(self.history_["mistakes"].sum())

    @property
    def seed_(self) -> int:
        """What the visiting orders are drawn from."""
        return self._learned.seed

    @property
    def converged_(self) -> bool:
        """Whether each machine made a whole pass without a mistake."""
        return bool(self._learned.done.all())

    @property
    def history_(self) -> np.ndarray:
        """For each pass the ``mistakes`` made during it, and the ``validation_error`` after it if there is one."""
        machines = self._learned
        mistakes = [int(np.maximum(counts, 0).sum()) for counts in machines.mistakes]
        if not machines.validation_error:
            return np.array([(count,) for count in mistakes], dtype=[("mistakes", "i8")])
        errors = [np.nan] * (len(mistakes) - len(machines.validation_error)) + machines.validation_error
        kind = [("mistakes", "i8"), ("validation_error", "f8")]
        return np.array(list(zip(mistakes, errors, strict=True)), dtype=kind)

    @property
    def report_(self) -> Report:
        """What the run proves about the data: see `Report`."""
        return report(self._learned, self.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
