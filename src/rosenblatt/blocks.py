"""Blocks of rows with labels, as readers return them: how to cut, join and check them; streams of files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, TypedDict, TypeGuard, cast

import numpy as np
import scipy.sparse as sp

from rosenblatt.messages import ParameterError

Features: TypeAlias = np.ndarray | sp.csr_array
"""Rows of numbers, dense or sparse."""


def is_sparse(X: Features) -> TypeGuard[sp.csr_array]:
    """Return whether ``X`` is sparse."""
    return bool(sp.issparse(X))


def is_canonical_csr(indptr: np.ndarray, indices: np.ndarray, width: int) -> bool:
    """Return whether untrusted arrays are those of a CSR matrix of ``width`` columns in canonical form.

    In canonical form the columns of each row ascend.

    >>> is_canonical_csr(np.array([0, 2, 3]), np.array([0, 2, 1]), 3)
    True
    >>> is_canonical_csr(np.array([0, 2, 3]), np.array([2, 0, 1]), 3)
    False
    """
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        return False
    rising = np.ones(len(indices) + 1, bool)
    rising[1:-1] = indices[1:] > indices[:-1]
    rising[indptr] = True  # the first column of a row may be any
    return bool(rising.all() and np.min(indices, initial=0) >= 0 and np.max(indices, initial=-1) < width)


def is_text(labels: np.ndarray) -> bool:
    """Return whether untrusted labels are valid Unicode if they are strings; True for labels of other types.

    >>> is_text(np.array(["a", "\U0001f600"])), is_text(np.array([0xD800], np.uint32).view("U1"))
    (True, False)
    """
    if labels.dtype.kind != "U":
        return True
    codes = labels.view(np.uint32)
    return not ((codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))).any()


class DataError(ParameterError):
    """Data that cannot be read as expected. The message names the file, and the line if there is one."""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a stream. How a stream is cut into blocks has no meaning.

    Examples
    --------
    >>> block = Block(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, -1.0]), first=10)
    >>> len(block), block.first
    (2, 10)
    >>> X, y = block
    >>> y
    array([ 1., -1.])
    """

    X: Features
    """The features: a CSR array in canonical form, or a C-ordered array; float32 or float64. It may be read-only."""
    y: np.ndarray
    """A label for each row; NaN if the input has none and none was required."""
    first: int
    """The number of the first row in the stream, from 0."""
    weight: np.ndarray | None = None
    """The weight of each row, or None if all are 1."""
    is_validated: bool = False
    """Whether a reader has verified all this, and that ``X``, ``weight`` and the labels are finite."""
    numbers: np.ndarray | None = field(default=None, repr=False)
    """The number of each row among all rows of the files, from 0, if rows may have been left out."""
    passthrough: Mapping[str, Sequence[object]] | None = field(default=None, repr=False)
    """The values of columns that come along, where ``data.open(passthrough=)`` asks for some."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.y)

    def __iter__(self) -> Iterator[Any]:
        """Yield ``X`` and ``y``, so that a block unpacks to both; weights are in ``weight``."""
        return iter((self.X, self.y))

    @property
    def nbytes(self) -> int:
        """The total size of the arrays in bytes."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def arrays(self) -> list[np.ndarray]:
        """The arrays of its features, labels and weights."""
        X = self.X
        features = [X.data, X.indices, X.indptr] if is_sparse(X) else [X]
        return [*features, self.y, *([] if self.weight is None else [self.weight])]


def slice_block(block: Block, start: int, stop: int) -> Block:
    """Return the rows ``start`` to ``stop`` of a block, or the block itself if these are all rows.

    Examples
    --------
    >>> part = slice_block(Block(np.eye(3), np.arange(3), first=5), 1, 3)
    >>> part.first, part.y
    (6, array([1, 2]))
    """
    return block if stop - start == len(block) else _select(block, slice(start, stop), block.first + start)


def take_rows(block: Block, rows: np.ndarray, first: int) -> Block:
    """Return some rows of a block, numbered from ``first`` on.

    Examples
    --------
    >>> take_rows(Block(np.eye(3), np.arange(3), 7), np.array([0, 2]), 5).y
    array([0, 2])
    """
    return _select(block, rows, first)


def _select(block: Block, rows: slice | np.ndarray, first: int) -> Block:
    passthrough = None
    if block.passthrough is not None:
        places = range(len(block))[rows] if isinstance(rows, slice) else rows
        passthrough = {name: [cells[row] for row in places] for name, cells in block.passthrough.items()}
    return replace(
        block,
        X=block.X[rows],
        y=block.y[rows],
        first=first,
        weight=None if block.weight is None else block.weight[rows],
        numbers=None if block.numbers is None else block.numbers[rows],
        passthrough=passthrough,
    )


def skip_rows(blocks: Iterable[Block], row: int) -> Generator[Block, None, None]:
    """Yield the rows from number ``row`` on.

    Examples
    --------
    >>> blocks = [Block(np.eye(3), np.arange(3), 0), Block(np.eye(3), np.arange(3, 6), 3)]
    >>> [block.y.tolist() for block in skip_rows(blocks, 4)]
    [[4, 5]]
    """
    for block in blocks:
        n = block.X.shape[0]
        if block.first + n > row:
            yield slice_block(block, max(0, row - block.first), n)


def join_blocks(blocks: Sequence[Block]) -> Block:
    """Return consecutive blocks as one block; sparse blocks are padded to the widest.

    Examples
    --------
    >>> join_blocks([Block(np.eye(2), np.arange(2), 0), Block(np.eye(2), np.arange(2), 2, np.full(2, 0.5))]).weight
    array([1. , 1. , 0.5, 0.5])
    """
    if len(blocks) == 1:
        return blocks[0]
    matrices = [block.X for block in blocks]
    if any(map(is_sparse, matrices)):
        X: Features = stack([sp.csr_array(matrix) for matrix in matrices])
    else:
        for matrix in matrices:
            if matrix.shape[1:] != matrices[0].shape[1:]:
                raise ValueError(
                    f"expected blocks of the same width, got {matrix.shape[1]} features after {matrices[0].shape[1]}: "
                    "only sparse blocks may become wider."
                )
        X = np.concatenate(matrices)
    weight = None
    if any(block.weight is not None for block in blocks):
        weight = np.concatenate([np.ones(len(b)) if b.weight is None else b.weight for b in blocks])
    y = np.concatenate([block.y for block in blocks])
    numbers = [block.numbers for block in blocks if block.numbers is not None]
    parts = [block.passthrough for block in blocks if block.passthrough is not None]
    return Block(
        X,
        y,
        blocks[0].first,
        weight,
        all(block.is_validated for block in blocks),
        np.concatenate(numbers) if len(numbers) == len(blocks) else None,
        {name: [cell for part in parts for cell in part[name]] for name in parts[0]}
        if len(parts) == len(blocks)
        else None,
    )


def rebatch(blocks: Iterable[Block], size: int) -> Generator[Block, None, None]:
    """Yield the same rows in blocks of ``size`` rows; the last block may be smaller.

    Examples
    --------
    >>> blocks = [Block(np.eye(3), np.arange(3), 0), Block(np.eye(3), np.arange(3, 6), 3)]
    >>> [block.y.tolist() for block in rebatch(blocks, 4)]
    [[0, 1, 2, 3], [4, 5]]
    """
    waiting: list[Block] = []
    count = 0
    for block in blocks:
        start = 0
        while count + len(block) - start >= size:
            stop = start + size - count
            yield join_blocks([*waiting, slice_block(block, start, stop)])
            waiting, count, start = [], 0, stop
        if start < len(block):
            waiting.append(slice_block(block, start, len(block)))
            count += len(block) - start
    if waiting:
        yield join_blocks(waiting)


def stack(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    """Return CSR arrays stacked vertically, padded to the widest. SciPy's ``vstack`` loses the flag of sorted rows.

    Examples
    --------
    >>> X = stack([sp.csr_array([[1.0, 0.0]]), sp.csr_array([[0.0, 2.0, 3.0]])])
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


# The protocol of blocks that come from files, as those of `data.open` do.


class FileRecord(TypedDict):
    """A record of what has been read of a file."""

    size: int
    modified: int
    """The time of the last change, in nanoseconds."""
    read: int
    """The number of bytes read."""
    digest: str | None
    """The digest of these bytes."""


Records = list[FileRecord]


class Contents(Protocol):
    """Records of what has been read of the files that blocks come from (`data.io.identity`)."""

    def records(self) -> Records:
        """Return a record of each file."""

    def restore(self, records: Records | None) -> None:
        """Continue with the records of an earlier run on the same files, if there are any."""

    def changed_size(self, records: Records) -> str:
        """Return a description of how the sizes of files have changed, "" if they have not."""

    def changed_bytes(self, records: Records, progress: Callable[[float], None]) -> str:
        """Return which file has other bytes than those that were read, "" if none has."""


class FileStream(Protocol):
    """A stream of blocks from files, with a fingerprint, a scale and a position."""

    fingerprint: str
    """Identifies the rows."""
    scale_pending: bool
    """Whether all rows are read once before the first block, to find their scale."""
    share_read: float
    """The share of the files that has been read, from 0 to 1."""
    preparation: dict[str, Any] | None
    """How rows are made of the files, as plain data."""
    feature_names: list[str] | None

    def __iter__(self) -> Iterator[Block]:
        """Read all blocks from the start."""

    def reads(self, path: object) -> bool:
        """Return whether a path names one of the files."""

    def unscaled(self) -> Iterable[Block]:
        """Return the same rows before scaling."""

    def fit_scale(self, trained: Callable[[int, int], np.ndarray] | None) -> None:
        """Find the scale of the columns from the rows in the mask that ``trained`` returns, or from all for None."""

    def watch_contents(self) -> Contents | None:
        """Record what is read of the files from now on; None if they can be read only once."""


def as_file_stream(blocks: object) -> FileStream | None:
    """Return blocks as a stream of files, None for other blocks, such as a list of arrays.

    >>> as_file_stream([])
    """
    return cast(FileStream, blocks) if hasattr(blocks, "watch_contents") else None
