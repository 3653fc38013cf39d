"""Halfspaces and balls: both are the cells of an arrangement of hyperplanes through the origin.

A halfspace ``{x : a . x + b > 0}`` is a vector ``u = (a, b)``, and the point x is in it where ``(x, 1) . u > 0``. So
the subsets cut are the sign patterns of ``V u`` over all u, with the rows (x, 1) in V: each u lies in a cell
of the arrangement of the hyperplanes ``v . u = 0``, and the pattern names the cell. A ball becomes a halfspace
when x is lifted to (x, |x|^2) (Har-Peled 30.2).

Subsets are bit masks here: bit i stands for row i.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from math import comb, factorial, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.integers import eliminated
from rosenblatt.theory.vc.points import Integers, Note, ignore

Matrix: TypeAlias = NDArray[Any]  # int64 where nothing can overflow, else Python integers

BLOCK = 1 << 14  # hyperplanes looked at together


def halfspaces(rows: Integers, note: Note = ignore) -> set[int]:
    """Return the subsets of these distinct points that a halfspace cuts, as bit masks.

    >>> len(halfspaces([(0, 0), (0, 1), (1, 0), (1, 1)]))
    14
    """
    return cells([(*row, 1) for row in rows], note)


def balls(rows: Integers, note: Note = ignore) -> set[int]:
    """Return the subsets of these distinct points that a ball cuts, as bit masks.

    The pattern is the sign of ``c |x|^2 + a . x + b``, positive outside. It is a ball for c > 0, the outside of one for
    c < 0 and a halfspace for c = 0, so the vector (0, 1, 0), whose sign is that of c, must be outside too.

    >>> len(balls([(0, 0), (0, 1), (1, 0), (1, 1)]))
    14
    """
    d, n = len(rows[0]), len(rows)
    lifted = [(*row, sum(value * value for value in row), 1) for row in rows]
    everything = (1 << n) - 1
    return {everything & ~mask for mask in cells([*lifted, (0,) * d + (1, 0)], note) if mask >> n}


def cells(vectors: Iterable[Iterable[int]], note: Note = ignore) -> set[int]:
    """Return every sign pattern of ``V u`` without a zero; bit i is set where ``v_i . u > 0``.

    The vectors are not zero and no two are parallel. Every cell touches a ray, a line in which r - 1 independent
    hyperplanes meet (r is the rank). So take every r - 1 vectors, and the u perpendicular to them: off the
    hyperplanes through u its neighbours have the signs of u, and on them any pattern that those vectors have among
    themselves. In general position that is every pattern of r - 1 signs; else the vectors of rank r - 1 are
    asked the same question. Signs are exact: numpy's integers where no determinant can reach 2^63, else Python's.
    ``note`` is told which share of the choices is done.
    """
    V = _columns_of_full_rank([list(vector) for vector in vectors])
    n, r = V.shape
    everything = (1 << n) - 1
    found: set[int] = set()
    crowded: set[int] = set()
    done, every = 0, comb(n, r - 1)
    for chosen in _choices(n, r - 1):
        new = len(chosen)
        N = _perpendicular(V[chosen])
        independent = (N != 0).any(axis=1)
        chosen, N = chosen[independent], N[independent]
        D = N @ V.T
        above, on = D > 0, D == 0
        simple = on.sum(axis=1) == r - 1

        signs, at, lines = above[simple], chosen[simple], np.arange(simple.sum())[:, None]
        for labels in range(1 << (r - 1)):
            signs[lines, at] = [bool(labels >> j & 1) for j in range(r - 1)]
            found.update(_masks(signs))
            note((done + new * (labels + 1) / (1 << (r - 1))) / every)

        for up, zero in zip(_masks(above[~simple]), _masks(on[~simple]), strict=True):
            if zero not in crowded:  # each hyperplane once, however many choices span it
                crowded.add(zero)
                inside = [i for i in range(n) if zero >> i & 1]
                for pattern in cells(V[inside].tolist()):
                    found.add(up | sum(1 << i for j, i in enumerate(inside) if pattern >> j & 1))
        done += new
        note(done / every)
    return found | {everything & ~mask for mask in found}  # -u gives the opposite signs


def _columns_of_full_rank(rows: list[list[int]]) -> Matrix:
    """Return the rows cut down to as many columns as their rank; no sign pattern of ``V u`` is lost or gained."""
    _, pivots = eliminated(rows)
    kept = [[row[column] for column in pivots] for row in rows]
    # Everything computed is a minor of at most r rows, or a part of its sum.
    largest = factorial(len(pivots)) * prod(max(1, *map(abs, column)) for column in zip(*kept, strict=True))
    return np.array(kept, dtype=np.int64 if largest < 2**63 else object)


def _choices(n: int, size: int) -> Iterator[NDArray[np.intp]]:
    """Yield every choice of ``size`` of n rows, in blocks."""
    every = combinations(range(n), size)
    while block := list(islice(every, BLOCK)):
        yield np.array(block, dtype=np.intp).reshape(len(block), size)


def _perpendicular(A: Matrix) -> Matrix:
    """Return for each stack of r - 1 rows in R^r the vector of their minors, perpendicular to all; 0 if dependent."""
    m, size, r = A.shape
    minors: dict[tuple[int, ...], Matrix] = {(): np.ones(m, dtype=A.dtype)}
    for k in range(size):  # minors of the first k + 1 rows, from those of the first k
        minors = {
            columns: sum((-1) ** j * A[:, k, c] * minors[columns[:j] + columns[j + 1 :]] for j, c in enumerate(columns))
            for columns in combinations(range(r), k + 1)
        }
    return np.stack([(-1) ** c * minors[tuple(range(c)) + tuple(range(c + 1, r))] for c in range(r)], axis=1)


def _masks(bits: NDArray[np.bool_]) -> list[int]:
    """Return each row of bits as one integer."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    data, width = packed.tobytes(), packed.shape[1]
    return [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]
