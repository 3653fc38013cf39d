"""fit, warm_start and partial_fit agree, in any chunking."""

import copy
import itertools
import pickle

import numpy as np
import pytest

from helpers.examples import small_set
from helpers.naive import run
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron
from rosenblatt.messages import ParameterError


def same_model(one, other, X):
    assert one.classes_.tolist() == other.classes_.tolist()
    for name in ("last_coef_", "last_intercept_", "average_coef_", "average_intercept_"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert one.n_updates_ == other.n_updates_
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()


def chunks(X, y, cuts, steps=None):
    bounds = [0, *cuts, len(y)]
    for start, stop in itertools.pairwise(bounds):
        yield X[start:stop], y[start:stop], None if steps is None else steps[start:stop]


def test_two_classes_need_not_be_named():
    X, y = small_set("decimals", n=60, seed=2)
    y = np.sort(y)[::-1]  # one class first, and it is the second in order
    whole = Perceptron(max_iter=1, shuffle=False).fit(X, y)
    for cuts in ([1], [5, 20], [29, 30, 31, 59]):
        model = Perceptron()
        for rows, labels, _ in chunks(X, y, cuts):
            model.partial_fit(rows, labels)
        same_model(model, whole, X)


@pytest.mark.parametrize("cuts", [[30], [10, 20, 35], list(range(1, 60))])
@pytest.mark.parametrize("hypothesis", ["last", "vote"])
def test_a_class_that_comes_late_starts_at_its_first_row(cuts, hypothesis):
    X, y = small_set("decimals", n=60, seed=3)
    y = np.array(["b", "d"])[y]
    late = {40: "a", 45: "c"}
    for row, label in late.items():
        y[row::5] = label
    model = Perceptron(hypothesis)
    for rows, labels, _ in chunks(X, y, cuts):
        model.partial_fit(rows, labels)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    for k, label in enumerate(model.classes_):
        start = {v: row for row, v in late.items()}.get(label, 0)
        naive = run(X[start:], np.where(y[start:] == label, 1, -1), 1)
        assert model.last_coef_[k].tobytes() == naive.w.tobytes()
        assert model.last_intercept_[k] == naive.b
        assert model.average_coef_[k] == pytest.approx([float(v) for v in naive.average_w], rel=1e-12)
        if hypothesis == "vote":
            total = sum(count for *_, count in naive.voters)
            survived = model.state_.log.updates(k).survival(model.state_.visits[k])
            assert survived.tolist() == [count for *_, count in naive.voters]
            assert survived.sum() == total


@pytest.mark.parametrize("hypothesis", ["last", "vote"])
def test_a_late_class_competes_directly(hypothesis):
    X, y = small_set("decimals", n=60, seed=4)
    y = y + 1
    y[40::4] = 0
    models = []
    for cuts in ([20], [20, 41, 42], list(range(2, 60))):
        model = Perceptron(hypothesis, multi_class="direct")
        for rows, labels, _ in chunks(X, y, cuts):
            model.partial_fit(rows, labels)
        models.append(model)
    for other in models[1:]:
        same_model(models[0], other, X)
    # every update takes from one class what it gives to another
    assert models[0].last_coef_.sum(axis=0) == pytest.approx(np.zeros(X.shape[1]), abs=1e-12)


@pytest.mark.parametrize("hypothesis", ["last", "average", "vote", "pocket"])
@pytest.mark.parametrize("shuffle", [True, False, "once"])
@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
def test_k_fits_of_one_pass_are_one_fit_of_k(hypothesis, shuffle, early_stopping, classes, multi_class):
    X, y = small_set("gauss", n=80, classes=classes, seed=5)
    X[:, :classes] += 1.5 * np.eye(classes)[y][:, : X.shape[1]]
    options = {
        "hypothesis": hypothesis,
        "shuffle": shuffle,
        "random_state": 3,
        "multi_class": multi_class,
        "early_stopping": early_stopping,
        "n_iter_no_change": 3,
    }
    whole = Perceptron(max_iter=7, **options).fit(X, y)
    model = Perceptron(max_iter=1, warm_start=True, **options)
    for _ in range(7):
        model.fit(X, y)
    same_model(model, whole, X)
    assert model.n_iter_ == whole.n_iter_
    assert model.history_.tolist() == whole.history_.tolist()
    assert model.predict(X).tolist() == whole.predict(X).tolist()


def test_going_on_after_convergence_changes_nothing():
    X, y = small_set("gauss", n=12, d=12, seed=0)
    whole = Perceptron(max_iter=500, shuffle=False, warm_start=True).fit(X, y)
    assert whole.converged_
    before = copy.deepcopy(whole)
    whole.fit(X, y)
    same_model(whole, before, X)
    assert whole.n_iter_ == before.n_iter_
    assert whole.history_.tolist() == before.history_.tolist()
    whole.fit(-X, y)  # other data: it does go on
    assert whole.n_iter_ > before.n_iter_


def test_one_class_is_enough_for_a_stream():
    model = Perceptron().partial_fit([[1.0], [2.0]], ["only", "only"])
    assert model.predict([[5.0], [-5.0]]).tolist() == ["only", "only"]
    assert not model.on_boundary([[0.0]]).any()
    assert model.classes_.tolist() == ["only"]


def test_pocket_and_balanced_weights_need_all_rows():
    assert not hasattr(Perceptron("pocket"), "partial_fit")
    with pytest.raises(AttributeError, match=r"whole training set, which partial_fit never sees: use fit"):
        Perceptron("pocket").partial_fit([[1.0]], [1])
    with pytest.raises(ValueError, match="counts of all classes"):
        Perceptron(class_weight="balanced").partial_fit([[1.0]], [1])


def test_a_bad_chunk_leaves_the_model_alone():
    X, y = small_set("decimals", seed=8)
    model = Perceptron().partial_fit(X, y)
    before = pickle.dumps(model)
    bad = X.copy()
    bad[-1, 0] = np.nan
    for call in (
        lambda: model.partial_fit(bad, y),
        lambda: model.partial_fit(X[:, :2], y),
        lambda: model.partial_fit(X, y[:-1]),
        lambda: model.partial_fit(X, y, sample_weight=-np.ones(len(y))),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 (each has its own message, tested elsewhere)
            call()
        assert pickle.dumps(model) == before


def test_the_hypothesis_may_change_where_the_run_has_kept_it():
    X, y = small_set("gauss", n=60, seed=9)
    model = Perceptron(max_iter=5, random_state=0).fit(X, y)
    average = AveragedPerceptron(max_iter=5, random_state=0).fit(X, y)
    assert model.set_params(hypothesis="average").predict(X).tolist() == average.predict(X).tolist()
    for hypothesis in ("vote", "pocket"):
        model.set_params(hypothesis=hypothesis, warm_start=True)
        with pytest.raises(ValueError, match=f'hypothesis="{hypothesis}" needs'):
            model.predict(X)
        with pytest.raises(ValueError, match="fit from the start"):
            model.fit(X, y)


@pytest.mark.parametrize(("name", "value"), [("fit_intercept", False), ("multi_class", "direct")])
def test_what_the_machines_are_may_not_change_on_the_way(name, value):
    X, y = small_set("gauss", n=60, classes=3, seed=10)
    model = Perceptron(max_iter=2, warm_start=True).fit(X, y).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"{name} has changed since"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=f"{name} has changed since"):
        model.partial_fit(X, y)
    model.set_params(warm_start=False).fit(X, y)


def test_a_warm_fit_that_fails_leaves_the_model_alone():
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.arange(90) % 2
    model = Perceptron(warm_start=True, early_stopping=True, random_state=0, max_iter=2).fit(X, y)
    with pytest.raises(ValueError, match="cannot hold out"):
        model.fit(X[:3], [0, 1, 7])
    assert model.classes_.tolist() == [0, 1]
    assert model.fit(X, np.arange(90) % 3).coef_.shape == (3, 3)


def test_words_and_numbers_are_not_mixed():
    model = Perceptron().partial_fit([[1.0], [2.0]], [1, -1])
    with pytest.raises(ValueError, match=r"labels so far are \[-1, 1\], but a new label is 'a'"):
        model.partial_fit([[1.0], [2.0]], ["a", "b"])
    assert model.classes_.tolist() == [-1, 1]


def test_a_stream_whose_weights_overflow_says_so():
    with pytest.raises(ValueError, match="overflowed float64"):
        Perceptron().partial_fit([[1e308], [-1e308]], [1, -1], sample_weight=[10, 10])


@pytest.mark.parametrize("classes", [3.0, "ab", {0, 1}, [[0, 1]]])
@pytest.mark.parametrize("learner", [Perceptron(), KernelPerceptron(gamma=0.5)])
def test_classes_are_a_one_dimensional_array(learner, classes):
    sentence = r"^classes must be a one-dimensional array of the labels of all classes, got .*: give a list, .*\.$"
    with pytest.raises(ParameterError, match=sentence):
        learner.partial_fit([[1.0], [2.0]], [0, 1], classes=classes)
    with pytest.raises(ParameterError, match=sentence):
        learner.fit_stream([([[1.0], [2.0]], [0, 1])], classes=classes)
