"""The convex hulls whose nearest point to the origin is the margin, for the three definitions of a margin.

Each row stands for z = y x, or z = y (x, 1) where the bias is a weight like any other. The margin is the distance from
the origin to the hull of

- all rows z: homogeneous without the 1, augmented with it;
- the means (z_i + z_j) / 2 of one row of each class: geometric. These are the halved differences of the two
  classes, so their hull lies at half the distance of the two class hulls, and the bias is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Matrix, Signs

__all__ = ["Hull", "Key", "Vector", "largest_entry", "longest_row"]

Vector: TypeAlias = NDArray[np.float64]
Key: TypeAlias = tuple[int, ...]  # the rows whose mean is a vertex: one of each group

SAFE = 2.0**200  # squares of such numbers neither overflow nor vanish


class Hull:
    """The hull of one kind, for the solver: floats, scaled by a power of two where squares would overflow or vanish.

    ``constant`` is what stands for the 1 in z = y (x, 1); 0 means that there is no such coordinate.
    """

    def __init__(self, X: Matrix, signs: Signs, kind: str, constant: float = 1.0) -> None:
        constant = constant if kind == "augmented" else 0.0
        self.X, exponent = _safe(X, constant)
        self.signs = signs
        self.constant = math.ldexp(constant, -exponent)
        self.size = X.shape[1] + (kind == "augmented")
        both = kind == "geometric"
        self.groups = [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)] if both else [np.arange(len(signs))]
        self.radius = math.hypot(_longest(self.X), self.constant) or 1.0

    def scores(self, u: Vector) -> Vector:
        """Return ``z . u`` for all rows."""
        d = self.X.shape[1]
        s = self.X @ u[:d]
        if self.constant:
            s += self.constant * u[d]
        s *= self.signs
        return s

    def rows(self, which: Any) -> Vector:
        """Return some rows z as a dense matrix."""
        Z = np.zeros((len(which), self.size))
        part = self.X[which]
        Z[:, : self.X.shape[1]] = part.toarray() if sp.issparse(part) else part
        if self.constant:
            Z[:, -1] = self.constant
        Z *= self.signs[which][:, None]
        return Z

    def vertex(self, key: Key) -> Vector:
        """Return the vertex that is the mean of the rows of ``key``."""
        return self.rows(list(key)).sum(axis=0) / len(key)

    def combine(self, shares: Vector) -> Vector:
        """Return the sum of all rows z times ``shares``."""
        signed = self.signs * shares
        return np.append(self.X.T @ signed, self.constant * signed.sum())[: self.size]

    def lowest(self, s: Vector) -> tuple[Key, float]:
        """Return the vertex of least score, where ``s`` are the scores of all rows, and that score."""
        key = tuple(int(group[np.argmin(s[group])]) for group in self.groups)
        return key, sum(float(s[i]) for i in key) / len(key)

    def lowest_rows(self, s: Vector, count: int) -> NDArray[np.intp]:
        """Return the ``count`` rows of least score of each group."""
        parts = []
        for group in self.groups:
            few = min(count, len(group) - 1)
            parts.append(group[np.argpartition(s[group], few)[: few + 1]])
        return np.concatenate(parts)

    def shares(self, keys: Sequence[Key], weights: Vector) -> Vector:
        """Return the weight of each row of the data, of sum 1, from the weights of vertices."""
        alpha = np.zeros(len(self.signs))
        for key, weight in zip(keys, weights, strict=True):
            alpha[list(key)] += weight / len(key)
        return alpha / alpha.sum()


def largest_entry(X: Matrix) -> float:
    """Return the largest absolute value in ``X``, without a copy of it."""
    values = X.data if sp.issparse(X) else X
    return max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))


def longest_row(X: Matrix) -> float:
    """Return the length of the longest row, up to rounding; infinite only where it is above the largest float."""
    X, exponent = _safe(X)
    try:
        return math.ldexp(_longest(X), exponent)
    except OverflowError:
        return math.inf


def _safe(X: Matrix, constant: float = 0.0) -> tuple[Matrix, int]:
    """Return ``X / 2**e`` and e: 0, unless squares of the largest numbers would overflow or vanish."""
    largest = max(largest_entry(X), constant)
    if largest == 0 or 1 / SAFE < largest < SAFE:
        return X, 0
    exponent = math.frexp(largest)[1]
    with np.errstate(under="ignore"):  # in two steps, since 2**-exponent may not be a float
        return X * 2.0 ** -(exponent // 2) * 2.0 ** -(exponent - exponent // 2), exponent


def _longest(X: Matrix) -> float:
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    return math.sqrt(float(np.max(squares, initial=0.0)))
