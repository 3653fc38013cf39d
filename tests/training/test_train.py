"""From a source to a trained state: outcomes, warm starts, layouts, interrupts, and a late class after a crash."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.examples import small_set
from rosenblatt import AveragedPerceptron, VotedPerceptron
from rosenblatt.training.batches import InMemory, make_batch
from rosenblatt.training.linear import PassRunner
from rosenblatt.training.observers import Observer
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import encode_labels
from rosenblatt.training.state import Outcome
from rosenblatt.training.train import Start, online_run, train


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


@pytest.mark.parametrize("direct", [False, True])
def test_the_layout_of_weights_is_no_ones_business(direct):
    X, y = small_set("decimals", classes=5, n=80)
    multi = "direct" if direct else "ovr"
    dense, _ = trained(X, y, max_iter=4, multi_class=multi)
    sparse, _ = trained(sp.csr_array(X), y, max_iter=4, multi_class=multi)
    for name in ("w", "u", "b", "beta"):
        one, other = getattr(dense.state, name), getattr(sparse.state, name)
        assert one.tobytes() == other.tobytes()
        assert other.flags.c_contiguous
    mixed = AveragedPerceptron(multi_class=multi)
    chunks = AveragedPerceptron(multi_class=multi)
    for i in range(0, 80, 10):
        part = slice(i, i + 10)
        mixed.partial_fit(sp.csr_array(X[part]) if i % 20 else X[part], y[part], classes=range(5))
        chunks.partial_fit(X[part], y[part], classes=range(5))
    assert mixed.coef_.tobytes() == chunks.coef_.tobytes()


def test_a_start_is_not_changed_by_a_run_that_fails():
    X, y = small_set("gauss", seed=3)
    first, _ = trained(X, y, max_iter=2)
    before = first.state.w.copy(), first.state.passes

    class Fails(Observer):
        def on_pass(self, run, active):
            raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        train(
            source(X, y), RunOptions(max_iter=2), lambda run: None, [Fails()], start=Start(first.state, first.classes)
        )
    assert np.array_equal(first.state.w, before[0])
    assert first.state.passes == before[1]


def test_an_interrupt_keeps_what_was_learned():
    X, y = small_set("gauss", seed=4)
    kept = []

    class Interrupts(Observer):
        def on_batch(self, run, batch):
            if run.state.passes == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(source(X, y), RunOptions(max_iter=9, random_state=1), kept.append, [Interrupts()])
    whole, _ = trained(X, y, max_iter=3)
    assert kept[0].state.w.tobytes() == whole.state.w.tobytes()
    assert len(kept[0].state.mistakes) == kept[0].state.passes == 3


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


def test_online_visits_equal_one_pass():
    X, y = small_set("decimals", n=50, seed=5)
    state = start = None
    for i in range(50):
        classes, numbers = encode_labels(y[i : i + 1])
        batch = make_batch(X[i : i + 1], numbers, classes, None, None)
        run = online_run(batch, RunOptions(), start, classes=[0, 1])
        run.visit(batch)
        start, state = Start(run.state, run.classes), run.state
    whole, _ = trained(X, y, max_iter=1, shuffle=False)
    assert state.w.tobytes() == whole.state.w.tobytes()
    assert state.u.tobytes() == whole.state.u.tobytes()


class Crash(Exception):
    pass


class Blocks(list):
    left = 10**9

    def __iter__(self):
        for block in super().__iter__():
            self.left -= 1
            if self.left < 0:
                raise Crash
            yield block


def test_a_class_that_comes_after_a_crash_starts_the_run_again(tmp_path):
    X, y = small_set("decimals", n=90, classes=3, seed=6)
    y = np.where(np.arange(90) < 60, y % 2, y)
    blocks = Blocks([(X[i : i + 30], y[i : i + 30]) for i in range(0, 90, 30)])
    whole = AveragedPerceptron(shuffle=False, max_iter=3).fit_stream(blocks)
    blocks.left = 2 + 3  # the fingerprint, then two blocks of the first pass, and the third never comes
    with pytest.raises(Crash):
        AveragedPerceptron(shuffle=False, max_iter=3).fit_stream(blocks, checkpoint=tmp_path / "c", every=0)
    blocks.left = 10**9
    model = AveragedPerceptron(shuffle=False, max_iter=3)
    model.fit_stream(blocks, checkpoint=tmp_path / "c", resume=True)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.tobytes() == whole.coef_.tobytes()


def test_a_resumed_run_keeps_its_limit_of_updates(tmp_path):
    X, y = small_set("gauss", n=120, seed=7)
    blocks = Blocks([(X[i : i + 30], y[i : i + 30]) for i in range(0, 120, 30)])
    options = {"shuffle": False, "max_iter": 9, "max_updates": 150}
    whole = AveragedPerceptron(**options).fit_stream(blocks)
    blocks.left = 4 + 4 + 2
    with pytest.raises(Crash):
        AveragedPerceptron(**options).fit_stream(blocks, [0, 1], checkpoint=tmp_path / "c", every=0)
    blocks.left = 10**9
    model = AveragedPerceptron(**options).fit_stream(blocks, [0, 1], checkpoint=tmp_path / "c", resume=True)
    assert model.n_updates_ == whole.n_updates_ == 150
    assert model.coef_.tobytes() == whole.coef_.tobytes()
