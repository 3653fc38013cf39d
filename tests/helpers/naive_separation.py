"""Separation in logistic regression by a rational simplex method on dense tables: slow, and sharing no code."""

from fractions import Fraction

import numpy as np


def maximum(c, A, b):
    """Return the largest c . x over A x <= b, x >= 0, where b >= 0, and an x that attains it (Bland's rule)."""
    n = len(c)
    lines = [
        [*map(Fraction, row), *[Fraction(int(i == k)) for k in range(len(A))], Fraction(b[i])]
        for i, row in enumerate(A)
    ]
    goal = [*[-Fraction(v) for v in c], *[Fraction(0)] * (len(A) + 1)]
    basis = [n + i for i in range(len(A))]
    while any(v < 0 for v in goal[:-1]):
        j = next(j for j, v in enumerate(goal[:-1]) if v < 0)
        k = min((line[-1] / line[j], basis[i], i) for i, line in enumerate(lines) if line[j] > 0)[2]
        pivot = lines[k][j]
        lines[k] = [v / pivot for v in lines[k]]
        for i, line in enumerate(lines):
            if i != k and line[j]:
                lines[i] = [a - line[j] * v for a, v in zip(line, lines[k], strict=True)]
        goal = [a - goal[j] * v for a, v in zip(goal, lines[k], strict=True)]
        basis[k] = j
    x = [Fraction(0)] * (n + len(A))
    for i, j in enumerate(basis):
        x[j] = lines[i][-1]
    return goal[-1], x[:n]


def kept_columns(rows):
    """Return the columns that are no combination of those to their left."""
    rows, kept = [list(map(Fraction, row)) for row in rows], []
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(len(kept), len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        r = len(kept)
        rows[r], rows[pivot] = rows[pivot], rows[r]
        for i in range(r + 1, len(rows)):
            factor = rows[i][j] / rows[r][j]
            rows[i] = [a - factor * v for a, v in zip(rows[i], rows[r], strict=True)]
        kept.append(j)
    return kept


def naive_separation(observations, classes):
    """Return the kind, the status of each coefficient, class by class, and which observations are not certain.

    An observation is (x, k): columns, the constant among them, and the index of its class.
    """
    p = len(observations[0][0])
    kept = kept_columns([x for x, _ in observations])
    Z, owner = [], []
    for i, (x, k) in enumerate(observations):
        for other in range(classes):
            if other != k:
                blocks = [[0] * len(kept) for _ in range(classes)]
                blocks[k] = [Fraction(x[j]) for j in kept]
                blocks[other] = [-Fraction(x[j]) for j in kept]
                Z.append([v for block in blocks[1:] for v in block])
                owner.append(i)
    m, size = len(Z), len(kept) * (classes - 1)
    # t_i <= z_i (u - v), t_i <= 1: the largest sum of t has t_i = 1 just where some z b > 0
    A = [[-v for v in z] + list(z) + [int(i == k) for k in range(m)] for i, z in enumerate(Z)]
    A += [[0] * (2 * size) + [int(i == k) for k in range(m)] for i in range(m)]
    _, x = maximum([0] * (2 * size) + [1] * m, A, [0] * m + [1] * m)
    certain = [value == 1 for value in x[2 * size :]]
    kind = "complete" if all(certain) else "quasi-complete" if any(certain) else "overlap"
    on = sorted({owner[i] for i in range(m) if not certain[i]})
    statuses = []
    for k in range(classes - 1):
        for j in range(p):
            if j not in kept:
                statuses.append("aliased")
                continue
            place = k * len(kept) + kept.index(j)
            reach = []
            for sign in (1, -1):
                aim = [sign * int(q == place) for q in range(size)]
                A = [[-v for v in z] + list(z) for z in Z] + [aim + [-v for v in aim]]
                reach.append(maximum(aim + [-v for v in aim], A, [0] * m + [1])[0] > 0)
            statuses.append(
                {(0, 0): "finite", (1, 0): "+inf", (0, 1): "-inf", (1, 1): "either"}[tuple(map(int, reach))]
            )
    return kind, statuses, on


def tied_set(seed):
    """Return (X, y, fit_intercept) full of ties: few values, aliased columns, scales, offsets, two to four classes."""
    rng = np.random.default_rng(seed)
    n, d, classes = int(rng.integers(2, 13)), int(rng.integers(0, 5)), int(rng.choice([2, 2, 2, 3, 3, 4]))
    if classes > 2:
        d, n = min(d, 2), min(max(n, classes), 9)
    style = rng.integers(5)
    if style < 2:
        X = rng.integers(style - 1, 2, (n, d)).astype(float)
    elif style == 2:
        X = rng.choice([0.1, 0.2, 0.3, -0.1, 0.6], (n, d))
    elif style == 3:
        X = rng.integers(-3, 4, (n, d)) * 10.0 ** rng.integers(-6, 7, d)
    else:
        X = rng.integers(0, 3, (n, d)) + rng.choice([0.0, 1e8])
    if d > 1 and rng.random() < 0.3:
        X[:, -1] = X[:, 0] * 2
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    if d and rng.random() < 0.5:
        scores = X @ rng.integers(-2, 3, (d, classes))
        found = np.argmax(scores + 1e-3 * rng.integers(0, 2) * rng.random(scores.shape), axis=1)
        y = found if len(np.unique(found)) > 1 else y
    return X, y, bool(rng.random() < 0.75)


def naive_answer(X, y, fit_intercept):
    """Return what `naive_separation` says of labelled rows."""
    classes, own = np.unique(y, return_inverse=True)
    rows = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    return naive_separation(list(zip(rows.tolist(), own.tolist(), strict=True)), len(classes))
