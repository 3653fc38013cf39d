"""`calibrated`: a copy of a model with probabilities, to the same bits from every source of rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from rosenblatt import (
    AROW,
    AveragedPerceptron,
    ExactScaler,
    KernelPerceptron,
    Perceptron,
    RescaledPerceptron,
    VotedPerceptron,
    calibrated,
    data,
)

LEARNERS = [
    Perceptron(max_iter=3, random_state=0),
    Perceptron(hypothesis="pocket", max_iter=3, random_state=0),
    AveragedPerceptron(random_state=0),
    AveragedPerceptron(multi_class="direct", random_state=0),
    VotedPerceptron(random_state=0),
    AROW(random_state=0),
    KernelPerceptron(kernel="rbf", gamma=0.5, max_iter=3, random_state=0),
    RescaledPerceptron(random_state=0),
]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows(classes=2, n=600, seed=0):
    """Return noisy rows, training and unseen ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    y = np.argmax(X[:, :classes] + 0.7 * rng.normal(size=(n, classes)), axis=1)
    y = np.array(["ant", "bee", "cat", "dog"])[y]
    return (X[: n // 2], y[: n // 2]), (X[n // 2 :], y[n // 2 :])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_probabilities_of_every_learner_are_good_and_change_nothing_else(learner, classes):
    training, (X, y) = rows(classes)
    model = learner.fit(*training)
    found = calibrated(model, X[:200], y[:200])
    assert type(found) is type(model)
    assert not hasattr(model, "predict_proba")
    p = found.predict_proba(X)
    assert p.shape == (300, classes)
    assert np.abs(p.sum(axis=1) - 1).max() <= 2.0**-52
    assert found.predict(X).tolist() == model.predict(X).tolist()
    assert np.array_equal(found.decision_function(X), model.decision_function(X))
    shares = np.unique(y[:200], return_counts=True)[1] / 200
    guess = log_loss(y[200:], np.tile(shares, (100, 1)))
    assert log_loss(y[200:], p[200:]) < 0.9 * guess
    assert get_scorer("neg_log_loss")(found, X[200:], y[200:]) == pytest.approx(-log_loss(y[200:], p[200:]))
    assert get_scorer("roc_auc_ovr" if classes > 2 else "roc_auc")(found, X[200:], y[200:]) > 0.75


def test_sigmoids_of_two_classes_are_scikit_learns():
    training, (X, y) = rows()
    model = AveragedPerceptron(random_state=0).fit(*training)
    ours = calibrated(model, X[:200], y[:200]).predict_proba(X)
    theirs = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[:200], y[:200]).predict_proba(X)
    assert np.allclose(ours, theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_the_same_bits_from_every_source_of_rows(classes, method, tmp_path):
    training, (X, y) = rows(classes)
    X, halves = X.round(1), np.float32(X * 4).round() / 4
    path = tmp_path / "unseen.csv"
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    frame.to_csv(path, index=False)
    lines = [f"{np.flatnonzero(np.unique(y) == label)[0]} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)
             for row, label in zip(X.tolist(), y, strict=True)]  # fmt: skip
    (tmp_path / "unseen.svm").write_text("\n".join(lines) + "\n")
    model = AveragedPerceptron(random_state=0).fit(*training)
    numbers = AveragedPerceptron(random_state=0).fit(training[0], np.unique(training[1], return_inverse=True)[1])
    made = [
        calibrated(model, X, y, method=method),
        calibrated(model, sp.csr_matrix(X), y, method=method),
        calibrated(model, np.asfortranarray(X), y, method=method),
        calibrated(model, frame[list("abcd")].to_numpy(), frame["label"], np.ones(len(y)), method=method),
        calibrated(model, X.tolist(), y.tolist(), method=method),
        calibrated(model, X[::-1], y[::-1], method=method),
        calibrated(model, data.open(path, target="label", block_rows=7), method=method),
        calibrated(numbers, data.open(tmp_path / "unseen.svm", block_rows=11), method=method),
    ]
    expected = made[0].calibration_
    assert all(each.calibration_ == expected for each in made)
    for given in (halves, halves.astype(np.float64), sp.csr_array(halves)):
        assert np.array_equal(made[0].predict_proba(given), made[0].predict_proba(halves))
    one_by_one = np.concatenate([made[0].predict_proba(X[i : i + 1]) for i in range(len(X))])
    assert np.array_equal(one_by_one, made[0].predict_proba(X))


def test_training_removes_probabilities():
    training, (X, y) = rows()
    model = AveragedPerceptron(random_state=0).fit(*training)
    for train in (
        lambda found: found.fit(*training),
        lambda found: found.partial_fit(*training),
        lambda found: found.fit_stream([training]),
    ):
        found = calibrated(model, X, y)
        assert not hasattr(train(found), "predict_proba")
    separated = RescaledPerceptron(random_state=0).fit([[1.0], [-1.0]], [1, 0])
    found = calibrated(separated, [[1.0], [-1.0]], [1, 0])
    assert not hasattr(found.fit([[1.0], [-1.0]], [1, 0]), "predict_proba")


def test_the_copy_is_a_copy():
    model = AveragedPerceptron()
    for k in range(40):
        model.learn_one({"a": float(k % 5 - 2), "b": 1.0}, k % 3 == 0)
    unseen = pd.DataFrame({"a": [1.0, -1.0], "b": [1.0, 1.0]})
    found = calibrated(model, unseen, [True, False])
    before = found.predict_proba(unseen).tolist()
    weights = found.coef_.tolist()
    for k in range(40):
        model.learn_one({"a": float(k % 5 - 2), "c": 1.0}, k % 2 == 0)
    assert (found.predict_proba(unseen).tolist(), found.coef_.tolist()) == (before, weights)
    assert found.predict_one({"a": 2.0, "c": 1.0}) in (True, False)
    assert not hasattr(found.learn_one({"a": 1.0}, True), "predict_proba")


def test_pipelines_and_searches_are_calibrated_at_their_end():
    training, (X, y) = rows(3)
    pipeline = make_pipeline(ExactScaler(), AveragedPerceptron(random_state=0)).fit(*training)
    found = calibrated(pipeline, X, y)
    alone = calibrated(pipeline[-1], pipeline[:-1].transform(X), y)
    assert np.array_equal(found.predict_proba(X), alone.predict_proba(pipeline[:-1].transform(X)))
    assert not hasattr(pipeline, "predict_proba")
    search = GridSearchCV(AveragedPerceptron(random_state=0), {"max_iter": [1, 3]}, cv=2).fit(*training)
    assert np.array_equal(
        calibrated(search, X, y).predict_proba(X), calibrated(search.best_estimator_, X, y).predict_proba(X)
    )


def test_a_class_without_unseen_rows_is_unlikely():
    training, (X, y) = rows(3)
    model = AveragedPerceptron(random_state=0).fit(*training)
    p = calibrated(model, X[y != "cat"], y[y != "cat"]).predict_proba(X)
    assert p[:, 2].mean() < 0.02 < p[:, :2].min(axis=1).mean()


def test_what_cannot_be_calibrated_is_refused_in_a_sentence(tmp_path):
    training, (X, y) = rows()
    model = Perceptron(max_iter=3, random_state=0).fit(*training)
    path = tmp_path / "unseen.csv"
    pd.DataFrame(X).assign(label=y).to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        on_files = Perceptron(max_iter=3).fit_stream(data.open(path, target="label", scale="standard"))
    cases = [
        (model, (X, None), TypeError, r"got none: use calibrated\(model, X, y\)"),
        (model, (X[:0], y[:0]), ValueError, "minimum of 1 is required"),
        (model, (X, y[:5]), ValueError, "expected one label for each of the 300 rows, got 5"),
        (model, (X[:2], ["ant", "eel"]), ValueError, r"the classes of the model, \['ant', 'bee'\], got 'eel'"),
        (model, (X, np.zeros(300)), ValueError, "labels must be all strings or all numbers"),
        (model, (X[y == "ant"], y[y == "ant"]), ValueError, "got rows of ant only: add rows of others"),
        (model, (X, y, (y == "ant") * 1.0), ValueError, "got rows of"),
        (model, (X, y, -np.ones(300)), ValueError, "sample weights must be finite and not negative"),
        (model, (X[:, :2], y), ValueError, "X has 2 features, but Perceptron is expecting 4"),
        (model, (data.open(path, target="label"), y), TypeError, r"use calibrated\(model, stream\)"),
        (on_files, (data.open(path, target="label"),), ValueError, "preparation=model.preparation_"),
        (Perceptron(), (X, y), NotFittedError, "not fitted"),
        (LogisticRegression(), (X, y), TypeError, "got LogisticRegression: for other models use sklearn"),
        (Perceptron().partial_fit(X[:1], y[:1]), (X, y), ValueError, "a model of at least two classes"),
    ]
    for given, arguments, error, sentence in cases:
        with pytest.raises(error, match=sentence):
            calibrated(given, *arguments)
    found = calibrated(model, X, y)
    with pytest.raises(ValueError, match='were fitted to hypothesis="last", but the hypothesis is "average"'):
        found.set_params(hypothesis="average").predict_proba(X)
