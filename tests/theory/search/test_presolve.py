"""Peeling against its definition, and against exact answers for what is left."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.separable_sets import is_separable
from rosenblatt.theory.search.presolve import (
    postsolve,
    presolve,
    rows_without_rare_columns,
    signed_rows,
)


def sparse_rows(rng, n, m):
    return np.where(rng.random((n, m)) < 0.3, rng.integers(-2, 3, (n, m)), 0).astype(float)


def naive_core(Z):
    """Return the rows that are left when one column after the other is used, in any order."""
    left = list(range(len(Z)))
    while True:
        one_signed = [j for j in range(Z.shape[1]) if (Z[left, j] >= 0).all() != (Z[left, j] <= 0).all()]
        if not one_signed:
            return left
        left = [i for i in left if Z[i, one_signed[0]] == 0]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_core_is_what_no_column_settles(form):
    rng = np.random.default_rng(0)
    sizes = []
    for _ in range(200):
        Z = sparse_rows(rng, int(rng.integers(1, 12)), int(rng.integers(1, 7)))
        core, rounds = presolve(form(Z))
        assert core.tolist() == naive_core(Z)
        assert sorted([*core, *(row for one in rounds for row in one.rows)]) == list(range(len(Z)))
        if len(core) == 0:  # every row can be solved, if none is zero
            v = postsolve(form(Z), np.zeros(Z.shape[1]), rounds)
            assert (Z @ v > 0).all()
        sizes.append(len(core))
    assert 10 < sizes.count(0) < 180


def test_the_core_is_separable_if_and_only_if_everything_is():
    rng = np.random.default_rng(1)
    answers = []
    for _ in range(150):
        X = sparse_rows(rng, int(rng.integers(3, 9)), 3)
        signs = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
        Z, _ = signed_rows(X, signs, True)
        core, rounds = presolve(Z)
        whole = is_separable(X, signs)
        assert whole == (len(core) == 0 or is_separable(X[core], signs[core]))
        answers.append((whole, bool(rounds)))
    assert len(set(answers)) == 4


def test_a_solution_of_the_core_becomes_one_of_all_rows():
    Z = np.array([[1.0, 1.0, 0.0], [-1.0, 2.0, 0.0], [-5.0, -9.0, 1.0], [3.0, -50.0, 2.0]])
    core, rounds = presolve(Z)
    assert core.tolist() == [] or (Z[core] @ [0.0, 1.0, 0.0] > 0).all()
    for form in (np.asarray, sp.csr_array):
        v = postsolve(form(Z), np.array([0.0, 1.0, 0.0]), rounds)
        assert (Z @ v > 0).all()


def test_rows_of_rare_columns_are_left_out():
    Z = np.array([[1.0, 0, 1], [-1.0, 0, 1], [1.0, 1, -1], [-1.0, -1, -1], [1.0, 0, -1], [-1.0, 0, 1]])
    assert rows_without_rare_columns(Z, 1).tolist() == [0, 1, 4, 5] or rows_without_rare_columns(Z, 1).tolist() == []
    assert rows_without_rare_columns(Z, 0).tolist() == list(range(6))
    assert rows_without_rare_columns(sp.csr_array(Z), 1).tolist() == rows_without_rare_columns(Z, 1).tolist()
    assert rows_without_rare_columns(Z, 3).tolist() == []


@pytest.mark.parametrize("bias", [True, False])
def test_folded_rows_are_the_rows_scaled_by_powers_of_two(bias):
    X = np.array([[3.0, 0.0, 1e-300], [-5.0, 0.0, 2e-300], [0.5, 0.0, 0.0]])
    signs = np.array([1.0, -1.0, 1.0])
    for form in (np.asarray, sp.csr_array):
        Z, places = signed_rows(form(X), signs, bias)
        Z = Z.toarray() if sp.issparse(Z) else Z
        back = np.ldexp(Z, places) * signs[:, None]
        np.testing.assert_array_equal(back, np.column_stack([X, np.ones(3)])[:, : 3 + bias])
        assert np.max(np.abs(Z)) <= 1.0
