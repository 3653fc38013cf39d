"""Rows that are equal, found by hashing: of those that tie for the least score, one of each kind is enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Signs

_BLOCK_BYTES = 1 << 26
_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)  # odd numbers with many changes of bits
_HALF = np.uint64(32)


def distinct_rows(X: Floats, signs: Signs, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return some of ``rows``, in order, with the sign and the ``columns`` of every one of them.

    Equal rows have equal hashes. Each row is compared with the first one of its hash, and is left out only if it is the
    same: should two hashes agree by chance, a row too many is kept, and none is lost.

    >>> distinct_rows(np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 5.0]]), np.ones(3), np.arange(3), np.array([0]))
    array([0, 2])
    """
    return np.unique(representatives(X, signs, rows, columns))


def representatives(X: Floats, signs: Signs, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each of ``rows`` one of them that has the same sign and the same ``columns``.

    >>> representatives(np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 5.0]]), np.ones(3), np.arange(3), np.array([0]))
    array([0, 0, 2])
    """
    step = max(1, _BLOCK_BYTES // (8 * max(1, len(columns))))
    blocks = [slice(start, start + step) for start in range(0, len(rows), step)]
    hashes = np.concatenate([_hashes(_part(X, rows[block], columns), signs[rows[block]]) for block in blocks])
    _, first, kind = np.unique(hashes, return_index=True, return_inverse=True)
    twins = rows[first[kind]]
    for block in blocks:
        some, others = rows[block], twins[block]
        differs = (_part(X, some, columns) != _part(X, others, columns)).any(axis=1) | (signs[some] != signs[others])
        twins[block] = np.where(differs, some, others)
    return twins


def _part(X: Floats, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
    """Return some columns of some rows."""
    return X[rows] if len(columns) == X.shape[1] else X[np.ix_(rows, columns)]


def _hashes(part: Floats, signs: Signs) -> NDArray[np.uint64]:
    """Return a number for each row, the same for equal rows; the last steps of MurmurHash3 for each coordinate."""
    result = (signs > 0).astype(np.uint64)
    for column in (part + 0.0).T:  # of -0 and 0, which are equal, the bits are not
        mixed = np.ascontiguousarray(column).view(np.uint64)
        mixed = (mixed ^ (mixed >> _HALF)) * _FIRST
        result = (result ^ mixed ^ (mixed >> _HALF)) * _SECOND
        result ^= result >> _HALF
    return result
