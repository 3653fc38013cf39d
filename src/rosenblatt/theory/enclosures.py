"""Enclosures: proofs that a weighted sum of rows is zero for some exact positive weights near given floats.

The exact weights are rational numbers too long to write down. So a certificate lists basis rows instead. They are some
of the rows of nonzero weight (the support), and their number is the rank of the support. The weights of all other rows
are exactly the stored floats ``alpha``. The weights of the basis rows then solve a square linear system. Krawczyk's
test, as in Rump's INTLAB, encloses the solution of this system:

- Let Z be the matrix of the support rows. Let B be the transposed matrix of the basis rows, which is square, and R an
  approximate inverse of B.
- If q = |I - R B|_inf < 1, then B is nonsingular, since R B = I - E with |E| < 1 is invertible by the Neumann series.
- The residual of ``alpha`` is r = Z' alpha. The basis weights must change by d with B d = -r, so R B d = -R r and
  d = -R r + E d. Hence |d|_inf <= |R r|_inf / (1 - q), and componentwise |d| <= |R| |r| + q |d|_inf.
- If this bound is below ``alpha`` in every basis row, the exact weights are positive.

B would be singular if a column were zero on the support, or depended linearly on other columns, exactly or up to
rounding. So elimination steps come first. A step replaces a column by an integer multiple of itself minus integer
multiples of other columns. The steps are exact and invertible, so the weights with Z' alpha = 0 stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.rounding import HALF_ULP, TINY
from rosenblatt.theory.exact import as_integers, linear_combination, product_with_integers, proportional_floats
from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs, as_float

NEARNESS = 1e-6  # the largest allowed difference between exact and stored weights, relative to the largest weight
# Limits on the work of a check, so that no forged certificate can make it slow; soundness does not depend on them. Both
# are guesses. The search makes a step for each dependent column, with a factor for each column that it depends on. If
# it exceeds a limit, there is no proof by enclosure, and exact weights are tried.
MOST_FACTORS = 32  # limit on the number of columns used in all steps together, per column of the data
MOST_BITS = 1 << 12  # limit on the bits of a factor in a step, and of an entry of the resulting column


class ColumnStep(NamedTuple):
    """An elimination step, which replaces a column by an integer combination of columns.

    The column with index ``column`` is multiplied by ``times``. For each k, ``factors[k]`` times column ``columns[k]``
    is then subtracted from it.
    """

    column: int
    times: int
    columns: tuple[int, ...]
    factors: tuple[int, ...]

    def is_sound(self, width: int) -> bool:
        """Return whether the step is invertible, all column indices are below ``width`` and no integer is too long."""
        used = {self.column, *self.columns}
        return (
            self.times != 0
            and len(used) == 1 + len(self.columns)
            and len(self.columns) == len(self.factors)
            and 0 <= min(used) <= max(used) < width
            and max(map(abs, (self.times, *self.factors))).bit_length() <= MOST_BITS
        )


@dataclass(frozen=True)
class Basis:
    """The basis of an enclosure: the elimination ``steps``, and the basis rows as indices into the support."""

    rows: tuple[int, ...]
    steps: tuple[ColumnStep, ...] = ()

    def is_sound(self, height: int, width: int) -> bool:
        """Return whether rows and steps are valid for a ``height`` x ``width`` matrix, and cheap enough to check."""
        return (
            len(set(self.rows)) == len(self.rows)
            and all(0 <= row < height for row in self.rows)
            and sum(1 + len(step.columns) for step in self.steps) <= MOST_FACTORS * width
            and all(step.is_sound(width) for step in self.steps)
        )


def encloses_zero_combination(
    X: Matrix, signs: Signs, rows: NDArray[np.intp], alpha: Floats, bias: bool, basis: Basis | None = None
) -> bool:
    """Return whether an enclosure proves that exact positive weights near ``alpha`` make the weighted row sum zero.

    ``rows`` are row indices, and ``alpha`` contains the weights of these rows. A row is z = y (x, 1), or z = y x if
    ``bias`` is false. After the elimination steps of ``basis``, the number of nonzero columns must equal the number of
    basis rows, so that the matrix B is square. The exact weights must be positive, and may differ from ``alpha`` by at
    most 1e-6 times its largest entry. All rounding errors are bounded.

    If ``basis`` is None, there are no steps, and the basis consists of all rows except the row of largest weight.
    """
    if len(rows) == 0 or not (alpha > 0).all():
        return False
    if basis is None:
        basis = Basis(tuple(np.delete(np.arange(len(rows)), np.argmax(alpha)).tolist()))
    if not basis.is_sound(len(rows), X.shape[1] + bias):
        return False
    Z, steps = _support_rows(X, signs, rows, bias, basis.steps)
    A = _reduced(Z, steps)
    if A is None or A.shape[1] != len(basis.rows):
        return False
    return len(basis.rows) == 0 or _basis_is_positive(A, alpha, np.array(basis.rows))


def _support_rows(
    X: Matrix, signs: Signs, rows: NDArray[np.intp], bias: bool, steps: Sequence[ColumnStep]
) -> tuple[Floats, list[ColumnStep]]:
    """Return the matrix of the given rows z without unused columns, and the steps with renumbered columns.

    A column is unused if it is zero in all these rows and occurs in no step.
    """
    part = X[rows]
    used = np.unique(part.indices) if sp.issparse(part) else np.flatnonzero(part.any(axis=0))
    named = [j for step in steps for j in (step.column, *step.columns) if j < X.shape[1]]
    used = np.union1d(used, np.array(named, dtype=np.intp)).astype(np.intp)
    Z = (part[:, used].toarray() if sp.issparse(part) else part[:, used]) * signs[rows][:, None]
    number = {j: k for k, j in enumerate([*used.tolist(), X.shape[1]])}
    renumbered = [
        step._replace(column=number[step.column], columns=tuple(number[j] for j in step.columns)) for step in steps
    ]
    return (np.column_stack([Z, signs[rows]]) if bias else Z), renumbered


def _basis_is_positive(A: _Columns, alpha: Floats, basis: NDArray[np.intp]) -> bool:
    """Return whether Krawczyk's test proves that the basis rows have exact positive weights near ``alpha``."""
    size = len(basis)
    B = A.near[basis].T
    try:
        R = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return False
    # |fl(R B) - R B| <= g |R| |B| with g = gamma_(size + 4) (Higham 2002, section 3.1). A.rounding bounds the relative
    # error of replaced columns, and ``lost`` bounds the underflow in products and in the scaling of columns. The
    # factors 1.01 cover the rounding errors of the subtraction in I - fl(R B), which are relative to its result, and of
    # the bounds themselves.
    #
    # A.rounding and ``lost`` make each error visible, but the proof would hold without them, because g has 4 units more
    # than the ``size`` that the sums need. One of them covers A.rounding, whose columns are off by one unit u. Entries
    # of B lose at most 2**-1075 to underflow, so less than g TINY. Products lose at most size 2**-1075 for each entry
    # of R B; this is far below a unit of |R| |B|, which is at least 1 - q on the diagonal, and only row sums are used.
    # The terms g |R| |B|, q and ``underflow`` are each decisive for a data set in tests/theory/test_soundness.py.
    g = (size + 4) * HALF_ULP * 1.01
    with np.errstate(all="ignore"):
        magnitude = np.abs(R) @ (np.abs(B) + TINY)
        lost = TINY * (1.0 + size * np.abs(R).sum(axis=1))
        off = np.abs(np.eye(size) - R @ B) + (g + A.rounding) * magnitude + lost[:, None]
        q = float(np.max(np.sum(off, axis=1))) * 1.01
        if not q < 0.5:  # q < 1 is enough for the proof; below 0.5 the factor q / (1 - q) of the error is below 1
            return False
        underflow = TINY * (len(alpha) + float(np.sum(alpha)))  # bounds the underflow of products and of scaled entries
        for residual in (A.residual_bound, A.exact_residual):  # the cheap bound first, then exact sums
            # delta = |R| |r|, and then |R| |r| + q |d|_inf with |d|_inf <= max(delta) / (1 - q). The second term is
            # needed because R is not the exact inverse: |R| |r| alone may be too small by a factor of 1 - q.
            delta = np.abs(R) @ (residual(alpha) + underflow) * 1.01
            delta = delta + TINY + 1.01 * q / (1 - q) * np.max(delta)
            if (alpha[basis] > delta).all() and np.max(delta) <= NEARNESS * np.max(alpha):
                return True
    return False


class _Columns:
    """The columns that are nonzero after the elimination steps.

    ``near`` contains the columns as floats, scaled by powers of two. ``exact`` maps the index of each column that a
    step replaced to its integers, which are rounded in ``near``. A column is an equation for the weights, so scaling it
    changes no solution.
    """

    def __init__(self, near: Floats, exact: dict[int, Numbers]) -> None:
        self.near, self.exact, self.shape = near, exact, near.shape
        self.rounding = 2 * HALF_ULP if exact else 0.0  # each entry of a replaced column is rounded once, by u

    def residual_bound(self, alpha: Floats) -> Floats:
        """Return an upper bound on ``|A' alpha|``, computed in floating point. The bound ignores underflow.

        The rounding error of a sum of n terms is at most gamma_n times ``alpha . |A|``, even after cancellation. If any
        column was replaced by a step, ``rounding`` is added to gamma_n.
        """
        g = (len(alpha) + 6) * HALF_ULP * 1.01 + self.rounding
        return np.abs(alpha @ self.near) + 1.01 * g * (alpha @ np.abs(self.near))

    def exact_residual(self, alpha: Floats) -> Floats:
        """Return ``|A' alpha|``, computed exactly and rounded up.

        Rounding to nearest would also be safe, because of the factor 1.01 and the underflow bound in Krawczyk's test.
        """
        weights, exponent = as_integers(alpha)
        sums, more = product_with_integers(self.near.T, weights)
        values = [Fraction(abs(total), 1 << -(exponent + more)) for total in sums]
        for j, column in self.exact.items():
            bits = max(abs(value) for value in column).bit_length()
            values[j] = Fraction(abs(int(column @ weights)), 1 << (bits - exponent))
        return np.nextafter(np.array([as_float(value) for value in values]), np.inf)


def _reduced(Z: Floats, steps: Sequence[ColumnStep]) -> _Columns | None:
    """Apply the steps and return the nonzero columns, or None if an integer has more than MOST_BITS bits."""
    replaced: dict[int, tuple[Numbers, int]] = {}  # integers, in units of 2**exponent

    def exact_column(j: int) -> tuple[Numbers, int]:
        return replaced[j] if j in replaced else as_integers(Z[:, j])

    for step in steps:  # invariant: exact_column(j) is column j after the steps so far
        parts = [(step.times, *exact_column(step.column))]
        parts += [(-factor, *exact_column(j)) for j, factor in zip(step.columns, step.factors, strict=True)]
        replaced[step.column] = linear_combination(parts)
        if max((abs(value) for value in replaced[step.column][0]), default=0).bit_length() > MOST_BITS:
            return None
    near: list[Floats] = []
    exact = {}
    for j in range(Z.shape[1]):  # ``near``: the nonzero columns before j, divided by powers of two
        if j in replaced:
            column, _ = replaced[j]
            if not column.any():
                continue
            floats = np.array(proportional_floats(column.tolist()))
            exact[len(near)] = column
        else:
            floats = Z[:, j]
            largest = float(np.max(np.abs(floats), initial=0.0))
            if largest == 0:
                continue
            with np.errstate(under="ignore"):
                floats = np.ldexp(floats, -np.frexp(largest)[1])
        near.append(floats)
    return _Columns(np.column_stack(near) if near else np.empty((len(Z), 0)), exact)
