"""Presolve: rows that one column settles are peeled off before any search, since no proof can use them.

A column whose entries all have one sign on the rows that are left gives every row that it touches a positive score,
whatever the other columns do, once its weight is large enough. And in a sum of rows that is zero, with weights that are
not negative, none of these rows can have weight. So they are removed, and the rest is looked at again. What is left
at last, the core, is solvable if and only if everything is. Text usually leaves none: rare words settle each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.enclosures import Basis
from rosenblatt.theory.inputs import Floats, Matrix, Numbers

_BLOCK = 1 << 22


# The two answers to "is there a v with z . v > 0 for every row?", of which exactly one exists (P. Gordan 1873).


@dataclass(frozen=True)
class Solvable:
    """Every row has ``z . v > 0``, proved; v is of floats, or of integers where no floats solve it.

    ``least`` is the least ``z . v``, where that is known.
    """

    v: Numbers
    least: Fraction | None = None


@dataclass(frozen=True)
class Unsolvable:
    """The rows ``support`` add up to zero with the ``weights``, or with exact ones within rounding of ``alpha``.

    In the second case ``basis`` may say how that is proved.
    """

    support: NDArray[np.intp]
    alpha: Floats
    weights: tuple[int, ...] | None
    basis: Basis | None = None


# Peeling.


class PresolveRound(NamedTuple):
    """Columns of one sign on the rows that were left, these signs, and the rows that they touch."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    signs: Floats


def presolve(Z: Matrix) -> tuple[NDArray[np.intp], list[PresolveRound]]:
    """Return the rows of the core, and the rounds in which the others were removed.

    >>> core, rounds = presolve(np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> core, [(one.rows.tolist(), one.columns.tolist()) for one in rounds]
    (array([], dtype=int64), [([0, 1], [0, 2]), ([2], [1])])
    """
    above, below = signs_in_columns(Z)
    by_column = sp.csc_array(Z) if sp.issparse(Z) else Z
    left = np.ones(Z.shape[0], dtype=bool)
    rounds: list[PresolveRound] = []
    while True:
        columns = np.flatnonzero((above > 0) != (below > 0))
        if len(columns) == 0:
            return np.flatnonzero(left), rounds
        part = by_column[:, columns]
        touched = np.zeros(Z.shape[0], dtype=bool)
        touched[part.indices[part.data != 0] if sp.issparse(part) else (part != 0).any(axis=1)] = True
        rows = np.flatnonzero(touched & left)
        rounds.append(PresolveRound(rows, columns, np.where(above[columns] > 0, 1.0, -1.0)))
        left[rows] = False
        fewer_above, fewer_below = signs_in_columns(Z[rows])
        above, below = above - fewer_above, below - fewer_below


def postsolve(Z: Matrix, v: Floats, rounds: list[PresolveRound]) -> Floats:
    """Return v, which solves the core, changed so that it solves the peeled rows too, up to rounding."""
    v = v.copy()
    for rows, columns, signs in reversed(rounds):
        part = Z[rows]
        gain, s = part[:, columns] @ signs, part @ v
        with np.errstate(all="ignore"):
            least = float(np.max((1e-6 * np.max(np.abs(v)) - s) / gain))
            v[columns] += 2.0 ** np.ceil(np.log2(2.0 * max(least, 1e-6))) * signs
    return v


def signs_in_columns(Z: Matrix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many entries of each column are positive, and how many are negative."""
    m = Z.shape[1]
    if sp.issparse(Z):
        return (
            np.bincount(Z.indices[Z.data > 0], minlength=m),
            np.bincount(Z.indices[Z.data < 0], minlength=m),
        )
    above, below = np.zeros(m, np.int64), np.zeros(m, np.int64)
    step = max(1, _BLOCK // max(1, m))
    for start in range(0, Z.shape[0], step):
        above += np.count_nonzero(Z[start : start + step] > 0, axis=0)
        below += np.count_nonzero(Z[start : start + step] < 0, axis=0)
    return above, below


def rows_without_rare_columns(Z: Matrix, most: int) -> NDArray[np.intp]:
    """Return rows without those that touch a column with at most ``most`` entries of either sign among the rows left.

    Such columns take a search many steps. If the rows that are returned cannot be solved, then all cannot.
    """
    left = np.arange(Z.shape[0])
    while len(left):
        part = Z[left]
        above, below = signs_in_columns(part)
        rare = np.flatnonzero((np.minimum(above, below) <= most) & (above + below > 0))
        if len(rare) == 0:
            break
        touched = part[:, rare] != 0
        left = left[np.asarray(touched.sum(axis=1)).ravel() == 0]
    return left


def signed_rows(X: Matrix, signs: Floats, bias: bool) -> tuple[Matrix, NDArray[np.int64]]:
    """Return z = y (x, 1), or y x without a bias, columns scaled by powers of two to at most 1, and the exponents."""
    n, d = X.shape
    top = abs(X).max(axis=0).toarray().ravel() if sp.issparse(X) else np.max(np.abs(X), axis=0)
    places = np.where(top > 0, np.frexp(top)[1], 0).astype(np.int64)
    with np.errstate(under="ignore"):
        if sp.issparse(X):
            data = np.ldexp(X.data, -places[X.indices]) * np.repeat(signs, np.diff(X.indptr))
            Z = sp.csr_array((data, X.indices, X.indptr), shape=X.shape)
            Z = sp.hstack([Z, sp.csr_array(signs[:, None])], format="csr") if bias else Z
        else:
            Z = np.empty((n, d + bias))
            np.multiply(np.ldexp(X, -places, out=Z[:, :d]), signs[:, None], out=Z[:, :d])
            if bias:
                Z[:, d] = signs
    return Z, np.append(places, 0) if bias else places


def drop_zero_columns(Z: Matrix, rows: NDArray[np.intp]) -> tuple[Matrix, NDArray[np.intp]]:
    """Return these rows without the columns that are zero on them, and the columns that are left."""
    part = Z[rows]
    above, below = signs_in_columns(part)
    columns = np.flatnonzero(above + below)
    part = part[:, columns]
    return (part if sp.issparse(part) else np.ascontiguousarray(part)), columns
