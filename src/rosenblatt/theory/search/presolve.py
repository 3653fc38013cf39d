"""Presolve: remove rows that a single column satisfies, before the search for v with z . v > 0 for every row z.

Suppose that all nonzero entries of a column have the same sign on the remaining rows. A large enough weight of that
sign gives a positive score to each row with a nonzero entry in the column, whatever the other weights are. These rows
cannot occur in a proof that there is no solution either. If the rows, multiplied by nonnegative weights, sum to zero,
then this column forces the weights of these rows to be zero. So presolve removes these rows. Other columns may then
have entries of one sign only, so the removal is repeated. The rows that remain at the end, the core, have a solution if
and only if all rows have one. For text the core is usually empty, because each row has a rare word.
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


# Gordan's alternative (1873): either some v has z . v > 0 for every row z, or some rows, multiplied by positive
# weights, sum to zero.


@dataclass(frozen=True)
class Solvable:
    """A vector ``v`` that is proved to satisfy ``z . v > 0`` for every row z.

    ``v`` contains floats, or integers if ``v`` rounded to floats is not a solution. ``least`` is the minimum of
    ``z . v`` over all rows, or None if it was not computed.
    """

    v: Numbers
    least: Fraction | None = None


@dataclass(frozen=True)
class Unsolvable:
    """A proof that no v satisfies ``z . v > 0`` for every row z.

    The rows with the indices ``support``, multiplied by positive weights, sum to zero.

    The positive weights are the integers ``weights``. If ``weights`` is None, they are exact but unknown numbers close
    to ``alpha``. ``basis`` is then the basis of the proof by enclosure; None means the default basis.
    """

    support: NDArray[np.intp]
    alpha: Floats
    weights: tuple[int, ...] | None
    basis: Basis | None = None


# Presolve and postsolve.


class PresolveRound(NamedTuple):
    """One round of presolve.

    ``columns`` are the columns whose nonzero entries in the remaining rows all have the same sign. ``signs`` contains
    the sign of each of these columns. ``rows`` are the remaining rows with a nonzero entry in any of these columns. The
    round removes these rows.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    signs: Floats


def presolve(Z: Matrix) -> tuple[NDArray[np.intp], list[PresolveRound]]:
    """Return the pair (core, rounds): the indices of the rows in the core, and the rounds that removed the other rows.

    >>> core, rounds = presolve(np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> core, [(step.rows.tolist(), step.columns.tolist()) for step in rounds]
    (array([], dtype=int64), [([0, 1], [0, 2]), ([2], [1])])
    """
    above, below = signs_in_columns(Z)
    by_column = sp.csc_array(Z) if sp.issparse(Z) else Z
    remaining = np.ones(Z.shape[0], dtype=bool)
    rounds: list[PresolveRound] = []
    while True:
        # Invariant: ``above`` and ``below`` count the positive and negative entries of each column on the remaining
        # rows, so the nonzero entries of a column have the same sign exactly if one count is zero and the other is not.
        # Such a column has a nonzero entry in a remaining row, so each round removes at least one row, and the loop
        # terminates.
        columns = np.flatnonzero((above > 0) != (below > 0))
        if len(columns) == 0:
            return np.flatnonzero(remaining), rounds
        part = by_column[:, columns]
        touched = np.zeros(Z.shape[0], dtype=bool)
        touched[part.indices[part.data != 0] if sp.issparse(part) else (part != 0).any(axis=1)] = True
        rows = np.flatnonzero(touched & remaining)
        rounds.append(PresolveRound(rows, columns, np.where(above[columns] > 0, 1.0, -1.0)))
        remaining[rows] = False
        fewer_above, fewer_below = signs_in_columns(Z[rows])
        above, below = above - fewer_above, below - fewer_below


def postsolve(Z: Matrix, v: Floats, rounds: list[PresolveRound]) -> Floats:
    """Extend a solution ``v`` of the core to a solution of all rows, up to rounding.

    The columns of a round are zero on the core and on all rows removed later. So the rounds are processed in reverse
    order. Increasing the weights of their columns in absolute value does not change the scores that are already
    positive.
    """
    v = v.copy()
    for rows, columns, signs in reversed(rounds):
        part = Z[rows]
        gain, s = part[:, columns] @ signs, part @ v
        with np.errstate(all="ignore"):
            # All entries of ``gain`` are positive. The scores of these rows are raised to at least 1e-6 times the
            # largest |v_j|, because rounding could change the sign of a smaller score.
            least = float(np.max((1e-6 * np.max(np.abs(v)) - s) / gain))
            # a power of two, at least twice the weight with which the worst row of this round attains that score
            v[columns] += 2.0 ** np.ceil(np.log2(2.0 * max(least, 1e-6))) * signs
    return v


def signs_in_columns(Z: Matrix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return two arrays: the number of positive entries of each column, and the number of negative entries."""
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
    """Remove the rows with a nonzero entry in a rare column until no column is rare; return the remaining rows.

    A column is rare if at most ``most`` of its entries on the remaining rows are positive, or at most ``most`` are
    negative. Rare columns are nearly redundant and make Newton's method slow. If the returned rows have no solution,
    neither do all rows together. A solution of the returned rows proves nothing about all rows.
    """
    remaining = np.arange(Z.shape[0])
    while len(remaining):  # each round removes a row: a rare column has a nonzero entry in one of them
        part = Z[remaining]
        above, below = signs_in_columns(part)
        rare = np.flatnonzero((np.minimum(above, below) <= most) & (above + below > 0))
        if len(rare) == 0:
            break
        touched = part[:, rare] != 0
        remaining = remaining[np.asarray(touched.sum(axis=1)).ravel() == 0]
    return remaining


def signed_rows(X: Matrix, signs: Floats, bias: bool) -> tuple[Matrix, NDArray[np.int64]]:
    """Return the pair (Z, exponents): the signed rows with scaled columns, and the exponents of the column scales.

    A signed row is z = y (x, 1), or z = y x without a ``bias``. Column j is divided by 2**exponents[j], so that no
    entry exceeds 1 in absolute value. The scaling does not change whether a solution exists, and is exact unless an
    entry underflows.
    """
    n, d = X.shape
    top = abs(X).max(axis=0).toarray().ravel() if sp.issparse(X) else np.max(np.abs(X), axis=0)
    exponents = np.where(top > 0, np.frexp(top)[1], 0).astype(np.int64)
    with np.errstate(under="ignore"):
        if sp.issparse(X):
            data = np.ldexp(X.data, -exponents[X.indices]) * np.repeat(signs, np.diff(X.indptr))
            Z = sp.csr_array((data, X.indices, X.indptr), shape=X.shape)
            Z = sp.hstack([Z, sp.csr_array(signs[:, None])], format="csr") if bias else Z
        else:
            Z = np.empty((n, d + bias))
            np.multiply(np.ldexp(X, -exponents, out=Z[:, :d]), signs[:, None], out=Z[:, :d])
            if bias:
                Z[:, d] = signs
    return Z, np.append(exponents, 0) if bias else exponents


def common_values(X: Matrix) -> Floats:
    """Return the majority value of each column: the value of more than half of its entries, or 0 if there is none.

    Subtracting a constant from a column only changes the bias, so it does not change whether the classes are linearly
    separable. The subtraction restores the sparsity that standardising destroys: most entries become exactly zero, and
    presolve can remove rows that a single column satisfies. For a sparse matrix all values are 0.

    >>> common_values(np.array([[0.5, 1.0], [0.5, 2.0], [3.0, 3.0]]))
    array([0.5, 0. ])
    """
    n, d = X.shape
    if sp.issparse(X) or n == 0:
        return np.zeros(d)
    middle = np.empty(d)
    step = max(1, _BLOCK // n)
    for start in range(0, d, step):  # a value of more than half of the entries is the median
        middle[start : start + step] = np.partition(X[:, start : start + step], n // 2, axis=0)[n // 2]
    held = np.zeros(d, np.int64)
    for start in range(0, n, max(1, _BLOCK // max(1, d))):
        held += np.count_nonzero(X[start : start + max(1, _BLOCK // max(1, d))] == middle, axis=0)
    return np.where(2 * held > n, middle, 0.0)


def drop_zero_columns(Z: Matrix, rows: NDArray[np.intp]) -> tuple[Matrix, NDArray[np.intp]]:
    """Return the given rows without the columns that are zero in all of them, and the indices of the columns kept."""
    part = Z[rows]
    above, below = signs_in_columns(part)
    columns = np.flatnonzero(above + below)
    part = part[:, columns]
    return (part if sp.issparse(part) else np.ascontiguousarray(part)), columns
