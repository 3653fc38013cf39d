"""Rows that are equal, found by hashing and then compared."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Matrix

_BLOCK_BYTES = 1 << 26
_CACHED = 1 << 15  # numbers of a block that stays in the cache
_ODD = np.uint64(0x9E3779B97F4A7C15)


def representatives(X: Matrix, groups: NDArray, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each of ``rows`` one of them, the first, that is of the same group and has the same ``columns``.

    Equal rows have equal hashes. Each row is compared with the first one of its hash, and stands for itself if it
    is another: should two hashes agree by chance, a row too many is kept, and none is lost.

    >>> representatives(np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 5.0]]), np.ones(3), np.arange(3), np.array([0]))
    array([0, 0, 2])
    """
    step = max(1, _BLOCK_BYTES // (8 * max(1, len(columns))))
    blocks = [slice(start, start + step) for start in range(0, len(rows), step)]
    hashes = np.concatenate([row_hashes(_part(X, rows[block], columns)) for block in blocks])
    _, kinds = np.unique(groups[rows], return_inverse=True)
    _, first, kind = np.unique(hashes + kinds.astype(np.uint64), return_index=True, return_inverse=True)
    twins = rows[first[kind]]
    for block in blocks:
        some, others = rows[block], twins[block]
        differs = _differs(_part(X, some, columns), _part(X, others, columns)) | (groups[some] != groups[others])
        twins[block] = np.where(differs, some, others)
    return twins


def row_hashes(X: Matrix) -> NDArray[np.uint64]:
    """Return a hash of each row: the sum of numbers that its entries stand for, times odd ones."""
    n, d = X.shape
    odd = _odd_numbers(d)
    if sp.issparse(X):
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(X.data) * odd[X.indices])])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    marks = np.empty(n, np.uint64)
    step = max(1, _CACHED // max(1, d))
    for start in range(0, n, step):
        marks[start : start + step] = (_mixed(X[start : start + step]) * odd).sum(axis=1)
    return marks


@lru_cache(maxsize=8)
def _odd_numbers(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=count, dtype=np.uint64) | np.uint64(1)


def _mixed(values: Floats) -> NDArray[np.uint64]:
    """Return numbers that depend on all bits of the floats; 0 for 0 and for -0.

    Of small integers and powers of two only the first bits, those of sign and exponent, are not zero. They are moved to
    the end, from where multiplication spreads them.
    """
    bits = (values + 0.0).view(np.uint64)
    bits = ((bits << np.uint64(12)) | (bits >> np.uint64(52))) * _ODD
    return bits ^ (bits >> np.uint64(32))


def _part(X: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Matrix:
    """Return some columns of some rows."""
    if len(columns) == X.shape[1]:
        return X[rows]
    return np.ascontiguousarray(X[rows][:, columns]) if not sp.issparse(X) else X[rows][:, columns]


def _differs(A: Matrix, B: Matrix) -> NDArray[np.bool_]:
    """Return in which rows two matrices differ."""
    unequal = A != B
    return np.asarray(unequal.sum(axis=1)).ravel() > 0 if sp.issparse(unequal) else unequal.any(axis=1)
