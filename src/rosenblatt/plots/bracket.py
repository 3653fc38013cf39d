"""A picture of the margin bracket closing: what is proved from below and from above, step by step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.plots.axes import BLUE, DOTS_UP_TO, ORANGE, Axes, axes_for, closes_on_error, ink, tidy, whole_ticks
from rosenblatt.theory.row_certificates import DEFINITIONS
from rosenblatt.theory.verdicts import MarginBracket, Separable
from rosenblatt.theory.words import number_text, true_minus


@closes_on_error
def plot_bracket(bracket: MarginBracket | Separable, ax: Axes | None = None) -> Axes:
    """Draw how the bracket around the largest margin closed: its lower and upper end after each step of the search.

    The upper end is the shortest mean that weights of the rows have given, the lower one the margin of the best
    hyperplane, drawn from where it separates; both are on a logarithmic axis, and what lies between them is shaded. The
    last pair is proved, those on the way are in floating point. The axis and the title say which margin it is.

    Parameters
    ----------
    bracket : MarginBracket or Separable
        What `dataset_margin` returned in this session, or `separability` by its method "hull": one that was loaded
        from a file, or found by a linear program, has no history.
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.

    Examples
    --------
    >>> from rosenblatt import data, dataset_margin
    >>> X, y = data.make_separable(40, 4, margin=0.05, random_state=0)
    >>> ax = plot_bracket(dataset_margin(X, y, kind="augmented"))
    >>> print(ax.get_title())  # doctest: +ELLIPSIS
    0.05, proved to a share of ...
    (augmented margin: of (x, 1), the bias a weight like the others)
    """
    kind, low, high = _claim(bracket)
    if not 0 < low <= high < math.inf:
        raise ValueError("plot_bracket draws a bracket around a margin above 0, which there is not: nothing to close.")
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
    title = f"{ends}, proved to a share of {number_text((high - low) / high, 1)}\n({kind} margin: {DEFINITIONS[kind]})"
    ax.set_title(true_minus(title), fontsize="medium")
    ax.set(xlabel="steps of the search", ylabel=f"{kind} margin")
    whole_ticks(ax, y=False)
    ax.legend(frameon=False)
    tidy(ax)
    return ax


def _claim(bracket: Any) -> tuple[str, float, float]:
    """Return the kind of margin and the two ends that are proved."""
    if isinstance(bracket, Separable):
        return "geometric", bracket.margin_low, bracket.margin_high
    if isinstance(bracket, MarginBracket):
        return bracket.kind, bracket.low, bracket.high
    raise ValueError(
        "plot_bracket draws what rosenblatt.dataset_margin or rosenblatt.separability returned for data that can be "
        f"separated, got {type(bracket).__name__}."
    )
