"""How far a pass has come: what a checkpoint has to know besides the state."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class CutPass:
    """A pass that was cut short, by an interrupt or by a limit on updates."""

    rows: int
    """Rows that it visited."""
    share: float | None
    """Their share of those that a whole pass visits, None where that is not known, as in the first pass of a stream."""
    interrupted: bool = False
    """Whether an interrupt cut it short; a pass that a limit ended is judged and kept like any other."""


@dataclass
class PassState:
    """The pass in progress: the classifiers that take part, and how they stood before."""

    row: int = 0
    """The rows before this one have been visited."""
    visited: int = 0
    """And, if they are shuffled, so many of the window that begins with it."""
    passes_done: int = 0
    """Passes of this run before this one."""
    active: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    was_done: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    visits: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    rows: int = 0
    """Rows of a whole pass, 0 before the first has ended."""
    ranges: NDArray[np.float64] | None = None
    """The ranges of the features in the batch before a checkpoint, in case no other one follows."""

    def rows_visited(self, counters: NDArray[np.void]) -> int:
        """Return how many rows this pass has visited, by the counters of the classifiers."""
        return int(np.max(counters["visits"][self.active] - self.visits, initial=0.0))
