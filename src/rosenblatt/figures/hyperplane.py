"""A hyperplane in space (parametric learning notes, figure 3.2)."""

from __future__ import annotations

import numpy as np

from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import flowers
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.plane_parts import LOOKS


def figure_3_2() -> Shown:
    """Learn from three measures of two kinds of iris, and draw the plane between them with w."""
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
    ax.set_box_aspect(high - low, zoom=1.05)  # one scale, so that right angles look right
    numbers = {
        "w": model.coef_[0].tolist(),
        "b": float(model.intercept_[0]),
        "updates": model.n_updates_,
        "nearest": float(np.abs(distance(model, X)).min()),
        "dimension": X.shape[1] - 1,
    }
    caption = (
        "Setosa and versicolor by three measures, and the hyperplane of a perceptron after {updates} updates: with "
        "three features it is a flat surface of dimension {dimension}, where {w[0]:.1f} x1 + {w[1]:.1f} x2 + "
        "{w[2]:.1f} x3 + ({b:g}) = 0. The arrow w is at a right angle to it. The nearest flower is {nearest:.2f} cm "
        "away."
    )
    return Shown(picture, caption, numbers)


def surface(unit: np.ndarray, offset: float, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return a grid of points of the plane where ``unit @ x + offset`` is 0, as three arrays."""
    first, third = np.meshgrid(np.linspace(low[0], high[0], 20), np.linspace(low[2], high[2], 20))
    return first, -(unit[0] * first + unit[2] * third + offset) / unit[1], third
