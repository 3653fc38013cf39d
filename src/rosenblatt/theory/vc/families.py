"""Families of shapes: the subsets that halfspaces, balls, boxes and convex polygons cut, and their VC dimensions.

A shape cuts a subset of the points if it contains the points of the subset and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cmp_to_key
from itertools import combinations, islice
from math import comb, factorial, gcd, lcm, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.messages import check_choice, check_integer, count_of, shorten
from rosenblatt.theory.exact import bareiss
from rosenblatt.theory.inputs import as_objects, to_fraction

# Points as exact numbers: fractions equal to the input, and integers to compute with.


PointsLike: TypeAlias = ArrayLike | Sequence[Sequence[float | Fraction]]  # as users pass them
Fractions: TypeAlias = list[tuple[Fraction, ...]]
Integers: TypeAlias = list[tuple[int, ...]]
Note: TypeAlias = Callable[[float], None]  # gets the share of the work that is done


def ignore(share: float) -> None:
    """Do nothing: the `Note` for callers that need no progress reports."""


def read_points(points: PointsLike) -> Fractions:
    """Return the points as rows of fractions, each equal to the number given.

    >>> read_points([[1, 0.5]])
    [(Fraction(1, 1), Fraction(1, 2))]
    """
    array = as_objects(points, "points")
    if array.ndim != 2:
        raise ValueError(
            f"points must be a table of numbers, one row for each point, got {shorten(points)}: "
            "give rows of equal length, such as [[0, 0], [1, 2]]."
        )
    if 0 in array.shape:
        raise ValueError(
            f"points must hold at least one point with at least one coordinate, got the shape {array.shape}: "
            "give rows such as [[0, 0], [1, 2]]."
        )
    return [tuple(to_fraction(value, "points") for value in row) for row in array.tolist()]


def to_integers(rows: Fractions) -> Integers:
    """Return the points scaled by their common denominator and shifted so that every coordinate starts at 0.

    Every family is invariant under scaling and shifting, so the subsets that it cuts stay the same.

    >>> to_integers(read_points([[1000, 0.5], [1001, 0.25]]))
    [(0, 1), (4, 0)]
    """
    scale = lcm(*(value.denominator for row in rows for value in row))
    whole = [[int(value * scale) for value in row] for row in rows]
    least = [min(column) for column in zip(*whole, strict=True)]
    return [tuple(value - low for value, low in zip(row, least, strict=True)) for row in whole]


# Halfspaces and balls: the subsets that they cut correspond to the cells of an arrangement of hyperplanes.
#
# A halfspace ``{x : a . x + b > 0}`` is a vector ``u = (a, b)``, and contains x if ``(x, 1) . u > 0``. So the subsets
# cut are the sign patterns of ``V u`` over all u, where V has the rows (x, 1). All u in one cell of the arrangement of
# the hyperplanes ``v . u = 0`` have the same pattern, so each cell gives one subset. A ball becomes a halfspace when x
# is lifted to (x, |x|^2) (Har-Peled 30.2).
#
# Subsets are bit masks here: bit i stands for row i.


Matrix: TypeAlias = NDArray[Any]  # int64 if nothing can overflow, otherwise Python integers

BLOCK = 1 << 14  # sets of hyperplanes processed together


def halfspaces(rows: Integers, note: Note = ignore) -> set[int]:
    """Return the subsets of these distinct points that a halfspace cuts, as bit masks.

    >>> len(halfspaces([(0, 0), (0, 1), (1, 0), (1, 1)]))
    14
    """
    return cells([(*row, 1) for row in rows], note)


def balls(rows: Integers, note: Note = ignore) -> set[int]:
    """Return the subsets of these distinct points that a ball cuts, as bit masks.

    A shape is given by the sign of ``c |x|^2 + a . x + b``, which is positive outside the shape. The shape is a ball
    for c > 0, the outside of a ball for c < 0 and a halfspace for c = 0. So one more vector, (0, 1, 0), whose sign is
    the sign of c, must be positive.

    >>> len(balls([(0, 0), (0, 1), (1, 0), (1, 1)]))
    14
    """
    d, n = len(rows[0]), len(rows)
    lifted = [(*row, sum(value * value for value in row), 1) for row in rows]
    everything = (1 << n) - 1
    return {everything & ~mask for mask in cells([*lifted, (0,) * d + (1, 0)], note) if mask >> n}


def cells(vectors: Iterable[Iterable[int]], note: Note = ignore) -> set[int]:
    """Return every sign pattern without zeros of ``V u`` over all u; bit i is set where ``v_i . u > 0``.

    The rows v_i of V must not be zero, and no two of them parallel. The algorithm enumerates the rays of the
    arrangement. If r is the rank of V, every cell touches a ray in which r - 1 independent hyperplanes meet. So the
    algorithm goes through all sets of r - 1 vectors and computes the u perpendicular to each set. In the cells around
    u, a vector with ``v . u != 0`` keeps its sign at u. The vectors with ``v . u = 0`` take every sign pattern that
    they have among themselves. If there are only r - 1 of these vectors, all 2^(r - 1) patterns occur. Otherwise their
    patterns are found by recursion, in rank r - 1. Signs are exact: arithmetic is in int64 if no determinant can reach
    2^63, otherwise in Python integers. ``note`` is called with the share of the sets that is done.
    """
    V = _columns_of_full_rank([list(vector) for vector in vectors])
    n, r = V.shape
    everything = (1 << n) - 1
    found: set[int] = set()
    crowded: set[int] = set()
    done, every = 0, comb(n, r - 1)
    for chosen in _choices(n, r - 1):
        new = len(chosen)
        N = _perpendicular(V[chosen])
        independent = (N != 0).any(axis=1)
        chosen, N = chosen[independent], N[independent]
        D = N @ V.T
        above, on = D > 0, D == 0
        simple = on.sum(axis=1) == r - 1

        signs, at, lines = above[simple], chosen[simple], np.arange(simple.sum())[:, None]
        for labels in range(1 << (r - 1)):
            signs[lines, at] = [bool(labels >> j & 1) for j in range(r - 1)]
            found.update(_masks(signs))
            note((done + new * (labels + 1) / (1 << (r - 1))) / every)

        for up, zero in zip(_masks(above[~simple]), _masks(on[~simple]), strict=True):
            if zero not in crowded:  # many sets of vectors may give the same ray
                crowded.add(zero)
                inside = [i for i in range(n) if zero >> i & 1]
                for pattern in cells(V[inside].tolist()):
                    found.add(up | sum(1 << i for j, i in enumerate(inside) if pattern >> j & 1))
        done += new
        note(done / every)
    return found | {everything & ~mask for mask in found}  # -u gives the opposite signs


def _columns_of_full_rank(rows: list[list[int]]) -> Matrix:
    """Return the rows restricted to the pivot columns, which does not change the sign patterns of ``V u``."""
    _, pivots = bareiss(rows)
    kept = [[row[column] for column in pivots] for row in rows]
    # All intermediate values are minors of at most r rows, or partial sums of their Leibniz expansions.
    largest = factorial(len(pivots)) * prod(max(1, *map(abs, column)) for column in zip(*kept, strict=True))
    return np.array(kept, dtype=np.int64 if largest < 2**63 else object)


def _choices(n: int, size: int) -> Iterator[NDArray[np.intp]]:
    """Yield every choice of ``size`` out of n rows, in blocks."""
    every = combinations(range(n), size)
    while block := list(islice(every, BLOCK)):
        yield np.array(block, dtype=np.intp).reshape(len(block), size)


def _perpendicular(A: Matrix) -> Matrix:
    """Return the generalised cross product of each set of r - 1 rows in R^r: the vector of their signed minors.

    It is perpendicular to all r - 1 rows, and 0 if they are linearly dependent.
    """
    m, size, r = A.shape
    minors: dict[tuple[int, ...], Matrix] = {(): np.ones(m, dtype=A.dtype)}
    for k in range(size):  # minors of the first k + 1 rows, from those of the first k
        minors = {
            columns: sum((-1) ** j * A[:, k, c] * minors[columns[:j] + columns[j + 1 :]] for j, c in enumerate(columns))
            for columns in combinations(range(r), k + 1)
        }
    return np.stack([(-1) ** c * minors[tuple(range(c)) + tuple(range(c + 1, r))] for c in range(r)], axis=1)


def _masks(bits: NDArray[np.bool_]) -> list[int]:
    """Return each row of bits as one integer, whose lowest bit is the first."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    data, width = packed.tobytes(), packed.shape[1]
    return [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]


# Axis-parallel boxes, and convex polygons with at most k vertices. Subsets are bit masks: bit i stands for row i.


GROWTH = 8.0  # for progress reports: a guess of how much more work each coordinate is than the one before
Arc: TypeAlias = tuple[int, int]  # the first cell, and the number of cells from it on, counter-clockwise


def boxes(rows: Integers, note: Note = ignore) -> set[int]:
    """Return the subsets of these points that an axis-parallel box cuts, as bit masks.

    The coordinates are processed one after another. For each subset found so far, every interval of the coordinate
    selects the points whose values lie in it.

    >>> len(boxes([(0, 1), (1, 3), (2, 0), (3, 2)]))
    16
    """
    found = {(1 << len(rows)) - 1}
    for j, column in enumerate(zip(*rows, strict=True)):
        groups = [sum(1 << i for i, x in enumerate(column) if x == value) for value in sorted(set(column))]
        kept: set[int] = set()
        for i, mask in enumerate(found):
            if i % 1024 == 0:
                later = GROWTH ** (len(rows[0]) - j - 1)
                note((1 + i / len(found) * (GROWTH - 1)) / (GROWTH * later))
            parts = [part for group in groups if (part := mask & group)]
            for first in range(len(parts)):
                run = 0
                for part in parts[first:]:
                    run |= part
                    kept.add(run)
        found = kept
    return found | {0}


def polygons(rows: Integers, k: int, note: Note = ignore) -> set[int]:
    """Return the subsets of these distinct points of the plane that a convex polygon of at most k vertices cuts.

    All 2^n subsets are tried.

    >>> len(polygons([(0, 0), (4, 0), (4, 4), (0, 4), (2, 1)], k=3))
    29
    """
    n = len(rows)
    directions = Directions(rows)
    found = set()
    for mask in range(1 << n):
        if mask % 1024 == 0:
            note(mask / (1 << n))
        if directions.cuts([i for i in range(n) if mask >> i & 1], k):
            found.add(mask)
    return found


class Directions:
    """The directions of the plane as numbered cells of a circle; cutting by a polygon becomes piercing circular arcs.

    If a polygon contains a set S but not the point q, then q lies beyond one of its sides, whose outer normal u has
    ``u . (q - s) > 0`` for all s in S. For one pair q, s these u form an open half circle. For q and all of S they form
    an arc, which is empty if q lies in the hull of S. A set of directions pierces an arc if the arc contains one of
    them. So a polygon with k sides exists if and only if k directions pierce the arcs of all q outside S and every open
    half circle. The half circles are included because the polygon is bounded.

    The ends of all half circles, at most n (n - 1), divide the circle into cells. Ends come in opposite pairs, so a
    half circle consists of ``half`` consecutive cells. An arc that contains a point of a cell contains the whole cell,
    so it is stored as its first cell and its length. The ends themselves need not be tried: an arc that contains an end
    also contains the cells on both sides of it.

    Directions in two opposite cells can be more than, less than or exactly half a turn apart. So two directions may
    pierce all sequences of ``half`` consecutive cells and still not bound a polygon. With a third direction in one of
    their cells they do. Hence the result is at least three sides.

    >>> square = Directions([(0, 0), (4, 0), (4, 4), (0, 4), (2, 2)])
    >>> square.fewest_sides([0, 1, 2, 3]) is None  # the last point lies in the hull
    True
    >>> square.fewest_sides([0, 2, 4])
    3
    """

    def __init__(self, rows: Integers) -> None:
        n = len(rows)
        ends = {
            (q, s): _primitive(rows[q][1] - rows[s][1], rows[s][0] - rows[q][0])
            for q in range(n)
            for s in range(n)
            if q != s
        }
        in_turn = sorted(set(ends.values()), key=cmp_to_key(_by_angle))
        number = {end: i for i, end in enumerate(in_turn)}
        self.n = n
        self.turn = len(in_turn)
        self.half = len(in_turn) // 2
        self.start = {pair: number[end] for pair, end in ends.items()}

    def arc(self, q: int, subset: list[int]) -> Arc | None:
        """Return the arc of the directions that separate the point q from the subset; None if it is empty."""
        base = self.start[q, subset[0]]
        low = high = 0  # the ends of the intersection of the half circles so far, relative to the first
        for s in subset:
            step = (self.start[q, s] - base) % self.turn
            if step > self.half:
                step -= self.turn
            low, high = max(low, step), min(high, step)
        length = high + self.half - low
        return ((base + low) % self.turn, length) if length > 0 else None

    def cuts(self, subset: list[int], k: int) -> bool:
        """Return whether a convex polygon with at most k vertices cuts the subset."""
        if not subset:
            return True
        sides = self.fewest_sides(subset, enough=k)
        return sides is not None and sides <= k

    def fewest_sides(self, subset: list[int], enough: int = 3) -> int | None:
        """Return the least number of sides of a polygon that cuts the nonempty subset; None if no polygon does.

        The search stops early at a polygon with at most ``enough`` sides, so the result may then exceed the least
        number.
        """
        inside = set(subset)
        arcs: list[Arc] = []
        for q in range(self.n):
            if q not in inside:
                arc = self.arc(q, subset)
                if arc is None:
                    return None
                arcs.append(arc)
        if not arcs:
            return 3
        # Greedy piercing of circular arcs. Some direction lies in the shortest arc, so each of its cells is tried as
        # the start. From there go round the circle, and place each direction as far ahead as possible without skipping
        # an arc or a half circle that is not pierced yet.
        first, length = min(arcs, key=lambda arc: arc[1])
        fewest = self.turn + 1
        for begin in range(first, first + length):
            at, sides = begin, 0
            while at < begin + self.turn and sides < fewest:
                ahead = min((start - at - 1) % self.turn + size for start, size in arcs)
                at += min(ahead, self.half)
                sides += 1
            if at >= begin + self.turn:
                fewest = min(fewest, sides)
            if fewest <= enough:
                break
        return max(fewest, 3)


def _primitive(x: int, y: int) -> tuple[int, int]:
    divisor = gcd(x, y)
    return x // divisor, y // divisor


def _by_angle(u: tuple[int, int], v: tuple[int, int]) -> int:
    """Compare two directions by their angle in [0, 2 pi)."""
    return _lower(u) - _lower(v) or u[1] * v[0] - u[0] * v[1]


def _lower(u: tuple[int, int]) -> bool:
    return u[1] < 0 or (u[1] == 0 and u[0] < 0)


FAMILIES = ("halfspaces", "discs", "rectangles", "convex-k-gons")
OTHER_NAMES = {
    **dict.fromkeys(("lines", "half-planes", "halfplanes", "half-spaces", "hyperplanes"), "halfspaces"),
    **dict.fromkeys(("circles", "disks", "balls", "spheres"), "discs"),
    **dict.fromkeys(("boxes", "axis-parallel rectangles"), "rectangles"),
    "triangles": "convex-k-gons",
}
"""Synonyms of the families; triangles are convex k-gons with k = 3."""

MOST_POLYGON_POINTS = 20  # every subset is tried: a second for 14 points, minutes for 20


def check_family(family: str, k: int | None, d: int) -> tuple[str, int]:
    """Return the canonical name of the family and k (0 if unused); raise a ValueError if family, k or d is not valid.

    >>> check_family("lines", None, 2), check_family("triangles", None, 2)
    (('halfspaces', 0), ('convex-k-gons', 3))
    """
    given, family = family, OTHER_NAMES.get(family, family) if isinstance(family, str) else family
    check_choice("family", family, FAMILIES)
    if family != "convex-k-gons":
        return family, 0
    if given == "triangles" and k not in (None, 3):
        raise ValueError(f'triangles have 3 vertices, got k={k}: leave k out, or use the family "convex-k-gons".')
    k = 3 if given == "triangles" else k
    if k is None:
        raise ValueError(
            'the family "convex-k-gons" needs k, the maximum number of vertices of a polygon: pass k=3 for triangles.'
        )
    k = check_integer("k", k, 3)
    if d != 2:
        found = count_of(d, "coordinate")
        raise ValueError(
            f'the family "convex-k-gons" needs points in the plane, got {found} in each: '
            'give two, or use "halfspaces", "discs" or "rectangles", which take any number.'
        )
    return family, k


def shapes_text(family: str, k: int) -> str:
    """Return the name of the shapes of a family, with the number k filled in.

    >>> shapes_text("discs", 0), shapes_text("convex-k-gons", 3)
    ('discs', 'convex 3-gons')
    """
    return family.replace("-k-", f" {k}-")


def cut(rows: Integers, family: str, k: int, note: Note = ignore) -> set[int]:
    """Return the subsets of these distinct points that the family cuts, as bit masks."""
    if family == "halfspaces":
        return halfspaces(rows, note)
    if family == "discs":
        return balls(rows, note)
    if family == "rectangles":
        return boxes(rows, note)
    if len(rows) > MOST_POLYGON_POINTS:
        raise ValueError(
            f'the family "convex-k-gons" takes at most {MOST_POLYGON_POINTS} different points, got {len(rows)}: '
            "it tries all 2^n subsets; choose some of the points."
        )
    return polygons(rows, k, note)


def known_vc_dimension(family: str, d: int, k: int) -> int:
    """Return the VC dimension of the family in R^d.

    No larger set is shattered, for these reasons. Halfspaces: d + 2 points have a Radon partition. Balls: if two balls
    cut the two sides of a Radon partition, the difference of their powers is affine, so a halfspace would cut one side.
    Boxes: of 2 d + 1 points, one can be removed without changing their bounding box, so the others cannot be cut.
    Convex polygons: if 2 k + 2 points lie on a convex curve, no k-gon cuts every second one of them; otherwise no
    polygon cuts the vertices of their hull.

    >>> known_vc_dimension("halfspaces", 2, 0), known_vc_dimension("convex-k-gons", 2, 3)
    (3, 7)
    """
    return {"halfspaces": d + 1, "discs": d + 1, "rectangles": 2 * d, "convex-k-gons": 2 * k + 1}[family]
