"""Setup of a kernel perceptron: its kernel, and where and how it computes."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.training.dual.kernel_values import open_library
from rosenblatt.training.options import FUNCTION, SCALED, Kernel, KernelOptions


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


def kernel_of(options: KernelOptions) -> Kernel:
    """Return the kernel of a run. Its gamma is 1 if the kernel has none; otherwise ``gamma`` must be a number."""
    name, function = (FUNCTION, options.kernel) if callable(options.kernel) else (options.kernel, None)
    gamma = float(options.gamma) if name in SCALED else 1.0
    return Kernel(name, int(options.degree), gamma, float(options.coef0), function)
