"""The identity of files: sizes, times of change and digests of what has been read of them; fingerprints of rows.

By these a run that is resumed knows whether the files are still those that it learned from.
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
"""Bytes that are read at once where a file is read for its digest alone; they stay in the processor's cache."""

Record = dict[str, Any]
"""What is known of one file, as plain data: "size", "modified", "read" (how many bytes) and "digest" (of these)."""


class RunningDigest:
    """A digest of the bytes that it was given so far, however they were cut: their CRC-32.

    It takes little time beside reading them, and finds changes; it does not stop forgers.

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
    """What is read of some files, from now on.

    Bytes that are read from the start of a file to its end are given to ``reader``, and cost no further reading. Of
    files that are read in another way, or whose rows come from a cache, all bytes are read again when ``records`` is
    first called.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._about = [_size_and_time(name) for name in names]
        self._read: list[tuple[int, str | None]] = [(0, RunningDigest().digest())] * len(names)
        self._whole: set[int] = set()

    def reader(self, file: int) -> Callable[[memoryview], None] | None:
        """Return what takes the bytes of a file, from its start, as they are read; None where all are known."""
        if self._is_known(file):
            return None
        running = RunningDigest()

        def take(data: memoryview) -> None:
            running.update(data)
            if running.count > self._read[file][0]:
                self._read[file] = running.count, running.digest()

        return take

    def add_whole(self, files: Sequence[int] | None = None) -> None:
        """Note that rows may depend on all bytes of these files, by default of every file."""
        self._whole.update(range(len(self._names)) if files is None else files)

    def records(self) -> list[Record]:
        """Return what is known of each file."""
        for file in sorted(self._whole):
            if not self._is_known(file):
                self._read[file] = self._about[file][0], self._digest_now(file)
        pairs = zip(self._about, list(self._read), strict=True)
        return [{"size": s, "modified": t, "read": count, "digest": digest} for (s, t), (count, digest) in pairs]

    def restore(self, records: Sequence[Record] | None) -> None:
        """Take over what an earlier run knew of the same files; without it they are read for it when it is needed."""
        if records is None:
            self.add_whole()
        else:
            self._read = [(record["read"], record["digest"]) for record in records]

    def changed_size(self, records: Sequence[Record]) -> str:
        """Return what is different about the number of files or their sizes, "" if nothing is."""
        if len(records) != len(self._names):
            return f"files read: {len(records)} then, {len(self._names)} now"
        for name, (size, _), then in zip(self._names, self._about, records, strict=True):
            if size != then["size"]:
                return f"{name} had {then['size']:,} bytes then, and has {size:,} now"
        return ""

    def changed_bytes(self, records: Sequence[Record], progress: Callable[[float], None]) -> str:
        """Return which file has other bytes than those that were read, "" if none has.

        Files whose time of change is the same are trusted; of the others, as many bytes are read as were then.
        ``progress`` is called with the share of these, from 0 to 1.
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
        """Return the digest of a whole file, None if it is no longer the one that was there at first."""
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
    """Return the digest of the first ``size`` bytes of a file, or of all if there are fewer."""
    running, buffer = RunningDigest(), memoryview(bytearray(PIECE))
    with io.FileIO(name) as file:
        while running.count < size and (n := file.readinto(buffer[: size - running.count])):
            running.update(buffer[:n])
            progress(running.count)
    return running.digest()


# Digests that identify the rows of some files.


PART = 1 << 16
PARTS = 64


def fingerprint(names: Sequence[str], recipe: object, dated: bool = False) -> str:
    """Return a digest of the contents of files and of the recipe, plain data, by which rows are made from them.

    Of files above ``PARTS * PART`` bytes only so many parts are read, the first and the last among them. With
    ``dated``, the time of the last change counts too.

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
    """Return where the parts of a file of this size begin."""
    if size <= PARTS * PART:
        return list(range(0, size, PART))
    return [k * (size - PART) // (PARTS - 1) for k in range(PARTS)]
