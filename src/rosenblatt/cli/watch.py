"""``rosenblatt watch``: an endless stream, one example at a time: predict, then learn."""

from __future__ import annotations

import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from rosenblatt.cli.output import emit, note
from rosenblatt.cli.reading import opened
from rosenblatt.cli.train import Run, learner_for

__all__ = ["batches", "watch"]

_RECENT = 1000
_READ = 1 << 20


def batches(file: BinaryIO, most: int, first: int) -> Iterator[list[bytes]]:
    """Yield lines as they come, at most ``most`` at a time; the first time, wait for ``first`` of them or the end.

    >>> import io
    >>> list(batches(io.BytesIO(b"a\\nb\\nc\\nd"), 2, 3))
    [[b'a\\n', b'b\\n', b'c\\n'], [b'd\\n']]
    """
    lines: list[bytes] = []
    rest, needed = b"", first
    read = getattr(file, "read1", file.read)
    while True:
        text = read(_READ)
        *whole, rest = (rest + text).split(b"\n")
        if not text and rest:
            whole, rest = [*whole, rest], b""
        lines += [line + b"\n" for line in whole if line.strip()]
        while lines and (len(lines) >= needed or not text):
            size = max(needed, most)
            yield lines[:size]
            lines, needed = lines[size:], 1
        if not text:
            return


@dataclass
class Reader:
    """Makes rows of lines: all of them as the first lines are made."""

    folder: str
    target: str | None
    options: dict[str, Any]
    header: bytes = b""
    preparation: dict[str, Any] | None = None
    lines: int = 0

    def rows(self, lines: list[bytes]) -> tuple[Any, Any]:
        """Return features and labels."""
        path = Path(self.folder, "lines")
        path.write_bytes(self.header + b"".join(lines))
        try:
            stream = self._opened(str(path))
            X, y = stream.read()
        except ValueError as fault:
            where = f"standard input, after {self.lines:,} lines" if self.lines else "standard input"
            raise ValueError(str(fault).replace(str(path), where)) from None
        if self.preparation is None:
            self.preparation = stream.preparation
            if self.preparation.get("dialect", {}).get("header"):
                self.header = lines[0]
        self.lines += len(lines)
        return X, y

    def _opened(self, path: str) -> Any:
        known = self.preparation
        if known is None:
            stream = opened([path], self.target, self.options)
            if not stream.labelled:
                raise ValueError("Each line needs its label: for tables, say --target, the column with the labels.")
            return stream
        kept = {"on_error": self.options.get("on_error"), "format": known["format"], "threads": 1}
        if known["format"] == "svmlight":  # features may be new, so only where they are counted from is kept
            return opened([path], None, {**kept, "zero_based": known["zero_based"]})
        return opened([path], None, {**kept, "preparation": known})


@dataclass
class Count:
    """Rows and mistakes so far, and those among the last thousand."""

    rows: int = 0
    mistakes: int = 0
    recent: deque[tuple[int, int]] = field(default_factory=deque)

    def add(self, rows: int, mistakes: int) -> None:
        """Count some rows that came one after the other."""
        self.rows, self.mistakes = self.rows + rows, self.mistakes + mistakes
        self.recent.append((rows, mistakes))
        while sum(part for part, _ in self.recent) - self.recent[0][0] >= _RECENT:
            self.recent.popleft()

    @property
    def rate(self) -> float:
        """The share of mistakes among the last thousand rows, or all where there are fewer."""
        return sum(wrong for _, wrong in self.recent) / max(1, sum(rows for rows, _ in self.recent))


def learn(model: Any, X: Any, y: Any, wrong: Count) -> None:
    """Visit rows in order: predict, count a mistake, learn."""
    import numpy as np

    from rosenblatt.learners.feeding import fit_width

    if hasattr(model, "machines_"):
        X = fit_width(model, model.machines_, X)
    known = np.union1d(getattr(model, "classes_", y[:0]), y)
    if len(known) <= 2:  # an update is a mistake, so a stretch of rows counts its own
        before = model.n_updates_ if hasattr(model, "machines_") else 0
        model.partial_fit(X, y)
        wrong.add(len(y), model.n_updates_ - before)
        return
    for i in range(len(y)):
        row, label = X[[i]], y[i : i + 1]
        right = hasattr(model, "machines_") and model.predict(row)[0] == label[0]
        model.partial_fit(row, label)
        wrong.add(1, 0 if right else 1)


def watch(target: str | None, run: Run, every: int, out: Path | None, options: dict[str, Any], as_json: bool) -> None:
    """Learn from standard input until it ends or Ctrl-C; print the mistakes on the way and save what was learned."""
    if every < 1:
        raise ValueError(f"--every must be 1 line or more, got {every}.")
    model, count = learner_for(run), Count()
    if not as_json:
        print(f"{'rows':>12}{'mistakes':>12}{'last 1,000':>12}{'longest row':>14}{'margin at most':>17}", flush=True)
    interrupted = False
    with tempfile.TemporaryDirectory(prefix="rosenblatt-") as folder:
        reader = Reader(folder, target, options)
        try:
            told = _learn_all(model, reader, count, every, as_json)
        except KeyboardInterrupt:
            interrupted, told = True, -1
    if not count.rows:
        if interrupted:
            raise KeyboardInterrupt
        raise ValueError("Expected lines on standard input, got none.")
    if count.rows > told:
        _tell(model, count, as_json)
    if out is not None:
        _save(model, reader.preparation, out)
    if interrupted:
        raise KeyboardInterrupt


def _learn_all(model: Any, reader: Reader, count: Count, every: int, as_json: bool) -> int:
    """Learn from all lines, telling how it goes every so many rows; return how many had come when last told."""
    step, told = min(every, 100), 0
    for lines in batches(sys.stdin.buffer, every, every + 1 if reader.target is not None else 1):
        X, y = reader.rows(lines)
        start = 0
        while start < len(y):
            stop = min(len(y), start + step - count.rows % step, start + every - count.rows % every)
            learn(model, X[start:stop], y[start:stop], count)
            start = stop
            if count.rows % every == 0:
                _tell(model, count, as_json)
                told = count.rows
    return told


def _save(model: Any, preparation: dict[str, Any] | None, out: Path) -> None:
    import rosenblatt

    model.preparation_ = dict(preparation or {})
    if model.preparation_["format"] == "svmlight":
        model.preparation_["n_features"] = model.n_features_in_
    rosenblatt.save(model, out)
    note(f"model written to {out}.")


def _tell(model: Any, count: Count, as_json: bool) -> None:
    report = model.report_
    if as_json:
        emit(
            {
                "rows": count.rows,
                "mistakes": count.mistakes,
                "recent_rate": count.rate,
                "radius": report.radius,
                "margin_high": report.margin_high,
            }
        )
    else:
        high = f"{report.margin_high:.4g}"
        print(f"{count.rows:>12,}{count.mistakes:>12,}{count.rate:>12.1%}{report.radius:>14.4g}{high:>17}")
    sys.stdout.flush()
