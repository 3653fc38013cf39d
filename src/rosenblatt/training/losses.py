"""The loss of a pass, by which ``tol`` stops a run.

A visit to a row has the loss ``max(0, t - y a)``, for the label y = +-1, the activation a and the threshold t of the
update rule: the perceptron's loss for t = 0, and the hinge loss for t = 1. The loss of a pass is the mean over its
visits, as in scikit-learn. Activations are rounded once, and their losses are summed exactly, so the mean depends
neither on the layout of the rows nor on how they are divided.
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
    """The losses of each classifier in the pass in progress, and how they fell in the passes of this run before it.

    >>> losses = Losses.of_new_run(1)
    >>> for values in ([2.0, 1.0], [1.0, 1.0], [1.0, 0.9]):
    ...     losses = losses.begin_pass().add([np.array(values)]).judge(np.array([0]), np.array([2.0]), tol=0.1)
    ...     print(losses.least, losses.stalled)
    [1.5] [0]
    [1.] [0]
    [0.95] [1]
    """

    sums: Floats
    """The exact sums of the losses in the pass, a row for each classifier, whose numbers add up to the sum."""
    least: Floats
    """The lowest loss of a pass."""
    stalled: Integers
    """The number of passes in a row in which the loss has not fallen enough."""

    @classmethod
    def of_new_run(cls, n: int) -> Losses:
        """Return the losses of ``n`` classifiers before the first pass."""
        return cls(np.zeros((n, 1)), np.full(n, math.inf), np.zeros(n, np.int64))

    def begin_pass(self) -> Losses:
        """Return these losses with sums of zero."""
        return replace(self, sums=np.zeros((len(self.sums), 1)))

    def add(self, losses: Sequence[Floats]) -> Losses:
        """Return these losses with more losses of each classifier added to the sums."""
        rows = [_expansion([*total, *more.tolist()]) for total, more in zip(self.sums.tolist(), losses, strict=True)]
        width = max(1, *map(len, rows))
        return replace(self, sums=np.array([row + [0.0] * (width - len(row)) for row in rows]))

    def judge(self, active: Integers, visits: Floats, tol: float) -> Losses:
        """Return these losses after a pass in which the classifiers ``active`` made ``visits`` visits each."""
        least, stalled = self.least.copy(), self.stalled.copy()
        for k, n in zip(active, visits, strict=True):
            loss = _mean(self.sums[k], int(n))
            stalled[k] = stalled[k] + 1 if loss > least[k] - tol else 0
            least[k] = min(loss, least[k])
        return replace(self, least=least, stalled=stalled)

    def some(self, members: Integers) -> Losses:
        """Return the losses of the classifiers ``members``."""
        return Losses(self.sums[members], self.least[members], self.stalled[members])


def _expansion(values: list[float]) -> list[float]:
    """Return few numbers with the same exact sum as ``values``, the largest first, or [inf] if it overflows.

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
    """Return an exact sum, divided by the number of visits and rounded once."""
    if not np.isfinite(total).all():
        return math.inf
    return float(sum(map(Fraction, total.tolist()), Fraction(0)) / max(1, visits))
