"""Chunks of several layouts in one model, and numbers near the ends of the floats."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.kernel_sets import assert_same_run, model_for, tied_set, twin_of
from helpers.naive_kernel import Kernel
from rosenblatt import load, save

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KERNELS = [Kernel("linear"), Kernel("poly", degree=2), Kernel("rbf", gamma=0.5), Kernel("laplacian", gamma=0.5)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("computing", [{}, {"block": 2, "cache_bytes": 300}, {"dtype": "float32"}])
def test_dense_and_sparse_chunks_make_one_run(kernel, multi_class, computing):
    X, y = tied_set("ties", n=40, classes=3)
    twin = twin_of(kernel, X, y, 3, shuffle=False, passes=1, direct=multi_class == "direct")
    for layouts in ([np.asarray, sp.csr_array], [sp.csr_array, np.asarray], [np.asarray, np.asarray, sp.csr_array]):
        model = model_for(kernel, computing, multi_class=multi_class, hypothesis="last")
        for (i, j), layout in zip(itertools.pairwise(range(0, 41, 5)), itertools.cycle(layouts), strict=False):
            model.partial_fit(layout(X[i:j]), y[i:j], classes=[0, 1, 2])
        state = model.state_
        counted = np.array(state.mistakes).sum(axis=0)
        state.mistakes, state.passes, state.done = [counted], 1, counted == 0  # of one pass, as the twin makes
        assert_same_run(model, twin)
        assert model.predict(sp.csr_array(X)).tolist() == model.predict(X).tolist()


def test_fits_go_on_with_rows_of_another_layout():
    X, y = tied_set("gauss", n=40)
    options = {"shuffle": False, "warm_start": True, "max_iter": 1}
    for kernel in KERNELS:
        one, two = model_for(kernel, **options), model_for(kernel, **options)
        for layout in (np.asarray, sp.csr_array, np.asarray):
            one.fit(layout(X), y)
            two.fit(X, y)
        assert one.support_.tolist() == two.support_.tolist()
        assert one.last_dual_coef_.tolist() == two.last_dual_coef_.tolist()


def test_an_average_too_small_for_floats_has_its_sign():
    """A score of 5e-324 times a number of visits is the smallest that there is, and was divided by them."""
    X, y = [[1e-170], [-1e-170], [2e-170]], [1, 0, 1]
    model = model_for(Kernel("linear"), shuffle=False, max_iter=3).fit(X, y)
    assert model.predict(X).tolist() == y
    assert not model.on_boundary(X).any()


def test_a_row_of_zeros_after_rows_beyond_float32():
    X = np.array([[1e200, 0], [0, 1e200], [0, 0], [-1e200, 0]] * 2)
    y = np.array([0, 1, 2, 1] * 2)
    kernel = Kernel("poly", degree=2, coef0=0.0)
    options = {"shuffle": False, "multi_class": "direct", "max_iter": 2}
    model = model_for(kernel, {"dtype": "float32", "block": 1}, **options).fit(X, y)
    assert_same_run(model, twin_of(kernel, X, y, 3, shuffle=False, passes=2, direct=True))


def test_degree_0_is_1_of_any_rows(tmp_path):
    X, y = [[1e200], [-1e200], [3e200]], [0, 1, 1]
    model = model_for(Kernel("poly", degree=0), shuffle=False, max_iter=2).fit(X, y)
    assert model.kernel_values(X).tolist() == [[1.0] * len(model.support_)] * 3
    assert model.report_.radius == 1
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(X).tolist() == model.predict(X).tolist()
