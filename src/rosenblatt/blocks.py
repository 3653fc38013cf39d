"""Blocks of labelled rows, functions that cut and join them, and the protocol of streams that read files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, TypeGuard, cast

import numpy as np
import scipy.sparse as sp

from rosenblatt.messages import ParameterError, shorten

if TYPE_CHECKING:
    from rosenblatt.splits import Split

Features: TypeAlias = np.ndarray | sp.csr_array
"""A matrix with one example per row: a NumPy array, or a CSR array of SciPy."""


def is_sparse(X: Features) -> TypeGuard[sp.csr_array]:
    """Return whether ``X`` is sparse."""
    return bool(sp.issparse(X))


def is_canonical_csr(indptr: np.ndarray, indices: np.ndarray, width: int) -> bool:
    """Return whether untrusted ``indptr`` and ``indices`` form a canonical CSR matrix with ``width`` columns.

    In canonical form the column indices of each row strictly increase.

    >>> is_canonical_csr(np.array([0, 2, 3]), np.array([0, 2, 1]), 3)
    True
    >>> is_canonical_csr(np.array([0, 2, 3]), np.array([2, 0, 1]), 3)
    False
    """
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        return False
    rising = np.ones(len(indices) + 1, bool)
    rising[1:-1] = indices[1:] > indices[:-1]
    rising[indptr] = True  # the first index of a row may have any value
    return bool(rising.all() and np.min(indices, initial=0) >= 0 and np.max(indices, initial=-1) < width)


class DataError(ParameterError):
    """Raised for data that cannot be read. The message names its location, such as the file and line."""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a stream. Where a stream is cut into blocks does not affect results.

    Examples
    --------
    >>> block = Block(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, -1.0]), first=10)
    >>> len(block), block.first
    (2, 10)
    >>> X, y = block
    >>> y
    array([ 1., -1.])

    To a model that was trained on a table, pass rows that are already encoded as features as a block:

    >>> Block([[0.5, -1.0]])
    Block(X=array([[ 0.5, -1. ]]), y=array([nan]), first=0, weight=None, is_validated=False)
    """

    X: Features
    """The features, float32 or float64: a CSR array in canonical form, or a C-ordered array. They may be read-only."""
    y: np.ndarray = None  # type: ignore[assignment]
    """The label of each row; NaN for rows without a label. By default all labels are NaN."""
    first: int = 0
    """The index of the first row within the stream, counted from 0."""
    weight: np.ndarray | None = None
    """The weight of each row, or None if all are 1."""
    is_validated: bool = False
    """Whether a reader has verified the form of ``X``, and that ``X``, ``y`` and ``weight`` are finite."""
    numbers: np.ndarray | None = field(default=None, repr=False)
    """The index of each row among all rows of the files, counted from 0; None if no earlier rows were left out."""
    passthrough: Mapping[str, Sequence[object]] | None = field(default=None, repr=False)
    """The values of the columns in ``data.open(passthrough=...)``, by column name; None if there are none."""
    held_out: np.ndarray | None = field(default=None, repr=False)
    """A mask of the rows that are held out of training; None if the rows are not split."""
    has_label: np.ndarray | None = field(default=None, repr=False)
    """A mask of the rows that have a label; None if all have one, or if labels are not read."""

    def __post_init__(self) -> None:
        if not hasattr(self.X, "shape"):
            object.__setattr__(self, "X", np.asarray(self.X, dtype=np.float64))
        if not isinstance(self.y, np.ndarray):
            y = np.full(self.X.shape[0], np.nan) if self.y is None else np.asarray(self.y)
            object.__setattr__(self, "y", y)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.y)

    def __iter__(self) -> Iterator[Any]:
        """Yield ``X`` and then ``y``, so that ``X, y = block`` works; sample weights are in ``weight``."""
        return iter((self.X, self.y))

    @property
    def nbytes(self) -> int:
        """The total size of the arrays in bytes."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def arrays(self) -> list[np.ndarray]:
        """The arrays that hold the features, the labels and the weights."""
        X = self.X
        features = [X.data, X.indices, X.indptr] if is_sparse(X) else [X]
        return [*features, self.y, *([] if self.weight is None else [self.weight])]


def slice_block(block: Block, start: int, stop: int) -> Block:
    """Return the rows from ``start`` up to but not including ``stop``; the block itself if these are all its rows.

    Examples
    --------
    >>> part = slice_block(Block(np.eye(3), np.arange(3), first=5), 1, 3)
    >>> part.first, part.y
    (6, array([1, 2]))
    """
    return block if stop - start == len(block) else _select(block, slice(start, stop), block.first + start)


def with_numbers(block: Block) -> Block:
    """Return a block with the index of each row among all rows of the files.

    >>> with_numbers(Block(np.eye(2), np.arange(2), 7)).numbers
    array([7, 8])
    """
    if block.numbers is not None:
        return block
    return replace(block, numbers=np.arange(block.first, block.first + len(block)))


def take_rows(block: Block, rows: np.ndarray, first: int) -> Block:
    """Return the rows of a block at the positions ``rows``, as a block whose first row has the index ``first``.

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
        held_out=None if block.held_out is None else block.held_out[rows],
        has_label=None if block.has_label is None else block.has_label[rows],
    )


def skip_rows(blocks: Iterable[Block], row: int) -> Generator[Block, None, None]:
    """Yield the blocks of a stream from the row with index ``row`` on; the block that contains this row is cut.

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
    """Join consecutive blocks into one.

    Sparse blocks are padded to the width of the widest. Dense blocks of different widths raise a ValueError, and so do
    labels that cannot be compared exactly.

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
                    "give all the same columns; only sparse blocks may differ in width."
                )
        X = np.concatenate(matrices)
    weight = None
    if any(block.weight is not None for block in blocks):
        weight = np.concatenate([np.ones(len(b)) if b.weight is None else b.weight for b in blocks])
    y = join_labels([block.y for block in blocks])
    numbers = None
    if any(block.numbers is not None for block in blocks):
        numbers = np.concatenate([b.first + np.arange(len(b)) if b.numbers is None else b.numbers for b in blocks])
    parts = [block.passthrough for block in blocks if block.passthrough is not None]
    masks = [block.held_out for block in blocks if block.held_out is not None]
    has_label = None
    if any(block.has_label is not None for block in blocks):
        has_label = np.concatenate([np.ones(len(b), bool) if b.has_label is None else b.has_label for b in blocks])
    return Block(
        X,
        y,
        blocks[0].first,
        weight,
        all(block.is_validated for block in blocks),
        numbers,
        {name: [cell for part in parts for cell in part[name]] for name in parts[0]}
        if len(parts) == len(blocks)
        else None,
        np.concatenate(masks) if len(masks) == len(blocks) else None,
        has_label,
    )


def rebatch(blocks: Iterable[Block], size: int) -> Generator[Block, None, None]:
    """Yield the rows of ``blocks`` in blocks of ``size`` rows; the last one may be smaller.

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
    """Stack CSR arrays vertically, padded to the width of the widest.

    Unlike SciPy's ``vstack``, this keeps the flag ``has_canonical_format``.

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


# Labels. NumPy drops null characters at the end of strings, turns numbers beside strings into strings, and rounds
# integers beside floats. Each of these can make one class of two.


EXACT_BELOW = 2**53
"""All integers below this in absolute value are float64 numbers, and no other integer is rounded to one of these."""


def is_text(labels: np.ndarray) -> bool:
    """Return whether string labels from an untrusted file are valid Unicode; True for labels of any other type.

    >>> is_text(np.array(["a", "\U0001f600"])), is_text(np.array([0xD800], np.uint32).view("U1"))
    (True, False)
    """
    if labels.dtype.kind != "U":
        return True
    codes = labels.view(np.uint32)
    return not ((codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))).any()


def as_labels(given: object) -> np.ndarray:
    """Return labels as an array; raise a ValueError if NumPy would change a label.

    >>> as_labels(["yes", "no"])
    array(['yes', 'no'], dtype='<U3')
    >>> as_labels(["1", 1])
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: expected labels that NumPy keeps as they are, got 1, which it would turn into
    '1': convert all labels to an array of integers, or to strings that do not end in a null character.
    """
    labels = np.asarray(given)
    check_labels_kept(given, labels)
    return labels


def as_classes(given: object) -> np.ndarray:
    """Return the sorted classes that a user gave; raise a ParameterError unless they are a one-dimensional array.

    >>> as_classes(["yes", "no", "no"])
    array(['no', 'yes'], dtype='<U3')
    """
    if np.ndim(given) != 1:  # type: ignore[arg-type]
        raise ParameterError(
            "{classes} must be a one-dimensional array of the labels of all classes, got {got}: give a list, such as "
            "[0, 1, 2].",
            got=shorten(given),
        )
    return np.unique(as_labels(given))


def check_labels_kept(given: Any, labels: np.ndarray) -> None:
    """Raise a ValueError if ``labels``, the array that was made from ``given``, differs from ``given``."""
    rounds = labels.dtype.kind == "f" and bool((np.abs(labels) >= EXACT_BELOW).any())
    if isinstance(given, np.ndarray) or not (rounds or labels.dtype.kind in "US"):
        return
    before, after = np.asarray(given, dtype=object).ravel().tolist(), labels.ravel().tolist()
    if before != after:
        label, made = next(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
        raise ParameterError(
            "expected labels that NumPy keeps as they are, got {label}, which it would turn into {made}: convert all "
            "labels to an array of integers, or to strings that do not end in a null character.",
            label=shorten(label),
            made=shorten(made),
        )


def check_label_types(known: np.ndarray, *others: np.ndarray) -> None:
    """Raise a ValueError unless the labels of all arrays can be compared exactly.

    Words, numbers and times cannot be mixed. Integers of 2**53 or more in absolute value cannot be mixed with floats.
    Such integers of type int64 cannot be mixed with uint64 either. In both cases NumPy would compare the labels as
    float64. Arrays without labels can be mixed with all.
    """
    filled = [labels for labels in (known, *others) if labels.size]
    for labels in filled[1:]:
        if _family(filled[0]) != _family(labels):
            raise ValueError(
                f"the labels so far are {filled[0].tolist()}, but a new label is {labels.tolist()[0]!r}: "
                "labels must be all strings or all numbers."
            )
    types = {part.dtype for part in filled}
    if len(types) < 2 or np.result_type(*types).kind != "f":
        return
    for part in filled:
        large = part[(part >= EXACT_BELOW) | (part <= -EXACT_BELOW)] if part.dtype.kind in "iu" else part[:0]
        if len(large):
            raise ParameterError(
                "labels of types {types} are compared as float64, which may round {label}: convert all labels to one "
                "type of integers, or to strings.",
                types=" and ".join(sorted(map(str, types))),
                label=int(large[0]),
            )


def join_labels(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join arrays of labels into one; raise a ValueError unless all their labels can be compared exactly."""
    check_label_types(*parts)
    return np.concatenate(parts)


def join_classes(known: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the sorted classes of ``known`` and of ``labels``; raise a ValueError if they cannot be compared."""
    check_label_types(known, labels)
    return np.union1d(known, labels)


def _family(labels: np.ndarray) -> str:
    """Return "words", "numbers" or "times"; labels of different families cannot be sorted together."""
    kind = labels.dtype.kind
    if kind in "US" or (kind in "OT" and all(isinstance(label, str) for label in labels.tolist())):
        return "words"
    return "times" if kind in "Mm" else "numbers"


# The protocol of streams that read blocks from files, such as the streams that `data.open` returns.


class FileRecord(TypedDict):
    """The state of one file: its size and modification time, and how many of its bytes have been read."""

    size: int
    modified: int
    """The modification time, in nanoseconds."""
    read: int
    """The number of bytes read so far."""
    digest: str | None
    """The digest of the bytes read so far; None if the file was changed while it was read."""


Records = list[FileRecord]


class Contents(Protocol):
    """The state of the files that a stream reads; `data.io.identity` implements it."""

    def records(self) -> Records:
        """Return the state of each file."""

    def restore(self, records: Records | None) -> None:
        """Restore the states that an earlier training run recorded; ``records`` is None if there are none."""

    def changed_size(self, records: Records) -> str:
        """Describe how the number or the sizes of the files differ from ``records``; return "" if they do not."""

    def changed_bytes(self, records: Records, progress: Callable[[float], None]) -> str:
        """Describe the first file whose bytes differ from those that were read before; return "" if none does.

        ``progress`` is called with the share of the bytes compared so far, from 0 to 1.
        """


class FileStream(Protocol):
    """A stream of blocks that are read from files, such as a `data.Stream`."""

    fingerprint: str
    """A digest that identifies the rows."""
    is_fitted: bool
    """Whether the rows no longer depend on which rows `fit_scale` holds out."""
    share_read: float
    """The share of the files read so far, from 0 to 1."""
    preparation: dict[str, Any] | None
    """Plain data that defines how rows are made from the files."""
    feature_names: list[str] | None

    def __iter__(self) -> Iterator[Block]:
        """Iterate over all blocks from the start of the files."""

    def reads(self, path: object) -> bool:
        """Return whether ``path`` is one of the files."""

    def unscaled(self) -> Iterable[Block]:
        """Return a stream of the same rows without scaling."""

    def fit_scale(self, split: Split | None) -> None:
        """Fit the schema and the scale to the rows that ``split`` does not hold out, or to all rows if it is None."""

    def watch_contents(self) -> Contents | None:
        """Start recording the bytes that are read; return None if the files can be read only once."""


def as_file_stream(blocks: object) -> FileStream | None:
    """Return ``blocks`` if it is a stream of files; return None for other iterables, such as a list of blocks.

    >>> as_file_stream([])
    """
    return cast(FileStream, blocks) if hasattr(blocks, "watch_contents") else None
