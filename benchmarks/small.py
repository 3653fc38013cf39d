"""Small work against peers: the first call, few rows, many passes, one record at a time, and the start of the command.

Both sides take turns in one process where they can, and the medians count. A ratio is the peer's time over ours, except
where a figure is called ours / theirs.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
import sklearn.linear_model as peers
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning

import rosenblatt
from benchmarks.measure import Figure, alternate, bytecode, child
from benchmarks.programs import COMMAND, WITHOUT_VW, has_vw, run, stream_folder, train, train_vw, write

TURNS = 31
"""Turns of work that takes milliseconds."""
WARM_UP = 10
"""Turns before those that count: small work is interpreted until compiling pays."""
STARTS = 7
"""Turns of work for which a process is started."""
PASSES = (10, 100)
RECORDS = 500
"""Records that one turn learns from, or predicts."""

_FIRST = """
import time, warnings
warnings.simplefilter("ignore")
start = time.perf_counter()
import numpy as np
from {module} import Perceptron
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 5))
y = np.where(X[:, 0] + rng.standard_normal(200) > 0, 1, -1)
model = Perceptron(max_iter=10, tol=None, random_state=0).fit(X, y)
model.predict(X)
print(time.perf_counter() - start)
"""
_VERDICT = """
import time
import numpy as np
import rosenblatt
from rosenblatt import separability
rng = np.random.default_rng(0)
X = rng.standard_normal((50, 2))
y = np.where(X[:, 0] > 0, 1, -1) {noise}
start = time.perf_counter()
separability(X, y)
print(time.perf_counter() - start)
"""


def fit(quick: bool) -> list[Figure]:
    """Return the time of scikit-learn's ``fit`` over ours on small sets, with the same number of passes."""
    sets = {"200 x 5": rows(200, 5), "iris": load_iris(return_X_y=True)}
    sets["breast cancer"] = load_breast_cancer(return_X_y=True)
    found = []
    for name, (X, y) in sets.items():
        for passes in PASSES:
            ours = rosenblatt.Perceptron(max_iter=passes, random_state=0)
            theirs = peers.Perceptron(max_iter=passes, tol=None, random_state=0)
            calls = {"theirs": partial(theirs.fit, X, y), "ours": partial(ours.fit, X, y)}
            times = _medians(calls, 5 if quick else TURNS)
            for model in (ours, theirs):
                if model.n_iter_ != passes:
                    raise RuntimeError(f"{model} made {model.n_iter_} of {passes} passes")
            found.append(_against(f"scikit-learn / ours: fit, {name}, {passes} passes", times))
    return found


def rows(n: int, d: int, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels of two classes that are not separable."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1, -1)


def calls(quick: bool) -> list[Figure]:
    """Return the time of scikit-learn's ``partial_fit`` of ten rows and ``predict`` of one, over ours."""
    found = []
    for d in (5, 100):
        X, y = rows(1000, d)
        ours = rosenblatt.Perceptron(random_state=0).partial_fit(X, y, [-1, 1])
        theirs = peers.Perceptron(random_state=0).partial_fit(X, y, [-1, 1])
        for what, work in (("partial_fit of ten rows", _learn_ten), ("predict of one row", _predict_one)):
            times = _medians(
                {"theirs": partial(work, theirs, X, y), "ours": partial(work, ours, X, y)}, 5 if quick else TURNS
            )
            found.append(_against(f"scikit-learn / ours: {what}, {d} features", times, per=100))
    return found


def _learn_ten(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    for start in range(0, 1000, 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10])


def _predict_one(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    for i in range(100):
        model.predict(X[i : i + 1])


def records(quick: bool) -> list[Figure]:
    """Return the time of river's learners on records, over ours: ``predict_one`` and then ``learn_one``."""
    if find_spec("river") is None:
        return [
            Figure("river / ours: predict_one and learn_one", "not measured: pip install 'rosenblatt[bench]' for river")
        ]
    from river import linear_model

    pairs = (  # the nearest of river's learners, which has no averages and no variances
        (rosenblatt.Perceptron, linear_model.Perceptron),
        (rosenblatt.AveragedPerceptron, linear_model.Perceptron),
        (rosenblatt.MarginPerceptron, linear_model.ALMAClassifier),
        (rosenblatt.PassiveAggressive, linear_model.PAClassifier),
        (rosenblatt.AROW, linear_model.LogisticRegression),
    )
    found = []
    for d, target in ((10, 1.0), (100, 0.9)):
        X, y = rows(RECORDS, d, noise=0.3)
        given = [{f"x{j}": float(value) for j, value in enumerate(row)} for row in X], (y > 0).tolist()
        for ours, theirs in pairs:
            calls = {
                "theirs": partial(_learn_records, theirs(), *given),
                "ours": partial(_learn_records, ours(), *given),
            }
            times = _medians(calls, 5 if quick else TURNS)
            words = f"river's {theirs.__name__} / our {ours.__name__}: predict_one and learn_one, {d} features"
            found.append(_against(words, times, target, per=RECORDS))
    return found


def _learn_records(model: Any, records: list[dict[str, float]], labels: list[bool]) -> None:
    for record, label in zip(records, labels, strict=True):
        model.predict_one(record)
        model.learn_one(record, label)


def first(quick: bool) -> list[Figure]:
    """Return the time from the first import to a prediction over scikit-learn's, with nothing compiled before."""
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    modules = {"ours": "rosenblatt", "theirs": "sklearn.linear_model"}
    for taken in _in_turn({side: _FIRST.format(module=module) for side, module in modules.items()}, quick):
        for side in times:
            times[side].append(taken[side])
    ours, theirs = (median(times[side]) for side in ("ours", "theirs"))
    words = f"{ours / theirs:.2f} ({ours:.2f} s / {theirs:.2f} s), median of {len(times['ours'])}"
    return [Figure("ours / scikit-learn: first import, fit and predict", words, "<= 1.4", ours / theirs <= 1.4)]


def verdict(quick: bool) -> list[Figure]:
    """Return the seconds of the first verdict on fifty points after the import, with nothing compiled before."""
    kinds = {"separable": "", "not separable": "* np.where(rng.random(50) < 0.2, -1, 1)"}
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for taken in _in_turn({kind: _VERDICT.format(noise=noise) for kind, noise in kinds.items()}, quick):
        for kind in kinds:
            times[kind].append(taken[kind])
    return [
        Figure(
            f"first separability of fifty points, {kind}",
            f"{median(taken):.3f} s, median of {len(taken)}",
            "< 0.1 s",
            median(taken) < 0.1,
        )
        for kind, taken in times.items()
    ]


def _in_turn(programs: dict[str, str], quick: bool) -> list[dict[str, float]]:
    """Run programs in turn, each in a process with an empty cache of compiled kernels; return what they print."""
    found = []
    with bytecode() as environment:
        for turn in range(3 if quick else STARTS + 1):
            taken = {}
            for name, code in programs.items():
                with tempfile.TemporaryDirectory() as folder:
                    (taken[name],) = child(code, NUMBA_CACHE_DIR=folder, **environment)
            if turn:  # the first writes bytecode
                found.append(taken)
    return found


def program(quick: bool) -> list[Figure]:
    """Return the time of vw over that of ``rosenblatt train``, whole programs on 1,000 rows of its text format."""
    name = "vw / ours: whole program, 1,000 rows of text"
    if not has_vw():
        return [Figure(name, WITHOUT_VW)]
    with stream_folder() as folder:
        file = folder / "1000-rows.vw"
        write(file, 1000, seed=1)
        taken: dict[str, list[float]] = {"ours": [], "theirs": []}
        for turn in range(3 if quick else STARTS + 2):
            ours = train(file, folder / "ours.model", "averaged", 1).seconds
            theirs = train_vw(file, folder / "vw.model").seconds
            if turn > 1:  # the first two write bytecode and compile
                taken["ours"].append(ours)
                taken["theirs"].append(theirs)
    return [_against(name, {side: median(seconds) for side, seconds in taken.items()})]


_WATCHED = ("perceptron", "averaged", "averaged --decay 0.01", "margin", "pa", "arow")


def watch(quick: bool) -> list[Figure]:
    """Return processor seconds of `watch` for each learner, with two classes and a late third one, and those of vw."""
    n, rng = 10_000 if quick else 100_000, np.random.default_rng(0)
    X = rng.standard_normal((n, 10)).round(4)
    place = X[:, 0] + X[:, 1] + rng.normal(0.0, 0.5, n)
    with stream_folder() as folder:
        files, taken = {}, {}
        for classes in (2, 3):
            labels = (place > 0).astype(int) + (place > 1) * (np.arange(n) > n // 2) * (classes == 3)
            files[classes] = folder / f"watched-{n}-{classes}.svm"
            files[classes].write_text("".join(map(_svmlight_line, labels.tolist(), X.tolist())))
        bars = [line.replace(" ", " | ", 1) for line in files[2].read_text().splitlines(keepends=True)]
        files["vw"] = folder / f"watched-{n}.vw"
        files["vw"].write_text("".join(f"{'-1' if line[0] == '0' else '1'}{line[1:]}" for line in bars))
        for turn in range(2 if quick else 4):
            if turn == 1:
                taken = {}  # the first one compiles
            for learner in _WATCHED:
                for classes in (2, 3):
                    name, command = f"{learner}, {classes} classes", f"watch -l {learner} < {files[classes]}"
                    cpu = run("/bin/sh", "-c", f"exec {COMMAND} {command}").cpu
                    taken[name] = min(taken.get(name, math.inf), cpu)
            if has_vw():
                taken["vw"] = min(taken.get("vw", math.inf), train_vw(files["vw"], folder / "vw.model").cpu)
    vw = taken.pop("vw", None)
    fastest, slowest = min(taken, key=taken.__getitem__), max(taken, key=taken.__getitem__)
    spread = taken[slowest] / taken[fastest]
    shown = f"{spread:.2f} ({slowest} {taken[slowest]:.2f} s, {fastest} {taken[fastest]:.2f} s)"
    found = [Figure("watch: the slowest learner / the fastest", shown, "< 1.5", spread < 1.5)]
    ratio = WITHOUT_VW if vw is None else f"{vw / taken[fastest]:.2f} (vw {vw:.2f} s)"
    return [*found, Figure("vw / watch: processor seconds on the same rows", ratio)]


def _svmlight_line(label: int, values: list[float]) -> str:
    return f"{label} {' '.join(f'{j}:{value}' for j, value in enumerate(values, 1))}\n"


def _medians(calls: dict[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Make all calls in turn, and return the median time of each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        alternate(calls, WARM_UP)
        times = alternate(calls, turns)
    return {name: median(taken) for name, taken in times.items()}


def _against(name: str, times: dict[str, float], target: float = 1.0, per: int = 1) -> Figure:
    """Return the peer's time over ours; each measured time is that of ``per`` calls."""
    ratio = times["theirs"] / times["ours"]
    milliseconds = [1000 * times[side] / per for side in ("theirs", "ours")]
    words = f"{ratio:.2f} ({milliseconds[0]:.3g} / {milliseconds[1]:.3g} ms)"
    return Figure(name, words, f">= {target:g}", ratio >= target)
