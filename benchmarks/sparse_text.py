"""Real text, hashed and counted: `fit` of one pass and of five, `predict` and `score`, against scikit-learn's.

The times are of whole calls, so validation of the rows is part of them. The texts are in ``ROSENBLATT_DATA``.
"""

from __future__ import annotations

import gzip
import json
import lzma
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import Perceptron as PeerPerceptron

import rosenblatt
from benchmarks.measure import Figure, alternate
from benchmarks.workloads import missing_data, real_data

ROUNDS = 10
NEWS, REVIEWS = "text/20news-bydate-train.jsonl.xz", ("text/rt-polarity.neg.gz", "text/rt-polarity.pos.gz")
BITS = 18


def hashed(texts: list[str]) -> sp.csr_matrix:
    """Return a row of unit norm for each text, with the words hashed to columns."""
    return HashingVectorizer(n_features=2**BITS, alternate_sign=False).transform(texts)


def counted(texts: list[str]) -> sp.csr_matrix:
    """Return the number of times that each word occurs in each text, as float64."""
    return CountVectorizer(dtype=np.float64).fit_transform(texts)


def posts() -> tuple[list[str], np.ndarray]:
    """Return newsgroup posts, and whether each is about computers."""
    folder = real_data(NEWS)
    assert folder is not None
    with lzma.open(folder / NEWS, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    np.random.default_rng(0).shuffle(records)
    return [record["text"] for record in records], np.array([record["group"].startswith("comp.") for record in records])


def lines() -> tuple[list[str], np.ndarray]:
    """Return the lines of all newsgroup posts with at least three words, and the class of their post."""
    found = [
        (line, about)
        for text, about in zip(*posts(), strict=True)
        for line in text.splitlines()
        if len(line.split()) >= 3
    ]
    return [line for line, _ in found], np.array([about for _, about in found])


def reviews() -> tuple[list[str], np.ndarray]:
    """Return sentences of film reviews, and whether each is positive."""
    folder = real_data(*REVIEWS)
    assert folder is not None
    texts: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(REVIEWS):
        with gzip.open(folder / name, "rt", encoding="latin-1") as file:
            read = file.read().splitlines()
        texts += read
        labels += [label] * len(read)
    order = np.random.default_rng(0).permutation(len(texts))
    return [texts[i] for i in order], np.array(labels)[order]


SETS: dict[str, tuple[Callable[[], tuple[list[str], np.ndarray]], Callable[[list[str]], sp.csr_matrix]]] = {
    "posts, counted": (posts, counted),
    "posts, hashed": (posts, hashed),
    "lines of posts, counted": (lines, counted),
    "lines of posts, hashed": (lines, hashed),
    "reviews, counted": (reviews, counted),
    "reviews, hashed": (reviews, hashed),
}


def calls_on_text(quick: bool) -> list[Figure]:
    """Return scikit-learn's time over ours for each set and each call."""
    if real_data(NEWS, *REVIEWS) is None:
        return [Figure("text, hashed and counted", missing_data("newsgroup posts and film reviews"))]
    found = []
    for name, (read, convert) in SETS.items():
        texts, y = read()
        X = convert(texts[:1000] if quick else texts)
        y = y[: X.shape[0]]
        shape = f"{name}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz / X.shape[0]:.0f} a row"
        for call, (ours, theirs) in calls(X, y).items():
            times = alternate({"ours": ours, "theirs": theirs}, ROUNDS)
            ratio = min(times["theirs"]) / min(times["ours"])
            milliseconds = " / ".join(f"{1000 * min(times[side]):.2f}" for side in ("theirs", "ours"))
            found.append(Figure(f"{shape}, {call}", f"{ratio:.2f} ({milliseconds} ms)", ">= 1", ratio >= 1))
    return found


def calls(X: sp.csr_matrix, y: np.ndarray) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Return pairs of calls to compare, ours first; all have been made once, so that they are compiled."""
    found: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for passes in (1, 5):
            for shuffle, order in ((False, "in order"), (True, "shuffled")):
                common = {"max_iter": passes, "shuffle": shuffle, "random_state": 0}
                ours = rosenblatt.Perceptron(**common).fit(X, y)
                theirs = PeerPerceptron(tol=None, **common).fit(X, y)
                found[f"fit of {passes}, {order}"] = _quietly(ours, X, y), _quietly(theirs, X, y)
    found["predict"] = partial(ours.predict, X), partial(theirs.predict, X)
    found["score"] = partial(ours.score, X, y), partial(theirs.score, X, y)
    for mine, peers in (found["predict"], found["score"]):
        mine(), peers()
    return found


def _quietly(model: Any, X: sp.csr_matrix, y: np.ndarray) -> Callable[[], Any]:
    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)

    return fit
