"""A picture of a verdict in the plane: the band that separates two classes, or the point that their hulls share."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np

from rosenblatt.label_text import label_text
from rosenblatt.plots.axes import Axes, axes_for, closes_on_error
from rosenblatt.plots.hulls import draw_hulls, shares
from rosenblatt.plots.plane_lines import Line, draw_band, draw_rings, draw_w
from rosenblatt.plots.plane_parts import (
    Frame,
    Regions,
    Rows,
    column_names,
    draw_legend,
    draw_regions,
    draw_rows,
    plane_points,
)
from rosenblatt.plurals import count_of
from rosenblatt.theory.inputs import certified_signs, check_labels
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, Undecided, Verdicts

_BORDER = 0.15  # around the rows, as a share of their range: room for the shares beside them
_NEAREST = 1e-6  # rows whose distances differ by less, as a share, are all drawn as nearest


@closes_on_error
def plot_verdict(verdict: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw what `separability` or `dataset_margin` found about rows of two features.

    Where the classes are separable: the line of the largest margin, w, the band without rows around it, and rings
    around the rows that it touches. Where they are not: the convex hulls of both classes, and a point that lies in
    both; it is a mean of the ringed rows of either class, with the shares written beside them. Where it is undecided:
    the rows.

    Parameters
    ----------
    verdict : Separable, Inseparable, Undecided or MarginBracket
        Of several classes, pick one: ``verdicts[name]`` is about that class against the rest.
    X, y : the rows that the verdict is about, of two features, and their labels
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made. The legend lies below the axes: a figure of
        your own with ``layout="constrained"`` has room for it.

    Examples
    --------
    >>> from rosenblatt import separability
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> print(plot_verdict(separability(X, [0, 0, 0, 1]), X, [0, 0, 0, 1]).get_title())
    Separable: the largest margin
    is 0.3536 (geometric)
    >>> print(plot_verdict(separability(X, [0, 1, 1, 0]), X, [0, 1, 1, 0]).get_title())
    Not separable: a mean of rows of one class
    is a mean of rows of the other
    """
    if isinstance(verdict, Verdicts):
        raise ValueError(
            "plot_verdict draws one verdict, and there is one for each class against the rest: "
            f"pick one, as in verdicts[{next(iter(verdict))!r}]."
        )
    if not isinstance(verdict, Separable | Inseparable | Undecided | MarginBracket):
        raise TypeError(
            f"plot_verdict draws what separability or dataset_margin returned, got {type(verdict).__name__}."
        )
    points = plane_points("plot_verdict", X)
    labels = check_labels(y, len(points))
    signs = certified_signs(labels, verdict.positive)
    if signs is None or not verdict.check(points, labels):
        raise ValueError(
            f"expected the {count_of(len(verdict.alpha), 'row')} that the verdict is about, with their labels, "
            "got others, for which it does not hold: give those that it was made from."
        )
    ax = axes_for(ax)
    frame = Frame.around(points, _BORDER)
    frame.set_limits(ax)
    names = _class_names(labels, verdict.positive)
    rows = Rows(points, np.where(signs > 0, names[1], names[0]), names)
    draw_rows(ax, rows)
    if _proves_crossing(verdict):
        support = np.asarray(verdict.support)
        draw_hulls(ax, rows, support, shares(verdict.alpha, verdict.weights, support, signs))
    elif _separates(verdict):
        _draw_separator(ax, verdict, rows, frame)
    ax.set_title(_title(verdict), fontsize="medium")
    first, second = column_names(X)
    ax.set(xlabel=first, ylabel=second)
    draw_legend(ax)
    return ax


def _class_names(labels: np.ndarray, positive: Any) -> np.ndarray:
    """Return the names of the negative and the positive class; a class that is not there is not shown."""
    present = np.unique(labels).tolist()
    others = [label for label in present if label != positive]
    other = label_text(others[0]) if len(others) == 1 else f"not {label_text(positive)}" if others else None
    return np.array([other, None if positive is None else label_text(positive)], dtype=object)


def _separates(verdict: Any) -> bool:
    """Return whether the verdict has a line with all rows on their sides."""
    low = verdict.margin_low if isinstance(verdict, Separable) else verdict.low
    return not isinstance(verdict, Undecided) and 0 < low < math.inf


def _proves_crossing(verdict: Any) -> TypeGuard[Inseparable | MarginBracket]:
    """Return whether a verdict has the proof that the hulls meet; one of lines through the origin has another."""
    if isinstance(verdict, MarginBracket):
        return verdict.high == -math.inf and verdict.kind != "homogeneous"
    return isinstance(verdict, Inseparable)


def _draw_separator(ax: Axes, verdict: Any, rows: Rows, frame: Frame) -> None:
    """Draw the line, w, the band up to the nearest row, and rings around those that may attain the margin."""
    line = Line.of(verdict.w, verdict.b)
    if line is None:
        return
    points = rows.points
    far = np.where(rows.labels == rows.classes[1], 1.0, -1.0) * line.distance(points)
    seen = np.flatnonzero(far <= far.min() * (1 + _NEAREST) + line.rounding(points))
    nearest = seen if verdict.nearest is None else np.union1d(seen, verdict.nearest)
    draw_regions(ax, Regions.beside(frame, line.distance(frame.places())))
    draw_band(ax, line, frame, max(0.0, float(far.min())), "no row lies here")
    draw_w(ax, line, frame, points)
    draw_rings(ax, points[nearest], rows.mark, f"nearest ({len(nearest):,})")


def _title(verdict: Any) -> str:
    """Return the verdict in words."""
    if isinstance(verdict, Undecided):
        return f"Undecided: no line has a margin\nabove {verdict.high:.4g} (geometric)"
    if _proves_crossing(verdict):
        return "Not separable: a mean of rows of one class\nis a mean of rows of the other"
    if isinstance(verdict, Separable):
        low, high, kind = verdict.margin_low, verdict.margin_high, "geometric"
    else:
        low, high, kind = verdict.low, verdict.high, verdict.kind
    if high == -math.inf:
        return "Not separable through the origin"
    if low == math.inf:
        return "Separable: all rows are of one class"
    if low == -math.inf:
        return f"No line found; none has a margin\nabove {high:.4g} ({kind})"
    numbers = [f"{number:.4g}" for number in (low, high)]
    bracket = f"is {numbers[0]}" if numbers[0] == numbers[1] else f"lies between {numbers[0]} and {numbers[1]}"
    return f"Separable: the largest margin\n{bracket} ({kind})"
