"""Blocks of rows as Arrow record batches, and back, without copying their numbers; and files of such batches.

Sparse rows are two columns of lists, as ``list_columns`` reads them; dense ones a column of lists of one length.
"""

from __future__ import annotations

import json
import struct
import threading
import weakref
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, is_sparse
from rosenblatt.data.cache.row_checks import (
    FEATURES,
    LABEL,
    WEIGHT,
    check_batch,
    check_schema,
    is_compressed,
    read_places,
)
from rosenblatt.data.row_source import Facts
from rosenblatt.data.tables.arrow_arrays import as_numpy, import_arrow, numbers_to_arrow, strings_to_arrow
from rosenblatt.data.tables.list_columns import LISTS

if TYPE_CHECKING:
    import pyarrow as pa

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
