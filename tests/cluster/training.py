"""What is trained: eight small shards that take their time, so that there is a run to disturb."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np

from rosenblatt import AveragedPerceptron
from rosenblatt.distributed.engines import LocalEngine
from rosenblatt.distributed.learners import ClusterLearner, with_parameters
from rosenblatt.distributed.shards import Shard, make_shard

SHARDS, ROWS, FEATURES, CLASSES = 8, 60, 20, 4
ENGINES, MODES = ("dask", "ray"), ("exact", "mix")
PASSES = {"exact": 15, "mix": 30}


class SlowShard(Shard):
    """A shard that no visit is done with at once."""

    seconds = 0.02

    def block(self, classes, first):
        time.sleep(self.seconds)
        return super().block(classes, first)


def rows_of(number):
    """Return rows that no perceptron separates."""
    rng = np.random.default_rng(number)
    return rng.standard_normal((ROWS, FEATURES)), rng.integers(0, CLASSES, ROWS)


def slow_shard(number):
    shard = make_shard(*rows_of(number))
    return SlowShard(shard.X, shard.classes, shard.numbers)


SLOW_SHARDS = [partial(slow_shard, number) for number in range(SHARDS)]


class HereLearner(ClusterLearner, AveragedPerceptron):
    """A learner on a cluster that is this process."""

    __init__ = with_parameters(AveragedPerceptron)

    def _engine(self):
        return LocalEngine()


def parameters(mode, shuffle):
    return {"max_iter": PASSES[mode], "random_state": 3, "shuffle": shuffle}


def digest(model):
    """Return a digest of all that training has left."""
    state, found = model.state_, hashlib.sha256()
    for array in (state.w, state.u, state.b, state.beta, state.counters, model.classes_):
        found.update(np.ascontiguousarray(array).tobytes())
    found.update(repr(model.history_).encode())
    return found.hexdigest()


def undisturbed_digest(mode, shuffle):
    """Return what training leaves on one machine: of `fit_stream` in exact mode."""
    with quietly():
        if mode == "exact":
            blocks = [rows_of(number) for number in range(SHARDS)]
            return digest(AveragedPerceptron(**parameters(mode, shuffle)).fit_stream(blocks))
        shards = [partial(rows_of, number) for number in range(SHARDS)]
        return digest(HereLearner(mode=mode, **parameters(mode, shuffle)).fit_shards(shards))


class NotedShard(SlowShard):
    """A shard that notes each visit in a folder, so that a trial can wait until a run has come that far."""

    folder, number = "", 0

    def block(self, classes, first):
        note(self.folder, "visits", self.number)
        return super().block(classes, first)


def noted_shard(folder, number, rows=None, kind=NotedShard):
    """Load a shard, of these rows if they are given, and note that."""
    shard = make_shard(*(rows or rows_of(number)))
    noted = kind(shard.X, shard.classes, shard.numbers)
    noted.folder, noted.number = str(folder), number
    note(folder, f"loader-{number}", os.getpid())
    note(folder, "loads", number)
    return noted


def note(folder, what, number):
    """Note a load or a visit; a visit may outlive its run and the run's folder."""
    with suppress(FileNotFoundError), Path(folder, what).open("a") as notes:
        notes.write(f"{number}\n")


def count_notes(folder, what, number=None):
    """Return how many loads or visits were noted, of one shard or of all."""
    path = Path(folder, what)
    numbers = path.read_text().split() if path.exists() else []
    return len(numbers) if number is None else numbers.count(str(number))


def count_visits(mode, workers):
    """Return how many visits a run makes: in exact mode, as many groups of classes as workers visit each shard."""
    return PASSES[mode] * SHARDS * (workers if mode == "exact" else 1)


def least_seconds(mode, workers):
    """Return how long a run takes at least: in exact mode each shard waits for the one before."""
    at_once = workers if mode == "mix" else 1
    return PASSES[mode] * SHARDS * SlowShard.seconds / at_once


@contextmanager
def quietly():
    """Leave out the warning that mistakes are left."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def train(engine, mode, shuffle, shards=SLOW_SHARDS, timeout=60.0, **options):
    """Return the digest of a model of the cluster that this process has started."""
    from rosenblatt.distributed import DaskAveragedPerceptron, RayAveragedPerceptron

    learner = DaskAveragedPerceptron if engine == "dask" else RayAveragedPerceptron
    model = learner(mode=mode, n_shards=SHARDS, timeout=timeout, **parameters(mode, shuffle))
    with quietly():
        return digest(model.fit_shards(shards, **options))
