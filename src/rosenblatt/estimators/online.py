"""Learning from records one by one, and answering for one: the verbs of online libraries such as river."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.estimators.base import EngineLearner
from rosenblatt.messages import shorten
from rosenblatt.training.batches import labelled_batch
from rosenblatt.training.linear import LinearState
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import Labels, Names, check_label_types
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.train import Start, online_run

# Records, dictionaries from names to values, as sparse rows: what `learn_one` and `predict_one` take.


_MISSING = ("NAType", "NaTType")  # what pandas calls missing


class Entries(NamedTuple):
    """What a record has: columns in rising order, and a number for each."""

    columns: NDArray[np.int32]
    values: NDArray[np.float64]


class RecordColumns:
    """The column of each name, in the order in which they came up.

    Numbers are features of their name, booleans are 0 and 1, and a word is a feature "name=word" that is 1.

    >>> columns = RecordColumns()
    >>> columns.learn({"weight": 150, "colour": "red"})
    Entries(columns=array([0, 1], dtype=int32), values=array([150.,   1.]))
    >>> columns.learn({"colour": "green", "weight": 120.5})
    Entries(columns=array([0, 2], dtype=int32), values=array([120.5,   1. ]))
    >>> columns.names
    array(['weight', 'colour=red', 'colour=green'], dtype=object)
    >>> columns.look_up({"colour": "blue", "weight": 8})  # which no column is for
    Entries(columns=array([0], dtype=int32), values=array([8.]))
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._columns = {name: column for column, name in enumerate(names)}
        self._names: Names = np.array([*self._columns, None], object)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._columns)

    @property
    def names(self) -> Names:
        """The name of each column; a view of an array that grows by doubling, so that reading it costs nothing."""
        return self._names[: len(self._columns)]

    def learn(self, record: Any) -> Entries:
        """Return what a record has; names that are new get the next columns."""
        features = record_features(record)
        for name in features:
            column = self._columns.setdefault(name, len(self._columns))
            if column >= len(self._names):
                self._names = np.concatenate([self._names, np.full(len(self._names), None)])
            self._names[column] = name
        return self._entries(features)

    def look_up(self, record: Any) -> Entries:
        """Return what a record has in the columns that are known."""
        return self._entries({name: value for name, value in record_features(record).items() if name in self._columns})

    def _entries(self, features: dict[str, float]) -> Entries:
        columns = np.fromiter((self._columns[name] for name in features), np.int32, len(features))
        values = np.fromiter(features.values(), np.float64, len(features))
        order = np.argsort(columns)
        return Entries(columns[order], values[order])


def record_features(record: Any) -> dict[str, float]:
    """Return the number of each feature of a record; an error says which value is none.

    >>> record_features({"age": 22, "port": "Cherbourg"})
    {'age': 22.0, 'port=Cherbourg': 1.0}
    """
    if not isinstance(record, Mapping):
        raise TypeError(
            f"expected a dictionary from names to values, got {shorten(record)}: for arrays there are partial_fit and "
            "predict."
        )
    features: dict[str, float] = {}
    for key, value in record.items():
        if not isinstance(key, str):
            raise TypeError(f"expected names that are strings, got {shorten(key)}: use {str(key)!r}.")
        name, number = (f"{key}={value}", 1.0) if isinstance(value, str) else (key, _number(key, value))
        if name in features:
            raise ValueError(f"expected each feature once, got {name!r} twice: rename one of them.")
        features[name] = number
    return features


def _number(name: str, value: Any) -> float:
    """Return the value of a feature as a number; an error where it is none."""
    missing = value is None or type(value).__name__ in _MISSING
    if not missing and not isinstance(value, Real | np.bool_):
        raise TypeError(
            f"expected a number, a boolean or a string for {name!r}, got {shorten(value)}{_several(name, value)}."
        )
    try:
        number = math.nan if missing else float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(
            f"expected a finite number, a boolean or a string for {name!r}, got {shorten(value)}: leave out a value "
            "that is missing, or fill it in."
        )
    return number


def _several(name: str, value: Any) -> str:
    """Return how to give several values at once, as the end of a sentence; "" where there are none."""
    try:
        first = next(iter(value))
    except (TypeError, StopIteration):
        return ""
    return f": give several values as features of their own, for instance {{{f'{name}={first}'!r}: 1}}"


class LearnsOneByOne(EngineLearner):
    """The part of linear learners that takes records: dictionaries from the names of features to their values."""

    state_: LinearState
    _columns: tuple[Names, RecordColumns] | None = None
    """The columns of names, and the ``feature_names_in_`` that they are about."""
    _learns_by_name = False
    _online: tuple[TrainingRun, RunOptions, int] | None = None
    """The run that learns row by row, its options, and the passes made until then."""

    def learn_one(self, x: Any, y: Any) -> Self:
        """Visit one record, and go on from what was learned before; the twin of ``partial_fit`` for dictionaries.

        The weights are those of ``partial_fit`` on the same rows as a matrix, bit for bit. A name that is new gets a
        new column, so ``feature_names_in_`` grows; what a record does not name is 0 there. A call takes time for what
        the record has, however many columns there are. Rows that are learned one after the other count as one pass.

        Parameters
        ----------
        x : dict
            From names to values: numbers, booleans (0 and 1), or words: ``{"colour": "red"}`` is a feature
            ``colour=red`` that is 1. None and NaN are refused: leave out what is missing.
        y : label
            A word, an integer or a boolean. A class that is new is welcome at any time, as for ``partial_fit``.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> model = Perceptron()
        >>> for x, y in [({"warm": 1, "sky": "blue"}, "walk"), ({"sky": "grey", "wind": 2.5}, "read")]:
        ...     print(model.predict_one(x), end=" ")
        ...     _ = model.learn_one(x, y)
        None walk
        >>> model.predict_one({"wind": 3, "cold": True})
        'read'
        >>> model.feature_names_in_.tolist()
        ['warm', 'sky=blue', 'sky=grey', 'wind']
        """
        options = self._options()
        options.check_for_stream("learn_one")
        columns, label = self._record_columns(), _label(y)
        if hasattr(self, "state_"):
            check_label_types(self.classes_, label)
        run = self._row_run(options)
        if run is None and hasattr(self, "state_"):
            self._check_unchanged()
        row = _row(columns.learn(x), len(columns))
        batch = labelled_batch(row, label, None, self.class_weight, None if run is None else run.classes)
        goes_on = run is not None
        if run is None:
            start = Start(self.state_, self.classes_) if hasattr(self, "state_") else None
            run = online_run(batch, options, start, one_by_one=True)
        try:
            run.visit(batch, goes_on)
        finally:
            self.state_, self.classes_, self._early_stopping_state = cast(LinearState, run.state), run.classes, None
            self.n_features_in_, self.feature_names_in_ = run.state.n_features, columns.names
            self._columns, self._learns_by_name = (self.feature_names_in_, columns), True
            self._online = run, options, run.state.passes
        return self

    def _row_run(self, options: RunOptions) -> TrainingRun | None:
        """Return the run that goes on row by row; None where something else has trained this model since."""
        if self._online is None:
            return None
        run, then, passes = self._online
        state: Any = getattr(self, "state_", None)
        return run if run.state is state and state.passes == passes and then == options else None

    def predict_one(self, x: Any) -> Any:
        """Return the class of one record, a dictionary as ``learn_one`` takes it; None before anything was learned.

        Names that are new count for nothing.

        Examples
        --------
        >>> from rosenblatt import AveragedPerceptron
        >>> model = AveragedPerceptron().learn_one({"a": 1}, True).learn_one({"b": 1}, False)
        >>> model.predict_one({"a": 2, "c": 5})
        True
        """
        if not hasattr(self, "state_"):
            return None
        entries = self._record_columns().look_up(x)
        labels = self.classes_.tolist()
        if len(labels) == 1:
            return labels[0]
        return labels[self.state_.decide_one(self.hypothesis, _row(entries, self.state_.n_features))]

    def _record_columns(self) -> RecordColumns:
        """Return the columns of names; a ValueError where this model was trained on columns that have none."""
        if not hasattr(self, "state_"):
            return RecordColumns()
        names = getattr(self, "feature_names_in_", None)
        if self._columns is not None and self._columns[0] is names:
            return self._columns[1]
        if hasattr(self, "preparation_"):
            raise ValueError(
                "this model was trained on files, whose rows are prepared as preparation_ says: read more of them with "
                "data.open(..., preparation=model.preparation_)."
            )
        if names is None:
            raise ValueError(
                "this model was trained on columns without names, which a record cannot be matched with: train it on a "
                "data frame, or with learn_one from the start."
            )
        self._columns = names, RecordColumns(names.tolist())
        return self._columns[1]

    def _lacks_names(self, X: Any) -> str:
        known = self._columns is not None and self._columns[0] is getattr(self, "feature_names_in_", None)
        if not (self._learns_by_name and known) or hasattr(X, "columns"):
            return ""
        return (
            "this model learns from records by name, and these rows have no names: give a data frame whose columns are "
            "model.feature_names_in_, or use learn_one."
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the run that learns row by row."""
        state = dict(super().__getstate__())
        state.pop("_online", None)
        return state


def _row(entries: Entries, width: int) -> sp.csr_array:
    """Return a record as a matrix of one row."""
    ends = np.array([0, len(entries.columns)], np.int32)
    row = sp.csr_array((entries.values, entries.columns, ends), shape=(1, width))
    row.has_canonical_format = True
    return row


def _label(y: Any) -> Labels:
    """Return a label as an array of one class; an error where it is none."""
    label = np.array([y]) if isinstance(y, str | bool | int | float | np.generic) else np.empty(0)
    if label.shape != (1,) or label.dtype.kind not in "biufU":
        raise TypeError(f"expected a label that is a word, an integer or a boolean, got {shorten(y)}.")
    if label.dtype.kind == "f" and not label[0] == np.trunc(label[0]):
        raise ValueError(f"expected a label that is a class, got the number {y!r}, as for a regression.")
    return label
