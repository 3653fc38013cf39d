"""One row to be explained, in any of the forms that people have it in."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.inspection.pipelines import feature_labels, through_steps
from rosenblatt.inspection.units import Units
from rosenblatt.parameters import did_you_mean, shorten


def one_row(x: Any, steps: Any) -> Any:
    """Return ``x`` as a matrix or frame of one row, sent through the steps of a pipeline."""
    if isinstance(x, str) or (isinstance(x, list | tuple) and len(x) == 1 and isinstance(x[0], str)):
        row = np.array([x] if isinstance(x, str) else x, dtype=object)  # a text, for a pipeline that starts with words
    elif isinstance(x, Mapping):
        row = _row_for_steps(x, steps)
    elif hasattr(x, "iloc") and x.ndim == 1:  # a row of a pandas frame keeps its names
        row = x.to_frame().T
    elif sp.issparse(x):
        row = x.reshape(1, -1).tocsr() if x.ndim == 1 else x
    elif hasattr(x, "columns"):
        row = x
    else:
        row = np.asarray(x)
        row = row.reshape(1, -1) if row.ndim == 1 else row
    if isinstance(row, list):  # a record, for a pipeline that starts with records
        return steps.transform(row)
    if len(row.shape) == 0:
        raise ValueError(f"expected one row of numbers, got {shorten(x)}: give a list or an array.")
    if row.shape[0] != 1:
        raise ValueError(f"expected one row, got {row.shape[0]}: pick one, for instance X[0] or X.iloc[[0]].")
    return through_steps(steps, row)


def row_of_names(x: Mapping[str, Any], names: list[str], units: Units | None) -> np.ndarray:
    """Return a dictionary of features as a row that the learner can see: scaled, and 0 where a feature is absent.

    >>> row_of_names({"sun": 3}, ["rain", "sun"], None)
    array([[0., 3.]])
    >>> row_of_names({"snu": 3}, ["rain", "sun"], None)
    Traceback (most recent call last):
    ValueError: the model has no feature 'snu': did you mean 'sun'?
    """
    places = _places(x, names)
    row = np.zeros(len(names))
    for name, value in x.items():
        try:
            row[places[name]] = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"expected a number for the feature {name!r}, got {shorten(value)}.") from None
    return (row if units is None else units.scaled(row)).reshape(1, -1)


def _row_for_steps(x: Mapping[str, Any], steps: Any) -> Any:
    """Return a dictionary as what the first step of a pipeline takes: a frame, an array, or a list of records."""
    width = getattr(steps, "n_features_in_", None)
    if width is None:
        return [dict(x)]
    names = feature_labels(steps, width)
    _places(x, names)
    values = [x.get(name, 0) for name in names]
    if hasattr(steps, "feature_names_in_"):
        for library in ("pandas", "polars"):
            with contextlib.suppress(ImportError):
                frame = importlib.import_module(library).DataFrame
                return frame({name: [value] for name, value in zip(names, values, strict=True)})
    return np.array([values])


def _places(x: Mapping[str, Any], names: list[str]) -> dict[str, int]:
    """Return the place of each name; a ValueError where ``x`` has one that there is not."""
    places = {name: place for place, name in enumerate(names)}
    for name in x:
        if name not in places:
            guess = did_you_mean(name, names) or f"they are called {shorten(names)}."
            raise ValueError(f"the model has no feature {name!r}: {guess}")
    return places
