"""The identity of files: sizes, modification times and digests of what has been read of them; fingerprints of rows.

With them a resumed run checks that the files have not changed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zlib
from collections.abc import Callable, Sequence
from typing import Any

PIECE = 1 << 18
"""Bytes that are read at once to compute a digest; they fit in the processor's cache."""

Record = dict[str, Any]
"""The state of one file as plain data: "size", "modified", "read" (a number of bytes) and "digest" (of these bytes)."""


class RunningDigest:
    """A running CRC-32 of bytes.

    It takes little time compared with reading, and detects accidental changes, but not forgeries.

    Examples
    --------
    >>> one, other = RunningDigest(), RunningDigest()
    >>> one.update(b"some bytes")
    >>> other.update(b"some"); other.update(b" bytes")
    >>> one.digest() == other.digest(), one.count
    (True, 10)
    """

    def __init__(self) -> None:
        self.count = self._sum = 0

    def update(self, data: bytes | memoryview) -> None:
        """Add some bytes."""
        self.count += len(data)
        self._sum = zlib.crc32(data, self._sum)

    def digest(self) -> str:
        """Return the digest as hexadecimal digits."""
        return f"{self._sum:08x}"


class Contents:
    """Digests of what is read of some files from now on.

    If a file is read from start to end, ``reader`` takes the bytes as they are read. If it is read in another way, or
    if its rows come from a cache, all its bytes are read again when ``records`` is first called.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._about = [_size_and_time(name) for name in names]
        self._read: list[tuple[int, str | None]] = [(0, RunningDigest().digest())] * len(names)
        self._whole: set[int] = set()

    def reader(self, file: int) -> Callable[[memoryview], None] | None:
        """Return a function to call with the bytes of a file as they are read; None if the digest is complete."""
        if self._is_known(file):
            return None
        running = RunningDigest()

        def take(data: memoryview) -> None:
            running.update(data)
            if running.count > self._read[file][0]:
                self._read[file] = running.count, running.digest()

        return take

    def add_whole(self, files: Sequence[int] | None = None) -> None:
        """Note that rows may depend on all bytes of these files, by default all files."""
        self._whole.update(range(len(self._names)) if files is None else files)

    def records(self) -> list[Record]:
        """Return the state of each file."""
        for file in sorted(self._whole):
            if not self._is_known(file):
                self._read[file] = self._about[file][0], self._digest_now(file)
        pairs = zip(self._about, list(self._read), strict=True)
        return [{"size": s, "modified": t, "read": count, "digest": digest} for (s, t), (count, digest) in pairs]

    def restore(self, records: Sequence[Record] | None) -> None:
        """Restore the digests of an earlier run; without them, the files are read again when digests are needed."""
        if records is None:
            self.add_whole()
        else:
            self._read = [(record["read"], record["digest"]) for record in records]

    def changed_size(self, records: Sequence[Record]) -> str:
        """Return how the number of files or their sizes have changed, "" if they have not."""
        if len(records) != len(self._names):
            return f"files read: {len(records)} then, {len(self._names)} now"
        for name, (size, _), then in zip(self._names, self._about, records, strict=True):
            if size != then["size"]:
                return f"{name} had {then['size']:,} bytes then, and has {size:,} now"
        return ""

    def changed_bytes(self, records: Sequence[Record], progress: Callable[[float], None]) -> str:
        """Return which file has changed in the bytes that had been read of it, "" if none has.

        Files with the same modification time are trusted. Of the others the same number of bytes is read again.
        ``progress`` is called with the share of these bytes, from 0 to 1.
        """
        dated = zip(self._names, self._about, records, strict=True)
        doubtful = [(name, then) for name, (_, modified), then in dated if modified != then["modified"]]
        total, before = max(1, sum(then["read"] for _, then in doubtful)), 0

        def tell(count: int) -> None:
            progress((before + count) / total)

        for name, then in doubtful:
            if then["digest"] is None:
                return f"{name} was changed while that run read it"
            if digest_of(name, then["read"], tell) != then["digest"]:
                return f"{name} has changed in the {then['read']:,} bytes that were read of it"
            before += then["read"]
        return ""

    def _is_known(self, file: int) -> bool:
        return self._read[file][0] == self._about[file][0]

    def _digest_now(self, file: int) -> str | None:
        """Return the digest of a complete file, None if it has been changed or replaced meanwhile."""
        name, about = self._names[file], self._about[file]
        try:
            digest = digest_of(name, about[0])
            return digest if _size_and_time(name) == about else None
        except OSError:
            return None


def _size_and_time(name: str) -> tuple[int, int]:
    about = os.stat(name)
    return about.st_size, about.st_mtime_ns


def digest_of(name: str, size: int, progress: Callable[[int], None] = lambda count: None) -> str:
    """Return the digest of the first ``size`` bytes of a file, or of all bytes if there are fewer."""
    running, buffer = RunningDigest(), memoryview(bytearray(PIECE))
    with io.FileIO(name) as file:
        while running.count < size and (n := file.readinto(buffer[: size - running.count])):
            running.update(buffer[:n])
            progress(running.count)
    return running.digest()


PART = 1 << 16
"""Bytes of a sample of a large file."""
PARTS = 64
"""Samples of a large file."""


def fingerprint(names: Sequence[str], recipe: object, dated: bool = False) -> str:
    """Return a digest of the contents of files and of the recipe, plain data that defines how rows are made.

    Of files above ``PARTS * PART`` bytes only ``PARTS`` samples are read, including the first and the last bytes. With
    ``dated``, the modification time counts too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "a.csv")
    >>> _ = file.write_text("1,2")
    >>> before = fingerprint([file], {"target": "y"})
    >>> _ = file.write_text("1,3")
    >>> fingerprint([file], {"target": "y"}) == before
    False
    """
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode())
    for name in names:
        with open(name, "rb") as file:
            about = os.fstat(file.fileno())
            digest.update(repr((about.st_size, about.st_mtime_ns if dated else None)).encode())
            for start in _starts(about.st_size):
                file.seek(start)
                digest.update(file.read(PART))
    return digest.hexdigest()


def _starts(size: int) -> list[int]:
    """Return the offsets of the samples in a file of this size."""
    if size <= PARTS * PART:
        return list(range(0, size, PART))
    return [k * (size - PART) // (PARTS - 1) for k in range(PARTS)]
