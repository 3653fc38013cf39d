"""The two copies of a served model: the same bits as ``partial_fit``, also after groups that were undone."""

import random
import threading
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
)
from rosenblatt.persistence.files import from_trained_model, to_trained_model
from rosenblatt.serving.model import ServedModel
from rosenblatt.serving.rows import SparseRow
from rosenblatt.training.groups import LabelledRows, join_rows

LEARNERS = {
    "perceptron": (Perceptron, {}),
    "averaged": (AveragedPerceptron, {"multi_class": "direct"}),
    "ovr": (AveragedPerceptron, {}),
    "pa": (PassiveAggressive, {}),
    "arow": (AROW, {"r": 3.0}),
    "margin": (MarginPerceptron, {"hypothesis": "average", "decay": 0.01}),
    "voted": (VotedPerceptron, {}),
    "kernel": (KernelPerceptron, {"kernel": "poly", "degree": 2, "gamma": 0.5}),
    "weighted": (Perceptron, {"class_weight": {"b": 2.0}}),
}
FIELDS = ("w", "u", "b", "beta", "s", "s_b")


def data(seed, n, d=6, classes="abc"):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, d)) / 4.0
    X[rng.random((n, d)) < 0.4] = 0.0
    y = np.array(list(classes))[rng.integers(0, len(classes), n)]
    return X, y, np.where(rng.random(n) < 0.2, 0.5, 1.0)


def labelled(X, y, weights):
    X = sp.csr_array(X)
    return LabelledRows(X.indices, X.data, np.diff(X.indptr), y, weights, X.shape[1])


def rows_of(X):
    return [SparseRow(np.flatnonzero(x).tolist(), x[x != 0].tolist()) for x in X]


def assert_same(one, other):
    if hasattr(one, "w"):
        for name in FIELDS:
            a, b = getattr(one, name), getattr(other, name)
            assert (a is None and b is None) or np.array_equal(a, b), name
        assert (one.counters["updates"] == other.counters["updates"]).all()
    else:
        X = data(99, 40)[0]
        from rosenblatt.training.rows import as_rows

        assert np.array_equal(one.scores("last", as_rows(X)), other.scores("last", as_rows(X)))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("classes", ["ab", "abc"])
def test_both_copies_have_the_bits_of_partial_fit(name, classes, sparse):
    learner, options = LEARNERS[name]
    X, y, weights = data(1, 20, classes=classes)
    first = learner(**options).partial_fit(X, y, classes=list(classes))
    served = ServedModel(to_trained_model(learner(**options).partial_fit(X, y, classes=list(classes))), sparse)
    X, y, weights = data(2, 90, classes=classes)
    rng, start, learned = random.Random(3), 0, []
    while start < len(y):
        stop = start + rng.randrange(1, 20)
        rows = labelled(X[start:stop], y[start:stop], weights[start:stop])
        served.learn(rows)
        if rng.random() < 0.3:
            served.undo(rows)
        else:
            learned += range(start, min(stop, len(y)))
        if rng.random() < 0.4:
            served.publish()
        start = stop
    served.publish()
    first.partial_fit(X[learned], y[learned], sample_weight=weights[learned])
    assert_same(served.model.state, first.state_)
    assert_same(served.published.state, first.state_)
    new = data(4, 50)[0]
    found = served.predict(rows_of(new))
    assert found.classes[found.numbers].tolist() == first.predict(new).tolist()


def test_predictions_are_those_of_the_model_and_see_rows_once_they_are_published():
    X, y, _ = data(5, 30)
    model = AveragedPerceptron().partial_fit(X, y)
    served = ServedModel(to_trained_model(AveragedPerceptron().partial_fit(X, y)), sparse=True)
    new = data(6, 20)[0]
    before = model.predict(new).tolist()
    labels = lambda: [answer["label"] for answer in served.predict(rows_of(new)).to_plain()]  # noqa: E731
    assert labels() == before
    more, labels_of_more, _ = data(7, 60)
    served.learn(labelled(more, labels_of_more, None))
    assert labels() == before
    assert not served.is_published
    served.publish()
    assert served.is_published
    assert labels() == model.partial_fit(more, labels_of_more).predict(new).tolist() != before
    scores = served.predict(rows_of(new)).to_plain()
    assert np.allclose([[row["scores"][name] for name in "abc"] for row in scores], model.decision_function(new))


def test_new_classes_and_columns_join():
    X, y, _ = data(8, 20, classes="ab")
    served = ServedModel(to_trained_model(Perceptron().partial_fit(X, y)), sparse=True)
    more, labels, _ = data(9, 40, d=9)
    for start in (0, 10, 30):
        served.learn(labelled(more[start : start + 10], labels[start : start + 10], None))
        served.publish()
    used = [*range(20), *range(30, 40)]
    wide = Perceptron().partial_fit(np.pad(X, ((0, 0), (0, 3))), y)
    wide.partial_fit(more[used], labels[used])
    assert_same(served.model.state, wide.state_)
    assert served.published.classes.tolist() == ["a", "b", "c"]


def test_rows_that_overflow_raise_and_can_be_undone():
    X, y, _ = data(10, 20, classes="ab")
    served = ServedModel(to_trained_model(AROW().partial_fit(X, y)), sparse=False)
    more, labels, _ = data(11, 20, classes="ab")
    served.learn(good := labelled(more, labels, None))
    bad = labelled(np.full((2, 6), 1e300), np.array(["a", "b"]), None)
    with pytest.raises(ValueError, match="overflow"):
        served.learn(bad)
    served.undo(bad)
    served.publish()
    assert len(good) == 20
    assert_same(served.published.state, AROW().partial_fit(X, y).partial_fit(more, labels).state_)


def test_mistakes_are_counted_before_learning():
    X, y, _ = data(12, 30)
    model = AveragedPerceptron().partial_fit(X, y)
    served = ServedModel(to_trained_model(model), sparse=False)
    more, labels, _ = data(13, 40)
    assert served.count_mistakes(labelled(more, labels, None)) == (model.predict(more) != labels).sum()
    wide = labelled(np.pad(more, ((0, 0), (0, 2)), constant_values=1.0), labels, None)
    assert served.count_mistakes(wide) == (model.predict(more) != labels).sum()


def test_predictions_of_another_thread_go_on_while_rows_are_learned():
    X, y, _ = data(14, 30)
    served = ServedModel(to_trained_model(VotedPerceptron().partial_fit(X, y)), sparse=False)
    faults, stop = [], threading.Event()

    def predict():
        while not stop.is_set():
            try:
                served.predict(rows_of(X[:3]))
            except Exception as fault:
                faults.append(fault)
                return

    thread = threading.Thread(target=predict)
    thread.start()
    rng = random.Random(15)
    for seed in range(60):
        rows = labelled(*data(seed, 5))
        served.learn(rows)
        if rng.random() < 0.3:
            served.undo(rows)
        if rng.random() < 0.5:
            served.publish()
    stop.set()
    thread.join(60)
    assert not faults


def test_a_calibration_is_kept_until_a_class_joins():
    from rosenblatt import calibrated

    X, y, _ = data(16, 200, classes="ab")
    model = calibrated(Perceptron().partial_fit(X, y), X, y)
    served = ServedModel(to_trained_model(model), sparse=False)
    more, labels, _ = data(17, 20, classes="ab")
    served.learn(labelled(more, labels, None))
    served.publish()
    answer = served.predict(rows_of(X[:1])).to_plain()[0]
    again = from_trained_model(replace(served.published))
    assert list(answer["probabilities"].values()) == again.predict_proba(X[:1])[0].tolist()
    served.learn(labelled(more[:1], np.array(["c"]), None))
    served.publish()
    assert "probabilities" not in served.predict(rows_of(X[:1])).to_plain()[0]


def test_joined_groups_keep_weights_where_only_some_have_them():
    X, y, weights = data(18, 8)
    rows = join_rows([labelled(X[:3], y[:3], None), labelled(X[3:], y[3:], weights[3:])])
    assert rows.weights.tolist() == [1.0, 1.0, 1.0, *weights[3:]]
    assert len(rows) == 8
