"""``rosenblatt test``: accuracy, how well each class is predicted, and which is taken for which."""

import csv
import io
import json
from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    precision_recall_fscore_support,
    roc_auc_score,
)

from helpers.commands import THREE, command, ran, refused, written
from rosenblatt.cli.test import class_scores, confusion, scores_table
from rosenblatt.splits import Split

SHARES = ("precision", "recall", "f1")


def slow_scores(true, predicted, label):
    """Precision, recall and F1 of one class, counted row by row."""
    both = [t == p == label for t, p in zip(true, predicted, strict=True)].count(True)
    of_it, as_it = list(true).count(label), list(predicted).count(label)
    precision = both / as_it if as_it else None
    recall = both / of_it if of_it else None
    return of_it, precision, recall, 2 * both / (of_it + as_it) if of_it + as_it else None


def test_scores_are_those_counted_row_by_row_and_those_of_scikit_learn():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        classes = list("abcde")[: rng.integers(1, 6)]
        true, predicted = rng.choice(classes, 30).tolist(), rng.choice(classes[: rng.integers(1, 6)], 30).tolist()
        found = class_scores(Counter(zip(true, predicted, strict=True)), classes)
        assert [one["class"] for one in found["by_class"]] == classes
        for one in found["by_class"]:
            assert tuple(one[name] for name in ("rows", *SHARES)) == slow_scores(true, predicted, one["class"])
        for zero in (0.0, 1.0):  # what stands for 0/0 there
            theirs = precision_recall_fscore_support(true, predicted, labels=classes, zero_division=zero)[:3]
            for one, row in zip(found["by_class"], np.array(theirs).T, strict=True):
                ours = [zero if one[name] is None else one[name] for name in SHARES]
                np.testing.assert_allclose(ours, row, rtol=1e-12)
        if set(predicted) <= set(true) and len(set(true)) > 1:  # scikit-learn warns otherwise
            expected = balanced_accuracy_score(true, predicted)
            np.testing.assert_allclose(found["balanced_accuracy"], expected, rtol=1e-12)


def test_balanced_accuracy_counts_only_classes_that_occur():
    found = class_scores({("a", "a"): 9, ("a", "b"): 1, ("c", "a"): 1}, ["a", "b", "c"])
    assert found["balanced_accuracy"] == (0.9 + 0.0) / 2
    assert found["by_class"][1] == {"class": "b", "rows": 0, "precision": 0.0, "recall": None, "f1": 0.0}
    assert class_scores({}, ["a"])["balanced_accuracy"] is None
    assert [one["class"] for one in class_scores({("x", "b"): 1}, ["b", "a"])["by_class"]] == ["b", "a", "x"]


def test_the_table_fits_a_terminal():
    table = scores_table(class_scores({("a" * 99, "b" * 99): 1_234_567}, [])["by_class"])
    assert max(map(len, str(table).splitlines())) < 80
    assert str(table).splitlines()[3].split()[1:] == ["1234567", "-", "0", "0"]


def test_of_many_classes_the_commonest_confusions_are_listed():
    pairs = {(k, k): 3 for k in range(12)} | {(4, 7): 2, (1, 0): 5}
    table = confusion(pairs)
    assert table["class"] == ["1", "4"]
    assert table["predicted as"] == ["0", "7"]
    assert table["rows"] == [5, 2]


def test_each_class_has_its_scores(model, tmp_path):
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,yes\n0,1,yes\n0,0,no\n1,1,no\n0,1,no\n")
    text = command("test", model, rows).stdout
    assert " ".join(text.split()).startswith(
        "Accuracy 60.00%: 3 of 5 rows predicted correctly. Balanced accuracy (mean recall of the classes): 58.33%."
    )
    assert "no        3      66.67   66.67  66.67" in text
    assert "yes       2         50      50     50" in text
    assert "no      2    1" in text
    answer = json.loads(command("test", model, rows, "--json").stdout)
    assert answer["accuracy"] == 0.6
    assert {"true": "yes", "predicted": "no", "rows": 1} in answer["confusion"]
    assert answer["balanced_accuracy"] == (2 / 3 + 1 / 2) / 2
    yes = {"class": "yes", "rows": 2, "precision": 0.5, "recall": 0.5, "f1": 0.5, "average_precision": 0.5}
    assert answer["by_class"][1] == yes


def test_scores_of_two_classes_are_ranked(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.integers(-3, 4, (120, 2))
    y = np.where(X[:, 0] + rng.normal(size=120) > 1, "yes", "no")
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    rows = written(tmp_path, "rows.csv", "\n".join(["a,b,label", *lines]) + "\n")
    held_out = json.loads(ran("train", rows, "-t", "label", "--holdout", "25%", "-o", tmp_path / "m", "--json").stdout)
    predicted = csv.DictReader(io.StringIO(ran("predict", tmp_path / "m", rows, "--scores").stdout))
    scores = np.array([float(row["score yes"]) for row in predicted])
    assert len(np.unique(scores)) < 50  # there are ties
    found = json.loads(ran("test", tmp_path / "m", rows, "--json").stdout)
    np.testing.assert_allclose(found["roc_auc"], roc_auc_score(y == "yes", scores), rtol=1e-12)
    np.testing.assert_allclose(found["average_precision"], average_precision_score(y == "yes", scores), rtol=1e-12)
    both = [entry["average_precision"] for entry in found["by_class"]]
    np.testing.assert_allclose(both[0], average_precision_score(y == "no", -scores), rtol=1e-12)
    assert both[1] == found["average_precision"]
    (held,) = Split.of_share(0.25, 0).held_out([y])
    expected = roc_auc_score(y[held] == "yes", scores[held])
    np.testing.assert_allclose(held_out["holdout"]["roc_auc"], expected, rtol=1e-12)
    said = " ".join(ran("test", tmp_path / "m", rows).stdout.split())
    assert f"ROC AUC {found['roc_auc']:.4f}; average precision {both[0]:.4f} for no, {both[1]:.4f} for yes." in said
    folds = json.loads(ran("train", rows, "-t", "label", "--folds", "3", "--json").stdout)["folds"]
    assert "roc_auc" not in folds  # the scores of two models have no common order


def test_more_classes_and_rows_of_one_class_have_no_curve(model, tmp_path):
    rows = written(tmp_path, "rows.svm", THREE)
    ran("train", rows, "-o", tmp_path / "three")
    assert "roc_auc" not in json.loads(ran("test", tmp_path / "three", rows, "--json").stdout)
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,yes\n0,1,yes\n0,1,other\n")
    found = json.loads(ran("test", model, rows, "--json").stdout)
    assert (found["roc_auc"], found["average_precision"]) == (None, 1.0)
    assert [one.get("average_precision") for one in found["by_class"]] == [None, 1.0, None]
    assert "ROC AUC" not in ran("test", model, rows).stdout


def test_labels_that_are_none_of_the_model_are_an_error_with_both_lists(model, tmp_path):
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,1\n0,1,0\n")
    for more in ([], ["--json"]):
        result = command("test", model, rows, *more)
        assert (result.exit_code, result.stdout) == (2, "")
        message = " ".join(result.stderr.split())
        assert "the classes are no, yes, and the labels are 0, 1." in message


def test_rows_without_labels_cannot_be_tested(model, tmp_path):
    said = refused("test", model, written(tmp_path, "new.csv", "a,b\n1,1\n"))
    assert "no labels to test against" in said
    assert "(the column 'label')" in said


def test_some_labels_that_are_none_of_the_model_are_a_note(model, tmp_path):
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,yes\n0,1,maybe\n0,0,no\n")
    result = ran("test", model, rows)
    note = " ".join(result.stderr.split())
    assert "1 of 3 rows have a label that is not a class of the model: maybe. Its classes are no, yes." in note
    assert "to find more" not in note


def test_classes_have_one_name(tmp_path):
    rows = written(tmp_path, "rows.svm", THREE)
    assert command("train", rows, "-o", tmp_path / "m").exit_code == 0
    answer = json.loads(command("test", tmp_path / "m", rows, "--json").stdout)
    assert [one["class"] for one in answer["by_class"]] == [1, 2, 3]
    assert "1.0" not in command("test", tmp_path / "m", rows).stdout
    assert '"class": 1,' in command("test", tmp_path / "m", rows, "--json").stdout


def test_rows_that_cannot_be_read_may_be_skipped(model, tmp_path):
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,yes\nx,1,no\n0,0,no\n")
    assert command("test", model, rows).exit_code == 2
    result = command("test", model, rows, "--on-error", "skip", "--json")
    assert (json.loads(result.stdout)["rows"], json.loads(result.stdout)["skipped"]) == (2, 1)


@pytest.mark.parametrize("learner", ["voted", "kernel", "arow"])
def test_every_learner_ranks(learner, tmp_path):
    rng = np.random.default_rng(4)
    X = rng.integers(-3, 4, (60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "yes", "no")
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    rows = written(tmp_path, "rows.csv", "\n".join(["a,b,label", *lines]) + "\n")
    ran("train", rows, "-t", "label", "-l", learner, "--passes", "2", "-o", tmp_path / "m")
    predicted = csv.DictReader(io.StringIO(ran("predict", tmp_path / "m", rows, "--scores").stdout))
    scores = np.array([float(row["score yes"]) for row in predicted]).round(12)  # equal rows have equal scores
    found = json.loads(ran("test", tmp_path / "m", rows, "--json").stdout)
    np.testing.assert_allclose(found["roc_auc"], roc_auc_score(y == "yes", scores), atol=1e-3)
