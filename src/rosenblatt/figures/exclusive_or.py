"""XOR: impossible with two features, possible with their product as a third (CIML figure 4.12)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.features.combinations import Combinations
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.axes import DARK, Axes
from rosenblatt.plots.plane_parts import LOOKS
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.theory.separability import separability


def figure_4_12() -> Shown:
    """Prove that no line separates XOR, add x1 AND x2 as a feature, and draw the plane that a perceptron finds."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    impossible = separability(X, y)
    combined = Combinations(degree=2)
    Z = combined.fit_transform(X)
    model = Perceptron(random_state=0).fit(Z, y)
    w, b = model.coef_[0], float(model.intercept_[0])
    picture = blank(4.4, 6)
    above, below = picture.add_gridspec(2, height_ratios=[1, 0.85])
    flat, space = picture.add_subplot(above), picture.add_subplot(below, projection="3d")
    plot_verdict(impossible, X, y, flat)
    flat.set(xlabel="x1", ylabel="x2", xticks=[0, 1], yticks=[0, 1])
    flat.set_title("Two features: the hulls have a point in common", fontsize="medium")
    draw_in_space(space, Z, y, w, b)
    numbers: dict[str, Any] = {
        "common_point": X[y == 1].mean(axis=0).tolist(),
        "proved": impossible.check(X, y),
        "names": combined.get_feature_names_out(["x1", "x2"]).tolist(),
        "w": w.tolist(),
        "b": b,
        "updates": model.n_updates_,
        "activations": (Z @ w + b).tolist(),
    }
    caption = (
        "Above: XOR. The mean of the two points of one class is that of the other, ({common_point[0]}, "
        "{common_point[1]}), so no line separates them. Below: with x1∧x2, which is 1 where both are, a plane does. A "
        "perceptron found it after {updates} updates: w = ({w[0]:g}, {w[1]:g}, {w[2]:g}) and b = {b:g}; the "
        "activations of (0, 0), (0, 1), (1, 0) and (1, 1) are {activations[0]:g}, {activations[1]:g}, "
        "{activations[2]:g} and {activations[3]:g}."
    )
    return Shown(picture, caption, numbers)


def draw_in_space(ax: Axes, Z: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> None:
    """Draw the points with x1 AND x2 as their height, and the plane between the classes."""
    sides = np.linspace(-0.2, 1.2, 25)
    x1, x2 = np.meshgrid(sides, sides)
    height = -(w[0] * x1 + w[1] * x2 + b) / w[2]
    ax.plot_surface(x1, x2, np.where(np.abs(height - 0.5) <= 1, height, np.nan), color=DARK, alpha=0.25, linewidth=0)
    for label, (colour, marker) in zip(np.unique(y).tolist(), LOOKS, strict=False):
        own = Z[y == label]
        ax.scatter(*own.T, color=colour, marker=marker, s=60, edgecolor=DARK, depthshade=False)
    for point in Z:
        ax.plot(*np.array([[*point[:2], -0.5], point]).T, color=DARK, linewidth=0.7, linestyle=":")
    ax.set(xlabel="x1", ylabel="x2", zlabel="x1∧x2", xticks=[0, 1], yticks=[0, 1], zticks=[0, 1], zlim=(-0.5, 1.5))
    ax.set_title("Three features: a plane between the classes", fontsize="medium")
    ax.view_init(elev=18, azim=-60)
    ax.set_box_aspect(None, zoom=1.5)
