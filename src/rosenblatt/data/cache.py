"""A cache of parsed rows for further passes."""

from __future__ import annotations

import json
import os
import struct
import tempfile
import threading
import weakref
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, is_canonical_csr, is_sparse
from rosenblatt.data.io.prefetch import ordered_map
from rosenblatt.data.source import Facts
from rosenblatt.data.tables.encoder import LISTS
from rosenblatt.data.tables.values import as_numpy, import_arrow, is_number_type, numbers_to_arrow, strings_to_arrow
from rosenblatt.kernels.parsing.bytes import MAX_COLUMNS
from rosenblatt.messages import ParameterError, Setting, warn_user
from rosenblatt.storage.container import Replacement
from rosenblatt.storage.schema import LARGEST, Place, checked, integer, list_of, read_fields

if TYPE_CHECKING:
    import pyarrow as pa


# Checks of files of rows: what a stranger wrote is as harmless as what this library wrote, or is refused.


LABEL, WEIGHT, FEATURES = "label", "weight", "features"
"""The columns of a batch; sparse rows have two lists in place of the last."""
_RECORD_BATCH, _COMPRESSION = 2, 3
"""The places of these fields in Arrow's messages, and in the record batches within them."""


_COUNTS = checked("numbers by name", lambda v: type(v) is dict and all(type(count) is int for count in v.values()))
_WORD = checked("a number and a word", lambda v: type(v) is list and [type(part) for part in v] == [int, str])


class _RowFields:
    """What a file of rows says of them."""

    checked: bool
    n_features: Annotated[int, integer(0, MAX_COLUMNS)]
    messages: Annotated[list[list[int]], list_of(list_of(integer(-LARGEST), 3))]


class _FactsFields:
    """What a source told a cache, which a file has besides."""

    key: str
    checked: bool
    complaints: list[str]
    rows: int
    skipped: int
    n_features: int
    unseen: Annotated[Any, _COUNTS]
    filled: Annotated[Any, _COUNTS]
    words: Annotated[list[list[Any]], list_of(_WORD)]


def read_places(facts: Any, end: int) -> list[list[int]]:
    """Return start, size and checksum of each part of a file: one after the other, up to ``end``."""
    place = Place("what it says of its rows")
    said = {name: facts.get(name) for name in ("checked", "n_features", "messages")} if type(facts) is dict else facts
    places: list[list[int]] = read_fields(_RowFields, said, place)["messages"]
    start = 0
    for part in places:
        if part[0] != start:
            raise place.at("messages").error("the places of all parts", part)
        start += max(0, part[1])
    if not places or start != end:
        raise ValueError("it has other parts than it says")
    return places


def check_facts(facts: Facts) -> None:
    """Raise a ValueError unless these are the facts that a source told a cache."""
    said = {name: value for name, value in facts.items() if name != "messages"}
    read_fields(_FactsFields, said, Place("what it says"))


def check_schema(schema: pa.Schema) -> None:
    """Raise a ValueError unless the columns are those that blocks are written as."""
    types = import_arrow().types
    dense = schema.names == [LABEL, WEIGHT, FEATURES]
    sound = dense or schema.names == [LABEL, WEIGHT, *LISTS]
    label, weight, *lists = schema.types
    sound = sound and (types.is_string(label) or is_number_type(label)) and types.is_floating(weight)
    sound = sound and all(types.is_fixed_size_list(each) if dense else types.is_list(each) for each in lists)
    if sound:
        *indices, values = (each.value_type for each in lists)
        sound = all(types.is_int32(each) or types.is_int64(each) for each in indices)
        sound = sound and (types.is_float32(values) or types.is_float64(values))
    if not sound:
        raise ValueError("its columns are not those of rows")


def is_compressed(message: pa.Buffer) -> bool:
    """Return whether the numbers of a record batch are compressed, as those of this library never are."""
    metadata = bytes(import_arrow(".ipc").read_message(message).metadata)

    def field(table: int, number: int) -> int:
        """Return where a field of a table points to, 0 where it has none (the layout is that of flatbuffers)."""
        (back,) = struct.unpack_from("<i", metadata, table)
        (size,) = struct.unpack_from("<H", metadata, table - back)
        place = struct.unpack_from("<H", metadata, table - back + 4 + 2 * number)[0] if 4 + 2 * number < size else 0
        return table + place + struct.unpack_from("<I", metadata, table + place)[0] if place else 0

    try:
        return field(field(struct.unpack_from("<I", metadata)[0], _RECORD_BATCH), _COMPRESSION) != 0
    except struct.error:
        raise ValueError("its rows are not as they were written") from None


def check_batch(batch: pa.RecordBatch, width: int) -> None:
    """Raise a ValueError unless rows are finite and their columns ascend and are fewer than ``width``."""
    batch.validate(full=True)
    label, weight, *lists = batch.columns
    sound = not label.null_count and weight.null_count in (0, len(weight)) and not any(one.null_count for one in lists)
    parts = [as_numpy(one.values) for one in lists]
    sound = sound and not any(one.values.null_count for one in lists) and bool(np.isfinite(parts[-1]).all())
    if sound and not weight.null_count:
        sound = bool((np.isfinite(as_numpy(weight)) & (as_numpy(weight) >= 0)).all())
    if sound and len(lists) == 2:
        starts, same = (as_numpy(one.offsets) for one in lists)
        sound = np.array_equal(starts, same) and is_canonical_csr(starts, parts[0], width)
    if not sound:
        raise ValueError("its rows are not as they were written")


# Blocks of rows as Arrow record batches, and back, without copying their numbers; and files of such batches.
#
# Sparse rows are two columns of lists, as ``list_columns`` reads them; dense ones a column of lists of one length.


_MARK = b"rosenblatt-rows"
_END_OF_STREAM = struct.pack("<iI", -1, 0)
_TAIL = struct.Struct(f"<IQ{len(_MARK)}s")
"""The end of a file: checksum and size of the facts about the rows, and the mark."""


class RowFileWriter:
    """Writes blocks to a file: an Arrow stream, which other tools can read, followed by facts about the rows.

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
        self._file, self._checked = file, True
        self._schema: pa.Schema | None = None
        self._places: list[tuple[int, int, int]] = []

    def write(self, block: Block) -> None:
        """Write a block; a ValueError if its columns are not those of the first."""
        batch = block_to_batch(block)
        self._checked = self._checked and block.checked
        if self._schema is None:
            self._schema = batch.schema
            self._message(batch.schema.with_metadata({_MARK: ""}).serialize())
        if batch.schema != self._schema:
            raise ValueError(f"their columns change from {self._schema} to {batch.schema}".replace("\n", ", "))
        self._message(batch.serialize())

    def finish(self, facts: Facts) -> None:
        """Write facts about the rows, with "rows" and "n_features" among them."""
        data = json.dumps(facts | {"checked": self._checked, "messages": self._places}).encode()
        self._file.write(_END_OF_STREAM + data + _TAIL.pack(zlib.crc32(data), len(data), _MARK))
        self._file.flush()

    def _message(self, message: pa.Buffer) -> None:
        self._places.append((self._file.tell(), message.size, zlib.crc32(message)))
        self._file.write(message)


class RowFile:
    """A file that a ``RowFileWriter`` wrote; a ValueError if it is incomplete. Several threads may read it at once.

    Each part is compared with its checksum when it is first read, and its numbers are checked: anyone can compute a
    checksum.
    """

    def __init__(self, file: Any) -> None:  # with seek and readinto
        self._file, self._lock = file, threading.Lock()
        end = file.seek(0, 2) - _TAIL.size
        total, size, mark = _TAIL.unpack(self._bytes(end, _TAIL.size))
        data = self._bytes(end - size, size)
        if mark != _MARK or zlib.crc32(data) != total:
            raise ValueError("it is not complete")
        try:
            self.facts: Facts = json.loads(bytes(data))
        except RecursionError:
            raise ValueError("it is not complete") from None
        self._places = read_places(self.facts, end - size - len(_END_OF_STREAM))
        self._verified = [False] * len(self._places)
        self._schema = import_arrow(".ipc").read_schema(self._message(0))
        check_schema(self._schema)
        weakref.finalize(self, file.close)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._places) - 1

    def block(self, k: int) -> Block:
        """Return a block, its rows counted from 0; a ValueError if it is damaged."""
        new, message = not self._verified[k + 1], self._message(k + 1)
        if new and is_compressed(message):
            raise ValueError("its rows are compressed")
        batch = import_arrow(".ipc").read_record_batch(message, self._schema)
        if new:
            check_batch(batch, self.facts["n_features"])
        block = batch_to_block(batch, self.facts["n_features"], self.facts["checked"])
        if block.X.shape[1] != self.facts["n_features"]:
            raise ValueError("its rows are not as wide as it says")
        return block

    def _message(self, k: int) -> pa.Buffer:
        start, size, total = self._places[k]
        message = self._bytes(start, size)
        if not self._verified[k] and zlib.crc32(message) != total:
            raise ValueError(f"its bytes from {start} on are not those that were written")
        self._verified[k] = True
        return message

    def _bytes(self, start: int, size: int) -> pa.Buffer:
        if start < 0:
            raise ValueError("it is too short")
        buffer = import_arrow().allocate_buffer(size)
        with self._lock:
            self._file.seek(start)
            if self._file.readinto(buffer) < size:
                raise ValueError("it ends too early")
        return buffer


def is_row_file(file: BinaryIO) -> bool:
    """Return whether a file begins as row files do."""
    return _MARK in file.read(1 << 12)


def block_to_batch(block: Block) -> pa.RecordBatch:
    """Return a block as a record batch; a ValueError if that is impossible.

    Examples
    --------
    >>> block = Block(sp.csr_array([[0.0, 2.0], [1.0, 3.0]]), np.array([1, -1]), 0)
    >>> block_to_batch(block).to_pylist()[1]
    {'label': -1, 'weight': None, 'indices': [0, 1], 'values': [1.0, 3.0]}
    """
    pa = import_arrow()
    X, n = block.X, len(block)
    weight = pa.nulls(n, pa.float64()) if block.weight is None else numbers_to_arrow(block.weight)
    columns = {LABEL: _labels(block.y), WEIGHT: weight}
    if is_sparse(X):
        if X.nnz >= 2**31:
            raise ValueError(f"{X.nnz} numbers in a block, expected fewer than {2**31}")
        ends = pa.py_buffer(np.ascontiguousarray(X.indptr, np.int32))
        for name, numbers in zip(LISTS, (X.indices, X.data), strict=True):
            flat = numbers_to_arrow(numbers[: X.nnz])
            columns[name] = pa.Array.from_buffers(pa.list_(_item(flat.type)), n, [None, ends], children=[flat])
    else:
        flat = numbers_to_arrow(X.reshape(-1))
        rows = pa.list_(_item(flat.type), X.shape[1])
        columns[FEATURES] = pa.Array.from_buffers(rows, n, [None], children=[flat])
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def batch_to_block(batch: pa.RecordBatch, width: int, checked: bool = False) -> Block:
    """Return a record batch as a block; sparse rows have ``width`` columns.

    Examples
    --------
    >>> block = batch_to_block(block_to_batch(Block(np.eye(2), np.array(["no", "yes"]), 0)), 2)
    >>> block.X, block.y
    (array([[1., 0.],
           [0., 1.]]), array(['no', 'yes'], dtype='<U3'))
    """
    n, labels, weight = batch.num_rows, batch.column(LABEL), batch.column(WEIGHT)
    strings = import_arrow().types.is_string(labels.type)
    y = np.array(labels.to_pylist(), dtype=np.str_) if strings else as_numpy(labels)
    if FEATURES in batch.schema.names:
        rows = batch.column(FEATURES)
        X = as_numpy(rows.values).reshape(n, rows.type.list_size)
    else:
        indices, values = (batch.column(name) for name in LISTS)
        parts = as_numpy(values.values), as_numpy(indices.values), as_numpy(indices.offsets)
        X = sp.csr_array(parts, shape=(n, width))
        X.has_canonical_format = True
    return Block(X, y, 0, None if weight.null_count == n else as_numpy(weight), checked)


def _labels(y: np.ndarray) -> pa.Array:
    if y.dtype.kind == "U":
        return strings_to_arrow(y.tolist())
    if y.dtype.kind not in "biuf":
        raise ValueError(f"labels of type {y.dtype}, expected numbers, booleans or strings")
    return numbers_to_arrow(y)


def _item(type_: pa.DataType) -> pa.Field:
    return import_arrow().field("item", type_, nullable=False)


# A cache of rows for further passes: in memory while they are few, in an uncompressed Arrow file beyond that.
#
# Parsing text costs several times as much as learning from it, and further passes need not do it again. A file that
# the user names also serves other runs; otherwise it has no name and disappears with the process, however that ends.


MEMORY_LIMIT = 1 << 26
"""Bytes of rows that are kept in memory."""


class DamagedCache(Exception):
    """Rows of the cache that cannot be read any more; they are in the files still."""


class RowCache:
    """The rows of one stream, once all of them have been read.

    Where they cannot be stored, or not be read again, a warning says so and the files are read instead.

    Parameters
    ----------
    path : str or None
        The file to store them in, None for one without a name.
    key : str
        A digest that identifies these rows: a file with another key is replaced.
    get_facts : callable
        Returns what is known about the rows after the last of them, "n_features" included.
    width : int or None
        How many columns rows have, None where that is known after the last of them.

    Raises
    ------
    ParameterError
        If another kind of file is at this path.
    """

    def __init__(self, path: str | None, key: str, get_facts: Callable[[], Facts], width: int | None = None) -> None:
        self._path, self._key, self._get_facts = None if path is None else os.path.realpath(path), key, get_facts
        self._width = width
        self._in_memory: list[Block] | None = None
        self._reader: object = None
        """The iteration whose rows are recorded: the one begun last, unless an earlier one continues meanwhile."""
        self._disabled = False
        self._file = self._open_file()

    @property
    def complete(self) -> bool:
        """Whether all rows are in the cache."""
        return self._in_memory is not None or self._file is not None

    @property
    def facts(self) -> Facts | None:
        """What is known about the rows, if they are in a file."""
        return None if self._file is None else self._file.facts

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(map(len, self._in_memory or ())) if self._file is None else int(self._file.facts["rows"])

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the rows of the cache; where that fails, warn, forget them, and raise a `DamagedCache`."""
        if self._file is None:
            yield from self._in_memory or ()
            return
        first, file = 0, self._file
        try:
            with closing(ordered_map((k for k in range(len(file))), file.block, 1)) as work:
                for block in work:
                    yield replace(block, first=first)
                    first += len(block)
        except (OSError, ValueError, import_arrow().ArrowException) as error:
            self._file = None
            warn_user(f"rows cached in {self._place} are damaged ({error}): they are read from the files.", UserWarning)
            raise DamagedCache from None

    def record(self, blocks: Generator[Block, None, None]) -> Generator[Block, None, None]:
        """Yield blocks and store them. Nothing is stored unless all are read, by no other iteration meanwhile."""
        mine = object()
        if not self._disabled:
            self._reader = mine
        waiting: list[Block] = []
        file: _PartialFile | None = None
        space, rows = MEMORY_LIMIT if self._path is None else 0, 0
        try:
            for block in blocks:
                if self._is_only_reader(mine):
                    for array in block.arrays:
                        array.flags.writeable = False  # it is needed again
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
                self._in_memory = waiting
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
        """Return whether no other iteration reads at the same time: the counts would be about both."""
        if self._reader is not reader:
            self._reader = None
        return self._reader is reader

    @contextmanager
    def _disable_on_error(self) -> Iterator[None]:
        """Continue without a cache if it cannot be written."""
        try:
            yield
        except ParameterError:
            raise
        except (OSError, ValueError, import_arrow().ArrowException) as error:
            self._disable(str(error))

    def _disable(self, reason: str) -> None:
        self._disabled, self._reader = True, None
        warn_user(f"rows cannot be cached in {self._place} ({reason}): each pass reads them again.", UserWarning)

    @property
    def _place(self) -> str:
        return "a temporary file" if self._path is None else self._path

    def _open_file(self) -> RowFile | None:
        """Return the file that has these rows, if there is one."""
        path = self._path
        if path is None:
            return None
        if os.path.exists(path) and not os.path.isfile(path):
            _refuse(f" must be a file, got {path}, which is something else.")
        with self._disable_on_error():
            file = _open_row_file(path) if os.path.exists(path) else None
            facts = {} if file is None else file.facts
            if facts.get("key") == self._key and self._width in (None, facts["n_features"]):
                return file
            folder = os.path.dirname(path)
            if not os.access(folder, os.W_OK):
                self._disable("the folder cannot be written to" if os.path.isdir(folder) else "there is no such folder")
        return None


def _refuse(problem: str) -> NoReturn:
    raise ParameterError(Setting("cache"), problem)


def _open_row_file(path: str) -> RowFile | None:
    """Return a row file, None if it is not complete; a ParameterError if it is another kind of file."""
    with ExitStack() as stack:
        file = stack.enter_context(open(path, "rb"))
        if os.path.getsize(path) and not is_row_file(file):
            _refuse(
                f" must be a file of rows or a new file, got {path}, another kind of file: delete it, or name another."
            )
        with suppress(OSError, ValueError, import_arrow().ArrowException):
            rows = RowFile(file)
            check_facts(rows.facts)
            stack.pop_all()  # it stays open as long as its rows are used
            return rows
    return None


class _PartialFile:
    """A row file that is being written, without a name until it is complete."""

    def __init__(self, path: str | None) -> None:
        self._named = None if path is None else Replacement(path)
        self.file: Any = (
            tempfile.TemporaryFile() if self._named is None else open(self._named.descriptor, "wb", closefd=False)  # noqa: SIM115
        )
        self.writer = RowFileWriter(self.file)

    def finish(self, facts: Facts) -> None:
        """Write the facts about the rows, and give the file its name."""
        self.writer.finish(facts)
        if self._named is not None:
            os.fsync(self.file.fileno())  # a power cut leaves no file that has its name and not all of its rows
            self.file.close()
            self._named.keep()

    def discard(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self.file.close()
        if self._named is not None:
            self._named.discard()
