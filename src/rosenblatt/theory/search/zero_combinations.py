"""Zero combinations: from weights that nearly add rows up to zero to a proof that exact ones exist.

The rows that matter are those of large weight. Their weights are corrected until the sum is zero as far as floats
tell. Elimination with pivots finds rows for a basis, and columns that depend on others: of these an exact multiple less
whole multiples of the others is taken, which leaves nothing, or what rounding has left in the data. Whatever comes
out is checked by `encloses_zero_combination`, from the data alone.
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

DEPENDENT = 1e-9  # pivots below this share of a column mark it as dependent on others
MOST_NUMBERS = 1 << 27  # of the dense matrix of the support
NOTHING = 1e-9  # factors of columns below this are rounding
FEW_COLUMNS = 24  # up to so many columns are tried exactly where a column is nearly a combination of them
NEAR = 1e-6  # how close to integers the factors have to be
_MULTIPLES = (1, 2, 3, 4, 6, 12, 60, 2520)
_FINEST = 1 << 64
_TURNS = 4

Rows = NDArray[np.intp]


def prove_zero_combination(
    X: Matrix, signs: Signs, bias: bool, rows: Rows, weights: Floats, shares: tuple[float, ...] = (1e-3, 1e-6, 0.0)
) -> Unsolvable | None:
    """Return a proof from the rows that nearly add up to zero with these weights, None where none is found.

    Rows of less weight than a share of the largest are left out, for each of the ``shares`` in turn.
    """
    for share in shares:
        heavy = weights > share * np.max(weights)
        found = _proof(X, signs, bias, rows[heavy], weights[heavy])
        if found is not None:
            return found
    return None


def _proof(X: Matrix, signs: Signs, bias: bool, rows: Rows, weights: Floats) -> Unsolvable | None:
    order = np.argsort(rows)
    rows, weights = rows[order], weights[order]
    Z, places = signed_rows(X[rows], signs[rows], bias)
    core, _ = presolve(Z)  # the others are in no sum that is zero
    if len(core) == 0:
        return None
    rows, weights = rows[core], weights[core]
    A, columns = drop_zero_columns(Z, core)
    if A.shape[0] * A.shape[1] > MOST_NUMBERS:
        return None
    reduction = _Reduction(A.toarray() if sp.issparse(A) else A, places[columns], columns)
    for _ in range(_TURNS):
        balanced = corrected(reduction.A, weights)
        if balanced is None:
            return None
        weights = balanced
        basis, rest = pivots(reduction.A, weights)
        if len(rest) == 0 or not reduction.reduce(basis, rest):
            break
    weights = weights / weights.sum()
    proof = Basis(tuple(basis.tolist()), tuple(reduction.steps))
    if not encloses_zero_combination(X, signs, rows, weights, bias, proof):
        return None
    return Unsolvable(rows, weights, None, proof)


class _Reduction:
    """The rows of a support, with columns that depend on others replaced by what is left of them.

    ``A`` has some ``columns`` of the data as floats. Column j times ``1 / units[j]`` is that of the data, after the
    ``steps``.
    """

    def __init__(self, A: Floats, places: NDArray[np.int64], columns: Rows) -> None:
        self.A, self.columns = A, columns.tolist()
        self.units = [Fraction(2) ** -int(place) for place in places]
        self.whole: dict[int, tuple[Numbers, int]] = {}  # replaced columns of A: integers, in units of 2**place
        self.steps: list[ColumnStep] = []

    def reduce(self, basis: Rows, rest: Rows) -> bool:
        """Replace the columns ``rest``, which depend on others as far as floats tell; return whether any was."""
        kept = np.setdiff1d(np.flatnonzero(self.A.any(axis=0)), rest)
        try:
            C = np.linalg.solve(self.A[np.ix_(basis, kept)], self.A[np.ix_(basis, rest)])
        except np.linalg.LinAlgError:
            return False
        for j, c in zip(rest.tolist(), C.T, strict=True):
            c[np.abs(c) < NOTHING] = 0.0
            if not np.isfinite(c).all():
                return False
            near = (L for L in _MULTIPLES if np.max(np.abs(c * L - np.rint(c * L)), initial=0.0) < NEAR)
            L = next(near, _FINEST)
            factors = {int(kept[i]): round(Fraction(c[i]) * L) for i in np.flatnonzero(c).tolist()}
            rest_of_column = self._combined(j, L, factors)
            if rest_of_column[0].any() and (exact := self._exact_factors(j, list(factors), basis)) is not None:
                L, factors = exact
                rest_of_column = self._combined(j, L, factors)
            self._replace(j, L, factors, *rest_of_column)
        return True

    def _exact_factors(self, j: int, columns: list[int], basis: Rows) -> tuple[int, dict[int, int]] | None:
        """Return integers under which column j is a combination of some others, if it is one exactly."""
        if not 0 < len(columns) <= FEW_COLUMNS:
            return None
        swaps = sl.lapack.dgetrf(self.A[basis][:, columns])[1]
        rows = basis[_in_pivot_order(swaps, len(basis))[: len(columns)]]  # on which these columns are independent
        whole = [self._exact(i) for i in (*columns, j)]
        lowest = min(place for _, place in whole)
        lines = [[values[i] << (place - lowest) for values, place in whole] for i in rows]
        spanning = null_space(lines)
        if len(spanning) != 1 or spanning[0][-1] == 0:
            return None
        *factors, times = spanning[0]
        found = times, {i: -factor for i, factor in zip(columns, factors, strict=True) if factor}
        return None if self._combined(j, *found)[0].any() else found

    def _combined(self, j: int, times: int, factors: dict[int, int]) -> tuple[Numbers, int]:
        """Return ``times`` column j less ``factors`` times other columns, as integers and their place."""
        others = [(-factor, *self._exact(i)) for i, factor in factors.items()]
        return linear_combination([(times, *self._exact(j)), *others])

    def _replace(self, j: int, times: int, factors: dict[int, int], column: Numbers, place: int) -> None:
        """Put what is left in the place of column j."""
        shares = [times * self.units[j], *(factor * self.units[i] for i, factor in factors.items())]
        whole = proportional_integers(shares)
        names = tuple(self.columns[i] for i in factors)
        self.steps.append(ColumnStep(self.columns[j], whole[0], names, tuple(whole[1:])))
        bits = max(abs(value) for value in column).bit_length()
        self.A = self.A.copy() if not self.whole else self.A
        self.A[:, j] = proportional_floats(column.tolist())
        self.whole[j] = column, -bits
        self.units[j] = Fraction(2) ** -(bits + place) * shares[0] / whole[0]

    def _exact(self, j: int) -> tuple[Numbers, int]:
        return self.whole[j] if j in self.whole else as_integers(self.A[:, j])


def pivots(A: Floats, weights: Floats) -> tuple[Rows, Rows]:
    """Return rows for a basis, and the columns that depend on others on these rows, as far as floats tell.

    By Gaussian elimination of the rows times their weights, so that heavy rows are preferred. Columns of zeros do not
    count.
    """
    used = np.flatnonzero(A.any(axis=0))
    if len(used) == 0:
        return used, used
    heavy = np.argsort(-weights, kind="stable")
    for top in (np.sort(heavy[: 2 * len(used)]), np.arange(len(A))):  # few rows mostly do
        kept = used
        while True:
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
    """Return ``count`` numbers after the swaps of an elimination: its pivots first."""
    order = np.arange(count)
    for i, k in enumerate(swaps.tolist()):
        order[[i, k]] = order[[k, i]]
    return order


def corrected(A: Floats, weights: Floats) -> Floats | None:
    """Return positive weights nearby under which the rows add up to zero as far as floats tell, or None.

    Each round changes the weights a as little as possible, relative to their size, by the least c for which
    A' (a (1 - c)) = 0.
    """
    if np.all(np.abs(weights @ A) <= 1e-12 * (weights @ np.abs(A))):
        return weights
    worst = np.inf
    for turn in range(10):
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
        if worst < 1e-6 and (worst < 1e-12 or worst > 0.5 * before):
            return weights
        if turn >= 2 and worst > 0.9 * before:
            return None
    return None
