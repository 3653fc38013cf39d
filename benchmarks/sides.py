"""The two sides of each comparison: our learner, and scikit-learn's set to do the same work."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as PeerPerceptron
from sklearn.linear_model import SGDClassifier

import rosenblatt
from benchmarks.measure import alternate
from benchmarks.workloads import Workload

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
