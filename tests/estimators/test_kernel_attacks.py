"""What an attack on the kernel perceptron found, each as it was found."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import KernelPerceptron, load, save
from rosenblatt.training.dual import predict as voting


def test_thirds_that_add_up_to_one_are_no_integers():
    X, y = [[1, 2], [0, 2]], [-1, 1]
    weights = {1: 1.0, -1: 1 / 3}
    model = KernelPerceptron("linear", hypothesis="last", shuffle=False, max_iter=200, class_weight=weights).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0


def test_steps_that_cancel_leave_their_rounding_errors():
    X = np.eye(2)
    model = KernelPerceptron("linear", shuffle=False, max_iter=1, warm_start=True)
    model.fit(X, [1, -1], sample_weight=[0.4, 0.4])
    for step in (0.1, 0.2, 0.1):
        model.fit(X, [-1, 1], sample_weight=[step, step])
    left = Fraction(0.4) - Fraction(0.1) - Fraction(0.2) - Fraction(0.1)
    sign = (left > 0) - (left < 0)
    assert np.sign(model.set_params(hypothesis="last").decision_function(X)).tolist() == [sign, -sign]


@pytest.mark.parametrize("block", [1, 2, 1000])
def test_rows_forgotten_in_the_block_that_brought_them_leave_nothing(block, tmp_path, monkeypatch):
    monkeypatch.setattr(KernelPerceptron, "_computing", {"block": block})
    model = KernelPerceptron("linear", shuffle=False, max_iter=1, max_support=1)
    model.fit([[2, -3], [4, -2], [3, -4]], [-1, 1, -1])
    assert model.state_.norm2 == pytest.approx([25.0])
    assert model.report_.margin_high == pytest.approx(5.0)
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").support_.tolist() == model.support_.tolist()


def test_sparse_distances_take_memory_for_the_columns_that_occur():
    n, d = 2000, 10**6
    rng = np.random.default_rng(0)
    X = sp.csr_array((np.ones(5 * n), rng.integers(0, d, 5 * n), np.arange(n + 1) * 5), (n, d))
    y = np.arange(n) % 2
    model = KernelPerceptron("laplacian", gamma=1.0, max_iter=1).fit(X[:10], y[:10])
    tracemalloc.start()
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    few, supports = X[:3], model.support_vectors_
    for row, values in zip(few.toarray(), model.kernel_values(few), strict=True):
        expected = [np.exp(-np.abs(row - support).sum()) for support in supports.toarray()]
        assert values == pytest.approx(expected)


@pytest.mark.parametrize("weight", [1e-300, 1e-160, 1e160, 1e300])
def test_weights_of_any_size_prove_nothing_false(weight, tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12, 2)), np.where(rng.random(12) < 0.5, 1, -1)
    unit = KernelPerceptron("rbf", gamma=1.0, max_iter=50, shuffle=False).fit(X, y)
    model = KernelPerceptron("rbf", gamma=1.0, max_iter=50, shuffle=False).fit(X, y, sample_weight=np.full(12, weight))
    assert model.support_.tolist() == unit.support_.tolist()
    assert model.report_.margin_low <= unit.report_.margin_high * 1.0000001
    assert model.report_.margin_high >= unit.report_.margin_low
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == unit.predict(X).tolist()


@pytest.mark.parametrize("degree", [1, 3])
def test_dot_products_that_vanish_before_gamma_brings_them_back(degree):
    model = KernelPerceptron("poly", degree=degree, gamma=1e300, coef0=1e-60, shuffle=False, hypothesis="last")
    assert model.fit([[1e-170], [-1e-170]], [1, -1]).n_updates_ == 1


def test_kernel_values_beyond_the_floats_can_be_saved(tmp_path):
    X = np.array([[1e120, 2e120], [-1e120, 1e120], [3e120, -1e120]])
    model = KernelPerceptron("poly", gamma=1.0, max_iter=3).fit(X, [0, 1, 1])
    assert model.report_.radius == np.inf
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == model.predict(X).tolist()


def test_float32_products_prove_nothing_false(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    exact = KernelPerceptron(degree=2, coef0=0.0, gamma=0.1, shuffle=False).fit(X, y).report_
    monkeypatch.setattr(KernelPerceptron, "_computing", {"dtype": "float32"})
    rough = KernelPerceptron(degree=2, coef0=0.0, gamma=0.1, shuffle=False).fit(X, y).report_
    assert rough.margin_high >= exact.margin_high * (1 - 1e-9)
    huge = KernelPerceptron(degree=150, gamma=1.0).fit([[-1.422, -0.198], [1.364, 2.13]], [0, 1]).report_
    assert huge.margin_low <= huge.margin_high


def test_votes_far_from_all_support_rows_are_counted_in_bulk(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 4)), rng.integers(0, 2, 600)
    model = KernelPerceptron("rbf", gamma=20.0, max_iter=1, hypothesis="vote", shuffle=False).fit(X, y)
    asked = []
    settled = voting.settled_sign
    monkeypatch.setattr(voting, "settled_sign", lambda *given: asked.append(1) or settled(*given))
    model.predict(rng.normal(size=(20, 4)))
    assert len(asked) < 200


@pytest.mark.parametrize("wrong", [{"cache_size": 1e305}, {"gamma": 10**400}, {"coef0": 10**400}, {"degree": 5000}])
def test_numbers_out_of_range_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        KernelPerceptron(**wrong).fit([[1.0], [2.0]], [0, 1])


def test_complex_kernel_values_are_refused():
    with pytest.raises(ValueError, match="expected kernel values"):
        KernelPerceptron(lambda A, B: (A @ B.T) * 1j).fit([[1.0], [2.0]], [0, 1])
