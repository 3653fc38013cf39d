"""Rows that tie: equal ones are found by hashing, and no kind of row is lost."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.theory import exact as ties
from rosenblatt.theory import scores
from rosenblatt.theory.exact import representatives, row_hashes
from rosenblatt.theory.scores import least_score


def kinds(X, signs, rows, columns):
    return {(signs[i], *(X[i, columns] + 0.0).tolist()) for i in rows.tolist()}


@pytest.mark.parametrize("block_bytes", [1, 64, 1 << 26])
@pytest.mark.parametrize("hashes", [None, lambda part: np.zeros(part.shape[0], np.uint64)])
def test_one_row_of_each_kind_is_kept(monkeypatch, block_bytes, hashes):
    """With a hash that is the same for all, rows too many are kept, and none is lost."""
    monkeypatch.setattr(ties, "_BLOCK_BYTES", block_bytes)
    if hashes is not None:
        monkeypatch.setattr(ties, "row_hashes", hashes)
    rng = np.random.default_rng(0)
    for _ in range(30):
        n, d = int(rng.integers(1, 60)), int(rng.integers(1, 5))
        X = rng.choice([0.0, -0.0, 1.0, 0.1, -1e300, 5e-324], (n, d))
        signs = rng.choice([-1.0, 1.0], n)
        rows = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
        columns = np.sort(rng.permutation(d)[: rng.integers(0, d + 1)])
        like = representatives(X, signs, rows, columns)
        assert representatives(sp.csr_array(X), signs, rows, columns).tolist() == like.tolist()
        assert kinds(X, signs, like, columns) == kinds(X, signs, rows, columns)
        assert all(kinds(X, signs, rows[[k]], columns) == kinds(X, signs, like[[k]], columns) for k in range(len(rows)))
        kept = np.unique(like)
        assert set(kept.tolist()) <= set(rows.tolist())
        assert (np.diff(kept) > 0).all()
        assert kinds(X, signs, kept, columns) == kinds(X, signs, rows, columns)
        if hashes is None:
            assert len(kept) == len(kinds(X, signs, rows, columns))


def test_hashes_of_different_rows_differ():
    """Small integers and powers of two have few bits that differ, and those at the upper end."""
    grid = np.array(np.meshgrid(*[np.arange(-8.0, 8.0)] * 4)).reshape(4, -1).T
    like = representatives(grid, np.ones(len(grid)), np.arange(len(grid)), np.arange(4))
    assert len(np.unique(like)) == 16**4
    assert len(np.unique(row_hashes(grid))) == 16**4


@pytest.mark.parametrize("weights", ["floats", "integers"])
def test_the_least_score_among_many_ties_is_exact(weights):
    rng = np.random.default_rng(1)
    for _ in range(10):
        kinds_of_rows = rng.choice([0.1, 0.3, -0.7, 2.5], (5, 3))
        X = kinds_of_rows[rng.integers(0, 5, 900)]
        X[:, 2] = rng.random(900)  # all different, and of no weight
        signs = np.ones(900)
        w, b = np.array([0.1, -0.3, 0.0]), 0.7
        if weights == "integers":
            w, b = np.array([10**30 + 1, -3, 0], dtype=object), 7
        want = min(sum(Fraction(v) * Fraction(x) for v, x in zip(w.tolist(), row, strict=True)) for row in X.tolist())
        assert least_score(X, signs, w, b) == least_score(sp.csr_array(X), signs, w, b) == want + Fraction(b)


def test_a_million_ties_are_no_million_exact_sums(monkeypatch):
    """Rows that differ only where the weight is zero are one row; before, each was added up in long integers."""
    seen = []
    times = scores.product_with_integers
    monkeypatch.setattr(scores, "product_with_integers", lambda X, w: seen.append(X.shape[0]) or times(X, w))
    X = np.zeros((20_000, 6))
    X[:, 0], X[:, 1] = 0.1, np.arange(20_000) / 7
    assert least_score(X, np.ones(20_000), np.array([0.1, 0, 0, 0, 0, 0]), 0.1) == Fraction(0.1) ** 2 + Fraction(0.1)
    assert seen == [1]
