"""The corral of Wolfe's algorithm: affinely independent vertices, kept so that their nearest affine point is at hand.

Each vertex p is a column (p, c), with c about as long as the vertices: they are affinely independent exactly where
these columns are linearly independent.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.linalg import qr_delete
from scipy.linalg.blas import dtrsv  # solve_triangular wakes threads for the smallest matrix

from rosenblatt.theory.search.hulls import Hull, Key, Vector

__all__ = ["Corral", "new_corral"]

WIDE = 4000
"""From so many dimensions on, only products of vertices are kept and not the vertices."""
FEW_COLUMNS = 100
"""Up to so many columns are made triangular again as a whole; rotations one by one cost more calls than they save."""
THIN = 1e-4
"""A mean shorter than this share of the vertices needs all the care that there is."""


class Corral(Protocol):
    """Vertices of a hull, affinely independent."""

    keys: list[Key]
    careful: bool
    """Whether to refine what is computed; that costs a third of the time."""
    zero: float
    """A mean shorter than this, times the radius and the root of the number of vertices, may be the origin itself."""

    def insert(self, key: Key) -> bool:
        """Add a vertex at the end; return False, and leave it out, where it is affinely dependent on the others."""

    def remove(self, k: int) -> None:
        """Take out the vertex at place ``k``; those after it move up."""

    def nearest(self) -> Vector:
        """Return the weights, of sum 1, of the point nearest to the origin in the affine hull of the vertices."""

    def mean(self, weights: Vector) -> Vector:
        """Return the mean of the vertices with these weights."""

    def normal(self, mean: Vector) -> Vector:
        """Return a direction along which all vertices have one score, where ``mean`` is their nearest point."""


def new_corral(hull: Hull) -> Corral:
    """Return an empty corral, of the kind that suits the dimensions of the hull."""
    return ProductCorral(hull) if hull.size >= WIDE else OrthogonalCorral(hull)


class OrthogonalCorral:
    """A corral that keeps the columns (p, c) as Q R with Q orthonormal.

    No products of vertices are formed, because that squares the condition number; with margins near rounding that is
    the difference between an answer and none.
    """

    zero = 4e-16

    def __init__(self, hull: Hull) -> None:
        self.hull, self.c = hull, hull.radius
        self.keys: list[Key] = []
        self.careful = False
        self._A = np.zeros((hull.size + 1, 8), order="F")
        self._Q = np.zeros((hull.size + 1, 8), order="F")
        self._R = np.zeros((8, 8), order="F")

    def insert(self, key: Key) -> bool:
        """Add a vertex at the end; return False, and leave it out, where it is affinely dependent on the others."""
        k = len(self.keys)
        if k == self._R.shape[0]:
            self._A = np.asfortranarray(np.pad(self._A, ((0, 0), (0, k))))
            self._Q = np.asfortranarray(np.pad(self._Q, ((0, 0), (0, k))))
            self._R = np.asfortranarray(np.pad(self._R, ((0, k), (0, k))))
        a = self._A[:, k]
        a[:-1] = self.hull.vertex(key)
        a[-1] = self.c
        Q = self._Q[:, :k]
        r = Q.T @ a
        rest = a - Q @ r
        again = Q.T @ rest  # Gram-Schmidt twice is enough for Q to stay orthonormal to rounding
        rest -= Q @ again
        length = math.sqrt(rest @ rest)
        if not length > 1e-15 * math.sqrt(a @ a):
            return False
        self._R[:k, k] = r + again
        self._R[k, k] = length
        self._Q[:, k] = rest / length
        self.keys.append(key)
        return True

    def remove(self, k: int) -> None:
        """Take out the vertex at place ``k``; those after it move up."""
        s = len(self.keys)
        if s - k > FEW_COLUMNS:
            Q, R = qr_delete(self._Q[:, :s], self._R[:s, :s], k, which="col", check_finite=False)
            self._Q[:, : s - 1], self._R[: s - 1, : s - 1] = Q[:, : s - 1], R[: s - 1, : s - 1]
        elif k < s - 1:  # what follows column k is made triangular again as a whole
            turn, after = np.linalg.qr(self._R[k:s, k + 1 : s])
            self._Q[:, k : s - 1] = self._Q[:, k:s] @ turn
            self._R[:k, k : s - 1], self._R[k : s - 1, k : s - 1] = self._R[:k, k + 1 : s].copy(), after
        self._A[:, k : s - 1] = self._A[:, k + 1 : s]
        self._R[s - 1, :] = 0.0
        del self.keys[k]

    def nearest(self) -> Vector:
        """Return the weights, of sum 1, of the point nearest to the origin in the affine hull of the vertices."""
        s = len(self.keys)
        Q, R, A = self._Q[:, :s], self._R[:s, :s], self._A[:, :s]
        weights = dtrsv(R, self.c * Q[-1])
        if self.careful:  # one step of refinement, with the vertices themselves
            missing = -(A @ weights)
            missing[-1] += self.c
            weights += dtrsv(R, Q.T @ missing)
        return weights / weights.sum()

    def mean(self, weights: Vector) -> Vector:
        """Return the mean of the vertices with these weights."""
        return self._A[:-1, : len(self.keys)] @ weights

    def normal(self, mean: Vector) -> Vector:
        """Return a direction along which all vertices have one score, to working precision.

        The mean itself is one, but loses all digits of its direction when it is 1e-8 of the vertices' length. Where it
        is thin this is the residual of (0, c) against the columns, made orthogonal to them again and again.
        """
        self.careful = self.careful or math.sqrt(mean @ mean) < THIN * self.c
        if not self.careful:
            return mean
        Q = self._Q[:, : len(self.keys)]
        r = np.zeros(Q.shape[0])
        r[-1] = self.c
        for _ in range(3):
            r -= Q @ (Q.T @ r)
        return -r[:-1]


class ProductCorral:
    """A corral that keeps the products of its vertices, for spaces so wide that vertices take too much room.

    It cannot follow margins below some 1e-7 of the vertices' length.
    """

    zero = 1e-9

    def __init__(self, hull: Hull) -> None:
        self.hull = hull
        self.careful = True  # as it can be
        self.keys: list[Key] = []
        self._G = np.zeros((8, 8))  # the products of the columns (p, c)
        self._R = np.zeros((8, 8), order="F")  # upper triangular, R' R = G

    def insert(self, key: Key) -> bool:
        """Add a vertex at the end; return False, and leave it out, where it is affinely dependent on the others."""
        k = len(self.keys)
        if k == len(self._G):
            self._G = np.pad(self._G, (0, k))
            self._R = np.asfortranarray(np.pad(self._R, (0, k)))
        scores = self.hull.scores(self.hull.vertex(key))
        g = scores[np.array([*self.keys, key])].mean(axis=1) + self.hull.radius**2
        r = dtrsv(self._R[:k, :k], g[:k], trans=1) if k else g[:0]
        rest = float(g[k] - r @ r)
        if not rest > 1e-14 * g[k]:
            return False
        self._G[k, : k + 1] = self._G[: k + 1, k] = g
        self._R[:k, k] = r
        self._R[k, k] = np.sqrt(rest)
        self.keys.append(key)
        return True

    def remove(self, k: int) -> None:
        """Take out the vertex at place ``k``; those after it move up."""
        s = len(self.keys)
        R = qr_delete(np.eye(s), self._R[:s, :s], k, which="col", check_finite=False)[1]
        kept = np.delete(np.arange(s), k)
        self._G[: s - 1, : s - 1] = self._G[np.ix_(kept, kept)]
        self._R[: s - 1, : s - 1] = R[: s - 1]
        self._R[s - 1, :] = 0.0
        del self.keys[k]

    def nearest(self) -> Vector:
        """Return the weights, of sum 1, of the point nearest to the origin in the affine hull of the vertices."""
        s = len(self.keys)
        R, weights = self._R[:s, :s], np.zeros(s)
        for _ in range(2):  # the second time is refinement
            missing = 1.0 - self._G[:s, :s] @ weights
            weights += dtrsv(R, dtrsv(R, missing, trans=1))
        return weights / weights.sum()

    def mean(self, weights: Vector) -> Vector:
        """Return the mean of the vertices with these weights."""
        return self.hull.combine(self.hull.shares(self.keys, weights))

    def normal(self, mean: Vector) -> Vector:
        """Return the mean, which is that direction in exact arithmetic."""
        return mean
