"""Runs: from zero, warm and online, what looks on, and states that get more classes."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.dying_runs import Blocks, Crash
from helpers.examples import small_set
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.training.batches import InMemory, Streamed, make_batch
from rosenblatt.training.linear import LinearState, PassRunner
from rosenblatt.training.observers import Callback, Observer, UpdateTrace
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import encode_labels
from rosenblatt.training.run import TrainingRun, new_state
from rosenblatt.training.state import Outcome
from rosenblatt.training.train import WarmStart, train

# From a source to a trained state: outcomes, warm starts, layouts, interrupts, and a late class after a crash.


def source(X, y):
    classes, numbers = encode_labels(y)
    return InMemory(make_batch(X, numbers, classes, None, None))


def trained(X, y, start=None, **options):
    runs = []
    outcome = train(source(X, y), RunOptions(**{"random_state": 1} | options).check(), runs.append, start=start)
    return runs[0], outcome


def test_outcomes():
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    assert trained(X, y)[1] is Outcome.CLEAN_PASS
    noise = np.array([[1.0], [1.0], [-1.0]]), np.array([1, 0, 0])
    assert trained(*noise, max_iter=3)[1] is Outcome.MAX_PASSES
    assert trained(*noise, max_updates=3)[1] is Outcome.MAX_UPDATES


def test_a_start_is_not_changed_by_a_run_that_fails():
    X, y = small_set("gauss", seed=3)
    first, _ = trained(X, y, max_iter=2)
    before = first.state.w.copy(), first.state.passes

    class Fails(Observer):
        def on_pass(self, run, active):
            raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        train(
            source(X, y),
            RunOptions(max_iter=2),
            lambda run: None,
            [Fails()],
            start=WarmStart(first.state, first.classes),
        )
    assert np.array_equal(first.state.w, before[0])
    assert first.state.passes == before[1]


def test_votes_of_an_interrupted_pass_are_those_of_its_weights(monkeypatch):
    X, y = small_set("decimals", n=60, seed=4)
    visit = PassRunner._visit_slice

    def interrupted(self, *arguments):
        visit(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(PassRunner, "_visit_slice", interrupted)
    model = VotedPerceptron(shuffle=False)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    monkeypatch.setattr(PassRunner, "_visit_slice", visit)
    whole = VotedPerceptron(shuffle=False, max_iter=1).fit(X, y)
    assert model.last_coef_.tobytes() == whole.last_coef_.tobytes()
    assert model.decision_function(X).tobytes() == whole.decision_function(X).tobytes()
    assert model.n_updates_ == whole.n_updates_


def test_a_limit_of_updates_leaves_no_labels_unread():
    X, y = small_set("gauss", n=90, classes=3, seed=8)
    y = np.where(np.arange(90) < 60, y % 2, 2)
    blocks = [(X[i : i + 30], y[i : i + 30]) for i in range(0, 90, 30)]
    options = {"max_updates": 2, "shuffle": False, "class_weight": {2: 0.5}}
    model = AveragedPerceptron(**options).fit_stream(blocks)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.tobytes() == AveragedPerceptron(**options).fit(X, y).coef_.tobytes()

    def endless():
        while True:
            yield X[:30], y[:30]

    assert AveragedPerceptron(max_updates=5, max_iter=1, shuffle=False).fit_stream(endless()).n_updates_ == 5


def test_a_class_that_comes_after_a_crash_starts_the_run_again(tmp_path):
    X, y = small_set("decimals", n=90, classes=3, seed=6)
    y = np.where(np.arange(90) < 60, y % 2, y)
    blocks = Blocks(30, data=(X, y))
    whole = AveragedPerceptron(shuffle=False, max_iter=3).fit_stream(blocks)
    blocks.limit = 2 + 3  # the fingerprint, then two blocks of the first pass, and the third never comes
    with pytest.raises(Crash):
        AveragedPerceptron(shuffle=False, max_iter=3).fit_stream(blocks, checkpoint=tmp_path / "c", every=0)
    blocks.limit = None
    model = AveragedPerceptron(shuffle=False, max_iter=3)
    model.fit_stream(blocks, checkpoint=tmp_path / "c", resume=True)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.tobytes() == whole.coef_.tobytes()


def test_a_resumed_run_keeps_its_limit_of_updates(tmp_path):
    X, y = small_set("gauss", n=120, seed=7)
    blocks = Blocks(30, data=(X, y))
    options = {"shuffle": False, "max_iter": 9, "max_updates": 150}
    whole = AveragedPerceptron(**options).fit_stream(blocks)
    blocks.limit = 4 + 4 + 2
    with pytest.raises(Crash):
        AveragedPerceptron(**options).fit_stream(blocks, [0, 1], checkpoint=tmp_path / "c", every=0)
    blocks.limit = None
    model = AveragedPerceptron(**options).fit_stream(blocks, [0, 1], checkpoint=tmp_path / "c", resume=True)
    assert model.n_updates_ == whole.n_updates_ == 150
    assert model.coef_.tobytes() == whole.coef_.tobytes()


# Observers see every update and visit, and change nothing.


def start(X, y, observers=(), weights=None, **options):
    """Return a run in memory that has not begun."""
    classes, numbers = encode_labels(y)
    options = RunOptions(**{"max_iter": 5, "random_state": 3, **options}).check()
    batch = make_batch(X, numbers, classes, weights, None)
    return TrainingRun(new_state(options, len(classes), X.shape[1]), InMemory(batch), options, list(observers))


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shuffle", [True, False, "once"])
def test_the_trace_replays_the_run(layout, shuffle):
    X, y = small_set("decimals", seed=1)
    trace = UpdateTrace(visits=True)
    run = start(layout(X), y, [trace], shuffle=shuffle)
    run.run()
    updates = trace.updates()
    w, b = np.zeros(X.shape[1]), 0.0
    for row, step in zip(updates.rows, updates.steps, strict=True):
        assert step == (1.0 if y[row] == 1 else -1.0)
        w, b = w + step * X[row], b + step
    assert w.tobytes() == run.state.w[0].tobytes()
    assert b == run.state.b[0]
    assert trace.visited[updates.visits.astype(int)].tolist() == updates.rows.tolist()
    assert len(trace.visited) == run.state.counters["visits"][0]
    twin = Perceptron(shuffle=shuffle, random_state=3, max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twin.fit(X, y)
    assert twin.coef_.tobytes() == run.state.w.tobytes(), "a trace changes nothing"


def test_the_trace_of_weighted_rows_leaves_out_what_is_not_visited():
    X, y = small_set("decimals", seed=4)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(y))
    trace = UpdateTrace(visits=True)
    run = start(X, y, [trace], weights, shuffle=True)
    run.run()
    assert (weights[trace.visited] > 0).all()
    assert len(trace.visited) == run.state.counters["visits"][0]
    assert np.abs(trace.updates().steps).tolist() == weights[trace.updates().rows].tolist()


@pytest.mark.parametrize("direct", [False, True])
def test_the_trace_of_several_classes(direct):
    X, y = small_set("decimals", classes=4, seed=5)
    trace = UpdateTrace()
    run = start(X, y, [trace], multi_class="direct" if direct else "ovr")
    run.run()
    W = np.zeros((4, X.shape[1]))
    for k in range(1 if direct else 4):
        for row, step, _, true, rival in zip(*trace.updates(k), strict=True):
            if direct:
                W[true] += step * X[row]
                W[rival] -= step * X[row]
            else:
                W[k] += step * X[row]
    assert W.tobytes() == run.state.w.tobytes()


def test_the_trace_of_a_stream_numbers_the_rows_of_the_stream():
    X, y = small_set("decimals", n=90, seed=6)
    blocks = [(X[i : i + 20], y[i : i + 20]) for i in range(0, 90, 20)]
    options = RunOptions(max_iter=3, shuffle=False)
    traces = UpdateTrace(visits=True), UpdateTrace(visits=True)

    def validate(block):
        return block.X, block.y

    train(Streamed(blocks, validate=validate), options, lambda run: None, [traces[0]])
    start(X, y, [traces[1]], max_iter=3, shuffle=False).run()
    for name in ("rows", "steps", "visits"):
        assert getattr(traces[0].updates(), name).tolist() == getattr(traces[1].updates(), name).tolist()
    assert traces[0].visited.tolist() == traces[1].visited.tolist()


def test_events_come_in_order():
    X, y = small_set("decimals", seed=7)
    events = []

    class Recorder(Observer):
        wants_updates = True

        def __getattribute__(self, name):
            if name.startswith("on_"):
                return lambda run, *rest: events.append(name)
            return super().__getattribute__(name)

    outcome = start(X, y, [Recorder()], max_iter=2).run()
    assert outcome is Outcome.MAX_PASSES
    one_pass = ["on_slice", "on_updates", "on_batch", "on_pass"]
    assert events == ["on_start", *one_pass, *one_pass, "on_end"]


def test_a_callback_that_returns_true_ends_the_run():
    X, y = small_set("gauss", seed=8)
    run = start(X, y, [Callback(lambda run: run.state.passes == 2)], max_iter=50)
    assert run.run() is Outcome.STOPPED
    assert run.state.passes == 2
    model = AveragedPerceptron(max_iter=50)
    model.fit_stream([(X, y)], on_pass=lambda model: model.n_iter_ == 3)
    assert model.n_iter_ == 3
    model.fit_stream([(X, y)], on_pass=lambda model: np.bool_(model.n_iter_ > 3))
    assert model.n_iter_ == 4
    model.fit_stream([(X, y)], on_pass=lambda model: model)  # only True ends it
    assert model.n_iter_ == 50


def test_the_kernels_log_costs_nothing_when_it_is_not_wanted(monkeypatch):
    from rosenblatt.training import linear as passes

    X, y = small_set("gauss", seed=9)
    sizes = []
    made = passes._log
    monkeypatch.setattr(passes, "_log", lambda state, visits: sizes.append(visits) or made(state, visits))
    start(X, y, max_iter=1).run()
    start(X, y, [UpdateTrace()], max_iter=1).run()
    assert sizes == [0, len(y)]


# The state of a run where there is no memory for it.


def test_weights_without_memory_say_what_they_would_take():
    state = LinearState.zeros(2, 3, direct=False, fit_intercept=True)
    sentence = (
        "the weights of 1,125,899,906,842,624 features take 18,014,398.5 GB, more than is available: use fewer features"
    )
    with pytest.raises(MemoryError, match=sentence):
        LinearState.zeros(2, 2**50, direct=False, fit_intercept=True)
    with pytest.raises(MemoryError, match=sentence):
        state.widen(2**50)
    assert state.n_features == 3, "as it was"
    with pytest.raises(MemoryError, match=re.escape("features for 3 classes take 54,043,195.5 GB")):
        LinearState.zeros(3, 2**50, direct=True, fit_intercept=True)


def test_a_matrix_of_very_many_columns_that_a_user_made():
    entries = np.ones(2), np.array([0, 2**50 - 1]), np.array([0, 1, 2])
    X = sp.csr_array(entries, shape=(2, 2**50))
    with pytest.raises(MemoryError, match="the weights of 1,125,899,906,842,624 features take"):
        Perceptron().fit(X, [0, 1])
