"""Points for the tests of ``vc``, and what is asked of them again and again."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from rosenblatt.theory import vc

some = settings(max_examples=40, deadline=None)

EVERY_FAMILY = [("halfspaces", None), ("discs", None), ("rectangles", None), ("convex-k-gons", 3), ("convex-k-gons", 4)]

# A grid of five by five makes collinear, cocircular and equal points common.
small_points = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7)

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]


def subsets(n):
    return [frozenset(s) for size in range(n + 1) for s in combinations(range(n), size)]


def curve(n, d):
    """Points on the moment curve: in general position in R^d."""
    return [[i**power for power in range(1, d + 1)] for i in range(n)]


def circle(n):
    """Return n rational points on the unit circle, in order and nearly evenly spaced."""
    slopes = [
        Fraction(np.tan(angle / 2)).limit_denominator(100) for angle in (2 * np.arange(n) + 1) * np.pi / n - np.pi
    ]
    points = [((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for t in slopes]
    assert all(x * x + y * y == 1 for x, y in points)
    return points


def missing(points, family, k=None):
    return set(subsets(len(points))) - vc.dichotomies(points, family, k)


def shattered(cut, n):
    """Return every shattered set, by counting traces."""
    return [s for s in subsets(n) if len({s & c for c in cut}) == 1 << len(s)]
