"""Exact signs of sums of kernel values, and exact products."""

import random
from collections import Counter, defaultdict
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import comb, nextafter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rosenblatt.training.dual import exact_signs
from rosenblatt.training.dual.exact_signs import (
    exact_distances,
    exact_dots,
    exact_sign,
    exact_squared_distances,
    filtered_sign,
    running_signs,
)
from rosenblatt.training.dual.kernel_values import KernelValues
from rosenblatt.training.options import Kernel

# Signs of kernel sums in real numbers: against fractions, 200 digits, and sums whose sign is known.


DIGITS = Context(prec=200)
EXPONENTIAL = ("rbf", "laplacian")
near_ties = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.5, 0.1, -0.3, 2.0**-30, 1e-9, 3.0])
anything = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(-3, 3)
factors = st.one_of(counts, st.floats(-10, 10), st.fractions(-3, 3, max_denominator=9))


def sign(value):
    return (value > 0) - (value < 0)


def fractions(row):
    return [Fraction(float(value)) for value in row]


def polynomial_values(kernel, supports, x):
    gamma, coef0, degree = kernel.polynomial
    for row in supports:
        dot = sum((a * b for a, b in zip(fractions(row), fractions(x), strict=True)), Fraction(0))
        yield (Fraction(gamma) * dot + Fraction(coef0)) ** degree


def polynomial_twin(kernel, coefficients, supports, x):
    values = polynomial_values(kernel, supports, x)
    return sign(sum(Fraction(factor) * value for factor, value in zip(coefficients, values, strict=True)))


def exponential_twin(kernel, coefficients, supports, x):
    """Return the sign by 200 digits; None where they do not tell."""
    power = 2 if kernel.name == "rbf" else 1
    collected = defaultdict(Fraction)
    for factor, row in zip(coefficients, supports, strict=True):
        distance = sum(abs(a - b) ** power for a, b in zip(fractions(row), fractions(x), strict=True))
        collected[Fraction(kernel.gamma) * distance] += Fraction(factor)
    terms = [(t, factor) for t, factor in collected.items() if factor]
    if not terms:
        return 0
    least = min(terms)[0]
    values = [DIGITS.multiply(decimal(factor), DIGITS.exp(-decimal(t - least))) for t, factor in terms]
    total, size = Decimal(0), sum(map(abs, values))
    for value in values:
        total = DIGITS.add(total, value)
    return sign(total) if abs(total) > size * Decimal("1e-150") else None


def decimal(value):
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def rows_of(elements, most=6):
    return st.integers(1, 3).flatmap(
        lambda d: st.lists(st.lists(elements, min_size=d, max_size=d), min_size=2, max_size=most)
    )


def with_factors(rows, numbers):
    return st.lists(numbers, min_size=len(rows) - 1, max_size=len(rows) - 1).map(
        lambda some: (some, np.array(rows[1:]), np.array(rows[0]))
    )


def sums(elements, numbers):
    return rows_of(elements).flatmap(lambda rows: with_factors(rows, numbers))


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(sums(near_ties, counts), sums(anything, factors)),
    st.sampled_from([1.0, 0.1, 0.0, 1e300, 5e-324]),
    st.sampled_from([0.0, 1.0, -0.3, 5e-324, -1e300]),
    st.integers(0, 5),
)
def test_polynomials_are_those_of_fractions(case, gamma, coef0, degree):
    for kernel in (Kernel("poly", degree, gamma, coef0), Kernel("linear")):
        assert exact_sign(kernel, *case) == polynomial_twin(kernel, *case)


@pytest.mark.parametrize(
    "kernel", [Kernel("linear"), Kernel(gamma=0.1), Kernel("poly", 2, 3, -0.3), Kernel("poly", 5, 1 / 3, 1e-9)]
)
def test_polynomials_that_cancel_exactly_or_nearly(kernel):
    rng = np.random.default_rng(0)
    for _ in range(20):
        supports, x = rng.normal(size=(2, 3)), rng.normal(size=3)
        first, second = polynomial_values(kernel, supports, x)
        assert exact_sign(kernel, [second, -first], supports, x) == 0
        off = Fraction(1, 10**60)
        assert exact_sign(kernel, [second * (1 + off), -first], supports, x) == sign(first * second)
        assert exact_sign(kernel, [second * (1 - off), -first], supports, x) == -sign(first * second)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(sums(near_ties, counts), sums(st.floats(-30, 30), factors)),
    st.sampled_from([1.0, 0.1, 0.0, 3, 1e-9]),
    st.sampled_from(EXPONENTIAL),
)
def test_exponentials_are_those_of_200_digits(case, gamma, name):
    kernel = Kernel(name, gamma=gamma)
    expected = exponential_twin(kernel, *case)
    got = exact_sign(kernel, *case)
    assert got == expected or (expected is None and got != 0)


@settings(max_examples=100, deadline=None)
@given(sums(st.one_of(near_ties, anything), counts), st.integers(0, 2), st.integers(0, 2))
def test_dense_and_csr_rows_of_any_width_give_the_same(case, more, still_more):
    coefficients, supports, x = case
    sparse, row = sp.csr_array(supports), sp.csr_matrix(x[None])
    n, d = supports.shape
    wide = sp.csr_array((sparse.data, sparse.indices, sparse.indptr), shape=(n, d + more))
    wide_row = sp.csr_array(sp.csr_array(np.concatenate([x, np.zeros(still_more)])[None]))
    short_row = sp.csr_array(np.trim_zeros(np.append(x, 0.0), "b")[None])
    unsorted = sp.csr_array((row.data[::-1], row.indices[::-1], row.indptr), shape=row.shape)
    for kernel in (Kernel("linear"), Kernel(), Kernel("rbf", gamma=0.1), Kernel("laplacian", gamma=0.1)):
        expected = exact_sign(kernel, coefficients, supports, x)
        for matrix in (supports, np.asfortranarray(supports), sparse, wide):
            for one in (x, row, wide_row, short_row, unsorted):
                assert exact_sign(kernel, np.array(coefficients), matrix, one) == expected


def test_float32_is_taken_exactly():
    supports, x = np.array([[0.1], [0.1]]), np.array([1.0])
    supports[1] = np.float32(0.1)  # larger than 0.1
    assert exact_sign(Kernel("linear"), [1, -1], supports, x) == -1
    assert exact_sign(Kernel("linear"), [1], supports[1:].astype(np.float32), np.array([1], np.float32)) == 1
    assert exact_sign(Kernel("rbf"), [1, -1], supports.astype(np.float32), x) == 0
    assert exact_sign(Kernel("laplacian"), [1, -1], np.array([[0.1], [0.3]], np.float32), np.array([0.2])) != 0


def test_zero_to_the_power_of_zero_is_one():
    assert exact_sign(Kernel("poly", 0, 1.0, 0.0), [1, -2], np.zeros((2, 1)), np.zeros(1)) == -1
    assert exact_sign(Kernel("poly", 1, 1.0, 0.0), [1, -2], np.zeros((2, 1)), np.zeros(1)) == 0


FIRST_BITS = exact_signs._FIRST_POWER_BITS


@pytest.mark.parametrize("first_bits", [1, 40, FIRST_BITS])
def test_high_powers_are_those_of_fractions_at_every_precision(first_bits, monkeypatch):
    monkeypatch.setattr(exact_signs, "_FIRST_POWER_BITS", first_bits)
    rng = np.random.default_rng(first_bits)
    found = Counter()
    for _ in range(60):
        n, degree = int(rng.integers(2, 6)), int(rng.choice([2, 3, 10, 41]))
        supports = rng.choice([1.0, -1.0, 2.0, 1 + 2.0**-52, 1 - 2.0**-30, 0.5], (n, 1)) * 2.0 ** rng.integers(-9, 3)
        supports[-1] = -supports[0]  # the sum is exactly zero now and then, of equal powers and of 2**degree and 1
        kernel, x = (
            Kernel("poly", degree, 1.0, float(rng.choice([0.0, 1.0, -1e-20]))),
            np.array([float(rng.choice([1, 3]))]),
        )
        steps = [float(step) for step in rng.choice([1, -1, 2.0**degree, -(2.0**degree)], n)]
        members = [*range(n), *rng.integers(0, n, 4).tolist()]
        steps += [-steps[member] for member in members[n:]]
        asked = list(range(len(steps)))
        parts = [
            [sum(s for m, s in zip(members[: v + 1], steps, strict=False) if m == j) for j in range(n)] for v in asked
        ]
        true = [polynomial_twin(kernel, part, supports, x) for part in parts]
        assert running_signs(kernel, members, steps, supports, x, asked) == true
        assert [exact_sign(kernel, part, supports, x) for part in parts] == true
        found.update(true)
    assert min(found[-1], found[0], found[1]) > 10


def test_truncated_powers_are_within_their_bound():
    rng = random.Random(0)
    for degree in (2, 7, 30, 200):
        bases = [rng.choice([-1, 1]) * rng.getrandbits(rng.choice([900, 899, 500])) for _ in range(9)]
        *levels, (exact, error) = exact_signs._powers([*bases, 2**900 - 1], degree)
        assert error == 0
        assert levels
        for powers, error in levels:
            one = Fraction(exact[-1], powers[-1])  # the unit, nearly: the last power is near 1
            off = max(abs(power * one - true) for power, true in zip(powers, exact, strict=True))
            assert off <= 2 * error * one


def test_signs_of_high_powers_are_decided_by_few_bits(monkeypatch):
    def first_bits_of_powers(bases, degree):
        powers, error = next(exact_powers(bases, degree))
        assert error > 0
        assert max(power.bit_length() for power in powers) < 10_000  # the exact ones have some two million
        yield powers, error

    exact_powers = exact_signs._powers
    monkeypatch.setattr(exact_signs, "_powers", first_bits_of_powers)
    kernel = Kernel("poly", 1000, 1.0, 1.0)
    supports, x = np.array([[5e-324], [1.5], [1.5], [-1.5]]), np.array([1.0])
    assert exact_sign(kernel, [1, 1, -1, -2], supports, x) == 1
    assert exact_sign(kernel, [1, 1, -1, -4], supports, np.array([-5e-324])) == -1
    assert running_signs(kernel, [0, 1, 3], [1.0, -1.0, 1.0], supports, x, [0, 1, 2]) == [1, -1, -1]


@pytest.mark.parametrize("name", ["linear", "poly", *EXPONENTIAL])
def test_no_terms_are_zero(name):
    assert exact_sign(Kernel(name), [], np.empty((0, 2)), np.ones(2)) == 0
    assert exact_sign(Kernel(name), [0, 0.0], np.ones((2, 2)), np.ones(2)) == 0
    assert exact_sign(Kernel(name), [0, 2], sp.csr_array(np.ones((2, 2))), np.ones(2)) == 1


@pytest.mark.parametrize("name", ["sigmoid", "precomputed", "function"])
def test_kernels_that_are_not_exact_are_refused(name):
    with pytest.raises(ValueError, match=f"must be linear, poly, rbf or laplacian to be exact, got {name}"):
        exact_sign(Kernel(name), [1], np.ones((1, 1)), np.ones(1))


@pytest.mark.parametrize("name", EXPONENTIAL)
@pytest.mark.parametrize("scale", [1.0, 2.0**-500, 2.0**500, 2.0**-1074])
def test_mirrored_points_and_duplicates_cancel(name, scale):
    x = np.array([3.0, -5.0, 7.0]) * scale
    step = np.array([1.0, 2.0, -4.0]) * scale
    supports = np.array([x + step, x - step, x + step[[1, 0, 2]], x, x])
    for gamma in (0.1, 1e-300, 1e300, 5e-324):
        kernel = Kernel(name, gamma=gamma)
        assert exact_sign(kernel, [2, -1, -1, 0.5, Fraction(-1, 2)], supports, x) == 0
        assert exact_sign(kernel, [2, -1, -1, Fraction(1, 3), -0.3333333333333333], supports, x) == 1
        moved = supports.copy()
        moved[1, 0] = nextafter(moved[1, 0], moved[0, 0])  # nearer to x by the least there is
        assert exact_sign(kernel, [2, -1, -1, 0, 0], moved, x) == -1


@pytest.mark.parametrize(
    ("name", "tiny"), [("rbf", 1e-20), ("laplacian", 1e-40), ("rbf", 5e-324), ("laplacian", 5e-324)]
)
def test_nearly_equal_exponents(name, tiny):
    supports = np.array([[1.0, tiny], [1.0, 0.0]])
    for x in (np.zeros(2), np.array([0.25, 0.0])):
        assert exact_sign(Kernel(name, gamma=0.1), [1, -1], supports, x) == -1
        assert exact_sign(Kernel(name, gamma=0.1), [-0.1, 0.1], supports, x) == 1
        assert exact_sign(Kernel(name, gamma=0.1), [1, -1 + 2**-53], supports, x) == 1


@pytest.mark.parametrize(("order", "step", "gamma"), [(2, 1e-150, 0.1), (9, 1e-30, 1.0), (3, 5e-324, 5e-324)])
def test_differences_of_high_order(order, step, gamma):
    """The sum of (-1)^k C(n, k) exp(-k t) is (1 - exp(-t))^n."""
    supports = np.arange(order + 1)[:, None] * step
    coefficients = [(-1) ** k * comb(order, k) for k in range(order + 1)]
    if all(Fraction(row[0]) == k * Fraction(step) for k, row in enumerate(supports)):
        assert exact_sign(Kernel("laplacian", gamma=gamma), coefficients, supports, np.zeros(1)) == 1
    steps = np.tri(order + 1, order, -1) * step  # step k has k coordinates that are not 0
    for name in EXPONENTIAL:
        assert exact_sign(Kernel(name, gamma=gamma), coefficients, steps, np.zeros(order)) == 1
        assert exact_sign(Kernel(name, gamma=gamma), [-c for c in coefficients], steps, np.zeros(order)) == -1


@settings(max_examples=100, deadline=None)
@given(st.floats(0, 200), st.integers(1, 150), st.sampled_from(EXPONENTIAL))
def test_a_fraction_that_is_near_to_a_power_of_e_is_told_from_it(t, digits, name):
    power = Fraction(DIGITS.exp(decimal(Fraction(t))))  # to 200 digits
    assume(t == 0 or t > 1e-40)
    off = Fraction(1, 10**digits)
    supports = np.array([[1.0], [0.0]]) if t else np.zeros((2, 1))
    for error in (off, -off):
        factor = power * (1 + error)
        assert exact_sign(Kernel(name, gamma=t), [factor, -1], supports, np.zeros(1)) == sign(error)


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_terms_too_small_for_any_precision_are_bounded(name):
    x = np.zeros(1)
    supports = np.array([[1e300], [0.0], [-1.7e308], [1e-300]])
    assert exact_sign(Kernel(name), [1e308, -5e-324, 1e308, 0], supports, x) == -1
    assert exact_sign(Kernel(name, gamma=1e300), [-1e308, 5e-324, 0, 0], supports, x) == 1
    assert exact_sign(Kernel(name), [1, 0, 0, 0], supports, x) == 1, "all terms are tiny: the largest one decides"
    assert exact_sign(Kernel(name), [1, 0, -(10**300), 0], supports, x) == 1
    beyond = np.array([[1e300], [nextafter(1e300, 2e300)]])
    assert exact_sign(Kernel(name), [1, -1e308], beyond, x) == 1
    assert exact_sign(Kernel(name, gamma=5e-324), [1, -1e308], beyond, x) == (1 if name == "rbf" else -1)


def test_many_supports_agree_with_the_twin():
    rng = np.random.default_rng(0)
    supports = rng.integers(0, 256, size=(60, 20)) / 255 * (rng.random((60, 20)) < 0.4)
    x = supports[0] + 0.5 * supports[1]
    coefficients = rng.integers(-4, 5, size=60).tolist()
    for kernel in (Kernel("linear"), Kernel(gamma=0.05), Kernel("poly", 7, 1 / 3, -0.1)):
        assert exact_sign(kernel, coefficients, sp.csr_array(supports), x) == polynomial_twin(
            kernel, coefficients, supports, x
        )
    for name in EXPONENTIAL:
        kernel = Kernel(name, gamma=0.05)
        assert exact_sign(kernel, coefficients, supports, x) == exponential_twin(kernel, coefficients, supports, x)


# Dot products and distances in integers, against fractions.


finite = st.one_of(st.sampled_from([0.0, -0.0, 1.0, -2.0, 0.1]), st.floats(allow_nan=False, allow_infinity=False))
shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=4)


@settings(max_examples=200, deadline=None)
@given(hnp.arrays(np.float64, shapes, elements=finite), hnp.arrays(np.float64, st.integers(0, 5), elements=finite))
@pytest.mark.parametrize(
    ("exact", "of_a_column"),
    [
        (exact_dots, lambda a, b: a * b),
        (exact_squared_distances, lambda a, b: (a - b) ** 2),
        (exact_distances, lambda a, b: abs(a - b)),
    ],
)
def test_they_are_those_of_fractions(exact, of_a_column, X, x):
    wide = np.zeros((len(X) + 1, max(X.shape[1], len(x))))
    wide[:-1, : X.shape[1]], wide[-1, : len(x)] = X, x
    whole = [[Fraction(value) for value in row] for row in wide.tolist()]
    expected = [sum(map(of_a_column, row, whole[-1]), Fraction(0)) for row in whole[:-1]]
    for rows in (X, sp.csr_array(X)):
        for row in (x, sp.csr_array(x[None])):
            above, below = exact(rows, row)
            assert [Fraction(value, below) for value in above] == expected
            assert below & (below - 1) == 0
            assert below == 1 or any(value % 2 for value in above), "they must have no common factor"


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_the_error_of_the_laplacian_is_bounded_where_sparse_rows_share_no_column(n):
    """The distance then adds the terms of both rows: 1 and many numbers that each vanish beside it."""
    small = 0.999 * 2.0**-53
    x, z = np.zeros((2, 1, 2 * n))
    x[0, :n], x[0, 0], z[0, n:] = small, 1.0, small
    values = KernelValues(Kernel("laplacian", gamma=1.0))
    first, second = values.rows(sp.csr_array(x)), values.rows(sp.csr_array(z))
    _, errors = values.error_bounds(first.lengths, float(second.lengths[0]), max(first.terms, second.terms))
    with localcontext(DIGITS):
        exact = (-sum((Decimal(value) for value in (x + z)[0].tolist()), Decimal())).exp()
        assert abs(Decimal(float(values(first, second)[0, 0])) - exact) <= Decimal(float(errors[0]))


# The filter in floats: it must not be certain where factors, distances or exponentials underflow.


def fractions_sign(kernel, coefficients, rows, x):
    return exact_sign(kernel, list(coefficients.values()), rows, x[0])


@pytest.mark.parametrize(("first", "second", "ratio"), [(1.4, 1.2, 1.1), (1.6, 1.4, 1.5), (0.4, 0.6, 0.1)])
def test_factors_below_the_smallest_normal_float_are_decided_exactly(first, second, ratio):
    """In units of the smallest float they are rounded to integers, and large kernel values make the sum certain."""
    rows, x = np.array([[1e150, 0.0], [0.0, 1e150]]), np.array([[1e90, ratio * 1e90]])
    unit = Fraction(1, 2**1074)
    coefficients = {0: unit * Fraction(first), 1: -unit * Fraction(second)}
    expected = sign(first - second * ratio)
    assert fractions_sign(Kernel("linear"), coefficients, rows, x) == expected
    assert filtered_sign(Kernel("linear"), coefficients, rows, x) == expected


def test_squares_that_underflow_are_decided_exactly():
    """A large gamma makes distances matter whose squares are 0 in floats."""
    kernel = Kernel("rbf", gamma=1e308)
    rows = np.array([np.full(1000, 1e-162), np.zeros(1000)])
    coefficients = {0: 1, 1: Fraction(-(1 - 2.0**-47))}  # exp(-1e-13) is less than the second factor
    assert fractions_sign(kernel, coefficients, rows, np.zeros((1, 1000))) == -1
    assert filtered_sign(kernel, coefficients, rows, np.zeros((1, 1000))) == -1


def test_the_error_of_the_laplacian_is_unbounded_where_float32_loses_entries():
    x = np.array([[1e-46]])  # 0 as float32
    values = KernelValues(Kernel("laplacian", gamma=1e46), dtype="float32")
    rows = values.rows(x)
    _, errors = values.error_bounds(rows.lengths, 0.0, 1)
    found = float(values(rows, values.rows(np.zeros((1, 1))))[0, 0])
    assert abs(found - np.exp(-1.0)) > 0.1 or np.isnan(found)
    assert np.isinf(errors[0])
