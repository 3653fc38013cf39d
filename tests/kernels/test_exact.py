"""Exact totals against fractions: of one sum, of the sums of rows, of numbers and their squares."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.exact import (
    EXPONENTS,
    LIMBS,
    PARTS,
    UNIT,
    add_moments,
    add_product,
    add_row_products,
    carry_limbs,
    rounded,
)

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


@settings(max_examples=200, deadline=None)
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


def test_extremes():
    check([1e308] * 4, [1e308] * 4)
    check([1.7e308] * 2, [1.0, 1.0])
    check([-1.7e308] * 2, [1.0, 1.0])
    check([2.0**1023, 2.0**1023, -(2.0**971)], [1.0, 1.0, 1.0])
    check([1e308, -1e308, 5e-324], [1e308, 1e308, 5e-324])
    check([5e-324], [-5e-324])
    check([1.0, 2.0**-53, -1.0], [1.0, 1.0, 1.0])
    check([0.1, 0.2, -0.3], [1.0, 1.0, 1.0])
    check([], [])


def test_many_terms_do_not_overflow_the_limbs():
    n = 200 if exact_dot.__class__.__name__ == "function" else 1_000_000
    largest = float(np.nextafter(2.0**500, 0))
    total = np.zeros(LIMBS, np.int64)
    v = np.full(n, largest)
    got = exact_dot(v, v, total)
    assert got == pytest.approx(n * largest * largest, rel=1e-12)


rows = st.lists(st.lists(st.tuples(finite, finite), max_size=4), min_size=1, max_size=4)


@settings(max_examples=100, deadline=None)
@given(rows)
def test_sums_of_products_of_each_row(pairs):
    flat = np.array([pair for row in pairs for pair in row]).reshape(-1, 2).T.copy()
    pointers = np.cumsum([0] + [len(row) for row in pairs])
    totals = np.zeros((len(pairs), LIMBS), np.int64)
    add_row_products(totals, flat[0], flat[1], pointers)
    carry_limbs(totals)
    assert totals.min() >= 0
    assert totals.max() < 2**32
    for limbs, row in zip(totals, pairs, strict=True):
        got = int.from_bytes(limbs.astype("<u4").tobytes(), "little", signed=True)
        assert Fraction(got, 1 << UNIT) == sum((Fraction(a) * Fraction(b) for a, b in row), Fraction(0))


@settings(max_examples=100, deadline=None)
@given(st.lists(finite, max_size=6))
def test_sums_of_numbers_and_squares(values):
    table = np.zeros((EXPONENTS, PARTS), np.int64)
    add_moments(table, np.array(values, dtype=np.float64).view(np.int64))
    total = squares = Fraction(0)
    for e in np.flatnonzero(table.any(axis=1)).tolist():
        a, b, c, aa, ab, acbb, bc, cc = table[e].tolist()
        unit = Fraction(2) ** (e - 1075)
        total += unit * ((a << 36) + (b << 18) + c)
        squares += unit**2 * ((aa << 72) + (ab << 55) + (acbb << 36) + (bc << 19) + cc)
    assert total == sum(map(Fraction, values), Fraction(0))
    assert squares == sum((Fraction(value) ** 2 for value in values), Fraction(0))
