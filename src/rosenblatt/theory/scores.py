"""Exact scores y (w . x + b): find the lowest score, and the rows within a given distance of a hyperplane.

Floating point with error bounds decides almost every row, and exact arithmetic decides the others. The error bound is
from Higham (2002, section 3.1). Let u = 2^-53 and g = d u / (1 - d u). A dot product of d terms has an error of at most
g (|x| . |w|), plus 2^-1074 for each product that underflows. This holds for any order of summation, with or without
fused multiply-add.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.exact import in_common_units, largest_bytes, product_with_integers, representatives, round_root
from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, largest_entry

T = TypeVar("T", float, Floats)
BLOCK_BYTES = 1 << 26
MANY = 200  # if more dense rows than this are undecided, twice the precision is tried before exact arithmetic


def least_score(X: Matrix, signs: Signs, w: Numbers, b: float) -> Fraction:
    """Return the exact minimum of ``y (w . x + b)`` over all rows; ``w`` and ``b`` are floats or integers."""
    scores = _Scores(X, signs, w, b)
    in_doubt = scores.least_candidates()  # invariant: it always contains a row with the lowest score
    if len(in_doubt) > MANY and not sp.issparse(X):
        in_doubt = np.unique(representatives(X, signs, in_doubt, scores.used))
    if len(in_doubt) > MANY and scores.nothing_vanished and not sp.issparse(X):
        low, high = _compensated_scores(X, signs, in_doubt, scores.w, scores.b)
        in_doubt = in_doubt[~(low > np.min(high))]
    return min(min(part) * unit for part, unit in scores.exactly(in_doubt))


def rows_within(X: Matrix, signs: Signs, w: Numbers, b: float, square: Fraction) -> NDArray[np.intp]:
    """Return the indices of the rows whose exact ``y (w . x + b)`` is at most the square root of ``square``."""
    scores = _Scores(X, signs, w, b)
    shifted = square / Fraction(4) ** scores.exponent
    low, high = scores.bounds(np.arange(X.shape[0]))
    # Roots are rounded to the safe side. (The error bounds would cover this rounding, too: they allow for six more
    # roundings and need only two.)
    inside, outside = high <= round_root(shifted, up=False), low > round_root(shifted, up=True)
    in_doubt = np.flatnonzero(~(inside | outside))
    same = in_doubt if sp.issparse(X) or len(in_doubt) <= MANY else representatives(X, signs, in_doubt, scores.used)
    distinct, index = np.unique(same, return_inverse=True)
    found = []
    for part, unit in scores.exactly(distinct):
        most = math.floor(square / (unit * unit))
        found += [score <= 0 or score * score <= most for score in part]
    inside[in_doubt] = np.array(found, dtype=bool)[index]
    return np.flatnonzero(inside)


class _Scores:
    """The scores ``y (w . x + b)`` of all rows in floating point with error bounds, and of given rows exactly.

    ``w`` and ``b`` may be integers of any size. So they are divided by ``2**exponent`` before they are converted to
    floats. The largest of these floats is about 1 in absolute value.
    """

    def __init__(self, X: Matrix, signs: Signs, w: Numbers, b: float) -> None:
        self.X, self.signs = X, signs
        self.given_w, self.given_b = w, b
        self.used = np.flatnonzero(w != 0)
        self.exponent = max([_exponent(value) for value in _largest(w, b)], default=0)
        with np.errstate(all="ignore"):
            self.b = _scaled(b, self.exponent)
            if w.dtype == object:
                self.w = np.array([_scaled(value, self.exponent) for value in w.tolist()], dtype=np.float64)
            else:
                self.w = np.ldexp(w, -self.exponent)
        kept = np.count_nonzero(self.w) == len(self.used) and (self.b != 0) == (b != 0)
        self.nothing_vanished = kept and w.dtype != object
        self.terms = int(np.max(np.diff(X.indptr), initial=0)) if sp.issparse(X) else X.shape[1]
        self.abs_w = np.abs(self.w) + TINY  # TINY: for weights that underflowed when w was scaled
        with np.errstate(all="ignore"):
            self.near = signs * (X @ self.w + self.b)

    def _error(self, products: T) -> T:
        """Return an upper bound on the error of a score, given an upper bound ``products`` on ``|x| . |w|``."""
        g = (self.terms + 6) * HALF_ULP * 1.01
        return 1.01 * (g * (products + abs(self.b)) + (self.terms + 4) * TINY)

    def bounds(self, rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return lower and upper bounds on the scores of the given rows, in floating point.

        The bounds include the error from rounding each entry of ``w`` and ``b`` once.
        """
        low, high = np.empty(len(rows)), np.empty(len(rows))
        step = max(1, BLOCK_BYTES // (8 * max(1, self.X.shape[1])))
        with np.errstate(all="ignore"):
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                error = self._error(abs(self.X[part]) @ self.abs_w)
                low[start : start + step], high[start : start + step] = self.near[part] - error, self.near[part] + error
        return low, high

    def least_candidates(self) -> NDArray[np.intp]:
        """Return the indices of the rows that may have the lowest score.

        Rows are excluded by an error bound that is the same for all rows, and then by an error bound for each row.
        """
        with np.errstate(all="ignore"):
            error = self._error(1.01 * largest_entry(self.X) * np.sum(self.abs_w))
            # 2.02: the errors of two scores, of this row and of the row with the lowest score
            rows = np.flatnonzero(~(self.near > np.min(self.near) + 2.02 * error))
        low, high = self.bounds(rows)
        least = np.min(high) if not np.isnan(high).any() else np.inf
        return rows[~(low > least)]

    def exactly(self, rows: NDArray[np.intp]) -> Iterator[tuple[list[int], Fraction]]:
        """Yield the exact scores of the given rows, in blocks of rows that fit in memory.

        The scores of a block are integers times a common unit. Each item is the pair of these integers and the unit.
        """
        columns = self.used
        if sp.issparse(self.X):
            columns = np.unique(self.X[rows].indices)
            columns = columns[self.given_w[columns] != 0]
        integers, unit = in_common_units([*self.given_w[columns].tolist(), self.given_b])
        *w, integer_b = integers
        step = max(1, BLOCK_BYTES // (256 + largest_bytes(integers)))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            X = self.X[part][:, columns] if len(columns) < self.X.shape[1] else self.X[part]
            products, exponent = product_with_integers(X, w)
            b, signs = integer_b << -exponent, self.signs[part]
            found = [total + b if sign > 0 else -total - b for total, sign in zip(products, signs, strict=True)]
            yield found, unit / (1 << -exponent)


def _compensated_scores(X: Matrix, signs: Signs, rows: NDArray[np.intp], w: Floats, b: float) -> tuple[Floats, Floats]:
    """Return lower and upper bounds on ``y (w . x + b)`` for the given rows, with an accuracy of about 100 bits.

    This is the compensated dot product Dot2 (Ogita, Rump and Oishi 2005). TwoProduct (Dekker, Veltkamp) computes the
    rounding error of each product, TwoSum (Knuth) the rounding error of each sum, and ``rest`` adds up these errors.
    The result s has an error of at most u |s| + g^2 (|x| . |w| + |b|), with u and g as in the module docstring. If
    entries are too large or too small for this error bound, the lower bound is NaN and the upper bound is infinity.
    """
    columns = np.flatnonzero(w)
    g = (len(columns) + 4) * HALF_ULP * 1.01
    split = 2.0**27 + 1  # Veltkamp's constant: halves of 26 bits, whose products are exact
    step = 1 + BLOCK_BYTES // (80 * max(1, len(columns)))
    lows, highs = [], []
    with np.errstate(all="ignore"):
        for start in range(0, len(rows), step):
            which = rows[start : start + step]
            part = X[which][:, columns]
            safe = _moderate(part).all(axis=1) & bool(_moderate(np.append(w, b)).all())
            # invariant: total + (all rounding errors so far, of which ``rest`` is the rounded sum) is the exact sum so
            # far
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
    """Return a mask of the values for which TwoProduct neither overflows nor underflows."""
    size = np.abs(values)
    return (size == 0) | ((size > 2.0**-300) & (size < 2.0**300))


def _largest(w: Numbers, b: float) -> list[float]:
    """Return some nonzero entries of ``w`` and ``b``, including the largest in absolute value.

    The list is empty if all entries are 0.
    """
    values = w.tolist() if w.dtype == object else [float(np.max(w, initial=0.0)), float(np.min(w, initial=0.0))]
    return [value for value in (*values, b) if value]


def _exponent(value: float) -> int:
    return value.bit_length() if isinstance(value, int) else math.frexp(value)[1]


def _scaled(value: float, exponent: int) -> float:
    """Return ``value / 2**exponent`` as a float, with at most one rounding unless it underflows."""
    if isinstance(value, int):
        return value / (1 << exponent) if value else 0.0
    return math.ldexp(value, -exponent)
