"""One pass over a file of text by AROW, against vw's: whole programs, their times and what they get right.

The target counts only where our accuracy is at least vw's. The averaged perceptron runs beside, for comparison.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from gzip import open as open_gzip
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import comparison as comparison_sets
from benchmarks import programs
from benchmarks import programs as streams
from benchmarks.measure import Figure
from benchmarks.workloads import MNIST, libsvm, missing_data, mnist, real_data

SEEDS = (1, 3, 4)
"""Of the rows to learn from; those to test on have 2."""
LEARNERS = ("arow", "averaged")


@dataclass(frozen=True)
class Course:
    """Rows to race on, and the most of vw's time that AROW may take."""

    name: str
    rows: int
    limit: float
    made: Callable[[int, int], streams.Pieces] = streams.pieces

    def files(self, folder: Path, seed: int) -> tuple[Path, Path]:
        """Return the file to learn from and the one to test on; write those that are missing."""
        kind = "zipf-" if self.made is streams.zipf_pieces else ""
        among = f"-{seed}" if seed != SEEDS[0] or kind else ""  # without it the file that ``programs`` writes, too
        text, test = folder / f"{kind}{self.rows}-rows{among}.vw", folder / f"{kind}test.vw"
        streams.write(text, self.rows, seed, self.made)
        streams.write(test, programs.TESTED, 2, self.made)
        return text, test


def courses(quick: bool) -> list[Course]:
    """Return the races, with a twentieth of the rows if ``quick``."""
    size = 20 if quick else 1
    return [
        Course("50 numbers a row", 4_000_000 // size, 0.35),
        Course("a quarter of it", 1_000_000 // size, 0.6),
        Course("Zipf's law", 2_000_000 // size, 0.6, streams.zipf_pieces),
    ]


def races(quick: bool) -> list[Figure]:
    """Return the time of our one pass over vw's, on three seeds of each course; if ``quick``, on one."""
    if not programs.has_vw():
        return [Figure("one pass from text against vw", programs.WITHOUT_VW)]
    seeds = SEEDS[:1] if quick else SEEDS
    with programs.stream_folder() as folder:
        return [figure for course in courses(quick) for seed in seeds for figure in race(course, folder, seed)]


def race(course: Course, folder: Path, seed: int) -> list[Figure]:
    """Run vw and our learners in turn."""
    text, test = course.files(folder, seed)
    theirs, ours = folder / "vw.model", {learner: folder / f"{learner}.model" for learner in LEARNERS}
    calls = [partial(programs.train_vw, text, theirs)]
    calls += [partial(programs.train, text, model, learner, 1) for learner, model in ours.items()]
    peer, *times = programs.in_turn(*calls)
    wanted = programs.vw_accuracy(theirs, test, "--binary")
    found = []
    for (learner, model), taken in zip(ours.items(), times, strict=True):
        reached = programs.accuracy(model, test)
        limit = course.limit if learner == LEARNERS[0] else None
        name = f"{learner} / vw, one pass over {text.stat().st_size / 1e9:.2f} GB, {course.name}, seed {seed}"
        found.append(verdict(name, (taken.seconds, reached), (peer.seconds, wanted), limit))
    return found


def verdict(name: str, ours: tuple[float, float], theirs: tuple[float, float], limit: float | None) -> Figure:
    """Return the ratio of two programs' seconds beside their accuracies; it is met only if ours is no worse."""
    ratio = ours[0] / theirs[0]
    words = f"{ratio:.2f}: ours {ours[0]:.2f} s to {ours[1]:.2%}, vw {theirs[0]:.2f} s to {theirs[1]:.2%}"
    if limit is None:
        return Figure(name, words)
    return Figure(name, words, f"<= {limit:g}, at least vw's accuracy", ratio <= limit and ours[1] >= theirs[1])


# One pass over real sets: the accuracy of AROW beside vw's, as whole programs on the same files of vw's text.
#
# Both set each class against the rest, and AROW has the ``r`` that cross-validation chose for one pass
# (docs/defaults.md). Sets were not chosen by who wins them. Where a set has a test part its rows keep their order,
# unless that goes by class; other sets are split three times, and the mean counts.


SPLITS = 3
TEST_SHARE = 0.3
NEWS = tuple(f"text/20news-bydate-{part}.jsonl.xz" for part in ("train", "test"))
RCV1 = ("vw/rcv1_small.dat.gz", "vw/rcv1_small_test.data.gz")
VW_PLACES = 1 << 18
"""Where vw keeps the weights of all classes by default; a set that needs more is shown with ``MORE`` as well."""
MORE = ("-b", "24")
OPTIONS = ("--r", 3, "--multi-class", "ovr")
SHARE = 0.8
"""The share of sets that has to be ours."""

Lines = tuple[list[str], np.ndarray]
"""The features of each row as vw's text, and the classes of the rows."""


@dataclass(frozen=True)
class TextSet:
    """Rows as text. ``load`` returns all rows, to be split, or those to learn from and those to test on."""

    name: str
    load: Callable[[], tuple[Lines, ...]]
    files: tuple[str, ...] = ()
    by_class: bool = False
    """Whether the rows to learn from come class by class, so that they have to be shuffled."""

    def parts(self) -> Iterator[tuple[Lines, Lines]]:
        """Yield rows to learn from and rows to test on, for each split."""
        loaded = self.load()
        if len(loaded) == 2:
            order = np.random.default_rng(0).permutation(len(loaded[0][1])) if self.by_class else slice(None)
            yield _some(loaded[0], order), loaded[1]
            return
        for seed in range(SPLITS):
            order = np.random.default_rng(seed).permutation(len(loaded[0][1]))
            tested = int(TEST_SHARE * len(order))
            yield _some(loaded[0], order[tested:]), _some(loaded[0], order[:tested])


def _some(lines: Lines, order: Any) -> Lines:
    texts, labels = lines
    return np.array(texts, dtype=object)[order].tolist(), labels[order]


def number_lines(X: Any, y: np.ndarray) -> Lines:
    """Return rows of numbers as text: the columns from 1 on and their values, zeros left out."""
    X = sp.csr_matrix(X)
    texts = []
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        pairs = zip(X.indices[start:end], X.data[start:end], strict=True)
        texts.append(" ".join(f"{column + 1}:{value:.9g}" for column, value in pairs if value))
    return texts, y


def word_lines(texts: Iterable[str], y: Iterable[Any]) -> Lines:
    """Return how often each word is in each text."""
    counts = (Counter(re.findall(r"\w+", text.lower())) for text in texts)
    return [" ".join(f"{word}:{count}" for word, count in found.items()) for found in counts], np.array(list(y))


def write(path: Path, lines: Lines, classes: np.ndarray) -> None:
    """Write vw's text: labels are -1 and 1, or count from 1 where there are more than two classes."""
    texts, labels = lines
    places = np.searchsorted(classes, labels)
    numbers = 2 * places - 1 if len(classes) == 2 else 1 + places
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{number} | {text}\n" for number, text in zip(numbers, texts, strict=True))


def _libsvm(*names: str, columns: int) -> tuple[Lines, ...]:
    found = [libsvm(name, columns) for name in names]
    return tuple(number_lines(*rows) for rows in found if rows is not None)


def _compared(name: str, make: Callable[..., Lines]) -> tuple[Lines, ...]:
    """Return a set of the comparison with other classifiers, as text."""
    sets = {data.name: data for data in (*comparison_sets.SHIPPED, *comparison_sets.REAL)}
    return (make(*sets[name].load()),)


def _mnist() -> tuple[Lines, ...]:
    return tuple(number_lines(*found) for found in map(mnist, ("train", "t10k")) if found is not None)


def _folder() -> Path:
    folder = real_data()
    assert folder is not None
    return folder


def news_texts() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the texts of the 20 newsgroups and their groups, for training and for testing."""
    for name in NEWS:
        with lzma.open(_folder() / name, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        yield [row["text"] for row in rows], [row["group"] for row in rows]


def _news() -> tuple[Lines, ...]:
    return tuple(word_lines(texts, groups) for texts, groups in news_texts())


def _rcv1() -> tuple[Lines, ...]:
    parts = []
    for name in RCV1:
        with open_gzip(_folder() / name, "rt", encoding="utf-8") as file:
            rows = [line.split("|f ", 1) for line in file]
        parts.append(([features.strip() for _, features in rows], np.array([int(label) for label, _ in rows])))
    return tuple(parts)


def _libsvm_set(name: str, columns: int, *parts: str) -> TextSet:
    names = parts or (name,)
    files = tuple(f"libsvm/{part}.bz2" for part in names)
    return TextSet(name, partial(_libsvm, *names, columns=columns), files)


SETS = (
    _libsvm_set("a9a", 123, "a9a", "a9a.t"),
    _libsvm_set("w8a", 300),
    _libsvm_set("mushrooms", 112),
    TextSet("rcv1, 1,000 rows", _rcv1, RCV1),
    _libsvm_set("splice", 60),
    _libsvm_set("news20", 62_061),
    _libsvm_set("sector", 55_197, "sector.scale", "sector.t.scale"),
    TextSet("20 newsgroups", _news, NEWS, by_class=True),
    TextSet("SMS spam", partial(_compared, "SMS spam", word_lines), (comparison_sets.SMS,)),
    TextSet(
        "film reviews",
        partial(_compared, "film reviews", word_lines),
        (comparison_sets.POSITIVE, comparison_sets.NEGATIVE),
    ),
    TextSet("digits", partial(_compared, "digits", number_lines)),
    TextSet("breast cancer", partial(_compared, "breast cancer", number_lines)),
    TextSet("MNIST", _mnist, MNIST),
)


def accuracies(quick: bool) -> list[Figure]:
    """Return the accuracies of each set that is here, and on how many of them ours is at least vw's."""
    title = "one pass, sets with at least vw's accuracy"
    if not programs.has_vw():
        return [Figure(title, programs.WITHOUT_VW)]
    sets = [data for data in SETS if data.name in ("digits", "breast cancer")] if quick else SETS
    found, missing = [], []
    with programs.stream_folder() as folder:
        for data in sets:
            if data.files and real_data(*data.files) is None:
                missing += data.files
            else:
                found.append(figure(data.name, *compare(data, folder)))
    return [*found, summary(title, found, missing)]


def compare(data: TextSet, folder: Path) -> tuple[float, float, float | None]:
    """Return the accuracies of ours, of vw, and where its weights have too little room, of vw with more of it."""
    text, test, ours, theirs = (folder / name for name in ("set.vw", "set-test.vw", "set.model", "set-vw.model"))
    scores = []
    for learned, tested in data.parts():
        classes = np.unique(np.concatenate([learned[1], tested[1]]))
        write(text, learned, classes)
        write(test, tested, classes)
        programs.train(text, ours, "arow", 1, *OPTIONS)
        several = ("--oaa", len(classes)) if len(classes) > 2 else ()
        answers = () if several else ("--binary",)
        score = [programs.accuracy(ours, test)]
        for options in ((), MORE) if crowded(learned[0], len(classes)) else ((),):
            programs.train_vw(text, theirs, *several, *options)
            score.append(programs.vw_accuracy(theirs, test, *answers))
        scores.append(score)
    mine, peer, *more = (float(np.mean(part)) for part in zip(*scores, strict=True))
    return mine, peer, more[0] if more else None


def crowded(texts: list[str], classes: int) -> bool:
    """Return whether the weights of all classes outnumber vw's places."""
    names = {pair.rpartition(":")[0] for text in texts for pair in text.split()}
    return len(names) * (classes if classes > 2 else 1) > VW_PLACES


def figure(name: str, ours: float, theirs: float, more: float | None) -> Figure:
    """Return the accuracies of one set in words."""
    words = f"{ours:.2%}, vw {theirs:.2%}" + (f"; vw with {' '.join(MORE)} {more:.2%}" if more is not None else "")
    return Figure(f"one pass, {name}: accuracy", words, ">= vw", ours >= theirs)


def summary(title: str, found: list[Figure], missing: list[str]) -> Figure:
    """Return how many sets are ours."""
    if not found:
        return Figure(title, missing_data(", ".join(missing)))
    ours = sum(figure.met is True for figure in found)
    words = f"{ours} of {len(found)}" + (f"; {missing_data(', '.join(missing))}" if missing else "")
    return Figure(title, words, "8 of 10", ours >= SHARE * len(found))
