"""The answers to "how large can c . x get over A x <= b?", each with the proof that it carries."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Annotated, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from rosenblatt.theory.certificate_fields import Codec, Real
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Numbers
from rosenblatt.theory.integers import are_finite, proportional
from rosenblatt.theory.programs.feasibility_answers import Infeasible, Point
from rosenblatt.theory.programs.systems import dot, is_inside, read_system, read_vector
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.words import rows_do, vector_text

_Proof: TypeAlias = Annotated[
    Infeasible, Codec(lambda proof, _: proof.to_dict(), lambda fields, name: Infeasible.from_dict(fields.take(name)))
]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Optimum(Certificate):
    """The largest c . x over A x <= b, proved to lie between ``low`` and ``high``.

    ``x`` has A x < b strictly and ``c . x >= low``. ``proof`` shows that no x has A x < b and c . x > high; its weights
    are a solution of the dual program: ``y >= 0`` with ``A^T y = c`` and ``b . y <= high``.
    """

    x: Point
    low: Real
    high: Real
    proof: _Proof

    @property
    def value(self) -> float:
        """The middle of the bracket."""
        return self.low / 2 + self.high / 2

    @property
    def y(self) -> Floats:
        """The solution of the dual program, one number for each row of A, as near as floats can say."""
        return self.proof.alpha[:-1] / self.proof.alpha[-1]

    def check(self, c: ArrayLike, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether both ends of the bracket hold for this program, recomputed exactly."""
        A, b = read_system(A, b)
        c = read_vector("c", c, A.shape[1], "column")
        floats = isinstance(self.low, float) and isinstance(self.high, float)
        if not floats or not -math.inf < self.low <= self.high < math.inf or not is_inside(A, b, self.x):
            return False
        return dot(c, self.x) >= Fraction(self.low) and self.proof.check(*beyond(c, A, b, self.high))

    def __str__(self) -> str:
        rows = self.proof.support[:-1]
        reason = f"{rows_do(rows.tolist(), 'prove')} the upper end" if len(rows) else "c is zero"
        return (
            f"Optimum: the largest c . x over A x <= b lies between {self.low:.17g} and {self.high:.17g}.\n"
            f"The lower end is attained by a strictly feasible x; {reason}."
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Unbounded(Certificate):
    """c . x grows without end over A x < b: from ``x``, which is strictly feasible, along ``direction``.

    ``check`` proves A x < b, A direction <= 0 and c . direction > 0, exactly.
    """

    x: Point
    direction: Point

    def check(self, c: ArrayLike, A: MatrixLike, b: ArrayLike) -> bool:
        """Return whether the ray stays feasible and c . x grows along it, recomputed exactly."""
        A, b = read_system(A, b)
        c = read_vector("c", c, A.shape[1], "column")
        return is_inside(A, b, self.x) and recedes(c, A, self.direction)

    def __str__(self) -> str:
        return f"Unbounded: from a strictly feasible x, c . x grows without end along {vector_text(self.direction)}."


def beyond(c: Floats, A: Matrix, b: Floats, z: float) -> tuple[Matrix, Floats]:
    """Return the system A x < b, c . x > z."""
    if sp.issparse(A):
        return sp.csr_array(sp.vstack([A, sp.csr_array(-c[None, :])])), np.append(b, -z)
    return np.vstack([A, -c]), np.append(b, -z)


def recedes(c: Floats, A: Matrix, d: Numbers) -> bool:
    """Return whether A d <= 0 in every row and c . d > 0, exactly."""
    if d.shape != c.shape or not are_finite(d) or dot(c, d) <= 0:
        return False
    return A.shape[0] == 0 or least_score(-A, np.ones(A.shape[0]), proportional(d.tolist()), 0.0) >= 0
