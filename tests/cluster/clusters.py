"""Clusters of processes on this machine, and which processes their workers are."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from unittest.mock import patch

import psutil


def start_dask(workers, processes=True, **options):
    """Start a Dask cluster that only this machine can reach."""
    import dask

    import distributed

    # otherwise it takes a worker for lost whose nanny is starting it again
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=processes,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        **options,
    )


@contextmanager
def cluster(engine, workers, **options):
    """Start a cluster, and yield a function that returns its workers, as processes, once all of them are there."""
    if engine == "ray":
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # it listens on 127.0.0.1 only: see cli/train_cluster.py
        import ray

        paths = os.pathsep.join(path for path in sys.path if path)
        # workers import what tests do, and Ray ends those that take long to start, as they do on a busy machine
        with patch.dict(os.environ, PYTHONPATH=paths, RAY_worker_register_timeout_seconds="600"):
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        try:
            yield ray_workers
        finally:
            ray.shutdown()
        return
    import distributed

    with start_dask(workers, **options) as started, distributed.Client(started):
        yield lambda: dask_workers(started)


def dask_workers(started):
    """Return the workers, once all are there that nannies are starting.

    A nanny gives up a worker that dies before it has begun to work, so after a minute fewer are returned.
    """
    nannies, until = list(started.workers.values()), time.monotonic() + 60
    while any(nanny.status.name != "running" or nanny.pid is None for nanny in nannies) and time.monotonic() < until:
        time.sleep(0.02)
    found = []
    for nanny in nannies:
        with suppress(psutil.NoSuchProcess, TypeError):
            found.append(psutil.Process(int(nanny.pid)))
    return found


def ray_workers():
    """Return the workers, of which Ray starts some when it needs them."""
    found = []
    for process in psutil.Process(os.getpid()).children(recursive=True):
        with suppress(psutil.Error):
            name = (process.cmdline() or [""])[0]
            if name.startswith("ray::") and not name.endswith("Agent"):
                found.append(process)
    return found
