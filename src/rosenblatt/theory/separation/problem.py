"""The rows of a logistic regression as statements about its coefficients: z . b > 0 for every pair of classes.

An observation with the columns x and the class y is predicted with certainty along b when x . b_y exceeds x . b_l for
every other class l. So there is a row z for each observation and each class l that it does not have: x in the block of
y, less x in the block of l, without the block of the first class, which is the baseline. With two classes it is x or
-x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.parameters import check_boolean, shorten
from rosenblatt.theory.given_numbers import exact_numbers, refuse_masked
from rosenblatt.theory.inputs import Floats, Numbers, check_labels
from rosenblatt.theory.separation.design import read_design
from rosenblatt.theory.separation.numbers import exact_scores, float_scores

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """Observations: columns ``X``, the index of the class ``own``, and the number of the data row each comes from."""

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    X: Floats
    own: Indices
    rows: Indices

    @property
    def blocks(self) -> int:
        """How many classes there are besides the baseline."""
        return len(self.classes) - 1

    def with_columns(self, columns: Sequence[int]) -> Problem:
        """Return the problem with some of its columns."""
        names = tuple(self.names[j] for j in columns)
        X = self.X if len(columns) == self.X.shape[1] else np.ascontiguousarray(self.X[:, list(columns)])
        return Problem(names, self.classes, X, self.own, self.rows)

    def with_observations(self, which: Indices) -> Problem:
        """Return the problem of some of its observations."""
        return Problem(self.names, self.classes, self.X[which], self.own[which], self.rows[which])

    def others(self) -> Indices:
        """Return the classes that each observation does not have, in order: those of its rows z."""
        every = np.broadcast_to(np.arange(len(self.classes)), (len(self.own), len(self.classes)))
        return every[every != self.own[:, None]].reshape(len(self.own), self.blocks)

    def margins(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return z . b for the rows z of each observation, from the scores x . b of each class but the baseline."""
        every = np.column_stack([np.zeros(len(scores), dtype=scores.dtype), scores])
        lead = every[np.arange(len(scores)), self.own][:, None] - every
        kept = np.arange(len(self.classes)) != self.own[:, None]
        return lead[kept].reshape(len(scores), self.blocks)

    def signs(self, b: Numbers) -> NDArray[np.int8]:
        """Return the sign of z . b for the rows z of each observation, exactly; ``b`` are integers, class by class."""
        D = b.reshape(self.blocks, -1).T
        near, error = float_scores(self.X, D)
        with np.errstate(all="ignore"):
            lead = self.margins(near)
            off = np.max(error, axis=1, initial=0.0)[:, None] * 2.01
            found = np.where(np.abs(lead) > off, np.sign(lead), np.nan)
        doubtful = np.flatnonzero(np.isnan(found).any(axis=1))
        if len(doubtful):
            part = self.with_observations(doubtful)
            exact = part.margins(exact_scores(part.X, D))
            found[doubtful] = (exact > 0).astype(np.float64) - (exact < 0)
        return found.astype(np.int8)

    def row_vectors(self, observations: Indices, other: Indices) -> Floats:
        """Return the rows z of some observations and classes that they do not have, as floats, which is exact."""
        return blocks_of(self.X[observations], self.own[observations], other, self.blocks)


def blocks_of(x: NDArray[Any], own: Indices, other: Indices, blocks: int) -> NDArray[Any]:
    """Return the rows z: x in the block of the class ``own``, less x in that of ``other``; class 0 has no block."""
    p = x.shape[1]
    z = np.zeros((len(x), (blocks + 1) * p), dtype=x.dtype)
    for k in range(blocks + 1):
        z[own == k, k * p : (k + 1) * p] = x[own == k]
        z[other == k, k * p : (k + 1) * p] = -x[other == k]
    return z[:, p:]


def read_problem(X: Any, y: ArrayLike, fit_intercept: bool, sample_weight: ArrayLike | None) -> Problem:
    """Return the observations of a logistic regression; rows of weight zero are left out."""
    check_boolean("fit_intercept", fit_intercept)
    names, columns = read_design(X, fit_intercept)
    n = len(columns)
    weighty = _read_weights(sample_weight, n)
    refuse_masked(y, "y")
    if np.shape(y) == (n, 2):
        own, rows = _read_counts(y, weighty)
        classes: tuple[Any, ...] = (0, 1)
    else:
        labels = check_labels(y, n)
        rows = np.flatnonzero(weighty)
        found, own = np.unique(labels[rows], return_inverse=True)
        classes = tuple(found.tolist())
        if len(classes) < 2:
            raise ValueError(
                f"expected at least two classes among the rows with weight, got {len(classes)}: "
                "a logistic regression has nothing to tell apart."
            )
    whole = len(rows) == n and np.array_equal(rows, np.arange(n))
    return Problem(names, classes, columns if whole else columns[rows], own.ravel().astype(np.intp), rows)


def _read_weights(sample_weight: Any, n: int) -> NDArray[np.bool_]:
    """Return which rows have a positive weight, as decided on the exact numbers."""
    if sample_weight is None:
        return np.ones(n, dtype=bool)
    refuse_masked(sample_weight, "sample_weight")
    weights = _numbers(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"expected one weight for each of the {n} rows, got an array of shape {weights.shape}.")
    fine = _fine(weights)
    if not fine.all():
        raise ValueError(f"sample_weight must be finite and not negative, got {shorten(weights[~fine].tolist()[0])}.")
    return np.asarray(weights > 0, dtype=bool)


def _numbers(values: Any, name: str) -> NDArray[Any]:
    """Return numbers whose signs are those of the exact values, which float64 might round to 0."""
    array = np.asarray(values)
    return array if array.dtype.kind in "biuf" else exact_numbers(values, name)


def _fine(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are finite and not negative."""
    return np.asarray((values >= 0) & (values < np.inf), dtype=bool)


def _read_counts(given: Any, weighty: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Return the classes (1 a success, 0 a failure) and the rows of the observations behind binomial counts."""
    try:
        counts = _numbers(given, "y")
    except ValueError:
        counts = np.array([np.nan])
    if not _fine(counts).all():
        raise ValueError(
            "a y of two columns counts successes and failures: expected finite numbers that are not negative."
        )
    rows, which = np.nonzero(np.asarray(counts > 0, dtype=bool) & weighty[:, None])
    if len(rows) == 0:
        raise ValueError("expected at least one success or failure of positive weight, got none.")
    return 1 - which, rows
