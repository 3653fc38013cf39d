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

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

_KEPT = 100
"""Bytes of a file's name that its temporary files begin with: few, as systems allow some 255 for a whole name."""
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_OUT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ABANDONED = 3600.0
"""Seconds after its last change when a temporary file counts as left behind, where files cannot be locked."""


class Replacement:
    """A new file in the folder of ``target``, which is no link, that takes its place when it is complete.

    It is locked while it is open. So those that killed processes left are told from those that others, in any
    container or on any host, are writing; the former are deleted here.

    Attributes
    ----------
    descriptor : int
        The open file, to be written to.
    """

    def __init__(self, target: str) -> None:
        if os.path.islink(target):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), target)
        folder, name = os.path.split(target)
        self._target = target
        start = os.path.join(folder, f".{os.fsencode(name)[:_KEPT].decode('utf-8', 'ignore')}.")
        for left in glob.iglob(f"{glob.escape(start)}{'[0-9a-f]' * 16}.tmp"):
            with contextlib.suppress(OSError):
                _delete_abandoned(left)
        while True:
            self._name = f"{start}{secrets.token_hex(8)}.tmp"
            self.descriptor = os.open(self._name, _NEW, 0o666)
            if _lock(self.descriptor) is not False and os.path.exists(self._name):
                return
            os.close(self.descriptor)  # another process took it for abandoned before it was locked

    def keep(self) -> None:
        """Give the file the name of the target, and close it."""
        if fcntl is None:
            self._close()  # open files cannot be renamed there
        os.replace(self._name, self._target)
        with contextlib.suppress(OSError):  # all is on the disk by now
            self._close()  # not before, as others may delete what is not locked

    def discard(self) -> None:
        """Close and delete the file, unless it was kept."""
        self._close()
        with contextlib.suppress(OSError):
            os.unlink(self._name)

    def _close(self) -> None:
        file, self.descriptor = self.descriptor, -1
        if file >= 0:
            os.close(file)


def _lock(file: int) -> bool | None:
    """Lock an open file; return False if another process has locked it, None where files cannot be locked."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _delete_abandoned(path: str) -> None:
    """Delete a temporary file if it was left by a process that was killed."""
    file = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        locked = _lock(file)
        if locked is None:
            locked = time.time() - os.fstat(file).st_mtime > _ABANDONED
        if locked:
            os.unlink(path)  # before it is closed, as its maker may be about to lock it
    finally:
        os.close(file)


def write_atomically(path: str | os.PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    """Write ``parts`` to ``path``: afterwards the file holds all of them, or what it held before.

    They are written to a temporary file in the same folder, which is flushed to the disk and then renamed; then the
    name is flushed. A power cut at any moment leaves the one or the other, and once this has returned, the new. A link
    is followed, and the permissions of an existing file are kept. If several processes write at once, each writes a
    temporary file of its own, and the last to finish replaces the others. Where it fails, on a full disk for instance,
    an OSError names the file and says what it holds now and what to do.
    """
    target = os.path.realpath(path)
    state = "nothing was written"
    try:
        mode = os.stat(target).st_mode if os.path.lexists(target) else None
        if mode is not None:
            state = "what was there before is as it was"
            if not stat.S_ISREG(mode):
                raise OSError(
                    errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "it is no file that can be replaced"
                )
        temporary = Replacement(target)
        try:
            _write(temporary.descriptor, parts, mode)
            temporary.keep()
        except BaseException:
            temporary.discard()
            raise
        state = "the new file is there, but might not outlast a power cut"
        _sync_folder(os.path.dirname(target))
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        advice = "make room there, or save elsewhere" if fault.errno in _OUT_OF_SPACE else "save elsewhere"
        words = f"could not save, {reason} ({state}): {advice}"
        raise OSError(fault.errno or errno.EIO, words, os.fspath(path)) from fault


def _write(file: int, parts: Iterable[bytes | memoryview], mode: int | None) -> None:
    for part in parts:
        left = memoryview(part).cast("B")
        while left:
            left = left[os.write(file, left) :]
    if mode is not None and hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):
            os.fchmod(file, stat.S_IMODE(mode))
    os.fsync(file)


def _sync_folder(folder: str) -> None:
    """Flush the new name to the disk, where folders can be synchronised."""
    if hasattr(os, "O_DIRECTORY"):
        try:
            file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except PermissionError:  # a folder may be one that can be written to and not read
            return
        try:
            os.fsync(file)
        except OSError as fault:
            if fault.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
                raise
        finally:
            os.close(file)
