"""Enclosures: proof that exact positive weights exist under which rows add up to zero, near given floats.

Weights that no float can hold are not written down. Instead some rows, the basis, are named: as many as there are
independent columns on the support. The other weights are taken exactly as stored; those of the basis are then the
solution of a square system, which Krawczyk's test encloses as in Rump's INTLAB: ``|I - R B| < 1`` for an approximate
inverse R.

Columns may be zero on the support, or depend on others, exactly or up to rounding. So steps of elimination come first:
a column is replaced by a multiple of it less multiples of others. That is done exactly, and changes nothing about the
question, because every step can be undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.exact import as_integers, linear_combination, product_with_integers, proportional_floats
from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, as_float

NEARNESS = 1e-6  # how far exact weights may be from those that are given, as a share of the largest
MOST_FACTORS = 32  # of all steps, a column
MOST_BITS = 1 << 12  # of a factor in a step, and of a number in a column


class ColumnStep(NamedTuple):
    """Replace column ``column`` by ``times`` that column less ``factors`` times other ``columns``; all integers."""

    column: int
    times: int
    columns: tuple[int, ...]
    factors: tuple[int, ...]

    def is_sound(self, width: int) -> bool:
        """Return whether the step can be undone, and is about columns that a matrix of this width has."""
        used = {self.column, *self.columns}
        return (
            self.times != 0
            and len(used) == 1 + len(self.columns)
            and len(self.columns) == len(self.factors)
            and 0 <= min(used) <= max(used) < width
            and max(map(abs, (self.times, *self.factors))).bit_length() <= MOST_BITS
        )


@dataclass(frozen=True)
class Basis:
    """What an enclosure needs besides the weights: basis rows, as places in the support, and steps of elimination."""

    rows: tuple[int, ...]
    steps: tuple[ColumnStep, ...] = ()

    def is_sound(self, height: int, width: int) -> bool:
        """Return whether rows and steps are about a matrix of this shape, and no more than a proof needs."""
        return (
            len(set(self.rows)) == len(self.rows)
            and all(0 <= row < height for row in self.rows)
            and sum(1 + len(step.columns) for step in self.steps) <= MOST_FACTORS * width
            and all(step.is_sound(width) for step in self.steps)
        )


def encloses_zero_combination(
    X: Matrix, signs: Signs, rows: NDArray[np.intp], alpha: Floats, bias: bool, basis: Basis | None = None
) -> bool:
    """Return whether exact positive weights near ``alpha`` are proved to exist under which the rows z add up to zero.

    After the steps, the columns that are not zero on the support must be as many as basis rows; B is the square
    matrix of these. With an approximate inverse R, ``q = |I - R B| < 1`` proves that B can be inverted, and then the
    exact weights of the basis lie within ``|R| |Z' alpha| / (1 - q)`` of ``alpha``. All rounding is counted. They must
    be positive, and no further from ``alpha`` than a millionth of the largest weight.

    Without a ``basis`` there are no steps, and every row is in it but the one of largest weight.
    """
    if len(rows) == 0 or not (alpha > 0).all():
        return False
    if basis is None:
        basis = Basis(tuple(np.delete(np.arange(len(rows)), np.argmax(alpha)).tolist()))
    if not basis.is_sound(len(rows), X.shape[1] + bias):
        return False
    Z, steps = _support_rows(X, signs, rows, bias, basis.steps)
    A = _reduced(Z, steps)
    if A is None or A.shape[1] != len(basis.rows):
        return False
    return len(basis.rows) == 0 or _basis_is_positive(A, alpha, np.array(basis.rows))


def _support_rows(
    X: Matrix, signs: Signs, rows: NDArray[np.intp], bias: bool, steps: Sequence[ColumnStep]
) -> tuple[Floats, list[ColumnStep]]:
    """Return the rows z without columns that are zero on them, and the steps, about the columns that are left."""
    part = X[rows]
    used = np.unique(part.indices) if sp.issparse(part) else np.flatnonzero(part.any(axis=0))
    named = [j for step in steps for j in (step.column, *step.columns) if j < X.shape[1]]
    used = np.union1d(used, np.array(named, dtype=np.intp)).astype(np.intp)
    Z = (part[:, used].toarray() if sp.issparse(part) else part[:, used]) * signs[rows][:, None]
    place = {j: k for k, j in enumerate([*used.tolist(), X.shape[1]])}
    moved = [step._replace(column=place[step.column], columns=tuple(place[j] for j in step.columns)) for step in steps]
    return (np.column_stack([Z, signs[rows]]) if bias else Z), moved


def _basis_is_positive(A: _Columns, alpha: Floats, places: NDArray[np.intp]) -> bool:
    size = len(places)
    B = A.near[places].T
    try:
        R = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return False
    g = (size + 4) * HALF_ULP * 1.01
    with np.errstate(all="ignore"):
        spread = np.abs(R) @ (np.abs(B) + TINY)
        lost = TINY * (1.0 + size * np.abs(R).sum(axis=1))
        off = np.abs(np.eye(size) - R @ B) + (g + A.rounding) * spread + lost[:, None]
        q = float(np.max(np.sum(off, axis=1))) * 1.01
        if not q < 0.5:
            return False
        vanished = TINY * (len(alpha) + float(np.sum(alpha)))  # where columns were scaled
        for residual in (A.residual_bound, A.exact_residual):
            delta = np.abs(R) @ (residual(alpha) + vanished) * 1.01
            delta = delta + TINY + 1.01 * q / (1 - q) * np.max(delta)
            if (alpha[places] > delta).all() and np.max(delta) <= NEARNESS * np.max(alpha):
                return True
    return False


class _Columns:
    """The columns that are left after the steps: as floats scaled by powers of two, and exactly where they differ."""

    def __init__(self, near: Floats, exact: dict[int, Numbers]) -> None:
        self.near, self.exact, self.shape = near, exact, near.shape
        self.rounding = 2 * HALF_ULP if exact else 0.0

    def residual_bound(self, alpha: Floats) -> Floats:
        """Return a bound of ``|A' alpha|`` by floats alone."""
        g = (len(alpha) + 6) * HALF_ULP * 1.01 + self.rounding
        return np.abs(alpha @ self.near) + 1.01 * g * (alpha @ np.abs(self.near))

    def exact_residual(self, alpha: Floats) -> Floats:
        """Return ``|A' alpha|`` rounded up, from exact sums."""
        whole, place = as_integers(alpha)
        sums, more = product_with_integers(self.near.T, whole)
        values = [Fraction(abs(total), 1 << -(place + more)) for total in sums]
        for j, column in self.exact.items():
            bits = max(abs(value) for value in column).bit_length()
            values[j] = Fraction(abs(int(column @ whole)), 1 << (bits - place))
        return np.nextafter(np.array([as_float(value) for value in values]), np.inf)


def _reduced(Z: Floats, steps: Sequence[ColumnStep]) -> _Columns | None:
    """Return the columns that are not zero once the steps are made; None where their numbers become too long."""
    whole: dict[int, tuple[Numbers, int]] = {}  # exact columns as integers, in units of 2**place

    def exact_column(j: int) -> tuple[Numbers, int]:
        return whole[j] if j in whole else as_integers(Z[:, j])

    for step in steps:
        parts = [(step.times, *exact_column(step.column))]
        parts += [(-factor, *exact_column(j)) for j, factor in zip(step.columns, step.factors, strict=True)]
        whole[step.column] = linear_combination(parts)
        if max((abs(value) for value in whole[step.column][0]), default=0).bit_length() > MOST_BITS:
            return None
    near: list[Floats] = []
    exact = {}
    for j in range(Z.shape[1]):
        if j in whole:
            column, _ = whole[j]
            if not column.any():
                continue
            floats = np.array(proportional_floats(column.tolist()))
            exact[len(near)] = column
        else:
            floats = Z[:, j]
            largest = float(np.max(np.abs(floats), initial=0.0))
            if largest == 0:
                continue
            with np.errstate(under="ignore"):
                floats = np.ldexp(floats, -np.frexp(largest)[1])
        near.append(floats)
    return _Columns(np.column_stack(near) if near else np.empty((len(Z), 0)), exact)
