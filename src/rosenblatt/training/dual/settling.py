"""Signs of sums of kernel values that a first, fast sum leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.rounding import HALF_ULP
from rosenblatt.training.dual.bounds import TINY
from rosenblatt.training.dual.exact_signs import exact_sign
from rosenblatt.training.dual.state import Floats
from rosenblatt.training.kernel import Kernel
from rosenblatt.training.rows import Matrix

Coefficients = Mapping[int, Fraction | int]
"""The factor of each row, by its place, exactly."""


def settled_sign(kernel: Kernel, coefficients: Coefficients, rows: Matrix, x: Matrix) -> int:
    """Return the sign of the sum of ``coefficients[j] * K(rows[j], x)``: -1, 0 or 1, exactly.

    ``x`` is a matrix of one row. First the sum is made in float64 with a bound for this row; if that leaves doubt,
    exactly.
    """
    places = [place for place, factor in coefficients.items() if factor]
    if not places:
        return 0
    factors = [coefficients[place] for place in places]
    some = rows[np.array(places)]
    try:
        sign = _float_sign(kernel, np.array([float(factor) for factor in factors]), some, x)
    except OverflowError:  # a factor beyond the floats
        sign = None
    return exact_sign(kernel, factors, some, x if sp.issparse(x) else x[0]) if sign is None else sign


def _float_sign(kernel: Kernel, factors: Floats, rows: Matrix, x: Matrix) -> int | None:
    """Return the sign if float64 is enough to be certain of it."""
    with np.errstate(all="ignore"):
        found, errors = _values_and_errors(kernel, rows, x)
        total = float(factors @ found)
        sizes = np.abs(factors)
        bound = float(sizes @ (errors + HALF_ULP * (len(sizes) + 8.0) * (np.abs(found) + errors))) * 1.1
    return (1 if total > 0 else -1) if abs(total) > bound + TINY else None


def _values_and_errors(kernel: Kernel, rows: Matrix, x: Matrix) -> tuple[Floats, Floats]:
    """Return kernel values between rows and ``x``, and bounds on their rounding errors; NaN where there are none."""
    d = min(rows.shape[1], x.shape[1])
    row = np.asarray(x[:, :d].toarray() if sp.issparse(x) else x[:, :d], np.float64)[0]
    some = rows[:, :d].astype(np.float64)
    terms = min(d, int(np.count_nonzero(row))) + 8.0
    if kernel.polynomial is not None:
        gamma, coef0, degree = kernel.polynomial
        dots = abs(some) @ abs(row)
        bases, sizes = gamma * (some @ row) + coef0, gamma * dots + abs(coef0)
        errors = 1.05 * HALF_ULP * degree * terms * sizes**degree
        apart = ((some != 0).astype(np.float64) @ (row != 0)) == 0 if not dots.all() else np.zeros(len(dots), bool)
        safe = (apart | (dots > 1e-280)) & (sizes > 1e-200) & (sizes**degree > 1e-250) & (sizes**degree < 1e250)
        return bases**degree, np.where(safe & (HALF_ULP * degree * terms < 0.05), errors, np.nan)
    if sp.issparse(some) or rows.shape[1] != x.shape[1]:
        return np.full(rows.shape[0], np.nan), np.full(rows.shape[0], np.nan)
    apart = some - row
    distances = np.einsum("ij,ij->i", apart, apart) if kernel.name == "rbf" else np.abs(apart).sum(axis=1)
    exponents = kernel.gamma * distances
    values = np.exp(-exponents)
    errors = values * (np.expm1(1.05 * HALF_ULP * (d + 8.0) * exponents) + 8.0 * HALF_ULP)
    errors = np.where(values > 1e-280, errors, 2e-280)
    return values, np.where((distances == 0.0) | (distances > 1e-280), errors, np.nan)


def exact_coefficients(members: Sequence[int], steps: Sequence[float]) -> dict[int, Any]:
    """Return the sum of the steps of each member, exactly: integers if all steps are, else fractions."""
    out: dict[int, Any] = {}
    whole = all(step == int(step) for step in steps)
    for member, step in zip(members, steps, strict=True):
        out[member] = out.get(member, 0) + (int(step) if whole else Fraction(step))
    return out
