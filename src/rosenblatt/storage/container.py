"""Container files for arrays and plain data: safetensors with a checksum, written atomically.

Reading a file never runs code from it. The layout is the layout of safetensors, so tools for safetensors can open the
files. A file begins with the length of its head, a little-endian integer of eight bytes. Then come the head, which is
JSON padded with spaces, and the arrays. The ``__metadata__`` of the head has three strings. ``rosenblatt`` is the
version of this layout. ``sha256`` is the digest of the whole file with zeros in place of the digest. ``header`` is a
JSON text with everything that is not an array. Arrays are sorted by decreasing item size, then by name, and stored
without gaps. A file is rejected unless `write_container` would write exactly the same bytes as its head. So each file
has only one valid interpretation.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import json
import math
import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rosenblatt.messages import shorten
from rosenblatt.storage.schema import from_canonical_json, to_canonical_json

# Atomic replacement of files.


try:
    import fcntl
except ImportError:  # not available on Windows
    fcntl = None  # type: ignore[assignment]

_KEPT = 100
"""Temporary files repeat at most this many bytes of the file's name; file systems limit names to about 255 bytes."""
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_OUT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ABANDONED = 3600.0
"""Where files cannot be locked, a temporary file counts as abandoned if it has not changed for this many seconds."""


class Replacement:
    """A temporary file in the folder of ``target`` that replaces ``target`` once it is complete.

    ``target`` must not be a symbolic link. The temporary file is locked while it is open. An unlocked temporary file
    was left behind by a killed process, and is deleted when a new one is created. A locked one is still being written,
    perhaps by a process in another container or on another host.

    Attributes
    ----------
    descriptor : int
        The descriptor of the open file.
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
            os.close(self.descriptor)  # another process considered it abandoned before it was locked

    def keep(self) -> None:
        """Rename the temporary file to ``target``, and close it."""
        if fcntl is None:
            self._close()  # Windows cannot rename an open file
        os.replace(self._name, self._target)
        with contextlib.suppress(OSError):  # the data has already been flushed to the disk
            self._close()  # not earlier, because other processes may delete an unlocked file

    def discard(self) -> None:
        """Close the temporary file, and delete it unless it was kept."""
        self._close()
        with contextlib.suppress(OSError):
            os.unlink(self._name)

    def _close(self) -> None:
        file, self.descriptor = self.descriptor, -1
        if file >= 0:
            os.close(file)


def _lock(file: int) -> bool | None:
    """Lock an open file and return True; False if another process has locked it, None if files cannot be locked."""
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
    """Delete a temporary file if it was left behind by a killed process."""
    file = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        locked = _lock(file)
        if locked is None:
            locked = time.time() - os.fstat(file).st_mtime > _ABANDONED
        if locked:
            os.unlink(path)  # before closing it, because the process that created it may be about to lock it
    finally:
        os.close(file)


def write_atomically(path: str | os.PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    """Write ``parts`` to ``path`` atomically: afterwards the file holds all of them, or its old content.

    The parts are written to a temporary file in the same folder. That file is flushed to the disk and renamed, then the
    folder is flushed. A power failure leaves either the old or the new content; once this function has returned, it is
    the new content. Symbolic links are followed, and an existing file keeps its permissions. If several processes write
    at once, each writes its own temporary file. The file then holds the content of the process that finished last. If
    writing fails, for instance because the disk is full, an OSError names the file, states its present content and
    suggests what to do.
    """
    target = os.path.realpath(path)
    state = "nothing was written"
    try:
        mode = os.stat(target).st_mode if os.path.lexists(target) else None
        if mode is not None:
            state = "the old file is unchanged"
            if not stat.S_ISREG(mode):
                raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "it is not a regular file")
        temporary = Replacement(target)
        try:
            _write(temporary.descriptor, parts, mode)
            temporary.keep()
        except BaseException:
            temporary.discard()
            raise
        state = "the new file is there, but might not outlast a power cut"
        sync_folder(os.path.dirname(target))
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


def sync_folder(folder: str) -> None:
    """Flush a folder to the disk, so that a renamed file survives a power failure, where the system supports it."""
    if hasattr(os, "O_DIRECTORY"):
        try:
            file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except PermissionError:  # a folder can be writable but not readable
            return
        try:
            os.fsync(file)
        except OSError as fault:
            if fault.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
                raise
        finally:
            os.close(file)


LAYOUT = 1
LONGEST_HEAD = 100_000_000  # bytes, the limit of safetensors
_TYPES: dict[str, np.dtype[Any]] = {
    f"{letter.upper()}{8 * size}": np.dtype(f"<{letter}{size}")
    for letter, sizes in (("f", (8, 4)), ("i", (8, 4, 2, 1)), ("u", (8, 4, 2, 1)))
    for size in sizes
} | {"BOOL": np.dtype("?")}
_MOST_AXES = 8
_ZEROS = "0" * 64
_Shapes = dict[str, tuple[str, tuple[int, ...]]]


def write_container(path: str | os.PathLike[str], header: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write plain data and arrays atomically to a file, which `read_container` reads.

    The header is a dictionary that JSON can represent. Arrays hold floats of 4 or 8 bytes, integers or booleans. Other
    contents raise a ValueError. If the file cannot be written, `write_atomically` raises an OSError.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(folder + "/x.safetensors", {"pass": 3}, {"w": np.array([1.0, 2.0])})
    ...     read_container(folder + "/x.safetensors")
    ({'pass': 3}, {'w': array([1., 2.])})
    """
    if type(header) is not dict:
        raise ValueError(f"the header must be a dictionary, got {shorten(header)}.")
    text = to_canonical_json(header, "the header")
    shapes: _Shapes = {}
    data = {}
    for name, array in arrays.items():
        array = np.asarray(array)
        kind = next((kind for kind, dtype in _TYPES.items() if dtype == array.dtype.newbyteorder("<")), None)
        if kind is None or array.ndim > _MOST_AXES or type(name) is not str or name in ("", "__metadata__"):
            raise ValueError(f"an array of type {array.dtype} under the name {name!r} cannot be saved.")
        shapes[name] = (kind, array.shape)
        data[name] = np.ascontiguousarray(array, _TYPES[kind]).reshape(-1).view(np.uint8).data
    names = _in_order(shapes)
    head = _head(shapes, text, _ZEROS)
    if len(head) - 8 > LONGEST_HEAD:
        raise ValueError(
            f"the header and the names of arrays take {len(head):,} bytes, but the file format allows "
            f"{LONGEST_HEAD:,}: shorten the names of features, or leave them out."
        )
    digest = hashlib.sha256(head)
    for name in names:
        digest.update(data[name])
    write_atomically(path, [_head(shapes, text, digest.hexdigest()), *(data[name] for name in names)])


def read_container(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file that `write_container` wrote.

    Any other file, for instance one that is truncated, altered or in a newer layout, raises a ValueError whose message
    is one sentence. The arrays take no more memory than the size of the file, and no code from the file is run. The
    meaning of the header and the arrays is not checked.
    """
    check_is_file(path)
    path = Path(path)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            return _read(file, size)
        except _Fault as fault:
            raise ValueError(f"{path} {fault}") from None
        except MemoryError:
            raise ValueError(f"{path} has {size:,} bytes, which do not fit in the memory of this machine.") from None


def is_container(path: str | os.PathLike[str]) -> bool:
    """Return whether a file starts like the files that `write_container` writes."""
    start = b'{"__metadata__":{"rosenblatt":'
    with open(path, "rb") as file:
        return file.read(8 + len(start))[8:] == start


def check_is_file(path: str | os.PathLike[str]) -> None:
    """Raise an error unless ``path`` is a regular file; reading a device or a pipe might never end."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"expected the path of a file, got {shorten(path)}: give its name, not an open file.")
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f"{os.fspath(path)} is not a file.")


def check_version(path: str | os.PathLike[str], found: object, known: int) -> None:
    """Raise a ValueError unless ``found`` is an integer from 1 to ``known``, the latest version that can be read."""
    fault = _version_fault(found, known)
    if fault:
        raise ValueError(f"{path} {fault}")


class _Fault(Exception):
    """Raised for an error in a file; its message continues a sentence that starts with the file's name."""


_ALTERED = "has been altered or damaged since it was saved: take another copy, or save the model again"


def _version_fault(found: object, known: int) -> str:
    if type(found) is not int or found < 1:
        return f"does not state a version of its format: got {shorten(found)}."
    if found > known:
        return (
            f"is in format {shorten(found)}, newer than format {known}, the latest that this version of rosenblatt "
            "reads: upgrade it with pip install --upgrade rosenblatt."
        )
    return ""


def _in_order(shapes: _Shapes) -> list[str]:
    """Return the names of the arrays in the order of the file: larger items first, so that all arrays are aligned."""
    return sorted(shapes, key=lambda name: (-_TYPES[shapes[name][0]].itemsize, name))


def _head(shapes: _Shapes, text: str, digest: str) -> bytes:
    """Return the bytes of a file that precede the arrays, given the JSON ``text`` of its header and its digest."""
    head: dict[str, Any] = {"__metadata__": {"rosenblatt": str(LAYOUT), "sha256": digest, "header": text}}
    start = 0
    for name in _in_order(shapes):
        kind, shape = shapes[name]
        stop = start + math.prod(shape) * _TYPES[kind].itemsize
        head[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [start, stop]}
        start = stop
    words = json.dumps(head, separators=(",", ":")).encode("ascii")
    words += b" " * (-len(words) % 8)
    return len(words).to_bytes(8, "little") + words


def _read(file: BinaryIO, size: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    shapes, text, digest = _read_head(file, size)
    total = hashlib.sha256(_head(shapes, text, _ZEROS))
    arrays = {}
    for name in _in_order(shapes):
        kind, shape = shapes[name]
        array = np.empty(shape, _TYPES[kind])
        raw = array.reshape(-1).view(np.uint8)
        if len(raw) and file.readinto(raw.data) != len(raw):  # type: ignore[attr-defined]
            raise _Fault("was truncated while it was read: try again.")
        total.update(raw.data)
        if kind == "BOOL" and raw.max(initial=0) > 1:
            raise _Fault(f"{_ALTERED}.")
        arrays[name] = array.astype(_TYPES[kind].newbyteorder("="), copy=False)
    if total.hexdigest() != digest:
        raise _Fault(f"{_ALTERED} (its checksum does not match).")
    try:
        header = from_canonical_json(text, "its header")
    except ValueError:
        raise _Fault("is not a rosenblatt file: its header cannot be read.") from None
    if type(header) is not dict:
        raise _Fault("is not a rosenblatt file: its header is not a dictionary.")
    return header, arrays


def _read_head(file: BinaryIO, size: int) -> tuple[_Shapes, str, str]:
    """Return the types and shapes of the arrays, the header as JSON text, and the digest."""
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > LONGEST_HEAD:
        raise _Fault("is not a model file: it does not start like a safetensors file.")
    if length > size - 8:
        raise _Fault(
            f"is truncated, or not a model file: {length:,} bytes should follow its first 8, and {size - 8:,} do."
        )
    words = file.read(length)
    try:
        head = json.loads(words.decode("ascii"))
    except (ValueError, RecursionError):
        raise _Fault("is damaged, or not a model file: its head cannot be read.") from None
    metadata = head.get("__metadata__") if type(head) is dict else None
    layout = metadata.get("rosenblatt") if type(metadata) is dict else None
    if type(metadata) is not dict or type(layout) is not str:
        raise _Fault("was not written by rosenblatt: expected a file that rosenblatt.save wrote.")
    plain = layout.isascii() and layout.isdecimal() and len(layout) < 10
    fault = _version_fault(int(layout) if plain else layout, LAYOUT)
    if fault:
        raise _Fault(fault)
    text, digest = metadata.get("header"), metadata.get("sha256")
    del head["__metadata__"]
    shapes = dict(_shapes(head))
    # shapes, text and digest determine the head, so comparing all of its bytes validates everything else in it
    if type(text) is not str or type(digest) is not str or _head(shapes, text, digest)[8:] != words:
        raise _Fault(f"{_ALTERED}.")
    expected = sum(math.prod(shape) * _TYPES[kind].itemsize for kind, shape in shapes.values())
    found = size - 8 - length
    if found < expected:
        raise _Fault(f"is truncated: {expected:,} bytes of arrays should follow its head, and {found:,} do.")
    if found > expected:
        raise _Fault(f"has been altered: {found - expected:,} bytes follow its end.")
    return shapes, text, digest


def _shapes(head: dict[str, Any]) -> Iterator[tuple[str, tuple[str, tuple[int, ...]]]]:
    for name, entry in head.items():
        kind, shape = (entry.get("dtype"), entry.get("shape")) if type(entry) is dict else (None, None)
        if type(kind) is not str or kind not in _TYPES or type(shape) is not list or len(shape) > _MOST_AXES:
            raise _Fault(f"{_ALTERED}.")
        is_valid = all(type(length) is int and length >= 0 for length in shape)
        if not name or not is_valid or math.prod(filter(None, shape)) >= 2**60:  # NumPy limits empty arrays too
            raise _Fault(f"{_ALTERED}.")
        yield name, (kind, tuple(shape))
