"""The rescaled perceptron against a twin in plain numpy, on margins that the plain one cannot see."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data import make_separable
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.theory.search.gordan import gordan
from rosenblatt.theory.search.presolve import Unsolvable
from rosenblatt.theory.search.rescaled import rescaled_perceptron


def planted(n, d, margin, seed=0):
    X, y = make_separable(n, d, margin, seed)
    return y[:, None] * X


def naive(Z, max_rescalings, updates):
    """Return how often each row is updated on and the rescalings made: the module's pseudocode, line by line."""
    n, m = Z.shape
    B, total, passes = np.eye(m), np.zeros(n, int), 0
    for rescalings in range(max_rescalings + 1):
        A = Z @ B
        A = A / np.linalg.norm(A, axis=1)[:, None]
        w, counts, clean = np.zeros(m), np.zeros(n, int), False
        while not clean and counts.sum() < updates:
            clean = True
            for i in visiting_order(n, 0, passes):
                if not A[i] @ w > 0 and counts.sum() < updates:
                    w, clean = w + A[i], False
                    counts[i] += 1
            passes += 1
        total += counts
        if positive(Z, B @ w):
            return total, rescalings
        S = np.eye(m) + 10 * m * (A.T * counts / counts.sum()) @ A
        values, vectors = np.linalg.eigh(S)
        B = B @ (vectors / np.sqrt(values)) @ vectors.T
        B /= np.linalg.norm(B)
    return total, max_rescalings


def positive(Z, v):
    """Say whether Z v > 0 in every row, with fractions."""
    exact = [Fraction(value) for value in v.tolist()]
    return all(sum(Fraction(a) * b for a, b in zip(row, exact, strict=True)) > 0 for row in Z.tolist())


@pytest.mark.parametrize(("margin", "seed"), [(1e-1, 0), (1e-3, 1), (1e-5, 2), (1e-7, 3)])
def test_equals_its_twin(margin, seed):
    Z = planted(60, 6, margin, seed)
    Z /= 2.0 ** np.frexp(np.abs(Z).max(axis=1))[1][:, None]
    assert (np.frexp(np.abs(Z).max(axis=0))[1] == 0).all(), "otherwise columns are scaled first"
    run = rescaled_perceptron(Z)
    counts, rescalings = naive(Z, 100, 24)
    assert run.alpha.tolist() == counts.tolist()
    assert (run.updates, run.rescalings) == (counts.sum(), rescalings)


@pytest.mark.parametrize("margin", [1e-2, 1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize(("n", "d"), [(500, 10), (100, 3), (300, 2)])
def test_tiny_margins_take_few_updates(n, d, margin):
    Z = planted(n, d, margin)
    run = rescaled_perceptron(Z)
    assert run.updates < 5000
    assert run.wrong == 0
    assert run.best is run.v
    assert positive(Z, run.v)
    assert run.alpha.sum() == run.updates


def test_the_plain_perceptron_does_not_get_there():
    run = rescaled_perceptron(planted(500, 10, 1e-8), max_rescalings=0, max_updates_per_phase=5000)
    assert run.v is None
    assert (run.updates, run.rescalings) == (5000, 0)
    assert run.wrong > 0


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_length_of_rows_and_the_layout_do_not_matter(layout):
    Z = planted(80, 5, 1e-5)
    places = np.random.default_rng(0).integers(-900, 900, 80)
    scaled = np.ldexp(Z, places[:, None])
    run = rescaled_perceptron(layout(scaled))
    assert run.alpha.tolist() == rescaled_perceptron(Z).alpha.tolist()
    assert positive(scaled, run.v)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_features_of_any_scale(layout):
    Z = np.ldexp(planted(80, 5, 1e-5), [-300, 200, 0, 400, -10])
    run = rescaled_perceptron(layout(Z))
    assert run.updates < 1000
    assert positive(Z, run.v)


def test_never_a_false_answer_where_there_is_none():
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        Z = rng.integers(-2, 3, (int(rng.integers(2, 9)), int(rng.integers(1, 4)))).astype(float)
        run = rescaled_perceptron(Z, max_rescalings=30)
        assert (run.v is None) == isinstance(gordan(Z), Unsolvable)
        refused += run.v is None
        assert run.wrong == np.sum(~(Z @ run.best > 0))
    assert 10 < refused < 50


def test_stops_when_space_is_stretched_too_far():
    run = rescaled_perceptron([[1, 0], [-1, 0], [0.5, 1]], max_rescalings=10_000)
    assert (run.v, run.wrong) == (None, 1)
    assert run.rescalings < 100


@pytest.mark.parametrize("Z", [np.zeros((2, 0)), [[1.0, 1.0], [0.0, 0.0]]])
def test_what_cannot_be_positive_is_not_tried(Z):
    run = rescaled_perceptron(Z)
    assert (run.v, run.updates, run.passes, run.wrong) == (None, 0, 0, 2)


def test_the_ends_of_the_range_of_floats():
    assert rescaled_perceptron([[1e308, 0.0], [5e-324, 0.0], [-1e-300, 1e-310]]).v is not None
    assert rescaled_perceptron([[1e-320, 1e300], [1e-320, -1e300]]).v is not None


def test_phases_are_reported():
    seen = []
    run = rescaled_perceptron(planted(100, 5, 1e-6), on_phase=lambda *what: seen.append(what))
    assert [rescalings for rescalings, _, _ in seen] == list(range(run.rescalings + 1))
    assert seen[-1][1:] == (run.updates, 0)
    assert str(run).startswith("Solved: every row of Z v is positive.")
    one = rescaled_perceptron([[1.0], [-1.0]], max_rescalings=1, max_updates_per_phase=1)
    assert str(one).startswith(
        "Not solved, which proves nothing: at best Z v has 1 row not positive. 2 updates in 2 pass"
    )


def test_refuses_what_cannot_be_meant():
    for name, value in (
        ("max_rescalings", -1),
        ("max_rescalings", 1.5),
        ("max_rescalings", True),
        ("max_updates_per_phase", 0),
    ):
        with pytest.raises(ValueError, match="must be an integer of at least"):
            rescaled_perceptron([[1.0]], **{name: value})
    with pytest.raises(ValueError, match="NaN"):
        rescaled_perceptron([[np.nan]])
