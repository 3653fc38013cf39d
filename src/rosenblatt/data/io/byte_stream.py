"""The bytes of one file: plain, gz, bz2, xz or zstd; a file that can be read again, a pipe, standard input.

Name and first bytes tell how a file is compressed. Whatever goes wrong is one sentence that names the file: an OSError
where the file cannot be read, a ``DataError`` where its contents are damaged.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import select
import stat
import sys
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from rosenblatt.blocks import DataError

STANDARD_INPUT = "-"
_MAGIC = {
    "gz": (b"\x1f\x8b\x08",),
    "bz2": tuple(b"BZh%d" % level + body for level in range(1, 10) for body in (b"1AY&SY", b"\x17rE8P\x90")),
    "xz": (b"\xfd7zXZ\0",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
_ENDINGS = {".gz": "gz", ".gzip": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
_MOMENT = 0.02  # seconds to wait for a pipe to bring more before its lines are handed over


class ByteStream:
    """The decompressed bytes of a file, from its start, and how much of the file they took.

    Attributes
    ----------
    name : str
        The file as the user named it; "standard input" for "-".
    compression : str or None
        "gz", "bz2", "xz", "zstd", or None.
    """

    _bytes: Any

    def __init__(self, name: str) -> None:
        self.name = "standard input" if name == STANDARD_INPUT else name
        self.compression: str | None = None
        self._peeked = b""
        with self._faults():
            raw = _standard_input() if name == STANDARD_INPUT else io.FileIO(name)
            self._stored = self._bytes = _Counted(raw, closes=name != STANDARD_INPUT)
            try:
                self.compression = self._told(name, self._stored.peek(10))
                if self.compression:
                    self._bytes = _decompressed(io.BufferedReader(self._stored, 1 << 18), self.compression, self.name)
            except BaseException:
                self._stored.close()
                raise

    @property
    def consumed(self) -> int:
        """Bytes of the file that were read so far, as they are stored."""
        return self._stored.count

    def readinto(self, room: memoryview) -> int:
        """Fill ``room``, and return how much was read: less only at the end, or where a pipe pauses after a newline."""
        filled = min(len(self._peeked), len(room))
        room[:filled] = self._peeked[:filled]
        self._peeked = self._peeked[filled:]
        with self._faults():
            while filled < len(room):
                if filled and self._bytes is self._stored and self._stored.pauses() and b"\n" in bytes(room[:filled]):
                    break
                n = self._bytes.readinto(room[filled:])
                if not n:
                    break
                filled += n
        return filled

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes, or fewer as ``readinto`` does, without taking them away."""
        room = bytearray(size)
        self._peeked = bytes(room[: self.readinto(memoryview(room))]) + self._peeked
        return self._peeked[:size]

    def skip(self, size: int) -> None:
        """Pass over ``size`` bytes; a ``DataError`` where there are not so many."""
        if self._bytes is self._stored and not self._peeked and self._stored.skip(size):
            return
        room = memoryview(bytearray(min(size, 1 << 20)))
        while size > 0:
            n = self.readinto(room[: min(size, len(room))])
            if n == 0:
                raise DataError(
                    f"{self.name} is shorter than it was: it ends {size} bytes before the place to go on from."
                )
            size -= n

    def close(self) -> None:
        """Close the file; standard input stays open."""
        with suppress(Exception):
            self._bytes.close()
        self._stored.close()

    def _told(self, name: str, head: bytes) -> str | None:
        found = next((kind for kind, starts in _MAGIC.items() if head.startswith(starts)), None)
        expected = _ENDINGS.get(Path(name).suffix.lower())
        if expected and not found:
            what = "it is empty" if not head else f"it does not begin as {expected} files do"
            raise DataError(f"{name} is not a {expected} file as its name says: {what}. Copy it again, or rename it.")
        return found

    @contextmanager
    def _faults(self) -> Generator[None, None, None]:
        try:
            yield
        except DataError:
            raise
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no file {self.name}.") from None
        except IsADirectoryError:
            raise IsADirectoryError(f"{self.name} is a folder: name the files in it, as in {self.name}/*.") from None
        except PermissionError:
            raise PermissionError(f"{self.name} cannot be read: permission denied.") from None
        except EOFError:
            raise DataError(f"{self.name} ends in the middle of its {self.compression} data: copy it again.") from None
        except (zlib.error, lzma.LZMAError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise OSError(error.errno, f"{self.name} cannot be read: {os.strerror(error.errno)}") from None
            raise DataError(f"{self.name} has damaged {self.compression} data ({error}): copy it again.") from None


class _Counted(io.RawIOBase):
    """The stored bytes of a file, counted as they are read."""

    def __init__(self, raw: Any, closes: bool) -> None:
        self._raw, self._closes = raw, closes
        self._head = b""
        self.count = 0
        self._waits = not is_regular(raw)

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        if self._head:
            n = min(len(self._head), len(room))
            room[:n] = self._head[:n]
            self._head = self._head[n:]
        else:
            n = self._raw.readinto(room) or 0
        self.count += n
        return n

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes; fewer at the end, or where a pipe has brought a line and no more."""
        while len(self._head) < size and b"\n" not in self._head and (more := self._raw.read(size - len(self._head))):
            self._head += more
        return self._head

    def pauses(self) -> bool:
        """Say whether this is a pipe, or the like, that has nothing to read for a moment."""
        if self._waits and not self._head:
            with suppress(OSError, ValueError):
                return not select.select([self._raw], [], [], _MOMENT)[0]
        return False

    def skip(self, size: int) -> bool:
        """Seek instead of reading, where that can be done and the bytes are there."""
        if self._waits or os.fstat(self._raw.fileno()).st_size < self.count + size:
            return False
        self._head = b""
        self.count = self._raw.seek(self.count + size)
        return True

    def close(self) -> None:
        if self._closes:
            self._raw.close()
        super().close()


def is_regular(file: Any) -> bool:
    """Say whether an open file, or a path, is a plain file on disk, which can be read again and has a size."""
    try:
        mode = os.stat(file if isinstance(file, str) else file.fileno()).st_mode
    except (OSError, io.UnsupportedOperation):
        return False
    return stat.S_ISREG(mode)


def _standard_input() -> Any:
    buffer = sys.stdin.buffer
    return getattr(buffer, "raw", buffer)  # a thread that waits for the unbuffered file holds no lock


def _decompressed(file: io.BufferedReader, compression: str, name: str) -> Any:
    if compression == "gz":
        return gzip.GzipFile(fileobj=file)
    if compression == "bz2":
        return bz2.BZ2File(file)
    if compression == "xz":
        return lzma.LZMAFile(file)
    try:
        pyarrow = import_module("pyarrow")
    except ImportError:
        raise ImportError(
            f"{name} is compressed by zstd, which needs pyarrow: pip install 'rosenblatt[files]', or unpack it first."
        ) from None
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")
