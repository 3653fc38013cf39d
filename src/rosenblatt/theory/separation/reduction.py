"""Tucker's pair for a set of integer rows, found face by face.

Gordan's alternative is asked about the rows: some v has z . v > 0 for all of them, or some of them, with positive
weights, add up to zero. These lie on every weakly separating hyperplane, so the question goes on in the quotient by
their span, with ``null`` as coordinates, until nothing is left of the rows or of the space. More rows may come in at
any time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from rosenblatt.theory.inputs import Floats, Numbers
from rosenblatt.theory.separation.floats import Conditioned, condition, hinge
from rosenblatt.theory.separation.modular import UnluckyPrimeError, leftmost, residues, solve
from rosenblatt.theory.separation.numbers import primitive
from rosenblatt.theory.separation.simplex import Combination, farkas

Indices = NDArray[np.intp]


@dataclass
class Face:
    """What is known of the rows so far: some of them that balance, and what is 0 on their span."""

    prime: int
    null: Numbers
    balanced: Numbers  # rows, all with weight
    weights: Numbers  # one for each, positive: they add up to zero
    keys: list[int] = field(default_factory=list)  # which rows these are, for the caller
    basis: list[int] = field(default_factory=list)  # of these, some that span all

    @classmethod
    def of_size(cls, size: int, prime: int) -> Face:
        """Return the face of which nothing is known; exact systems will be solved with the prime."""
        nothing = np.zeros((0, size), dtype=object)
        return cls(prime, np.eye(size, dtype=int).astype(object), nothing, np.zeros(0, dtype=object))

    def products(self, Z: Numbers) -> Numbers:
        """Return Z null."""
        return Z @ self.null if self.keys else Z

    def add(self, Z: Numbers, A: Numbers, weights: Numbers, keys: list[int]) -> None:
        """Take in rows that add up to zero but for the span of those already in; A = Z null."""
        M = residues(A, self.prime)
        rows = leftmost(M.T, self.prime)
        sums = weights @ Z
        span = self.balanced[self.basis]
        places = leftmost(residues(span, self.prime), self.prime) if len(span) else []
        make_up, scale = solve(span[:, places].T, -sums[places][:, None], self.prime)
        if (make_up.ravel() @ span + sums * scale).any():
            raise UnluckyPrimeError
        weights = weights * scale
        old = self.weights.copy()
        if len(old):
            change = np.zeros(len(old), dtype=object)
            change[self.basis] = make_up.ravel()
            times = max(1, *(int(-c // w) + 1 for c, w in zip(change, old, strict=True)))
            old = old * times + change
        self.weights = primitive([*old, *weights])
        count = len(self.balanced)
        self.balanced = np.vstack([self.balanced, Z])
        self.keys += keys
        self.basis += [count + row for row in rows]
        self._shrink(A, rows, leftmost(M[rows], self.prime))

    def _shrink(self, A: Numbers, rows: list[int], columns: list[int]) -> None:
        """Keep of ``null`` what is 0 on A; ``rows`` are independent and span it, and so are and do the ``columns``."""
        k = A.shape[1]
        free = [j for j in range(k) if j not in columns]
        above, below = solve(A[rows][:, columns], -A[rows][:, free], self.prime)
        inner = np.zeros((k, len(free)), dtype=object)
        inner[columns] = above
        inner[free, np.arange(len(free))] = below
        if (A @ inner).any():
            raise UnluckyPrimeError
        product = self.null @ inner if len(free) else np.zeros((len(self.null), 0), dtype=object)
        self.null = np.array([primitive(column) for column in product.T], dtype=object).reshape(-1, len(self.null)).T


def next_face(Z: Numbers, keys: list[int], face: Face, exactly: bool = False) -> Numbers | None:
    """Ask Gordan's alternative about rows in the quotient; a balance is taken in, and None returned.

    A strict solution comes as integers c with Z null c > 0 for all rows that are not 0 there. It is certain only if it
    is asked for ``exactly``; a balance always is.
    """
    A = face.products(Z)
    rest = np.flatnonzero((A != 0).any(axis=1))
    A, Z, keys = A[rest], Z[rest], [keys[i] for i in rest.tolist()]
    if len(A) == 0:
        return np.zeros(face.null.shape[1], dtype=object)
    found = None
    if not exactly:
        conditioned = condition(A)
        u, a = hinge(conditioned.F)
        if (conditioned.F @ u).min() > 1e-9:
            return conditioned.vector(u)
        found = _balance(A, a, conditioned, face.prime)
    if found is None:
        ones = np.ones((len(A), 1), dtype=int).astype(object)
        answer = farkas(np.hstack([A, ones]), np.array([0] * A.shape[1] + [1], dtype=object))
        if not isinstance(answer, Combination):
            return answer.y[:-1]
        found = answer.rows, answer.weights
    which, weights = found
    face.add(Z[which], A[which], weights, [keys[i] for i in which.tolist()])
    return None


def _balance(A: Numbers, a: Floats, conditioned: Conditioned, prime: int) -> tuple[Indices, Numbers] | None:
    """Return rows and positive integer weights near ``a`` with which they add up to exactly zero, if that works."""
    for least in (1e-9, 1e-5, 1e-3):
        rows = np.flatnonzero(a > least * a.max())
        rows = rows[np.argsort(-a[rows], kind="stable")]
        heavy = rows[: 4 * A.shape[1]]
        heavy = heavy[qr((a[heavy, None] * conditioned.F[heavy]).T, mode="r", pivoting=True)[1]]
        rows = np.concatenate([heavy, rows[len(heavy) :]])
        M = residues(A[rows], prime)
        basis = leftmost(M.T, prime)
        columns = leftmost(M[basis], prime)
        light = np.setdiff1d(np.arange(len(rows)), basis)
        for bits in (12, 30):
            weights = _rounded(a[rows], conditioned.row_powers[rows], bits)
            right = -(weights[light] @ A[rows[light]])[columns] if len(light) else np.zeros(len(columns), dtype=object)
            solution, below = solve(A[rows[basis]][:, columns].T, right[:, None], prime)
            if (solution > 0).all():
                weights = weights * below
                weights[basis] = solution.ravel()
                if not (weights @ A[rows]).any():
                    order = np.argsort(rows)
                    return rows[order], primitive(weights[order])
    return None


def _rounded(a: Floats, powers: NDArray[np.int64], bits: int) -> Numbers:
    """Return integers in proportion to a / 2**powers, rounded to some bits each."""
    parts, exponents = np.frexp(a)
    whole = np.rint(np.ldexp(parts, bits)).astype(np.int64)
    shifts = exponents - powers
    return whole.astype(object) << (shifts - shifts.min()).astype(object)
