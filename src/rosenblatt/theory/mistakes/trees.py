"""Proofs that cores cannot be hit with few rows: a core is a set of rows that nothing separates, so one has to go.

A proof is a tree. Inside it branches on a row, which is removed (with all its copies) or kept. At a leaf some cores,
none of which has lost a row so far, are counted ``times`` each. If no row that is still free is counted more than D
times for each of its copies, rows that hit all these cores are at least the sum of ``times`` over D: cores that are
disjoint, each counted once, are the plainest case. Kept rows cannot hit anything, so they are not looked at.

A tree is written in preorder: the number of the row, then the branch where it is removed, then the one where it is
kept; a leaf is a tuple of pairs (number of a core, times). A branch is on a row of some core that is not settled yet,
and a leaf names a core once. What all leaves count together is bounded by how many numbers cores and tree consist of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

Leaf: TypeAlias = tuple[tuple[int, int], ...]
Tree: TypeAlias = tuple[int | Leaf, ...]
MOST_NODES = 20_000
MOST_COUNTED = 600  # rows of cores in leaves, for each number in cores and tree: 500 leaves with all cores are below
MOST_TIMES = 1 << 62  # sums stay within int64
FREE, REMOVED, KEPT = 0, 1, 2


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
    if not _is_short(tree, [len(core) for core in cores]):
        return 0
    hits = Hits(cores, copies)
    path: list[int] = []
    least = math.inf
    ended = False
    for node in tree:
        if ended:
            return 0
        if isinstance(node, int):
            if not hits.is_free(node):
                return 0
            hits.settle(node, REMOVED)
            path.append(node)
            continue
        least = min(least, hits.bound(node))
        while path and hits.is_kept(path[-1]):
            hits.settle(path.pop(), FREE)
        if path:
            hits.settle(path[-1], KEPT)
        ended = not path
    return least if ended else 0


def _is_short(tree: Tree, lengths: Sequence[int]) -> bool:
    """Return whether leaves name each core once, and count no more rows than the size of cores and tree allows."""
    if len(tree) > MOST_NODES:
        return False
    size, counted = sum(lengths) + len(tree), 0
    for node in tree:
        if isinstance(node, int):
            continue
        named = {j for j, _ in node}
        if len(named) < len(node) or (named and not 0 <= min(named) <= max(named) < len(lengths)):
            return False
        size += len(node)
        counted += sum(lengths[j] for j in named)
    return counted <= MOST_COUNTED * size


class Hits:
    """Cores, of which some rows are settled: removed or kept."""

    def __init__(self, cores: Sequence[Sequence[int]], copies: Mapping[int, int]) -> None:
        rows = sorted({row for core in cores for row in core})
        self.places = {row: place for place, row in enumerate(rows)}
        self.cores = [np.array(sorted({self.places[row] for row in core}), dtype=np.intp) for core in cores]
        self.copies = np.array([copies.get(row, 1) for row in rows], dtype=np.int64)
        self.numbers, self.kinds = np.unique(self.copies, return_inverse=True)
        self.states = np.zeros(len(rows), dtype=np.int8)
        self.uses = np.zeros(len(rows), dtype=np.int64)
        self.cost = 0

    def is_free(self, row: int) -> bool:
        """Return whether this is a row of some core, neither removed nor kept."""
        return row in self.places and self.states[self.places[row]] == FREE

    def is_kept(self, row: int) -> bool:
        """Return whether this row of some core is kept."""
        return bool(self.states[self.places[row]] == KEPT)

    def settle(self, row: int, state: int) -> None:
        """Let a row of some core be removed, kept or free."""
        place = self.places[row]
        self.cost += int(self.copies[place]) * ((state == REMOVED) - int(self.states[place] == REMOVED))
        self.states[place] = state

    def bound(self, leaf: Leaf) -> float:
        """Return how many rows hit all cores at least, those removed included, as the leaf proves."""
        total = sum(times for _, times in leaf)
        if not 0 < total < MOST_TIMES or any(times < 1 for _, times in leaf):
            return self.cost
        rows = np.concatenate([self.cores[j] for j, _ in leaf])
        times = np.array([times for _, times in leaf], dtype=np.int64)
        times = np.repeat(times, [len(self.cores[j]) for j, _ in leaf])
        states = self.states[rows]
        if (states == REMOVED).any():
            return self.cost
        rows, times = rows[states == FREE], times[states == FREE]
        if len(rows) == 0:
            return math.inf  # all rows of a core are kept: a dead end
        np.add.at(self.uses, rows, times)
        most = np.zeros(len(self.numbers), dtype=np.int64)  # for each number of copies
        np.maximum.at(most, self.kinds[rows], self.uses[rows])
        self.uses[rows] = 0
        found = np.flatnonzero(most)
        counted = zip(most[found].tolist(), self.numbers[found].tolist(), strict=True)
        return self.cost + min(-(-total * number // count) for count, number in counted)
