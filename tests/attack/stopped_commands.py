"""SIGINT, SIGTERM and SIGKILL at random moments of ``rosenblatt train`` and ``rosenblatt watch``, once or twice."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path
from unittest import mock

import numpy as np

from helpers.commands import command
from helpers.learned import different_entries
from rosenblatt import load
from rosenblatt.cli import main as cli

INTERRUPTED = 130
STOPS = {signal.SIGINT, signal.SIGTERM}


def attack(rng: random.Random) -> str | None:
    """Stop a command; what it leaves is whole, and is what it had learned."""
    return rng.choice([_train, _watch])(rng, Path(tempfile.mkdtemp()))


class Running:
    """A command in a fork of this process, with its output in files; signals reach it from its first line on."""

    def __init__(self, folder: Path, *words: object) -> None:
        self.told = folder / "told"
        reading, self.writing = os.pipe()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        self.child = os.fork()
        if self.child == 0:
            os.close(self.writing)
            self._run([str(word) for word in words], reading)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        os.close(reading)

    def _run(self, words: list[str], stdin: int) -> None:
        status = 99
        try:
            output = os.open(self.told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for number, end in enumerate((stdin, output, output)):
                os.dup2(end, number)
            sys.stdin, sys.stdout, sys.stderr = (open(k, mode) for k, mode in enumerate("rww"))  # noqa: SIM115
            signal.signal(signal.SIGINT, signal.default_int_handler)
            app = cli.app

            def signalled() -> None:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
                app()

            with mock.patch.object(sys, "argv", ["rosenblatt", *words]), mock.patch.object(cli, "app", signalled):
                cli.main()
        except BaseException:
            with suppress(BaseException):
                self.told.write_text(traceback.format_exc())
        finally:
            os._exit(status)

    def send(self, number: int) -> None:
        """Send a signal, if it has not ended."""
        os.kill(self.child, number)  # until it is waited for, its number belongs to no other process

    def status(self) -> int:
        """Return how it ended, once it has."""
        with suppress(OSError):
            os.close(self.writing)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])

    def fault(self, status: int, allowed: set[int]) -> str | None:
        """Return what is wrong with the status, or with what the user is told."""
        told = self.told.read_text() if self.told.exists() else ""
        if status in allowed and "Traceback" not in told and "Error" not in told:
            return None
        return f"it ended with {status}, not with {sorted(allowed)}, and said: {told[-2000:]}"


def _signals(rng: random.Random) -> list[int]:
    if rng.random() < 0.25:
        return [signal.SIGKILL]
    return [rng.choice(sorted(STOPS)) for _ in range(rng.choice([1, 1, 1, 2, 3]))]


def _train(rng: random.Random, folder: Path) -> str | None:
    """Stopped runs that resume end with the model of one that was not stopped; each leaves a whole model, or none."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    n, d, classes = rng.choice([100, 1000]), rng.randrange(2, 6), rng.choice([2, 3])
    cells = np.column_stack([numbers.integers(-9, 10, (n, d)), np.arange(n) % classes])
    header = ",".join([*(f"x{j}" for j in range(d)), "y"])
    np.savetxt(folder / "rows.csv", cells, "%d", ",", header=header, comments="")
    learner = rng.choice(["perceptron", "averaged", "pa", "arow"])
    words = ["train", folder / "rows.csv", "-t", "y", "-p", rng.randrange(3, 25), "-l", learner, "--seed", "1"]
    cached = ["--cache", folder / "cache"] if rng.random() < 0.3 else []
    begun = time.monotonic()
    alone = Running(folder, *words, "-o", folder / "alone")
    if fault := alone.fault(alone.status(), {0}):
        return f"the run that was not stopped: {fault}"
    length = time.monotonic() - begun
    model, checkpoint = folder / "model", folder / "checkpoint"
    resumed = ["-o", model, "--checkpoint", checkpoint, "--every", "0s", "--resume", *cached]
    left_by_kill = False
    for stop in range(12):
        run, sent = Running(folder, *words, *resumed), _signals(rng) if stop < 5 else []
        for number in sent:
            time.sleep(rng.choice([1.5 * length * rng.random(), 0.001]))
            run.send(number)
        status = run.status()
        allowed = {0, *([-signal.SIGKILL] if signal.SIGKILL in sent else [INTERRUPTED] if sent else [])}
        if fault := run.fault(status, allowed):
            return f"train, stop {stop} by {sent}: {fault}"
        left_by_kill = left_by_kill or status == -signal.SIGKILL
        if model.exists():
            load(model)
        if status == 0:
            break
    if model.read_bytes() != (folder / "alone").read_bytes():
        return f"another model after {stop} stops"
    known = {"rows.csv", "alone", "model", "checkpoint", "cache", "told"}
    left = [path.name for path in folder.iterdir() if path.name not in known]
    return f"left behind: {left}" if left and not left_by_kill else None


def _watch(rng: random.Random, folder: Path) -> str | None:
    """A stopped watch leaves the model of just the rows that it counts, or, killed, no model."""
    numbers = random.Random(rng.random())
    learner = rng.choice(["perceptron", "averaged", "pa", "arow", "voted"])
    classes = rng.choice([2, 2, 3])
    lines = [
        f"{numbers.randrange(classes)} " + " ".join(f"{j}:{numbers.randrange(-9, 10)}" for j in range(1, 6)) + "\n"
        for _ in range(rng.choice([50, 2000]))
    ]
    words = ["watch", "-l", learner, "--every", rng.choice([1, 10, 1000]), "--format", "svmlight"]
    model, sent = folder / "model", _signals(rng)
    run = Running(folder, *words, "-o", model)
    moments = sorted(rng.randrange(len(lines) + 1) for _ in sent)
    with suppress(BrokenPipeError):
        for k in range(len(lines) + 1):
            while moments and moments[0] == k:
                time.sleep(rng.choice([0.0, 0.001, 0.03]))
                run.send(sent[len(sent) - len(moments)])
                del moments[0]
            if k < len(lines):
                os.write(run.writing, lines[k].encode())
                if rng.random() < 0.02:
                    time.sleep(rng.choice([0.0, 0.002, 0.03]))
    status = run.status()
    killed = signal.SIGKILL in sent
    if fault := run.fault(status, {0, -signal.SIGKILL if killed else INTERRUPTED}):
        return f"watch -l {learner}, stopped by {sent}: {fault}"
    if not model.exists():
        told = "" if killed else run.told.read_text()
        if status and (len(sent) > 1 or "nothing" in told or "learning with" not in told):
            return None  # a second signal came before the model was written
        return None if killed else f"watch ended with {status} and wrote no model: {told[-500:]}"
    rows = load(model).fingerprint_["rows"]
    again = command(*words, "-o", folder / "again", input="".join(lines[:rows]))
    if again.exit_code:
        return f"watch on the first {rows} rows: {again.stderr}"
    if different := different_entries(model, folder / "again"):
        return f"watch -l {learner}, stopped by {sent}: the model is not that of its {rows} rows in {different}"
    return None
