"""Columns that a ColumnTransformer selects: as plain data, and as indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rosenblatt.messages import shorten


def selection_to_plain(columns: Any) -> Any:
    """Return columns as plain data: a name, an index, a list of names, indices or booleans, or a slice.

    >>> selection_to_plain(slice("a", "c")), selection_to_plain(np.array([True, False]))
    ({'slice': ['a', 'c', None]}, [True, False])
    """
    if isinstance(columns, slice):
        return {"slice": [_one(end) for end in (columns.start, columns.stop, columns.step)]}
    if isinstance(columns, str) or np.ndim(columns) == 0:
        return _one(columns)
    return [_one(column) for column in list(columns)]


def _one(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if value is not None and type(value) not in (bool, int, str):
        raise ValueError(f"columns selected by {shorten(value)} cannot be stored as data: name them.")
    return value


def selection_from_plain(data: Any) -> Any:
    """Return the columns that `selection_to_plain` described, or raise a ValueError."""
    if type(data) in (int, str):
        return data
    if type(data) is list and (not data or (type(data[0]) in (bool, int, str) and len(set(map(type, data))) == 1)):
        return data
    ends = data.get("slice") if type(data) is dict and len(data) == 1 else None
    if type(ends) is list and len(ends) == 3 and all(end is None or type(end) in (int, str) for end in ends):
        return slice(*ends)
    raise ValueError(f"columns must be names, indices, booleans or a slice, got {shorten(data)}.")


def selected_indices(columns: Any, n_features: int, places: Mapping[str, int] | None) -> Sequence[int]:
    """Return the indices of selected columns, given those of names; a ValueError where there are no such columns.

    >>> selected_indices([True, False, True], 3, None), selected_indices(slice("b", None), 3, {"a": 0, "b": 1, "c": 2})
    ([0, 2], range(1, 3))
    """
    places = places or {}

    def place(column: Any) -> int:
        if isinstance(column, str) and column in places:
            return places[column]
        if isinstance(column, str) or not -n_features <= column < n_features:
            raise ValueError(f"there is no column {shorten(column)} to select.")
        return int(column) % n_features

    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        start = place(start) if isinstance(start, str) else start
        stop = place(stop) + 1 if isinstance(stop, str) else stop  # a slice of names has both its ends
        if isinstance(columns.step, str) or columns.step == 0:
            raise ValueError(f"the step of a slice must be an integer that is not 0, got {shorten(columns.step)}.")
        return range(n_features)[slice(start, stop, columns.step)]
    if isinstance(columns, str | int):
        return [place(columns)]
    if len(columns) and all(isinstance(column, bool | np.bool_) for column in columns):
        if len(columns) != n_features:
            raise ValueError(f"there must be a boolean for each of {n_features} columns, got {len(columns)}.")
        return np.flatnonzero(columns).tolist()
    return [place(column) for column in columns]
