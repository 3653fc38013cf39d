"""Support rows on a device, a cache of their kernel values, and bounds on the rounding errors of sums of values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.dual.kernel_values import Array, DeviceRows, Floats, KernelValues
from rosenblatt.training.rows import Matrix, pad_columns

if TYPE_CHECKING:
    from rosenblatt.training.dual.state import DualState

Integers = NDArray[np.int64]
_WIDTH = 1024
"""The number of support rows whose kernel values are cached in one array."""


class DeviceSupports:
    """The support rows of a state, copied to a device. Each row is copied only once."""

    def __init__(self, values: KernelValues, state: DualState) -> None:
        self.values, self.state = values, state
        self.length, self.longest, self.is_integer, self.terms = 0, 0.0, True, 0
        self._parts: list[DeviceRows] = []
        self._joined: DeviceRows | None = None
        self._stacked, self._capacity = False, 0

    def update(self) -> None:
        """Copy the support rows that the device does not have yet."""
        total = len(self.state.supports)
        if total == self.length:
            return
        if self.values.kernel.name != "precomputed":
            for part in self.state.supports.since(self.length):
                self._append(self.values.rows(_float_rows(part)))
                self.length += part.shape[0]
        self.length = total

    def _append(self, rows: DeviceRows) -> None:
        self.longest = max(self.longest, float(np.max(rows.lengths, initial=0.0)))
        self.is_integer, self.terms = self.is_integer and rows.is_integer, max(self.terms, rows.terms)
        self._stacked |= sp.issparse(rows.matrix) or self.values.kernel.name == "function"
        if self._stacked:
            if self._joined is not None:
                self._parts, self._joined = [self._joined[: self.length]], None
            self._parts.append(rows)
            return
        stop = self.length + len(rows.lengths)
        if self._joined is None or stop > self._capacity or self._joined.matrix.shape[1] < rows.matrix.shape[1]:
            self._grow(stop, rows)
        if self._joined is not None:
            self._joined.matrix[self.length : stop, :] = rows.matrix
            self._joined.lengths[self.length : stop] = rows.lengths
            if rows.squares is not None:
                self._joined.squares[self.length : stop] = rows.squares

    def _grow(self, stop: int, like: DeviceRows) -> None:
        """Allocate memory for twice ``stop`` rows, as wide as the rows ``like``, and copy the earlier rows to it."""
        library, dtype, old, self._capacity = self.values.library, self.values.dtype, self._joined, max(64, 2 * stop)
        matrix = library.empty((self._capacity, like.matrix.shape[1]), dtype)
        squares = None if like.squares is None else library.empty((self._capacity,), dtype)
        lengths = np.zeros(self._capacity)
        if old is not None:
            width = old.matrix.shape[1]
            matrix[: self.length, :width], matrix[: self.length, width:] = old.matrix[: self.length, :], 0.0
            lengths[: self.length] = old.lengths[: self.length]
            if squares is not None:
                squares[: self.length] = old.squares[: self.length]
        self._joined = DeviceRows(matrix, squares, lengths, False, 0)

    def rows(self, start: int, stop: int) -> DeviceRows:
        """Return the support rows with indices from ``start`` to ``stop - 1``."""
        if self._joined is None:
            matrices = [part.matrix for part in self._parts]
            width = max(matrix.shape[1] for matrix in matrices)
            if any(sp.issparse(matrix) for matrix in matrices):
                stacked: Matrix = sp.vstack(
                    [pad_columns(sp.csr_array(matrix), width) for matrix in matrices], format="csr"
                )
            else:
                stacked = np.concatenate(matrices)
            squares = None if self._parts[0].squares is None else np.concatenate([p.squares for p in self._parts])
            lengths = np.concatenate([part.lengths for part in self._parts])
            self._joined = DeviceRows(stacked, squares, lengths, False, 0)
            self._parts = [self._joined]
        return self._joined[start:stop]


class KernelTable:
    """Kernel values between the rows of one matrix and the support rows.

    Up to ``limit`` bytes of values are cached, for the oldest support rows. The other values are computed whenever they
    are needed. The cache consists of arrays with at most ``_WIDTH`` columns, whose entries are computed when needed.
    """

    def __init__(self, values: KernelValues, X: Matrix, supports: DeviceSupports, limit: float) -> None:
        self.values, self.supports, self.host = values, supports, X
        self.rows = values.rows(_float_rows(X))
        item = 8 if values.dtype == "float64" else 4
        columns = int(limit // max(1, item * X.shape[0])) if values.library.scatters else 0
        self._width = max(1, min(_WIDTH, columns)) if columns else _WIDTH
        self._most_chunks = columns // self._width
        self._chunks: list[Array] = []
        self._filled: list[NDArray[np.int32]] = []
        self._diagonal = np.full(X.shape[0], np.nan)

    def scores(self, index: Integers, coefficients: Floats) -> Array:
        """Return the scores of the rows with indices ``index``: their kernel values times ``coefficients``.

        ``coefficients`` has the shape (support rows, scores).
        """
        library = self.values.library
        total = library.put(np.zeros((len(index), coefficients.shape[1])))
        factors = library.put(coefficients)
        for start, part in self.parts(index):
            total += library.astype(part, "float64") @ factors[start : start + part.shape[1], :]
        return total

    def parts(self, index: Integers) -> Iterator[tuple[int, Array]]:
        """Yield ``(place, values)`` for blocks of support rows.

        ``place`` is the index of the first support row of the block. ``values`` are the kernel values between the rows
        with indices ``index`` and the support rows of the block.
        """
        where, n = _as_slice(index), self.supports.length
        if self.values.kernel.name == "precomputed":
            numbers = np.array(self.supports.state.supports.numbers, np.int64)
            yield 0, self.values.library.put(self.precomputed(where, numbers))
            return
        block = self._rows(where)
        for number, start in enumerate(range(0, n, self._width)):
            stop = min(start + self._width, n)
            if number < self._most_chunks:
                yield start, self._cached(number, where, index, block, stop - start)
            else:
                yield start, self.values(block, self.supports.rows(start, stop))

    def _cached(self, number: int, where: slice | Integers, index: Integers, block: DeviceRows, columns: int) -> Array:
        """Return the first ``columns`` columns of a cached array for some rows, after computing missing values."""
        # Invariant: row i has its first filled[i] columns; support rows are only appended, so that these stay valid. If
        # rows lack different numbers of columns, all of them are computed from the first missing column on, so that
        # some values are computed again.
        start = number * self._width
        if len(self._chunks) == number:
            n = self.host.shape[0]
            self._chunks.append(self.values.library.empty((n, self._width), self.values.dtype))
            self._filled.append(np.zeros(n, np.int32))
        chunk, filled = self._chunks[number], self._filled[number]
        have = filled[where]
        lacking = have < columns
        if lacking.any():
            low = int(have[lacking].min())
            some, rows = (where, block) if lacking.all() else (index[lacking], self._rows(index[lacking]))
            supports = self.supports.rows(start + low, start + columns)
            if self.values.library.is_numpy and isinstance(some, slice):
                self.values.write(rows, supports, chunk[some, low:columns])
            else:
                chunk[some, low:columns] = self.values(rows, supports)
            filled[some] = columns
        return chunk[where, :columns] if isinstance(where, slice) else chunk[where][:, :columns]

    def some_rows(self, index: Integers) -> DeviceRows:
        """Return the rows of the matrix with indices ``index``."""
        return self._rows(_as_slice(index))

    def _rows(self, where: slice | Integers) -> DeviceRows:
        """Return some rows of the matrix, selected by a slice or by their indices."""
        return self.rows[where] if isinstance(where, slice) else self.rows.take(self.values.library, where)

    def precomputed(self, where: slice | Integers, numbers: Integers) -> Floats:
        """Return the values of a precomputed kernel between rows of the matrix and the training rows ``numbers``."""
        part = self.host[where]
        return np.asarray(part.toarray() if sp.issparse(part) else part, np.float64)[:, numbers]

    def with_row(self, index: Integers, row: Matrix) -> Floats:
        """Return the kernel values between the rows ``index`` and another row, given as a matrix of one row."""
        found = self.values(self.some_rows(index), self.values.rows(_float_rows(row)))
        return self.values.library.fetch(found)[:, 0].astype(np.float64)

    def among(self, index: Integers, some: Integers) -> Array:
        """Return kernel values with a row for each of the rows ``index[some]``, and a column for each of ``index``."""
        if self.values.kernel.name == "precomputed":
            return self.values.library.put(self.precomputed(index, index[some]).T)
        block = self.some_rows(index)
        return self.values(block if len(some) == len(index) else self._rows(index[some]), block)

    def cached_line(self, index: Integers, place: int) -> Array | None:
        """Return the kernel values between the rows ``index`` and one support row, or None if some are not cached."""
        number, column = divmod(place, self._width)
        if number >= len(self._chunks) or self._filled[number][index].min() <= column:
            return None
        return self._chunks[number][index, column]

    def replace_supports(self, supports: DeviceSupports) -> None:
        """Use other support rows, and clear the cache."""
        self.supports, self._chunks, self._filled = supports, [], []

    def lengths_squared(self, coefficients: Floats, together: bool) -> Floats:
        """Return the squared norm, in the kernel's feature space, of the weights of each classifier.

        It is c' K c for the classifier's coefficients c. With ``together``, return the sum over all classifiers.
        """
        values, supports, library = self.values, self.supports, self.values.library
        if values.dtype != "float64":  # `DualState.margins` allows for roundings of float64 only
            values = KernelValues(values.kernel, library)
            supports = DeviceSupports(values, supports.state)
            supports.update()
        n = supports.length
        total = np.zeros(coefficients.shape[1])
        numbers = np.array(supports.state.supports.numbers, np.int64)
        for start in range(0, n, _WIDTH):
            part = slice(start, min(start + _WIDTH, n))
            if self.values.kernel.name == "precomputed":
                found = self.precomputed(numbers[part], numbers)
            else:
                found = library.fetch(values(supports.rows(part.start, part.stop), supports.rows(0, n)))
            total += np.einsum("ik,ik->k", coefficients[part], found.astype(np.float64) @ coefficients)
        return total.sum(keepdims=True) if together else total

    def diagonal(self, index: Integers) -> Floats:
        """Return the kernel value of each of the rows ``index`` with itself. Each value is computed only once."""
        missing = index[np.isnan(self._diagonal[index])]
        if len(missing) and self.values.kernel.name == "precomputed":
            self._diagonal[missing] = [float(self.host[row, row]) for row in missing.tolist()]
        elif len(missing):
            self._diagonal[missing] = self.values.diagonal(self.host[missing])
        return self._diagonal[index]


def _float_rows(X: Matrix) -> Matrix:
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _as_slice(index: Integers) -> slice | Integers:
    """Convert consecutive row numbers to a slice, which saves a copy; return other row numbers unchanged."""
    start, n = int(index[0]), len(index)
    if int(index[-1]) - start == n - 1 and bool(np.all(np.diff(index) == 1)):
        return slice(start, start + n)
    return index


# Bounds on the rounding errors of sums of kernel values.


TINY = 1e-290
"""Sums below this may have lost digits to underflow."""


@dataclass(frozen=True)
class SumBounds:
    """Bounds on the rounding errors of sums of factors times kernel values, for some rows of a table.

    Take a sum of n terms c_j k_j, where each kernel value k_j is at most k in absolute value and has an error of at
    most e. The error of the sum is at most sum |c_j| (e + n u k), where u is the unit roundoff. The bound is multiplied
    by 1.1, which covers what this neglects: computed values may exceed k by 6 % (see ``KernelValues.error_bounds``),
    gamma_n is a little more than n u, and the bound itself is rounded.
    """

    largest: Floats
    """The number k of each row: an upper bound on the absolute values of its kernel values with all support rows."""
    errors: Floats
    """The number e of each row: a bound on the rounding errors of these kernel values."""
    is_integer: bool
    """Whether these kernel values are integers without rounding errors."""
    tiny: float
    """A bound on the error of a sum by underflow.

    Primal weights may lose n 2**-1075 to underflow, which a row then multiplies by |x|. The bound covers this, too:
    ``errors`` and ``largest`` are at least of the order of |x|**2 in training, as a row may become a support row.
    """
    far_exponents: float
    """A bound on the relative error of exponentials of large distances, in addition to ``errors``."""
    as_computed: bool
    """Whether computed kernel values are treated as exact, because `Kernel.is_exact` is False."""

    @classmethod
    def of_rows(cls, table: KernelTable, rows: NDArray[np.int64] | None = None) -> SumBounds:
        """Return the bounds for all rows of a table, or for ``rows``, which may become support rows."""
        values, supports = table.values, table.supports
        lengths, longest = table.rows.lengths, supports.longest
        if rows is not None:
            lengths = lengths[rows]
            longest = max(longest, float(np.max(lengths, initial=0.0)))
        largest, errors = values.error_bounds(lengths, longest, max(table.rows.terms, supports.terms))
        is_integer = values.is_integer(table.rows) and supports.is_integer
        is_integer = is_integer and float(largest.max(initial=0.0)) < values.largest_integer
        gamma = values.kernel.polynomial[0] if values.kernel.polynomial else 1.0
        far = 745.0 * HALF_ULP * (table.rows.terms + supports.terms + 8.0)  # beyond exp(-745) there are no floats
        return cls(largest, errors, is_integer, TINY * max(1.0, gamma), far, not values.kernel.is_exact)

    def of_sums(self, sizes: Floats, terms: Floats, integer_factors: bool) -> Floats:
        """Return bounds on the rounding errors of sums, as an array of shape (sums, rows); 0 if the sums are exact.

        For each sum, ``sizes`` has the total of the absolute values of its factors, and ``terms`` the number of
        roundings. Set ``integer_factors`` if all factors are integers. If all kernel values are integers too, sums
        below 2**53 are exact.
        """
        most = float(sizes.max(initial=0.0)) * float(self.largest.max(initial=0.0))
        if self.as_computed or (self.is_integer and integer_factors and most < 2.0**53):
            return np.zeros((len(sizes), len(self.largest)))
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = sizes[:, None] * (self.errors + HALF_ULP * terms[:, None] * self.largest) * 1.1 + self.tiny
        return np.where(np.isnan(bounds), np.inf, bounds)

    def of_one(self, row: int, size: float, terms: float) -> float:
        """Return the bound for one sum at one row; ``size`` and ``terms`` are the sum's entries as in `of_sums`."""
        return size * float(self.errors[row] + HALF_ULP * terms * self.largest[row]) * 1.1 + self.tiny


def are_integers(values: Floats) -> bool:
    """Return whether all numbers are integers."""
    return bool(np.all(values == np.floor(values)))
