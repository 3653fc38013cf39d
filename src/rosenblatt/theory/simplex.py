"""The simplex method in integers: nonnegative weights under which columns add up to a given sum, or that none do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


class TooMuchWorkError(Exception):
    """The work that was allowed is done, and the question is open."""


def nonnegative_solution(
    columns: Sequence[Sequence[int]], b: Sequence[int], most_work: float = math.inf
) -> list[Fraction] | None:
    """Return z >= 0 with ``sum_j z_j columns[j] = b``, for b >= 0, with at most ``len(b)`` of them positive; or None.

    The first phase of the simplex method with Bland's rule, which cannot cycle. The table is kept in integers, as
    ``scale`` times what it stands for: every entry is a minor of the columns, so the divisions are exact (Edmonds).
    Beyond ``most_work``, in products of 64 bits by 64, it is a `TooMuchWorkError`.

    >>> nonnegative_solution([(1, 1), (-1, 2)], (0, 3)), nonnegative_solution([(1, 0)], (0, 1))
    ([Fraction(1, 1), Fraction(1, 1)], None)
    """
    n, m = len(columns), len(b)
    table = [[column[i] for column in columns] + [b[i]] for i in range(m)]
    missing = [sum(column) for column in zip(*table, strict=True)]  # of b; and what each column would add of it
    basis = list(range(-m, 0))  # below 0: not a column
    scale, work = 1, 0
    while missing[n]:
        enter = next((j for j in range(n) if missing[j] > 0), None)
        if enter is None:
            return None
        leave = min((Fraction(row[n], row[enter]), basis[i], i) for i, row in enumerate(table) if row[enter] > 0)[2]
        basis[leave] = enter
        pivot = table[leave]
        work += (n + 1) * (m + 1) * (1 + pivot[enter].bit_length() // 64) ** 2
        if work > most_work:
            raise TooMuchWorkError
        for row in [*table[:leave], *table[leave + 1 :], missing]:
            factor = row[enter]
            row[:] = [(pivot[enter] * x - factor * y) // scale for x, y in zip(row, pivot, strict=True)]
        scale = pivot[enter]
    z = [Fraction(0)] * n
    for i, j in enumerate(basis):
        if j >= 0:
            z[j] = Fraction(table[i][n], scale)
    return z
