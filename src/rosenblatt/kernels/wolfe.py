"""The point of a convex hull nearest to the origin: the steps of Wolfe's algorithm (P. Wolfe 1976).

The points z are of one group or of two, and the weights of each group have the same sum. With one group the mean that
is made short runs over the hull of all points; with two it joins a point of either group's hull.

A point is kept as a row (z, c, 0) or (z, 0, c), by its group, with c about as long as the points. The points in use,
the corral, have linearly independent rows A, held as A = R' Q with orthonormal rows Q: no products of points are
formed, because that squares the condition number; with margins near rounding that is the difference between an answer
and none. Matrices are laid flat; row k of R ends at its diagonal.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import at, helper, kernel
from rosenblatt.kernels.row_ops import dot

PAUSED, CLOSED, AT_ZERO, STUCK = range(4)
"""Why a search came back: its turns are over, its bracket is closed, it is at the origin, no step helps."""

STATE = np.dtype(
    [
        ("groups", "i8"),  # 1 or 2
        ("c", "f8"),
        ("noise", "f8"),  # lengths below this share of c are rounding
        ("most", "i8"),  # steps to make at most
        ("patience", "i8"),  # steps without a shorter mean to make at most
        ("held", "i8"),  # points in the corral
        ("careful", "i8"),  # whether to refine what is computed; that doubles the time
        ("steps", "i8"),
        ("stuck", "i8"),  # steps since the mean last became shorter
        ("low", "f8"),  # the least score along the best direction
        ("high", "f8"),  # the length of the shortest mean
        ("best", "i8"),  # points in that mean
    ]
)

_THIN = 1e-4  # a mean shorter than this share of c needs all the care that there is
_NOTHING = 1e-15  # weights below this may be rounding


@helper
def _take_along(Q, count, rest, shares):
    """Take from ``rest`` its parts along the first rows of Q, and add the lengths of these parts to ``shares``."""
    width = rest.shape[0]
    for i in range(count):
        part = dot((Q, width), i, rest)
        shares[i] += part
        for j in range(width):
            rest[j] -= part * at(Q, i * width + j)


@helper
def _solve(R, room, count, x):
    """Replace ``x`` by the weights w of the rows of A with w A = x Q."""
    for k in range(count - 1, -1, -1):
        x[k] /= at(R, k * room + k)
        part = x[k]
        for i in range(k):
            x[i] -= part * at(R, k * room + i)


@helper
def _add_up(Z, places, weights, count, out):
    """Write the sum of the rows at ``places`` times ``weights`` to ``out``."""
    width = out.shape[0]
    for j in range(width):
        out[j] = 0.0
    for k in range(count):
        weight, first = weights[k], places[k] * width
        for j in range(width):
            out[j] += weight * at(Z, first + j)


@helper
def _lowest(Z, group, u):
    """Return the least scores of the two groups along ``u``, and their rows; infinity and -1 for a group of none."""
    low_0, low_1, where_0, where_1 = math.inf, math.inf, -1, -1
    for p in range(group.shape[0]):
        score = dot((Z, u.shape[0]), p, u)
        if group[p] == 0:
            if score < low_0:
                low_0, where_0 = score, p
        elif score < low_1:
            low_1, where_1 = score, p
    return low_0, low_1, where_0, where_1


@helper
def _enter(p, count, places, Z, Q, R, least, rest, shares):
    """Add row ``p`` to the corral and say so; unless it is there, there is no room, or it depends on the others."""
    width, room = rest.shape[0], places.shape[0]
    if count == room:
        return False
    for k in range(count):
        if places[k] == p:
            return False
        shares[k] = 0.0
    for j in range(width):
        rest[j] = at(Z, p * width + j)
    for _ in range(2):  # Gram-Schmidt twice is enough for Q to stay orthonormal to rounding
        _take_along(Q, count, rest, shares)
    length = math.sqrt(dot((rest, width), 0, rest))
    if not length > least:
        return False
    for k in range(count):
        R[count * room + k] = shares[k]
    R[count * room + count] = length
    for j in range(width):
        Q[count * width + j] = rest[j] / length
    places[count] = p
    return True


@helper
def _straighten(Z, group, places, weights, count, Q, c, groups, lost, mean, u, shares):
    """Make the scores along ``u``, the mean so far, equal again within each group; ``lost`` is a mean of rounding."""
    width = u.shape[0]
    left, right = width - 2, width - 1
    if lost:
        for j in range(width):
            u[j] = 0.0
        u[left], u[right] = -1.0, 1.0 - groups
    else:
        for k in range(count):
            u[left + group[places[k]]] -= weights[k] * groups / c * dot((Z, width), places[k], mean)
    for _ in range(3):
        _take_along(Q, count, u, shares)
    u[left], u[right] = 0.0, 0.0
    if not (lost or dot((u, width), 0, mean) > 0.0):
        for j in range(width):
            u[j] = mean[j]


@helper
def _remove(k, count, places, weights, target, Q, R, width, cosines, sines):
    """Take the point at place ``k`` out of the corral; R is made triangular again by rotations, which turn Q too."""
    room = places.shape[0]
    for j in range(k, count - 1):
        places[j], weights[j], target[j] = places[j + 1], weights[j + 1], target[j + 1]
        line = j * room
        for i in range(j + 2):
            R[line + i] = at(R, line + room + i)
        for i in range(k, j + 1):
            a, b = at(R, line + i), at(R, line + i + 1)
            if i == j:
                length = math.sqrt(a * a + b * b)
                cosines[j], sines[j] = a / length, b / length
            R[line + i] = cosines[i] * a + sines[i] * b
            R[line + i + 1] = cosines[i] * b - sines[i] * a
    for i in range(k, count - 1):
        cosine, sine = cosines[i], sines[i]
        for j in range(i * width, i * width + width):
            a, b = at(Q, j), at(Q, j + width)
            Q[j] = cosine * a + sine * b
            Q[j + width] = cosine * b - sine * a


@kernel
def nearest_steps(Z, group, states, corral, best, u, scratch, tol, turns):
    """Make at most ``turns`` steps toward the shortest mean of the rows Z, and say why they ended.

    A step moves to the nearest point of the corral's affine hull, and drops points until that is in its convex hull.
    Then it looks for the row of each group that is lowest along the mean, and adds these to the corral. It is done
    when the mean is longer than the lowest scores by a share ``tol`` at most.

    group: 0 or 1 for each row. states: one record of type ``STATE``. corral: the places of its points in Z, their
    weights, and Q and R. best: the places, the weights and, along which the least score is largest, the direction of
    the best found. u: the direction to start from; then the last one. scratch: two rows, and room for three numbers a
    point.
    """
    places, weights, Q, R = corral
    best_places, best_weights, best_u = best
    rest, mean, one, other, target = scratch
    state = states[0]
    width, room, groups, c = u.shape[0], places.shape[0], state["groups"], state["c"]
    left, right, share = width - 2, width - 1, 1.0 / groups
    count, careful = state["held"], state["careful"]
    for _ in range(turns if count > 0 else turns + 1):  # the first points come without a step
        least = 0.0
        if state["stuck"] % 2 == 1:  # when no step shows, drop points of hardly any weight, or else keep them
            least = _NOTHING if state["stuck"] % 4 == 1 else -_NOTHING
        while count > 0:
            # the weights of the nearest point are those that the rows (0, c, 0) and (0, 0, c) have, mixed
            for k in range(count):
                one[k] = c * at(Q, k * width + left)
                other[k] = c * at(Q, k * width + right)
            _solve(R, room, count, one)
            _solve(R, room, count, other)
            sum_00, sum_01, sum_10, sum_11 = 0.0, 0.0, 0.0, 2.0 - groups
            for k in range(count):
                if group[places[k]] == 0:
                    sum_00 += one[k]
                    sum_01 += other[k]
                else:
                    sum_10 += one[k]
                    sum_11 += other[k]
            scale = sum_00 * sum_11 - sum_01 * sum_10
            if not scale > 0.0:  # rounding has spoilt the corral
                return STUCK
            first, second = share * (sum_11 - sum_01) / scale, share * (sum_00 - sum_10) / scale
            for k in range(count):
                target[k] = first * one[k] + second * other[k]
                one[k] = 0.0
            if careful:  # a step of refinement, with the points themselves
                _add_up(Z, places, target, count, rest)
                for j in range(width):
                    rest[j] = -rest[j]
                rest[left] += c * first
                rest[right] += c * second
                _take_along(Q, count, rest, one)
                _solve(R, room, count, one)
            sum_00, sum_11 = 0.0, 2.0 - groups
            for k in range(count):
                target[k] += one[k]
                if group[places[k]] == 0:
                    sum_00 += target[k]
                else:
                    sum_11 += target[k]
            if not (sum_00 > 0.0 and sum_11 > 0.0):
                return STUCK
            way, stop = 1.0, -1
            for k in range(count):
                target[k] = share * (target[k] / (sum_00 if group[places[k]] == 0 else sum_11))
                if not target[k] > least:
                    here = weights[k] / (weights[k] - target[k]) if target[k] <= 0.0 < weights[k] else 0.0
                    if stop < 0 or here < way:  # the first weight to vanish on the way
                        way, stop = here, k
            for k in range(count):
                weights[k] = max(0.0, weights[k] + way * (target[k] - weights[k]))
            if stop < 0:
                break
            weights[stop] = 0.0
            for k in range(count - 1, -1, -1):
                if not (weights[k] > 0.0 or target[k] > least):
                    _remove(k, count, places, weights, target, Q, R, width, one, other)
                    count -= 1
        lost = False
        if count > 0:
            _add_up(Z, places, weights, count, mean)
            mean[left], mean[right] = 0.0, 0.0
            length = math.sqrt(dot((mean, width), 0, mean))
            state["stuck"] += 1
            if length < state["high"]:
                state["high"], state["best"], state["stuck"] = length, count, 0
                for k in range(count):
                    best_places[k], best_weights[k] = places[k], weights[k]
            lost = length <= 0.4 * state["noise"] * c * math.sqrt(count)  # no digit is left of the mean
            careful = careful or length < _THIN * c
            for j in range(width):
                u[j] = mean[j]
            if careful and state["stuck"] % 2 == 0:  # a thin mean loses digits of its direction
                _straighten(Z, group, places, weights, count, Q, c, groups, lost, mean, u, one)
            size = math.sqrt(dot((u, width), 0, u))
            if size == 0.0:
                state["held"], state["careful"] = count, careful
                return AT_ZERO
            for j in range(width):
                u[j] /= size
        low_0, low_1, where_0, where_1 = _lowest(Z, group, u)
        if count > 0:
            score = 0.5 * (low_0 + low_1) if groups == 2 else low_0
            if score > state["low"]:
                state["low"] = score
                for j in range(width):
                    best_u[j] = u[j]
            state["held"], state["careful"] = count, careful
            state["steps"] += 1
            if state["steps"] > state["most"] or state["stuck"] > state["patience"]:
                return STUCK
            if state["low"] > 0.0 and state["high"] - state["low"] <= tol * state["high"]:
                return CLOSED
            if lost:
                return AT_ZERO
        before = count
        for g in range(groups):
            if _enter(where_0 if g == 0 else where_1, count, places, Z, Q, R, state["noise"] * c, rest, one):
                weights[count] = 0.0 if before > 0 else share
                count += 1
        state["held"] = count
        if count == before and state["stuck"] > 3:
            return STUCK
    return PAUSED
