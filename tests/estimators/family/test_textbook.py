"""AROW as its paper has it, in plain floats: within rounding of the learner."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from rosenblatt import AROW

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def arow(X, signs, r, passes):
    """Return the mean and the variances of Crammer, Kulesza and Dredze 2009, figure 1, with a diagonal matrix.

    Of the matrix after an update only the diagonal is kept.
    """
    mean, matrix = np.zeros(X.shape[1]), np.eye(X.shape[1])
    for _ in range(passes):
        for x, y in zip(X, signs, strict=True):
            margin, confidence = y * (mean @ x), x @ matrix @ x
            if margin < 1.0:
                beta = 1.0 / (confidence + r)
                mean = mean + (1.0 - margin) * beta * y * (matrix @ x)
                matrix = np.diag(np.diag(matrix - beta * np.outer(matrix @ x, x @ matrix)))
    return mean, np.diag(matrix)


@pytest.mark.parametrize("r", [0.01, 1.0, 30.0])
def test_two_classes(r):
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    model = AROW(r=r, max_iter=2, shuffle=False).fit(X, y)
    mean, variance = arow(np.c_[X, np.ones(len(y))], 2 * y - 1, r, 2)
    assert [*model.coef_[0], *model.intercept_] == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert [*model.variance_[0], *model.intercept_variance_] == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("r", [0.1, 3.0])
def test_each_class_against_the_rest(r):
    X, y = load_iris(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(len(y))
    X, y = X[mixed], y[mixed]
    model = AROW(r=r, max_iter=3, shuffle=False, fit_intercept=False, multi_class="ovr").fit(X, y)
    for k in range(3):
        mean, variance = arow(X, np.where(y == k, 1, -1), r, 3)
        assert model.coef_[k] == pytest.approx(mean, rel=1e-9, abs=1e-9)
        assert model.variance_[k] == pytest.approx(variance, rel=1e-9)
    assert model.intercept_.tolist() == [0.0, 0.0, 0.0]
