"""Learning from records one by one, and answering for one: the verbs of online libraries such as river."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rosenblatt.estimators.engine import EngineLearner
from rosenblatt.estimators.records import Entries, RecordColumns
from rosenblatt.parameters import shorten
from rosenblatt.training.batches import make_batch
from rosenblatt.training.labels import Labels, Names, check_label_types
from rosenblatt.training.options import RunOptions
from rosenblatt.training.rows import as_rows
from rosenblatt.training.run import TrainingRun
from rosenblatt.training.scoring import predicted_classes, with_columns
from rosenblatt.training.state import LinearState
from rosenblatt.training.train import Start, online_run


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
        entries = columns.learn(x)
        known = None if run is None else _number_of(label, run.classes)
        classes = label if run is None or known is None else run.classes
        row = _row(entries, len(columns))
        batch = make_batch(row, np.array([known or 0], np.int32), classes, None, self.class_weight)
        goes_on = run is not None
        if run is None:
            start = Start(self.state_, self.classes_) if hasattr(self, "state_") else None
            run = online_run(batch, options, start, one_by_one=True)
        try:
            run.visit(batch, goes_on)
        finally:
            self.state_, self.classes_, self._early_stopping_state = run.state, run.classes, None
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
        state: LinearState = self.state_
        if self.hypothesis == "vote":
            rows = as_rows(_row(entries, state.n_features))
        else:
            state, rows = with_columns(state, entries.columns), as_rows(entries.values[None])
        return labels[int(predicted_classes(state, self.hypothesis, rows)[0][0])]

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


def _number_of(label: Labels, classes: Labels) -> int | None:
    """Return the number of a label among sorted classes, None if it is none of them or of another type."""
    if label.dtype.kind != classes.dtype.kind and "U" in (label.dtype.kind, classes.dtype.kind):
        return None
    place = int(np.searchsorted(classes, label[0]))
    return place if place < len(classes) and classes[place] == label[0] else None
