"""``rosenblatt figures``: the figures of the texts, drawn into a folder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rosenblatt.cli.output import say
from rosenblatt.cli.startup import enable_gc
from rosenblatt.messages import count_of

if TYPE_CHECKING:
    from rosenblatt.figures import Entry


def figures(out: str, only: Sequence[str] | None, format: str) -> None:
    """Draw figures into the folder ``out``, print a line for each, and say where to look."""
    from rosenblatt.figures import write

    enable_gc()
    started = time.perf_counter()
    ids = [id.strip() for given in only or () for id in given.split(",") if id.strip()]
    written = write(out, ids if only else None, format, progress=_report)
    pictures = count_of(len(written) - 2, "figure")
    say("", f"{pictures} in {time.perf_counter() - started:.1f} s. Look at {written[-2]} in a browser.")


def _report(entry: Entry, seconds: float) -> None:
    print(f"{entry.id:<12}{entry.title:<44}{seconds:6.1f} s", flush=True)
