"""Tucker's pair for all observations: a working set is decided exactly, and rows that disagree with it come in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.separation.numbers import exact_scores, float_scores, near_columns, places, primitive, to_integers
from rosenblatt.theory.separation.problem import Indices, Problem, blocks_of
from rosenblatt.theory.separation.reduction import Face, next_face

_SMALL = 400  # up to so many rows z all of them are in the working set


class Rows:
    """The rows z of a problem as integers, by number: observation times classes, then the class they are compared with.

    Each column is divided by a power of two (``exponents``), and so vectors have to be turned back by `restored`.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.exponents = places(problem.X)
        self.others = problem.others()
        self.size = problem.X.shape[1] * problem.blocks

    def __len__(self) -> int:
        return len(self.problem.own) * self.problem.blocks

    def integers(self, keys: Indices) -> Numbers:
        """Return some rows as integers."""
        observations, place = np.divmod(keys, self.problem.blocks)
        x = to_integers(self.problem.X[observations], self.exponents)
        other = self.others[observations, place]
        return blocks_of(x, self.problem.own[observations], other, self.problem.blocks)

    def name(self, key: int) -> tuple[int, int, int]:
        """Return the data row, its class and the other class of a row z."""
        i, place = divmod(key, self.problem.blocks)
        return int(self.problem.rows[i]), int(self.problem.own[i]), int(self.others[i, place])

    def restored(self, vector: Numbers) -> Numbers:
        """Return integers in proportion to a vector for the columns as they were given."""
        exponents = np.tile(self.exponents, self.problem.blocks)
        return primitive(vector << (exponents.max(initial=0) - exponents).astype(object))

    def violating(self, b: Numbers, most: int, rng: np.random.Generator) -> Indices:
        """Return rows with z . b < 0 for certain: the worst, and some others."""
        D = b.reshape(self.problem.blocks, -1).T
        near, error = float_scores(self.problem.X, D)
        with np.errstate(all="ignore"):
            lead = self.problem.margins(near) + np.max(error, axis=1, initial=0.0)[:, None] * 2.01
            lead = lead.ravel()
            below = np.flatnonzero(lead < 0)
            if len(below) <= most:
                return below
            lengths = np.linalg.norm(self.problem.X[below // self.problem.blocks], axis=1)
            order = np.argsort(lead[below] / lengths, kind="stable")
        half = most // 2
        return np.concatenate([below[order[:half]], rng.permutation(below[order[half:]])[: most - half]])


@dataclass
class Found:
    """Tucker's pair as found: vectors as the columns were given, and the working set with what is 0 on the face."""

    b: Numbers
    null: Numbers
    face: Face
    c: Numbers  # b is null c
    work: list[int]
    signs: NDArray[np.int8]


def find_pair(rows: Rows) -> Found:
    """Return Tucker's pair for all rows, exactly."""
    rng = np.random.default_rng(0)
    face = Face.of_size(rows.size)
    work = _first_rows(rows, rng)
    Z = rows.integers(np.array(work, dtype=np.intp))
    many = max(100, 10 * rows.size)
    while True:
        found = next_face(Z, work, face) if rows.size else np.zeros(0, dtype=object)
        null = face.null
        if null.shape[1] == 0:
            b = np.zeros(rows.size, dtype=object)
            return Found(b, null, face, np.zeros(0, dtype=object), work, rows.problem.signs(b))
        if found is None:
            continue
        c = found[0].vector(found[1]) if isinstance(found, tuple) else found
        b = rows.restored(null @ c)
        more = rows.violating(b, many, rng)
        if len(more) == 0:
            for shorter in (*_shortened(Z @ null, c), c):
                b = rows.restored(null @ shorter)
                signs = rows.problem.signs(b)
                more = _disagreeing(rows, null, signs)[:many]
                if len(more) == 0:
                    return Found(b, null, face, primitive(shorter), work, signs)
        work = [*work, *more.tolist()]
        Z = np.vstack([Z, rows.integers(more)])


def _disagreeing(rows: Rows, null: Numbers, signs: NDArray[np.int8]) -> Indices:
    """Return the rows with z . b < 0, or with z . b = 0 though they do not lie in the span of the face."""
    flat = signs.ravel()
    below = np.flatnonzero(flat < 0)
    part = np.flatnonzero((signs == 0).any(axis=1))
    if len(below) or len(part) == 0:
        return below
    on = rows.problem.with_observations(part)
    off = np.zeros((len(part), rows.problem.blocks), dtype=bool)
    for column in null.T:
        vector = rows.restored(column)
        off |= on.margins(exact_scores(on.X, vector.reshape(on.blocks, -1).T)) != 0
    which, place = np.nonzero(off & (signs[part] == 0))
    return part[which] * rows.problem.blocks + place


def _shortened(A: Numbers, c: Numbers) -> list[Numbers]:
    """Return c rounded to few bits for each column of A by its size, where A c > 0 still."""
    A = A[(A != 0).any(axis=1)]
    _, powers = near_columns(A)
    parts = [value << power for value, power in zip(c, powers, strict=True)]
    top = max(abs(int(part)) for part in parts).bit_length()
    most = max(powers)
    found = []
    for bits in (2, 4, 8, 16, 32):
        drop = max(0, top - bits)
        half = (1 << drop) >> 1
        rounded = np.array([(part + half) >> drop << (most - power) for part, power in zip(parts, powers, strict=True)], dtype=object)
        if len(A) and ((A @ rounded) > 0).all():
            found.append(rounded)
    return found[:2]


def _first_rows(rows: Rows, rng: np.random.Generator) -> list[int]:
    """Return the rows of the first working set: some at random, and of each class some where a column is not 0."""
    n, problem = len(rows), rows.problem
    if n <= _SMALL:
        return list(range(n))
    chosen = [rng.permutation(n)[: max(_SMALL, 20 * rows.size)]]
    order = rng.permutation(len(problem.own))
    for k in range(len(problem.classes)):
        members = order[problem.own[order] == k][:20_000]
        block = problem.X[members]
        for j in range(problem.X.shape[1]):
            some = members[np.flatnonzero(block[:, j])[:3]] * problem.blocks
            chosen += [some + place for place in range(problem.blocks)]
    return np.unique(np.concatenate(chosen)).tolist()
