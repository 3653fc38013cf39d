"""The point of a convex hull nearest to the origin: steps of Wolfe's algorithm.

P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).

The algorithm computes the shortest convex combination of points z, called the mean below. The points form one group or
two, and the weights of each group have the same sum. With one group, a mean is a point of the convex hull of all z.
With two groups, of which the caller negates one, a mean is half the difference between a point of one hull and a point
of the other.

A point of the first group is stored as a row (z, c, 0), a point of the second as (z, 0, c), where c is about the length
of the longest point. The points in use, which Wolfe calls the corral, are affinely independent, so the rows that store
them are linearly independent. Let A be the matrix of these rows. It is stored in factors, A = R' Q, where Q has
orthonormal rows and R is upper triangular. Wolfe factorises the Gram matrix instead, A A' = R' R. That squares the
condition number, and would leave no correct digit in a mean that is only slightly longer than the rounding errors.
Matrices are flat arrays. The array ``R`` has the columns of R one after the other, each down to the diagonal.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.parts import at, helper
from rosenblatt.kernels.row_ops import steady_dot

PAUSED, CLOSED, AT_ZERO, STUCK = range(4)
"""The reasons why a call ends: all steps made, ``low`` and ``high`` agree, the mean is the origin, no step helps."""

STATE = np.dtype(
    [
        ("groups", "i8"),  # 1 or 2
        ("c", "f8"),
        ("noise", "f8"),  # lengths below ``noise`` times c are rounding errors
        ("most", "i8"),  # the largest number of steps in all calls together
        ("patience", "i8"),  # the largest number of steps without a shorter mean
        ("held", "i8"),  # number of points in the corral
        ("careful", "i8"),  # whether to refine solutions, which doubles the time
        ("steps", "i8"),  # steps made in all calls
        ("stuck", "i8"),  # steps since the mean last became shorter
        ("low", "f8"),  # the largest lower bound on the distance: the lowest score along the direction ``best_u``
        ("high", "f8"),  # the smallest upper bound on the distance: the length of the shortest mean
        ("best", "i8"),  # number of points in the shortest mean
    ]
)

# As soon as the mean is shorter than _THIN times c, the weights are computed with iterative refinement. The mean has an
# error of about u c, u = 2**-53. Along a mean of length t c, scores are then off by about u c / t, which is u / t**2
# relative to that length: 1e-8 for t = 1e-4, well below the usual tolerance of 1e-6. With half or twice the value of
# _THIN the error is 4e-8 or 3e-9, so either would work as well. For t = 1e-8 the scores have no correct digit.
_THIN = 1e-4
# Weights of this size may be rounding errors: about 9 units of 2**-53, for weights that add up to 1. A guess: only the
# number of steps depends on it.
_NOTHING = 1e-15


@helper
def _take_along(Q, count, rest, shares):
    """Subtract from ``rest`` its projections on the first ``count`` rows of Q; add their coefficients to ``shares``.

    This is the modified Gram-Schmidt method: each coefficient is computed from ``rest`` after the earlier subtractions.
    """
    width = rest.shape[0]
    for i in range(count):  # invariant: ``rest`` is orthogonal to the rows of Q before i, up to rounding
        part = steady_dot((Q, width), i, rest)
        shares[i] += part
        for j in range(width):
            rest[j] -= part * at(Q, i * width + j)


@helper
def _solve(R, room, count, x):
    """Replace ``x`` by the solution w of R w = x, by back substitution. As A = R' Q, it satisfies w A = x Q.

    ``room`` is the distance in ``R`` from the start of a column to the start of the next.
    """
    # Invariant: x[k + 1 :] is w[k + 1 :], and x[: k + 1] is the right-hand side minus R[: k + 1, k + 1 :] w[k + 1 :].
    for k in range(count - 1, -1, -1):
        x[k] /= at(R, k * room + k)
        part = x[k]
        for i in range(k):
            x[i] -= part * at(R, k * room + i)


@helper
def _add_up(Z, places, weights, count, out):
    """Write to ``out`` the sum of ``weights`` times the rows of Z at ``places``, for the first ``count`` of both."""
    width = out.shape[0]
    for j in range(width):
        out[j] = 0.0
    for k in range(count):  # invariant: ``out`` is the sum over the places before k
        weight, first = weights[k], places[k] * width
        for j in range(width):
            out[j] += weight * at(Z, first + j)


@helper
def _lowest(Z, group, u):
    """Return (low_0, low_1, where_0, where_1): the lowest score z . u in each group, and the row that attains it.

    An empty group has the score infinity and the row -1.
    """
    low_0, low_1, where_0, where_1 = math.inf, math.inf, -1, -1
    for p in range(group.shape[0]):  # invariant: the results are those of the rows before p
        score = steady_dot((Z, u.shape[0]), p, u)
        if group[p] == 0:
            if score < low_0:
                low_0, where_0 = score, p
        elif score < low_1:
            low_1, where_1 = score, p
    return low_0, low_1, where_0, where_1


@helper
def _enter(p, count, places, Z, Q, R, least, rest, shares):
    """Add row ``p`` to the corral and return True.

    Return False, without a change, if the row is in the corral already, if there is no space, or if it depends linearly
    on the rows of the corral, up to rounding: the norm of its component orthogonal to them is at most ``least``.
    """
    width, room = rest.shape[0], places.shape[0]
    if count == room:
        return False
    for k in range(count):
        if places[k] == p:
            return False
        shares[k] = 0.0
    for j in range(width):
        rest[j] = at(Z, p * width + j)
    for _ in range(2):  # twice is enough to keep Q orthonormal up to rounding (Kahan, in Parlett 1980)
        _take_along(Q, count, rest, shares)
    length = math.sqrt(steady_dot((rest, width), 0, rest))
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
    """Correct ``u``, a copy of the mean, so that the corral's points of each group have equal scores along it.

    If ``lost``, the mean has no correct digit. Then ``u`` becomes the direction orthogonal to the corral's affine hull,
    computed without the mean.
    """
    # In exact arithmetic the points of a group g in the corral have the same score along the mean. With s_g = -1 / c
    # times that score, (mean, s_0, s_1) is orthogonal to all rows of A. If the mean is short, rounding has destroyed
    # this. So s_g is computed from the weighted average of the scores of the group, and orthogonality is restored by
    # subtracting the projections on Q. Each of the three turns removes what rounding has left over in the turn before.
    # Two would do if the rows of Q were orthonormal up to rounding, as in ``_enter``. The third, a guess, is for what
    # the rotations of ``_remove`` have added. No proof rests on u: it only decides where the search looks next.
    #
    # If the mean is lost, start from e = (0, -1, -1) instead, or from (0, -1, 0) for one group. Its component r
    # orthogonal to the rows of A has equal scores within each group. The scores of the two groups add up to
    # c r . e = c |r|^2, which is not negative, so r does not point away from the points.
    width = u.shape[0]
    left, right = width - 2, width - 1
    if lost:
        for j in range(width):
            u[j] = 0.0
        u[left], u[right] = -1.0, 1.0 - groups
    else:
        for k in range(count):
            u[left + group[places[k]]] -= weights[k] * groups / c * steady_dot((Z, width), places[k], mean)
    for _ in range(3):
        _take_along(Q, count, u, shares)
    u[left], u[right] = 0.0, 0.0
    if not (
        lost or steady_dot((u, width), 0, mean) > 0.0
    ):  # rounding has turned u away from the mean: use the mean itself
        for j in range(width):
            u[j] = mean[j]


@helper
def _remove(k, count, places, weights, target, Q, R, width, cosines, sines):
    """Remove the point at place ``k`` from the corral.

    R without column k has one entry below the diagonal in each later column. Givens rotations of the rows of R remove
    these entries, and the same rotations of the rows of Q preserve A = R' Q. Rotation i acts on the rows i and i + 1.
    It is computed from column i, whose entry below the diagonal is not 0, because it was a diagonal entry before. Then
    it is applied to the columns from i on.
    """
    room = places.shape[0]
    for j in range(k, count - 1):  # invariant: columns before j are upper triangular; rotations k to j - 1 are known
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
    for i in range(k, count - 1):  # invariant: rotations k to i - 1 have been applied to Q
        cosine, sine = cosines[i], sines[i]
        for j in range(i * width, i * width + width):
            a, b = at(Q, j), at(Q, j + width)
            Q[j] = cosine * a + sine * b
            Q[j + width] = cosine * b - sine * a


@kernel
def nearest_steps(Z, group, states, corral, best, u, scratch, tol, max_steps):
    """Make at most ``max_steps`` steps toward the shortest mean of the rows Z, and return why they ended.

    A step is one of Wolfe's major cycles. It moves to the point of the corral's affine hull nearest to the origin, and
    drops points of the corral until that point lies in their convex hull. Then it adds to the corral the row of each
    group with the lowest score along the mean. The distance from the origin to the hull lies between ``low``, the
    largest lower bound found, and ``high``, the length of the shortest mean found. The search is done when their
    difference is at most ``tol * high``.

    Z: the rows, as a flat array. group: 0 or 1 for each row. states: one record of type ``STATE``. corral: the row
    numbers of its points, their weights, Q and R. best: the row numbers and the weights of the points of the shortest
    mean, and the direction that gave the bound ``low``. u: the direction to start from; on return, the direction of the
    last step. scratch: two arrays of the length of a row, and three arrays with a number for each point of the corral.
    """
    # Invariants of the loops:
    #  - the rows of the corral are independent, and A = R' Q;
    #  - after the minor cycles the weights are >= 0, and those of each group add up to 1 / groups;
    #  - state["high"] is the length of the shortest mean found, state["low"] the largest lower bound: the distance lies
    #    between them (weak duality: |mean| >= u . mean >= min of u . z, for every mean and every unit vector u).
    # In exact arithmetic each major cycle shortens the mean, so no corral occurs twice and the algorithm ends. With
    # rounding it ends at the latest after state["patience"] steps without a shorter mean, or state["most"] steps.
    places, weights, Q, R = corral
    best_places, best_weights, best_u = best
    rest, mean, x_0, x_1, target = scratch
    state = states[0]
    width, room, groups, c = u.shape[0], places.shape[0], state["groups"], state["c"]
    left, right, share = width - 2, width - 1, 1.0 / groups
    count, careful = state["held"], state["careful"]
    for _ in range(max_steps if count > 0 else max_steps + 1):  # the first points enter without a step
        # Rounding may keep a major cycle from shortening the mean. Then remedies take turns, by state["stuck"] % 4. At
        # 1, points of almost no weight leave the corral. At 3, such points stay even if rounding makes their weight
        # negative. At 0 and 2, the direction of a short mean is corrected (``_straighten``). ``least`` is the weight
        # above which a point stays.
        least = 0.0
        if state["stuck"] % 2 == 1:
            least = _NOTHING if state["stuck"] % 4 == 1 else -_NOTHING
        while count > 0:
            # Minor cycles, steps 2 and 3 of the paper. Each but the last drops a point, so they end.
            #
            # Step 2: the nearest point of the affine hull. Its weights w minimise |w Z| subject to the constraint that
            # those of each group add up to 1 / groups. By Lagrange's method Z Z' w is constant in each group. So is
            # A A' w: the inner product of two rows of A is that of their points, plus c^2 if they are in the same
            # group. Hence w = mix_0 x_0 + mix_1 x_1, where x_0 and x_1 solve A A' x = A (0, c, 0)' and A A' x = A (0,
            # 0, c)'. As A = R' Q and Q Q' = I, these equations are R x = Q (0, c, 0)' and R x = Q (0, 0, c)'.
            #
            # The constraints are a 2 x 2 system for mix_0 and mix_1. Its matrix has the sums of x_0 and x_1 over each
            # group. With the right-hand sides r_0 and r_1 of the equations, A A' x = r, the sum of x_h over group g is
            # r_g' (A A')^-1 r_h / c^2. These sums form a positive definite matrix, so the determinant is above 0. (With
            # one group, sum_11 = 1 and x_1 = 0.)
            for k in range(count):
                x_0[k] = c * at(Q, k * width + left)
                x_1[k] = c * at(Q, k * width + right)
            _solve(R, room, count, x_0)
            _solve(R, room, count, x_1)
            sum_00, sum_01, sum_10, sum_11 = 0.0, 0.0, 0.0, 2.0 - groups
            for k in range(count):
                if group[places[k]] == 0:
                    sum_00 += x_0[k]
                    sum_01 += x_1[k]
                else:
                    sum_10 += x_0[k]
                    sum_11 += x_1[k]
            determinant = sum_00 * sum_11 - sum_01 * sum_10
            if not determinant > 0.0:  # can only happen by rounding: the corral has become dependent
                state["held"] = count
                return STUCK
            mix_0, mix_1 = share * (sum_11 - sum_01) / determinant, share * (sum_00 - sum_10) / determinant
            for k in range(count):
                target[k] = mix_0 * x_0[k] + mix_1 * x_1[k]
                x_0[k] = 0.0
            # One step of iterative refinement: w is the least-squares solution of w A = (0, c mix_0, c mix_1). The
            # residual is computed from the points, not from R and Q.
            if careful:
                _add_up(Z, places, target, count, rest)
                for j in range(width):
                    rest[j] = -rest[j]
                rest[left] += c * mix_0
                rest[right] += c * mix_1
                _take_along(Q, count, rest, x_0)
                _solve(R, room, count, x_0)
            sum_00, sum_11 = 0.0, 2.0 - groups
            for k in range(count):
                target[k] += x_0[k]
                if group[places[k]] == 0:
                    sum_00 += target[k]
                else:
                    sum_11 += target[k]
            if not (sum_00 > 0.0 and sum_11 > 0.0):
                state["held"] = count
                return STUCK
            # Step 3: move from the weights towards the target by theta, the largest step at which no weight becomes
            # negative. A point whose target is at most ``least`` stops the move. If its weight is positive and its
            # target is not, the move ends where its weight is 0, as in the paper. If its target is positive, or its
            # weight is 0 already, it leaves without a move (theta = 0), and the next target makes up for its weight.
            # With ``least`` below 0, targets just below 0 stop nothing, and become weights of 0.
            theta, stop = 1.0, -1
            for k in range(count):  # invariant: theta is that of the points before k, whose targets are scaled
                target[k] = share * (target[k] / (sum_00 if group[places[k]] == 0 else sum_11))
                if not target[k] > least:
                    ratio = weights[k] / (weights[k] - target[k]) if target[k] <= 0.0 < weights[k] else 0.0
                    if stop < 0 or ratio < theta:
                        theta, stop = ratio, k
            for k in range(count):
                weights[k] = max(0.0, weights[k] + theta * (target[k] - weights[k]))
            if stop < 0:  # the target is in the convex hull: the minor cycles end
                break
            weights[stop] = 0.0
            for k in range(count - 1, -1, -1):  # from the last one, as a removal moves the points behind it
                if not (weights[k] > 0.0 or target[k] > least):
                    _remove(k, count, places, weights, target, Q, R, width, x_0, x_1)
                    count -= 1
        lost = False
        if count > 0:
            _add_up(Z, places, weights, count, mean)
            mean[left], mean[right] = 0.0, 0.0
            length = math.sqrt(steady_dot((mean, width), 0, mean))
            state["stuck"] += 1
            if length < state["high"]:
                state["high"], state["best"], state["stuck"] = length, count, 0
                for k in range(count):
                    best_places[k], best_weights[k] = places[k], weights[k]
            # Is the mean nothing but rounding errors? ``_add_up`` rounds ``count`` partial sums, each of length c at
            # most, by up to u c each, u = 2**-53. If these errors are like independent random numbers, their sum has a
            # length of about u c sqrt(count), hence the root. As ``noise`` is usually 1e-15, the factor 0.4 makes this
            # 3.6 u c sqrt(count). The factor is tuned, not derived. No proof rests on it: it only tells the search when
            # to stop, and the caller proves what was found.
            lost = length <= 0.4 * state["noise"] * c * math.sqrt(count)
            careful = careful or length < _THIN * c
            for j in range(width):
                u[j] = mean[j]
            if careful and state["stuck"] % 2 == 0:
                _straighten(Z, group, places, weights, count, Q, c, groups, lost, mean, u, x_0)
            size = math.sqrt(steady_dot((u, width), 0, u))
            if size == 0.0:
                state["held"], state["careful"] = count, careful
                return AT_ZERO
            for j in range(width):
                u[j] /= size
        # Step 1 of the paper: find the row of each group with the lowest score, and test whether the search is done.
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
            if _enter(where_0 if g == 0 else where_1, count, places, Z, Q, R, state["noise"] * c, rest, x_0):
                weights[count] = 0.0 if before > 0 else share
                count += 1
        state["held"] = count
        if count == before and state["stuck"] > 3:  # no row can enter, and every remedy has had its turn
            return STUCK
    return PAUSED
