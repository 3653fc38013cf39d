"""`detect_separation`: complete or quasi-complete separation or overlap, and which coefficients are infinite.

The proof is Tucker's pair (A. W. Tucker 1956): b with Z b >= 0 and alpha >= 0 with Z' alpha = 0, where each row has a
positive z . b or may have weight. It is found by facial reduction (Borwein and Wolkowicz 1981): rows that balance lie
on every weakly separating hyperplane, so the search continues in the quotient by their span, whose dimension falls each
time. Floats guess, integers decide: a working set is solved, rows that disagree come in, and where a guess fails
`farkas` decides the working set, so the search ends. Then the sign of each infinite coefficient is settled in the same
way: rows that force it, or a direction with the other sign.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr

from rosenblatt.theory.exact import Combination, farkas, lowest_exponents, primitive, representatives, to_integers
from rosenblatt.theory.inputs import Floats, Numbers
from rosenblatt.theory.logistic.answers import (
    Force,
    Pair,
    Separation,
    Vectors,
    encloses_combination,
    is_positive_multiple,
)
from rosenblatt.theory.logistic.arithmetic import (
    PRIMES,
    UnluckyPrimeError,
    exact_scores,
    float_scores,
    leftmost,
    near_columns,
    residues,
    solve,
    spanning_rows,
)
from rosenblatt.theory.logistic.problem import Indices, Problem, blocks_of, read_problem, shifted

# Searches in floats, whose results are only guesses: they are made exact and proved elsewhere.


_STEEP = 1e5  # beyond this condition the rows are multiplied exactly before they are rounded


@dataclass(frozen=True)
class Conditioned:
    """Integer rows A as floats F, where F = A T but for rounding and a power of two for each row.

    The columns of F are about orthonormal, so that a Newton step is accurate; T is kept as integers.
    """

    F: Floats
    T: Numbers
    row_powers: NDArray[np.int64]

    def vector(self, u: Floats, bits: int = 52) -> Numbers:
        """Return integers in proportion to T u, with the entries of u rounded to so many bits of the largest."""
        largest = float(np.max(np.abs(u), initial=0.0))
        if largest == 0 or not np.isfinite(largest):
            return np.zeros(len(self.T), dtype=object)
        whole = np.rint(np.ldexp(u / largest, bits)).astype(np.int64).astype(object)
        return primitive(self.T @ whole)

    def target(self, values: Numbers) -> Floats:
        """Return the linear function ``values`` of A's space as one of F's space, scaled to length 1."""
        near = near_columns((values @ self.T)[:, None])[0].ravel()
        length = float(np.linalg.norm(near))
        return near / length if length else near


def condition(A: Numbers) -> Conditioned:
    """Return integer rows as floats with columns that are about orthonormal."""
    near, powers = near_columns(A)
    k = A.shape[1]
    lengths = np.linalg.norm(near, axis=1)
    scaled = near / np.where(lengths > 0, lengths, 1.0)[:, None]
    inverse, steep = _inverse_factor(scaled)
    inverse = inverse / np.max(np.abs(inverse), axis=0, initial=1e-300)
    rounded = np.rint(np.ldexp(inverse, 40))
    T = to_integers(rounded, np.zeros(k, np.int64)) << (powers.max(initial=0) - powers).astype(object)[:, None]
    if steep:
        columns, row_powers = near_columns((A @ T).T)
        F = columns.T
    else:
        F, row_powers = near @ rounded, np.zeros(len(A), np.int64)
    sizes = np.max(np.abs(F), axis=1, initial=0.0)
    exponents = np.where(sizes > 0, np.frexp(sizes)[1], 0)
    return Conditioned(np.ldexp(F, -exponents[:, None]), T, exponents + row_powers)


def _inverse_factor(rows: Floats) -> tuple[Floats, bool]:
    """Return the inverse of the factor R of the rows = Q R, or the identity where there is none; and if R is steep."""
    k = rows.shape[1]
    upper: Any
    try:
        upper = np.linalg.cholesky(rows.T @ rows).T
        if np.linalg.cond(upper) > _STEEP:
            upper = np.linalg.qr(rows, mode="r")
    except np.linalg.LinAlgError:
        upper = np.linalg.qr(rows, mode="r") if len(rows) >= k else np.zeros((k, k))
    sizes = np.abs(np.diag(upper))
    if sizes.min(initial=1.0) <= 1e-14 * sizes.max(initial=1.0):
        return np.eye(k), False
    return np.linalg.inv(upper), bool(np.linalg.cond(upper) > _STEEP)


def hinge(F: Floats, most: int = 100) -> tuple[Floats, Floats]:
    """Return u and a = (1 - F u)+ near the least of |a|^2: all of F u is positive, or a weights rows to a zero sum.

    Newton's method on a piecewise quadratic function, with an exact search along each step.
    """
    k = F.shape[1]
    u, s = np.zeros(k), np.zeros(len(F))
    for _ in range(most):
        active = s < 1
        rest = 1 - s[active]
        gradient = -(rest @ F[active])
        if s.min(initial=1.0) > 0.05 or np.max(np.abs(gradient), initial=0.0) <= 1e-13 * rest.sum():
            break
        H = F[active].T @ F[active]
        H[np.diag_indices(k)] += 1e-13 * max(float(np.trace(H)), 1e-300)
        try:
            step = np.linalg.solve(H, -gradient)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(H, -gradient, rcond=None)[0]
        along = F @ step
        t = _least_along(s, along)
        if not t > 0:
            break
        u, s = u + t * step, s + t * along
    return u, np.maximum(1 - F @ u, 0.0)


def _least_along(s: Floats, along: Floats) -> float:
    """Return the t >= 0 where the sum of squares of (1 - s - t along)+ is least."""
    with np.errstate(all="ignore"):
        crossing = (1 - s) / along
    enters = (along < 0) & (s >= 1)
    leaves = (along > 0) & (s < 1)
    active = s < 1
    slope, curve = float(-((1 - s[active]) @ along[active])), float(along[active] @ along[active])
    moving = np.flatnonzero(enters | leaves)
    moving = moving[np.argsort(crossing[moving], kind="stable")]
    sign = np.where(enters[moving], 1.0, -1.0)
    # beyond a crossing the row adds sign * (along^2 t - (1 - s) along) to the derivative
    curves = curve + np.concatenate([[0.0], np.cumsum(sign * along[moving] ** 2)])
    slopes = slope - np.concatenate([[0.0], np.cumsum(sign * (1 - s[moving]) * along[moving])])
    ends = np.append(crossing[moving], np.inf)
    with np.errstate(all="ignore"):
        roots = -slopes / curves
    inside = np.flatnonzero((roots <= ends) & (curves > 0))
    if len(inside) == 0:
        return float(ends[-2]) if len(ends) > 1 else 0.0
    return float(min(max(roots[inside[0]], 0.0), ends[inside[0]]))


# Tucker's pair for a set of integer rows, face by face. Gordan's alternative is asked about the rows in the quotient,
# with ``null`` as coordinates, until nothing is left of the rows or of the space. More rows may come in at any time.


@dataclass
class Face:
    """What is known of the rows so far: some of them that balance, and what is 0 on their span."""

    prime: int
    null: Numbers
    balanced: Numbers  # rows, all with weight
    weights: Numbers  # one for each, positive: they add up to zero
    keys: list[int] = field(default_factory=list)  # which rows these are, for the caller
    basis: list[int] = field(default_factory=list)  # of these, some that span all

    @classmethod
    def of_size(cls, size: int, prime: int) -> Face:
        """Return the face of which nothing is known; exact systems will be solved with the prime."""
        nothing = np.zeros((0, size), dtype=object)
        return cls(prime, np.eye(size, dtype=int).astype(object), nothing, np.zeros(0, dtype=object))

    def products(self, Z: Numbers) -> Numbers:
        """Return Z null."""
        return Z @ self.null if self.keys else Z

    def add(self, Z: Numbers, A: Numbers, weights: Numbers, keys: list[int]) -> None:
        """Take in rows that add up to zero but for the span of those already in; A = Z null."""
        M = residues(A, self.prime)
        rows = leftmost(M.T, self.prime)
        sums = weights @ Z
        span = self.balanced[self.basis]
        places = leftmost(residues(span, self.prime), self.prime) if len(span) else []
        make_up, scale = solve(span[:, places].T, -sums[places][:, None], self.prime)
        if (make_up.ravel() @ span + sums * scale).any():
            raise UnluckyPrimeError
        weights = weights * scale
        old = self.weights.copy()
        if len(old):
            change = np.zeros(len(old), dtype=object)
            change[self.basis] = make_up.ravel()
            times = max(1, *(int(-c // w) + 1 for c, w in zip(change, old, strict=True)))
            old = old * times + change
        self.weights = primitive([*old, *weights])
        count = len(self.balanced)
        self.balanced = np.vstack([self.balanced, Z])
        self.keys += keys
        self.basis += [count + row for row in rows]
        self._shrink(A, rows, leftmost(M[rows], self.prime))

    def _shrink(self, A: Numbers, rows: list[int], columns: list[int]) -> None:
        """Keep of ``null`` what is 0 on A; ``rows`` are independent and span it, and so are and do the ``columns``."""
        k = A.shape[1]
        free = [j for j in range(k) if j not in columns]
        above, below = solve(A[rows][:, columns], -A[rows][:, free], self.prime)
        inner = np.zeros((k, len(free)), dtype=object)
        inner[columns] = above
        inner[free, np.arange(len(free))] = below
        if (A @ inner).any():
            raise UnluckyPrimeError
        product = self.null @ inner if len(free) else np.zeros((len(self.null), 0), dtype=object)
        self.null = np.array([primitive(column) for column in product.T], dtype=object).reshape(-1, len(self.null)).T


def next_face(Z: Numbers, keys: list[int], face: Face, exactly: bool = False) -> Numbers | None:
    """Ask Gordan's alternative about rows in the quotient; a balance is taken in, and None returned.

    A strict solution comes as integers c with Z null c > 0 for all rows that are not 0 there. It is certain only if it
    is asked for ``exactly``; a balance always is.
    """
    A = face.products(Z)
    rest = np.flatnonzero((A != 0).any(axis=1))
    A, Z, keys = A[rest], Z[rest], [keys[i] for i in rest.tolist()]
    if len(A) == 0:
        return np.zeros(face.null.shape[1], dtype=object)
    found = None
    if not exactly:
        conditioned = condition(A)
        u, a = hinge(conditioned.F)
        if (conditioned.F @ u).min() > 1e-9:
            return conditioned.vector(u)
        found = _balance(A, a, conditioned, face.prime)
    if found is None:
        ones = np.ones((len(A), 1), dtype=int).astype(object)
        answer = farkas(np.hstack([A, ones]), np.array([0] * A.shape[1] + [1], dtype=object))
        if not isinstance(answer, Combination):
            return answer.y[:-1]
        found = answer.rows, answer.weights
    which, weights = found
    face.add(Z[which], A[which], weights, [keys[i] for i in which.tolist()])
    return None


def _balance(A: Numbers, a: Floats, conditioned: Conditioned, prime: int) -> tuple[Indices, Numbers] | None:
    """Return rows and positive integer weights near ``a`` with which they add up to exactly zero, if that works."""
    for least in (1e-9, 1e-5, 1e-3):
        rows = np.flatnonzero(a > least * a.max())
        rows = rows[np.argsort(-a[rows], kind="stable")]
        heavy = rows[: 4 * A.shape[1]]
        heavy = heavy[qr((a[heavy, None] * conditioned.F[heavy]).T, mode="r", pivoting=True)[1]]
        rows = np.concatenate([heavy, rows[len(heavy) :]])
        M = residues(A[rows], prime)
        basis = leftmost(M.T, prime)
        columns = leftmost(M[basis], prime)
        light = np.setdiff1d(np.arange(len(rows)), basis)
        for bits in (12, 30):
            weights = _rounded(a[rows], conditioned.row_powers[rows], bits)
            right = -(weights[light] @ A[rows[light]])[columns] if len(light) else np.zeros(len(columns), dtype=object)
            solution, below = solve(A[rows[basis]][:, columns].T, right[:, None], prime)
            if (solution > 0).all():
                weights = weights * below
                weights[basis] = solution.ravel()
                if not (weights @ A[rows]).any():
                    order = np.argsort(rows)
                    return rows[order], primitive(weights[order])
    return None


def _rounded(a: Floats, powers: NDArray[np.int64], bits: int) -> Numbers:
    """Return integers in proportion to a / 2**powers, rounded to some bits each."""
    parts, exponents = np.frexp(a)
    whole = np.rint(np.ldexp(parts, bits)).astype(np.int64)
    shifts = exponents - powers
    return whole.astype(object) << (shifts - shifts.min()).astype(object)


# Tucker's pair for all observations: a working set is decided exactly, and rows that disagree with it come in.


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
        self.exponents = lowest_exponents(problem.X)
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


# The signs that infinite estimates take: forced by rows, or turned by a direction of the other sign.


_MIX = 0.75  # how much of b is added to a direction, so that it does not fail by a rounding


class Signs(NamedTuple):
    """The status of each coefficient, with directions and rows that prove those that are infinite."""

    statuses: list[str]
    turns: list[Numbers]
    forces: dict[int, Force]


def find_signs(rows: Rows, found: Found) -> Signs:
    """Return the status of each coefficient: finite, +inf, -inf or either."""
    null = rows.original(found.face.null)
    b = null @ found.c if null.shape[1] else np.zeros(rows.size, dtype=object)
    moving = (null != 0).any(axis=1)
    search = _Search(rows, found, null) if null.shape[1] > 1 else None
    statuses = []
    for j in range(rows.size):
        sign = (b[j] > 0) - (b[j] < 0)
        if not moving[j]:
            statuses.append("finite")
        elif sign and (search is None or search.is_forced(j, sign)):
            statuses.append("+inf" if sign > 0 else "-inf")
        else:
            statuses.append("either")
    return Signs(statuses, search.turns if search else [], search.forces if search else {})


class _Search:
    """The search for the sign of one coefficient after the other, which share directions and rows."""

    def __init__(self, rows: Rows, found: Found, null: Numbers) -> None:
        self.rows, self.found, self.null = rows, found, null
        self.A = np.zeros((0, null.shape[1]), dtype=object)
        self.turns: list[Numbers] = []
        self.forces: dict[int, Force] = {}
        self._bases: list[tuple[list[int], Any]] = []
        self._keys: list[int] = []
        self._take(self._nearest(np.array(found.work, dtype=np.intp), 20 * null.shape[1] + 400))

    def _nearest(self, keys: Indices, most: int) -> Indices:
        """Return the rows of the working set that are nearest to the hyperplane."""
        keys = keys[self.found.signs.ravel()[keys] > 0]
        if len(keys) <= most:
            return keys
        A = self.found.face.products(self.rows.integers(keys))
        leads = near_columns((A @ self.found.c)[:, None])[0].ravel()
        lengths = np.linalg.norm(near_columns(A)[0], axis=1)
        return keys[np.argsort(leads / np.maximum(lengths, 1e-300), kind="stable")[:most]]

    def _take(self, keys: Indices) -> None:
        """Let rows into the working set, none of them on the hyperplane."""
        self.A = np.vstack([self.A, self.found.face.products(self.rows.integers(keys))])
        self._keys += keys.tolist()
        self.conditioned = condition(self.A)
        known, self._bases = self._bases, []
        for rows, _ in known:
            self._remember(rows)

    def _remember(self, rows: list[int]) -> None:
        """Keep rows that force one sign: they may force others."""
        with contextlib.suppress(np.linalg.LinAlgError):
            self._bases.append((rows, np.linalg.inv(self.conditioned.F[rows])))

    def is_forced(self, j: int, sign: int) -> bool:
        """Find rows that force the sign of the coefficient j, or a direction with the other sign."""
        rng = np.random.default_rng(j)
        exactly = False
        while True:
            if any(turn[j] * sign < 0 for turn in self.turns):
                return False
            target = self.null[j] * sign
            answer = farkas(self.A, target) if exactly else self._guess(target)
            if isinstance(answer, Combination):
                force = self._force(answer, j, sign, exactly)
                if force is not None:
                    self.forces[j] = force
                    return True
                exactly = True
                continue
            y = answer if isinstance(answer, np.ndarray) else answer.y
            c = self._turned(y, j, sign)
            if c is None:
                exactly = True
                continue
            turn = self.rows.restored(self.found.face.null @ c[:, None])
            more = self.rows.violating(turn, max(100, 4 * self.rows.size), rng)
            if len(more) == 0:
                signs = self.rows.problem.signs(turn)
                more = np.flatnonzero(signs.ravel() < 0)[: max(100, 4 * self.rows.size)]
            if len(more) == 0:
                self.turns.append(primitive(self.null @ c))
                return False
            before = len(self._keys)
            self._take(np.setdiff1d(more, self._keys))
            exactly = exactly or len(self._keys) == before

    def _guess(self, target: Numbers) -> Combination | Numbers:
        """Return rows that combine to the target, or a direction against it, by least squares in floats."""
        from scipy.optimize import nnls

        aim = self.conditioned.target(target)
        for keys, inverse in self._bases:
            weights = aim @ inverse
            if (weights > 1e-9 * np.abs(weights).max()).all():
                return Combination(np.array(keys, dtype=np.intp), np.zeros(len(keys), dtype=object))
        F = self.conditioned.F
        try:
            weights, gap = nnls(F.T, aim, maxiter=20 * len(F) + 100)
        except RuntimeError:
            weights, gap = np.zeros(len(F)), 1.0
        if gap > 1e-9:
            return self.conditioned.vector(weights @ F - aim)
        rows = np.flatnonzero(weights > 1e-12 * weights.max())
        if len(rows) == F.shape[1]:
            self._remember(rows.tolist())
        return Combination(rows, np.zeros(len(rows), dtype=object))

    def _turned(self, y: Numbers, j: int, sign: int) -> Numbers | None:
        """Return a direction with the other sign at j: y mixed with b."""
        against, along = -sign * (self.null[j] @ y), sign * (self.null[j] @ self.found.c)
        if against <= 0:
            return None
        return primitive(y * (along * 1024) + self.found.c * (against * int(_MIX * 1024)))

    def _force(self, answer: Combination, j: int, sign: int, exactly: bool) -> Force | None:
        """Return the proof that the rows force the sign, if that can be made exact."""
        names = tuple(self.rows.name(self._keys[i]) for i in answer.rows.tolist())
        if exactly:
            return Force(names, tuple(answer.weights.tolist()))
        A, target = self.A[answer.rows], self.null[j] * sign
        if len(A) == len(target) and self._encloses(answer.rows, j, sign):
            return Force(names, None)
        prime = self.found.face.prime
        columns = leftmost(residues(A, prime), prime)
        if len(columns) < len(A):
            return None
        weights, _ = solve(A[:, columns].T, target[columns][:, None], prime)
        weights = primitive(weights.ravel())
        kept = np.flatnonzero(weights)
        if (weights < 0).any() or len(kept) == 0 or not is_positive_multiple(weights @ A, target):
            return None
        return Force(tuple(names[i] for i in kept.tolist()), tuple(weights[kept].tolist()))

    def _encloses(self, rows: Indices, j: int, sign: int) -> bool:
        """Return whether the enclosure in floats works, on the very numbers that the check will look at."""
        if not self.found.signs.all():
            return False
        keys = np.array([self._keys[i] for i in rows.tolist()], dtype=np.intp)
        observations, place = np.divmod(keys, self.rows.problem.blocks)
        Z = self.rows.problem.row_vectors(observations, self.rows.others[observations, place])
        return encloses_combination(Z, sign * self.rows.shift.coefficient(j))


MOST_COEFFICIENTS = 2048


def detect_separation(
    X: Any, y: ArrayLike, fit_intercept: bool = True, sample_weight: ArrayLike | None = None
) -> Separation:
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
    >>> answer = detect_separation(X, y)
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
    exponents = lowest_exponents(X[rows])
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
