"""A limit of support rows: the oldest row of a classifier is forgotten when it holds too many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.training.dual.rounds import Correction
from rosenblatt.training.dual.state import DualState, Floats
from rosenblatt.training.dual.table import KernelTable

Integers = NDArray[np.int64]


class Budget:
    """The rows that each classifier holds during a block, in the order of their first updates.

    A row that is dropped is forgotten with all its updates, as though they had never been made; it may come back when
    it is visited again.

    Parameters
    ----------
    state : DualState
        Before the block.
    table : KernelTable
        Of the batch.
    rows : array
        The rows of the block, and ``first`` the number of the batch's first row.
    active : array
        The classifiers.
    moves : array of shape (classifiers, rows)
        The signed steps of corrections; where classes compete, the one line has sizes.
    """

    def __init__(
        self, state: DualState, table: KernelTable, rows: Integers, first: int, active: Integers, moves: Floats
    ) -> None:
        self.state, self.table, self.rows, self.first, self.active, self.moves = (
            state,
            table,
            rows,
            first,
            active,
            moves,
        )
        self.most = state.computing.max_support or 1
        self.dropped: list[set[int]] = [set() for _ in active]
        """For each classifier, the places of support rows that it has dropped in this block."""
        self._has_dropped = False
        numbers = np.array(state.supports.numbers, np.int64)
        held = [numbers[state.updates_of(k).members].tolist() for k in active.tolist()]
        self._held: list[dict[int, list[Correction]]] = [{number: [] for number in part} for part in held]

    def forget(self, line: int, correction: Correction) -> Floats | None:
        """Note a correction; return how the scores of the block change if another row is dropped for it."""
        held = self._held[line]
        held.setdefault(self.first + int(self.rows[correction.place]), []).append(correction)
        if len(held) <= self.most:
            return None
        oldest, self._has_dropped = next(iter(held)), True
        coefficients = np.zeros(self.state.n_scores)
        for made in held.pop(oldest):
            made.forgotten = True
            self._add(coefficients, line, self.moves[line, made.place], made.true, made.rival)
        place = self.state.supports.places.get(oldest)
        if place is not None and place not in self.dropped[line]:
            self.dropped[line].add(place)
            updates = self.state.updates_of(int(self.active[line]))
            for at in np.flatnonzero(updates.members == place):
                self._add(coefficients, line, updates.steps[at], int(updates.trues[at]), int(updates.rivals[at]))
        change = -np.outer(coefficients, self._values(oldest, place))
        return change if self.state.direct else change[[int(self.active[line])]]

    def _add(self, coefficients: Floats, line: int, step: float, true: int, rival: int) -> None:
        if self.state.direct:
            coefficients[true] += step
            coefficients[rival] -= step
        else:
            coefficients[int(self.active[line])] += step

    def _values(self, number: int, place: int | None) -> Floats:
        """Return the kernel values between a row and those of the block."""
        if self.state.kernel.name == "precomputed":
            return self.table.with_numbers(self.rows, np.array([number]))[:, 0]
        row: Any
        if place is not None:
            row = self.state.support_matrix()[[place]]
        else:
            row = self.table.host[[number - self.first]]
        return self.table.with_row(self.rows, row)

    def apply(self) -> bool:
        """Remove the updates that were dropped from the state; return whether a row was dropped in this block."""
        for k, dropped in zip(self.active.tolist(), self.dropped, strict=True):
            if dropped:
                made = self.state.updates_of(k)
                kept = ~np.isin(made.members, list(dropped))
                self.state.updates[k] = [made.some(kept)]
        return self._has_dropped

    def compact(self) -> None:
        """Remove the support rows that no classifier needs any more."""
        state = self.state
        used = np.zeros(len(state.supports), bool)
        all_updates = [state.updates_of(k) for k in range(len(state.counters))]
        for updates in all_updates:
            used[updates.members] = True
        if used.all():
            return
        places = np.cumsum(used) - 1
        state.supports = state.supports.kept(used, state.width)
        state.updates = [[updates._replace(members=places[updates.members])] for updates in all_updates]
