"""Systems A x < b, read from what users pass and evaluated exactly."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from rosenblatt.theory.given_numbers import unrounded
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Numbers, check_matrix
from rosenblatt.theory.integers import are_finite, proportional
from rosenblatt.theory.scores import least_score


def read_system(A: MatrixLike, b: ArrayLike) -> tuple[Matrix, Floats]:
    """Return A as a matrix of finite float64, with any number of rows and columns, and b with a number for each row."""
    matrix = check_matrix(A, "A", least_rows=0)
    if 0 in matrix.shape:
        matrix = np.zeros(matrix.shape)
    return matrix, read_vector("b", b, matrix.shape[0], "row")


def read_vector(name: str, values: ArrayLike, length: int, what: str) -> Floats:
    """Return finite float64 numbers, one for each row or column of A."""
    vector = np.asarray(unrounded(values, name))
    if vector.ndim == 2 and 1 in vector.shape:
        vector = vector.ravel()
    if vector.shape != (length,):
        raise ValueError(
            f"{name} must have a number for each of the {length} {what}s of A, got the shape {vector.shape}."
        )
    vector = vector.astype(np.float64)
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} must be of finite real numbers: leave out what has no limit.")
    return vector


def cone(A: Matrix, b: Floats) -> Matrix:
    """Return Z with a row (-a, b) for each row of A x < b, and (0, 1) below: A x < b says Z (x, 1) > 0.

    And any v with Z v > 0 gives the solution v[:-1] / v[-1].
    """
    if sp.issparse(A):
        last = sp.csr_array(([1.0], ([0], [A.shape[1]])), shape=(1, A.shape[1] + 1))
        return sp.csr_array(sp.vstack([sp.hstack([-A, b[:, None]]), last]))
    Z = np.zeros((A.shape[0] + 1, A.shape[1] + 1))
    Z[:-1, :-1], Z[:-1, -1], Z[-1, -1] = -A, b, 1.0
    return Z


def is_inside(A: Matrix, b: Floats, x: Numbers) -> bool:
    """Return whether A x < b in every row, exactly; x holds floats or fractions."""
    if x.shape != (A.shape[1],) or not are_finite(x):
        return False
    return least_score(cone(A, b), np.ones(A.shape[0] + 1), proportional([*x.tolist(), 1.0]), 0.0) > 0


def dot(c: Iterable[Any], x: Iterable[Any]) -> Fraction:
    """Return c . x, exactly."""
    return sum((Fraction(p) * Fraction(q) for p, q in zip(c, x, strict=True) if p and q), Fraction(0))


def most_excess(A: Matrix, b: Floats, x: Numbers) -> Fraction:
    """Return the largest entry of A x - b, exactly; A has rows."""
    whole = proportional([*x.tolist(), 1.0])
    return -least_score(cone(A, b)[:-1], np.ones(A.shape[0]), whole, 0.0) / Fraction(whole[-1])
