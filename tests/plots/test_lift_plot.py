"""Lifted points in space, the plane that separates them, and the circle below."""

from unittest.mock import Mock

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import Outside, Perceptron, SphereLift, fit_circle
from rosenblatt.data import make_circle
from rosenblatt.plots import plot_lift

X, Y = make_circle(60, radius=2.0, center=[1, 1], gap=0.4, random_state=0)
SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]


def axes():
    ax = Figure(layout="constrained").add_subplot(projection="3d")
    ax.plot_surface = Mock(wraps=ax.plot_surface)
    return ax


def curve(ax, start):
    (line,) = [line for line in ax.get_lines() if line.get_label().startswith(start)]
    return np.array(line.get_data_3d()).T


def plane(ax):
    """Return places of the surface that was drawn."""
    return np.column_stack([np.ravel(part) for part in ax.plot_surface.call_args.args])


@pytest.mark.parametrize("as_model", [False, True])
def test_the_plane_cuts_the_paraboloid_above_the_circle(as_model):
    model = make_pipeline(SphereLift(), Perceptron(max_iter=100_000, random_state=0)).fit(X, Y)
    shape = fit_circle(X, Y, largest_margin=True)
    ax = plot_lift(model if as_model else shape, X, Y, axes())
    ellipse, below = curve(ax, "the ellipse"), curve(ax, "the circle")
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
    ax.figure.canvas.draw()


def test_lifted_points_lie_on_the_paraboloid_and_keep_their_classes():
    ax = plot_lift(fit_circle(X, Y), X, Y, axes())
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"the plane", "the paraboloid"} <= set(names)
    for label in (-1, 1):
        own = X[np.equal(Y, label)]
        (marks,) = [part for part in ax.collections if part.get_label() == f"{label} ({len(own)}), lifted"]
        x1, x2, height = marks._offsets3d
        np.testing.assert_array_equal(np.column_stack([x1, x2]), own)
        np.testing.assert_allclose(height, (own**2).sum(axis=1))


def test_a_line_has_an_upright_plane():
    points, labels = [[0, 0], [0, 1], [3, 0], [3, 1]], ["b", "b", "a", "a"]
    ax = plot_lift(fit_circle(points, labels, largest_margin=True), points, labels, axes())
    np.testing.assert_allclose(plane(ax)[:, 0], 1.5)
    np.testing.assert_allclose(curve(ax, "the line")[:, 0], 1.5)
    parabola = curve(ax, "the parabola")
    np.testing.assert_allclose(parabola[:, 2], 2.25 + parabola[:, 1] ** 2)
    assert ax.get_title() == "An upright plane cuts the lifted points as a line cuts them below"
    ax.figure.canvas.draw()


def test_where_there_is_no_circle_the_mixes_meet():
    labels = [0, 1, 1, 0]
    ax = plot_lift(fit_circle(SQUARE, labels), SQUARE, labels, axes())
    np.testing.assert_allclose(curve(ax, "one point of both"), [[0.5, 0.5, 1.0]])
    np.testing.assert_allclose(curve(ax, "to a mix of rows 1, 2")[1], [0.5, 0.5, 1.0])
    np.testing.assert_allclose(curve(ax, "to a mix of rows 0, 3")[1], [0.5, 0.5, 1.0])
    ax.figure.canvas.draw()


def test_the_outside_of_a_large_circle_and_one_point_of_each_class():
    for shape in (Outside([0, 0], 1), Outside([-50, 0], 50.5)):
        plot_lift(shape, [[0, 0], [2, 1]], [0, 1], axes()).figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match=r"Axes of three dimensions, got plain ones"):
        plot_lift(fit_circle(X, Y), X, Y, Figure().subplots())
    scaled = make_pipeline(SphereLift(), StandardScaler(), Perceptron(max_iter=100_000, random_state=0)).fit(X, Y)
    with pytest.raises(ValueError, match="needs a model of the three features"):
        plot_lift(scaled, X, Y)
    with pytest.raises(ValueError, match="needs a model of the three features"):
        plot_lift(Perceptron().fit([[0, 0], [3, 3]], [0, 1]), X, Y)
    with pytest.raises(TypeError, match="expected a fitted linear model"):
        plot_lift("circle", X, Y)
