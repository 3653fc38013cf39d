"""Exact linear algebra over the integers by arithmetic modulo a prime: ranks, and linear systems by Dixon's lifting.

The rank modulo a prime is never above the rank over the rationals, because a minor that is not 0 modulo the prime is
not 0. So vectors that are independent modulo a prime are independent. The converse fails if the prime divides a minor
on which the rank depends. Such a prime is called unlucky, and another one is tried. Floats are integers divided by
powers of two, and a power of two has an inverse modulo an odd prime.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.exact import lowest_exponents, to_integers
from rosenblatt.theory.inputs import Floats, Numbers

PRIMES = (67108859, 67108837, 67108819, 67108777, 67108763, 67108757, 67108753, 67108747)
"""Primes below 2**26, tried in turn until one is not unlucky for the data, as explained in the module's docstring."""
Residues = NDArray[np.int64]
_MAX_EQUATIONS = 2048  # a sum of 2**11 products of two residues below 2**26 is below 2**63, so int64 holds it
_LIMB = 25  # bits of a limb, chosen so that sums of products of limbs and residues fit int64, too


class UnluckyPrimeError(ArithmeticError):
    """Raised if vectors that are independent over the integers are dependent modulo the prime, so another is needed."""


def residues(A: NDArray[Any], prime: int) -> Residues:
    """Return the entries of ``A``, floats or integers, modulo the prime."""
    if A.dtype == object:
        return (A % prime).astype(np.int64)
    parts, exponents = np.frexp(A)
    powers = exponents.astype(np.int64) - 53  # A = (parts 2**53) 2**powers, where parts 2**53 is an integer
    least = int(np.min(powers, initial=0))
    table, power = np.empty(int(np.max(powers, initial=0)) - least + 1, np.int64), pow(2, least, prime)
    for k in range(len(table)):  # invariant: ``power`` is 2**(least + k) modulo the prime
        table[k] = power
        power = power * 2 % prime
    return (parts * 2.0**53).astype(np.int64) % prime * table[powers - least] % prime


def pivot_columns(M: Residues, prime: int) -> list[int]:
    """Return the columns that are independent of all columns to their left, modulo the prime.

    >>> pivot_columns(np.array([[0, 2, 4, 1], [0, 1, 2, 5]]), PRIMES[0])
    [1, 3]
    """
    M = M.copy()
    found: list[int] = []
    # Gaussian elimination to row echelon form. The first len(found) rows hold the pivots; below them every column up to
    # j is 0.
    for j in range(M.shape[1]):
        r = len(found)
        if r == M.shape[0]:
            break
        candidates = np.flatnonzero(M[r:, j])
        if len(candidates) == 0:
            continue
        first = r + int(candidates[0])
        M[[r, first]] = M[[first, r]]
        line = M[r, j:] * pow(int(M[r, j]), -1, prime) % prime
        rest = r + 1 + np.flatnonzero(M[r + 1 :, j])
        M[rest, j:] = (M[rest, j:] - M[rest, j][:, None] * line) % prime
        found.append(j)
    return found


def rank_is_at_least(A: NDArray[Any], rank: int) -> bool:
    """Return whether one of the primes proves that the rank of ``A``, floats or integers, is at least ``rank``."""
    return rank == 0 or any(len(pivot_columns(residues(A, prime).T, prime)) >= rank for prime in PRIMES)


def row_basis(X: Floats, start: NDArray[np.intp], prime: int) -> tuple[NDArray[np.intp], list[int]]:
    """Return the indices of rows that form a basis of the row space of X, and the pivot columns.

    The search begins with the rows ``start``. The returned rows are proved to be independent, and so are the pivot
    columns. The returned rows span all other rows only with high probability, so the caller must check this.
    """
    rng = np.random.default_rng(0)
    chosen = start
    all_residues: Residues | None = None
    # After the first two lines of an iteration the chosen rows are independent modulo the prime. Their number grows
    # with each iteration, as a row that is not 0 on the probe lies outside their span.
    while True:
        M = residues(X[chosen], prime)
        chosen = chosen[pivot_columns(M.T, prime)]
        columns = pivot_columns(residues(X[chosen], prime), prime)
        if len(columns) == X.shape[1]:
            return chosen, columns
        all_residues = residues(X, prime) if all_residues is None else all_residues
        null = _null_space(residues(X[chosen], prime), columns, prime)
        # Freivalds's test: a row in the span is 0 on every vector of the null space, and so on a random combination of
        # them. A row outside the span is 0 on it with a probability of about one in a thousand.
        probe = null @ rng.integers(1, 1 << 10, null.shape[1]) % prime
        outside = np.flatnonzero(all_residues @ probe % prime)
        if len(outside) == 0:
            return chosen, columns
        chosen = np.concatenate([chosen, rng.permutation(outside)[: 2 * X.shape[1]]])


def _null_space(M: Residues, columns: list[int], prime: int) -> Residues:
    """Return a null space basis of ``M`` modulo the prime, as columns; ``columns`` are the pivots of its rows."""
    free = np.setdiff1d(np.arange(M.shape[1]), columns)
    null = np.zeros((M.shape[1], len(free)), np.int64)
    null[free, np.arange(len(free))] = 1
    if columns:
        null[columns] = -(inverse(M[:, columns], prime) @ M[:, free]) % prime
    return null


def inverse(M: Residues, prime: int) -> Residues:
    """Return the inverse of an invertible matrix modulo the prime, by Gauss-Jordan elimination."""
    size = len(M)
    if size > _MAX_EQUATIONS:
        raise ValueError(
            f"a system of {size:,} equations is too large for exact arithmetic: at most {_MAX_EQUATIONS:,}."
        )
    M = np.hstack([M, np.eye(size, dtype=np.int64)])
    for j in range(size):  # invariant: the first j columns are columns of the identity
        first = j + int(np.flatnonzero(M[j:, j])[0])
        M[[j, first]] = M[[first, j]]
        M[j] = M[j] * pow(int(M[j, j]), -1, prime) % prime
        rest = np.flatnonzero(M[:, j])
        rest = rest[rest != j]
        M[rest] = (M[rest] - M[rest, j][:, None] * M[j]) % prime
    return M[:, size:]


def solve(M: Numbers, right: Numbers, prime: int) -> tuple[Numbers, int]:
    """Return integers N and d > 0 with M N = d right, for an integer matrix M that is invertible modulo the prime.

    The method is Dixon's p-adic lifting (J. D. Dixon 1982, "Exact solution of linear equations using p-adic
    expansions"). With C the inverse of M modulo p, each step adds a digit of the solution in base p. Rational
    reconstruction turns the digits into fractions, and multiplication by M verifies them.

    >>> solve(np.array([[2, 1], [0, 3]], dtype=object), np.array([[1], [1]], dtype=object), PRIMES[0])
    (array([[1],
           [1]], dtype=object), 3)
    """
    if len(M) == 0 or right.shape[1] == 0:
        return np.zeros((len(M), right.shape[1]), dtype=object), 1
    M_inverse = inverse(residues(M, prime), prime)
    limbs = _limbs(M)
    residual = right.astype(object)
    digits: list[Numbers] = []
    next_attempt = 4
    # Invariant: right = M (digits[0] + digits[1] p + ... + digits[k-1] p^(k-1)) + p^k residual, with integers
    # throughout. The digit C residual mod p makes residual - M digit divisible by p.
    while True:
        digit = M_inverse @ (residual % prime).astype(np.int64) % prime
        digits.append(digit.astype(object))
        for k, limb in enumerate(limbs):  # subtract M digit = sum of 2**(k _LIMB) L_k digit, whose products fit int64
            residual = residual - ((limb @ digit).astype(object) << k * _LIMB)
        residual = residual // prime
        if len(digits) == next_attempt:
            # The loop ends: by Cramer's rule and Hadamard's bound, the numerators and the denominator have bounded
            # length, and reconstruction is correct as soon as p^k exceeds twice the product of the bounds.
            next_attempt += max(4, next_attempt // 2)
            found = _reconstruct(_from_digits(digits, prime), prime ** len(digits))
            if found is not None and (M @ found[0] == right * found[1]).all():
                return found


def _from_digits(digits: list[Numbers], prime: int) -> Numbers:
    """Return the sum of the digits times powers of the prime."""
    while len(digits) > 1:  # pairs of digits in base p are digits in base p**2, half as many; the sum stays the same
        digits = [
            digits[k] + digits[k + 1] * prime if k + 1 < len(digits) else digits[k] for k in range(0, len(digits), 2)
        ]
        prime *= prime
    return digits[0]


def _limbs(M: Numbers) -> list[Residues]:
    """Return matrices of short integers L_k with M = sum of L_k 2**(k * _LIMB)."""
    signs, sizes = np.where(M < 0, -1, 1), np.abs(M)
    longest = max(int(value).bit_length() for value in sizes.ravel())
    mask = (1 << _LIMB) - 1
    return [(sizes >> start & mask).astype(np.int64) * signs for start in range(0, longest, _LIMB)]


def _reconstruct(total: Numbers, modulus: int) -> tuple[Numbers, int] | None:
    """Return small numerators and a common denominator whose quotients are ``total`` modulo ``modulus``, or None.

    This is rational reconstruction (P. S. Wang 1981). At most one fraction n / d with |n| and d up to sqrt(modulus / 2)
    equals a given residue. The extended Euclidean algorithm, stopped halfway, finds this fraction.
    """
    most = math.isqrt(modulus >> 1)
    denominator = 1
    for value in total.ravel():  # invariant: ``denominator`` is a common one of the fractions so far
        rest = value * denominator % modulus
        if min(rest, modulus - rest) <= most:
            continue  # an integer over the denominator so far
        a, b, x, y = modulus, rest, 0, 1
        while b > most:  # invariant: b = y rest (mod modulus), and the same for a and x
            quotient = a // b
            a, b, x, y = b, a - quotient * b, y, x - quotient * y
        denominator *= abs(y)
        if denominator > most:
            return None
    numerators = total * denominator % modulus
    return np.where(numerators > modulus >> 1, numerators - modulus, numerators), denominator


# Products of floats with integers of any size, exactly or with an error bound.


_BLOCK = 1 << 20  # Python integers in memory at once
_MANY = 1000  # from this number of rows on, equal rows are multiplied once


def scaled_floats(A: Numbers) -> tuple[Floats, NDArray[np.int64]]:
    """Return integers as floats, each column divided by a power of two so that no entry is above 1, and the exponents.

    Each entry is rounded once. If an entry exceeds the largest float, only the 1000 highest bits of each column are
    kept; lower bits are first rounded down, towards minus infinity.
    """
    try:
        floats = A.astype(np.float64)
        drops = np.zeros(A.shape[1], np.int64)
    except OverflowError:
        sizes = [max(int(value).bit_length() for value in column) for column in A.T]
        drops = np.array([max(0, size - 1000) for size in sizes])
        floats = (A >> drops.astype(object)).astype(np.float64)
    exponents = np.frexp(np.max(np.abs(floats), axis=0, initial=0.0))[1].astype(np.int64)
    return np.ldexp(floats, -exponents), exponents + drops


def exact_scores(X: Floats, D: Numbers) -> NDArray[Any]:
    """Return an exact positive multiple of X D: in floats if these are exact, otherwise in integers.

    >>> exact_scores(np.array([[0.1, 0.3], [1.0, 0.0]]), np.array([[3], [-1]], dtype=object)).ravel() > 0
    array([ True,  True])
    """
    used = np.flatnonzero((D != 0).any(axis=1))
    if len(used) == 0 or len(X) == 0:
        return np.zeros((len(X), D.shape[1]))
    X, D = X[:, used], D[used]
    least = lowest_exponents(X)
    if max(int(abs(value)).bit_length() for value in D.ravel()) < 53:
        largest = np.max(np.abs(X), axis=0)
        floats = D.astype(np.float64)
        bound = float(largest @ np.max(np.abs(floats), axis=1))
        if bound < math.ldexp(1.0, min(1000, int(least.min()) + 52)) and least.min() > -1000:
            return X @ floats  # exact: every partial sum is a multiple of 2**least below 2**(least + 53)
    if len(X) > _MANY:
        X, inverse = np.unique(X, axis=0, return_inverse=True)
    else:
        inverse = np.arange(len(X))
    common = int(least.min())
    scaled = D << (least - common).astype(object)[:, None]
    scores = np.empty((len(X), D.shape[1]), dtype=object)
    step = max(1, _BLOCK // len(used))
    for start in range(0, len(X), step):
        scores[start : start + step] = to_integers(X[start : start + step], least) @ scaled
    return scores[inverse.ravel()]


def float_scores(X: Floats, D: Numbers) -> tuple[Floats, Floats]:
    """Return X D divided by some power of two, in floats, and a bound on the error of each entry.

    The bound is Higham's for dot products in any order of summation (Accuracy and Stability of Numerical Algorithms,
    section 3.1). It is gamma_n |x| . |d| with gamma_n = n u / (1 - n u) and u = 2^-53, plus the largest loss from
    underflow.
    """
    bits = max((int(value).bit_length() for value in D.ravel()), default=0)
    floats = np.array([[value / (1 << bits) if value else 0.0 for value in row] for row in D]).reshape(D.shape)
    gamma = (X.shape[1] + 6) * HALF_ULP * 1.01  # a few more terms, for the rounding of D and of the bound itself
    with np.errstate(all="ignore"):
        scores = X @ floats
        magnitudes = np.empty_like(scores)
        for start in range(0, len(X), 4096):
            magnitudes[start : start + 4096] = np.abs(X[start : start + 4096]) @ (np.abs(floats) + TINY)
        return scores, 1.01 * (gamma * magnitudes + (X.shape[1] + 4) * TINY)
