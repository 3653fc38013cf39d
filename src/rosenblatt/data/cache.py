"""A cache of parsed rows for later passes, in memory or in a file.

Parsing text takes several times as long as learning from it. If the user names a cache file, later runs use it too.
Otherwise a temporary file without a name is used, which disappears with the process, however the process ends.

A cache file is a row file. It holds the arrays of all blocks one after the other, then JSON with facts about the rows,
such as their number. For each block the facts also list a checksum, and the name, type and shape of each array. Row
files are not trusted, so everything in them is checked.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
import tempfile
import threading
import weakref
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from io import BufferedIOBase
from typing import Annotated, Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, Features, is_canonical_csr, is_sparse, is_text
from rosenblatt.data.io.prefetch import ordered_map
from rosenblatt.data.preparation import check_preparation
from rosenblatt.data.source import Facts
from rosenblatt.kernels.parsing.bytes import MAX_COLUMNS
from rosenblatt.messages import ParameterError, warn_user
from rosenblatt.storage.container import Replacement
from rosenblatt.storage.schema import Place, checked, integer, list_of, read_fields

_MARK = b"rosenblatt-rows"
"""The first and last bytes of a row file."""
_TAIL = struct.Struct(f"<IQ{len(_MARK)}s")
"""The end of a row file: the checksum of the facts, their size in bytes, and the mark."""
_ALIGNMENT = 8
"""Each array starts at a multiple of this many bytes within its block."""
_TYPES = {
    "y": re.compile(r"\|b1|[<|][iu][1248]|<f[248]|<U[1-9][0-9]{0,6}"),
    "weight": re.compile("<f[48]"),
    **dict.fromkeys(("X", "data"), re.compile("<f[48]")),
    **dict.fromkeys(("indices", "indptr"), re.compile("<i[48]")),
}
"""The arrays of a block and the types that they may have, in NumPy's notation."""
_LAYOUTS = ({"y", "X"}, {"y", "data", "indices", "indptr"})
"""The names of the arrays of a dense block and of a sparse block. Either may also have weights."""


def is_row_file(file: BinaryIO) -> bool:
    """Return whether an open file starts like a row file."""
    return file.read(len(_MARK)) == _MARK


class RowFileWriter:
    """A writer of row files: call ``write`` for each block, then ``finish`` once.

    Examples
    --------
    >>> import io
    >>> writer = RowFileWriter(file := io.BytesIO())
    >>> writer.write(Block(np.eye(2), np.array([1, -1]), 0))
    >>> writer.finish({"rows": 2, "n_features": 2})
    >>> rows = RowFile(file)
    >>> rows.facts["rows"], len(rows), rows.block(0).y
    (2, 1, array([ 1, -1]))
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._validated = file, True
        self._blocks: list[list[object]] = []

    def write(self, block: Block) -> None:
        """Write a block; raise a ValueError unless its labels are numbers, booleans or strings."""
        if block.y.dtype.kind not in "biufU":
            raise ValueError(f"labels of type {block.y.dtype}, expected numbers, booleans or strings")
        X, arrays = block.X, {"y": block.y}
        if is_sparse(X):
            arrays |= {"data": X.data[: X.nnz], "indices": X.indices[: X.nnz], "indptr": X.indptr}
        else:
            arrays["X"] = X
        if block.weight is not None:
            arrays["weight"] = block.weight
        self._validated = self._validated and block.is_validated
        if not self._blocks:
            self._file.write(_MARK)
        checksum, entries = 0, []
        for name, array in arrays.items():
            array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            entries.append([name, array.dtype.str, list(array.shape)])
            content = array.reshape(-1).view(np.uint8).data
            for part in (content, bytes(-len(content) % _ALIGNMENT)):
                self._file.write(part)
                checksum = zlib.crc32(part, checksum)
        self._blocks.append([checksum, *entries])

    def finish(self, facts: Facts) -> None:
        """Complete the file by writing the facts about the rows, which must include "rows" and "n_features"."""
        data = json.dumps(facts | {"checked": self._validated, "blocks": self._blocks}).encode()
        self._file.write(data + _TAIL.pack(zlib.crc32(data), len(data), _MARK))
        self._file.flush()


class _StoredBlock(NamedTuple):
    """The position of a block in a row file, with the positions, types and shapes of its arrays."""

    start: int
    size: int
    checksum: int
    arrays: dict[str, tuple[int, np.dtype, tuple[int, ...]]]
    """For each array, its offset within the block, its type and its shape."""


class RowFile:
    """A row file opened for reading; an incomplete file raises a ValueError. Thread-safe.

    When a block is first read, both its checksum and its numbers are checked, because a forged file may have valid
    checksums.
    """

    def __init__(self, file: BufferedIOBase) -> None:
        self._file, self._lock = file, threading.Lock()
        self._spare: list[bytearray] = []
        end = file.seek(0, 2) - _TAIL.size
        total, size, mark = _TAIL.unpack(self._bytes(end, _TAIL.size))
        data = self._bytes(end - size, size)
        if mark != _MARK or zlib.crc32(data) != total:
            raise ValueError("it is not complete")
        try:
            self.facts: Facts = json.loads(data.tobytes())
        except RecursionError:
            raise ValueError("it is not complete") from None
        place = Place("the facts about its rows")
        if type(self.facts) is not dict:
            raise place.error("a dictionary", self.facts)
        found = {name: self.facts.get(name) for name in ("checked", "n_features", "blocks")}
        self._validated, self._width, blocks = read_fields(_RowFields, found, place).values()
        self._blocks = _read_places(blocks, end - size)
        self._verified = [False] * len(self._blocks)
        weakref.finalize(self, file.close)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._blocks)

    def block(self, k: int) -> Block:
        """Return block ``k``, with the index of its first row set to 0; raise a ValueError if it is damaged."""
        stored, arrays = self._blocks[k], {}
        every = self._bytes(stored.start, stored.size)
        if not self._verified[k] and zlib.crc32(every) != stored.checksum:
            raise ValueError(f"its bytes from {stored.start} on have changed")
        for name, (begin, dtype, shape) in stored.arrays.items():
            content = every[begin : begin + math.prod(shape) * dtype.itemsize]
            # By ``frombuffer``, because SciPy copies an array that is a small part of another array.
            array = np.frombuffer(content, np.uint8) != 0 if dtype.kind == "b" else np.frombuffer(content, dtype)
            arrays[name] = array.reshape(shape)
        if not self._verified[k]:
            _check_rows(arrays, self._width)
            self._verified[k] = True
        X: Features
        if "X" in arrays:
            X = arrays["X"]
        else:
            parts = arrays["data"], arrays["indices"], arrays["indptr"]
            X = sp.csr_array(parts, shape=(len(arrays["y"]), self._width))
            X.has_canonical_format = True
        return Block(X, arrays["y"], 0, arrays.get("weight"), self._validated)

    def _bytes(self, start: int, size: int) -> memoryview:
        if start < 0:
            raise ValueError("it is too short")
        content = self._memory(size).data
        with self._lock:
            self._file.seek(start)
            if self._file.readinto(content) < size:
                raise ValueError("it ends too early")
        return content

    def _memory(self, size: int) -> np.ndarray:
        """Return an array of ``size`` bytes, in the memory of an earlier block if possible.

        Reusing memory saves the time that the system needs to provide new pages. The memory of a block is in use until
        the last of its arrays is garbage-collected, and is then added to ``_spare``.
        """
        memory = bytearray()
        with suppress(IndexError):
            memory = self._spare.pop()
        if len(memory) < size:
            memory = bytearray(size + size // 8)
        content = np.frombuffer(memory, np.uint8, size)
        weakref.finalize(content, self._spare.append, memory).atexit = False
        return content


def _read_places(blocks: list[Any], end: int) -> list[_StoredBlock]:
    """Return the positions of all blocks; raise a ValueError unless they are valid and contiguous up to ``end``."""
    found = []
    start = len(_MARK)
    for block in blocks:
        begin, arrays = 0, {}
        if type(block) is not list or [type(part) for part in block[:1]] != [int]:
            raise ValueError("its list of blocks is not valid")
        for entry in block[1:]:
            valid = type(entry) is list and [type(part) for part in entry] == [str, str, list]
            name, code, shape = entry if valid else ("", "", [])
            valid = valid and name in _TYPES and name not in arrays and _TYPES[name].fullmatch(code) is not None
            valid = valid and len(shape) == 1 + (name == "X") and all(type(n) is int and 0 <= n <= end for n in shape)
            if not valid:
                raise ValueError("its list of blocks is not valid")
            dtype = np.dtype(code)
            arrays[name] = begin, dtype, tuple(shape)
            begin += math.prod(shape) * dtype.itemsize
            begin += -begin % _ALIGNMENT
        if arrays.keys() - {"weight"} not in _LAYOUTS:
            raise ValueError("its list of blocks is not valid")
        found.append(_StoredBlock(start, begin, block[0], arrays))
        start += begin
    if start != end:
        raise ValueError("its size does not match its parts")
    return found


def _check_rows(arrays: dict[str, np.ndarray], width: int) -> None:
    """Raise a ValueError unless rows and weights are valid: finite, ``width`` columns wide, canonical CSR if sparse."""
    y, n = arrays["y"], len(arrays["y"])
    if "X" in arrays:
        valid = arrays["X"].shape == (n, width) and bool(np.isfinite(arrays["X"]).all())
    else:
        data, indices, indptr = arrays["data"], arrays["indices"], arrays["indptr"]
        valid = len(indptr) == n + 1 and len(data) == len(indices) and bool(np.isfinite(data).all())
        valid = valid and is_canonical_csr(indptr, indices, width)
    if "weight" in arrays:
        weight = arrays["weight"]
        valid = valid and len(weight) == n and bool((np.isfinite(weight) & (weight >= 0)).all())
    if not valid or not is_text(y):
        raise ValueError("its rows have changed since they were written")


_COUNTS = checked("numbers by name", lambda v: type(v) is dict and all(type(count) is int for count in v.values()))
_WORD = checked("a number and a word", lambda v: type(v) is list and [type(part) for part in v] == [int, str])


def _is_schema(value: object) -> bool:
    """Return whether ``value`` is None or a valid record of a schema that was completed from all rows."""
    if type(value) is not dict or value.keys() != {"preparation", "excluded"}:
        return value is None
    check_preparation(value["preparation"])
    reasons = value["excluded"]
    return type(reasons) is dict and all(type(reason) is str for reason in reasons.values())


_SCHEMA = checked("a schema of all rows, or null", _is_schema)


class _RowFields:
    """The facts that are needed to read the blocks of a row file."""

    checked: bool
    n_features: Annotated[int, integer(0, MAX_COLUMNS)]
    blocks: list[Any]


class _FactsFields:
    """The facts from which a `RowSource` restores its counts."""

    key: str
    checked: bool
    complaints: list[str]
    rows: int
    skipped: int
    n_features: int
    unlabelled: Annotated[dict[str, int], _COUNTS]
    unseen: Annotated[dict[str, int], _COUNTS]
    filled: Annotated[dict[str, int], _COUNTS]
    words: Annotated[list[object], list_of(_WORD)] | None
    schema: Annotated[dict[str, Any] | None, _SCHEMA] = None


def check_facts(facts: Facts) -> None:
    """Raise a ValueError unless ``facts`` are valid facts of a `RowSource`."""
    read_fields(_FactsFields, {name: value for name, value in facts.items() if name != "blocks"}, Place("its facts"))


MEMORY_LIMIT = 1 << 26
"""The maximum size in bytes of rows that are cached in memory. Larger data are cached in a temporary file."""


class DamagedCache(Exception):
    """Raised when cached rows can no longer be read. They can still be read from the original files."""


class RowCache:
    """A cache for the rows of one stream; it is complete once all rows have been read.

    If the rows cannot be stored, or the stored rows cannot be read, a warning is issued and the original files are read
    instead.

    Parameters
    ----------
    path : str or None
        The row file to use. If None, rows are cached in memory or, if there are many, in a temporary file.
    key : str
        A digest that identifies the rows; a row file with another key is replaced.
    get_facts : callable
        Called after the last row; returns the facts about the rows, which include "n_features".
    width : int or None
        The number of columns; None if it is known only after the last row.

    Raises
    ------
    ParameterError
        If ``path`` is an existing file of another kind.
    """

    def __init__(self, path: str | None, key: str, get_facts: Callable[[], Facts], width: int | None = None) -> None:
        self._path, self._key, self._get_facts = None if path is None else os.path.realpath(path), key, get_facts
        self._width = width
        self._in_memory: list[Block] | None = None
        self._reader: object = None
        """Identifies the latest iteration, whose rows are being cached; None once two iterations overlap."""
        self._disabled = False
        self._file = self._open_file()

    @property
    def complete(self) -> bool:
        """Whether all rows are in the cache."""
        return self._in_memory is not None or self._file is not None

    @property
    def facts(self) -> Facts | None:
        """The facts about the rows if they are cached in a file, else None."""
        return None if self._file is None else self._file.facts

    @property
    def rows(self) -> int:
        """The number of cached rows."""
        return sum(map(len, self._in_memory or ())) if self._file is None else int(self._file.facts["rows"])

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the cached blocks; if one cannot be read, warn, discard the cache and raise a `DamagedCache`."""
        if self._file is None:
            yield from self._in_memory or ()
            return
        first, file = 0, self._file
        try:
            with closing(ordered_map((k for k in range(len(file))), file.block, 1)) as work:
                for block in work:
                    yield replace(block, first=first)
                    first += len(block)
        except (OSError, ValueError) as error:
            self._file = None
            words = f"rows cached in {self._place} are damaged ({error}): they are read from the files again."
            warn_user(words, UserWarning)
            raise DamagedCache from None

    def record(self, blocks: Generator[Block, None, None]) -> Generator[Block, None, None]:
        """Yield blocks and store them; the cache is kept only if all are read before another iteration starts."""
        mine = object()
        if not self._disabled:
            self._reader = mine
        # Invariant: the blocks yielded so far are the blocks written to ``file``, followed by ``waiting``. ``space`` is
        # the memory left for blocks, 0 for a named file. Once it is negative, the waiting blocks are written.
        waiting: list[Block] = []
        file: _PartialFile | None = None
        space, rows = MEMORY_LIMIT if self._path is None else 0, 0
        try:
            for block in blocks:
                if self._is_only_reader(mine):
                    for array in block.arrays:
                        array.flags.writeable = False  # later passes need the same values
                    waiting.append(block)
                    rows, space = rows + len(block), space - block.nbytes
                if space < 0 and waiting:
                    with self._disable_on_error():
                        file = file or _PartialFile(self._path)
                        for one in waiting:
                            file.writer.write(one)
                    waiting = []
                yield block
            if self._is_only_reader(mine) and file is None:
                self._in_memory = [_widened(block, self._get_facts()["n_features"]) for block in waiting]
            elif self._is_only_reader(mine) and file is not None:
                with self._disable_on_error():
                    file.finish(self._get_facts() | {"rows": rows, "key": self._key})
                    self._file = self._open_file() if self._path is not None else RowFile(file.file)
                    file = None
        finally:
            blocks.close()
            if file is not None:
                file.discard()

    def _is_only_reader(self, reader: object) -> bool:
        """Return whether no other iteration overlaps with ``reader``; overlapping iterations would mix their counts."""
        if self._reader is not reader:
            self._reader = None
        return self._reader is reader

    @contextmanager
    def _disable_on_error(self) -> Iterator[None]:
        """Warn and continue without a cache if it cannot be written."""
        try:
            yield
        except ParameterError:
            raise
        except (OSError, ValueError) as error:
            self._disable(str(error))

    def _disable(self, reason: str) -> None:
        self._disabled, self._reader = True, None
        warn_user(f"rows cannot be cached in {self._place} ({reason}): each pass reads them again.", UserWarning)

    @property
    def _place(self) -> str:
        return "a temporary file" if self._path is None else self._path

    def _open_file(self) -> RowFile | None:
        """Return the row file at the path if it holds these rows, else None."""
        path = self._path
        if path is None:
            return None
        if os.path.exists(path) and not os.path.isfile(path):
            raise ParameterError("{cache} must be a regular file, got {path}.", path=path)
        with self._disable_on_error():
            file = _open_row_file(path) if os.path.exists(path) else None
            facts = {} if file is None else file.facts
            if facts.get("key") == self._key and self._width in (None, facts["n_features"]):
                return file
            folder = os.path.dirname(path)
            if not os.access(folder, os.W_OK):
                self._disable("the folder cannot be written to" if os.path.isdir(folder) else "there is no such folder")
        return None


def _widened(block: Block, width: int) -> Block:
    """Return a block with sparse rows widened to ``width`` columns. The first blocks of a file may be narrower."""
    X = block.X
    if not is_sparse(X) or X.shape[1] == width:
        return block
    wide = sp.csr_array((X.data, X.indices, X.indptr), shape=(len(block), width))
    wide.has_canonical_format = X.has_canonical_format
    return replace(block, X=wide)


def _open_row_file(path: str) -> RowFile | None:
    """Open a row file; return None if it is incomplete, raise a ParameterError if it is another kind of file."""
    with ExitStack() as stack:
        file = stack.enter_context(open(path, "rb"))
        if os.path.getsize(path) and not is_row_file(file):
            what = "{cache} must be a cache file or a new file, got {path}, another kind of file: "
            raise ParameterError(what + "delete it, or choose another name.", path=path)
        with suppress(OSError, ValueError):
            rows = RowFile(file)
            check_facts(rows.facts)
            stack.pop_all()  # the file stays open as long as its rows are used
            return rows
    return None


class _PartialFile:
    """A row file that is being written; ``path`` is its name once it is complete, or None for a temporary file."""

    def __init__(self, path: str | None) -> None:
        self._named = None if path is None else Replacement(path)
        self.file: Any = (
            tempfile.TemporaryFile() if self._named is None else open(self._named.descriptor, "wb", closefd=False)  # noqa: SIM115
        )
        self.writer = RowFileWriter(self.file)

    def finish(self, facts: Facts) -> None:
        """Write the facts about the rows, and give the file its name if it has one."""
        self.writer.finish(facts)
        if self._named is not None:
            os.fsync(self.file.fileno())  # so that after a power failure a named file has all its rows
            self.file.close()
            self._named.keep()

    def discard(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self.file.close()
        if self._named is not None:
            self._named.discard()
