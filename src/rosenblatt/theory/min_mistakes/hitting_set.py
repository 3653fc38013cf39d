"""Minimum-cost hitting sets of cores, and branch-and-bound trees that prove lower bounds on their cost.

A core is a set of rows that no hyperplane separates, and a hitting set contains at least one row of each core. Hitting
sets and lower bounds are found by linear programs in floating point (SciPy's HiGHS). These results are not trusted:
hitting sets are checked with hyperplanes, and the bound of a leaf is computed in integers.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.progress import Budget
from rosenblatt.theory.exact import primitive
from rosenblatt.theory.inputs import Floats
from rosenblatt.theory.min_mistakes.answers import FREE, KEPT, REMOVED, CoreStates, Leaf, Tree

UNITS = 1 << 30  # weights of a packing are rounded to multiples of 1 / UNITS
MOST_LEAVES = 500
MOST_CORES = 5000  # with more cores, packings are greedy, without linear programs
MOST_SPLITS = 100  # the most nodes of the integer program
FIRST = 20  # work of the integer program before its first node, as a number of nodes
SPLIT = 60_000.0  # work of a node per row of a core
PROGRAM = 8_000.0  # work of a linear program per row of a core
LIMIT = 1000.0  # seconds, if the user sets no limit

Rows = NDArray[np.intp]


def minimum_hitting_set(cores: Sequence[Rows], counts: NDArray[np.int64], budget: Budget) -> Rows | None:
    """Return a hitting set of minimum or nearly minimum cost, or None if none is found in the time left."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import

    used, incidence = _incidence(cores)
    splits = min(MOST_SPLITS, max(1, int(0.2 * budget.left / (incidence.nnz * SPLIT))))
    found = milp(
        counts[used].astype(np.float64),
        integrality=np.ones(len(used)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(incidence, 1, np.inf),
        options={"time_limit": min(LIMIT, budget.seconds), "mip_rel_gap": 0.0, "node_limit": splits},
    )
    budget.spend(incidence.nnz * (FIRST + (found.mip_node_count or 0)) * SPLIT)
    return None if found.x is None else used[found.x > 0.5]


def greedy_hitting_set(cores: Sequence[Rows], counts: NDArray[np.int64]) -> Rows:
    """Return rows that hit every core, by greedy set cover: each row hits the most remaining cores per cost."""
    used, incidence = _incidence(cores)
    hits = np.asarray(incidence.sum(axis=0)).ravel()
    by_row = sp.csc_array(incidence)
    left = np.ones(len(cores), bool)
    chosen = []
    while left.any():  # invariant: ``left`` marks the cores not hit yet, and hits[k] counts those that contain used[k]
        k = int(np.argmax(hits / counts[used]))
        chosen.append(k)
        ended = by_row.indices[by_row.indptr[k] : by_row.indptr[k + 1]]
        ended = ended[left[ended]]
        left[ended] = False
        hits -= np.asarray(incidence[ended].sum(axis=0)).ravel()
    return used[chosen]


def _incidence(cores: Sequence[Rows]) -> tuple[Rows, sp.csr_array]:
    """Return the rows that occur in cores, and the incidence matrix of cores and these rows."""
    used, columns = np.unique(np.concatenate(cores), return_inverse=True)
    owners = np.repeat(np.arange(len(cores)), [len(core) for core in cores])
    return used, sp.csr_array((np.ones(len(columns)), (owners, columns)), shape=(len(cores), len(used)))


@dataclass(order=True)
class _Node:
    """A node of the tree: its bound, its packing, the row to branch on (or None), and the decisions that lead to it."""

    bound: float
    number: int
    leaf: Leaf = field(compare=False)
    row: int | None = field(compare=False)
    removed: Mapping[int, bool] = field(compare=False)


class BranchAndBound:
    """Best-first branch and bound, which splits the leaf with the lowest bound until the tree proves the goal."""

    def __init__(self, cores: Sequence[Rows], counts: NDArray[np.int64], budget: Budget) -> None:
        self.cores = [core.tolist() for core in cores]
        self.counts = counts
        self.budget = budget
        self.states = CoreStates(self.cores, {int(row): int(counts[row]) for core in cores for row in core})
        self.children: dict[int, tuple[int, int]] = {}
        self.nodes: list[_Node] = []

    def prove(self, goal: int, disjoint: Leaf) -> tuple[int, Tree]:
        """Return the lower bound on the cost of a hitting set, at most ``goal``, and the tree that proves it.

        ``disjoint`` is a packing that is used at the root if none better is found. The search stops when the bound
        reaches the goal, when no branch can raise it, or at the limits of leaves and work.
        """
        root = self._node({})
        bound = self._bound(disjoint, {})
        if bound >= root.bound:
            root = self.nodes[0] = _Node(bound, 0, disjoint, root.row, {})
        open_leaves = [root]
        # The heap holds all leaves of the tree, so its first bound is the bound of the tree. The best possible bound of
        # a child is never below the bound of its parent, since a decision only excludes hitting sets. If the packing
        # found for a child proves less, because time ran out or the linear program was not solved well, the parent
        # stays a leaf.
        while open_leaves[0].bound < goal and open_leaves[0].row is not None:
            if len(self.nodes) > 2 * MOST_LEAVES or self.budget.is_spent:
                break
            node = open_leaves[0]
            assert node.row is not None
            both = [self._node({**node.removed, node.row: gone}) for gone in (True, False)]
            if min(child.bound for child in both) < node.bound:
                del self.nodes[-2:]
                break
            self.children[node.number] = (both[0].number, both[1].number)
            heapq.heapreplace(open_leaves, both[0])
            heapq.heappush(open_leaves, both[1])
        return int(min(goal, open_leaves[0].bound)), self._preorder()

    def _node(self, removed: Mapping[int, bool]) -> _Node:
        """Return the node for these decisions (True removes a row, False keeps it), with the best packing found."""
        left = [j for j, core in enumerate(self.cores) if not any(removed.get(row) for row in core)]
        free = [[row for row in self.cores[j] if row not in removed] for j in left]
        lost = next((j for j, rows in zip(left, free, strict=True) if not rows), None)
        leaf: Leaf = ()
        row = None
        if lost is not None:
            leaf = ((lost, 1),)
        elif left:
            if len(left) <= MOST_CORES:
                leaf, row = self._fractional_packing(left, [np.array(rows) for rows in free])
            leaf = leaf or self._greedy_packing(left, free)
        node = _Node(self._bound(leaf, removed), len(self.nodes), leaf, row, removed)
        self.nodes.append(node)
        return node

    def _bound(self, leaf: Leaf, removed: Mapping[int, bool]) -> float:
        for row, gone in removed.items():
            self.states.set_state(row, REMOVED if gone else KEPT)
        bound = self.states.bound(leaf)
        for row in removed:
            self.states.set_state(row, FREE)
        return bound

    def _greedy_packing(self, left: Sequence[int], free: Sequence[Sequence[int]]) -> Leaf:
        """Return an integer packing of cores, shortest first, that uses each copy of a row at most once."""
        capacity = {row: int(self.counts[row]) for rows in free for row in rows}
        leaf = []
        for j, rows in sorted(zip(left, free, strict=True), key=lambda core: len(core[1])):
            if times := min(capacity[row] for row in rows):
                leaf.append((j, times))
                capacity |= {row: capacity[row] - times for row in rows}
        return tuple(leaf)

    def _fractional_packing(self, left: Sequence[int], free: Sequence[Rows]) -> tuple[Leaf, int | None]:
        """Return a maximum fractional packing and the row to branch on, or () and None if the program is not solved.

        The packing has a weight t_K for each core K. It maximises sum t_K, subject to sum_(K with i) t_K <= c_i for
        each row i, where c_i is the number of copies of the row. The dual values x_i of these constraints are an
        optimal fractional hitting set.
        """
        from scipy.optimize import linprog  # slow to import

        used, incidence = _incidence(free)
        self.budget.spend(incidence.nnz * PROGRAM)
        found = linprog(
            -np.ones(len(left)),
            A_ub=sp.csr_array(incidence.T),
            b_ub=self.counts[used],
            bounds=(0, None),
            method="highs",
            options={"time_limit": min(LIMIT, self.budget.seconds)},
        )
        if found.status != 0:
            return (), None
        times = primitive(round(share * UNITS) for share in found.x.tolist())
        leaf = tuple((j, count) for j, count in zip(left, times, strict=True) if count)
        return leaf, _most_fractional(used, -found.ineqlin.marginals)

    def _preorder(self) -> Tree:
        tree: list[int | Leaf] = []
        stack = [0]
        while stack:
            number = stack.pop()
            node = self.nodes[number]
            if number in self.children:
                assert node.row is not None
                tree.append(node.row)
                stack += reversed(self.children[number])
            else:
                tree.append(node.leaf)
        return tuple(tree)


def _most_fractional(used: Rows, shares: Floats) -> int | None:
    """Return the row whose share is nearest to 1/2; None if all shares are 0 or 1, so no branch raises the bound."""
    distance = np.abs(shares - 0.5)
    k = int(np.argmin(distance))
    return int(used[k]) if distance[k] < 0.5 - 1e-6 else None
