"""The convex hulls whose nearest point to the origin is the margin, for the three definitions of a margin.

Each row stands for z = y x, or z = y (x, 1) where the bias is a weight like any other. The margin is the distance from
the origin to the hull of

- all rows z: homogeneous without the 1, augmented with it;
- the means (z_i + z_j) / 2 of one row of each class: geometric. These are the halved differences of the two
  classes, so their hull lies at half the distance of the two class hulls, and the bias is free.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Floats, Matrix, Signs, dense_rows, longest_row, safe

ROUNDED = 2.0**-50  # a product of rows is off by about this share


class Hull:
    """The hull of one kind, for the solver: floats, scaled by a power of two where squares would overflow or vanish.

    ``constant`` is what stands for the 1 in z = y (x, 1); 0 means that there is no such coordinate.
    """

    def __init__(self, X: Matrix, signs: Signs, kind: str, constant: float = 1.0) -> None:
        constant = constant if kind == "augmented" else 0.0
        self.X, exponent = safe(X, constant)
        self.signs = signs
        self.constant = math.ldexp(constant, -exponent)
        self.size = X.shape[1] + (kind == "augmented")
        both = kind == "geometric"
        self.groups = [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)] if both else [np.arange(len(signs))]
        self.radius = math.hypot(longest_row(self.X), self.constant) or 1.0
        self.noise = 1e-15  # lengths below this share of the radius are rounding

    def scores(self, u: Floats) -> Floats:
        """Return ``z . u`` for all rows."""
        d = self.X.shape[1]
        s = self.X @ u[:d]
        if self.constant:
            s += self.constant * u[d]
        s *= self.signs
        return s

    def rows(self, which: NDArray[np.intp]) -> Floats:
        """Return some rows z as a dense matrix."""
        Z = np.zeros((len(which), self.size))
        Z[:, : self.X.shape[1]] = dense_rows(self.X, which)
        if self.constant:
            Z[:, -1] = self.constant
        Z *= self.signs[which][:, None]
        return Z

    def narrowed(self, which: NDArray[np.intp]) -> Hull:
        """Return the hull of points with the same products as these rows, in no more dimensions than there are rows."""
        part = self.X[which]
        G = part @ part.T
        G = (G.toarray() if sp.issparse(G) else G) + self.constant**2
        largest = float(np.max(G.diagonal())) or 1.0
        extra = ROUNDED * largest  # so that rounding does not make a length negative
        while True:
            try:
                points = np.linalg.cholesky(G + extra * np.eye(len(G)))
                break
            except np.linalg.LinAlgError:
                extra *= 8.0
        few = Hull(points, self.signs[which], "geometric" if len(self.groups) == 2 else "homogeneous")
        few.noise = 3.0 * math.sqrt(extra / largest)
        return few

    def combine(self, shares: Floats) -> Floats:
        """Return the sum of all rows z times ``shares``."""
        signed = self.signs * shares
        return np.append(self.X.T @ signed, self.constant * signed.sum())[: self.size]

    def middle(self) -> Floats:
        """Return the mean of all vertices."""
        shares = np.empty(len(self.signs))
        for group in self.groups:
            shares[group] = 1.0 / (len(group) * len(self.groups))
        return self.combine(shares)

    def lowest(self, s: Floats) -> float:
        """Return the least score of a vertex, where ``s`` are the scores of all rows."""
        return sum(float(np.min(s[group])) for group in self.groups) / len(self.groups)

    def lowest_rows(self, s: Floats, count: int) -> NDArray[np.intp]:
        """Return the ``count`` rows of least score of each group, or all."""
        parts = []
        for group in self.groups:
            few = min(count, len(group)) - 1
            parts.append(group[np.argpartition(s[group], few)[: few + 1]])
        return np.concatenate(parts)
