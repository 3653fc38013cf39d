"""What a pass does with one example and the weights of one class or of several, laid out as is fastest for the rows.

Where rows are dense, each class has a line of ``w``, shape (classes, d): a line is read as fast as the row. Where they
are CSR, the weights of all classes stand side by side for each column, shape (d, classes): a stored number brings the
weights of all classes in one or two cache lines. The bits of every update are the same.
"""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.compiler import REORDERED, at, by_layout, inline, plain
from rosenblatt.kernels.exact import add_product, rounded
from rosenblatt.kernels.lanes import LANES, eight, folded, side_by_side, spread
from rosenblatt.kernels.rows import add, add_exactly, dot, dot_and_square, doubt, magnitude, square


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


def _dense_dot(rows, w, k, i):
    return dot(rows, i, w)


def _csr_dot(rows, w, k, i):
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


class_dot = by_layout(_dense_dot, _csr_dot)
"""``class_dot(rows, w, k, i)``: the dot product of row ``i`` with the weights of class ``k``."""


def _dense_dot_and_square(rows, w, k, i):
    return dot_and_square(rows, i, w)


def _csr_dot_and_square(rows, w, k, i):
    return class_dot(rows, w, k, i), square(rows, i)


class_dot_and_square = by_layout(_dense_dot_and_square, _csr_dot_and_square)
"""``class_dot_and_square(rows, w, k, i)``: the dot product, and the squared length of row ``i``."""


def _dense_add(rows, w, u, k, i, step, late_step):
    add(rows, i, step, w, late_step, u)


def _csr_add(rows, w, u, k, i, step, late_step):
    values, indices, indptr = rows
    for p in range(at(indptr, i), at(indptr, i + 1)):
        j = at(indices, p)
        v = np.float64(at(values, p))
        w[j, k] += step * v
        u[j, k] += late_step * v


class_add = by_layout(_dense_add, _csr_add)
"""``class_add(rows, w, u, k, i, step, late_step)``: ``add`` for the weights of class ``k``."""


def _dense_magnitude(rows, w, k, i):
    return magnitude(rows, i, w)


def _csr_magnitude(rows, w, k, i):
    values, indices, indptr = rows
    total = 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):
        total += abs(w[at(indices, p), k] * at(values, p))
    return total


class_magnitude = by_layout(_dense_magnitude, _csr_magnitude, fastmath=REORDERED)
"""``class_magnitude(rows, w, k, i)``: ``magnitude`` for the weights of class ``k``."""


def _dense_exact(rows, w, k, i, sign, total):
    add_exactly(rows, i, w, sign, total)


def _csr_exact(rows, w, k, i, sign, total):
    values, indices, indptr = rows
    for p in range(indptr[i], indptr[i + 1]):
        add_product(total, w[indices[p], k], sign * np.float64(values[p]))


add_class_exactly = by_layout(_dense_exact, _csr_exact)
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
