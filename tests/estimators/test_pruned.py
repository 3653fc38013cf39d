"""`pruned`: a copy without the smallest weights, whose labels for given rows are those of the model."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    RescaledPerceptron,
    TextHasher,
    VotedPerceptron,
    calibrated,
    data,
    load,
    pruned,
    save,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LEARNERS = [
    Perceptron(max_iter=3, random_state=0),
    Perceptron(hypothesis="pocket", max_iter=3, random_state=0),
    AveragedPerceptron(random_state=0),
    AveragedPerceptron(multi_class="direct", early_stopping=True, random_state=0),
    PassiveAggressive(max_iter=2, random_state=0),
    AROW(r=1, random_state=0),
]


def rows(classes=2, n=400, d=3000, seed=0):
    """Return sparse rows whose first columns tell the class, and others that say nothing; training and unseen ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = sp.random_array((n, d), density=0.01, format="lil", rng=rng)
    X[np.arange(n), y] = 1.0
    X = sp.csr_array(X)
    return (X[: n // 2], y[: n // 2]), (X[n // 2 :], y[n // 2 :])


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_no_label_of_the_rows_changes(tmp_path, learner, classes):
    training, (X, _) = rows(classes)
    model = learner.fit(*training)
    small = pruned(model, X)
    assert type(small) is type(model)
    assert small.predict(X).tolist() == model.predict(X).tolist()
    kept = small.coef_ != 0
    assert np.count_nonzero(kept) < 0.7 * np.count_nonzero(model.coef_)
    assert np.abs(model.coef_[kept]).min() >= np.abs(model.coef_[~kept]).max()
    assert np.array_equal(small.coef_[kept], model.coef_[kept].astype(np.float32))
    assert (small.n_iter_, small.n_updates_) == (model.n_iter_, model.n_updates_)
    save(model, tmp_path / "model")
    save(small, tmp_path / "small")
    assert (tmp_path / "small").stat().st_size < 0.5 * (tmp_path / "model").stat().st_size
    again = load(tmp_path / "small")
    assert np.array_equal(again.decision_function(X), small.decision_function(X))


def test_one_more_weight_would_change_a_label():
    training, (X, _) = rows()
    model = LEARNERS[2].fit(*training)
    labels, small = model.predict(X), pruned(model, X)
    left = small.coef_[small.coef_ != 0]
    small.state_.w[np.abs(small.state_.w) == np.abs(left).min()] = 0.0
    assert (small.predict(X) != labels).any()


def test_a_share_of_the_weights():
    model = LEARNERS[5].fit(*rows()[0])
    sizes = np.sort(np.abs(model.coef_[model.coef_ != 0]))
    small = pruned(model, share=0.75)
    left = np.abs(small.coef_[small.coef_ != 0])
    assert np.array_equal(np.sort(left), sizes[int(0.75 * len(sizes)) :].astype(np.float32))


def test_digits_that_decide_are_kept():
    model = Perceptron(max_iter=1, shuffle=False, fit_intercept=False)
    model.fit([[1.0, 0.0], [0.0, 1.0]], [1, 0], coef_init=[[1 + 2.0**-30, -1.0]])
    assert pruned(model, [[1.0, 1.0], [1.0, 2.0]]).coef_.tolist() == model.coef_.tolist()
    assert pruned(model, [[2.0, 1.0]]).coef_.tolist() == [[1.0, 0.0]]


def test_training_continues_from_the_weights_that_are_left():
    (X, y), (Z, z) = rows()
    small = pruned(LEARNERS[5].fit(X, y), share=0.5)
    coef = small.coef_.copy()
    twin = AROW(r=1, random_state=0).fit(X[:0:-1], y[:0:-1])
    twin.state_ = twin.state_.zeros(2, X.shape[1], direct=False, fit_intercept=True, rule=twin.state_.rule)
    twin.state_.start_from(coef, small.intercept_)
    assert np.array_equal(small.partial_fit(Z, z).coef_, twin.partial_fit(Z, z).coef_)
    assert not np.array_equal(small.coef_, coef)


def test_the_model_that_was_given_is_unchanged():
    model = LEARNERS[2].fit(*rows()[0])
    before = model.coef_.copy()
    pruned(model, share=0.5).partial_fit(*rows()[1])
    assert np.array_equal(model.coef_, before)


def test_pipelines_searches_and_streams(tmp_path):
    texts, labels = ["Free entry, win now", "see you at seven"] * 9, ["spam", "ham"] * 9
    model = make_pipeline(TextHasher(), AveragedPerceptron(random_state=0)).fit(texts, labels)
    small = pruned(model, texts)
    assert small.predict(texts).tolist() == labels
    assert np.count_nonzero(small[-1].coef_) < np.count_nonzero(model[-1].coef_)
    search = GridSearchCV(model, {"averagedperceptron__max_iter": [3]}, cv=3).fit(texts, labels)
    assert np.array_equal(pruned(search, texts)[-1].coef_, pruned(search.best_estimator_, texts)[-1].coef_)
    lines = "".join(f"__label__{label} {text}\n" for label, text in zip(labels, texts, strict=True))
    (tmp_path / "t.txt").write_text(lines)
    stream = data.open(tmp_path / "t.txt")
    model = AROW(random_state=0).fit_stream(stream)
    small = pruned(model, data.open(tmp_path / "t.txt", preparation=stream.preparation))
    assert np.array_equal(small.coef_, pruned(model, [{"text": text} for text in texts]).coef_)


def test_what_cannot_be_pruned():
    (X, y), (Z, z) = rows(d=50)
    model = LEARNERS[0].fit(X, y)
    for given in ({}, {"X": Z, "share": 0.5}):
        with pytest.raises(ValueError, match="needs either rows, as X, or share, and not both: give one of them"):
            pruned(model, **given)
    with pytest.raises(ValueError, match="share must be a number between 0 and 1, got 1"):
        pruned(model, share=1)
    for other in (VotedPerceptron(), KernelPerceptron()):
        with pytest.raises(ValueError, match="needs a linear model that predicts with one weight vector"):
            pruned(other.fit(X, y), Z)
    with pytest.raises(ValueError, match="prune the model first, then calibrate it"):
        pruned(calibrated(model, Z, z), Z)
    with pytest.raises(TypeError, match="expected a learner that is trained in passes, got RescaledPerceptron"):
        pruned(RescaledPerceptron(random_state=0, max_rescalings=1).fit(X[:9].toarray(), y[:9]), share=0.5)
    with pytest.raises(NotFittedError):
        pruned(Perceptron(), Z)
