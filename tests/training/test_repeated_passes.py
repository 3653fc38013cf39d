"""Several passes in one call of compiled code give what single passes give, to the bit."""

import signal
import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, PassiveAggressive, Perceptron
from rosenblatt.training import linear
from rosenblatt.training.linear import PassRunner

LEARNERS = [
    Perceptron(),
    Perceptron(multi_class="direct"),
    Perceptron(fit_intercept=False, shuffle="once"),
    AveragedPerceptron(decay=0.01),
    AveragedPerceptron(shuffle=False),
    MarginPerceptron(),
    PassiveAggressive(C=0.1),
    AROW(multi_class="direct"),
]


@pytest.fixture
def calls(monkeypatch):
    """Count the calls of several passes, and the passes that they made."""
    found, repeat = [], PassRunner.repeat

    def counted(*arguments, **named):
        mistakes, updates, margins = repeat(*arguments, **named)
        found.append(len(mistakes))
        return mistakes, updates, margins

    monkeypatch.setattr(PassRunner, "repeat", counted)
    monkeypatch.setattr(linear, "NUMBERS_INTERPRETED", linear.NUMBERS_AT_ONCE)
    return found


def quietly(function, *arguments, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **named)


def same(one, other):
    for name in ("last_coef_", "last_intercept_", "average_coef_", "average_intercept_"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert one.report_.to_dict() == other.report_.to_dict()
    assert one.n_iter_ == other.n_iter_
    assert np.array_equal(one.state_.counters, other.state_.counters)
    assert np.array_equal(one.state_.done, other.state_.done)


QUICK = ((0, 2), (1, 4), (6, 2))  # compiling takes some seconds each


@pytest.mark.parametrize(
    ("number", "classes"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in product(range(len(LEARNERS)), (2, 4))
    ],
)
def test_the_same_bits_as_single_passes(number, classes, calls, monkeypatch):
    model = LEARNERS[number].set_params(random_state=3, max_iter=12)
    for layout, weighted, kind in product((np.asarray, sp.csr_array), (False, True), ("gauss", "integers")):
        X, y = small_set(kind, n=60, classes=classes, seed=number)
        weights = np.arange(len(y)) % 3 / 2.0 if weighted else None
        calls.clear()
        repeated = quietly(type(model)(**model.get_params()).fit, layout(X), y, sample_weight=weights)
        assert sum(calls) == repeated.n_iter_ - 1
        with monkeypatch.context() as patch:
            patch.setattr(linear, "NUMBERS_AT_ONCE", 0)
            patch.setattr(linear, "NUMBERS_INTERPRETED", 0)
            single = quietly(type(model)(**model.get_params()).fit, layout(X), y, sample_weight=weights)
        assert sum(calls) == repeated.n_iter_ - 1, "each pass was a call"
        same(repeated, single)


def test_observers_see_each_pass(calls):
    X, y = small_set("gauss", n=60)
    seen = []
    model = Perceptron(max_iter=9, random_state=0)
    quietly(model.fit_stream, [(X, y)], on_pass=lambda model: seen.append(model.n_iter_))
    assert seen == list(range(1, 10))
    assert not calls


@pytest.mark.parametrize("classes", [2, 4])
def test_the_last_passes_before_max_updates_are_single_ones(classes, calls, monkeypatch):
    X, y = small_set("gauss", n=60, classes=classes)
    model = Perceptron(max_iter=60, max_updates=300, random_state=0)
    repeated = quietly(model.fit, X, y)
    assert repeated.state_.counters["updates"].max() == 300
    assert 0 < sum(calls) < repeated.n_iter_ - 1
    monkeypatch.setattr(linear, "NUMBERS_AT_ONCE", 0)
    monkeypatch.setattr(linear, "NUMBERS_INTERPRETED", 0)
    same(repeated, quietly(Perceptron(**model.get_params()).fit, X, y))


def test_threads_that_have_nothing_to_do_do_not_matter(calls):
    for classes, multi_class in ((2, "ovr"), (4, "direct")):
        X, y = small_set("gauss", n=60, classes=classes)
        calls.clear()
        quietly(Perceptron(max_iter=9, n_jobs=2, multi_class=multi_class, random_state=0).fit, X, y)
        assert sum(calls) == 8


def test_small_passes_are_made_by_one_thread(calls, monkeypatch):
    X, y = small_set("gauss", n=60, classes=4)
    for fewest, repeated in ((4 * X.size, 0), (4 * X.size + 1, 8)):
        monkeypatch.setattr(linear, "FEWEST_NUMBERS", fewest)
        quietly(Perceptron(max_iter=9, n_jobs=2, random_state=0).fit, X, y)
        assert sum(calls) == repeated


@pytest.mark.parametrize("classes", [2, 4])
def test_tol_ends_a_run_after_the_same_pass(classes, calls, monkeypatch):
    X, y = small_set("gauss", n=60, classes=classes)
    weights = np.arange(60) % 3 / 2.0
    for learner in (Perceptron(), Perceptron(multi_class="direct"), AROW()):
        model = learner.set_params(max_iter=60, tol=0.01, n_iter_no_change=3, random_state=0)
        calls.clear()
        repeated = quietly(type(model)(**model.get_params()).fit, X, y, sample_weight=weights)
        assert 0 < sum(calls) < repeated.n_iter_ < 60
        with monkeypatch.context() as patch:
            patch.setattr(linear, "NUMBERS_AT_ONCE", 0)
            patch.setattr(linear, "NUMBERS_INTERPRETED", 0)
            same(repeated, quietly(model.fit, X, y, sample_weight=weights))


def test_limits_hold(calls):
    X, y = small_set("gauss", n=60)
    assert quietly(Perceptron(max_iter=9, max_updates=50, random_state=0).fit, X, y).n_updates_ == 50
    assert not calls, "a pass may end before its last row"
    assert quietly(Perceptron(max_iter=9, random_state=0).fit, X, y).n_iter_ == 9
    assert sum(calls) == 8


def test_an_interrupt_ends_between_passes(calls, monkeypatch):
    X, y = small_set("gauss", n=60)
    whole = quietly(Perceptron(max_iter=40, random_state=0).fit, X, y)
    monkeypatch.setattr(linear, "NUMBERS_AT_ONCE", 5000)
    monkeypatch.setattr(linear, "NUMBERS_INTERPRETED", 5000)
    counted = PassRunner.repeat

    def interrupted(*arguments, **named):
        result = counted(*arguments, **named)
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(PassRunner, "repeat", interrupted)
    model = Perceptron(max_iter=40, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert 2 < model.n_iter_ < 40
    assert model.report_.mistakes_by_pass == whole.report_.mistakes_by_pass[: model.n_iter_]
