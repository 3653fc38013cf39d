"""Chunks of whole lines from one file, several files, a pattern, standard input, or an open file object."""

from __future__ import annotations

import glob
import io
import os
from codecs import BOM_UTF8
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from rosenblatt.blocks import DataError
from rosenblatt.data.io.bytes import STANDARD_INPUT, BinaryFile, ByteStream, display_name, is_regular
from rosenblatt.data.io.decoding import DecodedStream, Decoding, decoded
from rosenblatt.data.io.identity import Contents, Unchanged, fingerprint
from rosenblatt.data.io.workbooks import SheetText
from rosenblatt.kernels.parsing.bytes import PAD
from rosenblatt.messages import Message, check_integer, shorten

CHUNK_BYTES = 1 << 22
"""The number of bytes of text that are parsed at once and become a block."""
LONGEST_LINE = 64_000_000
"""The default maximum size of a line in bytes."""
MOST_LINE_BYTES = 1 << 30
"""The largest permitted value of this maximum, because Arrow counts the bytes of a text with 32 bits."""

_MOST_KEPT = 1 << 26
"""The maximum total size in bytes of the sheets that are kept in memory for later passes."""
Text = ByteStream | DecodedStream
"""A stream of the bytes of a file: its text in UTF-8, or a binary format."""
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class TextChunk:
    """Whole lines of one file, ``buffer[start:stop]``, each of which ends in a newline.

    More than ``PAD`` bytes follow them in the buffer. The chunk owns the buffer. A consumer that no longer needs the
    chunk may pass it to ``LineSource.recycle``.
    """

    buffer: bytearray
    start: int
    stop: int
    file: int
    """The index of the file in ``LineSource.names``."""
    share: float
    """The share of all files that has been read with these lines, from 0 to 1; 0 if the size is unknown."""
    fault: Message | None = None
    """The reason why a line cannot be read, or None. With a reason, the chunk contains a blank line instead."""

    @property
    def text(self) -> np.ndarray:
        """The buffer up to the padding after the lines, as an array of bytes for kernels."""
        return np.frombuffer(self.buffer, np.uint8, self.stop + PAD)


def quote_bytes(text: bytes) -> str:
    """Return text in quotes for a message, cut if it is long."""
    try:
        return shorten(text.strip().decode())
    except UnicodeDecodeError:
        return shorten(text.strip())[1:]


def file_names(paths: Paths) -> list[str]:
    """Return the names of the files in ``paths``; matches of a pattern are sorted, lists keep their order.

    Examples
    --------
    >>> file_names(["-"])
    ['-']
    >>> file_names("no/such/*.txt")
    Traceback (most recent call last):
    FileNotFoundError: no file matches no/such/*.txt.
    """
    if not isinstance(paths, str | os.PathLike):
        if isinstance(paths, np.ndarray):
            raise TypeError("expected paths of files or a data frame, got an array: pass it directly to fit.")
        if isinstance(paths, bytes) or not isinstance(paths, Iterable):
            raise TypeError(f"expected a file name, a list of names or a file in binary mode, got {paths!r}.")
        return [name for path in paths for name in file_names(path)]
    name = os.fspath(paths)
    if not glob.has_magic(name) or os.path.exists(name):
        return [name]
    found = sorted(match for match in glob.glob(name, recursive=True) if not os.path.isdir(match))
    if not found:
        raise FileNotFoundError(f"no file matches {name}.")
    return found


class LineSource:
    """The lines of some files, read in chunks.

    Parameters
    ----------
    paths : str, path, a list of them, or a binary file object
        Files, patterns such as ``part-*.gz``, or "-" for standard input.
    chunk_bytes : int, optional
        The number of bytes of text in a chunk, by default 4 MiB. Chunks with a longer line are larger.
    max_line_bytes : int, default 64,000,000
        The maximum size of a line in bytes, without its newline. A longer line becomes a chunk with a fault, and takes
        no more memory than this.
    decoding : Decoding, optional
        The encoding of the text, and the number of lines to leave out at the start of each file.

    Attributes
    ----------
    names : list of str
        The files in the order in which they are read.
    rereadable : bool
        Whether all files can be read again. Pipes, standard input and file objects cannot.
    size : int or None
        The size of all files as they are stored, in bytes; None if unknown.
    contents : Contents or None
        Digests of the bytes that have been read, if requested.
    """

    def __init__(
        self,
        paths: Paths | BinaryFile,
        *,
        chunk_bytes: int | None = None,
        max_line_bytes: int = LONGEST_LINE,
        decoding: Decoding | None = None,
    ) -> None:
        self.decoding = (decoding or Decoding()).check()
        self.max_line_bytes = check_integer("max_line_bytes", max_line_bytes, 1, most=MOST_LINE_BYTES)
        self._chunk_bytes = check_integer("chunk_bytes", CHUNK_BYTES if chunk_bytes is None else chunk_bytes, 1)
        if isinstance(paths, io.TextIOBase):
            raise TypeError(f"expected a file in binary mode, as open(name, 'rb') returns it, got {paths!r}.")
        self._file = paths if isinstance(paths, BinaryFile) else None
        self.names = [display_name(paths)] if isinstance(paths, BinaryFile) else file_names(paths)
        self.rereadable = self._file is None and self._check_names()
        self.size = sum(os.path.getsize(name) for name in self.names) if self.rereadable else None
        self.contents: Contents | None = None
        self._unchanged = Unchanged()
        self._spare: list[bytearray] = []
        self.is_workbook = False
        """Whether a file that has been opened is a workbook, which is read as CSV."""
        self._sheets: dict[int, SheetText] = {}
        self._sheet_notes: dict[int, Message] = {}
        self._peeked: Text | None = None
        self._started = False

    def _check_names(self) -> bool:
        """Raise an error unless all files exist; return whether all are files on disk."""
        if not self.names:
            raise ValueError("expected at least one file to read, got none.")
        if self.names.count(STANDARD_INPUT) > 1:
            raise ValueError('standard input ("-") can be read only once, but is named twice.')
        for name in self.names:
            if name != STANDARD_INPUT and not os.path.exists(name):
                raise FileNotFoundError(f"there is no file {name}.")
            if os.path.isdir(name):
                raise IsADirectoryError(f"{name} is a folder: name the files in it, as in {name}/*.")
        return all(name != STANDARD_INPUT and is_regular(name) for name in self.names)

    @property
    def paths(self) -> list[str] | None:
        """The names of the files; None for input that can be read only once."""
        return list(self.names) if self.rereadable else None

    def fingerprint(self, recipe: object, dated: bool = False) -> str:
        """Return a digest of the contents of the files, their decoding and ``recipe``; see `identity.fingerprint`."""
        decodes = self.decoding != Decoding()
        return fingerprint(self.names, [recipe, self.decoding] if decodes else recipe, dated)

    def check_unchanged(self) -> bool:
        """Raise a DataError if a file has changed since the first call; return whether this is not the first call."""
        return self.paths is not None and self._unchanged.check(self.paths)

    def watch_contents(self) -> Contents | None:
        """Start recording digests of the bytes that are read; return None if the files can be read only once."""
        self.contents = Contents(self.names) if self.rereadable else None
        return self.contents

    def reads(self, path: str | os.PathLike[str]) -> bool:
        """Return whether ``path`` is one of the files."""
        there = os.path.exists(path)
        return there and any(os.path.exists(name) and os.path.samefile(path, name) for name in self.names)

    def display_name(self, file: int) -> str:
        """Return the name that messages use for a file, given its index."""
        return display_name(self.names[file])

    def head(self, size: int = 1 << 16) -> bytes:
        """Return the first ``size`` bytes of the first file, decompressed, without consuming them."""
        self._check_unread()
        stream = self._peeked or self.open_bytes(0)
        head = stream.peek(size)
        if self.rereadable:
            stream.close()
        else:
            self._peeked = stream
        return head

    def open_bytes(self, file: int) -> Text:
        """Open a file to read its decoded bytes from the start, including the bytes that ``head`` returned."""
        if self._peeked is not None:
            stream, self._peeked = self._peeked, None
            return stream
        stored = ByteStream(
            self._file or self.names[file], None if self.contents is None else self.contents.reader(file)
        )
        try:
            stream = decoded(stored, self.decoding, self._sheets.get(file))
        except BaseException:
            stored.close()
            raise
        if isinstance(stream, DecodedStream) and stream.sheet is not None:
            self._keep_sheet(file, stream.sheet)
            stored.close()
        return stream

    def _keep_sheet(self, file: int, sheet: SheetText) -> None:
        """Keep the sheet of a workbook in memory if it is small, because workbooks take long to read."""
        self.is_workbook = True
        self.note_whole([file])
        if file not in self._sheet_notes and (note := sheet.note(self.display_name(file))) is not None:
            self._sheet_notes[file] = note
        kept = sum(len(other.text) for other in self._sheets.values())
        if self.rereadable and file not in self._sheets and kept + len(sheet.text) <= _MOST_KEPT:
            self._sheets[file] = sheet

    def notes(self) -> list[Message]:
        """Return notes about the sheets of workbooks that have been read."""
        return list(self._sheet_notes.values())

    def note_whole(self, files: Sequence[int] | None = None) -> None:
        """Note that the files with these indices, by default all, are not read from start to end.

        Their digests then cover all their bytes.
        """
        if self.contents is not None:
            self.contents.add_whole(files)

    def chunks(self) -> Generator[TextChunk, None, None]:
        """Yield all lines in order, including blank ones. A byte order mark is skipped."""
        self._check_unread()
        self._started, consumed = True, 0
        for file in range(len(self.names)):
            stream = self.open_bytes(file)
            try:
                yield from self._lines(stream, file, consumed)
                consumed += stream.consumed
            finally:
                stream.close()

    def recycle(self, chunk: TextChunk) -> None:
        """Keep the buffer of a chunk that is no longer needed, to use it for a later chunk."""
        if len(chunk.buffer) == self._chunk_bytes + PAD + 1:
            self._spare.append(chunk.buffer)

    def _buffer(self, size: int) -> bytearray:
        if size == self._chunk_bytes:
            with suppress(IndexError):
                return self._spare.pop()
        return bytearray(size + PAD + 1)

    def _lines(self, stream: Text, file: int, consumed: int) -> Generator[TextChunk, None, None]:
        # Invariant: ``rest`` is the start of a line whose newline has not been read, at most one line. Each iteration
        # copies it to the front of a new buffer, and then fills the buffer. Once the buffer is yielded, it belongs to
        # the consumer, and another thread may have recycled and overwritten it when the generator resumes. So all bytes
        # still needed are copied into ``rest`` before the yield, and local references are deleted before the next
        # allocation.
        rest = b""
        first, size = True, self._chunk_bytes
        while True:
            buffer = self._buffer(size)
            view = memoryview(buffer)
            view[: len(rest)] = rest
            read = stream.readinto(view[len(rest) : size])
            filled = len(rest) + read
            stop = buffer.rfind(b"\n", 0, filled) + 1
            if read == 0 and filled > stop:
                buffer[filled] = ord("\n")
                stop = filled = filled + 1
            rest = bytes(view[stop:filled])
            share = (consumed + stream.consumed) / self.size if self.size else 0.0
            if stop:
                start = len(BOM_UTF8) if first and buffer.startswith(BOM_UTF8) else 0
                first = False
                for begin, end in self._long_lines(buffer, start, stop):
                    if begin > start:
                        yield TextChunk(buffer[start:begin] + bytes(PAD + 1), 0, begin - start, file, share)
                    yield self._long_line(file, share)
                    start = end
                if stop > start:
                    yield TextChunk(buffer, start, stop, file, share)
            if read == 0:
                return
            del view, buffer
            if len(rest) > self.max_line_bytes:
                yield self._long_line(file, share)
                rest, first = self._skip_line(stream), False
            # Doubling keeps the copying of a long line linear in its length.
            size = max(self._chunk_bytes, min(2 * len(rest), self.max_line_bytes + 1))

    def _long_lines(self, buffer: bytearray, start: int, stop: int) -> Generator[tuple[int, int], None, None]:
        """Yield the start and end of each line with too many bytes."""
        while stop - start > self.max_line_bytes + 1:
            end = buffer.rfind(b"\n", start, start + self.max_line_bytes + 1) + 1
            if not end:
                end = buffer.index(b"\n", start) + 1
                yield start, end
            start = end

    def _long_line(self, file: int, share: float) -> TextChunk:
        """Return a chunk with a fault, in place of a line with too many bytes."""
        what = "the line has more than {most:,} bytes, expected a newline before that: "
        fault = Message(what + "give a larger {max_line_bytes} if lines are this long", most=self.max_line_bytes)
        return TextChunk(bytearray(b"\n" * (PAD + 2)), 0, 1, file, share, fault)

    def _skip_line(self, stream: Text) -> bytes:
        """Read to the end of a line; return the bytes of the next line that have been read with it."""
        buffer = bytearray(self._chunk_bytes)
        while read := stream.readinto(memoryview(buffer)):
            end = buffer.find(b"\n", 0, read) + 1
            if end:
                return bytes(buffer[end:read])
        return b""

    def _check_unread(self) -> None:
        if self._started and not self.rereadable:
            what = "standard input, pipes and file objects can be read only once: "
            raise DataError(what + "save the data to a file to read it again.")
