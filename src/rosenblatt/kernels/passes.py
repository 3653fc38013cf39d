"""One pass of the perceptron over the examples: two classes, one-vs-rest in lockstep, and direct.

``examples`` is ``(rows, labels, steps)``: the rows (see ``rows``), a class number for each, and a step size for
each (an empty array means 1 everywhere; a row whose step is 0 is not visited). ``machines`` is ``(w, u, tally,
total)``: for each machine its weights, what Algorithm 7 of CIML caches for the average, and a record of type
``TALLY``; and room for one exact total. The order of visits comes in as an array, so that a slow twin can replay it.

Decisions are exact. A mistake has ``y a <= 0``, so after M unit steps ``|w|^2 <= M R^2`` (the second half of
Novikoff's proof), and an activation above its rounding error times ``R^2 sqrt(M)`` has a certain sign. The few
others are settled from the row's own magnitudes, and the rest of them by an exact sum.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import at, inline, kernel, plain
from rosenblatt.kernels.rows import (
    add,
    dot,
    dot_and_square,
    doubt,
    four_dots,
    settled,
    settled_difference,
    square,
    warm,
)

_LEAST = 1e-300  # tiny steps must not vanish from the bound on |w|

TALLY = np.dtype(
    [
        ("target", "i8"),  # the class that this machine answers yes to
        ("b", "f8"),  # the bias
        ("beta", "f8"),  # the bias cached for the average
        ("visits", "f8"),  # examples visited
        ("updates", "i8"),
        ("limit", "i8"),  # stop when there are this many updates; -1 for never
        ("step_sum", "f8"),  # sum of step sizes
        ("energy", "f8"),  # sum of squared step sizes: |w|^2 <= energy * radius2
        ("radius2", "f8"),  # largest |x|^2 seen, the bias coordinate included
        ("reach2", "f8"),  # largest (step |x|)^2 seen
        ("mistakes", "i8"),  # in this pass
        ("lowest", "f8"),  # smallest y a in this pass
        ("lowest_step", "f8"),  # smallest step y a in this pass
        ("last_change", "f8"),  # visits when the weights last changed in this pass
        ("longest", "f8"),  # most visits that weights survived in this pass
    ]
)


@inline
def _all_dots(rows, i, w, active, out):
    """Write the dot product of row ``i`` with the weights of each machine of ``active`` to ``out``."""
    fours = active.shape[0] & -4
    for turn in range(0, fours, 4):
        k0, k1, k2, k3 = active[turn], active[turn + 1], active[turn + 2], active[turn + 3]
        out[turn], out[turn + 1], out[turn + 2], out[turn + 3] = four_dots(rows, i, w, k0, k1, k2, k3)
    for turn in range(fours, active.shape[0]):
        out[turn] = dot(rows, i, w[active[turn]])


@kernel
def one_vs_rest_pass(
    examples, order, start, stop, machines, active, scores, one, terms, ahead, block, first, log, pocket
):
    """Let each machine of ``active`` visit ``order[start:stop]``: CIML algorithm 5, lines 4 to 10.

    A mistake is ``y a <= 0``: a point on the boundary counts, so the first example always moves ``w`` away from
    zero. Machines take turns over blocks of rows, so that a row is read once for all of them; for those that have
    not changed since a block began, its dot products are made together.

    scores: None for one machine, else room for a number per row of a block and machine. one: the constant feature
    of the bias, 1.0 or 0.0. terms: the most entries in a row. ahead: how many visits ahead to ask for a row, 0 for
    never. block: rows that fit the cache. first: whether these rows are new, so that their lengths must be looked
    at. log: ``(rows, visits)`` of each update in this pass, as arrays of one line a machine, without columns where no
    log is kept. pocket: ``(w, b)`` to keep the weights that survived longest in this pass, empty where that is not
    wanted.
    """
    rows, labels, steps = examples
    log_rows, log_visits = log
    pocket_w, pocket_b = pocket
    total = machines[3]
    leader = machines[2][active[0]]
    weighted = steps.shape[0] > 0
    for left in range(start, stop, block):
        right = min(left + block, stop)
        fetch, look = ahead, first
        if scores is not None:
            for t in range(left, right):
                if ahead > 0:
                    warm(rows, labels, order, t + ahead)
                _all_dots(rows, np.int64(at(order, t)), machines[0], active, scores[t - left])
            fetch = 0
        for turn in range(active.shape[0]):
            k = active[turn]
            changed = False
            w, u, s = machines[0][k], machines[1][k], machines[2][k]
            b, beta, visits, energy = s["b"], s["beta"], s["visits"], s["energy"]
            lowest, lowest_step = s["lowest"], s["lowest_step"]
            radius2, reach2, bad = s["radius2"], s["reach2"], 0.0
            if leader["radius2"] > radius2:  # it has looked at this block for the others
                radius2 = leader["radius2"]
            if leader["reach2"] > reach2:
                reach2 = leader["reach2"]
            bound = doubt(terms, radius2 * math.sqrt(energy))
            for t in range(left, right):
                if fetch > 0:
                    warm(rows, labels, order, t + fetch)
                i = np.int64(at(order, t))
                step = at(steps, i) if weighted else 1.0
                if look:
                    a, q = dot_and_square(rows, i, w)
                    q += one
                    bad += q - q
                    if step > 0.0 and q > radius2:
                        radius2 = q
                        bound = doubt(terms, radius2 * math.sqrt(energy))
                    if step * step * q > reach2:
                        reach2 = step * step * q
                elif scores is None or changed:
                    a = dot(rows, i, w)
                else:
                    a = scores[t - left, turn]
                if (weighted and step == 0.0) or s["updates"] == s["limit"]:
                    continue
                a += b
                if not (abs(a) > bound):
                    a = settled(rows, i, w, b, a, terms, total) if energy > 0.0 else 0.0
                y = 1.0 if at(labels, i) == s["target"] else -1.0
                a *= y
                if weighted and step * a < lowest_step:
                    lowest_step = step * a
                visits += 1.0
                if a > lowest:
                    continue
                lowest = a if a > 0.0 else 0.0  # a mistake makes it 0, and from then on only mistakes come here
                if a > 0.0:
                    continue
                before = visits - 1.0
                if pocket_b.shape[0] > 0 and before - s["last_change"] > s["longest"]:
                    s["longest"] = before - s["last_change"]
                    for j in range(w.shape[0]):  # a slice's error message would take seconds to compile
                        pocket_w[k, j] = w[j]
                    pocket_b[k] = b
                if log_rows.shape[1] > 0:
                    log_rows[k, s["mistakes"]] = i
                    log_visits[k, s["mistakes"]] = before
                step *= y
                add(rows, i, step, w, step * before, u)
                b += step * one
                beta += step * before * one
                energy += step * step if step * step > _LEAST else _LEAST
                bound = doubt(terms, radius2 * math.sqrt(energy))
                s["mistakes"] += 1
                s["updates"] += 1
                s["step_sum"] += abs(step)
                s["last_change"] = visits
                changed = True
            s["b"], s["beta"], s["visits"], s["energy"] = b, beta, visits, energy
            s["lowest"], s["lowest_step"] = lowest, lowest_step if weighted else lowest
            s["radius2"], s["reach2"] = radius2 if bad == 0.0 else math.inf, reach2
            fetch, look = 0, False


@plain
def _best_other(rows, i, y, scores, w, tally, bound, total):
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
            lead = settled_difference(rows, i, w[k], tally[k]["b"], w[best], tally[best]["b"], total)
        if lead > 0.0:
            best = k
    return best


@kernel
def direct_pass(examples, order, start, stop, machines, scores, one, terms, ahead, first, log, pocket):
    """Visit ``order[start:stop]``; on a mistake move the true class towards the example and its rival away.

    A mistake is a score of the true class that does not exceed the best other; the rival is that other, the
    first of equals. One machine a class, and the counters of the whole in ``tally[0]``. In the space of all
    classes side by side an update adds a vector of length ``sqrt(2) |x|`` (Kesler), hence ``|W|^2 <= 2 M R^2``.
    The log's second line holds the rivals. ``scores`` is room for one number a class.
    """
    rows, labels, steps = examples
    w, u, tally, total = machines
    log_rows, log_visits = log
    pocket_w, pocket_b = pocket
    classes = w.shape[0]
    limit, visits, mistakes = tally[0]["limit"], tally[0]["visits"], tally[0]["mistakes"]
    energy, radius2, reach2 = tally[0]["energy"], tally[0]["radius2"], tally[0]["reach2"]
    lowest, lowest_step = tally[0]["lowest"], tally[0]["lowest_step"]
    bound = 2.0 * doubt(terms, radius2 * math.sqrt(energy))
    bad = 0.0
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
                bound = 2.0 * doubt(terms, radius2 * math.sqrt(energy))
            reach2 = max(reach2, step * step * q)
        if step == 0.0 or tally[0]["updates"] == limit:
            continue
        y = np.int64(at(labels, i))
        rival = np.int64(-1)
        for k in range(classes):
            scores[k] = dot(rows, i, w[k]) + tally[k]["b"]
            if k != y and (rival < 0 or scores[k] > scores[rival]):
                rival = k
        a = scores[y] - scores[rival]
        if not (a > bound):
            rival = _best_other(rows, i, y, scores, w, tally, bound, total)
            a = scores[y] - scores[rival]
            if not (abs(a) > bound):
                a = settled_difference(rows, i, w[y], tally[y]["b"], w[rival], tally[rival]["b"], total)
        lowest, lowest_step = min(lowest, a), min(lowest_step, step * a)
        if not (a > 0.0):
            if pocket_b.shape[0] > 0 and visits - tally[0]["last_change"] > tally[0]["longest"]:
                tally[0]["longest"] = visits - tally[0]["last_change"]
                for k in range(classes):
                    for j in range(w.shape[1]):
                        pocket_w[k, j] = w[k, j]
                    pocket_b[k] = tally[k]["b"]
            if log_rows.shape[1] > 0:
                log_rows[0, mistakes] = i
                log_rows[1, mistakes] = rival
                log_visits[0, mistakes] = visits
            for k, move in ((y, step), (rival, -step)):
                add(rows, i, move, w[k], move * visits, u[k])
                tally[k]["b"] += move * one
                tally[k]["beta"] += move * visits * one
            mistakes += 1
            tally[0]["updates"] += 1
            tally[0]["step_sum"] += step
            energy += step * step if step * step > _LEAST else _LEAST
            bound = 2.0 * doubt(terms, radius2 * math.sqrt(energy))
            tally[0]["last_change"] = visits + 1.0
        visits += 1.0
    tally[0]["visits"], tally[0]["mistakes"] = visits, mistakes
    tally[0]["energy"], tally[0]["reach2"] = energy, reach2
    tally[0]["radius2"] = radius2 if bad == 0.0 else math.inf
    tally[0]["lowest"], tally[0]["lowest_step"] = lowest, lowest_step
