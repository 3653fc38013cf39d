"""This checkout against another one: fits in memory, and whole runs of the command, in turn in one run.

Each checkout has processes of its own, in which ``PYTHONPATH`` leads to its ``src``; all else is the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.datasets import dump_svmlight_file

from benchmarks.measure import Figure, bytecode, seconds
from benchmarks.workloads import ROOT
from rosenblatt.tables import Table

STARTS = 15
"""Whole programs of each side; the median counts."""
_COMMAND = "from rosenblatt.cli.main import main; main()"


def checkout(path: str) -> Path:
    """Return the root of a checkout, or raise ValueError where there is none."""
    root = Path(path).resolve()
    if not (root / "src" / "rosenblatt" / "__init__.py").is_file():
        raise ValueError(f"{path} is no checkout of rosenblatt: it has no src/rosenblatt")
    return root


def compare_checkouts(names: list[str], other: Path, rounds: int, quick: bool) -> Table:
    """Return the best fits of both checkouts, in turn, one row for each workload."""
    rows: dict[str, list[Any]] = {
        name: [] for name in ("workload", "this ms", "other ms", "other/this", "spread", "same bits")
    }
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        with _worker(ROOT, name, quick) as this, _worker(other, name, quick) as that:
            turns = [
                [_ask(worker) for worker in ((this, that) if turn % 2 else (that, this))] for turn in range(rounds)
            ]
        pairs = [turn if number % 2 else turn[::-1] for number, turn in enumerate(turns)]
        ours, theirs = min(pair[0][0] for pair in pairs), min(pair[1][0] for pair in pairs)
        ratios = sorted(pair[1][0] / pair[0][0] for pair in pairs)
        digests = {answer[1] for pair in pairs for answer in pair}
        row = (name, 1000 * ours, 1000 * theirs, theirs / ours, f"{ratios[0]:.2f} to {ratios[-1]:.2f}")
        for column, value in zip(rows, (*row, "yes" if len(digests) == 1 else "no"), strict=True):
            rows[column].append(value)
    notes = [
        f"ms: a whole fit, best of {rounds}, in turn. other/this above 1: this checkout is faster.",
        "spread: the least and the largest ratio of one turn. same bits: equal coef_ and intercept_ each time.",
    ]
    return Table(rows, title="This checkout against the other", notes=notes)


@contextmanager
def _worker(root: Path, name: str, quick: bool) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-m", "benchmarks.workloads", name, "quick" if quick else "full"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=ROOT, env=_environment(root), **pipes) as process:
        (imported,) = _answer(process)
        if not Path(imported).is_relative_to(root):
            process.kill()
            raise RuntimeError(f"the process for {root} imported {imported}")
        yield process
        process.communicate()


def _environment(root: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(root / "src")}


def _ask(process: subprocess.Popen[str]) -> list[Any]:
    print(file=process.stdin, flush=True)
    return _answer(process)


def _answer(process: subprocess.Popen[str]) -> list[Any]:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise RuntimeError("a process ended before it answered; what it said is above")
    return json.loads(line)


def start(quick: bool, other: Path | None = None) -> list[Figure]:
    """Return the time of ``rosenblatt train`` and ``predict`` on 1,000 rows, of both checkouts if there is another."""
    sides = {"this": ROOT, **({"other": other} if other else {})}
    with tempfile.TemporaryDirectory() as folder, bytecode() as environment:
        file = Path(folder) / "rows.svm"
        rng = np.random.default_rng(0)
        X = rng.standard_normal((1000, 20)).round(3)
        dump_svmlight_file(X, np.where(X @ rng.standard_normal(20) > 0, 1, -1), str(file), zero_based=False)
        return [_start(command, file, sides, environment, 3 if quick else STARTS) for command in ("train", "predict")]


def _start(command: str, file: Path, sides: dict[str, Path], environment: dict[str, str], turns: int) -> Figure:
    times: dict[str, list[float]] = {side: [] for side in sides}
    for turn in range(turns + 2):
        for side, root in sides.items():
            model = file.with_name(f"{side}.model")
            given = [file, "-o", model] if command == "train" else [model, file, "-o", file.with_name("labels")]
            words = [sys.executable, "-c", _COMMAND, command, *given]
            run = {**_environment(root), **environment}
            taken = seconds(
                lambda words=words, run=run: subprocess.run(
                    words, env=run, check=True, capture_output=True, cwd=file.parent
                )
            )
            if turn > 1:  # the first two compile kernels and write bytecode
                times[side].append(taken)
    middle = {side: median(taken) for side, taken in times.items()}
    words = f"{middle['this']:.3f} s, median of {turns}"
    if "other" in middle:
        words = f"this/other {middle['this'] / middle['other']:.2f}: {words}; the other {middle['other']:.3f} s"
    return Figure(f"rosenblatt {command} on 1,000 svmlight rows, whole program", words)
