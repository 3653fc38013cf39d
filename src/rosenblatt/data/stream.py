"""Streams: rows of files as blocks, again and again."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.blocks import Block, join_blocks, rebatch
from rosenblatt.data.cache.row_cache import Kept
from rosenblatt.data.io.fingerprint import fingerprint
from rosenblatt.data.sources import Origin
from rosenblatt.tables import Table

__all__ = ["Skipped", "Stream", "stream_from"]


class Skipped(NamedTuple):
    """Rows that were left out because something is wrong with them."""

    rows: int
    sentences: list[str]
    """What is wrong with the first ten."""


class Stream:
    """Blocks of rows from files, as ``data.open`` returns them.

    Each iteration begins at the start of the files. What can be read only once (standard input, a pipe) can be
    iterated once: then ``iter(stream) is stream``. Counts are about the iteration begun last.

    Attributes
    ----------
    labelled : bool
        Whether rows have labels; otherwise they are NaN.
    rows_read : int
        Rows handed over.
    share_read : float
        How much of the input they took, from 0 to 1; 0 where nobody knows how much there is.

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
    >>> Perceptron(max_iter=1000, random_state=0).fit_stream(stream).predict([[100, 0, 1]])
    array(['apple'], dtype='<U6')
    """

    def __init__(self, origin: Origin, block_rows: int | None = None, kept: Kept | None = None) -> None:
        self._origin, self._block_rows, self._kept = origin, block_rows, kept
        self.rows_read = 0
        self.labelled = origin.labelled
        if kept is not None and kept.found is not None:
            origin.recall(kept.found)

    def __iter__(self) -> Iterator[Block]:
        """Read all blocks from the start."""
        return self._blocks()

    def _blocks(self) -> Generator[Block, None, None]:
        self.rows_read = 0
        known = self._kept if self._kept is not None and self._kept.full else None
        blocks = self._origin.blocks() if known is None else known.blocks()
        if self._kept is not None and known is None:
            blocks = self._kept.filling(blocks)
        try:
            for block in rebatch(blocks, self._block_rows) if self._block_rows else blocks:
                self.rows_read += len(block)
                if known is not None:
                    self._origin.share = self.rows_read / known.rows
                yield block
        finally:
            blocks.close()

    @property
    def fingerprint(self) -> str:
        """A digest that tells these rows from others: of the files' sizes and contents, and of how rows are made.

        Of files above some megabytes only parts are looked at, at the start, at the end and between.
        """
        if not self._origin.source.rereadable:
            raise ValueError("what can be read only once has no fingerprint: save it to a file.")
        return fingerprint(self._origin.source.names, self._origin.way)

    @property
    def share_read(self) -> float:
        """How much of the input has been read."""
        return self._origin.share

    @property
    def n_features(self) -> int:
        """Columns of ``X``; for svmlight text, those met so far."""
        return self._origin.n_features

    @property
    def feature_names(self) -> list[str] | None:
        """A name for each column of ``X``, or None where the input has none.

        ``colour=red`` is 1 in rows whose colour is red. Hashed columns are ``#`` and a number until a word that goes
        there is met, under ``names=True``.
        """
        return self._origin.feature_names

    @property
    def preparation(self) -> dict[str, Any]:
        """How rows are made, as plain data that JSON can hold: give it to ``data.open`` to read another file alike."""
        return json.loads(json.dumps(self._origin.preparation))

    @property
    def skipped(self) -> Skipped:
        """How many rows were left out under ``on_error="skip"``, and a sentence for each of the first ten."""
        return Skipped(self._origin.skipped, list(self._origin.complaints))

    @property
    def unseen(self) -> dict[str, int]:
        """How many values were none of the categories known, by column: their rows have 0 for all of them."""
        return {name: count for name, count in self._origin.unseen.items() if count}

    def read(self) -> tuple[Any, np.ndarray]:
        """Return all rows at once, as ``X`` and ``y``."""
        every = list(self)
        if not every:
            return np.empty((0, self.n_features)), np.empty(0)
        block = join_blocks(every)
        return block.X, block.y

    def describe(self) -> Table:
        """Return a table of the columns that features are made of."""
        prepared = self.preparation
        columns: dict[str, list[Any]] = {"column": [], "kind": [], "features": [], "values": []}
        for column in prepared.get("columns", []):
            categories = column.get("categories")
            hashed = column["kind"] == "text" or (column["kind"] == "category" and categories is None)
            columns["column"].append(column["name"])
            columns["kind"].append(column["kind"])
            columns["features"].append("hashed" if hashed else len(categories) if categories is not None else 1)
            columns["values"].append(", ".join(categories or [])[:60])
        notes = [f"Features: {self.n_features}"]
        if isinstance(prepared.get("target"), dict):
            notes.insert(0, f"Target: {prepared['target']['name']} ({prepared['target']['kind']})")
        if prepared.get("ignored"):
            notes.append(f"Left out: {', '.join(prepared['ignored'])}")
        return Table(columns, f"Columns of {', '.join(self._origin.source.names)}", notes)

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self._origin.source.names[:3]))
        more = len(self._origin.source.names) - 3
        return f"<Stream of {names}{f' and {more} more' if more > 0 else ''}, {self.n_features} features>"


class OnceStream(Stream):
    """A stream of what can be read only once."""

    def __init__(self, origin: Origin, block_rows: int | None = None) -> None:
        super().__init__(origin, block_rows)
        self._going = self._blocks()

    def __iter__(self) -> Iterator[Block]:
        """Go on reading."""
        return self

    def __next__(self) -> Block:
        """Return the next block."""
        return next(self._going)


def stream_from(origin: Origin, block_rows: int | None, kept: Kept | None) -> Stream:
    """Return a stream that can be read as often as its origin."""
    return Stream(origin, block_rows, kept) if origin.source.rereadable else OnceStream(origin, block_rows)
