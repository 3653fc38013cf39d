"""Progress lines on standard error, and limits on the time and the work of searches."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import TextIO


class Progress:
    """The progress of a training run or a search, shown on ``stream``; silent if ``verbose`` is 0.

    On a terminal one line is redrawn in place; elsewhere new lines are printed, less often. A training run of up to
    ``passes`` passes calls ``within`` during each pass and ``after`` at its end. Searches call the other methods.
    Except for ``after`` and ``close``, a call shows nothing if it comes too soon after the previous line. Call
    ``close`` at the end.
    """

    def __init__(self, verbose: int, passes: int = 1, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.active = bool(verbose)
        self.bar = self.active and self.stream.isatty()
        self.passes = passes
        self.start = self.drawn = time.monotonic()

    def within(self, done: int, part: float, mistakes: int) -> None:
        """Redraw the bar on a terminal after ``done`` passes and the fraction ``part`` of the current pass."""
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
        """Print a line for a completed pass, unless a bar is drawn on a terminal."""
        if self.active and not self.bar:
            held_out = "" if validation_error is None else f", validation error {validation_error:.4f}"
            word = "mistake" if mistakes == 1 else "mistakes"
            self._show(f"pass {done}: {mistakes:,} {word}{held_out}, {time.monotonic() - self.start:.2f} s")

    def search(self, steps: int, low: float, high: float) -> None:
        """Show the number of steps of a search and the current lower and upper bounds on the margin."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            least = f"{low:.6g}" if low > 0 else "none yet"
            self._show(f"step {steps:,}: margin at least {least}, at most {high:.6g}, {seconds:.0f} s")

    def exact(self, rows: int, share: float) -> None:
        """Show the number of rows in an exact search, and the share of the allowed work that is done."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            self._show(f"exact arithmetic with {rows:,} rows: {share:.0%} of the allowed work, {seconds:.0f} s")

    def deciding(self, steps: int, wrong: int, rows: int) -> None:
        """Show the number of steps of a search for a separating hyperplane, and the number of misclassified rows."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            self._show(f"step {steps:,}: {wrong:,} of {rows:,} rows are on the wrong side, {seconds:.0f} s")

    def share(self, what: str, share: float) -> None:
        """Show the fraction of a task that is done and the estimated time left; ``what`` names the task."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None and share > 0:
            minutes, rest = divmod(round(seconds * (1.0 - share) / share), 60)
            self._show(f"{what}: {share:.1%} in {seconds:.0f} s, about {minutes:,}:{rest:02d} left")

    def bracket(self, low: int, high: int) -> None:
        """Show the lower and upper bounds on the minimum number of rows to remove."""
        seconds = self._due(0.2, 5.0)
        if seconds is not None:
            self._show(f"at least {low:,} and at most {high:,} rows to remove, {seconds:.0f} s")

    def comparing(self, share: float) -> None:
        """Show the share of the files that has been compared with a checkpoint."""
        if self._due(0.2, 5.0) is not None:
            self._show(f"comparing the files with those of the checkpoint: {share:.0%}")

    def close(self, outcome: str = "") -> None:
        """Print ``outcome`` and the elapsed time; if ``outcome`` is empty, only clear the line on a terminal."""
        if self.active and (outcome or self.bar):
            self._show(f"{outcome} ({time.monotonic() - self.start:.2f} s)" if outcome else "")
            self.stream.write("\n" if outcome and self.bar else "")

    def _due(self, on_terminal: float, elsewhere: float) -> float | None:
        """Return the seconds since the start, or None if it is too soon to show another line.

        ``on_terminal`` and ``elsewhere`` are the minimum numbers of seconds between two lines.
        """
        now = time.monotonic()
        if not self.active or now - self.drawn < (on_terminal if self.bar else elsewhere):
            return None
        self.drawn = now
        return now - self.start

    def _show(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text}" if self.bar else f"{text}\n")
        self.stream.flush()


# Limits on a search: a time limit if the user sets one, and a limit on counted work.


class Deadline:
    """A time limit of ``max_seconds`` from now on; None means no limit."""

    def __init__(self, max_seconds: float | None) -> None:
        self.all_seconds = math.inf if max_seconds is None else max_seconds
        self.end = math.inf if max_seconds is None else time.monotonic() + max_seconds

    @property
    def seconds(self) -> float:
        """The seconds left; infinity if there is no limit."""
        return max(0.0, self.end - time.monotonic())

    def is_late(self, share: float) -> bool:
        """Return whether at most the fraction ``share`` of the time limit is left; False if there is no limit."""
        return self.end < math.inf and self.seconds <= share * self.all_seconds


class Budget(Deadline):
    """A limit on counted work and a time limit. The limit on work ends a search at the same step on every machine."""

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
    """The stopping conditions of a search, with its progress on standard error.

    The search has to stop after ``max_seconds``, or once ``stop()`` returns True. By default it has no limit and is
    silent.
    """

    def __init__(
        self, verbose: int = 0, max_seconds: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__(max_seconds)
        self.progress = Progress(verbose)
        self.low, self.high = -math.inf, math.inf  # the best bracket so far
        self.history: list[tuple[int, float, float]] = []  # (steps, low, high) each time the bracket improved
        self.stop = stop

    def expired(self) -> bool:
        """Return whether the time is up or ``stop()`` returns True. The search must then return its current result."""
        return time.monotonic() > self.end or self.stop()

    def bracket(self, steps: int, low: float, high: float) -> bool:
        """Narrow the bounds on the margin to [low, high], and show them; return whether the search has to stop."""
        before = self.low, self.high
        self.low, self.high = max(self.low, low), min(self.high, high)
        if before != (self.low, self.high):
            self.history.append((steps, self.low, self.high))
        self.progress.search(steps, self.low, self.high)
        return self.expired()

    def exact(self, rows: int, share: float) -> bool:
        """Show the progress of a search in exact arithmetic; return whether it has to stop."""
        self.progress.exact(rows, share)
        return self.expired()

    def deciding(self, steps: int, wrong: int, rows: int) -> bool:
        """Show the number of misclassified rows; return whether the search has to stop."""
        self.progress.deciding(steps, wrong, rows)
        return self.expired()
