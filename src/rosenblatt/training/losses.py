"""The training loss of each pass, which decides whether ``tol`` stops a run.

The loss of a row is ``max(0, t - y a)``, where y = +-1 is the label, a the activation and t the threshold of the update
rule. For t = 0 this is the perceptron's loss, and for t = 1 the hinge loss. The loss of a pass is the mean over its
rows, as in scikit-learn. Each activation is rounded once, and the losses are summed exactly. So the mean does not
depend on whether rows are dense or sparse, or on how they are divided into batches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Losses:
    """The loss of each classifier in the current pass, and its decrease in the earlier passes of this run.

    >>> losses = Losses.of_new_run(1)
    >>> for values in ([2.0, 1.0], [1.0, 1.0], [1.0, 0.9]):
    ...     losses = losses.begin_pass().add([np.array(values)]).judge(np.array([0]), np.array([2.0]), tol=0.1)
    ...     print(losses.least, losses.stalled)
    [1.5] [0]
    [1.] [0]
    [0.95] [1]
    """

    sums: Floats
    """For each classifier, a row of numbers whose exact sum is the sum of the losses in the current pass."""
    least: Floats
    """For each classifier, the lowest loss of a pass so far."""
    stalled: Integers
    """For each classifier, the number of consecutive passes in which the loss did not fall by at least ``tol``."""

    @classmethod
    def of_new_run(cls, n: int) -> Losses:
        """Return the losses of ``n`` classifiers before the first pass."""
        return cls(np.zeros((n, 1)), np.full(n, math.inf), np.zeros(n, np.int64))

    def begin_pass(self) -> Losses:
        """Return the losses at the start of a pass, with all sums reset to zero."""
        return replace(self, sums=np.zeros((len(self.sums), 1)))

    def add(self, losses: Sequence[Floats]) -> Losses:
        """Return the losses after adding further rows: ``losses`` has an array of the rows' losses per classifier."""
        rows = [_expansion([*total, *more.tolist()]) for total, more in zip(self.sums.tolist(), losses, strict=True)]
        width = max(1, *map(len, rows))
        return replace(self, sums=np.array([row + [0.0] * (width - len(row)) for row in rows]))

    def judge(self, active: Integers, visits: Floats, tol: float) -> Losses:
        """Return the losses at the end of a pass, with ``least`` and ``stalled`` updated.

        ``active`` has the indices of the classifiers that made the pass, and ``visits`` the rows that each visited.
        """
        least, stalled = self.least.copy(), self.stalled.copy()
        for k, n in zip(active, visits, strict=True):
            loss = _mean(self.sums[k], int(n))
            stalled[k] = stalled[k] + 1 if loss > least[k] - tol else 0
            least[k] = min(loss, least[k])
        return replace(self, least=least, stalled=stalled)

    def some(self, members: Integers) -> Losses:
        """Return the losses of the classifiers with indices ``members``."""
        return Losses(self.sums[members], self.least[members], self.stalled[members])


def _expansion(values: list[float]) -> list[float]:
    """Return a short list of numbers, the largest first, with the same exact sum as ``values``; [inf] on overflow.

    >>> _expansion([1.0, 2.0**-60, 2.0])
    [3.0, 8.673617379884035e-19]
    """
    if not all(map(math.isfinite, values)):
        return [math.inf]
    terms: list[float] = []
    try:
        # The rest is a multiple of the smallest float, and shrinks by a factor of 2**53 each time, so it becomes 0.
        while rest := math.fsum(values):
            terms.append(rest)
            values.append(-rest)
    except OverflowError:
        return [math.inf]
    return terms


def _mean(total: Floats, visits: int) -> float:
    """Return the exact sum of ``total`` divided by the number of visits, rounded once."""
    if not np.isfinite(total).all():
        return math.inf
    return float(sum(map(Fraction, total.tolist()), Fraction(0)) / max(1, visits))
