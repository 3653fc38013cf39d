"""Shards: rows that stay where they were loaded, and what the driver knows of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import Block, Features, is_sparse, join_blocks, rebatch, skip_rows
from rosenblatt.estimators.array_inputs import as_numpy
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.validation import validate_pair
from rosenblatt.training.batches import Batch, make_batch
from rosenblatt.training.labels import Labels, check_label_types, check_one_each, encode_labels
from rosenblatt.training.rows import pad_columns

Loader = Callable[[], "Shard"]
"""Loads a shard, on a worker."""
_DIGESTED_ROWS = 100


@dataclass
class Shard:
    """Rows with labels: those of ``classes`` that the ``numbers`` say."""

    X: Features
    classes: Labels
    numbers: NDArray[np.int32]
    weight: NDArray[np.float64] | None = None
    names: list[str] | None = None
    """Names of the features, where the rows come from a data frame."""
    read: tuple[dict[str, Any], ...] = ()
    """What was counted while files were read, for each of them."""

    @property
    def nbytes(self) -> int:
        """The bytes that its numbers take."""
        return Block(self.X, self.numbers, 0, self.weight).nbytes

    def __sizeof__(self) -> int:
        """Return how much memory it takes: a cluster asks, before it moves a shard to another worker."""
        return self.nbytes + 1000

    def block(self, classes: Labels, first: int) -> Block:
        """Return its rows with numbers of ``classes`` as labels, counted from ``first`` on."""
        places = np.searchsorted(classes, self.classes).astype(np.int32)
        labels = places[self.numbers] if len(places) else self.numbers
        return Block(self.X, labels, first, self.weight, checked=True)


def make_shard(X: Any, y: Any, weight: Any = None) -> Shard:
    """Return a shard of valid rows and labels; it may be empty. A ValueError where something is not valid."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    rows, labels = X.shape[0] if X.shape else 0, np.asarray(as_numpy(y))
    n = len(labels) if np.ndim(labels) else 0
    if n != rows:
        raise ValueError(f"expected a label for each of the {rows:,} rows, got {n:,} labels.")
    if rows == 0:
        width = X.shape[1] if len(X.shape) > 1 else 0
        kept = sp.csr_array((0, width)) if sp.issparse(X) else np.empty((0, width))
        return Shard(kept, np.empty(0), np.empty(0, np.int32), names=_names(X))
    if hasattr(y, "isna") and np.any(y.isna()):
        raise ValueError("expected a label for each row, got missing ones: leave out such rows with dropna.")
    checker = Perceptron()
    matrix, labels = validate_pair(checker, X, labels, reset=True)
    classes, numbers = encode_labels(labels)
    names = getattr(checker, "feature_names_in_", None)
    if weight is not None:
        weight = np.asarray(as_numpy(weight), dtype=np.float64)
        weight = np.full(rows, weight) if weight.ndim == 0 else weight
        check_one_each(weight, rows)
    return Shard(matrix, classes, numbers, weight, None if names is None else [str(name) for name in names])


@contextmanager
def number_errors(where: str) -> Iterator[None]:
    """Say which shard it is that a ValueError is about, and what to do about missing numbers."""
    try:
        yield
    except ValueError as fault:
        message = str(fault)
        if "Input X contains" in message:
            message = (
                "there are missing or infinite numbers: fill them in first, for instance with fillna, or leave out "
                "such rows with dropna"
            )
        raise ValueError(f"{where}: {message}") from None


def _names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def join_shards(shards: Sequence[Shard]) -> Shard:
    """Return the rows of several shards, in their order, as one."""
    filled = [shard for shard in shards if len(shard.numbers)]
    read = tuple(counts for shard in shards for counts in shard.read)
    if len(shards) == 1 or not filled:
        return replace(shards[0], read=read)
    classes = all_classes([shard.classes for shard in filled])
    block = join_blocks([shard.block(classes, 0) for shard in filled])
    return Shard(block.X, classes, block.y, block.weight, filled[0].names, read)


def all_classes(parts: Sequence[Labels]) -> Labels:
    """Return the sorted classes of all parts that have some; a ValueError where words and numbers are mixed."""
    known = [part for part in parts if len(part)]
    for part in known[1:]:
        check_label_types(known[0], part)
    return reduce(np.union1d, known) if known else np.empty(0)


class ShardFacts(NamedTuple):
    """What the driver knows of a shard."""

    rows: int
    width: int
    classes: Labels
    names: list[str] | None
    sparse: bool
    nbytes: int
    digest: str
    """Of its first and its last rows and labels."""
    read: tuple[dict[str, Any], ...]
    """What was counted while its files were read."""


def shard_facts(shard: Shard) -> ShardFacts:
    """Return what the driver has to know of a shard; the rows stay."""
    n, width = shard.X.shape
    facts = n, width, shard.classes, shard.names, is_sparse(shard.X), shard.nbytes
    return ShardFacts(*facts, _digest(shard), shard.read)


def _digest(shard: Shard) -> str:
    n, digest = shard.X.shape[0], hashlib.sha256(repr((shard.X.shape, shard.classes.tolist())).encode())
    for part in (slice(0, min(n, _DIGESTED_ROWS)), slice(max(0, n - _DIGESTED_ROWS), n)):
        some = sp.csr_array(shard.X[part])
        for array in (some.indptr, some.indices, some.data):
            digest.update(np.asarray(array, np.float64).tobytes())
        digest.update(shard.numbers[part].tobytes())
        if shard.weight is not None:
            digest.update(shard.weight[part].tobytes())
    return digest.hexdigest()


class ShardRows:
    """The rows of one shard as batches, with those before it that its first window begins with.

    Parameters
    ----------
    shard : Shard
    classes : array
        All classes.
    first : int
        The number of its first row among the rows of all shards.
    width : int
        The columns of all shards.
    last : bool
        Whether no rows follow it. Otherwise those of a window that it does not complete are ``left`` for the next.
    waiting : Block, optional
        What an earlier shard has left.
    class_weight : mapping, optional
        Step sizes by class.
    """

    in_memory, rereadable = False, True

    def __init__(
        self,
        shard: Shard,
        classes: Labels,
        first: int,
        width: int,
        last: bool = True,
        waiting: Block | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.classes, self.width, self.last, self.class_weight = classes, width, last, class_weight
        self._blocks = [block for block in (waiting, shard.block(classes, first)) if block is not None and len(block)]
        self.left: Block | None = None

    def batches(self, from_row: int = 0, window: int | None = None) -> Iterator[Batch]:
        """Yield the rows from number ``from_row`` on, in whole windows if there are windows."""
        blocks = skip_rows(self._blocks, from_row)
        for block in rebatch(blocks, window) if window else blocks:
            if window and len(block) < window and not self.last:
                self.left = block
                return
            X = pad_columns(block.X, self.width) if is_sparse(block.X) else block.X
            yield make_batch(X, block.y, self.classes, block.weight, self.class_weight, block.first)

    def share(self, batch: Batch, visited: int) -> float:
        """Return how much has been visited: the driver knows better."""
        return 0.0


def check_facts(facts: Sequence[ShardFacts]) -> None:
    """Raise a ValueError where shards do not go together."""
    filled = [(k, one) for k, one in enumerate(facts) if one.rows]
    if not filled:
        raise ValueError("expected rows to learn from, got empty shards only.")
    first_place, first = filled[0]
    for place, other in filled[1:]:
        if other.width != first.width and not (other.sparse and first.sparse):
            raise ValueError(
                f"expected shards of the same width, got {other.width} features in shard {place} after "
                f"{first.width} in shard {first_place}: only sparse shards may have more columns than others."
            )
        if other.names != first.names and None not in (other.names, first.names):
            raise ValueError(f"expected shards with the same column names, got others in shard {place}.")
