"""Predictions: activations, best classes and votes. The sign of every activation is exact.

In all functions, ``terms`` is the largest number of entries in a row. ``lengths[k]`` bounds ``|(w[k], b[k])|`` above.
``total`` is an exact accumulator of ``exact.LIMBS`` limbs, or of ``exact.LONG_LIMBS`` for `rounded_activations`. It
must be 0 when a kernel is called, and is 0 again when it returns. ``bounds`` and ``scores`` are scratch space with one
number for each class.
"""

from __future__ import annotations

import math

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parts import inlined
from rosenblatt.kernels.rounded import rounded_activation
from rosenblatt.kernels.row_ops import (
    absolute_sum,
    class_dots,
    dot,
    exact_margin_sign,
    exact_sign,
    pass_dot,
    sign_threshold,
    square,
    steady_dot,
)


@inlined
def _bounds(rows, i, lengths, terms, bounds):
    """Write to ``bounds[k]`` the absolute value above which the sign of class k's activation of row i is certain."""
    length = math.sqrt(square(rows, i) + 1.0)
    for k in range(lengths.shape[0]):
        bounds[k] = sign_threshold(terms, length * lengths[k])


@kernel
def activations(rows, start, stop, w, b, lengths, terms, total, bounds, out):
    """Write ``w[k] . x_i + b[k]``, with its exact sign, to ``out[i - start, k]`` for the rows ``start <= i < stop``.

    The sum is computed in a fixed order, so that interpreted and compiled code give the same bits.
    """
    for i in range(start, stop):
        _bounds(rows, i, lengths, terms, bounds)
        for k in range(w.shape[0]):
            a = steady_dot(rows, i, w[k]) + b[k]
            if not (abs(a) > bounds[k]):
                a = exact_sign(rows, i, w[k], b[k], a, terms, total)
            out[i - start, k] = a


@kernel
def rounded_activations(rows, w, b, lengths, terms, total, out):
    """Write ``w[k] . x_i + b[k]``, computed exactly and rounded once, to ``out[i, k]``."""
    for i in range(out.shape[0]):
        length = math.sqrt(square(rows, i) + 1.0)
        for k in range(w.shape[0]):
            out[i, k] = rounded_activation(rows, i, w[k], b[k], length * lengths[k], terms, total)


@kernel
def winners(rows, start, stop, w, b, lengths, terms, total, bounds, scores, out, tied):
    """Write to ``out``, for each row ``start <= i < stop``, the class with the largest activation.

    Activations are compared exactly. If several classes tie, the first is written, and the row's entry in ``tied`` is
    True.
    """
    for i in range(start, stop):
        _bounds(rows, i, lengths, terms, bounds)
        best = 0
        equal = False
        for k in range(w.shape[0]):  # invariant: ``best`` and ``equal`` are exact for the classes below k
            scores[k] = dot(rows, i, w[k]) + b[k]
            if k > 0:
                margin = scores[k] - scores[best]
                if not (abs(margin) > bounds[k] + bounds[best]):
                    margin = exact_margin_sign(rows, i, w[k], b[k], w[best], b[best], total)
                if margin > 0.0:
                    best = k
                    equal = False
                elif margin == 0.0:
                    equal = True
        out[i - start] = best
        tied[i - start] = equal


@kernel
def sides(rows, w, b, largest, terms, out):
    """Write to ``out[i]`` whether ``w . x_i + b`` is positive (1) or negative (0), or 2 if its sign is uncertain.

    ``largest`` is the largest absolute value in ``w``. Rows may hold NaN and infinity, which make the sign uncertain,
    and float64 rows may have several entries for a column, which stand for their sum.
    """
    # By Hoelder's inequality the absolute values of the terms add up to at most ``size``, for duplicates too. Adding up
    # m of these would round at most m - 1 times. That is less than the error of the dot product, of which
    # ``sign_threshold`` allows twice as much as there is.
    for i in range(out.shape[0]):
        a = pass_dot(rows, i, w) + b
        size = largest * absolute_sum(rows, i) + abs(b)
        side = 1 if a > 0.0 else 0
        out[i] = side if abs(a) > sign_threshold(terms, size) else 2


@kernel
def first_places(rows, w, b, largest, terms, classes, scores, out):
    """Write the class with the largest activation to ``out[i]``, or the number of classes if this is uncertain.

    ``w`` has the layout that ``row_ops`` describes. ``largest`` bounds the absolute values in ``w`` and ``b``.
    ``classes`` are the numbers of all classes, and ``scores`` is scratch space with one number for each. Rows are as
    for `sides`.
    """
    for i in range(out.shape[0]):
        class_dots(rows, i, w, classes, scores)
        best, first, second = 0, -math.inf, -math.inf
        for k in range(scores.shape[0]):  # invariant: ``first`` and ``second`` are the largest scores below class k
            a = scores[k] + b[k]
            if a > first:
                best, first, second = k, a, first
            elif a > second:
                second = a
        bound = 2.0 * sign_threshold(terms, largest * (absolute_sum(rows, i) + 1.0))
        out[i] = best if first - second > bound else scores.shape[0]


@inlined
def _note(doubts, found, t, v):
    """Add the pair (row ``t``, voter ``v``) to ``doubts`` if there is space; return ``found + 1`` in any case."""
    if found < doubts.shape[0]:
        doubts[found, 0] = t
        doubts[found, 1] = v
    return found + 1


@kernel
def count_votes(products, members, firsts, steps, counts, slack, lengths, bias_value, votes, doubts):
    """Add to ``votes[t]`` the sum of ``counts[v]`` times the sign of the activation of test row t, over all voters v.

    Voter v is the weight vector after update v, which adds ``steps[v]`` times the stored row ``members[v]``.
    ``products[t, m]`` is the dot product of test row t and stored row m. ``firsts[t]`` is the activation for the
    weights before the first update. If an activation is at most ``slack[v] * lengths[t]`` in absolute value, its sign
    is uncertain. Then voter v casts no vote, and the pair (t, v) is written to ``doubts`` if there is space. Return the
    number of uncertain pairs.
    """
    # The voted perceptron in its dual form (Freund and Schapire 1999): a_v = a_{v-1} + step_v (x_v . x), so that all
    # voters of a row cost one addition each and no dot product.
    found = 0
    for t in range(products.shape[0]):
        a, vote = firsts[t], 0.0
        for v in range(members.shape[0]):  # invariant: ``a`` is a_{v-1}; ``vote`` sums the certain voters below v
            a += steps[v] * (products[t, members[v]] + bias_value)
            if abs(a) > slack[v] * lengths[t]:
                vote += math.copysign(counts[v], a)
            else:
                found = _note(doubts, found, t, v)
        votes[t] += vote
    return found


@kernel
def count_direct_votes(
    products, members, trues, rivals, firsts, steps, counts, slack, lengths, bias_value, scores, votes, doubts
):
    """Add ``counts[v]`` to ``votes[t, k]`` for the class k of voter v's largest score on test row t.

    This is ``count_votes`` for classes that compete directly. Update v adds ``steps[v]`` times its row to the weights
    of class ``trues[v]`` and subtracts it from those of class ``rivals[v]``.
    """
    found = 0
    for t in range(products.shape[0]):
        for k in range(scores.shape[0]):
            scores[k] = firsts[t, k]
        for v in range(members.shape[0]):  # invariant: ``scores`` are the scores of voter v - 1
            move = steps[v] * (products[t, members[v]] + bias_value)
            scores[trues[v]] += move
            scores[rivals[v]] -= move
            best, runner_up = -1, -math.inf
            for k in range(scores.shape[0]):  # invariant: ``best`` and ``runner_up`` are those of the classes below k
                if best < 0:
                    best = k
                elif scores[k] > scores[best]:
                    runner_up = scores[best]
                    best = k
                elif scores[k] > runner_up:
                    runner_up = scores[k]
            if scores[best] - runner_up > 2.0 * slack[v] * lengths[t]:
                votes[t, best] += counts[v]
            else:
                found = _note(doubts, found, t, v)
    return found
