"""Progress of a long search for people, in one line: a few times a second on a terminal, now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["Watch"]


class Watch:
    """Says on standard error how far a search is; silent if ``verbose`` is 0, and in the first second."""

    def __init__(self, verbose: int, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.active = bool(verbose)
        self.live = self.active and self.stream.isatty()
        self.start = self.said = time.monotonic()

    def __call__(self, steps: int, low: float, high: float) -> None:
        """Show the number of steps and the bracket."""
        least = f"{low:.6g}" if low > 0 else "none yet"
        self._show(f"step {steps:,}: margin at least {least}, at most {high:.6g}")

    def exact(self, rows: int, share: float) -> None:
        """Show how many rows the exact search holds, and what share of its work is done at most."""
        self._show(f"exact arithmetic with {rows:,} rows: {share:.0%} of the work that is allowed")

    def _show(self, line: str) -> None:
        now = time.monotonic()
        if not self.active or now - self.said < (0.2 if self.live else 5.0):
            return
        self.said = now
        line += f", {now - self.start:.0f} s"
        self.stream.write(f"\r\x1b[K{line}" if self.live else f"{line}\n")
        self.stream.flush()

    def close(self) -> None:
        """Wipe the line on a terminal."""
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
