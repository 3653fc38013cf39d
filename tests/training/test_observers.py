"""Observers see every update and visit, and change nothing."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from helpers.naive import run as naive_run
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.training.batches import InMemory, Streamed, make_batch
from rosenblatt.training.observers import Callback, Observer, UpdateTrace
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import encode_labels
from rosenblatt.training.run import TrainingRun, new_state
from rosenblatt.training.state import Outcome
from rosenblatt.training.train import train


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


def test_the_trace_has_the_mistakes_of_the_textbook():
    X, y = small_set("integers", seed=2)
    trace = UpdateTrace()
    start(X, y, [trace], shuffle=False).run()
    assert len(trace.updates().rows) == naive_run(X, np.array([-1, 1])[y], 5).updates


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
