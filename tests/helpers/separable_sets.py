"""Labelled points whose separability is known, and slow twins in rational numbers of what certificates claim."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

# Sets.


def planted(n, d, gamma, seed=0):
    """Points of length about 1 on both sides of a hyperplane through the origin, the first 6d at gamma from it.

    These overlap along the hyperplane, so gamma is the margin in all three definitions, up to rounding.
    """
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    X = rng.standard_normal((n, d))
    X *= rng.uniform(0.5, 1.0, (n, 1)) / np.linalg.norm(X, axis=1)[:, None]
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    away = gamma + 0.3 * np.abs(rng.standard_normal(n))
    away[: 6 * d] = gamma
    return X + np.outer(signs * away - X @ w, w), signs


def facet(d, around=0, seed=0, lift=0.0):
    """A simplex (+) with a point (-) on its facet sum(x) = d.

    ``around`` more points lie on their own side of the facet or on it, so the classes are weakly separated. A ``lift``
    moves the negative ones in every coordinate, which makes them separable if it is positive.
    """
    rng = np.random.default_rng(seed)
    more = rng.integers(-d, d + 1, (around, d)).astype(float)
    signs = np.where(rng.random(around) < 0.5, 1.0, -1.0)
    excess = more.sum(axis=1) - d
    wrong = excess * signs > 0
    more[wrong, 0] -= excess[wrong]
    X, y = np.vstack([d * np.eye(d), np.zeros(d), np.ones(d), more]), np.concatenate([np.ones(d + 1), [-1.0], signs])
    X[y < 0] += lift
    return X, y


def noise(n, d, seed=0):
    """Gaussian points with labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), np.where(rng.random(n) < 0.5, 1.0, -1.0)


# Slow twins. Points are lists of numbers, signs are +1 or -1, and everything is a Fraction.


@st.composite
def whole_separable(draw, bias=None, columns=4, rows=15):
    """Whole-number rows, their signs, a whole-number separator (w, b) that is drawn, and whether there is a bias."""
    bias = draw(st.booleans()) if bias is None else bias
    d, small = draw(st.integers(1, columns)), st.integers(-4, 4)
    w, b = draw(st.lists(small, min_size=d, max_size=d)), draw(small) if bias else 0
    points = draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=1, max_size=rows))
    scores = [sum(p * q for p, q in zip(w, x, strict=True)) + b for x in points]
    kept = [(x, 1 if a > 0 else -1) for x, a in zip(points, scores, strict=True) if a]
    assume(kept)
    return np.array([x for x, _ in kept], dtype=float), np.array([y for _, y in kept]), w, b, bias


def mixed(rng, *shape, decades=40):
    """Numbers of all sizes, a few of them zero."""
    return rng.standard_normal(shape) * 10.0 ** rng.uniform(-decades, decades, shape) * (rng.random(shape) < 0.9)


def random_signs(rng, n):
    return np.where(rng.random(n) < 0.5, 1.0, -1.0)


def signs_of(y, positive):
    return [1 if positive is not None and label == positive else -1 for label in np.asarray(y).tolist()]


def rows_z(X, signs, bias):
    rows = np.asarray(X, dtype=float).tolist()
    return [[s * Fraction(v) for v in x] + [Fraction(s)] * bias for x, s in zip(rows, map(int, signs), strict=True)]


def is_separable(X, signs, bias=True):
    """Say whether some v has v . z > 0 for every row: the rows' hull misses the origin (Gordan).

    The simplex method, phase one, with Bland's rule, looks for weights a >= 0 of sum 1 with sum(a z) = 0.
    """
    Z = rows_z(X, signs, bias)
    A = [[z[j] for z in Z] + [Fraction(0)] for j in range(len(Z[0]))] + [[Fraction(1)] * (len(Z) + 1)]
    goal = [sum(column) for column in zip(*A, strict=True)]
    basis = [len(Z) + k for k in range(len(A))]
    while any(value > 0 for value in goal[:-1]):
        j = next(j for j, value in enumerate(goal[:-1]) if value > 0)
        ratios = [(line[-1] / line[j], basis[k], k) for k, line in enumerate(A) if line[j] > 0]
        k = min(ratios)[2]
        A[k] = [value / A[k][j] for value in A[k]]
        for i, line in enumerate(A):
            if i != k and line[j]:
                A[i] = [a - line[j] * b for a, b in zip(line, A[k], strict=True)]
        goal = [a - goal[j] * b for a, b in zip(goal, A[k], strict=True)]
        basis[k] = j
    return goal[-1] > 0


def solve(A, right):
    """Return the solution of a square system, None where it is singular."""
    lines = [[*map(Fraction, line), Fraction(value)] for line, value in zip(A, right, strict=True)]
    for k in range(len(lines)):
        pivot = next((i for i in range(k, len(lines)) if lines[i][k]), None)
        if pivot is None:
            return None
        lines[k], lines[pivot] = lines[pivot], lines[k]
        lines[k] = [value / lines[k][k] for value in lines[k]]
        for i, line in enumerate(lines):
            if i != k and line[k]:
                lines[i] = [a - line[k] * b for a, b in zip(line, lines[k], strict=True)]
    return [line[-1] for line in lines]


def nearest_square(points):
    """Return the squared distance of the hull of the points from the origin, over all of their simplices."""
    best = None
    for size in range(1, min(len(points), len(points[0]) + 1) + 1):
        for some in combinations(points, size):
            gram = [[1 + sum(a * b for a, b in zip(p, q, strict=True)) for q in some] for p in some]
            shares = solve(gram, [1] * size)
            if shares is None or min(shares) < 0:
                continue
            total = sum(shares)
            mean = [
                sum(a * v for a, v in zip(shares, column, strict=True)) / total for column in zip(*some, strict=True)
            ]
            square = sum(v * v for v in mean)
            best = square if best is None else min(best, square)
    return best


def margin_square(X, signs, kind):
    """Return the squared margin of a small data set, 0 where nothing separates; both classes must occur."""
    Z = rows_z(X, signs, kind == "augmented")
    if kind == "geometric":
        sides = [[z for z, s in zip(Z, signs, strict=True) if s == side] for side in (1, -1)]
        Z = [[(a + b) / 2 for a, b in zip(p, q, strict=True)] for p in sides[0] for q in sides[1]]
    return nearest_square(Z) if Z[0] else Fraction(0)


def naive_least_score(X, signs, w, b):
    rows = np.asarray(X, dtype=float).tolist()
    dots = (sum((Fraction(v) * Fraction(t) for v, t in zip(w, x, strict=True)), Fraction(b)) for x in rows)
    return min(int(s) * dot for s, dot in zip(signs, dots, strict=True))


def mean_square(X, signs, alpha, kind):
    """Return the square of the margin that the weights ``alpha`` allow at most; None where they allow any."""
    alpha = [Fraction(a) for a in alpha]
    Z = rows_z(X, signs, kind == "augmented")
    sides = [[s == side for s in signs] for side in (1, -1)] if kind == "geometric" else [[True] * len(Z)]
    mean = [Fraction(0)] * len(Z[0])
    for side in sides:
        total = sum(a for a, held in zip(alpha, side, strict=True) if held)
        if total == 0:
            return None
        for a, z, held in zip(alpha, Z, side, strict=True):
            if held:
                mean = [m + a * v / (total * len(sides)) for m, v in zip(mean, z, strict=True)]
    return sum(m * m for m in mean)


def _at_least(w, b, kind, low, least):
    """Say whether ``low`` is at most least / |w|; that is infinite, with the sign of least, where w is zero."""
    square = sum((Fraction(v) ** 2 for v in ([*w, b] if kind == "augmented" else w)), Fraction(0))
    if low in (math.inf, -math.inf) or square == 0:
        return low == -math.inf or (low <= math.inf and square == 0 and least > 0)
    return low == low and Fraction(low) * abs(Fraction(low)) <= least * abs(least) / square


def _at_most(X, signs, alpha, kind, high):
    if not 0 <= high < math.inf:
        return high == math.inf
    square = mean_square(X, signs, alpha, kind)
    return square is not None and Fraction(high) ** 2 >= square


def brackets(X, signs, w, b, alpha, kind, low, high, strictly=True):
    """Say whether (w, b) has a margin of at least ``low``, and ``alpha`` proves that none is above ``high``."""
    values = [*list(w), b]
    if len(w) != np.shape(X)[1] or not all(isinstance(v, int) or math.isfinite(v) for v in values):
        return False
    if kind == "homogeneous" and b != 0:
        return False
    least = naive_least_score(X, signs, w, b)
    if strictly and not (low >= 0 and least > 0):
        return False
    return _at_least(w, b, kind, low, least) and _at_most(X, signs, alpha, kind, high)


def balanced(X, signs, alpha, weights, bias, basis=None):
    """Say whether exact weights, near ``alpha`` and all positive, make the rows z add up to zero."""
    rows = np.flatnonzero(alpha).tolist()
    Z = rows_z(X, signs, bias)
    columns = [list(column) for column in zip(*(Z[i] for i in rows), strict=True)]
    if weights is None:
        return bool(rows) and _balanced_by_basis(columns, [Fraction(alpha[i]) for i in rows], basis)
    if len(weights) != len(rows) or not rows or min(weights) <= 0:
        return False
    total = sum(weights)
    near = all(abs(Fraction(alpha[i]) * total - a) <= Fraction(a, 10**8) for i, a in zip(rows, weights, strict=True))
    return near and not any(sum(a * v for a, v in zip(weights, column, strict=True)) for column in columns)


def _balanced_by_basis(columns, weights, basis):
    """Say whether weights of the basis rows, found exactly, are positive and balance the other rows' weights."""
    inside = [i for i in range(len(weights)) if i != weights.index(max(weights))] if basis is None else list(basis.rows)
    for step in () if basis is None else basis.steps:
        used = {step.column, *step.columns}
        if step.times == 0 or len(used) != 1 + len(step.columns) or not used <= set(range(len(columns))):
            return False
        if len(step.columns) != len(step.factors):
            return False
        line = [step.times * value for value in columns[step.column]]
        for j, factor in zip(step.columns, step.factors, strict=True):
            line = [value - factor * other for value, other in zip(line, columns[j], strict=True)]
        columns[step.column] = line
    columns = [column for column in columns if any(column)]
    outside = [i for i in range(len(weights)) if i not in inside]
    if len(columns) != len(inside) or len({*inside} & {*range(len(weights))}) != len(inside):
        return False
    right = [-sum(weights[i] * column[i] for i in outside) for column in columns]
    found = solve([[column[i] for i in inside] for column in columns], right) if columns else []
    return found is not None and all(value > 0 for value in [*found, *(weights[i] for i in outside)])


def nearest_is_right(certificate, X, signs, kind, high):
    """Say whether ``nearest`` are the rows at a distance of at most ``high``, or nothing is said of them."""
    if certificate.nearest is None:
        return True
    if math.isinf(high):
        return certificate.nearest.tolist() == []
    w, b = [Fraction(value) for value in certificate.w.tolist()], Fraction(certificate.b)
    square = sum(value * value for value in w) + (b * b if kind == "augmented" else 0)
    near = []
    for i, (x, sign) in enumerate(zip(np.asarray(X, dtype=float).tolist(), signs, strict=True)):
        score = int(sign) * (sum(v * Fraction(value) for v, value in zip(w, x, strict=True)) + b)
        if score <= 0 or score * score <= (Fraction(high) * (1 + Fraction(1, 10**9))) ** 2 * square:
            near.append(i)
    return certificate.nearest.tolist() == near


def holds(certificate, X, y):
    """Say whether all that a certificate claims about these rows is true and proved by what it carries."""
    name, signs = type(certificate).__name__, signs_of(y, certificate.positive)
    if (len(set(np.asarray(y).tolist())) > 1) if certificate.positive is None else (1 not in signs):
        return False  # nothing is positive, though there may be two classes
    alpha = certificate.alpha.tolist()
    if len(alpha) != len(signs) or not all(0 <= a < math.inf for a in alpha):
        return False
    if name == "Inseparable":
        same = sorted(certificate.support.tolist()) == [i for i, a in enumerate(alpha) if a]
        return same and balanced(X, signs, alpha, certificate.weights, True, certificate.basis)
    w, b = certificate.w.tolist(), certificate.b
    if name == "Separable":
        ends = certificate.margin_low, certificate.margin_high
        proved = brackets(X, signs, w, b, alpha, "geometric", *ends)
        return proved and nearest_is_right(certificate, X, signs, "geometric", ends[1])
    low, high = certificate.low, certificate.high
    if name == "UndecidedSeparability":
        return brackets(X, signs, w, b, alpha, "geometric", low, high, strictly=False)
    if high == -math.inf:
        bias = certificate.kind != "homogeneous"
        return low == -math.inf and balanced(X, signs, alpha, certificate.weights, bias, certificate.basis)
    if low == -math.inf:
        return _at_most(X, signs, alpha, certificate.kind, high)
    proved = brackets(X, signs, w, b, alpha, certificate.kind, low, high)
    return proved and nearest_is_right(certificate, X, signs, certificate.kind, high)
