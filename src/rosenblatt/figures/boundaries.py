"""The boundary and the weight vector, the data along it, and what the bias shifts (CIML figures 4.6, 4.7 and 4.8)."""

from __future__ import annotations

import numpy as np

from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import flowers
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.plane import plot_plane
from rosenblatt.plots.plane_lines import Line, draw_arrow, draw_line
from rosenblatt.plots.plane_parts import Frame, Regions, Rows, draw_legend, draw_regions, draw_rows
from rosenblatt.plots.projection import plot_projection


def sepals() -> tuple[np.ndarray, np.ndarray]:
    """Return the sepals of two kinds of iris, measured from their mean, so that no bias is needed."""
    X, y = flowers("setosa", "virginica", "sepal length", "sepal width")
    return X - X.mean(axis=0), y


def figure_4_6() -> Shown:
    """Learn without a bias, and draw w at a right angle to the boundary."""
    X, y = sepals()
    model = Perceptron(fit_intercept=False, random_state=2).fit(X, y)
    picture = blank(5, 3.9)
    ax = plot_plane(model, X, y, picture.subplots())
    ax.set(xlabel="sepal length − mean (cm)", ylabel="sepal width − mean (cm)")
    ax.set_title("The boundary is perpendicular to w", fontsize="medium")
    numbers = {
        "w": model.coef_[0].tolist(),
        "unit_w": unit_weights(model)[0].tolist(),
        "nearest": float(np.abs(distance(model, X)).min()),
        "updates": model.n_updates_,
        "passes": model.n_iter_,
    }
    caption = (
        "Setosa and virginica by their sepals, measured from the mean of all 100 flowers, and a perceptron without a "
        "bias. After {updates} updates in {passes} passes w = ({w[0]:.2f}, {w[1]:.2f}). The boundary is the line "
        "through the origin at a right angle to w, and w points to virginica, the positive class. Its length does not "
        "matter: ({unit_w[0]:.3f}, {unit_w[1]:.3f}), of length 1, has the same boundary. The nearest flower is "
        "{nearest:.3f} cm away; the hatched band is that wide on both sides."
    )
    return Shown(picture, caption, numbers)


def figure_4_7() -> Shown:
    """Draw the flowers of figure 4.6 with their feet on the line through w and, below, along that line alone."""
    X, y = sepals()
    model = Perceptron(fit_intercept=False, random_state=2).fit(X, y)
    picture = blank(5, 7.2)
    above, below = picture.subplots(2, height_ratios=[1.35, 1])
    plot_plane(model, X, y, above, projections=True)
    above.set(xlabel="sepal length − mean (cm)", ylabel="sepal width − mean (cm)")
    above.set_title("Projections onto w", fontsize="medium")
    plot_projection(model, X, y, below)
    below.set_xlabel("distance along w (cm): w·x / |w|")
    below.set_title("The same flowers along w, with the boundary at zero", fontsize="medium")
    places = distance(model, X)
    numbers = {
        "setosa": [float(places[y == "setosa"].min()), float(places[y == "setosa"].max())],
        "virginica": [float(places[y == "virginica"].min()), float(places[y == "virginica"].max())],
        "length_of_w": float(np.linalg.norm(model.coef_)),
    }
    caption = (
        "Each flower of figure 4.6 projected onto the line through w; below, the places on that line as one dimension. "
        "Setosa lies from {setosa[0]:.2f} to {setosa[1]:.2f} cm and virginica from {virginica[0]:.2f} to "
        "{virginica[1]:.2f} cm, with zero between them. The activation w·x is such a place times |w|, here "
        "{length_of_w:.1f}: it is itself the distance only for a w of length 1."
    )
    return Shown(picture, caption, numbers)


def figure_4_8() -> Shown:
    """Learn with a bias, and draw how far it moves the boundary from the origin."""
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    model = Perceptron(random_state=0).fit(X, y)
    line = Line(*unit_weights(model))
    frame = Frame.around(np.vstack([X, [-0.6, -0.6]]), 0.05)
    picture = blank(5, 3.9)
    ax = picture.subplots()
    frame.set_limits(ax)
    draw_regions(ax, Regions.beside(frame, line.distance(frame.places())))
    draw_rows(ax, Rows(X, y, model.classes_))
    through_origin = Line(line.unit, 0.0)
    draw_line(ax, line, frame, linewidth=1.4, zorder=1, label="w·x + b = 0")
    draw_line(ax, through_origin, frame, linestyle="--", linewidth=1.2, zorder=1, label="w·x = 0")
    shift = -line.offset
    draw_arrow(ax, np.zeros(2), shift * line.unit, "−b/|w|", linewidth=1.6)
    ax.plot(0, 0, "o", color=DARK, markersize=5, zorder=4)
    draw_arrow(ax, line.nearest_to([4, 0.6]), line.nearest_to([4, 0.6]) + 0.8 * line.unit, "w")
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    ax.set_title("The bias moves the boundary by −b/|w| along w", fontsize="medium")
    draw_legend(ax)
    numbers = {
        "w": model.coef_[0].tolist(),
        "b": float(model.intercept_[0]),
        "length_of_w": float(np.linalg.norm(model.coef_)),
        "shift": shift,
    }
    caption = (
        "Setosa and versicolor by their petals, in cm from zero. The learned w = ({w[0]:.1f}, {w[1]:.1f}) alone gives "
        "the broken line through the origin, with all flowers on one side. The bias b = {b:g} moves it by −b/|w| = "
        "{shift:.2f} cm in the direction of w, to the solid line. The text says that it moves by −b, which is so for a "
        "w of length 1; this one is {length_of_w:.2f} long."
    )
    return Shown(picture, caption, numbers)
