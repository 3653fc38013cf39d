"""Weights in two units: those of the scaled features that a learner sees, and those of the numbers before scaling.

Where a feature became z = (x - centre) / spread, w z + b is (w / spread) x + b - w centre / spread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.scaling import ColumnScale

_SCALERS = {
    "StandardScaler": ("with_mean", "mean_"),
    "RobustScaler": ("with_centering", "center_"),
    "MaxAbsScaler": ("", ""),
}
"""Scikit-learn's scalers that subtract and divide, with what says whether each subtracts and where it keeps it."""
_TINY = 1e-280
_DIGITS = 12  # of a number that is computed back from its scaled one


@dataclass(frozen=True)
class Units:
    """What was subtracted from each feature, and what it was divided by, before the learner saw it.

    Examples
    --------
    >>> units = Units(np.array([30.0, 0.0]), np.array([10.0, 1.0]))
    >>> units.weights(np.array([2.0, 5.0])), units.bias(np.array([2.0, 5.0]), 1.0)
    (array([0.2, 5. ]), -5.0)
    """

    centre: np.ndarray
    spread: np.ndarray

    def weights(self, w: np.ndarray) -> np.ndarray:
        """Return weights for the numbers before scaling."""
        with np.errstate(over="ignore", under="ignore"):
            return w / self.spread

    def weights_or_none(self, w: np.ndarray) -> list[float | None]:
        """Return such weights, None for features that were not scaled.

        >>> Units(np.array([30.0, 0.0]), np.array([10.0, 1.0])).weights_or_none(np.array([2.0, 5.0]))
        [0.2, None]
        """
        return self._of_scaled(self.weights(w))

    def raw_or_none(self, scaled: np.ndarray) -> list[float | None]:
        """Return numbers as they were before scaling, None for features that were not scaled."""
        return self._of_scaled(self.raw(scaled))

    def _of_scaled(self, numbers: np.ndarray) -> list[float | None]:
        same = (self.centre == 0.0) & (self.spread == 1.0)
        return [None if alike else number for alike, number in zip(same.tolist(), numbers.tolist(), strict=True)]

    def bias(self, w: np.ndarray, b: float) -> float:
        """Return the bias that goes with these weights."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            moved = self.centre * self.weights(w)
        return math.fsum([b, *(-moved[moved != 0]).tolist()]) if np.isfinite(moved).all() else math.nan

    def scaled(self, raw: np.ndarray) -> np.ndarray:
        """Return numbers as the learner sees them."""
        with np.errstate(over="ignore", under="ignore"):
            return (raw - self.centre) / self.spread

    def at(self, places: np.ndarray) -> Units:
        """Return those of some features."""
        return Units(self.centre[places], self.spread[places])

    def raw(self, scaled: np.ndarray) -> np.ndarray:
        """Return numbers as they were before scaling, without the digits that rounding may have changed.

        >>> units = Units(np.array([36.1]), np.array([17.3]))
        >>> units.raw(units.scaled(np.array([22.6]))).tolist()
        [22.6]
        """
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            moved = scaled * self.spread
            found = moved + self.centre
            size = np.maximum(np.abs(moved), np.abs(self.centre))
            unit = 10.0 ** (np.ceil(np.log10(np.maximum(size, _TINY))) - _DIGITS)
            neat = [float(f"{value:.{_DIGITS}g}") for value in np.round(found / unit) * unit]
        return np.where(np.isfinite(neat), neat, found) + 0.0


def find_units(steps: Any, learner: Any, d: int) -> Units | None:
    """Return what the ``d`` features of a learner were scaled by, None where nothing is known to scale them.

    That is the last of the steps before it, a scaler or a ColumnTransformer with some, or the scale of the stream it
    was trained on (``preparation_``).

    Examples
    --------
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> find_units([MaxAbsScaler().fit([[4.0, 2.0]])], None, 2)
    Units(centre=array([0., 0.]), spread=array([4., 2.]))
    >>> find_units(None, None, 2) is None
    True
    """
    if steps is not None:
        used = [step for step in steps if step is not None and not isinstance(step, str)]
        return _of_step(used[-1], d) if used else None
    preparation = getattr(learner, "preparation_", None)
    scale = preparation.get("scale") if isinstance(preparation, dict) else None
    if not isinstance(scale, dict):
        return None
    return Units(*ColumnScale.from_plain(scale).full(d))


def _of_step(step: Any, d: int) -> Units | None:
    """Return what a fitted transformer subtracts from each of its ``d`` features and divides it by."""
    if hasattr(step, "transformers_") and hasattr(step, "output_indices_"):
        return _of_columns(step, d)
    if hasattr(step, "steps"):
        return find_units([part for _, part in step.steps], None, d)
    scaler = next((kind.__name__ for kind in type(step).__mro__ if kind.__name__ in _SCALERS), None)
    if scaler is not None:
        asked, kept = _SCALERS[scaler]
        centre, spread = getattr(step, kept) if getattr(step, asked, False) else None, getattr(step, "scale_", None)
    elif hasattr(step, "centre_") and hasattr(step, "spread_"):  # ExactScaler
        centre, spread = step.centre_, step.spread_
    else:
        return None
    units = Units(
        np.zeros(d) if centre is None else np.asarray(centre, dtype=float),
        np.ones(d) if spread is None else np.asarray(spread, dtype=float),
    )
    return units if units.centre.shape == units.spread.shape == (d,) else None


def _of_columns(step: Any, d: int) -> Units | None:
    """Return this of a ColumnTransformer: features that none of its parts scales stay as they are."""
    units, found = Units(np.zeros(d), np.ones(d)), False
    for name, part, _ in step.transformers_:
        place = step.output_indices_[name]
        own = None if isinstance(part, str) else _of_step(part, place.stop - place.start)
        if own is not None:
            units.centre[place], units.spread[place], found = own.centre, own.spread, True
    return units if found else None
