"""Records, the dictionaries that ``learn_one`` and ``predict_one`` take: their features, and the fast way to use them.

`OneByOne` passes features by name to a `RecordLearner`, which needs no arrays. What it cannot do is done with sparse
rows, more slowly and with the same result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Real
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.blocks import as_labels
from rosenblatt.messages import shorten
from rosenblatt.training.records import RecordLearner
from rosenblatt.training.rows import Labels, Names

Label: TypeAlias = str | bool | int | float
_MISSING = ("NAType", "NaTType")  # the types of missing values in pandas


class OneByOne:
    """The fast way of ``learn_one`` and ``predict_one``, for a model whose parameters do not change.

    Parameters
    ----------
    learner : RecordLearner
        A learner with the weights of the model.
    classes : array
        The classes of the model.
    features : callable
        Returns the features of a record by name, or raises an error.
    plain : bool
        Whether the features of a dictionary of floats by string are these floats.
    attributes : dict
        The attributes of the model.
    """

    def __init__(
        self,
        learner: RecordLearner,
        classes: Labels,
        features: Callable[[Any], Mapping[Any, float]],
        plain: bool,
        attributes: Mapping[str, object],
    ) -> None:
        self.learner, self._features, self._plain = learner, features, plain
        self._labels: list[Label] = classes.tolist()
        self._numbers: dict[tuple[type, object], int] = {}
        """The class number of each label that has been checked, and of its type."""
        self._parameters = itemgetter(*(name for name in _PARAMETERS if name in attributes))
        self._given = self._parameters(attributes)
        self._keys: tuple[object, ...] | None = None
        self._values: tuple[object, ...] | None = None
        """The keys and values of the last record; None if it was not read."""

    def note_label(self, y: object, label: Label, before: OneByOne | None) -> None:
        """Remember that ``y`` is a valid way to write a class label, as well as those that were noted ``before``."""
        if before is not None:
            noted = {written: before._labels[number] for written, number in before._numbers.items()}
            self._numbers = {written: self._labels.index(known) for written, known in noted.items()}
        self._numbers[type(y), y] = self._labels.index(label)

    def learn(self, x: Mapping[Any, object], y: object, w: object, attributes: Mapping[str, Any]) -> bool:
        """Learn from a record of weight ``w`` if a model with these attributes can; return whether it has."""
        try:
            number = self._numbers.get((type(y), y))
        except TypeError:  # not hashable
            return False
        if number is None or self._parameters(attributes) != self._given or not self.learner.is_current():
            return False
        weight, weights = None, attributes["class_weight"]
        if weights is not None:
            given = weights.get(self._labels[number], 1.0) if isinstance(weights, Mapping) else None
            weight = float(given) if isinstance(given, Real) else math.nan
            if not 0.0 <= weight < math.inf:
                return False
        if w != 1.0:
            weight = (1.0 if weight is None else weight) * (float(w) if isinstance(w, Real) else math.nan)
            if not 0.0 <= weight < math.inf:
                return False
        return self._read(x) and self.learner.learn(number, weight)

    def predict(self, x: Mapping[Any, object], hypothesis: str) -> Label | None:
        """Return the class of a record; None if this needs a sparse row."""
        if not (self.learner.is_current() and self._read(x)):
            return None
        number = 0 if len(self._labels) == 1 else self.learner.decide(hypothesis)
        return None if number is None else self._labels[number]

    def _read(self, x: Mapping[Any, object]) -> bool:
        """Pass the features of a record to the learner; return False if they need a sparse row."""
        if type(x) is not dict:
            check_record(x)
        keys: tuple[object, ...] = tuple(x)
        values: tuple[Any, ...] = tuple(x.values())
        before, self._keys = self._keys, None
        try:
            if keys == before:
                keys = before
                if values == self._values:  # as when a record is first predicted and then learned
                    self._keys = keys
                    return True
            elif not _PLAIN_NAMES.issuperset(map(type, keys)):
                raise TypeError
            done = self._plain and self.learner.read(keys, values)
        except (TypeError, ValueError, OverflowError):  # values that are no numbers
            done = False
        if not done:
            features = self._features(x)
            done = self.learner.read(tuple(features), tuple(features.values()))
        if done:
            self._keys, self._values = keys, values
        return done


_PARAMETERS = ("multi_class", "fit_intercept", "max_updates", "decay", "hypothesis", "margin", "C", "loss", "r")
"""The parameters that matter to learning from a record, except for ``class_weight``, which is always read."""
_PLAIN_NAMES = {str, int}
"""The types of names that need no check."""


class Entries(NamedTuple):
    """The stored entries of a sparse row: column numbers in increasing order, and the value in each column."""

    columns: NDArray[np.int32]
    values: NDArray[np.float64]


class RecordColumns:
    """Map from feature names to column numbers, which are assigned in the order of first appearance.

    A name is any hashable value but None.

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

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        given = list(names)
        self.places = {name: column for column, name in enumerate(given)}
        """The column number of each name, in increasing order. Names may be added."""
        if len(self.places) < len(given):
            twice = next(name for column, name in enumerate(given) if self.places[name] != column)
            raise ValueError(
                f"the model was trained on two columns named {shorten(twice)}, so a record cannot say which it means: "
                "rename one of them, and train again."
            )
        self._names: Names = np.array([*self.places, None], object)
        self._named = len(given)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.places)

    @property
    def names(self) -> Names:
        """The names of the columns, as a view of a longer array, so that access makes no copy."""
        n = len(self.places)
        if n > len(self._names):
            self._names = np.concatenate([self._names, np.full(n, None)])
        for column, name in zip(range(n - 1, self._named - 1, -1), reversed(self.places), strict=False):
            self._names[column] = name
        self._named = n
        return self._names[:n]

    def learn(self, record: object) -> Entries:
        """Return the entries of a record as a sparse row; assign the next free column to each new feature name."""
        features = record_features(record)
        for name in features:
            self.places.setdefault(name, len(self.places))
        return self._entries(features)

    def look_up(self, record: object) -> Entries:
        """Return the entries of a record as a sparse row; ignore features without a column."""
        return self._entries({name: value for name, value in record_features(record).items() if name in self.places})

    def _entries(self, features: dict[Any, float]) -> Entries:
        columns = np.fromiter((self.places[name] for name in features), np.int32, len(features))
        values = np.fromiter(features.values(), np.float64, len(features))
        order = np.argsort(columns)
        return Entries(columns[order], values[order])


def record_features(record: object) -> dict[Any, float]:
    """Return a dictionary from feature names to values; raise an error that names the first invalid entry.

    >>> record_features({"age": 22, "port": "Cherbourg"})
    {'age': 22.0, 'port=Cherbourg': 1.0}
    """
    check_record(record)
    assert isinstance(record, Mapping)
    features: dict[Any, float] = {}
    for key, value in record.items():
        if key is None:  # the name of the bias
            raise TypeError("expected feature names such as strings or integers, got None: use another name.")
        kind = type(value)
        if kind is str or isinstance(value, str):
            features[f"{key}={value}"] = 1.0
        else:
            features[key] = float(value) if kind is bool else _number(key, value)
    if len(features) < len(record):
        names = [f"{key}={value}" if isinstance(value, str) else key for key, value in record.items()]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"expected each feature once, got {twice!r} twice: rename one of them.")
    return features


def check_record(record: object) -> None:
    """Raise a TypeError unless ``record`` is a dictionary."""
    if not isinstance(record, Mapping):
        raise TypeError(
            f"expected a dictionary of values by feature name, got {shorten(record)}: for arrays use partial_fit and "
            "predict."
        )


def _number(name: Hashable, value: object) -> float:
    """Return ``value``, the value of the feature ``name``, as a float; raise an error if it is not a finite number."""
    if type(value) is float and math.isfinite(value):
        return value
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


def _several(name: Hashable, value: object) -> str:
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
