"""``rosenblatt predict``, ``explain`` and ``export``: what they write, where to, and what they say beside it."""

import csv
import json
import math
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rosenblatt
from helpers.commands import AND, THREE, command, ran, refused, written

NEW = [("u1", 1, 1, "yes"), ("u2", 0, 1, "no"), ("u3", 1, 1, "yes"), ("u4", 0, 0, "no")]
NAMES = ("id", "b", "a")


def test_scores_are_those_of_the_model(model, tmp_path):
    new = written(tmp_path, "new.csv", "a,b\n1,1\n0,1\n")
    rows = list(csv.reader(command("predict", model, new, "--scores").stdout.splitlines()))
    assert rows[0] == ["label", "score yes"]
    fitted = rosenblatt.load(model)
    expected = np.array([[1, 1], [0, 1]]) @ fitted.coef_[0] + fitted.intercept_[0]
    assert [float(score) for _, score in rows[1:]] == expected.tolist()


def test_whole_numbers_are_written_as_such_and_features_go_by_their_numbers(tmp_path):
    path = written(tmp_path, "three.svm", THREE)
    assert command("train", path, "-o", tmp_path / "m").exit_code == 0
    assert command("predict", tmp_path / "m", path).stdout == "1\n2\n3\n" * 4
    header = command("predict", tmp_path / "m", path, "--scores").stdout.splitlines()[0]
    assert header == "label,score 1,score 2,score 3"
    rows = json.loads(command("explain", tmp_path / "m", "--json").stdout)["rows"]
    assert {row["feature"] for row in rows} == {"feature 1", "feature 2"}


def test_explain_the_weights_and_one_row(model, tmp_path):
    text = command("explain", model, "--top", "1").stdout
    assert "positive for 'yes', negative for 'no'" in text
    answer = json.loads(command("explain", model, "--row", f"{tmp_path / 'and.csv'}:3", "--json").stdout)
    assert answer["title"].startswith("Predicted 'yes'")
    fitted = rosenblatt.load(model)
    parts = {row["feature"]: row["contribution"] for row in answer["rows"]}
    assert parts == {"a": fitted.coef_[0, 0], "b": fitted.coef_[0, 1], "(bias)": fitted.intercept_[0]}


@pytest.mark.parametrize("row", ["and.csv", "and.csv:x", "{folder}/and.csv:4"])
def test_a_row_that_is_not_there(model, tmp_path, row):
    refused("explain", model, "--row", row.replace("{folder}", str(tmp_path)))


def test_a_model_that_files_did_not_make_says_so(tmp_path):
    model = rosenblatt.Perceptron().fit([[0, 1], [1, 0]], [0, 1])
    rosenblatt.save(model, tmp_path / "m")
    assert "not trained on files" in refused("predict", tmp_path / "m", written(tmp_path, "and.csv", AND))


def test_export(model, tmp_path):
    result = ran("export", model, tmp_path / "m.json")
    assert "with 2 features written to" in result.stdout
    assert "No weight is 0." in result.stdout
    assert "preparation" in json.loads((tmp_path / "m.json").read_text())
    weights = json.loads((tmp_path / "m.json").read_text())["scores"][0]["weights"]
    assert list(weights) == ["a", "b"]
    pytest.importorskip("onnx")
    result = ran("export", model, tmp_path / "m.onnx")
    assert "Its inputs are the columns a, b. The graph encodes them" in " ".join(result.stdout.split())
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
    assert "The other weights are 0." in text


# Other formats, ids, and how answers are written.


@pytest.fixture
def new(tmp_path):
    """Rows with an id, which training did not have."""
    return written(tmp_path, "new.csv", "id,b,a\n" + "".join(f"{i},{b},{a}\n" for i, b, a, _ in NEW))


def tables(folder):
    """Return the same new rows in every format of tables."""
    columns = {name: [row[k] for row in NEW] for k, name in enumerate(NAMES)}
    pq.write_table(pa.table(columns), folder / "new.parquet")
    lines = [json.dumps(dict(zip(NAMES, row[:3], strict=True))) for row in NEW]
    return [
        written(folder, "new.tsv", "\n".join("\t".join(map(str, row[:3])) for row in [NAMES, *NEW]) + "\n"),
        written(folder, "semi.csv", "\n".join(";".join(map(str, row[:3])) for row in [NAMES, *NEW]) + "\n"),
        written(folder, "comma.csv", '"i,d";b;a\n' + "".join(f'"{i},{i}";{b};{a}\n' for i, b, a, _ in NEW)),
        written(folder, "new.jsonl", "\n".join(lines) + "\n"),
        folder / "new.parquet",
    ]


def test_tables_of_another_format_or_separator_are_read(model, tmp_path):
    for path in tables(tmp_path):
        result = command("predict", model, path)
        assert result.stdout.split() == [label for *_, label in NEW], path
        name = "i,d" if path.name == "comma.csv" else "id"
        assert f"1 column not used by the model is left out: {name}." in result.stderr


def test_files_without_a_header_are_read_by_the_order_of_columns(model, tmp_path):
    bare = written(tmp_path, "bare.csv", "1,1\n0,1\n")
    assert command("predict", model, bare, "--no-header").stdout == "yes\nno\n"
    message = " ".join(command("predict", model, bare).stderr.split())
    assert "expected a first line with the names a, b, got 1, 1: give --no-header if it has no header" in message


def test_ids_come_along(model, new, tmp_path):
    result = command("predict", model, new, "--id", "id")
    assert result.stdout == "id,label\n" + "".join(f"{i},{label}\n" for i, _, _, label in NEW)
    assert result.stderr == ""
    lines = command("predict", model, new, "--id", "id", "--id", "a", "--scores").stdout.splitlines()
    assert [line.split(",")[:3] for line in lines] == [["id", "a", "label"]] + [[i, str(a), y] for i, _, a, y in NEW]
    labelled = written(tmp_path, "labelled.csv", AND)
    assert command("predict", model, labelled, "--id", "label").stdout.splitlines()[0] == "label,predicted label"
    assert "has no column 'ID' (did you mean 'id'?)" in refused("predict", model, new, "--id", "ID")


def test_ids_are_as_they_are_written(model, tmp_path):
    path = written(tmp_path, "ids.csv", "id,a,b\n007,1,1\n 1e3 ,0,1\n,0,0\n")
    assert command("predict", model, path, "--id", "id").stdout == "id,label\n007,yes\n 1e3 ,no\n,no\n"
    big = written(tmp_path, "ids.jsonl", '{"id": 12345678901234567891, "a": 1, "b": 1}\n\n{"a": 0, "b": 0}\n')
    assert command("predict", model, big, "--id", "id").stdout == "id,label\n12345678901234567891,yes\n,no\n"


def test_the_name_of_the_output_chooses_its_format(model, new, tmp_path):
    labels = [label for *_, label in NEW]
    for name in ("a.csv", "a.jsonl", "a.parquet", "a.txt", "a"):
        result = command("predict", model, new, "-o", tmp_path / name, "--id", "id")
        assert (result.exit_code, result.stdout) == (0, "")
    expected = "id,label\n" + "".join(f"{i},{label}\n" for i, _, _, label in NEW)
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "a.txt").read_text() == expected
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"id": i, "label": label} for i, _, _, label in NEW]
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == {"id": [i for i, *_ in NEW], "label": labels}
    command("predict", model, new, "-o", tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == "label\nyes\nno\nyes\nno\n"
    command("predict", model, new, "-o", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "yes\nno\nyes\nno\n"


def test_parquet_keeps_the_types_of_numbers(tmp_path):
    rows = written(tmp_path, "rows.svm", THREE)
    assert command("train", rows, "-o", tmp_path / "m").exit_code == 0
    assert command("predict", tmp_path / "m", rows, "--scores", "-o", tmp_path / "p.parquet").exit_code == 0
    table = pq.read_table(tmp_path / "p.parquet")
    assert table.column_names == ["label", "score 1", "score 2", "score 3"]
    assert [str(field.type) for field in table.schema] == ["int64", "double", "double", "double"]
    assert table["label"].to_pylist() == [1, 2, 3] * 4


def test_json_has_predictions_or_counts(model, new, tmp_path):
    lines = command("predict", model, new, "--json", "--id", "id").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [{"id": i, "label": label} for i, _, _, label in NEW]
    answer = json.loads(command("predict", model, new, "--json", "-o", tmp_path / "out.csv").stdout)
    counts = {"rows": 4, "classes": {"no": 2, "yes": 2}, "out": str(tmp_path / "out.csv"), "skipped": 0, "unseen": {}}
    assert answer == counts


def test_what_json_cannot_hold_is_null(model, tmp_path):
    ids, lists = [math.nan, math.inf, 2.5], [[1.0, math.nan], [], None]
    pq.write_table(pa.table({"id": ids, "at": lists, "a": [1, 0, 1], "b": [1, 0, 1]}), tmp_path / "new.parquet")
    rows = zip([None, None, 2.5], [[1.0, None], [], None], ["yes", "no", "yes"], strict=True)
    expected = [{"id": i, "at": at, "label": label} for i, at, label in rows]
    ids = "--id", "id", "--id", "at"
    printed = command("predict", model, tmp_path / "new.parquet", "--json", *ids).stdout
    assert command("predict", model, tmp_path / "new.parquet", "-o", tmp_path / "a.jsonl", *ids).exit_code == 0

    def refuse(word):
        raise AssertionError(word)

    for text in (printed, (tmp_path / "a.jsonl").read_text()):
        assert [json.loads(line, parse_constant=refuse) for line in text.splitlines()] == expected


SKIPPED = {
    "csv": "a,b\n1,1\nx,1\n0,1,5\n\n1,1\n",
    "jsonl": '{"a": 1, "b": 1}\n{"a": "x", "b": 1}\n[1]\n\n{"a": 1, "b": 1}\n',
    "svm": "0 1:1 2:1\n0 1:x\n0 2\n\n0 1:1 2:1\n",
}


@pytest.mark.parametrize("ending", SKIPPED)
def test_rows_that_are_skipped_are_told_by_the_numbers_of_the_others(model, tmp_path, ending):
    if ending == "svm":
        first = written(tmp_path, "train.svm", "1 1:1 2:1\n-1 1:-1\n-1 2:-1\n")
        ran("train", first, "-l", "perceptron", "-o", model)
    rows = written(tmp_path, f"rows.{ending}", SKIPPED[ending])
    assert command("predict", model, rows).exit_code == 2
    result = command("predict", model, rows, "--on-error", "skip")
    label = "1" if ending == "svm" else "yes"
    assert result.stdout == f"row,label\n0,{label}\n3,{label}\n"
    assert "rows skipped: 2, such as: " in " ".join(result.stderr.split())
    answer = command("predict", model, rows, "--on-error", "skip", "--json").stdout
    assert [json.loads(line)["row"] for line in answer.splitlines()] == [0, 3]
    assert command("explain", model, "--row", f"{rows}:3", "--on-error", "skip").exit_code == 0
    said = command("explain", model, "--row", f"{rows}:1", "--on-error", "skip").stderr
    assert "cannot be read, so it was skipped" in " ".join(said.split())


def test_missing_columns_are_listed_with_what_was_found(model, tmp_path):
    path = written(tmp_path, "less.csv", "x,y\n1,2\n")
    message = " ".join(command("predict", model, path, "--id", "x").stderr.split())
    assert "less.csv has no column 'a' and no column 'b'; found x, y: add them, empty" in message
    one = written(tmp_path, "one.csv", "x;y\n1;2\n")
    message = " ".join(command("predict", model, one, "--delimiter", ",").stderr.split())
    assert "found one column, x;y: is ';' the delimiter? Then give --delimiter ';'." in message
    assert command("predict", model, path).stdout == ""


def test_no_rows_are_a_table_without_rows(model, tmp_path):
    path = written(tmp_path, "none.csv", "id,a,b\n")
    assert command("predict", model, path, "--id", "id", "--scores").stdout == "id,label,score yes\n"
    assert command("predict", model, path, "--id", "id", "-o", tmp_path / "p.parquet").exit_code == 0
    assert pq.read_table(tmp_path / "p.parquet").column_names == ["id", "label"]
    assert command("predict", model, path).stdout == ""


def test_a_reader_that_has_had_enough_is_no_error(model, tmp_path):
    rows = written(tmp_path, "many.csv", "a,b\n" + "1,1\n" * 200_000)
    for words in (["predict", model, rows, "--json"], ["train", "--help"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "rosenblatt", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
        process.stderr.close()


# Files that are not quite like those that a model was trained on: the message says what to change.

ROWS = [(f"{k % 9 + 20}.{k % 7}", f"{k % 5}.5", "yn"[k % 2]) for k in range(40)]


def joined(rows, delimiter=","):
    return "".join(delimiter.join(row) + "\n" for row in rows)


@pytest.fixture
def trained(tmp_path):
    """Return what trains on a file with some options."""

    def train(text, *options):
        path = written(tmp_path, "train.csv", text)
        assert command("train", path, "-o", tmp_path / "m", *options).exit_code == 0
        return tmp_path / "m"

    return train


def said(*words):
    result = command("predict", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    return " ".join(result.stderr.split())


def test_a_decimal_comma_is_recognised_and_nobody_is_told_to_leave_rows_out(trained, tmp_path):
    model = trained("Age,Fare,y\n" + joined(ROWS), "-t", "y")
    text = joined([("Age", "Fare", "y"), *ROWS], ";").replace(".", ",")
    message = said(model, written(tmp_path, "new.csv", text))
    assert message.endswith("holds '20,0', expected a number, and it looks like a decimal comma: write 20.0.")
    message = said(model, written(tmp_path, "new.csv", 'Age,Fare\n"1,234",1\n'))
    assert message.endswith("and it has a comma: write 1.234 or 1234.")
    assert "--on-error skip leaves such rows out" in said(model, written(tmp_path, "new.csv", "Age,Fare\nold,1\n"))


def test_names_in_a_first_line_that_no_row_should_have(trained, tmp_path):
    model = trained(joined(ROWS), "-t", "-1")
    new = written(tmp_path, "new.csv", "sl,sw,kind\n" + joined(ROWS))
    message = said(model, new)
    assert "line 1: column 'c1' holds 'sl', expected a number, and this line looks like a header" in message
    assert message.endswith("give --header if it is.")
    right = command("predict", model, written(tmp_path, "same.csv", joined(ROWS))).stdout
    assert len(right.splitlines()) == len(ROWS)
    assert command("predict", model, new, "--header").stdout == right
    without_labels = written(tmp_path, "less.csv", "sl,sw\n" + joined(row[:2] for row in ROWS))
    assert command("predict", model, without_labels, "--header").stdout == right
    later = command("predict", model, written(tmp_path, "later.csv", joined([*ROWS, ("sl", "sw", "kind")])))
    assert (later.exit_code, "--header" in later.stderr) == (2, False)


def test_a_column_that_is_not_there_may_be_added_empty(trained, tmp_path):
    text = "Age,Fare,y\n" + joined(ROWS)
    fewer = written(tmp_path, "new.csv", "Fare\n1.5\n")
    message = said(trained(text, "-t", "y"), fewer)
    assert message.endswith("no column 'Age', expected Age, Fare; found Fare: add it, empty where it is unknown.")
    assert said(trained(text, "-t", "y", "--missing", "error"), fewer).endswith("found Fare: add it.")


def test_a_renamed_column_is_an_error_without_a_note(trained, tmp_path):
    model = trained("Age,Fare,y\n" + joined(ROWS), "-t", "y")
    message = said(model, written(tmp_path, "new.csv", "Age,fare\n1,2\n"))
    assert "Note" not in message
    assert "(did you mean 'fare'?), expected Age, Fare; found Age, fare: rename that one." in message


def test_one_column_that_is_not_there_is_not_named_twice(trained, tmp_path):
    model = trained("Age,Fare,y\n" + joined(ROWS), "-t", "y")
    message = said(model, written(tmp_path, "new.csv", "Age,Fare\n1,2\n"), "--id", "passengerid")
    assert message.endswith("has no column 'passengerid'; found Age, Fare.")


# The best classes of each row.


@pytest.fixture
def texts(tmp_path):
    """A model of three kinds of texts, and texts in fastText's format."""
    rows = [("sea", "ship sail wave"), ("air", "wing cloud pilot"), ("land", "horse road tree")] * 5
    path = written(tmp_path, "train.txt", "".join(f"__label__{label} {text}\n" for label, text in rows))
    ran("train", path, "-o", tmp_path / "texts")
    new = written(tmp_path, "new.txt", "sail ship\n\nroad cloud pilot\n")
    return tmp_path / "texts", path, new


def test_the_best_classes_of_each_line(texts):
    model, _, new = texts
    lines = ran("predict", model, new, "--top", "2", "--scores").stdout.splitlines()
    fitted = rosenblatt.load(model)
    assert len(lines) == 3
    labels = ran("predict", model, new).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == labels
    for line, text in zip(lines, ("sail ship", "", "road cloud pilot"), strict=True):
        scores = fitted.decision_function([{"text": text}])[0]
        best, score, other, next_score = line.split("\t")
        ranked = sorted(scores, reverse=True)
        assert [float(score), float(next_score)] == ranked[:2]
        assert scores[fitted.classes_.tolist().index(best)] == ranked[0]
        assert scores[fitted.classes_.tolist().index(other)] == ranked[1]
    assert lines[0].startswith("sea\t")


def test_the_best_classes_in_other_formats(texts, model, tmp_path):
    text_model, _, new = texts
    ran("predict", text_model, new, "--top", "9", "--id", "text", "-o", tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert list(rows[0]) == ["text", "label", "label 2", "label 3"]
    assert all({row["label"], row["label 2"], row["label 3"]} == {"sea", "air", "land"} for row in rows)
    two = written(tmp_path, "two.csv", "a,b\n1,1\n0,1\n")
    for line in ran("predict", model, two, "--top", "2", "--scores", "--json").stdout.splitlines():
        row = json.loads(line)
        assert {row["label"], row["label 2"]} == {"yes", "no"}
        assert row["score"] == -row["score 2"] >= 0.0
    assert "top must be an integer of at least 1, got 0" in refused("predict", model, two, "--top", "0")


def test_recall_and_precision_of_the_best_classes(texts):
    model, train, _ = texts
    answer = json.loads(ran("test", model, train, "--top", "2", "--json").stdout)
    assert answer["top"] == {"k": 2, "recall": 1.0, "precision": 0.5}
    assert "Recall at 3 (the label is among the 3 best): 100.00%; precision at 3: 33.33%." in " ".join(
        ran("test", model, train, "--top", "3").stdout.split()
    )


def test_label_first(tmp_path):
    path = written(tmp_path, "train.txt", "sea ship, sail\nair wing cloud\n" * 5)
    ran("train", path, "--label-first", "-o", tmp_path / "m")
    assert "100.00%" in ran("test", tmp_path / "m", path).stdout
    assert ran("predict", tmp_path / "m", written(tmp_path, "new.txt", "a wing\na ship\n")).stdout == "air\nsea\n"


def test_a_folder_gets_an_output_for_each_file(texts, tmp_path):
    model, _, _ = texts
    answers = tmp_path / "answers"
    answers.mkdir()
    words = ["sail", "cloud", "road", "ship", "wing"]
    for k, word in enumerate(words):
        pq.write_table(pa.table({"text": [word, f"{word} {word}"]}), tmp_path / f"part-{k}.parquet")
    new = written(tmp_path, "more.tsv", "text\tother\nroad\t1\n")
    every = ran("predict", model, f"{tmp_path}/part-*.parquet").stdout.splitlines()
    assert every == [label for label in ("sea", "air", "land", "sea", "air") for _ in range(2)]  # in the files' order
    ran("predict", model, f"{tmp_path}/part-*.parquet", "-o", answers)
    found = [pq.read_table(answers / f"part-{k}.parquet").column("label").to_pylist() for k in range(5)]
    assert [label for part in found for label in part] == every
    (answers / "part-3.parquet").unlink()  # as if the command had been stopped before
    (answers / "part-4.parquet").write_bytes(b"done before")
    ran("predict", model, f"{tmp_path}/part-*.parquet", new, "-o", answers)
    assert pq.read_table(answers / "part-3.parquet").column("label").to_pylist() == ["sea", "sea"]
    assert (answers / "part-4.parquet").read_bytes() == b"done before"
    assert (answers / "more.tsv.txt").read_text() == "land\n"
    (tmp_path / "other").mkdir()
    pq.write_table(pa.table({"text": ["road"]}), tmp_path / "other" / "part-0.parquet")
    said = refused("predict", model, tmp_path / "part-0.parquet", tmp_path / "other" / "part-0.parquet", "-o", answers)
    assert "would both be written to" in said
