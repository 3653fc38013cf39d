"""Progress of long work on standard error: one line that is redrawn on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
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
