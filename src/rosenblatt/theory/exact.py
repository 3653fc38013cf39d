"""Sums and products of rows in integers: what a certificate claims, recomputed whatever search has found it.

Nothing is rounded, so that the answers are facts about the numbers as stored and are the same on every machine. Rows
stand for z = y (x, 1), or z = y x where there is no bias.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, entries

BLOCK_BYTES = 1 << 26
_FIRST_BITS = 1 << 11  # floats, and what is tiny beside them, go down to 2**-1074


def squared_length(w: Numbers, b: float = 0.0) -> Fraction:
    """Return the sum of the squares of all of w, and of b, exactly."""
    if w.dtype == object:
        whole, unit = in_common_units(w.tolist())
        square = sum(value * value for value in whole) * unit * unit
    else:
        integers, place = as_integers(w[w != 0])
        square = Fraction(int(integers @ integers), 1 << -2 * place)
    return square + Fraction(b) ** 2


def squared_sum(X: Matrix, signs: Signs, alpha: Floats, bias: bool) -> Fraction:
    """Return the squared length of the mean of the rows z with the weights ``alpha``, exactly.

    No separator has a margin above that length: every row of z lies at least as far along it as the margin, so
    the mean does.
    """
    rows = np.flatnonzero(alpha)
    weights, _ = as_integers(alpha[rows])
    signed = np.where(signs[rows] > 0, weights, -weights)
    sums, place = product_with_integers(X[rows].T, signed)
    square = sum(value * value for value in sums) + (int(bias) * signed.sum() << -place) ** 2
    return Fraction(square, weights.sum() ** 2 << -2 * place)


def hull_distance(X: Matrix, signs: Signs, alpha: Floats) -> Fraction | None:
    """Return the squared half of the distance between the means of the two classes weighted by ``alpha``, exactly.

    No separator, with any bias, has a margin above that half. None where a class has no weight.
    """
    rows = np.flatnonzero(alpha)
    (weights, _), positive = as_integers(alpha[rows]), signs[rows] > 0
    plus, minus = weights[positive].sum(), weights[~positive].sum()
    if plus == 0 or minus == 0:
        return None
    gap, place = product_with_integers(X[rows].T, np.where(positive, weights * minus, -weights * plus))
    return Fraction(sum(value * value for value in gap), (2 * plus * minus) ** 2 << -2 * place)


def sums_to_zero(X: Matrix, signs: Signs, rows: NDArray[np.intp], weights: Sequence[int], bias: bool) -> bool:
    """Return whether the rows z with these integer weights, all positive, add up to exactly zero."""
    if len(weights) != len(rows) or len(rows) == 0 or min(weights) <= 0:
        return False
    signed = [int(sign) * weight for sign, weight in zip(signs[rows].tolist(), weights, strict=True)]
    if bias and sum(signed) != 0:
        return False
    return not any(product_with_integers(X[rows].T, signed)[0])


def are_shares(alpha: Floats, weights: Sequence[int], of: Fraction, tiny: Fraction) -> bool:
    """Return whether ``alpha`` are the shares of the weights in a total ``of``, to a billionth or a ``tiny`` part.

    Of long weights the first digits are looked at: what the others say is far below ``tiny``.
    """
    total = sum(weights)
    if len(weights) != len(alpha) or total <= 0:
        return False
    dropped = max(0, total.bit_length() - _FIRST_BITS)
    total >>= dropped
    return all(
        abs(Fraction(share) * total - (weight >> dropped) * of) <= (weight >> dropped) * of / 10**9 + total * tiny
        for share, weight in zip(alpha.tolist(), weights, strict=True)
    )


def product_with_integers(M: Matrix, whole: Sequence[int] | Numbers) -> tuple[Numbers, int]:
    """Return M times integers, exactly, in units of 2**place, and that place, which is not above 0."""
    M, numbers = sp.csr_array(M) if sp.issparse(M) else M, np.array(whole, dtype=object)
    place = _place(entries(M))
    sums = np.zeros(M.shape[0], dtype=object)
    step = max(1, BLOCK_BYTES // ((256 + largest_bytes(whole)) * max(1, M.shape[1])))
    for start in range(0, M.shape[0] if M.shape[1] else 0, step):
        part = M[start : start + step]
        if sp.issparse(part):
            filled = np.flatnonzero(np.diff(part.indptr))
            if len(filled):
                products = _units(part.data, place) * numbers[part.indices]
                sums[start + filled] = np.add.reduceat(products, part.indptr[filled])
        else:
            sums[start : start + step] = _units(part, place) @ numbers
    return sums, place


def combined(parts: Sequence[tuple[int, Numbers, int]]) -> tuple[Numbers, int]:
    """Return the sum of integer factors times columns, exactly, and its place; each column is in units of 2**place."""
    lowest = min(place for _, _, place in parts)
    total = np.zeros(len(parts[0][1]), dtype=object)
    for factor, column, place in parts:
        total = total + column * (factor << (place - lowest))
    return total, lowest


def as_integers(values: Floats) -> tuple[Numbers, int]:
    """Return the numbers as integers in units of 2**place, and that place."""
    place = _place(values)
    return _units(values, place), place


def _place(values: Floats) -> int:
    """Return a place, not above 0, such that all the numbers are integers in units of 2**place."""
    exponents = np.frexp(values)[1][values != 0]
    return min(0, int(exponents.min()) - 53) if exponents.size else 0


def _units(values: Floats, place: int) -> Numbers:
    """Return the numbers as integers in units of 2**place."""
    parts, exponents = np.frexp(values)
    whole = (parts * 2.0**53).astype(np.int64)
    shifts = np.where(whole == 0, 0, exponents - (53 + place))
    if np.max(shifts, initial=0) <= 10:
        return (whole << shifts).astype(object)
    return whole.astype(object) << shifts.astype(object)


def largest_bytes(whole: Iterable[int]) -> int:
    """Return about how many bytes the longest of some integers takes."""
    return max((value.bit_length() for value in whole), default=0) // 8


def in_common_units(values: Sequence[float]) -> tuple[list[int], Fraction]:
    """Return integers and the unit that they count, so that each value is exactly its number of units."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max((below for _, below in ratios), default=1)
    return [above * (scale // below) for above, below in ratios], Fraction(1, scale)
