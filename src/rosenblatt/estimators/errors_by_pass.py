"""The errors of a model after each pass of its training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.estimators.array_inputs import as_numpy
from rosenblatt.training.labels import Labels
from rosenblatt.training.rows import RowMatrix

if TYPE_CHECKING:
    from rosenblatt.estimators.engine import EngineLearner


class ErrorsByPass:
    """Collects, pass by pass, the mistakes made and the share of given rows that are predicted wrongly afterwards.

    Parameters
    ----------
    given : dict
        The rows and labels to predict, by the name of the column that gets their error.
    """

    def __init__(self, given: dict[str, tuple[Any, Any]]) -> None:
        self.columns: dict[str, list[Any]] = {"pass": [], "mistakes": [], **{name: [] for name in given}}
        self._given = given
        self._checked: dict[str, tuple[RowMatrix, Labels]] = {}

    def add(self, model: EngineLearner) -> None:
        """Add the pass that ``model`` has just made."""
        self.columns["pass"].append(model.n_iter_)
        self.columns["mistakes"].append(int(model.history_["mistakes"][-1]))
        for name, (X, y) in self._given.items():
            if name not in self._checked:
                model.score(X, y)  # it refuses rows and labels that do not fit; once is enough
                self._checked[name] = model._rows(X), np.ravel(as_numpy(y))
            rows, labels = self._checked[name]
            right = model.classes_[model._decisions(rows)[0]] == labels
            self.columns[name].append(1.0 - float(np.mean(right)))
