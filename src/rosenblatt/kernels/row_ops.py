"""Operations on one row and one vector of weights: dot products, updates, exact signs.

``rows`` is a tuple: ``(values, d)`` for a C-ordered matrix as a flat array, or ``(values, indices, indptr)`` for CSR
with unsigned indices and no duplicates within a row. Values are float32 or float64; arithmetic is float64.

A vector of weights is an array of shape (d,), or a pair ``(matrix, k)`` that means column k of a matrix of shape
(d, classes). For dense rows ``w`` has shape (classes, d), so the weights of a class are contiguous, like a row. For CSR
rows ``w`` has shape (d, classes), so the weights of all classes for a stored entry are contiguous. ``class_weights``
returns the vector of a class. For CSR rows and a single classifier, ``w`` is that vector itself: an array, or, if there
are variances, a pair ``(quads, part)``. Quads are four numbers for each column: the weight, its variance, its entry in
the cached sums of averages, and an unused one, so that the processor reads and writes all of them at once. ``part``, of
type uint64, says which of these numbers is meant.

Most operations have one body for all layouts: ``span`` and ``column`` hide the layout of rows, ``weight`` and
``set_weight`` the layout of weights. Sums may be computed in any order, because the caller bounds their rounding.
Updates may not be reordered.

Loops that take most of the time have a form with array operations beside them, which interpreted kernels call (see
``parts.instead_of``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.exact import add_product, rounded
from rosenblatt.kernels.parts import (
    REORDERED,
    RETURNS_ARRAY,
    Function,
    at,
    by_layout,
    chosen,
    helper,
    inlined,
    instead_of,
    prefetch,
    reordered,
)
from rosenblatt.kernels.simd import LANES, horizontal_sum, load_lanes, pack_lanes, spread
from rosenblatt.rounding import HALF_ULP

SMALLEST = 2.0**-1074  # the smallest float64 above 0
LARGE = 1e300  # a sum whose absolute terms add up to less than this does not overflow on the way


# the entries of a row: where they begin, how many there are, and their columns


def _dense_span(rows, i):
    d = rows[1]
    return i * d, d


def _csr_span(rows, i):
    indptr = rows[2]
    first = np.int64(at(indptr, i))
    return first, np.int64(at(indptr, i + 1)) - first


span = by_layout(_dense_span, _csr_span)
"""``span(rows, i)``: return where row ``i`` begins in ``values``, and the number of its entries."""


def _dense_column(rows, first, j):
    return j


def _csr_column(rows, first, j):
    return np.uint64(at(rows[1], first + j))  # unsigned: no test for a negative index


column = by_layout(_dense_column, _csr_column)
"""``column(rows, first, j)``: return the column of entry ``j`` of the row that begins at ``first``."""


# the weights of a class


def _dense_class_weights(rows, w, k):
    return w[k]


def _only_weights(w, k):
    return w


def _matrix_column(w, k):
    return w, k


_csr_weights = chosen(lambda w: _matrix_column if getattr(w, "ndim", 1) == 2 else _only_weights, **RETURNS_ARRAY)


def _csr_class_weights(rows, w, k):
    return _csr_weights(w, k)


class_weights = by_layout(_dense_class_weights, _csr_class_weights, **RETURNS_ARRAY)
"""``class_weights(rows, w, k)``: return the vector of weights of class ``k``."""


def is_quad_part(w: Any) -> bool:
    """Return whether a vector of weights, or numba's type of it, is a pair ``(quads, part)``."""
    return not hasattr(w, "ndim") and w[0].ndim == 1


def _by_weights(array: Function, matrix_column: Function, quad_part: Function) -> Function:
    return chosen(lambda w: array if hasattr(w, "ndim") else quad_part if is_quad_part(w) else matrix_column)


def _array_weight(w, j):
    return at(w, j)


def _column_weight(w, j):
    return w[0][j, w[1]]


@inlined
def quad(j):
    """Return where the quad of column ``j`` begins."""
    return np.uint64(4) * np.uint64(j)


def _quad_weight(w, j):
    return at(w[0], quad(j) + w[1])


weight = _by_weights(_array_weight, _column_weight, _quad_weight)
"""``weight(w, j)``: return entry ``j`` of a vector of weights."""


def _set_array_weight(w, j, value):
    w[j] = value


def _set_column_weight(w, j, value):
    w[0][j, w[1]] = value


def _set_quad_weight(w, j, value):
    w[0][quad(j) + w[1]] = value


set_weight = _by_weights(_set_array_weight, _set_column_weight, _set_quad_weight)
"""``set_weight(w, j, value)``: set entry ``j`` of a vector of weights to ``value``."""


def _array_length(w):
    return w.shape[0]


def _column_length(w):
    return w[0].shape[0]


def _quad_length(w):
    return w[0].shape[0] // 4


_length = _by_weights(_array_length, _column_length, _quad_length)


def _dense_lanes(rows, w, first, j):
    return load_lanes(w, j)


def _csr_lanes(rows, w, first, j):
    return pack_lanes(
        weight(w, column(rows, first, j)),
        weight(w, column(rows, first, j + 1)),
        weight(w, column(rows, first, j + 2)),
        weight(w, column(rows, first, j + 3)),
        weight(w, column(rows, first, j + 4)),
        weight(w, column(rows, first, j + 5)),
        weight(w, column(rows, first, j + 6)),
        weight(w, column(rows, first, j + 7)),
    )


weight_lanes = by_layout(_dense_lanes, _csr_lanes)
"""``weight_lanes(rows, w, first, j)``: return the weights of the entries ``j`` to ``j + 7`` of the row that begins at
``first``. For CSR rows they are read one by one: a gather of all eight would wait for the stores of the last update."""


@kernel
def has_duplicates(indices, indptr, marks):
    """Return whether some CSR row has several entries for one column.

    ``marks`` is scratch space with a zero for each column. There must be fewer than 2**32 - 1 rows.
    """
    for i in range(indptr.shape[0] - 1):
        found = False
        for p in range(np.int64(at(indptr, i)), np.int64(at(indptr, i + 1))):
            # invariant: ``marks[j]`` is 1 + the number of the last row with an entry for column j
            j = np.uint64(at(indices, p))
            found |= at(marks, j) == i + 1
            marks[j] = i + 1
        if found:
            return True
    return False


@inlined
def quad_places(rows, first, j):
    """Return where the quads of the entries ``j`` to ``j + 7`` of the row that begins at ``first`` begin."""
    return (
        quad(column(rows, first, j)),
        quad(column(rows, first, j + 1)),
        quad(column(rows, first, j + 2)),
        quad(column(rows, first, j + 3)),
        quad(column(rows, first, j + 4)),
        quad(column(rows, first, j + 5)),
        quad(column(rows, first, j + 6)),
        quad(column(rows, first, j + 7)),
    )


def _entries(rows, i):
    """Return the values of row ``i`` as float64 and an index that selects their weights, for array operations."""
    first, n = span(rows, i)
    values = rows[0][first : first + n].astype(np.float64, copy=False)
    return values, slice(None) if len(rows) == 2 else rows[1][first : first + n]


def _place(w, index):
    """Return an array and an index of it, for the entries of a vector of weights that ``index`` selects."""
    if hasattr(w, "ndim"):
        return w, index
    return w[0], quad(index) + w[1] if is_quad_part(w) else (index, w[1])


def _weights_at(w, index):
    array, places = _place(w, index)
    return array[places]


# sums over a row, in any order


@reordered
def _dot(rows, i, w):
    values = rows[0]
    first, n = span(rows, i)
    a = 0.0
    for j in range(n):
        a += weight(w, column(rows, first, j)) * at(values, first + j)
    return a


@instead_of(_dot)
def dot(rows, i, w):
    """Return the dot product of row ``i`` and ``w``."""
    values, index = _entries(rows, i)
    return (values * _weights_at(w, index)).sum()


@reordered
def _dot_and_square(rows, i, w):
    values = rows[0]
    first, n = span(rows, i)
    a, q = 0.0, 0.0
    for j in range(n):
        v = np.float64(at(values, first + j))
        a += weight(w, column(rows, first, j)) * v
        q += v * v
    return a, q


@instead_of(_dot_and_square)
def dot_and_square(rows, i, w):
    """Return the dot product of row ``i`` and ``w``, and the squared norm of the row, reading it once."""
    return dot(rows, i, w), square(rows, i)


@reordered
def _square(rows, i):
    values = rows[0]
    first, n = span(rows, i)
    q = 0.0
    for j in range(n):
        v = np.float64(at(values, first + j))
        q += v * v
    return q


@instead_of(_square)
def square(rows, i):
    """Return the squared norm of row ``i``."""
    values, _ = _entries(rows, i)
    return (values * values).sum()


@reordered
def _absolute_sum(rows, i):
    values = rows[0]
    first, n = span(rows, i)
    total = 0.0
    for j in range(n):
        total += abs(np.float64(at(values, first + j)))
    return total


@instead_of(_absolute_sum)
def absolute_sum(rows, i):
    """Return the sum of the absolute values in row ``i``."""
    values, _ = _entries(rows, i)
    return np.abs(values).sum()


@reordered
def magnitude(rows, i, w):
    """Return the sum of ``|w_j x_j|``, to which the rounding error of ``dot`` is proportional."""
    values = rows[0]
    first, n = span(rows, i)
    total = 0.0
    for j in range(n):
        total += abs(weight(w, column(rows, first, j)) * at(values, first + j))
    return total


def _dense_lane_dot(rows, i, w):
    # four sums in turn, because each waits for its own last addition only
    values = rows[0]
    first, n = span(rows, i)
    four, whole = n - n % (4 * LANES), n - n % LANES
    one, two, three, last = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    for j in range(0, four, 4 * LANES):
        one = one + load_lanes(values, first + j) * load_lanes(w, j)
        two = two + load_lanes(values, first + j + LANES) * load_lanes(w, j + LANES)
        three = three + load_lanes(values, first + j + 2 * LANES) * load_lanes(w, j + 2 * LANES)
        last = last + load_lanes(values, first + j + 3 * LANES) * load_lanes(w, j + 3 * LANES)
    sums = (one + two) + (three + last)
    for j in range(four, whole, LANES):
        sums = sums + load_lanes(values, first + j) * load_lanes(w, j)
    a = horizontal_sum(sums)
    for j in range(whole, n):
        a += weight(w, j) * at(values, first + j)
    return a


def _csr_lane_dot(rows, i, w):
    values = rows[0]
    first, n = span(rows, i)
    whole = n - n % LANES
    sums = spread(0.0)
    for j in range(0, whole, LANES):
        sums = sums + load_lanes(values, first + j) * weight_lanes(rows, w, first, j)
    a = horizontal_sum(sums)
    for j in range(whole, n):  # the entries that do not fill the lanes
        a += weight(w, column(rows, first, j)) * at(values, first + j)
    return a


steady_dot = by_layout(_dense_lane_dot, _csr_lane_dot)
"""``steady_dot(rows, i, w)``: return the result of ``dot``, summed in a fixed order: the same bits on all machines."""


def _dense_dot(rows, i, w):
    return dot(rows, i, w)


def _csr_four_dot(rows, i, w):
    # Four sums in turn, because each waits for its own last addition only. Packing the weights into lanes takes longer
    # than the multiplications that this saves.
    values = rows[0]
    first, n = span(rows, i)
    four = n & -4
    one, two, three, last = 0.0, 0.0, 0.0, 0.0
    for j in range(0, four, 4):
        one += weight(w, column(rows, first, j)) * at(values, first + j)
        two += weight(w, column(rows, first, j + 1)) * at(values, first + j + 1)
        three += weight(w, column(rows, first, j + 2)) * at(values, first + j + 2)
        last += weight(w, column(rows, first, j + 3)) * at(values, first + j + 3)
    for j in range(four, n):
        one += weight(w, column(rows, first, j)) * at(values, first + j)
    return (one + two) + (three + last)


_pass_dot = by_layout(_dense_dot, _csr_four_dot)


@instead_of(_pass_dot)
def pass_dot(rows, i, w):
    """Return the result of ``dot``, up to rounding; faster if an update has just written ``w`` (``weight_lanes``)."""
    return dot(rows, i, w)


def _dense_dot_and_square(rows, i, w):
    return dot_and_square(rows, i, w)


def _csr_dot_and_square(rows, i, w):
    return pass_dot(rows, i, w), square(rows, i)


pass_dot_and_square = by_layout(_dense_dot_and_square, _csr_dot_and_square)
"""``pass_dot_and_square(rows, i, w)``: return the result of ``pass_dot``, and the squared norm of row ``i``."""


def _dense_class_dots(rows, i, w, active, out):
    values = rows[0]
    d = w.shape[1]
    first = i * d
    fours = active.shape[0] & -4
    for turn in range(0, fours, 4):  # four classes each time the row is read
        k0, k1, k2, k3 = active[turn], active[turn + 1], active[turn + 2], active[turn + 3]
        a, b, c, e = 0.0, 0.0, 0.0, 0.0
        for j in range(d):
            v = np.float64(at(values, first + j))
            a += w[k0, j] * v
            b += w[k1, j] * v
            c += w[k2, j] * v
            e += w[k3, j] * v
        out[k0], out[k1], out[k2], out[k3] = a, b, c, e
    for turn in range(fours, active.shape[0]):  # the last one to three classes
        out[active[turn]] = dot(rows, i, w[active[turn]])


def _csr_class_dots(rows, i, w, active, out):
    values, indices, indptr = rows
    # Vector code over all classes from the first to the last active one: inactive classes between them cost less than a
    # test would. The bounds are unsigned, which avoids a test for negative indices.
    low, high = np.uint64(active[0]), np.uint64(active[active.shape[0] - 1] + 1)
    for k in range(low, high):
        out[k] = 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):  # invariant: ``out`` has the sums over the entries before p
        v, j = np.float64(at(values, p)), np.uint64(at(indices, p))
        for k in range(low, high):
            out[k] += w[j, k] * v


_class_dots = by_layout(_dense_class_dots, _csr_class_dots, fastmath=REORDERED)


@instead_of(_class_dots)
def class_dots(rows, i, w, active, out):
    """Write the dot product of row ``i`` and the weights of class k to ``out[k]``, for each k in ``active``.

    ``active`` is an ascending array. The entries of other classes in ``out`` may be overwritten.
    """
    for k in active:
        out[k] = dot(rows, i, class_weights(rows, w, k))


# updates: in each coordinate a rounded product, then a rounded sum


@inlined
def _add(rows, i, step, w, average_step, u):
    # Never fused or reordered: the product is rounded, then the sum, so that all machines get the same bits.
    values = rows[0]
    first, n = span(rows, i)
    for j in range(n):
        c = column(rows, first, j)
        v = np.float64(at(values, first + j))
        set_weight(w, c, weight(w, c) + step * v)
        set_weight(u, c, weight(u, c) + average_step * v)


@instead_of(_add)
def add(rows, i, step, w, average_step, u):
    """Add ``step`` times row ``i`` to ``w`` and ``average_step`` times it to ``u``."""
    values, index = _entries(rows, i)
    _add_at(w, index, step * values)
    _add_at(u, index, average_step * values)


def _add_at(w, index, numbers):
    array, places = _place(w, index)
    array[places] += numbers


@inlined
def copy_weights(w, out):
    """Copy ``w`` to ``out``, another vector of weights."""
    for j in range(_length(w)):
        set_weight(out, j, weight(w, j))


@inlined
def scale_weights(w, factor):
    """Multiply ``w`` by a factor, in place."""
    for j in range(_length(w)):
        set_weight(w, j, weight(w, j) * factor)


# exact signs


@inlined
def sign_threshold(terms, size):
    """Return the absolute value above which the sign of a computed activation is certain.

    ``size`` is an upper bound on the sum of the absolute values of the activation's terms, such as ``|w| |x|`` (by the
    inequality of Cauchy and Schwarz). ``terms`` is the largest number of entries in a row.
    """
    # A sum of n products, in any order, is off by at most gamma_n sum |w_j x_j| with gamma_n = n u / (1 - n u) and
    # u = 2**-53 (Higham 2002, section 3.1). Here n is ``terms`` + 4: the 4 is for the bias and its addition, and for
    # the rounding of ``size`` and of the product returned. The second summand covers products below the smallest normal
    # float: each loses at most half of ``SMALLEST``. The threshold is twice that bound. So if the computed activation
    # is beyond it, the real one is at least half as large, and the smallest activation of a pass without updates proves
    # a positive margin. The factor 2.02 in place of 2 covers the denominator 1 - n u, and the 1 % by which ``size`` may
    # be too small (see ``passes._refresh_bound``).
    if not (size < LARGE):  # or NaN
        return math.inf
    return (terms + 4) * (2.02 * HALF_ULP * size + 8.0 * SMALLEST)


@inlined
def add_exactly(rows, i, w, sign, total):
    """Add ``sign`` times the dot product of row ``i`` and ``w`` to an exact accumulator."""
    values = rows[0]
    first, n = span(rows, i)
    for j in range(n):
        add_product(total, weight(w, column(rows, first, j)), sign * np.float64(values[first + j]))


@helper
def exact_sign(rows, i, w, b, a, terms, total):
    """Return the activation of row ``i`` for weights ``w`` and bias ``b``, with the exact sign.

    ``a`` is the activation as computed; it is returned if its sign is certain. The result is 0 only if the exact
    activation is 0. ``total`` is an exact accumulator; it must be 0 at the call, and is 0 again on return.
    """
    if abs(a) > sign_threshold(terms, magnitude(rows, i, w) + abs(b)):
        return a
    add_product(total, b, 1.0)
    add_exactly(rows, i, w, 1.0, total)
    return rounded(total)


@helper
def exact_margin_sign(rows, i, w, b, v, c, total):
    """Return the activation of row ``i`` for ``(w, b)`` minus that for ``(v, c)``, with the exact sign."""
    add_product(total, b, 1.0)
    add_product(total, c, -1.0)
    add_exactly(rows, i, w, 1.0, total)
    add_exactly(rows, i, v, -1.0, total)
    return rounded(total)


# prefetching


def _dense_prefetch(rows, labels, order, t):
    values, d = rows
    if t < order.shape[0]:
        i = np.int64(at(order, t))
        prefetch(labels, i)
        line = 64 // values.itemsize
        for j in range(0, d if d < 8 * line else 8 * line, line):  # after eight lines the hardware prefetches
            prefetch(values, i * d + j)


def _csr_prefetch(rows, labels, order, t):
    values, indices, indptr = rows
    # The loops below read from ``indptr`` where the row begins, so that entry is prefetched four visits earlier. Four
    # is a guess: it has to be early enough to arrive, and late enough to stay. Only speed depends on it.
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


_prefetch_row = by_layout(_dense_prefetch, _csr_prefetch)


@instead_of(_prefetch_row)
def prefetch_row(rows, labels, order, t):
    """Prefetch the row and the label of visit ``t``, if there is such a visit; do nothing if interpreted."""
