"""The arrays of a file, each read by its name, type and shape."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


class StrictArrays:
    """The arrays of a file: each is taken by its type and shape, and none may be missing or left over.

    Those under ``prefix`` that are the same as the ones without it need not be stored twice.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], prefix: str = "", used: set[str] | None = None) -> None:
        self._arrays, self._prefix = arrays, prefix
        self._used = set() if used is None else used

    def under(self, prefix: str) -> StrictArrays:
        """Return the arrays under ``prefix``."""
        return StrictArrays(self._arrays, prefix, self._used)

    def has(self, name: str) -> bool:
        """Return whether there is such an array."""
        return self._prefix + name in self._arrays or name in self._arrays

    def take(self, name: str, types: str, shape: tuple[int | None, ...]) -> np.ndarray:
        """Return a copy of the array; ``types`` are numpy's letters for its type, None fits any length."""
        full = self._prefix + name if self._prefix + name in self._arrays else name
        if full not in self._arrays:
            raise ValueError(f"there is no array {full!r}.")
        self._used.add(full)
        array = self._arrays[full]
        fits = array.ndim == len(shape) and all(b is None or a == b for a, b in zip(array.shape, shape, strict=True))
        if array.dtype.kind + str(array.dtype.itemsize) not in types.split() or not fits:
            raise ValueError(f"the array {full!r} of shape {array.shape} and type {array.dtype} is not as expected.")
        return array.copy()

    def end(self) -> None:
        """Raise a ValueError where an array has not been taken."""
        left = sorted(set(self._arrays) - self._used)
        if left:
            raise ValueError(f"there is an unknown array {left[0]!r}.")
