"""The update rules of the family: when a row moves the weights, and by how much.

A rule is a tuple whose type chooses the functions below when a pass is compiled. ``y a`` above its ``threshold`` makes
no update. All but the perceptron's rule read the value of an activation, so there the activation, the squared length of
a row and its variance are exact sums rounded once (see ``rounded_sums``), and each later step is a single rounding, as
written.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numba.extending import overload

from rosenblatt.kernels.multiclass import class_add, class_weights, settled_class, settled_lead
from rosenblatt.kernels.pass_arguments import ArowRule, MarginRule, PassiveAggressiveRule, PerceptronRule
from rosenblatt.kernels.rounded_sums import (
    rounded_activation,
    rounded_activation_and_square,
    rounded_lead,
    rounded_square,
    rounded_variance,
    rounded_variance_of_two,
)
from rosenblatt.kernels.variances import class_add_by_variance, shrunk


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
