"""Sparse matrices that hold several numbers in one place: they stand for their sum, which is taken exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.given_numbers import unrounded


def unrounded_sums(X: Any, name: str) -> Any:
    """Return sparse ``X`` as CSR with one number in a place, of which float64 rounds none; else raise a ValueError.

    SciPy adds up in the type of the numbers: int8 wraps round, and floats are rounded.

    >>> unrounded_sums(sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [0, 0]))), "X").toarray()
    array([[200.]])
    """
    csr = sp.csr_array(X)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.nnz < X.nnz and X.ndim == 2 and X.dtype.kind in "iuf":
        return _add_up(X.tocoo(), name)
    unrounded(csr.data, name)
    return csr


def _add_up(X: Any, name: str) -> sp.csr_array:
    """Return the matrix with the exact sum of the numbers in each place."""
    if X.dtype.kind == "f":
        unrounded(X.data, name)
    order = np.lexsort((X.col, X.row))
    rows, columns, data = X.row[order], X.col[order], X.data[order]
    first = np.append(True, (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1]))
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], len(data))
    sums = np.zeros(len(starts))
    alone = ends - starts == 1
    unrounded(data[starts[alone]], name)
    sums[alone] = data[starts[alone]]
    for k in np.flatnonzero(~alone).tolist():
        values = data[starts[k] : ends[k]]
        total = _sum_integers(values, name) if data.dtype.kind in "iu" else _sum_floats(values)
        if total is None:
            raise ValueError(
                f"{name} holds {len(values)} numbers in row {rows[starts[k]]} and column {columns[starts[k]]}, the sum "
                "of which float64 would round: add them up yourself, and the answer is about that float."
            )
        sums[k] = total
    return sp.csr_array((sums, (rows[starts], columns[starts])), shape=X.shape)


def _sum_integers(values: NDArray[Any], name: str) -> float:
    total = sum(values.tolist())
    unrounded(np.array([total], dtype=object), name)
    return float(total)


def _sum_floats(values: NDArray[Any]) -> float | None:
    """Return the sum of floats, None where float64 would round it; not finite where one of them is not."""
    numbers = values.astype(np.float64).tolist()
    if not all(map(math.isfinite, numbers)):
        return math.nan
    try:
        total = math.fsum(numbers)
        return total if math.fsum([*numbers, -total]) == 0 else None
    except OverflowError:  # on the way, or in the end
        exact = sum(map(Fraction, numbers))
    try:
        return float(exact) if Fraction(float(exact)) == exact else None
    except OverflowError:
        return None
