"""The geometric margin (parametric learning notes, figure 3.4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import flowers
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.plane_lines import Line, halo
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.theory.separability import separability


def figure_3_4() -> Shown:
    """Draw the line of the largest margin, and how far it is from the flowers that are nearest to it."""
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
    w, b = verdict.w / verdict.margin_low, verdict.b / verdict.margin_low  # the same line, at a scale where gamma is 1
    numbers = {
        "margin": verdict.margin_low,
        "w": w.tolist(),
        "b": float(b),
        "gamma": float(np.abs(X @ w + b).min()),
        "length_of_w": float(np.linalg.norm(w)),
        "nearest": verdict.nearest.tolist(),
        "attaining": len(verdict.nearest),
    }
    caption = (
        "Setosa and versicolor by their petals, with the line that leaves the most room, w = ({w[0]:.3f}, {w[1]:.3f}) "
        "and b = {b:.3f}. The {attaining} ringed flowers have the smallest |w·x + b| of all, γ = {gamma:.3f}. Divided "
        "by |w| = {length_of_w:.3f} it is their distance from the line: the geometric margin η = {margin:.3f} cm, "
        "which does not change with the scale of w. The hatched band of twice that width is empty, and no line has a "
        "wider one."
    )
    return Shown(picture, caption, numbers)
