"""The kernel perceptron on MNIST: against plain NumPy, against ``SVC``, and what a vote costs.

Both sides of a ratio are measured in turn in the same run, and the best of each counts. Rows are those of MNIST in one
random order, pixels from 0 to 1, ten classes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC

import rosenblatt
from benchmarks.measure import Figure, alternate
from benchmarks.programs import Learned, by_blocks, row_by_row
from benchmarks.workloads import MNIST, ROOT, missing_data, mnist, real_data
from rosenblatt import visiting_order
from rosenblatt.reproductions import freund_schapire_1999
from rosenblatt.reproductions.freund_schapire import free_cache_size, read_mnist

ROUNDS = 2
SUBSET, QUICK_ROWS, QUICK_TEST_ROWS = 10_000, 1000, 500
EPOCHS = 10
RATIO_LIMITS = {3: 1.1, 2: 1.7}
"""The most that a run with its evaluation may take, in times of a plain program that only trains, by degree."""
MOST_GIBIBYTES = 12.0


class Side(NamedTuple):
    """What a process of ``kernel_workers`` answered."""

    seconds: float
    gibibytes: float
    mistakes: int
    supports: int


def rows(quick: bool) -> list[Figure]:
    """Return the time of a plain program that visits row by row over ours, which makes the same mistakes."""
    return _measured("KernelPerceptron / row by row in NumPy", _rows, quick)


def svc(quick: bool) -> list[Figure]:
    """Return the time of ``SVC`` over ours to train on the same rows, with both test accuracies."""
    return _measured("KernelPerceptron / SVC", _svc, quick)


def whole(quick: bool) -> list[Figure]:
    """Return the time of Freund and Schapire's experiment over that of a plain program by blocks that only trains."""
    return _measured("freund_schapire_1999 / plain blocks", _whole, quick)


def vote(quick: bool) -> list[Figure]:
    """Return the time of a voted prediction over that of the averaged one, by the same model."""
    return _measured("predict by vote / by average", _vote, quick)


def _measured(title: str, measure: Callable[[str, bool], list[Figure]], quick: bool) -> list[Figure]:
    if real_data(*MNIST) is None:
        return [Figure(f"{title}: MNIST", missing_data("mnist/*-ubyte.gz"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mistakes that are left
        return measure(title, quick)


def _rows(title: str, quick: bool) -> list[Figure]:
    X, y = _training_rows(QUICK_ROWS if quick else SUBSET)
    model = _learner(EPOCHS)
    _compile()
    answers: list[Learned] = []
    best = _best(
        {
            "ours": lambda: model.fit(X, y),
            "peer": lambda: answers.append(row_by_row(X, y, 3, EPOCHS)),
        }
    )
    ratio = best["peer"] / best["ours"]
    same = same_run(model, answers[-1])
    words = (
        f"{ratio:.1f}x ({best['ours']:.3g} s, peer {best['peer']:.3g} s); "
        f"{_counts(model.n_updates_, len(model.support_), same)}"
    )
    name = f"{title}: {len(y):,} rows, d = 3, {EPOCHS} epochs"
    return [Figure(name, words, ">= 10", same and ratio >= 10)]


def same_run(model: rosenblatt.KernelPerceptron, learned: Learned) -> bool:
    """Return whether a model made the mistakes that a plain program made: rows, machines, numbers, and their order."""
    return (
        model.n_updates_ == learned.mistakes
        and np.array_equal(model.support_, learned.rows)
        and np.array_equal(model.last_dual_coef_, learned.counts.T)
    )


def _svc(title: str, quick: bool) -> list[Figure]:
    X, y = _training_rows(QUICK_ROWS if quick else SUBSET)
    X_test, y_test = _test_rows(quick)
    model, peer = _learner(EPOCHS), SVC(kernel="poly", degree=3, gamma=1, coef0=1, C=1)
    _compile()
    best = _best({"ours": lambda: model.fit(X, y), "peer": lambda: peer.fit(X, y)})
    ratio = best["peer"] / best["ours"]
    words = (
        f"{ratio:.2f}x ({best['ours']:.3g} s in {model.n_iter_} epochs, peer {best['peer']:.3g} s); "
        f"test accuracy {model.score(X_test, y_test):.2%}, peer {peer.score(X_test, y_test):.2%}"
    )
    return [Figure(f"{title}: {len(y):,} rows, d = 3, to train", words, "> 1", ratio > 1)]


def _whole(title: str, quick: bool) -> list[Figure]:
    found = []
    with mnist_folder(quick) as folder:
        for degree, limit in RATIO_LIMITS.items():
            rounds = [[_process(side, folder, degree) for side in ("ours", "blocks")] for _ in range(ROUNDS)]
            ours, peer = (min(runs, key=lambda run: run.seconds) for runs in zip(*rounds, strict=True))
            gibibytes = max(run[0].gibibytes for run in rounds)
            ratio = ours.seconds / peer.seconds
            same = (ours.mistakes, ours.supports) == (peer.mistakes, peer.supports)
            words = (
                f"{ratio:.2f}x ({ours.seconds:.3g} s, peer {peer.seconds:.3g} s to train only); "
                f"peak {gibibytes:.2f} GiB; {_counts(ours.mistakes, ours.supports, same)}"
            )
            met = same and ratio <= limit and gibibytes < MOST_GIBIBYTES
            target = f"<= {limit}, < {MOST_GIBIBYTES:g} GiB"
            size = f"{QUICK_ROWS:,} rows" if quick else "all of MNIST"
            name = f"{title}: {size}, d = {degree}, {EPOCHS} epochs"
            found.append(Figure(name, words, target, met))
    return found


def _process(side: str, folder: Path, degree: int) -> Side:
    words = [sys.executable, "-m", "benchmarks.kernels", side, str(folder), str(degree)]
    shown = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return Side(*json.loads(shown))


def _vote(title: str, quick: bool) -> list[Figure]:
    X, y = _training_rows(QUICK_ROWS if quick else None)
    X_test, y_test = _test_rows(quick)
    model = _learner(EPOCHS, cache_size=free_cache_size()).fit(X, y)
    accuracies = {}
    for hypothesis in ("vote", "average"):  # compiles
        accuracies[hypothesis] = model.set_params(hypothesis=hypothesis).score(X_test, y_test)
    best = _best(
        {
            hypothesis: lambda hypothesis=hypothesis: model.set_params(hypothesis=hypothesis).predict(X_test)
            for hypothesis in accuracies
        },
        rounds=4,
    )
    ratio = best["vote"] / best["average"]
    words = (
        f"{ratio:.2f}x ({best['vote']:.3g} s, average {best['average']:.3g} s); "
        f"test accuracy {accuracies['vote']:.2%}, average {accuracies['average']:.2%}; "
        f"{model.n_updates_:,} updates, {len(model.support_):,} support rows"
    )
    name = f"{title}: {len(y_test):,} rows, trained on {len(y):,}, d = 3, {EPOCHS} epochs"
    return [Figure(name, words, "<= 1.5", ratio <= 1.5)]


def _learner(epochs: int, **more: Any) -> rosenblatt.KernelPerceptron:
    return rosenblatt.KernelPerceptron(degree=3, gamma=1, hypothesis="vote", shuffle=False, max_iter=epochs, **more)


def _compile() -> None:
    X, y = _training_rows(200)
    _learner(2).fit(X, y)


def _best(calls: dict[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, float]:
    return {side: min(taken) for side, taken in alternate(calls, rounds).items()}


def _counts(mistakes: int, supports: int, same: bool) -> str:
    return f"{mistakes:,} mistakes, {supports:,} support rows, {'the same for both' if same else 'NOT THE SAME'}"


def _training_rows(n: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the first n rows in the order of the experiment, or all."""
    found = mnist("train")
    assert found is not None
    X, y = found
    order = rosenblatt.visiting_order(len(y), 0)[:n]
    return X[order], y[order]


def _test_rows(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    found = mnist("t10k")
    assert found is not None
    n = QUICK_TEST_ROWS if quick else None
    return found[0][:n], found[1][:n]


@contextmanager
def mnist_folder(quick: bool) -> Iterator[Path]:
    """Yield the folder of MNIST's files, or of files with the first of its rows, where it is to be quick."""
    data = real_data(*MNIST)
    assert data is not None
    folder = data / "mnist"
    if not quick:
        yield folder
        return
    with tempfile.TemporaryDirectory() as name:
        for part, (pixels, labels) in read_mnist(folder).items():
            start, n = ("train", QUICK_ROWS) if part == "train" else ("t10k", QUICK_TEST_ROWS)
            write_idx(Path(name, f"{start}-images-idx3-ubyte"), pixels[:n].reshape(-1, 28, 28))
            write_idx(Path(name, f"{start}-labels-idx1-ubyte"), labels[:n])
        yield Path(name)


def write_idx(path: Path, numbers: np.ndarray) -> None:
    """Write bytes in the format of MNIST's files."""
    head = bytes([0, 0, 8, numbers.ndim]) + np.array(numbers.shape, ">u4").tobytes()
    path.write_bytes(head + np.ascontiguousarray(numbers, np.uint8).tobytes())


# One side of MNIST as a whole, in a process of its own: ``python -m benchmarks.kernels SIDE FOLDER DEGREE``.
#
# It answers with the seconds that it took, the peak of its memory in GiB, the mistakes of all machines and the number
# of support rows. ``ours`` is the whole of Freund and Schapire's experiment, from reading the files to the errors
# after each epoch of their table; ``blocks`` is the plain program, which only trains.


def ours(folder: str, degree: int) -> tuple[float, int, int]:
    """Return the seconds of the experiment, its mistakes and its support rows."""
    freund_schapire_1999(small=True, degrees=(degree,), epochs=1)  # compiles
    start = time.perf_counter()
    found = freund_schapire_1999(data=folder, degrees=(degree,), epochs=EPOCHS)
    return time.perf_counter() - start, found.table["mistakes"][-1], found.table["support vectors"][-1]


def blocks(folder: str, degree: int) -> tuple[float, int, int]:
    """Return the seconds of the plain program to train on the same rows, its mistakes and its support rows."""
    pixels, y = read_mnist(folder)["train"]
    order = visiting_order(len(y), 0)
    X = pixels[order] / 255.0
    start = time.perf_counter()
    learned = by_blocks(X, y[order], degree, EPOCHS)
    return time.perf_counter() - start, learned.mistakes, len(learned.rows)


def peak_gibibytes() -> float:
    """Return the peak of memory of this process; on Linux ``ru_maxrss`` would start from that of its parent."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 2**20 for line in lines if line.startswith("VmHWM"))
    except OSError:
        unit = 2**30 if sys.platform == "darwin" else 2**20
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> None:
    """Run one side and answer in a line of JSON."""
    side, folder, degree = sys.argv[1:]
    warnings.simplefilter("ignore")
    seconds, mistakes, supports = {"ours": ours, "blocks": blocks}[side](folder, int(degree))
    print(json.dumps([seconds, peak_gibibytes(), mistakes, supports]))


if __name__ == "__main__":
    main()
