"""Stratified splits of a stream: a seed and the position of a row within its class decide if the row is held out.

The rows of each class are cut into groups of consecutive rows. The same number of rows is held out of each group,
chosen by a hash of the seed. So classes have nearly the same shares in both parts, no rows have to be stored, and the
split does not depend on how the stream is cut into blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks import Block, take_rows
from rosenblatt.kernels.orders import mix


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
        denominators split small classes more evenly. For instance, 0.33 becomes 1/3.
        """
        part = Fraction(share).limit_denominator(20)
        if abs(part - Fraction(share)) > Fraction(1, 50) * min(Fraction(share), 1 - Fraction(share)):
            part = Fraction(min(max(round(100 * share), 1), 99), 100)
        return cls(part.denominator, 0, part.numerator, seed, keeps_first=True)

    @classmethod
    def of_folds(cls, folds: int, seed: int) -> list[Split]:
        """Return ``folds`` splits such that each row is held out by exactly one of them."""
        return [cls(folds, fold, fold + 1, seed) for fold in range(folds)]

    def held_out(self, labels: Iterable[np.ndarray]) -> Iterator[NDArray[np.bool_]]:
        """Yield a mask of the held-out rows for each block of labels."""
        seen: dict[object, tuple[int, int]] = {}
        for y in labels:
            classes, codes = np.unique(y, return_inverse=True)
            mask = np.zeros(len(y), bool)
            order = np.argsort(np.unique(codes, return_index=True)[1])  # classes in order of appearance
            for code in order.tolist():
                label = classes.tolist()[code]
                number, before = seen.get(label, (len(seen), 0))
                rows = np.flatnonzero(codes == code)
                mask[rows] = self._of_class(number, before, len(rows))
                seen[label] = number, before + len(rows)
            yield mask

    def _of_class(self, number: int, before: int, n: int) -> NDArray[np.bool_]:
        """Return a mask of the held-out rows among the next ``n`` rows of a class.

        ``number`` is the class, counted in order of appearance, and ``before`` the number of its earlier rows.
        """
        # Row p of the class is in the group that starts at g = p - p % size. The group's rows are ordered by the hashes
        # mix(mix(g + start) + offset). This permutation depends only on the class, the group and the seed, so blocks do
        # not matter. The row is held out if its rank in this order lies in [first, stop).
        places = np.arange(before, before + n, dtype=np.uint64)
        place = (places % np.uint64(self.size)).astype(np.intp)
        group: NDArray[np.uint64] = places - places % np.uint64(self.size)
        start = np.uint64((self.seed + (number << 40)) % 2**64)
        offsets: NDArray[np.uint64] = np.arange(self.size, dtype=np.uint64)
        draws = mix(mix(group + start)[:, None] + offsets)
        if self.keeps_first:
            draws[group == 0, 0] = np.iinfo(np.uint64).max  # puts the first row last
        own = draws[np.arange(n), place]
        rank = (draws < own[:, None]).sum(axis=1)
        return (rank >= self.first) & (rank < self.stop)


@dataclass(frozen=True)
class Part:
    """One part of a split: the held-out rows or, if ``held`` is False, the other rows."""

    split: Split
    held: bool

    def __call__(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield blocks of the rows of this part, with row indices from 0."""
        first = 0
        waiting: list[Block] = []

        def labels() -> Iterator[np.ndarray]:
            for block in blocks:
                waiting.append(block)
                yield block.y

        for mask in self.split.held_out(labels()):
            block = take_rows(waiting.pop(), np.flatnonzero(mask == self.held), first)
            if len(block):
                first += len(block)
                yield block

    @property
    def recipe(self) -> list[int | bool]:
        """Plain data that identifies the part."""
        split = self.split
        return [self.held, split.size, split.first, split.stop, split.seed, split.keeps_first]
