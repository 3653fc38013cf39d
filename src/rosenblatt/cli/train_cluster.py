"""A training run of the command on a cluster: workers load the files, and this process keeps the model.

The cluster runs somewhere, or is started on this machine and closed at the end.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.output import ProgressBar, enable_gc
from rosenblatt.cli.train_run import Training
from rosenblatt.distributed.engines import ClusterError
from rosenblatt.distributed.runs import checked_options, run_factory
from rosenblatt.distributed.shards import ShardSet, file_shards_of, join_loaders, restore_counts, shard_loaders
from rosenblatt.messages import count_of

if TYPE_CHECKING:
    from rosenblatt.distributed.engines import Engine
    from rosenblatt.distributed.shards import Shard

_ANSWER = 10.0
"""Seconds in which a cluster has to answer."""
_WORKERS = 60.0
"""Seconds that a cluster may be without any worker."""
_SHARDS = 8
"""Shards for mixing, if nothing is said."""


class ClusterTraining(Training):
    """Training whose rows lie on a cluster; ``opened`` are the options with which the stream was opened."""

    def __init__(self, *arguments: Any, opened: Mapping[str, Any]) -> None:
        super().__init__(*arguments)
        self.opened = opened
        on = self.asked.on
        self.mode, self.n_shards = on.mode or "exact", on.shards or _SHARDS
        self.facts: dict[str, Any] = {"kind": on.cluster, "mode": self.mode}
        self.options = checked_options(self.options, self.mode, self.n_shards)

    def fit(self, label: str = "pass") -> bool:
        """Train on the cluster; return False where Ctrl-C cut it short after something was learned."""
        on = self.asked.on
        shards = len(self.stream.files or ())
        if self.mode == "mix":
            shards = min(shards, self.n_shards)
        enable_gc()
        try:
            with open_cluster(str(on.cluster), on.address, shards) as engine:
                return self._fit_on(engine)
        except ClusterError as fault:
            raise ValueError(str(fault).replace("resume=True", "--resume")) from fault

    def _fit_on(self, engine: Engine) -> bool:
        """Have the files loaded, and train."""
        with ProgressBar("reading", self.paths) as reading:
            self.stream.fit_scale(self._trained_rows(), reading.set_share)
        loaders = shard_loaders(file_shards_of(self.stream, self.opened), self.mode, self.n_shards, join_loaders)
        with ProgressBar("loading", self.paths) as loading:
            engine.load(loaders)
            shards = ShardSet(engine, mode=self.mode, progress=lambda loaded: loading.set_share(loaded / len(loaders)))
        restore_counts(self.stream, shards.facts)
        self.facts |= {"workers": engine.workers, "shards": len(shards.facts)}
        self._say_start(engine, shards)
        self._balance_on(shards)
        bar = ClusterBar(engine, "pass" if self.mode == "exact" else "round", self.paths, self.options.max_iter)
        every = None if self.asked.checkpoint is None else self.asked.checkpoint_seconds
        return self._learn(shards, bar, self._checkpoints(), make_run=run_factory(self.mode, every))

    def _say_start(self, engine: Engine, shards: ShardSet) -> None:
        kind, found = str(self.facts["kind"]).capitalize(), count_of(shards.rows, "row")
        where = "started here" if self.asked.on.address is None else f"at {self.asked.on.address}"
        of = count_of(len(shards.facts), "shard")
        print(f"{kind} cluster {where}: {workers_of(engine)}, {found} in {of}.", file=sys.stderr)

    def _balance_on(self, shards: ShardSet) -> None:
        """Set the weights of classes, where they are to be balanced, by what the shards count."""
        if self.asked.class_weight is None:
            return
        engine, trained = shards.engine, self._trained_rows()
        places = range(len(shards.facts))
        counts: Counter[Any] = Counter()
        for counted in shards.gather(
            lambda: [engine.call(count_classes, shard, shards.starts[shard], trained) for shard in places]
        ):
            counts.update(counted)
        self._set_class_weight(counts)
        shards.class_weight = self.options.class_weight

    def answer(self, took: float) -> dict[str, Any]:
        """Return the facts of the run for the report."""
        return super().answer(took) | {"cluster": self.facts}


def count_classes(shard: Shard, first: int, trained: Any) -> dict[Any, int]:
    """Return how many rows of a shard that are trained on have each label."""
    import numpy as np

    numbers = shard.numbers if trained is None else shard.numbers[trained(first, len(shard.numbers))]
    counts = np.bincount(numbers, minlength=len(shard.classes)).tolist()
    return {label: count for label, count in zip(shard.classes.tolist(), counts, strict=True) if count}


class ClusterBar(ProgressBar):
    """A bar for training on a cluster: rows a second, mistakes, workers; elsewhere than on a terminal, lines."""

    def __init__(self, engine: Engine, label: str, paths: Any, passes: int) -> None:
        super().__init__(label, paths, passes)
        self.engine, self.speed = engine, 0.0

    @property
    def words(self) -> str:
        """Rows a second, mistakes of the pass before, workers."""
        parts = [f"{self.speed:,.0f} rows/s"] if self.speed else []
        if self.mistakes >= 0:
            parts.append(count_of(self.mistakes, "mistake"))
        return "  ".join([*parts, workers_of(self.engine)])

    def show_slice(self, run: Any, batch: Any, visited: int) -> None:
        """Show how many rows of this pass have been visited."""
        self.rows, self.speed = visited, visited / max(1e-9, time.monotonic() - self._pass_start)
        self.set_share(visited / run.source.rows)

    def show_batch(self, run: Any, batch: Any) -> None:
        """Show how many rows of this pass have been visited."""
        self.show_slice(run, batch, run.current.row)

    def end_pass(self, done: int, mistakes: int) -> None:
        """Show that so many passes are complete, the last with so many mistakes."""
        super().end_pass(done, mistakes)
        if not self.is_shown:
            facts = f"{count_of(mistakes, 'mistake')}, {self.speed:,.0f} rows/s, {workers_of(self.engine)}"
            print(f"{self.label} {done} of at most {self.passes}: {facts}", file=sys.stderr)


# The cluster itself.


@contextmanager
def open_cluster(kind: str, address: str | None, shards: int) -> Iterator[Engine]:
    """Connect to a cluster, or start one here with a worker for each processor that can have a shard."""
    from rosenblatt.data.io.prefetch import processor_count

    workers = min(processor_count(), shards)
    with (_open_dask if kind == "dask" else _open_ray)(address, workers) as engine:
        yield engine


@contextmanager
def _open_dask(address: str | None, workers: int) -> Iterator[Engine]:
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
def _open_ray(address: str | None, workers: int) -> Iterator[Engine]:
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
            _check_reachable(address)
            ray.init(address=address, **quiet)
        yield RayEngine(_WORKERS)
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
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
