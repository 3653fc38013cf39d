"""Shards: rows that stay where they were loaded, and what the driver knows of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import data
from rosenblatt.blocks import Block, Features, is_sparse, join_blocks, rebatch, skip_rows
from rosenblatt.data.stream import Stream
from rosenblatt.distributed.engines import ClusterError, Engine, Handle, WorkLost
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.validation import as_numpy, validate_pair
from rosenblatt.messages import ParameterError, Setting
from rosenblatt.training.batches import Batch, make_batch
from rosenblatt.training.rows import Labels, check_label_types, check_one_each, encode_labels, pad_columns

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
        return Block(self.X, labels, first, self.weight, is_validated=True)


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


# All shards of a data set as one: where each begins, what is called on them, and what happens when workers die.


MOST_LOSSES = 10
"""How often in a row the same calls may be lost before training gives up."""


class ShardSet:
    """The shards that an engine has loaded, as a run sees them: a source of rows that can be read again.

    Parameters
    ----------
    engine : Engine
        What has loaded them.
    classes : array, optional
        Classes that may not occur.
    mode : str
        How they are trained on: a checkpoint of one way is none of another.
    class_weight : mapping, optional
        Step sizes by class.
    progress : callable, optional
        Called from time to time with how many have been loaded.
    """

    in_memory, rereadable = False, True

    def __init__(
        self,
        engine: Engine,
        classes: Any = None,
        mode: str = "exact",
        class_weight: Mapping[Any, float] | str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.engine, self.mode, self.class_weight = engine, mode, class_weight
        self.facts: list[ShardFacts] = self.gather(
            lambda: [engine.call(shard_facts, shard) for shard in range(engine.shards)], progress
        )
        check_facts(self.facts)
        known = [] if classes is None else [np.unique(classes)]
        self.classes = all_classes([*known, *(facts.classes for facts in self.facts)])
        self.width = max(facts.width for facts in self.facts if facts.rows)
        self.starts = np.concatenate([[0], np.cumsum([facts.rows for facts in self.facts])]).tolist()

    @property
    def rows(self) -> int:
        """Rows of all shards."""
        return int(self.starts[-1])

    @property
    def last_filled(self) -> int:
        """The last shard that has rows."""
        return max(shard for shard, facts in enumerate(self.facts) if facts.rows)

    @property
    def names(self) -> list[str] | None:
        """Names of the features, where rows come from data frames."""
        return next((facts.names for facts in self.facts if facts.rows), None)

    @property
    def fingerprint(self) -> str:
        """A digest that identifies these rows and their shards."""
        digest = hashlib.sha256(" ".join([self.mode, *(facts.digest for facts in self.facts)]).encode())
        return digest.hexdigest()

    def fork(self) -> ShardSet:
        """Return the same shards for another run at the same time."""
        other = copy(self)
        other.engine = self.engine.fork()
        return other

    def set_classes(self, classes: Any) -> None:
        """Number the labels by ``classes``, which have those of all shards among them."""
        self.classes = classes

    def check_features(self, width: int, names: list[str] | None) -> None:
        """Raise a ValueError unless a model with these features can go on with the shards."""
        sparse = all(facts.sparse for facts in self.facts if facts.rows)
        if self.width != width and not sparse:
            raise ValueError(f"expected shards with the {width} features that the model has, got {self.width}.")
        if self.names != names and None not in (self.names, names):
            raise ValueError("expected shards with the column names that the model was trained on, got others.")

    def shard_of(self, row: int) -> int:
        """Return the shard that a row is in: the last one for the row after all."""
        return min(int(np.searchsorted(self.starts, row, side="right")) - 1, len(self.facts) - 1)

    def gather(self, calls: Callable[[], Sequence[Handle]], progress: Callable[[int], None] | None = None) -> list[Any]:
        """Make calls and return their results in order; all are made again where workers die with some of them."""
        for _ in range(MOST_LOSSES):
            try:
                return self.engine.fetch(calls(), progress)
            except WorkLost as lost:
                reason = lost
                self.engine.recover()
        raise ClusterError(
            f"work on the same shards was lost {MOST_LOSSES} times in a row ({reason}): do these fit into the memory "
            "of a worker? Cut the data into more shards, or give workers more memory."
        ) from reason

    def batches(self, from_row: int = 0, window: int | None = None) -> Iterator[Batch]:
        """Yield the rows of all shards, brought here one after the other; only what is rarely needed reads them so."""
        for shard, facts in enumerate(self.facts):
            if facts.rows and self.starts[shard + 1] > from_row:
                (rows,) = self.gather(partial(self._fetching, shard))
                of_all = self.classes, self.starts[shard], self.width
                yield from ShardRows(rows, *of_all, class_weight=self.class_weight).batches(from_row)

    def _fetching(self, shard: int) -> list[Handle]:
        return [self.engine.call(_itself, shard)]

    def share(self, batch: Batch | None, visited: int) -> float:
        """Return how much of a pass has been visited, given how many rows have been."""
        return visited / self.rows


def _itself(rows: Any) -> Any:
    return rows


# What loads shards, on workers: of pairs, of functions that return them, and of several partitions as one.


def shard_loaders(loaders: Sequence[Any], mode: str, n_shards: int, join: Callable[[Sequence[Any]], Any]) -> list[Any]:
    """Return a loader for each shard: for ``mode="mix"`` there are ``n_shards``, of partitions that follow each other.

    ``join`` makes one loader of several.
    """
    if mode == "exact":
        return list(loaders)
    parts = np.array_split(np.arange(len(loaders)), min(n_shards, len(loaders)))
    return [join([loaders[k] for k in part]) for part in parts]


class ShardOf:
    """Loads a shard from what a user gave: a pair, or a function that returns one."""

    def __init__(self, given: Any, number: int) -> None:
        self.given, self.number = given if callable(given) else _pair(given), number

    def __call__(self) -> Shard:
        """Return the shard."""
        given = self.given() if callable(self.given) else self.given
        if isinstance(given, Shard):
            return given
        with number_errors(f"shard {self.number}"):
            return make_shard(*_pair(given))


def _pair(given: Any) -> Any:
    """Return what a user gave as a shard; a ValueError unless it is rows and labels."""
    if not (isinstance(given, tuple | list) and len(given) in (2, 3)):
        raise ValueError(
            "expected shards of the form (X, y) or (X, y, sample_weight), or functions that return them, got "
            f"{type(given).__name__}."
        )
    return given


def joined_loader(loaders: Sequence[Any]) -> Any:
    """Return a loader of the rows of several."""
    return loaders[0] if len(loaders) == 1 else JoinedShard(loaders)


class JoinedShard:
    """Loads several shards as one."""

    def __init__(self, loaders: Sequence[Callable[[], Shard]]) -> None:
        self.loaders = list(loaders)

    def __call__(self) -> Shard:
        """Return the shard."""
        return join_shards([loader() for loader in self.loaders])


# Files as shards: each is read by a worker, as the driver has seen that all of them are to be read.


_OF_FILES = ("format", "header", "delimiter", "quote", "on_error", "max_line_bytes", "keep_words")
"""Options that say how a file is written and read, besides how rows are made of it."""
_ONLY_HERE = ("block_rows", "cache", "passthrough", "labels", "threads")


class FileShard:
    """Loads the rows of one file."""

    def __init__(self, path: str, preparation: dict[str, Any], options: dict[str, Any]) -> None:
        self.path, self.preparation, self.options = path, preparation, options

    def __call__(self) -> Shard:
        """Return the shard."""
        stream = data.open(self.path, preparation=self.preparation, **self.options)
        blocks = list(stream)
        if not blocks:
            X, y = stream.read()
            return Shard(X, y, y.astype("int32"), read=(stream.counts,))
        block = join_blocks(blocks)
        classes, numbers = encode_labels(block.y)
        return Shard(block.X, classes, numbers, block.weight, read=(stream.counts,))


def file_loaders(
    path: Any, options: dict[str, Any], trained: Callable[[int, int], Any] | None = None
) -> tuple[Stream, list[FileShard]]:
    """Return a stream of all files, and what loads each of them; a scale is that of the rows that are ``trained``."""
    for name in _ONLY_HERE:
        if name in options:
            raise ParameterError(Setting(name), " is for files that one process reads: leave it out.")
    stream = data.open(path, **options)
    stream.fit_scale(trained)
    return stream, loaders_of(stream, options)


def loaders_of(stream: Stream, options: Mapping[str, Any]) -> list[FileShard]:
    """Return what loads each file of a stream that was opened with these options."""
    files = stream.files
    if files is None:
        raise ParameterError("a cluster reads files by their names, got input that can be read only once.")
    alike = {name: value for name, value in options.items() if name in _OF_FILES}
    preparation = stream.preparation
    return [FileShard(name, preparation, alike) for name in files]


def restore_counts(stream: Stream, facts: Sequence[ShardFacts]) -> None:
    """Tell a stream what workers counted while they read its files: rows left out, missing values, columns."""
    stream.restore_counts([counts for one in facts for counts in one.read])
