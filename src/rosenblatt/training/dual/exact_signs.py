"""The sign of a sum of kernel values in real numbers, for the few decisions that floats leave open.

Polynomials of dot products are settled in integers. A sum of c_j exp(-t_j) with rational c_j and distinct rational t_j
is zero only where every c_j is (Lindemann and Weierstrass): then it is known to be zero, and otherwise some precision
must settle its sign.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.training.dual.exact_products import Ratios, exact_distances, exact_dots, exact_squared_distances
from rosenblatt.training.kernel import Kernel

_FIRST_BITS = 128


def exact_sign(kernel: Kernel, coefficients: Sequence[int | float | Fraction], supports: Any, x: Any) -> int:
    """Return the sign, -1, 0 or 1, of the sum of ``coefficients[j]`` times K(``supports[j]``, ``x``) in real numbers.

    Every float, those of the kernel too, is taken exactly as the rational that it is.

    Parameters
    ----------
    kernel
        A linear, polynomial, rbf or laplacian kernel; any other is a ValueError.
    coefficients
        The factor of each row of ``supports``.
    supports
        A matrix of float32 or float64, dense or CSR without duplicates; finite. Columns that are missing are 0.
    x
        A row: an array of one dimension, or a CSR matrix of one row. It may have more columns than ``supports``, or
        fewer.

    Returns
    -------
    int
        -1, 0 or 1. It always ends: of a sum that is not zero, some precision settles the sign.

    Examples
    --------
    >>> supports = np.array([[0.1], [0.2], [0.3]])  # as floats, 0.1 + 0.2 is more than 0.3
    >>> exact_sign(Kernel("linear"), [1, 1, -1], supports, np.array([1.0]))
    1
    >>> exact_sign(Kernel("rbf"), [1, -1], np.array([[0.0], [2.0]]), np.array([1.0]))
    0
    """
    if not kernel.is_exact:
        raise ValueError(f"the kernel must be linear, poly, rbf or laplacian to be exact, got {kernel.name}.")
    given = coefficients.tolist() if isinstance(coefficients, np.ndarray) else coefficients
    places = [j for j, factor in enumerate(given) if factor]
    if not places:
        return 0
    factors = _as_integers([given[j] for j in places])
    rows = supports if len(places) == supports.shape[0] else supports[places]
    if kernel.polynomial is not None:
        return _sign_of_powers(factors, exact_dots(rows, x), *kernel.polynomial)
    distances = exact_squared_distances if kernel.name == "rbf" else exact_distances
    return _sign_of_exponentials(factors, distances(rows, x), kernel.gamma)


def running_signs(
    kernel: Kernel, members: Sequence[int], steps: Sequence[float], supports: Any, x: Any, asked: Sequence[int]
) -> list[int]:
    """Return the signs of running sums of ``steps[v]`` times K(``supports[members[v]]``, ``x``) after those ``asked``.

    The kernel is a polynomial; ``asked`` are places in ``steps``, in order.

    >>> supports, x = np.array([[2.0], [2.0]]), np.array([3.0])
    >>> running_signs(Kernel("linear"), [0, 1, 0], [1.0, -1.0, -2.0], supports, x, [0, 1, 2])
    [1, 0, -1]
    """
    powers = _powers(exact_dots(supports, x), *(kernel.polynomial or (1.0, 0.0, 1)))
    wanted, signs, total = set(asked), [], 0
    last = asked[-1] + 1
    for v, (member, factor) in enumerate(zip(members[:last], _as_integers(steps[:last]), strict=True)):
        total += factor * powers[member]
        if v in wanted:
            signs.append(_sign(total))
    return signs


def _as_integers(factors: Sequence[int | float | Fraction]) -> list[int]:
    """Return numbers times one above 0 that makes all of them integers."""
    ratios = [factor.as_integer_ratio() for factor in factors]
    scale = math.lcm(*(below for _, below in ratios))
    return [above * (scale // below) for above, below in ratios]


def _sign_of_powers(factors: list[int], dots: Ratios, gamma: float, coef0: float, degree: int) -> int:
    """Return the sign of the sum of factors times (gamma dot + coef0) ** degree."""
    powers = _powers(dots, gamma, coef0, degree)
    return _sign(sum(factor * power for factor, power in zip(factors, powers, strict=True)))


def _powers(dots: Ratios, gamma: float, coef0: float, degree: int) -> list[int]:
    """Return (gamma dot + coef0) ** degree of each dot product, times one number above 0."""
    (gamma_above, gamma_below), (coef0_above, coef0_below) = gamma.as_integer_ratio(), coef0.as_integer_ratio()
    slope, offset = gamma_above * coef0_below, coef0_above * gamma_below * dots.below
    return [(slope * above + offset) ** degree for above in dots.above]


def _sign_of_exponentials(factors: list[int], distances: Ratios, gamma: float) -> int:
    """Return the sign of the sum of factors times exp(-gamma distance)."""
    gamma_above, gamma_below = gamma.as_integer_ratio()
    collected: defaultdict[int, int] = defaultdict(int)
    for factor, above in zip(factors, distances.above, strict=True):
        collected[gamma_above * above] += factor
    terms = [(exponent, factor) for exponent, factor in collected.items() if factor]
    if not terms:
        return 0
    least, below = min(terms)[0], gamma_below * distances.below
    most_wrong = 2 * sum(abs(factor) for _, factor in terms)
    bits = _FIRST_BITS
    while True:
        total = sum(factor * _exponential(exponent - least, below, bits) for exponent, factor in terms)
        if abs(total) > most_wrong:
            return _sign(total)
        bits *= 2


def _exponential(above: int, below: int, bits: int) -> int:
    """Return exp(-t) in units of 2**-bits, off by at most 2 of them, for t = above / below >= 0.

    The series of exp(-u) with u = t / 2**halvings < 1/2, squared as often, in smaller units: 2**-places. The sum is off
    by at most 4 of these for each of its terms, fewer than ``places``, and some 10 for u and the terms left out; a
    square doubles that and adds 2. So 2**halvings (4 places + 12) bounds it, which is less than 2**(places - bits).
    """
    if above * 10_000 > 6932 * bits * below:  # exp(-t) < 2**-bits, because 0.6932 > log(2)
        return 0
    halvings = max(0, above.bit_length() - below.bit_length() + 2 + math.isqrt(bits))
    places = bits + halvings + (bits + halvings).bit_length() + 6
    u = ((above << places) // below) >> halvings
    size, count, total = 1 << places, 0, 0
    while size:
        total += -size if count % 2 else size
        count += 1
        size = ((size * u) >> places) // count
    for _ in range(halvings):
        total = (total * total) >> places
    return total >> (places - bits)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
