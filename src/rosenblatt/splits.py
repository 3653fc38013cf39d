"""Stratified splits of a stream: a seed and the position of a row in its class decide whether it is held out.

The rows of each class are cut into groups of consecutive rows. The same number of rows is held out of each group,
chosen by a hash of the seed. So classes have nearly the same shares in both parts, and no rows have to be stored. The
split does not depend on how the stream is cut into blocks. Early stopping and ``--holdout`` hold out rows in this way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block, take_rows, with_numbers
from rosenblatt.kernels.orders import mix

_LARGEST_GROUP = 10_000
"""The largest number of rows in a group, which limits the memory for the random order of a group."""
_AT_ONCE = 1 << 16
"""The number of rows that are decided together, which limits the memory for large arrays."""
_NEVER = np.iinfo(np.uint64).max


@dataclass(frozen=True)
class Split:
    """A rule that decides which rows are held out.

    Examples
    --------
    >>> split = Split.of_share(0.25, seed=0)
    >>> y = np.array(["a"] * 8 + ["b"] * 4)
    >>> held = split.held_out([y])
    >>> [mask.tolist() for mask in held]
    [[False, False, False, True, False, True, False, False, False, False, True, False]]
    """

    size: int
    """The number of rows in a group."""
    first: int
    """The rank, in the random order of each group, of the first row that is held out."""
    stop: int
    """The rank after the last row that is held out."""
    seed: int
    keeps_first: bool = False
    """Whether the first row of each class is never held out, so that every class has a training row."""

    @classmethod
    def of_share(cls, share: float, seed: int) -> Split:
        """Return a split that holds out about ``share`` of the rows of each class.

        The share is rounded to a fraction with a denominator of at most 20 if one is close, else to hundredths. Small
        denominators split small classes more evenly. For instance, 0.33 becomes 1/3. A share below 0.01 is rounded to
        one row in a whole number of rows, at most 10,000.
        """
        if share < 0.01:
            return cls(min(round(1.0 / share), _LARGEST_GROUP), 0, 1, seed, keeps_first=True)
        part = Fraction(share).limit_denominator(20)
        if abs(part - Fraction(share)) > Fraction(1, 50) * min(Fraction(share), 1 - Fraction(share)):
            part = Fraction(min(max(round(100 * share), 1), 99), 100)
        return cls(part.denominator, 0, part.numerator, seed, keeps_first=True)

    @classmethod
    def of_folds(cls, folds: int, seed: int) -> list[Split]:
        """Return ``folds`` splits such that each row is held out by exactly one of them."""
        return [cls(folds, fold, fold + 1, seed) for fold in range(folds)]

    def of_rest(self, share: float, seed: int) -> Split:
        """Return a rule of the same kind for the rows that this one does not hold out."""
        return Split.of_share(share, seed)

    def mark(self, blocks: Iterable[Block], before: Mapping[Any, int] | None = None) -> Iterator[Block]:
        """Yield the blocks with the mask ``held_out``.

        ``before`` maps each class that occurs in earlier rows, in the order of its first row, to the number of these
        rows; by default there are none.
        """
        counts = _ClassCounts(self.seed, before or {})
        for block in blocks:
            yield replace(block, held_out=self._mask(block.y, counts))

    def held_out(self, labels: Iterable[np.ndarray]) -> Iterator[NDArray[np.bool_]]:
        """Yield a mask of the held-out rows for each block of labels."""
        counts = _ClassCounts(self.seed, {})
        for y in labels:
            yield self._mask(y, counts)

    @property
    def recipe(self) -> list[int | bool]:
        """Plain data that identifies the rule."""
        return [self.size, self.first, self.stop, self.seed, self.keeps_first]

    def _mask(self, y: np.ndarray, counts: _ClassCounts) -> NDArray[np.bool_]:
        """Return a mask of the held-out rows among the next rows, whose labels are ``y``, and count these rows."""
        mask = np.zeros(len(y), bool)
        for start in range(0, len(y), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            mask[part] = self._decide(y[part], counts)
        return mask

    def _decide(self, y: np.ndarray, counts: _ClassCounts) -> NDArray[np.bool_]:
        # Row p of a class is in the group that starts at g = p - p % size. The group's rows are ordered by the hashes
        # mix(mix(g + start) + offset), which are distinct, because mix is invertible. This order depends only on the
        # class, the group and the seed, so blocks do not matter. The row is held out if its rank in this order lies in
        # [first, stop), that is, if its hash lies between those of these ranks.
        order, codes, places = counts.add(y)
        offsets = places % self.size
        groups = places - offsets
        begins = np.ones(len(y), bool)  # where, among the rows sorted by class, another group begins
        begins[1:] = (codes[1:] != codes[:-1]) | (groups[1:] != groups[:-1])
        number = np.cumsum(begins) - 1
        starts: NDArray[np.uint64] = groups[begins].astype(np.uint64) + counts.starts[codes[begins]]
        within: NDArray[np.uint64] = np.arange(self.size, dtype=np.uint64)
        draws = mix(mix(starts)[:, None] + within)
        if self.keeps_first:
            draws[groups[begins] == 0, 0] = _NEVER  # puts the first row last
        own = draws[number, offsets]
        draws.sort(axis=1)
        mask = np.empty(len(y), bool)
        mask[order] = (own >= draws[number, self.first]) & (own <= draws[number, self.stop - 1])
        return mask


@dataclass(frozen=True)
class LastRows:
    """A rule that holds out the last rows of a stream, whatever their classes, for rows sorted by time."""

    first: int
    """The number of rows before the first one that is held out."""

    @classmethod
    def of_share(cls, share: float, rows: int) -> LastRows:
        """Return a rule that holds out about ``share`` of ``rows`` rows: at least one, and not all of them.

        >>> LastRows.of_share(0.2, 12)
        LastRows(first=10)
        """
        return cls(rows - min(max(round(share * rows), 1), rows - 1))

    def of_rest(self, share: float, seed: int) -> LastRows:
        """Return a rule of the same kind for the rows that this one does not hold out; ``seed`` has no effect."""
        return LastRows.of_share(share, self.first)

    def mark(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks with the mask ``held_out``."""
        row = 0
        for block in blocks:
            yield replace(block, held_out=np.arange(row, row + len(block)) >= self.first)
            row += len(block)

    @property
    def recipe(self) -> list[int | bool]:
        """Plain data that identifies the rule."""
        return [self.first]


@dataclass(frozen=True, eq=False)
class GroupRows:
    """A rule that holds out all rows of some groups, such as patients, so that no group is in both parts.

    Examples
    --------
    >>> split = GroupRows.of_share(0.4, ["ada", "ada", "bob", "cy", "ada", "bob", "dee", "cy"], seed=0)
    >>> split.held.tolist(), split.groups_held, split.groups
    ([True, True, False, False, True, False, False, False], 1, 4)
    """

    held: NDArray[np.bool_]
    """For each row of the stream, whether it is held out."""
    groups_held: int
    groups: int
    group_of: NDArray[np.int64]
    """For each row of the stream, the number of its group. Rows without a group have the largest numbers."""

    @classmethod
    def of_share(cls, share: float, groups: Iterable[Any], seed: int) -> GroupRows:
        """Return a rule that holds out about ``share`` of the rows: groups in random order, at least one, and not all.

        ``groups`` has the group of each row. A row whose group is None is held out on its own, or not at all.
        """
        numbers: dict[Any, int] = {}
        group_of = np.array(
            [-1 if group is None else numbers.setdefault(group, len(numbers)) for group in groups], np.int64
        )
        alone = np.flatnonzero(group_of < 0)
        group_of[alone] = len(numbers) + np.arange(len(alone))
        return cls._of_numbers(share, group_of, len(numbers), seed)

    @classmethod
    def _of_numbers(cls, share: float, group_of: NDArray[np.int64], groups: int, seed: int) -> GroupRows:
        if groups < 2:
            raise ValueError(
                f"expected rows of at least two groups, got {groups}: give another column, or hold out rows."
            )
        sizes = np.bincount(group_of)
        start: NDArray[np.uint64] = np.array([seed % 2**64], np.uint64)
        within: NDArray[np.uint64] = np.arange(len(sizes), dtype=np.uint64)
        order = np.argsort(mix(mix(start) + within))
        rows = np.cumsum(sizes[order])[:-1]
        held = order[: 1 + int(np.abs(rows - share * len(group_of)).argmin())]
        return cls(np.isin(group_of, held), int((held < groups).sum()), groups, group_of)

    def of_rest(self, share: float, seed: int) -> GroupRows:
        """Return a rule of the same kind for the rows that this one does not hold out."""
        numbers, group_of = np.unique(self.group_of[~self.held], return_inverse=True)
        return GroupRows._of_numbers(share, group_of, int((numbers < self.groups).sum()), seed)

    def mark(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks with the mask ``held_out``; raise a ValueError if there are not as many rows as before."""
        row = 0
        for block in blocks:
            if row + len(block) <= len(self.held):
                yield replace(block, held_out=self.held[row : row + len(block)])
            row += len(block)
        if row != len(self.held):
            raise ValueError(
                f"expected {len(self.held):,} rows as when the groups were read, got {row:,}: keep all rows, without "
                "skipping those that cannot be read."
            )

    @property
    def recipe(self) -> list[int | bool]:
        """Plain data that identifies the rule."""
        return list(hashlib.sha256(self.held.tobytes()).digest())


Rule: TypeAlias = Split | LastRows | GroupRows
"""A rule that decides which rows are held out."""


class _ClassCounts:
    """The number of rows of each class so far. Classes are numbered in the order of their first rows.

    ``before`` maps each class that has occurred, in this order, to the number of its rows.
    """

    def __init__(self, seed: int, before: Mapping[Any, int]) -> None:
        self._seed = seed
        self._numbers = {label: number for number, label in enumerate(before)}
        self._counts = np.array(list(before.values()), np.int64)
        self.starts = self._starts(0)
        """For each class, the seed of the random numbers that order its rows."""
        self._known, self._known_numbers = np.zeros(0), np.zeros(0, np.int64)
        """Sorted labels of one type seen so far, and the class number of each."""

    def _starts(self, first: int) -> NDArray[np.uint64]:
        numbers = range(first, len(self._numbers))
        return np.array([(self._seed + (number << 40)) % 2**64 for number in numbers], np.uint64)

    def add(self, y: np.ndarray) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
        """Count rows with the labels ``y``; return them sorted by class: row indices, classes, positions in the class.

        Rows of the same class keep their order.
        """
        codes = self._codes(y)
        narrow = codes.astype(np.int16) if len(self._numbers) < 2**15 else codes  # NumPy sorts 16 bits in linear time
        order = np.argsort(narrow, kind="stable")
        codes = codes[order]
        begins = np.flatnonzero(np.diff(codes, prepend=-1))
        sizes = np.diff(begins, append=len(codes))
        places = np.arange(len(codes)) + np.repeat(self._counts[codes[begins]] - begins, sizes)
        self._counts[codes[begins]] += sizes
        return order, codes, places

    def _codes(self, y: np.ndarray) -> NDArray[np.int64]:
        """Return the number of the class of each row."""
        if len(self._known) and self._known.dtype.kind == y.dtype.kind:
            found = np.minimum(np.searchsorted(self._known, y), len(self._known) - 1)
            if np.array_equal(self._known[found], y):
                return self._known_numbers[found]
        labels, firsts, codes = np.unique(y, return_index=True, return_inverse=True)
        names = labels.tolist()
        for k in np.argsort(firsts).tolist():
            self._numbers.setdefault(names[k], len(self._numbers))
        self.starts = np.append(self.starts, self._starts(len(self.starts)))
        self._counts = np.append(self._counts, np.zeros(len(self._numbers) - len(self._counts), np.int64))
        same = self._known.dtype.kind == labels.dtype.kind
        self._known = np.union1d(self._known, labels) if same else labels
        self._known_numbers = np.array([self._numbers[label] for label in self._known.tolist()], np.int64)
        return np.array([self._numbers[name] for name in names], np.int64)[codes]


@dataclass(frozen=True)
class Part:
    """One part of a split: the held-out rows or, if ``held`` is False, the other rows."""

    split: Rule
    held: bool

    def __call__(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the rows of this part in blocks. ``first`` counts the rows of the part, and ``numbers`` all rows."""
        first = 0
        for block in map(with_numbers, self.split.mark(blocks)):
            part = take_rows(block, np.flatnonzero(block.held_out == self.held), first)
            if len(part):
                first += len(part)
                yield replace(part, held_out=None)

    @property
    def recipe(self) -> list[int | bool]:
        """Plain data that identifies the part."""
        return [self.held, *self.split.recipe]
