"""A pass of PassiveAggressive and of AROW in memory, against a pass of the Perceptron and against scikit-learn's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.linear_model as peers
from sklearn.exceptions import ConvergenceWarning

import rosenblatt
from benchmarks import programs as streams
from benchmarks.measure import Figure, alternate
from benchmarks.workloads import dense

ROUNDS = 4
FITS = (1, 5)
"""Passes of a fit: a first pass has the most updates, and what comes before it counts the most."""
LIMITS = {"PassiveAggressive": 1.5, "AROW": 2.5}
"""The most that a pass may take, in passes of the Perceptron."""
PEERS = ("PassiveAggressiveClassifier", "SGDClassifier")


@dataclass(frozen=True)
class Rows:
    """Data to pass over, and whether the limits are for it."""

    name: str
    load: Callable[[], tuple[Any, np.ndarray]]
    limited: bool = False


def zipf_text(n: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return rows of the second generator as CSR with 32-bit indices."""
    made = list(streams.zipf_pieces(n, seed=1))
    labels, columns, thousandths = (np.concatenate(parts) for parts in zip(*made, strict=True))
    stored = thousandths > 0
    starts = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int32)
    values = thousandths[stored] / 1000.0
    return sp.csr_matrix((values, columns[stored], starts), shape=(n, 1 + streams.ZIPF_COLUMNS)), labels


def data(quick: bool) -> list[Rows]:
    """Return what is passed over, with a twentieth of the rows if ``quick``."""
    size = 20 if quick else 1
    return [
        Rows("Zipf text", partial(zipf_text, 2_000_000 // size), limited=True),
        Rows("dense float64", partial(dense, 60_000 // size, 784, "float64"), limited=True),
        Rows("dense float32", partial(dense, 60_000 // size, 784, "float32")),
        Rows("narrow float64", partial(dense, 1_000_000 // size, 20, "float64")),
    ]


def learners(passes: int, shuffle: bool) -> dict[str, Any]:
    """Return ours and scikit-learn's, ready to fit."""
    common = {"max_iter": passes, "shuffle": shuffle, "random_state": 0}
    ours = {name: getattr(rosenblatt, name)(**common) for name in ("Perceptron", *LIMITS)}
    theirs = {name: getattr(peers, name)(tol=None, **common) for name in PEERS if hasattr(peers, name)}
    return {**ours, **theirs}


def passes(quick: bool) -> list[Figure]:
    """Return the times of a pass on each kind of rows, shuffled as by default and in their order."""
    found = []
    for rows in data(quick):
        X, y = rows.load()
        for shuffle, order in ((True, "shuffled"), (False, "in order")):
            times = {n: pass_times(X, y, n, shuffle) for n in FITS}
            shape = f"{rows.name}, {X.shape[0]:,} x {X.shape[1]:,}, {order}"
            for name, limit in LIMITS.items():
                found.append(against_perceptron(name, shape, times, limit if rows.limited else None))
                found += [against_peer(name, peer, shape, times) for peer in PEERS if peer in times[FITS[0]]]
    return found


def pass_times(X: Any, y: np.ndarray, n: int, shuffle: bool) -> dict[str, float]:
    """Return the best time of a fit of ``n`` passes by each learner, divided by ``n``; learners take turns."""
    some = min(2000, len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)  # PassiveAggressiveClassifier is about to go
        models = learners(n, shuffle)
        for model in models.values():
            model.fit(X[:some], y[:some])  # compiles
        times = alternate({name: partial(model.fit, X, y) for name, model in models.items()}, ROUNDS)
    for name, model in models.items():
        if model.n_iter_ != n:
            raise RuntimeError(f"{name} made {model.n_iter_} of {n} passes")
    return {name: min(taken) / n for name, taken in times.items()}


def against_perceptron(name: str, shape: str, times: dict[int, dict[str, float]], limit: float | None) -> Figure:
    """Return the time of a pass over a Perceptron's; the limit is for each number of passes."""
    ratios = [taken[name] / taken["Perceptron"] for taken in times.values()]
    target = "" if limit is None else f"<= {limit:g}"
    met = None if limit is None else max(ratios) <= limit
    return Figure(f"{name} / Perceptron, {shape}", _words(ratios, times, name, "Perceptron"), target, met)


def against_peer(name: str, peer: str, shape: str, times: dict[int, dict[str, float]]) -> Figure:
    """Return the time of scikit-learn's pass over ours."""
    ratios = [taken[peer] / taken[name] for taken in times.values()]
    return Figure(f"{peer} / {name}, {shape}", _words(ratios, times, peer, name), "> 1", min(ratios) > 1)


def _words(ratios: list[float], times: dict[int, dict[str, float]], above: str, below: str) -> str:
    parts = [
        f"{ratio:.2f} in a fit of {n} ({1000 * taken[above]:.0f} / {1000 * taken[below]:.0f} ms)"
        for ratio, (n, taken) in zip(ratios, times.items(), strict=True)
    ]
    return ", ".join(parts)
