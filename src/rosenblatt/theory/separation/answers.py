"""The answer to "does my logistic regression have a finite maximum-likelihood estimate?", with its proof."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.small_pictures import arrows
from rosenblatt.storage.json_fields import StrictFields, label_to_json
from rosenblatt.theory.certificate_fields import Codec, Rows, read_integer, words, write_integer
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.separation.claims import STATUSES, Claims, Force, Pair, Vectors, is_bounded, proves_aliases
from rosenblatt.theory.separation.problem import Problem, read_problem
from rosenblatt.theory.separation.sentences import coefficient_name, describe

KINDS = ("complete", "quasi-complete", "overlap")


def _is_row(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(type(v) is int and 0 <= v < 2**31 for v in value)


def _write_pair(pair: Pair, _: str) -> dict[str, Any]:
    def vectors(some: Vectors) -> list[list[str]]:
        return [list(map(write_integer, vector)) for vector in some]

    return {
        "b": list(map(write_integer, pair.b)),
        "alpha": [[*row, write_integer(weight)] for row, weight in pair.alpha],
        "null": vectors(pair.null),
        "relations": vectors(pair.relations),
        "turns": vectors(pair.turns),
        "forces": [
            [j, list(map(list, force.rows)), None if force.weights is None else list(map(write_integer, force.weights))]
            for j, force in pair.forces.items()
        ],
    }


def _read_pair(fields: StrictFields, name: str) -> Pair:
    part = fields.part(name)

    def integers(field: str, values: object) -> tuple[int, ...]:
        found = [read_integer(value) for value in values] if isinstance(values, list) else [None]
        if None in found:
            raise part.wrong(field, "lists of hexadecimal numbers", values)
        return tuple(value for value in found if value is not None)

    def short(field: str) -> list[Any]:
        values = part.values(field)
        if len(values) > len(b):
            raise part.wrong(field, f"a list of at most {len(b)}, as there are coefficients", len(values))
        return values

    def vectors(field: str) -> Vectors:
        found = short(field)
        for vector in found:
            if not isinstance(vector, list) or len(vector) > len(b):
                raise part.wrong(field, "lists of hexadecimal numbers, at most one for each coefficient", vector)
        return tuple(integers(field, vector) for vector in found)

    b = integers("b", part.take("b"))
    alpha = []
    for entry in part.values("alpha"):
        if not isinstance(entry, list) or len(entry) != 4 or not _is_row(entry[:3]):
            raise part.wrong("alpha", "a list of rows with their weights", entry)
        alpha.append((tuple(entry[:3]), integers("alpha", entry[3:])[0]))
    if len({row for row, _ in alpha}) < len(alpha):
        raise part.wrong("alpha", "a list of rows, each once", f"{len(alpha)} with some of them repeated")
    null, relations, turns = vectors("null"), vectors("relations"), vectors("turns")
    forces = {}
    for entry in short("forces"):
        known = isinstance(entry, list) and len(entry) == 3 and type(entry[0]) is int and isinstance(entry[1], list)
        if not known or entry[0] in forces or len(entry[1]) > len(b) or not all(map(_is_row, entry[1])):
            raise part.wrong("forces", "a list of coefficients with rows and their weights", entry)
        weights = None if entry[2] is None else integers("forces", entry[2])
        forces[entry[0]] = Force(tuple(tuple(row) for row in entry[1]), weights)
    part.end()
    return Pair(b, tuple(alpha), null, relations, turns, forces)


def _read_names(fields: StrictFields, name: str) -> tuple[str, ...]:
    return tuple(fields.words(name))


def _read_statuses(fields: StrictFields, name: str) -> tuple[str, ...]:
    found = fields.words(name)
    if not set(found) <= set(STATUSES):
        raise fields.wrong(name, f"a list of words among {', '.join(STATUSES)}", found)
    return tuple(found)


def _read_classes(fields: StrictFields, name: str) -> tuple[Any, ...]:
    values = fields.values(name)
    try:
        labels = tuple(map(label_to_json, values))
    except ValueError:
        raise fields.wrong(name, "a list of labels", values) from None
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise fields.wrong(name, "a list of at least two different labels", values)
    return labels


def _read_weighty(fields: StrictFields, name: str) -> int:
    return fields.whole(name, most=2**31 - 1)


def _listed(values: tuple[Any, ...], _: str) -> list[Any]:
    return list(values)


Names: TypeAlias = Annotated[tuple[str, ...], Codec(_listed, _read_names)]
Statuses: TypeAlias = Annotated[tuple[str, ...], Codec(_listed, _read_statuses)]
Classes: TypeAlias = Annotated[
    tuple[Any, ...], Codec(lambda labels, _: list(map(label_to_json, labels)), _read_classes)
]
Count: TypeAlias = Annotated[int, Codec(lambda value, _: value, _read_weighty)]
Flag: TypeAlias = Annotated[bool, Codec(lambda value, _: value, lambda fields, name: fields.flag(name))]
Proof: TypeAlias = Annotated[Pair, Codec(_write_pair, _read_pair)]


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

    kind: Annotated[str, words(*KINDS)]
    names: Names
    classes: Classes
    statuses: Statuses
    on_hyperplane: Rows
    n_rows: Count
    fit_intercept: Flag
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
        return claims.proves_pair() and claims.proves_signs(cut_words(self.statuses, where.tolist()))

    def _picture(self) -> str:
        named = {coefficient_name(key): status for key, status in self.coefficients.items()}
        return arrows(named, f"Where each estimate tends. {str(self).splitlines()[0]}")

    def __str__(self) -> str:
        return describe(self.kind, self.coefficients, self.n_rows, len(self.on_hyperplane), self.baseline)


def cut_words(statuses: tuple[str, ...], where: list[int]) -> list[str]:
    """Return some of the statuses."""
    return [statuses[j] for j in where]
