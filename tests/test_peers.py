"""Beside other libraries: the same weights as scikit-learn, and what some of them get wrong.

That layouts, chunks, weights, votes and averages are right, which others get wrong as well, is in tests of their rooms.
"""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Sklearn
from sklearn.preprocessing import StandardScaler

from helpers.examples import small_set
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
        assert model.converged_ is not warned
        assert warned or model.score(X, y) == 1.0


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
