"""Optima by bisection with the perceptron, against exact corners and SciPy's HiGHS."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.linear_programs.answers import Infeasible, Optimum, Unbounded
from rosenblatt.theory.linear_programs.solve import maximize


def verified(answer, *system):
    """Return the answer after its check, before and after a trip through JSON."""
    assert answer.check(*system)
    again = Certificate.from_json(answer.to_json())
    assert type(again) is type(answer)
    assert again.check(*system)
    assert str(again) == str(answer) == repr(answer)
    return answer


def corners(A, b):
    """Return all corners of A x <= b in the plane, exactly."""
    rows = [([Fraction(v) for v in a], Fraction(s)) for a, s in zip(A.tolist(), b.tolist(), strict=True)]
    for ((p, q), s), ((u, v), t) in combinations(rows, 2):
        det = p * v - q * u
        if det:
            x = ((s * v - q * t) / det, (p * t - s * u) / det)
            if all(a[0] * x[0] + a[1] * x[1] <= e for a, e in rows):
                yield x


def test_the_optimum_is_that_of_the_best_corner():
    rng = np.random.default_rng(2)
    box = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])
    seen = 0
    for _ in range(14):
        A = np.vstack([rng.integers(-3, 4, (4, 2)), box])
        b = np.append(rng.integers(0, 5, 4), [5.0, 5, 5, 5])
        c = rng.integers(-3, 4, 2).astype(float)
        answer = maximize(c, A, b)
        if isinstance(answer, Infeasible):
            verified(answer, A, b)
            continue
        seen += 1
        verified(answer, c, A, b)
        best = max(Fraction(c[0]) * x + Fraction(c[1]) * y for x, y in corners(A, b))
        assert Fraction(answer.low) <= best <= Fraction(answer.high)
        assert answer.high - answer.low <= 1e-9 * (1 + abs(answer.high))
        assert answer.y @ A == pytest.approx(c, abs=1e-12)
        assert answer.y @ b == pytest.approx(answer.high, abs=1e-9)
    assert seen > 5


def test_agrees_with_highs_on_optima():
    rng = np.random.default_rng(3)
    for _ in range(4):
        d = int(rng.integers(2, 11))
        A = np.vstack([rng.normal(size=(30, d)), np.eye(d), -np.eye(d)])
        b, c = A @ rng.normal(size=d) + rng.uniform(0.1, 3, len(A)), rng.normal(size=d)
        answer = verified(maximize(c, A, b, max_steps=25), c, A, b)  # plain bisection takes more than 30 steps
        truth = -linprog(-c, A, b, bounds=[(None, None)] * d).fun
        assert answer.value == pytest.approx(truth, rel=1e-8, abs=1e-8)
        assert not replace(answer, high=answer.low - 1e-6).check(c, A, b)
        assert not replace(answer, low=answer.high + 1e-6).check(c, A, b)
        assert not replace(answer, low=answer.high).check(c, A, b), "x does not attain it"
        assert not replace(answer, x=answer.x + 1.0).check(c, A, b)
        assert not answer.check(-c, A, b)


STRIP = [[0, 1], [0, -1]]


@pytest.mark.parametrize(
    ("c", "A", "b", "kind"),
    [
        ([1, 0], STRIP, [1, 1], Unbounded),
        ([1, 2], np.zeros((0, 2)), [], Unbounded),
        (
            [1, 1, 0],
            [[1, -1, 0], [-1, 1, 0], [0, 0, 1], [0, 0, -1]],
            [1, 1, 1, 1],
            Unbounded,
        ),  # two rounds of equations
        ([0.3, 0.1], [[0.1, 0.3], [-0.1, -0.3]], [1, 1], Unbounded),
        ([0, 1], STRIP, [1, 1], 1),
        ([1, -1, 0], [[1, -1, 0], [-1, 1, 0], [0, 0, 1], [0, 0, -1]], [1, 1, 1, 1], 1),
        ([0, 0], STRIP, [1, 1], 0),
        ([], np.zeros((1, 0)), [1], 0),
        ([1], [[1]], [0], 0),
        ([1], [[1]], [1e12], 1e12),
        ([1], [[1]], [1e300], 1e300),
        ([1e-300], [[1]], [1e-300], 0),
        ([1, 1], [[-1, 0], [0, -1], [1, 1]], [0, 0, 1], 1),  # a whole edge is optimal
        ([1, 1], STRIP, [1, -1], Infeasible),
        ([1, 1], STRIP, [1, -2], Infeasible),
    ],
)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_kinds_of_optima(c, A, b, kind, layout):
    A = layout(np.array(A, dtype=float))
    answer = maximize(c, A, b)
    if kind in (Unbounded, Infeasible):
        assert isinstance(answer, kind)
        verified(answer, *((A, b) if kind is Infeasible else (c, A, b)))
    else:
        verified(answer, c, A, b)
        assert answer.value == pytest.approx(kind, rel=1e-8, abs=1e-8)
    if kind is Unbounded:
        assert not replace(answer, direction=-answer.direction).check(c, A, b)
        assert not replace(answer, direction=0 * answer.direction).check(c, A, b)


def test_a_ray_that_leaves_is_no_proof():
    ray = maximize([1, 0], STRIP, [1, 1])
    assert not replace(ray, direction=np.array([1.0, 1e-300])).check([1, 0], STRIP, [1, 1])
    assert not replace(ray, x=np.array([0.0, 1.0])).check([1, 0], STRIP, [1, 1])


def test_optima_refuse_what_cannot_be_meant():
    with pytest.raises(ValueError, match="c must have a number for each of the 1 columns"):
        maximize([1, 2], [[1]], [1])
    with pytest.raises(ValueError, match="c must hold finite real numbers"):
        maximize([np.inf], [[1]], [1])
    with pytest.raises(ValueError, match="rtol must be a number of at least 0"):
        maximize([1], [[1]], [1], rtol=-1)
    with pytest.raises(ValueError, match="overflows float64"):
        maximize([1e300], [[1]], [1e300])


def test_few_steps_give_a_wider_bracket():
    A, b, c = [[1, 2], [3, 1], [-1, 0], [0, -1]], [4, 6, 0, 0], [1, 1]
    wide = maximize(c, A, b, max_steps=1)
    assert isinstance(wide, Optimum)
    assert verified(wide, c, A, b).low <= 2.8 <= wide.high


def test_as_close_as_floats_allow():
    A, b, c = [[1, 2], [3, 1], [-1, 0], [0, -1]], [4, 6, 0, 0], [1, 1]
    best = verified(maximize(c, A, b, rtol=0, atol=0), c, A, b)
    assert best.high - best.low <= 4 * np.spacing(2.8)
    assert Fraction(best.low) < Fraction(14, 5) <= Fraction(best.high)


def test_far_out():
    """All solutions of the first two rows lie beyond the largest float; the third bounds another coordinate."""
    A = [[1e-300, 0], [-1e-300, 0], [0, 1], [0, -1]]
    b = [1e300, -1e299, 3, 0]
    best = verified(maximize([0, 2], A, b), [0, 2], A, b)
    assert best.value == pytest.approx(6)
    assert isinstance(best.x[0], Fraction)
