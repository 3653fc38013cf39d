"""Wolfe's algorithm in exact arithmetic, to decide what floating point leaves open.

Rows are taken as integers in a common unit, so nothing is rounded and every step is a fact about the numbers as
stored. The search starts from the corral that floating point ended with, so it is short, and it always ends: each
corral gives a strictly shorter mean. Either some corral holds the origin, and its weights prove that nothing separates
(Gordan), or its mean is a separator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.inputs import Floats, Matrix, Signs, entries
from rosenblatt.theory.integers import near_floats, proportional_integers

MOST_WORK = 1 << 28  # what a search may cost, in products of words: a minute or two

BLOCK = 1 << 20


class ExactRows(Protocol):
    """Rows of integers, which floats are near to."""

    width: int  # the number of columns

    @property
    def bits(self) -> int:
        """The most bits of a number."""

    def __getitem__(self, i: int) -> list[int]:
        """Return row i."""

    def near(self, v: Floats) -> tuple[Floats, Floats]:
        """Return ``z . v`` for every row, in some common unit, and how far each may be off."""


class IntegerRows:
    """The rows z = y (x, 1), or z = y x without a bias, as integers in the largest unit that allows it."""

    def __init__(self, X: Matrix, signs: Signs, bias: bool) -> None:
        self.X, self.signs, self.bias = X, signs, bias
        self.low, self.high = _places(entries(X).reshape(-1))
        if bias:
            self.low, self.high = min(self.low, 0), max(self.high, 1)
        self.width, self.bits = X.shape[1] + bias, max(1, self.high - self.low)
        self._known: dict[int, list[int]] = {}

    def __getitem__(self, i: int) -> list[int]:
        if i not in self._known:
            x = self.X[[i]].toarray()[0] if sp.issparse(self.X) else self.X[i]
            sign = int(self.signs[i])
            row = [sign * _in_units(value, self.low) for value in x.tolist()]
            self._known[i] = [*row, sign << -self.low] if self.bias else row
        return self._known[i]

    def near(self, v: Floats) -> tuple[Floats, Floats]:
        """Return ``z . v`` for every row, and how far each may be off."""
        d = self.X.shape[1]
        s = self.X @ v[:d]
        spread = abs(self.X) @ (np.abs(v[:d]) + TINY)  # so that what vanished in v counts too
        if self.bias:
            s, spread = s + v[d], spread + abs(v[d])
        return self.signs * s, 1.01 * ((d + 6) * HALF_ULP * spread + 2.0**-1000)


def exact_search(
    rows: ExactRows,
    start: Iterable[int],
    most_work: float = MOST_WORK,
    watch: Callable[[int, float], bool | None] | None = None,
) -> tuple[list[int], None] | tuple[list[int], list[int]] | None:
    """Return ``(v, None)`` with v . z > 0 for all rows z, or ``(numbers, weights)`` of rows that add up to zero.

    All numbers are integers, and the rows that add up to zero are affinely independent, so at most one more than there
    are columns. ``start`` are rows to begin with. None where it would be too much work. ``watch`` is called before
    each step with the number of rows in use and the share of the allowed work that is done; True ends the search.
    """
    keys = list(dict.fromkeys(int(i) for i in start)) or [0]
    shares = [Fraction(1, len(keys))] * len(keys)
    work = 0
    while True:
        if watch and watch(len(keys), work / most_work):
            return None
        work += len(keys) ** 4 * rows.bits // 64  # the numbers grow with the points
        if work > most_work:
            return None
        target = _nearest([rows[i] for i in keys])
        if target is None:  # affinely dependent: the last is not needed
            keys, shares = keys[:-1], [Fraction(1, len(keys) - 1)] * (len(keys) - 1)
        elif min(target) <= 0:
            keys, shares = _toward(keys, shares, target)
        else:
            whole = proportional_integers(target)
            v = [sum(share * rows[i][j] for share, i in zip(whole, keys, strict=True)) for j in range(rows.width)]
            if not any(v):
                return keys, whole
            i, score = _lowest(rows, v)
            if score > 0:
                return v, None
            keys, shares = [*keys, i], [*target, Fraction(0)]


def _toward(keys: list[int], shares: list[Fraction], target: list[Fraction]) -> tuple[list[int], list[Fraction]]:
    """Move from ``shares`` toward ``target`` until the first weight is gone, and drop what has none."""
    way = min(s / (s - t) if s else s for s, t in zip(shares, target, strict=True) if t <= 0)
    shares = [(1 - way) * s + way * t for s, t in zip(shares, target, strict=True)]
    kept = [k for k, share in enumerate(shares) if share > 0]
    return [keys[k] for k in kept], [shares[k] for k in kept]


def _nearest(points: list[list[int]]) -> list[Fraction] | None:
    """Return the weights of the affine hull's point nearest to the origin; None where the points are dependent.

    They are in proportion to the solution of (P P' + 1 1') a = 1, which is found by Bareiss's elimination: only
    integers, and every division is exact. The matrix is positive definite, so no pivot is zero unless the
    points are affinely dependent.
    """
    P = np.array(points, dtype=object).reshape(len(points), -1)
    size = len(points)
    M = np.empty((size, size + 1), dtype=object)
    M[:, :size] = P @ P.T + 1
    M[:, size] = 1
    previous = 1
    for k in range(size):
        pivot = M[k, k]
        if pivot == 0:
            return None
        M[k + 1 :, k + 1 :] = (
            M[k + 1 :, k + 1 :] * pivot - np.multiply.outer(M[k + 1 :, k], M[k, k + 1 :])
        ) // previous
        previous = pivot
    a = [0] * size  # the solution times the determinant
    for i in range(size - 1, -1, -1):
        rest = M[i, size] * previous - sum(M[i, j] * a[j] for j in range(i + 1, size))
        a[i] = rest // M[i, i]
    total = sum(a)
    return [Fraction(value, total) for value in a]


def _lowest(rows: ExactRows, v: list[int]) -> tuple[int, int]:
    """Return the row of least score v . z and that score: floats leave few rows in doubt, which are done exactly."""
    with np.errstate(all="ignore"):
        s, error = rows.near(np.array(near_floats(v)))
        in_doubt = np.flatnonzero(~(s - error > np.min(s + error)))
    score, i = min((sum(a * b for a, b in zip(v, rows[i], strict=True)), i) for i in in_doubt.tolist())
    return i, score


def _places(values: Floats) -> tuple[int, int]:
    """Return the place of the lowest bit that is set in any of the numbers, and of the one above the highest."""
    low, high = 10_000, -10_000
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        parts, exponents = np.frexp(block[block != 0])
        mantissas = np.abs(parts * 2.0**53).astype(np.int64)
        lowest = np.frexp((mantissas & -mantissas).astype(np.float64))[1] - 1
        low = min(low, int(np.min(exponents - 53 + lowest, initial=low)))
        high = max(high, int(np.max(exponents, initial=high)))
    return (low, high) if low < high else (0, 1)


def _in_units(value: float, place: int) -> int:
    """Return ``value / 2**place``, an integer."""
    above, below = value.as_integer_ratio()
    return (above << -place) // below if place < 0 else above // (below << place)
