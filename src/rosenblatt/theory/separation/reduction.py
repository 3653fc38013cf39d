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
from rosenblatt.theory.separation.modular import PRIMES, leftmost, residues, solve
from rosenblatt.theory.separation.numbers import primitive
from rosenblatt.theory.separation.simplex import Combination, farkas

Indices = NDArray[np.intp]


@dataclass
class Face:
    """What is known of the rows so far: some of them that balance, and what is 0 on their span."""

    null: Numbers
    balanced: Numbers  # rows, all with weight
    weights: Numbers  # one for each, positive: they add up to zero
    keys: list[int] = field(default_factory=list)  # which rows these are, for the caller
    basis: list[int] = field(default_factory=list)  # of these, some that span all

    @classmethod
    def of_size(cls, size: int) -> Face:
        """Return the face of which nothing is known."""
        return cls(np.eye(size, dtype=int).astype(object), np.zeros((0, size), dtype=object), np.zeros(0, dtype=object))

    def products(self, Z: Numbers) -> Numbers:
        """Return Z null."""
        return Z @ self.null if self.keys else Z

    def add(
        self, Z: Numbers, weights: Numbers, keys: list[int], rows: list[int], columns: list[int], A: Numbers
    ) -> None:
        """Take in rows that add up to zero but for the span; ``rows`` of them span A = Z null, as ``columns`` show."""
        sums = weights @ Z
        span = self.balanced[self.basis]
        places = leftmost(residues(span, PRIMES[0]), PRIMES[0]) if len(span) else []
        make_up, scale = solve(span[:, places].T, -sums[places][:, None])
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
        self._shrink(A[rows], columns)

    def _shrink(self, A: Numbers, columns: list[int]) -> None:
        """Keep of ``null`` what is 0 on these independent rows, whose leftmost independent columns are given."""
        k = A.shape[1]
        free = [j for j in range(k) if j not in columns]
        above, below = solve(A[:, columns], -A[:, free])
        inner = np.zeros((k, len(free)), dtype=object)
        inner[columns] = above
        inner[free, np.arange(len(free))] = below
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
        found = _balance(A, a, conditioned)
    if found is None:
        ones = np.ones((len(A), 1), dtype=int).astype(object)
        answer = farkas(np.hstack([A, ones]), np.array([0] * A.shape[1] + [1], dtype=object))
        if not isinstance(answer, Combination):
            return answer.y[:-1]
        found = answer.rows, answer.weights
    which, weights = found
    M = residues(A[which], PRIMES[0])
    rows = leftmost(M.T, PRIMES[0])
    face.add(Z[which], weights, [keys[i] for i in which.tolist()], rows, leftmost(M[rows], PRIMES[0]), A[which])
    return None


def _balance(A: Numbers, a: Floats, conditioned: Conditioned) -> tuple[Indices, Numbers] | None:
    """Return rows and positive integer weights near ``a`` with which they add up to exactly zero, if that works."""
    for least in (1e-9, 1e-5, 1e-3):
        rows = np.flatnonzero(a > least * a.max())
        rows = rows[np.argsort(-a[rows], kind="stable")]
        heavy = rows[: 4 * A.shape[1]]
        heavy = heavy[qr((a[heavy, None] * conditioned.F[heavy]).T, mode="r", pivoting=True)[1]]
        rows = np.concatenate([heavy, rows[len(heavy) :]])
        M = residues(A[rows], PRIMES[0])
        basis = leftmost(M.T, PRIMES[0])
        columns = leftmost(M[basis], PRIMES[0])
        light = np.setdiff1d(np.arange(len(rows)), basis)
        for bits in (12, 30):
            weights = _rounded(a[rows], conditioned.row_powers[rows], bits)
            right = -(weights[light] @ A[rows[light]])[columns] if len(light) else np.zeros(len(columns), dtype=object)
            solution, below = solve(A[rows[basis]][:, columns].T, right[:, None])
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
