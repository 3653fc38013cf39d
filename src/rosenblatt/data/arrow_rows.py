"""Blocks of rows as Arrow record batches, and back, without a copy of their numbers.

Sparse rows are two columns of lists, as ``lists`` reads them; dense ones a column of lists of one length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.data.blocks import Block
from rosenblatt.data.lists import LISTS, numbers_in
from rosenblatt.data.tables import arrow

__all__ = ["batch_of", "block_of"]

_LABEL, _WEIGHT, _FEATURES = "label", "weight", "features"


def batch_of(block: Block) -> Any:
    """Return a block as a record batch.

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
        ends = pa.py_buffer(np.ascontiguousarray(X.indptr, np.int32))
        for name, numbers in zip(LISTS, (X.indices, X.data), strict=True):
            flat = _array(numbers[: int(X.indptr[-1])])
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
    return _array(y)


def _array(numbers: np.ndarray) -> Any:
    pa = arrow()
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))]
    )


def _item(type_: Any) -> Any:
    return arrow().field("item", type_, nullable=False)
