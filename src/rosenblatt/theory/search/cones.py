"""Gordan's question about rows of very different sizes: scaled by powers of two, decided, and scaled back exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Matrix, entries
from rosenblatt.theory.integers import proportional_integers
from rosenblatt.theory.search.alternatives import Solvable, Unsolvable
from rosenblatt.theory.search.gordan import gordan

_NONE = -(10**6)  # the exponent of zero
_NORMAL = 2.0**-1022

Places = NDArray[np.int64]


def balanced(Z: Matrix) -> tuple[Matrix, Places, Places]:
    """Return Z with rows, then columns, scaled by powers of two to entries of at most 1, and the exponents of both.

    >>> balanced(np.array([[4.0, 2.0**-50], [1.0, 0.0]]))
    (array([[0.5, 0.5],
           [0.5, 0. ]]), array([3, 1]), array([  0, -52]))
    """
    n, m = Z.shape
    values = entries(Z)
    places = np.where(values != 0, np.frexp(values)[1], _NONE).astype(np.int64)
    if sp.issparse(Z):
        rows = np.repeat(np.arange(n), np.diff(Z.indptr))
        heights, widths = np.full(n, _NONE), np.full(m, _NONE)
        np.maximum.at(heights, rows, places)
        heights[heights == _NONE] = 0
        np.maximum.at(widths, Z.indices, places - heights[rows])
    else:
        heights = np.max(places, axis=1, initial=_NONE)
        heights[heights == _NONE] = 0
        widths = np.max(places - heights[:, None], axis=0, initial=_NONE)
    widths[widths < _NONE // 2] = 0
    with np.errstate(all="ignore"):
        if sp.issparse(Z):
            data = np.ldexp(Z.data, -heights[rows] - widths[Z.indices])
            return sp.csr_array((data, Z.indices, Z.indptr), shape=Z.shape), heights, widths
        return np.ldexp(Z, -heights[:, None] - widths), heights, widths


def decide_cone(Z: Matrix) -> list[Fraction] | Unsolvable | None:
    """Return an exact v with Z v > 0 in every row, or the proof that there is none; None where neither was found."""
    scaled, heights, widths = balanced(Z)
    if np.any((np.abs(entries(scaled)) < _NORMAL) & (entries(Z) != 0)):  # a number vanished or became subnormal
        scaled, heights, widths = Z, np.zeros_like(heights), np.zeros_like(widths)
    answer = gordan(scaled)
    if isinstance(answer, Solvable):
        pairs = zip(answer.v.tolist(), widths.tolist(), strict=True)
        return [Fraction(value) / Fraction(2) ** place for value, place in pairs]
    if not isinstance(answer, Unsolvable):
        return None
    places = heights[answer.support]
    top = int(np.max(places))
    alpha = np.maximum(np.ldexp(answer.alpha, places.min() - places), 5e-324)
    alpha /= alpha.sum()
    if answer.weights is None:
        return Unsolvable(answer.support, alpha, None)
    whole = [weight << (top - place) for weight, place in zip(answer.weights, places.tolist(), strict=True)]
    return Unsolvable(answer.support, alpha, tuple(proportional_integers(whole)))
