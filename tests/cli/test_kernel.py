"""``--learner kernel`` at the command: every kind of file, runs that stop and go on, and what is refused."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt
from helpers.commands import THREE, XOR, command, ran, refused, written
from rosenblatt import KernelPerceptron, data
from rosenblatt.cli.options import KERNELS, KernelChoice
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.model_file import TrainedModel

KINDS = ("csv", "svmlight", "npz", "parquet", "vw")


@pytest.fixture
def rings():
    """Seventy points on a grid: a ring, what lies inside it, and some noise."""
    rng = np.random.default_rng(2)
    X = rng.integers(-4, 5, (70, 2)).astype(float)
    y = (X**2).sum(axis=1) + rng.integers(-3, 4, 70) > 12
    return X, y.astype(int)


def file_of(kind, folder, X, y):
    """Write rows in a format; return the path, the words of the command that it needs, and what data.open needs."""
    columns, label = [f"x{i}" for i in range(X.shape[1])], {"target": "label"}
    if kind == "csv":
        lines = [",".join(map(str, [*row, name])) for row, name in zip(X.tolist(), y.tolist(), strict=True)]
        return written(folder, "rows.csv", "\n".join([",".join([*columns, "label"]), *lines]) + "\n"), label
    if kind == "parquet":
        table = pa.table(dict(zip(columns, X.T, strict=True)) | {"label": y})
        pq.write_table(table, folder / "rows.parquet")
        return folder / "rows.parquet", label
    if kind == "npz":
        np.savez(folder / "rows.npz", X=X, y=y)
        return folder / "rows.npz", {}
    pair = "{}:{}" if kind == "svmlight" else "f{}:{}"
    middle = " " if kind == "svmlight" else " | "
    rows = (" ".join(pair.format(i + 1, value) for i, value in enumerate(row)) for row in X.tolist())
    lines = [f"{2 * name - 1}{middle}{row}" for row, name in zip(rows, y.tolist(), strict=True)]
    return written(folder, f"rows.{kind}", "\n".join(lines) + "\n"), {}


def twin_of(path, opened, **parameters):
    """Return the estimator that learned from the same file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KernelPerceptron(**{"random_state": 0} | parameters).fit_stream(data.open(path, **opened))


def assert_same(model, twin):
    assert model.get_params() == twin.get_params()
    assert model.support_.tolist() == twin.support_.tolist()
    assert np.array_equal(model.last_dual_coef_, twin.last_dual_coef_)
    assert np.array_equal(model.average_dual_coef_, twin.average_dual_coef_)
    assert model.gamma_ == twin.gamma_
    assert model.report_ == twin.report_


WORDS = [
    ([], {}),
    (["--kernel", "rbf", "--gamma", "0.5", "--hypothesis", "last"], {"gamma": 0.5, "hypothesis": "last"}),
    (["--kernel", "laplacian", "--gamma", "auto", "--hypothesis", "vote"], {"gamma": "auto", "hypothesis": "vote"}),
    (["--degree", "2", "--coef0", "0.5", "--max-support", "9"], {"degree": 2, "coef0": 0.5, "max_support": 9}),
]


@pytest.mark.parametrize(("kind", "words", "parameters"), [(*KINDS[k : k + 1], *WORDS[k % 4]) for k in range(5)])
def test_every_format_gives_the_model_of_the_library(tmp_path, rings, kind, words, parameters):
    path, opened = file_of(kind, tmp_path, *rings)
    target = ["-t", "label"] if opened else []
    kernel = words[1] if "--kernel" in words else "poly"
    result = ran("train", path, *target, "-l", "kernel", *words, "-p", "4", "-o", tmp_path / "m")
    twin = twin_of(path, opened, kernel=kernel, max_iter=4, **parameters)
    assert_same(rosenblatt.load(tmp_path / "m"), twin)
    assert f"{twin.n_updates_} updates." in result.stdout
    assert f"Kernel: {kernel} with " in result.stdout
    assert f"; {len(twin.support_)} support vectors." in result.stdout.replace("\n", " ")

    (rows,) = data.open(path, **opened)
    predicted = ran("predict", tmp_path / "m", path)
    assert predicted.stdout.split() == [str(int(label)) for label in twin.predict(rows)]


def test_three_classes_and_the_facts_for_machines(tmp_path):
    path = written(tmp_path, "three.svm", THREE)
    words = ["train", path, "-l", "kernel", "--kernel", "sigmoid", "--gamma", "0.1", "--test", path, "--seeds", "2"]
    result = ran(*words, "--cache-size", "0.5", "--json")
    answer = json.loads(result.stdout)
    assert answer["learner"] == "KernelPerceptron"
    assert answer["kernel"] == {"name": "sigmoid", "gamma": 0.1, "coef0": 1.0}
    assert answer["hypothesis"] == "average"
    assert 1 <= answer["support_rows"] <= 12
    assert answer["margin_high"] is None  # the theorem is about kernels that are dot products
    assert len(answer["test"]["by_seed"]) == 2
    words = command(*words).stdout
    assert "inf" not in words
    assert "margin" not in words


def test_margins_are_those_of_the_kernels_space(tmp_path):
    path = written(tmp_path, "xor.csv", XOR)
    result = command("train", path, "-t", "label", "-l", "kernel", "--degree", "2", "--gamma", "1")
    assert "Separated: the last pass made no mistake." in result.stdout
    assert "The margin (in the kernel's space) lies between" in result.stdout
    linear = command("train", path, "-t", "label", "-l", "kernel", "--kernel", "linear")
    assert "Kernel: linear; " in linear.stdout
    assert "If a separator exists, its margin (in the kernel's space) is at most" in linear.stdout.replace("\n", " ")


@pytest.mark.parametrize(("kind", "more"), [("csv", []), ("svmlight", ["--early-stopping"])])
def test_resume_ends_with_the_model_of_a_run_that_never_stopped(tmp_path, rings, monkeypatch, kind, more):
    path, opened = file_of(kind, tmp_path, *rings)
    words = ["train", path, *(["-t", "label"] if opened else []), "-l", "kernel", "--kernel", "rbf", "-p", "7", *more]
    saved = ["--checkpoint", tmp_path / "c", "--every", "0s"]
    assert command(*words, "-o", tmp_path / "whole").exit_code == 0
    write, times = CheckpointWriter.write, iter(range(3))
    with monkeypatch.context() as patched:
        patched.setattr(
            CheckpointWriter, "write", lambda *given: write(*given) if next(times, None) is not None else None
        )
        assert command(*words, *saved).exit_code == 0
    result = ran(*words, *saved, "--resume", "--cache-size", "1", "-o", tmp_path / "again")
    assert "resuming from" in result.stderr
    whole, again = (rosenblatt.load(tmp_path / name) for name in ("whole", "again"))
    assert_same(again.set_params(cache_size=1000), whole.set_params(cache_size=1000))
    for other in (["--gamma", "3"], ["--hypothesis", "vote"]):
        assert other[0][2:] in refused(*words, *other, *saved, "--resume")


def test_standard_input_needs_a_gamma(rings):
    X, y = rings
    text = "".join(f"{2 * b - 1} 1:{r[0]} 2:{r[1]}\n" for r, b in zip(X.tolist(), y.tolist(), strict=True))
    words = ["train", "-", "-l", "kernel", "--kernel", "rbf", "--no-shuffle", "--json"]
    for gamma in ([], ["--gamma", "auto"]):
        result = command(*words, *gamma, input=text)
        assert result.exit_code == 2
        name = gamma[-1] if gamma else "scale"
        assert result.stderr.startswith(
            f"Error: --gamma {name} depends on all rows, but with input that can be read only once"
        )
        assert result.stderr.endswith("give a number, such as --gamma 0.5.\n")
    result = ran(*words, "--gamma", "0.5", input=text)
    twin = KernelPerceptron("rbf", gamma=0.5, max_iter=1, shuffle=False).fit(X, y)
    assert json.loads(result.stdout)["updates"] == twin.n_updates_
    assert command(*words[:4], "--kernel", "linear", "--json", input=text).exit_code == 0


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_other_commands_take_such_a_model(tmp_path, rings):
    path, _ = file_of("csv", tmp_path, *rings)
    model = tmp_path / "m"
    assert command("train", path, "-t", "label", "-l", "kernel", "--kernel", "rbf", "-o", model).exit_code == 0
    loaded = rosenblatt.load(model)
    right = json.loads(command("test", model, path, "--json").stdout)["right"]
    assert right == (loaded.predict(pd.read_csv(path)) == rings[1]).sum()
    scores = command("predict", model, path, "--scores").stdout.splitlines()
    assert scores[0] == "label,score 1"
    assert [float(line.split(",")[1]) for line in scores[1:]] == loaded.decision_function(pd.read_csv(path)).tolist()
    shown = ran("explain", model, "--top", "2")
    assert "Kernel: rbf with gamma" in shown.stdout
    assert command("explain", model, "--row", f"{path}:3").exit_code == 0
    for out in ("m.onnx", "m.json"):
        assert "a KernelPerceptron, which has support vectors and no weights, so it cannot be exported" in refused(
            "export", model, tmp_path / out
        )
        assert not (tmp_path / out).exists()


def test_a_model_of_another_device_works_here(tmp_path, rings):
    path, _ = file_of("svmlight", tmp_path, *rings)
    assert command("train", path, "-l", "kernel", "-o", tmp_path / "m").exit_code == 0
    model = TrainedModel.load(tmp_path / "m")
    model.options = replace(model.options, device="cuda:7")
    model.save(tmp_path / "far")
    for words in (
        ["predict", "{}", path],
        ["test", "{}", path],
        ["explain", "{}"],
        ["explain", "{}", "--row", f"{path}:1"],
    ):
        near, far = (command(*[tmp_path / name if word == "{}" else word for word in words]) for name in ("m", "far"))
        assert far.exit_code == 0, far.stderr
        assert far.stdout == near.stdout
    ran("watch", "--model", tmp_path / "far", "--every", "70", input=_lines(*rings))


# watch


def _lines(X, y):
    return "".join(f"{2 * b - 1} 1:{r[0]} 2:{r[1]}\n" for r, b in zip(X.tolist(), y.tolist(), strict=True))


@pytest.mark.parametrize("more", [[], ["--max-support", "6"]])
def test_watch_learns_row_by_row_and_goes_on(tmp_path, rings, more):
    X, y = rings
    kernel = ["-l", "kernel", "--kernel", "rbf", "--gamma", "0.5", *more]
    words = ["watch", "--every", "10", "--json", "-o", tmp_path / "m"]
    first = ran(*words, *kernel, input=_lines(X[:33], y[:33]))
    second = ran(*words, "--model", tmp_path / "m", input=_lines(X[33:], y[33:]))
    twin = KernelPerceptron("rbf", gamma=0.5, max_support=6 if more else None)
    mistakes = 0
    for i, label in enumerate(2 * y - 1):
        mistakes += not i or twin.predict(X[[i]])[0] != label
        twin.partial_fit(X[[i]], [label], classes=None if i else [-1, 1])
    model = rosenblatt.load(tmp_path / "m")
    assert model.support_.tolist() == twin.support_.tolist()
    assert np.array_equal(model.average_dual_coef_, twin.average_dual_coef_)
    counts = [json.loads(result.stdout.splitlines()[-1])["mistakes"] for result in (first, second)]
    assert sum(counts) == mistakes


def test_watch_goes_on_from_the_gamma_that_a_model_has(tmp_path, rings):
    X, y = rings
    path, _ = file_of("svmlight", tmp_path, X[:40], y[:40])
    assert command("train", path, "-l", "kernel", "-p", "2", "-o", tmp_path / "m").exit_code == 0
    gamma = rosenblatt.load(tmp_path / "m").gamma_
    ran("watch", "--model", tmp_path / "m", "-o", tmp_path / "n", input=_lines(X[40:], y[40:]))
    assert rosenblatt.load(tmp_path / "n").gamma_ == gamma
    for words in (["--kernel", "poly"], ["--gamma", "1"], ["--max-support", "3"], ["-l", "kernel"]):
        assert "was fixed when" in refused("watch", "--model", tmp_path / "m", *words, input=_lines(X, y))


def test_watch_says_what_it_cannot_bound(rings):
    text = _lines(*rings)
    kernel = ["watch", "-l", "kernel", "--gamma", "0.5", "--every", "70"]
    assert "--gamma scale depends on all rows" in command("watch", "-l", "kernel", input=text).stderr
    budget = command(*kernel, "--max-support", "5", "--margin", "1", input=text)
    assert (budget.exit_code, budget.stderr.count("\n")) == (2, 1)
    assert "not possible with --max-support" in budget.stderr
    sigmoid = command(*kernel, "--kernel", "sigmoid", "--margin", "1", input=text)
    assert (sigmoid.exit_code, sigmoid.stderr.count("\n")) == (2, 1)
    assert "--kernel sigmoid" in sigmoid.stderr
    assert "inf" not in command(*kernel, "--kernel", "sigmoid", input=text).stdout
    bounded = ran(*kernel, "--margin", "1000", input=text)
    assert "no hyperplane in the kernel's space separates these rows" in bounded.stderr.replace("\n", " ")


def test_every_kernel_of_the_command_is_one_of_the_library():
    for kernel in KERNELS:
        assert KernelChoice(kernel=kernel).parameters("kernel") == {"kernel": kernel}
        KernelPerceptron(kernel).fit([[1.0], [-1.0]], [1, 0])
