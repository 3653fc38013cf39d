"""Figures of Sariel Har-Peled's notes, chapter 30, each drawn from data and a run with a fixed seed."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from rosenblatt.circles.fitting import fit_circle
from rosenblatt.data.generators import make_circle
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank, figure, wines
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots.axes import BLUE, DARK, GREEN, ORANGE, Axes, tidy, whole_ticks
from rosenblatt.plots.circle import plot_circle, plot_lift
from rosenblatt.plots.plane_parts import Frame, Line, Rows, draw_legend, draw_line, draw_rows
from rosenblatt.plots.vc import LETTERS, plot_dichotomies
from rosenblatt.theory import vc
from rosenblatt.theory.convergence.proof import proof
from rosenblatt.theory.convergence.trace import Trace, trace
from rosenblatt.theory.inputs import number_text, true_minus, vector_text
from rosenblatt.theory.separability import separability

TEXT = "Har-Peled, chapter 30"

ORDERS = 12  # number of visiting orders in figure 30.1
POINTS = [[0, 0], [2, 0], [0, 2], [3, 3]]  # in figure 30.3.1


@figure(TEXT, "30.1", "Two separable point sets")
def figure_30_1() -> Shown:
    """Train on the same wines in several orders, and draw the boundaries and the line with the largest margin."""
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
        "a different line (thin). Their distances from the nearest wine are {margins[0]:.4f} to {margins[1]:.4f}; the "
        "thick line has the largest that there is, {largest_margin:.4f}."
    )
    return picture, caption, numbers


@figure(TEXT, "30.2", "The perceptron algorithm, run")
def figure_30_2() -> Shown:
    """Run the perceptron without a bias, list its updates in a table, and draw w and its length after each update."""
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
        "w": run.w,
        "R": theorem.R,
        "gamma": theorem.gamma,
        "bound": theorem.bound,
        "mistakes_by_pass": run.mistakes_by_pass,
        "weights": weights,
        "rows": run.row,
    }
    caption = (
        "Six points, visited in order without a bias, until a pass makes no mistake. Each line above is an update: the "
        "point, its label y, its activation before (never with the sign of y), and w after adding y times the point. "
        "The algorithm returns w = ({w[0]:g}, {w[1]:g}) and k = {k} after {passes} passes. With R = {R:.3f}, the "
        "length of the longest point, and a margin of γ = {gamma:.3f}, no order of these points could take more than "
        "(R/γ)² = {bound:.0f} updates."
    )
    return picture, caption, numbers


def draw_table(ax: Axes, run: Trace, X: np.ndarray) -> None:
    """Draw the updates of a run as a table."""
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


@figure(TEXT, "30.2-circle", "A circle learned by lifting")
def figure_30_2_circle() -> Shown:
    """Learn a circle from labelled points, and draw it as a circle in the plane and as a plane in the lifted space."""
    X, y = make_circle(80, radius=2.0, center=[1.0, 0.5], gap=0.2, random_state=1)
    labels = np.where(y > 0, "inside", "around").astype(object)
    found: Any = fit_circle(X, labels == "inside", largest_margin=True)
    picture = blank(5, 7.4, layout=None)
    flat = picture.add_axes((0.12, 0.51, 0.84, 0.43))
    space = picture.add_axes((0.02, 0.0, 0.9, 0.42), projection="3d")
    plot_circle(found, X, labels, flat)
    plot_lift(found, X, labels, space)
    space.get_legend().remove()  # the plot above has this legend
    space.set_title("")
    distances = np.linalg.norm(X - found.center, axis=1)
    numbers = {
        "center": found.center,
        "radius": found.radius,
        "farthest_inside": distances[labels == "inside"].max(),
        "nearest_outside": distances[labels == "around"].min(),
        "points": len(X),
    }
    caption = (
        "{points} points, inside or outside of a circle around (1, 0.5) with radius 2, which the learner is not told. "
        "Lifted to (x, y, x² + y²), they are separated by a plane (below), which cuts the paraboloid in a curve whose "
        "points (x, y) form a circle (above): centre ({center[0]:.2f}, {center[1]:.2f}), radius {radius:.2f}. From "
        "that centre the farthest point inside is {farthest_inside:.2f} away and the nearest outside "
        "{nearest_outside:.2f}."
    )
    return picture, caption, numbers


@figure(TEXT, "30.3.1", "Subsets of four points cut by discs")
def figure_30_3_1() -> Shown:
    """Draw a disc for each subset of four points, and for one subset the proof that no disc cuts it."""
    picture = plot_dichotomies(POINTS, "discs", figure=blank(5.2, 6.4))
    cut = vc.dichotomies(POINTS, "discs")
    rows = range(len(POINTS))
    (missing,) = (part for size in range(5) for part in combinations(rows, size) if frozenset(part) not in cut)
    reason: Any = vc.why_not(POINTS, missing, "discs")
    numbers = {
        "subsets": 2 ** len(POINTS),
        "cut": len(cut),
        "missing": [LETTERS[row] for row in missing],
        "others": [LETTERS[row] for row in reason.outside],
        "common_point": [float(value) for value in reason.point],
        "height_of_missing": float(reason.inside_height),
        "height_of_others": float(reason.outside_height),
        "sauer_bound": vc.sauer_bound(len(POINTS), 3),
        "checked": reason.check(POINTS),
    }
    caption = (
        "All {subsets} subsets of the points p (0, 0), q (2, 0), r (0, 2) and s (3, 3): blue circles are in the "
        "subset, triangles are not. Discs cut out {cut} of them, each shown with a disc that contains only "
        "its points; a family of VC dimension 3 can cut out no more of four points. The missing one is {{{missing[0]}, "
        "{missing[1]}}}. The segment between these two meets the one between {others[0]} and {others[1]} at "
        "({common_point[0]:g}, {common_point[1]:g}). Lifted to x² + y², the former is at height "
        "{height_of_missing:g} there and the latter at {height_of_others:g}, so no plane has the first two points "
        "below it and both others above. With other points another subset is missing, which the text does not say."
    )
    return picture, caption, numbers
