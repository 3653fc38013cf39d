"""Every update of a run with its row, from which the weights at any moment can be had again."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.training.interrupts import interrupts_deferred

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Updates(NamedTuple):
    """Updates of one classifier in the order in which they were made."""

    members: Integers
    """Which row each was made on: a row number of a batch, or the place of a stored row."""
    steps: Floats
    """Step sizes, with the sign of the label; where classes compete directly they are positive."""
    visits: Floats
    """The visits before each."""
    trues: Integers
    """Where classes compete directly, the class that was moved towards the row ..."""
    rivals: Integers
    """... and the one that was moved away."""

    def survival(self, visits: float) -> Floats:
        """Return how many of all ``visits`` the weights made by each update survived."""
        return np.diff(self.visits, append=visits)

    def before_first(self, visits: float) -> float:
        """Return how many of all ``visits`` the weights at the start survived."""
        return float(self.visits[0]) if len(self.visits) else visits

    def some(self, which: NDArray[np.bool_]) -> Updates:
        """Return the updates for which ``which`` is true."""
        return Updates(*(part[which] for part in self))  # type: ignore[arg-type]


def join_updates(chunks: list[Updates]) -> Updates:
    """Return the updates of all ``chunks`` as one."""
    none, nothing = np.empty(0, np.int64), np.empty(0)
    start = Updates(none, nothing, nothing, none, none)
    return Updates(*(np.concatenate(parts) for parts in zip(start, *chunks, strict=True)))


def mirrored_updates(chunks: list[Updates], sign: int) -> list[Updates]:
    """Return updates as they are, or those of the mirror image for ``sign`` -1."""
    return [update._replace(steps=sign * update.steps) for update in chunks]


def competing_updates(chunks: list[Updates], places: Integers, direct: bool) -> list[Updates]:
    """Return updates as those of competing classes, now numbered by ``places``; ``direct`` if they competed before."""
    if direct:
        return [u._replace(trues=places[u.trues], rivals=places[u.rivals]) for u in chunks]
    # one classifier for two classes: it moved the second class by its steps, the first one the other way
    return [
        u._replace(
            steps=np.abs(u.steps),
            trues=np.where(u.steps > 0, places[1], places[0]),
            rivals=np.where(u.steps > 0, places[0], places[1]),
        )
        for u in chunks
    ]


@dataclass
class UpdateLog:
    """The updates of all classifiers with their rows.

    Freund and Schapire's representation of a voted perceptron: the voters are never stored as vectors, and their
    activations on a new row are running sums over its products with the stored rows.
    """

    blocks: list[Any]
    chunks: list[list[Updates]]
    n_classes: int
    """Number of classes where they compete directly, else 0."""
    start: tuple[Floats, Floats] | None = None
    """The weights and biases that the run began with, None for zero; features that came later are left out."""
    _pending: tuple[Any, list[list[Updates]]] | None = field(default=None, repr=False, compare=False)
    """A matrix and updates on its rows that are not stored yet: a further pass may need the same rows."""

    @classmethod
    def empty(cls, n_classifiers: int, n_classes: int) -> UpdateLog:
        """Return a log without updates."""
        return cls(blocks=[], chunks=[[] for _ in range(n_classifiers)], n_classes=n_classes)

    def append(self, X: Any, updates: list[Updates]) -> None:
        """Append updates, some for each classifier; their members are row numbers of ``X``."""
        if self._pending is None or self._pending[0] is not X:
            self.store()
            self._pending = X, [[] for _ in self.chunks]
        with interrupts_deferred():
            for chunk, update in zip(self._pending[1], updates, strict=True):
                chunk.append(update)

    def store(self) -> None:
        """Copy the rows of all updates so far, each once for all passes over one matrix."""
        if self._pending is None:
            return
        X, updates = self._pending[0], [join_updates(chunk) for chunk in self._pending[1]]
        wanted = np.unique(np.concatenate([update.members for update in updates]))
        before = sum(block.shape[0] for block in self.blocks)
        with interrupts_deferred():  # rows without their updates could not be saved
            self._pending = None
            if len(wanted):
                self.blocks.append(X[wanted])
                for chunk, update in zip(self.chunks, updates, strict=True):
                    chunk.append(update._replace(members=before + np.searchsorted(wanted, update.members)))

    def snapshot(self) -> UpdateLog:
        """Return a copy that further training leaves alone (the arrays themselves never change)."""
        self.store()
        other = copy(self)
        other.blocks, other.chunks = list(self.blocks), [list(chunk) for chunk in self.chunks]
        return other

    def with_classifiers(self, n_classifiers: int, n_classes: int) -> UpdateLog:
        """Return a log with the same rows and no updates."""
        self.store()
        return UpdateLog(list(self.blocks), [[] for _ in range(n_classifiers)], n_classes)

    def rows(self) -> Any:
        """Return all stored rows as one float64 matrix, dense or CSR."""
        self.store()
        if any(sp.issparse(block) for block in self.blocks):
            blocks = [sp.csr_array(block) for block in self.blocks]
            width = max(block.shape[1] for block in blocks)
            for block in blocks:  # columns may have come up on the way
                block.resize((block.shape[0], width))
            return sp.vstack(blocks, format="csr", dtype=np.float64)
        return np.concatenate(self.blocks, dtype=np.float64)

    def start_weights(self, d: int) -> tuple[Floats, Floats] | None:
        """Return the weights of ``d`` features and the biases that the run began with, None for zero."""
        if self.start is None:
            return None
        w, b = self.start
        return np.pad(w, ((0, 0), (0, d - w.shape[1]))), b

    def updates(self, k: int) -> Updates:
        """Return all updates of classifier ``k``."""
        self.store()
        return join_updates(self.chunks[k])

    def stored(self, k: int) -> list[Updates]:
        """Return the updates of classifier ``k`` in the parts in which they came."""
        self.store()
        return self.chunks[k]
