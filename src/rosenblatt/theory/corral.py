"""The corral of Wolfe's algorithm: affinely independent points, kept so that their nearest affine point is at hand.

Each point p is a column (p, c), with c about as long as the points, and the columns are kept as Q R with Q orthonormal:
points are affinely independent exactly where these columns are linearly independent. No Gram matrix is formed, because
it squares the condition number; with margins near rounding that is the difference between an answer and none.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr_delete, solve_triangular

from rosenblatt.theory.hulls import Vector

__all__ = ["Corral"]

DEPENDENT = 1e-15
"""A column with less than this share of its length outside the others' span counts as dependent on them."""


class Corral:
    """Affinely independent points of a space of ``size`` dimensions."""

    def __init__(self, size: int, c: float) -> None:
        self.c = c
        self.count = 0
        self._A = np.zeros((size + 1, 8), order="F")
        self._Q = np.zeros((size + 1, 8), order="F")
        self._R = np.zeros((8, 8), order="F")

    @property
    def points(self) -> Vector:
        """The points, one in each column."""
        return self._A[:-1, : self.count]

    def insert(self, point: Vector) -> bool:
        """Add a point at the end; return False, and leave it out, where it is affinely dependent on the others."""
        k = self.count
        if k == self._R.shape[0]:
            self._grow()
        a = self._A[:, k]
        a[:-1] = point
        a[-1] = self.c
        Q = self._Q[:, :k]
        r = Q.T @ a
        rest = a - Q @ r
        again = Q.T @ rest  # Gram-Schmidt twice is enough for Q to stay orthonormal to rounding
        rest -= Q @ again
        length = float(np.linalg.norm(rest))
        if not length > DEPENDENT * float(np.linalg.norm(a)):
            return False
        self._R[:k, k] = r + again
        self._R[k, k] = length
        self._Q[:, k] = rest / length
        self.count = k + 1
        return True

    def remove(self, k: int) -> None:
        """Take out the point at place ``k``; those after it move up."""
        s = self.count
        Q, R = qr_delete(self._Q[:, :s], self._R[:s, :s], k, which="col", check_finite=False)
        s -= 1
        self._A[:, k:s] = self._A[:, k + 1 : s + 1]
        self._Q[:, :s], self._R[:s, :s] = Q[:, :s], R[:s, :s]
        self._R[s, :] = 0.0
        self.count = s

    def nearest(self) -> Vector:
        """Return the weights, of sum 1, of the point nearest to the origin in the affine hull of the corral."""
        s = self.count
        Q, R, A = self._Q[:, :s], self._R[:s, :s], self._A[:, :s]
        weights = solve_triangular(R, self.c * Q[-1], check_finite=False)
        missing = -(A @ weights)  # one step of refinement, with the points themselves
        missing[-1] += self.c
        weights += solve_triangular(R, Q.T @ missing, check_finite=False)
        return weights / weights.sum()

    def normal(self) -> Vector:
        """Return a direction along which all points of the corral have one score, to working precision.

        The weighted mean of the points loses all digits of its direction when it is 1e-8 of their length. This is
        the residual of (0, c) against the columns instead, made orthogonal to them again and again.
        """
        Q = self._Q[:, : self.count]
        r = np.zeros(Q.shape[0])
        r[-1] = self.c
        for _ in range(3):
            r -= Q @ (Q.T @ r)
        return -r[:-1]

    def _grow(self) -> None:
        more = self.count
        self._A = np.asfortranarray(np.pad(self._A, ((0, 0), (0, more))))
        self._Q = np.asfortranarray(np.pad(self._Q, ((0, 0), (0, more))))
        self._R = np.asfortranarray(np.pad(self._R, ((0, more), (0, more))))
