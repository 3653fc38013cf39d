import csv
import json

import numpy as np
import pytest

import rosenblatt
from helpers.commands import AND, THREE, command, written
from rosenblatt.cli.test import confusion


@pytest.fixture
def model(tmp_path):
    """A model of AND, which a perceptron learns without a mistake left."""
    path = written(tmp_path, "and.csv", AND)
    assert command("train", path, "-t", "label", "-l", "perceptron", "-o", tmp_path / "m").exit_code == 0
    return tmp_path / "m"


def test_labels_come_in_the_order_of_the_rows(model, tmp_path):
    new = written(tmp_path, "new.csv", "b,a\n1,1\n0,1\n1,1\n0,0\n")
    assert command("predict", model, new).stdout == "yes\nno\nyes\nno\n"
    assert command("predict", model, new, "-o", tmp_path / "out").stdout == ""
    assert (tmp_path / "out").read_text() == "yes\nno\nyes\nno\n"


def test_scores_are_those_of_the_model(model, tmp_path):
    new = written(tmp_path, "new.csv", "a,b\n1,1\n0,1\n")
    rows = list(csv.reader(command("predict", model, new, "--scores").stdout.splitlines()))
    assert rows[0] == ["label", "score"]
    fitted = rosenblatt.load(model)
    expected = np.array([[1, 1], [0, 1]]) @ fitted.coef_[0] + fitted.intercept_[0]
    assert [float(score) for _, score in rows[1:]] == expected.tolist()


def test_whole_numbers_are_written_as_such(tmp_path):
    path = written(tmp_path, "three.svm", THREE)
    assert command("train", path, "-o", tmp_path / "m").exit_code == 0
    assert command("predict", tmp_path / "m", path).stdout == "1\n2\n3\n" * 4
    header = command("predict", tmp_path / "m", path, "--scores").stdout.splitlines()[0]
    assert header == "label,score 1,score 2,score 3"


def test_accuracy_and_confusions(model, tmp_path):
    rows = written(tmp_path, "rows.csv", "a,b,label\n1,1,yes\n0,1,yes\n0,0,no\n1,1,no\n")
    text = command("test", model, rows).stdout
    assert "Accuracy 50.00%: 2 of 4 rows are predicted right." in text
    assert "no      1    1" in text
    answer = json.loads(command("test", model, rows, "--json").stdout)
    assert answer["accuracy"] == 0.5
    assert {"true": "yes", "predicted": "no", "rows": 1} in answer["confusion"]


def test_rows_without_labels_cannot_be_tested(model, tmp_path):
    result = command("test", model, written(tmp_path, "new.csv", "a,b\n1,1\n"))
    assert result.exit_code == 2
    assert "no labels" in result.stderr


def test_labels_that_are_no_classes_are_noted(model, tmp_path):
    result = command("test", model, written(tmp_path, "dots.csv", "a,b,label\n1,1,yes.\n0,0,no.\n0,1,no\n"))
    assert "Accuracy 33.33%" in result.stdout
    text = " ".join(result.stderr.split())
    assert "2 of 3 rows have a label that is no class of the model: no., yes.. Its classes are no, yes." in text


def test_of_many_classes_the_commonest_confusions_are_listed():
    pairs = {(k, k): 3 for k in range(12)} | {(4, 7): 2, (1, 0): 5}
    table = confusion(pairs)
    assert table["class"] == ["1", "4"]
    assert table["taken for"] == ["0", "7"]
    assert table["rows"] == [5, 2]


def test_explain_the_weights_and_one_row(model, tmp_path):
    text = command("explain", model, "--top", "1").stdout
    assert "speak for 'yes', below 0 for 'no'" in text
    answer = json.loads(command("explain", model, "--row", f"{tmp_path / 'and.csv'}:3", "--json").stdout)
    assert answer["title"].startswith("Predicted 'yes'")
    fitted = rosenblatt.load(model)
    parts = {row["feature"]: row["contribution"] for row in answer["rows"]}
    assert parts == {"a": fitted.coef_[0, 0], "b": fitted.coef_[0, 1], "(bias)": fitted.intercept_[0]}


@pytest.mark.parametrize("row", ["and.csv", "and.csv:x", "{folder}/and.csv:4"])
def test_a_row_that_is_not_there(model, tmp_path, row):
    result = command("explain", model, "--row", row.replace("{folder}", str(tmp_path)))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_features_of_svmlight_go_by_their_numbers_there(tmp_path):
    path = written(tmp_path, "three.svm", THREE)
    command("train", path, "-o", tmp_path / "m")
    rows = json.loads(command("explain", tmp_path / "m", "--json").stdout)["rows"]
    assert {row["feature"] for row in rows} == {"feature 1", "feature 2"}


def test_a_model_that_files_did_not_make_says_so(tmp_path):
    model = rosenblatt.Perceptron().fit([[0, 1], [1, 0]], [0, 1])
    rosenblatt.save(model, tmp_path / "m")
    result = command("predict", tmp_path / "m", written(tmp_path, "and.csv", AND))
    assert result.exit_code == 2
    assert "not trained by this command" in result.stderr


def test_export(model, tmp_path):
    result = command("export", model, tmp_path / "m.json")
    assert result.exit_code == 0
    assert "with 2 features written to" in result.stdout
    assert "No weight is 0." in result.stdout
    assert "preparation" in json.loads((tmp_path / "m.json").read_text())
    weights = json.loads((tmp_path / "m.json").read_text())["scores"][0]["weights"]
    assert list(weights) == ["a", "b"]
    pytest.importorskip("onnx")
    result = command("export", model, tmp_path / "m.onnx")
    assert result.exit_code == 0
    assert "Its inputs are the columns: a, b. They are encoded" in " ".join(result.stdout.split())
    assert (tmp_path / "m.onnx").stat().st_size > 0
    assert command("export", model, tmp_path / "m.pkl").exit_code == 2


def test_nothing_is_said_about_feature_names(model, tmp_path):
    """The model knows its columns' names and gets arrays; scikit-learn warns of that, which is no news to the user."""
    path = tmp_path / "and.csv"
    for words in (["predict", model, path], ["predict", model, path, "--scores"], ["test", model, path]):
        assert command(*words).stderr == ""
    assert command("explain", model, "--row", f"{path}:1").stderr == ""


def test_weights_that_are_zero_do_not_fill_the_table(tmp_path):
    path = written(tmp_path, "words.vw", "1 | good film\n-1 | bad film\n" * 3)
    assert command("train", path, "--names", "-o", tmp_path / "m").exit_code == 0
    text = command("explain", tmp_path / "m").stdout
    assert "good" in text
    assert "#" not in text
    assert "The others are 0." in text
