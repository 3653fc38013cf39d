"""Verdicts and bounds hold in the space that is trained in."""

import math
from dataclasses import replace

import numpy as np
import pytest

from helpers.lab_engine import needs_node, run
from helpers.lab_states import DATA, FEATURES, cloud, many_states, name_of, state_of
from rosenblatt import data, dataset_margin, mistake_bound, separability

pytestmark = needs_node

LINEAR = [s for s in many_states() if s.learner == "perceptron" and s.order == "each"]
XOR = ([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]], [-1, 1, 1, -1])
FIELDS = {"kind", "text", "support", "weights", "w", "b", "margin", "common"}
BOUND = {"R", "gamma", "bound", "w", "b", "why"}


def theory(state):
    """Return the verdict, the bound and the run, checked to have the fields that the page expects."""
    made = run(state)
    found = made.message["theory"]
    assert set(found) == {"verdict", "bound"}
    assert set(found["verdict"]) == FIELDS
    assert set(found["bound"]) == BOUND
    assert len(found["verdict"]["support"]) == len(found["verdict"]["weights"])
    assert set(found["verdict"]["support"]) <= set(state.rows.tolist())
    assert (found["bound"]["bound"] is None) == (found["bound"]["why"] != "")
    return found["verdict"], found["bound"], made


def features_of(state, made, numbers):
    """Return features and labels of points by their numbers."""
    places = np.searchsorted(state.rows, numbers)
    return made.X[places], made.y[places]


@pytest.mark.parametrize("state", LINEAR, ids=name_of)
def test_the_verdict_is_the_librarys(state):
    verdict, bound, made = theory(state)
    kind = "geometric" if state.bias else "homogeneous"
    bracket = dataset_margin(made.X, made.y, kind=kind)
    assert verdict["kind"] == ("separable" if bracket.low > 0 else "inseparable")
    assert (bound["bound"] is not None) == (bracket.low > 0)
    assert (bound["why"] == "") == (bracket.low > 0)
    assert ("through the origin" in verdict["text"]) == (not state.bias)
    if state.bias:
        assert bool(separability(made.X, made.y)) == (verdict["kind"] == "separable")


@pytest.mark.parametrize("state", LINEAR, ids=name_of)
def test_the_separator_has_the_margin_and_its_support_attains_it(state):
    verdict, _, made = theory(state)
    if verdict["kind"] != "separable":
        return
    w, b = np.array(verdict["w"]), verdict["b"]
    size = np.abs(made.X).max() + 1
    assert math.isclose(np.linalg.norm(w), 1.0)
    scores = made.y * (made.X @ w + b)
    assert scores.min() == pytest.approx(verdict["margin"], abs=1e-9 * size)
    X, y = features_of(state, made, verdict["support"])
    assert y * (X @ w + b) == pytest.approx(verdict["margin"], rel=1e-3, abs=1e-9 * size)


@pytest.mark.parametrize("state", LINEAR, ids=name_of)
def test_the_points_that_prove_it_have_a_common_mean(state):
    verdict, _, made = theory(state)
    if verdict["kind"] != "inseparable":
        return
    X, y = features_of(state, made, verdict["support"])
    alpha = np.array(verdict["weights"])
    size = np.abs(X).max() + 1
    assert (alpha > 0).all()
    assert alpha.sum() == pytest.approx(1.0)
    assert (alpha * y) @ X == pytest.approx(0.0, abs=1e-9 * size)
    if not state.bias:
        assert verdict["common"] is None
        return
    for label in (1, -1):
        mean = alpha[y == label] @ X[y == label] / alpha[y == label].sum()
        assert verdict["common"] == pytest.approx(mean.tolist(), abs=1e-9 * size)


@pytest.mark.quick_cases(60)
@pytest.mark.parametrize("state", [s for s in many_states() if s.learner not in ("kernel",)], ids=name_of)
def test_no_run_makes_more_updates_than_the_bound(state):
    _, bound, made = theory(state)
    if bound["bound"] is None:
        return
    assert len(made.updates) <= bound["bound"]
    theirs = mistake_bound(made.X, made.y, fit_intercept=state.bias)  # from a lower bound on the margin
    assert math.floor(bound["bound"]) <= theirs
    assert bound["bound"] > 1e9 or theirs <= bound["bound"] * (1 + 1e-5)
    if bound["bound"] < 1e9:  # what rounding of the weights may add grows with it
        assert bound["bound"] == pytest.approx((bound["R"] / bound["gamma"]) ** 2, rel=1e-6)


@pytest.mark.parametrize("state", LINEAR, ids=name_of)
def test_the_unit_separator_of_the_bound_has_the_margin_gamma(state):
    """The proof's squeeze: k gamma <= w . u <= |w| <= sqrt(k) R in the trained space."""
    _, bound, made = theory(state)
    if bound["bound"] is None:
        return
    Z = np.column_stack([made.X, np.ones(len(made.y))]) if state.bias else made.X
    u = np.array([*bound["w"], bound["b"]] if state.bias else bound["w"])
    v = np.array([*made.w, made.b] if state.bias else made.w)
    k = len(made.updates)
    assert bound["b"] == 0 or state.bias
    assert math.isclose(np.linalg.norm(u), 1.0)
    assert bound["R"] == pytest.approx(np.linalg.norm(Z, axis=1).max())
    assert (made.y * (Z @ u)).min() == pytest.approx(bound["gamma"], abs=1e-9 * bound["R"])
    slack = 1e-9 * k * bound["R"]
    assert k * bound["gamma"] <= v @ u + slack
    assert v @ u <= np.linalg.norm(v) + slack
    assert np.linalg.norm(v) <= math.sqrt(k) * bound["R"] + slack


def test_xor_crosses_in_the_middle_and_a_product_mends_it():
    verdict, bound, _ = theory(state_of(*XOR))
    assert verdict["kind"] == "inseparable"
    assert verdict["common"] == [1.0, 1.0]
    assert verdict["support"] == [0, 1, 2, 3]
    assert bound["why"].startswith("No finite bound: the hulls cross, so no line separates these points")
    verdict, bound, _ = theory(state_of(*XOR, features=("x", "y", "xy")))
    assert verdict["kind"] == "separable"
    assert "plane in the space of (x₁, x₂, x₁x₂)" in verdict["text"]
    assert bound["bound"] > 0


def test_numbers_are_those_of_points_where_some_are_held_out():
    X = [[5.0, 5.0], *XOR[0]]
    verdict, _, _ = theory(state_of(X, [1, *XOR[1]], [True, False, False, False, False]))
    assert verdict["support"] == [1, 2, 3, 4]


def test_the_common_point_is_exact_but_for_one_rounding():
    X, y = [[0.1, 0.1], [0.7, 0.7], [0.3, 0.3]], [1, 1, -1]
    verdict, _, _ = theory(state_of(X, y))
    assert verdict["support"] == [0, 1, 2]
    assert verdict["common"] == [0.3, 0.3]


def test_without_a_bias_the_zero_point_alone_proves_it():
    verdict, bound, _ = theory(state_of([[0.0, 0.0], [1.0, 1.0]], [-1, 1], bias=False))
    assert verdict["support"] == [0]
    assert "1 point proves it" in verdict["text"]
    assert "through the origin" in bound["why"]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_one_class_is_separable_and_says_so(sign, bias):
    state = state_of([[1.0, 2.0], [2.0, 1.0]], [sign, sign], order="pick", picks=(0,), bias=bias)
    verdict, bound, made = theory(state)
    assert verdict["kind"] == "separable"
    assert ("one class" in verdict["text"]) == bias
    assert bound["bound"] >= len(made.updates)
    scores = made.y * (made.X @ bound["w"] + bound["b"])
    assert (scores > 0).all()


def test_margins_of_a_billionth_and_beyond_are_told():
    t = np.linspace(-5, 5, 200)
    y = np.where(np.arange(200) % 2, 1, -1)
    for gap in (1e-9, 1e-15):
        verdict, bound, _ = theory(state_of(np.column_stack([t, 0.37 * t + y * gap]), y, updates=50))
        assert verdict["kind"] == "separable"
        assert 0 < verdict["margin"] < 2 * gap
        assert bound["bound"] > 1e15


@pytest.mark.parametrize("features", FEATURES)
def test_odd_points_get_an_answer(features):
    rng = np.random.default_rng(0)
    y = np.tile([1, -1], 50)
    X = rng.standard_normal((100, 2))
    odd = {
        "near": np.repeat(X[:50], 2, axis=0) + np.outer(y > 0, [1e-12, 1e-12]),
        "far": 1e6 - 1e-4 * rng.random((100, 2)),
        "mixed": X * np.where(rng.random((100, 2)) < 0.5, 1e5, 1e-6),
        "same": np.ones((100, 2)),
    }
    for points in odd.values():
        for bias in (True, False):
            verdict, _, _ = theory(state_of(points, y, features=features, bias=bias, updates=50))
            assert verdict["kind"] in ("separable", "inseparable")


def test_a_kernel_that_separated_says_so_and_has_a_bound():
    X, y = data.make_rings(40, random_state=0)
    verdict, bound, made = theory(state_of(X, y, learner="kernel"))
    assert made.converged
    assert verdict["kind"] == "kernel"
    assert verdict["text"].startswith("The run separated the points in the kernel's space")
    assert verdict["text"].endswith("No line in the plane separates them.")
    assert len(made.updates) <= bound["bound"]
    assert bound["R"] == pytest.approx(1.0)
    assert bound["w"] is None
    assert bound["why"] == ""


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_kernel_that_has_not_separated_says_what_is_known(kernel):
    X, y = DATA["noisy"]
    verdict, bound, _ = theory(state_of(X, y, learner="kernel", kernel=kernel, passes=1))
    assert "has not separated" in verdict["text"]
    assert ("Enough passes would" in verdict["text"]) == (kernel == "rbf")
    assert bound["bound"] is None
    assert bound["gamma"] is None
    assert bound["why"].startswith("No finite bound is known")


def test_a_kernel_cannot_separate_two_classes_at_one_place():
    verdict, _, _ = theory(state_of([[3.0, 3.0], [0.0, 1.0], [-0.0, 1.0]], [1, 1, -1], learner="kernel", passes=3))
    assert verdict["text"].startswith("No kernel separates")
    assert verdict["support"] == [1, 2]


def test_a_kernel_on_points_that_a_line_separates_says_that_too():
    X, y = cloud()
    assert theory(state_of(X, y, learner="kernel"))[0]["text"].endswith("A line in the plane separates them too.")
    picked = state_of(X, y, learner="kernel", order="pick", picks=(0, 1))
    verdict, bound, made = theory(picked)
    assert ("has not separated" in verdict["text"]) == (not made.converged)
    assert bound["why"]


def test_a_bound_too_large_for_floats_says_so():
    state = state_of([[1.0, 1e-160], [-1e-160, 1e-161]], [1, -1], bias=False)
    verdict, bound, _ = theory(state)
    assert verdict["kind"] == "separable"
    assert bound["bound"] is None
    assert "too large for floats" in bound["why"]


def test_a_kernel_margin_too_small_for_floats_says_so():
    state = state_of([[1e-6, 0.0], [0.0, 1e-6]], [1, -1], learner="kernel", gamma=1e-6)
    _, bound, made = theory(state)
    assert made.converged
    assert bound["bound"] is None
    assert bound["why"].endswith("is too small for floats.")
    _, bound, made = theory(replace(state, order="pick", picks=(0, 1, 0, 1)))
    assert made.converged
    assert bound["why"].endswith("a run that ends with a pass without a mistake.")
