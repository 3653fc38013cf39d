"""fit_circle: planted spheres, every small case against an exact twin, lines, outsides, proofs, hard numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.point_sets import some
from rosenblatt import Perceptron, data
from rosenblatt.circles.fitting import fit_circle
from rosenblatt.circles.shapes import Circle, HalfSpace, NoCircle, Outside, circle_from_plane
from rosenblatt.features import SphereLift
from rosenblatt.theory import vc
from rosenblatt.theory.separability import dataset_margin, margin

SQUARE = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
CROSS = [0, 1, 1, 0]  # opposite corners of the square


def in_order(shape, points, inside):
    """Say whether every point is strictly on its side, decided in fractions and with nothing of the library."""
    inside = np.asarray(inside, dtype=bool)
    for point, positive in zip(np.asarray(points, dtype=float).tolist(), inside.tolist(), strict=True):
        x = [Fraction(value) for value in point]
        if isinstance(shape, HalfSpace):
            value = Fraction(shape.b) + sum(Fraction(w) * v for w, v in zip(shape.w.tolist(), x, strict=True))
        else:
            center = [Fraction(value) for value in shape.center.tolist()]
            value = Fraction(shape.radius) ** 2 - sum((v - m) ** 2 for v, m in zip(x, center, strict=True))
            value = -value if isinstance(shape, Outside) else value
        if not (value > 0 if positive else value < 0):
            return False
    return np.array_equal(shape.contains(points), inside)


# what is planted comes back


@pytest.mark.parametrize("largest_margin", [False, True])
@pytest.mark.parametrize(("d", "gap"), [(2, 0.1), (2, 1e-4), (3, 0.1), (3, 1e-3), (10, 0.1), (10, 0.01)])
def test_planted_spheres_are_separated(d, gap, largest_margin):
    center = np.arange(d) - 2.5
    X, y = data.make_circle(400, d=d, radius=2.0, center=center, gap=gap, random_state=d)
    circle = fit_circle(X, y, largest_margin)
    assert isinstance(circle, Circle)
    assert in_order(circle, X, y == 1)


# every small case, against the exact answers of vc


labelled = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(st.tuples(*[st.integers(0, 4)] * d), st.booleans()), min_size=1, max_size=8).filter(
        lambda rows: any(inside for _, inside in rows)
    )
)


@some
@given(labelled, st.sampled_from([(1, 0), (0.1, 0), (0.1, 1e6), (1e-200, 0)]), st.booleans())
def test_the_answer_is_the_right_one_of_four(rows, frame, largest_margin):
    """A circle if one holds the positives, else an outside if one holds the others, else a proof that there is neither.

    On grids points are often collinear, cocircular and equal, and in tenths, far from the origin, nearly so.
    """
    points, inside = np.array([point for point, _ in rows]) * frame[0] + frame[1], [side for _, side in rows]
    held, others = (np.flatnonzero(np.array(inside) == side).tolist() for side in (True, False))
    circle, outside = (vc.why_not(points, side, "discs") is None for side in (held, others))
    answer = fit_circle(points, inside, largest_margin, inside=True)
    if circle:
        assert isinstance(answer, Circle | HalfSpace)
        assert in_order(answer, points, inside)
    elif outside:
        assert isinstance(answer, Outside)
        assert in_order(answer, points, inside)
        assert answer.reason.check(points)
    else:
        assert isinstance(answer, NoCircle)
        assert answer.check(points, inside)
    if isinstance(answer, HalfSpace):
        assert vc.why_not(points, held, "halfspaces") is None


def test_where_a_line_separates_the_circle_is_still_found():
    """The plain perceptron on lifted points ends with the outside of a circle here."""
    points, labels = [[0, 0], [0, 1]], [0, 1]
    model = Perceptron(shuffle=False).fit(SphereLift().fit_transform(points), labels)
    assert isinstance(circle_from_plane(model.coef_[0], model.intercept_[0]), Outside)
    circle = fit_circle(points, labels)
    assert isinstance(circle, Circle)
    assert in_order(circle, points, [False, True])


# the outside


def test_outside_says_so_and_why():
    points = [*(SQUARE * 2).tolist(), [1, 1]]
    labels = ["out", "out", "out", "out", "in"]
    assert isinstance(fit_circle(points, labels, inside="in"), Circle)
    answer = fit_circle(points, labels)  # "out" is the second in sorted order
    assert isinstance(answer, Outside)
    assert in_order(answer, points, [True] * 4 + [False])
    assert "the positives are outside, since the plane has c < 0." in str(answer)
    assert "No circle contains only them: rows 0, 3, 4 prove it." in str(answer)
    widest = fit_circle(points, labels, largest_margin=True)
    assert (widest.center.tolist(), widest.radius) == ([1, 1], 1)


def test_no_circle_and_no_outside():
    answer = fit_circle(SQUARE, CROSS)
    assert isinstance(answer, NoCircle)
    assert answer.check(SQUARE, CROSS)
    assert str(answer).startswith("No circle, no line and no outside of a circle separates these points: 4 of them")
    tenths = np.array([[0.1, 0.1], [0.1, 0.3], [0.3, 0.1], [0.3, 0.3]])  # cocircular, though their squares are rounded
    assert isinstance(fit_circle(tenths, CROSS), NoCircle)
    line = [[0], [1], [2], [3]]
    assert str(fit_circle(line, [1, 0, 1, 0])).startswith("No interval, no half-line and no outside of an interval")
    assert str(fit_circle([[3, 3], [3, 3]], [0, 1])).endswith(
        "a weighted mean of row 1 equals a weighted mean of row 0."
    )


@pytest.mark.parametrize(("d", "n"), [(2, 300), (3, 300), (10, 200)])
@pytest.mark.parametrize("largest_margin", [False, True])
def test_noise_is_proved_by_few_points(d, n, largest_margin):
    rng = np.random.default_rng(d)
    points, labels = rng.standard_normal((n, d)), rng.integers(0, 2, n)
    answer = fit_circle(points, labels, largest_margin)
    assert isinstance(answer, NoCircle)
    assert answer.check(points, labels)
    assert len(answer.proof.inside + answer.proof.outside) <= d + 3


# the largest margin, and the line


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("scale", "away"), [(1, 0), (1e-3, 50)])
def test_the_largest_margin_is_that_of_the_scaled_and_lifted_points(seed, scale, away):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((8, 2)) * scale + away
    labels = (
        np.where(points @ rng.standard_normal(2) > away * 0.5, 1, -1) if seed % 2 else rng.integers(0, 2, 8) * 2 - 1
    )
    labels[:2] = 1, -1
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = points - (low + high) / 2
    size = np.sqrt((scaled**2).sum(axis=1).max())
    scaled = scaled / size
    lifted = SphereLift().fit_transform(scaled)
    best, line = dataset_margin(lifted, labels), dataset_margin(scaled, labels)
    answer = fit_circle(points, labels, largest_margin=True)
    if best.low == -np.inf:
        assert isinstance(answer, NoCircle)
        return
    assert in_order(answer, points, labels == 1)
    if isinstance(answer, HalfSpace):
        assert best.w[-1] >= 0, "no circle has the largest margin"
        assert np.isclose(margin(points, labels, answer.w, answer.b), line.low * size, rtol=1e-6)
        return
    assert isinstance(answer, Circle) == (best.w[-1] < 0)
    center, radius = (answer.center - (low + high) / 2) / size, answer.radius / size
    plane = np.array([*(2 * center), -1]) * (-1 if isinstance(answer, Outside) else 1)
    bias = (radius**2 - center @ center) * (-1 if isinstance(answer, Outside) else 1)
    assert np.isclose(margin(lifted, labels, plane, bias), best.low, rtol=1e-5)


ON_A_CIRCLE = np.array([[np.cos(angle), np.sin(angle)] for angle in np.arange(8) * np.pi / 4])
RIGHT = ON_A_CIRCLE[:, 0] > 0.1


@pytest.mark.parametrize("inside", [RIGHT, ~RIGHT])
@pytest.mark.parametrize(("scale", "away"), [(1, 0), (0.7, 0.3), (1.3, -11.7)])
def test_points_on_a_circle_are_separated_by_a_line_at_best(inside, scale, away):
    """They all have the same height when they are lifted, so the best plane is upright: c = 0, but for rounding."""
    points = ON_A_CIRCLE * scale + away
    answer = fit_circle(points, inside, largest_margin=True)
    assert isinstance(answer, HalfSpace)
    assert in_order(answer, points, inside)
    assert str(answer).endswith("The larger the circle, the larger its margin, and this is the limit.")
    assert isinstance(fit_circle(points, inside), Circle)


def test_points_nearly_on_a_circle():
    """A class that lies a little lower than the other is held by a circle, large as it is; the other by a line."""
    points = np.where(RIGHT[:, None], 0.998, 1.0) * ON_A_CIRCLE
    circle = fit_circle(points, RIGHT, largest_margin=True)
    assert isinstance(circle, Circle)
    assert in_order(circle, points, RIGHT)
    assert circle.radius > 50
    assert isinstance(fit_circle(points, ~RIGHT, largest_margin=True), HalfSpace)


# hard numbers


def test_circles_too_large_for_floats_are_a_line():
    """A circle of a radius of 5e11 passes between the points; its center cannot be told to 1e-12."""
    points = [[-1, 0], [1, 0], [0, 1e-12]]
    answer = fit_circle(points, [1, 1, 0])
    assert isinstance(answer, HalfSpace)
    assert in_order(answer, points, [True, True, False])
    assert str(answer).endswith("so large that floats cannot tell them from a line.")


def test_where_no_floats_separate_fractions_do():
    """Tenths around 1e6 are rounded, and only by that no longer on a circle: only just separable."""
    points = np.array([[4, 2], [1, 1], [3, 0], [2, 3], [3, 3]]) * 0.1 + 1e6
    inside = np.array([False, True, True, False, True])
    outside = fit_circle(points, inside)
    assert isinstance(outside, Outside)
    assert isinstance(outside.radius, Fraction)
    assert in_order(outside, points, inside)
    circle = fit_circle(points, ~inside, largest_margin=True)
    assert isinstance(circle, Circle)
    assert in_order(circle, points, ~inside)
    assert str(circle).startswith("Circle with centre (1000000.25, 1000000.15) and radius 0.158114")


@pytest.mark.parametrize("largest_margin", [False, True])
@pytest.mark.parametrize("away", [1e6, -1e9, 1e12])
def test_points_far_from_the_origin(away, largest_margin):
    points = np.vstack([SQUARE * 2, [[1, 1]]]) + away
    circle = fit_circle(points, [0, 0, 0, 0, 1], largest_margin)
    assert isinstance(circle, Circle)
    assert in_order(circle, points, [False] * 4 + [True])
    assert np.abs(circle.center - away - 1).max() < 0.5


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-9, 1e9, 1e150])
def test_points_of_any_size(scale):
    points = np.vstack([SQUARE, [[0.5, 0.5]]]) * scale
    circle = fit_circle(points, [0, 0, 0, 0, 1])
    assert isinstance(circle, Circle)
    assert in_order(circle, points, [False] * 4 + [True])


# few points, equal points, one class


def test_equal_and_collinear_points():
    twice = fit_circle([[3, 3], [3, 3], [4, 4], [4, 4]], [1, 1, 0, 0])
    assert isinstance(twice, Circle)
    assert in_order(twice, [[3, 3], [4, 4]], [True, False])
    assert twice.radius > 0
    diagonal = [[0, 0], [1, 1], [2, 2]]
    assert in_order(fit_circle(diagonal, [0, 1, 0]), diagonal, [False, True, False])
    assert isinstance(fit_circle(diagonal, [1, 0, 1]), Outside)


def test_in_one_dimension_it_is_an_interval():
    circle = fit_circle([[0], [1], [2]], [0, 1, 0])
    assert in_order(circle, [[0], [1], [2]], [False, True, False])
    assert str(circle).startswith("Interval with centre (1) and radius")


@pytest.mark.parametrize("largest_margin", [False, True])
@pytest.mark.parametrize("labels", [[1, 1, 1], ["a", "a", "a"], [True, True, True]])
def test_one_class_gets_a_circle_around_it(labels, largest_margin):
    points = [[0, 0], [2, 0], [1, 7]]
    circle = fit_circle(points, labels, largest_margin)
    assert isinstance(circle, Circle)
    assert in_order(circle, points, [True] * 3)
    assert in_order(fit_circle([[5, 5]] * 3, labels), [[5, 5]], [True])


def test_which_class_is_held():
    points, names = [[0, 0], [5, 0], [9, 0]], ["a", "b", "c"]
    circle = fit_circle(points, names, inside="b")
    assert in_order(circle, points, [False, True, False])


def test_equal_input_gives_an_equal_answer():
    X, y = data.make_circle(300, gap=0.01, random_state=0)
    first, second = fit_circle(X, y), fit_circle(X.copy(), y == 1)
    assert first.center.tolist() == second.center.tolist()
    assert first.radius == second.radius


def test_input_that_cannot_be_meant():
    for points, labels, words in (
        ([[np.nan, 0], [1, 1]], [0, 1], "points contains NaN"),
        ([[np.inf, 0], [1, 1]], [0, 1], "points contains infinity"),
        (np.zeros((0, 2)), [], r"Found array with 0 sample\(s\)"),
        (np.zeros((2, 0)), [0, 1], r"Found array with 0 feature\(s\)"),
        ([1, 2], [0, 1], "Expected 2D array"),
        ([[1, 2], [3, 4]], [0, 1, 1], "expected one label for each of the 2 rows"),
        ([[1e200, 0], [0, 0]], [0, 1], r"must be at most 1e\+150, got 1e\+200: scale them down"),
        ([[0], [5], [9]], ["a", "b", "c"], r"expected two classes, got 3: choose the one inside, as in inside='c'\."),
        ([[0], [5], [9]], [0, 0, 0], "no point has the label of the class inside: the labels are 0; give one"),
    ):
        with pytest.raises(ValueError, match=words):
            fit_circle(points, labels)
    with pytest.raises(ValueError, match=r"label of the class inside, 'd': the labels are 'a', 'b', 'c'"):
        fit_circle([[0], [5], [9]], ["a", "b", "c"], inside="d")
