"""The least squared hinge loss: Newton's method finds v with Z v > 0, or weights that nearly prove there is none.

Problem: minimise f(v) = |(1 - Z v)_+|^2 / 2. At the minimum a = (1 - Z v)_+ has Z' a = 0: it is the projection of
weights 1 on those under which the rows add up to zero. So a = 0 and v solves the system, or |a| >= 1 and a is the
proof that nothing does (Gordan). f is made of pieces of quadratics, so Newton's method with an exact search along
each direction takes few steps, in any number of rows.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Matrix

_LEAST_RIDGE = 1e-13  # as a share of the largest diagonal entry


class HingeSearch:
    """The search on the rows Z, from v on. ``s`` are the scores Z v; ``off`` is how far a is from adding up to zero.

    The normal equations H = Z_A' Z_A are kept up to date by the rows that enter and leave the set A of those with
    scores below 1. Of fewer rows than columns the products Z Z' are taken once, as H^-1 Z_A' a = Z_A' (Z_A Z_A')^-1 a.
    """

    def __init__(self, Z: Matrix, v: Floats) -> None:
        self.Z, self.v, self.s = Z, v, Z @ v
        self.active = np.zeros(Z.shape[0], dtype=bool)
        self.by_rows = Z.shape[0] < Z.shape[1]
        self.H = _dense(Z @ Z.T) if self.by_rows else np.zeros((Z.shape[1], Z.shape[1]))
        self.steps, self.off = 0, np.inf

    @property
    def weights(self) -> Floats:
        """The weights a = (1 - Z v)_+."""
        return np.maximum(1.0 - self.s, 0.0)

    def step(self) -> None:
        """Make one step of Newton's method."""
        a = self.weights
        if self.by_rows:
            self.active = a > 0
        else:
            self._count_in(a > 0)
        gradient = self.Z.T @ a
        self.off = float(np.max(np.abs(gradient), initial=0.0)) / max(1e-300, float(a.sum()))
        if self.by_rows:
            rows = np.flatnonzero(self.active)
            u = self._solve(self.H[np.ix_(rows, rows)], a[rows])
            p = None if u is None else self.Z[rows].T @ u
        else:
            p = self._solve(self.H, gradient)
        if p is not None:
            self._move(p)
        self.steps += 1

    def _solve(self, H: Floats, right: Floats) -> Floats | None:
        """Return the solution for H with a small ridge, smaller the nearer the search is to its end."""
        ridge = max(1e-4 * min(1.0, self.off), _LEAST_RIDGE) * float(np.max(H.diagonal(), initial=0.0))
        while 0 < ridge < np.inf:
            M = H.copy()
            M.flat[:: len(M) + 1] += ridge
            factor, info = sl.lapack.dpotrf(M, lower=1, overwrite_a=1)
            if info == 0:
                return sl.lapack.dpotrs(factor, right, lower=1)[0]
            ridge *= 100.0
        return None

    def _count_in(self, now: NDArray[np.bool_]) -> None:
        new, old = np.flatnonzero(now & ~self.active), np.flatnonzero(self.active & ~now)
        if len(new) + len(old) > np.count_nonzero(now):
            self.H = self._products(np.flatnonzero(now))
        else:
            self.H += self._products(new)
            self.H -= self._products(old)
        self.active = now

    def _products(self, rows: NDArray[np.intp]) -> Floats:
        part = self.Z[rows]
        return _dense(part.T @ part)

    def _move(self, p: Floats) -> None:
        q = self.Z @ p
        t = best_length(self.s, q)
        self.v = self.v + t * p
        self.s = self.s + t * q if self.steps % 5 else self.Z @ self.v  # anew at times, so that rounding does not grow


def _dense(M: Matrix) -> Floats:
    return M.toarray() if sp.issparse(M) else M


def best_length(s: Floats, q: Floats) -> float:
    """Return the t > 0 that minimises |(1 - s - t q)_+|^2: the derivative is piecewise linear and never falls.

    >>> best_length(np.array([0.0, 0.0]), np.array([1.0, 0.25]))
    4.0
    """
    with np.errstate(all="ignore"):
        t = (1.0 - s) / q
    inside = (s < 1.0) | ((s == 1.0) & (q < 0))
    slope, value = float(q[inside] @ q[inside]), -float(q[inside] @ (1.0 - s)[inside])  # of the derivative
    events = np.flatnonzero((t > 0) & (q != 0))
    events = events[np.argsort(t[events], kind="stable")]
    if len(events) == 0:
        return -value / slope if slope > 0 else 1.0
    change = np.where(q[events] < 0, 1.0, -1.0) * q[events] ** 2  # a row enters, or leaves
    slopes = slope + np.concatenate([[0.0], np.cumsum(change)])
    values = value + np.concatenate([[0.0], np.cumsum(-change * t[events])])
    ends = np.append(t[events], np.inf)
    with np.errstate(invalid="ignore"):
        k = int(np.argmax(values + slopes * ends >= 0))
    if slopes[k] > 0:
        return float(-values[k] / slopes[k])
    return float(ends[k]) if np.isfinite(ends[k]) else 1.0
