"""What every reader hands over: some rows with their labels, and an error that names file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class DataError(ValueError):
    """Data that cannot be read as what they were taken for: one sentence that names the file, and the line if any."""


class Place(NamedTuple):
    """A place between two lines of the files being read: where reading can go on."""

    file: int
    """Number of the file, from 0, in the order of reading."""
    offset: int
    """Bytes of that file before this place, counted after decompression."""
    line: int
    """Lines of that file before this place."""


@dataclass(frozen=True)
class Block:
    """Some rows that follow one another in a stream. Where one block ends and the next begins carries no meaning.

    Examples
    --------
    >>> block = Block(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, -1.0]), first=10)
    >>> len(block), block.first
    (2, 10)
    """

    X: Any
    """The features: a CSR array in canonical form, or a C-ordered array; float32 or float64. It may be read-only."""
    y: np.ndarray
    """A label for each row; NaN where the text has none and none was asked for."""
    first: int
    """The number of the first row in the stream, from 0."""
    weight: np.ndarray | None = None
    """How much each row counts, or None where each counts 1."""
    after: Place | None = None
    """Where the rows after these begin, for readers that can go on from there."""
    checked: bool = False
    """Whether a reader has made sure of all this, and that ``X``, ``weight`` and the labels are finite."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.y)

    @property
    def size(self) -> int:
        """The bytes that its numbers take."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def arrays(self) -> list[np.ndarray]:
        """All arrays that its numbers are in."""
        X = self.X
        features = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
        return [*features, self.y, *([] if self.weight is None else [self.weight])]


def stacked(matrices: Sequence[Any]) -> Any:
    """Return CSR arrays below each other, as wide as the widest. SciPy's ``vstack`` forgets that rows are sorted.

    Examples
    --------
    >>> X = stacked([sp.csr_array([[1.0, 0.0]]), sp.csr_array([[0.0, 2.0, 3.0]])])
    >>> X.toarray(), X.indptr.dtype
    (array([[1., 0., 0.],
           [0., 2., 3.]]), dtype('int32'))
    """
    entries = sum(X.nnz for X in matrices)
    narrow = entries < 2**31 and all(X.indices.dtype.itemsize == 4 for X in matrices)
    indptr = np.zeros(1 + sum(X.shape[0] for X in matrices), np.int32 if narrow else np.int64)
    row = before = 0
    for X in matrices:
        np.add(X.indptr[1:], before, out=indptr[row + 1 : row + 1 + X.shape[0]], dtype=indptr.dtype)
        row, before = row + X.shape[0], before + X.nnz
    data = np.concatenate([X.data[: X.nnz] for X in matrices])
    indices = np.concatenate([X.indices[: X.nnz] for X in matrices]).astype(indptr.dtype, copy=False)
    together = sp.csr_array((data, indices, indptr), shape=(row, max(X.shape[1] for X in matrices)))
    together.has_canonical_format = all(X.has_canonical_format for X in matrices)
    return together
