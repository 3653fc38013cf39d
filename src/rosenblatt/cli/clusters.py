"""Clusters for the command: one that runs somewhere, or one that is started on this machine and closed at the end."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from rosenblatt.messages import count_of

if TYPE_CHECKING:
    from rosenblatt.distributed.engines import Engine

_ANSWER = 10.0
"""Seconds in which a cluster has to answer."""
_WORKERS = 60.0
"""Seconds that a cluster may be without any worker."""


@contextmanager
def opened_cluster(kind: str, address: str | None, shards: int) -> Iterator[Engine]:
    """Connect to a cluster, or start one here with a worker for each processor that can have a shard."""
    from rosenblatt.data.io.prefetch import processor_count

    workers = min(processor_count(), shards)
    with (_opened_dask if kind == "dask" else _opened_ray)(address, workers) as engine:
        yield engine


@contextmanager
def _opened_dask(address: str | None, workers: int) -> Iterator[Engine]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise _missing("dask", "dask and distributed") from None
    from rosenblatt.distributed.dask import DaskEngine

    with ExitStack() as stack:
        cluster: Any = address
        if address is None:
            with _without_interrupts():
                cluster = stack.enter_context(
                    LocalCluster(
                        n_workers=workers,
                        threads_per_worker=1,
                        host="127.0.0.1",
                        dashboard_address="127.0.0.1:0",  # not of a dashboard, but of what tells its health
                        scheduler_kwargs={"dashboard": False},
                        silence_logs=logging.CRITICAL,
                    )
                )
        try:
            client = stack.enter_context(Client(cluster, timeout=_ANSWER, set_as_default=False))
        except (OSError, ValueError) as fault:
            raise _no_answer(f"Dask cluster at {address}", fault) from None
        yield DaskEngine(client, _WORKERS)


@contextmanager
def _opened_ray(address: str | None, workers: int) -> Iterator[Engine]:
    try:
        import ray
    except ImportError:
        raise _missing("ray", "ray") from None
    from rosenblatt.distributed.ray import RayEngine

    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    try:
        if address is None:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            here: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
            ray.init(address="local", **here, **quiet)
        else:
            _knock(address)
            ray.init(address=address, **quiet)
        yield RayEngine(_WORKERS)
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise a ValueError unless something answers at the address: Ray itself would go on trying for long."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if address == "auto":
        return
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWER).close()
    except (OSError, ValueError) as fault:
        raise _no_answer(f"Ray cluster at {address}", fault) from None


def _no_answer(what: str, fault: Exception) -> ValueError:
    reason = str(fault).strip().partition("\n")[0].rstrip(".")
    return ValueError(f"there is no {what} ({reason}): is it running, and is that its address?")


def _missing(extra: str, packages: str) -> ImportError:
    return ImportError(f"--cluster {extra} needs {packages}: pip install 'rosenblatt[{extra}]'.")


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let processes that are started here ignore Ctrl-C, which a terminal sends to them too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def workers_of(engine: Engine) -> str:
    """Return how many workers a cluster has, in words."""
    return count_of(engine.workers, "worker")
