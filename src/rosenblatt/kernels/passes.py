"""One pass of the perceptron over some examples: two classes, one-vs-rest in lockstep, and direct.

The order of visits comes in as an array, so that a slow twin can replay it.

Decisions are exact. A mistake has ``y a <= 0``, so after M unit steps ``|w|^2 <= M R^2`` (the second half of
Novikoff's proof), and an activation above its rounding error times ``R^2 sqrt(M)`` has a certain sign. The few
others are settled from the row's own magnitudes, and the rest of them by an exact sum.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.kernels.compiler import at, kernel, plain
from rosenblatt.kernels.multiclass import (
    class_add,
    class_dot,
    class_dot_and_square,
    class_dots,
    class_weights,
    copy_class,
    settled_class,
    settled_lead,
)
from rosenblatt.kernels.rows import doubt, square, warm

_NEVER = np.iinfo(np.int64).max
_LEAST = 1e-300  # tiny steps must not vanish from the bound on |w|

COUNTERS = np.dtype(
    [
        ("target", "i8"),  # the class that this classifier answers yes to
        ("visits", "f8"),  # examples visited
        ("updates", "i8"),
        ("limit", "i8"),  # stop when there are this many updates; -1 for never
        ("step_sum", "f8"),  # sum of step sizes
        ("step_square_sum", "f8"),  # |w|^2 <= step_square_sum * radius2
        ("radius2", "f8"),  # largest |x|^2 seen, the bias coordinate included
        ("max_step_norm2", "f8"),  # largest (step |x|)^2 seen
        ("mistakes", "i8"),  # in this pass
        ("lowest", "f8"),  # smallest y a in this pass
        ("lowest_step", "f8"),  # smallest step y a in this pass
        ("last_change", "f8"),  # visits when the weights last changed in this pass
        ("longest", "f8"),  # most visits that weights survived in this pass
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
    counts: Any
    """How many updates there are in each line."""


class Candidate(NamedTuple):
    """Where the weights that survived longest in this pass are kept; ``b`` is empty where that is not wanted."""

    w: Any
    b: Any


@kernel
def one_vs_rest_pass(examples, visits, weights, active, scores, log, candidate):
    """Let each classifier of ``active`` visit the rows: CIML algorithm 5, lines 4 to 10.

    A mistake is ``y a <= 0``: a point on the boundary counts, so the first example always moves ``w`` away from
    zero. Classifiers take turns over blocks of rows; for those that have not changed since a block began, its dot
    products are made together. ``scores`` is None for a single class, else space for a number per row of a block
    and class.
    """
    rows, labels, steps, one, terms = examples
    order, start, stop, ahead, block, first = visits
    all_w, all_u, b, beta, counters, total = weights
    leader = counters[active[0]]
    weighted = steps.shape[0] > 0
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
            bias, late_bias, seen, step_square_sum = b[k], beta[k], s["visits"], s["step_square_sum"]
            lowest, lowest_step = s["lowest"], s["lowest_step"]
            radius2, reach2, bad = s["radius2"], s["max_step_norm2"], 0.0
            if leader["radius2"] > radius2:  # it has looked at this block for the others
                radius2 = leader["radius2"]
            if leader["max_step_norm2"] > reach2:
                reach2 = leader["max_step_norm2"]
            bound = doubt(terms, radius2 * math.sqrt(step_square_sum))
            limit = s["limit"] if s["limit"] >= 0 else _NEVER
            for t in range(left, right):
                if fetch > 0:
                    warm(rows, labels, order, t + fetch)
                i = np.int64(at(order, t))
                step = at(steps, i) if weighted else 1.0
                if look:
                    a, q = class_dot_and_square(rows, w, k, i)
                    q += one
                    bad += q - q
                    if step > 0.0 and q > radius2:
                        radius2 = q
                        bound = doubt(terms, radius2 * math.sqrt(step_square_sum))
                    if step * step * q > reach2:
                        reach2 = step * step * q
                elif scores is None or changed:
                    a = class_dot(rows, w, k, i)
                else:
                    a = scores[t - left, k]
                if (weighted and step == 0.0) or s["updates"] >= limit:
                    continue
                a += bias
                if not (abs(a) > bound):
                    a = settled_class(rows, w, bias, k, i, a, terms, total) if step_square_sum > 0.0 else 0.0
                y = 1.0 if at(labels, i) == s["target"] else -1.0
                a *= y
                if weighted and step * a < lowest_step:
                    lowest_step = step * a
                seen += 1.0
                if a > lowest:
                    continue
                lowest = a if a > 0.0 else 0.0  # a mistake makes it 0, and from then on only mistakes come here
                if a > 0.0:
                    continue
                before = seen - 1.0
                if candidate.b.shape[0] > 0 and before - s["last_change"] > s["longest"]:
                    s["longest"] = before - s["last_change"]
                    copy_class(rows, w, k, candidate.w)
                    candidate.b[k] = bias
                if log.rows.shape[1] > 0:
                    log.rows[k, log.counts[k]] = i
                    log.visits[k, log.counts[k]] = before
                    log.counts[k] += 1
                step *= y
                class_add(rows, w, u, k, i, step, step * before)
                bias += step * one
                late_bias += step * before * one
                step_square_sum += step * step if step * step > _LEAST else _LEAST
                bound = doubt(terms, radius2 * math.sqrt(step_square_sum))
                s["mistakes"] += 1
                s["updates"] += 1
                s["step_sum"] += abs(step)
                s["last_change"] = seen
                changed = True
            b[k], beta[k], s["visits"], s["step_square_sum"] = bias, late_bias, seen, step_square_sum
            s["lowest"], s["lowest_step"] = lowest, lowest_step if weighted else lowest
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
def direct_pass(examples, visits, weights, classes, scores, log, candidate):
    """Visit the rows; on a mistake move the true class towards the example and its rival away.

    A mistake is a score of the true class that does not exceed the best other; the rival is that other, the
    first of equals. In the space of all classes side by side an update adds a vector of length ``sqrt(2) |x|``
    (Kesler), hence ``|W|^2 <= 2 M R^2``. ``classes`` are the numbers of all classes, ``scores`` space for one number
    a class.
    """
    rows, labels, steps, one, terms = examples
    order, start, stop, ahead, _, first = visits
    w, u, b, beta, counters, total = weights
    s = counters[0]
    seen, step_square_sum, lowest, lowest_step = s["visits"], s["step_square_sum"], s["lowest"], s["lowest_step"]
    radius2, reach2, bad = s["radius2"], s["max_step_norm2"], 0.0
    limit = s["limit"] if s["limit"] >= 0 else _NEVER
    bound = 2.0 * doubt(terms, radius2 * math.sqrt(step_square_sum))
    for t in range(start, stop):
        if ahead > 0:
            warm(rows, labels, order, t + ahead)
        i = np.int64(at(order, t))
        step = at(steps, i) if steps.shape[0] > 0 else 1.0
        if first:
            q = square(rows, i) + one
            bad += q - q
            if step > 0.0 and q > radius2:
                radius2 = q
                bound = 2.0 * doubt(terms, radius2 * math.sqrt(step_square_sum))
            reach2 = max(reach2, step * step * q)
        if step == 0.0 or s["updates"] >= limit:
            continue
        y = np.int64(at(labels, i))
        rival = np.int64(-1)
        class_dots(rows, i, w, classes, scores)
        for k in range(classes.shape[0]):
            scores[k] += b[k]
            if k != y and (rival < 0 or scores[k] > scores[rival]):
                rival = k
        a = scores[y] - scores[rival]
        if not (a > bound):
            rival = _best_other(rows, i, y, scores, w, b, bound, total)
            a = scores[y] - scores[rival]
            if not (abs(a) > bound):
                a = settled_lead(rows, w, b, y, rival, i, total)
        lowest, lowest_step = min(lowest, a), min(lowest_step, step * a)
        if not (a > 0.0):
            if candidate.b.shape[0] > 0 and seen - s["last_change"] > s["longest"]:
                s["longest"] = seen - s["last_change"]
                for k in range(classes.shape[0]):
                    copy_class(rows, class_weights(rows, w, k), k, candidate.w)
                    candidate.b[k] = b[k]
            if log.rows.shape[1] > 0:
                log.rows[0, log.counts[0]] = i
                log.rows[1, log.counts[0]] = rival
                log.visits[0, log.counts[0]] = seen
                log.counts[0] += 1
            for k, move in ((y, step), (rival, -step)):
                class_add(rows, class_weights(rows, w, k), class_weights(rows, u, k), k, i, move, move * seen)
                b[k] += move * one
                beta[k] += move * seen * one
            s["mistakes"] += 1
            s["updates"] += 1
            s["step_sum"] += step
            step_square_sum += step * step if step * step > _LEAST else _LEAST
            bound = 2.0 * doubt(terms, radius2 * math.sqrt(step_square_sum))
            s["last_change"] = seen + 1.0
        seen += 1.0
    s["visits"], s["step_square_sum"], s["max_step_norm2"] = seen, step_square_sum, reach2
    s["radius2"] = radius2 if bad == 0.0 else math.inf
    s["lowest"], s["lowest_step"] = lowest, lowest_step
