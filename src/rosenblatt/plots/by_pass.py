"""Plots of a run by pass: mistakes, training and test error, and the effect of the visiting order."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from rosenblatt.inspection.explain import split_pipeline, through_steps
from rosenblatt.messages import count_of, label_text, percent
from rosenblatt.plots import axes
from rosenblatt.plots.axes import BLUE, DOTS_UP_TO, GREEN, ORANGE, Axes, axes_for, closes_on_error, ink
from rosenblatt.plots.plane_parts import draw_legend
from rosenblatt.tables import Table


@closes_on_error
def plot_history(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the mistakes made during each pass and, with early stopping, the error on held-out rows after each pass.

    With early stopping, a mark shows the pass whose weights were kept. An open circle marks a last pass that was cut
    short by an interrupt or ``max_updates``; its mistakes are counted on the visited rows only.

    Parameters
    ----------
    model : fitted perceptron, or a pipeline that ends in one
        Any learner of this library that has ``history_``.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_errors : Draw training and test error after each pass.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> ax = plot_history(Perceptron(shuffle=False).fit([[1], [0]], [1, -1]))
    >>> ax.get_title()
    'Separated: pass 4 made no mistake'
    """
    _, learner = split_pipeline(model)
    if not hasattr(learner, "history_"):
        raise ValueError(f"plot_history needs a fitted perceptron, got {type(learner).__name__}.")
    history = learner.history_
    mistakes, fields = history["mistakes"], history.dtype.names or ()
    last = len(mistakes)
    passes = np.arange(1, last + 1)
    ax = axes_for(ax)
    dots = "o" if last <= DOTS_UP_TO else ""
    lines = ax.plot(passes, mistakes, color=BLUE, marker=dots, label="mistakes during the pass")
    cut = getattr(getattr(learner, "report_", None), "last_pass_cut", None)
    if cut is not None:
        look = {"markerfacecolor": axes.paper(), "markeredgecolor": BLUE, "markeredgewidth": 2, "markersize": 9}
        lines += ax.plot(last, mistakes[-1], "o", **look, label=f"cut short after {_reached(cut)}")
    elif mistakes[-1] == 0:
        lines += ax.plot(last, 0, "*", color=ink(), markersize=14, label="a pass without a mistake")
    ax.set(xlabel="pass over the data", ylabel="mistakes during the pass")
    ax.set_xlim(1 - 0.04 * last, last + 0.04 * last)
    axes.from_zero(ax, mistakes)
    axes.whole_ticks(ax)
    axes.tidy(ax)
    best = getattr(learner, "best_iter_", None) if "validation_error" in fields else None
    if "validation_error" in fields:
        lines += _held_out(ax, passes, 100 * history["validation_error"], dots, best)
    ax.set_title(_title(learner, last, int(mistakes[-1]), cut is not None, best))
    if len(lines) > 1:
        ax.legend(handles=lines, frameon=False)
    return ax


def _title(learner: Any, last: int, left: int, cut: bool, best: int | None) -> str:
    """Return the title, which states how the run ended."""
    if cut:
        return f"Pass {last} was cut short: {count_of(left, 'mistake')} so far"
    if best is not None:
        return f"Early stopping kept pass {best} of {last}"
    if left == 0:
        # an error-free pass alone is not a proof: partial_fit may see only part of the data, and early stopping may
        # keep another pass
        return f"Separated: pass {last} made no mistake" if learner.converged_ else f"Pass {last} made no mistake"
    return f"Not separated: {count_of(left, 'mistake')} in pass {last}"


def _reached(cut: Any) -> str:
    """Return text with the number or the share of the rows that an interrupted pass visited."""
    return count_of(cut.rows, "row") if cut.share is None else f"{percent(cut.share)} of its rows"


def _held_out(ax: Axes, passes: np.ndarray, percent: np.ndarray, dots: str, best: int | None) -> list[Any]:
    """Draw the error on held-out rows against a second vertical axis; return the lines for the legend."""
    twin = ax.twinx()
    lines = twin.plot(passes, percent, "--", color=ORANGE, marker=dots and "s", label="held-out error")
    if best is not None:
        look = {"markerfacecolor": "none", "markeredgecolor": ink(), "markeredgewidth": 2, "markersize": 13}
        lines += twin.plot(best, percent[best - 1], "D", **look, label=f"pass {best}, which is kept")
    twin.set_ylabel("error on held-out rows after the pass (%)")
    axes.from_zero(twin, percent)
    twin.spines[["top", "left"]].set_visible(False)
    return lines


# Training and test error after each pass, and the pass with the lowest test error (CIML figure 4.3).


class ErrorsDisplay:
    """Training and test error after each pass, as a scikit-learn display object.

    Create it with ``from_estimator``, which also draws it.

    Parameters
    ----------
    errors : Table
        Errors by pass, as the method ``score_by_pass`` of a learner returns them.

    Attributes
    ----------
    errors : Table
        A row for each pass, with the columns ``pass``, ``mistakes``, ``training_error`` and, if there are test rows,
        ``test_error``.
    best_pass : int or None
        The first pass with the lowest test error. None without test rows.
    ax_ : matplotlib Axes
        The axes of the last ``plot``.
    figure_ : matplotlib Figure
        The figure of the last ``plot``.

    See Also
    --------
    plot_errors : Draw the same plot and return its axes.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[1], [0], [3], [-2]], [1, -1, 1, -1]
    >>> display = ErrorsDisplay.from_estimator(Perceptron(shuffle=False), X, y, [[0.25], [2]], [-1, 1])
    >>> display.errors["training_error"], display.best_pass
    ([0.0, 0.25, 0.0, 0.0], 2)
    """

    def __init__(self, errors: Table) -> None:
        self.errors = errors
        self.best_pass: int | None = None
        if "test_error" in errors.columns:
            self.best_pass = errors["pass"][int(np.argmin(errors["test_error"]))]

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None, *, ax: Axes | None = None
    ) -> Self:
        """Train a copy of the model, compute its errors after each pass and draw them.

        Parameters
        ----------
        model, X, y, X_test, y_test, ax
            As for `plot_errors`.

        Returns
        -------
        display : ErrorsDisplay
            The display, already drawn.
        """
        steps, learner = split_pipeline(model)
        if not hasattr(learner, "score_by_pass"):
            raise ValueError(
                "plot_errors needs a Perceptron, AveragedPerceptron, VotedPerceptron or KernelPerceptron, which can "
                f"be scored after each pass, got {type(learner).__name__}."
            )
        if not isinstance(learner.random_state, Integral) and hasattr(learner, "seed_"):
            learner = clone(learner).set_params(random_state=learner.seed_)  # repeats the run of the fitted model
        if steps is not None:
            steps = clone(steps)
            X = steps.fit_transform(X, y)
            X_test = None if X_test is None else through_steps(steps, X_test)
        return cls(learner.score_by_pass(X, y, X_test, y_test)).plot(ax)

    @closes_on_error
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the errors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        display : ErrorsDisplay
            This display.
        """
        passes, training = self.errors["pass"], 100 * np.array(self.errors["training_error"])
        ax = axes_for(ax)
        dots = len(passes) <= DOTS_UP_TO
        ax.plot(passes, training, color=BLUE, marker="o" if dots else "", label="training error")
        largest = training
        if self.best_pass is not None:
            test = 100 * np.array(self.errors["test_error"])
            largest = np.maximum(training, test)
            ax.plot(passes, test, "--", color=ORANGE, marker="s" if dots else "", label="test error")
            lowest = float(test.min())
            ax.axvline(self.best_pass, color=ink(), linestyle=":", linewidth=1.2, zorder=0)
            look = {"markerfacecolor": "none", "markeredgecolor": ink(), "markeredgewidth": 2, "markersize": 13}
            ax.plot(self.best_pass, lowest, "D", linestyle="none", **look, label=f"lowest, after pass {self.best_pass}")
        ax.set_title(self._title(), fontsize="medium")
        ax.set(xlabel="passes over the training data", ylabel="error after the pass (%)")
        reach = max(0.5, 0.04 * len(passes))
        ax.set_xlim(passes[0] - reach, passes[-1] + reach)
        axes.from_zero(ax, largest)
        axes.whole_ticks(ax, y=False)
        axes.tidy(ax)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _title(self) -> str:
        """Return the title, which names the pass with the lowest test error."""
        last = self.errors["pass"][-1]
        if self.best_pass is None:
            return f"Training error after {count_of(last, 'pass')}: {100 * self.errors['training_error'][-1]:.3g}%"
        test = 100 * np.array(self.errors["test_error"])
        if self.best_pass == last:
            return f"Test error is lowest after the last pass, {last}: {test[-1]:.3g}%"
        return (
            f"Test error is lowest after pass {self.best_pass}: {test.min():.3g}%"
            f"\n({test[-1]:.3g}% after the last, {last})"
        )


def plot_errors(model: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None, ax: Axes | None = None) -> Axes:
    """Draw training and test error after each pass, and mark the lowest test error, as in CIML figure 4.3.

    The method ``score_by_pass`` trains a copy of the model from scratch. If the model is fitted, the copy visits the
    rows in the same orders. After each pass the errors of the copy on all rows are computed. These errors differ from
    the mistakes made during the pass, which `plot_history` draws.

    Parameters
    ----------
    model : perceptron, or a pipeline that ends in one
        Any learner of this library that has ``score_by_pass``. It need not be fitted and is not changed. The earlier
        steps of a pipeline are refitted to ``X``.
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        Training rows.
    y : array-like of shape (n,)
        Labels of the training rows.
    X_test : {array-like, sparse matrix, data frame} of shape (m, d), default=None
        Test rows. None draws the training error only.
    y_test : array-like of shape (m,), default=None
        Labels of the test rows; required if ``X_test`` is given.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_history : Draw the mistakes made during each pass.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[1], [0], [3], [-2]], [1, -1, 1, -1]
    >>> ax = plot_errors(Perceptron(shuffle=False), X, y, [[0.25], [2]], [-1, 1])
    >>> print(ax.get_title())
    Test error is lowest after pass 2: 0%
    (0% after the last, 4)
    """
    return ErrorsDisplay.from_estimator(model, X, y, X_test, y_test, ax=ax).ax_


# The effect of the visiting order: mistakes by pass for several orders (CIML figure 4.4).


LOOKS = ((BLUE, "-", "o"), (ORANGE, "--", "s"), (GREEN, ":", "^"), ("#CC79A7", "-.", "D"), (None, (0, (1, 1)), "v"))
"""The colour, line style and marker of each curve; None means the colour that `ink` returns."""
_SPACING, _SPACING_SHARE = 8.0, 0.045  # between the end marks of two orders: in points, and as a share of the height
_UNEVEN = 8  # the horizontal axis is logarithmic if one order takes at least this many times the passes of another


@closes_on_error
def plot_orders(models: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw the mistakes of each pass for several visiting orders, one curve for each order, as in CIML figure 4.4.

    If an order has several runs, the curve is their mean, and a band reaches from the fewest to the most mistakes. A
    run that converged counts as 0 mistakes in later passes, because it would make none. A run that ended before it
    converged is included up to its last whole pass. Open marks at the bottom show the pass in which each run converged.

    Parameters
    ----------
    models : dict of str to model or list of models
        A dictionary from the name of each visiting order to a fitted perceptron, or to a list of perceptrons fitted
        with different seeds. Pipelines that end in a perceptron are allowed. At most five orders.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    plot_history : Draw the mistakes of a single run.

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
            f"plot_orders takes a dictionary of 1 to {len(LOOKS)} visiting orders, such as "
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
        ax.plot(passes, mean[: len(passes)], **look, label=f"{axes.shown_name(name)}: {_end_words(learners)}")
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
    axes.whole_ticks(ax)
    if max(ends) >= _UNEVEN * min(ends):
        ax.set_xscale("log")
        ax.set_xlabel("pass over the data (logarithmic)")
    axes.from_zero(ax, np.array(tops))
    low, high = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if 0 <= tick <= high]
    ax.set(ylim=(low - _SPACING_SHARE * (len(runs) - 1) * (high - low), high), yticks=ticks)
    draw_legend(ax, "passes, up to the first without a mistake (open marks)")
    return ax


def _below(ax: Axes, place: int) -> Any:
    """Return the transform that puts the convergence marks of a visiting order just below those of the previous one."""
    shift = axes.import_matplotlib("transforms").ScaledTranslation(
        0, -place * _SPACING / 72, ax.figure.figure.dpi_scale_trans
    )
    return ax.transData + shift


def _learners(name: Any, given: Any) -> list[Any]:
    """Return the fitted learners for one visiting order."""
    models = list(given) if isinstance(given, list | tuple) else [given]
    learners = [split_pipeline(model)[1] for model in models]
    for learner in learners:
        if not hasattr(learner, "history_"):
            raise ValueError(f"plot_orders needs fitted perceptrons, got {type(learner).__name__} for {name!r}.")
    if not learners:
        raise ValueError(f"plot_orders needs at least one model for each order, got none for {name!r}.")
    return learners


def _passes(learner: Any) -> int:
    """Return the number of passes of a run."""
    return len(learner.history_)


def _mistakes(learner: Any, longest: int) -> np.ndarray:
    """Return the mistakes of ``longest`` passes: 0 after the run converged, NaN for passes that were not completed."""
    made = learner.history_["mistakes"].astype(float)
    if getattr(getattr(learner, "report_", None), "last_pass_cut", None) is not None:
        made[-1] = np.nan
    rest = np.full(longest - len(made), 0.0 if learner.converged_ else np.nan)
    return np.concatenate([made, rest])


def _end_words(learners: list[Any]) -> str:
    """Return legend text: the passes that the runs of one visiting order took, or how many runs did not converge."""
    clean = [_passes(learner) for learner in learners if learner.converged_]
    n = len(learners)
    if len(clean) < n:
        return f"over {_passes(learners[0]):,}" if n == 1 else f"{n - len(clean):,} of {n:,} runs left mistakes"
    return f"{clean[0]:,}" if n == 1 else f"{np.mean(clean):.3g} ({min(clean):,} to {max(clean):,} in {n:,} runs)"


def _words(models: Any) -> str:
    return f"{len(models):,} of them" if isinstance(models, Mapping) else type(models).__name__
