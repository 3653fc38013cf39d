"""Compute activations, margins, squared norms and variances of a row exactly, rounded once to a float64.

The results do not depend on the order of a sum, the layout of the rows, or the machine. A sum is computed with twice
the digits of a float64: its high part is extracted without error, as in AccSum (Rump, Ogita and Oishi 2008). Ziv's
rounding test then shows whether only one float64 can be the nearest. If not, an exact sum decides.

In all functions, ``terms`` is the largest number of entries in a row. ``size`` is an upper bound on
``|(w, b)| |(x, 1)|`` for each class. ``radius2`` is an upper bound on ``|(x, 1)|**2``, or on ``|x|**2`` without a bias.
Both bounds may be infinite. ``total`` is an exact accumulator of ``exact.LONG_LIMBS`` limbs. It must be 0 when a
function is called, and is 0 again when the function returns.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.exact import FINE_LIMBS, add_product, add_scaled_square, nearest
from rosenblatt.kernels.parts import at, helper, inlined, reordered
from rosenblatt.kernels.row_ops import add_exactly, column, magnitude, span, square, weight, weight_lanes
from rosenblatt.kernels.simd import LANES, fused, horizontal_sum, load_lanes, spread

_GENEROUS = 1.01  # covers the relative rounding error of a sum of nonnegative numbers

# Sums over a row with twice the digits of a float64: an exact high part and a low part with a small error.
#
# This is the extraction of AccSum (Rump, Ogita and Oishi 2008), with a fused product and sum (FMA) in place
# of their splitting of each term. Let M be at least the sum of |p| over all products p, and L = 4.25 M. The high part
# starts at s = L, and a step is
#
#     s' = RN(s + p),   low += RN(p - (s' - s)).
#
# Invariant: s stays in [0.75 L, 1.25 L]. There the difference s' - s is exact (Sterbenz's lemma). So what was rounded
# away, p - (s' - s), is at most h = 2**-53 * 1.25 L in size, and one more FMA returns it with an error of at most
# 2**-53 h. The steps add up to at most M + n h < L / 4 for n < 2**45, which keeps the invariant. This holds even if M
# is too small by 2 %, as the ``size`` of an activation may be by 1 % (see ``passes._refresh_bound``): n h is below
# 0.021 M, and L / 4 is 1.0625 M. A high part minus L is a multiple of the last bit of 0.75 L and below L / 4. So is any
# sum of such parts, hence the high parts of lanes are also added without error.
#
# The absolute values of the numbers in the low part add up to at most (n + 2) h. They are summed in a tree of depth
# n / 8 + 20 or less (lanes, the entries that do not fill them, the bias, a second sum). So the low part is off by at
# most 2**-53 (n / 8 + 22) (n + 2) h, where 2 is added to the depth for the errors of the numbers themselves. (With a
# scaled square these have two roundings, not one. They also contain s times the rounding error of v * v; this is at
# most 2**-53 M in all, less than 0.2 h.) Nothing overflows for L below 2**1000. For L above 2**-600, what products lose
# to underflow, at most 2**-1075 each, is negligible compared with this bound, which is above 2**-706 (n + 2).

_FACTOR = 4.25  # L / M: above 4, so that n roundings fit into L / 4 besides M
_LEAST, _MOST = 1e-150, 1e300  # the range of M; L is then between 2**-600 and 2**1000


@inlined
def _greatest_error(terms, size):
    """Return an upper bound on the error of the low part of a sum of products.

    There are at most ``terms`` products, and their absolute values add up to at most ``size``. The bound is infinite if
    ``size`` is too large or too small for the argument above.
    """
    if not (_LEAST < size < _MOST):
        return math.inf
    # 2**-53 (n / 8 + 22) (n + 2) h with larger constants; 1.5 L in place of 1.25 L covers the roundings of this product
    return (0.125 * terms + 24.0) * (terms + 4.0) * 2.0**-106 * 1.5 * _FACTOR * size


@inlined
def _step(high, low, a, b):
    """Add ``a * b`` to the sum ``high + low`` of numbers or of lanes, and return both parts."""
    new = fused(a, b, high)  # s' = RN(s + a b)
    return new, low + fused(a, b, high - new)  # a b - (s' - s)


@inlined
def _scaled_square_step(high, low, s, v):
    """Add ``s * v * v`` to the sum ``high + low``, and return both parts.

    The rounding error of ``v * v``, times ``s``, goes directly to the low part.
    """
    product = v * v
    rest = fused(v, v, -product)  # exact unless it underflows: v * v is product + rest
    new = fused(s, product, high)
    return new, low + fused(s, rest, fused(s, product, high - new))


@inlined
def _together(high, low, last_high, last_low, large):
    """Return the high and the low part of a sum that is kept partly in lanes and partly in single numbers.

    ``large`` is the L at which all high parts started.
    """
    return horizontal_sum(high - spread(large)) + (last_high - large), horizontal_sum(low) + last_low


@inlined
def _product_sum(rows, i, w, b, size):
    """Return both parts of ``b`` plus the dot product of row ``i`` with ``w``.

    Here and below, the absolute values of the terms add up to at most ``size``, the M of the argument above. The loops
    keep the invariant of that argument, in each lane and in the scalar sum.
    """
    large, values = _FACTOR * size, rows[0]
    first, n = span(rows, i)
    whole = n - n % LANES
    high, low = spread(large), spread(0.0)
    for j in range(0, whole, LANES):
        high, low = _step(high, low, load_lanes(values, first + j), weight_lanes(rows, w, first, j))
    last_high, last_low = _step(large, 0.0, b, 1.0)
    for j in range(whole, n):
        v = np.float64(at(values, first + j))
        last_high, last_low = _step(last_high, last_low, v, weight(w, column(rows, first, j)))
    return _together(high, low, last_high, last_low, large)


@inlined
def careful_product_sum(rows, i, w, b, size):
    """Return both parts of the sum of ``_product_sum``, computed in order, and a bound on the error of its low part.

    This is a running error bound (Higham 2002, section 3.3): it is computed from what was actually rounded away, and is
    0 if nothing was.
    """
    # Invariant: the sum so far is high - L + low, except for the errors of low, and ``lost`` is the sum of the absolute
    # values of the numbers added to low. Each of these numbers has a relative error of at most u = 2**-53, and each of
    # the n additions an error of at most u ``lost``: together (n + 1) u ``lost``, and 2**-1075 each for underflow. The
    # result is more than twice that.
    #
    # A bound of 0 is correct: a product that changes ``high`` is above 2**-560, so its rest cannot underflow. If a
    # product does not change ``high``, the rest is the product itself, rounded. A rest of 0 then means that the product
    # is 0 or has underflowed.
    large, values = _FACTOR * size, rows[0]
    first, n = span(rows, i)
    high, low = _step(large, 0.0, b, 1.0)
    lost = abs(low)
    for j in range(n):
        v, w_j = np.float64(at(values, first + j)), weight(w, column(rows, first, j))
        new = fused(v, w_j, high)
        rest = fused(v, w_j, high - new)
        if new == high and rest == 0.0 and v != 0.0 and w_j != 0.0:  # a product too small for a float64
            lost = math.inf
        high = new
        low += rest
        lost += abs(rest)
    if not (_LEAST < size < _MOST):
        lost = math.inf
    error = (n + 8.0) * (2.0**-52 * lost + 2.0**-1074) if lost > 0.0 else 0.0
    return high - large, low, error


@inlined
def _square_sum(rows, i, size):
    """Return both parts of the squared norm of row ``i``."""
    large, values = _FACTOR * size, rows[0]
    first, n = span(rows, i)
    whole = n - n % LANES
    high, low = spread(large), spread(0.0)
    for j in range(0, whole, LANES):
        v = load_lanes(values, first + j)
        high, low = _step(high, low, v, v)
    last_high, last_low = large, 0.0
    for j in range(whole, n):
        v = np.float64(at(values, first + j))
        last_high, last_low = _step(last_high, last_low, v, v)
    return _together(high, low, last_high, last_low, large)


@inlined
def _variance_sum(rows, i, s, start, size):
    """Return both parts of ``start`` plus the sum of ``s_j x_j**2`` over row ``i``."""
    large, values = _FACTOR * size, rows[0]
    first, n = span(rows, i)
    whole = n - n % LANES
    high, low = spread(large), spread(0.0)
    for j in range(0, whole, LANES):
        high, low = _scaled_square_step(high, low, weight_lanes(rows, s, first, j), load_lanes(values, first + j))
    last_high, last_low = _step(large, 0.0, start, 1.0)
    for j in range(whole, n):
        v = np.float64(at(values, first + j))
        last_high, last_low = _scaled_square_step(last_high, last_low, weight(s, column(rows, first, j)), v)
    return _together(high, low, last_high, last_low, large)


# Each result below is computed in up to three ways: with the caller's bound on the terms, with a bound computed from
# the row (``_careful_...``), and exactly. The first way reads the row once, and nearly always suffices.


@inlined
def certain(high, low, error):
    """Return the float64 nearest to all numbers within ``error`` of ``high + low``, or NaN if there is none."""
    value = high + low
    part = value - high
    rest = (high - (value - part)) + (low - part)  # Knuth's TwoSum: value + rest is high + low, exactly
    # Ziv's rounding test (1991): if both ends of the interval round to the same float64, so do all numbers between
    # them. The second summand, 2 u |rest|, widens the interval by what the rounding of rest - doubt and rest + doubt
    # may lose in proportion to rest. What it may lose in proportion to ``error`` is at most 3 u ``error``. Every bound
    # given as ``error`` is larger than needed by a factor above 1.05, which covers that.
    doubt = error + 2.0**-52 * abs(rest)
    if value + (rest - doubt) == value and value + (rest + doubt) == value:
        return value
    return math.nan


@helper
def _careful_activation(rows, i, w, b, total):
    size = _GENEROUS * (magnitude(rows, i, w) + abs(b))
    high, low, error = careful_product_sum(rows, i, w, b, size)
    a = certain(high, low, error)
    if a == a:
        return a
    upper = total[FINE_LIMBS:]
    add_product(upper, b, 1.0)
    add_exactly(rows, i, w, 1.0, upper)
    return nearest(total)


@inlined
def rounded_activation(rows, i, w, b, size, terms, total):
    """Return the activation of row ``i`` for weights ``w`` and bias ``b``, rounded once."""
    high, low = _product_sum(rows, i, w, b, size)
    a = certain(high, low, _greatest_error(terms, size))
    return a if a == a else _careful_activation(rows, i, w, b, total)


@helper
def _careful_margin(rows, i, w, b, v, c, total):
    size = _GENEROUS * (magnitude(rows, i, w) + magnitude(rows, i, v) + abs(b) + abs(c))
    high, low, error = careful_product_sum(rows, i, w, b, size)
    other_high, other_low, other_error = careful_product_sum(rows, i, v, c, size)
    # The difference of the high parts is exact, as is any sum of them. The rounding error of the difference of the low
    # parts is at most 2**-53 times the sum of both ``lost``. The factor 2.0 covers it, because each ``error`` is at
    # least 2**-49 times its ``lost``.
    a = certain(high - other_high, low - other_low, 2.0 * (error + other_error))
    if a == a:
        return a
    upper = total[FINE_LIMBS:]
    add_product(upper, b, 1.0)
    add_product(upper, c, -1.0)
    add_exactly(rows, i, w, 1.0, upper)
    add_exactly(rows, i, v, -1.0, upper)
    return nearest(total)


@inlined
def rounded_margin(rows, i, w, b, v, c, size, terms, total):
    """Return the activation of row ``i`` for ``(w, b)`` minus that for ``(v, c)``, rounded once."""
    size = 2.0 * size  # covers both sums, so that they start at the same L: the difference of their high parts is exact
    high, low = _product_sum(rows, i, w, b, size)
    other_high, other_low = _product_sum(rows, i, v, c, size)
    a = certain(high - other_high, low - other_low, _greatest_error(2.0 * terms, size))
    return a if a == a else _careful_margin(rows, i, w, b, v, c, total)


@helper
def _careful_square(rows, i, terms, total):
    size = _GENEROUS * square(rows, i)
    high, low = _square_sum(rows, i, size)
    q = certain(high, low, _greatest_error(terms, size))
    if q == q:
        return q
    values, upper = rows[0], total[FINE_LIMBS:]
    first, n = span(rows, i)
    for j in range(n):
        v = np.float64(values[first + j])
        add_product(upper, v, v)
    return nearest(total)


@inlined
def rounded_square(rows, i, radius2, terms, total):
    """Return the squared norm of row ``i``, rounded once."""
    size = _GENEROUS * radius2
    high, low = _square_sum(rows, i, size)
    q = certain(high, low, _greatest_error(terms, size))
    return q if q == q else _careful_square(rows, i, terms, total)


@reordered
def _rough_variance(rows, i, s):
    """Return the sum of ``s_j x_j**2`` over row ``i``, computed in plain float64."""
    values = rows[0]
    first, n = span(rows, i)
    total = 0.0
    for j in range(n):
        v = np.float64(at(values, first + j))
        total += weight(s, column(rows, first, j)) * (v * v)
    return total


@inlined
def _add_variance(rows, i, s, start, total):
    """Add ``start`` and the sum of ``s_j x_j**2`` to a long exact accumulator."""
    values = rows[0]
    first, n = span(rows, i)
    add_scaled_square(total, start, 1.0)
    for j in range(n):
        add_scaled_square(total, weight(s, column(rows, first, j)), np.float64(values[first + j]))


@helper
def _careful_variance(rows, i, s, start, terms, total):
    size = _GENEROUS * (_rough_variance(rows, i, s) + start)
    high, low = _variance_sum(rows, i, s, start, size)
    v = certain(high, low, _greatest_error(terms, size))
    if v == v:
        return v
    _add_variance(rows, i, s, start, total)
    return nearest(total)


@inlined
def rounded_variance(rows, i, s, start, radius2, terms, total):
    """Return ``start`` plus the sum of ``s_j x_j**2`` over row ``i``, rounded once.

    All ``s_j`` are between 0 and 1. ``start`` is the term of the bias in this sum, at most its squared feature.
    """
    size = _GENEROUS * radius2
    high, low = _variance_sum(rows, i, s, start, size)
    v = certain(high, low, _greatest_error(terms, size))
    return v if v == v else _careful_variance(rows, i, s, start, terms, total)


@helper
def _careful_variance_of_two(rows, i, s, start, other, other_start, terms, total):
    both = _rough_variance(rows, i, s) + _rough_variance(rows, i, other)
    size = _GENEROUS * (both + start + other_start)
    high, low = _variance_sum(rows, i, s, start, size)
    other_high, other_low = _variance_sum(rows, i, other, other_start, size)
    v = certain(high + other_high, low + other_low, _greatest_error(2.0 * terms, size))
    if v == v:
        return v
    _add_variance(rows, i, s, start, total)
    _add_variance(rows, i, other, other_start, total)
    return nearest(total)


@inlined
def rounded_variance_of_two(rows, i, s, start, other, other_start, radius2, terms, total):
    """Return the sum of two results of ``rounded_variance``, for two classes, rounded once."""
    size = 2.0 * _GENEROUS * radius2
    high, low = _variance_sum(rows, i, s, start, size)
    other_high, other_low = _variance_sum(rows, i, other, other_start, size)
    v = certain(high + other_high, low + other_low, _greatest_error(2.0 * terms, size))
    return v if v == v else _careful_variance_of_two(rows, i, s, start, other, other_start, terms, total)
