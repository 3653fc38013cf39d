"""Shards: parts of the training rows, each of which stays on the worker that loaded it.

The driver, which is the process that controls the training, keeps only a summary of each shard (`ShardFacts`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import data
from rosenblatt.blocks import (
    Block,
    DataError,
    Features,
    as_classes,
    as_labels,
    is_sparse,
    join_blocks,
    join_classes,
    rebatch,
    skip_rows,
)
from rosenblatt.data.io.bytes import TABLES
from rosenblatt.data.io.identity import RunningDigest
from rosenblatt.data.stream import Stream
from rosenblatt.distributed.engines import ClusterError, Engine, Handle, Progress, WorkLost
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.validation import MatrixLike, as_numpy, validate_pair
from rosenblatt.messages import ParameterError, Setting
from rosenblatt.splits import Split
from rosenblatt.training.batches import Batch, make_batch
from rosenblatt.training.rows import (
    Labels,
    VectorLike,
    check_one_each,
    class_numbers,
    encode_labels,
    pad_columns,
)

Loader: TypeAlias = "Callable[[], Shard]"
"""A function that loads a shard. It is called on a worker."""
ClassWeight: TypeAlias = Mapping[Any, float] | str | None


@dataclass
class Shard:
    """The rows ``X`` of a shard, with their labels ``classes[numbers]`` and optional sample weights."""

    X: Features
    classes: Labels
    numbers: NDArray[np.int32]
    weight: NDArray[np.float64] | None = None
    names: list[str] | None = None
    """The names of the features if the rows come from a data frame, else None."""
    read: tuple[dict[str, Any], ...] = ()
    """For each file that was read, counts such as the number of rows left out."""

    @property
    def nbytes(self) -> int:
        """The size of the rows in bytes."""
        return Block(self.X, self.numbers, 0, self.weight).nbytes

    @cached_property
    def identity(self) -> ShardIdentity:
        """The shape and digests of all rows. `load_shard` computes the identity, so it is sent with the shard."""
        X, (n, width) = self.X, self.X.shape
        return ShardIdentity(
            rows=n,
            width=width,
            sparse=is_sparse(X),
            columns=None if self.names is None else digest_of(*self.names),
            values=digest_of(X.indptr, X.indices[: X.nnz], X.data[: X.nnz]) if is_sparse(X) else digest_of(X),
            labels=digest_of(self.numbers, repr((self.classes.dtype.str, self.classes.tolist()))),
            weights=None if self.weight is None else digest_of(self.weight),
        )

    def __sizeof__(self) -> int:
        """Return the size in memory, which a cluster uses to decide whether to move a shard to another worker."""
        return self.nbytes + 1000

    def block(self, classes: Labels, first: int) -> Block:
        """Return the rows as a block whose labels are indices into ``classes``; ``first`` is the first row number."""
        places = class_numbers(self.classes, classes)
        labels = places[self.numbers] if len(places) else self.numbers
        return Block(self.X, labels, first, self.weight, is_validated=True)


def make_shard(X: MatrixLike, y: VectorLike, weight: VectorLike = None) -> Shard:
    """Return a shard with these rows, labels and weights, or raise a ValueError. A shard may have no rows."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    rows, labels = X.shape[0] if X.shape else 0, as_labels(as_numpy(y))
    n = len(labels) if np.ndim(labels) else 0
    if n != rows:
        raise ValueError(f"expected a label for each of the {rows:,} rows, got {n:,} labels.")
    if rows == 0:
        width = X.shape[1] if len(X.shape) > 1 else 0
        kept = sp.csr_array((0, width)) if sp.issparse(X) else np.empty((0, width))
        return Shard(kept, np.empty(0), np.empty(0, np.int32), names=_names(X))
    if hasattr(y, "isna") and np.any(y.isna()):
        raise ValueError("expected a label for each row, got missing ones: drop such rows with dropna.")
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
def errors_named(where: str) -> Iterator[None]:
    """Put ``where``, the name of a shard, before the message of a ValueError, with advice on missing numbers."""
    try:
        yield
    except ValueError as fault:
        message = str(fault)
        if "Input X contains" in message:
            message = (
                "there are missing or infinite numbers: fill them in first, for instance with fillna, or drop such "
                "rows with dropna"
            )
        raise ValueError(f"{where}: {message}") from None


def _names(X: MatrixLike) -> list[str] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def join_shards(shards: Sequence[Shard]) -> Shard:
    """Return the rows of several shards, in order, as one shard."""
    filled = [shard for shard in shards if len(shard.numbers)]
    read = tuple(counts for shard in shards for counts in shard.read)
    if len(shards) == 1 or not filled:
        return replace(shards[0], read=read)
    classes = all_classes([shard.classes for shard in filled])
    block = join_blocks([shard.block(classes, 0) for shard in filled])
    return Shard(block.X, classes, block.y, block.weight, filled[0].names, read)


def all_classes(parts: Sequence[Labels]) -> Labels:
    """Return the sorted union of several arrays of classes; raise a ValueError if strings and numbers are mixed."""
    known = [part for part in parts if len(part)]
    return reduce(join_classes, known) if known else np.empty(0)


class ShardFacts(NamedTuple):
    """The summary of a shard that the driver keeps."""

    rows: int
    width: int
    classes: Labels
    names: list[str] | None
    sparse: bool
    nbytes: int
    identity: ShardIdentity
    """The identity that the shard must have if it is loaded again."""
    counts: dict[Any, int]
    """The number of rows of each class. The classes are in the order of their first rows."""
    read: tuple[dict[str, Any], ...]
    """For each file that was read, counts such as the number of rows left out."""


def shard_facts(shard: Shard) -> ShardFacts:
    """Return the summary of a shard. It is called on the worker, so that the rows stay there."""
    n, width = shard.X.shape
    facts = n, width, shard.classes, shard.names, is_sparse(shard.X), shard.nbytes
    return ShardFacts(*facts, shard.identity, count_classes(shard), shard.read)


def count_classes(shard: Shard, held_out: NDArray[np.bool_] | None = None) -> dict[Any, int]:
    """Return the number of rows of each class in a shard, without held-out rows; classes are in order of first row."""
    numbers = shard.numbers if held_out is None else shard.numbers[~held_out]
    present, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    labels = shard.classes[present].tolist()
    return {labels[k]: int(counts[k]) for k in np.argsort(first).tolist()}


# If a worker dies, the cluster reloads its shards without notice. So each call on a shard first checks its identity.


class ShardIdentity(NamedTuple):
    """The shape of a shard and digests (CRC-32) of all its rows."""

    rows: int
    width: int
    sparse: bool
    columns: str | None
    """The digest of the column names; None if columns have no names."""
    values: str
    labels: str
    weights: str | None

    def changes(self, then: ShardIdentity) -> str:
        """Return a description of the differences from the earlier identity ``then``, or "" if there are none."""
        if self.rows != then.rows:
            return f"{self.rows:,} rows instead of {then.rows:,}"
        if self.width != then.width:
            return f"{self.width:,} features instead of {then.width:,}"
        if self.sparse != then.sparse:
            return "sparse rows instead of dense ones" if self.sparse else "dense rows instead of sparse ones"
        names = {"columns": "column names", "values": "values", "labels": "labels", "weights": "sample weights"}
        changed = [text for name, text in names.items() if getattr(self, name) != getattr(then, name)]
        return f"other {' and '.join(changed)}" if changed else ""


def digest_of(*parts: NDArray[Any] | str) -> str:
    """Return a digest of the contents of strings, and of the types and contents of arrays."""
    digest = RunningDigest()
    for part in parts:
        if isinstance(part, str):
            digest.update(part.encode(errors="surrogatepass") + b"\0")
        else:
            digest.update(part.dtype.str.encode())
            digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return digest.digest()


def load_shard(loader: Callable[[], Shard]) -> Shard:
    """Load a shard and compute its identity."""
    return identified(loader())


def identified(shard: Shard) -> Shard:
    """Compute the identity of a shard and return the shard, so that the identity is stored before the shard is sent."""
    _ = shard.identity
    return shard


class Expected(NamedTuple):
    """The index of a shard, and its identity when training began."""

    number: int
    identity: ShardIdentity

    def check(self, shard: Shard) -> None:
        """Raise a DataError unless ``shard`` has the rows that training began with."""
        changes = shard.identity.changes(self.identity)
        if changes:
            raise DataError(
                "expected shard {number} to have the rows that training began with, got {changes}: a worker was lost, "
                "and the data had changed by the time it was loaded again. Train again, and do not change the data "
                "during training.",
                number=self.number,
                changes=changes,
            )


def fetch_shard(shard: Shard, expected: Expected) -> Shard:
    """Check the identity of the shard, and return the shard. A call on a worker sends the shard to the driver."""
    expected.check(shard)
    return shard


class ShardRows:
    """A source of batches with the rows of one shard.

    In a shuffled pass each batch is a window, a fixed number of consecutive rows that are shuffled together. A window
    may begin in one shard and end in the next. Then the window's rows in the first shard are visited with the next.

    Parameters
    ----------
    shard : Shard
        The shard.
    classes : array
        All classes.
    first : int
        The row number of the shard's first row, counted over all shards.
    width : int
        The number of columns of the batches. Sparse rows with fewer columns are widened to this number.
    last : bool
        Whether this is the last shard, whose last window may be shorter. If not, the rows of an unfinished window are
        not visited, but stored in the attribute ``leftover``. By default True.
    leftover : Block, optional
        The attribute ``leftover`` of the previous shard: rows with which the first window begins.
    class_weight : mapping, optional
        Step sizes by class; by default all are 1.
    before : mapping, optional
        If rows are held out, the number of rows of each class in the previous shards. The classes are in the order of
        their first rows.
    """

    in_memory, rereadable = False, True

    def __init__(
        self,
        shard: Shard,
        classes: Labels,
        first: int,
        width: int,
        last: bool = True,
        leftover: Block | None = None,
        class_weight: ClassWeight = None,
        before: Mapping[Any, int] | None = None,
    ) -> None:
        self.classes, self.width, self.last, self.class_weight = classes, width, last, class_weight
        self._block, self._before = shard.block(classes, first), before or {}
        self._taken_over = leftover
        self.leftover: Block | None = None

    def hold_out(self, split: Split) -> None:
        """Mark the rows of the shard that a split holds out. Rows of the previous shard are already marked."""
        places = {label: place for place, label in enumerate(self.classes.tolist())}
        before = {places[label]: count for label, count in self._before.items()}
        (self._block,) = split.mark([self._block], before)

    def batches(self, from_row: int = 0, window: int | None = None) -> Iterator[Batch]:
        """Yield batches, starting at row number ``from_row``; each has ``window`` rows if ``window`` is given."""
        parts = [block for block in (self._taken_over, self._block) if block is not None and len(block)]
        blocks = skip_rows(parts, from_row)
        for block in rebatch(blocks, window) if window else blocks:
            if window and len(block) < window and not self.last:
                self.leftover = block
                return
            X = pad_columns(block.X, self.width) if is_sparse(block.X) else block.X
            common = block.weight, self.class_weight, block.first, block.held_out
            yield make_batch(X, block.y, self.classes, *common)

    def share(self, batch: Batch, visited: int) -> float:
        """Return 0, because only the driver reports the progress of a pass."""
        return 0.0


def check_facts(facts: Sequence[ShardFacts]) -> None:
    """Raise a ValueError if shards differ in their number of columns or in column names, or if all are empty.

    Sparse shards may differ in their number of columns.
    """
    filled = [(k, each) for k, each in enumerate(facts) if each.rows]
    if not filled:
        raise ValueError("expected rows to train on, got only empty shards.")
    first_index, first = filled[0]
    for k, other in filled[1:]:
        if other.width != first.width and not (other.sparse and first.sparse):
            raise ValueError(
                f"expected shards of the same width, got {other.width} features in shard {k} after {first.width} in "
                f"shard {first_index}: give all the same columns; only sparse shards may differ in width."
            )
        if other.names != first.names and None not in (other.names, first.names):
            raise ValueError(f"expected shards with the same column names, got different ones in shard {k}.")


# All shards as the source of a run: their first rows, calls on them, and recovery if workers die.


MAX_LOSSES = 10
"""If the results of the same calls are lost this many times in a row, training raises an error."""


class ShardSet:
    """The shards that an engine has loaded, as a source of rows for a run. They can be read repeatedly.

    Parameters
    ----------
    engine : Engine
        The engine that has loaded the shards.
    classes : array, optional
        All classes; needed only if the rows do not contain every class.
    mode : str
        The training mode, "exact" (the default) or "mix". The mode is part of the fingerprint, so that a run cannot be
        resumed from a checkpoint of the other mode.
    class_weight : mapping, optional
        Step sizes by class; by default all are 1.
    progress : callable, optional
        A function that is called from time to time with the number of shards loaded.
    """

    in_memory, rereadable = False, True

    def __init__(
        self,
        engine: Engine,
        classes: VectorLike = None,
        mode: str = "exact",
        class_weight: ClassWeight = None,
        progress: Progress | None = None,
    ) -> None:
        self.engine, self.mode, self.class_weight = engine, mode, class_weight
        self.facts: list[ShardFacts] = self.gather(
            lambda: [engine.call(shard_facts, shard) for shard in range(engine.shards)], progress
        )
        check_facts(self.facts)
        known = [] if classes is None else [as_classes(classes)]
        self.classes = all_classes([*known, *(facts.classes for facts in self.facts)])
        self.width = max(facts.width for facts in self.facts if facts.rows)
        self.starts = np.concatenate([[0], np.cumsum([facts.rows for facts in self.facts])]).tolist()
        self._split: Split | None = None

    @property
    def rows(self) -> int:
        """The total number of rows in all shards."""
        return int(self.starts[-1])

    @property
    def last_filled(self) -> int:
        """The index of the last shard that has rows."""
        return max(shard for shard, facts in enumerate(self.facts) if facts.rows)

    @property
    def names(self) -> list[str] | None:
        """The names of the features if the rows come from data frames, else None."""
        return next((facts.names for facts in self.facts if facts.rows), None)

    @property
    def fingerprint(self) -> str:
        """A digest of the rows, their division into shards, and the mode."""
        return hashlib.sha256(repr((self.mode, [tuple(facts.identity) for facts in self.facts])).encode()).hexdigest()

    def expected(self, shard: int) -> Expected:
        """Return the identity that a shard must have in all later calls."""
        return Expected(shard, self.facts[shard].identity)

    def fork(self) -> ShardSet:
        """Return a set of the same shards for a concurrent run."""
        other = copy(self)
        other.engine = self.engine.fork()
        return other

    def hold_out(self, split: Split) -> None:
        """Mark the rows that a split holds out, in all batches that are read from now on."""
        self._split = split

    @cached_property
    def before(self) -> list[dict[Any, int]]:
        """For each shard, the number of rows of each class in the previous shards; classes in order of first row."""
        sums: list[dict[Any, int]] = [{}]
        for facts in self.facts[:-1]:
            sums.append(sums[-1] | {label: sums[-1].get(label, 0) + count for label, count in facts.counts.items()})
        return sums

    def set_classes(self, classes: Labels) -> None:
        """Encode labels as indices into ``classes`` from now on. ``classes`` must include the classes of all shards."""
        self.classes = classes

    def check_features(self, width: int, names: list[str] | None) -> None:
        """Raise a ValueError unless a model with ``width`` features, called ``names``, can be trained on the shards."""
        sparse = all(facts.sparse for facts in self.facts if facts.rows)
        if self.width != width and not sparse:
            raise ValueError(f"expected shards with the {width} features that the model has, got {self.width}.")
        if self.names != names and None not in (self.names, names):
            raise ValueError("expected shards with the column names that the model was trained on, got different ones.")

    def shard_of(self, row: int) -> int:
        """Return the index of the shard with row ``row``, or of the last shard if ``row`` is the number of all rows."""
        return min(int(np.searchsorted(self.starts, row, side="right")) - 1, len(self.facts) - 1)

    def gather(self, calls: Callable[[], Sequence[Handle]], progress: Progress | None = None) -> list[Any]:
        """Call ``calls``, which submits calls and returns their handles; return the results in order.

        If workers die, all calls are repeated. Raises a ClusterError if results are lost ten times in a row.
        """
        for _ in range(MAX_LOSSES):
            try:
                return self.engine.fetch(calls(), progress)
            except WorkLost as lost:
                reason = lost
                self.engine.recover()
        raise ClusterError(
            f"work on the same shards was lost {MAX_LOSSES} times in a row ({reason}): they may not fit into the "
            "memory of a worker. Split the data into more shards, or give workers more memory."
        ) from reason

    def batches(self, from_row: int = 0, window: int | None = None) -> Iterator[Batch]:
        """Yield batches, starting at row number ``from_row``. Shards are sent to the driver one at a time.

        Training on the cluster does not use this method.
        """
        for shard, facts in enumerate(self.facts):
            if facts.rows and self.starts[shard + 1] > from_row:
                (rows,) = self.gather(partial(self._fetch_rows, shard))
                common = self.classes, self.starts[shard], self.width
                part = ShardRows(rows, *common, class_weight=self.class_weight, before=self.before[shard])
                if self._split is not None:
                    part.hold_out(self._split)
                yield from part.batches(from_row)

    def _fetch_rows(self, shard: int) -> list[Handle]:
        return [self.engine.call(fetch_shard, shard, self.expected(shard))]

    def share(self, batch: Batch | None, visited: int) -> float:
        """Return the fraction of a pass that is complete after ``visited`` rows."""
        return visited / self.rows


# Loaders of shards, which are called on workers: from pairs, from functions that return pairs, from several loaders.


def shard_loaders(loaders: Sequence[Any], mode: str, n_shards: int, join: Callable[[Sequence[Any]], Any]) -> list[Any]:
    """Return a loader for each shard.

    In "exact" mode each given loader gives one shard. In "mix" mode, ``join`` combines consecutive loaders, so that
    there are ``n_shards`` shards. If there are fewer loaders than that, each gives one shard.
    """
    if mode == "exact":
        return list(loaders)
    parts = np.array_split(np.arange(len(loaders)), min(n_shards, len(loaders)))
    return [join([loaders[k] for k in part]) for part in parts]


class GivenShard:
    """A loader for a shard given as (X, y), as (X, y, sample_weight), or as a function that returns one of these."""

    def __init__(self, given: object, number: int) -> None:
        self.given, self.number = given if callable(given) else _pair(given), number

    def __call__(self) -> Shard:
        """Load the shard."""
        given = self.given() if callable(self.given) else self.given
        if isinstance(given, Shard):
            return given
        with errors_named(f"shard {self.number}"):
            return make_shard(*_pair(given))


def _pair(given: object) -> tuple[Any, ...] | list[Any]:
    """Return ``given`` unchanged; raise a ValueError unless it is (X, y) or (X, y, sample_weight)."""
    if not (isinstance(given, tuple | list) and len(given) in (2, 3)):
        raise ValueError(
            "expected shards of the form (X, y) or (X, y, sample_weight), or functions that return them, got "
            f"{type(given).__name__}."
        )
    return given


def join_loaders(loaders: Sequence[Loader]) -> Loader:
    """Combine several loaders into one, which loads all of their rows as one shard."""
    return loaders[0] if len(loaders) == 1 else JoinedShard(loaders)


class JoinedShard:
    """A loader that loads several shards and joins them into one."""

    def __init__(self, loaders: Sequence[Loader]) -> None:
        self.loaders = list(loaders)

    def __call__(self) -> Shard:
        """Load the shard."""
        return join_shards([loader() for loader in self.loaders])


# Files as shards. A worker reads each file with the preparation that the driver determined for all files: a dictionary
# that describes how features are made from rows.


_OF_FILES = (
    "format",
    "header",
    "delimiter",
    "encoding",
    "skip_rows",
    "sheet",
    "quote",
    "on_error",
    "max_line_bytes",
    "keep_words",
)
"""The options of `data.open` that describe the format of files. They are not part of a preparation."""
_LOCAL_OPTIONS = ("block_rows", "cache", "passthrough", "labels", "threads")


class FileShard:
    """A loader for the rows of one file."""

    def __init__(self, path: str, preparation: dict[str, Any], options: dict[str, Any]) -> None:
        self.path, self.preparation, self.options = path, preparation, options

    def __call__(self) -> Shard:
        """Load the shard."""
        stream = data.open(self.path, preparation=self.preparation, **self.options)
        blocks = list(stream)
        if not blocks:
            X, y = stream.read()
            return Shard(X, y, y.astype("int32"), read=(stream.counts,))
        block = join_blocks(blocks)
        classes, numbers = encode_labels(block.y)
        return Shard(block.X, classes, numbers, block.weight, read=(stream.counts,))


def file_loaders(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    options: dict[str, Any],
    find_split: Callable[[], Split | None] = lambda: None,
) -> tuple[Stream, list[FileShard]]:
    """Return a stream of all files, and a loader for each file.

    If the schema or the scale depends on the rows, ``find_split`` is called, which returns the split that holds out the
    rows that are not used for them, or None to use all rows.
    """
    for name in _LOCAL_OPTIONS:
        if name in options:
            raise ParameterError(
                "{option} applies to files that one process reads: leave it out.", option=Setting(name)
            )
    stream = data.open(path, **options)
    if not stream.is_fitted:
        stream.fit_scale(find_split())
    return stream, file_shards_of(stream, options)


def file_shards_of(stream: Stream, options: Mapping[str, Any]) -> list[FileShard]:
    """Return a loader for each file of a stream that was opened with ``options``.

    If the files have changed since they were read for the scale, a DataError is raised, here or by `restore_counts`.
    """
    files = stream.files
    if files is None:
        raise ParameterError("workers open files by name, but this input has none: save it to a file.")
    alike = {name: value for name, value in options.items() if name in _OF_FILES}
    preparation = stream.preparation
    if alike.get("keep_words") is None and preparation["format"] in TABLES:
        alike["keep_words"] = "few"  # the default without a preparation
    stream.check_unchanged()
    return [FileShard(name, preparation, alike) for name in files]


def restore_counts(stream: Stream, facts: Sequence[ShardFacts]) -> None:
    """Set the counts of a stream, such as its numbers of skipped rows and missing values, from those of the workers.

    If a file has changed since `file_shards_of`, a DataError is raised.
    """
    stream.check_unchanged()
    stream.restore_counts([counts for shard in facts for counts in shard.read])
