"""How far a run is, on a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

_LONG = 0.5
"""Seconds after which a run is long enough for a bar."""


class ProgressBar:
    """A bar on standard error: pass, rows, MB/s of the files, mistakes of the pass, time left; nothing when piped.

    Parameters
    ----------
    label : str
        What is going on; followed by the pass where there are several.
    paths : sequence of str
        The files that are read.
    passes : int
        How often, at most.
    shown : bool
        False where something else is written to the same terminal.
    """

    def __init__(self, label: str, paths: Sequence[str] = (), passes: int = 1, shown: bool = True) -> None:
        self.label, self.passes = label, passes
        self.done, self.share, self.rows, self.mistakes = 0, 0.0, 0, -1
        self.is_shown = shown and sys.stderr.isatty()
        self._size = _size(paths) if self.is_shown else 0
        self._start = self._pass_start = time.monotonic()
        self._progress: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def track(self, stream: Any) -> Iterator[Any]:
        """Yield the blocks of a stream, with the bar after each."""
        rows = 0
        for block in stream:
            rows += len(block)
            self.set_rows(stream.share_read, rows)
            yield block

    def set_rows(self, share: float, rows: int) -> None:
        """Show how much of this pass has been read."""
        self.share, self.rows = share, rows
        self._draw()

    def set_share(self, share: float) -> None:
        """Show how much of the work has been done, where there are no rows."""
        self.share = share
        self._draw()

    def set_mistakes(self, mistakes: int) -> None:
        """Show how many mistakes this pass has made so far."""
        self.mistakes = mistakes
        self._draw()

    def end_pass(self, done: int, mistakes: int) -> None:
        """Show that so many passes are complete, the last with so many mistakes."""
        self.done, self.share, self.mistakes = done, 0.0, mistakes
        self._pass_start = time.monotonic()
        self._draw()

    def observer(self) -> Any:
        """Return an observer of a training run that moves this bar."""
        from rosenblatt.training.observers import Observer

        bar = self

        class Bar(Observer):
            before = 0.0  # the share of this pass that batches before this one have

            def on_start(self, run: Any) -> None:
                bar.done = run.current.passes_done

            def on_slice(self, run: Any, batch: Any, visited: int) -> None:
                if bar.is_shown:  # what has been read is that of the whole batch
                    part = visited / max(1, batch.rows.n)
                    share = self.before + (run.source.share(batch, visited) - self.before) * part
                    bar.set_rows(share, batch.first + visited)
                    bar.set_mistakes(int(run.state.counters["mistakes"][run.current.active].sum()))

            def on_batch(self, run: Any, batch: Any) -> None:
                self.before = run.source.share(batch, batch.rows.n)
                bar.set_rows(self.before, run.current.row)
                bar.set_mistakes(int(run.state.counters["mistakes"][run.current.active].sum()))

            def on_pass(self, run: Any, active: Any) -> None:
                self.before = 0.0
                bar.end_pass(run.state.passes, int(run.state.counters["mistakes"][active].sum()))

        return Bar()

    @property
    def words(self) -> str:
        """Rows, speed and mistakes."""
        parts = [f"{self.rows:,} rows"] if self.rows else []
        took = time.monotonic() - self._pass_start
        if self.rows and self._size and self.share and took:
            parts.append(f"{self.share * self._size / took / 1e6:,.0f} MB/s")
        if self.mistakes >= 0:
            parts.append(f"{self.mistakes:,} mistake{'' if self.mistakes == 1 else 's'}")
        return "  ".join(parts)

    def _draw(self) -> None:
        if not self.is_shown or (self._progress is None and time.monotonic() - self._start < _LONG):
            return
        number = min(self.done + 1, self.passes)
        words = f"{self.label} {number}/{self.passes}" if self.passes > 1 else self.label
        total = float(self.passes) if self._size else None
        if self._progress is None:
            self._progress = _progress(bool(self._size))
            self._task = self._progress.add_task(words, total=total, text=self.words)
            self._progress.start()
        self._progress.update(self._task, description=words, completed=self.done + self.share, text=self.words)


def _size(paths: Sequence[str]) -> int:
    """Return how many bytes the files have, 0 where one has no size."""
    from rosenblatt.data.io.lines import file_names

    names = file_names(list(paths))
    return sum(os.path.getsize(name) for name in names) if all(map(os.path.isfile, names)) else 0


def _progress(has_end: bool) -> Any:
    from rich import progress as rich
    from rich.console import Console

    text = rich.TextColumn("{task.fields[text]}")
    left = [rich.TaskProgressColumn(), text, rich.TimeRemainingColumn(compact=True)]
    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(bar_width=None),
        *(left if has_end else [text, rich.TimeElapsedColumn()]),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
