"""Streams of what can be read only once: standard input, pipes, file objects."""

from __future__ import annotations

from collections.abc import Iterator

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.column_scales import StreamScale
from rosenblatt.data.row_source import RowSource
from rosenblatt.data.splits import Split
from rosenblatt.data.stream import Stream


class OnceStream(Stream):
    """A stream that can be read only once."""

    def __init__(self, source: RowSource, block_rows: int | None = None, scale: StreamScale | None = None) -> None:
        super().__init__(source, block_rows, scale=scale)
        self._rest, self._ended = self._blocks(), False

    def part(self, split: Split, held: bool, scaled_as: Stream | None = None) -> Stream:
        """Raise a DataError: each part would need a reading of its own."""
        raise DataError(f"{', '.join(self._source.files.names)} can be read only once, so it has no parts.")

    def unscaled(self) -> Stream:
        """Return the stream itself, if it is not scaled; else raise a DataError."""
        if self.scale is None:
            return self
        raise DataError(f"{', '.join(self._source.files.names)} can be read only once, and is scaled as it is read.")

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
