"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterable
from typing import Any

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be deleted
    fcntl = None  # type: ignore[assignment]

_PATIENCE = 30.0
"""Seconds to wait for another process that is saving to the same place."""
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EACCES, errno.EPERM, errno.EBADF, errno.ENOTSUP, errno.EISDIR)


def write_atomically(path: str | os.PathLike[str], parts: Iterable[Any]) -> None:
    """Write the buffers ``parts`` to ``path``: afterwards it holds all of them, or what it held before.

    They go to a file beside it, which reaches the disk and then takes its name. That file is called ``.NAME.tmp``;
    what an interrupted process left of it is cleared away, and two processes take turns. A link is followed, and the
    permissions of the file that was there are kept. Where it cannot be done, a full disk for instance, an OSError says
    so.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.tmp")
    kept = "nothing was written"
    try:
        mode = _mode(target)
        kept = kept if mode is None else "what was there before is as it was"
        _write_and_rename(_claim(temporary), parts, mode, temporary, target)
        kept = "the new file is there, but might not outlast a power cut"
        _sync_folder(folder)
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise OSError(fault.errno or errno.EIO, f"could not save, {reason} ({kept})", os.fspath(path)) from fault


def _write_and_rename(file: int, parts: Iterable[Any], mode: int | None, temporary: str, target: str) -> None:
    """Fill the locked ``file``, which is at ``temporary``, and let it take the place of ``target``; close it."""
    try:
        _write(file, parts)
        if mode is not None and hasattr(os, "fchmod"):
            with contextlib.suppress(OSError):
                os.fchmod(file, mode)
        os.fsync(file)
        if not _is_at(file, temporary):  # only on a disk without locks
            raise OSError(errno.EBUSY, "another process is saving to the same place")
        if fcntl is not None:
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            if _is_at(file, temporary):
                os.unlink(temporary)
        raise
    finally:
        os.close(file)
    if fcntl is None:  # a file that is open cannot be renamed there
        os.replace(temporary, target)


def _mode(target: str) -> int | None:
    """Return the permissions of the file at ``target``, None if there is none; an OSError if it is not a file."""
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise OSError(errno.EISDIR if stat.S_ISDIR(found) else errno.EINVAL, "it is no file that can be replaced")
    return stat.S_IMODE(found)


def _claim(temporary: str) -> int:
    """Return a new file at ``temporary``, open and locked."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        except FileExistsError:
            _clear(temporary)
        else:
            if _lock(file) and _is_at(file, temporary):
                return file
            os.close(file)
        if time.monotonic() > deadline:
            raise OSError(errno.EBUSY, f"another process is saving to the same place, or may not touch {temporary}")


def _clear(temporary: str) -> None:
    """Delete what an interrupted process has left, or wait a little for one that is at work."""
    try:
        file = os.open(temporary, os.O_RDWR | _BINARY)
    except FileNotFoundError:
        return
    free = False
    try:
        free = _lock(file)
        if free and fcntl is not None and _is_at(file, temporary):
            os.unlink(temporary)
    finally:
        os.close(file)
    if fcntl is None:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            os.unlink(temporary)
    if not free or fcntl is None:
        time.sleep(0.02)


def _lock(file: int) -> bool:
    """Lock the file until it is closed; return False where somebody else has locked it."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # no locks on this disk: who comes first to the end will see that the file is not his
            return True
    return True


def _is_at(file: int, path: str) -> bool:
    """Whether the open file is still the one at ``path``."""
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False


def _write(file: int, parts: Iterable[Any]) -> None:
    for part in parts:
        left = memoryview(part).cast("B")
        while left:
            left = left[os.write(file, left) :]


def _sync_folder(folder: str) -> None:
    """Let the new name reach the disk, where folders can be synchronised."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    except OSError as fault:
        if fault.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(file)
