"""Tables whose rows are sparse: a list of column numbers, ``indices``, and a list of ``values``, in each row.

Column numbers count from 0 and ascend. There are as many columns as were met, as with svmlight text.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import DataError
from rosenblatt.data.tables.arrow_values import Faults, blame
from rosenblatt.data.tables.encoder import Encoder, Rows
from rosenblatt.data.tables.reader import Layout, Piece, arrow
from rosenblatt.kernels.parsing.list_columns import MOST_COLUMNS, NOT_FINITE, OUTSIDE, UNSORTED, judge_lists

__all__ = ["LISTS", "ListEncoder", "cut_to", "has_lists", "numbers_in"]

LISTS = ("indices", "values")
_SENTENCES = {
    OUTSIDE: f"an index is negative, missing or too large, expected 0 to {MOST_COLUMNS - 1}",
    UNSORTED: "an index is not above the one before it, expected ascending indices: sort the row",
    NOT_FINITE: "a value is missing, NaN, infinite or too large for float64, expected finite numbers",
}


def has_lists(columns: dict[str, Any]) -> bool:
    """Say whether the columns of a table are those of sparse rows."""
    return all(name in columns and _is_list(columns[name].type) for name in LISTS)


def _is_list(type_: Any) -> bool:
    types = arrow().types
    return types.is_list(type_) or types.is_large_list(type_)


class ListEncoder(Encoder):
    """Turns two columns of lists into sparse rows.

    Where the preparation has "n_features", the rows have so many columns, and entries beyond are left out and counted.
    """

    def __init__(self, preparation: dict[str, Any], labelled: bool = True) -> None:
        super().__init__(preparation, labelled)
        self._width: int | None = preparation.get("n_features")
        self.n_features, self.fixed_width = self._width or 0, self._width is not None

    @property
    def preparation(self) -> dict[str, Any]:
        """How rows are made; the number of columns is that met so far, None before the first."""
        return self._preparation | {"n_features": self.n_features or None}

    @property
    def layout(self) -> Layout:
        """What has to be read."""
        labels = super().layout
        return Layout(dict.fromkeys(LISTS, "list") | labels.needed, labels.known)

    def feature_names(self, words: dict[int, str]) -> None:
        """Return nothing: columns have numbers only."""

    def fitted(self, rows: Rows) -> Any:
        """Return the features of the rows that come next, as wide as they should be."""
        if self._width is None:
            whole = len(rows.y) == rows.piece.n
            met = rows.X.shape[1] if whole else 1 + int(rows.X.indices.max(initial=-1))  # not those of rows left out
            self.n_features = max(self.n_features, met)
        X, beyond = cut_to(rows.X, self.n_features)
        rows.unseen.update({"columns": beyond} if beyond else {})
        return X

    def _features(self, piece: Piece, faults: Faults, unseen: Counter[str]) -> Any:
        """Return the lists as CSR; rows at fault are empty."""
        arrays = [piece.columns[name] for name in LISTS]
        for name, array in zip(LISTS, arrays, strict=True):
            _refuse_other(array.type, name, piece.where(0))
            blame(faults, _gaps(array).tolist(), partial(_sentence, f"column {name!r} has no value"))
        ends = [numbers_in(array.offsets) for array in arrays]
        unequal = np.diff(ends[0]) != np.diff(ends[1])
        blame(faults, np.flatnonzero(unequal).tolist(), partial(_sentence, "the two lists are not equally long"))
        if faults:
            arrays = [_emptied(array, faults) for array in arrays]
            ends = [numbers_in(array.offsets) for array in arrays]
        first, begin, size = int(ends[0][0]), int(ends[1][0]), int(ends[0][-1] - ends[0][0])
        indices = _column_numbers(arrays[0].values[first : first + size])
        values = _values(arrays[1].values[begin : begin + size])
        indptr = (ends[0] - first).astype(np.int32 if size < 2**31 else np.int64)
        judged = np.empty(piece.n, np.int8)
        highest = judge_lists(indptr, indices, values, judged)
        bad = np.flatnonzero(judged)
        if len(bad):
            blame(faults, bad.tolist(), lambda row: _sentence(_SENTENCES[int(judged[row])], row))
            sizes = np.diff(indptr)
            kept = np.repeat(judged == 0, sizes)
            indices, values = indices[kept], values[kept]
            indptr = np.concatenate([[0], np.cumsum(np.where(judged == 0, sizes, 0))]).astype(indptr.dtype)
        X = sp.csr_array((values, indices, indptr), shape=(piece.n, highest + 1))
        X.has_canonical_format = True
        return X


def cut_to(X: Any, width: int) -> tuple[Any, int]:
    """Return a CSR array with ``width`` columns, and how many of its entries lay beyond them."""
    beyond = 0
    if X.shape[1] > width:
        beyond = int((X.indices >= width).sum())
        X = X[:, :width]
    elif X.shape[1] < width:
        X.resize(X.shape[0], width)
    return X, beyond


def _refuse_other(type_: Any, name: str, where: str) -> None:
    """Refuse what is no list of numbers; one that never has an element has no type to speak of."""
    types = arrow().types
    if not _is_list(type_):
        raise DataError(f"{where}: column {name!r} holds {type_} values, expected lists.")
    of, whole = type_.value_type, name == LISTS[0]
    if not (types.is_integer(of) or types.is_null(of) or (types.is_floating(of) and not whole)):
        expected = "whole numbers" if whole else "numbers"
        raise DataError(f"{where}: column {name!r} holds lists of {of}, expected lists of {expected}.")


def _emptied(array: Any, faults: Faults) -> Any:
    """Return an array of lists with an empty one in the rows at fault."""
    pa = arrow()
    kept = np.delete(np.arange(len(array)), list(faults))
    sizes = np.zeros(len(array) + 1, np.int64)
    sizes[1 + kept] = np.diff(numbers_in(array.offsets))[kept]
    flat = array.take(pa.array(kept)).flatten()
    return pa.LargeListArray.from_arrays(pa.array(np.cumsum(sizes)), flat)


def _column_numbers(array: Any) -> np.ndarray:
    """Return column numbers as int32, -1 for those that cannot be."""
    numbers = numbers_in(array)
    if numbers.dtype != np.int32:
        numbers = np.where((numbers < 0) | (numbers >= MOST_COLUMNS), -1, numbers).astype(np.int32)
    if array.null_count:
        numbers = numbers.copy()
        numbers[_gaps(array)] = -1
    return numbers


def _values(array: Any) -> np.ndarray:
    """Return values as float32 or float64, NaN for what is missing."""
    values = numbers_in(array)
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    if array.null_count:
        values = values.copy()
        values[_gaps(array)] = np.nan
    return values


def numbers_in(array: Any) -> np.ndarray:
    """Return an Arrow array of numbers without a copy; anything where it has none."""
    if arrow().types.is_null(array.type) or not len(array) or array.buffers()[1] is None:
        return np.zeros(len(array), array.type.to_pandas_dtype())
    kind = np.dtype(array.type.to_pandas_dtype())  # a type of NumPy's
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def _gaps(array: Any) -> np.ndarray:
    """Return the places where an Arrow array has no value."""
    if not array.null_count:
        return np.empty(0, np.int64)
    return np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))


def _sentence(what: str, row: int) -> str:
    return f"{what}."
