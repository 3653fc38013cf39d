"""Enclosures: weights that exist within rounding of floats, against exact rational solutions."""

from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.separable_sets import balanced, is_separable, noise, planted, random_signs
from rosenblatt.theory import enclosures
from rosenblatt.theory.enclosures import MOST_BITS, MOST_FACTORS, Basis, ColumnStep, encloses_zero_combination
from rosenblatt.theory.exact import linear_combination


def origin_inside(rng, d, bias):
    """A simplex of rows z around the origin, in general position, and the weights that prove it."""
    size = d + bias + 1
    while True:
        X, signs = rng.standard_normal((size, d)) * 10.0 ** rng.uniform(-3, 3, d), random_signs(rng, size)
        Z = np.hstack([X, np.ones((size, 1))])[:, : d + bias] * signs[:, None]
        try:
            alpha = np.linalg.solve(np.vstack([Z.T, np.ones(size)]), np.append(np.zeros(size - 1), 1.0))
        except np.linalg.LinAlgError:
            continue
        if np.min(alpha) > 1e-3:
            return X, signs, alpha


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_enclosures_prove_what_is_true(d, bias):
    rng = np.random.default_rng(d)
    for _ in range(20):
        X, signs, alpha = origin_inside(rng, d, bias)
        rows = np.arange(len(X))
        assert not is_separable(X, signs, bias)
        assert encloses_zero_combination(X, signs, rows, alpha, bias)
        assert encloses_zero_combination(sp.csr_array(X), signs, rows, alpha, bias)
        for scale in (2.0**900, 2.0**-900):
            assert encloses_zero_combination(X * scale, signs, rows, alpha, bias)
        assert not encloses_zero_combination(X, signs, rows[:-1], alpha[:-1], bias)
        signs[int(rng.integers(len(X)))] *= -1  # a weight of a nonsingular system has to be negative then
        assert not encloses_zero_combination(X, signs, rows, alpha, bias)


def test_enclosures_prove_nothing_that_is_false():
    """Whatever the weights are, the least favourable ones included: those that nearly balance."""
    rng = np.random.default_rng(6)
    for k in range(150):
        d = int(rng.integers(1, 5))
        X, signs = planted(d + 2, d, float(rng.choice([1e-1, 1e-8, 1e-12, 1e-15])), seed=k)
        M = np.vstack([(X * signs[:, None]).T, signs, np.ones(d + 2)])
        nearly = np.abs(np.linalg.lstsq(M, np.append(np.zeros(d + 1), 1.0), rcond=None)[0])
        for alpha in (nearly, rng.dirichlet(np.ones(d + 2)), np.ones(d + 2), nearly * 1e290):
            if encloses_zero_combination(X, signs, np.arange(d + 2), alpha, True):
                assert not is_separable(X, signs)
    X, signs = noise(4, 2, seed=1)
    assert not encloses_zero_combination(np.ones((4, 2)), signs, np.arange(4), np.full(4, 0.25), True)  # singular
    assert not encloses_zero_combination(X * 0.0, signs, np.arange(4), np.full(4, 0.25), True)


# With a basis of the rows, and steps that make columns simpler.


def with_basis(rng, d, more):
    """Points whose rows z add up to zero with the weights that are returned, and the rows of a basis."""
    while True:
        X, signs, alpha = origin_inside(rng, d, True)
        extra, sides = rng.standard_normal((more, d)), random_signs(rng, more)
        weights = rng.uniform(0.01, 0.02, more)
        B = np.column_stack([X, np.ones(len(X))])[:-1] * signs[:-1, None]
        others = (weights * sides) @ np.column_stack([extra, np.ones(more)])
        right = alpha[-1] * signs[-1] * np.append(X[-1], 1.0) + others
        basis_weights = np.linalg.solve(B.T, -right)
        if np.min(basis_weights) > 1e-3:
            all_weights = np.concatenate([basis_weights, alpha[-1:], weights])
            points = np.vstack([X, extra])
            return points, np.concatenate([signs, sides]), all_weights, Basis(tuple(range(d + 1)))


@pytest.mark.parametrize("d", [1, 2, 4])
def test_a_basis_is_enough_for_any_number_of_rows(d):
    rng = np.random.default_rng(d)
    for more in (0, 1, 3, 8):
        X, signs, alpha, basis = with_basis(rng, d, more)
        rows = np.arange(len(X))
        assert encloses_zero_combination(X, signs, rows, alpha, True, basis)
        assert encloses_zero_combination(sp.csr_array(X), signs, rows, alpha, True, basis)
        assert balanced(X, signs, alpha, None, True, basis)
        rest = basis.rows[1:]
        wrong = [tuple(rest), (*basis.rows, d + 1), (*rest, rest[0]), (-1, *rest), (len(X), *rest)]
        assert not any(encloses_zero_combination(X, signs, rows, alpha, True, one) for one in map(Basis, wrong))
        assert not encloses_zero_combination(X, signs, rows, alpha * rng.uniform(0.9, 1.1, len(alpha)), True, basis)
        assert not encloses_zero_combination(X, signs, rows, -alpha, True, basis)


UNSOUND = {
    "times 0": ColumnStep(1, 0, (), ()),
    "itself": ColumnStep(1, 1, (1,), (1,)),
    "a column twice": ColumnStep(1, 1, (0, 0), (1, -1)),
    "no such column": ColumnStep(9, 1, (0,), (1,)),
    "before the first column": ColumnStep(1, 1, (-1,), (1,)),
    "too few factors": ColumnStep(1, 1, (0, 2), (1,)),
    "too long": ColumnStep(1, 1, (0,), (1 << MOST_BITS,)),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_steps_that_cannot_be_undone_prove_nothing(name):
    """With a step that forgets a column, points that can be separated would look as if they could not."""
    X, signs = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]]), np.array([1.0, -1.0, 1.0])
    rows, alpha = np.arange(3), np.array([0.25, 0.5, 0.25])
    assert is_separable(X, signs)
    kept = X[:, :1]
    assert encloses_zero_combination(kept, signs, rows, alpha, True, Basis((0, 1)))
    for size in (2, 3):
        assert not encloses_zero_combination(X, signs, rows, alpha, True, Basis(tuple(range(size)), (UNSOUND[name],)))


def test_more_steps_than_a_proof_needs_are_refused():
    X, signs = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0])
    step = ColumnStep(0, 1, (), ())
    for count in (0, 2 * MOST_FACTORS, 2 * MOST_FACTORS + 1):
        found = encloses_zero_combination(
            X, signs, np.arange(3), np.array([0.25, 0.5, 0.25]), True, Basis((0, 1), (step,) * count)
        )
        assert found == (count <= 2 * MOST_FACTORS)


def test_numbers_that_grow_from_step_to_step_are_given_up():
    """Each step of a forged proof may make the numbers longer: two columns in turn, by thousands of bits."""
    X, signs = noise(40, 2)
    long = (1 << MOST_BITS) - 1
    steps = tuple(ColumnStep(k % 2, long, (1 - k % 2,), (long,)) for k in range(40))
    seen = []
    with mock.patch.object(enclosures, "linear_combination", lambda parts: seen.append(1) or linear_combination(parts)):
        alpha = np.full(40, 1 / 40)
        assert not encloses_zero_combination(X, signs, np.arange(40), alpha, True, Basis((0, 1, 2), steps))
    assert len(seen) == 1
