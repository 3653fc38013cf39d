"""What a cluster costs: a round, a hop, a whole run from files, and what mixing costs in accuracy by number of shards.

All on this machine, with two workers; one process with one thread is the peer.
"""

from __future__ import annotations

import os
import statistics
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from benchmarks import programs as streams
from benchmarks.measure import Figure
from benchmarks.programs import stream_folder
from rosenblatt import AveragedPerceptron, data
from rosenblatt.blocks import stack
from rosenblatt.distributed import DaskAveragedPerceptron, RayAveragedPerceptron

WORKERS = 2
SHARDS = 8
BEFORE = {("Dask", 100_000): 64.0, ("Dask", 1_000_000): 118.0, ("Ray", 100_000): 20.0, ("Ray", 1_000_000): 97.0}
"""Milliseconds of a round of mixing in the programs that were tried before."""
HOPS_BEFORE = {
    ("Dask", 1_000): 9.0,
    ("Dask", 100_000): 11.0,
    ("Dask", 1_000_000): 19.0,
    ("Ray", 1_000): 5.0,
    ("Ray", 100_000): 8.0,
    ("Ray", 1_000_000): 18.0,
}
FILE_RATIO = 1.3
HERE = {
    "threads_per_worker": 1,
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
}
"""Workers of Dask that listen to this machine alone."""
LEARNERS = {"Dask": DaskAveragedPerceptron, "Ray": RayAveragedPerceptron}


@contextmanager
def cluster(engine: str) -> Iterator[None]:
    """Run two workers."""
    if engine == "Dask":
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=WORKERS, **HERE) as workers, Client(workers):
            yield
        return
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # it listens on 127.0.0.1 only: see cli/train_cluster.py
    import ray

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()


def tiny(d: int, shard: int) -> tuple[sp.csr_array, np.ndarray]:
    """Return 16 rows of 20 numbers, so that only the cluster's own work counts."""
    rng = np.random.default_rng(shard)
    indices = np.sort(rng.integers(0, d, (16, 20)), axis=1).ravel().astype(np.int32)
    X = sp.csr_array((rng.random(320), indices, np.arange(0, 321, 20, dtype=np.int32)), shape=(16, d))
    return X, np.arange(16) % 2


class Clock:
    """Notes when passes end."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, model: Any) -> None:
        self.times.append(time.perf_counter())

    @property
    def milliseconds(self) -> float:
        """Of the pass in the middle, of those after the first three."""
        return 1000.0 * statistics.median(np.diff(self.times)[2:])


def rounds(engine: str, d: int, mode: str, passes: int = 13) -> float:
    """Return the milliseconds of a pass over tiny shards."""
    clock = Clock()
    with cluster(engine), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LEARNERS[engine](max_iter=passes, mode=mode, n_shards=SHARDS, random_state=0)
        model.fit_shards([tiny(d, shard) for shard in range(SHARDS)], on_pass=clock)
    return clock.milliseconds


def overheads(quick: bool) -> list[Figure]:
    """Return what a round of mixing and a hop of an exact pass take with nothing to learn."""
    found = []
    for (engine, d), before in BEFORE.items() if not quick else [(("Dask", 100_000), 64.0)]:
        taken = rounds(engine, d, "mix")
        found.append(Figure(f"a round of mixing on {engine}, {d:,} features", f"{taken:.0f} ms ({before:.0f} before)"))
    for (engine, d), before in HOPS_BEFORE.items() if not quick else [(("Dask", 1_000), 9.0)]:
        taken = rounds(engine, d, "exact") / SHARDS
        found.append(Figure(f"a hop on {engine}, {d:,} features", f"{taken:.1f} ms ({before:.0f} before)"))
    return found


def parts(folder: Path, rows: int) -> list[str]:
    """Return the names of eight files of rows; write those that are missing."""
    names = []
    for shard in range(SHARDS):
        path = folder / f"part-{rows // SHARDS}-{shard}.vw"
        streams.write(path, rows // SHARDS, 10 + shard)
        names.append(str(path))
    return names


def worker_memory() -> float:
    """Return the most memory that this process has had, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def from_files(quick: bool) -> list[Figure]:
    """Return the time of exact runs from files on two workers over that of one process."""
    with stream_folder() as folder:
        names = parts(folder, 200_000 if quick else 4_000_000)
        size = sum(os.path.getsize(name) for name in names) / 1e9
        options = {"max_iter": 3, "shuffle": False}
        began = time.perf_counter()
        local = AveragedPerceptron(**options).fit_stream(data.open(names, threads=1))
        alone = time.perf_counter() - began
        began = time.perf_counter()
        AveragedPerceptron(**options).fit_stream(data.open(names, cache=True))
        cached = time.perf_counter() - began
        found = []
        for engine in LEARNERS:
            with cluster(engine):
                LEARNERS[engine](max_iter=1).fit_shards([tiny(1000, shard) for shard in range(4)])  # compiles
                began = time.perf_counter()
                model = LEARNERS[engine](**options).fit_files(names)
                taken = time.perf_counter() - began
            assert np.array_equal(model.coef_, local.coef_)
            words = (
                f"{taken / alone:.2f}: {taken:.1f} s, one process {alone:.1f} s (with two threads and a cache "
                f"{cached:.1f} s); same bits"
            )
            met = taken <= FILE_RATIO * alone
            name = f"exact on {engine} / fit_stream, {size:.2f} GB of text, 3 passes"
            found.append(Figure(name, words, f"<= {FILE_RATIO:g}", met))
        return found


def ten_classes(quick: bool) -> list[Figure]:
    """Return the time of ten classes on two workers over that of one thread."""
    n, d, stored = (20_000 if quick else 400_000), 20_000, 50
    rng = np.random.default_rng(0)
    rule = rng.standard_normal((d, 10))
    shards = []
    for _ in range(SHARDS):
        rows = n // SHARDS
        indices = np.sort(rng.integers(0, d, (rows, stored)), axis=1).ravel().astype(np.int32)
        starts = np.arange(0, rows * stored + 1, stored, dtype=np.int32)
        X = sp.csr_array((rng.random(rows * stored), indices, starts), shape=(rows, d))
        X.sum_duplicates()
        shards.append((X, np.argmax(X @ rule, axis=1)))
    options = {"max_iter": 5, "shuffle": False, "random_state": 0}
    clock = Clock()
    local = AveragedPerceptron(**options).fit_stream(shards, on_pass=clock)
    alone = clock.milliseconds if len(clock.times) > 3 else 1000 * float(np.diff(clock.times).min())
    found = []
    for engine in LEARNERS:
        clock = Clock()
        with cluster(engine):
            model = LEARNERS[engine](**options).fit_shards(shards, on_pass=clock)
        assert np.array_equal(model.coef_, local.coef_)
        words = (
            f"{alone / clock.milliseconds:.2f} times: {clock.milliseconds:.0f} ms a pass, one process {alone:.0f} ms"
        )
        found.append(Figure(f"ten classes on {engine}, two workers, {n:,} rows", words))
    return found


def memory(quick: bool) -> list[Figure]:
    """Return the memory of workers beside that of their shards, for data larger than one of them may hold."""
    from distributed import Client, LocalCluster

    rows, d, limit = (20_000 if quick else 100_000), 100, 900
    with LocalCluster(n_workers=3, memory_limit=f"{limit}MB", **HERE) as workers, Client(workers) as client:
        model = DaskAveragedPerceptron(max_iter=2, random_state=0)
        model.fit_shards([partial(dense_shard, rows, d, shard) for shard in range(15)])
        most = client.run(worker_memory)
        total = 15 * rows * d * 8 / 1e6
        words = f"{total:,.0f} MB in all; workers had at most {', '.join(f'{m:.0f}' for m in most.values())} MB"
    return [Figure(f"data larger than a worker's limit of {limit} MB", words)]


def dense_shard(n: int, d: int, shard: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that a rule labels, some of them wrongly."""
    rng = np.random.default_rng(shard)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + X[:, 1] + 0.2 * rng.standard_normal(n) > 0).astype(int)


def quality(quick: bool) -> list[Figure]:
    """Return what mixing costs in accuracy: by the number of shards, after some rounds."""
    from rosenblatt.distributed.engines import LocalEngine
    from rosenblatt.distributed.learners import ClusterLearner, with_parameters

    class Mixed(ClusterLearner, AveragedPerceptron):
        __init__ = with_parameters(AveragedPerceptron)

        def _engine(self) -> LocalEngine:
            return LocalEngine()

    made = list(streams.pieces(40_000 if quick else 1_000_000, 1))
    test = list(streams.pieces(streams.PIECE, 2))
    (X_test, y_test), *_ = map(as_rows, test)
    matrices, labels = zip(*map(as_rows, made), strict=True)
    X, y = stack(matrices), np.concatenate(labels)
    found = []
    for shards in (1, 2, 8, 32):
        cuts = np.linspace(0, X.shape[0], shards + 1).astype(int)
        pieces = [(X[a:b], y[a:b]) for a, b in pairwise(cuts)]
        scores: list[float] = []
        model = Mixed(max_iter=8, mode="mix", n_shards=shards, random_state=0)
        model.fit_shards(pieces, on_pass=lambda m, scores=scores: scores.append(m.to_local().score(X_test, y_test)))
        words = ", ".join(f"{n}: {100 * scores[n - 1]:.2f} %" for n in (1, 2, 4, 8) if n <= len(scores))
        found.append(Figure(f"mixing {shards} shards, accuracy after rounds", words))
    return found


def as_rows(piece: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[sp.csr_array, np.ndarray]:
    """Return a piece of a stream as a matrix and labels."""
    labels, columns, thousandths = piece
    n, stored = columns.shape
    starts = np.arange(0, n * stored + 1, stored, dtype=np.int32)
    shape = n, 1 + streams.COLUMNS
    return sp.csr_array((thousandths.ravel() / 1000.0, columns.ravel(), starts), shape=shape), labels
