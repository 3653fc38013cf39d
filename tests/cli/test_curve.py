"""``train --holdout`` says where a kernel perceptron is much better than the model, and only there."""

import json

import numpy as np
import pandas as pd
import pytest

import rosenblatt
from helpers.commands import ran, written
from rosenblatt import KernelPerceptron, data
from rosenblatt.cli import curve
from rosenblatt.splits import Split


def table(folder, name, n, bent, seed=0):
    """Write rows whose classes are parted by the axes (bent), or by a line with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2)).round(3)
    y = np.where(X[:, 0] * X[:, 1] > 0 if bent else X[:, 0] + rng.normal(size=n) / 2 > 0, "in", "out")
    return written(folder, name, pd.DataFrame(X, columns=["a", "b"]).assign(label=y).to_csv(index=False))


def answer(*words):
    return json.loads(ran("train", *words, "--json").stdout)


@pytest.fixture
def bent(tmp_path):
    return table(tmp_path, "bent.csv", 400, True)


def test_a_curve_is_a_sentence(bent, tmp_path):
    given = [bent, "-t", "label", "--holdout", "25%", "--scale", "none"]
    found = answer(*given)
    compared = found["curve"]
    X, y = data.open(bent, "label").read()
    (held,) = Split.of_share(0.25, 0).held_out([y])
    twin = KernelPerceptron(kernel="rbf", max_iter=5, random_state=0).fit(X[~held], y[~held])
    assert (compared["rows"], compared["tested"]) == ((~held).sum(), held.sum())
    assert compared["accuracy"] == twin.score(X[held], y[held])
    assert compared["accuracy_of_model"] == found["holdout"]["accuracy"]
    assert compared["much_better"]
    assert found["advice"][-1].startswith("a line is not enough: a kernel perceptron that learned from 300 rows is")
    said = " ".join(ran("train", *given).stderr.split())
    assert found["advice"][-1] in said
    better = answer(*given, "--learner", "kernel", "--kernel", "rbf")
    assert better["holdout"]["accuracy"] > 0.9
    assert better["curve"] is None


def test_a_switch_turns_it_off_and_the_model_is_the_same(bent, tmp_path):
    given = [bent, "-t", "label", "--holdout", "25%"]
    ran("train", *given, "-o", tmp_path / "m")
    found = answer(*given, "--no-curve-check", "-o", tmp_path / "without")
    assert "curve" not in found
    assert not any("line" in sentence for sentence in found["advice"])
    assert (tmp_path / "m").read_bytes() == (tmp_path / "without").read_bytes()
    for words in (["--folds", "3"], ["--test", bent], []):
        assert "curve" not in answer(bent, "-t", "label", *words)


def test_where_a_line_is_right_nothing_is_said(tmp_path):
    found = answer(table(tmp_path, "line.csv", 400, False), "-t", "label", "--holdout", "25%")
    assert found["curve"]["much_better"] is False
    assert found["advice"] == []
    X = np.random.default_rng(0).normal(size=(200, 2)) + 5 * np.repeat([[0.0], [1.0]], 100, axis=0)
    clear = pd.DataFrame(X).assign(label=np.repeat(["a", "b"], 100)).to_csv(index=False)
    assert answer(written(tmp_path, "clear.csv", clear), "-t", "label", "--holdout", "25%")["curve"] is None


def test_it_learns_from_a_sample(tmp_path, monkeypatch):
    assert curve._MOST_ROWS == 5000
    monkeypatch.setattr(curve, "_MOST_ROWS", 200)
    found = answer(table(tmp_path, "long.csv", 1200, True), "-t", "label", "--holdout", "last:50%")["curve"]
    assert 190 <= found["rows"] <= 200
    assert 190 <= found["tested"] <= 200
    assert found["much_better"]


def test_class_weights_costs_and_thresholds_aim_at_something_else(bent):
    given = [bent, "-t", "label", "--holdout", "25%"]
    assert answer(*given, "--cost", "in=3")["curve"] is None
    assert answer(*given, "--threshold", "0.5")["curve"] is None
    assert answer(*given, "--class-weight", "in=3")["curve"] is None
    assert answer(*given, "--calibrate")["curve"]["much_better"]


def test_sparse_rows_of_several_classes(tmp_path):
    rng = np.random.default_rng(2)
    angle = rng.uniform(0, 2 * np.pi, 600)
    kinds = (np.floor(angle / (np.pi / 3)) % 3).astype(int)
    lines = [f"{k} 1:{np.cos(a):.4f} 3:{np.sin(a):.4f}\n" for k, a in zip(kinds, angle, strict=True)]
    rows = written(tmp_path, "r.svm", "".join(lines))
    found = answer(rows, "--holdout", "25%", "-o", tmp_path / "m")
    assert found["curve"]["much_better"]
    assert rosenblatt.load(tmp_path / "m").classes_.tolist() == [0, 1, 2]
