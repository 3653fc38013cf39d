"""Errors after each pass are those of the library's learners trained for as many passes."""

import warnings

import numpy as np
import pytest

from helpers.lab_engine import ask, needs_node, run
from helpers.lab_library import SHUFFLE
from helpers.lab_state import feature_columns
from helpers.lab_states import DATA, cloud, state_of
from rosenblatt import KernelPerceptron, Perceptron, textbook

pytestmark = needs_node

MOST_PASSES = 60
HELD = [i % 4 == 1 for i in range(30)]


def error_message(state):
    return ask("errors", state.to_plain())


def shares_by_hand(state, passes, hypothesis):
    """Return the shares wrong of a new model for each number of passes, on the training and the held-out points."""
    X, y = (feature_columns(state.coordinates(state.rows), state.feature_names), state.labels(state.rows))
    X_test = feature_columns(state.coordinates(state.held_out), state.feature_names)
    y_test = state.labels(state.held_out)
    given = {"shuffle": SHUFFLE[state.order], "random_state": state.seed, "max_updates": state.updates}
    train, test = [], []
    for p in passes:
        if state.learner == "kernel":
            model = KernelPerceptron(kernel="rbf", gamma=state.gamma, hypothesis=hypothesis, max_iter=p, **given)
        else:
            model = Perceptron(hypothesis=hypothesis, max_iter=p, fit_intercept=state.bias, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        for shares, rows, labels in ((train, X, y), (test, X_test, y_test)):
            shares.append(float(np.mean((model.predict(rows) != labels) | model.on_boundary(rows))))
    return train, test


@pytest.mark.parametrize("order", ["fixed", "once", "each"])
@pytest.mark.parametrize("learner", ["perceptron", "averaged", "pocket", "circle", "kernel"])
def test_they_are_those_of_models_trained_for_as_many_passes(learner, order):
    X, y = DATA["noisy"]
    state = state_of(X, y, HELD, learner=learner, order=order, passes=6, updates=70, seed=2)
    found = error_message(state)
    assert found["passes"] == list(range(1, len(run(state).passes) + 1))
    assert found["why"] == ""
    for hypothesis in ("last", "average", "vote"):
        train, test = shares_by_hand(state, found["passes"], hypothesis)
        assert found["train"][hypothesis] == train
        assert found["test"][hypothesis] == test


def test_a_point_on_the_boundary_is_wrong():
    found = error_message(state_of([[0.0, 0.0], [1.0, 0.0]], [-1, 1], bias=False, order="fixed", passes=3))
    assert found["train"]["last"] == [0.5, 0.5, 0.5]
    assert found["train"]["vote"] == [0.5, 0.5, 0.5]


def test_the_vote_is_the_textbooks():
    X, y = DATA["noisy"]
    X, y = X.round(0), y
    found = error_message(state_of(X, y, order="fixed", passes=3))
    D = list(zip(X.astype(int).tolist(), y.tolist(), strict=True))
    for p in (1, 2, 3):
        voters = textbook.voted_perceptron_train(D, p)
        wrong = [textbook.voted_perceptron_test(voters, x, boundary=0) != label for x, label in D]
        assert found["train"]["vote"][p - 1] == np.mean(wrong)


def test_without_points_held_out_there_is_no_test_error():
    X, y = cloud()
    found = error_message(state_of(X, y))
    assert found["test"] is None
    assert found["train"]["last"][-1] == 0.0


def test_many_passes_are_thinned_and_the_first_and_the_last_are_scored():
    X, y = DATA["noisy"]
    state = state_of(X, y, passes=100, updates=2000)
    found = error_message(state)
    assert len(found["passes"]) == MOST_PASSES == len(found["train"]["vote"])
    assert found["passes"][0] == 1
    assert found["passes"][-1] == len(run(state).passes)
    assert found["passes"] == sorted(set(found["passes"]))


@pytest.mark.parametrize("chosen", [{"learner": "restart"}, {"order": "pick", "picks": (0, 1)}, {"features": ()}])
def test_where_there_are_no_passes_it_says_why(chosen):
    X, y = cloud()
    found = error_message(state_of(X, y, **chosen))
    assert found["passes"] == []
    assert found["why"].endswith(".")
    assert found["train"] == {"last": [], "average": [], "vote": []}
