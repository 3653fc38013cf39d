"""Updates equal those of the twin for every layout, order, hypothesis, weight and limit."""

import numpy as np
import pytest

from helpers.kernel_sets import (
    LAYOUTS,
    SOME_KERNELS,
    assert_same_run,
    kernel_name,
    model_for,
    tied_set,
    twin_of,
)
from helpers.naive_kernel import Kernel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

some_kernels = pytest.mark.parametrize("kernel", SOME_KERNELS, ids=kernel_name)
competition = pytest.mark.parametrize(
    ("classes", "multi_class"), [(2, "ovr"), (2, "direct"), (3, "ovr"), (3, "direct")]
)


@some_kernels
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["ties", "gauss"])
def test_layouts(kernel, layout, kind):
    X, y = tied_set(kind, classes=3)
    X = LAYOUTS[layout](X)
    twin = twin_of(kernel, X, y, 3, seed=2)
    for computing in ({"block": 7}, {"block": 7, "dtype": "float32"}):
        assert_same_run(model_for(kernel, computing, max_iter=4, random_state=2).fit(X, y), twin)


@pytest.mark.parametrize("layout", ["CSR", "CSR float32"])
def test_sparse_rows_and_the_laplacian_kernel(layout):
    kernel = Kernel("laplacian", gamma=0.5)
    X, y = tied_set("duplicates")
    X = LAYOUTS[layout](X)
    twin = twin_of(kernel, X, y, 2, seed=2)
    assert_same_run(model_for(kernel, {"block": 7}, max_iter=4, random_state=2).fit(X, y), twin)


@some_kernels
@competition
@pytest.mark.parametrize("shuffle", [True, "once", False])
def test_orders(kernel, classes, multi_class, shuffle):
    X, y = tied_set("ties", classes=classes)
    twin = twin_of(kernel, X, y, classes, seed=11, shuffle=shuffle, direct=multi_class == "direct")
    options = {"max_iter": 4, "random_state": 11, "shuffle": shuffle, "multi_class": multi_class}
    for block in (2, 7):
        assert_same_run(model_for(kernel, {"block": block}, **options).fit(X, y), twin)


@some_kernels
@pytest.mark.parametrize("hypothesis", ["last", "average", "vote", "pocket"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_hypothesis_changes_no_update(kernel, hypothesis, n_jobs):
    X, y = tied_set("decimals", classes=3)
    model = model_for(kernel, {"block": 7}, max_iter=4, random_state=0, hypothesis=hypothesis, n_jobs=n_jobs)
    assert_same_run(model.fit(X, y), twin_of(kernel, X, y, 3, seed=0))


WEIGHTS = {
    "dyadic": [0.0, 0.5, 1.0, 2.0],
    "thirds": [0.0, 1 / 3, 1.0, 2 / 3],
    "tenths": [0.1, 0.2, 0.3, 0.7],
    "any size": [1e-12, 1.0, 1e12, 0.1],
}


@some_kernels
@competition
@pytest.mark.parametrize("weights", WEIGHTS)
def test_sample_weights(kernel, classes, multi_class, weights):
    X, y = tied_set("mirrored", classes=classes)
    steps = np.random.default_rng(4).choice(WEIGHTS[weights], len(y))
    steps[:classes] = WEIGHTS[weights][1]
    twin = twin_of(kernel, X, y, classes, seed=1, steps=steps, direct=multi_class == "direct")
    for computing in ({"block": 1}, {"block": 7, "dtype": "float32"}):
        model = model_for(kernel, computing, max_iter=4, random_state=1, multi_class=multi_class)
        assert_same_run(model.fit(X, y, sample_weight=steps), twin)


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


@some_kernels
@competition
@pytest.mark.parametrize("max_updates", [1, 2, 5, 17])
def test_a_limit_of_updates_stops_each_classifier(kernel, classes, multi_class, max_updates):
    X, y = tied_set("ties", classes=classes)
    twin = twin_of(kernel, X, y, classes, seed=1, max_updates=max_updates, direct=multi_class == "direct")
    for block in (1, 7):
        options = {"max_updates": max_updates, "multi_class": multi_class, "max_iter": 4, "random_state": 1}
        assert_same_run(model_for(kernel, {"block": block}, **options).fit(X, y), twin)


@some_kernels
@competition
@pytest.mark.parametrize("max_support", [1, 2, 5])
def test_a_budget_forgets_the_oldest_row(kernel, classes, multi_class, max_support):
    X, y = tied_set("ties", classes=classes)
    twin = twin_of(kernel, X, y, classes, seed=1, max_support=max_support, direct=multi_class == "direct")
    held = {update.row for classifier in twin for update in classifier.updates}
    for computing in ({"block": 7, "dtype": "float32"}, {"block": 1000}):
        options = {"max_support": max_support, "multi_class": multi_class, "max_iter": 4, "random_state": 1}
        model = model_for(kernel, computing, **options).fit(X, y)
        assert_same_run(model, twin)
        assert set(np.asarray(model.support_).tolist()) == held
        assert len(model.support_) <= max_support * len(twin)


def test_a_budget_with_weights_and_a_limit():
    kernel = Kernel("poly", degree=2, coef0=1.0)
    X, y = tied_set("duplicates", classes=3)
    steps = np.random.default_rng(4).choice([0.1, 0.5, 1.0], len(y))
    limits = {"max_support": 3, "max_updates": 12}
    model = model_for(kernel, {"block": 5}, max_iter=4, random_state=1, **limits).fit(X, y, sample_weight=steps)
    assert_same_run(model, twin_of(kernel, X, y, 3, seed=1, steps=steps, **limits))


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
