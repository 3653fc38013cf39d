"""Rows from NumPy's .npz files: ``X`` and ``y``, or a sparse matrix as SciPy saves it, and ``y``."""

from __future__ import annotations

import math
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from rosenblatt.blocks import Block, DataError, Features, is_sparse
from rosenblatt.data.io.npz_arrays import ERRORS, NpzArchive, StoredArray
from rosenblatt.data.npz_matrices import StoredMatrix, is_sparse_archive, open_matrix
from rosenblatt.data.row_source import VERSION, OpenRequest, Preparation, RowSource, check_missing, rename_errors
from rosenblatt.data.tables.column_names import join_names
from rosenblatt.parameters import ParameterError, Setting, shorten, show_text

_LABEL_BYTES = 1 << 23
"""The most bytes of the labels of a block."""
_SPARSE_ARRAYS = "format='csr', shape=X.shape, data=X.data, indices=X.indices, indptr=X.indptr"


class _Rows(NamedTuple):
    """Rows of one file as they are stored."""

    X: Features
    y: np.ndarray
    file: str
    first: int
    """Rows of the file before these."""
    share: float


class NpzSource(RowSource):
    """The rows of arrays in .npz files, read a few at a time; sparse matrices in another format than CSR at once.

    float32 and float64 keep their type, other numbers become float64. Objects are refused, as they would have to be
    unpickled.
    """

    def __init__(self, request: OpenRequest) -> None:
        super().__init__(request.files, request.labels)
        if not self.files.rereadable:
            raise DataError(f"{request.file} cannot be read as npz, which needs a file on disk: save it to one.")
        given = request.preparation or request.options
        self._target, self._missing = given.get("target", "y"), given.get("missing", "error")
        self._fill: list[float] | None = given.get("fill")
        self._skip = request.skip
        if not isinstance(self._target, str):
            what = f" must name an array of the .npz file, got {shorten(self._target)}."
            raise ParameterError(Setting("target"), what)
        check_missing(self._missing)
        self._width: int | None = given.get("n_features")
        with self._open(0) as (X, _):
            self._width = X.shape[1]
        if self._missing == "mean" and self._fill is None:
            self._fill = self._means(request.first_rows)

    @property
    def n_features(self) -> int:
        """Columns of the blocks."""
        assert self._width is not None
        return self._width

    @property
    def preparation(self) -> Preparation:
        """How rows are made."""
        common = {"format": "npz", "version": VERSION, "n_features": self._width}
        return common | {"target": self._target, "missing": self._missing, "fill": self._fill}

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks; where a row is at fault, those before it first."""
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
                    raise DataError(message)
                self.record_fault(message)

    def _filled(self, X: Features) -> tuple[Features, np.ndarray]:
        """Return rows with missing numbers filled in, and which of them are still at fault."""
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

    def _means(self, first_rows: int) -> list[float]:
        parts: list[np.ndarray] = []
        for rows in self._read():
            if is_sparse(rows.X):
                mean, zero = Setting("missing", "mean"), Setting("missing", "zero")
                raise ParameterError(mean, " is for dense arrays, got a sparse matrix: give ", zero, ".")
            parts.append(rows.X[: first_rows - sum(map(len, parts))])
            if sum(map(len, parts)) == first_rows:
                break
        columns = np.concatenate(parts).astype(np.float64).T
        finite = [column[np.isfinite(column)] for column in columns]
        return [math.fsum((column / max(1, len(column))).tolist()) for column in finite]

    def _read(self) -> Iterator[_Rows]:
        """Yield rows and labels as they are stored."""
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
        """Open the matrix and the labels of a file, if it has them as expected."""
        name, target = self.files.display_name(file), self._target
        with rename_errors(name, "npz", *ERRORS), NpzArchive(self.files.names[file], name) as archive:
            found, sparse = join_names(sorted(archive.arrays)), is_sparse_archive(archive)
            if self.labelled and target not in archive.arrays:
                arrays = "X=X" if not sparse else _SPARSE_ARRAYS
                hint = f"save them together, as in np.savez(path, {target}=labels, {arrays})"
                raise DataError(f"{name} has no labels: expected an array {target}, got {found}; {hint}.")
            if not sparse and "X" not in archive.arrays:
                matrix = "a matrix that scipy.sparse.save_npz saved"
                raise DataError(f"{name} holds {found}, expected X and {target}, or {matrix} and {target}.")
            X = open_matrix(archive)
            y = self._open_labels(archive) if self.labelled else None
            if self._width is not None and X.shape[1] != self._width:
                raise DataError(f"{name} has {X.shape[1]} columns, expected {self._width} as before.")
            if y is not None and X.shape[0] != y.size:
                raise DataError(f"{name} has {X.shape[0]} rows in X, but {y.size} labels in {target}.")
            yield X, y

    def _open_labels(self, archive: NpzArchive) -> StoredArray:
        y = archive.array(self._target)
        if y.dtype.kind not in "biufUS":
            why = "would have to be unpickled, which is not done" if y.dtype.hasobject else f"are of type {y.dtype}"
            what, hint = f"the labels in {self._target}", "save them as numbers or strings, as in"
            raise DataError(f"{archive.name}: {what} {show_text(why, 200)}: {hint} np.array(labels, dtype=str).")
        if len(y.shape) != 1:
            raise DataError(f"{archive.name}: expected one label a row, got {self._target} of shape {y.shape}.")
        return y


def _read_labels(stored: StoredArray, n: int) -> np.ndarray:
    y = stored.read(n)
    if y.dtype.kind == "S":
        return np.char.decode(y, "utf-8")
    if y.dtype.kind == "U":
        codes = y.view(np.uint32)
        if ((codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise ValueError("a label has characters that are none of Unicode")
    return y
