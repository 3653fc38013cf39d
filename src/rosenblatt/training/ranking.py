"""Evaluate the scores of a two-class model: ROC AUC, average precision, and the threshold of least cost.

A row is positive if its label is the second class, which is predicted for positive scores. Rows with equal scores are
tied.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def _count_ties(scores: Floats, positive: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the positive and the negative rows for each distinct score, from the largest score to the smallest."""
    distinct, group = np.unique(-scores, return_inverse=True)
    positives = np.bincount(group[positive], minlength=len(distinct))
    return positives, np.bincount(group, minlength=len(distinct)) - positives


def roc_auc(scores: Floats, positive: Mask) -> float | None:
    """Return the area under the ROC curve: the share of pairs in which the positive row has the larger score.

    A pair is a positive row and a negative row; a tied pair counts one half. The pairs are counted exactly, and the
    share is rounded once. The result is None if all rows are of one class.

    >>> roc_auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
    0.875
    """
    positives, negatives = (counts.tolist() for counts in _count_ties(scores, positive))
    above = twice = 0
    for p, n in zip(positives, negatives, strict=True):
        # invariant: ``above`` is the number of positive rows with a larger score
        twice += n * (2 * above + p)
        above += p
    pairs = sum(positives) * sum(negatives)
    return twice / (2 * pairs) if pairs else None


def average_precision(scores: Floats, positive: Mask) -> float | None:
    """Return the average precision: the area under the precision-recall curve, summed in steps.

    For each positive row, the precision is computed over all rows whose score is at least as large. The result is the
    mean of these precisions, or None if there is no positive row.

    >>> average_precision(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.8333333333333333
    """
    positives, negatives = _count_ties(scores, positive)
    total = int(positives.sum())
    precision = np.cumsum(positives) / np.cumsum(positives + negatives)
    return math.fsum((positives * precision).tolist()) / total if total else None


class Threshold(NamedTuple):
    """A threshold on the scores of two classes. The second class is predicted for scores above ``value``."""

    value: float
    cost: float
    """The total cost of the mistakes with this threshold."""
    cost_at_zero: float
    """The total cost of the mistakes with the threshold 0."""


def least_cost(
    scores: Floats, positive: Mask, costs: tuple[float, float], weight: NDArray[np.floating[Any]] | None = None
) -> Threshold:
    """Return the threshold with the least total cost of misclassified rows.

    ``costs`` has the cost of misclassifying a negative row, then that of a positive row. The cost of a row is
    multiplied by its ``weight``.

    The candidates are the midpoints of neighbouring scores, one threshold below all scores, and one above them. In the
    gap that contains 0, the candidate is 0 instead. Of the candidates with the least cost, the nearest to 0 is
    returned. If two of them are equally near, the positive one is returned.

    >>> scores, positive = np.array([-3.0, -1.0, 0.5, 2.0]), np.array([False, True, False, True])
    >>> least_cost(scores, positive, (1.0, 1.0))
    Threshold(value=1.25, cost=1.0, cost_at_zero=2.0)
    >>> least_cost(scores, positive, (1.0, 10.0))
    Threshold(value=-2.0, cost=1.0, cost_at_zero=11.0)
    """
    w = np.ones(len(scores)) if weight is None else np.asarray(weight, np.float64)
    distinct, group = np.unique(scores, return_inverse=True)
    missed, false = (np.bincount(group[rows], w[rows], len(distinct)) for rows in (positive, ~positive))
    # cost[k] is that of a threshold above the first k different scores
    cost = costs[1] * np.append(0.0, np.cumsum(missed)) + costs[0] * np.append(np.cumsum(false[::-1])[::-1], 0.0)
    low, high = distinct[0], distinct[-1]
    middle = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
    middle = np.where(middle < distinct[1:], middle, distinct[:-1])
    values = np.concatenate([[low - max(1.0, abs(low))], middle, [high + max(1.0, abs(high))]])
    at_zero = int(np.searchsorted(distinct, 0.0, side="right"))
    values[at_zero] = 0.0
    least = np.flatnonzero(cost == cost.min())
    best = min(least.tolist(), key=lambda k: (abs(values[k]), -values[k]))
    return Threshold(float(values[best]), float(cost[best]), float(cost[at_zero]))
