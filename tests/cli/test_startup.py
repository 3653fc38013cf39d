"""A process that runs one command imports what it needs and nothing else."""

import subprocess
import sys

import pytest

from helpers.commands import THREE, command, written

HEAVY = ("sklearn", "joblib", "pandas", "scipy.stats", "matplotlib", "onnx")


def imported(*words):
    """Run the command in a process of its own; return the modules that it imported."""
    code = "import sys; from rosenblatt.cli import main\nsys.argv[0] = 'rosenblatt'\n"
    code += "try: main.app()\nexcept SystemExit as end: assert not end.code\n"
    code += "print(*sorted(sys.modules), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stderr.split()


@pytest.mark.parametrize("kind", ["svm", "csv"])
def test_training_and_predicting_do_without_scikit_learn(tmp_path, kind):
    text = THREE if kind == "svm" else "a,b,label\n" + "1,2,yes\n-1,-1,no\n" * 5
    path = written(tmp_path, f"rows.{kind}", text)
    target = [] if kind == "svm" else ["-t", "label"]
    for learner in ("averaged", "perceptron", "voted"):
        modules = imported("train", path, *target, "-l", learner, "-o", tmp_path / "m")
        assert not [name for name in modules if name.startswith(HEAVY)]
        assert "rosenblatt.training.run" in modules
    for words in (["predict", tmp_path / "m", path], ["test", tmp_path / "m", path]):
        modules = imported(*words)
        assert not [name for name in modules if name.startswith(HEAVY)]


def test_help_imports_no_numpy():
    assert "numpy" not in imported("train", "--help")
    assert command("train", "--help").exit_code == 0
