"""Whether features differ so much in size that the small ones hardly count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from rosenblatt.training.rows import Matrix, feature_ranges

if TYPE_CHECKING:
    from rosenblatt.training.run import TrainingRun
    from rosenblatt.training.run_state import RunState

LARGE_RATIO = 100.0
"""Ranges that differ by more than this are worth a word."""
MANY_MISTAKES = 0.1
"""A share of mistakes in the last pass from which the scales may be to blame."""
_ROWS = 1000


def scale_ratio(X: Matrix) -> float:
    """Return how many times the widest range of a feature is that of the narrowest, over a sample of rows.

    Features that never change do not count; of sparse rows neither do those that are 0 in most of them, as rare words
    range over less, and that is as it should be. It is 1 where no two features count.

    >>> scale_ratio(np.array([[0.0, 0.0, 3.0], [1.0, 500.0, 3.0]]))
    500.0
    """
    sample = X[:: max(1, X.shape[0] // _ROWS)]
    ranges = feature_ranges(X)
    counts = ranges > 0
    if sp.issparse(X):
        counts &= np.bincount(sample.indices, minlength=X.shape[1]) > sample.shape[0] / 2
    ranges = ranges[counts]
    return float(ranges.max() / ranges.min()) if len(ranges) > 1 else 1.0


def differ_in_scale(run: TrainingRun) -> float:
    """Return the `scale_ratio` of the rows that a run visited last where it is large and mistakes are many, else 0.

    Many are a tenth of the rows of the last pass, for one classifier at least.
    """
    if run.last_batch is None:
        return 0.0
    return ratio_with_mistakes(run.state, run.last_batch.rows.matrix, run.rows_of_a_pass())


def ratio_with_mistakes(state: RunState, X: Matrix, rows_of_a_pass: int | None) -> float:
    """Return the `scale_ratio` of rows where it is large and the run that visited them makes many mistakes, else 0."""
    rows = rows_of_a_pass if state.cut is None else state.cut.rows
    if not state.mistakes or state.mistakes[-1].max() < MANY_MISTAKES * max(1, rows or 0):
        return 0.0
    ratio = scale_ratio(X)
    return ratio if ratio > LARGE_RATIO else 0.0
