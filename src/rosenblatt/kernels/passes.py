"""One pass over some examples: two classes, one-vs-rest in lockstep, and direct.

The order of visits comes in as an array, so that a slow twin can replay it; the rule says which visits make an update.

Decisions are exact. A mistake has ``y a <= 0``, so after M unit steps ``|w|^2 <= M R^2`` (the second half of
Novikoff's proof), and an activation above its rounding error times ``R^2 sqrt(M)`` has a certain sign. The few
others are settled from the row's own magnitudes, and the rest of them by an exact sum. Where a rule makes updates of
rows that are right, too, or weights do not start from zero, ``|w|^2`` is bounded by what that may add to it.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import at, inline, kernel, plain
from rosenblatt.kernels.row_ops import (
    SMALLEST,
    class_dot,
    class_dot_and_square,
    class_dots,
    class_weights,
    copy_class,
    doubt,
    settled_lead,
    square,
    warm,
)
from rosenblatt.kernels.rules import (
    closer,
    closer_lead,
    grown_excess,
    late_factor,
    move_bias,
    move_weights,
    scale_class,
    step_size,
)

_NEVER = np.iinfo(np.int64).max
_LEAST = 1e-300  # tiny steps must not vanish from the bound on |w|


@inline
def _size(radius2, step_square_sum, excess2):
    """Return at least ``|w| |x|`` for all rows so far; 0 only for weights that never moved from zero."""
    if step_square_sum == 0.0 and excess2 == 0.0:
        return 0.0
    size = 0.0  # squares of rows may be infinite, and infinity times zero is no number
    if step_square_sum > 0.0:
        size += radius2 * math.sqrt(step_square_sum)
    if excess2 > 0.0:
        size += math.sqrt(radius2) * math.sqrt(excess2)
    return size if size > 0.0 else SMALLEST


@kernel
def one_vs_rest_pass(examples, visits, weights, active, scores, log, candidate, rule):
    """Let each classifier of ``active`` visit the rows: CIML algorithm 5, lines 4 to 10.

    A mistake is ``y a <= 0``: a point on the boundary counts, so the first example always moves ``w`` away from
    zero. Classifiers take turns over blocks of rows; for those that have not changed since a block began, its dot
    products are made together. ``scores`` is None for a single class, else space for a number per row of a block
    and class.
    """
    rows, labels, steps, one, terms = examples
    order, start, stop, ahead, block, first = visits
    all_w, all_u, b, beta, all_s, s_b, decay, counters, total = weights
    leader = counters[active[0]]
    weighted = steps.shape[0] > 0
    threshold = rule.threshold
    for left in range(start, stop, block):
        right = min(left + block, stop)
        fetch, look = ahead, first
        if scores is not None:
            for t in range(left, right):
                if ahead > 0:
                    warm(rows, labels, order, t + ahead)
                class_dots(rows, np.int64(at(order, t)), all_w, active, scores[t - left])
            fetch = 0
        for turn in range(active.shape[0]):
            k = active[turn]
            changed = False
            s, w, u = counters[k], class_weights(rows, all_w, k), class_weights(rows, all_u, k)
            seen, step_square_sum, excess2 = s["visits"], s["step_square_sum"], s["excess2"]
            least, lowest_step = s["lowest"], s["lowest_step"]
            lowest = least if least > threshold else threshold  # what is above it makes no update
            radius2, reach2, bad = s["radius2"], s["max_step_norm2"], 0.0
            if leader["radius2"] > radius2:  # it has looked at this block for the others
                radius2 = leader["radius2"]
            if leader["max_step_norm2"] > reach2:
                reach2 = leader["max_step_norm2"]
            if leader["max_step"] > s["max_step"]:
                s["max_step"] = leader["max_step"]
            size = _size(radius2, step_square_sum, excess2)
            bound = doubt(terms, size)
            limit = s["limit"] if s["limit"] >= 0 else _NEVER
            bias = b[k]
            for t in range(left, right):
                if fetch > 0:
                    warm(rows, labels, order, t + fetch)
                i = np.int64(at(order, t))
                weight = at(steps, i) if weighted else 1.0
                if look:
                    a, q = class_dot_and_square(rows, w, k, i)
                    q += one
                    bad += q - q
                    if weight > 0.0 and q > radius2:
                        radius2 = q
                        size = _size(radius2, step_square_sum, excess2)
                        bound = doubt(terms, size)
                    if weight * weight * q > reach2:
                        reach2 = weight * weight * q
                    if threshold > 0.0 and weight > s["max_step"]:
                        s["max_step"] = weight
                elif scores is None or changed:
                    a = class_dot(rows, w, k, i)
                else:
                    a = scores[t - left, k]
                if (weighted and weight == 0.0) or s["updates"] >= limit:
                    continue
                a += bias
                y = 1.0 if at(labels, i) == s["target"] else -1.0
                second = 0.0
                if y * a > threshold + bound:
                    a *= y
                else:
                    about = bound, size, radius2, terms, one, total
                    a, second = closer(rule, rows, w, bias, all_s, s_b, k, i, a, y, *about)
                if weighted and weight * a < lowest_step:
                    lowest_step = weight * a
                seen += 1.0
                if a > lowest:
                    continue
                if a > threshold:
                    lowest = a
                    continue
                lowest = threshold  # from now on only such rows come here
                if not (a > 0.0):
                    s["mistakes"] += 1
                step = step_size(rule, a, second, weight)
                if step < 0.0:  # a row of zeros, say, which cannot be moved
                    least = min(least, a)
                    continue
                before = seen - 1.0
                if candidate.b.shape[0] > 0 and before - s["last_change"] > s["longest"]:
                    s["longest"] = before - s["last_change"]
                    copy_class(rows, w, k, candidate.w)
                    candidate.b[k] = bias
                if log.rows.shape[1] > 0:
                    log.rows[k, log.counts[k]] = i
                    log.visits[k, log.counts[k]] = before
                    log.steps[k, log.counts[k]] = step
                    log.counts[k] += 1
                late, epoch, factor = late_factor(decay, before, s["epoch"])
                if epoch > s["epoch"]:
                    s["epoch"] = epoch
                    scale_class(rows, u, k, factor)
                    beta[k] *= factor
                step_square_sum += step * step if step * step > _LEAST else _LEAST
                excess2 = grown_excess(rule, excess2, step, a, second)
                s["updates"] += 1
                s["pass_updates"] += 1
                s["step_sum"] += step
                step *= y
                move_weights(rule, rows, w, u, all_s, k, i, step, step * late, second, weight)
                move_bias(rule, b, beta, s_b, k, step, step * late, one, second, weight)
                bias = b[k]
                size = _size(radius2, step_square_sum, excess2)
                bound = doubt(terms, size)
                s["last_change"] = seen
                changed = True
            s["visits"], s["step_square_sum"], s["excess2"] = seen, step_square_sum, excess2
            if lowest < least:
                least = lowest
            s["lowest"], s["lowest_step"] = least, lowest_step if weighted else least
            s["radius2"], s["max_step_norm2"] = radius2 if bad == 0.0 else math.inf, reach2
            fetch, look = 0, False


@plain
def _best_other(rows, i, y, scores, w, b, bound, total):
    """Return the class other than ``y`` of largest score, the first of equals, decided exactly."""
    best = -1
    for k in range(scores.shape[0]):
        if k == y:
            continue
        if best < 0:
            best = k
            continue
        lead = scores[k] - scores[best]
        if not (abs(lead) > bound):
            lead = settled_lead(rows, w, b, k, best, i, total)
        if lead > 0.0:
            best = k
    return best


@kernel
def direct_pass(examples, visits, weights, classes, scores, log, candidate, rule):
    """Visit the rows; on a mistake move the true class towards the example and its rival away.

    A mistake is a score of the true class that does not exceed the best other; the rival is that other, the
    first of equals. In the space of all classes side by side an update adds a vector of length ``sqrt(2) |x|``
    (Kesler), hence ``|W|^2 <= 2 M R^2``. ``classes`` are the numbers of all classes, ``scores`` space for one number
    a class.
    """
    rows, labels, steps, one, terms = examples
    order, start, stop, ahead, _, first = visits
    w, u, b, beta, all_s, s_b, decay, counters, total = weights
    s = counters[0]
    seen, step_square_sum, excess2 = s["visits"], s["step_square_sum"], s["excess2"]
    lowest, lowest_step = s["lowest"], s["lowest_step"]
    radius2, reach2, bad = s["radius2"], s["max_step_norm2"], 0.0
    limit = s["limit"] if s["limit"] >= 0 else _NEVER
    size = 2.0 * _size(radius2, step_square_sum, excess2)
    bound = 2.0 * doubt(terms, 0.5 * size)
    for t in range(start, stop):
        if ahead > 0:
            warm(rows, labels, order, t + ahead)
        i = np.int64(at(order, t))
        weight = at(steps, i) if steps.shape[0] > 0 else 1.0
        if first:
            q = square(rows, i) + one
            bad += q - q
            if weight > 0.0 and q > radius2:
                radius2 = q
                size = 2.0 * _size(radius2, step_square_sum, excess2)
                bound = 2.0 * doubt(terms, 0.5 * size)
            reach2 = max(reach2, weight * weight * q)
            if rule.threshold > 0.0 and weight > s["max_step"]:
                s["max_step"] = weight
        if weight == 0.0 or s["updates"] >= limit:
            continue
        y = np.int64(at(labels, i))
        rival = np.int64(-1)
        class_dots(rows, i, w, classes, scores)
        for k in range(classes.shape[0]):
            scores[k] += b[k]
            if k != y and (rival < 0 or scores[k] > scores[rival]):
                rival = k
        a, second = scores[y] - scores[rival], 0.0
        if not (a > rule.threshold + bound):
            rival = _best_other(rows, i, y, scores, w, b, bound, total)
            a, about = scores[y] - scores[rival], (bound, size, radius2, terms, one, total)
            a, second = closer_lead(rule, rows, w, b, all_s, s_b, y, rival, i, a, *about)
        lowest, lowest_step = min(lowest, a), min(lowest_step, weight * a)
        if not (a > 0.0):
            s["mistakes"] += 1
        step = step_size(rule, a, second, weight) if not (a > rule.threshold) else -1.0
        if step >= 0.0:
            if candidate.b.shape[0] > 0 and seen - s["last_change"] > s["longest"]:
                s["longest"] = seen - s["last_change"]
                for k in range(classes.shape[0]):
                    copy_class(rows, class_weights(rows, w, k), k, candidate.w)
                    candidate.b[k] = b[k]
            if log.rows.shape[1] > 0:
                log.rows[0, log.counts[0]] = i
                log.rows[1, log.counts[0]] = rival
                log.visits[0, log.counts[0]] = seen
                log.steps[0, log.counts[0]] = step
                log.counts[0] += 1
            late, epoch, factor = late_factor(decay, seen, s["epoch"])
            if epoch > s["epoch"]:
                s["epoch"] = epoch
                for k in range(classes.shape[0]):
                    scale_class(rows, class_weights(rows, u, k), k, factor)
                    beta[k] *= factor
            for k, move in ((y, step), (rival, -step)):
                one_w, one_u = class_weights(rows, w, k), class_weights(rows, u, k)
                move_weights(rule, rows, one_w, one_u, all_s, k, i, move, move * late, second, weight)
                move_bias(rule, b, beta, s_b, k, move, move * late, one, second, weight)
            s["updates"] += 1
            s["pass_updates"] += 1
            s["step_sum"] += step
            step_square_sum += step * step if step * step > _LEAST else _LEAST
            excess2 = grown_excess(rule, excess2, step, a, second)
            size = 2.0 * _size(radius2, step_square_sum, excess2)
            bound = 2.0 * doubt(terms, 0.5 * size)
            s["last_change"] = seen + 1.0
        seen += 1.0
    s["visits"], s["step_square_sum"], s["excess2"] = seen, step_square_sum, excess2
    s["max_step_norm2"] = reach2
    s["radius2"] = radius2 if bad == 0.0 else math.inf
    s["lowest"], s["lowest_step"] = lowest, lowest_step
