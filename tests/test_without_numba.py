"""Everything works where numba cannot be imported: a sample, and much of the suite as a slow test."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HEART = (
    "estimators/test_fit.py",
    "estimators/test_partial_fit.py",
    "estimators/test_fit_stream.py",
    "estimators/test_records.py",
    "kernels/test_edges.py",
    "kernels/test_wolfe.py",
    "kernels/parsing",
    "theory/test_separability.py",
    "training/test_repeated_passes.py",
    "cli/test_predict.py",
)
SAMPLE = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
import numpy as np
import rosenblatt
rng = np.random.default_rng(0)
X = rng.integers(-3, 4, (40, 3)) + 0.0
y = (X @ [1.0, 2.0, -1.0] > 0).astype(int)
for name in rosenblatt.__all__:
    learner = getattr(rosenblatt, name)
    if name.endswith("Perceptron") or name in ("AROW", "PassiveAggressive"):
        assert learner().fit(X, y).score(X, y) > 0.8, name
verdict = rosenblatt.separability(X, y)
assert verdict and verdict.check(X, y)
model = rosenblatt.Perceptron()
for row, label in zip(X, y):
    model.learn_one({f"x{j}": v for j, v in enumerate(row)}, int(label))
"""


def run(*words):
    ran = subprocess.run([sys.executable, *words], cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return ran.stdout


def test_learners_verdicts_and_records():
    run("-W", "ignore:the last pass", "-c", SAMPLE)


def test_the_command(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("1 1:1 2:0.5\n-1 1:-1\n1 1:2\n-1 2:-3\n" * 10)
    code = "import sys; sys.modules['numba'] = None; from rosenblatt.cli.main import main; main()"
    run("-c", code, "train", str(file), "-o", str(tmp_path / "model"))
    assert "Accuracy 100.00%" in run("-c", code, "test", str(tmp_path / "model"), str(file))


@pytest.mark.slow
@pytest.mark.parametrize("name", HEART)
def test_the_heart_of_the_suite(name):
    warned = "ignore:numba cannot be imported:RuntimeWarning"
    words = ["-m", "pytest", "-q", "-p", "helpers.without_numba", "-W", warned, "-m", "not slow", TESTS / name]
    assert "passed" in run(*map(str, words))
