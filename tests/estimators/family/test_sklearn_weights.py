"""The weights of ``PassiveAggressive`` are scikit-learn's on dense rows.

All columns are divided by their largest magnitude, and 1e-9 is the largest difference of a weight, absolute. Rows are
visited as they come. The weight of a class counts for its rows; scikit-learn's does so for two classes only, so for
more classes the same is asked of it as weights of rows.
"""

import warnings
from functools import cache

import numpy as np
import pytest
import sklearn
from sklearn import datasets, linear_model
from sklearn.utils.fixes import parse_version

from rosenblatt import PassiveAggressive

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CLOSE = 1e-9
DEPRECATED = getattr(linear_model, "PassiveAggressiveClassifier", None)
RATES = {"hinge": "pa1", "squared_hinge": "pa2"}

MADE = {
    "two classes": {"n_samples": 300, "n_features": 12, "random_state": 0},
    "noisy": {"n_samples": 300, "n_features": 20, "flip_y": 0.2, "random_state": 1},
    "four classes": {"n_samples": 300, "n_features": 15, "n_informative": 6, "n_classes": 4, "random_state": 2},
    "wide": {"n_samples": 60, "n_features": 200, "n_informative": 10, "random_state": 3},
    "far from zero": {"n_samples": 200, "n_features": 8, "shift": 3.0, "random_state": 4},
    "unequal": {"n_samples": 300, "n_features": 10, "weights": [0.9, 0.1], "random_state": 5},
}
LOADED = ("iris", "wine", "breast_cancer", "digits")
SETS = [*LOADED, *MADE]


@cache
def rows_of(name):
    """Return the rows of a set, each column divided by its largest magnitude, in a mixed order, and their labels."""
    if name in LOADED:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        mixed = np.random.default_rng(0).permutation(len(y))[:600]
        X, y = X[mixed], y[mixed]
    else:
        X, y = datasets.make_classification(**MADE[name])
    return X / np.maximum(np.abs(X).max(axis=0), 1e-300), y


sgd_has_the_rule = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"), reason="SGDClassifier has this rule from 1.8 on"
)


def theirs(C, loss, passes, **options):
    """Return scikit-learn's learner by its lasting name, ``SGDClassifier``."""
    return linear_model.SGDClassifier(
        loss="hinge",
        penalty=None,
        learning_rate=RATES[loss],
        eta0=C,
        shuffle=False,
        tol=None,
        max_iter=passes,
        **options,
    )


def ours(C, loss, passes, **options):
    return PassiveAggressive(C=C, loss=loss, shuffle=False, max_iter=passes, multi_class="ovr", **options)


def assert_close(one, other):
    assert one.coef_.shape == other.coef_.shape
    assert np.abs(one.coef_ - other.coef_).max() <= CLOSE
    assert np.abs(one.intercept_ - other.intercept_).max() <= CLOSE
    assert np.abs(one.coef_).max() > 0.01


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", SETS)
def test_passive_aggressive_classifier(name, loss):
    if DEPRECATED is None:
        pytest.skip("this scikit-learn has no PassiveAggressiveClassifier any more")
    X, y = rows_of(name)
    for C, passes in ((0.01, 3), (1.0, 1), (1.0, 5), (10.0, 2)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            other = DEPRECATED(C=C, loss=loss, shuffle=False, tol=None, average=False, max_iter=passes)
        assert_close(ours(C, loss, passes).fit(X, y), other.fit(X, y))


@sgd_has_the_rule
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", SETS)
def test_stochastic_gradient_descent(name, loss):
    X, y = rows_of(name)
    for C, passes in ((0.1, 2), (1.0, 3)):
        for bias in (True, False):
            other = theirs(C, loss, passes, fit_intercept=bias).fit(X, y)
            assert_close(ours(C, loss, passes, fit_intercept=bias).fit(X, y), other)


@sgd_has_the_rule
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", ["breast_cancer", "unequal"])
def test_weights_of_two_classes(name, loss):
    X, y = rows_of(name)
    for by_class in ({0: 0.3, 1: 1.5}, "balanced"):
        other = theirs(0.5, loss, 3, class_weight=by_class).fit(X, y)
        assert_close(ours(0.5, loss, 3, class_weight=by_class).fit(X, y), other)


@sgd_has_the_rule
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", ["iris", "wine", "four classes"])
def test_weights_of_several_classes_are_weights_of_their_rows(name, loss):
    X, y = rows_of(name)
    by_class = np.linspace(0.5, 1.5, len(np.unique(y)))
    other = theirs(0.5, loss, 3).fit(X, y, sample_weight=by_class[y])
    assert_close(ours(0.5, loss, 3, class_weight=dict(enumerate(by_class))).fit(X, y), other)
    assert_close(ours(0.5, loss, 3).fit(X, y, sample_weight=by_class[y]), other)
