"""A picture of how the number of subsets grows that a family cuts, beside Sauer's bound (Har-Peled 30.3.1)."""

from __future__ import annotations

import numpy as np

from rosenblatt.plots.axes import (
    BLUE,
    DOTS_UP_TO,
    GREEN,
    ORANGE,
    Axes,
    axes_for,
    closes_on_error,
    ink,
    whole_ticks,
)
from rosenblatt.plots.plane_parts import draw_legend
from rosenblatt.plurals import count_of
from rosenblatt.theory.vc import growth
from rosenblatt.theory.vc.families import check_family, known_vc_dimension, shapes_text
from rosenblatt.theory.vc.points import PointsLike, read_points

_ABOVE = 8.0  # the picture ends at so many times the largest count, where the line of all subsets may leave it
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@closes_on_error
def plot_growth(points: PointsLike, family: str, k: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw how many subsets the family cuts from the first m points, beside Sauer's bound and all 2^m.

    For halfspaces there is Cover's count too, which points in general position reach. Counts are on a logarithmic
    axis, where 2^m is a straight line; Sauer's bound leaves it after the VC dimension of the family, which is marked.

    Parameters
    ----------
    points, family, k
        As for ``vc.growth``, whose table is drawn.
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.

    Examples
    --------
    >>> ax = plot_growth([[0, 0], [2, 0], [0, 2], [3, 3], [1, 1]], "discs")
    >>> print(ax.get_title())
    Subsets that discs cut from the first m points in R²
    24 subsets of 5 points
    """
    table = growth(points, family, k)
    d = len(read_points(points)[0])
    name, sides = check_family(family, k, d)
    dimension = known_vc_dimension(name, d, sides)
    m, last = table["n"], len(table)
    mark = last <= DOTS_UP_TO
    ax = axes_for(ax)
    ax.plot(m, 2.0 ** np.array(m), ":", color=ink(), linewidth=1.8, label="all subsets, $2^m$")
    curves = [("sauer", ORANGE, "--", "^", 9, f"Sauer's bound (VC dimension {dimension})")]
    if "cover" in table.columns:
        curves.append(("cover", GREEN, "-.", "s", 6, "Cover's count"))
    curves.append(("count", BLUE, "-", "o", 4, "subsets that are cut"))
    for column, colour, dash, marker, size, label in curves:
        look = {"color": colour, "linestyle": dash, "markersize": size, "markerfacecolor": "none"}
        ax.plot(m, np.array(table[column], dtype=float), marker=marker if mark else "", label=label, **look)
    if dimension <= last:
        ax.axvline(dimension, color=ink(), linewidth=0.8, zorder=0)
    top = float(max(table["sauer"][-1], table["count"][-1]))
    ax.set_yscale("log", base=2 if top <= 2**14 else 10)
    ax.set_ylim(1, min(2.0**last * 1.5, top * _ABOVE))
    space = f"R{str(d).translate(_RAISED)}"
    title = f"Subsets that {shapes_text(name, sides)} cut from the first m points in {space}"
    ax.set_title(f"{title}\n{count_of(table['count'][-1], 'subset')} of {count_of(last, 'point')}", fontsize="medium")
    ax.set(xlabel="m, the number of points", ylabel="number of subsets")
    room = 0.3 if mark else 0.0
    ax.set_xlim(1 - room, last + room)
    whole_ticks(ax, y=False)
    draw_legend(ax)
    return ax
