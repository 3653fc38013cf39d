"""Progress lines on standard error, redrawn on a terminal, and limits on the time and the work of searches."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import TextIO


class Progress:
    """A line that shows the progress of a run or a search; silent if ``verbose`` is 0.

    A run of ``passes`` passes calls ``within`` and ``after``, a search ``search``, ``deciding``, ``exact`` or
    ``bracket``, an enumeration ``share``. All end with ``close``.
    """

    def __init__(self, verbose: int, passes: int = 1, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.active = bool(verbose)
        self.bar = self.active and self.stream.isatty()
        self.passes = passes
        self.start = self.drawn = time.monotonic()

    def within(self, done: int, part: float, mistakes: int) -> None:
        """Redraw the bar: ``done`` passes are complete and ``part`` of the next, with ``mistakes`` so far."""
        seconds = self._due(0.1, math.inf)
        if seconds is not None:
            share = (done + part) / self.passes
            filled = round(24 * share)
            minutes, rest = divmod(round(seconds * (1.0 - share) / share if share > 0 else 0.0), 60)
            self._show(
                f"[{'#' * filled}{'.' * (24 - filled)}] pass {done + 1}/{self.passes}  {mistakes:,} mistakes  "
                f"at most {minutes}:{rest:02d} left"
            )

    def after(self, done: int, mistakes: int, validation_error: float | None) -> None:
        """Print a line for a complete pass, unless there is a bar."""
        if self.active and not self.bar:
            held_out = "" if validation_error is None else f", validation error {validation_error:.4f}"
            word = "mistake" if mistakes == 1 else "mistakes"
            self._show(f"pass {done}: {mistakes:,} {word}{held_out}, {time.monotonic() - self.start:.2f} s")

    def search(self, steps: int, low: float, high: float) -> None:
        """Show the steps of a search and its bracket around a margin, from time to time."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            least = f"{low:.6g}" if low > 0 else "none yet"
            self._show(f"step {steps:,}: margin at least {least}, at most {high:.6g}, {seconds:.0f} s")

    def exact(self, rows: int, share: float) -> None:
        """Show the rows of an exact search and its share of the work that is allowed, from time to time."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            self._show(f"exact arithmetic with {rows:,} rows: {share:.0%} of the allowed work, {seconds:.0f} s")

    def deciding(self, steps: int, wrong: int, rows: int) -> None:
        """Show the steps of a search for a separator and the rows on the wrong side of it, from time to time."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            self._show(f"step {steps:,}: {wrong:,} of {rows:,} rows are on the wrong side, {seconds:.0f} s")

    def share(self, what: str, share: float) -> None:
        """Show the share of some work that is done, and the time left at this pace, from time to time."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None and share > 0:
            minutes, rest = divmod(round(seconds * (1.0 - share) / share), 60)
            self._show(f"{what}: {share:.1%} in {seconds:.0f} s, about {minutes:,}:{rest:02d} left")

    def bracket(self, low: int, high: int) -> None:
        """Show a bracket around the number of rows to remove, from time to time."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            self._show(f"at least {low:,} and at most {high:,} rows to remove, {seconds:.0f} s")

    def comparing(self, share: float) -> None:
        """Show the share of the files that has been compared with a checkpoint, from time to time."""
        if self._due(0.2, 5.0) is not None:
            self._show(f"comparing the files with those of the checkpoint: {share:.0%}")

    def close(self, outcome: str = "") -> None:
        """Print the ``outcome``; without one only clear the line on a terminal."""
        if self.active and (outcome or self.bar):
            self._show(f"{outcome} ({time.monotonic() - self.start:.2f} s)" if outcome else "")
            self.stream.write("\n" if outcome and self.bar else "")

    def _due(self, on_terminal: float, elsewhere: float) -> float | None:
        """Return the seconds since the start if enough time has passed to print a line, else None."""
        now = time.monotonic()
        if not self.active or now - self.drawn < (on_terminal if self.bar else elsewhere):
            return None
        self.drawn = now
        return now - self.start

    def _show(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text}" if self.bar else f"{text}\n")
        self.stream.flush()


# Limits of a search: time if the user sets it, counted work, and the progress shown meanwhile.


class Deadline:
    """A limit on time; none if ``max_seconds`` is None."""

    def __init__(self, max_seconds: float | None) -> None:
        self.all_seconds = math.inf if max_seconds is None else max_seconds
        self.end = math.inf if max_seconds is None else time.monotonic() + max_seconds

    @property
    def seconds(self) -> float:
        """The seconds left, infinite without a limit."""
        return max(0.0, self.end - time.monotonic())

    def is_late(self, share: float) -> bool:
        """Return whether there is a limit and at most this share of its seconds is left."""
        return self.end < math.inf and self.seconds <= share * self.all_seconds


class Budget(Deadline):
    """A limit on counted work, which ends a search at the same step on every machine, and on time."""

    def __init__(self, most_work: float, max_seconds: float | None) -> None:
        super().__init__(max_seconds)
        self.left = most_work

    @property
    def is_spent(self) -> bool:
        """Whether no work or no time is left."""
        return self.left <= 0 or self.seconds <= 0

    def spend(self, work: float) -> None:
        """Subtract work from the budget."""
        self.left -= work


class Limits(Deadline):
    """A limit on time or a ``stop`` that returns True, and progress on standard error.

    Without arguments a search is silent and runs to its own end.
    """

    def __init__(
        self, verbose: int = 0, max_seconds: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__(max_seconds)
        self.progress = Progress(verbose)
        self.low, self.high = -math.inf, math.inf  # the best bracket so far
        self.history: list[tuple[int, float, float]] = []  # steps and bracket, each time that the bracket improved
        self.stop = stop

    def expired(self) -> bool:
        """Return whether the search has to stop with its current result."""
        return time.monotonic() > self.end or self.stop()

    def bracket(self, steps: int, low: float, high: float) -> bool:
        """Show the best bracket of a margin after some steps; return whether the search has to stop."""
        before = self.low, self.high
        self.low, self.high = max(self.low, low), min(self.high, high)
        if before != (self.low, self.high):
            self.history.append((steps, self.low, self.high))
        self.progress.search(steps, self.low, self.high)
        return self.expired()

    def exact(self, rows: int, share: float) -> bool:
        """Show the progress of an exact search; return whether it has to stop."""
        self.progress.exact(rows, share)
        return self.expired()

    def deciding(self, steps: int, wrong: int, rows: int) -> bool:
        """Show the number of rows on the wrong side; return whether the search has to stop."""
        self.progress.deciding(steps, wrong, rows)
        return self.expired()
