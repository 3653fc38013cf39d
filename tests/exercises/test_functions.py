"""Functions of students: right ones of any shape are accepted, and each planted mistake is found, however it ends."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from exercises.students import AVERAGED, MISTAKES, PERCEPTRON, function_of, with_mistake
from rosenblatt import textbook
from rosenblatt.exercises import check
from rosenblatt.exercises.programs import ALGORITHMS

PLANTED = [(algorithm, mistake) for algorithm, mistakes in MISTAKES.items() for mistake in mistakes]
ENDLESS = {"no end", "until nothing is wrong"}
UNREAD = {"weights and bias in one list", "no bias returned", "not a number", "nothing returned", "a question"}
ENDED = {"an index too far", "the end of the process", "the end of the process at once", "the input changed"}


def with_arrays(D, max_iter):
    w, b = np.zeros(len(D[0][0])), 0.0
    for _ in range(max_iter):
        for x, y in D:
            if y * (w @ x + b) <= 0:
                w += y * x
                b += y
    return w, b


def until_clean(D, max_iter):
    w, b = np.zeros((len(D[0][0]), 1)), np.zeros(1)
    while max_iter > 0:
        wrong = 0
        for x, y in D:
            if np.sign(np.dot(w[:, 0], x) + b[0]) != y:
                w[:, 0], b, wrong = w[:, 0] + y * np.asarray(x), b + y, wrong + 1
        max_iter = max_iter - 1 if wrong else 0
    return w.ravel().tolist(), float(b[0])


def with_a_sum_of_weights(D, max_iter):
    w = np.zeros(len(D[0][0]) + 1)
    total, n = w.copy(), 1
    for _ in range(max_iter):
        for x, y in D:
            x = np.append(x, 1)
            if y * (w @ x) <= 0:
                w = w + y * x
            total, n = total + w, n + 1
    return total[:-1] / n, total[-1] / n


def with_telescoping(D, max_iter):
    w, b = np.zeros(len(D[0][0])), 0
    u, beta, c = 0 * w, 0, 1
    for x, y in list(D) * max_iter:
        if not y * (np.dot(x, w) + b) > 0:
            w, b, u, beta = w + y * np.array(x), b + y, u + c * y * np.array(x), beta + c * y
        c += 1
    return (c * w - u) / c, (c * b - beta) / c


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("algorithm-5", function_of(PERCEPTRON)),
        ("algorithm-5", with_arrays),
        ("algorithm-5", until_clean),
        ("algorithm-5", textbook.perceptron_train),
        ("algorithm-6", textbook.perceptron_test),
        ("algorithm-6", lambda w, b, x: np.sign(np.dot(w, x) + b)),
        ("algorithm-6", lambda w, b, x: 2 * bool(sum(v * z for v, z in zip(w, x, strict=True)) > -b) - 1),
        ("algorithm-7", function_of(AVERAGED)),
        ("algorithm-7", with_a_sum_of_weights),
        ("algorithm-7", with_telescoping),
    ],
)
def test_right_functions_are_accepted(name, function):
    assert check(name, function)


@pytest.mark.quick_cases(16)
@pytest.mark.parametrize(("algorithm", "mistake"), PLANTED)
def test_planted_mistakes_are_found(algorithm, mistake):
    function = with_mistake(algorithm, mistake)
    result = check(algorithm, function, seconds=0.3)
    found = result.counterexample
    assert not result
    assert found["expected"] == tuple(ALGORITHMS[algorithm].expected(found["D"], found["max_iter"]))
    assert len(found["D"]) <= 2
    if mistake not in ENDLESS | UNREAD | ENDED:
        w, b = function([(list(x), y) for x, y in found["D"]], found["max_iter"])
        assert ([*w], b) != (list(found["expected"][0]), found["expected"][1])


@pytest.mark.parametrize(
    ("function", "counterexample"),
    [
        (lambda w, b, x: 1 if np.dot(w, x) + b >= 0 else -1, {"w": [0], "b": 0, "x": [0], "expected": -1, "got": 1}),
        (lambda w, b, x: 1 if np.dot(w, x) > 0 else -1, {"w": [0], "b": 1, "x": [0], "expected": 1, "got": -1}),
        (lambda w, b, x: np.dot(w, x) + b > 0, {"w": [0], "b": -1, "x": [0], "expected": -1, "got": 0}),
        (lambda w, b, x: -np.sign(np.dot(w, x) + b), {"w": [0], "b": 1, "x": [0], "expected": 1, "got": -1}),
        (lambda w, b, x: np.sign(w[0] * x[0] + b), {"w": [0, 1], "b": 0, "x": [1, 3], "expected": 1, "got": 0}),
    ],
)
def test_mistakes_in_predictions_are_found(function, counterexample):
    assert check("algorithm-6", function).counterexample == counterexample


@pytest.mark.parametrize(
    ("mistake", "part"),
    [
        ("< for <=", "it returns ([0], 0), expected ([0], 1)"),
        ("the input changed", "it changes its arguments: work on copies"),
        ("an index too far", "it raises IndexError: list index out of range (line 6)"),
        ("no end", "it does not end in time"),
        ("the end of the process", "it raises SystemExit"),
        ("the end of the process at once", "it ends the whole process"),
        ("a question", "it raises EOFError: there is no input here"),
        ("weights and bias in one list", "it returns [0, 1]: expected a pair (w, b) with a list w"),
        ("no bias returned", "it returns [0]: expected a pair (w, b)"),
        ("not a number", "expected numbers"),
    ],
)
def test_the_sentence_says_what_happened(mistake, part):
    assert part in check("algorithm-5", with_mistake("algorithm-5", mistake), seconds=0.3).text


@pytest.mark.parametrize(
    "mistake", ["< for <=", "the input changed", "an index too far", "no end", "the end of the process"]
)
def test_without_fork_lines_are_counted(mistake, monkeypatch):
    monkeypatch.delattr(os, "fork")
    before = sys.gettrace()
    assert not check("algorithm-5", with_mistake("algorithm-5", mistake))
    assert sys.gettrace() is before


class Odd:
    """What a student may return by mistake: nothing can be done with it, not even to show it."""

    def __repr__(self):
        raise ZeroDivisionError("odd")


@pytest.mark.parametrize("fork", [True, False])
def test_results_that_cannot_be_shown_are_reported(fork, monkeypatch):
    if not fork:
        monkeypatch.delattr(os, "fork")
    assert "it raises ZeroDivisionError: odd" in check("algorithm-5", lambda D, max_iter: Odd()).text


def test_without_fork_a_right_function_is_accepted(monkeypatch):
    monkeypatch.delattr(os, "fork")
    assert check("algorithm-5", function_of(PERCEPTRON))


def test_what_a_function_prints_is_dropped(capfd):
    def loud(D, max_iter):
        print("pass")
        print("fault", file=sys.stderr)
        return textbook.perceptron_train(D, max_iter)

    assert check("algorithm-5", loud)
    assert capfd.readouterr() == ("algorithm-5: right.\n", "")


@pytest.mark.slow
def test_all_calls_together_have_a_limit():
    def slow(D, max_iter):
        time.sleep(0.03)
        return textbook.perceptron_train(D, max_iter)

    assert "does not end in time" in check("algorithm-5", slow, seconds=0.05).text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked")
def test_no_process_and_no_pipe_is_left(monkeypatch):
    children, fork = [], os.fork

    def noted():
        child = fork()
        children.append(child)
        return child

    monkeypatch.setattr(os, "fork", noted)
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    check("algorithm-5", with_mistake("algorithm-5", "no end"), seconds=0.1)
    check("algorithm-5", textbook.perceptron_train)
    if before:
        assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert children
    for child in children:
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)
