"""Generators of synthetic data sets whose separability is known.

Every function takes ``random_state`` (None, an integer, a NumPy ``Generator`` or ``RandomState``), and returns a
float64 array ``X`` and labels ``y`` of -1 and +1. The same seed gives the same bits on every machine. For this, sums
use NumPy's ``sum`` and never BLAS, whose order of addition depends on the machine.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.messages import ParameterError, Setting, check_integer, shorten

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

EPS = float(np.finfo(np.float64).eps)

# All rows except the two with the planted margin exceed it by at least this much, well above their rounding errors.
CLEARANCE = 64 * EPS


@overload
def make_separable(
    n: int, d: int, margin: float, random_state: RandomState = ..., *, return_separator: Literal[False] = ...
) -> tuple[Floats, Labels]: ...
@overload
def make_separable(
    n: int, d: int, margin: float, random_state: RandomState = ..., *, return_separator: Literal[True]
) -> tuple[Floats, Labels, Floats]: ...
def make_separable(
    n: int, d: int, margin: float, random_state: RandomState = None, *, return_separator: bool = False
) -> tuple[Floats, Labels] | tuple[Floats, Labels, Floats]:
    """Draw ``n`` unit vectors in R^d that a hyperplane through the origin separates with a given margin.

    There is a unit vector ``u`` with ``min_i y_i (u . x_i) == margin``, and no unit vector has a larger margin. This is
    the margin without a bias. The rows have norm 1. So a perceptron without a bias makes at most ``1 / margin**2``
    mistakes on them, in any order (Novikoff's theorem).

    Two support vectors prove that no margin is larger. Let ``v`` be a unit vector perpendicular to ``u``, and let ``s =
    sqrt(1 - margin**2)``. Two of the vectors ``y_i x_i`` are ``margin u + s v`` and ``margin u - s v``. Their mean is
    ``margin u``, so every unit vector ``w`` has ``min_i y_i (w . x_i) <= w . (margin u) <= margin``.

    The other rows are uniform on the sphere; rows closer to the hyperplane than ``margin`` are moved to a distance of
    one to two margins. Labels are random signs and, for ``n >= 2``, both occur.

    The margin is exact to a few units in the last place, however small it is. For this, ``v`` is a random coordinate
    axis, and ``u`` is 0 on that axis. So no coordinate of ``margin u + s v`` is the sum of two nonzero terms. For ``d =
    2`` this would make ``u`` the other axis. So for ``d = 2`` and ``margin >= 1e-6`` the pair ``u, v`` is rotated by a
    random angle. The margin then has an absolute error of a few 1e-16.

    Parameters
    ----------
    n, d : int
        The numbers of rows and columns, at least 1.
    margin : float
        The margin, from 1e-100 to 1. It must be 1 if ``n`` or ``d`` is 1.
    random_state : None, int, Generator or RandomState, default None
        The source of randomness. With None each call draws different rows.
    return_separator : bool, default False
        Whether to return ``(X, y, u)`` instead of ``(X, y)``.

    Returns
    -------
    X : ndarray of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        The labels, -1 and +1.
    u : ndarray of shape (d,)
        The unit vector with the largest margin, only if ``return_separator`` is True.

    See Also
    --------
    make_sorted : Rows of the same kind in a bad order, with all positives before all negatives.

    Examples
    --------
    >>> X, y, u = make_separable(1000, 10, margin=0.001, random_state=0, return_separator=True)
    >>> X.shape
    (1000, 10)
    >>> print(f"{min(y * (X @ u)):.12f}")
    0.001000000000
    """
    n, d, margin = check_integer("n", n, 1), check_integer("d", d, 1), _margin(margin, d)
    if n == 1 and margin != 1:
        raise ValueError(
            f"margin must be 1 when n = 1, got {margin}: one unit vector has distance 1 from the plane "
            "perpendicular to it; use n >= 2."
        )
    rng = random_generator(random_state)
    y = random_signs(n, rng)
    X, u = _plant(y, d, margin, rng)
    return (X, y, u) if return_separator else (X, y)


def make_sorted(
    n: int = 1000, d: int = 10, margin: float = 0.01, random_state: RandomState = None
) -> tuple[Floats, Labels]:
    """Draw a linearly separable set in a bad order: ``n / 2`` positives, then ``n / 2`` negatives.

    In this order the perceptron soon predicts the positive class for nearly all rows, and makes few mistakes until the
    negatives begin. Then it soon predicts the negative class for nearly all rows (Daumé, CIML, section 4.2). A pass
    makes few updates, so hundreds of passes are needed. If the same rows are shuffled, some dozens are enough.

    Parameters
    ----------
    n : int, default 1000
        The number of rows, an even number of at least 2.
    d : int, default 10
        The number of columns, at least 1.
    margin : float, default 0.01
        The margin without a bias, from 1e-100 to 1, as in `make_separable`. It must be 1 if ``d`` is 1.
    random_state : None, int, Generator or RandomState, default None
        The source of randomness. With None each call draws different rows.

    Returns
    -------
    X : ndarray of shape (n, d)
        The rows, of Euclidean norm 1.
    y : ndarray of shape (n,)
        The labels: first all +1, then all -1.

    See Also
    --------
    make_separable : Rows of the same kind in random order.

    Examples
    --------
    >>> X, y = make_sorted(1000, random_state=0)
    >>> bool((y[:500] == 1).all() and (y[500:] == -1).all())
    True
    """
    n, d = check_integer("n", n, 2), check_integer("d", d, 1)
    if n % 2:
        raise ValueError(f"n must be even, got {n}: half the rows are positive and half negative; use {n + 1}.")
    y = np.repeat(np.array([1, -1], dtype=np.int64), n // 2)
    X, _ = _plant(y, d, _margin(margin, d), random_generator(random_state))
    return X, y


def make_xor(n: int = 4, noise: float = 0.0, random_state: RandomState = None) -> tuple[Floats, Labels]:
    """Return the corners of the square {-1, +1}^2, positive where the two coordinates differ.

    The corners are not linearly separable, but become so with the product of the coordinates as a third feature. More
    than four rows repeat the corners in order.

    Parameters
    ----------
    n : int, default 4
        The number of rows, at least 4.
    noise : float, default 0
        The standard deviation of Gaussian noise added to every coordinate; a row keeps the label of its corner.
    random_state : None, int, Generator or RandomState, default None
        The source of the noise. With None each call draws different noise.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The rows.
    y : ndarray of shape (n,)
        The labels, -1 and +1.

    See Also
    --------
    make_rings : Classes that a polynomial in the squared radius separates.

    Examples
    --------
    >>> X, y = make_xor()
    >>> X.tolist()
    [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    >>> y.tolist()
    [-1, 1, 1, -1]
    """
    n, noise = check_integer("n", n, 4), check_noise(noise)
    rng = random_generator(random_state)
    corner = np.arange(n) % 4
    X: Floats = np.column_stack([corner // 2, corner % 2]).astype(np.float64) * 2 - 1
    y = np.where(X[:, 0] != X[:, 1], 1, -1).astype(np.int64)
    if noise:
        X += noise * rng.standard_normal(X.shape)
    return X, y


def make_circle(
    n: int = 200,
    d: int = 2,
    radius: float = 1.0,
    center: ArrayLike | None = None,
    gap: float = 0.1,
    random_state: RandomState = None,
) -> tuple[Floats, Labels]:
    """Draw points of R^d, positive inside a sphere and negative outside, none within ``gap`` of its surface.

    Every row has ``| |x - center| - radius | >= gap``. Positives are uniform in the ball of radius ``radius - gap``.
    Negatives have a random direction from the center, and a distance to it that is uniform from ``radius + gap`` to
    ``2 * radius + gap``. Labels are random signs and, for ``n >= 2``, both occur.

    Parameters
    ----------
    n : int, default 200
        The number of rows, at least 1.
    d : int, default 2
        The number of columns, at least 1.
    radius : float, default 1
        The radius of the sphere, from 1e-100 to 1e100.
    center : array-like of shape (d,), optional
        The center of the sphere; by default the origin.
    gap : float, default 0.1
        The least distance of a row from the sphere, at least 0 and below ``radius``.
    random_state : None, int, Generator or RandomState, default None
        The source of randomness. With None each call draws different rows.

    Returns
    -------
    X : ndarray of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        The labels, +1 inside the sphere and -1 outside.

    See Also
    --------
    make_rings : Points on circles around the origin, with alternating labels.

    Examples
    --------
    >>> X, y = make_circle(200, radius=2.0, center=[5, 1], gap=0.25, random_state=0)
    >>> distance = np.hypot(X[:, 0] - 5, X[:, 1] - 1)
    >>> bool(distance[y == 1].max() <= 1.75 and distance[y == -1].min() >= 2.25)
    True
    """
    n, d, radius, gap = (
        check_integer("n", n, 1),
        check_integer("d", d, 1),
        check_real("radius", radius),
        check_real("gap", gap),
    )
    if not 1e-100 <= radius <= 1e100:
        raise ValueError(f"radius must be from 1e-100 to 1e100, got {radius}: give the radius of the sphere.")
    c = np.zeros(d) if center is None else np.asarray(center, dtype=np.float64)
    if c.shape != (d,) or not np.isfinite(c).all():
        raise ValueError(f"center must hold d = {d} finite numbers, got {shorten(center)}: give one for each feature.")
    # Adding the center rounds every coordinate; with this clearance the rounded rows stay out of the gap.
    clearance = CLEARANCE * (float(np.abs(c).max()) + 2 * radius + gap) * math.sqrt(d)
    if not 0 <= gap < radius - clearance:
        raise ValueError(
            f"gap must be at least 0, and less than the radius {radius} by more than the rounding errors of points "
            f"around the center {c.tolist()}, got {gap}: make the gap smaller, or move the center to the origin."
        )
    rng = random_generator(random_state)
    y = random_signs(n, rng)
    share = rng.random(n)
    inside = (radius - gap - clearance) * share ** (1.0 / d)
    outside = radius + gap + clearance + radius * share
    direction = rng.standard_normal((n, d))
    direction /= _norms(direction)[:, None]
    X = c + np.where(y > 0, inside, outside)[:, None] * direction

    beyond = y * (radius - _norms(X - c))
    if not beyond.min() >= gap:
        raise RuntimeError(f"a row is {beyond.min()!r} from the sphere, nearer than gap = {gap!r}: please report this.")
    return X, y


def _plant(y: Labels, d: int, margin: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return rows X for the labels y, and the unit vector u that separates them with this margin.

    The margin of the result is verified. A RuntimeError is raised if it is wrong.
    """
    n = len(y)
    u, v = _frame(d, margin, rng)
    Z = np.tile(u, (n, 1))  # the vectors y_i x_i, all on the positive side; for margin 1 all are u
    if margin < 1:
        Z = rng.standard_normal((n, d))
        t = np.abs((Z * u).sum(axis=1)) / _norms(Z)
        near = t < margin + CLEARANCE
        t[near] = margin + CLEARANCE + rng.random(int(near.sum())) * min(margin, 1 - margin)
        t = np.minimum(t, 1.0)
        # z = t u + sqrt(1 - t^2) e, where e is the unit vector of the part of z perpendicular to u.
        for _ in range(2):  # twice is enough (Kahan, Parlett): the second removes the rounding errors of the first
            Z -= (Z * u).sum(axis=1)[:, None] * u
        Z *= (np.sqrt((1 - t) * (1 + t)) / _norms(Z))[:, None]
        Z += t[:, None] * u
        Z /= _norms(Z)[:, None]

        # One support vector in each class.
        s = math.sqrt((1 - margin) * (1 + margin))
        Z[rng.choice(np.flatnonzero(y > 0))] = margin * u + s * v
        Z[rng.choice(np.flatnonzero(y < 0))] = margin * u - s * v

    X = Z * y[:, None]
    attained = float((y * (X * u).sum(axis=1)).min())
    scale = 1.0 if d == 2 and margin >= 1e-6 else margin
    if not abs(attained - margin) <= 16 * EPS * scale:
        raise RuntimeError(f"planted margin {margin!r} came out as {attained!r}: please report this.")
    return X, u


def _frame(d: int, margin: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return two perpendicular unit vectors: the separator u, and the direction v between the two support vectors."""
    v = np.zeros(d)
    u = rng.standard_normal(d)
    if d == 2 and margin >= 1e-6:
        u /= math.sqrt(math.fsum(u * u))
        return u, np.array([-u[1], u[0]])
    if d > 1:
        # With v an axis and u zero on it, no coordinate of margin u + s v is a sum of two nonzero terms.
        axis = rng.integers(d)
        u[axis], v[axis] = 0.0, 1.0
    return u / math.sqrt(math.fsum(u * u)), v


def _norms(X: Floats) -> Floats:
    return np.asarray(np.sqrt((X * X).sum(axis=1)))


def random_signs(n: int, rng: np.random.Generator) -> Labels:
    """Return ``n`` random signs; for ``n >= 2`` both signs occur."""
    y = 2 * rng.integers(0, 2, size=n, dtype=np.int64) - 1
    if n >= 2:
        y[:2] = 1, -1
        rng.shuffle(y)
    return y


def check_real(name: str, value: object) -> float:
    """Return ``value`` as a float; raise a ParameterError unless it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ParameterError("{setting} must be a finite number, got {got}.", setting=Setting(name), got=shorten(value))
    return float(value)


def check_noise(value: object) -> float:
    """Return ``value`` as a standard deviation; raise a ValueError if it is negative."""
    noise = check_real("noise", value)
    if noise < 0:
        raise ValueError(f"noise must be at least 0, got {noise}: it is a standard deviation.")
    return noise


def _margin(value: object, d: int) -> float:
    margin = check_real("margin", value)
    if not 1e-100 <= margin <= 1:
        raise ValueError(
            f"margin must be between 1e-100 and 1, got {margin}: the rows have norm 1, so no plane "
            "through the origin is farther than 1 from a row; choose a margin in that range."
        )
    if d == 1 and margin != 1:
        raise ValueError(f"margin must be 1 when d = 1, got {margin}: rows of norm 1 are -1 or +1; use d >= 2.")
    return margin


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Return ``random_state`` as a NumPy ``Generator``; a ``RandomState`` provides the seed of a new one.

    None means NumPy's global ``RandomState``, which ``np.random.seed`` seeds.
    """
    if random_state is None:
        random_state = np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        what = "{random_state} must be None, an integer of at least 0, a numpy Generator or RandomState, got {got}."
        raise ParameterError(what, got=shorten(random_state))
    return np.random.default_rng(check_integer("random_state", random_state, 0, or_none=True))


# Two classes in the plane that a kernel separates but a line does not: rings and spirals.
#
# The code uses only sums, products and square roots, which all machines round in the same way. The sine and cosine of
# mathematical libraries differ in the last digit between machines.


_INNER = 0.25  # the distance from the origin at which the arms of a spiral start
_MOST_TURNS = 1000
_TERMS = 14  # terms of the Taylor series up to an eighth of a turn, where the next term is below 1e-28


def make_rings(
    n: int = 200, noise: float = 0.0, random_state: RandomState = None, *, rings: int = 2
) -> tuple[Floats, Labels]:
    """Draw points of the plane on circles of radius 1, 2, ... around the origin, with alternating labels.

    The innermost circle is positive, the next negative, and so on. Without noise the label is the sign of a polynomial
    of degree ``rings - 1`` in the squared radius. So a polynomial kernel of degree ``2 * (rings - 1)`` or more with
    ``coef0 > 0`` separates the rows. A Gaussian kernel also separates them. Each row lies on a random circle of its
    class, in a random direction. Labels are random signs and, for ``n >= 2``, both occur.

    Parameters
    ----------
    n : int, default 200
        The number of rows, at least 1.
    noise : float, default 0
        The standard deviation of Gaussian noise added to every coordinate; a row keeps the label of its circle.
    random_state : None, int, Generator or RandomState, default None
        The source of randomness. With None each call draws different rows.
    rings : int, default 2
        The number of circles, at least 2.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The rows.
    y : ndarray of shape (n,)
        The labels, -1 and +1.

    See Also
    --------
    make_circle : A ball and the space around it, with a gap in between, in any dimension.
    make_spiral : Two classes on the arms of a spiral.

    Examples
    --------
    >>> X, y = make_rings(200, random_state=0)
    >>> radius = np.hypot(X[:, 0], X[:, 1])
    >>> bool(np.allclose(radius[y == 1], 1) and np.allclose(radius[y == -1], 2))
    True
    """
    n, noise, rings = check_integer("n", n, 1), check_noise(noise), check_integer("rings", rings, 2)
    rng = random_generator(random_state)
    y = random_signs(n, rng)
    own = np.where(y > 0, (rings + 1) // 2, rings // 2)  # the circles of a row's class
    radius = 1.0 + 2 * np.floor(rng.random(n) * own) + (y < 0)
    X = radius[:, None] * _directions(rng.random(n))
    return _jittered(X, noise, rng), y


def make_spiral(
    n: int = 200, turns: float = 1.5, noise: float = 0.0, random_state: RandomState = None
) -> tuple[Floats, Labels]:
    """Draw points of the plane on the two arms of a spiral, one arm for each class.

    The positive arm consists of the points at radius r and an angle of r turns, from r = 1/4 on. The negative arm is
    its reflection through the origin. So neighbouring arms are about half a unit apart everywhere. For more than half
    a turn, the arms are not linearly separable. Without noise a Gaussian kernel separates the rows exactly, as it
    separates any distinct rows. Rows are about uniform along the arms. Labels are random signs and, for ``n >= 2``,
    both occur.

    Parameters
    ----------
    n : int, default 200
        The number of rows, at least 1.
    turns : float, default 1.5
        The number of turns of each arm around the origin, above 0 and at most 1000.
    noise : float, default 0
        The standard deviation of Gaussian noise added to every coordinate; a row keeps the label of its arm.
    random_state : None, int, Generator or RandomState, default None
        The source of randomness. With None each call draws different rows.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The rows.
    y : ndarray of shape (n,)
        The labels, -1 and +1.

    See Also
    --------
    make_rings : Two classes on circles around the origin.

    Examples
    --------
    >>> X, y = make_spiral(200, turns=2, random_state=0)
    >>> radius = np.hypot(X[:, 0], X[:, 1])
    >>> bool(radius.min() >= 0.25 and radius.max() <= 2.25)
    True
    """
    n, turns, noise = check_integer("n", n, 1), check_real("turns", turns), check_noise(noise)
    if not 0 < turns <= _MOST_TURNS:
        raise ValueError(
            f"turns must be above 0 and at most {_MOST_TURNS}, got {turns}: give the number of turns of an arm."
        )
    rng = random_generator(random_state)
    y = random_signs(n, rng)
    # A short piece of an arm has a length of about its radius times its angle, and the angle is proportional to the
    # radius. So rows are about uniform along the arm if the squared radius is uniform.
    radius = np.sqrt(_INNER**2 + rng.random(n) * ((_INNER + turns) ** 2 - _INNER**2))
    X = (y * radius)[:, None] * _directions(radius)
    return _jittered(X, noise, rng), y


def _directions(turns: Floats) -> Floats:
    """Return unit vectors at the given angles to the first axis, in turns; only sums and products are used."""
    quarters = np.rint(turns * 4)
    angle = (turns - quarters / 4) * (2 * math.pi)  # the difference is exact, and at most an eighth of a turn
    # Horner's scheme for the Taylor series: cos x = 1 - x^2/(1 2) (1 - x^2/(3 4) (...)), and sin x / x likewise.
    square = angle * angle
    sine, cosine = np.ones_like(angle), np.ones_like(angle)
    for k in range(_TERMS, 0, -1):
        cosine = 1 - square / ((2 * k - 1) * (2 * k)) * cosine
        sine = 1 - square / (2 * k * (2 * k + 1)) * sine
    sine = angle * sine
    quarter = quarters.astype(np.int64) % 4
    columns = [np.choose(quarter, [cosine, -sine, -cosine, sine]), np.choose(quarter, [sine, cosine, -sine, -cosine])]
    return np.column_stack(columns)


def _jittered(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    return X + noise * rng.standard_normal(X.shape) if noise else X
