"""A circle learned by lifting the points onto a paraboloid (Har-Peled, section 30.2)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from rosenblatt.circles.fitting import fit_circle
from rosenblatt.data.generators import make_circle
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank, wines
from rosenblatt.inspection.geometry import distance, unit_weights
from rosenblatt.plots.axes import DARK
from rosenblatt.plots.circle import plot_circle, plot_lift
from rosenblatt.plots.plane_parts import Frame, Line, Rows, draw_legend, draw_line, draw_rows
from rosenblatt.plots.vc import LETTERS, plot_dichotomies
from rosenblatt.theory import vc
from rosenblatt.theory.separability import separability


def figure_30_2_circle() -> Shown:
    """Plant a circle, learn one from the labels alone, and draw it in the plane and as a plane in space."""
    X, y = make_circle(80, radius=2.0, center=[1.0, 0.5], gap=0.2, random_state=1)
    labels = np.where(y > 0, "inside", "around").astype(object)
    found: Any = fit_circle(X, labels == "inside", largest_margin=True)
    picture = blank(5, 7.4, layout=None)
    flat = picture.add_axes((0.12, 0.51, 0.84, 0.43))
    space = picture.add_axes((0.02, 0.0, 0.9, 0.42), projection="3d")
    plot_circle(found, X, labels, flat)
    plot_lift(found, X, labels, space)
    space.get_legend().remove()  # marks mean the same as above
    space.set_title("")
    distances = np.linalg.norm(X - found.center, axis=1)
    numbers = {
        "center": found.center.tolist(),
        "radius": float(found.radius),
        "farthest_inside": float(distances[labels == "inside"].max()),
        "nearest_outside": float(distances[labels == "around"].min()),
        "points": len(X),
    }
    caption = (
        "{points} points, inside or outside of a circle around (1, 0.5) with radius 2, which the learner is not told. "
        "Lifted to (x, y, x² + y²) a plane separates them (below), and the plane cuts the paraboloid where the points "
        "of the plane lie on a circle (above): centre ({center[0]:.2f}, {center[1]:.2f}), radius {radius:.2f}. From "
        "that centre the farthest point inside is {farthest_inside:.2f} away and the nearest outside "
        "{nearest_outside:.2f}."
    )
    return Shown(picture, caption, numbers)


# Two separable sets of points, and some of the many lines between them (Har-Peled, figure 30.1).


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


# The subsets of four points that discs cut, and why one is missing (Har-Peled, section 30.3.1).


POINTS = [[0, 0], [2, 0], [0, 2], [3, 3]]


def figure_30_3_1() -> Shown:
    """Draw a disc around each subset of four points, and the proof that one has none."""
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
        "subset, triangles are not. Discs cut {cut} of them, each shown with one that holds its points alone; that is "
        "as many as a family of VC dimension 3 can cut from four points. The missing one is {{{missing[0]}, "
        "{missing[1]}}}. The segment between these two meets the one between {others[0]} and {others[1]} at "
        "({common_point[0]:g}, {common_point[1]:g}). Lifted to x² + y², the former is at height "
        "{height_of_missing:g} there and the latter at {height_of_others:g}, so a plane that has the first two points "
        "below it has not both others above. With other points another subset is missing, which the text does not say."
    )
    return Shown(picture, caption, numbers)
