"""Exact linear algebra over the integers by arithmetic modulo a prime: ranks, and Dixon's solutions of systems.

A rank modulo a prime is never above the true one, so that what is independent modulo a prime is independent. (Floats
are integers over powers of two, which have inverses modulo an odd prime.)
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
"""Tried in turn: a prime is unlucky for data in which it divides a determinant that matters."""
Residues = NDArray[np.int64]
_WIDEST = 2048  # sums of so many products of residues are below 2**63
_LIMB = 25  # bits; products of such integers with residues too


class UnluckyPrimeError(ArithmeticError):
    """What is independent over the integers is not so modulo the prime: another one has to be tried."""


def residues(A: NDArray[Any], prime: int) -> Residues:
    """Return the entries, floats or integers, modulo the prime."""
    if A.dtype == object:
        return (A % prime).astype(np.int64)
    parts, exponents = np.frexp(A)
    powers = exponents.astype(np.int64) - 53
    least = int(np.min(powers, initial=0))
    table, power = np.empty(int(np.max(powers, initial=0)) - least + 1, np.int64), pow(2, least, prime)
    for k in range(len(table)):
        table[k] = power
        power = power * 2 % prime
    return (parts * 2.0**53).astype(np.int64) % prime * table[powers - least] % prime


def leftmost(M: Residues, prime: int) -> list[int]:
    """Return the columns that are independent modulo the prime of all columns to their left.

    >>> leftmost(np.array([[0, 2, 4, 1], [0, 1, 2, 5]]), PRIMES[0])
    [1, 3]
    """
    M = M.copy()
    found: list[int] = []
    for j in range(M.shape[1]):
        r = len(found)
        if r == M.shape[0]:
            break
        below = np.flatnonzero(M[r:, j])
        if len(below) == 0:
            continue
        first = r + int(below[0])
        M[[r, first]] = M[[first, r]]
        line = M[r, j:] * pow(int(M[r, j]), -1, prime) % prime
        rest = r + 1 + np.flatnonzero(M[r + 1 :, j])
        M[rest, j:] = (M[rest, j:] - M[rest, j][:, None] * line) % prime
        found.append(j)
    return found


def rank_reaches(A: NDArray[Any], rank: int) -> bool:
    """Return whether the rank of ``A``, floats or integers, is proved to be at least ``rank``."""
    return rank == 0 or any(len(leftmost(residues(A, prime).T, prime)) >= rank for prime in PRIMES)


def spanning_rows(X: Floats, start: NDArray[np.intp], prime: int) -> tuple[NDArray[np.intp], list[int]]:
    """Return rows that are independent and, but for bad luck, span all others, and the leftmost columns that are.

    The search begins with the rows ``start``. The rows and the columns are proved to be independent.
    """
    rng = np.random.default_rng(0)
    chosen = start
    whole: Residues | None = None
    while True:
        M = residues(X[chosen], prime)
        chosen = chosen[leftmost(M.T, prime)]
        columns = leftmost(residues(X[chosen], prime), prime)
        if len(columns) == X.shape[1]:
            return chosen, columns
        whole = residues(X, prime) if whole is None else whole
        null = _null_space(residues(X[chosen], prime), columns, prime)
        probe = null @ rng.integers(1, 1 << 10, null.shape[1]) % prime  # a row in the span is 0 on it
        outside = np.flatnonzero(whole @ probe % prime)
        if len(outside) == 0:
            return chosen, columns
        chosen = np.concatenate([chosen, rng.permutation(outside)[: 2 * X.shape[1]]])


def _null_space(M: Residues, columns: list[int], prime: int) -> Residues:
    """Return columns that span the null space modulo the prime of independent rows."""
    free = np.setdiff1d(np.arange(M.shape[1]), columns)
    null = np.zeros((M.shape[1], len(free)), np.int64)
    null[free, np.arange(len(free))] = 1
    if columns:
        null[columns] = -(inverse(M[:, columns], prime) @ M[:, free]) % prime
    return null


def inverse(M: Residues, prime: int) -> Residues:
    """Return the inverse modulo the prime; the matrix must have one."""
    size = len(M)
    if size > _WIDEST:
        raise ValueError(f"a system of {size:,} equations is too large for exact arithmetic: at most {_WIDEST:,}.")
    M = np.hstack([M, np.eye(size, dtype=np.int64)])
    for j in range(size):
        first = j + int(np.flatnonzero(M[j:, j])[0])
        M[[j, first]] = M[[first, j]]
        M[j] = M[j] * pow(int(M[j, j]), -1, prime) % prime
        rest = np.flatnonzero(M[:, j])
        rest = rest[rest != j]
        M[rest] = (M[rest] - M[rest, j][:, None] * M[j]) % prime
    return M[:, size:]


def solve(M: Numbers, right: Numbers, prime: int) -> tuple[Numbers, int]:
    """Return integers N and d > 0 with M N = d right, for a matrix of integers invertible modulo the prime.

    The solution is lifted from modulo p to modulo p, p^2, p^3 ... (J. D. Dixon 1982), and multiplied out at the end.

    >>> solve(np.array([[2, 1], [0, 3]], dtype=object), np.array([[1], [1]], dtype=object), PRIMES[0])
    (array([[1],
           [1]], dtype=object), 3)
    """
    if len(M) == 0 or right.shape[1] == 0:
        return np.zeros((len(M), right.shape[1]), dtype=object), 1
    back = inverse(residues(M, prime), prime)
    limbs = _limbs(M)
    left = right.astype(object)
    digits: list[Numbers] = []
    wanted = 4
    while True:
        digit = back @ (left % prime).astype(np.int64) % prime
        digits.append(digit.astype(object))
        for k, limb in enumerate(limbs):
            left = left - ((limb @ digit).astype(object) << k * _LIMB)
        left = left // prime
        if len(digits) == wanted:  # by Hadamard's bound it ends
            wanted += max(4, wanted // 2)
            found = _fractions(_joined(digits, prime), prime ** len(digits))
            if found is not None and (M @ found[0] == right * found[1]).all():
                return found


def _joined(digits: list[Numbers], prime: int) -> Numbers:
    """Return the sum of the digits times powers of the prime."""
    while len(digits) > 1:
        digits = [
            digits[k] + digits[k + 1] * prime if k + 1 < len(digits) else digits[k] for k in range(0, len(digits), 2)
        ]
        prime *= prime
    return digits[0]


def _limbs(M: Numbers) -> list[Residues]:
    """Return matrices of short integers that add up to M when the k-th is shifted by k limbs."""
    signs, sizes = np.where(M < 0, -1, 1), np.abs(M)
    longest = max(int(value).bit_length() for value in sizes.ravel())
    mask = (1 << _LIMB) - 1
    return [(sizes >> start & mask).astype(np.int64) * signs for start in range(0, longest, _LIMB)]


def _fractions(total: Numbers, modulus: int) -> tuple[Numbers, int] | None:
    """Return numerators and their common denominator that equal ``total`` modulo ``modulus``, if short ones do."""
    most = math.isqrt(modulus >> 1)
    below = 1
    for value in total.ravel():
        rest = value * below % modulus
        if min(rest, modulus - rest) <= most:
            continue
        a, b, x, y = modulus, rest, 0, 1
        while b > most:
            quotient = a // b
            a, b, x, y = b, a - quotient * b, y, x - quotient * y
        below *= abs(y)
        if below > most:
            return None
    above = total * below % modulus
    return np.where(above > modulus >> 1, above - modulus, above), below


# Exact products of floats with integers of any size, and such integers as floats.


_BLOCK = 1 << 20  # so many integers of Python's at once
_MANY = 1000  # more rows than this are first looked through for equal ones


def near_columns(A: Numbers) -> tuple[Floats, NDArray[np.int64]]:
    """Return integers as floats, each column divided by a power of two so that no entry is above 1, and the powers.

    Entries are off by one rounding; those below 2**-1000 of the largest in their column become 0.
    """
    try:
        near = A.astype(np.float64)
        drops = np.zeros(A.shape[1], np.int64)
    except OverflowError:
        sizes = [max(int(value).bit_length() for value in column) for column in A.T]
        drops = np.array([max(0, size - 1000) for size in sizes])
        near = (A >> drops.astype(object)).astype(np.float64)
    exponents = np.frexp(np.max(np.abs(near), axis=0, initial=0.0))[1].astype(np.int64)
    return np.ldexp(near, -exponents), exponents + drops


def exact_scores(X: Floats, D: Numbers) -> NDArray[Any]:
    """Return X times the integers D, exactly, times some positive number: floats where they are exact, else integers.

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
        near = D.astype(np.float64)
        bound = float(largest @ np.max(np.abs(near), axis=1))
        if bound < math.ldexp(1.0, min(1000, int(least.min()) + 52)) and least.min() > -1000:
            return X @ near  # every sum is a multiple of 2**least below 2**53 of them
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
    """Return X times D divided by some power of two, in floats, and a bound on the error of each product."""
    bits = max((int(value).bit_length() for value in D.ravel()), default=0)
    near = np.array([[value / (1 << bits) if value else 0.0 for value in row] for row in D]).reshape(D.shape)
    g = (X.shape[1] + 6) * HALF_ULP * 1.01
    with np.errstate(all="ignore"):
        scores = X @ near
        reach = np.empty_like(scores)
        for start in range(0, len(X), 4096):
            reach[start : start + 4096] = np.abs(X[start : start + 4096]) @ (np.abs(near) + TINY)
        return scores, 1.01 * (g * reach + (X.shape[1] + 4) * TINY)
