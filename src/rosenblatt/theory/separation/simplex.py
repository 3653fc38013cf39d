"""Farkas's alternative decided by the simplex method in integers: slow, and always right.

Either some mu >= 0 has A' mu = target, or some y has A y >= 0 and target . y < 0, and never both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.separation.numbers import primitive

_PATIENCE = 20  # steps without progress after which Bland's rule, which cannot cycle, takes over


@dataclass(frozen=True)
class Combination:
    """The rows with these positive integer weights add up to a positive multiple of the target."""

    rows: NDArray[np.intp]
    weights: Numbers


@dataclass(frozen=True)
class Ray:
    """Integers y with A y >= 0 and target . y < 0."""

    y: Numbers


def farkas(A: Numbers, target: Numbers) -> Combination | Ray:
    """Decide Farkas's alternative for integers, exactly.

    The first phase of the simplex method. The inverse of the basis is kept as integers over their common
    determinant, so that every division is exact (Edmonds, Bareiss).

    >>> farkas(np.array([[1, 0], [1, 1]], dtype=object), np.array([3, 2], dtype=object)).weights.tolist()
    [1, 2]
    >>> farkas(np.array([[1, 0], [1, 1]], dtype=object), np.array([1, 2], dtype=object)).y.tolist()
    [1, -1]
    """
    flip = np.array([-1 if value < 0 else 1 for value in target], dtype=object)
    A, x = A * flip, target * flip
    k = len(x)
    T, below = np.eye(k, dtype=int).astype(object), 1
    basis = [j - k for j in range(k)]  # below 0: artificial
    stalled = 0
    while True:
        artificial = [r for r in range(k) if basis[r] < 0]
        if not any(x[r] for r in artificial):
            rows = [r for r in range(k) if basis[r] >= 0 and x[r] > 0]
            order = sorted(rows, key=lambda r: basis[r])
            return Combination(np.array([basis[r] for r in order], dtype=np.intp), primitive([x[r] for r in order]))
        y = T[artificial].sum(axis=0)
        gains = A @ y if len(A) else np.zeros(0, dtype=object)
        better = [i for i in range(len(gains)) if gains[i] > 0]
        if not better:
            return Ray(primitive(-y * flip))
        i = better[0] if stalled > _PATIENCE else max(better, key=lambda i: gains[i])
        u = T @ A[i]
        leaving = None
        for r in (r for r in range(k) if u[r] > 0):
            if leaving is None:
                leaving = r
                continue
            left, right = x[r] * u[leaving], x[leaving] * u[r]
            if left < right or (left == right and basis[r] < basis[leaving]):
                leaving = r
        assert leaving is not None  # the sum of the artificials cannot fall below 0
        stalled = stalled + 1 if x[leaving] == 0 else 0
        pivot, line, value = u[leaving], T[leaving].copy(), x[leaving]
        T = (T * pivot - np.multiply.outer(u, line)) // below
        x = (x * pivot - u * value) // below
        T[leaving], x[leaving] = line, value
        basis[leaving], below = i, pivot
