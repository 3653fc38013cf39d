"""Weights that a run begins with instead of zero, as they are given, and as arrays once the data are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.parameters import shorten

Floats = NDArray[np.float64]
Weights: TypeAlias = tuple[Floats, Floats]
"""Weights of shape (m, d) and biases of shape (m,), for m classifiers."""
_LARGEST = 1e140
"""Squared lengths of weights with larger numbers might leave the range of floats."""


class GivenWeights(NamedTuple):
    """What ``fit`` is given as ``coef_init`` and ``intercept_init``; None stands for zeros."""

    coef: Any
    intercept: Any

    def as_arrays(self, n_classes: int, d: int, fit_intercept: bool) -> Weights:
        """Return them as arrays for so many classes and features; a ValueError where they do not fit."""
        k = n_classes if n_classes > 2 else 1
        whom = f"{k} classes" if k > 1 else "two classes"
        w, b = np.zeros((k, d)), np.zeros(k)
        if self.coef is not None:
            w = _numbers(
                "coef_init", self.coef, [(k, d)] if k > 1 else [(d,), (1, d)], f"{whom} and {d} features"
            ).reshape(k, d)
        if self.intercept is not None:
            b = _numbers("intercept_init", self.intercept, [(k,)] if k > 1 else [(), (1,)], whom).reshape(k)
        if b.any() and not fit_intercept:
            raise ValueError(
                f"intercept_init must be 0 where no bias is learned, got {b[b != 0][0]:g}: leave it out, or set "
                "fit_intercept=True."
            )
        return w, b


def _numbers(name: str, values: Any, shapes: Sequence[tuple[int, ...]], whom: str) -> Floats:
    """Return an array of numbers of one of these shapes; a ValueError where it is none."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be an array of numbers, got {shorten(values)}.")
    if array.shape not in shapes:
        expected = "have shape " + " or ".join(str(shape) for shape in shapes if shape)
        if () in shapes:
            expected = f"be a number or {expected}"
        raise ValueError(f"{name} must {expected} for {whom}, got shape {array.shape}.")
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float64) + 0.0  # no negative zeros: a run from zero has none
    wrong = numbers[~np.isfinite(numbers)]
    if len(wrong):
        raise ValueError(f"{name} must hold finite numbers, got {wrong[0]:g}.")
    largest = float(np.max(np.abs(numbers), initial=0.0))
    if largest > _LARGEST:
        raise ValueError(f"{name} must hold numbers of size {_LARGEST:g} at most, got {largest:g}: scale them down.")
    return numbers
