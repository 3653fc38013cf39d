import csv
import errno
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import precision_score, recall_score

import rosenblatt
from helpers.commands import AND, THREE, command, ran, refused, written
from rosenblatt import data, textbook
from rosenblatt.storage.log import Log
from rosenblatt.training.run import TrainingRun


def _noisy(n):
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (n, 2))
    y = np.where(X[:, 0] * 2 + X[:, 1] + rng.integers(-3, 4, n) > 0, 1, -1)
    return X, y


def _svmlight(X, y):
    return "".join(f"{label} 1:{a} 2:{b}\n" for (a, b), label in zip(X.tolist(), y.tolist(), strict=True))


@pytest.mark.parametrize("every", [7, 1000])
def test_mistakes_are_those_of_the_textbook(tmp_path, every):
    X, y = _noisy(320)
    twin, mistakes = rosenblatt.Perceptron(), []
    for x, label in zip(X, y, strict=True):
        activation = x @ twin.coef_[0] + twin.intercept_[0] if mistakes else 0.0
        mistakes.append(not mistakes or (activation > 0) != (label > 0))
        twin.partial_fit([x.astype(float)], [label], classes=[-1, 1])
    result = ran("watch", "--every", every, "--json", "-o", tmp_path / "m", input=_svmlight(X, y))
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["rows"] for line in lines] == sorted({*range(every, 321, every), 320})
    assert [line["mistakes"] for line in lines] == [sum(mistakes[: line["rows"]]) for line in lines]
    assert np.array_equal(rosenblatt.load(tmp_path / "m").coef_, twin.coef_)
    w, b = textbook.perceptron_train([(x.tolist(), int(s)) for x, s in zip(X, y, strict=True)], 1)
    assert (np.ravel(twin.coef_).tolist(), twin.intercept_[0]) == (list(w), b)


def test_more_than_two_classes_count_wrong_predictions():
    lines = command("watch", "--every", "6", "--json", input=THREE).stdout.splitlines()
    last = json.loads(lines[-1])
    assert last["rows"] == 12
    assert 3 <= last["mistakes"] <= 9


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("words", "learner"),
    [
        (["averaged"], rosenblatt.AveragedPerceptron(multi_class="direct")),
        (["averaged", "--decay", "0.05"], rosenblatt.AveragedPerceptron(multi_class="direct", decay=0.05)),
        (["pa"], rosenblatt.PassiveAggressive()),
        (["pa", "-C", "0.1", "--hypothesis", "last"], rosenblatt.PassiveAggressive(C=0.1, hypothesis="last")),
        (["arow", "--r", "2"], rosenblatt.AROW(r=2)),
        (["margin"], rosenblatt.MarginPerceptron()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_mistakes_are_those_of_the_weights_that_predict(tmp_path, words, learner, classes):
    X, y = _noisy(90)
    X, y = X + 0.25, y if classes == 2 else np.where(X[:, 1] > 1, 2, y)  # no row is on a boundary but at the start
    twin, mistakes = clone(learner), 0
    for i in range(len(y)):
        mistakes += not i or not twin.decision_function(X[[i]]).any() or twin.predict(X[[i]])[0] != y[i]
        twin.partial_fit(X[[i]], y[[i]])
    result = ran("watch", "-l", *words, "--every", "13", "--json", "-o", tmp_path / "m", input=_svmlight(X, y))
    assert json.loads(result.stdout.splitlines()[-1])["mistakes"] == mistakes
    assert rosenblatt.load(tmp_path / "m").coef_.tobytes() == twin.coef_.tobytes()


LINES = {
    "": "the perceptron. Predictions use the last weights, which adapt to drift.",
    "-l averaged": "the averaged perceptron. Predictions use the averaged weights, which never forget. If the data "
    "drift, use --decay or --learner pa --hypothesis last.",
    "-l averaged --decay 0.01": "the averaged perceptron. Predictions use the averaged weights; the influence of a row "
    "on them halves every 69 rows.",
    "-l voted": "the voted perceptron. Predictions use the votes of all past weights, which never forget. If the "
    "data drift, use --learner pa --hypothesis last.",
    "-l arow": "AROW. Predictions use the last weights, which adapt to drift slowly, because the steps shrink. If the "
    "data drift, use --r 1 or --learner pa --hypothesis last.",
    "-l pa": "passive-aggressive steps. Predictions use the averaged weights, which never forget. If the data drift, "
    "use --decay or --hypothesis last.",
    "-l pa --hypothesis last": "passive-aggressive steps. Predictions use the last weights, which adapt to drift.",
    "-l margin": "the margin perceptron. Predictions use the last weights, which adapt to drift.",
    "-l kernel --gamma 1": "the kernel perceptron. Predictions use the averaged weights, which never forget. If the "
    "data drift, use --hypothesis last.",
}


def test_it_says_what_learns_which_weights_predict_and_what_they_forget():
    for words, line in LINES.items():
        result = command("watch", *words.split(), "--json", input="1 1:1\n-1 1:-1\n")
        assert " ".join(result.stderr.split()) == f"Note: learning with {line}"
        assert len(result.stdout.splitlines()) == 1


def test_a_model_that_goes_on_cannot_be_told_to_forget(tmp_path):
    command("train", written(tmp_path, "rows.svm", "1 1:1\n-1 1:-1\n"), "-o", tmp_path / "m")
    result = command("watch", "--model", tmp_path / "m", input="1 1:1\n")
    assert "If the data drift, start a new model with --decay or --learner pa --hypothesis last." in " ".join(
        result.stderr.split()
    )
    for option in ("decay", "hypothesis", "r", "C", "loss"):
        result = command("watch", "--model", tmp_path / "m", f"--{option}", "1", input="1 1:1\n")
        assert (result.exit_code, result.stderr) == (
            2,
            f"Error: --{option} was fixed when {tmp_path / 'm'} was trained: leave it out.\n",
        )


def test_steps_of_other_sizes_have_no_bound():
    for learner in ("pa", "arow"):
        said = refused("watch", "-l", learner, "--margin", "0.5", input="1 1:1\n-1 1:-1\n")
        assert "--margin bounds the number of updates" in said


def test_the_bound_of_a_margin_perceptron_counts_its_margin():
    rows = "1 1:2\n-1 1:-2\n" * 4
    line = json.loads(command("watch", "-l", "margin", "--margin", "0.5", "--json", input=rows).stdout)
    assert line["bound"] == pytest.approx((2**2 + 1 + 2 * 10) / 0.5**2)
    line = json.loads(command("watch", "--margin", "0.5", "--json", input=rows).stdout)
    assert line["bound"] == pytest.approx((2**2 + 1) / 0.5**2)


def test_features_may_turn_up_late(tmp_path):
    ran("watch", "--every", "1", "-o", tmp_path / "m", input="1 1:1\n-1 1:-1\n1 1:-1 5:3\n-1 2:1\n")
    assert rosenblatt.load(tmp_path / "m").n_features_in_ == 5
    assert rosenblatt.load(tmp_path / "m").preparation_["n_features"] == 5


def test_a_table_keeps_its_header_for_all_batches(tmp_path):
    X, y = _noisy(30)
    table = "a,b,label\n" + "".join(f"{a},{b},{s}\n" for (a, b), s in zip(X.tolist(), y.tolist(), strict=True))
    words = ["watch", "--every", "10", "-o", tmp_path / "m"]
    result = ran(*words, "--target", "label", input=table)
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["rows", "10", "20", "30"]
    coef = rosenblatt.load(tmp_path / "m").coef_
    assert command(*words, input=_svmlight(X, y)).exit_code == 0
    assert np.array_equal(coef, rosenblatt.load(tmp_path / "m").coef_)


def test_vowpal_wabbit_lines():
    result = ran("watch", "--every", "2", input="1 | a b\n-1 | c\n1 | a\n")
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:]] == [["2", "2"], ["3", "2"]]


@pytest.mark.parametrize("text", ["", "what is this\n", "1 1:1\n-1 1:x\n"])
def test_bad_input_is_one_sentence_about_standard_input(text):
    result = command("watch", input=text)
    assert result.exit_code == 2
    *notes, error = result.stderr.splitlines()
    assert error.startswith("Error: ")
    assert "standard input" in error.lower()
    assert bool(notes) == text.startswith("1")  # what learned from the first row is told before it


@pytest.mark.parametrize("learner", ["perceptron", "averaged", "voted"])
def test_a_saved_model_goes_on_with_the_same_bits(tmp_path, learner):
    X, y = _noisy(300)
    parts = _svmlight(X[:130], y[:130]), _svmlight(X[130:], y[130:])
    words = ["watch", "--every", "50", "-o", tmp_path / "m"]
    assert command(*words, "--learner", learner, input=parts[0]).exit_code == 0
    result = ran(*words, "--model", tmp_path / "m", "--json", input=parts[1])
    assert command("watch", "-l", learner, "-o", tmp_path / "whole", input="".join(parts)).exit_code == 0
    halves, whole = rosenblatt.load(tmp_path / "m"), rosenblatt.load(tmp_path / "whole")
    assert np.array_equal(halves.last_coef_, whole.last_coef_)
    assert np.array_equal(halves.average_coef_, whole.average_coef_)
    assert halves.n_updates_ == whole.n_updates_
    assert halves.fingerprint_ == {"files": ["-", "-"], "rows": 300}
    last = json.loads(result.stdout.splitlines()[-1])
    assert last["rows"] == 170
    assert 0 < last["mistakes"] < whole.n_updates_


def test_a_table_goes_on_as_the_model_says(tmp_path):
    X, y = _noisy(60)
    X = X.astype(float)
    rows = [f"{a},{b},{s}\n" for (a, b), s in zip(X.tolist(), y.tolist(), strict=True)]
    written(tmp_path, "first.csv", "a,b,label\n" + "".join(rows[:40]))
    words = ["-t", "label", "-p", "1", "--no-shuffle", "-o", tmp_path / "m"]
    assert command("train", tmp_path / "first.csv", *words).exit_code == 0
    table = "label,b,a\n" + "".join(
        f"{s},{b},{a}\n" for (a, b), s in zip(X[40:].tolist(), y[40:].tolist(), strict=True)
    )
    ran("watch", "--model", tmp_path / "m", "--every", "3", "-o", tmp_path / "n", input=table)
    twin = rosenblatt.AveragedPerceptron(shuffle=False, max_iter=1).partial_fit(X[:40].astype(float), y[:40])
    model = rosenblatt.load(tmp_path / "n")
    assert np.array_equal(model.last_coef_, twin.partial_fit(X[40:].astype(float), y[40:]).last_coef_)
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_features_of_a_table_keep_their_names(tmp_path):
    table = "colour,a,label\n" + "red,1,yes\nblue,0,no\n" * 3
    assert command("watch", "-t", "label", "-o", tmp_path / "m", input=table).exit_code == 0
    assert rosenblatt.load(tmp_path / "m").feature_names_in_.tolist() == ["colour=blue", "colour=red", "a"]


def test_what_does_not_go_with_a_model(tmp_path):
    ran("train", written(tmp_path, "and.csv", AND), "-t", "label", "-o", tmp_path / "m")
    for words, text, part in (
        (["--target", "label"], "a,b,label\n1,1,yes\n", "--target was fixed when"),
        (["--learner", "voted"], "a,b,label\n1,1,yes\n", "--learner was fixed when"),
        ([], "1,2,yes\n", "expected a first line with the names a, b"),
        ([], "a,b,label\n", "got none"),
    ):
        assert part in refused("watch", "--model", tmp_path / "m", *words, input=text)


def test_mistakes_stand_beside_the_bound():
    """With the bias as a feature: (2, 1) against (0, 1), the longest row is sqrt(5), the margin sqrt(1/2)."""
    text = "1 1:2\n-1 1:0\n" * 30
    lines = command("watch", "--every", "60", "--margin", "0.5", input=text).stdout.splitlines()
    assert lines[0].split()[-1] == "bound"
    assert lines[1].split()[-1] == "20"
    assert int(lines[1].split()[1]) <= 20
    result = command("watch", "--every", "60", "--margin", "1.6", "--json", input=text)
    last = json.loads(result.stdout)
    assert last["bound"] == pytest.approx(5 / 1.6**2)
    assert last["mistakes"] > last["bound"]
    assert "no hyperplane separates these rows with that margin" in " ".join(result.stderr.split())
    assert command("watch", "--margin", "0", input=text).exit_code == 2


def test_a_bad_line_costs_nothing_that_was_learned(tmp_path):
    assert "the value is 'abc'" in refused("watch", "-o", tmp_path / "m", input=THREE + "1 5:abc\n", answers=True)
    assert rosenblatt.load(tmp_path / "m").fingerprint_["rows"] == 12
    result = ran("watch", "-o", tmp_path / "m", "--on-error", "skip", input=THREE + "1 5:abc\n")
    assert "rows skipped: 1, such as" in result.stderr


def test_an_interrupt_waits_until_the_rows_that_were_learned_are_counted(monkeypatch, tmp_path):
    X, y = _noisy(100)
    learn = TrainingRun.visit

    def interrupted(*arguments, **options):
        made = learn(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return made

    monkeypatch.setattr(TrainingRun, "visit", interrupted)
    result = command("watch", "--every", "20", "--json", "-o", tmp_path / "m", input=_svmlight(X, y))
    monkeypatch.undo()
    assert result.exit_code == 130
    rows = json.loads(result.stdout.splitlines()[-1])["rows"]
    assert 0 < rows < 100
    assert rosenblatt.load(tmp_path / "m").fingerprint_["rows"] == rows
    twin = rosenblatt.Perceptron().partial_fit(sp.csr_array(X[:rows].astype(float)), y[:rows].astype(float))
    assert rosenblatt.load(tmp_path / "m").coef_.tobytes() == twin.coef_.tobytes()


def test_an_everyday_table_is_no_dead_end(tmp_path):
    lines = [f"{k},2024-01-{k % 28 + 1:02},{k % 5 if k % 7 else ''},{'ab'[k % 2]},{k % 2}" for k in range(60)]
    table = "\n".join(["id,when,size,kind,label", *lines]) + "\n"
    result = ran("watch", "-t", "label", "--format", "csv", "-o", tmp_path / "m", input=table)
    notes = " ".join(result.stderr.split())
    assert "left out: id (" in notes
    assert "when (holds dates" in notes
    assert "missing values: size (9)." in notes
    strict = command("watch", "-t", "label", "--format", "csv", "--missing", "error", input=table)
    assert strict.exit_code == 2
    kept = ran("watch", "-t", "label", "--format", "csv", "--keep", "when", "--drop", "id", input=table)
    assert "left out" not in kept.stderr
    assert "--drop was fixed when" in refused("watch", "--model", tmp_path / "m", "--drop", "size", input=table)


@pytest.mark.parametrize("format", ["svmlight", "csv"])
def test_a_scaled_model_goes_on_with_its_scale(tmp_path, format):
    if format == "csv":
        first = written(
            tmp_path, "a.csv", "x,y,label\n" + "".join(f"{i},{1000 * (i % 4)},{i % 2}\n" for i in range(30))
        )
        words = ["-t", "label"]
        more = "x,y,label\n" + "".join(f"{i % 5},{500 * i},{i % 2}\n" for i in range(10))
    else:
        first = written(tmp_path, "a.svm", "".join(f"{i % 2} 1:{i + 1} 2:{1000 * (i % 4) + 1}\n" for i in range(30)))
        words = []
        more = "".join(f"{i % 2} 1:{i % 5 + 1} 2:{500 * i + 1} 3:7\n" for i in range(10))
    ran("train", first, *words, "--scale", "standard", "-o", tmp_path / "m", "-p", "2")
    model = rosenblatt.load(tmp_path / "m")
    scale = model.preparation_["scale"]
    ran("watch", "--model", tmp_path / "m", "-o", tmp_path / "n", input=more)
    again = rosenblatt.load(tmp_path / "n")
    assert again.preparation_["scale"] == scale
    rows = written(tmp_path, "more", more)
    stream = data.open(rows, format=format, preparation=again.preparation_)
    (block,) = stream
    X, _ = block
    assert X.shape[1] == again.n_features_in_
    if format == "csv":
        assert model.partial_fit(block).coef_.tobytes() == again.coef_.tobytes()
    else:
        assert X[:, [0]].toarray().ravel().tolist() == [(i % 5 + 1) / scale["spread"][0] for i in range(10)]


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_count_as_much_as_they_weigh(tmp_path, classes):
    lines = [f"{i % 7},{i % 5},{i % 3},{i * i % classes}" for i in range(40)]
    ran("watch", "-t", "label", "--weight", "w", "-o", tmp_path / "m", input="\n".join(["a,b,w,label", *lines]))
    rows = np.array([line.split(",") for line in lines], float)
    twin = rosenblatt.Perceptron()
    twin.partial_fit(rows[:, :2], rows[:, 3], classes=range(classes), sample_weight=rows[:, 2])
    if classes == 2:
        assert np.array_equal(rosenblatt.load(tmp_path / "m").coef_, twin.coef_)
    ran("watch", "-t", "label", "--drop", "w", "-o", tmp_path / "n", input="\n".join(["a,b,w,label", *lines]))
    assert not np.array_equal(rosenblatt.load(tmp_path / "m").coef_, rosenblatt.load(tmp_path / "n").coef_)


def test_columns_of_very_different_sizes_are_said():
    text = "x,y,label\n" + "".join(f"{i % 3},{1000 * (i % 4)},{i % 2}\n" for i in range(30))
    result = command("watch", "-t", "label", input=text)
    told = " ".join(result.stderr.split())
    assert "some columns have ranges 1,500 times as large as those of others" in told
    assert "continue it with --model" in told
    alike = text.replace("000,", ",")
    assert "times as much" not in command("watch", "-t", "label", input=alike).stderr


def _answers(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", ["perceptron", "averaged", "arow", "voted"])
def test_each_row_has_an_answer_by_the_weights_before_it(tmp_path, learner, classes):
    X, y = _noisy(60)
    X, y = X + 0.25, y if classes == 2 else np.where(X[:, 1] > 1, 2, y)
    words = ["watch", "-l", learner, "--answers", "-", "--json", "--every", "50", "-o", tmp_path / "m"]
    result = ran(*words, input=_svmlight(X, y))
    answers, results = _answers(result), [json.loads(line) for line in result.stderr.splitlines() if line[0] == "{"]
    twin = rosenblatt.load(tmp_path / "m").__class__(**rosenblatt.load(tmp_path / "m").get_params())
    for i, answer in enumerate(answers):
        label = None if i == 0 else twin.predict(X[[i]])[0]
        assert (answer["row"], answer["label"], answer["right"]) == (i + 1, label, label == y[i])
        if i and len(twin.classes_) > 1:
            score = twin.decision_function(X[[i]]).max()
            assert answer["score"] == pytest.approx(float(f"{score:.6g}"), rel=1e-5)
        twin.partial_fit(X[[i]], y[[i]].astype(float))
    assert sum(not answer["right"] for answer in answers) == results[-1]["mistakes"]


def test_rows_without_a_label_are_answered_and_not_learned(tmp_path):
    X, y = _noisy(80)
    has = np.random.default_rng(0).random(80) < 0.6
    has[0] = True
    table = "key,a,b,label\n" + "".join(
        f"k{i},{a},{b},{label if known else ''}\n"
        for i, ((a, b), label, known) in enumerate(zip(X.tolist(), y.tolist(), has.tolist(), strict=True))
    )
    words = ["--answers", tmp_path / "answers.csv", "--id", "key", "--every", "7", "-o", tmp_path / "m"]
    ran("watch", "-t", "label", *words, input=table)
    with open(tmp_path / "answers.csv", newline="") as file:
        answers = list(csv.DictReader(file))
    assert [answer["id"] for answer in answers] == [f"k{i}" for i in range(80)]
    assert [answer["right"] != "" for answer in answers] == has.tolist()
    twin = rosenblatt.Perceptron()
    for i in range(80):
        if i:
            assert answers[i]["label"] == str(twin.predict(X[[i]])[0])
        if has[i]:
            twin.partial_fit(X[[i]].astype(float), y[[i]], classes=None if i else [y[0]])
    assert rosenblatt.load(tmp_path / "m").coef_.tobytes() == twin.coef_.tobytes()
    lines = "".join(f" 1:{a} 2:{b + 0.5}\n" for a, b in X.tolist())
    result = ran("watch", "--answers", "-", "--json", input=f"1 1:1\n-1 2:1\n{lines}")
    assert [answer["right"] for answer in _answers(result)[2:]] == [None] * 80


def test_precision_and_recall_are_those_of_scikit_learn(tmp_path):
    X, y = _noisy(300)
    y = np.where(X[:, 1] > 1, 2, y)
    words = ["watch", "--answers", tmp_path / "answers", "--by-class", "--window", "50", "--every", "300"]
    line = json.loads(ran(*words, "--json", input=_svmlight(X, y)).stdout)
    found = [json.loads(answer)["label"] for answer in (tmp_path / "answers").read_text().splitlines()]
    found[0] = 99  # no class was known
    for prefix, part in (("", slice(None)), ("recent_", slice(250, 300))):
        for k, label in enumerate([-1, 1, 2]):
            own = line["classes"][k]
            assert own["label"] == label
            for name, score in (("precision", precision_score), ("recall", recall_score)):
                expected = score(y[part], found[part], labels=[label], average="macro", zero_division=np.nan)
                assert own[prefix + name] == (None if np.isnan(expected) else pytest.approx(expected))
    assert line["recent_rate"] == np.mean(y[250:] != found[250:])
    text = ran(*words[:1], *words[3:], input=_svmlight(X, y)).stdout.splitlines()
    assert text[0].split()[2:4] == ["last", "50"]
    assert [row.split()[0] for row in text[2:]] == ["-1", "1", "2"]


def test_a_scale_is_learned_on_the_way(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal([5.0, -300.0], [1.0, 200.0], (400, 2)).round(3)
    y = (X[:, 0] - 5 > (X[:, 1] + 300) / 200).astype(int)
    table = "a,b,label\n" + "".join(f"{a},{b},{s}\n" for (a, b), s in zip(X.tolist(), y.tolist(), strict=True))
    words = ["watch", "-t", "label", "--json", "--every"]
    model = tmp_path / "m"
    plain = json.loads(ran(*words, "400", input=table).stdout)
    scaled = json.loads(ran(*words, "400", "--scale", "standard", "-o", model, input=table).stdout)
    assert scaled["mistakes"] < plain["mistakes"] / 2
    found = rosenblatt.load(model)
    again = ran(*words, "7", "--scale", "standard", "-o", tmp_path / "n", input=table)
    assert json.loads(again.stdout.splitlines()[-1]) == scaled
    assert rosenblatt.load(tmp_path / "n").coef_.tobytes() == found.coef_.tobytes()
    scale, rows = found.preparation_["scale"], X[:398]  # the last of the moments at which the scale is computed
    fitted = {tuple(np.round(X[:n].mean(axis=0), 9)) for n in range(380, 401)}
    assert tuple(np.round(scale["centre"], 9)) in fitted
    assert len(rows)
    written(tmp_path, "rows.csv", table)
    assert ran("test", model, tmp_path / "rows.csv", "--json").exit_code == 0


def test_it_is_resumed_from_its_folder_with_the_same_bits(tmp_path):
    X, y = _noisy(300)
    lines = _svmlight(X, y).splitlines(keepends=True)
    state = ["--state", tmp_path / "state", "--resume", "--save-rows", "70"]
    words = ["watch", "-l", "averaged", "--json", "--every", "50"]
    whole = ran(*words, "-o", tmp_path / "whole", input="".join(lines))
    ran(*words, *state, input="".join(lines[:110]))
    result = ran(*words, *state, "--from-start", input="".join(lines[:200]))
    assert "resumed after 110 rows of the input, which are left out" in " ".join(result.stderr.split())
    result = ran(*words, *state, "-o", tmp_path / "m", input="".join(lines[200:]))
    assert "resumed after 200 rows of the input: the next rows are expected" in " ".join(result.stderr.split())
    assert result.stdout.splitlines()[-1] == whole.stdout.splitlines()[-1]
    assert rosenblatt.load(tmp_path / "m").coef_.tobytes() == rosenblatt.load(tmp_path / "whole").coef_.tobytes()
    assert rosenblatt.load(tmp_path / "m").fingerprint_["rows"] == 300
    for more, part in (
        ([], "add --resume"),
        (["--resume", "--decay", "0.1"], "began with other options"),
    ):
        assert part in refused(*words, "--state", tmp_path / "state", *more, input="1 1:1\n")


def test_options_that_do_not_go_together():
    for words, part in (
        (["--resume"], "--resume needs --state"),
        (["--from-start"], "--from-start applies to --resume"),
        (["--id", "key"], "--id copies a column to the answers"),
        (["--save-rows", "0"], "--save-rows must be at least 1"),
        (["--save-seconds", "0"], "--save-seconds must be from"),
        (["--window", "0"], "--window must be at least 1"),
        (["--scale", "log"], "--scale must be"),
    ):
        assert part in refused("watch", *words, input="1 1:1\n")


def _arriving(n):
    """Return records whose categories and fields come up one after the other."""
    rng = np.random.default_rng(3)
    found = []
    for i in range(n):
        row = {"a": round(float(rng.normal()), 3), "colour": f"c{rng.integers(1 + i // 15)}"}
        if i > 60:
            row |= {"late": round(float(rng.normal()), 3), "sure": bool(rng.random() < 0.5), "odd": [1], "no": None}
        if i > 90:
            row["where"] = str(rng.choice(["x", "y"]))
        place = row["a"] + (row["colour"] == "c1") + row.get("late", 0.0) + (row.get("where") == "x") - 0.5
        found.append(row | {"label": "yes" if place > 0 else "no"})
    return found


@pytest.mark.parametrize("every", [7, 200])
def test_new_categories_and_fields_join_whatever_is_printed_when(tmp_path, every):
    rows = _arriving(200)
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    words = ["watch", "-t", "label", "--format", "jsonl", "--first-rows", "20", "-o", tmp_path / "m"]
    result = ran(*words, "--json", "--every", every, input=text)
    twin, wrong, records = rosenblatt.Perceptron(), 0, []
    for row in rows:
        record = {name: value for name, value in row.items() if name not in ("label", "odd", "no")}
        record |= {"sure": str(row["sure"]).lower()} if "sure" in row else {}  # a boolean that comes late is a category
        records.append(record)
        wrong += twin.predict_one(record) != row["label"]
        twin.learn_one(record, row["label"])
    found = rosenblatt.load(tmp_path / "m")
    assert json.loads(result.stdout.splitlines()[-1])["mistakes"] == wrong
    weights = [dict(zip(m.feature_names_in_.tolist(), m.coef_[0].tolist(), strict=True)) for m in (found, twin)]
    assert weights[0] == weights[1]
    assert {"late", "sure=true", "where=x"} < weights[0].keys()
    late = [{name: value for name, value in row.items() if name not in ("odd", "no")} for row in rows[100:]]
    assert found.predict(late).tolist() == [twin.predict_one(record) for record in records[100:]]
    written(tmp_path, "late.jsonl", "".join(f"{json.dumps(row)}\n" for row in late))
    assert ran("predict", tmp_path / "m", tmp_path / "late.jsonl").stdout.split() == found.predict(late).tolist()


def test_a_resumed_watch_has_the_features_that_came_before(tmp_path):
    rows = _arriving(200)
    lines = [f"{json.dumps(row)}\n" for row in rows]
    words = ["watch", "-t", "label", "--format", "jsonl", "--first-rows", "20", "--save-rows", "50"]
    state = ["--state", tmp_path / "state", "--resume"]
    ran(*words, "-o", tmp_path / "whole", input="".join(lines))
    for start, stop in ((0, 70), (70, 130), (130, 200)):
        ran(*words, *state, "-o", tmp_path / "m", input="".join(lines[start:stop]))
    found, whole = (rosenblatt.load(tmp_path / name) for name in ("m", "whole"))
    assert found.feature_names_in_.tolist() == whole.feature_names_in_.tolist()
    assert found.coef_.tobytes() == whole.coef_.tobytes()
    assert ran("watch", "--model", tmp_path / "m", input="".join(lines)).exit_code == 0


def test_names_beyond_the_largest_number_are_ignored(tmp_path):
    text = "".join(f"{json.dumps(row)}\n" for row in _arriving(200))
    words = ["watch", "-t", "label", "--format", "jsonl", "--first-rows", "20", "-o", tmp_path / "m"]
    result = ran(*words, "--max-names", "5", input=text)
    assert rosenblatt.load(tmp_path / "m").n_features_in_ == 5
    assert "colour" in " ".join(result.stderr.split())


def test_hashed_categories_need_no_more_columns(tmp_path):
    rows = [{name: row[name] for name in ("a", "colour", "label")} for row in _arriving(200)]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    words = ["watch", "-t", "label", "--format", "jsonl", "--first-rows", "20", "-o", tmp_path / "m"]
    listed = json.loads(ran(*words, "--json", input=text).stdout)
    weights = np.sort(rosenblatt.load(tmp_path / "m").coef_[0])
    hashed = json.loads(ran(*words, "--json", "--categories", "hash", "--bits", "9", input=text).stdout)
    assert hashed["mistakes"] == listed["mistakes"]
    found = rosenblatt.load(tmp_path / "m")
    assert found.n_features_in_ == 1 + 2**9
    assert np.array_equal(np.sort(found.coef_[found.coef_ != 0]), weights[weights != 0])
    assert "categories was fixed" in refused("watch", "--model", tmp_path / "m", "--categories", "hash", input=text)


def _started(*words):
    """Start the command as a process, with pipes."""
    command = [sys.executable, "-m", "rosenblatt", "watch", *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _until(is_true, seconds=60):
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("way", ["SIGHUP", "seconds", "rows"])
def test_the_model_is_saved_while_rows_come_and_at_sigterm(tmp_path, way):
    options = {"SIGHUP": [], "seconds": ["--save-seconds", "0.05"], "rows": ["--save-rows", "3"]}[way]
    model = tmp_path / "m"
    process = _started("--format", "svmlight", "--answers", "-", "--json", "-o", model, *options)
    rows = [f"{i % 2} 1:{i % 3 + 1} 2:{i % 4}\n" for i in range(5)]
    for number, row in enumerate(rows[:3], 1):  # each row is answered before the next one comes
        process.stdin.write(row)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["row"] == number
    if way == "SIGHUP":
        assert not model.exists()
        process.send_signal(signal.SIGHUP)
    _until(lambda: model.exists() and rosenblatt.load(model).fingerprint_["rows"] == 3)
    for row in rows[3:]:
        process.stdin.write(row)
        process.stdin.flush()
        process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "model written to" in said
    twin = rosenblatt.Perceptron()
    for i, row in enumerate(rows):
        twin.partial_fit(sp.csr_array([[i % 3 + 1.0, i % 4]]), [float(row[0])])
    assert rosenblatt.load(model).coef_.tobytes() == twin.coef_.tobytes()


def test_a_full_disk_costs_no_row_that_was_answered(tmp_path, monkeypatch):
    X, y = _noisy(60)
    words = ["watch", "--json", "--answers", tmp_path / "answers", "--every", "20", "--state", tmp_path / "state"]
    append, calls = Log.append, []

    def full(log, content):
        calls.append(content)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(log, content)

    monkeypatch.setattr(Log, "append", full)
    result = command(*words, input=_svmlight(X, y))
    assert result.exit_code == 2
    said = " ".join(result.stderr.split()).lower()
    assert "no space left" in said
    assert str(tmp_path / "state") in said
    monkeypatch.undo()
    answered = len((tmp_path / "answers").read_text().splitlines())
    assert 0 < answered < 60
    ran(*words, "--resume", "--from-start", "-o", tmp_path / "m", input=_svmlight(X, y))
    twin = rosenblatt.Perceptron()
    for i in range(60):
        twin.partial_fit(sp.csr_array(X[[i]].astype(float)), y[[i]].astype(float))
    assert rosenblatt.load(tmp_path / "m").coef_.tobytes() == twin.coef_.tobytes()
    assert rosenblatt.load(tmp_path / "m").fingerprint_["rows"] == 60
