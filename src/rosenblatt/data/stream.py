"""``Stream``, which reads the rows of files in blocks and can be iterated repeatedly."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import NamedTuple

import numpy as np

from rosenblatt.blocks import Block, Features, join_blocks, rebatch, skip_rows
from rosenblatt.data.cache import DamagedCache, RowCache
from rosenblatt.data.io.identity import Contents
from rosenblatt.data.scaling import StreamScale
from rosenblatt.data.source import FIRST_ROWS, Facts, Preparation, RowSource, add_facts
from rosenblatt.messages import Message
from rosenblatt.scaling import ColumnScale
from rosenblatt.splits import Part, Rule, Split
from rosenblatt.tables import Table


class Skipped(NamedTuple):
    """The number of rows that were left out because they cannot be read, and the reasons."""

    rows: int
    sentences: list[str]
    """The reasons for the first ten rows, as sentences."""


class Stream:
    """A stream of blocks of rows from files, as ``data.open`` returns it.

    Each iteration starts at the beginning of the files. Unless rows are cached, it raises a ``DataError`` if the size
    or the modification time of a file has changed since the first iteration began. Standard input, pipes and file
    objects can be read, and therefore iterated, only once. For them ``iter(stream)`` is the stream itself. Counts such
    as ``rows_read`` and ``skipped`` refer to the latest iteration.

    Attributes
    ----------
    labelled : bool
        Whether every row has a label; otherwise labels may be NaN.
    rows_read : int
        The number of rows that have been yielded.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rosenblatt import Perceptron, data
    >>> file = pathlib.Path(tempfile.mkdtemp(), "fruit.csv")
    >>> _ = file.write_text("weight,colour,fruit\\n150,red,apple\\n120,green,apple\\n8,red,cherry\\n7,red,cherry\\n")
    >>> stream = data.open(file, target="fruit")
    >>> for block in stream:
    ...     print(block.X, block.y)
    [[150.   0.   1.]
     [120.   1.   0.]
     [  8.   0.   1.]
     [  7.   0.   1.]] ['apple' 'apple' 'cherry' 'cherry']
    >>> stream.feature_names
    ['weight', 'colour=green', 'colour=red']
    >>> Perceptron(max_iter=1000, random_state=0).fit_stream(stream).predict({"weight": 100, "colour": "red"})
    array(['apple'], dtype='<U6')
    """

    def __init__(
        self,
        source: RowSource,
        block_rows: int | None = None,
        make_cache: Callable[[RowSource, list[object]], RowCache] | None = None,
        scale: StreamScale | None = None,
    ) -> None:
        self._source, self._block_rows, self._make_cache = source, block_rows, make_cache
        self._cache = cache = None if make_cache is None else make_cache(source, [])
        self._scale = scale or StreamScale()
        self._schema_pending = source.depends_on_training
        self._parts: tuple[Part, ...] = ()
        """The parts to select, one after another. Each selects from the rows that the previous parts leave."""
        self.rows_read = 0
        self.labelled = source.labelled
        if cache is not None and cache.facts is not None and not source.is_provisional:
            source.restore(cache.facts)
            source.files.check_unchanged()  # so that no other rows follow if the cache turns out to be damaged

    @property
    def files(self) -> list[str] | None:
        """The names of the files, in the order in which they are read.

        None for input that can be read only once, and for tables in memory.
        """
        return self._source.files.paths

    def reads(self, path: str | os.PathLike[str]) -> bool:
        """Return whether ``path`` is one of the files that are read."""
        return self._source.files.reads(path)

    def __iter__(self) -> Iterator[Block]:
        """Iterate over all blocks from the start of the files."""
        return self._blocks()

    def _blocks(self) -> Generator[Block, None, None]:
        self.fit_scale()
        self.rows_read = 0
        with closing(self._stored()) as stored:
            skipped = self._source.record_fault if self._source.skips else None
            blocks = self._scale.apply(self._of_part(stored), self.number_columns is not None, skipped)
            for block in rebatch(blocks, self._block_rows) if self._block_rows else blocks:
                self.rows_read += len(block)
                yield block

    def _of_part(self, blocks: Iterable[Block]) -> Iterable[Block]:
        for part in self._parts:
            blocks = part(blocks)
        return blocks

    def part(self, split: Rule, held: bool, scaled_as: Stream | None = None) -> Stream:
        """Return a stream of the rows that a split holds out or, if ``held`` is False, of all other rows.

        If this stream is itself a part, the split applies to the rows of that part.

        Rows are made and columns are scaled as in the stream ``scaled_as``. If it is None, the schema and the scale are
        computed from the rows of the part, unless they come from a preparation.
        """
        stream = self.rescaled() if scaled_as is None else copy.copy(scaled_as)
        stream._parts = (*self._parts, Part(split, held))
        return stream

    def rescaled(self) -> Stream:
        """Return a stream of the same rows whose scale and schema will be fitted again, to other training rows."""
        stream = copy.copy(self)
        stream._scale = self._scale.for_other_rows()
        stream._source = self._source.for_other_rows()
        if stream._source is not self._source:
            stream._schema_pending, stream._cache = True, None
        return stream

    def unscaled(self) -> Stream:
        """Return a stream of the same rows without scaling.

        If the schema has not been made from the training rows yet, the new stream uses the schema of the first rows.
        """
        stream = copy.copy(self)
        stream._scale = StreamScale()
        if self._schema_pending:
            stream._schema_pending, stream._cache = False, None
        return stream

    def uncached(self) -> Stream:
        """Return a stream that reads the same rows from the files, because a cache does not store row numbers.

        The schema and the scale must have been fitted.
        """
        stream = copy.copy(self)
        stream._cache = None
        return stream

    @property
    def scale_pending(self) -> bool:
        """Whether all rows will be read once before the first block is returned, to find the schema or the scale."""
        return (self._schema_pending and self._needs_rows) or self._scale.pending

    @property
    def _needs_rows(self) -> bool:
        """Whether the schema of the first rows is not final, even if `fit_scale` holds out no rows."""
        return bool(self._parts) or self._source.is_provisional

    @property
    def is_fitted(self) -> bool:
        """Whether the schema and the scale no longer depend on which rows `fit_scale` holds out."""
        return not (self._schema_pending or self._scale.pending)

    @property
    def scale(self) -> ColumnScale | None:
        """The column scale; None if columns are not scaled. If it is not fitted yet, all rows are read once."""
        self.fit_scale()
        return self._scale.fitted

    def fit_scale(self, split: Split | None = None, progress: Callable[[float], None] | None = None) -> None:
        """Fit the column scale to all rows, or only to the rows that ``split`` does not hold out.

        If the schema of a table was inferred from its first rows, the same rows determine the schema. If the schema and
        the scale are fitted already, nothing happens: reading blocks, the scale or the preparation fits them to all
        rows of the stream. ``progress`` is called with the share of the files that has been read, from 0 to 1.
        """

        def watched(blocks: Iterable[Block]) -> Iterator[Block]:
            for block in blocks:
                yield block
                if progress is not None:
                    progress(self.share_read)

        if self._schema_pending:
            self._fit_schema(split, watched)
        if self._scale.pending:
            with closing(self._stored()) as blocks:
                self._scale.fit(self._of_part(watched(blocks)), self._source.number_columns, split)

    def _complete_schema(self) -> None:
        if self._schema_pending and self._needs_rows:
            self.fit_scale()

    def _fit_schema(self, split: Split | None, watched: Callable[[Iterable[Block]], Iterator[Block]]) -> None:
        """Make the schema from the training rows, or restore the schema of an earlier run from a cache.

        The scale is fitted in the same pass if all rows are read.
        """
        parts = (*self._parts, *(() if split is None else (Part(split, False),)))
        made_from: list[object] = [part.recipe for part in parts]
        fits = self._needs_rows or split is not None
        if self._make_cache is not None and (fits or self._cache is None):
            self._cache = self._make_cache(self._source, made_from)
            if self._cache.facts is not None:
                self._source.restore(self._cache.facts)
                self.check_unchanged()
                fits = False
        if fits:

            def select(blocks: Iterable[Block]) -> Iterable[Block]:
                blocks = self._of_part(watched(blocks))
                return blocks if split is None else split.mark(blocks)

            self.check_unchanged()
            record = None if self._cache is None else self._cache.record
            sums, sparse = self._source.fit_schema(select, bool(made_from), self._scale.pending, record)
            if sums is not None:
                self._scale.fit_sums(sums, self._source.number_columns, sparse)
        self._schema_pending = False

    def _stored(self) -> Generator[Block, None, None]:
        """Yield the blocks before scaling, from the cache if it is complete, else from the files.

        If the cache fails, the remaining rows are read from the files. If these have changed since the first pass
        began, a DataError is raised before or after the rows.
        """
        cache, row = self._cache, 0
        if cache is not None and cache.complete:
            total = cache.rows
            self._source.files.note_whole()
            with suppress(DamagedCache), closing(cache.blocks()) as cached:
                for block in cached:
                    row += len(block)
                    self._source.share = row / max(1, total)
                    yield block
                return
        is_later_pass = self.check_unchanged()
        blocks = self._source.blocks()
        with closing(blocks if cache is None else cache.record(blocks)) as recorded:
            yield from skip_rows(recorded, row) if row else recorded
        if is_later_pass:
            self.check_unchanged()

    @property
    def fingerprint(self) -> str:
        """A digest that identifies these rows, computed from the contents of the files and the preparation.

        Of files larger than a few megabytes only samples are read: the start, the end, and parts in between. Input that
        can be read only once has no fingerprint; asking for it raises a ValueError.
        """
        if not self._source.files.rereadable:
            raise ValueError(
                "input that can be read only once has no fingerprint, by which a later run would identify its rows: "
                "save it to a file."
            )
        parts = [fact for part in self._parts for fact in part.recipe]
        made = self._scale.recipe | ({"part": parts} if parts else {})
        return self._source.files.fingerprint(self._source.recipe | made)

    def watch_contents(self) -> Contents | None:
        """Start recording digests of the bytes that are read; return None if the rows do not come from files on disk.

        A training run that writes checkpoints stores the digests. When it resumes, it checks the files against them.
        """
        return self._source.files.watch_contents()

    @property
    def counts(self) -> Facts:
        """The counts of the latest iteration, as plain data for `restore_counts`."""
        return self._source.facts()

    def check_unchanged(self) -> bool:
        """Raise a DataError if a file has changed since the first pass; return whether there has been a pass.

        If there has been none, later passes are compared with the files as they are now.
        """
        return self._source.files.check_unchanged()

    def restore_counts(self, counts: Sequence[Facts]) -> None:
        """Set the counts to the sums over several streams that have read consecutive parts of the rows, in order."""
        self._source.restore(add_facts(counts))

    @property
    def share_read(self) -> float:
        """The share of the input that has been read, from 0 to 1; 0 if its size is unknown."""
        return self._source.share

    @property
    def n_features(self) -> int:
        """The number of columns of ``X``; for svmlight text, the number found so far."""
        self._complete_schema()
        return self._source.n_features

    @property
    def number_columns(self) -> np.ndarray | None:
        """The indices of the columns of ``X`` that are columns of numbers in a table; None for other formats."""
        self._complete_schema()
        return self._source.number_columns

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each column of ``X``, or None if the input has no names.

        The feature ``colour=red`` is 1 in rows whose colour is red. The name of a hashed column is ``#`` and its number
        or, with ``keep_words=True``, the first word that was hashed to it.
        """
        self._complete_schema()
        return self._source.feature_names

    @property
    def has_named_features(self) -> bool:
        """Whether a column of ``X`` has a name other than ``#`` and its number."""
        self._complete_schema()
        return self._source.has_named_features

    @property
    def preparation(self) -> Preparation:
        """Plain data that defines how rows are made from the files, and that JSON can represent.

        If it is given to ``data.open``, other files are read in exactly the same way. If the column scale is not fitted
        yet, all rows are read once.
        """
        made = {} if self.scale is None else {"scale": self.scale.to_plain()}  # all rows are read before this
        return json.loads(json.dumps(self._source.preparation | made))

    @property
    def excluded(self) -> dict[str, str]:
        """The columns that ``on_ambiguous="drop"`` left out, mapped to the reasons why they were left out.

        More columns may be left out when the schema is completed from all rows, see `fit_scale`.
        """
        return dict(self._source.excluded)

    @property
    def notes(self) -> list[Message]:
        """Notes about how the files are read; ``str(note)`` is the text. `fit_scale` may add some."""
        return list(self._source.notes)

    @property
    def skipped(self) -> Skipped:
        """The number of rows that were left out with ``on_error="skip"``, and the reasons for the first ten."""
        return Skipped(self._source.skipped, list(self._source.messages))

    @property
    def unlabelled(self) -> dict[str, int]:
        """For each text in place of a label, the number of rows of a table that were left out.

        The text is a word such as "NA". It is "" for an empty cell, and for all rows if labels are numbers.
        """
        return dict(self._source.unlabelled)

    @property
    def unseen(self) -> dict[str, int]:
        """For each column, the number of values that are not known categories; their one-hot features are all 0."""
        return {name: count for name, count in self._source.unseen.items() if count}

    @property
    def filled(self) -> dict[str, int]:
        """For each column of a table, the number of missing values; columns without any are not listed.

        Missing numbers are filled in, and a missing category is 0 in all its features. Rows that were left out do not
        count. A text without words is not missing.
        """
        return {name: count for name, count in self._source.filled.items() if count}

    @property
    def extra_columns(self) -> list[str]:
        """The columns that the given ``preparation`` does not name; they are ignored."""
        return list(self._source.extra_columns)

    def read(self) -> tuple[Features, np.ndarray]:
        """Return all rows at once, as ``X`` and ``y``."""
        every = list(self)
        if not every:
            return np.empty((0, self.n_features)), np.empty(0)
        block = join_blocks(every)
        return block.X, block.y

    def describe(self, rows: int | None = None) -> Table:
        """Return a table that describes the first rows, before any training.

        If the files are tables, it has a row for each of their columns: its kind, its features, the numbers of missing
        and of distinct values, a small histogram, the range or the most frequent values, and suspicious properties. A
        column is suspicious if, for instance, it numbers the rows, is constant, or determines the target by itself.
        ``risks`` lists the properties that can spoil a model or its accuracy.

        For other formats, it lists the numbers of rows and features, the range of the values, and the labels.

        The description covers the first ``rows`` rows. By default these are the first 10,000 rows or, for tables, the
        number of rows given as ``first_rows`` to ``data.open``.

        Input that can be read only once must be described before its rows are read. If it is not a table, its rows
        cannot be read afterwards.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from rosenblatt import data
        >>> file = pathlib.Path(tempfile.mkdtemp(), "fruit.csv")
        >>> _ = file.write_text("weight,colour,fruit\\n150,red,apple\\n120,green,apple\\n8,red,cherry\\n7,,cherry\\n")
        >>> table = data.open(file, target="fruit", missing="zero").describe()
        >>> table["column"], table["becomes"]
        (['weight', 'colour', 'fruit'], ['1 feature', '2 features: green, red', 'target'])
        >>> table["range"]
        ['7 to 150', 'red: 2, green: 1', 'apple: 2, cherry: 2']
        """
        from rosenblatt.data.describe import describe_columns, describe_rows

        source, head = self._source, self._source.head(rows)
        if head is None:
            return describe_rows(
                self.unscaled(), rows or FIRST_ROWS, ", ".join(source.files.names[:3]), source.preparation
            )
        return describe_columns(*head, source.preparation, source.excluded, source.n_features)

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self._source.files.names[:3]))
        more = len(self._source.files.names) - 3
        return f"<Stream of {names}{f' and {more} more' if more > 0 else ''}, {self._source.n_features} features>"
