"""Strict feasibility by the perceptron, against exact elimination and SciPy's HiGHS."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from rosenblatt import Certificate, Undecided, strict_feasibility
from rosenblatt.theory.exact import Combination, TooMuchWorkError, farkas
from rosenblatt.theory.linear_programs import solve as programs
from rosenblatt.theory.linear_programs.answers import Feasible, Infeasible, UndecidedProgram
from rosenblatt.theory.separability import separability


def eliminated(rows, strict):
    """Say whether a x < b (or <= b) has a solution, by Fourier and Motzkin's elimination; rows are (a, b)."""
    rows = [([Fraction(v) for v in a], Fraction(b)) for a, b in rows]
    for _ in range(len(rows[0][0])):
        above = [(a, b) for a, b in rows if a[-1] > 0]
        below = [(a, b) for a, b in rows if a[-1] < 0]
        kept = [(a[:-1], b) for a, b in rows if a[-1] == 0]
        for (p, s), (q, t) in product(above, below):
            kept.append(([u / p[-1] - v / q[-1] for u, v in zip(p[:-1], q[:-1], strict=True)], s / p[-1] - t / q[-1]))
        rows = kept
        if not rows:
            return True
    return all(b > 0 if strict else b >= 0 for _, b in rows)


def small_system(rng):
    d, m = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    return rng.integers(-2, 3, (m, d)).astype(float), rng.integers(-1, 3, m).astype(float)


def verified(answer, *system):
    """Return the answer after its check, before and after a trip through JSON."""
    assert answer.check(*system)
    again = Certificate.from_json(answer.to_json())
    assert type(again) is type(answer)
    assert again.check(*system)
    assert str(again) == str(answer) == repr(answer)
    return answer


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("mode", ["small", "rows of any scale", "b of any scale", "entries of any scale"])
def test_agrees_with_exact_elimination(mode):
    rng = np.random.default_rng(0)
    seen = {True: 0, False: 0, "empty": 0, "flat": 0}
    for _ in range(100):
        A, b = small_system(rng)
        if mode == "rows of any scale":
            A, b = A * 2.0 ** rng.integers(-1000, 1000, (len(A), 1)), b * 2.0 ** rng.integers(-1000, 1000)
        elif mode == "b of any scale":
            b = b * 2.0 ** rng.integers(-1000, 1000, len(b))
        elif mode == "entries of any scale":
            A, b = A * 2.0 ** rng.integers(-500, 500, A.shape), b * 2.0 ** rng.integers(-1000, 1000)
        answer = verified(strict_feasibility(A, b), A, b)
        rows = list(zip(A.tolist(), b.tolist(), strict=True))
        assert bool(answer) == eliminated(rows, strict=True)
        seen[bool(answer)] += 1
        if answer:
            continue
        closed = eliminated(rows, strict=False)
        assert answer.empty == (not closed)
        seen["flat" if closed else "empty"] += 1
        if closed and mode == "small":  # every solution of A x <= b has equality in the rows of the proof
            for i in answer.support.tolist():
                lower = [(a, s - (k == i) * Fraction(1, 1000)) for k, (a, s) in enumerate(rows)]
                assert not eliminated(lower, strict=False)
    assert min(seen.values()) > 2


def random_problem(kind, rng):
    d = int(rng.integers(2, 11))
    m = int(rng.integers(d + 2, 61))
    A, x = rng.normal(size=(m, d)), rng.normal(size=d)
    b = A @ x + rng.uniform(0.1, 2, m)
    if kind == "random":
        b = rng.normal(size=m)
    elif kind == "thin":  # a slab
        A[1] = -A[0]
        b[:2] = A[:2] @ x + 10 ** rng.uniform(-8, -2) * np.linalg.norm(A[0]) / 2
    elif kind == "slab turned round":
        A[1] = -A[0]
        b[:2] = A[:2] @ x
        b[0] -= 10 ** rng.uniform(-7, -1)
    elif kind == "simplex turned round":  # d + 1 rows whose hull holds the origin
        A[d] = -rng.uniform(0.2, 1, d) @ A[:d]
        b[: d + 1] = A[: d + 1] @ x
        b[0] -= 10 ** rng.uniform(-7, -1)
    return A, b


@pytest.mark.parametrize("kind", ["interior", "random", "thin", "slab turned round", "simplex turned round"])
def test_agrees_with_highs_on_feasibility(kind):
    rng = np.random.default_rng(1)
    for _ in range(6):
        A, b = random_problem(kind, rng)
        answer = verified(strict_feasibility(A, b), A, b)
        lengths = np.linalg.norm(A, axis=1)[:, None]
        goal, free = np.append(np.zeros(A.shape[1]), -1.0), [(None, None)] * A.shape[1]
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        ball = linprog(goal, np.hstack([A, lengths]), b, bounds=[*free, (None, 1)], options=options)
        assert bool(answer) == (-ball.fun > 0)
        assert kind == "random" or bool(answer) == (kind in ("interior", "thin"))


BIG = 1e300
ULP = np.nextafter(1.0, 2.0)


@pytest.mark.parametrize(
    ("A", "b", "verdict"),
    [
        (np.zeros((0, 3)), [], True),
        (np.zeros((2, 0)), [1, 2], True),
        (np.zeros((2, 0)), [1, 0], "flat"),
        (np.zeros((2, 0)), [1, -1], "empty"),
        ([[0, 0], [1, 0]], [1, 1], True),
        ([[0, 0], [1, 0]], [0, 1], "flat"),
        ([[0, 0], [1, 0]], [-2, 1], "empty"),
        ([[1], [-1]], [1, 1], True),
        ([[1], [-1]], [1, -1], "flat"),
        ([[1], [-1]], [ULP, -1], True),  # no float lies between 1 and the next
        ([[3], [-3]], [ULP, -1], True),
        ([[3], [-3]], [1, -ULP], "empty"),
        ([[1, 2]] * 4 + [[-1, -2]] * 4, [3] * 4 + [-3 + 1e-12] * 4, True),
        ([[1, 2]] * 4 + [[-1, -2]] * 4, [3] * 8, True),
        ([[1, 2]] * 4 + [[-1, -2]] * 4, [3] * 4 + [-3] * 4, "flat"),
        ([[1], [-1]], [BIG, BIG], True),
        ([[BIG], [-BIG]], [1 / BIG, 1 / BIG], True),
        ([[1 / BIG], [-1 / BIG]], [BIG, -BIG / 10], True),  # solutions lie beyond the largest float
        ([[5e-324], [-5e-324]], [1, -1e308], "empty"),
        ([[BIG, 1 / BIG], [-BIG, -1 / BIG]], [1 / BIG, 0], True),
        ([[1, 2], [-1, -2]], [1e-320, 0], True),
        ([[1, 2], [-1, -2]], [0, -1e-320], "empty"),
        ([[0.1, 0.3], [-0.2, -0.6]], [0.1, -0.2], "flat"),
        ([[0.1, 0.3], [-0.3, -0.9]], [0.1, -0.3], True),  # three times 0.1 is not 0.3: they meet far out
    ],
)
def test_edges(A, b, verdict):
    answer = verified(strict_feasibility(A, b), A, b)
    assert (True if answer else "empty" if answer.empty else "flat") == verdict
    if len(b) and len(A[0]):
        assert bool(strict_feasibility(sp.csr_array(np.array(A, dtype=float)), b)) == bool(answer)


def test_a_point_between_floats_is_a_fraction():
    answer = strict_feasibility([[1], [-1]], [ULP, -1])
    assert isinstance(answer.x[0], Fraction)
    assert 1 < answer.x[0] < Fraction(ULP)
    assert strict_feasibility([[1], [-1]], [2, -1]).x.dtype == np.float64


def test_a_check_can_fail():
    A, b = np.array([[-1.0, 0], [0, -1], [1, 1]]), np.array([0.0, 0, 1])
    yes, no = strict_feasibility(A, b), strict_feasibility(A, -b - 1)
    assert yes.check(A, b)
    for x in ([0.5, 0.5], [0, 0.5], [0.5], [np.nan, 0.5], [np.inf, 0.5], [Fraction(1, 2)] * 2):
        assert not Feasible(np.array(x)).check(A, b), x
    assert Feasible(np.array([Fraction(1, 3)] * 2)).check(A, b)
    assert no.check(A, -b - 1)
    assert not no.check(A, b), "another b"
    assert not no.check(A + np.eye(3, 2), -b - 1), "another A"
    assert not replace(no, weights=(1, 1, 2)).check(A, -b - 1)
    assert not replace(no, weights=(1, 1, -1)).check(A, -b - 1)
    assert not replace(no, weights=(2, 2)).check(A, -b - 1)
    assert not replace(no, alpha=np.array([0.5, 0.25, 0.25])).check(A, -b - 1)
    assert not replace(no, alpha=np.array([0.5, 0.5])).check(A, -b - 1)
    assert not replace(no, deficit=0.0).check(A, -b - 1)
    assert not replace(no, deficit=no.deficit * 1.01).check(A, -b - 1)
    assert not replace(no, support=no.support[:2]).check(A, -b - 1)
    thin = strict_feasibility([[1], [-1]], [0, -1e-320])
    assert thin.empty
    assert not replace(thin, deficit=0.0).check([[1], [-1]], [0, -1e-320])
    assert not replace(thin, deficit=0.0).check([[1], [-1]], [1e-320, 0]), "that one has solutions"
    nothing = Infeasible(np.zeros(3), 0.0, np.array([], dtype=np.intp), ())
    assert not nothing.check(A, b)


@pytest.mark.parametrize("x", ["[NaN]", "[Infinity]", '["1"]', "[true]", '[["0x1", "0x0"]]', '[["1", "x"]]', "{}", "1"])
def test_a_stray_file_is_no_certificate(x):
    text = strict_feasibility([[1.0]], [1.0]).to_json()
    start = text.index("[")
    with pytest.raises(ValueError, match=r"the certificate: 'x' must be a list( of finite numbers)?, got "):
        Feasible.from_json(text[:start] + x + text[text.index("]") + 1 :])


def test_large_systems_are_proved_by_an_enclosure():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(150, 40))
    b = rng.normal(size=150) - 1
    no = verified(strict_feasibility(A, b), A, b)
    assert no.weights is None
    assert no.empty
    assert len(no.support) == 41
    for i in no.support[:5]:
        other = no.alpha.copy()
        other[i] *= -1
        assert not replace(no, alpha=other).check(A, b)
    assert not no.check(A, b + np.eye(150)[no.support[0]])
    assert not replace(no, support=no.support[1:]).check(A, b)


def test_refuses_what_is_no_system():
    for A, b, words in (
        ([[1.0, 2.0]], [1.0, 2.0], "b must have a number for each of the 1 rows"),
        ([1.0, 2.0], [1.0], "2D"),
        ([[np.nan]], [1.0], "A contains NaN"),
        ([[np.inf]], [1.0], "A contains infinity"),
        ([[1.0]], [np.inf], "b must hold finite real numbers"),
        ([[1.0]], [np.nan], "b must hold finite real numbers"),
        ([[1.0]], ["one"], "b must hold finite real numbers"),
        ([[1.0]], [1j], "b must hold finite real numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            strict_feasibility(A, b)


def test_separation_is_a_linear_program_if_it_is_strict():
    """Har-Peled 30.1 asks for w . x + b >= 0 and <= 0, which w = 0, b = 0 solves on any data; > and < it takes."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    for y in product([-1, 1], repeat=4):
        signs = np.array(y)
        A = -signs[:, None] * np.column_stack([X, np.ones(4)])  # y (w . x + b) > 0
        assert (A @ np.zeros(3) <= 0).all()
        assert bool(strict_feasibility(A, np.zeros(4))) == bool(separability(X, signs))
        assert bool(strict_feasibility(A, -np.ones(4))) == bool(separability(X, signs))  # >= 1 and <= -1, just beyond


def test_what_exact_arithmetic_leaves_open_is_undecided(monkeypatch):
    monkeypatch.setattr(programs, "decide_equilibrated", lambda Z: None)
    A, b = [[1.0], [-1.0]], [1.0, -2.0]
    left = strict_feasibility(A, b)
    assert isinstance(left, UndecidedProgram)
    assert isinstance(left, Undecided)
    assert verified(left, A, b).excess >= 0.5
    goal = programs.maximize([1], [[1.0]], [1.0])
    assert isinstance(goal, UndecidedProgram)
    assert verified(goal, [[1.0]], [1.0]).excess < 0
    left = verified(UndecidedProgram(np.array([1.5]), 0.5), A, b)
    assert not replace(left, excess=0.25).check(A, b)
    assert left.check(np.zeros((0, 1)), [])  # as Feasible has it: no entry of A x - b is above anything
    with pytest.raises(ValueError, match="undecided"):
        bool(left)
    assert "A x <= b + 0.5" in str(left)
    assert "no bound on c . x" in str(replace(left, excess=-0.5))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_of_very_different_magnitudes_need_no_exact_search(monkeypatch, form):
    """Where nothing but the magnitudes of the columns is unusual, the perceptron decides; 200 rows took a minute."""
    monkeypatch.setattr(programs, "decide_equilibrated", lambda Z: pytest.fail("searched in exact arithmetic"))
    rng = np.random.default_rng(0)
    for n, d in ((3, 2), (20, 4), (200, 12)):
        A, x = rng.normal(size=(n, d)), rng.normal(size=d)
        b = A @ x + 0.1 * rng.exponential(size=n)
        scale = np.resize([1e-300, 1.0, 1e300], d)
        system = form(A * scale), b
        assert isinstance(verified(strict_feasibility(*system), *system), Feasible)
        system = form(A * np.sqrt(scale)), b * 1e-200
        assert isinstance(verified(strict_feasibility(*system), *system), Feasible)


# Systems that are empty by however little, told from those that only have no interior.


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


def test_large_systems_and_long_work_keep_the_proof_at_hand(monkeypatch):
    A, b = [[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -1, 0, -1e-320]
    monkeypatch.setattr(programs, "MOST_WORK", 0)
    answer = strict_feasibility(A, b)
    assert not answer.empty
    assert answer.check(A, b)
    monkeypatch.setattr(programs, "FEW_ENTRIES", 0)
    assert not strict_feasibility(A, b).empty


def test_the_simplex_says_when_its_work_is_done():
    A, target = np.array([(2, 1), (-1, 1), (3, -2)], dtype=object), np.array([0, 1], dtype=object)
    for patience in (0, 21):
        found = farkas(A, target, patience)
        assert isinstance(found, Combination)
        assert (found.rows.tolist(), found.weights.tolist()) == ([0, 1], [1, 2])
        with pytest.raises(TooMuchWorkError):
            farkas(A, target, patience, most_work=1)
