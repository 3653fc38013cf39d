import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import HashingVectorizer

import rosenblatt
from helpers.commands import AND, THREE, command, ran, refused, written
from rosenblatt import data
from rosenblatt.cli.output import ProgressBar
from rosenblatt.training.checkpoint import CheckpointWriter
from rosenblatt.training.run import TrainingRun


@pytest.fixture
def points(tmp_path):
    """Sixty noisy points, some of them on the wrong side."""
    rng = np.random.default_rng(3)
    X = rng.integers(-4, 5, (60, 3))
    y = np.where(X[:, 0] + rng.integers(-2, 3, 60) > 0, "yes", "no")
    lines = [f"{a},{b},{c},{label}" for (a, b, c), label in zip(X, y, strict=True)]
    return written(tmp_path, "points.csv", "\n".join(["a,b,c,label", *lines]) + "\n")


def test_the_model_is_that_of_the_library(points, tmp_path):
    result = ran("train", points, "-t", "label", "--seed", "5", "--passes", "4", "-o", tmp_path / "m")
    stream = data.open(points, target="label", scale="auto", on_ambiguous="drop", missing="mean")
    X, y = stream.read()
    twin = rosenblatt.AveragedPerceptron(max_iter=4, random_state=5).fit(X, y)
    model = rosenblatt.load(tmp_path / "m")
    assert np.array_equal(model.coef_, twin.coef_)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.fingerprint_ == {"files": ["points.csv"], "rows": 60, "sha256": stream.fingerprint}
    assert f"Mistakes by pass: {', '.join(map(str, twin.report_.mistakes_by_pass))}." in result.stdout
    assert f"{twin.n_updates_} updates" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("columns", "why"),
    [("km", "its range differs from that of the bias"), ("km,age", "their ranges differ")],
)
def test_the_reason_for_the_scale_is_about_one_column_or_several(columns, why, tmp_path):
    rows = ([100 * k, k][: len(columns.split(","))] for k in range(10, 30))
    lines = [",".join(map(str, (*row, "yes" if row[0] % 700 else "no"))) for row in rows]
    table = written(tmp_path, "cars.csv", "\n".join([f"{columns},label", *lines]) + "\n")
    result = ran("train", table, "-t", "label", "-p", "1")
    assert f"because {why}; --scale none turns this off." in " ".join(result.stderr.split() + result.stdout.split())


@pytest.mark.parametrize(("name", "kind"), [("perceptron", "Perceptron"), ("voted", "VotedPerceptron")])
def test_other_learners_in_the_order_given(points, tmp_path, name, kind):
    words = ["-t", "label", "-l", name, "-p", "3", "--no-shuffle", "-o", tmp_path / "m", "--json"]
    result = ran("train", points, *words)
    X, y = data.open(points, target="label").read()
    twin = getattr(rosenblatt, kind)(max_iter=3, shuffle=False, random_state=0)
    with pytest.warns(ConvergenceWarning) if name == "perceptron" else contextlib.nullcontext():
        twin.fit(X, y)
    answer = json.loads(result.stdout)
    assert answer["learner"] == kind
    assert answer["mistakes_by_pass"] == list(twin.report_.mistakes_by_pass)
    assert answer["margin_low"] is None  # minus infinity
    assert answer["rows"] == 60


def test_what_is_separated_is_said_to_be(tmp_path):
    path = written(tmp_path, "and.csv", AND)
    result = command("train", path, "-t", "label", "-l", "perceptron", "--json")
    answer = json.loads(result.stdout)
    assert answer["separated"] is True
    assert answer["updates"] <= answer["bound"]
    assert 0 < answer["margin_low"] <= answer["margin_high"]


def test_accuracy_and_its_spread_over_seeds(points):
    result = command("train", points, "-t", "label", "--test", points, "--seeds", "3", "-p", "2", "--json")
    tested = json.loads(result.stdout)["test"]
    X, y = data.open(points, target="label").read()
    scores = [rosenblatt.AveragedPerceptron(max_iter=2, random_state=k).fit(X, y).score(X, y) for k in range(3)]
    assert tested["by_seed"] == scores
    assert tested["accuracy"] == scores[0]
    words = command("train", points, "-t", "label", "--test", points, "--seeds", "3", "-p", "2").stdout
    assert f"Over 3 seeds: mean {np.mean(scores):.2%}" in words


def test_early_stopping(points):
    answer = json.loads(command("train", points, "-t", "label", "--early-stopping", "-p", "50", "--json").stdout)
    assert 6 <= answer["passes"] < 50


def test_rows_that_cannot_be_read_are_skipped(tmp_path):
    path = written(tmp_path, "bad.csv", AND + "x,1,no\n")
    assert command("train", path, "-t", "label", "--kind", "a=number").exit_code == 2
    answer = json.loads(
        command("train", path, "-t", "label", "--kind", "a=number", "--on-error", "skip", "--json").stdout
    )
    assert (answer["rows"], answer["skipped"]) == (4, 1)


def test_a_column_of_weights_scales_the_steps(points, tmp_path):
    lines = points.read_text().splitlines()
    rows = [f"{line},{k % 3}" for k, line in enumerate(lines[1:])]
    path = written(tmp_path, "weighted.csv", "\n".join([lines[0] + ",w", *rows]) + "\n")
    words = ["-t", "label", "--weight", "w", "-p", "3", "-o", tmp_path / "m"]
    assert command("train", path, *words).exit_code == 0
    X, y = data.open(points, target="label").read()
    twin = rosenblatt.AveragedPerceptron(max_iter=3, random_state=0).fit(X, y, np.arange(60) % 3)
    assert np.array_equal(rosenblatt.load(tmp_path / "m").coef_, twin.coef_)


def test_standard_input_is_read_once(tmp_path):
    result = command("train", "-", "-o", tmp_path / "m", input=THREE)
    if result.exit_code:  # where standard input has no file descriptor of its own
        ran = subprocess.run(
            [sys.executable, "-m", "rosenblatt.cli.main", "train", "-", "-o", tmp_path / "m"],
            input=THREE.encode(),
            capture_output=True,
            check=True,
        )
        assert b"1 pass," in ran.stdout
    assert rosenblatt.load(tmp_path / "m").classes_.tolist() == [1, 2, 3]
    assert command("train", "-", "--passes", "2", input=THREE).exit_code == 2


def test_resume_ends_with_the_same_model(points, tmp_path, monkeypatch):
    words = ["train", points, "-t", "label", "-p", "6", "--json"]
    saved = ["--checkpoint", tmp_path / "c", "--every", "0s"]
    whole = json.loads(command(*words, "-o", tmp_path / "whole").stdout)
    write, times = CheckpointWriter.write, iter(range(3))
    monkeypatch.setattr(
        CheckpointWriter, "write", lambda *given: write(*given) if next(times, None) is not None else None
    )
    assert command(*words, *saved).exit_code == 0
    again = json.loads(command(*words, *saved, "--resume", "-o", tmp_path / "again").stdout)
    assert again["mistakes_by_pass"] == whole["mistakes_by_pass"]
    models = [rosenblatt.load(tmp_path / name) for name in ("whole", "again")]
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert command(*words, "--seed", "1", *saved, "--resume").exit_code == 2


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_ctrl_c_keeps_what_was_learned(points, tmp_path, number):
    words = ["train", str(points), "-t", "label", "-p", "100000000", "-o", str(tmp_path / "m")]
    run = subprocess.Popen(
        [sys.executable, "-m", "rosenblatt.cli.main", *words, "--checkpoint", str(tmp_path / "c"), "--every", "0s"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background start without it
    )
    for _ in range(600):
        if (tmp_path / "c").exists():
            break
        time.sleep(0.1)
    run.send_signal(number)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert "Mistakes by pass" in out
    assert rosenblatt.load(tmp_path / "m").n_iter_ >= 1


def ctrl_c_after(steps):
    """Return a way to set the bar that presses Ctrl-C at some step, and the steps so far."""
    set_rows, calls = ProgressBar.set_rows, []

    def press(self, *given):
        set_rows(self, *given)
        calls.append(given)
        if len(calls) == steps:
            signal.raise_signal(signal.SIGINT)

    return press, calls


def test_ctrl_c_says_whether_the_run_can_go_on(points, tmp_path, monkeypatch):
    words = ["train", points, "-t", "label", "-p", "6", "-o", tmp_path / "m"]
    saved = ["--checkpoint", tmp_path / "c", "--resume"]  # every thirty seconds
    assert command(*words).exit_code == 0
    whole = rosenblatt.load(tmp_path / "m")
    press, calls = ctrl_c_after(3)
    with monkeypatch.context() as patched:
        patched.setattr(ProgressBar, "set_rows", press)
        result = command(*words, *saved)
    told = " ".join(result.stderr.split())
    assert result.exit_code == 130
    assert "c to resume from, so training starts from the beginning." in told
    assert f"the same command with --resume continues from {tmp_path / 'c'}." in told
    assert "3 passes, " in result.stdout  # it had come to its end
    result = ran(*words, *saved)
    assert " ".join(result.stderr.split()) == f"Note: resuming from {tmp_path / 'c'}, in pass 3."
    again = rosenblatt.load(tmp_path / "m")
    assert np.array_equal(again.coef_, whole.coef_)
    assert np.array_equal(again.history_, whole.history_)
    calls.clear()
    (tmp_path / "c").unlink()
    monkeypatch.setattr(ProgressBar, "set_rows", press)
    monkeypatch.setattr(CheckpointWriter, "on_interrupt", lambda *_: None)
    result = command(*words, *saved[:2])
    assert result.exit_code == 130
    assert "this run has written no checkpoint to" in " ".join(result.stderr.split())


def test_a_resumed_run_that_is_cut_short_knows_its_rows(points, tmp_path, monkeypatch):
    words = ["train", points, "-t", "label", "-p", "9", "--json"]
    saved = ["--checkpoint", tmp_path / "c", "--every", "0s", "--resume"]
    rows = json.loads(command(*words).stdout)["rows"]
    press, calls = ctrl_c_after(12)
    monkeypatch.setattr(TrainingRun, "window", 8)
    monkeypatch.setattr(ProgressBar, "set_rows", press)
    assert command(*words, *saved).exit_code == 130  # in the second pass
    calls[:] = range(10)
    result = command(*words, *saved)
    assert result.exit_code == 130
    answer = json.loads(result.stdout)
    assert (answer["rows"], answer["interrupted"], answer["last_pass_cut"]) == (rows, True, True)


def test_a_cache_that_cannot_be_written_costs_a_note(points, tmp_path):
    words = ["train", points, "-t", "label", "-p", "3"]
    assert command(*words, "-o", tmp_path / "one").exit_code == 0
    result = ran(*words, "-o", tmp_path / "other", "--cache", tmp_path / "no" / "rows")
    assert result.stderr.count("Note:") == 1
    assert "cannot be cached" in result.stderr
    assert "there is no such folder" in " ".join(result.stderr.split())
    models = [rosenblatt.load(tmp_path / name) for name in ("one", "other")]
    assert np.array_equal(models[0].coef_, models[1].coef_)


def test_one_file_is_not_written_twice(points, tmp_path):
    for one, other in (("-o", "--checkpoint"), ("-o", "--cache"), ("--checkpoint", "--cache")):
        assert "use two files" in refused("train", points, "-t", "label", one, tmp_path / "m", other, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_checkpoint_replaces_no_other_file_and_no_earlier_run_in_silence(points, tmp_path):
    words = ["train", points, "-t", "label", "-p", "2", "--checkpoint", tmp_path / "c", "--every", "0s"]
    (tmp_path / "c").write_text("dear diary")
    assert "must be a checkpoint or a new file" in refused(*words)
    assert (tmp_path / "c").read_text() == "dear diary"
    (tmp_path / "c").unlink()
    assert command(*words).stderr == ""
    assert "of an earlier run will be replaced" in " ".join(command(*words).stderr.split())


def test_lines_of_text_have_defaults_of_their_own(tmp_path):
    rows = [("sea", "ship sail wave"), ("air", "wing cloud pilot"), ("land", "horse road tree")] * 5
    path = written(tmp_path, "train.txt", "".join(f"__label__{label} {text}\n" for label, text in rows))
    table = written(tmp_path, "train.csv", "label,text\n" + "".join(f"{label},{text}\n" for label, text in rows))
    as_text = ["-t", "label", "--kind", "text=text"]

    def found(*words):
        ran("train", *words, "-o", tmp_path / "m")
        model = rosenblatt.load(tmp_path / "m")
        return type(model).__name__, model.max_iter, getattr(model, "r", None), model.preparation_["ngrams"]

    assert found(path) == ("AROW", 3, 1.0, 2)
    assert found(path, "--learner", "averaged") == ("AveragedPerceptron", 10, None, 2)
    assert found(path, "--passes", "2", "--r", "5", "--ngrams", "1") == ("AROW", 2, 5.0, 1)
    assert found(table, *as_text) == ("AveragedPerceptron", 10, None, 1)
    assert found(table, *as_text, "--learner", "arow") == ("AROW", 5, 1.0, 1)
    number = written(tmp_path, "number.csv", table.read_text().replace("\n", ",1\n").replace("text,1", "text,n"))
    assert found(number, *as_text, "--learner", "arow") == ("AROW", 5, 10.0, 1)
    plain = written(tmp_path, "plain.txt", "".join(f"{label} {text}\n" for label, text in rows))
    assert found(plain, "--label-first") == ("AROW", 3, 1.0, 2)


def test_lines_of_text_are_not_suspected_of_leaks_and_ids(tmp_path):
    path = written(tmp_path, "train.txt", "__label__spam Free entry now\n__label__ham see you at seven\n" * 20)
    assert ran("train", path).stderr == ""


def test_pruning_makes_the_file_small(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(2000)])
    lines = [f"{'ab'[k % 2]} {'ab'[k % 2] * 3} {' '.join(rng.choice(words, 20))}\n" for k in range(300)]
    path, model = written(tmp_path, "train.txt", "".join(lines)), tmp_path / "m"
    given = ["train", path, "--label-first", "--bits", "14", "-o", model]
    ran(*given)
    whole, size = rosenblatt.load(model), model.stat().st_size
    found = json.loads(ran(*given, "--prune", "90%", "--json").stdout)
    weights = np.count_nonzero(whole.coef_)
    assert found["pruned"] == {"weights": weights, "removed": int(0.9 * weights), "rows": None}
    assert model.stat().st_size < 0.1 * size
    small = rosenblatt.load(model)
    assert np.count_nonzero(small.coef_) == weights - int(0.9 * weights)
    twin = rosenblatt.pruned(whole, share=0.9)
    assert np.array_equal(small.coef_, twin.coef_)
    kept = small.coef_[0] != 0
    assert small.feature_names_in_.tolist() == twin.feature_names_in_.tolist()
    assert small.feature_names_in_[kept].tolist() == whole.feature_names_in_[kept].tolist()
    assert all(name.startswith("#") for name in small.feature_names_in_[~kept])
    said = ran(*given, "--prune", "auto", "--holdout", "20%").stdout
    assert "were removed, which changes no label of 48 rows." in " ".join(said.split())
    assert "Accuracy 100.00% on 60 rows" in said
    calibrated = json.loads(ran(*given, "--prune", "auto", "--calibrate", "--json").stdout)
    assert calibrated["pruned"]["rows"] == calibrated["calibration"]["rows"] == 60
    assert rosenblatt.load(model).predict_proba([{"text": "aaa"}])[0, 0] > 0.9


def test_what_cannot_be_pruned_is_refused_first(points, tmp_path):
    given = ["train", points, "-t", "label", "-o", tmp_path / "m", "--prune"]
    assert "--prune expects auto or a fraction of the weights, such as 90%, got '100%'" in refused(*given, "100%")
    assert "--prune removes weights of a single vector" in refused(*given, "auto", "--learner", "kernel")
    assert "cannot be combined with --cluster" in refused(*given, "0.5", "--cluster", "dask").replace("--prune", "it")
    rows = points.read_text()
    words = ["train", "-", "-t", "label", "--prune", "auto"]
    assert "cannot be combined with --prune, which reads the rows again" in refused(*words, input=rows)
    assert not (tmp_path / "m").exists()


def test_characters_instead_of_words(tmp_path):
    rows = [("de", "der Mond scheint"), ("en", "the moon shines")] * 5
    path = written(tmp_path, "train.txt", "".join(f"__label__{label} {text}\n" for label, text in rows))
    ran("train", path, "--characters", "2-3", "-o", tmp_path / "m")
    model = rosenblatt.load(tmp_path / "m")
    assert model.preparation_["characters"] == [2, 3]
    X, _ = rosenblatt.data.open(path, preparation=model.preparation_).read()
    counts = HashingVectorizer(
        n_features=2**18, ngram_range=(2, 3), analyzer="char_wb", alternate_sign=False
    ).transform(text for _, text in rows)
    assert X.nnz == counts.nnz
    assert model.predict([{"text": "derselbe"}, {"text": "these"}]).tolist() == ["de", "en"]
    assert model.predict_one({"text": "derselbe"}) == "de"
    assert "leave out --ngrams" in refused("train", path, "--characters", "2-3", "--ngrams", "2")
    assert "--characters expects" in refused("train", path, "--characters", "2:3")
    for wrong in ("0-3", "3-2", "3-99"):
        assert "characters" in refused("train", path, "--characters", wrong)
