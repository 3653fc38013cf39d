"""Dense, CSR, chunks, streams, resumed runs, threads and files: the same bits for every learner of the family."""

import os
import pickle
import signal

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.family_cases import CASES, FEW, assert_same_bits, family_set, row_weights
from rosenblatt import load, save
from rosenblatt.training import linear as passes
from rosenblatt.training import run as run_module
from rosenblatt.training.observers import Observer
from rosenblatt.training.run import TrainingRun

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SEVERAL = [(2, "ovr"), (4, "ovr"), (4, "direct")]
several = pytest.mark.parametrize(("classes", "multi_class"), SEVERAL)
every_case = pytest.mark.parametrize("case", CASES, ids=str)
each_rule = pytest.mark.parametrize("case", FEW, ids=str)


def rows_of(classes, kind="gauss", n=90, seed=2):
    """Return rows that a run does not separate at once, their labels and weights."""
    X, y = family_set(kind, n=n, d=6, classes=classes, seed=seed)
    X[:, :classes] += 1.5 * np.eye(classes)[y]
    X[np.random.default_rng(seed).random(X.shape) < 0.4] = 0.0
    return X, y, row_weights(n, classes)


def cut(X, y, weights, size):
    """Return blocks of ``size`` rows, a list that can be read again."""
    return [(X[i : i + size], y[i : i + size], weights[i : i + size]) for i in range(0, len(y), size)]


def assert_same_run(one, other):
    """Check that two runs are the same, pass by pass."""
    assert_same_bits(one, other)
    assert one.history_.dtype == other.history_.dtype
    assert one.history_.tolist() == other.history_.tolist()
    assert one.converged_ == other.converged_
    assert one.state_.counters["visits"].tolist() == other.state_.counters["visits"].tolist()


@several
@every_case
def test_one_pass_in_any_chunks(case, classes, multi_class):
    X, y, weights = rows_of(classes)
    options = {"multi_class": multi_class, "shuffle": False}
    whole = case.learner(max_iter=1, **options).fit(X, y, sample_weight=weights)
    for layout in (np.asarray, sp.csr_array):
        for size in (1, 7, 40):
            model = case.learner(**options)
            for rows, labels, steps in cut(layout(X), y, weights, size):
                model.partial_fit(rows, labels, classes=range(classes), sample_weight=steps)
            assert_same_bits(model, whole)
            assert model.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


@several
@each_rule
def test_dense_and_sparse_chunks_may_alternate(case, classes, multi_class):
    X, y, weights = rows_of(classes, "decimals")
    whole = case.learner(max_iter=1, shuffle=False, multi_class=multi_class).fit(X, y, sample_weight=weights)
    model = case.learner(multi_class=multi_class)
    for turn, (rows, labels, steps) in enumerate(cut(X, y, weights, 11)):
        rows = sp.csr_array(rows) if turn % 2 else rows
        model.partial_fit(rows, labels, classes=range(classes), sample_weight=steps)
    assert_same_bits(model, whole)


@several
@pytest.mark.parametrize("shuffle", [False, True, "once"])
@every_case
def test_several_passes_by_every_road(case, shuffle, classes, multi_class):
    X, y, weights = rows_of(classes)
    options = {"max_iter": 4, "shuffle": shuffle, "random_state": 5, "multi_class": multi_class}
    whole = case.learner(**options).fit(X, y, sample_weight=weights)
    assert_same_run(case.learner(**options).fit(sp.csr_array(X), y, sample_weight=weights), whole)
    assert_same_run(case.learner(n_jobs=2, **options).fit(X, y, sample_weight=weights), whole)
    assert_same_run(case.learner(n_jobs=2, **options).fit(sp.csr_array(X), y, sample_weight=weights), whole)
    for size in (13, 50):
        assert_same_run(case.learner(**options).fit_stream(cut(X, y, weights, size), classes=range(classes)), whole)
        assert_same_run(case.learner(**options).fit_stream(cut(sp.csr_array(X), y, weights, size)), whole)
    step_by_step = case.learner(**{**options, "max_iter": 1}, warm_start=True)
    for _ in range(4):
        step_by_step.fit(X, y, sample_weight=weights)
    assert_same_run(step_by_step, whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_rule
def test_narrow_numbers_are_the_same_numbers(case, dtype):
    X, y, weights = rows_of(2, "float32")
    narrow = X.astype(np.float32)
    whole = case.learner(max_iter=2, shuffle=False).fit(narrow.astype(np.float64), y, sample_weight=weights)
    for layout in (np.asarray, sp.csr_array, np.asfortranarray):
        model = case.learner(max_iter=2, shuffle=False).fit(layout(narrow.astype(dtype)), y, sample_weight=weights)
        assert_same_run(model, whole)


@each_rule
def test_windows_of_a_stream_do_not_depend_on_its_blocks(case, monkeypatch):
    monkeypatch.setattr(TrainingRun, "window", 32)
    X, y, weights = rows_of(3)
    options = {"max_iter": 3, "random_state": 5}
    one, *others = (
        case.learner(**options).fit_stream(cut(layout(X), y, weights, size), classes=range(3))
        for size in (10, 32, 90)
        for layout in (np.asarray, sp.csr_array)
    )
    for other in others:
        assert_same_run(other, one)


@pytest.mark.parametrize("columns", [3, 6])
@each_rule
def test_columns_may_come_late(case, columns):
    X, y, weights = rows_of(3)
    X[:45, columns:] = 0.0
    whole = case.learner(max_iter=2, shuffle=False).fit(X, y, sample_weight=weights)
    first, second = cut(sp.csr_array(X), y, weights, 45)
    narrow = sp.csr_array(X[:45, :columns])
    assert_same_run(case.learner(max_iter=2, shuffle=False).fit_stream([(narrow, *first[1:]), second]), whole)


class CtrlC(Observer):
    """Presses Ctrl-C after so many slices."""

    def __init__(self):
        self.left = 0

    def on_slice(self, run, batch, visited):
        self.left -= 1
        if not self.left:
            signal.raise_signal(signal.SIGINT)


@several
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shuffle", [False, True])
@each_rule
def test_a_run_that_is_interrupted_goes_on(case, shuffle, layout, classes, multi_class, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the disk is tested elsewhere
    monkeypatch.setattr(TrainingRun, "window", 32)
    monkeypatch.setattr(passes, "SLICE_BYTES", 1)
    monkeypatch.setattr(passes, "max", lambda *numbers: 5 if numbers[0] == 1024 else max(*numbers), raising=False)
    press = CtrlC()
    monkeypatch.setattr(run_module, "ProgressLine", lambda *_: press)
    X, y, weights = rows_of(classes)
    options = {"max_iter": 3, "shuffle": shuffle, "random_state": 5, "multi_class": multi_class}
    whole = case.learner(**options).fit_stream(cut(X, y, weights, 20), classes=range(classes))
    rng, interrupts = np.random.default_rng(0), 0
    while True:
        press.left = int(rng.integers(2, 25))
        model = case.learner(verbose=1, **options)
        try:
            blocks = cut(layout(X), y, weights, int(rng.choice([20, 33, 90])))
            model.fit_stream(blocks, range(classes), checkpoint=tmp_path / "run", every=1e9, resume=True)
            break
        except KeyboardInterrupt:
            interrupts += 1
            assert interrupts < 60
    assert interrupts > 1
    assert_same_run(model, whole)


@several
@every_case
def test_a_file_goes_on_with_the_same_bits(case, classes, multi_class, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)
    X, y, weights = rows_of(classes, "decimals")
    first, second = cut(X, y, weights, 45)

    def begun():
        rows, labels, steps = first
        return case.learner(multi_class=multi_class).partial_fit(rows, labels, range(classes), sample_weight=steps)

    def finished(model):
        rows, labels, steps = second
        return model.partial_fit(rows, labels, sample_weight=steps)

    straight = finished(begun())
    save(begun(), tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    assert_same_bits(loaded, begun())
    assert_same_bits(finished(loaded), straight)
    stored = pickle.loads(pickle.dumps(begun()))
    stored.average_coef_, stored.predict(X), stored.report_  # reading disturbs nothing
    assert_same_bits(finished(stored), straight)


@several
@each_rule
def test_records_one_by_one_are_one_pass(case, classes, multi_class):
    X, y, _ = rows_of(classes, n=40)
    whole = case.learner(multi_class=multi_class)
    for i in range(len(y)):
        whole.partial_fit(X[i : i + 1], y[i : i + 1])
    model = case.learner(multi_class=multi_class)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one({f"x{j}": value for j, value in enumerate(row)}, label)
    assert_same_bits(model, whole)
