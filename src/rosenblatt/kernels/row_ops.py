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
from rosenblatt.kernels.simd import LANES, eight, folded, side_by_side, spread
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


# What a pass does with one example and the weights of one class or of several, laid out as is fastest for the rows.
#
# Where rows are dense, each class has a line of ``w``, shape (classes, d): a line is read as fast as the row. Where
# they are CSR, the weights of all classes stand side by side for each column, shape (d, classes): a stored number
# brings the weights of all classes in one or two cache lines. The bits of every update are the same.


def _dense_dots(rows, i, w, active, out):
    values = rows[0]
    d = w.shape[1]
    first = i * d
    fours = active.shape[0] & -4
    for turn in range(0, fours, 4):  # four classes in one reading of the row
        k0, k1, k2, k3 = active[turn], active[turn + 1], active[turn + 2], active[turn + 3]
        a, b, c, e = 0.0, 0.0, 0.0, 0.0
        for j in range(d):
            v = np.float64(at(values, first + j))
            a += w[k0, j] * v
            b += w[k1, j] * v
            c += w[k2, j] * v
            e += w[k3, j] * v
        out[k0], out[k1], out[k2], out[k3] = a, b, c, e
    for turn in range(fours, active.shape[0]):
        out[active[turn]] = dot(rows, i, w[active[turn]])


def _csr_dots(rows, i, w, active, out):
    values, indices, indptr = rows
    low, high = np.uint64(active[0]), np.uint64(active[active.shape[0] - 1] + 1)  # no test for negative indices
    for k in range(low, high):
        out[k] = 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):
        v, j = np.float64(at(values, p)), np.uint64(at(indices, p))
        for k in range(low, high):
            out[k] += w[j, k] * v


class_dots = by_layout(_dense_dots, _csr_dots, fastmath=REORDERED)
"""``class_dots(rows, i, w, active, out)``: the dot products of row ``i`` with the weights of the classes ``active``,
numbers in ascending order, each to its place in ``out``."""


def _dense_weights(rows, w, k):
    return w[k]


def _csr_weights(rows, w, k):
    return w


class_weights = by_layout(_dense_weights, _csr_weights)
"""``class_weights(rows, w, k)``: the weights of class ``k`` as the functions below take them: its line of ``w``, or all
of ``w`` where classes stand side by side. To be had once for many rows."""


@inline
def eight_weights(indices, w, k, p):
    """Return the weights of class ``k`` for the eight entries from ``p`` on, as lanes.

    They are read one by one: an instruction that reads all eight has to wait for the update before it.
    """
    return side_by_side(
        w[np.uint64(at(indices, p)), k],
        w[np.uint64(at(indices, p + 1)), k],
        w[np.uint64(at(indices, p + 2)), k],
        w[np.uint64(at(indices, p + 3)), k],
        w[np.uint64(at(indices, p + 4)), k],
        w[np.uint64(at(indices, p + 5)), k],
        w[np.uint64(at(indices, p + 6)), k],
        w[np.uint64(at(indices, p + 7)), k],
    )


def _dense_class_dot(rows, w, k, i):
    return dot(rows, i, w)


def _csr_class_dot(rows, w, k, i):
    values, indices, indptr = rows
    first, stop = np.int64(at(indptr, i)), np.int64(at(indptr, i + 1))
    whole = stop - (stop - first) % LANES
    sums = spread(0.0)
    for p in range(first, whole, LANES):
        sums = sums + eight(values, p) * eight_weights(indices, w, k, p)
    a = folded(sums)
    for p in range(whole, stop):
        a += w[np.uint64(at(indices, p)), k] * at(values, p)
    return a


class_dot = by_layout(_dense_class_dot, _csr_class_dot)
"""``class_dot(rows, w, k, i)``: the dot product of row ``i`` with the weights of class ``k``."""


def _dense_class_dot_and_square(rows, w, k, i):
    return dot_and_square(rows, i, w)


def _csr_class_dot_and_square(rows, w, k, i):
    return class_dot(rows, w, k, i), square(rows, i)


class_dot_and_square = by_layout(_dense_class_dot_and_square, _csr_class_dot_and_square)
"""``class_dot_and_square(rows, w, k, i)``: the dot product, and the squared length of row ``i``."""


def _dense_class_add(rows, w, u, k, i, step, late_step):
    add(rows, i, step, w, late_step, u)


def _csr_class_add(rows, w, u, k, i, step, late_step):
    values, indices, indptr = rows
    for p in range(at(indptr, i), at(indptr, i + 1)):
        j = at(indices, p)
        v = np.float64(at(values, p))
        w[j, k] += step * v
        u[j, k] += late_step * v


class_add = by_layout(_dense_class_add, _csr_class_add)
"""``class_add(rows, w, u, k, i, step, late_step)``: ``add`` for the weights of class ``k``."""


def _dense_class_magnitude(rows, w, k, i):
    return magnitude(rows, i, w)


def _csr_class_magnitude(rows, w, k, i):
    values, indices, indptr = rows
    total = 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):
        total += abs(w[at(indices, p), k] * at(values, p))
    return total


class_magnitude = by_layout(_dense_class_magnitude, _csr_class_magnitude, fastmath=REORDERED)
"""``class_magnitude(rows, w, k, i)``: ``magnitude`` for the weights of class ``k``."""


def _dense_class_exact(rows, w, k, i, sign, total):
    add_exactly(rows, i, w, sign, total)


def _csr_class_exact(rows, w, k, i, sign, total):
    values, indices, indptr = rows
    for p in range(indptr[i], indptr[i + 1]):
        add_product(total, w[indices[p], k], sign * np.float64(values[p]))


add_class_exactly = by_layout(_dense_class_exact, _csr_class_exact)
"""``add_class_exactly(rows, w, k, i, sign, total)``: ``add_exactly`` for the weights of class ``k``."""


def _dense_copy(rows, w, k, out):
    for j in range(w.shape[0]):
        out[k, j] = w[j]


def _csr_copy(rows, w, k, out):
    for j in range(w.shape[0]):
        out[j, k] = w[j, k]


copy_class = by_layout(_dense_copy, _csr_copy)
"""``copy_class(rows, w, k, out)``: copy the weights of class ``k`` to ``out``, which is laid out as ``w`` is."""


@plain
def settled_class(rows, w, b, k, i, a, terms, total):
    """Return ``a``, the activation of class ``k`` on row ``i``, with its sign beyond doubt (zero only if it is zero).

    ``b`` is the bias of the class, and ``total`` an exact total at zero, which is left so.
    """
    if abs(a) > doubt(terms, class_magnitude(rows, w, k, i) + abs(b)):
        return a
    add_product(total, b, 1.0)
    add_class_exactly(rows, w, k, i, 1.0, total)
    return rounded(total)


@plain
def settled_lead(rows, w, b, k, other, i, total):
    """Return the activation of class ``k`` less that of class ``other`` on row ``i``, its sign beyond doubt."""
    add_product(total, b[k], 1.0)
    add_product(total, b[other], -1.0)
    add_class_exactly(rows, class_weights(rows, w, k), k, i, 1.0, total)
    add_class_exactly(rows, class_weights(rows, w, other), other, i, -1.0, total)
    return rounded(total)
