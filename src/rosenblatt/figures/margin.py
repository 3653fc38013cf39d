"""The geometric margin (parametric learning notes, figure 3.4)."""

from __future__ import annotations

import numpy as np

from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import flowers
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.plane_lines import HALO, Line
from rosenblatt.plots.verdict import plot_verdict
from rosenblatt.theory.separability import separability


def figure_3_4() -> Shown:
    """Draw the line of the largest margin, and how far it is from the flowers that are nearest to it."""
    X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    verdict = separability(X, y)
    line = Line.of(verdict.w, verdict.b)
    picture = blank(5, 4.0)
    ax = plot_verdict(verdict, X, y, picture.subplots())
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    ax.set_title(f"Geometric margin η = γ / |w| = {verdict.margin_low:.3f} cm", fontsize="medium")
    for row in verdict.nearest:
        foot = line.nearest_to(X[row])
        ax.annotate("", X[row], foot, arrowprops={"arrowstyle": "<->", "color": DARK, "shrinkA": 0, "shrinkB": 0})
        ax.annotate("η", (X[row] + foot) / 2, (0, 9), textcoords="offset points", ha="center", bbox=HALO, weight="bold")
    gamma = float(np.abs(X @ verdict.w + verdict.b).min())
    numbers = {
        "margin": verdict.margin_low,
        "gamma": gamma,
        "length_of_w": float(np.linalg.norm(verdict.w)),
        "nearest": [int(row) for row in verdict.nearest],
        "attaining": len(verdict.nearest),
    }
    caption = (
        "Setosa and versicolor by their petals, with the line that leaves the most room. Of all flowers the "
        "{attaining} ringed ones have the smallest |w.x + b|, γ = {gamma:.4f}; divided by |w| = {length_of_w:.4f} it "
        "is their distance from the line, the geometric margin η = {margin:.4f} cm. The hatched band of twice that "
        "width is empty, and no line has a wider one."
    )
    return Shown(picture, caption, numbers)
