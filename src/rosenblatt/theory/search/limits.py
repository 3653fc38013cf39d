"""How long a search may go on, and what it shows meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from rosenblatt.progress import Progress


class Limits:
    """Progress on standard error, and whether a search has to stop: by a time limit, or because ``stop`` returns True.

    Without arguments a search shows nothing and goes on to its own end.
    """

    def __init__(
        self, verbose: int = 0, max_seconds: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self.progress = Progress(verbose)
        self.low, self.high = -math.inf, math.inf  # the best bracket so far
        self.history: list[tuple[int, float, float]] = []  # the steps and the bracket, each time that it was better
        self.end = math.inf if max_seconds is None else time.monotonic() + max_seconds
        self.stop = stop

    @property
    def seconds(self) -> float:
        """The seconds that are left, infinite without a limit."""
        return max(0.0, self.end - time.monotonic())

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


# What a search may cost: work that is counted, the same on every machine, and seconds if the user sets a limit.


class Budget:
    """What is left of the work and of the time that are allowed."""

    def __init__(self, most_work: float, max_seconds: float | None) -> None:
        self.left = most_work
        self.end = math.inf if max_seconds is None else time.monotonic() + max_seconds
        self.all_seconds = math.inf if max_seconds is None else max_seconds

    @property
    def seconds(self) -> float:
        """Seconds that are left, infinite without a limit."""
        return max(0.0, self.end - time.monotonic())

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left of the work or of the time."""
        return self.left <= 0 or self.seconds <= 0

    def is_late(self, share: float) -> bool:
        """Return whether no more than this share of the seconds is left, where there is a limit."""
        return self.end < math.inf and self.seconds <= share * self.all_seconds

    def spend(self, work: float) -> None:
        """Count some work."""
        self.left -= work
