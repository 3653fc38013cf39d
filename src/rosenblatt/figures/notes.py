"""A hyperplane in space (parametric learning notes, figure 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank, flowers, wines
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.neuron import plot_neuron
from rosenblatt.plots.plane_parts import LOOKS
from rosenblatt.plots.projection import plot_activation
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.theory.separability import separability


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


# A perceptron as a neuron, and the sum that it makes (CIML figures 4.1 and 4.2).


def figure_4_1() -> Shown:
    """Learn two kinds of iris by three inputs, and draw what becomes of one flower."""
    measures = ["sepal width", "petal length", "petal width"]
    X, y = flowers("setosa", "versicolor", *measures)
    model = Perceptron(random_state=0).fit(X, y)
    x = X[-1]
    picture = blank(5.2, 3.4)
    plot_neuron(model, x, picture.subplots(), feature_names=[f"{measure} (cm)" for measure in measures])
    activation = float(model.decision_function([x])[0])
    numbers = {
        "x": x.tolist(),
        "w": model.coef_[0].tolist(),
        "b": float(model.intercept_[0]),
        "activation": activation,
        "answer": model.predict([x])[0],
    }
    caption = (
        "A perceptron that has learned setosa from versicolor, as a neuron with three inputs. It is shown a flower "
        "with sepals {x[0]} cm wide and petals {x[1]} cm long and {x[2]} cm wide. Each connection multiplies its input "
        "by its weight ({w[0]:.1f}, {w[1]:.1f} and {w[2]:.1f}), that of the bias is {b:g}, and the neuron adds up: "
        "{activation:.2f}. This is above 0, so it fires, and the answer is {answer}."
    )
    return Shown(picture, caption, numbers)


def figure_4_2() -> Shown:
    """Learn two kinds of iris by all four measures, and draw how the activation of one flower is added up."""
    measures = ["sepal length", "sepal width", "petal length", "petal width"]
    X, y = flowers("versicolor", "virginica", *measures)
    model = Perceptron("average", random_state=0).fit(X, y)
    x, w, b = X[0], model.coef_[0], float(model.intercept_[0])
    picture = blank(5.2, 3.4)
    plot_activation(model, x, picture.subplots(), feature_names=[f"{measure} (cm)" for measure in measures])
    numbers = {
        "x": x.tolist(),
        "w": w.tolist(),
        "products": (w * x).tolist(),
        "b": b,
        "activation": float(model.decision_function([x])[0]),
        "answer": model.predict([x])[0],
        "right": float(100 * model.score(X, y)),
    }
    caption = (
        "The activation of one flower, by averaged weights that tell {right:.0f}% of 100 versicolor and virginica "
        "right: each measure times its weight, added up from above to below, and the bias. Sepals add "
        "{products[0]:.1f} and {products[1]:.1f}, petals {products[2]:.1f} and {products[3]:.1f}, the bias {b:.1f}: in "
        "all {activation:.1f}. This is below 0, so the answer is {answer}, which is right."
    )
    return Shown(picture, caption, numbers)


# Data that a line separates, and data that none does (CIML figures 4.10 and 4.11).


def figure_4_10() -> Shown:
    """Decide that two kinds of iris are separable, and draw the widest band between them."""
    X, y = flowers("setosa", "versicolor", "sepal length", "sepal width")
    verdict: Any = separability(X, y)
    picture = blank(5, 4.1)
    ax = plot_verdict(verdict, X, y, picture.subplots())
    ax.set(xlabel="sepal length (cm)", ylabel="sepal width (cm)")
    numbers = {
        "margin": verdict.margin_low,
        "margin_high": verdict.margin_high,
        "nearest": len(verdict.nearest),
        "checked": verdict.check(X, y),
    }
    caption = (
        "Setosa and versicolor by their sepals are separable: a line has every flower on its side. The one drawn "
        "leaves the most room, {margin:.4f} cm to the nearest of 100 flowers ({nearest} of them, ringed), and no other "
        "line leaves more than {margin_high:.4f} cm. Both are proved, and the proof checks itself against the data."
    )
    return Shown(picture, caption, numbers)


def figure_4_11() -> Shown:
    """Decide that two kinds of wine are not separable, and draw the point that their hulls have in common."""
    X, y = wines(1, 2, "alcohol", "color_intensity")
    verdict: Any = separability(X, y)
    picture = blank(5, 4.1)
    ax = plot_verdict(verdict, X, y, picture.subplots())
    ax.set(xlabel="alcohol (% by volume)", ylabel="colour intensity", aspect="auto")
    rows = verdict.support
    weights = np.asarray(verdict.alpha)[rows]
    own = y[rows] == "cultivar 1"
    numbers = {
        "rows": rows.tolist(),
        "proving": len(rows),
        "common_point": (weights[own] @ X[rows[own]] / weights[own].sum()).tolist(),
        "same_point": (weights[~own] @ X[rows[~own]] / weights[~own].sum()).tolist(),
        "checked": verdict.check(X, y),
    }
    caption = (
        "Wines of cultivars 1 and 2 by alcohol and colour are not separable: their hulls overlap. {proving} wines "
        "(ringed, with their shares) prove it: a mean of those of one cultivar is a mean of those of the other, at "
        "{common_point[0]:.2f}% alcohol and colour {common_point[1]:.2f}. A line with both cultivars on their own "
        "sides would have that point on both sides of itself. So no run of the perceptron on these wines ends."
    )
    return Shown(picture, caption, numbers)
