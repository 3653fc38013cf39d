"""Whole programs on large files: start, imports, parsing, learning, the model written. Ours against vw.

The time that counts is that until the test accuracy is vw's or better. Programs take turns, so that a busy spell of the
machine falls on all of them, and the best time of each counts.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Figure, bytecode, seconds
from benchmarks.workloads import NOISE, ROOT

ROUNDS = 3
COMMAND = Path(sys.executable).with_name("rosenblatt")
VW = (sys.executable, "-m", "vowpalwabbit")
WITHOUT_VW = "not measured: pip install 'rosenblatt[bench]' for vw"
TESTED = 1_000_000
"""Rows to test on, so many that chance moves an accuracy by 0.02 % only."""
FURTHER = 5
"""Passes from a cache, after the first, whose time is divided by their number."""
_LAUNCH = """
import json, os, sys, time
null = os.open(os.devnull, os.O_RDWR)
quiet = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
begin = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(child, 0)
cpu = usage.ru_utime + usage.ru_stime
print(json.dumps([time.perf_counter() - begin, usage.ru_maxrss / 1024, cpu, os.waitstatus_to_exitcode(status)]))
"""
"""A small process to start others from: the peak of their memory is at least that of who starts them."""
_SKLEARN = """
import sys
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
def load(file):
    X, y = load_svmlight_file(file, n_features=int(sys.argv[1]))
    X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")  # 64 bits, which Perceptron refuses
    return X, y
model = Perceptron(max_iter=1, tol=None, shuffle=False).fit(*load(sys.argv[2]))
if len(sys.argv) > 3:
    print(model.score(*load(sys.argv[3])))
"""


@dataclass(frozen=True)
class Run:
    """One program from its start to its end."""

    seconds: float
    megabytes: float
    """The peak of its memory."""
    cpu: float
    """Its processor seconds, of all threads."""


def run(*command: object) -> Run:
    """Run a program and wait for its end."""
    words = [sys.executable, "-S", "-c", _LAUNCH, *map(str, command)]
    taken, megabytes, cpu, status = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    if status:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with status {status}")
    return Run(taken, megabytes, cpu)


def shown(*command: object) -> str:
    """Run a program and return all that it prints."""
    ended = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
    return ended.stdout + ended.stderr


def in_turn(*programs: Callable[[], Run]) -> list[Run]:
    """Run the programs in turn, ``ROUNDS`` times over, and return the best run of each."""
    rounds = [[program() for program in programs] for _ in range(ROUNDS)]
    return [min(runs, key=lambda one: one.seconds) for runs in zip(*rounds, strict=True)]


def train(file: Path, model: Path, learner: str, passes: int, *options: object) -> Run:
    """Train one of our learners, rows in their order."""
    how = ["--learner", learner, "--no-shuffle", "--passes", passes, "-o", model]
    return run(COMMAND, "train", file, *how, *(["--target", "label"] if file.suffix == ".parquet" else []), *options)


def accuracy(model: Path, file: Path) -> float:
    """Test a model of ours."""
    return float(json.loads(shown(COMMAND, "test", model, file, "--json"))["accuracy"])


def train_vw(file: Path, model: Path, *options: object) -> Run:
    """Train vw with the hinge loss and its defaults."""
    return run(*VW, "-d", file, "--loss_function", "hinge", "-f", model, *options)


def vw_accuracy(model: Path, file: Path, *options: object) -> float:
    """Test a model of vw's; for two classes it has to be told that its answers are ``--binary``."""
    lines = shown(*VW, "-t", "-i", model, "-d", file, *options).splitlines()
    return 1.0 - float(next(line for line in lines if line.startswith("average loss")).split("=")[1])


class Programs:
    """The two programs, and the files that they learn from."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.folder, self.rows = folder, rows
        self.text, self.parquet = folder / f"{rows}-rows.vw", folder / f"{rows}-rows.parquet"
        self.quarter, self.svmlight = folder / f"{rows // 4}-rows.vw", folder / f"{rows // 4}-rows.svm"
        for file in (self.text, self.parquet, self.quarter, self.svmlight):
            write(file, rows if file.stem == self.text.stem else rows // 4, seed=1)
            write(self._test(file), TESTED, seed=2)

    def _test(self, file: Path) -> Path:
        return self.folder / f"test{file.suffix}"

    def ours(self, file: Path, passes: int, *options: object) -> Run:
        """Train the averaged perceptron."""
        return train(file, self.folder / "ours.model", "averaged", passes, *options)

    def our_accuracy(self, file: Path) -> float:
        """Test what was trained last on the test file of the same kind."""
        return accuracy(self.folder / "ours.model", self._test(file))

    def vw(self, file: Path, *options: object) -> Run:
        """Train vw."""
        return train_vw(file, self.folder / "vw.model", *options)

    def vw_accuracy(self) -> float:
        """Test what vw trained last."""
        return vw_accuracy(self.folder / "vw.model", self._test(self.text), "--binary")

    def passes_to(self, accuracy: float, file: Path) -> list[float]:
        """Return the accuracies after one pass, after two and so on, until they reach another; at most four."""
        reached: list[float] = []
        while len(reached) < 4 and max(reached, default=0.0) < accuracy:
            self.ours(file, len(reached) + 1)
            reached.append(self.our_accuracy(file))
        return reached


def has_vw() -> bool:
    """Return whether vw is installed."""
    return importlib.util.find_spec("vowpalwabbit") is not None


@contextmanager
def stream_folder() -> Iterator[Path]:
    """Yield the folder of the files, while programs that are started keep their bytecode."""
    folder = ROOT / "out" / "streams"
    folder.mkdir(parents=True, exist_ok=True)
    with bytecode() as environment:
        before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        try:
            yield folder
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def programs(quick: bool) -> list[Figure]:
    """Return whole programs against vw on text, on Parquet and from a cache, and against scikit-learn's loader."""
    if not has_vw():
        return [Figure("whole programs against vw", WITHOUT_VW)]
    with stream_folder() as folder:
        both = Programs(folder, 200_000 if quick else 4_000_000)
        return [*_text(both), *_cache(both), *_loader(both)]


def _text(both: Programs) -> list[Figure]:
    found = []
    for file, target in ((both.text, 3.0), (both.quarter, 1.5)):
        both.vw(file)
        theirs = both.vw_accuracy()
        sides = [file, both.parquet] if file == both.text else [file]
        reached = {side: both.passes_to(theirs, side) for side in sides}
        wanted = [(side, passes) for side in sides for passes in sorted({1, len(reached[side])})]
        peer, *times = in_turn(partial(both.vw, file), *(partial(both.ours, *what) for what in wanted))
        floor = seconds(lambda file=file: _bare_read(file))
        for (side, passes), ours in zip(wanted, times, strict=True):
            ratio, accuracy = peer.seconds / ours.seconds, reached[side][passes - 1]
            words = (
                f"{ratio:.2f}x: vw {peer.seconds:.2f} s to {theirs:.2%}, ours {ours.seconds:.2f} s to {accuracy:.2%}; "
                f"bare read of the text {floor:.2f} s"
            )
            kind = "text" if side == file else "Parquet of the same rows"
            name = f"vw on {file.stat().st_size / 1e9:.2f} GB of text / ours from {kind}, {passes} pass"
            counts = accuracy >= theirs
            met = ratio >= target if counts else None
            found.append(Figure(name + "es" * (passes > 1), words, f">= {target:g}x" if counts else "", met))
            limit = 500 if side == file else 800
            memory = f"{ours.megabytes:.0f} MB (vw {peer.megabytes:.0f} MB)"
            found.append(Figure(f"peak of memory, {side.name}", memory, f"< {limit} MB", ours.megabytes < limit))
    return found


def _cache(both: Programs) -> list[Figure]:
    """Return the time of a further pass from a cache: of one and of six passes, the difference divided by five."""
    caches = both.folder / "vw.cache", both.folder / "ours.arrow"
    for cache in caches:
        cache.unlink(missing_ok=True)
    file, last = both.quarter, 1 + FURTHER
    calls = [
        lambda passes=passes: both.vw(file, "--cache_file", caches[0], "--passes", passes, "--holdout_off")
        for passes in (1, last)
    ]
    calls += [lambda passes=passes: both.ours(file, passes, "--cache", caches[1]) for passes in (1, last)]
    calls[0](), calls[2]()  # they write the caches
    once, often, ours_once, ours_often = in_turn(*calls)
    theirs = (often.seconds - once.seconds) / FURTHER
    ours = (ours_often.seconds - ours_once.seconds) / FURTHER
    both.vw(file, "--cache_file", caches[0], "--passes", last, "--holdout_off")
    accuracies = f"to {both.vw_accuracy():.2%} and {both.our_accuracy(file):.2%} in {last} passes"
    floor = seconds(lambda: _bare_read(caches[1]))
    words = (
        f"{theirs / ours:.2f}x: vw {theirs:.2f} s, ours {ours:.2f} s a pass, {accuracies}; "
        f"bare read of our cache {floor:.2f} s"
    )
    name = f"vw's further pass / ours, both from a cache of {file.stat().st_size / 1e9:.2f} GB of text"
    memory = Figure("peak of memory, from our cache", f"{ours_often.megabytes:.0f} MB", "< 500 MB")
    return [Figure(name, words, ">= 5x", theirs >= 5 * ours), memory]


def _loader(both: Programs) -> list[Figure]:
    """Return one pass by scikit-learn's loader and perceptron over ours."""
    columns = 1 + COLUMNS
    peer = run(sys.executable, "-c", _SKLEARN, columns, both.svmlight)
    both.ours(both.svmlight, 1)
    (ours,) = in_turn(lambda: both.ours(both.svmlight, 1))
    accuracy = float(shown(sys.executable, "-c", _SKLEARN, columns, both.svmlight, both.folder / "test.svm"))
    ratio = peer.seconds / ours.seconds
    words = (
        f"{ratio:.1f}x: {peer.seconds:.1f} s to {accuracy:.2%}, ours {ours.seconds:.2f} s "
        f"to {both.our_accuracy(both.svmlight):.2%}"
    )
    name = f"load_svmlight_file and Perceptron / ours, {both.svmlight.stat().st_size / 1e9:.2f} GB, one pass"
    return [Figure(name, words, ">= 15x", ratio >= 15)]


def _bare_read(file: Path) -> None:
    room = bytearray(1 << 22)
    with file.open("rb", buffering=0) as opened:
        while opened.readinto(room):
            pass


# The files that readers race on: rows of sparse numbers, made in pieces so that memory stays small.
#
# Each row of ``pieces`` has 50 columns of 100,000, frequent ones and rare ones, each with a number of three decimals
# from 0.001 to 1. Labels come from a random linear rule with noise: some three percent are wrong, all near the
# boundary. Rows of ``zipf_pieces`` are like text: 30 draws from 200,000 columns by Zipf's law, and three percent of
# the labels are wrong wherever they lie.


FEATURES = 50
COLUMNS = 100_000
PIECE = 1 << 16
ROW_GROUP = 1 << 15
ZIPF_DRAWS = 30
ZIPF_COLUMNS = 200_000
ZIPF_POWER = 1.05
"""The chance of the j-th most frequent column is as 1 / j**ZIPF_POWER."""
FLIPPED = 0.03
"""The share of labels that are wrong."""
_POWERS = 10 ** np.arange(6)

Pieces = Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Labels (-1 or 1), columns from 1 on, and thousandths, ``PIECE`` rows at a time; 0 thousandths are not written."""


def pieces(rows: int, seed: int) -> Pieces:
    """Yield rows whose j-th column is drawn from the j-th of 50 ranges, which grow from 40 columns to 4,000."""
    rule = np.random.default_rng(0).standard_normal(COLUMNS + 1)
    rng = np.random.default_rng(seed)
    scale = np.sqrt(FEATURES / 3.0)
    for start in range(0, rows, PIECE):
        n = min(PIECE, rows - start)
        columns = 1 + (COLUMNS * ((np.arange(FEATURES) + rng.random((n, FEATURES))) / FEATURES) ** 2).astype(np.int32)
        thousandths = rng.integers(1, 1001, (n, FEATURES), np.int32)
        scores = np.einsum("ij,ij->i", rule[columns], thousandths / 1000.0) / scale
        yield np.where(scores + NOISE * rng.standard_normal(n) > 0, 1, -1), columns, thousandths


def zipf_pieces(rows: int, seed: int) -> Pieces:
    """Yield rows of columns drawn by Zipf's law, in increasing order; a column that is drawn twice counts once.

    Frequent columns lie anywhere, as words do in an alphabetical vocabulary, and the rule weighs all columns alike.
    """
    fixed = np.random.default_rng(0)
    rule = fixed.standard_normal(ZIPF_COLUMNS + 1)
    place = 1 + fixed.permutation(ZIPF_COLUMNS).astype(np.int32)
    shares = np.cumsum(np.arange(1, ZIPF_COLUMNS + 1) ** -ZIPF_POWER)
    rng = np.random.default_rng(seed)
    for start in range(0, rows, PIECE):
        n = min(PIECE, rows - start)
        columns = np.sort(place[np.searchsorted(shares, rng.random((n, ZIPF_DRAWS)) * shares[-1])], axis=1)
        thousandths = rng.integers(1, 1001, (n, ZIPF_DRAWS), np.int32)
        thousandths[:, 1:][columns[:, 1:] == columns[:, :-1]] = 0
        labels = np.where(np.einsum("ij,ij->i", rule[columns], thousandths / 1000.0) > 0, 1, -1)
        yield np.where(rng.random(n) < FLIPPED, -labels, labels), columns, thousandths


def write(path: Path, rows: int, seed: int, made: Callable[[int, int], Pieces] = pieces) -> None:
    """Write rows as the ending of ``path`` says: .vw, .svm or .parquet. A file that is there already stays."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    if path.suffix == ".parquet":
        write_parquet(part, rows, seed)
    else:
        write_text(part, made(rows, seed), bar=path.suffix == ".vw")
    part.replace(path)


def write_text(path: Path, made: Pieces, bar: bool) -> None:
    """Write svmlight text, or with a bar after the label Vowpal Wabbit's."""
    room = np.empty(PIECE * (8 + 13 * FEATURES), np.uint8)
    with path.open("wb") as file:
        for labels, columns, thousandths in made:
            file.write(room[: _text_lines(labels, columns, thousandths, bar, room)].data)


def write_parquet(path: Path, rows: int, seed: int) -> None:
    """Write lists of column numbers and of values, none of them missing, compressed by lz4."""
    numbers = {"indices": pa.int32(), "values": pa.float64()}
    lists = {name: pa.list_(pa.field("item", kind, nullable=False)) for name, kind in numbers.items()}
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in {"label": pa.int8(), **lists}.items()])
    with pq.ParquetWriter(path, schema, compression="lz4", use_dictionary=False) as file:
        for labels, columns, thousandths in pieces(rows, seed):
            ends = pa.array(np.arange(0, columns.size + 1, FEATURES, dtype=np.int32))
            flat = {"indices": columns.ravel(), "values": thousandths.ravel() / 1000.0}
            arrays = [pa.array(labels.astype(np.int8))]
            arrays += [pa.ListArray.from_arrays(ends, pa.array(flat[name]), type=kind) for name, kind in lists.items()]
            file.write_batch(pa.record_batch(arrays, schema=schema), row_group_size=ROW_GROUP)


@numba.njit(cache=True)
def _text_lines(labels, columns, thousandths, bar, room):
    """Write the rows into ``room`` and return how many bytes they take."""
    k = 0
    for i in range(len(labels)):
        if labels[i] < 0:
            room[k] = ord("-")
            k += 1
        room[k] = ord("1")
        k += 1
        if bar:
            room[k], room[k + 1] = ord(" "), ord("|")
            k += 2
        for j in range(columns.shape[1]):
            column, value = columns[i, j], thousandths[i, j]
            if value == 0:
                continue
            room[k] = ord(" ")
            k += 1
            digits = 1
            while digits < 6 and column >= _POWERS[digits]:
                digits += 1
            for d in range(digits):
                room[k + d] = ord("0") + column // _POWERS[digits - 1 - d] % 10
            k += digits
            room[k], room[k + 1], room[k + 2] = ord(":"), ord("0") + value // 1000, ord(".")
            room[k + 3], room[k + 4], room[k + 5] = (
                ord("0") + value // 100 % 10,
                ord("0") + value // 10 % 10,
                ord("0") + value % 10,
            )
            k += 6
        room[k] = ord("\n")
        k += 1
    return k


# The kernel perceptron in plain NumPy, as one would write it without this package: row by row, and by blocks.
#
# The kernel is K(x, x') = (1 + x . x')^d. There is a machine for each class against the rest, rows are visited in the
# order that they are in, and a score that is 0 or on the wrong side is a mistake. Decisions are those of float64 as it
# comes, so both programs may differ from exact ones where a score is within rounding of 0.


class Learned(NamedTuple):
    """What a run keeps: row numbers in the order that they were added, and for each its steps by machine, summed."""

    rows: np.ndarray
    counts: np.ndarray
    mistakes: int


def signs_by_class(y: np.ndarray) -> np.ndarray:
    """Return 1 where a row is of a class and -1 elsewhere, a column for each class."""
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)


def polynomial(products: np.ndarray, degree: int) -> np.ndarray:
    """Return (1 + product)^degree by multiplication, many times faster than a power of floats; uses up ``products``."""
    products += 1.0
    if degree == 1:
        return products
    values = products * products
    for _ in range(degree - 2):
        values *= products
    return values


def row_by_row(X: np.ndarray, y: np.ndarray, degree: int, epochs: int) -> Learned:
    """Visit one row after another: its kernel values with all support rows, the scores of all machines, the updates."""
    signs = signs_by_class(y)
    supports, counts = np.empty_like(X), np.zeros_like(signs)
    place = np.full(len(X), -1)
    used = mistakes = 0
    for _ in range(epochs):
        for i, x in enumerate(X):
            scores = polynomial(supports[:used] @ x, degree) @ counts[:used]
            wrong = signs[i] * scores <= 0
            if not wrong.any():
                continue
            if place[i] < 0:
                place[i], supports[used] = used, x
                used += 1
            counts[place[i], wrong] += signs[i, wrong]
            mistakes += int(wrong.sum())
    return Learned(_rows_in_places(place, used), counts[:used], mistakes)


def by_blocks(X: np.ndarray, y: np.ndarray, degree: int, epochs: int, block: int = 1000) -> Learned:
    """Visit blocks of rows: scores by one product, then the first mistake of each machine until there is none.

    The kernel values of a block with the support rows are kept from epoch to epoch, so that only those with new support
    rows are computed. An update adds a column of the block's own kernel values to the scores of its machine.
    """
    signs = signs_by_class(y)
    machines = np.arange(signs.shape[1])
    supports, counts = np.empty_like(X), np.zeros_like(signs)
    place = np.full(len(X), -1)
    kept: dict[int, np.ndarray] = {}
    used = mistakes = 0
    for _ in range(epochs):
        for start in range(0, len(X), block):
            rows, aims = X[start : start + block], signs[start : start + block]
            values = kept.get(start, np.empty((len(rows), 0)))
            if values.shape[1] < used:
                new = polynomial(rows @ supports[values.shape[1] : used].T, degree)
                values = kept[start] = np.hstack([values, new]) if values.size else new
            scores = values @ counts[:used]
            within = None
            numbers, visited = np.arange(len(rows))[:, None], np.full(len(machines), -1)
            while True:
                wrong = (aims * scores <= 0) & (numbers > visited)
                active = wrong.any(axis=0)
                if not active.any():
                    break
                if within is None:
                    within = polynomial(rows @ rows.T, degree)
                first = wrong.argmax(axis=0)
                for k in machines[active]:
                    i, step = first[k], aims[first[k], k]
                    if place[start + i] < 0:
                        place[start + i], supports[used] = used, rows[i]
                        used += 1
                    counts[place[start + i], k] += step
                    scores[:, k] += step * within[i]
                    mistakes += 1
                visited = np.where(active, first, len(rows))
    return Learned(_rows_in_places(place, used), counts[:used], mistakes)


def _rows_in_places(place: np.ndarray, used: int) -> np.ndarray:
    """Return the row in each place, from the place of each row."""
    rows = np.empty(used, np.int64)
    found = np.flatnonzero(place >= 0)
    rows[place[found]] = found
    return rows
