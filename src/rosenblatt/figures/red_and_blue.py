"""Two separable sets of points, and some of the many lines between them (Har-Peled, figure 30.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import wines
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.plane_lines import Line, draw_line
from rosenblatt.plots.plane_parts import Frame, Rows, draw_legend, draw_rows
from rosenblatt.theory.separability import separability

ORDERS = 12


def figure_30_1() -> Shown:
    """Learn from the same wines in several orders, and draw the line of each run beside that of the largest margin."""
    X, y = wines(1, 3, "alcohol", "flavanoids")
    runs = [Perceptron(random_state=seed, max_iter=1000).fit(X, y) for seed in range(ORDERS)]
    best: Any = separability(X, y)
    picture = blank(5, 4.3)
    ax = picture.subplots()
    frame = Frame.around(X, 0.08)
    frame.set_limits(ax)
    draw_rows(ax, Rows(X, y, runs[0].classes_))
    for i, run in enumerate(runs):
        line = Line(*unit_weights(run))
        draw_line(ax, line, frame, linewidth=0.7, alpha=0.6, label=f"{ORDERS} runs" if i == 0 else None, zorder=1)
    draw_line(ax, Line(best.w, best.b), frame, color=DARK, linewidth=2.2, label="largest margin", zorder=1)
    ax.set(xlabel="alcohol (% by volume)", ylabel="flavanoids")
    ax.set_title("Two sets of wines, and some of the lines between them", fontsize="medium")
    draw_legend(ax)
    margins = [float(np.abs(distance(run, X)).min()) for run in runs]
    numbers = {
        "orders": ORDERS,
        "wines": len(X),
        "separated": sum(run.converged_ for run in runs),
        "updates": [min(run.n_updates_ for run in runs), max(run.n_updates_ for run in runs)],
        "margins": [min(margins), max(margins)],
        "largest_margin": best.margin_low,
    }
    caption = (
        "{wines} wines of two cultivars, as orange triangles and blue circles, by alcohol and flavanoids. A perceptron "
        "separated them in each of {separated} orders, after {updates[0]} to {updates[1]:,} updates, and each time by "
        "another line (thin). Their distances from the nearest wine are {margins[0]:.4f} to {margins[1]:.4f}; the "
        "thick line has the largest that there is, {largest_margin:.4f}."
    )
    return Shown(picture, caption, numbers)
