"""Weights of classes, costs of mistakes and thresholds: as the library does it in memory, wherever the model goes."""

import csv
import io
import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest

import rosenblatt
from helpers.commands import THREE, ran, refused, written
from helpers.exported import as_inputs
from rosenblatt import AROW, AveragedPerceptron, calibrated, data
from rosenblatt.cli.train_run import UNSEEN_SHARE
from rosenblatt.splits import Split
from rosenblatt.storage.container import read_container, write_container
from rosenblatt.training.ranking import least_cost

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def rare(tmp_path):
    """Four hundred rows, of which about one in twelve is a fraud."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).round(2)
    y = np.where(X[:, 0] + X[:, 1] / 2 + rng.normal(size=400) > 2.2, "fraud", "ok")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=y)
    return written(tmp_path, "rare.csv", frame.to_csv(index=False))


def answer(*words):
    return json.loads(ran("train", *words, "--json").stdout)


def test_a_class_weight_is_that_of_the_library(rare, tmp_path):
    X, y = data.open(rare, "label").read()
    given = ["-t", "label", "--scale", "none", "-o", tmp_path / "m"]
    for words, weight in (
        (["--class-weight", "fraud=10"], {"fraud": 10.0}),
        (["--class-weight", "ok=0.25", "--class-weight", "fraud=3"], {"ok": 0.25, "fraud": 3.0}),
    ):
        found = answer(rare, *given, *words)
        twin = AveragedPerceptron(random_state=0, class_weight=weight).fit(X, y)
        assert rosenblatt.load(tmp_path / "m").coef_.tobytes() == twin.coef_.tobytes()
        assert found["class_weight"] == [weight.get("fraud", 1.0), weight.get("ok", 1.0)]
    numbers = written(tmp_path, "numbers.svm", THREE)
    assert answer(numbers, "--class-weight", "2=5")["class_weight"] == [1.0, 5.0, 1.0]


@pytest.mark.parametrize("more", [[], ["--early-stopping"], ["--learner", "arow"]], ids=str)
def test_the_threshold_of_least_cost_on_rows_held_out(rare, tmp_path, more):
    given = [rare, "-t", "label", "--scale", "none", "--seed", "2", *more]
    found = answer(*given, "--cost", "fraud=10", "-o", tmp_path / "m")
    X, y = data.open(rare, "label").read()
    (unseen,) = Split.of_share(UNSEEN_SHARE, 2).held_out([y])
    learner = AROW if "arow" in more else AveragedPerceptron
    kept = {"early_stopping": True, "validation_fraction": 0.1} if "--early-stopping" in more else {}
    twin = learner(random_state=2, **kept).fit(X[~unseen], y[~unseen])
    scores, positive = twin.decision_function(X[unseen]), y[unseen] == "ok"
    threshold = least_cost(scores, positive, (10.0, 1.0))
    assert found["threshold"]["threshold"] == pytest.approx(threshold.value, rel=1e-12)
    assert threshold.value > 0  # "ok" is the second class: fewer rows are taken for it
    facts = {name: found["threshold"][name] for name in ("rows", "costs", "cost", "cost_at_zero")}
    cost = {"cost": threshold.cost, "cost_at_zero": threshold.cost_at_zero}
    assert facts == {"rows": unseen.sum(), "costs": [10.0, 1.0]} | cost
    assert threshold.cost < threshold.cost_at_zero
    model = rosenblatt.load(tmp_path / "m")
    assert model.coef_.tobytes() == twin.coef_.tobytes()
    assert model.intercept_[0] == twin.intercept_[0] - found["threshold"]["threshold"]
    predicted = model.predict(pd.read_csv(rare))[unseen]
    assert (
        10 * ((y[unseen] == "fraud") & (predicted == "ok")).sum() + ((y[unseen] == "ok") & (predicted == "fraud")).sum()
        == threshold.cost
    )


def test_every_way_to_use_the_model_follows_the_threshold(rare, tmp_path):
    given = [rare, "-t", "label", "--scale", "standard"]
    ran("train", *given, "-o", tmp_path / "plain")
    found = answer(*given, "--threshold", "1.5", "-o", tmp_path / "m")
    assert found["threshold"] == {"threshold": 1.5}
    scores = [
        np.array([float(row["score ok"]) for row in csv.DictReader(io.StringIO(ran(*words, "--scores").stdout))])
        for words in (("predict", tmp_path / "plain", rare), ("predict", tmp_path / "m", rare))
    ]
    np.testing.assert_allclose(scores[0] - 1.5, scores[1], atol=1e-12)
    expected = np.where(scores[0] > 1.5, "ok", "fraud")
    assert (expected != np.where(scores[0] > 0, "ok", "fraud")).sum() > 5
    assert ran("predict", tmp_path / "m", rare).stdout.split() == expected.tolist()
    _, y = data.open(rare, "label").read()
    tested = json.loads(ran("test", tmp_path / "m", rare, "--json").stdout)
    assert tested["right"] == (expected == y).sum()
    model = rosenblatt.load(tmp_path / "m")
    frame = pd.read_csv(rare)
    assert model.predict(frame).tolist() == expected.tolist()
    assert model.predict_one(frame.iloc[0].to_dict()) == expected[0]
    rosenblatt.save(model, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    ran("export", tmp_path / "m", tmp_path / "m.json")
    (rule,) = json.loads((tmp_path / "m.json").read_text())["scores"]
    assert rule["bias"] == model.intercept_[0]
    ran("export", tmp_path / "m", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    outputs = session.run(None, as_inputs(session, pd.read_csv(rare).drop(columns="label")))
    assert outputs[0].ravel().tolist() == expected.tolist()
    model.partial_fit(frame[:1])  # learning goes on; the threshold stays
    assert model.state_.threshold == 1.5


def test_probabilities_belong_to_the_model_with_its_threshold(rare, tmp_path):
    given = [rare, "-t", "label", "--scale", "none", "--cost", "fraud=10", "--calibrate", "--holdout", "20%"]
    found = answer(*given, "-o", tmp_path / "m")
    assert found["threshold"]["rows"] == found["calibration"]["rows"]
    assert found["rows"] + found["calibration"]["rows"] + found["holdout"]["rows"] == 400
    X, y = data.open(rare, "label").read()
    (held,) = Split.of_share(0.2, 0).held_out([y])
    rest = np.flatnonzero(~held)
    (unseen,) = Split.of_share(UNSEEN_SHARE, 0).held_out([y[rest]])
    model = rosenblatt.load(tmp_path / "m")
    twin = AveragedPerceptron(random_state=0).fit(X[rest[~unseen]], y[rest[~unseen]])
    twin.state_.threshold = model.state_.threshold
    twin = calibrated(twin, X[rest[unseen]], y[rest[unseen]])
    assert model.calibration_ == twin.calibration_
    text = " ".join(ran("train", *given).stdout.split())
    assert "Threshold: ok is predicted above a score of" in text
    assert "more rows held out of training then cost" in text
    assert "(20% of each class)" in text


def test_costs_move_the_recall_of_the_rare_class(rare):
    given = [rare, "-t", "label", "--holdout", "30%"]
    plain, costly = (answer(*given, *more)["holdout"]["by_class"][0] for more in ([], ["--cost", "fraud=20"]))
    assert costly["recall"] > plain["recall"]
    folds = answer(rare, "-t", "label", "--folds", "3", "--cost", "fraud=20")["folds"]
    assert folds["by_class"][0]["recall"] > plain["recall"]


def test_a_threshold_is_between_two_classes(tmp_path):
    rows = written(tmp_path, "three.svm", THREE)
    assert "--cost is for two classes, but there are 3: use --class-weight" in refused("train", rows, "--cost", "2=3")
    assert "--threshold is for two classes, but there are 3" in refused("train", rows, "--threshold", "1")
    for words in (["--cost", "1=3"], ["--threshold", "1"], ["--class-weight", "1=3"]):
        said = refused("train", "-", "--format", "svmlight", *words, input=THREE)
        assert f"cannot be combined with {words[0]}, which reads the rows again" in said
    few = written(tmp_path, "few.csv", "x,label\n1,a\n2,b\n3,a\n4,b\n")
    said = refused("train", few, "-t", "label", "--cost", "a=2")
    assert "too few rows to hold out some of each class: add rows, or train without --cost." in said


def test_a_forged_threshold_is_refused(rare, tmp_path):
    ran("train", rare, "-t", "label", "--threshold", "1", "-o", tmp_path / "two")
    ran("train", written(tmp_path, "three.svm", THREE), "-o", tmp_path / "three")
    header, arrays = read_container(tmp_path / "two")
    header["learned"]["state"]["threshold"] = "1"
    write_container(tmp_path / "forged", header, arrays)
    with pytest.raises(ValueError, match=r"'learned\.state\.threshold' must be a finite number"):
        rosenblatt.load(tmp_path / "forged")
    header, arrays = read_container(tmp_path / "three")
    assert "threshold" not in header["learned"]["state"]
    header["learned"]["state"]["threshold"] = 1.0
    write_container(tmp_path / "forged", header, arrays)
    with pytest.raises(ValueError, match=r"'learned\.state\.threshold' must be absent, unless there are two classes"):
        rosenblatt.load(tmp_path / "forged")


def test_a_sentence_says_what_to_try(tmp_path):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(1000) % 50 == 0, "fraud", "ok")
    noise = written(tmp_path, "n.csv", pd.DataFrame(rng.normal(size=(1000, 2))).assign(y=y).to_csv(index=False))
    result = ran("train", noise, "-t", "y", "--holdout", "30%", "-l", "arow", "-o", tmp_path / "m")
    said = " ".join(result.stderr.split())
    assert (
        "Note: only 0.0% of the rows of fraud are found: train with --class-weight fraud=49 or --cost fraud=49" in said
    )
    found = json.loads(ran("test", tmp_path / "m", noise, "--json").stdout)["advice"]
    assert [text.split(":")[0] for text in found] == ["only 0.0% of the rows of fraud are found"]
    assert found[0] in " ".join(ran("test", tmp_path / "m", noise).stderr.split())
    given = [noise, "-t", "y", "--holdout", "30%"]
    lost = pd.read_csv(noise).assign(y=np.where(rng.random(1000) < 0.4, "fraud", "ok"))
    lost = [written(tmp_path, "l.csv", lost.to_csv(index=False)), "-t", "y", "--holdout", "30%"]
    worse = "always predicting ok is right more often: train with "
    sentence = answer(*lost, "-o", tmp_path / "lost")["advice"][0]
    assert sentence == f"{worse}--cost ok=1 for the threshold with the fewest mistakes"
    for more in (["--class-weight", "ok=0.9"], ["--cost", "fraud=1.1"], ["--threshold", "-0.1"]):  # on purpose
        assert not any(text.startswith(worse) for text in answer(*lost, *more, "-o", tmp_path / "m")["advice"])
        tested = json.loads(ran("test", tmp_path / "m", noise, "--json").stdout)["advice"]
        assert not any(text.startswith(worse) for text in tested)
    assert answer(*lost, "-l", "voted")["advice"][0].startswith(f"{worse}another --learner, or look at the columns")
    ones = written(tmp_path, "ones.csv", "".join(noise.read_text().splitlines(True)[:1] + ["0,1,ok\n"] * 3))
    said = json.loads(ran("test", tmp_path / "lost", ones, "--json").stdout)["advice"]
    assert said[0] == "all rows tested are of class ok, so these scores say nothing about the others"
    better = answer(*given, "--cost", "ok=1")["holdout"]
    assert better["accuracy"] == better["commonest"]["accuracy"]
    third = pd.read_csv(noise).assign(y=np.where(np.arange(1000) % 50 == 1, "theft", y))
    third = written(tmp_path, "t.csv", third.to_csv(index=False))
    several = answer(third, "-t", "y", "--folds", "2", "-l", "arow")["advice"]
    (sentence,) = several
    assert sentence.startswith("few rows of some classes are found (recall fraud 0.0%, theft 0.0%): train with --class")


def test_a_good_model_needs_no_advice(rare):
    assert answer(rare, "-t", "label", "--holdout", "30%")["advice"] == []
    assert answer(rare, "-t", "label")["advice"] == []
