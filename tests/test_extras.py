"""What is installed apart: one name for all of it, and a sentence with the way to get what is missing."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from helpers.workbooks import write_xlsx

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
APART = {"attack", "all", "bench", "dask", "dev", "docs", "gpu", "ray"}
EXTRAS = {
    "matplotlib": "plots",
    "onnx": "onnx",
    "pyarrow": "files",
    "calamine": "excel",
    "dask": "dask",
    "ray": "ray",
    "typer": "cli",
}
CODE = """
import sys
for package in ("matplotlib", "onnx", "pyarrow", "python_calamine", "distributed", "ray", "typer"):
    sys.modules[package] = None
import rosenblatt, rosenblatt.plots, rosenblatt.distributed as clusters
model = rosenblatt.Perceptron().fit([[1.0], [-1.0]], [1, 0])
for call in (
    lambda: rosenblatt.plots.plot_history(model),
    lambda: rosenblatt.export_onnx(model, "m.onnx"),
    lambda: rosenblatt.data.open(sys.argv[1], target="y"),
    lambda: rosenblatt.data.open(sys.argv[2], target="y"),
    lambda: clusters.DaskPerceptron().fit_shards([([[1.0], [-1.0]], [1, 0])]),
    lambda: clusters.RayPerceptron().fit_shards([([[1.0], [-1.0]], [1, 0])]),
):
    try:
        call()
    except ImportError as error:
        print(error)
import rosenblatt.cli.main
"""


def test_all_has_every_extra_of_users():
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    assert extras["all"] == [f"rosenblatt[{','.join(name for name in extras if name not in APART)}]"]


@pytest.mark.slow
def test_a_missing_package_is_named_with_the_way_to_get_it(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,yes\n0,no\n")
    write_xlsx(tmp_path / "rows.xlsx", {"Sheet1": [["a", "y"], [1, "yes"], [0, "no"]]})
    files = [tmp_path / "rows.csv", tmp_path / "rows.xlsx"]
    run = subprocess.run([sys.executable, "-c", CODE, *files], capture_output=True, text=True)
    assert run.returncode == 2
    lines = run.stdout.splitlines() + run.stderr.splitlines()
    assert len(lines) == len(EXTRAS)
    for line, (package, extra) in zip(lines, EXTRAS.items(), strict=True):
        assert package in line
        assert f"pip install 'rosenblatt[{extra}]'" in line
