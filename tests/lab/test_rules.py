"""Learners that also update where a point is right by too little: what the page is told is what the library did."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.lab_engine import ask, needs_node, run, run_message
from helpers.lab_library import SHUFFLE
from helpers.lab_page import state_with
from helpers.lab_state import BY_MARGIN as LEARNERS
from helpers.lab_states import BY_MARGIN, DATA, FOUR, cloud, many_states, state_of
from rosenblatt import MarginPerceptron, PassiveAggressive

pytestmark = needs_node


def test_the_message_says_what_the_page_needs():
    X, y = cloud(12)
    for chosen in BY_MARGIN:
        message = run_message(state_of(X, y, passes=3, **chosen))
        rule = message["rule"]
        assert rule["kind"] == chosen["learner"]
        assert rule["threshold"] == chosen.get("margin", 1.0)
        assert len(rule["steps"]) == len(message["updates"])
        assert (message["variances"] is not None) == (rule["r"] is not None) == (rule["kind"] == "arow")
        assert rule["loss"] == (chosen.get("loss", "hinge") if rule["kind"] == "pa" else None)
        assert rule["C"] == (chosen.get("C") if rule["kind"] == "pa" else None)


def test_perceptrons_have_no_rule():
    for state in many_states():
        if state.learner not in LEARNERS and len(state.points) < 6:
            assert run_message(state)["rule"] is None


def test_a_point_at_zero_is_a_mistake_that_makes_no_passive_aggressive_update():
    state = state_of([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], [-1, 1, -1], learner="pa", order="fixed", passes=2)
    made = run(state)
    assert 0 not in made.updates
    assert 0 in made.message["rule"]["mistakes"]
    assert not made.converged
    assert made.message["ended"] == "the limit of 2 passes"


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
    bound = made.message["theory"]["bound"]
    assert made.converged
    assert bound["bound"] == pytest.approx((bound["R"] ** 2 + 2 * margin) / bound["gamma"] ** 2)
    assert len(made.updates) <= bound["bound"]
    plain = replace(state, learner="perceptron")
    assert run_message(plain)["theory"]["bound"]["bound"] <= bound["bound"]


@pytest.mark.parametrize("learner", ["pa", "arow"])
@pytest.mark.parametrize("data", ["separable", "noisy"])
def test_steps_that_differ_have_no_bound(learner, data):
    X, y = DATA[data]
    state = state_of(X, y, learner=learner, passes=3)
    found = run_message(state)["theory"]
    assert found["bound"]["bound"] is None
    assert found["bound"]["why"].startswith("No bound on the updates")
    assert (found["bound"]["gamma"] is not None) == (data == "separable")
    assert found["verdict"] == run_message(replace(state, learner="perceptron"))["theory"]["verdict"]


# errors


@pytest.mark.parametrize("order", ["fixed", "each"])
def test_errors_are_those_of_models_trained_for_as_many_passes(order):
    X, y = DATA["noisy"]
    held = np.array([i % 4 == 1 for i in range(len(y))])
    state = state_of(X, y, held, learner="pa", C=0.1, order=order, passes=4, seed=2, updates=2000)
    found = ask("errors", state.to_plain())
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
        ask("run", {"version": 1, name: value})
