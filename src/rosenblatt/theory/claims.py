"""What certificates about labelled rows claim: margins and proofs of inseparability, recomputed exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory import exact
from rosenblatt.theory.enclosures import Basis, encloses_zero_combination
from rosenblatt.theory.floats import round_root
from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs
from rosenblatt.theory.integers import are_finite
from rosenblatt.theory.scores import least_score, rows_within

NEARLY = 1 + Fraction(1, 10**9)


def margin_of(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str) -> float:
    """Return the margin of (w, b) on these rows, rounded down; 0 or less if it does not separate."""
    return margin_from(least_score(X, signs, w, b), w, b, kind)


def margin_from(least: Fraction, w: Numbers, b: float, kind: str, nearest: bool = False) -> float:
    """Return the margin of (w, b), rounded down or to the nearest, where ``least`` is the smallest y (w . x + b)."""
    square = exact.squared_length(w, b if kind == "augmented" else 0.0)
    if square == 0:
        return math.inf if least > 0 else -math.inf
    root = round_root(least * least, up=None if nearest else least < 0, over=square)
    return root if least > 0 else -root


def most_margin(X: Matrix, signs: Signs, alpha: Floats, kind: str) -> float:
    """Return the margin that no separator exceeds, as the weights ``alpha`` prove, rounded up."""
    if not alpha.any():
        return math.inf
    if kind == "geometric":
        square = exact.hull_distance(X, signs, alpha)
    else:
        square = exact.squared_sum(X, signs, alpha, bias=kind == "augmented")
    return math.inf if square is None else round_root(square, up=True)


def nearest_rows(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str, high: float) -> NDArray[np.intp]:
    """Return the rows at a distance of at most ``high`` from (w, b), by the definition of a ``kind`` of margin.

    A billionth more is allowed for, since (w, b) is rounded. There are none where ``high`` is infinite.
    """
    if not math.isfinite(high):
        return np.arange(0)
    square = exact.squared_length(w, b if kind == "augmented" else 0.0)
    return rows_within(X, signs, w, b, (Fraction(high) * NEARLY) ** 2 * square)


def attains(X: Matrix, signs: Signs, w: Numbers, b: float, kind: str, low: float, separates: bool) -> bool:
    """Return whether the margin of (w, b) is at least ``low``.

    With ``separates`` (w, b) must separate the rows, even if its margin is below the smallest float and ``low`` is 0.
    """
    if not are_finite([*w.tolist(), b]) or len(w) != X.shape[1] or (kind == "homogeneous" and b != 0):
        return False
    least = least_score(X, signs, w, b)
    if separates and not (least > 0 and low >= 0):
        return False
    return low <= margin_from(least, w, b, kind)


def proves_inseparable(
    X: Matrix, signs: Signs, alpha: Floats, weights: tuple[int, ...] | None, basis: Basis | None, bias: bool
) -> bool:
    """Return whether ``alpha``, by exact ``weights`` or by enclosure, proves that no hyperplane separates."""
    rows = np.flatnonzero(alpha)
    if weights is None:
        with np.errstate(over="ignore"):
            total = float(np.sum(alpha))
        if not math.isclose(total, 1.0, rel_tol=1e-9):
            return False
        return encloses_zero_combination(X, signs, rows, alpha[rows], bias, basis)
    near = exact.are_shares(alpha[rows], weights, of=Fraction(1), tiny=Fraction(1, 10**9 * 2**1040))
    return near and exact.sums_to_zero(X, signs, rows, weights, bias)
