"""The answers to "does A x < b have a solution, and how large can c . x get?", each with the proof that it carries.

Answers are checked whatever search has found them. A x < b is about the numbers exactly as stored.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.storage.json_fields import StrictFields
from rosenblatt.theory.certificate_fields import (
    MOST_BITS,
    Codec,
    Integers,
    Real,
    Rows,
    Sparse,
    read_integer,
    write_integer,
)
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.enclosures import encloses_zero_combination
from rosenblatt.theory.exact import are_shares, sums_to_zero
from rosenblatt.theory.floats import rounded
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Numbers, dense_rows, spread
from rosenblatt.theory.integers import are_finite
from rosenblatt.theory.programs.systems import cone, dot, is_inside, most_excess, read_system
from rosenblatt.theory.words import rows_do, vector_text


def _write_point(x: Numbers, _: str) -> list[list[str] | float]:
    return [list(map(write_integer, v.as_integer_ratio())) if isinstance(v, Fraction) else v for v in x.tolist()]


def _read_point(fields: StrictFields, name: str) -> Numbers:
    values = fields.values(name)
    numbers = [_to_coordinate(value) for value in values]
    if None in numbers:
        raise fields.wrong(name, "a list of finite numbers", values)
    if Fraction not in map(type, numbers):
        return np.array(numbers, dtype=np.float64)
    fractions = [Fraction(number) for number in numbers if number is not None]
    bits = 0
    for below in _common_denominators(fractions):
        bits = below.bit_length()
        if bits > MOST_BITS or bits * len(fractions) > MOST_POINT_BITS:
            raise fields.wrong(name, "a list of fractions with a common denominator that is not too long", values)
    return np.array(fractions, dtype=object)


def _to_coordinate(value: object) -> float | Fraction | None:
    """Return the float or the fraction that ``_write_point`` wrote, None for anything else."""
    if isinstance(value, list) and len(value) == 2:
        above, below = map(read_integer, value)
        return None if above is None or not below else Fraction(above, below)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)


def _common_denominators(fractions: list[Fraction]) -> Iterator[int]:
    """Yield the common denominators of the first one, the first two, and so on."""
    return accumulate((fraction.denominator for fraction in fractions), math.lcm)


MOST_POINT_BITS = 1 << 29
"""How long all coordinates of a point may be over their common denominator."""
Point: TypeAlias = Annotated[Numbers, Codec(_write_point, _read_point)]  # floats, or Fractions where no floats do


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Feasible(Certificate):
    """A point with A x < b strictly in every row; ``check`` proves it exactly.

    ``x`` is an array of floats. Where the solutions are so thin that none was found among floats it is of Fractions.
    """

    x: Point

    def check(self, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether A x < b in every row, recomputed exactly."""
        return is_inside(*read_system(A, b), self.x)

    def __str__(self) -> str:
        return f"Feasible: A x < b strictly in every row, for x = {vector_text(self.x)}."


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Infeasible(Certificate):
    """Proof that no x has A x < b in every row: rows that add up to 0 . x < 0 or worse (Farkas, Gordan).

    ``alpha`` are weights, not negative, one for each row of A: the rows times ``alpha`` add up to zero, and
    ``b . alpha`` to ``-deficit``. Where ``deficit`` is positive not even A x <= b has a solution. Where it is 0 that
    system has no interior: each of its solutions, if there are any, has equality in the rows of ``support``.

    ``weights`` are integers in proportion to ``alpha`` for which this is exact, one for each row of ``support``.
    For large systems they are None, and ``check`` proves instead that exact weights exist within rounding of ``alpha``.
    """

    alpha: Sparse
    deficit: Real
    support: Rows
    weights: Integers
    _truth = False

    @classmethod
    def from_weights(cls, A: Matrix, b: Floats, rows: NDArray[np.intp], weights: tuple[int, ...]) -> Infeasible:
        """Return the claim of these integer weights on these rows, with ``alpha`` of sum 1."""
        total = sum(weights)
        alpha = spread(rows, [max(float(Fraction(weight, total)), 5e-324) for weight in weights], A.shape[0])
        deficit = -dot(b[rows], weights) / total
        return cls(alpha, rounded(deficit, up=True), rows, weights)

    @property
    def empty(self) -> bool:
        """Whether not even A x <= b has a solution."""
        return self.deficit > 0

    def check(self, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether the proof holds for this system, recomputed from it."""
        A, b = read_system(A, b)
        alpha, deficit, rows = self.alpha, self.deficit, self.support
        known = alpha.shape == b.shape and bool((np.isfinite(alpha) & (alpha >= 0)).all())
        if not known or not 0 <= deficit < math.inf or not np.array_equal(rows, np.flatnonzero(alpha)):
            return False
        if self.weights is None:
            return self._encloses(A, b)
        if len(rows) == 0 or not sums_to_zero(A, np.ones(len(b)), rows, self.weights, False):
            return False
        short, total = -dot(b[rows], self.weights), sum(self.weights)
        known = short >= 0 and (short > 0) == (deficit > 0)
        of, tiny = sum(map(Fraction, alpha[rows].tolist()), Fraction(0)), Fraction(1, 2**1000)
        known = known and abs(Fraction(deficit) * total - short * of) <= short * of / 10**9 + total * tiny
        return known and are_shares(alpha[rows], self.weights, of, tiny)

    def _encloses(self, A: Matrix, b: Floats) -> bool:
        """Prove that exact weights exist: the rows of the cone, each scaled by a power of two, add up to zero."""
        Z, rows = cone(A, b), self.support
        alpha = np.append(self.alpha[rows], self.deficit)
        rows = np.append(rows, A.shape[0])[alpha > 0]
        alpha = alpha[alpha > 0]
        Z = dense_rows(Z, rows)
        heights = np.frexp(np.max(np.abs(Z), axis=1, initial=0.0))[1]
        with np.errstate(all="ignore"):
            scaled, alpha = np.ldexp(Z, -heights[:, None]), np.ldexp(alpha, heights)
            exact = np.array_equal(np.ldexp(scaled, heights[:, None]), Z) and np.isfinite(alpha).all()
            return bool(exact) and encloses_zero_combination(
                scaled, np.ones(len(Z)), np.arange(len(Z)), alpha / alpha.sum(), False
            )

    def __str__(self) -> str:
        rows = rows_do(self.support.tolist(), "add up")
        if self.empty:
            return (
                "Infeasible: no x has A x < b, and not even A x <= b has a solution.\n"
                f"With the weights alpha, {rows} to 0 . x <= {-self.deficit:.4g}."
            )
        return (
            "Infeasible: no x has A x < b, as A x <= b has no interior.\n"
            f"With the weights alpha, {rows} to 0 . x < 0: a solution of A x <= b has equality in each of them."
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Unsettled(Certificate):
    """Neither could be proved. The best x found has ``A x <= b + excess`` in every row, which ``check`` proves.

    From `maximize`, where ``excess`` is negative: x is strictly feasible, but no bound on c . x could be proved.
    """

    x: Point
    excess: Real
    _truth = "the question is not settled, so it is neither true nor false: look at x and excess."

    def check(self, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether no row of A x - b is above ``excess``."""
        A, b = read_system(A, b)
        if self.x.shape != (A.shape[1],) or not are_finite(self.x):
            return False
        return most_excess(A, b, self.x) <= self.excess

    def __str__(self) -> str:
        if self.excess < 0:
            return (
                "Unsettled: x has A x < b, but it could not be proved how large c . x gets.\n"
                f"The best x found is {vector_text(self.x)}."
            )
        return (
            "Unsettled: it could not be proved whether A x < b has a solution.\n"
            f"The best x found has A x <= b + {self.excess:.4g}."
        )
