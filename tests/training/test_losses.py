"""``tol``: a run stops when the loss of a pass no longer falls."""

import json
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import Perceptron as Theirs
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from helpers.clusters import ProcessPerceptron
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
    load,
    save,
)
from rosenblatt.training.losses import Losses
from rosenblatt.training.options import RunOptions

LEARNERS = [Perceptron, AveragedPerceptron, VotedPerceptron, MarginPerceptron, PassiveAggressive, AROW]


def noisy_rows(n=90, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    return X, (X[:, 0] + rng.integers(-3, 4, n)).clip(0, classes - 1).astype(int)


def fitted(model, *arguments, method="fit", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(model, method)(*arguments, **options)


def slow_passes(X, y, margin, most, tol, patience):
    """Return the weights, the bias and the number of passes of an exact perceptron with margin that stops by tol."""
    w, b, least, stalled = [Fraction(0)] * X.shape[1], Fraction(0), None, 0
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    for number in range(1, most + 1):
        total, updates = Fraction(0), 0
        for row, sign in zip(rows, y.tolist(), strict=True):
            a = sign * (sum(u * v for u, v in zip(w, row, strict=True)) + b)
            if a <= margin:
                total += margin - a
                w, b, updates = [u + sign * v for u, v in zip(w, row, strict=True)], b + sign, updates + 1
        if not updates:
            return w, b, number
        loss = float(total / len(rows))
        stalled = stalled + 1 if least is not None and loss > least - tol else 0
        least = loss if least is None else min(loss, least)
        if stalled >= patience:
            return w, b, number
    return w, b, most


@pytest.mark.parametrize("tol", [0.0, 1e-3, 0.05, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_run_stops_where_its_slow_twin_does(seed, tol):
    X, y = noisy_rows(seed=seed)
    for learner, margin in ((Perceptron(), 0), (MarginPerceptron(margin=2.0), 2)):
        for patience in (1, 3):
            options = {"shuffle": False, "max_iter": 40, "tol": tol, "n_iter_no_change": patience}
            model = fitted(clone(learner).set_params(**options), X, y)
            w, b, passes = slow_passes(X, 2 * y - 1, margin, 40, tol, patience)
            assert (model.coef_[0].tolist(), model.intercept_[0], model.n_iter_) == ([*map(float, w)], float(b), passes)


@pytest.mark.parametrize("load_rows", [load_iris, load_digits])
@pytest.mark.parametrize("tol", [1e-3, 0.1])
def test_the_call_of_every_tutorial_gives_the_weights_of_scikit_learn(load_rows, tol):
    X, y = load_rows(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    same = {"max_iter": 1000, "tol": tol, "shuffle": False}
    theirs, ours = Theirs(**same).fit(X, y), fitted(Perceptron(**same), X, y)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-9)
    for loss, steps in (("hinge", "pa1"), ("squared_hinge", "pa2")):
        theirs = SGDClassifier(learning_rate=steps, eta0=1.0, penalty=None, **same).fit(X, y)
        ours = fitted(PassiveAggressive(loss=loss, hypothesis="last", multi_class="ovr", **same), X, y)
        assert ours.n_iter_ == theirs.n_iter_
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_every_road_stops_after_the_same_pass(learner, classes, tmp_path):
    X, y = noisy_rows(classes=classes)
    model = learner(max_iter=60, tol=0.01, random_state=1, n_iter_no_change=2)
    first = fitted(model, X, y)
    assert 2 < first.n_iter_ < 60
    assert not first.converged_
    assert fitted(clone(model).set_params(tol=None), X, y).n_iter_ == 60
    blocks = [(X[i : i + 7], y[i : i + 7]) for i in range(0, len(y), 7)]
    known = np.arange(classes)
    for other in (
        fitted(clone(model), sp.csr_array(X), y),
        fitted(clone(model).set_params(n_jobs=2), sp.csr_array(X), y),
        fitted(clone(model), blocks, known, method="fit_stream"),
    ):
        assert other.n_iter_ == first.n_iter_
        assert other.last_coef_.tobytes() == first.last_coef_.tobytes()
        assert other.average_coef_.tobytes() == first.average_coef_.tobytes()
    save(first, tmp_path / "m")
    assert load(tmp_path / "m").get_params() == first.get_params()


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("mode", ["exact", "mix"])
def test_clusters_stop_too(mode, multi_class):
    X, y = noisy_rows(classes=4)
    shards = [(X[i : i + 20], y[i : i + 20]) for i in range(0, len(y), 20)]
    given = {"max_iter": 60, "tol": 0.01, "random_state": 1, "n_iter_no_change": 2, "multi_class": multi_class}
    local = fitted(Perceptron(**given), X, y)
    walked = fitted(ProcessPerceptron(**given, mode=mode, workers=2), shards, method="fit_shards")
    assert 2 < walked.n_iter_ < 60
    assert not walked.converged_
    if mode == "exact":
        assert walked.coef_.tobytes() == local.coef_.tobytes()


def test_each_classifier_stops_by_itself():
    X, y = noisy_rows(classes=3, seed=2)
    both = fitted(Perceptron(max_iter=60, tol=0.01, shuffle=False), X, y)
    for k in range(3):
        alone = fitted(Perceptron(max_iter=60, tol=0.01, shuffle=False), X, np.where(y == k, 1, 0))
        assert alone.coef_.tobytes() == both.coef_[k : k + 1].tobytes()
    passes = [sum(int(counts[k] >= 0) for counts in both.state_.mistakes) for k in range(3)]
    assert len(set(passes)) > 1


def test_no_warning_and_a_word_in_the_progress(capsys):
    X, y = noisy_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Perceptron(max_iter=1000, tol=1e-3, random_state=0, verbose=1).fit(X, y)
    assert f"stopped after {model.n_iter_} passes, as the loss no longer falls by tol" in capsys.readouterr().err


def test_each_fit_counts_its_own_passes_and_chunks_have_none():
    X, y = noisy_rows()
    model = fitted(Perceptron(max_iter=60, tol=0.01, shuffle=False, warm_start=True), X, y)
    first = model.n_iter_
    assert fitted(model, X, y).n_iter_ >= first + model.n_iter_no_change
    chunks = Perceptron(tol=1.0, n_iter_no_change=1)
    for _ in range(5):
        chunks.partial_fit(X, y)
    assert chunks.n_iter_ == 5


@pytest.mark.parametrize("learner", [*LEARNERS, KernelPerceptron])
def test_with_early_stopping_the_error_must_fall_by_tol(learner):
    X, y = noisy_rows(300)
    model = learner(max_iter=50, early_stopping=True, tol=1.0, n_iter_no_change=3, random_state=0)
    assert fitted(model, X, y).n_iter_ == 4, "one pass, and three that are not better by 1"
    assert model.best_iter_ <= 4
    errors = model.history_["validation_error"]
    assert errors[model.best_iter_ - 1] == errors.min(), "the best pass is kept, however little it is better"


@pytest.mark.parametrize("tol", [-1.0, "1e-3", np.nan, True])
def test_what_is_no_tolerance(tol):
    with pytest.raises(ValueError, match="tol must be a number of at least 0, got"):
        Perceptron(tol=tol).fit([[1.0], [-1.0]], [0, 1])


def test_kernels_have_no_loss():
    with pytest.raises(ValueError, match=r"tol must be None for kernels.* got 0\.001: leave it out, or set early_stop"):
        KernelPerceptron(tol=1e-3).fit([[1.0], [-1.0]], [0, 1])


def test_none_is_left_out_of_files_so_that_those_without_it_are_read():
    plain = RunOptions().to_plain("Perceptron", 0)
    assert "tol" not in plain
    assert RunOptions.from_plain(plain, "Perceptron").tol is None
    given = json.loads(json.dumps(RunOptions(tol=1e-3).to_plain("Perceptron", 0)))
    assert RunOptions.from_plain(given, "Perceptron").tol == 1e-3


def test_sums_are_exact_in_any_order_and_any_division():
    rng = np.random.default_rng(0)
    values = rng.normal(size=500) * 10.0 ** rng.integers(-200, 200, 500)
    total = Fraction(0)
    for value in values.tolist():
        total += Fraction(value)
    for order in (values, rng.permutation(values)):
        losses = Losses.of_new_run(1)
        for part in np.array_split(order, 7):
            losses = losses.add([part])
        assert sum(map(Fraction, losses.sums[0].tolist()), Fraction(0)) == total
        assert losses.judge(np.array([0]), np.array([500.0]), 0.0).least[0] == float(total / 500)
    assert losses.add([np.array([1e308, 1e308])]).judge(np.array([0]), np.array([1.0]), 0.0).least[0] == np.inf


@pytest.mark.parametrize(("tol", "stalled"), [(0.0, 0), (1e-9, 2)])
def test_an_equal_loss_stalls_unless_tol_is_0_as_in_scikit_learn(tol, stalled):
    losses = Losses.of_new_run(1)
    for _ in range(3):
        losses = losses.begin_pass().add([np.array([1.0])]).judge(np.array([0]), np.array([3.0]), tol)
    assert losses.stalled.tolist() == [stalled]
