"""Learners whose cluster is this process, sets of rows cut into shards, and models compared bit for bit."""

from __future__ import annotations

import pickle
import re
import warnings
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp

from helpers.forging import state_to_plain
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.distributed.engines import LocalEngine
from rosenblatt.distributed.learners import ClusterLearner, with_parameters
from rosenblatt.training.run import TrainingRun

FORMS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "fortran": np.asfortranarray,
}
"""What a shard may hold its rows in."""


def read_only(what):
    """Return a copy of something whose arrays cannot be written to."""
    buffers = []
    packed = pickle.dumps(what, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(packed, buffers=[bytes(buffer) for buffer in buffers])


class HandedOver(LocalEngine):
    """This process, with all that a cluster would hand over handed over as a cluster does it: read-only copies."""

    def load(self, loaders):
        self._shards = [read_only(loader()) for loader in loaders]

    def call(self, function, shard, *arguments):
        return read_only(super().call(function, shard, *(read_only(argument) for argument in arguments)))


class OnThisProcess(ClusterLearner):
    """A learner whose shards lie in this process; classifiers are divided as among so many ``workers``."""

    workers: int

    def _engine(self):
        engine = HandedOver()
        engine.workers = self.workers
        return engine


class ProcessPerceptron(OnThisProcess, Perceptron):
    """A `Perceptron` on shards."""

    __init__ = with_parameters(Perceptron, workers=1)


class ProcessAveragedPerceptron(OnThisProcess, AveragedPerceptron):
    """An `AveragedPerceptron` on shards."""

    __init__ = with_parameters(AveragedPerceptron, workers=1)


def dask_cluster(workers, processes):
    """Start a Dask cluster all of whose servers listen on this machine only."""
    import distributed

    addresses = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    if processes:  # threads talk without sockets
        addresses["host"] = "127.0.0.1"
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=processes, **addresses)


def small_windows(rows):
    """Return a context in which so many rows of a stream are shuffled together."""
    return patch.object(TrainingRun, "window", rows)


def integer_rows(n, d, classes, seed=0, noise=1):
    """Return rows of small whole numbers, and labels that depend on them but for some noise; all classes occur."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    scores = X @ rng.normal(size=(d, classes)) + noise * rng.normal(size=(n, classes))
    y = np.argmax(scores, axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def cut(places, X, y, weight=None):
    """Return shards of rows that end before these places, and one of the rest; a place twice gives an empty shard."""
    bounds = [0, *sorted(places), len(y)]
    parts = [slice(a, b) for a, b in pairwise(bounds)]
    return [(X[part], y[part]) if weight is None else (X[part], y[part], weight[part]) for part in parts]


def filled(shards):
    """Return the shards that have rows."""
    return [shard for shard in shards if len(shard[1])]


def result_of(train, *arguments, **options):
    """Return the model that training gives, or the sentence with which it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return train(*arguments, **options)
        except ValueError as refusal:
            return str(refusal)


def quietly(train, *arguments, **options):
    """Return what training gives; no warnings of mistakes that are left, or of sorted rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return train(*arguments, **options)


def bits(model):
    """Return all that a model knows as plain data: equal for two models if they are equal to the bit."""
    state = model.state_
    header, arrays = state_to_plain(state)
    if state.log is not None:
        header["log"] = None
        arrays = {name: array for name, array in arrays.items() if not name.startswith("log.")} | votes(state.log)
    return {
        **{name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()},
        "header": header,
        "classes": model.classes_.tolist(),
        "counters": model.state_.counters.tobytes(),
        "history": model.history_.tobytes(),
        "report": repr(model.report_.to_dict()),
        "names": getattr(model, "feature_names_in_", np.empty(0)).tolist(),
        "width": model.n_features_in_,
    }


def votes(log):
    """Return all updates with their rows; how often a row is stored depends on how a stream was cut."""
    out = {}
    for k in range(len(log.chunks)):
        updates = log.updates(k)
        out |= {f"{name} {k}": part for name, part in updates._asdict().items() if name != "members"}
        if len(updates.members):
            rows = log.rows()[updates.members]
            out[f"rows {k}"] = rows.toarray() if sp.issparse(rows) else rows
    return out


def assert_same_bits(one, other, resumed=False):
    """Assert that two models are equal to the bit, or that two refusals are the same sentence.

    Two facts are left out for runs that were resumed, as they differ with ``fit_stream`` too: whether the last pass was
    cut short (``cut``), which counts rows held out and rows of weight 0 in another way, and ``feature_ranges``, which
    are those of the last batch read.
    """
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    here, there = bits(one), bits(other)
    if resumed:
        for known in (here, there):
            known.pop("feature_ranges", None)
            known["header"].pop("cut", None)
            known["report"] = re.sub("'last_pass_cut': (None|{[^}]*})", "", known["report"])
    assert here.keys() == there.keys()
    others = {name: (here[name], there[name]) for name in here if here[name] != there[name]}
    assert not others, others
