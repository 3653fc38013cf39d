"""Texts: rows of words against HashingVectorizer, and whole programs against fastText, vw and scikit-learn.

Times are processor seconds, which other programs on the machine disturb less, but for those of two threads. The sides
take turns, and the best of each counts. The sets lie in the folder ``text`` of ``ROSENBLATT_DATA``.
``ROSENBLATT_PEERS`` names a Python that has ``fasttext-wheel``, ``vowpalwabbit`` and ``numpy<2``, which fastText needs.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score

from benchmarks.measure import Figure, bytecode
from benchmarks.programs import COMMAND, ROUNDS, Run, run, shown
from benchmarks.workloads import ROOT, real_data
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, TextHasher

KINDS: dict[str, tuple[dict[str, Any], float]] = {
    "words": ({"n_features": 2**18}, 6.0),
    "words and pairs": ({"n_features": 2**20, "ngram_range": (1, 2)}, 6.0),
    "characters, 3 to 5": ({"n_features": 2**18, "ngram_range": (3, 5), "analyzer": "char_wb"}, 4.0),
}
"""What is counted, with the goal: how many times as fast as HashingVectorizer on one core."""
_FASTTEXT = """
import sys, fasttext
fasttext.train_supervised(sys.argv[1], wordNgrams=2, lr=0.5, epoch=5, thread=1, verbose=0).save_model(sys.argv[2])
"""
_FASTTEXT_TEST = """
import sys, fasttext
print("accuracy", fasttext.load_model(sys.argv[1]).test(sys.argv[2])[1])
"""
_SKLEARN = """
import sys
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
def load(path):
    with open(path, encoding="utf-8") as file:
        pairs = [line.partition(" ")[::2] for line in file]
    X = HashingVectorizer(n_features=2**20, ngram_range=(1, 2)).transform([text for _, text in pairs])
    return X, [label for label, _ in pairs]
model = SGDClassifier(random_state=0).fit(*load(sys.argv[1]))
if len(sys.argv) > 2:
    print("accuracy", model.score(*load(sys.argv[2])))
"""
Labelled = list[tuple[str, str]]


class TextSet(NamedTuple):
    """Texts with their labels, to train on and to test on."""

    name: str
    train: Labelled
    test: Labelled


def made_texts(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield texts of words by Zipf's law, whose label depends on their words; about 700 bytes each."""
    source = np.random.default_rng(seed)
    words = np.array([f"w{k:x}" for k in range(50_000)])
    share = 1.0 / np.arange(2, 50_002)
    share /= share.sum()
    weight = np.random.default_rng(0).standard_normal(len(words))
    for _ in range(0, n, 1000):
        chosen = source.choice(len(words), (1000, 160), p=share)
        scores = weight[chosen].sum(axis=1) + 3.0 * source.standard_normal(1000)
        for row, score in zip(words[chosen].tolist(), scores.tolist(), strict=True):
            yield ("a" if score > 0 else "b"), " ".join(row)


def newsgroups() -> TextSet | None:
    """Return 20 Newsgroups as its makers split it, or None without its files."""
    names = [f"text/20news-bydate-{part}.jsonl.xz" for part in ("train", "test")]
    if (folder := real_data(*names)) is None:
        return None
    parts = []
    for name in names:
        with lzma.open(folder / name, "rt", encoding="utf-8") as file:
            parts.append([(row["group"], row["text"]) for row in map(json.loads, file)])
    return TextSet("20 Newsgroups", *(shuffled(part) for part in parts))


def reviews() -> TextSet | None:
    """Return sentences of film reviews, a fifth of them to test on, or None without their files."""
    names = [f"text/rt-polarity.{part}.gz" for part in ("neg", "pos")]
    if (folder := real_data(*names)) is None:
        return None
    rows = []
    for name, label in zip(names, ("bad", "good"), strict=True):
        with gzip.open(folder / name, "rt", encoding="latin-1") as file:
            rows += [(label, line.rstrip("\n")) for line in file]
    return halves("film reviews", rows)


def messages() -> TextSet | None:
    """Return SMS, spam and ham, a fifth of them to test on, or None without their file."""
    name = "text/SMSSpamCollection.gz"
    if (folder := real_data(name)) is None:
        return None
    with gzip.open(folder / name, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").partition("\t")[::2] for line in file]
    return halves("SMS", rows)


def made(n: int) -> TextSet:
    """Return made texts, ``n`` to train on and 10,000 to test on."""
    texts = list(made_texts(n + 10_000, seed=1))
    return TextSet(f"{n} made texts", texts[:n], texts[n:])


def shuffled(rows: Labelled) -> Labelled:
    """Return the rows in a random order, the same in each run."""
    rows = list(rows)
    random.Random(0).shuffle(rows)
    return rows


def halves(name: str, rows: Labelled) -> TextSet:
    """Return a set with a fifth of the rows to test on."""
    rows = shuffled(rows)
    cut = len(rows) * 4 // 5
    return TextSet(name, rows[:cut], rows[cut:])


# The defaults of ``rosenblatt train`` for lines of text


CHOICES: dict[str, tuple[Any, int, int]] = {
    "averaged, 10 passes, words": (AveragedPerceptron(max_iter=10, multi_class="direct", random_state=0), 1, 18),
    "averaged, 10 passes, pairs": (AveragedPerceptron(max_iter=10, multi_class="direct", random_state=0), 2, 18),
    "pa, 10 passes, pairs": (PassiveAggressive(max_iter=10, random_state=0), 2, 18),
    **{
        f"arow, {passes} pass(es), r={r}, pairs": (AROW(r=r, max_iter=passes, random_state=0), 2, 18)
        for passes in (1, 3)
        for r in (10, 1, 0.3)
    },
    "arow, 3 passes, r=1, words": (AROW(r=1, max_iter=3, random_state=0), 1, 18),
    "arow, 5 passes, r=1, pairs": (AROW(r=1, max_iter=5, random_state=0), 2, 18),
    "arow, 3 passes, r=1, pairs, 2^20 columns": (AROW(r=1, max_iter=3, random_state=0), 2, 20),
}
"""Learners, the words of the longest n-gram, and the bits of the columns; the table is in docs/from_fasttext.md."""


def defaults(quick: bool) -> list[Figure]:
    """Return the accuracy of each choice in cross-validation on each set."""
    sets = [data for make in (newsgroups, reviews, messages) if (data := make()) is not None]
    found = []
    for data in sets[-1:] if quick else sets:
        several = len({label for label, _ in data.train}) > 2
        rows = data.train if several else data.train + data.test
        labels, texts = np.array([label for label, _ in rows]), [text for _, text in rows]
        folds = StratifiedKFold(3 if several else 5, shuffle=True, random_state=0)
        for name, (model, ngrams, bits) in CHOICES.items():
            X = TextHasher(2**bits, ngram_range=(1, ngrams)).transform(texts)
            accuracy = cross_val_score(model, X, labels, cv=folds).mean()
            found.append(Figure(f"{data.name}: {name}", f"{accuracy:.1%}"))
    return found


# Rows


def rows(quick: bool) -> list[Figure]:
    """Return how fast rows are made of texts, against HashingVectorizer, on one core and with two threads."""
    news = newsgroups()
    texts = [text for _, text in (news.train if news and not quick else made_texts(2000, seed=0))]
    size = sum(len(text.encode()) for text in texts) / 1e6
    found = []
    for name, (options, goal) in KINDS.items():
        peer = HashingVectorizer(alternate_sign=False, **options)
        sides: dict[str, tuple[Callable[[], Any], Callable[[], float]]] = {
            "peer": (partial(peer.transform, texts), process_time),
            "ours": (partial(TextHasher(**options).transform, texts), process_time),
            "threads": (partial(TextHasher(**options, n_jobs=2).transform, texts), perf_counter),
        }
        best = dict.fromkeys(sides, float("inf"))
        for _ in range(1 if quick else ROUNDS):
            for side, (call, clock) in sides.items():
                begin = clock()
                call()
                best[side] = min(best[side], clock() - begin)
        ratio = best["peer"] / best["ours"]
        speeds = {side: size / taken for side, taken in best.items()}
        measured = (
            f"{ratio:.1f} ({speeds['ours']:.0f} MB/s, two threads {speeds['threads']:.0f}; theirs {speeds['peer']:.1f})"
        )
        found.append(Figure(f"rows of {name} / HashingVectorizer", measured, f"> {goal:g}", ratio > goal))
    return found


# Whole programs


class Files:
    """A set as files for each program; all but ours get lower case without punctuation."""

    def __init__(self, folder: Path, data: TextSet) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.name = folder, data.name
        labels = sorted({label for label, _ in data.train})
        self.classes = len(labels)
        numbers = {label: k + 1 for k, label in enumerate(labels)}
        if self.classes == 2:
            numbers = dict(zip(labels, (-1, 1), strict=True))
        for part, some in (("train", data.train), ("test", data.test)):
            opened = {kind: (folder / f"{part}.{kind}").open("w", encoding="utf-8") for kind in ("txt", "plain", "vw")}
            for label, text in some:
                words = " ".join(re.findall(r"\w\w+", text.lower()))
                opened["txt"].write(f"__label__{label} {' '.join(text.split())}\n")
                opened["plain"].write(f"__label__{label} {words}\n")
                opened["vw"].write(f"{numbers[label]} | {words}\n")
            for file in opened.values():
                file.close()
        self.size = (folder / "train.txt").stat().st_size / 1e6

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    @property
    def vw_options(self) -> list[object]:
        """The options of vw for two classes or for more."""
        return ["--loss_function", "hinge", *([] if self.classes == 2 else ["--oaa", self.classes])]


def ours(files: Files) -> Run:
    return run(COMMAND, "train", files / "train.txt", "-o", files / "ours")


def our_accuracy(files: Files) -> float:
    return float(json.loads(shown(COMMAND, "test", files / "ours", files / "test.txt", "--json"))["accuracy"])


def fasttext(python: str, files: Files) -> Run:
    return run(python, "-c", _FASTTEXT, files / "train.plain", files / "fasttext")


def fasttext_accuracy(python: str, files: Files) -> float:
    return last_number(shown(python, "-c", _FASTTEXT_TEST, files / "fasttext", files / "test.plain"))


def vw(python: str, files: Files) -> Run:
    options = [*files.vw_options, "--ngram", 2, "-b", 20]
    return run(python, "-m", "vowpalwabbit", "-d", files / "train.vw", *options, "-f", files / "vw")


def vw_accuracy(python: str, files: Files) -> float:
    binary = ["--binary"] if files.classes == 2 else []
    lines = shown(python, "-m", "vowpalwabbit", "-t", "-i", files / "vw", "-d", files / "test.vw", *binary).splitlines()
    return 1.0 - float(next(line for line in lines if line.startswith("average loss")).split("=")[1])


def sklearn(python: str, files: Files) -> Run:
    return run(python, "-c", _SKLEARN, files / "train.txt")


def sklearn_accuracy(python: str, files: Files) -> float:
    return last_number(shown(python, "-c", _SKLEARN, files / "train.txt", files / "test.txt"))


def last_number(text: str) -> float:
    """Return the number after the word "accuracy"."""
    return float(text.rpartition("accuracy")[2].split()[0])


def programs(quick: bool) -> list[Figure]:
    """Return the processor seconds of whole programs, from a file of texts to a model, and their test accuracy."""
    peers = os.environ.get("ROSENBLATT_PEERS")
    sides: dict[str, tuple[Callable[[Files], Run], Callable[[Files], float]]] = {
        "ours": (ours, our_accuracy),
        "scikit-learn": (partial(sklearn, sys.executable), partial(sklearn_accuracy, sys.executable)),
    }
    if peers:
        sides["fastText"] = partial(fasttext, peers), partial(fasttext_accuracy, peers)
        sides["vw"] = partial(vw, peers), partial(vw_accuracy, peers)
    makers = [newsgroups, reviews, messages, partial(made, 43_000), partial(made, 700_000)]
    found = []
    with bytecode() as environment, patch.dict(os.environ, environment):
        for make in makers[2:3] if quick else makers:
            if (data := make()) is not None:
                files = Files(ROOT / "out" / "texts" / data.name.replace(" ", "-"), data)
                del data
                found.append(_compared(files, sides))
    return found


def _compared(files: Files, sides: dict[str, tuple[Callable[[Files], Run], Callable[[Files], float]]]) -> Figure:
    """Return the figure of a set of files: the processor seconds and the accuracy of each side."""
    large = files.size > 100
    if large:  # scikit-learn would keep gigabytes of rows in memory
        sides = {side: calls for side, calls in sides.items() if side != "scikit-learn"}
    best: dict[str, Run] = {}
    for _ in range(1 if large else ROUNDS):
        for side, (train, _) in sides.items():
            one = train(files)
            best[side] = min(one, best.get(side, one), key=lambda ran: ran.cpu)
    accuracies = {side: test(files) for side, (_, test) in sides.items()}
    shown = "; ".join(f"{side} {best[side].cpu:.1f} s, {accuracies[side]:.1%}" for side in sides)
    figure = f"{files.name}, {files.size:.1f} MB"
    if "vw" not in sides:
        return Figure(figure, f"{shown}; ROSENBLATT_PEERS names no Python with fastText and vw")
    level = accuracies["ours"] >= max(accuracies["fastText"], accuracies["vw"]) - 0.002
    met = level and best["ours"].cpu <= best["fastText"].cpu / 5 and best["ours"].cpu <= best["vw"].cpu
    return Figure(figure, shown, "a fifth of fastText's time, vw's time, accuracy level", met)
