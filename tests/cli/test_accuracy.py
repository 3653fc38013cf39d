"""What test says of a model: accuracy, and how well each class is predicted."""

import json

import pytest

from helpers.commands import AND, THREE, command, written


@pytest.fixture
def model(tmp_path):
    path = written(tmp_path, "and.csv", AND)
    assert command("train", path, "-t", "label", "-l", "perceptron", "-o", tmp_path / "m").exit_code == 0
    return tmp_path / "m"


def test_each_class_has_its_scores(model, tmp_path):
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,yes\n0,1,yes\n0,0,no\n1,1,no\n0,1,no\n")
    text = command("test", model, rows).stdout
    assert " ".join(text.split()).startswith(
        "Accuracy 60.00%: 3 of 5 rows are predicted right. Balanced accuracy, the mean recall of the classes: 58.33%."
    )
    assert "no        3      66.67   66.67  66.67" in text
    assert "yes       2         50      50     50" in text
    answer = json.loads(command("test", model, rows, "--json").stdout)
    assert answer["balanced_accuracy"] == (2 / 3 + 1 / 2) / 2
    assert answer["by_class"][1] == {"class": "yes", "rows": 2, "precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_labels_that_are_none_of_the_model_are_an_error_with_both_lists(model, tmp_path):
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,1\n0,1,0\n")
    for more in ([], ["--json"]):
        result = command("test", model, rows, *more)
        assert (result.exit_code, result.stdout) == (2, "")
        message = " ".join(result.stderr.split())
        assert "the model knows no, yes, and the labels there are 0, 1." in message


def test_some_labels_that_are_none_of_the_model_are_a_note(model, tmp_path):
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,yes\n0,1,maybe\n0,0,no\n")
    result = command("test", model, rows)
    assert result.exit_code == 0
    note = " ".join(result.stderr.split())
    assert "1 of 3 rows have a label that is no class of the model: maybe. Its classes are no, yes." in note


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
