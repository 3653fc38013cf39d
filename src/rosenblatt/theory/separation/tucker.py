"""Tucker's pair for all observations: a working set is decided exactly, and rows that disagree with it come in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.inputs import Numbers
from rosenblatt.theory.separation.numbers import (
    exact_scores,
    float_scores,
    near_columns,
    places,
    primitive,
    to_integers,
)
from rosenblatt.theory.separation.problem import Indices, Problem, blocks_of
from rosenblatt.theory.separation.reduction import Face, next_face
from rosenblatt.theory.separation.shifts import shifted

_SMALL = 400  # up to so many rows z all of them are in the working set
_FIRST = 20  # beyond, so many for each coefficient are in the first one


class Rows:
    """The rows z of a problem as integers, by number: observation times classes, then the class they are compared with.

    Columns far from zero are moved (``shift``), and each is divided by a power of two (``exponents``). `restored`
    undoes the second, `original` both.
    """

    def __init__(self, problem: Problem) -> None:
        self.shift = shifted(problem)
        self.problem = problem = self.shift.problem
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

    def restored(self, vectors: Numbers) -> Numbers:
        """Return vectors, one a column, for the columns of ``problem``, times a positive integer common to all."""
        exponents = np.tile(self.exponents, self.problem.blocks)
        return vectors << (exponents.max(initial=0) - exponents).astype(object)[:, None]

    def original(self, vectors: Numbers) -> Numbers:
        """Return vectors, one a column, for the columns as they were given, times a positive integer common to all."""
        return self.shift.back(self.restored(vectors))

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
    """Tucker's pair as found: b is null c, where null are the columns of the face; and the working set."""

    face: Face
    c: Numbers
    work: list[int]
    signs: NDArray[np.int8]


def find_pair(rows: Rows, prime: int) -> Found:
    """Return Tucker's pair for all rows, exactly."""
    rng = np.random.default_rng(0)
    face = Face.of_size(rows.size, prime)
    work = _first_rows(rows, rng)
    Z = rows.integers(np.array(work, dtype=np.intp))
    many = max(100, 10 * rows.size)
    exactly = False
    while True:
        c = next_face(Z, work, face, exactly) if rows.size else None
        null = face.null
        if null.shape[1] == 0:
            signs = np.zeros((len(rows.problem.own), rows.problem.blocks), dtype=np.int8)
            return Found(face, np.zeros(0, dtype=object), work, signs)
        exactly = False
        if c is None:
            continue
        moved = rows.restored(null)
        more = rows.violating(moved @ c, many, rng)
        if len(more) == 0:
            for shorter in (*_shortened(face.products(Z), c), c):
                signs = rows.problem.signs(moved @ shorter)
                more = _disagreeing(rows, moved, signs)[:many]
                if len(more) == 0:
                    return Found(face, primitive(shorter), work, signs)
        more = np.setdiff1d(more, work)
        exactly = len(more) == 0  # the floats were wrong about the working set itself
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
        off |= on.margins(exact_scores(on.X, column.reshape(on.blocks, -1).T)) != 0
    which, place = np.nonzero(off & (signs[part] == 0))
    return part[which] * rows.problem.blocks + place


def _shortened(A: Numbers, c: Numbers) -> list[Numbers]:
    """Return c rounded to few bits for each column of A by its size, where A c > 0 still, as far as floats can tell."""
    near, powers = near_columns(A[(A != 0).any(axis=1)])
    parts = [value << int(power) for value, power in zip(c, powers, strict=True)]
    top = max(abs(int(part)) for part in parts).bit_length()
    most = int(powers.max())
    found = []
    for bits in (2, 4, 8, 16, 32):
        drop = max(0, top - bits)
        short = [(part + ((1 << drop) >> 1)) >> drop for part in parts]
        if (near @ np.array(short, dtype=np.float64)).min(initial=1.0) > 0:
            found.append(
                np.array([v << (most - int(power)) for v, power in zip(short, powers, strict=True)], dtype=object)
            )
    return found[:2]


def _first_rows(rows: Rows, rng: np.random.Generator) -> list[int]:
    """Return the rows of the first working set: some at random, and of each class some where a column is not 0."""
    n, problem = len(rows), rows.problem
    if n <= _SMALL:
        return list(range(n))
    chosen = [rng.permutation(n)[: max(_SMALL, _FIRST * rows.size)]]
    order = rng.permutation(len(problem.own))
    for k in range(len(problem.classes)):
        members = order[problem.own[order] == k][:20_000]
        block = problem.X[members]
        for j in range(problem.X.shape[1]):
            some = members[np.flatnonzero(block[:, j])[:3]] * problem.blocks
            chosen += [some + place for place in range(problem.blocks)]
    return np.unique(np.concatenate(chosen)).tolist()
