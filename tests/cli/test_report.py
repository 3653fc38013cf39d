"""train --report: a page on the data, the accuracy, the weights and the worst rows, and the same numbers in --json."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

import rosenblatt
from helpers.browser import chromium
from helpers.commands import AND, THREE, command, ran, refused, written
from rosenblatt import contributions
from rosenblatt.splits import Split

HOSTILE = '<script>document.title="broken"</script>'
IMAGE = "<img src=x onerror=document.title='broken'>"
pytestmark = pytest.mark.filterwarnings("ignore:.*some features have ranges:sklearn.exceptions.ConvergenceWarning")


def table(folder, classes=("no", "yes"), n=240):
    rng = np.random.default_rng(len(classes))
    X = rng.normal(size=(n, 3)).round(2)
    y = np.array(classes)[np.argmax(np.hstack([X, X])[:, : len(classes)] + rng.normal(size=(n, len(classes))), axis=1)]
    colours = rng.choice(["red", "green"], n)
    frame = pd.DataFrame({"id": range(n), "x": X[:, 0], "y": 1000 * X[:, 1], "colour": colours, "label": y})
    frame.loc[frame.index % 9 == 0, "x"] = np.nan
    return written(folder, "t.csv", frame.to_csv(index=False))


def reported(folder, *words):
    """Train with a report; return the page as markup and as text, and the results."""
    answer = json.loads(ran("train", *words, "--report", folder / "report.html", "--json").stdout)
    page = (folder / "report.html").read_text(encoding="utf-8")
    return page, shown(page), answer


def shown(page):
    """Return the text of a page, without its elements."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.split("</style>")[1])).split())


def is_one_file(page):
    """Return whether no element of a page refers to anything else; names of namespaces are never fetched."""
    written = " ".join(re.findall(r"<[^>]*>", page)) + page.split("<style>")[1].split("</style>")[0]
    return not re.search(r"https?:(?!//www\.w3\.org/2000/svg)|<script|<link|<img|<iframe|url\(|src=|href=", written)


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_the_page_has_the_numbers_of_json(tmp_path, classes):
    given = [table(tmp_path, classes), "-t", "label", "--holdout", "25%", "--calibrate", "-o", tmp_path / "m"]
    page, text, answer = reported(tmp_path, *given)
    found, scores = answer["report"], answer["holdout"]
    assert is_one_file(page)
    assert "default-src 'none'" in html.unescape(page)
    assert found["scores"] == {name: scores[name] for name in found["scores"]}
    assert (found["measured_on"], found["file"]) == ("holdout", str(tmp_path / "report.html"))
    constant = scores["commonest"]
    assert f"Right on {scores['accuracy']:.2%} of {scores['rows']} rows held out of training" in text
    assert f"predicting {constant['class']} is right on {constant['accuracy']:.2%}." in text
    for each in scores["by_class"]:
        shares = " ".join(f"{each[name]:.2%}" for name in ("precision", "recall", "f1"))
        assert f"{each['class']} {each['rows']} {shares}" in text
    counts = {(pair["true"], pair["predicted"]): pair["rows"] for pair in scores["confusion"]}
    assert sum(counts.values()) == scores["rows"]
    for true in classes:
        assert f"{true} {' '.join(str(counts.get((true, other), 0)) for other in classes)}" in text
    assert f"Calibration error {scores['calibration']['error']:.2%};" in text
    assert len(found["weights"]) == (1 if len(classes) == 2 else 3)
    assert page.count('<div class="card"><h3>Row ') == len(found["worst"]) == 10
    assert "missing values: x (" in text.lower()
    assert "id counts the rows: 0, 1, 2, ..." in text
    assert "--holdout 25%" in text
    assert "--json" not in found["options"]
    assert "--calibrate yes" in text
    assert found["parameters"]["random_state"] == 0
    assert [row["column"] for row in found["columns"]["rows"]] == ["id", "x", "y", "colour", "label"]


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_worst_rows_are_those_of_least_margin_with_their_reasons(tmp_path, classes):
    path = table(tmp_path, classes)
    _, text, answer = reported(tmp_path, path, "-t", "label", "--holdout", "25%", "-o", tmp_path / "m")
    model, frame = rosenblatt.load(tmp_path / "m"), pd.read_csv(path)
    scores = model.decision_function(frame)
    scores = np.column_stack([-scores, scores * 0]) if scores.ndim == 1 else scores
    true = np.searchsorted(model.classes_, frame["label"])
    own = scores[np.arange(len(frame)), true]
    others = scores.copy()
    others[np.arange(len(frame)), true] = -np.inf
    margins, worst = own - others.max(axis=1), answer["report"]["worst"]
    predicted = model.predict(frame)
    assert ("minus that of its rival" in text) == (len(classes) > 2)
    for row in worst:
        i = row["row"]
        assert (row["true"], row["predicted"]) == (frame["label"][i], predicted[i])
        assert row["margin"] == pytest.approx(margins[i])
    (held,) = Split.of_share(0.25, 0).held_out([frame["label"].to_numpy()])
    assert [row["row"] for row in worst] == np.flatnonzero(held)[np.argsort(margins[held], kind="stable")][:10].tolist()
    assert worst[0]["margin"] < 0
    entries = {entry["class"]: entry for entry in answer["report"]["weights"]}
    if len(classes) == 2:
        record = frame.iloc[worst[0]["row"]].drop("label").to_dict()
        record = {name: None if value != value else value for name, value in record.items()}
        whole = {row["feature"]: row for row in contributions(model, record)}
        side = 1 if worst[0]["predicted"] == "yes" else -1
        for reason in worst[0]["reasons"]:
            assert reason["contribution"] == pytest.approx(side * whole[reason["feature"]]["contribution"])
        weights = {each["feature"]: each["weight"] for each in entries["yes"]["weights"]}
        assert weights == dict(zip(model.feature_names_in_, model.coef_[0], strict=True))
    else:
        assert [entries[label]["bias"] for label in classes] == model.intercept_.tolist()
    value = next(reason["value"] for row in worst for reason in row["reasons"] if reason["feature"] == "y")
    assert value in frame["y"].tolist()  # before scaling


def test_without_rows_held_out_it_says_so(tmp_path):
    path = table(tmp_path)
    plain = json.loads(ran("train", path, "-t", "label", "--json").stdout)
    assert "report" not in plain
    page, text, answer = reported(tmp_path, path, "-t", "label")
    assert (answer["rows"], answer["mistakes_by_pass"]) == (plain["rows"], plain["mistakes_by_pass"])  # the same model
    found = answer["report"]
    assert (found["measured_on"], found["scores"]["rows"]) == ("training", 240)
    assert "Right on" in text
    assert "of the 240 training rows. Always" in text
    assert "The model has learned from these rows" in text
    assert "The model gives no probabilities" in text
    said = ran("train", path, "-t", "label", "--report", tmp_path / "report.html")
    assert "the report measures on training rows: add --holdout 20%" in " ".join(said.stderr.split())
    assert f"Report written to {tmp_path / 'report.html'}." in said.stdout.replace("\n", " ")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page


def test_rows_held_out_for_probabilities_are_measured(tmp_path):
    _, text, answer = reported(tmp_path, table(tmp_path), "-t", "label", "--calibrate")
    found = answer["report"]
    assert (found["measured_on"], found["scores"]["rows"]) == ("unseen", answer["calibration"]["rows"])
    assert "The probabilities were fitted to these rows" in text
    assert "The model has learned from these rows" not in text
    assert f"fitted to {found['scores']['rows']} more rows held out of training, by a sigmoid." in text
    _, text, answer = reported(tmp_path, table(tmp_path), "-t", "label", "--cost", "yes=3")
    assert f"Threshold: yes is predicted above a score of {answer['threshold']['threshold']:.6g}." in text


def test_folds_other_files_and_seeds(tmp_path):
    path = table(tmp_path)
    _, text, answer = reported(tmp_path, path, "-t", "label", "--folds", "3")
    assert answer["report"]["scores"]["accuracy"] == answer["folds"]["accuracy"]
    assert "By fold: " in text
    assert answer["report"]["worst_on"] == "the 240 training rows"
    _, text, answer = reported(tmp_path, path, "-t", "label", "--test", path, "--seeds", "2")
    assert answer["report"]["scores"] == answer["test"] | {"by_seed": answer["test"]["by_seed"]}
    assert "By seed: " in text
    lines = path.read_text()
    page = tmp_path / "report.html"
    said = refused("train", "-", "-t", "label", "--report", page, input=lines)
    assert "cannot be combined with --report" in said
    ran("train", "-", "-t", "label", "--test", path, "--report", page, input=lines)


@pytest.mark.parametrize("learner", ["arow", "pa", "margin", "voted", "kernel", "perceptron"])
def test_every_learner(tmp_path, learner):
    _, text, answer = reported(tmp_path, table(tmp_path), "-t", "label", "--holdout", "25%", "-l", learner)
    found = answer["report"]
    assert len(found["worst"]) == 10
    assert (found["weights"] is None) == (learner == "kernel")
    assert ("these are their averages" in text) == (learner == "voted")
    assert ("columns have no weights" in text) == (learner == "kernel")
    assert ("Below each are the features" in text) == (learner != "kernel")
    assert all(row["reasons"] for row in found["worst"]) == (learner != "kernel")


def test_rows_without_columns(tmp_path):
    _, text, answer = reported(tmp_path, written(tmp_path, "rows.svm", THREE))
    assert answer["report"]["columns"] is None
    assert text.startswith("A model of rows.svm")
    assert "of the 12 training rows. Always" in text
    assert "feature 2" in text
    assert "No row is wrong." in text


def test_words_have_their_names(tmp_path):
    rows = "".join(
        f"{word} {i} words here,{label}\n" for i in range(30) for word, label in (("fine", "y"), ("bad", "n"))
    )
    given = [written(tmp_path, "words.csv", "text,label\n" + rows), "-t", "label", "--kind", "text=text"]
    _, text, _ = reported(tmp_path, *given)
    assert "text=fine" in text
    assert "--names stores" not in text
    rows = "".join(f"{' '.join(f'w{i * 600 + k}' for k in range(600))},{'ny'[i % 2]}\n" for i in range(20))
    given[0].write_text("text,label\n" + rows)
    _, text, _ = reported(tmp_path, *given)
    assert "--names stores all words" in text


def test_rows_are_numbered_as_in_the_file(tmp_path):
    path = table(tmp_path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.loc[frame.index % 4 == 1, "label"] = ""  # without a label
    frame.loc[frame.index % 8 == 2, "y"] = "n/k"  # cannot be read
    frame.to_csv(path, index=False)
    _, _, answer = reported(
        tmp_path, path, "-t", "label", "--on-error", "skip", "--kind", "y=number", "--holdout", "40%"
    )
    assert answer["skipped"] == 30
    labels = frame["label"].tolist()
    rows = answer["report"]["worst"]
    assert [row["true"] for row in rows] == [labels[row["row"]] for row in rows]
    values = [(reason["value"], row["row"]) for row in rows for reason in row["reasons"] if reason["feature"] == "y"]
    assert values
    assert all(value == float(frame["y"][row]) for value, row in values)
    frame = frame[frame["y"] != "n/k"]
    frame.to_csv(path, index=False)
    _, _, answer = reported(tmp_path, path, "-t", "label", "--holdout", "40%")
    labels = frame["label"].tolist()
    assert [row["true"] for row in answer["report"]["worst"]] == [
        labels[row["row"]] for row in answer["report"]["worst"]
    ]


def hostile(folder):
    rows = [[k % 7 - 3.0, IMAGE if k % 2 else "</style>", HOSTILE if k % 3 else IMAGE, HOSTILE] for k in range(60)]
    frame = pd.DataFrame(rows, columns=[f"{IMAGE}{HOSTILE}", "<b>", "label&amp;", "</title>"])
    return written(folder, "h.csv", frame.to_csv(index=False))


def test_hostile_names_labels_and_cells_are_text(tmp_path):
    page, text, _ = reported(tmp_path, hostile(tmp_path), "-t", "label&amp;", "--holdout", "50%", "--calibrate")
    assert is_one_file(page)
    assert "<img" not in page
    assert f"{IMAGE}{HOSTILE}" in text
    assert f"always predicting {HOSTILE}".lower() in text.lower()
    assert "A model of label&amp;" in text
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 390, "height": 800})
        asked = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto((tmp_path / "report.html").as_uri())
        assert tab.title() == "A model of label&amp;"
        assert asked == [(tmp_path / "report.html").as_uri()]
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        assert tab.locator("script, img, b b").count() == 0
        tab.close()


def test_characters_that_are_not_printable_are_escapes(tmp_path):
    override = "\u202e"  # shows what follows from right to left
    path = table(tmp_path, (f"a{override}b", f"c{override}\x1bd"))
    path.write_text(path.read_text().replace("x,y", f"x{override},y", 1))
    page, text, _ = reported(tmp_path, path, "-t", "label", "--holdout", "25%", "--calibrate")
    assert not {override, "\x1b"} & set(page)
    assert "always c\\u202e\\x1bd" in text
    assert "x\\u202e" in text


def test_files_that_cannot_be_written(tmp_path, monkeypatch):
    path = written(tmp_path, "and.csv", AND)
    said = refused("train", path, "-t", "label", "--report", tmp_path / "no" / "r.html")
    assert f"There is no folder {tmp_path / 'no'} to write r.html to: create it first." in said
    assert "is also an input" in refused("train", path, "-t", "label", "--report", path)
    both = refused("train", path, "-t", "label", "--report", tmp_path / "m", "-o", tmp_path / "m")
    assert "cannot be both the model and the report" in both

    def fail(*_):
        raise OSError(28, "could not save, no space left on device", str(tmp_path / "r.html"))

    monkeypatch.setattr("rosenblatt.storage.container.write_atomically", fail)
    result = command("train", path, "-t", "label", "--report", tmp_path / "r.html")
    assert result.exit_code == 2
    assert "Mistakes by pass" in result.stdout
    assert "no space left" in result.stderr
    assert "Report written" not in result.stdout


def test_columns_become_what_the_model_makes_of_them_beyond_the_first_rows(tmp_path):
    rows = "".join(
        f"{'north' if k < 11_000 else 'south'};{k % 7},5;{'ja' if k % 3 else 'nein'}\n" for k in range(12_000)
    )
    given = [written(tmp_path, "t.csv", "site;x;y\n" + rows), "-t", "y", "--holdout", "10%"]
    _, text, answer = reported(tmp_path, *given, "--class-weight", "ja=2", "--no-curve-check", "-o", tmp_path / "m")
    found = {row["column"]: row["becomes"] for row in answer["report"]["columns"]["rows"]}
    assert found == {"site": "2 features: north, south", "x": "1 feature", "y": "target"}
    assert "2 features: north, south" in text
    assert "class_weight ja: 2.0" in text


def test_a_note_that_begins_with_a_file_keeps_its_name(tmp_path):
    rows = "".join(f"{k % 7},{k % 5},{'ab'[k % 2]}\n" for k in range(60))
    _, text, answer = reported(tmp_path, written(tmp_path, "t.csv", "x,x,y\n" + rows), "-t", "y", "-o", tmp_path / "m")
    (note,) = [note for note in answer["report"]["notes"] if "renamed to x.1" in note]
    assert note in text
