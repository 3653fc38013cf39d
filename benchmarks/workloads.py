"""The data of the benchmarks, seeded, and the list of what is timed.

Labels come from a random linear rule with noise: some three percent are wrong, all of them near the
boundary. So no side converges within the passes that are timed.
"""

from __future__ import annotations

import bz2
import gc
import gzip
import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as PeerPerceptron
from sklearn.linear_model import SGDClassifier

import rosenblatt
from benchmarks.measure import alternate, seconds

ROOT = Path(__file__).resolve().parents[1]
NOISE = 0.1
"""Deviation of the noise in a label's score, where the score itself has deviation 1."""
ZIPF = 1.27
"""The chance of the j-th most frequent column is as 1 / j**ZIPF: of 75 draws about 38 columns remain."""


def real_data(*names: str) -> Path | None:
    """Return the folder that ``ROSENBLATT_DATA`` names, or None where it lacks one of the files ``names``."""
    folder = os.environ.get("ROSENBLATT_DATA")
    return Path(folder) if folder and all((Path(folder) / name).exists() for name in names) else None


def missing_data(names: str) -> str:
    """Say in a sentence what is not measured because files are missing."""
    folder = os.environ.get("ROSENBLATT_DATA")
    where = f"{folder} (ROSENBLATT_DATA)" if folder else "a folder that the environment variable ROSENBLATT_DATA names"
    return f"not measured: it needs {names} in {where}"


MNIST = tuple(f"mnist/{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))


def _labels(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return -1 or +1 for each score: two classes of equal size, with noise."""
    scores = (scores - np.median(scores)) / scores.std()
    return np.where(scores + NOISE * rng.standard_normal(len(scores)) > 0, 1, -1)


def _best_of(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the class of the largest score in each row, with noise, after scores are standardised."""
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    return (scores + NOISE * rng.standard_normal(scores.shape)).argmax(axis=1)


@lru_cache(maxsize=1)
def dense(n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of d standard normal numbers, C-ordered, and labels by a random direction."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X.astype(dtype), _labels(X @ rng.standard_normal(d), rng)


@lru_cache(maxsize=1)
def csr(n: int, d: int, draws: int, classes: int = 2) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return n rows of word counts as CSR with 32-bit indices, and their labels.

    Each row is ``draws`` columns drawn by Zipf's law, those drawn twice counted together. Frequent columns
    lie anywhere, as words do in an alphabetical vocabulary. In the rule that makes the labels, the j-th most
    frequent column weighs about ``1 / sqrt(j)``; with more than two classes there is one rule for each.
    """
    rng = np.random.default_rng(0)
    ranks = np.arange(1, d + 1)
    shares = np.cumsum(ranks**-ZIPF)
    place = rng.permutation(d).astype(np.int32)
    columns = place[np.searchsorted(shares, rng.random(n * draws) * shares[-1])]
    starts = np.arange(0, n * draws + 1, draws, dtype=np.int32)
    X = sp.csr_matrix((np.ones(n * draws), columns, starts), shape=(n, d))
    X.sum_duplicates()
    if classes > 2:
        rules = np.empty((d, classes))
        rules[place] = rng.standard_normal((d, classes)) / np.sqrt(ranks)[:, None]
        return X, _best_of(X @ rules, rng)
    rule = np.empty(d)
    rule[place] = rng.standard_normal(d) / np.sqrt(ranks)
    return X, _labels(X @ rule, rng)


def mnist(part: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Return MNIST's "train" or "t10k" images as float64 from 0 to 1, and digits; None without files."""
    folder = real_data(*MNIST)
    if folder is None:
        return None
    with gzip.open(folder / f"mnist/{part}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / f"mnist/{part}-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    return pixels / 255.0, y.astype(np.int64)


@lru_cache(maxsize=1)
def ten_classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n training rows of MNIST; without its files, made-up rows of ten noisy linear classes."""
    found = mnist("train")
    if found is not None:
        return found[0][:n], found[1][:n]
    rng = np.random.default_rng(0)
    X = np.maximum(rng.standard_normal((n, 784)), 0.0)
    return X, _best_of((X - X.mean(axis=0)) @ rng.standard_normal((784, 10)), rng)


def libsvm(name: str, d: int) -> tuple[sp.csr_matrix, np.ndarray] | None:
    """Return a set in LIBSVM's format from ``libsvm/NAME.bz2``; None without the file."""
    folder = real_data(f"libsvm/{name}.bz2")
    if folder is None:
        return None
    with bz2.open(folder / f"libsvm/{name}.bz2") as file:
        return load_svmlight_file(file, n_features=d)


@dataclass(frozen=True)
class Workload:
    """One row of the report: both sides learn from ``data()``; ``target`` is the least ratio peer / ours."""

    name: str
    data: Callable[[], tuple[Any, np.ndarray]]
    target: float
    shuffle: bool = False
    averaged: bool = False
    jobs: int | None = None
    direct: bool = False
    """Our side learns all classes at once; the peer has only one against the rest."""
    read_limit: float | None = None
    """The most that one of our passes may take, in bare reads of X."""


def workloads(quick: bool) -> list[Workload]:
    """Return what is timed, with a twentieth of the rows if ``quick``; neighbours share their data."""
    size = 20 if quick else 1
    f64 = partial(dense, 60_000 // size, 784, "float64")
    f32 = partial(dense, 60_000 // size, 784, "float32")
    narrow = partial(dense, 1_000_000 // size, 20, "float64")
    text = partial(csr, 200_000 // size, 47_000, 75)
    short = partial(csr, 1_000_000 // size, 100_000, 20)
    topics = partial(csr, 300_000 // size, 20_000, 100, 10)
    labels = partial(csr, 100_000 // size, 50_000, 120, 50)
    digits = "mnist" if real_data(*MNIST) else "made-up-digits"
    return [
        Workload("dense-60kx784-f64-fixed", f64, 2.6, read_limit=1.15),
        Workload("dense-60kx784-f64-shuffled", f64, 2.0, shuffle=True),
        Workload("averaged-60kx784-f64-fixed", f64, 4.0, averaged=True),
        Workload("dense-60kx784-f32-fixed", f32, 4.5),
        Workload("dense-60kx784-f32-shuffled", f32, 3.0, shuffle=True),
        Workload("averaged-60kx784-f32-fixed", f32, 6.5, averaged=True),
        Workload("dense-1Mx20-f64-fixed", narrow, 3.4),
        Workload("dense-1Mx20-f64-shuffled", narrow, 4.7, shuffle=True),
        Workload("csr-200kx47k-fixed", text, 1.6),
        Workload("csr-200kx47k-shuffled", text, 2.7, shuffle=True),
        Workload("averaged-csr-200kx47k-fixed", text, 2.1, averaged=True),
        Workload("csr-1Mx100k-shuffled", short, 2.3, shuffle=True),
        Workload(f"{digits}-10-classes-2-jobs", partial(ten_classes, 60_000 // size), 6.0, True, jobs=2),
        Workload("csr-300kx20k-10-classes-2-jobs", topics, 4.0, True, averaged=True, jobs=2),
        Workload("csr-100kx50k-50-classes-2-jobs", labels, 5.0, True, averaged=True, jobs=2),
        Workload("csr-100kx50k-50-classes-direct-2-jobs", labels, 4.0, True, averaged=True, jobs=2, direct=True),
    ]


# The two sides of each comparison: our learner, and scikit-learn's set to do the same work.


PASSES = 5


def ours(work: Workload) -> Any:
    """Return our learner, ready to fit."""
    kind = rosenblatt.AveragedPerceptron if work.averaged else rosenblatt.Perceptron
    classes = "direct" if work.direct else "ovr"
    return kind(max_iter=PASSES, shuffle=work.shuffle, random_state=0, n_jobs=work.jobs, multi_class=classes)


def peer(work: Workload) -> Any:
    """Return scikit-learn's learner, ready to fit; ``tol=None`` keeps it from stopping early."""
    common = {"max_iter": PASSES, "tol": None, "shuffle": work.shuffle, "random_state": 0, "n_jobs": work.jobs}
    if not work.averaged:
        return PeerPerceptron(**common)
    return SGDClassifier(loss="perceptron", average=True, learning_rate="constant", eta0=1, penalty=None, **common)


def bare_read(X: Any) -> Any:
    """Read every number of ``X`` once: the least that a pass can do on this machine.

    Indices are read by ``max``, as numpy's sum of them would widen each one first.
    """
    if not sp.issparse(X):
        return X.sum()
    return X.data.sum() + X.indices.max() + X.indptr.max()


def compare(work: Workload, rounds: int) -> dict[str, Any]:
    """Time ``fit`` of both sides in turn and return a row of the report; times are for one pass."""
    X, y = work.data()
    mine, theirs = ours(work), peer(work)
    calls = {
        "ours": lambda: mine.fit(X, y),
        "peer": lambda: theirs.fit(X, y),
        "read": lambda: bare_read(X),
    }
    if sp.issparse(X):
        w = np.ones(X.shape[1])
        calls["product"] = lambda: X @ w
    some = min(2000, len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mine.fit(X[:some], y[:some])  # compiles
        theirs.fit(X[:some], y[:some])
        times = alternate(calls, rounds)
    best = {name: 1000 * min(taken) for name, taken in times.items()}
    best["ours"] /= PASSES
    best["peer"] /= PASSES
    return {
        "workload": work.name,
        "ours ms": best["ours"],
        "peer ms": best["peer"],
        "ratio": best["peer"] / best["ours"],
        "target": work.target,
        "met": "yes" if best["peer"] >= work.target * best["ours"] else "no",
        "ours/read": best["ours"] / best["read"],
        "limit": work.read_limit,
        "X @ w ms": best.get("product"),
        "mistakes": int(mine.history_["mistakes"][-1]),
        "remark": _remark(work, mine, theirs),
        "seconds": times,
    }


def _remark(work: Workload, mine: Any, theirs: Any) -> str:
    """Say so where the two sides did not make the same number of passes, or learn several classes in other ways."""
    remarks = [
        f"{side} made {model.n_iter_} of {PASSES} passes"
        for side, model in (("our side", mine), ("the peer", theirs))
        if model.n_iter_ != PASSES
    ]
    if any(part.converged for part in mine.report_.by_class.values()):
        remarks.append("one of our machines converged and stopped")
    if work.direct:
        remarks.append("our side lets the classes compete directly, the peer learns one against the rest")
    return ", ".join(remarks)


def main() -> None:
    """Make the data of a workload, then fit once for each line of input and print the seconds and a digest.

    One checkout's side of a comparison, as a process: ``python -m benchmarks.workloads NAME quick|full``. It uses
    public names of rosenblatt only, so that any version can be measured.
    """
    name, quick = sys.argv[1], sys.argv[2] == "quick"
    warnings.simplefilter("ignore")
    work = next(one for one in workloads(quick) if one.name == name)
    X, y = work.data()
    model = ours(work)
    some = min(2000, len(y))
    model.fit(X[:some], y[:some])  # compiles
    gc.collect()
    gc.disable()
    _say([rosenblatt.__file__])
    for _ in sys.stdin:
        taken = seconds(lambda: model.fit(X, y))
        learned = np.ascontiguousarray(model.coef_).tobytes() + np.ascontiguousarray(model.intercept_).tobytes()
        _say([taken, hashlib.sha256(learned).hexdigest()])


def _say(words: list[object]) -> None:
    print(json.dumps(words), flush=True)


if __name__ == "__main__":
    main()
