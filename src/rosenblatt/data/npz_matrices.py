"""The rows of a matrix in an .npz file, dense or as SciPy saves sparse ones, in blocks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import DataError, Features
from rosenblatt.data.io.npz_arrays import NpzArchive, StoredArray
from rosenblatt.parameters import show_text

_VALUES = 1 << 19
"""Numbers in a block."""
_IN_MEMORY = 1 << 26
"""The most bytes of an array by columns that is held in memory to be read by rows; others go to a temporary file."""
_CONVERTED = 1 << 30
"""The most bytes of a sparse matrix in another format than CSR."""
_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
"""The arrays of a sparse matrix, by its format."""


class StoredMatrix(NamedTuple):
    """A matrix whose rows can be read once, in order."""

    shape: tuple[int, int]
    blocks: Callable[[int], Iterator[Features]]
    """Given the most rows of a block, yields all rows. float32 and float64 keep their type, others become float64."""


def is_sparse_archive(archive: NpzArchive) -> bool:
    """Return whether the arrays are those of a sparse matrix."""
    return archive.arrays >= {"data", "format", "shape"}


def open_matrix(archive: NpzArchive) -> StoredMatrix:
    """Return the matrix of an archive: a sparse one, or the array ``X``; a DataError if there is none to read."""
    if is_sparse_archive(archive):
        return _open_sparse(archive)
    X = archive.array("X")
    if len(X.shape) != 2 or not X.shape[1]:
        raise DataError(f"{archive.name}: expected X with rows and columns, got shape {X.shape}.")
    _check_kind(X, "fiub", "real numbers")
    by = _rows_of_columns if X.by_columns else _rows
    return StoredMatrix((X.shape[0], X.shape[1]), lambda most: map(_floats, by(X, most)))


def _check_kind(array: StoredArray, kinds: str, expected: str) -> None:
    if array.dtype.kind not in kinds:
        hint = "; objects would have to be unpickled" if array.dtype.hasobject else ""
        raise DataError(f"{array.where} holds {show_text(str(array.dtype))} values, expected {expected}{hint}.")


def _floats(values: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):  # numbers beyond float64 become infinite, which is reported with their row
        return np.ascontiguousarray(values, None if values.dtype in (np.float32, np.float64) else np.float64)


def _rows(X: StoredArray, most: int) -> Iterator[np.ndarray]:
    n, width = X.shape
    step = max(1, min(most, _VALUES // width))
    for start in range(0, n, step):
        rows = min(step, n - start)
        yield X.read(rows * width).reshape(rows, width)


def _rows_of_columns(X: StoredArray, most: int) -> Iterator[np.ndarray]:
    """Yield rows of an array in Fortran's order, which begins with all of its first column."""
    step = max(1, min(most, _VALUES // X.shape[1]))
    for part in [X.read_all()] if X.nbytes <= _IN_MEMORY else _read_by_disk(X):
        yield from (part[start : start + step] for start in range(0, len(part), step))


def _read_by_disk(X: StoredArray) -> Iterator[np.ndarray]:
    """Yield as many rows as may be in memory, of columns in a temporary file."""
    (n, width), item = X.shape, X.dtype.itemsize
    step = max(1, _IN_MEMORY // (width * item))
    with tempfile.TemporaryFile() as file:
        try:
            for start in range(0, X.size, _VALUES):
                file.write(X.read(min(_VALUES, X.size - start)).data)
            file.flush()
        except OSError as error:
            what = f"{X.where} is stored by columns, so {X.nbytes} bytes in {tempfile.gettempdir()} are needed"
            hint = "save it by rows, as in np.savez(path, X=np.ascontiguousarray(X), y=y)"
            raise DataError(f"{what} ({error.strerror}): {hint}.") from None
        for start in range(0, n, step):
            columns = np.empty((width, min(step, n - start)), X.dtype.newbyteorder("="))
            for k, column in enumerate(columns):
                file.raw.seek((k * n + start) * item)  # a buffer would be filled for each column
                file.raw.readinto(column)
            yield columns.T


def _open_sparse(archive: NpzArchive) -> StoredMatrix:
    kind, sizes = _format(archive), archive.array("shape")
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu":
        raise DataError(f"{archive.name}: expected a sparse matrix with rows and columns, got one of another shape.")
    n, width = sizes.read_all().tolist()
    parts = [archive.array(name) for name in _PARTS[kind]]
    _check_kind(parts[0], "fiub", "real numbers")
    for part in parts[1:]:
        _check_kind(part, "iu", "integers")
    data, places, ends = parts[0], parts[1], parts[-1]
    fits = kind != "csr" or (data.shape == places.shape == (data.size,) and ends.shape == (n + 1,))
    if min(n, width) < 0 or not fits:
        raise _damaged(archive, f"it has {n} rows and {width} columns, but arrays of {[part.shape for part in parts]}")
    if kind == "csr":
        return StoredMatrix((n, width), lambda most: _csr_rows(archive, parts, (n, width), most))
    size = sum(part.nbytes for part in parts) + 8 * (n + 1)
    if size > _CONVERTED:
        what = f"{archive.name} holds a matrix in {kind.upper()} format of {size} bytes, which has to be in memory"
        hint = "save X.tocsr() instead, which is read row by row"
        raise DataError(f"{what}, expected at most {_CONVERTED}: {hint}.")
    return StoredMatrix((n, width), lambda most: _converted_rows(archive, kind, parts, (n, width), most))


def _format(archive: NpzArchive) -> str:
    array, kind = archive.array("format"), ""
    if array.size == 1 and array.dtype.kind in "SU" and array.nbytes <= 64:
        word = array.read(1)[0]
        kind = word.decode("latin-1") if isinstance(word, bytes) else str(word)
    if kind not in _PARTS:
        expected = f"a sparse matrix in one of the formats {', '.join(_PARTS)}"
        raise DataError(f"{archive.name}: expected {expected}, got {show_text(kind)}: save X.tocsr().")
    return kind


def _csr_rows(
    archive: NpzArchive, parts: list[StoredArray], shape: tuple[int, int], most: int
) -> Iterator[sp.csr_array]:
    data, indices, indptr = parts
    n, width = shape
    ends, step = indptr.read(1).astype(np.int64), min(most, _VALUES)
    for first in range(0, n, step):
        ends = np.concatenate([ends[-1:], indptr.read(min(step, n - first)).astype(np.int64)])
        _check_ends(archive, ends, data.size, 0 if first == 0 else int(ends[0]))
        for start, stop in _cuts(ends):
            size = int(ends[stop] - ends[start])
            if size > max(_VALUES, width):
                raise _damaged(archive, f"a row has {size} entries in {width} columns")
            columns = indices.read(size)
            if size and not 0 <= columns.min() <= columns.max() < width:
                raise _damaged(archive, f"an index lies outside its {width} columns")
            yield _canonical(_values(data, size), columns, ends[start : stop + 1] - ends[start], width)


def _check_ends(archive: NpzArchive, ends: np.ndarray, size: int, start: int = 0) -> None:
    """Raise an error unless the ends of rows ascend. SciPy looks at their differences, which may overflow."""
    if not len(ends) or ends[0] != start or (ends[1:] < ends[:-1]).any() or ends[-1] > size:
        raise _damaged(archive, f"indptr does not ascend from 0 to {size}")


def _converted_rows(
    archive: NpzArchive, kind: str, parts: list[StoredArray], shape: tuple[int, int], most: int
) -> Iterator[sp.csr_array]:
    data, *places = parts
    values, arrays = _values(data, data.size), [part.read_all() for part in places]
    values = values.reshape(data.shape, order="F" if data.by_columns else "C")
    given = (values, tuple(arrays)) if kind == "coo" else (values, *arrays)
    if kind in ("csc", "bsr"):
        _check_ends(archive, arrays[1], arrays[0].size)
    made = getattr(sp, f"{kind}_array")(given, shape=shape)
    if kind in ("csc", "bsr"):
        made.check_format(full_check=True)
    X = sp.csr_array(made)
    for start, stop in _cuts(X.indptr, most):
        part = X[start:stop]
        yield _canonical(part.data, part.indices, part.indptr, shape[1])


def _cuts(ends: np.ndarray, most: int = _VALUES) -> Iterator[tuple[int, int]]:
    """Yield where blocks of rows start and stop, given where each row ends; a row with many numbers is alone."""
    start = 0
    while start < len(ends) - 1:
        stop = int(np.searchsorted(ends, ends[start] + _VALUES, side="right")) - 1
        yield start, (stop := max(start + 1, min(stop, start + most)))
        start = stop


def _values(data: StoredArray, n: int) -> np.ndarray:
    values = data.read(n)
    return _floats(values) if values.dtype == np.float16 else values  # which SciPy does not add


def _canonical(values: np.ndarray, columns: np.ndarray, ends: np.ndarray, width: int) -> sp.csr_array:
    """Return rows with ascending indices, each once."""
    index = np.int32 if width < 2**31 else np.int64
    X = sp.csr_array((values, columns.astype(index), ends.astype(index)), shape=(len(ends) - 1, width))
    X.sum_duplicates()
    return sp.csr_array((_floats(X.data), X.indices, X.indptr), shape=X.shape)


def _damaged(archive: NpzArchive, what: str) -> DataError:
    return DataError(f"{archive.name} holds a damaged sparse matrix ({what}): copy it again, or save it again.")
