"""Warnings about a run: mistakes that are left, features that hardly count beside others, rows sorted by label."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.plurals import count_of
from rosenblatt.training.feature_scales import differ_in_scale
from rosenblatt.training.options import KernelOptions
from rosenblatt.training.run import TrainingRun
from rosenblatt.user_warnings import warn_user


def warn_about_mistakes(run: TrainingRun) -> None:
    """Warn that the last weights leave mistakes."""
    state = run.state
    mistakes = state.mistakes_left()
    limit = "max_updates" if state.at_limit.any() else "max_iter"
    kernel = isinstance(run.options, KernelOptions)
    ratio = 0.0 if kernel else differ_in_scale(run)
    other = "another kernel, a higher degree or a larger gamma" if kernel else "AveragedPerceptron"
    scale = f"; {_scale_advice(ratio)}" if ratio else ""
    warn_user(
        f"{_mistakes_in_pass(mistakes, run)}, the last that {limit} allows: the data is not "
        f'separated; raise {limit}, or use hypothesis="average" or {other} if it may not be separable{scale}.',
        ConvergenceWarning,
    )


def warn_about_scales(run: TrainingRun) -> None:
    """Warn that some features hardly count beside others, where that may be why there are many mistakes."""
    ratio = differ_in_scale(run)
    if ratio:
        mistakes = int(np.maximum(run.state.mistakes[-1], 0).sum())
        warn_user(
            f"{_mistakes_in_pass(mistakes, run)}, and {_scale_advice(ratio)}.",
            ConvergenceWarning,
        )


def _mistakes_in_pass(mistakes: int, run: TrainingRun) -> str:
    several = len(run.state.counters)
    summed = f" (summed over {several} one-vs-rest classifiers)" if several > 1 else ""
    return f"{count_of(mistakes, 'mistake')} in pass {run.state.passes}{summed}"


def _scale_advice(ratio: float) -> str:
    return (
        f"some features range over {ratio:,.0f} times as much as others, which hardly count beside them: scale them, "
        "for instance with sklearn.preprocessing.StandardScaler"
    )


def warn_if_sorted(leading_run: int) -> None:
    """Warn that rows visited as they come start with a long run of one label (CIML section 4.2)."""
    warn_user(
        f"the first {leading_run} rows all carry one label and are visited in the given order: after a few of them "
        "the perceptron gives that label to everything, and the others teach it nothing. "
        'Shuffle the rows, or use fit with shuffle=True or shuffle="once".',
        UserWarning,
    )
