"""Columns far from zero moved near it, exactly: another choice of the intercept, and the same question.

In 1e8 + u only the last digits tell rows apart, and floating point loses them. Where m is near the column x - m is
exact, and b_0 + x b_1 is (b_0 + m b_1) + (x - m) b_1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.theory.inputs import Floats, Numbers
from rosenblatt.theory.separation.problem import Problem

_FAR = 16.0  # columns are moved whose middle is so many times farther from zero than from their ends


@dataclass(frozen=True)
class Shift:
    """A problem with columns moved by ``by``, where vectors for one problem are turned into vectors for the other."""

    problem: Problem
    by: Floats

    def into(self, vectors: Numbers) -> Numbers:
        """Return vectors, one a column, for the moved columns, times a positive integer common to all."""
        return self._moved(vectors, 1)

    def back(self, vectors: Numbers) -> Numbers:
        """Return vectors, one a column, for the columns as they were, times a positive integer common to all."""
        return self._moved(vectors, -1)

    def coefficient(self, j: int) -> Floats:
        """Return the coefficient j of the columns as they were, as a linear function of those of the moved columns."""
        p = len(self.by)
        values = np.zeros(p * self.problem.blocks)
        if j % p == 0:
            values[j : j + p] = -self.by
        values[j] += 1.0
        return values

    def _moved(self, vectors: Numbers, sign: int) -> Numbers:
        if not self.by.any():
            return vectors
        ratios = [value.as_integer_ratio() for value in self.by.tolist()]
        unit = max(below for _, below in ratios)
        by = np.array([sign * above * (unit // below) for above, below in ratios], dtype=object)
        result = vectors * unit
        p = len(by)
        for start in range(0, len(vectors), p):
            result[start] = result[start] + by @ vectors[start : start + p]
        return result


def shifted(problem: Problem) -> Shift:
    """Return the problem with the columns moved that are far from zero, if the first column is a constant 1."""
    X = problem.X
    by = np.zeros(X.shape[1])
    if X.shape[1] < 2 or not (X[:, 0] == 1).all():
        return Shift(problem, by)
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(all="ignore"):
        middle = low / 2 + high / 2
        far = np.flatnonzero((np.abs(middle) > _FAR * (high - low)) & np.isfinite(middle) & (high > low))
    if len(far) == 0:
        return Shift(problem, by)
    moved = X.copy()
    for j in far.tolist():
        by[j] = X[np.argmin(np.abs(X[:, j] - middle[j])), j]
        moved[:, j] -= by[j]  # within a factor of two of each other, so that nothing is rounded (Sterbenz)
    return Shift(Problem(problem.names, problem.classes, moved, problem.own, problem.rows), by)
