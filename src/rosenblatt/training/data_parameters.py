"""Compute parameters whose values depend on the training rows: ``gamma`` of kernels and ``r`` of AROW.

Sums over the rows are exact, and each result is rounded once. So the result does not depend on the order of the rows,
on how they are divided into parts, or on whether they are stored as dense, CSR or float32 matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.exact import EXPONENTS, MOST_ENTRIES, PARTS, add_moments
from rosenblatt.messages import ParameterError, Setting
from rosenblatt.training.options import KernelOptions, RunOptions
from rosenblatt.training.rows import Matrix

_LOG10_2 = math.log10(2.0)
_R_PER_SQUARED_LENGTH = Fraction(3, 10)


def with_numbers(options: RunOptions, d: int, matrices: Callable[[], Iterable[Matrix]] | None) -> RunOptions:
    """Return options in which ``"scale"`` or ``"auto"`` is replaced by the number computed from the rows.

    ``matrices`` is a function that returns all rows, as an iterable of matrices. It is None if the rows cannot be read
    in advance; then a ParameterError is raised if they are needed. ``d`` is the number of features.
    """
    if not options.needs_data:
        return options
    name, compute = ("gamma", scale_gamma) if isinstance(options, KernelOptions) else ("r", scale_r)
    if getattr(options, name) == "auto":
        number = 1.0 / max(1, d)
    elif matrices is not None:
        number = compute(matrices(), d)
    else:
        raise ParameterError(
            "{given} depends on all rows, which are not known in advance here: pass {name} as a number.",
            given=Setting(name, "scale"),
            name=Setting(name),
        )
    changed: dict[str, Any] = {name: number}
    return replace(options, **changed)


def scale_gamma(matrices: Iterable[Matrix], d: int) -> float:
    """Return the value of ``gamma="scale"``: 1 / (d * variance of all entries), or 1.0 if that variance is 0.

    Parameters
    ----------
    matrices
        All rows, as dense matrices or as CSR matrices without duplicate entries. All values are finite. A matrix with
        fewer than ``d`` columns counts as if its missing columns were 0.
    d
        The number of features.

    Returns
    -------
    float
        A finite number above 0. If the result overflows or underflows, a ParameterError is raised.

    Examples
    --------
    >>> scale_gamma([np.array([[0.0, 1.0], [0.0, 3.0]])], 2)
    0.3333333333333333
    """
    rows, total, squares = _sums(matrices)
    count = rows * d
    spread = (count * squares - total * total) * d  # count**2 times d times the variance, in units of 2**-2148
    if spread == 0:
        return 1.0
    return _rounded(Fraction(count * count << 2148, spread), "gamma", "1 / (features * variance)")


def scale_r(matrices: Iterable[Matrix], d: int) -> float:
    """Return the value of ``r="scale"``: 0.3 times the mean squared norm of the rows, or 1.0 if all rows are 0.

    The constant feature 1 of the bias is not included in the norm. Parameters and errors are those of `scale_gamma`.

    >>> scale_r([np.array([[0.0, 1.0], [0.0, 3.0]])], 2)
    1.5
    """
    rows, _, squares = _sums(matrices)
    if squares == 0:
        return 1.0
    return _rounded(_R_PER_SQUARED_LENGTH * Fraction(squares, rows << 2148), "r", "0.3 * mean squared length")


def _rounded(value: Fraction, name: str, meaning: str) -> float:
    """Return a fraction above 0 as a float; raise a ParameterError if it overflows or underflows."""
    try:
        rounded = float(value)
    except OverflowError:
        rounded = math.inf
    if rounded == 0.0 or math.isinf(rounded):
        digits = round((value.numerator.bit_length() - value.denominator.bit_length()) * _LOG10_2)
        raise ParameterError(
            "{given} means {meaning}, which is near 1e{digits:+d} for these rows and out of range for float64. Scale "
            "the features, or give {name} as a number.",
            given=Setting(name, "scale"),
            meaning=meaning,
            digits=digits,
            name=Setting(name),
        )
    return rounded


def _sums(matrices: Iterable[Matrix]) -> tuple[int, int, int]:
    """Return the number of rows, the sum of all entries, and the sum of their squares, as integers.

    The sum is in units of 2**-1074, and the sum of squares in units of 2**-2148.
    """
    rows = total = squares = 0
    for X in matrices:
        rows += X.shape[0]
        for bits in _bit_blocks(X):
            sums = _moments(bits)
            total, squares = total + sums[0], squares + sums[1]
    return rows, total, squares


def _bit_blocks(X: Matrix) -> Iterator[NDArray[np.int64]]:
    """Yield arrays of the stored entries, in any order. Each float64 entry is reinterpreted as an int64."""
    values = X.data[: X.indptr[-1]] if sp.issparse(X) else np.asarray(X).ravel(order="K")
    for start in range(0, len(values), MOST_ENTRIES):
        bits = np.ascontiguousarray(values[start : start + MOST_ENTRIES], dtype=np.float64).view(np.int64)
        bits.flags.writeable = False  # read-only in every case, so that the kernel is compiled for one type only
        yield bits


def _moments(bits: NDArray[np.int64]) -> tuple[int, int]:
    """Return the sum of the entries in units of 2**-1074, and the sum of their squares in units of 2**-2148."""
    table = np.zeros((EXPONENTS, PARTS), np.int64)
    add_moments(table, bits)
    total = squares = 0
    # The sums of m = a 2**36 + b 2**18 + c and of m m over row e, whose units are 2**(e - 1075) and its square.
    for e in np.flatnonzero(table.any(axis=1)).tolist():
        a, b, c, aa, ab, acbb, bc, cc = table[e].tolist()
        total += ((a << 36) + (b << 18) + c) << (e - 1)
        squares += ((aa << 72) + (ab << 55) + (acbb << 36) + (bc << 19) + cc) << 2 * (e - 1)
    return total, squares
