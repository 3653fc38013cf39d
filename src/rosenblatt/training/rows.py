"""A matrix as kernels take it: rows that are dense or CSR, and what a pass needs to know of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

CACHE_BYTES = 64 * 1024
"""Rows that one-vs-rest machines visit in turn while they stay in the cache."""
SLICE_BYTES = 64 * 1024 * 1024
"""Rows visited in one call of a kernel: short enough to hear Ctrl-C and to move the progress bar."""


@dataclass(frozen=True)
class Rows:
    """A matrix as kernels take it; ``matrix`` is the same numbers as numpy or SciPy hold them."""

    matrix: Any
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
        scaled = matrix * (1.0 / 2.0 ** min(math.frexp(largest)[1], 1023))
        squares = scaled.multiply(scaled) if sp.issparse(scaled) else scaled * scaled
        return math.ldexp(math.sqrt(float(np.max(squares.sum(axis=1)))), min(math.frexp(largest)[1], 1023))


def as_rows(X: Any) -> Rows:
    """Return ``X`` (float32 or float64; C-ordered, or CSR) as rows for kernels, without a copy if it can be."""
    n, d = X.shape
    if not sp.issparse(X):
        return Rows(X, (_read_only(X.reshape(-1)), d), n, d, d)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    narrow = X.indices.dtype.itemsize == X.indptr.dtype.itemsize == 4
    signed, unsigned = (np.int32, np.uint32) if narrow else (np.int64, np.uint64)
    indices, indptr = (part.astype(signed, copy=False).view(unsigned) for part in (X.indices, X.indptr))
    sizes = np.diff(X.indptr)  # as unsigned numbers, indices that are negative are far too large
    if (
        indptr[0] != 0
        or indptr[-1] > min(len(indices), len(X.data))
        or np.min(sizes, initial=0) < 0
        or np.max(indices, initial=0) >= max(d, 1)
    ):
        raise ValueError(
            f"X is not a sound CSR matrix of {d} columns: an index or a row pointer lies outside. "
            "Build it again from its coordinates, or find the fault with X.check_format()."
        )
    parts = tuple(_read_only(np.ascontiguousarray(part)) for part in (X.data, indices, indptr))
    return Rows(X, parts, n, d, int(np.max(sizes, initial=0)))


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to, so that kernels are compiled for one type only."""
    view = array.view()
    view.flags.writeable = False
    return view
