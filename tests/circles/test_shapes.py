"""Circles, outsides and lines: exact sides, words, and the way back from a plane."""

from dataclasses import replace
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

tenths = st.integers(-30, 30).map(lambda value: value / 10)  # sums of such squares are where floats go wrong
point = st.tuples(tenths, tenths)
points = st.lists(point, min_size=1, max_size=10)


def sign(value):
    return (value > 0) - (value < 0)


@some
@given(points, point, st.integers(1, 40).map(lambda value: value / 10))
def test_sides_of_a_circle_are_those_of_its_numbers_as_stored(rows, center, radius):
    exact = [
        sign(Fraction(radius) ** 2 - sum((Fraction(x) - Fraction(m)) ** 2 for x, m in zip(row, center, strict=True)))
        for row in rows
    ]
    circle, outside = Circle(center, radius), Outside(center, radius)
    assert circle.sides(rows).tolist() == exact
    assert circle.contains(rows).tolist() == [side > 0 for side in exact]
    assert circle.on_boundary(rows).tolist() == outside.on_boundary(rows).tolist() == [side == 0 for side in exact]
    assert outside.contains(rows).tolist() == [side < 0 for side in exact]
    in_fractions = Circle(np.array([Fraction(value) for value in center], dtype=object), Fraction(radius))
    assert in_fractions.sides(rows).tolist() == exact


@some
@given(points, point, tenths)
def test_sides_of_a_line_are_those_of_its_numbers_as_stored(rows, w, b):
    exact = [sign(Fraction(b) + sum(Fraction(x) * Fraction(v) for x, v in zip(row, w, strict=True))) for row in rows]
    line = HalfSpace(w, b)
    assert line.sides(rows).tolist() == exact
    assert line.contains(rows).tolist() == [side > 0 for side in exact]


GRID = [(0.1 * i, 0.1 * j) for i in range(-15, 16) for j in range(-15, 16)]


def test_sides_where_floats_are_wrong():
    """On a grid of tenths many points lie on a circle or a line, or would if tenths were not rounded."""
    for radius in (0.5, 1.0, 1.3):
        exact = [sign(Fraction(radius) ** 2 - (Fraction(x) - Fraction(0.1)) ** 2 - Fraction(y) ** 2) for x, y in GRID]
        assert [sign(radius**2 - ((x - 0.1) ** 2 + y**2)) for x, y in GRID] != exact
        assert Circle([0.1, 0], radius).sides(GRID).tolist() == exact
    exact = [sign(Fraction(0.3) * Fraction(x) + Fraction(0.7) * Fraction(y) - Fraction(0.1)) for x, y in GRID]
    assert [sign(0.3 * x + 0.7 * y - 0.1) for x, y in GRID] != exact
    assert HalfSpace([0.3, 0.7], -0.1).sides(GRID).tolist() == exact


def test_the_boundary_is_in_no_class():
    on_it, near = [[3, 4], [-5, 0]], [[np.nextafter(5, 6), 0], [np.nextafter(5, 0), 0]]
    circle, outside = Circle([0, 0], 5), Outside([0, 0], 5)
    assert circle.on_boundary(on_it).all()
    assert not circle.contains(on_it).any()
    assert not outside.contains(on_it).any()
    assert circle.contains(near).tolist() == [False, True]


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e160, 1e200])
def test_squares_that_overflow_or_vanish(scale):
    circle = Circle([0, 0], 5 * scale)
    assert circle.sides([[4 * scale, 0], [6 * scale, 0], [5 * scale, 0]]).tolist() == [1, -1, 0]
    line = HalfSpace([scale, -scale], 0)
    assert line.sides([[4 * scale, 3 * scale], [3 * scale, 4 * scale], [scale, scale]]).tolist() == [1, -1, 0]


def test_words():
    assert str(Circle([1, 2], 3)) == repr(Circle([1, 2], 3))
    assert str(Circle([1, 2], 3)) == "Circle with centre (1, 2) and radius 3: the positives are inside."
    assert str(Circle([1, 2, 3], 0.5)).startswith("Sphere with centre (1, 2, 3)")
    assert str(Circle(range(10), 1)).startswith("Ball in 10 dimensions with centre (0, 1, 2, 3, 4, 5, ...)")
    assert str(Circle([1], 1)).startswith("Interval with centre (1) and")
    assert str(Circle([1e6 + 0.25, 0], 0.5)).startswith("Circle with centre (1000000.25, 0)"), "digits below the radius"
    assert "radius 1.00000e+400" in str(Circle([Fraction(10) ** 400], Fraction(10) ** 400))
    assert str(Outside([0, 0], 2)).startswith(
        "Outside of the circle with centre (0, 0) and radius 2: the positives are outside"
    )
    assert (
        str(HalfSpace([-0.0, 1], -2)) == "Half-plane w . x + b > 0 with w = (0, 1) and b = -2: its boundary is a line."
    )
    assert str(HalfSpace([1, 1, 1], 0)).endswith("its boundary is a plane.")
    assert str(HalfSpace([1], 0, "So it is.")).endswith("its boundary is a point. So it is.")


@some
@given(points, st.tuples(tenths, tenths), st.sampled_from([-2.0, -0.3, 0.0, 0.1, 1.0]), tenths)
def test_the_shape_of_a_plane_is_what_it_has_below(rows, a, last, b):
    w = np.array([*a, last])
    try:
        shape = circle_from_plane(w, b)
    except ValueError:
        shape = None
    exact = []
    for row in rows:
        x = [Fraction(value) for value in row]
        exact.append(sum(Fraction(v) * z for v, z in zip(w, [*x, sum(z * z for z in x)], strict=True)) + Fraction(b))
    if shape is None:  # everything on one side
        assert min(exact) >= 0 or max(exact) <= 0
        return
    assert type(shape) is (Circle if last < 0 else Outside if last > 0 else HalfSpace)
    for value, side in zip(exact, shape.sides(rows).tolist(), strict=True):
        assert side == sign(value) or abs(value) < 1e-12, "but for points so near that rounding the center moves them"


def test_the_circle_of_a_model():
    X, y = data.make_circle(200, center=[5, 1], radius=2, random_state=0)
    model = Perceptron(random_state=0, max_iter=10_000).fit(SphereLift().fit_transform(X), y)
    circle = circle_from_plane(model.coef_[0], model.intercept_[0])
    assert isinstance(circle, Circle)
    assert (circle.contains(X) == (y == 1)).all()


def test_planes_beyond_the_floats_stay_fractions():
    circle = circle_from_plane([1.0, -5e-324], 0.0)
    assert circle.contains([[1.0], [1e300]]).all()
    assert not circle.contains([[-1.0]]).any()


def test_shapes_and_planes_that_cannot_be_meant():
    for words, make, *numbers in (
        ("no point is positive", circle_from_plane, [0, 0, -1], -1),
        ("every point, except perhaps one, is positive", circle_from_plane, [0, 0, 1], 0),
        ("all weights are zero", circle_from_plane, [0, 0, 0], 1),
        (r"the last for \|x\|\^2, got 1", circle_from_plane, [1], 1),
        ("w must be a list of finite numbers", circle_from_plane, [1, np.nan], 1),
        ("b must be a finite number", circle_from_plane, [1, 1], np.inf),
        ("radius must be above 0, got 0", Circle, [0, 0], 0),
        ("center must be a list", Outside, [[0, 0]], 1),
        ("rows of 2 numbers, one for each coordinate, got rows of 3", Circle([0, 0], 1).contains, [[1, 2, 3]]),
        ("w must be a list", HalfSpace, [], 1),
    ):
        with pytest.raises(ValueError, match=words):
            make(*numbers)


def test_a_proof_holds_only_for_its_points_and_labels():
    corners, labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    answer = fit_circle(corners, labels)
    assert isinstance(answer, NoCircle)
    assert answer.check(corners, labels)
    assert not answer.check(corners + [[0, 0], [0, 0], [0, 0], [0, 1]], labels)
    assert not answer.check(corners, [0, 1, 0, 1])
    assert not answer.check(corners, [1, 1, 1, 1])
    assert not answer.check(corners[:3], labels[:3])
    points, sides = [*(2 * corners).tolist(), [1, 1]], [1, 1, 1, 1, 0]
    reason = fit_circle(points, sides).reason
    assert reason.check(points)
    assert not NoCircle(reason).check(points, sides), "that no circle holds them does not mean that nothing separates"
    height = answer.proof.inside_height
    assert not NoCircle(replace(answer.proof, inside_height=height + 1)).check(corners, labels)
