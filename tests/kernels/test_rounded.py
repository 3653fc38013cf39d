"""Every sum is the rational sum rounded once, whatever the numbers, the layout and the type of the rows."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.exact_floats import exact_sum, nearest_float
from rosenblatt.kernels.compiler import kernel
from rosenblatt.kernels.exact import LONG_LIMBS
from rosenblatt.kernels.rounded import (
    careful_product_sum,
    rounded_activation,
    rounded_margin,
    rounded_square,
    rounded_variance,
    rounded_variance_of_two,
)
from rosenblatt.kernels.row_ops import class_weights

finite = st.floats(allow_nan=False, allow_infinity=False)
ordinary = st.floats(-100.0, 100.0)
shares = st.floats(0.0, 1.0, exclude_min=True)
TIES = [2.0**-53, -(2.0**-53), 3 * 2.0**-53, 2.0**-54, 2.0**-106, -(2.0**-106), 2.0**-160, -(2.0**-160), 2.0**-1074]


@kernel
def sums(rows, w, b, s, start, k, other, i, size, radius2, terms, total, out):
    """Fill ``out`` with what each function gives."""
    own_w, other_w = class_weights(rows, w, k), class_weights(rows, w, other)
    own_s, other_s = class_weights(rows, s, k), class_weights(rows, s, other)
    out[0] = rounded_activation(rows, i, own_w, b[k], size, terms, total)
    out[1] = rounded_margin(rows, i, own_w, b[k], other_w, b[other], size, terms, total)
    out[2] = rounded_square(rows, i, radius2, terms, total)
    out[3] = rounded_variance(rows, i, own_s, start, radius2, terms, total)
    out[4] = rounded_variance_of_two(rows, i, own_s, start, other_s, 0.75 * start, radius2, terms, total)


@kernel
def careful_sum(rows, w, size):
    return careful_product_sum(rows, 0, w, 0.0, size)


def rational_sums(x, w, b, s, start, k, other):
    activation, rival = (exact_sum(w[c], x) + Fraction(float(b[c])) for c in (k, other))
    square = exact_sum(x, x)
    variance = exact_sum(s[k], x, x) + Fraction(float(start))
    more = exact_sum(s[other], x, x) + Fraction(0.75 * float(start))
    true = [activation, activation - rival, square, variance, variance + more]
    return [nearest_float(number) for number in true]


def size_of(x, w, b):
    """Return an upper bound on ``|(w, b)| |(x, 1)|`` of every class, infinite where that may overflow."""
    with np.errstate(all="ignore"):
        weights = max(np.linalg.norm(np.append(w[c], b[c])) for c in range(len(w)))
        size = 1.02 * weights * np.linalg.norm(np.append(x, 1.0))
    return size if np.abs(w).max(initial=0.0) < 1e150 and np.abs(x).max(initial=0.0) < 1e150 else math.inf


def check(x, w, b, s, start, k=0, other=1, looser=1.0):
    """Compare all functions on one row, dense and CSR and beside other rows, with the rational sums."""
    x, w, b, s = np.asarray(x), *(np.array(a, dtype=np.float64) for a in (w, b, s))
    true = rational_sums(x, w, b, s, start, k, other)
    size = max(size_of(x.astype(np.float64), w, b), 1e-320) * looser
    with np.errstate(over="ignore"):
        radius2 = 1.000001 * (np.square(x.astype(np.float64)).sum() + start) * looser
    d = len(x)
    total, out = np.zeros(LONG_LIMBS, np.int64), np.empty(5)
    stored = np.flatnonzero(x)
    dense = np.concatenate([np.ones(d, x.dtype), x, np.ones(d, x.dtype)])
    values = np.concatenate([np.ones(1, x.dtype), x[stored], np.ones(1, x.dtype)])
    indices = np.concatenate([[0], stored, [0]]).astype(np.uint32)
    indptr = np.array([0, 1, 1 + len(stored), 2 + len(stored)])
    by_column = np.ascontiguousarray(w.T), np.ascontiguousarray(s.T)
    for rows, (all_w, all_s) in (((dense, d), (w, s)), ((values, indices, indptr), by_column)):
        sums(rows, all_w, b, all_s, start, k, other, 1, size, radius2, d, total, out)
        assert out.tolist() == true
        assert not total.any(), "the total must be left at zero"


def numbers_of(draw, count, numbers):
    return draw(st.lists(numbers, min_size=count, max_size=count))


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(0, 27), st.sampled_from([ordinary, finite, st.sampled_from([0.0, 1.0, -1.0, 0.5])]))
def test_any_numbers(data, d, numbers):
    x = np.array(numbers_of(data.draw, d, numbers), dtype=np.float64)
    w = np.array([numbers_of(data.draw, d, numbers) for _ in range(3)]).reshape(3, d)
    s = np.array([numbers_of(data.draw, d, shares) for _ in range(3)]).reshape(3, d)
    b = numbers_of(data.draw, 3, numbers)
    k, other = data.draw(st.permutations(range(3)))[:2]
    check(x, w, b, s, abs(data.draw(numbers)), k, other)


def random_rows(seed, d, dtype, spread=0.0):
    generator = np.random.default_rng(seed)

    def normal(*shape):
        return generator.standard_normal(shape) * 2.0 ** generator.uniform(-spread, spread, shape)

    x = normal(d).astype(dtype)
    return x, normal(2, d), normal(2), generator.uniform(1e-3, 1.0, (2, d)), abs(normal(1)[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ordinary_rows(dtype):
    for d, spread, seed in product([1, 7, 8, 9, 16, 100], [0.0, 40.0], range(5)):
        check(*random_rows(seed, d, dtype, spread))


def test_a_bound_far_from_tight_changes_nothing():
    for seed in range(20):
        check(*random_rows(seed, 20, np.float64), looser=2.0 ** (5 * seed))


def test_huge_and_tiny_numbers():
    scales = [1e300, 1e200, 1e150, 1e-100, 1e-150, 1e-160, 1e-200, 1e-300, 5e-324]
    for seed, (scale, weight) in enumerate(2 * list(product(scales, [1e300, 1.0, 1e-150, 1e-300]))):
        x, w, b, s, start = random_rows(seed, 11, np.float64)
        with np.errstate(all="ignore"):
            check(np.clip(x, -9, 9) * scale, w * weight, b * weight, s, start * weight)
            check(x * scale, w * weight, b * 0.0, s * 1e-300, 0.0)


def test_sums_that_cancel():
    for seed in range(20):
        x, w, b, s, start = random_rows(seed, 12, np.float64)
        x, w, s = np.append(x, x), np.hstack([w, -w]), np.hstack([s, s])
        check(x, w, b * 0.0, s, start)
        check(x, w, b, s, start)
        w[0, 0] += 2.0**-52 * w[0, 0]
        check(x, w, b * 0.0, s, start)


def test_products_below_the_smallest_float_beside_ordinary_ones_that_cancel():
    generator = np.random.default_rng(0)
    for scale in (1e-155, 1e-160, 1e-162, 1e-170, 2.0**-537):
        for _ in range(20):
            tiny = generator.uniform(-4.0, 4.0, (3, 9)) * scale
            w = np.hstack([[[1.0, -1.0], [0.0, 0.0]], tiny[:2]])
            check(np.append([1.0, 1.0], tiny[2]), w, [0.0, 0.0], np.ones((2, 11)), 0.0)


def test_many_products_that_each_round_to_zero():
    x, w = np.full(12, 2.0**-537), np.full((2, 12), 0.8 * 2.0**-538)
    x[:2], w[0, :2], w[1] = 1.0, (1.0, -1.0), 0.0
    check(x, w, [0.0, 0.0], np.ones((2, 12)), 0.0)


def test_products_whose_digits_all_fit_need_no_exact_sum():
    x, w = np.array([3.0, 5.0, 2.0**60]), np.array([5.0, -3.0, 0.0])
    high, low, error = careful_sum((x, 3), w, 31.0)
    assert (high, low, error) == (0.0, 0.0, 0.0)


def test_half_way_between_two_floats_and_a_hair_beside():
    floats = 1.0, 1.0 + 2.0**-52, 2.0 - 2.0**-52, -1.0
    for step, beside, d, one in product(TIES, [0.0, *TIES], [2, 12], floats):
        w = np.zeros((2, d))
        w[0, 0], w[0, -1] = step, beside
        check(np.ones(d), w, [one, 0.0], np.full((2, d), 0.5), 1.0)
        check(np.ones(d), w, [0.0, -one], abs(w) + 2.0**-1074, abs(one))


def test_half_way_in_squares():
    x = np.zeros(9)
    for small in (2.0**-26.5, 2.0**-27, 2.0**-26 * (1 + 2.0**-52), 2.0**-53, 2.0**-60, 2.0**-530, 2.0**-537, 2.0**-540):
        x[:3] = 1.0, small, small
        for other in (0.0, 2.0**-80, 2.0**-300, 2.0**-1074):
            x[8] = other
            check(x, np.zeros((2, 9)), [0.0, 0.0], np.full((2, 9), 0.5), 0.0)
            check(x * 2.0**-500, np.zeros((2, 9)), [0.0, 0.0], np.full((2, 9), 2.0**-50), 0.0)


def test_rows_of_zeros_of_one_entry_and_without_any():
    check(np.zeros(9), np.ones((2, 9)), [0.0, 0.0], np.ones((2, 9)), 0.0)
    check(np.zeros(9), np.ones((2, 9)), [0.1, 0.3], np.ones((2, 9)), 0.7)
    check(np.zeros(0), np.ones((2, 0)), [0.1, 0.3], np.ones((2, 0)), 0.7)
    for x in (0.1, 1e308, -1e-308, 5e-324):
        check(np.array([x]), [[0.3], [7.0]], [0.1, 1.0], [[0.7], [1.0]], 0.2)


def test_beyond_the_largest_float():
    largest = float(np.finfo(np.float64).max)
    for top in (largest, -largest, largest / 2, 2.0**970, 2.0**969):
        check(np.ones(2), [[largest, top], [top, 0.0]], [0.0, 2.0**969], [[1.0, 1.0], [1.0, 1.0]], largest)


def test_long_rows_agree_with_sparse_ones():
    x, w, b, s, start = random_rows(0, 3000, np.float64)
    x[np.random.default_rng(1).random(3000) < 0.5] = 0.0
    check(x, w, b, s, start)
