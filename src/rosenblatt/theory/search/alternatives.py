"""The two answers to "is there a v with z . v > 0 for every row?", of which exactly one exists (P. Gordan 1873)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.enclosures import Basis
from rosenblatt.theory.inputs import Floats, Numbers


@dataclass(frozen=True)
class Solvable:
    """Every row has ``z . v > 0``, proved; v is of floats, or of integers where no floats solve it.

    ``least`` is the least ``z . v``, where that is known.
    """

    v: Numbers
    least: Fraction | None = None


@dataclass(frozen=True)
class Unsolvable:
    """The rows ``support`` add up to zero with the ``weights``, or with exact ones within rounding of ``alpha``.

    In the second case ``basis`` may say how that is proved.
    """

    support: NDArray[np.intp]
    alpha: Floats
    weights: tuple[int, ...] | None
    basis: Basis | None = None
