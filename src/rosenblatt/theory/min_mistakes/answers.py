"""`FewestMistakes`, the least number of rows to remove until a hyperplane separates the rest, with its proof.

A core is a set of rows that nothing separates; a minimal one is an irreducible infeasible subsystem (Chinneck). Rows to
remove are a hitting set of all cores, and what proves that none is smaller is a tree whose leaves are fractional
packings of cores: by weak duality a packing is at most as large as any hitting set.
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

# The tree of a proof branches on a row, which is removed (with all its copies) or kept. At a leaf some cores, none of
# which has lost a row so far, are counted ``times`` each. If no row that is still free is counted more than D
# times for each of its copies, rows that hit all these cores are at least the sum of ``times`` over D: cores that are
# disjoint, each counted once, are the plainest case. Kept rows cannot hit anything, so they are not looked at.
#
# A tree is written in preorder: the number of the row, then the branch where it is removed, then the one where it is
# kept; a leaf is a tuple of pairs (number of a core, times). A branch is on a row of some core that is not settled
# yet, and a leaf names a core once. What all leaves count together is bounded by how many numbers cores and tree
# consist of.


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


class Core(NamedTuple):
    """Rows that no hyperplane separates, with the weights that prove it, as an `Inseparable` about them has them."""

    rows: Rows
    alpha: Vector
    weights: Integers
    basis: BasisOfProof = None


def _read_core(data: Any, place: Place) -> Core:
    core = Core(**read_fields(Core, data, place))
    lengths = {len(core.rows), len(core.alpha), len(core.rows if core.weights is None else core.weights)}
    if len(lengths) > 1 or core.alpha.dtype == object:
        raise place.error("a core with a weight for each of its rows", f"{len(core.rows):,} rows")
    return core


def _read_tree(data: Any, place: Place) -> Tree:
    if type(data) is not list or len(data) > MOST_NODES or not all(_is_node(node) for node in data):
        raise place.error(f"a list of at most {MOST_NODES:,} row numbers and lists of pairs", data)
    return tuple(node if type(node) is int else tuple((j, times) for j, times in node) for node in data)


def _is_node(node: object) -> bool:
    if type(node) is list:
        return all(type(pair) is list and len(pair) == 2 and all(map(_is_whole, pair)) for pair in node)
    return _is_whole(node)


def _is_whole(value: object) -> bool:
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
    """The least number of rows whose removal leaves separable data, proved to lie between ``low`` and ``high``.

    Attributes
    ----------
    low, high : int
        The least number is at least ``low`` and at most ``high``, which is the length of ``rows``.
    rows : array of int
        Rows to remove: (w, b) has each of the others strictly on its side.
    w, b : array and float
        That hyperplane: floats, or integers where no floats separate.
    n : int
        How many rows there are.
    cores : tuple of Core
        Sets of rows that no hyperplane separates, each with the weights that prove it, so that each must lose a row.
    copies : tuple of arrays of int
        Equal rows with equal labels: all of them go or none. Cores name the first.
    tree : tuple
        Why no fewer than ``low`` rows hit all cores: where that is a single leaf, as many disjoint cores as ``low``, or
        more cores that share rows to some degree.
    positive : label
        The label that counts as +1.
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
        """How many rows are removed."""
        return len(self.rows)

    def check(self, X: MatrixLike, y: ArrayLike) -> bool:
        """Return whether (w, b) separates all other rows and ``low`` of them must go, recomputed exactly."""
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
        """Return how many rows must go, as cores, copies and the tree prove; 0 where one of them is false."""
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
            return 0  # a row counts once
        return fewest_removals(self.tree, cores, {row: len(group) for row, group in groups.items()})

    def __str__(self) -> str:
        of = f"the {count_of(self.n, 'row')}"
        if self.high == 0:
            return f"No row must be removed: a hyperplane separates {of}."
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
                f"The lower end is weak here, as such sets have up to d + 2 = {longest:,} rows: "
                f"no more than {disjoint:,} of that size are disjoint."
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
