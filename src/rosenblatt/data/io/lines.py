"""Text from files in chunks of whole lines: one file, several, a pattern, or standard input."""

from __future__ import annotations

import glob
import os
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from rosenblatt.blocks import DataError, Place
from rosenblatt.data.io.byte_stream import STANDARD_INPUT, ByteStream, is_regular
from rosenblatt.kernels.parsing.byte_words import PAD

CHUNK_BYTES = 1 << 22
"""Text that is parsed in one go, and becomes a block."""
LONGEST_LINE = 1 << 28

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Chunk:
    """Whole lines of one file, each with a newline at its end: ``buffer[start:stop]``. More bytes than PAD follow."""

    buffer: bytearray
    start: int
    stop: int
    file: int
    """Number of the file in ``Source.names``."""
    end: int
    """Bytes of that file up to the end of these lines, after decompression."""
    consumed: int
    """Bytes of all files that were read so far, as they are stored."""

    @property
    def text(self) -> np.ndarray:
        """The buffer as kernels take it."""
        return np.frombuffer(self.buffer, np.uint8)


def file_names(paths: Paths) -> list[str]:
    """Return the files that ``paths`` means, in order: what matches a pattern sorted, lists as they are.

    Examples
    --------
    >>> file_names(["-"])
    ['-']
    >>> file_names("no/such/*.txt")
    Traceback (most recent call last):
    FileNotFoundError: no file matches no/such/*.txt.
    """
    if not isinstance(paths, str | os.PathLike):
        if isinstance(paths, bytes) or not isinstance(paths, Iterable):
            raise TypeError(f"expected the name of a file or a list of names, got {paths!r}.")
        return [name for path in paths for name in file_names(path)]
    name = os.fspath(paths)
    if not glob.has_magic(name) or os.path.exists(name):
        return [name]
    found = sorted(match for match in glob.glob(name, recursive=True) if not os.path.isdir(match))
    if not found:
        raise FileNotFoundError(f"no file matches {name}.")
    return found


class Source:
    """The lines of some files, read in chunks.

    Parameters
    ----------
    paths : str, path, or a list of them
        Files, patterns such as ``part-*.gz``, or "-" for standard input.
    chunk_bytes : int
        How much text to read at a time. A line that is longer gets a chunk of its own.
    longest_line : int
        Bytes that a line may have; a longer one is a ``DataError``.

    Attributes
    ----------
    names : list of str
        The files in the order of reading.
    rereadable : bool
        Whether all can be read again: plain files, not pipes or standard input.
    size : int or None
        Bytes of all files as they are stored, None where that cannot be known.
    """

    def __init__(self, paths: Paths, *, chunk_bytes: int = CHUNK_BYTES, longest_line: int = LONGEST_LINE) -> None:
        self.names = file_names(paths)
        if not self.names:
            raise ValueError("expected at least one file to read, got none.")
        if self.names.count(STANDARD_INPUT) > 1:
            raise ValueError('standard input ("-") can be read only once, but is named twice.')
        if chunk_bytes < 1 or longest_line < 1:
            raise ValueError(f"chunk_bytes and longest_line must be at least 1, got {chunk_bytes} and {longest_line}.")
        for name in self.names:
            if name != STANDARD_INPUT and not os.path.exists(name):
                raise FileNotFoundError(f"there is no file {name}.")
            if os.path.isdir(name):
                raise IsADirectoryError(f"{name} is a folder: name the files in it, as in {name}/*.")
        self.rereadable = all(name != STANDARD_INPUT and is_regular(name) for name in self.names)
        self.size = sum(os.path.getsize(name) for name in self.names) if self.rereadable else None
        self._chunk_bytes, self._longest_line = chunk_bytes, longest_line
        self._spare: list[bytearray] = []
        self._first: ByteStream | None = None
        self._started = False

    def label(self, file: int) -> str:
        """Return how to call a file in a sentence."""
        return "standard input" if self.names[file] == STANDARD_INPUT else self.names[file]

    def head(self, size: int = 1 << 16) -> bytes:
        """Return the first bytes of the first file, decompressed; they are read again by ``chunks``."""
        if self._started and not self.rereadable:
            raise self._read_once()
        stream = self._first or ByteStream(self.names[0])
        head = stream.peek(size)
        if self.rereadable:
            stream.close()
        else:
            self._first = stream
        return head

    def chunks(self, start: Place | None = None) -> Generator[Chunk, None, None]:
        """Yield the lines in order, from ``start`` on; blank ones too. A byte order mark is passed over."""
        if self._started and not self.rereadable:
            raise self._read_once()
        self._started = True
        begin = start or Place(0, 0, 0)
        if begin != (0, 0, 0) and not self.rereadable:
            raise DataError("standard input and pipes can only be read from the start: save the data to a file.")
        if begin.file >= len(self.names):
            raise DataError(f"there are only {len(self.names)} files to read, but the place to go on is in another.")
        consumed = sum(os.path.getsize(name) for name in self.names[: begin.file]) if begin.file else 0
        for file in range(begin.file, len(self.names)):
            stream, self._first = self._first or ByteStream(self.names[file]), None
            try:
                offset = begin.offset if file == begin.file else 0
                if offset:
                    stream.skip(offset)
                yield from self._lines(stream, file, offset, consumed)
                consumed += stream.consumed
            finally:
                stream.close()

    def recycle(self, chunk: Chunk) -> None:
        """Take the memory of a chunk that nobody will look at again, for chunks to come."""
        if len(chunk.buffer) == self._chunk_bytes + PAD + 1:
            self._spare.append(chunk.buffer)

    def _buffer(self, room: int) -> bytearray:
        if room == self._chunk_bytes:
            with suppress(IndexError):
                return self._spare.pop()
        return bytearray(room + PAD + 1)

    def _lines(self, stream: ByteStream, file: int, offset: int, consumed: int) -> Generator[Chunk, None, None]:
        rest = b""  # of a line whose end has not been read yet
        room = self._chunk_bytes
        while True:
            buffer = self._buffer(room)
            view = memoryview(buffer)
            view[: len(rest)] = rest
            read = stream.readinto(view[len(rest) : room])
            filled = len(rest) + read
            stop = buffer.rfind(b"\n", len(rest), filled) + 1
            if read == 0 and filled:
                buffer[filled] = ord("\n")
                stop = filled = filled + 1
            rest = bytes(view[stop:filled])  # now, since the chunk's memory may be in use again after the yield
            if stop:
                start = _mark(buffer, stream.name) if offset == 0 else 0
                offset += stop - (1 if read == 0 else 0)
                yield Chunk(buffer, start, stop, file, offset, consumed + stream.consumed)
            if read == 0:
                return
            room = max(self._chunk_bytes, 2 * len(rest))
            if len(rest) > self._longest_line:
                raise DataError(
                    f"{stream.name}: the line that begins at byte {offset} is longer than {self._longest_line} bytes: "
                    "is this text, with a newline at the end of each line?"
                )

    def _read_once(self) -> DataError:
        return DataError(
            "standard input and pipes can be read only once: save the data to a file to pass over it several times."
        )


def _mark(buffer: bytearray, name: str) -> int:
    """Return the length of the byte order mark that a text begins with."""
    if buffer.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            f"{name} is text in UTF-16, expected UTF-8 or ASCII: convert it, for instance by iconv -t UTF-8."
        )
    return 3 if buffer.startswith(b"\xef\xbb\xbf") else 0
