"""Setup of a kernel perceptron: its kernel with all parameters as numbers, and where and how it computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.kernels.exact import EXPONENTS, MOST_ENTRIES, PARTS, add_moments
from rosenblatt.messages import ParameterError
from rosenblatt.training.dual.kernel_values import open_library
from rosenblatt.training.options import FUNCTION, Kernel, KernelOptions
from rosenblatt.training.rows import Matrix

# gamma="scale": the factor of dot products or distances, from the variance of the data.


_LOG10_2 = math.log10(2.0)


def scale_gamma(matrices: Iterable[Matrix], d: int) -> float:
    """Return the value of ``gamma="scale"``: 1 / (d * variance of all entries), or 1.0 if that variance is 0.

    Sums are exact and the result is rounded once. So equal numbers give the same result in dense, CSR and float32
    matrices, in any order and in any number of parts.

    Parameters
    ----------
    matrices
        The rows in parts: dense matrices, or CSR matrices without duplicates. All values are finite. Missing columns
        are 0.
    d
        The number of features.

    Returns
    -------
    float
        A finite number above 0. If the result is beyond the range of floats, a ParameterError is raised.

    Examples
    --------
    >>> scale_gamma([np.array([[0.0, 1.0], [0.0, 3.0]])], 2)
    0.3333333333333333
    """
    count = total = squares = 0  # in units of 1, 2**-1074 and 2**-2148
    for X in matrices:
        count += X.shape[0] * d
        for bits in _bit_blocks(X):
            sums = _moments(bits)
            total, squares = total + sums[0], squares + sums[1]
    spread = (count * squares - total * total) * d  # count**2 times d times the variance, in units of 2**-2148
    if spread == 0:
        return 1.0
    gamma = Fraction(count * count << 2148, spread)
    try:
        rounded = float(gamma)
    except OverflowError:
        rounded = math.inf
    if rounded == 0.0 or math.isinf(rounded):
        digits = round((gamma.numerator.bit_length() - gamma.denominator.bit_length()) * _LOG10_2)
        raise ParameterError(
            "{gamma='scale'} means 1 / (features * variance), which is near 1e{digits:+d} for these rows and out of "
            "range for float64. Scale the features, or give {gamma} as a number.",
            digits=digits,
        )
    return rounded


def _bit_blocks(X: Matrix) -> Iterator[NDArray[np.int64]]:
    """Yield the stored entries in some order, each as the int64 number with the same bits as the float64."""
    values = X.data[: X.indptr[-1]] if sp.issparse(X) else np.asarray(X).ravel(order="K")
    for start in range(0, len(values), MOST_ENTRIES):
        bits = np.ascontiguousarray(values[start : start + MOST_ENTRIES], dtype=np.float64).view(np.int64)
        bits.flags.writeable = False  # read-only in every case, so that the kernel is compiled for one type only
        yield bits


def _moments(bits: NDArray[np.int64]) -> tuple[int, int]:
    """Return the sum of the numbers in units of 2**-1074, and the sum of their squares in units of 2**-2148."""
    table = np.zeros((EXPONENTS, PARTS), np.int64)
    add_moments(table, bits)
    total = squares = 0
    # The sums of m = a 2**36 + b 2**18 + c and of m m over row e, whose units are 2**(e - 1075) and its square.
    for e in np.flatnonzero(table.any(axis=1)).tolist():
        a, b, c, aa, ab, acbb, bc, cc = table[e].tolist()
        total += ((a << 36) + (b << 18) + c) << (e - 1)
        squares += ((aa << 72) + (ab << 55) + (acbb << 36) + (bc << 19) + cc) << 2 * (e - 1)
    return total, squares


@dataclass(frozen=True)
class Computing:
    """The settings for computing kernel values: device, blocks, cache and limit on support rows."""

    device: str | None = None
    """A device of PyTorch, such as "cuda"; None for NumPy."""
    cache_bytes: int = 1_000_000_000
    """The memory for kernel values of support rows, which are cached for later passes."""
    block: int | None = None
    """The number of rows in a block; None for the default of the device."""
    dtype: str = "float64"
    """The type of the matrix products; sums are always in float64."""
    namespace: str | None = None
    """The name of a module of the array API standard to use in place of NumPy."""
    max_support: int | None = None
    """The largest number of support rows of each classifier; None for any number."""


def computing(options: KernelOptions) -> Computing:
    """Return a run's settings for computing kernel values; raise a ParameterError if the device is not available."""
    open_library(options.device)  # called for its error, which should come before the first rows
    asked = {"device": options.device, "cache_bytes": int(options.cache_size * 1e6), "max_support": options.max_support}
    return Computing(**(asked | dict(options.overrides)))


def resolve_kernel(options: KernelOptions, d: int, matrices: Callable[[], Iterable[Matrix]] | None) -> Kernel:
    """Return the kernel of a run; ``matrices`` returns all rows, for a ``gamma`` that depends on them."""
    gamma = options.gamma
    if callable(options.kernel) or options.kernel in ("linear", "precomputed"):
        gamma = 1.0
    elif gamma == "scale":
        if matrices is None:
            raise ParameterError(
                "{gamma='scale'} depends on all rows, which are not known in advance here: pass {gamma} as a number."
            )
        gamma = scale_gamma(matrices(), d)
    elif gamma == "auto":
        gamma = 1.0 / max(1, d)
    name, function = (FUNCTION, options.kernel) if callable(options.kernel) else (options.kernel, None)
    return Kernel(name, int(options.degree), float(gamma), float(options.coef0), function)
