"""The code of the page makes the run of the page again, bit for bit."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from helpers.lab_engine import needs_node, run_message
from helpers.lab_library import run
from helpers.lab_states import cloud, many_states, margin_states, name_of, state_of
from rosenblatt import circle_from_plane, data, textbook

pytestmark = needs_node

WIDTH = 100
STATES = [*many_states(), *margin_states()]


def code_of(state):
    """Return the Python that the page shows for a state."""
    return run_message(state)["code"]


def outcome(code, capsys):
    """Return what the code defines, prints and warns of."""
    names = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(code, "<lab>", "exec"), names)
    return names, capsys.readouterr().out, [str(warning.message) for warning in caught]


def check(state, capsys):
    """Check that the code of a state gives its run; return the code, what it defines and what it prints."""
    made = run(state)
    code = code_of(state)
    names, out, warned = outcome(code, capsys)
    assert np.array_equal(names["X"], made.X)
    assert np.array_equal(names["y"], made.y)
    assert bool(warned) == ("# warns" in code), warned
    if state.learner == "restart":
        assert names["w"] == made.w.tolist()
        assert names["b"] == made.b
        assert f"makes {len(made.updates)} update" in code
        return code, names, out
    model = names["model"]
    assert model.n_updates_ == len(made.updates)
    if state.learner == "kernel":
        assert np.array_equal(model.last_dual_coef_, made.model.last_dual_coef_)
        assert np.array_equal(model.support_vectors_, made.model.support_vectors_)
    else:
        assert np.array_equal(model.last_coef_[0], made.w)
        assert model.last_intercept_[0] == made.b
    if state.order == "pick":
        assert f"every point on its side: {made.converged}" in out
    else:
        assert model.converged_ == made.converged
        assert f"converged: {made.converged}" in out
    if state.learner in ("averaged", "pocket"):
        assert np.array_equal(model.coef_, made.model.coef_)
        assert model.intercept_ == made.model.intercept_
    if state.learner == "arow":
        assert np.array_equal(model.variance_, made.model.variance_)
        assert f"their variances: {model.variance_[0]} {model.intercept_variance_[0]}" in out
    return code, names, out


@pytest.mark.quick_cases(70)
@pytest.mark.parametrize("state", STATES, ids=name_of)
def test_it_gives_the_same_bits(state, capsys):
    _, names, out = check(state, capsys)
    assert out
    if len(state.held_out):
        assert names["y_test"].tolist() == state.labels(state.held_out).tolist()
        assert "held out" in out


@pytest.mark.parametrize("learner", ["perceptron", "averaged", "voted", "pocket", "kernel", "restart"])
def test_a_limit_that_was_never_met_is_left_out(learner, capsys):
    X, y = cloud(20)
    state = state_of(X, y, learner=learner, updates=2000, passes=100)
    code, _, _ = check(state, capsys)
    assert ("max_updates" in code) == (learner == "restart")
    code, _, _ = check(replace(state, updates=1), capsys)
    assert "max_updates=1" in code


def test_parameters_that_are_the_learners_own_are_left_out():
    X, y = cloud(20)
    assert "model = Perceptron(random_state=0)\n" in code_of(state_of(X, y))
    assert "model = Perceptron(shuffle=False)\n" in code_of(state_of(X, y, order="fixed", seed=5))
    assert "model = AveragedPerceptron(max_iter=100, " in code_of(state_of(X, y, learner="averaged"))
    assert "model = Perceptron()\n" in code_of(state_of(X, y, order="pick", picks=(1,)))
    fixed = {"order": "fixed", "passes": 10, "updates": 2000}
    assert 'model = PassiveAggressive(hypothesis="last", shuffle=False)\n' in code_of(
        state_of(X, y, learner="pa", **fixed)
    )
    plain = code_of(state_of(X, y, learner="pa", loss="plain", **fixed))
    assert 'model = PassiveAggressive(C=np.inf, hypothesis="last", shuffle=False)\n' in plain
    both = code_of(state_of(X, y, learner="pa", loss="squared_hinge", C=2.0, **fixed))
    assert 'model = PassiveAggressive(C=2.0, loss="squared_hinge", hypothesis="last", shuffle=False)\n' in both
    fixed["passes"] = 5
    assert "model = AROW(r=0.5, shuffle=False)\n" in code_of(state_of(X, y, learner="arow", r=0.5, **fixed))


def test_lines_are_short_whatever_the_points():
    X = np.random.default_rng(0).uniform(-1e6, 1e6, (300, 2))
    code = code_of(state_of(X, np.where(X[:, 0] > 0, 1, -1), [i % 4 == 0 for i in range(300)]))
    assert max(map(len, code.splitlines())) <= WIDTH


def test_the_circle_is_printed_where_there_is_one(capsys):
    X, y = data.make_circle(40, gap=0.3, random_state=0)
    state = state_of(X, y, learner="circle", updates=1000)
    made = run(state)
    _, _, out = check(state, capsys)
    assert str(circle_from_plane(made.w, made.b)) in out
    # both points are at the same place: two updates later the weights are zero
    zero = state_of([[1.0, 0.0], [1.0, 0.0]], [1, -1], learner="circle", updates=2, order="fixed")
    assert not run(zero).w.any()
    code, _, _ = check(zero, capsys)
    assert "circle_from_plane" not in code


def test_sorted_points_are_warned_about_in_a_comment(capsys):
    X, y = data.make_sorted(300, 2, 0.05, 0)
    state = state_of(X, y, order="fixed", passes=2)
    assert "one class all come first" in check(state, capsys)[0]
    picks = state_of(X, y, order="pick", picks=tuple(range(120)))
    assert "one class all come first" in check(picks, capsys)[0]


@pytest.mark.slow
def test_a_restart_that_ran_out_of_visits_ends_where_it_ended(capsys):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[900:], y[900:] = X[:100], -y[:100]
    made = run(state_of(X, y, learner="restart", updates=2000))
    assert not made.converged
    check(state_of(X, y, learner="restart", updates=2000), capsys)
    D = textbook.with_dummy_feature(list(zip(X.tolist(), y.tolist(), strict=True)))
    assert textbook.perceptron_restart(D, len(made.updates)) == [made.b, *made.w.tolist()]


@pytest.mark.parametrize("learner", ["averaged", "voted", "pocket"])
def test_features_of_very_different_size_are_announced(learner, capsys):
    X = np.array([[1e6, 1e-6], [-1e6, 1e-6], [1e-6, -1e6], [3.0, 1.0]])
    state = state_of(
        X, np.array([1, -1, -1, -1]), learner=learner, features=("x", "y", "xy", "x2", "y2", "r2"), passes=5
    )
    code, _, _ = check(state, capsys)
    assert "# warns that features differ widely in size" in code
