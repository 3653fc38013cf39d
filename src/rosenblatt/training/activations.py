"""Activations and winning classes of rows that are only looked at, with every sign exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels import scores as kernels
from rosenblatt.kernels.exact import LIMBS
from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.rows import RowMatrix

Floats = NDArray[np.float64]


def _lengths(w: Floats, b: Floats) -> Floats:
    """Return a little more than the length of each ``(w, b)``; infinite where squares overflow."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", w, w) + b * b
    return np.sqrt(squares) * (1 + 4 * (w.shape[1] + 8) * HALF_ULP) + 1e-150


def activations(rows: RowMatrix, w: Floats, b: Floats, start: int = 0, stop: int | None = None) -> Floats:
    """Return ``w[k] . x_i + b[k]`` for the rows from ``start`` to ``stop`` and each k."""
    stop = rows.n if stop is None else stop
    out = np.empty((stop - start, len(w)))
    room = np.zeros(LIMBS, np.int64), np.empty(len(w))
    kernels.activations(rows.parts, start, stop, np.ascontiguousarray(w), b, _lengths(w, b), rows.terms, *room, out)
    return out


def best_classes(
    rows: RowMatrix, w: Floats, b: Floats, start: int = 0, stop: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the class of largest activation for each row, the first of equals, and whether it has an equal."""
    stop = rows.n if stop is None else stop
    out, tied = np.empty(stop - start, np.int64), np.empty(stop - start, bool)
    room = np.zeros(LIMBS, np.int64), np.empty(len(w)), np.empty(len(w))
    w = np.ascontiguousarray(w)
    kernels.winners(rows.parts, start, stop, w, b, _lengths(w, b), rows.terms, *room, out, tied)
    return out, tied
