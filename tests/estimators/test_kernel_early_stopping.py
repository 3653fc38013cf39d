"""Early stopping, copies and scikit-learn's tools on a kernel perceptron."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags

from helpers.kernel_sets import assert_same_updates, model_for, tied_set, twin_of
from helpers.naive_kernel import Kernel
from helpers.naive_kernel_answers import answers
from rosenblatt import KernelPerceptron
from rosenblatt.training.batches import held_out

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

POLY = Kernel("poly", 2, 0.5, 1.0)


@pytest.mark.parametrize("hypothesis", ["last", "average", "vote"])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
def test_the_best_pass_is_kept(hypothesis, classes, multi_class):
    X, y = tied_set("ties", n=45, classes=classes, seed=4)
    direct, patience, most = multi_class == "direct", 2, 5
    options = {"hypothesis": hypothesis, "multi_class": multi_class, "random_state": 3, "max_iter": most}
    model = model_for(POLY, early_stopping=True, validation_fraction=0.25, n_iter_no_change=patience, **options)
    model.fit(X, y)
    held = held_out(0, len(y), 3, 0.25)
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


def test_going_on_with_early_stopping():
    X, y = tied_set("ties", n=60, seed=4)
    options = {"early_stopping": True, "validation_fraction": 0.25, "n_iter_no_change": 3, "random_state": 3}
    whole = model_for(POLY, max_iter=5, **options).fit(X, y)
    model = model_for(POLY, max_iter=1, warm_start=True, **options)
    for _ in range(5):
        model.fit(X, y)
    assert_same_updates(model, whole)
    assert model.history_.tolist() == whole.history_.tolist()


def test_rows_held_out_need_every_class():
    with pytest.raises(ValueError, match="early stopping cannot hold out"):
        model_for(POLY, early_stopping=True).fit([[1.0], [2.0], [3.0]], [0, 1, 0])


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


def test_clone_copies_parameters_only():
    model = KernelPerceptron(kernel="laplacian", gamma=0.5, max_support=30, cache_size=5, random_state=0)
    X, y = tied_set("ties")
    other = clone(model.fit(X, y))
    assert other.get_params() == model.get_params()
    assert not hasattr(other, "state_")
    names = {"kernel", "degree", "gamma", "coef0", "hypothesis", "cache_size", "max_support", "device"}
    assert names <= set(model.get_params())
    assert "fit_intercept" not in model.get_params()


def test_the_parameters_have_their_documented_defaults():
    expected = {
        "kernel": "poly",
        "degree": 3,
        "gamma": "scale",
        "coef0": 1.0,
        "hypothesis": "average",
        "max_iter": 10,
        "shuffle": True,
        "random_state": None,
        "max_updates": None,
        "warm_start": False,
        "early_stopping": False,
        "validation_fraction": 0.1,
        "n_iter_no_change": 5,
        "class_weight": None,
        "multi_class": "ovr",
        "cache_size": 1000,
        "max_support": None,
        "device": None,
        "n_jobs": None,
        "verbose": 0,
    }
    assert KernelPerceptron().get_params() == expected


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
