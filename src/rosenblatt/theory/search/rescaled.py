"""The rescaled perceptron: a search for v with Z v > 0 whose running time hardly depends on the margin.

The perceptron needs up to (R / margin)^2 updates, where R is the largest norm of a row. So it is stopped early. The
space is then shrunk in the directions of the rows with the most updates, which stretches all other directions relative
to them. Then the perceptron starts again, where m is the number of columns of Z:

    B = I
    repeat:  A = rows of Z B, each scaled to length 1
             run the perceptron on A from zero, for at most m^2 / 4 updates; cnt counts the updates of each row
             if Z (B w) > 0 in every row: return B w
             S = I + 10 m A^T diag(cnt / sum cnt) A;   B = B F with F F^T = S^(-1)

Invariant: weights w on the rows of A correspond to v = B w. Each entry of A w has the same sign as the corresponding
entry of Z v, since rows are divided by positive norms. F is computed from the Cholesky factor of S. The square root of
S^(-1) differs from F only by a rotation, which does not change the sign of any score.

This is the multi-rank step of Dadush, Végh and Zambelli (2020) with constants that work in practice. It is close to the
second-order perceptron. No convergence bound is claimed for these constants. A solution is checked exactly in the
original coordinates. If there is no solution, the search ends at the limit on rescalings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrcon, dtrtri

from rosenblatt.messages import check_integer, count_of
from rosenblatt.theory.inputs import Floats, Matrix, MatrixLike, check_matrix, dense_rows, squared_lengths
from rosenblatt.theory.scores import least_score
from rosenblatt.theory.search.gordan import equilibrated
from rosenblatt.training.batches import InMemory, make_batch
from rosenblatt.training.linear import LinearState
from rosenblatt.training.observers import UpdateTrace
from rosenblatt.training.options import RunOptions
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.state import Outcome

STRETCH = 10.0
WORST_CONDITION = 1e12  # largest condition number of B; beyond it rounding errors decide the signs
MOST_COLUMNS = 2048  # the largest order of the dense matrix that each rescaling factors
MOST_ENTRIES = 1 << 28  # largest number of entries of the dense matrix A
FEWEST_UPDATES = 4  # per column before a rescaling; with fewer updates, too few rows would be used


@dataclass(frozen=True)
class RescaledRun:
    """The result of `rescaled_perceptron`.

    Attributes
    ----------
    v : array of shape (m,) or None
        The solution, for which ``Z v > 0`` in every row is proved exactly. None if no solution was found, which does
        not prove that none exists.
    updates, passes, rescalings : int
        Numbers of updates, of passes over the rows and of rescalings in total. A pass that the limit on updates
        interrupts counts as a pass.
    alpha : array of shape (n,)
        The number of updates on each row.
    best : array of shape (m,)
        The solution ``v`` if it was found. Otherwise the best of the weights at the end of a phase, that is, of the
        training between two rescalings. The best weights are those with the fewest nonpositive entries of ``Z best``.
    wrong : int
        The number of nonpositive entries of ``Z best``. It is 0 if and only if ``v`` was found.
    """

    updates: int
    passes: int
    rescalings: int
    alpha: NDArray[np.int64]
    best: Floats
    wrong: int

    @property
    def v(self) -> Floats | None:
        """The solution, or None if none was found."""
        return self.best if self.wrong == 0 else None

    def __str__(self) -> str:
        work = f"{count_of(self.updates, 'update')} in {count_of(self.passes, 'pass')}"
        work += f", {count_of(self.rescalings, 'rescaling')}"
        if self.v is not None:
            return f"Solved: every row of Z v is positive. {work}."
        return f"Not solved, which proves nothing: at best Z v has {count_of(self.wrong, 'row')} not positive. {work}."


def rescaled_perceptron(
    Z: MatrixLike,
    max_rescalings: int = 100,
    max_updates_per_phase: int | None = None,
    seed: int = 0,
    on_phase: Callable[[int, int, int], None] | None = None,
) -> RescaledRun:
    """Search for v with ``Z v > 0`` in every row by the rescaled perceptron, and verify a solution exactly.

    For labelled rows, multiply each row by its sign: z = y x, or z = y (x, 1) with a bias. In ten dimensions, a margin
    of 1e-8 takes a few hundred updates. The search ends without a solution after ``max_rescalings`` rescalings, or when
    the condition number of the coordinate transformation exceeds 1e12. `separability` and `strict_feasibility` also
    decide such cases.

    Z is copied, and the copy is dense from the first rescaling on. If Z has more than 2,048 columns or 2^28 entries,
    there is no rescaling, and the search is the plain perceptron.

    Parameters
    ----------
    Z : array or sparse matrix of shape (n, m)
        Finite numbers. Rows and columns are scaled by powers of two beforehand.
    max_rescalings : int, default=100
        The maximum number of rescalings, 0 or more.
    max_updates_per_phase : int, default=None
        The maximum number of updates before the next rescaling. None means m^2 / 4, but at least 4 m.
    seed : int, default=0
        Seed of the random row orders. Pass number p over the rows uses the order ``visiting_order(n, seed, p)``.
    on_phase : callable, default=None
        Called after each phase, that is, before each rescaling and at the end. Its arguments are the number of
        rescalings so far, the number of updates so far, and the smallest number of nonpositive entries of ``Z v`` so
        far.

    See Also
    --------
    RescaledPerceptron : The scikit-learn classifier that uses this search.

    Examples
    --------
    A planted margin of 1e-8, for which the plain perceptron may take 10^16 updates:

    >>> from rosenblatt.data import make_separable
    >>> X, y = make_separable(500, 10, margin=1e-8, random_state=0)
    >>> run = rescaled_perceptron(y[:, None] * X)
    >>> bool((y * (X @ run.v) > 0).all()), run.updates < 5000, run.wrong
    (True, True, 0)
    """
    Z = check_matrix(Z, "Z")
    n, m = Z.shape
    max_rescalings = check_integer("max_rescalings", max_rescalings, 0)
    limit = max(m * m // 4, FEWEST_UPDATES * m)
    if max_updates_per_phase is not None:
        limit = check_integer("max_updates_per_phase", max_updates_per_phase, 1)
    if m > MOST_COLUMNS or n * m > MOST_ENTRIES:
        max_rescalings = 0
    with np.errstate(all="ignore"):
        scaled, _, exponents = equilibrated(Z)
        search = _Search(Z, scaled, exponents, limit, seed)
        if m == 0 or not (squared_lengths(scaled) > 0).all():  # a row of zeros is never positive
            max_rescalings = -1
        for rescalings in range(max_rescalings + 1):
            found = search.phase()
            if on_phase is not None:
                on_phase(rescalings, search.updates, search.wrong)
            if found or rescalings == max_rescalings or not search.rescale():
                break
    return RescaledRun(search.updates, search.passes, search.rescalings, search.alpha, search.best, search.wrong)


class _Search:
    """The variables of one call of `rescaled_perceptron`, with the best weights found so far."""

    def __init__(self, Z: Matrix, scaled: Matrix, exponents: NDArray[np.int64], limit: int, seed: int) -> None:
        self.Z, self.scaled, self.exponents, self.limit, self.seed = Z, scaled, exponents, limit, seed
        n, m = Z.shape
        self.B: Floats | None = None  # the identity
        self.A = _unit_rows(scaled)
        self.counts = np.zeros(n, np.int64)  # updates of the last phase
        self.alpha = np.zeros(n, np.int64)
        self.updates = self.passes = self.rescalings = 0
        self.best, self.wrong = np.zeros(m), n

    def phase(self) -> bool:
        """Train the perceptron on A from zero weights; return whether the final weights solve Z v > 0.

        Training ends after a pass without mistakes or at the limit on updates.

        The final weights become ``best`` if fewer entries of Z v are nonpositive than in every earlier phase.
        """
        n, m = self.Z.shape
        options = RunOptions(max_iter=2**62, max_updates=self.limit, fit_intercept=False, random_state=self.seed)
        state, trace = LinearState.initial(options, 2, m), UpdateTrace()
        state.passes = self.passes
        batch = make_batch(self.A, np.ones(n, np.int32), np.array([0, 1]), None, None)
        outcome = TrainingRun(state, InMemory(batch), options, [trace]).run()
        self.counts = np.bincount(trace.updates().rows, minlength=n)
        self.passes = state.passes
        self.updates += int(state.counters["updates"][0])
        self.alpha += self.counts
        v = state.w[0] if self.B is None else self.B @ state.w[0]
        wrong = int(np.sum(~(self.scaled @ v > 0)))  # NaN counts as wrong
        v = _stretched(v, self.exponents)  # in the original coordinates
        if not np.isfinite(v).all():
            return False
        if wrong == 0 or outcome is Outcome.CLEAN_PASS:
            solved = least_score(self.Z, np.ones(n), v, 0.0) > 0
            wrong = 0 if solved else max(wrong, 1)
        if wrong < self.wrong:
            self.best, self.wrong = v, wrong
        return wrong == 0

    def rescale(self) -> bool:
        """Rescale with the update counts of the last phase; return whether this was possible.

        If B would be ill-conditioned, nothing is changed and the result is False.
        """
        m = self.Z.shape[1]
        used = np.flatnonzero(self.counts)
        A = dense_rows(self.A, used)
        share = self.counts[used] / self.counts.sum()
        S = np.eye(m) + STRETCH * m * (A.T * share) @ A
        if not np.isfinite(S).all():
            return False
        inverse = dtrtri(dpotrf(S, lower=1)[0], lower=1)[0]  # (not `scipy.linalg`, which starts threads)
        B = inverse.T if self.B is None else self.B @ inverse.T  # upper triangular
        B = B / np.max(np.abs(B))
        if not (np.isfinite(B).all() and dtrcon(B)[0] >= 1 / WORST_CONDITION):
            return False
        self.B = B
        self.A = _unit_rows(np.ascontiguousarray(self.scaled @ B))
        self.rescalings += 1
        return True


def _stretched(v: Floats, exponents: NDArray[np.int64]) -> Floats:
    """Return v in the original coordinates, scaled so that its largest entry lies between 1/2 and 1."""
    places = np.frexp(v)[1] - exponents
    top = np.max(places[v != 0], initial=np.iinfo(np.int64).min) if np.any(v) else 0
    return np.ldexp(v, np.clip(-exponents - top, -(2**30), 2**30))


def _unit_rows(A: Matrix) -> Matrix:
    """Return the matrix with each row scaled to norm 1."""
    lengths = np.sqrt(squared_lengths(A))
    if sp.issparse(A):
        data = A.data / np.repeat(lengths, np.diff(A.indptr))
        return sp.csr_array((data, A.indices, A.indptr), shape=A.shape)
    return A / lengths[:, None]
