"""The circle that was learned, or the proof that there is none, in the plane and lifted."""

from unittest.mock import Mock

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

from helpers.pictures import axes, legend
from rosenblatt import Circle, HalfSpace, Outside, Perceptron, SphereLift, fit_circle
from rosenblatt.data import make_circle
from rosenblatt.plots import plot_circle, plot_lift
from rosenblatt.plots.axes import BLUE, ORANGE
from rosenblatt.plots.circle import Edge

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
X, Y = make_circle(80, radius=2.0, center=[5, 1], gap=0.3, random_state=0)


def curves(ax):
    """Return the places of the boundary, and those of the two broken lines."""
    boundary = [line.get_xydata() for line in ax.get_lines() if line.get_linewidth() == 1.6]
    return boundary[0], [line.get_xydata() for line in ax.get_lines() if line.get_linewidth() == 1.0]


def tints(ax):
    return [to_hex(patch.get_facecolor()).upper() for patch in ax.patches]


def test_the_circle_passes_between_the_classes_and_broken_lines_touch_them():
    circle = fit_circle(X, Y, largest_margin=True)
    ax = plot_circle(circle, X, Y, axes())
    boundary, (inner, outer) = curves(ax)
    away = np.hypot(*(X - circle.center).T)
    np.testing.assert_allclose(np.hypot(*(boundary - circle.center).T), circle.radius)
    np.testing.assert_allclose(np.hypot(*(inner - circle.center).T), away[Y == 1].max())
    np.testing.assert_allclose(np.hypot(*(outer - circle.center).T), away[Y != 1].min())
    np.testing.assert_allclose(boundary[0], boundary[-1])  # the whole circle
    room = away[Y != 1].min() - away[Y == 1].max()
    assert ax.get_title().splitlines() == [
        f"Circle around 1: centre ({circle.center[0]:.3g}, {circle.center[1]:.3g}), radius {circle.radius:.3g}",
        f"gap of {room:.3g} between the classes",
    ]
    assert tints(ax)[0] == ORANGE
    assert tints(ax)[-1] == BLUE
    ax.figure.draw_without_rendering()


def test_a_circle_far_larger_than_the_picture_is_drawn_where_it_passes():
    points, labels = [[0.0, 0.0], [0.001, 1], [0, 2], [1, 1]], [1, 1, 1, 0]
    circle = Circle([-1e9, 1], 1e9 + 0.5)
    ax = plot_circle(circle, points, labels, axes())
    boundary, _ = curves(ax)
    low, high = ax.get_ylim()
    seen = boundary[(boundary[:, 1] > low) & (boundary[:, 1] < high)]
    assert len(seen) > 10
    np.testing.assert_allclose(seen[:, 0], 0.5, atol=1e-6)
    inside = Edge(circle).inside(np.array([0.5, 1.0]), 3.0)
    assert inside[:, 0].min() < -10 < inside[:, 0].max() < 1
    ax.figure.draw_without_rendering()


def test_a_line_has_its_class_on_its_side():
    points, labels = [[0, 0], [0, 1], [3, 0], [3, 1]], ["b", "b", "a", "a"]
    line = fit_circle(points, labels, largest_margin=True)
    assert isinstance(line, HalfSpace)
    ax = plot_circle(line, points, labels, axes())
    boundary, broken = curves(ax)
    np.testing.assert_allclose(boundary[:, 0], 1.5)
    assert sorted(float(curve[0, 0]) for curve in broken) == pytest.approx([0, 3])
    polygon = ax.patches[-1].get_xy()
    assert to_hex(ax.patches[-1].get_facecolor()).upper() == BLUE
    assert polygon[:, 0].max() == pytest.approx(1.5)
    assert ax.get_title() == "A line is the limit of the circles; gap of 3 between the classes"


def test_the_outside_of_a_circle_comes_with_its_proof():
    points, labels = [[0, 0], [0, 2], [2, 0], [2, 2], [1, 1]], [1, 1, 1, 1, 0]
    ax = plot_circle(fit_circle(points, labels, largest_margin=True), points, labels, axes())
    assert ax.get_title().startswith("Circle around all but 1: centre (1, 1), radius 1")
    assert tints(ax)[0] == BLUE
    assert tints(ax)[2] == ORANGE
    assert {"hull of rows 0, 3", "hull of row 4", "a mix of both"} <= {
        text.get_text() for text in ax.get_legend().get_texts()
    }


def test_why_there_is_no_circle_is_drawn_as_hulls_that_cross():
    labels = [0, 1, 1, 0]
    ax = plot_circle(fit_circle(SQUARE, labels), SQUARE, labels, axes())
    lines = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    assert {tuple(end) for end in lines["hull of rows 1, 2"]} == {(0, 1), (1, 0)}
    assert {tuple(end) for end in lines["hull of rows 0, 3"]} == {(0, 0), (1, 1)}
    np.testing.assert_allclose(lines["a mix of both"], [[0.5, 0.5]])
    assert {text.get_text() for text in ax.texts} == {"0", "1", "2", "3"}


def test_points_on_the_wrong_side_are_counted_and_there_is_no_room():
    ax = plot_circle(Circle([0, 0], 1), [[0, 0], [0.5, 0], [1, 0], [3, 0], [4, 0]], [1, 0, 1, 0, 0], axes())
    assert ax.get_title() == "Circle around 1: centre (0, 0), radius 1\n2 of 5 points on the wrong side"
    assert curves(ax)[1] == []


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_one_point_several_classes_and_any_scale(scale):
    alone = np.array([[5.0, 5.0]]) * scale
    plot_circle(fit_circle(alone, [1]), alone, [1], axes()).figure.draw_without_rendering()
    labels = np.where(Y == 1, "held", np.where(X[:, 0] > 5, "right", "left"))
    ax = plot_circle(fit_circle(X * scale, labels, inside="held"), X * scale, labels, axes())
    assert tints(ax) == ["#999999", "#FFFFFF", ORANGE]
    ax.figure.draw_without_rendering()


def test_outside_without_a_reason_has_no_proof():
    ax = plot_circle(Outside([0, 0], 2), [[0, 0], [3, 0]], [0, 1], axes())
    assert ax.get_title() == "Circle around all but 1: centre (0, 0), radius 2\ngap of 3 between the classes"


def test_the_title_names_what_is_held_with_a_true_minus():
    ax = plot_circle(Circle([-1, 0], 1), [[-1.0, 0.0], [3.0, 0.0]], ["in", "out"], axes())
    assert ax.get_title().splitlines()[0] == "Circle around in: centre (−1, 0), radius 1"
    many = [[0.0, i / 10] for i in range(4)]
    ax = plot_circle(Circle([0, 0], 1), [*many, [3.0, 0.0]], list("abcde"), axes())
    assert ax.get_title().startswith("Circle around 4 classes: ")


# Lifted points in space, the plane that separates them, and the circle below.


DISC, INSIDE = make_circle(60, radius=2.0, center=[1, 1], gap=0.4, random_state=0)
SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]


def axes_in_space():
    ax = Figure(layout="constrained").add_subplot(projection="3d")
    ax.plot_surface = Mock(wraps=ax.plot_surface)
    return ax


def curve_in_space(ax, start):
    (line,) = [line for line in ax.get_lines() if line.get_label().startswith(start)]
    return np.array(line.get_data_3d()).T


def plane(ax):
    """Return places of the surface that was drawn."""
    return np.column_stack([np.ravel(part) for part in ax.plot_surface.call_args.args])


@pytest.mark.parametrize("as_model", [False, True])
def test_the_plane_cuts_the_paraboloid_above_the_circle(as_model):
    model = make_pipeline(SphereLift(), Perceptron(max_iter=100_000, random_state=0)).fit(DISC, INSIDE)
    shape = fit_circle(DISC, INSIDE, largest_margin=True)
    ax = plot_lift(model if as_model else shape, DISC, INSIDE, axes_in_space())
    ellipse, below = curve_in_space(ax, "the ellipse"), curve_in_space(ax, "the circle")
    np.testing.assert_allclose(ellipse[:, 2], (ellipse[:, :2] ** 2).sum(axis=1))
    np.testing.assert_allclose(below[:, :2], ellipse[:, :2])
    assert np.ptp(below[:, 2]) == 0
    drawn = plane(ax)
    if as_model:
        w, b = model[-1].coef_[0], model[-1].intercept_[0]
    else:
        w = np.array([*(2 * shape.center), -1.0])
        b = shape.radius**2 - shape.center @ shape.center
    size = np.abs(w).max() * np.abs(drawn).max()
    np.testing.assert_allclose(drawn @ w + b, 0, atol=1e-9 * size)
    np.testing.assert_allclose(ellipse @ w + b, 0, atol=1e-9 * size)
    ax.figure.draw_without_rendering()


def test_lifted_points_lie_on_the_paraboloid_and_keep_their_classes():
    ax = plot_lift(fit_circle(DISC, INSIDE), DISC, INSIDE, axes_in_space())
    names = legend(ax)
    assert {"the plane", "the paraboloid"} <= set(names)
    for label in (-1, 1):
        own = DISC[np.equal(INSIDE, label)]
        (marks,) = [part for part in ax.collections if part.get_label() == f"{label} ({len(own)}), lifted"]
        x1, x2, height = marks._offsets3d
        np.testing.assert_array_equal(np.column_stack([x1, x2]), own)
        np.testing.assert_allclose(height, (own**2).sum(axis=1))


def test_a_line_has_an_upright_plane():
    points, labels = [[0, 0], [0, 1], [3, 0], [3, 1]], ["b", "b", "a", "a"]
    ax = plot_lift(fit_circle(points, labels, largest_margin=True), points, labels, axes_in_space())
    np.testing.assert_allclose(plane(ax)[:, 0], 1.5)
    np.testing.assert_allclose(curve_in_space(ax, "the line")[:, 0], 1.5)
    parabola = curve_in_space(ax, "the parabola")
    np.testing.assert_allclose(parabola[:, 2], 2.25 + parabola[:, 1] ** 2)
    assert ax.get_title() == "An upright plane cuts the lifted points as a line cuts them below"
    ax.figure.draw_without_rendering()


def test_where_there_is_no_circle_the_mixes_meet():
    labels = [0, 1, 1, 0]
    ax = plot_lift(fit_circle(SQUARE, labels), SQUARE, labels, axes_in_space())
    np.testing.assert_allclose(curve_in_space(ax, "one point of both"), [[0.5, 0.5, 1.0]])
    np.testing.assert_allclose(curve_in_space(ax, "to a mix of rows 1, 2")[1], [0.5, 0.5, 1.0])
    np.testing.assert_allclose(curve_in_space(ax, "to a mix of rows 0, 3")[1], [0.5, 0.5, 1.0])
    ax.figure.draw_without_rendering()


def test_the_outside_of_a_large_circle_and_one_point_of_each_class():
    for shape in (Outside([0, 0], 1), Outside([-50, 0], 50.5)):
        plot_lift(shape, [[0, 0], [2, 1]], [0, 1], axes_in_space()).figure.draw_without_rendering()
