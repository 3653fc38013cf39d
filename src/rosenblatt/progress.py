"""Progress for people: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Progress:
    """Says on standard error how far a run is: passes, mistakes, time left. Silent if ``verbose`` is 0."""

    def __init__(self, verbose: int, passes: int, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.active = bool(verbose)
        self.bar = self.active and self.stream.isatty()
        self.passes = passes
        self.start = self.drawn = time.monotonic()

    def within(self, done: int, part: float, mistakes: int) -> None:
        """Redraw the bar: ``done`` passes are complete and ``part`` of the next, with ``mistakes`` so far."""
        now = time.monotonic()
        if not self.bar or now - self.drawn < 0.1:
            return
        self.drawn = now
        share = (done + part) / self.passes
        filled = round(24 * share)
        left = (now - self.start) * (1.0 - share) / share if share > 0 else 0.0
        self._draw(
            f"[{'#' * filled}{'.' * (24 - filled)}] pass {done + 1}/{self.passes}  {mistakes:,} mistakes  "
            f"at most {_clock(left)} left"
        )

    def after(self, done: int, mistakes: int, validation_error: float | None) -> None:
        """Print one line for a pass that is complete (on a terminal the bar takes its place)."""
        if not self.active or self.bar:
            return
        held_out = "" if validation_error is None else f", validation error {validation_error:.4f}"
        word = "mistake" if mistakes == 1 else "mistakes"
        took = time.monotonic() - self.start
        print(f"pass {done}: {mistakes:,} {word}{held_out}, {took:.2f} s", file=self.stream, flush=True)

    def close(self, outcome: str) -> None:
        """End with one line that says how it went."""
        if not self.active:
            return
        line = f"{outcome} ({time.monotonic() - self.start:.2f} s)"
        if self.bar:
            self._draw(line)
            self.stream.write("\n")
        else:
            print(line, file=self.stream, flush=True)

    def _draw(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text}")
        self.stream.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
