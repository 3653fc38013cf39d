"""Training on a cluster for ``rosenblatt train``: workers load the files, and this process keeps the model.

The command connects to a running cluster, or starts one on this machine and closes it at the end.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from rosenblatt.blocks import Block
from rosenblatt.cli.output import JsonObject, ProgressBar, enable_gc
from rosenblatt.cli.train_run import Training
from rosenblatt.distributed.engines import ClusterError
from rosenblatt.distributed.runs import checked_options, run_factory
from rosenblatt.distributed.shards import (
    ShardSet,
    count_classes,
    file_shards_of,
    join_loaders,
    restore_counts,
    shard_loaders,
)
from rosenblatt.messages import count_of

if TYPE_CHECKING:
    from rosenblatt.cli.train import TrainOptions
    from rosenblatt.data import Stream
    from rosenblatt.distributed.engines import Engine
    from rosenblatt.distributed.shards import Shard
    from rosenblatt.splits import Split
    from rosenblatt.training.batches import Batch
    from rosenblatt.training.options import RunOptions
    from rosenblatt.training.run import TrainingRun

_CONNECT_SECONDS = 10.0
"""Time limit in seconds for connecting to a cluster."""
_WORKERS_SECONDS = 60.0
"""Seconds that a cluster may be without workers before training fails."""
_SHARDS = 8
"""The default number of shards for ``--mode mix``."""


class ClusterTraining(Training):
    """Training on a cluster whose workers keep the rows. ``stream`` was opened with the options ``open_options``."""

    def __init__(
        self,
        stream: Stream,
        options: TrainOptions,
        run_options: RunOptions,
        paths: Sequence[str],
        *,
        open_options: Mapping[str, Any],
    ) -> None:
        super().__init__(stream, options, run_options, paths)
        self.open_options = open_options
        on = options.on
        self.mode, self.n_shards = on.mode or "exact", on.shards or _SHARDS
        self.facts: JsonObject = {"kind": on.cluster, "mode": self.mode}
        self.run_options = checked_options(run_options, self.mode, self.n_shards)

    def fit(self, label: str = "pass") -> bool:
        """Train on the cluster; return whether the run was completed, as `Training.fit` does."""
        on = self.options.on
        shards = len(self.stream.files or ())
        if self.mode == "mix":
            shards = min(shards, self.n_shards)
        enable_gc()
        try:
            with open_cluster(str(on.cluster), on.address, shards) as engine:
                return self._fit_on(engine)
        except ClusterError as error:
            raise ValueError(str(error).replace("resume=True", "--resume")) from error

    def _fit_on(self, engine: Engine) -> bool:
        """Let the workers load the files, then train; return whether the run was completed, as `fit` does."""
        with ProgressBar("reading", self.paths) as reading:
            self.stream.fit_scale(self._validation_split(), reading.set_share)
        loaders = shard_loaders(file_shards_of(self.stream, self.open_options), self.mode, self.n_shards, join_loaders)
        with ProgressBar("loading", self.paths) as loading:
            engine.load(loaders)
            shards = ShardSet(engine, mode=self.mode, progress=lambda loaded: loading.set_share(loaded / len(loaders)))
        restore_counts(self.stream, shards.facts)
        self.facts |= {"workers": engine.workers, "shards": len(shards.facts)}
        self._print_start(engine, shards)
        self._balance_on(shards)
        bar = ClusterBar(
            engine, shards.rows, "pass" if self.mode == "exact" else "round", self.paths, self.run_options.max_iter
        )
        every = None if self.options.checkpoint is None else self.options.checkpoint_seconds
        return self._learn(shards, bar, self._checkpoints(), make_run=run_factory(self.mode, every))

    def _print_start(self, engine: Engine, shards: ShardSet) -> None:
        kind, found = str(self.facts["kind"]).capitalize(), count_of(shards.rows, "row")
        where = "started here" if self.options.on.address is None else f"at {self.options.on.address}"
        of = count_of(len(shards.facts), "shard")
        print(f"{kind} cluster {where}: {workers_of(engine)}, {found} in {of}.", file=sys.stderr)

    def _balance_on(self, shards: ShardSet) -> None:
        """Set the class weights from the class counts of all shards."""
        if not self.options.imbalance.given:
            return
        engine, split, before = shards.engine, self._validation_split(), shards.before
        counts: Counter[Any] = Counter()
        if split is None:
            counted = [facts.counts for facts in shards.facts]
        else:
            places = range(len(shards.facts))
            counted = shards.gather(lambda: [engine.call(count_trained, k, before[k], split) for k in places])
        for part in counted:
            counts.update(part)
        self._set_weights(counts)
        shards.class_weight = self.run_options.class_weight

    def answer(self, seconds: float) -> JsonObject:
        """Return the results of the run for the report, including facts about the cluster."""
        return super().answer(seconds) | {"cluster": self.facts}


def count_trained(shard: Shard, before: Mapping[Any, int], split: Split) -> dict[Any, int]:
    """Return the number of training rows of each class in a shard, without the rows that ``split`` holds out.

    ``before`` contains the number of rows of each class in the previous shards.
    """
    labels = shard.classes[shard.numbers]
    (block,) = split.mark([Block(shard.X, labels, 0)], before)
    return count_classes(shard, block.held_out)


class ClusterBar(ProgressBar):
    """A progress bar with rows/s, mistakes and workers of a cluster; without a terminal, it prints a line per pass."""

    def __init__(self, engine: Engine, rows: int, label: str, paths: Sequence[str], passes: int) -> None:
        super().__init__(label, paths, passes)
        self.engine, self.rows_in_all, self.speed = engine, rows, 0.0

    @property
    def text(self) -> str:
        """The text beside the bar: rows per second, mistakes of the last pass, workers."""
        parts = [f"{self.speed:,.0f} rows/s"] if self.speed else []
        if self.mistakes >= 0:
            parts.append(count_of(self.mistakes, "mistake"))
        return "  ".join([*parts, workers_of(self.engine)])

    def show_slice(self, run: TrainingRun, batch: Batch, visited: int) -> None:
        """Show the rows of this pass that have been visited."""
        self.rows, self.speed = visited, visited / max(1e-9, time.monotonic() - self._pass_start)
        self.set_share(visited / self.rows_in_all)

    def show_batch(self, run: TrainingRun, batch: Batch) -> None:
        """Show the rows of this pass that have been visited."""
        self.show_slice(run, batch, run.current.row)

    def end_pass(self, done: int, mistakes: int) -> None:
        """Show that ``done`` passes are complete, and the number of mistakes in the last of these passes."""
        super().end_pass(done, mistakes)
        if not self.is_shown:
            facts = f"{count_of(mistakes, 'mistake')}, {self.speed:,.0f} rows/s, {workers_of(self.engine)}"
            print(f"{self.label} {done} of at most {self.passes}: {facts}", file=sys.stderr)


# Connecting to a cluster, or starting a local one.


@contextmanager
def open_cluster(kind: str, address: str | None, shards: int) -> Iterator[Engine]:
    """Connect to a cluster, or start a local one with a worker per processor, but at most one worker per shard."""
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
                        dashboard_address="127.0.0.1:0",  # the port of its health check; there is no dashboard
                        scheduler_kwargs={"dashboard": False},
                        silence_logs=logging.CRITICAL,
                    )
                )
        try:
            client = stack.enter_context(Client(cluster, timeout=_CONNECT_SECONDS, set_as_default=False))
        except (OSError, ValueError) as error:
            raise _not_reachable(f"Dask cluster at {address}", error) from None
        yield DaskEngine(client, _WORKERS_SECONDS)


@contextmanager
def _open_ray(address: str | None, workers: int) -> Iterator[Engine]:
    if address is None:
        # Ray replaces a loopback address that it is given with a network address. It uses 127.0.0.1, and binds only to
        # that, where clusters are disabled, the default on macOS and Windows. It reads this variable when imported.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Ray repeats tasks that it ends for lack of memory without limit, after ever longer breaks
        os.environ.setdefault("RAY_task_oom_retries", "0")
    try:
        import ray
    except ImportError:
        raise _missing("ray", "ray") from None
    from rosenblatt.distributed.ray import RayEngine

    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    try:
        if address is None:
            if ray.util.get_node_ip_address() != "127.0.0.1":
                raise ClusterError(
                    "this version of Ray would listen on all network interfaces: start Ray yourself, for instance with "
                    "ray start --head, and give --address auto."
                )
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
        else:
            _check_reachable(address)
            ray.init(address=address, **quiet)
        yield RayEngine(_WORKERS_SECONDS)
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise a ValueError if the address does not accept connections; Ray itself would retry for a long time."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if address == "auto":
        return
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise _not_reachable(f"Ray cluster at {address}", error) from None


def _not_reachable(what: str, error: Exception) -> ValueError:
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    return ValueError(f"cannot connect to a {what} ({reason}): check its address, and that it is running.")


def _missing(extra: str, packages: str) -> ImportError:
    return ImportError(f"--cluster {extra} needs {packages}: pip install 'rosenblatt[{extra}]'.")


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let processes started in this context ignore Ctrl-C, which a terminal also sends to child processes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def workers_of(engine: Engine) -> str:
    """Return the number of workers of a cluster as a phrase, such as "2 workers"."""
    return count_of(engine.workers, "worker")
