"""Certificates of linear programs: feasible, infeasible (Farkas), optimal (weak duality), unbounded, undecided.

Each certificate is checked exactly from A, b and c alone, by code that is independent of the searches.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import accumulate
from typing import Annotated, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rosenblatt.storage.schema import Codec, Place
from rosenblatt.theory.certificates import (
    MOST_BITS,
    Certificate,
    Integers,
    Real,
    Rows,
    Sparse,
    Undecided,
    read_integer,
    write_integer,
)
from rosenblatt.theory.enclosures import encloses_zero_combination
from rosenblatt.theory.exact import are_finite, are_proportional, proportional, rounded, sums_to_zero
from rosenblatt.theory.inputs import (
    Floats,
    Matrix,
    MatrixLike,
    Numbers,
    check_exact,
    check_matrix,
    dense_rows,
    rows_do,
    scatter,
    vector_text,
)
from rosenblatt.theory.scores import least_score

# Systems A x < b: validation and exact evaluation.


def read_system(A: MatrixLike, b: ArrayLike) -> tuple[Matrix, Floats]:
    """Return A as a matrix of finite float64, which may have no rows or no columns, and b as a vector."""
    matrix = check_matrix(A, "A", least_rows=0)
    if 0 in matrix.shape:
        matrix = np.zeros(matrix.shape)
    return matrix, read_vector("b", b, matrix.shape[0], "row")


def read_vector(name: str, values: ArrayLike, length: int, what: str) -> Floats:
    """Return ``length`` finite float64 numbers, one per row or column of A (``what`` is "row" or "column")."""
    vector = np.asarray(check_exact(values, name))
    if vector.ndim == 2 and 1 in vector.shape:
        vector = vector.ravel()
    if vector.shape != (length,):
        raise ValueError(
            f"{name} must have a number for each of the {length} {what}s of A, got the shape {vector.shape}."
        )
    vector = vector.astype(np.float64)
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} must hold finite real numbers: leave out rows without a limit.")
    return vector


def homogenized(A: Matrix, b: Floats) -> Matrix:
    """Return the homogenized system: the matrix Z with a row (-a, b) for each row of A, and a last row (0, 1).

    A x < b if and only if Z (x, 1) > 0. Any v with Z v > 0 gives the solution x = v[:-1] / v[-1].
    """
    if sp.issparse(A):
        last = sp.csr_array(([1.0], ([0], [A.shape[1]])), shape=(1, A.shape[1] + 1))
        return sp.csr_array(sp.vstack([sp.hstack([-A, b[:, None]]), last]))
    Z = np.zeros((A.shape[0] + 1, A.shape[1] + 1))
    Z[:-1, :-1], Z[:-1, -1], Z[-1, -1] = -A, b, 1.0
    return Z


def is_strictly_feasible(A: Matrix, b: Floats, x: Numbers) -> bool:
    """Return whether A x < b in every row, decided exactly; x may contain floats or fractions."""
    if x.shape != (A.shape[1],) or not are_finite(x):
        return False
    return least_score(homogenized(A, b), np.ones(A.shape[0] + 1), proportional([*x.tolist(), 1.0]), 0.0) > 0


def exact_dot(c: Iterable[float | Fraction], x: Iterable[float | Fraction]) -> Fraction:
    """Return the exact dot product."""
    return sum((Fraction(p) * Fraction(q) for p, q in zip(c, x, strict=True) if p and q), Fraction(0))


def largest_violation(A: Matrix, b: Floats, x: Numbers) -> Fraction:
    """Return the largest entry of A x - b, exactly; A must have at least one row."""
    v = proportional([*x.tolist(), 1.0])
    return -least_score(homogenized(A, b)[:-1], np.ones(A.shape[0]), v, 0.0) / Fraction(v[-1])


def _write_point(x: Numbers, place: Place) -> list[list[str] | float]:
    return [list(map(write_integer, v.as_integer_ratio())) if isinstance(v, Fraction) else v for v in x.tolist()]


def _read_point(data: object, place: Place) -> Numbers:
    numbers = [_to_coordinate(value) for value in data] if type(data) is list else [None]
    if None in numbers:
        raise place.error("a list of finite numbers", data)
    if Fraction not in map(type, numbers):
        return np.array(numbers, dtype=np.float64)
    fractions = [Fraction(number) for number in numbers if number is not None]
    bits = 0
    for below in _common_denominators(fractions):
        bits = below.bit_length()
        if bits > MOST_BITS or bits * len(fractions) > MOST_POINT_BITS:
            raise place.error("a list of fractions with a common denominator that is not too long", data)
    return np.array(fractions, dtype=object)


def _to_coordinate(value: object) -> float | Fraction | None:
    """Return the float or fraction that ``_write_point`` wrote, or None for anything else."""
    if isinstance(value, list) and len(value) == 2:
        above, below = map(read_integer, value)
        return None if above is None or not below else Fraction(above, below)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)


def _common_denominators(fractions: list[Fraction]) -> Iterator[int]:
    """Yield the common denominator of the first fraction, of the first two, and so on."""
    return accumulate((fraction.denominator for fraction in fractions), math.lcm)


MOST_POINT_BITS = 1 << 29
"""The largest total bit length of the coordinates of a point, written over their common denominator."""
Point: TypeAlias = Annotated[Numbers, Codec(_write_point, _read_point)]  # floats, or Fractions if no floats suffice


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Feasible(Certificate):
    """A point x with A x < b strictly in every row; ``check`` verifies it exactly.

    ``x`` is an array of floats, or of Fractions if no solution was found among floats.
    """

    x: Point

    def check(self, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether, in exact arithmetic, A x < b in every row."""
        return is_strictly_feasible(*read_system(A, b), self.x)

    def __str__(self) -> str:
        return f"Feasible: A x < b strictly in every row, for x = {vector_text(self.x)}."


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Infeasible(Certificate):
    """Proof that no x has A x < b in every row: a weighted sum of the rows is 0 . x < -``deficit``, which is false.

    ``alpha`` contains a nonnegative weight for each row of A, with A^T alpha = 0 and b . alpha = ``-deficit`` (Farkas,
    Gordan). If ``deficit`` is positive, A x <= b has no solution either. If it is 0, the set A x <= b has no interior,
    because the inequalities of ``support`` are equalities at each of its points.

    ``weights`` are integers proportional to ``alpha`` on ``support``, for which these equations hold exactly. For large
    systems ``weights`` is None. Then ``check`` proves that exact weights exist that differ from ``alpha`` by rounding
    errors.
    """

    alpha: Sparse
    deficit: Real
    support: Rows
    weights: Integers
    _truth = False

    @classmethod
    def from_weights(cls, A: Matrix, b: Floats, rows: NDArray[np.intp], weights: tuple[int, ...]) -> Infeasible:
        """Return the certificate with integer ``weights`` on the given rows, and ``alpha`` scaled to sum to 1."""
        total = sum(weights)
        alpha = scatter(rows, [max(float(Fraction(weight, total)), 5e-324) for weight in weights], A.shape[0])
        deficit = -exact_dot(b[rows], weights) / total
        return cls(alpha, rounded(deficit, up=True), rows, weights)

    @property
    def empty(self) -> bool:
        """Whether the proof shows that A x <= b has no solution either."""
        return self.deficit > 0

    def check(self, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether the proof is valid for this system, as verified in exact arithmetic."""
        A, b = read_system(A, b)
        alpha, deficit, rows = self.alpha, self.deficit, self.support
        known = alpha.shape == b.shape and bool((np.isfinite(alpha) & (alpha >= 0)).all())
        if not known or not 0 <= deficit < math.inf or not np.array_equal(rows, np.flatnonzero(alpha)):
            return False
        if self.weights is None:
            return self._encloses(A, b)
        if len(rows) == 0 or not sums_to_zero(A, np.ones(len(b)), rows, self.weights, False):
            return False
        short, total = -exact_dot(b[rows], self.weights), sum(self.weights)
        known = short >= 0 and (short > 0) == (deficit > 0)
        of, tiny = sum(map(Fraction, alpha[rows].tolist()), Fraction(0)), Fraction(1, 2**1000)
        known = known and abs(Fraction(deficit) * total - short * of) <= short * of / 10**9 + total * tiny
        return known and are_proportional(alpha[rows], self.weights, of, tiny)

    def _encloses(self, A: Matrix, b: Floats) -> bool:
        """Return whether an enclosure proves that the homogenized rows sum to zero for some exact weights.

        Rows are divided by powers of two so that their entries are at most 1, and their weights are multiplied by the
        same powers.
        """
        Z, rows = homogenized(A, b), self.support
        alpha = np.append(self.alpha[rows], self.deficit)
        rows = np.append(rows, A.shape[0])[alpha > 0]
        alpha = alpha[alpha > 0]
        Z = dense_rows(Z, rows)
        heights = np.frexp(np.max(np.abs(Z), axis=1, initial=0.0))[1]
        with np.errstate(all="ignore"):
            scaled, alpha = np.ldexp(Z, -heights[:, None]), np.ldexp(alpha, heights)
            # an entry that underflows would change the system
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
            "Infeasible: no x has A x < b, because A x <= b has no interior.\n"
            f"With the weights alpha, {rows} to 0 . x < 0: every solution of A x <= b has equality in each."
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class UndecidedProgram(Undecided):
    """The `Undecided` result of `strict_feasibility` and `maximize`, with the best point ``x`` found.

    ``check`` proves that ``A x <= b + excess`` in every row. If ``excess`` is negative, which happens in `maximize`, x
    is strictly feasible, but no bound on c . x could be proved.
    """

    x: Point
    excess: Real

    def check(self, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether no entry of A x - b is above ``excess``, decided exactly."""
        A, b = read_system(A, b)
        if self.x.shape != (A.shape[1],) or not are_finite(self.x):
            return False
        return A.shape[0] == 0 or largest_violation(A, b, self.x) <= self.excess

    def __str__(self) -> str:
        if self.excess < 0:
            return (
                "Undecided: x has A x < b, but no bound on c . x could be proved.\n"
                f"The best x found is {vector_text(self.x)}."
            )
        return (
            "Undecided: it could not be proved whether A x < b has a solution.\n"
            f"The best x found has A x <= b + {self.excess:.4g}."
        )


# Certificates of "maximise c . x subject to A x <= b".


_PROOF = Codec(lambda proof, place: proof.to_dict(), lambda data, place: Infeasible.from_dict(data))
_Proof: TypeAlias = Annotated[Infeasible, _PROOF]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Optimum(Certificate):
    """The largest c . x subject to A x <= b, proved to lie between ``low`` and ``high``.

    ``x`` has A x < b strictly and ``c . x >= low``. ``proof`` shows that no x has A x < b and c . x > high. Its weights
    give a solution of the dual program: ``y >= 0`` with ``A^T y = c`` and ``b . y <= high``.
    """

    x: Point
    low: Real
    high: Real
    proof: _Proof

    @property
    def value(self) -> float:
        """The midpoint of ``low`` and ``high``."""
        return self.low / 2 + self.high / 2

    @property
    def y(self) -> Floats:
        """The solution of the dual program, rounded to floats: one number per row of A."""
        return self.proof.alpha[:-1] / self.proof.alpha[-1]

    def check(self, c: ArrayLike, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether, in exact arithmetic, both bounds hold for this program."""
        A, b = read_system(A, b)
        c = read_vector("c", c, A.shape[1], "column")
        floats = isinstance(self.low, float) and isinstance(self.high, float)
        if not floats or not -math.inf < self.low <= self.high < math.inf or not is_strictly_feasible(A, b, self.x):
            return False
        return exact_dot(c, self.x) >= Fraction(self.low) and self.proof.check(
            *with_objective_above(c, A, b, self.high)
        )

    def __str__(self) -> str:
        rows = self.proof.support[:-1]
        reason = f"{rows_do(rows.tolist(), 'prove')} the upper end" if len(rows) else "c is zero"
        return (
            f"Optimum: the largest c . x over A x <= b lies between {self.low:.17g} and {self.high:.17g}.\n"
            f"A strictly feasible x attains the lower end; {reason}."
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Unbounded(Certificate):
    """Proof that c . x is unbounded on A x < b: it increases without limit from the feasible ``x`` along ``direction``.

    ``check`` proves A x < b, A direction <= 0 and c . direction > 0, exactly.
    """

    x: Point
    direction: Point

    def check(self, c: ArrayLike, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether, in exact arithmetic, the ray stays feasible and c . x increases along it."""
        A, b = read_system(A, b)
        c = read_vector("c", c, A.shape[1], "column")
        return is_strictly_feasible(A, b, self.x) and is_recession_direction(c, A, self.direction)

    def __str__(self) -> str:
        return f"Unbounded: from a strictly feasible x, c . x grows without bound along {vector_text(self.direction)}."


def with_objective_above(c: Floats, A: Matrix, b: Floats, z: float) -> tuple[Matrix, Floats]:
    """Return the system A x < b, c . x > z as a matrix and a right-hand side."""
    if sp.issparse(A):
        return sp.csr_array(sp.vstack([A, sp.csr_array(-c[None, :])])), np.append(b, -z)
    return np.vstack([A, -c]), np.append(b, -z)


def is_recession_direction(c: Floats, A: Matrix, d: Numbers) -> bool:
    """Return whether A d <= 0 in every row and c . d > 0, decided exactly."""
    if d.shape != c.shape or not are_finite(d) or exact_dot(c, d) <= 0:
        return False
    return A.shape[0] == 0 or least_score(-A, np.ones(A.shape[0]), proportional(d.tolist()), 0.0) >= 0
