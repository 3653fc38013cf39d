"""The voters of a voted perceptron, stored as the mistakes that made them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Updates(NamedTuple):
    """Updates in the order in which they were made.

    ``members`` number the stored rows, ``steps`` are the signed step sizes, ``visits`` the visits before each update.
    Where classes compete directly, ``trues`` and ``rivals`` are the two classes that each update moved.
    """

    members: np.ndarray
    steps: np.ndarray
    visits: np.ndarray
    trues: np.ndarray
    rivals: np.ndarray

    def survival(self, visits: float) -> np.ndarray:
        """Return how many of all ``visits`` each voter survived: 1 for the visit that made it, and so on."""
        return np.diff(self.visits, append=visits)


def join(chunks: list[Updates]) -> Updates:
    """Return the updates of all ``chunks`` as one."""
    none, nothing = np.empty(0, np.int64), np.empty(0)
    start = Updates(none, nothing, nothing, none, none)
    return Updates(*(np.concatenate(parts) for parts in zip(start, *chunks, strict=True)))


@dataclass
class Ballots:
    """Every update of a run with its row, so that each weight vector on the way can be had again.

    Freund and Schapire's representation: the voters are never stored as vectors, and their activations on a
    new row are running sums over products with the stored rows.
    """

    blocks: list[Any]
    chunks: list[list[Updates]]
    n_classes: int
    """Number of classes where they compete directly, else 0."""

    @classmethod
    def empty(cls, n_machines: int, n_classes: int) -> Ballots:
        """Return ballots without votes."""
        return cls(blocks=[], chunks=[[] for _ in range(n_machines)], n_classes=n_classes)

    def snapshot(self) -> Ballots:
        """Return a copy that further training leaves alone (the arrays themselves never change)."""
        other = copy(self)
        other.blocks = list(self.blocks)
        other.chunks = [list(chunk) for chunk in self.chunks]
        return other

    def extend(self, X: Any, updates: list[Updates]) -> None:
        """Append one batch of updates for each machine; their members are row numbers of ``X``."""
        wanted = np.unique(np.concatenate([update.members for update in updates]))
        if len(wanted) == 0:
            return
        before = sum(block.shape[0] for block in self.blocks)
        self.blocks.append(X[wanted])
        for chunk, update in zip(self.chunks, updates, strict=True):
            chunk.append(update._replace(members=before + np.searchsorted(wanted, update.members)))

    def rows(self) -> Any:
        """Return all stored rows as one float64 matrix, dense or CSR."""
        if any(sp.issparse(block) for block in self.blocks):
            blocks = [sp.csr_array(block) for block in self.blocks]
            width = max(block.shape[1] for block in blocks)
            for block in blocks:  # columns may have come up on the way
                block.resize((block.shape[0], width))
            return sp.vstack(blocks, format="csr", dtype=np.float64)
        return np.concatenate(self.blocks, dtype=np.float64)

    def updates(self, k: int) -> Updates:
        """Return all updates of machine ``k``."""
        return join(self.chunks[k])

    def mirrored(self, k: int, sign: int) -> list[Updates]:
        """Return machine ``k``'s updates, or those of its mirror image for ``sign`` -1."""
        return [update._replace(steps=sign * update.steps) for update in self.chunks[k]]

    def competing(self, places: np.ndarray) -> list[Updates]:
        """Return the updates as those of directly competing classes, now numbered by ``places``."""
        if self.n_classes:
            return [u._replace(trues=places[u.trues], rivals=places[u.rivals]) for u in self.chunks[0]]
        # one machine for two classes: it moved the second class by its steps, the first one the other way
        return [
            u._replace(
                steps=np.abs(u.steps),
                trues=np.where(u.steps > 0, places[1], places[0]),
                rivals=np.where(u.steps > 0, places[0], places[1]),
            )
            for u in self.chunks[0]
        ]
