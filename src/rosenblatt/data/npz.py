"""Rows from NumPy's .npz files: ``X`` and ``y``, or a sparse matrix as SciPy saves it, and ``y``."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.io.lines import Source
from rosenblatt.data.sources import VERSION, Origin
from rosenblatt.data.tables.reader import listed

__all__ = ["ArrayOrigin"]

_VALUES = 1 << 19
_SPARSE = {"data", "indices", "indptr", "shape", "format"}


class ArrayOrigin(Origin):
    """The rows of arrays in .npz files. Dense ones are read a few rows at a time, sparse ones at once.

    float32 and float64 stay what they are, other numbers become float64. Objects are refused, as they would have to be
    unpickled.

    Parameters
    ----------
    source : Source
        The files.
    target : str
        Name of the array of labels.
    labelled : bool
        Whether it has to be there; otherwise labels are NaN.
    missing : "error", "zero" or "mean"
        What to do about NaN.
    fill : list of float, optional
        The means to fill in, decided already.
    """

    def __init__(
        self,
        source: Source,
        target: str = "y",
        labelled: bool = True,
        *,
        missing: str = "error",
        fill: list[float] | None = None,
        n_features: int | None = None,
        skip: bool = False,
        first_rows: int = 10_000,
    ) -> None:
        super().__init__(source, labelled)
        if not source.rereadable:
            raise DataError(f"{source.label(0)} cannot be read as npz, which needs a file on disk: save it to one.")
        self._target, self._missing, self._skip, self._fill = target, missing, skip, fill
        self._width = n_features
        self._width = next(iter(self._pieces()))[0].shape[1]
        if missing == "mean" and fill is None:
            self._fill = self._means(first_rows)

    @property
    def n_features(self) -> int:
        """Columns of the blocks."""
        assert self._width is not None
        return self._width

    @property
    def preparation(self) -> dict[str, Any]:
        """How rows are prepared."""
        return {
            "format": "npz",
            "version": VERSION,
            "target": self._target,
            "missing": self._missing,
            "fill": self._fill,
            "n_features": self._width,
        }

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks; where a row is at fault, those before it first."""
        self.restart()
        first = 0
        for X, y, label, row, share in self._pieces():
            X, bad = self._filled(X)
            faults = dict.fromkeys(bad.tolist(), "X holds NaN or an infinite number, expected finite numbers")
            if y.dtype.kind == "f" and self.labelled:
                faults = (
                    dict.fromkeys(np.flatnonzero(~np.isfinite(y)).tolist(), "the label is not a finite number") | faults
                )
            self.share = share
            sentences = [f"{label}, row {row + k + 1}: {faults[k]}." for k in sorted(faults)]
            kept = np.delete(np.arange(len(y)), list(faults))
            if faults and not self._skip:
                kept = np.arange(min(faults))
            if len(kept) < len(y):
                X, y = X[kept], y[kept]
            if len(y):
                yield Block(X, y, first, checked=self.labelled and y.dtype.kind in "biufU")
                first += len(y)
            for sentence in sentences:
                if not self._skip:
                    raise DataError(sentence)
                self.complain(sentence)

    def _filled(self, X: Any) -> tuple[Any, np.ndarray]:
        """Return rows with missing numbers filled in, and which of them are still at fault."""
        values = X.data if sp.issparse(X) else X
        if np.isfinite(values).all():
            return X, np.empty(0, np.int64)
        if self._missing != "error":
            X = X.copy()
            values = X.data if sp.issparse(X) else X
            gaps = np.isnan(values)
            values[gaps] = 0.0 if self._fill is None else np.broadcast_to(self._fill, values.shape)[gaps]
        bad = ~np.isfinite(values)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[bad] if sp.issparse(X) else np.nonzero(bad)[0]
        return X, np.unique(rows)

    def _means(self, first_rows: int) -> list[float]:
        rows: list[np.ndarray] = []
        for X, *_ in self._pieces():
            if sp.issparse(X):
                raise ValueError('missing="mean" is for dense arrays, got a sparse matrix: say missing="zero".')
            rows.append(X[: first_rows - sum(map(len, rows))])
            if sum(map(len, rows)) == first_rows:
                break
        columns = np.concatenate(rows).astype(np.float64).T
        finite = [column[np.isfinite(column)] for column in columns]
        return [math.fsum((column / max(1, len(column))).tolist()) for column in finite]

    def _pieces(self) -> Iterator[tuple[Any, np.ndarray, str, int, float]]:
        """Yield rows, labels, the file, the number of its rows before these, and how much has been read."""
        for file, name in enumerate(self.source.names):
            label = self.source.label(file)
            with _faults(label), zipfile.ZipFile(name) as archive:
                stored = {entry.removesuffix(".npy") for entry in archive.namelist()}
                y = self._labels(archive, stored, label)
                sparse = stored >= _SPARSE
                if not sparse and "X" not in stored:
                    raise DataError(
                        f"{label} holds {listed(sorted(stored))}, expected X and {self._target}, or a matrix that "
                        f"scipy.sparse.save_npz saved and {self._target}."
                    )
                done = 0
                for X in _sparse_rows(name, label) if sparse else _dense_rows(archive, label):
                    if self._width is not None and X.shape[1] != self._width:
                        raise DataError(f"{label} has {X.shape[1]} columns, expected {self._width} as before.")
                    if y is not None and (done + X.shape[0] > len(y)):
                        raise DataError(
                            f"{label} has more rows in X than labels in {self._target}, which has {len(y)}."
                        )
                    n = X.shape[0]
                    part = np.full(n, np.nan) if y is None else y[done : done + n]
                    done += n
                    yield X, part, label, done - n, (file + 1) / len(self.source.names)
                if y is not None and done != len(y):
                    raise DataError(f"{label} has {done} rows in X, but {len(y)} labels in {self._target}.")

    def _labels(self, archive: zipfile.ZipFile, stored: set[str], label: str) -> np.ndarray | None:
        if not self.labelled:
            return None
        if self._target not in stored:
            raise DataError(
                f"{label} has no labels: expected an array {self._target}, got {listed(sorted(stored))}; "
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


def _sparse_rows(name: str, label: str) -> Iterator[Any]:
    X = sp.csr_array(sp.load_npz(name))
    X.check_format(full_check=True)
    X.sum_duplicates()
    step = max(1, _VALUES * X.shape[0] // max(1, X.nnz))
    for start in range(0, max(1, X.shape[0]), step):
        part = X[start : start + step]
        yield sp.csr_array((_floats(part.data), part.indices, part.indptr), shape=part.shape)


def _floats(values: np.ndarray) -> np.ndarray:
    kept = values.dtype in (np.float32, np.float64)
    return np.array(values, values.dtype.newbyteorder("=") if kept else np.float64)


@contextmanager
def _faults(label: str) -> Generator[None, None, None]:
    try:
        yield
    except DataError:
        raise
    except (zipfile.BadZipFile, ValueError, EOFError, KeyError, OSError) as error:
        what = str(error).partition("\n")[0]
        raise DataError(
            f"{label} cannot be read as npz ({what}): copy it again, or say what it is by format=."
        ) from None
