"""Prequential passes ("test, then train", Dawid 1984): each row is predicted by the weights before they learn it.

Predictions have the floating-point filter of ``passes``: a class is certain if its score exceeds all others by more
than rounding can change. The few other rows are left to the caller, who decides them exactly.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parts import at, inlined
from rosenblatt.kernels.passes import direct_pass, one_vs_rest_pass
from rosenblatt.kernels.row_ops import class_weights, pass_dot, sign_threshold, square
from rosenblatt.kernels.rules import Visits, average_share

_NEGLIGIBLE = 1e-300  # more than products lose by underflow


@inlined
def _certain_class(examples, weights, i, records, shown, scores):
    """Return the class number that the weights predict for row i, or -1 if rounding may change it.

    The activations are written to ``scores``. ``shown`` is the decay of the averages that predict, or -1.0 if the last
    weights predict. ``records`` is 1 if all classes share a record of counters, because they compete directly.
    """
    rows, _, _, bias_value, terms = examples
    reach = math.sqrt(square(rows, i) + bias_value)
    factor = 2.0 if records < scores.shape[0] else 1.0
    best, first, second, doubt = np.int64(0), -math.inf, -math.inf, 0.0
    for k in range(scores.shape[0]):  # invariant: ``first`` and ``second`` are the largest scores below class k
        s = weights.counters[min(k, records - 1)]
        a = pass_dot(rows, i, class_weights(rows, weights.w, k)) + weights.b[k]
        # |w| by the invariant of ``passes._refresh_bound``, where factor 2 belongs to ``direct_pass``
        length = math.sqrt(factor * (factor * s["step_square_sum"] * s["radius2"] + s["excess2"]))
        if shown >= 0.0:
            # The average is w minus u's share (CIML algorithm 7). An update changes the weights by at most step |x|,
            # and the last weights minus their average by no more.
            share = average_share(shown, s["visits"], s["epoch"])
            a -= share * (pass_dot(rows, i, class_weights(rows, weights.u, k)) + weights.beta[k])
            length += 1.01 * s["step_sum"] * math.sqrt(s["radius2"])
        threshold = sign_threshold(terms, length * reach)
        if threshold > doubt:
            doubt = threshold
        scores[k] = a
        if a > first:
            best, first, second = np.int64(k), a, first
        elif a > second:
            second = a
    if scores.shape[0] == 1:
        certain, best = abs(scores[0]) > doubt + _NEGLIGIBLE, np.int64(scores[0] > 0.0)
    else:
        certain = first - second > 2.0 * doubt + _NEGLIGIBLE
    return best if certain else np.int64(-1)


@kernel
def one_vs_rest_rows(examples, visits, is_known, shown, weights, active, scores, log, candidate, rule, out):
    """Predict each row, then train on it with ``one_vs_rest_pass``.

    ``out`` is a pair of arrays with an entry for each row: the class number, and the activations. Stop before the first
    row whose class is uncertain, and return its place in the order; it is not visited yet. If ``is_known``, the class
    of the first row is given in ``out``. Return ``visits.stop`` after the last row.
    """
    found, activations = out
    for t in range(visits.start, visits.stop):
        i = np.int64(at(visits.order, t))
        if not (is_known and t == visits.start):
            found[i] = _certain_class(examples, weights, i, activations.shape[1], shown, activations[i])
            if found[i] < 0:
                return t
        one = Visits(visits.order, t, t + 1, visits.ahead, visits.block, visits.first)
        one_vs_rest_pass(examples, one, weights, active, scores, log, candidate, rule)
    return visits.stop


@kernel
def direct_rows(examples, visits, is_known, shown, weights, classes, scores, log, candidate, rule, out):
    """Predict each row, then train on it with ``direct_pass``; the rest is as in ``one_vs_rest_rows``."""
    found, activations = out
    for t in range(visits.start, visits.stop):
        i = np.int64(at(visits.order, t))
        if not (is_known and t == visits.start):
            found[i] = _certain_class(examples, weights, i, np.int64(1), shown, activations[i])
            if found[i] < 0:
                return t
        one = Visits(visits.order, t, t + 1, visits.ahead, visits.block, visits.first)
        direct_pass(examples, one, weights, classes, scores, log, candidate, rule)
    return visits.stop
