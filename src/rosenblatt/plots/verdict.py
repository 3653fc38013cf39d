"""Plots of a verdict on linear separability in the plane, and of the bounds on the margin during the search.

Either a band separates the two classes, or their convex hulls have a point in common.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np

from rosenblatt.messages import count_of, label_text
from rosenblatt.plots import plane_parts as parts
from rosenblatt.plots.axes import (
    BLUE,
    DOTS_UP_TO,
    ORANGE,
    Axes,
    axes_for,
    closes_on_error,
    ink,
    paper,
    tidy,
    whole_ticks,
)
from rosenblatt.plots.plane_parts import LOOKS, TINT, Frame, Line, Regions, Rows, halo
from rosenblatt.theory.certificates import DEFINITIONS
from rosenblatt.theory.inputs import certified_signs, check_labels, number_text, true_minus
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, UndecidedSeparability, Verdicts

# Two convex hulls in the plane and a point in both, which prove that two classes are not linearly separable.


NO_NAMES = ("_", "_", "_")
"""Labels that matplotlib's legend leaves out."""
_SHORT = 99  # the largest denominator with which a share is written as a fraction
_TEXT_AT = ((0, -9), "top"), ((0, 9), "bottom")  # below rows of the first class, above rows of the second


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, counter-clockwise: two for collinear points, one for a single point.

    >>> convex_hull(np.array([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 0]])).tolist()
    [[0, 0], [2, 0], [2, 2], [0, 2]]
    >>> convex_hull(np.array([[1, 1], [0, 0], [2, 2]])).tolist()
    [[0, 0], [2, 2]]
    """
    places = np.unique(points, axis=0)  # sorted from left to right
    if len(places) < 3:
        return places
    lower, upper = _chain(places), _chain(places[::-1])
    return np.array(lower[:-1] + upper[:-1])


def box_corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the corners of the rectangle with the lower left corner ``low`` and the upper right corner ``high``.

    >>> box_corners(np.array([0, 0]), np.array([2, 1])).tolist()
    [[0, 0], [2, 0], [2, 1], [0, 1]]
    """
    return np.array([low, [high[0], low[1]], high, [low[0], high[1]]])


def _chain(places: np.ndarray) -> list[np.ndarray]:
    """Return the lower half of the convex hull of sorted points, or the upper half for reversed order (Andrew 1979)."""
    corners: list[np.ndarray] = []
    for place in places:
        while len(corners) > 1:
            (x1, y1), (x2, y2) = corners[-1] - corners[-2], place - corners[-2]
            if x1 * y2 - y1 * x2 > 0:
                break
            corners.pop()
        corners.append(place)
    return corners


def shares(alpha: np.ndarray, weights: Sequence[int] | None, support: np.ndarray, signs: np.ndarray) -> list[Fraction]:
    """Return each support row's weight divided by the total of its class; exact if integer ``weights`` are given."""
    numbers = [Fraction(number) for number in (alpha[support].tolist() if weights is None else weights)]
    totals = {
        side: sum((number for number, sign in zip(numbers, signs[support], strict=True) if sign == side), Fraction())
        for side in (-1.0, 1.0)
    }
    return [number / totals[float(sign)] for number, sign in zip(numbers, signs[support], strict=True)]


def common_point(points: np.ndarray, support: np.ndarray, portions: list[Fraction], signs: np.ndarray) -> np.ndarray:
    """Return the weighted mean of the second class's support rows, which equals the first class's weighted mean."""
    own = [(part, points[i]) for part, i in zip(portions, support.tolist(), strict=True) if signs[i] > 0]
    return np.array([float(sum((part * Fraction(float(x[j])) for part, x in own), Fraction())) for j in range(2)])


def draw_two_hulls(
    ax: Axes,
    sets: tuple[np.ndarray, np.ndarray],
    common: np.ndarray,
    colours: tuple[str, str],
    names: tuple[str, str, str] = NO_NAMES,
) -> None:
    """Draw the convex hulls of two sets of points, and a cross at a point in both hulls.

    The first hull has a solid outline and the second a dashed one. ``names`` are the legend entries of the two hulls
    and of the cross.
    """
    for points, colour, dash, name in zip(sets, colours, ("-", "--"), names, strict=False):
        corners = convex_hull(points)
        if len(corners) > 2:
            ax.fill(*corners.T, color=colour, alpha=TINT, linewidth=0, zorder=1)
        closed = np.concatenate([corners, corners[:1]])
        ax.plot(*closed.T, dash, color=colour, linewidth=2.4, zorder=1.5, label=name, solid_capstyle="round")
    look = {"markersize": 9, "markeredgewidth": 1.2, "markeredgecolor": paper(), "color": ink(), "linestyle": "none"}
    ax.plot(*common, "X", zorder=4, label=names[2], **look)


def draw_hulls(ax: Axes, rows: Rows, support: np.ndarray, portions: list[Fraction]) -> np.ndarray:
    """Draw the hulls of both classes, the support rows with their shares, and a common point; return that point."""
    points, signs = rows.points, np.where(rows.labels == rows.classes[1], 1.0, -1.0)
    shared = common_point(points, support, portions, signs)
    place = true_minus(", ".join(f"{number:.4g}" for number in shared + 0.0))
    names = ("_", "_", f"in both hulls: ({place})")
    draw_two_hulls(ax, (rows.of_class(1), rows.of_class(0)), shared, (LOOKS[1][0], LOOKS[0][0]), names)
    for i, part in zip(support.tolist(), portions, strict=True):
        k = int(signs[i] > 0)
        ax.plot(*np.stack([points[i], shared]).T, ":", color=LOOKS[k][0], linewidth=1.5, zorder=1)
        offset, edge = _TEXT_AT[k]
        words = {"textcoords": "offset points", "ha": "center", "va": edge, "fontsize": "small", "zorder": 5}
        ax.annotate(_share_text(part), points[i], offset, color=ink(), bbox=halo(), **words)
    parts.draw_rings(ax, points[support], rows.mark, f"their weights prove it ({len(support):,})")
    return shared


def _share_text(part: Fraction) -> str:
    return str(part) if part.denominator <= _SHORT else f"{float(part):.2g}"


_BORDER = 0.15  # space around the rows for the text of the shares, relative to their range
_NEAREST = 1e-6  # rows whose distance exceeds the margin by at most this share count as nearest


@closes_on_error
def plot_verdict(verdict: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the result of `separability` or `dataset_margin` for rows of two features.

    If the classes are linearly separable, the plot shows the line with the largest margin, its weight vector w and the
    band around the line that contains no row. Rings mark the rows that touch the band. If the classes are not linearly
    separable, the plot shows the convex hulls of both classes and a point in both hulls. For each class, this point is
    a weighted mean of the class's ringed rows. The weights are written beside the rows. If the verdict is undecided,
    only the rows are drawn.

    Parameters
    ----------
    verdict : Separable, Inseparable, Undecided or MarginBracket
        For more than two classes, the result contains one verdict for each class against the rest. Choose one of them,
        such as ``verdicts[label]``.
    X : {array-like, sparse matrix, data frame} of shape (n, 2)
        The rows that the verdict is about.
    y : array-like of shape (n,)
        Labels of the rows.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure. The legend is placed below the axes, so create your own figure with
        ``layout="constrained"`` to leave space for it.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_bracket : Draw the bounds on the margin after each step of the search.

    Examples
    --------
    >>> from rosenblatt import separability
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> print(plot_verdict(separability(X, [0, 0, 0, 1]), X, [0, 0, 0, 1]).get_title())
    Separable: the largest margin
    is 0.3536 (geometric)
    >>> print(plot_verdict(separability(X, [0, 1, 1, 0]), X, [0, 1, 1, 0]).get_title())
    Not separable: a weighted mean of one class
    equals a weighted mean of the other
    """
    if isinstance(verdict, Verdicts):
        raise ValueError(
            "plot_verdict draws one verdict, and there is one for each class against the rest: "
            f"pick one, as in verdicts[{next(iter(verdict))!r}]."
        )
    if not isinstance(verdict, Separable | Inseparable | UndecidedSeparability | MarginBracket):
        raise TypeError(
            f"plot_verdict expects the result of separability or dataset_margin, got {type(verdict).__name__}."
        )
    points = parts.plane_points("plot_verdict", X)
    labels = check_labels(y, len(points))
    signs = certified_signs(labels, verdict.positive)
    if signs is None or not verdict.check(points, labels):
        raise ValueError(
            f"expected the {count_of(len(verdict.alpha), 'row')} that the verdict is about, with their labels, "
            "got rows for which the verdict does not hold: pass the rows and labels that it was computed from."
        )
    ax = axes_for(ax)
    frame = Frame.around(points, _BORDER)
    frame.set_limits(ax)
    names = _class_names(labels, verdict.positive)
    rows = Rows(points, np.where(signs > 0, names[1], names[0]), names)
    parts.draw_rows(ax, rows)
    if _proves_crossing(verdict):
        support = np.asarray(verdict.support)
        draw_hulls(ax, rows, support, shares(verdict.alpha, verdict.weights, support, signs))
    elif _separates(verdict):
        _draw_separator(ax, verdict, rows, frame)
    parts.finish(ax, _title(verdict), parts.column_names(X))
    return ax


def _class_names(labels: np.ndarray, positive: Any) -> np.ndarray:
    """Return the names of the negative and the positive class, with None for a class without rows."""
    present = np.unique(labels).tolist()
    others = [label for label in present if label != positive]
    other = label_text(others[0]) if len(others) == 1 else f"not {label_text(positive)}" if others else None
    return np.array([other, None if positive is None else label_text(positive)], dtype=object)


def _separates(verdict: Any) -> bool:
    """Return whether the verdict contains a separating line."""
    low = verdict.margin_low if isinstance(verdict, Separable) else verdict.low
    return not isinstance(verdict, UndecidedSeparability) and 0 < low < math.inf


def _proves_crossing(verdict: Any) -> TypeGuard[Inseparable | MarginBracket]:
    """Return whether a verdict proves that the hulls meet. A proof for lines through the origin is not enough."""
    if isinstance(verdict, MarginBracket):
        return verdict.high == -math.inf and verdict.kind != "homogeneous"
    return isinstance(verdict, Inseparable)


def _draw_separator(ax: Axes, verdict: Any, rows: Rows, frame: Frame) -> None:
    """Draw the line, w, the band up to the nearest row, and rings around the rows nearest to the line."""
    line = Line.of(verdict.w, verdict.b)
    if line is None:
        return
    points = rows.points
    far = np.where(rows.labels == rows.classes[1], 1.0, -1.0) * line.distance(points)
    seen = np.flatnonzero(far <= far.min() * (1 + _NEAREST) + line.rounding(points))
    nearest = seen if verdict.nearest is None else np.union1d(seen, verdict.nearest)
    parts.draw_regions(ax, Regions.beside(frame, line.distance(frame.places())))
    parts.draw_band(ax, line, frame, max(0.0, float(far.min())), "no row lies here")
    parts.draw_w(ax, line, frame, points)
    parts.draw_rings(ax, points[nearest], rows.mark, f"nearest ({len(nearest):,})")


def _title(verdict: Any) -> str:
    """Return the title, which gives the verdict and the margin."""
    if isinstance(verdict, UndecidedSeparability):
        return f"Undecided: no line has a margin\nabove {verdict.high:.4g} (geometric)"
    if _proves_crossing(verdict):
        return "Not separable: a weighted mean of one class\nequals a weighted mean of the other"
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


# The lower and the upper bound on the largest margin after each step of the search.


@closes_on_error
def plot_bracket(bracket: MarginBracket | Separable, ax: Axes | None = None) -> Axes:
    """Draw the lower and upper bounds on the largest margin after each step of the search.

    The upper bound follows from the shortest convex combination found so far, in which each row is multiplied by its
    label, 1 or -1. The lower bound follows from the best separating hyperplane found so far. Both are drawn on a
    logarithmic axis, with the area between them shaded. The last pair of bounds is proved, while the earlier pairs are
    floating-point estimates. The axis and the title name the kind of margin.

    Parameters
    ----------
    bracket : MarginBracket or Separable
        The result of `dataset_margin`, or of `separability` with ``method="hull"``, computed in this session. A result
        that was loaded from a file or found by a linear program does not contain the steps of a search.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_verdict : Draw the separating line and its margin in the plane.

    Examples
    --------
    >>> from rosenblatt import data, dataset_margin
    >>> X, y = data.make_separable(40, 4, margin=0.05, random_state=0)
    >>> ax = plot_bracket(dataset_margin(X, y, kind="augmented"))
    >>> print(ax.get_title())  # doctest: +ELLIPSIS
    0.05, relative gap ...
    (augmented margin: in the space (x, 1), with the bias as a weight)
    """
    kind, low, high = _claim(bracket)
    if not 0 < low <= high < math.inf:
        raise ValueError(
            f"plot_bracket needs a positive and finite margin, got bounds of {low:g} and {high:g}: use linearly "
            "separable data with two classes."
        )
    if not bracket.history:
        raise ValueError(
            "this bracket has no history: it was loaded from a file, or found at once by a linear program "
            '(method="lp"). Call dataset_margin(X, y), or separability(X, y, method="hull"), on the data.'
        )
    steps, lows, highs = (np.array(column) for column in zip(*bracket.history, strict=True))
    steps, lows, highs = np.append(steps, steps[-1] + 1), np.append(lows, low), np.append(highs, high)
    lows = np.where(lows > 0, lows, np.nan)
    ax = axes_for(ax)
    dots = len(steps) <= DOTS_UP_TO
    known = ~np.isnan(lows)
    ax.fill_between(steps[known], lows[known], highs[known], color=ORANGE, alpha=0.15, linewidth=0, step="post")
    upper = {"color": ORANGE, "linestyle": "--", "marker": "v" if dots else "", "drawstyle": "steps-post"}
    lower = {"color": BLUE, "linestyle": "-", "marker": "^" if dots else "", "drawstyle": "steps-post"}
    ax.plot(steps, highs, **upper, label="no margin is above this")
    ax.plot(steps, lows, **lower, label="a hyperplane has this margin")
    ax.plot(steps[-1], low, "*", color=ink(), markersize=14, linestyle="none", zorder=4, label="proved")
    ax.set_yscale("log")
    seen = [*highs.tolist(), *lows[known].tolist()]
    ax.set_ylim(min(seen) / 1.3, max(seen) * 1.3)
    ends = " to ".join(dict.fromkeys(map(number_text, (low, high))))
    title = f"{ends}, relative gap {number_text((high - low) / high, 1)}\n({kind} margin: {DEFINITIONS[kind]})"
    ax.set_title(true_minus(title), fontsize="medium")
    ax.set(xlabel="steps of the search", ylabel=f"{kind} margin")
    whole_ticks(ax, y=False)
    ax.legend(frameon=False)
    tidy(ax)
    return ax


def _claim(bracket: Any) -> tuple[str, float, float]:
    """Return the kind of margin and the two proved bounds on it."""
    if isinstance(bracket, Separable):
        return "geometric", bracket.margin_low, bracket.margin_high
    if isinstance(bracket, MarginBracket):
        return bracket.kind, bracket.low, bracket.high
    raise ValueError(
        "plot_bracket expects the result of rosenblatt.dataset_margin or rosenblatt.separability for separable data, "
        f"got {type(bracket).__name__}."
    )
