"""The answer to "how many rows must go until a hyperplane separates the rest?", with the proof that it carries."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rosenblatt.plurals import count_of
from rosenblatt.small_pictures import number_line
from rosenblatt.storage.json_fields import StrictFields
from rosenblatt.theory.certificate_fields import BasisOfProof, Codec, Integers, Label, Number, Rows, Vector
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.enclosures import Basis
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Signs, certified_signs, check_rows
from rosenblatt.theory.integers import are_finite
from rosenblatt.theory.mistakes.trees import MOST_NODES, Tree, fewest_removals
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.verdicts import Inseparable
from rosenblatt.theory.words import rows_text

_ROWS, _VECTOR, _INTEGERS, _BASIS = (get_args(kind)[1] for kind in (Rows, Vector, Integers, BasisOfProof))


class Core(NamedTuple):
    """Rows that no hyperplane separates, with the weights that prove it, as an `Inseparable` about them has them."""

    rows: NDArray[np.intp]
    alpha: Floats
    weights: tuple[int, ...] | None
    basis: Basis | None = None


def _write_cores(cores: tuple[Core, ...], name: str) -> list[dict[str, Any]]:
    return [
        {
            "rows": core.rows.tolist(),
            "alpha": _VECTOR.write(core.alpha, name),
            "weights": _INTEGERS.write(core.weights, name),
            "basis": _BASIS.write(core.basis, name),
        }
        for core in cores
    ]


def _read_cores(fields: StrictFields, name: str) -> tuple[Core, ...]:
    return tuple(_read_core(StrictFields(one, f"{fields.what}: one of {name!r}")) for one in fields.values(name))


def _read_core(part: StrictFields) -> Core:
    rows, alpha = _ROWS.read(part, "rows"), _VECTOR.read(part, "alpha")
    core = Core(rows, alpha, _INTEGERS.read(part, "weights"), _BASIS.read(part, "basis"))
    part.end()
    lengths = {len(core.rows), len(core.alpha), len(core.rows if core.weights is None else core.weights)}
    if len(lengths) > 1 or core.alpha.dtype == object:
        raise ValueError(f"{part.what} must have a weight for each of its rows.")
    return core


def _read_copies(fields: StrictFields, name: str) -> tuple[NDArray[np.intp], ...]:
    groups = [{"rows": rows} for rows in fields.values(name)]
    return tuple(_ROWS.read(StrictFields(group, f"{fields.what}: {name!r}"), "rows") for group in groups)


def _read_tree(fields: StrictFields, name: str) -> Tree:
    nodes = fields.values(name)
    if len(nodes) > MOST_NODES or not all(_is_node(node) for node in nodes):
        raise fields.wrong(name, f"a list of at most {MOST_NODES:,} row numbers and lists of pairs", nodes)
    return tuple(node if type(node) is int else tuple((j, times) for j, times in node) for node in nodes)


def _is_node(node: object) -> bool:
    if type(node) is list:
        return all(type(pair) is list and len(pair) == 2 and all(map(_is_whole, pair)) for pair in node)
    return _is_whole(node)


def _is_whole(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**53


Count: TypeAlias = Annotated[int, Codec(lambda value, _: int(value), lambda fields, name: fields.whole(name))]
Cores: TypeAlias = Annotated[tuple[Core, ...], Codec(_write_cores, _read_cores)]
Copies: TypeAlias = Annotated[
    tuple[NDArray[np.intp], ...], Codec(lambda groups, _: [rows.tolist() for rows in groups], _read_copies)
]
Proof: TypeAlias = Annotated[Tree, Codec(lambda tree, _: [_plain(node) for node in tree], _read_tree)]


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
        Why no fewer than ``low`` rows hit all cores (``theory.mistakes.trees``): where that is a single leaf, as many
        disjoint cores as ``low``, or more cores that share rows to some degree.
    positive : label
        The label that counts as +1.
    """

    low: Count
    rows: Rows
    w: Vector
    b: Number
    n: Count
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
        if not _are_equal(X, firsts, seconds) or (signs[firsts] == signs[seconds]).any():
            return 0
        if not all(_is_core(core, X, signs) for core in self.cores if len(core.rows) != 2):
            return 0
        if any(len(group) == 0 for group in self.copies):
            return 0
        groups = {int(group[0]): group for group in self.copies}
        firsts = np.repeat([*groups], [len(group) for group in groups.values()]).astype(np.intp)
        copies = np.concatenate([np.empty(0, np.intp), *groups.values()])
        if not _are_equal(X, firsts, copies) or (signs[firsts] != signs[copies]).any():
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


def _are_equal(X: Matrix, rows: NDArray[np.intp], others: NDArray[np.intp]) -> bool:
    unequal = X[rows] != X[others]
    return not (unequal.nnz if sp.issparse(unequal) else unequal.any())


def _is_core(core: Core, X: Matrix, signs: Signs) -> bool:
    claim = Inseparable(core.alpha, np.arange(len(core.rows)), core.weights, 1.0, core.basis)
    return len(core.rows) > 0 and claim.check(X[core.rows], signs[core.rows])
