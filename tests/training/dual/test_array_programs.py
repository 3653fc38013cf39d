"""One array program: NumPy, array-api-strict and PyTorch make the same updates."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.kernel_sets import SOME_KERNELS, assert_same_run, assert_same_updates, kernel_name, model_for, tied_set
from helpers.kernel_sets import twin_of as twin
from helpers.naive_kernel import Kernel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KERNELS = [*SOME_KERNELS, Kernel("laplacian", gamma=0.1), Kernel("poly", degree=5, gamma=0.5, coef0=-1.0)]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
competition = pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])


@kernels
@competition
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_strict_namespace(kernel, classes, multi_class, dtype):
    X, y = tied_set("ties", classes=classes)
    options = {"max_iter": 4, "random_state": 0, "multi_class": multi_class}
    expected = twin(kernel, X, y, classes, seed=0, direct=multi_class == "direct")
    for block in (2, 7, 1000):
        computing = {"namespace": "array_api_strict", "block": block, "dtype": dtype}
        assert_same_run(model_for(kernel, computing, **options).fit(X, y), expected)


@kernels
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
        expected = twin(kernel, X, y, 3, seed=0, steps=steps, max_updates=25, max_support=9)
        assert_same_run(model, expected)


@kernels
@competition
def test_torch(kernel, classes, multi_class):
    computing, options = _other("torch")
    X, y = tied_set("duplicates", classes=classes)
    options |= {"max_iter": 4, "random_state": 0, "multi_class": multi_class}
    expected = twin(kernel, X, y, classes, seed=0, direct=multi_class == "direct")
    for block in (2, 7, 1000):
        for dtype in ("float64", "float32"):
            model = model_for(kernel, {**computing, "block": block, "dtype": dtype}, **options)
            assert_same_run(model.fit(X, y), expected)


@kernels
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
