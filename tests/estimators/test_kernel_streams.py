"""The kernel perceptron on streams, resumed, and with early stopping."""

import copy
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags

from helpers.dying_runs import Blocks, Crash
from helpers.examples import held_out
from helpers.kernel_sets import (
    SOME_KERNELS,
    assert_same_run,
    assert_same_updates,
    kernel_name,
    model_for,
    tied_set,
    twin_of,
)
from helpers.naive_kernel import Kernel, Values, against_rest, run_one
from helpers.naive_kernel_answers import answers
from rosenblatt import AROW, KernelPerceptron
from rosenblatt.training.run import TrainingRun

# fit, fit_stream, warm_start and partial_fit of a kernel perceptron agree, in any chunking.


some_kernels = pytest.mark.parametrize("kernel", SOME_KERNELS, ids=kernel_name)
competition = pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
POLY = Kernel("poly", 2, 0.5, 1.0)


def cut(X, y, size, weights=None):
    parts = [slice(i, i + size) for i in range(0, len(y), size)]
    return [(X[p], y[p]) if weights is None else (X[p], y[p], weights[p]) for p in parts]


# chunks


@pytest.mark.quick_cases(3)
@some_kernels
@competition
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_any_chunking_is_one_pass(kernel, classes, multi_class, layout):
    X, y = tied_set("ties", n=24, classes=classes)
    steps = np.random.default_rng(0).choice([0.0, 0.1, 1.0], len(y))
    twin = twin_of(kernel, X, y, classes, shuffle=False, passes=1, steps=steps, direct=multi_class == "direct")
    whole = model_for(kernel, shuffle=False, max_iter=1, random_state=0, multi_class=multi_class)
    whole.fit(layout(X), y, sample_weight=steps)
    assert_same_run(whole, twin)
    for cuts in ([], [1, 2, 3], [10, 17], list(range(1, 24))):
        model = model_for(kernel, {"block": 7}, multi_class=multi_class, random_state=0)
        for start, stop in itertools.pairwise([0, *cuts, 24]):
            rows, weights = layout(X[start:stop]), steps[start:stop]
            model.partial_fit(rows, y[start:stop], classes=range(classes), sample_weight=weights)
        for k, classifier in enumerate(twin):
            made = model.state_.updates_of(k)
            assert model.support_[made.members].tolist() == [update.row for update in classifier.updates]
            assert made.visits.tolist() == [update.visits for update in classifier.updates]
        assert model.n_updates_ == whole.n_updates_
        assert not model.converged_
        for hypothesis in ("last", "average", "vote"):
            model.set_params(hypothesis=hypothesis)
            whole.set_params(hypothesis=hypothesis)
            assert model.predict(X).tolist() == whole.predict(X).tolist()


@pytest.mark.parametrize("cuts", [[20], [10, 20, 35], list(range(1, 45))])
def test_a_class_that_comes_late_starts_at_its_first_row(cuts):
    X, y = tied_set("ties", n=45)
    y = np.array(["b", "d"])[y]
    late = {25: "a", 30: "c"}
    for row, label in late.items():
        y[row::5] = label
    model = model_for(POLY, {"block": 7})
    for start, stop in itertools.pairwise([0, *cuts, 45]):
        model.partial_fit(X[start:stop], y[start:stop])
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    starts = {label: row for row, label in late.items()}
    for k, label in enumerate(model.classes_.tolist()):
        signs = np.where(y == label, 1, -1).tolist()
        first = starts.get(label, 0)
        twin = run_one(against_rest(Values(POLY, X), signs), 1, orders=lambda p, first=first: range(first, 45))
        made = model.state_.updates_of(k)
        assert model.support_[made.members].tolist() == [update.row for update in twin.updates]
        assert made.steps.tolist() == [update.step for update in twin.updates]
        assert made.visits.tolist() == [update.visits for update in twin.updates]


def test_a_late_class_competes_directly():
    X, y = tied_set("ties", n=45)
    y = y + 1
    y[25::4] = 0
    models = []
    for cuts in ([20], [20, 26, 27], list(range(2, 45))):
        model = model_for(POLY, multi_class="direct", random_state=0)
        for start, stop in itertools.pairwise([0, *cuts, 45]):
            model.partial_fit(X[start:stop], y[start:stop])
        models.append(model)
    for other in models[1:]:
        assert model.classes_.tolist() == [0, 1, 2]
        for ours, theirs in zip(models[0].state_.updates_of(0), other.state_.updates_of(0), strict=True):
            assert ours.tolist() == theirs.tolist()
        assert other.predict(X).tolist() == models[0].predict(X).tolist()


def test_one_class_is_enough_for_a_stream():
    model = KernelPerceptron(gamma=1.0).partial_fit([[1.0], [2.0]], ["only", "only"])
    assert model.predict([[5.0], [-5.0]]).tolist() == ["only", "only"]
    model.partial_fit([[-3.0]], ["other"])
    assert model.classes_.tolist() == ["only", "other"]


@competition
@pytest.mark.parametrize("max_support", [1, 6])
def test_a_budget_for_a_stream_that_never_ends(classes, multi_class, max_support):
    X, y = tied_set("ties", n=60, classes=classes)
    direct = multi_class == "direct"
    twin = twin_of(POLY, X, y, classes, shuffle=False, passes=1, max_support=max_support, direct=direct)
    for size in (1, 7, 60):
        model = model_for(POLY, {"block": 5}, max_support=max_support, multi_class=multi_class)
        for rows, labels in cut(X, y, size):
            model.partial_fit(rows, labels, classes=range(classes))
        for k, classifier in enumerate(twin):
            made = model.state_.updates_of(k)
            assert model.support_[made.members].tolist() == [update.row for update in classifier.updates]
        assert len(model.support_) <= max_support * len(twin)
        expected = answers(twin, "average", POLY, classes, (X, y, None), X)
        assert model.predict(X).tolist() == [answer.label for answer in expected]


# going on


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote", "pocket"])
@pytest.mark.parametrize("shuffle", [True, False, "once"])
@competition
def test_k_fits_of_one_pass_are_one_fit_of_k(hypothesis, shuffle, classes, multi_class):
    X, y = tied_set("ties", n=60, classes=classes, seed=4)
    options = {"hypothesis": hypothesis, "shuffle": shuffle, "random_state": 3, "multi_class": multi_class}
    for more in ({}, {"early_stopping": True, "validation_fraction": 0.25, "n_iter_no_change": 3}):
        whole = model_for(POLY, max_iter=5, **options, **more).fit(X, y)
        model = model_for(POLY, {"block": 7}, max_iter=1, warm_start=True, **options, **more)
        for _ in range(5):
            model.fit(X, y)
        assert_same_updates(model, whole)
        assert model.n_iter_ == whole.n_iter_
        assert model.history_.tolist() == whole.history_.tolist()
        assert model.predict(X).tolist() == whole.predict(X).tolist()


def test_going_on_with_other_rows():
    X, y = tied_set("ties", n=40)
    model = model_for(POLY, {"block": 7}, max_iter=1, warm_start=True, shuffle=False)
    model.fit(X[:20], y[:20]).fit(X[20:], y[20:])
    (twin,) = twin_of(POLY, X, y, 2, shuffle=False, passes=1)
    made = model.state_.updates_of(0)
    assert model.support_vectors_[made.members].tolist() == [X[update.row].tolist() for update in twin.updates]
    assert made.visits.tolist() == [update.visits for update in twin.updates]
    for hypothesis in ("last", "average", "vote"):
        expected = answers([twin], hypothesis, POLY, 2, (X, y, None), X)
        assert model.set_params(hypothesis=hypothesis).predict(X).tolist() == [answer.label for answer in expected]


@pytest.mark.parametrize(("name", "value"), [("kernel", "rbf"), ("degree", 4), ("gamma", 2.0), ("coef0", 0.0)])
def test_the_kernel_may_not_change_on_the_way(name, value):
    X, y = tied_set("ties")
    model = model_for(POLY, max_iter=1, warm_start=True).fit(X, y).set_params(**{name: value})
    for go_on in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=f"{name} has changed since"):
            go_on(X, y)


# blocks


@pytest.mark.quick_cases(4)
@some_kernels
@competition
@pytest.mark.parametrize("shuffle", [False, True])
def test_any_cut_is_fit(kernel, classes, multi_class, shuffle):
    X, y = tied_set("ties", n=24, classes=classes)
    weights = np.random.default_rng(0).choice([0.5, 0.1, 1.0], len(y))
    options = {"max_iter": 3, "shuffle": shuffle, "random_state": 1, "multi_class": multi_class}
    in_memory = model_for(kernel, **options).fit(X, y, sample_weight=weights)
    for size, layout in ((1, np.asarray), (7, sp.csr_array), (13, lambda X: X.astype(np.float32)), (100, np.asarray)):
        model = model_for(kernel, {"block": 5}, **options).fit_stream(cut(layout(X), y, size, weights))
        assert_same_updates(model, in_memory)
        assert model.predict(X).tolist() == in_memory.predict(X).tolist()


def test_columns_may_come_up_late():
    X, y = tied_set("ties", n=30, d=5)
    X = np.where(np.arange(5) < np.arange(2, 32)[:, None], X, 0.0)
    blocks = [(sp.csr_array(X[i : i + 2, : min(5, i + 3)]), y[i : i + 2]) for i in range(0, 30, 2)]
    in_memory = model_for(POLY, max_iter=3, shuffle=False).fit(X, y)
    model = model_for(POLY, max_iter=3, shuffle=False).fit_stream(blocks)
    assert_same_updates(model, in_memory)
    assert model.support_vectors_.shape == (len(model.support_), 5)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote"])
@pytest.mark.parametrize(
    "options", [{"shuffle": False}, {}, {"early_stopping": True, "n_iter_no_change": 2}, {"multi_class": "direct"}]
)
def test_a_run_that_dies_goes_on_with_the_same_updates(hypothesis, options, tmp_path, monkeypatch):
    monkeypatch.setattr(TrainingRun, "window", 64)
    rng = np.random.default_rng(0)
    X, y = Blocks(1).data
    rows = X[:180], y[:180] % 3
    kernel = Kernel("poly", 2, 0.01, 1.0)
    options = {"max_iter": 3, "random_state": 1, "hypothesis": hypothesis, **options}
    whole = model_for(kernel, **options).fit_stream(Blocks(60, data=rows))
    crashes = 0
    while True:
        blocks = Blocks(int(rng.choice([20, 60])), int(rng.integers(4, 16)), rows)
        model = model_for(kernel, **options)
        try:
            model.fit_stream(blocks, checkpoint=tmp_path / "run", every=0, resume=True)
            break
        except Crash:
            crashes += 1
            assert crashes < 60
    assert crashes
    assert_same_updates(model, whole)
    assert model.predict(X).tolist() == whole.predict(X).tolist()


# Early stopping, copies and scikit-learn's tools on a kernel perceptron.


@pytest.mark.parametrize("hypothesis", ["last", "average", "vote"])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
def test_the_best_pass_is_kept(hypothesis, classes, multi_class):
    X, y = tied_set("ties", n=45, classes=classes, seed=4)
    direct, patience, most = multi_class == "direct", 2, 5
    options = {"hypothesis": hypothesis, "multi_class": multi_class, "random_state": 3, "max_iter": most}
    model = model_for(POLY, early_stopping=True, validation_fraction=0.25, n_iter_no_change=patience, **options)
    model.fit(X, y)
    held = held_out(y, 3, 0.25)
    skipped = np.flatnonzero(held).tolist()
    errors, best, since = [], None, 0
    while len(errors) < most and since < patience:
        run = twin_of(POLY, X, y, classes, seed=3, passes=len(errors) + 1, skipped=skipped, direct=direct)
        found = answers(run, hypothesis, POLY, classes, (X, y, None), X[held])
        error = float(np.mean([answer.label != label for answer, label in zip(found, y[held], strict=True)]))
        clean = all(classifier.clean[-1] for classifier in run)
        if not errors or error < min(errors) or (clean and error == min(errors)):
            best, since = run, 0
        else:
            since += 1
        errors.append(error)
        if clean:
            break
    assert model.history_["validation_error"].tolist() == errors
    for k, classifier in enumerate(best):
        made = model.state_.updates_of(k)
        assert model.support_[made.members].tolist() == [update.row for update in classifier.updates]
        assert made.visits.tolist() == [update.visits for update in classifier.updates]
    assert not set(model.support_.tolist()) & set(skipped)
    expected = answers(best, hypothesis, POLY, classes, (X, y, None), X)
    assert model.predict(X).tolist() == [answer.label for answer in expected]


@pytest.mark.parametrize("copied", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy])
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote"])
def test_a_copy_goes_on_with_the_same_updates(copied, hypothesis):
    X, y = tied_set("decimals", n=40, classes=3)
    straight = KernelPerceptron(kernel="rbf", gamma=0.5, hypothesis=hypothesis, random_state=0)
    straight.partial_fit(X[:20], y[:20], classes=range(3))
    other = copied(straight)
    other.average_dual_coef_, other.predict(X), other.report_  # reading disturbs nothing
    straight.partial_fit(X[20:], y[20:])
    assert len(other.support_) < len(straight.support_)
    assert_same_updates(other.partial_fit(X[20:], y[20:]), straight)
    assert other.predict(X).tolist() == straight.predict(X).tolist()


def test_in_a_pipeline_a_grid_and_with_values_given():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    pipeline = make_pipeline(MinMaxScaler(), KernelPerceptron(kernel="rbf", max_iter=3, random_state=0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    grid = GridSearchCV(KernelPerceptron(max_iter=3, random_state=0), {"degree": [2, 3]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.9
    given = KernelPerceptron(kernel="precomputed", max_iter=3, random_state=0)
    assert get_tags(given).input_tags.pairwise
    assert not get_tags(KernelPerceptron()).input_tags.pairwise
    assert cross_val_score(given, (X @ X.T) ** 2, y, cv=3).mean() > 0.9


# blocks that become wider


def dot_products(X, Z):
    return np.asarray((X @ Z.T).toarray() if sp.issparse(X) and sp.issparse(Z) else X @ Z.T)


WIDENING = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 1, "gamma": 0.5, "coef0": 0.25},
    {"kernel": "poly", "degree": 3, "gamma": 0.1},
    {"kernel": "rbf", "gamma": 0.1},
    {"kernel": "laplacian", "gamma": 0.1},
    {"kernel": "sigmoid", "gamma": 0.1},
    {"kernel": dot_products},
]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("kernel", WIDENING, ids=lambda options: str(options["kernel"]).split()[0])
@pytest.mark.parametrize("more", [{}, {"max_support": 4, "multi_class": "direct"}])
def test_blocks_may_become_wider(kernel, more):
    rng = np.random.default_rng(1)
    parts = [rng.integers(-2, 3, (20, d)).astype(float) for d in (2, 2, 5, 6)]
    labels = [rng.integers(0, 3, 20) for _ in parts]
    padded = [np.pad(part, ((0, 0), (0, 6 - part.shape[1]))) for part in parts]

    def fitted(rows, once, **options):
        blocks = list(zip(rows, labels, strict=True))
        options = {"shuffle": False, "random_state": 0, "max_iter": 1 if once else 3} | kernel | more | options
        return KernelPerceptron(**options).fit_stream(iter(blocks) if once else blocks, classes=[0, 1, 2])

    X = np.concatenate(padded)
    for once, shuffle in ((True, False), (True, True), (False, False), (False, True)):
        whole = fitted([sp.csr_array(part) for part in padded], once, shuffle=shuffle)
        rows = [[sp.csr_array(part) for part in parts]]
        if once and kernel["kernel"] is not dot_products:  # in a second pass, dense rows would be too narrow
            rows.append([parts[0], parts[1], sp.csr_array(parts[2]), sp.csr_array(parts[3])])
            rows.append([sp.csr_array(parts[0]), parts[1], sp.csr_array(parts[2]), sp.csr_array(parts[3])])
        for some in rows:
            model = fitted(some, once, shuffle=shuffle)
            assert model.n_features_in_ == 6
            assert model.support_.tolist() == whole.support_.tolist()
            assert model.support_vectors_.shape == whole.support_vectors_.shape
            assert not (model.support_vectors_ != whole.support_vectors_).sum()
            assert np.array_equal(model.average_dual_coef_, whole.average_dual_coef_)
            assert model.predict(X).tolist() == whole.predict(X).tolist()
            assert model.n_updates_ == whole.n_updates_


def test_auto_gamma_of_a_generator_is_one_through_its_width():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 5)), np.arange(20) % 2
    for classes in (None, [0, 1]):
        for rows in (X, sp.csr_array(X)):
            model = KernelPerceptron(gamma="auto", max_iter=1, shuffle=False)
            model.fit_stream(iter([(rows[:5], y[:5]), (rows[5:], y[5:])]), classes=classes)
            whole = KernelPerceptron(gamma="auto", max_iter=1, shuffle=False).fit(X, y)
            assert model.gamma_ == whole.gamma_ == 0.2
            assert np.array_equal(model.dual_coef_, whole.dual_coef_)
    narrow, wide = sp.csr_array(X[:, :3]), sp.csr_array(X)
    for shuffle in (False, True):
        model = KernelPerceptron(gamma="auto", max_iter=1, shuffle=shuffle)
        with pytest.raises(ValueError, match=r"a later block has more features .*: give gamma as a number"):
            model.fit_stream(iter([(narrow, y), (wide, y)]))
        assert not hasattr(model, "state_")
        model.set_params(max_iter=2).fit_stream([(narrow, y), (wide, y)])  # the width is known before training
        assert model.gamma_ == 0.2


@pytest.mark.parametrize(
    "model", [KernelPerceptron(max_iter=2, random_state=0), AROW(r="scale", max_iter=2, random_state=0)], ids=repr
)
def test_a_parameter_that_depends_on_the_rows_is_found_where_a_class_comes_late(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.repeat([0, 1, 2], 10)
    late = model.fit_stream([(X[:20], y[:20]), (X[20:], y[20:])]).decision_function(X)
    assert np.array_equal(late, model.fit_stream([(X, y)]).decision_function(X))
