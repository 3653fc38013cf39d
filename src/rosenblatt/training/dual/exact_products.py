"""Dot products and distances between rows and one row, exactly, as integers over a power of two."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.exact import LIMBS, UNIT
from rosenblatt.kernels.exact_sums import add_row_products, carry_limbs

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Ratios(NamedTuple):
    """Rational numbers ``above[i] / below``; ``below`` is a power of two."""

    above: list[int]
    below: int


def exact_dots(rows: Any, x: Any) -> Ratios:
    """Return the dot products of all rows with ``x``.

    ``rows`` is a matrix, dense or CSR without duplicates; ``x`` an array of one dimension or a CSR matrix of one row.
    All numbers are finite, and columns that either has not are 0.

    >>> exact_dots(np.array([[0.5, 1.0], [3.0, 0.0]]), np.array([0.25, 0.0]))
    Ratios(above=[1, 6], below=8)
    """
    if sp.issparse(rows):
        pairs = _paired_entries(rows, x)
    else:  # only the columns in which x is not 0
        at = _at_columns(x, np.arange(rows.shape[1]))
        used = np.flatnonzero(at)
        pairs = _paired_entries(rows[:, used], at[used])
    return _as_ratios(_totals(*pairs))


def exact_squared_distances(rows: Any, x: Any) -> Ratios:
    """Return the squared Euclidean distances of all rows, as ``exact_dots`` takes them, to ``x``.

    >>> exact_squared_distances(np.array([[0.5, 1.0], [3.0, 0.0]]), np.array([0.0, 2.0]))
    Ratios(above=[5, 52], below=4)
    """
    values, others, pointers = _paired_entries(rows, x)  # (v - x)^2 = v v - 2 v x + x x
    totals = _totals(values, values, pointers) - 2 * _totals(values, others, pointers)
    own = _own_values(x)
    return _as_ratios(totals + _totals(own, own))


def exact_distances(rows: Any, x: Any) -> Ratios:
    """Return the sums of absolute differences of all rows, as ``exact_dots`` takes them, to ``x``.

    >>> exact_distances(np.array([[0.5, 1.0], [3.0, 0.0]]), np.array([0.0, 2.0]))
    Ratios(above=[3, 10], below=2)
    """
    values, others, pointers = _paired_entries(rows, x)  # |v - x| = s v - s x, less |x|, which own has for all columns
    signs = np.where(values > others, 1.0, -1.0)
    totals = _totals(signs, values, pointers) - _totals(signs, others, pointers)
    totals -= _totals(np.sign(others), others, pointers)
    own = _own_values(x)
    return _as_ratios(totals + _totals(np.sign(own), own))


def _paired_entries(rows: Any, x: Any) -> tuple[Floats, Floats, Integers]:
    """Return the stored numbers of all rows, the number of x in the column of each, and where each row begins."""
    if sp.issparse(rows):
        stored = rows.indptr[-1]
        return rows.data[:stored], _at_columns(x, rows.indices[:stored]), rows.indptr.astype(np.int64)
    n, d = rows.shape
    return rows.ravel(), np.tile(_at_columns(x, np.arange(d)), n), np.arange(n + 1, dtype=np.int64) * d


def _at_columns(x: Any, columns: NDArray[Any]) -> Floats:
    """Return the numbers of the row ``x`` in these columns; 0 where it has none."""
    found = np.zeros(len(columns))
    if not sp.issparse(x):
        inside = columns < len(x)
        found[inside] = x[columns[inside]]
    elif x.nnz:
        order = np.argsort(x.indices[: x.nnz])
        stored = x.indices[order]
        places = np.minimum(np.searchsorted(stored, columns), len(stored) - 1)
        inside = stored[places] == columns
        found[inside] = x.data[order][places[inside]]
    return found


def _own_values(x: Any) -> Floats:
    return x.data[: x.nnz] if sp.issparse(x) else x


def _totals(u: Floats, v: Floats, pointers: Integers | None = None) -> Integers:
    """Return the sums of products of each row, of all entries by default, in limbs that are still to be carried."""
    if pointers is None:
        pointers = np.array([0, len(u)])
    totals = np.zeros((len(pointers) - 1, LIMBS), np.int64)
    add_row_products(totals, _for_kernel(u, np.float64), _for_kernel(v, np.float64), _for_kernel(pointers, np.int64))
    carry_limbs(totals)
    return totals


def _for_kernel(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return a view or copy that is contiguous and cannot be written to, so that kernels have one type only."""
    out = np.ascontiguousarray(array, dtype=dtype).view()
    out.flags.writeable = False
    return out


def _as_ratios(totals: Integers) -> Ratios:
    carry_limbs(totals)
    used = np.flatnonzero(totals.any(axis=0))
    first = min(int(used[0]), UNIT // 32) if len(used) else UNIT // 32  # zeros at the end of all are left out
    limbs = np.ascontiguousarray(totals[:, first:], dtype="<u4")
    above = [int.from_bytes(line.tobytes(), "little", signed=True) for line in limbs]
    shift = UNIT - 32 * first
    common = min(shift, min(((value & -value).bit_length() - 1 for value in above if value), default=shift))
    return Ratios([value >> common for value in above], 1 << (shift - common))
