from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.kernels.exact import EXPONENTS, LIMBS, PARTS, UNIT, add_moments, add_row_products, carry_limbs

finite = st.floats(allow_nan=False, allow_infinity=False)
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
