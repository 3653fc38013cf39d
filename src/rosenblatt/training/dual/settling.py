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
from rosenblatt.training.dual.values import KernelValues
from rosenblatt.training.kernel import Kernel
from rosenblatt.training.rows import Matrix, pad_columns

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
    sign = _float_sign(kernel, np.array([float(factor) for factor in factors]), some, x)
    return exact_sign(kernel, factors, some, x if sp.issparse(x) else x[0]) if sign is None else sign


def _float_sign(kernel: Kernel, factors: Floats, rows: Matrix, x: Matrix) -> int | None:
    """Return the sign if float64 is enough to be certain of it."""
    values = KernelValues(kernel)
    if sp.issparse(rows) != sp.issparse(x) or rows.shape[1] != x.shape[1]:
        width = max(rows.shape[1], x.shape[1])
        rows, x = (pad_columns(sp.csr_array(part), width) for part in (rows, x))
    one, many = values.rows(_as_float(x)), values.rows(_as_float(rows))
    _, errors = values.doubt(many.lengths, float(one.lengths[0]), many.terms)
    found = values(many, one)[:, 0]
    sizes = np.abs(factors)
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(factors @ found)
        bound = float(sizes @ (errors + HALF_ULP * (len(sizes) + 8.0) * (np.abs(found) + errors))) * 1.1
    return (1 if total > 0 else -1) if abs(total) > bound + TINY else None


def _as_float(X: Matrix) -> Matrix:
    return X.astype(np.float64) if X.dtype != np.float64 else X


def exact_coefficients(members: Sequence[int], steps: Sequence[float]) -> dict[int, Any]:
    """Return the sum of the steps of each member, exactly: integers if all steps are, else fractions."""
    out: dict[int, Any] = {}
    whole = all(step == int(step) for step in steps)
    for member, step in zip(members, steps, strict=True):
        out[member] = out.get(member, 0) + (int(step) if whole else Fraction(step))
    return out
