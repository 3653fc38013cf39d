"""Prediction: activations, best classes and votes, with every sign exact."""

from __future__ import annotations

import math

from rosenblatt.kernels.compiler import inlined, kernel
from rosenblatt.kernels.row_ops import dot, exact_margin_sign, exact_sign, sign_threshold, square


@inlined
def _bounds(rows, i, lengths, terms, bounds):
    """Write the absolute value above which the sign of each class's activation on row ``i`` is certain."""
    length = math.sqrt(square(rows, i) + 1.0)
    for k in range(lengths.shape[0]):
        bounds[k] = sign_threshold(terms, length * lengths[k])


@kernel
def activations(rows, start, stop, w, b, lengths, terms, total, bounds, out):
    """Write ``w[k] . x_i + b[k]``, its sign exact, to ``out[i - start, k]`` for the rows ``start <= i < stop``.

    ``lengths[k]`` is at least ``|(w[k], b[k])|``; ``bounds`` is space for one number a class.
    """
    for i in range(start, stop):
        _bounds(rows, i, lengths, terms, bounds)
        for k in range(w.shape[0]):
            a = dot(rows, i, w[k]) + b[k]
            if not (abs(a) > bounds[k]):
                a = exact_sign(rows, i, w[k], b[k], a, terms, total)
            out[i - start, k] = a


@kernel
def winners(rows, start, stop, w, b, lengths, terms, total, bounds, scores, out, tied):
    """Write the class of largest activation, the first of equals, to ``out``, and whether there are equals."""
    for i in range(start, stop):
        _bounds(rows, i, lengths, terms, bounds)
        best = 0
        equal = False
        for k in range(w.shape[0]):  # invariant: ``best`` is the first largest of the classes up to k, exactly
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


@inlined
def _note(doubts, found, t, v):
    """Add the pair (row ``t``, voter ``v``) to ``doubts`` if it has space; return the number of pairs so far."""
    if found < doubts.shape[0]:
        doubts[found, 0] = t
        doubts[found, 1] = v
    return found + 1


@kernel
def count_votes(products, members, firsts, steps, counts, slack, lengths, bias_value, votes, doubts):
    """Add ``counts * sign(activation)`` over the voters to ``votes``, by a running sum over stored mistakes.

    ``products[t, m]`` is test row t times stored row m. The weights before the first update have the activation
    ``firsts[t]``. Update v makes voter v: it adds ``steps[v]`` times row ``members[v]`` to the weights. Activations
    up to ``slack[v] * lengths[t]`` are in doubt and not counted: the pair (t, v) goes to ``doubts`` while it has space.
    Return the number of pairs in doubt.
    """
    # The voted perceptron in its dual form (Freund and Schapire 1999): a_v = a_{v-1} + step_v (x_v . x), so that all
    # voters of a row cost one addition each and no dot product.
    found = 0
    for t in range(products.shape[0]):
        a, vote = firsts[t], 0.0
        for v in range(members.shape[0]):
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
    """Add ``counts`` to the class of each voter's largest score, as ``count_votes`` does for one classifier.

    Update v adds ``steps[v]`` times its row to class ``trues[v]`` and subtracts it from ``rivals[v]``.
    """
    found = 0
    for t in range(products.shape[0]):
        for k in range(scores.shape[0]):
            scores[k] = firsts[t, k]
        for v in range(members.shape[0]):
            move = steps[v] * (products[t, members[v]] + bias_value)
            scores[trues[v]] += move
            scores[rivals[v]] -= move
            best, runner_up = -1, -math.inf
            for k in range(scores.shape[0]):
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
