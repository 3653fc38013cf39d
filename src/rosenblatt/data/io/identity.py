"""The identity of files: their sizes, modification times, digests of the bytes read, and fingerprints of rows.

A resumed training run uses them to check that its files have not changed.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import os
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from rosenblatt.blocks import DataError

PIECE = 1 << 18
"""The number of bytes that are read at once to compute a digest; they fit in the processor's cache."""

Record = dict[str, Any]
"""The state of one file: its "size", when it was "modified", the number of bytes "read", and their "digest"."""


class RunningDigest:
    """A running CRC-32 of bytes.

    Computing it takes little time compared with reading. It detects accidental changes, but not forgeries.

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
        """Add ``data`` to the bytes that the digest covers."""
        self.count += len(data)
        self._sum = zlib.crc32(data, self._sum)

    def digest(self) -> str:
        """Return the digest as hexadecimal digits."""
        return f"{self._sum:08x}"


class Contents:
    """Digests of the bytes that are read from files.

    If a file is read from start to end, the function that ``reader`` returns is called with the bytes as they are read.
    If a file is read in another way, or its rows come from a cache, ``add_whole`` must be called. All its bytes are
    then read when ``records`` is first called.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._about = [_size_and_time(name) for name in names]
        self._read: list[tuple[int, str | None]] = [(0, RunningDigest().digest())] * len(names)
        self._whole: set[int] = set()

    def reader(self, file: int) -> Callable[[memoryview], None] | None:
        """Return a function to call with the bytes of a file as they are read; None once all bytes have been read."""
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
        """Restore the digests of an earlier run; if there are none, `records` computes them from the whole files."""
        if records is None:
            self.add_whole()
        else:
            self._read = [(record["read"], record["digest"]) for record in records]

    def changed_size(self, records: Sequence[Record]) -> str:
        """Describe how the number or the sizes of the files differ from ``records``; return "" if they do not."""
        if len(records) != len(self._names):
            return f"files read: {len(records)} then, {len(self._names)} now"
        for name, (size, _), then in zip(self._names, self._about, records, strict=True):
            if size != then["size"]:
                return f"{name} had {then['size']:,} bytes then, and has {size:,} now"
        return ""

    def changed_bytes(self, records: Sequence[Record], progress: Callable[[float], None]) -> str:
        """Describe the first file whose bytes differ from those that were read before; return "" if none does.

        Files with an unchanged modification time are trusted. Each other file is read again, up to the number of bytes
        in its record. ``progress`` is called with the share of these bytes that has been compared, from 0 to 1.
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
                return f"{name} has changed in the {then['read']:,} bytes that were read from it"
            before += then["read"]
        return ""

    def _is_known(self, file: int) -> bool:
        return self._read[file][0] == self._about[file][0]

    def _digest_now(self, file: int) -> str | None:
        """Return the digest of a whole file, or None if the file has been changed or replaced meanwhile."""
        name, about = self._names[file], self._about[file]
        try:
            digest = digest_of(name, about[0])
            return digest if _size_and_time(name) == about else None
        except OSError:
            return None


def _size_and_time(name: str) -> tuple[int, int]:
    about = os.stat(name)
    return about.st_size, about.st_mtime_ns


class Unchanged:
    """A check that files have the same sizes and modification times in all passes.

    The first pass may read files that are still growing. A later pass then raises an error, because it could not read
    the same rows.
    """

    def __init__(self) -> None:
        self._then: list[tuple[int, int]] | None = None

    def check(self, names: Sequence[str]) -> bool:
        """Raise a DataError if a file has changed since the first call; return whether this is not the first call."""
        now = [self._now(name) for name in names]
        then, self._then = self._then, self._then or now
        for name, (size, written), (size_now, written_now) in zip(names, then or now, now, strict=True):
            if (size, written) != (size_now, written_now):
                what = f"it had {size:,} bytes then, and has {size_now:,} now"
                if size == size_now:
                    what = f"it was last written at {_local_time(written)} then, and at {_local_time(written_now)} now"
                raise DataError(
                    "{file} has changed since its rows were first read: {what}. All passes must read the same rows: "
                    "copy the file, and start again with the copy.",
                    file=name,
                    what=what,
                )
        return then is not None

    def _now(self, name: str) -> tuple[int, int]:
        try:
            return _size_and_time(name)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise DataError("{file} can no longer be read: {reason}.", file=name, reason=reason) from None


def _local_time(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{datetime.datetime.fromtimestamp(seconds)}.{rest:09}"


def digest_of(name: str, size: int, progress: Callable[[int], None] = lambda count: None) -> str:
    """Return the digest of the first ``size`` bytes of a file, or of the whole file if it is shorter.

    ``progress`` is called with the number of bytes read so far.
    """
    running, buffer = RunningDigest(), memoryview(bytearray(PIECE))
    with io.FileIO(name) as file:
        while running.count < size and (n := file.readinto(buffer[: size - running.count])):
            running.update(buffer[:n])
            progress(running.count)
    return running.digest()


PART = 1 << 16
"""The size of each sample of a large file, in bytes."""
PARTS = 64
"""The number of samples of a large file."""


def fingerprint(names: Sequence[str], recipe: object, dated: bool = False) -> str:
    """Return a digest of the contents of files and of ``recipe``, plain data that defines how rows are made.

    Of files larger than ``PARTS * PART`` bytes only ``PARTS`` samples are read, including the first and the last bytes.
    If ``dated`` is True, the digest also covers the modification times.

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
    """Return the offsets of the parts to read in a file of this size."""
    if size <= PARTS * PART:
        return list(range(0, size, PART))
    return [k * (size - PART) // (PARTS - 1) for k in range(PARTS)]
