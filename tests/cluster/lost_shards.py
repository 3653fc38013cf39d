"""A process that trains on a cluster, kills its workers, and lets a shard change before it is loaded again.

``python -m cluster.lost_shards ENGINE MODE WHAT RUNS SEED``, where WHAT is "changed" or "same".
"""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import psutil

from cluster.clusters import cluster
from cluster.training import FEATURES, ROWS, SHARDS, SlowShard, least_seconds, rows_of, train, undisturbed_digest
from rosenblatt.blocks import DataError
from rosenblatt.distributed import ray as ray_engine
from rosenblatt.distributed.shards import make_shard

WORKERS = 2


def new_value(X, y):
    X[ROWS // 2, 5] += 0.25
    return X, y


def new_labels(X, y):
    return X, np.roll(y, 1)


def unknown_label(X, y):
    y[ROWS // 2] = 7
    return X, y


CHANGES = {
    "an unknown label": (unknown_label, "other labels"),
    "other labels": (new_labels, "other labels"),
    "a value": (new_value, "other values"),
    "fewer rows": (lambda X, y: (X[:-3], y[:-3]), f"{ROWS - 3} rows instead of {ROWS}"),
    "more rows": (lambda X, y: (np.vstack([X, X]), np.append(y, y)), f"{2 * ROWS} rows instead of {ROWS}"),
    "another width": (lambda X, y: (np.hstack([X, X]), y), f"{2 * FEATURES} features instead of {FEATURES}"),
}


class NotedShard(SlowShard):
    """A shard that notes that a visit has begun."""

    folder = ""

    def block(self, classes, first):
        Path(self.folder, "visited").touch()
        return super().block(classes, first)


def noted_shard(folder, number):
    """Load a shard, note it, and change it as the file "change" asks for."""
    X, y = rows_of(number)
    change = Path(folder, "change")
    if change.exists():
        which, what = json.loads(change.read_text())
        if which == number:
            X, y = CHANGES[what][0](X, y)
    with Path(folder, "loads").open("a") as loads:
        loads.write(f"{number}\n")
    shard = make_shard(X, y)
    noted = NotedShard(shard.X, shard.classes, shard.numbers)
    noted.folder = str(folder)
    return noted


class Loss(threading.Thread):
    """Kills all workers at a moment after the first visit, and again until a shard is loaded again."""

    def __init__(self, workers, folder, moment, number, change):
        super().__init__(daemon=True)
        self.workers, self.folder, self.moment = workers, Path(folder), moment
        self.change, self.number, self.ended = change, number, threading.Event()
        workers()  # all are there

    def run(self):
        while not (self.folder / "visited").exists():
            time.sleep(0.01)
        time.sleep(self.moment)
        if self.change:
            (self.folder / "unfinished").write_text(json.dumps([self.number, self.change]))
            (self.folder / "unfinished").rename(self.folder / "change")
        before = loads_of(self.folder, self.number)
        while loads_of(self.folder, self.number) == before and not self.ended.is_set():
            for process in self.workers():
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(signal.SIGKILL)
            until = time.monotonic() + 30
            while loads_of(self.folder, self.number) == before and time.monotonic() < until and not self.ended.is_set():
                time.sleep(0.01)


def loads_of(folder, number):
    path = Path(folder, "loads")
    return path.read_text().split().count(str(number)) if path.exists() else 0


def main(engine, mode, what, runs, seed):
    """Report each run as a line of JSON."""
    ray_engine._RETRIES = 0  # a visit whose worker dies makes Ray's engine load all shards again
    expected = {shuffle: undisturbed_digest(mode, shuffle) for shuffle in (False, True)}
    with cluster(engine, WORKERS) as workers:
        for run in range(int(seed), int(seed) + int(runs)):
            rng = random.Random(f"{engine} {mode} {what} {run}")
            shuffle, number = rng.random() < 0.5, rng.randrange(SHARDS)
            moment = rng.random() * 0.6 * least_seconds(mode, WORKERS)
            # the kinds in turn, so that some runs have all of them
            change = sorted(CHANGES)[run % len(CHANGES)] if what == "changed" else ""
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a visit may still write
                loss = Loss(workers, folder, moment, number, change)
                loss.start()
                try:
                    found = train(engine, mode, shuffle, [partial(noted_shard, folder, k) for k in range(SHARDS)])
                except DataError as error:
                    found = str(error)
                loss.ended.set()
                loss.join()
                loads = loads_of(folder, number)
            start = f"expected shard {number} to have the rows that training began with, got "
            right = found.startswith(start + CHANGES[change][1] + ":") if change else found == expected[shuffle]
            record = {"seed": run, "right": right, "change": change, "moment": round(moment, 2), "loads": loads}
            print(json.dumps(record | ({} if right else {"found": found})), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
