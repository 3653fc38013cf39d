"""An append-only log of frames with checksums, in which a frame is on the disk before `append` returns.

A file starts with a header: a name of the format, eight random bytes that mark the start of each frame, and a checksum.
A frame has its marker, the length and the CRC-32 of its content, a CRC-32 of these two, and the content.

A frame is written only after the previous one has been flushed. So after a kill or a power failure all frames are whole
except perhaps the last one, which nobody was told of: it is cut off. A bad frame with a whole frame behind it cannot be
such a torn write. It means that the file was damaged later, and is an error.
"""

from __future__ import annotations

import mmap
import os
import secrets
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rosenblatt.storage.container import sync_folder

_FORMAT = b"rosenblatt log 1"
_MARKER = 8
_HEADER = struct.Struct(f"<{len(_FORMAT)}s{_MARKER}sI")
_FRAME = struct.Struct(f"<{_MARKER}sIII")
_OPEN = os.O_RDWR | getattr(os, "O_BINARY", 0)


class Frames(NamedTuple):
    """The whole frames of a log."""

    marker: bytes
    """The bytes with which each frame starts; b"" if not even the header of the file is whole."""
    contents: list[tuple[int, int]]
    """The offset and the length of the content of each frame."""
    end: int
    """The offset behind the last whole frame."""
    size: int
    """The size of the file, which is larger than ``end`` if the last write was torn."""


class Log:
    """A log that is open for appending.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "log"
    >>> with Log.create(path) as log:
    ...     log.append(b"one")
    ...     log.append(b"two")
    >>> with path.open("ab") as file:
    ...     _ = file.write(b"torn")
    >>> list(read_log(path))
    [b'one', b'two']
    >>> with Log.open(path) as log:
    ...     log.append(b"three")
    >>> list(read_log(path))
    [b'one', b'two', b'three']
    """

    def __init__(self, path: Path, marker: bytes, end: int) -> None:
        self.path, self.size = path, end
        self._marker = marker
        self._file = os.open(path, _OPEN)
        self.is_usable = True
        """False once a failed write could not be undone, so that nothing more may be appended."""

    @classmethod
    def create(cls, path: Path) -> Log:
        """Create an empty log, replacing a file that has no frame; both the file and its name are on the disk."""
        marker = secrets.token_bytes(_MARKER)
        head = _HEADER.pack(_FORMAT, marker, 0)[:-4]
        file = os.open(path, _OPEN | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            _write(file, head + zlib.crc32(head).to_bytes(4, "little"))
            os.fsync(file)
        finally:
            os.close(file)
        sync_folder(os.fspath(path.parent))
        return cls(path, marker, _HEADER.size)

    @classmethod
    def open(cls, path: Path) -> Log:
        """Open a log for appending; first cut off a frame whose write was torn. Raise a ValueError if it is damaged."""
        found = find_frames(path)
        if not found.marker:
            return cls.create(path)
        log = cls(path, found.marker, found.end)
        if found.size > found.end:
            os.ftruncate(log._file, found.end)
            os.fsync(log._file)
        return log

    def append(self, content: bytes) -> None:
        """Append a frame and flush it to the disk. If this fails, raise an OSError and leave the log as it was."""
        lengths = struct.pack("<II", len(content), zlib.crc32(content))
        frame = self._marker + lengths + zlib.crc32(lengths).to_bytes(4, "little") + content
        if not self.is_usable:
            raise OSError(f"{self.path} could not be written before: nothing more is appended to it.")
        try:
            os.lseek(self._file, self.size, os.SEEK_SET)
            _write(self._file, frame)
            os.fsync(self._file)
        except OSError:
            self.is_usable = self._undo()
            raise
        self.size += len(frame)

    def _undo(self) -> bool:
        """Cut off what a failed write has left behind; return whether this is certain to be on the disk."""
        try:
            os.ftruncate(self._file, self.size)
            os.fsync(self._file)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def read_log(path: Path) -> Iterator[bytes]:
    """Yield the contents of the whole frames of a log; raise a ValueError if the log is damaged."""
    contents = find_frames(path).contents
    with open(path, "rb") as file:
        for start, length in contents:
            file.seek(start)
            yield file.read(length)


def find_frames(path: Path) -> Frames:
    """Return the whole frames of a log. Raise a ValueError if it is damaged, rather than torn at its end."""
    size = os.path.getsize(path)
    if size < _HEADER.size:
        return Frames(b"", [], 0, size)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        head = data[: _HEADER.size]
        name, marker, check = _HEADER.unpack(head)
        if zlib.crc32(head[:-4]) != check:
            if size == _HEADER.size:  # written, but not flushed when the power failed
                return Frames(b"", [], 0, size)
            raise _damaged(path, 0)
        if name != _FORMAT:
            raise ValueError(
                f"{path} is a log of another version: use the version of rosenblatt that wrote it, or remove the "
                "folder to begin again."
            )
        contents, end = [], _HEADER.size
        while (length := _frame_at(data, end, marker)) is not None:
            contents.append((end + _FRAME.size, length))
            end += _FRAME.size + length
        later = data.find(marker, end + 1)
        while later >= 0:
            if _frame_at(data, later, marker) is not None:
                raise _damaged(path, end)
            later = data.find(marker, later + 1)
        return Frames(marker, contents, end, size)


def _frame_at(data: mmap.mmap, start: int, marker: bytes) -> int | None:
    """Return the length of the content of the whole frame at ``start``, or None if there is none."""
    head = data[start : start + _FRAME.size]
    if len(head) < _FRAME.size:
        return None
    found, length, check, head_check = _FRAME.unpack(head)
    content = start + _FRAME.size
    if found != marker or zlib.crc32(head[_MARKER:-4]) != head_check or content + length > len(data):
        return None
    with memoryview(data) as view, view[content : content + length] as part:
        return length if zlib.crc32(part) == check else None


def _damaged(path: Path, place: int) -> ValueError:
    return ValueError(
        f"{path} is damaged at byte {place:,}, before rows that were acknowledged, so it is not used: restore it from "
        "a copy, or remove the folder to begin again from the model."
    )
