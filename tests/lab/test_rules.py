"""Learners that also update where a point is right by too little: what the page is told is what the library did."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from helpers.lab_page import state_with
from helpers.lab_states import BY_MARGIN, DATA, FOUR, cloud, many_states, margin_states, name_of, state_of
from rosenblatt import MarginPerceptron, PassiveAggressive
from rosenblatt.lab.errors import error_message
from rosenblatt.lab.learning import SHUFFLE, run, run_message
from rosenblatt.lab.rules import mistaken_visits, replay, rule_message
from rosenblatt.lab.state import LabState
from rosenblatt.lab.state_fields import BY_MARGIN as LEARNERS
from rosenblatt.lab.theory import theory_message

STATES = list(margin_states())
BY_PASSES = [state for state in STATES if state.order != "pick"]


def exact_activations(state, made):
    """Return y a of each visit, as fractions, by the weights that the updates before it made."""
    weights = replay(state, made).weights
    rows = np.column_stack([made.X, np.full(len(made.X), float(state.bias))])
    made_before = np.searchsorted(made.updates, np.arange(len(made.visits)))
    for place, k in zip(made.visits.tolist(), made_before.tolist(), strict=True):
        pairs = zip(weights[k].tolist(), rows[place].tolist(), strict=True)
        yield int(made.y[place]) * sum(Fraction(w) * Fraction(x) for w, x in pairs)


@pytest.mark.parametrize("state", STATES, ids=name_of)
def test_adding_the_steps_up_gives_the_weights(state):
    made = run(state)
    assert replay(state, made).weights[-1].tolist() == [*made.w.tolist(), made.b]
    assert len(made.steps) == len(made.updates)


@pytest.mark.parametrize("state", STATES, ids=name_of)
def test_mistakes_are_those_of_exact_sums(state):
    made = run(state)
    wrong = [visit for visit, a in enumerate(exact_activations(state, made)) if a <= 0]
    assert mistaken_visits(state, made).tolist() == wrong


@pytest.mark.parametrize("state", BY_PASSES, ids=name_of)
def test_mistakes_and_updates_of_each_pass_are_those_of_the_report(state):
    made = run(state)
    told = made.model.report_
    for visits, by_pass in (
        (mistaken_visits(state, made), told.mistakes_by_pass),
        (made.updates, told.updates_by_pass),
    ):
        counts, _ = np.histogram(visits, bins=[0, *(end - 0.5 for end in made.passes)])
        assert counts.tolist() == by_pass


@pytest.mark.parametrize("state", STATES, ids=name_of)
def test_updates_and_steps_are_those_of_the_rule(state):
    made = run(state)
    step = dict(zip(made.updates.tolist(), made.steps.tolist(), strict=True))
    for visit, a in enumerate(exact_activations(state, made)):
        x = made.X[made.visits[visit]]
        if state.learner == "margin":
            assert (float(a) <= state.margin) == (visit in step)
            assert step.get(visit, 1.0) == 1.0
            continue
        if abs(1 - a) > 1e-9 and (state.learner == "arow" or x.any() or state.loss == "squared_hinge"):
            assert (a < 1) == (visit in step)
        if visit in step and state.learner == "pa" and 1 - a > 1e-6:
            whole = float(1 - a) / (float(x @ x) + (0.5 / state.C if state.loss == "squared_hinge" else 0.0))
            assert step[visit] == pytest.approx(min(whole, state.C if state.loss == "hinge" else np.inf))


def test_the_message_says_what_the_page_needs():
    X, y = cloud(12)
    for chosen in BY_MARGIN:
        message = run_message(state_of(X, y, passes=3, **chosen))
        rule = message["rule"]
        json.dumps(message, allow_nan=False)
        assert rule["kind"] == chosen["learner"]
        assert rule["threshold"] == chosen.get("margin", 1.0)
        assert len(rule["steps"]) == len(message["updates"])
        assert (rule["variance"] is not None) == (rule["r"] is not None) == (rule["kind"] == "arow")
        assert rule["loss"] == (chosen.get("loss", "hinge") if rule["kind"] == "pa" else None)
        assert rule["C"] == (chosen.get("C") if rule["kind"] == "pa" else None)


def test_perceptrons_have_no_rule():
    for state in many_states():
        if state.learner not in LEARNERS and len(state.points) < 6:
            assert rule_message(state, run(state)) is None


def test_a_point_at_zero_is_a_mistake_that_makes_no_passive_aggressive_update():
    state = state_of([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], [-1, 1, -1], learner="pa", order="fixed", passes=2)
    made = run(state)
    assert 0 not in made.updates
    assert 0 in mistaken_visits(state, made)
    assert not made.converged
    assert run_message(state, made)["ended"] == "the limit of 2 passes"


def test_a_margin_run_ends_with_a_pass_without_an_update():
    message = run_message(state_with(FOUR, learner="margin", margin=5.0, order="fixed"))
    assert message["ended"] == "a pass without an update"
    assert message["updates"] == [0, 1, 2, 3, 6]  # by hand: w = (5, 3), b = -1
    assert message["rule"]["mistakes"] == [0]
    assert (message["w"], message["b"]) == ([5.0, 3.0], -1.0)
    model = MarginPerceptron(margin=5.0, shuffle=False).fit([point[:2] for point in FOUR], [1, 1, -1, -1])
    assert message["w"] == model.coef_[0].tolist()


# theory


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("margin", [0.0, 0.5, 20.0])
def test_the_bound_of_a_margin_perceptron_holds(margin, bias):
    X, y = cloud(20)
    X, y = X[np.abs(X @ [1.0, -0.7]) > 1.5], y[np.abs(X @ [1.0, -0.7]) > 1.5]
    y = np.where(X @ [1.0, -0.7] > 0, 1, -1)
    state = state_of(X, y, learner="margin", margin=margin, bias=bias, passes=2000, updates=2000)
    made = run(state)
    bound = theory_message(state, made)["bound"]
    assert made.converged
    assert bound["bound"] == pytest.approx((bound["R"] ** 2 + 2 * margin) / bound["gamma"] ** 2)
    assert len(made.updates) <= bound["bound"]
    plain = replace(state, learner="perceptron")
    assert theory_message(plain, run(plain))["bound"]["bound"] <= bound["bound"]


@pytest.mark.parametrize("learner", ["pa", "arow"])
@pytest.mark.parametrize("data", ["separable", "noisy"])
def test_steps_that_differ_have_no_bound(learner, data):
    X, y = DATA[data]
    state = state_of(X, y, learner=learner, passes=3)
    found = theory_message(state, run(state))
    assert found["bound"]["bound"] is None
    assert found["bound"]["why"].startswith("No bound on the updates")
    assert (found["bound"]["gamma"] is not None) == (data == "separable")
    assert found["verdict"] == theory_message(replace(state, learner="perceptron"), run(state))["verdict"]


# errors


@pytest.mark.parametrize("order", ["fixed", "each"])
def test_errors_are_those_of_models_trained_for_as_many_passes(order):
    X, y = DATA["noisy"]
    held = np.array([i % 4 == 1 for i in range(len(y))])
    state = state_of(X, y, held, learner="pa", C=0.1, order=order, passes=4, seed=2, updates=2000)
    found = error_message(state)
    assert list(found["train"]) == list(found["test"]) == ["last", "average"]
    for hypothesis in ("last", "average"):
        for p in found["passes"]:
            model = PassiveAggressive(
                C=0.1, hypothesis=hypothesis, max_iter=p, shuffle=SHUFFLE[order], random_state=2
            ).fit(X[~held], y[~held])
            for shares, some in ((found["train"], ~held), (found["test"], held)):
                wrong = (model.predict(X[some]) != y[some]) | model.on_boundary(X[some])
                assert shares[hypothesis][p - 1] == wrong.mean()


# states


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("margin", -1),
        ("margin", 1e7),
        ("C", 0),
        ("C", True),
        ("r", 0),
        ("r", "1"),
        ("loss", "squared"),
        ("learner", "PA"),
    ],
)
def test_parameters_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"'{name}' must be"):
        LabState.from_plain({"version": 1, name: value})


def test_an_old_state_has_the_defaults_of_the_library():
    state = LabState.from_plain({"version": 1, "points": [[1, 2, 1], [0, 0, -1]]})
    assert (state.margin, state.C, state.loss, state.r) == (1.0, 1.0, "hinge", 10.0)
