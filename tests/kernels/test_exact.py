import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.exact import LIMBS, add_product, rounded

finite = st.floats(allow_nan=False, allow_infinity=False)


@kernel
def exact_dot(v, x, total):
    for j in range(v.shape[0]):
        add_product(total, v[j], x[j])
    return rounded(total)


def check(v, x):
    total = np.zeros(LIMBS, np.int64)
    got = exact_dot(np.array(v, dtype=float), np.array(x, dtype=float), total)
    true = sum((Fraction(a) * Fraction(b) for a, b in zip(v, x, strict=True)), Fraction(0))
    assert (got > 0) - (got < 0) == (true > 0) - (true < 0)
    assert not total.any(), "the total must be left at zero"
    if 1e-300 < abs(true) < Fraction(1.7e308):
        assert abs(Fraction(got) - true) <= abs(true) * Fraction(2) ** -50
    assert math.isfinite(got)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(finite, finite), max_size=12))
def test_sign_and_value_of_any_finite_sum(pairs):
    check([a for a, _ in pairs], [b for _, b in pairs])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=6), st.randoms())
def test_sums_that_cancel_are_exactly_zero(pairs, random):
    doubled = [*pairs, *((-a, b) for a, b in pairs)]
    random.shuffle(doubled)
    total = np.zeros(LIMBS, np.int64)
    v, x = (np.array([pair[k] for pair in doubled]) for k in (0, 1))
    assert exact_dot(v, x, total) == 0.0


@pytest.mark.parametrize(
    ("v", "x"),
    [
        ([1e308] * 4, [1e308] * 4),
        ([1e308, -1e308, 5e-324], [1e308, 1e308, 5e-324]),
        ([5e-324], [-5e-324]),
        ([1.0, 2.0**-53, -1.0], [1.0, 1.0, 1.0]),
        ([0.1, 0.2, -0.3], [1.0, 1.0, 1.0]),
        ([], []),
    ],
)
def test_extremes(v, x):
    check(v, x)


def test_many_terms_do_not_overflow_the_limbs():
    n = 200 if exact_dot.__class__.__name__ == "function" else 1_000_000
    largest = float(np.nextafter(2.0**500, 0))
    total = np.zeros(LIMBS, np.int64)
    v = np.full(n, largest)
    got = exact_dot(v, v, total)
    assert got == pytest.approx(n * largest * largest, rel=1e-12)
