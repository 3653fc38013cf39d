"""Learning of circles that separate two classes, as planes in the space of (x, |x|^2) (Har-Peled 30.2)."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from rosenblatt.circles.shapes import (
    Circle,
    HalfSpace,
    LiftedPoints,
    NoCircle,
    Outside,
    Shape,
    root,
    squared_distances,
    to_float,
    unrounded_points,
)
from rosenblatt.estimators.perceptron import AveragedPerceptron
from rosenblatt.theory.inputs import Floats, Numbers, check_labels, positive_label, signs_of
from rosenblatt.theory.search.gordan import gordan
from rosenblatt.theory.search.presolve import Solvable, Unsolvable
from rosenblatt.theory.search.wolfe import ExactRows, exact_search
from rosenblatt.theory.separability import dataset_margin
from rosenblatt.theory.vc import BallObstruction

LARGEST = 1e150  # the largest coordinate, so that squares do not overflow
PASSES = 100  # maximum number of passes of the perceptron before other methods are tried
RTOL = 1e-6  # relative tolerance of margins
FLAT = 1e-2  # if c is below this, the best plane may be vertical (c = 0), which gives a line


def fit_circle(
    points: ArrayLike, labels: ArrayLike, largest_margin: bool = False, inside: object = None
) -> Circle | HalfSpace | Outside | NoCircle:
    """Return a circle with all points of one class inside and all others outside, in any dimension.

    The points are lifted to (x, |x|^2), where circles become planes, and a perceptron searches for a plane. If it does
    not converge, a search for the largest margin and exact arithmetic decide whether there is one. A plane gives a
    circle only if its weight for |x|^2 is negative. To enforce this sign, a negative example is added, at infinity in
    the direction of |x|^2. The random order of the points is fixed, so equal input gives equal results.

    Results are exact for the given floating-point coordinates: a shape has every point strictly on its correct side,
    and a `NoCircle` has a proof.

    Parameters
    ----------
    points : array of shape (n, d)
        One row per point. A number that float64 would round raises a ValueError.
    labels : array of n labels
        Labels of two classes, or of more if ``inside`` is given.
    largest_margin : bool, default=False
        Whether to find the plane of largest margin instead of any plane. The margin is measured after the lift to (u,
        |u|^2). Here u is a shifted and scaled point: the centre of the bounding box of all points becomes the origin,
        and the largest norm becomes 1.
    inside : label, default=None
        The class that the circle should contain, against all other classes. None means the second label in sorted
        order.

    Returns
    -------
    Circle
        The circle contains exactly the points of the class; see ``center`` and ``radius``. If there is only one class,
        it contains all points.
    HalfSpace
        A half-space is the limit of circles that grow without bound. With ``largest_margin`` it is returned if the
        margin keeps increasing as the circle grows. Without ``largest_margin`` it is returned only if all separating
        circles are so large that floating point cannot distinguish them from a line.
    Outside
        No circle contains exactly the class, but a circle contains exactly the other points. The attribute ``reason``
        proves that no circle contains exactly the class.
    NoCircle
        None of these shapes separates the points, and a few points prove it.

    Notes
    -----
    If a line separates the classes, so do large circles on either side of it. Otherwise, either all separating planes
    give circles around the class, or all give circles around the other points. A proof takes seconds in 50 dimensions,
    and the time grows fast with the number of dimensions.

    See Also
    --------
    circle_from_plane : Convert a plane learned by a linear model into its shape.

    Examples
    --------
    >>> from rosenblatt import data
    >>> from rosenblatt import fit_circle
    >>> X, y = data.make_circle(2000, radius=2.0, center=[5, 1], gap=0.1, random_state=0)
    >>> circle = fit_circle(X, y, largest_margin=True)
    >>> circle.center.round(1), round(circle.radius, 1)
    (array([5., 1.]), 2.0)
    >>> bool((circle.contains(X) == (y == 1)).all())
    True

    The corners of a square and its midpoint. A circle contains only the midpoint, but no circle contains only the
    corners:

    >>> fit_circle([[0, 0], [0, 2], [2, 0], [2, 2], [1, 1]], [1, 1, 1, 1, 0], largest_margin=True)
    Outside of the circle with centre (1, 1) and radius 1: the positives are outside, since the plane has c < 0. No
    circle contains only them: rows 0, 3, 4 prove it.
    """
    X, positive = _checked(points, labels, inside)
    lifted = LiftedPoints(X, positive)
    if positive.all():
        return Circle(lifted.middle, 1.25 * lifted.size)
    if largest_margin and (widest := _widest(lifted)) is not None:
        return widest
    held = _hold(lifted)
    if not isinstance(held, BallObstruction):
        return held
    if held.inside_height == held.outside_height:
        return NoCircle(held)
    others = _hold(LiftedPoints(X, ~positive))
    if isinstance(others, BallObstruction):  # no plane with c > 0 or c < 0 separates, so no plane does
        either = LiftedPoints(X, positive, upward=False)
        weights = _exact_answer(either, gordan(either.rows))
        assert isinstance(weights, dict)
        return NoCircle(_obstruction(lifted, weights))
    assert isinstance(others, Circle)  # if a line separated, a circle would contain the class
    return Outside(others.center, others.radius, held)


def _checked(points: ArrayLike, labels: ArrayLike, inside: object) -> tuple[Floats, NDArray[np.bool_]]:
    """Return (X, positive): the validated points, and a mask of the points in the class ``inside``."""
    X = check_array(unrounded_points(points), dtype=np.float64, order="C", input_name="points")
    largest = float(np.abs(X).max())
    if largest > LARGEST:
        raise ValueError(
            f"coordinates are squared, so they must be at most {LARGEST:g}, got {largest:g}: scale them down."
        )
    y = check_labels(labels, len(X))
    classes = np.unique(y)
    if inside is None:
        if len(classes) > 2:
            raise ValueError(
                f"expected two classes, got {len(classes)}: choose the one inside, as in "
                f"inside={classes.tolist()[-1]!r}."
            )
        inside = positive_label(classes)
    positive = signs_of(y, inside) > 0
    if not positive.any():
        found = ", ".join(repr(label) for label in classes.tolist()[:5])
        raise ValueError(
            f"no point has the label of the class inside{'' if inside is None else f', {inside!r}'}: the labels are "
            f"{found}; give one of them as inside=."
        )
    return X, positive


def _hold(lifted: LiftedPoints) -> Circle | HalfSpace | BallObstruction:
    """Return a circle or half-plane that contains exactly the positive points, or a proof that no circle does."""
    if (circle := _float_circle(lifted, _perceptron_plane(lifted))) is not None:
        return circle
    answer = gordan(lifted.rows)  # exact only for the rounded rows, so its plane is checked on the points
    if (circle := _float_circle(lifted, answer.v if isinstance(answer, Solvable) else None)) is not None:
        return circle
    plane = _exact_answer(lifted, answer)
    if isinstance(plane, dict):
        return _obstruction(lifted, plane)
    if (circle := _float_circle(lifted, plane)) is not None:
        return circle
    line, _ = _best_line(lifted, "The circles that separate are so large that floats cannot tell them from a line.")
    return line or _exact_circle(lifted, plane)


def _perceptron_plane(lifted: LiftedPoints) -> Floats | None:
    """Return the plane (a, -c, b) that a perceptron finds, or None if it does not converge."""
    Z, y = lifted.rows.copy(), np.ones(len(lifted.rows))
    Z[-1], y[-1] = -Z[-1], -1.0  # the last row is negated and labelled -1, since the learner expects two classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # other methods follow
        model = AveragedPerceptron(max_iter=PASSES, fit_intercept=False, random_state=0).fit(Z, y)
    return model.last_coef_[0] if model.converged_ else None


def _float_circle(lifted: LiftedPoints, v: Numbers | list[int] | None) -> Circle | None:
    """Return the floating-point circle that corresponds to the plane v, or None if it does not separate the points."""
    if v is None:
        return None
    exact, square = lifted.ball(v)
    center = np.array([to_float(value) for value in exact])
    if square <= 0 or center.dtype == object:
        return None
    circle = Circle(center, to_float(root(square)))
    if _separates(circle, lifted):
        return circle
    farthest, nearest = _gap(lifted, center)  # the centre was rounded, so another radius may fit better
    circle = Circle(center, to_float(root((farthest + nearest) / 2)))
    return circle if _separates(circle, lifted) else None


def _exact_circle(lifted: LiftedPoints, v: Numbers | list[int]) -> Circle:
    """Return the circle that corresponds to the separating plane v, with the center and the radius as Fractions."""
    exact, square = lifted.ball(v)
    center = np.array(exact, dtype=object)
    farthest, _ = _gap(lifted, center)
    bits = 64
    while root(square, bits) ** 2 <= farthest:
        bits *= 2
    return Circle(center, root(square, bits))


def _best_line(lifted: LiftedPoints, reason: str) -> tuple[HalfSpace | None, float]:
    """Return (line, bound): the line of largest margin, and an upper bound on the margin of any line.

    The line is None if its floating-point coefficients do not separate the points.
    """
    bracket = dataset_margin(lifted.scaled, lifted.positive, kind="geometric", rtol=RTOL)
    if not bracket.low > 0 or bracket.w.dtype == object:
        return None, bracket.high
    w = bracket.w / lifted.size  # w . (x - middle) / size + b
    line = HalfSpace(w, bracket.b - float(w @ lifted.middle), reason)
    return (line if _separates(line, lifted) else None), bracket.high


def _widest(lifted: LiftedPoints) -> Circle | HalfSpace | Outside | None:
    """Return the shape of the separating plane of largest margin; planes with c < 0 count only if no other separates.

    The margin is a concave function of the plane. So if the best of all planes has c < 0, the best plane with c >= 0
    has c = 0. That plane is the best line, if a line separates the points. The result is None if no floating-point
    shape separates the points, or if no separating plane was found.
    """
    signed = lifted.rows[:-1]
    X, positive = lifted.X, lifted.positive
    bracket = dataset_margin(signed[:, :-1] * signed[:, -1:], positive, kind="geometric", rtol=RTOL)
    if not bracket.low > 0:
        return None
    v, c = np.append(bracket.w, bracket.b), -bracket.w[-1]
    if c <= FLAT:
        line, margin = _best_line(lifted, "The larger the circle, the larger its margin, and this is the limit.")
        if line is not None and (c <= 0 or margin >= bracket.low):
            return line
    if c > 0:
        return _float_circle(lifted, v)
    held = _hold(lifted)
    if not isinstance(held, BallObstruction):
        return held
    circle = _float_circle(LiftedPoints(X, ~positive), -v)
    return None if circle is None else Outside(circle.center, circle.radius, held)


def _separates(shape: Shape, lifted: LiftedPoints) -> bool:
    return np.array_equal(shape.sides(lifted.X), np.where(lifted.positive, 1, -1))


def _gap(lifted: LiftedPoints, center: Numbers) -> tuple[Fraction, Fraction]:
    """Return the exact squared distances from the center to the farthest positive and to the nearest negative point."""
    distance = squared_distances(lifted.X, center)
    inside, outside = np.flatnonzero(lifted.positive), np.flatnonzero(~lifted.positive)
    return max(map(distance, inside.tolist())), min(map(distance, outside.tolist()))


def _exact_answer(rows: ExactRows, hint: Solvable | Unsolvable | None) -> list[int] | dict[int, int]:
    """Return a plane v with z . v > 0 for all rows z, or weights with sum alpha_i z_i = 0 (Gordan's theorem).

    The weights are returned as a dictionary from row indices to integers.

    ``hint`` is the solution for the rounded rows; it is used only as a starting point.
    """
    answer = exact_search(rows, hint.support.tolist() if isinstance(hint, Unsolvable) else [0], most_work=math.inf)
    assert answer is not None  # there is no work limit
    found, weights = answer
    return found if weights is None else dict(zip(found, weights, strict=True))


def _obstruction(lifted: LiftedPoints, weights: dict[int, int]) -> BallObstruction:
    """Return the proof that no ball contains exactly the positives; the signed rows, times ``weights``, sum to 0."""
    rows = {row: tuple(map(Fraction, lifted.X[row].tolist())) for row in sorted(weights) if row < len(lifted.X)}
    total = sum(weights[row] for row in rows if lifted.positive[row])
    inside, outside = (
        {row: Fraction(weights[row], total) for row in rows if lifted.positive[row] == held} for held in (True, False)
    )
    return BallObstruction.from_weights(rows, inside, outside)
