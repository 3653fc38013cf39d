"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
import time
from collections.abc import Iterable

_OUT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ABANDONED = 3600.0
"""A temporary file that was last written to so many seconds ago was left by a process that was killed."""


def write_atomically(path: str | os.PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    """Write ``parts`` to ``path``: afterwards the file holds all of them, or what it held before.

    They are written to a temporary file in the same folder, which is flushed to the disk and then renamed; then the
    name is flushed. A power cut at any moment leaves the one or the other, and once this has returned, the new. A link
    is followed, and the permissions of an existing file are kept. If several processes write at once, each writes a
    temporary file of its own, and the last to finish replaces the others. Where it fails, on a full disk for instance,
    an OSError names the file and says what it holds now and what to do.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    state = "nothing was written"
    try:
        mode = os.stat(target).st_mode if os.path.lexists(target) else None
        if mode is not None:
            state = "what was there before is as it was"
            if not stat.S_ISREG(mode):
                raise OSError(
                    errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "it is no file that can be replaced"
                )
        start = os.path.join(folder, f".{name}.")
        for left in glob.iglob(f"{glob.escape(start)}{'[0-9a-f]' * 16}.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - os.stat(left).st_mtime > _ABANDONED:
                    os.unlink(left)
        temporary = f"{start}{secrets.token_hex(8)}.tmp"
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _write_and_close(file, parts, mode)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        state = "the new file is there, but might not outlast a power cut"
        _sync_folder(folder)
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        advice = "make room there, or save elsewhere" if fault.errno in _OUT_OF_SPACE else "save elsewhere"
        words = f"could not save, {reason} ({state}): {advice}"
        raise OSError(fault.errno or errno.EIO, words, os.fspath(path)) from fault


def _write_and_close(file: int, parts: Iterable[bytes | memoryview], mode: int | None) -> None:
    try:
        for part in parts:
            left = memoryview(part).cast("B")
            while left:
                left = left[os.write(file, left) :]
        if mode is not None and hasattr(os, "fchmod"):
            with contextlib.suppress(OSError):
                os.fchmod(file, stat.S_IMODE(mode))
        os.fsync(file)
    finally:
        os.close(file)


def _sync_folder(folder: str) -> None:
    """Flush the new name to the disk, where folders can be synchronised."""
    if hasattr(os, "O_DIRECTORY"):
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(file)
        except OSError as fault:
            if fault.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
                raise
        finally:
            os.close(file)
