"""The decompressed bytes of files, pipes, standard input and file objects, and the detection of file formats.

The compression is detected from the name and the first bytes of a file. An OSError means that the file cannot be read,
a ``DataError`` that its contents are damaged. Both messages name the file.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import select
import stat
import sys
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, Protocol, runtime_checkable

from rosenblatt.blocks import DataError
from rosenblatt.messages import ParameterError, shorten

STANDARD_INPUT = "-"
_MAGIC = {
    "gz": (b"\x1f\x8b\x08",),
    "bz2": tuple(b"BZh%d" % level + body for level in range(1, 10) for body in (b"1AY&SY", b"\x17rE8P\x90")),
    "xz": (b"\xfd7zXZ\0",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
COMPRESSIONS = {".gz": "gz", ".gzip": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
_PAUSE = 0.02  # seconds without new bytes after which the complete lines of a pipe are passed on


@runtime_checkable
class BinaryFile(Protocol):
    """An open file in binary mode. If it also has ``read1``, lines are passed on as soon as they can be read."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes; no bytes mean the end of the file."""


def display_name(file: str | BinaryFile) -> str:
    """Return the name that messages use for a file."""
    name = file if isinstance(file, str) else getattr(file, "name", None)
    if name in (STANDARD_INPUT, "<stdin>"):
        return "standard input"
    return name if isinstance(name, str) else "the open file"


class _Readable(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...
    def close(self) -> None: ...


class ByteStream:
    """The decompressed bytes of a file, from its start.

    ``on_read`` is called with each piece of the stored bytes, before decompression and in order. The memory of the
    piece is reused after the call returns.

    Attributes
    ----------
    name : str
        The name of the file in messages.
    compression : str or None
        "gz", "bz2", "xz", "zstd", or None.
    """

    _bytes: _Readable

    def __init__(self, file: str | BinaryFile, on_read: Callable[[memoryview], None] | None = None) -> None:
        self.name = display_name(file)
        self.compression: str | None = None
        self._peeked = b""
        with self._rename_errors():
            by_name, raw = False, file
            if file == STANDARD_INPUT:  # unbuffered, because a thread that waits for input must not hold a lock
                raw = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
            elif isinstance(file, str):
                by_name, raw = True, io.FileIO(file)
            self._stored = self._bytes = _CountingReader(raw, by_name, on_read)
            try:
                self.compression = self._detect_compression(self._stored.peek(10), by_name)
                if self.compression:
                    self._bytes = _decompress(io.BufferedReader(self._stored, 1 << 18), self.compression, self.name)
            except BaseException:
                self._stored.close()
                raise

    @property
    def consumed(self) -> int:
        """The number of stored bytes of the file that have been read so far."""
        return self._stored.count

    def readinto(self, buffer: memoryview) -> int:
        """Fill ``buffer`` and return the number of bytes read; no reference to ``buffer`` is kept.

        Fewer bytes than requested are read only at the end, or if a pipe pauses after a newline.
        """
        filled = min(len(self._peeked), len(buffer))
        buffer[:filled] = self._peeked[:filled]
        self._peeked = self._peeked[filled:]
        may_pause = self._bytes is self._stored and not self._stored.on_disk
        has_line = may_pause and b"\n" in bytes(buffer[:filled])
        with self._rename_errors():
            while filled < len(buffer) and not (has_line and self.pauses()):
                n = self._bytes.readinto(buffer[filled:])
                if not n:
                    break
                has_line = has_line or (may_pause and b"\n" in bytes(buffer[filled : filled + n]))
                filled += n
        return filled

    def pauses(self) -> bool:
        """Return whether a pipe has no input at present; False for files on disk and for compressed data."""
        return self._bytes is self._stored and self._stored.pauses()

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes without consuming them; fewer in the same cases as in ``readinto``."""
        buffer = bytearray(size)
        self._peeked = bytes(buffer[: self.readinto(memoryview(buffer))]) + self._peeked
        return self._peeked[:size]

    def close(self) -> None:
        """Close the file if it was opened by its name; standard input and file objects stay open."""
        with suppress(Exception):
            self._bytes.close()
        self._stored.close()

    def _detect_compression(self, head: bytes, by_name: bool) -> str | None:
        found = next((kind for kind, starts in _MAGIC.items() if head.startswith(starts)), None)
        expected = COMPRESSIONS.get(Path(self.name).suffix.lower())
        if expected and not found and by_name:  # a file object may already be decompressed
            why = "is empty" if not head else "does not start like one"
            what = "{file} is named like a {kind} file, but {why}: copy it again, or rename it."
            raise DataError(what, file=self.name, kind=expected, why=why)
        return found

    @contextmanager
    def _rename_errors(self) -> Generator[None, None, None]:
        try:
            yield
        except DataError:
            raise
        except EOFError:
            what = "{file} ends in the middle of its {kind} data: copy it again."
            raise DataError(what, file=self.name, kind=self.compression) from None
        except (zlib.error, lzma.LZMAError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise OSError(error.errno, f"{self.name} cannot be read: {os.strerror(error.errno)}") from None
            what = "{file} has damaged {kind} data ({error}): copy it again."
            raise DataError(what, file=self.name, kind=self.compression, error=error) from None


class _CountingReader(io.RawIOBase):
    """The stored bytes of a file, counted as they are read."""

    def __init__(self, raw: Any, closes: bool, on_read: Callable[[memoryview], None] | None) -> None:
        self._raw, self._closes, self._on_read = raw, closes, on_read
        self._read = getattr(raw, "read1", raw.read)
        self._head = b""
        self.count = 0
        self._descriptor: int | None = None
        with suppress(AttributeError, OSError):
            self._descriptor = int(raw.fileno())
        self.on_disk = self._descriptor is not None and is_regular(self._descriptor)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head and isinstance(self._raw, io.RawIOBase):
            n = self._raw.readinto(buffer) or 0
        else:
            some = self._head[: len(buffer)] or self._read(len(buffer))
            n = len(some)
            buffer[:n] = some
            self._head = self._head[n:]
        self.count += n
        if self._on_read is not None:
            self._on_read(memoryview(buffer)[:n])
        return n

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes without consuming them; fewer at the end, or if a newline arrives earlier."""
        while len(self._head) < size and b"\n" not in self._head and (more := self._read(size - len(self._head))):
            self._head += more
        return self._head

    def pauses(self) -> bool:
        """Return whether a pipe has no input at present; False for a file on disk, True if this cannot be tested."""
        if self.on_disk or self._head:
            return False
        with suppress(OSError, ValueError):
            return self._descriptor is None or not select.select([self._descriptor], [], [], _PAUSE)[0]
        return False

    def close(self) -> None:
        if self._closes:
            self._raw.close()
        super().close()


def is_regular(path: str | int) -> bool:
    """Return whether a path or a file descriptor refers to a regular file, which has a size and can be read again."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


class _Streams:
    """The decompressed bytes of a file of one or more bz2 or xz streams, possibly with zero bytes after a stream.

    If other bytes follow a stream, the next ``decompressor`` raises an error, as `gzip` does. `bz2.open` and
    `lzma.open` ignore such bytes.
    """

    def __init__(self, file: io.BufferedReader, decompressor: Callable[[], Any]) -> None:
        self._file, self._decompressor = file, decompressor
        self._stream = decompressor()

    def readinto(self, buffer: memoryview) -> int:
        while True:
            stored = b""
            if self._stream.eof:
                stored = self._stream.unused_data.lstrip(b"\0")
                while not stored and (more := self._file.read1()):
                    stored = more.lstrip(b"\0")
                if not stored:
                    return 0
                self._stream = self._decompressor()
            elif self._stream.needs_input:
                stored = self._file.read1()
                if not stored:
                    raise EOFError
            found = self._stream.decompress(stored, len(buffer))
            if found:
                buffer[: len(found)] = found
                return len(found)

    def close(self) -> None:
        self._file.close()


def _decompress(file: io.BufferedReader, compression: str, name: str) -> _Readable:
    if compression == "gz":
        return gzip.GzipFile(fileobj=file)
    if compression == "bz2":
        return _Streams(file, bz2.BZ2Decompressor)
    if compression == "xz":
        return _Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ))
    try:
        pyarrow = import_module("pyarrow")
    except ImportError:
        raise ImportError(
            f"{name} is compressed with zstd, which needs pyarrow: pip install 'rosenblatt[files]', or decompress it "
            "first."
        ) from None
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")


# Detection of the format of a file from its name and its first bytes.


FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl", "fasttext", "svmlight", "vw", "npz")
TABLES = ("csv", "tsv", "parquet", "arrow", "jsonl", "fasttext")
TEXTS = ("csv", "tsv", "jsonl", "fasttext", "svmlight", "vw")
LABEL_MARK = b"__label__"
"""What fastText puts before each label."""
ALIASES = {"feather": "arrow", "ipc": "arrow", "libsvm": "svmlight", "ndjson": "jsonl", "json": "jsonl"}
_ENDINGS = {
    "csv": (".csv", ".xlsx", ".xlsm", ".xls", ".ods"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".feather", ".arrow", ".arrows", ".ipc"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "vw": (".vw",),
    "npz": (".npz",),
}
_FORMAT_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"PK\x03\x04": "npz"}
_NUMBER = rb"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"  # "++" is possessive: no backtracking, linear time
_VW = re.compile(rb"\s*+(?:%b\s++){0,3}(?:'?[^\s|]*+\s*+)?\|" % _NUMBER)
_SVMLIGHT = re.compile(rb"\s*+%b(?:\s++qid:\d++)?(?:\s++\d++:%b)+\s*+(?:#.*)?" % (_NUMBER, _NUMBER))


def detect_format(name: str, head: bytes, given: str | None = None) -> str:
    """Return ``given`` or, if it is None, the format detected from the first bytes, the name or the first lines.

    Examples
    --------
    >>> detect_format("a9a.t", b"-1 5:1 7:1 14:1\\n")
    'svmlight'
    >>> detect_format("numbers.csv.gz", b"x,y\\n")
    'csv'
    """
    if given is not None:
        kind = ALIASES.get(given, given)
        if kind not in FORMATS:
            what = "{format} must be one of {formats}, got {given}."
            raise ParameterError(what, formats=", ".join(FORMATS), given=shorten(given))
        return kind
    if head.startswith(b"FEA1"):
        raise DataError(
            "{file} is a Feather file of version 1, expected version 2: save it again as version 2.", file=name
        )
    for magic, kind in _FORMAT_MAGIC.items():
        if head.startswith(magic):
            return kind
    found = format_of_name(name) or _from_lines(head)
    if found is None:
        what = "the format of {file} cannot be detected from its name or first line: give {format}, one of {formats}."
        raise DataError(what, file=name, formats=", ".join(FORMATS))
    return found


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a binary format."""
    return any(map(head.startswith, _FORMAT_MAGIC))


def format_of_name(name: str) -> str | None:
    """Return the format that the extension of a file name implies, or None if the extension implies none.

    Examples
    --------
    >>> format_of_name("part-1.csv.gz"), format_of_name("a9a.t")
    ('csv', None)
    """
    path = PurePath(name.lower())
    ending = (path.with_suffix("") if path.suffix in COMPRESSIONS else path).suffix
    return next((kind for kind, endings in _ENDINGS.items() if ending in endings), None)


def _from_lines(head: bytes) -> str | None:
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip() and line[:1] != b"#"]
    if lines and lines[0].lstrip().startswith(LABEL_MARK):
        return "fasttext"
    if not lines or b"\0" in head:
        return None
    first = lines[0]
    if first.lstrip().startswith(b"{"):
        return "jsonl"
    if any(_SVMLIGHT.fullmatch(line) for line in lines[:10]):
        return "svmlight"
    if _VW.match(first):
        return "vw"
    if b"\t" in first:
        return "tsv"
    return "csv" if b"," in first or b";" in first else None
