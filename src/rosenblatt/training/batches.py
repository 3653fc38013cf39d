"""Batches of rows with class numbers and step sizes, from memory or from a stream, and the order of their rows.

Rows of a stream are numbered from 0 in the order in which they arrive. A window is ``WINDOW`` consecutive rows. The
last window may be shorter. Rows are shuffled within each window, in an order that depends on the seed, the pass and the
number of the window. So the order does not depend on how the stream is divided into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import (
    Block,
    as_classes,
    as_file_stream,
    as_labels,
    check_label_types,
    is_sparse,
    join_classes,
    rebatch,
    skip_rows,
)
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.messages import ParameterError, shorten
from rosenblatt.splits import Split
from rosenblatt.training.rows import (
    ClassWeight,
    Entries,
    Labels,
    Matrix,
    RowMatrix,
    VectorLike,
    as_rows,
    check_numbers,
    check_one_each,
    check_sparse,
    class_numbers,
    encode_labels,
    number_labels,
    pad_columns,
    step_sizes,
)

WINDOW = 1 << 16
"""The number of rows of a stream that are shuffled together."""

Validate = Callable[[Block], tuple[Matrix, Labels]]
"""A function that returns the rows and the labels of a block; the rows are a C-ordered or CSR matrix of finite floats.

The function raises a ValueError if the block is not valid.
"""


class Batch(NamedTuple):
    """Consecutive rows of a source, in the form in which a training pass reads them."""

    rows: RowMatrix
    labels: NDArray[np.int32]
    """The class number of each row: its index in ``classes``."""
    steps: NDArray[np.float64]
    """The step size of each row. The array is empty if all step sizes are 1."""
    first: int
    """The row number, within the source, of the first row of the batch."""
    classes: Labels
    """The sorted classes. Some of them may not occur in this batch."""
    held_out: NDArray[np.bool_] | None = None
    """A mask of the rows that early stopping holds out of training; None without early stopping."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each row in training: its step size, or 0 if it is held out."""
        steps = self.steps if len(self.steps) else np.ones(self.rows.n)
        return steps if self.held_out is None else np.where(self.held_out, 0.0, steps)


class BatchSource(Protocol):
    """The data set or stream from which a training run reads batches."""

    classes: Labels
    """All classes known so far, sorted."""
    rereadable: bool
    """Whether the batches can be read again, for another pass."""
    in_memory: bool
    """Whether all rows are in memory, as a single batch."""
    width: int
    """The number of columns known so far."""

    def hold_out(self, split: Split) -> None:
        """Mark the rows that a split holds out, in all batches that are read from now on."""

    def batches(self, from_row: int = 0, window: int | None = None) -> Iterator[Batch]:
        """Yield batches, starting at row number ``from_row``; each has ``window`` rows if ``window`` is given."""

    def share(self, batch: Batch, visited: int) -> float:
        """Return the share of the source's rows that are done after the first ``visited`` rows of this batch."""


class TrainingSource(BatchSource, Protocol):
    """A source of batches for `train`. Its classes can be numbered anew, for instance after a class is added."""

    def set_classes(self, classes: Labels) -> None:
        """Use the index of each class in ``classes`` as its number from now on."""


class InMemory:
    """A source of batches for a data set in memory, which yields all rows as one batch."""

    rereadable = in_memory = True

    def __init__(self, batch: Batch) -> None:
        self.batch, self.classes, self.width = batch, batch.classes, batch.rows.d

    def set_classes(self, classes: Labels) -> None:
        """Use the index of each class in ``classes`` as its number; ``classes`` must include those of the batch."""
        places = class_numbers(self.batch.classes, classes)
        self.batch, self.classes = self.batch._replace(labels=places[self.batch.labels], classes=classes), classes

    def hold_out(self, split: Split) -> None:
        """Mark the rows that a split holds out."""
        (mask,) = split.held_out([self.batch.labels])
        self.batch = self.batch._replace(held_out=mask)

    def batches(self, from_row: int = 0, window: int | None = None) -> Iterator[Batch]:
        """Yield the only batch. Both parameters are ignored."""
        yield self.batch

    def share(self, batch: Batch, visited: int) -> float:
        """Return ``visited`` as a share of all rows."""
        return visited / max(1, batch.rows.n)


class NewClass(Exception):
    """Raised for a label of an unknown class. The training run then has to restart with all classes."""

    def __init__(self, source: Streamed) -> None:
        super().__init__("a label of a class that is not known")
        self.source = source


class Streamed:
    """A source of batches that reads an iterable of blocks. Later sparse blocks may have more columns.

    Parameters
    ----------
    blocks : iterable
        Blocks (X, y), (X, y, sample_weight) or `Block`. For files whose columns are to be scaled, call `fit_scale`
        before reading rows.
    classes : array, optional
        All classes; by default the classes of the first block. A label of another class raises `NewClass` if the blocks
        can be read again. If they can be read only once, the new class is added to ``classes`` from this batch on.
    class_weight : mapping, optional
        Step sizes by class; by default all are 1.
    validate : callable, optional
        Checks blocks that do not come from a reader of files, which validates its own. By default such blocks raise a
        ValueError.
    width : int
        The number of columns known already, by default 0.
    """

    in_memory = False

    def __init__(
        self,
        blocks: Iterable[object],
        classes: VectorLike = None,
        *,
        class_weight: ClassWeight = None,
        validate: Validate | None = None,
        width: int = 0,
    ) -> None:
        if not hasattr(blocks, "__iter__"):
            call = " (call it first)" if callable(blocks) else ""
            raise ValueError(
                f"expected an iterable of blocks (X, y) or what data.open returns, got a {type(blocks).__name__}{call}."
            )
        iterator = iter(blocks)
        self.blocks, self.rereadable = blocks, iterator is not blocks
        self._files = as_file_stream(blocks)
        fits_later = self._files is not None and not self._files.is_fitted
        self._labelled = self._files.unscaled() if self._files is not None and fits_later else blocks
        self.class_weight, self.validate, self.width = class_weight, validate or _as_read, width
        self._peeked: Iterator[Block] | None = None
        self._split: Split | None = None
        if classes is not None:
            self.classes = as_classes(classes)
        elif self._labelled is blocks:
            self._peeked = as_blocks(iterator)
            self.classes = np.unique(self.first_block().y)
        else:
            self._peeked = as_blocks(self._labelled)
            self.classes = np.unique(self.first_block().y)
            self._peeked = None  # these rows are not prepared yet

    def first_block(self) -> Block:
        """Return the first block. The first pass will read the block, too."""
        stream = self._peeked or as_blocks(self.blocks)
        first = next(stream, None)
        if first is None:
            where = "" if self._files is None else f", {self.blocks!r}"  # its repr names the files
            raise ValueError(f"expected rows to learn from, got an empty stream{where}.")
        self._peeked = chain([first], stream)
        return first

    def set_classes(self, classes: Labels) -> None:
        """Use the index of each class in ``classes`` as its number. Other classes may still appear in later blocks."""
        self.classes = classes

    def hold_out(self, split: Split) -> None:
        """Mark the rows that a split holds out, in all batches that are read from now on."""
        self._split = split

    def fit_scale(self, split: Split | None) -> None:
        """Find how rows are prepared and columns are scaled, if the blocks come from files and this is not known yet.

        The rows that ``split`` holds out are not used. If ``split`` is None, all rows are used.
        """
        if self._files is not None and not self._files.is_fitted:
            self._files.fit_scale(split)
            self._labelled = self._files.unscaled()  # whose rows may be cached

    def read_classes(self) -> None:
        """Read all labels, and add the classes that are not known yet to ``classes``."""
        self._peeked = None
        known = self.classes
        for block in as_blocks(self._labelled):
            known = join_classes(known, block.y)
        self.classes = known

    def batches(self, from_row: int = 0, window: int | None = None) -> Iterator[Batch]:
        """Yield batches, starting at row number ``from_row``: one for each block, or one for each ``window`` rows."""
        stream, self._peeked = self._peeked or as_blocks(self.blocks), None
        stream = map(self._validated, stream)
        if self._split is not None:  # before rows are skipped, because the split counts the rows of each class
            stream = self._split.mark(stream)
        if from_row:
            stream = skip_rows(stream, from_row)
        for block in rebatch(stream, window) if window else stream:
            yield self._batch(block)

    def _validated(self, block: Block) -> Block:
        """Return the block with its rows, labels and weights checked, or raise a ValueError."""
        X, n = block.X, block.X.shape[0]
        if is_sparse(X) and X.format in ("csr", "csc") and not block.is_validated:
            check_sparse(X)
        if is_sparse(X) and self.width:
            X = pad_columns(sp.csr_array(X), self.width)
        X, y = self.validate(Block(X, block.y, block.first, is_validated=block.is_validated))
        check_label_types(self.classes, y)
        self.width = X.shape[1]
        weight = block.weight
        if weight is not None and not block.is_validated:
            weight = np.asarray(weight, dtype=np.float64)
            weight = np.full(n, weight) if weight.ndim == 0 else weight
            check_one_each(weight, n)
        return Block(X, y, block.first, weight, is_validated=True)

    def _batch(self, block: Block) -> Batch:
        X, y = block.X, block.y
        if is_sparse(X):
            X = pad_columns(X, self.width)
        numbers, known = number_labels(y, self.classes)
        if not known:
            if self.rereadable:
                raise NewClass(self)
            self.classes = join_classes(self.classes, y)
            numbers, _ = number_labels(y, self.classes)
        return make_batch(X, numbers, self.classes, block.weight, self.class_weight, block.first, block.held_out)

    def share(self, batch: Batch, visited: int) -> float:
        """Return the share of the files that has been read, or 0 if the blocks do not come from files."""
        return 0.0 if self._files is None else self._files.share_read


def make_batch(
    X: Matrix,
    labels: NDArray[np.int32],
    classes: Labels,
    sample_weight: VectorLike,
    class_weight: ClassWeight,
    first: int = 0,
    held_out: NDArray[np.bool_] | None = None,
    entries: Entries = "sorted",
) -> Batch:
    """Return a batch of valid rows and class numbers; raise a ValueError if a weight is not valid."""
    steps = step_sizes(sample_weight, class_weight, classes, labels)
    return Batch(as_rows(X, entries), labels, steps, first, classes, held_out)


def check_batch(batch: Batch, order: NDArray[np.uint32], n_classes: int) -> None:
    """Raise a ValueError if a row number or class number is out of range, or if a label or a step size is missing.

    The column numbers of sparse rows are not checked here, but in `as_rows`.
    """
    n = batch.rows.n
    if len(batch.labels) != n or len(batch.steps) not in (0, n):
        raise ValueError(
            f"expected a label and a step size for each of the {n:,} rows of a batch, got {len(batch.labels):,} labels "
            f"and {len(batch.steps):,} step sizes: make a batch with make_batch or labelled_batch."
        )
    check_numbers("row numbers", order, n)
    check_numbers("class numbers", batch.labels, n_classes)


def labelled_batch(
    X: Matrix,
    y: Labels,
    sample_weight: VectorLike = None,
    class_weight: ClassWeight = None,
    known: Labels | None = None,
    entries: Entries = "sorted",
) -> Batch:
    """Return a batch of rows ``X`` with labels ``y``. Both must be valid; for ``entries`` see `as_rows`.

    If all labels are among the ``known`` classes, ``batch.classes`` is the array ``known`` itself. A training run tests
    this identity to see quickly that no class is new. Otherwise the classes are those that occur in ``y``.
    """
    if known is not None and ("U" in (y.dtype.kind, known.dtype.kind)) <= (y.dtype.kind == known.dtype.kind):
        numbers, are_known = number_labels(y, known)
        if are_known:
            return make_batch(X, numbers, known, sample_weight, class_weight, entries=entries)
    classes, numbers = encode_labels(y)
    return make_batch(X, numbers, classes, sample_weight, class_weight, entries=entries)


def as_blocks(blocks: Iterable[object]) -> Iterator[Block]:
    """Yield the blocks that are not empty, each as a `Block`.

    A block may be (X, y), (X, y, weights), or any object with attributes ``X`` and ``y``; anything else raises a
    ValueError.
    """
    first = 0
    for block in blocks:
        is_validated = False
        if hasattr(block, "X") and hasattr(block, "y"):
            X, y, weights = block.X, block.y, getattr(block, "weight", None)
            is_validated = getattr(block, "is_validated", False)
        elif isinstance(block, tuple | list) and len(block) in (2, 3):
            X, y, weights = (*block, None)[:3]
        else:
            raise ValueError(
                f"expected blocks of the form (X, y) or (X, y, sample_weight), got {type(block).__name__}: "
                "give an iterable of such pairs, or what data.open returns."
            )
        if y is None:
            raise ValueError("expected blocks of the form (X, y) or (X, y, sample_weight), got one whose y is None.")
        X, y = X if hasattr(X, "shape") else np.asarray(X), as_labels(y)
        if len(X.shape) != 2:
            raise ValueError(f"expected blocks with a two-dimensional X, got an X of shape {X.shape}.")
        if not y.ndim or len(y) != X.shape[0]:
            found = f"{len(y)} labels" if y.ndim else shorten(y.item())
            raise ValueError(f"expected a label for each of the {X.shape[0]} rows of a block, got {found}.")
        if X.shape[0]:
            yield Block(X, y, first, weights, is_validated=is_validated)
        first += X.shape[0]


def _as_read(block: Block) -> tuple[Matrix, Labels]:
    """Return the rows and labels of a validated block; raise a ValueError if a label is a fractional number."""
    y = block.y
    if not block.is_validated:
        raise ValueError(f"expected labels that are integers, strings or booleans, got an array of type {y.dtype}.")
    if y.dtype.kind == "f" and not np.array_equal(y, np.trunc(y)):
        value = float(y[y != np.trunc(y)][0])
        raise ParameterError(
            "expected class labels, got the number {value}, which looks like a regression target: choose a column of "
            "classes with {target}, or convert the numbers to classes first.",
            value=value,
        )
    return block.X, y


def arrivals(batch: Batch, order: NDArray[np.uint32], known: Labels) -> Iterator[tuple[Labels | None, int, int]]:
    """Split ``order``, the row numbers of a batch in visiting order, before the first row of each new class.

    Yield ``(class, start, stop)`` for each part ``order[start:stop]``. A part begins at the first row of a class that
    is not in ``known``, and ``class`` is an array of that one label. The first part begins at 0, and its class is None.
    """
    labels = batch.labels[order]
    new = (k for k in np.flatnonzero(~np.isin(batch.classes, known)) if (labels == k).any())
    first_visits = sorted((int(np.argmax(labels == k)), k) for k in new)
    starts = [0, *(visit for visit, _ in first_visits)]
    names = [None, *(batch.classes[k : k + 1] for _, k in first_visits)]
    yield from zip(names, starts, [*starts[1:], len(order)], strict=True)


# orders


def window_order(n: int, seed: int, pass_number: int, window: int) -> NDArray[np.uint32]:
    """Return the order in which a shuffled pass visits the n rows of a window.

    ``window`` is the number of the window, counted from 0. The order of window 0 is that of ``fit``. So rows of a
    stream that fit in one window are visited in the same order as rows in memory.
    """
    # The multiplier is odd, hence invertible modulo 2**64, so all windows of a pass have different seeds.
    return visiting_order(n, seed + window * 0x632BE59BD9B4E019, pass_number)
