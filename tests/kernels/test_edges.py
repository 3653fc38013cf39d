"""What passes have to notice at the edges: rows that are no numbers, sums in doubt, averages of long ago."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rosenblatt import AROW, AveragedPerceptron, KernelPerceptron, MarginPerceptron, PassiveAggressive, Perceptron


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_a_row_that_holds_no_number_is_refused_wherever_it_is(form, classes, multi_class):
    rng = np.random.default_rng(0)
    for place, value in ((0, np.nan), (11, np.inf), (29, -np.inf), (5, np.nan)):
        X, y = rng.integers(-2, 3, (30, 4)).astype(float), np.arange(30) % classes
        X[place, 2] = value
        for learner in (Perceptron, MarginPerceptron, PassiveAggressive, AROW):
            model = learner(max_iter=2, multi_class=multi_class, random_state=0)
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                model.fit(form(X), y)


ZEROS, HUGE = np.zeros((6, 1)), np.full((12, 1), 1.5e308)
ALTERNATING, LATE = np.arange(6) % 2, np.arange(12) // 10
NO_SHUFFLE = {"shuffle": False, "max_iter": 1}
OVERFLOWS = {
    "the bias": (PassiveAggressive(C=1e150, loss="squared_hinge", **NO_SHUFFLE), ZEROS, np.arange(6) % 3, None),
    "the cached bias": (Perceptron(**NO_SHUFFLE), 0.0 * HUGE, LATE, np.full(12, 5e307)),
    "the average alone": (AveragedPerceptron(decay=1e-10, fit_intercept=False, **NO_SHUFFLE), HUGE, LATE, None),
    "a step on zeros": (
        PassiveAggressive(C=1.7e308, loss="squared_hinge", fit_intercept=False, **NO_SHUFFLE),
        ZEROS,
        ALTERNATING,
        None,
    ),
    "the sum of steps": (MarginPerceptron(margin=1e308, fit_intercept=False), ZEROS, ALTERNATING, np.full(6, 1e308)),
    "a squared norm": (AROW(r=1e-300), HUGE, LATE, None),
    "a coefficient": (KernelPerceptron(kernel="linear"), ZEROS, ALTERNATING, np.full(6, 1e308)),
    "a mean": (KernelPerceptron(gamma=1.0, multi_class="direct"), ZEROS, ALTERNATING, np.full(6, 1e307)),
}


@pytest.mark.parametrize("what", OVERFLOWS)
def test_what_overflows_is_refused_in_every_layout_and_in_streams(what):
    model, X, y, weights = OVERFLOWS[what]
    for form in (np.asarray, sp.csr_array):
        more = {} if weights is None else {"sample_weight": weights}
        block = (form(X), y) if weights is None else (form(X), y, weights)
        for train in (
            lambda model: model.fit(form(X), y, **more),  # noqa: B023 - called at once
            lambda model: model.partial_fit(form(X), y, classes=np.unique(y), **more),  # noqa: B023
            lambda model: model.fit_stream([block]),  # noqa: B023
        ):
            with pytest.raises(ValueError, match=r"overflow(ed)? float64: .*(scale the features|smaller|weight)"):
                train(clone(model))
    if weights is None:
        with pytest.raises(ValueError, match=r"overflow(ed)? float64"):
            learn_one_by_one(clone(model), X, y)


def learn_one_by_one(model, X, y):
    for row, label in zip(X, y.tolist(), strict=True):
        model.learn_one({"x": row[0]}, label)


def test_large_numbers_that_do_not_overflow_are_accepted_in_every_layout():
    X, y = np.array([[1e300], [-1e300], [0.0]]), [1, 0, 1]
    for learner in (Perceptron, AveragedPerceptron, MarginPerceptron):
        dense, sparse = (learner(max_iter=3, random_state=0).fit(form(X), y) for form in (np.asarray, sp.csr_array))
        assert np.isfinite(dense.coef_).all()
        assert np.array_equal(dense.coef_, sparse.coef_)
        assert np.array_equal(dense.intercept_, sparse.intercept_)


def in_doubt():
    """Return a weight, a value and a bias whose activation is lost to rounding by a twelfth, and the exact activation.

    The product of the first two lies halfway between two floats, and the bias takes away all but the last digits. What
    is left is above the rounding bound of the product, but not above that of the product and the bias.
    """
    w, x = 1.0 + 2.0**-27, 1.0 + 2.0**-26
    b = -(w * x) + 6.0 * 2.0**-52
    exact = Fraction(w) * Fraction(x) + Fraction(b)
    assert w * x + b == 6.0 * 2.0**-52
    assert exact == Fraction(13, 2**53)
    return w, x, b, float(exact)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_an_activation_in_doubt_is_the_exact_sum(form):
    w, x, b, exact = in_doubt()
    model = Perceptron().fit([[10.0], [-10.0]], [1, 0], coef_init=[w], intercept_init=b)
    assert (model.n_updates_, float(model.coef_[0, 0]), float(model.intercept_[0])) == (0, w, b)
    assert model.decision_function(form(np.array([[x], [-x]])))[0] == exact


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_a_margin_in_doubt_is_half_of_the_exact_one(form):
    w, x, b, exact = in_doubt()
    model = Perceptron().fit(form(np.array([[x], [-x]])), [1, 0], coef_init=[w], intercept_init=b)
    assert (model.n_updates_, model.converged_) == (0, True)
    assert model.report_.margin_low == pytest.approx(0.5 * exact / np.hypot(w, b), rel=1e-6, abs=0)


@pytest.mark.parametrize("decay", [0.5, 0.9])
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_an_average_that_decays_is_the_weighted_mean_of_all_weights(decay, multi_class):
    """Over so many visits that what was cached long ago is scaled several times."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    for form in (np.asarray, sp.csr_array):
        model = AveragedPerceptron(decay=decay, multi_class=multi_class)
        mean = 0.0
        for i in range(len(y)):
            model.partial_fit(form(X[i : i + 1]), y[i : i + 1], classes=[0, 1, 2])
            total = 1.0 - (1.0 - decay) ** (i + 1)
            mean = mean + (model.last_coef_ - mean) * (decay / total)
        np.testing.assert_allclose(model.average_coef_, mean, rtol=1e-9, atol=1e-12)
