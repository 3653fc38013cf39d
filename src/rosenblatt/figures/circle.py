"""A circle learned by lifting the points onto a paraboloid (Har-Peled, section 30.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.circles.fitting import fit_circle
from rosenblatt.data.generators import make_circle
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.circle import plot_circle
from rosenblatt.plots.lift import plot_lift


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
