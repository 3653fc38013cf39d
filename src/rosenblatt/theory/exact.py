"""What a certificate claims, recomputed from the data, whatever search has found it.

Floating point with error bounds settles almost every row, and exact rational arithmetic the others, so that the
answers are facts about the numbers as stored and are the same on every machine. Rows stand for z = y (x, 1), or
z = y x where there is no bias.

The error bound: a dot product of d terms in any order, with or without fused multiplication, is off by at most
g (|x| . |w|) with g = d u / (1 - d u), u = 2^-53, and by 2^-1074 for each product that underflows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, entries, largest_entry
from rosenblatt.theory.ties import distinct_rows

BLOCK_BYTES = 1 << 26
_FIRST_BITS = 1 << 11  # floats, and what is tiny beside them, go down to 2**-1074
MANY = 200  # more dense rows in doubt than this are first looked at with twice the digits


def least_score(X: Matrix, signs: Signs, w: Numbers, b: float) -> Fraction:
    """Return the least ``y (w . x + b)`` over all rows, exactly; ``w`` and ``b`` are floats or integers."""
    values = [*w.tolist(), b]
    exponent = max((_exponent(value) for value in values if value), default=0)
    with np.errstate(all="ignore"):
        near = np.array([_scaled(value, exponent) for value in values])
        in_doubt = _in_doubt(X, signs, near[:-1], near[-1])
    kept = np.count_nonzero(near) == sum(value != 0 for value in values)  # nothing vanished when scaled
    whole, unit = _whole(values)
    bias, used = whole.pop(), np.arange(len(w))
    if len(in_doubt) > MANY and not sp.issparse(X):
        used = np.array([j for j, value in enumerate(whole) if value], dtype=np.intp)
        in_doubt = distinct_rows(X, signs, in_doubt, used)
    if len(in_doubt) > MANY and w.dtype != object and kept and not sp.issparse(X):
        low, high = _sharp_scores(X, signs, in_doubt, near[:-1], near[-1])
        in_doubt = in_doubt[~(low > np.min(high))]
    step = max(1, BLOCK_BYTES // (256 + _largest_bytes([*whole, bias])))
    parts = (in_doubt[start : start + step] for start in range(0, len(in_doubt), step))
    return min(_least_exactly(X[part], signs[part], whole, bias, used) for part in parts) * unit


def _least_exactly(X: Matrix, signs: Signs, w: list[int], b: int, used: NDArray[np.intp]) -> Fraction:
    if len(used) < len(w):
        X, w = X[:, used], [w[j] for j in used]
    scores, place = product_with_integers(X, w)
    b <<= -place
    least = min(score + b if sign > 0 else -score - b for score, sign in zip(scores, signs, strict=True))
    return Fraction(least, 1 << -place)


def squared_length(values: Sequence[float]) -> Fraction:
    """Return the sum of the squares, exactly."""
    whole, unit = _whole(values)
    return sum(value * value for value in whole) * unit * unit


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


def _in_doubt(X: Matrix, signs: Signs, w: Floats, b: float) -> NDArray[np.intp]:
    """Return the rows whose ``y (w . x + b)`` may be the least; ``w`` and ``b`` may be off by one rounding."""
    terms = int(np.max(np.diff(X.indptr), initial=0)) if sp.issparse(X) else X.shape[1]
    g = (terms + 6) * HALF_ULP * 1.01
    reach = np.abs(w) + TINY  # what vanished when w was scaled
    s = signs * (X @ w + b)
    error = 1.01 * (g * (1.01 * largest_entry(X) * np.sum(reach) + abs(b)) + (terms + 4) * TINY)  # of any row
    rows = np.flatnonzero(~(s > np.min(s) + 2.02 * error))
    low, high = np.empty(len(rows)), np.empty(len(rows))
    step = max(1, BLOCK_BYTES // (8 * max(1, X.shape[1])))
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        error = 1.01 * (g * (abs(X[rows[block]]) @ reach + abs(b)) + (terms + 4) * TINY)
        low[block], high[block] = s[rows[block]] - error, s[rows[block]] + error
    least = np.min(high) if not np.isnan(high).any() else np.inf
    return rows[~(low > least)]


def _sharp_scores(X: Matrix, signs: Signs, rows: NDArray[np.intp], w: Floats, b: float) -> tuple[Floats, Floats]:
    """Return bounds of ``y (w . x + b)`` for some rows, to about 100 bits; NaN and inf where a number is extreme.

    Products are split into a float and what it rounded off (Dekker), and so are sums (Knuth): the sum is then off by
    at most u |s| + g^2 (|x| . |w| + |b|) (Ogita, Rump and Oishi 2005).
    """
    columns = np.flatnonzero(w)
    g = (len(columns) + 4) * HALF_ULP * 1.01
    split = 2.0**27 + 1
    step = 1 + BLOCK_BYTES // (80 * max(1, len(columns)))
    lows, highs = [], []
    with np.errstate(all="ignore"):
        for start in range(0, len(rows), step):
            which = rows[start : start + step]
            part = X[which][:, columns]
            safe = _moderate(part).all(axis=1) & bool(_moderate(np.append(w, b)).all())
            total, rest, reach = np.full(len(which), b), np.zeros(len(which)), np.full(len(which), abs(b))
            for x, v in zip(part.T, w[columns].tolist(), strict=True):
                product = x * v
                x_high, v_high = split * x - (split * x - x), split * v - (split * v - v)
                x_low, v_low = x - x_high, v - v_high
                rest += x_high * v_high - product + x_high * v_low + x_low * v_high + x_low * v_low
                new = total + product
                rest += (total - (new - (new - total))) + (product - (new - total))
                total = new
                reach += np.abs(product)
            s = signs[which] * (total + rest)
            error = np.where(safe, 1.01 * (2 * HALF_ULP * np.abs(s) + g * g * reach) + TINY, np.nan)
            lows.append(s - error)
            highs.append(np.where(safe, s + error, np.inf))
    return np.concatenate(lows), np.concatenate(highs)


def _moderate(values: Floats) -> NDArray[np.bool_]:
    """Return which numbers are zero or have products and halves that neither overflow nor underflow."""
    size = np.abs(values)
    return (size == 0) | ((size > 2.0**-300) & (size < 2.0**300))


def product_with_integers(M: Matrix, whole: Sequence[int] | Numbers) -> tuple[Numbers, int]:
    """Return M times integers, exactly, in units of 2**place, and that place, which is not above 0."""
    M, numbers = sp.csr_array(M) if sp.issparse(M) else M, np.array(whole, dtype=object)
    place = _place(entries(M))
    sums = np.zeros(M.shape[0], dtype=object)
    step = max(1, BLOCK_BYTES // ((256 + _largest_bytes(whole)) * max(1, M.shape[1])))
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


def _largest_bytes(whole: Iterable[int]) -> int:
    return max((value.bit_length() for value in whole), default=0) // 8


def _exponent(value: float) -> int:
    return value.bit_length() if isinstance(value, int) else math.frexp(value)[1]


def _scaled(value: float, exponent: int) -> float:
    """Return ``value / 2**exponent`` as a float, one rounding at most where it is not tiny."""
    if isinstance(value, int):
        return value / (1 << exponent) if value else 0.0
    return math.ldexp(value, -exponent)


def _whole(values: Sequence[float]) -> tuple[list[int], Fraction]:
    """Return integers and the unit that they count, so that each value is exactly its number of units."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max((below for _, below in ratios), default=1)
    return [above * (scale // below) for above, below in ratios], Fraction(1, scale)
