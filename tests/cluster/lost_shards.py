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
from cluster.training import (
    FEATURES,
    ROWS,
    SHARDS,
    count_notes,
    count_visits,
    noted_shard,
    rows_of,
    train,
    undisturbed_digest,
)
from rosenblatt.distributed import ray as ray_engine

WORKERS = 2
ATTEMPTS = 5
"""How often a run is made until it has lost a shard and loaded it again."""


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


def load(folder, number):
    """Load a shard, changed as the file "change" asks for."""
    rows, change = rows_of(number), Path(folder, "change")
    if change.exists():
        which, what = json.loads(change.read_text())
        if which == number:
            rows = CHANGES[what][0](*rows)
    return noted_shard(folder, number, rows)


class Loss(threading.Thread):
    """Kills the worker that loaded a shard once a run has made so many visits, and all until it is loaded again.

    All of it waits for what the run has done, and for no time, so that a slow machine changes nothing.
    """

    def __init__(self, workers, folder, visits, number, change, how):
        super().__init__(daemon=True)
        self.workers, self.folder, self.visits, self.how = workers, Path(folder), visits, how
        self.change, self.number, self.ended = change, number, threading.Event()
        workers()  # all are there

    def run(self):
        self.wait_until(lambda: count_notes(self.folder, "visits") >= self.visits)
        if self.change:
            (self.folder / "unfinished").write_text(json.dumps([self.number, self.change]))
            (self.folder / "unfinished").rename(self.folder / "change")
        before = count_notes(self.folder, "loads", self.number)
        while not self.ended.is_set() and not self.is_loaded(before):
            for process in self.victims():
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(signal.SIGKILL)
            self.how = "all"
            # a run that goes on without this shard has not lost it
            enough = count_notes(self.folder, "visits") + 2 * SHARDS
            self.wait_until(lambda: self.is_loaded(before) or count_notes(self.folder, "visits") > enough)  # noqa: B023

    def victims(self):
        loaders = (self.folder / f"loader-{self.number}").read_text().split()
        return [one for one in self.workers() if self.how == "all" or one.pid == int(loaders[-1])]

    def is_loaded(self, before):
        return count_notes(self.folder, "loads", self.number) > before

    def wait_until(self, condition):
        while not self.ended.is_set() and not condition():
            time.sleep(0.01)


def try_once(workers, engine, mode, what, run, attempt, expected):
    """Train once and return a record. Where "loads" is 1, the shard was not loaded again, and nothing is shown."""
    rng = random.Random(f"{engine} {mode} {what} {run} {attempt}")
    shuffle, number = rng.random() < 0.5, rng.randrange(SHARDS)
    visits = rng.randrange(1, int(0.6 * count_visits(mode, WORKERS)))
    # Ray keeps the rows of a worker that dies, so only visits that are lost make it load them again
    how = "all" if engine == "ray" else rng.choice(["all", "loader", "loader"])
    # the kinds in turn, so that some runs have all of them
    change = sorted(CHANGES)[run % len(CHANGES)] if what == "changed" else ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a visit may still write
        loss = Loss(workers, folder, visits, number, change, how)
        loss.start()
        try:
            found = train(engine, mode, shuffle, [partial(load, folder, k) for k in range(SHARDS)])
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        loss.ended.set()
        loss.join()
        loads = count_notes(folder, "loads", number)
    start = f"DataError: expected shard {number} to have the rows that training began with, got "
    right = found.startswith(start + CHANGES[change][1] + ":") if change else found == expected[shuffle]
    record = {"seed": run, "attempts": attempt + 1, "right": right, "change": change, "loads": loads}
    record |= {"visits": visits, "killed": how}
    return record | ({} if right else {"found": found})


def main(engine, mode, what, runs, seed):
    """Report each run as a line of JSON; where the shard was not loaded again, the run is made again."""
    ray_engine._RETRIES = 0  # a visit whose worker dies makes Ray's engine load all shards again
    expected = {shuffle: undisturbed_digest(mode, shuffle) for shuffle in (False, True)}
    run, attempt, end = int(seed), 0, int(seed) + int(runs)
    while run < end:
        with cluster(engine, WORKERS) as workers:
            while run < end:
                record = try_once(workers, engine, mode, what, run, attempt, expected)
                attempt += 1
                if record["loads"] < 2 and attempt < ATTEMPTS:
                    print(f"not loaded again: {record}", file=sys.stderr, flush=True)
                    break  # on a new cluster: this one may have lost a worker for good
                print(json.dumps(record), flush=True)
                run, attempt = run + 1, 0


if __name__ == "__main__":
    main(*sys.argv[1:])
