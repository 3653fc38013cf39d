"""Averages that forget, against the mean taken from its definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, PassiveAggressive, Perceptron, VotedPerceptron


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


@pytest.mark.parametrize("decay", [1e-9, 1e-4, 0.01, 0.3, 0.9, 0.999999])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
def test_the_mean_is_that_of_its_definition(decay, classes, multi_class):
    X, y = drifting(classes=classes)
    shared = {"decay": decay, "multi_class": multi_class, "shuffle": False, "max_iter": 1}
    w, b = decayed_mean(AveragedPerceptron(**shared), X, y, decay)
    model = AveragedPerceptron(**shared).fit(X, y)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-9, atol=1e-11)


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


def test_no_decay_is_the_plain_mean():
    X, y = drifting()
    plain = AveragedPerceptron(shuffle=False).fit(X, y)
    slow = AveragedPerceptron(shuffle=False, decay=1e-12).fit(X, y)
    np.testing.assert_allclose(plain.coef_, slow.coef_, rtol=1e-8)


def test_a_long_run_neither_overflows_nor_vanishes():
    X, y = drifting(2000)
    model = AveragedPerceptron(shuffle=False, decay=0.5, max_iter=20).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.abs(model.coef_ - model.last_coef_).max() < np.abs(model.last_coef_).max()


def test_votes_forget_nothing():
    with pytest.raises(ValueError, match="decay is for averages, and votes forget nothing"):
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
