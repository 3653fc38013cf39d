"""The signs that infinite estimates take: forced by rows, or turned by a direction of the other sign."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.separation.claims import Force, encloses_combination, is_positive_multiple
from rosenblatt.theory.separation.floats import condition
from rosenblatt.theory.separation.modular import leftmost, residues, solve
from rosenblatt.theory.separation.numbers import near_columns, primitive
from rosenblatt.theory.separation.problem import Indices
from rosenblatt.theory.separation.simplex import Combination, farkas
from rosenblatt.theory.separation.tucker import Found, Rows

_MIX = 0.75  # how much of b is added to a direction, so that it does not fail by a rounding


class Signs(NamedTuple):
    """The status of each coefficient, with directions and rows that prove those that are infinite."""

    statuses: list[str]
    turns: list[Numbers]
    forces: dict[int, Force]


def find_signs(rows: Rows, found: Found) -> Signs:
    """Return the status of each coefficient: finite, +inf, -inf or either."""
    null = rows.original(found.face.null)
    b = null @ found.c if null.shape[1] else np.zeros(rows.size, dtype=object)
    moving = (null != 0).any(axis=1)
    search = _Search(rows, found, null) if null.shape[1] > 1 else None
    statuses = []
    for j in range(rows.size):
        sign = (b[j] > 0) - (b[j] < 0)
        if not moving[j]:
            statuses.append("finite")
        elif sign and (search is None or search.is_forced(j, sign)):
            statuses.append("+inf" if sign > 0 else "-inf")
        else:
            statuses.append("either")
    return Signs(statuses, search.turns if search else [], search.forces if search else {})


class _Search:
    """The search for the sign of one coefficient after the other, which share directions and rows."""

    def __init__(self, rows: Rows, found: Found, null: Numbers) -> None:
        self.rows, self.found, self.null = rows, found, null
        self.A = np.zeros((0, null.shape[1]), dtype=object)
        self.turns: list[Numbers] = []
        self.forces: dict[int, Force] = {}
        self._bases: list[tuple[list[int], Any]] = []
        self._keys: list[int] = []
        self._take(self._nearest(np.array(found.work, dtype=np.intp), 20 * null.shape[1] + 400))

    def _nearest(self, keys: Indices, most: int) -> Indices:
        """Return the rows of the working set that are nearest to the hyperplane."""
        keys = keys[self.found.signs.ravel()[keys] > 0]
        if len(keys) <= most:
            return keys
        A = self.found.face.products(self.rows.integers(keys))
        leads = near_columns((A @ self.found.c)[:, None])[0].ravel()
        lengths = np.linalg.norm(near_columns(A)[0], axis=1)
        return keys[np.argsort(leads / np.maximum(lengths, 1e-300), kind="stable")[:most]]

    def _take(self, keys: Indices) -> None:
        """Let rows into the working set, none of them on the hyperplane."""
        self.A = np.vstack([self.A, self.found.face.products(self.rows.integers(keys))])
        self._keys += keys.tolist()
        self.conditioned = condition(self.A)
        known, self._bases = self._bases, []
        for rows, _ in known:
            self._remember(rows)

    def _remember(self, rows: list[int]) -> None:
        """Keep rows that force one sign: they may force others."""
        with contextlib.suppress(np.linalg.LinAlgError):
            self._bases.append((rows, np.linalg.inv(self.conditioned.F[rows])))

    def is_forced(self, j: int, sign: int) -> bool:
        """Find rows that force the sign of the coefficient j, or a direction with the other sign."""
        rng = np.random.default_rng(j)
        exactly = False
        while True:
            if any(turn[j] * sign < 0 for turn in self.turns):
                return False
            target = self.null[j] * sign
            answer = farkas(self.A, target) if exactly else self._guess(target)
            if isinstance(answer, Combination):
                force = self._force(answer, j, sign, exactly)
                if force is not None:
                    self.forces[j] = force
                    return True
                exactly = True
                continue
            y = answer if isinstance(answer, np.ndarray) else answer.y
            c = self._turned(y, j, sign)
            if c is None:
                exactly = True
                continue
            turn = self.rows.restored(self.found.face.null @ c[:, None])
            more = self.rows.violating(turn, max(100, 4 * self.rows.size), rng)
            if len(more) == 0:
                signs = self.rows.problem.signs(turn)
                more = np.flatnonzero(signs.ravel() < 0)[: max(100, 4 * self.rows.size)]
            if len(more) == 0:
                self.turns.append(primitive(self.null @ c))
                return False
            before = len(self._keys)
            self._take(np.setdiff1d(more, self._keys))
            exactly = exactly or len(self._keys) == before

    def _guess(self, target: Numbers) -> Combination | Numbers:
        """Return rows that combine to the target, or a direction against it, by least squares in floats."""
        from scipy.optimize import nnls

        aim = self.conditioned.target(target)
        for keys, inverse in self._bases:
            weights = aim @ inverse
            if (weights > 1e-9 * np.abs(weights).max()).all():
                return Combination(np.array(keys, dtype=np.intp), np.zeros(len(keys), dtype=object))
        F = self.conditioned.F
        try:
            weights, gap = nnls(F.T, aim, maxiter=20 * len(F) + 100)
        except RuntimeError:
            weights, gap = np.zeros(len(F)), 1.0
        if gap > 1e-9:
            return self.conditioned.vector(weights @ F - aim)
        rows = np.flatnonzero(weights > 1e-12 * weights.max())
        if len(rows) == F.shape[1]:
            self._remember(rows.tolist())
        return Combination(rows, np.zeros(len(rows), dtype=object))

    def _turned(self, y: Numbers, j: int, sign: int) -> Numbers | None:
        """Return a direction with the other sign at j: y mixed with b."""
        against, along = -sign * (self.null[j] @ y), sign * (self.null[j] @ self.found.c)
        if against <= 0:
            return None
        return primitive(y * (along * 1024) + self.found.c * (against * int(_MIX * 1024)))

    def _force(self, answer: Combination, j: int, sign: int, exactly: bool) -> Force | None:
        """Return the proof that the rows force the sign, if that can be made exact."""
        names = tuple(self.rows.name(self._keys[i]) for i in answer.rows.tolist())
        if exactly:
            return Force(names, tuple(answer.weights.tolist()))
        A, target = self.A[answer.rows], self.null[j] * sign
        if len(A) == len(target) and self._encloses(answer.rows, j, sign):
            return Force(names, None)
        prime = self.found.face.prime
        columns = leftmost(residues(A, prime), prime)
        if len(columns) < len(A):
            return None
        weights, _ = solve(A[:, columns].T, target[columns][:, None], prime)
        weights = primitive(weights.ravel())
        kept = np.flatnonzero(weights)
        if (weights < 0).any() or len(kept) == 0 or not is_positive_multiple(weights @ A, target):
            return None
        return Force(tuple(names[i] for i in kept.tolist()), tuple(weights[kept].tolist()))

    def _encloses(self, rows: Indices, j: int, sign: int) -> bool:
        """Return whether the enclosure in floats works, on the very numbers that the check will look at."""
        if not self.found.signs.all():
            return False
        keys = np.array([self._keys[i] for i in rows.tolist()], dtype=np.intp)
        observations, place = np.divmod(keys, self.rows.problem.blocks)
        Z = self.rows.problem.row_vectors(observations, self.rows.others[observations, place])
        return encloses_combination(Z, sign * self.rows.shift.coefficient(j))
