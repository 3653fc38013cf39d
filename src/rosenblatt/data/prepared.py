"""Preparation of tables in memory in the same way as the training rows of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks import Block, Features, join_blocks
from rosenblatt.data.io.bytes import TABLES
from rosenblatt.data.opening import open
from rosenblatt.data.preparation import check_preparation, is_preparation
from rosenblatt.data.source import Preparation
from rosenblatt.data.tables.encoder import LISTS
from rosenblatt.data.tables.frames import MemoryTable, Unreadable, column_of
from rosenblatt.data.tables.records import RecordEncoder
from rosenblatt.data.tables.schema import unlabelled_note
from rosenblatt.data.tables.values import Faults, parse_labels
from rosenblatt.messages import ParameterError, Setting, count_of, shorten, warn_user

_MANY = 10
"""Warn about a column if it has at least this many values and none of them occurred in training."""


def is_of_table(preparation: object) -> bool:
    """Return whether ``preparation`` is the preparation of a table.

    >>> is_of_table({"format": "csv", "version": 1}), is_of_table({"format": "vw", "version": 1}), is_of_table(None)
    (True, False, False)
    """
    return isinstance(preparation, dict) and is_preparation(preparation) and preparation["format"] in TABLES


class PreparedRows:
    """Convert tables in memory to rows for a model that was trained on a table with the same preparation.

    Parameters
    ----------
    preparation : dict
        The preparation of a table.

    Attributes
    ----------
    columns : list of str
        The columns of the table that become features.

    Examples
    --------
    >>> from rosenblatt import data
    >>> people = [{"age": 20, "city": "Bern", "y": "no"}, {"age": 40, "city": "Rome", "y": "yes"}]
    >>> rows = PreparedRows(data.open(people, "y", scale="standard").preparation)
    >>> rows.columns
    ['age', 'city']
    >>> rows.features([{"city": "Bern", "age": 30, "shoes": 41}])
    array([[0., 1., 0.]])
    >>> rows.labelled([{"city": "Bern", "age": 30}], ["no"]).y
    array(['no'], dtype='<U2')
    """

    def __init__(self, preparation: Preparation) -> None:
        self.n_features = check_preparation(preparation) or 0
        self._preparation = preparation
        lists = bool(preparation.get("lists"))
        self.columns: list[str] = [*LISTS] if lists else [column["name"] for column in preparation["columns"]]
        self._record = None if lists else RecordEncoder(preparation)
        self._is_sparse = self._record is None or self._record.is_sparse
        self._warned: set[str] = set()
        """The columns about whose unseen values there was a warning."""

    @property
    def is_sparse(self) -> bool:
        """Whether `features` returns sparse rows."""
        return self._is_sparse

    @property
    def target(self) -> str | None:
        """The name of the column with the labels."""
        target = self._preparation["target"]
        return None if target is None else str(target["name"])

    def features(self, table: Any, warn: bool = True) -> Features:
        """Return the rows of a data frame, an Arrow table, a dictionary (one row) or a list of dictionaries.

        Categories that did not occur in training are warned of, in a dictionary unless ``warn`` is False.
        """
        if isinstance(table, Mapping) and (row := self._encoded(table, warn)) is not None:
            columns, values = row
            if self._is_sparse:
                X = sp.csr_array((values, columns, np.array([0, len(columns)], np.int32)), shape=(1, self.n_features))
                X.has_canonical_format = True
                return X
            X = np.zeros((1, self.n_features))
            X[0, columns] = values
            return X
        return self._unlabelled(table)

    def _unlabelled(self, table: Any) -> Features:
        return self._block(MemoryTable(table), self._preparation, labels=False).X

    def record(self, record: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return a dictionary as a sparse row: increasing column indices, and the value in each of these columns."""
        row = self._encoded(record)
        if row is None:
            X = sp.csr_array(self._unlabelled(record))
            return X.indices, X.data
        return row

    def record_lists(self, record: Mapping[str, Any]) -> tuple[list[int], list[float]]:
        """Return the same as `record`, as lists and without warnings."""
        row = None if self._record is None else self._record.encode(record)
        if row is None:
            X = sp.csr_array(self._unlabelled(record))
            return X.indices.tolist(), X.data.tolist()
        return row.columns, row.values

    def many_record_lists(self, records: Sequence[Mapping[str, Any]]) -> list[tuple[list[int], list[float]]] | None:
        """Return what `record_lists` returns for each of several dictionaries; None if it has to be called for each."""
        rows = None if self._record is None else self._record.encode_many(records)
        return None if rows is None else [(row.columns, row.values) for row in rows]

    def record_features(self, record: Mapping[str, Any]) -> dict[int, float]:
        """Return the values of a dictionary by column index."""
        columns, values = self.record(record)
        return dict(zip(columns.tolist(), values.tolist(), strict=True))

    def _encoded(self, record: Mapping[str, Any], warn: bool = True) -> tuple[np.ndarray, np.ndarray] | None:
        row = None if self._record is None else self._record.encode(record)
        if row is None:
            return None
        for name, text in row.unseen if warn else ():
            self._warn_of_unseen(name, f"{shorten(text)} did not occur in training, so it becomes")
        return np.array(row.columns, np.int32), np.array(row.values, np.float64)

    def _warn_of_unseen(self, name: str, what: str) -> None:
        """Warn about values of a column that did not occur in training, unless there was such a warning before."""
        if name in self._warned:
            return
        self._warned.add(name)
        why = "write values as in the training data, or train on rows that have them"
        warn_user(f"column {name!r}: {what} all zeros: {why}. This is said once for each column.", UserWarning)

    def unseen(self, record: Mapping[str, Any]) -> list[str]:
        """Return the categories of a record that did not occur in training, such as "city=Oslo"."""
        if self._record is None:
            return []
        return self._record.unseen(record)

    def labelled(self, table: Any, labels: Any = None, weights: Any = None, weighted: bool = True) -> Block:
        """Return the rows of a table with their labels and weights; rows without a label are left out, with a warning.

        ``labels`` and ``weights`` are read as if they were columns of the table. By default, the columns that training
        used are read; the column of weights is read only if ``weighted``.
        """
        rows, preparation = MemoryTable(table), self._preparation
        if self.target is None or (labels is None and self.target not in rows.columns):
            column = "" if self.target is None else f", or a table with the column {self.target!r}"
            raise TypeError(f"expected labels, got none: give them as y{column}.")
        if labels is not None:
            rows.add_column(self.target, _one_each(labels, rows.n, "label"))
        if weights is not None:
            name = "sample_weight"
            while name in rows.columns or name in self.columns:
                name += "_"
            rows.add_column(name, _one_each(weights, rows.n, "sample weight"))
            preparation = preparation | {"weight": name}
        elif not weighted:
            preparation = preparation | {"weight": None}
        return self._block(rows, preparation, labels=True)

    def label(self, label: Any) -> np.ndarray:
        """Return one label as training reads it, in an array. Raise a ValueError if it is missing."""
        assert self._preparation["target"] is not None
        target, missing = self._preparation["target"], tuple(self._preparation["missing_values"])
        faults = Faults(1)
        try:
            array = column_of([label]).array
        except Unreadable:
            raise TypeError(
                f"expected a label that is a string, a number or a boolean, got {shorten(label)}."
            ) from None
        y, unlabelled = parse_labels(array, target, missing, faults)
        if faults:
            raise ValueError(f"{faults[0].render(_without_parameters)}.")
        if len(unlabelled):
            raise ValueError(
                f"expected a label, got {shorten(label)}, which stands for a missing label: leave out this row."
            )
        return y

    def _block(self, rows: MemoryTable, preparation: Preparation, labels: bool) -> Block:
        try:
            stream = open(rows, preparation=preparation, labels=labels)
            blocks = list(stream)
        except ParameterError as error:  # its hints are about parameters of ``data.open``
            raise type(error)("{text}", text=error.message.render(_without_parameters)) from None
        if stream.unlabelled and self.target is not None:
            note = unlabelled_note(self.target, stream.unlabelled)
            warn_user(f"{note.render(_without_parameters)}.", UserWarning)
        for name in self.columns:
            unseen = stream.unseen.get(name, 0)
            known = stream.rows_read - stream.filled.get(name, 0) - unseen
            if not known and unseen >= _MANY:
                warn_user(
                    f"no value of column {name!r} occurred in training, so all are ignored: give values as they are "
                    "written in the training data, for instance codes as text.",
                    UserWarning,
                )
            elif unseen:
                values = f"{unseen:,} of {count_of(known + unseen, 'value')}"
                self._warn_of_unseen(name, f"{values} did not occur in training, so they become")
        if not blocks:
            return Block(sp.csr_array((0, self.n_features)) if self._is_sparse else np.empty((0, self.n_features)))
        return join_blocks(blocks)


def _without_parameters(setting: Setting) -> None:
    """Return None, so that messages are written for readers who cannot set their parameters."""


def _one_each(values: Any, n: int, what: str) -> Any:
    """Return labels or weights; raise an error unless there is one for each of ``n`` rows."""
    if np.ndim(values) == 0:
        if what == "label" or not isinstance(values, Real | np.ndarray):
            raise TypeError(
                f"expected one {what} for each row, got {shorten(values)}: give a list, an array or a series."
            )
        values = np.full(n, values)
    if hasattr(values, "shape") and len(values.shape) == 2 and values.shape[1] == 1:
        values = np.ravel(values)
    if len(values) != n:
        raise ValueError(f"expected one {what} for each of the {count_of(n, 'row')}, got {len(values):,}.")
    return values
