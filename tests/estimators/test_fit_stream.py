"""Training from blocks: the same bits as in memory, however the rows are cut."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from helpers.examples import held_out
from helpers.point_sets import some
from rosenblatt import AveragedPerceptron, Perceptron, data
from rosenblatt.blocks import Block, rebatch
from rosenblatt.training import batches
from rosenblatt.training.run import TrainingRun


def cut(X, y, size, weights=None):
    places = range(0, len(y), size)
    if weights is None:
        return [(X[i : i + size], y[i : i + size]) for i in places]
    return [(X[i : i + size], y[i : i + size], weights[i : i + size]) for i in places]


def assert_same(one, other):
    for name in ("w", "u", "b", "beta", "counters", "done"):
        assert np.array_equal(getattr(one.state_, name), getattr(other.state_, name)), name
    assert np.array_equal(one.history_, other.history_)
    assert np.array_equal(one.classes_, other.classes_)
    assert str(one.report_) == str(other.report_)


def rows(n=300, d=5, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, d)).astype(float)
    return X, (X @ rng.integers(-2, 3, size=(d, classes)) + rng.integers(0, 3, size=(n, classes))).argmax(axis=1)


@some
@given(st.lists(st.integers(1, 40), min_size=1, max_size=20), st.integers(0, 5))
def test_windows_do_not_depend_on_the_cut(sizes, seed):
    X, y = rows(n=sum(sizes), seed=seed)
    weights = np.arange(1.0, len(y) + 1)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    blocks = [(X[a:b], y[a:b], weights[a:b]) for a, b in pairwise(starts)]
    found = list(rebatch(batches.as_blocks(blocks), 16))
    assert [part.first for part in found] == list(range(0, len(y), 16))
    assert all(len(part.y) == 16 for part in found[:-1])
    assert np.array_equal(np.concatenate([part.X for part in found]), X)
    assert np.array_equal(np.concatenate([part.weight for part in found]), weights)


def test_many_windows_are_visited_in_their_documented_orders(monkeypatch):
    monkeypatch.setattr(TrainingRun, "window", 64)
    X, y = rows(n=300, classes=2)
    model = Perceptron(max_iter=1, random_state=5).fit_stream(cut(X, y, 13))
    orders = [64 * k + batches.window_order(len(y[64 * k : 64 * k + 64]), 5, 0, k) for k in range(5)]
    order = np.concatenate(orders)
    assert sorted(order.tolist()) == list(range(300))
    replayed = Perceptron(max_iter=1, shuffle=False).fit(X[order], y[order])
    assert np.array_equal(model.state_.w, replayed.state_.w)
    assert np.array_equal(model.state_.u, replayed.state_.u)


def test_weights_of_rows_and_classes():
    X, y = rows(classes=2)
    weights = np.random.default_rng(0).integers(0, 4, len(y)) / 4
    options = {"max_iter": 3, "random_state": 0, "class_weight": {0: 0.5, 1: 3.0}}
    in_memory = AveragedPerceptron(**options).fit(X, y, weights)
    assert_same(AveragedPerceptron(**options).fit_stream(cut(X, y, 50, weights)), in_memory)


def test_a_class_that_turns_up_late_starts_the_run_again():
    X, y = rows(classes=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    assert_same(
        AveragedPerceptron(random_state=0).fit_stream(cut(X, y, 20)), AveragedPerceptron(random_state=0).fit(X, y)
    )


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_generator_is_read_once(shuffle):
    X, y = rows(classes=2)
    blocks = cut(X, y, 40)
    model = Perceptron(max_iter=1, shuffle=shuffle, random_state=2).fit_stream(block for block in blocks)
    again = Perceptron(max_iter=1, shuffle=shuffle, random_state=2).fit_stream(blocks)
    assert np.array_equal(model.state_.w, again.state_.w)
    assert np.array_equal(model.state_.u, again.state_.u)
    assert model.n_iter_ == 1
    assert np.array_equal(model.history_, again.history_)
    with pytest.raises(ValueError, match="can be read only once, but max_iter=100 reads them again: set max_iter=1"):
        Perceptron().fit_stream(block for block in blocks)
    with pytest.raises(ValueError, match="can be read only once, but early_stopping=True reads them again"):
        Perceptron(max_iter=1, early_stopping=True).fit_stream(block for block in blocks)


def test_going_on_equals_one_run():
    X, y = rows(classes=2)
    blocks = cut(X, y, 40)
    model = AveragedPerceptron(max_iter=1, warm_start=True, random_state=0)
    for _ in range(3):
        model.fit_stream(blocks)
    assert_same(model, AveragedPerceptron(max_iter=3, random_state=0).fit_stream(blocks))


def test_early_stopping_does_not_depend_on_the_cut():
    X, y = load_digits(return_X_y=True)
    models = [
        AveragedPerceptron(max_iter=8, early_stopping=True, n_iter_no_change=2, random_state=0).fit_stream(cut(X, y, k))
        for k in (100, 1797)
    ]
    assert_same(*models)
    assert 0 < models[0].history_["validation_error"].min() < 0.2
    assert models[0].report_.early_stopping.held_out_rows == held_out(y, 0).sum()


def test_each_pass_can_be_looked_at():
    X, y = rows(classes=2)
    seen = []
    model = Perceptron(max_iter=3, random_state=0).fit_stream(
        cut(X, y, 40), on_pass=lambda model: seen.append((model.n_iter_, model.score(X, y)))
    )
    assert [n for n, _ in seen] == list(range(1, model.n_iter_ + 1))
    assert seen[-1][1] == model.score(X, y)


def blocks_of(X, y, size, checked):
    return [Block(part, labels, 0, is_validated=checked) for part, labels in cut(X, y, size)]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("labels", [int, float, bool, str])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_blocks_that_a_reader_has_checked_are_like_others(shuffle, labels, form):
    X, y = rows(classes=2)
    y = y.astype(labels)
    options = {"max_iter": 3, "shuffle": shuffle, "random_state": 1}
    in_memory = AveragedPerceptron(**options).fit(form(X), y)
    for size in (7, 1000):
        assert_same(AveragedPerceptron(**options).fit_stream(blocks_of(form(X), y, size, True)), in_memory)
    mixed = [*blocks_of(form(X)[:100], y[:100], 30, True), *blocks_of(form(X)[100:], y[100:], 30, False)]
    assert_same(AveragedPerceptron(**options).fit_stream(mixed), in_memory)


@pytest.mark.parametrize("shuffle", [False, True])
def test_what_a_reader_cannot_know_is_checked_all_the_same(monkeypatch, shuffle):
    monkeypatch.setattr(TrainingRun, "window", 64)
    X, y = rows(classes=2)
    model = Perceptron(shuffle=shuffle, random_state=0)
    with pytest.raises(ValueError, match="features"):
        model.fit_stream([*blocks_of(X, y, 100, True), *blocks_of(X[:, :3], y, 100, True)])
    with pytest.raises(ValueError, match="regression target"):
        model.fit_stream(blocks_of(X, y + 0.5, 100, True))
    with pytest.raises(ValueError, match="NaN"):
        model.fit_stream(blocks_of(X, np.where(np.arange(len(y)) < 200, y, np.nan), 100, True))
    spoiled = blocks_of(X, y, 100, True)
    spoiled[2] = Block(np.full((1, 5), np.inf), y[:1], 200)
    with pytest.raises(ValueError, match="infinity"):
        model.fit_stream(spoiled)


@pytest.mark.parametrize("cache", [False, True])
def test_rows_without_labels_are_refused(tmp_path, cache):
    (tmp_path / "a.svm").write_text("1 1:1\n0 1:2\n" * 9)
    (tmp_path / "b.svm").write_text("1:1\n1:2\n")
    for files in (tmp_path / "b.svm", [tmp_path / "a.svm", tmp_path / "b.svm"]):
        stream = data.open(files, format="svmlight", labels=False, cache=cache)
        stream.read()
        with pytest.raises(ValueError, match=r"NaN|every label is nan"):
            Perceptron(max_iter=2).fit_stream(stream)
