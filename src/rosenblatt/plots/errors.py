"""A picture of training and test error after each pass, and of where the test error turns (CIML figure 4.3)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from rosenblatt.inspection.pipelines import split_pipeline, through_steps
from rosenblatt.plots.axes import (
    BLUE,
    DOTS_UP_TO,
    ORANGE,
    Axes,
    axes_for,
    closes_on_error,
    from_zero,
    ink,
    tidy,
    whole_ticks,
)
from rosenblatt.plurals import count_of
from rosenblatt.tables import Table


class ErrorsDisplay:
    """Training and test error after each pass, as one of scikit-learn's displays; made by ``from_estimator``.

    Parameters
    ----------
    errors : Table
        What ``score_by_pass`` of a learner returned: a row for each pass.

    Attributes
    ----------
    errors : Table
        The columns ``pass``, ``mistakes``, ``training_error`` and, where there are test rows, ``test_error``.
    best_pass : int or None
        The first pass of lowest test error; None without test rows.
    ax_, figure_ : where it is drawn, after ``plot``

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
        """Train a copy of the model, score it after each pass and draw the result; parameters as for `plot_errors`."""
        steps, learner = split_pipeline(model)
        if not hasattr(learner, "score_by_pass"):
            raise ValueError(
                "plot_errors needs a Perceptron, AveragedPerceptron, VotedPerceptron or KernelPerceptron, which can "
                f"be scored after each pass, got {type(learner).__name__}."
            )
        if not isinstance(learner.random_state, Integral) and hasattr(learner, "seed_"):
            learner = clone(learner).set_params(random_state=learner.seed_)  # the same run again
        if steps is not None:
            steps = clone(steps)
            X = steps.fit_transform(X, y)
            X_test = None if X_test is None else through_steps(steps, X_test)
        return cls(learner.score_by_pass(X, y, X_test, y_test)).plot(ax)

    @closes_on_error
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on the matplotlib Axes ``ax``, or on those of a new figure, and return the display itself."""
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
        from_zero(ax, largest)
        whole_ticks(ax, y=False)
        tidy(ax)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _title(self) -> str:
        """Return where the test error is lowest, in words."""
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
    """Draw training and test error after each pass, and mark where test error is lowest: CIML figure 4.3.

    A copy of the model is trained from scratch by ``score_by_pass``, in the same order where the model is fitted, and
    scored after each pass by the hypothesis that predicts. The mistakes made during a pass are another number:
    `plot_history` draws it.

    Parameters
    ----------
    model : Perceptron, AveragedPerceptron, VotedPerceptron or KernelPerceptron, or a pipeline that ends in one
        Fitted or not; it is left as it is. The steps of a pipeline are fitted anew, to ``X``.
    X, y : training rows and their labels
    X_test, y_test : rows held out and their labels, optional
    ax : matplotlib Axes, optional
        Where to draw, and what is returned; otherwise a new figure is made.

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
