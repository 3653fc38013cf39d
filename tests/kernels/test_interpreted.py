"""Kernels give the same bits interpreted and compiled, and work without numba."""

import os
import pickle
import subprocess
import sys
import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import (
    AROW,
    AveragedPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
    detect_separation,
    separability,
)
from rosenblatt.kernels import exact, orders, passes, predict, wolfe
from rosenblatt.kernels.compiler import SETTING, Kernel

pytestmark = pytest.mark.skipif(SETTING == "never", reason="nothing is compiled")

LEARNERS = [
    Perceptron(max_iter=5, shuffle=False),
    Perceptron(max_iter=5, multi_class="direct"),
    AveragedPerceptron(max_iter=5, decay=0.01),
    VotedPerceptron(max_iter=3),
    Perceptron(max_iter=4, hypothesis="pocket"),
    MarginPerceptron(max_iter=4),
    PassiveAggressive(max_iter=4, C=0.5),
    PassiveAggressive(max_iter=4, loss="squared_hinge"),
    AROW(max_iter=4),
]


KERNELS = [
    found
    for module in (exact, orders, passes, predict, wolfe)
    for found in vars(module).values()
    if isinstance(found, Kernel)
]


@pytest.fixture
def both_ways(monkeypatch):
    """Return a function that calls a function interpreted, then compiled, and returns both results."""

    def run(function):
        results = []
        for worth in (False, True):
            monkeypatch.setattr(Kernel, "_is_worth_compiling", lambda *_, worth=worth: worth)
            for found in KERNELS:
                monkeypatch.setattr(found, "compiled", found.compiled if worth else None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results.append(function())
        return results

    return run


LAYOUTS = {"dense": np.asarray, "float32": np.float32, "csr": sp.csr_array}
QUICK = ((0, "dense"), (1, "csr"), (6, "dense"))  # compiling takes some seconds each


@pytest.mark.parametrize(
    ("number", "layout"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in product(range(len(LEARNERS)), LAYOUTS)
    ],
)
def test_learners(number, layout, both_ways):
    for seed in range(3):
        _check_learner(LEARNERS[number], seed, LAYOUTS[layout], both_ways)


def _check_learner(learner, seed, layout, both_ways):
    rng = np.random.default_rng(seed)
    n, d, classes = rng.integers(5, 40), rng.integers(1, 12), rng.integers(2, 5)
    X = rng.integers(-2, 3, (n, d)) / 2.0 if seed == 0 else rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    y = np.append(np.arange(classes), rng.integers(0, classes, n - classes))
    weights = rng.integers(0, 4, n) / 2.0 if seed == 1 else None
    model = learner.set_params(random_state=int(seed))
    rows = layout(X)

    def fitted():
        model.fit(rows, y, sample_weight=weights)
        return [
            model.last_coef_,
            model.last_intercept_,
            model.average_coef_,
            model.predict(rows),
            np.array(model.report_.mistakes_by_pass),
            np.array([model.report_.margin_low, model.report_.margin_high, model.report_.bound]),
            model.decision_function(rows),
        ]

    for ours, theirs in zip(*both_ways(fitted), strict=True):
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("seed", range(4))
def test_verdicts(seed, both_ways):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 6))
    y = (X[:, 0] + seed % 2 * rng.normal(size=40) > 0).astype(int)
    for verdict in (separability, detect_separation):
        interpreted, compiled = both_ways(lambda verdict=verdict: verdict(X, y))
        assert type(interpreted) is type(compiled)
        assert repr(interpreted) == repr(compiled)
        assert pickle.dumps(interpreted) == pickle.dumps(compiled)
        assert interpreted.check(X, y)


WITHOUT = """
import sys, warnings
{hide}
import numpy as np
from rosenblatt import Perceptron, separability
rng = np.random.default_rng(0)
X = rng.normal(size=({rows}, 4)); y = (X[:, 0] > 0).astype(int)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    model = Perceptron(max_iter=3, random_state=0).fit(X, y)
    assert model.predict(X).shape == y.shape
told = [str(warning.message) for warning in seen if "numba" in str(warning.message)]
print(model.coef_.tolist(), len(told), any(name.startswith("numba") and sys.modules[name] for name in sys.modules))
"""
BROKEN = """
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "llvmlite": raise ImportError("of another NumPy")
sys.meta_path.insert(0, Broken())
"""


def run(code, **environment):
    env = {**os.environ, **environment}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_numba_is_not_imported_for_small_work():
    assert run(WITHOUT.format(hide="", rows=60)).endswith(" 0 False")


@pytest.mark.slow
def test_without_numba_large_work_warns_once_and_gives_the_same_bits():
    compiled, told, _ = run(WITHOUT.format(hide="", rows=200_000)).rsplit(" ", 2)
    assert told == "0"
    for hide in ("sys.modules['numba'] = None", BROKEN):
        interpreted, told, _ = run(WITHOUT.format(hide=hide, rows=200_000)).rsplit(" ", 2)
        assert (interpreted, told) == (compiled, "1")


def test_the_environment_chooses(monkeypatch):
    always = run(WITHOUT.format(hide="", rows=10), ROSENBLATT_COMPILE="always")
    assert always.endswith(" True")
    never = run(WITHOUT.format(hide="", rows=10), ROSENBLATT_COMPILE="never")
    assert never.endswith(" False")
    assert always.rsplit(" ", 1)[0] == never.rsplit(" ", 1)[0]
    code = WITHOUT.format(hide="", rows=10)
    env = {**os.environ, "ROSENBLATT_COMPILE": "sometimes"}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert 'ROSENBLATT_COMPILE must be "auto", "always" or "never", got \'sometimes\'' in ran.stderr


def test_exact_sums(both_ways):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * 2.0 ** rng.integers(-1070, 1020, (40, 6)).astype(np.float64)
    X[rng.random(X.shape) < 0.2] = 0.0
    X[3, :] = [5e-324, -1.7976931348623157e308, np.inf, -np.inf, np.nan, -0.0]
    other, pointers = X.ravel()[rng.permutation(X.size)], np.sort(rng.integers(0, X.size, 9))
    columns = rng.permuted(np.arange(X.size) % 6)

    def sums():
        totals = np.zeros((5, 8, exact.LIMBS), np.int64)
        with np.errstate(all="ignore"):
            exact.add_dense_moments(totals[0], totals[1], X)
            exact.add_sparse_moments(totals[2], totals[3], X.ravel(), columns)
            exact.add_row_products(totals[4], X.ravel(), other, pointers)
        return totals

    interpreted, compiled = both_ways(sums)
    assert interpreted.any(axis=(1, 2)).all()
    assert np.array_equal(interpreted, compiled)
