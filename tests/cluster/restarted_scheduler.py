"""A process that trains on a Dask cluster whose scheduler restarts meanwhile, and workers with it.

``python -m cluster.restarted_scheduler dask MODE RUNS SEED``
"""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

from cluster.training import SHARDS, count_notes, count_visits, noted_shard, train, undisturbed_digest

WORKERS = 2
SENTENCE = (
    r"ClusterError: (the scheduler of the Dask cluster can no longer be reached|"
    r"the cluster has had no worker for \d+ seconds): .*resume=True continues from it\)\."
)
KINDS = ("killed", "ended", "client.restart", "away for long")


class Service:
    """A scheduler and its workers, which are started again as they end."""

    def __init__(self, folder):
        self.folder, self.stopped = folder, threading.Event()
        file = Path(folder, "scheduler.json")
        self.scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(file))
        while not file.exists():
            time.sleep(0.02)
        self.address = json.loads(file.read_text())["address"]
        self.workers = [self.start_worker(k) for k in range(WORKERS)]
        self.keeper = threading.Thread(target=self.keep_workers, daemon=True)
        self.keeper.start()

    def start_worker(self, number):
        place = Path(self.folder, f"worker-{number}")
        return start("worker", self.address, "--nthreads", "1", "--memory-limit", "0", "--local-directory", str(place))

    def keep_workers(self):
        """Start workers again, as a service manager does."""
        while not self.stopped.wait(0.1):
            for number, worker in enumerate(self.workers):
                if worker.poll() is not None:
                    self.workers[number] = self.start_worker(number)

    def end_scheduler(self, how):
        self.scheduler.send_signal(how)
        self.scheduler.wait()

    def start_scheduler(self):
        self.scheduler = start("scheduler", "--port", self.address.rpartition(":")[2])

    def close(self):
        self.stopped.set()
        self.keeper.join()
        for process in [*self.workers, self.scheduler]:
            process.terminate()
        for process in [*self.workers, self.scheduler]:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def start(what, *words):
    common = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", "--no-dashboard"]
    return subprocess.Popen([*common, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def restart(service, kind, folder, visits, seconds, ended):
    """Restart the scheduler once a run has made so many visits."""
    while count_notes(folder, "visits") < visits:
        if ended.wait(0.01):
            return
    if kind == "client.restart":
        import distributed

        with distributed.Client(service.address, set_as_default=False) as other:
            other.restart(timeout=60)
        return
    service.end_scheduler(signal.SIGTERM if kind == "ended" else signal.SIGKILL)
    if kind == "away for long":
        ended.wait()
    else:
        time.sleep(seconds)
    service.start_scheduler()


def main(engine, mode, runs, seed):
    """Report each run as a line of JSON; where it ends with the sentence, another goes on from its checkpoint."""
    import distributed

    expected = undisturbed_digest(mode, True)
    for run in range(int(seed), int(seed) + int(runs)):
        kind = KINDS[run % len(KINDS)]
        rng = random.Random(f"{engine} {mode} scheduler {run}")
        visits, seconds = rng.randrange(1, int(0.6 * count_visits(mode, WORKERS))), 2 * rng.random()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            service, ended = Service(folder), threading.Event()
            restarter = threading.Thread(target=restart, args=[service, kind, folder, visits, seconds, ended])
            options = {"timeout": 5.0 if kind == "away for long" else 60.0, "checkpoint": Path(folder, "checkpoint")}
            shards = [partial(noted_shard, folder, k) for k in range(SHARDS)]

            def attempt(**more):
                try:
                    with distributed.Client(service.address, timeout=60):  # noqa: B023
                        return train(engine, mode, True, shards, every=0.5, **options, **more)  # noqa: B023
                except Exception as error:
                    return f"{type(error).__name__}: {error}"

            try:
                restarter.start()
                found = attempt()
                sentence = found if re.fullmatch(SENTENCE, found) else ""
                ended.set()
                restarter.join()
                if sentence:
                    found = attempt(resume=True)
            finally:
                ended.set()
                service.close()
        met = bool(sentence) or kind != "away for long"
        record = {"seed": run, "right": met and found == expected, "kind": kind, "visits": visits}
        record |= {"ended": "a sentence" if sentence else "same bits"}
        print(json.dumps(record | ({} if record["right"] else {"met": met, "found": found})), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
