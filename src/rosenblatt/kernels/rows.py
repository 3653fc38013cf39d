"""What a pass does with one example, for dense and CSR rows alike.

``rows`` is a tuple: ``(values, d)`` for a C-ordered matrix laid flat, ``(values, indices, indptr)`` for CSR
with unsigned indices, none twice in a row. Values are float32 or float64; arithmetic is float64. Sums
may be taken in any order (the caller bounds their rounding); updates may not. ``multiclass`` has such functions
for the weights of several classes.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import REORDERED, at, by_layout, inline, plain, prefetch
from rosenblatt.kernels.exact import add_product, rounded
from rosenblatt.rounding import HALF_ULP

SMALLEST = 2.0**-1074
LARGE = 1e300


def _dense_dot(rows, i, w):
    values = rows[0]
    d = w.shape[0]
    first = i * d
    a = 0.0
    for j in range(d):
        a += at(w, j) * at(values, first + j)
    return a


def _csr_dot(rows, i, w):
    values, indices, indptr = rows
    a = 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):
        a += at(w, at(indices, p)) * at(values, p)
    return a


dot = by_layout(_dense_dot, _csr_dot, fastmath=REORDERED)
"""``dot(rows, i, w)``: the dot product of row ``i`` and ``w``, summed in any order."""


def _dense_dot_and_square(rows, i, w):
    values = rows[0]
    d = w.shape[0]
    first = i * d
    a, q = 0.0, 0.0
    for j in range(d):
        v = np.float64(at(values, first + j))
        a += at(w, j) * v
        q += v * v
    return a, q


def _csr_dot_and_square(rows, i, w):
    values, indices, indptr = rows
    a, q = 0.0, 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):
        v = np.float64(at(values, p))
        a += at(w, at(indices, p)) * v
        q += v * v
    return a, q


dot_and_square = by_layout(_dense_dot_and_square, _csr_dot_and_square, fastmath=REORDERED)
"""``dot_and_square(rows, i, w)``: the dot product and the squared length of row ``i`` in one reading."""


def _dense_magnitude(rows, i, w):
    values = rows[0]
    d = w.shape[0]
    first = i * d
    total = 0.0
    for j in range(d):
        total += abs(at(w, j) * at(values, first + j))
    return total


def _csr_magnitude(rows, i, w):
    values, indices, indptr = rows
    total = 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):
        total += abs(at(w, at(indices, p)) * at(values, p))
    return total


magnitude = by_layout(_dense_magnitude, _csr_magnitude, fastmath=REORDERED)
"""``magnitude(rows, i, w)``: the sum of ``|w_j x_j|``, which bounds the rounding of ``dot``."""


def _dense_square(rows, i):
    values, d = rows
    first = i * d
    q = 0.0
    for j in range(d):
        v = np.float64(at(values, first + j))
        q += v * v
    return q


def _csr_square(rows, i):
    values, _, indptr = rows
    q = 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):
        v = np.float64(at(values, p))
        q += v * v
    return q


square = by_layout(_dense_square, _csr_square, fastmath=REORDERED)
"""``square(rows, i)``: the squared length of row ``i``."""


def _dense_add(rows, i, step, w, late_step, u):
    values = rows[0]
    d = w.shape[0]
    first = i * d
    for j in range(d):
        v = np.float64(at(values, first + j))
        w[j] += step * v
        u[j] += late_step * v


def _csr_add(rows, i, step, w, late_step, u):
    values, indices, indptr = rows
    for p in range(at(indptr, i), at(indptr, i + 1)):
        j = at(indices, p)
        v = np.float64(at(values, p))
        w[j] += step * v
        u[j] += late_step * v


add = by_layout(_dense_add, _csr_add)
"""``add(rows, i, step, w, late_step, u)``: ``w += step * x`` and ``u += late_step * x``, each coordinate the
rounded product, then the rounded sum. Never fused, never reordered: these bits are promised."""


def _dense_exact(rows, i, w, sign, total):
    values = rows[0]
    d = w.shape[0]
    for j in range(d):
        add_product(total, w[j], sign * np.float64(values[i * d + j]))


def _csr_exact(rows, i, w, sign, total):
    values, indices, indptr = rows
    for p in range(indptr[i], indptr[i + 1]):
        add_product(total, w[indices[p]], sign * np.float64(values[p]))


add_exactly = by_layout(_dense_exact, _csr_exact)
"""``add_exactly(rows, i, w, sign, total)``: add ``sign`` times the dot product to an exact total."""


def _dense_warm(rows, labels, order, t):
    values, d = rows
    if t < order.shape[0]:
        i = np.int64(at(order, t))
        prefetch(labels, i)
        line = 64 // values.itemsize
        for j in range(0, d if d < 8 * line else 8 * line, line):  # further on, the machine sees the pattern
            prefetch(values, i * d + j)


def _csr_warm(rows, labels, order, t):
    values, indices, indptr = rows
    if t + 4 < order.shape[0]:
        prefetch(indptr, np.int64(at(order, t + 4)))
    if t < order.shape[0]:
        i = np.int64(at(order, t))
        prefetch(labels, i)
        start, stop = np.int64(at(indptr, i)), np.int64(at(indptr, i + 1))
        for p in range(start, stop, 64 // indices.itemsize):
            prefetch(indices, p)
        for p in range(start, stop, 64 // values.itemsize):
            prefetch(values, p)


warm = by_layout(_dense_warm, _csr_warm)
"""``warm(rows, labels, order, t)``: have the example of visit ``t`` brought into the cache."""


@inline
def doubt(terms, size):
    """Return the activation below which its sign must be settled, where ``|w| |x|`` is at most ``size``.

    A sum of ``terms`` products and a bias is off by less than half of this. Twice what is needed: an
    activation beyond it keeps at least half of its computed size, so the smallest activation of a
    clean pass proves a positive margin.
    """
    if not (size < LARGE):  # sums may overflow on the way
        return math.inf
    return (terms + 4) * (2.02 * HALF_ULP * size + 8.0 * SMALLEST)


@plain
def settled(rows, i, w, b, a, terms, total):
    """Return ``a``, the activation of row ``i``, with its sign beyond doubt (zero only if it is zero).

    ``total`` is an exact total at zero, and is left so.
    """
    if abs(a) > doubt(terms, magnitude(rows, i, w) + abs(b)):
        return a
    add_product(total, b, 1.0)
    add_exactly(rows, i, w, 1.0, total)
    return rounded(total)


@plain
def settled_difference(rows, i, w, b, v, c, total):
    """Return the activation of ``(w, b)`` less that of ``(v, c)`` on row ``i``, its sign beyond doubt."""
    add_product(total, b, 1.0)
    add_product(total, c, -1.0)
    add_exactly(rows, i, w, 1.0, total)
    add_exactly(rows, i, v, -1.0, total)
    return rounded(total)
