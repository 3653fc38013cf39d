"""Exact sums of each column, of its numbers and of their squares; and rows that are centred and divided by column."""

from __future__ import annotations

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.exact import add_product


@kernel
def add_dense_moments(sums, squares, X):
    """Add the numbers of each column j of ``X`` to ``sums[j]``, their squares to ``squares[j]``.

    Each total has ``LIMBS`` limbs as ``exact.py`` describes them.
    """
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = X[i, j]
            if x != 0.0:
                add_product(sums[j], x, 1.0)
                add_product(squares[j], x, x)


@kernel
def add_sparse_moments(sums, squares, values, columns):
    """Add each number of a sparse matrix, and its square, to the totals of its column."""
    for k in range(values.shape[0]):
        x = values[k]
        if x != 0.0:
            add_product(sums[columns[k]], x, 1.0)
            add_product(squares[columns[k]], x, x)


@kernel
def scale_sparse_rows(indptr, indices, values, centred, centre, spread, out_indptr, out_indices, out_values):
    """Write the rows of a CSR matrix with every number x of column j as (x - centre[j]) / spread[j].

    ``centred`` are the columns whose centre is not 0, in order: each row gets an entry for all of them, so the arrays
    that are written to have room for ``len(values) + rows * len(centred)`` numbers. Returns how many were written.
    """
    at = 0
    for i in range(indptr.shape[0] - 1):
        k, stop, c = indptr[i], indptr[i + 1], 0
        while k < stop or c < centred.shape[0]:
            if c == centred.shape[0] or (k < stop and indices[k] < centred[c]):
                j, x = indices[k], values[k]
                k += 1
            else:
                j, x = centred[c], 0.0
                if k < stop and indices[k] == j:
                    x = values[k]
                    k += 1
                c += 1
            out_indices[at] = j
            out_values[at] = (x - centre[j]) / spread[j]
            at += 1
        out_indptr[i + 1] = at
    return at
