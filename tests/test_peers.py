"""What other libraries get wrong, one test each: the same input, the right behaviour."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Sklearn
from sklearn.preprocessing import StandardScaler

from helpers.examples import small_set
from helpers.naive import activation, run, vote
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, data

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("margin", [0.03, 0.01, 0.003])
def test_sklearn_leaves_training_errors_in_silence(margin):
    for seed in range(20):
        X, y = data.make_separable(200, 10, margin, random_state=seed)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            model = Perceptron(random_state=seed).fit(X, y)
        warned = any(issubclass(w.category, ConvergenceWarning) for w in seen)
        assert warned == (not model.converged_)
        assert warned or model.score(X, y) == 1.0


@quiet
def test_sklearn_trains_dense_and_csr_differently():
    X, y = load_digits(return_X_y=True)
    dense = Perceptron(random_state=0, max_iter=20).fit(X, y == 8)
    assert dense.coef_.tobytes() == Perceptron(random_state=0, max_iter=20).fit(sp.csr_array(X), y == 8).coef_.tobytes()


@quiet
def test_sklearn_counts_samples_as_updates():
    X, y = load_iris(return_X_y=True)
    model = Perceptron(max_iter=6, shuffle=False).fit(X, y == 1)
    naive = run(X, np.where(y == 1, 1, -1), 6)
    assert model.n_updates_ == naive.updates
    assert model.n_updates_ != 6 * len(y) + 1


@quiet
def test_sklearn_refuses_64_bit_indices_and_late_classes():
    X, y = small_set("gauss", classes=3)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert Perceptron().fit(wide, y).predict(wide).shape == y.shape
    model = Perceptron().partial_fit(X[y < 2], y[y < 2]).partial_fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]


@quiet
def test_sklearn_fit_warm_start_and_partial_fit_disagree():
    X, y = load_wine(return_X_y=True)
    fit = Perceptron(max_iter=3, shuffle=False).fit(X, y)
    warm = Perceptron(max_iter=1, shuffle=False, warm_start=True)
    partial = Perceptron()
    for _ in range(3):
        warm.fit(X, y)
        partial.partial_fit(X, y)
    assert fit.coef_.tobytes() == warm.coef_.tobytes() == partial.coef_.tobytes()
    assert fit.average_coef_.tobytes() == warm.average_coef_.tobytes() == partial.average_coef_.tobytes()


@quiet
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_dense_runs_match_sklearn_weight_for_weight(load):
    X, y = load(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(len(y))
    X, y = X[mixed], y[mixed]
    if load is not load_digits:  # digits are whole numbers; scale the others, so that no tie is near
        X = StandardScaler().fit_transform(X)
    for k in np.unique(y):
        theirs = Sklearn(shuffle=False, tol=None, max_iter=20).fit(X, y == k)
        ours = Perceptron(shuffle=False, max_iter=20).fit(X, y == k)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-10)


def test_river_averaging_has_no_effect():
    X, y = small_set("gauss", n=200, seed=3)
    model = AveragedPerceptron(random_state=0).fit(X, y)
    assert not np.allclose(model.coef_ / np.abs(model.coef_).max(), model.last_coef_ / np.abs(model.last_coef_).max())
    by_average = (X @ model.average_coef_[0] + model.average_intercept_[0] > 0).astype(int)
    assert model.predict(X).tolist() == by_average.tolist()


def test_river_many_is_not_n_times_one():
    X, y = small_set("gauss", n=100, seed=4)
    many, one = Perceptron().partial_fit(X, y), Perceptron()
    for row, label in zip(X, y, strict=True):
        one.partial_fit([row], [label])
    assert many.coef_.tobytes() == one.coef_.tobytes()


@quiet
def test_nltk_ignores_values_rounds_and_shuffles_unseeded():
    X, y = small_set("gauss", n=60, seed=5)
    plain = AveragedPerceptron(random_state=0).fit(X, y)
    assert not np.allclose(plain.coef_, AveragedPerceptron(random_state=0).fit(np.sign(X), y).coef_)
    assert not np.array_equal(plain.coef_, np.round(plain.coef_, 3))
    assert plain.coef_.tobytes() == AveragedPerceptron(random_state=0).fit(X, y).coef_.tobytes()
    assert plain.last_coef_.tobytes() == Perceptron(max_iter=10, random_state=0).fit(X, y).coef_.tobytes()


def test_opennlp_averages_once_a_pass():
    X, y = small_set("gauss", n=30, seed=6)
    naive = run(X, 2 * y - 1, 1)
    model = AveragedPerceptron(max_iter=1, shuffle=False).fit(X, y)
    assert model.coef_[0] == pytest.approx([float(v) for v in naive.average_w])
    assert not np.allclose(model.coef_[0], naive.w)


@quiet
def test_mlnet_never_reads_weights():
    X, y = small_set("gauss", n=60, seed=7)
    heavy = np.where(np.arange(60) % 3, 1.0, 5.0)
    plain, weighted = (Perceptron(random_state=0).fit(X, y, sample_weight=w) for w in (None, heavy))
    assert not np.array_equal(plain.coef_, weighted.coef_)


def test_spacy_averaging_ends_training():
    X, y = small_set("gauss", n=60, seed=8)
    straight, looked_at = AveragedPerceptron(), AveragedPerceptron()
    for start in range(0, 60, 10):
        straight.partial_fit(X[start : start + 10], y[start : start + 10], classes=[0, 1])
        looked_at.partial_fit(X[start : start + 10], y[start : start + 10], classes=[0, 1])
        looked_at.coef_[:] = 0.0
        looked_at.predict(X)
    assert straight.coef_.tobytes() == looked_at.coef_.tobytes()
    assert straight.last_coef_.tobytes() == looked_at.last_coef_.tobytes()


def test_weka_stops_at_ten_thousand_updates_and_squashes_raw_totals():
    X, y = small_set("gauss", n=400, d=3, seed=9)
    model = VotedPerceptron(max_iter=100, random_state=0).fit(X, y)
    assert model.n_updates_ > 10_000
    assert model.n_iter_ == 100
    assert np.abs(model.decision_function(X)).max() <= 1.0


def test_cognitive_foundry_updates_when_the_ensemble_errs():
    X, y = small_set("gauss", n=60, seed=10)
    signs = 2 * y - 1
    naive = run(X, signs, 1)
    model = VotedPerceptron(max_iter=1, shuffle=False).fit(X, y)
    assert model.n_updates_ == naive.updates
    # at some visit the vote so far was right and the current weights were wrong: that must be an update
    seen = 0
    for i in range(1, 60):
        before = run(X[:i], signs[:i], 1)
        wrong_now = signs[i] * activation(before.w.tolist(), before.b, X[i].tolist()) <= 0
        seen += wrong_now and signs[i] * vote(before.voters, X[i].tolist()) > 0
    assert seen > 0


def test_mlxtend_goes_on_after_a_clean_pass_and_refuses_sparse():
    X, y = data.make_separable(100, 4, 0.2, random_state=0)
    model = Perceptron(max_iter=1000, random_state=0).fit(sp.csr_array(X), y)
    assert model.history_["mistakes"][-1] == 0
    assert (model.history_["mistakes"] == 0).sum() == 1
    assert model.n_iter_ < 1000


def test_mlpack_throws_converged_away():
    X, y = data.make_separable(100, 4, 0.2, random_state=0)
    assert Perceptron(max_iter=1000).fit(X, y).converged_ is True
    assert AveragedPerceptron(max_iter=3).fit(*data.make_xor()).converged_ is False


def test_web_demos_lose_votes_at_the_end_of_a_pass():
    X, y = small_set("gauss", n=50, seed=11)
    model = VotedPerceptron(max_iter=4, shuffle=False).fit(X, y)
    machines = model.state_
    counts = machines.log.updates(0).survival(machines.visits[0])
    assert counts.sum() == 4 * 50
    assert counts.tolist() == [count for *_, count in run(X, 2 * y - 1, 4).voters]
