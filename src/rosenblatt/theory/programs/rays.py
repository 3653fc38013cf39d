"""Directions in which a linear program is unbounded: A d <= 0 and c . d > 0.

Strictly, A d < 0 and c . d > 0 is Gordan's question about the rows -a and c. A no that puts weight on c says that c is
a combination of rows of A with weights >= 0: the program is bounded. A no without it names rows that must be
equalities, a . d = 0, for every direction. They are eliminated exactly and the question is asked again, at most d
times.

What comes out is checked by `optimum_answers.recedes`, so nothing rests on this search.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from rosenblatt.theory.inputs import Floats, Matrix, Numbers, dense_rows
from rosenblatt.theory.integers import near_floats, null_space, proportional_integers
from rosenblatt.theory.programs.optimum_answers import recedes
from rosenblatt.theory.programs.systems import dot
from rosenblatt.theory.search.alternatives import Unsolvable
from rosenblatt.theory.search.cones import decide_cone

Line = list[Fraction]


def recession_ray(c: Floats, A: Matrix) -> Numbers | None:
    """Return d with A d <= 0 and c . d > 0, proved, as floats or as fractions; None where none was found."""
    used = np.flatnonzero(abs(A).sum(axis=1))
    Z = sp.csr_array(sp.vstack([-A[used], sp.csr_array(c[None, :])])) if sp.issparse(A) else np.vstack([-A[used], c])
    answer = decide_cone(Z)
    if isinstance(answer, list):
        return _proved(c, A, answer)
    if not isinstance(answer, Unsolvable) or answer.support[-1] == len(used):  # c takes part: the program is bounded
        return None
    return _within(
        c, A, [[Fraction(value) for value in row] for row in dense_rows(A, used).tolist()], set(answer.support.tolist())
    )


def _within(c: Floats, A: Matrix, rows: list[Line], equal: set[int]) -> Numbers | None:
    """Look for a direction with ``a . d = 0`` in the rows ``equal``, and in more as they turn out to be forced."""
    goal = [Fraction(value) for value in c.tolist()]
    while True:
        basis = null_space([rows[i] for i in sorted(equal)])
        kept, lines = [], []
        for i, row in enumerate(rows):
            line = [-dot(row, free) for free in basis]
            if any(line):
                kept.append(i)
                lines.append(line)
        last = [dot(goal, free) for free in basis]
        if not any(last):
            return None
        answer = decide_cone(np.array([near_floats(proportional_integers(line)) for line in [*lines, last]]))
        if isinstance(answer, list):
            return _proved(c, A, [dot(answer, column) for column in zip(*basis, strict=True)])
        if not isinstance(answer, Unsolvable) or answer.support[-1] == len(kept):
            return None
        equal |= {kept[k] for k in answer.support.tolist()}


def _proved(c: Floats, A: Matrix, ray: Line) -> Numbers | None:
    """Return the ray as floats, or as fractions where only they do; None where it is not one."""
    largest = max(abs(value) for value in ray)
    if not largest:
        return None
    with np.errstate(under="ignore"):
        near = np.array([float(value / largest) for value in ray])
    if recedes(c, A, near):
        return near
    exact = np.array(ray, dtype=object)
    return exact if recedes(c, A, exact) else None
