"""Figures of Parametric learning and perceptrons, chapter 3, each drawn from data and a run with a fixed seed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.data.generators import make_spiral
from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank, figure, flowers
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.plane import plot_plane
from rosenblatt.plots.plane_parts import LOOKS, Line, halo
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.theory.separability import dataset_margin, separability

TEXT = "Parametric learning and perceptrons, chapter 3"


@figure(TEXT, "3.1", "With a bias and without")
def figure_3_1() -> Shown:
    """Train on petal measures with a bias, where a line separates the kinds, and without a bias, where none does."""
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    with_bias = Perceptron(random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # no weights separate the rows, as is proved below
        without = Perceptron("pocket", fit_intercept=False, random_state=0).fit(X, y)
    through_origin = dataset_margin(X, y, kind="homogeneous")
    picture = blank(5, 6.2)
    panels = picture.subplots(2)
    for ax, model, words in zip(panels, (with_bias, without), ("With a bias", "Without a bias"), strict=True):
        plot_plane(model, X, y, ax)
        ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
        wrong = int((model.predict(X) != y).sum())
        ax.set_title(f"{words}: {wrong} of {len(X)} flowers on the wrong side", fontsize="medium")
    proving = np.flatnonzero(through_origin.alpha)
    numbers = {
        "updates": with_bias.n_updates_,
        "b": with_bias.intercept_[0],
        "wrong": int((without.predict(X) != y).sum()),
        "passes": without.n_iter_,
        "margin": dataset_margin(X, y).low,
        "proving": len(proving),
        "rows": proving,
        "checked": through_origin.check(X, y),
    }
    caption = (
        "Petals of setosa and versicolor. Above: with a bias they are separated after {updates} updates (the best line "
        "is {margin:.2f} cm from the nearest flower). Below: without one the boundary goes through the origin, and the "
        "best weights of {passes} passes leave {wrong} flowers on the wrong side. No weights avoid this: the lengths "
        "and widths of {proving} flowers, weighted and with the sign of their class, add up to zero, which a check "
        "proves from the data."
    )
    return picture, caption, numbers


@figure(TEXT, "3.2", "A hyperplane in space")
def figure_3_2() -> Shown:
    """Train on two kinds of iris with three features, and draw the separating plane with w."""
    X, y = flowers("setosa", "versicolor", "sepal length", "petal length", "petal width")
    model = Perceptron(random_state=0).fit(X, y)
    unit, offset = unit_weights(model)
    picture = blank(5, 3.9)
    ax = picture.add_subplot(projection="3d")
    for kind, (colour, marker) in zip(model.classes_, LOOKS, strict=False):
        own = X[y == kind]
        look = {"color": colour, "marker": marker, "edgecolor": DARK, "linewidth": 0.4, "depthshade": False}
        ax.scatter(*own.T, s=22, **look, label=f"{kind} ({len(own)})")
    low, high = X.min(axis=0), X.max(axis=0)
    ax.plot_surface(*surface(unit, offset, low, high), color=DARK, alpha=0.25, linewidth=0)
    middle = X.mean(axis=0)
    start = middle - (unit @ middle + offset) * unit
    ax.quiver(*start, *(1.2 * unit), color=DARK, linewidth=2, arrow_length_ratio=0.2)
    ax.text(*(start + 1.35 * unit), "w", weight="bold")
    ax.set(xlabel="sepal length (cm)", ylabel="petal length (cm)", zlabel="petal width (cm)", zticks=[0.5, 1, 1.5])
    ax.set_title("In space the boundary is a plane", fontsize="medium", y=0.97)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=False, fontsize="small")
    ax.view_init(elev=14, azim=-55)
    ax.set_box_aspect(high - low, zoom=1.05)  # equal scales, so that right angles look right
    numbers = {
        "w": model.coef_[0],
        "b": model.intercept_[0],
        "updates": model.n_updates_,
        "nearest": np.abs(distance(model, X)).min(),
        "dimension": X.shape[1] - 1,
    }
    caption = (
        "Setosa and versicolor by three measures, and the hyperplane of a perceptron after {updates} updates: with "
        "three features it is a flat surface of dimension {dimension}, where {w[0]:.1f} x1 + {w[1]:.1f} x2 + "
        "{w[2]:.1f} x3 + ({b:g}) = 0. The arrow w is at a right angle to it. The nearest flower is {nearest:.2f} cm "
        "away."
    )
    return picture, caption, numbers


def surface(unit: np.ndarray, offset: float, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return a grid of points on the plane ``unit @ x + offset = 0``, as an array for each coordinate."""
    first, third = np.meshgrid(np.linspace(low[0], high[0], 20), np.linspace(low[2], high[2], 20))
    return first, -(unit[0] * first + unit[2] * third + offset) / unit[1], third


@figure(TEXT, "3.3", "Linear and non-linear boundaries")
def figure_3_3() -> Shown:
    """Train a perceptron on flowers, and a kernel perceptron on two spirals, which no line separates."""
    X, y = flowers("setosa", "virginica", "petal length", "petal width")
    straight = Perceptron(random_state=0).fit(X, y)
    Z, arm = make_spiral(160, turns=1.0, noise=0.02, random_state=0)
    impossible: Any = separability(Z, arm)
    curved = KernelPerceptron(kernel="rbf", gamma=4.0, hypothesis="last", random_state=0).fit(Z, arm)
    picture = blank(4.6, 7.0)
    above, below = picture.subplots(2, height_ratios=[1, 1.6])
    plot_plane(straight, X, y, above)
    above.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    above.set_title("Linear: a perceptron", fontsize="medium")
    plot_plane(curved, Z, arm, below)
    below.set(xlabel="x1", ylabel="x2")
    below.set_title("Not linear: a perceptron with a Gaussian kernel", fontsize="medium")
    numbers = {
        "updates": straight.n_updates_,
        "kernel_updates": curved.n_updates_,
        "points": len(Z),
        "support": len(curved.support_),
        "wrong": int((curved.predict(Z) != arm).sum()),
        "proving": len(impossible.support),
        "no_line": impossible.check(Z, arm),
    }
    caption = (
        "Above: petals of setosa and virginica, which a line separates; the perceptron found one after {updates} "
        "updates. Below: two spirals of {points} points, which no line separates ({proving} points prove it). With a "
        "Gaussian kernel the same algorithm has a curved boundary: {kernel_updates} updates on {support} of the "
        "points, and {wrong} are wrong."
    )
    return picture, caption, numbers


@figure(TEXT, "3.4", "The geometric margin")
def figure_3_4() -> Shown:
    """Draw the line with the largest margin, and its distance to the nearest flowers."""
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    verdict: Any = separability(X, y)
    line: Any = Line.of(verdict.w, verdict.b)
    picture = blank(5, 4.0)
    ax = plot_verdict(verdict, X, y, picture.subplots())
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    ax.set_title(f"Geometric margin η = γ / |w| = {verdict.margin_low:.3f} cm", fontsize="medium")
    for row in verdict.nearest:
        foot = line.nearest_to(X[row])
        ax.annotate("", X[row], foot, arrowprops={"arrowstyle": "<->", "color": DARK, "shrinkA": 0, "shrinkB": 0})
        ax.annotate(
            "η", (X[row] + foot) / 2, (0, 9), textcoords="offset points", ha="center", bbox=halo(), weight="bold"
        )
    w, b = verdict.w / verdict.margin_low, verdict.b / verdict.margin_low  # the same line, scaled so that gamma is 1
    numbers = {
        "margin": verdict.margin_low,
        "w": w,
        "b": b,
        "gamma": np.abs(X @ w + b).min(),
        "length_of_w": np.linalg.norm(w),
        "nearest": verdict.nearest,
        "attaining": len(verdict.nearest),
    }
    caption = (
        "Setosa and versicolor by their petals, with the line that leaves the most room, w = ({w[0]:.3f}, {w[1]:.3f}) "
        "and b = {b:.3f}. The {attaining} ringed flowers have the smallest |w·x + b| of all, γ = {gamma:.3f}. Divided "
        "by |w| = {length_of_w:.3f} it is their distance from the line: the geometric margin η = {margin:.3f} cm, "
        "which does not change with the scale of w. The hatched band of twice that width is empty, and no line has a "
        "wider one."
    )
    return picture, caption, numbers
