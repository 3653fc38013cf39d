"""Conversion of records, the dictionaries that ``learn_one`` and ``predict_one`` take, to sparse rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import as_labels
from rosenblatt.messages import shorten
from rosenblatt.training.rows import Labels, Names

Label: TypeAlias = str | bool | int | float
_MISSING = ("NAType", "NaTType")  # the types of missing values in pandas


class Entries(NamedTuple):
    """The stored entries of a sparse row: column numbers in increasing order, and the value in each column."""

    columns: NDArray[np.int32]
    values: NDArray[np.float64]


class RecordColumns:
    """Map from feature names to column numbers, which are assigned in the order of first appearance.

    A numeric value in a record is stored under the name of its feature, and booleans count as 0 and 1. A string is
    one-hot encoded: the feature "name=string" gets the value 1.

    >>> columns = RecordColumns()
    >>> columns.learn({"weight": 150, "colour": "red"})
    Entries(columns=array([0, 1], dtype=int32), values=array([150.,   1.]))
    >>> columns.learn({"colour": "green", "weight": 120.5})
    Entries(columns=array([0, 2], dtype=int32), values=array([120.5,   1. ]))
    >>> columns.names
    array(['weight', 'colour=red', 'colour=green'], dtype=object)
    >>> columns.look_up({"colour": "blue", "weight": 8})  # there is no column for blue
    Entries(columns=array([0], dtype=int32), values=array([8.]))
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        given = list(names)
        self._columns = {name: column for column, name in enumerate(given)}
        if len(self._columns) < len(given):
            twice = next(name for column, name in enumerate(given) if self._columns[name] != column)
            raise ValueError(
                f"the model was trained on two columns named {shorten(twice)}, so a record cannot say which it means: "
                "rename one of them, and train again."
            )
        self._names: Names = np.array([*self._columns, None], object)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    @property
    def names(self) -> Names:
        """The names of the columns, as a view of a longer array, so that access makes no copy."""
        return self._names[: len(self._columns)]

    def learn(self, record: object) -> Entries:
        """Return the entries of a record as a sparse row; assign the next free column to each new feature name."""
        features = record_features(record)
        for name in features:
            column = self._columns.setdefault(name, len(self._columns))
            if column >= len(self._names):
                self._names = np.concatenate([self._names, np.full(len(self._names), None)])
            self._names[column] = name
        return self._entries(features)

    def look_up(self, record: object) -> Entries:
        """Return the entries of a record as a sparse row; ignore features without a column."""
        return self._entries({name: value for name, value in record_features(record).items() if name in self._columns})

    def _entries(self, features: dict[str, float]) -> Entries:
        columns = np.fromiter((self._columns[name] for name in features), np.int32, len(features))
        values = np.fromiter(features.values(), np.float64, len(features))
        order = np.argsort(columns)
        return Entries(columns[order], values[order])


def record_features(record: object) -> dict[str, float]:
    """Return a dictionary from feature names to values; raise an error that names the first invalid entry.

    >>> record_features({"age": 22, "port": "Cherbourg"})
    {'age': 22.0, 'port=Cherbourg': 1.0}
    """
    check_record(record)
    assert isinstance(record, Mapping)
    features: dict[str, float] = {}
    for key, value in record.items():
        if not isinstance(key, str):
            raise TypeError(f"expected feature names that are strings, got {shorten(key)}: use {str(key)!r}.")
        name, number = (f"{key}={value}", 1.0) if isinstance(value, str) else (key, _number(key, value))
        if name in features:
            raise ValueError(f"expected each feature once, got {name!r} twice: rename one of them.")
        features[name] = number
    return features


def check_record(record: object) -> None:
    """Raise a TypeError unless ``record`` is a dictionary."""
    if not isinstance(record, Mapping):
        raise TypeError(
            f"expected a dictionary of values by feature name, got {shorten(record)}: for arrays use partial_fit and "
            "predict."
        )


def _number(name: str, value: object) -> float:
    """Return ``value``, the value of the feature ``name``, as a float; raise an error if it is not a finite number."""
    missing = value is None or type(value).__name__ in _MISSING
    if not missing and not isinstance(value, Real | np.bool_):
        raise TypeError(
            f"expected a number, a boolean or a string for {name!r}, got {shorten(value)}{_several(name, value)}."
        )
    try:
        number = float(value) if isinstance(value, Real | np.bool_) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(
            f"expected a finite number, a boolean or a string for {name!r}, got {shorten(value)}: leave out a value "
            "that is missing, or fill it in."
        )
    return number


def _several(name: str, value: object) -> str:
    """Return advice on how to pass several values of a feature, or "" if ``value`` is empty or not iterable."""
    first = next(iter(value), None) if isinstance(value, Iterable) else None
    if first is None:
        return ""
    return f": make each value a feature of its own, for instance {{{f'{name}={first}'!r}: 1}}"


def record_row(entries: Entries, width: int) -> sp.csr_array:
    """Return the entries of a record as a CSR matrix of shape (1, ``width``)."""
    ends = np.array([0, len(entries.columns)], np.int32)
    row = sp.csr_array((entries.values, entries.columns, ends), shape=(1, width))
    row.has_canonical_format = True
    return row


def label_array(y: object) -> Labels:
    """Return a label as an array of shape (1,); raise an error if it is not a valid class label."""
    label = as_labels([y]) if isinstance(y, str | bool | int | float | np.generic) else np.empty(0)
    if label.shape != (1,) or label.dtype.kind not in "biufU":
        raise TypeError(f"expected a label that is a string, an integer or a boolean, got {shorten(y)}.")
    if label.dtype.kind == "f" and not label[0] == np.trunc(label[0]):
        raise ValueError(
            f"expected a class label, got the number {y!r}, which looks like a regression target: convert it to a "
            "class first."
        )
    return label
