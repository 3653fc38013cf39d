"""What a search may cost: work that is counted, the same on every machine, and seconds if the user sets a limit."""

from __future__ import annotations

import math
import time


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
