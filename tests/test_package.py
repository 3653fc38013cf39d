"""The package as a whole: public names, a light import, a cache that may be missing."""

import ast
import subprocess
import sys
import traceback
from pathlib import Path

import numba
import numpy as np
import pytest

import rosenblatt
from rosenblatt.kernels import compiler, jit, parts

CLUSTERS = {"dask", "distributed", "ray"}


def test_every_public_name_is_there_and_documented():
    for name in rosenblatt.__all__:
        assert getattr(rosenblatt, name).__doc__, name


def test_dir_names_all_that_can_be_imported():
    assert {"plots", "data", "textbook", "vc", "Perceptron", "__version__"} <= set(dir(rosenblatt))
    assert {*rosenblatt.__all__, "__version__"} == set(dir(rosenblatt))
    for name in dir(rosenblatt):
        assert getattr(rosenblatt, name)


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("PassiveAggressiveClassifier", "; did you mean 'PassiveAggressive'?"),
        ("SGDClassifier", "; did you mean 'AveragedPerceptron', 'Perceptron' or 'PassiveAggressive'?"),
        ("separation", "; did you mean 'detect_separation' or 'separability'?"),
        ("open", "; did you mean 'data.open'?"),
        ("perceptron", "; did you mean 'Perceptron'?"),
        ("AvergedPerceptron", "; did you mean 'AveragedPerceptron'?"),
        ("zzz", ""),
        ("_Perceptron", ""),
    ],
)
def test_an_unknown_name_suggests_one_that_is_there(name, question):
    with pytest.raises(AttributeError) as refusal:
        getattr(rosenblatt, name)
    assert str(refusal.value) == f"module 'rosenblatt' has no attribute {name!r}{question}"
    text = "".join(traceback.format_exception(refusal.value))
    assert text.lower().count("did you mean") == bool(question), "Python adds no suggestion of its own"


def test_import_is_light():
    code = (
        "import sys, numba, scipy.sparse, sklearn.base; before = set(sys.modules); import rosenblatt;"
        "rosenblatt.Perceptron, rosenblatt.separability, rosenblatt.data;"
        "print({name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"matplotlib", "pandas", "polars", "pyarrow", "typer", "rich", "safetensors"}
    assert not ast.literal_eval(run.stdout) & (heavy | CLUSTERS)


def test_learners_of_clusters_import_none_before_they_train():
    code = (
        "import sys, rosenblatt.distributed as clusters; clusters.DaskPerceptron(), clusters.RayPerceptron();"
        "print({name.partition('.')[0] for name in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not ast.literal_eval(run.stdout) & CLUSTERS


def test_importing_the_package_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import rosenblatt; print(set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name.partition(".")[0] for name in ast.literal_eval(run.stdout)} & {
        "numpy",
        "scipy",
        "sklearn",
        "numba",
    }


def test_type_checkers_are_told_of_the_same_names():
    tree = ast.parse(Path(rosenblatt.__file__).read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    told = {f"{node.module}.{alias.name}" for node in checked.body for alias in node.names}
    homes = {f"rosenblatt.{home}.{name}" for home, names in rosenblatt._HOMES.items() for name in names}
    assert told == homes | {f"rosenblatt.{home}" for home in rosenblatt._MODULES.values()}


@pytest.mark.skipif(compiler.SETTING == "never", reason="nothing is compiled")
def test_kernels_compile_where_nothing_can_be_written(monkeypatch):
    njit = numba.njit

    def no_cache(function, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(function, **options)

    monkeypatch.setattr(numba, "njit", no_cache)
    assert jit.compiled_kernel(lambda x: x + 1.0)(1.0) == 2.0


@pytest.mark.skipif(compiler.SETTING == "never", reason="nothing is compiled")
def test_compiled_kernels_are_kept_below_the_users_cache(monkeypatch, tmp_path):
    theirs = numba.config.CACHE_DIR
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert parts.cache_folder().parent == tmp_path / "rosenblatt"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    assert parts.cache_folder().parent == tmp_path / "mine" / "rosenblatt"
    jit.compiled_kernel(lambda x: x * 2.0)
    assert theirs == numba.config.CACHE_DIR, "another library's setting is left alone"


def test_models_are_small_and_plain():
    model = rosenblatt.Perceptron(random_state=0).fit(np.eye(3), [0, 1, 1])
    text = str(model.report_)
    assert text.startswith(f"{model.n_iter_} passes, {model.n_updates_} updates.\nSeparated")
    assert model.report_.to_dict()["updates"] == model.n_updates_
