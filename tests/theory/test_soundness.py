"""Where rounding decides: no checker accepts a claim that is false in exact arithmetic, however little it is false.

Each set lies between a sound bound and the same bound without one of its terms. Where a set had to be searched for, the
seeds that were found are given. What is true is decided in fractions. For each test there is a mutant of the sources
in ``mutants.py`` that it catches.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.naive_separation import naive_answer
from helpers.separable_sets import balanced, margin_square, mean_square, naive_least_score
from rosenblatt.circles.shapes import Circle, HalfSpace
from rosenblatt.theory import enclosures
from rosenblatt.theory.certificates import has_margin, margin_upper_bound, proves_inseparable
from rosenblatt.theory.convergence import bounds
from rosenblatt.theory.convergence.bounds import novikoff, squared_radius
from rosenblatt.theory.enclosures import Basis, encloses_zero_combination
from rosenblatt.theory.exact import rounded
from rosenblatt.theory.linear_programs.answers import (
    Feasible,
    Infeasible,
    Optimum,
    Unbounded,
    UndecidedProgram,
    with_objective_above,
)
from rosenblatt.theory.logistic import problem as logistic_problem
from rosenblatt.theory.logistic.answers import encloses_combination
from rosenblatt.theory.logistic.arithmetic import exact_scores
from rosenblatt.theory.logistic.problem import Problem
from rosenblatt.theory.logistic.search import detect_separation
from rosenblatt.theory.min_mistakes.answers import FewestMistakes, proved_bound
from rosenblatt.theory.scores import least_score, rows_within

ULP = 2.0**-52  # the distance of 1 from the next float


def dot(x, w):
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x, w, strict=True)), Fraction(0))


def sign(value):
    return (value > 0) - (value < 0)


def neighbours(value):
    """Return the largest float not above an exact value and the smallest not below it."""
    return rounded(value, up=False), rounded(value, up=True)


# Enclosures: |d| <= |R| |r| + q max |d|, with r and q bounded in floats.


def encloses(Z, alpha, basis):
    """Say whether an enclosure is accepted, after a look at what is true of it."""
    accepted = encloses_zero_combination(Z, np.ones(len(Z)), np.arange(len(Z)), alpha, False, Basis(basis))
    assert balanced(Z, [1] * len(Z), alpha, None, False, Basis(basis)) or not accepted
    return accepted


@pytest.mark.parametrize("order", [*itertools.permutations(range(4))])
def test_a_residual_that_rounding_hides_is_counted(order):
    """1 + 2^-60 - 1 is 0 in floats in half of the orders. So the first weight would have to be -2^-60."""
    order, basis = list(order), (order.index(0),)
    for last, first, want in ((2.0**-60, 2.0**-70, False), (-(2.0**-60), 2.0**-60, True)):
        Z, alpha = np.array([[1.0], [1.0], [-1.0], [last]]), np.array([first, 1.0, 1.0, 1.0])
        assert balanced(Z[order], [1] * 4, alpha[order], None, False, Basis(basis)) == want
        assert encloses(Z[order], alpha[order], basis) == want


@pytest.mark.parametrize("seed", range(20))
def test_bounds_of_residuals_are_not_below_them(seed):
    """The cheap bound and the exact sum, which is rounded up; the relative slack of the test would hide the latter."""
    rng = np.random.default_rng(seed)
    near, alpha = rng.standard_normal((6, 3)), rng.random(6)
    near[-1] = -(alpha[:-1] @ near[:-1]) / alpha[-1]
    columns = enclosures._Columns(near, {})
    exact = [abs(dot(column, alpha.tolist())) for column in near.T.tolist()]
    for bound in (columns.residual_bound(alpha), columns.exact_residual(alpha)):
        assert all(Fraction(found) >= true for found, true in zip(bound.tolist(), exact, strict=True))


def nearly_parallel(seed):
    """Two nearly parallel basis rows, and weights of which one, exactly, has to be below 0.

    The other rows leave a residual in one of the columns only. The float inverse R misses the true one by some percent,
    and so the weight changes by more than 1.03 |R| |residual|.
    """
    rng = np.random.default_rng(seed)
    p, q = rng.uniform(0.5, 1, 2)
    share, bent = rng.uniform(0.5, 1), 1 + rng.uniform(2, 12) * 2.0**-50
    B, k = np.array([[p, p * share], [q, q * share * bent]]), int(rng.integers(2))
    R, (first, second) = np.linalg.inv(B), ([Fraction(value) for value in row] for row in B.tolist())
    below = first[0] * second[1] - first[1] * second[0]
    inverse = [[second[1] / below, -first[1] / below], [-second[0] / below, first[0] / below]]
    i = int(abs(inverse[1][k]) * Fraction(abs(R[0, k])) > abs(inverse[0][k]) * Fraction(abs(R[1, k])))
    residual = [Fraction(0), Fraction(0)]
    residual[k] = sign(inverse[i][k]) * Fraction(1, 2**100)
    change = [-line[k] * residual[k] for line in inverse]
    alpha = [0.0, 0.0]
    alpha[i], alpha[1 - i] = float(abs(change[i]) * Fraction(199, 200)), float(4 * abs(change[1 - i]))
    rest = [value - dot(row, alpha) for value, row in zip(residual, B.tolist(), strict=True)]
    more = []
    while any(rest):
        more.append([float(value) for value in rest])
        rest = [value - Fraction(part) for value, part in zip(rest, more[-1], strict=True)]
    more += [[0.75, 0.75], [-0.75, -0.75]]  # so that the columns are of size 1
    return np.vstack([B.T, more]), np.array(alpha + [1.0] * len(more))


@pytest.mark.parametrize("seed", [256, 899, 1073, 1163, 3795, 4739, 12159, 18348, 24029])
def test_an_inverse_that_is_far_off_proves_less(seed):
    """q / (1 - q) max(delta) counts the error of R; in the last four, R B is the identity but for rounding."""
    Z, alpha = nearly_parallel(seed)
    assert not balanced(Z, [1] * len(Z), alpha, None, False, Basis((0, 1)))
    assert not encloses(Z, alpha, (0, 1))


def test_products_that_vanish_are_counted():
    """The last two rows need more weight in the first row than there is, but all products are 0 in floats."""
    Z = np.array([[2.0**-100], [-(2.0**-100)], [0.5], [-0.5], [2.0**-1074], [2.0**-1074]])
    alpha = np.array([2.0**-1000, 2.0**-1000, 2.0**-1060, 2.0**-1060, 0.49, 0.49])
    assert not balanced(Z, [1] * 6, alpha, None, False, Basis((0,)))
    assert not encloses(Z, alpha, (0,))


def test_exact_weights_are_within_a_millionth():
    """The bound has one percent of slack."""
    for away, want in ((0.98e-6, True), (1.001e-6, False)):
        assert encloses(np.array([[1.0], [-1.0]]), np.array([1.0, 1.0 + away]), (0,)) == want


# Scores: |error| <= g (|x| . |w| + |b|) + TINY, for the row that is least.


def all_lost(d, apart):
    """Two rows with sums of d terms, each of which is lost in a sum from left to right; the first row is less.

    In floats the first row is ``apart`` units in the last place above the second.
    """
    w = np.array([1.0] + [2.0**-53 * (1 - 2.0**-20)] * d)
    return np.array([[1 + 2.0**-30 + apart * ULP] + [-1.0] * d, [1 + 2.0**-30] + [1.0] * d]), w


@pytest.mark.parametrize(("d", "apart"), [(20, 16), (30, 23), (60, 40)])
def test_the_least_score_where_every_term_is_lost(d, apart):
    """Sparse products sum from left to right, and reach more than half of the bound in both rows."""
    X, w = all_lost(d, apart)
    want = naive_least_score(X, [1, 1], w.tolist(), 0.0)
    assert want == dot(X[0].tolist(), w.tolist()) < dot(X[1].tolist(), w.tolist())
    for form in (X, sp.csr_array(X)):
        assert least_score(form, np.ones(2), w, 0.0) == want
    assert rows_within(sp.csr_array(X), np.ones(2), w, 0.0, want * want).tolist() == [0]


@pytest.mark.parametrize("seed", [170, 808, 2516])
def test_the_least_score_where_a_bias_rounds(seed):
    """Scores that differ by little lie on both sides of the middle of two floats, once b = 1 is added."""
    rng = np.random.default_rng(seed)
    w, X = rng.standard_normal(3) * 2.0**-53, rng.standard_normal((40, 3))
    X[:, 0] = (2.0**-53 - X[:, 1:] @ w[1:]) / w[0]
    assert least_score(X, np.ones(40), w, 1.0) == naive_least_score(X, [1] * 40, w.tolist(), 1.0)


@pytest.mark.parametrize("seed", [117, 128, 133, 215])
def test_the_least_score_where_products_underflow(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.integers(-3, 4, (6, 3)) * 5e-324, rng.uniform(-1, 1, 3)
    assert least_score(X, np.ones(6), w, 0.0) == naive_least_score(X, [1] * 6, w.tolist(), 0.0)


def test_the_least_score_where_a_weight_underflows():
    """Scaled to size 1, the second weight is 0; the first row, of score 0 in floats, has the larger score."""
    X, w = np.array([[0.0, 2.0**1000], [2.0**-300, 0.0]]), np.array([2.0**60, 3 * 2.0**-1074])
    assert least_score(X, np.ones(2), w, 0.0) == naive_least_score(X, [1, 1], w.tolist(), 0.0) == Fraction(1, 2**240)


def scores_about(target, noise, seed):
    """210 rows of 10 random terms and 3 that bring the score to within about ``noise`` of the target."""
    rng = np.random.default_rng(seed)
    w, rows = rng.uniform(0.5, 1, 10).tolist(), []
    for _ in range(210):
        goal = target + Fraction(int(rng.integers(-(2**30), 2**30)), 2**27) * noise
        row = (rng.standard_normal(10) * 16).tolist()
        rest = goal - dot(row, w)
        for _ in range(3):
            row.append(float(rest))
            rest -= Fraction(row[-1])
        rows.append(row)
    return np.array(rows), np.array(w + [1.0] * 3)


@pytest.mark.parametrize(("target", "seed"), [(Fraction(0), 0), (Fraction(0), 2), (1 + Fraction(1, 2**53), 20)])
def test_the_least_score_where_compensated_sums_round(target, seed):
    """About 0 it is the term g^2 |x| . |w| that counts; in the middle of two floats it is the last rounding."""
    X, w = scores_about(target, Fraction(1, 2**106), seed)
    assert least_score(X, np.ones(210), w, 0.0) == naive_least_score(X, [1] * 210, w.tolist(), 0.0)


# Margins and proofs of inseparability: exact numbers against floats, to the last digit.


@pytest.mark.parametrize("kind", ["geometric", "augmented"])
def test_margins_hold_to_the_last_digit(kind):
    rng = np.random.default_rng(0)
    for _ in range(40):
        X, signs, alpha = rng.random((3, 2)), np.array([1.0, -1.0, 1.0]), rng.random(3)
        w, b = rng.standard_normal(2), float(rng.standard_normal())
        least = naive_least_score(X, [1, -1, 1], w.tolist(), b)
        ratio = least * abs(least) / dot([*w, b * (kind == "augmented")], [*w, b * (kind == "augmented")])
        low = math.copysign(math.sqrt(abs(ratio)), ratio)
        near = [low, *(math.nextafter(low, way) for way in (-math.inf, math.inf))]
        for claim in near:
            assert has_margin(X, signs, w, b, kind, claim, False) == (Fraction(claim) * abs(Fraction(claim)) <= ratio)
        high, square = margin_upper_bound(X, signs, alpha, kind), mean_square(X, [1, -1, 1], alpha, kind)
        assert Fraction(math.nextafter(high, 0.0)) ** 2 < square <= Fraction(high) ** 2
        assert margin_square(X, [1, -1, 1], kind) <= square


def test_a_row_on_the_hyperplane_is_not_separated():
    """0.1 * 0.3 - 0.3 * 0.1 is 0; one float further it is not, by 2^-56."""
    X, signs, w = np.array([[0.1, 0.3]]), np.ones(1), np.array([0.3, -0.1])
    for point, want in ((X, False), (np.nextafter(X, [[1.0, 0.0]]), True), (np.nextafter(X, [[0.0, 1.0]]), False)):
        assert (naive_least_score(point, [1], w.tolist(), 0.0) > 0) == want
        assert has_margin(point, signs, w, 0.0, "geometric", 0.0, True) == want
        none = np.array([], dtype=np.intp)
        assert FewestMistakes(0, none, w, 0.0, 1, (), (), ((),), 1.0).check(point, signs) == want
        system = -point, np.zeros(1)
        assert Feasible(w).check(*system) == want
        assert Unbounded(w, w).check(-system[0][0], *system) == want


def test_weights_are_those_of_the_proof_to_a_relative_1e9():
    X, signs = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0])
    for away, want in ((0.0, True), (0.9e-9, True), (1.2e-9, False)):
        alpha = np.array([0.25 * (1 + away), 0.5, 0.25])
        assert proves_inseparable(X, signs, alpha, (1, 2, 1), None, True) == want
        assert proves_inseparable(X, signs, np.array([0.25, 0.5, 0.25]) * (1 + away), None, None, True) == want
    assert not proves_inseparable(np.array([[0.0], [1.0], [2 + ULP]]), signs, alpha, (1, 2, 1), None, True)


# Linear programs.


def test_points_of_programs_are_decided_exactly():
    """c . x, and each row, one float above and below the exact number that floats round."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, x = rng.random((1, 3)), rng.standard_normal(3)
        below, above = neighbours(dot(a[0].tolist(), x.tolist()))
        assert below < above
        assert Feasible(x).check(a, [above])
        assert not Feasible(x).check(a, [below])
        assert UndecidedProgram(x, above).check(a, [0.0])
        assert not UndecidedProgram(x, below).check(a, [0.0])
        A, b = np.vstack([a, -a]), np.array([above, 1e3])
        high = above + 1.0
        system = with_objective_above(a[0], A, b, high)
        proof = Infeasible.from_weights(*system, np.array([0, 2]), (1, 1))
        assert Optimum(x, below, high, proof).check(a[0], A, b)
        assert not Optimum(x, above, high, proof).check(a[0], A, b)


def test_the_upper_end_of_an_optimum_is_not_one_float_too_low():
    A, b, c, x = np.array([[1.0]]), np.array([1.0]), np.array([1.0]), np.array([0.5])
    for high, want in ((1.0, True), (math.nextafter(1.0, 0.0), False)):
        proof = Infeasible(np.array([0.5, 0.5]), 0.0, np.array([0, 1]), (1, 1))
        assert Optimum(x, 0.5, high, proof).check(c, A, b) == want


def test_a_direction_that_leaves_by_one_float_is_refused():
    x, c = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
    for last, want in ((-1.0, True), (math.nextafter(-1.0, 0.0), False)):
        assert Unbounded(x, np.array([1.0, last])).check(c, [[1.0, 1.0]], [0.0]) == want


def test_systems_with_the_smallest_interior_are_feasible():
    """0 < x < 2^-1074, and 0 < 2^1000 x < 2^-100, whose row loses its right side when it is scaled."""
    A, b = np.array([[1.0], [-1.0]]), np.array([5e-324, 0.0])
    alpha, rows = np.array([0.5, 0.5]), np.arange(2)
    assert Feasible(np.array([Fraction(1, 2**1075)], dtype=object)).check(A, b)
    assert Feasible(np.array([Fraction(1, 2**1101)], dtype=object)).check(A * 2.0**1000, [2.0**-100, 0.0])
    for weights in ((1, 1), None):
        assert Infeasible(alpha, 0.0, rows, weights).check(A, [0.0, 0.0])
        assert not Infeasible(alpha, 0.0, rows, weights).check(A, b)
        assert not Infeasible(alpha, 0.0, rows, weights).check(A * 2.0**1000, [2.0**-100, 0.0])


# Separation in logistic regression.


def observations(X, own, classes):
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Problem(names, tuple(range(classes)), X, np.array(own), np.arange(len(X)))


def signs_of(X, own, b):
    """Return the signs of the rows z of two classes, exactly."""
    return [[(1 if k else -1) * sign(dot(x, b))] for x, k in zip(X.tolist(), own, strict=True)]


@pytest.mark.parametrize("seed", [17, 21, 28, 53])
def test_signs_where_products_underflow(seed):
    rng = np.random.default_rng(seed)
    X, b, own = rng.integers(-3, 4, (5, 3)) * 5e-324, rng.integers(-9, 10, 3).tolist(), [0, 1, 0, 1, 1]
    assert observations(X, own, 2).signs(np.array(b, dtype=object)).tolist() == signs_of(X, own, b)


def test_signs_where_a_coefficient_underflows():
    """-2^1101 2^-100 + 3 2^1000 > 0, though 3 is 0 beside 2^1101 in floats."""
    X, b = np.array([[2.0**-100, 2.0**1000]]), [-(2**1101), 3]
    assert observations(X, [1], 2).signs(np.array(b, dtype=object)).tolist() == signs_of(X, [1], b) == [[1]]


def test_signs_where_coefficients_round():
    """(2^60 + 1) - 2^60 is 0 in floats, and the error bound has to know."""
    for b in ([2**60 + 1, -(2**60)], [2**60 - 1, -(2**60)], [2**60, -(2**60)]):
        for X in (np.array([[1.0, 1.0]]), np.array([[1.0, 1 + ULP]]), np.array([[1 + ULP, 1.0]])):
            assert observations(X, [1], 2).signs(np.array(b, dtype=object)).tolist() == signs_of(X, [1], b)


def test_the_errors_of_two_scores_add_up_in_their_margin(monkeypatch):
    """Whatever the scores are within their bounds: here each is off by all of it, in opposite directions."""
    X, b = np.array([[1.0]]), np.array([2**40, 2**40 - 1], dtype=object)
    for off in (0.0, 1e-3, 1.0):
        scores = np.array([[1 - off, 1 - 2.0**-40 + off]]), np.full((1, 2), off)
        monkeypatch.setattr(logistic_problem, "float_scores", lambda X, D, scores=scores: scores)
        assert observations(X, [1], 3).signs(b).tolist() == [[1, 1]]


@pytest.mark.parametrize("seed", range(6))
def test_products_of_55_bits_are_not_left_to_floats(seed):
    rng = np.random.default_rng(seed)
    X, D = rng.integers(-(2**26), 2**26, (4, 3)).astype(float), rng.integers(-(2**29), 2**29, (3, 1)).astype(object)
    X[0] = 1.0
    exact = [dot(x, D[:, 0].tolist()) for x in X.tolist()]
    assert len({Fraction(s) / t for s, t in zip(exact_scores(X, D).ravel().tolist(), exact, strict=True)}) == 1


@pytest.mark.parametrize("seed", [8, 9, 10, 26, 33, 36])
def test_columns_are_centred_only_where_differences_are_exact(seed):
    """Numbers of size 2^-60, and of size 1: subtracting 1/2 from both would make the small ones equal."""
    rng = np.random.default_rng(seed)
    X, y = np.append(rng.integers(1, 8, 4) * 2.0**-60, [1.0, 0.5, 0.75])[:, None], rng.integers(0, 2, 7)
    y[0], y[-1] = 0, 1
    kind, statuses, on = naive_answer(X, y, True)
    answer = detect_separation(X, y)
    assert (answer.kind, answer.statuses, answer.on_hyperplane.tolist()) == (kind, tuple(statuses), on)
    assert answer.check(X, y)


def test_a_combination_with_a_weight_of_0_is_not_positive():
    """(1, -2^-80) is no combination of (1, 0) and (1, 1) with positive weights, and (1, 2^-80) is one."""
    A = np.array([[1.0, 0.0], [1.0, 1.0]])
    for last in (2.0**-80, 0.0, -(2.0**-80)):
        assert encloses_combination(A, np.array([1.0, last])) == (last > 0)


# The fewest mistakes: weak duality in integers.


def test_fractional_packings_are_rounded_up_and_no_further():
    rng = np.random.default_rng(0)
    whole = 0
    for _ in range(150):
        cores = [rng.choice(6, rng.integers(1, 4), replace=False).tolist() for _ in range(rng.integers(1, 6))]
        copies, times = {0: 2, 1: 3}, rng.integers(1, 4, len(cores)).tolist()
        cost = [copies.get(row, 1) for row in range(6)]
        uses = [sum(t for core, t in zip(cores, times, strict=True) if row in core) for row in range(6)]
        bound = sum(times) / max(Fraction(use, c) for use, c in zip(uses, cost, strict=True))
        least = min(
            sum(cost[row] for row in rows)
            for size in range(7)
            for rows in itertools.combinations(range(6), size)
            if all(set(core) & set(rows) for core in cores)
        )
        whole += bound.denominator == 1
        assert proved_bound((tuple(enumerate(times)),), cores, copies) == math.ceil(bound) <= least
    assert whole > 20


# Circles and lines.


@pytest.mark.parametrize("seed", [1, 17, 18, 22])
def test_sides_of_circles_whose_squares_underflow(seed):
    rng = np.random.default_rng(seed)
    X, center = rng.integers(-9, 10, (40, 2)) * 2.0**-540, rng.integers(-3, 4, 2) * 2.0**-540
    radius = float(rng.integers(1, 9)) * 2.0**-540
    apart = [[Fraction(v) - Fraction(m) for v, m in zip(x, center.tolist(), strict=True)] for x in X.tolist()]
    assert Circle(center, radius).sides(X).tolist() == [sign(Fraction(radius) ** 2 - dot(v, v)) for v in apart]


def test_sides_of_lines_whose_products_underflow():
    """0.6 units of 2^-1074 are 1 in floats, and 0.4 are 0."""
    assert HalfSpace([0.6, -0.4, -0.4], 0.0).sides([[5e-324] * 3]).tolist() == [-1]


@pytest.mark.parametrize("seed", [4, 11, 15, 45])
def test_sides_of_lines_through_points_of_tenths(seed):
    rng = np.random.default_rng(seed)
    rng.integers(-9, 10, (40, 2)), rng.integers(-9, 10, 2)
    X, w, b = rng.integers(-9, 10, (60, 2)) / 10, rng.integers(-9, 10, 2) / 10, float(rng.integers(-9, 10) / 100)
    want = [sign(Fraction(b) + dot(x, w.tolist())) for x in X.tolist()]
    assert HalfSpace(w, b).sides(X).tolist() == want


# Novikoff's bound: R rounded up, and the quotient.


@pytest.mark.parametrize("seed", [0, 3, 28, 58, 71])
def test_the_longest_of_rows_that_floats_cannot_tell_apart(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 5))
    X /= np.sqrt((X**2).sum(axis=1))[:, None]
    want = max(dot(x, x) for x in X.tolist())
    assert squared_radius(X, False) == want
    monkeypatch.setattr(bounds, "_EXACT_TERMS", -1)
    assert squared_radius(X, False) >= want


def test_the_quotient_is_rounded_up():
    """Beyond 2^47 there is no allowance for rounded weights that would hide it."""
    for K in (2**53 + 1, 2**60 + 1, 10**25 + 1):
        assert novikoff(Fraction(K), 1.0) > K
