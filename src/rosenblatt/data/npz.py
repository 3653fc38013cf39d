"""The reader of NumPy's .npz files: an array ``X``, or a CSR matrix as SciPy saves it, and labels ``y``.

Arrays are read a few values at a time, so a damaged header cannot demand much memory. Only arrays that are stored row
by row can be read in this way: arrays in C order and CSR matrices.
"""

from __future__ import annotations

import copy
import io
import math
import struct
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, DataError, Features, is_sparse, is_text
from rosenblatt.data.source import (
    VERSION,
    Facts,
    OpenRequest,
    Preparation,
    Record,
    RowSource,
    Select,
    check_missing,
    kept_rows,
    rename_errors,
)
from rosenblatt.data.tables.reader import join_names
from rosenblatt.messages import ParameterError, shorten, show_text

ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""The exceptions that reading a damaged archive may raise."""
_HEADER_BYTES = 1 << 16


class NpzArchive(ExitStack):
    """An .npz file that is open for reading; a context manager.

    Attributes
    ----------
    name : str
        The name of the file in messages.
    arrays : set of str
        The names of its arrays.
    """

    def __init__(self, path: str, name: str) -> None:
        super().__init__()
        self.name, self._zip = name, self.enter_context(zipfile.ZipFile(path))
        entries = [entry for entry in self._zip.namelist() if entry.endswith(".npy")]
        self.arrays = {entry.removesuffix(".npy") for entry in entries}
        if len(self.arrays) < len(entries):
            twice = show_text(Counter(entries).most_common(1)[0][0])
            what = "{file} holds {twice} twice, expected each array once: save it again with np.savez."
            raise DataError(what, file=name, twice=twice)

    def array(self, name: str) -> StoredArray:
        """Open an array for reading from its start; raise a DataError if there is none with this name."""
        if name not in self.arrays:
            what = "{file} has no array {name}, which its other arrays need: save it again."
            raise DataError(what, file=self.name, name=name)
        array = StoredArray(self._zip, name, self.name)
        self.enter_context(array.values)
        return array


class StoredArray:
    """An array in an archive whose values are read in order, after its header and size have been checked.

    Attributes
    ----------
    where : str
        The name of the file and of the array in messages.
    shape : tuple of int
        The shape in the header.
    is_fortran : bool
        Whether the values are in Fortran order.
    dtype : numpy.dtype
        The type of the values; arrays of objects cannot be read.
    """

    def __init__(self, archive: zipfile.ZipFile, name: str, file: str) -> None:
        entry = archive.getinfo(name + ".npy")
        self.where = f"{file}: {name}"
        plain = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if entry.flag_bits & 1 or not plain:
            why = "is encrypted" if plain else "is compressed by another method"
            what = "{where} {why}, expected an archive as np.savez writes it: save it again with np.savez."
            raise DataError(what, where=self.where, why=why)
        with archive.open(entry) as stored:
            head = io.BytesIO(stored.read(_HEADER_BYTES))
        self.shape, self.is_fortran, self.dtype = self._read_header(head)
        expected, found = self.size * self.dtype.itemsize, entry.file_size - head.tell()
        if not self.dtype.hasobject and (expected != found or not self.dtype.itemsize):
            what = "{where} has {found} bytes, expected {expected} for shape {shape} of {type}: copy it again."
            values = {"found": found, "expected": expected, "shape": self.shape, "type": str(self.dtype)}
            raise DataError(what, where=self.where, **values)
        self.values = archive.open(entry)
        self.values.read(head.tell())

    def _read_header(self, head: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy warns about headers written by Python 2
                version = np.lib.format.read_magic(head)
                old = version == (1, 0)
                read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
                shape, is_fortran, dtype = read(head)
            reason = f"its shape is {shape}" if min(shape, default=0) < 0 else ""
        except Exception as error:  # NumPy does not document which exceptions a damaged header raises
            reason = show_text(str(error).strip().partition("\n")[0], 200)
        if reason:
            raise DataError("{where} has a damaged header ({reason}): copy it again.", where=self.where, reason=reason)
        return shape, is_fortran, dtype

    @property
    def size(self) -> int:
        """The number of values."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size of all values in bytes."""
        return self.size * self.dtype.itemsize

    def read(self, n: int) -> np.ndarray:
        """Return the next ``n`` values in the byte order of the machine; raise an EOFError if there are fewer."""
        data = self.values.read(n * self.dtype.itemsize)
        if len(data) < n * self.dtype.itemsize:
            raise EOFError(f"{self.where} ends too early")
        if self.dtype.kind == "b":
            return np.frombuffer(data, np.uint8) != 0
        return np.frombuffer(data, self.dtype).astype(self.dtype.newbyteorder("="))


_VALUES = 1 << 19
"""The maximum number of values in a block, unless a single row has more."""


class StoredMatrix(NamedTuple):
    """A matrix whose rows can be read once, in order."""

    shape: tuple[int, int]
    blocks: Callable[[int], Iterator[Features]]
    """Yields all rows in blocks of at most the given number of rows.

    float32 and float64 values keep their type, all others become float64.
    """


def _open_dense(archive: NpzArchive) -> StoredMatrix:
    X = archive.array("X")
    if len(X.shape) != 2 or not X.shape[1]:
        raise DataError("{file}: expected a two-dimensional X, got shape {shape}.", file=archive.name, shape=X.shape)
    if X.is_fortran:
        what = "{where} is stored by columns (Fortran order), expected C order: "
        raise DataError(what + "save it by rows, as in np.savez(path, X=np.ascontiguousarray(X), y=y).", where=X.where)
    _check_kind(X, "fiub", "real numbers")
    return StoredMatrix((X.shape[0], X.shape[1]), lambda most: _dense_rows(X, most))


def _check_kind(array: StoredArray, kinds: str, expected: str) -> None:
    if array.dtype.kind not in kinds:
        hint = "; objects would have to be unpickled" if array.dtype.hasobject else ""
        what, found = "{where} holds {found} values, expected {expected}{hint}.", show_text(str(array.dtype))
        raise DataError(what, where=array.where, found=found, expected=expected, hint=hint)


def _floats(values: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):  # numbers beyond float64 become infinite; their rows are reported later
        return np.ascontiguousarray(values, None if values.dtype in (np.float32, np.float64) else np.float64)


def _dense_rows(X: StoredArray, most: int) -> Iterator[np.ndarray]:
    n, width = X.shape
    step = max(1, min(most, _VALUES // width))
    for start in range(0, n, step):
        rows = min(step, n - start)
        yield _floats(X.read(rows * width).reshape(rows, width))


def _open_sparse(archive: NpzArchive) -> StoredMatrix:
    _check_format(archive)
    sizes = archive.array("shape")
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu":
        what = "{file}: expected a two-dimensional sparse matrix, got another shape."
        raise DataError(what, file=archive.name)
    n, width = sizes.read(2).tolist()
    data, indices, indptr = parts = [archive.array(name) for name in ("data", "indices", "indptr")]
    _check_kind(data, "fiub", "real numbers")
    for part in (indices, indptr):
        _check_kind(part, "iu", "integers")
    if min(n, width) < 0 or data.shape != (data.size,) or indices.shape != data.shape or indptr.shape != (n + 1,):
        raise _damaged(archive, f"it has {n} rows and {width} columns, but arrays of {[part.shape for part in parts]}")
    return StoredMatrix((n, width), lambda most: _csr_rows(archive, parts, (n, width), most))


def _check_format(archive: NpzArchive) -> None:
    array, found = archive.array("format"), ""
    if array.size == 1 and array.dtype.kind in "SU" and array.nbytes <= 64:
        word = array.read(1)[0]
        found = word.decode("latin-1") if isinstance(word, bytes) else str(word)
    if found != "csr":
        what = "{file}: expected a sparse matrix in CSR format, got {found}: save X.tocsr(), which is read row by row."
        raise DataError(what, file=archive.name, found=repr(show_text(found)))


def _csr_rows(
    archive: NpzArchive, parts: list[StoredArray], shape: tuple[int, int], most: int
) -> Iterator[sp.csr_array]:
    data, indices, indptr = parts
    n, width = shape
    ends, step = indptr.read(1).astype(np.int64), min(most, _VALUES)
    for first in range(0, n, step):
        ends = np.concatenate([ends[-1:], indptr.read(min(step, n - first)).astype(np.int64)])
        # Neighbours are compared, because the differences that SciPy checks may overflow.
        if (first == 0 and ends[0] != 0) or (ends[1:] < ends[:-1]).any() or ends[-1] > data.size:
            raise _damaged(archive, f"indptr does not ascend from 0 to {data.size}")
        for start, stop in _cuts(ends):
            size = int(ends[stop] - ends[start])
            if size > max(_VALUES, width):
                raise _damaged(archive, f"a row has {size} entries in {width} columns")
            columns = indices.read(size)
            if size and not 0 <= columns.min() <= columns.max() < width:
                raise _damaged(archive, f"an index lies outside its {width} columns")
            yield _canonical(_values(data, size), columns, ends[start : stop + 1] - ends[start], width)


def _cuts(ends: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of blocks of rows, given the end of each row in the arrays of numbers.

    A block has at most `_VALUES` numbers, except that a longer row forms a block by itself.
    """
    start = 0
    while start < len(ends) - 1:
        stop = int(np.searchsorted(ends, ends[start] + _VALUES, side="right")) - 1
        stop = max(start + 1, stop)
        yield start, stop
        start = stop


def _values(data: StoredArray, n: int) -> np.ndarray:
    values = data.read(n)
    return _floats(values) if values.dtype == np.float16 else values  # SciPy cannot add float16


def _canonical(values: np.ndarray, columns: np.ndarray, ends: np.ndarray, width: int) -> sp.csr_array:
    """Return rows in canonical CSR format: indices ascend, and values with the same index are added up."""
    index = np.int32 if width < 2**31 else np.int64
    X = sp.csr_array((values, columns.astype(index), ends.astype(index)), shape=(len(ends) - 1, width))
    X.sum_duplicates()
    return sp.csr_array((_floats(X.data), X.indices, X.indptr), shape=X.shape)


def _damaged(archive: NpzArchive, what: str) -> DataError:
    template = "{file} holds a damaged sparse matrix ({what}): copy it again, or save it again."
    return DataError(template, file=archive.name, what=what)


_LABEL_BYTES = 1 << 23
"""The maximum size in bytes of the labels of a block."""
_SPARSE_ARRAYS = "format='csr', shape=X.shape, data=X.data, indices=X.indices, indptr=X.indptr"


class _Rows(NamedTuple):
    """Consecutive rows of one file, as they are stored."""

    X: Features
    y: np.ndarray
    file: str
    first: int
    """The index of the first of these rows within the file."""
    share: float


class NpzSource(RowSource):
    """A source of the rows of .npz files, which are read a few at a time.

    float32 and float64 values keep their type, other numbers become float64. Arrays of objects raise a DataError,
    because reading them would require unpickling.
    """

    def __init__(self, request: OpenRequest) -> None:
        super().__init__(request.files, request.labels)
        if not self.files.rereadable:
            what = "{file} cannot be read as npz, which needs a file on disk: save it to a file."
            raise DataError(what, file=request.file)
        target = request.setting("target")
        self._target, self._missing = "y" if target is None else target, request.setting("missing")
        self._fill: list[float] | None = (request.preparation or {}).get("fill")
        self._skip = request.skip
        if not isinstance(self._target, str):
            raise ParameterError("{target} must name an array of the .npz file, got {got}.", got=shorten(self._target))
        check_missing(self._missing)
        self._width: int | None = request.setting("n_features")
        with self._open(0) as (X, _):
            self._width = X.shape[1]
        self._first_rows = request.first_rows
        if self._missing == "mean" and self._fill is None:
            self._fill, self.depends_on_training = self._means(), True
        self._first_fill = self._fill

    @property
    def n_features(self) -> int:
        """The number of columns of the blocks."""
        assert self._width is not None
        return self._width

    @property
    def preparation(self) -> Preparation:
        """Plain data that defines how rows are made from the files."""
        common = {"format": "npz", "version": VERSION, "n_features": self._width}
        return common | {"target": self._target, "missing": self._missing, "fill": self._fill}

    @property
    def recipe(self) -> Preparation:
        """The preparation with the means of all first rows, held out or not; it identifies the same rows."""
        return super().recipe | {"fill": self._first_fill}

    def for_other_rows(self) -> NpzSource:
        """Return a source whose means `fit_schema` computes from other rows, or this one if they are given."""
        if not self.depends_on_training and self._fill is self._first_fill:
            return self
        other = copy.copy(self)
        other.reset_counts()
        other._fill, other.depends_on_training = self._first_fill, True
        return other

    def fit_schema(
        self, select: Select, are_held_out: bool, summed: bool, record: Record | None = None
    ) -> tuple[None, bool]:
        """Compute the means for missing numbers from those of the first rows that ``select`` keeps."""
        with closing(self.blocks()) as blocks:
            first = takewhile(lambda block: block.first < self._first_rows, blocks)
            training = kept_rows(select, first)
        if len(training):
            self._fill, self.depends_on_training = self._means(training), False
        return None, False

    def facts(self) -> Facts:
        """Return the counts, and the preparation if `fit_schema` made it. Call this after the last row."""
        made = {"schema": {"preparation": self.preparation, "excluded": {}}}
        return super().facts() | ({} if self._fill is self._first_fill else made)

    def restore(self, facts: Facts) -> None:
        """Restore the counts and the means with which an earlier complete pass ended."""
        super().restore(facts)
        schema = facts.get("schema")
        if schema is not None and schema["preparation"].get("n_features") == self._width:
            self._fill, self.depends_on_training = schema["preparation"].get("fill"), False

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks. If a row cannot be read, the rows before it are yielded before the error is raised."""
        self.reset_counts()
        first = before = 0
        for rows in self._read():
            (X, bad), y = self._filled(rows.X), rows.y
            faults = dict.fromkeys(bad.tolist(), "X holds NaN or an infinite number, expected finite numbers")
            if y.dtype.kind == "f" and self.labelled:
                no_label = np.flatnonzero(~np.isfinite(y)).tolist()
                faults = dict.fromkeys(no_label, "the label is not a finite number") | faults
            self.share = rows.share
            messages = [f"{rows.file}, row {rows.first + k + 1}: {faults[k]}." for k in sorted(faults)]
            valid = np.delete(np.arange(len(y)), list(faults))
            if faults and not self._skip:
                valid = np.arange(min(faults))
            if len(valid) < len(y):
                X, y = X[valid], y[valid]
            if len(y):
                numbers = before + valid if self._skip else None
                yield Block(X, y, first, None, self.labelled and y.dtype.kind in "biufU", numbers)
                first += len(y)
            before += len(rows.y)
            for message in messages:
                if not self._skip:
                    raise DataError("{message}", message=message)
                self.record_fault(message)

    def _filled(self, X: Features) -> tuple[Features, np.ndarray]:
        """Fill in missing numbers; return the rows, and the indices of rows that still contain non-finite numbers."""
        values = X.data if is_sparse(X) else X
        if np.isfinite(values).all():
            return X, np.empty(0, np.int64)
        if self._missing != "error":
            X = X.copy()
            values = X.data if is_sparse(X) else X
            gaps = np.isnan(values)
            columns = X.indices[gaps] if is_sparse(X) else np.nonzero(gaps)[1]
            values[gaps] = 0.0 if self._fill is None else np.asarray(self._fill)[columns]
        bad = ~np.isfinite(values)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[bad] if is_sparse(X) else np.nonzero(bad)[0]
        return X, np.unique(rows)

    def _means(self, training: np.ndarray | None = None) -> list[float]:
        """Return the mean of the finite numbers of each column, over the first rows or those with these indices."""
        first_rows, parts = self._first_rows, list[np.ndarray]()
        for rows in self._read():
            if is_sparse(rows.X):
                what = "{missing='mean'} is for dense arrays, got a sparse matrix: give {missing='zero'}."
                raise ParameterError(what)
            parts.append(rows.X[: first_rows - sum(map(len, parts))])
            if sum(map(len, parts)) == first_rows:
                break
        X = np.concatenate(parts).astype(np.float64)
        columns = (X if training is None else X[training[training < len(X)]]).T
        finite = [column[np.isfinite(column)] for column in columns]
        return [math.fsum((column / max(1, len(column))).tolist()) for column in finite]

    def _read(self) -> Iterator[_Rows]:
        """Yield the rows and labels of all files as they are stored."""
        for file in range(len(self.files.names)):
            self.files.note_whole([file])
            with self._open(file) as (X, y):
                done, (n, _) = 0, X.shape
                for part in X.blocks(max(1, _LABEL_BYTES // (1 if y is None else y.dtype.itemsize))):
                    rows = part.shape[0]
                    labels = np.full(rows, np.nan) if y is None else _read_labels(y, rows)
                    share = (file + (done + rows) / n) / len(self.files.names)
                    yield _Rows(part, labels, self.files.display_name(file), done, share)
                    done += rows

    @contextmanager
    def _open(self, file: int) -> Generator[tuple[StoredMatrix, StoredArray | None], None, None]:
        """Open the matrix and the labels of a file, and check that their numbers of rows agree."""
        name, target = self.files.display_name(file), self._target
        with rename_errors(name, "npz", *ERRORS), NpzArchive(self.files.names[file], name) as archive:
            found, sparse = join_names(sorted(archive.arrays)), archive.arrays >= {"data", "format", "shape"}
            if not archive.arrays:
                what = (
                    "{file} is a zip archive, expected .npz with arrays of NumPy: unpack it, and name the files in it."
                )
                raise DataError(what, file=name)
            if self.labelled and target not in archive.arrays:
                raise DataError(
                    "{file} has no labels: expected an array {y}, got {found}; save them together, as in "
                    "np.savez(path, {y}=labels, {arrays}).",
                    file=name,
                    y=target,
                    found=found,
                    arrays=_SPARSE_ARRAYS if sparse else "X=X",
                )
            if not sparse and "X" not in archive.arrays:
                what = "{file} holds {found}, expected X and {y}, or a matrix that scipy.sparse.save_npz saved and {y}."
                raise DataError(what, file=name, found=found, y=target)
            X = _open_sparse(archive) if sparse else _open_dense(archive)
            y = self._open_labels(archive) if self.labelled else None
            if self._width is not None and X.shape[1] != self._width:
                what = "{file} has {found} columns, expected {width} as before."
                raise DataError(what, file=name, found=X.shape[1], width=self._width)
            if y is not None and X.shape[0] != y.size:
                what = "{file} has {n} rows in X, but {n_labels} labels in {y}."
                raise DataError(what, file=name, n=X.shape[0], n_labels=y.size, y=target)
            yield X, y

    def _open_labels(self, archive: NpzArchive) -> StoredArray:
        y = archive.array(self._target)
        if y.dtype.kind not in "biufUS":
            why = "would have to be unpickled, which is not done" if y.dtype.hasobject else f"are of type {y.dtype}"
            what = (
                "{file}: the labels in {y} {why}: save them as numbers or strings, as in np.array(labels, dtype=str)."
            )
            raise DataError(what, file=archive.name, y=self._target, why=show_text(why, 200))
        if len(y.shape) != 1:
            what = "{file}: expected one label for each row, got {y} of shape {shape}."
            raise DataError(what, file=archive.name, y=self._target, shape=y.shape)
        return y


def _read_labels(stored: StoredArray, n: int) -> np.ndarray:
    y = stored.read(n)
    if y.dtype.kind == "S":
        return np.char.decode(y, "utf-8")
    if not is_text(y):
        raise ValueError("a label is not valid Unicode")
    return y
