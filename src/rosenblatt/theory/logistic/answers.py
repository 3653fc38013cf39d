"""Certificate of separation: which maximum-likelihood estimates of a logistic regression are finite, with a proof."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.html import arrows
from rosenblatt.messages import show_text
from rosenblatt.storage.schema import LABEL, PLAIN, Codec, Place, integer, list_of, optional, record, string
from rosenblatt.theory.certificates import INTEGER, INTEGERS, Certificate, Rows, write_integer
from rosenblatt.theory.enclosures import encloses_zero_combination
from rosenblatt.theory.exact import lowest_exponents, to_integers
from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.logistic.arithmetic import PRIMES, exact_scores, rank_is_at_least, row_basis
from rosenblatt.theory.logistic.problem import Indices, Problem, centred, read_problem

# The check of a certificate of separation, which recomputes it from the data in exact arithmetic.
#
# Let Z have a row z for each observation and each class other than its own (see `problem`). By Tucker's theorem (A. W.
# Tucker 1956, "Dual systems of homogeneous linear relations") there are always b and alpha >= 0 with Z b >= 0, Z'
# alpha = 0 and Z b + alpha > 0: each row either has z . b > 0 or has a positive weight in alpha. Then b lies in the
# relative interior of the cone of all d with Z d >= 0 (the recession cone of the likelihood). The rows with z . b = 0
# are 0 on the whole cone, because sum alpha_i z_i . d = 0 has only terms >= 0. Albert and Anderson (1984) name the
# cases: Z b > 0 is complete separation, b != 0 with some z . b = 0 is quasi-complete separation, and b = 0 is overlap.
#
# Here alpha is stored for some rows S only, and every other row with z . b = 0 lies in the span of Z_S. That is enough,
# because such a row can be given a small weight, and a change of the weights of S compensates for it. The span is
# proved by ``null_basis``: its columns are 0 on all rows with z . b = 0 (the hyperplane), and their number is the
# number of coefficients minus the rank of Z_S.


Vectors = tuple[tuple[int, ...], ...]
Row = tuple[int, int, int]
"""Identifies a row z: the index of the data row, the index of its class, and the index of another class."""
Label: TypeAlias = bool | int | float | str
Key: TypeAlias = str | tuple[Label, str]
"""The name of a coefficient, with its class if there are more than two."""
STATUSES = ("finite", "+inf", "-inf", "either", "aliased")


class ForcedSign(NamedTuple):
    """Rows z that prove the sign of coefficient j: on the null space, their weighted sum is a multiple of +-e_j.

    The weights are positive, and e_j is a unit vector. For complete separation ``weights`` may be None; then there are
    as many rows as columns, and an enclosure proves that positive weights exist.
    """

    rows: tuple[Row, ...]
    weights: tuple[int, ...] | None


class Proof(NamedTuple):
    """Integers that prove an answer; each vector has one entry per column and non-baseline class.

    ``b`` and ``alpha`` are Tucker's pair (see `logistic.search`). ``null_basis`` spans the directions that are 0 on the
    hyperplane (the rows with z . b = 0). ``relations`` express aliased columns by columns to their left.
    ``counter_directions`` are directions d with Z d >= 0 in which a coefficient has the opposite sign to b.
    ``forced_signs`` maps a coefficient to the proof that no such direction exists for it.
    """

    b: tuple[int, ...]
    alpha: tuple[tuple[Row, int], ...]
    null_basis: Vectors
    relations: Vectors
    counter_directions: Vectors
    forced_signs: Mapping[int, ForcedSign]


def proves_aliases(problem: Problem, aliased: Sequence[int], relations: Vectors) -> bool:
    """Return whether exactly the columns ``aliased`` are linear combinations of columns to their left."""
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
    return any(len(row_basis(X, start, prime)[1]) == len(kept) for prime in PRIMES)


class ProofCheck:
    """A proof and its problem, both without aliased columns; each method checks one claim."""

    def __init__(self, problem: Problem, proof: Proof) -> None:
        self.centring = centred(problem)
        self.problem, self.proof = self.centring.problem, proof
        self.size = problem.X.shape[1] * problem.blocks
        self.b = np.array(proof.b, dtype=object)
        self.signs = self.problem.signs(self._centred_columns((proof.b,)))
        names = zip(problem.rows.tolist(), problem.own_class.tolist(), strict=True)
        self.observations = {name: k for k, name in enumerate(names)}

    @property
    def on_hyperplane(self) -> Indices:
        """The indices of the data rows that have a row z with z . b = 0."""
        return np.unique(self.problem.rows[(self.signs == 0).any(axis=1)])

    @property
    def kind(self) -> str:
        """The kind of separation according to b: "complete", "quasi-complete" or "overlap"."""
        return "complete" if self.signs.all() else "quasi-complete" if self.signs.any() else "overlap"

    @property
    def null_basis(self) -> Numbers:
        """A basis, as columns, of the directions that are 0 on the hyperplane."""
        if self.kind == "complete":
            return np.eye(self.size, dtype=int).astype(object)
        return np.array(self.proof.null_basis, dtype=object).reshape(len(self.proof.null_basis), self.size).T

    def proves_tucker_pair(self) -> bool:
        """Return whether b and alpha are Tucker's pair, and ``null_basis`` is the null basis that `Proof` describes."""
        if (self.signs < 0).any():
            return False
        if self.kind == "complete":
            return not self.proof.alpha and not self.proof.null_basis
        rows, weights = [row for row, _ in self.proof.alpha], [weight for _, weight in self.proof.alpha]
        S = None if len(set(rows)) < len(rows) else self._row_vectors(rows)
        if S is None or (weights and min(weights) <= 0):
            return False
        exponents = lowest_exponents(S)
        if (np.array(weights, dtype=object) @ to_integers(S, exponents) if rows else np.zeros(0)).any():
            return False
        # To show: rank(null) = k and rank(S) >= size - k. If all rows on the hyperplane, including S, are 0 on null,
        # then S spans the orthogonal complement of null, and so all these rows.
        null = self._centred_columns(self.proof.null_basis)
        k = null.shape[1]
        if not rank_is_at_least(S, self.size - k) or not rank_is_at_least(null, k):
            return False
        part = np.flatnonzero((self.signs == 0).any(axis=1))
        on = self.problem.with_observations(part)
        return all(
            not on.margins(exact_scores(on.X, column.reshape(on.blocks, -1).T))[self.signs[part] == 0].any()
            for column in null.T
        )

    def proves_signs(self, statuses: Sequence[str]) -> bool:
        """Return whether each coefficient has its status, given that Tucker's pair is proved."""
        null = self.null_basis
        count = len(self.proof.counter_directions)
        directions = np.array(self.proof.counter_directions, dtype=object).reshape(count, self.size)
        centred_directions = self._centred_columns(self.proof.counter_directions)
        if any((self.problem.signs(direction) < 0).any() for direction in centred_directions.T):
            return False
        for j, status in enumerate(statuses):
            # The cone spans the space of ``null``. So coefficient j is 0 on the cone, and its estimate is finite, if
            # and only if row j of ``null`` is 0.
            is_infinite = bool((null[j] != 0).any()) if null.shape[1] else False
            if status == "finite" or not is_infinite:
                if is_infinite or status != "finite":
                    return False
                continue
            sign = (self.b[j] > 0) - (self.b[j] < 0)
            if status == "either":
                if sign and not any(direction[j] * sign < 0 for direction in directions):
                    return False
            elif sign != (1 if status == "+inf" else -1) or not self._is_forced(j, sign, null):
                return False
        return True

    def _is_forced(self, j: int, sign: int, null: Numbers) -> bool:
        """Return whether no direction d with Z d >= 0 has the opposite sign in coefficient j.

        By Farkas's lemma this holds if, on the subspace that the columns of ``null`` span, ``sign`` times the unit
        vector e_j equals a combination of rows z with positive weights.
        """
        k = null.shape[1]
        if k == 1:  # all such directions are multiples of b
            return True
        forced = self.proof.forced_signs.get(j)
        Z = None if forced is None else self._row_vectors(list(forced.rows))
        if forced is None or Z is None or len(Z) == 0:
            return False
        if forced.weights is None:
            return self.kind == "complete" and encloses_combination(Z, sign * self.centring.coefficient(j))
        if len(forced.weights) != len(Z) or min(forced.weights) <= 0:
            return False
        exponents = lowest_exponents(Z)
        scaled_null = self.centring.to_centred(null) << (exponents - exponents.min()).astype(object)[:, None]
        total = np.array(forced.weights, dtype=object) @ to_integers(Z, exponents)
        return is_positive_multiple(total @ scaled_null, null[j] * sign)

    def _centred_columns(self, vectors: Vectors) -> Numbers:
        """Return the vectors as columns for the centred problem, all multiplied by one positive integer."""
        return self.centring.to_centred(np.array(vectors, dtype=object).reshape(len(vectors), self.size).T)

    def _row_vectors(self, rows: list[Row]) -> NDArray[np.float64] | None:
        """Return the rows z, or None if one of them is not in the data."""
        found = [self.observations.get((row, own)) for row, own, _ in rows]
        other = np.array([other for _, _, other in rows], dtype=np.intp)
        if any(observation is None for observation in found):
            return None
        if not all(0 <= k < len(self.problem.classes) and k != own for _, own, k in rows):
            return None
        return self.problem.row_vectors(np.array(found, dtype=np.intp), other)


def encloses_combination(A: NDArray[np.float64], target: NDArray[np.float64]) -> bool:
    """Return whether an enclosure proves that the rows sum to ``target`` with some positive weights."""
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
    """Return whether ``values`` is a positive multiple of ``target``, a vector of integers that is not 0."""
    k = int(np.flatnonzero(target)[0])
    scale, unit = values[k], target[k]
    return scale * unit > 0 and bool((values * unit == target * scale).all())


# The sentences of an answer: the limits of the estimates, the number of rows on the hyperplane, and what to do.


_MOST = 12  # the most names in a list; further names are only counted
_REMEDY = (
    "What to do: Firth's method or a penalty (regularisation) gives finite estimates; profile likelihoods give tests."
)
_CAUSES = {
    "complete": "Either these columns determine the class, or there are too few rows for the number of columns.",
    "quasi-complete": "If a rare level or a single column is the cause, merge the level or drop the column.",
}
_INFINITE = ("+inf", "-inf", "either")


def describe(kind: str, coefficients: Mapping[Key, str], n: int, on: int, baseline: Label) -> str:
    """Return the sentences that describe a result for ``n`` rows, of which ``on`` lie on the hyperplane.

    >>> print(describe("overlap", {"intercept": "finite", "x0": "finite"}, 10, 10, 0))
    Overlap: no combination of the columns separates the classes, so every maximum-likelihood estimate is finite.
    If a fit still does not converge, it needs more iterations, or columns of similar scale.
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
        lines.append(f"{_list(by_status['aliased'])} {do} of columns before it and has no separate coefficient.")
    if several:
        lines.append(f"Coefficients compare each class with the baseline {baseline!r}.")
    if infinite:
        lines.append(f"{_REMEDY} {_CAUSES[kind]}")
    else:
        lines.append("If a fit still does not converge, it needs more iterations, or columns of similar scale.")
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
            f"{_list(by_status['either'])} {_verb(by_status['either'], 'is', 'are')} not determined: "
            "any limit from -infinity to +infinity is possible"
        )
    if by_status["finite"]:
        parts.append(f"{_list(by_status['finite'])} {_verb(by_status['finite'], 'is', 'are')} finite")
    what = "; ".join(parts)
    if kind == "complete":
        rows = "the only row is" if n == 1 else f"all {n:,} rows are"
        return (
            f"Complete separation: {what}. A combination of the columns puts every row strictly on its side: {rows} "
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


def coefficient_name(key: Key) -> str:
    """Return the name of a coefficient, with its class if there are more than two classes."""
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


def _write_alpha(alpha: tuple[tuple[Row, int], ...], place: Place) -> list[list[object]]:
    return [[*row, write_integer(weight)] for row, weight in alpha]


def _read_alpha(data: object, place: Place) -> tuple[tuple[Row, int], ...]:
    alpha: dict[Row, int] = {}
    for entry in list_of(PLAIN).read(data, place):
        if not isinstance(entry, list) or len(entry) != 4 or not _is_row(entry[:3]):
            raise place.error("a list of rows with their weights", entry)
        if tuple(entry[:3]) in alpha:
            raise place.error("a list of distinct rows", entry)
        alpha[tuple(entry[:3])] = INTEGER.read(entry[3], place)
    return tuple(alpha.items())


def _write_forced_signs(forced_signs: dict[int, ForcedSign], place: Place) -> list[list[object]]:
    weights = optional(INTEGERS)
    return [
        [j, list(map(list, forced.rows)), weights.write(forced.weights, place)] for j, forced in forced_signs.items()
    ]


def _read_forced_signs(data: object, place: Place) -> dict[int, ForcedSign]:
    forced_signs: dict[int, ForcedSign] = {}
    for entry in _SHORT.read(data, place):
        known = isinstance(entry, list) and len(entry) == 3 and type(entry[0]) is int and isinstance(entry[1], list)
        if not known or entry[0] in forced_signs or not all(map(_is_row, _SHORT.read(entry[1], place))):
            raise place.error("a list of coefficients with rows and their weights", entry)
        weights = optional(INTEGERS).read(entry[2], place)
        forced_signs[entry[0]] = ForcedSign(tuple(tuple(row) for row in entry[1]), weights)
    return forced_signs


def _read_b(data: object, place: Place) -> tuple[int, ...]:
    b: tuple[int, ...] = INTEGERS.read(data, place)
    place.has_size("coefficients", len(b))
    return b


def _short(codec: Codec) -> Codec:
    """Return a codec for lists of ``codec`` items, at most one per coefficient, which is enough for every proof.

    The limit keeps the check of a forged certificate as cheap as the check of a valid one.
    """

    def read(data: object, place: Place) -> tuple[object, ...]:
        most = place.sizes["coefficients"]
        if type(data) is list and len(data) > most:
            raise place.error(f"a list of at most {most} items, one for each coefficient", len(data))
        return tuple(list_of(codec).read(data, place))

    return Codec(list_of(codec).write, read)


_SHORT = _short(PLAIN)
_Vectors = Annotated[Vectors, _short(_short(INTEGER))]


class _ProofFields:
    b: Annotated[tuple[int, ...], Codec(INTEGERS.write, _read_b)]
    alpha: Annotated[tuple[tuple[Row, int], ...], Codec(_write_alpha, _read_alpha)]
    null_basis: _Vectors
    relations: _Vectors
    counter_directions: _Vectors
    forced_signs: Annotated[dict[int, ForcedSign], Codec(_write_forced_signs, _read_forced_signs)]


def _read_classes(data: object, place: Place) -> tuple[Label, ...]:
    labels = tuple(list_of(LABEL).read(data, place))
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise place.error("a list of at least two different labels", data)
    return labels


Statuses: TypeAlias = tuple[Annotated[str, string(*STATUSES)], ...]
Classes: TypeAlias = Annotated[tuple[Label, ...], Codec(list_of(LABEL).write, _read_classes)]
_ProofType: TypeAlias = Annotated[Proof, record(_ProofFields, Proof)]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Separation(Certificate):
    """Which maximum-likelihood estimates of a logistic regression are finite and which tend to infinity, with a proof.

    Attributes
    ----------
    kind : {"complete", "quasi-complete", "overlap"}
        Complete: some linear combination of the columns separates the classes strictly, and no estimate is finite.
        Quasi-complete: some combination separates some rows strictly and is 0 for all others. Overlap: no such
        combination exists, and all estimates are finite. The probability of the class of a strictly separated row tends
        to 1.
    coefficients : dict
        The status of each coefficient, by name. "finite": the estimate is finite. "+inf" or "-inf": the coefficient
        tends to this limit in every sequence along which the likelihood tends to its supremum. "either": its limit
        depends on the sequence. "aliased": the column is a combination of columns before it. With more than two classes
        the keys are (class, name).
    direction : dict
        The coefficients of the separating combination, in integers, all 0 for overlap. The likelihood keeps increasing
        in this direction.
    on_hyperplane : array of int
        The indices of the rows for which the combination is 0, so that they are not strictly separated. With more than
        two classes, these are the rows for which some other class stays as likely as their own.
    baseline : label
        The class that has no coefficients: the first in sorted order.

    ``check`` proves all attributes from the data, exactly and without the search. ``bool`` raises a ValueError, since a
    `Separation` is neither true nor false; compare ``kind`` instead.

    See Also
    --------
    detect_separation : The function that returns a `Separation`.
    """

    kind: Annotated[str, string(*KINDS)]
    names: tuple[str, ...]
    classes: Classes
    statuses: Statuses
    on_hyperplane: Rows
    n_rows: Annotated[int, integer(0, 2**31 - 1)]
    fit_intercept: bool
    proof: _ProofType
    _truth = "complete, quasi-complete and overlap are neither true nor false: compare kind with one of them."

    def __post_init__(self) -> None:
        if not len(self.statuses) == len(self.proof.b) == len(self.names) * (len(self.classes) - 1):
            raise ValueError(
                "expected a certificate with one status and one integer for each coefficient, got a different number."
            )

    @property
    def baseline(self) -> Label:
        """The class that has no coefficients."""
        return self.classes[0]

    @property
    def coefficients(self) -> dict[Key, str]:
        """The status of the estimate of each coefficient, by name or by class and name."""
        return dict(zip(self._keys(), self.statuses, strict=True))

    @property
    def direction(self) -> dict[Key, int]:
        """The coefficients of the separating combination, by name or by class and name."""
        return dict(zip(self._keys(), self.proof.b, strict=True))

    def _keys(self) -> list[Key]:
        if len(self.classes) == 2:
            return list(self.names)
        return [(label, name) for label in self.classes[1:] for name in self.names]

    def check(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> bool:
        """Return whether an exact recomputation from these rows and labels confirms every claim.

        The claims are the kind, the rows on the hyperplane and the status of each coefficient. The attribute
        ``fit_intercept`` of the certificate decides whether the model has an intercept.
        """
        return self.holds(read_problem(X, y, self.fit_intercept, sample_weight))

    def holds(self, problem: Problem) -> bool:
        """Return whether every claim holds for the given problem."""
        p, blocks, proof = len(self.names), len(self.classes) - 1, self.proof
        vectors = (proof.b, *proof.null_basis, *proof.counter_directions)
        if (self.names, self.classes) != (problem.names, problem.classes):
            return False
        if {len(self.statuses), *map(len, vectors)} != {p * blocks}:
            return False
        if [type(label) for label in self.classes] != [type(label) for label in problem.classes]:
            return False
        is_aliased = (np.array(self.statuses, dtype=object) == "aliased").reshape(blocks, p)
        if (is_aliased != is_aliased[0]).any() or self.n_rows != len(np.unique(problem.rows)):
            return False
        aliased, kept = np.flatnonzero(is_aliased[0]), np.flatnonzero(~is_aliased[0])
        if not proves_aliases(problem, aliased.tolist(), proof.relations):
            return False
        if any(vector[j] for vector in vectors for j in np.flatnonzero(is_aliased).tolist()):
            return False
        # The rest of the proof concerns the problem without aliased columns, so their entries, which are 0, are left
        # out.
        coefficients = np.flatnonzero(~is_aliased.ravel()).tolist()

        def restrict(vector: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(vector[j] for j in coefficients)

        position = {j: k for k, j in enumerate(coefficients)}
        if not set(proof.forced_signs) <= set(position):
            return False
        restricted = Proof(
            restrict(proof.b),
            proof.alpha,
            tuple(map(restrict, proof.null_basis)),
            (),
            tuple(map(restrict, proof.counter_directions)),
            {position[j]: forced for j, forced in proof.forced_signs.items()},
        )
        check = ProofCheck(problem.with_columns(kept.tolist()), restricted)
        if check.kind != self.kind or not np.array_equal(check.on_hyperplane, self.on_hyperplane):
            return False
        return check.proves_tucker_pair() and check.proves_signs([self.statuses[j] for j in coefficients])

    def _picture(self) -> str:
        named = {coefficient_name(key): status for key, status in self.coefficients.items()}
        return arrows(named, f"Where each estimate tends. {str(self).splitlines()[0]}")

    def __str__(self) -> str:
        return describe(self.kind, self.coefficients, self.n_rows, len(self.on_hyperplane), self.baseline)
