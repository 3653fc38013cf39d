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

from rosenblatt.kernels.compensated import (
    careful_product_sum,
    greatest_error,
    product_and_square_sums,
    product_sum,
    scaled_square_sum,
    square_sum,
)
from rosenblatt.kernels.compiler import REORDERED, at, by_layout, inline, plain
from rosenblatt.kernels.exact import FINE_LIMBS, add_product, add_scaled_square, nearest
from rosenblatt.kernels.multiclass import add_class_exactly, class_magnitude, class_weights
from rosenblatt.kernels.rows import square

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
