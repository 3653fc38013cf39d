"""The page's engine and the library, side by side on random states: every visit, update and bit of a weight."""

import math

import numpy as np
import pytest

from helpers.lab_engine import ask, needs_node
from helpers.lab_library import error_message, run, run_message, waiting
from helpers.lab_random import random_points, random_state
from rosenblatt import dataset_margin, margin
from rosenblatt.circles.shapes import Circle, HalfSpace
from rosenblatt.theory.convergence.bounds import novikoff, squared_radius
from rosenblatt.theory.vc import dichotomies, vc_dimension, why_not
from rosenblatt.theory.verdicts import MarginBracket

pytestmark = needs_node

FEW, MANY = 300, 5000
SIZES = [FEW, pytest.param(MANY, marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", SIZES)
def test_runs_errors_and_verdicts_are_those_of_the_library(n):
    rng = np.random.default_rng(n)
    states = [random_state(rng) for _ in range(n)]
    counts = {}
    for state in states:
        kind = compare(state)
        counts[state.learner, kind] = counts.get((state.learner, kind), 0) + 1
    print(f"{n} states: {counts}")
    assert {learner for learner, kind in counts if kind != "waiting"} >= {"perceptron", "kernel", "arow", "restart"}


def compare(state):
    """Check the engine's answers about a state; return the kind of its verdict, or "waiting"."""
    with np.errstate(all="ignore"):
        expected = {"waiting": waiting(state)} if waiting(state) else run_message(state, run(state))
    found = ask("run", state.to_plain())
    theory = found.pop("theory", None)
    found.pop("code", None)
    assert found == expected, state
    assert ask("errors", state.to_plain()) == error_message(state), state
    if expected["waiting"]:
        return "waiting"
    X, y = np.array(expected["features"]), np.array(expected["signs"])
    places = {row: place for place, row in enumerate(expected["rows"])}
    verdict, bound = theory["verdict"], theory["bound"]
    if state.learner == "kernel":
        check_kernel(state, verdict, bound)
        return "kernel"
    kind = "augmented" if state.bias else "homogeneous"
    bracket = dataset_margin(X, y, kind=kind)
    assert (verdict["kind"] == "separable") == (bracket.low > 0), state
    if verdict["kind"] == "inseparable":
        check_proof(
            X, y, kind, {places[row]: int(weight) for row, weight in ask("proof", state.to_plain())}, verdict, places
        )
        assert bound["gamma"] is None
    else:
        check_separable(state, X, y, verdict)
        check_bound(state, X, bound, bracket)
    return verdict["kind"]


def check_proof(X, y, kind, weights, verdict, places):
    """Check the proof that no hyperplane separates with the library's own certificate."""
    alpha, rows = np.zeros(len(y)), sorted(weights)
    assert [places[row] for row in verdict["support"]] == rows
    alpha[rows] = verdict["weights"]
    assert len(rows) <= X.shape[1] + 2
    positive = y.max().item()
    exact = tuple(weights[row] for row in rows)
    if positive < 0:
        y = -y  # one class: its label is the positive one
    certificate = MarginBracket(-math.inf, -math.inf, np.zeros(X.shape[1]), 0.0, alpha, kind, positive, exact)
    assert certificate.check(X, y)
    if verdict["common"] is not None:
        mine = y[rows] > 0
        common = alpha[rows][mine] @ X[rows][mine] / alpha[rows][mine].sum()
        assert np.allclose(verdict["common"], common, rtol=1e-9, atol=1e-9 * np.abs(X).max())


def check_separable(state, X, y, verdict):
    """Check a separator of largest margin."""
    if len(set(y.tolist())) < 2 and state.bias:
        assert verdict["w"] is None
        return
    found = dataset_margin(X, y, kind="geometric" if state.bias else "homogeneous")
    if found.gap < 1e-3:
        assert found.low <= verdict["margin"] <= found.high, state
    if found.low > 1e-9 * np.abs(X).max():
        signs = y if set(y.tolist()) == {1, -1} else None
        if signs is not None:
            assert margin(X, y, verdict["w"], verdict["b"]) >= found.low * (1 - 1e-6), state


def check_bound(state, X, bound, bracket):
    squared = squared_radius(X, state.bias)
    if bound["R"] is None:
        return
    assert math.isclose(bound["R"], math.sqrt(squared), rel_tol=1e-15)
    if bracket.gap < 1e-3:
        assert bracket.low <= bound["gamma"] <= bracket.high, state
    if bound["bound"] is not None and state.learner != "margin":
        assert float(squared / bracket.high / bracket.high) * (1 - 1e-12) <= bound["bound"]
        assert bound["bound"] <= novikoff(squared, bracket.low) * (1 + 1e-12)


def check_kernel(state, verdict, bound):
    """Check the margin in a kernel's space: at least the library's lower bound, where the run has one."""
    report = run(state).model.report_
    assert bound["R"] >= report.radius * (1 - 1e-9)  # of all points, where the library's is of those visited
    if bound["gamma"] is None:
        assert not report.margin_low > 1e-6 * report.radius or state.order == "pick", state
    else:
        assert report.margin_low * (1 - 1e-6) <= bound["gamma"] <= report.margin_high * (1 + 1e-9), state


@pytest.mark.parametrize("n", SIZES)
def test_subsets_that_shapes_cut_are_those_of_the_library(n):
    rng = np.random.default_rng(n)
    for _ in range(n // 3):
        points = random_points(rng, int(rng.integers(1, 8)))
        family = str(rng.choice(["halfspaces", "discs", "rectangles"]))
        subset = np.flatnonzero(rng.random(len(points)) < 0.5).tolist()
        question = {"points": points.tolist(), "family": family, "subset": subset}
        found = ask("vc", question)
        cut = dichotomies(points.tolist(), family)
        assert found["cut"] == sorted((sorted(one) for one in cut), key=lambda one: (len(one), one)), question
        assert found["count"] == len(cut)
        assert found["dimension"] == vc_dimension(points.tolist(), family)
        check_answer(points, family, subset, found["answer"], frozenset(subset) in cut)


def check_answer(X, family, subset, answer, is_cut):
    """Check a shape that cuts a subset, or the reason why none does."""
    assert answer["cut"] == is_cut
    held = np.isin(np.arange(len(X)), subset)
    if not is_cut:
        inside, outside = answer["inside"], answer["outside"]
        assert held[inside].all()
        assert not held[outside].any()
        assert outside
        assert why_not(X[inside + outside], range(len(inside)), family) is not None
        return
    shape = answer["shape"]
    match shape["kind"]:
        case "line":
            assert np.array_equal(HalfSpace(np.array(shape["w"]), shape["b"]).sides(X) > 0, held)
        case "disc":
            assert np.array_equal(Circle(np.array(shape["center"]), shape["radius"]).sides(X) > 0, held)
        case "box":
            assert np.array_equal(((shape["low"] <= X) & (shape["high"] >= X)).all(axis=1), held)
        case "all":
            assert held.all()
        case "none":
            assert not held.any() or "none whose numbers floats can hold" in answer["text"]
