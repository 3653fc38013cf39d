"""A picture of what the visiting order does: the mistakes of each pass, order by order (CIML figure 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rosenblatt.inspection.pipelines import split_pipeline
from rosenblatt.label_text import label_text
from rosenblatt.plots.axes import (
    BLUE,
    DOTS_UP_TO,
    GREEN,
    ORANGE,
    Axes,
    axes_for,
    closes_on_error,
    from_zero,
    import_matplotlib,
    ink,
    shown_name,
    whole_ticks,
)
from rosenblatt.plots.plane_parts import draw_legend

LOOKS = ((BLUE, "-", "o"), (ORANGE, "--", "s"), (GREEN, ":", "^"), ("#CC79A7", "-.", "D"), (None, (0, (1, 1)), "v"))
"""The colour, line and mark of each order, as they come; None is that of the ink."""
_APART, _ROOM = 8.0, 0.045  # how much lower the ends of the next order are: in points, and as a share of the axes
_UNEVEN = 8  # passes are on a logarithmic axis where one order needs so many times those of another


@closes_on_error
def plot_orders(models: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw the mistakes of each pass, one curve for each visiting order, and where each run ended: CIML figure 4.4.

    Of several models the curve is the mean, and the band around it reaches from the fewest to the most mistakes. A run
    that has made a pass without a mistake would make none later, so it counts as 0 from there; one that stopped before
    counts up to its last whole pass. Marks on the axis show the pass without a mistake of each run.

    Parameters
    ----------
    models : dict
        For each name of an order a fitted model, or a list of them (of several seeds): Perceptron, AveragedPerceptron,
        VotedPerceptron or KernelPerceptron, or pipelines that end in one. Up to five names.
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.data import make_separable
    >>> X, y = make_separable(100, 5, 0.1, random_state=0)
    >>> fixed = Perceptron(shuffle=False).fit(X, y)
    >>> anew = [Perceptron(random_state=seed).fit(X, y) for seed in range(5)]
    >>> ax = plot_orders({"fixed": fixed, "anew each pass": anew})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['fixed: 2', 'anew each pass: 3.6 (2 to 5 in 5 runs)']
    """
    if not isinstance(models, Mapping) or not 1 <= len(models) <= len(LOOKS):
        raise ValueError(
            f"plot_orders draws a dictionary of 1 to {len(LOOKS)} visiting orders, such as "
            f'{{"fixed": model, "shuffled": [model, model]}}, got {_words(models)}.'
        )
    runs = [(label_text(name), _learners(name, given)) for name, given in models.items()]
    longest = max(_passes(learner) for _, learners in runs for learner in learners)
    ax = axes_for(ax)
    ends, tops = [], []
    for place, ((name, learners), (colour, dash, marker)) in enumerate(zip(runs, LOOKS, strict=False)):
        colour = colour or ink()
        mistakes = np.array([_mistakes(learner, longest) for learner in learners])
        drawn = mistakes[:, ~np.isnan(mistakes).all(axis=0)]
        mean, low, high = (f(drawn, axis=0) for f in (np.nanmean, np.nanmin, np.nanmax))
        last = max(map(_passes, learners))
        passes = np.arange(1, 1 + min(last, len(mean)))
        every = max(1, last // 12) if last > DOTS_UP_TO else 1
        look = {"color": colour, "linestyle": dash, "marker": marker, "markevery": every, "markersize": 5}
        ax.plot(passes, mean[: len(passes)], **look, label=f"{shown_name(name)}: {_end_words(learners)}")
        if len(learners) > 1:
            band = {"color": colour, "alpha": 0.2, "linewidth": 0}
            ax.fill_between(passes, low[: len(passes)], high[: len(passes)], **band)
        clean = [_passes(learner) for learner in learners if learner.converged_]
        mark = {"markersize": 6, "markerfacecolor": "none", "markeredgecolor": colour, "markeredgewidth": 1.2}
        ax.plot(clean, np.zeros(len(clean)), marker, linestyle="none", zorder=4, transform=_below(ax, place), **mark)
        tops.append(high.max(initial=0.0))
        ends.append(np.mean(list(map(_passes, learners))))
    ax.set(xlabel="pass over the data", ylabel="mistakes during the pass")
    ax.set_title("Mistakes by pass, for each visiting order", fontsize="medium")
    whole_ticks(ax)
    if max(ends) >= _UNEVEN * min(ends):
        ax.set_xscale("log")
        ax.set_xlabel("pass over the data (logarithmic)")
    from_zero(ax, np.array(tops))
    low, high = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if 0 <= tick <= high]
    ax.set(ylim=(low - _ROOM * (len(runs) - 1) * (high - low), high), yticks=ticks)
    draw_legend(ax, "passes, up to the first without a mistake (open marks)")
    return ax


def _below(ax: Axes, place: int) -> Any:
    """Return where the ends of runs are drawn: for each order a little lower than for the one before, side by side."""
    shift = import_matplotlib("transforms").ScaledTranslation(0, -place * _APART / 72, ax.figure.figure.dpi_scale_trans)
    return ax.transData + shift


def _learners(name: Any, given: Any) -> list[Any]:
    """Return the fitted learners of one order."""
    models = list(given) if isinstance(given, list | tuple) else [given]
    learners = [split_pipeline(model)[1] for model in models]
    for learner in learners:
        if not hasattr(learner, "history_"):
            raise ValueError(
                f"plot_orders needs fitted perceptrons, which that of {name!r}, {type(learner).__name__}, is not."
            )
    if not learners:
        raise ValueError(f"plot_orders needs at least one model of each order, got none of {name!r}.")
    return learners


def _passes(learner: Any) -> int:
    """Return how many passes a run made."""
    return len(learner.history_)


def _mistakes(learner: Any, longest: int) -> np.ndarray:
    """Return the mistakes of each pass: 0 after one without a mistake, else NaN where no whole pass was made."""
    made = learner.history_["mistakes"].astype(float)
    if getattr(getattr(learner, "report_", None), "last_pass_cut", None) is not None:
        made[-1] = np.nan
    rest = np.full(longest - len(made), 0.0 if learner.converged_ else np.nan)
    return np.concatenate([made, rest])


def _end_words(learners: list[Any]) -> str:
    """Return how many passes the runs of one order took, in words."""
    clean = [_passes(learner) for learner in learners if learner.converged_]
    n = len(learners)
    if len(clean) < n:
        return f"over {_passes(learners[0]):,}" if n == 1 else f"{n - len(clean):,} of {n:,} runs left mistakes"
    return f"{clean[0]:,}" if n == 1 else f"{np.mean(clean):.3g} ({min(clean):,} to {max(clean):,} in {n:,} runs)"


def _words(models: Any) -> str:
    return f"{len(models):,} of them" if isinstance(models, Mapping) else type(models).__name__
