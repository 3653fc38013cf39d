"""Two classes in the plane that no line parts and a kernel does: rings around each other, arms of a spiral.

As in `generators`, the same seed gives the same bits. They are made by sums, products and square roots only, which
every machine rounds alike; a library's sine and cosine differ in their last digit from one machine to the next.
"""

from __future__ import annotations

import math

import numpy as np

from rosenblatt.data.generators import (
    Floats,
    Labels,
    RandomState,
    check_noise,
    check_real,
    random_generator,
    random_signs,
)
from rosenblatt.parameters import check_integer

_INNER = 0.25  # the arms of a spiral start this far from the origin, half a turn apart
_MOST_TURNS = 1000
_TERMS = 14  # of the series of sine and cosine up to an eighth of a turn, where the next is below 1e-28


def make_rings(
    n: int = 200, noise: float = 0.0, random_state: RandomState = None, *, rings: int = 2
) -> tuple[Floats, Labels]:
    """Draw points of the plane on circles of radius 1, 2, ... around the origin, of either class in turn.

    The innermost circle is positive, the next negative, and so on. Without noise the sign of a polynomial in the
    squared radius is the label, of degree ``rings - 1``: so a polynomial kernel of degree ``2 * (rings - 1)`` (or
    more) with ``coef0 > 0`` separates the rows, and so does a gaussian one. A row is put on a random circle of its
    class, in a random direction. Labels are random signs and, for ``n >= 2``, both occur. `make_circle` fills a
    disc and what is around it, with a gap between them, in any dimension.

    Parameters
    ----------
    n : int
        Rows, at least 1.
    noise : float
        The standard deviation of the gaussian jitter added to every coordinate; a row keeps the label of its ring.
    random_state : None, int, Generator or RandomState
        The source of randomness.
    rings : int
        The number of circles, at least 2.

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
    """Draw points of the plane on the two arms of a spiral, a class each, winding around each other.

    The positive arm is at radius r in the direction of r turns, from r = 1/4 on for as many turns; the negative one
    is its mirror image through the origin. So neighbouring arms are about half a unit apart everywhere. No line
    parts them, and without noise a gaussian kernel separates them exactly, as it does all rows that are distinct.
    Rows fall along the arms about evenly. Labels are random signs and, for ``n >= 2``, both occur.

    Parameters
    ----------
    n : int
        Rows, at least 1.
    turns : float
        How often each arm winds around the origin, above 0.
    noise : float
        The standard deviation of the gaussian jitter added to every coordinate; a row keeps the label of its arm.
    random_state : None, int, Generator or RandomState
        The source of randomness.

    Examples
    --------
    >>> X, y = make_spiral(200, turns=2, random_state=0)
    >>> radius = np.hypot(X[:, 0], X[:, 1])
    >>> bool(radius.min() >= 0.25 and radius.max() <= 2.25)
    True
    """
    n, turns, noise = check_integer("n", n, 1), check_real("turns", turns), check_noise(noise)
    if not 0 < turns <= _MOST_TURNS:
        raise ValueError(f"turns must be above 0 (to {_MOST_TURNS}), got {turns}: say how often an arm winds around.")
    rng = random_generator(random_state)
    y = random_signs(n, rng)
    # a piece of an arm is about as long as its radius times its angle
    radius = np.sqrt(_INNER**2 + rng.random(n) * ((_INNER + turns) ** 2 - _INNER**2))
    X = (y * radius)[:, None] * _directions(radius)
    return _jittered(X, noise, rng), y


def _directions(turns: Floats) -> Floats:
    """Return the unit vectors that lie so many turns from the first axis, by sums and products only."""
    quarters = np.rint(turns * 4)
    angle = (turns - quarters / 4) * (2 * math.pi)  # the difference is exact; up to an eighth of a turn
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
