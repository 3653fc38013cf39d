"""A matrix as kernels take it: rows that are dense or CSR, and the facts that a pass needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Matrix: TypeAlias = Any
"""A numpy array, or a CSR array or matrix of SciPy."""
CACHE_BYTES = 64 * 1024
"""Dense rows that one-vs-rest classifiers visit in turn while they stay in the cache."""
SLICE_BYTES = 64 * 1024 * 1024
"""Rows visited in one call of a kernel: short enough to hear Ctrl-C and to move the progress bar."""


@dataclass(frozen=True)
class RowMatrix:
    """A matrix as kernels take it; ``matrix`` is the same numbers as numpy or SciPy hold them."""

    matrix: Matrix
    parts: tuple[Any, ...]
    n: int
    d: int
    terms: int
    """The most entries in a row."""

    @property
    def row_bytes(self) -> int:
        """Bytes of an average row, at least 1."""
        arrays = [part for part in self.parts if isinstance(part, np.ndarray)]
        return max(1, sum(array.nbytes for array in arrays) // max(1, self.n))

    @property
    def ahead(self) -> int:
        """How many rows ahead of a shuffled visit memory should be asked for."""
        if len(self.parts) == 3:
            return 4
        return min(16, max(2, 2048 // self.row_bytes))

    def longest(self, which: np.ndarray) -> float:
        """Return the length of the longest of the rows ``which``, without overflow or underflow on the way."""
        matrix = self.matrix[which].astype(np.float64)
        values = matrix.data if sp.issparse(matrix) else matrix
        largest = float(np.max(np.abs(values), initial=0.0))
        if largest == 0.0:
            return 0.0
        exponent = math.frexp(largest)[1]
        scaled = np.ldexp(values, -exponent)
        if sp.issparse(matrix):
            squares = type(matrix)((scaled * scaled, matrix.indices, matrix.indptr), shape=matrix.shape).sum(axis=1)
        else:
            squares = (scaled * scaled).sum(axis=1)
        try:
            return math.ldexp(math.sqrt(float(np.max(squares))), exponent)
        except OverflowError:
            return math.inf


def as_rows(X: Matrix) -> RowMatrix:
    """Return ``X`` (float32 or float64; C-ordered, or CSR) as rows for kernels, without a copy if it can be."""
    n, d = X.shape
    if not sp.issparse(X):
        return RowMatrix(X, (_read_only(X.reshape(-1)), d), n, d, d)
    check_sparse(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    narrow = X.indices.dtype.itemsize == X.indptr.dtype.itemsize == 4
    signed, unsigned = (np.int32, np.uint32) if narrow else (np.int64, np.uint64)
    indices, indptr = (part.astype(signed, copy=False).view(unsigned) for part in (X.indices, X.indptr))
    parts = tuple(_read_only(np.ascontiguousarray(part)) for part in (X.data, indices, indptr))
    return RowMatrix(X, parts, n, d, int(np.max(np.diff(X.indptr), initial=0)))


class NotFinite(ValueError):
    """A row that was visited holds NaN or infinity."""


def check_finite(X: Matrix) -> None:
    """Raise NotFinite if a number of a matrix is not finite."""
    if not np.isfinite(X if isinstance(X, np.ndarray) else X.data).all():
        raise NotFinite("X holds NaN or infinity, expected finite numbers: replace or leave out such rows.")


def check_sparse(X: Matrix) -> None:
    """Raise a ValueError where an index or a pointer of a CSR or CSC matrix lies outside; SciPy would crash on it."""
    lines, width = X.shape if X.format == "csr" else X.shape[::-1]
    pointers, indices = X.indptr, X.indices
    if (
        len(pointers) != lines + 1
        or pointers[0] != 0
        or pointers[-1] > min(len(indices), len(X.data))
        or (pointers[1:] < pointers[:-1]).any()  # a difference could overflow
        or (pointers[-1] and np.max(indices.view(f"u{indices.itemsize}")[: pointers[-1]]) >= width)  # -1 becomes large
    ):
        raise ValueError(
            f"X is not a valid {X.format.upper()} matrix of shape {X.shape}: an index or a pointer lies outside. "
            "Build it again from its coordinates, or find the fault with X.check_format()."
        )


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to, so that kernels are compiled for one type only."""
    view = array.view()
    view.flags.writeable = False
    return view


def feature_ranges(X: Matrix) -> NDArray[np.float64]:
    """Return the range of each feature over at most some thousand rows spread over ``X``: its scale, cheaply."""
    sample = X[:: max(1, X.shape[0] // 1000)]
    high, low = sample.max(axis=0), sample.min(axis=0)
    if sp.issparse(X):
        high, low = high.toarray(), low.toarray()
    with np.errstate(over="ignore"):
        return (high.astype(np.float64) - low).ravel()


def pad_columns(X: sp.csr_array, width: int) -> sp.csr_array:
    """Return a CSR matrix with at least ``width`` columns, without a copy of its numbers."""
    if X.shape[1] >= width:
        return X
    wider = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], width), copy=False)
    wider.has_canonical_format = X.has_canonical_format
    return wider
