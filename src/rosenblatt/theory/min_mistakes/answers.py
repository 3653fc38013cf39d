"""Certificate of the least number of rows whose removal makes the rest linearly separable.

A core is a set of rows that no hyperplane separates. A minimal core is an irreducible infeasible subsystem (IIS) of the
inequalities y (w . x + b) > 0 (Chinneck 2008, "Feasibility and Infeasibility in Optimization"). The remaining rows are
separable if and only if the removed rows hit every core. A branch-and-bound tree proves that no smaller set hits the
cores found; the bound at its leaves is a fractional packing of cores.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.html import number_line
from rosenblatt.messages import count_of
from rosenblatt.storage.schema import Codec, Place, read_fields, record
from rosenblatt.theory.certificates import BasisOfProof, Certificate, Integers, Label, Number, Rows, Vector
from rosenblatt.theory.exact import are_finite, rows_differ
from rosenblatt.theory.inputs import Matrix, MatrixLike, Signs, certified_signs, check_rows, rows_text
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.verdicts import Inseparable

# Each inner node of the tree branches on a row, which is either removed (with all its copies) or kept. A leaf bounds
# the cost of hitting all cores under these decisions by weak duality. The linear program min sum_i c_i x_i over x >= 0
# with sum_(i in K) x_i >= 1 for each core K (c_i is the number of copies of row i) has the dual max sum_K t_K with
# sum_(K with i) t_K <= c_i. A feasible t is a fractional packing of cores, and its sum is at most the cost of every
# hitting set. A leaf stores integers ``times`` proportional to t, for cores that no removed row hits. For each free row
# i, add up ``times`` over the cores that contain i, and divide the sum by c_i. Let D be the largest of these quotients.
# Then t = times / D is feasible, so a hitting set costs at least sum(times) / D, rounded up. The simplest packing has
# disjoint cores, each once. Kept rows cannot hit a core and have no constraint.
#
# A tree is stored in preorder: the number of the row, then the subtree where it is removed, then the subtree where it
# is kept. A leaf is a tuple of pairs (number of a core, times). Each branch is on a free row of some core, and a leaf
# names a core at most once. The total work of all leaves is limited in proportion to the size of the cores and the
# tree.


Leaf: TypeAlias = tuple[tuple[int, int], ...]
Tree: TypeAlias = tuple[int | Leaf, ...]
MOST_NODES = 20_000
MOST_COUNTED = 600  # rows of cores in leaves, per number in cores and tree; 500 leaves with all cores stay below
MOST_TIMES = 1 << 62  # sums stay within int64
FREE, REMOVED, KEPT = 0, 1, 2


def proved_bound(tree: Tree, cores: Sequence[Sequence[int]], copies: Mapping[int, int]) -> float:
    """Return the lower bound that the tree proves on the cost of hitting all cores, or 0 if the tree is invalid.

    The cost of a row is its number of copies in ``copies``, including the row itself, or 1 if it is not listed there.

    >>> proved_bound((((0, 1), (1, 1)),), [[0, 1], [2, 3]], {})  # disjoint
    2
    >>> proved_bound((((0, 1), (1, 1), (2, 1)),), [[0, 1], [1, 2], [0, 2]], {})  # each row twice: 3 / 2, rounded up
    2
    >>> proved_bound((0, (), ((0, 1),)), [[0]], {})  # remove row 0, or keep it, which is infeasible
    1
    """
    if not _is_short(tree, [len(core) for core in cores]):
        return 0
    states = CoreStates(cores, copies)
    path: list[int] = []
    least = math.inf
    ended = False
    # Depth first: ``path`` holds the rows decided on the way to the next node, and ``states`` their states. The bound
    # of the tree is the least bound of a leaf, since each hitting set agrees with the decisions of exactly one leaf.
    for node in tree:
        if ended:
            return 0
        if isinstance(node, int):
            if not states.is_free(node):
                return 0
            states.set_state(node, REMOVED)
            path.append(node)
            continue
        least = min(least, states.bound(node))
        while path and states.is_kept(path[-1]):
            states.set_state(path.pop(), FREE)
        if path:
            states.set_state(path[-1], KEPT)
        ended = not path
    return least if ended else 0


def _is_short(tree: Tree, lengths: Sequence[int]) -> bool:
    """Return whether each leaf refers to a core at most once and all leaves together stay within the work limit."""
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


class CoreStates:
    """Cores with a state for each of their rows: free, removed or kept."""

    def __init__(self, cores: Sequence[Sequence[int]], copies: Mapping[int, int]) -> None:
        rows = sorted({row for core in cores for row in core})
        self.index = {row: k for k, row in enumerate(rows)}
        self.cores = [np.array(sorted({self.index[row] for row in core}), dtype=np.intp) for core in cores]
        self.copies = np.array([copies.get(row, 1) for row in rows], dtype=np.int64)
        self.numbers, self.kinds = np.unique(self.copies, return_inverse=True)
        self.states = np.zeros(len(rows), dtype=np.int8)
        self.uses = np.zeros(len(rows), dtype=np.int64)
        self.cost = 0

    def is_free(self, row: int) -> bool:
        """Return whether ``row`` is a row of some core and neither removed nor kept."""
        return row in self.index and self.states[self.index[row]] == FREE

    def is_kept(self, row: int) -> bool:
        """Return whether ``row``, a row of some core, is kept."""
        return bool(self.states[self.index[row]] == KEPT)

    def set_state(self, row: int, state: int) -> None:
        """Set the state of a row of some core, and update ``cost``, the number of removed rows including copies."""
        k = self.index[row]
        self.cost += int(self.copies[k]) * ((state == REMOVED) - int(self.states[k] == REMOVED))
        self.states[k] = state

    def bound(self, leaf: Leaf) -> float:
        """Return the lower bound that the leaf proves on the cost of hitting all cores, including the removed rows."""
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
            return math.inf  # all rows of a core are kept, so no hitting set agrees with the decisions
        np.add.at(self.uses, rows, times)
        # D = max uses / copies. Among rows with the same number of copies only the most used one counts.
        most = np.zeros(len(self.numbers), dtype=np.int64)
        np.maximum.at(most, self.kinds[rows], self.uses[rows])
        self.uses[rows] = 0
        used = np.flatnonzero(most)
        loads = zip(most[used].tolist(), self.numbers[used].tolist(), strict=True)
        return self.cost + min(-(-total * copies // uses) for uses, copies in loads)


class Core(NamedTuple):
    """Rows that no hyperplane separates, with the proof of an `Inseparable` verdict on these rows."""

    rows: Rows
    alpha: Vector
    weights: Integers
    basis: BasisOfProof = None


def _read_core(data: Any, place: Place) -> Core:
    core = Core(**read_fields(Core, data, place))
    lengths = {len(core.rows), len(core.alpha), len(core.rows if core.weights is None else core.weights)}
    if len(lengths) > 1 or core.alpha.dtype == object:
        raise place.error(
            "a core with one weight for each of its rows", f"{len(core.rows):,} rows with weights that do not match"
        )
    return core


def _read_tree(data: Any, place: Place) -> Tree:
    if type(data) is not list or len(data) > MOST_NODES or not all(_is_node(node) for node in data):
        raise place.error(f"a list of at most {MOST_NODES:,} nodes, each a row number or a list of pairs", data)
    return tuple(node if type(node) is int else tuple((j, times) for j, times in node) for node in data)


def _is_node(node: object) -> bool:
    if type(node) is list:
        return all(type(pair) is list and len(pair) == 2 and all(map(_is_index, pair)) for pair in node)
    return _is_index(node)


def _is_index(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**53


_CORE = Codec(record(Core).write, _read_core)
_TREE = Codec(lambda tree, place: [_plain(node) for node in tree], _read_tree)
Cores: TypeAlias = tuple[Annotated[Core, _CORE], ...]
Copies: TypeAlias = tuple[Rows, ...]
Proof: TypeAlias = Annotated[Tree, _TREE]


def _plain(node: int | tuple[tuple[int, int], ...]) -> int | list[list[int]]:
    return node if isinstance(node, int) else [list(pair) for pair in node]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FewestMistakes(Certificate):
    """Proved bounds on the least number of rows whose removal makes the data linearly separable.

    Attributes
    ----------
    low, high : int
        Lower and upper bound on the least number. ``high`` is the length of ``rows``.
    rows : array of int
        Rows to remove. (w, b) separates all other rows.
    w, b : array and float
        The hyperplane, in floats, or in integers if no floats separate the rows.
    n : int
        The number of rows.
    cores : tuple of Core
        Sets of rows that no hyperplane separates (infeasible subsystems), each with its proof. At least one row of each
        must be removed.
    copies : tuple of arrays of int
        Sets of equal rows with equal labels, which are removed together or not at all. Cores refer to the first row of
        a set.
    tree : tuple
        The branch-and-bound tree, which proves that no fewer than ``low`` rows hit all cores. A single leaf is a
        packing of cores, for example ``low`` disjoint cores.
    positive : label
        The label that counts as +1.

    See Also
    --------
    fewest_mistakes : The function that returns a `FewestMistakes`.
    """

    low: int
    rows: Rows
    w: Vector
    b: Number
    n: int
    cores: Cores
    copies: Copies
    tree: Proof
    positive: Label
    _truth = "the number of rows to remove is neither true nor false: compare low and high with 0."

    @property
    def high(self) -> int:
        """The upper bound, which is the number of rows in ``rows``."""
        return len(self.rows)

    def check(self, X: MatrixLike, y: ArrayLike) -> bool:
        """Return whether (w, b) separates all rows but ``rows`` and ``low`` is a lower bound, both decided exactly."""
        X, y = check_rows(X, y)
        signs = certified_signs(y, self.positive)
        if signs is None or self.n != len(signs):
            return False
        named = [self.rows, *(core.rows for core in self.cores), *self.copies]
        if any(len(rows) and not 0 <= rows.min() <= rows.max() < self.n for rows in named):
            return False
        return 0 <= self.low <= self.high and self._separates(X, signs) and self.low <= self._proved(X, signs)

    def _separates(self, X: Matrix, signs: Signs) -> bool:
        rest = np.setdiff1d(np.arange(self.n), self.rows)
        if len(np.unique(self.rows)) < self.high or self.w.shape != (X.shape[1],):
            return False
        if not are_finite([*self.w.tolist(), self.b]):
            return False
        return len(rest) == 0 or least_score(X[rest], signs[rest], self.w, self.b) > 0

    def _proved(self, X: Matrix, signs: Signs) -> float:
        """Return the lower bound that ``cores``, ``copies`` and ``tree`` prove; 0 if one of them is not valid."""
        pairs = [core.rows for core in self.cores if len(core.rows) == 2]
        firsts = np.array([first for first, _ in pairs], dtype=np.intp)
        seconds = np.array([second for _, second in pairs], dtype=np.intp)
        if rows_differ(X[firsts], X[seconds]).any() or (signs[firsts] == signs[seconds]).any():
            return 0
        if not all(_is_core(core, X, signs) for core in self.cores if len(core.rows) != 2):
            return 0
        if any(len(group) == 0 for group in self.copies):
            return 0
        groups = {int(group[0]): group for group in self.copies}
        firsts = np.repeat([*groups], [len(group) for group in groups.values()]).astype(np.intp)
        copies = np.concatenate([np.empty(0, np.intp), *groups.values()])
        if rows_differ(X[firsts], X[copies]).any() or (signs[firsts] != signs[copies]).any():
            return 0
        cores = [core.rows.tolist() for core in self.cores]
        alone = {row for rows in cores for row in rows} - groups.keys()
        if len(groups) < len(self.copies) or len({*copies.tolist()} | alone) < len(copies) + len(alone):
            return 0  # each row may count only once
        return proved_bound(self.tree, cores, {row: len(group) for row, group in groups.items()})

    def __str__(self) -> str:
        of = f"the {count_of(self.n, 'row')}"
        if self.high == 0:
            return f"No row needs to be removed: a hyperplane separates {of}."
        number = (
            f"Exactly {self.low:,}" if self.low == self.high else f"At least {self.low:,} and at most {self.high:,}"
        )
        lines = [
            f"{number} of {of} must be removed so that a hyperplane separates the rest.",
            f"Without {rows_text(self.rows.tolist(), most=12)} it does.",
        ]
        less = "one must go" if self.low == 1 else f"no fewer than {self.low:,} will do"
        if len(self.cores) == 1:
            lines.append(f"1 set of rows, which no hyperplane separates, proves that {less}.")
        elif self.low:
            lines.append(f"{len(self.cores):,} sets of rows, each of which no hyperplane separates, prove that {less}.")
        longest, disjoint = len(self.w) + 2, self.n // (len(self.w) + 2)
        if 2 * max(self.low, disjoint) < self.high and any(len(core.rows) == longest for core in self.cores):
            lines.append(
                f"The lower bound is weak here, as such sets have up to d + 2 = {longest:,} rows: "
                f"at most {disjoint:,} of that size can be disjoint."
            )
        return "\n".join(lines)

    def _picture(self) -> str:
        if self.high == 0:
            return ""
        return number_line(
            self.low, self.high, f"Rows to remove, on a number line: at least {self.low:,}, at most {self.high:,}."
        )


def _is_core(core: Core, X: Matrix, signs: Signs) -> bool:
    claim = Inseparable(core.alpha, np.arange(len(core.rows)), core.weights, 1.0, core.basis)
    return len(core.rows) > 0 and claim.check(X[core.rows], signs[core.rows])
