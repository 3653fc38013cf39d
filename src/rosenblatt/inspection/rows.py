"""One row to be explained, in any of the forms that people have it in."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.estimators.records import record_features
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


def row_of_names(
    x: Mapping[str, Any],
    names: list[str],
    units: Units | None,
    any_name: bool = False,
    fills: Mapping[str, float] | None = None,
) -> tuple[np.ndarray, list[str]]:
    """Return a record as a row that the learner can see, and the features of it that the model does not know.

    A string is the feature "name=string"; the row is scaled, and where a feature is absent it is what ``fills`` says,
    else 0. A string that is new under a name that is known has no feature, and nor has a name that is new where that
    may be (``any_name``).

    >>> row_of_names({"sun": 3, "wind": "west"}, ["rain", "sun", "wind=east", "wind=west"], None)
    (array([[0., 3., 0., 1.]]), [])
    >>> row_of_names({"wind": "north"}, ["rain", "wind=east"], None)
    (array([[0., 0.]]), ['wind=north'])
    >>> row_of_names({"snu": 3}, ["rain", "sun"], None)
    Traceback (most recent call last):
    ValueError: the model has no feature 'snu': did you mean 'sun'?
    """
    places = {name: place for place, name in enumerate(names)}
    for name, value in x.items():
        if isinstance(value, str) and name in places:
            raise ValueError(f"expected a number for the feature {name!r}, got {shorten(value)}.")
        known = isinstance(value, str) and any(other.startswith(f"{name}=") for other in names)
        if not any_name and not known and name not in places:
            raise _no_feature(name, names)
    features = record_features(x)
    row = np.zeros(len(names))
    given = {**(fills or {}), **features}
    for name in given.keys() & places.keys():
        row[places[name]] = given[name]
    return (row if units is None else units.scaled(row)).reshape(1, -1), [
        name for name in features if name not in places
    ]


def _row_for_steps(x: Mapping[str, Any], steps: Any) -> Any:
    """Return a dictionary as what the first step of a pipeline takes: a frame, an array, or a list of records."""
    width = getattr(steps, "n_features_in_", None)
    if width is None:
        return [dict(x)]
    names = feature_labels(steps, width)
    for name in x:
        if name not in names:
            raise _no_feature(name, names)
    values = [x.get(name, 0) for name in names]
    if hasattr(steps, "feature_names_in_"):
        for library in ("pandas", "polars"):
            with contextlib.suppress(ImportError):
                frame = importlib.import_module(library).DataFrame
                return frame({name: [value] for name, value in zip(names, values, strict=True)})
    return np.array([values])


def _no_feature(name: Any, names: list[str]) -> ValueError:
    """Return the error about a name that is none of those of the features."""
    guess = did_you_mean(str(name), names) or f"they are called {shorten(names)}."
    return ValueError(f"the model has no feature {name!r}: {guess}")
