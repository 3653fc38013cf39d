"""Systems that are empty by however little, told from those that only have no interior."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import Certificate, strict_feasibility
from rosenblatt.theory.exact import Combination, TooMuchWorkError, farkas
from rosenblatt.theory.linear_programs import solve as emptiness
from rosenblatt.theory.linear_programs.answers import Infeasible


def has_solution(A, b):
    """Return whether A x <= b has one, by eliminating one variable after the other in fractions (Fourier, Motzkin)."""
    rows = [[*map(Fraction, row), Fraction(side)] for row, side in zip(A, b, strict=True)]
    for j in range(len(A[0])):
        above, below = [row for row in rows if row[j] > 0], [row for row in rows if row[j] < 0]
        rows = [row for row in rows if row[j] == 0]
        rows += [[x / p[j] - y / q[j] for x, y in zip(p, q, strict=True)] for p in above for q in below]
    return all(row[-1] >= 0 for row in rows)


@pytest.mark.parametrize(
    ("A", "b"),
    [
        ([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -1, 0, -1e-320]),  # x = 1, and 1e-320 <= y <= 0
        ([[1, 0], [-1, 0], [0, 1e300], [0, -1e-300]], [1e300, -1e300, 0, -1e-320]),
        ([[0.0], [2.0**490], [-(2.0**273)]], [2.0**642, 0.0, -(2.0**-376)]),  # the first row takes up what is missing
        ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 1, -1 - 2.0**-52]),
    ],
)
def test_a_system_that_is_empty_by_very_little_is_empty(A, b):
    for given in (np.array(A, dtype=float), sp.csr_array(np.array(A, dtype=float))):
        answer = strict_feasibility(given, b)
        assert answer.empty
        assert answer.deficit > 0
        assert "not even A x <= b has a solution" in str(answer)
        assert Certificate.from_json(answer.to_json()).check(given, b)


def test_a_system_without_an_interior_is_not_empty():
    A, b = [[1, 0], [-1, 0], [0, 1], [0, -1]], [1e300, -1e300, 0, 0]
    answer = strict_feasibility(A, b)
    assert not answer.empty
    assert answer.check(A, b)


@pytest.mark.parametrize("mode", range(4))
def test_small_systems_of_any_scale_are_told_apart_exactly(mode):
    rng = np.random.default_rng(mode)
    told = []
    for _ in range(150):
        d, m = int(rng.integers(1, 4)), int(rng.integers(2, 7))
        A, b = rng.integers(-2, 3, (m, d)).astype(float), rng.integers(-2, 3, m).astype(float)
        if mode == 1:
            A, b = A * 2.0 ** rng.integers(-1000, 1000, (m, 1)), b * 2.0 ** rng.integers(-1000, 1000)
        if mode == 2:
            b = b * 2.0 ** rng.integers(-1000, 1000, m)
        if mode == 3:
            A, b = A * 2.0 ** rng.integers(-500, 500, (m, d)), b * 2.0 ** rng.integers(-1000, 1000, m)
        answer = strict_feasibility(A, b)
        if isinstance(answer, Infeasible):
            assert answer.empty != has_solution(A.tolist(), b.tolist())
            assert answer.check(A, b)
            told.append(answer.empty)
    assert {True, False} == set(told)


def test_large_systems_and_long_work_keep_the_proof_at_hand(monkeypatch):
    A, b = [[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -1, 0, -1e-320]
    monkeypatch.setattr(emptiness, "MOST_WORK", 0)
    answer = strict_feasibility(A, b)
    assert not answer.empty
    assert answer.check(A, b)
    monkeypatch.setattr(emptiness, "FEW_ENTRIES", 0)
    assert not strict_feasibility(A, b).empty


def test_the_simplex_says_when_its_work_is_done():
    A, target = np.array([(2, 1), (-1, 1), (3, -2)], dtype=object), np.array([0, 1], dtype=object)
    for patience in (0, 21):
        found = farkas(A, target, patience)
        assert isinstance(found, Combination)
        assert (found.rows.tolist(), found.weights.tolist()) == ([0, 1], [1, 2])
        with pytest.raises(TooMuchWorkError):
            farkas(A, target, patience, most_work=1)
