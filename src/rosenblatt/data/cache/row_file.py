"""Blocks of rows as Arrow record batches, and back, without a copy of their numbers; and files of such batches.

Sparse rows are two columns of lists, as ``lists`` reads them; dense ones a column of lists of one length.
"""

from __future__ import annotations

import json
import struct
import threading
import weakref
import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block
from rosenblatt.data.tables.list_columns import LISTS, numbers_in
from rosenblatt.data.tables.reader import arrow

__all__ = ["RowsFile", "RowsWriter", "batch_of", "block_of", "is_rows_file"]

_LABEL, _WEIGHT, _FEATURES = "label", "weight", "features"
_MARK = b"rosenblatt-rows"
_NO_MORE = struct.pack("<iI", -1, 0)  # ends an Arrow stream
_TAIL = struct.Struct(f"<IQ{len(_MARK)}s")
"""Ends a file: a checksum of what is known about the rows, how many bytes that takes, and the mark."""


class RowsWriter:
    """Writes blocks to a file: an Arrow stream, which other tools can read, and what is known about the rows behind it.

    Examples
    --------
    >>> import io
    >>> writer = RowsWriter(file := io.BytesIO())
    >>> writer.write(Block(np.eye(2), np.array([1, -1]), 0))
    >>> writer.finish({"rows": 2, "n_features": 2})
    >>> rows = RowsFile(file)
    >>> rows.facts["rows"], len(rows), rows.block(0)[1]
    (2, 1, array([ 1, -1]))
    """

    def __init__(self, file: Any) -> None:
        self._file, self._schema, self._checked = file, None, True
        self._places: list[tuple[int, int, int]] = []

    def write(self, block: Block) -> None:
        """Write a block; a ValueError where it is not like the first."""
        batch = batch_of(block)
        self._checked = self._checked and block.checked
        if self._schema is None:
            self._schema = batch.schema
            self._message(batch.schema.with_metadata({_MARK: ""}).serialize())
        if batch.schema != self._schema:
            raise ValueError(f"their columns change from {self._schema} to {batch.schema}".replace("\n", ", "))
        self._message(batch.serialize())

    def finish(self, facts: dict[str, Any]) -> None:
        """Write what is known about the rows, plain data with "rows" and "n_features" in it."""
        told = json.dumps(facts | {"checked": self._checked, "messages": self._places}).encode()
        self._file.write(_NO_MORE + told + _TAIL.pack(zlib.crc32(told), len(told), _MARK))
        self._file.flush()

    def _message(self, message: Any) -> None:
        self._places.append((self._file.tell(), message.size, zlib.crc32(message)))
        self._file.write(message)


class RowsFile:
    """A file that a ``RowsWriter`` wrote; a ValueError where it is not complete. Several threads may read it at once.

    Each part is compared with its checksum when it is first read.
    """

    def __init__(self, file: Any) -> None:
        self._file, self._lock = file, threading.Lock()
        end = file.seek(0, 2) - _TAIL.size
        total, size, mark = _TAIL.unpack(self._bytes(end, _TAIL.size))
        told = self._bytes(end - size, size)
        if mark != _MARK or zlib.crc32(told) != total:
            raise ValueError("it is not complete")
        self.facts: dict[str, Any] = json.loads(bytes(told))
        self._sound = [False] * len(self.facts["messages"])
        self._schema = arrow(".ipc").read_schema(self._message(0))
        weakref.finalize(self, file.close)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._sound) - 1

    def block(self, k: int) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return the features, labels and weights of a block; a ValueError where it is damaged."""
        return block_of(arrow(".ipc").read_record_batch(self._message(k + 1), self._schema), self.facts["n_features"])

    def _message(self, k: int) -> Any:
        start, size, total = self.facts["messages"][k]
        message = self._bytes(start, size)
        if not self._sound[k] and zlib.crc32(message) != total:
            raise ValueError(f"its bytes from {start} on are not those that were written")
        self._sound[k] = True
        return message

    def _bytes(self, start: int, size: int) -> Any:
        if start < 0:
            raise ValueError("it is too short")
        found = arrow().allocate_buffer(size)
        with self._lock:
            self._file.seek(start)
            if self._file.readinto(found) < size:
                raise ValueError("it ends too early")
        return found


def is_rows_file(file: Any) -> bool:
    """Say whether a file begins as one of rows does."""
    return _MARK in file.read(1 << 12)


def batch_of(block: Block) -> Any:
    """Return a block as a record batch; a ValueError where it cannot be one.

    Examples
    --------
    >>> block = Block(sp.csr_array([[0.0, 2.0], [1.0, 3.0]]), np.array([1, -1]), 0)
    >>> batch_of(block).to_pylist()[1]
    {'label': -1, 'weight': None, 'indices': [0, 1], 'values': [1.0, 3.0]}
    """
    pa = arrow()
    X, n = block.X, len(block)
    weight = pa.nulls(n, pa.float64()) if block.weight is None else _array(block.weight)
    columns = {_LABEL: _labels(block.y), _WEIGHT: weight}
    if sp.issparse(X):
        if X.nnz >= 2**31:
            raise ValueError(f"{X.nnz} numbers in a block, expected fewer than {2**31}")
        ends = pa.py_buffer(np.ascontiguousarray(X.indptr, np.int32))
        for name, numbers in zip(LISTS, (X.indices, X.data), strict=True):
            flat = _array(numbers[: X.nnz])
            columns[name] = pa.Array.from_buffers(pa.list_(_item(flat.type)), n, [None, ends], children=[flat])
    else:
        flat = _array(X.reshape(-1))
        rows = pa.list_(_item(flat.type), X.shape[1])
        columns[_FEATURES] = pa.Array.from_buffers(rows, n, [None], children=[flat])
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def block_of(batch: Any, width: int) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Return the features, labels and weights of a record batch; sparse ones have ``width`` columns.

    Examples
    --------
    >>> block_of(batch_of(Block(np.eye(2), np.array(["no", "yes"]), 0)), 2)
    (array([[1., 0.],
           [0., 1.]]), array(['no', 'yes'], dtype='<U3'), None)
    """
    pa = arrow()
    labels, weight = batch.column(_LABEL), batch.column(_WEIGHT)
    if pa.types.is_string(labels.type):
        y = np.array(labels.to_pylist(), dtype=np.str_)
    elif pa.types.is_boolean(labels.type):
        y = numbers_in(labels.cast(pa.uint8())).astype(bool)
    else:
        y = numbers_in(labels)
    n = batch.num_rows
    if _FEATURES in batch.schema.names:
        rows = batch.column(_FEATURES)
        X = numbers_in(rows.values).reshape(n, rows.type.list_size)
    else:
        indices, values = (batch.column(name) for name in LISTS)
        parts = numbers_in(values.values), numbers_in(indices.values), numbers_in(indices.offsets)
        X = sp.csr_array(parts, shape=(n, width))
        X.has_canonical_format = True
    return X, y, None if weight.null_count == n else numbers_in(weight)


def _labels(y: np.ndarray) -> Any:
    pa = arrow()
    if y.dtype.kind == "U":
        return pa.array(y.tolist(), pa.string())
    if y.dtype.kind == "b":
        return _array(y.astype(np.uint8)).cast(pa.bool_())
    if y.dtype.kind not in "iuf":
        raise ValueError(f"labels of type {y.dtype}, expected numbers, truth values or strings")
    return _array(y)


def _array(numbers: np.ndarray) -> Any:
    pa = arrow()
    numbers = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("="))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)])


def _item(type_: Any) -> Any:
    return arrow().field("item", type_, nullable=False)
