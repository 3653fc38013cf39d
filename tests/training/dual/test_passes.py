"""Updates of the block algorithm equal those of the twin, for every kernel, block size, cache and type of product."""

from functools import cache

import numpy as np
import pytest

from helpers.examples import small_set
from helpers.kernel_sets import (
    EXPONENTIALS,
    KERNELS,
    SETS,
    SOME_KERNELS,
    assert_same_run,
    assert_same_updates,
    kernel_name,
    model_for,
    tied_set,
    twin_of,
)
from helpers.naive_kernel import Kernel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

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


@every_kernel
@pytest.mark.parametrize("kind", SETS)
def test_two_classes(kernel, kind):
    X, y, twin = solved(kernel, kind)
    for computing in computings(len(y), KERNELS.index(kernel) + SETS.index(kind)):
        assert_same_run(model_for(kernel, computing, max_iter=4, random_state=7).fit(X, y), twin)


@every_kernel
def test_other_labels_of_mirrored_points(kernel):
    X, y, twin = solved(kernel, "mirrored", seed=1)
    assert_same_run(model_for(kernel, {"block": 7}, max_iter=4, random_state=7).fit(X, y), twin)


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


@pytest.mark.parametrize("kernel", EXPONENTIALS, ids=kernel_name)
def test_nearly_equal_distances_are_told_apart(kernel):
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
