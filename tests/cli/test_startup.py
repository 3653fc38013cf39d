"""A process that runs one command imports what it needs and nothing else, and starts and ends quickly."""

import gc
import json
import math
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from helpers.commands import THREE, written
from rosenblatt.cli.output import enable_gc

HEAVY = (
    "sklearn",
    "joblib",
    "pandas",
    "numpy.f2py",
    "numpy.testing",
    "scipy.spatial",
    "scipy.stats",
    "matplotlib",
    "onnx",
    "dask",
    "distributed",
    "ray",
)
ROWS = [("1", "true", "red", "yes"), ("-1", "false", "green", "no"), ("", "true", "", "no")] * 5


def imported(*commands):
    """Run commands one after the other in a process of its own; return the modules that they imported."""
    code = "import json, sys; from rosenblatt.cli import main\n"
    code += "for words in json.loads(sys.argv[1]):\n"
    code += "    try: main.app(words, prog_name='rosenblatt')\n"
    code += "    except SystemExit as end: assert not end.code, words\n"
    code += "print(*sorted(sys.modules), file=sys.stderr)"
    words = json.dumps([[str(word) for word in one] for one in commands])
    ran = subprocess.run([sys.executable, "-c", code, words], capture_output=True, text=True, check=False, input=THREE)
    assert ran.returncode == 0, ran.stderr
    return ran.stderr.splitlines()[-1].split()


def table(folder, kind):
    """Write a table with numbers, booleans, categories and missing values in this format."""
    if kind in ("csv", "tsv"):
        delimiter = {"csv": ",", "tsv": "\t"}[kind]
        return written(folder, f"rows.{kind}", "\n".join(map(delimiter.join, [("a", "b", "c", "label"), *ROWS])) + "\n")
    columns = {
        "a": [float(a) if a else None for a, _, _, _ in ROWS],
        "b": [b == "true" for _, b, _, _ in ROWS],
        "c": [c or None for _, _, c, _ in ROWS],
        "label": [label for _, _, _, label in ROWS],
    }
    if kind == "jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
        return written(folder, "rows.jsonl", "\n".join(lines) + "\n")
    path = folder / f"rows.{kind}"
    (pq.write_table if kind == "parquet" else feather.write_feather)(pa.table(columns), path)
    return path


def test_training_predicting_and_watching_do_without_scikit_learn_and_pandas(tmp_path):
    path, model = written(tmp_path, "rows.svm", THREE), tmp_path / "m"
    commands = [["train", path, "-l", name, "-o", model] for name in ("averaged", "perceptron", "voted", "kernel")]
    commands += [["predict", model, path], ["test", model, path], ["watch"]]
    for kind in ("csv", "tsv", "jsonl", "parquet", "feather"):
        rows, cache = table(tmp_path, kind), tmp_path / f"cache-{kind}"
        train = ["train", rows, "-t", "label", "--missing", "mean", "--cache", cache, "-o", model]
        commands += [train, train, ["predict", model, rows]]  # the second time its rows come from the cache
    commands.append(["train", rows, "-t", "label", "--calibrate", "--report", tmp_path / "report.html"])
    numbers = "a,b,label\n" + "".join(f"{math.sin(k)},{math.cos(k)},{k % 2}\n" for k in range(40))
    commands.append(["train", written(tmp_path, "numbers.csv", numbers), "-t", "label", "-o", model])
    modules = imported(*commands)
    assert "rosenblatt.training.run" in modules
    assert not [name for name in modules if name.startswith((*HEAVY, "rosenblatt.distributed"))]


def test_help_imports_nothing_heavy():
    modules = imported(["--help"], ["train", "--help"], ["lab", "--help"])
    heavy = ("numpy", "scipy", "sklearn", "numba", "pyarrow", "rich", "rosenblatt.lab")
    assert not {*heavy, "rosenblatt.cli.watch", "rosenblatt.cli.predict"} & set(modules)


def test_garbage_is_looked_for_when_work_begins():
    was = gc.isenabled(), gc.get_freeze_count()
    enable_gc()  # where it is looked for already, nothing changes
    assert (gc.isenabled(), gc.get_freeze_count()) == was
    code = (
        "import gc, sys; from rosenblatt.cli import main, output\n"
        "def app():\n"
        "    before = gc.isenabled(); output.enable_gc()\n"
        "    sys.exit(before or not gc.isenabled() or not gc.get_freeze_count())\n"
        "main.app = app; main.main()"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
