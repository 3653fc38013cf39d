"""A process that runs one command imports what it needs and nothing else."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from helpers.commands import THREE, command, written

HEAVY = ("sklearn", "joblib", "pandas", "scipy.stats", "matplotlib", "onnx")


pytestmark = pytest.mark.slow  # each test starts processes


def imported(*words):
    """Run the command in a process of its own; return the modules that it imported."""
    code = "import sys; from rosenblatt.cli import main\nsys.argv[0] = 'rosenblatt'\n"
    code += "try: main.app()\nexcept SystemExit as end: assert not end.code\n"
    code += "print(*sorted(sys.modules), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stderr.split()


def heavy(*words):
    """Return the slow modules that a command imported."""
    modules = imported(*words)
    assert "rosenblatt.training.run" in modules or words[0] != "train"
    return [name for name in modules if name.startswith(HEAVY)]


def test_training_and_predicting_do_without_scikit_learn(tmp_path):
    path, model = written(tmp_path, "rows.svm", THREE), tmp_path / "m"
    for learner in ("averaged", "perceptron", "voted", "kernel"):
        assert not heavy("train", path, "-l", learner, "-o", model)
    for what in ("predict", "test"):
        assert not heavy(what, model, path)


def table(folder, kind):
    """Write a table with numbers, booleans, categories and missing values in this format."""
    rows = [("1", "true", "red", "yes"), ("-1", "false", "green", "no"), ("", "true", "", "no")] * 5
    if kind in ("csv", "tsv"):
        delimiter = {"csv": ",", "tsv": "\t"}[kind]
        return written(folder, f"rows.{kind}", "\n".join(map(delimiter.join, [("a", "b", "c", "label"), *rows])) + "\n")
    columns = {
        "a": [float(a) if a else None for a, _, _, _ in rows],
        "b": [b == "true" for _, b, _, _ in rows],
        "c": [c or None for _, _, c, _ in rows],
        "label": [label for _, _, _, label in rows],
    }
    if kind == "jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
        return written(folder, "rows.jsonl", "\n".join(lines) + "\n")
    path = folder / f"rows.{kind}"
    (pq.write_table if kind == "parquet" else feather.write_feather)(pa.table(columns), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "feather"])
def test_tables_do_without_pandas(tmp_path, kind):
    path, model, cache = table(tmp_path, kind), tmp_path / "m", tmp_path / "cache"
    for _ in range(2):  # the second time its rows come from the cache
        assert not heavy("train", path, "-t", "label", "--missing", "mean", "--cache", cache, "-o", model)
    assert not heavy("predict", model, path)


def test_help_imports_no_numpy():
    assert "numpy" not in imported("train", "--help")
    assert command("train", "--help").exit_code == 0
