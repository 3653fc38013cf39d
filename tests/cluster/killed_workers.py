"""A process that trains on a cluster of its own, and kills workers of that meanwhile.

``python -m cluster.killed_workers ENGINE MODE HOW MOMENTS SEED``, where HOW is "one" or "all".
"""

from __future__ import annotations

import json
import random
import signal
import sys
import threading
import time
from contextlib import suppress

import psutil

from cluster.clusters import cluster
from cluster.training import least_seconds, train, undisturbed_digest

WORKERS = 2


def main(engine, mode, how, moments, seed):
    """Report each run as a line of JSON."""
    expected = {shuffle: undisturbed_digest(mode, shuffle) for shuffle in (False, True)}
    with cluster(engine, WORKERS) as workers:
        for number in range(int(seed), int(seed) + int(moments)):
            rng = random.Random(f"{engine} {mode} {how} {number}")
            shuffle, moment = rng.random() < 0.5, rng.random() * least_seconds(mode, WORKERS)
            killer = Killer(workers, how, rng, moment)
            began = time.monotonic()
            killer.start()
            found = train(engine, mode, shuffle)
            ended = time.monotonic()
            killer.join()
            record = {
                "seed": number,
                "same": found == expected[shuffle],
                "shuffle": shuffle,
                "moment": round(moment, 2),
                "seconds": round(ended - began, 2),
                "killed": killer.killed if killer.at < ended else [],
            }
            print(json.dumps(record), flush=True)


class Killer(threading.Thread):
    """Kills one worker, or all of them, after some seconds."""

    def __init__(self, workers, how, rng, moment):
        super().__init__(daemon=True)
        self.workers, self.how, self.rng, self.moment = workers, how, rng, moment
        self.killed, self.at = [], float("inf")
        workers()  # all are there

    def run(self):
        time.sleep(self.moment)
        while not (processes := self.workers()):
            time.sleep(0.01)
        for process in processes if self.how == "all" else [self.rng.choice(processes)]:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
                self.killed.append(process.pid)
        self.at = time.monotonic()


if __name__ == "__main__":
    main(*sys.argv[1:])
