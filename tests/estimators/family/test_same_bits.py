"""The same bits by every road, for every learner of the family."""

import itertools
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.dying_runs import CtrlC
from helpers.examples import KINDS, small_set
from helpers.family_cases import CASES, FEW, Case, assert_same_bits, family_set, row_weights
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
    load,
    save,
)
from rosenblatt.training import linear as passes
from rosenblatt.training import run as run_module
from rosenblatt.training.run import TrainingRun

# Dense, CSR, chunks, streams, resumed runs, threads and files: the same bits for every learner of the family.


SEVERAL = [(2, "ovr"), (4, "ovr"), (4, "direct")]
several = pytest.mark.parametrize(("classes", "multi_class"), SEVERAL)
every_case = pytest.mark.parametrize("case", [*CASES, Case("VotedPerceptron", {})], ids=str)
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
    """Check that two runs are the same, pass by pass, and predict the same."""
    assert_same_bits(one, other)
    X = np.random.default_rng(0).normal(size=(20, one.n_features_in_))
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()
    assert one.history_.dtype == other.history_.dtype
    assert one.history_.tolist() == other.history_.tolist()
    assert one.converged_ == other.converged_
    assert one.state_.counters["visits"].tolist() == other.state_.counters["visits"].tolist()


@pytest.mark.quick_cases(11)
@several
@every_case
def test_one_pass_in_any_chunks(case, classes, multi_class):
    X, y, weights = rows_of(classes)
    options = {"multi_class": multi_class, "shuffle": False}
    whole = case.learner(max_iter=1, **options).fit(X, y, sample_weight=weights)
    layouts = ([np.asarray], [sp.csr_array], [np.asarray, sp.csr_array])  # the last alternates
    for size, layout in itertools.product((1, 7, 40), layouts):
        model = case.learner(**options)
        for turn, (rows, labels, steps) in enumerate(cut(X, y, weights, size)):
            rows = layout[turn % len(layout)](rows)
            model.partial_fit(rows, labels, classes=range(classes), sample_weight=steps)
        assert_same_bits(model, whole)
        assert model.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


@pytest.mark.quick_cases(13)
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
    for size in (13, 100):
        assert_same_run(case.learner(**options).fit_stream(cut(X, y, weights, size), classes=range(classes)), whole)
        assert_same_run(case.learner(**options).fit_stream(cut(sp.csr_array(X), y, weights, size)), whole)
    step_by_step = case.learner(**{**options, "max_iter": 1}, warm_start=True)
    for _ in range(4):
        step_by_step.fit(X, y, sample_weight=weights)
    assert_same_run(step_by_step, whole)


@pytest.mark.slow
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


@pytest.mark.quick_cases(12)
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


@pytest.mark.quick_cases(8)
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
    assert_same_run(finished(loaded), straight)
    stored = pickle.loads(pickle.dumps(begun()))
    stored.average_coef_, stored.predict(X), stored.report_  # reading disturbs nothing
    assert_same_run(finished(stored), straight)


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


# Averages that forget, against the mean taken from its definition.


def drifting(n=300, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(2)
    first, second = rng.normal(size=(2, d, classes))
    scores = np.where(np.arange(n)[:, None] < n // 2, X @ first, X @ second)
    return X, scores.argmax(axis=1)


def decayed_mean(model, X, y, decay):
    """Return the mean of the weights after each visit, each counted ``1 - decay`` times as much as the next."""
    weights, biases = [], []
    for i in range(len(X)):
        model.partial_fit(X[[i]], y[[i]], classes=np.unique(y))
        weights.append(model.last_coef_)
        biases.append(model.last_intercept_)
    counts = (1.0 - decay) ** np.arange(len(X))[::-1]
    return np.tensordot(counts / counts.sum(), weights, 1), np.tensordot(counts / counts.sum(), biases, 1)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("decay", [1e-9, 1e-4, 0.01, 0.3, 0.9, 0.999999])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
def test_the_mean_is_that_of_its_definition(decay, classes, multi_class):
    X, y = drifting(classes=classes)
    shared = {"decay": decay, "multi_class": multi_class, "shuffle": False, "max_iter": 1}
    w, b = decayed_mean(AveragedPerceptron(**shared), X, y, decay)
    model = AveragedPerceptron(**shared).fit(X, y)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-9, atol=1e-11)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, MarginPerceptron, PassiveAggressive, AROW])
@pytest.mark.parametrize("decay", [0.001, 0.2])
def test_the_same_bits_however_the_rows_come(learner, decay):
    X, y = drifting(classes=3)
    model = learner(decay=decay, shuffle=False, max_iter=1)
    if learner is not AveragedPerceptron:
        model.set_params(hypothesis="average")
    whole = model.fit(X, y).average_coef_
    sparse = learner(**model.get_params()).fit(sp.csr_array(X), y).average_coef_
    chunks = learner(**model.get_params())
    for start in range(0, len(X), 7):
        chunks.partial_fit(X[start : start + 7], y[start : start + 7], classes=[0, 1, 2])
    assert whole.tobytes() == sparse.tobytes() == chunks.average_coef_.tobytes()


def test_votes_forget_nothing():
    with pytest.raises(ValueError, match="decay is for averages and does not apply to votes"):
        VotedPerceptron(decay=0.1).fit([[1.0], [-1.0]], [1, 0])


@pytest.mark.parametrize("decay", [-0.1, 1.0, 2, "much", None, float("nan"), True])
def test_decay_is_a_share(decay):
    with pytest.raises(ValueError, match="decay must be"):
        AveragedPerceptron(decay=decay).fit([[1.0], [-1.0]], [1, 0])


def test_decay_cannot_change_on_the_way():
    X, y = drifting()
    model = AveragedPerceptron(decay=0.1).partial_fit(X, y)
    with pytest.raises(ValueError, match="decay has changed since this model was trained"):
        model.set_params(decay=0.2).partial_fit(X, y)


# A margin perceptron whose margin is 0 is the perceptron: every attribute, on every kind of numbers.


def assert_same(margin, plain):
    """Check each attribute that a perceptron has after training."""
    names = {name for name in dir(plain) if name.endswith("_") and not name.startswith("_")} - {"state_"}
    assert {"coef_", "average_intercept_", "n_iter_", "history_", "report_", "converged_"} <= names
    for name in names - {"history_", "report_"}:
        assert np.asarray(getattr(margin, name)).tobytes() == np.asarray(getattr(plain, name)).tobytes(), name
    for name in ("w", "u", "b", "beta", "done"):
        assert getattr(margin.state_, name).tobytes() == getattr(plain.state_, name).tobytes(), name
    for name in ("visits", "updates", "mistakes"):
        assert margin.state_.counters[name].tolist() == plain.state_.counters[name].tolist(), name
    for name in ("mistakes", "updates"):
        assert margin.history_[name].tolist() == plain.history_["mistakes"].tolist()
    for name in ("radius", "updates", "margin_low", "margin_high", "bound"):
        assert getattr(margin.report_, name) == getattr(plain.report_, name), name


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_on_every_kind_of_numbers(kind, shuffle, classes, multi_class):
    X, y = small_set(kind, classes=classes, seed=11)
    weights = row_weights(len(y), classes)
    for layout in (np.asarray, sp.csr_array):
        for steps in (None, weights):
            options = {"max_iter": 5, "shuffle": shuffle, "random_state": 2, "multi_class": multi_class}
            plain = Perceptron(**options).fit(layout(X), y, sample_weight=steps)
            assert_same(MarginPerceptron(margin=0, **options).fit(layout(X), y, sample_weight=steps), plain)
