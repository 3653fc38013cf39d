"""The exact parts under separation against Fractions: products, ranks, systems, the simplex method, moved columns."""

from fractions import Fraction

import numpy as np
import pytest

from helpers.naive_separation import kept_columns
from rosenblatt.theory.exact import Combination, farkas, lowest_exponents, to_integers
from rosenblatt.theory.logistic import arithmetic as modular
from rosenblatt.theory.logistic.arithmetic import (
    PRIMES,
    exact_scores,
    float_scores,
    pivot_columns,
    rank_is_at_least,
    residues,
    row_basis,
    scaled_floats,
    solve,
)
from rosenblatt.theory.logistic.problem import Problem, centred


def integers(rng, shape, most=4):
    return rng.integers(-most, most + 1, shape).astype(object)


def sets(rng):
    yield rng.integers(-3, 4, (7, 3)).astype(float)
    yield rng.standard_normal((7, 3))
    yield rng.choice([0.0, 1e300, -1e-300, 0.1, 5e-324], (7, 3))
    yield np.zeros((7, 3))


def test_floats_are_integers_times_powers_of_two():
    for X in sets(np.random.default_rng(0)):
        exponents = lowest_exponents(X)
        whole = to_integers(X, exponents)
        for i, j in np.ndindex(X.shape):
            assert Fraction(int(whole[i, j])) * Fraction(2) ** int(exponents[j]) == Fraction(X[i, j])


@pytest.mark.parametrize("repeated", [1, 300])
def test_products_are_exact_up_to_a_factor(repeated):
    rng = np.random.default_rng(1)
    for bits in (2, 60, 2000):
        D = integers(rng, (3, 2)) * (1 << bits) + integers(rng, (3, 2))
        for X in sets(rng):
            scores = exact_scores(np.tile(X, (repeated, 1)), D)[: len(X)]
            near, error = float_scores(X, D)
            true = [sum(Fraction(a) * b for a, b in zip(x, d, strict=True)) for x in X.tolist() for d in D.T]
            ratios = {Fraction(s) / t for s, t in zip(scores.ravel().tolist(), true, strict=True) if t}
            assert len(ratios) <= 1
            assert all(ratio > 0 for ratio in ratios)
            assert [s != 0 for s in scores.ravel()] == [t != 0 for t in true]
            unit = 1 << max(int(abs(v)).bit_length() for v in D.ravel())
            for t, s, e in zip(true, near.ravel().tolist(), error.ravel().tolist(), strict=True):
                if np.isfinite(s):
                    assert abs(t / unit - Fraction(s)) <= Fraction(e)


def test_residues_leftmost_columns_and_ranks():
    rng = np.random.default_rng(2)
    for seed in range(60):
        X = rng.choice([0.0, 0.5, 1.0, -2.0, 0.1], (rng.integers(1, 7), rng.integers(1, 6)))
        if seed % 3 == 0:
            X[:, -1] = X[:, 0] * 3
        kept = kept_columns(X.tolist())
        assert pivot_columns(residues(X, PRIMES[0]), PRIMES[0]) == kept
        rows, columns = row_basis(X, np.zeros(1, dtype=np.intp), PRIMES[0])
        assert columns == kept
        assert len(rows) == len(kept)
        assert rank_is_at_least(X, len(kept))
        assert not rank_is_at_least(X, len(kept) + 1)


def test_an_unlucky_prime_is_not_the_last_word():
    assert rank_is_at_least(np.array([[PRIMES[0] * 1.0]]), 1)
    assert pivot_columns(residues(np.array([[PRIMES[0] * 1.0]]), PRIMES[0]), PRIMES[0]) == []


@pytest.mark.parametrize("bits", [0, 40, 200])
def test_systems_are_solved_exactly(bits):
    rng = np.random.default_rng(3)
    for size in (1, 2, 5, 12):
        M, right = integers(rng, (size, size), 9) << bits, integers(rng, (size, 2), 9)
        M = M + integers(rng, (size, size), 9)
        if len(pivot_columns(residues(M, PRIMES[0]), PRIMES[0])) < size:
            continue
        numerators, denominator = solve(M, right, PRIMES[0])
        assert denominator > 0
        assert (M @ numerators == right * denominator).all()


def test_systems_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(modular, "_MAX_EQUATIONS", 2)
    with pytest.raises(ValueError, match="a system of 3 equations is too large for exact arithmetic: at most 2"):
        solve(np.eye(3, dtype=int).astype(object), np.ones((3, 1), dtype=int).astype(object), PRIMES[0])


def test_farkas_has_one_answer_that_multiplies_out():
    rng = np.random.default_rng(4)
    kinds = set()
    for _ in range(300):
        A, target = integers(rng, (rng.integers(1, 9), 3), 2), integers(rng, 3, 2)
        if not target.any():
            continue
        answer = farkas(A, target)
        kinds.add(type(answer))
        if isinstance(answer, Combination):
            total = answer.weights @ A[answer.rows]
            assert min(answer.weights) > 0
            k = int(np.flatnonzero(target)[0])
            assert total[k] * target[k] > 0
            assert (total * target[k] == target * total[k]).all()
        else:
            assert (A @ answer.y >= 0).all()
            assert target @ answer.y < 0
    assert len(kinds) == 2


def test_columns_of_long_integers_are_near_floats():
    A = np.array([[1 << 5000, 3], [-(1 << 4999), 0]], dtype=object)
    near, powers = scaled_floats(A)
    assert near.tolist() == [[0.5, 0.75], [-0.25, 0.0]]
    assert powers.tolist() == [5001, 2]


def test_columns_far_from_zero_are_moved_exactly():
    rng = np.random.default_rng(5)
    X = np.column_stack([np.ones(9), rng.standard_normal(9) + 1e9, rng.standard_normal(9), rng.random(9) - 1e5])
    problem = Problem(("intercept", "a", "b", "c"), (0, 1, 2), X, np.arange(9) % 3, np.arange(9))
    centring = centred(problem)
    assert (centring.offsets != 0).tolist() == [False, True, False, True]
    v = integers(rng, (8, 1))
    moved = centring.to_centred(v)
    for i, x in enumerate(X.tolist()):
        for block in (slice(0, 4), slice(4, 8)):
            before = sum(Fraction(a) * b for a, b in zip(x, v[block, 0], strict=True))
            after = sum(Fraction(a) * b for a, b in zip(centring.problem.X[i].tolist(), moved[block, 0], strict=True))
            assert (before > 0, before < 0) == (after > 0, after < 0)
    again = centring.to_original(moved)
    k = int(np.flatnonzero(v)[0])
    assert (again * v[k] == v * again[k]).all()
    for j in range(8):
        exact = sum(Fraction(c) * int(m) for c, m in zip(centring.coefficient(j).tolist(), moved[:, 0], strict=True))
        assert (exact > 0, exact < 0) == (v[j, 0] > 0, v[j, 0] < 0)
