"""Progress of long work on standard error, one line that is redrawn on a terminal, and limits of its time."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import TextIO


class Progress:
    """One line that shows how far a run or a search is. Silent if ``verbose`` is 0.

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
        """Print one line for a pass that is complete (on a terminal the bar takes its place)."""
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
            self._show(f"exact arithmetic with {rows:,} rows: {share:.0%} of the work that is allowed, {seconds:.0f} s")

    def deciding(self, steps: int, wrong: int, rows: int) -> None:
        """Show the steps of a search for a separator and the rows it has on the wrong side, from time to time."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            self._show(f"step {steps:,}: {wrong:,} of {rows:,} rows are not on their side, {seconds:.0f} s")

    def share(self, what: str, share: float) -> None:
        """Show how much of some work of known size is done, and how long the rest takes at this pace, now and then."""
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
        """Show how much of the files has been compared with a checkpoint, from time to time."""
        if self._due(0.2, 5.0) is not None:
            self._show(f"comparing the files with those of the checkpoint: {share:.0%}")

    def close(self, outcome: str = "") -> None:
        """End with one line that says how it went; without an ``outcome`` only clear the line on a terminal."""
        if self.active and (outcome or self.bar):
            self._show(f"{outcome} ({time.monotonic() - self.start:.2f} s)" if outcome else "")
            self.stream.write("\n" if outcome and self.bar else "")

    def _due(self, on_terminal: float, elsewhere: float) -> float | None:
        """Return the seconds since the start where so many have passed since the last line, otherwise None."""
        now = time.monotonic()
        if not self.active or now - self.drawn < (on_terminal if self.bar else elsewhere):
            return None
        self.drawn = now
        return now - self.start

    def _show(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text}" if self.bar else f"{text}\n")
        self.stream.flush()


# Limits of a search: seconds if the user sets them, work that is counted, and the progress shown meanwhile.


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

    def expired(self) -> bool:
        """Return whether the search has to stop with what it has reached."""
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
        """Show how far an exact search is; return whether it has to stop."""
        self.progress.exact(rows, share)
        return self.expired()

    def deciding(self, steps: int, wrong: int, rows: int) -> bool:
        """Show how many rows are still on the wrong side; return whether the search has to stop."""
        self.progress.deciding(steps, wrong, rows)
        return self.expired()
