"""What theory and other libraries say of the family."""

import warnings
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf

import numpy as np
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import datasets, linear_model
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.utils.fixes import parse_version

from helpers.family_cases import assert_is_twin
from helpers.rational_family import AROW as RationalAROW
from helpers.rational_family import PassiveAggressive as RationalAggressive
from helpers.rational_family import run
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

# What theorems promise of the family, along runs that the learners and their twins make alike.


many = settings(max_examples=60, deadline=None)
small = st.integers(-4, 4)
ROUNDING = 1 + 1e-9


@st.composite
def separable(draw):
    """Whole-number rows that a drawn whole-number vector u puts on their sides, at least 1 from the boundary."""
    d = draw(st.integers(1, 3))
    u = draw(st.lists(small, min_size=d, max_size=d).filter(any))
    rows = draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=2, max_size=12))
    sides = [np.sign(np.dot(u, row)) for row in rows]
    kept = [(row, int(side)) for row, side in zip(rows, sides, strict=True) if side]
    assume({side for _, side in kept} == {-1, 1})
    return np.array([row for row, _ in kept]), np.array([side for _, side in kept]), np.array(u)


@st.composite
def labelled(draw):
    """Whole-number rows with any labels, both of which occur, and any vector u of quarters."""
    d = draw(st.integers(1, 3))
    row = st.tuples(st.lists(small, min_size=d, max_size=d), st.sampled_from([-1, 1]))
    rows = draw(st.lists(row, min_size=2, max_size=12))
    assume({side for _, side in rows} == {-1, 1})
    u = draw(st.lists(small, min_size=d, max_size=d))
    return np.array([x for x, _ in rows]), np.array([side for _, side in rows]), np.array(u) / 4


def aggressive_losses(X, y, C, loss, passes):
    """Train, check that the twin does the same, and return its losses at all visits and the learner's mistakes."""
    options = {"max_iter": passes, "shuffle": False, "fit_intercept": False}
    model = PassiveAggressive(C=C, loss=loss, **options).fit(X, y)
    twin = run(RationalAggressive(C, loss), X, y > 0, passes, fit_intercept=False)
    assert_is_twin(model, twin)
    return np.maximum(0.0, 1.0 - np.array(twin.counts[0].margins)), sum(model.history_["mistakes"])


def losses_of(u, X, y, visits):
    """Return the losses of a fixed vector over so many visits of the rows in turn."""
    return np.resize(np.maximum(0.0, 1.0 - y * (X @ u)), visits)


def longest2(X):
    return float((X**2).sum(axis=1).max())


@many
@given(separable(), st.sampled_from([0.0, 0.5, 1.0, 3.0, 20.0]), st.integers(0, 2**32))
def test_a_margin_perceptron_ends_within_its_bound(case, margin, seed):
    X, y, u = case
    model = MarginPerceptron(margin=margin, fit_intercept=False, max_iter=100_000, random_state=seed).fit(X, y)
    assert model.converged_
    assert min(y * (X @ model.coef_[0])) > margin
    # k gamma <= w u and |w|^2 <= k (R^2 + 2 margin), so k gamma^2 <= (R^2 + 2 margin) |u|^2
    gamma = int(min(y * (X @ u)))
    assert model.n_updates_ * gamma**2 <= (longest2(X) + 2 * margin) * int(u @ u)
    assert model.n_updates_ == sum(model.history_["updates"]) >= sum(model.history_["mistakes"])


@many
@given(separable(), st.integers(1, 4), st.sampled_from(["hinge", "squared_hinge"]))
def test_plain_passive_aggressive_on_separable_rows(case, passes, loss):
    X, y, u = case  # whole numbers: y (u x) >= 1
    losses, _ = aggressive_losses(X, y, inf, loss, passes)
    assert losses[0] == 1.0
    assert (losses**2).sum() <= longest2(X) * (u @ u) * ROUNDING


@many
@given(labelled(), st.sampled_from([0.01, 0.25, 1.0, 10.0]), st.integers(1, 4))
def test_mistakes_of_the_first_kind(case, C, passes):
    X, y, u = case
    losses, mistakes = aggressive_losses(X, y, C, "hinge", passes)
    assert 1 <= mistakes <= (losses >= 1.0).sum()
    theirs = losses_of(u, X, y, len(losses)).sum()
    assert mistakes <= max(longest2(X), 1 / C) * (u @ u + 2 * C * theirs) * ROUNDING


@many
@given(labelled(), st.sampled_from([0.01, 0.25, 1.0, 10.0]), st.integers(1, 4))
def test_losses_of_the_second_kind(case, C, passes):
    X, y, u = case
    losses, _ = aggressive_losses(X, y, C, "squared_hinge", passes)
    theirs = (losses_of(u, X, y, len(losses)) ** 2).sum()
    assert (losses**2).sum() <= (longest2(X) + 1 / (2 * C)) * (u @ u + 2 * C * theirs) * ROUNDING


@many
@given(labelled())
def test_plain_passive_aggressive_meets_the_margin_after_each_update(case):
    X, y, _ = case
    model = PassiveAggressive(C=inf, hypothesis="last", fit_intercept=False)
    for row, label in zip(X, y, strict=True):
        before = model.coef_[0].copy() if hasattr(model, "state_") else np.zeros(X.shape[1])
        model.partial_fit([row], [label], classes=[-1, 1])
        after = label * model.decision_function([row])[0]
        if not row.any() or label * (before @ row) > 1.0 + 1e-9:
            assert model.coef_[0].tolist() == before.tolist()
        else:
            assert after == pytest.approx(1.0, abs=1e-9)


@many
@given(st.lists(st.tuples(st.lists(small, min_size=2, max_size=2), st.integers(0, 3)), min_size=1, max_size=12))
def test_plain_passive_aggressive_leads_its_rival_by_one_after_each_update(rows):
    model = PassiveAggressive(C=inf, hypothesis="last", fit_intercept=False, multi_class="direct")
    for row, label in rows:
        then = model.coef_.copy() if hasattr(model, "state_") else np.zeros((4, 2))
        model.partial_fit([row], [label], classes=range(4))
        scores, after = then @ row, model.coef_ @ row
        best = max(scores[k] for k in range(4) if k != label)
        moved = [k for k in range(4) if model.coef_[k].tolist() != then[k].tolist() and k != label]
        if moved:
            [rival] = moved
            assert scores[rival] == pytest.approx(best, abs=1e-9)
            assert after[label] - after[rival] == pytest.approx(1.0, abs=1e-9)
        else:
            assert not any(row) or scores[label] - best >= 1.0 - 1e-9


@many
@given(labelled(), st.sampled_from([0.1, 1.0, 10.0]), st.booleans())
def test_the_variances_of_arow_only_fall(case, r, bias):
    X, y, _ = case
    model, before = AROW(r=r, fit_intercept=bias), np.ones((1, X.shape[1]))
    for row, label in zip(X, y, strict=True):
        updates = getattr(model, "n_updates_", 0)
        model.partial_fit([row], [label], classes=[-1, 1])
        now, moved = model.variance_, model.n_updates_ > updates
        assert ((now < before) == (moved & (row != 0))).all()
        assert (now > 0).all()
        before = now.copy()
    twin = run(RationalAROW(r), X, y > 0, 1, fit_intercept=bias)
    assert before.tolist() == twin.variance.tolist()
    # S - t^2 / (v + r) >= S - t^2 / (S x^2 + r), so 1 / S grows by x^2 / r at most, and by that where v is S x^2
    moved = X[1.0 - np.array(twin.counts[0].margins) > 0.0]
    least = 1.0 / (1.0 + (moved**2).sum(axis=0) / r)
    assert (before[0] >= least * (1 - 1e-12)).all()
    if X.shape[1] == 1 and not bias:
        assert before[0] == pytest.approx(least, rel=1e-12)


# AROW as its paper has it, in plain floats: within rounding of the learner.


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


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_mean_and_variances_are_those_of_the_paper(load):
    X, y = load(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(len(y))
    X, y = X[mixed] / X.max(axis=0), y[mixed]
    for r, bias in product((0.01, 1.0, 30.0), (True, False)):
        model = AROW(r=r, max_iter=2, shuffle=False, fit_intercept=bias, multi_class="ovr").fit(X, y)
        rows = np.c_[X, np.ones(len(y))] if bias else X
        weights = np.c_[model.coef_, model.intercept_][:, : rows.shape[1]]
        variances = np.c_[model.variance_, model.intercept_variance_][:, : rows.shape[1]]
        assert bias or not model.intercept_.any()
        for k, positive in enumerate(model.classes_[-len(weights) :]):
            mean, variance = arow(rows, np.where(y == positive, 1, -1), r, 2)
            assert weights[k] == pytest.approx(mean, rel=1e-9, abs=1e-9)
            assert variances[k] == pytest.approx(variance, rel=1e-9)


# The weights of ``PassiveAggressive`` are scikit-learn's on dense rows.


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


def peers(C, loss, passes, **options):
    """Return scikit-learn's learners by this rule: one was deprecated in 1.8, the other has it since."""
    shared = {"shuffle": False, "tol": None, "max_iter": passes, **options}
    if parse_version(sklearn.__version__) >= parse_version("1.8"):
        rate = {"hinge": "pa1", "squared_hinge": "pa2"}[loss]
        yield linear_model.SGDClassifier(loss="hinge", penalty=None, learning_rate=rate, eta0=C, **shared)
    if hasattr(linear_model, "PassiveAggressiveClassifier"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield linear_model.PassiveAggressiveClassifier(C=C, loss=loss, **shared)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", SETS)
def test_weights_are_those_of_scikit_learn(name, loss):
    X, y = rows_of(name)
    by_class = np.linspace(0.5, 1.5, len(np.unique(y)))
    two = [{"class_weight": weights} for weights in ({0: 0.3, 1: 1.5}, "balanced")] if len(by_class) == 2 else []
    for C, passes, options, steps in (
        (0.01, 3, {}, None),
        (1.0, 5, {}, None),
        (10.0, 2, {}, None),
        (0.1, 2, {"fit_intercept": False}, None),
        (0.5, 3, {}, by_class[y]),
        *((0.5, 3, one, None) for one in two),
    ):
        given = {"C": C, "loss": loss, "max_iter": passes, "shuffle": False, "multi_class": "ovr"} | options
        ours = [PassiveAggressive(hypothesis="last", **given).fit(X, y, sample_weight=steps)]
        if steps is not None:
            ours.append(PassiveAggressive(hypothesis="last", **given, class_weight=dict(enumerate(by_class))).fit(X, y))
        for peer in peers(C, loss, passes, **options):
            if steps is None:
                peer.fit(X, y)
            elif isinstance(peer, linear_model.SGDClassifier):
                peer.fit(X, y, sample_weight=steps)
            else:
                continue  # it takes no weights of rows
            for model in ours:
                assert model.coef_.shape == peer.coef_.shape
                assert np.abs(model.coef_ - peer.coef_).max() <= 1e-9
                assert np.abs(model.intercept_ - peer.intercept_).max() <= 1e-9
                assert np.abs(model.coef_).max() > 0.01


# Faults of the family that people found, each by the example that showed it.


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


@pytest.mark.parametrize("decay", [1e-30, 1e-18, 1e-12])
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
    model = PassiveAggressive(hypothesis="last", shuffle=False, **options).fit(X, y)
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


@pytest.mark.quick_cases(1)
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
        PassiveAggressive(C=Fraction(1, 10**400), loss="squared_hinge"),
        AveragedPerceptron(decay=Fraction(10**30 - 1, 10**30)),
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
    with pytest.raises(ValueError, match="squared norms of some rows, by which steps are divided, overflow float64"):
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
    with pytest.raises(ValueError, match="a run with learner 'AROW' instead of 'PassiveAggressive'"):
        PassiveAggressive(random_state=0).fit_stream(blocks, checkpoint=tmp_path / "c", resume=True)
    with pytest.raises(ValueError, match=r"a run with decay 0.0 instead of 0.1"):
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
    with pytest.raises(ValueError, match="give a smaller C or smaller sample weights, fit_intercept=False"):
        PassiveAggressive(C=np.inf, random_state=3, max_iter=60).fit(X, y)
    PassiveAggressive(C=np.inf, random_state=3, max_iter=60, fit_intercept=False).fit(X, y)
