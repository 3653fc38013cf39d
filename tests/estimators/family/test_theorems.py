"""What theorems promise of the family, along runs that the learners and their twins make alike.

Margin perceptron: a short proof after Novikoff's. Passive-aggressive: Crammer, Dekel, Keshet, Shalev-Shwartz and
Singer 2006, theorems 2, 4 and 5, for weights without an intercept; a run of several passes is a longer sequence.
"""

from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.family_cases import assert_is_twin
from helpers.rational_family import AROW as RationalAROW
from helpers.rational_family import MarginPerceptron as RationalMargin
from helpers.rational_family import PassiveAggressive as RationalAggressive
from helpers.rational_family import run
from rosenblatt import AROW, MarginPerceptron, PassiveAggressive

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

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
@given(separable(), st.sampled_from([0.5, 2.0]), st.integers(1, 4))
def test_a_margin_perceptron_grows_slowly(case, margin, passes):
    X, y, _ = case
    model = MarginPerceptron(margin=margin, fit_intercept=False, max_iter=passes, shuffle=False).fit(X, y)
    assert_is_twin(model, run(RationalMargin(margin), X, y > 0, passes, fit_intercept=False))
    w = model.coef_[0]
    assert w @ w <= model.n_updates_ * (longest2(X) + 2 * margin)


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
    model = PassiveAggressive(C=inf, fit_intercept=False)
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
    model = PassiveAggressive(C=inf, fit_intercept=False, multi_class="direct")
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
