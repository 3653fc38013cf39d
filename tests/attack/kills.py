"""SIGKILL at random moments of a run on a stream, and resume: the same model to the last bit."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers.forging import alike
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, data, load, save
from rosenblatt.messages import ParameterError
from rosenblatt.training.run import TrainingRun

MOST_RUNS = 60
REFUSED = 3


def attack(rng: random.Random) -> str | None:
    """Compare the file of a model that was killed and resumed some times with that of one that was not."""
    folder = Path(tempfile.mkdtemp())
    make = _settings(rng, folder)
    begun = time.monotonic()
    status = _ended(in_child(lambda: make(folder / "whole", None), folder / "error"))
    if status == REFUSED:
        return None  # early stopping found too few rows of some class, for instance
    if status != 0:
        return f"the run that nobody killed failed: {(folder / 'error').read_text()}"
    length = time.monotonic() - begun
    kills = rng.randrange(1, 8)
    for turn in range(MOST_RUNS):
        after = rng.random() * length * 1.2 if turn < kills else None
        child = in_child(lambda: make(folder / "resumed", folder / "checkpoint"), folder / "error")
        status = _ended(child, after)
        if status == 0:
            break
        if status != -signal.SIGKILL:
            return f"a resumed run failed after {turn} kills: {(folder / 'error').read_text()}"
        if (folder / "resumed").exists():
            break  # killed after its work was done
    if (folder / "whole").read_bytes() == (folder / "resumed").read_bytes():
        return None
    whole, resumed = load(folder / "whole"), load(folder / "resumed")
    if isinstance(whole, VotedPerceptron):  # a row may be stored once or, after a checkpoint, again
        try:
            return alike(whole, resumed)
        except AssertionError as difference:
            return f"another model after {turn} kills: {difference}"
    return f"another model after {turn} kills"


def _settings(rng: random.Random, folder: Path) -> Callable[[Path, Path | None], None]:
    """Write some data, and return what trains on it and saves."""
    classes, n, d = rng.choice([2, 2, 3, 5]), rng.randrange(40, 400), rng.randrange(2, 12)
    numbers = np.random.default_rng(rng.randrange(2**32))
    X, y = numbers.standard_normal((n, d)).round(3), numbers.integers(0, classes, n)
    if rng.random() < 0.3:
        y[: n // 2] %= 2  # a class that comes late
    kind = rng.choice(["csv", "svmlight", "npz", "blocks"])
    window, block_rows, cached = rng.choice([16, 64, 65536]), rng.randrange(5, 100), rng.random() < 0.4
    learner = rng.choice([Perceptron, AveragedPerceptron, VotedPerceptron])
    options: dict[str, Any] = {
        "max_iter": rng.randrange(2, 12),
        "shuffle": rng.choice([False, True, "once"]),
        "random_state": rng.randrange(100),
        "multi_class": rng.choice(["ovr", "direct"]),
        "n_jobs": rng.choice([None, 2]),
        "early_stopping": rng.random() < 0.3,
    }
    file = folder / f"rows.{kind}"
    if kind == "csv":
        header = ",".join([*(f"x{j}" for j in range(d)), "y"])
        np.savetxt(file, np.column_stack([X, y]), "%.10g", ",", header=header, comments="")
    elif kind == "svmlight":
        file.write_text(
            "".join(
                f"{label} {' '.join(f'{j + 1}:{v!r}' for j, v in enumerate(row))}\n"
                for row, label in zip(X.tolist(), y.tolist(), strict=True)
            )
        )
    elif kind == "npz":
        np.savez(file, X=X, y=y)

    def make(out: Path, checkpoint: Path | None) -> None:
        TrainingRun.window = window
        if kind == "blocks":
            blocks: Any = [(X[i : i + block_rows], y[i : i + block_rows]) for i in range(0, n, block_rows)]
        else:
            target = None if kind == "svmlight" else "y"
            cache = folder / f"cache.{out.name}" if cached and kind != "npz" else False
            blocks = data.open(file, target, block_rows=block_rows, cache=cache)
        model = learner(**options)
        model.fit_stream(blocks, checkpoint=checkpoint, every=0, resume=checkpoint is not None)
        save(model, out)

    return make


def in_child(work: Callable[[], None], error: Path) -> int:
    """Do the work in a fork of this process; return its number. What goes wrong is written to a file."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except ParameterError:
            os._exit(REFUSED)
        except BaseException:
            error.write_text(traceback.format_exc())
            os._exit(1)
        os._exit(0)
    return child


def _ended(child: int, kill_after: float | None = None) -> int:
    """Wait for a child, killed after some seconds; return its status as subprocess does."""
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
