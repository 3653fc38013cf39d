"""``rosenblatt watch``: an endless stream, one example at a time: predict, then learn."""

from __future__ import annotations

import math
import sys
import tempfile
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.lines import Reader, batches
from rosenblatt.cli.output import emit, note
from rosenblatt.cli.predict import loaded
from rosenblatt.cli.startup import begin
from rosenblatt.cli.train import LEARNERS, Run, learner_for, name_features

__all__ = ["Count", "watch"]

_RECENT = 1000


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

    from rosenblatt.estimators.feeding import fit_width

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


def watch(
    target: str | None,
    learner: str | None,
    path: str | None,
    every: int,
    margin: float | None,
    out: Path | None,
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """Learn from standard input until it ends or Ctrl-C; print the mistakes on the way and save what was learned."""
    if every < 1:
        raise ValueError(f"--every must be 1 line or more, got {every}.")
    if margin is not None and not margin > 0:
        raise ValueError(f"--margin must be above 0, got {margin:g}.")
    check_out(out, [])
    model = learner_for(Run(learner or "perceptron")) if path is None else _started(path, target, learner, options)
    teller = Teller(model, Count(), margin, as_json)
    interrupted, told = False, -1
    with tempfile.TemporaryDirectory(prefix="rosenblatt-") as folder:
        reader = Reader(folder, target, options, preparation=None if path is None else model.preparation_)
        begin()
        try:
            told = _learn_all(model, reader, teller, every)
        except KeyboardInterrupt:
            interrupted = True
    count = teller.count
    if not count.rows:
        if interrupted:
            raise KeyboardInterrupt
        raise ValueError("Expected lines on standard input, got none.")
    if count.rows > told:
        teller.tell()
    teller.conclude()
    if out is not None:
        _save(model, reader, count, out)
    if interrupted:
        raise KeyboardInterrupt


def _started(path: str, target: str | None, learner: str | None, options: dict[str, Any]) -> Any:
    """Return the model to start from, which says what rows are and who learns."""
    for name, value in (("target", target), ("learner", learner), ("format", options.get("format"))):
        if value is not None:
            raise ValueError(f"--{name} is what it was when {path} was made: leave it out.")
    model = loaded(path)
    if type(model).__name__ not in LEARNERS.values():
        raise ValueError(f"{path} holds a {type(model).__name__}, which does not learn row by row.")
    return model


def _learn_all(model: Any, reader: Reader, teller: Teller, every: int) -> int:
    """Learn from all lines, telling how it goes every so many rows; return how many had come when last told."""
    count, step, told = teller.count, min(every, 100), 0
    for lines in batches(sys.stdin.buffer, every, every + 1 if reader.target is not None else 1):
        X, y = reader.rows(lines)
        start = 0
        while start < len(y):
            stop = min(len(y), start + step - count.rows % step, start + every - count.rows % every)
            learn(model, X[start:stop], y[start:stop], count)
            start = stop
            if count.rows % every == 0:
                teller.tell()
                told = count.rows
    return told


def _save(model: Any, reader: Reader, count: Count, out: Path) -> None:
    import rosenblatt

    model.preparation_ = dict(reader.preparation or {})
    if model.preparation_["format"] == "svmlight":
        model.preparation_["n_features"] = model.n_features_in_
    name_features(model, reader.names)
    before = getattr(model, "fingerprint_", None) or {"files": [], "rows": 0}
    model.fingerprint_ = {"files": [*before["files"], "-"], "rows": before["rows"] + count.rows}
    rosenblatt.save(model, out)
    note(f"model written to {out}.")


@dataclass
class Teller:
    """Says how it goes: mistakes so far, and the theorem's word on them."""

    model: Any
    count: Count
    margin: float | None
    as_json: bool
    told: bool = False

    @property
    def bound(self) -> float:
        """The most updates that rows no longer than those seen allow, if the margin is as large as was said."""
        return math.inf if self.margin is None else (self.model.report_.radius / self.margin) ** 2

    def conclude(self) -> None:
        """Say so where the margin cannot be as large as was said."""
        updates = self.model.n_updates_
        if len(self.model.classes_) == 2 and updates > self.bound:
            note(
                f"{updates:,} updates are more than a margin of {self.margin:g} allows ({self.bound:,.0f}): "
                "no hyperplane separates these rows by that much."
            )

    def tell(self) -> None:
        """Print one line, the first time below the names of the columns."""
        count, report = self.count, self.model.report_
        bound = None if self.margin is None else self.bound
        if not self.told and not self.as_json:
            last = "" if bound is None else f"{'bound':>12}"
            print(f"{'rows':>12}{'mistakes':>12}{'last 1,000':>12}{'longest row':>14}{'margin at most':>17}{last}")
        self.told = True
        if self.as_json:
            emit(
                {
                    "rows": count.rows,
                    "mistakes": count.mistakes,
                    "recent_rate": count.rate,
                    "radius": report.radius,
                    "margin_high": report.margin_high,
                }
                | ({} if bound is None else {"bound": bound})
            )
        else:
            high = f"{report.margin_high:.4g}"
            line = f"{count.rows:>12,}{count.mistakes:>12,}{count.rate:>12.1%}{report.radius:>14.4g}{high:>17}"
            print(line if bound is None else f"{line}{bound:>12,.0f}")
        sys.stdout.flush()
