"""Streams of what can be read only once: standard input, pipes, file objects."""

from __future__ import annotations

from collections.abc import Iterator

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.column_scales import StreamScale
from rosenblatt.data.row_source import RowSource
from rosenblatt.data.stream import Stream


class OnceStream(Stream):
    """A stream that can be read only once."""

    def __init__(self, source: RowSource, block_rows: int | None = None, scale: StreamScale | None = None) -> None:
        super().__init__(source, block_rows, scale=scale)
        self._rest, self._ended = self._blocks(), False

    def __iter__(self) -> Iterator[Block]:
        """Continue reading."""
        return self

    def __next__(self) -> Block:
        """Return the next block; a DataError where all had been read before."""
        if self._ended:
            raise DataError(
                f"{', '.join(self._source.files.names)} can be read only once, and has been read to its end: open it "
                "again, or save it to a file."
            )
        try:
            return next(self._rest)
        except StopIteration:
            self._ended = True
            raise
