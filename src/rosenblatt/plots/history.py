"""A picture of what a run did: the mistakes of each pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.inspection.pipelines import split_pipeline
from rosenblatt.plots.axes import (
    BLUE,
    DOTS_UP_TO,
    ORANGE,
    Axes,
    axes_for,
    closes_on_error,
    from_zero,
    ink,
    paper,
    tidy,
    whole_ticks,
)
from rosenblatt.plurals import count_of, percent


@closes_on_error
def plot_history(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the mistakes made during each pass, and the error on held-out rows where there is one.

    Of a run with early stopping, the pass that it kept is marked on the curve of the held-out error. A pass that was
    cut short, by an interrupt or ``max_updates``, is an open circle: its mistakes are those of the rows it came to.

    Parameters
    ----------
    model : fitted Perceptron, AveragedPerceptron, VotedPerceptron or KernelPerceptron, or a pipeline that ends in one
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> ax = plot_history(Perceptron(shuffle=False).fit([[1], [0]], [1, -1]))
    >>> ax.get_title()
    'Separated: pass 4 made no mistake'
    """
    _, learner = split_pipeline(model)
    if not hasattr(learner, "history_"):
        raise ValueError(f"plot_history needs a fitted perceptron, which {type(learner).__name__} is not.")
    history = learner.history_
    mistakes, fields = history["mistakes"], history.dtype.names or ()
    last = len(mistakes)
    passes = np.arange(1, last + 1)
    ax = axes_for(ax)
    dots = "o" if last <= DOTS_UP_TO else ""
    lines = ax.plot(passes, mistakes, color=BLUE, marker=dots, label="mistakes during the pass")
    cut = getattr(getattr(learner, "report_", None), "last_pass_cut", None)
    if cut is not None:
        look = {"markerfacecolor": paper(), "markeredgecolor": BLUE, "markeredgewidth": 2, "markersize": 9}
        lines += ax.plot(last, mistakes[-1], "o", **look, label=f"cut short after {_reached(cut)}")
    elif mistakes[-1] == 0:
        lines += ax.plot(last, 0, "*", color=ink(), markersize=14, label="a pass without a mistake")
    ax.set(xlabel="pass over the data", ylabel="mistakes during the pass")
    ax.set_xlim(1 - 0.04 * last, last + 0.04 * last)
    from_zero(ax, mistakes)
    whole_ticks(ax)
    tidy(ax)
    best = getattr(learner, "best_iter_", None) if "validation_error" in fields else None
    if "validation_error" in fields:
        lines += _held_out(ax, passes, 100 * history["validation_error"], dots, best)
    ax.set_title(_title(learner, last, int(mistakes[-1]), cut is not None, best))
    if len(lines) > 1:
        ax.legend(handles=lines, frameon=False)
    return ax


def _title(learner: Any, last: int, left: int, cut: bool, best: int | None) -> str:
    """Return how the run ended, in words."""
    if cut:
        return f"Pass {last} was cut short: {count_of(left, 'mistake')} so far"
    if best is not None:
        return f"Early stopping kept pass {best} of {last}"
    if left == 0:
        # not a verdict by itself: partial_fit may see part of the data, early stopping may keep another pass
        return f"Separated: pass {last} made no mistake" if learner.converged_ else f"Pass {last} made no mistake"
    return f"Not separated: {count_of(left, 'mistake')} in pass {last}"


def _reached(cut: Any) -> str:
    """Return how far a pass came before it was cut short, in words."""
    return count_of(cut.rows, "row") if cut.share is None else f"{percent(cut.share)} of its rows"


def _held_out(ax: Axes, passes: np.ndarray, percent: np.ndarray, dots: str, best: int | None) -> list[Any]:
    """Draw the error on held-out rows on an axis of its own; return what the legend names."""
    twin = ax.twinx()
    lines = twin.plot(passes, percent, "--", color=ORANGE, marker=dots and "s", label="held-out error")
    if best is not None:
        look = {"markerfacecolor": "none", "markeredgecolor": ink(), "markeredgewidth": 2, "markersize": 13}
        lines += twin.plot(best, percent[best - 1], "D", **look, label=f"pass {best}, which is kept")
    twin.set_ylabel("error on held-out rows after the pass (%)")
    from_zero(twin, percent)
    twin.spines[["top", "left"]].set_visible(False)
    return lines
