"""Column scaling: centres and spreads from exact sums, and scaled rows.

A number x of a column becomes (x - centre) / spread. The subtraction and the division each round once. So equal numbers
give equal results to the last bit, however rows are cut into blocks, and whether they are dense or sparse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.exact import LIMBS, UNIT, add_dense_moments, add_sparse_moments, carry_limbs, scale_sparse_rows
from rosenblatt.messages import Message, ParameterError

Floats: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Any
"""A NumPy array, or a CSR array or matrix of SciPy."""

METHODS = ("none", "standard", "maxabs")
"""The methods: no scaling, centring and division by the standard deviation, division by the largest absolute value."""
MOST_COLUMNS = {"standard": 1 << 17, "maxabs": 1 << 20}
"""The largest number of columns for each method.

For each column, exact sums take two kilobytes, and a model stores one or two numbers.
"""
_SUMS = ("nonzero", "_largest", "_sums", "_squares")
"""The arrays of `ColumnSums`."""
_CARRY = 1 << 22
"""The number of rows that are added before carries are propagated."""


@dataclass(frozen=True)
class ColumnScale:
    """The scaling of the columns of a matrix: (x - centre) / spread for each number x.

    Examples
    --------
    >>> scale = ColumnScale("standard", np.array([1]), np.array([10.0]), np.array([2.0]))
    >>> scale.apply(np.array([[7.0, 14.0], [7.0, 10.0]]))
    array([[7., 2.],
           [7., 0.]])
    """

    method: str
    features: NDArray[np.int64]
    """The columns that are scaled, in order; the others are unchanged."""
    centre: NDArray[np.float64]
    """The number subtracted from each of these columns."""
    spread: NDArray[np.float64]
    """The divisor of each of these columns."""

    def apply(self, X: Matrix) -> Matrix:
        """Return a dense or canonical CSR matrix with its columns scaled, as float64.

        Numbers that overflow become infinite.
        """
        centre, spread = self.full(X.shape[1])
        with np.errstate(over="ignore"):  # learners refuse rows with infinity
            if not sp.issparse(X):
                out = np.asarray(X, dtype=np.float64) - centre
                out /= spread
                return out
            centred = np.flatnonzero(centre)
            if not len(centred):
                scaled = type(X)((X.data / spread[X.indices], X.indices, X.indptr), shape=X.shape)
                scaled.has_canonical_format = X.has_canonical_format
                return scaled
            return _centred_rows(X, centred, centre, spread)

    def full(self, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the centre and the spread of each of the first ``width`` columns: 0 and 1 if a column is not scaled.

        >>> ColumnScale("standard", np.array([1, 3]), np.array([10.0, 5.0]), np.array([2.0, 4.0])).full(3)
        (array([ 0., 10.,  0.]), array([1., 2., 1.]))
        """
        inside = self.features < width
        centre, spread = np.zeros(width), np.ones(width)
        centre[self.features[inside]] = self.centre[inside]
        spread[self.features[inside]] = self.spread[inside]
        return centre, spread

    def to_plain(self) -> dict[str, Any]:
        """Return the scale as data for JSON."""
        numbers = {name: getattr(self, name).tolist() for name in ("features", "centre", "spread")}
        return {"method": self.method, **numbers}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> ColumnScale:
        """Return the scale that ``plain``, a result of `to_plain`, describes."""
        features = np.array(plain["features"], np.int64)
        return cls(plain["method"], features, np.array(plain["centre"], float), np.array(plain["spread"], float))


def _centred_rows(X: Matrix, centred: NDArray[np.intp], centre: Floats, spread: Floats) -> Matrix:
    n = X.shape[0]
    most = int(X.indptr[-1]) + n * len(centred)
    index = np.int32 if most < 2**31 and X.shape[1] < 2**31 else np.int64
    indptr, indices, values = np.zeros(n + 1, index), np.empty(most, index), np.empty(most)
    written = scale_sparse_rows(
        X.indptr, X.indices, X.data.astype(np.float64, copy=False), centred, centre, spread, indptr, indices, values
    )
    scaled = type(X)((values[:written], indices[:written], indptr), shape=X.shape)
    scaled.has_canonical_format = True
    return scaled


class ColumnSums:
    """Exact sums over columns, from which scales are computed; rows are added in any number of parts.

    Examples
    --------
    >>> sums = ColumnSums("standard")
    >>> sums.add(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> sums.add(np.array([[5.0, 5.0]]))
    >>> sums.scale().centre, sums.scale().spread
    (array([3., 5.]), array([1.63299316, 1.        ]))
    """

    def __init__(self, method: str) -> None:
        self.method, self.rows, self.width = method, 0, 0
        self.nonzero = np.zeros(0, np.int64)
        """For each column, the number of entries that are not 0."""
        self._largest = np.zeros(0)
        self._sums = np.zeros((0, LIMBS), np.int64)
        self._squares = np.zeros((0, LIMBS), np.int64)

    def add(self, X: Matrix) -> None:
        """Add the rows of a matrix of finite numbers, dense or CSR without duplicate entries.

        A ParameterError is raised if it has more columns than the method allows (``MOST_COLUMNS``).
        """
        self._widen(X.shape[1])
        for start in range(0, X.shape[0], _CARRY):
            self._add(X[start : start + _CARRY])

    def _add(self, X: Matrix) -> None:
        self.rows += X.shape[0]
        if sp.issparse(X):
            values = X.data[: X.indptr[-1]].astype(np.float64, copy=False)
            columns = X.indices[: X.indptr[-1]]
            self.nonzero += np.bincount(columns[values != 0.0], minlength=self.width)
            np.maximum.at(self._largest, columns, np.abs(values))
            if self.method == "standard":
                add_sparse_moments(self._sums, self._squares, values, columns)
        else:
            X = np.ascontiguousarray(X, dtype=np.float64)
            d = X.shape[1]
            self.nonzero[:d] += np.count_nonzero(X, axis=0)
            np.maximum(self._largest[:d], np.abs(X).max(axis=0, initial=0.0), out=self._largest[:d])
            if self.method == "standard":
                add_dense_moments(self._sums, self._squares, X)
        carry_limbs(self._sums)
        carry_limbs(self._squares)

    def _widen(self, width: int) -> None:
        more = width - self.width
        if more <= 0:
            return
        most = MOST_COLUMNS[self.method]
        if width > most:
            other = Message(", or use {scale='maxabs'}, which allows up to {n:,}", n=MOST_COLUMNS["maxabs"])
            raise ParameterError(
                "{scale=method} is for at most {most:,} columns, got {width:,}: leave it out{other}.",
                method=self.method,
                most=most,
                width=width,
                other=other if self.method == "standard" else "",
            )
        self.width = width
        self.nonzero, self._largest = np.pad(self.nonzero, (0, more)), np.pad(self._largest, (0, more))
        if self.method == "standard":
            self._sums = np.pad(self._sums, ((0, more), (0, 0)))
            self._squares = np.pad(self._squares, ((0, more), (0, 0)))

    def total(self, column: int) -> Fraction:
        """Return the exact sum of a column."""
        return Fraction(_integers(self._sums[column : column + 1])[0], 1 << UNIT)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the sums as arrays, for `restore`."""
        return {name: getattr(self, name) for name in _SUMS}

    def restore(self, rows: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the sums over a number of rows that `to_arrays` returned."""
        self.rows, self.width = rows, len(arrays["nonzero"])
        for name in _SUMS:
            setattr(self, name, arrays[name].copy())

    def select(self, columns: Sequence[int]) -> ColumnSums:
        """Return a copy with only these columns."""
        other = ColumnSums(self.method)
        other.rows, other.width, chosen = self.rows, len(columns), np.asarray(columns, np.int64)
        for name in _SUMS:
            setattr(other, name, getattr(self, name)[chosen])
        return other

    def fill(self, numbers: Floats, counts: NDArray[np.int64]) -> None:
        """Replace zeros by other numbers: in ``counts[j]`` rows, the 0 in column j becomes ``numbers[j]``."""
        for j in np.flatnonzero((counts > 0) & (numbers != 0.0)).tolist():
            number, count = Fraction(float(numbers[j])), int(counts[j])
            self.nonzero[j] += count
            self._largest[j] = max(self._largest[j], abs(float(number)))
            for totals, value in ((self._sums, number), (self._squares, number * number)):
                total = _integers(totals[j : j + 1])[0] + int(count * value * (1 << UNIT))
                limbs = np.frombuffer(total.to_bytes(4 * LIMBS, "little", signed=True), "<u4")
                totals[j] = limbs.astype(np.int64)

    def means(self) -> NDArray[np.float64]:
        """Return the mean of each column, computed exactly and rounded once."""
        return np.array([float(Fraction(total, self.rows << UNIT)) for total in _integers(self._sums)])

    def deviations(self) -> NDArray[np.float64]:
        """Return the standard deviation of each column (with n, not n - 1), computed exactly and rounded once."""
        out = []
        for total, squares in zip(_integers(self._sums), _integers(self._squares), strict=True):
            # n**2 times the variance, in units of 2**-(2 UNIT)
            numerator = ((self.rows * squares) << UNIT) - total * total
            out.append(_square_root(numerator, self.rows) if numerator else 0.0)
        return np.array(out)

    def scale(self, features: NDArray[np.int64] | None = None, centred: NDArray[np.bool_] | None = None) -> ColumnScale:
        """Return the scale of all columns, or only of the columns ``features``.

        ``centred`` is a mask of the columns that "standard" centres, by default all; "maxabs" centres none. A column
        whose spread would be 0 is divided by 1.
        """
        chosen = np.arange(self.width) if features is None else features[features < self.width]
        if self.method == "maxabs":
            centre, spread = np.zeros(self.width), self._largest.copy()
        else:
            centre, spread = self.means(), self.deviations()
            if centred is not None:
                centre[~centred[: self.width]] = 0.0
        spread[spread == 0.0] = 1.0
        return ColumnScale(self.method, chosen, centre[chosen], spread[chosen])


_GROWTH = 1.05
"""A running scale is computed again whenever the number of rows has grown by this factor."""


class RunningScale:
    """A column scale that is learned on the way, from the rows of a stream so far.

    The sums are exact and include every row. The scale is computed from them at each of the first rows, and later
    whenever there are 5 % more rows. So it does not depend on how rows are divided into parts. Rows that were scaled
    before are not scaled again. Sparse rows are divided, but not centred.

    Parameters
    ----------
    method : str
        "standard" or "maxabs".
    features : array, optional
        The columns to scale; by default all.

    Examples
    --------
    >>> scale = RunningScale("standard")
    >>> scale.scaled(np.array([[1.0], [3.0], [5.0]])).round(2)
    array([[0.  ],
           [1.  ],
           [1.22]])
    """

    def __init__(self, method: str, features: NDArray[np.int64] | None = None) -> None:
        self.features, self._sums = features, ColumnSums(method)
        self.fitted: ColumnScale | None = None
        """The scale at present; None before the first row."""
        self._next = 1
        """The number of rows at which the scale is computed again."""

    def scaled(self, X: Matrix, counted: NDArray[np.bool_] | None = None) -> Matrix:
        """Return consecutive rows, each scaled as the ``counted`` rows up to it determine; None counts all rows."""
        places = np.arange(X.shape[0]) if counted is None else np.flatnonzero(counted)
        parts, start, added = [], 0, 0  # invariant: X[:start] is scaled, and places[:added] are in the sums
        while self._sums.rows + len(places) - added >= self._next:
            stop = added + self._next - self._sums.rows
            place = int(places[stop - 1])
            parts.append(self._apply(X[start:place]))
            self._sums.add(self._chosen(X[places[added:stop]]))
            self._fit(sp.issparse(X))
            start, added = place, stop
        self._sums.add(self._chosen(X[places[added:]]))
        parts.append(self._apply(X[start:]))
        return sp.csr_array(sp.vstack(parts, format="csr")) if sp.issparse(X) else np.concatenate(parts)

    def _apply(self, X: Matrix) -> Matrix:
        return X if self.fitted is None or not X.shape[0] else self.fitted.apply(X)

    def _chosen(self, X: Matrix) -> Matrix:
        return X if self.features is None else X[:, self.features]

    def _fit(self, sparse: bool) -> None:
        scale = self._sums.scale(centred=np.zeros(self._sums.width, bool) if sparse else None)
        self.fitted = scale if self.features is None else replace(scale, features=self.features)
        self._next = max(self._sums.rows + 1, int(self._sums.rows * _GROWTH))

    def to_plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return data for JSON and arrays, for `restore`."""
        fitted = None if self.fitted is None else self.fitted.to_plain()
        features = None if self.features is None else self.features.tolist()
        plain = {"scaled_rows": self._sums.rows, "next_scale": self._next, "scale": fitted, "features": features}
        return plain, self._sums.to_arrays()

    def restore(self, plain: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `to_plain` returned."""
        self._sums.restore(plain["scaled_rows"], arrays)
        self._next = plain["next_scale"]
        self.features = None if plain["features"] is None else np.array(plain["features"], np.int64)
        self.fitted = None if plain["scale"] is None else ColumnScale.from_plain(plain["scale"])


def _integers(totals: NDArray[np.int64]) -> list[int]:
    """Return exact totals as integers in units of 2**-UNIT; their carries must have been propagated."""
    return [int.from_bytes(limbs.astype("<u4").tobytes(), "little", signed=True) for limbs in totals]


def _square_root(numerator: int, n: int) -> float:
    """Return ``sqrt(numerator) / n`` as a float, rounded once; ``numerator`` is in units of 2**(-2 UNIT)."""
    # The integer root has 64 bits or more. A sticky bit is appended to it, which is 1 if the root is inexact. So the
    # quotient by n rounds as the quotient of the exact root would.
    shift = max(0, 2 * (64 + n.bit_length()) - numerator.bit_length() + 1) // 2
    root = math.isqrt(numerator << 2 * shift)
    inexact = root * root != numerator << 2 * shift
    return float(Fraction(2 * root + inexact, (n << shift + 1) << UNIT))
