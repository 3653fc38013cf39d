"""Newton's method on the squared hinge loss against what it must converge to."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.separable_sets import noise, planted
from rosenblatt.theory.search.presolve import fold
from rosenblatt.theory.search.wide import HingeSearch, best_length


def loss(s, q, t):
    return float(np.sum(np.maximum(1.0 - s - t * q, 0.0) ** 2))


def test_the_best_length_beats_all_others():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        s, q = rng.integers(-3, 4, n) / 2, rng.integers(-3, 4, n) / 2
        if not np.maximum(1.0 - s, 0.0) @ q > 0:  # it does not go down
            continue
        t = best_length(s, q)
        assert t > 0
        around = np.concatenate([t * np.linspace(0.0, 3.0, 61), np.linspace(0.0, 20.0, 81)])
        assert loss(s, q, t) <= min(loss(s, q, other) for other in around) + 1e-12


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_steps_by_rows_end_where_steps_by_columns_do(form):
    """Zero columns change nothing but the way: with them there are fewer rows than columns."""
    X, signs = noise(30, 6)
    Z, _ = fold(X, signs, True)
    wide = np.column_stack([Z, np.zeros((30, 60))])
    one, other = HingeSearch(form(Z), np.zeros(7)), HingeSearch(form(wide), np.zeros(67))
    assert (one.by_rows, other.by_rows) == (False, True)
    for _ in range(12):
        one.step()
        other.step()
    np.testing.assert_allclose(other.v[:7], one.v, rtol=1e-6)
    assert not other.v[7:].any()
    assert max(one.off, other.off) < 1e-8


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_it_ends_in_a_solution_or_in_weights_that_add_up_to_zero(form):
    for X, signs, solvable in ((*planted(80, 6, 1e-4), True), (*noise(80, 6), False)):
        Z, _ = fold(form(X), signs, True)
        search = HingeSearch(Z, np.zeros(7))
        while search.off > 1e-13 and search.steps < 100 and not (search.s > 0).all():
            search.step()
        assert bool((Z @ search.v > 0).all()) == solvable
        if not solvable:
            a = search.weights
            assert np.max(np.abs(Z.T @ a)) < 1e-10
            assert np.linalg.norm(a) >= 1.0
            assert a @ a == pytest.approx(a.sum(), rel=1e-9)  # the projection of the vector of ones
