"""Rows from NumPy's .npz files: ``X`` and ``y``, or a sparse matrix as SciPy saves it, and ``y``."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, DataError, Features, is_sparse
from rosenblatt.data.row_source import FILLS, VERSION, OpenRequest, Preparation, RowSource, rename_errors
from rosenblatt.data.tables.reader import join_names
from rosenblatt.parameters import ParameterError, Setting, check_choice, shorten

_VALUES = 1 << 19
"""Numbers in a block."""
_ERRORS = zipfile.BadZipFile, ValueError, EOFError, KeyError, OSError
_SPARSE = {"data", "indices", "indptr", "shape", "format"}


class _Rows(NamedTuple):
    """Rows of one file as they are stored."""

    X: Features
    y: np.ndarray
    file: str
    first: int
    """Rows of the file before these."""
    share: float


class NpzSource(RowSource):
    """The rows of arrays in .npz files. Dense ones are read a few rows at a time, sparse ones at once.

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
        check_choice("missing", self._missing, FILLS)
        self._width: int | None = given.get("n_features")
        self._width = next(self._read()).X.shape[1]
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
        first = 0
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
                yield Block(X, y, first, checked=self.labelled and y.dtype.kind in "biufU")
                first += len(y)
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
            values[gaps] = 0.0 if self._fill is None else np.broadcast_to(self._fill, values.shape)[gaps]
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
        for file, name in enumerate(self.files.names):
            label = self.files.display_name(file)
            self.files.note_whole([file])
            with rename_errors(label, "npz", *_ERRORS), zipfile.ZipFile(name) as archive:
                stored = {entry.removesuffix(".npy") for entry in archive.namelist()}
                y = self._labels(archive, stored, label)
                sparse = stored >= _SPARSE
                if not sparse and "X" not in stored:
                    raise DataError(
                        f"{label} holds {join_names(sorted(stored))}, expected X and {self._target}, or a matrix that "
                        f"scipy.sparse.save_npz saved and {self._target}."
                    )
                done = 0
                for X in _sparse_rows(name) if sparse else _dense_rows(archive, label):
                    n = X.shape[0]
                    if self._width is not None and X.shape[1] != self._width:
                        raise DataError(f"{label} has {X.shape[1]} columns, expected {self._width} as before.")
                    if y is not None and done + n > len(y):
                        raise DataError(
                            f"{label} has more rows in X than labels in {self._target}, which has {len(y)}."
                        )
                    part = np.full(n, np.nan) if y is None else y[done : done + n]
                    yield _Rows(X, part, label, done, (file + 1) / len(self.files.names))
                    done += n
                if y is not None and done != len(y):
                    raise DataError(f"{label} has {done} rows in X, but {len(y)} labels in {self._target}.")

    def _labels(self, archive: zipfile.ZipFile, stored: set[str], label: str) -> np.ndarray | None:
        if not self.labelled:
            return None
        if self._target not in stored:
            raise DataError(
                f"{label} has no labels: expected an array {self._target}, got {join_names(sorted(stored))}; "
                f"save them together, as in np.savez(path, {self._target}=labels, X=X)."
            )
        try:
            with archive.open(self._target + ".npy") as file:
                y = np.lib.format.read_array(file, allow_pickle=False)
        except ValueError:
            raise DataError(
                f"{label}: the labels in {self._target} would have to be unpickled, which is not done: save them as "
                "numbers or strings, as in np.array(labels, dtype=str)."
            ) from None
        if y.ndim != 1:
            raise DataError(f"{label}: expected one label a row, got {self._target} of shape {y.shape}.")
        return np.char.decode(y, "utf-8") if y.dtype.kind == "S" else y


def _dense_rows(archive: zipfile.ZipFile, label: str) -> Iterator[np.ndarray]:
    with archive.open("X.npy") as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = header(file)
        if len(shape) != 2:
            raise DataError(f"{label}: expected X with rows and columns, got shape {shape}.")
        if dtype.kind not in "fiub":
            raise DataError(f"{label}: expected X of numbers, got {dtype}; objects would have to be unpickled.")
        if not by_columns:
            step = max(1, _VALUES // max(1, shape[1]))
            for start in range(0, shape[0], step):
                n = min(step, shape[0] - start)
                data = file.read(n * shape[1] * dtype.itemsize)
                yield _floats(np.frombuffer(data, dtype).reshape(n, shape[1]))
            if not shape[0]:
                yield np.empty(shape)
            return
    with archive.open("X.npy") as file:
        yield np.ascontiguousarray(_floats(np.lib.format.read_array(file, allow_pickle=False)))


def _sparse_rows(name: str) -> Iterator[sp.csr_array]:
    X = sp.csr_array(sp.load_npz(name))
    X.check_format(full_check=True)
    X.sum_duplicates()
    step = max(1, _VALUES * X.shape[0] // max(1, X.nnz))
    for start in range(0, max(1, X.shape[0]), step):
        part = X[start : start + step]
        yield sp.csr_array((_floats(part.data), part.indices, part.indptr), shape=part.shape)


def _floats(values: np.ndarray) -> np.ndarray:
    floating = values.dtype in (np.float32, np.float64)
    return np.array(values, values.dtype.newbyteorder("=") if floating else np.float64)
