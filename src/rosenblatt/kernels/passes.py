"""Training passes over rows: one-vs-rest, with a classifier for each class, or direct, where the classes compete.

For two classes, one-vs-rest has only one classifier. The order of the rows is an argument, so that a slow twin in the
tests can replay a pass. The update rule decides on which rows the weights are updated.

Every decision is exact, by a floating-point filter. Let y be the label, 1 or -1, and a the activation of a row. A
mistake has ``y a <= 0``, so ``|w|^2 <= M R^2`` after M unit steps (the second half of Novikoff's proof). So the sign of
an activation is certain if its absolute value exceeds ``R^2 sqrt(M)`` times a bound on its relative rounding error. The
few other activations are compared with a bound computed from the products of their own row. Those that are still
uncertain are decided by an exact sum. If a rule also updates on correctly classified rows, or the weights do not start
from zero, the bound on ``|w|^2`` includes what this may add.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.orders import shuffle
from rosenblatt.kernels.parts import at, helper, inlined
from rosenblatt.kernels.row_ops import (
    SMALLEST,
    class_dots,
    class_weights,
    copy_weights,
    exact_margin_sign,
    pass_dot,
    pass_dot_and_square,
    prefetch_row,
    scale_weights,
    sign_threshold,
    square,
)
from rosenblatt.kernels.rules import (
    Bounds,
    Update,
    average_weight,
    grown_excess,
    move,
    refined_activation,
    refined_margin,
    step_size,
)

_NEVER = np.iinfo(np.int64).max
_LEAST = 1e-300  # squares of tiny steps must not underflow in the bound on |w|


@inlined
def _refresh_bound(s, terms, activations):
    """Return ``size``, an upper bound on ``|w| |x|`` for all rows so far, and the bound beyond which signs are certain.

    The second bound is on the absolute value of a computed activation. ``size`` is 0 only if the weights have been zero
    since the start. ``activations`` is 1.0, or 2.0 for the sign of a difference of two activations; it multiplies both.
    """
    # The invariant of every pass, for a classifier's counters s:
    #
    #     |w|^2 <= step_square_sum R^2 + excess2,   R^2 = radius2 >= |x|^2 of every row visited.
    #
    # A mistake keeps it, because y a <= 0 in |w + s y x|^2 = |w|^2 + 2 s y a + s^2 |x|^2 (Novikoff 1962); what other
    # updates add is in excess2. By Cauchy and Schwarz, with sqrt(p + q) <= sqrt(p) + sqrt(q),
    #
    #     |w| |x| <= R^2 sqrt(step_square_sum) + R sqrt(excess2) = size.
    #
    # So both results are computed again when one of the three grows: R^2 at a new row, the other two at an update.
    #
    # An update also rounds each weight: w + s x is off by at most u (|w + s x| + 2 |s x|). The bound on |w| is at least
    # |s x| after the update, so it holds again if it grows by a factor of 1 + 2**-51. Over up to 2**44 updates this,
    # with the rounding of the counters, is below 1 %. The bound is not raised for that: sign_threshold and the sums of
    # ``rounded.py`` allow for a ``size`` that is 1 % too small.
    step_square_sum, excess2, radius2 = s["step_square_sum"], s["excess2"], s["radius2"]
    size = 0.0  # squares of rows may be infinite, and infinity times zero is NaN: so zero factors are left out
    if step_square_sum > 0.0:
        size += radius2 * math.sqrt(step_square_sum)
    if excess2 > 0.0:
        size += math.sqrt(radius2) * math.sqrt(excess2)
    if size == 0.0 and (step_square_sum > 0.0 or excess2 > 0.0):
        size = SMALLEST
    return activations * size, activations * sign_threshold(terms, size)


@inlined
def measure_row(s, q, weight, threshold):
    """Update the counters for a new row of squared norm ``q``, and return whether ``radius2`` has increased.

    ``radius2`` becomes infinite for a row with NaN or infinity, and for a finite row whose squares overflow. The caller
    tells these two cases apart.
    """
    if weight * weight * q > s["max_step_norm2"]:
        s["max_step_norm2"] = weight * weight * q
    if threshold > 0.0 and weight > s["max_step"]:
        s["max_step"] = weight
    if q <= s["radius2"] or (weight == 0.0 and q < math.inf):
        return False
    s["radius2"] = q if q < math.inf else math.inf  # NaN is not below infinity either
    return True


@inlined
def share_measures(s, leader):
    """Increase the maxima over rows to those of ``leader``, the classifier that measured the rows of this block."""
    s["radius2"] = max(s["radius2"], leader["radius2"])
    s["max_step_norm2"] = max(s["max_step_norm2"], leader["max_step_norm2"])
    s["max_step"] = max(s["max_step"], leader["max_step"])


@inlined
def count_update(rule, s, update):
    """Add an update to the counters, but for its average."""
    step = update.step
    s["updates"] += 1
    s["pass_updates"] += 1
    s["last_change"] = update.visits + 1.0
    s["step_sum"] += step
    s["step_square_sum"] += step * step if step * step > _LEAST else _LEAST
    s["excess2"] = grown_excess(rule, s["excess2"], update)


@inlined
def _record_update(rule, rows, weights, log, candidate, s, low, high, update):
    """Record an update of the classes from ``low`` to ``high - 1``; return the factor with which it enters averages.

    Call this before the weights change: weights that have survived the most visits so far are copied for the pocket.
    """
    before, step = update.visits, update.step
    if candidate.b.shape[0] > 0 and before - s["last_change"] > s["longest"]:
        s["longest"] = before - s["last_change"]
        for k in range(low, high):
            copy_weights(class_weights(rows, weights.w, k), class_weights(rows, candidate.w, k))
            candidate.b[k] = weights.b[k]
    if log.rows.shape[1] > 0:
        log.rows[low, log.counts[low]] = update.i
        log.visits[low, log.counts[low]] = before
        log.steps[low, log.counts[low]] = step
        log.margins[low, log.counts[low]] = update.a
        log.counts[low] += 1
    counted, epoch, factor = average_weight(weights.decay, before, s["epoch"])
    if epoch > s["epoch"]:  # u and beta are rescaled before their powers overflow: see average_weight
        s["epoch"] = epoch
        for k in range(low, high):
            scale_weights(class_weights(rows, weights.u, k), factor)
            weights.beta[k] *= factor
    count_update(rule, s, update)
    return counted


@inlined
def one_vs_rest_pass(examples, visits, weights, active, scores, log, candidate, rule):
    """Train each classifier in ``active`` on the rows: CIML algorithm 5, lines 4 to 10.

    A row is a mistake if ``y a <= 0``. So a row on the boundary is a mistake, and the first example always moves ``w``
    away from zero.

    Each classifier visits a block of rows before the next classifier visits the same block. The classifiers are
    independent, so the result is the same as if each visited all rows alone. ``scores`` is scratch space with a number
    for each row of a block and each class. It is None for a single classifier; numba then leaves out the code that uses
    it.
    """
    rows, labels, steps, bias_value, terms = examples
    order, start, stop, ahead, block, first = visits
    weighted = steps.shape[0] > 0
    threshold = rule.threshold
    for left in range(start, stop, block):  # invariant: all active classifiers have visited order[start:left]
        right = min(left + block, stop)
        lookahead, measures = ahead, first
        if scores is not None:
            # Each row is read once for all classes. The dot products are computed with the weights at the start of the
            # block, so they are valid for a classifier until its first update in the block (``changed``).
            for t in range(left, right):
                if ahead > 0:
                    prefetch_row(rows, labels, order, t + ahead)
                class_dots(rows, np.int64(at(order, t)), weights.w, active, scores[t - left])
            lookahead = 0
        for turn in range(active.shape[0]):
            k = active[turn]
            s, w, bias = weights.counters[k], class_weights(rows, weights.w, k), weights.b[k]
            # The first classifier of a block measures new rows, and the others copy the maxima. So for the others, R
            # also covers rows of the block that they have not visited yet. It is larger than needed, but still a bound.
            share_measures(s, weights.counters[active[0]])
            size, bound = _refresh_bound(s, terms, 1.0)
            seen, lowest, lowest_step = s["visits"], s["lowest"], s["lowest_step"]
            limit = s["limit"] if s["limit"] >= 0 else _NEVER
            changed = False
            # Invariant: this classifier has visited order[left:t]; ``size`` and ``bound`` hold for its weights and for
            # every row visited; ``scores`` holds for its weights unless ``changed``.
            for t in range(left, right):
                if lookahead > 0:
                    prefetch_row(rows, labels, order, t + lookahead)
                i = np.int64(at(order, t))
                weight = at(steps, i) if weighted else 1.0
                if measures:
                    a, q = pass_dot_and_square(rows, i, w)
                    if measure_row(s, q + bias_value, weight, threshold):
                        size, bound = _refresh_bound(s, terms, 1.0)
                elif scores is None or changed:
                    a = pass_dot(rows, i, w)
                else:
                    a = scores[t - left, k]
                if (weighted and weight == 0.0) or s["updates"] >= limit:
                    continue
                a += bias
                y = 1.0 if at(labels, i) == s["target"] else -1.0
                norm2_or_variance = 0.0
                # Beyond the bound the row is certainly classified correctly, whatever the order of the sum. All other
                # cases are decided exactly. NaN, from a sum that overflowed, is among them: the comparison is false.
                if not (y * a > threshold + bound):
                    bounds = Bounds(bound, size, s["radius2"])
                    a, norm2_or_variance = refined_activation(rule, examples, weights, k, i, a, bounds)
                a *= y
                if weighted and weight * a < lowest_step:
                    lowest_step = weight * a
                seen += 1.0
                if a > threshold:
                    if a < lowest:
                        lowest = a
                    continue
                if not (a > 0.0):
                    s["mistakes"] += 1
                step = step_size(rule, a, norm2_or_variance, weight)
                if step < 0.0:  # no step helps, as with a row of zeros
                    lowest = min(lowest, a)
                    continue
                # ``lowest`` is the margin that a pass without updates proves for w. After an update, earlier
                # activations belong to other weights, so the pass proves no more than the threshold.
                lowest = min(lowest, threshold)
                update = Update(i, seen - 1.0, step, weight, a, norm2_or_variance)
                counted = _record_update(rule, rows, weights, log, candidate, s, k, k + 1, update)
                move(rule, examples, weights, k, y, counted, update)
                bias = weights.b[k]
                size, bound = _refresh_bound(s, terms, 1.0)
                changed = True
            s["visits"], s["lowest"] = seen, lowest
            s["lowest_step"] = lowest_step if weighted else lowest
            lookahead, measures = 0, False  # for the other classifiers the rows are in the cache and measured


@helper
def _best_other(rows, i, y, scores, w, b, bound, total):
    """Return the class other than ``y`` with the largest score, compared exactly; if several tie, the first of them."""
    best = -1
    for k in range(scores.shape[0]):  # invariant: ``best`` is the result for the classes below k
        if k == y:
            continue
        if best < 0:
            best = k
            continue
        margin = scores[k] - scores[best]
        if not (abs(margin) > bound):
            own, others = class_weights(rows, w, k), class_weights(rows, w, best)
            margin = exact_margin_sign(rows, i, own, b[k], others, b[best], total)
        if margin > 0.0:
            best = k
    return best


@inlined
def direct_pass(examples, visits, weights, classes, scores, log, candidate, rule):
    """Train on the rows: a mistake moves the true class's weights towards the row, and the rival's away from it.

    The rival is the class with the largest score among the other classes; the first of them if several tie. A row is a
    mistake if the score of its true class does not exceed the rival's score. In Kesler's construction the weights of
    all classes are concatenated, so an update with step s adds a vector of norm ``sqrt(2) s |x|``. ``classes`` are the
    numbers of all classes. ``scores`` is scratch space with one number for each class.
    """
    rows, labels, steps, bias_value, terms = examples
    order, start, stop, ahead, _, first = visits
    n_classes, b, s = classes.shape[0], weights.b, weights.counters[0]
    threshold = rule.threshold
    # The invariant is (|w_y| + |w_r|) |x| <= size, for all classes y and r and every row visited. In Kesler's space an
    # update adds a vector of squared norm 2 s^2 |x|^2, so |W|^2 <= 2 step_square_sum R^2 + excess2 as in
    # ``_refresh_bound``. As |w_y| + |w_r| <= sqrt(2) |W|,
    #
    #     (|w_y| + |w_r|) |x| <= 2 R^2 sqrt(step_square_sum) + sqrt(2) R sqrt(excess2),
    #
    # at most twice the size of a single classifier, hence the factor 2.0. It also covers the rounding of two sums.
    size, bound = _refresh_bound(s, terms, 2.0)
    seen, lowest, lowest_step = s["visits"], s["lowest"], s["lowest_step"]
    limit = s["limit"] if s["limit"] >= 0 else _NEVER
    for t in range(start, stop):  # invariant: ``size`` and ``bound`` hold for the weights and every row visited
        if ahead > 0:
            prefetch_row(rows, labels, order, t + ahead)
        i = np.int64(at(order, t))
        weight = at(steps, i) if steps.shape[0] > 0 else 1.0
        if first and measure_row(s, square(rows, i) + bias_value, weight, threshold):
            size, bound = _refresh_bound(s, terms, 2.0)
        if weight == 0.0 or s["updates"] >= limit:
            continue
        y, rival = np.int64(at(labels, i)), np.int64(-1)
        class_dots(rows, i, weights.w, classes, scores)
        for k in range(n_classes):
            scores[k] += b[k]
            if k != y and (rival < 0 or scores[k] > scores[rival]):
                rival = k
        a, norm2_or_variance = scores[y] - scores[rival], 0.0
        # Within the bound the rival found above may be the wrong one of two close classes, so it is chosen again.
        if not (a > threshold + bound):
            rival = _best_other(rows, i, y, scores, weights.w, b, bound, weights.total)
            a, bounds = scores[y] - scores[rival], Bounds(bound, size, s["radius2"])
            a, norm2_or_variance = refined_margin(rule, examples, weights, y, rival, i, a, bounds)
        seen += 1.0
        lowest, lowest_step = min(lowest, a), min(lowest_step, weight * a)
        if a > threshold:
            continue
        if not (a > 0.0):
            s["mistakes"] += 1
        step = step_size(rule, a, norm2_or_variance, weight)
        if step < 0.0:
            continue
        if log.rows.shape[1] > 0:
            log.rows[1, log.counts[0]] = rival
        update = Update(i, seen - 1.0, step, weight, a, norm2_or_variance)
        counted = _record_update(rule, rows, weights, log, candidate, s, 0, n_classes, update)
        for k, sign in ((y, 1.0), (rival, -1.0)):
            move(rule, examples, weights, k, sign, counted, update)
        size, bound = _refresh_bound(s, terms, 2.0)
    s["visits"], s["lowest"], s["lowest_step"] = seen, lowest, lowest_step


# several passes in a call


@helper
def _begin_pass(passes, made, order, counters):
    """Begin a complete pass: reset its counters, and write the order in which it visits the rows."""
    if passes.most == 0:
        return
    if passes.shuffled:
        shuffle(order, passes.seed, passes.number + np.uint64(made))
    for turn in range(passes.records.shape[0]):
        s = counters[passes.records[turn]]
        s["mistakes"], s["pass_updates"], s["longest"] = 0, 0, 0.0
        s["lowest"], s["lowest_step"] = math.inf, math.inf
        s["last_change"] = s["visits"]


@helper
def _end_pass(passes, made, counters):
    """Record the mistakes and updates of a complete pass; return whether some classifier made neither."""
    clean = False
    if passes.most == 0:
        return clean
    for turn in range(passes.records.shape[0]):
        s = counters[passes.records[turn]]
        passes.mistakes[made, turn] = s["mistakes"]
        passes.updates[made, turn] = s["pass_updates"]
        clean = clean or (s["mistakes"] == 0 and s["pass_updates"] == 0)
    return clean


@kernel
def one_vs_rest_passes(examples, visits, passes, weights, active, scores, log, candidate, rule):
    """Make several passes with ``one_vs_rest_pass``, or a part of one pass; return the number of complete passes."""
    made, clean = np.int64(0), False  # for the literal 0 numba would compile a second copy of what is called
    while made < max(1, passes.most) and not clean:
        _begin_pass(passes, made, visits.order, weights.counters)
        one_vs_rest_pass(examples, visits, weights, active, scores, log, candidate, rule)
        clean = _end_pass(passes, made, weights.counters)
        made += 1
    return min(made, passes.most)


@kernel
def direct_passes(examples, visits, passes, weights, classes, scores, log, candidate, rule):
    """Make several passes with ``direct_pass``, or a part of one pass; return the number of complete passes."""
    made, clean = np.int64(0), False  # for the literal 0 numba would compile a second copy of what is called
    while made < max(1, passes.most) and not clean:
        _begin_pass(passes, made, visits.order, weights.counters)
        direct_pass(examples, visits, weights, classes, scores, log, candidate, rule)
        clean = _end_pass(passes, made, weights.counters)
        made += 1
    return min(made, passes.most)
