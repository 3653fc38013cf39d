"""Each learner of the family equals its twin in exact rationals, bit for bit."""

from math import inf

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.family_cases import CASES, FEW, KINDS, Case, assert_is_twin, family_set, row_weights
from helpers.rational_family import run
from rosenblatt import visiting_order

SEVERAL = [(2, "ovr"), (4, "ovr"), (4, "direct")]


def in_order_of(shuffle, seed, n):
    """Return the visiting orders of ``run`` for a parameter ``shuffle``."""
    return (lambda p: visiting_order(n, seed, 0 if shuffle == "once" else p)) if shuffle else None


def check(case, X, labels, *, passes=3, classes=2, multi_class="ovr", weights=None, shuffle=False, bias=True, **more):
    """Fit a learner, dense and CSR, and compare both with the twin, which is returned unless its weights overflow."""
    options = {"max_iter": passes, "shuffle": shuffle, "random_state": 7, "multi_class": multi_class}
    model = case.learner(fit_intercept=bias, **options, **more)
    layouts = [np.asarray(X), sp.csr_array(X)]
    try:
        twin = run(
            case.rule(),
            X,
            labels,
            passes,
            classes=classes,
            direct=multi_class == "direct",
            orders=in_order_of(shuffle, 7, len(labels)),
            weights=weights,
            fit_intercept=bias,
            **more,
        )
    except OverflowError:
        for rows in layouts:
            with pytest.raises(ValueError, match="have overflowed float64"):
                model.fit(rows, labels, sample_weight=weights)
        return None
    for rows in layouts:
        assert_is_twin(model.fit(rows, labels, sample_weight=weights), twin)
    return twin


@pytest.mark.quick_cases(42)
@pytest.mark.parametrize(("classes", "multi_class"), SEVERAL)
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow) if kind == "float32" else kind for kind in KINDS]
)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_kind_of_numbers(case, kind, classes, multi_class):
    X, labels = family_set(kind, classes=classes, seed=3)
    check(case, X, labels, classes=classes, multi_class=multi_class)


@pytest.mark.quick_cases(20)
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (6, "ovr"), (6, "direct")])
@pytest.mark.parametrize("d", [1, 8, 17, 40])  # sums of rows are made in parts, whose ends differ
@pytest.mark.parametrize("case", FEW, ids=str)
def test_rows_of_any_width(case, d, classes, multi_class):
    X, labels = family_set("decimals", n=12, d=d, classes=classes, seed=10)
    check(case, X, labels, passes=2, classes=classes, multi_class=multi_class)


@pytest.mark.quick_cases(30)
@pytest.mark.parametrize(("classes", "multi_class"), SEVERAL)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shuffle", [False, True, "once"])
@pytest.mark.parametrize("case", FEW, ids=str)
def test_weights_orders_and_biases(case, shuffle, bias, classes, multi_class):
    X, labels = family_set("decimals", classes=classes, seed=4)
    weights = row_weights(len(labels), classes)
    check(
        case, X, labels, passes=2, classes=classes, multi_class=multi_class, weights=weights, shuffle=shuffle, bias=bias
    )


@pytest.mark.parametrize("case", FEW, ids=str)
def test_weights_of_classes_multiply_those_of_rows(case):
    X, labels = family_set("gauss", classes=3, seed=5)
    weights, by_class = row_weights(len(labels), 3), np.array([0.3, 1.0, 1.7])
    twin = run(case.rule(), X, labels, 2, classes=3, weights=weights * by_class[labels])
    model = case.learner(max_iter=2, shuffle=False, multi_class="ovr", class_weight=dict(enumerate(by_class)))
    assert_is_twin(model.fit(X, labels, sample_weight=weights), twin)


@pytest.mark.quick_cases(20)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("classes", "multi_class"), SEVERAL)
@pytest.mark.parametrize("case", [case for case in CASES if case.parameters.get("C") != inf], ids=str)
def test_squares_that_vanish(case, classes, multi_class, bias):
    X, labels = family_set("tiny", classes=classes, seed=8)
    check(case, X, labels, passes=2, classes=classes, multi_class=multi_class, bias=bias)


@pytest.mark.parametrize(("classes", "multi_class"), SEVERAL)
@pytest.mark.parametrize("limit", [1, 9, 30])
@pytest.mark.parametrize("case", FEW, ids=str)
def test_a_limit_of_updates(case, limit, classes, multi_class):
    X, labels = family_set("decimals", classes=classes, seed=9)
    twin = check(case, X, labels, classes=classes, multi_class=multi_class, max_updates=limit)
    assert max(sum(count.updates) for count in twin.counts) <= limit


@pytest.mark.parametrize("case", FEW, ids=str)
def test_a_separable_set_until_nothing_is_left_to_update(case):
    X, _ = family_set("gauss", n=12, d=3, seed=6)
    X[:, 0] += np.sign(X[:, 0])
    labels = (X[:, 0] > 0).astype(int)
    twin = check(case, X, labels, passes=12)
    assert case.name == "AROW" or twin.by_pass("updates")[-1] < twin.by_pass("updates")[0]


numbers = st.sampled_from([-3.0, -1.0, -0.5, -0.1, 0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 1e-30, -1e30])


@st.composite
def small_sets(draw):
    """Few rows that repeat, vanish and meet margins exactly, with two or three classes and weights or none."""
    classes, d = draw(st.sampled_from([2, 3])), draw(st.integers(1, 3))
    row = st.tuples(
        st.lists(numbers, min_size=d, max_size=d), st.integers(0, classes - 1), st.sampled_from([0.0, 0.1, 1.0, 3.0])
    )
    first = [([0.5] * d, k, 1.0) for k in range(classes)]
    rows, labels, weights = zip(*(first + draw(st.lists(row, max_size=6))), strict=True)
    return classes, np.array(rows), np.array(labels), np.array(weights) if draw(st.booleans()) else None


OVERFLOWING = (2, np.array([[0.5], [0.5], [1e-30], [-0.5], [1e-30], [1e-30]]), np.array([0, 1, 0, 1, 0, 1]), None)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(CASES), small_sets(), st.booleans(), st.booleans(), st.sampled_from([False, True]))
@example(Case("PassiveAggressive", {"C": inf}), OVERFLOWING, False, True, False)
def test_small_sets(case, rows, direct, bias, shuffle):
    classes, X, labels, weights = rows
    multi_class = "direct" if direct else "ovr"
    check(
        case, X, labels, passes=2, classes=classes, multi_class=multi_class, weights=weights, shuffle=shuffle, bias=bias
    )
