"""Trials, each in a process of its own, of which nothing may be left running."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psutil

from cluster.training import undisturbed_digest

MARK = "ROSENBLATT_CLUSTER_TRIAL"
LONGEST = 600.0
"""Seconds after which a run counts as hanging: many times what it takes on a busy machine."""


def kill_workers(engine, mode, moments, seed, how="one"):
    """Return a record of each run in which one worker was killed, or all; raise where the bits are not the same."""
    with Child("killed_workers", engine, mode, how, str(moments), str(seed)) as child:
        lines = child.output(LONGEST * (moments + 1)).splitlines()
    records = [json.loads(line) for line in lines if line.startswith("{")]  # Ray, too, prints
    assert len(records) == moments, f"{engine}, {mode}: {len(records)} of {moments} runs ended"
    for record in records:
        assert record["killed"], f"{engine}, {mode}: nothing was killed: {record}"
        assert record["same"], f"{engine}, {mode}: not the same bits: {record}"
        assert record["seconds"] < LONGEST, f"{engine}, {mode}: it hung: {record}"
    return records


def lose_shards(engine, mode, what, runs, seed):
    """Return a record of each run in which a shard was lost and loaded again: what was changed has to be an error."""
    records = _records("lost_shards", engine, mode, what, runs, seed)
    for record in records:
        assert record["loads"] > 1, f"{engine}, {mode}: no shard was loaded again: {record}"
    return records


def fill_memory(mode, runs, seed):
    """Return a record of each run in which workers of Dask used more memory than they may."""
    return _records("full_memory", "dask", mode, runs, seed)


def restart_scheduler(mode, runs, seed):
    """Return a record of each run in which the scheduler of Dask restarted."""
    return _records("restarted_scheduler", "dask", mode, runs, seed)


def _records(module, engine, mode, *words):
    """Return the records of a module; each run has to end as it should."""
    runs = words[-2]
    with Child(module, engine, mode, *map(str, words)) as child:
        lines = child.output(LONGEST * (runs + 1)).splitlines()
    records = [json.loads(line) for line in lines if line.startswith("{")]  # Ray, too, prints
    assert len(records) == runs, f"{engine}, {mode}: {len(records)} of {runs} runs ended"
    for record in records:
        assert record["right"], f"{engine}, {mode}: {record}"
    return records


def kill_driver(engine, mode, seed, workers=(2, 1)):
    """Kill a driver at a random moment after its first checkpoint, and go on with another number of workers."""
    rng = random.Random(f"{engine} {mode} driver {seed}")
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "checkpoint"
        with Child("driver", engine, mode, str(workers[0]), str(checkpoint)) as child:
            child.wait_for(checkpoint)
            moment = rng.random()
            time.sleep(moment)
            assert child.kill(), f"{engine}, {mode}: the driver had ended before it could be killed"
        with Child("driver", engine, mode, str(workers[1]), str(checkpoint)) as child:
            found = child.output(LONGEST).strip()
    assert found == undisturbed_digest(mode, mode == "mix"), f"{engine}, {mode}: not the same bits after {moment} s"
    return {"seed": seed, "moment": round(moment, 2)}


class Child:
    """A process of a module of this folder; at the end neither it nor any that it has started may be left."""

    def __init__(self, module, *arguments):
        self.mark = uuid4().hex
        paths = [path for path in sys.path if path]
        environment = os.environ | {MARK: self.mark, "PYTHONPATH": os.pathsep.join(paths)}
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed at the end of the trial
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"cluster.{module}", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def output(self, seconds):
        """Return what it prints; it has to end well, in that time."""
        found, _ = self.process.communicate(timeout=seconds)
        self.errors.seek(0)
        assert self.process.returncode == 0, self.errors.read()[-5000:]
        return found

    def wait_for(self, path):
        """Wait until a file is there."""
        until = time.monotonic() + LONGEST
        while not path.exists() and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        assert path.exists(), f"no {path.name} was written"

    def kill(self):
        """Kill it; return whether it was still at work."""
        self.process.send_signal(signal.SIGKILL)
        return self.process.wait() == -signal.SIGKILL

    def __enter__(self):
        return self

    def __exit__(self, kind, *details):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        until = time.monotonic() + 20
        while (left := self.left()) and time.monotonic() < until:
            time.sleep(0.1)
        names = [_name(process) for process in left]
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        assert kind is not None or not left, f"left running: {names}"

    def left(self):
        """Return the processes that it has started, or those have, that are still running."""
        return [process for process in psutil.process_iter() if self._is_mine(process)]

    def _is_mine(self, process):
        with suppress(psutil.Error):
            return process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE
        return False


def _name(process):
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())[:200]
    return "one that has just ended"
