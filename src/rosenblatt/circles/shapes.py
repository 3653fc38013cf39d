"""Shapes that correspond to planes in the space of (x, |x|^2): circles, outsides of circles, and half-planes.

See Har-Peled 30.2. A plane is ``a . x - c |x|^2 + b = 0``. With m = a / 2c and r^2 = |m|^2 + b / c, the points on its
positive side satisfy ``c (r^2 - |x - m|^2) > 0``. So the shape is a circle for c > 0. For c < 0 the positive points are
outside the circle, and for c = 0 the boundary is a line. Har-Peled's theorem assumes c > 0 without stating it.

Every shape classifies points exactly, without rounding. A point on the boundary belongs to neither class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from rosenblatt.features import SphereLift
from rosenblatt.html import circle, described
from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.exact import are_finite
from rosenblatt.theory.inputs import (
    Floats,
    Numbers,
    as_objects,
    check_exact,
    exact_numbers,
    number_text,
    rows_text,
    vector_text,
)
from rosenblatt.theory.vc import BallObstruction

# Points lifted to (x, |x|^2, 1), and the balls that planes in that space define, in floating point and exactly.
# Translation and scaling map circles to circles. Therefore points are first centred at the origin and scaled to norm
# at most 1, which avoids a loss of digits in the lift.


class LiftedPoints:
    """The matrix of lifted, signed points, whose separating planes correspond to circles.

    The row of a point x with sign y = +-1 is z = y (u, |u|^2, 1), where u = (x - middle) / size.

    The plane ``v = (a, -c, b)`` has exactly the positives on its positive side if z . v > 0 for all rows z. The last
    row, (0, -1, 0), requires c > 0. It is a negative example at infinity in the direction of |u|^2. If ``upward`` is
    False, this row is omitted, and c may have any sign.

    ``middle`` is the centre of the bounding box, and ``size`` is the distance from ``middle`` to the farthest point, or
    1 if that distance is 0.
    """

    def __init__(self, X: Floats, positive: NDArray[np.bool_], upward: bool = True) -> None:
        self.X, self.positive, self.upward = X, positive, upward
        self.width = X.shape[1] + 2  # the number of columns
        low, high = X.min(axis=0), X.max(axis=0)
        self.middle = low + (high - low) / 2
        from_middle = X - self.middle
        largest = float(np.abs(from_middle).max()) or 1.0
        with np.errstate(over="ignore"):  # no quotient exceeds 1, but NumPy 1.26 warns at 1e-320 / 1e-320
            self.size = largest * (float(np.sqrt(((from_middle / largest) ** 2).sum(axis=1).max())) or 1.0)
            self.scaled = from_middle / self.size

    @cached_property
    def rows(self) -> Floats:
        """The signed rows, rounded to float64."""
        n, d = self.X.shape
        Z = np.zeros((n + 1, d + 2))
        Z[:n, : d + 1] = SphereLift().fit_transform(self.scaled)
        Z[:n, d + 1] = 1.0
        Z[:n][~self.positive] *= -1.0
        Z[n, d] = -1.0
        return Z if self.upward else Z[:n]

    def near(self, v: Floats) -> tuple[Floats, Floats]:
        """Return z . v for each row z and a bound on its absolute error, including the error from rounding the row."""
        spread = np.abs(self.rows) @ (np.abs(v) + TINY)
        return self.rows @ v, 1.01 * (3 * len(v) + 16) * HALF_ULP * spread + TINY

    @property
    def bits(self) -> int:
        """An upper bound on the bit length of the entries of the integer rows."""
        return max(value.bit_length() for value in self[len(self.X)]) + 1

    def __getitem__(self, i: int) -> list[int]:
        """Return row i as exact integers; all rows are multiplied by the same positive factor to avoid rounding."""
        n, d = self.X.shape
        size = self._whole(self.size)
        if i == n:
            return [0] * d + [-size * size, 0]
        point = [self._whole(x) - self._whole(m) for x, m in zip(self.X[i].tolist(), self.middle.tolist(), strict=True)]
        sign = 1 if self.positive[i] else -1
        lifted = [*(size * value for value in point), sum(value * value for value in point), size * size]
        return [sign * value for value in lifted]

    def _whole(self, value: float) -> int:
        numerator, denominator = value.as_integer_ratio()
        return numerator * (self._denominator // denominator)

    @cached_property
    def _denominator(self) -> int:
        """A power of two; the coordinates, ``middle`` and ``size`` become integers when multiplied by it."""
        numbers = (*np.unique(np.abs(self.X)).tolist(), *self.middle.tolist(), self.size)
        return max(value.as_integer_ratio()[1] for value in numbers)

    def ball(self, v: Numbers | list[int]) -> tuple[list[Fraction], Fraction]:
        """Return the exact center and squared radius, in x coordinates, of the ball that corresponds to the plane v."""
        *a, minus_c, b = (Fraction(value) for value in np.asarray(v).tolist())
        center, square = ball_of_plane(a, -minus_c, b)
        size = Fraction(self.size)
        moved = [Fraction(m) + size * value for m, value in zip(self.middle.tolist(), center, strict=True)]
        return moved, size * size * square


def ball_of_plane(a: Iterable[Fraction], c: Fraction, b: Fraction) -> tuple[list[Fraction], Fraction]:
    """Return the exact center and squared radius of the ball for the plane ``a . x - c |x|^2 + b = 0``.

    >>> ball_of_plane([Fraction(2), Fraction(4)], Fraction(1), Fraction(4))
    ([Fraction(1, 1), Fraction(2, 1)], Fraction(9, 1))
    """
    center = [value / (2 * c) for value in a]
    return center, sum((value * value for value in center), b / c)


def squared_distances(X: Floats, center: Numbers) -> Callable[[int], Fraction]:
    """Return a function of i that computes the exact squared distance between row i of ``X`` and the center."""
    middle = [Fraction(value) for value in center.tolist()]
    return lambda i: sum(((Fraction(x) - m) ** 2 for x, m in zip(X[i].tolist(), middle, strict=True)), Fraction(0))


def root(square: Fraction, bits: int = 60) -> Fraction:
    """Return the square root of a nonnegative fraction, rounded down, with a precision of about ``bits`` bits.

    >>> root(Fraction(9, 4))
    Fraction(3, 2)
    """
    shift = max(0, bits - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)


def to_float(value: Fraction) -> float | Fraction:
    """Return the nearest float, or the fraction itself if it is too large for a float."""
    try:
        return float(value)
    except OverflowError:
        return value


def exact_signs(sums: Floats, size: Floats, d: int, exact: Callable[[int], Fraction]) -> NDArray[np.int8]:
    """Return the exact sign of each sum of d terms, given its rounded value and the sum of its terms' absolute values.

    ``sums`` contains the rounded values, and ``size`` the sums of absolute values. A sum that is not larger than its
    error bound in absolute value is recomputed by ``exact``. A term may be the square of a rounded difference, with a
    relative error of 3 u for u = 2^-53. Adding d + 1 terms contributes d u. Each product may lose TINY to underflow.
    """
    with np.errstate(all="ignore"):
        in_doubt = np.flatnonzero(~(np.abs(sums) > (d + 8) * (1.01 * HALF_ULP * size + TINY)))
    signs = np.sign(np.nan_to_num(sums)).astype(np.int8)
    for i in in_doubt.tolist():
        signs[i] = sign(exact(i))
    return signs


def sign(value: Fraction) -> int:
    """Return the sign of ``value``: +1, 0 or -1."""
    return (value > 0) - (value < 0)


NAMES = {1: "interval", 2: "circle", 3: "sphere"}


class Shape:
    """Base class of shapes, whose boundary divides the space into a positive and a negative side."""

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each row of ``points`` lies strictly on the positive side."""
        return self.sides(points) > 0

    def on_boundary(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each row of ``points`` lies exactly on the boundary."""
        return self.sides(points) == 0

    def sides(self, points: ArrayLike) -> NDArray[np.int8]:
        """Return +1 for each row of ``points`` on the positive side, -1 on the negative side, 0 on the boundary."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return described([str(self)])


@dataclass(frozen=True, eq=False, repr=False)
class _Ball(Shape):
    center: Numbers
    radius: float | Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", _vector("center", self.center))
        object.__setattr__(self, "radius", _number("radius", self.radius))
        if not self.radius > 0:
            raise ValueError(f"radius must be above 0, got {self.radius!r}.")

    def __str__(self) -> str:
        name = NAMES.get(len(self.center), f"ball in {len(self.center)} dimensions")
        away = max(abs(Fraction(value)) for value in self.center.tolist()) / Fraction(self.radius)
        digits = 6 + min(11, int(away).bit_length() // 3)  # more digits for distant centres
        return f"{name} with centre {vector_text(self.center, digits)} and radius {number_text(self.radius)}"

    def _repr_html_(self) -> str:
        if len(self.center) != 2:
            return super()._repr_html_()
        center, radius = vector_text(self.center), number_text(self.radius)
        return described([str(self)], circle(center, radius, str(self), isinstance(self, Circle)))

    def _inner_sides(self, points: ArrayLike) -> NDArray[np.int8]:
        """Return the sign of ``radius^2 - |x - center|^2`` for each row."""
        X = _rows(points, len(self.center))
        exact, square = squared_distances(X, self.center), Fraction(self.radius) ** 2
        if self.center.dtype == object or isinstance(self.radius, Fraction):
            return np.array([sign(square - exact(i)) for i in range(len(X))], dtype=np.int8)
        with np.errstate(all="ignore"):
            distances = ((X - self.center) ** 2).sum(axis=1)
            sums, size = self.radius * self.radius - distances, self.radius * self.radius + distances
        return exact_signs(sums, size, X.shape[1], lambda i: square - exact(i))


class Circle(_Ball):
    """A circle with the positives inside; a sphere in three dimensions, a ball in more, an interval in one.

    ``center`` is an array of d numbers, ``radius`` a number above 0. They are floats, or Fractions if no floats
    separate the points.

    See Also
    --------
    fit_circle : Learn a circle from labelled points.
    Outside, HalfSpace : The shapes of planes with c <= 0.

    Examples
    --------
    >>> from rosenblatt import Circle
    >>> circle = Circle([1, 2], 3)
    >>> circle
    Circle with centre (1, 2) and radius 3: the positives are inside.
    >>> circle.contains([[1, 2], [4, 2], [5, 2]]), circle.on_boundary([[4, 2]])
    (array([ True, False, False]), array([ True]))
    """

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text[0].upper()}{text[1:]}: the positives are inside."

    def sides(self, points: ArrayLike) -> NDArray[np.int8]:
        """Return +1 for each row of ``points`` inside, -1 outside, 0 on the boundary."""
        return self._inner_sides(points)


@dataclass(frozen=True, eq=False, repr=False)
class Outside(_Ball):
    """The outside of a circle, sphere or ball: the shape of a plane with c < 0.

    ``center`` and ``radius`` are as in `Circle`. ``reason`` proves that no circle has exactly the positives inside, and
    has a method ``check(points)``. It is None if the shape comes from `circle_from_plane`.

    See Also
    --------
    Circle : A circle with the positives inside.
    fit_circle : Learn a circle from labelled points.

    Examples
    --------
    >>> from rosenblatt import Outside
    >>> Outside([0, 0], 2).contains([[0, 0], [3, 0]])
    array([False,  True])
    """

    reason: BallObstruction | None = None

    def __str__(self) -> str:
        text = f"Outside of the {super().__str__()}: the positives are outside, since the plane has c < 0."
        if self.reason is None:
            return text
        rows = rows_text(sorted(self.reason.inside + self.reason.outside))
        return f"{text} No {NAMES.get(len(self.center), 'ball')} contains only them: {rows} prove it."

    def sides(self, points: ArrayLike) -> NDArray[np.int8]:
        """Return +1 for each row of ``points`` outside, -1 inside, 0 on the boundary."""
        return -self._inner_sides(points)


@dataclass(frozen=True, eq=False, repr=False)
class HalfSpace(Shape):
    """The half-plane (or half-space) of points with ``w . x + b > 0``: the shape of a plane with c = 0.

    ``reason`` is a sentence that explains why the shape is not a circle, or an empty string.

    See Also
    --------
    Circle : A circle with the positives inside.
    fit_circle : Learn a circle from labelled points.

    Examples
    --------
    >>> from rosenblatt import HalfSpace
    >>> HalfSpace([1, 0], -2).contains([[3, 5], [1, 5]])
    array([ True, False])
    """

    w: Numbers
    b: float
    reason: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "w", check_exact(_vector("w", self.w), "w").astype(np.float64))
        object.__setattr__(self, "b", float(check_exact(_number("b", self.b), "b")))

    def __str__(self) -> str:
        names = {1: ("Half-line", "a point"), 2: ("Half-plane", "a line")}
        name, boundary = names.get(len(self.w), ("Halfspace", "a plane"))
        plane = f"w . x + b > 0 with w = {vector_text(self.w)} and b = {number_text(self.b)}"
        return f"{name} {plane}: its boundary is {boundary}. {self.reason}".rstrip()

    def sides(self, points: ArrayLike) -> NDArray[np.int8]:
        """Return +1 for each row of ``points`` with ``w . x + b > 0``, -1 where it is below 0, 0 on the boundary."""
        X = _rows(points, len(self.w))
        w, b = [Fraction(value) for value in self.w.tolist()], Fraction(self.b)
        with np.errstate(all="ignore"):
            sums, size = X @ self.w + self.b, abs(X) @ abs(self.w) + abs(self.b)
        return exact_signs(
            sums, size, len(w), lambda i: b + sum(v * Fraction(x) for v, x in zip(w, X[i].tolist(), strict=True))
        )


@dataclass(frozen=True, repr=False)
class NoCircle:
    """Proof that no circle, no line and no outside of a circle separates the points.

    ``proof`` lists rows of both classes and their weights. In the space of (x, |x|^2), a convex combination of the
    listed rows of one class equals a convex combination of those of the other class. So no plane separates the classes
    in that space, and no circle, outside of a circle or line separates the points.

    See Also
    --------
    fit_circle : The function that returns a `NoCircle`.

    Examples
    --------
    >>> from rosenblatt import fit_circle
    >>> corners, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> answer = fit_circle(corners, labels)
    >>> answer
    No circle, no line and no outside of a circle separates these points: 4 of them prove it. In the space of
    (x, |x|^2) a weighted mean of rows 1, 2 equals a weighted mean of rows 0, 3.
    >>> answer.check(corners, labels)
    True
    """

    proof: BallObstruction

    def __str__(self) -> str:
        d = len(self.proof.point)
        name, line = NAMES.get(d, "ball"), {1: "half-line", 2: "line"}.get(d, "plane")
        return (
            f"No {name}, no {line} and no outside of {'an' if d == 1 else 'a'} {name} separates these points: "
            f"{len(self.proof.inside + self.proof.outside)} of them prove it. In the space of (x, |x|^2) a weighted "
            f"mean of {rows_text(self.proof.inside)} equals a weighted mean of {rows_text(self.proof.outside)}."
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return described([str(self)])

    def check(self, points: ArrayLike, labels: ArrayLike) -> bool:
        """Return whether the proof is valid for these points and labels, as verified in exact arithmetic."""
        proof, given, labels = self.proof, as_objects(points, "points"), np.asarray(labels)
        rows = [*proof.inside, *proof.outside]
        if not all(0 <= row < len(given) == len(labels) for row in rows):
            return False
        held, others = (set(labels[list(part)].tolist()) for part in (proof.inside, proof.outside))
        k = len(proof.inside)
        alone = replace(proof, inside=tuple(range(k)), outside=tuple(range(k, len(rows))))  # rows renumbered
        level = proof.inside_height == proof.outside_height
        return len(held) == 1 and not held & others and level and alone.check(given[rows])


def circle_from_plane(w: ArrayLike, b: float) -> Circle | HalfSpace | Outside:
    """Return the shape of a plane in the space of (x, |x|^2): the points with ``w . (x, |x|^2) + b > 0``.

    If w and b come from a linear model of lifted points (see `SphereLift`), the shape is the positive region of the
    model. In Har-Peled's notation c is minus the last weight, and his theorem assumes c > 0.

    Parameters
    ----------
    w : array of d + 1 numbers
        The weights of the d coordinates and of |x|^2.
    b : float
        The bias.

    Returns
    -------
    Circle, HalfSpace or Outside
        A circle if the last weight is below 0, the outside of a circle if it is above 0, and a half-plane if it is 0.

    Raises
    ------
    ValueError
        If all weights are 0, or all points (x, |x|^2), except perhaps one, lie on one side of the plane.

    See Also
    --------
    fit_circle : Learn a circle from labelled points.
    SphereLift : The transformer from x to (x, |x|^2).

    Examples
    --------
    >>> from rosenblatt import circle_from_plane
    >>> circle_from_plane([2, 4, -1], 4)
    Circle with centre (1, 2) and radius 3: the positives are inside.
    >>> circle_from_plane([-2, -4, 1], -4)
    Outside of the circle with centre (1, 2) and radius 3: the positives are outside, since the plane has c < 0.
    >>> circle_from_plane([1, 0, 0], -2)
    Half-plane w . x + b > 0 with w = (1, 0) and b = -2: its boundary is a line.
    """
    w, bias = _vector("w", w), _number("b", b)
    if len(w) < 2:
        raise ValueError(f"w must hold at least two weights, the last for |x|^2, got {len(w)}.")
    *a, c = (Fraction(value) for value in w.tolist())
    if not any(a) and c == 0:
        raise ValueError(
            "all weights are zero, so every point gets the same prediction: there is no circle and no line."
        )
    if c == 0:
        return HalfSpace(w[:-1], float(check_exact(bias, "b")))
    center, square = ball_of_plane(a, -c, Fraction(bias))
    if square <= 0:
        raise ValueError(
            "these weights give no circle, since r^2 is not above 0: "
            f"{'no point' if c < 0 else 'every point, except perhaps one,'} is positive."
        )
    shape = Circle if c < 0 else Outside
    return shape(np.array([to_float(value) for value in center]), to_float(root(square)))


def unrounded_points(points: ArrayLike) -> Any:
    """Return ``points``; raise a ValueError if float64 would round a coordinate. Sparse points are not checked."""
    return points if sp.issparse(points) else check_exact(points, "points")


def _rows(points: ArrayLike, d: int) -> Floats:
    X = check_array(unrounded_points(points), dtype=np.float64, ensure_min_samples=0, input_name="points")
    if X.shape[1] != d:
        raise ValueError(f"points must be rows of {d} numbers, one for each coordinate, got rows of {X.shape[1]}.")
    return X


def _vector(name: str, values: ArrayLike) -> Numbers:
    array = exact_numbers(values, name)
    if array.ndim != 1 or len(array) == 0 or not are_finite(array.tolist()):
        raise ValueError(f"{name} must be a list of finite numbers, one for each coordinate, got {values!r}.")
    return array


def _number(name: str, value: float | Fraction) -> float | Fraction:
    array = exact_numbers(value, name)
    if array.ndim != 0 or not are_finite([array.item()]):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    return array.item()
