"""Where arrays live: NumPy, or a library that follows the array API standard, such as PyTorch on a GPU."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import ParameterError, Setting

Array = Any
"""An array of whichever library is in use."""


@dataclass(frozen=True)
class ArrayLibrary:
    """A namespace of the array API standard and a device of it."""

    xp: Any
    device: Any = None
    """None for the default one of the library."""

    @property
    def is_numpy(self) -> bool:
        """Whether arrays are those of NumPy."""
        return self.xp is np

    @property
    def scatters(self) -> bool:
        """Whether rows of an array can be set by their numbers, which the standard leaves out."""
        return self.is_numpy or self.xp.__name__ == "array_api_compat.torch"

    @property
    def is_remote(self) -> bool:
        """Whether reading a number means to wait for a device."""
        return getattr(self.device, "type", "cpu") != "cpu"

    def put(self, array: NDArray[Any], dtype: str | None = None) -> Array:
        """Return an array of NumPy as one of this library, of type ``dtype`` if given."""
        array = np.ascontiguousarray(array, dtype)
        return array if self.is_numpy else self.xp.asarray(array, device=self.device)

    def fetch(self, array: Array) -> NDArray[Any]:
        """Return an array of this library as one of NumPy."""
        if self.is_numpy:
            return np.asarray(array)
        return np.asarray(array.cpu() if hasattr(array, "cpu") else array)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Return an array whose numbers are not set."""
        kind = getattr(self.xp, dtype)
        return np.empty(shape, kind) if self.is_numpy else self.xp.empty(shape, dtype=kind, device=self.device)

    def astype(self, array: Array, dtype: str) -> Array:
        """Return an array with numbers of type ``dtype``, itself if they are."""
        kind = getattr(self.xp, dtype)
        if array.dtype == kind:
            return array
        return array.astype(kind) if self.is_numpy else self.xp.astype(array, kind)

    def running_sums(self, array: Array) -> Array:
        """Return the running sums along each line."""
        if self.is_numpy:
            return np.cumsum(array, axis=1)
        return self.xp.cumulative_sum(array, axis=1)

    def recorded(self, function: Callable[[], None]) -> Callable[[], None]:
        """Return what does the same as ``function`` to the same arrays, recorded once if the device can do that.

        The function is called some times on the way, and must not read from the device.
        """
        if getattr(self.device, "type", None) != "cuda":
            return function
        cuda = importlib.import_module("torch").cuda
        stream = cuda.Stream()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            for _ in range(3):
                function()
        cuda.current_stream().wait_stream(stream)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            function()
        return graph.replay


NUMPY = ArrayLibrary(np)


def open_library(device: str | None, namespace: str | None = None) -> ArrayLibrary:
    """Return the library for a device of PyTorch, NumPy where that is None; ``namespace`` names another module.

    A ParameterError says what is missing.
    """
    if namespace is not None:
        return ArrayLibrary(importlib.import_module(namespace))
    if device is None:
        return NUMPY
    try:
        torch = importlib.import_module("torch")
        xp = importlib.import_module("array_api_compat.torch")
    except ImportError as missing:
        raise ParameterError(
            Setting("device", device),
            f" needs PyTorch and array-api-compat, and {missing.name} is not installed: "
            "pip install 'rosenblatt[gpu]', or leave out ",
            Setting("device"),
            ".",
        ) from None
    try:
        found = torch.device(device)
        torch.empty(0, dtype=torch.float64, device=found)
    except (RuntimeError, AssertionError, TypeError) as fault:
        reason = " ".join(str(fault).split(".")[0].split())
        raise ParameterError(
            Setting("device", device),
            f" is not to be had here, PyTorch says: {reason}; leave out ",
            Setting("device"),
            " to compute on the CPU.",
        ) from None
    return ArrayLibrary(xp, found)
