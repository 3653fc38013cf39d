"""Runs of the lab are those of the library, bit for bit."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from helpers.lab_engine import needs_node, run, run_message
from helpers.lab_state import feature_columns
from helpers.lab_states import DATA, LINEAR, cloud, many_states, margin_states, name_of, state_of
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
    textbook,
    visiting_order,
)

pytestmark = needs_node

STATES = list(many_states())
BY_PASSES = [s for s in [*STATES, *margin_states()] if s.learner != "restart" and s.order != "pick"]


def by_hand(state):
    """Return the learner as a user would write it."""
    shuffle = {"fixed": False, "once": "once", "each": True}[state.order]
    given = {"max_iter": state.passes, "shuffle": shuffle, "random_state": state.seed, "max_updates": state.updates}
    if state.learner == "kernel":
        shape = {"degree": state.degree, "coef0": 1.0} if state.kernel == "poly" else {}
        return KernelPerceptron(kernel=state.kernel, gamma=state.gamma, hypothesis="last", **shape, **given)
    given["fit_intercept"] = state.bias
    if state.learner == "margin":
        return MarginPerceptron(margin=state.margin, **given)
    if state.learner == "pa":
        limits = {"plain": {"C": np.inf}}.get(state.loss, {"C": state.C, "loss": state.loss})
        return PassiveAggressive(**limits, **given)
    if state.learner == "arow":
        return AROW(r=state.r, **given)
    if state.learner in ("averaged", "voted"):
        return {"averaged": AveragedPerceptron, "voted": VotedPerceptron}[state.learner](**given)
    return Perceptron(hypothesis="pocket" if state.learner == "pocket" else "last", **given)


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.quick_cases(60)
@pytest.mark.parametrize("state", BY_PASSES, ids=name_of)
def test_fit_gives_the_same_bits(state, quiet):
    made = run(state)
    model = by_hand(state).fit(made.X, made.y)
    assert made.converged == model.converged_
    assert len(made.updates) == model.n_updates_
    assert len(made.passes) == model.n_iter_
    if state.learner == "kernel":
        factors = np.zeros(len(made.y))
        np.add.at(factors, made.visits[made.updates], made.y[made.visits[made.updates]])
        assert np.array_equal(factors[model.support_], model.last_dual_coef_[0])
        return
    assert np.array_equal(made.w, model.last_coef_[0])
    assert made.b == model.last_intercept_[0]
    if state.learner in ("averaged", "pocket"):
        message = run_message(state)
        assert message["predicting"] == {"w": model.coef_[0].tolist(), "b": float(model.intercept_[0])}


@pytest.mark.quick_cases(60)
@pytest.mark.parametrize("state", BY_PASSES, ids=name_of)
def test_visits_are_those_of_the_visiting_order(state, quiet):
    made = run(state)
    n = len(made.y)
    given = np.arange(n)
    for p, (start, stop) in enumerate(zip([0, *made.passes], made.passes, strict=False)):
        shuffled = visiting_order(n, state.seed, p if state.order == "each" else 0)
        order = given if state.order == "fixed" else shuffled
        assert np.array_equal(made.visits[start:stop], order[: stop - start])
    assert made.passes[-1] == len(made.visits)


@pytest.mark.quick_cases(60)
@pytest.mark.parametrize("state", [s for s in STATES if s.learner != "kernel"], ids=name_of)
def test_adding_the_updates_up_gives_the_weights(state):
    made = run(state)
    w, b = np.zeros(made.X.shape[1]), 0.0
    updates = set(made.updates.tolist())
    for visit, place in enumerate(made.visits.tolist()):
        x, sign = made.X[place], int(made.y[place])
        pairs = zip(w.tolist(), x.tolist(), strict=True)
        a = Fraction(b) + sum(Fraction(p) * Fraction(q) for p, q in pairs)
        if state.learner != "restart":  # that one rounds, as the textbook does
            assert (sign * a <= 0) == (visit in updates)
        if visit in updates:
            w, b = w + sign * x, b + sign * state.bias
    assert np.array_equal(w, made.w)
    assert b == made.b


@pytest.mark.parametrize("state", [s for s in STATES if s.learner == "restart"], ids=name_of)
def test_the_restart_form_is_the_textbooks(state):
    made = run(state)
    D = list(zip(made.X.tolist(), made.y.tolist(), strict=True))
    D = textbook.with_dummy_feature(D) if state.bias else D
    k = len(made.updates)
    w = textbook.perceptron_restart(D, max_updates=k)
    assert w == ([made.b, *made.w.tolist()] if state.bias else made.w.tolist())
    assert made.converged == (k < state.updates)
    if made.converged:
        assert textbook.perceptron_restart(D, max_updates=state.updates) == w
        assert not made.updates[made.updates >= len(made.visits) - len(D)].size  # the last scan is clean
    starts = np.append(0, made.updates + 1)
    for start, stop in zip(starts, [*starts[1:].tolist(), len(made.visits)], strict=True):
        assert made.visits[start:stop].tolist() == list(range(stop - start))


@pytest.mark.parametrize("learner", [*LINEAR, "margin", "pa", "arow"])
def test_a_limit_of_updates_ends_a_run_in_mid_pass(learner):
    X, y = DATA["noisy"]
    made = run(state_of(X, y, learner=learner, updates=7, order="fixed"))
    assert len(made.updates) == 7
    assert not made.converged
    assert made.passes[-1] == len(made.visits) == made.updates[-1] + 1
    assert len(made.visits) % len(y)


def test_picks_are_visited_as_they_come_and_points_held_out_are_not():
    X, y = cloud(6)
    held = [False, True, False, False, False, False]
    state = state_of(X, y, held, order="pick", picks=(0, 1, 5, 2, 0))
    made = run(state)
    assert state.rows[made.visits].tolist() == [0, 5, 2, 0]
    model = Perceptron()
    for row in (0, 5, 2, 0):
        model.partial_fit(X[[row]], y[[row]], classes=[-1, 1])
    assert np.array_equal(made.w, model.coef_[0])
    assert len(made.updates) == model.n_updates_


def test_picks_end_at_the_limit_of_updates():
    state = state_of([[1.0, 0.0], [2.0, 0.0]], [1, -1], order="pick", picks=(0, 0, 1, 1, 1), updates=2)
    made = run(state)
    assert made.visits.tolist() == [0, 0, 1]
    assert made.updates.tolist() == [0, 2]
    assert made.message["ended"] == "the limit of 2 updates"


def test_picks_need_not_be_of_both_classes():
    made = run(state_of([[1.0, 1.0], [2.0, 0.0]], [1, 1], order="pick", picks=(0, 1)))
    assert made.updates.tolist() == [0]
    assert made.converged


def test_one_feature_and_the_zero_point_without_a_bias():
    made = run(state_of([[0.0, 5.0], [1.0, 5.0]], [-1, 1], features=("x",), bias=False, order="fixed", passes=4))
    assert made.w.tolist() == [1.0]
    assert made.updates.tolist() == [0, 1, 2, 4, 6]  # zero is on the boundary for ever
    assert not made.converged


def test_the_pocket_after_each_pass_makes_as_many_mistakes_as_it_says():
    X, y = DATA["noisy"]
    message = run_message(state_of(X, y, learner="pocket", passes=9))
    assert len(message["pocket"]) == len(message["passes"])
    for pocket in message["pocket"]:
        wrong = y * (X @ pocket["w"] + pocket["b"]) <= 0
        assert pocket["mistakes"] == wrong.sum()
    assert message["predicting"] == {name: message["pocket"][-1][name] for name in ("w", "b")}


def waiting(state):
    return run_message(state)["waiting"]


def test_what_is_missing_is_said():
    X, y = cloud(6)
    assert "Place a point" in waiting(state_of(np.empty((0, 2)), np.empty(0, dtype=int)))
    assert "held out" in waiting(state_of(X[:1], [1], [True]))
    assert "orange triangle" in waiting(state_of(X[:1], [1]))
    assert "blue disc" in waiting(state_of(X[:1], [-1]))
    assert "feature" in waiting(state_of(X, y, features=()))
    assert "Pick" in waiting(state_of(X, y, order="pick"))
    held = [True, *[False] * 5]
    assert "Pick" in waiting(state_of(X, y, held, order="pick", picks=(0, 0)))  # not one to learn from
    assert waiting(state_of(X, y, held, order="pick", picks=(0, 1))) == ""
    assert "another order" in waiting(state_of(X, y, order="pick", learner="pocket", picks=(0,)))
    assert waiting(state_of(X, y)) == ""


def test_the_circle_sees_its_own_features():
    X, y = cloud(6)
    state = state_of(X, y, learner="circle", features=("xy",))
    assert np.array_equal(run(state).X, feature_columns(X, ("x", "y", "r2")))
