"""train --calibrate, predict --proba, and what test and train say about probabilities."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import rosenblatt
from helpers.commands import THREE, ran, refused, written
from rosenblatt import AveragedPerceptron, ExactScaler, calibrated, data
from rosenblatt.cli.train_run import UNSEEN_SHARE
from rosenblatt.splits import Split
from rosenblatt.training.calibration import Reliability, rate_rows


def table(folder, classes=("no", "yes"), n=300, name="t.csv"):
    rng = np.random.default_rng(len(classes))
    X = rng.normal(size=(n, 3)).round(2)
    y = np.array(classes)[np.argmax(np.hstack([X, X])[:, : len(classes)] + rng.normal(size=(n, len(classes))), axis=1)]
    frame = pd.DataFrame({"x": X[:, 0], "y": 1000 * X[:, 1], "z": X[:, 2], "label": y})
    return written(folder, name, frame.to_csv(index=False))


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "label", "d")])
@pytest.mark.filterwarnings("ignore:.*some features have ranges:sklearn.exceptions.ConvergenceWarning")
def test_it_is_what_calibrated_does_on_rows_held_out(tmp_path, classes):
    path = table(tmp_path, classes)
    given = ["-t", "label", "--calibrate", "--holdout", "20%", "--seed", "3", "-o", tmp_path / "m"]
    found = json.loads(ran("train", path, *given, "--json").stdout)
    X, y = data.open(path, "label").read()
    (held,) = Split.of_share(0.2, 3).held_out([y])
    rest = np.flatnonzero(~held)
    (unseen,) = Split.of_share(UNSEEN_SHARE, 3).held_out([y[rest]])
    learned, unseen = rest[~unseen], rest[unseen]
    counts = found["rows"], found["calibration"]["rows"], found["holdout"]["rows"]
    assert counts == (len(learned), len(unseen), held.sum())
    assert sum(counts) == len(y)
    Z = ExactScaler("standard").fit(X[learned]).transform(X)
    twin = AveragedPerceptron(random_state=3, multi_class="direct").fit(Z[learned], y[learned])
    twin = calibrated(twin, Z[unseen], y[unseen])
    p = twin.predict_proba(Z)
    model = rosenblatt.load(tmp_path / "m")
    assert model.calibration_ == twin.calibration_
    numbers = np.searchsorted(twin.classes_, y)
    reliability = Reliability.of(rate_rows(p[held], numbers[held]), len(classes))
    assert found["holdout"]["calibration"] == vars(reliability)
    tested = json.loads(ran("test", tmp_path / "m", path, "--json").stdout)
    assert tested["calibration"] == vars(Reliability.of(rate_rows(p, numbers), len(classes)))
    head, *lines = csv.reader(io.StringIO(ran("predict", tmp_path / "m", path, "--proba").stdout))
    assert head == ["label", *("probability label" if label == "label" else label for label in sorted(classes))]
    assert [line[0] for line in lines] == twin.predict(Z).tolist()
    assert np.array_equal(np.array([line[1:] for line in lines], float), p)
    said = ran("predict", tmp_path / "m", path, "--proba").stderr
    other = int((twin.classes_[p.argmax(axis=1)] != twin.predict(Z)).sum())
    assert (f"Note: {other} of 300 labels are not the class of the largest probability" in said) == (other > 0)


def test_every_output_has_the_probabilities(tmp_path):
    path = table(tmp_path)
    ran("train", path, "-t", "label", "--calibrate", "-o", tmp_path / "m")
    plain = ran("predict", tmp_path / "m", path, "--proba", "--scores", "--id", "x").stdout
    frame = pd.read_csv(io.StringIO(plain))
    assert list(frame) == ["x", "label", "score yes", "no", "yes"]
    ran("predict", tmp_path / "m", path, "--proba", "-o", tmp_path / "p.parquet")
    assert pq.read_table(tmp_path / "p.parquet").column("yes").to_pylist() == frame["yes"].tolist()
    lines = ran("predict", tmp_path / "m", path, "--proba", "--json").stdout.splitlines()
    assert [json.loads(line)["no"] for line in lines] == frame["no"].tolist()
    assert ((frame["no"] + frame["yes"]) == 1.0).all()
    score = frame["score yes"]
    assert (np.sign(score) == np.where(frame["label"] == "yes", 1, -1)).all()


def test_what_is_printed(tmp_path):
    path = table(tmp_path)
    said = " ".join(ran("train", path, "-t", "label", "--calibrate", "--holdout", "20%").stdout.split())
    assert "Probabilities: fitted to 48 more rows held out of training, by a sigmoid." in said
    assert "Calibration error" in said
    assert "perfect probabilities would have" in said
    assert "(20% of each class)" in said
    folds = json.loads(ran("train", path, "-t", "label", "--calibrate", "--folds", "3", "--json").stdout)["folds"]
    assert sum(folds["calibration"]["rows"]) == 300
    seeds = ran("train", path, "-t", "label", "--calibrate", "--holdout", "20%", "--seeds", "2", "--json").stdout
    assert len(json.loads(seeds)["holdout"]["by_seed"]) == 2


def test_sparse_text_and_a_cache_give_the_same_bits(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (200, 5)) / 4
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    words = [" ".join(f"{j + 1}:{row[j]}" for j in np.flatnonzero(row)) for row in X]
    lines = [f"{label} {word}\n" for label, word in zip(y, words, strict=True)]
    sparse = written(tmp_path, "t.svm", "".join(lines))
    dense = written(tmp_path, "t.csv", pd.DataFrame(X).assign(label=y).to_csv(index=False))
    given = ["--calibrate", "--scale", "none"]
    ran("train", sparse, *given, "-o", tmp_path / "sparse", "--cache", tmp_path / "cache")
    ran("train", sparse, *given, "-o", tmp_path / "cached", "--cache", tmp_path / "cache")
    ran("train", dense, "-t", "label", *given, "-o", tmp_path / "dense")
    models = [rosenblatt.load(tmp_path / name) for name in ("sparse", "cached", "dense")]
    assert len({model.calibration_ for model in models}) == 1
    from_sparse = ran("predict", tmp_path / "sparse", sparse, "--proba").stdout
    assert from_sparse == ran("predict", tmp_path / "dense", dense, "--proba").stdout


def test_rows_of_weight_zero_do_not_count(tmp_path):
    path = table(tmp_path)
    frame = pd.read_csv(path)
    frame["w"] = 1.0
    ones = written(tmp_path, "ones.csv", frame.to_csv(index=False))
    ran("train", ones, "-t", "label", "--calibrate", "--weight", "w", "-o", tmp_path / "ones")
    ran("train", path, "-t", "label", "--calibrate", "-o", tmp_path / "none")
    first, second = (rosenblatt.load(tmp_path / name).calibration_ for name in ("ones", "none"))
    assert first == second


def test_what_cannot_be_done_is_one_sentence(tmp_path):
    path = table(tmp_path)
    assert "cannot be combined with --calibrate, which reads the rows again" in refused(
        "train", "-", "--calibrate", "--format", "svmlight", input=THREE
    )
    assert "--calibrate cannot be combined with --cluster" in refused(
        "train", path, "-t", "label", "--calibrate", "--cluster", "dask"
    )
    few = written(tmp_path, "few.csv", "x,label\n1,a\n2,b\n3,a\n4,b\n")
    assert "too few rows to hold out some of each class" in refused("train", few, "-t", "label", "--calibrate")
    ran("train", path, "-t", "label", "-o", tmp_path / "m")
    said = refused("predict", tmp_path / "m", path, "--proba")
    assert "has scores but no probabilities: train it with --calibrate" in said
    assert "Training a model further removes its probabilities." in said
    rare = pd.read_csv(path).assign(label=lambda f: np.where(f.index < 2, "rare", f["label"]))
    said = ran("train", written(tmp_path, "rare.csv", rare.to_csv(index=False)), "-t", "label", "--calibrate").stderr
    assert "no rows of rare are left to calibrate on" in said
