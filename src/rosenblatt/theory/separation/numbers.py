"""Exact products of floats with integers of any size, and floats as integers in proportion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.inputs import Floats, Numbers

_BLOCK = 1 << 20  # so many integers of Python's at once
_MANY = 1000  # more rows than this are first looked through for equal ones


def places(X: Floats) -> NDArray[np.int64]:
    """Return for each column the largest exponent e such that its entries are integers times 2**e.

    >>> places(np.array([[0.5, 6.0], [3.0, -2.0]])).tolist()
    [-1, 1]
    """
    found = np.full(X.shape[1], 1 << 20)
    for start in range(0, len(X), 4096):
        odd, exponents = _odd_parts(X[start : start + 4096])
        found = np.minimum(found, np.min(np.where(odd == 0, 1 << 20, exponents), axis=0, initial=1 << 20))
    return np.where(found == 1 << 20, 0, found)


def to_integers(X: Floats, exponents: NDArray[np.int64]) -> Numbers:
    """Return the integers X / 2**exponents, exactly; ``exponents`` (one a column) must not be above `places`."""
    odd, own = _odd_parts(X)
    shifts = np.where(odd == 0, 0, own - exponents)
    if np.max(shifts, initial=0) <= 9:
        return (odd << shifts).astype(object)
    return odd.astype(object) << shifts.astype(object)


def _odd_parts(X: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return odd integers (or 0) and exponents, so that X is the integers times 2**exponents."""
    parts, exponents = np.frexp(X)
    whole = (parts * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1].astype(np.int64) - 1
    zeros = np.where(whole == 0, 0, zeros)
    return whole >> zeros, exponents.astype(np.int64) - 53 + zeros


def primitive(values: Any) -> Numbers:
    """Return integers divided by their greatest common factor.

    >>> primitive([4, -6, 0]).tolist()
    [2, -3, 0]
    """
    whole = [int(value) for value in values]
    common = math.gcd(*whole) or 1
    return np.array([value // common for value in whole], dtype=object)


def from_floats(values: Floats) -> Numbers:
    """Return integers in proportion to floats, exactly, without a common factor.

    >>> from_floats(np.array([0.5, -0.75])).tolist()
    [2, -3]
    """
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    scale = max((below for _, below in ratios), default=1)
    return primitive([above * (scale // below) for above, below in ratios])


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
    least = places(X)
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
