"""Arrow arrays from Python's and NumPy's values, and back.

They go by their buffers: pyarrow's own conversions (``pa.array``, ``pa.scalar``, ``to_numpy``) import pandas where it
is installed, which takes longer than reading a small table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.parameters import show_text

if TYPE_CHECKING:
    import pyarrow as pa


@cache
def import_arrow(module: str = "") -> Any:
    """Return pyarrow, or one of its modules: it is imported when a table is first read."""
    try:
        return import_module("pyarrow" + module)
    except ImportError:
        raise ImportError("reading tables needs pyarrow: pip install 'rosenblatt[files]'.") from None


def combine_chunks(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a chunked array as one array."""
    if not isinstance(array, import_arrow().ChunkedArray):
        return array
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()


@lru_cache(maxsize=256)
def is_unsupported_type(type_: pa.DataType) -> bool:
    """Return whether values of this type are neither numbers, booleans, strings, dates nor null."""
    pa = import_arrow()
    types = pa.types
    binary = types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_)
    if types.is_nested(type_) or binary or "binary_view" in str(type_):
        return True
    if is_number_type(type_):
        return False
    try:
        pa.nulls(1, type_).cast(pa.string())
    except pa.ArrowException:  # intervals, and times in a zone that is unknown
        return True
    return False


def show_type(type_: pa.DataType) -> str:
    """Return a type for a message."""
    return show_text(str(type_), 100)


def is_number_type(type_: pa.DataType) -> bool:
    """Return whether values of this type are booleans, integers or floats."""
    types = import_arrow().types
    return types.is_boolean(type_) or types.is_integer(type_) or types.is_floating(type_)


def numbers_to_arrow(numbers: np.ndarray) -> pa.Array:
    """Return an array of numbers or booleans as an Arrow array, numbers without a copy."""
    pa = import_arrow()
    if numbers.dtype.kind == "b":
        return numbers_to_arrow(numbers.view(np.uint8)).cast(pa.bool_())
    numbers = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("="))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)])


def strings_to_arrow(texts: Sequence[str | None]) -> pa.Array:
    """Return strings as an Arrow array, null for None.

    Examples
    --------
    >>> strings_to_arrow(["a", None, "", "öl"]).to_pylist()
    ['a', None, '', 'öl']
    """
    pa = import_arrow()
    words = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, words)])
    if ends[-1] >= 2**31:
        raise ValueError(f"{ends[-1]} bytes of text at once, expected fewer than {2**31}")
    valid = np.packbits([text is not None for text in texts], bitorder="little") if None in texts else None
    parts = None if valid is None else pa.py_buffer(valid), pa.py_buffer(ends.astype(np.int32))
    return pa.Array.from_buffers(pa.string(), len(words), [*parts, pa.py_buffer(b"".join(words))])


_NUMPY_TYPES = {"double": "float64", "float": "float32", "halffloat": "float16", "null": "float64"}
"""Arrow's names of types that NumPy calls otherwise."""


def as_numpy(array: pa.Array) -> np.ndarray:
    """Return an Arrow array of numbers or booleans, numbers without a copy; any value where it is null."""
    pa = import_arrow()
    if pa.types.is_boolean(array.type):
        return as_numpy(array.cast(pa.uint8())).view(np.bool_)
    kind = np.dtype(_NUMPY_TYPES.get(str(array.type), str(array.type)))
    if pa.types.is_null(array.type) or not len(array) or array.buffers()[1] is None:
        return np.zeros(len(array), kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def null_rows(array: pa.Array) -> np.ndarray:
    """Return the rows where an Arrow array has no value."""
    return np.flatnonzero(as_numpy(array.is_null())) if array.null_count else np.empty(0, np.int64)


def replace_nulls(array: pa.Array, numbers: np.ndarray, missing: float) -> np.ndarray:
    """Return the numbers of an Arrow array with ``missing`` where it is null."""
    if array.null_count:
        numbers = numbers.copy()
        numbers[null_rows(array)] = missing
    return numbers
