"""Weights in the space of the features, where the kernel is a dot product but for a constant: the primal road."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.training.dual.arrays import Array
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.dual.table import KernelTable
from rosenblatt.training.dual.values import Floats, KernelValues

Integers = NDArray[np.int64]


class PrimalWeights:
    """The sum of steps times rows, and of steps, for a kernel ``gamma x . z + coef0``, in float64."""

    def __init__(self, values: KernelValues, state: DualState) -> None:
        self.gamma, self.coef0, _ = values.kernel.polynomial or (1.0, 0.0, 1)
        self._library = values.library
        coefficients = state.coefficients("last")
        supports = state.support_matrix()
        weights = np.zeros((state.width, state.n_scores))
        if len(state.supports):
            with np.errstate(over="ignore", invalid="ignore"):
                weights = np.asarray(supports.T.astype(np.float64) @ coefficients.T)
        self._weights: Array = self._library.put(weights)
        self._sums = coefficients.sum(axis=1)

    def scores(self, table: KernelTable, rows: Integers, columns: Integers) -> Array:
        """Return the scores of rows for the classifiers ``columns``."""
        library = self._library
        X = self._part(table, rows)
        places = library.put(columns)
        W = self._weights if len(columns) == self._weights.shape[1] else library.xp.take(self._weights, places, axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            return (X @ W) * self.gamma + library.put(self.coef0 * self._sums[columns][None, :])

    def add(self, table: KernelTable, rows: Integers, changes: Floats) -> None:
        """Add steps (rows, scores) times rows."""
        X = self._part(table, rows)
        with np.errstate(over="ignore", invalid="ignore"):
            self._weights = self._weights + X.T @ self._library.put(changes)
            self._sums = self._sums + changes.sum(axis=0)

    def _part(self, table: KernelTable, rows: Integers) -> Any:
        """Return rows of the table in float64, as wide as the weights."""
        X = table.some_rows(rows).matrix
        if sp.issparse(X):
            return X
        return self._library.astype(X, "float64")
