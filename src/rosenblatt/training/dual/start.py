"""Set up a kernel perceptron from its options: its kernel, its device and its cache."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.training.dual.kernel_values import open_library
from rosenblatt.training.options import FUNCTION, SCALED, Kernel, KernelOptions


@dataclass(frozen=True)
class Computing:
    """The settings for computing kernel values: device, blocks, cache and limit on support rows.

    Support rows are the rows on which an update was made (support vectors).
    """

    device: str | None = None
    """A device of PyTorch, such as "cuda"; None for NumPy."""
    cache_bytes: int = 1_000_000_000
    """The size in bytes of the cache for kernel values of support rows, which later passes use again."""
    block: int | None = None
    """The number of rows in a block; None for the default of the device."""
    dtype: str = "float64"
    """The dtype of matrix products. Sums of products are always computed in float64."""
    namespace: str | None = None
    """The name of a module that implements the array API standard, to use in place of NumPy; None for NumPy."""
    max_support: int | None = None
    """The largest number of support rows of each classifier; None if there is no limit."""


def computing(options: KernelOptions) -> Computing:
    """Return a run's settings for computing kernel values; raise a ParameterError if the device is not available."""
    open_library(options.device)  # called for its error, which should come before the first rows
    asked = {"device": options.device, "cache_bytes": int(options.cache_size * 1e6), "max_support": options.max_support}
    return Computing(**(asked | dict(options.overrides)))


def kernel_of(options: KernelOptions) -> Kernel:
    """Return the kernel of a run. ``options.gamma`` must be a number if the kernel has a gamma, and else is ignored."""
    name, function = (FUNCTION, options.kernel) if callable(options.kernel) else (options.kernel, None)
    gamma = float(options.gamma) if name in SCALED else 1.0
    return Kernel(name, int(options.degree), gamma, float(options.coef0), function)
