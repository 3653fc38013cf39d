"""The rescaled perceptron as an estimator: tiny margins, and a verdict where nothing separates."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import distance
from rosenblatt.data import make_separable, make_xor
from rosenblatt.estimators.rescaled import RescaledPerceptron
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([RescaledPerceptron(max_rescalings=20)])
@pytest.mark.slow
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("margin", [1e-2, 1e-8, 1e-12])
def test_tiny_margins(margin, fit_intercept):
    X, y = make_separable(500, 10, margin, random_state=0)
    model = RescaledPerceptron(fit_intercept=fit_intercept, random_state=0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert model.n_updates_ < 5000
    assert (model.n_rescalings_ > 0) == (margin < 1e-2 or model.n_updates_ > 25)
    assert (model.intercept_[0] == 0) == (not fit_intercept)
    assert isinstance(model.verdict_, Separable if fit_intercept else MarginBracket)
    assert model.verdict_.check(X, y)
    prefix = "margin_" if fit_intercept else ""
    low, high = (getattr(model.verdict_, prefix + end) for end in ("low", "high"))
    assert 0 < low <= high
    assert high >= margin
    assert fit_intercept or low <= margin * (1 + 1e-9)


def test_breast_cancer_is_separable():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), RescaledPerceptron(random_state=0)).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model[-1].n_updates_ < 3000
    raw = RescaledPerceptron(random_state=0).fit(X, y)
    assert raw.converged_
    assert raw.verdict_.check(X, y)


def test_one_digit_of_ten_is_not():
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="no hyperplane separates the two classes, as verdict_ proves with"):
        model = RescaledPerceptron(random_state=0).fit(X, y == 8)
    assert not model.converged_
    assert isinstance(model.verdict_, Inseparable)
    assert model.verdict_.check(X, y == 8)
    assert model.score(X, y == 8) > 0.95


def test_three_classes_have_three_verdicts():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    words = "any of the classes 'versicolor', 'virginica' from the rest, as verdict_.class. proves with at most"
    with pytest.warns(ConvergenceWarning, match=words):
        model = RescaledPerceptron(random_state=0).fit(X, names)
    assert [type(model.verdict_[name]) for name in model.classes_] == [Separable, Inseparable, Inseparable]
    assert model.verdict_.check(X, names)
    assert not model.converged_
    assert model.score(X, names) > 0.7
    assert model.decision_function(X).shape == (150, 3)


def test_three_classes_that_separate():
    corners = np.array([[0.0, 0], [9, 0], [0, 9]])
    X = np.vstack([corners, corners + 1e-3])
    y = [0, 1, 2, 0, 1, 2]
    model = RescaledPerceptron(random_state=0).fit(X, y)
    assert model.converged_
    assert model.predict(X).tolist() == y
    assert model.verdict_.check(X, y)


def test_xor_is_not_separable():
    X, y = make_xor()
    with pytest.warns(ConvergenceWarning, match="misclassify 2 of 4 rows|misclassify 1 of 4"):
        model = RescaledPerceptron(random_state=0).fit(X, y)
    assert model.verdict_.check(X, y)
    assert model.verdict_.support.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_hands_over_to_the_verdict_and_takes_its_separator(fit_intercept):
    X, y = make_separable(200, 5, 1e-6, random_state=0)
    model = RescaledPerceptron(fit_intercept=fit_intercept, max_rescalings=0).fit(X, y)
    assert model.n_rescalings_ == 0
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert model.verdict_.check(X, y)


def test_decimals_that_are_not_quite_collinear():
    X, y = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]]), [1, -1, 1]
    model = RescaledPerceptron(random_state=0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert model.verdict_.margin_high < 1e-16


def test_no_plane_through_the_origin_separates_the_origin():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]]), [0, 1, 1]
    words = "no hyperplane through the origin separates the two classes, as verdict_ proves with one row: .* 1 of 3"
    with pytest.warns(ConvergenceWarning, match=words):
        model = RescaledPerceptron(fit_intercept=False).fit(X, y)
    assert model.verdict_.high == -np.inf
    assert model.verdict_.check(X, y)
    assert model.predict(X).tolist() == y, "the rows that can be are separated, and a tie is the first class"
    assert model.on_boundary(X).tolist() == [True, False, False]


@pytest.mark.parametrize("as_given", [np.array, sp.csr_array])
@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2]])
def test_rows_of_zeros_alone_are_inseparable_through_the_origin(labels, as_given):
    X = as_given(np.zeros((len(labels), 1)))
    with pytest.warns(ConvergenceWarning, match=r"no hyperplane through the origin separates .* misclassify"):
        model = RescaledPerceptron(fit_intercept=False).fit(X, labels)
    assert not model.converged_
    assert not model.coef_.any()
    assert model.verdict_.check(X, labels)
    assert (model.n_updates_, model.n_iter_) == (0, 0)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_learn_the_same(fit_intercept):
    X, y = make_separable(100, 6, 1e-4, random_state=1)
    X[np.abs(X) < 0.1] = 0.0
    options = {"fit_intercept": fit_intercept, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dense = RescaledPerceptron(**options).fit(X, y)
        sparse = RescaledPerceptron(**options).fit(sp.csr_array(X), y)
    assert dense.n_updates_ == sparse.n_updates_
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-6)
    assert sparse.verdict_.check(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(sp.csr_array(X)))


def test_works_with_the_geometry_of_other_models():
    X, y = make_separable(50, 3, 0.1, random_state=0)
    model = RescaledPerceptron(random_state=0).fit(X.astype(np.float32), y)
    assert (y * distance(model, X.astype(np.float32)) > 0).all()


def test_the_seed_repeats_a_run():
    X, y = make_separable(100, 5, 1e-6, random_state=0)
    one, two = (RescaledPerceptron(random_state=7).fit(X, y) for _ in range(2))
    assert one.seed_ == 7
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert RescaledPerceptron(random_state=8).fit(X, y).n_updates_ != one.n_updates_


def test_verbose_says_what_each_phase_left(capsys):
    X, y = make_separable(100, 5, 1e-6, random_state=0)
    model = RescaledPerceptron(verbose=1, random_state=0).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == model.n_rescalings_ + 1
    assert lines[-1] == f"1: {model.n_rescalings_} rescalings, {model.n_updates_} updates, every row on its side"


@pytest.mark.parametrize("options", [{"fit_intercept": "yes"}, {"max_rescalings": -1}, {"random_state": -1}])
def test_refuses_what_cannot_be_meant(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must"):
        RescaledPerceptron(**options).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="at least two classes"):
        RescaledPerceptron().fit([[0.0], [1.0]], [1, 1])
