"""A process that trains on Dask workers with a memory limit, of which some use too much.

``python -m cluster.full_memory dask MODE RUNS SEED``
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import psutil

from cluster.clusters import cluster
from cluster.training import SHARDS, NotedShard, count_notes, count_visits, note, noted_shard, train, undisturbed_digest

WORKERS, TIMEOUT = 2, 5.0
LIMIT = 800 * 2**20
"""Bytes that a worker may use; some 300 MiB are there before it has any rows."""
PAUSED, KILLED = 0.87, 1.1
"""Shares of the limit at which Dask pauses a worker (80 % and more), and at which its nanny kills it (95 %)."""

PAUSE = r"all workers of the cluster have been paused for \d+ seconds, because their memory is nearly full: .*\."
LOST = r"work on the same shards was lost 10 times in a row \(.*\): they may not fit into the memory of a worker\. .*\."
GONE = r"the cluster has had no worker for 5 seconds: .*\."  # a nanny gives up a worker that dies while it starts
ENDS = {
    "a worker is killed": "",
    "a worker is paused": "",
    "a worker is paused for ever": "",
    "all workers are paused for ever": f"ClusterError: {PAUSE}",
    "workers are killed by one shard": f"ClusterError: ({LOST}|{GONE})",
}
"""How runs end; "" stands for the same bits as without a limit."""

held: list[bytes] = []
"""What this worker uses too much."""


class HungryShard(NotedShard):
    """A shard whose visit uses much memory, once a run has made so many visits."""

    kind, after, hungry = "", 0, 0

    def block(self, classes, first):
        if count_notes(self.folder, "visits") >= self.after:
            self.use_memory()
        return super().block(classes, first)

    def use_memory(self):
        if self.kind == "workers are killed by one shard":
            if self.number == self.hungry:
                fill(KILLED)
        elif self.kind == "all workers are paused for ever":
            if not held:
                self.pause()
        elif self.is_first():
            if self.kind == "a worker is killed":
                note(self.folder, "met", self.number)
                fill(KILLED)
            else:
                self.pause()

    def is_first(self):
        """Return whether no other visit has used much memory."""
        try:
            Path(self.folder, "first").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def pause(self):
        """Use so much memory that Dask pauses this worker, and wait for that."""
        from distributed import get_worker

        fill(PAUSED)
        worker = get_worker()
        while worker.status.name != "paused":
            time.sleep(0.01)
        note(self.folder, "met", self.number)
        if self.kind == "a worker is paused":
            threading.Timer(2 * random.random(), held.clear).start()


def fill(share):
    """Use this share of the limit; if it is above it, wait for the end."""
    held.append(b"x" * max(0, int(share * LIMIT) - psutil.Process().memory_info().rss))
    if share > 1:
        time.sleep(600)


def load(folder, number, kind, after, hungry):
    """Load a shard."""
    shard = noted_shard(folder, number, kind=HungryShard)
    shard.kind, shard.after, shard.hungry = kind, after, hungry
    return shard


def main(engine, mode, runs, seed):
    """Report each run as a line of JSON."""
    import dask

    # otherwise four workers die of each visit, and one of them only after the next has started
    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    expected = undisturbed_digest(mode, True)
    for run in range(int(seed), int(seed) + int(runs)):
        kind = sorted(ENDS)[run % len(ENDS)]
        rng = random.Random(f"{engine} {mode} full memory {run}")
        visits, hungry = rng.randrange(1, int(0.6 * count_visits(mode, WORKERS))), rng.randrange(SHARDS)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            with cluster(engine, WORKERS, memory_limit=LIMIT):
                began = time.monotonic()
                shards = [partial(load, folder, k, kind, visits, hungry) for k in range(SHARDS)]
                try:
                    found = train(engine, mode, True, shards, timeout=TIMEOUT)
                except Exception as error:
                    found = f"{type(error).__name__}: {error}"
                seconds = round(time.monotonic() - began, 2)
            met = count_notes(folder, "met") > 0 or bool(ENDS[kind])
        right = bool(re.fullmatch(ENDS[kind], found)) if ENDS[kind] else met and found == expected
        record = {"seed": run, "right": right, "kind": kind, "visits": visits, "seconds": seconds}
        print(json.dumps(record | ({} if right else {"met": met, "found": found})), flush=True)


if __name__ == "__main__":
    from cluster import full_memory  # so that workers import this module, in which they note what they use

    full_memory.main(*sys.argv[1:])
