"""``assert check(...)`` is a test for pytest, Otter and nbgrader, where these are installed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RIGHT, WRONG = "[1, 1, -2, 0]", "[1, 1, 0, 0]"
SENTENCE = "4.12: not yet. x₁ = 1, x₂ = 1, x₃ = 1: w·x + b = 2 predicts +1, expected −1."
FUNCTION = """
def perceptron_train(D, max_iter):
    w, b = [0] * len(D[0][0]), 0
    for _ in range(max_iter):
        for x, y in D:
            if y * (sum(w_d * x_d for w_d, x_d in zip(w, x)) + b) <= 0:
                w, b = [w_d + y * x_d for w_d, x_d in zip(w, x)], b + y
    return w, b
"""
OTTER_TEST = """
from otter.test_files import test_case
from rosenblatt.exercises import check

OK_FORMAT = False
name = "xor"
points = 2

@test_case(name="weights")
def test_weights(weights):
    result = check("4.12", weights)
    assert result, result

@test_case(name="function")
def test_function(perceptron_train):
    assert check("algorithm-5", perceptron_train)
"""


@pytest.fixture(autouse=True)
def programs(monkeypatch):
    """Let nbgrader find the programs that were installed with it."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def run(folder, *words):
    """Run a module of Python in a folder; return its exit code and all that it printed."""
    environment = {
        **os.environ,
        "JUPYTER_PLATFORM_DIRS": "1",
        "IPYTHONDIR": str(folder),
        "JUPYTER_DATA_DIR": str(folder),
    }
    words = [sys.executable, "-m", *map(str, words)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_pytest(tmp_path):
    for name, weights in (("right", RIGHT), ("wrong", WRONG)):
        (tmp_path / f"test_{name}.py").write_text(
            f"from rosenblatt.exercises import check\n{FUNCTION}\n"
            f"def test_weights():\n    assert check('4.12', {weights})\n"
            f"def test_function():\n    assert check('algorithm-5', perceptron_train)\n"
        )
    code, printed = run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", ".")
    assert (code, "1 failed, 3 passed" in printed, SENTENCE in printed) == (1, True, True), printed


@pytest.mark.slow
def test_otter(tmp_path):
    pytest.importorskip("otter", reason="Otter is not installed: pip install otter-grader, and this test runs")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "xor.py").write_text(OTTER_TEST)
    for name, weights in (("right", RIGHT), ("wrong", WRONG)):
        (tmp_path / f"{name}.py").write_text(f"weights = {weights}\n{FUNCTION}")
    _, printed = run(tmp_path, "otter", "check", "right.py", "-t", "tests")
    assert "All tests passed!" in printed
    _, printed = run(tmp_path, "otter", "check", "wrong.py", "-t", "tests")
    assert printed.count("Test case failed") == printed.count("Test case passed") == 1, printed
    assert SENTENCE in printed


@pytest.mark.slow
def test_nbgrader(tmp_path):
    pytest.importorskip("nbgrader", reason="nbgrader is not installed: pip install nbgrader, and this test runs")
    from nbgrader.api import Gradebook

    written(tmp_path / "source/ps/xor.ipynb", notebook("### BEGIN SOLUTION\nweights = None\n### END SOLUTION"))
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'perceptron'\n")
    code, printed = run(tmp_path, "nbgrader", "generate_assignment", "ps")
    assert code == 0, printed
    for student, weights in (("ada", RIGHT), ("grace", WRONG)):
        released = json.loads((tmp_path / "release/ps/xor.ipynb").read_text())
        released["cells"][0]["source"] = f"weights = {weights}\n{FUNCTION}"
        written(tmp_path / f"submitted/{student}/ps/xor.ipynb", released)
    code, printed = run(tmp_path, "nbgrader", "autograde", "ps")
    assert code == 0, printed
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        scores = {name: gradebook.find_submission("ps", name).score for name in ("ada", "grace")}
    assert scores == {"ada": 3, "grace": 1}
    assert SENTENCE in (tmp_path / "autograded/grace/ps/xor.ipynb").read_text().replace("\\u2212", "−")


def notebook(solution):
    """Return a notebook with a cell for the answers, and two cells with tests."""
    cells = [
        cell("answers", solution, solution=True),
        cell("weights", "from rosenblatt.exercises import check\nassert check('4.12', weights)", points=2),
        cell("function", "assert check('algorithm-5', perceptron_train)", points=1),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def cell(name, source, solution=False, points=None):
    """Return a cell of code with the metadata of nbgrader."""
    told = {"grade": not solution, "grade_id": name, "locked": not solution, "solution": solution, "task": False}
    told |= {"schema_version": 3} | ({} if points is None else {"points": points})
    parts = {"cell_type": "code", "execution_count": None, "id": name, "outputs": [], "source": source}
    return parts | {"metadata": {"nbgrader": told}}


def written(path, content):
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
