"""What a certificate of separation claims, recomputed from the data by exact arithmetic, whatever has found it.

Tucker's pair: integers b and alpha >= 0 with Z b >= 0 and Z' alpha = 0, where each row has z . b > 0 or may have
alpha > 0. Here alpha is kept on some rows S only: if every row with z . b = 0 lies in the span of Z_S, then weights on
S can make up for a weight on it. That is proved by ``null``: Z_H null = 0, and null has as many independent columns
as the rank of Z_S leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.enclosures import encloses_zero_combination
from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.separation.modular import PRIMES, rank_reaches, spanning_rows
from rosenblatt.theory.separation.numbers import exact_scores, places, to_integers
from rosenblatt.theory.separation.problem import Indices, Problem
from rosenblatt.theory.separation.shifts import shifted

Vectors = tuple[tuple[int, ...], ...]
Row = tuple[int, int, int]
"""A row z: the number of the data row, the index of its class, and that of a class it does not have."""
STATUSES = ("finite", "+inf", "-inf", "either", "aliased")


class Force(NamedTuple):
    """Why a coefficient has one sign: rows z which with positive weights add up to it, given the hyperplane.

    Without ``weights``, for complete separation only, there are as many rows as columns: weights are proved to exist.
    """

    rows: tuple[Row, ...]
    weights: tuple[int, ...] | None


class Pair(NamedTuple):
    """Integers that prove an answer; vectors have an entry for each class but the baseline and each column."""

    b: tuple[int, ...]
    alpha: tuple[tuple[Row, int], ...]
    null: Vectors
    relations: Vectors
    turns: Vectors
    forces: Mapping[int, Force]


def is_bounded(pair: Pair, size: int, rows: int) -> bool:
    """Return whether no part of the pair is larger than ``size`` coefficients and ``rows`` rows z ever need.

    It is asked before anything is computed, so that a forged certificate costs no more than an honest one.
    """
    if max(len(pair.null), len(pair.relations), len(pair.turns), len(pair.forces)) > size or len(pair.alpha) > rows:
        return False
    return all(
        len(force.rows) <= size and (force.weights is None or len(force.weights) == len(force.rows))
        for force in pair.forces.values()
    )


def proves_aliases(problem: Problem, aliased: Sequence[int], relations: Vectors) -> bool:
    """Return whether just these columns are combinations of columns to their left, the others being independent."""
    p = problem.X.shape[1]
    kept = np.setdiff1d(np.arange(p), aliased)
    if len(relations) != len(aliased) or any(len(relation) != p for relation in relations):
        return False
    for j, relation in zip(aliased, relations, strict=True):
        if relation[j] == 0 or any(relation[j + 1 :]) or any(relation[k] for k in aliased if k < j):
            return False
    if relations and exact_scores(problem.X, np.array(relations, dtype=object).T).any():
        return False
    start = np.unique(np.linspace(0, len(problem.X) - 1, min(len(problem.X), 4 * p + 20)).astype(np.intp))
    X = problem.X[:, kept]
    return any(len(spanning_rows(X, start, prime)[1]) == len(kept) for prime in PRIMES)


class Claims:
    """The claims of a pair about a problem without aliased columns; each method proves one of them."""

    def __init__(self, problem: Problem, pair: Pair) -> None:
        self.shift = shifted(problem)
        self.problem, self.pair = self.shift.problem, pair
        self.size = problem.X.shape[1] * problem.blocks
        self.b = np.array(pair.b, dtype=object)
        self.signs = self.problem.signs(self._moved((pair.b,)))
        self.places = {key: k for k, key in enumerate(zip(problem.rows.tolist(), problem.own.tolist(), strict=True))}

    @property
    def on_hyperplane(self) -> Indices:
        """The data rows that have a row z with z . b = 0."""
        return np.unique(self.problem.rows[(self.signs == 0).any(axis=1)])

    @property
    def kind(self) -> str:
        """Complete, quasi-complete or overlap, as b has it."""
        return "complete" if self.signs.all() else "quasi-complete" if self.signs.any() else "overlap"

    @property
    def null(self) -> Numbers:
        """The columns that span the combinations which are 0 on the hyperplane."""
        if self.kind == "complete":
            return np.eye(self.size, dtype=int).astype(object)
        return np.array(self.pair.null, dtype=object).reshape(len(self.pair.null), self.size).T

    def proves_pair(self) -> bool:
        """Return whether b and alpha are Tucker's pair, and ``null`` spans what is 0 on the hyperplane."""
        if (self.signs < 0).any():
            return False
        if self.kind == "complete":
            return not self.pair.alpha and not self.pair.null
        rows, weights = [row for row, _ in self.pair.alpha], [weight for _, weight in self.pair.alpha]
        S = None if len(set(rows)) < len(rows) else self._row_vectors(rows)
        if S is None or (weights and min(weights) <= 0):
            return False
        exponents = places(S)
        if (np.array(weights, dtype=object) @ to_integers(S, exponents) if rows else np.zeros(0)).any():
            return False
        null = self._moved(self.pair.null)
        k = null.shape[1]
        if not rank_reaches(S, self.size - k) or not rank_reaches(null, k):
            return False
        part = np.flatnonzero((self.signs == 0).any(axis=1))
        on = self.problem.with_observations(part)
        return all(
            not on.margins(exact_scores(on.X, column.reshape(on.blocks, -1).T))[self.signs[part] == 0].any()
            for column in null.T
        )

    def proves_signs(self, statuses: Sequence[str]) -> bool:
        """Return whether each coefficient has its status; the pair must have been proved."""
        null = self.null
        turns = np.array(self.pair.turns, dtype=object).reshape(len(self.pair.turns), self.size)
        if any((self.problem.signs(turn) < 0).any() for turn in self._moved(self.pair.turns).T):
            return False
        for j, status in enumerate(statuses):
            moves = bool((null[j] != 0).any()) if null.shape[1] else False
            if status == "finite" or not moves:
                if moves or status != "finite":
                    return False
                continue
            sign = (self.b[j] > 0) - (self.b[j] < 0)
            if status == "either":
                if sign and not any(turn[j] * sign < 0 for turn in turns):
                    return False
            elif sign != (1 if status == "+inf" else -1) or not self._is_forced(j, sign, null):
                return False
        return True

    def _is_forced(self, j: int, sign: int, null: Numbers) -> bool:
        """Return whether no direction d with Z d >= 0 has the other sign at the coefficient j."""
        k = null.shape[1]
        if k == 1:  # all such directions are multiples of b
            return True
        force = self.pair.forces.get(j)
        Z = None if force is None else self._row_vectors(list(force.rows))
        if force is None or Z is None or len(Z) == 0:
            return False
        if force.weights is None:
            return self.kind == "complete" and encloses_combination(Z, sign * self.shift.coefficient(j))
        if min(force.weights) <= 0:
            return False
        exponents = places(Z)
        moved = self.shift.into(null) << (exponents - exponents.min()).astype(object)[:, None]
        total = np.array(force.weights, dtype=object) @ to_integers(Z, exponents)
        return is_positive_multiple(total @ moved, null[j] * sign)

    def _moved(self, vectors: Vectors) -> Numbers:
        """Return vectors as columns for the moved columns, times a positive integer."""
        return self.shift.into(np.array(vectors, dtype=object).reshape(len(vectors), self.size).T)

    def _row_vectors(self, rows: list[Row]) -> NDArray[np.float64] | None:
        """Return the rows z, None where one of them is not in the data."""
        found = [self.places.get((row, own)) for row, own, _ in rows]
        other = np.array([other for _, _, other in rows], dtype=np.intp)
        if any(place is None for place in found):
            return None
        if not all(0 <= k < len(self.problem.classes) and k != own for _, own, k in rows):
            return None
        return self.problem.row_vectors(np.array(found, dtype=np.intp), other)


def encloses_combination(A: NDArray[np.float64], target: NDArray[np.float64]) -> bool:
    """Return whether positive weights are proved to exist with which the rows add up to ``target``, by an enclosure."""
    if A.shape[0] != A.shape[1]:
        return False
    try:
        weights = np.linalg.solve(A.T, target)
    except np.linalg.LinAlgError:
        return False
    weights = np.append(weights, 1.0)
    if not np.isfinite(weights).all() or not (weights > 0).all():
        return False
    rows = np.vstack([A, -target])
    return encloses_zero_combination(rows, np.ones(len(rows)), np.arange(len(rows)), weights / weights.sum(), False)


def is_positive_multiple(values: Numbers, target: Numbers) -> bool:
    """Return whether integers are a positive multiple of others, which are not all 0."""
    k = int(np.flatnonzero(target)[0])
    scale, unit = values[k], target[k]
    return scale * unit > 0 and bool((values * unit == target * scale).all())
