"""Faults of the family that people found, each by the example that showed it."""

from fractions import Fraction

import numpy as np
import pytest

from rosenblatt import (
    AROW,
    AveragedPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    load,
    save,
    separability,
)
from rosenblatt.kernels.rules import _compound, average_share


@pytest.mark.parametrize(("decay", "n"), [(0.99, 256), (0.5, 1024), (0.5, 2048), (0.1, 8192)])
def test_averages_that_forget_are_numbers_after_powers_of_two(decay, n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    model = AveragedPerceptron(decay=decay, shuffle=False, max_iter=1).fit(X, y)
    assert np.isfinite(model.coef_).all()


@pytest.mark.filterwarnings("ignore:the first 256 rows")
def test_an_update_after_a_long_gap_leaves_numbers():
    model = AveragedPerceptron(decay=0.99, shuffle=False, fit_intercept=False)
    model.partial_fit([[1.0]], [1], classes=[0, 1]).partial_fit(np.ones((255, 1)), [1] * 255)
    model.partial_fit([[1.0]], [0]).partial_fit([[1.0]], [0])
    assert np.isfinite(model.average_coef_).all()


def test_compound_growth_ends_in_infinity():
    assert _compound(1.0, 1024) == np.inf
    assert _compound(1.0, 3) == 7.0
    assert average_share(0.5, 1024.0, 32.0) == 1.0


@pytest.mark.parametrize("decay", [1e-30, 1e-18])
def test_hardly_any_decay_is_a_plain_mean(decay):
    X, y = [[1.0], [-1.0], [0.5], [-0.25]], [0, 1, 0, 1]
    plain = AveragedPerceptron(shuffle=False).fit(X, y)
    model = AveragedPerceptron(shuffle=False, decay=decay).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_)
    assert model.state_.counters["epoch"].tolist() == [0.0]


@pytest.mark.parametrize(
    ("X", "y", "options"),
    [
        ([[0.0, 0.0], [-1.0, -5.0], [4.0, 2.0], [-1.0, 2.0]], [1, 0, 0, 1], {"C": np.inf, "max_iter": 1000}),
        ([[0, 0], [2, 0], [-2, 0]], [1, 1, 0], {"C": 0.3, "max_iter": 100}),
    ],
)
def test_rows_that_cannot_be_moved_count_in_the_margin(X, y, options):
    model = PassiveAggressive(shuffle=False, **options).fit(X, y)
    low = model.report_.margin_low
    signs = 2.0 * np.array(y) - 1.0
    length = np.hypot(np.linalg.norm(model.coef_), model.intercept_[0])
    assert model.converged_
    assert low <= (signs * model.decision_function(X)).min() / length * (1 + 1e-12)
    assert low <= separability(X, y).margin_high


def test_the_bound_knows_rows_without_weights():
    X, y = np.array([[1.0, 0.1], [-0.9, 0.2]]), [1, 0]
    model = MarginPerceptron(margin=50, warm_start=True, fit_intercept=False, shuffle=False, max_iter=10_000)
    model.fit(X, y, sample_weight=[0.001, 0.001]).fit(X, y)
    fresh = MarginPerceptron(margin=50, fit_intercept=False, shuffle=False, max_iter=10_000).fit(X, y)
    assert fresh.n_updates_ <= model.report_.bound


@pytest.mark.parametrize("learner", [AROW, MarginPerceptron, PassiveAggressive])
def test_a_best_pass_keeps_its_own_counters(learner, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    shared = {"decay": 0.9, "hypothesis": "average", "max_iter": 12, "random_state": 0, "warm_start": True}
    model = learner(early_stopping=True, n_iter_no_change=4, **shared).fit(X, y)
    save(model, tmp_path / "a.model")
    loaded = load(tmp_path / "a.model")
    for one, other in zip(model._early_stopping_state, loaded._early_stopping_state, strict=True):
        one, other = (getattr(state, "state", state) for state in (one, other))
        assert one.counters.tobytes() == other.counters.tobytes()
    assert model.fit(X, y).coef_.tobytes() == loaded.fit(X, y).coef_.tobytes()


def test_files_have_what_was_trained(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 > 0, 1, -1)
    for model, change in (
        (AveragedPerceptron(decay=0.3), {"decay": 0.0}),
        (PassiveAggressive(C=0.3), {"C": 5.0}),
        (PassiveAggressive(C=0.3, loss="squared_hinge"), {"loss": "hinge"}),
        (AROW(r=0.3), {"r": 5.0}),
        (MarginPerceptron(margin=0.3, hypothesis="average"), {"margin": 5.0}),
    ):
        model.set_params(random_state=0).fit(X, y)
        before = model.average_coef_, model.get_params()
        save(model.set_params(**change), tmp_path / "a.model")
        loaded = load(tmp_path / "a.model")
        assert loaded.average_coef_.tobytes() == before[0].tobytes()
        assert {name: loaded.get_params()[name] for name in change} == {name: before[1][name] for name in change}


@pytest.mark.parametrize(
    ("weights", "r"), [([1, 1, 1, 1e-310], 10.0), ([0.1] * 4, 1e308), ([1, 1, 1, 1e300], 1e-300), ([5e-324] * 4, 1.0)]
)
def test_variances_stay_numbers(weights, r):
    X = [[1.0, 2.0], [-1.0, 0.5], [2.0, 1.0], [0.0, 0.0]]
    for fit_intercept in (True, False):
        model = AROW(r=r, fit_intercept=fit_intercept, shuffle=False).fit(X, [1, 0, 1, 1], sample_weight=weights)
        assert np.isfinite(model.variance_).all()
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    "model",
    [
        AveragedPerceptron(decay=1e-310),
        AROW(r=Fraction(1, 10**400)),
        AROW(r=10**400),
        PassiveAggressive(C=Fraction(1, 10**400), loss="squared_hinge"),
        AveragedPerceptron(decay=Fraction(10**30 - 1, 10**30)),
        MarginPerceptron(margin=10**400),
    ],
)
def test_numbers_that_no_float_is_near_are_refused(model):
    with pytest.raises(ValueError, match="must be"):
        model.fit([[1.0], [-1.0]], [1, 0])


def test_large_whole_numbers_can_be_saved(tmp_path):
    model = AROW(r=10**30).fit([[1.0], [-1.0]], [1, 0])
    save(model, tmp_path / "a.model")
    assert load(tmp_path / "a.model").r == 1e30


@pytest.mark.parametrize("learner", [AROW, PassiveAggressive])
def test_squared_lengths_beyond_the_floats_are_one_sentence(learner):
    with pytest.raises(ValueError, match="squared lengths of some rows are beyond the range of floats"):
        learner().fit([[1e160], [-1e160]], [1, 0])


def test_a_margin_of_zero_is_a_perceptron_at_the_end_of_the_range():
    X, y = [[1e200], [-1e200]], [1, 0]
    one, other = (
        learner.fit(X, y).report_ for learner in (Perceptron(shuffle=False), MarginPerceptron(0, shuffle=False))
    )
    assert (one.margin_low, one.margin_high) == (other.margin_low, other.margin_high)
    assert np.isfinite(MarginPerceptron(shuffle=False).fit(X, y).report_.margin_low)


def test_a_checkpoint_of_another_learner_is_named(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    blocks = [(X, y)]

    def stop(model):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        AROW(random_state=0).fit_stream(blocks, on_pass=stop, checkpoint=tmp_path / "c", every=0.0)
    with pytest.raises(ValueError, match="a run with learner 'AROW' and not 'PassiveAggressive'"):
        PassiveAggressive(random_state=0).fit_stream(blocks, checkpoint=tmp_path / "c", resume=True)
    with pytest.raises(ValueError, match=r"a run with decay 0.0 and not 0.1"):
        AROW(random_state=0, decay=0.1).fit_stream(blocks, checkpoint=tmp_path / "c", resume=True)


def test_an_integer_beyond_all_floats_is_no_limit_for_c_and_refused_elsewhere():
    X, y = [[1.0], [-1.0], [2.0]], [1, 0, 1]
    huge = PassiveAggressive(C=10**400, shuffle=False).fit(X, y)
    assert np.array_equal(huge.coef_, PassiveAggressive(C=np.inf, shuffle=False).fit(X, y).coef_)
    for model in (AROW(r=10**400), MarginPerceptron(margin=10**400), AROW(r=np.inf)):
        with pytest.raises(ValueError, match="must be a finite number"):
            model.fit(X, y)


def test_weights_that_outgrow_the_floats_because_of_short_rows_are_not_blamed_on_the_scale():
    X = np.random.default_rng(1).uniform(-1, 1, (300, 3))
    y = np.random.default_rng(2).integers(0, 2, 300)
    with pytest.raises(ValueError, match="give a smaller C or smaller weights of rows, fit_intercept=False"):
        PassiveAggressive(C=np.inf, random_state=3, max_iter=60).fit(X, y)
    PassiveAggressive(C=np.inf, random_state=3, max_iter=60, fit_intercept=False).fit(X, y)
