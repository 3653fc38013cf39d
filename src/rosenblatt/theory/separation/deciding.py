"""`separation`: complete, quasi-complete or overlap, and which coefficients are infinite."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.separation.answers import Separation
from rosenblatt.theory.separation.claims import Pair, Vectors
from rosenblatt.theory.separation.modular import PRIMES, UnluckyPrimeError, solve, spanning_rows
from rosenblatt.theory.separation.numbers import exact_scores, places, primitive, to_integers
from rosenblatt.theory.separation.problem import Indices, Problem, read_problem
from rosenblatt.theory.separation.signs import find_signs
from rosenblatt.theory.separation.tucker import Rows, find_pair
from rosenblatt.theory.ties import representatives

MOST_COEFFICIENTS = 2048


def separation(X: Any, y: ArrayLike, fit_intercept: bool = True, sample_weight: ArrayLike | None = None) -> Separation:
    """Decide whether a logistic regression has finite maximum-likelihood estimates, for each coefficient, and prove it.

    Three things can happen (Albert and Anderson 1984). Complete separation: some combination of the columns predicts
    every row with certainty, and no estimate is finite. Quasi-complete separation: some combination predicts some rows
    with certainty and is 0 on the others; some estimates are infinite. Overlap: neither; all estimates are finite. The
    answer is about the numbers as stored, exactly; it prints in words and has ``check``, ``save`` and ``load``.

    Parameters
    ----------
    X : data frame, array or sparse matrix of shape (n, d)
        Finite numbers. In a pandas, polars or pyarrow table columns of words and categorical ones become a column for
        each level but the first, called ``name=level``; booleans are 0 and 1. A column that is a combination of
        columns before it is aliased and left out, as R does. (The intercept comes first.)
    y : array of shape (n,) or (n, 2)
        Labels, two or more. The first in sorted order is the baseline; more than two make a multinomial regression.
        Of shape (n, 2): counts of successes and failures.
    fit_intercept : bool
        Whether there is a constant.
    sample_weight : array of shape (n,), optional
        Rows of weight zero are left out; of the others the weights do not matter.

    Returns
    -------
    Separation
        ``kind``, ``coefficients``, ``direction``, ``on_hyperplane`` and ``baseline``, with the proof.

    Examples
    --------
    >>> X, y = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3]], [0, 1, 0, 1, 1, 1]
    >>> answer = separation(X, y)
    >>> print(answer)
    Quasi-complete separation: x0 tends to +infinity; intercept, x1 are finite. 4 of 6 rows lie on the hyperplane; ...
    >>> answer.kind, answer.coefficients
    ('quasi-complete', {'intercept': 'finite', 'x0': '+inf', 'x1': 'finite'})
    >>> answer.on_hyperplane, answer.check(X, y)
    (array([0, 1, 2, 3]), True)
    """
    problem = read_problem(X, y, fit_intercept, sample_weight)
    p, blocks = len(problem.names), problem.blocks
    if p * blocks > MOST_COEFFICIENTS:
        raise ValueError(
            f"expected at most {MOST_COEFFICIENTS:,} coefficients, got {p * blocks:,}: exact arithmetic would take "
            "hours. Leave out columns or merge levels; `separability` says whether two classes are separated at all."
        )
    for prime in PRIMES:
        with contextlib.suppress(UnluckyPrimeError):
            answer = _decide(problem, bool(fit_intercept), prime)
            if answer.holds(problem):
                return answer
    raise AssertionError("no proof was found that holds: this is a fault of the search, please report it.")


def _decide(problem: Problem, fit_intercept: bool, prime: int) -> Separation:
    """Return the answer with its proof, not yet checked; systems are solved with the prime."""
    p, blocks = len(problem.names), problem.blocks
    first, same = _distinct(problem)
    distinct = problem.with_observations(first) if len(first) < len(same) else problem
    kept, relations = _aliases(distinct, prime)
    rows = Rows(distinct.with_columns(kept))
    found = find_pair(rows, prime)
    signs = find_signs(rows, found)
    where = np.concatenate([np.array(kept, dtype=np.intp) + k * p for k in range(blocks)])
    statuses = np.full(p * blocks, "aliased", dtype=object)
    statuses[where] = signs.statuses

    def spread(vector: Numbers) -> tuple[int, ...]:
        whole = np.zeros(p * blocks, dtype=object)
        whole[where] = vector
        return tuple(whole.tolist())

    kind = "complete" if found.signs.all() else "quasi-complete" if found.signs.any() else "overlap"
    face = found.face
    null = rows.original(face.null)
    pair = Pair(
        spread(primitive(null @ found.c) if len(found.c) else np.zeros(len(null), dtype=object)),
        tuple((rows.name(key), int(weight)) for key, weight in zip(face.keys, face.weights, strict=True)),
        () if kind == "complete" else tuple(spread(primitive(column)) for column in null.T),
        relations,
        tuple(map(spread, signs.turns)),
        {int(where[j]): force for j, force in signs.forces.items()},
    )
    on = np.unique(problem.rows[(found.signs == 0).any(axis=1)[same]])
    n_rows = len(np.unique(problem.rows))
    return Separation(kind, problem.names, problem.classes, tuple(statuses.tolist()), on, n_rows, fit_intercept, pair)


def _distinct(problem: Problem) -> tuple[Indices, Indices]:
    """Return an observation of each kind, and for each observation the place of its like among them."""
    everything = np.arange(len(problem.own))
    like = representatives(problem.X, problem.own, everything, np.arange(problem.X.shape[1]))
    first, same = np.unique(like, return_inverse=True)
    return first, same.ravel()


def _aliases(problem: Problem, prime: int) -> tuple[list[int], Vectors]:
    """Return the columns that are independent of those to their left, and how the others depend on them."""
    X, p = problem.X, problem.X.shape[1]
    start = np.unique(np.linspace(0, len(X) - 1, min(len(X), 4 * p + 20)).astype(np.intp))
    rows, kept = spanning_rows(X, start, prime)
    others = [j for j in range(p) if j not in kept]
    if not others:
        return kept, ()
    exponents = places(X[rows])
    whole = to_integers(X[rows], exponents)
    above, below = solve(whole[:, kept], -whole[:, others], prime)
    relations = []
    for k, j in enumerate(others):
        relation = np.zeros(p, dtype=object)
        relation[kept], relation[j] = above[:, k], below
        relations.append(primitive(relation << (exponents.max(initial=0) - exponents).astype(object)))
    if exact_scores(X, np.array(relations, dtype=object).T).any():
        raise UnluckyPrimeError
    return kept, tuple(tuple(relation.tolist()) for relation in relations)
