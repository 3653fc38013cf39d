"""The update rules of the learners, the arguments of a pass, and decaying averages.

A rule is a NamedTuple. When a pass is compiled, the type of the rule selects the functions below, which determine
whether a row updates the weights and by how much. A row triggers no update if ``y a``, its label (1 or -1) times its
activation, is above the rule's ``threshold``. The perceptron's rule needs only the sign of an activation. The other
rules need the value. For these rules the activation, the squared norm of a row and its variance are exact sums
rounded once (``rounded.py``), and each later operation rounds once, in the order written.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.parts import Function, at, chosen, helper, inlined, instead_of
from rosenblatt.kernels.rounded import (
    rounded_activation,
    rounded_margin,
    rounded_square,
    rounded_variance,
    rounded_variance_of_two,
)
from rosenblatt.kernels.row_ops import (
    add,
    class_weights,
    column,
    exact_margin_sign,
    exact_sign,
    is_quad_part,
    quad_places,
    set_weight,
    span,
    weight,
)
from rosenblatt.kernels.simd import (
    LANES,
    at_least,
    at_most,
    load_lanes,
    load_quads,
    spread,
    store_quads,
    unless_zero,
)

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.integer[Any]]
Rows: TypeAlias = tuple[Any, ...]
"""``(values, d)`` or ``(values, indices, indptr)``; see ``row_ops``."""

# arguments of a pass

COUNTERS = np.dtype(
    [
        ("target", "i8"),  # the class whose rows are positive for this classifier
        ("visits", "f8"),  # examples visited
        ("updates", "i8"),
        ("limit", "i8"),  # the largest number of updates; -1 for any number
        ("step_sum", "f8"),  # sum of step sizes
        ("step_square_sum", "f8"),  # sum of squared step sizes
        ("radius2", "f8"),  # largest |x|^2 seen, the bias coordinate included
        ("max_step_norm2", "f8"),  # largest (step |x|)^2 seen
        ("mistakes", "i8"),  # in this pass: visits with y a <= 0
        ("lowest", "f8"),  # smallest y a in this pass
        ("lowest_step", "f8"),  # smallest step y a in this pass
        ("last_change", "f8"),  # number of visits when the weights last changed in this pass
        ("longest", "f8"),  # most visits that weights survived unchanged in this pass
        ("pass_updates", "i8"),  # updates in this pass
        ("start2", "f8"),  # |w|^2 at the start of the run
        ("excess2", "f8"),  # |w|^2 <= step_square_sum * radius2 + excess2
        ("max_step", "f8"),  # largest weight of a row seen; kept only for a threshold above 0
        ("epoch", "f8"),  # the epoch that u and beta are scaled for (see ``average_weight``)
    ]
)


class Examples(NamedTuple):
    """Rows with their labels and step sizes."""

    rows: Rows
    """See ``row_ops``."""
    labels: Labels
    """The class number of each row."""
    steps: Floats
    """The step size of each row; empty if all are 1. A row whose step size is 0 is not visited."""
    bias_value: float
    """The constant feature of the bias, 1.0 or 0.0."""
    terms: int
    """The largest number of entries in a row."""


class Visits(NamedTuple):
    """The rows on which a call trains, ``order[start:stop]``, and how it reads them."""

    order: Labels
    start: int
    stop: int
    ahead: int
    """How many rows ahead of the current row a row is prefetched into the cache; 0 if rows are not prefetched."""
    block: int
    """The number of rows that one classifier visits before the next classifier visits the same rows, still cached."""
    first: bool
    """Whether these rows are new, so that their norms must be computed."""


class Passes(NamedTuple):
    """The complete passes that one call makes, until a classifier makes a pass without a mistake or update."""

    most: int
    """The largest number of passes; 0 if the call makes only a part of a pass."""
    shuffled: bool
    """Whether the rows are shuffled anew before each pass. Their order is written to ``Visits.order``."""
    seed: np.unsignedinteger[Any]
    """The seed with which rows are shuffled."""
    number: np.unsignedinteger[Any]
    """The number of the first of these passes, counted from 0 over all passes of the run."""
    records: Integers
    """The indices of the trained classifiers' records in ``Weights.counters``."""
    mistakes: Integers
    """An array to which the call writes the number of mistakes: a row for each pass, a column for each record."""
    updates: Integers
    """An array to which the call writes the number of updates, in the same form as ``mistakes``."""


class Weights(NamedTuple):
    """The arrays that a pass changes: weights, biases, counters, and the cached sums of CIML algorithm 7."""

    w: Floats
    """The weights. Like ``u`` and ``s``, they have the layout that ``row_ops`` describes."""
    u: Floats
    """The cached sums from which the averages of ``w`` are computed."""
    b: Floats
    beta: Floats
    """The cached sums from which the averages of the biases ``b`` are computed."""
    s: Floats
    """The variance of each weight; empty if the update rule has no variances."""
    s_b: Floats
    """The variance of each bias."""
    decay: tuple[float, ...]
    """The decay of the averages at each visited row, or () without decay; see ``average_weight``."""
    counters: NDArray[np.void]
    """A record of type ``COUNTERS`` for each classifier; a single record if classes compete directly."""
    total: Integers
    """An exact accumulator of ``exact.LONG_LIMBS`` limbs, used as scratch space."""


class Log(NamedTuple):
    """The log of a call's updates. Each array has a row for each classifier; without columns, nothing is logged."""

    rows: Labels
    """The row number of each update's example. If classes compete directly, the second row has the rival classes."""
    visits: Floats
    """The number of rows that the classifier visited before each update."""
    steps: Floats
    """The step size of each update."""
    margins: Floats
    """``y a`` before each update, or the margin of the true class over its rival."""
    counts: Integers
    """The number of updates logged for each classifier."""


class Candidate(NamedTuple):
    """The weights that stayed unchanged for the most rows of this pass; ``b`` is empty if there is no pocket."""

    w: Floats
    b: Floats


class Bounds(NamedTuple):
    """Bounds that hold for the activations of all rows visited so far."""

    certain: float
    """The absolute value above which the sign of an activation is certain."""
    size: float
    """An upper bound on ``|w| |x|``. It is 0 only if the weights have been zero since the start."""
    radius2: float
    """An upper bound on ``|x|^2``, where x includes the bias coordinate."""


class Update(NamedTuple):
    """An update of the weights on a row."""

    i: np.signedinteger[Any]
    """The row."""
    visits: float
    """The number of rows that were visited before this row."""
    step: float
    weight: float
    """The row's entry of ``Examples.steps``, from which ``step`` is computed; 1 if ``Examples.steps`` is empty."""
    a: float
    """``y a`` before the update, or the margin of the true class over its rival."""
    norm2_or_variance: float
    """The squared norm or the variance of the row; see ``refined_activation``."""


# the rules


class PerceptronRule(NamedTuple):
    """The perceptron's rule: on a mistake, update with the row's step size (Rosenblatt 1958)."""

    threshold: float = 0.0


class MarginRule(NamedTuple):
    """The rule of the perceptron with margin: unless ``y a`` exceeds the threshold, update with the row's step size."""

    threshold: float


class PassiveAggressiveRule(NamedTuple):
    """The passive-aggressive rule (Crammer et al. 2006).

    An update is made unless ``y a`` is at least 1. Its step is the smallest that makes ``y a`` equal to 1. If ``cap``
    or ``ridge`` limits the step, it is smaller.
    """

    threshold: float
    cap: float
    """The largest step: C for PA-I, else infinity."""
    ridge: float
    """The number that is added to the squared norm of a row: 1 / (2 C) for PA-II, else 0."""


class ArowRule(NamedTuple):
    """The rule of AROW (Crammer et al. 2009).

    An update is made unless ``y a`` is at least 1. The change of each weight is proportional to the weight's variance.
    """

    threshold: float
    r: float


Rule: TypeAlias = PerceptronRule | MarginRule | PassiveAggressiveRule | ArowRule


def _by_rule(perceptron: Function, margin: Function, passive_aggressive: Function, arow: Function) -> Function:
    """Return a function that kernels can call and that dispatches on the type of its first argument, the rule."""
    choices = {
        PerceptronRule: perceptron,
        MarginRule: margin,
        PassiveAggressiveRule: passive_aggressive,
        ArowRule: arow,
    }
    return chosen(lambda rule: choices.get(type(rule)) or choices[rule.instance_class])  # a rule, or numba's type of it


# activations, as exact as the rule needs them, for rows that may trigger an update


def _sign(rule, examples, weights, k, i, a, bounds):
    if abs(a) > bounds.certain:
        return a, 0.0
    if bounds.size == 0.0:
        return 0.0, 0.0
    w = class_weights(examples.rows, weights.w, k)
    return exact_sign(examples.rows, i, w, weights.b[k], a, examples.terms, weights.total), 0.0


def _value(rule, examples, weights, k, i, a, bounds):
    rows, w, b, total = examples.rows, class_weights(examples.rows, weights.w, k), weights.b[k], weights.total
    a = rounded_activation(rows, i, w, b, bounds.size, examples.terms, total)
    if a == 0.0 or abs(a) == math.inf:  # the real number is neither if the result underflowed or overflowed
        a = exact_sign(rows, i, w, b, 0.0, examples.terms, total)
    return a, 0.0


def _value_and_square(rule, examples, weights, k, i, a, bounds):
    rows, terms, total = examples.rows, examples.terms, weights.total
    a = rounded_activation(rows, i, class_weights(rows, weights.w, k), weights.b[k], bounds.size, terms, total)
    return a, rounded_square(rows, i, bounds.radius2, terms, total)


def _value_and_variance(rule, examples, weights, k, i, a, bounds):
    rows, terms, total = examples.rows, examples.terms, weights.total
    w, s, start = class_weights(rows, weights.w, k), class_weights(rows, weights.s, k), weights.s_b[k]
    a = rounded_activation(rows, i, w, weights.b[k], bounds.size, terms, total)
    return a, rounded_variance(rows, i, s, start * examples.bias_value, bounds.radius2, terms, total)


refined_activation = _by_rule(_sign, _value, _value_and_square, _value_and_variance)
"""``refined_activation(rule, examples, weights, k, i, a, bounds)``: return two numbers. The first is the activation of
row ``i`` for class ``k``, as exact as the rule needs it: with the exact sign, or rounded once. The second is the
squared norm or the variance of the row if the rule needs one of them, and 0 otherwise. ``a`` is the activation as
computed."""


def _margin_sign(rule, examples, weights, k, other, i, a, bounds):
    if abs(a) > bounds.certain:
        return a, 0.0
    rows, b = examples.rows, weights.b
    w, v = class_weights(rows, weights.w, k), class_weights(rows, weights.w, other)
    return exact_margin_sign(rows, i, w, b[k], v, b[other], weights.total), 0.0


@inlined
def _rounded_margin(examples, weights, k, other, i, bounds):
    rows, b = examples.rows, weights.b
    w, v = class_weights(rows, weights.w, k), class_weights(rows, weights.w, other)
    return rounded_margin(rows, i, w, b[k], v, b[other], bounds.size, examples.terms, weights.total)


def _margin_value(rule, examples, weights, k, other, i, a, bounds):
    a = _rounded_margin(examples, weights, k, other, i, bounds)
    if a == 0.0 or abs(a) == math.inf:
        rows, b = examples.rows, weights.b
        w, v = class_weights(rows, weights.w, k), class_weights(rows, weights.w, other)
        a = exact_margin_sign(rows, i, w, b[k], v, b[other], weights.total)
    return a, 0.0


def _margin_and_square(rule, examples, weights, k, other, i, a, bounds):
    a = _rounded_margin(examples, weights, k, other, i, bounds)
    return a, 2.0 * rounded_square(examples.rows, i, bounds.radius2, examples.terms, weights.total)


def _margin_and_variance(rule, examples, weights, k, other, i, a, bounds):
    rows, terms, total = examples.rows, examples.terms, weights.total
    a = _rounded_margin(examples, weights, k, other, i, bounds)
    s, start = class_weights(rows, weights.s, k), weights.s_b[k] * examples.bias_value
    others, other_start = class_weights(rows, weights.s, other), weights.s_b[other] * examples.bias_value
    return a, rounded_variance_of_two(rows, i, s, start, others, other_start, bounds.radius2, terms, total)


refined_margin = _by_rule(_margin_sign, _margin_value, _margin_and_square, _margin_and_variance)
"""``refined_margin(rule, examples, weights, k, other, i, a, bounds)``: return the two numbers of ``refined_activation``
for the margin of class ``k`` over class ``other``. ``a`` is that margin as computed, and ``bounds`` hold for it."""


# step sizes: the closed forms of each paper, for loss = 1 - y a
#
#     PA-I     min(C, loss / |x|^2)       PA-II    loss / (|x|^2 + 1 / (2 C))       (Crammer et al. 2006)
#     AROW     loss / (x' S x + r)        with the diagonal S of the variances      (Crammer, Kulesza and Dredze 2009)
#
# Here y a is the argument ``a``. The weight of a row multiplies the step of PA, and divides r.


def _given_step(rule, a, norm2_or_variance, weight):
    return weight


def _passive_aggressive_step(rule, a, norm2_or_variance, weight):
    loss = 1.0 - a
    norm2 = norm2_or_variance + rule.ridge
    if not (loss > 0.0 and norm2 > 0.0):
        return -1.0
    return min(rule.cap, loss / norm2) * weight


def _arow_step(rule, a, norm2_or_variance, weight):
    loss = 1.0 - a
    variance = norm2_or_variance + rule.r / weight
    return loss / variance if loss > 0.0 and variance > 0.0 else -1.0


step_size = _by_rule(_given_step, _given_step, _passive_aggressive_step, _arow_step)
"""``step_size(rule, a, norm2_or_variance, weight)``: return the step for a row of this weight; a negative number means
that there is no update."""


# what an update may add to |w|^2 beyond step^2 R^2: the second summand of the invariant (see ``passes._refresh_bound``)


def _no_excess(rule, excess2, update):
    return excess2


def _excess_of_right(rule, excess2, update):
    a = update.a  # y a in |w + s y x|^2 = |w|^2 + 2 s y a + s^2 |x|^2; positive on a correctly classified row
    return excess2 + 2.0000001 * update.step * a if a > 0.0 else excess2


def _arow_excess(rule, excess2, update):
    if update.step == 0.0:
        return excess2
    # AROW adds s S x, and |S x|^2 <= x' S x because no variance exceeds 1. So |w + s S x| <= |w| + s sqrt(x' S x), and
    # excess2 alone bounds |w|^2. The factor covers the roundings.
    length = math.sqrt(excess2) + update.step * math.sqrt(update.norm2_or_variance)
    return (1.0 + 2.0**-49) * length * length


grown_excess = _by_rule(_no_excess, _excess_of_right, _excess_of_right, _arow_excess)
"""``grown_excess(rule, excess2, update)``: return the value of the counter ``excess2`` after an update."""


# the update itself


def _add(rule, examples, weights, k, sign, counted, update):
    rows, bias_value, step = examples.rows, examples.bias_value, sign * update.step
    average_step = step * counted
    add(rows, update.i, step, class_weights(rows, weights.w, k), average_step, class_weights(rows, weights.u, k))
    weights.b[k] += step * bias_value
    weights.beta[k] += average_step * bias_value


@inlined
def _shrunk(s, t, x, v, r, inverse):
    # Computed like this, the difference cancels if x is large, and rounding may make it 0 or negative. It equals
    #
    #     s (v - t x + r) / (v + r),   where v - t x >= 0, because v is the sum of t_j x_j over the row and the bias.
    #
    # So the numerator is at least r > 0, however large x is.
    share = at_most((at_least(v - t * x, 0.0) + r) * inverse, 1.0)
    # (v + r) * inverse may round below 1. But the variance must not change for a feature of value 0, as it would not if
    # the row were sparse, nor if v + r is infinite.
    return s * unless_zero(inverse, unless_zero(x, share, 1.0), 1.0)


@instead_of(_shrunk)
def shrunk(s, t, x, v, r, inverse):
    """Return ``s - t^2 / (v + r)``, the variance of a weight after an update, where ``s`` is its variance before.

    ``x`` is the value of the feature in the row, ``t`` is ``s x``, ``v`` is the variance of the row, and ``inverse`` is
    ``1 / (v + r)``. All are numbers, or all are lanes.
    """
    if not isinstance(s, float):
        return _shrunk(s, t, x, v, r, inverse)
    if x == 0.0 or inverse == 0.0:
        return s
    rest = v - t * x
    share = ((0.0 if rest < 0.0 else rest) + r) * inverse
    return s if share > 1.0 else s * share


def _no_lanes(w, rows, i, step, average_step, v, r, inverse):
    return 0


def _add_lanes_by_variance(w, rows, i, step, average_step, v, r, inverse):
    quads, values = w[0], rows[0]
    first, n = span(rows, i)
    whole = n - n % LANES
    step, average_step, v, r, inverse = spread(step), spread(average_step), spread(v), spread(r), spread(inverse)
    for j in range(0, whole, LANES):
        places = quad_places(rows, first, j)
        x = load_lanes(values, first + j)
        w_j, s_j, u_j = load_quads(quads, places)
        t = s_j * x
        store_quads(quads, places, w_j + step * t, shrunk(s_j, t, x, v, r, inverse), u_j + average_step * t)
    return whole


_add_lanes = chosen(lambda w: _add_lanes_by_variance if is_quad_part(w) else _no_lanes)
"""``_add_lanes(w, rows, i, step, average_step, v, r, inverse)``: update the weights of the entries that fill lanes, if
weights are stored in quads, as ``_add_by_variance`` does; return the number of these entries."""


def _add_by_variance(rule, examples, weights, k, sign, counted, update):
    rows, step, v, r = examples.rows, sign * update.step, update.norm2_or_variance, rule.r / update.weight
    average_step, inverse, values = step * counted, 1.0 / (v + r), rows[0]
    w, u, s = class_weights(rows, weights.w, k), class_weights(rows, weights.u, k), class_weights(rows, weights.s, k)
    first, n = span(rows, update.i)
    # Never fused or reordered: every product and sum rounds once, on every machine.
    for j in range(_add_lanes(w, rows, update.i, step, average_step, v, r, inverse), n):
        c = column(rows, first, j)
        x, s_j = np.float64(at(values, first + j)), weight(s, c)
        t = s_j * x
        set_weight(w, c, weight(w, c) + step * t)
        set_weight(u, c, weight(u, c) + average_step * t)
        set_weight(s, c, shrunk(s_j, t, x, v, r, inverse))
    if examples.bias_value > 0.0:
        s_j = weights.s_b[k]
        weights.b[k] += step * s_j
        weights.beta[k] += average_step * s_j
        weights.s_b[k] = shrunk(s_j, s_j, 1.0, v, r, inverse)


move = _by_rule(_add, _add, _add, _add_by_variance)
"""``move(rule, examples, weights, k, sign, counted, update)``: add ``sign`` times the update's step times its row to
the weights and the bias of class ``k``, and ``counted`` times that product to the cached sums for their averages. If a
rule keeps variances, each feature is first multiplied by the variance of its weight, which then shrinks."""


# Averages: CIML algorithm 7, and its extension to exponential decay.
#
# After visit T, with l = 1 - decay, the weights w_s after visit s count l**(T - s):
#
#     mean = (1 - l) / (1 - l**T) * sum over s = 1, ..., T of l**(T - s) w_s.
#
# An update d made after n visits is part of w_s for s = n + 1, ..., T. Its geometric series adds up to
# (1 - l**(T - n)) / (1 - l**T) d, which is d minus (l**(T - n) - l**T) / (1 - l**T) d. Hence, as in algorithm 7,
#
#     mean = w_T - l**T / (1 - l**T) * sum over updates of (g**n - 1) d,   g = 1 / l.
#
# Without decay, d is multiplied by n / T. The pass keeps the sum as ``u``. Since g**n would overflow, visits are
# divided into epochs of ``period`` visits. In epoch e, the invariant is
#
#     u = g**(-e period) * sum over updates of (g**n - 1) d,
#
# so an update enters ``u`` with the factor g**(n - e period) - l**(e period), and ``u`` is divided by g**period when a
# new epoch begins. In code, ``growth`` is g - 1 = decay / (1 - decay).
#
# Powers are computed by multiplication (``_compound``), never by ``pow``, so that they are the same on every machine.


_LARGEST_EXPONENT = 32.0  # within an epoch powers of g are at most e**32, far from overflow
_LONGEST = 2.0**53  # a float64 counts visits exactly up to this number


@helper
def _compound(rate, n):
    """Return ``(1 + rate)**n - 1`` for a rate above 0 and an integer n >= 0, accurate for small rates."""
    # Binary powering of 1 + rate, minus 1: g + r + g r in place of (1 + g)(1 + r) keeps the digits of small rates.
    # Invariant: (1 + grown) (1 + rate)**n is the power, for the current ``rate`` and ``n``.
    grown = 0.0
    while n > 0:
        if rate == math.inf:  # infinity times zero is NaN
            return math.inf
        if n & 1:
            grown = grown + rate + grown * rate
        rate = rate * (2.0 + rate)
        n >>= 1
    return grown


@helper
def _period(growth):
    """Return the number of visits in an epoch, for ``growth = decay / (1 - decay)``."""
    return max(1.0, math.floor(min(_LARGEST_EXPONENT / growth, _LONGEST)))


def _plain_weight(decay, before, epoch):
    return before, 0.0, 1.0


def _decayed_weight(decay, before, epoch):
    growth = decay[0] / (1.0 - decay[0])
    period = _period(growth)
    now = max(epoch, math.floor(before / period))
    begun = _compound(growth, int(now * period))
    factor = 1.0 / (1.0 + _compound(growth, int((now - epoch) * period)))
    before_now = begun / (1.0 + begun) if begun < math.inf else 1.0
    return _compound(growth, int(before - now * period)) + before_now, now, factor


average_weight = chosen(lambda decay: _decayed_weight if len(decay) else _plain_weight)
"""``average_weight(decay, before, epoch)``: return (counted, now, factor) for an update made after ``before`` visits,
while ``u`` is scaled for ``epoch``. ``decay`` is a tuple, empty without decay; then the code for it is not compiled.

``counted`` is the factor with which the update enters ``u``, once ``u`` is scaled for the epoch ``now``.
Multiplying ``u`` by ``factor`` scales it for that epoch."""


@helper
def average_share(decay: float, visits: float, epoch: float) -> float:
    """Return the factor for which the last weights minus ``factor * u`` are the average after ``visits`` visits."""
    if decay == 0.0:
        return 1.0 / max(visits, 1.0)
    growth = decay / (1.0 - decay)
    all_grown = _compound(growth, int(max(visits, 1.0)))
    here = 1.0 + _compound(growth, max(0, int(visits - epoch * _period(growth))))
    return (1.0 + 1.0 / all_grown) / here
