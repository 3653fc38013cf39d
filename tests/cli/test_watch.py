import json

import numpy as np
import pytest

import rosenblatt
from commands import THREE, command
from rosenblatt import textbook
from rosenblatt.cli.watch import Count


def _noisy(n):
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (n, 2))
    y = np.where(X[:, 0] * 2 + X[:, 1] + rng.integers(-3, 4, n) > 0, 1, -1)
    return X, y


def _svmlight(X, y):
    return "".join(f"{label} 1:{a} 2:{b}\n" for (a, b), label in zip(X.tolist(), y.tolist(), strict=True))


@pytest.mark.parametrize("every", [1, 7, 150, 1000])
def test_mistakes_are_those_of_the_textbook(tmp_path, every):
    X, y = _noisy(320)
    twin, mistakes = rosenblatt.Perceptron(), []
    for x, label in zip(X, y, strict=True):
        activation = x @ twin.coef_[0] + twin.intercept_[0] if mistakes else 0.0
        mistakes.append(bool(label * activation <= 0))
        twin.partial_fit([x.astype(float)], [label], classes=[-1, 1])
    result = command("watch", "--every", every, "--json", "-o", tmp_path / "m", input=_svmlight(X, y))
    assert result.exit_code == 0, result.stderr
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


def test_features_may_turn_up_late(tmp_path):
    result = command("watch", "--every", "1", "-o", tmp_path / "m", input="1 1:1\n-1 1:-1\n1 1:-1 5:3\n-1 2:1\n")
    assert result.exit_code == 0, result.stderr
    assert rosenblatt.load(tmp_path / "m").n_features_in_ == 5
    assert rosenblatt.load(tmp_path / "m").preparation_["n_features"] == 5


def test_a_table_keeps_its_header_for_all_batches(tmp_path):
    X, y = _noisy(30)
    table = "a,b,label\n" + "".join(f"{a},{b},{s}\n" for (a, b), s in zip(X.tolist(), y.tolist(), strict=True))
    words = ["watch", "--every", "10", "-o", tmp_path / "m"]
    result = command(*words, "--target", "label", input=table)
    assert result.exit_code == 0, result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["rows", "10", "20", "30"]
    coef = rosenblatt.load(tmp_path / "m").coef_
    assert command(*words, input=_svmlight(X, y)).exit_code == 0
    assert np.array_equal(coef, rosenblatt.load(tmp_path / "m").coef_)


def test_vowpal_wabbit_lines():
    result = command("watch", "--every", "2", input="1 | a b\n-1 | c\n1 | a\n")
    assert result.exit_code == 0, result.stderr
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:]] == [["2", "2"], ["3", "2"]]


@pytest.mark.parametrize("text", ["", "what is this\n", "1 1:1\n-1 1:x\n"])
def test_bad_input_is_one_sentence_about_standard_input(text):
    result = command("watch", input=text)
    assert result.exit_code == 2
    assert "standard input" in result.stderr.lower()
    assert result.stderr.count("\n") == 1


def test_the_rate_is_about_the_last_thousand():
    count = Count()
    for k in range(30):
        count.add(100, 100 if k < 20 else 10)
    assert count.rate == 0.1
    assert count.mistakes == 2100
