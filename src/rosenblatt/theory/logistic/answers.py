"""`Separation`: which maximum-likelihood estimates of a logistic regression are finite, with proof and check."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.html import arrows
from rosenblatt.messages import show_text
from rosenblatt.storage.schema import LABEL, PLAIN, Codec, Place, integer, list_of, optional, record, word
from rosenblatt.theory.certificates import INTEGER, INTEGERS, Certificate, Rows, write_integer
from rosenblatt.theory.enclosures import encloses_zero_combination
from rosenblatt.theory.exact import lowest_exponents, to_integers
from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.logistic.arithmetic import PRIMES, exact_scores, rank_reaches, spanning_rows
from rosenblatt.theory.logistic.problem import Indices, Problem, read_problem, shifted

# What a certificate of separation claims, recomputed from the data by exact arithmetic, whatever has found it.
#
# Tucker's pair: integers b and alpha >= 0 with Z b >= 0 and Z' alpha = 0, where each row has z . b > 0 or may have
# alpha > 0. Here alpha is kept on some rows S only: if every row with z . b = 0 lies in the span of Z_S, then weights
# on S can make up for a weight on it. That is proved by ``null``: Z_H null = 0, and null has as many independent
# columns as the rank of Z_S leaves.


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
        exponents = lowest_exponents(S)
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
        exponents = lowest_exponents(Z)
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


# Separation in words: what tends where, how many rows lie on the hyperplane, and what to do.


_MOST = 12  # more names than this are counted
_REMEDY = (
    "What to do: Firth's method or a penalty (regularisation) gives finite estimates; profile likelihoods give tests."
)
_CAUSES = {
    "complete": "Either these columns tell the classes apart for certain, "
    "or there are too few rows for so many columns.",
    "quasi-complete": "Where a rare level or a single column is the cause, merge the level or drop the column.",
}
_INFINITE = ("+inf", "-inf", "either")


def describe(kind: str, coefficients: Mapping[Any, str], n: int, on: int, baseline: Any) -> str:
    """Return the sentences of an answer about ``n`` rows, ``on`` of them on the hyperplane.

    >>> print(describe("overlap", {"intercept": "finite", "x0": "finite"}, 10, 10, 0))
    Overlap: no combination of the columns separates the classes, so every maximum-likelihood estimate is finite.
    If a fit does not converge all the same, it needs more steps, or columns of like scale.
    """
    several = any(isinstance(key, tuple) for key in coefficients)
    by_status = {
        status: [coefficient_name(key) for key, found in coefficients.items() if found == status]
        for status in (*_INFINITE, "finite", "aliased")
    }
    infinite = [coefficient_name(key) for key, found in coefficients.items() if found in _INFINITE]
    lines = [_verdict(kind, by_status, infinite, n, on)]
    if by_status["aliased"]:
        do = _verb(by_status["aliased"], "is aliased: it is a combination", "are aliased: each is a combination")
        lines.append(f"{_list(by_status['aliased'])} {do} of columns before it and has no coefficient of its own.")
    if several:
        lines.append(f"Coefficients compare each class with the baseline {baseline!r}.")
    if infinite:
        lines.append(f"{_REMEDY} {_CAUSES[kind]}")
    else:
        lines.append("If a fit does not converge all the same, it needs more steps, or columns of like scale.")
    return "\n".join(lines)


def _verdict(kind: str, by_status: Mapping[str, list[str]], infinite: list[str], n: int, on: int) -> str:
    if kind == "overlap":
        return (
            "Overlap: no combination of the columns separates the classes, "
            "so every maximum-likelihood estimate is finite."
        )
    parts = []
    for status, end in (("+inf", "+infinity"), ("-inf", "-infinity")):
        if by_status[status]:
            parts.append(f"{_list(by_status[status])} {_verb(by_status[status], 'tends', 'tend')} to {end}")
    if by_status["either"]:
        parts.append(
            f"{_list(by_status['either'])} {_verb(by_status['either'], 'is', 'are')} not determined, "
            "not even whether towards +infinity or -infinity"
        )
    if by_status["finite"]:
        parts.append(f"{_list(by_status['finite'])} {_verb(by_status['finite'], 'is', 'are')} finite")
    what = "; ".join(parts)
    if kind == "complete":
        rows = "the only row is" if n == 1 else f"all {n:,} rows are"
        return (
            f"Complete separation: {what}. A combination of the columns has every row strictly on its side: {rows} "
            "predicted perfectly. No maximum-likelihood estimate is finite, and Wald errors are meaningless."
        )
    rest = n - on
    rows = f"{on:,} of {n:,} rows {'lies' if on == 1 else 'lie'} on the hyperplane"
    if rest:
        rows += (
            "; the other one is predicted perfectly" if rest == 1 else f"; the other {rest:,} are predicted perfectly"
        )
    errors = f"Wald errors for {_list(infinite)}" if by_status["finite"] else "Wald errors"
    return f"Quasi-complete separation: {what}. {rows}. {errors} are meaningless."


def coefficient_name(key: Any) -> str:
    """Return a coefficient by name, with its class where there are several."""
    if isinstance(key, tuple):
        return f"{show_text(key[1])} of {key[0]!r}"
    return show_text(key)


def _list(names: list[str]) -> str:
    if len(names) > _MOST:
        return f"{', '.join(names[:_MOST])} and {len(names) - _MOST:,} more"
    return ", ".join(names)


def _verb(names: list[str], one: str, many: str) -> str:
    return one if len(names) == 1 else many


KINDS = ("complete", "quasi-complete", "overlap")


def _is_row(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(type(v) is int and 0 <= v < 2**31 for v in value)


def _write_alpha(alpha: Any, place: Place) -> list[Any]:
    return [[*row, write_integer(weight)] for row, weight in alpha]


def _read_alpha(data: Any, place: Place) -> tuple[Any, ...]:
    alpha = {}
    for entry in list_of(PLAIN).read(data, place):
        if not isinstance(entry, list) or len(entry) != 4 or not _is_row(entry[:3]):
            raise place.error("a list of rows with their weights", entry)
        if tuple(entry[:3]) in alpha:
            raise place.error("a list of rows, each once", entry)
        alpha[tuple(entry[:3])] = INTEGER.read(entry[3], place)
    return tuple(alpha.items())


def _write_forces(forces: dict[int, Force], place: Place) -> list[Any]:
    weights = optional(INTEGERS)
    return [[j, list(map(list, force.rows)), weights.write(force.weights, place)] for j, force in forces.items()]


def _read_forces(data: Any, place: Place) -> dict[int, Force]:
    forces: dict[int, Force] = {}
    for entry in _SHORT.read(data, place):
        known = isinstance(entry, list) and len(entry) == 3 and type(entry[0]) is int and isinstance(entry[1], list)
        if not known or entry[0] in forces or not all(map(_is_row, _SHORT.read(entry[1], place))):
            raise place.error("a list of coefficients with rows and their weights", entry)
        weights = optional(INTEGERS).read(entry[2], place)
        forces[entry[0]] = Force(tuple(tuple(row) for row in entry[1]), weights)
    return forces


def _read_b(data: Any, place: Place) -> tuple[int, ...]:
    b: tuple[int, ...] = INTEGERS.read(data, place)
    place.has_size("coefficients", len(b))
    return b


def _short(codec: Codec) -> Codec:
    """Return the codec of a list with at most an item for each coefficient, as a proof needs no more."""

    def read(data: Any, place: Place) -> tuple[Any, ...]:
        most = place.sizes["coefficients"]
        if type(data) is list and len(data) > most:
            raise place.error(f"a list of at most {most}, as there are coefficients", len(data))
        return tuple(list_of(codec).read(data, place))

    return Codec(list_of(codec).write, read)


_SHORT = _short(PLAIN)
_Vectors = Annotated[Vectors, _short(_short(INTEGER))]


class _PairFields:
    b: Annotated[tuple[int, ...], Codec(INTEGERS.write, _read_b)]
    alpha: Annotated[tuple[Any, ...], Codec(_write_alpha, _read_alpha)]
    null: _Vectors
    relations: _Vectors
    turns: _Vectors
    forces: Annotated[dict[int, Force], Codec(_write_forces, _read_forces)]


def _read_classes(data: Any, place: Place) -> tuple[Any, ...]:
    labels = tuple(list_of(LABEL).read(data, place))
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise place.error("a list of at least two different labels", data)
    return labels


Statuses: TypeAlias = tuple[Annotated[str, word(*STATUSES)], ...]
Classes: TypeAlias = Annotated[tuple[Any, ...], Codec(list_of(LABEL).write, _read_classes)]
Proof: TypeAlias = Annotated[Pair, record(_PairFields, Pair)]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Separation(Certificate):
    """Which maximum-likelihood estimates of a logistic regression are finite, and which tend to infinity, with proof.

    Attributes
    ----------
    kind : {"complete", "quasi-complete", "overlap"}
        Complete: some combination of the columns predicts every row with certainty, and no estimate is finite.
        Quasi-complete: some combination predicts some rows with certainty and says nothing about the others, for which
        it is 0. Overlap: there is none, and all estimates are finite.
    coefficients : dict
        For each name "finite"; "+inf" or "-inf", where the estimate tends there in whatever way the likelihood tends to
        its supremum; "either", where ways differ; or "aliased", where the column is a combination of columns
        before it. With more than two classes the keys are (class, name).
    direction : dict
        The separating combination, in integers: along it the likelihood rises for ever; all 0 for overlap.
    on_hyperplane : array of int
        The numbers of the rows for which the combination is 0: those that are not predicted with certainty. (With more
        than two classes: those for which some other class is as likely as their own.)
    baseline : label
        The class left out: of two or more in sorted order, the first.

    ``check`` proves all of it from the data, exactly and without the search. A `Separation` is neither true nor
    false: ``bool`` raises an error, look at ``kind``.
    """

    kind: Annotated[str, word(*KINDS)]
    names: tuple[str, ...]
    classes: Classes
    statuses: Statuses
    on_hyperplane: Rows
    n_rows: Annotated[int, integer(0, 2**31 - 1)]
    fit_intercept: bool
    proof: Proof
    _truth = "complete, quasi-complete and overlap are neither true nor false: compare kind with one of them."

    def __post_init__(self) -> None:
        if not len(self.statuses) == len(self.proof.b) == len(self.names) * (len(self.classes) - 1):
            raise ValueError(
                "expected a certificate with a status and a number for each coefficient, got another number."
            )

    @property
    def baseline(self) -> Any:
        """The class left out."""
        return self.classes[0]

    @property
    def coefficients(self) -> dict[Any, str]:
        """The status of the estimate of each coefficient, by name or by class and name."""
        return dict(zip(self._keys(), self.statuses, strict=True))

    @property
    def direction(self) -> dict[Any, int]:
        """The separating combination, by name or by class and name."""
        return dict(zip(self._keys(), self.proof.b, strict=True))

    def _keys(self) -> list[Any]:
        if len(self.classes) == 2:
            return list(self.names)
        return [(label, name) for label in self.classes[1:] for name in self.names]

    def check(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> bool:
        """Return whether every claim holds for these rows and labels, recomputed exactly from them.

        Kind, hyperplane, rows on it and the status of each coefficient are proved; with or without an intercept, as the
        certificate was asked for.
        """
        return self.holds(read_problem(X, y, self.fit_intercept, sample_weight))

    def holds(self, problem: Problem) -> bool:
        """Return whether every claim holds for this problem."""
        p, blocks, proof = len(self.names), len(self.classes) - 1, self.proof
        sizes = {len(self.statuses), len(proof.b), *map(len, proof.null), *map(len, proof.turns)}
        if (self.names, self.classes) != (problem.names, problem.classes) or sizes != {p * blocks}:
            return False
        if not is_bounded(proof, p * blocks, len(problem.rows) * blocks):
            return False
        if [type(label) for label in self.classes] != [type(label) for label in problem.classes]:
            return False
        is_aliased = (np.array(self.statuses, dtype=object) == "aliased").reshape(blocks, p)
        if (is_aliased != is_aliased[0]).any() or self.n_rows != len(np.unique(problem.rows)):
            return False
        aliased, kept = np.flatnonzero(is_aliased[0]), np.flatnonzero(~is_aliased[0])
        if not proves_aliases(problem, aliased.tolist(), proof.relations):
            return False
        where = np.flatnonzero(~is_aliased.ravel())
        vectors = (proof.b, *proof.null, *proof.turns)
        if any(vector[j] for vector in vectors for j in np.flatnonzero(is_aliased).tolist()):
            return False

        def cut(vector: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(vector[j] for j in where.tolist())

        spot = {int(j): k for k, j in enumerate(where)}
        if not set(proof.forces) <= set(spot):
            return False
        forces = {spot[j]: force for j, force in proof.forces.items()}
        pair = Pair(cut(proof.b), proof.alpha, tuple(map(cut, proof.null)), (), tuple(map(cut, proof.turns)), forces)
        claims = Claims(problem.with_columns(kept.tolist()), pair)
        if claims.kind != self.kind or not np.array_equal(claims.on_hyperplane, self.on_hyperplane):
            return False
        return claims.proves_pair() and claims.proves_signs([self.statuses[j] for j in where.tolist()])

    def _picture(self) -> str:
        named = {coefficient_name(key): status for key, status in self.coefficients.items()}
        return arrows(named, f"Where each estimate tends. {str(self).splitlines()[0]}")

    def __str__(self) -> str:
        return describe(self.kind, self.coefficients, self.n_rows, len(self.on_hyperplane), self.baseline)
