"""Several trainings at once with one cache of rows, some of them killed: each learns what it would alone."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from attack.kills import in_child
from rosenblatt import AveragedPerceptron, data, save
from rosenblatt.data.cache import RowFile


def attack(rng: random.Random) -> str | None:
    """Train in several processes, which start at random moments; compare their models with those without a cache."""
    folder = Path(tempfile.mkdtemp())
    numbers = np.random.default_rng(rng.randrange(2**32))
    n, d = rng.choice([50, 500, 3000]), rng.randrange(1, 6)
    cells = np.column_stack([numbers.integers(-9, 10, (n, d)), numbers.integers(0, 3, n)])
    header = ",".join([*(f"x{j}" for j in range(d)), "y"])
    np.savetxt(folder / "rows.csv", cells, "%d", ",", header=header, comments="")
    kinds = [{"block_rows": rng.randrange(5, 200)}, {"block_rows": 64, "drop": ["x0"]} if d > 1 else {}]

    def train(which: int, cache: Any, out: Path) -> None:
        stream = data.open(folder / "rows.csv", "y", cache=cache, **kinds[which])
        save(AveragedPerceptron(max_iter=3, random_state=which).fit_stream(stream), out)

    for which in range(2):
        train(which, False, folder / f"alone{which}")
    (folder / "cache").mkdir()
    cache, jobs = folder / "cache" / "rows", []
    both = rng.random() < 0.3  # rows of two kinds take turns in the cache
    for k in range(rng.randrange(2, 6)):
        which = rng.randrange(2) if both else 0
        child = in_child(partial(train, which, cache, folder / f"model{k}"), folder / f"error{k}")
        jobs.append((child, which, rng.random() < 0.3))
        time.sleep(rng.choice([0.0, 0.002, 0.02]))
    for child, _, killed in jobs:
        if killed:
            time.sleep(0.01 * rng.random())
            os.kill(child, signal.SIGKILL)
    for k, (child, which, killed) in enumerate(jobs):
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if killed and status == -signal.SIGKILL:
            continue
        if status:
            return f"training {k} failed: {(folder / f'error{k}').read_text()}"
        if (folder / f"model{k}").read_bytes() != (folder / f"alone{which}").read_bytes():
            return f"training {k} has learned something else from the cache"
    train(0, cache, folder / "last")
    if (folder / "last").read_bytes() != (folder / "alone0").read_bytes():
        return "a later training has learned something else from the cache"
    with open(cache, "rb") as file:
        if RowFile(file).facts["rows"] != n:
            return "the cache has other rows"
    left = sorted(path.name for path in cache.parent.iterdir() if path != cache)
    if left and not any(killed for *_, killed in jobs):
        return f"left behind: {left}"
    return None
