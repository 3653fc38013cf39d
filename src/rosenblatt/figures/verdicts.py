"""Data that a line separates, and data that none does (CIML figures 4.10 and 4.11)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import flowers, wines
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.theory.separability import separability


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
