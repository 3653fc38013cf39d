"""Zero combinations: turn approximate weights into a proof that a weighted sum of rows is exactly zero.

Input: rows z_i and floats w_i > 0 with sum w_i z_i close to zero. Output: weights, a basis and column steps that
`encloses_zero_combination` accepts. A is the matrix of the rows z_i. The construction has four parts:

1. Keep the rows of large weight, and presolve them.
2. Project the weights onto the solutions of A' w = 0, up to rounding (`corrected_weights`).
3. Choose basis rows by Gaussian elimination with pivoting, which also finds dependent columns (`choose_basis`).
4. Replace each dependent column a_j of A by an integer combination L a_j - sum_i f_i a_i (`_Reduction`), computed
   exactly. The result is zero, or a small remainder due to rounding in the data. A remainder is treated as a new
   column.

Parts 2 to 4 are repeated, because a remainder may be independent of the other columns, or again depend on them up to
rounding. This search need not be trusted, because the proof is checked from the data alone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.theory.enclosures import Basis, ColumnStep, encloses_zero_combination
from rosenblatt.theory.exact import (
    as_integers,
    linear_combination,
    null_space,
    proportional_floats,
    proportional_integers,
)
from rosenblatt.theory.inputs import Floats, Matrix, Numbers, Signs
from rosenblatt.theory.search.presolve import Unsolvable, drop_zero_columns, presolve, signed_rows

DEPENDENT = 1e-9  # a smaller pivot, relative to the largest entry of its column, marks a dependent column
MOST_NUMBERS = 1 << 27  # the largest number of entries of the dense matrix of the support
NEGLIGIBLE = 1e-9  # smaller factors of columns are treated as rounding errors
FEW_COLUMNS = 24  # up to this number of columns an exact combination is computed in integers
NEAR = 1e-6  # the largest distance of L c from integers, for factors c of columns
_MULTIPLES = (1, 2, 3, 4, 6, 12, 60, 2520)  # candidates for L: least common multiples, the last one of 1 to 10
_FINEST = 1 << 64  # L if no multiple fits: the factors are then rounded to 64 bits, which leaves a remainder
_ROUNDS = 4  # the largest number of reductions; data that were rounded once need one or two

Rows = NDArray[np.intp]


def prove_zero_combination(
    X: Matrix,
    signs: Signs,
    bias: bool,
    rows: Rows,
    weights: Floats,
    shares: tuple[float, ...] = (1e-3, 1e-6, 0.0),
    centres: Floats | None = None,
) -> Unsolvable | None:
    """Return a proof that exact weights near ``weights`` make the weighted sum of ``rows`` zero, or None.

    There is one attempt for each number in ``shares``. It leaves out the rows whose weight is at most this share of the
    largest weight. ``centres`` contains a number for each column that is subtracted first, which requires a bias. These
    subtractions become elimination steps of the proof.
    """
    for share in shares:
        heavy = weights > share * np.max(weights)
        found = _proof(X, signs, bias, rows[heavy], weights[heavy], centres)
        if found is not None:
            return found
    return None


def _proof(
    X: Matrix, signs: Signs, bias: bool, rows: Rows, weights: Floats, centres: Floats | None
) -> Unsolvable | None:
    order = np.argsort(rows)
    rows, weights = rows[order], weights[order]
    Z, exponents = signed_rows(X[rows], signs[rows], bias)
    shifted = Z if centres is None else signed_rows(X[rows] - centres, signs[rows], bias)[0]
    core, _ = presolve(shifted)  # all other rows have weight zero in every zero combination
    if len(core) == 0:
        return None
    rows, weights = rows[core], weights[core]
    A, columns = drop_zero_columns(Z, core)
    if A.shape[0] * A.shape[1] > MOST_NUMBERS:
        return None
    reduction = _Reduction(A.toarray() if sp.issparse(A) else A, exponents[columns], columns)
    if centres is not None:
        reduction.subtract(np.ldexp(centres, -exponents[:-1])[columns[columns < len(centres)]])
    for _ in range(_ROUNDS):
        projected = corrected_weights(reduction.A, weights)
        if projected is None:
            return None
        weights = projected
        basis, rest = choose_basis(reduction.A, weights)
        if len(rest) == 0 or not reduction.reduce(basis, rest):
            break
    weights = weights / weights.sum()
    proof = Basis(tuple(basis.tolist()), tuple(reduction.steps))
    if not encloses_zero_combination(X, signs, rows, weights, bias, proof):
        return None
    return Unsolvable(rows, weights, None, proof)


class _Reduction:
    """The matrix of the support rows, with dependent columns replaced by exact remainders.

    Let a_i be column i of ``A``. A step replaces column j by L a_j - sum_i f_i a_i, with integers L != 0 and f_i. The
    step is invertible, so it does not change which weights w have A' w = 0.

    Invariant: let D be the matrix of the signed data after ``steps``. Then column j of ``A`` is ``units[j]`` times
    column ``columns[j]`` of D. This is exact for columns that were never replaced. Each entry of a replaced column is
    rounded once, and ``exact`` has the exact integers. ``units`` is needed because the columns of ``A`` are scaled to
    entries of at most 1 in absolute value, while ``steps`` refer to the unscaled data. With units u and columns d of D,
    a combination of columns of ``A`` is L u_j d_j - sum_i f_i u_i d_i. Its coefficients are converted to integers
    proportional to L u_j and f_i u_i.
    """

    def __init__(self, A: Floats, exponents: NDArray[np.int64], columns: Rows) -> None:
        self.A, self.columns = A, columns.tolist()
        self.units = [Fraction(2) ** -int(exponent) for exponent in exponents]
        self.exact: dict[int, tuple[Numbers, int]] = {}  # replaced columns of A: integers, in units of 2**exponent
        self.steps: list[ColumnStep] = []

    def subtract(self, centres: Floats) -> None:
        """Replace each column a_j but the last (the bias) by a_j - centres[j] a_bias, exactly."""
        for j in np.flatnonzero(centres).tolist():
            factor, times = Fraction(centres[j]).as_integer_ratio()
            self._replace(
                j, times, {self.A.shape[1] - 1: factor}, *self._combined(j, times, {self.A.shape[1] - 1: factor})
            )

    def reduce(self, basis: Rows, rest: Rows) -> bool:
        """Replace the columns ``rest``, which depend on other columns up to rounding; return whether this was possible.

        A_rest contains the columns ``rest``, and A_kept the other nonzero columns. The matrix C solves
        A_kept C = A_rest on the ``basis`` rows. If all entries c_i of a column of C are close to multiples of 1 / L for
        a small integer L, the factors are the integers nearest to L c_i. Otherwise the entries c_i are rounded to 64
        bits. If this leaves a remainder, an exact combination of the same columns is tried.
        """
        kept = np.setdiff1d(np.flatnonzero(self.A.any(axis=0)), rest)
        try:
            C = np.linalg.solve(self.A[np.ix_(basis, kept)], self.A[np.ix_(basis, rest)])
        except np.linalg.LinAlgError:
            return False
        for j, c in zip(rest.tolist(), C.T, strict=True):
            c[np.abs(c) < NEGLIGIBLE] = 0.0
            if not np.isfinite(c).all():
                return False
            near = (L for L in _MULTIPLES if np.max(np.abs(c * L - np.rint(c * L)), initial=0.0) < NEAR)
            L = next(near, _FINEST)
            factors = {int(kept[i]): round(Fraction(c[i]) * L) for i in np.flatnonzero(c).tolist()}
            remainder = self._combined(j, L, factors)
            if remainder[0].any() and (exact := self._exact_factors(j, list(factors), basis)) is not None:
                L, factors = exact
                remainder = self._combined(j, L, factors)
            self._replace(j, L, factors, *remainder)
        return True

    def _exact_factors(self, j: int, columns: list[int], basis: Rows) -> tuple[int, dict[int, int]] | None:
        """Return integers L and f_i with L a_j = sum_i f_i a_i for the given columns i, or None if there are none.

        The null space of the columns i and j is computed on rows on which the columns i are independent. The result is
        tested on all rows.
        """
        if not 0 < len(columns) <= FEW_COLUMNS:
            return None
        swaps = sl.lapack.dgetrf(self.A[basis][:, columns])[1]
        rows = basis[_in_pivot_order(swaps, len(basis))[: len(columns)]]
        integers = [self._exact_column(i) for i in (*columns, j)]
        lowest = min(exponent for _, exponent in integers)
        lines = [[values[i] << (exponent - lowest) for values, exponent in integers] for i in rows]
        null_vectors = null_space(lines)
        if len(null_vectors) != 1 or null_vectors[0][-1] == 0:
            return None
        *factors, times = null_vectors[0]
        found = times, {i: -factor for i, factor in zip(columns, factors, strict=True) if factor}
        return None if self._combined(j, *found)[0].any() else found

    def _combined(self, j: int, times: int, factors: dict[int, int]) -> tuple[Numbers, int]:
        """Return ``times`` a_j - sum of factors[i] a_i, as integers in units of 2**exponent, and the exponent."""
        others = [(-factor, *self._exact_column(i)) for i, factor in factors.items()]
        return linear_combination([(times, *self._exact_column(j)), *others])

    def _replace(self, j: int, times: int, factors: dict[int, int], column: Numbers, exponent: int) -> None:
        """Replace column j by ``column``, its remainder in units of 2**exponent, and record the step."""
        in_data = [times * self.units[j], *(factor * self.units[i] for i, factor in factors.items())]
        integers = proportional_integers(in_data)
        names = tuple(self.columns[i] for i in factors)
        self.steps.append(ColumnStep(self.columns[j], integers[0], names, tuple(integers[1:])))
        bits = max(abs(value) for value in column).bit_length()
        self.A = self.A.copy() if not self.exact else self.A  # the caller's matrix is not changed
        self.A[:, j] = proportional_floats(column.tolist())  # column / 2**bits, so the largest entry is about 1
        self.exact[j] = column, -bits
        # the remainder is in_data[0] / integers[0] times the new column of D, and the column of A is 2**-(bits +
        # exponent) times the remainder
        self.units[j] = Fraction(2) ** -(bits + exponent) * in_data[0] / integers[0]

    def _exact_column(self, j: int) -> tuple[Numbers, int]:
        return self.exact[j] if j in self.exact else as_integers(self.A[:, j])


def choose_basis(A: Floats, weights: Floats) -> tuple[Rows, Rows]:
    """Return the pair (basis, rest): the basis rows, and the columns that depend on other columns up to rounding.

    The method is Gaussian elimination with partial pivoting on the rows times their weights. It prefers rows of large
    weight, because large weights remain positive within the enclosure. Columns of zeros are ignored.

    Columns are scaled such that the largest absolute value is 1. A pivot measures the part of a column outside the span
    of the columns before it, on the rows without a pivot yet.
    """
    used = np.flatnonzero(A.any(axis=0))
    if len(used) == 0:
        return used, used
    heavy = np.argsort(-weights, kind="stable")
    for top in (np.sort(heavy[: 2 * len(used)]), np.arange(len(A))):  # first the heaviest rows, then all
        kept = used
        while True:  # drop columns with small pivots, or beyond the number of rows, until all pivots are large
            W = A[np.ix_(top, kept)] * weights[top, None]
            W /= np.maximum(np.max(np.abs(W), axis=0), 1e-300)
            size = min(W.shape)
            factors, swaps, _ = sl.lapack.dgetrf(W, overwrite_a=1)
            good = np.abs(factors.diagonal()) > DEPENDENT
            if good.all() and size == len(kept):
                break
            kept = kept[:size][good]
        if len(kept) == len(used):
            break
    return top[_in_pivot_order(swaps, len(top))[:size]], np.setdiff1d(used, kept)


def _in_pivot_order(swaps: NDArray[np.int32], count: int) -> Rows:
    """Apply the row swaps of an LU factorisation to 0, 1, ... ``count`` - 1, so that the pivot rows come first."""
    order = np.arange(count)
    for i, k in enumerate(swaps.tolist()):
        order[[i, k]] = order[[k, i]]
    return order


def corrected_weights(A: Floats, weights: Floats) -> Floats | None:
    """Return positive weights near ``weights`` that make the weighted sum of the rows zero up to rounding, or None.

    Let w be the weights. Each round replaces w by w (1 - c), elementwise, with the smallest |c| for which
    A' (w (1 - c)) = 0. This is a projection in the metric of relative changes, as in affine scaling, so small weights
    change little. Let P be diag(w) A with columns scaled to norm 1, and let 1 also denote the vector of ones. Then
    c = P (P' P)^-1 P' 1, computed as (P P')^-1 P P' 1 if there are fewer rows than columns. A ridge of 1e-13 handles
    dependent columns. Factors 1 - c are clipped to the interval from 0.1 to 10, so that weights stay positive. The next
    round corrects the effect. The result is None if |c| does not decrease, because zero may then be the only solution.
    """
    if np.all(np.abs(weights @ A) <= 1e-12 * (weights @ np.abs(A))):
        return weights
    worst = np.inf
    for step in range(10):
        part = A * weights[:, None]
        lengths = np.sqrt(np.einsum("ij,ij->j", part, part))
        part /= np.where(lengths > 0, lengths, 1.0)
        few_rows = len(A) < A.shape[1]
        G = part @ part.T if few_rows else part.T @ part
        right = G.sum(axis=0) if few_rows else part.sum(axis=0)
        G.flat[:: len(G) + 1] += 1e-13
        factor, info = sl.lapack.dpotrf(G, lower=1, overwrite_a=1)
        if info:
            return None
        change = sl.lapack.dpotrs(factor, right, lower=1)[0]
        change = change if few_rows else part @ change
        before, worst = worst, float(np.max(np.abs(change)))
        weights = weights * np.clip(1.0 - change, 0.1, 10.0)
        if worst < 1e-6 and (worst < 1e-12 or worst > 0.5 * before):  # converged, or stalled at rounding
            return weights
        if step >= 2 and worst > 0.9 * before:
            return None
    return None
