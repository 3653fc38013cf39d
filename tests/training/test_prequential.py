"""Prequential learning: predictions are those of a twin that predicts and learns row by row, compiled or not."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rosenblatt import AROW, AveragedPerceptron, KernelPerceptron, PassiveAggressive, Perceptron, VotedPerceptron
from rosenblatt.kernels.compiler import SETTING, Kernel
from rosenblatt.training.options import RunOptions
from rosenblatt.training.prequential import OnlineLearner

LEARNERS = [
    Perceptron(),
    Perceptron(multi_class="direct"),
    AveragedPerceptron(),
    AveragedPerceptron(decay=0.05),
    AveragedPerceptron(decay=0.5, multi_class="direct"),
    PassiveAggressive(C=0.3),
    PassiveAggressive(hypothesis="last", multi_class="direct"),
    AROW(),
    AROW(hypothesis="average", fit_intercept=False),
    VotedPerceptron(),
    KernelPerceptron(kernel="rbf", gamma=0.5),
]


def rows(n, classes, seed=0):
    """Return rows of small integers, so that activations tie, with labels and weights; the last class comes late."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(-1, 2, n) > 0).astype(int)
    y[n // 2 :][X[n // 2 :, 2] > 0] = classes - 1
    return X, y, rng.choice([0.0, 0.5, 1.0, 2.0], n)


def twin_answers(learner, X, y, weights, labelled):
    """Return what the weights before each row predict, and their scores."""
    found, scores = [], []
    for i in range(len(y)):
        known = getattr(learner, "classes_", [])
        found.append(learner.predict(X[[i]])[0] if len(known) else None)
        scores.append(learner.decision_function(X[[i]]).max() if len(known) > 1 else np.nan)
        if labelled[i]:
            learner.partial_fit(X[[i]], y[[i]], sample_weight=weights[[i]])
    return found, scores


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_predictions_and_weights_are_those_of_row_by_row(learner, classes, sparse):
    X, y, weights = rows(90, classes)
    labelled = np.random.default_rng(1).random(90) < 0.8
    labelled[[0, 1]] = False
    learner = clone(learner)
    expected, scores = twin_answers(learner, X, y, weights, labelled)
    online = OnlineLearner(type(learner).__name__, learner._options())
    answers, found_scores = [], []
    for start, stop in ((0, 1), (1, 40), (40, 41), (41, 90)):
        part = slice(start, stop)
        some = sp.csr_array(X[part]) if sparse else X[part]
        found = online.learn(some, y[part], weights[part], labelled[part])
        answers += found.labels
        found_scores += found.scores
    assert answers == expected
    assert found_scores == pytest.approx(scores, nan_ok=True)
    assert np.array_equal(online.model.classes, learner.classes_)
    if hasattr(learner, "last_coef_"):
        assert online.model.state.w.tobytes() == learner.last_coef_.tobytes()
        assert online.model.state.b.tobytes() == learner.last_intercept_.tobytes()


@pytest.mark.quick_cases(2)
@pytest.mark.skipif(SETTING == "never", reason="nothing is compiled")
@pytest.mark.parametrize("learner", LEARNERS[:9], ids=str)
def test_compiled_code_gives_the_same_answers(monkeypatch, learner):
    X, y, weights = rows(200, 3)
    name = type(learner).__name__
    both = []
    for worth in (False, True):
        monkeypatch.setattr(Kernel, "_is_worth_compiling", lambda *_, worth=worth: worth)
        online = OnlineLearner(name, learner._options())
        found = online.learn(X + 0.1, y, weights)
        both.append((found.labels, online.model.state.w.tobytes(), np.round(found.scores, 9).tolist()))
    assert repr(both[0]) == repr(both[1])


def test_rows_may_get_wider_and_narrower():
    X, y, _ = rows(60, 2)
    dense, sparse = (OnlineLearner("Perceptron", RunOptions()) for _ in range(2))
    for start, stop, width in ((0, 20, 2), (20, 40, 4), (40, 60, 3)):
        part = X[start:stop, :width]
        assert dense.learn(part, y[start:stop]).labels == sparse.learn(sp.csr_array(part), y[start:stop]).labels
    assert dense.model.state.w.tobytes() == np.ascontiguousarray(sparse.model.state.w).tobytes()


def test_labels_that_cannot_be_compared_are_refused():
    online = OnlineLearner("Perceptron", RunOptions())
    online.learn(np.eye(2), np.array(["a", "b"]))
    with pytest.raises(ValueError, match="labels must be all strings or all numbers"):
        online.learn(np.eye(2), np.array([1, 2]))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", [Perceptron(fit_intercept=False), AveragedPerceptron(fit_intercept=False)], ids=str)
def test_rows_that_rounding_could_turn_are_decided_exactly(learner, classes):
    rng = np.random.default_rng(5)
    first, n = rng.standard_normal(3), 300
    near = rng.standard_normal((n, 3))
    near[:, 2] = -(near[:, :2] @ first[:2]) / first[2]  # the activation of the first row is 0 but for its last bits
    X = np.concatenate([[first, -first, 0.5 * first][:classes], near])
    y, labelled = np.arange(n + classes) % classes, np.arange(n + classes) < classes
    labelled[-1] = True
    online, twin = OnlineLearner(type(learner).__name__, learner._options()), clone(learner)
    found = online.learn(X, y, None, labelled).labels
    assert found == twin_answers(twin, X, y, np.ones(len(y)), labelled)[0]
