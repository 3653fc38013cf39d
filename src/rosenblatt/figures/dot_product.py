"""A dot product is a projection (the box on dot products of CIML 4.3, which stands where a figure 4.5 would)."""

from __future__ import annotations

import numpy as np

from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.plots.axes import BLUE, DARK, GREEN, ORANGE, tidy


def figure_4_5() -> Shown:
    """Split v into a, along the unit vector u, and b, at a right angle to it."""
    u, v = np.array([0.8, 0.6]), np.array([0.37, 0.73])
    dot = float(u @ v)
    a = dot * u
    b = v - a
    picture = blank(4.4, 3.9)
    ax = picture.subplots()
    origin = np.zeros(2)
    ax.set(
        xlim=(-0.05, 0.95), ylim=(-0.05, 0.85), xlabel="first coordinate", ylabel="second coordinate", aspect="equal"
    )
    ax.plot(*np.array([origin, 1.1 * u]).T, color=DARK, linewidth=0.8, linestyle=":", zorder=1)
    for start, end, name, beside, look in (
        (origin, u, "u", (10, -12), {"color": DARK}),
        (origin, a, "a", (8, -14), {"color": BLUE, "linewidth": 4}),
        (a, v, "b", (10, 8), {"color": ORANGE, "linestyle": "--"}),
        (origin, v, "v", (-12, 8), {"color": GREEN}),
    ):
        arrow = {"arrowstyle": "-|>", "linewidth": 2, "shrinkA": 0, "shrinkB": 0} | look
        ax.annotate("", end, start, arrowprops=arrow, zorder=3)
        middle = end if name == "u" else (start + end) / 2
        ax.annotate(name, middle, beside, textcoords="offset points", ha="center", va="center", weight="bold")
    along, across = 0.05 * a / np.linalg.norm(a), 0.05 * b / np.linalg.norm(b)
    ax.plot(*np.array([a - along, a - along + across, a + across]).T, color=DARK, linewidth=0.9)  # a right angle
    ax.set_title(f"v = a + b, and |a| = u·v = {dot:.3f}", fontsize="medium")
    tidy(ax)
    numbers = {
        "u": u.tolist(),
        "v": v.tolist(),
        "dot": dot,
        "length_of_a": float(np.linalg.norm(a)),
        "length_of_b": float(np.linalg.norm(b)),
    }
    caption = (
        "The vector v = ({v[0]}, {v[1]}) as a sum of a, along the unit vector u = ({u[0]}, {u[1]}), and b, at a right "
        "angle to it. The dot product u·v = {dot:.3f} is the length of a, the projection of v onto u; b, which the "
        "text names by mistake, has the length {length_of_b:.3f}."
    )
    return Shown(picture, caption, numbers)
