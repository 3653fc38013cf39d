"""Linear programs solved by the perceptron: strict feasibility as linear separation, optimisation by bisection.

Let Z have a row (-a, b) for each inequality a . x < b, and the row (0, 1). A x < b has a solution if and only if some v
has Z v > 0. The solution is then x = v[:-1] / v[-1]. So the rows of Z are examples with the label +1. A perceptron
without a bias that makes no mistake on them solves the system (Har-Peled 30.1). If there is no solution, Gordan's
alternative yields weights alpha >= 0, not all zero, with A^T alpha = 0 and b . alpha <= 0.

The inequalities are strict. If the set A x <= b has no interior, it may have points although A x < b has no solution.
So the perceptron solves linear programs whose feasible set has an interior. For all other programs a certificate names
the rows that are responsible.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rosenblatt.messages import ParameterError, Setting
from rosenblatt.rounding import SMALLEST_NORMAL
from rosenblatt.theory.exact import (
    Combination,
    TooMuchWorkError,
    farkas,
    null_space,
    proportional_floats,
    proportional_integers,
    rounded,
)
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, Numbers, as_float, dense_rows, entries, scatter
from rosenblatt.theory.linear_programs.answers import (
    Feasible,
    Infeasible,
    Optimum,
    Unbounded,
    UndecidedProgram,
    exact_dot,
    homogenized,
    is_recession_direction,
    is_strictly_feasible,
    largest_violation,
    read_system,
    read_vector,
    with_objective_above,
)
from rosenblatt.theory.search.gordan import decide_equilibrated
from rosenblatt.theory.search.presolve import Unsolvable
from rosenblatt.theory.search.rescaled import rescaled_perceptron

# Sharper proofs of infeasibility: fewer rows and a larger deficit.
#
# Weights alpha >= 0, not all zero, with A^T alpha = 0 and b . alpha <= 0 prove that A x < b has no solution. The
# deficit of the proof is -b . alpha. If the rows of a proof have more than one such combination, moving along a
# direction in the null space of A^T decreases b . alpha until a weight is zero. Repeating this ends with weights that
# are determined by their rows. So if A x <= b has no solution either, the sharper proof usually shows it, and an upper
# bound on an optimum becomes the bound at a vertex.


FEW = 32  # up to this number of rows exact weights are computed
SMALL = 1e-9  # smaller relative singular values and slopes count as zero; if wrong, only the sharper proof is lost


def sharpened(A: Matrix, b: Floats, proof: Infeasible) -> Infeasible:
    """Return a proof with a larger deficit from some rows of ``proof``; if no such proof is found, return ``proof``."""
    rows = proof.support
    own = dense_rows(A, rows)
    alpha = _lowered(own, b[rows], proof.alpha[rows])
    if alpha is None:
        return proof
    kept = alpha > 0
    other = _proof(A, b, rows[kept], own[kept], alpha[kept])
    return other if other is not None and other.empty and other.check(A, b) else proof


def _lowered(A: Floats, b: Floats, alpha: Floats) -> Floats | None:
    """Return weights with A^T alpha = 0, a lower b . alpha and more zeros, or None if the rows determine the weights.

    Invariant of the loop: y >= 0 and A^T y = 0 up to rounding. Each round makes at least one more weight zero.
    """
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(A, axis=1)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            return None
        A, b, y = A / lengths[:, None], b / lengths, alpha * lengths
        rows = np.arange(len(y))
        while len(rows) > 1:
            _, sizes, lines = np.linalg.svd(A[rows].T)
            free = lines[int(np.sum(sizes > SMALL)) :]
            if len(free) < 2:
                break
            slope = free.T @ (free @ b[rows])
            slope -= y[rows] * (y[rows] @ slope) / (y[rows] @ y[rows])  # excludes mere scaling of all weights
            if not np.max(np.abs(slope)) > SMALL * np.max(np.abs(b[rows])):
                break
            ways = np.where(slope > 0, y[rows] / np.where(slope > 0, slope, 1.0), np.inf)
            k = int(np.argmin(ways))
            if not math.isfinite(ways[k]):
                return None
            y[rows] = np.maximum(y[rows] - ways[k] * slope, 0.0)
            y[rows[k]] = 0.0
            rows = np.flatnonzero(y)
        return y / lengths if len(rows) < len(y) else None


def _proof(A: Matrix, b: Floats, rows: NDArray[np.intp], own: Floats, alpha: Floats) -> Infeasible | None:
    """Return an unchecked proof of infeasibility that uses only the given rows, or None if it fails.

    The weights are exact if there are few rows.
    """
    if len(rows) > FEW:
        alpha = scatter(rows, alpha / alpha.sum(), A.shape[0])
        return Infeasible(alpha, max(0.0, -float(b @ alpha)), rows, None)
    ways = null_space(own.T.tolist())
    if len(ways) != 1:
        return None
    sign = 1 if ways[0][0] > 0 else -1
    weights = tuple(sign * value for value in ways[0])
    return Infeasible.from_weights(A, b, rows, weights) if min(weights) > 0 else None


# Distinguishing empty systems from systems without an interior, where A x <= b has solutions but A x < b has none.


SLACK = 2.0**-33  # the relative slack that is added to b
FEW_ENTRIES = 10_000  # a system of up to this number of entries is decided exactly
MOST_WORK = 1e7  # the work limit for that: some seconds


def proved_empty(A: Matrix, b: Floats, proof: Infeasible) -> Infeasible:
    """Return a proof that not even A x <= b has a solution, or ``proof`` if no such proof is found.

    If the system has no solution even with a little slack added to b, the weights that prove this have a positive
    deficit for b itself.
    """
    if proof.empty:
        return proof
    scale = np.maximum(np.abs(b), largest_in_rows(A))
    with np.errstate(over="ignore"):
        wider = b + SLACK * np.where(scale == 0, 1.0, scale)
    answer = decide_equilibrated(homogenized(A, wider)) if np.isfinite(wider).all() else None
    if not isinstance(answer, Unsolvable):
        return _exactly(A, b, proof)
    other = sharpened(A, wider, from_homogenized(A, wider, answer))
    if other.weights is not None:
        other = Infeasible.from_weights(A, b, other.support, other.weights)
    else:
        other = Infeasible(other.alpha, max(0.0, -float(b @ other.alpha)), other.support, None)
    return other if other.empty and other.check(A, b) else _exactly(A, b, proof)


def _exactly(A: Matrix, b: Floats, proof: Infeasible) -> Infeasible:
    """Return an exact proof that A x <= b has no solution, or ``proof`` if there is a solution or the system is large.

    By Farkas's lemma the proof consists of weights y >= 0 with A^T y = 0 and b . y = -1. They are computed for integer
    rows, each proportional to a row of (A, b).
    """
    if A.shape[0] * (A.shape[1] + 1) > FEW_ENTRIES:
        return proof
    given = np.column_stack([dense_rows(A, np.arange(A.shape[0])), -b]).tolist()
    columns = [proportional_integers(row) for row in given]
    try:
        target = np.array([0] * A.shape[1] + [1], dtype=object)
        found = farkas(np.array(columns, dtype=object), target, patience=0, most_work=MOST_WORK)
    except TooMuchWorkError:
        return proof
    if not isinstance(found, Combination):
        return proof
    pairs = zip(found.rows.tolist(), found.weights, strict=True)
    weights = [_ratio(columns[i], given[i]) * weight for i, weight in pairs]
    return Infeasible.from_weights(A, b, found.rows, tuple(proportional_integers(weights)))


def _ratio(integers: list[int], row: list[float]) -> Fraction:
    """Return the factor by which ``integers`` are a multiple of ``row``; 0 for a row of zeros."""
    return next((integers[j] / Fraction(value) for j, value in enumerate(row) if value), Fraction(0))


def largest_in_rows(A: Matrix) -> Floats:
    """Return the largest absolute value in each row of ``A``."""
    if sp.issparse(A):
        return abs(A).max(axis=1).toarray().ravel()
    return np.max(np.abs(A), axis=1, initial=0.0)


def from_homogenized(A: Matrix, b: Floats, answer: Unsolvable) -> Infeasible:
    """Convert a proof for the homogenized rows to one for A and b; the weight of the row (0, 1) becomes the deficit."""
    own = answer.support < A.shape[0]
    rows = answer.support[own]
    if answer.weights is not None:
        return Infeasible.from_weights(A, b, rows, answer.weights[: len(rows)])
    total = float(answer.alpha[own].sum())
    alpha = scatter(rows, answer.alpha[own] / total, A.shape[0])
    return Infeasible(alpha, float(answer.alpha[~own].sum()) / total, rows, None)


# Recession directions, along which a linear program is unbounded: A d <= 0 and c . d > 0.
#
# The strict system A d < 0, c . d > 0 is Gordan's alternative for the rows -a and c. There are three cases. A solution
# is a recession direction. If there is none and the proof has weight on c, then c is a nonnegative combination of rows
# of A, and the program is bounded. Otherwise the proof names rows with a . d = 0 for every direction d (implicit
# equalities). They are eliminated exactly, which is a step of facial reduction (Borwein and Wolkowicz 1981), and the
# same system is decided on the subspace. This is repeated at most once per column.
#
# Results are checked by `is_recession_direction`, so this search need not be trusted.


Line = list[Fraction]


def recession_ray(c: Floats, A: Matrix) -> Numbers | None:
    """Return a verified d with A d <= 0 and c . d > 0, in floats or fractions, or None if none was found."""
    used = np.flatnonzero(abs(A).sum(axis=1))
    Z = sp.csr_array(sp.vstack([-A[used], sp.csr_array(c[None, :])])) if sp.issparse(A) else np.vstack([-A[used], c])
    answer = decide_equilibrated(Z)
    if isinstance(answer, list):
        return _proved(c, A, answer)
    if not isinstance(answer, Unsolvable) or answer.support[-1] == len(used):  # weight on c, so the program is bounded
        return None
    return _within(
        c, A, [[Fraction(value) for value in row] for row in dense_rows(A, used).tolist()], set(answer.support.tolist())
    )


def _within(c: Floats, A: Matrix, rows: list[Line], equal: set[int]) -> Numbers | None:
    """Return a recession direction with ``a . d = 0`` in the rows ``equal`` and other implicit equalities, or None."""
    goal = [Fraction(value) for value in c.tolist()]
    while True:
        # Invariant: every d with A d <= 0 and c . d > 0 has a . d = 0 in the rows ``equal``, so it is a combination of
        # ``basis``. Each round adds a row that is nonzero on this subspace, so the dimension falls.
        basis = null_space([rows[i] for i in sorted(equal)])
        kept, lines = [], []
        for i, row in enumerate(rows):
            line = [-exact_dot(row, free) for free in basis]
            if any(line):
                kept.append(i)
                lines.append(line)
        last = [exact_dot(goal, free) for free in basis]
        if not any(last):
            return None
        rounded_lines = [proportional_floats(proportional_integers(line)) for line in [*lines, last]]
        answer = decide_equilibrated(np.array(rounded_lines))
        if isinstance(answer, list):
            return _proved(c, A, [exact_dot(answer, column) for column in zip(*basis, strict=True)])
        if not isinstance(answer, Unsolvable) or answer.support[-1] == len(kept):
            return None
        equal |= {kept[k] for k in answer.support.tolist()}


def _proved(c: Floats, A: Matrix, ray: Line) -> Numbers | None:
    """Return a recession direction in floats, or in fractions if floats fail the check; None if both fail."""
    largest = max(abs(value) for value in ray)
    if not largest:
        return None
    with np.errstate(under="ignore"):
        near = np.array([float(value / largest) for value in ray])
    if is_recession_direction(c, A, near):
        return near
    exact = np.array(ray, dtype=object)
    return exact if is_recession_direction(c, A, exact) else None


RESCALINGS = 30  # more than enough for a margin of 1e-14
FIRST_STEPS = 3  # the number of growing objective values tried before a search for a recession direction


def strict_feasibility(A: MatrixLike, b: ArrayLike) -> Feasible | Infeasible | UndecidedProgram:
    """Find x with ``A x < b`` strictly in every row, or prove that there is no such x.

    The rescaled perceptron is tried first; its first phase is the plain perceptron. If it finds no solution, the convex
    hull of the rows (-a, b) and (0, 1) is examined. This hull contains the origin if and only if there is no solution.
    Results are exact for the given numbers. So if a coefficient was rounded beforehand, there may be a solution with
    huge coordinates. Each result has a method ``check(A, b)``, which verifies it exactly. It prints as a summary and
    can be saved as JSON.

    Parameters
    ----------
    A : array or sparse matrix of shape (m, d)
        Finite numbers. A number that float64 would round raises a ValueError, as in b. A may have no rows or no
        columns. A row of zeros is the inequality 0 < b.
    b : array of shape (m,)
        Finite numbers.

    Returns
    -------
    Feasible, Infeasible or Undecided
        `Feasible` has the solution ``x``. `Infeasible` has weights ``alpha`` (Farkas); its ``empty`` is True if A
        x <= b has no solution either. For more than 10,000 entries, ``empty`` may be False although A x <= b has no
        solution. This can happen only if a relative slack of 1e-10 in b would make the system feasible. `Undecided` is
        returned only if exact arithmetic would take too long.

    See Also
    --------
    maximize : Maximise c . x subject to A x <= b.
    separability : Linear separability of labelled rows, which reduces to the same kind of system.

    Examples
    --------
    The inside of a triangle, strictly:

    >>> A = [[-1, 0], [0, -1], [1, 1]]
    >>> answer = strict_feasibility(A, [0, 0, 1])
    >>> bool(answer), bool((A @ answer.x < [0, 0, 1]).all()), answer.check(A, [0, 0, 1])
    (True, True, True)

    Shrunk to a point, the triangle has no interior; shrunk further, it is empty:

    >>> print(strict_feasibility(A, [0, 0, 0]))
    Infeasible: no x has A x < b, because A x <= b has no interior.
    With the weights alpha, rows 0, 1, 2 add up to 0 . x < 0: every solution of A x <= b has equality in each.
    >>> print(strict_feasibility(A, [0, 0, -1]))
    Infeasible: no x has A x < b, and not even A x <= b has a solution.
    With the weights alpha, rows 0, 1, 2 add up to 0 . x <= -0.3333.
    """
    return _decide(*read_system(A, b))


def _decide(A: Matrix, b: Floats) -> Feasible | Infeasible | UndecidedProgram:
    hopeless = np.where(largest_in_rows(A) == 0, b, 1.0)  # a row of zeros means 0 < b
    if np.min(hopeless, initial=1.0) <= 0:
        return proved_empty(A, b, Infeasible.from_weights(A, b, np.array([np.argmin(hopeless)]), (1,)))
    Z = homogenized(A, b)
    run = rescaled_perceptron(Z, RESCALINGS)
    found = [] if run.v is None else [[Fraction(value) for value in run.v.tolist()]]
    if (x := _float_point(A, b, found)) is not None:
        return Feasible(x)
    answer = (None if found else _solved_with_scaled_columns(Z)) or decide_equilibrated(Z)
    if isinstance(answer, Unsolvable):
        return proved_empty(A, b, sharpened(A, b, from_homogenized(A, b, answer)))
    if answer is not None:
        found = [answer, *found]
    if (x := _float_point(A, b, found)) is not None:
        return Feasible(x)
    if found:
        v = found[0]
        return Feasible(np.array([value / v[-1] for value in v[:-1]], dtype=object))
    with np.errstate(all="ignore"):
        x = np.nan_to_num(run.best[:-1] / run.best[-1])
    return UndecidedProgram(x, rounded(largest_violation(A, b, x), up=True))


FAR_APART = 64
"""Columns have very different magnitudes if their largest entries differ by more than this power of two."""


def _solved_with_scaled_columns(Z: Matrix) -> list[Fraction] | None:
    """Return an exact v with Z v > 0 if the columns have very different magnitudes and it is easily found, else None.

    The rescaled perceptron scales rows before columns. In a homogenized system this does not help, because the last row
    (0, 1) keeps the last column, b, from being scaled. Here the columns of the other rows are scaled first. The entries
    of v are fractions, because their magnitudes may differ by more than floats can represent.
    """
    exponents = np.frexp(largest_in_rows(Z[:-1].T))[1].astype(np.int64)
    if np.ptp(exponents) <= FAR_APART:
        return None
    with np.errstate(over="ignore", under="ignore"):
        if sp.issparse(Z):
            scaled = sp.csr_array((np.ldexp(Z.data, -exponents[Z.indices]), Z.indices, Z.indptr), shape=Z.shape)
        else:
            scaled = np.ldexp(Z, -exponents)
    sizes = np.abs(entries(scaled)[entries(Z) != 0])
    if (sizes < SMALLEST_NORMAL).any() or not np.isfinite(sizes).all():  # then the scaled system is another one
        return None
    v = rescaled_perceptron(scaled, RESCALINGS).v
    if v is None:
        return None
    return [Fraction(x) / Fraction(2) ** place for x, place in zip(v.tolist(), exponents.tolist(), strict=True)]


def _float_point(A: Matrix, b: Floats, found: list[list[Fraction]]) -> Floats | None:
    """Return the first x = v[:-1] / v[-1], for v in ``found``, that is strictly feasible in floats, or None."""
    for v in found:
        x = np.array([as_float(value / v[-1]) for value in v[:-1]], dtype=np.float64)
        if is_strictly_feasible(A, b, x):
            return x
    return None


def maximize(
    c: ArrayLike, A: MatrixLike, b: ArrayLike, rtol: float = 1e-9, atol: float = 1e-9, max_steps: int = 200
) -> Optimum | Unbounded | Infeasible | UndecidedProgram:
    """Find the largest ``c . x`` subject to ``A x <= b``, by bisection on z in the system A x < b, c . x > z.

    A solution x raises the lower bound to c . x. If there is no solution, the weights of the proof solve the dual
    program, and they prove the new upper bound. Then a better x is tried near the corner in which the rows of the proof
    meet. The search stops when ``high - low <= atol + rtol * max(|low|, |high|)``, or after ``max_steps``.

    The set A x <= b must have an interior. If it has none, the result is the `Infeasible` of `strict_feasibility`. Its
    ``support`` lists rows that hold with equality in every solution. Use these equalities to eliminate variables, then
    solve the smaller program. The primal and the dual program cannot be solved together as one strict system: A x <= b,
    A^T y = c, y >= 0, c . x >= b . y never has an interior, since no c . x exceeds b . y.

    Parameters
    ----------
    c : array of shape (d,)
        The objective. To minimise c . x, pass -c.
    A, b
        As for `strict_feasibility`. No other bounds are assumed: if x >= 0 is required, add rows for it.
    rtol, atol : float, default=1e-9
        The relative and the absolute width of the bracket at which the search stops.
    max_steps : int, default=200
        The maximum number of steps. After them the bracket is returned even if it is wider than ``rtol`` and ``atol``
        allow.

    Returns
    -------
    Optimum, Unbounded, Infeasible or Undecided
        `Optimum` has a strictly feasible ``x`` and the bounds ``low`` and ``high`` on the optimum with a ``proof``.
        `Unbounded` has an ``x`` and a ``direction``. `Optimum` and `Unbounded` have a method ``check(c, A, b)``.
        `Infeasible` and `Undecided` have ``check(A, b)``.

    See Also
    --------
    strict_feasibility : Decide whether A x < b has a solution.

    Examples
    --------
    The largest x + y in a pentagon:

    >>> A = [[-1, 0], [0, -1], [1, 2], [3, 1], [1, 0]]
    >>> b = [0, 0, 4, 6, 1.75]
    >>> best = maximize([1, 1], A, b)
    >>> round(best.value, 8), best.high - best.low < 1e-8, best.check([1, 1], A, b)
    (2.8, True, True)
    >>> best.y.round(6)  # 2 / 5 (x + 2 y <= 4) + 1 / 5 (3 x + y <= 6) gives x + y <= 2.8
    array([0. , 0. , 0.4, 0.2, 0. ])
    >>> print(maximize([1, 1], A[:2], b[:2]))
    Unbounded: from a strictly feasible x, c . x grows without bound along (1, 1).
    """
    A, b = read_system(A, b)
    c = read_vector("c", c, A.shape[1], "column")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not 0 <= value < math.inf:
            raise ParameterError(
                "{setting} must be a number of at least 0, got {got}.", setting=Setting(name), got=value
            )
    start = _decide(A, b)
    if not isinstance(start, Feasible):
        return start
    x, low = start.x, rounded(exact_dot(c, start.x), up=False)
    high, proof, step = math.inf, None, max(1.0, abs(low))
    for step_number in range(max_steps):
        # Invariant: x is strictly feasible with c . x >= low, and ``proof``, if not None, proves c . x <= high.
        if proof is not None:
            if high - low <= atol + rtol * max(abs(low), abs(high)):
                break
            z = low / 2 + high / 2
        else:  # no upper bound yet, so try growing values
            if step_number == FIRST_STEPS and (ray := recession_ray(c, A)) is not None:
                return Unbounded(x, ray)
            z = min(low + step * 16.0 ** min(step_number, 255), sys.float_info.max)
            if not low < z:
                raise ValueError("c . x overflows float64: scale c and b down, and the result up.")
        if not low < z < high:  # low and high are neighbouring floats
            break
        answer = _decide(*with_objective_above(c, A, b, z))
        if isinstance(answer, Feasible):
            x, low = answer.x, rounded(exact_dot(c, answer.x), up=False)
        elif isinstance(answer, Infeasible):
            gap = atol + rtol * max(abs(low), abs(z))
            high, proof = _tightened(c, A, b, z, answer, gap)
            corner = _corner(c, A, b, proof, start.x, high, gap)
            if corner is not None and exact_dot(c, corner) > low:
                x, low = corner, rounded(exact_dot(c, corner), up=False)
        else:
            break
    if proof is None:
        return UndecidedProgram(x, rounded(largest_violation(A, b, x), up=True))
    return Optimum(x, low, high, proof)


def _tightened(c: Floats, A: Matrix, b: Floats, z: float, proof: Infeasible, gap: float) -> tuple[float, Infeasible]:
    """Return (bound, proof): an upper bound on c . x, at most z, from the weights of ``proof``, and its proof."""
    rows = proof.support[:-1]
    if proof.weights is not None:
        *others, last = proof.weights
        high = rounded(exact_dot(b[rows], others) / last, up=True)
        return high, Infeasible.from_weights(*with_objective_above(c, A, b, high), proof.support, proof.weights)
    share = float(proof.alpha[-1])
    with np.errstate(all="ignore"):
        high = float(b[rows] @ proof.alpha[rows]) / share + 0.25 * gap
    other = Infeasible(proof.alpha, 0.25 * gap * share, proof.support, None)
    return (high, other) if high < z and other.check(*with_objective_above(c, A, b, high)) else (z, proof)


def _corner(
    c: Floats, A: Matrix, b: Floats, proof: Infeasible, inside: Numbers, high: float, gap: float
) -> Floats | None:
    """Return a strictly feasible point close to the corner where the rows of the proof are tight, or None.

    Near the optimum these rows meet in the optimal corner. The point lies slightly inside, towards the interior point
    ``inside``.
    """
    rows = proof.support[:-1]
    if len(rows) == 0:
        return None
    tight = dense_rows(A, rows)
    near = np.array([as_float(value) for value in inside.tolist()])
    with np.errstate(all="ignore"):
        short = b[rows] - tight @ near
        if not np.isfinite(short).all():
            return None
        corner = near + np.linalg.lstsq(tight, short, rcond=None)[0]
        reach = max(gap, high - float(c @ near))
        x = corner + (min(0.5, 0.25 * gap / reach) if reach > 0 else 0.5) * (near - corner)
    return x if is_strictly_feasible(A, b, x) else None
