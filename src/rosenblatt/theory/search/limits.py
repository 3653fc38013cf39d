"""Limits of a search: seconds if the user sets them, work that is counted, and the progress shown meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from rosenblatt.progress import Progress


class Deadline:
    """A limit of time; without ``max_seconds`` there is none."""

    def __init__(self, max_seconds: float | None) -> None:
        self.all_seconds = math.inf if max_seconds is None else max_seconds
        self.end = math.inf if max_seconds is None else time.monotonic() + max_seconds

    @property
    def seconds(self) -> float:
        """The seconds that are left, infinite without a limit."""
        return max(0.0, self.end - time.monotonic())

    def is_late(self, share: float) -> bool:
        """Return whether no more than this share of the seconds is left, where there is a limit."""
        return self.end < math.inf and self.seconds <= share * self.all_seconds


class Budget(Deadline):
    """Work that is counted, so that it ends at the same place on every machine, and a limit of time."""

    def __init__(self, most_work: float, max_seconds: float | None) -> None:
        super().__init__(max_seconds)
        self.left = most_work

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left of the work or of the time."""
        return self.left <= 0 or self.seconds <= 0

    def spend(self, work: float) -> None:
        """Count some work."""
        self.left -= work


class Limits(Deadline):
    """A limit of time or a ``stop`` that returns True, and progress on standard error.

    Without arguments a search shows nothing and continues to its own end.
    """

    def __init__(
        self, verbose: int = 0, max_seconds: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__(max_seconds)
        self.progress = Progress(verbose)
        self.low, self.high = -math.inf, math.inf  # the best bracket so far
        self.history: list[tuple[int, float, float]] = []  # the steps and the bracket, each time that it was better
        self.stop = stop

    def over(self) -> bool:
        """Return whether the search has to stop with what it has reached."""
        return time.monotonic() > self.end or self.stop()

    def bracket(self, steps: int, low: float, high: float) -> bool:
        """Show the best bracket of a margin after some steps; return whether the search has to stop."""
        before = self.low, self.high
        self.low, self.high = max(self.low, low), min(self.high, high)
        if before != (self.low, self.high):
            self.history.append((steps, self.low, self.high))
        self.progress.search(steps, self.low, self.high)
        return self.over()

    def exact(self, rows: int, share: float) -> bool:
        """Show how far an exact search is; return whether it has to stop."""
        self.progress.exact(rows, share)
        return self.over()

    def deciding(self, steps: int, wrong: int, rows: int) -> bool:
        """Show how many rows are still on the wrong side; return whether the search has to stop."""
        self.progress.deciding(steps, wrong, rows)
        return self.over()
