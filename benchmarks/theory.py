"""The theory against its peers: verdicts against SciPy's HiGHS, margins against scikit-learn's ``SVC``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import rosenblatt
from benchmarks.measure import Figure, alternate
from benchmarks.workloads import libsvm, missing_data

ITERATIONS = 2_000_000
"""Where ``SVC`` is stopped: it does not converge on some sets."""


def separability(quick: bool) -> list[Figure]:
    """Return the time of HiGHS over that of our verdict, which comes with the margin and a proof, on five sets."""
    rng = np.random.default_rng(0)
    n = 1000 if quick else 10_000
    noise = rng.standard_normal((n, 50)), np.where(rng.random(n) < 0.5, 1, -1)
    digits, digit = load_digits(return_X_y=True)
    sets = {
        "breast cancer, standardised": _standard(load_breast_cancer, 1),
        "digit 8 against the rest": (digits, np.where(digit == 8, 1, -1)),
        f"noise, {n} x 50": noise,
        f"planted margin 1e-6, {n} x 50": rosenblatt.data.make_separable(n, 50, 1e-6, random_state=0),
    }
    mushrooms = libsvm("mushrooms", 112)
    if mushrooms is not None:
        sets["mushrooms (CSR)"] = (mushrooms[0], np.where(mushrooms[1] == mushrooms[1][0], 1, -1))
    found = []
    for name, (X, y) in sets.items():
        shown, ratio, answers = _race(lambda X=X, y=y: rosenblatt.separability(X, y), lambda X=X, y=y: highs(X, y))
        verdict, slack = answers
        agreed = bool(verdict) == (slack > 1e-9)
        words = (
            f"{shown}; {'separable' if verdict else 'not'}, HiGHS {'agrees' if agreed else f'has slack {slack:.1g}'}"
        )
        found.append(Figure(f"separability / HiGHS: {name}", words, "> 1", ratio > 1))
    if mushrooms is None:
        found.append(Figure("separability / HiGHS: mushrooms (CSR)", missing_data("libsvm/mushrooms.bz2")))
    return found


def margin(quick: bool) -> list[Figure]:
    """Return the time of ``SVC`` over that of our margin, to a proved 1e-6, on five sets."""
    n = 1000 if quick else 10_000
    digits, digit = load_digits(return_X_y=True)
    sets = {
        "iris, class 0": _standard(load_iris, 0),
        "wine, class 1": _standard(load_wine, 1),
        "digit 3 against the rest": (digits, np.where(digit == 3, 1, -1)),
        "breast cancer": _standard(load_breast_cancer, 1),
        f"planted margin 0.01, {n} x 50": rosenblatt.data.make_separable(n, 50, 0.01, random_state=0),
    }
    found = []
    for name, (X, y) in sets.items():
        shown, ratio, (bracket, machine) = _race(
            lambda X=X, y=y: rosenblatt.dataset_margin(X, y), lambda X=X, y=y: svc(X, y)
        )
        theirs = rosenblatt.margin(X, y, machine.coef_[0], machine.intercept_[0])
        peer = f"SVC's is off by {abs(theirs / bracket.low - 1):.0e}" if theirs > 0 else "SVC's does not separate"
        words = f"{shown}; {bracket.low:.6g}, gap {bracket.gap:.0e}, {peer}"
        found.append(Figure(f"dataset_margin / SVC: {name}", words, "> 1", ratio > 1))
    return found


def highs(X: Any, y: np.ndarray, seconds: float = math.inf) -> float:
    """Return the largest t with y (w . x + b) >= t and no weight above 1, as HiGHS finds it; NaN if it does not."""
    signs = np.where(y > 0, 1.0, -1.0)[:, None]
    columns = [X * -signs if not sp.issparse(X) else X.multiply(-signs), -signs, np.ones((len(y), 1))]
    A = sp.hstack(columns, format="csr") if sp.issparse(X) else np.hstack(columns)
    d = X.shape[1]
    goal = np.append(np.zeros(d + 1), -1.0)
    bounds = [(-1, 1)] * (d + 1) + [(None, None)]
    limit = {"time_limit": seconds} if seconds < math.inf else {}
    answer = linprog(goal, A_ub=A, b_ub=np.zeros(len(y)), bounds=bounds, method="highs", options=limit)
    return -answer.fun if answer.status == 0 else math.nan


def svc(X: Any, y: np.ndarray) -> SVC:
    """Return LIBSVM's separator with hard margins, as far as it gets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SVC(kernel="linear", C=1e10, tol=1e-8, max_iter=ITERATIONS).fit(X, y)


def _standard(load: Callable[..., Any], positive: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), np.where(y == positive, 1, -1)


def _race(ours: Callable[[], Any], peer: Callable[[], Any]) -> tuple[str, float, tuple[Any, Any]]:
    """Return both best times in words, the peer's over ours, and both answers."""
    answers: dict[str, Any] = {}
    calls = {
        "ours": lambda: answers.__setitem__("ours", ours()),
        "peer": lambda: answers.__setitem__("peer", peer()),
    }
    times = alternate(calls, 1)
    if times["peer"][0] < 5:
        more = alternate(calls, 4)
        times = {side: taken + more[side] for side, taken in times.items()}
    best = {side: 1000 * min(taken) for side, taken in times.items()}
    ratio = best["peer"] / best["ours"]
    return (
        f"{ratio:.2f}x ({best['ours']:.3g} ms, peer {best['peer']:.3g} ms)",
        ratio,
        (answers["ours"], answers["peer"]),
    )
