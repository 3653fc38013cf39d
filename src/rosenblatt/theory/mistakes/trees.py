"""Proofs that cores cannot be hit with few rows: a core is a set of rows that nothing separates, so one has to go.

A proof is a tree. Inside it branches on a row, which is removed (with all its copies) or kept. At a leaf some cores,
none of which has lost a row so far, are counted ``times`` each. If no row that is still free is counted more than D
times for each of its copies, rows that hit all these cores are at least the sum of ``times`` over D: cores that are
disjoint, each counted once, are the plainest case. Kept rows cannot hit anything, so they are not looked at.

A tree is written in preorder: the number of the row, then the branch where it is removed, then the one where it is
kept; a leaf is a tuple of pairs (number of a core, times).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

Leaf: TypeAlias = tuple[tuple[int, int], ...]
Tree: TypeAlias = tuple[int | Leaf, ...]
MOST_NODES = 20_000


def fewest_removals(tree: Tree, cores: Sequence[Sequence[int]], copies: Mapping[int, int]) -> float:
    """Return the least number of rows that hit all cores, as far as the tree proves; 0 where it is no tree.

    ``copies`` says of how many equal rows a row is one, where that is more than itself.

    >>> fewest_removals((((0, 1), (1, 1)),), [[0, 1], [2, 3]], {})  # disjoint
    2
    >>> fewest_removals((((0, 1), (1, 1), (2, 1)),), [[0, 1], [1, 2], [0, 2]], {})  # each row twice: 3 / 2, rounded up
    2
    >>> fewest_removals((0, (), ((0, 1),)), [[0]], {})  # remove row 0, or keep it, which cannot be
    1
    """
    paths: list[Path] = [None]
    least = math.inf
    if len(tree) > MOST_NODES:
        return 0
    for node in tree:
        if not paths:
            return 0
        path = paths.pop()
        if isinstance(node, int):
            paths += [(path, node, False), (path, node, True)]  # the last comes first
        else:
            least = min(least, _at_leaf(node, path, cores, copies))
    return least if not paths else 0


Path: TypeAlias = "tuple[Path, int, bool] | None"  # the branch before, a row, and whether it is removed


def _at_leaf(leaf: Leaf, path: Path, cores: Sequence[Sequence[int]], copies: Mapping[int, int]) -> float:
    removed: dict[int, bool] = {}
    while path is not None:
        path, row, gone = path
        if removed.setdefault(row, gone) != gone:
            return math.inf  # removed and kept
    cost = sum(copies.get(row, 1) for row, gone in removed.items() if gone)
    return cost + leaf_bound([(cores[j], times) for j, times in leaf], removed, copies)


def leaf_bound(
    counted: Sequence[tuple[Sequence[int], int]], removed: Mapping[int, bool], copies: Mapping[int, int]
) -> float:
    """Return how many more rows hit the cores, each counted some times, at least, where ``removed`` is settled."""
    uses: Counter[int] = Counter()
    total = 0
    for rows, times in counted:
        if times < 1 or any(removed.get(row) for row in rows):
            return 0
        total += times
        for row in rows:
            if row not in removed:
                uses[row] += times
    if not total:
        return 0
    most = max((Fraction(count, copies.get(row, 1)) for row, count in uses.items()), default=None)
    return math.inf if most is None else math.ceil(total / most)  # where all rows of a core are kept, it is a dead end
