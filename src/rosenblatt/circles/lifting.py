"""Points lifted to (x, |x|^2, 1), and the balls that planes in that space stand for, in floats and exactly.

Circles stay circles when points are moved and scaled. So points are first centred at the origin and scaled to
length at most 1, where the lift loses no digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rosenblatt.features import SphereLift
from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.inputs import Floats, Numbers


class LiftedPoints:
    """Signed rows z = y (u, |u|^2, 1) of the points u = (x - middle) / size, and one more row for c > 0.

    ``v = (a, -c, b)`` is a plane with the positives on its positive side if z . v > 0 for all rows. The last row,
    (0, -1, 0), then says c > 0: it is the negative example that lies infinitely far up. Without ``upward`` there is no
    such row, and c may have any sign.

    ``middle`` is that of the bounding box, ``size`` the distance of the farthest point from it (1 if all are there).
    """

    def __init__(self, X: Floats, positive: NDArray[np.bool_], upward: bool = True) -> None:
        self.X, self.positive, self.upward = X, positive, upward
        self.width = X.shape[1] + 2  # the columns of a row
        low, high = X.min(axis=0), X.max(axis=0)
        self.middle = low + (high - low) / 2
        from_middle = X - self.middle
        largest = float(np.abs(from_middle).max()) or 1.0
        with np.errstate(over="ignore"):  # no quotient is above 1, but NumPy 1.26 warns of 1e-320 / 1e-320
            self.size = largest * (float(np.sqrt(((from_middle / largest) ** 2).sum(axis=1).max())) or 1.0)
            self.scaled = from_middle / self.size

    @cached_property
    def rows(self) -> Floats:
        """The signed rows, in floats."""
        n, d = self.X.shape
        Z = np.zeros((n + 1, d + 2))
        Z[:n, : d + 1] = SphereLift().fit_transform(self.scaled)
        Z[:n, d + 1] = 1.0
        Z[:n][~self.positive] *= -1.0
        Z[n, d] = -1.0
        return Z if self.upward else Z[:n]

    def near(self, v: Floats) -> tuple[Floats, Floats]:
        """Return z . v for every row, and how far each may be off: the rows are off by a few roundings themselves."""
        spread = np.abs(self.rows) @ (np.abs(v) + TINY)
        return self.rows @ v, 1.01 * (3 * len(v) + 16) * HALF_ULP * spread + TINY

    @property
    def bits(self) -> int:
        """The most bits of an integer in a row."""
        return max(value.bit_length() for value in self[len(self.X)]) + 1

    def __getitem__(self, i: int) -> list[int]:
        """Return row i as integers, times a positive factor that all rows have in common."""
        n, d = self.X.shape
        size = self._whole(self.size)
        if i == n:
            return [0] * d + [-size * size, 0]
        point = [self._whole(x) - self._whole(m) for x, m in zip(self.X[i].tolist(), self.middle.tolist(), strict=True)]
        sign = 1 if self.positive[i] else -1
        lifted = [*(size * value for value in point), sum(value * value for value in point), size * size]
        return [sign * value for value in lifted]

    def _whole(self, value: float) -> int:
        above, below = value.as_integer_ratio()
        return above * (self._denominator // below)

    @cached_property
    def _denominator(self) -> int:
        """A power of two that makes integers of all that rows are made of."""
        numbers = (*np.unique(np.abs(self.X)).tolist(), *self.middle.tolist(), self.size)
        return max(value.as_integer_ratio()[1] for value in numbers)

    def ball(self, v: Numbers | list[int]) -> tuple[list[Fraction], Fraction]:
        """Return the center and the squared radius of the ball below the plane v = (a, -c, b), exactly."""
        *a, minus_c, b = (Fraction(value) for value in np.asarray(v).tolist())
        center, square = ball_of_plane(a, -minus_c, b)
        size = Fraction(self.size)
        moved = [Fraction(m) + size * value for m, value in zip(self.middle.tolist(), center, strict=True)]
        return moved, size * size * square


def ball_of_plane(a: Iterable[Fraction], c: Fraction, b: Fraction) -> tuple[list[Fraction], Fraction]:
    """Return the center and the squared radius of the ball below ``a . x - c |x|^2 + b = 0``, exactly.

    >>> ball_of_plane([Fraction(2), Fraction(4)], Fraction(1), Fraction(4))
    ([Fraction(1, 1), Fraction(2, 1)], Fraction(9, 1))
    """
    center = [value / (2 * c) for value in a]
    return center, sum((value * value for value in center), b / c)


def squared_distances(X: Floats, center: Numbers) -> Callable[[int], Fraction]:
    """Return a function that gives the squared distance of row i from the center, exactly."""
    middle = [Fraction(value) for value in center.tolist()]
    return lambda i: sum(((Fraction(x) - m) ** 2 for x, m in zip(X[i].tolist(), middle, strict=True)), Fraction(0))


def root(square: Fraction, bits: int = 60) -> Fraction:
    """Return the root rounded down to about ``bits`` bits.

    >>> root(Fraction(9, 4))
    Fraction(3, 2)
    """
    shift = max(0, bits - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)


def to_float(value: Fraction) -> float | Fraction:
    """Return the nearest float; the fraction itself if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return value


def settled_signs(near: Floats, size: Floats, d: int, exact: Callable[[int], Fraction]) -> NDArray[np.int8]:
    """Return the signs of sums of d terms: ``near`` are the sums in floats, ``size`` those of absolute values; a sign
    in doubt is computed by ``exact``."""
    with np.errstate(all="ignore"):
        in_doubt = np.flatnonzero(~(np.abs(near) > (d + 8) * (1.01 * HALF_ULP * size + TINY)))
    signs = np.sign(np.nan_to_num(near)).astype(np.int8)
    for i in in_doubt.tolist():
        signs[i] = sign(exact(i))
    return signs


def sign(value: Fraction) -> int:
    """Return +1, 0 or -1."""
    return (value > 0) - (value < 0)
