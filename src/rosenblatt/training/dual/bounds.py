"""How far sums of kernel values may be off by rounding, and where they cannot be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.dual.table import KernelTable
from rosenblatt.training.dual.values import Floats

TINY = 1e-290
"""Sums below this may have lost numbers to underflow."""


@dataclass(frozen=True)
class SumBounds:
    """Bounds on the rounding errors of sums of factors times kernel values, for some rows of a table."""

    largest: Floats
    """At least the absolute kernel value of each row with any support row."""
    errors: Floats
    """What such a value may be off by."""
    whole: bool
    """Whether these values are integers without rounding errors."""
    tiny: float
    """What sums may lose to underflow."""
    far_exponents: float
    """What the relative error of exponentials of distances may be, besides ``errors``, where these are large."""
    as_computed: bool
    """Whether signs are those of the numbers as computed, so that there is no doubt."""

    @classmethod
    def of_rows(cls, table: KernelTable, rows: NDArray[np.int64] | None = None) -> SumBounds:
        """Return the bounds for all rows of a table, or for some that may become support rows."""
        values, supports = table.values, table.supports
        lengths, longest = table.rows.lengths, supports.longest
        if rows is not None:
            lengths = lengths[rows]
            longest = max(longest, float(np.max(lengths, initial=0.0)))
        largest, errors = values.doubt(lengths, longest, max(table.rows.terms, supports.terms))
        whole = values.is_whole(table.rows) and supports.whole
        whole = whole and float(largest.max(initial=0.0)) < values.largest_whole
        gamma = values.kernel.polynomial[0] if values.kernel.polynomial else 1.0
        far = 745.0 * HALF_ULP * (table.rows.terms + supports.terms + 8.0)  # beyond exp(-745) there are no floats
        return cls(largest, errors, whole, TINY * max(1.0, gamma), far, not values.kernel.is_exact)

    def of_sums(self, sizes: Floats, terms: Floats, whole_factors: bool) -> Floats:
        """Return what sums may be off by, of shape (sums, rows); 0 where they are exact.

        ``sizes`` are the sums of the absolute factors, ``terms`` the numbers of roundings, and ``whole_factors`` says
        whether all factors are integers.
        """
        most = float(sizes.max(initial=0.0)) * float(self.largest.max(initial=0.0))
        if self.as_computed or (self.whole and whole_factors and most < 2.0**53):
            return np.zeros((len(sizes), len(self.largest)))
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = sizes[:, None] * (self.errors + HALF_ULP * terms[:, None] * self.largest) * 1.1 + self.tiny
        return np.where(np.isnan(bounds), np.inf, bounds)

    def of_one(self, row: int, size: float, terms: float) -> float:
        """Return what one sum may be off by at one row."""
        return size * float(self.errors[row] + HALF_ULP * terms * self.largest[row]) * 1.1 + self.tiny


def are_integers(values: Floats) -> bool:
    """Return whether all numbers are integers."""
    return bool(np.all(values == np.floor(values)))
