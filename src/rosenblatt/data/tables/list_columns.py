"""Tables whose rows are sparse: a list of column numbers, ``indices``, and a list of ``values``, in each row.

Column numbers count from 0 and ascend. There are as many columns as the rows need, as with svmlight text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import DataError, Features, is_sparse
from rosenblatt.data.row_source import Preparation, fit_columns
from rosenblatt.data.tables.arrow_arrays import as_numpy, import_arrow, null_rows, numbers_to_arrow, replace_nulls
from rosenblatt.data.tables.arrow_values import Faults, Reason, to_floats
from rosenblatt.data.tables.encoded_rows import EncodedRows, RowsToCount
from rosenblatt.data.tables.encoder import Encoder
from rosenblatt.data.tables.reader import ColumnLayout, TableChunk
from rosenblatt.kernels.parsing.list_columns import MAX_COLUMNS, NOT_FINITE, OUT_OF_RANGE, UNSORTED, check_rows

if TYPE_CHECKING:
    import pyarrow as pa

LISTS = ("indices", "values")
_REASONS: dict[int, Reason] = {
    OUT_OF_RANGE: (f"an index is negative, missing or too large, expected 0 to {MAX_COLUMNS - 1}",),
    UNSORTED: ("an index is not above the one before it, expected ascending indices: sort the row",),
    NOT_FINITE: ("a value is missing, NaN, infinite or too large for float64, expected finite numbers",),
}


def has_lists(columns: dict[str, pa.Array]) -> bool:
    """Return whether the columns of a table are those of sparse rows."""
    return all(name in columns and _is_list(columns[name].type) for name in LISTS)


def _is_list(type_: pa.DataType) -> bool:
    types = import_arrow().types
    return types.is_list(type_) or types.is_large_list(type_)


class ListEncoder(Encoder):
    """Turns two columns of lists into sparse rows.

    If the preparation has "n_features", rows have that many columns, and entries beyond are left out and counted.
    """

    def __init__(self, preparation: Preparation, labelled: bool = True) -> None:
        super().__init__(preparation, labelled)
        self._width: int | None = preparation.get("n_features")
        self.n_features, self.fixed_width = self._width or 0, self._width is not None

    @property
    def preparation(self) -> Preparation:
        """How rows are made; the number of columns is that so far, None before the first."""
        return self._preparation | {"n_features": self.n_features or None}

    @property
    def number_columns(self) -> None:
        """None: features are alike."""
        return None

    @property
    def layout(self) -> ColumnLayout:
        """What has to be read."""
        labels = super().layout
        return ColumnLayout(dict.fromkeys(LISTS, "list") | labels.needed, labels.known)

    def feature_names(self, words: dict[int, str]) -> None:
        """Return None: columns have no names."""
        return None

    def fit_width(self, rows: EncodedRows) -> Features:
        """Return the features of the next rows, as wide as they should be."""
        assert is_sparse(rows.X)
        if self._width is None:
            whole = len(rows.y) == rows.chunk.n
            width = rows.X.shape[1] if whole else 1 + int(rows.X.indices.max(initial=-1))  # not those of rows left out
            self.n_features = max(self.n_features, width)
        X, beyond = fit_columns(rows.X, self.n_features)
        rows.counts.unseen.update({"columns": beyond} if beyond else {})
        return X

    def _features(self, chunk: TableChunk, faults: Faults, counted: RowsToCount) -> Features:
        """Return the lists as CSR; rows at fault are empty."""
        arrays = [chunk.columns[name] for name in LISTS]
        for name, array in zip(LISTS, arrays, strict=True):
            _check_type(array.type, name, chunk.where(0))
            faults.add(null_rows(array), (f"column {name!r} has no value",))
        ends = [as_numpy(array.offsets) for array in arrays]
        unequal = np.diff(ends[0]) != np.diff(ends[1])
        faults.add(np.flatnonzero(unequal), ("the two lists are not equally long",))
        if faults:
            arrays = [_emptied(array, faults) for array in arrays]
            ends = [as_numpy(array.offsets) for array in arrays]
        first, begin, size = int(ends[0][0]), int(ends[1][0]), int(ends[0][-1] - ends[0][0])
        indices = _column_numbers(arrays[0].values[first : first + size])
        values = _values(arrays[1].values[begin : begin + size])
        indptr = (ends[0] - first).astype(np.int32 if size < 2**31 else np.int64)
        results = np.empty(chunk.n, np.int8)
        highest = check_rows(indptr, indices, values, results)
        bad = np.flatnonzero(results)
        if len(bad):
            for row in bad.tolist():
                faults.add([row], _REASONS[int(results[row])])
            sizes = np.diff(indptr)
            valid = np.repeat(results == 0, sizes)
            indices, values = indices[valid], values[valid]
            indptr = np.concatenate([[0], np.cumsum(np.where(results == 0, sizes, 0))]).astype(indptr.dtype)
        X = sp.csr_array((values, indices, indptr), shape=(chunk.n, highest + 1))
        X.has_canonical_format = True
        return X


def _check_type(type_: pa.DataType, name: str, where: str) -> None:
    """Raise an error unless the type is a list of numbers, or of null, as lists without elements are."""
    types = import_arrow().types
    if not _is_list(type_):
        raise DataError(f"{where}: column {name!r} holds {type_} values, expected lists.")
    of, integers = type_.value_type, name == LISTS[0]
    if not (types.is_integer(of) or types.is_null(of) or (types.is_floating(of) and not integers)):
        expected = "integers" if integers else "numbers"
        raise DataError(f"{where}: column {name!r} holds lists of {of}, expected lists of {expected}.")


def _emptied(array: pa.Array, faults: Faults) -> pa.Array:
    """Return an array of lists, empty in the rows at fault."""
    pa = import_arrow()
    kept = np.delete(np.arange(len(array)), list(faults))
    sizes = np.zeros(len(array) + 1, np.int64)
    sizes[1 + kept] = np.diff(as_numpy(array.offsets))[kept]
    flat = array.take(numbers_to_arrow(kept)).flatten()
    return pa.LargeListArray.from_arrays(numbers_to_arrow(np.cumsum(sizes)), flat)


def _column_numbers(array: pa.Array) -> np.ndarray:
    """Return column numbers as int32, -1 for those that are invalid."""
    numbers = as_numpy(array)
    if numbers.dtype != np.int32:
        numbers = np.where((numbers < 0) | (numbers >= MAX_COLUMNS), -1, numbers).astype(np.int32)
    return replace_nulls(array, numbers, -1)


def _values(array: pa.Array) -> np.ndarray:
    """Return values as float32 or float64, NaN where one is missing."""
    values = as_numpy(array)
    if values.dtype not in (np.float32, np.float64):
        values = to_floats(values)
    return replace_nulls(array, values, np.nan)
