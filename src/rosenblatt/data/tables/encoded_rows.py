"""The rows of a chunk as features and labels, and what is counted in those that are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.blocks import Features
from rosenblatt.data.tables.arrow_values import Reason
from rosenblatt.data.tables.reader import TableChunk


@dataclass
class Counts:
    """What is counted in the rows of a chunk that are kept, for each column."""

    unseen: Counter[str]
    """How many categories are none of the known ones."""
    filled: Counter[str]
    """How many values are missing."""


@dataclass
class RowsToCount:
    """The rows of a chunk, by column, that are counted unless they turn out to be at fault.

    >>> rows = RowsToCount(filled={"a": np.array([0, 2])})
    >>> rows.counts(np.array([True, True, False])).filled
    Counter({'a': 1})
    """

    unseen: dict[str, np.ndarray] = field(default_factory=dict)
    filled: dict[str, np.ndarray] = field(default_factory=dict)

    def counts(self, sound: np.ndarray) -> Counts:
        """Return how many of them are sound: ``sound`` says so for each row."""
        unseen, filled = (
            Counter({name: int(np.count_nonzero(sound[rows])) for name, rows in found.items()})
            for found in (self.unseen, self.filled)
        )
        return Counts(unseen, filled)


@dataclass
class EncodedRows:
    """The rows of a chunk as features and labels; those at fault are left out."""

    X: Features
    y: np.ndarray
    weight: np.ndarray | None
    places: np.ndarray
    faults: list[tuple[int, Reason]]
    """Places that have no row, and why, in order."""
    chunk: TableChunk
    counts: Counts
    names: dict[int, str]
    """Words, by hashed column."""
    carried: dict[str, list[Any]] | None = None
    """The values of columns that come along."""

    def before(self, place: int) -> EncodedRows:
        """Return the rows before ``place``."""
        n = int(np.searchsorted(self.places, place))
        weight = None if self.weight is None else self.weight[:n]
        carried = None if self.carried is None else {name: cells[:n] for name, cells in self.carried.items()}
        X, y, places = self.X[:n], self.y[:n], self.places[:n]
        return EncodedRows(X, y, weight, places, [], self.chunk, self.counts, self.names, carried)

    @property
    def numbers(self) -> np.ndarray:
        """The number of each row among all of this chunk, those at fault included."""
        return np.searchsorted(np.sort([*self.places.tolist(), *(place for place, _ in self.faults)]), self.places)
