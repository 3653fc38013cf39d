"""Search for separation in logistic regression: complete, quasi-complete or none, and which estimates are infinite.

Z has a row z for each observation and each class other than its own (see `problem`). The estimates are finite if and
only if no d has Z d >= 0 and Z d != 0 (Albert and Anderson 1984); Konis (2007) tests this by linear programs in
floating point. Here the answer is exact, and its proof is Tucker's pair (1956) of vectors b and alpha. They satisfy Z
b >= 0, alpha >= 0 and Z' alpha = 0. Each row z either has z . b > 0 or can have positive weight in alpha.

The pair is found by facial reduction (Borwein and Wolkowicz 1981). If rows sum to zero with positive weights, then
z . d = 0 for each of these rows and every d of the cone Z d >= 0. We say that such rows balance. So the search
continues in the subspace where these rows are 0. Its dimension falls each time. The search ends when some c is strictly
positive on all other rows. Candidates are computed in floats and verified in integers. The search solves a working set
of rows, and adds the rows that contradict the result. If floats fail, an exact simplex method (`farkas`) solves the
working set, so the search is finite.

The sign of each infinite coefficient is then found in the same way: either some rows force it, or some direction of the
cone has the opposite sign.
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
    ForcedSign,
    Proof,
    Row,
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
    pivot_columns,
    residues,
    row_basis,
    scaled_floats,
    solve,
)
from rosenblatt.theory.logistic.problem import Indices, Problem, blocks_of, centred, read_problem

# Searches in floating point. Their results are candidates, which are made exact and proved elsewhere.


_ILL_CONDITIONED = 1e5  # above this condition number, rows are multiplied in integers before they are rounded


@dataclass(frozen=True)
class Preconditioned:
    """Integer rows A in floats: F = A T up to rounding and a power of two per row, with an integer matrix T.

    The columns of F are nearly orthogonal, so that a Newton step is accurate.
    """

    F: Floats
    T: Numbers
    row_powers: NDArray[np.int64]

    def vector(self, u: Floats, bits: int = 52) -> Numbers:
        """Return integers proportional to T u, after rounding u to ``bits`` bits of its largest entry."""
        largest = float(np.max(np.abs(u), initial=0.0))
        if largest == 0 or not np.isfinite(largest):
            return np.zeros(len(self.T), dtype=object)
        whole = np.rint(np.ldexp(u / largest, bits)).astype(np.int64).astype(object)
        return primitive(self.T @ whole)

    def target(self, values: Numbers) -> Floats:
        """Return the linear functional ``values`` in the coordinates of F instead of A, scaled to length 1."""
        near = scaled_floats((values @ self.T)[:, None])[0].ravel()
        length = float(np.linalg.norm(near))
        return near / length if length else near


def precondition(A: Numbers) -> Preconditioned:
    """Return integer rows as floats with nearly orthogonal columns: A R^-1, where scaled rows of A are Q R."""
    near, powers = scaled_floats(A)
    k = A.shape[1]
    lengths = np.linalg.norm(near, axis=1)
    scaled = near / np.where(lengths > 0, lengths, 1.0)[:, None]
    inverse, ill_conditioned = _inverse_factor(scaled)
    inverse = inverse / np.max(np.abs(inverse), axis=0, initial=1e-300)
    rounded = np.rint(np.ldexp(inverse, 40))  # T must hold integers; 40 bits suffice for nearly orthogonal columns
    T = to_integers(rounded, np.zeros(k, np.int64)) << (powers.max(initial=0) - powers).astype(object)[:, None]
    if ill_conditioned:
        columns, row_powers = scaled_floats((A @ T).T)
        F = columns.T
    else:
        F, row_powers = near @ rounded, np.zeros(len(A), np.int64)
    sizes = np.max(np.abs(F), axis=1, initial=0.0)
    exponents = np.where(sizes > 0, np.frexp(sizes)[1], 0)
    return Preconditioned(np.ldexp(F, -exponents[:, None]), T, exponents + row_powers)


def _inverse_factor(rows: Floats) -> tuple[Floats, bool]:
    """Return the inverse of R in rows = Q R, or the identity if R is singular, and whether R is ill-conditioned.

    R is the Cholesky factor of the matrix ``rows.T @ rows``, which is fast but squares the condition number. If that
    would leave too few digits, R comes from a QR factorisation. It counts as singular if a diagonal entry is negligible
    beside the largest.
    """
    k = rows.shape[1]
    upper: Any
    try:
        upper = np.linalg.cholesky(rows.T @ rows).T
        if np.linalg.cond(upper) > _ILL_CONDITIONED:
            upper = np.linalg.qr(rows, mode="r")
    except np.linalg.LinAlgError:
        upper = np.linalg.qr(rows, mode="r") if len(rows) >= k else np.zeros((k, k))
    sizes = np.abs(np.diag(upper))
    if sizes.min(initial=1.0) <= 1e-14 * sizes.max(initial=1.0):
        return np.eye(k), False
    return np.linalg.inv(upper), bool(np.linalg.cond(upper) > _ILL_CONDITIONED)


def squared_hinge_minimum(F: Floats, most: int = 100) -> tuple[Floats, Floats]:
    """Return u and a = (1 - F u)+ near the minimum of f(u) = |a|^2 / 2.

    At the minimum, grad f = -F^T a = 0, which leaves the two cases of Gordan's theorem. Either a = 0 and F u >= 1, so u
    is a strict solution. Or a is nonzero and nonnegative, and the rows, weighted by the entries of a, sum to zero. The
    method is the finite Newton method (Mangasarian 2002, "A finite Newton method for classification") with an exact
    line search. f is piecewise quadratic and convex, so each step decreases f. A step within the piece that contains
    the minimum reaches the minimum.

    The iteration stops when every entry of F u is clearly positive, since any strict solution is enough, even without F
    u >= 1. Otherwise it stops when the gradient is no larger than the rounding errors of its terms, or after ``most``
    steps. The rows are assumed to have entries of about 1. A ridge of 1e-13 times the trace makes singular systems
    solvable.
    """
    k = F.shape[1]
    u, s = np.zeros(k), np.zeros(len(F))  # invariant: s = F u up to rounding
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
        t = _exact_line_search(s, along)
        if not t > 0:
            break
        u, s = u + t * step, s + t * along
    return u, np.maximum(1 - F @ u, 0.0)


def _exact_line_search(s: Floats, along: Floats) -> float:
    """Return the t >= 0 that minimises g(t) = |(1 - s - t along)+|^2 / 2.

    g' is continuous, nondecreasing and piecewise linear, with a kink where a row enters or leaves the sum. Between kink
    i - 1 and kink i it is slopes[i] + t curves[i], and g has its minimum at the root. Since g' does not decrease, the
    first piece that reaches 0 before its end contains the root. If rounding leaves no such piece, the last kink is
    returned.
    """
    with np.errstate(all="ignore"):
        crossing = (1 - s) / along
    enters = (along < 0) & (s >= 1)
    leaves = (along > 0) & (s < 1)
    active = s < 1
    slope, curve = float(-((1 - s[active]) @ along[active])), float(along[active] @ along[active])
    moving = np.flatnonzero(enters | leaves)
    moving = moving[np.argsort(crossing[moving], kind="stable")]
    sign = np.where(enters[moving], 1.0, -1.0)
    # beyond its kink a row adds sign * (along^2 t - (1 - s) along) to the derivative
    curves = curve + np.concatenate([[0.0], np.cumsum(sign * along[moving] ** 2)])
    slopes = slope - np.concatenate([[0.0], np.cumsum(sign * (1 - s[moving]) * along[moving])])
    ends = np.append(crossing[moving], np.inf)
    with np.errstate(all="ignore"):
        roots = -slopes / curves
    inside = np.flatnonzero((roots <= ends) & (curves > 0))
    if len(inside) == 0:
        return float(ends[-2]) if len(ends) > 1 else 0.0
    return float(min(max(roots[inside[0]], 0.0), ends[inside[0]]))


# Facial reduction for a set of integer rows. Each step solves Gordan's alternative for the rows A = Z N, where the
# columns of N = ``null_basis`` span a subspace that is known to contain the cone. Rows may be added between steps.


@dataclass
class Face:
    """The face of the cone Z d >= 0 found so far: rows that balance, and a basis of the subspace where they are 0.

    Invariant: ``weights @ balanced == 0`` with positive weights, ``balanced @ null_basis == 0``, and the rows
    ``balanced[basis]`` are independent and span all balanced rows. So every d of the cone is a combination of the
    columns of ``null_basis``.
    """

    prime: int
    null_basis: Numbers
    balanced: Numbers  # rows, all of positive weight
    weights: Numbers
    row_ids: list[int] = field(default_factory=list)  # the caller's numbers for the balanced rows
    basis: list[int] = field(default_factory=list)

    @classmethod
    def of_size(cls, size: int, prime: int) -> Face:
        """Return the face without balanced rows, which is the whole cone; ``prime`` is used to solve linear systems."""
        nothing = np.zeros((0, size), dtype=object)
        return cls(prime, np.eye(size, dtype=int).astype(object), nothing, np.zeros(0, dtype=object))

    def products(self, Z: Numbers) -> Numbers:
        """Return Z N, the rows as linear functionals on the subspace; the columns of N = ``null_basis`` span it."""
        return Z @ self.null_basis if self.row_ids else Z

    def add(self, Z: Numbers, A: Numbers, weights: Numbers, row_ids: list[int]) -> None:
        """Add rows Z with positive weights such that ``weights @ A`` is 0, where A = Z N.

        The dimension of the subspace falls by the rank of A.
        """
        M = residues(A, self.prime)
        rows = pivot_columns(M.T, self.prime)
        # The weighted sum of Z is 0 on N, so it is a combination of the balanced rows. Its coefficients may be
        # negative. Adding a large enough multiple of the old weights, with which rows sum to zero, makes them positive.
        sums = weights @ Z
        span = self.balanced[self.basis]
        columns = pivot_columns(residues(span, self.prime), self.prime) if len(span) else []
        correction, scale = solve(span[:, columns].T, -sums[columns][:, None], self.prime)
        if (correction.ravel() @ span + sums * scale).any():
            raise UnluckyPrimeError
        weights = weights * scale
        old = self.weights.copy()
        if len(old):
            change = np.zeros(len(old), dtype=object)
            change[self.basis] = correction.ravel()
            copies = max(1, *(int(-c // w) + 1 for c, w in zip(change, old, strict=True)))
            old = old * copies + change
        self.weights = primitive([*old, *weights])
        count = len(self.balanced)
        self.balanced = np.vstack([self.balanced, Z])
        self.row_ids += row_ids
        self.basis += [count + row for row in rows]
        self._shrink(A, rows, pivot_columns(M[rows], self.prime))

    def _shrink(self, A: Numbers, rows: list[int], columns: list[int]) -> None:
        """Reduce the subspace to the part where A is 0; ``rows`` and ``columns`` are the pivots of A."""
        k = A.shape[1]
        free = [j for j in range(k) if j not in columns]
        numerators, denominator = solve(A[rows][:, columns], -A[rows][:, free], self.prime)
        inner = np.zeros((k, len(free)), dtype=object)
        inner[columns] = numerators
        inner[free, np.arange(len(free))] = denominator
        if (A @ inner).any():
            raise UnluckyPrimeError
        size = len(self.null_basis)
        product = self.null_basis @ inner if len(free) else np.zeros((size, 0), dtype=object)
        self.null_basis = np.array([primitive(column) for column in product.T], dtype=object).reshape(-1, size).T


def next_face(Z: Numbers, row_ids: list[int], face: Face, exactly: bool = False) -> Numbers | None:
    """Solve Gordan's alternative for the rows on the subspace of the face.

    Return integers c with Z N c > 0 for all rows that are not 0 on the subspace. Unless ``exactly``, c is only a
    candidate, found in floats. If there is no such c, add rows that balance to the face and return None; this is always
    exact.
    """
    A = face.products(Z)
    rest = np.flatnonzero((A != 0).any(axis=1))
    A, Z, row_ids = A[rest], Z[rest], [row_ids[i] for i in rest.tolist()]
    if len(A) == 0:
        return np.zeros(face.null_basis.shape[1], dtype=object)
    found = None
    if not exactly:
        preconditioned = precondition(A)
        u, a = squared_hinge_minimum(preconditioned.F)
        if (preconditioned.F @ u).min() > 1e-9:
            return preconditioned.vector(u)
        found = _balance(A, a, preconditioned, face.prime)
    if found is None:
        # If (0, ..., 0, 1) is a combination of the rows (A, 1) with weights >= 0, these weights balance the rows. If
        # not, some (y, t) has A y + t >= 0 and t < 0, so A y > 0.
        ones = np.ones((len(A), 1), dtype=int).astype(object)
        answer = farkas(np.hstack([A, ones]), np.array([0] * A.shape[1] + [1], dtype=object))
        if not isinstance(answer, Combination):
            return answer.y[:-1]
        found = answer.rows, answer.weights
    which, weights = found
    face.add(Z[which], A[which], weights, [row_ids[i] for i in which.tolist()])
    return None


def _balance(A: Numbers, a: Floats, preconditioned: Preconditioned, prime: int) -> tuple[Indices, Numbers] | None:
    """Return rows and positive integer weights near ``a`` with which the rows sum to exactly zero, or None.

    An exact linear system determines the weights of a basis of the rows; all other rows keep their rounded weights.
    This succeeds if the weights of the basis are positive, so the basis is chosen among rows of large weight.
    """
    # Both lists are guesses, from the tightest proof to the most tolerant: each attempt is exact, and if all of them
    # fail, ``farkas`` decides.
    for least in (1e-9, 1e-5, 1e-3):  # smaller weights count as 0
        rows = np.flatnonzero(a > least * a.max())
        rows = rows[np.argsort(-a[rows], kind="stable")]
        heavy = rows[: 4 * A.shape[1]]
        heavy = heavy[qr((a[heavy, None] * preconditioned.F[heavy]).T, mode="r", pivoting=True)[1]]
        rows = np.concatenate([heavy, rows[len(heavy) :]])
        M = residues(A[rows], prime)
        basis = pivot_columns(M.T, prime)
        columns = pivot_columns(M[basis], prime)
        light = np.setdiff1d(np.arange(len(rows)), basis)
        for bits in (12, 30):  # few bits make short proofs; more bits change the weights of the basis less
            weights = _rounded(a[rows], preconditioned.row_powers[rows], bits)
            right = -(weights[light] @ A[rows[light]])[columns] if len(light) else np.zeros(len(columns), dtype=object)
            solution, denominator = solve(A[rows[basis]][:, columns].T, right[:, None], prime)
            if (solution > 0).all():
                weights = weights * denominator
                weights[basis] = solution.ravel()
                if not (weights @ A[rows]).any():
                    order = np.argsort(rows)
                    return rows[order], primitive(weights[order])
    return None


def _rounded(a: Floats, powers: NDArray[np.int64], bits: int) -> Numbers:
    """Return integers proportional to a / 2**powers, each rounded to ``bits`` bits."""
    parts, exponents = np.frexp(a)
    whole = np.rint(np.ldexp(parts, bits)).astype(np.int64)
    shifts = exponents - powers
    return whole.astype(object) << (shifts - shifts.min()).astype(object)


# Tucker's pair for all observations, by a working set of rows.


# Guesses: the pair is proved for all rows, whatever the first working set is. The time depends on its size.
_SMALL = 400  # up to this number of rows z, the working set has all of them
_ROWS_PER_COEFFICIENT = 20  # for more rows, the first working set has this number of rows per coefficient


class IntegerRows:
    """The rows z of a problem as integers; row i * blocks + k is for observation i and its k-th other class.

    Columns far from zero are centred, and each column is divided by a power of two (``exponents``). `unscaled`
    converts coefficient vectors for these columns to vectors for the centred columns, and `original` converts them to
    vectors for the original columns.
    """

    def __init__(self, problem: Problem) -> None:
        self.centring = centred(problem)
        self.problem = problem = self.centring.problem
        self.exponents = lowest_exponents(problem.X)
        self.others = problem.others()
        self.size = problem.X.shape[1] * problem.blocks

    def __len__(self) -> int:
        return len(self.problem.own_class) * self.problem.blocks

    def integers(self, row_ids: Indices) -> Numbers:
        """Return the given rows as integers."""
        observations, k = np.divmod(row_ids, self.problem.blocks)
        x = to_integers(self.problem.X[observations], self.exponents)
        other = self.others[observations, k]
        return blocks_of(x, self.problem.own_class[observations], other, self.problem.blocks)

    def name(self, row_id: int) -> Row:
        """Return the row's identifier in certificates: the index of its data row, its class and the other class."""
        i, k = divmod(row_id, self.problem.blocks)
        return int(self.problem.rows[i]), int(self.problem.own_class[i]), int(self.others[i, k])

    def unscaled(self, vectors: Numbers) -> Numbers:
        """Return coefficient vectors (columns) for the centred problem, all multiplied by one positive integer."""
        exponents = np.tile(self.exponents, self.problem.blocks)
        return vectors << (exponents.max(initial=0) - exponents).astype(object)[:, None]

    def original(self, vectors: Numbers) -> Numbers:
        """Return coefficient vectors (columns) for the original problem, all multiplied by one positive integer."""
        return self.centring.to_original(self.unscaled(vectors))

    def violating(self, b: Numbers, limit: int, rng: np.random.Generator) -> Indices:
        """Return up to ``limit`` rows with z . b < 0 beyond rounding errors: half of largest violation, half random."""
        D = b.reshape(self.problem.blocks, -1).T
        scores, error = float_scores(self.problem.X, D)
        with np.errstate(all="ignore"):
            highest = self.problem.margins(scores) + np.max(error, axis=1, initial=0.0)[:, None] * 2.01
            highest = highest.ravel()
            negative = np.flatnonzero(highest < 0)
            if len(negative) <= limit:
                return negative
            lengths = np.linalg.norm(self.problem.X[negative // self.problem.blocks], axis=1)
            order = np.argsort(highest[negative] / lengths, kind="stable")
        half = limit // 2
        return np.concatenate([negative[order[:half]], rng.permutation(negative[order[half:]])[: limit - half]])


@dataclass
class TuckerPair:
    """Tucker's pair: b = N c with the null basis N of the ``face``, the signs of Z b, and the last working set."""

    face: Face
    c: Numbers
    working_set: list[int]
    signs: NDArray[np.int8]


def find_pair(rows: IntegerRows, prime: int) -> TuckerPair:
    """Return Tucker's pair for all rows, computed exactly."""
    rng = np.random.default_rng(0)
    face = Face.of_size(rows.size, prime)
    working_set = _initial_working_set(rows, rng)
    Z = rows.integers(np.array(working_set, dtype=np.intp))
    limit = max(100, 10 * rows.size)
    exactly = False
    # Invariant: the balanced rows of the face, exactly proved, are rows of Z, and every d with Z d >= 0 is N c for some
    # c. The loop ends with N empty (overlap), or with Z N c > 0 for every row that is not 0 on N (separation).
    #
    # Termination. An iteration that does not return has one of three outcomes. Rows balance, so the dimension of N
    # falls. New rows contradict c, so the working set grows. Or only rows of the working set contradict c; then c came
    # from floats, and the next iteration is exact. An exact c is correct on the whole working set, so that iteration
    # returns, finds rows that balance, or adds a row. Hence there are at most 2 (rows + size) iterations; in practice a
    # few.
    while True:
        c = next_face(Z, working_set, face, exactly) if rows.size else None
        if face.null_basis.shape[1] == 0:
            signs = np.zeros((len(rows.problem.own_class), rows.problem.blocks), dtype=np.int8)
            return TuckerPair(face, np.zeros(0, dtype=object), working_set, signs)
        exactly = False
        if c is None:
            continue
        null = rows.unscaled(face.null_basis)
        more = rows.violating(null @ c, limit, rng)
        if len(more) == 0:
            for shorter in (*_with_few_bits(face.products(Z), c), c):  # the first that no row contradicts is returned
                signs = rows.problem.signs(null @ shorter)
                more = _contradicting(rows, null, signs)[:limit]
                if len(more) == 0:
                    return TuckerPair(face, primitive(shorter), working_set, signs)
        more = np.setdiff1d(more, working_set)
        exactly = len(more) == 0
        working_set = [*working_set, *more.tolist()]
        Z = np.vstack([Z, rows.integers(more)])


def _contradicting(rows: IntegerRows, null: Numbers, signs: NDArray[np.int8]) -> Indices:
    """Return the rows with z . b < 0. If there are none, return the rows with z . b = 0 that are not 0 on ``null``."""
    negative = np.flatnonzero(signs.ravel() < 0)
    part = np.flatnonzero((signs == 0).any(axis=1))
    if len(negative) or len(part) == 0:
        return negative
    on = rows.problem.with_observations(part)
    off = np.zeros((len(part), rows.problem.blocks), dtype=bool)
    for column in null.T:  # ``off``: the rows that are not 0 on a column so far
        off |= on.margins(exact_scores(on.X, column.reshape(on.blocks, -1).T)) != 0
    which, k = np.nonzero(off & (signs[part] == 0))
    return part[which] * rows.problem.blocks + k


def _with_few_bits(A: Numbers, c: Numbers) -> list[Numbers]:
    """Return at most two versions of c, rounded to few bits at the scale of A's columns, that keep A c > 0 in floats.

    Short integers make ``direction`` easier to read, and proofs shorter.
    """
    floats, powers = scaled_floats(A[(A != 0).any(axis=1)])
    parts = [value << int(power) for value, power in zip(c, powers, strict=True)]
    top = max(abs(int(part)) for part in parts).bit_length()
    most = int(powers.max())
    found = []
    for bits in (2, 4, 8, 16, 32):  # the entries of c, in units of the columns, rounded to ``bits`` bits of the largest
        drop = max(0, top - bits)
        short = [(part + ((1 << drop) >> 1)) >> drop for part in parts]
        if (floats @ np.array(short, dtype=np.float64)).min(initial=1.0) > 0:
            found.append(
                np.array([v << (most - int(power)) for v, power in zip(short, powers, strict=True)], dtype=object)
            )
    return found[:2]


def _initial_working_set(rows: IntegerRows, rng: np.random.Generator) -> list[int]:
    """Return the first working set: random rows, and for each class and column some rows where the column is not 0."""
    n, problem = len(rows), rows.problem
    if n <= _SMALL:
        return list(range(n))
    chosen = [rng.permutation(n)[: max(_SMALL, _ROWS_PER_COEFFICIENT * rows.size)]]
    order = rng.permutation(len(problem.own_class))
    for k in range(len(problem.classes)):
        members = order[problem.own_class[order] == k][:20_000]
        block = problem.X[members]
        for j in range(problem.X.shape[1]):
            some = members[np.flatnonzero(block[:, j])[:3]] * problem.blocks
            chosen += [some + place for place in range(problem.blocks)]
    return np.unique(np.concatenate(chosen)).tolist()


# The signs of infinite estimates. An estimate tends to +infinity if its coefficient is >= 0 in the whole cone Z d >= 0,
# and > 0 somewhere. Each sign is proved by Farkas's lemma: rows that force it, or a direction of the cone against it.


# Relative to the multiple of b that would make the coefficient of a counter-direction 0. A guess: any share between 0
# and 1 keeps its sign; a larger one is further inside the cone, where rounding of y does less harm.
_INTERIOR_SHARE = 0.75


class InfiniteSigns(NamedTuple):
    """The status of each coefficient, with directions and rows that prove the infinite estimates."""

    statuses: list[str]
    counter_directions: list[Numbers]
    forced_signs: dict[int, ForcedSign]


def find_infinite_signs(rows: IntegerRows, pair: TuckerPair) -> InfiniteSigns:
    """Return the status of each coefficient (finite, +inf, -inf or either) with the proofs of its sign.

    b lies in the relative interior of the cone, and the cone spans the space of the null basis. So a coefficient that
    is 0 in b but not in the null basis has both signs in the cone.
    """
    null = rows.original(pair.face.null_basis)
    b = null @ pair.c if null.shape[1] else np.zeros(rows.size, dtype=object)
    is_infinite = (null != 0).any(axis=1)
    search = _SignSearch(rows, pair, null) if null.shape[1] > 1 else None
    statuses = []
    for j in range(rows.size):  # counter-directions found for one coefficient are tried first for the next ones
        sign = (b[j] > 0) - (b[j] < 0)
        if not is_infinite[j]:
            statuses.append("finite")
        elif sign and (search is None or search.is_forced(j, sign)):
            statuses.append("+inf" if sign > 0 else "-inf")
        else:
            statuses.append("either")
    if search is None:
        return InfiniteSigns(statuses, [], {})
    return InfiniteSigns(statuses, search.counter_directions, search.forced_signs)


class _SignSearch:
    """Search for the signs of coefficients one by one; all searches share a working set and the directions found.

    Row i of ``A`` is z N for the row z numbered ``_row_ids[i]``, where N is the null basis of the face; ``null`` is N
    for the original columns. No row of the working set lies on the hyperplane.
    """

    def __init__(self, rows: IntegerRows, pair: TuckerPair, null: Numbers) -> None:
        self.rows, self.pair, self.null = rows, pair, null
        self.A = np.zeros((0, null.shape[1]), dtype=object)
        self.counter_directions: list[Numbers] = []
        self.forced_signs: dict[int, ForcedSign] = {}
        self._bases: list[tuple[list[int], NDArray[Any]]] = []
        self._row_ids: list[int] = []
        self._add_rows(self._nearest_rows(np.array(pair.working_set, dtype=np.intp), 20 * null.shape[1] + 400))

    def _nearest_rows(self, row_ids: Indices, limit: int) -> Indices:
        """Return the rows nearest to the hyperplane but not on it."""
        row_ids = row_ids[self.pair.signs.ravel()[row_ids] > 0]
        if len(row_ids) <= limit:
            return row_ids
        A = self.pair.face.products(self.rows.integers(row_ids))
        margins = scaled_floats((A @ self.pair.c)[:, None])[0].ravel()
        lengths = np.linalg.norm(scaled_floats(A)[0], axis=1)
        return row_ids[np.argsort(margins / np.maximum(lengths, 1e-300), kind="stable")[:limit]]

    def _add_rows(self, row_ids: Indices) -> None:
        """Add rows that are not on the hyperplane to the working set."""
        self.A = np.vstack([self.A, self.pair.face.products(self.rows.integers(row_ids))])
        self._row_ids += row_ids.tolist()
        self.preconditioned = precondition(self.A)
        bases, self._bases = self._bases, []
        for rows, _ in bases:  # F has changed, and with it the inverse of each basis
            self._remember_basis(rows)

    def _remember_basis(self, rows: list[int]) -> None:
        """Store the basis of rows that proved the sign of one coefficient, to try this basis first for the others."""
        with contextlib.suppress(np.linalg.LinAlgError):
            self._bases.append((rows, np.linalg.inv(self.preconditioned.F[rows])))

    def is_forced(self, j: int, sign: int) -> bool:
        """Return whether rows force the sign of coefficient j; store the rows, or a direction of opposite sign."""
        rng = np.random.default_rng(j)
        limit = max(100, 4 * self.rows.size)
        exactly = False
        # Farkas's lemma for the working set A and the target t = sign N_j. Either t = w A with w >= 0, so that sign
        # d_j = w A c >= 0 for every d = N c in the cone; or some y has A y >= 0 and t . y < 0. The first case is a
        # proof for all rows. The second is a proof if no other row contradicts it.
        #
        # Termination. An iteration that does not return either adds a row to the working set, or makes all later
        # iterations exact. `farkas` is then correct on the whole working set, so weights are a proof, and rows that
        # contradict a direction are new. There are finitely many rows.
        while True:
            if any(direction[j] * sign < 0 for direction in self.counter_directions):
                return False
            target = self.null[j] * sign
            answer = farkas(self.A, target) if exactly else self._propose(target)
            if isinstance(answer, Combination):
                forced = self._prove_forced(answer, j, sign, exactly)
                if forced is not None:
                    self.forced_signs[j] = forced
                    return True
                exactly = True
                continue
            y = answer if isinstance(answer, np.ndarray) else answer.y
            c = self._counter_direction(y, j, sign)
            if c is None:
                exactly = True
                continue
            direction = self.rows.unscaled(self.pair.face.null_basis @ c[:, None])
            more = self.rows.violating(direction, limit, rng)
            if len(more) == 0:
                more = np.flatnonzero(self.rows.problem.signs(direction).ravel() < 0)[:limit]
            if len(more) == 0:
                self.counter_directions.append(primitive(self.null @ c))
                return False
            before = len(self._row_ids)
            self._add_rows(np.setdiff1d(more, self._row_ids))
            exactly = exactly or len(self._row_ids) == before

    def _propose(self, target: Numbers) -> Combination | Numbers:
        """Return rows that combine to the target, or a direction that is negative on it, by nonnegative least squares.

        If w minimises |w F - t| over w >= 0, the residual y = w F - t has F y >= 0 and t . y = -|y|^2. The weights are
        left at 0, since they are recomputed exactly.
        """
        from scipy.optimize import nnls

        aim = self.preconditioned.target(target)
        for rows_of_basis, inverse in self._bases:
            weights = aim @ inverse
            if (weights > 1e-9 * np.abs(weights).max()).all():
                return Combination(np.array(rows_of_basis, dtype=np.intp), np.zeros(len(rows_of_basis), dtype=object))
        F = self.preconditioned.F
        try:
            weights, gap = nnls(F.T, aim, maxiter=20 * len(F) + 100)
        except RuntimeError:
            weights, gap = np.zeros(len(F)), 1.0
        if gap > 1e-9:
            return self.preconditioned.vector(weights @ F - aim)
        rows = np.flatnonzero(weights > 1e-12 * weights.max())
        if len(rows) == F.shape[1]:
            self._remember_basis(rows.tolist())
        return Combination(rows, np.zeros(len(rows), dtype=object))

    def _counter_direction(self, y: Numbers, j: int, sign: int) -> Numbers | None:
        """Return y plus a multiple of b that keeps the opposite sign at j; None if y does not have the opposite sign.

        Since A y >= 0 up to rounding and A c > 0, the sum is strictly inside the cone, so rounding does no harm.
        """
        against, along = -sign * (self.null[j] @ y), sign * (self.null[j] @ self.pair.c)
        if against <= 0:
            return None
        return primitive(y * (along * 1024) + self.pair.c * (against * int(_INTERIOR_SHARE * 1024)))

    def _prove_forced(self, answer: Combination, j: int, sign: int, exactly: bool) -> ForcedSign | None:
        """Return the proof that the rows of ``answer`` force the sign, or None if it cannot be made exact."""
        names = tuple(self.rows.name(self._row_ids[i]) for i in answer.rows.tolist())
        if exactly:
            return ForcedSign(names, tuple(answer.weights.tolist()))
        A, target = self.A[answer.rows], self.null[j] * sign
        if len(A) == len(target) and self._encloses(answer.rows, j, sign):
            return ForcedSign(names, None)
        prime = self.pair.face.prime
        columns = pivot_columns(residues(A, prime), prime)
        if len(columns) < len(A):
            return None
        weights, _ = solve(A[:, columns].T, target[columns][:, None], prime)
        weights = primitive(weights.ravel())
        kept = np.flatnonzero(weights)
        if (weights < 0).any() or len(kept) == 0 or not is_positive_multiple(weights @ A, target):
            return None
        return ForcedSign(tuple(names[i] for i in kept.tolist()), tuple(weights[kept].tolist()))

    def _encloses(self, rows: Indices, j: int, sign: int) -> bool:
        """Return whether an enclosure proves that the rows force the sign, on the same floats as in the check."""
        if not self.pair.signs.all():
            return False
        row_ids = np.array([self._row_ids[i] for i in rows.tolist()], dtype=np.intp)
        observations, k = np.divmod(row_ids, self.rows.problem.blocks)
        Z = self.rows.problem.row_vectors(observations, self.rows.others[observations, k])
        return encloses_combination(Z, sign * self.rows.centring.coefficient(j))


MOST_COEFFICIENTS = 2048


def detect_separation(
    X: Any, y: ArrayLike, fit_intercept: bool = True, sample_weight: ArrayLike | None = None
) -> Separation:
    """Decide for each coefficient of a logistic regression whether its maximum-likelihood estimate is finite.

    There are three cases (Albert and Anderson 1984). Complete separation: some linear combination of the columns
    separates the classes strictly, and no estimate is finite. Quasi-complete separation: some combination separates
    some rows strictly and is 0 for the others, and some estimates are infinite. Overlap: no such combination exists,
    and all estimates are finite. The answer is exact for the given numbers and comes with a proof.

    Parameters
    ----------
    X : data frame, array or sparse matrix of shape (n, d)
        Finite numbers. In a pandas, polars or pyarrow table, a column of strings or categories becomes several 0/1
        columns. There is one for each level except the first, called ``name=level``. Booleans become 0 and 1. As in R,
        a column that is a linear combination of columns before it is aliased and left out. The intercept comes first.
    y : array of shape (n,) or (n, 2)
        Labels of two or more classes. The first in sorted order is the baseline. With more than two classes the
        regression is multinomial. An array of shape (n, 2) contains counts of successes and failures.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    sample_weight : array of shape (n,), default=None
        Rows of weight zero are left out. Other weights make no difference. None includes all rows.

    Returns
    -------
    Separation
        ``kind``, ``coefficients``, ``direction``, ``on_hyperplane`` and ``baseline``, with the proof. It prints as a
        summary and has the methods ``check``, ``save`` and ``load``.

    See Also
    --------
    separability : Whether a hyperplane separates two classes, for any number of columns.

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
            "hours. Drop columns or merge levels, or use `separability`, which decides only whether two classes are "
            "linearly separable."
        )
    for prime in PRIMES:
        with contextlib.suppress(UnluckyPrimeError):
            answer = _decide(problem, bool(fit_intercept), prime)
            if answer.holds(problem):
                return answer
    raise AssertionError("no valid proof was found: this is a bug in the search, please report it.")


def _decide(problem: Problem, fit_intercept: bool, prime: int) -> Separation:
    """Return the answer with its proof, not yet checked; ``prime`` is used to solve linear systems."""
    p, blocks = len(problem.names), problem.blocks
    first, same = _distinct_observations(problem)
    distinct = problem.with_observations(first) if len(first) < len(same) else problem
    kept, relations = _aliases(distinct, prime)
    rows = IntegerRows(distinct.with_columns(kept))
    pair = find_pair(rows, prime)
    signs = find_infinite_signs(rows, pair)
    where = np.concatenate([np.array(kept, dtype=np.intp) + k * p for k in range(blocks)])
    statuses = np.full(p * blocks, "aliased", dtype=object)
    statuses[where] = signs.statuses

    def with_aliased(vector: Numbers) -> tuple[int, ...]:
        padded = np.zeros(p * blocks, dtype=object)
        padded[where] = vector
        return tuple(padded.tolist())

    kind = "complete" if pair.signs.all() else "quasi-complete" if pair.signs.any() else "overlap"
    face = pair.face
    null = rows.original(face.null_basis)
    proof = Proof(
        with_aliased(primitive(null @ pair.c) if len(pair.c) else np.zeros(len(null), dtype=object)),
        tuple((rows.name(row_id), int(weight)) for row_id, weight in zip(face.row_ids, face.weights, strict=True)),
        () if kind == "complete" else tuple(with_aliased(primitive(column)) for column in null.T),
        relations,
        tuple(map(with_aliased, signs.counter_directions)),
        {int(where[j]): forced for j, forced in signs.forced_signs.items()},
    )
    on = np.unique(problem.rows[(pair.signs == 0).any(axis=1)[same]])
    n_rows = len(np.unique(problem.rows))
    return Separation(kind, problem.names, problem.classes, tuple(statuses.tolist()), on, n_rows, fit_intercept, proof)


def _distinct_observations(problem: Problem) -> tuple[Indices, Indices]:
    """Return the first of each set of equal observations, and for each observation the index of its set."""
    everything = np.arange(len(problem.own_class))
    firsts = representatives(problem.X, problem.own_class, everything, np.arange(problem.X.shape[1]))
    first, same = np.unique(firsts, return_inverse=True)
    return first, same.ravel()


def _aliases(problem: Problem, prime: int) -> tuple[list[int], Vectors]:
    """Return the columns that are independent of those to their left, and the linear relations of all other columns."""
    X, p = problem.X, problem.X.shape[1]
    start = np.unique(np.linspace(0, len(X) - 1, min(len(X), 4 * p + 20)).astype(np.intp))
    rows, kept = row_basis(X, start, prime)
    others = [j for j in range(p) if j not in kept]
    if not others:
        return kept, ()
    exponents = lowest_exponents(X[rows])
    integers = to_integers(X[rows], exponents)
    numerators, denominator = solve(integers[:, kept], -integers[:, others], prime)
    relations = []
    for k, j in enumerate(others):
        relation = np.zeros(p, dtype=object)
        relation[kept], relation[j] = numerators[:, k], denominator
        relations.append(primitive(relation << (exponents.max(initial=0) - exponents).astype(object)))
    if exact_scores(X, np.array(relations, dtype=object).T).any():
        raise UnluckyPrimeError
    return kept, tuple(tuple(relation.tolist()) for relation in relations)
