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

from benchmarks import streams
from benchmarks.measure import Figure, bytecode, seconds
from benchmarks.workloads import ROOT

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
print(json.dumps([time.perf_counter() - begin, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)]))
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


def run(*command: object) -> Run:
    """Run a program and wait for its end."""
    words = [sys.executable, "-S", "-c", _LAUNCH, *map(str, command)]
    taken, megabytes, status = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    if status:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with status {status}")
    return Run(taken, megabytes)


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
            streams.write(file, rows if file.stem == self.text.stem else rows // 4, seed=1)
            streams.write(self._test(file), TESTED, seed=2)

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
    columns = 1 + streams.COLUMNS
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
