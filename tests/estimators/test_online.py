"""Records one by one: the bits of partial_fit on the same rows as a matrix, by name."""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest

from helpers.learned import SUMMED_IN_ANY_ORDER
from helpers.starting_weights import LINEAR
from rosenblatt import KernelPerceptron, Perceptron, calibrated, load, save, to_river
from rosenblatt.training.linear import LinearState

WORDS = ("red", "green", "blue")


def records(n=120, classes=2, seed=0):
    """Return records with names that come up on the way, and labels."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for i in range(n):
        row = {f"x{j}": float(rng.normal()) for j in rng.permutation(4 + i // 10)[:5].tolist()}
        row |= {"colour": WORDS[rng.integers(3)], "big": bool(rng.random() < 0.5), "count": int(rng.integers(5))}
        rows.append(row)
        labels.append(int(rng.integers(classes)))
    return rows, labels


def slow_matrix(rows, names):
    """Return records as a matrix, by the rules that the documentation states."""
    X = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        for name, value in row.items():
            if isinstance(value, str):
                X[i, names.index(f"{name}={value}")] = 1.0
            else:
                X[i, names.index(name)] = float(value)
    return X


def learned(model, rows, labels):
    for x, y in zip(rows, labels, strict=True):
        assert model.learn_one(x, y) is model
    return model


@pytest.mark.parametrize("learner", LINEAR)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"class_weight": {1: 2.0}}, {"max_updates": 20}])
def test_the_bits_are_those_of_partial_fit(learner, options):
    rows, labels = records()
    model = learned(learner(**options), rows, labels)
    names = model.feature_names_in_.tolist()
    assert len(names) == len(set(names)) == model.n_features_in_
    X = slow_matrix(rows, names)
    twin = learner(**options).partial_fit(X, labels)
    for name in ("w", "u", "b", "beta", "s", "s_b"):
        assert np.array_equal(getattr(model.state_, name), getattr(twin.state_, name)), name
    for name in model.state_.counters.dtype.names:
        found, expected = model.state_.counters[name], twin.state_.counters[name]
        tolerance = 1e-12 if name in SUMMED_IN_ANY_ORDER else 0.0
        assert np.allclose(found, expected, rtol=tolerance, atol=tolerance), name
    assert math.isclose(model.state_.radius, twin.state_.radius, rel_tol=1e-12)
    assert model.history_.tolist() == twin.history_.tolist()
    assert model.n_iter_ == 1, "rows that follow each other are one pass"
    frame = pd.DataFrame(X, columns=names)
    assert np.array_equal(model.decision_function(frame), twin.decision_function(X))
    assert [model.predict_one(x) for x in rows] == twin.predict(X).tolist()


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("learner", LINEAR)
def test_classes_that_come_up_on_the_way(learner, multi_class):
    rows, labels = records(classes=4)
    labels = np.array(["a", "much longer", "b", "c"])[labels].tolist()
    model = learned(learner(multi_class=multi_class), rows, labels)
    X = slow_matrix(rows, model.feature_names_in_.tolist())
    twin = learner(multi_class=multi_class)
    for i in range(len(rows)):
        twin.partial_fit(X[i : i + 1], labels[i : i + 1])
    for name in ("w", "u", "b", "beta"):
        assert np.array_equal(getattr(model.state_, name), getattr(twin.state_, name)), name
    assert [model.predict_one(x) for x in rows] == twin.predict(X).tolist()
    assert model.n_updates_ == twin.n_updates_


def test_before_anything_was_learned_there_is_no_answer():
    assert Perceptron().predict_one({"a": 1}) is None
    model = Perceptron().learn_one({"a": 1}, "only")
    assert model.predict_one({"a": -5}) == "only"
    assert model.learn_one({"a": -1}, "other").predict_one({}) in ("only", "other")


def test_names_that_are_new_count_for_nothing():
    model = learned(Perceptron(), [{"a": 1.0}, {"b": 1.0}], [True, False])
    assert model.predict_one({"a": 1, "never seen": 1e9, "colour": "red"}) is model.predict_one({"a": 1})
    assert model.feature_names_in_.tolist() == ["a", "b"], "predicting teaches nothing"


@pytest.mark.parametrize(
    ("x", "kind", "sentence"),
    [
        ({"age": None}, ValueError, "expected a finite number, a boolean or a string for 'age', got None: leave out"),
        ({"age": math.nan}, ValueError, "for 'age', got nan: leave out a value that is missing"),
        ({"age": math.inf}, ValueError, "for 'age', got inf"),
        ({"age": 10**400}, ValueError, "for 'age', got 0x"),
        ({"age": pd.NA}, ValueError, "for 'age', got <NA>: leave out a value that is missing"),
        ({"age": pd.NaT}, ValueError, "for 'age', got NaT: leave out a value that is missing"),
        (
            {"tags": ["b", "a"]},
            TypeError,
            r"^expected a number, a boolean or a string for 'tags', got \['b', 'a'\]: make each value a feature "
            r"of its own, for instance {'tags=b': 1}\.$",
        ),
        ({"age": []}, TypeError, r"a string for 'age', got \[\]\.$"),
        ({"age": 2j}, TypeError, r"a string for 'age', got 2j\.$"),
        ({None: 2.0}, TypeError, "expected feature names such as strings or integers, got None"),
        ([1.0, 2.0], TypeError, "expected a dictionary of values by feature name, got .* partial_fit and predict"),
        ({"a=b": 1.0, "a": "b"}, ValueError, "expected each feature once, got 'a=b' twice"),
    ],
)
def test_what_is_no_record_is_refused_and_nothing_changes(x, kind, sentence):
    model = learned(Perceptron(), [{"a": 1.0}, {"b": 1.0}], [1, 0])
    before = pickle.dumps(model)
    for call in (lambda: model.learn_one(x, 1), lambda: model.predict_one(x)):
        with pytest.raises(kind, match=sentence):
            call()
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "expected a label that is a string"),
        (0.5, "looks like a regression target: convert it to a class first"),
        ([1], "a string"),
        ("word", "all strings or"),
    ],
)
def test_what_is_no_label_is_refused(y, sentence):
    model = learned(Perceptron(), [{"a": 1.0}, {"b": 1.0}], [1, 0])
    with pytest.raises((TypeError, ValueError), match=sentence):
        model.learn_one({"new": 1.0}, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.learn_one({"newer": 1.0}, 1).feature_names_in_.tolist() == ["a", "b", "newer"]


@pytest.mark.parametrize("learner", LINEAR)
def test_a_model_that_was_kept_continues(learner, tmp_path):
    rows, labels = records()
    whole = learned(learner(), rows, labels)
    half = learned(learner(), rows[:60], labels[:60])
    save(half, tmp_path / "m")
    for again in (load(tmp_path / "m"), pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        assert [again.predict_one(x) for x in rows] == [half.predict_one(x) for x in rows]
        learned(again, rows[60:], labels[60:])
        for name in ("w", "u", "b", "beta", "s", "s_b"):
            assert np.array_equal(getattr(again.state_, name), getattr(whole.state_, name)), name
        assert again.feature_names_in_.tolist() == whole.feature_names_in_.tolist()


def test_rows_with_names_and_records_mix():
    rows, labels = records()
    names = learned(Perceptron(), rows, labels).feature_names_in_.tolist()
    X = slow_matrix(rows, names)
    frame = pd.DataFrame(X, columns=names)
    model = Perceptron().partial_fit(frame[:50], labels[:50])
    learned(model, rows[50:80], labels[50:80])
    model.partial_fit(frame[80:], labels[80:])
    learned(model, rows[:10], labels[:10])
    twin = Perceptron().partial_fit(np.vstack([X, X[:10]]), labels + labels[:10])
    assert np.array_equal(model.state_.w, twin.state_.w)
    assert model.n_iter_ == 4
    assert model.n_updates_ == twin.n_updates_


def test_rows_without_names_do_not():
    model = learned(Perceptron(), [{"a": 1.0}, {"b": 1.0}], [1, 0])
    with pytest.raises(ValueError, match="learns from records by name, and these rows have no names"):
        model.partial_fit([[1.0, 0.0]], [1])
    model.fit([[1.0, 0.0], [0.0, 1.0]], [1, 0])  # from the start
    with pytest.raises(ValueError, match="trained on columns without names"):
        model.learn_one({"a": 1.0}, 1)
    with pytest.raises(ValueError, match="trained on columns without names"):
        model.predict_one({"a": 1.0})
    model.partial_fit([[1.0, 0.0]], [1])


def test_a_kernel_perceptron_points_elsewhere():
    assert not hasattr(KernelPerceptron(), "learn_one")
    with pytest.raises(AttributeError, match="DictVectorizer"):
        KernelPerceptron().learn_one({}, 1)
    with pytest.raises(ValueError, match="pocket"):
        Perceptron("pocket").learn_one({"a": 1}, 1)


def test_new_columns_are_copied_a_few_times_in_all(monkeypatch):
    """Adding a column must not copy all weights: the arrays are made anew a number of times that is a logarithm."""
    made = []
    real = LinearState.widen

    def widen(self, d):
        before = self.w.base
        real(self, d)
        if self.w.base is not before:
            made.append(d)

    monkeypatch.setattr(LinearState, "widen", widen)
    model = Perceptron()
    for i in range(2000):
        model.learn_one({f"x{i}": 1.0}, i % 3)
    assert model.n_features_in_ == 2000
    assert len(made) < 60


def test_probabilities_that_learning_on_removed_are_said_to_be_removed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60)})
    y = (X["x"].to_numpy() + rng.normal(size=60) / 2 > 0).astype(int)
    model = Perceptron()
    for row, label in zip(X.to_dict("records"), y.tolist(), strict=True):
        model.learn_one(row, label)
    with pytest.raises(AttributeError, match="a perceptron has scores but no probabilities"):
        model.predict_proba(X)
    for learn in (lambda model: model.learn_one({"x": 1.0}, 1), lambda model: model.partial_fit(X, y)):
        fitted = calibrated(model, X, y)
        assert fitted.predict_proba(X).shape == (60, 2)
        learn(fitted)
        with pytest.raises(AttributeError, match=r"were removed when it was trained further.*calibrate it again"):
            fitted.predict_proba(X)
        assert calibrated(fitted, X, y).predict_proba(X).shape == (60, 2)


@pytest.mark.parametrize("learner", LINEAR)
@pytest.mark.parametrize("options", [{}, {"class_weight": {1: 2.0}}])
def test_weights_are_those_of_partial_fit(learner, options):
    rows, labels = records(60)
    weights = [[0.0, 0.5, 1.0, 2.5][i % 4] for i in range(1, 61)]
    model = learner(**options)
    for x, y, w in zip(rows, labels, weights, strict=True):
        model.learn_one(x, y, w=w)
    twin = learner(**options)
    twin.partial_fit(slow_matrix(rows, model.feature_names_in_.tolist()), labels, sample_weight=weights)
    for name in ("w", "u", "b", "beta", "s", "s_b"):
        assert np.array_equal(getattr(model.state_, name), getattr(twin.state_, name)), name
    for w in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="sample weights must be finite and not negative"):
            model.learn_one(rows[0], labels[0], w)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LINEAR)
def test_the_score_of_a_record_is_that_of_decision_function(learner, classes):
    rows, labels = records(60, classes)
    model = learner()
    assert model.decision_one(rows[0]) is None
    assert model.learn_one(rows[0], labels[0]).decision_one(rows[0]) is None  # there is one class
    learned(model, rows, labels)
    names = model.feature_names_in_.tolist()
    scores = model.decision_function(pd.DataFrame(slow_matrix(rows, names), columns=names))
    for x, score in zip(rows, scores, strict=True):
        found = model.decision_one(x | {"no such feature": 7.0})
        assert (found if classes == 2 else [found[label] for label in model.classes_]) == pytest.approx(score)


def test_the_probabilities_of_a_record_are_those_of_predict_proba():
    rows, labels = records(90)
    model = learned(Perceptron(), rows[:60], labels[:60])
    with pytest.raises(AttributeError, match="calibrated"):
        model.predict_proba_one(rows[0])
    X = slow_matrix(rows, learned(Perceptron(), rows, labels).feature_names_in_.tolist())[:, : model.n_features_in_]
    table = pd.DataFrame(X, columns=model.feature_names_in_)
    model = calibrated(model, table[60:], labels[60:])
    for x, shares in zip(rows, model.predict_proba(table), strict=True):
        assert list(model.predict_proba_one(x).values()) == shares.tolist()


def test_names_may_be_any_values_but_none(tmp_path):
    names = {0: 1.0, (1, 2): 2.0, "a": 3.0, 2.5: 4.0, frozenset("b"): 5.0, True: "yes"}
    model, twin = Perceptron(), Perceptron()
    for i in range(20):
        x = {name: value if isinstance(value, str) else value * math.sin(i + value) for name, value in names.items()}
        model.learn_one(x, i % 2)
        twin.learn_one({f"_{name}": value for name, value in x.items()}, i % 2)
    assert model.coef_.tobytes() == twin.coef_.tobytes()
    assert model.predict_one({0: 1.0}) == twin.predict_one({"_0": 1.0})
    assert model.feature_names_in_.tolist() == [*list(names)[:-1], "True=yes"]
    with pytest.raises(ValueError, match="strings"):
        save(model, tmp_path / "m")


def test_a_learner_is_a_classifier_of_river():
    river = pytest.importorskip("river")
    from river import checks, compose, evaluate, metrics, preprocessing

    rows, labels = records(120)
    stream = [(x, bool(y)) for x, y in zip(rows, labels, strict=True)]
    numbers = compose.SelectType(float, int, bool) | preprocessing.StandardScaler()
    words = compose.SelectType(str) | preprocessing.OneHotEncoder()
    learner = Perceptron()
    model = (numbers + words) | to_river(learner)
    found = evaluate.progressive_val_score(stream, model, metrics.Accuracy() + metrics.ClassificationReport())
    assert 0.4 < found[0].get() < 1.0
    assert learner.n_features_in_ > 4
    assert isinstance(to_river(learner), river.base.Classifier)
    assert pickle.loads(pickle.dumps(to_river(learner))).predict_one({"x1": 1.0}) == learner.predict_one({"x1": 1.0})
    fresh = to_river(learner).clone()
    assert fresh.predict_one({"x1": 1.0}) is None
    assert fresh.model.get_params() == learner.get_params()
    for check in (checks.common.check_repr, checks.common.check_str, checks.clf.check_multiclass_is_bool):
        check(to_river(learner))


def test_what_is_no_classifier_of_river():
    with pytest.raises((TypeError, ImportError), match=r"expected a linear learner|needs river"):
        to_river(KernelPerceptron())
