"""Activations, squared lengths and variances of one row as if worked out exactly and then rounded once to a float64.

A sum to twice the digits nearly always leaves no doubt which float64 is nearest; where it does, an exact sum decides.
So the bits do not depend on the order of a sum, the layout of the rows, or the machine. Weights are laid out as
``multiclass`` says. ``terms`` is the most entries in a row, ``size`` at least ``|(w, b)| |(x, 1)|`` of each class asked
for, ``radius2`` at least ``|(x, 1)|**2``, or ``|x|**2`` without a bias; both may be infinite. ``total`` is an exact
total at zero (``exact.LONG_LIMBS`` long), which is left so.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import REORDERED, at, by_layout, inline, plain
from rosenblatt.kernels.exact import FINE_LIMBS, add_product, add_scaled_square, nearest
from rosenblatt.kernels.row_ops import add_class_exactly, class_magnitude, class_weights, eight_weights, square
from rosenblatt.kernels.simd import LANES, eight, folded, fused, spread

# Sums over a row to twice the digits of a float64: a high part without error and a low part with a small one.
#
# Let M be at least the sum of the sizes of all terms, and L = 4.25 M. A sum starts at s = L; a step adds a product p
# in one rounding: s' = RN(s + p). As long as s stays in [0.75 L, 1.25 L], the difference s' - s is exact (Sterbenz),
# so what was rounded away, p - (s' - s), is at most h = 2**-53 * 1.25 L in size, and a second instruction gives it
# with an error of at most 2**-53 h. It is added to the low part. The steps sum up to at most M + n h < L / 4 for n <
# 2**45, so s does stay there. A high part less L is a multiple of the last bit of 0.75 L, and all of them sum up to
# below L / 4, so the high parts of lanes are added without error, too.
#
# The low part is a sum of numbers whose sizes sum up to at most (n + 2) h, made in a tree of depth n / 8 + 20 or less
# (lanes, the entries that do not fill them, the bias, a second sum): it is off by at most 2**-53 times the depth times
# that, and the errors of the numbers themselves are no more than 2 to be added to the depth. Nothing overflows for L
# below 2**1000, and for L above 2**-600 what is lost below the smallest float64 is nothing beside this bound.


_FACTOR = 4.25
_LEAST, _MOST = 1e-150, 1e300


@inline
def greatest_error(terms, size):
    """Return how far the low part of a sum of ``terms`` products may be off, where their sizes sum up to ``size``.

    It is infinite where numbers are too large or too small for the reasoning above.
    """
    if not (_LEAST < size < _MOST):
        return math.inf
    return (0.125 * terms + 24.0) * (terms + 4.0) * 2.0**-106 * 1.5 * _FACTOR * size


@inline
def _step(high, low, a, b):
    """Add ``a * b`` to a sum, of numbers or of lanes."""
    new = fused(a, b, high)
    return new, low + fused(a, b, high - new)


@inline
def _scaled_square_step(high, low, s, v):
    """Add ``s * v * v`` to a sum; what is rounded away from ``v * v`` goes to the low part at once."""
    product = v * v
    rest = fused(v, v, -product)
    new = fused(s, product, high)
    return new, low + fused(s, rest, fused(s, product, high - new))


@inline
def _together(high, low, last_high, last_low, large):
    """Return the high and the low part of a sum that was made in lanes and in a number."""
    return folded(high - spread(large)) + (last_high - large), folded(low) + last_low


def _dense_span(rows, i):
    d = rows[1]
    return i * d, (i + 1) * d


def _csr_span(rows, i):
    indptr = rows[2]
    return np.int64(at(indptr, i)), np.int64(at(indptr, i + 1))


_span = by_layout(_dense_span, _csr_span)
"""``_span(rows, i)``: where the entries of row ``i`` begin and end among the values."""


def _dense_weight(rows, w, k, first, p):
    return at(w, p - first)


def _csr_weight(rows, w, k, first, p):
    return w[np.uint64(at(rows[1], p)), k]


_weight = by_layout(_dense_weight, _csr_weight)
"""``_weight(rows, w, k, first, p)``: the weight of the entry at ``p``, in a row that begins at ``first``."""


def _dense_weights(rows, w, k, first, p):
    return eight(w, p - first)


def _csr_weights(rows, w, k, first, p):
    return eight_weights(rows[1], w, k, p)


_weights = by_layout(_dense_weights, _csr_weights)
"""``_weights(rows, w, k, first, p)``: the same for the eight entries from ``p`` on, as lanes."""


@inline
def product_sum(rows, w, k, i, b, size):
    """Return both parts of ``b`` plus the dot product of row ``i`` with the weights of class ``k``.

    The sizes of all terms sum up to at most ``size``, here and below.
    """
    large = _FACTOR * size
    values = rows[0]
    first, stop = _span(rows, i)
    whole = stop - (stop - first) % LANES
    high, low = spread(large), spread(0.0)
    for p in range(first, whole, LANES):
        high, low = _step(high, low, eight(values, p), _weights(rows, w, k, first, p))
    last_high, last_low = _step(large, 0.0, b, 1.0)
    for p in range(whole, stop):
        v = np.float64(at(values, p))
        last_high, last_low = _step(last_high, last_low, v, _weight(rows, w, k, first, p))
    return _together(high, low, last_high, last_low, large)


@inline
def careful_product_sum(rows, w, k, i, b, size):
    """Return both parts of what ``product_sum`` sums, one entry after the other, and how far the low part may be off.

    That is judged from what was really rounded away, and is zero where nothing was.
    """
    values = rows[0]
    first, stop = _span(rows, i)
    large = _FACTOR * size
    high, low = _step(large, 0.0, b, 1.0)
    lost = abs(low)
    for p in range(first, stop):
        v, weight = np.float64(at(values, p)), _weight(rows, w, k, first, p)
        new = fused(v, weight, high)
        rest = fused(v, weight, high - new)
        if new == high and rest == 0.0 and v != 0.0 and weight != 0.0:  # a product too small for a float64
            lost = math.inf
        high = new
        low += rest
        lost += abs(rest)
    if not (_LEAST < size < _MOST):
        lost = math.inf
    error = (stop - first + 8.0) * (2.0**-52 * lost + 2.0**-1074) if lost > 0.0 else 0.0
    return high - large, low, error


@inline
def square_sum(rows, i, size):
    """Return both parts of the squared length of row ``i``."""
    large = _FACTOR * size
    values = rows[0]
    first, stop = _span(rows, i)
    whole = stop - (stop - first) % LANES
    high, low = spread(large), spread(0.0)
    for p in range(first, whole, LANES):
        v = eight(values, p)
        high, low = _step(high, low, v, v)
    last_high, last_low = large, 0.0
    for p in range(whole, stop):
        v = np.float64(at(values, p))
        last_high, last_low = _step(last_high, last_low, v, v)
    return _together(high, low, last_high, last_low, large)


@inline
def scaled_square_sum(rows, s, k, i, start, size):
    """Return both parts of ``start`` plus the sum of ``s_j x_j**2`` over row ``i``, with the ``s`` of class ``k``."""
    large = _FACTOR * size
    values = rows[0]
    first, stop = _span(rows, i)
    whole = stop - (stop - first) % LANES
    high, low = spread(large), spread(0.0)
    for p in range(first, whole, LANES):
        high, low = _scaled_square_step(high, low, _weights(rows, s, k, first, p), eight(values, p))
    last_high, last_low = _step(large, 0.0, start, 1.0)
    for p in range(whole, stop):
        v = np.float64(at(values, p))
        last_high, last_low = _scaled_square_step(last_high, last_low, _weight(rows, s, k, first, p), v)
    return _together(high, low, last_high, last_low, large)


@inline
def product_and_square_sums(rows, w, k, i, b, size, square_size):
    """Return what ``product_sum`` and ``square_sum`` return, four numbers, in one reading of the row."""
    large, large_square = _FACTOR * size, _FACTOR * square_size
    values = rows[0]
    first, stop = _span(rows, i)
    whole = stop - (stop - first) % LANES
    high, low, high_square, low_square = spread(large), spread(0.0), spread(large_square), spread(0.0)
    for p in range(first, whole, LANES):
        v = eight(values, p)
        high, low = _step(high, low, v, _weights(rows, w, k, first, p))
        high_square, low_square = _step(high_square, low_square, v, v)
    last_high, last_low = _step(large, 0.0, b, 1.0)
    last_high_square, last_low_square = large_square, 0.0
    for p in range(whole, stop):
        v = np.float64(at(values, p))
        last_high, last_low = _step(last_high, last_low, v, _weight(rows, w, k, first, p))
        last_high_square, last_low_square = _step(last_high_square, last_low_square, v, v)
    a, a_low = _together(high, low, last_high, last_low, large)
    q, q_low = _together(high_square, low_square, last_high_square, last_low_square, large_square)
    return a, a_low, q, q_low


_GENEROUS = 1.01  # more than the rounding of a sum of numbers that are not negative


@inline
def _certain(high, low, error):
    """Return the float64 nearest to ``high + low`` if no number within ``error`` of it has another one, else nan."""
    value = high + low
    part = value - high
    rest = (high - (value - part)) + (low - part)  # value + rest is high + low, exactly
    doubt = error + 2.0**-52 * abs(rest)  # the two sums below may round towards rest
    if value + (rest - doubt) == value and value + (rest + doubt) == value:
        return value
    return math.nan


def _dense_weighted_square(rows, s, k, i):
    values, d = rows
    first = i * d
    total = 0.0
    for j in range(d):
        v = np.float64(at(values, first + j))
        total += at(s, j) * (v * v)
    return total


def _csr_weighted_square(rows, s, k, i):
    values, indices, indptr = rows
    total = 0.0
    for p in range(at(indptr, i), at(indptr, i + 1)):
        v = np.float64(at(values, p))
        total += s[at(indices, p), k] * (v * v)
    return total


_weighted_square = by_layout(_dense_weighted_square, _csr_weighted_square, fastmath=REORDERED)
"""``_weighted_square(rows, s, k, i)``: the sum of ``s_j x_j**2``, roughly."""


def _dense_add_squares(rows, i, total):
    values, d = rows
    for j in range(d):
        v = np.float64(values[i * d + j])
        add_product(total, v, v)


def _csr_add_squares(rows, i, total):
    values, _, indptr = rows
    for p in range(indptr[i], indptr[i + 1]):
        v = np.float64(values[p])
        add_product(total, v, v)


_add_squares = by_layout(_dense_add_squares, _csr_add_squares)
"""``_add_squares(rows, i, total)``: add the squared length of row ``i`` to an exact total."""


def _dense_add_scaled_squares(rows, s, k, i, total):
    values, d = rows
    for j in range(d):
        add_scaled_square(total, s[j], np.float64(values[i * d + j]))


def _csr_add_scaled_squares(rows, s, k, i, total):
    values, indices, indptr = rows
    for p in range(indptr[i], indptr[i + 1]):
        add_scaled_square(total, s[indices[p], k], np.float64(values[p]))


_add_scaled_squares = by_layout(_dense_add_scaled_squares, _csr_add_scaled_squares)
"""``_add_scaled_squares(rows, s, k, i, total)``: add the sum of ``s_j x_j**2`` to a long exact total."""


@plain
def _settled_activation(rows, w, b, k, i, total):
    size = _GENEROUS * (class_magnitude(rows, w, k, i) + abs(b))
    high, low, error = careful_product_sum(rows, w, k, i, b, size)
    a = _certain(high, low, error)
    if a == a:
        return a
    upper = total[FINE_LIMBS:]
    add_product(upper, b, 1.0)
    add_class_exactly(rows, w, k, i, 1.0, upper)
    return nearest(total)


@plain
def _settled_lead(rows, w, b, k, other, i, total):
    own, others = class_weights(rows, w, k), class_weights(rows, w, other)
    size = class_magnitude(rows, own, k, i) + class_magnitude(rows, others, other, i)
    size = _GENEROUS * (size + abs(b[k]) + abs(b[other]))
    high, low, error = careful_product_sum(rows, own, k, i, b[k], size)
    other_high, other_low, other_error = careful_product_sum(rows, others, other, i, b[other], size)
    a = _certain(high - other_high, low - other_low, 2.0 * (error + other_error))
    if a == a:
        return a
    upper = total[FINE_LIMBS:]
    add_product(upper, b[k], 1.0)
    add_product(upper, b[other], -1.0)
    add_class_exactly(rows, own, k, i, 1.0, upper)
    add_class_exactly(rows, others, other, i, -1.0, upper)
    return nearest(total)


@plain
def _settled_square(rows, i, terms, total):
    size = _GENEROUS * square(rows, i)
    high, low = square_sum(rows, i, size)
    q = _certain(high, low, greatest_error(terms, size))
    if q == q:
        return q
    _add_squares(rows, i, total[FINE_LIMBS:])
    return nearest(total)


@plain
def _settled_variance(rows, s, k, i, start, terms, total):
    size = _GENEROUS * (_weighted_square(rows, s, k, i) + start)
    high, low = scaled_square_sum(rows, s, k, i, start, size)
    v = _certain(high, low, greatest_error(terms, size))
    if v == v:
        return v
    add_scaled_square(total, start, 1.0)
    _add_scaled_squares(rows, s, k, i, total)
    return nearest(total)


@plain
def _settled_variance_of_two(rows, s, k, other, i, start, other_start, terms, total):
    own, others = class_weights(rows, s, k), class_weights(rows, s, other)
    both = _weighted_square(rows, own, k, i) + _weighted_square(rows, others, other, i)
    size = _GENEROUS * (both + start + other_start)
    high, low = scaled_square_sum(rows, own, k, i, start, size)
    other_high, other_low = scaled_square_sum(rows, others, other, i, other_start, size)
    v = _certain(high + other_high, low + other_low, greatest_error(2.0 * terms, size))
    if v == v:
        return v
    add_scaled_square(total, start, 1.0)
    add_scaled_square(total, other_start, 1.0)
    _add_scaled_squares(rows, own, k, i, total)
    _add_scaled_squares(rows, others, other, i, total)
    return nearest(total)


@inline
def rounded_activation(rows, w, b, k, i, size, terms, total):
    """Return the activation of class ``k`` on row ``i``, ``b`` the bias of that class."""
    high, low = product_sum(rows, w, k, i, b, size)
    a = _certain(high, low, greatest_error(terms, size))
    return a if a == a else _settled_activation(rows, w, b, k, i, total)


@inline
def rounded_lead(rows, w, b, k, other, i, size, terms, total):
    """Return the activation of class ``k`` less that of ``other``, rounded once; ``w`` and ``b`` are of all classes."""
    size = 2.0 * size
    high, low = product_sum(rows, class_weights(rows, w, k), k, i, b[k], size)
    other_high, other_low = product_sum(rows, class_weights(rows, w, other), other, i, b[other], size)
    a = _certain(high - other_high, low - other_low, greatest_error(2.0 * terms, size))
    return a if a == a else _settled_lead(rows, w, b, k, other, i, total)


@inline
def rounded_square(rows, i, radius2, terms, total):
    """Return the squared length of row ``i``."""
    size = _GENEROUS * radius2
    high, low = square_sum(rows, i, size)
    q = _certain(high, low, greatest_error(terms, size))
    return q if q == q else _settled_square(rows, i, terms, total)


@inline
def rounded_activation_and_square(rows, w, b, k, i, size, radius2, terms, total):
    """Return what ``rounded_activation`` and ``rounded_square`` return, in one reading of the row."""
    square_size = _GENEROUS * radius2
    high, low, square_high, square_low = product_and_square_sums(rows, w, k, i, b, size, square_size)
    a = _certain(high, low, greatest_error(terms, size))
    q = _certain(square_high, square_low, greatest_error(terms, square_size))
    if a != a:
        a = _settled_activation(rows, w, b, k, i, total)
    if q != q:
        q = _settled_square(rows, i, terms, total)
    return a, q


@inline
def rounded_variance(rows, s, k, i, start, radius2, terms, total):
    """Return ``start`` plus the sum of ``s_j x_j**2`` over row ``i``, with the ``s`` of class ``k``.

    These are between 0 and 1; ``start``, the variance of the bias, is at most the square of its feature.
    """
    size = _GENEROUS * radius2
    high, low = scaled_square_sum(rows, s, k, i, start, size)
    v = _certain(high, low, greatest_error(terms, size))
    return v if v == v else _settled_variance(rows, s, k, i, start, terms, total)


@inline
def rounded_variance_of_two(rows, s, k, other, i, start, other_start, radius2, terms, total):
    """Return the sum of both for the classes ``k`` and ``other``, rounded once; ``s`` is of all classes."""
    own, others = class_weights(rows, s, k), class_weights(rows, s, other)
    size = 2.0 * _GENEROUS * radius2
    high, low = scaled_square_sum(rows, own, k, i, start, size)
    other_high, other_low = scaled_square_sum(rows, others, other, i, other_start, size)
    v = _certain(high + other_high, low + other_low, greatest_error(2.0 * terms, size))
    return v if v == v else _settled_variance_of_two(rows, s, k, other, i, start, other_start, terms, total)
