"""How things are measured: in turn in one process, or in processes of their own."""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One number beside the table, in words; ``met`` is None where it has no target."""

    figure: str
    measured: str
    target: str = ""
    met: bool | None = None


def seconds(call: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    start = perf_counter()
    call()
    return perf_counter() - start


def alternate(calls: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Make all calls in turn, ``rounds`` times over, and return the seconds of each.

    So a busy spell of the machine falls on all of them alike. The garbage collector rests meanwhile.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                times[name].append(seconds(call))
    finally:
        gc.enable()
    return times


_MEMORY = """
import resource, sys, warnings
import numpy as np
import rosenblatt

def megabytes(field):
    try:  # on Linux ru_maxrss starts from the parent's
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))
    except OSError:
        unit = 2**20 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = np.empty((int(sys.argv[1]), 784))
rng.standard_normal(out=X)
y = np.where(X[:, 0] + 0.1 * rng.standard_normal(len(X)) > 0, 1, -1)
rosenblatt.Perceptron(max_iter=2, random_state=0).fit(X[:1000], y[:1000])
before = megabytes("VmRSS")  # now
rosenblatt.Perceptron(max_iter=2, random_state=0).fit(X, y)
print(X.nbytes / 1e9, megabytes("VmHWM") - before)  # the peak since the start
"""

_FIRST_CALL = """
from time import perf_counter
start = perf_counter()
import rosenblatt
print(perf_counter() - start)
model = rosenblatt.Perceptron().fit([[1.0, 1.0], [2.0, 0.0], [-1.0, 0.0], [0.0, -2.0]], [1, 1, -1, -1])
model.predict([[3.0, 1.0]])
print(perf_counter() - start)
"""

_IMPORT = """
from time import perf_counter
start = perf_counter()
import {}
print(perf_counter() - start)
"""


def child(code: str, *arguments: str, **environment: str) -> list[float]:
    """Run ``code`` in a fresh interpreter and return the numbers that it prints."""
    shown = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return [float(word) for word in shown.split()]


@contextmanager
def bytecode():
    """Yield an environment in which bytecode is kept, as pip leaves it, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        yield {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}


def memory(quick: bool) -> Figure:
    """Return by how much the peak of memory grows while ``fit`` makes two passes over a large array."""
    size, growth = child(_MEMORY, "20000" if quick else "340000")
    name = f"memory that fit adds to a float64 array of {size:.2f} GB"
    return Figure(name, f"{growth:.1f} MB", "< 100 MB", growth < 100)


def first_call(quick: bool) -> Figure:
    """Return the seconds from ``import rosenblatt`` to a first prediction, with no kernel compiled yet."""
    with bytecode() as environment:
        for _ in range(2):  # the first writes bytecode, of all that numba imports while it compiles too
            with tempfile.TemporaryDirectory() as folder:
                importing, taken = child(_FIRST_CALL, NUMBA_CACHE_DIR=folder, **environment)
    shown = f"{taken:.2f} s, {importing:.2f} s of it for imports"
    return Figure("first call: import, compile, fit, predict", shown, "< 5 s", taken < 5)


def imports(quick: bool) -> Figure:
    """Return how long ``import rosenblatt`` takes, against what it stands on; best of five in turn."""
    names = {"ours": "rosenblatt", "base": "numpy, scipy.sparse, numba, sklearn.base"}
    best = dict.fromkeys(names, float("inf"))
    with bytecode() as environment:
        for turn in range(3 if quick else 6):
            for side, modules in names.items():
                (taken,) = child(_IMPORT.format(modules), **environment)
                best[side] = min(best[side], taken) if turn else best[side]  # the first writes bytecode
    ratio = best["ours"] / best["base"]
    shown = f"{ratio:.2f} ({best['ours']:.2f} s / {best['base']:.2f} s)"
    return Figure("import rosenblatt / import what it stands on", shown, "< 1.5", ratio < 1.5)


# The committed history of the benchmarks: ``history.jsonl``, one line for each release.


PATH = Path(__file__).with_name("history.jsonl")


def append(rows: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Write one more line: what was measured, where, and the ratio peer / ours of each workload."""
    line = {
        "version": about["rosenblatt"],
        "date": datetime.now(UTC).date().isoformat(),
        **{
            name: about[name]
            for name in ("python", "numpy", "scipy", "scikit-learn", "numba", "system", "cores", "load")
        },
        "cpu": cpu(),
        "ratios": {row["workload"]: round(row["ratio"], 2) for row in rows},
    }
    with PATH.open("a") as file:
        file.write(json.dumps(line) + "\n")


def cpu() -> str:
    """Return the processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"
