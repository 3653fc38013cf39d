"""The update rules of the family, what a pass takes, and averages that forget.

A rule is a tuple whose type chooses the functions below when a pass is compiled: when a row moves the weights, and by
how much. ``y a`` above its ``threshold`` makes no update. All but the perceptron's rule read the value of an
activation, so there the activation, the squared length of a row and its variance are exact sums rounded once
(``rounded.py``), and each later step is a single rounding, as written.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.kernels.compiler import at, chosen, helper, inlined
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
    set_weight,
    span,
    weight,
)

# what a pass takes

COUNTERS = np.dtype(
    [
        ("target", "i8"),  # the class that this classifier answers yes to
        ("visits", "f8"),  # examples visited
        ("updates", "i8"),
        ("limit", "i8"),  # stop when there are this many updates; -1 for never
        ("step_sum", "f8"),  # sum of step sizes
        ("step_square_sum", "f8"),  # sum of their squares
        ("radius2", "f8"),  # largest |x|^2 seen, the bias coordinate included
        ("max_step_norm2", "f8"),  # largest (step |x|)^2 seen
        ("mistakes", "i8"),  # in this pass: visits with y a <= 0
        ("lowest", "f8"),  # smallest y a in this pass
        ("lowest_step", "f8"),  # smallest step y a in this pass
        ("last_change", "f8"),  # visits when the weights last changed in this pass
        ("longest", "f8"),  # most visits that weights survived in this pass
        ("pass_updates", "i8"),  # updates in this pass
        ("start2", "f8"),  # |w|^2 at the start of the run
        ("excess2", "f8"),  # |w|^2 <= step_square_sum * radius2 + excess2
        ("max_step", "f8"),  # largest weight of a row, where the threshold is not 0
        ("epoch", "f8"),  # the period of a decaying average that u and beta are scaled for
    ]
)


class Examples(NamedTuple):
    """What is learned from."""

    rows: Any
    """See ``row_ops``."""
    labels: Any
    """A class number for each row."""
    steps: Any
    """A step size for each row; empty where all are 1. A row whose step is 0 is not visited."""
    bias_value: float
    """The constant feature of the bias, 1.0 or 0.0."""
    terms: int
    """The most entries in a row."""


class Visits(NamedTuple):
    """Which rows a call visits: ``order[start:stop]``."""

    order: Any
    start: int
    stop: int
    ahead: int
    """How many visits ahead to ask for a row; 0 for never."""
    block: int
    """Rows that classifiers visit in turn, so that a row is read once for all of them."""
    first: bool
    """Whether these rows are new, so that their lengths must be looked at."""


class Weights(NamedTuple):
    """What a pass changes: weights and biases, what Algorithm 7 of CIML caches for their averages, and counters."""

    w: Any
    """Laid out as ``row_ops`` says, and so are ``u`` and ``s``."""
    u: Any
    b: Any
    beta: Any
    s: Any
    """The variance of each weight; empty where none are kept."""
    s_b: Any
    """The variance of each bias."""
    decay: float
    """How much their averages forget with each visit; see ``average_weight``."""
    counters: Any
    """A record of type ``COUNTERS`` for each classifier; one where classes compete directly."""
    total: Any
    """Space for an exact sum."""


class Log(NamedTuple):
    """Where the updates of a call are written down, a line for each classifier; without columns, none are."""

    rows: Any
    """The row of each update. Where classes compete directly the second line has the rivals."""
    visits: Any
    """The visits before each update."""
    steps: Any
    """The size of each update's step."""
    counts: Any
    """How many updates there are in each line."""


class Candidate(NamedTuple):
    """Where the weights that survived longest in this pass are kept; ``b`` is empty where that is not wanted."""

    w: Any
    b: Any


class Bounds(NamedTuple):
    """What is known of all activations so far."""

    certain: float
    """The size above which the sign of an activation is certain."""
    size: float
    """At least ``|w| |x|``; 0 only for weights that never moved from zero."""
    radius2: float
    """At least ``|x|^2``, the bias coordinate included."""


class Update(NamedTuple):
    """A visit that moves the weights."""

    i: int
    """The row."""
    visits: float
    """The visits before it."""
    step: float
    weight: float
    """The step size that its example has; ``step`` is made from it."""
    a: float
    """``y a`` before the update, or the margin of the true class over its rival."""
    norm2_or_variance: float
    """What ``refined_activation`` returned."""


# the rules


class PerceptronRule(NamedTuple):
    """Update on a mistake, by the step of the row (Rosenblatt 1958)."""

    threshold: float = 0.0


class MarginRule(NamedTuple):
    """Update unless the activation exceeds a margin, by the step of the row."""

    threshold: float


class PassiveAggressiveRule(NamedTuple):
    """Update unless the activation is at least 1, by no more than makes it 1 (Crammer et al. 2006)."""

    threshold: float
    cap: float
    """The largest step: C for PA-I, else infinite."""
    ridge: float
    """What is added to the squared length: 1 / (2 C) for PA-II, else 0."""


class ArowRule(NamedTuple):
    """Update unless the activation is at least 1, each weight by its variance (Crammer, Kulesza and Dredze 2009)."""

    threshold: float
    r: float


Rule: TypeAlias = PerceptronRule | MarginRule | PassiveAggressiveRule | ArowRule


def _by_rule(
    perceptron: Callable[..., Any],
    margin: Callable[..., Any],
    passive_aggressive: Callable[..., Any],
    arow: Callable[..., Any],
) -> Callable[..., Any]:
    """Return one function of a rule and more for kernels to call."""
    choices = {
        PerceptronRule: perceptron,
        MarginRule: margin,
        PassiveAggressiveRule: passive_aggressive,
        ArowRule: arow,
    }
    return chosen(lambda rule: choices[getattr(rule, "instance_class", None) or type(rule)])


# a closer look at a row that may make an update


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
    if a == 0.0 or abs(a) == math.inf:  # a sum below the smallest float has a sign, too, and one above is a number
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
"""``refined_activation(rule, examples, weights, k, i, a, bounds)``: return the activation of class ``k`` on row ``i``
as the rule needs it, given ``a`` as it was summed up, and the squared length or the variance of the row where it needs
that."""


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
"""``refined_margin(rule, examples, weights, k, other, i, a, bounds)``: the same for the margin of class ``k`` over
class ``other``; ``bounds`` are of that margin."""


# how far to go


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
"""``step_size(rule, a, norm2_or_variance, weight)``: return the step for a row of this weight, negative for none."""


def _no_excess(rule, excess2, update):
    return excess2


def _excess_of_right(rule, excess2, update):
    a = update.a  # |w + s x|^2 = |w|^2 + 2 s a + s^2 |x|^2
    return excess2 + 2.0000001 * update.step * a if a > 0.0 else excess2


def _arow_excess(rule, excess2, update):
    if update.step == 0.0:
        return excess2
    length = math.sqrt(excess2) + update.step * math.sqrt(update.norm2_or_variance)
    return (1.0 + 2.0**-49) * length * length  # |S x|^2 <= x'Sx, as no variance exceeds 1


grown_excess = _by_rule(_no_excess, _excess_of_right, _excess_of_right, _arow_excess)
"""``grown_excess(rule, excess2, update)``: return the counter ``excess2`` after an update."""


# the update itself


def _add(rule, examples, weights, k, sign, counted, update):
    rows, bias_value, step = examples.rows, examples.bias_value, sign * update.step
    average_step = step * counted
    add(rows, update.i, step, class_weights(rows, weights.w, k), average_step, class_weights(rows, weights.u, k))
    weights.b[k] += step * bias_value
    weights.beta[k] += average_step * bias_value


@inlined
def shrunk(s, t, x, v, r, inverse):
    """Return the variance ``s`` after an update of a row of variance ``v`` with the feature ``x``; ``t`` is ``s x``.

    That is ``s - t^2 / (v + r)``, which cancels where ``x`` is large. As ``v >= s x^2 = t x``, it is also
    ``s (v - t x + r) / (v + r)`` with a numerator of at least ``r``, which stays above zero however large ``x`` is.
    ``inverse`` is ``1 / (v + r)``, whose product with ``v + r`` may be less than 1; a feature of 0, which sparse rows
    do not have, keeps its variance all the same, and all do where ``v + r`` is infinite.
    """
    others = v - t * x
    share = ((0.0 if others < 0.0 else others) + r) * inverse
    share = 1.0 if share > 1.0 else share
    share = 1.0 if x == 0.0 else share  # values are chosen one by one: no branch, which would be slow
    return s * (1.0 if inverse == 0.0 else share)


def _add_by_variance(rule, examples, weights, k, sign, counted, update):
    rows, step, v, r = examples.rows, sign * update.step, update.norm2_or_variance, rule.r / update.weight
    average_step, inverse, values = step * counted, 1.0 / (v + r), rows[0]
    w, u, s = class_weights(rows, weights.w, k), class_weights(rows, weights.u, k), class_weights(rows, weights.s, k)
    first, n = span(rows, update.i)
    for j in range(n):  # never fused, never reordered: these bits are promised
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
the weights and the bias of class ``k``, and ``counted`` times that to what is cached for their averages. Where a rule
keeps variances, each feature counts by its variance, which then shrinks."""


# Averages that forget: what an update counts in the mean of the weights after each visit.
#
# With ``decay`` the weights after visit s count l**(T - s) at visit T, for l = 1 - decay: CIML algorithm 7 with
# exponential weights. An update made after n visits is part of all weights from then on, so
#
#     mean = w_T - sum over updates of (l**(T - n) - l**T) / (1 - l**T) * update,
#
# without decay n / T. The sum is kept as ``u``, without what all of its factors share: in epoch e, which begins after
# e periods of visits, an update counts g**(n - e period) - l**(e period) in it, for g = 1 / l, and when the next epoch
# begins ``u`` is divided by g**period. So no power overflows.
#
# All powers come from products of floats, so they are the same on every machine.


_LARGEST_EXPONENT = 32.0  # of e: how far the factors of one epoch lie apart
_LONGEST = 2.0**53  # visits that are counted one by one


def _compound(rate, n):
    """Return ``(1 + rate)**n - 1`` for a rate above 0 and an integer n from 0 on, accurate for small rates."""
    grown = 0.0
    while n > 0:
        if rate == math.inf:  # infinity times zero is not a number
            return math.inf
        if n & 1:
            grown = grown + rate + grown * rate
        rate = rate * (2.0 + rate)
        n >>= 1
    return grown


def _period(growth):
    """Return the number of visits in an epoch."""
    return max(1.0, math.floor(min(_LARGEST_EXPONENT / growth, _LONGEST)))


_compiled_compound, _compiled_period = helper(_compound), helper(_period)


@helper
def average_weight(decay, before, epoch):
    """Return what an update after ``before`` visits counts in ``u``, which is scaled for ``epoch``.

    Also the epoch that ``u`` is to be scaled for from then on, and what to multiply it by.
    """
    if decay == 0.0:
        return before, 0.0, 1.0
    growth = decay / (1.0 - decay)
    period = _compiled_period(growth)
    now = max(epoch, math.floor(before / period))
    begun = _compiled_compound(growth, np.int64(now * period))
    factor = 1.0 / (1.0 + _compiled_compound(growth, np.int64((now - epoch) * period)))
    before_now = begun / (1.0 + begun) if begun < math.inf else 1.0
    return _compiled_compound(growth, np.int64(before - now * period)) + before_now, now, factor


def average_share(decay: float, visits: float, epoch: float) -> float:
    """Return what ``u`` is to be multiplied by, so that the last weights less that are the mean after ``visits``."""
    if decay == 0.0:
        return 1.0 / max(visits, 1.0)
    growth = decay / (1.0 - decay)
    all_grown = _compound(growth, int(max(visits, 1.0)))
    here = 1.0 + _compound(growth, max(0, int(visits - epoch * _period(growth))))
    return (1.0 + 1.0 / all_grown) / here
