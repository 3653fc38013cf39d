"""``rosenblatt explain``: support rows, many classes, both units, and lines that fit a terminal."""

import json

import numpy as np
import pytest

import rosenblatt
from helpers.commands import command, ran, written
from rosenblatt import AveragedPerceptron, KernelPerceptron


def test_support_rows_are_explained_by_their_coefficients(tmp_path):
    X, y = rosenblatt.data.make_rings(60, random_state=0)
    model = KernelPerceptron(degree=2, gamma=1.0, hypothesis="last", max_iter=100, random_state=0).fit(X, y)
    model.preparation_ = {"format": "svmlight", "version": 1, "zero_based": False, "n_features": 2}
    path = str(tmp_path / "model")
    rosenblatt.save(model, path)
    answer = json.loads(command("explain", path, "--top", 2, "--json").stdout)
    assert [row["coefficient"] for row in answer["rows"]] == rosenblatt.explain(model, top=2)["coefficient"]
    assert answer["notes"][0].startswith("Kernel: poly with degree 2")
    assert "Kernel: poly" in command("explain", path, "--top", 2).stdout


CLASSES = 12


@pytest.fixture(scope="module")
def scaled(tmp_path_factory):
    """A model of twelve classes that says it was trained on a scaled table with hashed words."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (300, CLASSES + 2)).astype(float)
    model = AveragedPerceptron(random_state=0).fit(X, X[:, :CLASSES].argmax(axis=1).astype(float))
    model.feature_names_in_ = np.array(
        [f"a column with a rather long name, number {i}" for i in range(CLASSES)] + ["#1", "#0"], object
    )
    model.preparation_ = {
        "format": "svmlight",
        "version": 1,
        "zero_based": False,
        "bits": 1,
        "n_features": CLASSES + 2,
        "scale": {"method": "standard", "features": [0, 1], "centre": [5.0, 7.0], "spread": [10.0, 0.5]},
    }
    return model


def shown(model, monkeypatch, *words):
    monkeypatch.setattr(rosenblatt, "load", lambda path, **_: model, raising=False)
    return command("explain", "model", *words)


def test_many_classes_fit_a_terminal_and_one_is_shown_in_full(scaled, monkeypatch):
    text = shown(scaled, monkeypatch).stdout
    lines = text.splitlines()
    assert len(lines) < 20
    assert max(map(len, lines)) <= 80
    assert "One class in full: --label 0." in lines
    text = shown(scaled, monkeypatch, "--label", "7").stdout
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["class", "feature", "weight", "weight", "per", "unit"]
    assert {line.split()[0] for line in lines[3:17]} == {"7"}
    assert "7.0" not in text
    assert any("rosenblatt train --names" in line for line in lines)
    both = shown(scaled, monkeypatch, "--label", "7", "--label", "3", "--top", 1).stdout.splitlines()
    assert [line.split()[0] for line in both[3:7]] == ["7", "7", "3", "3"]


def test_machines_get_all_classes_in_full_and_uncut_names(scaled, monkeypatch):
    rows = json.loads(shown(scaled, monkeypatch, "--json").stdout)["rows"]
    assert {row["class"] for row in rows} == set(range(CLASSES))
    assert {row["feature"] for row in rows} == set(scaled.feature_names_in_)
    first = next(row for row in rows if row["feature"].endswith("number 0"))
    assert first["weight per unit"] == first["weight"] / 10


def test_a_class_that_is_not_there_is_an_error_in_the_words_of_the_command(scaled, monkeypatch):
    result = shown(scaled, monkeypatch, "--label", "x")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: --label must be one of the classes 0, 1, 2, 3")
    assert "use only one" in shown(scaled, monkeypatch, "--label", "7", "--row", "a.svm:0").stderr


def test_advice_is_that_of_the_command(monkeypatch):
    model = AveragedPerceptron(random_state=0).fit([[1.0, 1000.0], [0.0, -1000.0]], [1, 0])
    text = " ".join(shown(model, monkeypatch).stdout.split())
    assert "train it again with rosenblatt train --scale standard." in text
    assert "Scaler" not in text


def test_a_category_that_training_did_not_see_is_named(tmp_path):
    rows = "".join(f"{('Bern', 'Rome', 'Oslo')[k % 3]},{k % 5},{'ab'[k % 3 == 0]}\n" for k in range(30))
    file = written(tmp_path, "t.csv", "city,x,y\n" + rows)
    ran("train", file, "-t", "y", "-o", tmp_path / "m")
    new = written(tmp_path, "new.csv", "city,x\nBern,1\nBrno,2\n,3\n")
    notes = [" ".join(ran("explain", tmp_path / "m", "--row", f"{new}:{k}").stdout.split()) for k in range(3)]
    assert ["city=Brno" in note for note in notes] == [False, True, False]
    assert "Not known to the model and ignored: city=Brno." in notes[1]
