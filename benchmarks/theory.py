"""The theory against its peers: verdicts against SciPy's HiGHS, margins against scikit-learn's ``SVC``."""

from __future__ import annotations

import gzip
import json
import lzma
import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import rosenblatt
from benchmarks.measure import Figure, alternate
from benchmarks.workloads import libsvm, missing_data, mnist, real_data

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


# Verdicts on the data that people bring: how long until a yes or a no is proved, and what others say of it.


SMS, POSITIVE, NEGATIVE = "text/SMSSpamCollection.gz", "text/rt-polarity.pos.gz", "text/rt-polarity.neg.gz"
GROUPS = "text/20news-bydate-train.jsonl.xz"
HIGHS_SECONDS = 60.0
"""Where HiGHS is stopped; on wide text it would go on for hours."""

Rows = tuple[Any, np.ndarray]


class Case(NamedTuple):
    """Sets to decide, and how long each may take at most, if that is stated."""

    name: str
    sets: Callable[[bool], Iterator[Rows]]
    files: tuple[str, ...] = ()
    seconds: float = math.inf


def verdicts(quick: bool) -> list[Figure]:
    """Return how many of the sets of each kind are separable, and how long the proof took, without the margin."""
    return [_decided(case, quick) for case in CASES]


def _decided(case: Case, quick: bool) -> Figure:
    name = f"verdicts: {case.name}"
    if case.files and real_data(*case.files) is None:
        return Figure(name, missing_data(", ".join(case.files)))
    answers: Counter[str] = Counter()
    walls, work = [], 0.0
    for X, y in case.sets(quick):
        start, busy = time.perf_counter(), time.process_time()
        found = rosenblatt.separability(X, y, margin=False)
        walls.append(time.perf_counter() - start)
        work += time.process_time() - busy
        answers["undecided" if isinstance(found, rosenblatt.Undecided) else "yes" if found else "no"] += 1
        if not found.check(X, y):
            answers["wrong"] += 1
    told = ", ".join(f"{count} {word}" for word, count in sorted(answers.items(), reverse=True))
    times = f"mean {np.mean(walls):.2f} s, at most {max(walls):.2f} s (cpu {work / len(walls):.2f} s)"
    target = "all decided" + (f", under {case.seconds:g} s each" if case.seconds < math.inf else "")
    met = not answers["undecided"] and not answers["wrong"] and max(walls) < case.seconds
    return Figure(name, f"{told}; {times}", target, met)


def learners(quick: bool) -> list[Figure]:
    """Return the time of a yes over that of the perceptron that separates the same text."""
    found = []
    for name, sets, files in (
        ("SMS", _sms, (SMS,)),
        ("rt-polarity", _polarity, (POSITIVE, NEGATIVE)),
        ("20 Newsgroups, alt.atheism", _groups, (GROUPS,)),
        ("20,000 x 50,000, 100 a row", _wide, ()),
    ):
        title = f"separability / the learner that separates: {name}"
        if files and real_data(*files) is None:
            found.append(Figure(title, missing_data(", ".join(files))))
            continue
        X, y = next(sets(quick))
        learner = rosenblatt.Perceptron(max_iter=2000, random_state=0)
        calls = {
            "verdict": lambda X=X, y=y: rosenblatt.separability(X, y, margin=False),
            "learner": lambda X=X, y=y, learner=learner: learner.fit(X, y),
        }
        times = {side: min(taken) for side, taken in alternate(calls, 3).items()}
        ratio = times["verdict"] / times["learner"]
        words = f"{ratio:.2f}x ({times['verdict']:.3f} s, learner {times['learner']:.3f} s in {learner.n_iter_} passes)"
        found.append(Figure(title, words, "<= 3", bool(ratio <= 3 and learner.converged_)))
    return found


def peers(quick: bool) -> list[Figure]:
    """Return the times of HiGHS and of LIBLINEAR with hard margins over ours; a wrong answer is marked.

    LIBLINEAR's no is only that it has found no separator when it stops, so its time is that of a guess.
    """
    n = 20_000 if quick else 1_000_000
    rng = np.random.default_rng(0)
    sets: dict[str, Callable[[], Rows | None]] = {
        "SMS": lambda: next(_sms(quick)) if real_data(SMS) else None,
        "rt-polarity": lambda: next(_polarity(quick)) if real_data(POSITIVE, NEGATIVE) else None,
        "MNIST 0 against 1": lambda: _pair(0, 1),
        "MNIST 3 against 5": lambda: _pair(3, 5),
        "noise, 3,000 x 300": lambda: _noise(rng, 3000, 300),
        "planted margin 1e-3, 10,000 x 50": lambda: rosenblatt.data.make_separable(10_000, 50, 1e-3, random_state=0),
        "planted margin 1e-6, 10,000 x 50": lambda: rosenblatt.data.make_separable(10_000, 50, 1e-6, random_state=0),
        f"planted margin 1e-3, {n:,} x 20": lambda: rosenblatt.data.make_separable(n, 20, 1e-3, random_state=0),
        f"noise, {n:,} x 20": lambda: _noise(rng, n, 20),
    }
    return [_against(name, make) for name, make in sets.items()]


def _against(name: str, make: Callable[[], Rows | None]) -> Figure:
    title = f"separability / HiGHS, LinearSVC: {name}"
    rows = make()
    if rows is None:
        return Figure(title, missing_data("its files"))
    X, y = rows
    for form in (np.asarray, sp.csr_array):  # compiled before the clock starts
        rosenblatt.separability(form(np.eye(80)), np.arange(80) % 2, margin=False)
        rosenblatt.separability(form(np.eye(4)), np.arange(4) % 2, margin=False)
    y = np.where(y == y.max(), 1, -1) if y.dtype.kind in "iuf" else np.where(y == y[0], 1, -1)
    answers: dict[str, Any] = {}
    times = alternate(
        {
            "ours": lambda: answers.__setitem__("ours", rosenblatt.separability(X, y, margin=False)),
            "HiGHS": lambda: answers.__setitem__("HiGHS", highs(X, y, HIGHS_SECONDS)),
            "LinearSVC": lambda: answers.__setitem__("LinearSVC", hard_svc_separates(X, y)),
        },
        1,
    )
    truth = bool(answers["ours"])
    said: dict[str, bool | None] = {"LinearSVC": answers["LinearSVC"]}
    said["HiGHS"] = None if math.isnan(answers["HiGHS"]) else answers["HiGHS"] > 1e-9
    ours = times["ours"][0]
    parts = [f"{'yes' if truth else 'no'} in {ours:.3g} s"]
    for side in ("HiGHS", "LinearSVC"):
        answer = said[side]
        words = "no answer" if answer is None else "yes" if answer else "no"
        wrong = "" if answer is None or answer == truth else " (WRONG)"
        parts.append(f"{side} {words}{wrong} {times[side][0] / ours:.3g}x ({times[side][0]:.3g} s)")
    return Figure(title, "; ".join(parts), "> 1 (HiGHS)", ours < times["HiGHS"][0])


def hard_svc_separates(X: Any, y: np.ndarray) -> bool:
    """Return whether LIBLINEAR's machine with hard margins has every row strictly on its side."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = LinearSVC(C=1e10, max_iter=1000, random_state=0).fit(_narrow_indices(X), y)
    return bool((y * machine.decision_function(_narrow_indices(X)) > 0).all())


def _narrow_indices(X: Any) -> Any:
    if not sp.issparse(X):
        return X
    return sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


# sets


def _counts(texts: list[str], labels: list[str]) -> Rows:
    return sp.csr_array(CountVectorizer(dtype=np.float64).fit_transform(texts)), np.array(labels)


def _lines(path: Path, encoding: str) -> list[str]:
    with gzip.open(path, "rt", encoding=encoding, errors="replace") as file:
        return file.read().rstrip("\n").split("\n")


def _sms(quick: bool) -> Iterator[Rows]:
    folder = real_data(SMS)
    assert folder is not None
    lines = _lines(folder / SMS, "utf-8")
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    yield _counts(list(texts), list(labels))


def _polarity(quick: bool) -> Iterator[Rows]:
    folder = real_data(POSITIVE, NEGATIVE)
    assert folder is not None
    texts: list[str] = []
    labels: list[str] = []
    for name in (POSITIVE, NEGATIVE):
        lines = _lines(folder / name, "latin-1")
        texts, labels = texts + lines, labels + [name] * len(lines)
    yield _counts(texts, labels)


def _groups(quick: bool) -> Iterator[Rows]:
    folder = real_data(GROUPS)
    assert folder is not None
    with lzma.open(folder / GROUPS, "rt", encoding="utf-8") as file:
        posts = [json.loads(line) for line in file]
    X, y = _counts([post["text"] for post in posts], [post["group"] for post in posts])
    for group in np.unique(y)[: 2 if quick else None]:
        yield X, np.where(y == group, 1, -1)


def _wide(quick: bool) -> Iterator[Rows]:
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random_array((20_000, 50_000), density=0.002, rng=rng, format="csr"))
    yield X, np.where(rng.random(20_000) < 0.5, 1, -1)


def _pair(a: int, b: int) -> Rows | None:
    found = mnist("train")
    if found is None:
        return None
    X, y = found
    rows = np.isin(y, (a, b))
    return X[rows].astype(np.float64), np.where(y[rows] == b, 1, -1)


def _pairs(quick: bool) -> Iterator[Rows]:
    for a, b in [(3, 5), (4, 9)] if quick else combinations(range(10), 2):
        rows = _pair(a, b)
        assert rows is not None
        yield rows


def _digits(quick: bool) -> Iterator[Rows]:
    found = mnist("train")
    assert found is not None
    X = found[0].astype(np.float64)
    for digit in (0, 8) if quick else range(10):
        yield X, np.where(found[1] == digit, 1, -1)


def _noise(rng: np.random.Generator, n: int, d: int) -> Rows:
    return rng.standard_normal((n, d)), np.where(rng.random(n) < 0.5, 1, -1)


def _dependent_noise(quick: bool) -> Iterator[Rows]:
    rng = np.random.default_rng(1)
    for d in (150, 300) if quick else (150, 300, 500, 1000):
        X, y = _noise(rng, 10 * d, d)
        yield X, y
        for change in (lambda X: 0.0, lambda X: 0.1, lambda X: X[:, 1], lambda X: X[:, 1] + X[:, 2]):
            other = X.copy()
            other[:, 0] = change(X)
            yield other, y
            spread = other.std(axis=0)
            yield (other - other.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0), y
        shares = np.abs(X) / np.abs(X).sum(axis=1)[:, None]
        yield shares, y
        yield (shares - shares.mean(axis=0)) / shares.std(axis=0), y


def _large_noise(quick: bool) -> Iterator[Rows]:
    yield _noise(np.random.default_rng(2), 4000 if quick else 20_000, 200 if quick else 1000)


def _random_text(quick: bool) -> Iterator[Rows]:
    """Sixty words a row, of which few are frequent, and labels that mean nothing."""
    rng, (n, d, words) = np.random.default_rng(0), (4000 if quick else 20_000, 400 if quick else 2000, 60)
    which = np.minimum((rng.pareto(1.0, n * words) * 5).astype(int), d - 1)
    X = sp.csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), which)), shape=(n, d))
    X.sum_duplicates()
    yield X, np.where(rng.random(n) < 0.5, 1, -1)


def _planted(quick: bool) -> Iterator[Rows]:
    for d in (10, 50) if quick else (10, 50, 300):
        for power in (1, 3, 5, 6, 7, 9):
            yield rosenblatt.data.make_separable(20 * d, d, 10.0**-power, random_state=power)


DIGITS = ("mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz")
CASES = (
    Case("SMS spam, 5,574 x 8,713", _sms, (SMS,), 1.0),
    Case("rt-polarity, 10,662 x 18,331", _polarity, (POSITIVE, NEGATIVE), 1.0),
    Case("20 Newsgroups, each against the rest, 11,314 x 130,107", _groups, (GROUPS,), 1.0),
    Case("20,000 x 50,000, 100 a row", _wide),
    Case("MNIST, pairs of digits", _pairs, DIGITS),
    Case("MNIST, one digit against the rest, 60,000 x 784", _digits, DIGITS),
    Case("noise, n = 10 d, dependent columns, standardised", _dependent_noise),
    Case("noise, 20,000 x 1,000", _large_noise),
    Case("text with labels at random, 20,000 x 2,000", _random_text),
    Case("planted margins 1e-1 to 1e-9", _planted),
)
