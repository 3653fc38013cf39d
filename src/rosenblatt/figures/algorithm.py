"""The perceptron algorithm, run: every update of a small data set (Har-Peled, figure 30.2)."""

from __future__ import annotations

import numpy as np

from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.axes import BLUE, DARK, GREEN, ORANGE, Axes, tidy, whole_ticks
from rosenblatt.theory.convergence.proof import proof
from rosenblatt.theory.convergence.trace import Trace, trace
from rosenblatt.theory.words import number_text, true_minus, vector_text


def figure_30_2() -> Shown:
    """Run the algorithm without a bias, list its updates, and draw w and its length by update."""
    X = np.array([[2, 3], [-2, 3], [3, -3], [2, -3], [-1, 1], [-2, -3]])
    y = np.array([1, 1, 1, -1, -1, -1])
    run = trace(X, y, fit_intercept=False)
    theorem = proof(X, y, fit_intercept=False)
    weights = np.array([np.zeros(2), *(step.w for step in run)])
    picture = blank(5, 6.4)
    above, below = picture.subplots(2, height_ratios=[1.25, 1])
    draw_table(above, run, X)
    k = np.arange(len(weights))
    below.plot(k, weights[:, 0], color=BLUE, marker="o", markersize=4, label="first weight")
    below.plot(k, weights[:, 1], color=GREEN, marker="s", markersize=4, linestyle="--", label="second weight")
    below.plot(k, np.linalg.norm(weights, axis=1), color=DARK, marker="D", markersize=4, label="|w|")
    below.plot(k, np.sqrt(k) * theorem.R, color=ORANGE, linestyle=":", linewidth=2.2, label="√k·R: |w| is at most this")
    below.set(xlabel="updates k", ylabel="weight, length")
    below.legend(frameon=False, fontsize="small", ncols=2, loc="upper left", bbox_to_anchor=(0, 1.1))
    whole_ticks(below)
    tidy(below)
    numbers = {
        "k": len(run),
        "passes": run.passes,
        "w": run.w.tolist(),
        "R": theorem.R,
        "gamma": theorem.gamma,
        "bound": theorem.bound,
        "mistakes_by_pass": run.mistakes_by_pass.tolist(),
        "weights": weights.tolist(),
        "rows": run.row.tolist(),
    }
    caption = (
        "Six points, visited in order without a bias, until a pass makes no mistake. Each line above is an update: the "
        "point, its label y, its activation before (never of the sign of y), and w after y times the point was added. "
        "The algorithm returns w = ({w[0]:g}, {w[1]:g}) and k = {k} after {passes} passes. With R = {R:.3f}, the "
        "length of the longest point, and a margin of γ = {gamma:.3f}, no order of these points could take more than "
        "(R/γ)² = {bound:.0f} updates."
    )
    return Shown(picture, caption, numbers)


def draw_table(ax: Axes, run: Trace, X: np.ndarray) -> None:
    """Write the updates of a run as a table."""
    head = ["k", "pass", "point x", "label y", "w·x before", "w after"]
    lines = [["0", "", "", "", "", "(0, 0)"]]
    for step in run:
        numbers = f"{step.label:+d}", number_text(step.activation), vector_text(step.w)
        label, activation, w = map(true_minus, numbers)
        point = true_minus(vector_text(X[step.row]))
        lines.append([str(step.k), str(step.pass_number), point, label, activation, w])
    table = ax.table(lines, colLabels=head, loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1, 1.15)
    for (row, _), cell in table.get_celld().items():
        cell.visible_edges = "B" if row == 0 else ""
        if row == 0:
            cell.set_text_props(weight="bold")
    ax.set_axis_off()
