"""Passes of a kernel perceptron against the naive one, with all options."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import naive
from helpers.examples import small_set
from helpers.kernel_sets import (
    EXPONENTIALS,
    KERNELS,
    LAYOUTS,
    SETS,
    SOME_KERNELS,
    assert_same_run,
    assert_same_updates,
    kernel_name,
    model_for,
    tied_set,
    twin_of,
)
from helpers.naive_features import feature_run
from helpers.naive_kernel import Kernel, Update, Values, combine, kernel_value, naive_run, orders_of, sign, to_float
from helpers.naive_kernel_answers import answers
from rosenblatt.training.batches import make_batch
from rosenblatt.training.dual.block_updates import BlockResult, BlockUpdate
from rosenblatt.training.dual.kernel_values import NUMPY
from rosenblatt.training.dual.learner import BlockLearner
from rosenblatt.training.dual.start import Computing
from rosenblatt.training.dual.state import DualState

# Updates of the block algorithm equal those of the twin, for every kernel, block size, cache and type of product.


every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
some_kernels = pytest.mark.parametrize("kernel", SOME_KERNELS, ids=kernel_name)


@cache
def solved(kernel, kind, classes=2, direct=False, seed=0):
    X, y = tied_set(kind, classes=classes, seed=seed)
    return X, y, twin_of(kernel, X, y, classes, seed=7, direct=direct)


def computings(n, turn):
    """Return three of six ways to compute, by turns: blocks, caches and types of products, small and large."""
    one_row = 8 * n
    ways = [
        {"block": block, "cache_bytes": cache_bytes, "dtype": dtype}
        for block, cache_bytes, dtype in (
            (1, one_row, "float64"),
            (2, 3 * one_row, "float32"),
            (7, one_row, "float32"),
            (7, 10**6, "float64"),
            (1000, 10**6, "float32"),
            (1000, 2 * one_row, "float64"),
        )
    ]
    return ways[turn % 2 :: 2]


@pytest.mark.quick_cases(11)
@every_kernel
@pytest.mark.parametrize(("kind", "seed"), [*((kind, 0) for kind in SETS), ("mirrored", 1)])
def test_two_classes(kernel, kind, seed):
    X, y, twin = solved(kernel, kind, seed=seed)
    for computing in computings(len(y), KERNELS.index(kernel) + SETS.index(kind)):
        assert_same_run(model_for(kernel, computing, max_iter=4, random_state=7).fit(X, y), twin)


@pytest.mark.quick_cases(5)
@some_kernels
@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_several_classes(kernel, kind, multi_class):
    X, y, twin = solved(kernel, kind, 3, multi_class == "direct")
    for computing in computings(len(y), SOME_KERNELS.index(kernel) + SETS.index(kind)):
        model = model_for(kernel, computing, max_iter=4, random_state=7, multi_class=multi_class)
        assert_same_run(model.fit(X, y), twin)


@pytest.mark.parametrize("block", [1, 2, 7, 1000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("cache_rows", [1, 2, 5, 24])
def test_every_block_with_every_cache_and_type(block, dtype, cache_rows):
    kernel = Kernel("poly", degree=3, gamma=0.1, coef0=0.1)
    X, y, twin = solved(kernel, "decimals", 4)
    computing = {"block": block, "dtype": dtype, "cache_bytes": 8 * len(y) * cache_rows}
    assert_same_run(model_for(kernel, computing, max_iter=4, random_state=7).fit(X, y), twin)


@pytest.mark.parametrize("kernel", [*SOME_KERNELS, Kernel("laplacian", gamma=0.1)], ids=kernel_name)
@pytest.mark.parametrize("kind", ["huge", "tiny", "mixed"])
def test_numbers_of_any_size(kernel, kind):
    X, y = small_set(kind, n=16, d=3, seed=2)
    twin = twin_of(kernel, X, y, 2, seed=1, passes=3)
    for computing in ({}, {"block": 3, "dtype": "float32"}):
        assert_same_run(model_for(kernel, computing, max_iter=3, random_state=1).fit(X, y), twin)


@pytest.mark.parametrize("degree", [9, 40])
@pytest.mark.parametrize("coef0", [1.0, -1.0])
def test_high_degrees(degree, coef0):
    kernel = Kernel("poly", degree=degree, gamma=0.1, coef0=coef0)
    X, y = tied_set("ties", n=20)
    twin = twin_of(kernel, X, y, 2, seed=1, passes=3)
    for computing in ({}, {"block": 3, "dtype": "float32"}):
        assert_same_run(model_for(kernel, computing, max_iter=3, random_state=1).fit(X, y), twin)


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_a_limit_on_support_rows_doubles_the_bounds(multi_class):
    """Every term may be subtracted again, with another rounding error of its kernel value."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    bounds = []
    for most in (None, 1):
        state = DualState.zeros(3, 4, kernel=Kernel("rbf", gamma=0.5), direct=multi_class == "direct")
        state.computing = Computing(max_support=most, dtype="float32")
        batch = make_batch(X, y.astype(np.int32), np.arange(3), None, None)
        learner = BlockLearner(state, batch, NUMPY, None)
        bounds.append(learner._bounds(np.arange(30), np.arange(len(state.counters)), np.ones(30)))
    assert (bounds[1] >= 2.0 * bounds[0]).all()


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_norms_after_evictions_are_not_those_of_float32(multi_class):
    X, y = tied_set("gauss", n=12, classes=3)
    kernel, options = Kernel("rbf", gamma=0.5), {"max_support": 3, "multi_class": multi_class, "shuffle": False}
    found = model_for(kernel, {"dtype": "float32"}, max_iter=1, **options).fit(X, y).state_
    c, rows = found.coefficients("last"), found.support_matrix()
    K = np.exp(-0.5 * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    norms = np.einsum("ki,ij,kj->k", c, K, c)
    assert found.norm2 == pytest.approx([norms.sum()] if found.direct else norms, rel=1e-13)


@pytest.mark.parametrize(("multi_class", "norm2"), [("ovr", 0.5), ("direct", 1.0)])
def test_the_norm_takes_the_least_margin_that_rounding_allows(multi_class, norm2):
    """The margin of a class over another is the difference of two scores, each of which may be off by the bound."""
    state = DualState.zeros(3, 1, kernel=Kernel("rbf", gamma=0.5), direct=multi_class == "direct")
    batch = make_batch(np.ones((1, 1)), np.zeros(1, np.int32), np.arange(3), None, None)
    result = BlockResult([BlockUpdate(0, -1.0 if state.direct else -0.5)], 1)
    BlockLearner(state, batch, NUMPY, None)._count(0, result, np.ones(1), np.arange(1), np.array([0.25]))
    assert state.norm2[0] == norm2


def test_voters_whose_exponentials_are_below_the_smallest_normal_float():
    """In units of 2**-1074 the exponentials are 1.6 and 1.4, which become 2 and 1."""
    t, s = (1074 * np.log(2) - np.log(size) for size in (1.6, 1.4))
    X, y, steps = np.array([[t], [-s]]), np.array([1, 0]), np.array([1e300, 1.3e300])
    model = model_for(Kernel("laplacian", gamma=1.0), max_iter=1, shuffle=False, hypothesis="vote")
    model.fit(X, y, sample_weight=steps)
    assert model.n_updates_ == 2
    assert model.decision_function(np.zeros((1, 1))).tolist() == [0.0], "one vote for, and one against: 1.6 < 1.3 * 1.4"


@pytest.mark.parametrize("kernel", EXPONENTIALS, ids=kernel_name)
def test_nearly_equal_distances_are_distinguished(kernel):
    near = np.nextafter(1.0, 2.0)
    X = np.array([[-1.0, 0.0], [near, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, near], [0.0, -1.0]])
    y = np.array([0, 1, 1, 0, 0, 1])
    for shuffle, seed in ((False, 0), (True, 1), (True, 2)):
        twin = twin_of(kernel, X, y, 2, seed=seed, shuffle=shuffle, passes=6)
        for dtype in ("float64", "float32"):
            model = model_for(kernel, {"dtype": dtype}, max_iter=6, random_state=seed, shuffle=shuffle)
            assert_same_run(model.fit(X, y), twin)


@pytest.mark.parametrize("name", ["poly", "rbf", "laplacian"])
def test_a_gamma_of_zero_makes_all_rows_equal(name):
    kernel = Kernel(name, degree=2, gamma=0.0, coef0=0.5)
    X, y = tied_set("gauss")
    assert_same_run(model_for(kernel, max_iter=3, random_state=0).fit(X, y), twin_of(kernel, X, y, 2, seed=0, passes=3))


@pytest.mark.parametrize("name", ["sigmoid", "precomputed", "function"])
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_kernels_that_are_decided_as_computed_do_not_depend_on_the_cache(name, multi_class):
    X, y = tied_set("ties", n=30, classes=3)
    kernel = Kernel(name, gamma=0.25, coef0=0.0)
    if name == "precomputed":
        X = (X @ X.T + 1.0) ** 2
    elif name == "function":
        kernel = Kernel(name, function=lambda A, B: (A @ B.T + 1.0) ** 2)
    options = {"max_iter": 4, "random_state": 3, "multi_class": multi_class}
    one = model_for(kernel, {"block": 7}, **options).fit(X, y)
    for rows in (1, 3, 30):
        other = model_for(kernel, {"block": 7, "cache_bytes": 8 * 30 * rows}, **options).fit(X, y)
        assert_same_updates(other, one)


@some_kernels
def test_more_rows_than_a_block_has(kernel):
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (100, 4)).astype(float)
    y = np.where(rng.random(100) < 0.1, rng.integers(0, 3, 100), (X[:, 0] * X[:, 1] > 0) + (X[:, 2] > 0))
    twin = twin_of(kernel, X, y, 3, seed=5, passes=2)
    for computing in computings(len(y), SOME_KERNELS.index(kernel)):
        assert_same_run(model_for(kernel, computing, max_iter=2, random_state=5).fit(X, y), twin)


# Updates equal those of the twin for every layout, order, hypothesis, weight and limit.


competition = pytest.mark.parametrize(
    ("classes", "multi_class"), [(2, "ovr"), (2, "direct"), (3, "ovr"), (3, "direct")]
)


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize("kernel", [*SOME_KERNELS, Kernel("laplacian", gamma=0.5)], ids=kernel_name)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["ties", "gauss"])
def test_layouts(kernel, layout, kind):
    X, y = tied_set(kind, classes=3)
    X = LAYOUTS[layout](X)
    twin = twin_of(kernel, X, y, 3, seed=2)
    for computing in ({"block": 7}, {"block": 7, "dtype": "float32"}):
        assert_same_run(model_for(kernel, computing, max_iter=4, random_state=2).fit(X, y), twin)


@pytest.mark.quick_cases(5)
@some_kernels
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote", "pocket"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_hypothesis_changes_no_update(kernel, hypothesis, n_jobs):
    X, y = tied_set("decimals", classes=3)
    model = model_for(kernel, {"block": 7}, max_iter=4, random_state=0, hypothesis=hypothesis, n_jobs=n_jobs)
    assert_same_run(model.fit(X, y), twin_of(kernel, X, y, 3, seed=0))


DYADIC, THIRDS, TENTHS = [0.0, 0.5, 1.0, 2.0], [0.0, 1 / 3, 1.0, 2 / 3], [0.1, 0.2, 0.3, 0.7]
OPTIONS = [
    *({"shuffle": shuffle} for shuffle in (True, "once", False)),
    *({"weights": weights} for weights in (DYADIC, THIRDS, TENTHS, [1e-12, 1.0, 1e12, 0.1])),
    *({"max_updates": most} for most in (1, 2, 5, 17)),
    *({"max_support": most} for most in (1, 2, 5)),
    {"max_support": 3, "max_updates": 12, "weights": TENTHS},
]


@pytest.mark.quick_cases(13)
@some_kernels
@competition
@pytest.mark.parametrize("given", OPTIONS, ids=str)
def test_orders_weights_and_limits(kernel, classes, multi_class, given):
    X, y = tied_set("mirrored" if "weights" in given else "ties", classes=classes)
    options, steps = dict(given), None
    weights = options.pop("weights", None)
    if weights:
        steps = np.random.default_rng(4).choice(weights, len(y))
        steps[:classes] = weights[1]
    twin = twin_of(kernel, X, y, classes, seed=1, steps=steps, direct=multi_class == "direct", **options)
    held = {update.row for classifier in twin for update in classifier.updates}
    options |= {"max_iter": 4, "random_state": 1, "multi_class": multi_class}
    for computing in ({"block": 1}, {"block": 7, "dtype": "float32"}, {"block": 1000}):
        model = model_for(kernel, computing, **options).fit(X, y, sample_weight=steps)
        assert_same_run(model, twin)
        assert set(np.asarray(model.support_).tolist()) == held
        assert len(model.support_) <= given.get("max_support", len(y)) * len(twin)


@some_kernels
@pytest.mark.parametrize("class_weight", [{0: 0.5, 1: 2.0}, {1: 0.1}, {0: 1 / 3, 1: 0.7}])
def test_class_weights_scale_steps_by_a_rounded_product(kernel, class_weight):
    X, y = tied_set("duplicates", seed=3)
    weights = np.random.default_rng(4).choice([0.1, 1.0, 1 / 3], len(y))
    by_class = np.array([class_weight.get(label, 1.0) for label in y])
    for sample_weight, steps in ((None, by_class), (weights, weights * by_class)):
        twin = twin_of(kernel, X, y, 2, seed=1, steps=steps)
        model = model_for(kernel, {"block": 7}, max_iter=4, random_state=1, class_weight=class_weight)
        assert_same_run(model.fit(X, y, sample_weight=sample_weight), twin)


def test_balanced_classes():
    kernel = SOME_KERNELS[1]
    X, y = tied_set("ties", classes=3, seed=5)
    steps = (len(y) / (3 * np.bincount(y)))[y]
    model = model_for(kernel, {"block": 7}, max_iter=4, random_state=1, class_weight="balanced").fit(X, y)
    assert_same_run(model, twin_of(kernel, X, y, 3, seed=1, steps=steps))


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_a_classifier_stops_after_its_own_clean_pass(multi_class):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.integers(-1, 2, (8, 2)) + 9 * np.array(corner) for corner in ((0, 0), (3, 0), (3, 1))])
    y = np.repeat([0, 1, 2], 8)
    kernel = Kernel("poly", degree=1, gamma=1.0, coef0=1.0)
    twin = twin_of(kernel, X, y, 3, seed=0, passes=200, direct=multi_class == "direct")
    assert all(classifier.clean[-1] for classifier in twin)
    assert multi_class == "direct" or len({len(classifier.mistakes) for classifier in twin}) > 1
    for block in (3, 1000):
        model = model_for(kernel, {"block": block}, max_iter=200, random_state=0, multi_class=multi_class)
        assert_same_run(model.fit(X, y), twin)
        assert model.converged_


# The slow twins of the kernel perceptron agree with each other, so that the fast one has something right to equal.


def integers(seed, n=20, d=3, classes=2):
    return small_set("integers", n=n, d=d, classes=classes, seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_linear_is_the_perceptron_without_bias(seed):
    X, y = integers(seed)
    orders = orders_of(len(y), seed, True)
    steps = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], len(y))
    (run,) = naive_run(X, y, Kernel("linear"), 2, 5, orders=orders, steps=steps, max_updates=30)
    signs = np.where(y == 1, 1, -1)
    other = naive.run(X, signs, 5, orders=orders, steps=steps, fit_intercept=False, max_updates=30)
    assert run.mistakes == other.mistakes
    w = sum(update.step * X[update.row] for update in run.updates)
    assert w.tolist() == other.w.tolist()
    stops = [update.visits for update in run.updates[1:]] + [run.visits]
    survived = [stop - update.visits for update, stop in zip(run.updates, stops, strict=True)]
    assert survived == [count for *_, count in other.voters]
    tests = np.random.default_rng(9).integers(-2, 3, (15, 3)).astype(float)
    for x, answer in zip(tests, answers([run], "vote", Kernel("linear"), 2, (X, y, steps), tests), strict=True):
        assert answer.scores[0].get(Fraction(0), 0) * run.visits == naive.vote(other.voters, x)
    for x, answer in zip(tests, answers([run], "average", Kernel("linear"), 2, (X, y, steps), tests), strict=True):
        assert answer.scores[0].get(Fraction(0), 0) == naive.activation(other.average_w, 0, x)


@pytest.mark.parametrize("seed", range(3))
def test_linear_classes_that_compete(seed):
    X, y = integers(seed, classes=3)
    orders = orders_of(len(y), seed, "once")
    (run,) = naive_run(X, y, Kernel("linear"), 3, 4, orders=orders, direct=True)
    other = naive.run_direct(X, y, 3, 4, orders=orders, fit_intercept=False)
    assert run.mistakes == other.mistakes
    tests = np.random.default_rng(9).integers(-2, 3, (15, 3)).astype(float)
    for x, answer in zip(tests, answers([run], "vote", Kernel("linear"), 3, (X, y, None), tests), strict=True):
        votes = [score.get(Fraction(0), 0) * run.visits for score in answer.scores]
        assert votes == naive.direct_votes(other.voters, x, 3)
    for x, answer in zip(tests, answers([run], "last", Kernel("linear"), 3, (X, y, None), tests), strict=True):
        scores = [naive.activation(other.w[k], 0, x) for k in range(3)]
        assert [score.get(Fraction(0), 0) for score in answer.scores] == scores
        assert answer.label == scores.index(max(scores))
        assert answer.tied == (scores.count(max(scores)) > 1)


@pytest.mark.parametrize("kind", ["integers", "decimals", "gauss"])
@pytest.mark.parametrize(("degree", "gamma", "coef0"), [(1, 1.0, 1.0), (2, 0.1, 0.1), (2, 1.0, -1.0), (3, 0.5, 1.0)])
def test_polynomials_are_their_products_of_features(kind, degree, gamma, coef0):
    X, y = small_set(kind, n=16, d=3, seed=1)
    orders = orders_of(len(y), 1, True)
    kernel = Kernel("poly", degree, gamma, coef0)
    (run,) = naive_run(X, y, kernel, 2, 3, orders=orders)
    assert feature_run(X, y, kernel, 3, orders=orders) == [(u.row, u.visits) for u in run.updates]


def test_multiplicities_of_products():
    x, z = [Fraction(2), Fraction(-1, 3)], [Fraction(1, 2), Fraction(5)]
    (value,) = kernel_value(Kernel("poly", 3, 0.5, 0.0), x, z).values()
    by_products = Fraction(0)
    for places in combinations_with_replacement(range(2), 3):
        ways = factorial(3) // prod(factorial(count) for count in Counter(places).values())
        by_products += ways * prod(x[j] * z[j] for j in places)
    assert value == by_products / 8


def test_the_sign_of_a_sum_of_exponentials():
    one = Fraction(1)
    assert sign(combine([(one, {one: one}), (-one, {one: one})])) == 0
    e = {Fraction(0): Fraction(271828182845904523536, 10**20), Fraction(-1): -one}  # e = 2.718281828459045235360287...
    assert sign(e) == -1
    more = {Fraction(0): Fraction(271828182845904523537, 10**20), Fraction(-1): -one}
    assert sign(more) == 1
    digits = (
        "2." + "7182818284590452353602874713526624977572470936999595749669676277240766303535475945713821785251664274"
    )
    assert sign({Fraction(0): Fraction(Decimal(digits)), Fraction(-1): -one}) == -1
    assert sign({Fraction(0): Fraction(Decimal(digits)) + Fraction(1, 10**100), Fraction(-1): -one}) == 1
    far = {Fraction(10**400): -one, Fraction(10**500): one * 10**9}
    assert sign(far) == -1
    assert to_float({Fraction(1): Fraction(3)}) == pytest.approx(3 * np.exp(-1), rel=1e-15)


def test_more_than_200_digits_are_used_where_needed():
    almost = Fraction(1) - Fraction(1, 10**300)  # (1 - t) exp(0) - exp(-s) with s a little larger or smaller than t
    assert sign({Fraction(0): almost, Fraction(2, 10**300): Fraction(-1)}) == 1
    assert sign({Fraction(0): almost, Fraction(1, 2 * 10**300): Fraction(-1)}) == -1


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize("gamma", [0.5, 0.1, 3.0])
def test_exponentials_are_those_of_numpy(name, gamma):
    X, y = small_set("gauss", n=20, d=3, seed=3)
    kernel = Kernel(name, gamma=gamma)
    distances = np.abs(X[:, None] - X[None])
    G = np.exp(-gamma * (distances**2 if name == "rbf" else distances).sum(axis=2))
    values = Values(kernel, X)
    assert [[to_float(values(i, j)) for j in range(20)] for i in range(20)] == pytest.approx(G, rel=1e-12)
    (run,) = naive_run(X, y, kernel, 2, 3, orders=orders_of(20, 0, True))
    coefficients, visits, found = np.zeros(20), 0, []
    for number in range(len(run.mistakes)):
        for row in orders_of(20, 0, True)(number):
            a = (2 * y[row] - 1) * (G[row] @ coefficients)
            assert abs(a) >= 1e-12 * (G[row] @ abs(coefficients))  # rounding cannot matter
            if a <= 0:
                found.append(Update(row, float(2 * y[row] - 1), visits))
                coefficients[row] += 2 * y[row] - 1
            visits += 1
    assert found == run.updates


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_equal_distances_are_ties(name):
    X, y = np.array([[-1.0], [1.0], [0.0]]), [0, 1, 1]
    (run,) = naive_run(X, y, Kernel(name, gamma=0.1), 2, 1, orders=lambda p: range(3))
    # after -1 at x = -1 comes +1 at x = 1, and at 0 the two are the same
    assert [update.row for update in run.updates] == [0, 1, 2]


def test_evicted_updates_count_as_never_made():
    X, y = np.eye(3), [1, 0, 1]
    options = {"orders": lambda p: [0, 1, 0, 2, 0], "max_support": 2}
    (run,) = naive_run(X, y, Kernel("linear"), 2, 1, **options)
    # row 2 evicts row 0, so row 0 is a mistake again and evicts row 1
    assert run.updates == [Update(2, 1.0, 3), Update(0, 1.0, 4)]
    assert (run.made, run.mistakes, run.visits) == (4, [4], 5)


# One array program: NumPy, array-api-strict and PyTorch make the same updates.


MORE_KERNELS = [*SOME_KERNELS, Kernel("laplacian", gamma=0.1), Kernel("poly", degree=5, gamma=0.5, coef0=-1.0)]
more_kernels = pytest.mark.parametrize("kernel", MORE_KERNELS, ids=kernel_name)
two_or_three = pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])


@pytest.mark.quick_cases(4)
@more_kernels
@two_or_three
@pytest.mark.parametrize(("namespace", "kind"), [("array_api_strict", "ties"), ("torch", "duplicates")])
def test_blocks_in_other_namespaces(kernel, classes, multi_class, namespace, kind):
    computing, options = _other(namespace)
    X, y = tied_set(kind, classes=classes)
    options |= {"max_iter": 4, "random_state": 0, "multi_class": multi_class}
    expected = twin_of(kernel, X, y, classes, seed=0, direct=multi_class == "direct")
    for block in (2, 7, 1000):
        for dtype in ("float64", "float32"):
            model = model_for(kernel, {**computing, "block": block, "dtype": dtype}, **options)
            assert_same_run(model.fit(X, y), expected)


@pytest.mark.quick_cases(4)
@more_kernels
@pytest.mark.parametrize("layout", [np.asfortranarray, sp.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("namespace", ["array_api_strict", "torch"])
def test_layouts_weights_and_limits_in_other_namespaces(kernel, layout, namespace):
    computing, options = _other(namespace)
    X, y = tied_set("gauss", classes=3, seed=4)
    X = layout(X)
    steps = np.random.default_rng(1).choice([0.0, 0.1, 1.0], len(y))
    options |= {"max_iter": 4, "random_state": 0, "max_updates": 25, "max_support": 9}
    for dtype in ("float64", "float32"):
        model = model_for(kernel, {**computing, "block": 5, "dtype": dtype}, **options).fit(X, y, sample_weight=steps)
        expected = twin_of(kernel, X, y, 3, seed=0, steps=steps, max_updates=25, max_support=9)
        assert_same_run(model, expected)


@more_kernels
@pytest.mark.parametrize("namespace", ["array_api_strict", "torch"])
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote", "pocket"])
def test_predictions_in_other_namespaces(kernel, namespace, hypothesis):
    computing, options = _other(namespace)
    X, y = tied_set("mirrored", classes=3)
    tests = np.random.default_rng(3).integers(-2, 3, (40, X.shape[1])) / 2
    own = model_for(kernel, max_iter=3, random_state=0, hypothesis=hypothesis).fit(X, y)
    other = model_for(kernel, computing, **options, max_iter=3, random_state=0, hypothesis=hypothesis).fit(X, y)
    assert_same_updates(other, own)
    assert other.predict(tests).tolist() == own.predict(tests).tolist()
    assert other.on_boundary(tests).tolist() == own.on_boundary(tests).tolist()
    assert other.decision_function(tests) == pytest.approx(own.decision_function(tests), rel=1e-9, abs=1e-9)


def _other(namespace):
    """Return what a model computes with, and its parameters, for a namespace."""
    if namespace == "torch":
        torch = pytest.importorskip("torch")
        return {}, {"device": "cuda" if torch.cuda.is_available() else "cpu"}
    return {"namespace": namespace}, {}
