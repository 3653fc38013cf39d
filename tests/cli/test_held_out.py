"""Rows held out, folds, weights of classes and scales, at the command: all as the library does it in memory."""

import json
import os
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rosenblatt
from helpers.commands import command, ran, refused, written
from helpers.titanic import titanic_like
from rosenblatt import AveragedPerceptron, ExactScaler, Perceptron, data
from rosenblatt.cli.train_run import Training
from rosenblatt.splits import Split

FOLDER = os.environ.get("ROSENBLATT_DATA", "")


@pytest.fixture
def table(tmp_path):
    """Ninety rows of three classes, the columns on very different scales."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 3)).round(3)
    y = np.array(["a", "b", "c"])[np.argmax(X + [0.2, 0, 0] + rng.normal(size=(90, 3)) / 2, axis=1)]
    lines = [f"{row[0]},{1000 * row[1]!r},{row[2] / 100!r},{label}" for row, label in zip(X.tolist(), y, strict=True)]
    return written(tmp_path, "t.csv", "\n".join(["x,y,z,label", *lines]) + "\n")


def answer(*words):
    result = ran("train", *words, "--json")
    return json.loads(result.stdout)


@pytest.mark.filterwarnings("ignore:.*some features have ranges:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scale", ["auto", "standard", "maxabs", "none"])
def test_rows_held_out_take_no_part_in_training_or_its_scale(table, tmp_path, scale):
    given = ["--seed", "4", "-o", tmp_path / "m", "--scale", scale]
    found = answer(table, "-t", "label", "--holdout", "20%", *given)
    X, y = data.open(table, "label").read()
    (held,) = Split.of_share(0.2, 4).held_out([y])
    assert (found["rows"], found["holdout"]["rows"]) == ((~held).sum(), held.sum())
    if scale != "none":
        X = ExactScaler("maxabs" if scale == "maxabs" else "standard").fit(X[~held]).transform(X)
    twin = AveragedPerceptron(random_state=4, multi_class="direct").fit(X[~held], y[~held])
    model = rosenblatt.load(tmp_path / "m")
    assert model.coef_.tobytes() == twin.coef_.tobytes()
    assert found["holdout"]["accuracy"] == twin.score(X[held], y[held])
    tested = json.loads(command("test", tmp_path / "m", table, "--json").stdout)
    assert tested["accuracy"] == twin.score(X, y)
    lines = command("predict", tmp_path / "m", table).stdout.split()
    assert lines == twin.predict(X).tolist()


def test_folds_predict_each_row_once(table):
    found = answer(table, "-t", "label", "--folds", "4", "--seed", "2")["folds"]
    X, y = data.open(table, "label").read()
    right, by_fold = 0, []
    for split in Split.of_folds(4, 2):
        (held,) = split.held_out([y])
        scaler = ExactScaler().fit(X[~held])
        twin = AveragedPerceptron(random_state=2, multi_class="direct").fit(scaler.transform(X[~held]), y[~held])
        hits = twin.predict(scaler.transform(X[held])) == y[held]
        right += hits.sum()
        by_fold.append(hits.mean())
    assert found["by_fold"] == by_fold
    assert (found["rows"], found["accuracy"]) == (90, right / 90)


@pytest.mark.filterwarnings("ignore:.*some features have ranges:sklearn.exceptions.ConvergenceWarning")
def test_weights_of_classes_bias_and_competing_classes(table, tmp_path):
    found = answer(table, "-t", "label", "--class-weight", "balanced", "--scale", "none", "-o", tmp_path / "m")
    X, y = data.open(table, "label").read()
    twin = AveragedPerceptron(random_state=0, class_weight="balanced", multi_class="direct").fit(X, y)
    assert rosenblatt.load(tmp_path / "m").coef_.tobytes() == twin.coef_.tobytes()
    assert twin.coef_.tobytes() != twin.set_params(class_weight=None).fit(X, y).coef_.tobytes()
    counts = [(y == label).sum() for label in "abc"]
    assert found["class_weight"] == [90 / (3 * count) for count in counts]
    answer(table, "-t", "label", "--no-bias", "--multi-class", "ovr", "-o", tmp_path / "n", "--scale", "none")
    twin = AveragedPerceptron(random_state=0, fit_intercept=False, multi_class="ovr").fit(X, y)
    model = rosenblatt.load(tmp_path / "n")
    assert model.coef_.tobytes() == twin.coef_.tobytes()
    assert not model.intercept_.any()


def test_early_stopping_says_what_it_kept(table):
    found = answer(table, "-t", "label", "--early-stopping", "-l", "perceptron", "--scale", "none", "-p", "30")
    X, y = data.open(table, "label").read()
    with pytest.warns(ConvergenceWarning):
        twin = Perceptron(max_iter=30, random_state=0, early_stopping=True).fit(X, y)
    stopped = found["early_stopping"]
    assert stopped["best_pass"] == twin.best_iter_
    assert stopped["error_by_pass"] == twin.history_["validation_error"].tolist()
    words = command("train", table, "-t", "label", "--early-stopping", "-l", "perceptron", "-p", "30").stdout
    assert "Early stopping held out" in words
    assert "Error on the held-out rows, by pass:" in words


def test_each_seed_has_the_scale_of_the_rows_that_it_trains_on(table):
    table.write_text(table.read_text().replace(",c\n", ",b\n"))
    words = [table, "-t", "label", "--early-stopping", "-l", "perceptron", "-p", "3", "--holdout", "30%"]
    several = answer(*words, "--seeds", "3")["holdout"]["by_seed"]
    stream = data.open(table, "label", scale="standard")
    split = Split.of_share(0.3, 0)
    alone = []
    for seed in range(3):
        rows = stream.part(split, held=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            twin = Perceptron(max_iter=3, random_state=seed, early_stopping=True).fit_stream(rows)
        X, y = stream.part(split, held=True, scaled_as=rows).read()
        alone.append(twin.score(data.Block(X), y))
    assert several == alone


def test_folds_and_shares_of_few_rows(table, tmp_path):
    file = written(tmp_path, "t.csv", "x,label\n" + "".join(f"{i % 7},a\n" for i in range(30)) + "9,b\n")
    result = ran("train", file, "-t", "label", "--folds", "3")
    assert " of 3 is left out: " in " ".join(result.stderr.split())
    assert "Accuracy" in result.stdout
    said = " ".join(ran("train", file, "-t", "label", "--early-stopping").stderr.split())
    assert "trains on all rows of the class 'b', because there are too few to hold some out" in said
    assert "does not include this class: add rows." in said
    said = refused("train", file, "-t", "label", "--folds", "32", answers=True)
    assert "--folds 32 exceeds the 31 rows: use fewer folds." in said
    path = written(tmp_path, "tiny.csv", "a,label\n1,x\n2,y\n")
    said = refused("train", path, "-t", "label", "--holdout", "20%")
    assert "Error: there are too few rows to hold out some of each class" in said


def test_scores_are_printed_with_what_the_commonest_class_would_give(table):
    words = " ".join(command("train", table, "-t", "label", "--holdout", "0.25").stdout.split())
    assert "rows held out of training" in words
    assert "always predicting" in words
    assert "Balanced accuracy" in words
    for title in ("precision", "recall", "F1"):
        assert title in words
    folds = command("train", table, "-t", "label", "--folds", "3").stdout
    assert "By fold: " in folds


def test_what_can_be_read_once_is_not_split(table):
    for words in (["--holdout", "20%"], ["--folds", "3"], ["--class-weight", "balanced"], ["--scale", "standard"]):
        said = refused("train", "-", "-t", "label", "--format", "csv", *words, input=table.read_text())
        assert "read" in said
        assert "save it to a file" in said
    ran("train", "-", "-t", "label", "--format", "csv", input=table.read_text())


def careful_pipeline(frame, seed):
    """Return what a careful person would make of a data frame."""
    is_number = {name: pd.api.types.is_numeric_dtype(frame[name]) and frame[name].dtype != bool for name in frame}
    prepared = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), [n for n, yes in is_number.items() if yes]),
            ("words", OneHotEncoder(handle_unknown="ignore"), [n for n, yes in is_number.items() if not yes]),
        ]
    )
    return make_pipeline(prepared, SGDClassifier(average=True, loss="perceptron", random_state=seed))


def accuracies(file, target, frame, y, seed):
    """Return the accuracy of the command, with no other option, and of a careful pipeline on the same split."""
    found = answer(file, "--target", target, "--holdout", "20%", "--seed", seed)["holdout"]
    (held,) = Split.of_share(0.2, seed).held_out([y])
    assert found["rows"] == held.sum()
    pipeline = careful_pipeline(frame, seed).fit(frame[~held], y[~held])
    return found["accuracy"], pipeline.score(frame[held], y[held])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_everyday_table_ends_where_a_careful_pipeline_does(tmp_path, seed):
    file = written(tmp_path, "passengers.csv", titanic_like(900, seed=seed))
    frame = pd.read_csv(file).drop(columns=["PassengerId", "Name", "Booked", "Note"])
    ours, theirs = accuracies(file, "Survived", frame, frame.pop("Survived").to_numpy(), seed)
    assert ours >= theirs - 0.02


@pytest.mark.skipif(not FOLDER, reason="ROSENBLATT_DATA names no folder with real data")
@pytest.mark.parametrize("name", ["adult-train.csv.gz", "ionosphere", "sonar", "breast-cancer-wisconsin", "iris"])
def test_real_tables_end_where_a_careful_pipeline_does(name):
    file = os.path.join(FOLDER, "tables", name if "." in name else f"{name}.csv")
    frame = pd.read_csv(file, header=None, na_values=["?"], skipinitialspace=True)
    y = frame.pop(frame.columns[-1]).to_numpy()
    frame = frame.rename(columns=str)
    pairs = [accuracies(file, "-1", frame, y, seed) for seed in range(3 if "adult" in name else 10)]
    ours, theirs = np.mean(pairs, axis=0)
    assert ours >= theirs - 0.02


def test_labels_that_the_model_does_not_know_are_said_and_the_model_is_kept(table, tmp_path):
    names, *lines = table.read_text().splitlines()
    other = written(tmp_path, "other.csv", "\n".join([names, *(f"{line}." for line in lines)]) + "\n")
    result = command("train", table, "-t", "label", "--test", other, "-o", tmp_path / "m")
    assert result.exit_code == 2
    assert "no label of" in result.stderr
    assert "Accuracy" not in result.stdout
    assert rosenblatt.load(tmp_path / "m").classes_.tolist() == ["a", "b", "c"]


def test_the_last_rows_are_held_out_of_training(tmp_path):
    """The rule of the label changes with time, which rows drawn at random do not show."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)).round(3)
    y = np.where(np.where(np.arange(200) < 150, X[:, 0], -X[:, 0]) > 0, "up", "down")
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    lines.insert(60, "1,2,")  # without a label, so left out
    table = written(tmp_path, "time.csv", "\n".join(["a,b,label", *lines]) + "\n")
    for words, first, share in (("last", 160, 0.2), ("last:25%", 150, 0.25), ("last:0.5", 100, 0.5)):
        found = answer(table, "-t", "label", "--holdout", words, "--scale", "standard", "-o", tmp_path / "m")
        assert (found["rows"], found["holdout"]["rows"]) == (first, 200 - first)
        assert (found["holdout"]["share"], found["holdout"]["last"]) == (share, True)
        Z = ExactScaler("standard").fit(X[:first]).transform(X)
        twin = AveragedPerceptron(random_state=0).fit(Z[:first], y[:first])
        assert rosenblatt.load(tmp_path / "m").coef_.tobytes() == twin.coef_.tobytes()
        assert found["holdout"]["accuracy"] == twin.score(Z[first:], y[first:])
    last, drawn = (answer(table, "-t", "label", "--holdout", words)["holdout"] for words in ("last", "20%"))
    assert last["accuracy"] < 0.2 < drawn["accuracy"]
    assert drawn["last"] is False
    said = " ".join(ran("train", table, "-t", "label", "--holdout", "last").stdout.split())
    assert "on the last 40 rows (20%), held out of training;" in said


def test_all_rows_of_a_patient_are_held_out_together(tmp_path):
    """Each patient has a label and a level of its own, which rows of the same patient tell."""
    rng = np.random.default_rng(0)
    patients = rng.permutation(np.repeat(np.arange(40), 10))
    level, sick = rng.normal(size=(40, 6)).round(2), rng.integers(0, 2, 40)
    cells = [[f"p{k}", *(level[k] + rng.normal(size=6) / 50).round(3).tolist(), "ny"[sick[k]]] for k in patients]
    cells.insert(60, ["p1", *"123456", ""])  # without a label, so left out
    table = written(
        tmp_path, "t.csv", "\n".join([",".join(map(str, row)) for row in [[*"pabcdef", "y"], *cells]]) + "\n"
    )
    by = ["--learner", "kernel", "--kernel", "rbf", "--drop", "p", "--no-curve-check"]
    alone = answer(table, "-t", "y", *by, "--holdout", "25%")["holdout"]["accuracy"]
    by[by.index("--drop")] = "--holdout-by"
    found = answer(table, "-t", "y", *by, "--holdout", "25%")
    assert found["holdout"]["accuracy"] < 0.8 < 0.99 < alone
    assert found["holdout"]["by"] == {"column": "p", "groups": 40, "held_out": 10}
    assert (found["rows"], found["holdout"]["rows"], found["features"]) == (300, 100, 6)
    with_new = answer(
        table,
        "-t",
        "y",
        *by,
    )["holdout"]
    assert (with_new["share"], with_new["rows"]) == (0.2, 80)
    said = " ".join(ran("train", table, "-t", "y", *by).stdout.split())
    assert "on 80 rows held out of training (all rows of 8 of the 40 values of p);" in said
    repeated = table.read_text().replace("p,a,", "patient,a,", 1)
    note = " ".join(ran("train", written(tmp_path, "u.csv", repeated), "-t", "y").stderr.split())
    looks = "look at patient: looks like an id, with 40 values in 401 rows: --drop patient leaves it out"
    assert f"{looks}; --holdout-by patient tests on other values." in note
    assert "has no column 'q'" in refused("train", table, "-t", "y", "--holdout-by", "q")
    both = "cannot be combined with --"
    assert f"--holdout-by {both}cluster" in refused("train", table, "-t", "y", "--holdout-by", "p", "--cluster", "dask")
    piped = command("train", "-", "--format", "csv", "-t", "y", "--holdout-by", "p", input=table.read_text())
    assert f"{both}holdout-by, which reads the rows again" in " ".join(piped.stderr.split())
    for words in (["--holdout", "last"], ["--folds", "3"]):
        assert "--holdout" in refused("train", table, "-t", "y", "--holdout-by", "p", *words)


def table_of_groups(tmp_path, groups):
    """Write a table with a number, a label and the group of each row."""
    rng = np.random.default_rng(3)
    rows = [
        f"{group},{x:.3f},{'ab'[int(x + z > 0)]}"
        for group, (x, z) in zip(groups, rng.normal(size=(len(groups), 2)), strict=True)
    ]
    return written(tmp_path, "groups.csv", "\n".join(["p,x,y", *rows]) + "\n")


def notes_of(*words):
    return " ".join(ran("train", *words).stderr.split())


def test_rows_without_a_group_are_groups_of_their_own(tmp_path):
    table = table_of_groups(tmp_path, ["" if k % 3 else "?" if k % 5 == 0 else f"p{k % 30}" for k in range(600)])
    words = [table, "-t", "y", "--holdout-by", "p", "--missing-value", "?", "--no-curve-check"]
    found = answer(*words)["holdout"]
    assert found["by"]["groups"] == 8
    assert 100 <= found["rows"] <= 140
    assert "Note: 440 rows have no value in 'p': each counts as a group of its own." in notes_of(*words)
    assert "no value in" not in notes_of(
        table_of_groups(tmp_path, ["p", "q", "r"] * 30), "-t", "y", "--holdout-by", "p"
    )


def test_a_share_of_whole_groups_that_is_far_too_large_is_noted(tmp_path):
    words = [table_of_groups(tmp_path, ["large"] * 55 + ["small"] * 45), "-t", "y", "--holdout-by", "p"]
    said = "--holdout-by p holds out 55% of the rows, because few values have most of the rows"
    assert said in notes_of(*words)
    assert "holds out" not in notes_of(*words, "--holdout", "50%")


@pytest.mark.parametrize("option", [["--calibrate"], ["--cost", "a=2"]])
def test_rows_held_out_for_probabilities_and_costs_are_whole_groups_or_the_last_too(tmp_path, option):
    """The rows are known by their number, and a group has 20 of them."""
    table = table_of_groups(tmp_path, [f"p{k // 20}" for k in range(400)])
    seen = []

    def parts(*words):
        with pytest.MonkeyPatch.context() as patch:
            plain = Training.__init__

            def keep(self, *given):
                plain(self, *given)
                seen.append(self)

            patch.setattr(Training, "__init__", keep)
            found = answer(table, "-t", "y", *words, *option, "--no-curve-check")
        unseen = [number for block in seen[-1].unseen for number in block.numbers.tolist()]
        used = [number for block in seen[-1].stream for number in block.numbers.tolist()]
        assert found["rows"] == len(used)
        return used, unseen, found["holdout"]["rows"]

    used, unseen, tested = parts("--holdout", "last")
    assert (used, unseen, tested) == (list(range(256)), list(range(256, 320)), 80)
    used, unseen, tested = parts("--holdout-by", "p")
    assert (len(used), len(unseen), tested) == (260, 60, 80)
    assert not {row // 20 for row in used} & {row // 20 for row in unseen}


def test_the_last_rows_of_a_table_that_begins_with_the_newest_are_said_to_be_the_oldest(tmp_path):
    rng = np.random.default_rng(0)

    def notes(days, *words):
        rows = [f"{np.datetime64('2020-01-01') + day},{rng.normal():.3f},{'ab'[rng.integers(2)]}" for day in days]
        table = written(tmp_path, "dates.csv", "\n".join(["when,x,y", *rows]) + "\n")
        return notes_of(table, "-t", "y", *words)

    falling = [(99 - k) // 2 for k in range(100)]
    said = "Note: the last rows are the oldest by 'when', whose dates fall from row to row"
    assert said in notes(falling, "--holdout", "last")
    assert said in notes(falling, "--holdout", "last", "--kind", "when=date")
    assert said not in notes(falling, "--holdout", "20%")
    for days in (falling[::-1], [*falling, 99], [7] * 100):
        assert said not in notes(days, "--holdout", "last")


def test_early_stopping_says_that_its_rows_are_drawn_at_random(tmp_path):
    table = table_of_groups(tmp_path, ["p", "q", "r", "s"] * 30)
    for words in ("--holdout last", "--holdout-by p"):
        said = notes_of(table, "-t", "y", *words.split(), "--early-stopping")
        assert f"--early-stopping draws its rows at random, without regard to {words.removesuffix(' p')}" in said
    assert "without regard" not in notes_of(table, "-t", "y", "--holdout", "20%", "--early-stopping")


@pytest.mark.parametrize("words", [["--holdout", "last"], ["--holdout-by", "g"]])
def test_a_column_may_turn_out_to_hold_words_late_in_the_file(tmp_path, words):
    rows = [f"{k % 50},{k % 7 if k < 10_500 else 'low'},{k % 11},{'ab'[k % 2]}" for k in range(12_000)]
    found = answer(written(tmp_path, "t.csv", "\n".join(["g,x,z,y", *rows]) + "\n"), "-t", "y", "-p", "1", *words)
    assert (found["rows"], found["holdout"]["rows"]) == (9600, 2400)
    assert found["left_out"] == {}


def test_a_feature_may_first_occur_late_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", 64)
    file = written(tmp_path, "late.svm", "1 1:1\n-1 2:1\n" * 50 + "1 1:1 900:1\n-1 2:1 901:1\n" * 50)
    assert answer(file, "--holdout", "20%", "--calibrate", "-p", "9")["holdout"]["accuracy"] == 1.0
