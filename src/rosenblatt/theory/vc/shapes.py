"""Axis-parallel boxes, and convex polygons with at most k vertices. Subsets are bit masks: bit i stands for row i."""

from __future__ import annotations

from functools import cmp_to_key
from math import gcd
from typing import TypeAlias

from rosenblatt.theory.vc.points import Integers, Note, ignore

GROWTH = 8.0  # a guess of how many times the work of a coordinate the next one takes
Arc: TypeAlias = tuple[int, int]  # the first cell, and how many follow it counter-clockwise, itself included


def boxes(rows: Integers, note: Note = ignore) -> set[int]:
    """Return the subsets of these points that an axis-parallel box cuts, as bit masks.

    One coordinate after the other: what a range of it keeps of a subset is a run of its groups of equal values.

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

    Tries all 2^n subsets.

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
    """The directions of the plane, in cells between which no answer changes, as numbers on a circle.

    A polygon that holds S and misses q has a side that cuts q off: its outer direction u has ``u . (q - s) > 0`` for
    all s in S. The u for one pair q, s are an open half circle, and those for q and all of S an arc, empty where q lies
    in the hull of S. The polygon has one direction for each side, so there is one with k sides if k directions pierce
    the arcs of all q outside and also every open half circle, or else the polygon is not bounded.

    The ends of all the half circles, n (n - 1) at most, cut the circle into cells. Ends come in opposite pairs, so a
    half circle is ``half`` cells in a row. An arc that holds a point of a cell holds it all, and an arc is
    given as its first cell and its length. The ends themselves are in no more arcs than the cells beside them.

    Two opposite cells can hold directions more than, less than and just a half turn apart. Piercing every run of
    ``half`` cells by two of them is not enough, then, but by two and one more in either cell it is: hence the
    three sides that every polygon has.

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
        """Return the directions that separate the point q from the subset; None if there are none."""
        base = self.start[q, subset[0]]
        low = high = 0  # the ends of the common part of the half circles, from the first one's
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
        """Return the least number of sides with which a polygon cuts the subset; None if none does.

        The search ends at a polygon with ``enough`` sides. The subset is not empty.
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
        # Some direction lies in the shortest arc. From each of its cells walk round: the next direction goes as far as
        # it can without leaving behind an arc, or a half circle, that is not pierced.
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
