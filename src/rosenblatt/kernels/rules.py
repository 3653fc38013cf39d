"""The update rules of the family: when a row moves the weights, and by how much.

A rule is a tuple whose type chooses the functions below when a pass is compiled. ``y a`` above its ``threshold`` makes
no update. All but the perceptron's rule read the value of an activation, so there the activation, the squared length of
a row and its variance are exact sums rounded once (see ``rounded_sums``), and each later step is a single rounding, as
written.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba.extending import overload

from rosenblatt.kernels.compiler import at, by_layout, inline, plain
from rosenblatt.kernels.rounded import (
    rounded_activation,
    rounded_activation_and_square,
    rounded_lead,
    rounded_square,
    rounded_variance,
    rounded_variance_of_two,
)
from rosenblatt.kernels.row_ops import class_add, class_weights, settled_class, settled_lead

# What the compiled passes take: examples, visits, weights and counters, a rule, and where updates are written.


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
    """See ``rows``."""
    labels: Any
    """A class number for each row."""
    steps: Any
    """A step size for each row; empty where all are 1. A row whose step is 0 is not visited."""
    one: float
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
    """See ``multiclass``."""
    u: Any
    b: Any
    beta: Any
    s: Any
    """The variance of each weight, laid out as ``w`` is; empty where none are kept."""
    s_b: Any
    """The variance of each bias."""
    decay: float
    """How much their averages forget with each visit; see ``averages``."""
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


# update rules: a rule's type chooses the functions of ``rules`` when a pass is compiled


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


# Updates by variance: a weight moves the more the less is known of it, and then more is known.


@inline
def shrunk(s, t, x, v, r, inverse):
    """Return the variance ``s`` after an update of a row of variance ``v`` with the feature ``x``; ``t`` is ``s x``.

    That is ``s - t^2 / (v + r)``, as ``s (v - t x + r) / (v + r)``, which stays above zero however large ``x`` is.
    ``inverse`` is ``1 / (v + r)``, whose product with ``v + r`` may be less than 1; a feature of 0, which sparse rows
    do not have, keeps its variance all the same, and all do where ``v + r`` is infinite.
    """
    others = v - t * x
    share = ((0.0 if others < 0.0 else others) + r) * inverse
    share = 1.0 if share > 1.0 else share
    share = 1.0 if x == 0.0 else share  # values are chosen one by one: no branch, which would be slow
    return s * (1.0 if inverse == 0.0 else share)


def _dense_add(rows, w, u, s, k, i, step, late_step, v, r):
    values = rows[0]
    d = w.shape[0]
    first = i * d
    inverse = 1.0 / (v + r)
    for j in range(d):
        x = np.float64(at(values, first + j))
        t = s[j] * x
        w[j] += step * t
        u[j] += late_step * t
        s[j] = shrunk(s[j], t, x, v, r, inverse)


def _csr_add(rows, w, u, s, k, i, step, late_step, v, r):
    values, indices, indptr = rows
    inverse = 1.0 / (v + r)
    for p in range(at(indptr, i), at(indptr, i + 1)):
        j = np.uint64(at(indices, p))  # no test for negative indices
        x = np.float64(at(values, p))
        t = s[j, k] * x
        w[j, k] += step * t
        u[j, k] += late_step * t
        s[j, k] = shrunk(s[j, k], t, x, v, r, inverse)


class_add_by_variance = by_layout(_dense_add, _csr_add)
"""``class_add_by_variance(rows, w, u, s, k, i, step, late_step, v, r)``: ``class_add`` with each feature times its
variance, which then shrinks; ``v`` is the variance of the row. Never fused, never reordered: these bits are
promised."""


def _by_rule(
    perceptron: Callable[..., Any],
    margin: Callable[..., Any],
    passive_aggressive: Callable[..., Any],
    arow: Callable[..., Any],
) -> Callable[..., Any]:
    """Return one function of a rule for kernels to call, chosen when compiling."""
    choices = {
        PerceptronRule: perceptron,
        MarginRule: margin,
        PassiveAggressiveRule: passive_aggressive,
        ArowRule: arow,
    }

    def rule_function(rule, *arguments):
        return choices[type(rule)](rule, *arguments)

    overload(rule_function, jit_options={"nogil": True, "forceinline": True}, strict=False)(
        lambda rule, *arguments: choices[rule.instance_class]
    )
    return rule_function


# a closer look at a row that may make an update


def _sign(rule, rows, w, bias, s, s_b, k, i, a, y, certain, size, radius2, terms, one, total):
    if not (abs(a) > certain):
        a = settled_class(rows, w, bias, k, i, a, terms, total) if size > 0.0 else 0.0
    return y * a, 0.0


def _value(rule, rows, w, bias, s, s_b, k, i, a, y, certain, size, radius2, terms, one, total):
    a = rounded_activation(rows, w, bias, k, i, size, terms, total)
    if a == 0.0 or abs(a) == math.inf:  # a sum below the smallest float has a sign, too, and one above is a number
        a = settled_class(rows, w, bias, k, i, 0.0, terms, total)
    return y * a, 0.0


def _value_and_square(rule, rows, w, bias, s, s_b, k, i, a, y, certain, size, radius2, terms, one, total):
    a, q = rounded_activation_and_square(rows, w, bias, k, i, size, radius2, terms, total)
    return y * a, q


def _value_and_variance(rule, rows, w, bias, s, s_b, k, i, a, y, certain, size, radius2, terms, one, total):
    a = rounded_activation(rows, w, bias, k, i, size, terms, total)
    return y * a, rounded_variance(rows, class_weights(rows, s, k), k, i, s_b[k] * one, radius2, terms, total)


closer = _by_rule(_sign, _value, _value_and_square, _value_and_variance)
"""``closer(rule, rows, w, bias, s, s_b, k, i, a, y, certain, size, radius2, terms, one, total)``: return ``y a`` as the
rule needs it, given ``a`` as it was summed up, and the squared length or the variance of row ``i`` where it needs that.

``certain`` is the size from which the sign of ``a`` is certain, ``size`` at least ``|w| |x|``, 0 for weights of zero,
and ``radius2`` at least ``|x|^2``.
"""


def _lead_sign(rule, rows, w, b, s, s_b, k, other, i, a, certain, size, radius2, terms, one, total):
    if not (abs(a) > certain):
        a = settled_lead(rows, w, b, k, other, i, total)
    return a, 0.0


def _lead_value(rule, rows, w, b, s, s_b, k, other, i, a, certain, size, radius2, terms, one, total):
    a = rounded_lead(rows, w, b, k, other, i, size, terms, total)
    if a == 0.0 or abs(a) == math.inf:
        a = settled_lead(rows, w, b, k, other, i, total)
    return a, 0.0


def _lead_and_square(rule, rows, w, b, s, s_b, k, other, i, a, certain, size, radius2, terms, one, total):
    a = rounded_lead(rows, w, b, k, other, i, size, terms, total)
    return a, 2.0 * rounded_square(rows, i, radius2, terms, total)


def _lead_and_variance(rule, rows, w, b, s, s_b, k, other, i, a, certain, size, radius2, terms, one, total):
    a = rounded_lead(rows, w, b, k, other, i, size, terms, total)
    return a, rounded_variance_of_two(rows, s, k, other, i, s_b[k] * one, s_b[other] * one, radius2, terms, total)


closer_lead = _by_rule(_lead_sign, _lead_value, _lead_and_square, _lead_and_variance)
"""``closer`` for the lead of class ``k`` over class ``other``, with the weights, biases and variances of all."""


# how far to go


def _given_step(rule, a, second, weight):
    return weight


def _passive_aggressive_step(rule, a, second, weight):
    loss = 1.0 - a
    length = second + rule.ridge
    if not (loss > 0.0 and length > 0.0):
        return -1.0
    return min(rule.cap, loss / length) * weight


def _arow_step(rule, a, second, weight):
    loss = 1.0 - a
    variance = second + rule.r / weight
    return loss / variance if loss > 0.0 and variance > 0.0 else -1.0


step_size = _by_rule(_given_step, _given_step, _passive_aggressive_step, _arow_step)
"""``step_size(rule, a, second, weight)``: return the step for a row of this weight, negative for no update. ``a`` and
``second`` are what ``closer`` returned."""


def _no_excess(rule, excess2, step, a, second):
    return excess2


def _excess_of_right(rule, excess2, step, a, second):
    return excess2 + 2.0000001 * step * a if a > 0.0 else excess2  # |w + s x|^2 = |w|^2 + 2 s a + s^2 |x|^2


def _arow_excess(rule, excess2, step, a, second):
    if step == 0.0:
        return excess2
    length = math.sqrt(excess2) + step * math.sqrt(second)  # |S x|^2 <= x'Sx, as no variance exceeds 1
    return (1.0 + 2.0**-49) * length * length


grown_excess = _by_rule(_no_excess, _excess_of_right, _excess_of_right, _arow_excess)
"""``grown_excess(rule, excess2, step, a, second)``: return the counter ``excess2`` after an update."""


# the update itself


def _add(rule, rows, w, u, s, k, i, step, late_step, second, weight):
    class_add(rows, w, u, k, i, step, late_step)


def _add_by_variance(rule, rows, w, u, s, k, i, step, late_step, second, weight):
    class_add_by_variance(rows, w, u, class_weights(rows, s, k), k, i, step, late_step, second, rule.r / weight)


move_weights = _by_rule(_add, _add, _add, _add_by_variance)
"""``move_weights(rule, rows, w, u, s, k, i, step, late_step, second, weight)``: add ``step`` times row ``i`` to the
weights of class ``k`` and ``late_step`` times it to what is cached for their average; ``s`` are the variances of all
classes, ``second`` is what ``closer`` returned."""


def _move_bias(rule, b, beta, s_b, k, step, late_step, one, second, weight):
    b[k] += step * one
    beta[k] += late_step * one


def _move_bias_by_variance(rule, b, beta, s_b, k, step, late_step, one, second, weight):
    if one > 0.0:
        b[k] += step * s_b[k]
        beta[k] += late_step * s_b[k]
        r = rule.r / weight
        s_b[k] = shrunk(s_b[k], s_b[k], 1.0, second, r, 1.0 / (second + r))


move_bias = _by_rule(_move_bias, _move_bias, _move_bias, _move_bias_by_variance)
"""``move_bias(rule, b, beta, s_b, k, step, late_step, one, second, weight)``: the same for the bias of class ``k``."""


# Averages that forget: what an update counts in the mean of the weights after each visit.
#
# With ``decay`` the weights after visit s count ``(1 - decay)**(T - s)`` at visit T. An update made after n visits is
# part of all weights from then on, so the mean is the last weights less ``(l**(T - n) - l**T) / (1 - l**T)`` times
# each update, for ``l = 1 - decay``; without decay that factor is ``n / T``. The sum of these is kept as ``u``,
# without what all of them share: in epoch e, which begins after e periods of visits, an update counts ``g**(n - e
# period) - l**(e period)`` in it, for ``g = 1 / l``, and when the next one begins ``u`` is divided by ``g**period``.
#
# All powers come from products of floats, so they are the same on every machine.


_LARGEST_EXPONENT = 32.0  # of e: how far the factors of one epoch lie apart
_LONGEST = 2.0**53  # visits that are counted one by one


def _compound(rate, n):
    """Return ``(1 + rate)**n - 1`` for a rate above 0 and an integer n from 0 on, accurate for small rates."""
    grown = 0.0
    while n > 0:
        if rate == math.inf:  # infinity times zero is no number
            return math.inf
        if n & 1:
            grown = grown + rate + grown * rate
        rate = rate * (2.0 + rate)
        n >>= 1
    return grown


def _period(growth):
    """Return how many visits an epoch has."""
    return max(1.0, math.floor(min(_LARGEST_EXPONENT / growth, _LONGEST)))


compound, period_of = plain(_compound), plain(_period)


@plain
def late_factor(decay, before, epoch):
    """Return what an update after ``before`` visits counts in ``u``, which is scaled for ``epoch``.

    Also the epoch that ``u`` is to be scaled for from then on, and what to multiply it by.
    """
    if decay == 0.0:
        return before, 0.0, 1.0
    growth = decay / (1.0 - decay)
    period = period_of(growth)
    now = max(epoch, math.floor(before / period))
    begun = compound(growth, np.int64(now * period))
    factor = 1.0 / (1.0 + compound(growth, np.int64((now - epoch) * period)))
    before_now = begun / (1.0 + begun) if begun < math.inf else 1.0
    return compound(growth, np.int64(before - now * period)) + before_now, now, factor


def share_of_late(decay: float, visits: float, epoch: float) -> float:
    """Return what ``u`` is to be multiplied by, so that the last weights less that are the mean after ``visits``."""
    if decay == 0.0:
        return 1.0 / max(visits, 1.0)
    growth = decay / (1.0 - decay)
    all_grown = _compound(growth, int(max(visits, 1.0)))
    here = 1.0 + _compound(growth, max(0, int(visits - epoch * _period(growth))))
    return (1.0 + 1.0 / all_grown) / here


def _dense_scale(rows, u, k, factor):
    for j in range(u.shape[0]):
        u[j] *= factor


def _csr_scale(rows, u, k, factor):
    for j in range(u.shape[0]):
        u[j, k] *= factor


scale_class = by_layout(_dense_scale, _csr_scale)
"""``scale_class(rows, u, k, factor)``: multiply ``u``, as ``class_weights`` gives it, of class ``k`` by a factor."""
