"""Searches in floats, whose results are only guesses: they are made exact and proved elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Numbers
from rosenblatt.theory.separation.numbers import near_columns, primitive, to_integers

_STEEP = 1e5  # beyond this condition the rows are multiplied exactly before they are rounded


@dataclass(frozen=True)
class Conditioned:
    """Integer rows A as floats F, where F = A T but for rounding and a power of two for each row.

    The columns of F are about orthonormal, so that a Newton step is accurate; T is kept as integers.
    """

    F: Floats
    T: Numbers
    row_powers: NDArray[np.int64]

    def vector(self, u: Floats, bits: int = 52) -> Numbers:
        """Return integers in proportion to T u, with the entries of u rounded to so many bits of the largest."""
        largest = float(np.max(np.abs(u), initial=0.0))
        if largest == 0 or not np.isfinite(largest):
            return np.zeros(len(self.T), dtype=object)
        whole = np.rint(np.ldexp(u / largest, bits)).astype(np.int64).astype(object)
        return primitive(self.T @ whole)

    def target(self, values: Numbers) -> Floats:
        """Return the linear function ``values`` of A's space as one of F's space, scaled to length 1."""
        near = near_columns((values @ self.T)[:, None])[0].ravel()
        length = float(np.linalg.norm(near))
        return near / length if length else near


def condition(A: Numbers) -> Conditioned:
    """Return integer rows as floats with columns that are about orthonormal."""
    near, powers = near_columns(A)
    k = A.shape[1]
    lengths = np.linalg.norm(near, axis=1)
    scaled = near / np.where(lengths > 0, lengths, 1.0)[:, None]
    inverse, steep = _inverse_factor(scaled)
    inverse = inverse / np.max(np.abs(inverse), axis=0, initial=1e-300)
    rounded = np.rint(np.ldexp(inverse, 40))
    T = to_integers(rounded, np.zeros(k, np.int64)) << (powers.max(initial=0) - powers).astype(object)[:, None]
    if steep:
        columns, row_powers = near_columns((A @ T).T)
        F = columns.T
    else:
        F, row_powers = near @ rounded, np.zeros(len(A), np.int64)
    sizes = np.max(np.abs(F), axis=1, initial=0.0)
    exponents = np.where(sizes > 0, np.frexp(sizes)[1], 0)
    return Conditioned(np.ldexp(F, -exponents[:, None]), T, exponents + row_powers)


def _inverse_factor(rows: Floats) -> tuple[Floats, bool]:
    """Return the inverse of the factor R of the rows = Q R, or the identity where there is none; and if R is steep."""
    k = rows.shape[1]
    upper: Any
    try:
        upper = np.linalg.cholesky(rows.T @ rows).T
        if np.linalg.cond(upper) > _STEEP:
            upper = np.linalg.qr(rows, mode="r")
    except np.linalg.LinAlgError:
        upper = np.linalg.qr(rows, mode="r") if len(rows) >= k else np.zeros((k, k))
    sizes = np.abs(np.diag(upper))
    if sizes.min(initial=1.0) <= 1e-14 * sizes.max(initial=1.0):
        return np.eye(k), False
    return np.linalg.inv(upper), bool(np.linalg.cond(upper) > _STEEP)


def hinge(F: Floats, most: int = 100) -> tuple[Floats, Floats]:
    """Return u and a = (1 - F u)+ near the least of |a|^2: all of F u is positive, or a weights rows to a zero sum.

    Newton's method on a piecewise quadratic function, with an exact search along each step.
    """
    k = F.shape[1]
    u, s = np.zeros(k), np.zeros(len(F))
    for _ in range(most):
        active = s < 1
        rest = 1 - s[active]
        gradient = -(rest @ F[active])
        if s.min(initial=1.0) > 0.05 or np.max(np.abs(gradient), initial=0.0) <= 1e-13 * rest.sum():
            break
        H = F[active].T @ F[active]
        H[np.diag_indices(k)] += 1e-13 * max(float(np.trace(H)), 1e-300)
        try:
            step = np.linalg.solve(H, -gradient)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(H, -gradient, rcond=None)[0]
        along = F @ step
        t = _least_along(s, along)
        if not t > 0:
            break
        u, s = u + t * step, s + t * along
    return u, np.maximum(1 - F @ u, 0.0)


def _least_along(s: Floats, along: Floats) -> float:
    """Return the t >= 0 where the sum of squares of (1 - s - t along)+ is least."""
    with np.errstate(all="ignore"):
        crossing = (1 - s) / along
    enters = (along < 0) & (s >= 1)
    leaves = (along > 0) & (s < 1)
    active = s < 1
    slope, curve = float(-((1 - s[active]) @ along[active])), float(along[active] @ along[active])
    moving = np.flatnonzero(enters | leaves)
    moving = moving[np.argsort(crossing[moving], kind="stable")]
    sign = np.where(enters[moving], 1.0, -1.0)
    # beyond a crossing the row adds sign * (along^2 t - (1 - s) along) to the derivative
    curves = curve + np.concatenate([[0.0], np.cumsum(sign * along[moving] ** 2)])
    slopes = slope - np.concatenate([[0.0], np.cumsum(sign * (1 - s[moving]) * along[moving])])
    ends = np.append(crossing[moving], np.inf)
    with np.errstate(all="ignore"):
        roots = -slopes / curves
    inside = np.flatnonzero((roots <= ends) & (curves > 0))
    if len(inside) == 0:
        return float(ends[-2]) if len(ends) > 1 else 0.0
    return float(min(max(roots[inside[0]], 0.0), ends[inside[0]]))
